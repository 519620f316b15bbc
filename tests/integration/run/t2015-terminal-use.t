#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on real terminals: full-screen programs, job control of a shell, pipes, floods'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

pty=$TEST_BUILDDIR/tests/helpers/ptydrive
TERM=xterm
test_enter r &&
seq 1 500 >numbers &&
echo old >file &&
test_commit base

test_lazy_prereq TMUX 'tmux -V'
test_lazy_prereq VIM 'vim --version && tmux -V'

# ---- a tmux of the user around the session

tm() {
	tmux -S "$HOME/tmux.$test_count" "$@"
}
# in_tmux COMMAND: in a window of 100 columns and 30 lines
in_tmux() {
	tm -f /dev/null new-session -d -x 100 -y 30 "$1" &&
	test_when_finished "tm kill-server" &&
	tm set-option -g window-size manual
}
shows() {
	test_wait_for "tm capture-pane -p | grep -q -e '$1'" || {
		tm capture-pane -p
		return 1
	}
}
# last_line: which line of the window is the last that has anything
last_line() {
	tm capture-pane -p | awk '/./ { n = NR } END { print n }'
}

test_that VIM 'vim has the whole window, also a smaller and a larger one, and can start a shell' '
	in_tmux "git agent start -q --name vim -- vim -u NONE -N -c \"set ruler\" numbers; echo st=\$?; cat" &&
	shows "0,0-1\|1,1 " &&
	test "$(last_line)" = 30 &&
	tm resize-window -x 60 -y 12 &&
	test_wait_for "test \"\$(last_line)\" = 12" &&
	shows "^11\$" &&
	tm resize-window -x 120 -y 40 &&
	test_wait_for "test \"\$(last_line)\" = 40" &&
	shows "^39\$" &&
	tm send-keys ":set columns? lines?" Enter &&
	shows "columns=120" &&
	shows "lines=40" &&
	tm send-keys Enter &&
	tm send-keys ":!echo in-sh\"\"ell" Enter &&
	shows "in-shell" &&
	tm send-keys Enter &&
	tm send-keys ggOwritten Escape ":wq" Enter &&
	shows "st=0" &&
	test "$(git show agent/vim:numbers | head -n 1)" = written
'

# Each sends SIGHUP: the kernel, the shell to its jobs, and the kernel at the end of the shell
test_that 'RS-02: a session whose terminal is closed with a shell in it is captured by itself' '
	$pty expect="in> " \
		send="git agent start -q --name hup" \
		send=" -- sh -c \"echo kept >kept; echo rea\\\"\\\"dy; exec sleep 1000\"\\r" \
		expect=ready close -- env PS1="in> " bash --norc --noprofile -i &&
	dir=$(test_dir hup) &&
	test_wait_for "grep -q \"event.:.captured\" $dir/journal.jsonl" &&
	! grep interrupted "$dir/journal.jsonl" &&
	test_holds agent/hup:kept kept
'

test_that 'RS-02: a hang-up while the work is captured does not interrupt that' '
	{
		GIT_AGENT_FAULT=capture:imported:stop git-agent start -q --name late -- sh -c "echo kept >kept" &
	} &&
	pid=$! &&
	test_wait_for "grep -q \"^State:.T\" /proc/$pid/status" &&
	kill -HUP $pid &&
	kill -CONT $pid &&
	wait $pid &&
	test_holds agent/late:kept kept &&
	dir=$(test_dir late) &&
	! grep interrupted "$dir/journal.jsonl"
'

# ---- an interactive shell

shell='bash --norc --noprofile -i'
prompt="PS1=out''put'> '\\r"
# until the job has stopped, which is no matter of the prompt
until_stopped='while ! jobs | grep -q Stop""ped; do sleep 0.1; done; echo has-st""opped\r'

# In the background it stops when it asks for the terminal. A fg that comes in just that moment is too early: the
# stop comes after it, as of any program.
test_that 'Ctrl-Z, fg and bg of a shell stop and continue git agent start' '
	$pty send="$prompt" expect="output> " \
		send="git agent start -q -- sh -c \"stty -echo; echo be\\\\\"\\\\\"gun" \
		send="; while read a; do echo got-\\\\\\\$a; done; exit 4\"\\r" expect=begun mode=raw \
		send="\\x1a" expect=Stopped expect="output> " \
		send="fg\\r" mode=raw send="one\\r" expect=got-one \
		send="\\x1a" expect=Stopped expect="output> " send="bg\\r" expect="output> " \
		send="$until_stopped" expect=has-stopped expect="output> " \
		send="fg\\r" mode=raw send="two\\r" expect=got-two \
		send="\\x04" expect="output> " send="echo status=\$?\\r" expect=status=4 send="exit 0\\r" exit=0 -- \
			$shell
'

test_that 'started in the background git agent start stops at the terminal, and fg continues it' '
	$pty send="$prompt" expect="output> " \
		send="git agent start -q -- sh -c \"read a; echo got-\\\\\\\$a; exit 6\" &\\r" expect="output> " \
		send="\\r" send="$until_stopped" expect=has-stopped expect="output> " \
		send="fg\\r" mode=raw send="word\\r" expect=got-word expect="output> " \
		send="echo status=\$?\\r" expect=status=6 send="exit 0\\r" exit=0 -- $shell
'

# The supervisor is git-agent itself: with git between, git is what a signal meets first
test_that 'a supervisor that SIGSTOP or SIGTSTP stops is continued by fg' '
	for how in "stop STOP" "tstp TSTP"; do
		$pty send="$prompt" expect="output> " \
			send="$GIT_AGENT start -q --name by-${how% *}" \
			send=" -- sh -c \"echo be\\\\\"\\\\\"gun; read a; echo got-\\\\\\\$a\"\\r" \
			expect=begun mode=raw sh="kill -${how#* } -\$(pgrep -P \$PTYDRIVE_PID | head -n 1)" \
			expect=Stopped expect="output> " send="fg\\r" expect=by-${how% *} mode=raw \
			send="word\\r" expect=got-word expect="output> " \
			send="exit 0\\r" exit=0 mode=cooked -- $shell || return 1
	done
'

test_that 'after Ctrl-Z a SIGCONT to the process that the shell knows is one to the session' '
	$pty send="$prompt" expect="output> " \
		send="$GIT_AGENT start -q -- sh -c \"echo be\\\\\"\\\\\"gun; exec cat\"\\r" \
		expect=begun mode=raw send="\\x1a" expect=Stopped expect="output> " \
		send="kill -CONT \$(jobs -p); sleep 1; fg\\r" mode=raw send="\\x04" expect="output> " \
		send="exit 0\\r" exit=0 -- $shell
'

test_that 'Ctrl-Z before the session begins stops it' '
	test_enter asks &&
	echo "setup: [touch x]" >.agentdev.yaml &&
	test_commit setup &&
	$pty send="$prompt" expect="output> " send="$GIT_AGENT start -q -- true\\r" expect="trust it" send="\\x1a" \
		expect=Stopped expect="output> " send="fg\\r" expect=start send="n\\r" expect="output> " \
		send="exit 0\\r" exit=0 -- $shell
'

# ---- without a terminal, or with half of one

test_that 'without a terminal the command has none, by descriptor or by /dev/tty' '
	test_expect_code 3 setsid -w git agent start -q --name none -- sh -c "
		tty
		[ -t 1 ] || echo no
		(: </dev/tty) 2>/dev/null || echo none
		cat
		echo err >&2
		exit 3" </dev/null >../out 2>../err &&
	test_prints "not a tty\nno\nnone" cat ../out &&
	test_prints err cat ../err
'

test_that 'input from a file and output to a pipe pass, with or without a terminal at the other end' '
	git agent start -q -- cat numbers <file | tail -n 1 | grep "^500\$" &&
	$pty expect=old expect=st=0 exit=0 mode=cooked -- sh -c "
		git agent start -q -- sh -c \"cat; [ ! -t 0 ]\" <file
		echo st=\$?" &&
	$pty expect=ready send="typed\r" expect="[got-typed]" exit=0 mode=cooked -- sh -c "
		git agent start -q -- sh -c \"
			echo ready >&2
			read a
			echo got-\\\$a
			[ ! -t 1 ]\" | sed \"s/.*/[&]/\"" &&
	seq 1 200000 >../big &&
	git agent start -q -- sort -n <../big | cmp - ../big
'

test_that 'Ctrl-C with output in a pipe ends the command, and all of its output arrives' '
	$pty expect=ready send="\\x03" expect="[got-int]" expect=st=5 exit=0 -- bash -c "
		set -o pipefail
		trap : INT
		$GIT_AGENT start -q -- sh -c \"
			trap \\\"echo got-int; exit 5\\\" INT
			echo ready >&2
			while :; do sleep 0.1; done\" | (
			trap \"\" INT
			sed \"s/.*/[&]/\"
		)
		echo st=\$?"
'

# ---- floods

# KiB that our own process may ever have had; it has some 10 000
bound=32768
# has_stayed_small PID
has_stayed_small() {
	test "$(sed -n "s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p" "/proc/$1/status")" -lt $bound
}

test_that UNSANITIZED 'TT-08: 256 MiB to a terminal arrive in bounded memory, recorded up to the limit' '
	cat >flood <<-\EOF &&
	yes "$(printf %01023d 7)" | head -c 268435456
	echo THE-END
	read a
	EOF
	git add flood &&
	git commit -qm flood &&
	$pty within=500 expect=THE-END sh="cp /proc/\$PTYDRIVE_PID/status ../status" send="\\r" exit=0 mode=cooked -- \
		"$GIT_AGENT" -c limits.transcript=1MiB start -q --name flood -- sh ./flood | wc -c >../n &&
	test "$(cat ../n)" -gt 268435456 &&
	test "$(sed -n "s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p" ../status)" -lt $bound &&
	size=$(stat -c %s "$HOME"/.local/state/git-agent/*/sessions/flood/transcript.cast) &&
	test "$size" -le 1048576 &&
	test "$size" -gt 900000
'

test_that UNSANITIZED 'TT-08: 256 MiB through two pipes with slow readers all arrive in bounded memory' '
	mkfifo ../done ../errors &&
	{
		(
			exec "$GIT_AGENT" start -q --name pipes -- sh -c "
				head -c 134217728 /dev/zero &
				head -c 134217728 /dev/zero >&2
				wait
				read a" <../done 2>../errors | { head -c 134217728 | wc -c; } >../n1
		) &
	} &&
	exec 8>../done &&
	head -c 134217728 <../errors | wc -c >../n2 &&
	test_wait_for "test -s ../n1" &&
	test "$(cat ../n1 ../n2 | sort -u | tr -d " ")" = 134217728 &&
	has_stayed_small $(pgrep -f "^$GIT_AGENT start -q --name pipes") &&
	exec 8>&-
'

# ---- modes

# every_mode_is_undone: in what a terminal got, ../out
every_mode_is_undone() {
	for m in "[?1049l" "[?1000l" "[?1003l" "[?1006l" "[?2004l" "[?1004l" "[?25h" "[<1u" "[m"; do
		grep -aqF "$(printf "\033")$m" ../out || return 1
	done
}

test_that 'however a session ends, all modes of the terminal are restored' '
	cat >script <<-\EOF &&
	printf "\033[?1049h\033[?1000h\033[?1003h\033[?1006h\033[?2004h\033[?1004h"
	printf "\033[?25l\033[>1u\033[=5u\033[31mshown"
	stty raw -echo -isig
	echo ready
	read a
	eval "$1"
	EOF
	git add script &&
	git commit -qm script &&
	for end in "3 exit 3" "139 kill -SEGV \$\$" "137 kill -KILL -1" "137 kill -KILL \$PPID"; do
		$pty expect=ready mode=raw send="\n" expect="\e[?1049l" expect="st=${end%% *} ended" \
			exit=0 mode=cooked -- sh -c "
			git agent start -q -- sh ./script \"\$0\"
			echo st=\$? ended" "${end#* }" >../out &&
		every_mode_is_undone || return 1
	done
'

test_that 'when the sandbox is killed from outside all modes of the terminal are restored' '
	$pty expect=ready mode=raw sh="kill -KILL \$(pgrep -P \$(pgrep -P \$PTYDRIVE_PID) | head -n 1)" \
		expect="\e[?1049l" mode=cooked -- "$GIT_AGENT" start -q --name shot -- sh ./script >../out &&
	every_mode_is_undone &&
	git agent list | grep "^shot *captured"
'

test_that 'Ctrl-\\ d leaves a session that was started on a terminal, which runs on detached' '
	$pty expect=ready mode=raw send="\x1cd" expect="\e[?1049l" expect="agent/left: runs on" exit=0 mode=cooked -- \
		"$GIT_AGENT" start -q --name left -- sh ./script >../out &&
	every_mode_is_undone &&
	git agent list | grep "^left *running .*detached" &&
	$pty mode=raw expect="\e[?1049h" send="\n" expect="\e[?1049l" mode=cooked -- "$GIT_AGENT" attach left &&
	git agent list | grep "^left *captured"
'

test_that 'a session that is left by Ctrl-\\ d keeps nothing open, and is not hung up with its terminal' '
	$pty expect=ready mode=raw send="\x1cd" expect="agent/gone: runs on" expect="free>" close -- sh -c "
		exec 9>../lock
		flock 9
		git agent start -q --name gone -- sh ./script
		exec 9>&-
		flock -n ../lock echo free\>
		read wait" >../out &&
	git agent list | grep "^gone *running .*detached" &&
	git agent stop -q gone
'

test_done
