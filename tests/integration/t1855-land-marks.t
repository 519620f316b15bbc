#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='marks of the index, assume-unchanged and skip-worktree, outlive a landing'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# marked: a session of which each path has a mark here
marked() {
	begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A old@3A -g" && git agent review --accept-all --critical $s >../out && git update-index --assume-unchanged g f old d/h && git update-index --skip-worktree run f
}
marks() {
	git ls-files -v
}
# after the landing: as before, but for g, which is gone
landed_marks() {
	marks >../got && grep -v ' g$' ../marks | test_cmp - ../got && content f@2A | test_cmp - f && test ! -e g
}

for how in merge squash rebase ff-only; do
	test_expect_success "landed and undone, $how: the marks are there, and files as well" '
		marked && { test $how = ff-only || git commit -q --allow-empty -m mine; } && marks >../marks && picture >../before &&
		git agent land --$how $s && landed_marks && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
	test_expect_success "killed, landed again, undone, $how" '
		for at in unmarked git made result; do
			# what it staged stays
			case $how.$at in squash.git | squash.made) continue ;; rebase.git) at=pick ;; esac
			marked && { test $how = ff-only || git commit -q --allow-empty -m mine; } && marks >../marks && picture >../before && { GIT_AGENT_FAULT=land:$at:kill git agent land --$how $s; test $? = 137; } &&
			git agent land --$how $s && landed_marks && git agent land --undo $s && picture >../after && test_cmp ../before ../after || return 1
		done
	'
	test_expect_success "a marked file that was only touched is no change, $how" '
		for mark in assume-unchanged skip-worktree; do
			begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@2A" && { test $how = ff-only || git commit -q --allow-empty -m mine; } && git update-index --$mark f g && touch -d 2001-01-01 f && picture >../before &&
			git agent land --dry-run --$how $s && git agent land --$how $s && content f@2A | test_cmp - f && touch -d 2001-01-01 g && git agent land --undo $s && picture >../after && test_cmp ../before ../after || return 1
		done
	'
done

test_expect_success 'nothing is marked that the user unmarked since' '
	marked && git agent land $s && git update-index --no-assume-unchanged old && marks >../marks && git agent land --undo $s && marks >../got && sed -i "s/^H link/h g\\n&/" ../marks && test_cmp ../marks ../got
'

for how in merge rebase; do
	test_expect_success "a conflict, given up, $how: all marks are there; resolved: so is that of what was" '
		marked && git update-index --no-skip-worktree f && put f@2M && git update-index --no-assume-unchanged f && git commit -qam mine && git update-index --assume-unchanged f && marks >../marks && picture >../before &&
		test_expect_code 4 git agent land --$how $s && marks | grep "^h old" && git agent land --abort $s && picture >../after && test_cmp ../before ../after &&
		test_expect_code 4 git agent land --$how $s && put f@2R && git add f && git agent land --continue $s && marks >../got && grep -v " g$" ../marks | test_cmp - ../got && git agent land --undo $s && marks | test_cmp ../marks -
	'
done

# waits NAME HOW: f conflicts, g and what else comes is marked
waits() {
	begin && put h@ i@ && git add -A && git commit -qm more && git agent start -q --name $1 -- sh -c "$words put f@2A g@2A; git commit -qam one; put h@2A i@2A; git commit -qam two" && put f@2M && git commit -qam mine && git update-index --assume-unchanged f g h run && git update-index --skip-worktree g i old && marks >../marks && picture >../before && test_expect_code 4 git agent land $2 $1
}
for how in --merge --rebase; do
	test_expect_success "what the user unmarks while a conflict waits stays so, $how" '
		s=s$(count) && waits $s $how && git update-index --no-assume-unchanged run && git update-index --no-skip-worktree g old && put f@2R && git add f && git agent land --continue $s && marks >../got && sed "s/^. run/H run/;s/^s g/h g/;s/^S old/H old/" ../marks | test_cmp - ../got && for f in g h i; do content $f@2A | test_cmp - $f || return 1; done &&
		git agent list | grep "^$s .*landed" && git agent land --undo $s && marks | test_cmp ../got - && for f in g h i; do content $f@ | test_cmp - $f || return 1; done &&
		s=s$(count) && waits $s $how && git update-index --no-assume-unchanged run h && git agent land --abort $s && marks >../got && sed "s/^. run/H run/;s/^h h/H h/" ../marks | test_cmp - ../got && test -z "$(git status --porcelain)"
	'
	test_expect_success "a marked file that was only touched while a conflict waits is no change, $how" '
		s=s$(count) && waits $s $how && touch -d 2001-01-01 g h i run && put f@2R && git add f && git agent land --continue $s && marks | test_cmp ../marks - && for f in g h i; do content $f@2A | test_cmp - $f || return 1; done
	'
	# the rest of several commits is left to whoever resolves one
	case $how in --merge) by_hand="git commit -q --no-edit" ;; *) by_hand="GIT_EDITOR=: git cherry-pick --continue" ;; esac
	test_expect_success "finished by plain git, and the session dropped: all are marked again, $how" '
		for go in "gc" "drop $s"; do
			s=s$(count) && waits $s $how && put f@2R && git add f && eval "$by_hand" && test "$(git ls-files -v | grep -c "^H f")" = 1 && git agent list | grep "^$s .*landed" && case $go in gc) git agent gc | grep "session $s" ;; *) git agent drop $s ;; esac && marks | test_cmp ../marks - || return 1
		done
	'
	test_expect_success "given up by plain git, and the session dropped: all are marked again, $how" '
		s=s$(count) && waits $s $how && case $how in --merge) git merge --abort ;; *) git cherry-pick --abort ;; esac && test_expect_code 2 git agent drop $s && git agent drop --dry-run --force $s && ! marks | test_cmp ../marks - && git agent drop --force $s && marks | test_cmp ../marks - && picture >../after && test_cmp ../before ../after
	'
done
for how in --merge --rebase; do
	test_expect_success "what the user marks while a conflict waits stays so, given up or not, $how" '
		begin && put h@ i@ && git add -A && git commit -qm more && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@2A -old; git add -A; git commit -qm one; put h@2A i@2A n=n; git add -A; git commit -qm two" && put f@2M && git commit -qam mine && git update-index --skip-worktree run && marks >../marks && test_expect_code 4 git agent land $how $s && git update-index --assume-unchanged d/h g && git update-index --skip-worktree g link && { ! test -e h || test $how = --rebase || git update-index --assume-unchanged h n; } && put old=mine && echo old >.git/info/exclude && marks >../m && test_expect_code 2 git agent land --abort $s && marks | test_cmp ../m - && rm old && git agent land --abort $s && marks >../got && sed "s,^H d/h,h d/h,;s/^H g/s g/;s/^H link/S link/" ../marks >../want && { test $how = --rebase || sed -i "s/^H h/h h/" ../want; } && test_cmp ../want ../got && test -z "$(git status --porcelain)" && ! ls "$HOME"/.local/state/git-agent/*/sessions/$s/marks
	'
done
test_expect_success 'dropped while a conflict waits: what has conflicts is named, the rest is marked' '
	waits n --merge && git agent drop --force n 2>../err && cat ../err && grep "warning: f has conflicts, and was marked before agent/n was to land; .git update-index" ../err && marks | grep -v "^. f" >../got && grep -v "^. f" ../marks | test_cmp - ../got
'
test_expect_success 'dropped in another working tree: refused, as marks are to be set in this one' '
	waits w --merge && put f@2R && git add f && git commit -q --no-edit && rm -rf ../other && git worktree add -q ../other && (cd ../other && git agent list | grep "^w .*landed" && test_expect_code 2 git agent drop w 2>../err && cat ../err && grep "still to be set in the main working tree" ../err && git agent gc 2>../err && grep "still to be set" ../err) && git agent drop w && marks | test_cmp ../marks - && git worktree remove -f ../other
'

test_expect_success 'a submodule that is marked is marked afterwards' '
	rm -rf sub && git init -q sub && git -C sub commit -q --allow-empty -m one && one=$(git -C sub rev-parse HEAD) && git -C sub commit -q --allow-empty -m two && two=$(git -C sub rev-parse HEAD) &&
	begin && git -c protocol.file.allow=always submodule --quiet add ../sub lib && git -C lib checkout -q $one && git add -A && git commit -qm sub && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git add f; git update-index --cacheinfo 160000,$two,lib; git commit -qm moved" && git agent review --accept-all --critical $s &&
	for mark in assume-unchanged skip-worktree; do
		git update-index --$mark lib && marks >../marks && picture >../before && git agent land $s && test "$(git rev-parse HEAD:lib)" = $two && marks | test_cmp ../marks - && git agent land --undo $s && picture >../after && test_cmp ../before ../after &&
		put g@8M && git agent land $s && test "$(git rev-parse HEAD:lib)" = $two && marks | test_cmp ../marks - && git agent land --undo $s && put g@ && git update-index --no-$mark lib || return 1
	done
'

test_expect_success 'a landing that git refuses leaves them' '
	marked && git commit -q --allow-empty -m mine && printf "#!/bin/sh\nexit 1\n" >.git/hooks/commit-msg && chmod +x .git/hooks/commit-msg && marks >../marks && test_expect_code 4 git agent land $s && landed_marks && git agent land --abort $s && marks | test_cmp ../marks -
'

test_expect_success 'a list of them that cannot be read is named' '
	marked && git commit -q --allow-empty -m mine && { GIT_AGENT_FAULT=land:unmarked:kill git agent land $s; test $? = 137; } && list=$(echo "$HOME"/.local/state/git-agent/*/sessions/$s/marks) && printf "damaged\0" >"$list" && picture >../before && test_expect_code 128 git agent land $s 2>../err && cat ../err && grep "marks.*could not be set again" ../err && picture >../after && test_cmp ../before ../after && rm "$list" && git agent land $s
'
test_expect_success 'what cannot be dropped for that keeps its parts in submodules, and one of these the rest' '
	rm -rf sub && git init -q sub && git -C sub commit -q --allow-empty -m one && begin && for lib in one two; do git -c protocol.file.allow=always submodule --quiet add ../sub $lib || return 1; done && git commit -qm sub && git agent start -q --name parts -- sh -c "for lib in one two; do echo x >\$lib/x; done" && ls -d "$HOME"/.local/state/git-agent/*/sessions/parts >../parts && test "$(wc -l <../parts)" = 3 &&
	for dir in $(cat ../parts); do
		printf "damaged\0" >"$dir/marks" && test_expect_code 128 git agent drop --force parts 2>../err && cat ../err && grep "marks.*could not be set again" ../err && ls -d "$HOME"/.local/state/git-agent/*/sessions/parts | test_cmp ../parts - && for lib in one two; do git -C $lib agent list | grep "^parts " || return 1; done && rm "$dir/marks" || return 1
	done && git agent drop --force parts && ! ls -d "$HOME"/.local/state/git-agent/*/sessions/parts
'

test_done
