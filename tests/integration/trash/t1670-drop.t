#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='dropping in every state of the repository: the exact result, and nothing lost'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# mine: everything of the user: branch, commit, index, operation in progress, stash, every file with its mode
mine() {
	git symbolic-ref -q HEAD
	git rev-parse HEAD
	git ls-files -s
	git status --porcelain --ignored
	git for-each-ref refs/heads refs/tags refs/remotes refs/stash | grep -v refs/heads/agent/
	for f in MERGE_HEAD rebase-merge/head-name BISECT_LOG; do
		cat ".git/$f" 2>/dev/null
	done
	git worktree list | grep -v " \[agent/"
	find . -path ./.git -prune -o ! -type d -printf '%m %y %p %l\n' | sort
	find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
}
session_refs() {
	git for-each-ref --format='%(objectname) %(refname)' refs/heads/agent/s refs/agent/s | sort -k 2
}
trashed_refs() {
	git for-each-ref --format='%(objectname) %(refname)' refs/agent-trash |
		sed 's,refs/agent-trash/s-[0-9]*/tip,refs/heads/agent/s,; s,refs/agent-trash/s-[0-9]*,refs/agent/s,' |
		sort -k 2
}
layers() {
	(cd "$1" && find upper git undo -printf '%m %y %s %p %l\n' 2>/dev/null | sort)
}
state() {
	echo "$HOME/.local/state/git-agent/$(head -n 1 .git/git-agent/id)"
}

work='sed -i s/^5$/five/ a; git commit -qam one; echo n >new; chmod +x new; echo e >.envrc; mkdir -p ign
	echo i >ign/i; git stash list; git branch side'
make_repo() {
	test_enter "$1" &&
	seq 1 30 >a &&
	echo b >b &&
	mkdir d &&
	echo c >d/c &&
	echo ign >.gitignore &&
	test_commit base &&
	git branch other &&
	git tag v1
}
# conflict_with_other: commits on other and main that conflict in a
conflict_with_other() {
	git switch -q other &&
	echo x >a &&
	git commit -qam x &&
	git switch -q main &&
	echo y >a &&
	git commit -qam y
}
# a_session_in COMMANDS: a repository with a session, which these bring into a state; what there is, is noted
n=0
a_session_in() {
	make_repo "r$n" &&
	test_session s "$work" &&
	eval "$1" &&
	mine >../mine &&
	session_refs >../refs &&
	layers "$(state)/sessions/s" >../layers &&
	test -s ../layers
}
untouched() {
	mine | test_cmp ../mine - &&
	session_refs | test_cmp ../refs - &&
	layers "$(state)/sessions/s" | test_cmp ../layers -
}
in_trash() {
	mine | test_cmp ../mine - &&
	test -z "$(session_refs)" &&
	trashed_refs | test_cmp ../refs - &&
	layers "$(state)"/trash/s-* | test_cmp ../layers - &&
	test ! -e "$(state)/sessions/s" &&
	! git agent list | grep ^s
}

# row STATE COMMANDS: refused (2) and nothing touched; forced: the user files untouched, refs and layers
#   in the trash as they were; restored: all as it was.
row() {
	n=$((n + 1))
	row_state=$2
	test_that "drop and restore lose nothing: $1" '
		a_session_in "$row_state" &&
		git worktree list >../worktrees &&
		test_fails 2 "was not landed" git agent drop s &&
		git agent drop --dry-run --force s &&
		untouched &&
		git agent drop --force s &&
		in_trash &&
		git agent drop --list | grep "^s-[0-9T]* *dropped 0 days ago" &&
		git agent drop --restore s &&
		untouched &&
		test -z "$(trashed_refs)" &&
		git worktree list | test_cmp ../worktrees - &&
		git agent review s >/dev/null &&
		test_state s captured &&
		test_expect_code 2 git agent drop s &&
		git fsck --strict
	'
}
row 'changed, untracked and ignored files' '
	echo mine >>a && echo mine >new && echo mine >.envrc && mkdir ign && echo mine >ign/i'
row 'a staged index, and files changed again' '
	echo mine >>a && git add a && echo more >>a && git mv b c2 && git rm -q d/c'
row 'a merge that conflicts' 'conflict_with_other && test_must_fail git merge -q other'
row 'a rebase that stopped' 'conflict_with_other && test_must_fail git rebase -q other'
row 'a merge of the session that conflicts' '
	echo y >a && git commit -qam y && test_must_fail git merge -q agent/s && git checkout -q --ours a'
row 'HEAD detached at the tip of the session' 'git switch -q --detach agent/s'
row 'an unborn branch' 'git checkout -q --orphan fresh'
row 'the branch that it started from is gone' 'git switch -q other && git branch -qD main'
row 'commits of the user on its branch' '
	git switch -q agent/s && git commit -q --allow-empty -m user && git switch -q main'
row 'a stash, and a sparse checkout' '
	echo st >>a && git stash -q && git sparse-checkout set d 2>/dev/null'
row 'a lock that a git left on the index' ': >.git/index.lock'

# no STATE COMMANDS PATTERN: refused even with --force, and nothing touched at all
no() {
	n=$((n + 1))
	row_state=$2 row_pattern=$3
	test_that "drop --force is refused and changes nothing: $1" '
		a_session_in "$row_state" &&
		test_fails 128 "$row_pattern" git agent drop --force s &&
		untouched &&
		test -z "$(ls -A "$(state)/trash" 2>/dev/null)"
	'
}
no 'its branch is checked out here' 'git switch -q agent/s' 'is checked out in'
no 'its branch is checked out elsewhere' 'git worktree add -q ../e agent/s' 'is checked out in .*/e'
no 'a ref of it is locked' ': >.git/refs/heads/agent/s.lock' 's.lock'
no 'a bisection started from its branch' '
	git switch -q agent/s && git bisect start HEAD HEAD~2 && git switch -q --detach' 'a rebase or bisection'
no 'its branch is being rebased' '
	echo y >a && git commit -qam y && git switch -q agent/s && test_must_fail git rebase -q main' \
	'a rebase or bisection of branch .agent/s. is in progress'

test_that 'dropping a session with a submodule keeps uncommitted work in it' '
	git init -q lib &&
	(cd lib && echo l >l && git add l && git commit -qm l) &&
	test_enter super &&
	test_submodule ../lib lib &&
	git commit -qm sub &&
	test_session s "
		echo new >lib/new
		cd lib &&
		git add new &&
		git commit -qm new" &&
	echo mine >>lib/l &&
	echo u >lib/u &&
	git -C lib add u &&
	mine >../mine &&
	git -C lib status --porcelain >../lib.mine &&
	tip=$(git -C lib rev-parse agent/s) &&
	test_expect_code 2 git agent drop s &&
	git agent drop --force s &&
	mine | test_cmp ../mine - &&
	git -C lib status --porcelain | test_cmp ../lib.mine - &&
	! git -C lib rev-parse -q --verify agent/s &&
	git agent drop --restore s &&
	test "$(git -C lib rev-parse agent/s)" = $tip &&
	git -C lib agent list | grep "^s " &&
	mine | test_cmp ../mine -
'

test_that 'with a name that is not there nothing is dropped or stopped, and one refusal keeps no other' '
	make_repo several &&
	git agent start -q --name a -- true &&
	test_session b "echo n >n" &&
	git agent start -q --name c -- true &&
	test_fails 128 "there is no session .none." git agent drop a none &&
	test_expect_code 128 git agent stop none a 2>../err &&
	! grep "does not run" ../err &&
	test_fails 2 "session .b. has work" git agent drop a b c &&
	git agent list >../list &&
	test_prints b cut -d" " -f1 ../list
'

test_that 'a session that runs is not dropped' '
	make_repo run &&
	mkfifo "$TRASH/end" &&
	{
		"$GIT_AGENT" start -q --name s -- sh -c "
			echo n >n
			cat" <"$TRASH/end" &
	} &&
	exec 9>"$TRASH/end" &&
	test_wait_for "git agent list | grep \"^s .*running\"" &&
	test_fails 128 "session .s. is running" git agent drop --force s &&
	test_state s running &&
	exec 9>&- &&
	wait &&
	test_state s captured &&
	test_holds agent/s:n n
'

test_that 'a session that another command holds is not said to run' '
	make_repo held &&
	test_session h "echo n >n" &&
	exec 9<"$(test_dir h)/lock" &&
	flock -n 9 &&
	test_fails 128 "another command is using session .h." git agent drop h &&
	grep "^hint: end that first" ../err &&
	! grep running ../err &&
	git agent show h >../got &&
	grep "^state  *captured" ../got &&
	git agent diff h | grep "^+n" &&
	exec 9<&- &&
	git agent drop --force h
'

# Git stops if the directory of worktrees goes away while it reads it, as when the last other session ends
test_that 'git that fails is asked once more where a branch is checked out' '
	test_enter again &&
	test_empty 1 &&
	test_session w "echo w >w" &&
	mkdir ../once &&
	test_script ../once/git <<-EOF &&
	case "\$*" in
	*worktreepath*)
		[ -e $HOME/asked ] || {
			: >$HOME/asked
			echo fatal: Invalid path >&2
			exit 128
		}
		;;
	esac
	exec $(command -v git) "\$@"
	EOF
	PATH=$HOME/once:$PATH git-agent drop --force w &&
	test -e ../asked &&
	! git agent list | grep "^w "
'

# ---- start --rm

test_that 'start --rm drops a session that left nothing, and keeps the status of its command' '
	make_repo rm &&
	echo "*.ign" >>.git/info/exclude &&
	test_expect_code 3 git agent start --rm --name e -- sh -c "
		echo said
		exit 3" >../out 2>../err &&
	grep -x said ../out &&
	grep "^agent/e: changed nothing, and is in the trash; .git agent resume e. restores it" ../err &&
	test_expect_code 128 git agent show e &&
	test -z "$(git for-each-ref "refs/agent/" "refs/heads/agent/")" &&
	git agent start -q --rm --name e -- true 2>../err &&
	! grep -i dropped ../err &&
	test -z "$(git agent list)" &&
	git agent drop --restore e &&
	git agent show --journal e &&
	git agent drop e
'

test_that 'start --rm puts ignored files into the trash, and says so with -q too' '
	cd rm &&
	test_says "dropped, with its leftovers" git agent start -q --rm --name i -- sh -c "echo x >x.ign" &&
	git agent drop --restore i &&
	git agent review --stat i | grep x.ign &&
	git agent drop i
'

# rm_keeps COMMANDS [OPTION...]: a session of these, started with --rm, stays and says why
rm_keeps() {
	rm_work=$1
	shift
	test_says "^agent/s stays: " git agent "$@" start -q --rm --name s -- sh -c "$rm_work" &&
	grep "drop --force s" ../err &&
	git agent show s >/dev/null &&
	! git agent drop --restore s 2>/dev/null &&
	git agent drop --force s 2>/dev/null
}
test_that 'start --rm keeps whatever else there is' '
	cd rm &&
	rm_keeps "echo n >n" &&
	rm_keeps "git commit -q --allow-empty -m c; echo m >m" &&
	rm_keeps "echo e >.envrc" &&
	rm_keeps "git switch -q -c mine; git commit -q --allow-empty -m own; git switch -q -" &&
	rm_keeps "echo s >>a; git stash -q" &&
	rm_keeps "echo too long >long" -c limits.capture.file_size=5 &&
	grep "^agent/s stays: a limit kept something" ../err &&
	test_fails 129 "cannot be used together" git agent start --rm -d -- true &&
	cd ../super &&
	git agent drop --force s &&
	rm_keeps "cd lib && echo more >more && git add more && git commit -qm more" &&
	git agent start -q --rm --name none -- true &&
	test_expect_code 128 git agent show none
'

test_done
