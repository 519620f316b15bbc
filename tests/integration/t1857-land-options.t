#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='options of the user for merges: what git merges is what was judged, and nothing of the user is in its way'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# renamed AGENT: f got another name here, and another line, which merging with that option does not follow
renamed() {
	begin && put k.ign@1K3K5K7K9K && git add -f k.ign && git commit -qm k && s=s$(count) && git agent start -q --name $s -- sh -c "$words $1" && git agent review --accept-all --critical $s && git mv f moved && git mv k.ign kept && put moved@9C kept@1K3K5K7K9Z && git commit -qam renamed && git config branch.main.mergeoptions "-X find-renames=99%"
}
as_before() {
	picture >../after && test_cmp ../before ../after && test ! -e .git/MERGE_HEAD && git agent list | grep "^$s .*captured"
}
for how in --merge --squash '--merge --no-commit' '--squash --no-commit'; do
	test_expect_success "git would leave a conflict where what was judged has none, $how: taken back, and said" '
		renamed "put f@2A g@2A" && picture >../before && git agent land --dry-run $how $s && test_expect_code 2 git agent land $how $s 2>../err && cat ../err && grep "git merges agent/$s otherwise than was checked: f" ../err && grep "hint: .*git -c branch.main.mergeoptions= agent land" ../err && as_before &&
		git -c branch.main.mergeoptions= agent land --merge $s && content moved@2A9C | test_cmp moved - && test ! -e f
	'
	case $how in *--no-commit) ;; *) continue ;; esac
	test_expect_success "an ignored file where git would leave one of the sides, $how: refused before" '
		renamed "put k.ign@1K2A3K5K7K9K g@2A" && put k.ign=mine && picture >../before && test_expect_code 2 git agent land --dry-run $how $s && test_expect_code 2 git agent land $how $s 2>../err && cat ../err && grep "git does not track would be overwritten: k.ign" ../err && as_before && git -c branch.main.mergeoptions= agent land --merge $s && content k.ign=mine | test_cmp - k.ign && content kept@1K2A3K5K7K9Z | test_cmp - kept
	'
done
for how in --merge --squash; do
	test_expect_success "an ignored file where git would leave one of the sides, $how: what was judged lands beside it" '
		renamed "put k.ign@1K2A3K5K7K9K g@2A" && put k.ign=mine && picture >../before && git agent land --dry-run $how $s && git agent land $how $s && content k.ign=mine | test_cmp - k.ign && content kept@1K2A3K5K7K9Z | test_cmp - kept && content g@2A | test_cmp - g && git agent land --undo $s && as_before
	'
done
test_expect_success 'an untracked directory where git would leave one of the sides' '
	renamed "put k.ign@1K2A3K5K7K9K g@2A" && put k.ign/mine=mine && picture >../before && test_expect_code 2 git agent land $s 2>../err && grep "git does not track would be overwritten: k.ign/mine" ../err && as_before
'
test_expect_success 'a conflict that was told, and another that was not: taken back, and said' '
	renamed "put f@2A g@2A" && put g@2M && git commit -qam mine && picture >../before && test_expect_code 4 git agent land --dry-run $s && test_expect_code 2 git agent land $s 2>../err && grep "otherwise than was checked: f" ../err && as_before &&
	test_expect_code 4 git -c branch.main.mergeoptions= agent land $s && put g@2R && git add g && git agent land --continue $s && content moved@2A9C | test_cmp - moved
'
test_expect_success 'options that merge the same leave a conflict as ever' '
	renamed "put f@2A g@2A" && git config branch.main.mergeoptions "--signoff -X patience --log" && put g@2M && git commit -qam mine && picture >../before && test_expect_code 4 git agent land $s && put g@2R && git add g && git agent land --continue $s && content moved@2A9C | test_cmp - moved && git agent land --undo $s && picture >../after && test_cmp ../before ../after
'
test_expect_success 'what moves on, or is made again, has none of them' '
	renamed "put f@2A g@2A; git commit -qam one" && git agent land --rebase $s && content moved@2A9C | test_cmp - moved
'
test_expect_success 'where there is nothing to leave, they hold' '
	begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A n=n" && put g@2M && git commit -qam mine && git config branch.main.mergeoptions "-X find-renames=99%" && put u.ign=u && git agent land $s && content f@2A | test_cmp - f && content u.ign=u | test_cmp - u.ign
'

# Between strategies git puts what is uncommitted away, and back with other permissions.
strategies() {
	begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A" && eval "$2" && put g@8M && chmod 600 g && git config branch.main.mergeoptions "$1" && picture >../before
}
for o in '-s resolve -s recursive' '--strategy=ours' '--no-stat -ns octopus' '--strat resolve'; do
	test_expect_success "strategies beside uncommitted work: it is not touched ($o)" '
		strategies "$o" "git commit -q --allow-empty -m mine" && for how in --merge --squash; do
			git agent land --dry-run $how $s && git agent land $how $s && content f@2A | test_cmp - f && git show HEAD:f >../is && content f@2A | test_cmp - ../is && test "$(stat -c %a g)" = 600 && git agent land --undo $s && as_before && test -z "$(git stash list)" || return 1
		done
	'
	test_expect_success "and with a conflict nothing is ($o)" '
		strategies "$o" "put f@2M; git commit -qam mine" && for how in --merge --squash --no-commit; do
			test_expect_code 2 git agent land $how $s 2>../err && cat ../err && as_before && test -z "$(git stash list)" || return 1
		done && git checkout -q g && git config --unset branch.main.mergeoptions && test_expect_code 4 git agent land $s && git agent land --abort $s
	'
done
test_expect_success 'what is no strategy is git'\''s to go by, beside uncommitted work too' '
	strategies "-X theirs --signoff" "put f@2M; git commit -qam mine" && git agent land $s && content f@2A | test_cmp - f && git log -1 --format=%B | grep Signed-off-by && test "$(stat -c %a g)" = 600
'

test_done
