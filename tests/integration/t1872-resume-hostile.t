#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016
test_description='going on: what an agent planted, what is a secret by now, what is killed, and what is refused'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/secrets.sh
. "$TEST_SRCDIR/tests/lib/secrets.sh"
# shellcheck source=tests/lib/submodules.sh
. "$TEST_SRCDIR/tests/lib/submodules.sh"
require_sandbox

# All that is outside of sessions and homes of agents.
outside() {
	find "$HOME" -path "$HOME/.local" -prune -o -path "$HOME/aihome" -prune -o -path "*/.git" -prune -o -type f -size -1000k -print0 |
		sort -z |
		xargs -0 sha1sum |
		grep -v -e "/err\$" -e "/out\$" -e "/before" -e "/after"
}

test_expect_success 'make a repository' '
	git init -q r &&
	cd r &&
	echo a >a &&
	mkdir -p d/e &&
	echo f >d/e/f &&
	printf "out/\nd/e/cache/\n*.log\n" >.gitignore &&
	git add -A &&
	git commit -qm base &&
	mkdir out d/e/cache &&
	echo host >out/host &&
	echo host >d/e/cache/host &&
	mkdir "$HOME/secret" &&
	echo precious >"$HOME/secret/file"
'

# Links that lead out, wherever something is mounted or written for the next run.
for target in "$HOME/secret" /oldroot/home /proc/self/root/tmp ../../../../..; do
	test_expect_success "SB-04: links to $target where mounts and git write: refused or left alone, and nothing outside is touched" '
		cd r && n=p$(echo "'"$target"'" | cksum | cut -c1-6) && git agent start -q --name $n -- sh -c "
			mv d moved && mkdir d && ln -s \"'"$target"'\" d/e; ln -s \"'"$target"'\" one
			rm -rf .git/refs/heads/agent; mkdir -p .git/refs/heads; ln -s \"'"$target"'\" .git/refs/heads/agent
			rm -f .git/index; ln -s \"'"$target"'/index\" .git/index; rm -f .git/logs/HEAD; ln -s \"'"$target"'/log\" .git/logs/HEAD; true" &&
		outside >../before && rc=0 && { git agent resume $n -- sh -c "echo x >x" >../out 2>../err || rc=$?; } &&
		outside >../after && test_cmp ../before ../after && { test $rc = 0 || { test $rc = 125 && grep "^hint: " ../err; }; } && git agent list | grep "^$n .*captured"
	'
done

test_expect_success 'SB-04: a link where a shared directory is mounted, and one in the index'\''s and HEAD'\''s place' '
	cd r && git agent start -q --name l1 -- sh -c "rm -rf d; mv d away; mkdir -p d; ln -s \$HOME d/e; echo k >kept" && outside >../before &&
	rc=0 && { git agent resume l1 -- true 2>../err || rc=$?; } &&
	outside >../after && test_cmp ../before ../after && { test $rc = 0 || grep "^hint: " ../err; } &&
	git agent start -q --name l2 -- sh -c "ln -sf '"$HOME"'/secret/file .git/index && ln -sf ../a .git/HEAD.new && mv .git/HEAD.new .git/HEAD" &&
	{ git agent resume l2 -- true 2>../err || grep "^hint: .*start --base" ../err; } && test "$(cat "$HOME/secret/file")" = precious && outside >../after && test_cmp ../before ../after
'

test_expect_success 'GT-03: a git dir full of traps: refused with a remedy, at once' '
	cd r &&
	git agent start -q --name t1 -- sh -c "
		echo 1 >one
		git add one
		git commit -qm one
		mkfifo .git/refs/heads/x" &&
	test_expect_code 125 timeout 180 git agent resume t1 -- true 2>../err &&
	grep "git dir cannot be used: it holds a fifo" ../err &&
	grep "^hint: .*start --base agent/t1" ../err &&
	git agent start -q --name t2 -- sh -c "
		echo 1 >one
		echo \"[x\" >.git/config" &&
	test_expect_code 125 timeout 180 git agent resume t2 -- true 2>../err &&
	grep "git dir cannot be used: " ../err &&
	test "$(grep -vc warning ../err)" = 2 &&
	git agent start -q --name t4 -- sh -c "
		echo 1 >one
		mkfifo \$HOME/ff
		git config include.path \$HOME/ff" &&
	test_expect_code 125 timeout 180 git agent -c limits.capture.git_time=1s resume t4 -- true 2>../err &&
	grep "^hint: .*start --base agent/t4" ../err &&
	rm "$HOME/aihome/ff" &&
	git agent start -q --name t3 -- sh -c "
		echo 1 >one
		git add one
		git commit -qm one
		mkdir -p .git/hooks
		for h in reference-transaction post-index-change post-checkout pre-commit; do
			printf \"#!/bin/sh\ntouch \\\$HOME/hooked\n\" >.git/hooks/\$h
			chmod +x .git/hooks/\$h
		done
		git config core.fsmonitor \"touch \$HOME/hooked; false\"
		git config core.bare true
		git config core.worktree /tmp" &&
	rm -f "$HOME/aihome/hooked" &&
	git worktree add -q ../wt agent/t3 &&
	(cd ../wt && echo host >host && git add host && git commit -qm host) &&
	git worktree remove ../wt &&
	git agent resume -q t3 -- sh -c "
		test ! -e \$HOME/hooked &&
		cat host >two" &&
	test "$(git show agent/t3:two)" = host &&
	test ! -e hooked
'

test_expect_success 'SB-03: what is a secret by now is hidden, and what was hidden stays so' '
	project p && git agent start -q --name s -- sh -c "ls -A . cache cache/deep >\$HOME/ls1; echo 1 >one; cat .env.local >\$HOME/local" && grep LEVEL "$HOME/aihome/local" && ! grep -x .env "$HOME/aihome/ls1" &&
	rm .env && echo "TOKEN=$T" >.env.local && mkdir -p cache/more && echo "TOKEN=$T" >cache/more/.env && echo ok >cache/more/ok && pem >cache/deep/id_rsa &&
	git agent resume s -- sh -c "ls -A . cache/more cache/deep >\$HOME/ls2; grep -r -l -e \"'"$T"'\" -e \"PRIVATE KEY\" . >\$HOME/found 2>/dev/null; echo 2 >two" 2>../err && grep "secrets kept out.*cache/more/.env" ../err &&
	! grep -x -e .env -e .env.local -e id_rsa "$HOME/aihome/ls2" && grep -x ok "$HOME/aihome/ls2" && test ! -s "$HOME/aihome/found" && git agent show s | grep "cache/more/.env" &&
	git agent show --json s | grep "\"cache/deep/id_rsa\"" && git diff --name-only main agent/s >../got && printf "one\ntwo\n" >../want && test_cmp ../want ../got && test -s .env.local &&
	git agent resume -q s --expose cache/more/.env -- sh -c "test ! -e cache/more/.env"
'

test_expect_success 'what was shown stays shown' '
	project x &&
	git agent start -q --name s --expose .env -- true &&
	git agent resume -q s -- sh -c "
		grep -q TOKEN .env &&
		test ! -e server.key" &&
	git agent resume -q s -- grep -q TOKEN .env
'

test_expect_success 'SB-03: over the working tree itself, too' '
	project q && git agent start -q --live --name s -- sh -c "echo 1 >one" && echo "TOKEN=$T" >.env.new && pem >late.key && cp .env config/.env.more &&
	git agent resume -q s -- sh -c "grep -r -l -e \"'"$T"'\" -e \"PRIVATE KEY\" --exclude-dir=.git . >\$HOME/found; ls -A >\$HOME/ls; echo 2 >two" && test ! -s "$HOME/aihome/found" && ! grep -x -e .env.new -e late.key -e .env -e server.key "$HOME/aihome/ls" &&
	git diff --name-only main agent/s >../got && printf "one\ntwo\n" >../want && test_cmp ../want ../got && git agent resume -q s -- sh -c "test ! -e .env.new && test ! -e late.key"
'

test_expect_success 'GT-01: hooks that were held back, committed by the run after: no command of git runs them' '
	git init -q hooks && cd hooks && git config core.hooksPath .hooks && echo a >a && git add a && git commit -qm base && hook="printf \"#!/bin/sh\ntouch '"$HOME"'/ran\n\" >.hooks/\$h && chmod +x .hooks/\$h" &&
	git agent start -q --name h -- sh -c "echo 1 >one; mkdir .hooks; for h in post-checkout post-merge pre-commit reference-transaction; do $hook; done; echo touch '"$HOME"'/ran >.envrc" &&
	git agent resume -q h -- sh -c "git add -f -A && git commit -q --no-verify -m all && echo 2 >two && git add two && git commit -q --no-verify -m two && git rm -rq --cached .hooks && git commit -q --no-verify -m out && git add -A && git commit -q --no-verify -m in" &&
	git agent resume -q h -- sh -c "mv .hooks .hooks2 && mv .hooks2 .hooks && echo 3 >three" && git rev-list --objects main..agent/h | (! grep -e hooks -e envrc) && git ls-tree -r --name-only refs/agent/h/held | grep -c hooks | grep -x 4 &&
	git worktree add -q ../hwt agent/h && git worktree remove ../hwt && git switch -q agent/h && git switch -q main && git merge -q --no-edit agent/h && git rebase -q --force-rebase HEAD~1 && git log --format=%s | grep -x two && test -e three && test ! -e .hooks && test ! -e "$HOME/ran"
'

# What each of the sessions below did, and what is done to its branch.
agent='echo 1 >one && git add one && git commit -qm one && echo 2 >two && echo e >.envrc && echo log >x.log && echo k >kept'
host() {
	git worktree add -q ../wt "agent/$1" &&
	(
		cd ../wt &&
		echo host >host &&
		echo changed >two &&
		git rm -q kept &&
		git add -A &&
		git commit -qm host
	) &&
	git worktree remove ../wt
}
again='cat host two .envrc >view; test ! -e kept && echo 3 >three && git add three && git commit -qm three'
same() {
	git log --format=%s "agent/$1" | sed "s/$1/good/" >../got.log &&
	test_cmp ../want.log ../got.log &&
	git rev-parse "agent/$1^{tree}" "refs/agent/$1/held^{tree}" >../got &&
	test_cmp ../want ../got &&
	test ! -e "$(git rev-parse --git-common-dir)/worktrees/agent-$1" &&
	git fsck --connectivity-only
}

test_expect_success 'the result without any fault' '
	cd r &&
	git agent start -q --name good -- sh -c "$agent" &&
	host good &&
	git agent resume -q good -- sh -c "$again" &&
	git rev-parse agent/good^{tree} refs/agent/good/held^{tree} >../want &&
	git log --format=%s agent/good >../want.log &&
	printf "host\nchanged\ne\n" >../v &&
	git show agent/good:view | test_cmp ../v - &&
	grep -c . ../want.log | grep -x 6
'

for point in begin noted brought moved prepared; do
	test_expect_success "killed while it is made ready at $point: as it was, and done again it is the same" '
		cd r && n=k-'$point' && git agent start -q --name $n -- sh -c "$agent" && host $n && git for-each-ref refs/heads/agent/$n refs/agent/$n | grep -v /from >../before &&
		{ GIT_AGENT_FAULT=resume:'$point':kill git agent resume -q $n -- sh -c "$again"; test $? = 137; } && git agent list 2>../err | grep "^$n .*captured" && ! grep interrupted ../err &&
		git for-each-ref refs/heads/agent/$n refs/agent/$n | grep -v /from >../after && test_cmp ../before ../after && test ! -e .git/worktrees/agent-$n && git agent capture -q $n &&
		test_must_fail env GIT_AGENT_FAULT=resume:'$point':fail git agent resume -q $n -- sh -c "$again" && git agent list | grep "^$n .*captured" && git agent resume -q $n -- sh -c "$again" && same $n
	'
done

for point in capture:begin capture:imported capture:upper capture:commit capture:rewrite capture:before-refs capture:after-refs capture:before-state; do
	n=c-${point#*:}
	test_expect_success "OV-24: killed at $point of the capture after: the next list finishes the job" '
		cd r && n='$n' && git agent start -q --name $n -- sh -c "$agent" && host $n &&
		{ GIT_AGENT_FAULT='$point':kill git agent resume -q $n -- sh -c "$again"; test $? = 137; } &&
		test_wait_for "git agent list 2>../err && grep \"interrupted; capturing\" ../err" && same $n && git agent resume -q $n -- true && same $n
	'
done

test_expect_success 'killed before the command ran: nothing is lost, and it goes on' '
	cd r &&
	git agent start -q --name early -- sh -c "$agent" &&
	host early &&
	git agent show early >../before &&
	{
		GIT_AGENT_FAULT=start:running:kill git agent resume -q early -- sh -c "$again"
		test $? = 137
	} &&
	tip=$(git rev-parse agent/early) &&
	git agent capture early 2>../err &&
	test "$(git rev-parse agent/early)" = "$tip" &&
	git show refs/agent/early/held:.envrc &&
	git agent resume -q early -- sh -c "$again" &&
	same early
'

test_expect_success 'the supervisor killed while it runs: what was done until then is captured' '
	cd r &&
	git agent start -q --name kill9 -- sh -c "$agent" &&
	host kill9 &&
	rm -f "$HOME/aihome/up9" &&
	{
		git agent resume -q kill9 -- sh -c "
		$again
		touch \$HOME/up9
		sleep 1000" &
	} &&
	test_wait_for "test -e $HOME/aihome/up9" &&
	pid=$(pgrep -u "$(id -u)" -f "[g]it-agent resume -q kill9") &&
	test_expect_code 125 git agent resume kill9 2>../err &&
	grep "session .kill9. is running" ../err &&
	kill -9 $pid &&
	wait 2>/dev/null &&
	git agent list 2>../err &&
	grep interrupted ../err &&
	same kill9
'

test_expect_success 'a command that is not there: refused before, or nothing lost' '
	cd r &&
	test_expect_code 125 git agent resume good -- no-such-command 2>../err &&
	grep "command .no-such-command. was not found" ../err &&
	grep "^hint: " ../err &&
	git agent list | grep "^good .*captured" &&
	test_expect_code 125 git agent resume -q good -- ./no-such &&
	git agent list | grep "^good .*captured" &&
	same good
'

test_expect_success 'refused, with one line and what to do' '
	cd r &&
	line() {
		cat ../err &&
		test "$(grep -vc warning ../err)" -le 2 &&
		grep -v "^hint" ../err | grep "$1" &&
		{ test -z "$2" || grep "^hint: .*$2" ../err; }
	} &&
	test_expect_code 125 git agent resume nosuch -- true 2>../err &&
	line "there is no session .nosuch." list &&
	test_expect_code 125 git agent -c disk_free=16TiB resume good -- true 2>../err &&
	line "less than 16TiB is free" disk_free &&
	git worktree add -q ../elsewhere main -b elsewhere &&
	(cd ../elsewhere && test_expect_code 125 git agent resume good -- true 2>../err) &&
	line "belongs to the working tree" "cd " &&
	git worktree remove ../elsewhere &&
	git agent start -q --name drop -- sh -c "echo 1 >one" &&
	git agent drop --force drop &&
	test_expect_code 125 git agent resume drop -- true 2>../err &&
	line "there is no session .drop." &&
	git agent start -q --name gone -- sh -c "echo 1 >one" &&
	rm -rf "$HOME"/.local/state/git-agent/*/sessions/gone/upper &&
	test_expect_code 125 git agent resume gone -- true 2>../err &&
	line "layers of session .gone. are gone" "start --base agent/gone" &&
	git agent start -q --name dam -- sh -c "echo 1 >one" &&
	dir=$(ls -d "$HOME"/.local/state/git-agent/*/sessions/dam) &&
	echo garbage >"$dir/session" &&
	rm -f "$dir/session.old" &&
	test_expect_code 125 git agent resume dam -- true 2>../err &&
	line "state file" "drop --force dam" &&
	git agent drop --force dam &&
	cd .. &&
	mv r moved &&
	cd moved &&
	test_expect_code 125 git agent resume good -- true 2>../err &&
	line "is not at .*/r. any more" "start --base agent/good" &&
	cd .. &&
	mv moved r &&
	cd r &&
	git agent resume -q good -- true
'

test_expect_success 'shared directories that are gone, or a link by now, on the host' '
	cd r &&
	mv out out-away &&
	ln -s "$HOME/secret" out &&
	git agent resume -q good -- sh -c "
		ls out/ >\$HOME/ls 2>&1
		true" &&
	! grep file "$HOME/aihome/ls" &&
	rm out &&
	git agent resume -q good -- true &&
	mv out-away out &&
	git agent resume -q good -- sh -c "cat out/host"
'

test_expect_success 'a session with submodules: refused with what to do' '
	cd "$HOME" &&
	make_repo lib &&
	make_super super lib &&
	cd super &&
	git agent start -q --name sub -- sh -c "echo 1 >f" &&
	test_expect_code 125 git agent resume sub -- true 2>../err &&
	grep "session .sub. has submodules" ../err &&
	grep "^hint: .*start --base agent/sub" ../err &&
	cd $L &&
	test_expect_code 125 git agent resume sub -- true 2>../err &&
	grep "is part of a superproject" ../err
'

# on NAME COMMANDS: on its branch, in a working tree of the user's
on() {
	git worktree add -q ../wt "agent/$1" &&
	(cd ../wt && eval "$2" && git add -f -A && git commit -qm host)
	on_rc=$?
	git worktree remove --force ../wt &&
	return $on_rc
}

# Ends a resume of NAME at POINT, whose layers are then changed by COMMANDS, run in them.
# ended NAME POINT [COMMANDS]
ended() {
	{
		GIT_AGENT_FAULT="resume:$2:kill" git agent resume -q "$1" -- true
		test $? = 137
	} &&
	git agent list | grep "^$1 .*captured" &&
	(cd "$HOME"/.local/state/git-agent/*/sessions/"$1"/upper && eval "${3:-:}")
}

test_expect_success 'a commit of the host that is withdrawn after a resume ended: nobody'\''s work' '
	cd r &&
	for point in noted brought moved prepared; do
		for how in kill fail; do
			n=w-$point-$how &&
			git agent start -q --name $n -- sh -c "
		echo 1 >one
		echo 2 >gone" &&
			old=$(git rev-parse agent/$n) &&
			on $n "echo bad >bad && echo bad >>one && rm gone a" &&
			! GIT_AGENT_FAULT=resume:$point:$how git agent resume -q $n -- true &&
			git update-ref refs/heads/agent/$n $old &&
			git agent resume -q $n -- sh -c "
		test ! -e bad &&
		cat one gone a >\$HOME/cat &&
		test -z \"\$(git status --porcelain)\"" &&
			printf "1\n2\na\n" | test_cmp - "$HOME/aihome/cat" &&
			test "$(git rev-parse agent/$n)" = $old &&
			git agent resume -q $n -- sh -c "echo 3 >>one" &&
			test "$(git diff --name-only $old agent/$n)" = one || exit 1
		done
	done
'

test_expect_success 'and one that is exchanged: what is there now is there, nothing of the other' '
	cd r &&
	git agent start -q --name ex -- sh -c "
		echo 1 >one
		mkdir dir
		echo 2 >dir/two" &&
	old=$(git rev-parse agent/ex) &&
	on ex "echo bad >bad && rm one && mkdir one && echo x >one/x && rm -r dir && echo file >dir" &&
	ended ex brought &&
	git update-ref refs/heads/agent/ex $old &&
	on ex "echo good >good && echo more >>one" &&
	ended ex moved &&
	tip=$(git rev-parse agent/ex) &&
	git agent resume -q ex -- sh -c "
		test -z \"\$(git status --porcelain)\" &&
		cat one dir/two good >\$HOME/cat
		test ! -e bad" &&
	printf "1\nmore\n2\ngood\n" | test_cmp - "$HOME/aihome/cat" &&
	test "$(git rev-parse agent/ex)" = "$tip"
'

test_expect_success 'killed while files are written: half a file is none that was captured, and is written again' '
	cd r &&
	git agent start -q --name half -- sh -c "
		seq 1000 >big
		seq 9 >small
		echo k >kept" &&
	on half "seq 2000 >big && seq 3000 >new && rm small" &&
	tip=$(git rev-parse agent/half) &&
	ended half brought "truncate -s 100 big && truncate -s 0 new && rm -f small && seq 5 >small" &&
	ended half brought "rm -f big new" &&
	git agent resume -q half -- sh -c "
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

test_expect_success 'a file that became a directory and the reverse: from every point, and half done' '
	cd r &&
	for point in noted brought moved prepared; do
		n=d-$point &&
		git agent start -q --name $n -- sh -c "
		echo 1 >one
		mkdir -p dir/deep
		echo 2 >dir/two
		echo 3 >dir/deep/three
		ln -s dir link" &&
		on $n "rm one && mkdir one && echo y >one/y && rm -r dir && echo f >dir && rm link && mkdir link && echo l >link/two" &&
		tip=$(git rev-parse agent/$n) &&
		ended $n $point &&
		ended $n $point "test $point = noted || { rm -r one dir && mkdir -p dir/deep && echo 3 >dir/deep/three; }" &&
		git agent resume -q $n -- sh -c "
		test -z \"\$(git status --porcelain)\" &&
		cat one/y dir link/two >\$HOME/cat
		test ! -L link" &&
		printf "y\nf\nl\n" | test_cmp - "$HOME/aihome/cat" &&
		test "$(git rev-parse agent/$n)" = "$tip" || exit 1
	done
'

test_expect_success 'what was not captured is in the way, in whatever form: refused, named, and there still' '
	cd r &&
	git agent start -q --name way -- sh -c "
		mkdir -p d1/deep/er d2
		echo 1 >d1/one
		echo log >d1/deep/er/in.log
		echo log >p.log
		echo log >n.log
		ln -s d2 q.log
		echo 2 >d2/two" &&
	up=$(echo "$HOME"/.local/state/git-agent/*/sessions/way/upper) &&
	old=$(git rev-parse agent/way) &&
	find "$up" | sort >../before &&
	for what in "d1/deep/er/in.log: rm -r d1 && echo f >d1" "p.log: mkdir p.log && echo f >p.log/f" "n.log: echo f >n.log" "q.log: mkdir q.log && echo f >q.log/two" "d1/deep/er/in.log: mkdir -p d1/deep/er/in.log && echo f >d1/deep/er/in.log/x"; do
		on way "${what#*:}" &&
		test_expect_code 125 git agent resume way -- true 2>../err &&
		grep "cannot be brought into the session: ${what%%:*}\$" ../err &&
		find "$up" | sort >../after &&
		test_cmp ../before ../after &&
		git update-ref refs/heads/agent/way $old &&
		git agent resume -q way -- true &&
		test "$(git rev-parse agent/way)" = $old || exit 1
	done
'

test_expect_success 'over the working tree itself: ended, withdrawn, done again' '
	git init -q lv &&
	cd lv &&
	echo a >a &&
	git add a &&
	git commit -qm a &&
	git agent start -q --live --name lv -- sh -c "echo 1 >one" &&
	old=$(git rev-parse agent/lv) &&
	on lv "echo h >h && echo 2 >>one && rm a" &&
	new=$(git rev-parse agent/lv) &&
	ended lv brought "truncate -s 0 one" &&
	git update-ref refs/heads/agent/lv $old &&
	ended lv moved &&
	git agent resume -q lv -- sh -c "
		test ! -e h &&
		cat one a >\$HOME/cat" &&
	printf "1\na\n" | test_cmp - "$HOME/aihome/cat" &&
	test "$(git rev-parse agent/lv)" = $old &&
	git update-ref refs/heads/agent/lv $new &&
	git agent resume -q lv -- sh -c "
		test ! -e a &&
		cat one h >\$HOME/cat" &&
	printf "1\n2\nh\n" | test_cmp - "$HOME/aihome/cat" &&
	test "$(git rev-parse agent/lv)" = $new &&
	test -e a
'

test_expect_success 'captured again with a higher limit while half is brought: refused, and afterwards done' '
	cd r &&
	git agent -c limits.capture.file_size=1KiB start -q --name again -- sh -c "
		echo 1 >one
		head -c 5000 /dev/zero >big" &&
	old=$(git rev-parse agent/again) &&
	on again "echo bad >bad" &&
	ended again brought &&
	git update-ref refs/heads/agent/again $old &&
	test_must_fail git agent capture again 2>../err &&
	grep "was being made ready to go on" ../err &&
	grep "^hint: .git agent resume again" ../err &&
	test "$(git rev-parse agent/again)" = $old &&
	git agent resume -q again -- true &&
	git diff --name-only main agent/again >../got &&
	printf "big\none\n" | test_cmp - ../got
'

# The session's state file says that it ran before the machine was started anew.
other_boot() {
	sed -i "s/^\tboot = .*/\tboot = \"00000000-0000-0000-0000-000000000000\"/" "$HOME"/.local/state/git-agent/*/sessions/"$1"/session &&
	grep -c "boot = \"0000" "$HOME"/.local/state/git-agent/*/sessions/"$1"/session | grep -x 1
}

test_expect_success 'the machine was started anew, and all is there: it goes on, and looks no more' '
	cd r &&
	git agent start -q --name bo -- sh -c "
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
	git agent resume -q bo -- sh -c "
		cat one c.log .envrc k.log
		test ! -e a" &&
	test "$(git rev-parse agent/bo)" = "$tip" &&
	grep "boot = \"$(cat /proc/sys/kernel/random/boot_id)" "$HOME"/.local/state/git-agent/*/sessions/bo/session &&
	other_boot bo &&
	on bo "echo h >h" &&
	ended bo brought "truncate -s 0 h" &&
	git agent resume -q bo -- sh -c "cat h >\$HOME/h" &&
	grep h "$HOME/aihome/h" &&
	test "$(git diff --name-only "$tip" agent/bo)" = h
'

test_expect_success 'what a power cut took from the layers is nothing that the agent did: refused, and nothing published' '
	cd r &&
	i=0 &&
	for loss in "one:truncate -s 0 one" "one:rm -f one" "a:rm -f a" "a:rm -rf ./*" "d/e/f:truncate -s 0 d/e/f" "back:echo x >back"; do
		i=$((i + 1)) &&
		n=cut$i &&
		git agent start -q --name $n -- sh -c "
		seq 99 >one
		rm a
		cp d/e/f d/e/f2
		mv d/e/f2 d/e/f
		echo >back" &&
		git agent resume -q $n -- rm back &&
		tip=$(git rev-parse agent/$n) &&
		(cd "$HOME"/.local/state/git-agent/*/sessions/$n/upper && eval "${loss#*:}") &&
		other_boot $n &&
		test_expect_code 125 git agent resume $n -- true 2>../err &&
		grep "lost some of its work when the machine went down: .${loss%%:*}. is not as it was captured" ../err &&
		grep "^hint: .*start --base agent/$n" ../err &&
		test "$(grep -vc warning ../err)" = 2 &&
		test "$(git rev-parse agent/$n)" = "$tip" &&
		git agent list | grep "^$n .*captured" || exit 1
	done
'

test_expect_success 'started anew: content that git converts is the same content' '
	git init -q conv &&
	cd conv &&
	printf "*.txt text eol=crlf\n" >.gitattributes &&
	printf "a\r\n" >t.txt &&
	git add -A &&
	git commit -qm base &&
	git agent start -q --name cv -- sh -c "
		printf \"n\r\n\" >n.txt
		printf \"b\r\n\" >>t.txt" &&
	other_boot cv &&
	tip=$(git rev-parse agent/cv) &&
	git agent resume -q cv -- true &&
	test "$(git rev-parse agent/cv)" = "$tip" &&
	other_boot cv &&
	(cd "$HOME"/.local/state/git-agent/*/sessions/cv/upper && truncate -s 3 t.txt) &&
	test_expect_code 125 git agent resume cv -- true 2>../err &&
	grep "t.txt. is not as it was captured" ../err
'

test_expect_success 'SB-03: secrets that were committed to the branch since: said, as for a session that is started on it' '
	git init -q sec &&
	cd sec &&
	echo a >a &&
	git add a &&
	git commit -qm a &&
	git agent start -q --name s -- sh -c "echo 1 >one" &&
	git agent resume s -- true 2>../err &&
	! grep "with secrets" ../err &&
	on s "echo \"TOKEN=$T\" >.env && pem >server.key" &&
	git agent start --name other --base agent/s -- true 2>../err &&
	sed -n "s/^agent.other: //p" ../err | grep "with secrets" >../want &&
	grep "2 of them committed" ../want &&
	git agent resume s -- true 2>../err &&
	sed -n "s/^agent.s: //p" ../err | grep "with secrets" >../got &&
	test_cmp ../want ../got &&
	git agent resume s -- true 2>../err &&
	sed -n "s/^agent.s: //p" ../err | grep "with secrets" | test_cmp ../want -
'

test_done
