#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='resuming a session that began with uncommitted changes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# clear NAME COMMITS: of uncommitted work there is nothing on the branch, in no commit of it
clear() {
	git log --format=%s "agent/$1" >../log &&
	! grep "uncommitted work at the start" ../log &&
	test "$(git rev-list --count "main..agent/$1")" = "$2" &&
	for i in $(git rev-list "agent/$1"); do
		test "$(git show "$i:u" 2>/dev/null)" = u || return 1
	done
}


test_that 'uncommitted changes at the start stay off the branch, and come with the landing' '
	test_enter c &&
	seq 1 30 >a &&
	echo b >b &&
	test_commit base &&
	sed -i "s/^5\$/user/" a &&
	echo u >untracked &&
	test_session c "
		sed -i s/^25\$/agent/ a &&
		sed -i s/user/both/ a &&
		echo n >n &&
		git add n &&
		git commit -qm n &&
		echo more >>untracked" &&
	test_prints n git diff --name-only main agent/c &&
	git agent show --json c | tr -d "\n" | grep "\"left_out\": \[ *\"a\", *\"untracked\"" &&
	test_resume c "
		git status --porcelain >\$HOME/status
		git log --format=%s >>\$HOME/status
		cat a >\$HOME/a
		echo 2 >>n
		git commit -qam n2
		echo x >x" &&
	printf "uncommitted work at the start of a session\nn\nbase\n" >../want &&
	sort ../want >../w &&
	sort -u "$HOME/aihome/status" | test_cmp ../w - &&
	grep both "$HOME/aihome/a" &&
	grep agent "$HOME/aihome/a" &&
	test_prints "agent/c: what the agent left uncommitted\nn2\nn" git log --format=%s main..agent/c &&
	test_prints "n\nx" git diff --name-only main agent/c &&
	git cat-file -e refs/agent/c/from &&
	git gc -q --prune=now &&
	git fsck --connectivity-only &&
	test_resume c "echo y >y" &&
	git agent land c &&
	grep both a &&
	grep agent a &&
	grep more untracked &&
	test "$(cat n)" = "$(printf "n\n2")" &&
	test -e y
'
test_that 'branches of earlier runs that later ones merge bring no uncommitted changes of the start' '
	test_enter work &&
	echo u >u &&
	test_commit base &&
	echo SECRETWIP >>u &&
	test_session w "
		git checkout -qb topic
		echo t >t
		git add t
		git commit -qm topic
		git branch late
		git checkout -q agent/w
		echo 1 >one
		git add one
		git commit -qm one" &&
	test_resume w "git merge -q -m mergetopic topic" &&
	clear w 3 &&
	test_holds agent/w:t t &&
	printf "mergetopic\none\nbase\ntopic\n" | sort >../want &&
	sort ../log | test_cmp ../want - &&
	test_resume w "
		git branch atfrom
		git checkout -qb topic2
		echo t2 >t2
		git add t2
		git commit -qm topic2
		git checkout -q agent/w
		echo 2 >two
		git add two
		git commit -qm two" &&
	clear w 4 &&
	test_missing refs/agent/w/heads/atfrom &&
	git gc -q --prune=now &&
	test_resume w "git merge -q -m mergetopic2 topic2" &&
	clear w 6 &&
	test_holds agent/w:t2 t2 &&
	git show -s --format=%P "agent/w^2" >../got &&
	git rev-parse agent/w~2 | test_cmp - ../got &&
	test_resume w "
		git checkout -q late
		echo 3 >three
		git add three
		git commit -qm three
		git checkout -q agent/w
		git merge -q -m all late
		echo 4 >four" &&
	clear w 9 &&
	git fsck --connectivity-only &&
	git agent land w &&
	test "$(cat u)" = "$(printf "u\nSECRETWIP")" &&
	cat one two three four t t2 | tr -d "\n" | grep -x 1234tt2 &&
	test -z "$(git log -SSECRETWIP --format=%s main)"
'

test_that 'a branch that was created again on the host brings no uncommitted changes of the start' '
	test_enter wr &&
	echo u >u &&
	echo b >b &&
	test_commit base &&
	echo SECRETWIP >>u &&
	test_session w "
		echo 1 >one
		git add one
		git commit -qm one" &&
	test_resume w "
		git checkout -qb topic
		echo t >t
		git add t
		git commit -qm topic
		git checkout -q agent/w
		echo 2 >two" &&
	git worktree add -q ../wrt agent/w &&
	(
		cd ../wrt &&
		git reset -q --hard main &&
		echo host >host &&
		git add host &&
		git commit -qm host
	) &&
	git worktree remove ../wrt &&
	test_resume w "git merge -q -m mergetopic topic" &&
	clear w 4 &&
	test_holds agent/w:t t &&
	test_holds agent/w:host host
'

test_done
