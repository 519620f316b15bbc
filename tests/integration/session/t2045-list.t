#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the list says what each session does now'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
test_use landing
own_programs

# says NAME TEXT: start a session whose program writes TEXT, as printf has it, and wait until it has
says() {
	git agent start -qd -n "$1" -- sh -c "printf '$2'; echo done; sleep 1000" &&
	test_wait_for "git agent logs $1 | grep -q done"
}

test_that 'a session asks after a bell or a notification, until it is typed to' '
	make_repo asks &&
	says bell "\\a" &&
	says osc9 "\\033]9;look\\a" &&
	says osc777 "\\033]777;notify;a;b\\033\\\\" &&
	says title "\\033]0;a title\\a" &&
	says progress "\\033]9;4;1;50\\a" &&
	git agent list >../got &&
	test "$(grep -c "asks?" ../got)" = 3 &&
	grep "^title .* running" ../got &&
	grep "^progress .* running" ../got &&
	running bell "run[\"asks\"]" | grep True &&
	git agent send bell yes &&
	test_wait_for "git agent list | grep \"^bell .* running\"" &&
	git agent stop bell osc9 osc777 title progress
'

test_that 'a landing that waits is shown, with what finishes it' '
	make_repo waits &&
	session s "line f 2 agent" &&
	line f 2 mine &&
	git commit -qam mine &&
	test_expect_code 4 git agent land s &&
	git agent list | grep "^s  *conflicts .* 1 commit, 1 file, 1 behind" &&
	$pty expect="next: git agent land --continue s, or --abort" exit=0 -- git agent list &&
	git add f &&
	git agent list | grep "^s  *landing " &&
	git agent land --abort &&
	git agent list | grep "^s  *captured "
'

test_that '--watch shows what changes, and needs a terminal' '
	make_repo watched &&
	says w x &&
	test_fails 129 "shows the sessions on a terminal" git agent list --watch &&
	$pty expect=running sh="git agent stop -q w" expect="captured" \
		sh="git agent start -q -n later -- sh -c \"echo 1 >n\"" expect="later" send="\x03" exit=130 -- \
		git agent list --watch &&
	$pty expect=later close -- sh -c "
		trap \"\" HUP
		git-agent list --watch &
		echo \$! >../pid
		read wait" &&
	git agent start -q -n last -- true &&
	test_wait_for "! kill -0 $(cat ../pid)"
'

test_done
