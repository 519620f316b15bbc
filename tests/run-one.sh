#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run one TAP program for prove, in a directory of its own (tests/helpers/reaper.c), keeping its output, its
# messages, its exit status and its seconds in tests/results. Messages are shown only when it failed. One that
# hangs is ended after TEST_TIMEOUT seconds.
t=$1
LSAN_OPTIONS=suppressions=$TEST_SRCDIR/tests/lib/lsan.supp:print_suppressions=0
# A finding of a process whose messages nobody reads is a file all the same: run-tests.sh looks for it.
ASAN_OPTIONS=log_path=$TEST_RESULTS/finding
UBSAN_OPTIONS=log_path=$TEST_RESULTS/finding
export LSAN_OPTIONS ASAN_OPTIONS UBSAN_OPTIONS
base=$TEST_RESULTS/$(echo "$t" | tr / _)
case $t in
*.t) set -- /bin/sh "$TEST_SRCDIR/$t" ;;
*) set -- "$TEST_BUILDDIR/$t" ;;
esac
name=${t##*/}
{
	"$TEST_BUILDDIR/tests/helpers/reaper" -t "${TEST_TIMEOUT:-1800}" -u "$base.used" \
		"$GIT_AGENT_TEST_TMPDIR/${name%%-*}-XXXXXX" "$@" 2>"$base.err"
	echo $? >"$base.rc"
} | tee "$base.tap"
read -r rc <"$base.rc"
read -r wall used <"$base.used"
printf '%6.1f s, %6.1f of a processor  %s\n' "$wall" "$used" "$t" >"$base.seconds"
rm -f "$base.used"
[ "$rc" != 124 ] || echo "ended after ${TEST_TIMEOUT:-1800} seconds" >>"$base.err"
[ "$rc" = 0 ] || sed 's/^/# /' "$base.err" >&2
exit "$rc"
