#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='taking a landing back'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

make_repo() {
	git init -q "$1" && (cd "$1" && mkdir d && echo a >a && echo b >d/b && echo gone >gone && printf '#!/bin/sh\n' >run && chmod +x run && ln -s a link &&
		printf 'ign\n*.log\n' >.gitignore && git add -A && git commit -qm base)
}

# All that landing and undoing may touch: branch, commit, index, every file with its mode.
picture() {
	git symbolic-ref -q HEAD
	git rev-parse HEAD
	git ls-files -s
	git status --porcelain --ignored
	find . -path ./.git -prune -o ! -type d -printf '%m %y %p %l\n' | sort
	find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum
	find . -path ./.git -prune -o -type d -print | sort
}

# notes NAME: where a session notes what landings found; note: is there one?
notes() {
	ls -d "$HOME"/.local/state/git-agent/*/sessions/"$1"/undo 2>/dev/null
}
note() {
	ls "$HOME"/.local/state/git-agent/*/sessions/"$1"/undo/*/record
}

# The agent's work: every kind of change.
work='echo A >>a; rm gone; mkdir -p n/deep; echo new >n/deep/new; chmod -x run; rm link; ln -s d/b link; git mv d/b d/c; git add -A; git commit -qm work; echo more >more'

test_expect_success 'a clean tree: all is as before, and it can be landed again' '
	make_repo clean && cd clean && git agent start -q --name c -- sh -c "$work" && picture >../before &&
	git agent land c && picture >../landed && ! cmp -s ../before ../landed &&
	git agent land --undo 2>../err && grep "agent/c: landing undone" ../err && picture >../after && test_cmp ../before ../after &&
	git agent list | grep "^c .*captured" && ! note c &&
	git agent land c && picture | sed 2d >../again && sed 2d ../landed | test_cmp - ../again && git fsck --strict &&
	test_expect_code 128 git agent land --undo nobody && git agent land --undo c && test_expect_code 128 git agent land --undo c 2>../err && grep "no landing of session .c. to undo" ../err
'

for how in squash ff-only merge
do
	test_expect_success "the same with --$how" '
		make_repo how-$how && cd how-$how && git agent start -q --name h-$how -- sh -c "$work" && echo mine >mine && picture >../before &&
		git agent land --$how h-$how && test -e more && git agent land --undo && picture >../after && test_cmp ../before ../after
	'
done

test_expect_success 'uncommitted work elsewhere stays, edits that were brought go' '
	make_repo dirty && cd dirty && echo mine >>a && echo untracked >u && picture >../start &&
	git agent start -q --name d -- sh -c "sed -i s/mine/MINE/ a; echo other >other; echo theirs >>u" &&
	echo edit >>d/b && echo x >x.log && picture >../before &&
	git agent land d && grep MINE a && grep theirs u && test -e other &&
	git agent land --undo d && picture >../after && test_cmp ../before ../after &&
	git agent land d && grep MINE a && git agent land --undo && picture >../after && test_cmp ../before ../after
'

test_expect_success 'ignored files that were brought go, what they replaced comes back' '
	make_repo ign && cd ign && mkdir -p ign/own && echo own >ign/own/f && echo old >old.log && chmod 600 old.log && ln -s /nowhere dead.log &&
	git agent start -q --name i -- sh -c "$work; mkdir -p ign/a/b; echo 1 >ign/a/b/1; chmod +x ign/a/b/1; ln -s 1 ign/a/b/l; echo theirs >old.log; rm -f dead.log; echo file >dead.log" &&
	git agent review --accept-all --critical i && picture >../before &&
	git agent land --with-ignored ign --with-ignored old.log --with-ignored dead.log --force i && test -x ign/a/b/1 && grep theirs old.log && grep file dead.log &&
	git agent land --undo && picture >../after && test_cmp ../before ../after && test ! -e ign/a
'

test_expect_success 'a file that a hook wrote since it was kept is not overwritten, not with --force either' '
	make_repo since && cd since && echo own >own.log && echo same >same.log && git agent start -q --name z -- sh -c "$work; echo theirs >own.log; echo theirs >zz.log" && printf "#!/bin/sh\necho hook >own.log\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && picture >../before &&
	test_expect_code 2 git agent land --with-ignored own.log --with-ignored zz.log --force z 2>../err && cat ../err && grep "own.log.*changed meanwhile" ../err && grep "hint: what came before it is here; landing again goes on" ../err && test "$(cat own.log)" = hook && test ! -e zz.log && git agent list | grep "^z .*landed" &&
	git agent land --with-ignored own.log --with-ignored zz.log --force z && test "$(cat own.log zz.log)" = "theirs
theirs" && git agent land --undo z && test "$(cat own.log)" = hook && test ! -e zz.log
'

test_expect_success 'large ones too, and names that are hard to write' '
	make_repo large && cd large && truncate -s 70M big.log && echo end >>big.log && name=$(printf "ign\n \"\047\\\\x") && echo "$name" >>.git/info/exclude &&
	mkdir -p ign && echo own >"ign/$(printf "\377 \n")" && picture >../before &&
	git agent start -q --name l -- sh -c "truncate -s 80M big.log; echo theirs >\"ign/\$(printf \"\\377 \\n\")\"; echo x >\"ign/\$(printf \"a\\nb\")\"" &&
	test_expect_code 3 git agent land --with-ignored big.log --with-ignored ign --force l && picture >../after && test_cmp ../before ../after && git agent review --accept l big.log ign &&
	git agent land --with-ignored big.log --with-ignored ign --force l && test "$(stat -c %s big.log)" = 83886080 &&
	git agent land --undo l && picture >../after && test_cmp ../before ../after
'

test_expect_success 'landed, then ignored files: two steps, taken back one by one' '
	make_repo steps && cd steps && git agent start -q --name s -- sh -c "$work; mkdir ign; echo 1 >ign/1" && git agent review --accept-all --critical s &&
	picture >../before && git agent land s && picture >../one && git agent land --with-ignored ign s && test -e ign/1 && picture >../two &&
	git agent land --undo s && picture >../after && test_cmp ../one ../after && git agent list | grep "^s .*landed" &&
	git agent land --undo s && picture >../after && test_cmp ../before ../after && git agent list | grep "^s .*captured"
'

test_expect_success 'without a branch, and in a linked worktree' '
	make_repo det && cd det && git agent start -q --name t -- sh -c "$work" && git switch -q --detach && picture >../before && git agent land t && git agent land --undo &&
	picture >../after && test_cmp ../before ../after && git switch -q main && git worktree add -q ../det2 -b two && cd ../det2 &&
	picture >../before && git agent land t && git agent land --undo t && picture >../after && test_cmp ../before ../after
'

# refused WHAT COMMAND PATTERN: after COMMAND undoing is refused, and touches nothing.
refused() {
	test_expect_success "refused, nothing touched: $1" "
		rm -rf ref ref2 && make_repo ref && cd ref && echo mine >>a && git agent start -q --name r$n -- sh -c \"echo q >q; sed -i s/mine/MINE/ a; mkdir ign; echo i >ign/i; rm gone; echo w >>d/b\" &&
		git agent land --with-ignored ign r$n && { $2; } && picture >../before &&
		test_expect_code 2 git agent land --undo r$n 2>../err && grep \"$3\" ../err && picture >../after && test_cmp ../before ../after && note r$n
	"
	n=$((n + 1))
}
n=1
refused 'a commit on top' 'git commit -q --allow-empty -m top' 'your branch has moved since .* landed at'
refused 'reset to before' 'git reset -q --keep HEAD^' 'your branch has moved'
refused 'another branch' 'git switch -q -c other' 'landed on .main., and you are not there'
refused 'no branch' 'git switch -q --detach' 'landed on .main., and you are not there'
refused 'a file of the merge edited' 'echo edit >>q' 'q'
refused 'a file of the merge staged' 'echo edit >>q; git add q' 'q'
refused 'something else staged' 'echo s >s; git add s' 's'
refused 'a file that was brought edited' 'echo edit >>a' 'files changed since they were brought: a'
refused 'a file that was brought made executable' 'chmod +x a' 'files changed since they were brought: a'
refused 'an ignored file edited' 'echo edit >>ign/i' 'files changed since they were brought: ign/i'
refused 'a link in its place' 'rm ign/i; ln -s /etc/passwd ign/i' 'files changed since they were brought: ign/i'
refused 'an untracked file in the way' 'echo u >gone' 'gone'
refused 'an ignored directory in the way' 'echo gone >>.git/info/exclude; mkdir gone; echo x >gone/x' 'gone'
refused 'a merge in progress' 'git branch side HEAD^ && git switch -q side && echo s >side && git add side && git commit -qm side && git switch -q main && git merge -q --no-commit --no-ff side' 'a merge is in progress'

test_expect_success 'what landed by plain git is not ours to undo; options' '
	make_repo plain && cd plain && git agent start -q --name p -- sh -c "$work" && git merge -q agent/p && git agent list | grep "^p .*landed" &&
	test_expect_code 128 git agent land --undo p 2>../err && grep "no landing of session .p. to undo" ../err && grep "hint: .*reflog" ../err &&
	test_expect_code 1 git agent land --undo 2>../err && grep "no session landed as the commit you are on" ../err &&
	test_expect_code 129 git agent land --undo --dry-run p && test_expect_code 129 git agent land --undo -m x p &&
	git reset -q --hard HEAD^^ && git agent land p && git agent land --undo --json p >../json && python3 -c "import json,sys;o=json.load(sys.stdin);assert o[\"undone\"] and o[\"session\"]==\"p\" and len(o[\"commit\"])==40" <../json
'

test_expect_success 'a merge that was left to the user, or refused by a hook, leaves no note' '
	make_repo left && cd left && git agent start -q --name x -- sh -c "echo theirs >a; echo n >n" && echo ours >a && git commit -qam ours &&
	test_expect_code 4 git agent land x && ! note x && git checkout -q --theirs a && git add a && git commit -qm merged &&
	git agent list | grep "^x .*landed" && test_expect_code 128 git agent land --undo x 2>../err && grep "no landing of session .x. to undo" ../err &&
	git agent start -q --name y -- sh -c "echo y >y" && printf "#!/bin/sh\nexit 1\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit &&
	test_expect_code 4 git agent land y && ! note y && git merge --abort && rm .git/hooks/pre-merge-commit &&
	git agent land y && note y && git agent land --undo y && test ! -e y
'

for point in undo:reset undo:files
do
	test_expect_success "killed at $point: done again it comes to its end" '
		rm -rf killed && make_repo killed && cd killed && echo mine >>a && echo old >old.log && n=k-${point#undo:} &&
		git agent start -q --name $n -- sh -c "echo q >q; sed -i s/mine/MINE/ a; rm gone; echo theirs >old.log; echo n >n.log" && picture >../before &&
		git agent land --with-ignored old.log --with-ignored n.log --force $n && { GIT_AGENT_FAULT=$point:kill git agent land --undo $n; test $? = 137; } &&
		git agent land --undo $n && picture >../after && test_cmp ../before ../after && git agent list | grep "^$n .*captured" &&
		git agent land --with-ignored old.log --force $n && { GIT_AGENT_FAULT=$point:kill git agent land --undo $n; test $? = 137; } && echo edit >>old.log && picture >../before &&
		test_expect_code 2 git agent land --undo $n 2>../err && grep "files changed since they were brought: old.log" ../err && picture >../after && test_cmp ../before ../after
	'
done

test_expect_success 'a note that is damaged is not followed, and no object holds what was overwritten' '
	make_repo forged && cd forged && echo "the secret" >s.log && git agent start -q --name f -- sh -c "$work; echo theirs >s.log" && git agent land --with-ignored s.log --force f && echo secret >../outside &&
	oid=$(echo "the secret" | git hash-object --stdin) && ! git cat-file -e "$oid" 2>/dev/null && dir=$(notes f)/1 && cp "$dir/record" ../record &&
	printf "git-agent landing 3\0%s\0refs/heads/main\0\0captured\0%040d\0000\0../outside\00033188\0000\0%040d\0" "$(git rev-parse HEAD^)" 0 0 >"$dir/record" &&
	picture >../before && test_expect_code 128 git agent land --undo f 2>../err && grep "is not what a landing notes" ../err && picture >../after && test_cmp ../before ../after && grep secret ../outside &&
	head -c 60 ../record >"$dir/record" && test_expect_code 128 git agent land --undo f && cp ../record "$dir/record" && git agent land --undo f && grep "the secret" s.log
'

# The agent changes nothing but what is uncommitted, so no commit is made
test_expect_success 'brought without a commit beside what is staged: that stays staged' '
	make_repo staged && cd staged && echo wip >>a && echo st >>d/b && git add d/b && : >intended && git add -N intended && git agent start -q --name st -- sh -c "sed -i s/wip/wip-agent/ a" && picture >../before && for how in --merge --squash --rebase --ff-only; do
		git agent land $how st && grep wip-agent a && picture >../landed && ! cmp -s ../before ../landed && git agent land --undo st && picture >../after && test_cmp ../before ../after || exit 1
	done
'

test_expect_success 'a file that became a directory, without a commit, beside what is staged' '
	make_repo indir && cd indir && echo mine >>a && git agent start -q --name in -- sh -c "rm a; mkdir -p a/deep; echo in | tee a/in >a/deep/in; for i in \$(seq 40); do echo \$i >a/\$i; done; echo k >>d/b; git add d/b; git commit -qm k" && echo st >run && git add run && picture >../before && git agent land in && test -e a/in && git agent land --undo in && picture >../after && test_cmp ../before ../after &&
	git agent land in && mkdir ../away && mv a/* ../away && echo own >a/own && mv ../away/* a && test_expect_code 2 git agent land --undo in 2>../err && grep "files changed since they were brought: a/own$" ../err && mv a/own a/deep && test_expect_code 2 git agent land --undo in 2>../err && grep "brought: a/deep/own$" ../err && test -e a/in && rm a/deep/own && git agent land --undo in && picture >../after && test_cmp ../before ../after
'

test_done
