#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine: what fails, there, here and on the way'
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

depot() {
	echo "$far/.local/share/git-agent/on/$(head -1 .git/git-agent/id)"
}
record() {
	echo "$(dirname "$(dirname "$(dir_of x)")")/on/$1"
}
# ran N: its command ran so often
ran() {
	test "$(cat "$far/aihome/ran" | wc -l)" = "$1"
}

test_that FARSERVER 'a start that is killed at any step is resumed, and runs once' '
	make_repo killed &&
	agree build &&
	rm -rf "$far/aihome/ran" &&
	for at in recorded opened pushed noted started; do
		GIT_AGENT_FAULT=on:$at:kill test_expect_code 137 \
			git agent start --on build -d -n "$at" -- sh -c "echo x >>\$HOME/ran; echo 1 >n" || exit 1
		case $at in
		started) git agent wait "$at" || exit 1 ;;
		noted) git agent list | grep "^$at  *absent" || exit 1 ;;
		*) git agent list | grep "^$at  *not started" || exit 1 ;;
		esac
		[ "$at" = started ] || git agent resume "$at" || exit 1
		git agent wait "$at" &&
		git agent review "$at" | grep " n$" &&
		ran 1 &&
		rm "$far/aihome/ran" || exit 1
	done
'

test_that FARSERVER 'what was killed before its start is dropped without a word of force' '
	make_repo dropped &&
	agree build &&
	for at in chosen recorded opened pushed; do
		GIT_AGENT_FAULT=on:$at:kill test_expect_code 137 git agent start --on build -d -n k -- true || exit 1
		[ "$at" = chosen ] || git agent drop k || exit 1
		test ! -e "$(record k)" || exit 1
	done &&
	git agent start --on build -d -n k -- true
'

test_that FARSERVER 'a fetch that is killed is repeated' '
	make_repo fetched &&
	agree build &&
	for at in fetch:downloaded fetch:objects fetch:refs on:fetched; do
		n=$(echo "$at" | tr : -) &&
		git agent start --on build -d -n "$n" -- sh -c "echo 1 >n" >/dev/null &&
		git agent wait "$n" &&
		GIT_AGENT_FAULT=$at:kill test_expect_code 137 git agent review "$n" &&
		git agent list | grep "^$n  *captured" &&
		git agent review "$n" | grep " n$" &&
		git agent land "$n" &&
		git reset -q --hard HEAD~1 || exit 1
	done
'

test_that FARSERVER 'a drop that is killed is repeated, or completed by gc' '
	make_repo drops &&
	agree build &&
	for at in drop:noted drop:refs drop:moved on:dropping on:dropped; do
		for how in "drop d" gc; do
			git agent start --on build -d -n d -- sh -c "echo $at $how >n" >/dev/null &&
			git agent wait d &&
			git agent land d &&
			GIT_AGENT_FAULT=$at:kill test_expect_code 137 git agent drop d || exit 1
			git agent $how || [ "$how" != gc ] || exit 1
			test ! -e "$(record d)" &&
			test ! -e "$(dir_of d)" &&
			test -z "$(ls "$(depot)/trees")" || exit 1
		done
	done
'

test_that FARSERVER 'a start there that is killed on its way is taken over' '
	make_repo over &&
	agree build &&
	rm -f "$far/aihome/ran" &&
	sed "s|^SetEnv .*|& GIT_AGENT_FAULT=depot:start:kill|" "$HOME/sshd_build" >"$HOME/sshd_fault" &&
	far_restart fault &&
	test_fails 125 "git agent resume o. starts it" git agent start --on build -d -n o -- sh -c "echo x >>\$HOME/ran" &&
	far_restart build &&
	git agent list | grep "^o  *absent" &&
	git agent resume o &&
	git agent wait o &&
	ran 1
'

test_that FARSERVER 'a shared connection that is dead, hangs or takes no more is not waited for' '
	make_repo master &&
	agree build &&
	git agent start --on build -d -n m -- sleep 1000 &&
	pid=$(ssh -o ControlPath="$XDG_RUNTIME_DIR/git-agent/%C" -O check build 2>&1 | tr -cd 0-9) &&
	kill -STOP "$pid" &&
	test_when_finished "kill -CONT $pid" &&
	timeout 20 git agent list | grep "^m  *running" &&
	timeout 20 git agent logs m &&
	kill -CONT "$pid" &&
	pid=$(ssh -o ControlPath="$XDG_RUNTIME_DIR/git-agent/%C" -O check build 2>&1 | tr -cd 0-9) &&
	kill -9 "$pid" &&
	timeout 20 git agent list | grep "^m  *running" &&
	{ cat "$HOME/sshd_build"; echo MaxSessions 1; } >"$HOME/sshd_one" &&
	far_restart one &&
	test_when_finished "far_restart build" &&
	{ git agent logs -f m >/dev/null 2>&1 & } &&
	logs=$! &&
	sleep 1 &&
	timeout 20 git agent list | grep "^m  *running" &&
	timeout 20 git agent stop -q m &&
	wait "$logs" &&
	git agent list | grep "^m  *captured"
'

test_that FARSERVER 'an alias with a jump host is a host as any other' '
	make_repo jump &&
	sed -n "/^Host build/,\$p" "$HOME/.ssh/config" | sed "s/Host build/Host behind/" >../config &&
	{ cat ../config && printf "\tProxyJump build\n"; } >>"$HOME/.ssh/config" &&
	agree behind &&
	git agent start --on behind -d -n j -- sh -c "echo 1 >n" &&
	git agent wait j &&
	git agent land j &&
	test_prints 1 cat n
'

test_lazy_prereq FISH 'fish --version'
test_lazy_prereq TCSH 'tcsh --version'
shell_there() {
	make_repo "in-$1" &&
	agree build &&
	{ cat "$HOME/sshd_build"; printf '%s\n' "ForceCommand $1 -c \"\$SSH_ORIGINAL_COMMAND\""; } >"$HOME/sshd_$1" &&
	far_restart "$1" &&
	test_when_finished "far_restart build" &&
	git agent start --on build -d -n s -- sh -c 'echo "a \\ '\'' $HOME" >n' &&
	git agent wait s &&
	$pty expect=gone exit=0 -- git agent shell s -- echo gone &&
	git agent review s >../out &&
	git agent land s &&
	grep 'a \\' n &&
	git agent drop s
}
test_that FARSERVER,FISH 'fish as login shell' 'shell_there fish'
test_that FARSERVER,TCSH 'tcsh as login shell' 'shell_there tcsh'
test_that FARSERVER 'a login shell that prints a banner' '
	echo "echo welcome; echo motd >&2" >"$far/.bashrc" &&
	{ cat "$HOME/sshd_build"; echo "ForceCommand . $far/.bashrc; eval \"\$SSH_ORIGINAL_COMMAND\""; } >"$HOME/sshd_noisy" &&
	make_repo noisy &&
	agree build &&
	far_restart noisy &&
	test_when_finished "far_restart build" &&
	git agent start --on build -d -n s -- sh -c "echo 1 >n" &&
	git agent wait s &&
	git agent land s &&
	test_prints 1 cat n
'

test_that FARSERVER 'a push that stands still starts nothing' '
	make_repo half &&
	agree build &&
	head -c 3000000 /dev/urandom >big && git add big && git commit -qm big &&
	cp "$HOME/bin/ssh" "$HOME/bin/ssh.real" &&
	test_when_finished "mv $HOME/bin/ssh.real $HOME/bin/ssh" &&
	cat >"$HOME/bin/ssh" <<-EOF &&
	#!/bin/sh
	case \$(echo "\$*" | sed "s/.* //" | base64 -d 2>/dev/null) in
	*receive-pack*) { head -c 200000; echo \$\$ >$HOME/stopped; sleep 1000; } | $HOME/bin/ssh.real "\$@" ;;
	*) exec $HOME/bin/ssh.real "\$@" ;;
	esac
	EOF
	{ git agent start --on build -d -n h -- true >/dev/null 2>&1 & } &&
	start=$! &&
	test_wait_for "test -e $HOME/stopped" &&
	kill -9 "$start" &&
	git agent list | grep "^h  *not started" &&
	test -z "$(git -C "$(depot)/depot.git" for-each-ref)" &&
	cp "$HOME/bin/ssh.real" "$HOME/bin/ssh" &&
	git agent resume h &&
	git agent wait h
'

test_done
