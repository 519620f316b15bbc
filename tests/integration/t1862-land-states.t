#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing with git, and undoing, in every state a repository can be in'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

git config --global protocol.file.allow always
git config --global advice.detachedHead false
agent='f@2A new=n -old'

# ---- states: commands in a repository with the branches main and side, which conflict in g

clean=:
dirty='put g@5M "run*@8M"'
untracked='put mine=m d/mine=m k.ign=i'
staged='put g@5M s=s; git add g s; put g@5M8M; git rm -q --cached run'
way='put new=mine'
ignored_way='put new=mine; echo new >.git/info/exclude'
back_way='put old=mine'
ignored_back='put old=mine; echo old >.git/info/exclude'
back_changed='put f@2A8M'
conflicted='put g@2X; git stash -q; put g@2Y; git commit -qm y g; ! git stash pop -q'
merging='git merge -q --no-commit --no-ff side2'
rebasing='! git rebase -q side'
picking='! git cherry-pick side'
reverting='git revert --no-commit HEAD~1; test -e .git/REVERT_HEAD'
bisecting='git bisect start HEAD HEAD^ >/dev/null; test -e .git/BISECT_LOG'
detached='git switch -q --detach'
elsewhere='rm -rf ../wt; git worktree prune; git worktree add -q ../wt agent/$s; echo mine >>../wt/f'
moved='git worktree add -q ../mv agent/$s; put ../mv/more=m; git -C ../mv add more; git -C ../mv commit -qm more; git worktree remove ../mv'
submodule='echo mine >>sub/x; git -C sub switch -qc topic; git -C sub commit -qam topic; echo more >>sub/x'
sparse='git sparse-checkout set --no-cone "/*" "!/d"'
sparse_way='git sparse-checkout set --no-cone "/*" "!/f"'
here='git switch -q agent/$s'
away='git switch -q side2'

prepare() {
	rm -rf r wt sub.git && begin && git branch side2 && git branch side && git switch -q side && put g@2S && git commit -qam side && git switch -q side2 && put side2=s && git add . && git commit -qm side2 && git switch -q main && put g@2M && git commit -qam main &&
		git init -q ../sub.git && echo x >../sub.git/x && git -C ../sub.git add x && git -C ../sub.git commit -qm x && git submodule --quiet add "$PWD/../sub.git" sub && git commit -qm sub
}
# What has to stay, whatever is landed or undone: submodules, other working trees and branches, operations.
around() {
	git for-each-ref | grep -v -e refs/heads/main -e refs/agent/
	git stash list
	for dir in sub ../wt; do
		test ! -e "$dir/.git" || (cd "$dir" && git rev-parse HEAD && git status --porcelain && find . -name .git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum)
	done
	cat .git/MERGE_MSG .git/rebase-merge/git-rebase-todo .git/BISECT_LOG .git/info/sparse-checkout 2>/dev/null || :
}
all() {
	picture
	around
}

# land STATE lands|STATUS [PATTERN]: landing in the state gives the merge and leaves everything else,
# and undoing it gives what was there before; or it is refused, and nothing is touched.
land() {
	eval "state=\$$1"
	want=$2 says=${3-}
	if [ "$2" != lands ]; then
		test_expect_success "land, $1: refused, nothing touched" '
			prepare && s=s$(count) && git agent start -q --name $s -- sh -c "$words put $agent" && eval "$state" && all >../before &&
			test_expect_code $want git agent land --dry-run $s && test_expect_code $want git agent land $s 2>../err && cat ../err && grep -e "$says" ../err && all >../after && test_cmp ../before ../after && git agent list | grep "^$s .*captured"
		'
		return
	fi
	test_expect_success "land, $1: the merge and nothing else, undone: as before" '
		prepare && s=s$(count) && git agent start -q --name $s -- sh -c "$words put $agent" && eval "$state" && all >../before && around >../around && git rev-parse HEAD >../was && git ls-files -s -v >../index && work_is >../work && head_is >../head &&
		git agent land $s && around | test_cmp ../around - && test "$(git rev-parse HEAD^1)" = "$(cat ../was)" && test "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/$s)" &&
		{ grep -v -e " f$" -e " old$" ../head; git ls-tree -r agent/$s | sed "s/ blob / /;s/	/ /" | grep -e " f$" -e " new$" -e " more$"; } | sort -k3 >../want && head_is >../is && test_cmp ../want ../is &&
		{ grep -v -e " f$" -e " old$" ../work; grep -e " new$" -e " more$" ../want; test ! -e f || grep " f$" ../want; } | sort -k3 >../want2 && work_is >../is && test_cmp ../want2 ../is && git agent list | grep "^$s .*landed" &&
		{ grep -v -e "	f$" -e "	old$" ../index; git ls-files -s -v f new more; } | sort -t"	" -k2 >../want && git ls-files -s -v | sort -t"	" -k2 >../is && test_cmp ../want ../is &&
		git agent land --undo $s && all >../after && test_cmp ../before ../after && git agent list | grep "^$s .*captured" && git fsck --strict --no-dangling
	'
}

land clean lands
land dirty lands
land untracked lands
land staged lands
land way 2 'git does not track would be overwritten: new'
land ignored_way 2 'git does not track would be overwritten: new'
land conflicted 2 'the index has conflicts: g'
land merging 2 'a merge is in progress'
land rebasing 2 'a rebase is in progress'
land picking 2 'a cherry-pick is in progress'
land reverting 2 'a revert is in progress'
land bisecting 2 'a bisect is in progress'
land detached lands
land elsewhere lands
land moved lands
land submodule lands
land sparse lands
land sparse_way lands
land here 128 'you are on agent/.* itself'

# undo STATE undone|STATUS [PATTERN]: of what landed in a clean tree, when the state came after: all is as
# if the state had come without the landing; or refused, and nothing touched.
undo() {
	eval "state=\$$1"
	want=$2 says=${3-}
	if [ "$2" != undone ]; then
		test_expect_success "undo, $1: refused, nothing touched" '
			prepare && s=u$(count) && git agent start -q --name $s -- sh -c "$words put $agent" && git agent land $s && eval "$state" && all >../before &&
			test_expect_code $want git agent land --undo $s 2>../err && cat ../err && grep -e "$says" ../err && all >../after && test_cmp ../before ../after && git agent list | grep "^$s .*landed"
		'
		return
	fi
	test_expect_success "undo, $1: as without the landing" '
		prepare && s=u$(count) && git agent start -q --name $s -- sh -c "$words put $agent" && all >../clean && git agent land $s && eval "$state" && around >../around && work_is | grep -v -e " f$" -e " new$" -e " old$" >../work && git ls-files -s -v | grep -v -e "	f$" -e "	new$" -e "	old$" >../index &&
		git agent land --undo $s && around | test_cmp ../around - && { cat ../work; state | grep -e " f$" -e " old$"; } | sort -k3 >../want && work_is >../is && test_cmp ../want ../is &&
		git ls-files -s -v | grep -v -e "	f$" -e "	new$" -e "	old$" | test_cmp ../index - && test -z "$(git status --porcelain f new old)" && test "$(git rev-parse HEAD)" = "$(sed -n 2p ../clean)" && git agent list | grep "^$s .*captured"
	'
}

undo clean undone
undo dirty undone
undo untracked undone
undo back_way 2 'git does not track would be overwritten: old'
undo ignored_back 2 'git does not track would be overwritten: old'
undo back_changed 2 'uncommitted changes would be overwritten: f'
undo staged 2 'staged changes are in the way: g, run, s'
undo conflicted 2 'your branch has moved'
undo merging 2 'a merge is in progress'
undo rebasing 2 'a rebase is in progress'
undo picking 2 'a cherry-pick is in progress'
undo reverting 2 'a revert is in progress'
undo bisecting 2 'a bisect is in progress'
undo detached 2 'landed on .main., and you are not there'
undo away 2 'landed on .main., and you are not there'
undo elsewhere undone
undo moved undone
undo submodule undone
undo sparse undone

# ---- what git is asked

asked() {
	grep "exec.* status --porcelain=v1\|built-in: git status --porcelain=v1" ../trace
}
test_expect_success 'the whole working tree is looked at only where something may be in the way' '
	prepare && git agent start -q --name few -- sh -c "$words put $agent \"link>g\" \"run*@2A\"" && git agent review --accept-all --critical few && land() {
		git agent land --undo few 2>/dev/null
		rm -f ../trace
		GIT_TRACE="$PWD/../trace" git agent land few
	} && land && ! asked && land && put g@8M && land && ! asked && git checkout -q g &&
	for there in "put run@" "put run*@8M" "rm link; cp f link" "ln -sfn old link" "put s=s; git add s" "put i=i; git add -N i"; do
		git agent land --undo few && eval "$there" && { land || :; } && asked || return 1
		git agent land --undo few 2>/dev/null
		git reset -q --hard && rm -f s i && git agent land few || return 1
	done &&
	git agent land --undo few && echo "f text eol=crlf" >.git/info/attributes && rm f && git checkout f && land && asked && grep -c "$(printf "A\r")" f && git agent land --undo few && test -z "$(git status --porcelain)"
'

test_done
