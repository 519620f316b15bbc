#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='many sessions at once, while the user works on'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_that 'make a repository with two branches' '
	test_enter r &&
	for i in 1 2 3 4 5 6 7 8; do echo $i >f$i; done &&
	test_commit base &&
	git checkout -q -b other &&
	echo only-here >only-on-other &&
	rm f1 &&
	echo other >f2 &&
	test_commit other &&
	git checkout -q main &&
	base=$(git rev-parse main) &&
	for i in $(seq 1000); do echo "create refs/heads/many/b$i $base"; done |
		git update-ref --stdin &&
	git pack-refs --all &&
	git branch many/loose other
'

test_that 'OV-18 RS-06: each session sees its base while the host switches, edits and collects garbage' '
	cd r &&
	for n in 1 2 3 4 5 6; do
		test_session s$n "
		touch \$HOME/up-$n
		while ! test -e \$HOME/go; do sleep 0.05; done
		test ! -e only-on-other || echo LEAK >leak
		test \"\$(cat f1)\" = 1 || echo LEAK >leak
		test \"\$(cat f2)\" = 2 || echo LEAK >leak
		git add -A
		git diff --cached --quiet || echo LEAK >leak
		git log --oneline | wc -l >\$HOME/n-$n
		git fsck --connectivity-only || echo LEAK >leak
		echo changed-$n >f$n
		echo mine >new-$n
		git add -A
		git commit -qm \"work $n\"
		echo rest >rest-$n" &
	done &&
	for n in 1 2 3 4 5 6; do test_wait_for "test -e $HOME/aihome/up-$n" || exit 1; done &&
	git agent list >../list &&
	git switch -q other &&
	echo edit >f3 &&
	echo untracked >u &&
	git branch -D main &&
	git branch main other~1 &&
	git -c gc.pruneExpire=now gc -q --prune=now &&
	git repack -adq &&
	git pack-refs --all &&
	touch "$HOME/aihome/go" &&
	wait &&
	test "$(grep -c running ../list)" = 6 &&
	for n in 1 2 3 4 5 6; do
		test "$(git rev-list --count main..agent/s$n)" = 2 &&
		git diff --name-only main agent/s$n | sort >../names-$n &&
		printf "f%s\nnew-%s\nrest-%s\n" $n $n $n | test_cmp - ../names-$n &&
		test "$(cat "$HOME/aihome/n-$n")" = 1 || exit 1
	done &&
	git fsck --strict 2>&1 | (! grep -E "missing|error|broken") &&
	test "$(cat f3)" = edit &&
	test "$(cat u)" = untracked
'

test_that 'a commit that is deleted and pruned on the host stays for its session' '
	test_when_finished "touch \"$HOME/aihome/go-d\"; wait" &&
	{
		cd r &&
		git stash -q -u &&
		git switch -q -c doomed &&
		echo d >doomed &&
		git add doomed &&
		git commit -qm doomed &&
		git agent start --name d -- sh -c "
		touch \$HOME/up-d
		while ! test -e \$HOME/go-d; do sleep 0.05; done
		git cat-file -e HEAD:doomed &&
		git log -1 --format=%s &&
		echo x >x &&
		git add x &&
		git commit -qm onit" >../out &
	} &&
	test_wait_for "test -e $HOME/aihome/up-d" &&
	cd r &&
	git switch -q other &&
	git branch -qD doomed &&
	git reflog expire --expire=now --all --expire-unreachable=now &&
	git -c gc.pruneExpire=now gc -q --prune=now &&
	touch "$HOME/aihome/go-d" &&
	wait $! &&
	git cat-file -e agent/d:doomed &&
	git log -1 --format=%s agent/d | grep onit &&
	git fsck --connectivity-only
'

test_that 'RS-05: ten sessions that start at once get ten names and branches' '
	cd r &&
	for i in 1 2 3 4 5 6 7 8 9 10; do
		test_inside "echo \$GIT_AGENT_SESSION >who" &
	done &&
	wait &&
	for i in 1 2 3 4 5 6 7 8 9 10; do
		test_holds agent/sh-$i:who sh-$i || exit 1
	done
'

test_done
