#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='limits of what a session may use'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

repo() {
	test_enter "$1" &&
	test_empty base
}

# ended NAME TEXT: the session says so, in all places
ended() {
	git agent show "$1" | grep "note: session incomplete: it was ended .*$2" &&
	git agent show --json "$1" | grep "\"incomplete\": \"it was ended .*$2" &&
	grep "\"event\":\"limit\".*it was ended .*$2" "$HOME"/.local/state/git-agent/*/sessions/"$1"/journal.jsonl
}

test_that 'RS-04: a session that runs too long gets SIGHUP, then SIGKILL, and its work is captured' '
	repo time &&
	test_fails 3 "agent/t: limits: time 1s watch" git agent -c limits.time=1s start --name t -- sh -c "
		echo x >x
		trap \"echo bye >bye; exit 3\" HUP
		while :; do sleep 0.1; done" &&
	git show agent/t:x &&
	git show agent/t:bye &&
	ended t "after 1s (limits.time)" &&
	git agent show --json t | python3 -c "
import json, sys
assert {\"limit\": \"time\", \"value\": \"1s\", \"by\": \"watch\"} in json.load(sys.stdin)[\"limits\"]"
'

test_that 'a resumed session has the limits of the settings at that time' '
	cd time &&
	test_fails 129 "limits: time 2s watch" git agent -c limits.time=2s resume t sleep 100 &&
	ended t "after 2s (limits.time)" &&
	git agent resume -q t true &&
	git agent show --json t >../json &&
	! grep "\"time\"" ../json &&
	grep "\"incomplete\": null" ../json
'

test_that 'RS-04: a session that prints more than limits.output is ended' '
	repo output &&
	test_expect_code 129 git agent -c limits.output=1MiB start -q --name o -- yes >../out &&
	ended o "more than 1MiB (limits.output)" &&
	git agent -c limits.output=1MiB start -q --name fits -- head -c 1000000 /dev/zero >../out &&
	test "$(wc -c <../out)" = 1000000 &&
	test -z "$(git agent show fits | grep incomplete)"
'

test_that 'RS-04: a session that writes more than limits.upper is ended, wherever it writes' '
	repo upper &&
	mkdir shared &&
	echo shared/ >.gitignore &&
	git add .gitignore &&
	git commit -qm shared &&
	touch shared/x &&
	for where in d/e/big closed/big shared/big; do
		test_expect_code 129 git agent -c limits.upper=3MiB start -q --name u-${where%%/*} -- sh -c "
			mkdir -p d/e closed
			head -c 1000000 /dev/urandom >small
			head -c 4000000 /dev/urandom >$where
			chmod 000 closed
			sleep 100" &&
		ended u-${where%%/*} "took more than 3MiB (limits.upper)" || exit 1
	done
'

# It is measured each second.
test_that 'hard links and unreadable directories count for limits.upper what they take' '
	repo fits &&
	git agent -c limits.upper=3MiB start -q --name fits -- sh -c "
		head -c 2000000 /dev/urandom >a
		for i in 1 2 3 4; do ln a b\$i; done
		mkdir z
		chmod 0 z
		sleep 2.5" &&
	test -z "$(git agent show fits | grep incomplete)"
'

# stop_measuring PID: stop the process that measures for a supervisor, and print which that is. It is
# one that has got all descriptors it may have: who was just made is no more than its parent.
stop_measuring() {
	python3 - "$1" <<-\END
	import os, signal, sys
	def text(p, name):
	    return open("/proc/%s/%s" % (p, name)).read()
	def stopped(p):
	    os.kill(int(p), signal.SIGSTOP)
	    while text(p, "stat").rsplit(")")[1].split()[0] not in "TZ": pass
	    files = [l.split()[3:5] for l in text(p, "limits").split("\n") if l.startswith("Max open files")][0]
	    if files[0] == files[1] and "State:\tT" in text(p, "status"): return True
	    os.kill(int(p), signal.SIGCONT)
	while True:
	    for p in text(sys.argv[1], "task/%s/children" % sys.argv[1]).split():
	        try:
	            if text(p, "comm") == "git-agent-main\n" and stopped(p):
	                print(p)
	                sys.exit()
	        except OSError: pass
	END
}
test_that 'RS-01: the process that measures the layers ends with the supervisor, and so does the sandbox' '
	repo measured &&
	ulimit -S -n 500 &&
	{
		git-agent -c limits.upper=1GiB start -q --name m -- sh -c "
		mkdir d
		cd d
		seq 30000 | xargs touch
		touch ../ready
		exec sleep 1000" &
	} &&
	sup=$! &&
	test_wait_for "git agent shell m -- test -e ready" &&
	stop_measuring $sup >../pid &&
	kill -9 "$sup" &&
	test_wait_for "! kill -0 $(cat ../pid)" &&
	test_wait_for "git agent list | grep captured"
'

test_that 'RS-04: a session with directories too deep to be measured is ended' '
	repo deep &&
	test_expect_code 129 git agent -c limits.upper=3MiB start -q --name d -- python3 -c "
import os, time
for i in range(500): os.mkdir(\"d\"); os.chdir(\"d\")
time.sleep(100)" &&
	ended d "more than 400 directories deep (limits.upper)"
'

hog='x = bytearray(50 << 20); print("small", flush=True); y = bytearray(300 << 20); print("large")'
test_that 'RS-04: a process gets no more memory than limits.memory' '
	repo memory &&
	{
		git agent -c limits.memory=200MiB start --name m -- python3 -c "$hog" >../out 2>../err
		:
	} &&
	echo small >../want &&
	test_cmp ../want ../out &&
	grep "limits: memory 200MiB" ../err &&
	git agent show m | grep "memory 200MiB" &&
	git agent start -q -- python3 -c "$hog" >../out &&
	test "$(tail -n 1 ../out)" = large
'

# The most that any process of it had, those of git inside too that ended by themselves.
cat >most.py <<-'EOF'
import resource, subprocess, sys
rc = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
sys.exit(rc)
EOF
test_that 'git that reads a device as alternates of the agent gets no more than limits.memory' '
	repo device &&
	python3 ../most.py "$GIT_AGENT" -c limits.memory=200MiB -c limits.capture.git_time=20s \
		start -q --name z -- sh -c "
		echo 1 >one
		git add one
		git commit -qm one
		rm .git/objects/info/alternates
		ln -s /dev/zero .git/objects/info/alternates" >../most 2>../err &&
	test "$(tail -n 1 ../most)" -lt 400 &&
	test_holds agent/z:one 1 &&
	git agent show z >../show &&
	grep "its work is one commit" ../show &&
	! grep git_time ../show
'

# Root is counted nowhere. Should ours not hold, that of the test does.
test_that NOT_ROOT 'RS-04: a fork bomb gets no more than limits.tasks, without the processes outside' '
	repo tasks &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 1000 &
		pids="$pids $!"
	done &&
	prlimit --nproc=3000 git agent -c limits.tasks=16 -c limits.time=30 start -q --name f -- sh -c "
		for i in 1 2 3 4 5 6 7 8 9 10; do sleep 100 & done
		echo \$(ls -d /proc/[0-9]* | wc -l)" >../out 2>../err &&
	kill $pids &&
	test "$(cat ../out)" -ge 12 &&
	prlimit --nproc=3000 git agent -c limits.tasks=40 -c limits.time=20 start -q --name bomb -- python3 -c "
import os, time
n, end = 0, time.time() + 1
while time.time() < end:
    try:
        if os.fork() == 0: continue
        n += 1
    except BlockingIOError:
        pids = [p for p in os.listdir(\"/proc\") if p.isdigit()]
        open(\"most-%d\" % len(pids), \"w\").close()
        time.sleep(0.05)
time.sleep(0.5)" &&
	git ls-tree --name-only agent/bomb | sort -t- -k2n | tail -n 1 >../most &&
	cat ../most &&
	m=$(sed "s/.*-//" ../most) &&
	test "$m" -ge 30 &&
	test "$m" -le 40
'

test_that NOT_ROOT 'tasks are limited by default, and limits.tasks=0 ends that' '
	repo default &&
	git agent start --name d -- sh -c "ulimit -a | grep process || prlimit --nproc" >../out 2>../err &&
	grep 8192 ../out &&
	! grep limits ../err &&
	git agent show --json d | grep "\"value\": \"8192\"" &&
	git agent -c limits.tasks=0 start -q --name n -- true &&
	! git agent show --json n | grep "\"8192\""
'

# Descriptors that were sent to a socket and that nobody takes: the kernel refuses more to a sender whose
# own limit is below what all programs of the user have sent so. Too few for whoever has the usual limit.
cat >hold.py <<-'EOF'
import array, os, socket, sys, time
null, pairs, left = os.open("/dev/null", os.O_RDONLY), [], 400
while left:
    pairs.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM))
    pairs[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [null] * 100))])
    left -= 100
open(sys.argv[1], "w").close()
while os.path.exists(sys.argv[1]): time.sleep(0.05)
EOF
held() {
	python3 ../hold.py ../held &
	holder=$!
	test_when_finished "rm -f $(dirname "$PWD")/held; wait $holder" &&
	test_wait_for "test -e ../held"
}
test_that NOT_ROOT 'RS-04: a session works while a process outside holds many descriptors on sockets' '
	repo sockets &&
	held &&
	ulimit -S -n 300 &&
	git agent -c network.mode=allow -c network.allow=127.0.0.1:9 start -q --name s -- sh -c "ulimit -n >n" &&
	git show agent/s:n | grep -x 300 &&
	test_resume s "echo 2 >two" &&
	test_background on "while [ ! -e end ]; do sleep 0.05; done" &&
	"$TEST_BUILDDIR/tests/helpers/ptydrive" expect=inside exit=7 -- \
		git agent shell on -- sh -c "test -t 0 && echo inside; exit 7" &&
	{ git agent shell on -- touch end || :; } &&
	git agent wait on
'
low() {
	(ulimit -n 300 && "$@")
}
test_that NOT_ROOT 'RS-04: with a low hard limit of descriptors too, the reason is named' '
	cd sockets &&
	low git agent start -qd --name low -- sh -c "while [ ! -e end ]; do sleep 0.05; done" &&
	held &&
	{
		low git agent start -q --name no -- true 2>../err
		test $? = 125
	} &&
	grep "hand over a command: your processes have more descriptors .* than .ulimit -H -n. allows" ../err &&
	grep "^hint: end the program that sends descriptors" ../err &&
	{
		git agent shell low -- true 2>../err
		test $? = 125
	} &&
	grep "cannot start .true. in the sandbox: Too many references" ../err &&
	"$TEST_BUILDDIR/tests/helpers/ptydrive" \
		expect="cannot open a terminal in the sandbox: Too many references" exit=125 -- \
		git agent shell low -- true &&
	rm ../held &&
	{ git agent shell low -- touch end || :; } &&
	git agent wait low
'

# FILE [END]: hold as many inotify instances as there are to be had, say how many, and wait for END
grab='
import ctypes, os, sys, time
n, libc = 0, ctypes.CDLL(None)
while libc.inotify_init1(0) >= 0:
    n += 1
open(sys.argv[1] + "~", "w").write(str(n) + "\n")
os.rename(sys.argv[1] + "~", sys.argv[1])
while len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    time.sleep(0.05)'
test_lazy_prereq COUNTED 'python3 -c 0 && unshare -Ur sh -c "echo 9 >/proc/sys/user/max_inotify_instances"'
test_that COUNTED 'RS-04: all sessions together hold half of the inotify instances, wherever they begin' '
	repo watches &&
	test_when_finished "touch \"$HOME/aihome/go\"; wait" &&
	{ git agent start -q -- python3 -c "$grab" "$HOME/one" "$HOME/go" & } &&
	test_wait_for "test -e $HOME/aihome/one" &&
	git clone -q . ../other &&
	for n in two three; do
		{ git -C ../other agent start -q -- python3 -c "$grab" "$HOME/$n" "$HOME/go" & }
		test_wait_for "test -e $HOME/aihome/$n" || exit 1
	done &&
	all=$(($(cat "$HOME"/aihome/one "$HOME"/aihome/two "$HOME"/aihome/three | paste -sd+))) &&
	half=$(($(cat /proc/sys/user/max_inotify_instances) / 2)) &&
	test 0 -lt "$all" &&
	test "$all" -le "$half" &&
	python3 -c "$grab" "$HOME/own" &&
	test 0 -lt "$(cat "$HOME/own")"
'

test_that 'limits.files limits the open files of each process, and nobody inside raises it' '
	repo files &&
	git agent -c limits.files=200 start -q --name f -- sh -c "
		ulimit -H -n && ! ulimit -n 201" >../out 2>/dev/null &&
	test_prints 200 cat ../out &&
	git agent show f | grep "files 200 rlimit"
'

# the user's own manager, which is asked for by a variable that no test has; root asks the system's
manager=/run/user/$(id -u)
[ ! -e "$manager/systemd/private" ] || export XDG_RUNTIME_DIR="$manager"
test_lazy_prereq CGROUP 'git agent doctor | grep "^ok   limits .*cpu by"'
test_that 'where programs look for a control group they read the limits of the session' '
	repo told &&
	git agent -c limits.memory=1g start -q --name t -- sh -c "
		cd /sys/fs/cgroup && cat memory.max cpu.max && ls -A && ! touch x" >../out 2>/dev/null &&
	printf "%s\n" 1073741824 "max 100000" cpu.max memory.max pids.max | test_cmp - ../out &&
	git agent resume -q t cat /sys/fs/cgroup/memory.max >../out &&
	test_prints max cat ../out
'

test_that NOT_ROOT 'the limit of tasks is told as well' '
	cd told &&
	test_prints 99 git agent -c limits.tasks=99 start -q -- cat /sys/fs/cgroup/pids.max
'

test_that 'a limit that this machine cannot keep is refused' '
	repo cannot &&
	if git agent doctor | grep "^ok   limits .*no cpu"; then
		test_fails 125 "processor time (limits.cpu) cannot be limited here" \
			git agent -c limits.cpu=50 start --name c -- true &&
		grep "^hint: .*loginctl" ../err &&
		test_expect_code 125 git agent -c limits.cpu=50 start --dry-run -- true &&
		git agent list >../out &&
		test_cmp /dev/null ../out
	else
		git agent -c limits.cpu=50 start --name c -- true
	fi
'
test_that CGROUP 'RS-04: a control group ends what exceeds limits.memory altogether, and that is said' '
	repo together &&
	git agent -c limits.memory=200MiB -c limits.tasks=50 -c limits.cpu=50 start -q --name g -- python3 -c "
import os, time
pids = []
for i in range(4):
    pid = os.fork()
    if pid == 0:
        x = bytearray(b\"x\" * (80 << 20)); time.sleep(3); os._exit(0)
    pids.append(pid)
print(sum(os.waitpid(p, 0)[1] == 9 for p in pids))" >../out &&
	test "$(cat ../out)" -ge 1 &&
	git agent show g | grep "memory 200MiB [cs][gy]" &&
	git agent show g |
		grep "session incomplete: the kernel ended .* for want of memory (limits.memory)"
'

test_lazy_prereq SYSTEMD 'systemd-run $([ "$(id -u)" = 0 ] || echo --user) -q --scope true'
# an ordinary user, with none of those
test_lazy_prereq NO_CGROUP 'test_have_prereq NOT_ROOT && ! test_have_prereq CGROUP'
if [ "$(id -u)" = 0 ]; then of=; else of=--user; fi
export of
test_that SYSTEMD 'limits kept by systemd stay when it takes controllers from its own unit' '
	repo unit &&
	test_when_finished "systemctl $of stop ga-other-$$ ga-unit-$$" &&
	systemd-run $of -q -p CPUWeight=50 --unit=ga-other-$$ sleep 1000 &&
	systemd-run $of -q --unit=ga-unit-$$ --working-directory="$PWD" \
		--setenv=PATH="$PATH" --setenv=HOME="$HOME" \
		git agent -c limits.memory=200MiB -c limits.cpu=50 start -q --name unit -- sleep 1000 &&
	test_wait_for "git agent list | grep running" &&
	git agent show unit >../show &&
	grep "memory 200MiB systemd" ../show &&
	grep "cpu 50 systemd" ../show &&
	dir=$(find /sys/fs/cgroup -type d -name "$(git agent shell unit -- sed "s,.*/,," /proc/self/cgroup)") &&
	grep "^50000 " "$dir/cpu.max" &&
	systemctl $of stop ga-other-$$ &&
	systemctl $of daemon-reload &&
	cat "$dir/cpu.max" "$dir/memory.max" &&
	grep "^50000 " "$dir/cpu.max" &&
	grep 209715200 "$dir/memory.max"
'

# A manager that refuses all, and notes in `all` what it is asked for, a call a line.
mkdir -p bin run/systemd evil
: >run/systemd/private
: >run/bus
cat >bin/busctl <<-\END
#!/bin/sh
printf "%s " "$@" >>"$HOME/all"
echo >>"$HOME/all"
case "$*" in
*OOMPolicy*)
	[ ! -e "$HOME/old" ] || {
		echo "Call failed: Cannot set property OOMPolicy, or unknown property." >&2
		exit 1
	}
	;;
esac
echo "Call failed: no thanks" >&2
exit 1
END
printf '#!/bin/sh\ntouch "%s"\n' "$HOME/planted" >evil/busctl
chmod +x bin/busctl evil/busctl

# managed COMMAND...: run it where that manager is found, and a planted one before it
managed() {
	: >"$HOME/all" &&
	PATH=../evil:$HOME/bin:$PATH XDG_RUNTIME_DIR=$HOME/run "$@"
}

test_that NO_CGROUP 'a session that systemd refuses to limit does not start' '
	repo scope &&
	test_says "systemd did not limit the session: .Call failed: no thanks" \
		managed test_expect_code 125 git agent -c limits.memory=1GiB -c limits.cpu=150 start -- true &&
	grep "^hint: .*systemd-run --user --scope" ../err &&
	git agent list >../out &&
	test_cmp /dev/null ../out &&
	start="StartTransientUnit ssa(sv)a(sa(sv)) git-agent-[0-9]*-[0-9]*.scope fail 5 PIDs au 1 [0-9]*" &&
	memory="MemoryMax t 1073741824 MemorySwapMax t 0" &&
	grep -- "--user .* $start $memory OOMPolicy s continue CPUQuotaPerSecUSec t 1500000 0 $" ../all &&
	test ! -e ../planted
'

test_that NO_CGROUP 'an older systemd, without OOMPolicy, is asked again without it' '
	cd scope &&
	: >../old &&
	test_says "no thanks" managed test_expect_code 125 git agent -c limits.memory=1GiB start -- true &&
	test_prints 1 grep -c OOMPolicy ../all &&
	grep -v OOMPolicy ../all |
		grep "scope fail 3 PIDs au 1 [0-9]* MemoryMax t 1073741824 MemorySwapMax t 0 0 $"
'

test_that NO_CGROUP 'without a bus to ask systemd on, memory is limited by rlimit, and that is said' '
	repo nobus &&
	rm ../run/bus &&
	unset DBUS_SESSION_BUS_ADDRESS &&
	managed test_prints 1048576 git agent -c limits.memory=1GiB start -q --name s -- sh -c "ulimit -d" &&
	git agent show s | grep "^limits *memory 1GiB rlimit\$" &&
	test_says "^hint: .*with its bus" \
		managed test_expect_code 125 git agent -c limits.cpu=50 start -q --name c -- true &&
	test ! -s ../all
'

test_done
