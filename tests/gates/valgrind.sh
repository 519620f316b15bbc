#!/bin/sh
# SPDX-License-Identifier: MIT
#
# valgrind.sh TEST: a unit test under valgrind, which says what it does not look at, and else nothing if
# it finds nothing. Run by tests/gates.sh, which has made pidfd.so.
# Leaks are the sanitizers' to find: here the children of tests that fork would be told of too.
t=$1
log=${TEST_BUILDDIR:?}/build/gates/valgrind-$(basename "$t").log

# Less of what says the same of memory each time
unset ROUNDS
case $t in
*/test-termfilter) ROUNDS=2000 ;; # random sequences
*/test-risk-work) ROUNDS=1000 ;; # paths of ten thousand
*/test-ignore) ROUNDS=15 ;; # repositories of 60
*/test-snapshot) ROUNDS=4 ;; # repositories of 12
esac
export ROUNDS

# What cannot pass under a valgrind that is older than what it asks for
case $t in
*/test-risk) # each path for each rule
	echo "valgrind: not $t, which takes minutes"
	exit 0
	;;
*/test-beneath) # openat2(2) is never there
	unable='without_openat2_nothing_outside_is_opened links_that_lead_out_are_refused'
	;;
*/test-process) # vfork(2) is a fork: nobody is told that exec failed
	unable=a_missing_program_is_named
	;;
*/test-seccomp) # filters hold for valgrind's own calls
	unable='system_calls_are_refused_by_the_table a_nested_sandbox_can_be_made'
	;;
*) unable= ;;
esac

fail() {
	echo "== $t: $1" && cat "$log"
	exit 1
}

status=0
CMOCKA_MESSAGE_OUTPUT=TAP LD_PRELOAD=$TEST_BUILDDIR/build/gates/pidfd.so \
	timeout 300 valgrind -q --leak-check=no --error-exitcode=99 "$t" >"$log" 2>&1 </dev/null || status=$?
! grep -qE '^==[0-9]+== +(at|by) ' "$log" || fail "valgrind found something"
for name in $(sed -n 's/^\(not \)*ok [0-9]* # SKIP //p' "$log"); do
	echo "valgrind: not $name of $t, whose number takes minutes"
done
[ "$status" != 0 ] || exit 0
results=$(grep -cE '^(not )?ok ' "$log")
plan=$(sed -n 's/^1\.\.//p' "$log")
if [ "$status" = 124 ]; then
	echo "valgrind: $results of $plan results of $t, which takes longer than five minutes"
else
	[ "$results" = "$plan" ] || fail "exit status $status"
fi
for name in $(sed -n 's/^not ok [0-9]* - //p' "$log"); do
	case " $unable " in
	*" $name "*) echo "valgrind: not $name of $t" ;;
	*) fail "$name failed" ;;
	esac
done
