#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Lines of the tests have 120 columns at most, with a tab stop at every eighth.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

result 'lines of text files under tests have 120 columns at most' "$(
	grep -rIl '' tests --exclude-dir=corpus --exclude-dir=found --exclude-dir=results --exclude-dir=.deps |
		LC_ALL=C xargs awk '
			function columns(s,  n, i) {
				while (i = index(s, "\t")) {
					n += i - 1
					n += 8 - n % 8
					s = substr(s, i + 1)
				}
				return n + length(s)
			}
			length($0) + 7 * gsub(/\t/, "\t") > 120 {
				gsub(/[\200-\277]/, "") # all but the first byte of a character
				if ((n = columns($0)) > 120) print FILENAME ":" FNR ": " n " columns"
			}'
)"

echo "1..$count"
exit $failed
