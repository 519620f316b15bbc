#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run tests under prove and close with what was skipped, by what it needs, and with one line of sums, last
# on standard output: "N passed, N failed, N skipped". A program that dies or gives no plan
# counts as one failure. All that the tests make is in one directory, which is removed however the run ends:
# tests/helpers/reaper.c.
#
# Those in TEST_FIRST are begun first: what takes long does not stand alone at the end then.
# tests/results/seconds says how long each took, the longest first.
export TEST_BUILDDIR TEST_SRCDIR
if [ "$1" != --in-its-directory ]; then
	# shellcheck source=tests/lib/scratch.sh
	. "$TEST_SRCDIR/tests/lib/scratch.sh"
	exec "$TEST_BUILDDIR/tests/helpers/reaper" "$(scratch_base)/ga-XXXXXX" /bin/sh "$0" --in-its-directory "$@"
fi
shift
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
	} | awk '!seen[$0]++'
}
# shellcheck disable=SC2046 # names of tests have no blanks
set -- $(chosen "$@")

st=0
(cd "$TEST_SRCDIR" && "${PROVE:-prove}" -j "${TEST_JOBS:-$((3 * $(nproc)))}" \
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

# What each skipped test needs, and the tests that need it: file and number.
skipped() {
	awk '
		FNR == 1 { t = FILENAME; sub(/.*_/, "", t); sub(/\.tap$/, "", t); sub(/-.*\.t$/, "", t) }
		/^ok.*# *(SKIP|skip)/ || /^1\.\.0.*# *(SKIP|skip)/ {
			why = $0; sub(/.*# *(SKIP|skip) */, "", why)
			if (!(why in n)) order[++kinds] = why
			n[why]++; where[why] = where[why] " " t ($1 == "ok" ? "." $2 : "")
		}
		END {
			for (i = 1; i <= kinds; i++)
				print "skipped, " order[i] ": " n[order[i]] " (" substr(where[order[i]], 2) ")"
		}
	' "$TEST_RESULTS"/*.tap
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
skipped
# shellcheck disable=SC2046
set -- $(count)
set -- "$1" "$(($2 + findings))" "$3"
[ "$2" = 0 ] || st=1
[ "$1" != 0 ] || st=1
echo "$1 passed, $2 failed, $3 skipped"
exit $st
