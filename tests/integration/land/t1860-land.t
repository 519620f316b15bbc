#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing as a merge, squashed, fast-forwarded; messages and hooks'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

two='echo 1 >one; git add one; git commit -qm first; echo 2 >two; git add two; git commit -qm second; echo rest >rest'

# subject: that of the newest commit
subject() {
	git log -1 --format=%s
}
is_merge() {
	git rev-parse -q --verify HEAD^2
}

test_that 'a merge commit is the default, also where a fast-forward would do, with the message of git' '
	make_repo merge &&
	session m "$two" &&
	git merge -q --no-ff --no-edit agent/m &&
	git log -1 --format=%B >../want &&
	git reset -q --hard HEAD^ &&
	git -c merge.ff=only agent land m &&
	git log -1 --format=%B >../is &&
	test_cmp ../want ../is &&
	test "$(subject)" = "Merge branch '\''agent/m'\''" &&
	test_same HEAD^2 agent/m &&
	landed m
'

test_that 'the message is that of git also by its configuration, and on another branch' '
	make_repo configured &&
	session c "$two" &&
	git switch -qc topic &&
	mine &&
	git config merge.log true &&
	git config merge.branchdesc true &&
	git merge -q --no-edit agent/c &&
	git log -1 --format=%B >../want &&
	git reset -q --hard HEAD^ &&
	git agent land c &&
	git log -1 --format=%B >../is &&
	test_cmp ../want ../is &&
	grep "^Merge branch .agent/c. into topic" ../is
'

test_that 'a message of the user replaces that of git, and an empty one is refused' '
	make_repo message &&
	session m "$two" &&
	git agent land -m "in my words" m &&
	test "$(subject)" = "in my words" &&
	is_merge &&
	git agent land --undo m &&
	for how in --merge --squash; do
		refused 128 "the message is empty" git agent land -m " " $how m || return 1
	done &&
	refused 128 "the message is empty" git agent land -m "" m -- rest
'

test_that 'a squash is one commit of the user, with the subjects of the agent escaped' '
	make_repo squash &&
	esc=$(printf "\033[31mred") &&
	session s "$two; git add .; git commit -qm \"$esc\"" &&
	git config user.name "The User" &&
	mine &&
	git agent land --squash s &&
	git log -1 --format="%an %cn %s" | grep -x "The User The User Squash agent/s" &&
	! is_merge &&
	git log -1 --format=%B >../msg &&
	grep -x "\* first" ../msg &&
	grep -x "\* second" ../msg &&
	! grep "$(printf "\033")" ../msg &&
	git diff --quiet agent/s HEAD -- one two rest &&
	test -z "$(git status --porcelain)" &&
	test ! -e .git/SQUASH_MSG &&
	landed s
'

test_that 'a squash cuts subjects that are too long, and counts those that are too many' '
	make_repo long &&
	session l "for i in \$(seq 90); do
		echo \$i >w; git add w; printf \"%s %01500d\n\" \$i 0 | git commit -qF -
	done" &&
	git agent land --squash l &&
	git log -1 --format=%B >../msg &&
	grep "^\* 1 0\{998\}\.\.\.$" ../msg &&
	shown=$(grep -c "^\* [0-9]* 0" ../msg) &&
	test "$shown" -lt 90 &&
	grep -x "\* and $((90 - shown)) more" ../msg &&
	test "$(cat w)" = 90
'

test_that '--ff-only fast-forwards, and is refused where that cannot be' '
	make_repo ffonly &&
	session f "$two" &&
	session g "echo new >new" &&
	git agent land --ff-only f &&
	test_same HEAD agent/f &&
	test -e rest &&
	landed f &&
	refused 2 "cannot fast-forward: your branch has commits that agent/g lacks" git agent land --ff-only g &&
	hint "--merge g" &&
	refused 2 "cannot fast-forward" git agent land --dry-run --ff-only g &&
	git agent land g
'

test_that 'what has landed already is not landed again' '
	make_repo again &&
	session a "line f 2 agent" &&
	git agent land a &&
	refused 0 "agent/a: nothing to land" git agent land a &&
	session b "line g 2 agent" &&
	git merge -q --no-edit agent/b &&
	refused 0 "agent/b: nothing to land" git agent land b &&
	session c "line old 2 agent" &&
	git cherry-pick agent/c >../out &&
	refused 0 "agent/c: nothing to land" git agent land c &&
	landed c
'

test_that 'a session does not land when its branch is gone' '
	make_repo gone &&
	session i "line f 2 agent" &&
	tip=$(git rev-parse agent/i) &&
	git branch -qD agent/i &&
	refused 128 "the branch .agent/i. is gone" git agent land i &&
	hint "git branch agent/i $tip" &&
	git branch agent/i $tip &&
	git agent land i
'

test_that 'options that exclude each other are refused' '
	make_repo usage &&
	session u "line f 2 agent" &&
	for words in "u u" "--undo u -- x" "--squash --merge u" "--ff-only -m x u" "--rebase -e u" "--undo --squash u" \
		"--continue --abort u" "--abort --json u" "--abort -m x u" "--merge u -- f" "-e u -- f" \
		"--uncommitted=all u" "--no-commit --squash -m x u"; do
		refused 129 . git agent land $words || return 1
	done &&
	test_fails 1 "there is no landing in this working tree" git agent land --undo
'

test_that 'the way to land is configured by the user, and not by a repository' '
	test_settings "land: squash" &&
	test_when_finished "rm $conf" &&
	make_repo way &&
	session w "$two" &&
	mine &&
	git agent land w &&
	test "$(subject)" = "Squash agent/w" &&
	git agent land --undo w &&
	git agent land --merge w &&
	is_merge &&
	git agent land --undo w &&
	git agent -c land=rebase land w &&
	! is_merge &&
	test "$(git rev-list --count HEAD)" = 5 &&
	git agent land --undo w &&
	test_expect_code 2 git agent -c land=ff-only land w &&
	test_fails 129 "merge, squash, rebase or ff-only" git agent -c land=fast land w &&
	echo "land: merge" >.agentdev.yaml &&
	git add .agentdev.yaml &&
	git commit -qm conf &&
	test_says "land" test_must_fail git agent start -q --name v -- true
'

test_done
