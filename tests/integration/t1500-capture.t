#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='capture: commits, converted content, what stays behind, hostile git dirs'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# make_repo NAME [COMMANDS]: a repository with one commit of what COMMANDS make.
make_repo() {
	git init -q "$1" &&
	(
		cd "$1" &&
		echo a >a &&
		mkdir d &&
		echo x >d/x &&
		eval "${2:-:}" &&
		git add -A &&
		git commit -qm base
	)
}

# What git itself makes of the same work, done in a plain clone with the same
# configuration: same_as_git REPO REV COMMANDS
same_as_git() {
	rm -rf ../plain &&
	git clone -q . ../plain &&
	cp .git/config ../plain/.git/config.host &&
	(
		cd ../plain &&
		git config include.path config.host &&
		cp -r ../"$1"/.git/info/. .git/info/ &&
		rm -f .git/index &&
		git reset -q --hard &&
		sh -c "$3" &&
		git add -A &&
		git write-tree
	) >../want &&
	git rev-parse "$2^{tree}" >../got &&
	test_cmp ../want ../got
}

test_expect_success 'no change: no commit, no branch, no entry' '
	make_repo none &&
	cd none &&
	git agent start --name n -- sh -c "
		touch a
		mkdir empty
		chmod 600 d/x" 2>../err &&
	test_must_fail git rev-parse -q --verify agent/n &&
	test ! -e .git/worktrees &&
	git agent list | grep "^n .*captured"
'

test_expect_success 'the message, the identity and the trailers of the commit for the rest' '
	make_repo msg &&
	cd msg &&
	git agent start --name m1 -m "do the thing" -- sh -c "
		echo b >b
		echo envrc >.envrc
		true" &&
	test_prints "do the thing" git log -1 --format=%s agent/m1 &&
	test_prints "A U Thor <author@example.com> A U Thor" git log -1 --format="%an <%ae> %cn" agent/m1 &&
	git log -1 --format="%(trailers:key=Agent-Session,valueonly)%(trailers:key=Agent-Base,valueonly)" agent/m1 |
		grep . >../got &&
	printf "%s\n" m1 "$(git rev-parse HEAD)" >../want &&
	test_cmp ../want ../got &&
	git log -1 --format="%(trailers:key=Agent-Command,valueonly)" agent/m1 |
		grep "^sh -c .*echo b >b" &&
	git log -1 --format="%(trailers:key=Agent-Flagged,valueonly)" refs/agent/m1/orig |
		grep "^critical .* .envrc$" &&
	git agent start --name m2 -- sh -c "echo c >c" &&
	git log -1 --format=%s agent/m2 | grep "^agent/m2: 1 file changed$"
'

test_expect_success 'commits are kept with their ids, the rest is one more' '
	make_repo keep &&
	cd keep &&
	git agent start --name k -- sh -c "
		echo 1 >one &&
		git add one &&
		git commit -qm one &&
		echo 2 >a &&
		git commit -qam two &&
		git rev-parse HEAD >\$HOME/tip
		echo 3 >three &&
		rm d/x" &&
	git rev-parse agent/k~1 >../got &&
	test_cmp "$HOME/aihome/tip" ../got &&
	test_prints "D\td/x\nA\tthree" git diff --name-status agent/k~1 agent/k
'

test_expect_success 'other branches, a stash, a detached HEAD, a tag of its own' '
	make_repo many "
		git commit -q --allow-empty -m first
		git branch older
		echo 2 >2" &&
	cd many &&
	git agent start --name b -- sh -c "
		git switch -q -c side &&
		echo s >s &&
		git add s &&
		git commit -qm side &&
		git switch -q older &&
		echo o >o &&
		git add o &&
		git commit -qm \"on older\" &&
		git switch -q agent/b &&
		echo st >a &&
		git stash -q &&
		git checkout -q --detach &&
		echo d >det &&
		git add det &&
		git commit -qm detached" 2>../err &&
	grep "note: the agent.s branch side is kept on refs/agent/b/heads/" ../err &&
	grep "note: the agent.s stash is kept on refs/agent/b/stash" ../err &&
	git log -1 --format=%s agent/b >../got &&
	git log -1 --format=%s refs/agent/b/heads/side >>../got &&
	git log -1 --format=%s refs/agent/b/heads/older >>../got &&
	git show refs/agent/b/stash:a >>../got &&
	printf "%s\n" detached side "on older" st >../want &&
	test_cmp ../want ../got &&
	git for-each-ref --format="%(refname)" refs/agent/b/heads | wc -l | grep -x " *2" &&
	git fsck --connectivity-only &&
	git log -1 --format=%s older | grep first
'

test_expect_success 'a branch that HEAD stands on keeps its name, also when what is on it has been published' '
	make_repo athead &&
	cd athead &&
	git branch mine &&
	git agent start --name h -- sh -c "
		git branch at-base
		git switch -q -c feature
		echo 1 >one
		git add one
		git commit -qm one
		git branch second" 2>../err &&
	grep "note: the agent.s branch feature is kept on refs/agent/h/heads/" ../err &&
	grep "note: the agent.s branch second is kept" ../err &&
	heads() { git for-each-ref --format="%(refname:lstrip=4) %(objectname)" refs/agent/h/heads; } &&
	tip=$(git rev-parse agent/h) &&
	heads >../got &&
	printf "%s $tip\n" feature second >../want &&
	test_cmp ../want ../got &&
	git agent resume -q h -- sh -c "
		echo 2 >two
		git add two
		git commit -qm two
		git branch -q -D second
		git branch third agent/h~1" &&
	test_prints "feature $tip" heads &&
	git agent resume -q h -- git branch -q -f feature mine &&
	! heads | grep . &&
	git agent start -q --name own -- sh -c "
		echo 1 >one
		git add one
		git commit -qm one" &&
	! git for-each-ref refs/agent/own/heads | grep . &&
	git agent start -q --name g -- sh -c "
		git switch -q -c topic
		echo g >g
		git add g
		git commit -qm g
		echo rest >rest" &&
	git agent land g &&
	git agent gc | grep "^session g:"
'

test_expect_success 'commits of which no file is another: no commit is promised' '
	make_repo nofile "
		git commit -q --allow-empty -m first
		echo 2 >2" &&
	cd nofile &&
	git agent start --name amended -- git commit -q --amend -m other 2>../err &&
	grep "note: the agent rewrote history below its base: its work is one commit, if any file differs from its base; its own commits are kept" ../err &&
	! git rev-parse -q --verify agent/amended &&
	test "$(git log -1 --format=%s refs/agent/amended/orig)" = other &&
	git agent start --name unborn -- git symbolic-ref HEAD refs/heads/nowhere 2>../err &&
	grep "note: the agent.s HEAD names no commit: its work is one commit, if any file differs from its base$" ../err &&
	! git rev-parse -q --verify agent/unborn
'

test_expect_success 'work on no branch: tags, older stashes, other working trees, what was under way' '
	make_repo alone "
		git commit -q --allow-empty -m first
		git tag -am t theirs
		git tag plain" &&
	cd alone &&
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
	test "$(git show refs/agent/t/others/refs/tags/v1:det)" = d &&
	test "$(git show refs/agent/t/others/stash/1:a)" = 2 &&
	test "$(git show refs/agent/t/others/stash/2:a)" = 1 &&
	test "$(git show refs/agent/t/others/worktree/1:w)" = w &&
	git fsck --connectivity-only &&
	test_expect_code 2 git agent drop t &&
	git agent list | grep "^t .*other refs" &&
	git agent drop --force t
'

test_expect_success 'tags that were made or moved inside are named, as nothing else would say that there were some' '
	make_repo tags "
		git commit -q --allow-empty -m first
		git tag -am t theirs
		git tag moved" &&
	cd tags &&
	git agent start --name g -- sh -c "
		git tag light
		git tag of-a-blob HEAD:a
		git commit -q --allow-empty -m one
		git tag -am notes v1
		git tag -f moved" 2>../err &&
	grep "note: tags that are not here, or are others here, are not taken: light, moved, of-a-blob, v1$" ../err &&
	test "$(git tag | tr "\n" " ")" = "moved theirs " &&
	git agent start --name h -- sh -c "
		git tag -d theirs
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git tag \$i; done" 2>../err &&
	grep "are not taken: 1, 10, .* and 2 more$" ../err &&
	git agent start --name i -- git tag -d moved 2>../err &&
	! grep "tags that" ../err
'

test_expect_success 'what was in the middle of something is said, and what git put aside for that is kept' '
	make_repo half &&
	cd half &&
	conflict="git switch -q -c t; echo 1 >a; git commit -qam t; git switch -q -; echo 2 >a; git commit -qam m" &&
	git agent start --name r -- sh -c "
		$conflict
		echo dirty >d/x
		git rebase -q --autostash t
		true" 2>../err &&
	grep "note: the agent stopped in the middle of a rebase" ../err &&
	test "$(git show refs/agent/r/others/autostash:d/x)" = dirty &&
	test "$(git show refs/agent/r/heads/agent/r:a)" = 2 &&
	git agent start --name m -- sh -c "
		$conflict
		git branch -q k t
		git switch -q --detach t
		git commit -q --allow-empty -m alone
		tip=\$(git rev-parse HEAD)
		git switch -q agent/m
		git merge -q \$tip
		true" 2>../err &&
	grep "note: the agent stopped in the middle of a merge" ../err &&
	git log -1 --format=%s refs/agent/m/others/merging | grep -x alone &&
	git update-ref refs/heads/agent/m "$(git commit-tree -p agent/m -m empty agent/m^{tree})" &&
	git agent resume m -- true &&
	! git agent show m | grep "in the middle" &&
	git log -1 --format=%s refs/agent/m/others/merging | grep -x alone &&
	git agent start --name c -- sh -c "
		$conflict
		git cherry-pick t
		true" 2>../err &&
	grep "in the middle of a cherry-pick" ../err &&
	! grep "on no branch" ../err &&
	git branch -q side &&
	git switch -q side &&
	echo s >s &&
	git add s &&
	git commit -qm side &&
	git switch -q main &&
	git agent start --name n -- git merge -q --no-commit --no-ff side 2>../err &&
	grep "in the middle of a merge" ../err &&
	! grep "on no branch" ../err &&
	git agent start --name p -- sh -c "$conflict" 2>../err &&
	! grep "in the middle" ../err &&
	git agent start --name q -- sh -c "
		$conflict
		git cherry-pick t~1 t
		git commit -q --allow-empty -m by-hand
		git revert --no-edit t t~1
		git reset -q" 2>../err &&
	grep "in the middle of cherry-picks or reverts" ../err &&
	git agent start --name a -- sh -c "
		$conflict
		git format-patch -q -1 -o /tmp t
		git am -q /tmp/0001-t.patch
		true" 2>../err &&
	grep "in the middle of applying patches" ../err
'

test_expect_success 'what was in the middle of something in another working tree of its own is said and kept' '
	make_repo trees &&
	cd trees &&
	conflict="git switch -q -c t; echo 1 >a; git commit -qam t; git switch -q -; echo 2 >a; git commit -qam m" &&
	git agent start --name w -- sh -c "
		$conflict
		git worktree add -q -b wt /tmp/wt &&
		cd /tmp/wt &&
		echo dirty >d/x
		git rebase -q --autostash t
		true" 2>../err &&
	grep "note: the agent stopped in the middle of a rebase in its working tree wt: " ../err &&
	test "$(git show refs/agent/w/others/worktrees/wt/autostash:d/x)" = dirty &&
	git agent resume -q w -- git worktree prune &&
	test "$(git show refs/agent/w/others/worktrees/wt/autostash:d/x)" = dirty &&
	git agent start --name m -- sh -c "
		git worktree add -q --detach /tmp/mt &&
		cd /tmp/mt &&
		git merge -q --no-ff --no-commit \$(git commit-tree -p HEAD -m alone HEAD^{tree})" 2>../err &&
	grep "in the middle of a merge in its working tree mt: " ../err &&
	git log -1 --format=%s refs/agent/m/others/worktrees/mt/merging | grep -x alone &&
	git agent start --name hostile -- sh -c "
		git worktree add -q --detach /tmp/h
		cd .git/worktrees &&
		ln -s .. up &&
		e=\"\$(printf \"e\033[31m\")\" &&
		mkdir \"\$e\" loop &&
		ln -s . loop/rebase-merge &&
		git commit-tree -m esc HEAD^{tree} >\"\$e\"/MERGE_HEAD" 2>../err &&
	! grep "$(printf "\\033")" ../err &&
	grep "in its working tree .e.e.31m" ../err &&
	grep "the agent.s ref .worktrees/e.*merging. has a name that cannot be kept" ../err &&
	test_expect_code 2 git agent drop hostile
'

test_expect_success 'a merge of several that was not finished: each is kept' '
	make_repo several &&
	cd several &&
	git agent start --name o -- sh -c "
		for i in 1 2 3; do
			git switch -q --detach agent/o
			echo \$i >f\$i
			git add f\$i
			git commit -qm \$i
			git rev-parse HEAD >>/tmp/tips
		done
		git switch -q agent/o
		git merge -q --no-ff --no-commit \$(cat /tmp/tips)" 2>../err &&
	grep "is kept on refs/agent/o/others/: merging, merging-2, merging-3$" ../err &&
	printf "1\n2\n3\n" >../want &&
	git log --no-walk=unsorted --format=%s refs/agent/o/others/merging refs/agent/o/others/merging-2 \
		refs/agent/o/others/merging-3 >../got &&
	test_cmp ../want ../got
'

test_expect_success 'not all could be read, and one of an earlier run is in the way of a new one' '
	make_repo way &&
	cd way &&
	git agent start -q --name w -- sh -c "git tag x \$(git commit-tree -m first HEAD^{tree})" &&
	first=$(git rev-parse refs/agent/w/others/refs/tags/x) &&
	{
		GIT_AGENT_FAULT=capture:before-refs:kill git agent resume -q w -- sh -c "
		git tag -d x
		git tag x/y \$(git commit-tree -m second HEAD^{tree})
		git rev-parse HEAD:a >.git/refs/heads/blob
		echo n >a"
		test $? = 137
	} &&
	git agent capture w &&
	git agent show w | grep "not all of the agent.s branches could be read" &&
	test "$(git show agent/w:a)" = n &&
	test "$(git log -1 --format=%s refs/agent/w/others/refs/tags/x/y)" = second &&
	test "$(git rev-parse "refs/agent/w/earlier/$first")" = "$first"
'

test_expect_success 'what is on a branch of yours that the agent removed is not its work, and git is not asked of each' '
	make_repo yours &&
	cd yours &&
	git switch -q -c old &&
	for i in 1 2 3 4 5 6; do git commit -q --allow-empty -m $i; done &&
	git switch -q main &&
	GIT_AGENT_TRACE=$PWD/../trace git agent start --name y -- sh -c "
		git rev-list main..old |
			sed \"s,.*,create refs/tags/t-& &,\" |
			git update-ref --stdin
		git branch -D old
		git tag own \$(git commit-tree -m own HEAD^{tree})" 2>../err &&
	grep "on no branch is kept on refs/agent/y/others/: refs/tags/own$" ../err &&
	grep "runs git" ../trace &&
	! grep "rev-list -n 1 " ../trace
'

test_expect_success 'branches that stand on yours: git is asked about all of them at once' '
	make_repo stand &&
	cd stand &&
	git switch -q -c old &&
	for i in 1 2 3 4 5 6; do git commit -q --allow-empty -m $i; done &&
	git switch -q main &&
	GIT_AGENT_TRACE=$PWD/../trace git agent -c limits.capture.branches=1 start --name y -- sh -c "
		git rev-list main..old |
			sed \"s,.*,create refs/heads/t-& &,\" |
			git update-ref --stdin
		git branch -D old
		git branch own \$(git commit-tree -m own HEAD^{tree})" 2>../err &&
	test_prints refs/agent/y/heads/own git for-each-ref --format="%(refname)" refs/agent/y/heads refs/agent/y/others &&
	! grep "more branches" ../err &&
	grep "runs git" ../trace >../runs &&
	test "$(grep -c "rev-list --max-count.* --not --tags" ../runs)" = 1 &&
	! grep "rev-list -n 1 " ../runs
'

test_expect_success 'a ref of yours whose object is missing is in no capture'\''s way' '
	make_repo brokenref &&
	cd brokenref &&
	git rev-parse HEAD | tr 0-9a-f f | tee .git/refs/heads/broken >.git/refs/tags/broken &&
	git agent start -q --name b -- sh -c "
		echo b >b &&
		git add b &&
		git commit -qm c &&
		git branch side \$(git commit-tree -m s HEAD^{tree})" &&
	test "$(git log -1 --format=%s agent/b)" = c &&
	git agent show b >../out &&
	grep "branch side is kept" ../out &&
	! grep "could be read" ../out &&
	git agent land b &&
	test "$(cat b)" = b
'

# more refs than git inside is told of
test_expect_success 'a repository of very many refs: what the user has is not counted against the limit of branches' '
	make_repo manyrefs &&
	cd manyrefs &&
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

# MERGE_HEAD as git never writes it: one commit twice
test_expect_success 'two refs of an earlier run that stood on one commit: it is kept once, and the next capture goes on' '
	make_repo once &&
	cd once &&
	git agent start -q --name o -- sh -c "
		t=\$(git commit-tree -m first HEAD^{tree}) &&
		printf \"%s\n%s\n\" \$t \$t >.git/MERGE_HEAD &&
		git branch b" &&
	first=$(git rev-parse refs/agent/o/others/merging) &&
	test "$(git rev-parse refs/agent/o/others/merging-2)" = "$first" &&
	git agent resume -q o -- sh -c "
		t=\$(git commit-tree -m second HEAD^{tree}) &&
		printf \"%s\n%s\n\" \$t \$t >.git/MERGE_HEAD
		echo b >a" &&
	test "$(git log -1 --format=%s refs/agent/o/others/merging)" = second &&
	test "$(git rev-parse "refs/agent/o/earlier/$first")" = "$first" &&
	test "$(git show agent/o:a)" = b
'

test_expect_success 'a name that cannot be kept costs no stash' '
	make_repo odd &&
	cd odd &&
	git agent start -q --name s -- sh -c "
		echo s >>a &&
		git stash -q &&
		git branch \$(printf \"x\342\200\213y\") \$(git commit-tree -m odd HEAD^{tree})" 2>../err &&
	git agent show s | grep "has a name that cannot be kept" &&
	git agent show s | grep "stash is kept on refs/agent/s/stash" &&
	git show refs/agent/s/stash:a | grep s
'

test_expect_success 'a branch named in another script, a ref below the stash' '
	make_repo script &&
	cd script &&
	name=$(printf "fix\343\200\200jp") &&
	git agent start -q --name k -- sh -c "
		git branch $name &&
		git switch -q $name &&
		git commit -q --allow-empty -m jp &&
		git switch -q - &&
		git update-ref refs/stash/odd \$(git commit-tree -m odd HEAD^{tree})" &&
	test "$(git log -1 --format=%s "refs/agent/k/heads/$name")" = jp &&
	test "$(git log -1 --format=%s refs/agent/k/others/refs/stash/odd)" = odd &&
	test "$(git agent show k | grep -c "u{3000}")" = 0
'

test_expect_success 'what is on no branch and is refused costs nothing else' '
	make_repo alonebad &&
	cd alonebad &&
	git agent start --name t -- sh -c "
		git checkout -q --detach
		echo 1 >a
		git commit -qam det
		x=\$(git rev-parse HEAD^{tree})
		git tag v
		git switch -q -c side agent/t
		echo s >s
		git add s
		git commit -qm side
		git switch -q agent/t
		rm -f .git/objects/\$(echo \$x | cut -c1-2)/\$(echo \$x | cut -c3-)
		echo 3 >a
		git commit -qam good" 2>../err &&
	grep "note: what the agent committed on no branch (refs/tags/v) was not taken, and stays in the session (" ../err &&
	git log -1 --format=%s agent/t | grep -x good &&
	git log -1 --format=%s refs/agent/t/heads/side | grep -x side &&
	! grep "one commit" ../err
'

# The report has a lock, for which git waits some seconds
test_expect_success 'killed while git updates refs: nobody else captures before git is done' '
	make_repo killed &&
	cd killed &&
	{
		"$GIT_AGENT" start -q --name kill1 -- sh -c "
		echo b >b
		sleep 2" &
		pid=$!
	} &&
	test_wait_for "git rev-parse -q --verify agent/kill1" &&
	: >.git/refs/agent/kill1/report.lock &&
	test_wait_for "test -e .git/refs/heads/agent/kill1.lock" &&
	kill -9 $pid &&
	lock=$(echo "$HOME"/.local/state/git-agent/*/sessions/kill1/lock) &&
	{
		wait $pid
		test_must_fail flock -n "$lock" true
	} &&
	rm .git/refs/agent/kill1/report.lock &&
	test_wait_for "flock -n $lock true" &&
	git agent capture kill1 &&
	test "$(git show agent/kill1:b)" = b
'

test_expect_success 'a branch of a former run that the user rewrote, and one of the user that leads nowhere: gone objects are in no way' '
	make_repo former &&
	cd former &&
	git agent start -q --name f -- sh -c "
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
	git agent resume -q f -- sh -c "echo c >c" &&
	test "$(git log --format=%s -1 agent/f~)" = rewritten &&
	test "$(git show agent/f:c)" = c &&
	tip=$(git rev-parse agent/f^{tree}) &&
	git agent capture f &&
	test "$(git rev-parse agent/f^{tree})" = "$tip"
'

# For agents: take the object of that revision away.
without="without() { o=\$(git rev-parse \$1) && rm -f .git/objects/\$(echo \$o | cut -c1-2)/\$(echo \$o | cut -c3-); }"

test_expect_success 'refs that nothing can be made of cost no other, and are named' '
	make_repo badrefs &&
	cd badrefs &&
	git agent start --name r -- sh -c "
		$without
		for i in 1 2 3; do
			git switch -q -c side\$i agent/r
			echo \$i >s
			git add s
			git commit -qm side\$i
		done
		git switch -q -c gone
		git commit -q --allow-empty -m gone
		without HEAD >/dev/null
		git symbolic-ref HEAD refs/heads/agent/r
		cd .git/refs/heads
		echo garbage >garbage
		: >empty
		git rev-parse side1 >a..b
		git tag -am t t side1
		git rev-parse t >tag
		git rev-parse HEAD: >tree
		cd - >/dev/null
		git reset -q --hard
		echo h >h
		git add h
		git commit -qm head" 2>../err &&
	cat ../err &&
	test "$(git log -1 --format=%s agent/r)" = head &&
	for i in 1 2 3; do
		test "$(git log -1 --format=%s refs/agent/r/heads/side$i)" = side$i || exit 1
	done &&
	git agent show r | grep "note: not all of the agent.s branches could be read: " >../note &&
	for n in garbage empty a..b gone tag tree; do grep " $n\(,\|$\)" ../note || exit 1; done &&
	! grep "side\|agent/r[, ]" ../note
'

test_expect_success 'a branch with a hole below it, or that git refuses, costs no other, HEAD neither' '
	make_repo holes &&
	cd holes &&
	evil="git update-ref refs/heads/evil \$(git commit-tree -m evil \$({ printf \"100644 .git\\0\"; git rev-parse HEAD:a | perl -ne \"print pack(q(H40), \\\$_)\"; } | git hash-object -w --stdin --literally -t tree))" &&
	git agent start --name h -- sh -c "
		$without
		for i in 1 2 3 4; do
			git switch -q -c side\$i agent/h
			echo \$i >s\$i
			git add s\$i
			git commit -qm side\$i
			git tag tag\$i \$(git commit-tree -p HEAD -m tag\$i HEAD:)
		done
		without side2: &&
		$evil &&
		git switch -q agent/h &&
		echo h >h &&
		git add h &&
		git commit -qm head" 2>../err &&
	cat ../err &&
	test "$(git log -1 --format=%s agent/h)" = head &&
	for i in 1 3 4; do
		test "$(git log -1 --format=%s refs/agent/h/heads/side$i)" = side$i &&
		test "$(git log -1 --format=%s refs/agent/h/others/refs/tags/tag$i)" = tag$i ||
			exit 1
	done &&
	git agent show h >../show &&
	! grep "one commit" ../show &&
	grep "note: the agent.s branch side2 was not taken, and stays in the session (" ../show &&
	grep "note: the agent.s branch evil was not taken, and stays in the session (.*hasDotgit" ../show &&
	grep "note: what the agent committed on no branch (refs/tags/tag2) was not taken" ../show &&
	git for-each-ref --format="%(objectname)" | xargs git rev-list --objects >/dev/null &&
	test_expect_code 2 git agent drop h &&
	git agent capture h &&
	git agent show h >../again &&
	test_cmp ../show ../again
'

test_expect_success 'a HEAD that git refuses costs no branch; one with a hole in its history no tag' '
	make_repo badhead &&
	cd badhead &&
	git agent start --name h -- sh -c "
		$without
		git switch -q -c side &&
		echo s >s &&
		git add s &&
		git commit -qm side &&
		git switch -q agent/h &&
		echo h >h &&
		git add h &&
		git commit -qm head &&
		cp -r .git/objects /tmp &&
		without HEAD: &&
		echo w >w" 2>../err &&
	cat ../err &&
	grep "note: the agent.s commits were not taken (.*: its work is one commit" ../err &&
	test "$(git rev-list --count HEAD..agent/h)" = 1 &&
	test "$(git show agent/h:h agent/h:w)" = "$(printf "h\nw")" &&
	test "$(git log -1 --format=%s refs/agent/h/heads/side)" = side &&
	git agent start --name t -- sh -c "
		$without
		git tag good \$(git commit-tree -p HEAD -m good HEAD:) &&
		git commit -q --allow-empty -m gone &&
		git commit -q --allow-empty -m top &&
		without HEAD~1 &&
		echo w >w" 2>../err &&
	cat ../err &&
	grep "note: the agent.s commits were not taken (.*: its work is one commit" ../err &&
	test "$(git log -1 --format=%s refs/agent/t/others/refs/tags/good)" = good &&
	test "$(git show agent/t:w)" = w
'

# each alone would be within it
test_expect_success 'a branch of yours that the agent merged counts against no limit' '
	make_repo merged "git commit -q --allow-empty -m first" &&
	cd merged &&
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

test_expect_success 'commits that are not taken and left no file: no commit is promised' '
	make_repo empty &&
	cd empty &&
	git agent -c limits.capture.commits=1 start --name e -- sh -c "
		git commit -q --allow-empty -m 1
		git commit -q --allow-empty -m 2" &&
	git agent show e |
		grep "commits were not taken (.*): its work is one commit, if any file differs from its base\$" &&
	! git rev-parse -q --verify agent/e
'

test_expect_success 'more broken refs than git is heard about: not counted as if these were all' '
	make_repo broken &&
	cd broken &&
	long=$(printf "%060d" 0) &&
	for n in 20 1000; do
		git agent start --name b$n -- sh -c "for i in \$(seq $n); do echo x >.git/refs/heads/$long\$i; done" &&
		git agent show b$n >../b$n ||
			exit 1
	done &&
	grep "could be read: .* and 10 more\$" ../b20 &&
	grep "could be read: .* and at least [0-9]* more\$" ../b1000
'

test_expect_success 'more than a limit allows is not taken in parts, but for HEAD' '
	make_repo parts &&
	cd parts &&
	git agent -c limits.capture.commits=5 start --name p -- sh -c "
		for i in 1 2 3 4; do
			git switch -q -c side\$i agent/p
			for k in 1 2; do git commit -q --allow-empty -m \$i.\$k; done
		done
		git switch -q agent/p
		git commit -q --allow-empty -m head" 2>../err &&
	cat ../err &&
	test "$(git log -1 --format=%s agent/p)" = head &&
	! git for-each-ref refs/agent/p/heads | grep . &&
	test "$(grep -c "note: the agent.s branch side. was not taken, and stays in the session (.*limits.capture.commits" ../err)" = 4 &&
	git agent capture p &&
	test "$(git for-each-ref refs/agent/p/heads | wc -l)" = 4
'

# What all of it and HEAD are given is done at once; from then on git is busy with a pack for most of the time there is.
test_expect_success 'packs that keep git busy outside get a time for all of them: HEAD comes, what else is late is said' '
	make_repo slow &&
	cd slow &&
	evil="git update-ref refs/heads/evil \$(git commit-tree -p HEAD -m evil \$({ printf \"100644 .git\\0\"; git rev-parse HEAD:a | perl -ne \"print pack(q(H40), \\\$_)\"; } | git hash-object -w --stdin --literally -t tree))" &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name s -- sh -c "
		$evil
		git tag alone \$(git commit-tree -p HEAD -m alone HEAD:)
		git branch side \$(git commit-tree -p HEAD -m side HEAD:)
		echo h >h &&
		git add h &&
		git commit -qm head"
		test $? = 137
	} &&
	mkdir ../slow-git &&
	real=$(command -v git) &&
	cat >../slow-git/git <<-EOF &&
	#!/bin/sh
	case " \$* " in *" index-pack "*) echo x >>$PWD/../slow-git/n; test \$(wc -l <$PWD/../slow-git/n) -le 3 || sleep 15;; esac
	exec $real "\$@"
	EOF
	chmod +x ../slow-git/git &&
	PATH=$PWD/../slow-git:$PATH "$GIT_AGENT" -c limits.capture.git_time=2 capture s 2>../err &&
	cat ../err ../slow-git/n &&
	test "$(git log -1 --format=%s agent/s)" = head &&
	! git for-each-ref refs/agent/s/heads refs/agent/s/others | grep . &&
	git agent show s >../show &&
	for what in "agent.s branch evil" "agent.s branch side" "no branch (refs/tags/alone)"; do
		grep "note: .*$what was not taken, and stays in the session (checking the commits took too long (limits.capture.git_time: 2s))" ../show ||
			exit 1
	done &&
	test "$(wc -l <../slow-git/n)" -le 5 &&
	grep "note: for what is beyond a limit, raise limits.capture.git_time in .*git agent capture s" ../show &&
	git agent capture s 2>../err &&
	test "$(git log -1 --format=%s refs/agent/s/heads/side)" = side &&
	git agent show s | grep "branch evil was not taken.*hasDotgit"
'

test_expect_success 'a checkout that the agent narrowed: what is gone with that is said' '
	make_repo narrow "
		mkdir e f
		echo e >e/e
		echo f >f/f" &&
	cd narrow &&
	find . -type f ! -path "./.git/*" -exec touch -d "2 hours ago" {} + &&
	git status >/dev/null &&
	git agent start --name s -- git sparse-checkout set --cone d 2>../err &&
	grep "note: the agent narrowed its checkout (git sparse-checkout): 2 files not in it count as deleted" ../err &&
	git agent start --name t -- sh -c "
		git sparse-checkout set --cone d
		git sparse-checkout disable
		rm e/e" 2>../err &&
	! grep narrowed ../err &&
	test "$(git diff --name-status HEAD agent/t)" = "$(printf "D\te/e")" &&
	mkdir ../patterns &&
	touch ../patterns/sparse-checkout &&
	git agent start --name links -- sh -c "
		git config core.sparseCheckout true
		rm -rf .git/info
		ln -s $PWD/../patterns .git/info
		rm f/f" 2>../err &&
	! grep narrowed ../err
'

test_expect_success 'where branches or a stash are all there is, list and land say so and drop asks first' '
	make_repo only &&
	cd only &&
	git agent start --name h -- sh -c "
		git switch -q -c side &&
		git commit -q --allow-empty -m side &&
		git switch -q agent/h" 2>../err &&
	grep "nothing to commit" ../err &&
	grep "next: git for-each-ref refs/agent/h/" ../err &&
	git agent start --name s -- sh -c "
		echo st >a &&
		git stash -q" &&
	git agent start --name n -- git branch another &&
	for n in h s; do
		test_expect_code 2 git agent drop $n 2>../err &&
		grep "branches or a stash" ../err &&
		grep "hint: .*refs/agent/$n/" ../err &&
		git agent list | grep "^$n .*other refs" &&
		git agent land $n 2>../err &&
		grep "nothing to land" ../err &&
		grep "for-each-ref refs/agent/$n/" ../err || return 1
	done &&
	git agent list | grep "^n .*no change" &&
	git agent show n >../out &&
	grep "next: git agent drop n" ../out &&
	git agent drop n &&
	git agent drop --force h s
'

test_expect_success 'nothing of the agent'\''s on any ref reaches a terminal raw' '
	make_repo raw &&
	cd raw &&
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
	git agent start --name r2 -- sh -c "git commit -q --amend -m \"amended $esc\"" &&
	echo dirty >d/x &&
	git agent start --name r3 -- sh -c "
		echo z >z
		git add z
		git commit -qm \"carried $esc\"" &&
	git for-each-ref --format="%(refname)" >../refs &&
	grep r/heads/side ../refs &&
	grep r/stash ../refs &&
	grep r/orig ../refs &&
	grep r/held ../refs &&
	grep r2/orig ../refs &&
	git log --all --format="%H %an %cn %B" >../log &&
	! LC_ALL=C grep -n "[[:cntrl:]]" ../log &&
	grep "side .e\]0;x" ../log &&
	test "$(git show refs/agent/r/heads/side:t)" = t &&
	test "$(git show refs/agent/r/stash:a)" = st &&
	test "$(git show refs/agent/r/stash^2:a)" = a &&
	git agent show r | grep "3 commits had control characters"
'

# Up to the state, so that it is captured again.
test_expect_success 'branches a later capture does not find any more go, unless it could not look' '
	make_repo later &&
	cd later &&
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
	heads() { git for-each-ref --format="%(refname:lstrip=4)" refs/agent/l/heads | tr "\n" " "; } &&
	test "$(heads)" = "one three two " &&
	dir=$(echo "$HOME"/.local/state/git-agent/*/sessions/l/git) &&
	rm "$dir/refs/heads/two" &&
	mv "$dir/refs/heads/three" ../three &&
	mkdir "$dir/refs/heads/three" &&
	mv ../three "$dir/refs/heads/three/deep" &&
	test_must_fail git agent capture l &&
	test "$(heads)" = "one three/deep " &&
	git rev-parse -q --verify refs/agent/l/stash &&
	mv "$dir/HEAD" ../HEAD &&
	mkfifo "$dir/HEAD" &&
	test_must_fail git agent capture l &&
	test "$(heads)" = "one three/deep " &&
	git rev-parse -q --verify refs/agent/l/stash &&
	rm "$dir/HEAD" &&
	mv ../HEAD "$dir/HEAD" &&
	rm "$dir/refs/stash" &&
	test_must_fail git agent capture l &&
	test "$(heads)" = "one three/deep " &&
	test_must_fail git rev-parse -q --verify refs/agent/l/stash
'

# A packed-refs file written by hand, and a branch of the user's that has one of its commits at the
# first capture: that one is not the agent's then, and is in the way of the other afterwards.
test_expect_success 'captured again with not all read: what is in the way of another stays on a ref of its own' '
	for kind in x/y x; do
		make_repo again-$(basename $kind) &&
		(
			cd again-$(basename $kind) &&
			users=$(git commit-tree -p HEAD -m users HEAD^{tree}) &&
			git branch mine $users &&
			export GIT_AGENT_FAULT=capture:before-state:fail &&
			test_must_fail git agent start --name w -- sh -c "
		own=\$(git commit-tree -m own HEAD^{tree})
		echo st >a
		git stash -q
		printf \"# pack-refs with: peeled fully-peeled sorted \n%s refs/heads/x\n%s refs/heads/$kind\n\" $users \$own >.git/packed-refs" &&
			own=$(git rev-parse refs/agent/w/heads/$kind) &&
			test "$(git log -1 --format=%s $own)" = own &&
			stash=$(git rev-parse refs/agent/w/stash) &&
			git branch -q -D mine &&
			unset GIT_AGENT_FAULT &&
			git agent capture w >../out &&
			grep "has a name that cannot be kept" ../out &&
			test "$(git rev-parse refs/agent/w/heads/x)" = $users &&
			test "$(git rev-parse refs/agent/w/earlier/$own)" = $own &&
			test "$(git rev-parse refs/agent/w/stash)" = $stash

		) || return 1
	done
'

test_expect_success 'captured in another working tree of the repository, or where it was moved to: nothing is lost for that' '
	make_repo here "printf \"*.lf text\\n\" >.gitattributes" &&
	cd here &&
	git worktree add -q ../there &&
	work="printf \"1\\r\\n\" >1.lf; echo 1 >1; git add 1; git commit -qm mine; git branch side HEAD~1; git switch -qc other; git commit -q --allow-empty -m other; git switch -q -; echo w >w" &&
	came() {
		! git agent show $1 | grep "note: .*\\(read\\|names no commit\\|not converted\\)" &&
		test "$(git log -1 --format=%s agent/$1~1)" = mine &&
		test "$(git log -1 --format=%s refs/agent/$1/heads/other)" = other &&
		test "$(git cat-file blob agent/$1:1.lf)" = 1
	} &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name x -- sh -c "$work"
		test $? = 137
	} &&
	(cd ../there && git agent list | grep "^x .*captured" && came x) &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --live --name z -- sh -c "$work"
		test $? = 137
	} &&
	(cd ../there && echo other >a && git agent capture z && came z) &&
	! git agent show z | grep "note: .*working tree" &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name y -- sh -c "$work"
		test $? = 137
	} &&
	cd .. &&
	mv here elsewhere &&
	cd elsewhere &&
	git agent capture y &&
	came y
'

test_expect_success 'captured in another working tree: the HEAD, files and configuration of its own count' '
	make_repo whose &&
	cd whose &&
	git config extensions.worktreeConfig true &&
	git worktree add -q ../whose-wt &&
	git -C ../whose-wt config --worktree core.fileMode false &&
	cd ../whose-wt &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name o -- sh -c "
		echo 1 >f
		echo 1 >g
		chmod +x a"
		test $? = 137
	} &&
	echo mine >f &&
	echo mine >g &&
	git add g &&
	git commit -qm g &&
	cd ../whose &&
	echo mine >g &&
	git add g &&
	git commit -qm other &&
	git rm -q g &&
	git commit -qm gone &&
	git agent capture o 2>../err &&
	cat ../err &&
	git agent show o >../show &&
	grep "note: held back, .*: f\$" ../show &&
	test "$(git ls-tree agent/o a | cut -c1-6)" = 100644 &&
	cd ../whose-wt &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --live --name l -- sh -c "echo 1 >h"
		test $? = 137
	} &&
	echo seen >a &&
	cd ../whose &&
	git agent capture l &&
	git agent show l | grep "note: the working tree changed while the session ran on it" &&
	cd ../whose-wt &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --live --name k -- sh -c "echo 1 >i"
		test $? = 137
	} &&
	rm .git &&
	cd ../whose &&
	git agent capture k &&
	git agent show k | grep "note: whether the working tree changed .* is not known" &&
	test "$(git cat-file blob agent/k:i)" = 1
'

test_expect_success 'an amended base: one commit, the agent'\''s own beside it' '
	make_repo amend &&
	cd amend &&
	git agent start --name am -- sh -c "
		echo z >z &&
		git add z &&
		git commit -q --amend -m amended" 2>../err &&
	git rev-parse agent/am~1 >../got &&
	git rev-parse HEAD >../want &&
	test_cmp ../want ../got &&
	test "$(git show agent/am:z)" = z &&
	git log -1 --format=%s refs/agent/am/orig | grep amended &&
	git agent show am | grep -i history
'

test_expect_success 'a path dropped from the index stays dropped, not brought back' '
	make_repo rmc "
		mkdir gen &&
		echo 1 >gen/1 &&
		echo 2 >gen/2" &&
	cd rmc &&
	git agent start --name r -- sh -c "
		git rm -rq --cached gen &&
		echo gen/ >.gitignore &&
		git add .gitignore &&
		git commit -qm \"untrack gen\" &&
		git rev-parse HEAD >\$HOME/tip" &&
	git rev-parse agent/r >../got &&
	test_cmp "$HOME/aihome/tip" ../got &&
	! git cat-file -e agent/r:gen/1 2>/dev/null
'

test_expect_success 'an ignored file of the user'\''s that the agent commits is held back' '
	make_repo ign "
		echo secret.cfg >.gitignore
		echo mods/ >>.gitignore" &&
	cd ign &&
	echo mine >secret.cfg &&
	mkdir mods &&
	echo m >mods/m &&
	git agent start --name f -- sh -c "
		cat secret.cfg
		git add -f secret.cfg mods/m &&
		git commit -qm force &&
		echo more >more" &&
	test_prints more git diff --name-only HEAD agent/f &&
	test "$(git show refs/agent/f/held:secret.cfg)" = mine &&
	test "$(git show refs/agent/f/held:mods/m)" = m &&
	git merge -q agent/f &&
	test "$(cat secret.cfg)" = mine
'

test_expect_success 'commits of which nothing may be on the branch: no branch, and nothing is lost' '
	make_repo none2 "echo \"*.cfg\" >.gitignore" &&
	cd none2 &&
	git agent start --name h -- sh -c "
		echo c >x.cfg &&
		git add -f x.cfg &&
		git commit -qm force &&
		git rev-parse HEAD >\$HOME/tip
		echo i >y.cfg
		mkfifo pipe" 2>../err &&
	grep "^agent/h: no commit" ../err &&
	grep "next: git agent review h" ../err &&
	test_must_fail git rev-parse -q --verify agent/h &&
	git rev-parse refs/agent/h/orig >../got &&
	test_cmp "$HOME/aihome/tip" ../got &&
	git rev-parse refs/agent/h/held~1 >../got &&
	git rev-parse HEAD >../want &&
	test_cmp ../want ../got &&
	git agent list >../list &&
	grep "^h .*captured" ../list &&
	! grep "no change" ../list &&
	git agent show h >../show &&
	grep "left behind: y.cfg" ../show &&
	grep "left behind: pipe" ../show &&
	test_expect_code 2 git agent drop h &&
	git agent capture h &&
	test_must_fail git rev-parse -q --verify agent/h &&
	git agent review --accept h x.cfg &&
	test_prints x.cfg git diff --name-only HEAD agent/h &&
	test "$(git rev-list --count HEAD..agent/h)" = 1
'

test_expect_success 'work that is all on uncommitted work: no branch, land brings it' '
	make_repo none3 &&
	cd none3 &&
	echo mine >a &&
	git agent start --name o -- sh -c "
		echo theirs >a
		echo i >pipe
		rm pipe
		mkfifo pipe" 2>../err &&
	grep "^agent/o: no commit" ../err &&
	grep "uncommitted changes: a" ../err &&
	test_must_fail git rev-parse -q --verify agent/o &&
	git agent show o | grep "left behind: pipe" &&
	git agent land o &&
	test "$(cat a)" = theirs &&
	git agent list | grep "^o .*landed"
'

test_expect_success 'a commit the agent made empty stays; one of names no tree may hold does not appear' '
	make_repo none4 &&
	cd none4 &&
	git agent start --name e1 -- sh -c "git commit -q --allow-empty -m \"run the checks\"" &&
	test "$(git log -1 --format=%s agent/e1)" = "run the checks" &&
	git agent start --name e2 -- sh -c "
		mkdir d/.GIT &&
		echo x >d/.GIT/x
		mkfifo pipe" &&
	test_must_fail git rev-parse -q --verify agent/e2 &&
	git agent show e2 >../show &&
	grep "left behind: d/.GIT" ../show &&
	grep "left behind: pipe" ../show &&
	git agent list | grep "^e2 .*captured"
'

test_expect_success 'GT-07: an untracked file of the user'\''s is not written over by a merge' '
	make_repo unt &&
	cd unt &&
	git agent start --dirty ignore --name u -- sh -c "
		echo theirs >same
		echo ok >ok" >/dev/null &&
	echo mine >same &&
	git agent start --dirty ignore --name u2 -- sh -c "
		echo theirs >same
		echo ok >ok2" &&
	test "$(git diff --name-only HEAD agent/u2)" = ok2 &&
	test "$(git show refs/agent/u2/held:same)" = theirs &&
	git merge -q agent/u2 &&
	test "$(cat same)" = mine
'

# A plain merge removes what is ignored in a directory that becomes a file.
test_expect_success 'nor is what is ignored in a directory that the agent made a file' '
	make_repo unt2 "
		mkdir -p e/sub &&
		echo x >e/sub/x &&
		mkdir k &&
		echo x >k/x" &&
	cd unt2 &&
	echo "*.o" >.git/info/exclude &&
	echo mine >d/mine.o &&
	mkdir e/sub/in &&
	echo mine >e/sub/in/mine.o &&
	mkdir k/none &&
	git agent start --name u3 -- sh -c "
		rm -r d e k
		echo theirs >d
		echo theirs >e
		ln -s a k
		echo ok >ok" &&
	test_prints "D\td/x\nD\te/sub/x\nA\tk\nD\tk/x\nA\tok" git diff --name-status --no-renames HEAD agent/u3 &&
	test "$(git show refs/agent/u3/held:d)" = theirs &&
	git agent show u3 >../show &&
	grep "note: held back, .*: d, e\$" ../show &&
	git merge -q agent/u3 &&
	test "$(cat d/mine.o e/sub/in/mine.o)" = "mine
mine" &&
	test -L k
'

test_expect_success 'the user'\''s excludes and attributes: one file for the sandbox and the capture, as git finds it' '
	make_repo uf "
		mkdir conf &&
		echo *.rel >conf/ign &&
		echo \"*.txt text\" >conf/attr" &&
	echo "*.home" >uf-ign &&
	cd uf &&
	for ign in conf/ign "~/uf-ign"; do
		n=$((n + 1)) &&
		git config core.excludesFile "$ign" &&
		git config core.attributesFile conf/attr &&
		(
			cd d &&
			git agent start --name u$n -- sh -c "
		cd .. &&
		touch 1.rel 1.home 1.other &&
		printf \"1\r\n\" >1.txt &&
		git status --porcelain -uall >\$HOME/inside"

		) &&
		{ git diff --name-only HEAD agent/u$n | sed "s/^/?? /"; } >../got &&
		test_cmp "$HOME/aihome/inside" ../got &&
		test "$(git cat-file blob agent/u$n:1.txt | od -An -c | tr -d " ")" = "1\\n" || exit 1
	done &&
	test_prints "1.home\n1.rel" git diff --no-renames --name-only agent/u1 agent/u2
'

work='printf "1\r\n2\r\n" >crlf; printf "1\n" >lf; printf "x\r\n" >>d/x; printf "\$Id\$\n" >id.c; printf "\0\r\n" >bin'
test_expect_success 'text=auto, eol and ident are applied as git does' '
	make_repo attr "printf \"* text=auto\n*.c ident\n\" >.gitattributes" &&
	cd attr &&
	git agent start --name c -- sh -c "$work" &&
	same_as_git attr agent/c "$work" &&
	printf "1\n2\n" >../want &&
	git cat-file blob agent/c:crlf >../got &&
	test_cmp ../want ../got
'

test_expect_success 'attributes the agent brings itself, and those of info/attributes' '
	make_repo own &&
	cd own &&
	agent="$work; printf \"crlf text\n\" >.gitattributes; printf \"x text eol=crlf\n\" >d/.gitattributes" &&
	git agent start --name o -- sh -c "$agent" &&
	same_as_git own agent/o "$agent" &&
	echo "crlf text" >.git/info/attributes &&
	git agent start --name o2 -- sh -c "$work" &&
	same_as_git own agent/o2 "$work"
'

test_expect_success 'core.autocrlf of the host' '
	make_repo auto &&
	cd auto &&
	git config core.autocrlf true &&
	rm a d/x &&
	git checkout -q . &&
	grep -q "$(printf "\r")" a &&
	git agent start --name ac -- sh -c "
		$work
		printf \"new\r\n\" >>a" &&
	same_as_git auto agent/ac "
		$work
		printf \"new\r\n\" >>a" &&
	git agent start --name ac0 -- sh -c "touch a d/x" &&
	test_must_fail git rev-parse -q --verify agent/ac0
'

test_expect_success 'working-tree-encoding' '
	make_repo enc "echo \"*.u16 working-tree-encoding=UTF-16LE\" >.gitattributes" &&
	cd enc &&
	git agent start --name e -- sh -c "printf \"h\\000i\\000\" >t.u16" &&
	test "$(git cat-file blob agent/e:t.u16)" = hi
'

# The mark is made in the project: there it shows wherever the filter ran, inside at the
# capture too. Before that the filter is seen to be one that works.
test_expect_success 'GT-08: a filter the agent defines is never run over what is taken' '
	make_repo filt &&
	cd filt &&
	git agent start --name fi -- sh -c "
		git config filter.evil.clean \"echo x >>\$PWD/ran; cat; echo evil\" &&
		git config core.autocrlf true &&
		echo \"f filter=evil\" >.gitattributes &&
		printf \"raw\r\n\" >f &&
		git add f &&
		git update-index --force-remove f &&
		rm ran" &&
	printf "raw\r\n" >../want &&
	git cat-file blob agent/fi:f >../got &&
	test_cmp ../want ../got &&
	test_prints ".gitattributes\nf" git diff --name-only HEAD agent/fi &&
	test ! -e "$(echo "$HOME"/.local/state/git-agent/*/sessions/fi/upper)/ran" &&
	test ! -e ran
'

test_expect_success 'a fifo in place of attributes: not waited for long, the work is taken' '
	make_repo fifo "echo \"* text=auto\" >.gitattributes" &&
	cd fifo &&
	git agent start --name ff -- sh -c "
		printf \"1\r\n\" >f
		mkfifo d/.gitattributes
		echo y >d/x" &&
	test "$(git cat-file blob agent/ff:d/x)" = y &&
	git agent show ff | grep "left behind: d/.gitattributes"
'

test_expect_success 'what stays behind is listed with its kind and count' '
	make_repo left "echo \"*.log\" >.gitignore" &&
	cd left &&
	git agent start --name b -- sh -c "
		mkfifo pipe
		echo 1 >1.log
		mkdir out
		echo out/ >>.gitignore
		echo 1 >out/1
		echo 22 >out/2
		git init -q nested &&
		echo n >nested/n
		mkdir d/.git
		echo cfg >d/.GIT
		chmod 000 a 2>/dev/null
		echo s >closed
		chmod 000 closed" &&
	git agent review --format=json b >../json &&
	python3 - <<-\EOF &&
	import json
	r = json.load(open("../json"))
	got = {(x["path"], x["kind"], x["count"]) for x in r["left_behind"] if x["path"] != "nested"}
	want = {("pipe", "special", 1), ("1.log", "ignored", 1), ("out", "ignored", 2), ("d/.git", "repository", 0), ("d/.GIT", "name", 1)}
	assert got == want, got ^ want
	assert [x["kind"] for x in r["left_behind"] if x["path"] == "nested"] == ["repository"]
	EOF
	git agent show b | grep "newly ignored: out" &&
	test "$(git cat-file blob agent/b:closed)" = s &&
	! git cat-file -e agent/b:nested 2>/dev/null
'

test_expect_success 'what was written into a shared ignored directory stays there, counted' '
	make_repo shared "echo mods/ >.gitignore" &&
	cd shared &&
	mkdir mods &&
	echo m >mods/m &&
	git agent start --name s -- sh -c "echo n >mods/n; echo o >o" &&
	test ! -e mods/n &&
	git agent review --format=json s >../json &&
	grep -A3 "\"mods\"" ../json | grep -q ignored
'

test_expect_success 'GT-03: a hostile git dir: never opened here, the work is taken all the same' '
	make_repo evil &&
	cd evil &&
	for how in "echo garbage >.git/HEAD" "rm -rf .git/objects .git/refs .git/packed-refs" "ln -sf /etc/passwd .git/HEAD" \
		"mkfifo .git/x; rm .git/HEAD; mkfifo .git/HEAD" "printf \"[core]\n\tfsmonitor = touch \$HOME/pwned; false\n\thooksPath = /tmp\n[broken\" >.git/config" \
		"echo \$(git rev-parse HEAD | tr 0-9a-f f) >.git/refs/heads/bad; echo 1111111111111111111111111111111111111111 >.git/HEAD" \
		"rm -rf .git/index; mkdir .git/index; echo x >.git/packed-refs"; do
		n=$((n + 1)) &&
		git agent start --name e$n -- sh -c "
		echo c >c &&
		git add c &&
		git commit -qm c
		echo w$n >w
		$how" 2>../err &&
		test "$(git cat-file blob agent/e$n:w)" = w$n &&
		test "$(git cat-file blob agent/e$n:c)" = c || {
			cat ../err
			echo "failed: $how"
			exit 1
		}
	done &&
	test ! -e "$HOME/pwned" &&
	git fsck --connectivity-only &&
	git status --porcelain >../got &&
	test ! -s ../got
'

# The time git inside gets is cut short; what keeps it busy would do so for ever.
test_expect_success 'git that is kept waiting at the capture is ended: one commit, and why' '
	make_repo wait &&
	cd wait &&
	git agent -c limits.capture.git_time=2 start --name w -- sh -c "
		echo c >c &&
		git add c &&
		git commit -qm c
		echo w >w
		mkfifo pipe
		printf \"[include]\n\tpath = ../pipe\n\" >>.git/config" &&
	test "$(git rev-list --count HEAD..agent/w)" = 1 &&
	test "$(git cat-file blob agent/w:w)" = w &&
	test "$(git cat-file blob agent/w:c)" = c &&
	git agent show w |
		grep "not taken (git inside took longer than the 2 seconds it is given for this (limits.capture.git_time: 2s))"
'

# Versions of git since then match such patterns in no time.
test_lazy_prereq SLOW_PATTERNS '
	git init -q slow-patterns && cd slow-patterns && mkdir -p $(printf "b/%.0s" $(seq 60)) &&
	echo "$(printf "**/b/%.0s" $(seq 12))x text" >.gitattributes &&
	! timeout 3 git check-attr text $(printf "b/%.0s" $(seq 60))c
'
test_expect_success SLOW_PATTERNS 'git that is kept busy by attributes is ended: bytes as they are, and why' '
	make_repo busy &&
	cd busy &&
	deep=$(printf "b/%.0s" $(seq 60)) &&
	git agent -c limits.capture.git_time=2 start --name b -- sh -c "
		printf \"%s text\n\" \"$(printf "**/b/%.0s" $(seq 12))x\" >.gitattributes
		mkdir -p $deep
		printf \"1\r\n\" >${deep}c" &&
	printf "1\r\n" >../want &&
	git cat-file blob agent/b:${deep}c >../got &&
	test_cmp ../want ../got &&
	git agent show b | grep "not converted (git inside took longer than the 2 seconds"
'

test_expect_success 'GT-05: objects that are refused cost the history, not the work' '
	make_repo refused &&
	cd refused &&
	git agent start --name x -- sh -c "
		t=\$(printf \"100644 blob \$(echo evil | git hash-object -w --stdin)\tconfig\n\" | git mktree) &&
		t=\$(printf \"040000 tree \$t\t.git\n\" | git mktree) &&
		git reset -q --soft \$(git commit-tree -p HEAD -m evil \$t)
		echo work >work" 2>../err &&
	test "$(git rev-list --count HEAD..agent/x)" = 1 &&
	test "$(git cat-file blob agent/x:work)" = work &&
	git agent show x | grep "not taken" &&
	! git rev-list --objects --all | grep "\.git$"
'

test_expect_success 'an agent that has git say the disk is full is not believed' '
	make_repo full &&
	cd full &&
	git agent start --name f1 -- sh -c "
		echo c >c &&
		git add c &&
		git commit -qm c &&
		git config pack.window \"no space left\"" &&
	git agent show f1 | grep "not taken .*no space left" &&
	test "$(git cat-file blob agent/f1:c)" = c &&
	git agent start --name f2 -- sh -c "
		git config -f .gitmodules submodule.x.path x &&
		git config -f .gitmodules submodule.x.url \"-no space left\" &&
		git add . &&
		git commit -qm mods
		echo w >w" &&
	git agent show f2 | grep "not taken .*no space left" &&
	test "$(git cat-file blob agent/f2:w)" = w
'

test_expect_success 'nothing of a session is lost when its branch was moved: said, and done after a rename' '
	{
		make_repo moved &&
		cd moved &&
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
	test "$(git cat-file blob agent/mv:1)" = 1
'

test_expect_success 'looking at a running session changes nothing' '
	test_when_finished "rm -f \"$HOME/aihome/p-up\"; wait" &&
	{
		make_repo peek &&
		cd peek &&
		git agent start --name p -- sh -c "
		echo 1 >new
		touch \$HOME/p-up
		while test -e \$HOME/p-up; do sleep 0.1; done" &
	} &&
	test_wait_for "test -e $HOME/aihome/p-up" &&
	cd peek &&
	git agent diff p >../got &&
	git for-each-ref >../refs1 &&
	git agent diff p >/dev/null &&
	git for-each-ref >../refs2 &&
	rm "$HOME/aihome/p-up" &&
	wait $! &&
	grep "^+1" ../got &&
	test_cmp ../refs1 ../refs2 &&
	! find .git/objects -name "*.keep" | grep .
'

test_expect_success 'a sparse checkout: what was never shown is not deleted' '
	make_repo sparse "
		mkdir hidden shown &&
		echo h >hidden/h &&
		echo s >shown/s" &&
	cd sparse &&
	git sparse-checkout set --cone shown &&
	git agent start --name sp -- sh -c "
		test ! -e hidden &&
		mkdir -p hidden/deep &&
		echo n >hidden/deep/n
		rm shown/s
		echo t >shown/t" &&
	test_prints "A\thidden/deep/n\nD\tshown/s\nA\tshown/t" git diff --name-status HEAD agent/sp
'

test_done
