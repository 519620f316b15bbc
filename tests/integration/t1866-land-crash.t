#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing beside uncommitted work: hooks, signatures, crashes, undoing'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# ---- submodules, hooks, signatures

test_expect_success 'a submodule moves beside work; its files stay' '
	git init -q sub && (cd sub && echo 1 >x && git add x && git commit -qm 1 && echo 2 >x && git commit -qam 2) &&
	begin && git -c protocol.file.allow=always submodule --quiet add ../sub sub && git -C sub checkout -q HEAD^ && git add sub && git commit -qm sub &&
	git agent start -q --name sub1 -- sh -c "$words put f@2A; git -C sub checkout -q main; git commit -qam moved" && git agent review --accept-all --critical sub1 && put f@8M && picture >../before &&
	git agent land sub1 && test "$(git rev-parse HEAD:sub)" = "$(git -C ../sub rev-parse main)" && test "$(cat sub/x)" = 1 && state f@2A8M | grep " f$" >../want && work_is | grep " f$" >../is && test_cmp ../want ../is &&
	git ls-files -s sub | grep "$(git -C ../sub rev-parse main)" && git agent land --undo sub1 && picture >../after && test_cmp ../before ../after
'

test_expect_success 'the hooks are those from before, see what is committed, and may refuse' '
	begin && git agent start -q --name hook -- sh -c "$words put f@2A" && put f@8M g@5M && git add g && hook() {
		printf "#!/bin/sh\n%s\n" "$2" >.git/hooks/$1 && chmod +x .git/hooks/$1
	} &&
	hook pre-merge-commit "git diff --cached --name-only >>../ran; git diff --cached | grep ^[+-][^+-] >>../ran; test ! -e ../refuse" &&
	hook prepare-commit-msg "echo prepare \$2 >>../ran" && hook commit-msg "echo \"Reviewed-by: me\" >>\"\$1\"" && hook post-merge "echo post \$1 \$(cat f | tr -d \"\\n\") >>../ran" &&
	picture >../before && touch ../refuse && test_expect_code 128 git agent land hook 2>../err && grep "your pre-merge-commit hook refused the commit: nothing was touched" ../err && picture >../after && test_cmp ../before ../after && rm ../refuse ../ran &&
	git agent land hook && printf "f\n-2\n+A\nprepare merge\npost 0 1A34567M9\n" >../want && test_cmp ../want ../ran && git log -1 --format=%B | grep "^Reviewed-by: me" && git log -1 --format=%s | grep "^Merge agent/hook" &&
	git agent land --undo hook && rm .git/hooks/* && hook pre-commit "git diff --cached --name-only >>../ran" && hook post-commit "echo post-commit >>../ran" && : >../ran && git agent land --squash hook && printf "f\npost-commit\n" >../want && test_cmp ../want ../ran &&
	git agent land --undo hook && hook pre-commit "echo more >more; git add more" && picture >../before && test_expect_code 2 git agent land --squash hook 2>../err && grep "your pre-commit hook changed what is committed" ../err && rm more && picture >../after && test_cmp ../before ../after
'

# beside HOOK COMMIT INDEX: that hook commits what it sees, once, beside uncommitted work; that is taken back, and said
beside() {
	h=$1 commit=$2 code=$3
	test_expect_success "a $h hook that commits ($commit, $code) beside uncommitted work: taken back, and said" '
		begin && s=b$(count) && git agent start -q --name $s -- sh -c "$words put f@2A n=n -old" && put f@8M g@5M && git add g && rm -f ../once && printf "#!/bin/sh\ntest ! -e ../once || exit 0; touch ../once; %s; git rev-parse HEAD >../made; exit %s\n" "$commit" $code >.git/hooks/$h && chmod +x .git/hooks/$h && picture >../before && case $h in pre-commit) how=--squash ;; *) how=--merge ;; esac &&
		test_expect_code 2 git agent land $how $s 2>../err && cat ../err && grep "your $h hook committed $(cut -c1-10 ../made), which was taken back: nothing was touched$" ../err && grep "^hint: land again, or, if that hook commits each time, .git -c core.hooksPath=/dev/null agent land $s.$" ../err && test "$(cat ../made)" != "$(git rev-parse HEAD)" && picture >../after && test_cmp ../before ../after && git reflog | grep "what the $h hook committed" && git agent list | grep "^$s .*captured" &&
		git agent land $how $s && content f@2A8M | test_cmp - f && content g@5M | test_cmp - g && test "$(git diff --cached --name-only)" = g && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
}
for h in pre-commit pre-merge-commit prepare-commit-msg commit-msg; do
	beside $h 'git commit -q --no-verify -m hooks-own' 0
done
beside commit-msg 'git commit -q --no-verify -m hooks-own; git commit -q --no-verify --allow-empty -m more' 0
beside pre-commit 'git commit -q --no-verify -m hooks-own' 1
beside pre-commit 'git commit -q --no-verify -m hooks-own; git update-index --cacheinfo 100644,$(git hash-object -w g),f' 0
test_expect_success 'as is said, without hooks it lands' '
	begin && git agent start -q --name off -- sh -c "$words put f@2A" && put f@8M && printf "#!/bin/sh\ngit commit -q --no-verify --allow-empty -m hooks-own\n" >.git/hooks/commit-msg && chmod +x .git/hooks/commit-msg && for i in 1 2; do test_expect_code 2 git agent land off 2>../err || exit 1; done && eval "$(sed -n "s/^hint: .*, or, if that hook commits each time, .\(git -c .* agent land off\).$/\1/p" ../err)" && content f@2A8M | test_cmp - f && git agent list | grep "^off .*landed"
'
test_expect_success 'what a hook commits of the user'\''s own index stays, and is said' '
	begin && git agent start -q --name own -- sh -c "$words put f@2A" && put f@8M g@5M && git add g && printf "#!/bin/sh\ntest ! -e ../once || exit 0; touch ../once; unset GIT_INDEX_FILE; git commit -q --no-verify -m hooks-own\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit && rm -f ../once && test_expect_code 2 git agent land own 2>../err && cat ../err && grep "your branch moved to $(git rev-parse --short=10 HEAD) while your pre-merge-commit hook ran: nothing was touched$" ../err && test "$(git log -1 --format=%s)" = hooks-own && git show HEAD:g >../is && content g@5M | test_cmp - ../is && test "$(git status --porcelain)" = " M f" && content f@8M | test_cmp - f && git agent land own && content f@2A8M | test_cmp - f
'

test_expect_success 'what is edited while the message is, or by a hook, is not overwritten' '
	begin && git agent start -q --name while -- sh -c "$words put f@2A g@2A old@2A" && put f@8M && printf "#!/bin/sh\nfor p in f g; do test ! -e ../more-\$p || echo more >>\$p; done\n" >../editor && chmod +x ../editor && for p in f g; do
		touch ../more-$p && GIT_EDITOR="$PWD/../editor" test_expect_code 2 git agent land --edit while 2>../err && cat ../err && grep "files changed meanwhile: $p" ../err && test "$(tail -n 1 $p)" = more && ! grep A f && rm ../more-$p && cp ../editor .git/hooks/commit-msg && touch ../more-$p && test_expect_code 2 git agent land while 2>../err && cat ../err && grep "files changed meanwhile: $p" ../err && test "$(tail -n 2 $p)" = "more
more" && ! grep A f && rm ../more-$p .git/hooks/commit-msg && put f@8M g@ || return 1
	done && git agent land while && content f@2A8M | test_cmp - f
'

test_lazy_prereq SSHKEY 'ssh-keygen -q -t ed25519 -N "" -f key'
test_expect_success SSHKEY 'each way is signed with the key of the user' '
	echo "author@example.com $(cat key.pub)" >allowed &&
	git config --global gpg.format ssh && git config --global user.signingkey "$PWD/key.pub" && git config --global gpg.ssh.allowedSignersFile "$PWD/allowed" && test_when_finished "git config --global --unset commit.gpgsign" &&
	begin && git agent start -q --name sign -- sh -c "$words put f@2A" && git config --global commit.gpgsign true && put f@8M &&
	for how in merge squash; do
		git agent land --$how sign && git verify-commit HEAD && git agent land --undo sign || return 1
	done && put f@ && for how in merge squash; do
		git agent land --$how sign && git verify-commit HEAD && git agent land --undo sign || return 1
	done
'

test_expect_success 'the work in progress is in no commit, and no ref that is pushed has it' '
	begin && put f@8M && git agent start -q --name wip -- sh -c "$words put f@2A8M" && echo "the secret" >>f && git agent land wip && git init -q --bare ../bare$$ && git push -q ../bare$$ main agent/wip &&
	git -C ../bare$$ rev-list --objects --all | cut -d" " -f1 | git -C ../bare$$ cat-file --batch >../all && ! grep -a -e "the secret" -e "^M$" ../all && grep "the secret" f
'

test_expect_success 'staged content that is on nothing else outlives git gc' '
	begin && git agent start -q --name gc -- sh -c "$words put f@2A" && put f@8M && git add f && put f@ && picture >../before && git agent land gc && git reflog expire --expire=now --all && git gc -q --prune=now &&
	git agent land --undo gc && picture >../after && test_cmp ../before ../after && git diff --cached | grep "^+M" && test -z "$(git for-each-ref "refs/agent/gc/undo/")"
'

# ---- killed, or failing

for point in land:noted land:files land:index land:head
do
	case $point in
	land:index) all='land --undo --abort --continue' ;;
	*) all=land ;;
	esac
	for next in $all
	do
		test_expect_success "killed at $point: $next comes to a defined end" '
			begin && put old@8M && git add old && k=k-${point#land:}-${next#--} && git agent start -q --name $k -- sh -c "$words put f@2A -g n/n=n" && put f@8M && picture >../before &&
			{ GIT_AGENT_FAULT=$point:kill git agent land $k; test $? = 137; } && case $next in
			land) test_expect_code 2 git agent land --dry-run $k && git agent land $k 2>../err && git agent land --undo $k ;;
			--continue) test_expect_code 128 git agent land --continue $k 2>../err && grep "had been interrupted, and was taken back" ../err ;;
			*) git agent land $next $k ;;
			esac && picture >../after && test_cmp ../before ../after && git agent list | grep "^$k .*captured"
		'
	done
	test_expect_success "failing at $point: nothing was touched" '
		begin && put old@8M && git add old && k=f-${point#land:} && git agent start -q --name $k -- sh -c "$words put f@2A -g n/n=n" && put f@8M && picture >../before &&
		{ GIT_AGENT_FAULT=$point:fail git agent land $k; test $? = 128; } && picture >../after && test_cmp ../before ../after && git agent land $k
	'
done

for point in undo:files undo:index
do
	test_expect_success "undoing killed at $point: done again it comes to its end" '
		begin && u=u-${point#undo:} && git agent start -q --name $u -- sh -c "$words put f@2A -g n/n=n" && put f@8M && git add f && picture >../before && git agent land $u && { GIT_AGENT_FAULT=$point:kill git agent land --undo $u; test $? = 137; } &&
		git agent land --undo $u && picture >../after && test_cmp ../before ../after
	'
done

test_expect_success 'killed, then changed: that is named, and nothing touched; gone on by hand: it is settled' '
	begin && git agent start -q --name e -- sh -c "$words put f@2A" && put f@8M && git add f && { GIT_AGENT_FAULT=land:files:kill git agent land e; test $? = 137; } && echo more >>f && git rev-parse HEAD >../h && cp f ../f &&
	test_expect_code 2 git agent land e 2>../err && grep "a landing was interrupted: files changed since they were brought: f" ../err && test_cmp ../f f &&
	rm -f .git/index.lock && git commit -qam "by hand" && put g@5M && git add g && picture >../before && git agent land e && picture >../after && test_cmp ../before ../after && git agent list | grep "^e .*landed"
'

for point in land:index land:head
do
	test_expect_success "killed at $point, and gone on by hand: it stands in nobody'\\''s way" '
		begin && k=g-${point#land:} && git agent start -q --name $k -- sh -c "$words put f@2A" && put f@8M && git add f && { GIT_AGENT_FAULT=$point:kill git agent land $k; test $? = 137; } && test_expect_code 2 git agent drop $k 2>../err && grep "was interrupted" ../err &&
		git commit -qam "by hand" && git agent gc --dry-run | grep "session $k" && git agent drop --dry-run $k && git agent land --dry-run $k && git agent drop $k
	'
done

test_expect_success 'killed, and then another session: it is named, and nothing is touched, as long as it stands in the way' '
	begin && git agent start -q --name oa -- sh -c "$words put f@2A -g" && git agent start -q --name ob -- sh -c "$words put d/h@2B" && git agent start -q --name oc -- sh -c "$words put c=c" && git agent land oc && put f@8M && picture >../start && rm -rf ../other && git worktree add -q ../other && { GIT_AGENT_FAULT=land:files:kill git agent land oa; test $? = 137; } && picture >../before &&
	for c in "land ob" "land --squash ob" "land ob -- d" "land --undo oc"; do
		test_expect_code 2 git agent $c 2>../err && cat ../err && grep "a landing of agent/oa was interrupted$" ../err && grep "^hint: .git agent land --abort oa. takes it back" ../err && picture >../after && test_cmp ../before ../after || return 1
	done && (cd ../other && git agent land ob && git agent land --undo ob) && git agent land --abort oa && picture >../after && test_cmp ../start ../after && git agent land ob && git agent land --undo ob && git agent land --undo oc &&
	{ GIT_AGENT_FAULT=land:files:kill git agent land oa; test $? = 137; } && rm -f .git/index.lock && git commit -qam "by hand" && git agent land ob
'
test_expect_success 'killed while git was at work, beside files that it was told not to look at, and then another session' '
	begin && git agent start -q --name ha -- sh -c "$words put f@2A" && git agent start -q --name hb -- sh -c "$words put g@2B" && git update-index --assume-unchanged old && put old@8M && picture >../start && { GIT_AGENT_FAULT=land:kept:kill git agent land ha; test $? = 137; } && test_expect_code 2 git agent land hb 2>../err && grep "a landing of agent/ha was interrupted$" ../err && git agent land --abort ha && picture >../after && test_cmp ../start ../after && git agent land hb
'

# asks NAME PATTERN: neither drop nor gc moves its note to the trash
asks() {
	test_expect_code 2 git agent drop $1 2>../err && cat ../err && grep "$2" ../err && git agent gc >../out 2>../says && ! grep "session $1" ../out && git agent drop --force --dry-run $1 && test -e "$(echo "$HOME"/.local/state/git-agent/*/sessions/$1/undo/1)/record"
}
for point in land:files land:index
do
	test_expect_success "killed at $point, and then on another branch: it asks, and is taken back where it was" '
		begin && k=s-${point#land:} && git branch -q other && git agent start -q --name $k -- sh -c "$words put f@2A" && put f@8M && git add f && picture >../before && { GIT_AGENT_FAULT=$point:kill git agent land $k; test $? = 137; } && rm -f .git/index.lock && git switch -q other && picture >../there &&
		asks $k "a landing of agent/$k on .main. was interrupted, and you are not there" && for c in "land $k" "land --dry-run $k" "land --abort $k" "land --continue $k"; do test_expect_code 2 git agent $c 2>../err && grep "hint: .git switch main., then .git agent land --abort $k., takes it back" ../err || return 1; done && picture >../after && test_cmp ../there ../after &&
		git switch -q main && git agent land --abort $k && picture >../after && test_cmp ../before ../after && git agent land $k
	'
done

test_expect_success 'killed, and gone on by hand without what it was beside: it asks, whatever is landed since' '
	begin && git agent start -q --name only -- sh -c "$words put f@2A" && put f@8M && git add f && put f@8M9N && { GIT_AGENT_FAULT=land:index:kill git agent land only; test $? = 137; } && git reset -q --hard && git commit -q --allow-empty -m mine && note=$(echo "$HOME"/.local/state/git-agent/*/sessions/only/undo/1) &&
	says="a landing of agent/only was interrupted, and what it kept of these is nowhere else: f" && asks only "$says" && grep "^hint: it is in .*undo: see whether you miss any of it" ../err && content f@8M9N | test_cmp - "$note/0" && git agent land only && git agent list | grep "^only .*landed" && asks only "$says" && grep "session .only. has landed and stays: $says" ../says &&
	content f@8M >f && git add f && asks only "$says" && cp "$note/0" f && git agent gc --dry-run | grep "session only" && git agent drop --dry-run only && git reset -q --hard && asks only "$says" &&
	git agent drop --force only && git agent drop --restore only && asks only "$says"
'
test_expect_success 'the same of what git merged, and of line ends: in HEAD it is as git has it' '
	begin && printf "f text eol=crlf\n" >.gitattributes && git add . && git commit -qm attr && rm f && git checkout -q f && git agent start -q --name crlf -- sh -c "$words put g@2A; sed -i s,2,A, f" && git update-index --refresh && put g@8M && sed -i s,8,M, f && { GIT_AGENT_FAULT=land:files:kill git agent land crlf; test $? = 137; } && rm -f .git/index.lock && file f | grep CRLF && git add f g && git commit -qm hand && git agent drop crlf
'

test_expect_success 'killed when all was done: it has landed, and can be undone' '
	begin && git agent start -q --name d -- sh -c "$words put f@2A" && put f@8M && picture >../before && { GIT_AGENT_FAULT=land:recorded:kill git agent land d; test $? = 137; } &&
	git agent land d 2>../err && grep "nothing to land" ../err && git agent list | grep "^d .*landed" && git agent land --undo d && picture >../after && test_cmp ../before ../after
'

# half NAME: of its landing half is done, and it is killed; where its note is
half() {
	begin && git agent start -q --name $1 -- sh -c "$words put f@2A" && put f@8M && git add f && picture >../whole && { GIT_AGENT_FAULT=land:files:kill git agent land $1; test $? = 137; } && rm .git/index.lock && picture >../before &&
		note=$(echo "$HOME"/.local/state/git-agent/*/sessions/$1/undo/1) && test -e "$note/record"
}
unread="may have been left half done"

test_expect_success 'half done and its note cannot be read: nothing is landed on it, and nothing touched, until it can be' '
	half io && for c in "land io" "land --dry-run io" "land --abort io" "land --continue io"; do
		GIT_AGENT_FAULT=land:read:fail test_expect_code 128 git agent $c 2>../err && grep "a landing of agent/io $unread: stopped" ../err && grep "^hint: try again; if it stays so, .*rm -r $note" ../err && picture >../after && test_cmp ../before ../after || return 1
	done && GIT_AGENT_FAULT=land:read:fail test_expect_code 128 git agent land --undo io 2>../err && ! grep "no landing" ../err && picture >../after && test_cmp ../before ../after &&
	git agent land --abort io && picture >../after && test_cmp ../whole ../after && git agent land io && git agent land --undo io
'

for damaged in record work
do
	test_expect_success "half done and its note is damaged ($damaged): the same, and the way out that is named is one" '
		half d-$damaged && head -c 30 "$note/$damaged" >../cut && cp ../cut "$note/$damaged" && test_expect_code 128 git agent land d-$damaged 2>../err && grep "$unread" ../err && picture >../after && test_cmp ../before ../after &&
		put f@8M && eval "$(sed -n "s/^hint: .*then .\(rm -r .*\).$/\1/p" ../err)" && git agent land d-$damaged && git show HEAD:f | grep A
	'
done

test_expect_success 'a damaged note of a landing that came to its end keeps nobody from the next' '
	begin && git agent start -q --name over -- sh -c "$words put f@2A" && put f@8M && git agent land over && note=$(echo "$HOME"/.local/state/git-agent/*/sessions/over/undo/1) && : >"$note/record" &&
	git agent land over 2>../err && grep "nothing to land" ../err && test_expect_code 128 git agent land --undo over 2>../err && grep "is not what a landing notes" ../err
'

test_expect_success 'undoing that fails leaves no lock behind, and git can be used to go on' '
	begin && git agent start -q --name lock -- sh -c "$words put f@2A -g" && put f@8M && git add f && picture >../before && git agent land lock &&
	for point in undo:files undo:index; do
		GIT_AGENT_FAULT=$point:fail test_expect_code 128 git agent land --undo lock 2>../err && grep "stopped at .$point" ../err && test ! -e .git/index.lock && test ! -e "$HOME"/.local/state/git-agent/*/sessions/lock/undo/1/lock && git update-index --assume-unchanged old && git update-index --no-assume-unchanged old || return 1
	done && git agent land --undo lock && picture >../after && test_cmp ../before ../after &&
	half more && echo more >>f && { GIT_AGENT_FAULT=land:files:kill git agent land more; test $? = 2; } && test ! -e .git/index.lock
'

test_expect_success 'undoing that another git at work is in the way of was not begun: nobody takes the landing back unasked' '
	begin && git agent start -q --name busy -- sh -c "$words put f@2A" && put f@8M && git add f && picture >../before && git agent land busy && picture >../landed && : >.git/index.lock && test_expect_code 128 git agent land --undo busy 2>../err && grep "another git is at work" ../err && rm .git/index.lock &&
	git agent gc --dry-run | grep "session busy" && git agent drop --dry-run busy && git agent land busy && picture >../after && test_cmp ../landed ../after && git agent land --undo busy && picture >../after && test_cmp ../before ../after
'

# refused WHAT COMMAND PATTERN: after COMMAND undoing is refused, and touches nothing.
refused() {
	action=$2 says=$3
	test_expect_success "not undone, nothing touched: $1" '
		begin && r=r$(count) && git agent start -q --name $r -- sh -c "$words put f@2A" && put f@8M g@5M && git add g && git agent land $r && { eval "$action"; } && picture >../before &&
		test_expect_code 2 git agent land --undo $r 2>../err && grep "$says" ../err && picture >../after && test_cmp ../before ../after
	'
}
refused 'a commit on top' 'git commit -qm top' 'your branch has moved'
refused 'another branch' 'git switch -qc other$r' 'landed on .main., and you are not there'
refused 'something else staged' 'put s=s; git add s' 'the index changed since'
refused 'unstaged' 'git restore --staged g' 'the index changed since'
refused 'a file of the landing edited' 'put f@3X' 'files changed since they were brought: f'

test_done
