#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every rule with patterns says, before it, where tools document that they read such files, and when that was
# looked at (docs/CONTRIBUTING.md).
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

# without_source FILE...: rules with patterns that have no such comment directly before them
without_source() {
	awk '
		/^\/[*] / { text = ""; open = 1 }
		open {
			sub(/^ [*] /, " ")
			text = text $0
			open = $0 !~ /[*]\/$/
			next
		}
		/^RULE\(/ {
			split($0, part, "\"")
			getline
			source = text ~ /^\/[*] ([^:;]+: [^:;]*[^:; ]; )+[0-9][0-9][0-9][0-9]-(0[1-9]|1[0-2]) [*]\/$/
			if ($1 != "NULL," && !source)
				print FILENAME ": " part[2]
		}
		{ text = "" }' "$@"
}

result 'there are tables, with a rule in each' "$(
	for file in src/risk/rules/rules-*.def; do
		grep -q '^RULE(' "$file" || echo "$file has none"
	done
	[ "$(cat src/risk/rules/rules-*.def | grep -c '^RULE(')" -ge 180 ] || echo 'there are few rules'
)"

result 'a rule with patterns has a source, and the month in which it was looked at' "$(
	without_source src/risk/rules/rules-*.def
)"

# what the check says of a table that has both kinds
result 'a rule without a source, a tool, a month or right before it is found' "$(
	found=$(without_source - <<-\END | sed 's/.*: //' | xargs
		/* make: make(1); 2026-11 */
		RULE("good", "build", HIGH, 0,
		     "x", "")
		/* make: make(1), example.com/x; ninja:
		 * a/b doc/x.md; 2026-11 */
		RULE("good-long", "build", HIGH, 0,
		     "x", "")
		RULE("good-none", "build", HIGH, 0,
		     NULL, "")
		RULE("none", "build", HIGH, 0,
		     "x", "")
		/* make: make(1) */
		RULE("no-month", "build", HIGH, 0,
		     "x", "")
		/* make: make(1); 2026-13 */
		RULE("wrong-month", "build", HIGH, 0,
		     "x", "")
		/* make(1); 2026-11 */
		RULE("no-tool", "build", HIGH, 0,
		     "x", "")
		/* 2026-11 */
		RULE("no-page", "build", HIGH, 0,
		     "x", "")
		/* make: make(1); 2026-11 */

		RULE("apart", "build", HIGH, 0,
		     "x", "")
	END
	)
	[ "$found" = 'none no-month wrong-month no-tool no-page apart' ] || echo "found: $found"
)"

echo "1..$count"
exit $failed
