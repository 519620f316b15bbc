#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Twenty sessions at once on one repository, killed with SIGKILL anywhere (supervisor, stage, bwrap,
# init, agent, a git of theirs), captured, landed, dropped and restored in random order: nothing
# written gets lost, and nothing stays behind.
#
#     SEED=123 TIMES=2 make check T=tests/integration/session/t1210-chaos.t
#
# The seed decides what is tried, not who is faster. Each of the twenty has TIMES sessions one after another.
test_description='twenty sessions at once, killed at random'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

seed=${SEED:-$(date +%s)}

test_that "no change is lost: SEED=$seed" '
	git init -q r &&
	for i in 1 2 3 4 5 6 7 8; do echo $i >r/f$i; done &&
	git -C r add -A &&
	git -C r commit -qm base &&
	test_aihome &&
	python3 "$TEST_SRCDIR/tests/lib/chaos.py" "$PWD/r" "$seed" 20 "${TIMES:-1}"
'

test_that 'no process and no mount is left' '
	ours="grep -l -a \"$HOME/r\" /proc/[0-9]*/cmdline 2>/dev/null | grep -v -x /proc/self/cmdline" &&
	test_wait_for "! $ours | xargs -r grep -l -a git-agent 2>/dev/null | grep ." &&
	! grep -F "$HOME" /proc/self/mountinfo
'

test_that 'no lock is left, the repository is whole' '
	# the files that git-agent locks with flock(2) stay
	! find r/.git -name "*.lock" ! -path "r/.git/git-agent/*" | grep . &&
	find r/.git/git-agent "$HOME/.local/state/git-agent" -name work -prune -o -name "*lock" -type f -print >locks &&
	while read -r f; do
		flock -n "$f" true || {
			echo "$f is locked"
			exit 1
		}
	done <locks &&
	git -C r fsck --strict --no-dangling >out 2>&1 &&
	! grep -v -e "^notice" -e "^Checking" out &&
	test -z "$(git -C r status --porcelain)"
'

test_that 'what is listed can be dropped, and then nothing of it is there' '
	cd r &&
	git agent list --json >../list &&
	python3 -c "
import json
for s in json.load(open(\"../list\")):
    assert s[\"state\"] != \"running\", s
    print(s[\"name\"])" >../names &&
	while read -r n; do git agent drop --force "$n" || exit 1; done <../names &&
	! git for-each-ref --format="%(refname)" refs/heads/agent | grep . &&
	! ls .git/worktrees 2>/dev/null | grep . &&
	test_inside "echo after >after" &&
	git agent list | grep captured
'

test_that 'an interrupted session can be interrupted any number of times' '
	test_enter k &&
	echo 1 >f &&
	test_commit 1 &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name a -- sh -c "echo 2 >f"
		test $? = 137
	} &&
	dir=$(test_dir a) &&
	sed -i "/finished = /d" "$dir/session" "$dir/session.old" &&
	for i in 1 2 3; do
		GIT_AGENT_FAULT=capture:begin:kill git agent capture a
		test $? = 137 || exit 1
	done &&
	git agent list | grep captured &&
	git show agent/a:f | grep -x 2
'

# A process that is traced is not gone before its tracer has seen that, nor is process 1 before it.
# busy DIRECTORY NAME: a session of a new repository that has written f, with its supervisor in $sup, its directory
# in $dir and its sandbox in $pid
busy() {
	test_enter "$1" &&
	test_empty 1 &&
	{
		git-agent start -q --name "$2" -- sh -c "
		echo 2 >f
		touch ready
		exec sleep 600" &
	} &&
	sup=$! &&
	test_wait_for "git agent shell $2 -- test -e ready" &&
	dir=$(test_dir "$2") &&
	pid=$(git config -f "$dir/session" session.pid)
}

cat >hold.py <<\END
import ctypes, os, sys, time
assert ctypes.CDLL(None, use_errno=True).ptrace(0x4206, int(sys.argv[1]), 0, 0) == 0, ctypes.get_errno()
open(sys.argv[2], "w").close()
while not os.path.exists(sys.argv[3]): time.sleep(0.01)
END
test_that 'who is asked for a session while another command waits for the end of its sandbox waits as well' '
	busy d s &&
	{ python3 ../hold.py "$(cut -d" " -f1 "/proc/$pid/task/$pid/children")" ../held ../go & } &&
	hold=$! &&
	test_wait_for "test -e ../held" &&
	locked=":$(stat -c %i "$dir/lock") " &&
	kill -9 "$sup" &&
	test_wait_for "! grep \"$locked\" /proc/locks" &&
	{ git agent list >../list & } &&
	list=$! &&
	test_wait_for "grep \"$locked\" /proc/locks" &&
	{ git agent capture s 2>../err & } &&
	capture=$! &&
	sleep 0.5 &&
	touch ../go &&
	wait $capture &&
	wait $list &&
	git show agent/s:f | grep -x 2
'

test_that 'one that another command captures is waited for, however long that takes' '
	cd k &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name slow -- sh -c "echo 4 >f"
		test $? = 137
	} &&
	{ GIT_AGENT_FAULT=capture:imported:stop git-agent list >../list & } &&
	list=$! &&
	test_wait_for "grep -q \"^State:.T\" /proc/$list/status" &&
	{ git agent capture slow 2>../err & } &&
	capture=$! &&
	test_wait_for "grep \"being captured by another command\" ../err" &&
	kill -CONT $list &&
	wait $capture &&
	wait $list &&
	git show agent/slow:f | grep -x 4
'

test_that 'a merge that waits for the user is refused, and one that another git makes is waited for' '
	test_enter w &&
	echo 1 >f &&
	test_commit 1 &&
	git rev-parse HEAD >.git/MERGE_HEAD &&
	test_fails 125 "a merge is in progress" git agent start -q -- true &&
	git agent start -q --dirty ignore -- true &&
	rm .git/MERGE_HEAD &&
	git switch -q -c other &&
	echo 2 >g &&
	git add g &&
	git commit -qm 2 &&
	git switch -q - &&
	for i in 1 2 3 4 5; do
		git merge -q --no-ff -m "merge $i" other &
		merge=$!
		test_session s$i "echo $i >n" || exit 1
		wait $merge &&
		git agent land s$i &&
		git reset -q --hard HEAD~2 || exit 1
	done
'

test_that 'the lock of a ref that was killed is removed, and one that comes and goes is not minded' '
	cd k &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start --name b -- sh -c "echo 3 >f"
		test $? = 137
	} &&
	mkdir -p .git/refs/agent/b/heads/of &&
	: >.git/refs/heads/agent/b.lock &&
	: >.git/refs/agent/b/held.lock &&
	: >.git/refs/agent/b/stash.lock &&
	: >.git/refs/agent/b/heads/of/agent.lock &&
	git agent capture b &&
	git show agent/b:f | grep -x 3 &&
	! find .git/refs -name "*.lock" | grep .
'

test_that 'one that another git has for some seconds, as on a busy disk, is waited for' '
	cd k &&
	: >.git/packed-refs.lock &&
	: >.git/refs/agent/b/base.lock &&
	{
		{
			sleep 2
			rm .git/packed-refs.lock .git/refs/agent/b/base.lock
		} &
	} &&
	git agent drop --force b &&
	! git for-each-ref refs/agent/b/ | grep .
'

test_done
