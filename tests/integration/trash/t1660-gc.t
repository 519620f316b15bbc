#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='clearing away'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	test_enter "$1" &&
	seq 1 30 >a &&
	echo '*.log' >.gitignore &&
	test_commit base
}
state() {
	echo "$HOME/.local/state/git-agent/$(head -n 1 .git/git-agent/id)"
}
# kinds: what --json says, "kind name action done" sorted
kinds() {
	python3 -c '
import json, sys
for o in json.load(sys.stdin): print(o["kind"], o["name"], o["action"], o["done"])' | sort
}
# older STAMP DAYS: as if it had been dropped then; says the new name
older() {
	name=${1%-*} &&
	new=$name-$(($(date +%s) - $2 * 86400)) &&
	mv "$(state)/trash/$1" "$(state)/trash/$new" &&
	git for-each-ref --format="%(refname) %(objectname)" "refs/agent-trash/$1" |
		while read -r ref oid; do
			echo "create refs/agent-trash/$new/${ref#refs/agent-trash/*/} $oid"
			echo "delete $ref $oid"
		done |
			git update-ref --stdin &&
	echo "$new"
}

test_that 'sessions that landed, by whatever way, go to the trash, and no others' '
	make_repo land &&
	echo mine >>a &&
	for i in land merge squash pick open held kept; do
		git agent start -q --dirty ignore --name $i -- sh -c "
		echo $i >f-$i
		test $i != held || echo e >.envrc
		test $i != kept || git branch side \$(git commit-tree -p HEAD -m s HEAD^{tree})" || exit 1
	done &&
	test_session carry "
		echo theirs >>a
		echo c >f-carry" &&
	git stash -q &&
	git agent land land &&
	git merge -q agent/merge &&
	git merge -q --squash agent/squash &&
	git commit -qm squash &&
	git cherry-pick agent/pick &&
	git merge -q agent/held &&
	git merge -q agent/kept &&
	git merge -q agent/carry &&
	git for-each-ref | grep -v packed >../before &&
	test_shows "^would: session land: moved to the trash (landed)" git agent gc --dry-run &&
	grep "session pick: .*(landed: squashed, in main)" ../out &&
	git for-each-ref | test_cmp ../before - &&
	git agent gc --dry-run --json | kinds >../got &&
	printf "session %s trash False\n" land merge pick squash >../want &&
	test_cmp ../want ../got &&
	git agent gc --json 2>../err | kinds >../got &&
	sed -i s/False/True/ ../want &&
	test_cmp ../want ../got &&
	grep "session .kept. has landed and stays: it has branches" ../err &&
	git agent list | cut -d" " -f1 | sort >../got &&
	printf "%s\n" carry held kept open | test_cmp - ../got &&
	test -z "$(git agent gc 2>/dev/null)" &&
	git agent drop --restore squash &&
	test_holds agent/squash:f-squash squash &&
	test_state squash landed &&
	git fsck --strict
'

test_that 'a session whose landing may have been interrupted stays' '
	make_repo tell &&
	test_session t "echo t >t" &&
	echo mine >>a &&
	git add a &&
	git agent land t &&
	: >.git/git-agent/landing/now &&
	git agent gc >../out 2>../err &&
	test ! -s ../out &&
	grep "session .t. has landed and stays: the record of a landing is damaged" ../err &&
	grep "rm .*/.git/git-agent/landing/now" ../err
'

test_that 'a session stays that runs, was interrupted, or whose branch is checked out' '
	make_repo run &&
	test_session out "echo o >o" &&
	git merge -q agent/out &&
	git switch -q agent/out &&
	test_says "stays: its branch is checked out" git agent gc &&
	git switch -q main &&
	{
		"$GIT_AGENT" start -q --name busy -- sh -c "
		echo b >b
		git add b
		git commit -qm b
		while test ! -e go; do sleep 0.1; done" &
		pid=$!
	} &&
	test_wait_for "git agent list | grep \"^busy .*running\"" &&
	test_shows "session out" git agent gc &&
	! grep busy ../out &&
	test_state busy running &&
	test -n "$(ls "$(state)/bases")" &&
	kill -9 $pid &&
	test_expect_code 137 wait $pid &&
	git agent gc &&
	test -e "$(state)/sessions/busy" &&
	git agent list 2>/dev/null | grep "^busy .*captured"
'

test_that 'trash older than 14 days is deleted for good, with its refs' '
	make_repo old &&
	for i in new old odd; do
		test_session $i "
		echo $i >f
		mkdir d
		echo x >d/x.log
		chmod 0 d" &&
		git agent drop --force $i || exit 1
	done &&
	old=$(older "$(basename "$(state)"/trash/old-*)" 15) &&
	odd=$(older "$(basename "$(state)"/trash/odd-*)" 13) &&
	git rev-parse "refs/agent-trash/$old/tip" >../tip &&
	test_shows "would: trash $old: removed (dropped 15 days ago)" git agent gc --dry-run &&
	test -d "$(state)/trash/$old" &&
	test_shows "^trash $old: removed" git agent gc &&
	! grep "$odd" ../out &&
	test ! -e "$(state)/trash/$old" &&
	test -z "$(git for-each-ref "refs/agent-trash/$old")" &&
	git rev-parse -q --verify "refs/agent-trash/$odd/tip" &&
	test_expect_code 128 git agent drop --restore old &&
	git agent drop --restore odd &&
	git agent drop --restore new
'

test_that 'entries of the trash that lack refs or a directory, or are damaged, are deleted too' '
	make_repo half &&
	for i in r d s; do
		test_session $i "echo $i >f" &&
		git agent drop --force $i ||
			exit 1
	done &&
	r=$(older "$(basename "$(state)"/trash/r-*)" 20) &&
	d=$(older "$(basename "$(state)"/trash/d-*)" 20) &&
	s=$(older "$(basename "$(state)"/trash/s-*)" 20) &&
	rm -r "$(state)/trash/$r" &&
	git for-each-ref --format="delete %(refname)" "refs/agent-trash/$d" | git update-ref --stdin &&
	echo garbage >"$(state)/trash/$s/session" &&
	rm -f "$(state)/trash/$s/session.old" &&
	mkdir "$(state)/trash/.gone-q-1700000000" &&
	touch "$(state)/trash/.gone-q-1700000000/f" "$(state)/trash/not-ours" &&
	git agent gc >../out &&
	grep -c "^trash" ../out | grep -x 3 &&
	test -z "$(git for-each-ref refs/agent-trash)" &&
	test_prints not-ours ls -A "$(state)/trash"
'

for point in renamed refs; do
	test_that "a gc that is killed at gc:$point is completed by the next" '
		rm -rf kg &&
		make_repo kg &&
		test_session k "echo k >f" &&
		git agent drop --force k &&
		k=$(older "$(basename "$(state)"/trash/k-*)" 20) &&
		{
			GIT_AGENT_FAULT=gc:$point:kill git agent gc
			test $? = 137
		} &&
		test_expect_code 128 git agent drop --restore k &&
		git agent gc &&
		test -z "$(git for-each-ref refs/agent-trash)" &&
		test -z "$(ls -A "$(state)/trash")"
	'
done

test_that 'a base tree is deleted once it is unused for long, unfinished, or its worktree is gone' '
	make_repo bases &&
	git agent start -q -- true &&
	git worktree add -q ../bases2 &&
	(cd ../bases2 && git agent start -q -- true) &&
	b=$(state)/bases &&
	test -d "$b/1" &&
	test -d "$b/2" &&
	git agent gc &&
	test -d "$b/1" &&
	test -d "$b/2" &&
	touch -d "15 days ago" "$b/1/lock" &&
	git agent start -q -- true &&
	git agent gc >../out &&
	test ! -s ../out &&
	touch -d "15 days ago" "$b/1/lock" &&
	test_shows "^would: base 1: removed (not used for 15 days)" git agent gc --dry-run &&
	test -d "$b/1" &&
	git agent gc &&
	test ! -e "$b/1" &&
	git worktree remove ../bases2 &&
	test_shows "base 2: removed (its working tree .*/bases2 is gone)" git agent gc &&
	test ! -e "$b/2" &&
	git agent start -q -- true &&
	ls "$b" >../bases.list &&
	n=$(grep "^[0-9]*$" ../bases.list) &&
	rm "$b/$n/commit" &&
	mkdir "$b/.gone-9" &&
	touch "$b/.gone-9/f" &&
	test_shows "base $n: removed (not complete)" git agent gc &&
	test ! -e "$b/$n" &&
	test ! -e "$b/.gone-9" &&
	test_session again "
		test -e a &&
		echo n >n" &&
	git agent land again &&
	test -e n
'

test_that 'what a start that was killed left is deleted after two days' '
	make_repo stale &&
	git agent start -q -- true &&
	s=$(state)/sessions &&
	mkdir "$s/.new-abcdef" "$s/.stale-0" "$s/.new-fresh" &&
	touch "$s/.new-abcdef/lock" &&
	touch -d "2 days ago" "$s/.new-abcdef" "$s/.stale-0" &&
	git agent gc --dry-run --json | kinds >../got &&
	printf "stale %s remove False\n" .new-abcdef .stale-0 >../want &&
	test_cmp ../want ../got &&
	git agent gc &&
	test ! -e "$s/.new-abcdef" &&
	test ! -e "$s/.stale-0" &&
	test -e "$s/.new-fresh"
'

test_that 'a damaged session is named, and stops nothing' '
	make_repo dam &&
	test_session d "echo d >d" &&
	test_session e "echo e >e" &&
	git merge -q agent/e &&
	rm "$(state)"/sessions/d/session* &&
	test_expect_code 128 git agent gc >../out 2>../err &&
	grep "session e" ../out &&
	grep "state file of session .d. is gone" ../err &&
	test -e "$(state)/sessions/d/upper/d"
'

test_that 'a session is deleted with its part in a submodule, and not that part on its own' '
	git init -q lib &&
	(cd lib && echo l >l && git add l && git commit -qm l) &&
	test_enter super &&
	test_submodule ../lib lib &&
	git commit -qm sub &&
	test_session s "
		echo new >lib/new
		cd lib &&
		git add new &&
		git commit -qm new" &&
	git merge -q agent/s &&
	git agent gc &&
	git agent list | grep "^s " &&
	git -C lib merge -q agent/s &&
	(cd lib && git agent gc 2>../../err && grep "stays: it is a part" ../../err) &&
	test_shows "^session s:" git agent gc &&
	! git -C lib rev-parse -q --verify agent/s
'

test_done
