#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a conflict, or a hook that refuses, is left to the user as git leaves it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/landing.sh
. "$TEST_SRCDIR/tests/lib/landing.sh"
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
	test_expect_success "a conflict is left as git leaves it, and aborted: --$how" '
		conflicting abort-$how &&
		refused 4 "merging agent/abort-$how would conflict in f" git agent land --dry-run --$how abort-$how &&
		remember &&
		test_expect_code 4 git agent land --$how abort-$how 2>../err &&
		grep "merging agent/abort-$how conflicts in f" ../err &&
		hint "resolve and .git add., then .git agent land --continue abort-$how. commits it, --abort gives it up" &&
		test "$(git diff --name-only --diff-filter=U)" = f &&
		git diff --cached --name-only | grep -x new &&
		git agent land --abort 2>../err &&
		grep "agent/abort-$how: landing aborted" ../err &&
		unchanged &&
		git agent list | grep "^abort-$how .*captured"
	'
	test_expect_success "resolved it is continued, and undone: --$how" '
		conflicting go-$how &&
		remember &&
		test_expect_code 4 git agent land --$how go-$how &&
		test_expect_code 4 git agent land --continue 2>../err &&
		grep "git did not commit the landing of agent/go-$how" ../err &&
		resolve &&
		git agent land --continue --json >../json &&
		python3 -c "import json, sys; assert json.load(sys.stdin)[\"landed\"]" <../json &&
		landed go-$how &&
		test "$(sed -n 2p f)" = both &&
		git cat-file -e HEAD:new &&
		test "$(git rev-list --parents -1 HEAD | wc -w)" = $(test $how = merge && echo 3 || echo 2) &&
		! git log -1 --format=%B | grep "^#\|Conflicts" &&
		git log -1 --format=%s | grep "agent/go-$how" &&
		git agent land --undo &&
		unchanged
	'
	test_expect_success "with a message of the user: --$how" '
		conflicting words-$how &&
		test_expect_code 4 git agent land --$how words-$how &&
		resolve &&
		git agent land --continue -m "in my words" words-$how &&
		test "$(git log -1 --format=%B)" = "in my words"
	'
	test_expect_success "finished by git commit it has landed, and can be undone: --$how" '
		conflicting plain-$how &&
		remember &&
		test_expect_code 4 git agent land --$how plain-$how &&
		resolve &&
		git commit -q --no-edit &&
		git agent land --continue plain-$how &&
		landed plain-$how &&
		git agent land --undo &&
		unchanged
	'
	test_expect_success "given up by plain git it can be landed again: --$how" '
		conflicting given-$how &&
		test_expect_code 4 git agent land --$how given-$how &&
		if test $how = merge; then git merge --abort; else git reset -q --merge; fi &&
		refused 128 "there is no landing to abort" git agent land --abort given-$how &&
		test_expect_code 4 git agent land --$how given-$how &&
		resolve &&
		git agent land --continue given-$how &&
		landed given-$how
	'
	test_expect_success "while it waits, review says how to continue, and it is neither landed nor dropped: --$how" '
		conflicting waits-$how &&
		session other-$how "echo x >x" &&
		test_expect_code 4 git agent land --$how waits-$how &&
		git agent review --stat waits-$how >../out 2>&1 &&
		cat ../out &&
		grep "git agent land --continue" ../out &&
		for what in "land waits-$how" "land --undo" "drop waits-$how"; do
			refused 2 "waits to be finished\|is not finished" git agent $what &&
			hint "abort" || return 1
		done &&
		refused 2 "a landing of agent/waits-$how waits to be finished" git agent land other-$how &&
		git agent land --abort &&
		git agent land other-$how
	'
done

test_expect_success 'a conflict beside modified files elsewhere: they stay, whatever comes' '
	conflicting edits &&
	line old 8 edit &&
	echo u >untracked &&
	remember &&
	test_expect_code 4 git agent land edits &&
	git agent land --abort &&
	unchanged &&
	test_expect_code 4 git agent land edits &&
	resolve &&
	git agent land --continue &&
	test "$(git status --porcelain)" = " M old
?? untracked" &&
	git agent land --undo &&
	unchanged
'

test_expect_success 'of nothing there is nothing to continue or to abort' '
	make_repo nothing &&
	session n "line f 2 agent" &&
	refused 1 "there is no landing in this working tree" git agent land --continue &&
	refused 128 "there is no landing to continue" git agent land --continue n &&
	refused 128 "there is no landing to abort" git agent land --abort n &&
	git agent land n &&
	refused 128 "" git agent land --abort n &&
	hint "git agent land --undo n"
'

test_expect_success 'a merge of the user is not one of a landing' '
	make_repo users &&
	session u "echo x >x" &&
	git switch -qc side &&
	git commit -q --allow-empty -m s &&
	git switch -q main &&
	mine &&
	git merge -q --no-commit --no-ff side &&
	refused 128 "there is no landing to continue" git agent land --continue u &&
	refused 128 "there is no landing to abort" git agent land --abort u &&
	test -e .git/MERGE_HEAD
'

for how in merge squash; do
	test_expect_success "a hook that refuses leaves it to be continued: --$how" '
		make_repo refuses-$how &&
		session refuses-$how "line f 2 agent" &&
		mine &&
		hook commit-msg "grep -q ^feat: \$1 || { echo no good >&2; exit 1; }" &&
		test_expect_code 4 git agent land --$how refuses-$how 2>../err &&
		cat ../err &&
		grep "^no good$" ../err &&
		grep "agent/refuses-$how is merged, but not committed" ../err &&
		hint "git agent land --continue refuses-$how" &&
		test_expect_code 4 git agent land --continue &&
		git agent land --continue -m "feat: agent" &&
		test "$(git log -1 --format=%s)" = "feat: agent" &&
		landed refuses-$how &&
		git agent land --undo &&
		test_expect_code 4 git agent land --$how refuses-$how &&
		git agent land --abort &&
		test -z "$(git status --porcelain)"
	'
done

test_expect_success 'a hook that lints messages accepts that of a landing as it accepts that of git' '
	make_repo commitlint &&
	session c "line f 2 agent" &&
	mine &&
	hook commit-msg "grep -qE \"^(feat|fix|chore): |^Merge branch \" \$1" &&
	git agent land c &&
	landed c &&
	git agent land --undo &&
	line f 2 mine &&
	git commit -qam "feat: mine" &&
	test_expect_code 4 git agent land c &&
	resolve &&
	git agent land --continue &&
	git log -1 --format=%s | grep "^Merge branch .agent/c.$"
'

test_expect_success 'what a merge driver or the user made of it is judged once it is committed' '
	conflicting judged &&
	test_expect_code 4 git agent land judged &&
	resolve &&
	echo use evil >.envrc &&
	git add .envrc &&
	git agent land --continue 2>../err &&
	grep "flagged in what git or a hook made of it: .envrc: " ../err &&
	landed judged
'

test_expect_success 'a file where the other side has a directory' '
	make_repo swapped &&
	session s "rm g; mkdir g; echo n >g/n; git add -A; git commit -qm dir" &&
	line g 2 mine &&
	git commit -qam mine &&
	remember &&
	test_expect_code 4 git agent land s &&
	git agent land --abort &&
	unchanged &&
	refused 2 "conflicts in " git agent land --rebase s
'

test_expect_success 'work that the session does while it waits lands the next time' '
	conflicting more &&
	test_expect_code 4 git agent land more &&
	git agent resume -q more -- sh -c "echo more >more" &&
	resolve &&
	git agent land --continue more &&
	test ! -e more &&
	git agent land more &&
	test "$(cat more)" = more &&
	landed more
'

test_expect_success 'in another working tree: continued and aborted there, and a drop names it' '
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
