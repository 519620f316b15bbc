#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='resuming a session: what it sees again, and what becomes of its branch'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# held NAME: paths that are held
held() {
	git diff --name-only "refs/agent/$1/held^" "refs/agent/$1/held" 2>/dev/null
}

test_that 'create a repository' '
	test_enter r &&
	echo a >a &&
	echo b >b &&
	mkdir d &&
	echo f >d/f &&
	printf "out/\n*.log\n" >.gitignore &&
	test_commit base &&
	mkdir out &&
	echo host >out/host
'

test_that 'a resumed session sees files, ignored files, home and git as it left them' '
	cd r &&
	test_session s "
		echo 1 >one &&
		git add one &&
		git commit -qm one &&
		echo 2 >two &&
		echo log >x.log &&
		echo mine >out/mine &&
		rm out/host &&
		mkfifo pipe &&
		echo h >\$HOME/there &&
		git stash -q 2>&1
		git branch side
		git config x.y z
		echo 3 >three
		chmod 600 three" &&
	git rev-list agent/s >../before &&
	before=$(git rev-parse agent/s) &&
	git agent resume s -- sh -c "
		git status --porcelain >\$HOME/status
		git rev-list HEAD >\$HOME/list
		git symbolic-ref HEAD >>\$HOME/list
		git log -1 --format=%H side >\$HOME/side
		cat one two three x.log out/mine \$HOME/there >\$HOME/cat
		ls out >\$HOME/ls
		test -p pipe &&
		git config x.y >>\$HOME/cat
		stat -c %a three >>\$HOME/cat
		echo 4 >four &&
		git add four &&
		git commit -qm four &&
		echo 5 >>two" 2>../err &&
	test ! -s "$HOME/aihome/status" &&
	printf "1\n2\n3\nlog\nmine\nh\nz\n600\n" >../want &&
	test_cmp ../want "$HOME/aihome/cat" &&
	echo mine >../want &&
	test_cmp ../want "$HOME/aihome/ls" &&
	{ cat ../before && echo refs/heads/agent/s; } >../want &&
	test_cmp ../want "$HOME/aihome/list" &&
	grep "^agent/s: continues from $(echo "$before" | cut -c1-10)" ../err &&
	grep "^agent/s: 4 commits, 4 files changed" ../err &&
	git merge-base --is-ancestor "$before" agent/s &&
	test "$(git rev-list --count "$before"..agent/s)" = 2 &&
	test_prints "agent/s: 1 file changed\nfour" git log --format=%s "$before"..agent/s &&
	test "$(git show agent/s:two)" = "$(printf "2\n5")" &&
	test "$(cat out/host)" = host &&
	test ! -e "$(git rev-parse --git-common-dir)/worktrees"
'

test_that 'without a command a resumed session runs its own again, with another message if given' '
	cd r &&
	git agent start -q --name own -m first -- sh -c "echo x >>x" &&
	git agent resume -q own -m second &&
	test "$(git log --format=%s -2 agent/own)" = "$(printf "second\nfirst")" &&
	test "$(git show agent/own:x | grep -c x)" = 2 &&
	git log -1 --format=%B agent/own | grep "^Agent-Command: sh -c .echo x" &&
	test_resume own "echo y >>x" &&
	git log -1 --format=%B agent/own | grep "^Agent-Command: sh -c .echo y" &&
	git agent resume -q own &&
	git show agent/own:x | tail -n 1 | grep x
'

test_that 'show and the journal say that a session was resumed' '
	cd r &&
	git agent show own | grep "^resumed  *2" &&
	test_shows "\"resumed\": [0-9]" git agent show --json own &&
	grep "\"resumed_with\": \[\]" ../out &&
	git agent show --json s | grep "\"resumed\": [0-9]" &&
	grep "\"event\": *\"resume\"" "$HOME"/.local/state/git-agent/*/sessions/own/journal.jsonl
'

test_that 'without a name the only session is resumed' '
	test_enter one a &&
	test_expect_code 1 git agent resume -- true &&
	test_session only "echo 1 >f" &&
	git agent resume -q -- sh -c "echo 2 >f" &&
	test_holds agent/only:f 2 &&
	git agent resume -q &&
	test_holds agent/only:f 1 &&
	test_session other "echo 1 >g" &&
	test_expect_code 129 git agent resume -- true
'

test_that 'what is held is uncommitted inside, and no longer held when it is deleted' '
	cd r &&
	test_session h "
		echo e >.envrc &&
		echo 1 >f &&
		git add -A &&
		git commit -qm both &&
		echo 2 >>f &&
		git commit -qam only &&
		mkdir .husky &&
		echo x >.husky/pre-commit" &&
	test_prints ".envrc\n.husky/pre-commit" held h &&
	before=$(git rev-parse agent/h) &&
	test_resume h "
		git status --porcelain >\$HOME/status
		git ls-files >\$HOME/files
		echo 3 >>f
		rm .husky/pre-commit
		cat .envrc >>f" &&
	test_prints "?? .envrc\n?? .husky/" cat "$HOME/aihome/status" &&
	! grep -e envrc -e husky "$HOME/aihome/files" &&
	test_prints .envrc held h &&
	git rev-list --objects "$before"..agent/h | (! grep -e envrc -e husky) &&
	git merge-base --is-ancestor "$before" agent/h &&
	test "$(git show agent/h:f | tail -n 1)" = e &&
	git agent show h | grep "1 critical (held): .envrc" &&
	! git agent show h | grep "flagged.*husky"
'

test_that 'what was accepted stays on the branch, and a change of it is held again' '
	cd r &&
	test_expect_code 3 git agent land h &&
	git agent review --accept h .envrc &&
	tip=$(git rev-parse agent/h) &&
	test_resume h "
		test -z \"\$(git status --porcelain)\" &&
		echo more >more" &&
	test "$(git rev-parse agent/h^)" = "$tip" &&
	test -z "$(held h)" &&
	git agent show h | grep "1 accepted" &&
	git agent land --dry-run h &&
	test_resume h "echo other >.envrc" &&
	test_holds agent/h:.envrc e &&
	held h | grep .envrc &&
	test_expect_code 3 git agent land --dry-run h
'

test_that 'what is held stays so although it is ignored' '
	cd r &&
	test_session ign "
		echo l >kept.log &&
		git add -f kept.log &&
		git commit -qm log" &&
	held ign | grep kept.log &&
	test_resume ign "echo n >n" &&
	held ign | grep kept.log &&
	git agent resume -q ign -- rm kept.log &&
	test -z "$(held ign)"
'

test_that 'what was rejected is gone inside, and held when it is created again' '
	cd r &&
	test_session rej "
		echo all: >Makefile &&
		echo e >.envrc &&
		echo k >kept &&
		echo changed >a" &&
	git agent review --reject rej Makefile .envrc a &&
	tip=$(git rev-parse agent/rej) &&
	test -z "$(held rej)" &&
	test_says "applied from the branch: 3 paths" git agent resume rej -- sh -c "
		ls -A >\$HOME/ls
		cat a >>\$HOME/ls
		git status --porcelain >>\$HOME/ls" &&
	test_prints ".git\n.gitignore\na\nb\nd\nkept\nout\na" cat "$HOME/aihome/ls" &&
	test "$(git rev-parse agent/rej)" = "$tip" &&
	git agent land --dry-run rej &&
	test_resume rej "
		echo all: >Makefile
		echo e >.envrc" &&
	held rej | grep .envrc &&
	test_fails 3 "1 critical, 1 high" git agent land --dry-run rej
'

# a_session_with_a_passing_flag NAME: one of its commits has a Makefile, which the next removes
a_session_with_a_passing_flag() {
	test_session "$1" "
		echo all: >Makefile &&
		git add -A &&
		git commit -qm one &&
		rm Makefile &&
		git add -A &&
		git commit -qm two &&
		echo x >x"
}
flagged() {
	git agent review --format=json "$1" | grep "\"path\": \"Makefile\"" &&
	test_expect_code 3 git agent land --dry-run "$1"
}

test_that 'flags of an earlier run stay however often the run after it is captured' '
	cd r &&
	a_session_with_a_passing_flag cap &&
	flagged cap &&
	git agent -c limits.capture.file_size=1KiB resume -q cap -- sh -c "
		echo y >y
		head -c 5000 /dev/zero >big" &&
	flagged cap &&
	git agent capture -q cap &&
	flagged cap &&
	git agent capture -q cap &&
	flagged cap &&
	git cat-file -e agent/cap:big &&
	for point in after-refs before-state; do
		a_session_with_a_passing_flag cap-$point &&
		{ GIT_AGENT_FAULT=capture:$point:kill git agent resume -q cap-$point -- sh -c "echo y >y" || test $? \
			= 137; } &&
		git agent list 2>/dev/null &&
		flagged cap-$point ||
			return 1
	done &&
	git agent review --accept cap Makefile &&
	git agent capture -q cap &&
	git agent land --dry-run cap &&
	test_resume cap "echo z >z" &&
	git agent capture -q cap &&
	git agent land --dry-run cap
'

test_that 'when the report of an earlier run cannot be read everything is flagged again' '
	cd r &&
	a_session_with_a_passing_flag lost &&
	dir=$(test_dir lost) &&
	git agent -c limits.capture.file_size=1KiB resume -q lost -- sh -c "
		echo y >y
		head -c 5000 /dev/zero >big" &&
	sed -i "s/former = .*/former = \"1111111111111111111111111111111111111111\"/" "$dir/session" &&
	grep former "$dir/session" &&
	git agent capture lost >../out 2>&1 &&
	grep "report of the former run could not be read" ../out &&
	flagged lost
'

test_that 'a session that has landed is resumed, and the next landing brings what is new' '
	test_enter l a &&
	test_session l "echo 1 >one" &&
	git agent land l &&
	echo host >host &&
	git add host &&
	git commit -qm host &&
	test_resume l "
		ls >\$HOME/ls
		test -z \"\$(git status --porcelain)\" &&
		echo 2 >two" &&
	test_prints "a\none" cat "$HOME/aihome/ls" &&
	test_state l captured &&
	git agent land l &&
	test_prints "a\nhost\none\ntwo" ls &&
	git agent resume -q l -- true &&
	test_state l landed &&
	git branch -qD agent/l &&
	test_resume l "echo 3 >three" &&
	git agent land l &&
	test -e three &&
	test -e host
'

test_that 'a session that ended on another branch, in a rebase or with locks is resumed on its own branch' '
	cd r &&
	test_session mid "
		git checkout -q -b other &&
		echo 1 >one &&
		git add one &&
		git commit -qm one &&
		git checkout -q -b third HEAD~ &&
		echo 2 >one &&
		git add one &&
		git commit -qm two &&
		git rebase other 2>/dev/null
		: >.git/index.lock
		: >.git/HEAD.lock" &&
	test_resume mid "
		git symbolic-ref HEAD >\$HOME/s
		git status >>\$HOME/s
		git branch --format=\"%(refname)\" >>\$HOME/s
		rm -f one
		echo x >x
		git add -A
		git commit -qm x" &&
	head -n 1 "$HOME/aihome/s" | grep -x refs/heads/agent/mid &&
	! grep -i "rebase in progress" "$HOME/aihome/s" &&
	grep -x refs/heads/other "$HOME/aihome/s" &&
	git log -1 --format=%s agent/mid | grep -x x
'

test_that 'commits of an earlier run that ended on another branch are kept' '
	cd r &&
	elsewhere() {
		echo "
			echo $1 >$1 && git add $1 && git commit -qm $1 && git rev-parse HEAD >>\$HOME/own &&
			git checkout -q -B other HEAD~ && echo $2 >$2 && git add $2 && git commit -qm $2"
	} &&
	rm -f "$HOME/aihome/own" &&
	has() {
		git for-each-ref --contains "$(sed -n "$1p" "$HOME/aihome/own")" refs/agent/own2 |
			grep "$2\$"
	} &&
	test_session own2 "$(elsewhere p1 q1)" &&
	has 1 heads/agent/own2 &&
	test_resume own2 "echo x >x" &&
	has 1 heads/agent/own2 &&
	git agent resume -q own2 -- true &&
	git agent capture -q own2 &&
	has 1 heads/agent/own2 &&
	test_resume own2 "$(elsewhere p2 q2)" &&
	has 2 heads/agent/own2 &&
	has 1 "earlier/$(sed -n 1p "$HOME/aihome/own")" &&
	git gc -q --prune=now &&
	git agent capture -q own2 &&
	has 1 earlier/.* &&
	has 2 heads/agent/own2 &&
	test_resume own2 "
		$(elsewhere p3 q3)
		git branch -m agent/own2 tmp
		git branch -m tmp agent/own2/below" &&
	has 2 earlier/.* &&
	has 1 earlier/.* &&
	test_missing refs/agent/own2/heads/agent/own2 &&
	test "$(git for-each-ref refs/agent/own2/earlier | wc -l)" = 2 &&
	git agent drop --force own2 &&
	test -z "$(git for-each-ref refs/agent/own2)"
'

test_that 'commits of an earlier run that were amended, or rewritten to hold something back, stay' '
	cd r &&
	or() { git for-each-ref --format="%(refname)" --contains "$1" refs/agent/or | grep "$2\$"; } &&
	test_session or "
		echo e >.envrc
		git add -A
		git commit -qm first" &&
	first=$(git rev-parse refs/agent/or/orig) &&
	test_resume or "echo 2 >two" &&
	or "$first" "/earlier/$first" &&
	test_resume or "
		git add -f .envrc
		git commit -qm second" &&
	second=$(git rev-parse refs/agent/or/orig) &&
	or "$first" "/earlier/$first" &&
	test "$first" != "$second" &&
	test_resume or "git commit -q --amend -m third" &&
	git log -1 --format=%s refs/agent/or/orig | grep third &&
	third=$(git rev-parse refs/agent/or/orig) &&
	or "$first" "/earlier/$first" &&
	or "$second" "/earlier/$second" &&
	test_resume or "git commit -q --amend -m fourth" &&
	or "$third" "/earlier/$third" &&
	git agent capture -q or &&
	test "$(git for-each-ref refs/agent/or/earlier | wc -l)" = 4 &&
	git gc -q --prune=now &&
	git log -1 --format=%s "$first" | grep -x first
'

test_that 'commits that were published stay when the agent amends them' '
	cd r &&
	test_session am "
		echo 1 >one &&
		git add one &&
		git commit -qm one" &&
	before=$(git rev-parse agent/am) &&
	test_says "note: the agent rewrote commits that are published" git agent resume am -- sh -c "
		echo 2 >>one &&
		git commit -q --amend -am amended &&
		echo 3 >three" &&
	test "$(git rev-parse agent/am^)" = "$before" &&
	test "$(git show agent/am:one)" = "$(printf "1\n2")" &&
	git log --format=%s refs/agent/am/orig | grep amended
'

test_that 'a session that is resumed many times leaves nothing behind' '
	cd r &&
	test_session many "
		echo 0 >n
		echo e >.envrc
		mkdir deep &&
		chmod 000 deep" &&
	for i in 1 2 3; do
		test_resume many "echo $i >>n; git commit -qam $i" &&
		git gc -q --prune=now || return 1
	done &&
	test "$(git show agent/many:n | tr -d "\n")" = 0123 &&
	test "$(git rev-list --count main..agent/many)" = 4 &&
	held many | grep .envrc &&
	find "$HOME"/.local/state/git-agent/*/sessions/many/work -maxdepth 1 -name "project-*" >../works &&
	test "$(wc -l <../works)" -le 2 &&
	git fsck --connectivity-only
'

test_that 'the agent reads the feedback unchanged, and cannot change it' '
	cd r &&
	test_session fb "
		test -z \"\$GIT_AGENT_FEEDBACK\" &&
		printf \"one\\377two\\n\" >one" &&
	git agent review --reject --remark last fb one &&
	cp "$(ls "$HOME"/.local/state/git-agent/*/sessions/fb/remarks)" ../fb1 &&
	git agent resume -q fb -- sh -c "
		cp \"\$GIT_AGENT_FEEDBACK\" \$HOME/fb
		ls -A >\$HOME/ls
		{
			echo x >>\"\$GIT_AGENT_FEEDBACK\"
			rm -f \"\$GIT_AGENT_FEEDBACK\"
			chmod 777 \"\$GIT_AGENT_FEEDBACK\"
		} 2>/dev/null
		echo 2 >two" &&
	cmp ../fb1 "$HOME/aihome/fb" &&
	grep "^> last" ../fb1 &&
	! grep -i feedback "$HOME/aihome/ls" &&
	test_prints two git diff --name-only main agent/fb &&
	test_resume fb "
		test -z \"\$GIT_AGENT_FEEDBACK\" &&
		test ! -e /run/git-agent/odb/feedback"
'

test_that 'what was only in the index stays there unless the branch has changed' '
	cd r &&
	test_session ix "
		echo staged >b
		git add b
		git checkout -q HEAD -- a
		echo b >b" &&
	test_resume ix "
		git show :b >\$HOME/b
		cat b >>\$HOME/b
		git status --porcelain >>\$HOME/b" &&
	test_prints "staged\nb\nMM b" cat "$HOME/aihome/b" &&
	git agent resume -q ix -- git commit -qm staged &&
	test_holds agent/ix^:b staged &&
	test_holds agent/ix:b b &&
	git worktree add -q ../wt agent/ix &&
	(cd ../wt && echo h >h && git add h && git commit -qm h) &&
	git worktree remove ../wt &&
	test_resume ix "git status --porcelain >\$HOME/b" &&
	test ! -s "$HOME/aihome/b" &&
	test_resume ix "echo garbage >.git/index" &&
	test_resume ix "git status --porcelain >\$HOME/b" &&
	test ! -s "$HOME/aihome/b"
'

test_that 'a review of a session that was resumed begins with what changed since the last one' '
	test_enter since a &&
	test_session s "echo 1 >x; echo 2 >y; seq 3 >f" &&
	git agent review s >../first &&
	! grep "changed since" ../first &&
	git agent resume -q s -- sh -c "echo 3 >>x; rm y" &&
	git agent review s >../second &&
	sed "1,/^==== changed since the last review/d; /^==== all of it/,\$d" ../second >../lines &&
	grep "^+3" ../lines &&
	grep "1 file is as in the base now" ../lines &&
	! grep " b/f" ../lines &&
	sed "1,/^==== all of it/d" ../second | grep "^diff --git a/f b/f" &&
	git agent review s >../third &&
	! grep "changed since" ../third
'

test_done
