#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Run one TAP program for prove, keeping its output, its messages, its exit
# status and its seconds in tests/results. Messages are shown only when it failed. One that hangs
# is ended after TEST_TIMEOUT seconds.
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
began=$(date +%s)
{
	timeout -k 10 "${TEST_TIMEOUT:-600}" "$@" 2>"$base.err"
	echo $? >"$base.rc"
	# of the shell, and of all that it waited for
	times >"$base.times"
} | tee "$base.tap"
read -r rc <"$base.rc"
awk -v name="$t" -v began="$began" -v ended="$(date +%s)" '
	NR == 2 { for (i = 1; i <= 2; i++) { split($i, a, "m"); used += a[1] * 60 + a[2] } }
	END { printf "%4d s, %4d of a processor  %s\n", ended - began, used + 0.5, name }' "$base.times" >"$base.seconds"
rm -f "$base.times"
[ "$rc" != 124 ] || echo "ended after ${TEST_TIMEOUT:-600} seconds" >>"$base.err"
[ "$rc" = 0 ] || sed 's/^/# /' "$base.err" >&2
exit "$rc"
