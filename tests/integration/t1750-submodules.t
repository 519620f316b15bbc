#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='populated submodules are parts of a session'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
. "$TEST_SRCDIR/tests/lib/submodules.sh"

test_expect_success 'git works in it, and its git dir is not the host'\''s' '
	make_repo lib &&
	make_super use lib &&
	cd use &&
	echo mine >.git/modules/$L/description &&
	git agent start --name u -- sh -c "
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

test_expect_success 'its objects cannot be written' '
	cd use &&
	git agent start --name ro -- sh -c "
		set -e
		cd $L
		while read d; do
			test -d \$d/pack
			! touch \$d/x 2>/dev/null
			! rm -rf \$d/pack 2>/dev/null
		done <.git/objects/info/alternates
		echo \$(wc -l <.git/objects/info/alternates) >\$HOME/n" &&
	test "$(cat "$HOME/aihome/n")" = 1
'

test_expect_success 'its commits arrive with their ids, and the superproject names them' '
	make_super commits lib &&
	cd commits &&
	git agent start --name c -- sh -c "
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
	git -C $L rev-parse -q --verify refs/agent/c/base &&
	git -C $L rev-parse -q --verify refs/agent/c/report &&
	git -C $L fsck --strict --connectivity-only &&
	git agent review c >../out &&
	grep gitlink-changed ../out &&
	grep "git -C $(pwd)/vendor/lib agent review c" ../out &&
	git -C $L agent review c >../out &&
	grep "+c" ../out &&
	test -z "$(git -C $L status --porcelain)" &&
	test -z "$(git status --porcelain)"
'

test_expect_success 'what was not committed is a commit there, and one here' '
	make_super rest lib &&
	cd rest &&
	git agent start --name r -m "what was left" -- sh -c "echo n >$L/n; rm $L/d/b; echo s >s" &&
	test "$(git -C $L log -1 --format=%s agent/r)" = "what was left" &&
	test "$(git rev-parse agent/r:$L)" = "$(git -C $L rev-parse agent/r)" &&
	test "$(git -C $L diff --name-status agent/r~1 agent/r | tr "\t\n" "  ")" = "D d/b A n " &&
	test_prints "s\n$L" git diff --name-only HEAD agent/r &&
	git -C $L log -1 --format=%B agent/r | grep "Agent-Session: r"
'

test_expect_success 'land: not before both were decided; then the commit is where git looks for it' '
	cd rest &&
	test_expect_code 3 git agent land r &&
	git agent review --accept-all r &&
	git agent land r 2>../err &&
	grep "next: git -C $(pwd)/vendor/lib merge agent/r" ../err &&
	git -C $L merge -q agent/r &&
	test -z "$(git status --porcelain)" &&
	git agent list | grep "^r .*landed" &&
	git -C $L agent list | grep "^r .*landed"
'

test_expect_success 'neither drop nor gc takes away one whose landing there was interrupted' '
	make_super over lib &&
	cd over &&
	git agent start --name o -- sh -c "echo x >$L/x" &&
	git agent review --accept-all o &&
	git agent land o &&
	echo mine >>$L/a &&
	git -C $L add a &&
	{
		GIT_AGENT_FAULT=land:move:kill git -C $L agent land o
		test $? = 137
	} &&
	test_expect_code 2 git agent drop o 2>../err &&
	grep "submodule vendor/lib: a landing of agent/o is not finished" ../err &&
	grep "hint: .git -C $(pwd)/vendor/lib agent land --abort o. in the working tree" ../err &&
	git agent gc >../out 2>../err &&
	test ! -s ../out &&
	grep "session .o. has landed and stays: submodule vendor/lib: a landing of agent/o" ../err &&
	git -C $L agent land --abort o &&
	git -C $L agent land o &&
	git agent gc | grep "session o"
'

test_expect_success 'land waits for the flags of the submodule' '
	make_super flags lib &&
	cd flags &&
	git agent start --name f -- sh -c "echo \"all: ; id\" >$L/Makefile" &&
	git agent review --accept-all f &&
	test_expect_code 3 git agent land f 2>../err &&
	grep "submodule vendor/lib has 1 open flag" ../err &&
	git -C $L agent review --accept-all f &&
	git agent land f &&
	git submodule update $L &&
	test -e $L/Makefile &&
	test -z "$(git status --porcelain)"
'

test_expect_success 'what is held back there holds back the pointer to it, in every commit' '
	make_super held lib &&
	cd held &&
	git agent start --name h -- sh -c "
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
		test "$(git rev-parse $c:$L)" = "$(git rev-parse HEAD:$L)" || exit 1
	done &&
	git cat-file -e agent/h:s &&
	test "$(git rev-parse refs/agent/h/held:$L)" = "$(git -C $L rev-parse agent/h)" &&
	git agent review h >../out &&
	grep "submodule vendor/lib is held back" ../out &&
	! grep "since you ignore the path" ../out &&
	git agent review --accept-all --critical h &&
	test "$(git rev-parse agent/h:$L)" = "$(git -C $L rev-parse agent/h)"
'

test_expect_success 'what hooks and configuration of the superproject reach in it is held back' '
	git init -q tools &&
	(
		cd tools &&
		mkdir hooks sub &&
		echo x >hooks/post-merge &&
		echo y >run.sh &&
		echo z >sub/z &&
		git add . &&
		git commit -qm t

	) &&
	make_super reach tools &&
	cd reach &&
	git config core.hooksPath $L/hooks &&
	git agent start --name c -- sh -c "
		cd $L
		echo k >hooks/post-merge
		echo k >run.sh
		echo k >k" &&
	test_prints "k\nrun.sh" git -C $L diff --name-only HEAD agent/c &&
	! git rev-parse -q --verify agent/c &&
	git -C $L ls-tree -r refs/agent/c/held | grep hooks &&
	git config --unset core.hooksPath &&
	printf "#!/bin/sh\nsh vendor/lib/run.sh\n" >.git/hooks/post-merge &&
	chmod +x .git/hooks/post-merge &&
	git agent start --name h -- sh -c "
		cd $L
		echo k >hooks/post-merge
		echo k >run.sh
		echo k >k" &&
	test_prints "hooks/post-merge\nk" git -C $L diff --name-only HEAD agent/h
'

test_expect_success 'the same when a session was started, is captured or lands in the submodule itself' '
	cd reach/$L &&
	git agent start --name own -- sh -c "
		echo k >run.sh
		echo k >k" &&
	test_prints k git diff --name-only HEAD agent/own &&
	cd ../.. &&
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
	git -C $L diff --name-only HEAD agent/i >../got &&
	echo k >../want &&
	test_cmp ../want ../got &&
	git agent capture i &&
	git -C $L diff --name-only HEAD agent/i >../got &&
	test_cmp ../want ../got &&
	rm .git/hooks/post-merge &&
	git agent start --name l -- sh -c "echo k >$L/run.sh" &&
	test_prints run.sh git -C $L diff --name-only HEAD agent/l &&
	git -C $L agent land --dry-run l &&
	printf "#!/bin/sh\nsh vendor/lib/run.sh\n" >.git/hooks/post-merge &&
	chmod +x .git/hooks/post-merge &&
	test_expect_code 3 git -C $L agent land l 2>../err &&
	grep "where it lands" ../err
'

test_expect_success 'drop: work in the submodule counts, and its refs go to its own trash' '
	make_super drop lib &&
	cd drop &&
	git agent start --name d -- sh -c "echo id >$L/.envrc" &&
	test -z "$(git branch --list "agent/*")" &&
	git agent show d >../out &&
	grep "next: git -C .*vendor/lib agent review d" ../out &&
	! grep "agent drop" ../out &&
	git agent list | grep "^d .* in submodules" &&
	git agent review d >../out &&
	! grep "agent drop" ../out &&
	test_expect_code 2 git agent drop d &&
	git -C $L rev-parse -q --verify refs/agent/d/held &&
	git agent drop --force d &&
	test -z "$(git -C $L for-each-ref refs/agent refs/heads/agent)" &&
	git -C $L for-each-ref refs/agent-trash | grep held &&
	test -z "$(git for-each-ref refs/agent refs/heads/agent)" &&
	! git -C $L agent list | grep "^d " &&
	! git agent list | grep "^d "
'

# Both generations have a session of that name in the trash of the submodule, too. They are told apart by the second in which they began.
test_expect_success 'drop --restore of an earlier session brings back what that one had in the submodule' '
	make_super earlier lib &&
	cd earlier &&
	git agent start -q --name d -- sh -c "echo first >$L/k" &&
	sleep 1.1 &&
	git agent drop --force d 2>../err &&
	first=$(sed -n "s,.*/trash/\([^ ;]*\);.*,\1,p" ../err) &&
	sleep 1.1 &&
	git agent start -q --name d -- sh -c "echo second >$L/k" &&
	git agent drop --force d &&
	git agent drop --restore "$first" &&
	test "$(git -C $L show agent/d:k)" = first &&
	sleep 1.1 &&
	git agent drop --force d &&
	git agent drop --restore d &&
	test "$(git -C $L show agent/d:k)" = first
'

test_expect_success 'a submodule of a submodule' '
	make_super mid lib &&
	make_repo outer &&
	cd outer &&
	git submodule --quiet add "$HOME/mid" m &&
	git commit -qm m &&
	git submodule --quiet update --init --recursive &&
	git agent start --name n -- sh -c "
		set -e
		test -z \"\$(git status --porcelain)\"
		git submodule status --recursive
		echo deep >m/$L/deep" &&
	git -C m/$L cat-file -e agent/n:deep &&
	test "$(git -C m rev-parse agent/n:$L)" = "$(git -C m/$L rev-parse agent/n)" &&
	test "$(git rev-parse agent/n:m)" = "$(git -C m rev-parse agent/n)" &&
	git agent drop --force n &&
	test -z "$(git -C m/$L for-each-ref refs/agent refs/heads/agent)" &&
	test -z "$(git -C m for-each-ref refs/agent refs/heads/agent)"
'

test_expect_success 'one that is not checked out is an empty directory' '
	git clone -q commits empty &&
	cd empty &&
	git agent start --name e -- sh -c "
		test -d $L
		test -z \"\$(ls -A $L)\"
		test -z \"\$(git status --porcelain)\" &&
		echo k >k
		echo x >$L/x" 2>../err &&
	test_prints k git diff --name-only HEAD agent/e &&
	grep "left behind: vendor/lib" ../err
'

test_expect_success 'one that was moved, and whose address is another now' '
	make_super moved lib &&
	cd moved &&
	git mv $L third &&
	git config -f .gitmodules "submodule.$L.url" https://user:SECRET@example.com/x &&
	git submodule --quiet sync &&
	git commit -qam moved &&
	git agent start --name m -- sh -c "
		cd third
		git log --oneline
		echo k >k
		git config --list --show-origin >\$HOME/conf
		git -C .. config --list >>\$HOME/conf" &&
	git -C third cat-file -e agent/m:k &&
	! grep SECRET "$HOME/aihome/conf" &&
	grep "url=https://example.com/x" "$HOME/aihome/conf"
'

test_expect_success 'its own .git directory, as git made them once' '
	make_repo old &&
	git clone -q lib old/sub &&
	cd old &&
	git add sub 2>../err &&
	git commit -qm embedded &&
	test -d sub/.git &&
	git agent start --name o -- sh -c "
		test -z \"\$(git status --porcelain)\"
		cd sub
		echo k >k
		git add k
		git commit -qm k" &&
	git -C sub cat-file -e agent/o:k &&
	test "$(git rev-parse agent/o:sub)" = "$(git -C sub rev-parse agent/o)" &&
	test -z "$(git -C sub status --porcelain)"
'

test_expect_success 'uncommitted work in it stays outside, and is named' '
	make_super dirty lib &&
	cd dirty &&
	echo mine >>$L/a &&
	echo new >$L/new &&
	test_expect_code 2 git agent start --name x --dirty refuse -- true 2>../err &&
	grep "submodule .vendor/lib.: 2 paths are not committed" ../err &&
	git agent start --name d -- sh -c "
		test -z \"\$(git -C $L status --porcelain)\"
		test ! -e $L/new &&
		echo k >$L/k" 2>../err &&
	grep "submodule vendor/lib: its uncommitted work (2 paths)" ../err &&
	test_prints k git -C $L diff --name-only agent/d~1 agent/d &&
	test "$(git -C $L status --porcelain | wc -l)" = 2 &&
	git -C $L merge -q agent/d &&
	test -e $L/new
'

test_expect_success 'a merge in progress in it is named, and not for --dirty refuse' '
	make_super merging lib &&
	cd merging &&
	(
		cd $L &&
		git checkout -q -b o v1 &&
		echo o >a &&
		git commit -qam o &&
		{ git merge main || :; }

	) &&
	git commit -qam o &&
	git agent start --name m --base HEAD -- true 2>../err &&
	! grep "in progress" ../err &&
	git agent start --name n -- sh -c "echo k >$L/k" 2>../err &&
	grep "submodule vendor/lib: what the merge in progress there has changed" ../err &&
	git -C $L cat-file -e agent/n:k &&
	test_must_fail git agent start --dirty refuse -- true 2>../err &&
	grep "submodule .vendor/lib.: a merge is in progress" ../err
'

test_expect_success 'a commit of it that the superproject does not name yet is carried' '
	make_super ahead lib &&
	cd ahead &&
	echo h >$L/h &&
	git -C $L add h &&
	git -C $L commit -qm h &&
	git agent start --name a -- sh -c "
		test -e $L/h &&
		test -z \"\$(git status --porcelain)\" &&
		echo k >$L/k" &&
	test "$(git -C $L rev-parse agent/a~1)" = "$(git -C $L rev-parse HEAD)" &&
	git -C $L cat-file -e agent/a:k
'

test_expect_success 'work on such a commit is on no commit here, and comes with the merge there' '
	cd ahead &&
	git agent start --name b -- sh -c "
		echo b >$L/b
		echo b >b" 2>../err &&
	grep "note: submodule vendor/lib: you have not committed the one it stands on" ../err &&
	grep "next: git agent review b" ../err &&
	test "$(git rev-parse agent/b:$L)" = "$(git rev-parse HEAD:$L)" &&
	git agent land b 2>../err &&
	grep "merge agent/b, then commit the submodule here" ../err &&
	! grep "not brought" ../err &&
	git agent list | grep "^b .*landed" &&
	git -C $L merge -q agent/b &&
	git commit -qam both &&
	test -z "$(git status --porcelain)" &&
	git agent drop b &&
	! git -C $L agent list | grep "^b "
'

test_expect_success 'a base without it, and one whose commit is missing' '
	make_super bases lib &&
	cd bases &&
	git agent start --name b1 --base HEAD~1 -- sh -c "test ! -e $L" 2>../err &&
	grep "submodule vendor/lib: the base has none there" ../err &&
	git update-index --cacheinfo 160000,1234567890123456789012345678901234567890,$L &&
	git commit -qm missing &&
	git agent start --name b2 --base HEAD -- sh -c "
		test -z \"\$(ls -A $L)\"
		echo k >k" 2>../err &&
	grep "its commit is not there" ../err &&
	git cat-file -e agent/b2:k &&
	git agent start --name b3 --base HEAD~1 -- sh -c "
		git -C $L log -1 &&
		echo k >$L/k" &&
	git -C $L cat-file -e agent/b3:k
'

test_expect_success 'a repository that only lies in another one is nobody'\''s submodule, and that one is left alone' '
	make_repo around &&
	cd around &&
	echo inner >.gitignore &&
	git add . &&
	git commit -qm ignore &&
	printf "#!/bin/sh\nsh inner/run.sh\n" >.git/hooks/post-merge &&
	chmod +x .git/hooks/post-merge &&
	git clone -q ../lib inner &&
	find .git >../before &&
	cd inner &&
	git agent start --name i -- sh -c "echo k >run.sh" &&
	git cat-file -e agent/i:run.sh &&
	cd .. &&
	find .git >../after &&
	test_cmp ../before ../after
'

test_expect_success 'one that came after the last look at the working tree' '
	make_repo later &&
	cd later &&
	git agent start -- true &&
	git submodule --quiet add "$HOME/lib" $L &&
	git commit -qm submodule &&
	git agent start --name b --base HEAD -- sh -c "
		test -e $L/a &&
		echo k >$L/k" &&
	git -C $L cat-file -e agent/b:k &&
	git submodule --quiet deinit -f $L &&
	git agent start --name e --base HEAD -- sh -c "test -z \"\$(ls -A $L)\"" 2>../err &&
	! grep $L ../err
'

test_expect_success '--live, and a linked working tree' '
	make_super live lib &&
	cd live &&
	git agent start --name l --live -- sh -c "
		test -z \"\$(git status --porcelain)\" &&
		echo k >$L/k" &&
	git -C $L cat-file -e agent/l:k &&
	test "$(git rev-parse agent/l:$L)" = "$(git -C $L rev-parse agent/l)" &&
	git worktree add -q ../linked &&
	cd ../linked &&
	git submodule --quiet update --init &&
	git agent start --name w -- sh -c "echo k >$L/k" &&
	git -C $L cat-file -e agent/w:k &&
	! git -C ../live/$L rev-parse -q --verify agent/w
'

test_expect_success 'a name that the submodule uses already' '
	make_super names lib &&
	cd names &&
	git -C $L agent start --name taken -- sh -c "echo t >t" &&
	git -C $L branch agent/sh-1 &&
	test_must_fail git agent start --name taken -- true 2>../err &&
	grep "submodule .vendor/lib.: .*taken" ../err &&
	git agent list >../out &&
	! grep taken ../out &&
	git -C $L agent list | grep "^taken .*captured" &&
	git agent start -- sh -c "echo k >$L/k" &&
	git -C $L cat-file -e agent/sh-2:k &&
	git cat-file -e agent/sh-2:.gitmodules
'

test_expect_success 'an interrupted session is captured whole' '
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
	test "$(git rev-parse agent/k:$L)" = "$(git -C $L rev-parse agent/k)" &&
	git -C $L agent list | grep "^k .*captured"
'

test_expect_success 'a start that fails leaves nothing in the submodule either' '
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

test_expect_success 'gone on the host when the session ends: said, and captured once it is back' '
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

test_expect_success 'repositories the agent made, in it and beside it, are named and kept out' '
	make_super nested lib &&
	cd nested &&
	git agent start --name r -- sh -c "
		for d in own $L/own; do
			git init -q \$d
			echo x >\$d/x
			git -C \$d add x
			git -C \$d commit -qm x
		done
		echo k >k
		echo k >$L/k" 2>../err &&
	grep "left behind: own (repository" ../err &&
	test_prints "k\n$L" git diff --name-only HEAD agent/r &&
	git -C $L agent review r >../out &&
	grep own ../out &&
	test_prints k git -C $L diff --name-only HEAD agent/r
'

test_expect_success 'moved by the agent to an older commit, with and without work on it' '
	make_super older lib &&
	cd older &&
	git agent start --name o -- sh -c "
		git -C $L checkout -q v1
		git commit -qam older" &&
	test "$(git rev-parse agent/o:$L)" = "$(git -C $L rev-parse v1)" &&
	test "$(git -C $L rev-parse agent/o)" = "$(git -C $L rev-parse v1)" &&
	git agent start --name p -- sh -c "
		cd $L
		git checkout -q v1
		echo p >p
		git add p
		git commit -qm p
		git rev-parse HEAD >\$HOME/p
		echo q >q" &&
	test "$(git -C $L rev-parse agent/p~1)" = "$(cat "$HOME/aihome/p")" &&
	test "$(git -C $L rev-parse agent/p~2)" = "$(git -C $L rev-parse v1)" &&
	test "$(git rev-parse agent/p:$L)" = "$(git -C $L rev-parse agent/p)" &&
	git -C $L cat-file -e agent/p:q &&
	git agent start --name q -- sh -c "
		cd $L
		git checkout -q v1
		echo q >q
		echo id >.envrc
		git add -A
		git commit -qm q" &&
	git -C $L cat-file -e agent/q:q &&
	! git -C $L ls-tree agent/q | grep envrc &&
	test "$(git rev-parse agent/q:$L)" = "$(git -C $L rev-parse agent/q)"
'

test_expect_success 'two submodules of one repository' '
	make_super twice lib &&
	cd twice &&
	git -C $L worktree add -q --detach "$(pwd)/zoo" &&
	git add zoo 2>../err &&
	git commit -qm zoo &&
	git agent start --name t -- sh -c "
		test -z \"\$(ls -A zoo)\"
		echo k >$L/k" 2>../err &&
	grep "submodule zoo: its repository is a part already" ../err &&
	git -C $L cat-file -e agent/t:k
'

test_expect_success 'attack: a pointer to what is nowhere, or only in the agent'\''s hands, is held back' '
	make_super points lib &&
	cd points &&
	git agent start --name p -- sh -c "
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
		test "$(git rev-parse $c:$L)" = "$(git rev-parse HEAD:$L)" || exit 1
	done
'

test_expect_success 'attack: nothing of its git dir is run or read, and no other directory is' '
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
			printf \"[core]\nfsmonitor = $t\npager = $t\nsshCommand = $t\nworktree = $HOME/victim\n[filter \\\"x\\\"]\nclean = $t\n\" >>\$d/config
		done
		printf \"[submodule \\\"$L\\\"]\n\tpath = $L\n\turl = ../victim\n\tupdate = !$t\n[submodule \\\"../../victim\\\"]\n\tpath = ../victim\n\turl = x\n\" >.gitmodules
		mv $L/.git $L/x
		rm -rf $L/.git
		echo gitdir: $HOME/victim/.git >$L/.git
		printf \"* filter=x\n\" >$L/.gitattributes
		echo $HOME/victim/.git/objects >$L/.git/objects/info/alternates
		echo k >$L/k
		echo k >k" 2>../err &&
	git agent capture t &&
	git agent list &&
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
