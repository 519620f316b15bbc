#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine, by ssh'
# root's sshd wants a directory in /run
# shellcheck disable=SC2016
[ -n "${GA_ON-}" ] || [ "$(id -u)" != 0 ] || GA_ON=yes exec unshare -m sh -c '
	export GA_ON
	mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd && exec sh "$0"' "$0"
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
. "$TEST_SRCDIR/tests/lib/net-servers.sh"
. "$TEST_SRCDIR/tests/lib/live.sh"
. "$TEST_SRCDIR/tests/lib/landing.sh"
. "$TEST_SRCDIR/tests/lib/on.sh"
trap far_end EXIT

test_that FARSERVER 'nothing is sent before the user has agreed' '
	make_repo asked &&
	echo "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzzzzzzzzz" >.env &&
	git add -f .env &&
	git commit -qm env &&
	test_fails 125 "nobody has agreed to send this repository to .build." git agent start --on build -d -- true &&
	grep "in the history: .env" ../err &&
	test ! -e "$far/.local/share/git-agent" &&
	$pty expect="send it" send="n\n" exit=125 -- git agent start --on build -d -- true &&
	test ! -e "$far/.local/share/git-agent" &&
	$pty expect="send it" send="y\n" exit=0 -- git agent start --on build -d -n yes -- true &&
	git agent start --on build -d -n again -- true
'

test_that FARSERVER 'a session runs there, and its commits are reviewed and land here' '
	make_repo p &&
	agree build &&
	test_prints one git agent start --on build -d -n one -- sh -c "
		echo 1 >new
		git add new
		git commit -qm new
		echo 2 >loose" &&
	git agent wait one &&
	git agent list | grep "^one  *captured .* on build" &&
	git agent review one >../out &&
	grep "A.* new" ../out &&
	grep loose ../out &&
	git agent land one &&
	test_prints 1 cat new &&
	test_prints 2 cat loose &&
	git agent drop one &&
	test ! -e "$HOME/.local/state/git-agent"/*/on/one &&
	test -z "$(ls "$far"/.local/share/git-agent/on/*/trees/ | grep ^one-)"
'

test_that FARSERVER 'what is asked of a running session is done there' '
	make_repo q &&
	agree build &&
	git agent start --on build -d -n run -- sh -c "
		echo ready
		read line
		echo got \$line >got
		sleep 1000" >/dev/null &&
	test_wait_for "git agent logs run | grep ready" &&
	git agent list | grep "^run  *running .* on build" &&
	git agent send run "a \"b\" c" &&
	test_wait_for "git agent shell run -- cat got | grep \"got a .b. c\"" &&
	test_fails 128 "agent/run is running on .build." git agent review run &&
	test_fails 128 "agent/run is running on .build." git agent drop run &&
	git agent diff run >../out &&
	grep "+got a" ../out &&
	test_fails 129 "is for sessions on this machine" git agent refresh run &&
	$pty expect=ready sh="git agent stop run" exit=129 -- git agent attach run &&
	git agent list | grep "^run  *captured" &&
	git agent land run &&
	test -e got
'

test_that FARSERVER 'on a terminal it is attached, left and returned to, and summed up' '
	make_repo t &&
	agree build &&
	$pty expect=ready send="\x1cd" expect="returns to it" exit=0 -- \
		git agent start --on build -n t -- sh -c "echo ready; read x; echo \$x >x; exit 3" &&
	$pty expect=ready send="more\n" expect="1 commit, 1 file changed" exit=3 -- git agent attach t &&
	git agent diff t | grep "+more"
'

test_that FARSERVER 'a session is resumed there, and fetched anew' '
	make_repo u &&
	agree build &&
	git agent start --on build -d -n u -- sh -c "echo 1 >one" >/dev/null &&
	git agent wait u &&
	git agent review u | grep one &&
	git agent resume u sh -c "echo 2 >two" &&
	git agent wait u &&
	git agent review u | grep two
'

test_that FARSERVER 'uncommitted work is there, and what was done to it comes back as uncommitted changes' '
	make_repo w &&
	agree build &&
	line f 3 mine &&
	printf "\\0\\1" >bin &&
	echo u >untracked &&
	echo "TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345" >.env &&
	git rm -q --cached g &&
	rm g &&
	git status --porcelain >../before &&
	git agent start --on build -d -n w -- sh -c "
		test ! -e .env && test ! -e g && grep -q mine f &&
		sed -i 1s/.*/theirs/ f
		printf \"\\0\\2\" >bin
		echo more >>untracked
		echo n >new" >../out 2>../err &&
	grep "secrets stay here: .env" ../err &&
	git agent wait w &&
	git agent review w >../out &&
	git status --porcelain >../after &&
	test_cmp ../before ../after &&
	git agent land w &&
	test_prints n cat new &&
	grep theirs f &&
	grep mine f &&
	grep more untracked &&
	printf "\\0\\2" | cmp - bin &&
	git show HEAD --stat | grep new &&
	! git show HEAD | grep theirs &&
	git agent land --undo &&
	git status --porcelain >../after &&
	test_cmp ../before ../after
'

test_that FARSERVER 'a session that changed nothing but uncommitted work lands' '
	make_repo only &&
	agree build &&
	echo mine >>f &&
	git agent start --on build -d -n o -- sh -c "echo theirs >>f" >/dev/null &&
	git agent wait o &&
	git agent land o &&
	grep theirs f &&
	git diff --quiet --cached
'

test_that FARSERVER 'a host that does not answer leaves the session unknown' '
	make_repo v &&
	agree gone &&
	agree build &&
	test_fails 125 "cannot reach .gone." git agent start --on gone -d -- true &&
	git agent start --on build -d -n v -- true >/dev/null &&
	git agent wait v &&
	far_hang_up &&
	sed -i.bak "s/Host build/Host other/" "$HOME/.ssh/config" &&
	git agent list | grep "^v  *unknown" &&
	test_fails 128 "cannot ask .build. about agent/v" git agent review v &&
	mv "$HOME/.ssh/config.bak" "$HOME/.ssh/config" &&
	git agent list | grep "^v  *captured"
'

test_done
