#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions whose refs or objects are damaged or gone, and a gc of the user'\''s'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	test_enter "$1" &&
	echo a >a &&
	echo ".*.swp" >.gitignore &&
	test_commit base
}
state() {
	echo "$HOME/.local/state/git-agent/$(head -n 1 .git/git-agent/id)"
}
prune() {
	git reflog expire --expire=now --all &&
	git gc -q --prune=now
}

test_that 'a git gc that prunes all at once keeps what a capture has just written' '
	make_repo beside &&
	{
		GIT_AGENT_FAULT=capture:before-refs:stop "$GIT_AGENT" start -q --name b -- sh -c "echo b >b" &
		pid=$!
	} &&
	test_wait_for "grep \"^State:.*stopped\" /proc/$pid/status" &&
	prune &&
	kill -CONT $pid &&
	wait $pid &&
	test_holds agent/b:b b &&
	git fsck --strict &&
	prune &&
	test_holds agent/b:b b &&
	test -z "$(find .git/objects -name "*.keep")"
'

test_that 'a start that was killed while its state was written leaves its name free' '
	make_repo name &&
	git agent start -q --name first -- true &&
	for n in 0 10 300; do
		s=$(state)/sessions/n$n &&
		mkdir -p "$s/upper" "$s/git" &&
		: >"$s/lock" &&
		head -c $n "$(state)/sessions/first/session" >"$s/session" || exit 1
	done &&
	git agent list >../out &&
	test "$(wc -l <../out)" = 1 &&
	for n in 0 10 300; do
		test_session n$n "echo $n >f" &&
		test_holds agent/n$n:f $n ||
			exit 1
	done &&
	s=$(state)/sessions/mine &&
	mkdir -p "$s/upper" "$s/git" &&
	: >"$s/lock" &&
	echo x >"$s/upper/x" &&
	: >"$s/session" &&
	test_expect_code 125 git agent start --name mine -- true &&
	test -e "$s/upper/x"
'

work="echo one >one; git add one; git commit -qm one; git branch side; echo e >.envrc; echo two >two; git stash list"
# make_damaged NAME: a repository with a session that has everything, s, and another, t; all objects are loose
make_damaged() {
	make_repo "$1" &&
	test_session s "$work" &&
	test_session t "echo t >t" &&
	git for-each-ref --format="%(objectname) %(refname)" | grep -v /report >../refs &&
	mv .git/objects/pack ../pack.$1 &&
	mkdir .git/objects/pack &&
	for p in ../pack.$1/*.pack; do git unpack-objects -q <$p || return 1; done
}
# same_refs: they are as they were, but for reports
same_refs() {
	git for-each-ref --format="%(objectname) %(refname)" | grep -v /report | test_cmp ../refs -
}
file_of() {
	git rev-parse "$1" | sed "s,..,.git/objects/&/,"
}
spoil() {
	chmod u+w "$1" &&
	echo garbage >"$1"
}

n=0
damage() {
	n=$((n + 1))
	test_that "a damaged session is captured again: $1" "
		make_damaged d$n &&
		{ $2; } &&
		git agent list >../out 2>../err &&
		grep '^s .*captured' ../out &&
		grep '^t .*captured' ../out &&
		grep \"session 's' was damaged\" ../err &&
		same_refs &&
		git gc -q &&
		git fsck --strict --no-dangling &&
		git agent list 2>../err &&
		! grep damaged ../err &&
		git agent gc &&
		git agent review s >/dev/null &&
		git agent land t &&
		git agent review --accept-all --critical s &&
		git agent land s &&
		test -e .envrc
	"
}
damage 'its commit is gone' 'rm $(file_of agent/s)'
damage 'its commit is damaged' 'spoil $(file_of agent/s)'
damage 'its commit is cut short' 'f=$(file_of agent/s) && chmod u+w $f && truncate -s 20 $f'
damage 'the tree of its commit is gone' 'rm $(file_of agent/s^{tree})'
damage 'what is held is gone' 'rm $(file_of refs/agent/s/held)'
damage 'its report is damaged' 'spoil $(file_of refs/agent/s/report)'
damage 'the text of its report is gone' 'rm $(file_of refs/agent/s/report:report.json)'
damage 'a ref names a missing object' 'git rev-parse agent/s | tr 0-9a-f 1-9a-f0 >.git/refs/agent/s/heads/side'
damage 'its branch is empty, as a power cut leaves it' ': >.git/refs/heads/agent/s'
damage 'a ref is garbage' 'echo garbage >.git/refs/agent/s/report'
damage 'a commit in the middle is gone' 'git update-ref -d refs/agent/s/heads/side && rm $(file_of agent/s~1)'
damage 'its report is gone' 'git update-ref -d refs/agent/s/report'
damage 'all of its refs are gone' '
	git for-each-ref --format="delete %(refname)" refs/agent/s refs/heads/agent/s | git update-ref --stdin'
all_gone() {
	git for-each-ref --format='%(refname) %(objectname)' refs/agent/s refs/heads/agent/s |
		grep -v /base >../gone &&
	sed 's/^/delete /; s/ [^ ]*$//' ../gone | git update-ref --stdin &&
	prune &&
	while read -r ref oid; do
		mkdir -p "$(dirname .git/$ref)" &&
		echo "$oid" >.git/$ref || return 1
	done <../gone
}
damage 'all is gone that a gc can take' all_gone

test_that 'a session whose report of uncommitted work is gone is captured again' '
	make_repo left &&
	echo mine >>a &&
	git agent start -q --name none -- true &&
	test_session w "echo agent >>a" &&
	git agent show --json w >../before &&
	test -z "$(git for-each-ref refs/agent/none/report refs/heads/agent)" &&
	git update-ref -d refs/agent/w/report &&
	git agent list >../out 2>../err &&
	grep damaged ../err >../said &&
	test "$(cat ../said)" = "$(grep "session .w. was damaged" ../said)" &&
	grep "^w .*uncommitted changes" ../out &&
	grep "^none .*no change" ../out &&
	git agent show --json w >../after &&
	test_cmp ../before ../after &&
	git agent land w &&
	test "$(tail -n 1 a)" = agent
'

test_that 'a decision that is still there is not undone by a repair' '
	make_damaged decided &&
	git agent review --accept-all --critical s &&
	git rev-parse agent/s >../tip &&
	git show agent/s:.envrc &&
	: >.git/refs/heads/agent/s &&
	rm -rf .git/refs/agent/s/heads &&
	git agent list >/dev/null &&
	git rev-parse agent/s | test_cmp ../tip - &&
	git agent review s >../out &&
	! grep open ../out &&
	git agent land s &&
	test -e .envrc
'

for how in "rm -f" spoil; do
	test_that "capture writes a file of the agent again that is gone or damaged: $how" '
		make_damaged f$(echo $how | cut -c1-2) &&
		$how $(file_of agent/s:one) &&
		$how $(file_of agent/s:two) &&
		test_must_fail git gc -q &&
		git agent capture s 2>../err &&
		same_refs &&
		git gc -q &&
		git fsck --strict --no-dangling &&
		test_holds agent/s:one one &&
		test_holds agent/s:two two
	'
done

test_that 'a session that cannot be captured again is dropped by force, and stops no other' '
	make_damaged lost &&
	rm $(file_of agent/s) &&
	rm -r "$(state)/sessions/s/git" &&
	echo garbage >.git/refs/agent/s/held &&
	git agent list 2>../err | grep "^t " &&
	git agent gc &&
	git gc -q &&
	git agent drop --force s &&
	git agent list >../out &&
	! grep "^s " ../out &&
	git agent land t
'

test_that 'an object store that is missing for a while costs no refs' '
	make_damaged away &&
	mv .git/objects ../objects.away &&
	mkdir .git/objects &&
	{ git agent list || :; } &&
	rm -r .git/objects &&
	mv ../objects.away .git/objects &&
	same_refs &&
	git agent list 2>../err &&
	! grep damaged ../err &&
	git agent land t
'

test_that 'the lock of a ref that a killed git left is removed, and is no damage' '
	test_enter locked &&
	test_empty one &&
	git agent start -q -n held -- sh -c "echo 1 >n" &&
	: >.git/refs/agent/held/base.lock &&
	git agent list | grep "^held  *captured" &&
	test ! -e .git/refs/agent/held/base.lock &&
	! git agent show --journal held | grep damaged
'

test_done
