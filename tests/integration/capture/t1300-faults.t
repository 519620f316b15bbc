#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='faults: killed at any point, damaged state, no space, no permission'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_that 'make a repository' '
	test_enter r &&
	echo a >a &&
	echo b >b &&
	test_commit base
'

# What the session of every fault below does: commits one change, leaves another.
agent='echo 1 >one && git add one && git commit -qm one && echo 2 >two && echo envrc >.envrc && rm b && echo log >x.log'

test_that 'a session without any fault gives the result that the others must give' '
	cd r &&
	test_session good "$agent" &&
	git rev-parse agent/good^{tree} refs/agent/good/held^{tree} >../want &&
	git log --format=%s agent/good >../want.log
'

same_result() {
	git rev-parse "agent/$1^{tree}" "refs/agent/$1/held^{tree}" >../got &&
	test_cmp ../want ../got &&
	git log --format=%s "agent/$1" | sed "s/$1/good/" >../got.log &&
	test_cmp ../want.log ../got.log &&
	test_state $1 captured &&
	test ! -e "$(git rev-parse --git-common-dir)/worktrees/agent-$1" &&
	git fsck --connectivity-only &&
	! find "$(git rev-parse --git-common-dir)/objects" -name "*.keep" -o -name "tmp_objdir*" |
		grep .
}

# killed POINT NAME [COMMANDS]: a session of this agent, killed there
killed() {
	test_expect_code 137 env GIT_AGENT_FAULT="$1:kill" git-agent start -q --name "$2" -- sh -c "${3:-$agent}"
}

for point in capture:begin capture:export objects:migrate capture:imported capture:upper capture:tree capture:commit \
	capture:rewrite capture:report capture:before-refs capture:after-refs capture:before-state; do
	test_that "OV-24: a capture that is killed at $point is completed by the next list" '
		cd r &&
		n=k-${point#*:} &&
		killed $point $n &&
		test_wait_for "git agent list 2>../err && grep \"interrupted; capturing\" ../err" &&
		same_result $n &&
		git agent list 2>../err &&
		test ! -s ../err
	'
done

# An ordinary user cannot look into a process that has made a user namespace.
test_that ROOT 'a process that outlives a killed capture does not hold the lock of the session' '
	cd r &&
	{
		GIT_AGENT_FAULT=capture:answered:stop git-agent start -q --name answered -- sh -c "$agent" &
	} &&
	pid=$! &&
	test_when_finished "kill -9 $pid || :" &&
	children=/proc/$pid/task/$pid/children &&
	test_wait_for "grep -sl \"^State:.T\" \$(sed \"s,[0-9][0-9]*,/proc/&/status,g\" $children) >../stopped" &&
	fds=$(dirname "$(cat ../stopped)")/fd &&
	ls -l "$fds" >../fds &&
	grep "pipe:" ../fds &&
	! grep "/lock\$" ../fds &&
	ls -l /proc/$pid/fd | grep "/sessions/answered/lock\$" &&
	kill -9 $pid &&
	test_expect_code 137 wait $pid &&
	test_says "interrupted; capturing" git agent list &&
	same_result answered
'

# not_synced NAME PREFIX: twice, since the refs stand when it is done again
not_synced() {
	for again in 1 2; do
		test_expect_code 128 env GIT_AGENT_FAULT=sync:fail git agent capture $1 >../out 2>../err &&
		test ! -s ../out &&
		grep "^git-agent: $2cannot sync .*/\(refs\|logs\)\(/.*\)\?.: Input/output error\$" ../err &&
		grep -c "^git-agent: " ../err | grep -x 1 &&
		grep "^hint: .*git agent capture $1" ../err &&
		dir=$(test_dir $1) &&
		test "$(git config -f "$dir/session" session.state)" = running &&
		! ls "$dir" | grep tmp || return 1
	done
}

test_that 'a ref that cannot be synced is not captured, and is synced by the next capture' '
	cd r &&
	killed capture:begin unsynced &&
	not_synced unsynced "" &&
	git rev-parse --verify agent/unsynced &&
	git agent capture unsynced &&
	same_result unsynced
'

test_that 'a ref that git wrote and that cannot be synced is not captured either' '
	cd r &&
	killed capture:begin empty "git commit -q --allow-empty -m empty" &&
	not_synced empty "cannot save session .empty.: " &&
	test "$(git log -1 --format=%s agent/empty)" = empty &&
	git agent capture empty &&
	test_state empty captured
'

test_that 'a capture that is killed while refs are synced is completed by the next list' '
	cd r &&
	killed sync k-sync &&
	test_says "interrupted; capturing" git agent list >../list &&
	same_result k-sync
'

test_that 'refs of a start that cannot be synced are named, and the work is captured' '
	cd r &&
	test_expect_code 128 env GIT_AGENT_FAULT=sync:fail git agent start --name slow -- sh -c "
		sleep 1.3
		exit 3" 2>../err &&
	grep "^git-agent: cannot sync .*: Input/output error" ../err &&
	git agent show --json slow | grep "\"exit_status\": 3"
'

test_that 'a capture that is done again gives the same commits, and knows the exit status' '
	cd r &&
	killed capture:after-refs again "$agent; exit 7" &&
	git for-each-ref refs/heads/agent/again refs/agent/again | grep -v report >../before &&
	grep refs/agent/again/held ../before &&
	now=$(date +%s) &&
	test_wait_for "[ \$(date +%s) != $now ]" &&
	git agent list &&
	git for-each-ref refs/heads/agent/again refs/agent/again | grep -v report >../after &&
	test_cmp ../before ../after &&
	git agent show --json again | grep "\"exit_status\": 7"
'

test_that 'a lock of a git is waited for, and one that nobody holds is removed or named' '
	cd r &&
	killed capture:before-refs locked &&
	lock=$PWD/.git/refs/agent/locked/held.lock two=$PWD/.git/packed-refs.lock &&
	test_when_finished "rm -f \"$two\"" &&
	: >"$lock" &&
	: >"$two" &&
	{
		while test -e "$two"; do
			: >"$lock"
			chmod 600 "$lock"
			sleep 0.05
		done &
	} &&
	busy=$! &&
	test_expect_code 128 git agent capture locked 2>../err &&
	rm "$two" &&
	wait $busy &&
	grep "cannot update refs: .*$lock" ../err &&
	grep "^hint: if no other git is running in this repository: rm .*$lock; .*git agent capture locked" ../err &&
	test -e "$lock" &&
	git agent capture locked &&
	same_result locked &&
	test ! -e "$lock"
'

test_that 'a state file that is damaged beyond repair is named, and stops no other session' '
	cd r &&
	dir=$(test_dir k-tree) &&
	echo garbage >"$dir/session" &&
	rm -f "$dir/session.old" &&
	test_expect_code 128 git agent list >../list 2>../err &&
	grep good ../list &&
	grep "hint: .*git agent drop --force k-tree" ../err &&
	test_expect_code 128 git agent list --json >../list &&
	grep "\"name\": \"good\"" ../list &&
	test_must_fail git agent show k-tree &&
	git agent drop --force k-tree &&
	git agent list 2>../err &&
	test ! -s ../err
'

test_that 'a state file that is gone is named, and the name of its session stays taken' '
	cd r &&
	dir=$(test_dir k-upper) &&
	rm "$dir"/session* &&
	test_expect_code 128 git agent list >../list 2>../err &&
	grep good ../list &&
	! grep k-upper ../list &&
	grep "state file of session .k-upper. is gone" ../err &&
	grep "hint: .*git agent drop --force k-upper" ../err &&
	test_fails 128 "is gone" git agent show k-upper &&
	test_expect_code 125 git agent start --name k-upper true &&
	test -e "$dir/upper/two" &&
	git agent drop --force k-upper &&
	git agent list 2>../err &&
	test ! -s ../err
'

test_that ROOT 'a start without space left says so, and leaves nothing' '
	mkdir tiny &&
	mount -t tmpfs -o size=64k,mode=700 tmpfs tiny &&
	test_when_finished "cd /; umount \"$HOME/tiny\"" &&
	head -c 40000 /dev/zero >tiny/fill &&
	cd r &&
	test_expect_code 125 env XDG_STATE_HOME="$HOME/tiny" git agent -c disk_free=0 start --name tiny true 2>../err &&
	grep -i "no space left" ../err &&
	grep "^hint: free some space, or set XDG_STATE_HOME" ../err &&
	test_must_fail git rev-parse --verify -q refs/agent/tiny/base
'

test_that 'a start that is killed before the agent ran leaves nothing' '
	cd r &&
	killed start:prepared early true &&
	git agent list >../list 2>../err &&
	! grep early ../list &&
	test_must_fail git rev-parse --verify -q agent/early &&
	git agent start --name early -- true
'

test_that 'a session whose running state was lost in a power cut is captured' '
	cd r &&
	killed capture:begin cut &&
	dir=$(test_dir cut) &&
	rm -f "$dir/session.old" &&
	git config -f "$dir/session" session.state new &&
	test_says "interrupted; capturing" git agent list &&
	same_result cut
'

test_that NOT_ROOT 'a state directory that is not writable is named' '
	cd r &&
	mkdir ../ro &&
	chmod 555 ../ro &&
	test_fails 125 "ro" env XDG_STATE_HOME="$HOME/ro" git agent start -- true &&
	grep "hint: .*XDG_STATE_HOME" ../err &&
	test "$(wc -l <../err)" = 2
'

test_that 'refs of earlier sessions are kept where another state directory is used' '
	cd r &&
	git agent start -- printf x &&
	test_session lost "echo 1 >lost" &&
	git branch -m agent/lost elsewhere &&
	git for-each-ref refs/agent >../before &&
	git agent -c state_dir="$HOME/other" start -- printf x &&
	git agent -c state_dir="$HOME/other" list | grep "^printf-2 " &&
	test_fails 125 "session .lost. left refs" git agent -c state_dir="$HOME/other" start --name lost -- true &&
	grep "hint: choose another --name" ../err &&
	test_expect_code 125 git agent -c state_dir="$HOME/other" start --dry-run --name lost -- true &&
	git agent -c state_dir="$HOME/other" drop printf-2 &&
	git for-each-ref refs/agent >../after &&
	test_cmp ../before ../after
'

test_that 'a state directory that others can write is refused' '
	cd r &&
	mkdir -p ../open/git-agent &&
	chmod 777 ../open &&
	test_fails 125 "written by everybody" env XDG_STATE_HOME="$HOME/open" git agent start -- true &&
	grep "hint: chmod" ../err
'

test_that ROOT 'OV-23: a file system that cannot hold an upper layer is refused' '
	cd r &&
	mkdir ../fat &&
	test_when_finished "cd /; umount \"$HOME/fat\"" &&
	mkdir ../l ../u ../w &&
	mount -t overlay overlay -o lowerdir=../l,upperdir=../u,workdir=../w ../fat &&
	test_expect_code 125 env XDG_STATE_HOME="$HOME/fat" git agent start --name fat -- true 2>../err &&
	grep -i "overlay\|layer" ../err &&
	grep "hint: .*XDG_STATE_HOME\|hint: .*state" ../err &&
	XDG_STATE_HOME="$HOME/fat" git agent list >../list &&
	test ! -s list
'

test_that 'OV-13: a session that fills the disk is ended before it is full, and captured' '
	cd r &&
	free=$(df -B1 --output=avail "$HOME" | tail -n 1) &&
	least=$(((free >> 20) - 400))MiB &&
	test_expect_code 129 git agent -c disk_free=$least start --name filler -- sh -c "
		echo w >kept
		fallocate -l 800M \$HOME/filler
		sleep 1000" 2>../err &&
	rm "$HOME/aihome/filler" &&
	grep "session incomplete: it was ended when less than $least were free" ../err &&
	test_holds agent/filler:kept w &&
	git agent show --json filler | grep "ended when less than" &&
	git agent drop --force filler &&
	test_fails 125 "less than 16TiB is free" git agent -c disk_free=16TiB start --name never -- true &&
	grep "hint: .*disk_free" ../err &&
	test_must_fail git agent show never
'

test_that ROOT 'RS-03: a capture without space left says so and loses nothing, and the next succeeds' '
	mkdir small &&
	mount -t tmpfs -o size=3m tmpfs small &&
	test_when_finished "cd /; umount \"$HOME/small\"" &&
	cd small &&
	test_enter r &&
	git config user.name x &&
	git config user.email x@y &&
	echo a >a &&
	git add a &&
	git commit -qm a &&
	test_must_fail git agent -c disk_free=0 start --name big -- sh -c "
		head -c 20000000 /dev/urandom >big
		echo s >s" 2>../err &&
	grep -i "no space left" ../err &&
	grep "hint: free some space first; .*git agent capture big" ../err &&
	git agent list 2>/dev/null | grep "^big .*interrupted" &&
	git status --porcelain &&
	mount -o remount,size=80m "$HOME/small" &&
	git agent capture big &&
	test "$(git cat-file -s agent/big:big)" = 20000000 &&
	git fsck --connectivity-only
'

test_that 'SB-24: a start without user namespaces says so, with the remedy' '
	cd r &&
	test_expect_code 125 strace -f -qq -o /dev/null -e trace=unshare -e inject=unshare:error=EPERM \
		git agent start --name ns -- true 2>../err &&
	grep -i "user namespace" ../err &&
	grep "^hint: " ../err &&
	git agent list >../list &&
	! grep "^ns " ../list
'

test_done
