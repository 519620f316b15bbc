#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='ways to land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	git init -q "$1" && (cd "$1" && echo a >a && git add a && git commit -qm base)
}

work='echo 1 >one; git add one; git commit -qm first; echo 2 >two; git add two; git commit -qm second; echo rest >rest'

test_expect_success 'a merge commit is the default, also where a fast-forward would do' '
	make_repo merge && cd merge && git agent start -q --name m -- sh -c "$work" && git agent land m &&
	test "$(git log -1 --format=%s)" = "Merge agent/m" && git rev-parse -q --verify HEAD^2 && test "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/m)" &&
	git agent start -q --name n -- sh -c "echo n >n" && git -c merge.ff=only agent land --merge -m mine n && test "$(git log -1 --format=%s)" = mine && git rev-parse -q --verify HEAD^2
'

test_expect_success 'squashed: one commit of the user'\''s, with the subjects of the agent'\''s' '
	make_repo squash && cd squash && esc=$(printf "\033[31mred") &&
	git agent start -q --name s -- sh -c "$work; git commit -q --allow-empty -m \"$esc\"" && git config user.name "The User" && git commit -q --allow-empty -m meanwhile &&
	git agent land --squash s && git log -1 --format="%an %cn %s" | grep -x "The User The User Squash agent/s" && ! git rev-parse -q --verify HEAD^2 &&
	git log -1 --format=%B >../msg && grep -x "\* first" ../msg && grep -x "\* second" ../msg && ! grep "$(printf "\033")" ../msg &&
	test "$(git rev-parse HEAD^{tree})" = "$(git rev-parse agent/s^{tree})" && test -z "$(git status --porcelain)" && test ! -e .git/SQUASH_MSG &&
	git agent list | grep "^s .*landed" && for ff in only false; do
		git agent start -q --name ff-$ff -- sh -c "echo $ff >$ff" && git commit -q --allow-empty -m "beside $ff" && git -c merge.ff=$ff agent land --squash ff-$ff && test -e $ff || return 1
	done && git agent start -q --name t -- sh -c "echo t >t" && git agent land --squash -m "in my words" t && test "$(git log -1 --format=%B)" = "in my words"
'

test_expect_success 'a subject and a name as long as the agent likes: cut where they are shown, and said' '
	make_repo long && cd long && git agent start -q --name l -- sh -c "x=\$(printf %02000d 0); printf \"s%s\n\nbody\n\" \$x | git -c user.name=n\$x commit -q --allow-empty -F -; echo w >w" &&
	git agent review --json l | python3 -c "
import json, sys
c = json.load(sys.stdin)[\"commits\"][0]
assert c[\"subject\"] == \"s\" + 999 * \"0\" + \"...\" and c[\"author\"] == \"n\" + 999 * \"0\" + \"...\", c" &&
	git agent review --stat l >../out && grep "^  [0-9a-f]* s0\{199\}\.\.\.\$" ../out &&
	git agent land --squash l && git log -1 --format=%B | grep "^\* s0\{999\}\.\.\.\$"
'

test_expect_success 'so many subjects that git could not be given all of them: the others are counted' '
	make_repo many && cd many && git agent start -q --name m -- sh -c "x=\$(printf \"\\342\\200\\213%.0s\" \$(seq 700)); for i in \$(seq 110); do echo \$i >w; git add w; git commit -qm \"\$i \$x\"; done" &&
	git agent land --squash m && git log -1 --format=%B >../out && head -n 1 ../out | grep -x "Squash agent/m" && test "$(grep -c "^\* [0-9]* " ../out)" -lt 110 && echo "* and $((110 - $(grep -c "^\* [0-9]* " ../out))) more" >../want && grep "^\* and" ../out | test_cmp ../want - && test "$(cat w)" = 110 && test -z "$(git status --porcelain)" && git agent land --undo m && test ! -e w
'

test_expect_success 'an empty message: refused before anything is touched, whichever way' '
	make_repo empty && cd empty && git agent start -q --name e -- sh -c "$work" && for how in --merge --squash --no-commit; do
		test_expect_code 128 git agent land -m " " $how e 2>../err && grep "the message is empty: nothing was touched$" ../err && test -z "$(git status --porcelain)" && test ! -e rest && test ! -e .git/MERGE_HEAD && test -z "$(find "$HOME/.local/state" -path "*/e/undo/*")" || return 1
	done && test_expect_code 128 git agent land -m "" e -- rest 2>../err && grep "the message is empty: nothing was touched$" ../err && test ! -e rest && GIT_EDITOR="echo words >" git agent land -m "" -e e && test "$(git log -1 --format=%s)" = words
'

test_expect_success 'moved on, where that can be; else refused and nothing touched' '
	make_repo ff && cd ff && git agent start -q --name f -- sh -c "$work" && git agent start -q --name g -- sh -c "echo g >g" &&
	git agent land --ff-only f && test "$(git rev-parse HEAD)" = "$(git rev-parse agent/f)" && test -e rest &&
	git rev-parse HEAD >../before && test_expect_code 128 git agent land --ff-only g 2>../err && grep "your branch has commits that agent/g lacks" ../err && grep "hint: .*--merge" ../err &&
	git rev-parse HEAD >../after && test_cmp ../before ../after && test ! -e g && test -z "$(find "$HOME/.local/state" -path "*/g/undo/*")" &&
	test_expect_code 128 git agent land --dry-run --ff-only g && git agent land g && test -e g
'

test_expect_success 'flags block each way, and the user'\''s hooks run' '
	make_repo gate && cd gate && git agent start -q --name e -- sh -c "echo evil >.envrc; echo ok >ok" &&
	for how in merge squash ff-only; do test_expect_code 3 git agent land --$how e || return 1; done &&
	printf "#!/bin/sh\necho \"\$0\" >>../hooks\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && cp .git/hooks/pre-commit .git/hooks/pre-merge-commit && cp .git/hooks/pre-commit .git/hooks/post-merge && cp .git/hooks/pre-commit .git/hooks/commit-msg &&
	git agent review --reject e .envrc && : >../hooks && git agent land --squash e && grep pre-commit ../hooks && grep commit-msg ../hooks && test ! -e .envrc &&
	git agent land --undo e && : >../hooks && git agent land e && grep pre-merge-commit ../hooks && grep post-merge ../hooks
'

test_expect_success 'a squash that conflicts, and one that a hook refuses, are left to be finished' '
	make_repo conflict && cd conflict && git agent start -q --name c -- sh -c "echo theirs >a; echo n >n" && echo ours >a && git commit -qam ours &&
	test_expect_code 4 git agent land --dry-run --squash c && test_expect_code 4 git agent land --squash c 2>../err && grep "squashing agent/c conflicts in a" ../err && grep "hint: .*git reset --merge" ../err &&
	git reset -q --merge && test -z "$(git status --porcelain)" && test_expect_code 4 git agent land --squash c && git checkout -q --theirs a && git add a && git commit -qm done && git agent list | grep "^c .*landed" &&
	git agent start -q --name h -- sh -c "echo h >h" && printf "#!/bin/sh\nexit 1\n" >.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit &&
	test_expect_code 4 git agent land --squash h 2>../err && grep "staged but not committed: a hook or signing refused it" ../err && git diff --cached --name-only | grep -x h &&
	rm .git/hooks/pre-commit && git commit -qm again && git agent list | grep "^h .*landed"
'

test_expect_success 'a conflict: given up, or resolved and gone on with, and then undone' '
	make_repo go && cd go && printf "1\n2\n" >w && git add w && git commit -qm w && echo mine >>w &&
	git agent start -q --name g -- sh -c "echo theirs >a; echo n >n; sed -i s/mine/MINE/ w" && echo ours >a && git commit -qm ours a && git rev-parse HEAD >../before &&
	test_expect_code 4 git agent land g 2>../err && grep "hint: .*git agent land --continue g" ../err && grep mine w &&
	test_expect_code 4 git agent land --continue g 2>../err && grep "conflicts in a" ../err &&
	git agent land --abort 2>../err && grep "agent/g: not landed" ../err && git rev-parse HEAD | test_cmp ../before - && test "$(cat a)" = ours && grep mine w && test ! -e n &&
	test_expect_code 128 git agent land --abort 2>../err && grep "no landing of agent/g was left" ../err && test_expect_code 128 git agent land --continue &&
	test_expect_code 4 git agent land g && echo both >a && git add a && git agent land --continue --json >../json && grep MINE w && git agent list | grep "^g .*landed" &&
	test "$(git log -1 --format=%s)" = "Merge agent/g" && git rev-parse -q --verify HEAD^2 && python3 -c "import json,sys;o=json.load(sys.stdin);assert o[\"landed\"] and o[\"brought\"]==[{\"path\":\"w\"}]" <../json &&
	git agent land --undo && git rev-parse HEAD | test_cmp ../before - && grep mine w && test "$(cat a)" = ours && test ! -e n
'

test_expect_success 'a merge that a hook refused is gone on with; one of something else is not ours' '
	make_repo hook && cd hook && git agent start -q --name h -- sh -c "echo h >h" && printf "#!/bin/sh\ntest -e ok\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit && echo ok >>.git/info/exclude &&
	test_expect_code 4 git agent land h && cp .git/hooks/pre-merge-commit .git/hooks/pre-commit && test_expect_code 4 git agent land --continue h && touch ok && git agent land --continue h && git agent list | grep "^h .*landed" &&
	git agent start -q --name i -- sh -c "echo i >i" && git switch -qc side HEAD^ && git commit -q --allow-empty -m s && git switch -q main && git commit -q --allow-empty -m m && git merge -q --no-commit --no-ff side &&
	test_expect_code 128 git agent land --continue i 2>../err && grep "no landing of agent/i was left" ../err && test_expect_code 128 git agent land --abort i && test -e .git/MERGE_HEAD
'

test_expect_success 'where another git has locked the index nothing is begun, whatever the way' '
	make_repo locked && cd locked && git agent start -q --name l -- sh -c "echo n >n" && git rev-parse HEAD >../before && touch .git/index.lock &&
	for way in --merge --squash --rebase --ff-only; do
		test_expect_code 128 git agent land $way l 2>../err && grep "index.lock. is there: another git is at work" ../err && test ! -e .git/MERGE_HEAD && git rev-parse HEAD | test_cmp ../before - || exit 1
	done && rm .git/index.lock && git agent land l && test "$(git show HEAD:n)" = n
'

test_expect_success 'one way at a time' '
	make_repo usage && cd usage && git agent start -q --name u -- sh -c "echo u >u" &&
	test_expect_code 129 git agent land u u && test_expect_code 129 git agent land --undo u -- x && test_expect_code 129 git agent land --squash --merge u 2>../err && grep "choose one" ../err && test_expect_code 129 git agent land --ff-only -m x u && test_expect_code 129 git agent land --undo --squash u && test_expect_code 129 git agent land --continue --abort u && test_expect_code 129 git agent land --abort --json u && test ! -e u
'

test_done
