#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a session seen from elsewhere: attach, logs, and what hostile clients can do'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
own_programs

repo() {
	test_enter "$1" a
}
hold='while [ ! -e end ]; do sleep 0.05; done'
# a shell whose prompt can be waited for
start_shell() {
	git agent start -qd -n "$1" -- env PS1='in> ' bash --norc --noprofile -i &&
	test_wait_for "git agent logs $1 | grep -q in"
}
detach='\x1cd'
version=$(sed -n 's/^#define CONTROL_VERSION //p' "$TEST_SRCDIR/src/run/control-internal.h")
# what a shell that ended had is not gone before the supervisor has seen its end
no_shells() {
	test "$(running "$1" "run[\"shells\"]")" = 0
}

# looked at when the others are done
test_that 'start a session that says nothing, and one that talks' '
	repo quiet &&
	test_background still "
		echo once
		sleep 1000" &&
	test_background talks "while echo again; do sleep 1; done" &&
	test_wait_for "git agent logs still | grep -q once" &&
	test_wait_for "git agent logs talks | grep -q again" &&
	test_shows "^still .*detached" git agent list
'

test_that 'what is typed arrives, and attaching again shows the screen' '
	repo r &&
	start_shell s &&
	$pty expect="in> " mode=raw send="echo one-\$((1+1))\r" expect=one-2 send="$detach" expect="still runs" \
		exit=0 mode=cooked -- git agent attach s &&
	git agent list | grep "^s .*detached" &&
	$pty expect=one-2 send="echo again-\$((2+2))\r" expect=again-4 send="$detach" exit=0 mode=cooked -- git \
		agent attach agent/s
'

test_that 'a text that is sent is typed and entered, as a paste if the program knows of those' '
	cd r &&
	start_shell sent &&
	git agent send sent echo "two words-\$((3+3))" &&
	test_wait_for "git agent logs sent | grep -q \"^two words-6\"" &&
	git agent send agent/sent "printf %s-%s x \$((4+4))
	" &&
	test_wait_for "git agent logs sent | grep -q x-8" &&
	test_background raw "
		stty raw -echo
		printf \"\\033[?2004hready\"
		head -c 16 >got" &&
	test_wait_for "git agent logs raw | grep -q ready" &&
	git agent send raw "a
b" &&
	git agent wait raw &&
	printf "\\033[200~a\\nb\\033[201~\\r" >../want &&
	git cat-file blob agent/raw:got | cmp - ../want &&
	test_background both "
		stty raw -echo
		head -c 12 >got" &&
	{ git agent send both hello & } &&
	git agent send both hello &&
	git agent wait both &&
	printf "hello\\rhello\\r" >../want &&
	git cat-file blob agent/both:got | cmp - ../want &&
	test_fails 129 "control characters" git agent send sent "$(printf "a\\033b")" &&
	test_fails 129 "control characters" git agent send sent "$(printf "\\302\\233A")" &&
	test_fails 129 "is not UTF-8" timeout 9 git agent send sent "$(printf "a\\233%04000d" 1 | tr 0 "\\233")" &&
	test_fails 129 "is empty" git agent send sent "" &&
	test_fails 128 "does not run" git agent send raw x &&
	git agent stop sent
'

test_that 'Ctrl-\ twice, or before another key, goes to the program' '
	cd r &&
	test_background keys "
		stty raw -echo
		echo ready
		dd bs=1 count=3 2>/dev/null | od -An -tx1
		cat" &&
	$pty expect=ready send="\x1c\x1c\x1cx" expect="1c 1c 78" send="$detach" exit=0 -- git agent attach keys &&
	git agent stop -qf keys
'

test_that 'the size is that of the terminal and follows it' '
	cd r &&
	test_background size "
		trap \"echo now \\\$(stty size)\" WINCH
		echo ready
		while :; do sleep 0.05; done" &&
	$pty resize=40x100 expect="now 40 100" resize=50x132 expect="now 50 132" send="$detach" exit=0 -- git agent \
		attach size &&
	$pty resize=50x132 expect="now 49 132" expect="now 50 132" send="$detach" exit=0 -- git agent attach size &&
	git agent stop -q size
'

test_that 'attach ends with the session, and with its status' '
	cd r &&
	test_background ends "
		echo x >f
		echo ready
		read a
		echo got-\$a
		exit 6" &&
	$pty expect=ready mode=raw send="word\r" expect=got-word expect="1 commit, 1 file changed" exit=6 \
		mode=cooked -- git agent attach ends &&
	test_holds agent/ends:f x
'

test_that 'without a name attach and logs take the only session that runs' '
	repo only &&
	git agent start -q -n over -- true &&
	start_shell here &&
	test_shows "in>" git agent logs &&
	$pty expect="in> " send="$detach" expect="git agent attach here" exit=0 -- git agent attach &&
	start_shell there &&
	test_fails 129 "2 sessions: say which" git agent logs &&
	grep "^hint: here  *running" ../err &&
	git agent stop -qf here there &&
	test_expect_code 129 git agent logs 2>../err
'

test_that 'a session continues when the terminal attached to it is hung up or git-agent killed' '
	cd r &&
	$pty expect="in> " mode=raw close exit=129 -- git agent attach s &&
	$pty expect="in> " mode=raw signal=TERM exit=143 mode=cooked -- git agent attach s &&
	git agent list | grep "^s .*running .*detached" &&
	$pty expect="in> " mode=raw signal=KILL exit=137 -- git agent attach s &&
	test_wait_for "git agent list | grep \"^s .*detached\""
'

test_that 'attaching a second terminal detaches the first' '
	cd r &&
	{
		$pty expect="in> " expect="attached to another terminal" exit=0 mode=cooked -- git agent attach s \
			>../first &
	} &&
	first=$! &&
	test_wait_for "git agent list | grep \"^s .*attached\"" &&
	$pty expect="in> " send="echo mine\r" expect=mine send="$detach" exit=0 -- git agent attach s &&
	wait $first
'

test_that 'Ctrl-Z stops attach before its shell, and fg continues it' '
	cd r &&
	test_background z "
		echo ready
		read a
		echo got-\$a
		exit 4" &&
	prompt="PS1=out\"\"put\"> \" \r" &&
	$pty send="$prompt" expect="output> " send="git agent attach -q z\r" expect=ready mode=raw send="\x1a" \
		expect=Stopped expect="output> " send="fg\r" expect=ready mode=raw send="word\r" \
		expect=got-word expect="output> " send="echo status=\$?\r" expect=status=4 send="exit 0\r" exit=0 -- \
			bash --norc --noprofile -i
'

test_that 'attach is refused without a terminal, and for a session that has its own' '
	cd r &&
	test_fails 129 "git agent logs -f s" git agent attach s </dev/null &&
	{ test_session own "$hold" & } &&
	test_wait_for "git agent shell own -- true" &&
	$pty expect="is on the terminal" expect="git agent logs -f own" exit=128 -- git agent attach own &&
	git agent stop -q own &&
	wait &&
	test_fails 128 "does not run: it is captured" git agent attach own </dev/null
'

# ---- what goes to the terminal

printf 'a\033]52;c;eHh4\007b\033[21tc\033P$qm\033\\d\n' >attack
undone='\e[?1000l\e[?2004l\e[?25h\e[?1049l\e[m'

test_that 'TT-03: attach filters what goes to the terminal, and restores its modes' '
	cd r &&
	cp ../attack . &&
	git add attack &&
	git commit -qm attack &&
	test_background modes "
		printf \"\033[?1049h\033[?1000h\033[?2004h\033[?25l\033[31m\"
		cat attack
		cat" &&
	for i in 1 2; do
		$pty expect="\e[?1049h" expect="\e[?1000h" expect=abcd send="$detach" expect="$undone" \
			expect="still runs" exit=0 mode=cooked -- git agent attach modes >../out &&
		! grep eHh4 ../out ||
			return 1
	done &&
	$pty expect="a\e]52;c;eHh4\x07b" send="$detach" expect="$undone" exit=0 -- git agent attach \
		--terminal-filter=off modes
'

test_that 'attach switches on the modes that the program has set, and shows no half sequence' '
	cd r &&
	test_background late "
		printf \"\033[?1049h\033[?2004h\033=\"
		i=0
		while [ \$i -lt 20000 ]; do
			printf \"\033[38;2;1;2;3mfrom%08d\033[m\r\n\" \$i
			i=\$((i + 1))
		done
		echo ready
		cat" &&
	test_wait_for "git agent logs late | grep ready" &&
	git agent logs late >../out &&
	! grep "from00000000" ../out &&
	grep "^from00019999" ../out &&
	! sed 1d ../out | grep -v "^from[0-9]*$" | grep -v ready &&
	$pty expect="\e[?1049h" expect="\e[?2004h" expect="\e=" expect=from00019999 expect=ready send="$detach" \
		expect="\e[?2004l" expect="\e[?1049l" exit=0 -- git agent attach late >../out &&
	git agent stop -qf late modes
'

test_that 'logs prints as text what a session wrote' '
	cd r &&
	test_background text "
		printf \"one\033[31m two\033[m\r\n\033]0;title\007three\n50%%\r100%%\n\033]52;c;eHh4\007\"
		$hold" &&
	test_wait_for "git agent logs text | grep 100" &&
	printf "one two\nthree\n100%%\n" >../want &&
	git agent logs text >../out &&
	test_cmp ../want ../out &&
	{ git agent logs -f text >../follow & } &&
	follower=$! &&
	test_wait_for "grep -q 100 ../follow" &&
	{ git agent shell text -- touch end || :; } &&
	wait $follower &&
	test_cmp ../want ../follow &&
	git agent wait text &&
	test_fails 1 "git agent show --text" git agent logs text
'

test_that 'logs -f follows a session on a pipe, and may go away' '
	cd r &&
	mkfifo ../in &&
	{
		test_session piped "
		echo first
		cat
		echo last >&2" <../in >../out 2>&1 &
	} &&
	session=$! &&
	exec 9>../in &&
	test_wait_for "git agent logs piped | grep first" &&
	{ git agent logs -f piped >../follow 9>&- & } &&
	{ git agent logs -f piped 9>&- | head -1 >../head 9>&- & } &&
	test_wait_for "grep -q first ../follow" &&
	echo more >&9 &&
	test_wait_for "grep -q more ../follow" &&
	test_wait_for "grep -q first ../head" &&
	exec 9>&- &&
	wait &&
	test_prints "first\nmore\nlast" cat ../follow &&
	test_prints "first\nmore\nlast" cat ../out &&
	grep first ../head
'

test_that 'logs of a session that ends first says that it does not run' '
	cd r &&
	test_background over "
		echo first
		$hold" &&
	pid=$(running over "run[\"supervisor\"]") &&
	{ GIT_AGENT_FAULT=logs:connected:stop git-agent logs -f over >../out 2>../err & } &&
	logs=$! &&
	test_wait_for "grep -q \"^State:.T\" /proc/$logs/status" &&
	kill -9 $pid &&
	kill -CONT $logs &&
	{
		wait $logs
		test $? = 1
	} &&
	grep "session .over. does not run" ../err &&
	test ! -s ../out &&
	test_state over captured
'

test_that 'a terminal that was stopped over the end of its session gets the status of the agent' '
	cd r &&
	test_background halted "
		read a
		head -c 5000000 /dev/zero | tr \"\\\0\" x
		exit 7" &&
	$pty mode=raw within=60 send="\r" signal=STOP sh="git agent wait halted; test \$? = 7" signal=CONT exit=7 \
		-- git agent attach halted >/dev/null &&
	test_state halted captured
'

test_that UNSANITIZED 'TT-08: a terminal that does not read does not slow down the agent' '
	cd r &&
	test_background flood "
		read a
		head -c 50000000 /dev/zero | tr \"\\\0\" x
		echo
		echo THE-END
		$hold" &&
	{
		$pty mode=raw send="\r" signal=STOP sleep=1000000 -- git agent attach flood >/dev/null 2>&1 &
	} &&
	terminal=$! &&
	test_wait_for "git agent logs flood | grep THE-END" &&
	pid=$(running flood "run[\"supervisor\"]") &&
	test "$(sed -n "s/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p" /proc/$pid/status)" -lt 65536 &&
	kill $terminal &&
	git agent stop -q flood
'

# ---- others

cat >hostile.py <<'EOP'
import array, errno, os, random, resource, socket, struct, sys, time
# so that it never holds as many descriptors as other programs of the user may
resource.setrlimit(resource.RLIMIT_NOFILE, (400, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
path = sys.argv[1]
random.seed(int(sys.argv[2])); version = int(sys.argv[3])
HELLO, ATTACH, INPUT, SIZE, GO_ON, WATCH, STOP, SHELL = range(64, 72)
def dial():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    d = os.open(os.path.dirname(path), os.O_RDONLY)
    s.connect("/proc/self/fd/%d/control" % d)
    os.close(d)
    s.settimeout(50) # it has much to do, and others as well
    return s
def msg(t, value=0, flags=0, id=0, more=b""):
    return struct.pack("<IIIiQ", t, id, flags, value, 0) + more
def gone(s):
    try:
        while s.recv(65536): pass
        return True
    except ConnectionResetError: return True
    except socket.timeout: return False
def try_send(s, b, fds=()):
    while True:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try: return s.sendmsg([b], rights)
        except OSError as e:
            # an ordinary user has so many on their way, to whoever is slow to take them
            if e.errno != errno.ETOOMANYREFS: return
            time.sleep(0.01)
def hello(s, *more):
    try_send(s, msg(HELLO, version)) # with no place left it is refused
    for m in more: try_send(s, m)
    return s
# not a word of ours, too short, too long, another version, out of turn
for b in (b"x", b"", b"\xff" * 24, b"A" * 60000, msg(HELLO, version + 1), msg(HELLO, 0), msg(ATTACH), msg(STOP, 0),
          msg(SHELL), msg(1), msg(4)):
    s = dial(); try_send(s, b) if b else s.close()
    assert not b or gone(s), b[:24]
# known, and then wrong
for b in (msg(99), msg(INPUT, more=b"x" * 5000), msg(INPUT), msg(GO_ON), msg(1, more=b"x"), msg(4)):
    assert gone(hello(dial(), b)), b[:24]
for b in (msg(INPUT, more=b"x" * 5000), msg(HELLO, version), msg(STOP, 1), msg(STOP, 0)):
    assert gone(hello(dial(), msg(ATTACH, 80, 24), b)), b[:24]
# sizes nobody has
s = hello(dial(), msg(ATTACH, -1, 0xffffffff), msg(SIZE, 1 << 30, 1 << 30), msg(SIZE, 0, 0), msg(SIZE, 80, 24))
s.close()
# descriptors where none belong, more than there is room for, and of kinds that may not cross
null = os.open("/etc/passwd", os.O_RDONLY); d = os.open("/", os.O_RDONLY); r, w = os.pipe()
for first in ((), (msg(SHELL),), (msg(ATTACH, 80, 24),)):
    for fds in ((null,), (null,) * 3, (null,) * 200, (r, null, null, null), (r, d), (r, null), (r, r, r, r, r),
                (d,) * 4, (r, r, null, r)):
        for t, f in ((1, 0), (1, 1), (HELLO, 0), (5, 0), (2, 0)):
            c = hello(dial(), *first); try_send(c, msg(t, 1, f, 1), fds); c.close()
c = hello(dial(), msg(SHELL)); try_send(c, msg(1, 0, 0, 1), (r, null, null, null)); assert gone(c)
c = hello(dial(), msg(SHELL)); try_send(c, msg(1, 0, 1, 1), (r, d)); assert gone(c)
# what init may be told by the supervisor alone
for t in (4, 6, 7, 10, 11, 12, 13, 1000): assert gone(hello(dial(), msg(SHELL), msg(t))), t
# signals to commands of others, which are not theirs
c = hello(dial(), msg(SHELL), *[msg(2, 9, 0, i) for i in range(64)]); c.close()
# all places taken by those who say nothing, and who ask for terminals and leave
idle = [dial() for i in range(100)]
for i in range(50): c = hello(dial(), msg(SHELL), msg(5)); c.close()
for s in idle: s.close()
# a client that takes nothing, and one that never stops
slow = [hello(dial(), msg(WATCH, 1)) for i in range(8)]
c = hello(dial(), msg(ATTACH, 80, 24)); c.settimeout(0.2)
for i in range(3000):
    try: c.send(msg(INPUT, more=b"\0" * 4096))
    except OSError: break
c.close()
# noise
for i in range(300):
    c = dial()
    if random.random() < .7: hello(c)
    for k in range(random.randrange(6)):
        t = random.choice([1, 2, 3, 5, HELLO, INPUT, SIZE, GO_ON, WATCH, SHELL, ATTACH, random.getrandbits(32)])
        if t == STOP: continue
        head = struct.pack("<I", t) + random.randbytes(20)
        more = random.randbytes(random.choice([0, 0, 1, 100, 4096, 16384, 20000]))
        try_send(c, head + more, (null,) if random.random() < .2 else ())
    c.close()
print("done")
EOP

test_that 'a session that another version runs is named with its program' '
	repo other &&
	git agent start -qd -n o -- sleep 1000 &&
	cat >../older.py <<-EOP &&
	import os, socket, struct, sys
	os.chdir(sys.argv[1])
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
	s.bind("control")
	s.listen()
	print("ready", flush=True)
	while True:
	    c = s.accept()[0]
	    try: c.send(struct.pack("<IIIiQ", 96, 0, 0, 99, 0)); c.recv(99); c.recv(99)
	    except OSError: pass
	EOP
	dir=$(dirname "$(find "$HOME" -path "*/sessions/o/control")") &&
	mv "$dir/control" "$dir/real" &&
	{ python3 ../older.py "$dir" >../ready & } &&
	older=$! &&
	test_wait_for "test -s ../ready" &&
	test_fails 128 "another version of git-agent runs the session: ./.*python3" git agent send o hi &&
	grep "^hint: .kill $older. ends it" ../err &&
	kill $older &&
	mv "$dir/real" "$dir/control" &&
	git agent stop -q o
'

test_that 'hostile clients change nothing in a session, and pass nothing into the sandbox' '
	repo hostile &&
	test_random 1 &&
	echo "SEED=$first" &&
	test_background h "
		trap \"\" INT QUIT
		stty -isig
		echo alive >f
		while [ ! -e end ]; do sleep 0.05; done
		exit 5" &&
	test_wait_for "git agent shell h -- test -e f" &&
	pid=$(running h "run[\"supervisor\"]") &&
	test_wait_for "no_shells h" &&
	before=$(ls -l /proc/$pid/fd | grep -cv cast) &&
	timeout 300 python3 ../hostile.py "$(dir_of h)/control" $first $version >../out &&
	grep done ../out &&
	test_wait_for "test \$(ls -l /proc/$pid/fd | grep -cv cast) -le $before" &&
	test_wait_for "no_shells h" &&
	$pty mode=raw send="$detach" exit=0 -- git agent attach h &&
	! git agent shell h -- sh -c "ls -l /proc/[0-9]*/fd 2>/dev/null | grep passwd" &&
	{ git agent shell h -- touch end || :; } &&
	test_expect_code 5 git agent wait h
'

test_lazy_prereq OTHER_USER '[ "$(id -u)" = 0 ] && setpriv --reuid=65534 --clear-groups true'
test_that OTHER_USER 'another user is refused, even if he gets to the socket' '
	cd hostile &&
	test_background u "$hold" &&
	{ chmod -R o+x "$TRASH" || :; } &&
	d=$(dir_of u) &&
	chmod 0755 "$d" &&
	chmod 0666 "$d/control" &&
	cat >../other.py <<-\EOF &&
	import os, socket, struct, sys
	d = os.open(sys.argv[1], os.O_RDONLY)
	s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); s.connect("/proc/self/fd/%d/control" % d)
	os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
	t = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); t.connect("/proc/self/fd/%d/control" % d)
	def ask(c):
	    c.settimeout(5)
	    try:
	        c.send(struct.pack("<IIIiQ", 64, 0, 0, int(sys.argv[2]), 0))
	        return len(c.recv(100)) > 0
	    except (ConnectionResetError, BrokenPipeError): return False
	print(ask(s), ask(t))
	EOF
	python3 ../other.py "$d" $version >../out &&
	git agent stop -qf u &&
	test_prints "True False" cat ../out
'

test_that 'list and show say since when a session has been silent' '
	cd quiet &&
	n=0 &&
	until git agent list | command grep "^still  *silent [1-9][0-9]*[ms] "; do
		n=$((n + 1)) &&
		[ $n -lt 80 ] &&
		sleep 1 || return 1
	done &&
	test "$(running still "run[\"idle\"] >= 60")" = True &&
	git agent show still | grep -E "^silent for +([1-9][0-9]*m|[6-9][0-9]s|[1-9][0-9][0-9]s)\$" &&
	git agent shell still -- true &&
	test_shows "^talks .*detached" git agent list &&
	test "$(running talks "run[\"idle\"] < 30")" = True &&
	git agent stop -q still talks
'

end_ours
test_done
