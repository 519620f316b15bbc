#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='further commands in the sandbox of a session: git agent shell'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
own_programs

repo() {
	test_enter "$1" &&
	mkdir -p sub &&
	echo a >a &&
	echo b >sub/b &&
	test_commit 1
}
hold='while [ ! -e end ]; do sleep 0.05; done'

test_that 'a command runs beside the agent, with its files, processes and environment' '
	repo r &&
	KEY=value git agent start -qd -n s -- sh -c "
		echo mine >f
		exec sleep 1000" &&
	test_wait_for "git agent shell s -- test -e f" &&
	test_expect_code 4 git agent shell s -- sh -c "
		cat f
		cat
		echo err >&2
		ps ax -o args | grep \"sleep 1000\" | grep -vc grep
		echo \$GIT_AGENT_SESSION \$HOME
		exit 4" <<-\EOF >../out 2>../err &&
		from us
		EOF
	test_prints "mine\nfrom us\n1\ns $HOME" cat ../out &&
	test_prints err cat ../err &&
	test "$(running s "run[\"shells\"]")" = 0
'

test_that 'directories can be renamed by a command where the session can' '
	cd r &&
	test_background moves "$hold" &&
	git agent shell moves -- sh -c "
		mv sub moved &&
		python3 -c \"import os; os.rename(\\\"moved\\\", \\\"sub2\\\")\"" &&
	git agent shell moves -- test -e sub2/b &&
	$pty expect="it is done" exit=0 -- git agent shell moves -- python3 -c \
		"import os; os.rename(\"sub2\", \"sub\"); print(\"it is\", \"done\")" &&
	for i in $(seq 1 40); do
		git agent shell moves -- sh -c "
		sleep 1000 >/dev/null 2>&1 </dev/null &
		mkdir n$i &&
		mv n$i m$i" || return 1
	done &&
	git agent shell moves -- python3 -c "import os; os.rename(\"sub\", \"new\")" &&
	git agent stop -q moves &&
	git ls-tree --name-only agent/moves >../out &&
	grep -x new ../out &&
	! grep -x sub ../out &&
	git agent -c sandbox.rename=false start -qd -n fixed -- sh -c "$hold" &&
	test_says "cross-device" \
		test_must_fail git agent shell fixed -- python3 -c "import os; os.rename(\"sub\", \"x\")" &&
	git agent stop -qf fixed
'

test_that 'a command runs in the current directory, and what it does is captured' '
	cd r/sub &&
	git agent shell s -- sh -c "
		pwd
		echo new >c" >../../out &&
	test_prints "$HOME/r/sub" cat ../../out &&
	git agent diff s | grep "^+new" &&
	test ! -e c
'

test_that 'a shell has a terminal of its own, with job control and size' '
	cd r &&
	$pty resize=30x90 expect=" " send="PS1=out\"\"put\"> \" \r" expect="output> " send="tty; stty size\r" \
		expect=/dev/pts/1 expect="30 90" resize=31x91 send="stty size\r" expect="31 91" \
		send="sleep 1000\r" sleep=300 send="\x1a" expect=Stopped send="fg\r" sleep=300 send="\x03" \
			send="echo st=\$?\r" expect=st=130 \
		send="exit 3\r" exit=3 mode=cooked -- git agent shell s
'

test_that 'Ctrl-Z stops git agent shell before the shell of the user' '
	cd r &&
	$pty send="PS1=out\"\"put\"> \" \r" expect="output> " \
		send="git agent shell s -- sh -c \"echo rea\\\"\\\"dy; read a; echo got-\\\\\\\$a; exit 4\"\r" \
		expect=ready mode=raw send="\x1a" expect=Stopped expect="output> " \
		send="fg\r" mode=raw send="word\r" expect=got-word expect="output> " send="echo status=\$?\r" \
			expect=status=4 send="exit 0\r" exit=0 -- bash --norc --noprofile -i
'

test_that 'a shell on a terminal has the TERM of the user' '
	cd r &&
	TERM=xterm-direct $pty expect=term-xterm-direct exit=0 -- git agent shell s -- sh -c "echo term-\$TERM" &&
	test "$(git agent shell s -- sh -c "echo \$TERM")" = dumb
'

test_that 'a hang-up ends the command and nothing else' '
	cd r &&
	$pty expect=ready close exit=129 -- git agent shell s -- sh -c "
		echo ready
		exec sleep 1001" &&
	{
		git agent shell s -- sh -c "
		touch on
		exec sleep 1002" &
	} &&
	pid=$! &&
	test_wait_for "git agent shell s -- test -e on" &&
	test "$(running s "run[\"shells\"]")" = 1 &&
	kill -KILL $(pgrep -P $pid || echo $pid) &&
	{ wait $pid || :; } &&
	test_wait_for "! git agent shell s -- ps ax -o args | grep -v grep | grep \"sleep 100[12]\"" &&
	test_wait_for "test \"\$(running s run[\\\"shells\\\"])\" = 0" &&
	test_state s running
'

test_that 'a command that ignores its hang-up is killed' '
	cd r &&
	{
		git agent shell s -- sh -c "
		trap \"\" HUP
		touch deaf
		while :; do sleep 0.1; done" &
	} &&
	pid=$! &&
	test_wait_for "git agent shell s -- test -e deaf" &&
	kill -KILL $(pgrep -P $pid || echo $pid) &&
	{ wait $pid || :; } &&
	test_wait_for "test \"\$(running s run[\\\"shells\\\"])\" = 0"
'

test_that 'a command that does not exist is refused, and one that is too many' '
	cd r &&
	test_fails 125 "cannot run .no-such. in the sandbox" git agent shell s -- no-such &&
	test_fails 125 "no session .nobody" git agent shell nobody -- true &&
	for i in $(seq 1 40); do git agent shell s -- sh -c "$hold" 2>>../many & done &&
	test_wait_for "grep -q . ../many" &&
	grep "cannot start .sh. in the sandbox" ../many &&
	test_state s running &&
	git agent stop -qf s &&
	wait
'

test_that 'the end of the session ends its shells' '
	cd r &&
	test_background ends "$hold" &&
	{
		$pty expect=ready expect="the session has ended" exit=128 mode=cooked -- git agent shell ends -- sh -c "
		echo ready
		exec sleep 1000" &
	} &&
	shell=$! &&
	test_wait_for "test \"\$(running ends run[\\\"shells\\\"])\" = 1" &&
	git agent stop -q ends &&
	wait $shell &&
	test_wait_for "! ours"
'

test_that 'a command in a session that has ended resumes it' '
	cd r &&
	test_session done "
		echo x >f
		echo hidden >kept
		echo kept >.gitignore" &&
	test_expect_code 6 git agent shell done -- sh -c "
		cat f kept
		echo y >g
		exit 6" >../out 2>../err &&
	test_prints "x\nhidden" cat ../out &&
	grep "has ended: it is resumed for this command" ../err &&
	test_holds agent/done:g y &&
	test_holds agent/done:f x &&
	git agent show done | grep "^resumed with" &&
	$pty expect=" " send="cat g\r" expect=y send="exit\r" exit=0 -- git agent shell -q done
'

test_that 'a command has no descriptor of its caller' '
	cd r &&
	test_background fds "$hold" &&
	git agent shell fds -- sh -c "ls /proc/self/fd" 7</etc/passwd >../out &&
	test_prints "0\n1\n2\n3" cat ../out &&
	git agent shell fds -- sh -c "readlink /proc/self/fd/0" </etc/passwd >../out &&
	grep "^pipe:" ../out &&
	git agent stop -q fds
'

end_ours
test_done
