#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landings that git stops half way, or would: all is as it was'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
# shellcheck source=tests/lib/stops.sh
. "$TEST_SRCDIR/tests/lib/stops.sh"
require_sandbox

# Git writes names in order, and comes to z after it has written the others; what it is told to make
# of z it cannot.
broken='echo "z filter=bad" >.git/info/attributes; git config filter.bad.smudge false; git config filter.bad.required true'

# stops WAY COMMANDS: with COMMANDS done before, landing fails, and nothing is touched
stops() {
	before=$2
	test_expect_success "git stops half way, $1, with: $2" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A a=new b/c=new z=z; git commit -qam one; put g@2A" && git commit -q --allow-empty -m mine && eval "$broken" && eval "$before" && picture >../before &&
		test_must_fail git agent land $way $s 2>../err && cat ../err && grep "git refused to merge agent/$s" ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after && test ! -e .git/sequencer && git agent list | grep "^$s .*captured" &&
		rm .git/info/attributes && git agent land $way $s && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
}
for way in --merge --squash --rebase; do
	stops $way :
	stops $way 'put old@5M u=u'
	stops $way 'git update-index --assume-unchanged old; put old@5M'
done
way=--merge
stops merge 'git update-index --assume-unchanged old "run"; rm old; put "run*@1M"'
stops merge 'git update-index --skip-worktree old link; put old@5M "link>g"'
stops merge 'git update-index --skip-worktree old d/h; rm -r old d'
stops merge 'git sparse-checkout set --no-cone "/*" "!/d"'
way='--merge --no-commit'
test_expect_success 'without a commit too' '
	begin && git agent start -q --name n -- sh -c "$words put f@2A a=new z=z" && eval "$broken" && git update-index --assume-unchanged old && put old@5M && picture >../before && test_must_fail git agent land --no-commit n && picture >../after && test_cmp ../before ../after
'
test_expect_success 'moved on: files that git had changed are put back' '
	begin && git agent start -q --name m -- sh -c "$words put f@2A a=new b/c=new -old z=z" && eval "$broken" && git update-index --assume-unchanged g && put g@5M d/h@1M && picture >../before && test_must_fail git agent land --ff-only m && picture >../after && test_cmp ../before ../after && rm .git/info/attributes && git agent land --ff-only m && git agent land --undo m && picture >../after && test_cmp ../before ../after
'

test_expect_success 'git killed when it had staged the merge: nothing of it stays' '
	begin && git agent start -q --name k -- sh -c "$words put f@2A new=n" && put g@5M && printf "#!/bin/sh\nkill -9 \$PPID\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit && picture >../before && test_must_fail git agent land k 2>../err && grep "files are as they were" ../err && picture >../after && test_cmp ../before ../after && rm .git/hooks/pre-merge-commit && git agent land k && git agent land --undo k && picture >../after && test_cmp ../before ../after
'

# ---- who ends it

# halves SESSION: it is there, with changes before and behind the file at which git waits
halves() {
	git agent start -q --name $1 -- sh -c "$words put f@2A a=new b/c=new -old z=z; git commit -qam one; put g@2A zz=more" && { test "$way" = --ff-only || git commit -q --allow-empty -m mine; } && echo "z filter=slow" >.git/info/attributes && git config filter.slow.smudge "$PWD/../slow" && git config filter.slow.clean cat && accepted $1
}
for way in --merge --squash --rebase --ff-only; do
	test_expect_success "Ctrl-C while git works, $way: git ends, and all is as it was" '
		begin && s=i$(count) && halves $s && picture >../before && ended SIGINT $way $s 2>../err && cat ../err && grep "git was interrupted, .* agent/$s$" ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after && test ! -e .git/index.lock &&
		test_expect_code 128 git agent land --undo $s && git agent land $way $s && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
done
for way in --merge --squash --ff-only; do
	for then in --abort --undo again; do
		test_expect_success "killed while git works, $way: what git wrote is taken back by $then" '
			begin && s=k$(count) && halves $s && picture >../before && ended SIGKILL $way $s && rm -f .git/index.lock && picture >../after && ! cmp -s ../before ../after &&
			git agent start -q --name o$s -- sh -c "$words put g@5A" && test_expect_code 2 git agent land o$s 2>../err && grep "a landing of agent/$s was interrupted" ../err && if test $then = again; then
				git agent land $way $s 2>../err && grep "interrupted was taken back" ../err && git agent list | grep "^$s .*landed" && git agent land --undo $s
			else
				git agent land $then $s
			fi && picture >../after && test_cmp ../before ../after && test_expect_code 128 git agent land --undo $s
		'
	done
done
test_expect_success 'killed while git works: what is not as git wrote it stays, and is named' '
	way=--merge && begin && halves mine && ended SIGKILL mine && rm -f .git/index.lock && echo more >>a && test_expect_code 2 git agent land --undo mine 2>../err && grep "the landing of agent/mine was killed half way: files are not as they were: a" ../err && grep more a && rm a && git agent land --undo mine && test -z "$(git status --porcelain)"
'
test_expect_success 'killed when a directory had come in place of a link, and nothing was in it yet' '
	begin && git agent start -q --name hollow -- sh -c "$words rm link; put link/deep/in=x z=z; git add -A; git commit -qm work" && git commit -q --allow-empty -m mine && echo "z filter=slow" >.git/info/attributes && git config filter.slow.smudge "$PWD/../slow" && git config filter.slow.clean cat && accepted hollow && accepted hollow && picture >../before && ended SIGKILL hollow && rm -f .git/index.lock && rm link/deep/in && git agent land --undo hollow && picture >../after && test_cmp ../before ../after
'
test_expect_success 'killed in a hook of the commit: what was staged is taken back' '
	begin && git agent start -q --name hook -- sh -c "$words put f@2A new=n" && git commit -q --allow-empty -m mine && printf "#!/bin/sh\n: >$PWD/../at\nsleep 1000\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && picture >../before && ended SIGKILL --squash hook && rm -f .git/index.lock && git diff --cached --name-only | grep new && git agent land --abort hook && picture >../after && test_cmp ../before ../after
'
test_expect_success 'killed while git works on a rebase, after its first commit: the way back is named' '
	begin && git agent start -q --name r -- sh -c "$words put f@2A new=n; git add new; git commit -qm one; put g@2A; git commit -qam two" && git commit -q --allow-empty -m mine && printf "#!/bin/sh\n: >$PWD/../at\nsleep 1000\n" >.git/hooks/post-commit && chmod +x .git/hooks/post-commit && picture >../before && ended SIGKILL --rebase r && rm -f .git/index.lock && test "$(git log -1 --format=%s)" = one &&
	test_expect_code 2 git agent land --abort r 2>../err && cat ../err && $(sed -n "s/.*.\(git reset --keep [0-9a-f]*\). goes back.*/\1/p" ../err) && picture >../after && test_cmp ../before ../after
'

for then in --abort --undo again; do
	test_expect_success "killed when the merge was staged, and more was since: refused, and nothing of that is lost, by $then" '
		begin && s=g$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@2A" && git commit -q --allow-empty -m mine && printf "#!/bin/sh\n: >$PWD/../at\nsleep 1000\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit && picture >../before && ended SIGKILL $s && rm -f .git/index.lock .git/hooks/pre-merge-commit && git diff --cached --name-only | grep -x f && put g@2A7L && git add g && picture >../staged &&
		case $then in again) then= ;; esac && test_expect_code 2 git agent land $then $s 2>../err && cat ../err && grep "changes are staged that git was not to bring: g$" ../err && picture >../after && test_cmp ../staged ../after &&
		$(sed -n "s/^hint: .\(git stash push -- \)FILE. puts one away.*/\1g/p" ../err) && git agent land $then $s && { test -n "$then" || git agent land --undo $s; } && picture >../after && test_cmp ../before ../after && git stash pop -q && content g@2A7L | test_cmp - g
	'
done

for way in --merge --squash --rebase; do
	test_expect_success "killed, and git lives on, $way: nothing is touched before it has ended, then all is taken back" '
		begin && s=l$(count) && halves $s && picture >../before && alone $way $s && note=$(echo "$HOME"/.local/state/git-agent/*/sessions/$s/undo/1/record) && find . -path ./.git -prune -o -type f -print | sort | xargs sha1sum >../is &&
		for c in land "land --abort" "land --undo"; do
			case $way$c in --merge*|*undo) ;; *) continue ;; esac
			test_expect_code 128 git agent $c $s 2>../err && cat ../err && grep "the landing of agent/$s was killed, and git is still at work on it" ../err && grep -F "fuser -v $note" ../err || exit 1
		done && test -e .git/index.lock && find . -path ./.git -prune -o -type f -print | sort | xargs sha1sum | test_cmp ../is - && rm ../hold && test_wait_for "flock -n $note true" &&
		case $way in --rebase) test_expect_code 2 git agent land --undo $s 2>../err && cat ../err && $(sed -n "s/.*.\(git reset --keep [0-9a-f]*\). goes back.*/\1/p" ../err) ;; *) git agent land --undo $s ;; esac && picture >../after && test_cmp ../before ../after
	'
done

# late HOOK WAY: Ctrl-C in a hook that git runs when it has committed
late() {
	hook=.git/hooks/$1 way=$2
	test_expect_success "interrupted in the hook $1, $2: it has landed, and can be undone" '
		begin && s=c$(count) && git agent start -q --name $s -- sh -c "$words put f@2A new=n; git add new; git commit -qm one; put g@2A; git commit -qam two" && case $way in --ff-only) ;; *) git commit -q --allow-empty -m mine ;; esac && picture >../before && printf "#!/bin/sh\nkill -INT \$PPID\nsleep 1\n" >$hook && chmod +x $hook && git agent land $way $s && rm $hook && test ! -e .git/MERGE_HEAD && test -z "$(git status --porcelain)" && test -e new && git agent list | grep "^$s .*landed" &&
		test_expect_code 128 git agent land --abort $s && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
}
late post-merge --merge
late post-merge --ff-only
late post-commit --squash
test_expect_success 'and when a conflict is resolved' '
	begin && git agent start -q --name res -- sh -c "$words put f@2A new=n" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land res && put f@2X && git add f && printf "#!/bin/sh\nkill -INT \$PPID\nsleep 1\n" >.git/hooks/post-commit && chmod +x .git/hooks/post-commit && git agent land --continue res && test ! -e .git/MERGE_HEAD && git agent list | grep "^res .*landed" && git rev-parse -q --verify HEAD^2 && git agent land --undo res && content f@2M | test_cmp - f
'

# ---- what git converts

# converted ATTRIBUTES COMMANDS: what git wrote through filters, line ends or encodings is told from others all the same
converted() {
	attributes=$1 before=$2
	test_expect_success "git stops half way, and had converted: $1" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A a=new b/c=new d/h@9B -g z=z" && git commit -q --allow-empty -m mine && git config filter.rot.smudge "tr a-y b-z" && git config filter.rot.clean "tr b-z a-y" && eval "$broken" && printf "$attributes\n" >>.git/info/attributes && eval "$before" && rm f d/h g && git checkout -q f d/h g && accepted $s && picture >../before &&
		for how in --merge --squash --rebase --ff-only; do
			test $how != --ff-only || git reset -q --keep HEAD^ && { test $how != --ff-only || picture >../before; } && test_must_fail git agent land $how $s 2>../err && cat ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after || return 1
		done
	'
}
converted '* eol=crlf' :
converted 'f eol=crlf\n[a-d] working-tree-encoding=UTF-16' :
converted '[a-d]* filter=rot\nb/* filter=rot' :
converted '* text' 'git config core.autocrlf true; put u=u; git update-index --assume-unchanged old'
converted 'f ident' 'put old@5M; git update-index --assume-unchanged old run'

test_expect_success 'what it wrote so that nobody can tell: named, and left where it is' '
	begin && git agent start -q --name c -- sh -c "$words put f@2A a=new z=z" && git commit -q --allow-empty -m mine && eval "$broken" && git config filter.odd.smudge "cat; date +%N; echo \$\$" && git config filter.odd.clean cat && echo "a filter=odd" >>.git/info/attributes && accepted c && picture >../before && test_must_fail git agent land c 2>../err && cat ../err && grep "^hint: nothing was committed; files are not as they were: a; see .git status." ../err && head -n1 a | grep new && rm a && picture >../after && test_cmp ../before ../after
'

# What somebody puts in the way meanwhile, here the filter, is not removed for what was there before.
test_expect_success 'where taking it back breaks off too, that is said, and where to look' '
	begin && git agent start -q --name both -- sh -c "$words put f@2A z=z" && git commit -q --allow-empty -m mine && echo "z filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true && GIT_AGENT_FAULT=land:restore:fail test_must_fail git agent land both 2>../err && cat ../err && grep "^hint: nothing was committed; files may not be as they were: stopped at .land:restore.: .*; see .git status.$" ../err
'

test_expect_success 'a directory, or a file on the way, that came meanwhile stays' '
	begin && git agent start -q --name w -- sh -c "$words put f@2A d/h@2A z=z" && git commit -q --allow-empty -m mine && eval "$broken" && git config filter.bad.smudge "rm -rf f d; mkdir f; echo user >f/x; echo user >d; false" && accepted w && test_must_fail git agent land w 2>../err && cat ../err && grep "^hint: nothing was committed; files are not as they were: .*see .git status." ../err && test "$(cat f/x d)" = "user
user"
'

# ---- git that cannot be run to its end

# broken_off WAY SAYS: what it had done by then is taken back, or where HEAD is is said
broken_off() {
	way=$1 says=$2
	test_expect_success "git is broken off, $1: not taken for what it is not" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A new=n" && git commit -q --allow-empty -m mine && put old@5M u=u && picture >../before && GIT_AGENT_FAULT=land:git:fail test_expect_code 128 git agent land $way $s 2>../err && cat ../err && grep "stopped at .land:git" ../err && grep "$says" ../err && { git reset -q --keep ORIG_HEAD 2>/dev/null || :; } && { ! test -e .git/MERGE_HEAD || git agent land --abort $s; } && picture >../after && test_cmp ../before ../after && git agent land $s
	'
}
broken_off --merge 'hint: your branch moved meanwhile; .git reset --keep [0-9a-f]*. goes back'
broken_off --squash 'hint: nothing was committed, and files are as they were'
broken_off '--merge --no-commit' 'hint: .git agent land --continue s[0-9]*. goes on, --abort goes back'

# ---- two at once

# While the hook of one landing waits, another finds it at work.
test_expect_success 'one landing at a time: another is refused, and touches nothing' '
	begin && for n in one two; do git agent start -q --name $n -- sh -c "$words put $n=n" || return 1; done && git agent start -q --name three -- sh -c "echo 3 >three" && git agent land three && mkfifo ../on ../go && printf "#!/bin/sh\necho >../on; cat ../go\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit &&
	{ git agent land one & } && read -r _ <../on && picture >../before && for what in "land two" "land --squash two" "land two -- two" "land --continue two" "land --abort two" "land --undo three"; do
		test_expect_code 128 git agent $what 2>../err && cat ../err && grep "another landing is at work in this working tree" ../err || return 1
	done && git agent land --dry-run two && picture >../after && test_cmp ../before ../after && : >../go && wait && rm .git/hooks/pre-merge-commit && git agent land two && test -e one && test -e two && test -z "$(git status --porcelain)" && git agent list | grep -c landed | grep -x 3
'

# ---- what is marked in the index

# beside MARK: what is marked and not in the way stays as it is, whichever way, and nothing is left in the note
beside() {
	before=$1 holds=$2
	test_expect_success "not in the way, and as before: $1" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A new=n" && git commit -q --allow-empty -m mine && eval "$before" && picture >../before && for way in --merge --squash --rebase; do
			git agent land $way $s && test "$(git show HEAD:f)" = "$(cat f)" && test -e new && eval "$holds" && ! find "$HOME/.local/state" -name "hidden-*" | grep . && git agent land --undo $s && picture >../after && test_cmp ../before ../after || return 1
		done
	'
}
beside 'git update-index --assume-unchanged old; put old@5M' 'content old@5M | test_cmp old - && git ls-files -v old | grep "^h"'
beside 'git update-index --skip-worktree old; put old@5M' 'content old@5M | test_cmp old - && git ls-files -v old | grep "^S"'

# ---- added in intent

# intended COMMANDS ALSO: of a path that is only intended to be added, and not in the way, all is as before
intended() {
	before=$1 also=$2
	test_expect_success "intended to be added elsewhere: $1" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A new=n" && git commit -q --allow-empty -m mine && eval "$before" && picture >../before && for way in --merge --squash; do
			git agent land --dry-run $way $s && git agent land $way $s && test "$(git show HEAD:f)" = "$(content f@2A)" && git show HEAD:new && ! git cat-file -e HEAD:i && eval "$also" && git agent land --undo $s && picture >../after && test_cmp ../before ../after || return 1
		done && test_expect_code 2 git agent land --dry-run --rebase $s && test_expect_code 2 git agent land --rebase $s && test_expect_code 2 git agent land --no-commit $s && picture >../after && test_cmp ../before ../after
	'
}
intended 'put i=i; git add -N i' 'git status --porcelain | grep "^ A i"'
intended 'put i=i; git add -N i; rm i' 'git status --porcelain | grep "^ D i"'
intended 'put i=i s=s; git add -N i; git add s; put g@5M' 'git status --porcelain | grep "^ A i" && git status --porcelain | grep "^A  s" && git status --porcelain | grep "^ M g"'
intended 'put i=i; git add -N i; git update-index --index-version 4' 'git status --porcelain | grep "^ A i"'

test_expect_success 'intended to be added, in a split index' '
	begin && git agent start -q --name sp -- sh -c "$words put f@2A new=n" && put i=i && git add -N i && git update-index --split-index && git status --porcelain >../before && git agent land sp && test -e new && git status --porcelain | test_cmp ../before - && git agent land --undo sp && git status --porcelain | test_cmp ../before -
'

test_expect_success 'a landing is not undone where git would forget what is intended to be added' '
	begin && git agent start -q --name u -- sh -c "$words put f@2A" && git agent land u && put i=i && git add -N i && picture >../before && test_expect_code 2 git agent land --undo u 2>../err && grep "paths are intended to be added: i" ../err && picture >../after && test_cmp ../before ../after && git reset -q && git agent land --undo u
'

# ---- directories that cannot be written in

test_lazy_prereq CLOSED 'mkdir closed && chmod 555 closed && ! touch closed/x 2>/dev/null && chmod 755 closed'
test_lazy_prereq IMMUTABLE 'mkdir fixed && chattr +i fixed && chattr -i fixed'

# closed PREREQ CLOSE OPEN: nothing is begun, whichever way, dry or not; nor an undoing
closed() {
	shut=$2 open=$3
	test_expect_success "$1" "a directory that cannot be written in ($2): refused, nothing touched" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put a=new d/h@2A d/sub/n=n" && git commit -q --allow-empty -m mine && eval "$shut" && test_when_finished "cd \"$PWD\" && $open" &&
		for work in : "put g@5M; git add g"; do
			eval "$work" && picture >../before && for way in --dry-run --merge --squash --rebase --no-commit; do
				test_expect_code 2 git agent land $way $s 2>../err && cat ../err && grep "directories cannot be written in: d" ../err && picture >../after && test_cmp ../before ../after || return 1
			done
		done && git reset -q --hard && eval "$open" && git agent land $s && eval "$shut" && picture >../before && test_expect_code 2 git agent land --undo $s 2>../err && grep "directories cannot be written in: d" ../err && picture >../after && test_cmp ../before ../after && eval "$open" && git agent land --undo $s
	'
}
closed CLOSED 'chmod 555 d' 'chmod 755 d'
closed IMMUTABLE 'chattr +i d' 'chattr -i d'

test_expect_success CLOSED 'one that nothing comes to is no matter' '
	begin && git agent start -q --name n -- sh -c "$words put f@2A" && chmod 555 d && git agent land n && git agent land --undo n && chmod 755 d
'

test_done
