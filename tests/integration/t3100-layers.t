#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against the layers: what it leaves in them, and capture'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/lib/attacks.sh"
require_sandbox

# The session's directory, by its name.
session() {
	echo "$HOME"/.local/state/git-agent/*/sessions/"$1"
}

# What a session has changed, held back or not, against "KIND<TAB>PATH" lines.
changed() {
	got_rev=$(git rev-parse -q --verify "refs/agent/$1/held" || git rev-parse "agent/$1") &&
	git diff --no-renames --name-status HEAD "$got_rev" | sort >../got &&
	printf "$2" | sort >../want &&
	test_cmp ../want ../got
}

# ---- what the overlay says ---------------------------------------------------------

test_expect_success 'OV-01: what was removed is gone, and nothing else' '
	make_repo white "mkdir e && echo 1 >e/1 && echo 2 >e/2 && echo k >keep" &&
	cd white &&
	attack w "
		rm a
		rm -r d
		rm e/1
		echo t >t
		rm t
		mknod dev c 0 0
		mknod dev2 c 1 3
		mkdir n
		rmdir n" &&
	changed w "D\ta\nD\td/x\nD\te/1\n" &&
	test "$(find "$(session w)/upper" -type c | wc -l)" -ge 3
'

test_expect_success 'OV-03: nothing the agent can write is a layer, and no layer is to be found inside' '
	make_repo side "echo mods/ >.gitignore" &&
	cd side &&
	mkdir mods &&
	echo m >mods/m &&
	attack p1 "
		u=mark-\$\$
		echo \$u >\$HOME/mark
		touch \$u mods/\$u
		find / -name \$u 2>/dev/null | sort >\$HOME/found
		pwd >\$HOME/pwd
		mkdir \$HOME/d
		mknod \$HOME/a c 0 0
		mknod \$HOME/d/x c 0 0
		mknod /tmp/a c 0 0
		python3 -c \"
import os
for p in os.path.expanduser(\\\"~\\\"), os.path.expanduser(\\\"~/d\\\"), \\\"/tmp\\\":
    try: os.setxattr(p, \\\"user.overlay.opaque\\\", b\\\"y\\\")
    except OSError: pass
\"
		grep -c overlay /proc/self/mountinfo >\$HOME/overlays
		grep -E \"upperdir=[^/]*/[^p]|sessions/p1\" /proc/self/mountinfo >\$HOME/paths" &&
	h=$HOME/aihome &&
	printf "%s/%s\n" "$(cat "$h/pwd")" "$(cat "$h/mark")" "$(cat "$h/pwd")/mods" "$(cat "$h/mark")" |
		sort >../want &&
	sort "$h/found" >../got &&
	test_cmp ../want ../got &&
	test ! -s "$h/paths" &&
	test -e a &&
	test ! -e mods/mark-* &&
	attack p2 "cat a d/x mods/m >seen" &&
	printf "a\nx\nm\n" >../want &&
	git cat-file blob agent/p2:seen >../got &&
	test_cmp ../want ../got &&
	changed p2 "A\tseen\n"
'

test_expect_success 'OV-04: a directory made anew has nothing of the old, at any depth' '
	make_repo opq "
		mkdir -p m/n/o &&
		echo 1 >m/1 &&
		echo 2 >m/n/2 &&
		echo 3 >m/n/o/3 &&
		echo f >f" &&
	cd opq &&
	attack o1 "rm -r d; mkdir d; echo n >d/n; rm -r m/n; mkdir -p m/n/o; echo 4 >m/n/o/4" &&
	changed o1 "A\td/n\nD\td/x\nD\tm/n/2\nD\tm/n/o/3\nA\tm/n/o/4\n" &&
	attack o2 "
		rm -r m
		echo m >m
		rm m
		ln -s d m
		rm m
		mkdir m
		echo 1 >m/1
		rm f
		mkdir f
		echo g >f/g" &&
	changed o2 "D\tf\nA\tf/g\nD\tm/n/2\nD\tm/n/o/3\n" &&
	attack o3 "
		rm -rf ./* &&
		mkdir d &&
		echo x >d/x" &&
	changed o3 "D\ta\nD\tf\nD\tm/1\nD\tm/n/2\nD\tm/n/o/3\n"
'

test_expect_success 'OV-05: a link in place of a file or a directory is its text, and nothing is read through it' '
	echo secret >outside &&
	make_repo links "
		mkdir -p e/f &&
		echo 1 >e/f/1 &&
		ln -s a l" &&
	cd links &&
	attack k "
		rm a
		ln -s $HOME/outside a
		rm -r d
		ln -s $HOME d
		rm -r e/f
		ln -s /proc/self/cwd e/f
		rm l
		echo own >l
		ln -s ../../../../../.. up" &&
	changed k "T\ta\nD\td/x\nA\td\nA\te/f\nD\te/f/1\nT\tl\nA\tup\n" &&
	for p in a=$HOME/outside d=$HOME e/f=/proc/self/cwd up=../../../../../..; do
		test "$(git cat-file blob refs/agent/k/held:${p%%=*})" = "${p#*=}" || exit 1
	done &&
	! git grep -q secret refs/agent/k/held
'

test_expect_success 'OV-06: pipes, sockets and devices are named and keep nobody waiting' '
	make_repo special &&
	cd special &&
	attack s "rm a d/x; mkfifo a p; python3 -c \"
import socket
for n in \\\"s\\\", \\\"d/x\\\": socket.socket(socket.AF_UNIX).bind(n)
\"; mknod c c 1 3 || mknod c c 5 0 || :; echo w >w" &&
	changed s "D\ta\nD\td/x\nA\tw\n" &&
	git agent show s >../show &&
	for f in a p s d/x; do grep "left behind: $f " ../show || exit 1; done
'

test_expect_success 'OV-07: what the agent leaves running is dead before its work is read' '
	make_repo race &&
	cd race &&
	h=$HOME/aihome &&
	attack r "python3 -c \"
import fcntl, mmap, os, signal, sys
home = os.path.expanduser(\\\"~\\\")
for n in range(4):
    if os.fork(): continue
    os.setsid()
    if os.fork(): os._exit(0)
    for s in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
    lock = open(home + \\\"/lock%d\\\" % n, \\\"w\\\"); fcntl.flock(lock, fcntl.LOCK_EX)
    f = open(\\\"mapped%d\\\" % n, \\\"w+b\\\"); f.truncate(1 << 16); m = mmap.mmap(f.fileno(), 1 << 16)
    open(home + \\\"/up%d\\\" % n, \\\"w\\\").close()
    i = 0
    while True:
        i += 1
        m[i % 65536] = i % 251
        for step in (lambda: os.symlink(\\\"/etc/passwd\\\", \\\"a.tmp%d\\\" % n), lambda: os.rename(\\\"a.tmp%d\\\" % n, \\\"swap\\\"),
                     lambda: open(\\\"b.tmp%d\\\" % n, \\\"w\\\").write(\\\"own%d\\\" % i), lambda: os.rename(\\\"b.tmp%d\\\" % n, \\\"swap\\\"),
                     lambda: open(\\\"grow%d\\\" % n, \\\"a\\\").write(\\\"x\\\" * 4096) if i < 2000 else None):
            try: step()
            except OSError: pass
if not os.fork():
    os.setsid(); lock = open(home + \\\"/lock4\\\", \\\"w\\\"); fcntl.flock(lock, fcntl.LOCK_EX); open(home + \\\"/up4\\\", \\\"w\\\").close()
    os.kill(os.getpid(), signal.SIGSTOP)
\"; while ! { test -e \$HOME/up0 && test -e \$HOME/up1 && test -e \$HOME/up2 && test -e \$HOME/up3 && test -e \$HOME/up4; }; do sleep 0.02; done; echo w >w" &&
	for n in 0 1 2 3 4; do
		test -e "$h/up$n" &&
		flock -n "$h/lock$n" true || {
			echo "$n is alive"
			exit 1
		}
	done &&
	up=$(session r)/upper &&
	for n in 0 1 2 3; do
		git cat-file blob agent/r:mapped$n | cmp - "$up/mapped$n" || exit 1
		test ! -e "$up/grow$n" || git cat-file blob agent/r:grow$n | cmp - "$up/grow$n" ||
			exit 1
	done &&
	if test -L "$up/swap"; then
		test "$(git cat-file blob agent/r:swap)" = /etc/passwd
	elif test -e "$up/swap"; then
		git cat-file blob agent/r:swap | cmp - "$up/swap"
	fi
'

# Only while it runs can anything change under what reads its layers. The links lead to what is there outside only.
cat >swap.py <<\END
import os, sys
home, target = os.path.expanduser("~"), sys.argv[1]
def file(path):
    with open(path, "w") as f: f.write("own\n")
def fill(path):
    os.mkdir(path); file(path + "/f")
def turn(make, path):
    make(path + ".new"); os.rename(path, path + ".old"); os.rename(path + ".new", path)
    if os.path.isdir(path + ".old") and not os.path.islink(path + ".old"): os.unlink(path + ".old/f"); os.rmdir(path + ".old")
    else: os.unlink(path + ".old")
file("g"); fill("n")
pid = os.fork()
path, kinds = ("n", (lambda p: os.symlink(target, p), file, fill)) if pid else ("g", (lambda p: os.symlink(target + "/f", p), os.mkfifo, file))
turns = 0
while not os.path.exists(home + "/stop"):
    for kind in kinds: turn(kind, path)
    turns += 1
    if turns == 2: open(home + "/turns." + path, "w").close()
open(home + "/turns." + path, "w").write(str(turns))
if pid: os.waitpid(pid, 0)
END

test_expect_success 'OV-05 OV-06: looked at while links, fifos and directories change places, it shows nothing from outside' '
	make_repo looked &&
	mkdir -p secret "$HOME/aihome" &&
	echo OUTSIDE >secret/f &&
	cp swap.py "$HOME/aihome/swap.py" &&
	cd looked &&
	rm -f "$HOME/aihome/stop" "$HOME/aihome"/turns.? &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{ timeout 180 git agent start --name l -- python3 "$HOME/swap.py" "$HOME/secret" & } &&
	test_wait_for "test -e $HOME/aihome/turns.g && test -e $HOME/aihome/turns.n" &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		timeout 180 git agent diff l >>../diffs 2>>../errs || exit 1
	done &&
	touch "$HOME/aihome/stop" &&
	wait $! &&
	cat ../errs &&
	! grep OUTSIDE ../diffs ../errs &&
	test "$(cat "$HOME/aihome/turns.n")" -gt 2 &&
	changed l "A\tg\nA\tn/f\n" &&
	test "$(git cat-file blob agent/l:n/f)" = own &&
	clean_store
'

cat >grow.py <<\END
import os, time
home = os.path.expanduser("~")
with open("log", "wb") as f:
    f.write(b"x" * (3 << 20))
    open(home + "/grows", "w").close()
    while not os.path.exists(home + "/stop"): f.write(b"more\n" * 10); f.flush(); time.sleep(0.0002)
END

test_expect_success 'looked at while a file grows, it shows what that had' '
	make_repo grown &&
	cp grow.py "$HOME/aihome/grow.py" &&
	cd grown &&
	rm -f "$HOME/aihome/stop" &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{ timeout 180 git agent start --name l -- python3 "$HOME/grow.py" & } &&
	test_wait_for "test -e $HOME/aihome/grows" &&
	for i in 1 2 3 4 5; do
		timeout 180 git agent diff l >../diff &&
		tail -c 300 ../diff &&
		grep -a -q "^+++ b/log" ../diff ||
			exit 1
	done &&
	touch "$HOME/aihome/stop" &&
	wait $! &&
	size=$(git cat-file -s agent/l:log) &&
	test "$size" -gt 3145728 &&
	clean_store
'

test_expect_success 'OV-08: what is closed is read all the same, and removed' '
	make_repo closed &&
	cd closed &&
	attack c "
		echo n >a
		chmod 0 a
		mkdir -p z/y
		echo 1 >z/y/1
		chmod 0 z/y/1 z/y z
		echo 2 >d/x
		chmod 0 d" &&
	changed c "M\ta\nM\td/x\nA\tz/y/1\n" &&
	! git agent show c | grep "left behind" &&
	dir=$(session c) &&
	test "$(stat -c %a "$dir/upper/z")" = 0 &&
	git agent drop --force c &&
	test ! -e "$dir"
'

test_expect_success 'OV-09: names of 255 bytes, and paths longer than any call takes' '
	make_repo long &&
	cd long &&
	n255=$(printf "n%.0s" $(seq 255)) &&
	n200=$(printf "m%.0s" $(seq 200)) &&
	attack l "
		echo 1 >$n255
		mkdir -p $n200/$n200
		echo 2 >$n200/$n200/$n255
		echo w >w
		python3 -c \"
import os
for i in range(100):
    os.mkdir(\\\"k\\\" * 255); os.chdir(\\\"k\\\" * 255)
open(\\\"deep\\\", \\\"w\\\").write(\\\"d\\\")
\"" &&
	test "$(git cat-file blob agent/l:$n255)" = 1 &&
	test "$(git cat-file blob agent/l:$n200/$n200/$n255)" = 2 &&
	test "$(git diff --name-only HEAD agent/l | wc -l)" = 3 &&
	git agent show l | grep "path longer than any system takes" &&
	git merge -q agent/l &&
	test "$(cat w)" = w &&
	git agent drop --force l
'

test_expect_success 'OV-10: names that mean something elsewhere reach no tree' '
	make_repo names &&
	cd names &&
	attack n "
		mkdir .GIT sub
		echo 1 >.GIT/config
		echo 1 >\".git \"
		echo 1 >GIT~1
		echo 1 >git~2
		echo 1 >\"\$(printf \".g\342\200\214it\")\"
		echo 1 >\"sub/.git::\\\$INDEX_ALLOCATION\"
		echo 1 >\"a\\\.git\"
		echo 1 >\"..\\\up\"
		ln -s a .gitmodules
		mkdir .gitattributes
		echo 1 >.gitattributes/x
		echo 1 >CON
		echo 1 >\"a\\\b\"
		echo 1 >-rf
		printf 1 >\"\$(printf \"\377\")\"" &&
	changed n "A\t-rf\nA\tCON\nA\t\"a\\\\\\\\b\"\nA\t\"\\\\377\"\n" &&
	git agent review --format=json n | grep -c "\"kind\": \"name\"" | grep -x 10 &&
	clean_store
'

test_expect_success 'OV-11: no repository in the tree becomes part of it, and the top one is no entry' '
	make_repo dotgit &&
	cd dotgit &&
	cp -r .git ../dotgit.was &&
	attack g "
		mkdir -p sub/.git/hooks
		echo 1 >sub/.git/HEAD
		mkdir sub/.git/objects sub/.git/refs
		echo 1 >sub/f
		mkdir file
		echo gitdir: /tmp/x >file/.git
		echo 1 >file/f
		ln -s /tmp d/.git
		mv .git gone
		rm -rf .git
		mkdir .git
		echo gitdir: /tmp/x >.git
		echo w >w" &&
	changed g "A\tw\n" &&
	git ls-tree -r agent/g | (! grep ^160000) &&
	git agent show g >../show &&
	grep "left behind: sub (repository" ../show &&
	grep "left behind: file (repository" ../show &&
	test_cmp ../dotgit.was/config .git/config &&
	test "$(ls .git/hooks | wc -l)" = "$(ls ../dotgit.was/hooks | wc -l)"
'

test_expect_success 'OV-12: hard links are files of their own, and lead to nothing outside' '
	make_repo hard "echo mods/ >.gitignore" &&
	cd hard &&
	mkdir mods &&
	echo m >mods/m &&
	attack h "
		ln a one
		ln a two
		echo more >>two
		ln mods/m stolen
		ln .git/HEAD stolen2
		ln /etc/passwd stolen3
		ln \$HOME/../outside stolen4
		echo >x
		ln x \$HOME/x" &&
	changed h "M\ta\nA\tone\nA\ttwo\nA\tx\n" &&
	git rev-parse agent/h:a >../want &&
	git rev-parse agent/h:two >../got &&
	test_cmp ../want ../got &&
	test "$(cat a)" = a &&
	test "$(cat mods/m)" = m
'

test_expect_success 'OV-13: files that say they are huge are left by their size, and said' '
	make_repo huge &&
	cd huge &&
	attack h "
		truncate -s 15T big || truncate -s 3G big
		truncate -s 3G a
		echo w >w" &&
	changed h "A\tw\n" &&
	git agent show h >../show &&
	grep "left behind: big (limit" ../show &&
	grep "left behind: a (limit" ../show &&
	grep "big: is larger than a file may be" ../show &&
	grep "a: is larger" ../show
'

test_expect_success 'OV-14: set-uid bits, lists and attributes reach no tree and nobody else' '
	make_repo suid &&
	cd suid &&
	attack u "
		cp /bin/true b
		chmod 6755 b
		echo t >t
		chmod 1666 t
		setfacl -m u:1:rwx t
		python3 -c \"import os; os.setxattr(\\\"t\\\", \\\"user.x\\\", b\\\"1\\\")\"" &&
	git ls-tree agent/u b t | cut -c1-6 >../got &&
	printf "100755\n100644\n" >../want &&
	test_cmp ../want ../got &&
	p=$(session u) &&
	test "$(stat -c %a "$p")" = 700 &&
	git merge -q agent/u &&
	test "$(stat -c %a b)" = 755
'

test_expect_success 'OV-15: touched, copied up and given other modes: nothing changed but the executable bit' '
	make_repo meta "mkdir m && seq 50000 | split -l 1 -a 4 - m/" &&
	cd meta &&
	attack m "
		touch m/*
		chmod 600 m/*
		chmod 777 d
		chmod a-w a
		touch -d @1 a
		chmod +x d/x" &&
	changed m "M\td/x\n" &&
	git ls-tree agent/m:d x | grep ^100755 &&
	test "$(find "$(session m)/upper/m" -type f | wc -l)" = 50000
'

# What is fixed makes four times as many take less than four times the calls, unless they grow faster.
test_expect_success STRACE 'OV-15: what it costs does not grow faster than what was touched' '
	for n in 400 1600; do
		make_repo meta$n "mkdir m && seq $n | split -l 1 -a 4 - m/" &&
		cd meta$n &&
		{
			GIT_AGENT_FAULT=capture:begin:kill git agent start --name m -- sh -c "
		touch m/*
		chmod 600 m/*
		chmod +x d/x"
			test $? = 137
		} &&
		strace -f -qq -o ../calls$n git agent capture m &&
		changed m "M\td/x\n" &&
		cd .. || exit 1
	done &&
	few=$(grep -c . calls400) many=$(grep -c . calls1600) &&
	echo "$few, $many" &&
	test "$few" -gt 800 &&
	test "$many" -lt $((4 * few))
'

test_expect_success 'OV-16: a change that no time and no size tells is seen' '
	make_repo forge &&
	cd forge &&
	attack f "
		touch -r a /tmp/a
		printf \"b\n\" >a
		touch -r /tmp/a a
		touch -r d/x /tmp/x
		printf \"y\n\" | dd of=d/x conv=notrunc
		touch -r /tmp/x d/x
		git update-index --assume-unchanged a
		git update-index --skip-worktree d/x" &&
	changed f "M\ta\nM\td/x\n"
'

test_expect_success 'OV-17: ignoring everything hides nothing and takes nothing' '
	make_repo ign "echo \"*.log\" >.gitignore" &&
	cd ign &&
	echo l >x.log &&
	attack i "
		echo \"*\" >.git/info/exclude
		git config core.excludesFile /tmp/all
		echo \"*\" >/tmp/all
		echo n >n
		mkdir -p node_modules/.bin
		echo p >node_modules/.bin/p
		echo k >>a" &&
	changed i "M\ta\nA\tn\nA\tnode_modules/.bin/p\n" &&
	attack j "
		echo \"*\" >.gitignore
		echo n >n
		mkdir -p .venv/bin
		echo p >.venv/bin/python
		echo k >>a" &&
	{
		git diff --name-only HEAD refs/agent/j/held >../got 2>/dev/null ||
			git diff --name-only HEAD agent/j >../got
	} &&
	printf ".gitignore\na\n" >../want &&
	test_cmp ../want ../got &&
	git agent review j >../text &&
	grep "newly ignored.* n$\|newly ignored: n" ../text &&
	git agent review --json j |
		python3 -c "
import json, sys
r = json.load(sys.stdin)
assert [f for f in r[\"flags\"] if f[\"path\"] == \".gitignore\"], r[\"flags\"]
assert sorted((x[\"path\"], x[\"kind\"]) for x in r[\"left_behind\"]) == [(\".venv\", \"ignored\"), (\"n\", \"ignored\")], r[\"left_behind\"]" &&
	git merge -q agent/j &&
	test ! -e n &&
	test ! -e .venv
'

test_expect_success 'OV-18: what the user does meanwhile is neither lost nor brought back' '
	make_repo under "echo 1 >f1 && echo 2 >f2" &&
	cd under &&
	git branch other &&
	{
		git agent start --name u -- sh -c "
		touch \$HOME/u-up
		while test -e \$HOME/u-up; do sleep 0.05; done
		cat a >seen
		echo w >w
		echo 3 >>f2" &
	} &&
	test_wait_for "test -e $HOME/aihome/u-up" &&
	echo host >a &&
	rm f1 &&
	echo new >new &&
	git switch -q other &&
	git commit -qam host &&
	rm "$HOME/aihome/u-up" &&
	wait $! &&
	test_prints "M\tf2\nA\tseen\nA\tw" git diff --no-renames --name-status refs/agent/u/base agent/u &&
	test "$(git cat-file blob agent/u:seen)" = a &&
	test "$(cat a)" = host &&
	test ! -e f1
'

test_expect_success 'OV-20: the mounts of the sandbox are what they must be' '
	make_repo opts "echo mods/ >.gitignore" &&
	cd opts &&
	mkdir mods &&
	echo m >mods/m &&
	pwd=$PWD &&
	attack m "cat /proc/self/mountinfo" &&
	grep " - overlay " ../out >../got &&
	grep " $pwd " ../got &&
	grep " $pwd/mods " ../got &&
	! grep -v userxattr ../got &&
	! cut -d" " -f6 ../got | grep -v "nosuid.*nodev" &&
	! grep "metacopy=on\|redirect_dir=on\|redirect_dir=follow\|index=on\|nfs_export=on\|xino=on" ../got &&
	! grep -v "^[0-9]* [0-9]* [0-9:]* / $pwd" ../got
'

test_expect_success 'OV-21: no mount of the agent hides what it writes' '
	make_repo nested &&
	cd nested &&
	attack n "
		unshare -Urm sh -c \"
			mount -t tmpfs t d
			echo hidden >d/hidden\" &&
		touch escaped
		unshare -m true &&
		touch escaped
		mount --bind /tmp d &&
		touch escaped
		echo w >w" &&
	changed n "A\tw\n"
'

# The holes known so far are the kernel's to close; each needs one of these.
test_expect_success 'OV-22: what the known holes of overlayfs are used with is not to be had' '
	make_repo kernel "cp /bin/true t" &&
	cd kernel &&
	attack k "cat >/tmp/try.py <<-\"END\"
		import ctypes, os
		libc = ctypes.CDLL(None, use_errno=True)
		cap = bytes.fromhex(\"0100000200000000000000000000000000000000\")
		for name, value in ((\"security.capability\", cap), (\"trusted.overlay.metacopy\", b\"\"), (\"trusted.overlay.redirect\", b\"/etc\")):
		    for path in \"t\", \"d\", \"new\":
		        try:
		            os.setxattr(path, name, value)
		            print(name, path)
		        except OSError:
		            pass
		for flags in 0x10000000, 0x00020000, 0x10020000:
		    if not libc.unshare(flags): print(\"unshare\", hex(flags))
		if not libc.mount(b\"none\", b\"d\", b\"overlay\", 0, b\"lowerdir=/usr,upperdir=/tmp,workdir=/tmp\"): print(\"mount\")
		if libc.syscall(430, b\"overlay\", 0) >= 0 or libc.syscall(428, -100, b\"d\", 1) >= 0: print(\"mount descriptor\")
		if os.path.exists(\"/dev/fuse\"): print(\"fuse\")
	END
	cp t new; python3 /tmp/try.py >\$HOME/got 2>&1; echo \$? >>\$HOME/got; setcap cap_setuid+ep t; echo w >w" &&
	echo 0 >../want &&
	test_cmp ../want "$HOME/aihome/got" &&
	changed k "A\tnew\nA\tw\n" &&
	p=$(session k) &&
	! getfattr -R -h -d -m "^(security.capability|trusted)" "$p/upper" 2>/dev/null | grep .
'

# Where an overlay holds the state is in t1300-faults.t: only root can make one there.
test_expect_success 'OV-23: a state directory in memory is right, or refused with what to do' '
	make_repo fs &&
	cd fs &&
	d=$(test_directory_in /dev/shm) &&
	test_when_finished "chmod -R u+rwx $d; rm -rf $d" &&
	if XDG_STATE_HOME=$d git agent start --name shm -- sh -c "
		rm a
		rm -r d
		mkdir d
		echo n >d/n" 2>../err; then
		changed shm "D\ta\nA\td/n\nD\td/x\n"
	else
		test_expect_code 125 env XDG_STATE_HOME="$d" git agent start --name shm2 -- true 2>../err &&
		grep "hint: " ../err
	fi
'

test_expect_success 'OV-24: a capture that is killed and done again gives the same, and leaves no half of a ref' '
	make_repo crash &&
	cd crash &&
	w="echo 1 >one; git add one; git commit -qm one; echo 2 >two; for i in \$(seq 300); do echo \$i >n\$i; done" &&
	for at in upper tree commit before-refs after-refs; do
		{
			GIT_AGENT_FAULT=capture:$at:kill git agent start --name k-$at -- sh -c "$w"
			test $? = 137
		} &&
		git for-each-ref --format="%(objectname)" |
			while read -r o; do
				git cat-file -e "$o^{tree}" || echo "$o is not whole"
			done >../broken &&
		test ! -s ../broken &&
		git agent capture k-$at &&
		git rev-parse "agent/k-$at^{tree}" >>../trees &&
		git rev-parse "agent/k-$at~1^{tree}" >>../trees1 || exit 1
	done &&
	test "$(sort -u ../trees | wc -l)" = 1 &&
	test "$(sort -u ../trees1 | wc -l)" = 1 &&
	clean_store
'

test_done
