#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='files that git was told not to look at: whatever becomes of a landing, they are as they were, or their copy is named'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# What is edited has another size: of a file edited within the second git takes it for the old one.
# A strategy that is tried first, in which anything can happen; git puts the whole working tree back
# to HEAD when it gives up, and goes on to the next one.
mkdir bin
printf '#!/bin/sh\ngit reset -q --hard\n. "%s/happens"\nexit 2\n' "$PWD" >bin/git-merge-odd
chmod +x bin/git-merge-odd
PATH=$PWD/bin:$PATH
odd='git config branch.main.mergeoptions "-s odd"'
even='git config --unset branch.main.mergeoptions'
# Git cannot write z.
broken='echo "z filter=bad" >.git/info/attributes; git config filter.bad.smudge false; git config filter.bad.required true'
mended='rm .git/info/attributes'
# the landing, and git with it
cat >bin/kill-all <<\END
#!/bin/sh
p=$PPID gits=
until [ "$(ps -o comm= -p "$p")" = git-agent-main ] || [ "$p" -le 1 ]; do
	gits="$p $gits" p=$(ps -o ppid= -p "$p" | tr -d " ")
done
[ "$p" -le 1 ] || { kill -STOP "$p" $gits; kill -9 "$p" $gits; }
END
chmod +x bin/kill-all

# session NAME HIDE: in a new repository, with these files hidden
session() {
	begin && git agent start -q --name $1 -- sh -c "$words put f@2A new=n z=z" && git commit -q --allow-empty -m mine && eval "$2"
}
note() {
	echo "$HOME"/.local/state/git-agent/*/sessions/$1/undo/1
}
mark='git update-index --assume-unchanged old'

# kept HIDE: they are as they were, when git brought it after all, and when it stopped
kept() {
	hide=$1
	test_expect_success "put back to HEAD by git on the way: $1" '
		echo : >happens && s=s$(count) && session $s "$hide" && eval "$odd" && picture >../before && git agent land $s && test -e z && picture | grep -w -e old -e "link" >../is && grep -w -e old -e "link" ../before | test_cmp - ../is && ! find "$(note $s)" -name "hidden*" | grep . && git agent land --undo $s && picture >../after && test_cmp ../before ../after &&
		eval "$broken" && picture >../before && test_must_fail git agent land $s 2>../err && cat ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after && test ! -e "$(note $s)"
	'
}
kept "$mark; put old=mine"
kept "$mark; chmod +x old"
kept "$mark; rm old"
kept "$mark link; put 'link>g' old=x"
kept "$mark; put 'old>g'"

test_expect_success 'where that fails: the note stays, the error says where the copy is, and the next landing puts it back' '
	echo : >happens && session lost "$mark; put old=mine" && picture >../before && eval "$odd" && eval "$broken" && git config filter.bad.smudge "rm -f old; mkdir -p old; touch old/x; false" && test_must_fail git agent land lost 2>../err && cat ../err && grep "^hint: nothing was committed; .*could not be put back: old (kept as $(note lost)/hidden-0); .*rm -r $(note lost)" ../err && content old=mine | test_cmp - "$(note lost)/hidden-0" && test -e old/x &&
	git worktree add -q ../other-lost && (cd ../other-lost && for c in "land" "land --abort" "land --undo"; do test_expect_code 2 git agent $c lost 2>../err && cat ../err && grep "another working tree" ../err && grep "hint: .git -C .* agent land --abort lost. puts them back" ../err && test -z "$(git status --porcelain)" || exit 1; done) && git worktree remove ../other-lost && git branch -q -D other-lost &&
	eval "$even" && eval "$mended" && for c in "land" "land --dry-run" "land --abort" "land --undo" "land --continue"; do
		test_expect_code 2 git agent $c lost 2>../err && cat ../err && grep "a landing .*was interrupted" ../err && test -e old/x && content old=mine | test_cmp - "$(note lost)/hidden-0" || return 1
	done && rm -r old && git agent land lost && content old=mine | test_cmp - old && git agent land --undo lost && picture >../after && test_cmp ../before ../after
'

# merged NAME: it was, and they could not be put back
merged() {
	echo ": >../merged" >happens && session $1 "$mark; put old=mine" && picture >../before && eval "$odd" && printf "#!/bin/sh\nrm -rf old; mkdir old; touch old/x\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && test_expect_code 2 git agent land $1 2>../err && cat ../err && grep "old (kept as $(note $1)/hidden-0)" ../err
}
test_expect_success 'the same though it was merged: said, and noted when they are back' '
	merged late && rm -r old .git/hooks/post-merge && git rev-parse HEAD^2 && git agent land late && content old=mine | test_cmp - old && git agent list | grep "^late .*landed" && git agent land --undo late && picture >../after && test_cmp ../before ../after
'
test_expect_success 'neither gc nor drop takes the copy away' '
	merged kept && git agent gc 2>../err && cat ../err && grep "session .kept. has landed and stays: a landing of agent/kept was interrupted" ../err && grep "land --abort kept. takes it back" ../err && test_expect_code 2 git agent drop kept 2>../err && grep "a landing of agent/kept was interrupted" ../err && content old=mine | test_cmp - "$(note kept)/hidden-0" && rm -r old && git agent land kept && content old=mine | test_cmp - old && git agent gc && git agent list | grep -c kept | grep -x 0
'

# ---- killed

# half NAME: killed when git had put them back to HEAD
half() {
	echo kill-all >happens && session $1 "$mark link d/h; put old=mine \"link>g\"; rm d/h; rmdir d" && chmod 600 old && picture >../before && eval "$odd" && { git agent land $1; test $? = 137; } && eval "$even" && rm -f .git/index.lock && git show HEAD:old | test_cmp - old && test -e d/h
}
for next in land 'land --abort' 'land --undo'
do
	test_expect_success "killed: $next puts them back" '
		k=k$(count) && half $k && test_expect_code 2 git agent land --dry-run $k 2>../err && grep "a landing of agent/$k was interrupted" ../err && git agent $next $k && if test "$next" = land; then test -e z && git agent land --undo $k; fi && picture >../after && test_cmp ../before ../after && git agent list | grep "^$k .*captured"
	'
done
test_expect_success 'killed: --continue has nothing to go on with, and puts them back' '
	half c && test_expect_code 128 git agent land --continue c 2>../err && cat ../err && picture >../after && test_cmp ../before ../after && git agent land c && test -e z
'

test_expect_success 'killed before git began, or when they were kept but not listed yet: nothing is lost' '
	session b "$mark; put old=mine" && picture >../before && { GIT_AGENT_FAULT=land:kept:kill git agent land b; test $? = 137; } && test -e "$(note b)/hidden" && picture >../after && test_cmp ../before ../after && put old=else && test_expect_code 2 git agent land --abort b 2>../err && cat ../err && grep "old (kept as $(note b)/hidden-0)" ../err && content old=else | test_cmp - old && rm -r "$(note b)" && git agent land b && content old=else | test_cmp - old
'

test_expect_success 'killed, and edited since, if only by leaving lines out: that stays, and so does the copy' '
	half e && for is in old= old@ old=other; do
		put $is && { test $is != old@ || echo "$(head -n 6 old)" >old; } && cp old ../old && for c in land "land --abort" "land --undo"; do
			test_expect_code 2 git agent $c e 2>../err && cat ../err && grep "could not be put back: old (kept as $(note e)/hidden-2)" ../err && test_cmp ../old old && content old=mine | test_cmp - "$(note e)/hidden-2" || return 1
		done || return 1
	done && test_expect_code 2 git agent drop e 2>../err && grep "a landing of agent/e was interrupted" ../err && test -e "$(note e)" && git agent drop --force e && git agent drop --restore e && test "$(readlink link)" = g && test ! -e d/h && put old=mine && git agent land e && content old=mine | test_cmp - old
'

# damaged NAME FILE: every command stops at it, nothing is touched, and the way out is named
damaged() {
	for c in land "land --abort" "land --undo" "land --continue" "land --dry-run"; do
		test_must_fail git agent $c $1 2>../err && cat ../err && test -e "$(note $1)/hidden-2" && git show HEAD:old | test_cmp - old || return 1
	done && grep "was interrupted" ../err && test_must_fail git agent land $1 2>../err && grep "rm -r $(note $1)" ../err
}
test_expect_success 'killed, and the list is damaged, or cannot be read, or a copy is: nothing is touched, and the way out is named' '
	half d && note=$(note d) && cp "$note/hidden" ../list && for edit in "s,d/h,../d," "s,d/h,.git/config," "s,hidden 2,hidden 1," "s/33188\|33152/1/"; do
		sed "$edit" ../list >"$note/hidden" && ! cmp -s ../list "$note/hidden" && damaged d && grep "the list of what was kept is damaged" ../err || return 1
	done && head -c 30 ../list >"$note/hidden" && damaged d && cp ../list "$note/hidden" && GIT_AGENT_FAULT=land:hidden:fail test_expect_code 128 git agent land d 2>../err && grep "stopped at" ../err && git show HEAD:old | test_cmp - old &&
	cp -p "$note/hidden-2" ../copy && echo x >>"$note/hidden-2" && test_expect_code 2 git agent land d 2>../err && cat ../err && grep "could not be put back: old (kept as $note/hidden-2)" ../err && git show HEAD:old | test_cmp - old && cp -p ../copy "$note/hidden-2" && git agent land --abort d && picture >../after && test_cmp ../before ../after
'

test_expect_success 'killed, and its record is damaged: the note is not taken for one of nothing' '
	half r && : >"$(note r)/record" && for c in land "land --abort" "land --continue"; do test_must_fail git agent $c r 2>../err && cat ../err && grep "may have been left half done" ../err && grep "rm -r $(note r)" ../err && content old=mine | test_cmp - "$(note r)/hidden-2" || return 1; done
'

# ---- in the way

# hinted LAND...: refused, and nothing touched; where git shows no change, no hint says to commit or stash it
hinted() {
	picture >../before && test_expect_code 2 git agent land "$@" $s 2>../err && cat ../err && picture >../after && test_cmp ../before ../after
}
no_mark="git update-index --no-assume-unchanged FILE. (or --no-skip-worktree)"
for mark in assume-unchanged skip-worktree; do
	test_expect_success "in the way of what only git does: the hint is one that can be followed, $mark" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@5A" && git commit -q --allow-empty -m mine && git update-index --$mark f && echo more >>f &&
		for how in --rebase --no-commit "--squash --no-commit"; do
			git checkout -q g && hinted $how && grep "^git-agent: with uncommitted changes in the way agent/$s cannot be .*: f$" ../err && grep "^hint: git was told not to look there: .$no_mark, see to it, then land again" ../err && echo more >>g && hinted $how && grep "cannot be .*: f$" ../err || return 1
		done && git update-index --no-$mark f && hinted --rebase && grep "cannot be rebased: f, g$" ../err && grep "^hint: commit them or .git stash. them, then land again" ../err && git stash -q && git agent land --rebase $s
	'
	test_expect_success "overlapping with what lands, $mark" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@5A" && git update-index --$mark f && put f@2M && hinted && grep "overlap with what is to land: f$" ../err && grep "^hint: git was told not to look there: .$no_mark, see to it, then land again" ../err
	'
	test_expect_success "beside a conflict, $mark" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@5A" && put g@5M && git commit -qam mine && git update-index --$mark f && echo more >>f && hinted && grep "conflicts with what is committed: g$" ../err && grep "^hint: git was told not to look at f: .$no_mark; with all changes committed or stashed, " ../err &&
		git update-index --no-$mark f && hinted && grep "^hint: with all changes committed" ../err && git stash -q && test_expect_code 4 git agent land $s
	'
	test_expect_success "changed since it landed, $mark" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A" && git agent land $s && git update-index --$mark f && echo more >>f && hinted --undo && grep "would be overwritten: f$" ../err && grep "^hint: git was told not to look there: .$no_mark, see to it, then go on" ../err && git update-index --no-$mark f && hinted --undo && grep "^hint: commit them or .git stash. them, then go on" ../err
	'
done

# ---- large

big='for i in 1 2 3; do head -c 6000000 /dev/zero | tr "\0" $i >big$i; done; head -c 9000000 /dev/zero >big4; git add -A; git commit -qm big'
test_expect_success 'as committed, however large: no edits of anybody' '
	begin && eval "$big" && git agent start -q --name l -- sh -c "for i in 1 2 3 4; do echo more >>big\$i; done" && git commit -q --allow-empty -m mine && git update-index --assume-unchanged big1 big2 big3 big4 && for how in merge rebase squash; do git agent land --$how l && test "$(tail -n1 big3 | tail -c 5)" = more && test -z "$(git status --porcelain)" && git agent land --undo l || return 1; done
'
test_expect_success 'edited and large: kept; too large for that: refused by name, nothing touched' '
	echo : >happens && begin && eval "$big" && git agent start -q --name x -- sh -c "$words put f@2A z=z" && git commit -q --allow-empty -m mine && git update-index --assume-unchanged big1 big4 && echo mine >>big1 && truncate -s 20M big4 && picture >../before && eval "$odd" && for how in merge rebase squash; do git agent land --$how x && test "$(tail -c 5 big1)" = mine && git agent land --undo x && picture >../after && test_cmp ../before ../after || return 1; done &&
	truncate -s 1100M big4 && git ls-files -s -v >../before && for how in "" --dry-run --rebase; do test_expect_code 2 git agent land $how x 2>../err && cat ../err && grep "big4.* is changed and too large to be kept: such files may have 1.0 GiB together" ../err || return 1; done && git ls-files -s -v | test_cmp ../before - && test ! -e z && rm big4 && git agent land x
'

test_done
