#!/bin/sh
# SPDX-License-Identifier: MIT

test_description='long steps say on a terminal how far they are, as git does, and nowhere else'

. "${TEST_SRCDIR:?}/tests/lib/test-lib.sh"
require_sandbox

pty=$TEST_BUILDDIR/tests/helpers/ptydrive

# on a terminal, with what git agent is given, and the delay of git's variable
on_terminal() {
	delay=$1
	shift
	GIT_PROGRESS_DELAY=$delay "$pty" within=60 exit=0 -- git agent "$@" >../seen
}
work='mkdir d && for i in 1 2 3 4 5 6 7 8 9; do echo $i >d/$i; done'
# new_repo NAME: a repository with these files, of which there is no base tree yet
new_repo() {
	test_enter "$1" &&
	eval "$work" &&
	git add d &&
	git commit -qm d
}

test_that TTY 'the first base tree counts its files' '
	new_repo first &&
	on_terminal 0 start --name one -- true &&
	grep "Updating files: 100% (9/9), done\." ../seen &&
	on_terminal 0 start --name two -- true &&
	! grep "Updating files" ../seen
'

test_that TTY 'a capture counts files and the objects of the agent' '
	test_enter r a &&
	on_terminal 0 start --name shown -- sh -c "
		$work &&
		git add d &&
		git commit -qm nine &&
		rm a" &&
	grep "Capturing files: 1$(printf "\r")" ../seen &&
	grep "Capturing files: [0-9][0-9]*, done\\." ../seen &&
	grep "Reading the agent.s objects: *[0-9]*% ([0-9]*/[0-9]*)" ../seen &&
	grep "Reading the agent.s objects: 100% (\([0-9]*\)/\1), done\\." ../seen
'

test_that TTY '-q shows no progress' '
	cd r &&
	on_terminal 0 start -q --name quiet -- sh -c "
		$work &&
		git add d &&
		git commit -qm nine" &&
	! grep -e Capturing -e Reading ../seen &&
	new_repo ../hushed &&
	on_terminal 0 start -q --name one -- true &&
	! grep . ../seen
'

test_that 'without a terminal there is no progress' '
	cd r &&
	GIT_PROGRESS_DELAY=0 git agent start --name piped -- sh -c "$work" >../seen 2>&1 &&
	! grep -e Capturing -e Reading ../seen &&
	git cat-file -e agent/piped:d/9
'

test_that '-v shows progress without a terminal, and with -q too' '
	cd r &&
	export GIT_PROGRESS_DELAY=0 &&
	git agent start -v -q --base main --name told -- sh -c "$work" >../seen 2>&1 &&
	grep "Capturing files: [0-9][0-9]*, done\." ../seen &&
	test_must_fail env GIT_AGENT_FAULT=capture:begin:fail git agent start -q --name cut -- sh -c "$work" &&
	git agent capture -v cut >../out 2>../seen &&
	grep "Capturing files: [0-9][0-9]*, done\." ../seen &&
	! grep Capturing ../out
'

test_that TTY 'fetch counts the objects of the agent' '
	git init -q --bare far &&
	cd r &&
	git remote add far ../far &&
	git push -q far main &&
	git agent push far shown &&
	git clone -q --no-local --single-branch -b main ../far ../near &&
	cd ../near &&
	on_terminal 0 fetch origin shown &&
	grep "Reading the agent.s objects: 100% (\([0-9]*\)/\1), done\\." ../seen
'

test_done
