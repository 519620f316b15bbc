#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a landing that is refused changes nothing, and names the path, the reason and a command that helps'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

overwritten='your uncommitted changes would be overwritten'
untracked='untracked files would be overwritten'

# ---- files

test_that 'create a session that changes, moves, adds and replaces files' '
	make_repo blocked &&
	session b "line f 2 agent; git mv old renamed; echo n >new; mkdir e; echo n >e/n
		echo x >x.log; git add -fA; git commit -qm all" &&
	git agent review --accept-all --critical b
'

# blocked REASON TEXT COMMANDS REMEDY: what these commands do blocks a landing, also one in which git has to merge
blocked() {
	test_that "$1 blocks a landing that would overwrite it" "
		cd blocked &&
		$3 &&
		refused 2 '$2' git agent land b &&
		hint 'then land again' &&
		hook commit-msg true &&
		refused 2 '$2\|only without staged changes: [a-z]*$' git agent land --squash b &&
		rm .git/hooks/commit-msg &&
		$4 &&
		git agent land --dry-run b
	"
}
blocked 'a modified file' "$overwritten: f$" 'line f 8 edit' 'git stash -q'
blocked 'a staged file' 'staged changes would be overwritten: f$' 'line f 8 edit && git add f' 'git stash -q'
blocked 'an untracked file' "$untracked: new$" 'echo y >new' 'mv new ..'
blocked 'a FIFO' "$untracked: new$" 'mkfifo new' 'rm new'
blocked 'an ignored file' 'x.log' 'echo mine >x.log' 'rm x.log'
blocked 'an untracked file in place of a directory' "$untracked: e$" 'echo y >e' 'rm e'
blocked 'an ignored symlink in place of a directory' "e$" \
	'echo e >>.git/info/exclude && mkdir ../t && ln -s ../t e' 'rm e'
blocked 'a directory in place of a file' "$untracked: f$" 'rm f && mkdir f && echo y >f/y' 'rm -r f && git restore f'

test_that 'nothing lands on the branch of the session itself, and being on it is no landing' '
	cd blocked &&
	git switch -q agent/b &&
	refused 128 "you are on agent/b itself$" git agent land b &&
	hint "git switch" &&
	git agent show --json b | grep "\"landed\": null" &&
	git switch -q main
'

test_that 'where more paths block than a line holds the rest are counted' '
	make_repo many &&
	session m "for i in 1 2 3 4 5 6 7; do echo n >n\$i; done" &&
	touch n1 n2 n3 n4 n5 n6 n7 &&
	refused 2 "$untracked: n1, n2, n3, n4, n5 and 2 more$" git agent land m
'

test_that 'names of files that block a landing are quoted' '
	make_repo names &&
	name=$(printf "a \033[31m\n") &&
	session n "echo n >\"\$(printf \"a \\033[31m\")\"" &&
	git agent review --accept-all n &&
	touch "$name" &&
	refused 2 "$untracked: .a .e\[31m.$" git agent land n
'

# ---- git's state

test_that 'staged changes block a landing where git has to merge, and stay where it need not' '
	make_repo staged &&
	session s "line f 2 agent" &&
	mine &&
	line g 8 staged &&
	git add g &&
	merges="git merges only without staged changes: g" &&
	for how in --no-commit --edit "--squash --edit"; do
		refused 2 "$merges" git agent land $how s || return 1
	done &&
	hook commit-msg true &&
	for how in --merge --squash; do
		refused 2 "$merges" git agent land $how s &&
		hint "git restore --staged" || return 1
	done &&
	rm .git/hooks/commit-msg &&
	git agent land s &&
	test "$(git status --porcelain)" = "M  g" &&
	git agent land --undo &&
	line f 2 mine &&
	git commit -qm f f &&
	refused 2 "$merges" git agent land s &&
	git restore --staged . &&
	test_expect_code 4 git agent land s &&
	test "$(sed -n 8p g)" = staged
'

test_that 'create a session, and branches that conflict' '
	make_repo progress &&
	session p "line f 2 agent" &&
	git switch -qc side &&
	line g 2 side &&
	git commit -qam side &&
	git switch -q main &&
	line g 2 main &&
	git commit -qam main &&
	test_empty later
'

# in_progress OPERATION COMMANDS ABORT
in_progress() {
	test_that "while $1 is in progress nothing lands" "
		cd progress &&
		! { $2; } &&
		refused 2 '$1 is in progress' git agent land p &&
		hint 'finish or abort it, then land again' &&
		$3 &&
		git agent land --dry-run p
	"
}
in_progress 'a merge' 'git merge -q side' 'git merge --abort'
in_progress 'a rebase' 'git rebase -q side' 'git rebase --abort'
in_progress 'a cherry-pick' 'git cherry-pick side' 'git cherry-pick --abort'
in_progress 'a revert' 'git revert --no-edit side' 'git revert --abort'
in_progress 'an am' 'git format-patch -q -1 --stdout side | git am -q' 'git am --abort'

test_that 'a locked index blocks a landing' '
	make_repo locked &&
	session l "line f 2 agent" &&
	: >.git/index.lock &&
	refused 128 "index.lock" git agent land l &&
	refused 128 "index.lock" git agent land --rebase l &&
	hint "wait until it has finished" &&
	rm .git/index.lock &&
	git agent land l
'

test_that 'while another landing runs in this working tree there is no second one' '
	make_repo another &&
	session a "line f 2 agent" &&
	mkfifo ../go ../begun &&
	hook post-merge "echo >../begun; read x <../go" &&
	{ git agent land a >../out 2>&1 & } &&
	read x <../begun &&
	for what in "land a" "land --undo" "land --abort" "land --continue"; do
		test_fails 128 "another .git agent.* is running\|another command is using session .a." \
			git agent $what || {
			echo >../go
			return 1
		}
	done &&
	echo >../go &&
	wait &&
	cat ../err &&
	landed a
'

# ---- settings

test_that 'a merge strategy in the options for merges of this branch blocks a landing' '
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

# ---- the session

test_that 'open flags block each way, also where the merge would conflict' '
	make_repo open &&
	session o "line f 2 agent; echo use evil >.envrc" &&
	for how in --rebase --ff-only --merge --squash; do
		refused 3 "agent/o has open flags: 1 critical" git agent land $how o || return 1
	done &&
	line f 2 mine &&
	git commit -qam mine &&
	refused 3 "agent/o has open flags: 1 critical" git agent land o &&
	hint "git agent review o" &&
	git agent review --accept o .envrc &&
	test_expect_code 4 git agent land o
'

test_that 'flags that only the place raises where it lands are stored, and block it until they are accepted' '
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

test_that 'a session based on commits that HEAD lacks lands only rebased, or with --with-base' '
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

test_done
