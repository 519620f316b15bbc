#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what has landed, by whatever way, and what has not'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	test_enter "$1" &&
	seq 1 30 >a &&
	echo b >b &&
	test_commit base
}

# Three commits of the agent, of which two touch one file
work='sed -i s/^5$/five/ a; git commit -qam one
echo new >new; git add new; git commit -qm two
sed -i s/^25$/twentyfive/ a; echo more >>new; git commit -qam three'

# repo_with_session NAME: a repository in which the session w has done that work
repo_with_session() {
	make_repo "$1" &&
	test_session w "$work" &&
	tip=$(git rev-parse agent/w)
}

# is NAME HOW WHERE, from `show --json`
is() {
	git agent list --json >"$TRASH/list" &&
	git agent show --json "$1" | tee "$TRASH/shown" | python3 -c '
import json, sys
o = json.load(sys.stdin)
got = [o["state"], o["landed_how"], o["landed_in"]]
want = ["landed", sys.argv[1], sys.argv[2]] if sys.argv[1] != "not" else ["captured", None, None]
l = [s["state"] for s in json.load(open(sys.argv[3])) if s["name"] == o["name"]]
assert got == want and l == want[:1], (got, l, want)' "$2" "${3-refs/heads/main}" "$TRASH/list"
}

# as_started: main and the branch of the session are again as they were when it had ended
as_started() {
	git cherry-pick --quit 2>/dev/null
	git switch -qf main &&
	git reset -q --hard base &&
	git clean -qfd &&
	git branch -qf agent/w "$(cat ../tip)"
}

test_that 'create a session of three commits' '
	repo_with_session ways &&
	is w not &&
	git tag base &&
	echo $tip >../tip
'

# landed HOW REASON COMMANDS: after these commands on main it is found to have landed like this, and offered for gc
landed() {
	test_that "landed ($1): $2" "
		cd ways && as_started && { $3; } && is w $1 &&
		git agent gc --dry-run >../gc &&
		grep '^would: session w: moved to the trash (landed: $1, in main)$' ../gc
	"
}
landed merged 'its branch was fast-forwarded to' 'git merge -q agent/w'
landed merged 'its branch was merged, and deleted' '
	git commit -q --allow-empty -m mine && git merge -q agent/w && git branch -qD agent/w'
landed merged 'its branch was merged with a commit of the user on it' '
	git switch -q agent/w && git commit -q --allow-empty -m fix-up && git switch -q main && git merge -q agent/w'
landed merged 'its branch was rebased and merged' '
	echo mine >mine && git add mine && git commit -qm mine && git switch -q agent/w && git rebase -q main &&
	git switch -q main && git merge -q --ff-only agent/w'
landed merged 'its merge was reverted, and the revert reverted' '
	git merge -q --no-ff -m m agent/w && git revert --no-edit -m1 HEAD && is w not && git revert --no-edit HEAD'
squash='git merge -q --squash agent/w'
landed squashed 'it was squashed' "$squash && git commit -qm squashed"
landed squashed 'it was squashed with changes of the user elsewhere' "
	$squash && echo fixed >>b && sed -i s/^15/fixed/ a && git commit -qam fix-up"
landed squashed 'it was squashed, and changed by later commits' "
	$squash && git commit -qm squashed && sed -i s/^five/5th/ a && echo less >new && git commit -qam over &&
	git rm -q new && git commit -qm gone"
landed squashed 'its commits were cherry-picked at once, and its branch deleted' '
	git commit -q --allow-empty -m mine && git cherry-pick ..agent/w >/dev/null && git branch -qD agent/w'
landed picked 'its commits were cherry-picked, with another over the first' '
	git commit -q --allow-empty -m mine && git cherry-pick agent/w~2 >/dev/null &&
	sed -i s/^five/5th/ a && git commit -qam over && git cherry-pick agent/w~2..agent/w'

# not_landed REASON COMMANDS: these commands on main bring not all of it
not_landed() {
	test_that "not landed: $1" "
		cd ways && as_started && { $2; } && is w not && test_expect_code 2 git agent drop w
	"
}
not_landed 'a commit has the subject of a merge' 'git commit -q --allow-empty -m "Merge agent/w"'
not_landed 'a commit has subject and date of the last' '
	GIT_AUTHOR_DATE="$(git log -1 --format=%ad agent/w)" git commit -q --allow-empty -m three'
not_landed 'one of its commits was not cherry-picked' 'git cherry-pick agent/w~2 agent/w~1 >/dev/null'
not_landed 'a file was left out of the squash' "$squash && git rm -qf new && git commit -q --no-edit"
not_landed 'the squash was changed in one of its lines' "
	$squash && sed -i s/^twentyfive/25/ a && git commit -qa --no-edit"
not_landed 'the squash was changed in its lines of two files' "
	$squash && sed -i s/^five/5th/ a && echo other >>new && git commit -qam 'in words of my own'"
not_landed 'it was merged with the strategy ours' 'git merge -q -s ours agent/w'
not_landed 'it was merged, and reverted' 'git merge -q agent/w && git revert --no-edit HEAD~3..HEAD'
not_landed 'it was squashed, and reverted' "$squash && git commit -qm squashed && git revert --no-edit HEAD"
not_landed 'somebody else has done the same task' '
	sed -i s/^5$/FIVE/ a && echo other >new && git add new && sed -i s/^25$/XXV/ a && git commit -qam same'
not_landed 'the user kept both sides of a conflict while cherry-picking' '
	sed -i s/^5$/cinq/ a && git commit -qam mine && test_must_fail git cherry-pick main..agent/w &&
	sed -i "/^<<<<<<</d;/^=======/d;/^>>>>>>>/d" a && git add a && git -c core.editor=true cherry-pick --continue'
not_landed 'its own branch is checked out' 'git switch -q agent/w'
not_landed 'its tip is checked out' 'git switch -q --detach agent/w'

test_that 'a session that has landed can be dropped without --force' '
	cd ways &&
	as_started &&
	git merge -q agent/w &&
	git agent drop w
'

# ---- what was there before

# A repository of yesterday, with main and a branch that main was ahead of; a clone of it
ahead() {
	git init -q "$1.seed" &&
	(
		cd "$1.seed" &&
		GIT_COMMITTER_DATE="@$(($(date +%s) - 86400)) +0000" &&
		export GIT_COMMITTER_DATE &&
		seq 1 30 >a &&
		test_commit base &&
		git branch release &&
		sed -i s/^5$/five/ a &&
		git commit -qam fix &&
		{ test $# = 1 || eval "$2"; }
	) &&
	git clone -q --bare "$1.seed" "$1.git" &&
	git clone -q "$1.git" "$1" &&
	cd "$1" &&
	git switch -q release
}
test_that 'work that is taken from another branch has not landed there' '
	ahead ahead &&
	git agent start -q --name w -- git cherry-pick origin/main &&
	is w not &&
	git agent gc &&
	test_expect_code 2 git agent drop w &&
	git switch -q main &&
	is w not &&
	git switch -q release &&
	git merge -q agent/w &&
	is w merged refs/heads/release &&
	git switch -q main &&
	test_state w landed &&
	git agent drop w
'

test_that 'work that the current branch has already has not landed there, unless by land' '
	ahead base &&
	git switch -q main &&
	git agent start -q --base origin/release --name w -- git cherry-pick main &&
	is w not &&
	git switch -q release &&
	git agent land w &&
	test_state w landed &&
	git agent drop w
'

test_that 'work that was reverted on the other branch before has landed when it comes again' '
	ahead back "git revert --no-edit HEAD" &&
	git agent start -q --name w -- git cherry-pick main~ &&
	is w not &&
	test_empty mine &&
	git merge -q --squash agent/w &&
	git commit -qm s &&
	is w squashed refs/heads/release &&
	git agent drop w
'

# ---- the branch moved by hand

test_that 'a branch that lacks commits of its session has not landed, and nothing lands or drops it' '
	repo_with_session moved &&
	echo $tip >../tip &&
	git rev-parse HEAD >../before &&
	for at in agent/w~1 main; do
		git branch -qf agent/w $at &&
		is w not &&
		test_fails 2 "its branch was moved away from it" git agent drop w &&
		grep "hint: .git branch -f agent/w $tip" ../err &&
		for how in merge squash rebase ff-only; do
			test_expect_code 2 git agent land --dry-run --$how w &&
			test_fails 2 "branch .agent/w. was moved: it lacks commits" git agent land --$how w || return 1
		done &&
		test_expect_code 2 git agent review --reject w b &&
		git agent gc &&
		is w not || return 1
	done &&
	git rev-parse HEAD | test_cmp ../before - &&
	test_same agent/w main &&
	test -z "$(git status --porcelain)"
'

test_that 'its commits survive a drop and gc, and land when the branch is put back' '
	cd moved &&
	tip=$(cat ../tip) &&
	git agent drop --force w &&
	git reflog expire --expire=now --all &&
	git gc -q --prune=now &&
	git agent drop --restore w &&
	is w not &&
	git branch -qf agent/w $tip &&
	git agent land w &&
	test_state w landed &&
	git show HEAD:new | grep more &&
	git agent drop w
'

test_that 'a session stays landed when its branch is put back after it has landed' '
	for how in "git merge -q --squash agent/w && git commit -qm s" "git agent land w"; do
		rm -rf back &&
		(
			repo_with_session back &&
			eval "$how" &&
			git branch -qf agent/w main~ &&
			test_state w landed &&
			git agent land w &&
			test_state w landed &&
			git agent gc --dry-run | grep "session w" &&
			git reset -q --hard "$tip~3" &&
			test_state w captured &&
			test_expect_code 2 git agent drop w &&
			git agent drop --force w
		) ||
			return 1
	done
'

test_that 'a branch that the user rewrote lands as it is, but with a commit left out has not landed by git' '
	repo_with_session anew &&
	git switch -q agent/w &&
	git commit -q --amend -m reworded &&
	git switch -q main &&
	git agent land w &&
	test_state w landed &&
	git agent land --undo w &&
	is w not &&
	git merge -q agent/w &&
	is w merged &&
	git reset -q --hard HEAD~3 &&
	git switch -q agent/w &&
	git rebase -q --onto HEAD~3 HEAD~2 &&
	git switch -q main &&
	git merge -q agent/w &&
	is w not &&
	test_fails 2 "moved away from it" git agent drop w
'

test_that 'a session whose commits are gone has not landed' '
	repo_with_session gone &&
	git branch -qf agent/w main &&
	git for-each-ref --format="delete %(refname)" refs/agent | git update-ref --stdin &&
	git reflog expire --expire=now --all &&
	git gc -q --prune=now &&
	test_must_fail git cat-file -e "$tip" &&
	is w not &&
	test_expect_code 2 git agent drop w &&
	git agent drop --force w
'

test_that 'what was merged and reset has not landed any more, and what is on another branch has' '
	repo_with_session off &&
	git merge -q agent/w &&
	is w merged &&
	git reset -q --hard HEAD~3 &&
	is w not &&
	git switch -q -c side &&
	git merge -q --squash agent/w &&
	git commit -qm s &&
	is w squashed refs/heads/side &&
	git switch -q main &&
	is w not &&
	test_session l "echo l >l" &&
	git switch -q side &&
	git agent land l &&
	git switch -q main &&
	test_state l landed &&
	git branch -qD side &&
	git agent show l | grep "^state  *landed"
'

test_that 'a session with work that is held or uncommitted has not landed, whatever is merged' '
	make_repo held &&
	echo mine >>b &&
	test_session h "
		$work
		echo e >.envrc" &&
	git stash -q &&
	git merge -q agent/h &&
	is h not &&
	git stash pop -q &&
	git agent review --accept-all --critical h &&
	is h not &&
	git merge -q agent/h &&
	is h merged &&
	test_session o "
		echo theirs >>b
		echo o >o" &&
	git merge -q agent/o &&
	is o not &&
	git agent land o &&
	grep theirs b &&
	test_state o landed
'

test_that 'a session of which everything was rejected has not landed' '
	make_repo empty &&
	test_session e "
		echo e >.envrc
		git add -A
		git commit -qm e" &&
	git agent review --reject e .envrc &&
	test_empty m &&
	test_state e captured
'

# ---- a forge

# forge NAME: a bare repository, a clone of it with session w pushed, and another clone
forge() {
	(make_repo "$1.seed") &&
	git clone -q --bare "$1.seed" "$1.git" &&
	git clone -q "$1.git" "$1" &&
	git clone -q "$1.git" "$1.other" &&
	cd "$1" &&
	test_session w "$work" &&
	git push -q origin agent/w &&
	is w not &&
	cd .. &&
	git -C "$1.other" fetch -q
}

test_that 'a merge on a forge is known once it is fetched' '
	forge m &&
	(
		cd m.other &&
		git merge -q --no-ff -m pr origin/agent/w &&
		git push -q origin main :agent/w
	) &&
	cd m &&
	is w not &&
	git fetch -q --prune &&
	is w merged refs/remotes/origin/main &&
	git agent drop w
'

test_that 'a squash on a forge of the branch with a fix-up is found while that branch is fetched' '
	forge u &&
	(
		cd u.other &&
		git switch -q agent/w &&
		sed -i s/^five/5th/ a &&
		git commit -qam fix-up &&
		git switch -q main &&
		git merge -q --squash agent/w &&
		git commit -qm "pr (#1)" &&
		git push -q origin main :agent/w
	) &&
	cd u &&
	git fetch -q --prune &&
	is w not &&
	test_expect_code 2 git agent drop w &&
	git -C ../u.other push -q origin agent/w &&
	git fetch -q &&
	is w squashed refs/remotes/origin/main
'

test_that 'a session from a branch without upstream has landed on the first branch of origin' '
	forge o &&
	cd o &&
	git switch -q -c topic &&
	test_session t "echo t >t" &&
	git push -q origin agent/t &&
	(
		cd ../o.other &&
		git fetch -q &&
		test_empty o &&
		git cherry-pick origin/agent/t >/dev/null &&
		git push -q origin main
	) &&
	git fetch -q &&
	is t squashed refs/remotes/origin/HEAD
'


# Whether the listing itself fails does not matter here.
test_that STRACE 'a landing is logged only once it is stored' '
	make_repo told &&
	test_session t "$work" &&
	git merge -q agent/t &&
	for i in 1 2; do
		{
			strace -f -qq -o /dev/null -e trace=rename,renameat,renameat2 \
				-e inject=rename,renameat,renameat2:error=ENOSPC git-agent list >../out 2>&1 ||
				:
		} &&
		git agent show --journal --json t >../log &&
		! grep "\"event\":\"arrived\"" ../log ||
			return 1
	done &&
	test_state t landed &&
	test "$(git agent show --journal --json t | grep -c "\"event\":\"arrived\"")" = 1
'

test_done
