#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The tables of the terminal filter and of docs/terminal.md have the same rows in the same order, and
# every row has a reason.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

# kind, name and verdict of each row; rows with the same three count once
coded=$(sed -n 's/^	{ GA_TERM_\([A-Z0-9]*\), "\([^"]*\)", GA_TERM_\([A-Z]*\),.*/\1 \2 \3/p' \
	src/run/terminal/termfilter-rules.c | awk '!seen[$0]++')
documented=$(sed 's/\\|//g' docs/terminal.md | awk -F' *[|] *' '
	$3 != "" && ($5 == "passes" || $5 == "dropped" || $5 == "replaced" || $5 == "asks") {
	sub(/^control$/, "CONTROL", $2); sub(/^ESC k$/, "TITLE", $2)
	sub(/passes/, "PASS", $5); sub(/dropped/, "DROP", $5); sub(/replaced/, "REPLACE", $5); sub(/asks/, "ASK", $5)
	print $2, $3, $5 }')

result 'there is a table' "$([ "$(echo "$coded" | grep -c .)" -ge 50 ] || echo "$coded")"

result 'what is in the table is documented, and nothing else is' "$(
	for where in coded documented; do
		eval "echo \"\$$where\"" | while read -r row; do
			printf '%s\n' "$coded" "$documented" | grep -cxF "$row" | grep -qx 2 || echo "only $where: $row"
		done
	done
	[ "$coded" = "$documented" ] || echo "not in the same order"
)"

echo "1..$count"
exit $failed
