#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='undoing that stops half way: it has not begun, or is completed by what comes next'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
# shellcheck source=tests/lib/stops.sh
. "$TEST_SRCDIR/tests/lib/stops.sh"
require_sandbox

is() {
	picture >../after && test_cmp ../$1 ../after
}

# ---- what git undoes

# landed SESSION: with changes before and behind the file at which git waits
landed() {
	git agent start -q --name $1 -- sh -c "$words put f@2A a=new b/c=new -old g@2A run*@3B zz=more" && git commit -q --allow-empty -m mine && printf "#!/bin/sh\ncat\n" >../slow && chmod +x ../slow && echo "g filter=slow" >.git/info/attributes && git config filter.slow.smudge "$PWD/../slow" && git config filter.slow.clean cat && accepted $1 && accepted $1 && picture >../before && git agent land $1 && picture >../landed
}
test_expect_success 'Ctrl-C while git undoes: nothing is undone, and it can be' '
	begin && landed i && ended SIGINT --undo i 2>../err && cat ../err && grep "git reset failed with status 130" ../err && grep "^hint: nothing was taken back" ../err && is landed && git agent list | grep "^i .*landed" && git agent land --undo i && is before
'
for then in --undo --abort again; do
	test_expect_success "killed while git undoes: $then completes it, and nobody lands on it before" '
		begin && s=k$(count) && landed $s && ended SIGKILL --undo $s && test_expect_code 128 git agent land --undo $s 2>../err && cat ../err && grep "another git is at work" ../err && rm -f .git/index.lock && picture >../after && ! cmp -s ../landed ../after &&
		git agent start -q --name o$s -- sh -c "$words put d/h@5A" && test_expect_code 2 git agent land o$s 2>../err && grep "a landing of agent/$s was interrupted" ../err && test_expect_code 2 git agent land --dry-run $s &&
		if test $then = again; then git agent land $s 2>../err && grep "interrupted was taken back" ../err && git agent list | grep "^$s .*landed" && git agent land --undo $s; else git agent land $then $s; fi && is before && test_expect_code 128 git agent land --undo $s
	'
done
test_expect_success 'killed while git undoes: what somebody wrote since stays, and is named' '
	begin && landed since && ended SIGKILL --undo since && rm -f .git/index.lock && put zz=mine && test_expect_code 2 git agent land --undo since 2>../err && cat ../err && grep "files are not as they were: zz" ../err && grep mine zz && rm zz && git agent land --undo since && is before
'
test_expect_success 'killed while git undoes, and the user went on: it stays landed' '
	begin && landed on && ended SIGKILL --undo on && rm -f .git/index.lock && git reset -q --hard && git commit -q --allow-empty -m more && test_expect_code 2 git agent land --undo on && git agent land on 2>../err && cat ../err && git agent start -q --name after -- sh -c "$words put d/h@5A" && git agent land after && git agent land --undo after
'
test_expect_success 'git-agent is killed, and git lives on: nothing is touched before it has ended' '
	begin && landed lives && alone --undo lives && working lives undoing begun && git agent land --undo lives && is before
'
test_expect_success 'the same when git is about to move the branch' '
	begin && landed moves && pending --undo moves && working moves undoing begun && git agent land --undo moves && is before
'
test_expect_success 'a file that was only touched is not in the way' '
	begin && landed touched && touch -d "1 hour ago" f g && git agent land --undo touched && is before
'

test_expect_success 'what a hook of the landing left running keeps nobody from undoing it' '
	begin && git agent start -q --name left -- sh -c "$words put f@2A" && picture >../before && printf "#!/bin/sh\nsleep 1000 >/dev/null 2>&1 & echo \$! >$PWD/../left\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && git agent land left && rm .git/hooks/post-merge && kill -0 $(cat ../left) && git agent land --undo left && kill $(cat ../left) && is before
'

# ---- path by path

# beside SESSION: it changes a file that the user has changed, too
beside() {
	git agent start -q --name $1 -- sh -c "$words put f@2A new=n" && put f@6S && git add f && put f@6S8M && picture >../before
}
for then in --abort --undo again; do
	test_expect_success "landing is killed, and git is about to move the branch: nothing is touched before it has, then $then" '
		begin && s=p$(count) && beside $s && pending $s && working $s && test "$(git log -1 --format=%s)" != base &&
		if test $then = again; then git agent land $s 2>../err && grep "interrupted was taken back" ../err && git agent land --undo $s; else git agent land $then $s; fi && is before
	'
done
test_expect_success 'undoing is killed, and git is about to move the branch' '
	begin && beside u && git agent land u && pending --undo u && working u undoing begun && git agent land --undo u && is before
'
test_expect_success 'the branch cannot be moved back: what is back is said, and how to go on' '
	begin && beside held && git agent land held && printf "#!/bin/sh\n! grep -q $(git symbolic-ref HEAD)\n" >.git/hooks/reference-transaction && chmod +x .git/hooks/reference-transaction && test_must_fail git agent land --undo held 2>../err && cat ../err && grep "^hint: files and index are back, and your branch is not" ../err && rm .git/hooks/reference-transaction && git agent land --undo held && is before
'
test_expect_success 'what was only staged, and is staged no more, can be staged again as is said' '
	begin && beside only && GIT_AGENT_FAULT=land:index:kill test_expect_code 137 git-agent land only && git reset -q && test_expect_code 2 git agent land --abort only 2>../err && cat ../err && grep "the index changed since agent/only landed: f$" ../err && c=$(sed -n "s/.*.\(git restore --staged --source=[^ ]*\) FILE. what was staged before.*/\1 f/p" ../err) && test -n "$c" && $c && git agent land --abort only && is before
'

test_done
