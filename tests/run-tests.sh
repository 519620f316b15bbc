#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run tests under prove and close with one line of sums, last on standard
# output: "N passed, N failed, N skipped". A program that dies or gives no plan
# counts as one failure.
#
# Those in TEST_FIRST are begun first: what takes long does not stand alone at the end then. Of those in
# TEST_EITHER, which say the same whoever runs them, TEST_HALF=0 and TEST_HALF=1 take every other one, for
# two users who run the tests. tests/results/seconds says how long each took, the longest first.
export TEST_BUILDDIR TEST_SRCDIR
TEST_RESULTS=$TEST_BUILDDIR/tests/results
export TEST_RESULTS
rm -rf "$TEST_RESULTS"
mkdir -p "$TEST_RESULTS" || exit 2
CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT

# those of "$@" that are run, one a line
chosen() {
	{
		for t in ${TEST_FIRST-}; do
			case " $* " in *" $t "*) echo "$t" ;; esac
		done
		printf '%s\n' "$@"
	} | awk -v half="${TEST_HALF-}" -v either="${TEST_EITHER-}" '
		BEGIN { for (n = split(either, e, " "); n; n--) is[e[n]] = 1; n = 0 }
		!seen[$0]++ && (half == "" || !($0 in is) || n++ % 2 == half)'
}
case ${TEST_HALF-} in
'' | 0 | 1) ;;
*) echo "TEST_HALF is 0 or 1, not '$TEST_HALF'" >&2 && exit 2 ;;
esac
# shellcheck disable=SC2046 # names of tests have no blanks
set -- $(chosen "$@")

st=0
(cd "$TEST_SRCDIR" && "${PROVE:-prove}" -j "${TEST_JOBS:-2}" \
	--exec "/bin/sh $TEST_SRCDIR/tests/run-one.sh" "$@") || st=1

count() {
	for f in "$TEST_RESULTS"/*.tap; do
		read -r rc <"${f%.tap}.rc"
		awk -v rc="$rc" '
			/^not ok.*# *(TODO|todo)/ { s++; next }
			/^not ok/                 { f++; next }
			/^ok.*# *(SKIP|skip)/     { s++; next }
			/^ok/                     { p++ }
			/^1\.\.[0-9]+/            { split($1, a, /\.\./); plan = a[2]; have = 1; if (!a[2]) s++ }
			END {
				if ((rc != 0 || !have || (plan && plan != p + s + f)) && !f) f++
				print p + 0, f + 0, s + 0
			}' "$f"
	done | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }'
}
sort -rn "$TEST_RESULTS"/*.seconds >"$TEST_RESULTS/seconds"

# What they said went by when they ended: once more, where whoever reads only the end of a log finds it.
# The beginning and the end of each, since what failed first says most, and of at most twenty.
repeat() {
	for f in "$TEST_RESULTS"/*.rc; do
		read -r rc <"$f"
		[ "$rc" != 0 ] || continue
		shown=$((shown + 1))
		[ "$shown" -le 20 ] || continue
		echo "==== ${f%.rc}: exit status $rc"
		grep "^not ok" "${f%.rc}.tap" | head -n 20
		awk '{ line[NR] = length($0) > 1000 ? substr($0, 1, 1000) " [...]" : $0 }
			END {
				for (i = 1; i <= NR; i++) {
					if (i <= 100 || i > NR - 100) print line[i]
					else if (i == 101) print "[... " NR - 200 " lines ...]"
				}
			}' "${f%.rc}.err"
	done
	[ "$shown" -le 20 ] || echo "==== and $((shown - 20)) more that failed: their messages are in $TEST_RESULTS"
}
shown=0
[ $st = 0 ] || repeat
# What sanitizers found, each in a file of the process it was in; also where no test has noticed.
findings=0
for f in "$TEST_RESULTS"/finding.*; do
	[ -e "$f" ] || continue
	findings=$((findings + 1))
	[ "$findings" -le 20 ] || continue
	echo "==== $f"
	head -n 100 "$f"
done
# shellcheck disable=SC2046
set -- $(count)
set -- "$1" "$(($2 + findings))" "$3"
[ "$2" = 0 ] || st=1
[ "$1" != 0 ] || st=1
echo "$1 passed, $2 failed, $3 skipped"
exit $st
