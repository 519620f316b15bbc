#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016 # what runs inside is quoted for inside
test_description='what a sandbox shows, and what it keeps from an agent'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

# Not through git-agent: one of these failing must not skip the others.
test_lazy_prereq BWRAP 'bwrap --unshare-user --unshare-pid --ro-bind / / true'
test_have_prereq BWRAP || require_sandbox

stage=$TEST_BUILDDIR/git-agent-stage
sandbox=$TEST_BUILDDIR/tests/helpers/sandbox
mkplan=$TEST_BUILDDIR/tests/helpers/mkplan
nl='
'

# A user's home, an agents' home and the layers of a session, in the current directory.
world() {
	mkdir -p user/.local/bin user/.ssh aihome lower/.git session &&
	echo secret >user/.ssh/key &&
	printf '#!/bin/sh\necho tool\n' >user/.local/bin/tool &&
	chmod +x user/.local/bin/tool &&
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

test_expect_success 'the project is an overlay: writes go to the upper layer only' '
	mkdir a &&
	cd a &&
	world &&
	sb "$PWD/p" -- sh -c "
		cd \"$PWD/p\" && test \"\$(cat file)\" = base &&
		echo new >file && rm dir/x && mkdir n && echo git >.git/HEAD" &&
	test "$(cat lower/file)" = base &&
	test -f lower/dir/x &&
	test "$(cat session/upper/file)" = new &&
	test -c session/upper/dir/x &&
	test "$(cat session/git/HEAD)" = git &&
	test ! -e session/upper/.git/HEAD &&
	test -z "$(ls -A session/stage)"
'

test_expect_success 'a project below home shows in the home, and home is the agents'\'' own' '
	mkdir b &&
	cd b &&
	world &&
	sb "$PWD/user/src/p" -- sh -c "
		cd \"$PWD/user/src/p\" && cat file && echo kept >\"$PWD/user/mine\" &&
		test ! -e \"$PWD/user/.ssh\" && ls -A \"$PWD/user\"" >out &&
	printf "base\n.local\nmine\nsrc\n" >want &&
	test_cmp want out &&
	test "$(cat aihome/mine)" = kept &&
	test ! -e user/mine
'

test_expect_success 'mount points in the agents'\'' home are marked and serve again' '
	cd b &&
	test -f aihome/src/p/.git-agent-mount-point &&
	test "$(stat -c %a aihome/src/p)" = 555 &&
	test "$(stat -c %a aihome/src)" = 755 &&
	sb "$PWD/user/src/p" -- sh -c "test ! -e \"$PWD/user/src/p/.git-agent-mount-point\""
'

test_expect_success 'tools are there, read-only' '
	cd b &&
	sb "$PWD/p" -- sh -c "
		test \"\$(\"$PWD/user/.local/bin/tool\")\" = tool &&
		! touch \"$PWD/user/.local/bin/x\" && ! rm -f \"$PWD/user/.local/bin/tool\"" &&
	test -f user/.local/bin/tool &&
	test ! -e user/.local/bin/x
'

test_expect_success 'SB-23 RS-08: any name: space, comma, colon, backslash, newline, equals, leading dash' '
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
		test "$(cat session/upper/file)" = newer || exit 1
		cd ..
	done
'

test_expect_success 'a project in /tmp' '
	mkdir tmp &&
	cd tmp &&
	world &&
	p=$(test_directory_in /tmp) &&
	test_when_finished "rmdir \"$p\"" &&
	sb "$p" -- sh -c "
		cd \"$p\" &&
		echo new >file &&
		test \"\$(ls /tmp)\" = \"$(basename "$p")\"" &&
	test "$(cat session/upper/file)" = new &&
	test -z "$(ls -A "$p")"
'

test_expect_success 'many layers' '
	mkdir many &&
	cd many &&
	world &&
	set -- &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		mkdir "l$i" &&
		echo $i >"l$i/f$i" &&
		set -- "$@" --lower "$PWD/l$i" || exit 1
	done &&
	sb "$PWD/p" "$@" -- sh -c "cd \"$PWD/p\" && cat f1 f20 file" >out &&
	printf "1\n20\nbase\n" >want &&
	test_cmp want out
'

test_expect_success 'a shared directory has an overlay of its own' '
	mkdir sh &&
	cd sh &&
	world &&
	mkdir -p p/node_modules lower/node_modules &&
	echo m >p/node_modules/m &&
	sb "$PWD/p" --shared "node_modules=$PWD/p/node_modules" -- sh -c "
		cd \"$PWD/p/node_modules\" && cat m && echo n >n && rm m" &&
	test -f p/node_modules/m &&
	test ! -e p/node_modules/n &&
	test -z "$(ls session/upper)" &&
	test -f session/shared0-*/upper/n
'

# ---- what an earlier session left in the agents' home -----------------------------

refused() {
	test_expect_code 125 sb "$@" -- true 2>err &&
	grep "^dest 40" err &&
	grep "symlink stands in the way" err
}

test_expect_success 'a symlink planted at a mount point or on the way to it is not followed' '
	mkdir s &&
	cd s &&
	world &&
	mkdir victim &&
	ln -s "$PWD/victim" aihome/.local &&
	refused "$PWD/user/src/p" &&
	rm aihome/.local &&
	mkdir aihome/.local &&
	ln -s "$PWD/victim" aihome/.local/bin &&
	refused "$PWD/user/src/p" &&
	rm -r aihome/.local &&
	mv aihome/src aihome/away &&
	ln -s "$PWD/victim" aihome/src &&
	refused "$PWD/user/src/p" &&
	rm aihome/src &&
	mkdir aihome/src &&
	ln -s ../../victim aihome/src/p &&
	refused "$PWD/user/src/p" &&
	rm aihome/src/p &&
	ln -s nowhere aihome/src/p &&
	refused "$PWD/user/src/p" &&
	rm aihome/src/p &&
	ln -s /proc/self/cwd aihome/src/p &&
	refused "$PWD/user/src/p" &&
	test -z "$(ls -A victim)" &&
	rm aihome/src/p &&
	sb "$PWD/user/src/p" -- true
'

test_expect_success 'a file in place of a mount point is named' '
	cd s &&
	chmod -R u+w aihome &&
	rm -rf aihome/src &&
	echo x >aihome/src &&
	test_expect_code 125 sb "$PWD/user/src/p" -- true 2>err &&
	grep "a file stands in the way of the mount point" err
'

test_expect_success 'a symlink planted in the project over a shared directory is not followed' '
	mkdir sp &&
	cd sp &&
	world &&
	mkdir -p p/a/target lower/a/target victim &&
	mkdir -p session/upper &&
	ln -s "$PWD/victim" session/upper/a &&
	test_expect_code 125 sb "$PWD/p" --shared "a/target=$PWD/p/a/target" -- true 2>err &&
	grep "^dest 40" err
'

# ---- rights ------------------------------------------------------------------------

test_expect_success 'no capability, no new privileges, a filter' '
	mkdir r &&
	cd r &&
	world &&
	sb "$PWD/p" -- cat /proc/self/status >out &&
	for set in CapInh CapPrm CapEff CapBnd CapAmb; do
		grep "^$set:.0000000000000000$" out || exit 1
	done &&
	grep "^NoNewPrivs:.1$" out &&
	grep "^Seccomp:.2$" out
'

test_expect_success 'every namespace is another one' '
	cd r &&
	list="user mnt pid ipc uts cgroup net" &&
	sb "$PWD/p" --no-network -- sh -c "for n in $list; do readlink /proc/self/ns/\$n; done" >inside &&
	for n in $list; do readlink "/proc/self/ns/$n"; done >outside &&
	test "$(wc -l <inside)" = 7 &&
	! grep -F -x -f inside outside &&
	sb "$PWD/p" -- readlink /proc/self/ns/net >net &&
	grep -F -x -f net outside
'

test_expect_success 'OV-21: no further namespaces, no mounts' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		! unshare -U true && ! unshare -m true && ! mount -t tmpfs x /tmp &&
		! umount /run/git-agent && ! umount -l /etc && ! mount -o remount,rw /usr &&
		! bwrap --ro-bind / / true && ! chroot / true" 2>/dev/null
'

test_expect_success 'the system is read-only' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		for d in / /usr /etc /opt /dev /run/git-agent /proc/sys/kernel; do
			! touch \$d/x || exit 1
		done
		! mv /run/git-agent /run/other &&
		! rm /run/git-agent/init &&
		! { echo x >/proc/sys/kernel/core_pattern; } &&
		! { echo b >/proc/sysrq-trigger; } &&
		touch /tmp/x /var/tmp/x /dev/shm/x /run/x" 2>/dev/null
'

# what is there depends on the machine; pressure only ever tells the one who asks
test_expect_success 'SB-13: of /proc, what is no process of its own cannot be opened for writing' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		find /proc -mindepth 1 -maxdepth 5 \( -path \"/proc/[0-9]*\" -o -path /proc/self -o -path /proc/thread-self -o -path /proc/pressure \) -prune -o -type f -print 2>/dev/null |
			while read -r f; do { : >>\"\$f\"; } 2>/dev/null && echo \"\$f\"; done
		echo over" >out &&
	echo over >want &&
	test_cmp want out
'

test_expect_success 'no mount takes set-uid bits, and none but the nodes of /dev takes devices' '
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

# of the host's /var/tmp, where the project may be
shown=
case $TRASH in /var/tmp/*) shown=$(basename "$TRASH") ;; esac
test_expect_success 'nothing of the running host shows' '
	cd r &&
	sb "$PWD/p" -- sh -c "
		test ! -e /sys &&
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

test_expect_success 'without network there is only lo' '
	cd r &&
	sb "$PWD/p" --no-network -- cat /proc/net/dev >out &&
	test "$(grep -c : out)" = 1 &&
	grep "lo:" out
'

test_expect_success 'descriptors and environment of the caller end at the stage' '
	cd r &&
	export SECRET_OF_HOST=hunter2 &&
	sb "$PWD/p" -- sh -c "ls /proc/self/fd; cat /proc/1/environ; env" 8</etc/passwd 9<. >out &&
	! grep hunter2 out &&
	! grep "^[4-9]$" out &&
	grep "^2$" out
'

test_expect_success 'the umask of the caller goes through' '
	cd r &&
	umask 027 &&
	sb "$PWD/p" -- sh -c umask >out &&
	grep "^0027$" out
'

test_expect_success 'the mount of the project says nothing about the host' '
	cd r &&
	sb "$PWD/p" -- cat /proc/self/mountinfo >out &&
	grep " - overlay " out >overlays &&
	test "$(wc -l <overlays)" = 1 &&
	! grep "session" overlays &&
	grep "nosuid,nodev" overlays &&
	grep "userxattr" overlays &&
	grep "redirect_dir=nofollow" overlays &&
	! grep "metacopy=on" overlays
'

test_expect_success 'GT-04: object directories: read-only, their alternates masked, lfs beside them' '
	cd r &&
	mkdir -p repo/objects/info repo/lfs/objects &&
	echo blob >repo/objects/b &&
	echo l >repo/lfs/objects/l &&
	echo /elsewhere/objects >repo/objects/info/alternates &&
	sb "$PWD/p" --object "$PWD/repo/objects" -- sh -c "
		cd /run/git-agent/odb/* && cat objects/b lfs/objects/l objects/info/alternates &&
		! touch objects/x && ! touch objects/b && ! touch lfs/x" >out 2>/dev/null &&
	printf "blob\nl\n" >want &&
	test_cmp want out
'

test_expect_success 'what an agent closed on the way to a mount point is opened, and nothing else' '
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

test_expect_success 'further directories read-only at their own place' '
	cd r &&
	mkdir -p data user/data &&
	echo d >data/d &&
	echo u >user/data/u &&
	sb "$PWD/p" --ro "$PWD/data" --ro "$PWD/user/data" -- sh -c "
		cat \"$PWD/data/d\" \"$PWD/user/data/u\" &&
		! touch \"$PWD/data/x\" \"$PWD/user/data/x\"" >out &&
	printf "d\nu\n" >want &&
	test_cmp want out
'

test_expect_success 'no mount inside is tied to one outside' '
	cd r &&
	sb "$PWD/p" -- cat /proc/self/mountinfo >out &&
	test -s out &&
	! grep -E "shared:|master:" out
'

test_expect_success 'a project in a directory that is shown' '
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
	echo w >want &&
	test_cmp want out &&
	test -e session/upper/n
'

test_expect_success ROOT 'as root: what others cannot read below /etc is masked' '
	cd r &&
	test -s /etc/shadow &&
	sb "$PWD/p" -- sh -c "
		test -z \"\$(cat /etc/shadow)\" &&
		test -s /etc/passwd &&
		! { echo x >/etc/shadow; } &&
		! find /etc -type f ! -perm -o+r | grep . &&
		! { echo x >/proc/sys/kernel/hostname; }" 2>/dev/null
'

# ---- the stage by itself ------------------------------------------------------------

# plan WORD...: run the stage on these words, between a right beginning and "true"
plan() {
	{ printf "%s\\0" git-agent-plan-5 "$PWD/st" && printf "%s\\0" "$@"; } |
		"$mkplan" "$stage" /usr/bin/env true 2>err
}

malformed() {
	test_expect_code 125 plan "$@" &&
	grep "^plan " err
}

test_expect_success 'a malformed plan is refused' '
	mkdir m &&
	cd m &&
	mkdir st src up wo &&
	S=$PWD/src U=$PWD/up W=$PWD/wo &&
	malformed mountpoint home/x &&
	malformed end more &&
	malformed "" end &&
	malformed explode home end &&
	malformed bind-rw "$S" home &&
	for dest in "" . .. / /home ../home home/../x home//x home/ home/. project/../../x etc homely; do
		malformed bind-rw "$S" "$dest" end &&
		malformed mountpoint "$dest" end &&
		malformed move home "$dest" end &&
		malformed move "$dest" home end &&
		malformed overlay "$dest" "$U" "$W" 1 "$S" end || exit 1
	done &&
	malformed bind-rw src home end &&
	malformed bind-ro "" home end &&
	malformed overlay project up "$W" 1 "$S" end &&
	malformed overlay project "$U" "$W" 0 end &&
	malformed overlay project "$U" "$W" 2 "$S" end &&
	malformed overlay project "$U" "$W" 129 "$S" end &&
	malformed overlay project "$U" "$W" -1 "$S" end &&
	malformed overlay project "$U" "$W" 1x "$S" end &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true </dev/null 2>err &&
	grep "^plan " err &&
	printf "git-agent-plan-6\\0/\\0sandbox\\0end\\0" >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true <p 2>err &&
	grep "^plan .* version" err &&
	printf "git-agent-plan-5\\0%s\\0end" "$PWD/st" >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true <p &&
	malformed tmpfs 777 home end &&
	malformed tmpfs 01777 home end &&
	malformed tmpfs 0888 home end &&
	malformed disown etc sandbox end &&
	malformed dir 0755 root/x disown /etc sandbox end &&
	malformed sandbox disown /etc end &&
		# shellcheck disable=SC2046 # meant to be split
	malformed $(printf "disown /etc %.0s" 1 2 3 4 5 6 7 8 9) sandbox end &&
	malformed symlink x home/y end &&
	malformed symlink x rooted/y end &&
	malformed dir home/x end &&
	malformed dir 0755 odb/x end &&
	malformed file root/x end &&
	malformed end &&
	malformed sandbox sandbox end &&
	for late in "mask-file root/etc/passwd" "read-only root/tmp" "tmpfs 0755 root/x" "symlink x root/x" \
		"bind-ro $S root/x" "bind-rw $S root" "device /dev/null root/x" "devpts root/x" "mountpoint root/x" \
		"overlay root/x $U $W 1 $S"; do
		# shellcheck disable=SC2086 # meant to be split
		malformed sandbox $late end || exit 1
	done &&
	{
		printf "git-agent-plan-5\\0%s\\0" "$PWD/st" &&
		tr "\\0" x </dev/zero | head -c 5000000
	} >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true <p 2>err &&
	grep "^plan 7" err &&
	test -z "$(ls -A st)" &&
	test -z "$(ls -A wo)"
'

test_expect_success 'a plan is carried out as it comes, and refused when it ends early' '
	cd m &&
	mkfifo slow &&
	test_when_finished "rm -f slow" &&
	{
		{
			"$mkplan" "$stage" /usr/bin/env true <slow 2>err
			echo "$?" >code
		} &
	} &&
	exec 9>slow &&
	printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-rw "$PWD/none" home >&9 &&
	wait &&
	exec 9>&- &&
	grep "^source 2 $PWD/none$" err &&
	test "$(cat code)" = 125 &&
	test_expect_code 125 plan bind-rw "$PWD/src" home &&
	grep "^plan 22 end$" err
'

test_expect_success 'below the root a place to mount on is made, and nowhere else' '
	cd m &&
	mkdir -p src/d &&
	echo f >src/f &&
	{
		printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-ro "$PWD/src/d" root/a/b/d bind-ro "$PWD/src/f" root/c/f \
			tmpfs 1777 root/t symlink ../somewhere root/a/l device /dev/null root/dev/null read-only root/t dir 0755 root/e/f dir 0750 root/e/f sandbox \
			dir 0700 root/e/g/h bind-ro "$PWD/src/f" odb/f move odb/f root/e/g/h/s end
	} >p &&
	"$mkplan" "$stage" /bin/sh -c "
		cd \"$PWD/st/root\" &&
		cat c/f &&
		test -d a/b/d &&
		test -d e/f &&
		readlink a/l &&
		echo x >dev/null &&
		test -c dev/null &&
		! { echo x >t/x; } &&
		stat -c %a t e/f &&
		until cat e/g/h/s 2>/dev/null; do sleep 0.1; done &&
		stat -c %a e/g e/g/h" <p >out 2>/dev/null &&
	printf "f\\n../somewhere\\n1777\\n755\\nf\\n755\\n700\\n" >want &&
	test_cmp want out &&
	mkdir hm &&
	printf old >hm/old &&
	{
		printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-rw "$PWD/hm" home dir 0700 home/a file home/a/s bind-ro "$PWD/src/f" home/a/s \
			file home/old bind-ro "$PWD/src/f" home/old sandbox end
	} >p &&
	"$mkplan" "$stage" /bin/sh -c "
		cd \"$PWD/st/home\" &&
		until cat a/s old; do sleep 0.1; done" <p >out &&
	printf "f\\nf\\n" >want &&
	test_cmp want out &&
	test "$(stat -c "%a %s" hm/a/s)" = "600 0" &&
	test "$(stat -c %a hm/a)" = 700 &&
	test "$(cat hm/old)" = old &&
	ln -s /etc hm/l &&
	test_expect_code 125 plan bind-rw "$PWD/hm" home dir 0700 home/l/x end &&
	grep "^dest 40 home/l/x" err &&
	test_expect_code 125 plan bind-rw "$PWD/hm" home file home/l/x end &&
	grep "^dest 40 home/l/x" err &&
	test_expect_code 125 plan bind-ro "$PWD/src/d" project/none end &&
	grep "^dest 2 project/none$" err &&
	ln -s /etc src/link &&
	test_when_finished "rm -f src/link" &&
	test_expect_code 125 plan bind-ro "$PWD/src" root/s tmpfs 0755 root/s/link/x end &&
	grep "^dest " err
'

test_expect_success 'what is attached after bwrap was started shows inside, and then the tie is cut' '
	cd m &&
	mkdir -p src/d says &&
	mkfifo slow &&
	test_when_finished "rm -f slow" &&
	{
		"$mkplan" "$stage" "$(command -v bwrap)" --unshare-user --unshare-pid --dev-bind "$PWD/st/root" / --proc /proc \
			/bin/sh -c "
		test ! -e /p &&
		echo >/says/up
		until test -e /p/f; do sleep 0.1; done
		cat /p/f >/says/seen
		while grep -q master: /proc/self/mountinfo; do sleep 0.1; done
		echo >/says/cut" <slow 2>err &
	} &&
	exec 9>slow &&
	printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-ro /usr root/usr symlink usr/bin root/bin \
		symlink usr/lib root/lib symlink usr/lib64 root/lib64 bind-rw "$PWD/says" root/says dir 0755 root/proc sandbox >&9 &&
	test_wait_for "test -e says/up" &&
	printf "%s\\0" bind-ro "$PWD/src" home move home root/p >&9 &&
	test_wait_for "test -s says/seen" &&
	test ! -e says/cut &&
	printf "end\\0" >&9 &&
	exec 9>&- &&
	wait &&
	test -e says/cut
'

test_expect_success 'each step that fails is named with errno and object' '
	cd m &&
	test_expect_code 125 plan bind-rw "$PWD/none" home end &&
	grep "^source 2 $PWD/none$" err &&
	test_expect_code 125 plan bind-rw "$PWD/src" home/x end &&
	grep "^dest 2 home/x$" err &&
	echo f >file &&
	test_expect_code 125 plan bind-rw "$PWD/file" home end &&
	grep "^bind [0-9]* home$" err &&
	test_expect_code 125 plan overlay project "$PWD/up" "$PWD/none" 1 "$PWD/src" end &&
	grep "^source 2 " err &&
	test_expect_code 125 plan overlay project "$PWD/up" "$PWD/up" 1 "$PWD/src" end &&
	grep "^overlay 22 $PWD/up$" err &&
	printf "git-agent-plan-5\\0%s\\0sandbox\\0end\\0" "$PWD/none" >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env <p 2>err &&
	grep "^tmpfs 2 $PWD/none$" err &&
	printf "git-agent-plan-5\\0%s\\0sandbox\\0end\\0" "$PWD/st" >p &&
	test_expect_code 125 "$mkplan" "$stage" /none/bwrap <p 2>err &&
	grep "^exec 2 /none/bwrap$" err
'

test_expect_success 'masks cover files and directories, and skip what is not there' '
	cd m &&
	mkdir -p src/secret &&
	echo s >src/secret/f &&
	echo s >src/file &&
	ln -s file src/link &&
	test_when_finished "rm -f src/link" &&
	{
		printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-rw "$PWD/src" home mask-file home/file \
			mask-dir home/secret mask-file home/none mask-dir home/none/x sandbox end
	} >p &&
	"$mkplan" "$stage" /bin/sh -c "
		cat \"$PWD/st/home/file\"
		ls -A \"$PWD/st/home/secret\"
		! echo x >\"$PWD/st/home/file\"" <p >out 2>/dev/null &&
	test ! -s out &&
	test -s src/file &&
	test_expect_code 125 plan bind-rw "$PWD/src" home mask-file home/link end &&
	grep "^dest 40 home/link$" err
'

test_expect_success STRACE 'a file that is replaced while it is masked is masked as it is then, and one that always is fails the start' '
	cd m &&
	mkdir -p moving &&
	echo s >moving/file &&
	{
		printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-rw "$PWD/moving" home mask-file home/file sandbox end
	} >p &&
	tries() {
		rc=0 &&
		strace -f -qq -o trace -e trace=move_mount -e inject=move_mount:error=ENOENT:when="$1" "$mkplan" "$stage" /bin/cat "$PWD/st/home/file" <p >out 2>err ||
			rc=$?
	} &&
	tries 1000 &&
	test $rc = 0 &&
	test ! -s out &&
	n=$(grep -c move_mount trace) &&
	tries $n &&
	test $rc = 0 &&
	test ! -s out &&
	test "$(grep -c move_mount trace)" = $((n + 1)) &&
	tries $n+ &&
	test $rc = 125 &&
	grep "^bind 2 home/file$" err
'

test_expect_success 'hide covers files of a directory, and stays when the host replaces them' '
	cd m &&
	mkdir -p hid/sub &&
	echo s >hid/file &&
	echo s >hid/other &&
	echo o >hid/sub/open &&
	{
		printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-ro "$PWD/hid" home hide home 2 file other hide home/none 1 x sandbox end
	} >p &&
	"$mkplan" "$stage" /bin/sh -c "
		cd \"$PWD/st/home\"
		cat file other
		echo t >\"$PWD/hid/new\"
		mv \"$PWD/hid/new\" \"$PWD/hid/file\"
		rm \"$PWD/hid/other\"
		echo t >\"$PWD/hid/other\"
		cat file other sub/open
		! echo x 2>/dev/null >file" <p >out &&
	echo o >want &&
	test_cmp want out &&
	echo t >want &&
	test_cmp want hid/file &&
	for bad in "home 1 ../x" "home 1 a/b" "home 0" "home 200 a" "project 1 a" "home 1 .."; do
		test_expect_code 125 plan hide $bad end &&
		grep "^plan " err || return 1
	done
'

test_lazy_prereq USERNS 'unshare -Urm true'
test_expect_success USERNS 'where an overlay cannot lie over a directory each file is covered, which is said; any other failure is one' '
	cd m &&
	mkdir -p over/sub &&
	echo s >over/file &&
	echo o >over/open &&
	{
		printf "%s\\0" git-agent-plan-5 "$PWD/st" bind-ro "$PWD/over" home hide home 2 file none sandbox end
	} >p &&
	unshare -Urm sh -c "
		mount -t tmpfs none over/sub &&
		exec \"$mkplan\" \"$stage\" /bin/sh -c \"
			cd \\\"\$PWD/st/home\\\" &&
			cat file open\"" <p >out 2>err &&
	echo o >want &&
	test_cmp want out &&
	grep -x "loose 22 home" err &&
	"$mkplan" "$stage" /bin/sh -c "cat \"$PWD/st/home/file\"" <p >out 2>err &&
	test ! -s out &&
	test ! -s err &&
	for e in EPERM ENOSPC EACCES; do
		test_expect_code 125 "$TEST_BUILDDIR/tests/helpers/deny" "mount:NODEV=$e" -- "$mkplan" "$stage" /bin/sh -c "echo ran" <p >out 2>err &&
		grep "^hide [0-9]* home\$" err &&
		test ! -s out ||
			return 1
	done
'

test_expect_success 'only the descriptors named are kept, and the environment is empty' '
	cd m &&
	printf "%s\\0" git-agent-plan-5 "$PWD/st" sandbox end >p &&
	MKPLAN_KEEP="8 6" "$mkplan" "$stage" /bin/sh -c "ls /proc/self/fd; env" \
		<p 5</dev/null 6</dev/null 7</dev/null 8</dev/null >out &&
	grep -v "^PWD=" out | tr "\n" " " >got &&
	echo "0 1 2 3 6 8 " | tr -d "\n" >want &&
	test_cmp want got
'

test_expect_success 'words that make no sense are answered with the usage' '
	cd m &&
	for args in "" "--plan 3 -- /bin/true" "--status 3 -- /bin/true" "--plan 3 --status 4 --" \
		"--plan 3 --status 4 -- true" "--plan 3 --plan 3 --status 4 -- /bin/true" \
		"--plan x --status 4 -- /bin/true" "--plan 1 --status 4 -- /bin/true" \
		"--plan 3 --status 4 --keep 2 -- /bin/true"; do
		# shellcheck disable=SC2086 # meant to be split
		test_expect_code 125 "$stage" $args 2>err &&
		grep "^usage: git-agent-stage" err ||
			exit 1
	done
'

test_done
