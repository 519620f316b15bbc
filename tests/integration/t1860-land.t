# SPDX-License-Identifier: MIT
test_description='ways to land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	git init -q "$1" && (cd "$1" && echo a >a && git add a && git commit -qm base)
}

work='echo 1 >one; git add one; git commit -qm first; echo 2 >two; git add two; git commit -qm second; echo rest >rest'

test_expect_success 'a merge commit is the default, also where a fast-forward would do' '
	make_repo merge && cd merge && git agent start -q --name m -- sh -c "$work" && git agent land m &&
	test "$(git log -1 --format=%s)" = "Merge agent/m" && git rev-parse -q --verify HEAD^2 && test "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/m)" &&
	git agent start -q --name n -- sh -c "echo n >n" && git -c merge.ff=only agent land --merge -m mine n && test "$(git log -1 --format=%s)" = mine && git rev-parse -q --verify HEAD^2
'

test_expect_success 'squashed: one commit of the user'\''s, with the subjects of the agent'\''s' '
	make_repo squash && cd squash && esc=$(printf "\033[31mred") &&
	git agent start -q --name s -- sh -c "$work; git commit -q --allow-empty -m \"$esc\"" && git config user.name "The User" && git commit -q --allow-empty -m meanwhile &&
	git agent land --squash s && git log -1 --format="%an %cn %s" | grep -x "The User The User Squash agent/s" && ! git rev-parse -q --verify HEAD^2 &&
	git log -1 --format=%B >../msg && grep -x "\* first" ../msg && grep -x "\* second" ../msg && ! grep "$(printf "\033")" ../msg &&
	test "$(git rev-parse HEAD^{tree})" = "$(git rev-parse agent/s^{tree})" && test -z "$(git status --porcelain)" && test ! -e .git/SQUASH_MSG &&
	git agent list | grep "^s .*landed" && git agent start -q --name t -- sh -c "echo t >t" && git agent land --squash -m "in my words" t && test "$(git log -1 --format=%B)" = "in my words"
'

test_expect_success 'moved on, where that can be; else refused and nothing touched' '
	make_repo ff && cd ff && git agent start -q --name f -- sh -c "$work" && git agent start -q --name g -- sh -c "echo g >g" &&
	git agent land --ff-only f && test "$(git rev-parse HEAD)" = "$(git rev-parse agent/f)" && test -e rest &&
	git rev-parse HEAD >../before && test_expect_code 128 git agent land --ff-only g 2>../err && grep "your branch has commits that agent/g lacks" ../err && grep "hint: .*--merge" ../err &&
	git rev-parse HEAD >../after && test_cmp ../before ../after && test ! -e g && ! git rev-parse -q --verify refs/agent/g/undo &&
	test_expect_code 128 git agent land --dry-run --ff-only g && git agent land g && test -e g
'

test_expect_success 'flags block each way, and the user'\''s hooks run' '
	make_repo gate && cd gate && git agent start -q --name e -- sh -c "echo evil >.envrc; echo ok >ok" &&
	for how in merge squash ff-only; do test_expect_code 3 git agent land --$how e || return 1; done &&
	printf "#!/bin/sh\necho \"\$0\" >>../hooks\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && cp .git/hooks/pre-commit .git/hooks/pre-merge-commit && cp .git/hooks/pre-commit .git/hooks/post-merge && cp .git/hooks/pre-commit .git/hooks/commit-msg &&
	git agent review --reject e .envrc && : >../hooks && git agent land --squash e && grep pre-commit ../hooks && grep commit-msg ../hooks && test ! -e .envrc &&
	git agent land --undo e && : >../hooks && git agent land e && grep pre-merge-commit ../hooks && grep post-merge ../hooks
'

test_expect_success 'a squash that conflicts, and one that a hook refuses, are left to be finished' '
	make_repo conflict && cd conflict && git agent start -q --name c -- sh -c "echo theirs >a; echo n >n" && echo ours >a && git commit -qam ours &&
	test_expect_code 4 git agent land --dry-run --squash c && test_expect_code 4 git agent land --squash c 2>../err && grep "squashing agent/c conflicts in a" ../err && grep "hint: .*git reset --merge" ../err &&
	git reset -q --merge && test -z "$(git status --porcelain)" && test_expect_code 4 git agent land --squash c && git checkout -q --theirs a && git add a && git commit -qm done && git agent list | grep "^c .*landed" &&
	git agent start -q --name h -- sh -c "echo h >h" && printf "#!/bin/sh\nexit 1\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit &&
	test_expect_code 4 git agent land --squash h 2>../err && grep "staged but not committed: a hook or signing refused it" ../err && git diff --cached --name-only | grep -x h &&
	rm .git/hooks/pre-commit && git commit -qm again && git agent list | grep "^h .*landed"
'

test_expect_success 'one way at a time' '
	make_repo usage && cd usage && git agent start -q --name u -- sh -c "echo u >u" &&
	test_expect_code 129 git agent land --squash --merge u 2>../err && grep "choose one" ../err && test_expect_code 129 git agent land --ff-only -m x u && test_expect_code 129 git agent land --undo --squash u && test ! -e u
'

test_done
