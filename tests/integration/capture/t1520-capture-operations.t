#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='capture of a session that ended in the middle of a merge, a rebase or a cherry-pick'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

# for agents: branches that conflict, this one and t
conflict="git switch -q -c t; echo 1 >a; git commit -qam t; git switch -q -; echo 2 >a; git commit -qam m"

test_that 'a rebase that stopped is named, and its autostash is kept' '
	make_repo half &&
	test_says "note: the agent stopped in the middle of a rebase" git agent start --name r -- sh -c "
		$conflict
		echo dirty >d/x
		git rebase -q --autostash t
		true" &&
	test_holds refs/agent/r/others/autostash:d/x dirty &&
	test_holds refs/agent/r/heads/agent/r:a 2
'

test_that 'the commit that an unfinished merge would bring is kept, by later captures too' '
	cd half &&
	test_says "note: the agent stopped in the middle of a merge" git agent start --name m -- sh -c "
		$conflict
		git branch -q k t
		git switch -q --detach t
		git commit -q --allow-empty -m alone
		tip=\$(git rev-parse HEAD)
		git switch -q agent/m
		git merge -q \$tip
		true" &&
	git log -1 --format=%s refs/agent/m/others/merging | grep -x alone &&
	git update-ref refs/heads/agent/m "$(git commit-tree -p agent/m -m empty agent/m^{tree})" &&
	git agent resume m -- true &&
	! git agent show m | grep "in the middle" &&
	git log -1 --format=%s refs/agent/m/others/merging | grep -x alone
'

test_that 'the branch of the user that an unfinished merge would bring is not kept again' '
	cd half &&
	git branch -q side "$(git commit-tree -p HEAD -m side HEAD^{tree})" &&
	test_says "in the middle of a merge" git agent start --name n -- git merge -q --no-commit --no-ff side &&
	! grep "on no branch" ../err
'

test_that 'cherry-picks, reverts and patches that stopped are named' '
	cd half &&
	test_says "in the middle of a cherry-pick" git agent start --name c -- sh -c "
		$conflict
		git cherry-pick t
		true" &&
	! grep "on no branch" ../err &&
	test_says "in the middle of cherry-picks or reverts" git agent start --name q -- sh -c "
		$conflict
		git cherry-pick t~1 t
		git commit -q --allow-empty -m by-hand
		git revert --no-edit t t~1
		git reset -q" &&
	test_says "in the middle of applying patches" git agent start --name a -- sh -c "
		$conflict
		git format-patch -q -1 -o /tmp t
		git am -q /tmp/0001-t.patch
		true"
'

test_that 'a rebase that stopped in a worktree of the agent is named and kept' '
	make_repo trees &&
	git agent start --name w -- sh -c "
		$conflict
		git worktree add -q -b wt /tmp/wt &&
		cd /tmp/wt &&
		echo dirty >d/x
		git rebase -q --autostash t
		true" 2>../err &&
	grep "note: the agent stopped in the middle of a rebase in its working tree wt: " ../err &&
	test_holds refs/agent/w/others/worktrees/wt/autostash:d/x dirty &&
	git agent resume -q w -- git worktree prune &&
	test_holds refs/agent/w/others/worktrees/wt/autostash:d/x dirty
'

test_that 'worktrees with hostile names reach the terminal escaped' '
	cd trees &&
	git agent start --name hostile -- sh -c "
		git worktree add -q --detach /tmp/h
		cd .git/worktrees &&
		ln -s .. up &&
		e=\"\$(printf \"e\033[31m\")\" &&
		mkdir \"\$e\" loop &&
		ln -s . loop/rebase-merge &&
		git commit-tree -m esc HEAD^{tree} >\"\$e\"/MERGE_HEAD" 2>../err &&
	! grep "$(printf "\\033")" ../err &&
	grep "in its working tree .e.e.31m" ../err &&
	grep "the agent.s ref .worktrees/e.*merging. has a name that cannot be kept" ../err &&
	test_expect_code 2 git agent drop hostile
'

test_that 'each commit that an unfinished octopus merge would bring is kept' '
	make_repo several &&
	test_says "is kept on refs/agent/o/others/: merging, merging-2, merging-3$" git agent start --name o -- sh -c "
		for i in 1 2 3; do
			git switch -q --detach agent/o
			echo \$i >f\$i
			git add f\$i
			git commit -qm \$i
			git rev-parse HEAD >>/tmp/tips
		done
		git switch -q agent/o
		git merge -q --no-ff --no-commit \$(cat /tmp/tips)" &&
	o=refs/agent/o/others/merging &&
	test_prints "1\n2\n3" git log --no-walk=unsorted --format=%s $o $o-2 $o-3
'

test_done
