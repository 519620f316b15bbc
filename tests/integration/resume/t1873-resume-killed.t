#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='resuming is killed, fails, is refused, or finds layers that a power cut damaged'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use submodules
test_use resume
require_sandbox

state=$HOME/.local/state/git-agent

test_that 'create a repository' '
	repo_with_ignored_directories
'

# What each of the sessions below did, and what is done to its branch.
agent='echo 1 >one; git add one; git commit -qm one; echo 2 >two; echo e >.envrc; echo log >x.log; echo k >kept'
host() {
	git worktree add -q ../wt "agent/$1" &&
	(
		cd ../wt &&
		echo host >host &&
		echo changed >two &&
		git rm -q kept &&
		test_commit host
	) &&
	git worktree remove ../wt
}
again='cat host two .envrc >view; test ! -e kept && echo 3 >three && git add three && git commit -qm three'
same() {
	git log --format=%s "agent/$1" | sed "s/$1/good/" >../got.log &&
	test_cmp ../want.log ../got.log &&
	git rev-parse "agent/$1^{tree}" "refs/agent/$1/held^{tree}" | test_cmp ../want - &&
	test ! -e "$(git rev-parse --git-common-dir)/worktrees/agent-$1" &&
	git fsck --connectivity-only
}

test_that 'resume a session without any fault' '
	cd r &&
	test_session good "$agent" &&
	host good &&
	test_resume good "$again" &&
	git rev-parse agent/good^{tree} refs/agent/good/held^{tree} >../want &&
	git log --format=%s agent/good >../want.log &&
	test_prints "host\nchanged\ne" git show agent/good:view &&
	grep -c . ../want.log | grep -x 6
'

# refs NAME: those of the session but one that a resume moves first
refs() {
	git for-each-ref "refs/heads/agent/$1" "refs/agent/$1" | command grep -v /from
}

for point in begin applied prepared; do
	test_that "a session whose resume is killed or fails at $point can be resumed to the same result" '
		cd r &&
		n=k-'$point' &&
		test_session $n "$agent" &&
		host $n &&
		refs $n >../before &&
		{ GIT_AGENT_FAULT=resume:${n#k-}:kill git agent resume -q $n -- sh -c "$again" || test $? = 137; } &&
		git agent list 2>../err | grep "^$n .*captured" &&
		! grep interrupted ../err &&
		refs $n | test_cmp ../before - &&
		test ! -e .git/worktrees/agent-$n &&
		git agent capture -q $n &&
		! GIT_AGENT_FAULT=resume:${n#k-}:fail git agent resume -q $n -- sh -c "$again" &&
		test_state $n captured &&
		test_resume $n "$again" &&
		same $n
	'
done

for point in upper before-refs after-refs before-state; do
	test_that "OV-24: a resumed session killed at $point of its capture is captured by the next list" '
		cd r &&
		n=c-'$point' &&
		test_session $n "$agent" &&
		host $n &&
		{ GIT_AGENT_FAULT=capture:${n#c-}:kill git agent resume -q $n -- sh -c "$again" || test $? = 137; } &&
		test_wait_for "git agent list 2>../err && grep \"interrupted; capturing\" ../err" &&
		same $n &&
		git agent resume -q $n -- true &&
		same $n
	'
done

test_that 'killed before its command runs, a session loses nothing and can be resumed' '
	cd r &&
	test_session early "$agent" &&
	host early &&
	{ GIT_AGENT_FAULT=start:running:kill git agent resume -q early -- sh -c "$again" || test $? = 137; } &&
	tip=$(git rev-parse agent/early) &&
	git agent capture early 2>../err &&
	test "$(git rev-parse agent/early)" = "$tip" &&
	git show refs/agent/early/held:.envrc &&
	test_resume early "$again" &&
	same early
'

test_that 'a command that does not exist is refused, and nothing is lost' '
	cd r &&
	test_fails 125 "command .no-such-command. was not found" git agent resume good -- no-such-command &&
	grep "^hint: " ../err &&
	test_state good captured &&
	test_expect_code 125 git agent resume -q good -- ./no-such &&
	test_state good captured &&
	same good
'

# refused TEXT [HINT]: the message in ../err is one line with this text, and one with the hint
refused() {
	test "$(command grep -vc warning ../err)" -le 2 &&
	command grep -v "^hint" ../err | grep "$1" &&
	{ test $# = 1 || grep "^hint: .*$2" ../err; }
}

test_that 'a session that cannot be resumed is refused in one line, with a hint' '
	cd r &&
	test_expect_code 125 git agent resume nosuch -- true 2>../err &&
	refused "there is no session .nosuch." list &&
	test_expect_code 125 git agent -c disk_free=16TiB resume good -- true 2>../err &&
	refused "less than 16TiB is free" disk_free &&
	git worktree add -q ../elsewhere main -b elsewhere &&
	(cd ../elsewhere && test_expect_code 125 git agent resume good -- true 2>../err) &&
	refused "belongs to the working tree" "cd " &&
	git worktree remove ../elsewhere &&
	test_session gone "echo 1 >one" &&
	rm -rf "$state"/*/sessions/gone/upper &&
	test_expect_code 125 git agent resume gone -- true 2>../err &&
	refused "layers of session .gone. are gone" "start --base agent/gone" &&
	test_session dam "echo 1 >one" &&
	dir=$(ls -d "$state"/*/sessions/dam) &&
	echo garbage >"$dir/session" &&
	rm -f "$dir/session.old" &&
	test_expect_code 125 git agent resume dam -- true 2>../err &&
	refused "state file" "drop --force dam" &&
	git agent drop --force dam &&
	cd .. &&
	mv r moved &&
	cd moved &&
	test_expect_code 125 git agent resume good -- true 2>../err &&
	refused "is not at .*/r. any more" "start --base agent/good" &&
	cd .. &&
	mv moved r &&
	cd r &&
	git agent resume -q good -- true
'

test_that 'shared directories that are gone or symlinks on the host are not followed' '
	cd r &&
	mv out out-away &&
	mkdir "$HOME/secret" &&
	echo precious >"$HOME/secret/file" &&
	ln -s "$HOME/secret" out &&
	test_resume good "
		ls out/ >\$HOME/ls 2>&1
		true" &&
	! grep file "$HOME/aihome/ls" &&
	rm out &&
	git agent resume -q good -- true &&
	mv out-away out &&
	test_resume good "cat out/host"
'

test_that 'a session with submodules is refused, with a hint' '
	cd "$HOME" &&
	make_repo lib &&
	make_super super lib &&
	cd super &&
	test_session sub "echo 1 >f" &&
	test_fails 125 "session .sub. has submodules" git agent resume sub -- true &&
	grep "^hint: .*start --base agent/sub" ../err &&
	cd $L &&
	test_fails 125 "is part of a superproject" git agent resume sub -- true
'

# on NAME COMMANDS: on its branch, in a working tree of the user
on() {
	git worktree add -q ../wt "agent/$1" &&
	(cd ../wt && eval "$2" && git add -f -A && git commit -qm host)
	on_rc=$?
	# git has been seen to leave its own directory of it ("Directory not empty"), which is no matter here
	{ git worktree remove --force ../wt || git worktree prune; } &&
	return $on_rc
}

# Ends a resume of NAME at POINT, whose layers are then changed by COMMANDS, run in them.
# ended NAME POINT [COMMANDS]
ended() {
	{ GIT_AGENT_FAULT="resume:$2:kill" git agent resume -q "$1" -- true || test $? = 137; } &&
	test_state $1 captured &&
	(cd "$state"/*/sessions/"$1"/upper && eval "${3:-:}")
}

test_that 'a commit of the host that is withdrawn after a resume failed is not taken for work' '
	cd r &&
	for fault in noted:kill applied:fail moved:kill prepared:fail; do
		n=w-${fault%:*} &&
		test_session $n "
			echo 1 >one
			echo 2 >gone" &&
		old=$(git rev-parse agent/$n) &&
		on $n "echo bad >bad && echo bad >>one && rm gone a" &&
		! GIT_AGENT_FAULT=resume:$fault git agent resume -q $n -- true &&
		git update-ref refs/heads/agent/$n $old &&
		test_resume $n "
			test ! -e bad &&
			cat one gone a >\$HOME/cat &&
			test -z \"\$(git status --porcelain)\"" &&
		test_prints "1\n2\na" cat "$HOME/aihome/cat" &&
		test "$(git rev-parse agent/$n)" = $old &&
		test_resume $n "echo 3 >>one" &&
		test "$(git diff --name-only $old agent/$n)" = one || return 1
	done
'

test_that 'half a file that a killed resume has written is written again' '
	cd r &&
	test_session half "
		seq 1000 >big
		seq 9 >small
		echo k >kept" &&
	on half "seq 2000 >big && seq 3000 >new && rm small" &&
	tip=$(git rev-parse agent/half) &&
	ended half applied "truncate -s 100 big && truncate -s 0 new && rm -f small && seq 5 >small" &&
	ended half applied "rm -f big new" &&
	test_resume half "
		test -z \"\$(git status --porcelain)\" &&
		test ! -e small &&
		sha1sum <big >\$HOME/sum
		sha1sum <new >>\$HOME/sum" &&
	{
		seq 2000 | sha1sum
		seq 3000 | sha1sum
	} | test_cmp - "$HOME/aihome/sum" &&
	test "$(git rev-parse agent/half)" = "$tip"
'

test_that 'files of the branch do not overwrite what was not captured, whatever kind they are' '
	cd r &&
	test_session way "
		mkdir -p d1/deep/er d2
		echo 1 >d1/one
		echo log >d1/deep/er/in.log
		echo log >p.log
		echo log >n.log
		ln -s d2 q.log
		echo 2 >d2/two" &&
	up=$(echo "$state"/*/sessions/way/upper) &&
	old=$(git rev-parse agent/way) &&
	find "$up" | sort >../before &&
	for what in "d1/deep/er/in.log: rm -r d1 && echo f >d1" "p.log: mkdir p.log && echo f >p.log/f" \
		"n.log: echo f >n.log" "q.log: mkdir q.log && echo f >q.log/two" \
		"d1/deep/er/in.log: mkdir -p d1/deep/er/in.log && echo f >d1/deep/er/in.log/x"; do
		on way "${what#*:}" &&
		test_fails 125 "cannot be applied to the session: ${what%%:*}\$" git agent resume way -- true &&
		find "$up" | sort | test_cmp ../before - &&
		git update-ref refs/heads/agent/way $old &&
		git agent resume -q way -- true &&
		test "$(git rev-parse agent/way)" = $old || return 1
	done
'

test_that 'a session cannot be captured while a resume is half done' '
	cd r &&
	git agent -c limits.capture.file_size=1KiB start -q --name again -- sh -c "
		echo 1 >one
		head -c 5000 /dev/zero >big" &&
	old=$(git rev-parse agent/again) &&
	on again "echo bad >bad" &&
	ended again applied &&
	git update-ref refs/heads/agent/again $old &&
	test_says "is being prepared for resume" test_must_fail git agent capture again &&
	grep "^hint: .git agent resume again" ../err &&
	test "$(git rev-parse agent/again)" = $old &&
	git agent resume -q again -- true &&
	test_prints "big\none" git diff --name-only main agent/again
'

# ---- after a power cut

# other_boot NAME: the state of the session says that it ran before the machine was started again
other_boot() {
	sed -i "s/^\tboot = .*/\tboot = \"00000000-0000-0000-0000-000000000000\"/" "$state"/*/sessions/"$1"/session &&
	grep -c "boot = \"0000" "$state"/*/sessions/"$1"/session | grep -x 1
}

test_that 'after a restart of the machine an undamaged session is resumed, and checked once' '
	cd r &&
	test_session bo "
		echo 1 >one
		echo x >c.log
		git add -f c.log
		git commit -qm log
		mkdir d2
		echo e >.envrc
		rm a
		touch d/e/f
		echo k >k.log" &&
	other_boot bo &&
	tip=$(git rev-parse agent/bo) &&
	test_resume bo "
		cat one c.log .envrc k.log
		test ! -e a" &&
	test "$(git rev-parse agent/bo)" = "$tip" &&
	grep "boot = \"$(cat /proc/sys/kernel/random/boot_id)" "$state"/*/sessions/bo/session &&
	other_boot bo &&
	on bo "echo h >h" &&
	ended bo applied "truncate -s 0 h" &&
	test_resume bo "cat h >\$HOME/h" &&
	grep h "$HOME/aihome/h" &&
	test "$(git diff --name-only "$tip" agent/bo)" = h
'

test_that 'files that a power cut damaged in the layers are not captured: the session is refused' '
	cd r &&
	i=0 &&
	for loss in "one:rm -f one" "a:rm -rf ./*" "d/e/f:truncate -s 0 d/e/f" "back:echo x >back"; do
		i=$((i + 1)) &&
		n=cut$i &&
		test_session $n "
			seq 99 >one
			rm a
			cp d/e/f d/e/f2
			mv d/e/f2 d/e/f
			echo >back" &&
		git agent resume -q $n -- rm back &&
		tip=$(git rev-parse agent/$n) &&
		(cd "$state"/*/sessions/$n/upper && eval "${loss#*:}") &&
		other_boot $n &&
		test_expect_code 125 git agent resume $n -- true 2>../err &&
		lost="lost some of its work when the machine went down: .${loss%%:*}. is not as it was captured" &&
		refused "$lost" "start --base agent/$n" &&
		test "$(git rev-parse agent/$n)" = "$tip" &&
		test_state $n captured || return 1
	done
'

test_that 'after a restart of the machine content that git converts is compared as converted' '
	test_enter conv &&
	printf "*.txt text eol=crlf\n" >.gitattributes &&
	printf "a\r\n" >t.txt &&
	test_commit base &&
	test_session cv "
		printf \"n\r\n\" >n.txt
		printf \"b\r\n\" >>t.txt" &&
	other_boot cv &&
	tip=$(git rev-parse agent/cv) &&
	git agent resume -q cv -- true &&
	test "$(git rev-parse agent/cv)" = "$tip" &&
	other_boot cv &&
	(cd "$state"/*/sessions/cv/upper && truncate -s 3 t.txt) &&
	test_fails 125 "t.txt. is not as it was captured" git agent resume cv -- true
'

test_done
