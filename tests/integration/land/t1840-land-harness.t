#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Landing against git on random states of a repository (tests/land, docs/testing.md).
#
#     SEED=123 make check T=tests/integration/land/t1840-land-harness.t
#
# runs one cell again. In one of eight, each command is killed as well: once, or with SEED or TIMES at each call that
# writes.
test_description='landing does what git does, or nothing'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

killat=$TEST_BUILDDIR/tests/helpers/killat
test_random 64
kills=1
[ -z "${SEED-}${TIMES-}" ] || kills=all

# land ARGUMENTS: run cells in the scratch directory
land() {
	GIT_AGENT_TEST_TMPDIR=$TRASH PYTHONDONTWRITEBYTECODE=1 python3 "$TEST_SRCDIR/tests/land/run.py" "$@"
}

test_lazy_prereq KILLAT '"$killat" -o report -d "$PWD" -- true'

test_that KILLAT 'killat kills before the call that is asked for' '
	mkdir k &&
	"$killat" -o report -d "$PWD/k" -- sh -c "cd k; echo 1 >a; mv a b; echo 2 >$HOME/outside" &&
	grep -x "calls 5" report &&
	rm -f k/* &&
	test_expect_code 137 "$killat" -n 2 -o report -d "$PWD/k" -- sh -c "
		cd k
		echo 1 >a
		mv a b" &&
	grep "^at 2 write .*/k/a by " report &&
	test -e k/a &&
	! test -s k/a &&
	rm -f k/* &&
	test_expect_code 0 "$killat" -n 3 -m caller -o report -d "$PWD/k" -- sh -c "
		cd k
		echo 1 >a
		mv a b
		echo 2 >c" &&
	test -s k/a &&
	! test -e k/b &&
	test -s k/c
'

test_that "$count landings are what git makes of them, or touch nothing; and are undone: from SEED=$first" '
	land --cells "$count" --first "$first" --jobs 2 --list --enough
'

test_that KILLAT "landings, undoings and recoveries that are killed are recovered from: from SEED=$first" '
	land --cells "$(((count + 7) / 8))" --first "$first" --jobs 2 --properties d --kills "$kills" --list
'

# wrong NAME CASES: a git-agent in ./NAME whose landings go wrong in that way
wrong() {
	mkdir "$1" &&
	{
		printf '#!/bin/sh\n"%s" "$@"\nrc=$?\n' "$GIT_AGENT"
		printf '[ "$1" != land ] || case $rc,$* in %s esac\nexit $rc\n' "$2"
	} >"$1/git-agent" &&
	chmod +x "$1/git-agent"
}

# A test that never fails is of no use.
test_that 'a landing that is not like that of git is noticed, in each property' '
	wrong wrong-a "0,*--undo*) ;; 0,*) echo more >>extra ;;" &&
	wrong wrong-b "0,*) exit 2 ;;" &&
	wrong wrong-c "0,*--undo*) echo more >>extra ;;" &&
	for w in a b c; do
		TEST_BUILDDIR=$PWD/wrong-$w land --cells 8 --first 1000 >out
		test $? = 1 &&
		grep "^FAILED .*($w)" out &&
		! grep "^BROKEN" out ||
			{
				cat out
				exit 1
			}
	done
'

test_done
