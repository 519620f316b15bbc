#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='GIT_AGENT_PORT_BASE and GIT_AGENT_SESSION_ID: ports and names for servers of a session'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

git init -q r &&
echo one >r/f &&
git -C r add f &&
git -C r commit -qm one
say='echo 1 >g; echo $GIT_AGENT_PORT_BASE'

# holds FILE COMMAND...: runs it in the background until the test ends; FILE has its first line
cat >listen.py <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
s.bind((sys.argv[1], int(sys.argv[2])))
s.listen()
print("up", flush=True)
time.sleep(600)
PY
cat >lock.py <<'PY'
import fcntl, struct, sys, time
f = open(sys.argv[1], "r+")
at = (int(sys.argv[2]) - 20480) // 16
lock = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, at, 1, 0)
fcntl.fcntl(f, fcntl.F_OFD_SETLK if hasattr(fcntl, "F_OFD_SETLK") else 37, lock)
print("up", flush=True)
time.sleep(600)
PY
holds() {
	rm -f up &&
	mkfifo up &&
	{ python3 "$@" >up & } &&
	test_when_finished "kill $!; wait $! 2>/dev/null" &&
	read -r word <up &&
	test "$word" = up
}

test_that 'sessions that run at once have ranges of 16 ports of their own' '
	for i in 1 2 3; do
		git -C r agent start -q -d -n at$i -- sh -c "
			echo \$GIT_AGENT_PORT_BASE >base
			exec sleep 600" || exit 1
	done &&
	for i in 1 2 3; do
		test_wait_for "git -C r agent shell at$i -- cat base >base$i 2>/dev/null && test -s base$i" ||
			exit 1
	done &&
	sort -u base1 base2 base3 >bases &&
	test "$(wc -l <bases)" = 3 &&
	while read -r base; do
		test "$base" -ge 20480 &&
		test "$base" -le 32752 &&
		test $((base % 16)) = 0 ||
			exit 1
	done <bases &&
	git -C r agent stop at1 &&
	git -C r agent stop at2 &&
	git -C r agent stop at3
'

test_that 'a session that is resumed keeps its ports' '
	git -C r agent start -q -n w -- sh -c "$say" >first &&
	git -C r agent start -q -- sh -c "$say" >other &&
	git -C r agent resume -q w -- sh -c "$say" >again &&
	test -s first &&
	test_cmp first again &&
	git -C r agent resume -q --no-network w -- sh -c "$say" >again &&
	test_cmp first again
'

for at in 127.0.0.1 ::1; do
	test_that "ports in use at $at of the host are replaced by others, which the session keeps" '
		git -C r agent resume -q --network host w -- sh -c "$say" >first &&
		holds listen.py '$at' $(($(cat first) + 7)) &&
		git -C r agent resume -q --no-network w -- sh -c "$say" >same &&
		test_cmp first same &&
		git -C r agent resume --network host w -- sh -c "$say" >other 2>err &&
		! cmp -s first other &&
		grep "GIT_AGENT_PORT_BASE is $(cat other), and was $(cat first)" err &&
		git -C r agent resume --network host w -- sh -c "$say" >again 2>err &&
		test_cmp other again &&
		! grep PORT_BASE err
	'
done

test_that 'ports that another running session has are replaced by others' '
	git -C r agent resume -q w -- sh -c "$say" >first &&
	holds lock.py "$HOME/.local/state/git-agent/ports" "$(cat first)" &&
	git -C r agent resume w -- sh -c "$say" >other 2>err &&
	test -s other &&
	! cmp -s first other &&
	grep "GIT_AGENT_PORT_BASE is $(cat other)" err
'

test_that 'without a free range no ports are given, and the former ones come back later' '
	ports=$HOME/.local/state/git-agent/ports &&
	git -C r agent resume -q w -- sh -c "$say" >first &&
	test -s first &&
	rm "$ports" &&
	mkdir "$ports" &&
	test_when_finished "rmdir $ports 2>/dev/null || :" &&
	git -C r agent resume w -- sh -c "
		echo 1 >g
		echo \${GIT_AGENT_PORT_BASE-none}" >other 2>err &&
	grep -x none other &&
	grep "GIT_AGENT_PORT_BASE is not set" err &&
	! grep "PORT_BASE is 0" err &&
	rmdir "$ports" &&
	git -C r agent resume w -- sh -c "$say" >again 2>err &&
	test_cmp first again &&
	! grep PORT_BASE err
'

test_that 'GIT_AGENT_SESSION_ID is unique, and a resumed session keeps it' '
	id="echo 1 >>g; echo \$GIT_AGENT_SESSION_ID" &&
	git init -q o &&
	git -C o commit -q --allow-empty -m one &&
	git -C r agent start -q -n same -- sh -c "$id" >first &&
	grep -x "[0-9a-f]\{12\}" first &&
	git -C o agent start -q -n same -- sh -c "$id" >second &&
	git -C r agent start -q -n third -- sh -c "$id" >third &&
	test "$(sort -u first second third | wc -l)" = 3 &&
	git -C r agent resume -q same -- sh -c "$id" >again &&
	test_cmp first again
'

test_done
