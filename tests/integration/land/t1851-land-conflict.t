#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a conflict, or a hook that refuses, is left to the user as git leaves it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# conflicting NAME: a session that conflicts with the user's branch in f, and changes g and adds new
conflicting() {
	make_repo "$1" &&
	session "$1" "line f 2 agent; line g 2 agent; echo n >new" &&
	line f 2 mine &&
	git commit -qam mine
}

# resolve: the conflict in f
resolve() {
	seq 9 >f &&
	line f 2 both &&
	git add f
}

for how in merge squash; do
	test_that "a conflict is left as git leaves it, and aborted: --$how" '
		conflicting $how &&
		refused 4 "merging agent/$how would conflict in f" git agent land --dry-run --$how $how &&
		remember &&
		test_fails 4 "merging agent/$how conflicts in f" git agent land --$how $how &&
		hint "resolve and .git add., then .git agent land --continue $how. commits it, --abort rolls it back" &&
		test "$(git diff --name-only --diff-filter=U)" = f &&
		git diff --cached --name-only | grep -x new &&
		test_says "agent/$how: landing aborted" git agent land --abort &&
		unchanged &&
		test_state $how captured
	'
	test_that "a conflict that was resolved is committed by --continue, and undone: --$how" '
		cd $how &&
		remember &&
		test_expect_code 4 git agent land --$how $how &&
		test_fails 4 "git did not commit the landing of agent/$how" git agent land --continue &&
		resolve &&
		git agent land --continue --json >../json &&
		python3 -c "import json, sys; assert json.load(sys.stdin)[\"landed\"]" <../json &&
		landed $how &&
		test "$(sed -n 2p f)" = both &&
		git cat-file -e HEAD:new &&
		test "$(git rev-list --parents -1 HEAD | wc -w)" = $(test $how = merge && echo 3 || echo 2) &&
		! git log -1 --format=%B | grep "^#\|Conflicts" &&
		git log -1 --format=%s | grep "agent/$how" &&
		git agent land --undo &&
		unchanged
	'
	test_that "a conflict that git commit finished has landed, and can be undone: --$how" '
		cd $how &&
		remember &&
		test_expect_code 4 git agent land --$how $how &&
		resolve &&
		git commit -q --no-edit &&
		git agent land --continue $how &&
		landed $how &&
		git agent land --undo &&
		unchanged
	'
	test_that "after a conflict that git aborted the session can be landed again: --$how" '
		cd $how &&
		test_expect_code 4 git agent land --$how $how &&
		if test $how = merge; then git merge --abort; else git reset -q --merge; fi &&
		refused 128 "there is no landing to abort" git agent land --abort $how &&
		test_expect_code 4 git agent land --$how $how &&
		resolve &&
		git agent land --continue $how &&
		landed $how
	'
done

test_that 'while a conflict waits, review says how to continue, and nothing else lands' '
	conflicting waits &&
	session other "echo x >x" &&
	test_expect_code 4 git agent land waits &&
	git agent review --stat waits >../out 2>&1 &&
	grep "git agent land --continue" ../out &&
	for what in "land waits" "land --undo" "drop waits"; do
		refused 2 "waits to be finished\|is not finished" git agent $what &&
		hint "abort" || return 1
	done &&
	refused 2 "a landing of agent/waits waits to be finished" git agent land other &&
	git agent land --abort &&
	git agent land other
'

test_that 'without a landing there is nothing to continue or to abort' '
	make_repo nothing &&
	session n "line f 2 agent" &&
	refused 1 "there is no landing in this working tree" git agent land --continue &&
	refused 128 "there is no landing to continue" git agent land --continue n &&
	refused 128 "there is no landing to abort" git agent land --abort n &&
	git agent land n &&
	refused 128 "" git agent land --abort n &&
	hint "git agent land --undo n"
'

test_that 'a merge of the user is not taken for a landing' '
	make_repo users &&
	session u "echo x >x" &&
	git switch -qc side &&
	test_empty s &&
	git switch -q main &&
	mine &&
	git merge -q --no-commit --no-ff side &&
	refused 128 "there is no landing to continue" git agent land --continue u &&
	refused 128 "there is no landing to abort" git agent land --abort u &&
	test -e .git/MERGE_HEAD
'

test_that 'a landing whose commit a hook refuses can be continued or aborted' '
	make_repo refuses &&
	session refuses "line f 2 agent" &&
	mine &&
	hook commit-msg "grep -q ^feat: \$1 || { echo no good >&2; exit 1; }" &&
	for how in merge squash; do
		test_fails 4 "^no good$" git agent land --$how refuses &&
		grep "agent/refuses is merged, but not committed" ../err &&
		hint "git agent land --continue refuses" &&
		test_expect_code 4 git agent land --continue &&
		git agent land --continue -m "feat: agent" &&
		test "$(git log -1 --format=%s)" = "feat: agent" &&
		landed refuses &&
		git agent land --undo &&
		test_expect_code 4 git agent land --$how refuses &&
		git agent land --abort &&
		test -z "$(git status --porcelain)" || return 1
	done
'

test_that 'work that the session does while a conflict waits lands the next time' '
	conflicting more &&
	test_expect_code 4 git agent land more &&
	test_resume more "echo more >more" &&
	resolve &&
	git agent land --continue more &&
	test ! -e more &&
	git agent land more &&
	test "$(cat more)" = more &&
	landed more
'

test_that 'a conflict is continued and aborted in the working tree where it is' '
	conflicting tree &&
	git worktree add -q ../other-tree -b other &&
	cd ../other-tree &&
	test_expect_code 4 git agent land tree &&
	cd ../tree &&
	refused 2 "a landing of agent/tree is not finished" git agent drop tree &&
	refused 1 "there is no landing in this working tree" git agent land --abort &&
	cd ../other-tree &&
	git agent land --abort &&
	cd ../tree &&
	git agent drop --force tree
'

test_done
