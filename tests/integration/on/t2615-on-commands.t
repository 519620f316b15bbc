#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine, by commands of the user'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
. "$TEST_SRCDIR/tests/lib/live.sh"
. "$TEST_SRCDIR/tests/lib/landing.sh"
trap end_ours EXIT

# what the host "box" is: another home on this machine, by a program that breaks as the file "breaks" says
far=$HOME/far
mkdir -p "$far" bin
git config -f "$far/.gitconfig" user.name Far
git config -f "$far/.gitconfig" user.email far@example.org
test_script bin/box '
request=$(echo "$4===" | tr -- -_ +/ | base64 -d 2>/dev/null)
breaks=$(cat "$BOX/breaks" 2>/dev/null)
[ -z "$breaks" ] || case $request in
*"${breaks#* }"*)
	echo x >>"$BOX/broke"
	[ "$(wc -l <"$BOX/broke")" -le "$(cat "$BOX/times")" ] || breaks= ;;
*) breaks= ;;
esac
export HOME="$BOX/far"
exec 3<&0
case ${breaks% *} in
cuts) { "$@" <&3 & } | head -c 30 ;;
drops) timeout 2 "$@" <&3 ;;
leaves) "$@" <&3 >/dev/null 2>&1 & ;;
paints) printf "git-agent-depot 1\n{\"error\": \"a\\\\u001b[2Jb\"}\n" ;;
"") exec "$@" ;;
esac
exit 0'
test_script bin/terminal 'exec script -qec "box $*" /dev/null'
export BOX="$HOME"
PATH=$HOME/bin:$PATH
test_settings "hosts:\n  box: {run: [box], terminal: [terminal]}\n  plain: {run: [box]}"

# breaks HOW WORD [TIMES]: the program does this to requests with the word, so often
breaks() {
	rm -f "$HOME/broke" &&
	echo "${3-1000}" >"$HOME/times" &&
	echo "$1 $2" >"$HOME/breaks"
}
whole() {
	rm -f "$HOME/breaks"
}
agree() {
	git agent list >/dev/null &&
	echo "$1" >>"$(dirname "$(dirname "$(dir_of x)")")/on-hosts"
}
ran() {
	test "$(cat "$far/aihome/ran" 2>/dev/null | wc -l)" = "$1"
}

test_that 'a host is reached by the commands of the settings' '
	make_repo p &&
	agree box &&
	git agent start --on box -d -n one -- sh -c "echo 1 >n; echo said" &&
	git agent wait one &&
	git agent list | grep "^one  *captured .* on box" &&
	git agent land one &&
	test_prints 1 cat n &&
	git agent drop one
'

test_that 'an answer that is cut is asked for again where that does no harm, and what runs, runs once' '
	make_repo again &&
	agree box &&
	for how in cuts leaves; do
		for what in open start list; do
			n=$how-$what &&
			rm -f "$far/aihome/ran" &&
			breaks $how "$what" 1 &&
			git agent start --on box -d -n "$n" -- sh -c "echo x >>\$HOME/ran; echo 1 >n" &&
			whole &&
			git agent wait "$n" &&
			ran 1 &&
			breaks $how list 1 &&
			git agent review "$n" | grep " n$" &&
			whole || exit 1
		done
	done
'

test_that 'what is cut every time is an error, though the program exits with 0' '
	make_repo cut &&
	agree box &&
	echo mine >>f &&
	git agent start --on box -d -n c -- sh -c "echo 1 >n; echo theirs >>f; sleep 1000" &&
	for how in cuts leaves; do
		breaks $how list &&
		test_fails 128 "git-agent does not answer on .box." git agent review c &&
		breaks $how diff &&
		test_fails 128 "" git agent diff c &&
		breaks $how logs &&
		test_fails 128 "" git agent logs c || exit 1
	done &&
	whole &&
	git agent stop -q c &&
	for how in cuts leaves; do
		for what in patch upload-pack; do
			breaks $how $what &&
			test_fails 128 "" git agent review c &&
			test_missing agent/c || exit 1
		done
	done &&
	whole &&
	git agent land c &&
	test_prints 1 cat n &&
	grep theirs f
'

test_that 'a connection that drops is no end of what runs there' '
	make_repo drops &&
	agree box &&
	git agent start --on box -d -n d -- sh -c "echo 1 >n; sleep 1000" &&
	for what in logs shell; do
		breaks drops $what &&
		case $what in
		logs) test_fails 128 "the connection to .box. broke" git agent logs -f d ;;
		shell) test_fails 128 "the connection to .box. broke" git agent shell d -- sleep 100 ;;
		esac || exit 1
	done &&
	whole &&
	git agent list | grep "^d  *running" &&
	git agent stop -q d
'

test_that 'who waits for a session hears of its end, though its host was silent in between' '
	make_repo waits &&
	agree box &&
	git agent start --on box -d -n w -- sh -c "until [ -e \$HOME/go ]; do sleep 0.1; done; exit 3" &&
	breaks cuts list &&
	test_fails 128 "does not answer on .box." git agent wait w &&
	whole &&
	test_expect_code 124 git agent wait --timeout 1 w &&
	breaks "" list &&
	{ git agent wait w 2>../said & } &&
	wait=$! &&
	test_wait_for "test -s $HOME/broke" &&
	breaks paints list &&
	test_wait_for "grep \"asked about again: on .box.: a.*b\" ../said" &&
	! grep -q "$(printf "\033")" ../said &&
	breaks cuts list &&
	test_wait_for "test -s $HOME/broke" &&
	>"$far/aihome/go" &&
	whole &&
	test_expect_code 3 wait "$wait"
'

test_that 'a start that is never answered says so, and its push is no start' '
	make_repo never &&
	agree box &&
	rm -f "$far/aihome/ran" &&
	breaks cuts receive-pack &&
	test_fails 125 "cannot push the base" git agent start --on box -d -n p -- true &&
	breaks cuts start &&
	test_fails 125 "git agent resume s. starts it" git agent start --on box -d -n s -- \
		sh -c "echo x >>\$HOME/ran" &&
	whole &&
	git agent wait s &&
	ran 1
'

test_that TTY 'on a terminal, too' '
	make_repo tty &&
	agree box &&
	git agent start --on box -d -n t -- sh -c "echo ready; read x; exit 3" &&
	breaks leaves attach &&
	$pty within=60 expect="the connection to '\''box'\'' broke" exit=128 -- git agent attach t &&
	whole &&
	git agent list | grep "^t  *running" &&
	git agent stop -q t
'

test_that TTY 'a terminal is attached by a command of its own' '
	make_repo attached &&
	agree box &&
	git agent start --on box -d -n a -- sh -c "echo ready; read x; echo got \$x; exit 3" &&
	$pty within=60 expect=ready send="word\n" expect="got word" exit=3 -- git agent attach a &&
	test_expect_code 3 git agent wait a
'

test_that TTY 'without a command for terminals there is none' '
	make_repo plain &&
	agree plain &&
	git agent start --on plain -d -n t -- sleep 1000 &&
	$pty within=60 expect="has no" exit=129 -- git agent attach t &&
	git agent stop -q t
'

test_that 'only the own settings name hosts, and what does not go together is refused' '
	make_repo names &&
	echo "hosts: {box: {run: [sh]}}" >.agentdev.yaml &&
	git add .agentdev.yaml &&
	git commit -qm settings &&
	test_fails 125 "hosts. is yours alone" git agent start --on box -d -- true &&
	git rm -qf .agentdev.yaml && git commit -qm none &&
	for bad in "ssh: x, run: [x]" "terminal: [x]" "scratch: /x"; do
		test_settings "hosts: {bad: {$bad}}" &&
		test_fails 129 "of the setting .hosts. has" git agent start --on bad -d -- true || exit 1
	done &&
	for bad in "engine: pbs" "sbatch: [script]" "scratch: x" "ssh: -x" "other: x"; do
		test_settings "hosts: {bad: {$bad}}" &&
		test_fails 128 "hosts. takes" git agent list || exit 1
	done
'

test_done
