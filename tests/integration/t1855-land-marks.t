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

test_expect_success 'a landing that git refuses leaves them' '
	marked && git commit -q --allow-empty -m mine && printf "#!/bin/sh\nexit 1\n" >.git/hooks/commit-msg && chmod +x .git/hooks/commit-msg && marks >../marks && test_expect_code 4 git agent land $s && landed_marks && git agent land --abort $s && marks | test_cmp ../marks -
'

test_expect_success 'a list of them that cannot be read is named' '
	marked && git commit -q --allow-empty -m mine && { GIT_AGENT_FAULT=land:unmarked:kill git agent land $s; test $? = 137; } && list=$(echo "$HOME"/.local/state/git-agent/*/sessions/$s/marks) && printf "damaged\0" >"$list" && picture >../before && test_expect_code 128 git agent land $s 2>../err && cat ../err && grep "marks.*could not be set again" ../err && picture >../after && test_cmp ../before ../after && rm "$list" && git agent land $s
'

test_done
