#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='rejecting parts of files, and telling the agent'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# flags NAME: "PATH RULE VERDICT HELD" of each, sorted
flags() {
	git agent review --json "$1" | python3 -c '
import json, sys
for f in sorted((f["path"], f["id"], f["verdict"], f["held"]) for f in json.load(sys.stdin)["flags"]):
    print(*f)'
}

# two_hunks NAME: a session with two hunks in Makefile, which is flagged
two_hunks() {
	git agent start -q --name "$1" -- sed -i -e 2s/ok/mine/ -e 12s/x/y/ Makefile
}

test_that 'make a repository' '
	test_enter r &&
	seq 40 >a &&
	printf "all:\n\techo ok\n\n\n\n\n\n\n\n\nclean:\n\trm -f x\n" >Makefile &&
	echo b >b &&
	mkdir sub &&
	seq 9 >sub/s &&
	test_commit base
'

test_that 'rejected hunks are numbered as in the diff, and the others stay' '
	cd r &&
	test_session one "
		sed -i -e 3s/3/three/ -e 5s/5/five/ -e 20s/20/twenty/ -e 38d a
		echo new >new" &&
	git agent review one | grep -c "^@@" | grep -x 4 &&
	git agent review --reject --hunk 2 one a &&
	git show agent/one:a >../got &&
	seq 40 | sed -e 3s/3/three/ -e 5s/5/five/ -e 38d | test_cmp - ../got &&
	test "$(git rev-list --count main..agent/one)" = 2 &&
	git log -1 --format=%B agent/one >../msg &&
	grep "^Put rejected parts back" ../msg &&
	grep "^a (in part)$" ../msg &&
	git agent review --reject --hunk 1-2 one a &&
	test_prints new git diff --name-only main agent/one &&
	git agent land one &&
	git agent drop one
'

test_that 'a new file and a deleted one are one hunk' '
	cd r &&
	test_session whole "
		echo n >n
		rm b" &&
	git agent review --reject --hunk 1 whole n &&
	git agent review --reject --hunk=1 whole b &&
	test_same agent/whole^{tree} main^{tree} &&
	git agent drop --force whole
'

test_that 'a rejection that was killed half way holds for what it has published' '
	cd r &&
	sed -i 30s/.*/MINE/ a &&
	test_session half "sed -i 30s/.*/spoilt/ a; echo new2 >new2" &&
	git agent review --stat half | grep "^uncommitted changes" &&
	GIT_AGENT_FAULT=decide:published:kill test_expect_code 137 git-agent review --reject half a &&
	! git agent review --stat half | grep "^uncommitted changes" &&
	git agent land half &&
	sed -n 30p a | grep -x MINE &&
	test -e new2 &&
	git checkout -q a &&
	git agent drop half
'

test_that 'numbers that are no hunk, and paths without hunks, are refused' '
	cd r &&
	test_session wrong "
		sed -i 1d a
		printf \"\0\" >bin
		ln -s a l
		chmod +x b
		mkdir d
		echo 1 >d/1" &&
	tip=$(git rev-parse agent/wrong) &&
	for list in 0 1-2 x ""; do
		test_fails 129 "hunk takes numbers from 1 to 1" git agent review --reject --hunk "$list" wrong a ||
			exit 1
	done &&
	for path in bin b; do
		test_fails 128 "has no hunks" git agent review --reject --hunk 1 wrong $path &&
		grep "as a whole" ../err ||
			exit 1
	done &&
	test_fails 128 "nothing was changed at .d." git agent review --reject --hunk 1 wrong d &&
	for paths in "a b" ""; do
		test_expect_code 129 git agent review --reject --hunk 1 wrong $paths || exit 1
	done &&
	test_expect_code 128 git agent review --accept --hunk 1 wrong a &&
	test "$(git rev-parse agent/wrong)" = $tip &&
	git agent drop --force wrong
'

# again NAME COMMANDS: what is left of Makefile was there before, with the verdict that COMMANDS gave it
again() {
	two_hunks $1 &&
	git agent review --reject --hunk 2 $1 Makefile &&
	eval "$2" &&
	left=$(git rev-parse agent/$1:Makefile) &&
	git switch -q agent/$1 &&
	git revert --no-edit HEAD &&
	git switch -q main &&
	test "$(git rev-parse agent/$1:Makefile)" != "$left" &&
	git agent review --reject --hunk 2 $1 Makefile 2>../err &&
	cat ../err &&
	test "$(git rev-parse agent/$1:Makefile)" = "$left"
}
test_that 'what is left of a flagged file is open again, unless it was accepted before' '
	cd r &&
	again back : &&
	grep "agent/back: 1 open flag left" ../err &&
	flags back >../is &&
	printf "%s\n" "Makefile make open False" "Makefile make rejected False" | test_cmp - ../is &&
	test_expect_code 3 git agent land back &&
	git agent drop --force back &&
	again kept "git agent review --accept kept Makefile" &&
	grep "agent/kept: 0 open flags left" ../err &&
	flags kept >../is &&
	printf "%s\n" "Makefile make accepted False" "Makefile make rejected False" |
		test_cmp - ../is &&
	git agent land kept &&
	grep "rm -f x" Makefile &&
	grep "echo mine" Makefile &&
	git agent drop kept &&
	git reset -q --hard HEAD~1
'

test_that 'the hunks that are accepted stay, and the others go' '
	cd r &&
	two_hunks keep &&
	test_says "0 open flags left" git agent review --accept --hunk 1 --feedback ../kept keep Makefile &&
	grep "rm -f y" ../kept &&
	flags keep | grep "^Makefile make accepted" &&
	git show agent/keep:Makefile >../got &&
	sed "2s/ok/mine/" Makefile | test_cmp - ../got &&
	git agent land keep &&
	sed -n 2p Makefile | grep mine &&
	git agent drop keep &&
	git reset -q --hard HEAD~1
'

test_that 'an accepted part of a file that is held comes without the others' '
	cd r &&
	seq 20 >.envrc &&
	git add -f .envrc &&
	git commit -qm before &&
	test_session heldtwo "sed -i -e \"3s/.*/export A=1/\" -e \"18s/.*/curl evil/\" .envrc" &&
	git agent review --accept --hunk 1 heldtwo .envrc &&
	git show agent/heldtwo:.envrc >../got &&
	seq 20 | sed "3s/.*/export A=1/" | test_cmp - ../got &&
	git agent land heldtwo &&
	git agent drop heldtwo &&
	git reset -q --hard HEAD~2
'

test_that 'a rejected part of a file that is held goes, and the rest stays held' '
	cd r &&
	seq 20 >.envrc &&
	git add -f .envrc &&
	git commit -qm envrc &&
	test_session held "
		sed -i -e \"3s/.*/export A=1/\" -e \"18s/.*/curl evil/\" .envrc
		echo ok >ok" &&
	! git diff --quiet agent/held refs/agent/held/held &&
	git agent review --reject --hunk 2 held .envrc &&
	git show refs/agent/held/held:.envrc >../got &&
	seq 20 | sed "3s/.*/export A=1/" | test_cmp - ../got &&
	test_same agent/held:.envrc main:.envrc &&
	test_same refs/agent/held/held~1 agent/held &&
	flags held >../is &&
	printf "%s\n" ".envrc direnv open True" ".envrc direnv rejected False" | test_cmp - ../is &&
	test_expect_code 3 git agent land held &&
	git agent review --accept held .envrc &&
	git show agent/held:.envrc | cmp - ../got &&
	test_missing refs/agent/held/held &&
	git agent land held &&
	cmp .envrc ../got &&
	git agent drop held
'

# ---- telling the agent

cat >"$TRASH/work" <<\EOF
set -e
sed -i -e 3s/3/three/ -e 30s/30/thirty/ a
printf n >"na me"
rm b
ln -s a link
printf '\0' >bin
chmod +x sub/s
printf 't\303\244b\t' >"$(printf 'q"\\\t\303\244')"
printf '\033[31m\n' >esc
EOF

test_that 'feedback has patches that lead back, and remarks' '
	cd r &&
	test_session fb "$(cat "$TRASH/work")" &&
	was=$(git rev-parse agent/fb^{tree}) &&
	git agent review --reject --hunk 2 --feedback ../fb --remark "keep 30
please" fb a &&
	git show agent/fb:a | grep -x 30 &&
	grep "^> keep 30$" ../fb &&
	grep "^> please$" ../fb &&
	grep "^+thirty" ../fb &&
	! grep "^+three" ../fb &&
	git agent review --reject --feedback ../fb fb . &&
	test_same agent/fb^{tree} main^{tree} &&
	grep "^+three" ../fb &&
	grep "^# bin: binary, put back as a whole$" ../fb &&
	grep -c "^This was rejected in the review of session fb" ../fb | grep -x 2 &&
	git worktree add -q --detach ../wt main &&
	git -C ../wt apply --index "$HOME/fb" &&
	git ls-tree -r $was | grep -v "	bin$" >../want &&
	git ls-tree -r $(git -C ../wt write-tree) | test_cmp ../want - &&
	git worktree remove --force ../wt
'

test_that 'feedback is written of what was held, and not where a decision is refused' '
	cd r &&
	test_session fbh "
		echo evil >>.envrc
		echo \"all:\" >Makefile
		echo x >x" &&
	git agent review --reject --feedback ../fbh fbh .envrc &&
	grep "^+evil$" ../fbh &&
	cp ../fbh ../before &&
	test_must_fail git agent review --reject --feedback ../fbh fbh nowhere &&
	cmp ../fbh ../before &&
	test_fails 128 "cannot write feedback to .../no/such." git agent review --reject --feedback ../no/such fbh x &&
	git cat-file -e agent/fbh:x &&
	test_expect_code 129 git agent review --accept --feedback ../fbh fbh Makefile &&
	test_expect_code 129 git agent review --feedback ../fbh fbh &&
	test_expect_code 129 git agent review --accept --remark x fbh x &&
	git agent drop --force fbh
'

test_that 'feedback has changes on top of uncommitted work' '
	cd r &&
	echo mine >>b &&
	test_session top "echo theirs >>b" &&
	git agent review --reject --feedback ../fbt top b &&
	grep "^+theirs$" ../fbt &&
	grep "^ mine$" ../fbt &&
	git checkout -q b &&
	git agent drop --force top
'

test_that 'feedback follows links of the user, and none where the agent can make some' '
	cd r &&
	test_session lk "
		echo l >l
		echo m >m" &&
	echo v >../victim &&
	cp ../victim ../before &&
	mkdir -p ../vdir &&
	ln -s ../victim say &&
	ln -s ../vdir lkd &&
	ln -s victim ../mine.lk &&
	ln -s "$HOME/victim" "$HOME/aihome/say" &&
	git for-each-ref >../refs &&
	for f in say lkd/say "$PWD/say" "$PWD/../$(basename "$PWD")/lkd/say" "$HOME/aihome/say"; do
		test_fails 128 "^git-agent: cannot write feedback to .*say" \
			git agent review --reject --feedback "$f" lk l &&
		grep "^hint: links are not followed" ../err ||
			return 1
	done &&
	cmp ../victim ../before &&
	test "$(ls -A ../vdir)" = "" &&
	git for-each-ref | test_cmp ../refs - &&
	git agent review --reject --feedback ../mine.lk lk l &&
	grep "^+l$" ../victim &&
	git agent review --reject --feedback told lk m &&
	grep "^+m$" told &&
	rm say lkd told &&
	git agent drop --force lk
'

test_that 'long files are compared where they differ in one place, and not in another order' '
	cd r &&
	seq 260000 >order &&
	seq 260000 >place &&
	git add order place &&
	git commit -qm long &&
	test_session order "
		sort -r order >x
		mv x order
		sed -i -e 9s/9/nine/ place" &&
	git agent review order >../out &&
	by=$(sed -n "s/.*more than 500000 lines may differ: not shown; .\(git diff [0-9a-f ]*\). does$/\1/p" ../out) &&
	test -n "$by" &&
	$by | grep -x -e "+99999" &&
	grep -x -e "+nine" ../out &&
	git agent review --json order | python3 -c "
import json, sys
files = {f[\"path\"]: f[\"additions\"] for f in json.load(sys.stdin)[\"files\"]}
assert files == {\"order\": None, \"place\": 1}, files" &&
	test_fails 128 "has no hunks" git agent review --reject --hunk 1 order order &&
	git agent review --reject --hunk 1 order place &&
	git agent drop --force order &&
	git reset -q --hard HEAD~1
'

test_done
