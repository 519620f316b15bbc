#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='submodules in the states that a user leaves them in'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use submodules

test_that 'make a repository with a submodule' '
	make_repo lib &&
	make_super commits lib
'

test_that 'a submodule that is not checked out is an empty directory' '
	git clone -q commits empty &&
	cd empty &&
	git agent start --name e -- sh -c "
		test -d $L
		test -z \"\$(ls -A $L)\"
		test -z \"\$(git status --porcelain)\" &&
		echo k >k
		echo x >$L/x" 2>../err &&
	test_prints k git diff --name-only HEAD agent/e &&
	grep "leftovers: vendor/lib" ../err
'

test_that 'a submodule that was moved, and has another address now, is part of a session' '
	make_super moved lib &&
	cd moved &&
	git mv $L third &&
	git config -f .gitmodules "submodule.$L.url" https://user:SECRET@example.com/x &&
	git submodule --quiet sync &&
	git commit -qam moved &&
	test_session m "
		cd third
		git log --oneline
		echo k >k
		git config --list --show-origin >\$HOME/conf
		git -C .. config --list >>\$HOME/conf" &&
	git -C third cat-file -e agent/m:k &&
	! grep SECRET "$HOME/aihome/conf" &&
	grep "url=https://example.com/x" "$HOME/aihome/conf"
'

test_that 'a submodule with a .git directory of its own is part of a session' '
	make_repo old &&
	git clone -q lib old/sub &&
	cd old &&
	git add sub 2>../err &&
	git commit -qm embedded &&
	test -d sub/.git &&
	test_session o "
		test -z \"\$(git status --porcelain)\"
		cd sub
		echo k >k
		git add k
		git commit -qm k" &&
	git -C sub cat-file -e agent/o:k &&
	test "$(git rev-parse agent/o:sub)" = "$(git -C sub rev-parse agent/o)" &&
	test -z "$(git -C sub status --porcelain)"
'

test_that 'uncommitted work in a submodule stays outside, and is named' '
	make_super dirty lib &&
	cd dirty &&
	echo mine >>$L/a &&
	echo new >$L/new &&
	test_fails 2 "submodule .vendor/lib.: 2 paths are not committed" \
		git agent start --name x --dirty refuse -- true &&
	test_says "submodule vendor/lib: its uncommitted work (2 paths)" git agent start --name d -- sh -c "
		test -z \"\$(git -C $L status --porcelain)\"
		test ! -e $L/new &&
		echo k >$L/k" &&
	test_prints k git -C $L diff --name-only agent/d~1 agent/d &&
	test "$(git -C $L status --porcelain | wc -l)" = 2 &&
	git -C $L merge -q agent/d &&
	test -e $L/new
'

test_that 'a merge in progress in a submodule is named, and refused by --dirty refuse' '
	make_super merging lib &&
	cd merging &&
	(
		cd $L &&
		git checkout -q -b o v1 &&
		echo o >a &&
		git commit -qam o &&
		{ git merge main || :; }
	) &&
	git commit -qam o &&
	git agent start --name m --base HEAD -- true 2>../err &&
	! grep "in progress" ../err &&
	test_says "submodule vendor/lib: what the merge in progress there has changed" \
		git agent start --name n -- sh -c "echo k >$L/k" &&
	git -C $L cat-file -e agent/n:k &&
	test_says "submodule .vendor/lib.: a merge is in progress" test_must_fail git agent start --dirty refuse -- true
'

test_that 'a commit of a submodule that the superproject does not name yet is carried' '
	make_super ahead lib &&
	cd ahead &&
	echo h >$L/h &&
	git -C $L add h &&
	git -C $L commit -qm h &&
	test_session a "
		test -e $L/h &&
		test -z \"\$(git status --porcelain)\" &&
		echo k >$L/k" &&
	test "$(git -C $L rev-parse agent/a~1)" = "$(git -C $L rev-parse HEAD)" &&
	git -C $L cat-file -e agent/a:k
'

test_that 'work on such a commit is on no branch of the superproject, and lands in the submodule' '
	cd ahead &&
	git agent start --name b -- sh -c "
		echo b >$L/b
		echo b >b" 2>../err &&
	grep "note: submodule vendor/lib: you have not committed the one it is based on" ../err &&
	grep "next: git agent review b" ../err &&
	test_same agent/b:$L HEAD:$L &&
	test_says "merge agent/b, then commit the submodule here" git agent land b &&
	! grep "not applied" ../err &&
	test_state b landed &&
	git -C $L merge -q agent/b &&
	git commit -qam both &&
	test -z "$(git status --porcelain)" &&
	git agent drop b &&
	! git -C $L agent list | grep "^b "
'

test_that 'a base without the submodule, or whose commit of it is missing, is named' '
	make_super bases lib &&
	cd bases &&
	test_says "submodule vendor/lib: the base has none there" \
		git agent start --name b1 --base HEAD~1 -- sh -c "test ! -e $L" &&
	git update-index --cacheinfo 160000,1234567890123456789012345678901234567890,$L &&
	git commit -qm missing &&
	test_says "its commit is not there" git agent start --name b2 --base HEAD -- sh -c "
		test -z \"\$(ls -A $L)\"
		echo k >k" &&
	git cat-file -e agent/b2:k &&
	git agent start --name b3 --base HEAD~1 -- sh -c "
		git -C $L log -1 &&
		echo k >$L/k" &&
	git -C $L cat-file -e agent/b3:k
'

test_that 'a submodule that was added since the last session is part of the next' '
	make_repo later &&
	cd later &&
	git agent start -- true &&
	git submodule --quiet add "$HOME/lib" $L &&
	git commit -qm submodule &&
	git agent start --name b --base HEAD -- sh -c "
		test -e $L/a &&
		echo k >$L/k" &&
	git -C $L cat-file -e agent/b:k &&
	git submodule --quiet deinit -f $L &&
	git agent start --name e --base HEAD -- sh -c "test -z \"\$(ls -A $L)\"" 2>../err &&
	! grep $L ../err
'

test_that 'submodules work in a linked worktree' '
	make_super main lib &&
	cd main &&
	git worktree add -q ../linked &&
	cd ../linked &&
	git submodule --quiet update --init &&
	test_session w "echo k >$L/k" &&
	git -C $L cat-file -e agent/w:k &&
	! git -C ../main/$L rev-parse -q --verify agent/w
'

test_that 'a name that a submodule uses already is refused' '
	make_super names lib &&
	cd names &&
	git -C $L agent start --name taken -- sh -c "echo t >t" &&
	git -C $L branch agent/sh-1 &&
	test_says "submodule .vendor/lib.: .*taken" test_must_fail git agent start --name taken -- true &&
	git agent list >../out &&
	! grep taken ../out &&
	git -C $L agent list | grep "^taken .*captured" &&
	git agent start -- sh -c "echo k >$L/k" &&
	git -C $L cat-file -e agent/sh-2:k &&
	git cat-file -e agent/sh-2:.gitmodules
'

test_that 'of two submodules with one repository, the second is named and left empty' '
	make_super twice lib &&
	cd twice &&
	git -C $L worktree add -q --detach "$(pwd)/zoo" &&
	git add zoo 2>../err &&
	git commit -qm zoo &&
	test_says "submodule zoo: its repository is a part already" git agent start --name t -- sh -c "
		test -z \"\$(ls -A zoo)\"
		echo k >$L/k" &&
	git -C $L cat-file -e agent/t:k
'

test_done
