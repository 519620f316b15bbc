#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='review, accept and reject in every state a repository can be in'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

git config --global protocol.file.allow always
commands='review accept reject hunk all'

# What every session did: two hunks of a, a flagged file, one that is held back, a new one.
cat >"$TRASH/work" <<\EOF
sed -i -e '3s/.*/three/' -e '30s/.*/thirty/' a
printf 'all:\n\techo mine\n' >Makefile
echo evil >.envrc
echo n >n
EOF

# start STATE: a repository, and in it a session for each command
start() {
	git init -q "$1" &&
	cd "$1" &&
	seq 40 >a &&
	printf "all:\n\techo ok\n" >Makefile &&
	mkdir d &&
	seq 9 >d/b &&
	echo "*.ign" >.gitignore &&
	git add -A &&
	git commit -qm base &&
	git branch side &&
	echo c >>d/b &&
	git commit -qam second &&
	before_sessions_$1 || return 1
	for session in $commands; do
		git agent start -q --name $session -- sh -c "$(cat "$TRASH/work")" || return 1
	done
}

# ---- states: what is done before the sessions are started, and after

for state in clean dirty staged untracked conflicted merging rebasing picking bisecting detached elsewhere here moved submodule sparse gone; do
	eval "before_sessions_$state() { :; }"
done
on_side() {
	git switch -q side &&
	seq 40 | sed 3s/.*/ours/ >a &&
	echo side >d/b &&
	git commit -qam side
}
clean() { :; }
dirty() { echo mine >>a && rm d/b && echo mine >n && echo mine >.envrc && ln -s a link; }
staged() {
	seq 40 | sed 3s/.*/mine/ >a &&
	git add a &&
	echo more >>a &&
	git rm -q --cached d/b &&
	echo new >new &&
	git add -N new
}
untracked() { mkdir n && echo mine >n/x && echo mine >x.ign && echo mine >.envrc; }
conflicted() { on_side && git switch -q main && ! git merge -q side && git ls-files -u | grep d/b; }
merging() {
	git switch -q side &&
	echo s >s &&
	git add s &&
	git commit -qm s &&
	git switch -q main &&
	git merge -q --no-commit side &&
	test -e .git/MERGE_HEAD
}
rebasing() { on_side && ! git rebase -q main 2>/dev/null && test -d .git/rebase-merge; }
picking() {
	on_side &&
	git switch -q main &&
	! git cherry-pick side 2>/dev/null &&
	test -e .git/CHERRY_PICK_HEAD
}
bisecting() {
	git bisect start -q main side >/dev/null 2>&1 || git bisect start main side
	test -e .git/BISECT_LOG
}
detached() { git switch -q --detach HEAD~1 && echo mine >>a; }
elsewhere() {
	for session in $commands; do
		git worktree add -q "../wt-$session" "agent/$session" &&
		echo mine >>"../wt-$session/a" ||
			return 1
	done
}
here() { git switch -q agent/accept && echo mine >>a; }
# commits of the user's on the branch, one of them on a path that is decided about
moved() {
	for session in $commands; do
		git worktree add -q ../wt "agent/$session" &&
		echo u >../wt/user &&
		sed -i 20s/.*/user/ ../wt/a &&
		git -C ../wt add -A &&
		git -C ../wt commit -qm user &&
		git worktree remove ../wt ||
			return 1
	done
}
before_sessions_submodule() {
	git init -q ../sub.git &&
	echo s >../sub.git/s &&
	git -C ../sub.git add s &&
	git -C ../sub.git commit -qm s &&
	git submodule -q add "$PWD/../sub.git" sub &&
	git commit -qm sub
}
submodule() { echo mine >>sub/s && git -C sub switch -q -c topic; }
sparse() { git sparse-checkout set --no-cone /a /Makefile && test ! -e d/b; }
# the branch was deleted, and what is held is all there is
gone() { for session in $commands; do git branch -q -D "agent/$session" || return 1; done; }

# ---- what must stay as it is, and what must be there afterwards

# everything but the refs of sessions: refs, HEAD, index byte by byte, operations, files
mine() {
	for dir in . $(git worktree list --porcelain | sed -n 's/^worktree //p' | grep /wt-) $(test ! -d sub || echo sub); do
		(
			cd "$dir" &&
			git rev-parse HEAD &&
			git symbolic-ref -q HEAD
			for f in index MERGE_HEAD MERGE_MSG CHERRY_PICK_HEAD rebase-merge/done rebase-merge/git-rebase-todo BISECT_LOG info/sparse-checkout; do
				p=$(git rev-parse --git-path $f) &&
				test ! -e "$p" || sha1sum "$p"
			done
			find . -name .git -prune -o \( -type f -o -type l \) -print |
				LC_ALL=C sort |
				while read -r f; do
					printf "%s " "$f" &&
					{ readlink "$f" || sha1sum <"$f"; }
				done

		)
	done
	git for-each-ref | grep -v -e refs/heads/agent/ -e refs/agent/
	git stash list
	git count-objects -v | grep garbage
}
refs() {
	git for-each-ref --format="%(refname) %(objectname)" "refs/heads/agent/$1" "refs/agent/$1"
}
# entry TREE PATH: for update-index
entry() {
	git ls-tree "$1" "$2" | sed 's/ blob / /'
}
# What the branch must be: the tree it was, with these changes.
want_tree() {
	GIT_INDEX_FILE=$TRASH/want-index
	export GIT_INDEX_FILE
	rm -f "$GIT_INDEX_FILE"
	git read-tree "$tip"
	case $1 in
	accept) entry "$held" .envrc | git update-index --index-info ;;
	reject) {
		entry main Makefile &&
		echo "0 0000000000000000000000000000000000000000	n"
	} |
		git update-index --index-info ;;
	hunk)
		git cat-file blob "$tip:a" | sed 30s/.*/30/ >"$TRASH/a"
		git update-index --cacheinfo "100644,$(git hash-object -w "$TRASH/a"),a"
		;;
	esac
	git write-tree
	unset GIT_INDEX_FILE
}
run() {
	case $1 in
	review) git agent review review ;;
	accept) git agent review --accept accept .envrc ;;
	reject) git agent review --reject reject Makefile n .envrc ;;
	hunk) git agent review --reject --hunk "$hunk" hunk a ;;
	all) git agent review --accept-all all ;;
	esac
}
verdicts() {
	git show "refs/agent/$1/report:report.json" | python3 -c '
import json, sys
print(*sorted({f["path"] + ":" + f["verdict"] for f in json.load(sys.stdin)["flags"]}))'
}

# done_as_asked COMMAND: the exact result
done_as_asked() {
	if [ "$1" = review ] || [ "$1" = all ]; then
		test "$(git rev-parse "agent/$1")" = "$tip" &&
		test "$(git rev-parse "refs/agent/$1/held")" = "$held" ||
			return 1
	else
		test "$(git rev-parse "agent/$1^{tree}")" = "$(want_tree "$1")" &&
		test "$(git rev-parse "agent/$1~1")" = "$tip" ||
			return 1
	fi
	case $1 in
	review) refs review | test_cmp "$TRASH/refs" - &&
	grep "^+three" "$TRASH/out" &&
	grep "^+evil" "$TRASH/out" &&
	verdicts review | grep -x ".envrc:open Makefile:open" ;;
	accept) test_must_fail git rev-parse -q --verify refs/agent/accept/held &&
	verdicts accept | grep -x ".envrc:accepted Makefile:open" ;;
	reject) test_must_fail git rev-parse -q --verify refs/agent/reject/held &&
	verdicts reject | grep -x ".envrc:rejected Makefile:rejected" ;;
	hunk) test "$(git rev-parse refs/agent/hunk/held~1)" = "$(git rev-parse agent/hunk)" &&
	test "$(git show refs/agent/hunk/held:.envrc)" = evil &&
	verdicts hunk | grep -x ".envrc:open Makefile:open" ;;
	all) verdicts all | grep -x ".envrc:open Makefile:accepted" ;;
	esac
}
# refused COMMAND MESSAGE: nothing is different
refused() {
	grep -e "$2" "$TRASH/err" &&
	refs "$1" | test_cmp "$TRASH/refs" -
}

# cell STATE COMMAND STATUS [MESSAGE]
cell() {
	test_expect_success "$1: $2 gives $3" "
		cd $1 && hunk=2 && { test $1 != moved || hunk=3; } && refs $2 >\"$TRASH/refs\" && mine >\"$TRASH/before\" &&
		tip=\$(git rev-parse -q --verify agent/$2 || :) && held=\$(git rev-parse refs/agent/$2/held) &&
		test_expect_code $3 run $2 >\"$TRASH/out\" 2>\"$TRASH/err\" && mine | test_cmp \"$TRASH/before\" - &&
		if [ $3 = 0 ]; then done_as_asked $2; else refused $2 \"${4-}\"; fi
	"
}

# state NAME: a table with a row for each command, all of which give 0
state() {
	test_expect_success "$1: sessions, and then the state" "start $1 && $1"
	for command in $commands; do
		cell "$1" "$command" 0
	done
}
for name in clean dirty staged untracked conflicted merging rebasing picking bisecting detached moved submodule sparse; do
	state $name
done

# The branch must not move beneath a working tree: what has to move it is refused, all else is done.
for name in elsewhere here; do
	test_expect_success "$name: sessions, and then the state" "start $name && $name"
done
for command in review all; do
	cell elsewhere $command 0
done
for command in accept reject hunk; do
	cell elsewhere $command 128 "branch .agent/$command. is checked out in .*/wt-$command"
done
for command in review reject hunk all; do
	cell here $command 0
done
cell here accept 128 "branch .agent/accept. is checked out in"
test_expect_success TTY 'elsewhere, here: nobody is asked what could not be done then' '
	for command in accept reject; do
		(
			cd elsewhere &&
			"$TEST_BUILDDIR/tests/helpers/ptydrive" expect="is checked out in" exit=128 -- git agent review -i $command

		) >out &&
		! grep "accept .envrc" out ||
			exit 1
	done
'
test_expect_success 'here: once the user is elsewhere it can be done' '
	cd here &&
	git stash -q &&
	git switch -q main &&
	git agent review --accept accept .envrc &&
	test "$(git show agent/accept:.envrc)" = evil &&
	git stash pop -q
'

test_expect_success 'gone: sessions, and then the state' '
	start gone &&
	gone
'
test_expect_success 'gone: it is shown as it was captured' '
	cd gone &&
	refs review >../refs &&
	git agent review review | grep "^+three" &&
	refs review | test_cmp ../refs -
'
for command in accept reject hunk all; do
	cell gone $command 128 "the branch .agent/$command. is gone"
done

# What was decided is what lands, whatever the tree looks like: nothing of the user's is in it.
test_expect_success 'decided on a dirty tree, landed on a clean one' '
	cd dirty &&
	git stash -q -u &&
	git agent review --accept hunk Makefile &&
	git agent review --reject hunk .envrc &&
	git agent land hunk &&
	test "$(sed -n 3p a)" = three &&
	test "$(sed -n 30p a)" = 30 &&
	test ! -e .envrc
'

# Only we are: a git that is killed leaves its locks, and says so to who comes next.
test_expect_success STRACE 'killed between any two steps: the old decision, or the new one' '
	git init -q kill &&
	cd kill &&
	seq 40 >a &&
	git add a &&
	git commit -qm base &&
	killed=0 &&
	for n in 1 2 3 4 5 6 7 8 9 10; do
		git agent start -q --name k$n -- sh -c "$(cat "$TRASH/work")" &&
		tip=$(git rev-parse agent/k$n) &&
		{
			strace -qq -o ../trace -e trace=rename,link,linkat,renameat2 -e inject=rename,link,linkat,renameat2:signal=KILL:when=$n git-agent review --reject k$n .envrc Makefile n 2>/dev/null ||
				killed=$((killed + 1))
		} &&
		git agent list >/dev/null &&
		git fsck --no-dangling 2>&1 | grep -v "^dangling\|notice" | grep . &&
		exit 1
		case $(git rev-parse agent/k$n) in
		"$tip") test "$(git show refs/agent/k$n/held:.envrc)" = evil &&
		verdicts k$n | grep ".envrc:open" &&
		git agent review --reject k$n .envrc Makefile n ;;
		esac &&
		test "$(git diff --name-only main agent/k$n)" = a &&
		git agent review --stat k$n >/dev/null &&
		git agent land --dry-run k$n || exit 1
	done &&
	test $killed -ge 3
'

# ---- what only commits on the way have -------------------------------------------------------------

only() {
	git agent review --json "$1" | python3 -c '
import json, sys
for f in json.load(sys.stdin)["flags"]:
    print(f["path"], f["verdict"], *f["in_commits_only"])'
}
in_sarif() {
	python3 -c '
import json, sys
(f,) = json.load(sys.stdin)["runs"][0]["results"]
print(*f["properties"]["inCommitsOnly"])'
}

test_expect_success 'a path that a later commit took away is said to be in commits only, which, and stays open if rejected' '
	git init -q way &&
	cd way &&
	echo a >a &&
	git add a &&
	git commit -qm base &&
	for n in way1 way2; do
		git agent start -q --name $n -- sh -c "
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
	echo "Makefile open $first $second" >../want &&
	only way1 | test_cmp ../want - &&
	git agent review --stat way1 >../out &&
	grep "in commits on the way only: $(echo $first | cut -c1-12) $(echo $second | cut -c1-12); .git agent land --squash. leaves them out" ../out &&
	way="in commits on the way only: $(echo $first | cut -c1-12) $(echo $second | cut -c1-12)" &&
	git agent review --format=html way1 >../html &&
	grep "<br>$way; &#39;git agent land --squash&#39; leaves them out" ../html &&
	git agent review --format=markdown way1 >../md &&
	grep "^| high | .Makefile. | .*, .$way; .git agent land --squash. leaves them out. | .make. | open |$" ../md &&
	git agent review --format=sarif way1 >../sarif &&
	test "$(in_sarif <../sarif)" = "$first $second" &&
	grep "; $way; " ../sarif &&
	for how in --merge --ff-only --rebase; do
		test_expect_code 3 git agent land $how way1 2>../err &&
		grep -e "--squash. leaves out what only commits on the way have" ../err ||
			exit 1
	done &&
	git agent review --reject way1 Makefile 2>../err &&
	grep "still open: .Makefile.: in commits on the way only" ../err &&
	grep "1 open flag left" ../err &&
	only way1 | test_cmp ../want - &&
	test_expect_code 3 git agent land way1 &&
	! git cat-file -e HEAD:b
'
test_expect_success 'landed as one commit it is not brought; accepted it comes with the commits' '
	cd way &&
	git agent land --squash way1 &&
	git cat-file -e HEAD:b &&
	test "$(git rev-list --count HEAD)" = 2 &&
	git reset -q --hard HEAD~1 &&
	git agent review --accept way2 Makefile &&
	echo "Makefile accepted" >../want &&
	only way2 | test_cmp ../want - &&
	git agent land way2 &&
	git cat-file -e HEAD:b &&
	git log --format=%s >../got &&
	grep -x add ../got
'
test_expect_success 'what the tip has is rejected by a commit, and not open for what commits before that have; what was held back is in none' '
	cd way &&
	git reset -q --hard $(git rev-list --max-parents=0 HEAD) &&
	git agent start -q --name way3 -- sh -c "
		echo all: >Makefile
		git add -A
		git commit -qm add
		echo x >>Makefile
		git commit -qam more" &&
	git agent review --reject way3 Makefile &&
	only way3 | grep -v "^Makefile rejected " | test_cmp /dev/null - &&
	git agent land --dry-run way3 &&
	git agent start -q --name way4 -- sh -c "
		echo e >.envrc
		echo c >c
		git add -A
		git commit -qm add
		git rm -q .envrc
		git commit -qm away" &&
	echo ".envrc open" >../want &&
	only way4 | test_cmp ../want - &&
	git agent review --reject way4 .envrc &&
	git agent land way4 &&
	git cat-file -e HEAD:c
'

test_done
