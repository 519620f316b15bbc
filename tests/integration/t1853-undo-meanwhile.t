#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='undoing a landing: what was changed since, or meanwhile, and what it did not bring'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# hook NAME COMMANDS: one of the user's, that runs once
hook() {
	printf '#!/bin/sh\nrm -f "$0"\n%s\n' "$2" >".git/hooks/$1" && chmod +x ".git/hooks/$1"
}

# ---- what is changed while undoing is at work

test_expect_success 'a file that is edited while git resets is not overwritten; moved away, undoing comes to its end' '
	begin && put x.ign=mine && git agent start -q --name m1 -- sh -c "$words put f@2A x.ign=theirs y.ign=theirs" && picture >../before && git agent land --with-ignored x.ign --with-ignored y.ign --force m1 && hook reference-transaction "echo LATER >x.ign" &&
	test_expect_code 2 git agent land --undo m1 2>../err && cat ../err && grep "all but these was taken back, as they changed meanwhile: x.ign$" ../err && grep "hint: move them away, then undo again" ../err && test "$(cat x.ign)" = LATER && test ! -e y.ign && content f@ | test_cmp - f &&
	test_expect_code 2 git agent land --undo m1 2>../err && grep "changed since they were brought: x.ign$" ../err && mv x.ign ../later && git agent land --undo m1 && picture >../after && test_cmp ../before ../after && git agent list | grep "^m1 .*captured"
'
test_expect_success 'nor one that comes where nothing was' '
	begin && git agent start -q --name m2 -- sh -c "$words put f@2A y.ign=theirs" && picture >../before && git agent land --with-ignored y.ign m2 && hook reference-transaction "echo LATER >y.ign" && test_expect_code 2 git agent land --undo m2 2>../err && grep "changed meanwhile: y.ign$" ../err && test "$(cat y.ign)" = LATER && rm y.ign && git agent land --undo m2 && picture >../after && test_cmp ../before ../after
'
# stopped COMMANDS ARG...: they run when it has made the part of a first file
stopped() {
	commands=$1 && shift
	GIT_AGENT_FAULT=land:part:stop git-agent "$@" 2>../err & pid=$!
	test_wait_for "grep \"^State:.T\" /proc/$pid/status" && eval "$commands"
	while kill -CONT $pid 2>/dev/null; do sleep 0.1; done
	wait $pid
}
for what in first second; do
	case $what in first) p=f ;; second) p=g ;; esac
	test_expect_success "beside work: the $what file is edited when undoing has begun, and is not overwritten" '
		begin && s=p$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@2A" && put f@8M g@8M && picture >../before && git agent land $s && { stopped "put $p@5L" land --undo $s; test $? = 2; } && cat ../err && grep "changed meanwhile: $p$" ../err && content $p@5L | test_cmp - $p && mv $p ../later && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
	test_expect_success "the $what file is edited when landing has begun: it stays, and the rest is taken back" '
		begin && s=p$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@2A" && put f@8M g@8M && picture >../before && { stopped "put $p@5L" land $s; test $? = 2; } && cat ../err && grep "'\''$p'\'': it was changed meanwhile" ../err && grep "hint: land again" ../err && content $p@5L | test_cmp - $p && put $p@8M && picture >../after && test_cmp ../before ../after && git agent land $s && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
done

test_expect_success 'a file comes in a directory that came in place of one: it stays, and all else is taken back' '
	begin && put f@8M "run*@1M" && git add run && git agent start -q --name dir -- sh -c "$words rm f; mkdir f; put f/in=x g@2A; git commit -qm g g" && picture >../before && git agent land dir && test -e f/in && { stopped "mkdir -p f && echo LATER >f/own" land --undo dir; test $? = 2; } && cat ../err && grep "changed meanwhile: f$" ../err && test "$(cat f/own)" = LATER && test ! -e f/in && content g@ | test_cmp - g &&
	mv f/own ../own && git agent land --undo dir && picture >../after && test_cmp ../before ../after
'

# ---- another branch

# switched NAME: a session and a commit since it began, with `other` at where it began
switched() {
	begin && git branch other && git agent start -q --name $1 -- sh -c "$words put f@2A; git commit -qam one" && git commit -q --allow-empty -m mine && git rev-parse HEAD >../head
}
is_back() {
	git rev-parse $1 main | uniq | test_cmp ../head - && content f@ | test_cmp - f && test -z "$(git status --porcelain)" && git agent list | grep "^$2 .*captured"
}
test_expect_success 'switched to a new branch from the editor: it is the one that it landed on, and is taken back on' '
	switched b1 && GIT_EDITOR="git switch -q -c new; :" git agent land --squash -e b1 2>../err && cat ../err && grep "on .new.: HEAD was switched to it meanwhile" ../err && git rev-parse main | test_cmp ../head - && git switch -q main && test_expect_code 2 git agent land --undo b1 2>../err && cat ../err && grep "landed on .new., and you are not there" ../err && git switch -q new && git agent land --undo b1 && test "$(git symbolic-ref HEAD)" = refs/heads/new && is_back new b1
'
test_expect_success 'to none' '
	switched b2 && GIT_EDITOR="git switch -q --detach; :" git agent land --squash -e b2 2>../err && cat ../err && grep "on no branch: HEAD was switched to it meanwhile" ../err && git switch -q -c later && test_expect_code 2 git agent land --undo b2 2>../err && grep "landed on .no branch., and you are not there" ../err && git switch -q --detach && git agent land --undo b2 && is_back HEAD b2
'
test_expect_success 'by a hook, before there is a commit' '
	switched b3 && hook pre-merge-commit "git checkout -q -b new" && git agent land b3 && git rev-parse -q --verify HEAD^2 && git agent land --undo b3 && is_back new b3
'
for way in --squash --merge; do
	case $way in --squash) name=post-commit ;; --merge) name=post-merge ;; esac
	test_expect_success "by a hook, when there is one ($way): the branch that has it is the one it landed on" '
		s=b$(count) && switched $s && hook $name "git checkout -q -b new" && git agent land $way $s && test "$(git symbolic-ref HEAD)" = refs/heads/new && test "$(git rev-parse main)" = "$(git rev-parse new)" && test_expect_code 2 git agent land --undo $s 2>../err && grep "landed on .main., and you are not there" ../err && git switch -q main && git agent land --undo $s && is_back main $s
	'
	test_expect_success "to one that is elsewhere ($way): that is said, and where it is" '
		s=b$(count) && switched $s && hook $name "git checkout -q other" && test_expect_code 2 git agent land $way $s 2>../err && cat ../err && grep "HEAD was switched to .other. while agent/$s was brought, and nothing was taken back of that$" ../err && grep "hint: .git log $(cut -c1-10 ../head)\.\.main. shows what is there" ../err && git log --format=%s $(cut -c1-10 ../head)..main | grep "agent/$s"
	'
done
test_expect_success 'to one that is elsewhere, before there is a commit: it is not said that the user committed' '
	switched b9 && test_expect_code 4 env GIT_EDITOR="git switch -q other; :" git-agent land --squash -e b9 2>../err && cat ../err && grep "staged but not committed: HEAD was switched to another branch meanwhile" ../err && git rev-parse main | test_cmp ../head -
'

# ---- what was not brought

test_expect_success 'an uncommitted edit that was not brought, as the file had changed: undone without it' '
	begin && put u=u && git agent start -q --name c1 -- sh -c "$words put u=U g@2A" && git commit -q --allow-empty -m mine && hook post-merge "echo LATER >>u" && picture >../before && git agent land c1 2>../err && cat ../err && grep "u: .*changed meanwhile" ../err && test "$(tail -n1 u)" = LATER && test "$(git show HEAD:g | sed -n 2p)" = A &&
	git agent land --undo c1 && test "$(tail -n1 u)" = LATER && content g@ | test_cmp - g && put u=u && picture >../after && test_cmp ../before ../after && git agent list | grep "^c1 .*captured" && git agent land c1 && test "$(cat u)" = U && git agent land --undo c1 && picture >../after && test_cmp ../before ../after
'
test_expect_success 'an ignored file that was not brought by force: undone without it, and without those behind it' '
	begin && put w.ign=mine x.ign=mine y.ign=mine && git agent start -q --name c2 -- sh -c "$words put f@2A w.ign=theirs x.ign=theirs y.ign=theirs" && picture >../before && hook post-merge "echo LATER >x.ign" && test_expect_code 2 git agent land --with-ignored w.ign --with-ignored x.ign --with-ignored y.ign --force c2 2>../err && cat ../err && grep "x.ign.*changed meanwhile" ../err && test "$(cat w.ign x.ign y.ign | tr "\n" " ")" = "theirs LATER mine " &&
	git agent land --undo c2 && test "$(cat x.ign)" = LATER && put x.ign=mine && rm -f .git/hooks/post-merge && picture >../after && test_cmp ../before ../after
'
test_expect_success 'the same in two steps' '
	begin && put x.ign=mine && git agent start -q --name c3 -- sh -c "$words put f@2A x.ign=theirs" && picture >../before && hook post-merge "echo LATER >x.ign" && test_expect_code 2 git agent land --with-ignored x.ign --force c3 && git agent land --with-ignored x.ign --force c3 && test "$(cat x.ign)" = theirs && git agent land --undo c3 && test "$(cat x.ign)" = LATER && git agent land --undo c3 && test "$(cat x.ign)" = LATER && put x.ign=mine && picture >../after && test_cmp ../before ../after
'
for point in land:part land:brought; do
	test_expect_success "killed at $point, as edits were brought: undone, whatever of them was" '
		begin && put t=t u=u && s=k$(count) && git agent start -q --name $s -- sh -c "$words put g@2A t=T u=U" && git commit -q --allow-empty -m mine && picture >../before && { GIT_AGENT_FAULT=$point:kill git agent land $s; test $? = 137; } && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
done

# ---- what was changed since

# since NAME COMMANDS: a file that was brought is changed by them; what the hint says helps
since() {
	test_expect_success "changed since it was brought, $1: the hint helps, and it can be undone" "
		begin && put x.ign=mine \$dirty && s=s\$(count) && git agent start -q --name \$s -- sh -c \"\$words put $4 g@2A x.ign=theirs d/y.ign=theirs\" && git commit -q --allow-empty -m mine && picture >../before && git agent land --with-ignored x.ign --with-ignored d/y.ign --force \$s && { $2; } && picture >../changed &&
		test_expect_code 2 git agent land --undo \$s 2>../err && cat ../err && grep 'files changed since they were brought' ../err && grep 'hint: move them away, or put them back, then undo' ../err && picture >../after && test_cmp ../changed ../after && { $3; } && git agent land --undo \$s && picture >../after && test_cmp ../before ../after
	"
}
dirty=u=u
since 'an edit' 'echo LATER >>x.ign' 'rm x.ign' u=U
since 'an uncommitted edit' 'echo LATER >>u' 'mv u ../later' u=U
dirty=f@8M
since 'an edit of what is committed beside work' 'echo LATER >>f' 'mv f ../later' f@2A8M
since 'put back by hand' 'echo LATER >x.ign' 'put x.ign=mine' f@2A8M
since 'as it was brought' 'echo LATER >x.ign' 'put x.ign=theirs' f@2A8M
since 'a directory in its place' 'rm x.ign; mkdir x.ign; echo LATER >x.ign/z' 'rm -r x.ign' f@2A8M
test_expect_success 'gone, or put back before anybody asked: nothing is in the way' '
	begin && put x.ign=mine f@8M && git agent start -q --name g1 -- sh -c "$words put f@2A8M g@2A x.ign=theirs y.ign=theirs" && git commit -q --allow-empty -m mine && picture >../before && git agent land --with-ignored x.ign --with-ignored y.ign --force g1 && put x.ign=mine && rm y.ign f && git agent land --undo g1 && picture >../after && test_cmp ../before ../after
'
test_expect_success 'a file where a directory was, that an ignored one comes back to: refused, and nothing touched' '
	begin && put q/x.ign=mine && git agent start -q --name g2 -- sh -c "$words put g@2A q/x.ign=theirs" && picture >../before && git agent land --with-ignored q/x.ign --force g2 && rm -r q && put q=LATER && picture >../changed && test_expect_code 2 git agent land --undo g2 2>../err && cat ../err && grep "changed since they were brought: q$" ../err && picture >../after && test_cmp ../changed ../after && rm q && git agent land --undo g2 && picture >../after && test_cmp ../before ../after
'

# ---- the index

# set, taken off, or set on what goes: they are as the user has them now
for mark in assume-unchanged skip-worktree; do
	for dirty in '' f@8M; do
		test_expect_success "marks ($mark) that were set or taken off since do not matter, and stay${dirty:+, beside work}" '
			begin && s=x$(count) && git update-index --$mark old run && put $dirty && git agent start -q --name $s -- sh -c "$words put f@2A n=n; rm d/h" && git agent review --accept-all --critical $s && picture >../before && git agent land $s && git update-index --$mark g n && git update-index --no-$mark run && rm -f ../index && git ls-files -v | sed "/ n$/d;s/^\(. \)link/H d\/h\n\1link/" | LC_ALL=C sort -k2 >../want &&
			git agent land --undo $s && git ls-files -v | LC_ALL=C sort -k2 >../got && cat ../got && LC_ALL=C sort -k2 ../want | uniq | test_cmp - ../got && git update-index --no-$mark g && git update-index --$mark run && picture >../after && test_cmp ../before ../after
		'
	done
done
test_expect_success 'and those of undoing that was killed' '
	begin && git agent start -q --name x0 -- sh -c "$words put f@2A" && put f@8M && picture >../before && git agent land x0 && git update-index --assume-unchanged g && for point in files index; do GIT_AGENT_FAULT=undo:$point:kill test_expect_code 137 git agent land --undo x0 || return 1; done && git agent land --undo x0 && git ls-files -v | grep "^h g" && git update-index --no-assume-unchanged g && picture >../after && test_cmp ../before ../after
'
test_expect_success 'what was staged since is named, and what was unstaged; the hint helps' '
	begin && git agent start -q --name x1 -- sh -c "$words put f@2A" && put f@8M g@5M && git add g && picture >../before && git agent land x1 && put old@1X && git add old && git restore --staged g && test_expect_code 2 git agent land --undo x1 2>../err && cat ../err && grep "the index changed since agent/x1 landed: g, old$" ../err && grep "hint: .git restore --staged FILE. .*git add FILE. .*; then go on" ../err &&
	git restore --staged old && git add g && git checkout -q old && git agent land --undo x1 && picture >../after && test_cmp ../before ../after
'

# ---- the session

test_expect_success 'gone on with since it landed, and undone: it has not landed' '
	begin && git agent start -q --name r1 -- sh -c "$words put f@2A; git commit -qam one" && picture >../before && git agent land r1 && picture >../one && git agent resume -q r1 -- sh -c "$words put g@2A; git commit -qam two" && git agent list | grep "^r1 .*captured" && git agent land r1 && git agent list | grep "^r1 .*landed" && git agent land --undo r1 && picture >../after && test_cmp ../one ../after && git agent list >../list && cat ../list && grep "^r1 .*captured" ../list && test_expect_code 2 git agent drop r1 &&
	git agent land --undo r1 && picture >../after && test_cmp ../before ../after && git agent list | grep "^r1 .*captured"
'
test_expect_success 'the same of ignored files that were brought after it, and of a landing before' '
	begin && git agent start -q --name r2 -- sh -c "$words put f@2A x.ign=theirs; git commit -qam one" && picture >../before && git agent land r2 && picture >../one && git agent land --with-ignored x.ign r2 && git agent resume -q r2 -- sh -c "$words put g@2A; git commit -qam two" && git agent land --undo r2 && picture >../after && test_cmp ../one ../after && git agent list >../list && cat ../list && grep "^r2 .*captured" ../list
'
test_expect_success 'what was left out since stays to be brought' '
	begin && put f@8M g@8M && git agent start -q --name r3 -- sh -c "$words put f@2A8M" && git commit -q --allow-empty -m mine && git agent land r3 && content f@2A8M | test_cmp - f && git agent resume -q r3 -- sh -c "$words put g@2A8M" && git agent land --undo r3 && content f@8M | test_cmp - f && git agent land r3 && content f@2A8M | test_cmp - f && content g@2A8M | test_cmp - g
'

test_expect_success 'staged when undoing had put the index back: that alone is named' '
	begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A n=n" && put f@8M && picture >../before && git agent land $s && GIT_AGENT_FAULT=undo:index:kill test_expect_code 137 git agent land --undo $s && put u=u && git add u && test_expect_code 2 git agent land --undo $s 2>../err && cat ../err && grep "the index changed since agent/$s landed: u$" ../err && git restore --staged u && rm u && git agent land --undo $s && picture >../after && test_cmp ../before ../after
'

# ---- permissions that mean nothing

# no_modes COMMANDS: as on a file system that has none of its own; the user's work is in d/h
for work in 'put d/h@8M; git add d/h' 'put f@8M'; do
	test_expect_success "with core.fileMode off what is executable is no difference: $work" '
		begin && git config core.fileMode false && s=m$(count) && git agent start -q --name $s -- sh -c "$words put f@2A new=n; git add -A; git commit -qm one" && eval "$work" && picture >../before && git agent land $s && chmod +x f new && git agent land --undo $s && test ! -e new && chmod -x f && picture >../after && test_cmp ../before ../after &&
		git agent land $s && chmod +x f && put f@2A8M9U && test_expect_code 2 git agent land --undo $s 2>../err && cat ../err && grep ": f\$" ../err && content f@2A8M9U | test_cmp - f
	'
done
test_expect_success 'with core.fileMode off, what a landing beside staged work made executable, or not, is as it was' '
	begin && git config core.fileMode false && s=m$(count) && git agent start -q --name $s -- sh -c "$words git config core.fileMode true; put f*@ run@; git add f run; git commit -qm modes" && git agent review --accept-all --critical $s && put n=n && git add n && picture >../before && git agent land $s && test -x f && test ! -x run && git agent land --undo $s && picture >../after && test_cmp ../before ../after
'
test_expect_success 'with core.fileMode on it is one' '
	begin && git agent start -q --name mon -- sh -c "$words put f@2A" && put f@8M && git agent land mon && chmod +x f && picture >../before && test_expect_code 2 git agent land --undo mon 2>../err && grep "files changed since they were brought: f" ../err && picture >../after && test_cmp ../before ../after
'

test_done
