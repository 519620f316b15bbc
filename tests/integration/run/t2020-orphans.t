#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a supervisor that is killed takes its sandbox with it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# Copies of its own, so that processes are told from those of other tests.
box=$TRASH/box
mkdir -p "$TRASH/bin" "$box/base"
cp "$TEST_BUILDDIR/git-agent-stage" "$TEST_BUILDDIR/git-agent-init" "$(command -v bwrap)" "$TRASH/bin"
cp "$(command -v sleep)" "$box/base/linger"
runctl="env TEST_BUILDDIR=$TRASH/bin $TEST_BUILDDIR/tests/helpers/runctl"
stat -c ':%d-%i:' "$TRASH"/bin/* "$box/base/linger" >"$TRASH/ids"
# shown through an overlay, its device differs
stat -c '%i:' "$box/base/linger" | sed 's/^/-/' >>"$TRASH/ids"

left() {
	stat -L -c ':%d-%i: %n' /proc/[0-9]*/exe 2>/dev/null | grep -F -f "$TRASH/ids"
}

# trials COUNT MAX-MS COMMAND: SIGKILL after a time that walks through 0..MAX-MS
trials() {
	seen=0 n=0
	while [ $n -lt "$1" ]; do
		sh -c "exec $3" </dev/null >/dev/null 2>&1 &
		pid=$!
		sleep "$(printf '0.%03d' $((n * 7919 % $2)))"
		! left >/dev/null || seen=$((seen + 1))
		kill -KILL $pid
		wait $pid
		test_wait_for '! left >/dev/null' || {
			left
			return 1
		}
		n=$((n + 1))
	done
	echo "$seen of $1 were killed with a sandbox there"
	[ $seen -gt 0 ]
}

test_that 'RS-01: a supervisor that is killed while the sandbox starts takes it along' '
	trials 40 20 "$runctl session $box ./linger 1000"
'
test_that 'so does one that is killed around the start of the command' '
	trials 20 80 "$runctl session $box ./linger 1000"
'

test_that 'git agent start that is killed leaves no process' '
	cp "$TEST_BUILDDIR/git-agent" "$TEST_BUILDDIR/git-agent-main" "$TRASH/bin" &&
	git init -q repo &&
	(
		cd repo &&
		test_empty 1 &&
		PATH=$TRASH/bin:$PATH &&
		trials 40 20 "git-agent start -q -- sleep 1000" &&
		trials 20 80 "git-agent start -q -- sleep 1000"
	)
'

test_that 'a start that fails leaves no process, wherever it was begun' '
	git init -q none &&
	(
		cd none &&
		echo x >x &&
		PATH=$TRASH/bin:$PATH &&
		test_fails 2 "not committed" git-agent start --dirty refuse true
	) &&
	git init -q away &&
	(
		cd away &&
		test_empty 1 &&
		mkdir "$HOME/tree" &&
		git config core.worktree "$HOME/tree" &&
		PATH=$TRASH/bin:$PATH &&
		test_prints "$HOME/tree" git-agent start -q -- pwd
	) &&
	test_wait_for "! left >/dev/null"
'

test_that 'git-agent-main tells a stage what git-agent did not tell it' '
	cd repo &&
	PATH=$TRASH/bin:$PATH &&
	for how in fail kill; do
		GIT_AGENT_FAULT=run:teller:$how git-agent start -qn sh-1 --base HEAD -- sh -c "echo x >x" 2>err &&
		test ! -s err &&
		test_holds agent/sh-1:x x &&
		git agent drop sh-1 --force || return 1
	done &&
	test_wait_for "! left >/dev/null"
'

test_that 'a supervisor that is killed takes a command with processes of its own along' '
	{
		$runctl session $box sh -c "
		setsid ./linger 1000 &
		./linger 1000 &
		echo ready
		./linger 1000" >out </dev/null &
	} &&
	pid=$! &&
	test_wait_for "grep -q ready out" &&
	left &&
	kill -KILL $pid &&
	test_expect_code 137 wait $pid &&
	test_wait_for "! left >/dev/null"
'

test_done
