#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a session that changed nothing goes to the trash, from which resume restores it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use live
require_sandbox
rm "$conf"

trashed() {
	! git agent list | command grep "^$1 " &&
	git agent drop --list | grep "^$1-[0-9]" &&
	test -z "$(git for-each-ref "refs/agent/$1" "refs/heads/agent/$1")"
}
test_enter r &&
echo a >a &&
echo "*.ign" >.gitignore &&
test_commit 1 || exit 1

test_that 'it goes with one line, which has the command that restores it' '
	test_says "^agent/e: changed nothing, and is in the trash; .git agent resume e. restores it" \
		git agent start -n e -- cat a &&
	test "$(tail -n 1 ../err | cut -c 1-8)" = agent/e: &&
	! grep "nothing to commit\|next:" ../err &&
	trashed e &&
	! test -e .git/worktrees &&
	test_says "^session .e. is back" git agent resume e -- sh -c "echo x >x" &&
	test_holds agent/e:x x &&
	git agent start -q -n q -- true 2>../err &&
	test ! -s ../err &&
	trashed q &&
	GIT_AGENT_FAULT=drop:refs:kill test_expect_code 137 git-agent start -q -n k -- true &&
	test_says "session .k. was being dropped" git agent list &&
	trashed k
'

test_that 'a conversation goes and comes back with its session' '
	mkdir ../bin &&
	test_script ../bin/claude "mkdir -p ~/.claude/projects/p && echo \"\$*\" >>~/.claude/projects/p/1 &&
		cat ~/.claude/projects/p/1" &&
	PATH=$HOME/bin:$PATH git-agent start -q -n c claude -p "first question" &&
	trashed c &&
	PATH=$HOME/bin:$PATH git-agent resume -q c >../out &&
	grep "first question" ../out &&
	grep "continue" ../out &&
	trashed c
'

# stays NAME OPTION... -- COMMAND...: it is in the list, whatever it exits with
stays() {
	name=$1
	shift
	git agent start -q -n "$name" "$@"
	test_state "$name" captured
}
test_that 'one that failed, left anything, or was to be kept stays' '
	stays failed -- false &&
	stays ignored -- sh -c "echo x >x.ign" &&
	stays written -- touch y &&
	stays held -- sh -c "echo e >.envrc" &&
	stays branched -- sh -c "git switch -qc mine && git commit -q --allow-empty -m m && git switch -q -" &&
	stays kept --keep -- true &&
	git agent -c keep_unchanged=true start -q -n set -- true &&
	test_state set captured &&
	test_fails 129 "cannot be used together" git agent start --rm --keep -- true
'

test_that 'a resumed one stays if it has work, and goes if it has none; to look around in it is no end' '
	git agent resume -q written -- true &&
	test_state written captured &&
	git agent land written &&
	git agent resume -q written -- true &&
	git agent list | grep "^written" &&
	git agent shell -q failed -- true &&
	test_state failed captured &&
	git agent resume -q failed -- true &&
	trashed failed
'

test_that 'one that was told to end stays, whatever it exits with' '
	for how in "git agent stop -q s" "kill -TERM \$pid"; do
		git agent start -qd -n s -- sh -c "trap \"exit 0\" TERM HUP; echo up; while :; do sleep 0.1; done" &&
		test_wait_for "git agent logs s | grep up" &&
		pid=$(running s "run[\"supervisor\"]") &&
		eval "$how" &&
		test_expect_code 0 git agent wait s &&
		test_state s captured &&
		git agent drop s || return 1
	done
'

test_that 'of a detached one the exit status is known, and other commands say where it is' '
	test_script ../told "echo \$GIT_AGENT_STATE >$HOME/state" &&
	test_settings "notify: $HOME/told\n" &&
	sed -i /keep_unchanged/d "$conf" &&
	git agent start -qd -n d -- sleep 0.2 &&
	test_expect_code 0 git agent wait d &&
	trashed d &&
	test_expect_code 0 git agent wait --timeout 0 agent/d &&
	test_wait_for "grep dropped ../state" &&
	for command in show logs review land stop drop diff; do
		test_fails 128 "session .d. is in the trash" git agent $command d &&
		grep "^hint: .git agent drop --restore d. .*.git agent resume d. " ../err || return 1
	done &&
	git agent drop --restore d &&
	git agent show d
'

test_that 'automatic names count on from those in the trash' '
	test_prints "1" git agent start -q -- sh -c "echo 1" &&
	trashed sh-1 &&
	test_prints "agent/sh-2" git agent start -q -- sh -c "git branch --show-current" &&
	git agent start -q --keep sh -c : &&
	git agent start -q --keep sh -c : &&
	git agent list | grep "^sh-3 " &&
	git agent list | grep "^sh-4 " &&
	git agent start -q -n sh-1 --keep -- true &&
	test_fails 128 "there is a session .sh-1. again" git agent drop --restore sh-1
'

test_that 'one with a submodule goes as a whole' '
	git init -q ../lib &&
	git -C ../lib commit -q --allow-empty -m l &&
	git -c protocol.file.allow=always submodule --quiet add ../lib lib &&
	git commit -qm sub &&
	test_says "^agent/m: changed nothing.*.git agent drop --restore m. restores" git agent start -n m -- true &&
	trashed m &&
	test -z "$(git -C lib agent list)" &&
	git agent drop --restore m &&
	git -C lib agent list | grep "^m "
'

test_done
