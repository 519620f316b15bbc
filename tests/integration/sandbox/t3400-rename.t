#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Directories of the layer below are renamed inside as anywhere else, by every kind of program.
test_description='renaming directories inside'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_lazy_prereq PYTHON 'command -v python3'
test_lazy_prereq STATIC 'echo "int main(void) { return 0; }" | ${CC:-cc} -static -x c -o static - && ./static'

mkdir -p repo/d/sub/deep repo/e repo/x repo/full &&
cd repo &&
git init -q . &&
for i in 1 2 3; do
	echo "$i" >"d/f$i" &&
	echo "$i" >"d/sub/g$i" || exit 1
done &&
echo deep >d/sub/deep/h &&
ln -s f1 d/link &&
echo 1 >e/1 &&
echo x >x/x &&
echo full >full/f &&
chmod +x d/f2 &&
printf 'lib\n' >.gitignore &&
mkdir -p lib/pkg/bin &&
echo pkg >lib/pkg/bin/run &&
ln lib/pkg/bin/run lib/pkg/again &&
test_commit base &&
cd ..
test_aihome

# inside CMD...: a session of its own
inside() {
	(cd repo && git agent start -q -- "$@")
}

# python NAME: what is on standard input as a program inside, with some functions
python() {
	{
		cat <<-\END
		import ctypes, errno, os, stat, sys, threading, time
		libc = ctypes.CDLL(None, use_errno=True)
		NOREPLACE, EXCHANGE = 1, 2
		def renameat2(a, b, flags, at=(-100, -100)):
		    if libc.renameat2(at[0], os.fsencode(a), at[1], os.fsencode(b), flags):
		        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), a)
		def fails(number, f, *args):
		    try: f(*args)
		    except OSError as e: assert e.errno == number, (errno.errorcode[e.errno], args)
		    else: raise AssertionError("done: %r" % (args,))
		def tree(top):
		    found = {}
		    for d, dirs, files in os.walk(top):
		        for n in dirs + files:
		            p = os.path.join(d, n)
		            s = os.lstat(p)
		            size = 0 if stat.S_ISDIR(s.st_mode) else s.st_size
		            found[os.path.relpath(p, top)] = (s.st_mode, size, s.st_mtime_ns)
		    s = os.lstat(top)
		    found["."] = (s.st_mode, 0, s.st_mtime_ns)
		    return found
		def moving():
		    return [n for d, dirs, files in os.walk(".") for n in dirs + files if "git-agent-moving" in n]
		END
		cat
	} >"$HOME/aihome/$1.py"
	inside python3 "$HOME/$1.py"
}

test_that 'directories that git mv and mv rename are captured as renames' '
	inside sh -c "git mv d moved && git mv e x/e && mv -T x y && git commit -qm moved" &&
	git -C repo log --format=%s agent/sh-1 | grep -x moved &&
	git -C repo diff-tree -r -M --name-status main agent/sh-1 >out &&
	test "$(grep -c ^R100 out)" = "$(wc -l <out)" &&
	grep "d/sub/deep/h.moved/sub/deep/h" out &&
	grep "e/1.y/e/1" out &&
	test "$(git -C repo rev-parse "main:d")" = "$(git -C repo rev-parse "agent/sh-1:moved")"
'

test_that PYTHON 'a renamed directory keeps its modes, times, links and attributes' '
	python whole <<-\END
	os.chmod("d/sub", 0o2750)
	os.setxattr("d/sub", "user.mine", b"1")
	os.setxattr("d/f1", "user.file", b"2")
	os.utime("d/sub/deep", ns=(1234567890123456789, 1234567890987654321))
	os.link("d/f3", "d/sub/hard")
	os.mkfifo("d/fifo")
	names = sorted(os.listdir("."))
	before = tree("d")
	os.rename("d", "new")
	assert tree("new") == before, (before, tree("new"))
	assert not os.path.lexists("d") and not moving()
	assert os.getxattr("new/sub", "user.mine") == b"1" and os.getxattr("new/f1", "user.file") == b"2"
	assert os.path.samestat(os.stat("new/f3"), os.stat("new/sub/hard")) or os.stat("new/f3").st_nlink == 2
	open("new/f3", "a").write("more")
	assert open("new/sub/hard").read() == "3\nmore" and os.readlink("new/link") == "f1"
	# names of one file below stay names of one file
	os.rename("lib/pkg", "lib/.pkg-1")
	open("lib/.pkg-1/again", "a").write("more")
	assert open("lib/.pkg-1/bin/run").read() == "pkg\nmore"
	# there and back: neither what was below nor a whiteout shows
	before = tree("new")
	os.rename("new", "d")
	assert tree("d") == before and sorted(os.listdir(".")) == names
	END
'

test_that PYTHON 'rename(2) and renameat2(2) succeed and fail as on any file system' '
	python rules <<-\END
	os.mkdir("empty")
	os.rename("d", "empty")
	assert os.path.isfile("empty/sub/deep/h")
	fails(errno.ENOTEMPTY, os.rename, "e", "empty")
	fails(errno.ENOTEMPTY, os.rename, "e", "full")
	fails(errno.ENOTDIR, os.rename, "e", "full/f")
	fails(errno.EISDIR, os.rename, "full/f", "e")
	fails(errno.EINVAL, os.rename, "e", "e/in")
	fails(errno.ENOENT, os.rename, "none", "e2")
	fails(errno.ENOENT, os.rename, "e", "none/e")
	fails(errno.EBUSY, os.rename, ".", "e2")
	fails(errno.EEXIST, renameat2, "e", "full", NOREPLACE)
	fails(errno.EINVAL, renameat2, "e", "e2", NOREPLACE | EXCHANGE)
	fails(errno.ENAMETOOLONG, os.rename, "e", "n" * 256)
	fails(errno.EXDEV, os.rename, "e", "/tmp/e")
	fails(errno.EXDEV, os.rename, "e", "lib/e")
	os.rename("e", "e")
	assert os.listdir("e") == ["1"]
	renameat2("e", "e2", NOREPLACE)
	at = os.open("empty", os.O_PATH), os.open("full", os.O_RDONLY)
	renameat2("sub", "sub", 0, at)
	assert os.path.isfile("full/sub/deep/h") and not os.path.exists("empty/sub")
	os.rename("full//sub/", "full/./trailing///")
	os.symlink("full", "s")
	os.rename("s/trailing", "s/../x/through")
	assert os.path.isfile("x/through/deep/h")
	# a limit: no directory from below is exchanged
	fails(errno.EXDEV, renameat2, "x", "full/f", EXCHANGE)
	assert open("full/f").read() == "full\n"
	fails(errno.ENOENT, renameat2, "full", "none", EXCHANGE)
	assert not moving()
	END
'

test_that PYTHON 'open files follow a renamed directory, and none created meanwhile are lost' '
	python opened <<-\END
	f = open("d/sub/g1", "a")
	r = open("d/f1")
	cwd = os.open("d/sub", os.O_RDONLY)
	stop = False
	def busy():
	    n = 0
	    while not stop:
	        for i in range(20):
	            try: open("many/late%d" % n, "x").close(); made.append("late%d" % n)
	            except FileNotFoundError: pass
	            n += 1
	made = []
	os.rename("d", "many")
	f.write("late\n"); f.close()
	assert open("many/sub/g1").read() == "1\nlate\n" and r.read() == "1\n"
	os.mkdir("many/e"); os.rename("many", "d")
	os.mkdir("many")
	t = threading.Thread(target=busy); t.start()
	while len(made) < 100: time.sleep(0)
	os.rename("many", "gone"); stop = True; t.join()
	assert set(made) == set(os.listdir("gone")) | (set(os.listdir("many")) if os.path.exists("many") else set())
	END
'

test_that PYTHON 'a rename needs permissions of the two parents, not of what is below' '
	python rights <<-\END
	os.chmod("d/sub/deep", 0o000)
	os.chmod("d/sub", 0o500)
	os.rename("d", "closed")
	assert stat.S_IMODE(os.stat("closed/sub").st_mode) == 0o500
	assert stat.S_IMODE(os.stat("closed/sub/deep").st_mode) == 0
	os.chmod("closed/sub/deep", 0o700)
	assert os.listdir("closed/sub/deep") == ["h"]
	os.chmod("full", 0o500)
	fails(errno.EACCES, os.rename, "e", "full/e")
	os.chmod("full", 0o700)
	os.chmod("x", 0o500)
	os.mkdir("x2")
	fails(errno.EACCES, os.rename, "x", "x2/x")
	os.rename("x", "x3")
	assert stat.S_IMODE(os.stat("x3").st_mode) == 0o500
	END
'

test_that PYTHON 'a directory with a mount point in it is not renamed' '
	mkdir -p repo/full/lib &&
	echo 1 >repo/full/lib/1 &&
	test_when_finished "rm -r repo/full/lib" &&
	python mounts <<-\END
	assert os.stat("full/lib").st_dev != os.stat("full").st_dev
	before = tree("full")
	fails(errno.EBUSY, os.rename, "full", "full2")
	assert tree("full") == before and not moving() and not os.path.exists("full2")
	END
'

test_that PYTHON 'a rename that fails half way leaves everything as it was' '
	python failing <<-\END
	deep = "d"
	top = os.getcwd()
	os.chdir("d")
	for i in range(300):
	    os.mkdir("n"); os.chdir("n")
	open("f", "w").close()
	os.chdir(top)
	before = tree("d")
	fails(errno.EXDEV, os.rename, "d", "new")
	assert tree("d").keys() == before.keys() and not os.path.exists("new") and not moving()
	END
'

test_that PYTHON 'renames by many threads and processes at once succeed' '
	python many <<-\END
	for i in range(40):
	    os.makedirs("d/%d/a/b" % i); open("d/%d/a/b/f" % i, "w").write(str(i))
	os.rename("d", "m")
	errors = []
	def work(k):
	    try:
	        for n in range(20):
	            os.rename("m/%d" % k, "m/r%d" % k); os.rename("m/r%d" % k, "m/%d" % k)
	            open("t%d" % k, "w").close(); os.rename("t%d" % k, "u%d" % k); os.unlink("u%d" % k)
	    except OSError as e: errors.append(e)
	threads = [threading.Thread(target=work, args=(k,)) for k in range(40)]
	for t in threads: t.start()
	for t in threads: t.join()
	assert not errors, errors
	# one directory can go to one place only
	done = []
	for name in ("e", "full", "x"):
	    before = tree(name)
	    children = []
	    for k in range(8):
	        pid = os.fork()
	        if not pid:
	            try: os.rename(name, "%s-%d" % (name, k))
	            except OSError as e: os._exit(2 if e.errno == errno.ENOENT else 1)
	            os._exit(0)
	        children.append(pid)
	    ends = sorted(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in children)
	    assert ends == [0] + [2] * 7, ends
	    there = [n for n in os.listdir(".") if n.startswith(name + "-")]
	    assert len(there) == 1 and tree(there[0]) == before, there
	assert not moving()
	END
'

test_that PYTHON 'no rename hangs when helpers of process 1 are killed or stopped' '
	python killed <<-\END
	import signal
	for i in range(300):
	    open("d/big%d" % i, "w").write("x")
	n = 0
	# pid 1 cannot be killed; who moves for it can
	def hunt():
	    while not stop:
	        for p in os.listdir("/proc"):
	            if p.isdigit() and int(p) not in (1, os.getpid()):
	                try:
	                    if open("/proc/%s/comm" % p).read().startswith("init"): os.kill(int(p), sig)
	                except (OSError, ValueError): pass
	for sig in (signal.SIGSTOP, signal.SIGKILL):
	    stop = False
	    t = threading.Thread(target=hunt); t.start()
	    for k in range(10):
	        try: os.rename("d" if os.path.exists("d") else "d2", "d2" if os.path.exists("d") else "d")
	        except OSError as e: assert e.errno in (errno.EIO, errno.ENOTEMPTY), e; n += 1
	    stop = True; t.join()
	    assert n == 0 or sig == signal.SIGKILL
	open("t", "w").close(); os.rename("t", "t2")
	os.rename("e", "e2")
	END
'

test_that PYTHON 'paths of a rename are resolved as the caller sees them' '
	python paths <<-\END
	os.chdir("d")
	os.rename("sub", "../sub")
	os.chdir("..")
	assert os.path.isfile("sub/deep/h")
	# what is behind /proc/self is another for whoever looks
	fails(errno.EXDEV, os.rename, "/proc/self/cwd/full", "/proc/self/cwd/full2")
	assert os.listdir("full") == ["f"]
	END
'

test_that PYTHON 'a program with a seccomp filter of its own gets EXDEV, and no second listener' '
	python confined <<-\END
	class Prog(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("p", ctypes.c_void_p)]
	allow = (ctypes.c_uint64 * 1)(0x7fff0000 << 32 | 6)
	prog = Prog(1, ctypes.addressof(allow))
	assert libc.syscall(317, 1, 0, ctypes.byref(prog)) == 0
	fails(errno.EXDEV, os.rename, "d", "d2")
	assert libc.syscall(317, 1, 8, ctypes.byref(prog)) == -1 and ctypes.get_errno() == errno.EBUSY
	END
'

test_that STATIC 'a static program renames directories by each of the system calls' '
	cat >static.c <<-\END &&
	#define _GNU_SOURCE
	#include <fcntl.h>
	#include <stdio.h>
	#include <sys/syscall.h>
	#include <unistd.h>
	int main(void)
	{
	#ifdef SYS_rename
		if (syscall(SYS_rename, "d", "d1")) return perror("rename"), 1;
	#else
		if (syscall(SYS_renameat2, AT_FDCWD, "d", AT_FDCWD, "d1", 0)) return 1;
	#endif
	#ifdef SYS_renameat
		if (syscall(SYS_renameat, AT_FDCWD, "e", AT_FDCWD, "e1")) return perror("renameat"), 1;
	#endif
		if (syscall(SYS_renameat2, AT_FDCWD, "x", AT_FDCWD, "x1", 1)) return perror("renameat2"), 1;
		return 0;
	}
	END
	${CC:-cc} -static -o "$HOME/aihome/static" static.c &&
	(cd repo && git agent start -q --name static -- sh -c "\$HOME/static") &&
	test "$(git -C repo rev-parse main:d)" = "$(git -C repo rev-parse agent/static:d1)"
'

test_that 'a directory with the name that a killed rename leaves is a leftover' '
	cd repo &&
	test_session half "
		mkdir x/.git-agent-moving-1 &&
		cp -r d x/.git-agent-moving-1 &&
		echo 1 >x/1" &&
	test_prints x/1 git diff-tree -r --name-only main agent/half &&
	git agent review --json half | grep "x/.git-agent-moving-1" &&
	git agent show half | grep "note: x/.git-agent-moving-1: has the name of what is left"
'

test_that 'a directory of that name that the agent committed is taken, with the work on it after that' '
	cd repo &&
	test_session named "
		mkdir .git-agent-moving-2 &&
		echo c >.git-agent-moving-2/c &&
		git add -A &&
		git commit -qm c &&
		echo d >.git-agent-moving-2/c" &&
	test_prints .git-agent-moving-2/c git diff-tree -r --name-only main refs/agent/named/held &&
	test_prints d git show refs/agent/named/held:.git-agent-moving-2/c
'

test_that PYTHON 'a session inside another seccomp listener says that it cannot rename directories' '
	cat >outer.py <<-\END &&
	import ctypes, os, sys
	libc = ctypes.CDLL(None, use_errno=True)
	class Prog(ctypes.Structure): _fields_ = [("n", ctypes.c_ushort), ("p", ctypes.c_void_p)]
	allow = (ctypes.c_uint64 * 1)(0x7fff0000 << 32 | 6)
	prog = Prog(1, ctypes.addressof(allow))
	assert libc.prctl(38, 1, 0, 0, 0) == 0
	fd = libc.syscall(317, 1, 8, ctypes.byref(prog))
	assert fd >= 0
	os.set_inheritable(fd, True)
	os.execvp(sys.argv[1], sys.argv[1:])
	END
	cd repo &&
	python3 ../outer.py git agent start -q --name outer -- sh -c "
		mv d d2
		git mv e e2
		echo 1 >new" 2>../err &&
	git cat-file -e agent/outer:d2/f1 &&
	git cat-file -e agent/outer:e/1 &&
	test_shows "renaming directories inside" git agent show outer
'

test_that PYTHON 'with sandbox.rename: false a rename gets EXDEV' '
	echo "import os; os.rename(\"d\", \"d2\")" >"$HOME/aihome/off.py" &&
	cd repo &&
	test_says "Invalid cross-device" \
		test_must_fail git agent -c sandbox.rename=false start -q -- python3 "$HOME/off.py"
'

test_done
