#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions without a terminal: start -d, wait, stop, notify'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
own_programs

repo() {
	test_enter "$1" a
}
# ends when somebody makes a file
hold='while [ ! -e end ] && [ ! -e /tmp/end ]; do sleep 0.05; done'

test_that 'start -d returns when the agent runs, and says its name' '
	repo first &&
	git agent start -d -- sh -c "echo x >f; $hold; exit 7" >../out 2>../err &&
	test_prints sh-1 cat ../out &&
	grep "git agent attach sh-1" ../err &&
	git agent list | grep "^sh-1 .*running .*detached" &&
	test "$(running sh-1 "run[\"detached\"]")" = True &&
	test "$(running sh-1 "run[\"attached\"]")" = False
'

test_that 'the supervisor has no terminal, stream or session of who started it' '
	cd first &&
	pid=$(running sh-1 "run[\"supervisor\"]") &&
	test "$pid" -gt 1 &&
	for fd in 0 1 2; do test "$(readlink /proc/$pid/fd/$fd)" = /dev/null || return 1; done &&
	set -- $(sed "s/.*) //" /proc/$pid/stat) &&
	test "$4" = "$pid" &&
	test "$5" = 0
'

# the command that lets it end may end with it
test_that 'wait ends at its timeout, or with the session and its status' '
	cd first &&
	test_fails 124 "still runs" git agent wait --timeout 0 sh-1 &&
	{
		{
			git agent wait agent/sh-1
			echo $? >../status
		} &
	} &&
	waiter=$! &&
	{ git agent shell sh-1 -- touch end || :; } &&
	wait $waiter &&
	test "$(cat ../status)" = 7 &&
	test_holds agent/sh-1:f x &&
	test_state sh-1 captured &&
	test_expect_code 7 git agent wait sh-1
'

test_that 'wait waits for all sessions, or for those that are named' '
	repo all &&
	git agent wait &&
	for n in 1 2 3; do
		git agent start -qd -n s$n -- sh -c "touch f; exit $n" || return 1
	done &&
	git agent wait &&
	test "$(git agent list | grep -c captured)" = 3 &&
	test_expect_code 2 git agent wait s1 s3 s2 &&
	test_fails 128 "no session .none." git agent wait none
'

test_that 'start -d keeps no descriptor of its caller open' '
	repo pipe &&
	{
		git agent start -qd -n p -- sh -c "$hold"
		echo done
	} 3>&1 | cat >../out &&
	grep done ../out &&
	git agent stop -q p
'

test_that 'a start -d that fails exits with 125, says why, and leaves nothing' '
	repo fails &&
	test_fails 125 "cannot run .*no-such" git agent start -d -- ./no-such >../out &&
	test ! -s ../out &&
	test_fails 125 "not found on PATH" git agent start -d -- no-such &&
	test -z "$(git agent list)" &&
	test -z "$(git for-each-ref refs/agent refs/heads/agent)" &&
	test_fails 129 "git agent attach" git agent start -d --terminal-filter off -- true
'

test_that 'start -d that is killed before the agent runs ends the session' '
	mkdir slow &&
	test_script slow/git <<-\EOF &&
	case "$*" in *status*) echo here >"$HOME/slow/at"; sleep 100 ;; esac
	exec "$REAL_GIT" "$@"
	EOF
	repo waits &&
	echo b >>a &&
	for sig in TERM KILL; do
		rm -f ../slow/at
		REAL_GIT=$(command -v git) PATH=$HOME/slow:$PATH git-agent start -d -- true &
		pid=$!
		test_wait_for "test -e ../slow/at" &&
		kill -$sig $pid &&
		{ wait $pid || :; } &&
		test_wait_for "! ours" ||
			return 1
	done &&
	test -z "$(git agent list)"
'

test_that 'a detached session has a terminal of 24 lines, or as many as where it was started' '
	repo size &&
	test_background s "
		tty >f
		stty size >>f" &&
	git agent wait s &&
	test_prints "/dev/pts/0\n24 80" git show agent/s:f &&
	$pty resize=33x99 exit=0 -- git agent start -qd -n t -- sh -c "stty size >f" &&
	git agent wait t &&
	test_holds agent/t:f "33 99"
'

test_that 'stop sends SIGHUP, and what the command does then is captured' '
	repo stop &&
	test_background s "
		trap \"echo bye >g; exit 3\" HUP
		echo x >f
		while :; do sleep 0.05; done" &&
	test_wait_for "git agent shell s -- test -e f" &&
	test_shows "2 files changed" git agent stop s &&
	test_expect_code 3 git agent wait s &&
	test_holds agent/s:g bye
'

test_that 'stop sends SIGTERM when SIGHUP is ignored, and then SIGKILL' '
	cd stop &&
	test_background term "
		trap \"\" HUP
		trap \"exit 4\" TERM
		touch r
		while :; do sleep 0.05; done" &&
	test_wait_for "git agent shell term -- test -e r" &&
	git agent stop -q --timeout 4 term &&
	test_expect_code 4 git agent wait term &&
	for how in "--timeout 1" --force; do
		git agent start -qd -n deaf -- sh -c "
		trap \"\" HUP TERM
		echo x >f
		while :; do sleep 0.05; done" &&
		test_wait_for "git agent shell deaf -- test -e f" &&
		git agent stop -q $how deaf &&
		test_expect_code 137 git agent wait deaf &&
		test_holds agent/deaf:f x &&
		git agent drop --force deaf || return 1
	done
'

test_that 'stop ends several sessions, and names those that do not run' '
	cd stop &&
	for n in 1 2 3; do
		git agent start -qd -n m$n -- sh -c "touch f; $hold" || return 1
	done &&
	git agent stop -q m1 &&
	test_fails 128 "no session .nobody" git agent stop m2 nobody m3 &&
	test "$(git agent list | grep -c "^m[123] .*running")" = 2 &&
	test_expect_code 128 git agent stop m2 m1 m3 >../out 2>../err &&
	grep ".m1. does not run: it is captured" ../err &&
	test "$(git agent list | grep -c "^m[123] .*captured")" = 3 &&
	test "$(grep -c "1 file changed" ../out)" = 2 &&
	test_expect_code 129 git agent stop
'

test_that 'stop ends a session on a terminal, and one that reads a pipe' '
	repo other &&
	mkfifo ../go &&
	{
		test_session pipe "
		echo x >f
		cat" <../go >../cat.out &
	} &&
	exec 9>../go &&
	test_wait_for "git agent shell pipe -- test -e f" &&
	test "$(running pipe "run[\"detached\"]")" = False &&
	git agent stop -q pipe &&
	wait &&
	exec 9>&- &&
	test_holds agent/pipe:f x &&
	{
		$pty expect=ready exit=129 mode=cooked -- git agent start -q -n tty -- sh -c "
		echo x >f
		echo ready
		sleep 1000" >../tty.out &
	} &&
	terminal=$! &&
	test_wait_for "git agent shell tty -- test -e f" &&
	git agent stop -q tty &&
	wait $terminal &&
	test_holds agent/tty:f x
'

test_that 'stop --force ends a session whose supervisor is stopped' '
	cd other &&
	mkfifo ../go2 &&
	{
		test_session mute "
		echo x >f
		cat" <../go2 &
	} &&
	exec 9>../go2 &&
	test_wait_for "git agent shell mute -- test -e f" &&
	pid=$(running mute "run[\"supervisor\"]") &&
	kill -STOP $pid &&
	test_fails 124 "does not answer" git agent stop --timeout 0 mute &&
	test_state mute running &&
	git agent stop --force mute &&
	exec 9>&- &&
	{ wait || :; } &&
	test_state mute captured &&
	test_holds agent/mute:f x
'

test_that 'a supervisor that is killed ends its session, which can be resumed' '
	repo killed &&
	test_background k "
		echo x >f
		setsid sleep 1000 &
		$hold" &&
	test_wait_for "git agent shell k -- test -e f" &&
	pid=$(running k "run[\"supervisor\"]") &&
	kill -KILL $pid &&
	test_wait_for "! ours" &&
	test -S "$(dir_of k)/control" &&
	git agent list 2>../err | grep "^k .*captured" &&
	grep "was interrupted" ../err &&
	test_holds agent/k:f x &&
	test_fails 128 "ended is not known" git agent wait k &&
	git agent resume -qd k -- sh -c "
		echo y >g
		$hold" &&
	git agent stop -q k &&
	test_holds agent/k:g y &&
	test ! -e "$(dir_of k)/control"
'

test_that 'wait fails when the supervisor is killed' '
	cd killed &&
	test_background w "
		touch f
		$hold" &&
	pid=$(running w "run[\"supervisor\"]") &&
	sockets=$(ls -l /proc/$pid/fd | grep -c socket:) &&
	{
		{
			git agent wait w 2>../err
			echo $? >../status
		} &
	} &&
	waiter=$! &&
	test_wait_for "test \$(ls -l /proc/$pid/fd | grep -c socket:) -gt $sockets" &&
	kill -KILL $pid &&
	wait $waiter &&
	test "$(cat ../status)" = 128
'

test_that 'PS-07: sessions that ended in whatever way leave no process, no socket and no mount' '
	repo rounds &&
	i=0 &&
	while [ $i -lt 9 ]; do
		i=$((i + 1)) &&
		git agent start -qd -n r$i -- sh -c "
		echo $i >f
		setsid sleep 1000 &
		$hold" &&
		case $((i % 3)) in
		0) git agent stop -q r$i ;;
		1) git agent stop -qf r$i ;;
		2)
			git agent shell r$i -- touch end
			git agent wait r$i
			;;
		esac || return 1
	done &&
	test_wait_for "! ours" &&
	test -z "$(find "$HOME/.local" -type s)" &&
	! cat /proc/[0-9]*/mountinfo 2>/dev/null | grep -F "$TRASH" &&
	test "$(git agent list | grep -c captured)" = 9
'

test_that 'the socket of a session is for its user alone, and not seen inside' '
	repo inside &&
	test_background s "$hold" &&
	s="$(dir_of s)/control" &&
	test "$(stat -c %a "$s")" = 600 &&
	test "$(stat -c %a "${s%/*}")" = 700 &&
	git agent shell s -- sh -c "
		test ! -e \"$s\" &&
		test ! -e \"${s%/*}\" &&
		! find / -type s 2>/dev/null | grep -q control" &&
	git agent stop -q s
'

test_that 'notify runs a program of the user when a detached session has ended' '
	test_settings "notify: ~/tell" &&
	test_script tell <<-\EOF &&
	env | grep ^GIT_AGENT_ | sort >"$HOME/told.new"
	git agent show "$GIT_AGENT_SESSION" | head -2 >>"$HOME/told.new" 2>&1
	[ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo no terminal >>"$HOME/told.new"
	mv "$HOME/told.new" "$HOME/told"
	EOF
	repo tells &&
	test_background s "
		echo x >Makefile
		exit 9" &&
	test_wait_for "test -e ../told" &&
	cat >../want <<-EOF &&
	GIT_AGENT_EXIT_STATUS=9
	GIT_AGENT_FLAGS_OPEN=1
	GIT_AGENT_PROJECT=$PWD
	GIT_AGENT_SESSION=s
	GIT_AGENT_STATE=captured
	session      s
	state        captured
	no terminal
	EOF
	test_cmp ../want ../told &&
	rm ../told &&
	git agent start -q -n t -- true &&
	git agent -c notify=none start -qd -n u -- true &&
	git agent wait u &&
	test_wait_for "! ours" &&
	test ! -e ../told &&
	git agent -c notify="$HOME/missing" start -qd -n v -- true &&
	git agent wait v &&
	test_wait_for "grep -q notify.*failed \"$(dir_of v)/journal.jsonl\""
'

test_that 'notify can show a message on the desktop, and no repository can set it' '
	mkdir desk &&
	test_script desk/notify-send <<-\EOF &&
	printf "%s\n" "$@" >$HOME/said.new
	mv $HOME/said.new $HOME/said
	EOF
	repo desktop &&
	PATH=$HOME/desk:$PATH git agent -c notify=desktop start -qd -n s -- sh -c "exit 4" &&
	test_wait_for "test -e ../said" &&
	printf "%s\n" "--app-name=git agent" -- "agent/s has ended" "Exit status 4." >../want &&
	test_cmp ../want ../said &&
	echo "notify: /bin/true" >.agentdev.yaml &&
	test_commit 2 &&
	test_fails 125 "a repository cannot set it" git agent start -d -- true
'

end_ours
test_done
