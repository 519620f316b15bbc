#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions on another machine: what fails, there, here and in between'
. "$TEST_SRCDIR/tests/lib/on.sh"

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
	test_fails 125 "git agent resume o. starts it" \
		git agent start --on build -d -n o -- sh -c "echo x >>\$HOME/ran" &&
	far_restart build &&
	git agent list | grep "^o  *absent" &&
	git agent resume o &&
	git agent wait o &&
	ran 1
'

test_that FARSERVER 'a start there that is killed on its way is dropped on both machines' '
	make_repo gone &&
	agree build &&
	far_restart fault &&
	test_when_finished "far_restart build" &&
	test_fails 125 "" git agent start --on build -d -n g -- true &&
	test -n "$(ls "$(depot)/trees")" &&
	git agent drop --force g 2>../err &&
	! grep forgotten ../err &&
	test -z "$(ls "$(depot)/trees")" &&
	test_prints refs/agent-on/base git -C "$(depot)/depot/.git" for-each-ref --format="%(refname)"
'

test_that FARSERVER 'a shared connection that is dead, hangs or takes no more is not waited for' '
	make_repo master &&
	agree build &&
	git agent start --on build -d -n m -- sleep 1000 &&
	pid=$(far_master build | grep .) &&
	kill -STOP "$pid" &&
	test_when_finished "kill -CONT $pid" &&
	timeout 20 git agent list | grep "^m  *running" &&
	timeout 20 git agent logs m &&
	kill -CONT "$pid" &&
	pid=$(far_master build | grep .) &&
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

test_that FARSERVER 'a host that hangs is unknown after seconds, and a command says why it fails' '
	make_repo hung &&
	agree build &&
	git agent start --on build -d -n h -- sh -c "echo 1 >n" &&
	git agent wait h &&
	far_hang_up &&
	kill -STOP "$(cat "$HOME/sshd_build.pid")" &&
	test_when_finished "kill -CONT $(cat "$HOME/sshd_build.pid")" &&
	timeout 10 git agent list | grep "^h  *unknown .*on build" &&
	test_fails 128 "what agent/h does is unknown: cannot reach .build.: .*timed out" \
		timeout 60 git agent review h &&
	kill -CONT "$(cat "$HOME/sshd_build.pid")" &&
	git agent review h | grep " n$"
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

test_lazy_prereq FARFISH 'test_have_prereq FARTTY && fish --version'
test_lazy_prereq FARTCSH 'test_have_prereq FARTTY && tcsh --version'
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
test_that FARFISH 'fish as login shell' 'shell_there fish'
test_that FARTCSH 'tcsh as login shell' 'shell_there tcsh'
test_that FARSERVER 'a login shell that prints a banner' '
	echo "echo welcome; echo motd >&2" >"$far/.bashrc" &&
	{
		cat "$HOME/sshd_build" &&
		echo "ForceCommand . $far/.bashrc; eval \"\$SSH_ORIGINAL_COMMAND\""
	} >"$HOME/sshd_noisy" &&
	make_repo noisy &&
	agree build &&
	far_restart noisy &&
	test_when_finished "far_restart build" &&
	git agent start --on build -d -n s -- sh -c "echo 1 >n" &&
	git agent wait s &&
	git agent land s &&
	test_prints 1 cat n &&
	rm "$far/.bashrc"
'

test_that FARSERVER 'a push that stands still starts nothing' '
	make_repo half &&
	agree build &&
	head -c 3000000 /dev/urandom >big && git add big && git commit -qm big &&
	cp "$HOME/bin/ssh" "$HOME/bin/ssh.real" &&
	test_when_finished "mv $HOME/bin/ssh.real $HOME/bin/ssh; >$HOME/go" &&
	cat >"$HOME/bin/ssh" <<-EOF &&
	#!/bin/sh
	case \$(echo "\$*" | sed "s/.* //" | base64 -d 2>/dev/null) in
	*receive-pack*)
		{ head -c 200000; >$HOME/stopped; until [ -e $HOME/go ]; do sleep 0.1; done; } |
			$HOME/bin/ssh.real "\$@" ;;
	*) exec $HOME/bin/ssh.real "\$@" ;;
	esac
	EOF
	{ git agent start --on build -d -n h -- true >/dev/null 2>&1 & } &&
	start=$! &&
	test_wait_for "test -e $HOME/stopped" &&
	kill -9 "$start" &&
	git agent list | grep "^h  *not started" &&
	test -z "$(git -C "$(depot)/depot/.git" for-each-ref)" &&
	cp "$HOME/bin/ssh.real" "$HOME/bin/ssh" &&
	git agent resume h &&
	git agent wait h
'

# far_path DIR: the server of "build", with this directory before its PATH
far_path() {
	sed "s|^\(SetEnv .*\) PATH=|\1 PATH=$1:|" "$HOME/sshd_build" >"$HOME/sshd_path" &&
	far_restart path &&
	test_when_finished "far_restart build"
}

test_that FARSERVER 'a machine without git-agent, or with another one, is told from one that is not reached' '
	make_repo without &&
	agree build &&
	mkdir -p ../bare &&
	ln -s "$(command -v git)" ../bare/git &&
	sed "s|^\(SetEnv .*\) PATH=[^ ]*|\1 PATH=$HOME/bare|" "$HOME/sshd_build" >"$HOME/sshd_bare" &&
	far_restart bare &&
	test_when_finished "far_restart build" &&
	test_fails 125 "does not answer on .build.: git: .agent. is not a git command" \
		git agent start --on build -d -n w -- true &&
	grep "hint: .ssh build git agent --version." ../err &&
	rm ../bare/git &&
	test_fails 125 "does not answer on .build.: .*git: .*not found" git agent start --on build -d -n w -- true &&
	git agent list >../out &&
	test ! -s ../out
'

test_that FARSERVER 'what a start there refuses is said here, with the host' '
	make_repo refused &&
	agree build &&
	mkdir -p ../refuse &&
	test_script ../refuse/git "exec $TEST_BUILDDIR/tests/helpers/deny unshare:USER=EPERM clone:USER=EPERM -- \
		env PATH=$PATH git \"\$@\"" &&
	far_path "$HOME/refuse" &&
	test_fails 125 "on .build.: .*namespace" git agent start --on build -d -n r -- true &&
	! grep "r-[0-9a-f]\{8\}" ../err &&
	git agent list >../out &&
	test ! -s ../out &&
	test -z "$(ls "$(depot)/trees")" &&
	test_prints refs/agent-on/base git -C "$(depot)/depot/.git" for-each-ref --format="%(refname)"
'

test_that FARSERVER 'a depot that is gone leaves its sessions unknown' '
	make_repo depot &&
	agree build &&
	git agent start --on build -d -n d -- sh -c "echo 1 >n" &&
	git agent wait d &&
	git agent list | grep "^d  *captured" &&
	mv "$(depot)/depot/.git" ../saved &&
	git agent list | grep "^d  *unknown .*captured .* ago" &&
	test_fails 128 "what agent/d does is unknown: on .build.: the depot of this repository is gone" \
		git agent review d &&
	test_fails 128 "is unknown" git agent drop d &&
	test_fails 128 "is unknown" git agent resume d &&
	mv ../saved "$(depot)/depot/.git" &&
	git agent review d | grep " n$"
'

test_lazy_prereq FARFULL 'test_have_prereq FARSERVER && [ "$(id -u)" = 0 ] && mkdir tiny && mount -t tmpfs none tiny'
test_that FARFULL 'a full disk there is said here, and nothing runs' '
	make_repo full &&
	agree build &&
	head -c 3000000 /dev/urandom >big && git add big && git commit -qm big &&
	mkdir -p "$far/small" &&
	mount -t tmpfs -o size=2m none "$far/small" &&
	test_when_finished "umount $far/small" &&
	sed "s|^SetEnv .*|& XDG_DATA_HOME=$far/small|" "$HOME/sshd_build" >"$HOME/sshd_full" &&
	far_restart full &&
	test_when_finished "far_restart build" &&
	test_fails 125 "cannot push the base of .f. to .build.: .*" git agent start --on build -d -n f -- true &&
	git agent list >../out &&
	test ! -s ../out &&
	mount -o remount,size=64m "$far/small" &&
	git agent start --on build -d -n f -- true &&
	git agent wait f
'

test_that FARSERVER 'two clones with the same id and name do not meet, and a home may be a symlink' '
	make_repo one &&
	agree build &&
	ln -s "$far" "$HOME/link" &&
	sed "s|HOME=$far |HOME=$HOME/link |" "$HOME/sshd_build" >"$HOME/sshd_link" &&
	far_restart link &&
	test_when_finished "far_restart build" &&
	git agent start --on build -d -n same -- sh -c "echo 1 >n" &&
	mkdir -p ../other && cp -R . ../other/one &&
	(
		HOME=$HOME/laptop && mkdir "$HOME" && cp -R ../.ssh ../.gitconfig "$HOME" && cd ../other/one &&
		agree build &&
		git agent start --on build -d -n same -- sh -c "echo 2 >n" &&
		git agent wait same &&
		git agent land same &&
		test_prints 2 cat n &&
		git agent drop same
	) &&
	git agent wait same &&
	git agent land same &&
	test_prints 1 cat n
'

test_that FARSERVER 'ON-08: a result that is not based on what was fetched before is refused' '
	make_repo back &&
	agree build &&
	git agent start --on build -d -n b -- sh -c "echo 1 >n" &&
	git agent wait b &&
	git agent review b >../out &&
	was=$(git -C "$(depot)/depot/.git" for-each-ref --format="%(objectname)" refs/heads/agent) &&
	git agent resume b sh -c "echo 2 >n" &&
	git agent wait b &&
	git agent review b >../out &&
	now=$(git -C "$(depot)/depot/.git" for-each-ref --format="%(objectname)" refs/heads/agent) &&
	test "$was" != "$now" &&
	here=$(git rev-parse agent/b) &&
	git agent resume b true &&
	git agent wait b &&
	mkdir -p ../older &&
	cat >../older/git <<-EOF &&
	#!/bin/sh
	case \$(echo "\$3==" | base64 -d 2>/dev/null) in
	*:?list?*) env PATH=$PATH git "\$@" | sed s/$now/$was/ ;;
	*) exec env PATH=$PATH git "\$@" ;;
	esac
	EOF
	chmod +x ../older/git &&
	far_path "$HOME/older" &&
	git -C "$(depot)/depot/.git" update-ref "refs/heads/agent/$(ls "$(depot)/trees")" "$was" &&
	test_fails 128 "is not based on what was fetched before" git agent review b &&
	test_same agent/b "$here"
'

test_that FARSERVER 'what was decided here is not overtaken: a resume is refused before it runs' '
	make_repo decided &&
	agree build &&
	git agent start --on build -d -n d -- sh -c "echo 1 >n" &&
	git agent wait d &&
	git agent land d &&
	test_fails 2 "agent/d has landed or has verdicts here" git agent resume d sh -c "echo 2 >n" &&
	git agent show d | grep landed &&
	git agent drop d
'

test_that FARSERVER 'what was fetched stays when the session is dropped there' '
	make_repo kept &&
	agree build &&
	git agent start --on build -d -n k -- sh -c "echo 1 >n" &&
	git agent wait k &&
	git agent review k >../out &&
	git agent resume k sh -c "echo 2 >n" &&
	git agent wait k &&
	name=$(ls "$(depot)/trees") &&
	(cd "$(depot)/trees/$name/kept" && HOME=$far git agent drop --force "$name") &&
	test_says "is not on .build. any more" git agent review k &&
	git agent land k &&
	test_prints 1 cat n
'

# claude_there: an agent that says whether it got the key that it needs
claude_there() {
	mkdir -p "$far/.local/share/claude/versions" agent &&
	test_script "$far/.local/share/claude/versions/2.1.0" '
		[ "$ANTHROPIC_API_KEY" = "sk-ant-0123456789-0123456789-$WANT" ] && [ -z "$OTHER_KEY" ] || exit 1
		echo "$WANT" >got' &&
	ln -sf "$far/.local/share/claude/versions/2.1.0" agent/claude
}
test_that FARSERVER 'the keys of the agent go into its environment there, and nowhere else' '
	claude_there &&
	make_repo keys &&
	agree build &&
	far_path "$HOME/agent" &&
	mkdir -p "$far/.config/git-agent" &&
	echo "env: {pass: [WANT]}" >"$far/.config/git-agent/config.yaml" &&
	test_fails 125 "on .build.: claude is not logged in" git agent start --on build -d -n k claude &&
	grep "hint: on .build.: .*set ANTHROPIC_API_KEY" ../err &&
	sed -i "s|^SetEnv .*|& WANT=first|" "$HOME/sshd_path" &&
	far_restart path &&
	export ANTHROPIC_API_KEY=sk-ant-0123456789-0123456789-first OTHER_KEY=sk-2 &&
	GIT_AGENT_TRACE=$HOME/trace test_says "agent/k: ANTHROPIC_API_KEY goes to .build." \
		git agent start --on build -d -n k claude &&
	! grep "OTHER" ../err &&
	git agent wait k &&
	git agent review k | grep "^+first" &&
	sed -i "s|WANT=first|WANT=second|" "$HOME/sshd_path" &&
	far_restart path &&
	ANTHROPIC_API_KEY=sk-ant-0123456789-0123456789-second git agent resume k &&
	git agent wait k &&
	git agent review k | grep "^+second" &&
	test -s "$HOME/trace" &&
	! grep -r "sk-ant-0123" "$HOME" --exclude=2.1.0
'

test_that FARSERVER 'several names, on both machines' '
	make_repo several &&
	agree build &&
	for n in a b; do
		git agent start --on build -d -n $n -- sh -c "echo $n >$n; sleep 1000" &&
		test_wait_for "git agent shell $n -- test -e $n" || exit 1
	done &&
	git agent start -d -n here -- sh -c "echo here >h; sleep 1000" &&
	git agent stop -q a here b &&
	git agent list | grep -c captured | grep 3 &&
	test_fails 129 "^hint: a  *elsewhere" git agent review &&
	test_fails 2 "a.*not landed" git agent drop a here b &&
	for n in a here b; do
		git agent land $n || exit 1
	done &&
	git agent drop --dry-run a b >../out &&
	grep -c "would" ../out | grep 2 &&
	git agent drop a here b &&
	git agent list >../out &&
	test ! -s ../out &&
	test -z "$(ls "$(depot)/trees")"
'

test_that FARSERVER 'commands at the same time do not undo what another recorded' '
	make_repo same &&
	agree build &&
	for n in 1 2 3; do
		{ git agent start --on build -d -- sh -c "echo $n >n$n" >>../names & } || exit 1
	done &&
	wait &&
	sort -u ../names | wc -l | grep 3 &&
	for n in $(cat ../names); do
		git agent wait "$n" || exit 1
	done &&
	git agent land sh-1 &&
	git agent review sh-2 >../out &&
	{ GIT_AGENT_FAULT=on:asked:stop git-agent list >../out & } &&
	list=$! &&
	test_wait_for "grep \"State:.*T\" /proc/$list/status" &&
	git agent review sh-3 >/dev/null &&
	git agent drop --force sh-2 &&
	kill -CONT "$list" &&
	wait "$list" &&
	test ! -e "$(record sh-2)" &&
	grep "\"runs\": false" "$(record sh-3)"
'

test_that FARSERVER 'ten at once on one host all land, as the tree that git makes of their commands one by one' '
	make_repo ten &&
	mkdir shared &&
	seq 300 | tee shared/all shared/0 shared/1 shared/2 shared/3 >shared/4 &&
	git add shared &&
	git commit -qm shared &&
	agree build &&
	git clone -q . ../alone &&
	for n in 0 1 2 3 4 5 6 7 8 9; do
		echo "mkdir own-$n; echo $n >own-$n/f; echo $n >shared/by-$n; echo $n >>d/only-$n
			sed -i $((n * 30 + 5))s/.*/$n/ shared/all
			sed -i $((n * 9 + 1))s/^/$n/ shared/$((n / 2))" >"../work-$n" &&
		{ git agent start -q --on build -d -n "t$n" -- sh -ec "$(cat "../work-$n")" >>../started & } || exit 1
	done &&
	wait &&
	sort ../started | tr -d "\n" | grep -x t0t1t2t3t4t5t6t7t8t9 &&
	for n in 7 2 9 0 5 3 8 1 6 4; do
		(cd ../alone && sh -e "../work-$n" && git add -A && git commit -qm "$n") &&
		git agent wait "t$n" &&
		git agent land "t$n" || exit 1
	done &&
	test_prints "$(git -C ../alone write-tree)" git write-tree &&
	git diff --quiet HEAD &&
	git agent drop t0 t1 t2 t3 t4 t5 t6 t7 t8 t9 &&
	git fsck --strict >../out 2>&1 &&
	git -C "$(depot)/depot/.git" fsck --strict >>../out 2>&1 &&
	! grep -v "^dangling\|^notice: HEAD" ../out
'

test_that FARSERVER 'without a name, the only session may be elsewhere' '
	make_repo only &&
	agree build &&
	git agent start --on build -d -n o -- sh -c "echo ready; echo 1 >n; read x" &&
	test_wait_for "git agent logs | grep ready" &&
	test_shows "+1" git agent diff &&
	git agent --complete review "" | grep -c "^o	" | grep 1 &&
	git agent --complete land "" | grep "^o	" &&
	git agent send o hi &&
	git agent wait o &&
	test_shows "^session  *o-" git agent show &&
	git agent review | grep " n$" &&
	git agent --complete review "" | grep -c "^o	" | grep 1 &&
	git agent land &&
	test_prints 1 cat n &&
	git agent gc &&
	test ! -e "$(record o)" &&
	test -z "$(ls "$(depot)/trees")"
'

test_that FARTTY 'a session that changed nothing is shown, and dropped' '
	make_repo none &&
	agree build &&
	git agent start --on build -d -n n -- true &&
	git agent wait n &&
	test_fails 1 "agent/n changed nothing on .build." git agent review n &&
	$pty expect="agent/n has ended on" expect="changed nothing" exit=0 -- git agent attach n &&
	$pty expect="1 commit" exit=7 -- git agent start --on build -n e -- \
		sh -c "echo 1 >n; exit 7" &&
	git agent drop --force e &&
	git agent show n | grep captured &&
	git agent drop n &&
	test ! -e "$(record n)" &&
	test -z "$(ls "$(depot)/trees")"
'

test_that FARSERVER 'list follows sessions elsewhere, and says what a silent host did last' '
	make_repo watched &&
	agree build &&
	git agent start --on build -d -n w -- sh -c "sleep 4" &&
	$pty within=40 expect=running expect=captured send="\x03" exit=130 -- git agent list --watch &&
	git agent list --json | grep "\"state\": \"captured\"" &&
	far_hang_up &&
	cp "$HOME/.ssh/config" "$HOME/.ssh/saved" &&
	test_when_finished "mv $HOME/.ssh/saved $HOME/.ssh/config" &&
	sed -i "s/Host build/Host other/" "$HOME/.ssh/config" &&
	git agent list | grep "^w  *unknown .*captured .* ago, on build" &&
	git agent list --json | grep "\"state\": \"unknown\""
'

test_lazy_prereq FARUSERS 'test_have_prereq FARSERVER && [ "$(id -u)" = 0 ] &&
	runuser -u nobody -- env HOME=/tmp "$TEST_BUILDDIR/git-agent" --version'
test_that FARUSERS 'two users of one machine do not meet' '
	make_repo users &&
	agree build &&
	agree nobody &&
	mkdir -p ../nobody && cp "$far/.gitconfig" ../nobody &&
	chown -R nobody ../nobody && chmod 711 "$TRASH" "$HOME" "$(dirname "$TRASH")" &&
	{
		cat "$HOME/sshd_build" &&
		echo "ForceCommand runuser -u nobody -- env HOME=$HOME/nobody sh -c \"\$SSH_ORIGINAL_COMMAND\""
	} >"$HOME/sshd_nobody" &&
	git agent start --on build -d -n r -- sh -c "echo root >n; sleep 1000" &&
	far_restart nobody &&
	test_when_finished "far_restart build" &&
	git agent list | grep "^r  *unknown" &&
	git agent start --on build -d -n u -- sh -c "id -u >n" &&
	git agent wait u &&
	git agent land u &&
	test_prints "$(id -u nobody)" cat n &&
	git agent drop u &&
	far_restart build &&
	git agent list | grep "^r  *running" &&
	git agent stop -q r
'

test_done
