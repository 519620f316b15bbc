#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on real terminals: full-screen programs, job control of a shell, pipes, floods'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

pty=$TEST_BUILDDIR/tests/helpers/ptydrive
TERM=xterm
git init -q r &&
cd r &&
seq 1 500 >numbers &&
echo old >file &&
git add -A &&
git commit -qm base

test_lazy_prereq TMUX 'tmux -V'
test_lazy_prereq VIM 'vim --version && tmux -V'
test_lazy_prereq LESS 'less --version && tmux -V'

# ---- a user's own tmux around the session

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
# The last line of the window that has anything, and which that is.
last_line() {
	tm capture-pane -p | awk '/./ { n = NR } END { print n }'
}

test_expect_success VIM 'vim: the whole window, smaller, larger, a shell from within' '
	in_tmux "echo before; git agent start -q --name vim -- vim -u NONE -N -c \"set ruler\" numbers; echo st=\$?; cat" &&
	shows "^1\$" &&
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

test_expect_success VIM 'vim in a pane that is split, and so resized, while it runs' '
	in_tmux "git agent start -q --name split -- vim -u NONE -N numbers" &&
	shows "^1\$" &&
	test "$(tm display-message -p "#{pane_height}")" = 30 &&
	tm split-window -v cat &&
	tm select-pane -t 0 &&
	test "$(tm display-message -p -t 0 "#{pane_height}")" -lt 20 &&
	test_wait_for "tm send-keys -t 0 Escape \":set lines?\" Enter && sleep 0.1 && tm capture-pane -p -t 0 | grep -q \"lines=\$(tm display-message -p -t 0 \"#{pane_height}\")\"" &&
	tm send-keys -t 0 Enter ":q!" Enter &&
	test_wait_for "test \"\$(tm list-panes | wc -l)\" = 1"
'

test_expect_success LESS 'less: paging, a new size, Ctrl-C, and the screen from before comes back' '
	in_tmux "echo before; git agent start -q -- less numbers; echo st=\$?; cat" &&
	shows "^29\$" &&
	tm send-keys Space &&
	shows "^58\$" &&
	tm resize-window -x 100 -y 10 &&
	test_wait_for "test \"\$(last_line)\" = 10" &&
	tm send-keys g &&
	shows "^9\$" &&
	tm capture-pane -p >../out &&
	! grep "^10\$" ../out &&
	tm send-keys F &&
	shows "Waiting for data" &&
	tm send-keys C-c &&
	tm send-keys G &&
	shows "^500\$" &&
	tm send-keys q &&
	shows "st=0" &&
	shows "^before"
'

test_expect_success TMUX 'a window that is closed ends the session, which is captured' '
	in_tmux "git agent start -q --name closed -- sh -c \"echo kept >kept; echo ready; exec sleep 1000\"" &&
	shows ready &&
	tm kill-server &&
	test_wait_for "git agent list | grep \"^closed *captured\"" &&
	test "$(git show agent/closed:kept)" = kept
'

# each of them sends SIGHUP: the kernel, the shell to its jobs, and the kernel at the end of the shell
test_expect_success 'RS-02: so does a terminal with a shell in it, and nobody else is needed to capture' '
	$pty expect="in> " send="git agent start -q --name hup -- sh -c \"echo kept >kept; echo rea\\\"\\\"dy; exec sleep 1000\"\\r" expect=ready close -- env PS1="in> " bash --norc --noprofile -i &&
	dir=$(ls -d "$HOME"/.local/state/git-agent/*/sessions/hup) &&
	test_wait_for "grep -q \"event.:.captured\" $dir/journal.jsonl" &&
	! grep interrupted "$dir/journal.jsonl" &&
	test "$(git show agent/hup:kept)" = kept
'

test_expect_success 'RS-02: so does one that goes while the work is captured' '
	{
		GIT_AGENT_FAULT=capture:imported:stop git-agent start -q --name late -- sh -c "echo kept >kept" &
	} &&
	pid=$! &&
	test_wait_for "grep -q \"^State:.T\" /proc/$pid/status" &&
	kill -HUP $pid &&
	kill -CONT $pid &&
	wait $pid &&
	test "$(git show agent/late:kept)" = kept &&
	dir=$(ls -d "$HOME"/.local/state/git-agent/*/sessions/late) &&
	! grep interrupted "$dir/journal.jsonl"
'

# ---- an interactive shell

shell='bash --norc --noprofile -i'
prompt="PS1=out''put'> '\\r"

# In the background it stops when it asks for the terminal. A fg that comes in just that moment is too early: the
# stop comes after it, as of any program.
test_expect_success 'Ctrl-Z and fg, twice, and bg, of git agent start under a shell' '
	$pty send="$prompt" expect="output> " send="git agent start -q -- sh -c \"stty -echo; echo be\\\\\"\\\\\"gun; while read a; do echo got-\\\\\\\$a; done; exit 4\"\\r" expect=begun mode=raw \
		send="\\x1a" expect=Stopped expect="output> " send="jobs; echo in-bet\"\"ween\\r" expect=Stopped expect=in-between expect="output> " send="fg\\r" mode=raw send="one\\r" expect=got-one \
		send="\\x1a" expect=Stopped expect="output> " send="bg\\r" expect="output> " \
		send="while ! jobs | grep -q Stop\"\"ped; do sleep 0.1; done; echo has-st\"\"opped\\r" expect=has-stopped expect="output> " send="fg\\r" mode=raw send="two\\r" expect=got-two \
		send="\\x04" expect="output> " send="echo status=\$?\\r" expect=status=4 send="exit 0\\r" exit=0 -- $shell
'

test_expect_success 'started in the background it stops at the terminal, and goes on with fg' '
	$pty send="$prompt" expect="output> " send="git agent start -q -- sh -c \"read a; echo got-\\\\\\\$a; exit 6\" &\\r" expect="output> " \
		send="\\r" send="while ! jobs | grep -q Stop\"\"ped; do sleep 0.1; done; echo it-has-st\"\"opped\\r" expect=it-has-stopped expect="output> " \
		send="fg\\r" mode=raw send="word\\r" expect=got-word expect="output> " send="echo status=\$?\\r" expect=status=6 send="exit 0\\r" exit=0 -- $shell
'

test_expect_success 'Ctrl-C ends an agent that lets it, and the shell goes on' '
	$pty send="$prompt" expect="output> " send="git agent start -q -- sh -c \"echo be\\\\\"\\\\\"gun; exec sleep 1000\"\\r" expect=begun mode=raw send="\\x03" expect="output> " \
		send="echo status=\$?\\r" expect=status=130 send="exit 0\\r" exit=0 -- $shell
'

# The supervisor is git-agent itself: with git between, git is what a signal meets first.
test_expect_success 'a supervisor that is stopped and continued: SIGSTOP, SIGTSTP' '
	for sig in stop tstp; do
		$pty send="$prompt" expect="output> " send="$GIT_AGENT start -q --name by-$sig -- sh -c \"echo be\\\\\"\\\\\"gun; read a; echo got-\\\\\\\$a\"\\r" expect=begun mode=raw \
			sh="kill -\$(echo $sig | tr a-z A-Z) \$(pgrep -P \$PTYDRIVE_PID | head -n 1)" expect=Stopped expect="output> " send="fg\\r" expect=by-$sig mode=raw send="word\\r" expect=got-word expect="output> " \
			send="exit 0\\r" exit=0 mode=cooked -- $shell || return 1
	done
'

# ---- without a terminal, or with half of one

test_expect_success 'no terminal at all: no descriptor of it, and none that controls' '
	test_expect_code 3 setsid -w git agent start -q --name none -- sh -c "
		tty
		[ -t 1 ] || echo no
		(: </dev/tty) 2>/dev/null || echo none
		cat
		echo err >&2
		exit 3" </dev/null >../out 2>../err &&
	printf "not a tty\nno\nnone\n" >../want &&
	test_cmp ../want ../out &&
	echo err >../want &&
	test_cmp ../want ../err
'

test_expect_success 'output through a pipe, input from a file, both; with a terminal on the other end' '
	test "$(git agent start -q -- sh -c "echo one; echo two" | cat)" = "$(printf "one\ntwo")" &&
	test "$(git agent start -q -- cat <file)" = old &&
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

test_expect_success 'Ctrl-C with output in a pipe ends the command, and all of its output arrived' '
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

test_expect_success UNSANITIZED 'TT-08: 1 GiB to a terminal: bounded memory, all of it arrives, recorded up to the limit' '
	cat >flood <<-\EOF &&
	yes "$(printf %01023d 7)" | head -c 1073741824
	echo THE-END
	read a
	EOF
	git add flood &&
	git commit -qm flood &&
	$pty within=500 expect=THE-END sh="grep VmHWM /proc/\$PTYDRIVE_PID/status >../hwm" send="\\r" exit=0 mode=cooked -- "$GIT_AGENT" -c limits.transcript=1MiB start -q --name flood -- sh ./flood |
		wc -c >../n &&
	test "$(cat ../n)" -gt 1073741824 &&
	cat ../hwm &&
	read -r _ n _ <../hwm &&
	test "$n" -lt $bound &&
	size=$(stat -c %s "$HOME"/.local/state/git-agent/*/sessions/flood/transcript.cast) &&
	test "$size" -le 1048576 &&
	test "$size" -gt 900000
'

test_expect_success UNSANITIZED 'TT-08: 1 GiB through pipes, both of them, to readers that take their time' '
	mkfifo ../done ../errors &&
	{
		(
			exec "$GIT_AGENT" start -q --name pipes -- sh -c "
		head -c 536870912 /dev/zero &
		head -c 536870912 /dev/zero >&2
		wait
		read a" <../done 2>../errors | { head -c 536870912 | wc -c; } >../n1

		) &
	} &&
	exec 8>../done &&
	head -c 536870912 <../errors | wc -c >../n2 &&
	test_wait_for "test -s ../n1" &&
	test "$(cat ../n1 ../n2 | sort -u | tr -d " ")" = 536870912 &&
	pid=$(pgrep -f "^$GIT_AGENT start -q --name pipes") &&
	grep VmHWM "/proc/$pid/status" >../hwm &&
	cat ../hwm &&
	read -r _ n _ <../hwm &&
	test "$n" -lt $bound &&
	exec 8>&-
'

# ---- what is left behind

inside='printf "\033[?1049h\033[?1000h\033[?1003h\033[?1006h\033[?2004h\033[?1004h\033[?25l\033[>1u\033[=5u\033[31mshown"; stty raw -echo -isig'

test_expect_success 'whatever ends it, the terminal is as it was: modes of the line, and every mode of the screen' '
	printf "%s\n" "$inside; echo \$\$ >pid; echo ready; read a; eval \"\$1\"" >script &&
	git add script &&
	git commit -qm script &&
	check() {
		for m in "[?1049l" "[?1000l" "[?1003l" "[?1006l" "[?2004l" "[?1004l" "[?25h" "[<1u" "[m"; do
			grep -aqF "$(printf "\033")$m" ../out || {
				echo "left on: $m"
				return 1
			}
		done
	} &&
	for end in "exit 0" "exit 3" "kill -KILL \$\$" "kill -SEGV \$\$" "kill -KILL 0" "kill -KILL -1" "kill -KILL \$PPID"; do
		$pty expect=ready mode=raw send="\n" expect="\e[?1049l" expect=it-ended exit=0 mode=cooked -- sh -c "
		git agent start -q -- sh ./script \"\$0\"
		echo st=\$? it-ended" "$end" >../out &&
		check || {
			echo "$end"
			return 1
		}
		grep -ao "st=[0-9]*" ../out >>../statuses
	done &&
	tr "\n" " " <../statuses >../got &&
	echo "st=0 st=3 st=137 st=139 st=137 st=137 st=137 " | tr -d "\n" | test_cmp - ../got &&
	for sig in TERM HUP SEGV ABRT; do
		ASAN_OPTIONS=$ASAN_OPTIONS:handle_segv=0 $pty expect=ready mode=raw signal=$sig expect="\e[?1049l" mode=cooked -- "$GIT_AGENT" start -q -- sh ./script >../out &&
		check ||
			{
				echo $sig
				return 1
			}
	done
'

test_expect_success 'when the sandbox is killed from outside as well' '
	$pty expect=ready mode=raw sh="kill -KILL \$(pgrep -P \$PTYDRIVE_PID | head -n 1)" expect="\e[?1049l" mode=cooked -- "$GIT_AGENT" start -q --name shot -- sh ./script >../out &&
	git agent list | grep "^shot *captured"
'

test_done
