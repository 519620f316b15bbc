#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='populated submodules are parts of a session'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

git config --global protocol.file.allow always

# Two commits at NAME.
make_repo() {
	git init -q "$1" && (
		cd "$1" && echo one >a && mkdir d && echo two >d/b && git add -A && git commit -qm first &&
		git tag v1 && echo three >>a && git commit -qam second
	)
}

# A superproject at NAME with the repository SUB as its submodule at vendor/lib.
make_super() {
	make_repo "$1" && git -C "$1" submodule --quiet add "$HOME/$2" vendor/lib && git -C "$1" commit -qm submodule
}

L=vendor/lib

test_expect_success 'git works in it, and its git dir is not the host'\''s' '
	make_repo lib && make_super use lib && cd use && echo mine >.git/modules/$L/description &&
	git agent start --name u -- sh -c "
		set -e; test -z \"\$(git status --porcelain)\"; git submodule status | grep \"^ \"; cd $L
		test -d .git; test -z \"\$(git status --porcelain)\"; test \"\$(git branch --show-current)\" = agent/u
		test \"\$(git rev-list --count HEAD)\" = 2; git blame a; git fsck --connectivity-only
		echo x >>a; git diff --quiet && exit 1; git stash -q; git stash pop; git checkout -q a
		echo agent >.git/description; git tag mine; git config user.name X" &&
	test "$(cat .git/modules/$L/description)" = mine && test -z "$(git -C $L tag -l mine)" &&
	test "$(git -C $L config user.name)" = "A U Thor" && test -z "$(git -C $L branch --list "agent/*")" && test -z "$(git branch --list "agent/*")"
'

test_expect_success 'its objects cannot be written' '
	cd use && git agent start --name ro -- sh -c "
		set -e; cd $L; while read d; do test -d \$d/pack; ! touch \$d/x 2>/dev/null; ! rm -rf \$d/pack 2>/dev/null; done <.git/objects/info/alternates
		echo \$(wc -l <.git/objects/info/alternates) >\$HOME/n" && test "$(cat "$HOME/aihome/n")" = 1
'

test_expect_success 'its commits arrive with their ids, and the superproject names them' '
	make_super commits lib && cd commits &&
	git agent start --name c -- sh -c "
		set -e; cd $L; echo c >c; git add c; git commit -qm one; git rev-parse HEAD >\$HOME/1; echo d >>c; git commit -qam two; git rev-parse HEAD >\$HOME/2
		cd ../..; git commit -qam bump; git rev-parse HEAD >\$HOME/super" &&
	test "$(git rev-parse agent/c)" = "$(cat "$HOME/aihome/super")" && test "$(git rev-parse agent/c:$L)" = "$(cat "$HOME/aihome/2")" &&
	test "$(git -C $L rev-parse agent/c)" = "$(cat "$HOME/aihome/2")" && test "$(git -C $L rev-parse agent/c~1)" = "$(cat "$HOME/aihome/1")" &&
	git -C $L rev-parse -q --verify refs/agent/c/base && git -C $L rev-parse -q --verify refs/agent/c/report && git -C $L fsck --strict --connectivity-only &&
	git agent review c >../out && grep gitlink-changed ../out && grep "git -C $(pwd)/vendor/lib agent review c" ../out &&
	git -C $L agent review c >../out && grep "+c" ../out && test -z "$(git -C $L status --porcelain)" && test -z "$(git status --porcelain)"
'

test_expect_success 'what was not committed is a commit there, and one here' '
	make_super rest lib && cd rest &&
	git agent start --name r -m "what was left" -- sh -c "echo n >$L/n; rm $L/d/b; echo s >s" &&
	test "$(git -C $L log -1 --format=%s agent/r)" = "what was left" && test "$(git rev-parse agent/r:$L)" = "$(git -C $L rev-parse agent/r)" &&
	test "$(git -C $L diff --name-status agent/r~1 agent/r | tr "\t\n" "  ")" = "D d/b A n " &&
	git diff --name-only HEAD agent/r >../got && printf "s\n$L\n" >../want && test_cmp ../want ../got &&
	git -C $L log -1 --format=%B agent/r | grep "Agent-Session: r"
'

test_expect_success 'land: not before both were decided; then the commit is where git looks for it' '
	cd rest && test_expect_code 3 git agent land r && git agent review --accept-all r && git agent land r 2>../err &&
	grep "next: git -C $(pwd)/vendor/lib merge agent/r" ../err && git -C $L merge -q agent/r && test -z "$(git status --porcelain)" &&
	git agent list | grep "^r .*landed" && git -C $L agent list | grep "^r .*landed"
'

test_expect_success 'land waits for the flags of the submodule' '
	make_super flags lib && cd flags && git agent start --name f -- sh -c "echo \"all: ; id\" >$L/Makefile" && git agent review --accept-all f &&
	test_expect_code 3 git agent land f 2>../err && grep "submodule vendor/lib has 1 open flag" ../err &&
	git -C $L agent review --accept-all f && git agent land f && git submodule update $L && test -e $L/Makefile && test -z "$(git status --porcelain)"
'

test_expect_success 'what is held back there holds back the pointer to it, in every commit' '
	make_super held lib && cd held &&
	git agent start --name h -- sh -c "cd $L; echo ok >ok; echo id >.envrc; git add -A; git commit -qm e; cd ../..; git commit -qam bump; echo s >s" &&
	git -C $L ls-tree agent/h | grep ok && ! git -C $L ls-tree agent/h | grep envrc && git -C $L ls-tree refs/agent/h/held | grep envrc &&
	for c in $(git rev-list HEAD..agent/h); do test "$(git rev-parse $c:$L)" = "$(git rev-parse HEAD:$L)" || exit 1; done &&
	git cat-file -e agent/h:s && test "$(git rev-parse refs/agent/h/held:$L)" = "$(git -C $L rev-parse agent/h)" &&
	git agent review h >../out && grep "submodule vendor/lib is held back" ../out && ! grep "since you ignore the path" ../out && git agent review --accept-all --critical h &&
	test "$(git rev-parse agent/h:$L)" = "$(git -C $L rev-parse agent/h)"
'

test_expect_success 'what hooks and configuration of the superproject reach in it is held back' '
	git init -q tools && (cd tools && mkdir hooks sub && echo x >hooks/post-merge && echo y >run.sh && echo z >sub/z && git add . && git commit -qm t) &&
	make_super reach tools && cd reach && git config core.hooksPath $L/hooks &&
	git agent start --name c -- sh -c "cd $L; echo k >hooks/post-merge; echo k >run.sh; echo k >k" && git -C $L diff --name-only HEAD agent/c >../got &&
	printf "k\nrun.sh\n" >../want && test_cmp ../want ../got && ! git rev-parse -q --verify agent/c && git -C $L ls-tree -r refs/agent/c/held | grep hooks &&
	git config --unset core.hooksPath && printf "#!/bin/sh\nsh vendor/lib/run.sh\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge &&
	git agent start --name h -- sh -c "cd $L; echo k >hooks/post-merge; echo k >run.sh; echo k >k" && git -C $L diff --name-only HEAD agent/h >../got &&
	printf "hooks/post-merge\nk\n" >../want && test_cmp ../want ../got
'

test_expect_success 'the same when a session was started, is captured or lands in the submodule itself' '
	cd reach/$L && git agent start --name own -- sh -c "echo k >run.sh; echo k >k" && git diff --name-only HEAD agent/own >../../../got && echo k >../../../want && test_cmp ../../../want ../../../got &&
	cd ../.. && rm -f "$HOME/aihome/ready" && { "$GIT_AGENT" start --name i -- sh -c "cd $L; echo k >run.sh; echo k >k; touch \$HOME/ready; sleep 100" & } && pid=$! &&
	test_wait_for "test -e $HOME/aihome/ready" && kill -9 $pid && { wait $pid || :; } && git -C $L agent capture i &&
	git -C $L diff --name-only HEAD agent/i >../got && echo k >../want && test_cmp ../want ../got && git agent capture i && git -C $L diff --name-only HEAD agent/i >../got && test_cmp ../want ../got &&
	rm .git/hooks/post-merge && git agent start --name l -- sh -c "echo k >$L/run.sh" && git -C $L diff --name-only HEAD agent/l >../got && echo run.sh >../want && test_cmp ../want ../got &&
	git -C $L agent land --dry-run l && printf "#!/bin/sh\nsh vendor/lib/run.sh\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && test_expect_code 3 git -C $L agent land l 2>../err && grep "where it lands" ../err
'

test_expect_success 'drop: work in the submodule counts, and its refs go to its own trash' '
	make_super drop lib && cd drop && git agent start --name d -- sh -c "echo id >$L/.envrc" && test -z "$(git branch --list "agent/*")" &&
	git agent show d >../out && grep "next: git -C .*vendor/lib agent review d" ../out && ! grep "agent drop" ../out && git agent list | grep "^d .* in submodules" && git agent review d >../out && ! grep "agent drop" ../out &&
	test_expect_code 2 git agent drop d && git -C $L rev-parse -q --verify refs/agent/d/held && git agent drop --force d &&
	test -z "$(git -C $L for-each-ref refs/agent refs/heads/agent)" && git -C $L for-each-ref refs/agent-trash | grep held &&
	test -z "$(git for-each-ref refs/agent refs/heads/agent)" && ! git -C $L agent list | grep "^d " && ! git agent list | grep "^d "
'

test_expect_success 'a submodule of a submodule' '
	make_super mid lib && make_repo outer && cd outer && git submodule --quiet add "$HOME/mid" m && git commit -qm m && git submodule --quiet update --init --recursive &&
	git agent start --name n -- sh -c "
		set -e; test -z \"\$(git status --porcelain)\"; git submodule status --recursive; echo deep >m/$L/deep" &&
	git -C m/$L cat-file -e agent/n:deep && test "$(git -C m rev-parse agent/n:$L)" = "$(git -C m/$L rev-parse agent/n)" &&
	test "$(git rev-parse agent/n:m)" = "$(git -C m rev-parse agent/n)" && git agent drop --force n &&
	test -z "$(git -C m/$L for-each-ref refs/agent refs/heads/agent)" && test -z "$(git -C m for-each-ref refs/agent refs/heads/agent)"
'

test_expect_success 'one that is not checked out is an empty directory' '
	git clone -q commits empty && cd empty && git agent start --name e -- sh -c "test -d $L; test -z \"\$(ls -A $L)\"; test -z \"\$(git status --porcelain)\" && echo k >k; echo x >$L/x" 2>../err &&
	git diff --name-only HEAD agent/e >../got && echo k >../want && test_cmp ../want ../got && grep "left behind: vendor/lib" ../err
'

test_expect_success 'one that was moved, and whose address is another now' '
	make_super moved lib && cd moved && git mv $L third && git config -f .gitmodules "submodule.$L.url" https://user:SECRET@example.com/x &&
	git submodule --quiet sync && git commit -qam moved &&
	git agent start --name m -- sh -c "cd third; git log --oneline; echo k >k; git config --list --show-origin >\$HOME/conf; git -C .. config --list >>\$HOME/conf" &&
	git -C third cat-file -e agent/m:k && ! grep SECRET "$HOME/aihome/conf" && grep "url=https://example.com/x" "$HOME/aihome/conf"
'

test_expect_success 'its own .git directory, as git made them once' '
	make_repo old && git clone -q lib old/sub && cd old && git add sub 2>../err && git commit -qm embedded && test -d sub/.git &&
	git agent start --name o -- sh -c "test -z \"\$(git status --porcelain)\"; cd sub; echo k >k; git add k; git commit -qm k" &&
	git -C sub cat-file -e agent/o:k && test "$(git rev-parse agent/o:sub)" = "$(git -C sub rev-parse agent/o)" && test -z "$(git -C sub status --porcelain)"
'

test_expect_success 'uncommitted work in it stays outside, and is named' '
	make_super dirty lib && cd dirty && echo mine >>$L/a && echo new >$L/new &&
	test_expect_code 2 git agent start --name x --dirty refuse -- true 2>../err && grep "submodule .vendor/lib.: 2 paths are not committed" ../err &&
	git agent start --name d -- sh -c "test -z \"\$(git -C $L status --porcelain)\"; test ! -e $L/new && echo k >$L/k" 2>../err &&
	grep "submodule vendor/lib: its uncommitted work (2 paths)" ../err && git -C $L diff --name-only agent/d~1 agent/d >../got && echo k >../want && test_cmp ../want ../got &&
	test "$(git -C $L status --porcelain | wc -l)" = 2 && git -C $L merge -q agent/d && test -e $L/new
'

test_expect_success 'a merge in progress in it is named, and not for --dirty refuse' '
	make_super merging lib && cd merging && (cd $L && git checkout -q -b o v1 && echo o >a && git commit -qam o && { git merge main || :; }) && git commit -qam o &&
	git agent start --name m --base HEAD -- true 2>../err && ! grep "in progress" ../err && git agent start --name n -- sh -c "echo k >$L/k" 2>../err &&
	grep "submodule vendor/lib: what the merge in progress there has changed" ../err && git -C $L cat-file -e agent/n:k && test_must_fail git agent start --dirty refuse -- true 2>../err && grep "submodule .vendor/lib.: a merge is in progress" ../err
'

test_expect_success 'a commit of it that the superproject does not name yet is carried' '
	make_super ahead lib && cd ahead && echo h >$L/h && git -C $L add h && git -C $L commit -qm h &&
	git agent start --name a -- sh -c "test -e $L/h && test -z \"\$(git status --porcelain)\" && echo k >$L/k" &&
	test "$(git -C $L rev-parse agent/a~1)" = "$(git -C $L rev-parse HEAD)" && git -C $L cat-file -e agent/a:k
'

test_expect_success 'work on such a commit is on no commit here, and comes with the merge there' '
	cd ahead && git agent start --name b -- sh -c "echo b >$L/b; echo b >b" 2>../err && grep "note: submodule vendor/lib: you have not committed the one it stands on" ../err && grep "next: git agent review b" ../err &&
	test "$(git rev-parse agent/b:$L)" = "$(git rev-parse HEAD:$L)" && git agent land b 2>../err && grep "merge agent/b, then commit the submodule here" ../err && ! grep "not brought" ../err &&
	git agent list | grep "^b .*landed" && git -C $L merge -q agent/b && git commit -qam both && test -z "$(git status --porcelain)" && git agent drop b && ! git -C $L agent list | grep "^b "
'

test_expect_success 'a base without it, and one whose commit is missing' '
	make_super bases lib && cd bases && git agent start --name b1 --base HEAD~1 -- sh -c "test ! -e $L" 2>../err && grep "submodule vendor/lib: the base has none there" ../err &&
	git update-index --cacheinfo 160000,1234567890123456789012345678901234567890,$L && git commit -qm missing &&
	git agent start --name b2 --base HEAD -- sh -c "test -z \"\$(ls -A $L)\"; echo k >k" 2>../err && grep "its commit is not there" ../err && git cat-file -e agent/b2:k &&
	git agent start --name b3 --base HEAD~1 -- sh -c "git -C $L log -1 && echo k >$L/k" && git -C $L cat-file -e agent/b3:k
'

test_expect_success 'a repository that only lies in another one is nobody'\''s submodule, and that one is left alone' '
	make_repo around && cd around && echo inner >.gitignore && git add . && git commit -qm ignore && printf "#!/bin/sh\nsh inner/run.sh\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge &&
	git clone -q ../lib inner && find .git >../before && cd inner && git agent start --name i -- sh -c "echo k >run.sh" && git cat-file -e agent/i:run.sh && cd .. && find .git >../after && test_cmp ../before ../after
'

test_expect_success 'one that came after the last look at the working tree' '
	make_repo later && cd later && git agent start -- true && git submodule --quiet add "$HOME/lib" $L && git commit -qm submodule &&
	git agent start --name b --base HEAD -- sh -c "test -e $L/a && echo k >$L/k" && git -C $L cat-file -e agent/b:k &&
	git submodule --quiet deinit -f $L && git agent start --name e --base HEAD -- sh -c "test -z \"\$(ls -A $L)\"" 2>../err && ! grep $L ../err
'

test_expect_success '--live, and a linked working tree' '
	make_super live lib && cd live && git agent start --name l --live -- sh -c "test -z \"\$(git status --porcelain)\" && echo k >$L/k" && git -C $L cat-file -e agent/l:k &&
	test "$(git rev-parse agent/l:$L)" = "$(git -C $L rev-parse agent/l)" &&
	git worktree add -q ../linked && cd ../linked && git submodule --quiet update --init && git agent start --name w -- sh -c "echo k >$L/k" &&
	git -C $L cat-file -e agent/w:k && ! git -C ../live/$L rev-parse -q --verify agent/w
'

test_expect_success 'a name that the submodule uses already' '
	make_super names lib && cd names && git -C $L agent start --name taken -- sh -c "echo t >t" && git -C $L branch agent/sh-1 &&
	test_must_fail git agent start --name taken -- true 2>../err && grep "submodule .vendor/lib.: .*taken" ../err && git agent list >../out && ! grep taken ../out && git -C $L agent list | grep "^taken .*captured" &&
	git agent start -- sh -c "echo k >$L/k" && git -C $L cat-file -e agent/sh-2:k && git cat-file -e agent/sh-2:.gitmodules
'

test_expect_success 'an interrupted session is captured whole' '
	make_super killed lib && cd killed && rm -f "$HOME/aihome/ready" && { "$GIT_AGENT" start --name k -- sh -c "echo k >$L/k; touch \$HOME/ready; sleep 100" & } && pid=$! &&
	test_wait_for "test -e $HOME/aihome/ready" && git -C $L agent list | grep "^k .*running" && git agent diff k >../out 2>../err && test ! -s ../out && grep "git -C SUBMODULE agent diff k" ../err && git -C $L agent diff k | grep "^+k" && kill -9 $pid && { wait $pid || :; } && git agent capture k &&
	git -C $L cat-file -e agent/k:k && test "$(git rev-parse agent/k:$L)" = "$(git -C $L rev-parse agent/k)" && git -C $L agent list | grep "^k .*captured"
'

test_expect_success 'a start that fails leaves nothing in the submodule either' '
	cd killed && git -C $L for-each-ref >../before && test_expect_code 125 env GIT_AGENT_FAULT=start:prepared:fail git agent start --name no -- true &&
	git -C $L for-each-ref >../after && test_cmp ../before ../after && ! git -C $L agent list | grep "^no " && test_expect_code 125 git agent start --name no -- /no/such/program &&
	git -C $L for-each-ref >../after && test_cmp ../before ../after && ! git -C $L agent list | grep "^no "
'

test_expect_success 'gone on the host when the session ends: said, and captured once it is back' '
	make_super gone lib && cd gone && rm -f "$HOME/aihome/ready" "$HOME/aihome/go" &&
	{ git agent start --name g -- sh -c "echo k >$L/k; touch \$HOME/ready; until test -e \$HOME/go; do sleep 0.05; done" 2>../err & } && pid=$! &&
	test_wait_for "test -e $HOME/aihome/ready" && git submodule --quiet deinit -f $L && touch "$HOME/aihome/go" && { wait $pid || :; } &&
	grep "submodule .vendor/lib.: it is not checked out" ../err && grep "git submodule update --init" ../err &&
	git submodule --quiet update --init && git agent capture g && git -C $L cat-file -e agent/g:k && git cat-file -e agent/g:.gitmodules
'

test_expect_success 'repositories the agent made, in it and beside it, are named and kept out' '
	make_super nested lib && cd nested && git agent start --name r -- sh -c "
		for d in own $L/own; do git init -q \$d; echo x >\$d/x; git -C \$d add x; git -C \$d commit -qm x; done; echo k >k; echo k >$L/k" 2>../err &&
	grep "left behind: own (repository" ../err && git diff --name-only HEAD agent/r >../got && printf "k\n$L\n" >../want && test_cmp ../want ../got &&
	git -C $L agent review r >../out && grep own ../out && git -C $L diff --name-only HEAD agent/r >../got && echo k >../want && test_cmp ../want ../got
'

test_expect_success 'moved by the agent to an older commit, with and without work on it' '
	make_super older lib && cd older && git agent start --name o -- sh -c "git -C $L checkout -q v1; git commit -qam older" &&
	test "$(git rev-parse agent/o:$L)" = "$(git -C $L rev-parse v1)" && test "$(git -C $L rev-parse agent/o)" = "$(git -C $L rev-parse v1)" &&
	git agent start --name p -- sh -c "cd $L; git checkout -q v1; echo p >p; git add p; git commit -qm p; git rev-parse HEAD >\$HOME/p; echo q >q" &&
	test "$(git -C $L rev-parse agent/p~1)" = "$(cat "$HOME/aihome/p")" && test "$(git -C $L rev-parse agent/p~2)" = "$(git -C $L rev-parse v1)" &&
	test "$(git rev-parse agent/p:$L)" = "$(git -C $L rev-parse agent/p)" && git -C $L cat-file -e agent/p:q &&
	git agent start --name q -- sh -c "cd $L; git checkout -q v1; echo q >q; echo id >.envrc; git add -A; git commit -qm q" && git -C $L cat-file -e agent/q:q &&
	! git -C $L ls-tree agent/q | grep envrc && test "$(git rev-parse agent/q:$L)" = "$(git -C $L rev-parse agent/q)"
'

test_expect_success 'two submodules of one repository' '
	make_super twice lib && cd twice && git -C $L worktree add -q --detach "$(pwd)/zoo" && git add zoo 2>../err && git commit -qm zoo &&
	git agent start --name t -- sh -c "test -z \"\$(ls -A zoo)\"; echo k >$L/k" 2>../err && grep "submodule zoo: its repository is a part already" ../err && git -C $L cat-file -e agent/t:k
'

test_expect_success 'attack: a pointer to what is nowhere, or only in the agent'\''s hands, is held back' '
	make_super points lib && cd points && git agent start --name p -- sh -c "
		git update-index --cacheinfo 160000,1234567890123456789012345678901234567890,$L; git commit -qm nowhere
		cd $L; echo id >.envrc; git add -A; git commit -qm evil; git branch side; git reset -q --hard HEAD~1; cd ../..
		git update-index --cacheinfo 160000,\$(git -C $L rev-parse side),$L; git commit -qm side; echo k >k" &&
	git cat-file -e agent/p:k && for c in $(git rev-list HEAD..agent/p); do test "$(git rev-parse $c:$L)" = "$(git rev-parse HEAD:$L)" || exit 1; done
'

test_expect_success 'attack: nothing of its git dir is run or read, and no other directory is' '
	make_super attack lib && make_repo victim && cd attack && t="touch $TRASH/ran" && git -C ../victim for-each-ref >../before && cp .git/config ../config1 && cp .git/modules/$L/config ../config2 &&
	git agent start --name t -- sh -c "
		for d in .git $L/.git; do
			for h in post-checkout pre-commit reference-transaction post-index-change; do printf \"#!/bin/sh\n$t\n\" >\$d/hooks/\$h; chmod +x \$d/hooks/\$h; done 2>/dev/null || mkdir \$d/hooks
			printf \"[core]\nfsmonitor = $t\npager = $t\nsshCommand = $t\nworktree = $HOME/victim\n[filter \\\"x\\\"]\nclean = $t\n\" >>\$d/config
		done
		printf \"[submodule \\\"$L\\\"]\n\tpath = $L\n\turl = ../victim\n\tupdate = !$t\n[submodule \\\"../../victim\\\"]\n\tpath = ../victim\n\turl = x\n\" >.gitmodules
		mv $L/.git $L/x; rm -rf $L/.git; echo gitdir: $HOME/victim/.git >$L/.git; printf \"* filter=x\n\" >$L/.gitattributes
		echo $HOME/victim/.git/objects >$L/.git/objects/info/alternates; echo k >$L/k; echo k >k" 2>../err;
	git agent capture t; git agent list && git agent show t && git agent review t >/dev/null && git agent diff t >/dev/null && git -C $L agent review t >/dev/null &&
	test_must_fail git agent land t && git status --porcelain && git -C $L status --porcelain && test ! -e "$TRASH/ran" &&
	git -C ../victim for-each-ref >../after && test_cmp ../before ../after && test_cmp ../config1 .git/config && test_cmp ../config2 .git/modules/$L/config &&
	git -C $L cat-file -e agent/t:k && ! git ls-tree -r --name-only agent/t | grep victim
'

# Start session NAME in the background with commands that wait for the file go; then do OUTSIDE.
while_running() {
	rm -f "$HOME/aihome/ready" "$HOME/aihome/go" || return 1
	{ git agent start --name "$1" -- sh -c "$2; touch \$HOME/ready; until test -e \$HOME/go; do sleep 0.05; done" 2>../err & }
	pid=$!
	test_wait_for "test -e $HOME/aihome/ready" && eval "$3" && touch "$HOME/aihome/go" && { wait $pid || :; }
}

test_expect_success 'another repository in its place is not taken for it' '
	make_super other lib && cd other && while_running r "echo k >$L/k; echo k >k" "mv $L ../was && git clone -q ../lib $L" &&
	grep "submodule .vendor/lib.: another repository is there now" ../err && test_must_fail git agent capture r && ! git cat-file -e agent/r:k &&
	rm -rf $L && mv ../was $L && git agent capture r && git -C $L cat-file -e agent/r:k && test "$(git rev-parse agent/r:$L)" = "$(git -C $L rev-parse agent/r)"
'

test_expect_success 'a link, a file or nothing in its place at the end is no part of the session' '
	make_super replaced lib && cd replaced && while_running l "echo k >$L/k" "mv $L ../was && ln -s ../../was $L" &&
	grep "submodule .vendor/lib.: a symlink leads elsewhere" ../err && rm $L && echo file >$L && test_must_fail git agent capture l 2>../err &&
	grep "it is not checked out" ../err && rm $L && test_must_fail git agent capture l && test "$(git --git-dir=.git/modules/$L --work-tree=. rev-parse agent/l)" = "$(git rev-parse HEAD:$L)" &&
	mv ../was $L && git agent capture l && git -C $L cat-file -e agent/l:k
'

test_expect_success 'removed from the superproject meanwhile: not waited for, and named' '
	make_super given lib && cd given && while_running g "echo k >$L/k; echo k >k; git -C $L commit -q --allow-empty -m mine; git commit -qam bump" "git rm -q $L && git commit -qm removed" &&
	git cat-file -e agent/g:k && test "$(git rev-parse agent/g:$L)" = "$(git rev-parse HEAD~1:$L)" && git agent review --stat g >../out && grep "submodule vendor/lib: it is not there any more" ../out &&
	git agent review --accept-all --critical g && git agent review --reject g $L && git agent land g && test_expect_code 2 git agent drop g 2>../err && grep "work in submodule .*vendor/lib" ../err &&
	git agent drop --force g 2>../err && grep "submodule vendor/lib: it is not checked out: its session stays in" ../err
'

test_expect_success 'land: not while nobody can look at the submodule, or its commit is on no branch' '
	make_super looked lib && cd looked && git agent start --name k -- sh -c "echo \"all: ; id\" >$L/Makefile" && git agent review --accept-all k &&
	git submodule --quiet deinit -f $L && test_expect_code 3 git agent land k 2>../err && grep "submodule vendor/lib: it is not checked out" ../err &&
	test_expect_code 2 git agent drop k && git submodule --quiet update --init && test_expect_code 3 git agent land k && git -C $L agent review --accept-all k &&
	git -C $L branch -qD agent/k && test_expect_code 2 git agent land k 2>../err && grep "on no branch there" ../err && sed -n "s/^hint: .\(git -C [^ ]* branch [^ ]* [0-9a-f]*\).*/\1/p" ../err >../cmd &&
	test -s ../cmd && sh ../cmd && git agent land k && test "$(git rev-parse HEAD:$L)" = "$(git -C $L rev-parse agent/k)"
'

test_expect_success 'on no branch, as clones have them: landed once the superproject is' '
	make_super origin lib && git clone -q --recurse-submodules origin detached && cd detached && test -z "$(git -C $L branch --show-current)" &&
	git agent start --name d -- sh -c "echo k >$L/k" && git -C $L checkout -q agent/d~0 && git -C $L agent list | grep "^d .*captured" && git submodule --quiet update &&
	git agent review --accept-all d && git agent land d && git submodule --quiet update && test -e $L/k && git -C $L agent list | grep "^d .*landed" && git agent drop d &&
	git -C $L switch -q -C main && git agent start --name e -- sh -c "echo e >$L/e" && git agent review --accept-all e && git -C $L checkout -q agent/e~0 && test_expect_code 2 git agent drop e &&
	git agent land e && git -C $L agent list | grep "^e .*landed" && git agent drop e
'

test_expect_success 'its pointer rejected: the work stays there, for what the user makes of it' '
	make_super refused lib && cd refused && git agent start --name r -- sh -c "echo k >$L/k; echo k >k" && git agent review --reject r $L && git agent land r 2>../err &&
	grep "no commit here names them; next: git -C .*vendor/lib merge agent/r, then commit the submodule here" ../err && test -z "$(git status --porcelain)" && test_expect_code 2 git agent drop r &&
	git -C $L agent drop --force r && git agent drop r
'

test_expect_success 'accepted after the capture: the branch there moves on, and the user is told' '
	make_super accepted lib && cd accepted && git agent start --name a -- sh -c "echo k >$L/k; echo id >$L/.envrc" && git -C $L agent review --accept-all --critical a &&
	git agent review --accept-all a && git agent land a 2>../err && grep "merge agent/a, then commit the submodule here" ../err &&
	git -C $L merge -q agent/a && git commit -qam both && test "$(git rev-parse HEAD:$L)" = "$(git -C $L rev-parse agent/a)" && test -z "$(git status --porcelain)"
'

test_expect_success 'merged there first, and landed then' '
	make_super first lib && cd first && git agent start --name f -- sh -c "echo k >$L/k; echo k >k" && git -C $L merge -q agent/f && git agent review --accept-all f &&
	git agent land f 2>../err && ! grep next ../err && test -z "$(git status --porcelain)" && test -e $L/k && git agent drop f &&
	git agent start --name g -- sh -c "git rm -q --cached $L; git commit -qm removed; echo g >g" && git -C $L commit -q --allow-empty -m mine && git agent review --accept-all g && test_expect_code 2 git agent land g
'

test_expect_success 'two sessions that both move it: the second is a conflict, and says where to merge' '
	make_super both lib && cd both && for i in 1 2; do git agent start --name s$i -- sh -c "echo $i >$L/n$i" && git agent review --accept-all s$i || exit 1; done &&
	git agent land s1 && git -C $L merge -q agent/s1 && test_expect_code 4 git agent land s2 2>../err && grep "next: git -C .*vendor/lib merge agent/s2" ../err &&
	git -C $L merge -q -m both agent/s2 && git add $L && git commit -qm both && test -e $L/n1 && test -e $L/n2 && test -z "$(git status --porcelain)"
'

test_expect_success 'its state is damaged: said where, and dropped there' '
	make_super damaged lib && cd damaged && git agent start --name dmg -- sh -c "echo id >$L/.envrc" &&
	f=$(grep -l "within = " "$HOME"/.local/state/git-agent/*/sessions/dmg/session) && echo x >"$f" && rm -f "$f.old" &&
	git agent list >../out && grep "^dmg .* in submodules" ../out && test_must_fail git agent drop --force dmg 2>../err && grep "git -C .*vendor/lib agent drop --force dmg" ../err && git -C $L agent drop --force dmg && git agent drop --force dmg
'

test_expect_success 'its branch was moved meanwhile: how to rename it, from where the user is' '
	make_super moving lib && cd moving && while_running b "echo k >$L/k" "git -C $L update-ref refs/heads/agent/b \$(git -C $L commit-tree -m x HEAD^{tree})" &&
	sed -n "s/^hint: rename it: \(git -C [^ ]* branch -m agent\/b\) NEW-NAME;.*/\1 mine/p" ../err >../cmd && test -s ../cmd && sh ../cmd && git agent capture b && git -C $L cat-file -e agent/b:k
'

test_expect_success 'emptied by rm -rf, which cannot remove a mount point: left as it was, and said' '
	make_super emptied lib && cd emptied && git agent start --name e -- sh -c "rm -rf $L; test -z \"\$(ls -A $L/.git)\" && echo k >k" 2>../err &&
	git diff --name-only HEAD agent/e >../got && echo k >../want && test_cmp ../want ../got && ! git -C $L rev-parse -q --verify agent/e &&
	git -C $L agent review e >../out && grep "removed all files of the submodule and its git dir" ../out &&
	git agent start --name f -- sh -c "git -C $L rm -rq ." && test -z "$(git -C $L ls-tree agent/f)" && test "$(git rev-parse agent/f:$L)" = "$(git -C $L rev-parse agent/f)"
'

test_expect_success 'removed and moved by the agent as the manual page says' '
	make_super removed lib && cd removed && git agent start --name r -- sh -c "
		git rm -q $L && exit 1; git mv $L there && exit 1; test -z \"\$(git status --porcelain)\" || exit 1
		git rm -q --cached $L && git config -f .gitmodules --remove-section submodule.$L && git add .gitmodules && git commit -qm removed" &&
	test "$(git log -1 --format=%s agent/r)" = removed && test -z "$(git ls-tree agent/r $L)" && git cat-file -e agent/r:a &&
	git agent start --name m -- sh -c "mkdir there && git update-index --add --cacheinfo 160000,\$(git rev-parse HEAD:$L),there && git rm -q --cached $L &&
		git config -f .gitmodules submodule.$L.path there && git add .gitmodules && git commit -qm moved && git submodule status | grep \" there\"" &&
	git agent review --accept-all --critical m && git agent land m && test "$(git rev-parse HEAD:there)" = "$(git rev-parse HEAD~1:$L)" && test -z "$(git ls-tree HEAD $L)" &&
	git submodule --quiet update --init there && test -e there/a
'

test_expect_success 'something else in its place in the agent'\''s commits' '
	make_super swapped lib && cd swapped && git agent start --name b -- sh -c "
		b=\$(echo x | git hash-object -w --stdin); for m in 100644 120000; do
			git update-index --force-remove $L; git update-index --add --cacheinfo \$m,\$b,$L; git commit -qm \$m
		done; echo k >$L/k" && test "$(git rev-parse agent/b:$L)" = "$(git -C $L rev-parse agent/b)" && git -C $L cat-file -e agent/b:k &&
	git agent start --name d -- sh -c "b=\$(echo x | git hash-object -w --stdin); git update-index --force-remove $L; git update-index --add --cacheinfo 100644,\$b,$L/x; git commit -qm d; echo k >k" &&
	git cat-file -e agent/d:k && test -z "$(git ls-tree agent/d $L)"
'

test_expect_success 'its pointer after more commits than are asked about' '
	make_super long lib && cd long && git agent start --name l -- sh -c "
		{ echo \"reset refs/heads/agent/l\"; echo \"from \$(git rev-parse HEAD)\"; i=0; while [ \$i -lt 1100 ]; do
			printf \"commit refs/heads/agent/l\ncommitter A U Thor <author@example.com> 1700000000 +0000\ndata 1\nx\n\"; i=\$((i + 1))
		done; } | git fast-import --quiet --force && git reset -q && git -C $L commit -q --allow-empty -m mine && git commit -qam bump" &&
	test "$(git rev-list --count HEAD..agent/l)" = 1101 && test "$(git rev-parse agent/l:$L)" = "$(git -C $L rev-parse agent/l)"
'

# A repository at DIR with N files that are repositories in it, each with D ignored directories.
make_many() {
	git init -q "$1" && (
		cd "$1" && i=0 && while [ $i -lt "$2" ]; do
			i=$((i + 1)) && git init -q s$i && git -C s$i commit -q --allow-empty -m s || exit 1
			d=0 && while [ $d -lt "$3" ]; do d=$((d + 1)) && mkdir s$i/i$d && echo x >s$i/i$d/x || exit 1; done
			echo "i*/" >>s$i/.git/info/exclude
		done && git add . 2>/dev/null && git commit -qm many
	)
}

test_expect_success 'more of them than can be shown, and deeper than is looked: named' '
	make_many many 66 0 && cd many && git agent start --name m -- sh -c "for i in 1 2 66; do echo k >s\$i/k; done; ls -d s*/.git | wc -l >\$HOME/n" && test "$(cat "$HOME/aihome/n")" = 64 &&
	git agent show m >../out && test "$(grep -c "submodule s.*: there are too many" ../out)" = 2 && git -C s66 cat-file -e agent/m:k && cd .. &&
	git init -q n0 && git -C n0 commit -q --allow-empty -m n && for i in 1 2 3 4 5 6 7 8 9 10; do
		git init -q n$i && cp -r n$((i - 1)) n$i/s && git -C n$i add s 2>/dev/null && git -C n$i commit -qm n || exit 1
	done && cd n10 && git agent start --name n -- sh -c "p=. n=0; while test -e \$p/s/.git; do p=\$p/s n=\$((n + 1)); echo k >\$p/k; done; echo \$n >\$HOME/n" && test "$(cat "$HOME/aihome/n")" = 8 &&
	p=. && for i in 1 2 3 4 5 6 7 8; do test "$(git -C $p rev-parse agent/n:s)" = "$(git -C $p/s rev-parse agent/n)" || exit 1; p=$p/s; done && git -C $p cat-file -e agent/n:k
'

test_expect_success 'more ignored directories in them than can be mounted: some are left out' '
	make_many wide 12 90 && cd wide && git agent start --name w -- sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo k >s\$i/k; done; ls -d s*/i*/x | wc -l >\$HOME/n" &&
	test "$(cat "$HOME/aihome/n")" = 1000 && git -C s12 cat-file -e agent/w:k && for i in 1 2 3 4 5 6 7 8 9 10 11 12; do git -C s$i agent show w; done >../out && test "$(grep -c "too many ignored directories" ../out)" = 80
'

test_done
