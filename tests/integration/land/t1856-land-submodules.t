#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing where submodules come, go and move: what is in them is not lost'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox
git config --global protocol.file.allow always

test_that 'create a repository to be a submodule' '
	git init -q lib &&
	mkdir lib/d &&
	echo f | tee lib/f >lib/d/g &&
	git -C lib add -A &&
	git -C lib commit -qm one &&
	git -C lib commit -q --allow-empty -m two
'

# with_submodule NAME PATH: a repository with a submodule that is not checked out
with_submodule() {
	make_repo "$1" &&
	git submodule --quiet add ../lib "$2" &&
	git commit -qm sub &&
	git submodule --quiet deinit -f "$2"
}

# fill PATH: the submodule is checked out, and has what nobody else has
fill() {
	git submodule --quiet update --init "$1" &&
	echo edit >>"$1/f" &&
	echo precious >"$1/untracked"
}

# accepted NAME COMMANDS: a session in which the agent commits this, whatever is flagged
accepted() {
	session "$1" "$2; git add -A; git commit -qm agent" &&
	git agent review --accept-all --critical "$1"
}

# replaced NAME WHAT COMMANDS
replaced() {
	test_that "a submodule with files that would become $2 blocks a landing until it is empty" "
		with_submodule $1 sub &&
		accepted $1 'rmdir sub; $3' &&
		fill sub &&
		for how in --dry-run --merge --ff-only --rebase --no-commit; do
			refused 2 sub git agent land \$how $1 || return 1
		done &&
		refused 2 sub git agent land $1 -- sub &&
		git commit -q --allow-empty -m mine &&
		refused 2 sub git agent land $1 &&
		mv sub/f sub/untracked .. &&
		git submodule --quiet deinit -f sub &&
		git agent land $1 &&
		git diff --quiet agent/$1 HEAD -- sub &&
		git agent land --undo &&
		test -d sub
	"
}
replaced file 'a file' 'echo file >sub'
replaced link 'a symlink' 'ln -s f sub'

test_that 'a landing and its undo leave the files of a submodule that is deleted' '
	with_submodule goes sub &&
	accepted goes "rmdir sub" &&
	fill sub &&
	git agent land goes &&
	test "$(cat sub/untracked)" = precious &&
	git agent land --undo &&
	test "$(cat sub/untracked)" = precious
'

test_that 'a submodule is updated beside modified files, and its own files stay' '
	with_submodule moves sub &&
	git submodule --quiet update --init sub &&
	git -C sub checkout -q HEAD^ &&
	git commit -qam back &&
	session moves "git -C sub checkout -q main; git commit -qam moved; line f 2 agent" &&
	git agent review --accept-all --critical moves &&
	line g 8 edit &&
	remember &&
	git agent land moves &&
	test "$(git rev-parse HEAD:sub)" = "$(git -C ../lib rev-parse main)" &&
	test "$(git -C sub rev-parse HEAD)" = "$(git -C ../lib rev-parse main^)" &&
	git agent land --undo &&
	unchanged
'

test_that 'a conflict in a submodule is left to the user, and can be aborted' '
	with_submodule conflict sub &&
	git submodule --quiet update --init sub &&
	session conflict "git -C sub commit -q --allow-empty -m agent; git add sub; git commit -qm agent" &&
	git agent review --accept-all --critical conflict &&
	git -C sub commit -q --allow-empty -m mine &&
	git commit -qam mine &&
	remember &&
	test_expect_code 4 git agent land conflict 2>../err &&
	cat ../err &&
	git diff --name-only --diff-filter=U | grep -x sub &&
	git agent land --abort &&
	unchanged
'

test_that 'an undo does not overwrite the files of a submodule that was a file' '
	make_repo became &&
	git switch -qc side &&
	git rm -q old &&
	git submodule --quiet add ../lib old &&
	git commit -qm linked &&
	git submodule --quiet deinit -f old &&
	test_session became "echo n >new" &&
	git switch -q main &&
	test_expect_code 3 git agent land --with-base became &&
	git agent review --accept-all --critical became &&
	git agent land --with-base became &&
	git ls-tree HEAD old | grep ^160000 &&
	fill old &&
	refused 2 old git agent land --undo became &&
	git submodule --quiet deinit -f old &&
	git agent land --undo became &&
	seq 9 | test_cmp - old
'

# half_way NAME COMMANDS: they replace an empty submodule, and git, which has done that, cannot write z
half_way() {
	test_that "an empty submodule is restored when git fails half way: $2" "
		with_submodule $1 sub &&
		echo 'z filter=bad' >.git/info/attributes &&
		git config filter.bad.smudge false &&
		git config filter.bad.required true &&
		accepted $1 'rmdir sub; $2; echo z >z' &&
		git commit -q --allow-empty -m mine &&
		remember &&
		for how in --merge --squash --rebase; do
			test_must_fail git agent land \$how $1 2>../err &&
				hint 'nothing was changed' &&
				unchanged || return 1
		done
	"
}
half_way half-file 'echo file >sub'

test_done
