#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The table of invisible characters is that of Unicode, as perl has it.
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

made=$(perl -e '
	my ($first, $last) = (-1, -2);
	sub put { printf "{ 0x%x, 0x%x },\n", $first, $last if $first >= 0 }
	for my $c (0 .. 0xd7ff, 0xe000 .. 0x10ffff) {
		next if chr($c) !~ /\p{Default_Ignorable_Code_Point}/;
		if ($c != $last + 1) { put(); $first = $c }
		$last = $c;
	}
	put()')
result 'what is invisible is what Unicode says' "$(
	[ -z "$made" ] || [ "$(grep '^{' src/base/ignorable.def)" = "$made" ] || printf '%s\n' "$made"
)"

echo "1..$count"
exit "$failed"
