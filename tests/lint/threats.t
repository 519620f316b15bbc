#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every attack that docs/threats.md lists has a test with its id in the name, and every id in the name of
# a test is listed there: attacks on the layers (OV), on git (GT), on the terminal (TT), from inside the
# sandbox (SB), on the network (NW), by what stays behind (PS) and on what it all rests on (RS).
cd "${TEST_SRCDIR:?}" || exit 1

. tests/lib/lint.sh

listed=$(sed -n 's/^| \(\(OV\|GT\|TT\|SB\|NW\|PS\|RS\)-[0-9][0-9]\) |.*/\1/p' docs/threats.md)
untested=$(sed -n 's/^| \(\(OV\|GT\|TT\|SB\|NW\|PS\|RS\)-[0-9][0-9]\) |.*| not tested: .*/\1/p' docs/threats.md)
# in shell the test's name has the id, in C the function's
named=$(
	{
		grep -hE '^[[:space:]]*test_that' tests/integration/*/*.t
		grep -hoE '^TEST(_WITH)?\([a-z0-9_]*' tests/unit/*/*.c | sed 's/.*(//' |
			sed -n 's/\(ov\|gt\|tt\|sb\|nw\|ps\|rs\)\([0-9][0-9]\)_/\1-\2 /gp' | tr a-z A-Z
	} | grep -oE '(OV|GT|TT|SB|NW|PS|RS)-[0-9][0-9]' | sort -u
)

result 'the attacks are counted, and each is listed once' "$(
	echo "$listed" | cut -c 1-2 | sort | uniq -c | xargs | grep -vx '21 GT 8 NW 24 OV 11 PS 9 RS 25 SB 8 TT'
	echo "$listed" | sort | uniq -d
)"

result 'an attack has a test' "$(
	for id in $listed; do
		echo "$untested" | grep -qx "$id" || echo "$named" | grep -qx "$id" || echo "$id has none"
	done
)"

result 'a test is of an attack that is listed, and what is listed as untested is not' "$(
	for id in $named; do
		echo "$listed" | grep -qx "$id" || echo "$id is not listed"
		echo "$untested" | grep -qx "$id" && echo "$id is tested"
	done
)"

# the other way of opening files goes through the same attacks
result 'the attacks on the layers are done a second time without openat2' "$(
	for of in t3000-attacks t3100-layers t4000-cases; do
		grep -q "^without_openat2 E.* $of.t" tests/integration/*/*without-openat2.t ||
			echo "$of is not"
	done
)"

echo "1..$count"
exit $failed
