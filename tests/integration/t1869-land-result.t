#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what git makes of a landing is what was checked'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# settled COMMANDS: with these settings, and commits on both sides, each way gives the tree that
# merging without them gives, and undoing it what was there before
settled() {
	test_expect_success "the same tree with $1" "
		begin && s=s\$(count) && git agent start -q --name \$s -- sh -c \"\$words put f@2A new=n -old\" && put g@5M && git commit -qam mine && git merge-tree --write-tree HEAD agent/\$s >../want && { $1; } && picture >../before &&
		for how in '--merge' '--squash' '--rebase'; do
			git agent land --dry-run \$how \$s && git agent land \$how \$s && git --no-replace-objects rev-parse HEAD^{tree} | test_cmp ../want - && test -z \"\$(git --no-replace-objects status --porcelain)\" && git agent list | grep \"^\$s .*landed\" && git agent land --undo \$s && picture >../after && test_cmp ../before ../after || return 1
		done && for how in --merge --squash; do git agent land --no-commit \$how \$s && git write-tree | test_cmp ../want - && git reset -q --merge && picture >../after && test_cmp ../before ../after || return 1; done
	"
}
settled :
settled 'git config pull.twohead ours'
settled 'git config pull.twohead recursive'
settled 'git config pull.twohead "octopus resolve"'
settled 'git config branch.main.mergeoptions "--signoff --log -Xpatience --no-stat"'
settled 'git config merge.renames false; git config merge.ff only; git config merge.conflictStyle diff3; git config merge.autoStash true'
settled 'git replace agent/$s HEAD~1'
settled 'git replace "agent/$s^{tree}" HEAD~1^{tree}'
settled 'git replace $(git rev-parse agent/$s:f) $(git rev-parse agent/$s:g)'

# other COMMANDS PATTERN: what they make of it is refused, and taken back
other() {
	test_expect_success "nothing of it arrives with $1: taken back, and said" "
		begin && s=s\$(count) && git agent start -q --name \$s -- sh -c \"\$words put f@2A new=n -old\" && put g@5M && git commit -qam mine && put d/h@8M u=u && { $1; } && picture >../before &&
		for how in --merge '--merge --no-commit' '--squash --no-commit' --squash; do
			test_expect_code 2 git agent land \$how \$s 2>../err && cat ../err && grep 'something else of it than was checked, which was taken back' ../err && grep 'brings nothing of it' ../err && grep 'hint: .*mergeoptions' ../err && picture >../after && test_cmp ../before ../after && test ! -e .git/MERGE_HEAD && test ! -e .git/SQUASH_MSG && git agent list | grep \"^\$s .*captured\" || return 1
		done && test_expect_code 2 git agent drop \$s
	"
}
other 'git config branch.main.mergeoptions "-s ours"'
other 'git config branch.main.mergeoptions "--strategy=ours --signoff"'

test_expect_success 'of ff-only too' '
	begin && git agent start -q --name o -- sh -c "$words put f@2A" && git config branch.main.mergeoptions "-s ours" && picture >../before && test_expect_code 2 git agent land --ff-only o && picture >../after && test_cmp ../before ../after && test_expect_code 2 git agent land o && picture >../after && test_cmp ../before ../after && git -c branch.main.mergeoptions= agent land --ff-only o && test "$(git rev-parse HEAD)" = "$(git rev-parse agent/o)"
'

test_expect_success 'how the user has conflicts settled holds; what comes of it is looked at again' '
	begin && git agent start -q --name x -- sh -c "$words put f@2A new=n" && put f@2M && git commit -qam mine && git config branch.main.mergeoptions "-X theirs" && test_expect_code 4 git agent land --dry-run x &&
	git agent land x && test "$(sed -n 2p f)" = A && git agent land --undo x && git config branch.main.mergeoptions "-X ours" && git agent land x && test "$(sed -n 2p f)" = M && test -e new && git agent list | grep "^x .*landed"
'

test_expect_success 'a strategy of the user'\''s that brings what nobody has looked at: flagged, and taken back' '
	begin && mkdir ../bin && printf "#!/bin/sh\nfor a; do :; done\ngit read-tree -m -u HEAD \"\$a\" && echo run >.envrc && git add .envrc\n" >../bin/git-merge-mine && chmod +x ../bin/git-merge-mine && PATH=$PWD/../bin:$PATH && git agent start -q --name m -- sh -c "$words put f@2A" && git config branch.main.mergeoptions "-s mine" && picture >../before &&
	test_expect_code 3 git agent land m 2>../err && grep "something else of it than was checked, which was taken back: agent/m would raise new flags" ../err && picture >../after && test_cmp ../before ../after && git agent list | grep "^m .*captured" && git agent review --format=json m | grep envrc
'

test_expect_success 'what a hook adds to a squash is the user'\''s' '
	begin && git agent start -q --name h -- sh -c "$words put f@2A" && printf "#!/bin/sh\necho formatted >form && git add form\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && git agent land --squash h && git cat-file -e HEAD:form && git agent list | grep "^h .*landed" && git agent land --undo h && test ! -e form && cp .git/hooks/pre-commit .git/hooks/pre-merge-commit && git agent land h && ! git cat-file -e HEAD:form
'

test_expect_success 'a branch of merges alone has nothing that could be made again: not landed by --rebase' '
	begin && git agent start -q --name e -- sh -c "$words git switch -q -c side; git commit -q --allow-empty -m s; git switch -q -; git commit -q --allow-empty -m t; git merge -q --no-commit --no-ff side; put f@2A; git add f; git commit -qm evil" && test_expect_code 2 git agent land --rebase e 2>../err && grep "brings nothing of it" ../err && git agent list | grep "^e .*captured" && git agent land e && git agent list | grep "^e .*landed"
'

# ---- going on with nothing

test_expect_success 'a merge that was resolved to what is there is not gone on with as a landing' '
	begin && git agent start -q --name c -- sh -c "$words put f@2A new=n" && put f@2M && git commit -qam mine && picture >../before && test_expect_code 4 git agent land c && git checkout -q HEAD -- . && git rm -qf new && picture >../undone &&
	test_expect_code 2 git agent land --continue c 2>../err && grep "the merge of agent/c brings nothing of it" ../err && grep "hint: .git commit. makes that merge all the same, .git agent land --abort. goes back" ../err && picture >../after && test_cmp ../undone ../after && test -e .git/MERGE_HEAD &&
	git agent land --abort c && picture >../after && test_cmp ../before ../after && git agent list | grep "^c .*captured" && test_expect_code 4 git agent land c && git checkout -q --ours f && git add f && git agent land --continue c && git agent list | grep "^c .*landed" && git agent land --undo c && picture >../after && test_cmp ../before ../after &&
	test_expect_code 4 git agent land c && git checkout -q HEAD -- . && git rm -qf new && git commit -q --no-edit && test "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/c)"
'

test_expect_success 'nor a rebase of which nothing is left' '
	begin && git agent start -q --name c -- sh -c "$words put f@2A; git commit -qam one; put f@3B; git commit -qam two" && put f@2M3M && git commit -qam mine && git rev-parse HEAD >../was && test_expect_code 4 git agent land --rebase c && git checkout -q HEAD f && test_expect_code 4 git agent land --continue c && git checkout -q HEAD f &&
	test_expect_code 2 git agent land --continue c 2>../err && grep "brings nothing of it" ../err && grep "hint: it has not landed" ../err && git rev-parse HEAD | test_cmp ../was - && test ! -e .git/CHERRY_PICK_HEAD && git agent list | grep "^c .*captured"
'

# ---- what git says

test_expect_success 'what is wrong is said, not what git advises beside' '
	begin && git agent start -q --name g -- sh -c "$words put f@2A" && git commit -q --allow-empty -m two && git rev-parse HEAD >.git/info/grafts && test_expect_code 128 git agent land g 2>../err && cat ../err && grep "git cannot compute the merge: refusing to merge unrelated histories" ../err && ! grep "hint: git 2" ../err && rm .git/info/grafts && git agent land g
'

test_done
