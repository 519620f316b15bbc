#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='resume --update merges the user'\''s branch into a session, inside'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# repo NAME: a repository with a session s that has work
repo() {
	test_enter "$1" &&
	seq 9 >a &&
	echo b >b &&
	echo "all:" >Makefile &&
	test_commit base &&
	test_session s "sed -i s/2/two/ a; git commit -qam two; echo n >new"
}
# what the user commits meanwhile, with what would be held or flagged if the agent had made it
theirs() {
	sed -i "s/^$1$/$2/" a &&
	echo "all: x" >Makefile &&
	mkdir .husky &&
	echo x >.husky/pre-commit &&
	echo user >user &&
	test_commit theirs
}
# own NAME: the paths that count as the session's own
own() {
	git agent diff "$1" | sed -n 's,^+++ b/,,p'
}
has_flags() {
	git agent review --json "$1" | grep '"path": ".*\(Makefile\|husky\)'
}

test_that 'what has come since is merged before the command runs, and is not the agent'\''s' '
	repo clean &&
	theirs 9 nine &&
	test_says "agent/s: merges main into it first" \
		git agent resume --update s -- sh -c "cat a Makefile user; git status -s; echo m >>new" >../out &&
	grep nine ../out &&
	grep two ../out &&
	grep "all: x" ../out &&
	! grep "^ M" ../out &&
	git merge-base --is-ancestor main agent/s &&
	test_prints "a\nnew" own s &&
	! has_flags s &&
	git agent show s | grep "agent/s: 4 commits, 2 files changed" &&
	git agent land s &&
	git diff --quiet HEAD agent/s
'

test_that 'a conflict is left inside, and resolved there' '
	repo conflict &&
	theirs 2 zwei &&
	git agent resume --update s -- sh -c "cat a; git status -s" >../out 2>../err &&
	grep "^<<<<<<< HEAD" ../out &&
	grep "^UU a" ../out &&
	git agent show s | grep "note: merging main left conflicts inside" &&
	git agent resume --update s -- sh -c "
		seq 9 >a && sed -i s/2/two/ a && git add a && git commit -qm resolved" &&
	test_holds agent/s:.husky/pre-commit x &&
	test_prints "a\nnew" own s &&
	! has_flags s &&
	test "$(sed -n 2p a)" = zwei &&
	git agent land s &&
	test "$(sed -n 2p a)" = two
'

test_that 'a merge that the agent aborts leaves the session as it was' '
	repo abort &&
	theirs 2 zwei &&
	before=$(git rev-parse agent/s) &&
	git agent resume --update s -- git merge --abort &&
	test "$(git rev-parse agent/s)" = $before &&
	test_prints "a\nnew" own s &&
	git agent resume --update s -- sh -c "git checkout -q --theirs a; git commit -qam r; echo 3 >>new" &&
	test_prints "new" own s
'

test_that 'it can be updated again, and what the agent does to what was merged is flagged' '
	repo again &&
	theirs 9 nine &&
	git agent resume -q --update s -- true &&
	echo more >more &&
	test_commit more &&
	git agent resume -q --update s -- sh -c "echo all: y >Makefile; cat more" >../out &&
	grep more ../out &&
	test_prints "Makefile\na\nnew" own s &&
	has_flags s >../flags &&
	! grep husky ../flags &&
	git agent review --reject s Makefile &&
	test_holds agent/s:Makefile "all: x" &&
	git agent land s
'

test_that 'a session without work gets none by it' '
	test_enter none a &&
	git agent start -q -n s -- true &&
	echo b >b &&
	test_commit more &&
	git agent resume -q --update s -- cat b >../out &&
	grep b ../out &&
	! git rev-parse -q --verify agent/s &&
	git agent show s | grep "nothing to commit" &&
	git agent resume -q s -- sh -c "cat b; echo c >c" >../out &&
	grep b ../out &&
	test_prints "c" own s &&
	git agent show s | grep "1 commit, 1 file changed" &&
	git agent land s
'

test_that 'uncommitted work and what is held stay what they are' '
	test_enter dirty &&
	seq 9 >a &&
	echo b >b &&
	test_commit base &&
	echo mine >>b &&
	test_session s "sed -i s/2/two/ a; echo theirs >>b; echo e >.envrc" &&
	sed -i s/9/nine/ a &&
	git commit -qm nine a &&
	test_resume s "true" &&
	git agent resume -q --update s -- cat a b .envrc >../out &&
	for word in two nine mine theirs e; do grep "^$word" ../out || return 1; done &&
	git ls-tree --name-only agent/s >../tree &&
	! grep envrc ../tree &&
	test_prints "a" own s &&
	git agent diff --uncommitted s | grep "^+theirs"
'

test_that 'one that was killed while its command ran is captured with what was merged' '
	repo killed &&
	theirs 9 nine &&
	git agent resume -qd --update s -- sh -c "echo k >k; sleep 1000" &&
	test_wait_for "git agent diff s | grep ^+k" &&
	git agent stop --force s &&
	test_holds agent/s:k k &&
	! has_flags s &&
	test_prints "a\nk\nnew" own s
'

test_that 'a merge that git refuses is no start' '
	repo refused &&
	theirs 9 nine &&
	git agent resume -q s -- sh -c "echo u >user; git add user; git stash -q; echo x >.git/MERGE_HEAD" &&
	git agent resume -q s -- sh -c "git rev-parse HEAD >.git/CHERRY_PICK_HEAD" &&
	test_fails 125 "cannot merge main into session .s." git agent resume --update s -- touch ran &&
	grep "^hint: .git agent resume s. continues" ../err &&
	! git cat-file -e agent/s:ran
'

test_done
