#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a landing is undone to exactly what was there before, or refused with the command of git that does it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# every kind of change
work='line f 2 agent; rm old; mkdir -p n/deep; echo new >n/deep/new; chmod +x g; ln -s d/h link; git mv d/h d/moved
	git add -A; git commit -qm work; echo more >more'

# undoes COMMAND...: what this lands is undone to what was there before
undoes() {
	remember
	"$@" &&
	picture >"$HOME/landed" &&
	! cmp -s "$HOME/before" "$HOME/landed" &&
	git agent land --undo &&
	unchanged
}

test_that 'an undo says which session it was, and where HEAD is' '
	make_repo said &&
	session s "$work" &&
	git agent review --accept-all s &&
	head=$(git rev-parse --short=10 HEAD) &&
	git agent land s &&
	git agent land --undo 2>../err &&
	grep -x "agent/s: landing undone, HEAD is at $head" ../err &&
	git agent land s &&
	git agent land --undo --json s >../json &&
	test_prints "True s" \
		python3 -c "import json; o = json.load(open(\"../json\")); print(o[\"undone\"], o[\"session\"])"
'

test_that 'an untracked file is not overwritten by one that an undo would restore' '
	make_repo comes &&
	session c "rm old; rm -r d" &&
	git agent land c &&
	echo precious >old &&
	refused 2 "untracked files would be overwritten: old$" git agent land --undo c &&
	hint "move or remove them, then undo" &&
	rm old &&
	echo precious >d &&
	refused 2 "untracked files would be overwritten: d$" git agent land --undo c &&
	echo d >>.git/info/exclude &&
	refused 2 "would be overwritten: d$" git agent land --undo c &&
	rm d &&
	git agent land --undo c &&
	test -e d/h
'

test_that 'what was edited or staged since it landed is not overwritten' '
	make_repo edited &&
	session e "line f 2 agent; echo new >new" &&
	git agent land e &&
	line f 8 edit &&
	refused 2 "your uncommitted changes would be overwritten: f$" git agent land --undo e &&
	hint "commit them or .git stash., then undo" &&
	git add f &&
	refused 2 "staged changes would be overwritten: f$" git agent land --undo e &&
	git reset -q --hard &&
	echo edit >>new &&
	refused 2 "your uncommitted changes would be overwritten: new$" git agent land --undo e &&
	git restore new &&
	git agent land --undo e &&
	test ! -e new
'

test_that 'a branch with later commits is refused, naming the command of git that undoes the landing' '
	make_repo on &&
	session on "line f 2 agent; git commit -qam one; line g 2 agent; git commit -qam two" &&
	base=$(git rev-parse HEAD) &&
	for how in "--ff-only git revert .*\.\." "--merge git revert -m 1 " "--squash git revert " \
		"--rebase git revert .*\.\."; do
		git reset -q --hard $base &&
		case $how in --ff*) ;; *) mine ;; esac &&
		head=$(git rev-parse HEAD) &&
		git agent land ${how%% *} on &&
		test_empty later &&
		refused 2 "your branch has moved on since agent/on landed" git agent land --undo &&
		hint "${how#* }" &&
		eval "$(sed -n "s/^hint: .\(git revert [^'\'']*\).*/\1 --no-edit/p" ../err)" &&
		git diff --exit-code $head HEAD || return 1
	done
'

test_that 'on another branch an undo is refused, naming the one that the session landed on' '
	make_repo branch &&
	session b "line f 2 agent" &&
	git agent land b &&
	git switch -qc other &&
	refused 2 "agent/b landed on another branch than this" git agent land --undo b &&
	hint "git switch main" &&
	git switch -q --detach &&
	refused 2 "agent/b landed on another branch than this" git agent land --undo b &&
	git switch -q main &&
	git agent land --undo b
'

test_that 'while a merge of the user is in progress an undo is refused' '
	make_repo middle &&
	session m "line f 2 agent" &&
	git agent land m &&
	git switch -qc side HEAD^ &&
	line f 2 side &&
	git commit -qam side &&
	git switch -q main &&
	test_must_fail git merge -q side &&
	refused 2 "a merge is in progress" git agent land --undo m &&
	git merge --abort &&
	git agent land --undo m
'

test_that 'only the last landing of a working tree can be undone, once' '
	make_repo last &&
	session one "line f 2 agent" &&
	session two "line g 2 agent" &&
	git agent land one &&
	remember &&
	git agent land two &&
	refused 2 "the last landing in this working tree is that of agent/two" git agent land --undo one &&
	hint "git agent land --undo two" &&
	test_says "agent/two: landing undone" git agent land --undo &&
	test_state two captured &&
	refused 1 "there is no landing in this working tree" git agent land --undo &&
	refused 1 "there is no landing to undo in this working tree" git agent land --undo one
'

test_that 'each working tree has a last landing of its own' '
	make_repo first &&
	session one "line f 2 agent" &&
	session two "line g 2 agent" &&
	git worktree add -q ../second -b second &&
	git agent land one &&
	cd ../second &&
	refused 1 "there is no landing in this working tree" git agent land --undo &&
	undoes git agent land two &&
	git switch -q --detach &&
	undoes git agent land two &&
	cd ../first &&
	test_says "agent/one: landing undone" git agent land --undo
'

test_done
