#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='commands beside the agent: setup, services, finish'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
own_programs

# settings LINE...
settings() {
	printf '%s\n' "$@" | test_settings
}
repo() {
	test_enter "$1" &&
	echo ignored >.gitignore &&
	echo a >a &&
	test_commit 1
}
events() {
	git agent show --journal --json "$1" | grep "\"event\":[ ]*\"$2\""
}
# a command that waits for a file
wait_for() {
	echo "while [ ! -e $1 ]; do sleep 0.05; done"
}

test_that 'setup runs before the agent, in the session and at its root' '
	repo r &&
	mkdir sub ignored &&
	echo host >ignored/f &&
	settings "setup:" "- pwd >order; test ! -e agent" "- |" "  echo two >>order" \
		"  echo mine >ignored/f; echo \"\$GIT_AGENT_SESSION\" >>order" &&
	cd sub &&
	git agent start -n s -- sh -c "
		touch ../agent
		cat ../order ../ignored/f" >../../out 2>../../err &&
	test_prints "$HOME/r\ntwo\ns\nmine" cat ../../out &&
	test "$(cat ../ignored/f)" = host &&
	grep "^== setup: pwd >order; test ! -e agent$" ../../err &&
	git show agent/s:order &&
	test "$(events s setup | grep -c "\"end\":\"exited\"")" = 2
'

test_that 'setup writes to standard error and to the recording, and reads none of the agent'\''s input' '
	cd r &&
	settings "setup: [\"cat; echo out; echo err >&2\"]" &&
	echo input | git agent start -n io -- cat >../out 2>../err &&
	test_prints input cat ../out &&
	grep -x out ../err &&
	grep -x err ../err &&
	git agent show --text io >../text &&
	grep "== setup: cat; echo out" ../text &&
	grep -x out ../text &&
	echo input | git agent start -q -n quiet -- cat >../out 2>../err &&
	test_prints input cat ../out &&
	test ! -s ../err
'

test_that 'a setup command that fails stops the start and leaves no session' '
	cd r &&
	settings "setup: [\"touch first\", \"echo why >&2; false; touch never\", \"touch last\"]" &&
	test_fails 125 "setup: .echo why >&2; false; touch never. ended with status 1$" \
		git agent start -n bad -- touch agent >../out &&
	grep "^why$" ../err &&
	grep "^hint:.*--no-setup" ../err &&
	test_expect_code 128 git agent show bad &&
	test -z "$(git for-each-ref "refs/*agent/bad*")" &&
	git agent start -q -n bad --no-setup -- sh -c "
		test ! -e first &&
		touch agent" &&
	git show agent/bad:agent
'

test_that 'a setup that takes too long, or is interrupted, stops the start' '
	cd r &&
	settings "setup: [\"sleep 1000\"]" "limits: {setup: 1s}" &&
	test_fails 125 "took longer than 1s (limits.setup)" git agent start -n slow -- touch agent &&
	settings "setup: [\"echo rea\\\"\\\"dy; sleep 1000\"]" &&
	$pty expect=ready send="\x03" expect="was interrupted" exit=125 mode=cooked -- \
		git-agent start -n slow -- touch agent &&
	test_expect_code 128 git agent show slow &&
	test_wait_for "! ours"
'

test_that 'a service is ready before the agent runs, runs beside it, and ends after it' '
	cd r &&
	settings "services:" "  web:" "    ready: test -e up" "    command: |" \
		"      echo listens; echo up >up" \
		"      trap \"echo bye; exit 0\" TERM; while :; do sleep 0.1; done" &&
	git agent start -n serve -- sh -c "
		cat up
		ps ax -o args | grep -c \"[e]cho listens\"" >../out 2>../err &&
	test_prints up sed -n 1p ../out &&
	! sed -n 2p ../out | grep -x 0 &&
	grep "== service web: until test -e up" ../err &&
	git agent logs --service web serve >../log &&
	test_prints listens sed -n 1p ../log &&
	grep -x bye ../log &&
	events serve service | grep "\"end\":\"runs\"" &&
	events serve service | grep "\"end\":\"ended\"" &&
	test_wait_for "! ours"
'

test_that 'a service that ends early or is never ready stops the start, with what it wrote last' '
	cd r &&
	settings "services:" "  web: {command: \"echo first; echo no such port >&2; exit 3\", ready: \"false\"}" &&
	test_fails 125 "service .web. ended with status 3 before it was ready" git agent start -n down -- touch agent &&
	grep "^no such port$" ../err &&
	grep "hint:.*--no-services" ../err &&
	settings "services:" "  web: {command: sleep 1000, ready: \"echo not yet; false\"}" "limits: {ready: 1s}" &&
	test_fails 125 "service .web. is not ready: .echo not yet; false. took longer than 1s (limits.ready)" \
		git agent start -n down -- touch agent &&
	test_expect_code 128 git agent show down &&
	git agent start -q -n down --no-services -- touch agent &&
	git show agent/down:agent &&
	test_wait_for "! ours"
'

test_that 'a service that fails while the agent runs is reported, one that goes into the background is not' '
	cd r &&
	settings "services: [\"$(wait_for go); echo last words; exit 7\", \"sleep 1000 & exit 0\"]" &&
	git agent start -n early -- sh -c "
		touch go
		while ps ax -o args | grep -q \"[l]ast words\"; do sleep 0.05; done
		sleep 0.3" 2>../err &&
	grep "note: service while ended with status 7 before the agent did: last words" ../err &&
	! grep "service sleep" ../err &&
	git agent show early | grep "service while ended with status 7"
'

test_that 'how each finish command ended is in the commit, in reviews and in the state' '
	cd r &&
	settings "finish: [\"test -e made\", \"echo broken; exit 2\", \"test -e made\"]" &&
	test_says "check: test -e made → 0" git agent start -n fin -- touch made &&
	grep "check: echo broken; exit 2 → 2" ../err &&
	grep "^== finish: test -e made$" ../err &&
	made="Agent-Check: test -e made → 0" &&
	git log -1 --format=%B agent/fin | grep "^Agent-Check" >../got &&
	test_prints "$made\nAgent-Check: echo broken; exit 2 → 2\n$made" cat ../got &&
	git agent review fin | grep "check    echo broken; exit 2 → 2" &&
	git agent review --format=markdown fin | grep "echo broken; exit 2 → 2" &&
	git agent review --format=json fin | python3 -c "
import json, sys
c = json.load(sys.stdin)[\"checks\"]
assert c[1] == {\"command\": \"echo broken; exit 2\", \"end\": \"exited\", \"status\": 2} and len(c) == 3, c" &&
	git agent show --json fin | grep "\"checks\"" &&
	test "$(events fin finish | grep -c .)" = 3 &&
	git agent land fin &&
	test "$(git log -1 --format=%B | grep -c "^Agent-Check")" = 3
'

test_that 'finish runs after an agent that committed everything, or did nothing' '
	cd r &&
	settings "finish: [\"true\"]" &&
	test_session all "
		echo x >x
		git add x
		git commit -qm mine" &&
	test "$(git log -1 --format=%B agent/all)" = mine &&
	git agent review all | grep "check    true → 0" &&
	git agent land all --merge &&
	git log -1 --format=%B | grep "^Agent-Check: true → 0" &&
	test_says "nothing to commit" git agent start -n none -- true &&
	grep "check: true → 0" ../err &&
	git agent show --json none | grep "\"checks\": \[$"
'

test_that 'a finish command that takes too long or is interrupted leaves the agent'\''s exit status' '
	cd r &&
	settings "finish: [\"sleep 1000\", \"true\"]" "limits: {finish: 1s}" &&
	test_fails 3 "check: sleep 1000 → timed out" git agent start -n long -- sh -c "
		touch long
		exit 3" &&
	grep "check: true → not run" ../err &&
	settings "finish: [\"echo rea\\\"\\\"dy; sleep 1000\", \"true\"]" &&
	$pty expect=ready send="\x03" expect="interrupted" expect="not run" exit=0 mode=cooked -- \
		git-agent start -n ctrl -- touch ctrl &&
	git log -1 --format=%B agent/ctrl | grep "→ interrupted"
'

test_that 'finish changes are captured; it does not run after an agent that was ended, or with --no-finish' '
	cd r &&
	settings "finish: [\"touch after\"]" &&
	test_background ended "
		touch x
		exec sleep 1000" &&
	git agent stop -q ended &&
	test_expect_code 129 git agent wait ended &&
	git agent show --json ended | grep not-run &&
	git agent start -q -n adds -- true &&
	git show agent/adds:after &&
	git agent start -q --no-finish -n without -- touch y &&
	! git agent review without | grep check
'

# the kernel, the shell and the end of the shell: each sends one
test_that 'RS-02: a terminal that goes away during finish interrupts it once, and the work is captured' '
	cd r &&
	settings "services:" "  web:" "    ready: test -e up" "    command: |" \
		"      trap \"sleep 0.5; echo in peace; exit 0\" TERM" \
		"      echo up >up; while :; do sleep 0.1; done" \
		"finish:" "- |" "  trap \"sleep 0.5; echo hung >>hung; exit 0\" HUP" \
		"  touch \$HOME/finishes; while :; do sleep 0.05; done" &&
	{ git-agent start -q -n hung -- touch x 2>../err & } &&
	pid=$! &&
	test_wait_for "test -e $HOME/aihome/finishes" &&
	{ while kill -HUP $pid 2>/dev/null; do sleep 0.01; done & } &&
	wait $pid &&
	test_holds agent/hung:hung hung &&
	git log -1 --format=%B agent/hung | grep "→ interrupted" &&
	git agent logs --service web hung | grep "^in peace" &&
	test_wait_for "! ours"
'

# what a shell's command does may end the session, and the command with it
test_that 'a shell that runs when the agent ends is hung up before finish is through' '
	cd r &&
	settings "finish: [\"touch finishes; $(wait_for go)\"]" &&
	test_background shells "$(wait_for end)" &&
	{
		git agent shell shells -- sh -c "
		touch shell
		exec sleep 1003" 2>../err &
	} &&
	shell=$! &&
	test_wait_for "git agent shell shells -- test -e shell" &&
	{ git agent shell shells -- touch end || :; } &&
	{ wait $shell || :; } &&
	grep "the session has ended" ../err &&
	test_wait_for "git agent shell shells -- test -e finishes" &&
	test_wait_for "! git agent shell shells -- ps ax -o args | grep -v grep | grep \"sleep 1003\"" &&
	{ git agent shell shells -- touch go || :; } &&
	git agent wait shells &&
	git log -1 --format=%B agent/shells | grep "Agent-Check:.*→ 0"
'

test_that 'resume runs services and finish again, but no setup; shell runs no finish' '
	cd r &&
	settings "setup: [\"echo s >>setups\"]" "services: {up: \"touch up; sleep 1000\"}" "finish: [\"cat setups\"]" &&
	git agent start -q -n again -- touch one &&
	test_resume again "
		$(wait_for up)
		touch two" &&
	test_holds agent/again:setups s &&
	git log -1 --format=%B agent/again | grep "Agent-Check: cat setups → 0" &&
	git agent shell -q again -- touch three &&
	git show agent/again:three &&
	! git agent review again | grep "check "
'

test_that 'attach says that setup or finish is running' '
	cd r &&
	settings "setup: [\"$(wait_for go)\"]" "finish: [\"$(wait_for over)\"]" &&
	{ git agent start -qd -n att -- sh -c "$(wait_for end)" & } &&
	test_wait_for "git agent list | grep \"^att .*running .*detached\"" &&
	$pty expect="has not begun: what is run before it" expect="logs -f att" exit=128 mode=cooked -- \
		git agent attach att &&
	git agent show att | grep "^terminal *none" &&
	git agent shell -q att -- touch go &&
	test_wait_for "git agent shell -q att -- pgrep -f \"[!] -e end\"" &&
	$pty mode=raw send="\x1cd" exit=0 -- git agent attach att &&
	{ git agent shell -q att -- touch end || :; } &&
	test_wait_for "git agent shell -q att -- pgrep -f \"[!] -e over\"" &&
	$pty expect="has ended: what is run after it" expect="wait att" exit=128 mode=cooked -- \
		git agent attach att &&
	{ git agent shell -q att -- touch over || :; } &&
	git agent wait att
'

test_that 'a dry run and the configuration show the commands' '
	cd r &&
	settings "setup: [npm ci]" "finish: [make check]" "services:" \
		"  db: {command: redis-server, ready: redis-cli ping}" &&
	test_shows " setup: npm ci" git agent start --dry-run -- true &&
	grep " service db: redis-server (ready when .redis-cli ping. succeeds)" ../out &&
	grep " finish: make check" ../out &&
	git agent config | grep "^services: .\"db: redis-server\", \"db ready: redis-cli ping\"." &&
	rm "$conf" &&
	git agent -c "setup=touch once" start -q -n once -- true &&
	git show agent/once:once
'

test_that 'what a finish command prints adds no check to the commit' '
	cd r &&
	settings "finish: [\"printf \\\"evil\\\\nAgent-Check: x\\\\033[31m\\\"; exit 1\"]" &&
	git agent start -n host -- touch h 2>../err &&
	test "$(git log -1 --format=%B agent/host | grep -c ^Agent-Check)" = 1
'

end_ours
test_done
