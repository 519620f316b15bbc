#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='uncommitted work in a path that conflicts, which git leaves as HEAD has it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# kept LABEL BASE AGENT COMMITTED UNCOMMITTED MESSAGE: each way refuses, and nothing is touched
kept() {
	test_expect_success "$1: nothing begins, whichever way" "
		begin && { $2; } && git add -A && git commit -q --allow-empty -m more && s=s\$(count) && git agent start -q --name \$s -- sh -c \"\$words $3\" && git agent review --accept-all --critical \$s && { $4; } && git commit -qam mine && { $5; } && picture >../before &&
		for how in --merge --squash; do
			test_expect_code 2 git agent land --dry-run \$how \$s && test_expect_code 2 git agent land \$how \$s 2>../err && cat ../err && grep '$6' ../err && picture >../after && test_cmp ../before ../after || return 1
		done &&
		for how in '--no-commit' '--squash --no-commit' --rebase; do
			test_expect_code 2 git agent land --dry-run \$how \$s && test_expect_code 2 git agent land \$how \$s && picture >../after && test_cmp ../before ../after || return 1
		done
	"
}
at='conflicts with what is committed: '
kept 'changed here, deleted there' : 'rm f; put g@2A' 'put f@2M' 'put f@2M8U' "${at}f$"
kept 'a binary file' 'printf "\0base" >bin' 'printf "\0agent" >bin' 'printf "\0mine" >bin' 'printf "\0more" >bin' "${at}bin$"
kept 'a file that is not to be merged' 'put lock=base; echo "lock -merge" >.gitattributes' 'put lock=agent' 'put lock=mine' 'put lock=more' "${at}lock$"
kept 'a link' : 'ln -sfn g link' 'put "link>old"' 'put "link>run"' "${at}link$"
kept 'deleted there, and not to be looked at' : 'rm f' 'put f@2M' 'git update-index --assume-unchanged f; put f@2M8U' "${at}f$"
kept 'deleted there, and left out of the checkout' : 'rm f' 'put f@2M' 'git update-index --skip-worktree f; put f@2M8U' "${at}f$"
kept 'renamed here, deleted there' : 'rm f; put g@2A' 'git mv f f2' 'put f2@8U' "${at}f2$"
kept 'renamed both ways' : 'git mv f f3' 'git mv f f2' 'put f2@8U' "${at}f, f2, f3$"
kept 'a mode here, deleted there' : 'rm f' 'chmod +x f' 'put "f*@8U"' "${at}f$"

test_expect_success 'something staged elsewhere lets no conflict pass: a deletion of what was renamed' '
	begin && git agent start -q --name rd -- sh -c "$words rm f; put g@2A" && git mv f f2 && git commit -qm mine && put f2@8U old@5S && git add old && picture >../before &&
	test_expect_code 2 git agent land --dry-run rd && test_expect_code 2 git agent land rd 2>../err && grep "what is to land conflicts with what is committed: f2$" ../err && picture >../after && test_cmp ../before ../after &&
	git stash -q && test_expect_code 4 git agent land rd && git agent land --abort rd && git stash pop -q --index && picture >../after && test_cmp ../before ../after
'

test_expect_success 'nor a rename there of what was changed, with the same file here' '
	begin && git agent start -q --name rc -- sh -c "$words git mv f f3; put f3@2A" && put f@2M && git commit -qam mine && put f3@2A g@5S && git add g && picture >../before &&
	test_expect_code 2 git agent land rc 2>../err && grep "files git does not track would be overwritten: f3$" ../err && picture >../after && test_cmp ../before ../after
'

test_expect_success 'nor a directory there in the place of a file that was changed here' '
	begin && git agent start -q --name df -- sh -c "$words rm g; put g/new=x" && put g@2M && git commit -qam mine && put old@5S && git add old && picture >../before &&
	test_expect_code 2 git agent land df 2>../err && cat ../err && grep "conflicts with what is committed" ../err && picture >../after && test_cmp ../before ../after
'

for how in --merge --squash --rebase --no-commit
do
	test_expect_success "an ignored file where git puts our side of such a conflict is kept: $how" "
		begin && s=s\$(count) && git agent start -q --name \$s -- sh -c \"rm g; mkdir g; echo x >g/new\" && git agent review --accept-all --critical \$s && put g@2M && git commit -qam mine && echo '*~*' >>.git/info/exclude && echo precious >g~HEAD && picture >../before &&
		test_expect_code 2 git agent land --dry-run $how \$s && test_expect_code 2 git agent land $how \$s 2>../err && cat ../err && picture >../after && test_cmp ../before ../after && rm g~HEAD && test_expect_code 4 git agent land --dry-run $how \$s && test_expect_code 4 git agent land $how \$s && content g@2M | test_cmp - g~HEAD
	"
done

test_expect_success 'a submodule that conflicts may be merged before' '
	git init -q sub && (cd sub && for n in 1 2 3; do git commit -q --allow-empty -m $n && git tag t$n || return 1; done && git checkout -q -b side t1 && git commit -q --allow-empty -m s && git tag s) &&
	begin && git -c protocol.file.allow=always submodule --quiet add ../sub sub && git -C sub checkout -q t1 && git add sub && git commit -qm sub &&
	git agent start -q --name sub2 -- sh -c "git -C sub checkout -q t2; git commit -qam moved" && git agent review --accept-all --critical sub2 && git -C sub checkout -q s && git commit -qam mine && git -C sub checkout -q t3 && picture >../before &&
	test_expect_code 4 git agent land sub2 && git add sub && test_expect_code 3 git agent land --continue sub2 && git agent review --accept sub2 sub && git agent land --continue sub2 && test "$(git rev-parse HEAD:sub)" = "$(git -C sub rev-parse t3)"
'

test_expect_success 'a note of what git was to bring that a power cut left empty is none: git had not begun' '
	begin && git agent start -q --name pc -- sh -c "$words put f@2A n=n" && left=$(ls -d "$HOME"/.local/state/git-agent/*/sessions/pc)/left && : >"$left" &&
	test_expect_code 128 git agent land --abort pc && git agent review pc --reject n && git agent land pc && content f@2A | test_cmp - f && test ! -e n && test ! -e "$left" && git agent list | grep "^pc .*landed"
'

test_done
