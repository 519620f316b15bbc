#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what an agent might try, tried in real sessions by a probe'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

probe=$TEST_BUILDDIR/git-agent-probe
all="SB-01 SB-02 SB-03 SB-05 SB-06 SB-07 SB-08 SB-09 SB-10 SB-11 SB-12 SB-13 SB-14 SB-15 SB-16 SB-17 SB-18 SB-19 SB-22 \
TT-01 TT-02 PS-03"

make_repo() {
	test_enter "$1" &&
	cp "$probe" probe &&
	echo x >x &&
	test_commit base
}

# ids WORD: those that a list of the probe says it of
ids() {
	awk -F'\t' -v w="$1" '$2 == w { print $1 }' out | sort
}

test_that 'SB-01 SB-02 SB-03 SB-05 SB-06 SB-07 SB-08 SB-10 SB-11 SB-12 SB-13: the probe is held in sessions' '
	git agent doctor --deep --json >json &&
	cat json &&
	python3 - "$all SB-04 SB-20 PS-01 PS-02 PS-04 PS-06 PS-08 RS-01" <<-\END
	import json, sys
	got = {c["check"]: c for c in json.load(open("json"))}
	missing = [i for i in sys.argv[1].split() if i not in got]
	# a kernel without it cannot hold these two
	weak = ["SB-09"] if "not in this kernel" in got["SB-18"]["detail"] else []
	failed = [i for i in got if not got[i]["ok"] and i not in weak]
	assert not missing and not failed, (missing, failed)
	assert got["SB-01"]["errno"] == "EPERM"
	END
'

test_that 'SB-14 SB-15 SB-16 SB-17 SB-19 SB-20 SB-22 TT-01 TT-02 PS-02 PS-03 PS-04 PS-06 PS-08: so it is' '
	python3 -c "
import json
got = {c[\"check\"]: c[\"ok\"] for c in json.load(open(\"json\"))}
ids = \"SB-14 SB-15 SB-16 SB-17 SB-19 SB-20 SB-22 TT-01 TT-02 PS-02 PS-03 PS-04 PS-06 PS-08\".split()
assert all(got[i] for i in ids), got"
'

test_lazy_prereq LANDLOCK 'git agent doctor | grep "^ok   landlock .*scopes"'
test_that LANDLOCK 'SB-09 SB-18: where the kernel has it Landlock keeps sessions from abstract sockets' '
	python3 -c "
import json
got = {c[\"check\"]: c for c in json.load(open(\"json\"))}
assert got[\"SB-09\"][\"ok\"], got
assert got[\"SB-09\"][\"errno\"] == got[\"SB-18\"][\"errno\"] == \"EPERM\", got"
'

test_that 'the probe leaves no session, no file and no variable' '
	test -z "$(find "$HOME" ! -type d ! -name ".git*" ! -name json ! -path "$conf")" &&
	test ! -e "$HOME/aihome" &&
	test -z "$(ls -A "$HOME/.local/state/git-agent" | grep -v -x stage)"
'

test_that 'SB-04: a session that does not start for another reason does not count as held' '
	mkdir -p bin &&
	test_script bin/git <<-EOF &&
	for a; do [ "\$a" != status ] || [ ! -e ../home2 ] || exit 1; done
	exec $(program git) "\$@"
	EOF
	! PATH=$PWD/bin:$PATH "$GIT_AGENT" doctor --deep --json >other &&
	python3 -c "
import json
got = {c[\"check\"]: c for c in json.load(open(\"other\"))}
assert got[\"SB-01\"][\"ok\"] and not got[\"SB-04\"][\"ok\"], got"
'

# What is tried must be possible where nothing keeps it: outside a sandbox, and in a bare one. Not as
# root, who could do harm by it.
test_that NOT_ROOT 'outside a sandbox the probe says that nothing held' '
	make_repo src &&
	mkdir -p ../run &&
	echo secret >../.npmrc &&
	exec 9<../.npmrc &&
	python3 - "$PWD/probe" >../out <<-\END &&
	import os, socket, subprocess, sys
	path, name = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
	path.bind("sock"); path.listen(16); name.bind("\0probe-test-%d" % os.getpid()); name.listen(16)
	os.environ.update(TOKEN="0123token", DISPLAY=":0", SSH_AUTH_SOCK="x", XDG_RUNTIME_DIR="x")
	subprocess.call([sys.argv[1], "token=0123token", "socket=sock", "abstract=probe-test-%d" % os.getpid(),
		"key=x", "pidns=%d" % os.stat("/proc/self/ns/pid").st_ino, "hidden=" + os.getcwd(),
		"program=" + os.getcwd() + "/probe"])
	END
	rm ../.npmrc &&
	cd .. &&
	cat out &&
	test "$(wc -l <out)" = "$(echo $all | wc -w)" &&
	bwrap --unshare-user --unshare-pid --as-pid-1 --dev-bind / / --proc /proc \
		sh -c "src/probe token=x socket=x; true" >bare &&
	{
		ids failed
		grep "^SB-15.failed" bare | cut -f1
	} | sort -u >got &&
	echo $all | tr " " "\n" | sort >want &&
	test_cmp want got
'

test_that ROOT 'as root an agent reads nothing that others cannot, and writes nothing of /proc' '
	make_repo root &&
	test_inside "
		find /etc /usr/local/etc /opt -xdev -type f ! -perm -o+r -size +0 2>/dev/null
		find /proc/sys -type f -writable
		for f in /proc/sysrq-trigger /proc/1/environ /proc/1/mem /proc/1/fd/0; do
			dd if=/dev/null of=\$f conv=notrunc 2>/dev/null &&
			echo \$f
		done
		cat /proc/1/environ /proc/1/mem
		readlink /proc/1/fd/* /proc/1/exe /proc/1/cwd
		cat /proc/1/fdinfo/*
		true" </dev/null >../out 2>/dev/null &&
	cd .. &&
	test_cmp /dev/null out
'

# A mount whose files are somebody else's takes the root of the machine, and a file system that knows such mounts
test_lazy_prereq IDMAP '
	test "$(id -u)" = 0 && grep -q 4294967295 /proc/self/uid_map && unshare -m true &&
	printf "6.3\n%s\n" "$(uname -r)" | sort -CV && stat -f -c %T . | grep -xE "ext2/ext3|xfs|btrfs|tmpfs"
'

test_that IDMAP 'as root an agent cannot read such files that are created or replaced while it runs' '
	(make_repo meanwhile) &&
	mkdir etc &&
	test_when_finished "rm -rf etc" &&
	cp -a /etc/. etc &&
	mkdir etc/closed &&
	chmod 700 etc/closed &&
	echo open >etc/open &&
	(umask 077 && echo first >etc/secret) &&
	{
		cd meanwhile &&
		unshare -m sh -c "
		mount --bind ../etc /etc &&
		exec git agent start -q -- sh -c \"
			cat /etc/open /etc/secret
			until test -e /etc/ready; do sleep 0.05; done
			cat /etc/open /etc/secret /etc/new /etc/closed/new
			ls -A /etc/closed
			stat -c %u:%g /etc/open /etc/new\"" </dev/null >../out 2>../err &
	} &&
	pid=$! &&
	test_wait_for "grep -q open out" &&
	(
		umask 077 &&
		echo second >etc/put &&
		mv etc/put etc/secret &&
		echo third | tee etc/new >etc/closed/new
	) &&
	echo again >etc/put &&
	mv etc/put etc/open &&
	>etc/ready &&
	wait $pid &&
	test_prints "open\nagain\n65534:65534\n65534:65534" cat out &&
	grep -c "Permission denied" err | grep -x 2
'

test_that IDMAP 'as root nothing is mounted over files of the host, though its mounts are shared' '
	make_repo shared &&
	unshare -m sh -c "
		mount --make-rshared / &&
		sort -k5 /proc/self/mountinfo >../before &&
		wc -c /etc/shadow
		{
			git agent start -q -- sh -c \"
			grep -E shared:\|master: /proc/self/mountinfo
			stat -c %u /etc/passwd
			until test -e end; do sleep 0.05; done\" </dev/null &
		} >../in
		until test -s ../in; do sleep 0.05; done
		sort -k5 /proc/self/mountinfo >../during
		wc -c /etc/shadow
		git agent shell \$(git agent list | sed \"s/ .*//\") -- touch end
		wait" >../out &&
	test_prints 65534 cat ../in &&
	test_cmp ../before ../during &&
	size=$(wc -c </etc/shadow) &&
	test_prints "$size /etc/shadow\n$size /etc/shadow" cat ../out
'

test_that IDMAP 'as root such files are covered where /etc is an overlay, and that is said' '
	(make_repo held) &&
	cp -a /etc etc &&
	mkdir none &&
	test_when_finished "rm -rf etc" &&
	cd held &&
	unshare -m sh -c "
		mount -t overlay none -o lowerdir=../etc:../none /etc &&
		git agent doctor
		git agent start --name held -- sh -c \"
			cat /etc/shadow
			ls -l /etc/ssl/private
			stat -c %u:%g /etc/passwd\"" </dev/null >../out 2>../err &&
	grep -A1 "^ok   sandbox " ../out | grep "is put into /etc while that runs" &&
	test_prints "total 0\n0:0" tail -n 2 ../out &&
	grep "root.s files in ./etc. cannot be nobody.s here" ../err &&
	git agent show held | grep "cannot be nobody" &&
	git agent doctor >../out &&
	! grep "is put into /etc" ../out &&
	git agent start --name tight -- true 2>../err &&
	! grep nobody ../err
'

test_that IDMAP 'as root they are covered where an overlay lies below /etc, and that is said' '
	(make_repo below) &&
	cp -a /etc etc &&
	mkdir etc/over unused &&
	test_when_finished "rm -rf etc" &&
	cd below &&
	unshare -m sh -c "
		mount --bind ../etc /etc &&
		mount -t overlay none -o lowerdir=../unused:../etc/ssl /etc/over &&
		git agent start --name below -- sh -c \"
			stat -c %u:%g /etc/passwd /etc/over\"" </dev/null >../out 2>../err &&
	test_prints "65534:65534\n0:0" cat ../out &&
	grep "root.s files in ./etc. cannot be nobody.s here" ../err
'

# ---- where sandboxes may be made inside

test_lazy_prereq NESTS 'test "$(id -u)" != 0 && bwrap --unshare-user --ro-bind / / true'
nested='-c sandbox.nested=true'

test_that NESTS 'SB-02: bwrap and unshare work inside with sandbox.nested, and not without' '
	make_repo nested &&
	for c in "bwrap --ro-bind / / true" "unshare -Ur true" "unshare -Urm mount -t tmpfs none /tmp"; do
		test_must_fail git agent start -q -- $c &&
		git agent $nested start -q -- $c ||
			return 1
	done &&
	git agent $nested start -q -- \
		bwrap --ro-bind / / --dev /dev --tmpfs /tmp --unshare-all --die-with-parent sh -c "
			! touch x 2>/dev/null &&
			touch /tmp/x &&
			ls /proc/self/fd" &&
	git agent show --journal unshare-2 --json | grep "\"nested\": *true" &&
	git agent show --journal unshare-1 --json | grep "\"nested\": *false"
'

test_that NESTS 'a dry run and doctor say whether sandboxes work inside' '
	cd nested &&
	git agent $nested start --dry-run -- true | grep "sandboxes of their own" &&
	git agent start --dry-run -- true >../out &&
	! grep "of their own" ../out &&
	git agent $nested doctor | grep "^ok   nested" &&
	git agent doctor >../out &&
	! grep nested ../out
'

test_that NESTS 'SB-01 SB-03: in a session with sandbox.nested all else is held' '
	cd nested &&
	{ git agent start -q -- ./probe token=x >../out || :; } &&
	{ git agent $nested start -q -- ./probe token=x >../out2 || :; } &&
	cd .. &&
	ids failed >closed &&
	mv out2 out &&
	ids failed >open &&
	test_prints "SB-02\nSB-17" comm -13 closed open
'

test_that NESTS 'SB-01 SB-03: in a sandbox inside nothing can be unmounted, remounted or uncovered' '
	cd nested &&
	printf "TOKEN=ghp_%s\n" 0123456789abcdefghijABCDEFGHIJ012345 >.env &&
	echo .env >.git/info/exclude &&
	git agent $nested start -q -n kept -- unshare -Urm sh -c "
		for m in "$PWD" "$HOME" /proc/keys /usr /etc; do
			umount \$m && exit 3
			umount -l \$m && exit 4
		done
		mount -o remount,rw /usr && exit 5
		mount -o remount,bind,rw /usr && exit 6
		touch /usr/x && exit 7
		mkdir /tmp/m && mount --bind / /tmp/m && exit 8
		mount --rbind / /tmp/m && touch /tmp/m/usr/x && exit 9
		umount /tmp/m/proc/keys && exit 10
		cat .env && exit 11
		mount -t proc none /tmp/m && exit 12
		mount -t overlay -o lowerdir=/usr:/etc none /tmp/m && umount /tmp/m
		echo x >/proc/sys/kernel/core_pattern && exit 13
		echo done >done" 2>/dev/null &&
	git show agent/kept:done &&
	test ! -e /usr/x
'

test_that NESTS 'SB-07: a sandbox inside cannot mount /proc, which would show the keys of the user' '
	cd nested &&
	test_says "mount proc" \
		test_must_fail git agent $nested start -q -- bwrap --ro-bind / / --unshare-pid --proc /proc true
'

test_that NOT_ROOT 'sandbox.nested in a file of the repository needs trust' '
	make_repo asks &&
	echo "sandbox: {nested: true}" >.agentdev.yaml &&
	test_commit ask &&
	test_says "\.agentdev\.yaml:1" test_must_fail git agent start -q -- true
'

test_that ROOT 'as root sandbox.nested is refused, with the reason' '
	make_repo rootn &&
	test_fails 125 "uid 0" git agent $nested start -q -- true &&
	test_shows "^FAIL nested" test_must_fail git agent $nested doctor &&
	git agent list >../out &&
	test ! -s ../out
'

# ---- what fails while a sandbox is made

# Every call that makes a part of the sandbox fails once, in whichever process makes it: then nothing
# starts, or what starts lacks nothing.
calls="unshare mount umount2 pivot_root open_tree move_mount mount_setattr fsopen fsconfig fsmount capset prctl seccomp"
calls="$calls setsid setns sethostname landlock_create_ruleset landlock_restrict_self"

# fails CALL: some of its times that a start makes it, as many as one process made according to the traces
fails() {
	most=$(for f in trace.*; do command grep -c "^$1(" "$f"; done | sort -n | tail -n 1)
	n=1 &&
	while [ $n -le "${most:-0}" ]; do
		timeout 180 strace -f -qq -o /dev/null -e trace="$1" -e inject="$1:error=EPERM:when=$n" \
			"$GIT_AGENT" start -q --name f -- ./check >out 2>err
		rc=$?
		"$GIT_AGENT" drop --force f >/dev/null 2>&1
		if [ $rc = 125 ] && [ ! -s out ]; then
			refused=$((refused + 1))
		elif [ $rc != 0 ] || [ "$(cat out)" != held ]; then
			echo "$1, time $n: status $rc"
			cat out err
			return 1
		fi
		# of what is done a hundred times alike, some
		n=$((n * 2))
	done
}

test_that STRACE 'a call that fails while a sandbox is made keeps it from starting, or nothing is missing' '
	make_repo faults &&
	test_script check <<-\END &&
	grep -h "^Cap\|^NoNewPrivs\|^Seccomp:" /proc/self/status | tr -d "\n\t" |
		grep -q "^\(Cap[A-Z][a-z]*:0*\)*NoNewPrivs:1Seccomp:2$" &&
	! unshare -U true 2>/dev/null &&
	! ls /oldroot /newroot /home 2>/dev/null &&
	! touch /usr/x /etc/x /run/git-agent/x /proc/sys/x 2>/dev/null &&
	! grep -v " [r,a-z]*nosuid" /proc/self/mountinfo &&
	[ "$(ls /run)" = git-agent ] && [ ! -s /proc/keys ] && [ -e x ] && echo held
	END
	test_commit check &&
	PATH=/usr/local/bin:/usr/bin:/bin &&
	test "$("$GIT_AGENT" start -q -- ./check)" = held &&
	timeout 180 strace -ff -qq -o trace -e trace="$(echo $calls | tr " " ,)" \
		"$GIT_AGENT" start -q -- ./check &&
	refused=0 &&
	for call in $calls; do
		fails $call || return 1
	done &&
	echo "$refused refused" &&
	test $refused -gt 25
'

test_done
