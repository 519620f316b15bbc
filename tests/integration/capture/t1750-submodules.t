#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='populated submodules are parts of a session'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use submodules

test_that 'git works in a submodule, and its git dir is not the one of the host' '
	make_repo lib &&
	make_super use lib &&
	cd use &&
	echo mine >.git/modules/$L/description &&
	test_session u "
		set -e
		test -z \"\$(git status --porcelain)\"
		git submodule status | grep \"^ \"
		cd $L
		test -d .git
		test -z \"\$(git status --porcelain)\"
		test \"\$(git branch --show-current)\" = agent/u
		test \"\$(git rev-list --count HEAD)\" = 2
		git blame a
		git fsck --connectivity-only
		echo x >>a
		git diff --quiet &&
		exit 1
		git stash -q
		git stash pop
		git checkout -q a
		echo agent >.git/description
		git tag mine
		git config user.name X" &&
	test "$(cat .git/modules/$L/description)" = mine &&
	test -z "$(git -C $L tag -l mine)" &&
	test "$(git -C $L config user.name)" = "A U Thor" &&
	test -z "$(git -C $L branch --list "agent/*")" &&
	test -z "$(git branch --list "agent/*")"
'

test_that 'commits in a submodule arrive with their ids, and the superproject names them' '
	make_super commits lib &&
	cd commits &&
	test_session c "
		set -e
		cd $L
		echo c >c
		git add c
		git commit -qm one
		git rev-parse HEAD >\$HOME/1
		echo d >>c
		git commit -qam two
		git rev-parse HEAD >\$HOME/2
		cd ../..
		git commit -qam bump
		git rev-parse HEAD >\$HOME/super" &&
	test "$(git rev-parse agent/c)" = "$(cat "$HOME/aihome/super")" &&
	test "$(git rev-parse agent/c:$L)" = "$(cat "$HOME/aihome/2")" &&
	test "$(git -C $L rev-parse agent/c)" = "$(cat "$HOME/aihome/2")" &&
	test "$(git -C $L rev-parse agent/c~1)" = "$(cat "$HOME/aihome/1")" &&
	git -C $L rev-parse -q --verify refs/agent/c/report &&
	git -C $L fsck --strict --connectivity-only &&
	test_shows gitlink-changed git agent review c &&
	grep "git -C $(pwd)/vendor/lib agent review c" ../out &&
	test_shows "+c" git -C $L agent review c &&
	test -z "$(git -C $L status --porcelain)" &&
	test -z "$(git status --porcelain)"
'

test_that 'uncommitted changes in a submodule become a commit there, and one here' '
	make_super rest lib &&
	cd rest &&
	git agent start --name r -m "what was left" -- sh -c "echo n >$L/n; rm $L/d/b; echo s >s" &&
	test "$(git -C $L log -1 --format=%s agent/r)" = "what was left" &&
	names agent/r &&
	test "$(git -C $L diff --name-status agent/r~1 agent/r | tr "\t\n" "  ")" = "D d/b A n " &&
	test_prints "s\n$L" git diff --name-only HEAD agent/r &&
	git -C $L log -1 --format=%B agent/r | grep "Agent-Session: r"
'

test_that 'landing waits until both were decided, and leaves the commit where git looks for it' '
	cd rest &&
	test_expect_code 3 git agent land r &&
	git agent review --accept-all r &&
	test_says "next: git -C $(pwd)/vendor/lib merge agent/r" git agent land r &&
	git -C $L merge -q agent/r &&
	test -z "$(git status --porcelain)" &&
	test_state r landed &&
	git -C $L agent list | grep "^r .*landed"
'

test_that 'neither drop nor gc takes a session whose landing in a submodule was interrupted' '
	make_super over lib &&
	cd over &&
	test_session o "echo x >$L/x" &&
	git agent review --accept-all o &&
	git agent land o &&
	echo mine >>$L/a &&
	git -C $L add a &&
	{
		GIT_AGENT_FAULT=land:move:kill git -C $L agent land o
		test $? = 137
	} &&
	test_fails 2 "submodule vendor/lib: a landing of agent/o is not finished" git agent drop o &&
	grep "hint: .git -C $(pwd)/vendor/lib agent land --abort o. in the working tree" ../err &&
	git agent gc >../out 2>../err &&
	test ! -s ../out &&
	grep "session .o. has landed and stays: submodule vendor/lib: a landing of agent/o" ../err &&
	git -C $L agent land --abort o &&
	git -C $L agent land o &&
	git agent gc | grep "session o"
'

test_that 'landing waits for the flags of a submodule' '
	make_super flags lib &&
	cd flags &&
	test_session f "echo \"all: ; id\" >$L/Makefile" &&
	git agent review --accept-all f &&
	test_fails 3 "submodule vendor/lib has 1 open flag" git agent land f &&
	git -C $L agent review --accept-all f &&
	git agent land f &&
	git submodule update $L &&
	test -e $L/Makefile &&
	test -z "$(git status --porcelain)"
'

test_that 'what is held in a submodule holds the pointer to it, in every commit' '
	make_super held lib &&
	cd held &&
	test_session h "
		cd $L
		echo ok >ok
		echo id >.envrc
		git add -A
		git commit -qm e
		cd ../..
		git commit -qam bump
		echo s >s" &&
	git -C $L ls-tree agent/h | grep ok &&
	! git -C $L ls-tree agent/h | grep envrc &&
	git -C $L ls-tree refs/agent/h/held | grep envrc &&
	for c in $(git rev-list HEAD..agent/h); do
		test_same $c:$L HEAD:$L || exit 1
	done &&
	git cat-file -e agent/h:s &&
	names refs/agent/h/held agent/h &&
	test_shows "submodule vendor/lib is held" git agent review h &&
	! grep "since you ignore the path" ../out &&
	git agent review --accept-all --critical h &&
	names agent/h
'

test_that 'what hooks and configuration of the superproject reach in a submodule is held' '
	git init -q tools &&
	(
		cd tools &&
		mkdir hooks sub &&
		echo x >hooks/post-merge &&
		echo y >run.sh &&
		echo z >sub/z &&
		test_commit t
	) &&
	make_super reach tools &&
	cd reach &&
	git config core.hooksPath $L/hooks &&
	test_session c "
		cd $L
		echo k >hooks/post-merge
		echo k >run.sh
		echo k >k" &&
	test_prints "k\nrun.sh" git -C $L diff --name-only HEAD agent/c &&
	test_missing agent/c &&
	git -C $L ls-tree -r refs/agent/c/held | grep hooks &&
	git config --unset core.hooksPath &&
	test_script .git/hooks/post-merge "sh vendor/lib/run.sh" &&
	test_session h "
		cd $L
		echo k >hooks/post-merge
		echo k >run.sh
		echo k >k" &&
	test_prints "hooks/post-merge\nk" git -C $L diff --name-only HEAD agent/h
'

test_that 'the hooks of the superproject count for a session that was started in the submodule, too' '
	cd reach/$L &&
	test_session own "
		echo k >run.sh
		echo k >k" &&
	test_prints k git diff --name-only HEAD agent/own
'

test_that 'the hooks of the superproject count when a session is captured in the submodule' '
	cd reach &&
	rm -f "$HOME/aihome/ready" &&
	{
		"$GIT_AGENT" start --name i -- sh -c "
		cd $L
		echo k >run.sh
		echo k >k
		touch \$HOME/ready
		sleep 1000" &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/ready" &&
	kill -9 $pid &&
	{ wait $pid || :; } &&
	git -C $L agent capture i &&
	test_prints k git -C $L diff --name-only HEAD agent/i &&
	git agent capture i &&
	test_prints k git -C $L diff --name-only HEAD agent/i
'

test_that 'the hooks of the superproject count when a session lands in the submodule' '
	cd reach &&
	rm .git/hooks/post-merge &&
	test_session l "echo k >$L/run.sh" &&
	test_prints run.sh git -C $L diff --name-only HEAD agent/l &&
	git -C $L agent land --dry-run l &&
	test_script .git/hooks/post-merge "sh vendor/lib/run.sh" &&
	test_fails 3 "where it lands" git -C $L agent land l
'

# next_second: sessions of one name are told apart by the second in which they began
next_second() {
	now=$(date +%s)
	test_wait_for "[ \$(date +%s) != $now ]"
}

# Both generations have a session of that name in the trash of the submodule, too.
test_that 'drop --restore of an earlier session restores what that one had in the submodule' '
	make_super earlier lib &&
	cd earlier &&
	test_session d "echo first >$L/k" &&
	next_second &&
	git agent drop --force d 2>../err &&
	first=$(sed -n "s,.*/trash/\([^ ;]*\);.*,\1,p" ../err) &&
	next_second &&
	test_session d "echo second >$L/k" &&
	git agent drop --force d &&
	git agent drop --restore "$first" &&
	test "$(git -C $L show agent/d:k)" = first &&
	next_second &&
	git agent drop --force d &&
	git agent drop --restore d &&
	test "$(git -C $L show agent/d:k)" = first
'

test_that 'a submodule of a submodule is part of a session' '
	make_super mid lib &&
	make_repo outer &&
	cd outer &&
	git submodule --quiet add "$HOME/mid" m &&
	git commit -qm m &&
	git submodule --quiet update --init --recursive &&
	test_session n "
		set -e
		test -z \"\$(git status --porcelain)\"
		git submodule status --recursive
		echo deep >m/$L/deep" &&
	git -C m/$L cat-file -e agent/n:deep &&
	test "$(git -C m rev-parse agent/n:$L)" = "$(git -C m/$L rev-parse agent/n)" &&
	test "$(git rev-parse agent/n:m)" = "$(git -C m rev-parse agent/n)" &&
	git agent drop --force n &&
	test -z "$(git -C m/$L for-each-ref refs/agent refs/heads/agent)"
'

test_that 'a session that is killed is captured whole, with its submodule' '
	make_super killed lib &&
	cd killed &&
	rm -f "$HOME/aihome/ready" &&
	{
		"$GIT_AGENT" start --name k -- sh -c "
		echo k >$L/k
		touch \$HOME/ready
		sleep 1000" &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/ready" &&
	git -C $L agent list | grep "^k .*running" &&
	git agent diff k >../out 2>../err &&
	test ! -s ../out &&
	grep "git -C SUBMODULE agent diff k" ../err &&
	git -C $L agent diff k >../out 2>../err &&
	grep "^+k" ../out &&
	! grep waiting ../err &&
	kill -9 $pid &&
	{ wait $pid || :; } &&
	git agent capture k &&
	git -C $L cat-file -e agent/k:k &&
	names agent/k &&
	git -C $L agent list | grep "^k .*captured"
'

test_that 'a start that fails leaves nothing in the submodule' '
	cd killed &&
	git -C $L for-each-ref >../before &&
	test_expect_code 125 env GIT_AGENT_FAULT=start:prepared:fail git agent start --name no -- true &&
	git -C $L for-each-ref >../after &&
	test_cmp ../before ../after &&
	! git -C $L agent list | grep "^no " &&
	test_expect_code 125 git agent start --name no -- /no/such/program &&
	git -C $L for-each-ref >../after &&
	test_cmp ../before ../after &&
	! git -C $L agent list | grep "^no "
'

test_that 'a submodule that is gone when its session ends is named, and captured once it is back' '
	make_super gone lib &&
	cd gone &&
	rm -f "$HOME/aihome/ready" "$HOME/aihome/go" &&
	{
		git agent start --name g -- sh -c "
		echo k >$L/k
		touch \$HOME/ready
		until test -e \$HOME/go; do sleep 0.05; done" 2>../err &
	} &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/ready" &&
	git submodule --quiet deinit -f $L &&
	touch "$HOME/aihome/go" &&
	{ wait $pid || :; } &&
	grep "submodule .vendor/lib.: it is not checked out" ../err &&
	grep "git submodule update --init" ../err &&
	git submodule --quiet update --init &&
	git agent capture g &&
	git -C $L cat-file -e agent/g:k &&
	git cat-file -e agent/g:.gitmodules
'

test_that 'a submodule that the agent moves to an older commit keeps its work there' '
	make_super older lib &&
	cd older &&
	test_session o "
		git -C $L checkout -q v1
		git commit -qam older" &&
	names agent/o v1 &&
	test "$(git -C $L rev-parse agent/o)" = "$(git -C $L rev-parse v1)" &&
	test_session p "
		cd $L
		git checkout -q v1
		echo p >p
		git add p
		git commit -qm p
		git rev-parse HEAD >\$HOME/p
		echo q >q" &&
	test "$(git -C $L rev-parse agent/p~1)" = "$(cat "$HOME/aihome/p")" &&
	test "$(git -C $L rev-parse agent/p~2)" = "$(git -C $L rev-parse v1)" &&
	names agent/p &&
	git -C $L cat-file -e agent/p:q
'

test_that 'attack: a pointer to a commit that is missing, or that only the agent has, is held' '
	make_super points lib &&
	cd points &&
	test_session p "
		git update-index --cacheinfo 160000,1234567890123456789012345678901234567890,$L
		git commit -qm nowhere
		cd $L
		echo id >.envrc
		git add -A
		git commit -qm evil
		git branch side
		git reset -q --hard HEAD~1
		cd ../..
		git update-index --cacheinfo 160000,\$(git -C $L rev-parse side),$L
		git commit -qm side
		echo k >k" &&
	git cat-file -e agent/p:k &&
	for c in $(git rev-list HEAD..agent/p); do
		test_same $c:$L HEAD:$L || exit 1
	done
'

test_that 'attack: nothing of the git dir of a submodule runs, nor is another repository touched' '
	make_super attack lib &&
	make_repo victim &&
	cd attack &&
	t="touch $TRASH/ran" &&
	git -C ../victim for-each-ref >../before &&
	cp .git/config ../config1 &&
	cp .git/modules/$L/config ../config2 &&
	git agent start --name t -- sh -c "
		for d in .git $L/.git; do
			for h in post-checkout pre-commit reference-transaction post-index-change; do
				printf \"#!/bin/sh\n$t\n\" >\$d/hooks/\$h
				chmod +x \$d/hooks/\$h
			done 2>/dev/null ||
				mkdir \$d/hooks
			{
				printf \"[core]\nfsmonitor = $t\npager = $t\nsshCommand = $t\n\"
				printf \"worktree = $HOME/victim\n[filter \\\"x\\\"]\nclean = $t\n\"
			} >>\$d/config
		done
		{
			printf \"[submodule \\\"$L\\\"]\n\tpath = $L\n\turl = ../victim\n\tupdate = !$t\n\"
			printf \"[submodule \\\"../../victim\\\"]\n\tpath = ../victim\n\turl = x\n\"
		} >.gitmodules
		mv $L/.git $L/x
		rm -rf $L/.git
		echo gitdir: $HOME/victim/.git >$L/.git
		printf \"* filter=x\n\" >$L/.gitattributes
		echo $HOME/victim/.git/objects >$L/.git/objects/info/alternates
		echo k >$L/k
		echo k >k" 2>../err &&
	git agent capture t &&
	git agent show t &&
	git agent review t >/dev/null &&
	git agent diff t >/dev/null &&
	git -C $L agent review t >/dev/null &&
	test_must_fail git agent land t &&
	git status --porcelain &&
	git -C $L status --porcelain &&
	test ! -e "$TRASH/ran" &&
	git -C ../victim for-each-ref >../after &&
	test_cmp ../before ../after &&
	test_cmp ../config1 .git/config &&
	test_cmp ../config2 .git/modules/$L/config &&
	git -C $L cat-file -e agent/t:k &&
	! git ls-tree -r --name-only agent/t | grep victim
'

test_done
