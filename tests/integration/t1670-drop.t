#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='dropping in every state of the repository: the exact result, and nothing lost'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# All of the user's: branch, commit, index, operation in progress, stash, every file with its mode.
mine() {
	git symbolic-ref -q HEAD
	git rev-parse HEAD
	git ls-files -s
	git status --porcelain --ignored
	git for-each-ref refs/heads refs/tags refs/remotes refs/stash | grep -v refs/heads/agent/
	for f in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD rebase-merge/head-name BISECT_LOG; do
		cat ".git/$f" 2>/dev/null
	done
	git worktree list | grep -v " \[agent/"
	find . -path ./.git -prune -o ! -type d -printf '%m %y %p %l\n' | sort
	find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
}
session_refs() {
	git for-each-ref --format='%(objectname) %(refname)' refs/heads/agent/s refs/agent/s
}
trashed_refs() {
	git for-each-ref --format='%(objectname) %(refname)' refs/agent-trash |
		sed 's,refs/agent-trash/s-[0-9]*/tip,refs/heads/agent/s,; s,refs/agent-trash/s-[0-9]*,refs/agent/s,' |
		sort -k 2
}
layers() {
	(cd "$1" && find upper git undo -printf '%m %y %s %p %l\n' 2>/dev/null | sort)
}

work='sed -i s/^5$/five/ a; git commit -qam one; echo n >new; chmod +x new; echo e >.envrc; mkdir -p ign; echo i >ign/i; git stash list; git branch side'
make_repo() {
	git init -q "$1" &&
	(
		cd "$1" &&
		seq 1 30 >a &&
		echo b >b &&
		mkdir d &&
		echo c >d/c &&
		echo ign >.gitignore &&
		git add -A &&
		git commit -qm base &&
		git branch other &&
		git tag v1
	)
}

# row STATE BEFORE: with the session made, BEFORE brings the repository into the state; then
#   refused (2) and nothing touched; forced: nothing of the user's touched, refs and layers in the
#   trash as they were; restored: all as it was, and it can go on.
n=0
row() {
	n=$((n + 1))
	test_expect_success "dropped, and back: $1" "
		make_repo r$n && cd r$n && git agent start -q --name s -- sh -c '$work' && { $2; } && state=\$(ls -d \$HOME/.local/state/git-agent/\$(head -n 1 \"\$(git rev-parse --git-common-dir)/git-agent/id\")) &&
		mine >../mine && session_refs | sort -k 2 >../refs && layers \"\$state/sessions/s\" >../layers && git worktree list >../worktrees && test -s ../layers &&
		test_expect_code 2 git agent drop s 2>../err && grep \"was not landed\" ../err && git agent drop --dry-run --force s && mine | test_cmp ../mine - && session_refs | sort -k 2 | test_cmp ../refs - && layers \"\$state/sessions/s\" | test_cmp ../layers - &&
		git agent drop --force s 2>../err && mine | test_cmp ../mine - && test -z \"\$(session_refs)\" && trashed_refs | test_cmp ../refs - && layers \"\$state\"/trash/s-* | test_cmp ../layers - && test ! -e \"\$state/sessions/s\" && ! git agent list | grep ^s &&
		git agent drop --restore s && mine | test_cmp ../mine - && session_refs | sort -k 2 | test_cmp ../refs - && test -z \"\$(trashed_refs)\" && layers \"\$state/sessions/s\" | test_cmp ../layers - && git worktree list | test_cmp ../worktrees - &&
		git agent review s >/dev/null && git agent list | grep '^s .*captured' && test_expect_code 2 git agent drop s && git fsck --strict
	"
}
row clean ':'
row 'uncommitted changes' 'echo mine >>a && echo mine >>d/c'
row staged 'echo mine >>a && git add a && git mv b c2 && git rm -q d/c'
row 'staged and changed again' 'echo mine >>a && git add a && echo more >>a && chmod +x b'
row 'untracked where it writes' 'echo mine >new && echo mine >.envrc'
row 'ignored where it writes' 'mkdir ign && echo mine >ign/i'
row 'in the middle of a merge that conflicts' 'git switch -q other && echo x >a && git commit -qam x && git switch -q main && echo y >a && git commit -qam y && test_must_fail git merge -q other'
row 'in the middle of a rebase' 'git switch -q other && echo x >a && git commit -qam x && git switch -q main && echo z >a && git commit -qam z && test_must_fail git rebase -q other'
row 'in the middle of a cherry-pick' 'git switch -q other && echo x >a && git commit -qam x && git switch -q main && echo y >a && git commit -qam y && test_must_fail git cherry-pick other'
row 'in the middle of a revert' 'echo y >a && git commit -qam y && echo z >a && git commit -qam z && test_must_fail git revert --no-edit HEAD~'
row 'bisecting' 'git commit -q --allow-empty -m 1 && git commit -q --allow-empty -m 2 && git bisect start HEAD HEAD~2 && test -e .git/BISECT_LOG'
row 'on no branch' 'git switch -q --detach'
row 'on no branch, at its tip' 'git switch -q --detach agent/s'
row 'on an unborn branch' 'git checkout -q --orphan fresh'
row 'on another branch' 'git switch -q other'
row 'the branch it started from is gone' 'git switch -q other && git branch -qD main'
row 'the branch moved since' 'echo m >>b && git commit -qam m'
row 'its own branch has commits of the users' 'git worktree add -q ../w$n agent/s && git -C ../w$n commit -q --allow-empty -m user && git worktree remove ../w$n'
row 'a conflict with it staged half way' 'echo y >a && git commit -qam y && test_must_fail git merge -q agent/s && git checkout -q --ours a'
row 'a stash of the users' 'echo st >>a && git stash -q'
row 'sparse' 'git sparse-checkout set d 2>/dev/null'
row 'a linked working tree beside' 'git worktree add -q ../l$n other'
row 'an index lock that a git left' ': >.git/index.lock'

# no STATE BEFORE STATUS PATTERN: refused even with --force, and nothing touched at all
no() {
	n=$((n + 1))
	test_expect_success "not with --force either: $1" "
		make_repo r$n && cd r$n && git agent start -q --name s -- sh -c '$work' && { $2; } && mine >../mine && session_refs >../refs && git agent list >/dev/null 2>&1 && state=\$(ls -d \$HOME/.local/state/git-agent/\$(head -n 1 .git/git-agent/id)) &&
		test_expect_code $3 git agent drop --force s 2>../err && grep \"$4\" ../err && mine | test_cmp ../mine - && session_refs | test_cmp ../refs - && test -d \"\$state/sessions/s\" && test ! -e \"\$state/trash\" -o -z \"\$(ls -A \"\$state/trash\" 2>/dev/null)\"
	"
}
no 'its branch is checked out here' 'git switch -q agent/s' 128 'is checked out in'
no 'its branch is checked out elsewhere' 'git worktree add -q ../e agent/s' 128 'is checked out in .*/e'
no 'a ref of it is locked' ': >.git/refs/heads/agent/s.lock' 128 's.lock'
no 'a bisection from its branch is going on' 'git switch -q agent/s && git bisect start HEAD HEAD~2 && git switch -q --detach' 128 'a rebase or bisection'
no 'a rebase of its branch is going on' 'echo y >a && git commit -qam y && git switch -q agent/s && test_must_fail git rebase -q main' 128 'a rebase or bisection of branch .agent/s. is going on'

test_expect_success 'with a submodule, of which the user has uncommitted work' '
	git init -q lib &&
	(cd lib && echo l >l && git add l && git commit -qm l) &&
	git init -q super &&
	cd super &&
	git -c protocol.file.allow=always submodule --quiet add ../lib lib &&
	git commit -qm sub &&
	git agent start -q --name s -- sh -c "
		echo new >lib/new
		cd lib &&
		git add new &&
		git commit -qm new" &&
	echo mine >>lib/l &&
	echo u >lib/u &&
	git -C lib add u &&
	mine >../mine &&
	git -C lib status --porcelain >../lib.mine &&
	git -C lib rev-parse agent/s >../tip &&
	test_expect_code 2 git agent drop s &&
	git agent drop --force s &&
	mine | test_cmp ../mine - &&
	git -C lib status --porcelain | test_cmp ../lib.mine - &&
	! git -C lib rev-parse -q --verify agent/s &&
	git agent drop --restore s &&
	git -C lib rev-parse agent/s | test_cmp ../tip - &&
	mine | test_cmp ../mine -
'

test_expect_success 'a session that runs is not dropped' '
	make_repo run &&
	cd run &&
	mkfifo "$TRASH/end" &&
	{
		"$GIT_AGENT" start -q --name s -- sh -c "
		echo n >n
		cat" <"$TRASH/end" &
	} &&
	exec 9>"$TRASH/end" &&
	test_wait_for "git agent list | grep \"^s .*running\"" &&
	test_expect_code 128 git agent drop --force s 2>../err &&
	grep "session .s. is running" ../err &&
	git agent list | grep "^s .*running" &&
	exec 9>&- &&
	wait &&
	git agent list | grep "^s .*captured" &&
	test "$(git show agent/s:n)" = n
'

test_expect_success 'what another command holds is not said to run' '
	make_repo held &&
	cd held &&
	git agent start -q --name h -- sh -c "echo n >n" &&
	exec 9<"$(echo "$HOME"/.local/state/git-agent/*/sessions/h/lock)" &&
	flock -n 9 &&
	test_expect_code 128 git agent drop h 2>../err &&
	grep "another command is at work on session .h." ../err &&
	grep "^hint: end that first" ../err &&
	! grep running ../err &&
	exec 9<&- &&
	git agent drop --force h
'

# stays NAME: it is there, and not in the trash
stays() { git agent show "$1" >/dev/null && ! git agent drop --restore "$1" 2>/dev/null; }

test_expect_success 'what a limit kept away is dropped by force only, landed or not, in a submodule too' '
	make_repo limit &&
	cd limit &&
	git agent -c limits.capture.file_size=5 start -q --name all -- sh -c "echo too long >long" &&
	git agent -c limits.capture.file_size=5 start -q --name some -- sh -c "
		echo s >some
		echo too long >long" &&
	git merge -q agent/some &&
	git agent list | grep "^some .*landed" &&
	for s in "capture all" "resume some"; do
		n=${s#* } &&
		test_expect_code 2 git agent drop $n 2>../err &&
		grep "a limit kept something of session .$n. away" ../err &&
		grep "hint: .*git agent $s.*drop --force $n" ../err &&
		git agent review --stat $n | grep "^next: git agent $s," ||
			exit 1
	done &&
	git agent capture all &&
	git agent resume -q some -- true &&
	for n in all some; do
		git show agent/$n:long &&
		git merge -q -m m agent/$n &&
		git agent drop $n || exit 1
	done &&
	cd ../super &&
	git agent -c limits.capture.file_size=5 start -q --name sl -- sh -c "echo too long >lib/long" &&
	test_expect_code 2 git agent drop sl &&
	git agent drop --force sl
'

# refused: without --force, with this in the message; and what is named can be given a branch
refused() {
	test_expect_code 2 git agent drop "$1" 2>../err &&
	grep "$2" ../err &&
	stays "$1"
}

test_expect_success 'an agent that ends on an older commit: nothing newer goes, and its commits are named' '
	git init -q older &&
	cd older &&
	for i in 1 2 3; do
		echo $i >c$i
		git add . &&
		git commit -qm c$i || exit 1
	done &&
	git agent start --name o -- sh -c "echo good >work; git add work; git commit -qm good
		git checkout -q HEAD~2" 2>../err &&
	grep "note: the agent ended on an older commit, $(git rev-parse HEAD~1 | cut -c1-12)" ../err &&
	! git rev-parse -q --verify agent/o &&
	git agent land o 2>../err &&
	grep "nothing to land" ../err &&
	test "$(ls)" = "$(printf "c1\nc2\nc3")" &&
	refused o "no branch of yours has refs/agent/o/heads/agent/o" &&
	git branch good refs/agent/o/heads/agent/o &&
	git agent drop o
'

test_expect_success '... and what it did there is brought alone, as by a merge; a resume has all again' '
	cd older &&
	git agent start -q --name r -- sh -c "
		git reset -q --hard HEAD~2
		echo n >n
		echo more >>c1" &&
	test_prints "M\tc1\nA\tn" git diff --name-status main agent/r &&
	git agent resume -q r -- sh -c "cat c3 >>n" &&
	git agent land r &&
	test "$(cat n)" = "$(printf "n\n3")" &&
	test -e c2 &&
	git agent start -q --name f -- sh -c "
		git checkout -q HEAD~3
		echo f >f
		git add f
		git commit -qm f" &&
	test "$(git diff --name-status main agent/f)" = "$(printf "A\tf")" &&
	git agent drop --force f &&
	git rm -q c3 &&
	mkdir c3 &&
	echo d >c3/d &&
	git add . &&
	git commit -qm dir &&
	git agent start -q --name d -- sh -c "git checkout -q HEAD~1; echo edited >c3" &&
	test "$(git show agent/d:c3)" = edited &&
	git agent drop --force d
'

test_expect_success '... and what you had not committed is not deleted' '
	cd older &&
	echo mine >>n &&
	git agent start -q --name w -- git reset -q --hard HEAD~4 &&
	git agent land w &&
	test "$(tail -n 1 n)" = mine &&
	git agent drop w &&
	git checkout -q n
'

test_expect_success 'commits that only the log of HEAD has, as the agent left a detached HEAD' '
	make_repo left &&
	cd left &&
	git agent start --name d -- sh -c "
		git checkout -q --detach
		echo d >n
		git add n
		git commit -qm n
		git switch -q agent/d" 2>../err &&
	grep "note: what the agent committed on no branch is kept on refs/agent/d/others/: left/" ../err &&
	refused d "no branch of yours has refs/agent/d/others/left/" &&
	test "$(git show "$(git for-each-ref --format="%(refname)" refs/agent/d/others):n")" = d &&
	git agent start -q --name l -- sh -c "
		git checkout -q --detach
		git commit -q --allow-empty -m e
		git switch -q agent/l
		echo l >l" &&
	git agent land l &&
	refused l refs/agent/l/others/left/ &&
	git agent gc 2>../err &&
	grep "session .l. has landed and stays: it has branches" ../err &&
	git agent start -q --name m -- sh -c "
		git checkout -q --detach
		echo m >m
		git add m
		git commit -qm m
		git branch -f agent/m
		git switch -q agent/m" &&
	git agent land m &&
	git agent drop m
'

test_expect_success 'what has landed where HEAD is detached is dropped once a branch has it' '
	make_repo detached &&
	cd detached &&
	git switch -q --detach &&
	git agent start -q --name h -- sh -c "echo h >h" &&
	git agent land h &&
	git agent list | grep "^h .*landed" &&
	refused h "session .h. has landed where HEAD is detached" &&
	git agent gc 2>../err &&
	grep "session .h. has landed and stays: HEAD is detached" ../err &&
	git branch keep &&
	git agent drop h
'

test_expect_success 'a commit of a submodule that only its HEAD and the superproject name' '
	cd super &&
	git switch -q -c sub &&
	git agent start -q --name c -- sh -c "cd lib; echo c >c; git add c; git commit -qm c
		cd ..; git commit -qam c" &&
	git agent review --accept-all c &&
	git agent land c &&
	refused c "has work in submodule" &&
	git -c protocol.file.allow=always submodule --quiet update &&
	refused c "has work in submodule" &&
	grep "git -C .* merge agent/c., on a branch there" ../err &&
	git -C lib switch -q -c mine &&
	git agent drop c &&
	git -C lib cat-file -e HEAD:c
'

# unkept NAME WHY: refused, and who could lose it is told; gc and drop after it was repaired
unkept() {
	test_expect_code 2 git agent drop "$1" 2>../err &&
	grep "session .$1. may have commits that are nowhere else: $2" ../err &&
	grep "hint: .*git agent resume $1.*drop --force $1" ../err &&
	stays "$1" &&
	git agent review --json "$1" |
		python3 -c "import json, sys; r = json.load(sys.stdin); assert r['unkept'] and all(u in r['notes'] for u in r['unkept'])"
}

test_expect_success 'commits that could not be kept are dropped by force only: names, what cannot be read or taken' '
	make_repo unkept &&
	cd unkept &&
	odd=$(printf "x\342\200\213y") &&
	for n in name land; do
		git agent start -q --name $n -- sh -c "
		git branch $odd \$(git commit-tree -m odd HEAD^{tree})
		test $n = name || echo l >l" &&
		git agent review --stat $n >../out || return 1
	done &&
	unkept name "the agent.s branch \"x.*y\" has a name that cannot be kept" &&
	git agent show name | grep "next: git agent resume name, for commits" &&
	git agent review --stat name | grep "^next: git agent resume name, for commits" &&
	git agent land land &&
	unkept land "the agent.s branch" &&
	git agent review --stat land | grep "^next: git agent resume land, for" &&
	git agent gc >../out 2>../err &&
	test ! -s ../out &&
	grep "session .land. has landed and stays: it may have commits that are nowhere else: the agent.s branch" ../err &&
	git agent resume -q land -- git branch -D $odd &&
	git merge -q agent/land &&
	git agent gc | grep "^session land:" &&
	git agent resume -q name -- git branch -m $odd plain &&
	git rev-parse refs/agent/name/heads/plain &&
	git agent start -q --name blob -- sh -c "git rev-parse HEAD:a >.git/refs/heads/blob" &&
	unkept blob "not all of the agent.s branches could be read" &&
	git agent start -q --name fifo -- sh -c "
		git commit -q --allow-empty -m c
		mkfifo .git/refs/fifo" &&
	unkept fifo "the agent.s commits were not taken (its git dir holds a fifo" &&
	git agent start -q --name tag -- sh -c "
		t=\$(git commit-tree -m t HEAD^{tree})
		git tag t \$(git commit-tree -p \$t -m u HEAD^{tree})
		rm .git/objects/\$(echo \$t | sed s,..,\&/,)" &&
	unkept tag "what the agent committed on no branch (refs/tags/t) was not taken" &&
	git agent start -q --rm --name rm -- sh -c "git rev-parse HEAD:a >.git/refs/heads/blob" 2>../err &&
	grep "^agent/rm stays: .* not all of the agent.s branches" ../err &&
	git agent start -q --name plain -- git update-ref refs/stash/odd HEAD &&
	git agent drop plain &&
	git agent drop --force blob
'

test_expect_success 'so many could not be kept as there are, though not all are named' '
	make_repo odd &&
	cd odd &&
	odd=$(printf "\342\200\213") &&
	git agent start --name odd -- sh -c "
		c=\$(git commit-tree -m odd HEAD^{tree})
		for i in \$(seq 15); do git branch x$odd\$i \$c; done" 2>../err &&
	grep "5 more of the agent.s branches have names that cannot be kept" ../err &&
	test_expect_code 2 git agent drop odd 2>../err &&
	grep "has a name that cannot be kept (and 14 more)" ../err &&
	git agent start -q --name one -- sh -c "
		c=\$(git commit-tree -m odd HEAD^{tree})
		for i in \$(seq 11); do
			git branch x$odd\$i \$c
			git tag t$odd\$i \$c
		done" &&
	test_expect_code 2 git agent drop one 2>../err &&
	grep "has a name that cannot be kept (and 21 more)" ../err &&
	git agent drop --force one &&
	git agent drop --force odd
'

test_expect_success 'commits that could not be kept in a submodule are work of it' '
	cd super &&
	git agent start -q --name un -- sh -c "
		cd lib &&
		git rev-parse HEAD: >\$(git rev-parse --git-dir)/refs/heads/tree" &&
	test_expect_code 2 git agent drop un 2>../err &&
	grep "has work in submodule" ../err &&
	git agent drop --force un
'

test_expect_success 'start --rm: what left nothing is dropped, with the status of its command, and can be brought back' '
	make_repo rm &&
	cd rm &&
	echo "*.ign" >>.git/info/exclude &&
	test_expect_code 3 git agent start --rm --name e -- sh -c "
		echo said
		exit 3" >../out 2>../err &&
	grep -x said ../out &&
	grep "^agent/e: dropped; .git agent drop --restore e. brings it back" ../err &&
	test_expect_code 128 git agent show e &&
	test -z "$(git for-each-ref "refs/agent/" "refs/heads/agent/")" &&
	git agent start -q --rm --name e -- true 2>../err &&
	! grep -i dropped ../err &&
	test -z "$(git agent list)" &&
	git agent drop --restore e &&
	git agent log e &&
	git agent drop e
'

test_expect_success 'start --rm: ignored files are in the trash, which is said with -q too' '
	cd rm &&
	git agent start -q --rm --name i -- sh -c "echo x >x.ign" 2>../err &&
	grep "dropped, with what it left behind" ../err &&
	git agent drop --restore i &&
	git agent review --left-behind i | grep x.ign &&
	git agent land --with-ignored x.ign i &&
	test -e x.ign &&
	git agent drop i
'

test_expect_success 'start --rm: whatever else there is stays, and that is said' '
	cd rm &&
	for work in "echo n >n" "git commit -q --allow-empty -m c; echo m >m" "echo e >.envrc" "git switch -q -c mine; git commit -q --allow-empty -m own; git switch -q -" "echo s >>a; git stash -q"; do
		git agent start -q --rm --name s -- sh -c "$work" 2>../err &&
		cat ../err &&
		grep "^agent/s stays: " ../err &&
		grep "drop --force s" ../err &&
		stays s &&
		git agent drop --force s 2>/dev/null ||
			exit 1
	done &&
	git agent -c limits.capture.file_size=5 start -q --rm --name l -- sh -c "echo too long >long" 2>../err &&
	grep "^agent/l stays: a limit kept something" ../err &&
	stays l &&
	test_expect_code 129 git agent start --rm -d -- true 2>../err &&
	grep "cannot be used together" ../err
'

test_expect_success 'start --rm: work in a submodule stays' '
	cd super &&
	git agent start -q --rm --name rm -- sh -c "
		cd lib &&
		echo more >more &&
		git add more &&
		git commit -qm more" 2>../err &&
	grep "^agent/rm stays: " ../err &&
	stays rm &&
	git -C lib rev-parse -q --verify agent/rm &&
	git agent start -q --rm --name none -- true &&
	test_expect_code 128 git agent show none
'

# Git stops if the directory of worktrees goes away while it reads it, as when the last other session ends
test_expect_success 'git that fails is asked once more where a branch is checked out' '
	git init -q again &&
	cd again &&
	git commit -q --allow-empty -m 1 &&
	git agent start -q --name w -- sh -c "echo w >w" &&
	mkdir ../once &&
	printf "#!/bin/sh\ncase \"\$*\" in *worktreepath*) [ -e $HOME/asked ] || { : >$HOME/asked; echo fatal: Invalid path >&2; exit 128; } ;; esac\nexec $(command -v git) \"\$@\"\n" >../once/git &&
	chmod +x ../once/git &&
	PATH=$HOME/once:$PATH git-agent drop --force w &&
	test -e ../asked &&
	! git agent list | grep "^w "
'

test_done
