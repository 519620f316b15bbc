#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A test in shell is the last of its commands: what one before it says counts if "&&" joins them. Where that
# is forgotten behind a here document, what a script in it asserts is asked of nobody.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

result 'what a script in a here document says of a test counts' "$(
	awk '
		/^[ \t]*test_expect_success .*\047$/ { body = 1; next }
		/^[ \t]*\047$/ { body = script = 0; next }
		script == 2 {
			if (!/^\t*test \$\? = 0/) print FILENAME ":" line ": join it with && to what follows"
			script = 0
		}
		script == 1 { t = $0; gsub(/^\t+/, "", t); if (t == tag) script = 2; next }
		body && /python3 .*<<-\\?[A-Z]+$/ { script = 1; line = FNR; tag = $0; sub(/.*<<-\\?/, "", tag) }
	' tests/integration/*.t
)"

echo "1..$count"
exit $failed
