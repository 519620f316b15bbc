#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a rebase that stops again after a conflict was resolved: what the user resolved is never lost, nor a commit passed over'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

broken='echo "z filter=bad" >.git/info/attributes; git config filter.bad.smudge false; git config filter.bad.required true'
mended='rm .git/info/attributes'
agent='put f@2A; git commit -qam one; put f@2A9B a=new -old z=z; git add -A; git commit -qm two; put g@2A; git commit -qam three'

# resolved NAME: the first of three commits conflicted, and is resolved; the second cannot be begun
resolved() {
	begin && git agent start -q --name $1 -- sh -c "$words $agent" && put f@2M && git commit -qam mine && put d/h@9U u=u && picture >../start && test_expect_code 4 git agent land --rebase $1 && put f@2R && git add f && git rev-parse HEAD >../head && eval "$broken"
}
# stopped NAME: it was resolved and gone on with, which stops at the second
stopped() {
	resolved $1 && test_must_fail git agent land --continue $1 2>../err && cat ../err && grep "git refused to make the next commit of agent/$1" ../err && grep "^hint: what you resolved is committed; see to that, then .git agent land --continue $1. goes on, or --abort goes back" ../err &&
		test "$(git rev-parse HEAD^)" = "$(cat ../head)" && test "$(git log -1 --format=%s)" = one && content f@2R | test_cmp - f && test ! -e a && test -e old && content d/h@9U | test_cmp - d/h && git agent list | grep "^$1 .*captured"
}
finished() {
	test "$(git log --format=%s HEAD~3..)" = "three
two
one" && content f@2R9B | test_cmp - f && test -e z && test ! -e old && test ! -e .git/sequencer && git agent list | grep "^$1 .*landed" && content g@2A | test_cmp - g && git agent land --undo $1 && picture >../after && test_cmp ../start ../after
}

test_expect_success 'the next commit cannot be begun: what was resolved stays, and --continue goes on with that very commit' '
	stopped c && test_must_fail git agent land --continue c 2>../err && grep "^hint: what you resolved is committed" ../err && test "$(git rev-parse HEAD^)" = "$(cat ../head)" && eval "$mended" && git agent land --continue c && finished c
'
test_expect_success 'the same with the work of the user in between: that is not mistaken for it' '
	stopped u && eval "$mended" && GIT_AUTHOR_DATE="$(git log -1 --format=%ad --date=raw agent/u~)" git commit -q --allow-empty -m mine && test_expect_code 128 git agent land --continue u 2>../err && grep "no landing of agent/u was left" ../err && test_expect_code 128 git agent land --abort u && test -e .git/sequencer && git log -1 --format=%s | grep -x mine
'
test_expect_success 'what the user staged since is not taken for what git did' '
	stopped t && put mine=m d/h@8S && git add mine d/h && picture >../staged && for c in --continue --abort; do
		test_expect_code 2 git agent land $c t 2>../err && grep "staged changes are in the way" ../err && picture >../after && test_cmp ../staged ../after || return 1
	done && git restore --staged . && rm mine && put d/h@9U && eval "$mended" && git agent land --continue t && finished t
'
test_expect_success '--abort goes back to where it began' '
	stopped a && eval "$mended" && git agent land --abort a && picture >../after && test_cmp ../start ../after && test ! -e .git/sequencer && test_expect_code 4 git agent land --merge a && git agent land --abort a
'
test_expect_success 'going on conflicts: resolved, and gone on with, as ever' '
	begin && git agent start -q --name x -- sh -c "$words put f@2A; git commit -qam one; put a=new z=z; git add -A; git commit -qm two; put f@2A9B; git commit -qam three" && put f@2M && git commit -qam mine && picture >../start && test_expect_code 4 git agent land --rebase x && put f@2R9C && git add f && eval "$broken" && test_must_fail git agent land --continue x 2>../err && eval "$mended" && test_expect_code 4 git agent land --continue x 2>../err && cat ../err && grep "conflicts in f" ../err && test -e z && put f@2R9D && git add f && git agent land --continue x && git agent list | grep "^x .*landed" && content f@2R9D | test_cmp - f && git log --format=%s | grep -c -x -e one -e two -e three | grep -x 3 && git agent land --undo x && picture >../after && test_cmp ../start ../after
'
test_expect_success 'the last commit cannot be begun' '
	begin && git agent start -q --name l -- sh -c "$words put f@2A; git commit -qam one; put z=z; git add -A; git commit -qm two" && put f@2M && git commit -qam mine && picture >../start && test_expect_code 4 git agent land --rebase l && put f@2R && git add f && eval "$broken" && test_must_fail git agent land --continue l && eval "$mended" && git agent land --continue l && test -e z && test "$(git log -1 --format=%s HEAD^)" = one && git agent list | grep "^l .*landed" && test ! -e .git/sequencer && git agent land --undo l && picture >../after && test_cmp ../start ../after
'
test_expect_success 'resolved to what is there, and then the next one stops' '
	resolved n && git checkout -q HEAD f && test_must_fail git agent land --continue n 2>../err && cat ../err && test "$(git rev-parse HEAD)" = "$(cat ../head)" && content f@2M | test_cmp - f && test ! -e a && eval "$mended" && git agent land --continue n && git agent list | grep "^n .*landed" && content f@2M9B | test_cmp - f && test -e z
'
test_expect_success 'what git wrote and cannot be told from work of the user is named' '
	resolved o && git config filter.odd.smudge "cat; date +%N; echo \$\$" && echo "a filter=odd" >>.git/info/attributes && test_must_fail git agent land --continue o 2>../err && cat ../err && grep "^hint: what you resolved is committed; files are not as they were: a; see to that, then .git agent land --continue o. goes on, or --abort goes back" ../err && test "$(git log -1 --format=%s)" = one && test_expect_code 2 git agent land --continue o 2>../err && grep "would be overwritten: a$" ../err && rm a && eval "$mended" && git agent land --continue o && test "$(git log --format=%s HEAD~3..)" = "three
two
one"
'
test_expect_success 'a cherry-pick of the user that waits is not touched' '
	begin && git agent start -q --name w -- sh -c "$words put g@2A" && git switch -q -c side && put f@2S && git commit -qam s1 && put f@3S && git commit -qam s2 && git switch -q main && put f@2M && git commit -qam mine && ! git cherry-pick side~ side && git checkout -q HEAD f && git commit -q --allow-empty -m s1 && test -e .git/sequencer/todo && picture >../before && for how in --dry-run "--dry-run --rebase" --rebase; do
		{ git agent land $how w 2>../err || grep "a cherry-pick is in progress" ../err; } && test -e .git/sequencer/todo && picture >../after && test_cmp ../before ../after || return 1
	done
'

# ---- what the user resolved they commit by git itself

# by_hand NAME: so it is, and git has no state of its own then
by_hand() {
	resolved $1 && eval "$mended" && GIT_EDITOR=: git commit -q && test ! -e .git/CHERRY_PICK_HEAD && test "$(git log -1 --format=%s)" = one
}
test_expect_success 'committed by git commit: --continue goes on with the others' '
	by_hand ch && git agent land --continue ch && finished ch
'
test_expect_success 'with another message, and amended' '
	by_hand cm && git commit -q --amend -m other && put g@5S && git add g && picture >../before && test_expect_code 2 git agent land --continue cm 2>../err && grep "staged changes are in the way: g$" ../err && picture >../after && test_cmp ../before ../after && git reset -q && put g@ && git agent land --continue cm && git commit -q --amend --no-edit --allow-empty && test "$(git log --format=%s HEAD~3..)" = "three
two
other"
'
test_expect_success '--abort goes back over it' '
	by_hand ca && git rev-parse HEAD >../made && put g@5S && git add g && picture >../before && test_expect_code 2 git agent land --abort ca 2>../err && grep "staged changes are in the way: g$" ../err && picture >../after && test_cmp ../before ../after && git reset -q && put g@ && git agent land --abort ca && picture >../after && test_cmp ../start ../after && test ! -e .git/sequencer && git reflog | grep "^$(git rev-parse --short "$(cat ../made)")" && test_expect_code 128 git agent land --abort ca && test_expect_code 4 git agent land --rebase ca && git agent land --abort ca && picture >../after && test_cmp ../start ../after
'
test_expect_success 'the next one cannot be begun: nothing is passed over' '
	by_hand cn && eval "$broken" && test_must_fail git agent land --continue cn 2>../err && grep "^hint: what you resolved is committed; see to that" ../err && test_must_fail git agent land --continue cn && eval "$mended" && git agent land --continue cn && finished cn
'
test_expect_success 'with a commit of the user on top: --continue goes on with the others, and nothing takes it back but by name' '
	by_hand cu && began=$(git rev-parse --short=10 HEAD^) && put own=mine && git add own && git commit -q --date=@1000000000 -m users-own && put u=u && picture >../before && test_expect_code 2 git agent land --abort cu 2>../err && cat ../err && grep "you have committed something else since it was begun$" ../err && picture >../after && test_cmp ../before ../after &&
	git agent land --continue cu && git log --format=%s HEAD~4.. >../log && printf "three\ntwo\nusers-own\none\n" | test_cmp - ../log && content f@2R9B | test_cmp - f && content g@2A | test_cmp - g && test ! -e .git/sequencer && git agent list | grep "^cu .*landed" &&
	picture >../before && test_expect_code 2 git agent land --undo cu 2>../err && cat ../err && grep "commits of yours are among those of agent/cu" ../err && picture >../after && test_cmp ../before ../after && eval "$(sed -n "s/^hint: .*; .\(git reset --keep $began\). goes back before them.*/\1/p" ../err)" && picture >../after && test_cmp ../start ../after
'
test_expect_success 'as is said, it goes back over such a commit' '
	by_hand cw && put own=mine && git add own && git commit -q --date=@1000000000 -m users-own && test_expect_code 2 git agent land --abort cw 2>../err && eval "$(sed -n "s/^hint: .*; .\(git cherry-pick --quit\)., then .\(git reset --keep [0-9a-f]*\)., goes back.*/\1 \&\& \2/p" ../err)" && picture >../after && test_cmp ../start ../after && test_expect_code 4 git agent land --rebase cw && git agent land --abort cw && picture >../after && test_cmp ../start ../after
'
test_expect_success 'it is known as the user'\''s own also where another commit conflicts after it' '
	begin && git agent start -q --name co -- sh -c "$words put f@2A; git commit -qam one; put f@2A9B; git commit -qam two" && put f@2M9N && git commit -qam mine && test_expect_code 4 git agent land --rebase co && put f@2R9N && git commit -qam resolved && git commit -q --allow-empty --date=@1000000000 -m users-own && test_expect_code 4 git agent land --continue co && put f@2R9R && git add f && git agent land --continue co && test "$(git log --format=%s HEAD~3..)" = "two
users-own
resolved" && test_expect_code 2 git agent land --undo co 2>../err && cat ../err && grep "commits of yours are among those of agent/co" ../err
'
test_expect_success 'nor does --abort drop it there; what is said goes back over it' '
	begin && git agent start -q --name cd -- sh -c "$words put f@2A; git commit -qam one; put f@2A9B; git commit -qam two" && put f@2M9N && git commit -qam mine && picture >../start && test_expect_code 4 git agent land --rebase cd && put f@2R9N && git commit -qam resolved && put own=mine && git add own && git commit -q --date=@1000000000 -m users-own && test_expect_code 4 git agent land --continue cd && picture >../before && test_expect_code 2 git agent land --abort cd 2>../err && cat ../err && grep "you have committed something else since it was begun$" ../err && picture >../after && test_cmp ../before ../after && content own=mine | test_cmp - own &&
	eval "$(sed -n "s/^hint: .*; .\(git cherry-pick --abort\). goes back.*/\1/p" ../err)" && picture >../after && test_cmp ../start ../after && test_expect_code 4 git agent land --rebase cd && put f@2R9N && git commit -qam resolved && test_expect_code 4 git agent land --continue cd && git agent land --abort cd && picture >../after && test_cmp ../start ../after
'
test_expect_success 'of what is no commit made of it there is no telling' '
	by_hand cz && git commit -q --amend --no-edit --reset-author --date=@1 && picture >../before && for c in --continue --abort; do test_expect_code 128 git agent land $c cz 2>../err && grep "no landing of agent/cz was left" ../err && picture >../after && test_cmp ../before ../after || return 1; done
'
test_expect_success 'given back to before it: it is made again, not passed over' '
	resolved cr && eval "$mended" && git reset -q --hard && put d/h@9U && test ! -e .git/CHERRY_PICK_HEAD && test_expect_code 4 git agent land --continue cr && put f@2R && git add f && git agent land --continue cr && finished cr
'
for commits in '' 'put a=new; git add a; git commit -qm zero;'; do
	test_expect_success "the last one, or the only one: git has nothing left, and it has landed all the same ($commits)" '
		begin && s=l$(count) && git agent start -q --name $s -- sh -c "$words $commits put f@2A; git commit -qam one" && put f@2M && git commit -qam mine && put u=u && picture >../start && test_expect_code 4 git agent land --rebase $s && put f@2R && git add f && GIT_EDITOR=: git commit -q && test ! -e .git/sequencer && git agent land --continue $s && content f@2R | test_cmp - f && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../start ../after &&
		test_expect_code 4 git agent land --rebase $s && put f@2R && git add f && GIT_EDITOR=: git commit -q && git agent land --abort $s && picture >../after && test_cmp ../start ../after &&
		test_expect_code 4 git agent land --rebase $s && git cherry-pick --abort && picture >../after && test_cmp ../start ../after && for c in --continue --abort; do test_expect_code 128 git agent land $c $s || return 1; done && picture >../after && test_cmp ../start ../after &&
		test_expect_code 4 git agent land --rebase $s && put f@2R && git add f && git commit -qm resolved && git commit -q --allow-empty --date=@1000000000 -m users-own && picture >../before && test_expect_code 2 git agent land --abort $s && picture >../after && test_cmp ../before ../after && git agent land --continue $s && git agent list | grep "^$s .*landed" && test_expect_code 2 git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
done
test_expect_success 'a merge that the user committed by git: nothing waits, and what is said notes it' '
	begin && git agent start -q --name bg -- sh -c "$words put f@2A; git commit -qam one" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land bg && put f@2R && git commit -qam resolved && for c in --continue --abort; do test_expect_code 128 git agent land $c bg 2>../err && grep "^hint: nothing is in progress here; .git agent land bg. " ../err || return 1; done && git agent land bg && git agent list | grep "^bg .*landed" &&
	begin && git agent start -q --name sg -- sh -c "$words put f@2A; git commit -qam one" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land --squash sg && for c in --continue --abort; do test_expect_code 128 git agent land $c sg 2>../err && grep "^hint: .git status. tells what is in progress" ../err && put f@2R && git add f || return 1; done
'
test_expect_success 'gone on by git cherry-pick --continue, which stops at another: as ever' '
	begin && git agent start -q --name ct -- sh -c "$words put f@2A; git commit -qam one; put a=new; git add a; git commit -qm two; put f@2A9B; git commit -qam three; put z=z; git add z; git commit -qm four" && put f@2M9N && git commit -qam mine && picture >../start && for c in --abort --continue; do
		test_expect_code 4 git agent land --rebase ct && put f@2R9N && git add f && { GIT_EDITOR=: git cherry-pick --continue || :; } && test -e a && test -e .git/CHERRY_PICK_HEAD && git checkout -q --theirs f && put f@2R9B && git add f && git agent land $c ct || return 1
		test $c = --continue || { picture >../after && test_cmp ../start ../after; } || return 1
	done && git log --format=%s HEAD~4.. >../log && printf "four\nthree\ntwo\none\n" | test_cmp - ../log && content f@2R9B | test_cmp - f && git agent list | grep "^ct .*landed" && git agent land --undo ct && picture >../after && test_cmp ../start ../after
'

# ---- what stands where a commit writes, though all of them together do not

# untouched: a refusal, and all is as it was
untouched() {
	picture >../before && test_expect_code 2 git agent land "$@" 2>../err && cat ../err && grep "would be overwritten: $says" ../err && picture >../after && test_cmp ../before ../after
}
# on_the_way COMMANDS SAYS, for what the one commit writes and the other takes away again
between='put tmp=agent; echo ten >>g; git add -f tmp; git commit -qam one; put g@ f@2A; git rm -q tmp; git commit -qam two'
on_the_way() {
	mine=$1 says=$2
	test_expect_success "on the way: $1" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words $between" && git commit -q --allow-empty -m mine && eval "$mine" && untouched --rebase $s && untouched --rebase --dry-run $s && git agent land --squash $s && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
}
on_the_way 'put tmp=mine' tmp
on_the_way 'put tmp=' tmp
on_the_way 'put tmp=agent' tmp
on_the_way 'put tmp=mine; echo tmp >>.git/info/exclude' tmp
on_the_way 'mkdir tmp; put tmp/x=mine' tmp/x
on_the_way 'put g@9M' g
on_the_way 'put g=' g
on_the_way 'echo "$(head -n 6 g)" >g' g
on_the_way 'rm g' g
on_the_way 'git update-index --assume-unchanged g; put g@5M7N' g

test_expect_success 'on the way: under the name that the user gave a file since' '
	begin && git agent start -q --name moved -- sh -c "$words $between" && mkdir in && git mv g in/g2 && git commit -qm moved && for hide in : "git update-index --assume-unchanged in/g2"; do
		eval "$hide" && put in/g2@9M && says=in/g2 && untouched --rebase moved && untouched --rebase --dry-run moved || return 1
	done && git update-index --no-assume-unchanged in/g2 && put in/g2@ && git agent land --rebase moved && content in/g2@ | test_cmp - in/g2 && test "$(git log --format=%s HEAD~2..)" = "two
one"
'
test_expect_success 'a directory of many files that makes way: one that git does not track is named' '
	begin && mkdir -p many/deep && (cd many/deep && seq 3000 | split -l 1 -a 4) && git add many && git commit -qm many && git agent start -q --name many -- sh -c "git rm -rq many; echo file >many; git add many; git commit -qm one" && put many/deep/mine=m && says=many/deep/mine && test_expect_code 2 git agent land many 2>../err && grep "would be overwritten: many/deep/mine" ../err && rm many/deep/mine && git agent land many && test -f many
'

test_expect_success 'git is asked once which commits are made again' '
	begin && git agent start -q --name once -- sh -c "$words $between" && git commit -q --allow-empty -m mine && GIT_TRACE="$PWD/../trace" git agent land --rebase once && test "$(grep -c "built-in: git rev-list .*--cherry-pick" ../trace)" = 1
'
test_expect_success 'on the way: in directories, whatever is beside them' '
	begin && put a/b/c@ a/b/d/e@ a/b-c@ a.b@ b/c@ && git add -A && git commit -qm more && git agent start -q --name deep -- sh -c "$words put a/b/c@2A a/b/d/e@2A a/b-c@2A a.b@2A b/c@2A a/b/n=n a/n/o=n h/i/j/k=n; git add -A; git commit -qm one; put f@2A a/b/c@ a/b/d/e@ a/b-c@ a.b@ b/c@; git rm -q a/b/n a/n/o h/i/j/k; git add -A; git commit -qm two" && git commit -q --allow-empty -m mine && for p in a/b/c a/b/d/e a/b-c a.b b/c; do
		put $p@9M && says=$p && untouched --rebase deep && git checkout -q $p || return 1
	done && for p in a/b/n a/n/o h/i/j/k; do
		put $p=mine && says=$p && untouched --rebase deep && rm $p && rmdir -p --ignore-fail-on-non-empty $(dirname $p) || return 1
	done && put a/b/mine=m h/mine=m && git agent land --rebase deep && content f@2A | test_cmp - f && content h/mine=m | test_cmp - h/mine && content b/c@ | test_cmp - b/c
'

test_expect_success 'a file that was only touched is in nobody'\''s way, wherever git does not look twice' '
	begin && git agent start -q --name touched -- sh -c "$words $between" && git commit -q --allow-empty -m mine && git config diff.autoRefreshIndex false && touch -d 2001-01-01 g && git agent land --rebase touched && content f@2A | test_cmp - f
'

# renamed AGENT: in a repository in which the user renamed d, where an ignored file is at what the agent adds to it
between_renamed='put d/new=new; git add d; git commit -qm two; git rm -q d/new; put g@2A d/kept=k; git add -A; git commit -qm three'
renamed() {
	begin && put d/i@ d/j@ && git add d && git commit -qm more && git agent start -q --name $1 -- sh -c "$words put f@2A; git commit -qam one; $between_renamed" && git mv d e && git commit -qm moved && echo e/new >.git/info/exclude && put e/new=mine
}
stayed() {
	content e/new=mine | test_cmp - e/new && test -e d/kept && test ! -e e/kept && content g@2A | test_cmp - g && git agent list | grep "^$1 .*landed"
}
test_expect_success 'what is added to a directory that the user renamed stays where it was put' '
	renamed still && git agent land --rebase --dry-run still && git agent land --rebase still && stayed still &&
	renamed later && put f@2M && git commit -qam mine && test_expect_code 4 git agent land --rebase later && put f@2R && git add f && git agent land --continue later && stayed later
'

test_expect_success 'nor is what stands where git would have moved it taken for what git wrote' '
	renamed gone && echo e/kept >>.git/info/exclude && put e/kept= f@2M && git commit -qam mine && test_expect_code 4 git agent land --rebase gone && put f@2R && git add f && eval "$broken" && echo "d/new filter=bad" >.git/info/attributes && test_must_fail git agent land --continue gone 2>../err && cat ../err && grep "git refused to make the next commit" ../err && test -f e/kept && test ! -s e/kept &&
	eval "$mended" && rm e/kept && git agent land --continue gone && stayed gone
'

test_expect_success 'what a commit would write is there already: that is in nobody'\''s way, unless another writes it' '
	begin && git agent start -q --name there -- sh -c "$words put g@2A; git commit -qam one; put f@2A; git commit -qam two" && git agent land --squash there && git agent resume there -- sh -c "$words put f@2A9B; git commit -qam three" && put g@2A9M && git agent land --rebase there && content f@2A9B | test_cmp - f && content g@2A9M | test_cmp - g &&
	begin && git agent start -q --name again -- sh -c "$words put g@2A; git commit -qam one; put f@2A; git commit -qam two" && git agent land --squash again && git agent resume again -- sh -c "$words put f@2A9B g@; git commit -qam three; put g@2A; git commit -qam four" && put g@2A9M && says=g && untouched --rebase again
'

# came_later COMMANDS SAYS AWAY: the same of what comes while a conflict is resolved; then it is put away
came_later() {
	mine=$1 says=$2 away=$3
	test_expect_success "came later: $1" '
		s=s$(count) && resolved $s && eval "$mended" && eval "$mine" && untouched --continue $s && git diff --cached --name-only | grep -x f && eval "$away" && git agent land --continue $s && git agent list | grep "^$s .*landed" && content f@2R9B | test_cmp - f
	'
}
came_later 'put a=' a 'rm a'
came_later 'put a=new' a 'rm a'
came_later 'put z=mine; echo z >>.git/info/exclude' z 'rm z'
came_later 'echo "$(head -n 1 g)" >g' g 'git stash push -q --keep-index -- g'
came_later 'put old=' old 'git stash push -q --keep-index -- old'
came_later 'git update-index --assume-unchanged g; put g@9M' g 'git update-index --no-assume-unchanged g; git stash push -q --keep-index -- g'
test_expect_success 'came later: what is said to put it away does, and nothing that was resolved goes with it' '
	resolved h && eval "$mended" && put g@9M && for hide in : "git update-index --assume-unchanged g"; do
		eval "$hide" && says=g && untouched --continue h && eval "$(sed -n "s/ puts one away; then go on$//; s/^hint: //p" ../err | sed "s/ (or --no-skip-worktree), then /; /; s/FILE/g/g" | tr -d "\47")" && content g@ | test_cmp - g && content f@2R | test_cmp - f && git diff --cached --name-only | grep -x f && git stash pop -q && content g@9M | test_cmp - g || return 1
	done
'
test_expect_success 'came while it was stopped at a commit that could not be begun' '
	stopped v && eval "$mended" && put a= && says=a && untouched --continue v && rm a && git agent land --continue v && finished v
'
for mine in 'echo old >>.git/info/exclude; put old=mine' 'put old=' 'mkdir old; put old/x=mine'; do
	test_expect_success "given up: what git removed is not put back over $mine" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words git rm -q old; git commit -qm one; put f@2A -g; git commit -qam two" && put f@2M && git commit -qam mine && picture >../start && test_expect_code 4 git agent land --rebase $s && test ! -e old && eval "$mine" && picture >../before && test_expect_code 2 git agent land --abort $s 2>../err && cat ../err && grep "would be overwritten: old" ../err && picture >../after && test_cmp ../before ../after && rm -r old && git agent land --abort $s && : >.git/info/exclude && picture >../after && test_cmp ../start ../after
	'
done
# back AGENT MINE SAYS: HEAD conflicts in f with what the agent does; where git stopped that of the user comes, SAYS it is in the way of --abort, or it is not
back() {
	does=$1 mine=$2 says=$3
	for how in rebase merge; do
		test_expect_success "given up, $how: $does; then $mine: ${says:-goes back}" '
			begin && put k/a@ && git add k && git commit -qm more && s=s$(count) && git agent start -q --name $s -- sh -c "$words $does" && put f@2M && git commit -qam mine && picture >../start && test_expect_code 4 git agent land --$how $s && eval "$mine" && if test -n "$says"; then
				untouched --abort $s && rm -r "${says%%/*}"
			fi && git agent land --abort $s && : >.git/info/exclude && picture >../after && test_cmp ../start ../after
		'
	done
}
gone='git rm -q old; put f@2A; git commit -qam one'
for mine in 'echo old >>.git/info/exclude; put old=mine' 'put old=' 'put old@' 'mkdir old; put old/x=mine'; do
	back "$gone" "test ! -e old && $mine" old
done
back 'git rm -q k/a; put f@2A; git commit -qam one' 'test ! -e k && echo k >>.git/info/exclude; put k=mine' k
back "$gone" 'rm -f old'
back 'git rm -q old; put old/x=x; git add -A; git commit -qm one; put f@2A old/y=y; git add -A; git commit -qm two' 'test -e old/y'
back 'git rm -q old; put old/x=x; git add -A; git commit -qm one; put f@2A old/y=y; git add -A; git commit -qm two' 'put old/z=mine' old/z
back 'git rm -q k/a; git commit -qm one; put f@2A k=k; git add -A; git commit -qm two' 'test -f k'
# What was uncommitted before is added as well by whoever resolves a conflict with "git add -A".
for how in --merge '--merge --no-commit' --rebase '--rebase twice'; do
	test_expect_success "given up, $how: what the user staged while it waited is there, and staged" '
		begin && git mv d/h d/was && git commit -qm moved && s=k$(count) && git agent start -q --name $s -- sh -c "$words put n=n; git add n; git commit -qm zero; put f@2A d/was@2A; git commit -qam one; put f@2A9A -n; git commit -qam two" && git mv d/was d/is && { test "$how" = "--merge --no-commit" || put f@2M9M; } && git commit -qam mine && put old@8U g@8U u=untracked && picture >../before &&
		{ git agent land ${how%twice} $s; :; } && case $how in --merge) put f@2R ;; *twice) put f@2R9M && git add f && GIT_EDITOR=: git cherry-pick --continue; put f@2R9R ;; --rebase) put f@2R9M ;; esac && put g@5S8U new=precious && git add -A && put g@5S8F && test "$(git diff --cached --name-only | tr "\n" " ")" != "g new old u " &&
		git agent land --abort $s && git status --short && test "$(git diff --cached --name-only | tr "\n" " ")" = "g new old u " && git show :g >../is && content g@5S8U | test_cmp - ../is && content g@5S8F | test_cmp - g && content old@8U | test_cmp - old && content u=untracked | test_cmp - u && content new=precious | test_cmp - new && test ! -e n && git reset -q && rm new && put g@8U && picture >../after && test_cmp ../before ../after
	'
done
test_expect_success 'given up: a file of the user that is like one of the session is none of it' '
	for how in --merge --rebase; do
		begin && s=k$(count) && git agent start -q --name $s -- sh -c "$words put f@2A lib/e=; git add -A; git commit -qm one" && put f@2M && git commit -qam mine && put pkg/e= && { test_expect_code 4 git agent land $how $s; } && put f@2R && git add -A && git agent land --abort $s && git status --porcelain >../is && echo "A  pkg/e" | test_cmp - ../is && test -e pkg/e && test ! -e lib || return 1
	done
'
test_expect_success 'given up: what is intended to be added still is' '
	for how in --merge --rebase; do
		begin && s=k$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one" && put f@2M && git commit -qam mine && { test_expect_code 4 git agent land $how $s; } && put new=precious "[a-z]w=x" x.ign=i && git add -N -f new ":(literal)[a-z]w" x.ign && git agent land --abort $s && git status --porcelain >../is && printf " A [a-z]w\n A new\n A x.ign\n" | test_cmp - ../is && content new=precious | test_cmp - new || return 1
	done
'
for how in --merge '--merge --no-commit' --rebase; do
	test_expect_success "given up, $how: what was edited since of what git merged is in the way, which is said, and how to go on" '
		begin && s=k$(count) && git agent start -q --name $s -- sh -c "$words put f@2A n=n old@2A; git add n; git commit -qam one" && { test "$how" = "--merge --no-commit" || put f@2M; } && git commit -q --allow-empty -am mine && picture >../start && { git agent land $how $s; :; } && echo more >>n && put old@2A8E g@5U && touch run && picture >../before && test_expect_code 2 git agent land --abort $s 2>../err && cat ../err && grep "git cannot go back to where it began over uncommitted changes: n, old$" ../err && picture >../after && test_cmp ../before ../after &&
		mv n old .. && eval "$(sed -n "s/^hint: move them away, then .\(git agent land --abort $s\). goes back$/\1/p" ../err)" && content g@5U | test_cmp - g && put g@ && picture >../after && test_cmp ../start ../after
	'
done
test_expect_success 'given up: a merge by hand with nothing in common is left to git' '
	begin && git agent start -q --name ur -- sh -c "$words put f@2A; git commit -qam one" && git checkout -q --orphan alone && git rm -qrf . && put f@2M && git add f && git commit -qm alone && test_must_fail git merge --allow-unrelated-histories agent/ur && picture >../before && test_must_fail git agent land --abort ur 2>../err && cat ../err && grep "^hint: .git merge --abort. goes back" ../err && picture >../after && test_cmp ../before ../after
'
test_expect_success 'given up: a submodule that the stopped commit took away is no file of the user' '
	begin && git init -q sub && git -C sub commit -q --allow-empty -m s && git -c advice.addEmbeddedRepo=false add sub && git commit -qm sub && git agent start -q --name sub -- sh -c "$words git rm -q --cached sub; put f@2A; git commit -qam one" && put f@2M && git commit -qam mine && git agent review --accept-all --critical sub && picture >../start && for how in rebase merge; do
		test_expect_code 4 git agent land --$how sub && put sub/x=mine && git agent land --abort sub && content x=mine | test_cmp - sub/x && rm sub/x && picture >../after && test_cmp ../start ../after || return 1
	done
'
test_expect_success 'what is dirty or new elsewhere is in nobody'\''s way; nor is what only earlier commits touch' '
	begin && git agent start -q --name w -- sh -c "$words put f@2A; git commit -qam one; put g@2A; git commit -qam two" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land --rebase w && put f@2R && git add f && put f@2R5D d/h@8U u=u && git agent land --continue w && git agent list | grep "^w .*landed" && content f@2R5D | test_cmp - f && content g@2A | test_cmp - g && content d/h@8U | test_cmp - d/h && content u=u | test_cmp - u && git show HEAD:f >../is && content f@2R | test_cmp - ../is
'

# ---- the first time

test_expect_success 'a later commit cannot be begun, and all are git'\''s: as it was' '
	begin && git agent start -q --name f -- sh -c "$words $agent" && git commit -q --allow-empty -m mine && put d/h@9U u=u && git update-index --assume-unchanged run && put "run*=r" && eval "$broken" && picture >../before && test_must_fail git agent land --rebase f 2>../err && cat ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after && test ! -e .git/sequencer && eval "$mended" && git agent land --rebase f && git agent land --undo f && picture >../after && test_cmp ../before ../after
'
test_expect_success 'the same where git cannot go back: that is said, and how' '
	begin && git agent start -q --name b -- sh -c "$words $agent" && git commit -q --allow-empty -m mine && git rev-parse HEAD >../head && eval "$broken" && git config filter.bad.smudge "echo user >f; false" && test_must_fail git agent land --rebase b 2>../err && cat ../err && grep "^hint: files are not as they were: f; git cannot go back to where it began over uncommitted changes: f; .git stash push -- FILE. puts one away, then .git reset --keep $(cat ../head). goes back" ../err && echo user | test_cmp - f && git checkout -q f && git reset -q --keep "$(cat ../head)" && test -z "$(git status --porcelain)"
'
test_expect_success 'git cannot be run to its end: what it made is taken back' '
	begin && git agent start -q --name e -- sh -c "$words $agent" && git commit -q --allow-empty -m mine && put u=u && picture >../before && GIT_AGENT_FAULT=land:pick:fail test_expect_code 128 git agent land --rebase e 2>../err && cat ../err && grep "stopped at .land:pick" ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after &&
	resolved e && eval "$mended" && GIT_AGENT_FAULT=land:pick:fail test_expect_code 128 git agent land --continue e 2>../err && cat ../err && grep "^hint: .git log $(git rev-parse HEAD~3)\.\.. shows what is committed" ../err && test "$(git log -1 --format=%s)" = three
'

test_done
