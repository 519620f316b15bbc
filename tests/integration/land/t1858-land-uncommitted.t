#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what the agent did to uncommitted work comes back as uncommitted changes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# has FILE LINES: the lines 2 and 8 of it
has() {
	sed -n "2p;8p" "$1" | tr '\n' ' ' >../lines
	echo "$2 " | tr -d '\n' | test_cmp - ../lines
}

# What the user has changed when the session begins, what the agent does, and what the user does while it runs
test_that 'the changes of the agent to uncommitted work land beside a commit of the rest' '
	make_repo kinds &&
	mkdir dir &&
	for n in plain lines staged since both removed deleted moved mode link dir/x ends; do seq 9 >$n; done &&
	echo "ends text eol=crlf" >.git/info/attributes &&
	test_commit kinds &&
	rm ends &&
	git checkout -q ends &&
	sed -i 8s/8/mine/ ends &&
	for n in plain lines staged since both removed moved mode link dir/x f; do line $n 8 mine; done &&
	git add staged &&
	rm deleted &&
	chmod 600 mode &&
	ln -sfn mine symlink &&
	ln -s f l &&
	echo mine >u &&
	echo mine >"a b" &&
	echo mine >"$(printf "c\n\"\047")" &&
	printf "\000mine" >binary &&
	session kinds "
		for n in plain staged since both moved mode; do line \$n 2 agent; done
		line lines 8 agent
		rm removed
		echo agent >deleted
		mkdir e
		mv moved e/moved
		ln -sfn agent symlink
		ln -sfn g link
		rm l
		echo file >l
		rm f
		mkdir f
		echo n >f/n
		rm -r dir
		echo file >dir
		for f in u *\ b c*; do echo agent >>\"\$f\"; done
		printf \"\\000agent\" >binary
		sed -i 2s/2/agent/ ends
		echo committed >new" &&
	line since 8 later &&
	line both 2 agent &&
	remember &&
	test_expect_code 3 git agent land --dry-run kinds &&
	git agent review --accept-all --critical kinds &&
	refused 0 "would land" git agent land --dry-run kinds &&
	git agent land kinds &&
	test_prints new git diff --name-only HEAD^ HEAD &&
	landed kinds
'

# comes SENTENCE CHECK
comes() {
	test_that "$1" "cd kinds && $2"
}
comes 'a file that only the agent changed has both changes' 'has plain "agent mine"'
comes 'the version of the agent replaces the lines that the user had changed before' 'has lines "2 agent"'
comes 'what was staged stays staged, and the change of the agent is not' \
	'has staged "agent mine" && git show :staged | grep mine && test_must_fail git grep -q --cached agent -- staged'
comes 'a file that the user has edited elsewhere since is merged' 'has since "agent later"'
comes 'a change that is there already is left alone' 'has both "agent mine"'
comes 'an untracked file is changed' 'test_prints "mine\nagent" cat u'
comes 'files with unusual names are changed' 'test_prints "mine\nagent\nmine\nagent" cat *\ b c*'
comes 'a file that the agent deleted is gone' 'test ! -e removed'
comes 'a file that the user had deleted, and the agent created again, is there' 'test_prints agent cat deleted'
comes 'a file that the agent moved is moved' 'has e/moved "agent mine" && test ! -e moved'
comes 'permissions that the user gave a file stay' 'test "$(stat -c %a mode)" = 600'
comes 'a symlink is changed' 'test "$(readlink symlink)" = agent'
comes 'a symlink replaces a file, and a file a symlink' 'test "$(readlink link)" = g && test_prints file cat l'
comes 'a directory replaces a file, and a file a directory' 'test_prints n cat f/n && test_prints file cat dir'
comes 'a binary file is changed' 'printf "\\000agent" | cmp - binary'
comes 'a file with line ends by attribute keeps them' \
	'has ends "agent$(printf "\r") mine$(printf "\r")"'
comes 'the undo restores all of that' 'git agent land --undo && unchanged'

test_that 'changes in lines that the user has changed since are refused, or left out by --uncommitted=skip' '
	make_repo same &&
	line f 8 mine &&
	session same "line f 8 agent; echo committed >new" &&
	line f 8 later &&
	for how in --merge --squash --rebase --ff-only --dry-run; do
		refused 2 "uncommitted work cannot be applied: f: you have changed the same lines" \
			git agent land $how same || return 1
	done &&
	hint "--uncommitted=skip lands the rest; .git agent diff --uncommitted same." &&
	git agent diff --uncommitted same >../patch &&
	grep "^-mine" ../patch &&
	grep "^+agent" ../patch &&
	remember &&
	git agent land --uncommitted=skip same &&
	test "$(cat new)" = committed &&
	has f "2 later" &&
	git agent land --undo &&
	unchanged
'

test_that 'changes to a file that the user has since deleted or put one in place of are refused' '
	make_repo gone &&
	line f 8 mine &&
	echo mine >u &&
	session gone "line f 2 agent; mkdir e; mv u e/u" &&
	rm f &&
	refused 2 "cannot be applied: f: " git agent land gone &&
	line g 1 1 &&
	git restore f &&
	line f 8 mine &&
	echo file >e &&
	refused 2 "cannot be applied: e/u: a file is in place of its directory" git agent land gone &&
	rm e &&
	git agent land gone &&
	test "$(cat e/u)" = mine
'

test_that 'a session that changed nothing but uncommitted work lands without a commit' '
	make_repo only &&
	line f 8 mine &&
	session only "line f 2 agent" &&
	! git diff --quiet &&
	test "$(git rev-list main..agent/only 2>/dev/null | wc -l)" = 0 &&
	remember &&
	head=$(git rev-parse HEAD) &&
	refused 0 "would land" git agent land --dry-run only &&
	git agent land only &&
	has f "agent mine" &&
	test "$(git rev-parse HEAD)" = "$head" &&
	landed only &&
	refused 0 "nothing to land" git agent land only &&
	git agent land --undo &&
	unchanged &&
	test_state only captured &&
	git agent land only &&
	git commit -qam all &&
	landed only
'

test_that 'after a conflict uncommitted changes are applied by --continue, or by the next landing' '
	make_repo conflict &&
	line g 8 mine &&
	session conflict "line f 2 agent; line g 2 agent" &&
	line f 2 mine &&
	git commit -qm mine f &&
	remember &&
	for how in merge squash; do
		test_expect_code 4 git agent land --$how conflict &&
		has g "2 mine" &&
		seq 9 >f &&
		line f 2 both &&
		git add f &&
		test_says "uncommitted: g" git agent land --continue &&
		has g "agent mine" &&
		landed conflict &&
		git agent land --undo &&
		unchanged &&
		test_expect_code 4 git agent land --$how conflict &&
		seq 9 >f &&
		git add f &&
		git commit -q --no-edit &&
		git agent land conflict &&
		has g "agent mine" &&
		git agent land --undo &&
		unchanged || return 1
	done
'

test_that 'changes to a file that a hook changes meanwhile are applied by the next landing' '
	make_repo while &&
	line f 8 mine &&
	session while "line f 2 agent; echo committed >new" &&
	hook post-merge "sed -i 9s/9/hook/ f" &&
	test_expect_code 5 git agent land while 2>../err &&
	cat ../err &&
	grep "has landed, but its uncommitted changes could not be applied: f has changed" ../err &&
	hint "git agent land while" &&
	has f "2 mine" &&
	grep hook f &&
	test_state while captured &&
	rm .git/hooks/post-merge &&
	git agent land while &&
	has f "agent mine" &&
	grep hook f &&
	landed while &&
	git agent land --undo &&
	has f "2 mine" &&
	grep hook f &&
	test ! -e new
'

test_that 'an undo does not overwrite what was edited after the changes were applied' '
	make_repo edited &&
	line f 8 mine &&
	session edited "line f 2 agent; echo committed >new" &&
	git agent land edited &&
	line f 9 later &&
	refused 2 "changed since agent/edited landed: f$" git agent land --undo edited &&
	line f 9 9 &&
	git agent land --undo edited &&
	has f "2 mine"
'

# waiting NAME PATHS: what the session and its report say is still to be brought
waiting() {
	git agent show --json "$1" >../shown &&
	git show "refs/agent/$1/report:report.json" >../report &&
	for of in shown report; do
		python3 -c "import json, sys
print(*[p if type(p) is str else p['s'] for p in json.load(sys.stdin)['left_out']])" <../$of >../is &&
		test_prints "$2" cat ../is || return 1
	done
}

test_that 'uncommitted paths are pending until a landing applies them, and again after --undo' '
	make_repo waiting &&
	line f 8 mine &&
	line g 8 mine &&
	session waiting "line f 2 agent; line g 2 agent; echo committed >new" &&
	waiting waiting "f g" &&
	git agent land waiting -- f &&
	waiting waiting g &&
	has f "agent mine" &&
	has g "2 mine" &&
	test ! -e new &&
	test_state waiting captured &&
	git agent land waiting -- new g &&
	waiting waiting "" &&
	has g "agent mine" &&
	test "$(cat new)" = committed &&
	landed waiting &&
	git agent land --undo &&
	waiting waiting g &&
	git agent review --reject waiting g &&
	waiting waiting "" &&
	git agent land waiting &&
	landed waiting &&
	has g "2 mine"
'

test_done
