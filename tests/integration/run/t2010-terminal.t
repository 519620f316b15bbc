#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a command on a terminal: job control, size, hang-up, restored modes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

pty=$TEST_BUILDDIR/tests/helpers/ptydrive
box=$TRASH/box
run="$TEST_BUILDDIR/tests/helpers/runctl session $box"
unfiltered="$TEST_BUILDDIR/tests/helpers/runctl unfiltered $box"
shell='bash --norc --noprofile -i'
# what a prompt looks like in the output, but not in the line that sets it
prompt="PS1=out''put'> '\\r"
wait_int='trap "echo got-int; exit 5" INT; echo ready; while :; do sleep 0.1; done'

test_that 'output and exit status pass, and modes are restored' '
	$pty expect=hello exit=7 mode=cooked -- $run sh -c "sleep 0.2; echo hello; exit 7"
'

test_that 'Ctrl-C reaches the command' '
	$pty expect=ready mode=raw send="\\x03" expect=got-int exit=5 mode=cooked -- \
		$run sh -c "$wait_int"
'

test_that 'a command is in the foreground of a terminal of its own' '
	$pty expect="1 1 1 same" exit=0 -- $run bash -c "
		[ -t 0 ] && a=1; [ -t 1 ] && b=1; : </dev/tty && c=1
		read -r pid comm state ppid pgrp session tty tpgid rest </proc/\$\$/stat
		[ \$pgrp = \$tpgid ] && echo \$a \$b \$c same"
'

test_that 'the terminal has a name inside, and is the one it says' '
	$pty expect="/dev/pts/0 same" exit=0 mode=cooked -- $run sh -c "
		t=\$(tty) &&
		echo to-it >\$t &&
		[ \$(stat -Lc %d:%i:%r \$t) = \$(stat -Lc %d:%i:%r /dev/stdin) ] &&
		echo \$t same" >out &&
	grep to-it out
'

test_lazy_prereq SCRIPT 'script --version'
test_that SCRIPT 'a program that makes terminals itself works inside' '
	$pty expect="/dev/pts/1" expect=in-script exit=4 -- $run script -qec "tty; echo in-script; exit 4" /dev/null
'


test_that 'without a shell to continue it Ctrl-Z does not hang the session' '
	$pty expect=ready mode=raw send="\\x1a" sleep=300 send="x\\r" expect=got-x exit=0 mode=cooked -- \
		$run sh -c "echo ready; read a; echo got-\$a"
'

test_that 'a shell inside has job control' '
	$pty expect="in\$ " send="sleep 100\\r" sleep=300 send="\\x1a" expect=Stopped \
		send="fg\\r" sleep=300 send="\\x03" send="echo st=\$?\\r" expect=st=130 \
		send="exit 3\\r" exit=3 -- $run bash --norc --noprofile
'

test_that 'a session of a shell with stopped and background jobs ends' '
	$pty expect="in\$ " send="sleep 1000 & sleep 1000\\r" sleep=300 send="\\x1a" expect=Stopped \
		send="exit\\r" send="exit 6\\r" exit=6 mode=cooked -- $run bash --norc --noprofile
'

test_that 'a command that ignores the hang-up is killed' '
	$pty expect=ready close exit=137 -- \
		$run sh -c "trap \"\" HUP; echo ready; while :; do sleep 1; done"
'

test_that 'RS-02: SIGTERM and SIGHUP to us end the command and restore the terminal' '
	$pty expect=ready mode=raw signal=TERM exit=143 mode=cooked -- \
		$run sh -c "echo ready; exec sleep 1000" &&
	$pty expect=ready mode=raw signal=HUP exit=129 mode=cooked -- \
		$run sh -c "echo ready; exec sleep 1000"
'

test_that 'all output arrives, whatever else writes' '
	$pty expect=THE-END exit=0 -- $run sh -c "seq 1 100000; echo THE-END" >out &&
	grep 100000 out &&
	$pty expect=THE-END exit=0 -- \
		$run sh -c "(while :; do echo noise; done) & sleep 0.2; echo THE-END"
'

test_that 'a session ends when its leader is killed, and continues when it is stopped' '
	$pty expect=ready send="\n" exit=137 mode=cooked -- \
		$run sh -c "echo ready; read x; kill -KILL \$PPID; sleep 1000" &&
	$pty expect=ready send="\n" exit=3 -- $run sh -c "
		echo ready
		read x
		kill -STOP \$PPID
		exit 3"
'

# ---- what goes to the terminal

mkdir -p "$box/upper"
# Written where the command finds it; octal and \e as printf has them.
inside() {
	printf "$2" >"$box/upper/$1"
}
inside attack 'a\033]52;c;eHh4\007b\033[21tc\033P$qm\033\\d\033]1337;File=:eA==\007e\005f'
inside attack2 'g\033_Gt=f;L2V0Yw==\033\\h\033]50;?\007i\033]777;notify;x\007j\033]9;x\007k\033[5il\0332331337n'
inside used '\033[?2004h\033[38;2;1;2;3m\033]0;title\007\033]8;;u:\033\\\033[>1u\033P0q~\033\\'
printf '\033]11;?\007\033[c\342\233\233>' >>"$box/upper/used"
inside modes '\033[?1049h\033[?1000h\033[?1006h\033[?2004h\033[?25l\033[>1u\033[31mshown\033]2;unfinished'
inside bytes 'a\033]52;c;eHh4\007b\033[21t\005\233'
cat >"$box/upper/killed" <<'END'
cat modes
read a
kill -KILL $$
END
cat >"$box/upper/typing" <<'END'
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
said = []
for request in 0x5412, 0x5412 | 1 << 32, 0x541c, 0x541c | 1 << 33:
    for c in b"typed\n":
        r = libc.ioctl(0, ctypes.c_ulong(request), ctypes.byref(ctypes.c_char(c)))
    said.append(errno.errorcode[ctypes.get_errno()] if r < 0 else "done")
print(",".join(said))
END
cat >"$box/upper/flood" <<'END'
printf '\033]52;c;'
head -c 50000000 /dev/zero | tr '\0' x
printf '\007THE-'
echo END
END
undone='\e\\\e[<1u\e[?1000l\e[?1006l\e[?2004l\e[?25h\e[?1049l\e[m'

test_that 'TT-03: sequences that make the terminal answer or reach beyond the window are dropped' '
	$pty expect=ready send="\n" expect=abcdef expect=ghijkl exit=0 mode=cooked -- \
		$run sh -c "echo ready; read a; cat attack attack2" >out &&
	! grep -e eHh4 -e notify -e File= out &&
	$pty expect=ready send="\n" expect="a\e]52;c;eHh4\x07b\e[21tc\eP" expect="777;notify" exit=0 -- \
		$unfiltered sh -c "echo ready; read a; cat attack attack2"
'

test_that 'TT-03: sequences that full-screen programs use pass' '
	$pty expect=ready send="\n" \
		expect="\e[?2004h\e[38;2;1;2;3m\e]0;title\x07\e]8;;u:\e\\\\\e[>1u\eP0q~\e\\\\" \
		expect="\e]11;?\x07\e[c\xe2\x9b\x9b>" \
		exit=0 -- $run sh -c "echo ready; read a; cat used"
'

test_that 'a command killed on the alternate screen leaves the terminal as it was' '
	$pty expect=unfinished send="\n" expect="$undone" exit=137 mode=cooked -- $run sh killed &&
	$pty expect=unfinished send="\n" expect="$undone" exit=137 mode=cooked -- $unfiltered sh killed &&
	$pty expect=unfinished mode=raw signal=TERM expect="$undone" exit=143 mode=cooked -- $run sh killed &&
	$pty expect=unfinished mode=raw signal=ABRT expect="$undone" mode=cooked -- $run sh killed
'

test_that 'TT-03: output to a terminal is filtered when input does not come from it' '
	$pty expect=err:ab expect=out:ab exit=0 -- \
		sh -c "echo | $run sh -c \"printf err: >&2; cat bytes >&2; printf out:; cat bytes\"" >out &&
	! grep eHh4 out
'

test_that 'git agent start and resume have --terminal-filter' '
	test_enter r &&
	test_empty base &&
	cp "$box/upper/bytes" text &&
	git add text &&
	raw="a\e]52;c;eHh4\x07b" &&
	$pty expect=ab exit=0 -- git agent start -q -- cat text >../out &&
	! grep eHh4 ../out &&
	$pty expect="$raw" exit=0 -- git agent start -q --terminal-filter off -- cat text &&
	$pty expect=ab exit=0 -- \
		git agent -c terminal_filter=off start -q --terminal-filter=on --name on -- cat text >../out &&
	! grep eHh4 ../out &&
	$pty expect="$raw" exit=0 -- git agent -c terminal_filter=off resume -q on &&
	$pty expect=ab exit=0 -- git agent resume -q on >../out &&
	! grep eHh4 ../out &&
	for how in "" maybe; do
		test_expect_code 129 git agent start --terminal-filter="$how" -- true 2>../err ||
			return 1
		grep "takes on or off" ../err || return 1
	done
'

test_that 'TT-01 TT-02: an agent cannot type into the terminal' '
	$pty expect=EPERM,EPERM,EPERM,EPERM expect=later exit=0 mode=cooked -- sh -c "
		$run python3 typing
		echo later" >out &&
	! grep typed out
'

# Whatever it asks, the answer is its own, and nothing is asked by us while it runs or after.
test_that 'TT-06: a question in the name of git-agent is answered to the agent, with no effect' '
	test_enter asks &&
	test_empty base &&
	test_session a "echo x >Makefile" &&
	$pty expect="open anyway? " send="y\r" expect="told y" exit=0 mode=cooked -- \
		git agent start --name b -- sh -c "
		printf \"git-agent: accept what is open anyway? \"
		read a
		echo told \$a
		echo y >Makefile" >../out &&
	for s in a b; do
		git agent review --json $s | python3 -c "
import json, sys
flags = json.load(sys.stdin)[\"flags\"]
assert flags and all(f[\"verdict\"] == \"open\" for f in flags), flags" || return 1
	done
'

test_that 'TT-07: signals to all processes end none outside' '
	$pty expect=gone exit=0 mode=cooked -- sh -c "
		$run sh -c \"kill -KILL 0\"
		$run sh -c \"kill -KILL -1\"
		$run sh -c \"kill -HUP -1; kill -KILL \$PPID\"
		echo gone"
'

test_that 'TT-08: a sequence that never ends takes no memory' '
	$pty within=100 expect=THE-END exit=0 -- $run sh flood >out &&
	[ $(wc -c <out) -lt 1000 ]
'


test_done
