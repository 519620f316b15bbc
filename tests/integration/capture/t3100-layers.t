#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a hostile agent against the layers: what it leaves in them, and capture'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

test_aihome
echo "import os, sys; os.setxattr(sys.argv[1], sys.argv[2], sys.argv[3].encode())" >"$HOME/aihome/xattr.py"

# The session's directory, by its name.
session() {
	echo "$HOME"/.local/state/git-agent/*/sessions/"$1"
}

# What is in layers by itself, and what capture makes of it, is in tests/unit/capture/test-upper.c, t4000 and t4100.

# What a session has changed, held or not, against "KIND<TAB>PATH" lines.
changed() {
	got_rev=$(git rev-parse -q --verify "refs/agent/$1/held" || git rev-parse "agent/$1") &&
	git diff --no-renames --name-status HEAD "$got_rev" | sort >../got &&
	printf "$2" | sort >../want &&
	test_cmp ../want ../got
}

test_that 'OV-03: no layer can be written or found from inside a session' '
	make_repo side "echo mods/ >.gitignore" &&
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
		for d in ~ ~/d /tmp; do python3 ~/xattr.py \$d user.overlay.opaque y; done
		: the conversations are no layer
		grep -v sessions/p1/conversations/ /proc/self/mountinfo |
			grep -E \"upperdir=[^/]*/[^p]|sessions/p1\" >\$HOME/paths" &&
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

# Five daemons that ignore signals: four that write, rename and map files for as long as they live, one stopped.
cat >daemons.py <<\END
import fcntl, mmap, os, signal
home = os.path.expanduser("~")
def daemon(n):
    if os.fork(): return False
    os.setsid()
    if os.fork(): os._exit(0)
    for s in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
    daemon.lock = open(home + "/lock%d" % n, "w")
    fcntl.flock(daemon.lock, fcntl.LOCK_EX)
    return True
def write(path, text, mode="w"):
    with open(path, mode) as f: f.write(text)
def busy(n):
    f = open("mapped%d" % n, "w+b")
    f.truncate(1 << 16)
    m = mmap.mmap(f.fileno(), 1 << 16)
    open(home + "/up%d" % n, "w").close()
    i = 0
    while True:
        i += 1
        m[i % 65536] = i % 251
        for step in (lambda: os.symlink("/etc/passwd", "a.tmp%d" % n), lambda: os.rename("a.tmp%d" % n, "swap"),
                     lambda: write("b.tmp%d" % n, "own%d" % i), lambda: os.rename("b.tmp%d" % n, "swap"),
                     lambda: write("grow%d" % n, "x" * 4096, "a") if i < 2000 else None):
            try: step()
            except OSError: pass
for n in range(4):
    if daemon(n): busy(n)
if daemon(4):
    open(home + "/up4", "w").close()
    os.kill(os.getpid(), signal.SIGSTOP)
END

test_that 'OV-07: processes that the agent leaves running are dead before its work is read' '
	make_repo race &&
	h=$HOME/aihome &&
	cp ../daemons.py "$h" &&
	attack r "
		python3 ~/daemons.py
		for n in 0 1 2 3 4; do
			until test -e ~/up\$n; do sleep 0.02; done
		done
		echo w >w" &&
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
    os.mkdir(path)
    file(path + "/f")
def turn(make, path):
    make(path + ".new")
    os.rename(path, path + ".old")
    os.rename(path + ".new", path)
    if os.path.isdir(path + ".old") and not os.path.islink(path + ".old"):
        os.unlink(path + ".old/f")
        os.rmdir(path + ".old")
    else:
        os.unlink(path + ".old")
file("g")
fill("n")
pid = os.fork()
if pid:
    path, kinds = "n", (lambda p: os.symlink(target, p), file, fill)
else:
    path, kinds = "g", (lambda p: os.symlink(target + "/f", p), os.mkfifo, file)
turns = 0
while not os.path.exists(home + "/stop"):
    for kind in kinds: turn(kind, path)
    turns += 1
    if turns == 2: open(home + "/turns." + path, "w").close()
open(home + "/turns." + path, "w").write(str(turns))
if pid: os.waitpid(pid, 0)
END

test_that 'OV-05 OV-06: diff shows nothing from outside while links, fifos and directories change places' '
	(make_repo looked) &&
	mkdir secret &&
	echo OUTSIDE >secret/f &&
	cp swap.py "$HOME/aihome/swap.py" &&
	cd looked &&
	rm -f "$HOME/aihome/stop" "$HOME/aihome"/turns.? &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{ timeout 180 git agent start --name l -- python3 "$HOME/swap.py" "$HOME/secret" & } &&
	test_wait_for "test -e $HOME/aihome/turns.g && test -e $HOME/aihome/turns.n" &&
	for i in 1 2 3 4 5 6 7 8 9 10; do
		timeout 180 git agent diff l >>../diffs 2>>../errs || exit 1
	done &&
	touch "$HOME/aihome/stop" &&
	wait $! &&
	cat ../errs &&
	! grep OUTSIDE ../diffs ../errs &&
	test "$(cat "$HOME/aihome/turns.n")" -gt 2 &&
	changed l "A\tg\nA\tn/f\n" &&
	test_holds agent/l:n/f own &&
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

test_that 'diff shows a file that grows while it is read' '
	(make_repo grown) &&
	cp grow.py "$HOME/aihome/grow.py" &&
	cd grown &&
	rm -f "$HOME/aihome/stop" &&
	test_when_finished "touch \"$HOME/aihome/stop\"; wait" &&
	{ timeout 180 git agent start --name l -- python3 "$HOME/grow.py" & } &&
	test_wait_for "test -e $HOME/aihome/grows" &&
	for i in 1 2 3; do
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

test_that 'OV-14: set-uid bits, access lists and attributes get into no tree, sessions are for their owner' '
	make_repo suid &&
	attack u "
		cp /bin/true b
		chmod 6755 b
		echo t >t
		chmod 1666 t
		setfacl -m u:1:rwx t
		python3 ~/xattr.py t user.x 1" &&
	git ls-tree agent/u b t | cut -c1-6 >../got &&
	test_prints "100755\n100644" cat ../got &&
	test "$(stat -c %a "$(session u)")" = 700 &&
	git merge -q agent/u &&
	test "$(stat -c %a b)" = 755
'

# What is fixed makes four times as many take less than four times the calls, unless they grow faster.
test_that STRACE 'OV-15: only executable bits count of modes, and the cost of a capture is linear' '
	for n in 400 1600; do
		make_repo meta$n "mkdir m && seq $n | split -l 1 -a 4 - m/" &&
		test_expect_code 137 env GIT_AGENT_FAULT=capture:begin:kill git agent start --name m -- sh -c "
			touch m/*
			chmod 600 m/*
			chmod 777 d
			touch -d @1 a
			chmod +x d/x" &&
		strace -f -qq -o ../calls$n git agent capture m &&
		changed m "M\td/x\n" &&
		cd .. || exit 1
	done &&
	few=$(grep -c . calls400) many=$(grep -c . calls1600) &&
	echo "$few, $many" &&
	test "$few" -gt 800 &&
	test "$many" -lt $((4 * few))
'

test_that 'OV-16: a change that keeps size and time is captured, whatever the index is told' '
	make_repo forge &&
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

test_that 'OV-17: rules that the agent hides in its git directory ignore nothing' '
	make_repo ign "echo \"*.log\" >.gitignore" &&
	echo l >x.log &&
	attack i "
		echo \"*\" >.git/info/exclude
		git config core.excludesFile /tmp/all
		echo \"*\" >/tmp/all
		echo n >n
		mkdir -p node_modules/.bin
		echo p >node_modules/.bin/p
		echo k >>a" &&
	changed i "M\ta\nA\tn\nA\tnode_modules/.bin/p\n"
'

test_that 'OV-20: overlays are mounted with userxattr, nosuid and nodev, without redirects or an index' '
	make_repo opts "echo mods/ >.gitignore" &&
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

# The holes known so far are the kernel's to close; each needs one of these.
cat >holes.py <<\END
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
cap = bytes.fromhex("0100000200000000000000000000000000000000")
for name, value in (("security.capability", cap), ("trusted.overlay.metacopy", b""),
                    ("trusted.overlay.redirect", b"/etc")):
    for path in "t", "d", "new":
        try:
            os.setxattr(path, name, value)
            print(name, path)
        except OSError:
            pass
for flags in 0x10000000, 0x00020000, 0x10020000:
    if not libc.unshare(flags): print("unshare", hex(flags))
if not libc.mount(b"none", b"d", b"overlay", 0, b"lowerdir=/usr,upperdir=/tmp,workdir=/tmp"): print("mount")
if libc.syscall(430, b"overlay", 0) >= 0 or libc.syscall(428, -100, b"d", 1) >= 0: print("mount descriptor")
if os.path.exists("/dev/fuse"): print("fuse")
END

test_that 'OV-22: what the known holes of overlayfs need cannot be had in a session' '
	make_repo kernel "cp /bin/true t" &&
	cp ../holes.py ../aihome/ &&
	attack k "
		cp t new
		python3 ~/holes.py >~/got 2>&1
		echo \$? >>~/got
		setcap cap_setuid+ep t
		echo w >w" &&
	echo 0 >../want &&
	test_cmp ../want "$HOME/aihome/got" &&
	changed k "A\tnew\nA\tw\n" &&
	p=$(session k) &&
	! getfattr -R -h -d -m "^(security.capability|trusted)" "$p/upper" 2>/dev/null | grep .
'

# Where an overlay holds the state is in t1300-faults.t: only root can make one there.
test_that 'OV-23: a state directory in memory works, or is refused with a hint' '
	make_repo fs &&
	d=$(test_directory_in /dev/shm) &&
	test_when_finished "chmod -R u+rwx $d; rm -rf $d" &&
	if XDG_STATE_HOME=$d git agent start --name shm -- sh -c "
		rm a
		rm -r d
		mkdir d
		echo n >d/n" 2>../err; then
		changed shm "D\ta\nA\td/n\nD\td/x\n"
	else
		test_fails 125 "hint: " env XDG_STATE_HOME="$d" git agent start --name shm2 -- true
	fi
'

test_done
