#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the guard: hooks of git that keep undecided work off branches and remotes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use guard
require_sandbox

# ---- on and off

test_that 'turned on, the guard installs no hooks while nothing is undecided' '
	make_repo on &&
	git agent list &&
	picture >../before &&
	test_prints "False 0 0 False False" how &&
	test_says "the guard is on" git agent guard on &&
	git config --local agent.guard &&
	how | grep "^True 0 0 False" &&
	git agent guard | grep "high paths are held too" &&
	test_inside "echo b >b" &&
	test ! -e .git/git-agent/guard
'

test_that 'the setting of the repository overrides that of the user' '
	cd on &&
	git config --global agent.guard true &&
	test_when_finished "git config --global --unset agent.guard" &&
	how | grep ^True &&
	git agent guard off &&
	how | grep ^False &&
	test_fails 128 "another value of agent.guard overrides" git -c agent.guard=false agent guard on &&
	test_expect_code 129 git agent guard maybe
'

# ---- what is held

test_that 'with the guard on, high paths stay off the branch until each is accepted' '
	make_repo high &&
	git agent guard on &&
	test_session on "
		echo all: >Makefile
		git add -A
		git commit -qm high
		echo ok >ok
		git config agent.guard false" &&
	! git cat-file -e agent/on:Makefile &&
	git cat-file -e agent/on:ok &&
	git cat-file -e refs/agent/on/held:Makefile &&
	! git rev-list agent/on | xargs -n 1 git ls-tree -r | grep Makefile &&
	git agent show on | grep "high (held)" &&
	test_expect_code 3 git agent land on &&
	git agent review --accept-all on &&
	test -n "$(git for-each-ref refs/agent/on/held)" &&
	! git cat-file -e agent/on:Makefile &&
	git agent review --accept on Makefile &&
	git cat-file -e agent/on:Makefile &&
	git agent land on &&
	test -e Makefile
'

test_that 'an agent cannot turn the guard on' '
	make_repo agent &&
	test_session off "
		echo all: >Makefile
		git config agent.guard true
		printf \"[agent]\\n\\tguard = true\\n\" | tee .gitconfig >\$HOME/.gitconfig" &&
	git cat-file -e agent/off:Makefile
'

# ---- branches

test_that 'the hooks keep commands of git from bringing undecided work to a branch' '
	make_repo ref &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	held=$(git rev-parse refs/agent/x/held) &&
	git rev-parse HEAD >../before &&
	guard_refuses git merge $held &&
	grep "^  .envrc" ../err &&
	git reset -q --hard &&
	for command in "branch foo" "branch foo refs/agent/x/orig" "switch -q -c foo" "update-ref refs/heads/main" \
		cherry-pick "merge -q --no-ff -m m"; do
		case $command in *orig) commit= ;; *) commit=$held ;; esac
		guard_refuses git $command $commit &&
		git reset -q --hard || return 1
	done &&
	git read-tree -m -u HEAD $held &&
	guard_refuses git commit -qm taken &&
	git reset -q --hard &&
	git rev-parse HEAD | test_cmp ../before - &&
	test -z "$(git for-each-ref refs/heads/foo)"
'

test_that 'the hooks keep a single undecided file from being committed, whatever its name' '
	cd ref &&
	held=$(git rev-parse refs/agent/x/held) &&
	for p in Makefile .envrc .bashrc "$(printf "d/\303\251 \"q\"\t\\\\\n:x/.envrc")"; do
		git checkout -q $held -- "$p" &&
		guard_refuses git commit -qm "$p" &&
		git reset -q --hard || return 1
	done
'

test_that 'other commits, branches, tags and merges are let through' '
	cd ref &&
	echo more >>a &&
	git commit -qam more &&
	git branch b2 &&
	git branch -qD b2 &&
	git tag t &&
	git merge -q agent/x &&
	test -e ok &&
	git switch -q --detach &&
	git switch -q - &&
	git branch agent/other agent/x &&
	git symbolic-ref refs/heads/sym refs/heads/main &&
	git symbolic-ref -d refs/heads/sym
'

test_that 'GIT_AGENT_ALLOW=1 lets undecided work through, and then also what is based on it' '
	cd ref &&
	held=$(git rev-parse refs/agent/x/held) &&
	GIT_AGENT_ALLOW=1 git branch foo $held &&
	git branch bar foo &&
	git switch -q foo &&
	test_empty on &&
	git branch -m foo baz &&
	git switch -q main &&
	git branch -qD bar baz &&
	git -c core.quotePath=false branch ok &&
	guard_refuses git -c core.quotePath=false branch foo $held
'

test_that 'the hooks work in every working tree' '
	cd ref &&
	git worktree add -q ../ref.wt &&
	cd ../ref.wt &&
	guard_refuses git merge -q refs/agent/x/held
'

test_that 'commits that contained an undecided path are refused, their squash without it is not' '
	make_repo while &&
	test_session early "
		echo all: >Makefile
		git add -A
		git commit -qm add
		git rm -q Makefile
		echo o >o
		git add -A
		git commit -qm gone" &&
	early=$(git rev-parse agent/early~1) &&
	git cat-file -e $early:Makefile &&
	git agent guard on &&
	hooked &&
	guard_refuses git merge -q agent/early &&
	grep "^  commit $early" ../err &&
	git reset -q --hard &&
	guard_refuses git branch foo agent/early &&
	guard_refuses git push -q . agent/early:refs/heads/foo &&
	git branch foo $early~1 &&
	git merge -q --squash agent/early &&
	git commit -qm sum &&
	git reset -q --hard HEAD~1 &&
	git agent review --accept early Makefile &&
	git merge -q agent/early &&
	test -e o
'

test_that 'what was accepted in one session goes through although it is undecided in another' '
	make_repo two &&
	git agent guard on &&
	session x &&
	session y &&
	git agent review --accept-all --critical x &&
	git agent land x &&
	test -e Makefile &&
	echo e >>a &&
	git commit -qam on
'

test_that 'undecided paths are found although there are more than arguments can hold' '
	make_repo many &&
	git agent guard on &&
	test_session m "
		for i in \$(seq 1500); do
			d=\$(printf \"%0100d\" \$i)
			mkdir \$d
			echo \$i >\$d/.envrc
		done" &&
	test_session n "echo n >.envrc" &&
	test "$(wc -c <.git/git-agent/guard/lines)" -gt 150000 &&
	GIT_AGENT_ALLOW=1 git merge -q refs/agent/m/held &&
	guard_refuses git merge -q refs/agent/n/held &&
	grep "^  .envrc" ../err &&
	! grep 000 ../err &&
	git reset -q --hard &&
	test_empty on
'

test_that 'the other sessions are guarded although the commits of one are gone' '
	make_repo dead &&
	test_session d "
		echo all: >Makefile
		git add -A
		git commit -qm add
		git rm -q Makefile
		echo o >o
		git add -A
		git commit -qm gone" &&
	tip=$(git rev-parse agent/d) &&
	git agent guard on &&
	session h &&
	branch=$(git rev-parse agent/h) &&
	git update-ref -d refs/agent/h/held &&
	git branch -qD agent/d agent/h &&
	git reflog expire --expire=all --all &&
	git gc -q --prune=now &&
	! git cat-file -e $tip &&
	! git cat-file -e $branch &&
	session y 2>../err &&
	! grep "cannot update the guard" ../err &&
	how | grep "^True [0-9]* 3 True True" &&
	guard_refuses git branch foo refs/agent/y/held &&
	guard_refuses git branch foo refs/agent/h/orig
'

# ---- remotes

test_that 'undecided work is not pushed, nor history that was held' '
	git init -q --bare push.git &&
	make_repo push &&
	git remote add origin ../push.git &&
	git agent guard on &&
	session x &&
	test_session h "
		echo e >.envrc
		git add -A
		git commit -qm add
		git rm -q .envrc
		git commit -qm gone
		echo k >k
		echo e >.envrc" &&
	git push -q origin main agent/x agent/h &&
	guard_refuses git push -q origin refs/agent/x/held:refs/heads/x &&
	guard_refuses git push -q origin "refs/agent/*:refs/agent/*" &&
	guard_refuses git push -q origin refs/agent/h/orig~1:refs/heads/h &&
	grep "^  commit" ../err &&
	guard_refuses git branch foo refs/agent/h/orig~1 &&
	git branch foo agent/h &&
	git push -q origin --delete agent/x &&
	test "$(git -C ../push.git for-each-ref | wc -l)" = 2 &&
	GIT_AGENT_ALLOW=1 git push -q origin refs/agent/x/held:refs/heads/x &&
	git push -q origin refs/agent/x/held:refs/heads/x
'

test_that 'undecided work is not pushed by a revision that contains blanks' '
	cd push &&
	test_session b "echo blank >.envrc" &&
	held=$(git rev-parse refs/agent/b/held) &&
	blanks="$held^{/[h ]}" &&
	test_prints "$held" git rev-parse -q --verify "$blanks^{commit}" &&
	guard_refuses git push -q origin "$blanks:refs/heads/b" &&
	grep "^  .envrc" ../err &&
	! git -C ../push.git rev-parse -q --verify refs/heads/b &&
	git agent drop --force b
'

test_that 'undecided history is not pushed however many commits it has' '
	git init -q --bare history.git &&
	make_repo history &&
	git remote add origin ../history.git &&
	git agent guard on &&
	cat >../work <<-\EOF &&
	{
		commit="commit refs/heads/many\ncommitter A <a@example.com> 1 +0000\ndata 0\n"
		printf "${commit}from %s\nM 100644 inline .envrc\ndata 2\ne\n\n" "$(git rev-parse HEAD)"
		for i in $(seq 10100); do printf "$commit\n"; done
	} | git fast-import --quiet && git reset -q --hard many && git branch -qD many
	EOF
	test_session h "$(cat ../work)" &&
	git rev-list --count main..refs/agent/h/orig | grep -x 10101 &&
	test "$(wc -l <.git/git-agent/guard/commits)" -gt 10100 &&
	first=$(git rev-list --reverse main..refs/agent/h/orig | head -n 1) &&
	guard_refuses git push -q origin "$first:refs/heads/h"
'

# ---- the scripts

test_that 'the hooks need nothing of git-agent, and do no harm when their lists are gone' '
	cd push &&
	mkdir ../alone &&
	for c in git sh xargs grep sed cut; do ln -s "$(program $c)" ../alone/ || return 1; done &&
	(
		PATH=$HOME/alone &&
		! git agent --version 2>/dev/null &&
		test_empty m &&
		git switch -q -c side &&
		test_empty s &&
		git switch -q main &&
		git merge -q --no-ff -m m side &&
		guard_refuses git branch held refs/agent/h/held
	) &&
	rm -r .git/git-agent/guard &&
	test_empty m &&
	git push -q origin main &&
	git branch held refs/agent/h/held &&
	git branch -D held &&
	git agent list &&
	hooked &&
	guard_refuses git branch held refs/agent/h/held &&
	rm .git/git-agent/guard/paths .git/git-agent/guard/commits &&
	git branch held refs/agent/h/held
'

test_that 'the hooks refuse where a program that they need is missing, in one line' '
	make_repo blind &&
	git init -q --bare ../blind.git &&
	git remote add origin ../blind.git &&
	git agent guard on &&
	session x &&
	git push -q origin main &&
	held=$(git rev-parse refs/agent/x/held) &&
	for tool in xargs grep cut sed; do
		rm -rf ../bare &&
		mkdir ../bare &&
		for c in git sh cat xargs grep sed cut; do
			[ $c = $tool ] || ln -s "$(program $c)" ../bare/ || return 1
		done &&
		missing="the guard cannot look for .*$tool. is missing or fails; GIT_AGENT_ALLOW=1" &&
		! PATH=$HOME/bare git branch foo $held 2>../err &&
		test "$(grep -c "$missing" ../err)" = 1 &&
		! PATH=$HOME/bare git push -q origin $held:refs/heads/foo 2>../err &&
		test "$(grep -c "$missing" ../err)" = 1 &&
		test_missing foo &&
		! git -C ../blind.git rev-parse -q --verify foo &&
		PATH=$HOME/bare GIT_AGENT_ALLOW=1 git commit -q --allow-empty -m "without $tool" || return 1
	done
'

test_that 'the hooks refuse where cat is missing that a hook of the user needs' '
	cd blind &&
	held=$(git rev-parse refs/agent/x/held) &&
	user_hook .mine/reference-transaction &&
	git config core.hooksPath .mine &&
	git agent list &&
	how | grep " True True$" &&
	guard_refuses git branch foo $held &&
	rm ../bare/cat &&
	ln -s "$(program sed)" ../bare/ &&
	! PATH=$HOME/bare git branch foo $held &&
	test_missing foo
'

test_that 'the hooks run nothing that the agent wrote, by its names or its contents' '
	make_repo evil &&
	git agent guard on &&
	test_session e "
		for n in \"\\\$(touch $TRASH/ran)\" \"\\\`touch $TRASH/ran\\\`\" \"; touch $TRASH/ran\" -e \
			--upload-pack=touch \"\$(printf \"x\ntouch $TRASH/ran\n\")\"; do
			mkdir -p \"./\$n\" &&
			echo \"touch $TRASH/ran\" >\"./\$n/.envrc\"
		done
		echo \"touch $TRASH/ran\" >.envrc" &&
	grep touch .git/git-agent/guard/lines &&
	guard_refuses git branch foo refs/agent/e/held &&
	test_empty m &&
	test ! -e "$TRASH/ran"
'

test_that 'the scripts work as they are shipped, called by hand' '
	cd ref &&
	held=$(git rev-parse refs/agent/x/held) &&
	none=0000000000000000000000000000000000000000 &&
	cp "$TEST_SRCDIR"/hooks/reference-transaction "$TEST_SRCDIR"/hooks/pre-push ../ &&
	echo "$none $held refs/heads/q" | test_expect_code 1 ../reference-transaction prepared &&
	echo "$none $held refs/heads/q" | ../reference-transaction committed &&
	echo "x $held refs/heads/q $none" | test_expect_code 1 ../pre-push origin url &&
	echo "$none $held refs/tags/q" | ../reference-transaction prepared &&
	cd ../agent &&
	echo "$none $held refs/heads/q" | ../reference-transaction prepared
'

test_that 'a merge by git is noticed as a landing at once' '
	cd ref &&
	test_session p "echo p >p" &&
	git merge -q agent/p &&
	grep "state = .landed" "$HOME"/.local/state/git-agent/*/sessions/p/session
'

test_done
