#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='dropping sessions, and restoring them'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	test_enter "$1" &&
	echo a >a &&
	test_commit base
}

test_that 'a restored session is as it was: refs, layers, flags, and it can be landed' '
	make_repo back &&
	test_session x "
		echo one >one
		git add one
		git commit -qm one
		git branch side
		echo s >s
		git stash -qu
		echo two >two
		echo e >.envrc" &&
	git for-each-ref refs/agent refs/heads/agent >../before &&
	git agent show --json x >../shown &&
	test_says "git agent drop --restore x. restores it" git agent drop --force x &&
	test -z "$(git for-each-ref refs/agent refs/heads/agent)" &&
	test -z "$(git agent list --json | grep \"x\")" &&
	test_says "session .x. is back" git agent drop --restore x &&
	git for-each-ref refs/agent refs/heads/agent >../after &&
	test_cmp ../before ../after &&
	test -z "$(git for-each-ref refs/agent-trash)" &&
	git agent show --json x >../again &&
	test_cmp ../shown ../again &&
	git agent review --accept-all --critical x &&
	git agent land x &&
	test -e one &&
	test -e two &&
	test -e .envrc &&
	git fsck --strict
'

test_that 'of several sessions of one name the last is restored, or the one that is named' '
	make_repo many &&
	for i in 1 2; do
		test_session m-1 "echo $i >f" &&
		git agent drop --force m-1 ||
			exit 1
	done &&
	test_session m "echo m >f" &&
	git agent drop --force m &&
	git agent drop --restore m-1 &&
	test_holds agent/m-1:f 2 &&
	git agent drop --force m-1 &&
	first=$(ls -d "$HOME"/.local/state/git-agent/*/trash/m-1-* | head -n 1) &&
	git agent drop --restore "$(basename "$first")" &&
	test_holds agent/m-1:f 1 &&
	git agent drop --restore m &&
	test_holds agent/m:f m
'

test_that 'a session whose name is taken again is restored by the name that the hint says' '
	make_repo circle &&
	test_session c "echo old >f" &&
	git agent drop --force c &&
	test_session c "echo new >f" &&
	test_fails 128 "there is a session .c. again" git agent drop --restore c &&
	grep "^hint: .git agent drop c. makes room, then .git agent drop --restore c-[0-9]*. restores" ../err &&
	entry=$(sed -n "s/.*--restore \(c-[0-9]*\). .*/\1/p" ../err) &&
	git agent drop --force c &&
	git agent drop --restore "$entry" &&
	test_holds agent/c:f old
'

test_that 'a restore overwrites no branch, and is done whole or not at all' '
	make_repo way &&
	test_session w "echo w >w" &&
	git agent drop --force w &&
	git branch agent/w &&
	git for-each-ref >../before &&
	test_fails 128 "branch .agent/w. exists again" git agent drop --restore w &&
	grep "hint: .*git branch -m" ../err &&
	git for-each-ref >../after &&
	test_cmp ../before ../after &&
	git branch -qm agent/w other &&
	git agent drop --restore w &&
	test_holds agent/w:w w &&
	test_fails 128 "no session .nobody. is in the trash" git agent drop --restore nobody &&
	test_expect_code 129 git agent drop --restore --force w
'

# What the user sees of session $1: refs, here and in the submodule, and layers.
all_of() {
	git for-each-ref "refs/agent/$1" "refs/heads/agent/$1"
	git -C lib for-each-ref "refs/agent/$1" "refs/heads/agent/$1"
	find "$HOME"/.local/state/git-agent/*/sessions/"$1" -type f -path "*/$1/[ug][pi]*" | sort
}
killed() {
	GIT_AGENT_FAULT=$1:kill test_expect_code 137 git-agent drop "$2" k
}

test_that 'make a repository with a submodule' '
	(make_repo lib) &&
	test_enter super &&
	test_submodule ../lib lib &&
	git commit -qm sub
'
# session_k: a session in super, with work in both; ../before has what there is of it
session_k() {
	test_session k "
		echo k >k
		git branch side
		echo new >lib/k
		cd lib
		git add k
		git commit -qm k" &&
	all_of k >../before
}

for point in drop:noted drop:refs drop:moved; do
	test_that "a drop that is killed at $point is completed by the next, and can be restored" '
		cd super &&
		session_k &&
		killed $point --force &&
		{ [ $point = drop:moved ] || killed $point --force; } &&
		git agent drop --force k &&
		test_expect_code 128 git agent show k &&
		test -z "$(all_of k)" &&
		git agent drop --restore k &&
		all_of k | test_cmp ../before - &&
		git agent review k >/dev/null &&
		git agent drop --force k
	'
done

for point in restore:refs restore:saved restore:moved; do
	test_that "a restore that is killed at $point is completed by the next" '
		cd super &&
		session_k &&
		git agent drop --force k &&
		killed $point --restore &&
		{ git agent drop --restore k || git agent show k; } &&
		all_of k | test_cmp ../before - &&
		git agent drop --force k
	'
done

test_that 'a drop that was killed is completed by whatever command comes next' '
	make_repo next &&
	test_session k "echo k >k" &&
	killed drop:refs --force &&
	git agent list >../out 2>../err &&
	test ! -s ../out &&
	grep "session .k. was being dropped: it is in .*/trash/k-" ../err &&
	git agent drop --restore k &&
	test_holds agent/k:k k &&
	killed drop:noted --force &&
	git agent drop --restore k &&
	git agent land k
'

test_done
