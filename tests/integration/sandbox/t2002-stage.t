#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the stage by itself: the plans that it carries out, and those that it refuses'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

test_lazy_prereq BWRAP 'bwrap --unshare-user --unshare-pid --ro-bind / / true'
test_have_prereq BWRAP || require_sandbox

stage=$TEST_BUILDDIR/git-agent-stage
mkplan=$TEST_BUILDDIR/tests/helpers/mkplan

# plan WORD...: run the stage on these words, between a right beginning and "true"
plan() {
	{ printf "%s\\0" git-agent-plan-6 "$PWD/st" && printf "%s\\0" "$@"; } |
		"$mkplan" "$stage" /usr/bin/env true 2>err
}

malformed() {
	test_expect_code 125 plan "$@" &&
	grep "^plan " err
}

test_that 'a malformed plan is refused' '
	mkdir m &&
	cd m &&
	mkdir st src up wo &&
	S=$PWD/src U=$PWD/up W=$PWD/wo &&
	for words in "mountpoint home/x" "end more" "explode home end" "bind-rw $S home" "bind-rw src home end" \
		"overlay project up $W 1 $S end" "overlay project $U $W 0 end" "overlay project $U $W 2 $S end" \
		"overlay project $U $W 129 $S end" "overlay project $U $W 1x $S end" "tmpfs 777 home end" \
		"tmpfs 01777 home end" "tmpfs 0888 home end" "disown etc sandbox end" "sandbox disown /etc end" \
		"dir 0755 root/x disown /etc sandbox end" "$(printf "disown /etc %.0s" 1 2 3 4 5 6 7 8 9) sandbox end" \
		"symlink x home/y end" "symlink x rooted/y end" "dir home/x end" "dir 0755 odb/x end" end \
		"file root/x end" "sandbox sandbox end" "text root/x 0 end" "text home/x 0 end" "text odb 0 end" \
		"text odb/x x end" "text odb/x 9 end"; do
		malformed $words || return 1
	done &&
	malformed "" end &&
	malformed bind-ro "" home end &&
	for dest in "" . .. / /home ../home home/../x home//x home/ project/../../x etc homely; do
		malformed bind-rw "$S" "$dest" end &&
		malformed move "$dest" home end &&
		malformed overlay "$dest" "$U" "$W" 1 "$S" end || return 1
	done &&
	for late in "mask-file root/etc/passwd" "read-only root/tmp" "tmpfs 0755 root/x" "symlink x root/x" \
		"bind-ro $S root/x" "bind-rw $S root" "device /dev/null root/x" "devpts root/x" "mountpoint root/x" \
		"overlay root/x $U $W 1 $S"; do
		malformed sandbox $late end || return 1
	done &&
	test -z "$(ls -A st)" &&
	test -z "$(ls -A wo)"
'
cd m || exit 1

test_that 'an empty plan is refused, one that is cut off, too long or of another version' '
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true </dev/null 2>err &&
	grep "^plan " err &&
	printf "git-agent-plan-0\\0/\\0sandbox\\0end\\0" >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true <p 2>err &&
	grep "^plan .* version" err &&
	printf "git-agent-plan-6\\0%s\\0end" "$PWD/st" >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true <p &&
	{
		printf "git-agent-plan-6\\0%s\\0" "$PWD/st" &&
		tr "\\0" x </dev/zero | head -c 5000000
	} >p &&
	test_expect_code 125 "$mkplan" "$stage" /usr/bin/env true <p 2>err &&
	grep "^plan 7" err
'

test_that 'a file of the plan has the bytes that come after their number' '
	{
		printf "%s\\0" git-agent-plan-6 "$PWD/st" tmpfs 0755 odb text odb/a/b 4 &&
		printf "x\\0y\\n" &&
		printf "%s\\0" text odb/empty 0 read-only odb sandbox end
	} >p &&
	"$mkplan" "$stage" /bin/sh -c "cd \"$PWD/st/odb\" && cat a/b empty && ! echo x >a/b" <p >out 2>err &&
	printf "x\\0y\\n" >want &&
	cmp want out
'

test_that 'a plan is carried out as it comes, and refused when it ends early' '
	mkfifo slow &&
	test_when_finished "rm -f slow" &&
	{
		{
			"$mkplan" "$stage" /usr/bin/env true <slow 2>err
			echo "$?" >code
		} &
	} &&
	exec 9>slow &&
	printf "%s\\0" git-agent-plan-6 "$PWD/st" bind-rw "$PWD/none" home >&9 &&
	wait &&
	exec 9>&- &&
	grep "^source 2 $PWD/none$" err &&
	test "$(cat code)" = 125 &&
	test_expect_code 125 plan bind-rw "$PWD/src" home &&
	grep "^plan 22 end$" err
'

test_that 'masks cover files and directories, and skip what does not exist' '
	mkdir -p src/secret &&
	echo s >src/secret/f &&
	echo s >src/file &&
	ln -s file src/link &&
	test_when_finished "rm -f src/link" &&
	{
		printf "%s\\0" git-agent-plan-6 "$PWD/st" bind-rw "$PWD/src" home mask-file home/file \
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

test_that STRACE 'a file that is replaced while it is masked is masked, or the start fails' '
	mkdir -p moving &&
	echo s >moving/file &&
	{
		printf "%s\\0" git-agent-plan-6 "$PWD/st" bind-rw "$PWD/moving" home mask-file home/file sandbox end
	} >p &&
	tries() {
		rc=0 &&
		strace -f -qq -o trace -e trace=move_mount -e inject=move_mount:error=ENOENT:when="$1" "$mkplan" \
			"$stage" /bin/cat "$PWD/st/home/file" <p >out 2>err ||
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

test_that 'hidden files stay hidden when the host replaces them' '
	mkdir -p hid/sub &&
	echo s >hid/file &&
	echo s >hid/other &&
	echo o >hid/sub/open &&
	{
		printf "%s\\0" git-agent-plan-6 "$PWD/st" bind-ro "$PWD/hid" home hide home 2 file other hide \
			home/none 1 x sandbox end
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
	test_prints o cat out &&
	test_prints t cat hid/file &&
	for bad in "home 1 ../x" "home 1 a/b" "home 0" "home 200 a" "project 1 a" "home 1 .."; do
		test_expect_code 125 plan hide $bad end &&
		grep "^plan " err || return 1
	done
'

test_that USERNS 'where no overlay can be mounted files are hidden one by one, with a message' '
	mkdir -p over/sub &&
	echo s >over/file &&
	echo o >over/open &&
	{
		printf "%s\\0" git-agent-plan-6 "$PWD/st" bind-ro "$PWD/over" home hide home 2 file none sandbox end
	} >p &&
	unshare -Urm sh -c "
		mount -t tmpfs none over/sub &&
		exec \"$mkplan\" \"$stage\" /bin/sh -c \"
			cd \\\"\$PWD/st/home\\\" &&
			cat file open\"" <p >out 2>err &&
	test_prints o cat out &&
	grep -x "loose 22 home" err &&
	"$mkplan" "$stage" /bin/sh -c "cat \"$PWD/st/home/file\"" <p >out 2>err &&
	test ! -s out &&
	test ! -s err &&
	for e in EPERM ENOSPC EACCES; do
		test_expect_code 125 "$TEST_BUILDDIR/tests/helpers/deny" "mount:NODEV=$e" -- "$mkplan" "$stage" \
			/bin/sh -c "echo ran" <p >out 2>err &&
		grep "^hide [0-9]* home\$" err &&
		test ! -s out ||
			return 1
	done
'

test_that 'a command has only the descriptors that are named, and no environment' '
	printf "%s\\0" git-agent-plan-6 "$PWD/st" sandbox end >p &&
	MKPLAN_KEEP="8 6" "$mkplan" "$stage" /bin/sh -c "ls /proc/self/fd; env" \
		<p 5</dev/null 6</dev/null 7</dev/null 8</dev/null >out &&
	grep -v "^PWD=" out | tr "\n" " " >got &&
	echo "0 1 2 3 6 8 " | tr -d "\n" >want &&
	test_cmp want got
'

test_that 'wrong arguments are answered with the usage' '
	for args in "" "--plan 3 -- /bin/true" "--status 3 -- /bin/true" "--plan 3 --status 4 --" \
		"--plan 3 --status 4 -- true" "--plan 3 --plan 3 --status 4 -- /bin/true" \
		"--plan x --status 4 -- /bin/true" "--plan 1 --status 4 -- /bin/true" \
		"--plan 3 --status 4 --keep 2 -- /bin/true"; do
		test_fails 125 "^usage: git-agent-stage" "$stage" $args ||
			return 1
	done
'

test_done
