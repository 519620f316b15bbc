# SPDX-License-Identifier: MIT
test_description='a command on a terminal: job control, size, hang-up, restored modes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

pty=$TEST_BUILDDIR/tests/helpers/ptydrive
box=$TRASH/box
run="$TEST_BUILDDIR/tests/helpers/runctl session $box"
shell='bash --norc --noprofile -i'
# what a prompt looks like in the output, but not in the line that sets it
prompt="PS1=out''put'> '\\r"
wait_int='trap "echo got-int; exit 5" INT; echo ready; while :; do sleep 0.1; done'

test_expect_success 'output, exit status, modes restored' '
	$pty expect=hello exit=7 mode=cooked -- $run sh -c "sleep 0.2; echo hello; exit 7"
'

test_expect_success 'Ctrl-C reaches the command' '
	$pty expect=ready mode=raw send="\\x03" expect=got-int exit=5 mode=cooked -- \
		$run sh -c "$wait_int"
'

test_expect_success 'it is the foreground of a terminal of its own' '
	$pty expect="1 1 1 same" exit=0 -- $run bash -c "
		[ -t 0 ] && a=1; [ -t 1 ] && b=1; : </dev/tty && c=1
		read -r pid comm state ppid pgrp session tty tpgid rest </proc/\$\$/stat
		[ \$pgrp = \$tpgid ] && echo \$a \$b \$c same"
'

test_expect_success 'the terminal has a name inside, and is the one it says' '
	$pty expect="/dev/pts/0 same" exit=0 mode=cooked -- $run sh -c "
		t=\$(tty) && echo to-it >\$t && [ \$(stat -Lc %d:%i:%r \$t) = \$(stat -Lc %d:%i:%r /dev/stdin) ] &&
		echo \$t same" >out && grep to-it out
'

test_lazy_prereq SCRIPT 'script --version'
test_expect_success SCRIPT 'a program that makes terminals itself works inside' '
	$pty expect="/dev/pts/1" expect=in-script exit=4 -- $run script -qec "tty; echo in-script; exit 4" /dev/null
'

test_lazy_prereq TMUX 'tmux -V'
test_expect_success TMUX 'tmux' '
	$pty resize=24x80 expect=in-tmux send="\x04" exit=0 mode=cooked -- \
		$run tmux -f /dev/null new-session "echo in-tmux; cat"
'

test_expect_success 'the size of the window, at start and when it changes' '
	$pty expect=ready resize=50x132 expect="now 50 132" exit=0 -- $run bash -c "
		stty size | grep \"24 80\" || exit 9
		trap \"echo now \\\$(stty size); exit 0\" WINCH
		echo ready; while :; do sleep 0.1; done"
'

test_expect_success 'full screen' '
	$pty expect="\\e[?1049h" expect="\\e[?1049l" exit=0 -- \
		$run sh -c "tput smcup; tput cup 3 4; echo text; tput rmcup"
'

test_expect_success 'Ctrl-Z stops the job under a shell and fg continues it' '
	$pty send="$prompt" expect="output> " \
		send="$run sh -c \"echo st\\\\\"\\\\\"art; read a; echo got-\\\\\\\$a; exit 4\"\\r" \
		expect=start mode=raw send="\\x1a" expect=Stopped expect="output> " \
		send="echo in-bet\"\"ween\\r" expect=in-between expect="output> " \
		send="fg\\r" sleep=300 send="word\\r" expect=got-word expect="output> " \
		send="echo status=\$?\\r" expect=status=4 send="exit 0\\r" exit=0 -- $shell
'

test_expect_success 'the whole job stops, not only ourselves' '
	$pty send="$prompt" expect="output> " send="sh -c \"$run cat; echo af\"ter\\r" \
		sleep=500 send="abc\\r" expect=abc send="\\x1a" expect=Stopped expect="output> " \
		send="fg\\r" sleep=300 send="word\\r" expect=word send="\\x04" expect=after \
		expect="output> " send="exit 0\\r" exit=0 -- $shell
'

test_expect_success 'without a shell to continue it Ctrl-Z does not hang the session' '
	$pty expect=ready mode=raw send="\\x1a" sleep=300 send="x\\r" expect=got-x exit=0 mode=cooked -- \
		$run sh -c "echo ready; read a; echo got-\$a"
'

test_expect_success 'jobs of a shell inside' '
	$pty expect="in\$ " send="sleep 100\\r" sleep=300 send="\\x1a" expect=Stopped \
		send="fg\\r" sleep=300 send="\\x03" send="echo st=\$?\\r" expect=st=130 \
		send="exit 3\\r" exit=3 -- $run bash --norc --noprofile
'

test_expect_success 'a session of a shell with stopped and background jobs ends' '
	$pty expect="in\$ " send="sleep 1000 & sleep 1000\\r" sleep=300 send="\\x1a" expect=Stopped \
		send="exit\\r" send="exit 6\\r" exit=6 mode=cooked -- $run bash --norc --noprofile
'

test_expect_success 'closing the terminal ends the command' '
	$pty expect=ready close exit=129 -- $run sh -c "echo ready; sleep 1000"
'

test_expect_success 'a command that ignores the hang-up is killed' '
	$pty expect=ready close exit=137 -- \
		$run sh -c "trap \"\" HUP; echo ready; while :; do sleep 1; done"
'

test_expect_success 'SIGTERM and SIGHUP to us end the command and restore the terminal' '
	$pty expect=ready mode=raw signal=TERM exit=143 mode=cooked -- \
		$run sh -c "echo ready; exec sleep 1000" &&
	$pty expect=ready mode=raw signal=HUP exit=129 mode=cooked -- \
		$run sh -c "echo ready; exec sleep 1000"
'

test_expect_success 'a signal that ends us restores the terminal' '
	for sig in SEGV ABRT USR1; do
		$pty expect=ready mode=raw signal=$sig mode=cooked -- \
			$run sh -c "echo ready; exec sleep 1000" || return 1
	done
'

test_expect_success 'all output arrives, whatever else writes' '
	$pty expect=THE-END exit=0 -- $run sh -c "seq 1 100000; echo THE-END" >out &&
	grep 100000 out &&
	$pty expect=THE-END exit=0 -- \
		$run sh -c "(while :; do echo noise; done) & sleep 0.2; echo THE-END"
'

test_expect_success 'a command that cannot be executed leaves the terminal alone' '
	$pty expect="cannot run .no-such" exit=125 mode=cooked -- $run no-such || :
	$pty expect="cannot run" expect=no-such exit=125 mode=cooked -- $run no-such
'

test_expect_success 'a killed leader or one that is stopped ends or changes nothing' '
	$pty expect=ready send="\n" exit=137 mode=cooked -- \
		$run sh -c "echo ready; read x; kill -KILL \$PPID; sleep 1000" &&
	$pty expect=ready send="\n" exit=3 -- $run sh -c "echo ready; read x; kill -STOP \$PPID; exit 3"
'

test_done
