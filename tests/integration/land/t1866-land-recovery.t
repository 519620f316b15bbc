#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a landing or an undo that was killed is completed or rolled back by the next'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# ready NAME: a session that changes, adds and removes files, beside modified and staged files of the user; its
# uncommitted part is in old
ready() {
	make_repo "$1" &&
	line old 8 mine &&
	session "$1" "line f 2 agent; rm g; mkdir e; echo n >e/n; echo n >new; line old 2 agent" &&
	mine &&
	line d/h 8 edit &&
	echo u >untracked &&
	picture >"$HOME/ready"
}

# all_landed: the whole session is here, and what is the user's as it was
all_landed() {
	git show HEAD:f | grep agent &&
	test ! -e g &&
	test_prints "n\nn\nmine" cat e/n new mine &&
	test_prints "agent\nmine" sed -n "2p;8p" old &&
	test_prints " M d/h\n M old\n?? untracked" git status --porcelain
}

# killed POINT COMMAND...: it is killed there
killed() {
	point=$1
	shift
	GIT_AGENT_FAULT=$point:kill test_expect_code 137 git-agent "$@"
}

# ---- killed at each point

# before_git LABEL POINT HOW [HOOK]: killed before there is a commit
before_git() {
	test_that "a landing killed before its commit is rolled back, then it lands: $1" "
		ready $1 &&
		{ test -z '$4' || hook '$4' true; } &&
		killed $2 land $3 $1 &&
		refused 2 'a landing of agent/$1 was killed' git agent land --dry-run $3 $1 &&
		hint 'git agent land --abort $1' &&
		git agent land --abort $1 &&
		git stash list | test_cmp /dev/null - &&
		as_before &&
		killed $2 land $3 $1 &&
		test_expect_code 1 git agent land --undo $1 &&
		as_before &&
		killed $2 land $3 $1 &&
		git agent land $3 $1 &&
		all_landed &&
		git agent land --undo &&
		as_before &&
		test lock = \"\$(ls .git/git-agent/landing)\"
	"
}
# as_before: as it was when ready() was done
as_before() {
	picture | test_cmp "$HOME/ready" -
}
before_git merge land:move --merge
before_git squashed land:squashed --squash commit-msg

# after_git POINT HOW: killed when there is a commit
after_git() {
	after_name=$(echo "$1$2" | tr -d :)
	test_that "a landing killed after its commit is completed, and undone: $1 ($2)" "
		ready $after_name &&
		killed $1 land $2 $after_name &&
		test_expect_code 128 git agent land --abort $after_name 2>../err &&
		grep 'agent/$after_name has landed' ../err &&
		hint 'git agent land --undo $after_name' &&
		all_landed &&
		git agent land --undo &&
		as_before &&
		killed $1 land $2 $after_name &&
		git agent land $2 $after_name &&
		all_landed &&
		landed $after_name &&
		git agent land --undo &&
		as_before &&
		killed $1 land $2 $after_name &&
		git agent land --undo &&
		as_before &&
		test_state $after_name captured
	"
}
after_git land:moved --merge
after_git land:applied --merge
after_git land:recorded --merge

# undoing POINT THEN: an undo is killed there; THEN `land --abort` says (0: it stands as landed)
undoing() {
	undoing_name=$(echo "$1" | tr -d :)
	test_that "an undo killed at $1 is completed, or rolled back" "
		ready $undoing_name &&
		git agent land $undoing_name &&
		killed $1 land --undo $undoing_name &&
		test_expect_code $3 git agent land --undo $undoing_name &&
		as_before &&
		test_state $undoing_name captured &&
		git agent land $undoing_name &&
		all_landed &&
		killed $1 land --undo $undoing_name &&
		test_expect_code $2 git agent land --abort $undoing_name &&
		{ test $2 != 0 || { all_landed && git agent land --undo; }; } &&
		as_before &&
		git agent land $undoing_name &&
		killed $1 land --undo $undoing_name &&
		git agent land $undoing_name &&
		all_landed &&
		git agent land --undo &&
		as_before
	"
}
undoing undo:files 0 0
undoing undo:move 0 0
undoing undo:moved 128 1

# ---- killed while git writes

# slow COMMANDS: git waits in a filter of the file new, when it has written files before that
slow() {
	rm -f ../begun ../go &&
	mkfifo ../begun ../go &&
	echo "new filter=slow" >.git/info/attributes &&
	git config filter.slow.smudge "
		test ! -e $HOME/hold || { rm $HOME/hold; echo >$HOME/begun; cat $HOME/go; }
		cat" &&
	{
		git-agent land --dry-run "$1" 2>/dev/null ||
			{
				test_must_fail git-agent land "$1" 2>/dev/null &&
				git agent review --accept-all --critical "$1"
			}
	}
}

# halfway COMMAND...: git and git-agent are killed when git waits there
halfway() {
	: >../hold
	{ setsid git-agent "$@" >../out 2>&1 & } &&
	pid=$! &&
	timeout 60 head -c 1 ../begun >/dev/null &&
	kill -KILL -$pid &&
	{ wait $pid || :; }
}

test_that 'a rollback does not overwrite what the user has changed since' '
	ready since &&
	slow since &&
	halfway land since &&
	line f 8 later &&
	echo later >e/later &&
	test_expect_code 2 git-agent land --abort 2>../err &&
	cat ../err &&
	grep "agent/since was rolled back, except for files that have changed since: f$" ../err &&
	test_prints "agent\nlater" sed -n "2p;8p" f &&
	test "$(cat e/later)" = later &&
	test ! -e e/n &&
	test -e g &&
	test_expect_code 1 git-agent land --undo
'

test_that 'nothing is rolled back after the user has reset and committed' '
	ready byhand &&
	slow byhand &&
	halfway land byhand &&
	rm -f .git/index.lock &&
	git reset -q --hard &&
	git clean -qfd &&
	test_empty later &&
	remember &&
	test_expect_code 128 git-agent land --abort byhand &&
	unchanged &&
	git-agent land byhand &&
	git cat-file -e HEAD:new
'

# ---- git lives on

# alone HOOK COMMAND...: git-agent is killed while its git waits in that hook
alone() {
	rm -f ../begun ../go
	: >../hold
	mkfifo ../begun ../go &&
	hook "$1" "${holds}test -e $HOME/hold || exit 0
rm $HOME/hold
echo \$PPID >$HOME/git
echo >$HOME/begun
cat $HOME/go >/dev/null" &&
	shift &&
	{ git-agent "$@" >../out 2>&1 & } &&
	pid=$! &&
	timeout 60 head -c 1 ../begun >/dev/null &&
	kill -KILL $pid &&
	{ wait $pid || :; }
}

# git_ends: the hook lets git continue, and git ends
git_ends() {
	echo >../go &&
	test_wait_for "! readlink /proc/$(cat ../git)/exe"
}

# running NAME: nobody touches what git is doing
running() {
	picture >../now
	for what in "land" "land --undo" "land --abort"; do
		test_fails 128 "a landing, or git of one that was killed, is running here" git-agent $what "$1" &&
		hint "fuser -v" &&
		picture | test_cmp ../now - || return 1
	done
}

test_that 'nothing is touched while git of a killed landing waits in a hook' '
	ready alone &&
	holds= &&
	alone pre-merge-commit land alone &&
	running alone &&
	git_ends &&
	git-agent land alone &&
	all_landed &&
	git-agent land --undo &&
	as_before
'

test_that 'nothing is touched while git of a killed landing or undo waits in a hook of refs' '
	ready refs &&
	holds="test \$1 = prepared && grep -q refs/heads/main || exit 0; " &&
	alone reference-transaction land refs &&
	running refs &&
	git_ends &&
	git-agent land refs &&
	all_landed &&
	alone reference-transaction land --undo refs &&
	running refs &&
	git_ends &&
	rm .git/hooks/reference-transaction &&
	{ git-agent land --undo || :; } &&
	as_before
'

test_that 'git of a killed landing that was aborted commits nothing any more' '
	ready commits &&
	holds= &&
	alone commit-msg land commits &&
	{ git-agent land --abort commits || :; } &&
	git_ends &&
	{ git-agent land --abort || git-agent land --undo || :; } &&
	as_before
'

test_that 'a process that a hook of the landing left running does not block an undo' '
	ready left &&
	rm -f ../go &&
	mkfifo ../go &&
	hook post-merge "cat $HOME/go >/dev/null 2>&1 &" &&
	git-agent land left &&
	git-agent land --undo left &&
	echo >../go &&
	as_before
'

# ---- locks

test_that 'locks of a git that was killed are removed' '
	ready locks &&
	killed land:move land locks &&
	: >.git/index.lock &&
	: >.git/HEAD.lock &&
	: >.git/refs/heads/main.lock &&
	git agent land --abort &&
	as_before &&
	test ! -e .git/refs/heads/main.lock
'

test_that 'the lock of a git that is running stays' '
	ready live &&
	killed land:move land live &&
	rm -f ../begun ../go &&
	mkfifo ../begun ../go &&
	printf "#!/bin/sh\necho >%s/begun\ncat %s/go >/dev/null\n" "$HOME" "$HOME" >../editor &&
	chmod +x ../editor &&
	{ GIT_EDITOR="$HOME/editor" git commit -a >../out 2>&1 & } &&
	pid=$! &&
	timeout 60 head -c 1 ../begun >/dev/null &&
	test -e .git/index.lock &&
	test_expect_code 128 git agent land --abort 2>../err &&
	cat ../err &&
	grep "index.lock. exists, and git is running here (process $pid)" ../err &&
	test -e .git/index.lock &&
	echo >../go &&
	{ wait $pid || :; } &&
	git agent land --abort &&
	as_before
'

# ---- the record

test_that 'a damaged record is named, with the command that deletes it' '
	ready damaged &&
	killed land:move land damaged &&
	record=$PWD/.git/git-agent/landing/now &&
	echo nonsense >>"$record" &&
	for what in "land damaged" "land --undo damaged" "land --abort damaged" "land --continue damaged"; do
		refused 128 "the record of a landing is damaged: .$record." git agent $what &&
		hint "rm $record" || return 1
	done &&
	: >"$record" &&
	refused 128 "the record of a landing" git agent land damaged &&
	rm "$record" &&
	git agent land damaged &&
	all_landed
'

test_that 'the record of a landing can be read by nobody else' '
	ready private &&
	killed land:moved land private &&
	test "$(stat -c %a .git/git-agent/landing)" = 700
'

test_that 'the killed landing of another session is rolled back, or completed, first' '
	ready one &&
	session two "echo two >two" &&
	killed land:move land one &&
	refused 2 "a landing of agent/one was killed" git agent land --dry-run two &&
	test_says "an interrupted landing was rolled back first" git agent land two &&
	git agent land --undo two &&
	killed land:moved land one &&
	git agent land two &&
	landed two &&
	rm two &&
	git rm -q --cached two &&
	git commit -qm two &&
	all_landed &&
	git agent land one &&
	landed one
'

test_that 'a landing in which git fails is rolled back at once' '
	ready fails &&
	GIT_AGENT_FAULT=land:move:fail test_must_fail git agent land fails &&
	as_before &&
	echo "new filter=bad" >.git/info/attributes &&
	git config filter.bad.smudge false &&
	git config filter.bad.required true &&
	test_must_fail git agent land fails &&
	git agent review --accept-all --critical fails &&
	for how in --merge --squash --rebase; do
		test_expect_code 2 git agent land $how fails 2>../err &&
		cat ../err &&
		grep "smudge filter bad failed" ../err &&
		hint "nothing was changed" &&
		as_before || return 1
	done
'

test_done
