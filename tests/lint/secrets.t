#!/bin/sh
# SPDX-License-Identifier: MIT
#
# docs/secrets-coverage.md names what tokens begin with as src/secret/forms.def does, and rules that there are.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh
doc=docs/secrets-coverage.md forms=src/secret/forms.def

# all strings but the last of each row, which is a name, and those of comments
prefixes=$(grep -v '^/\*\|^ \*' $forms | sed 's/[0-9], *"[^"]*")$//' | grep -o '"[^"]*"' | tr -d '"' | tr -s ' ' '\n' |
	sed '/^$/d')

result 'what tokens begin with is in the table, once' "$(
	echo "$prefixes" | while read -r p; do
		n=$(sed -n '/^## By form/,/^## By structure/p' $doc | grep -oF "\`$p\`" | wc -l)
		[ "$n" = 1 ] || echo "$p: $n times"
	done
)"
result 'what the table has is what tokens begin with' "$(
	sed -n '/^| /p' $doc | grep -o '`[^`]*`' | tr -d '`' | while read -r p; do
		echo "$prefixes" | grep -qxF -e "$p" || echo "$p"
	done
)"
result 'rules that are named exist' "$(
	grep -o '`sec-[a-z0-9-]*`' $doc | tr -d '`' | while read -r id; do
		grep -q "^SECRET(\"$id\"," src/secret/rules.def || echo "$id"
	done
)"

echo "1..$count"
exit "$failed"
