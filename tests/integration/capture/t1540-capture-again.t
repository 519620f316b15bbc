#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='capture: later, again, from another working tree, and beside what the user did since'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

# uncaptured NAME COMMANDS [OPTION...]: a session of an agent that did this, killed before its capture
uncaptured() {
	uncaptured_name=$1 uncaptured_work=$2
	shift 2
	test_expect_code 137 env GIT_AGENT_FAULT=capture:begin:kill \
		git-agent start -q "$@" --name "$uncaptured_name" -- sh -c "$uncaptured_work"
}
# subject REV TEXT: the subject of that commit
subject() {
	test_prints "$2" git log -1 --format=%s "$1"
}

test_that 'a ref of an earlier run that blocks a new one moves aside' '
	make_repo way &&
	test_session w "git tag x \$(git commit-tree -m first HEAD^{tree})" &&
	first=$(git rev-parse refs/agent/w/others/refs/tags/x) &&
	test_expect_code 137 env GIT_AGENT_FAULT=capture:before-refs:kill git-agent resume -q w -- sh -c "
		git tag -d x
		git tag x/y \$(git commit-tree -m second HEAD^{tree})
		git rev-parse HEAD:a >.git/refs/heads/blob
		echo n >a" &&
	git agent capture w &&
	git agent show w | grep "not all of the agent.s branches could be read" &&
	test_holds agent/w:a n &&
	subject refs/agent/w/others/refs/tags/x/y second &&
	test "$(git rev-parse "refs/agent/w/earlier/$first")" = "$first"
'

# MERGE_HEAD as git never writes it: one commit twice
test_that 'a commit that two refs of an earlier run name is kept once' '
	make_repo once &&
	test_session o "
		t=\$(git commit-tree -m first HEAD^{tree}) &&
		printf \"%s\n%s\n\" \$t \$t >.git/MERGE_HEAD &&
		git branch b" &&
	first=$(git rev-parse refs/agent/o/others/merging) &&
	test "$(git rev-parse refs/agent/o/others/merging-2)" = "$first" &&
	test_resume o "
		t=\$(git commit-tree -m second HEAD^{tree}) &&
		printf \"%s\n%s\n\" \$t \$t >.git/MERGE_HEAD
		echo b >a" &&
	subject refs/agent/o/others/merging second &&
	test "$(git rev-parse "refs/agent/o/earlier/$first")" = "$first" &&
	test_holds agent/o:a b
'

# The report has a lock, for which git waits some seconds
test_that 'nobody else captures a session while the git of a killed capture updates refs' '
	make_repo killed &&
	{
		"$GIT_AGENT" start -q --name kill1 -- sh -c "
			echo b >b
			until test -e locked; do sleep 0.1; done
			rm locked" &
		pid=$!
	} &&
	test_wait_for "git rev-parse -q --verify agent/kill1" &&
	: >.git/refs/agent/kill1/report.lock &&
	{ git agent shell -q kill1 -- touch locked || :; } &&
	test_wait_for "test -e .git/refs/heads/agent/kill1.lock" &&
	kill -9 $pid &&
	lock=$(test_dir kill1)/lock &&
	{
		wait $pid
		test_must_fail flock -n "$lock" true
	} &&
	rm .git/refs/agent/kill1/report.lock &&
	test_wait_for "flock -n $lock true" &&
	git agent capture kill1 &&
	test_holds agent/kill1:b b
'

test_that 'a rewritten branch of an earlier run and a broken one of the user do not stop a resume' '
	make_repo former &&
	test_session f "
		mkdir .git-x
		echo b >b
		echo all: >Makefile
		git add b Makefile
		git commit -qm b" &&
	old=$(git rev-parse agent/f) &&
	git switch -q agent/f &&
	git commit -q --amend -m rewritten &&
	git switch -q -c other main &&
	git reflog expire --expire=now --all &&
	git gc -q --prune=now &&
	test_must_fail git cat-file -e $old &&
	git rev-parse HEAD | tr 0-9a-f f >.git/refs/heads/main &&
	test_resume f "echo c >c" &&
	subject agent/f~ rewritten &&
	test_holds agent/f:c c &&
	tip=$(git rev-parse agent/f^{tree}) &&
	git agent capture f &&
	test "$(git rev-parse agent/f^{tree})" = "$tip"
'

test_that 'a branch of a running session that the user moved is named, and captured once renamed' '
	{
		make_repo moved &&
		git agent start --name mv -- sh -c "
			echo 1 >1
			touch \$HOME/mv-up
			while test -e \$HOME/mv-up; do sleep 0.1; done" 2>../err &
	} &&
	test_wait_for "test -e $HOME/aihome/mv-up" &&
	cd moved &&
	git update-ref refs/heads/agent/mv "$(git commit-tree -m mine HEAD^{tree})" &&
	rm "$HOME/aihome/mv-up" &&
	test_expect_code 128 wait $! &&
	grep "was moved" ../err &&
	grep "hint: .*git branch -m agent/mv" ../err &&
	git branch -m agent/mv mine &&
	git agent capture mv &&
	test_holds agent/mv:1 1
'

# kept: what is kept of session l beside its branch
kept() {
	git for-each-ref --format="%(refname:lstrip=3)" refs/agent/l | grep -v "base\|report" | tr "\n" " "
}

# Up to the state, so that it is captured again.
test_that 'branches that a later capture does not find go, unless it could not look' '
	make_repo later &&
	GIT_AGENT_FAULT=capture:before-state:fail &&
	export GIT_AGENT_FAULT &&
	test_must_fail git agent start --name l -- sh -c "
		for b in one two three; do
			git switch -q -c \$b agent/l &&
			echo \$b >\$b &&
			git add \$b &&
			git commit -qm \$b
		done
		git switch -q agent/l
		echo st >a
		git stash -q
		echo w >w
		git add w
		git commit -qm w" &&
	test "$(kept)" = "heads/one heads/three heads/two stash " &&
	dir=$(test_dir l)/git &&
	rm "$dir/refs/heads/two" &&
	mv "$dir/refs/heads/three" ../three &&
	mkdir "$dir/refs/heads/three" &&
	mv ../three "$dir/refs/heads/three/deep" &&
	test_must_fail git agent capture l &&
	test "$(kept)" = "heads/one heads/three/deep stash " &&
	mv "$dir/HEAD" ../HEAD &&
	mkfifo "$dir/HEAD" &&
	test_must_fail git agent capture l &&
	test "$(kept)" = "heads/one heads/three/deep stash " &&
	rm "$dir/HEAD" &&
	mv ../HEAD "$dir/HEAD" &&
	rm "$dir/refs/stash" &&
	test_must_fail git agent capture l &&
	test "$(kept)" = "heads/one heads/three/deep "
'

# ---- from another working tree

# the work of a session that is captured elsewhere; came NAME: all of it was captured
work='printf "1\r\n" >1.lf; echo 1 >1; git add 1; git commit -qm mine; git branch side HEAD~1
	git switch -qc other; git commit -q --allow-empty -m other; git switch -q -; echo w >w'
came() {
	! git agent show $1 | grep "note: .*\\(read\\|names no commit\\|not converted\\)" &&
	subject agent/$1~1 mine &&
	subject refs/agent/$1/heads/other other &&
	test_holds agent/$1:1.lf 1
}

test_that 'a session is captured whole in another worktree, and where the repository was moved to' '
	make_repo here "printf \"*.lf text\\n\" >.gitattributes" &&
	git worktree add -q ../there &&
	uncaptured x "$work" &&
	(cd ../there && test_state x captured && came x) &&
	uncaptured y "$work" &&
	cd .. &&
	mv here elsewhere &&
	cd elsewhere &&
	git agent capture y &&
	came y
'

# whose: a repository with a worktree beside it, each with a configuration of its own
whose() {
	(make_repo "$1") &&
	git -C "$1" config extensions.worktreeConfig true &&
	git -C "$1" worktree add -q "../$1-wt" &&
	git -C "$1-wt" config --worktree core.fileMode false
}

test_that 'HEAD, files and configuration of the worktree of a session count wherever it is captured' '
	whose one &&
	cd one-wt &&
	uncaptured o "
		echo 1 >f
		echo 1 >g
		chmod +x a" &&
	echo mine >f &&
	echo mine >g &&
	git add g &&
	git commit -qm g &&
	cd ../one &&
	echo mine >g &&
	git add g &&
	git commit -qm other &&
	git rm -q g &&
	git commit -qm gone &&
	git agent capture o &&
	git agent show o | grep "note: held, .*: f\$" &&
	test "$(git ls-tree agent/o a | cut -c1-6)" = 100644
'

test_done
