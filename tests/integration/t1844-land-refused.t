#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a landing that is refused changes nothing, and names the path, the reason and a command that helps'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/landing.sh
. "$TEST_SRCDIR/tests/lib/landing.sh"
require_sandbox

ways='--merge --squash --rebase --ff-only'
overwritten='your uncommitted changes would be overwritten'
untracked='untracked files would be overwritten'

# each_way NAME TEXT: refused for that reason (exit status 2), whichever way, also by a dry run
each_way() {
	for how in $ways --dry-run; do
		refused 2 "$2" git agent land $how "$1" || return 1
	done
}

# ---- files ---------------------------------------------------------------------------------------

# blocked REASON TEXT COMMANDS REMEDY [WAY]: what these commands do blocks a landing, also one in which git has to
# merge as a hook takes part; after the remedy it lands
blocked() {
	blocked_n=$((blocked_n + 1))
	test_expect_success "$1 would be overwritten: nothing lands" "
		make_repo blocked$blocked_n &&
		session b$blocked_n 'line f 2 agent; git mv old renamed; echo n >new; mkdir e; echo n >e/n
			echo x >x.log; git add -fA; git commit -qm all' &&
		git agent review --accept-all --critical b$blocked_n &&
		$3 &&
		ways='--merge --squash' &&
		each_way b$blocked_n '$2' &&
		hint 'then land again' &&
		hook commit-msg true &&
		each_way b$blocked_n '$2\|only without staged changes: [a-z]*$' &&
		rm .git/hooks/commit-msg &&
		$4 &&
		git agent land ${5-} b$blocked_n &&
		landed b$blocked_n
	"
}
blocked_n=0
blocked 'a modified file' "$overwritten: f$" 'line f 8 edit' 'git stash -q'
blocked 'a staged file' 'staged changes would be overwritten: f$' 'line f 8 edit && git add f' 'git stash -q'
blocked 'a file staged and modified' 'staged changes would be overwritten: f$' 'line f 8 a && git add f && line f 9 b' 'git stash -q'
blocked 'a file deleted and staged' 'staged changes would be overwritten: f$' 'git rm -q f' 'git restore --staged f && git restore f'
blocked 'a modified file that goes' "$overwritten: old$" 'line old 8 edit' 'git stash -q'
blocked 'a symlink in place of a file' "$overwritten: f$" 'ln -sf g f' 'git restore f'
blocked 'a file with other permissions' "$overwritten: f$" 'chmod +x f' 'chmod -x f'
blocked 'a file added with -N' 'staged changes would be overwritten: new$' 'echo y >new && git add -N new' 'git reset -q && rm new'
blocked 'an untracked file' "$untracked: new$" 'echo y >new' 'mv new ..'
blocked 'an untracked file that is the same' "$untracked: new$" 'echo n >new' 'rm new'
blocked 'an untracked symlink' "$untracked: new$" 'ln -s nowhere new' 'rm new'
blocked 'a FIFO' "$untracked: new$" 'mkfifo new' 'rm new'
blocked 'an ignored file' 'x.log' 'echo mine >x.log' 'rm x.log'
blocked 'an untracked file in place of a directory' "$untracked: e$" 'echo y >e' 'rm e'
blocked 'an ignored file in place of a directory' "e$" 'echo e >>.git/info/exclude && echo y >e' 'rm e'
blocked 'a symlink in place of a directory' "e$" 'echo e >>.git/info/exclude && mkdir ../t && ln -s ../t e' 'rm e'

test_expect_success 'files are in the way in a directory that becomes a file, tracked and untracked' '
	make_repo becomes &&
	session b "rm -r d; echo file >d" &&
	echo y >d/untracked &&
	for how in $ways; do
		refused 2 "d.* untracked files" git agent land $how b || return 1
	done &&
	rm d/untracked &&
	line d/h 3 edit &&
	for how in $ways; do
		refused 2 "d/h" git agent land $how b || return 1
	done &&
	git restore d/h &&
	echo y >d/ignored.log &&
	for how in $ways; do
		refused 2 "d" git agent land $how b || return 1
	done &&
	rm d/ignored.log &&
	git agent land b &&
	test -f d
'

test_expect_success 'more paths than a line holds are counted' '
	make_repo many &&
	session m "for i in 1 2 3 4 5 6 7; do echo n >n\$i; done" &&
	touch n1 n2 n3 n4 n5 n6 n7 &&
	refused 2 "$untracked: n1, n2, n3, n4, n5 and 2 more$" git agent land m
'

test_expect_success 'names are quoted' '
	make_repo names &&
	name=$(printf "a \033[31m\n") &&
	session n "echo n >\"\$(printf \"a \\033[31m\")\"" &&
	git agent review --accept-all n &&
	touch "$name" &&
	refused 2 "$untracked: .a .e\[31m.$" git agent land n
'

test_expect_success 'a touched file is not in the way, nor one marked assume-unchanged that is as it was' '
	make_repo touched &&
	session t "line f 2 agent; line g 2 agent" &&
	touch -d 2001-01-01 f &&
	git update-index --assume-unchanged g &&
	git agent land t &&
	grep agent f &&
	grep agent g
'

test_expect_success 'modified and staged files elsewhere stay as they are' '
	make_repo beside &&
	session b "line f 2 agent; echo n >new" &&
	line g 8 staged &&
	git add g &&
	line g 9 edit &&
	line old 8 edit &&
	echo u >untracked &&
	git rm -q --cached d/h &&
	git status --porcelain >../status &&
	git diff >../diff &&
	for how in --merge --squash --rebase --ff-only; do
		git agent land $how b &&
		test "$(cat new)" = n &&
		git status --porcelain | test_cmp ../status - &&
		git diff | test_cmp ../diff - &&
		git agent land --undo b || return 1
	done &&
	git status --porcelain | test_cmp ../status -
'

# ---- git's state -----------------------------------------------------------------------------------

test_expect_success 'where git has to merge, staged changes are refused' '
	make_repo staged &&
	session s "line f 2 agent" &&
	mine &&
	line g 8 staged &&
	git add g &&
	hook commit-msg true &&
	for how in --merge --squash; do
		refused 2 "git merges only without staged changes: g" git agent land $how s &&
		hint "git restore --staged" || return 1
	done &&
	rm .git/hooks/commit-msg &&
	line f 2 mine &&
	git commit -qm f f &&
	refused 2 "git merges only without staged changes: g" git agent land s &&
	git restore --staged . &&
	test_expect_code 4 git agent land s &&
	test "$(sed -n 8p g)" = staged
'

# in_progress NAME OPERATION COMMANDS ABORT
in_progress() {
	test_expect_success "while $2 is in progress nothing lands" "
		make_repo $1 &&
		session $1 'line f 2 agent' &&
		git switch -qc side &&
		line g 2 side &&
		git commit -qam side &&
		git switch -q main &&
		line g 2 main &&
		git commit -qam main &&
		! { $3; } &&
		refused 2 '$2 is in progress' git agent land $1 &&
		hint 'finish or abort it, then land again' &&
		$4 &&
		git agent land $1
	"
}
in_progress merging 'a merge' 'git merge -q side' 'git merge --abort'
in_progress rebasing 'a rebase' 'git rebase -q side' 'git rebase --abort'
in_progress picking 'a cherry-pick' 'git cherry-pick side' 'git cherry-pick --abort'
in_progress reverting 'a revert' 'git commit -q --allow-empty -m n && git revert --no-edit side' 'git revert --abort'
in_progress am 'an am' 'git format-patch -q -1 --stdout side | git am -q' 'git am --abort'

test_expect_success 'where another git has locked the index nothing is begun' '
	make_repo locked &&
	session l "line f 2 agent" &&
	: >.git/index.lock &&
	for how in $ways; do
		refused 128 "index.lock" git agent land $how l || return 1
	done &&
	hint "wait until it has finished" &&
	rm .git/index.lock &&
	git agent land l
'

test_expect_success 'while another landing runs in this working tree' '
	make_repo another &&
	session a "line f 2 agent" &&
	mkfifo ../go ../begun &&
	hook post-merge "echo >../begun; read x <../go" &&
	{ git agent land a >../out 2>&1 & } &&
	read x <../begun &&
	for what in "land a" "land --undo" "land --abort" "land --continue"; do
		test_expect_code 128 git agent $what 2>../err &&
		grep "another .git agent.* is running\|is in use\|busy" ../err || break
	done &&
	echo >../go &&
	wait &&
	cat ../err &&
	landed a
'

test_expect_success 'an untracked file in place of a directory, in which a file goes: nothing lands' '
	make_repo replaced &&
	session r "rm d/h" &&
	rm -r d &&
	echo mine >d &&
	ways="--merge --squash --rebase --ff-only" &&
	each_way r "$untracked: d$" &&
	test "$(cat d)" = mine &&
	rm d &&
	git restore d &&
	git agent land r &&
	landed r
'

# ---- settings ----------------------------------------------------------------------------------------

test_expect_success 'options for merges of this branch that name a strategy' '
	make_repo strategy &&
	session s "line f 2 agent" &&
	for options in "-s ours" "-Xours" "--strategy-option=theirs" "--log -X ours"; do
		git config branch.main.mergeOptions "$options" &&
		refused 2 "branch.main.mergeOptions names a merge strategy" git agent land s &&
		hint "git merge agent/s" || return 1
	done &&
	git switch -qc other &&
	git agent land s
'

# ---- the session ---------------------------------------------------------------------------------------

test_expect_success 'a branch that was moved by hand to where it lacks commits of the session' '
	make_repo moved &&
	session m "line f 2 one; git commit -qam one; line f 2 two; git commit -qam two" &&
	tip=$(git rev-parse agent/m) &&
	git branch -qf agent/m agent/m^ &&
	each_way m "branch .agent/m. was moved: it lacks commits of the session" &&
	hint "git branch -f agent/m $tip" &&
	git branch -qf agent/m "$tip" &&
	git agent land m
'

test_expect_success 'open flags, also where the merge would conflict' '
	make_repo open &&
	session o "line f 2 agent; echo use evil >.envrc" &&
	line f 2 mine &&
	git commit -qam mine &&
	for how in --merge --squash; do
		refused 3 "agent/o has open flags: 1 critical" git agent land $how o || return 1
	done &&
	hint "git agent review o" &&
	git agent review --accept o .envrc &&
	test_expect_code 4 git agent land o
'

test_expect_success 'flags that only the place where it lands raises are stored, accepted, and then it lands' '
	make_repo where &&
	echo "echo a" >tool.sh &&
	git add tool.sh &&
	git commit -qm tool &&
	session w "echo echo agent >>tool.sh" &&
	hook post-merge "sh ./tool.sh >../ran" &&
	refused 3 "agent/w would raise new flags where it lands: 1" git agent land --dry-run w &&
	hint "git agent land w" &&
	git agent review --json w >../json &&
	! grep post-merge ../json &&
	refused 3 "agent/w would raise new flags where it lands: 1" git agent land w &&
	hint "git agent review w" &&
	refused 3 "agent/w" git agent land w &&
	git agent review --accept w tool.sh &&
	git agent land w &&
	grep agent ../ran
'

test_expect_success 'commits that HEAD lacks and the session is based on are refused, naming their branch' '
	make_repo base &&
	git switch -qc topic &&
	echo private >private &&
	git add private &&
	git commit -qm "not for anybody yet" &&
	session b "line f 2 agent" &&
	git switch -q main &&
	for how in --merge --squash --ff-only; do
		refused 2 "agent/b is based on commits that your branch lacks: [0-9a-f]* of .topic." \
			git agent land $how b || return 1
	done &&
	hint "--with-base" &&
	refused 2 "based on" git agent land b -- f &&
	git agent land --rebase b &&
	test ! -e private &&
	test "$(sed -n 2p f)" = agent &&
	git agent land --undo b &&
	git agent land --with-base b &&
	test -e private
'

test_expect_success 'nor does a fetched session bring a private branch that it is built on' '
	git init -q --bare hub.git &&
	make_repo fetched &&
	git remote add origin ../hub.git &&
	git push -q origin main &&
	git switch -qc wip &&
	echo private >private &&
	git add private &&
	git commit -qm "not for anybody yet" &&
	git switch -q main &&
	git clone -q . ../other &&
	git -C ../other switch -qc agent/evil origin/wip &&
	echo x >../other/x &&
	git -C ../other add x &&
	git -C ../other commit -qm work &&
	git -C ../other push -q "$HOME/hub.git" agent/evil &&
	git agent fetch origin evil &&
	for how in --merge --squash; do
		refused 2 "agent/evil is based on commits that your branch lacks: [0-9a-f]* of .wip." \
			git agent land $how evil || return 1
	done &&
	git agent land --rebase evil &&
	test -e x &&
	test ! -e private
'

test_done
