#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='capture of what the agent left on other refs: branches, stashes, tags, a detached HEAD'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use attacks
require_sandbox

# heads NAME: "BRANCH ID" of the branches that are kept beside the one of the session
heads() {
	git for-each-ref --format="%(refname:lstrip=4) %(objectname)" "refs/agent/$1/heads"
}

test_that 'the branch that HEAD is on keeps its name' '
	make_repo athead &&
	git branch mine &&
	test_says "branches are kept on refs/agent/h/heads/: feature" git agent start --name h -- sh -c "
		git branch at-base
		git switch -q -c feature
		echo 1 >one
		git add one
		git commit -qm one
		git branch second" &&
	grep "note: the agent.s branches are kept on refs.agent.h.heads.: feature, second$" ../err &&
	tip=$(git rev-parse agent/h) &&
	test_prints "feature $tip\nsecond $tip" heads h &&
	test_resume h "
		echo 2 >two
		git add two
		git commit -qm two
		git branch -q -D second
		git branch third agent/h~1" &&
	test_prints "feature $tip" heads h &&
	git agent resume -q h -- git branch -q -f feature mine &&
	! heads h | grep .
'

test_that 'a branch on which all has landed does not keep git agent gc from a session' '
	cd athead &&
	test_session g "
		git switch -q -c topic
		echo g >g
		git add g
		git commit -qm g
		echo rest >rest" &&
	git agent land g &&
	git agent gc | grep "^session g:"
'

test_that 'work on no branch is kept: tags, older stashes, worktrees' '
	make_repo alone "
		git commit -q --allow-empty -m first
		git tag -am t theirs
		git tag plain" &&
	git agent start --name t -- sh -c "
		git checkout -q --detach &&
		echo d >det &&
		git add det &&
		git commit -qm tagged &&
		git tag -am annotated v1 &&
		git switch -q agent/t
		git tag here
		git tag of-a-blob \$(git hash-object -w a)
		for i in 1 2 3; do
			echo \$i >a
			git stash -q
		done
		git worktree add -q --detach wt &&
		cd wt &&
		echo w >w &&
		git add w &&
		git commit -qm \"in a tree\"" 2>../err &&
	grep "on no branch is kept on refs/agent/t/others/: refs/tags/v1, stash/1, stash/2, worktree/1$" ../err &&
	git for-each-ref --format="%(refname:lstrip=3) %(objecttype)" refs/agent/t/others >../got &&
	printf "others/%s commit\n" refs/tags/v1 stash/1 stash/2 worktree/1 >../want &&
	test_cmp ../want ../got &&
	test_holds refs/agent/t/others/refs/tags/v1:det d &&
	test_holds refs/agent/t/others/stash/1:a 2 &&
	test_holds refs/agent/t/others/stash/2:a 1 &&
	test_holds refs/agent/t/others/worktree/1:w w &&
	git fsck --connectivity-only &&
	test_expect_code 2 git agent drop t &&
	git agent list | grep "^t .*other refs" &&
	git agent drop --force t
'

test_that 'tags that the agent made or moved are named, and not taken' '
	make_repo tags "
		git commit -q --allow-empty -m first
		git tag -am t theirs
		git tag moved" &&
	git agent start --name g -- sh -c "
		git tag light
		git tag of-a-blob HEAD:a
		git commit -q --allow-empty -m one
		git tag -am notes v1
		git tag -f moved" 2>../err &&
	grep "tags that are not here, or are others here, are not taken: light, moved, of-a-blob, v1$" ../err &&
	test "$(git tag | tr "\n" " ")" = "moved theirs " &&
	test_says "are not taken: 1, 10, .* and 2 more$" git agent start --name h -- sh -c "
		git tag -d theirs
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git tag \$i; done" &&
	git agent start --name i -- git tag -d moved 2>../err &&
	! grep "tags that" ../err
'

# The agent puts a tag and a branch on each commit of a branch of the user, and deletes that one.
test_that 'refs on commits of the user are not the work of the agent, and git is asked once for all' '
	make_repo yours &&
	git switch -q -c old &&
	for i in 1 2 3 4 5 6; do git commit -q --allow-empty -m $i; done &&
	git switch -q main &&
	GIT_AGENT_TRACE=$PWD/../trace git agent -c limits.capture.branches=1 start --name y -- sh -c "
		git rev-list main..old |
			sed \"s,.*,create refs/tags/t-& &\ncreate refs/heads/t-& &,\" |
			git update-ref --stdin
		git branch -D old
		git branch own \$(git commit-tree -m own HEAD^{tree})" 2>../err &&
	test_prints refs/agent/y/heads/own \
		git for-each-ref --format="%(refname)" refs/agent/y/heads refs/agent/y/others &&
	! grep "more branches" ../err &&
	grep "runs git" ../trace >../runs &&
	test "$(grep -c "rev-list --max-count.* --not --tags" ../runs)" = 1 &&
	! grep "rev-list -n 1 " ../runs
'

# more refs than git inside is told of
test_that 'refs of the user do not count against the limit of branches, however many there are' '
	make_repo manyrefs &&
	tip=HEAD &&
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
		tip=$(git commit-tree -p $tip -m $i HEAD^{tree}) || return 1
	done &&
	echo "create refs/tags/z $tip" | git update-ref --stdin &&
	seq -f "create refs/tags/a%05g $(git rev-parse HEAD)" 10001 | git update-ref --stdin &&
	git pack-refs --all &&
	git agent -c limits.capture.branches=1 start --name m -- sh -c "
		git rev-list main..z~1 |
			sed \"s,.*,create refs/tags/t-& &,\" |
			git update-ref --stdin
		git tag -d z
		git tag zz \$(git commit-tree -m own HEAD^{tree})" 2>../err &&
	test_prints refs/agent/m/others/refs/tags/zz git for-each-ref --format="%(refname)" refs/agent/m/others &&
	! grep "more commits on no branch" ../err
'

# each alone would be within it
test_that 'a branch of the user that the agent merged counts against no limit' '
	make_repo merged "git commit -q --allow-empty -m first" &&
	git branch old &&
	for i in 1 2 3 4 5 6; do echo $i >>m && git add m && git commit -qm $i || exit 1; done &&
	git update-ref refs/remotes/origin/up HEAD~1 &&
	git switch -q old &&
	for b in main origin/up; do
		git agent -c limits.capture.commits=2 start --name m-$(basename $b) -- sh -c "
			git merge -q --no-ff -m merge $b
			echo w >w
			git add w
			git commit -qm w" &&
		test "$(git log -1 --format=%s agent/m-$(basename $b)~1)" = merge || exit 1
	done &&
	git agent -c limits.capture.commits=2 start --name m-more -- sh -c "
		git merge -q --no-ff -m merge main
		for i in 1 2; do git commit -q --allow-empty -m \$i; done" &&
	git agent show m-more | grep "commits were not taken (there are too many commits"
'

test_that 'a ref of the user whose object is missing does not stop a capture' '
	make_repo brokenref &&
	git rev-parse HEAD | tr 0-9a-f f | tee .git/refs/heads/broken >.git/refs/tags/broken &&
	test_session b "
		echo b >b &&
		git add b &&
		git commit -qm c &&
		git branch side \$(git commit-tree -m s HEAD^{tree})" &&
	test "$(git log -1 --format=%s agent/b)" = c &&
	test_shows "branches are kept on .*: side" git agent show b &&
	! grep "could be read" ../out &&
	git agent land b &&
	test "$(cat b)" = b
'

test_that 'a branch whose name cannot be kept does not cost the stash' '
	make_repo odd &&
	test_session s "
		echo s >>a &&
		git stash -q &&
		git branch \$(printf \"x\342\200\213y\") \$(git commit-tree -m odd HEAD^{tree})" 2>../err &&
	git agent show s >../show &&
	grep "has a name that cannot be kept" ../show &&
	grep "stash is kept on refs/agent/s/stash" ../show &&
	git show refs/agent/s/stash:a | grep s
'

test_that 'branches named in another script, and refs below refs/stash, are kept' '
	make_repo script &&
	name=$(printf "fix\343\200\200jp") &&
	test_session k "
		git branch $name &&
		git switch -q $name &&
		git commit -q --allow-empty -m jp &&
		git switch -q - &&
		git update-ref refs/stash/odd \$(git commit-tree -m odd HEAD^{tree})" &&
	test "$(git log -1 --format=%s "refs/agent/k/heads/$name")" = jp &&
	test "$(git log -1 --format=%s refs/agent/k/others/refs/stash/odd)" = odd &&
	test "$(git agent show k | grep -c "u{3000}")" = 0
'

test_that 'a session that has only branches or a stash says so, and drop asks first' '
	make_repo only &&
	test_says "nothing to commit" git agent start --name h -- sh -c "
		git switch -q -c side &&
		git commit -q --allow-empty -m side &&
		git switch -q agent/h" &&
	grep "next: git for-each-ref refs/agent/h/" ../err &&
	test_session s "
		echo st >a &&
		git stash -q" &&
	for n in h s; do
		test_fails 2 "branches or a stash" git agent drop $n &&
		grep "hint: .*refs/agent/$n/" ../err &&
		git agent list | grep "^$n .*other refs" &&
		test_says "nothing to land" git agent land $n &&
		grep "for-each-ref refs/agent/$n/" ../err || return 1
	done &&
	git agent start --name n -- git branch another &&
	git agent list | grep "^n .*no change" &&
	git agent show n | grep "next: git agent drop n" &&
	git agent drop n &&
	git agent drop --force h s
'

test_that 'control characters in commits of the agent are escaped on every ref' '
	make_repo raw &&
	esc="$(printf "\033]0;x\007")" &&
	git agent start --name r -- sh -c "
		git switch -q -c side &&
		echo s >s &&
		git add s &&
		git commit -qm \"side $esc\" &&
		echo t >t &&
		git add t &&
		git commit -qm plain &&
		git switch -q agent/r &&
		echo st >a &&
		git stash push -q -m \"stash $esc\" &&
		echo x >.envrc &&
		echo y >y &&
		git add .envrc y &&
		git -c user.name=\"N $esc\" commit -qm held" 2>../err &&
	test_session r2 "git commit -q --amend -m \"amended $esc\"" &&
	echo dirty >d/x &&
	test_session r3 "
		echo z >z
		git add z
		git commit -qm \"carried $esc\"" &&
	git for-each-ref --format="%(refname)" >../refs &&
	for ref in r/heads/side r/stash r/orig r/held r2/orig; do grep $ref ../refs || exit 1; done &&
	git log --all --format="%H %an %cn %B" >../log &&
	! LC_ALL=C grep -n "[[:cntrl:]]" ../log &&
	grep "side .e\]0;x" ../log &&
	test_holds refs/agent/r/heads/side:t t &&
	test_holds refs/agent/r/stash:a st &&
	test_holds refs/agent/r/stash^2:a a &&
	git agent show r | grep "3 commits had control characters"
'

test_that 'GT-12: a trailer of ours that the agent wrote is named' '
	make_repo trailers &&
	git agent start --name r -- sh -c "
		git commit -q --allow-empty -m x -m \"agent-check : make check -> 0\" -m \"Agents: 1\" &&
		git commit -q --allow-empty -m y -m \"Agent-Accepted: z\"" 2>../err &&
	test_shows "that git agent writes, .*: Agent-Accepted, agent-check$" git agent review r
'

test_done
