#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='uncommitted work is in objects of its session alone, complete, and survives'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

begin() {
	rm -rf r &&
	test_enter r &&
	seq 9 >f &&
	echo g >g &&
	echo "*.ign" >.gitignore &&
	test_commit base
}
# none TEXT: no object of the repository has this text
none() {
	git cat-file --batch-all-objects --batch-check >../all &&
	! git cat-file --batch <../all 2>/dev/null | grep -a "$1"
}
dir() {
	ls -dt "$HOME"/.local/state/git-agent/*/sessions/"$1" | head -n 1
}
# for agents: how many lines of objects have the text
look='git cat-file --batch-all-objects --batch-check=%\(objectname\) >/tmp/all
	git cat-file --batch </tmp/all >/tmp/text
	grep -ac [D]RAFT /tmp/text || :'

test_that 'uncommitted work is in no object of the repository, and no other session sees it' '
	begin &&
	sed -i s/5/DRAFT/ f &&
	echo DRAFT >u &&
	test_session one "
		$look
		echo DRA\FT2 >>u
		echo other >new
		git add -A
		git commit -qm c
		git switch -qc side
		echo DRA\FT4 >>f
		git commit -qam side
		echo DRA\FT5 >f
		git stash -q
		git switch -q -
		echo k >k" >../out &&
	grep -x 2 ../out &&
	none "DRAFT[245]*$" &&
	git agent start -q --name two --dirty ignore -- sh -c "$look; test ! -e u" >../out &&
	grep -x 0 ../out &&
	test_session three "$look" >../out &&
	grep -x 2 ../out &&
	test_shows "^+DRAFT2" git agent review one &&
	none "DRAFT[245]*$"
'

test_that 'no ref names uncommitted work, and git gc removes none of it' '
	begin &&
	sed -i s/5/DRAFT/ f &&
	echo DRAFT >u &&
	test_session s "echo A >>u; sed -i s/7/A/ f; echo A >k" &&
	test "$(git rev-list --all | sort)" = "$(git rev-list refs/agent/s/report agent/s | sort)" &&
	git gc -q --prune=now &&
	git fsck --strict &&
	git rev-parse refs/agent/s/base >../is &&
	git rev-parse main | test_cmp - ../is &&
	test_resume s "cat u f; echo B >>u" >../out &&
	grep DRAFT ../out &&
	git gc -q --prune=now &&
	git agent land s &&
	test "$(cat u)" = "$(printf "DRAFT\nA\nB")" &&
	grep DRAFT f &&
	grep A f
'

test_that 'the copy of uncommitted work is whole, also of what only the index had' '
	begin &&
	echo DRAFT >st &&
	git add st &&
	test_session c "echo A >>f; git hash-object -w --stdin <st" &&
	git rm -q --cached st &&
	rm st &&
	git gc -q --prune=now &&
	none DRAFT &&
	d=$(dir c) &&
	snapshot=$(git config -f "$d/session" session.base || sed -n "s/^.base = .\(.*\).$/\1/p" "$d/session") &&
	GIT_OBJECT_DIRECTORY=$d/objects GIT_ALTERNATE_OBJECT_DIRECTORIES=$PWD/.git/objects git show "$snapshot:st" |
		grep DRAFT &&
	git agent resume -q c -- cat st | grep DRAFT
'

for at in capture:begin capture:export capture:imported capture:upper capture:tree capture:commit capture:rewrite \
	capture:report objects:migrate capture:before-refs capture:after-refs capture:before-state; do
	test_that "uncommitted work survives a capture that is killed at $at" '
		begin &&
		echo DRAFT >u &&
		test_expect_code 137 env GIT_AGENT_FAULT=$at:kill git-agent start -q --name s -- sh -c "
			echo A >>u
			git add u
			git commit -qm u
			echo k >k
			for i in 1 2 3 4 5; do echo \$i >n\$i; done
			git add .
			git commit -qm many" &&
		none DRAFT &&
		git agent capture s &&
		none DRAFT &&
		git agent show --json s | tr -d "\n " | grep "\"left_out\":\[\"u\"\]" &&
		git gc -q --prune=now &&
		git fsck --strict &&
		git agent land s &&
		test_prints "DRAFT\nA" cat u &&
		test -e n5 &&
		test -e k
	'
done

test_that ROOT 'a capture on a full disk says so, and is done again when there is room' '
	begin &&
	echo DRAFT >u &&
	test_session s "echo A >>u" &&
	d=$(dir s) &&
	cp -a "$d/objects" ../keep &&
	mount -t tmpfs -o size=256k none "$d/objects" &&
	test_when_finished "umount -q \"$d/objects\" || :" &&
	cp -a ../keep/. "$d/objects" &&
	{ dd if=/dev/zero of="$d/objects/fill" bs=4k 2>/dev/null || :; } &&
	{ test_resume s "seq 20000 >>u" >../out 2>&1 || :; } &&
	grep -i "space" ../out &&
	umount "$d/objects" &&
	test_resume s "seq 20000 >>u" &&
	git agent land s &&
	test "$(wc -l <u)" = 20002
'

test_lazy_prereq OTHER_FS '
	other=$(test_directory_in /dev/shm) &&
	test "$(stat -c %d "$other")" != "$(stat -c %d .)" &&
	python3 -c "import os, sys; os.setxattr(sys.argv[1], \"user.x\", b\"y\")" "$other"
'

test_that OTHER_FS 'sessions may be on another file system than the repository' '
	begin &&
	echo DRAFT >u &&
	XDG_STATE_HOME=$(test_directory_in /dev/shm) &&
	export XDG_STATE_HOME &&
	test_session s "
		echo c >c
		git add c
		git commit -qm c
		echo A >>u" &&
	test_resume s "echo B >>u" &&
	git agent land s &&
	test_prints "DRAFT\nA\nB" cat u &&
	git fsck --strict
'

test_done
