#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a session from start to landing'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_that 'make a repository' '
	test_repo r &&
	cd r &&
	echo one >a &&
	echo two >b &&
	mkdir -p d/e &&
	echo three >d/e/c &&
	ln -s a link &&
	printf "#!/bin/sh\n" >tool &&
	chmod +x tool &&
	echo "*.log" >.gitignore &&
	echo "out/" >>.gitignore &&
	test_commit base
'

test_that 'git reads its configuration once, of the repository around, whatever the environment' '
	mkdir bin &&
	real=$(command -v git) &&
	test_script bin/git <<-EOF &&
	case "\$*" in *--show-origin*) echo "\$GIT_DIR" >>"$HOME/reads" ;; esac
	exec "$real" "\$@"
	EOF
	cd r &&
	for command in list "drop --help" "list -h" secrets --version "start --dry-run -- true"; do
		: >../reads &&
		GIT_DIR=/nowhere GIT_AGENT_LOADING=1,2,3:x GIT_AGENT_BEGUN=1,4,5,6,7,8:x PATH="$HOME/bin:$PATH" \
			"$TEST_BUILDDIR/git-agent" $command >../out 2>&1 &&
		case $command in
		*-h* | --version) test ! -s ../reads ;;
		*) test_prints "$HOME/r/.git" cat ../reads ;;
		esac || return 1
	done &&
	(unset HOME && "$TEST_BUILDDIR/git-agent" --version)
'

test_that 'a caller that ignores SIGCHLD changes nothing' '
	cd r &&
	test_expect_code 3 env --ignore-signal=CHLD git-agent start -q --name ignored -- sh -c "exit 3" &&
	test_fails 125 "cannot run ./none" env --ignore-signal=CHLD git-agent start -d --name none -- /none &&
	git agent drop ignored
'

test_that 'a session without changes makes no commit, no branch and no worktree entry' '
	cd r &&
	test_says "agent/nothing: nothing to commit" git agent start --name nothing -- sh -c "
		touch a
		mkdir empty
		chmod 600 d/e/c" &&
	test_must_fail git rev-parse --verify -q refs/heads/agent/nothing &&
	test "$(git for-each-ref refs/agent/nothing | wc -l)" = 1 &&
	test ! -e .git/worktrees &&
	git agent list | grep "nothing.*captured" &&
	git agent review nothing | grep "nothing was committed" &&
	git agent drop nothing &&
	git agent list >../out &&
	! grep nothing ../out
'

test_that 'a name can be started and dropped several times within a second' '
	cd r &&
	for i in 1 2 3 4; do
		git agent start -q --name again -- true &&
		git agent drop again || exit 1
	done &&
	test "$(git for-each-ref refs/agent-trash | grep -c "/again-.*/base$")" = 4 &&
	test "$(ls "$HOME"/.local/state/git-agent/*/trash | grep -c "^again-")" = 4 &&
	: overlays leave directories of mode 000, which would stop this &&
	test -z "$(find "$HOME"/.local/state/git-agent/*/trash -name work)" &&
	rm -r "$HOME"/.local/state/git-agent/*/trash
'

test_that STRACE 'the refs of a start reach the disk while the session runs' '
	cd r &&
	test_when_finished "git agent drop synced; rm -f ../trace" &&
	{
		strace -f -y -e trace=fsync -o ../trace git agent start -q --name synced -- sh -c "
			until test -e \$HOME/synced; do sleep 0.05; done" &
	} &&
	synced=yes &&
	for file in refs/agent/synced/base refs/heads/agent/synced sessions/synced/session; do
		test_wait_for "command grep -q \"fsync(.*/$file>\" ../trace" || synced=no
	done &&
	touch "$HOME/aihome/synced" &&
	wait &&
	test $synced = yes
'

test_that 'uncommitted work is seen inside, and kept off the branch and out of the index' '
	cd r &&
	echo mine >>b2 &&
	git add b2 &&
	git commit -qm b2 &&
	seq 1 40 >long &&
	git add long &&
	git commit -qm long &&
	sed -i "3s/.*/MY EDIT/" long &&
	echo untracked >unt &&
	cp .git/index ../index.before &&
	test_says "2 uncommitted paths" git agent start --name dirty -- sh -c "
		test \"\$(cat unt)\" = untracked && grep -q \"MY EDIT\" long &&
		sed -i \"30s/.*/AGENT/\" long && echo agent >agentfile &&
		git status --porcelain >\$HOME/status" &&
	test_cmp .git/index ../index.before &&
	! grep unt "$HOME/aihome/status" &&
	git diff --name-only HEAD agent/dirty >../names &&
	test "$(cat ../names)" = agentfile &&
	test "$(git merge-base agent/dirty HEAD)" = "$(git rev-parse HEAD)"
'

test_that '--base starts at any commit' '
	cd r &&
	git agent start --name old --base HEAD~1 -- sh -c "
		git rev-parse HEAD >\$HOME/head
		echo o >o2" &&
	test "$(cat "$HOME/aihome/head")" = "$(git rev-parse HEAD~1)" &&
	test_same agent/old~1 HEAD~1 &&
	test_fails 125 "^hint: .git log --all" git agent start --base no-such-rev -- true
'

test_that 'a session starts in the current directory, and gets a number in its name' '
	cd r &&
	mkdir -p sub &&
	echo s >sub/s &&
	git add sub &&
	git commit -qm sub &&
	cd sub &&
	git agent start -- sh -c "pwd >\$HOME/pwd; echo t >t" 2>../err &&
	test "$(cat "$HOME/aihome/pwd")" = "$(pwd)" &&
	git agent start -- sh -c "echo t >t" &&
	git cat-file -e agent/sh-1:sub/t &&
	git cat-file -e agent/sh-2:sub/t
'

test_that 'a directory that git does not have is there inside as well, and is no change' '
	cd r &&
	mkdir -p hollow/deep &&
	cd hollow/deep &&
	git agent start --name hollow -- sh -c "pwd >\$HOME/pwd; cat ../../a" 2>../../../err &&
	test "$(cat "$HOME/aihome/pwd")" = "$(pwd)" &&
	grep "nothing to commit" ../../../err &&
	test_session filled "echo t >t" &&
	git cat-file -e agent/filled:hollow/deep/t
'

test_that 'a directory that is a file in the base is refused as the place to start' '
	cd r &&
	rm -r hollow &&
	echo file >hollow &&
	git add hollow &&
	git commit -qm file &&
	git rm -q hollow &&
	git commit -qm gone &&
	mkdir hollow &&
	cd hollow &&
	test_expect_code 125 git agent start --base HEAD~1 --name on-file -- true 2>../../err &&
	grep "cannot enter .*hollow. in the sandbox: Not a directory" ../../err &&
	grep "^hint: start from the root" ../../err &&
	test -z "$(git for-each-ref refs/agent/on-file)" &&
	cd .. &&
	rmdir hollow &&
	git agent drop hollow &&
	git agent drop --force filled &&
	git reset -q HEAD~2
'

test_that 'a session that is started within .git begins in the root of the project' '
	cd r/.git/hooks &&
	test_session within "pwd >\$HOME/pwd" &&
	test "$(cat "$HOME/aihome/pwd")" = "$HOME/r" &&
	git agent drop within
'

test_that 'start --dry-run creates nothing' '
	cd r &&
	git for-each-ref >../before &&
	test_fails 125 "not found on PATH" git agent start --dry-run --name dry -- claude-nothing &&
	test_shows "agent/dry" git agent start --dry-run --name dry -- sh -c true &&
	git for-each-ref | test_cmp ../before - &&
	! git agent list | grep "^dry"
'

test_that 'a program that cannot be run is refused, with a hint' '
	cd r &&
	test_fails 125 "not found on PATH" git agent start -- no-such-command &&
	mkdir -p ../on-path/a-directory &&
	test_fails 125 "not found on PATH" env PATH="$HOME/on-path:$PATH" git agent start -- a-directory &&
	test_fails 125 "^hint: .*interpreter" git agent start --name gone -- ./not-there &&
	test_must_fail git agent show gone &&
	test_fails 125 "^hint: .*chmod" git agent start --name gone -- ./b2 &&
	test_must_fail git agent show gone
'

test_that 'wrong usage is named, with what was meant' '
	cd r &&
	test_fails 129 "usage: git agent start" git agent start &&
	test_fails 129 "empty" git agent start -- "" &&
	grep "^hint: " ../err &&
	test_fails 129 "did you mean .--name" git agent start --nmae x -- true &&
	test_fails 129 "did you mean .git agent start" git agent stat &&
	test_fails 129 "did you mean .git agent drop.?$" git agent rm &&
	test_fails 129 "did you mean .git agent land --undo.?$" git agent undo &&
	test_fails 125 "did you mean .git agent start claude.?$" git agent start cluade
'

test_that 'words of an earlier release still work, and say what they are now' '
	cd r &&
	git agent show --journal old >../want &&
	git agent log old >../got 2>../err &&
	test_cmp ../want ../got &&
	grep "^warning: .git agent log. is now .git agent show --journal" ../err &&
	test_says "is now .git agent --version" test_shows "^git-agent version" git agent version
'

test_that 'an option behind an agent is the agents, with a note if start has it too' '
	cd r &&
	mkdir -p bin &&
	test_script bin/codex "#!/bin/sh" &&
	PATH="$HOME/r/bin:$PATH" git agent start codex --network=none --verbose -- --rm 2>../err &&
	test "$(grep -c "^note: " ../err)" = 1 &&
	grep "^note: .--network. goes to codex" ../err
'

test_that 'a name that no session can have is refused' '
	cd r &&
	for n in "Bad Name" -x "" a/b .x x.lock $(printf "x%.0s" $(seq 100)); do
		for how in --dry-run --quiet; do
			test_fails 129 "cannot name a session" git agent start $how --name="$n" -- true &&
			grep "^hint: .*at most .* beginning with" ../err || exit 1
		done
	done &&
	test_fails 125 "exists already" git agent start --dry-run --name old -- true
'

test_that 'output that cannot be written is an error, but not if the reader has left' '
	cd r &&
	for c in --version "config --json" "list --json" "list -h"; do
		test_fails 128 "cannot write.*No space left" git agent $c >/dev/full ||
			return 1
	done &&
	: more than a pipe holds &&
	test_session many "for i in \$(seq 2000); do echo >f\$i; done" &&
	{
		git agent review --json many
		echo $? >../status
	} 2>../err | : &&
	test "$(cat ../status)" = 0 &&
	test ! -s ../err &&
	git agent drop --force many
'

# A path of 148 columns, 76 characters of which take more than one byte, and two short ones.
long=long/$(printf "%066d" 0)/$(printf "\303\244%.0s" $(seq 76))
pty=$TEST_BUILDDIR/tests/helpers/ptydrive

test_that 'show cuts paths to the width of a terminal, at the front, and nowhere else' '
	test_repo once &&
	cd once &&
	test_empty first &&
	test_says "flagged: .*$long/.envrc" git agent start --name o -- sh -c "
		mkdir -p $long sub
		echo id >$long/.envrc
		echo foo >.gitignore
		echo x >foo
		echo \"all: ; id\" >Makefile" &&
	git agent show o >../out &&
	test "$(grep -c "newly ignored: foo" ../out)" = 1 &&
	grep "flagged: .*$long/.envrc" ../out &&
	$pty resize=24x100 expect="flagged" exit=0 -- git agent show o >../out &&
	tr -d "\r" <../out | grep "  flagged: " >../line &&
	cat ../line &&
	python3 -c "
line = open(\"../line\", encoding=\"utf-8\").read().rstrip(\"\n\")
assert 90 < len(line) < 100, len(line)
assert \"...\" in line and \"/.envrc\" in line and \"Makefile\" in line, line" &&
	test_shows "\.\.\..*envrc" $pty resize=24x10 exit=0 -- git agent show o &&
	test_shows "flagged: .*$long/.envrc" $pty resize=24x400 exit=0 -- git agent show o
'

test_that '--help and help open the manual page, and print the usage where there is none' '
	mkdir -p man/man1 &&
	cp "$TEST_SRCDIR"/docs/man/*.1 man/man1/ &&
	if command -v man; then
		MANPATH="$HOME/man" &&
		MANPAGER=cat &&
		PAGER=cat &&
		export MANPATH MANPAGER PAGER &&
		test_shows "GIT-AGENT(1)" git agent --help &&
		for page in start land agents; do
			git agent $page --help >out &&
			grep "GIT-AGENT-$(echo $page | tr a-z A-Z)(1)" out &&
			git agent help $page | test_cmp out - ||
				exit 1
		done
	fi &&
	MANPATH="$HOME/none" &&
	export MANPATH &&
	git agent land --help >out &&
	grep "^usage: git agent land" out &&
	git agent help land | test_cmp out - &&
	git agent -h >out &&
	git agent help | test_cmp out - &&
	test_fails 129 "did you mean .git agent land" git agent help lnad &&
	test_expect_code 129 git agent help land x
'

test_done
