#!/bin/sh
# SPDX-License-Identifier: MIT
#
# valgrind.sh TEST: a unit test under valgrind, silent if it finds nothing. Run by tests/gates.sh.
# Leaks are the sanitizers' to find: here the children of tests that fork would be told of too.
# A valgrind that is older than a system call ends a test early: what it found until then counts, and the
# test's own result does not.
t=$1
case $t in
*/test-session) exit 0 ;; # cuts a file at each of its bytes, which takes four minutes
esac
log=${TEST_BUILDDIR:?}/build/gates/valgrind-$(basename "$t").log
status=0
CMOCKA_MESSAGE_OUTPUT=TAP timeout 300 valgrind -q --leak-check=no --error-exitcode=99 "$t" \
	>"$log" 2>&1 </dev/null || status=$?
if grep -qE '^==[0-9]+== +(at|by) ' "$log" || [ "$status" = 99 ] || [ "$status" = 124 ]; then
	echo "== $t: exit status $status" && cat "$log"
	exit 1
fi
if [ "$status" = 0 ]; then
	exit 0
elif grep -q 'WARNING: unhandled .* syscall' "$log"; then
	echo "$t: as far as this valgrind knows the system calls"
else
	echo "== $t: exit status $status" && cat "$log"
	exit 1
fi
