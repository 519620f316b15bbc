#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a session that is resumed after its branch was changed on the host'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# What the agent has done in most of these sessions
agent='echo 1 >one; git add one; git commit -qm one
echo 2 >two; echo e >.envrc; seq 1 20 >long; mkdir s; echo x >s/x; echo log >x.log'

# on NAME COMMANDS: on its branch, in a working tree of the user
on() {
	git worktree add -q ../wt "agent/$1" &&
	(cd ../wt && eval "$2")
	on_rc=$?
	git worktree remove --force ../wt &&
	return $on_rc
}

# goes_on NAME [COMMANDS]: resumed with these commands, it sees the branch as it is, and what they do comes on top.
# What it sees is kept in ../view.
goes_on() {
	before=$(git rev-parse "agent/$1") &&
	test_resume "$1" "
	git status --porcelain >\$HOME/status
	rm -rf \$HOME/view
	mkdir \$HOME/view &&
	git ls-files -co --exclude-standard -z | xargs -0 tar cf - | tar xf - -C \$HOME/view
	${2:-:}" &&
	rm -rf ../view &&
	mv "$HOME/aihome/view" ../view &&
	rm -rf ../expect &&
	mkdir ../expect &&
	git archive "$before" | tar xf - -C ../expect &&
	{ test "${held-.envrc}" = "" || cp ../view/.envrc ../expect; } &&
	diff -r --no-dereference ../expect ../view &&
	git merge-base --is-ancestor "$before" "agent/$1" &&
	{ test "${2-}" || test "$(git rev-parse "agent/$1")" = "$before"; }
}

test_that 'create a repository' '
	test_enter r &&
	echo a >a &&
	echo b >b &&
	mkdir d &&
	echo f >d/f &&
	echo g >d/g &&
	ln -s a link &&
	printf "*.log\n" >.gitignore &&
	test_commit base
'

test_that 'a resumed session sees commits that add, change, delete and replace files and directories' '
	cd r &&
	test_session top "$agent" &&
	on top "
		echo new >new && echo more >>one && git rm -q two a && chmod +x b &&
		git rm -rq d && echo d >d && git rm -q s/x && ln -s b s && rm link && mkdir link && echo l >link/l &&
		sed -i s/^10\$/ten/ long && git add -A && git commit -qm host" &&
	goes_on top &&
	test_prints "?? .envrc" cat "$HOME/aihome/status" &&
	goes_on top "echo 3 >three; echo 4 >>one" &&
	test_prints "one\nthree" git diff --name-only "$before" agent/top &&
	git show refs/agent/top/held:.envrc &&
	test -x ../view/b &&
	test -L ../view/s &&
	goes_on top
'

test_that 'a branch that was rebased keeps what its new base has changed' '
	git clone -q r rb &&
	cd rb &&
	test_session reb "$agent" &&
	echo m >mainline &&
	echo all: >Makefile &&
	echo changed >b &&
	git rm -q d/f &&
	test_commit main &&
	on reb "git rebase -q main" &&
	goes_on reb "echo 3 >three" &&
	test_prints "long\none\ns/x\nthree\ntwo" git diff --name-only main agent/reb &&
	test_fails 3 ": 1 critical$" git agent land --dry-run reb &&
	git agent review --reject reb .envrc &&
	held="" goes_on reb &&
	git agent land reb &&
	test -e three
'

test_that 'files that git converts are seen converted, and captured as they are' '
	test_enter crlf &&
	printf "*.txt text eol=crlf\n*.bin -text\n" >.gitattributes &&
	printf "a\r\nb\r\n" >t.txt &&
	printf "a\r\n" >u.bin &&
	test_commit base &&
	test_session c "
		printf \"n\r\n\" >n.txt
		printf \"b\r\n\" >>t.txt" &&
	on c "printf \"c\r\n\" >>t.txt && printf \"h\r\n\" >h.txt && git add -A && git commit -qm host" &&
	before=$(git rev-parse agent/c) &&
	test_resume c "
		git status --porcelain >\$HOME/status
		cat t.txt h.txt >\$HOME/cat
		printf \"d\r\n\" >>t.txt" &&
	test ! -s "$HOME/aihome/status" &&
	printf "a\r\nb\r\nb\r\nc\r\nh\r\n" | cmp - "$HOME/aihome/cat" &&
	test_prints "a\nb\nb\nc\nd" git show agent/c:t.txt &&
	git diff --name-only "$before" agent/c | (! grep -v t.txt)
'

test_that 'a held-back file that was also changed on the branch is refused' '
	cd r &&
	test_session hc "$agent" &&
	on hc "echo mine >.envrc && git add -f .envrc && git commit -qm mine" &&
	find "$HOME"/.local/state/git-agent/*/sessions/hc/upper -type f | sort >../before &&
	test_fails 125 "held-back ..envrc. was also changed on agent/hc" git agent resume hc -- true &&
	grep "^hint: " ../err &&
	test "$(grep -vc warning ../err)" = 2 &&
	find "$HOME"/.local/state/git-agent/*/sessions/hc/upper -type f | sort | test_cmp ../before - &&
	test_state hc captured &&
	git agent review --reject hc .envrc &&
	git agent resume -q hc -- true
'

test_that 'a file of the branch does not overwrite one that was not captured' '
	cd r &&
	git agent -c limits.capture.file_size=1KiB start -q --name lim -- sh -c "
		echo 1 >one
		head -c 5000 /dev/zero >big
		echo log >in.log" &&
	on lim "echo host >big && git add big && git commit -qm host" &&
	test_fails 125 "cannot be applied to the session: big" git agent resume lim -- true &&
	grep "^hint: .*start --base agent/lim" ../err &&
	test "$(grep -vc warning ../err)" = 2 &&
	test "$(stat -c %s "$HOME"/.local/state/git-agent/*/sessions/lim/upper/big)" = 5000 &&
	test_state lim captured &&
	on lim "git rm -q big && echo host >in.log && git add -f in.log && git commit -qm log" &&
	test_fails 125 "cannot be applied to the session: in.log" git agent resume lim -- true &&
	test "$(cat "$HOME"/.local/state/git-agent/*/sessions/lim/upper/in.log)" = log
'

test_that 'a session whose branch was deleted before it landed is refused' '
	cd r &&
	test_session del "echo 1 >deleted" &&
	tip=$(git rev-parse agent/del) &&
	git branch -qD agent/del &&
	test_fails 125 "branch .agent/del. is gone" git agent resume del -- true &&
	grep "^hint: .git branch agent/del $tip. restores it" ../err &&
	git branch agent/del "$tip" &&
	test_resume del "echo 2 >>deleted" &&
	git agent land del
'

test_that 'a session whose branch is checked out is refused' '
	cd r &&
	git worktree add -q ../wt agent/top &&
	test_fails 125 "branch .agent/top. is checked out in" git agent resume top -- true &&
	grep "^hint: " ../err &&
	git worktree remove ../wt
'

test_that 'changes to the branch are seen, but for files with uncommitted changes at the start' '
	test_enter c &&
	seq 1 30 >a &&
	seq 1 30 >b &&
	test_commit base &&
	sed -i "s/^5\$/user/" a &&
	echo u >u &&
	test_session c "
		echo n >n &&
		sed -i s/^15\$/agent/ a b &&
		echo m >m" &&
	git diff --quiet main agent/c -- a &&
	git show agent/c:b | grep agent &&
	on c "sed -i s/^25\$/host/ a b && echo h >h && git add -A && git commit -qm host" &&
	git agent review --reject c m &&
	before=$(git rev-parse agent/c) &&
	test_resume c "
		git status --porcelain >\$HOME/status
		cat a >\$HOME/a
		cat b >\$HOME/b
		ls >>\$HOME/a
		echo x >x" &&
	test ! -s "$HOME/aihome/status" &&
	seq 1 30 | sed -e "s/^15\$/agent/; s/^25\$/host/" | test_cmp - "$HOME/aihome/b" &&
	sed -e "s/^5\$/user/; s/^15\$/agent/" -e "" >../want <<-END &&
	$(seq 1 30)
	a
	b
	h
	n
	u
	END
	test_cmp ../want "$HOME/aihome/a" &&
	test_prints x git diff --name-only "$before" agent/c &&
	! git show agent/c:a | grep user &&
	git agent show --json c | tr -d "\n" | grep "\"left_out\": \[ *\"a\" *\]"
'

test_that 'a branch that is moved while the session runs is kept, and the session captured under its name' '
	cd r &&
	{
		{
			git agent resume top -- sh -c "
				echo late >late
				mkfifo \$HOME/go
				touch \$HOME/up
				read x <\$HOME/go" 2>../err
			echo $? >../rc
		} &
	} &&
	test_wait_for "test -e $HOME/aihome/up" &&
	git worktree list | grep sessions/top &&
	test_must_fail git branch -D agent/top &&
	test_must_fail git checkout -q agent/top &&
	git update-ref refs/heads/agent/top main &&
	echo >"$HOME/aihome/go" &&
	wait &&
	test_wait_for "test -s ../rc" &&
	test "$(cat ../rc)" = 128 &&
	grep "was moved while the session ran" ../err &&
	git branch -m agent/top elsewhere 2>/dev/null &&
	git update-ref -d refs/heads/agent/top &&
	git agent capture top &&
	git show agent/top:late
'

test_that 'changes to work that was committed since are uncommitted although the branch is based on it' '
	test_enter cw &&
	echo b >b &&
	seq 9 >t &&
	test_commit base &&
	echo u >u &&
	sed -i s/5/user/ t &&
	test_session w "
		echo agent >>u &&
		sed -i s/user/both/ t &&
		echo n >n" &&
	test_commit mine &&
	on w "git rebase -q main" &&
	tip=$(git rev-parse agent/w) &&
	test_resume w "
		cat u t n >\$HOME/cat
		git status --porcelain >\$HOME/status
		echo more >>u
		echo m >m
		git add -A
		git commit -qm more" &&
	{
		printf "u\nagent\n"
		seq 9 | sed s/5/both/
		echo n
	} | test_cmp - "$HOME/aihome/cat" &&
	test ! -s "$HOME/aihome/status" &&
	test_prints m git diff --name-only "$tip" agent/w &&
	git agent show --json w | tr -d "\n " | grep "\"left_out\":\[\"t\",\"u\"\]"
'

test_that 'a directory on the branch where a symlink is held is refused' '
	test_enter coll a &&
	test_session s "
		ln -s /proc/self/mem f
		echo b >b" &&
	git rev-parse -q --verify refs/agent/s/held &&
	on s "mkdir -p f/g && echo n >f/g/n && git add -A && git commit -qm host" &&
	tip=$(git rev-parse agent/s) &&
	test_fails 125 "held-back .f/g/n. was also changed on agent/s" git agent resume -q s -- true &&
	test "$(git rev-parse agent/s)" = $tip
'

test_done
