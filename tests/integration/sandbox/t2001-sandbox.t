#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what a sandbox shows, and what it keeps from an agent'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

# Not through git-agent: one of these failing must not skip the others.
test_lazy_prereq BWRAP 'bwrap --unshare-user --unshare-pid --ro-bind / / true'
test_have_prereq BWRAP || require_sandbox

stage=$TEST_BUILDDIR/git-agent-stage
sandbox=$TEST_BUILDDIR/tests/helpers/sandbox
nl='
'

# A user's home, an agents' home and the layers of a session, in the current directory.
world() {
	mkdir -p user/.local/bin user/.ssh aihome lower/.git session &&
	echo secret >user/.ssh/key &&
	test_script user/.local/bin/tool 'echo tool' &&
	echo base >lower/file &&
	mkdir lower/dir &&
	echo x >lower/dir/x
}

# sb PROJECT OPTION... -- COMMAND...
sb() {
	sb_project=$1
	shift
	mkdir -p "$sb_project" &&
	"$sandbox" "$stage" --dir "$PWD/session" --home "$PWD/user" --home-source "$PWD/aihome" \
		--lower "$PWD/lower" --project "$sb_project" --find sh "$@"
}

test_that 'a project below home is shown in the home, which is that of the agents' '
	mkdir b &&
	cd b &&
	world &&
	sb "$PWD/user/src/p" -- sh -c "
		cd \"$PWD/user/src/p\" && cat file && echo kept >\"$PWD/user/mine\" &&
		test ! -e \"$PWD/user/.ssh\" && ls -A \"$PWD/user\"" >out &&
	test_prints "base\n.local\nmine\nsrc" cat out &&
	test "$(cat aihome/mine)" = kept &&
	test ! -e user/mine
'

test_that 'SB-23 RS-08: names with a space, comma, colon, backslash, newline, equals or leading dash work' '
	mkdir c &&
	cd c &&
	for name in "a b" "a,b" "a,upperdir=x" "a:b" "a\\b" "a${nl}b" "--bind" "=" "a\"b"; do
		mkdir -- "./$name" &&
		cd -- "./$name" &&
		world &&
		sb "$PWD/user/p" -- sh -c "cd \"\$1\" && echo new >file" sh "$PWD/user/p" &&
		test "$(cat session/upper/file)" = new &&
		test "$(cat lower/file)" = base &&
		sb "$PWD/q" -- sh -c "cd \"\$1\" && echo newer >file" sh "$PWD/q" &&
		test "$(cat session/upper/file)" = newer || return 1
		cd ..
	done
'

# ---- rights

test_that 'every namespace inside is another one' '
	mkdir r &&
	cd r &&
	world &&
	list="user mnt pid ipc uts cgroup net" &&
	sb "$PWD/p" --no-network -- sh -c "for n in $list; do readlink /proc/self/ns/\$n; done" >inside &&
	for n in $list; do readlink "/proc/self/ns/$n"; done >outside &&
	test "$(wc -l <inside)" = 7 &&
	! grep -F -x -f inside outside &&
	sb "$PWD/p" -- readlink /proc/self/ns/net >net &&
	grep -F -x -f net outside
'

test_that 'OV-21: an agent can make no namespaces and no mounts' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		! unshare -U true && ! unshare -m true && ! mount -t tmpfs x /tmp &&
		! umount /run/git-agent && ! umount -l /etc && ! mount -o remount,rw /usr &&
		! bwrap --ro-bind / / true && ! chroot / true" 2>/dev/null
'

test_that 'the system is read-only' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		for d in / /usr /etc /opt /dev /run/git-agent /proc/sys/kernel; do
			! touch \$d/x || return 1
		done
		! mv /run/git-agent /run/other &&
		! rm /run/git-agent/init &&
		! { echo x >/proc/sys/kernel/core_pattern; } &&
		! { echo b >/proc/sysrq-trigger; } &&
		touch /tmp/x /var/tmp/x /dev/shm/x /run/x" 2>/dev/null
'

# what is there depends on the machine; pressure only ever tells the one who asks
test_that 'SB-13: of /proc only own processes can be opened for writing' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		find /proc -mindepth 1 -maxdepth 5 \( -path \"/proc/[0-9]*\" -o -path /proc/self -o -path \
			/proc/thread-self -o -path /proc/pressure \) -prune -o -type f -print 2>/dev/null |
			while read -r f; do { : >>\"\$f\"; } 2>/dev/null && echo \"\$f\"; done
		echo over" >out &&
	test_prints over cat out
'

test_that 'no mount takes set-uid bits, and only the nodes of /dev take devices' '
	mkdir mnt &&
	cd mnt &&
	world &&
	mkdir -p lower/sh hostsh &&
	sb "$PWD/user/p" --shared sh="$PWD/hostsh" --ro "$PWD/lower" --object "$PWD/hostsh" -- \
		cat /proc/self/mountinfo >mountinfo &&
	test "$(wc -l <mountinfo)" -gt 20 &&
	grep " /dev/null rw,nosuid" mountinfo &&
	! grep -v " [r,a-z]*nosuid" mountinfo &&
	awk "{ print \$5, \$6 }" mountinfo | grep -v nodev | sort | cut -d" " -f1 >got &&
	printf "/dev/%s\n" full null pts random tty urandom zero >want &&
	test_cmp want got &&
	awk "\$5 ~ /^\/dev\/(full|null|pts|random|tty|urandom|zero)\$/ && \$6 !~ /noexec/" mountinfo >loose &&
	test ! -s loose
'

# of /var/tmp on the host, where the project may be
shown=
case $TRASH in /var/tmp/*) shown=${TRASH#/var/tmp/} ;; esac
shown=${shown%%/*}
# what is shown of /var/lib and of /sys, if the host has it
data=$(sed -n 's|^X("/var/lib/\([^"/]*\).*|\1|p' "$TEST_SRCDIR/src/sandbox/system-data.def" | paste -sd"|")
sys=$(for d in devices/system/cpu devices/system/node kernel/mm/transparent_hugepage; do
	test ! -d "/sys/$d" || printf '/sys\n/sys/%s\n/sys/%s\n' "${d%%/*}" "${d%/*}"
done | sort -u | xargs)
test_that 'nothing of the running host shows' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		test \"\$(find /sys -maxdepth 2 | sort | xargs)\" = \"$sys\" &&
		test -z \"\$(ls /var/lib | grep -vxE \"$data\")\" &&
		test ! -e /home &&
		test ! -e /root &&
		test ! -e /boot &&
		test ! -e /srv &&
		test ! -e /oldroot &&
		test ! -e /newroot &&
		test \"\$(ls /run)\" = git-agent &&
		test \"\$(ls /var/tmp)\" = \"$shown\" &&
		test ! -e \"$PWD/session\" &&
		test ! -e \"$PWD/lower\" &&
		test ! -e \"$PWD/aihome\" &&
		test \"\$(ls -d /proc/[0-9]* | wc -l)\" -le 4 &&
		test -z \"\$(cat /proc/keys)\" &&
		test ! -e /dev/kmsg &&
		test ! -e /dev/fuse &&
		test ! -e /dev/kvm"
'

# Whatever a row shows has to be fit for everybody to read, as root in a sandbox is not everybody.
test_that 'what is shown of the system as data has no socket, and nothing that others cannot read' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		! find /var/lib -type s | grep . &&
		! touch /var/lib/x /var/lib/*/x /sys/x /sys/*/x" 2>/dev/null &&
	dirs=$(sed -n "s|^X(.\(/var/[^\"]*\).*|\1|p" "$TEST_SRCDIR/src/sandbox/system-data.def") &&
	{ find $dirs -type f ! -perm -o=r ! -name "*lock*" ! -empty 2>/dev/null >private || true; } &&
	test ! -s private
'

# same PROGRAM COMMAND: where there is the program, the command prints inside what it does outside
same() {
	command -v "$1" >/dev/null || return 0
	sh -c "$2" >outside &&
	sb "$PWD/p" -- sh -c "$2" >inside &&
	test -s outside &&
	test_cmp outside inside
}
test_that 'programs find the data of the system: packages, dictionaries, processors' '
	cd r &&
	same nproc "nproc --all" &&
	same lscpu "lscpu -p" &&
	same node "node -p \"os.cpus().length\"" &&
	same dpkg "dpkg -S bin/sh bin/sed; dpkg -l dpkg" &&
	same apt-cache "apt-cache policy dpkg" &&
	same rpm "rpm -qa | sort | head; echo" &&
	same aspell "echo helo | aspell -a -l en" &&
	same gem "gem list --local" &&
	same php "php -m" &&
	same kpsewhich "kpsewhich article.cls; echo" &&
	same java "java -XshowSettings:vm -version 2>&1 | grep -i process; echo"
'

test_that 'a command has the umask of the caller' '
	cd r &&
	umask 027 &&
	sb "$PWD/p" -- sh -c umask >out &&
	grep "^0027$" out
'

test_that 'GT-04: object directories are read-only, with their alternates masked and lfs beside them' '
	cd r &&
	mkdir -p repo/objects/info repo/lfs/objects &&
	echo blob >repo/objects/b &&
	echo l >repo/lfs/objects/l &&
	echo /elsewhere/objects >repo/objects/info/alternates &&
	sb "$PWD/p" --object "$PWD/repo/objects" -- sh -c "
		cd /run/git-agent/odb/* && cat objects/b lfs/objects/l objects/info/alternates &&
		! touch objects/x && ! touch objects/b && ! touch lfs/x" >out 2>/dev/null &&
	test_prints "blob\nl" cat out
'

test_that 'a directory above a mount point that an agent closed is opened, and nothing else' '
	mkdir closed &&
	cd closed &&
	world &&
	mkdir -p aihome/src/own victim &&
	chmod 000 victim &&
	sb "$PWD/user/src/p" -- sh -c "
		cd \"$PWD/user\" &&
		chmod 000 src/own .local src" &&
	test "$(stat -c %a aihome/src)" = 0 &&
	sb "$PWD/user/src/p" -- sh -c "
		cd \"$PWD/user/src/p\" &&
		ls ../../.local/bin >/dev/null &&
		echo x >x" &&
	test -e session/upper/x &&
	test "$(stat -c %a aihome/src aihome/.local aihome/src/own | tr "\n" " ")" = "700 700 0 " &&
	chmod 711 aihome/src &&
	sb "$PWD/user/src/p" -- true &&
	test "$(stat -c %a aihome/src)" = 711 &&
	mv aihome/.local aihome/away &&
	ln -s "$PWD/victim" aihome/.local &&
	test_must_fail sb "$PWD/user/src/p" -- true &&
	test "$(stat -c %a victim)" = 0
'

test_that 'a project can be in a directory that is shown' '
	mkdir shown &&
	cd shown &&
	world &&
	mkdir -p w/p &&
	echo w >w/f &&
	echo hidden >w/p/h &&
	sb "$PWD/w/p" --ro "$PWD/w" -- sh -c "
		cd \"$PWD/w/p\" &&
		cat ../f &&
		test ! -e h &&
		echo new >n &&
		! touch ../x" >out 2>/dev/null &&
	test_prints w cat out &&
	test -e session/upper/n
'

test_done
