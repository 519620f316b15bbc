#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='review, accept and reject in every state a repository can be in'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

git config --global protocol.file.allow always

# What every session did: two changes of a, a flagged file, one that is held, a new one.
cat >"$TRASH/work" <<\EOF
sed -i -e '3s/.*/three/' -e '30s/.*/thirty/' a
printf 'all:\n\techo mine\n' >Makefile
echo evil >.envrc
echo n >n
EOF

# a_session_in STATE: a repository with a session, s, that the user then brings into the state
a_session_in() {
	test_enter "$1" &&
	seq 40 >a &&
	printf "all:\n\techo ok\n" >Makefile &&
	mkdir d &&
	seq 9 >d/b &&
	echo "*.ign" >.gitignore &&
	test_commit base &&
	git branch side &&
	echo c >>d/b &&
	git commit -qam second &&
	{ [ "$1" != submodule ] || add_submodule; } &&
	test_session s "$(cat "$TRASH/work")" &&
	$1
}

# ---- the states

on_side() {
	git switch -q side &&
	seq 40 | sed 3s/.*/ours/ >a &&
	echo side >d/b &&
	git commit -qam side
}
dirty() {
	echo mine >>a &&
	rm d/b &&
	echo mine >n &&
	echo mine >.envrc &&
	ln -s a link &&
	echo mine >x.ign
}
staged() {
	seq 40 | sed 3s/.*/mine/ >a &&
	git add a &&
	echo more >>a &&
	git rm -q --cached d/b &&
	echo new >new &&
	git add -N new
}
conflicted() {
	on_side &&
	git switch -q main &&
	! git merge -q side &&
	git ls-files -u | grep d/b
}
rebasing() {
	on_side &&
	! git rebase -q main 2>/dev/null &&
	test -d .git/rebase-merge
}
detached() {
	git switch -q --detach HEAD~1 &&
	echo mine >>a
}
# commits of the user on the branch, one of them on a path that is decided about
moved() {
	git worktree add -q ../wt agent/s &&
	echo u >../wt/user &&
	sed -i 20s/.*/user/ ../wt/a &&
	git -C ../wt add -A &&
	git -C ../wt commit -qm user &&
	git worktree remove ../wt
}
add_submodule() {
	git init -q ../sub.git &&
	echo s >../sub.git/s &&
	git -C ../sub.git add s &&
	git -C ../sub.git commit -qm s &&
	git submodule -q add "$PWD/../sub.git" sub &&
	git commit -qm sub
}
submodule() {
	echo mine >>sub/s &&
	git -C sub switch -q -c topic
}
sparse() {
	git sparse-checkout set --no-cone /a /Makefile &&
	test ! -e d/b
}
elsewhere() {
	git worktree add -q ../wt-s agent/s &&
	echo mine >>../wt-s/a
}
here() {
	git switch -q agent/s &&
	echo mine >>a
}
# what is held is all there is
gone() {
	git branch -q -D agent/s
}

# ---- what must stay as it is, and what must be there afterwards

# mine: all but the refs of sessions: refs, HEAD, the index byte by byte, operations, files
mine() {
	for dir in . ../wt-s sub; do
		[ -e "$dir" ] || continue
		(
			cd "$dir" &&
			git rev-parse HEAD &&
			git symbolic-ref -q HEAD
			for f in index MERGE_HEAD MERGE_MSG rebase-merge/done info/sparse-checkout; do
				p=$(git rev-parse --git-path $f) &&
				{ [ ! -e "$p" ] || sha1sum "$p"; }
			done
			find . -name .git -prune -o -type l -printf '%p %l\n' -o -type f -exec sha1sum {} + | sort
		)
	done
	git for-each-ref | grep -v -e refs/heads/agent/ -e refs/agent/
	git stash list
	git count-objects -v | grep garbage
}
refs() {
	git for-each-ref --format="%(refname) %(objectname)" refs/heads/agent refs/agent
}
# entry TREE PATH: for update-index
entry() {
	git ls-tree "$1" "$2" | sed 's/ blob / /'
}
# want_tree COMMAND: the tree that the branch must have: the one it had, with these changes
want_tree() {
	GIT_INDEX_FILE=$TRASH/want-index
	export GIT_INDEX_FILE
	rm -f "$GIT_INDEX_FILE"
	git read-tree "$tip"
	case $1 in
	accept) entry "$held" .envrc | git update-index --index-info ;;
	reject)
		{
			entry main Makefile &&
			echo "0 0000000000000000000000000000000000000000	n"
		} | git update-index --index-info
		;;
	esac
	git write-tree
	unset GIT_INDEX_FILE
}
run() {
	case $1 in
	review) git agent review s ;;
	accept) git agent review --accept s .envrc ;;
	reject) git agent review --reject s Makefile n ;;
	esac
}
verdicts() {
	git show "refs/agent/${1:-s}/report:report.json" | python3 -c '
import json, sys
print(*sorted({f["path"] + ":" + f["verdict"] for f in json.load(sys.stdin)["flags"]}))'
}

# decides COMMAND: it gives the exact result, and touches no file of the user
decides() {
	refs >"$TRASH/refs"
	mine >"$TRASH/before"
	tip=$(git rev-parse agent/s) held=$(git rev-parse -q --verify refs/agent/s/held)
	run "$1" >"$TRASH/out" 2>"$TRASH/err" &&
	mine | test_cmp "$TRASH/before" - || return 1
	if [ "$1" = review ]; then
		refs | test_cmp "$TRASH/refs" - &&
		grep "^+three" "$TRASH/out" &&
		grep "^+evil" "$TRASH/out" &&
		test_prints ".envrc:open Makefile:open" verdicts
		return
	fi
	test "$(git rev-parse "agent/s^{tree}")" = "$(want_tree "$1")" &&
	test "$(git rev-parse agent/s~1)" = "$tip" || return 1
	case $1 in
	reject)
		test_same refs/agent/s/held~1 agent/s &&
		test_prints evil git show refs/agent/s/held:.envrc &&
		test_prints ".envrc:open Makefile:rejected" verdicts
		;;
	accept)
		test_missing refs/agent/s/held &&
		test_prints ".envrc:accepted Makefile:rejected" verdicts
		;;
	esac
}
# is_refused COMMAND MESSAGE: nothing is different
is_refused() {
	refs >"$TRASH/refs"
	mine >"$TRASH/before"
	test_expect_code 128 run "$1" 2>"$TRASH/err" &&
	grep -e "$2" "$TRASH/err" &&
	mine | test_cmp "$TRASH/before" - &&
	refs | test_cmp "$TRASH/refs" -
}

for state in dirty staged conflicted rebasing detached moved submodule sparse; do
	test_that "decisions give the exact result and touch nothing else: $state" "
		a_session_in $state &&
		decides review &&
		decides reject &&
		decides accept
	"
done

test_that 'what was decided beside a dirty tree lands on a clean one' '
	cd dirty &&
	git stash -q -u &&
	git agent land s &&
	test "$(sed -n 3p a)" = three &&
	test "$(sed -n 30p a)" = thirty &&
	test "$(cat .envrc)" = evil
'

# The branch must not move below a working tree: what has to move it is refused, all else is done.
for state in elsewhere here; do
	test_that "a branch that is checked out is reviewed, but not moved: $state" "
		a_session_in $state &&
		decides review &&
		for command in accept reject; do
			is_refused \$command 'branch .agent/s. is checked out in' || return 1
		done &&
		git agent review --accept-all s &&
		test_prints '.envrc:open Makefile:accepted' verdicts
	"
done

test_that TTY 'review -i asks nothing about a branch that is checked out' '
	cd elsewhere &&
	"$TEST_BUILDDIR/tests/helpers/ptydrive" expect="is checked out in" exit=128 -- git agent review -i s >../out &&
	! grep "accept .envrc" ../out
'

test_that 'a branch that is not checked out any more can be decided about' '
	cd here &&
	git stash -q &&
	git switch -q main &&
	git agent review --accept s .envrc &&
	test_holds agent/s:.envrc evil
'

test_that 'a branch that was deleted is shown as it was captured, and not decided about' '
	a_session_in gone &&
	refs >../refs &&
	git agent review s | grep "^+three" &&
	refs | test_cmp ../refs - &&
	for command in accept reject; do
		is_refused $command "the branch .agent/s. is gone" || return 1
	done
'

# Only we are: a git that is killed leaves its locks, and says so to who comes next.
test_that STRACE 'a rejection that is killed between any two steps is done, or not begun' '
	test_enter kill &&
	seq 40 >a &&
	git add a &&
	git commit -qm base &&
	calls=rename,link,linkat,renameat2 n=0 killed=yes &&
	while [ $killed = yes ]; do
		n=$((n + 1)) &&
		test_session k$n "$(cat "$TRASH/work")" &&
		tip=$(git rev-parse agent/k$n) &&
		if strace -qq -o ../trace -e trace=$calls -e inject=$calls:signal=KILL:when=$n \
			git-agent review --reject k$n .envrc Makefile n 2>/dev/null; then killed=no; fi &&
		git agent list >/dev/null &&
		! git fsck --no-dangling 2>&1 | grep -v "^dangling\|notice" | grep . &&
		if [ "$(git rev-parse agent/k$n)" = "$tip" ]; then
			test_holds refs/agent/k$n/held:.envrc evil &&
			verdicts k$n | grep ".envrc:open" &&
			git agent review --reject k$n .envrc Makefile n
		fi &&
		test_prints a git diff --name-only main agent/k$n &&
		git agent land --dry-run k$n || exit 1
	done &&
	test $n -gt 3
'

# ---- what only commits before the tip have

# only NAME: of each flag "PATH VERDICT COMMIT...", with the commits that alone have it
only() {
	git agent review --json "$1" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["flags"]:
    print(f["path"], f["verdict"], *f["in_commits_only"])'
}

test_that 'each format of a review names the commits that alone have a path' '
	test_enter way a &&
	for n in way1 way2; do
		test_session $n "
			printf \"all:\n\techo evil\n\" >Makefile
			git add -A
			git commit -qm add
			echo x >>Makefile
			git commit -qam more
			git rm -q Makefile
			echo b >b
			git add -A
			git commit -qm away" || exit 1
	done &&
	first=$(git rev-parse agent/way1~2) second=$(git rev-parse agent/way1~1) &&
	git cat-file -e $first:Makefile &&
	! git cat-file -e agent/way1:Makefile &&
	test_prints "Makefile open $first $second" only way1 &&
	way="in earlier commits only: $(echo $first | cut -c1-12) $(echo $second | cut -c1-12)" &&
	git agent review --stat way1 | grep "$way; .git agent land --squash. leaves them out" &&
	git agent review --format=markdown way1 | grep "$way; .*git agent land --squash.* leaves them out"
'

test_that 'a rejected path that only earlier commits have stays open' '
	cd way &&
	for how in --merge --ff-only --rebase; do
		test_expect_code 3 git agent land $how way1 2>../err &&
		grep -e "--squash. leaves out what only commits before the tip have" ../err ||
			exit 1
	done &&
	test_says "still open: .Makefile.: in earlier commits only" git agent review --reject way1 Makefile &&
	grep "1 open flag left" ../err &&
	only way1 | grep "^Makefile open " &&
	test_expect_code 3 git agent land way1 &&
	! git cat-file -e HEAD:b
'

test_that 'an accepted path that only earlier commits have lands with them' '
	cd way &&
	git agent review --accept way2 Makefile &&
	test_prints "Makefile accepted" only way2 &&
	git agent land way2 &&
	git cat-file -e HEAD:b &&
	git log --format=%s | grep -x add
'

test_that 'a rejected path of the tip is not open for the commits before that have it' '
	cd way &&
	git reset -q --hard $(git rev-list --max-parents=0 HEAD) &&
	test_session way3 "
		echo all: >Makefile
		git add -A
		git commit -qm add
		echo x >>Makefile
		git commit -qam more" &&
	git agent review --reject way3 Makefile &&
	only way3 | grep -v "^Makefile rejected " | test_cmp /dev/null - &&
	git agent land --dry-run way3
'

test_that 'a path that is held is in no commit, so that rejecting it is enough' '
	cd way &&
	test_session way4 "
		echo e >.envrc
		echo c >c
		git add -A
		git commit -qm add
		git rm -q .envrc
		git commit -qm away" &&
	test_prints ".envrc open" only way4 &&
	git agent review --reject way4 .envrc &&
	git agent land way4 &&
	git cat-file -e HEAD:c
'

test_done
