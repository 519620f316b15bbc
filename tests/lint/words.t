#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Rules that every text of the repository keeps to.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

code=$(find src include tests hooks .ci autogen.sh -type f \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.t' -o -name '*.py' -o -path '.ci/run' -o -path 'hooks/*' \) \
	! -path 'tests/results/*')
text=$(find src include tests hooks docs .ci autogen.sh configure.ac Makefile.am README.md -type f \
	\( -name '*.[ch157]' -o -name '*.def' -o -name '*.sh' -o -name '*.t' -o -name '*.py' -o -name '*.md' -o -name '*.ac' \
	-o -name '*.am' -o -path '.ci/run' -o -path 'hooks/*' -o -path 'docs/completion/*' \) \
	! -path 'tests/results/*')
tab=$(printf '\t')

result 'the licence is named at the top of every source' "$(
	for f in $code; do
		head -3 "$f" | grep -q 'SPDX-License-Identifier: MIT' || echo "$f"
	done
)"

result 'every test is one of those that are run, and says what runs it' "$(
	for f in tests/*/*.t; do
		grep -q "[[:blank:]]$f" Makefile.am && head -1 "$f" | grep -q '^#!/bin/sh$' || echo "$f"
	done
	for f in tests/unit/test-*.c tests/fuzz/fuzz-*.c; do
		grep -q "[[:blank:]]${f%.c}[[:blank:]]*" Makefile.am || echo "$f"
	done
)"

# shellcheck disable=SC2086
{
	result 'no blanks at the end of a line' "$(grep -n -E "[ $tab]\$" $text)"
	result 'no control character' "$(LC_ALL=C grep -n "[$(printf '\001-\010\013-\037\177')]" $text)"
	result 'no blank before a tab' "$(grep -n " $tab" $text)"
}

result 'every file ends in a newline' "$(
	for f in $text; do
		[ -z "$(tail -c 1 "$f")" ] || echo "$f"
	done
)"

result 'C is indented by tabs' "$(
	for f in $(echo "$code" | grep '\.[ch]$'); do
		grep -n -H '^        ' "$f"
	done
)"

result 'lines of the source have 100 columns at most' "$(
	for f in src/*/*.[ch] src/*/*.def include/ga/*.h; do
		expand "$f" | awk -v f="$f" 'length($0) > 100 { print f ":" NR ": " length($0) " columns" }'
	done
)"

result 'a source is below 650 lines' "$(
	for f in src/*/*.[ch] include/ga/*.h; do
		n=$(wc -l <"$f")
		[ "$n" -le 650 ] || echo "$f: $n"
	done
)"

result 'where the refs of sessions are is said in one place' "$(
	grep -n -E '"[^"]*refs/(heads/)?agent/' src/*/*.[ch] include/ga/*.h |
		grep -v -e '^include/ga/session.h:.*#define' -e '/\* "refs'
)"

result 'a header guard is the name of the header' "$(
	for f in include/ga/*.h; do
		guard=GA_$(basename "$f" .h | tr 'a-z-' 'A-Z_')_H
		grep -q "^#ifndef $guard\$" "$f" && grep -q "^#define $guard\$" "$f" || echo "$f: $guard"
	done
)"

echo "1..$count"
exit $failed
