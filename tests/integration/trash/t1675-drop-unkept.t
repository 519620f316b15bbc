#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='dropping asks for --force where work of the agent is nowhere else'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	test_enter "$1" &&
	seq 1 30 >a &&
	test_commit base
}
# a_submodule: super, with lib in it
a_submodule() {
	(make_repo lib) &&
	test_enter super &&
	test_submodule ../lib lib &&
	git commit -qm sub
}
# is_refused NAME TEXT: it is not dropped without --force, and says why
is_refused() {
	test_fails 2 "$2" git agent drop "$1" &&
	git agent show "$1" >/dev/null &&
	! git agent drop --restore "$1" 2>/dev/null
}

test_that 'files that a limit kept away are not dropped, landed or not' '
	make_repo limit &&
	git agent -c limits.capture.file_size=5 start -q --name all -- sh -c "echo too long >long" &&
	git agent -c limits.capture.file_size=5 start -q --name some -- sh -c "
		echo s >some
		echo too long >long" &&
	git merge -q agent/some &&
	test_state some landed &&
	for s in "capture all" "resume some"; do
		n=${s#* } &&
		is_refused $n "a limit kept something of session .$n. away" &&
		grep "hint: .*git agent $s.*drop --force $n" ../err &&
		git agent review --stat $n | grep "^next: git agent $s," ||
			exit 1
	done &&
	git agent gc >../out 2>../err &&
	test ! -s ../out &&
	grep "session .some. has landed and stays: a limit kept something of it away" ../err &&
	git agent capture all &&
	git agent resume -q some -- true &&
	for n in all some; do
		git show agent/$n:long &&
		git merge -q -m m agent/$n &&
		git agent drop $n || exit 1
	done
'

# ---- an agent that ends on an older commit

test_that 'an agent that ends on an older commit deletes nothing newer, and its commits are named' '
	test_enter older &&
	for i in 1 2 3; do
		echo $i >c$i
		git add . &&
		git commit -qm c$i || exit 1
	done &&
	git agent start --name o -- sh -c "
		echo good >work
		git add work
		git commit -qm good
		git checkout -q HEAD~2" 2>../err &&
	grep "note: the agent ended on an older commit, $(git rev-parse HEAD~1 | cut -c1-12)" ../err &&
	test_missing agent/o &&
	test_says "nothing to land" git agent land o &&
	test_prints "c1\nc2\nc3" ls &&
	is_refused o "no branch of yours has refs/agent/o/heads/agent/o" &&
	git branch good refs/agent/o/heads/agent/o &&
	git agent drop o
'

test_that 'work on an older commit is captured as a merge would bring it' '
	cd older &&
	test_session r "
		git reset -q --hard HEAD~2
		echo n >n
		echo more >>c1" &&
	test_prints "M\tc1\nA\tn" git diff --name-status main agent/r &&
	test_resume r "cat c3 >>n" &&
	git agent land r &&
	test_prints "n\n3" cat n &&
	test -e c2 &&
	test_session f "
		git checkout -q HEAD~3
		echo f >f
		git add f
		git commit -qm f" &&
	test_prints "A\tf" git diff --name-status main agent/f &&
	git agent drop --force f
'

test_that 'uncommitted work survives an agent that resets to an older commit' '
	cd older &&
	echo mine >>n &&
	git agent start -q --name w -- git reset -q --hard HEAD~3 &&
	git agent land w &&
	test "$(tail -n 1 n)" = mine &&
	git agent drop w &&
	git checkout -q n
'

# ---- commits that no branch of the user has

test_that 'commits that the agent left on a detached HEAD are kept, and not dropped' '
	make_repo left &&
	git agent start --name d -- sh -c "
		git checkout -q --detach
		echo d >n
		git add n
		git commit -qm n
		git switch -q agent/d" 2>../err &&
	grep "note: what the agent committed on no branch is kept on refs/agent/d/others/: left/" ../err &&
	is_refused d "no branch of yours has refs/agent/d/others/left/" &&
	test "$(git show "$(git for-each-ref --format="%(refname)" refs/agent/d/others):n")" = d &&
	test_session l "
		git checkout -q --detach
		git commit -q --allow-empty -m e
		git switch -q agent/l
		echo l >l" &&
	git agent land l &&
	is_refused l refs/agent/l/others/left/ &&
	test_says "session .l. has landed and stays: it has branches" git agent gc &&
	test_session m "
		git checkout -q --detach
		echo m >m
		git add m
		git commit -qm m
		git branch -f agent/m
		git switch -q agent/m" &&
	git agent land m &&
	git agent drop m
'

test_that 'a session that landed on a detached HEAD is not dropped before a branch has it' '
	make_repo detached &&
	git switch -q --detach &&
	test_session h "echo h >h" &&
	git agent land h &&
	test_state h landed &&
	is_refused h "session .h. has landed where HEAD is detached" &&
	test_says "session .h. has landed and stays: HEAD is detached" git agent gc &&
	git branch keep &&
	git agent drop h
'

test_that 'a commit that only the HEAD of a submodule has is not dropped' '
	a_submodule &&
	test_session c "
		cd lib
		echo c >c
		git add c
		git commit -qm c
		cd ..
		git commit -qam c" &&
	git agent review --accept-all c &&
	git agent land c &&
	is_refused c "has work in submodule" &&
	git -c protocol.file.allow=always submodule --quiet update &&
	is_refused c "has work in submodule" &&
	grep "git -C .* merge agent/c., on a branch there" ../err &&
	git -C lib switch -q -c mine &&
	git agent drop c &&
	git -C lib cat-file -e HEAD:c
'

# ---- commits that could not be kept

# is_unkept NAME WHY: it may have commits that are nowhere else, which the review says too
is_unkept() {
	is_refused "$1" "session .$1. may have commits that are nowhere else: $2" &&
	grep "hint: .*git agent resume $1.*drop --force $1" ../err &&
	git agent review --json "$1" |
		python3 -c "
import json, sys
r = json.load(sys.stdin)
assert r['unkept'] and all(u in r['notes'] for u in r['unkept'])"
}

test_that 'a branch whose name cannot be kept is not dropped until it is renamed or deleted' '
	make_repo unkept &&
	odd=$(printf "x\342\200\213y") &&
	for n in name land; do
		test_session $n "
			git branch $odd \$(git commit-tree -m odd HEAD^{tree})
			test $n = name || echo l >l" || return 1
	done &&
	is_unkept name "the agent.s branch \"x.*y\" has a name that cannot be kept" &&
	git agent show name | grep "next: git agent resume name, for commits" &&
	git agent review --stat name | grep "^next: git agent resume name, for commits" &&
	git agent land land &&
	is_unkept land "the agent.s branch" &&
	git agent review --stat land | grep "^next: git agent resume land, for" &&
	git agent gc >../out 2>../err &&
	test ! -s ../out &&
	grep "session .land. has landed and stays: it may have commits that are nowhere else: the agent.s" ../err &&
	git agent resume -q land -- git branch -D $odd &&
	git merge -q agent/land &&
	git agent gc | grep "^session land:" &&
	git agent resume -q name -- git branch -m $odd plain &&
	git rev-parse refs/agent/name/heads/plain
'

test_that 'refs that cannot be read or taken are not dropped' '
	cd unkept &&
	test_session blob "git rev-parse HEAD:a >.git/refs/heads/blob" &&
	is_unkept blob "not all of the agent.s branches could be read" &&
	test_session fifo "
		git commit -q --allow-empty -m c
		mkfifo .git/refs/fifo" &&
	is_unkept fifo "the agent.s commits were not taken (its git dir holds a fifo" &&
	test_session tag "
		t=\$(git commit-tree -m t HEAD^{tree})
		git tag t \$(git commit-tree -p \$t -m u HEAD^{tree})
		rm .git/objects/\$(echo \$t | sed s,..,\&/,)" &&
	is_unkept tag "what the agent committed on no branch (refs/tags/t) was not taken" &&
	test_says "^agent/rm stays: .* not all of the agent.s branches" \
		git agent start -q --rm --name rm -- sh -c "git rev-parse HEAD:a >.git/refs/heads/blob" &&
	git agent start -q --name plain -- git update-ref refs/stash/odd HEAD &&
	git agent drop plain &&
	git agent drop --force blob
'

test_that 'refs that could not be kept are all counted, though not all are named' '
	cd unkept &&
	odd=$(printf "\342\200\213") &&
	test_says "5 more of the agent.s branches have names that cannot be kept" git agent start --name one -- sh -c "
		c=\$(git commit-tree -m odd HEAD^{tree})
		for i in \$(seq 15); do
			git branch x$odd\$i \$c
			git tag t$odd\$i \$c
		done" &&
	is_refused one "has a name that cannot be kept (and 29 more)" &&
	git agent drop --force one
'

test_that 'refs of a submodule that cannot be read are not dropped' '
	cd super &&
	test_session un "
		cd lib &&
		git rev-parse HEAD: >\$(git rev-parse --git-dir)/refs/heads/tree" &&
	is_refused un "has work in submodule" &&
	git agent -c limits.capture.file_size=5 start -q --name sl -- sh -c "echo too long >lib/long" &&
	is_refused sl . &&
	git agent drop --force un sl
'

test_done
