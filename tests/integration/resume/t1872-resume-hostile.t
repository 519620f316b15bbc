#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='resuming a session in which an agent planted something, or that would now see secrets'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use secrets
test_use resume
require_sandbox

# outside: all that is outside of sessions and homes of agents
outside() {
	find "$HOME" \( -path "$HOME/.local" -o -path "$HOME/aihome" -o -path "*/.git" \) -prune \
		-o -type f -size -1000k -print0 |
		sort -z |
		xargs -0 sha1sum |
		command grep -v -e "/err\$" -e "/out\$" -e "/before" -e "/after"
}

# resumes_or_refuses NAME COMMAND...: with a hint in the second case; either way nothing outside has changed
resumes_or_refuses() {
	outside >../before
	rc=0
	git agent resume "$@" >../out 2>../err || rc=$?
	outside >../after
	test_cmp ../before ../after &&
	{ [ $rc = 0 ] || { test $rc = 125 && grep "^hint: " ../err; }; } &&
	test_state $1 captured
}

test_that 'create a repository' '
	repo_with_ignored_directories &&
	mkdir "$HOME/secret" &&
	echo precious >"$HOME/secret/file"
'

# ---- planted links and git dirs

n=0
for target in "$HOME/secret" /proc/self/root/tmp ../../../../..; do
	n=$((n + 1))
	test_that "SB-04: links to $target where mounts are made and git writes touch nothing outside" "
		cd r &&
		test_session links$n '
			mv d moved
			mkdir d
			ln -s $target d/e
			ln -s $target one
			rm -rf .git/refs/heads/agent
			mkdir -p .git/refs/heads
			ln -s $target .git/refs/heads/agent
			ln -sf $target/index .git/index
			ln -sf $target/log .git/logs/HEAD' &&
		resumes_or_refuses links$n sh -c 'echo x >x'
	"
done

test_that 'SB-04: a link where a shared directory is mounted touches nothing outside' '
	cd r &&
	test_session l1 "
		rm -rf d
		mkdir -p d
		ln -s \$HOME d/e
		echo k >kept" &&
	resumes_or_refuses l1 true
'

test_that 'SB-04: links in place of the index and of HEAD touch nothing outside' '
	cd r &&
	test_session l2 "
		ln -sf $HOME/secret/file .git/index
		ln -sf ../a .git/HEAD.new
		mv .git/HEAD.new .git/HEAD" &&
	resumes_or_refuses l2 true &&
	test_prints precious cat "$HOME/secret/file"
'

# trapped NAME COMMANDS: after these commands the git dir is refused, at once and with a hint
trapped() {
	test_session "$1" "$2" &&
	test_fails 125 "^hint: .*start --base agent/$1" \
		timeout 180 git agent -c limits.capture.git_time=1s resume "$1" -- true &&
	test "$(command grep -vc warning ../err)" = 2
}

test_that 'GT-03: a git dir with FIFOs or a damaged configuration is refused at once' '
	cd r &&
	trapped t1 "echo 1 >one; git add one; git commit -qm one; mkfifo .git/refs/heads/x" &&
	grep "git dir cannot be used: it holds a fifo" ../err &&
	trapped t2 "echo 1 >one; echo \"[x\" >.git/config" &&
	grep "git dir cannot be used: " ../err &&
	trapped t4 "echo 1 >one; mkfifo \$HOME/ff; git config include.path \$HOME/ff" &&
	rm "$HOME/aihome/ff"
'

test_that 'GT-03: hooks and programs that the configuration of a session names are not run' '
	cd r &&
	test_session t3 "
		echo 1 >one
		git add one
		git commit -qm one
		mkdir -p .git/hooks
		for h in reference-transaction post-index-change post-checkout pre-commit; do
			printf \"#!/bin/sh\ntouch \\\$HOME/hooked\n\" >.git/hooks/\$h
			chmod +x .git/hooks/\$h
		done
		git config core.fsmonitor \"touch \$HOME/hooked; false\"
		git config core.bare true
		git config core.worktree /tmp" &&
	rm -f "$HOME/aihome/hooked" &&
	git worktree add -q ../wt agent/t3 &&
	(cd ../wt && echo host >host && git add host && git commit -qm host) &&
	git worktree remove ../wt &&
	test_resume t3 "
		test ! -e \$HOME/hooked &&
		cat host >two" &&
	test_holds agent/t3:two host &&
	test ! -e hooked
'

test_that 'GT-01: hooks that were held and committed in a later run are run by no command of git' '
	test_enter hooks &&
	git config core.hooksPath .hooks &&
	echo a >a &&
	git add a &&
	git commit -qm base &&
	test_session h "
		echo 1 >one
		mkdir .hooks
		for h in post-checkout post-merge pre-commit reference-transaction; do
			printf \"#!/bin/sh\ntouch $HOME/ran\n\" >.hooks/\$h
			chmod +x .hooks/\$h
		done
		echo touch $HOME/ran >.envrc" &&
	test_resume h "
		git add -f -A
		git commit -q --no-verify -m all
		echo 2 >two
		git add two
		git commit -q --no-verify -m two
		git rm -rq --cached .hooks
		git commit -q --no-verify -m out
		git add -A
		git commit -q --no-verify -m in" &&
	test_resume h "mv .hooks .hooks2; mv .hooks2 .hooks; echo 3 >three" &&
	git rev-list --objects main..agent/h | (! grep -e hooks -e envrc) &&
	git ls-tree -r --name-only refs/agent/h/held | grep -c hooks | grep -x 4 &&
	git worktree add -q ../hwt agent/h &&
	git worktree remove ../hwt &&
	git switch -q agent/h &&
	git switch -q main &&
	git merge -q --no-edit agent/h &&
	git rebase -q --force-rebase HEAD~1 &&
	git log --format=%s | grep -x two &&
	test -e three &&
	test ! -e .hooks &&
	test ! -e "$HOME/ran"
'

# ---- secrets

find_secrets="grep -rl -e $T -e 'PRIVATE KEY'"

test_that 'SB-03: what has become a secret is hidden, and what was hidden stays so' '
	project p &&
	test_session s "
		ls -A . cache cache/deep >\$HOME/ls1
		echo 1 >one
		cat .env.local >\$HOME/local" &&
	grep LEVEL "$HOME/aihome/local" &&
	! grep -x .env "$HOME/aihome/ls1" &&
	rm .env &&
	echo "TOKEN=$T" >.env.local &&
	mkdir -p cache/more &&
	echo "TOKEN=$T" >cache/more/.env &&
	echo ok >cache/more/ok &&
	pem >cache/deep/id_rsa &&
	test_says "secrets kept out.*cache/more/.env" git agent resume s -- sh -c "
		ls -A . cache/more cache/deep >\$HOME/ls2
		$find_secrets . >\$HOME/found 2>/dev/null
		echo 2 >two" &&
	! grep -x -e .env -e .env.local -e id_rsa "$HOME/aihome/ls2" &&
	grep -x ok "$HOME/aihome/ls2" &&
	test ! -s "$HOME/aihome/found" &&
	git agent show s | grep "cache/more/.env" &&
	git agent show --json s | grep "\"cache/deep/id_rsa\"" &&
	test_prints "one\ntwo" git diff --name-only main agent/s &&
	test -s .env.local &&
	git agent resume -q s --expose cache/more/.env -- sh -c "test ! -e cache/more/.env"
'

test_that 'a secret that was shown stays shown' '
	project x &&
	git agent start -q --name s --expose .env -- true &&
	test_resume s "
		grep -q TOKEN .env &&
		test ! -e server.key"
'

test_that 'SB-03: secrets that were committed to the branch since are named as for a new session on it' '
	test_enter sec a &&
	test_session s "echo 1 >one" &&
	git agent resume s -- true 2>../err &&
	! grep "with secrets" ../err &&
	git worktree add -q ../wt agent/s &&
	(cd ../wt && echo "TOKEN=$T" >.env && pem >server.key && git add -f -A && git commit -qm host) &&
	git worktree remove ../wt &&
	git agent start --name other --base agent/s -- true 2>../err &&
	sed -n "s/^agent.other: //p" ../err | grep "with secrets" >../want &&
	grep "2 of them committed" ../want &&
	for i in 1 2; do
		git agent resume s -- true 2>../err &&
		sed -n "s/^agent.s: //p" ../err | grep "with secrets" | test_cmp ../want - || return 1
	done
'

test_done
