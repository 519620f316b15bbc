#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A shared directory is a mount point inside, and yet programs remove, rename and recreate it as any other.
test_description='removing shared directories inside'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
test_lazy_prereq NODE 'node -e "require(\"fs\").rmSync"'
test_lazy_prereq CMAKE 'command -v cmake'
test_lazy_prereq PYTHON 'command -v python3'

# repo DIR: with three shared directories, one of them in a directory
repo() {
	test_enter "$1" &&
	mkdir -p dist/deep mods/pkg sub/cache &&
	echo a >a &&
	echo s >sub/s &&
	printf 'dist\nmods\ncache\nold\n' >.gitignore &&
	test_commit 1 &&
	echo 1 >dist/1 &&
	echo 2 >dist/deep/2 &&
	echo 3 >mods/pkg/3 &&
	echo 4 >sub/cache/4
}
# host: what nobody may change
host() {
	find dist mods sub a .gitignore -printf '%p %y %m %i %n %s %T@\n' | sort
}
# removes COMMAND: inside, it removes `dist`, with which then nothing is wrong
removes() {
	git agent start -q -- sh -ec "
		$1
		test ! -e dist
		! grep -F /dist /proc/self/mountinfo
		mkdir dist
		test -z \"\$(ls -A dist)\"
		echo new >dist/new
		rm -r dist
		mkdir -p dist/deep
		echo new >dist/deep/new
		mv dist/deep dist/depth
		cat dist/depth/new"
}

test_that 'rm, rmdir, git clean, mv and find remove it' '
	repo r &&
	host >../before &&
	test_prints new removes "rm -rf dist" &&
	test_prints new removes "rm -rf ./dist/" &&
	test_prints new removes "rm -rf \"\$PWD/dist\"" &&
	test_prints new removes "rm -rf dist/* && rmdir dist" &&
	test_prints new removes "git clean -fdxq && test ! -e mods" &&
	test_prints new removes "mv dist old && grep -rh . old | sort | tr -d \"\\n\" | grep -qx 12" &&
	test_prints new removes "mv dist sub/x && test -e sub/x/deep/2" &&
	host | cmp ../before -
'

test_that PYTHON 'Python removes it' '
	cd r &&
	test_prints new removes "python3 -c \"import shutil; shutil.rmtree(\\\"dist\\\")\"" &&
	test_prints new removes "python3 -c \"import shutil; shutil.move(\\\"dist\\\", \\\"old\\\")\""
'

test_that NODE 'Node removes it' '
	cd r &&
	test_prints new removes "node -e '\''fs.rmSync(\"dist\", { recursive: true })'\''" &&
	test_prints new removes "node -e '\''fs.promises.rm(\"dist\", { recursive: true, force: true })'\''"
'

test_that CMAKE 'CMake removes it' '
	cd r &&
	test_prints new removes "cmake -E rm -r dist"
'

test_that 'one that lies in a directory is removed with that' '
	cd r &&
	git agent start -q -- sh -ec "rm -r sub && mkdir -p sub/cache && ls -A sub/cache" >../out &&
	test ! -s ../out &&
	host | cmp ../before -
'

test_that 'one that is not empty is not removed, and nothing in it is' '
	cd r &&
	test_inside "
		rmdir dist
		find . -name dist -delete
		rm mods/pkg/3
		rmdir mods
		ls -A dist mods" >../out 2>../err &&
	test "$(grep -c "Directory not empty" ../err)" = 3 &&
	printf "dist:\n1\ndeep\n\nmods:\npkg\n" | cmp - ../out
'

test_that 'what was removed is not shown again, and what was made there stays' '
	cd r &&
	git agent start -q -n s -- sh -ec "
		rm -r dist mods sub
		mkdir mods
		echo mine >mods/mine" 2>/dev/null &&
	git agent show s >../out &&
	! grep ^shared ../out &&
	test_shows "ignored    mods (1 file" git agent review --stat s &&
	! grep "ignored    \(dist\|cache\)" ../out &&
	git agent resume -q s -- sh -ec "
		ls -A
		cat mods/mine
		mkdir dist
		echo also >dist/also" >../out 2>/dev/null &&
	printf ".git\n.gitignore\na\nmods\nmine\n" | cmp - ../out &&
	test_shows "ignored    dist (1 file" git agent review --stat s &&
	host | cmp ../before -
'

test_that 'a refresh leaves alone what was removed' '
	repo fresh &&
	git agent start -qd -n s -- sleep 1000 &&
	git agent shell s -- sh -ec "rm -r dist && mkdir dist && echo mine >dist/mine" &&
	rm -r dist mods &&
	mkdir -p dist mods &&
	echo host >dist/host &&
	echo host >mods/host &&
	git agent refresh s &&
	test_prints mine git agent shell s -- ls dist &&
	test_prints host git agent shell s -- ls mods &&
	git agent shell s -- sh -ec "rm -r mods && test ! -e mods && mkdir mods" &&
	git agent stop -q s
'

test_that 'one of a submodule is removed, too' '
	repo lib &&
	repo ../super &&
	test_submodule ../lib lib &&
	git commit -qm lib &&
	mkdir lib/dist &&
	echo l >lib/dist/l &&
	git agent start -q -n s -- sh -ec "
		cat lib/dist/l
		rm -r lib/dist dist
		mkdir lib/dist
		echo mine >lib/dist/mine
		ls lib/dist" >../out 2>/dev/null &&
	printf "l\nmine\n" | cmp - ../out &&
	test_shows "ignored    dist (1 file" git -C lib agent review --stat s &&
	test "$(git -C lib agent show s | sed -n "s/^shared *//p")" = "" &&
	test "$(ls lib/dist)" = l
'

test_that 'a supervisor that is killed half way leaves none of it, or all' '
	repo half &&
	test_expect_code 137 env GIT_AGENT_FAULT=shared:noted:kill git-agent start -q -n s -- sh -c "
		rm -r dist" 2>/dev/null &&
	git agent resume -q s -- sh -ec "ls -A dist && rmdir dist && ls" >../out 2>/dev/null &&
	printf "a\nmods\nsub\n" | cmp - ../out
'

# attack: as a program inside, with some functions
attack() {
	{
		cat <<-\END
		import ctypes, errno, os, subprocess, sys, threading
		libc = ctypes.CDLL(None, use_errno=True)
		def fails(numbers, f, *args, **more):
		    try: f(*args, **more)
		    except OSError as e: assert e.errno in numbers, (errno.errorcode[e.errno], args)
		    else: raise AssertionError("done: %r" % (args,))
		def mounts():
		    return sorted(l.split()[4] for l in open("/proc/self/mountinfo"))
		before = mounts()
		END
		cat
	} >"attack.py" &&
	git agent start -q -- python3 -B attack.py
}

test_that PYTHON 'SB-25: no other mount is taken down' '
	repo hostile &&
	git init -q ../part &&
	git -C ../part commit -q --allow-empty -m p &&
	test_submodule ../part part &&
	git commit -qm part &&
	attack <<-\END
	busy = (errno.EBUSY, errno.EACCES, errno.EROFS, errno.EPERM, errno.ENOTEMPTY)
	subprocess.run(["find", ".git", "part", "-mindepth", "1", "-delete"], stderr=subprocess.DEVNULL)
	for path in before:
	    if path not in [os.path.abspath(p) for p in ("dist", "mods", "sub/cache")] and os.path.isdir(path):
	        fails(busy, os.rmdir, path)
	        fails(busy + (errno.EXDEV,), os.rename, path, "x")
	for path in (".git", "part", "part/.git", os.getcwd()):
	    fails((errno.EBUSY,), os.rmdir, path)
	assert mounts() == before
	END
'

test_that PYTHON 'SB-25: links, parents and other roots lead to nothing else' '
	cd hostile &&
	attack <<-\END
	for p in ("dist", "mods", "sub/cache"): subprocess.run(["find", p, "-mindepth", "1", "-delete"])
	os.symlink("dist", "link")
	os.symlink(".git", "git")
	fails((errno.ENOTDIR,), os.rmdir, "link")
	fails((errno.ENOTDIR,), os.rmdir, "link/")
	fails((errno.EINVAL,), os.rmdir, "dist/.")
	fails((errno.ENOTEMPTY,), os.rmdir, "dist/..")
	fails((errno.EBUSY,), os.rmdir, "/proc/self/cwd/dist")
	fails((errno.EBUSY, errno.EXDEV), os.rename, "sub", "other")
	fails((errno.EXDEV,), os.rename, "dist", "other")
	os.mkdir("new")
	fails((errno.EXDEV,), os.rename, "new", "dist")
	fails((errno.EFAULT,), lambda: (libc.rmdir(1), (_ for _ in ()).throw(OSError(ctypes.get_errno(), ""))))
	assert mounts() == before
	os.symlink("sub", "via")
	os.rmdir("via/cache")
	os.rmdir("dist", dir_fd=os.open(".", os.O_PATH))
	gone = [os.path.abspath(p) for p in ("dist", "sub/cache")]
	assert mounts() == [m for m in before if m not in gone]
	END
'

test_that PYTHON 'SB-25: whoever changes the path meanwhile removes only what it may' '
	cd hostile &&
	attack <<-\END
	subprocess.run(["find", "dist", "-mindepth", "1", "-delete"])
	path = ctypes.create_string_buffer(b"dist")
	over = False
	def change():
	    while not over:
	        path.value = b".git"
	        path.value = b"mods"
	        path.value = b"dist"
	t = threading.Thread(target=change)
	t.start()
	for i in range(3000):
	    libc.rmdir(path)
	over = True
	t.join()
	kept = [m for m in before if m != os.path.abspath("dist")]
	assert [m for m in mounts() if m != os.path.abspath("dist")] == kept
	assert os.listdir("mods") == ["pkg"]
	END
'

test_that PYTHON 'SB-25: nothing is lost that is written while it is removed' '
	cd hostile &&
	attack <<-\END
	subprocess.run(["find", "dist", "-mindepth", "1", "-delete"])
	made = []
	def make(d):
	    for i in range(100000):
	        try: os.close(os.open("f%d" % i, os.O_CREAT | os.O_EXCL, dir_fd=d))
	        except OSError as e:
	            if not os.path.exists("dist"): return
	            continue
	        made.append(i)
	        while made:
	            try: os.unlink("f%d" % made[0], dir_fd=d)
	            except FileNotFoundError: raise AssertionError("lost")
	            except PermissionError: continue  # it is being looked at, and nobody may write
	            made.pop()
	t = threading.Thread(target=make, args=(os.open("dist", os.O_RDONLY),))
	t.start()
	for i in range(100000):
	    try: os.rmdir("dist")
	    except OSError as e:
	        assert e.errno == errno.ENOTEMPTY, e
	        continue
	    break
	t.join()
	assert not made and not os.path.exists("dist")
	END
'

test_that PYTHON 'SB-25: a program that confined itself removes nothing with the rights of others' '
	cd hostile &&
	attack <<-\END
	subprocess.run(["find", "dist", "-mindepth", "1", "-delete"])
	class Prog(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("p", ctypes.c_void_p)]
	code = ctypes.create_string_buffer(b"\x06\0\0\0\0\0\xff\x7f")
	if not os.fork():
	    assert libc.prctl(22, 2, ctypes.byref(Prog(1, ctypes.addressof(code)))) == 0
	    fails((errno.EBUSY,), os.rmdir, "dist")
	    os._exit(0)
	assert os.wait()[1] == 0
	assert mounts() == before
	END
'

test_that PYTHON 'by a descriptor it is refused where each lies at the top' '
	cd r &&
	rm -r sub/cache &&
	git agent start -q -- python3 -c "
import os
os.system(\"find dist -mindepth 1 -delete\")
at = os.open(\".\", os.O_PATH)
try: os.rmdir(\"dist\", dir_fd=at)
except OSError as e: print(e.strerror)
os.rmdir(\"dist\")" >../out &&
	echo "Device or resource busy" | cmp - ../out
'

test_that 'without the service the kernel refuses it' '
	cd r &&
	git agent -c sandbox.rename=false start -q -- sh -c "
		find dist -mindepth 1 -delete
		rmdir dist 2>&1; test -d dist" >../out &&
	grep "Device or resource busy" ../out
'

test_done
