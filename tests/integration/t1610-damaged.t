#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions whose refs or objects are damaged or gone, and a gc of the user'\''s'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	git init -q "$1" && (cd "$1" && echo a >a && echo ".*.swp" >.gitignore && git add -A && git commit -qm base)
}
state() {
	echo "$HOME/.local/state/git-agent/$(head -n 1 .git/git-agent/id)"
}
prune() {
	git reflog expire --expire=now --all && git gc -q --prune=now
}

test_expect_success 'a gc that prunes all at once keeps what a small capture has written' '
	make_repo beside && cd beside &&
	{ GIT_AGENT_FAULT=capture:before-refs:stop "$GIT_AGENT" start -q --name b -- sh -c "echo b >b" & pid=$!; } &&
	test_wait_for "grep \"^State:.*stopped\" /proc/$pid/status" &&
	prune &&
	kill -CONT $pid &&
	wait $pid &&
	test "$(git show agent/b:b)" = b &&
	git fsck --strict &&
	prune &&
	test "$(git show agent/b:b)" = b &&
	test -z "$(find .git/objects -name "*.keep")"
'

test_expect_success 'a start that was killed while its state was first written leaves a name that can be used' '
	make_repo name && cd name && git agent start -q --name first -- true &&
	for n in 0 10 300; do
		s=$(state)/sessions/n$n && mkdir -p "$s/upper" "$s/git" && : >"$s/lock" &&
		head -c $n "$(state)/sessions/first/session" >"$s/session" || exit 1
	done &&
	git agent list >../out && test "$(wc -l <../out)" = 1 &&
	for n in 0 10 300; do
		git agent start -q --name n$n -- sh -c "echo $n >f" && test "$(git show agent/n$n:f)" = $n || exit 1
	done &&
	s=$(state)/sessions/mine && mkdir -p "$s/upper" "$s/git" && : >"$s/lock" && echo x >"$s/upper/x" && : >"$s/session" &&
	test_expect_code 125 git agent start --name mine -- true && test -e "$s/upper/x"
'

test_done
