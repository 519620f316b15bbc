#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what the user does while a landing looks, or while it waits to be finished'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# A git that does something of the user's once, just before the command of which WHEN is a part.
mkdir bin && printf '#!/bin/sh\ncase " $* " in *" $WHEN "*) ! test -e "%s/go" || { rm "%s/go" && WHEN=none sh -c "$MEANWHILE" >/dev/null; } ;; esac\nexec %s "$@"\n' "$PWD" "$PWD" "$(command -v git)" >bin/git && chmod +x bin/git
real=$PATH wrapped=$PWD/bin:$PATH
# meanwhile WHEN COMMANDS ARG...: land, and these run just before that command of git's
meanwhile() {
	WHEN=$1 MEANWHILE=$2 && shift 2 && export WHEN MEANWHILE && touch ../go && PATH=$wrapped && { git-agent land "$@" 2>../err; rc=$?; PATH=$real; } && cat ../err && test ! -e ../go && return $rc
}
user='echo user >mine && git add mine && git commit -q --date=@1000000000 -m users-own'
flagged='echo user >mine && echo all: >Makefile && git add -A && git commit -q --date=@1000000000 -m users-own'

# ---- a commit between look and merge

for how in --merge --squash '--merge --no-commit' '--squash --no-commit' --rebase; do
	case $how in --rebase) when=cherry-pick ;; *) when=merge ;; esac
	for does in "$user" "$flagged"; do
		test_expect_success "$how: the user commits just before git begins: that commit stays${does##*mine}" '
			begin && s=e$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one; put n=n; git add n; git commit -qm two" && put g@2M && git commit -qam earlier && put d/h@8U &&
			{ meanwhile $when "$does" $how $s; test $? = 2; } && grep "your branch moved meanwhile, and what git made of agent/$s there was taken back" ../err && grep "hint: you are at $(git rev-parse --short=10 HEAD); land again" ../err && test "$(git log -1 --format=%s)" = users-own && test "$(cat mine)" = user && content d/h@8U | test_cmp - d/h && content f@ | test_cmp - f && git diff --cached --exit-code && test ! -e .git/MERGE_HEAD && test ! -e .git/SQUASH_MSG && git agent list | grep "^$s .*captured" &&
			picture >../before && test_expect_code 128 git agent land --undo $s && picture >../after && test_cmp ../before ../after && case $how in *no-commit) ;; *) git agent land $how $s && git agent land --undo $s && picture >../after && test_cmp ../before ../after ;; esac
		'
	done
done
# between SUBJECT: two commits are made again, and when that one is there the user commits
between() {
	begin && git agent start -q --name $2 -- sh -c "$words put f@2A; git commit -qam one; put n=n; git add n; git commit -qm two" && put g@2M && git commit -qam earlier && printf '#!/bin/sh\ntest "$(git log -1 --format=%%s)" != %s || git commit -q --allow-empty --date=@1000000000 -m users-own\n' $1 >.git/hooks/post-commit && chmod +x .git/hooks/post-commit && test_expect_code 2 git agent land --rebase $2 2>../err; cat ../err; rm .git/hooks/post-commit && test "$(git log -1 --format=%s)" = users-own && picture >../before && test_must_fail git agent land --undo $2 && picture >../after && test_cmp ../before ../after
}
test_expect_success 'a rebase of which the user commits in between: nothing of theirs goes' '
	between one mid && grep "your branch moved meanwhile, and what git made of agent/mid there was taken back" ../err && test ! -e n && test "$(git log -1 --format=%s HEAD^)" = one
'
test_expect_success 'nor where they commit on top of it' '
	between two top && grep "your branch moved while agent/top was brought, and nothing was taken back of that" ../err && test -e n && git agent land top && git agent list | grep "^top .*landed" && picture >../before && test_must_fail git agent land --undo top && picture >../after && test_cmp ../before ../after
'
# rewritten NAME COMMANDS: commits are made again, other than they were
rewritten() {
	begin && git agent start -q --name $1 -- sh -c "$words put f@2A; $2; put n=n; git add n; git commit -qm two" && put g@2M && git commit -qam earlier && picture >../before
}
test_expect_success 'a rebase whose commits are in another encoding, or lose blanks at the end of their subject, lands' '
	rewritten enc "git config i18n.commitEncoding ISO-8859-1; printf \"gr\\374n\\n\" >../m; git -c user.name=\"\$(printf \"J\\374rg\")\" commit -qaF ../m" && git cat-file commit agent/enc~ | LC_ALL=C grep -a "^encoding ISO" && git agent land --rebase enc && git cat-file commit HEAD~ | grep "J..rg" && ! git cat-file commit HEAD~ | grep ^encoding && git agent list | grep "^enc .*landed" && git agent land --undo enc && picture >../after && test_cmp ../before ../after && git config i18n.commitEncoding ISO-8859-1 && git agent land --rebase enc && git agent land --undo enc &&
	rewritten blank "git commit -qam \"one  \" --cleanup=verbatim" && git config commit.cleanup strip && git agent land --rebase blank && test "$(git log -1 --format=%s HEAD~)" = one && git agent list | grep "^blank .*landed"
'
hook='echo "echo other >\$1" >.git/hooks/prepare-commit-msg && chmod +x .git/hooks/prepare-commit-msg'
test_expect_success 'one whose subjects a hook writes anew: nothing is taken back' '
	rewritten anew "git commit -qam one" && eval "$hook" && test_expect_code 2 git agent land --rebase anew 2>../err && cat ../err && grep "your branch moved while agent/anew was brought, and nothing was taken back of that$" ../err && test -e n && git agent land anew && git agent list | grep "^anew .*landed"
'
test_expect_success 'the same where there is something else than was looked at: that is looked at' '
	rewritten judged "git commit -qam one" && eval "$hook" && { meanwhile cherry-pick "echo all: >Makefile && git add -A && git commit -q --date=@1000000000 -m users-own" --rebase judged; test $? = 3; } && grep "your branch moved while agent/judged was brought, and nothing was taken back of that: agent/judged would raise new flags where it lands: 1 high" ../err && grep "hint: .*git agent review judged" ../err && test -e n && git agent review --stat judged | grep "^  high (1)"
'
test_expect_success 'what git made cannot be read: how one goes back is said' '
	begin && git agent start -q --name odd -- sh -c "$words put f@2A" && git commit -q --allow-empty -m mine && git rev-parse HEAD >../head && printf "#!/bin/sh\ngit rev-parse HEAD >../made\nprintf %%040d 1 >.git/refs/heads/main\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && picture >../before && test_expect_code 128 git agent land odd 2>../err && cat ../err && grep "hint: what git made of it stays, and nobody looked at it; .git reset --keep $(cat ../head). goes back" ../err && cp ../made .git/refs/heads/main && git reset -q --keep "$(cat ../head)" && picture >../after && test_cmp ../before ../after
'
# staging NAME COMMANDS: two commits are made again, the second of which git cannot begin; COMMANDS run when one is there
staging() {
	begin && git agent start -q --name $1 -- sh -c "$words put f@2A; git commit -qam one; put n=n; git add n; git commit -qm two" && put g@2M && git commit -qam earlier && picture >../before && git rev-parse HEAD >../head && echo "n filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true && printf "%s\n" "#!/bin/sh" "$words $2" >.git/hooks/post-commit && chmod +x .git/hooks/post-commit && { git agent land --rebase $1 2>../err; test $? -gt 0; } && cat ../err && rm .git/hooks/post-commit .git/info/attributes && git status --short && git rev-parse HEAD | test_cmp ../head - && test ! -e .git/sequencer && test ! -e n && content f@ | test_cmp - f
}
test_expect_success 'what the user stages while git is at work stays staged, where that is taken back' '
	staging kept "put mine=precious old@5S; echo x >\"[a-z]*\"; git add mine old \":(literal)[a-z]*\"; git rm -q --cached run" && grep "^hint: nothing was committed, and files are as they were" ../err && git diff --cached --name-status >../is && printf "A\t[a-z]*\nA\tmine\nM\told\nD\trun\n" | test_cmp - ../is && content mine=precious | test_cmp - mine && content old@5S | test_cmp - old && echo x | test_cmp - "[a-z]*" && git diff --name-only >../is && test ! -s ../is && git reset -q && rm mine "[a-z]*" && put old@ && picture >../after && test_cmp ../before ../after
'
test_expect_success 'as it was staged, where the file has something else' '
	staging part "put old@5S new=staged; git add old new; put old@5S8F -new" && grep "^hint: nothing was committed, and files are as they were" ../err && git show :old >../is && content old@5S | test_cmp - ../is && git show :new >../is && content new=staged | test_cmp - ../is && content old@5S8F | test_cmp - old && test ! -e new && git reset -q && put old@ && picture >../after && test_cmp ../before ../after
'
test_expect_success 'also where git cannot go back' '
	staging stuck "put old@5S; git add old; put old@5S8F" && git reset -q --hard && printf "%s\n" "#!/bin/sh" "$words put old@5S; git add old; put old@5S8F" >.git/hooks/post-commit && chmod +x .git/hooks/post-commit && echo "n filter=bad" >.git/info/attributes && git config filter.bad.smudge "echo user >f; false" && { git agent land --rebase stuck 2>../err; test $? -gt 0; } && cat ../err && grep "^hint: files are not as they were: f; .*; .git reset --keep $(cat ../head). goes back" ../err && git show :old >../is && content old@5S | test_cmp - ../is && content old@5S8F | test_cmp - old &&
	git cherry-pick --quit && git checkout -q f && git reset -q --keep "$(cat ../head)" && put old@ && picture >../after && test_cmp ../before ../after
'
test_expect_success 'where it cannot be staged again that is named, by its object' '
	GIT_AGENT_FAULT=land:stage:fail && export GIT_AGENT_FAULT && staging named "put old@5S; git add old; put old@5S8F" && id=$(content old@5S | git hash-object --stdin) && grep "^hint: .*what was staged meanwhile is not staged any more: .$id old.: stopped at .land:stage.: .*; .git cat-file blob ID. shows what that was, .git add. stages files again$" ../err && git cat-file blob $id >../is && content old@5S | test_cmp - ../is && content old@5S8F | test_cmp - old
'
test_expect_success 'what is staged then of a file that the user committed since, too' '
	staging since "put g@5S; git add g; put g@5S8F" && git show :g >../is && content g@5S | test_cmp - ../is && content g@5S8F | test_cmp - g && git reset -q && put g@2M && picture >../after && test_cmp ../before ../after
'
test_expect_success 'in the way of going on it is named' '
	begin && git agent start -q --name going -- sh -c "$words put f@2A; git commit -qam one; put n=n; git add n; git commit -qm two" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land --rebase going && put f@2R && git add f && echo "n filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true && printf "%s\n" "#!/bin/sh" "$words put mine=precious; git add mine" >.git/hooks/post-commit && chmod +x .git/hooks/post-commit &&
	{ git agent land --continue going 2>../err; test $? -gt 0; } && cat ../err && grep "^hint: what you resolved is committed; see to that, then .git agent land --continue going" ../err && rm .git/hooks/post-commit .git/info/attributes && content mine=precious | test_cmp - mine && git status --short >../status && echo "A  mine" | test_cmp - ../status &&
	picture >../before && test_expect_code 2 git agent land --continue going 2>../err && cat ../err && grep "staged changes are in the way: mine$" ../err && picture >../after && test_cmp ../before ../after && git restore --staged mine && git agent land --continue going && content n=n | test_cmp - n && content f@2R | test_cmp - f && content mine=precious | test_cmp - mine && git agent list | grep "^going .*landed"
'
# hooked NAME: what a hook stages is here after what was staged is taken back
hooked() {
	printf "%s\n" "#!/bin/sh" "$words put old@5S precious=p Makefile=all:; git add old Makefile precious; put old@5S8F" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge
}
stays() {
	cat ../err && rm .git/hooks/post-merge && git show :old >../is && content old@5S | test_cmp - ../is && git show :precious >../is && content precious=p | test_cmp - ../is && content precious=p | test_cmp - precious && content old@5S8F | test_cmp - old && content f@ | test_cmp - f && test ! -e n && git reset -q && rm precious Makefile && put old@
}
for how in --squash '--squash --no-commit'; do
	test_expect_success "$how: what a hook staged stays where flags take it back" '
		begin && s=h$(count) && git agent start -q --name $s -- sh -c "$words put f@2A n=n" && put g@2M && git commit -qam mine && picture >../before && hooked && test_expect_code 3 git agent land $how $s 2>../err && grep "git made something else of it than was checked, which was taken back: agent/$s would raise new flags where it lands" ../err && stays && picture >../after && test_cmp ../before ../after
	'
done
for how in --squash --merge; do
	test_expect_success "$how: and where it is taken back since the user had committed" '
		begin && s=h$(count) && git agent start -q --name $s -- sh -c "$words put f@2A n=n" && put g@2M && git commit -qam earlier && hooked && { meanwhile merge "$user" $how $s; test $? = 2; } && grep "your branch moved meanwhile, and what git made of agent/$s there was taken back" ../err && test "$(git log -1 --format=%s)" = users-own && stays && test -z "$(git status --porcelain)"
	'
done
# With options of the branch for merges git may write to files that nobody looked at: those go, what was staged besides stays.
for how in --squash '--squash --no-commit'; do
	test_expect_success "$how: and what git merged by options of the branch goes, what a hook staged of other files stays" '
		begin && put d/f@8Z && git add d/f && git commit -qm d && s=h$(count) && git agent start -q --name $s -- sh -c "$words put f@2A" && put g@2M && git commit -qam mine && git config branch.main.mergeoptions "-X subtree=d" && picture >../before && printf "%s\n" "#!/bin/sh" "$words put old@5S; git add old; put old@5S8F" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge &&
		GIT_AGENT_FAULT=land:made:fail test_expect_code 128 git agent land $how $s 2>../err && cat ../err && grep "git made of it what cannot be read, which was taken back" ../err && rm .git/hooks/* && git show :old >../is && content old@5S | test_cmp - ../is && content old@5S8F | test_cmp - old && content d/f@8Z | test_cmp - d/f && test "$(git diff --cached --name-only)" = old && git reset -q && put old@ && picture >../after && test_cmp ../before ../after && ls -d "$HOME"/.local/state/git-agent/*/sessions/$s/merge* 2>/dev/null | test_cmp /dev/null -
	'
done
# atgit COMMANDS ARG...: they run when git has merged, and nobody has looked at what
atgit() {
	commands=$1 && shift
	GIT_AGENT_FAULT=land:git:stop git-agent "$@" 2>../err & pid=$!
	test_wait_for "grep \"^State:.T\" /proc/$pid/status" && eval "$commands"
	kill -CONT $pid
	wait $pid
}
for how in --merge --squash; do
	test_expect_success "$how: what is staged when git has left a conflict stays staged, where that is taken back" '
		begin && s=h$(count) && git agent start -q --name $s -- sh -c "$words put f@2A g@2A" && git mv f moved && put moved@9C && git commit -qam renamed && git config branch.main.mergeoptions "-X find-renames=99%" && picture >../before && { atgit "git ls-files -u >../unmerged; put old@5S d/h@5S new=mine; git add old d/h new; put d/h@5S8F" land $how $s; test $? = 2; } && cat ../err && test -s ../unmerged && grep "otherwise than was checked: .* f, " ../err && git ls-files -u | test_cmp /dev/null - && git show :old >../is && content old@5S | test_cmp - ../is && content old@5S | test_cmp - old && git show :d/h >../is && content d/h@5S | test_cmp - ../is && content d/h@5S8F | test_cmp - d/h && test "$(git diff --cached --name-only | tr "\n" " ")" = "d/h new old " && content new=mine | test_cmp - new && git reset -q && rm new && put old@ d/h@ && picture >../after && test_cmp ../before ../after
	'
done
test_expect_success 'a rebase that stops: the commit of the user below what it made stays' '
	begin && git agent start -q --name low -- sh -c "$words put f@2A; git commit -qam one; put z=z; git add z; git commit -qm two" && put g@2M && git commit -qam earlier && echo "z filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true &&
	{ meanwhile cherry-pick "$user" --rebase low; test $? -gt 0; } && test "$(git log -1 --format=%s)" = users-own && test "$(cat mine)" = user && content f@ | test_cmp - f && test ! -e .git/sequencer
'
test_expect_success 'a squash that the user commits before is committed on top of that: it stays, and is none to be undone' '
	begin && git agent start -q --name sq -- sh -c "$words put f@2A; git commit -qam one" && put g@2M && git commit -qam earlier && { meanwhile "commit --quiet -m" "echo user >mine && git add mine && git commit -q --date=@1000000000 -m users-own --only mine" --squash sq; test $? = 2; } && grep "your branch moved while agent/sq was brought, and nothing was taken back of that" ../err && test "$(git log -1 --format=%s HEAD^)" = users-own && git agent land sq && git agent list | grep "^sq .*landed" && picture >../before && test_must_fail git agent land --undo sq && picture >../after && test_cmp ../before ../after
'

# ---- a hook that commits

# committing NAME HOOK HOW: that hook commits a file of its own, once; then landing says SAYS, with the status CODE, and the hook's commit and its file are there, as is what is uncommitted
committing() {
	h=$1 how=$2 commit=$3 code=$4 says=$5
	test_expect_success "a $h hook that commits ($commit), $how" '
		begin && s=c$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one; put n=n; git add n; git commit -qm two" && { test "$how" = --ff-only || { put g@2M && git commit -qam earlier; }; } && put old@8U && rm -f ../once && printf "%s\n" "#!/bin/sh" "test ! -e ../once || exit 0; touch ../once; n=ooked; echo hook >h\$n; git add h\$n; git commit -q --no-verify -m hooks-own $commit; exit 0" >.git/hooks/$h && chmod +x .git/hooks/$h &&
		test_expect_code $code git agent land $how $s 2>../err && cat ../err && git log --oneline --graph && grep "$says" ../err && test -e ../once && git show HEAD:hooked | grep hook && grep hook hooked && content old@8U | test_cmp - old && picture >../before && if grep "committed: you" ../err; then
			case $how in --merge) git agent land --abort $s ;; *) git reset -q --merge ;; esac && git diff --cached --exit-code && git show HEAD:hooked && test ! -e n && content old@8U | test_cmp - old
			exit
		elif grep "git reset --keep" ../err; then
			exit
		fi && test_must_fail git agent land --undo $s && picture >../after && test_cmp ../before ../after && git agent land $how $s && case "$how" in *no-commit) git commit -qm squashed ;; esac && content f@2A | test_cmp - f && content n=n | test_cmp - n && content old@8U | test_cmp - old && git cat-file -e HEAD:hooked && git agent list | grep "^$s .*landed"
	'
}
top='your branch moved while agent/c[0-9]* was brought, and nothing was taken back of that'
back='your branch moved meanwhile, and what git made of agent/c[0-9]* there was taken back'
committing post-merge --merge '' 2 "$top"
committing post-merge --ff-only '' 2 "$top"
committing post-merge --squash '' 2 "$top"
committing post-merge --squash '-- h$n' 2 "$back"
committing post-merge '--squash --no-commit' '-- h$n' 2 "$back"
committing post-commit --squash '' 2 "$top"
committing pre-merge-commit --merge '-- h$n' 4 'the merge is done but was not committed: you, or a hook of yours, committed meanwhile'
committing pre-commit --squash '-- h$n' 4 'the changes are staged but not committed: you, or a hook of yours, committed meanwhile'
committing commit-msg --merge '' 2 'git refused to merge agent/c'
committing post-commit --rebase '' 2 "$top\|$back"
committing prepare-commit-msg --rebase '' 2 'git refused to merge agent/c'
test_expect_success 'as is said, without hooks it lands' '
	begin && git agent start -q --name nohook -- sh -c "$words put f@2A" && git commit -q --allow-empty -m mine && printf "%s\n" "#!/bin/sh" "git commit -q --allow-empty -m hooks-own -- f" >.git/hooks/post-merge && printf "%s\n" "#!/bin/sh" "git commit -q --allow-empty --only -m hooks-own" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && test_expect_code 2 git agent land --squash nohook 2>../err && cat ../err && eval "$(sed -n "s/^hint: .*, or, if a hook of yours commits, .\(git -c .* agent land\) \(nohook\).$/\1 --squash \2/p" ../err)" && git agent list | grep "^nohook .*landed" && content f@2A | test_cmp - f && git log -1 --format=%s | grep Squash && git agent land --undo nohook
'

# ---- what comes to the session while a conflict waits

# conflicted NAME HOW: two commits, of which the first conflicts
conflicted() {
	begin && git agent start -q --name $1 -- sh -c "$words put f@2A; git commit -qam one; put x=agent; git add x; git commit -qm two" && put f@2M && git commit -qam mine && picture >../start && test_expect_code 4 git agent land $2 $1
}
for how in --rebase --merge '--merge --no-commit'; do
	test_expect_success "$how: what the agent commits while it waits has not landed with it, and stays" '
		s=r$(count) && conflicted $s "$how" && was=$(git rev-parse agent/$s) && git agent resume -q $s -- sh -c "$words put later=precious package.json=x; git add -A; git commit -qm three" && put f@2R && git add f && git agent land --continue --json $s >../json && grep "\"rest\": *true" ../json && test ! -e later && test ! -e package.json && test "$(cat x)" = agent && git agent list | grep "^$s .*captured" && git agent gc --dry-run >../gc 2>&1 && ! grep "$s" ../gc && test_expect_code 2 git agent drop --dry-run $s &&
		git agent land --undo $s && picture >../after && test_cmp ../start ../after && test "$(git rev-parse agent/$s~)" = "$was"
	'
	test_expect_success "$how: nothing is rejected of what waits, which has it" '
		s=j$(count) && conflicted $s "$how" && at=$(git rev-parse agent/$s) && test_expect_code 2 git agent review --reject $s x 2>../err && cat ../err && grep "a landing of agent/$s was left to be finished in .$PWD." ../err && grep "hint: .git agent land --abort $s. there" ../err && test "$(git rev-parse agent/$s)" = "$at" &&
		git agent land --abort $s && picture >../after && test_cmp ../start ../after && git agent review --reject $s x && test_expect_code 4 git agent land $how $s && test ! -e x && put f@2R && git add f && git agent land --continue $s && git agent list | grep "^$s .*landed"
	'
	test_expect_success "$how: the branch moved: --abort gives it up all the same" '
		s=a$(count) && conflicted $s "$how" && git agent resume -q $s -- sh -c "$words put later=precious; git add -A; git commit -qm three" && git agent land --abort $s && picture >../after && test_cmp ../start ../after
	'
done
test_expect_success 'review says how one goes on, as long as it waits' '
	conflicted say && git agent review --accept-all say 2>../err && grep "next: git agent land --continue say$" ../err && git agent review --stat say >../out && grep "^next: git agent land --continue say$" ../out && git agent land --abort say && git agent review --accept-all say 2>../err && grep "next: git agent land say$" ../err && git agent review --stat say >../out && grep "^next: git agent land say$" ../out
'
test_expect_success 'commits that the user picks are none of a landing' '
	begin && git agent start -q --name pick -- sh -c "$words put f@2A; git commit -qam one; put x=agent; git add x; git commit -qm two" && put f@2M && git commit -qam mine && test_must_fail git cherry-pick agent/pick~ && put f@2R && git add f && test_expect_code 128 git agent land --continue pick 2>../err && grep "no landing of agent/pick was left" ../err && git agent list | grep "^pick .*captured" && git cherry-pick --abort &&
	test_expect_code 4 git agent land --rebase pick && git cherry-pick --abort && test_must_fail git cherry-pick agent/pick~ && put f@2R && git add f && test_expect_code 128 git agent land --continue pick
'

# ---- flags of what is finished

make='printf "all:\n\techo agent\n" >Makefile; git add Makefile'
test_expect_success 'a merge by hand of what has open flags is not finished as a landing' '
	begin && git agent start -q --name hand -- sh -c "$words put f@2A; $make; git commit -qam one" && put f@2M && git commit -qam mine && test_must_fail git merge -q agent/hand && put f@2R && git add f && test_expect_code 3 git agent land --continue hand 2>../err && cat ../err && grep "agent/hand has open flags: 1 high" ../err && grep "hint: .*--accept their paths; .git agent land --continue hand. goes on then, --abort goes back, to reject them" ../err && test -e .git/MERGE_HEAD && git agent list | grep "^hand .*captured" && git agent review --accept hand Makefile && git agent land --continue hand && git agent list | grep "^hand .*landed" && git agent land --undo hand
'
for how in merge rebase; do
	test_expect_success "$how: what is resolved to something that nobody accepted is flagged; accepted, it goes on" '
		begin && put Makefile=x: && git add -A && git commit -qm make && s=m$(count) && git agent start -q --name $s -- sh -c "$words $make; put x=agent; git add x; git commit -qm one; put y=y; git add y; git commit -qm two" && git agent review --accept $s Makefile && printf "y:\n\techo mine\n" >Makefile && git commit -qam mine && picture >../start && test_expect_code 3 git agent land --$how $s && git agent review --accept $s Makefile && test_expect_code 4 git agent land --$how $s && printf "all:\n\techo agent; curl evil\n" >Makefile && git add Makefile && picture >../before &&
		test_expect_code 3 git agent land --continue $s 2>../err && cat ../err && picture >../after && test_cmp ../before ../after && git agent review --accept $s Makefile && git agent land --continue $s && test -e y && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../start ../after
	'
done

# ---- more than one working tree

# killed NAME: beside uncommitted work, as files were written
killed() {
	rm -rf ../other && git worktree add -q $2 ../other && git agent start -q --name $1 -- sh -c "$words put f@2A" && put f@8M && picture >../start && GIT_AGENT_FAULT=land:files:kill test_expect_code 137 git agent land $1
}
for detach in '' --detach; do
	test_expect_success "killed in one working tree, it is not taken back in another${detach:+, on no branch}" '
		begin && { test -z "$detach" || git checkout -q --detach; } && s=w$(count) && killed $s $detach && here=$PWD && (cd ../other && picture >../before && for c in land "land --abort" "land --undo"; do
			test_expect_code 2 git agent $c $s 2>../err && cat ../err && grep "another working tree" ../err && grep "hint: .git -C $here agent land --[a-z]* $s. takes it back" ../err && picture >../after && test_cmp ../before ../after || return 1
		done && eval "$(sed -n "s/^hint: .\(git -C .* agent land --abort $s\).*/\1/p;s/^hint: .\(git -C .* agent land\) --undo\( $s\). takes.*/\1 --abort\2/p" ../err)") && picture >../after && test_cmp ../start ../after && git agent land $s && git agent land --undo $s && picture >../after && test_cmp ../start ../after
	'
done
test_expect_success 'what landed on no branch in one working tree is not undone in another' '
	begin && git checkout -q --detach && rm -rf ../other && git worktree add -q --detach ../other && git agent start -q --name un -- sh -c "$words put f@2A" && put f@8M && picture >../start && git agent land un && at=$(git rev-parse HEAD) && (cd ../other && git checkout -q --detach $at && put f@2A8M && test_expect_code 2 git agent land --undo un 2>../err && cat ../err && grep "agent/un landed in another working tree" ../err && test "$(git rev-parse HEAD)" = $at) && git agent land --undo un && picture >../after && test_cmp ../start ../after
'
test_expect_success 'one that waits in another working tree is named' '
	conflicted far && here=$PWD && rm -rf ../other && git worktree add -q ../other && (cd ../other && for c in --continue --abort; do test_expect_code 128 git agent land $c far 2>../err && cat ../err && grep "hint: not in this working tree; one was in $here$" ../err || return 1; done && test_expect_code 2 git agent review --reject far x) && git agent land --abort far
'
test_expect_success 'a landing in one working tree does not make that be forgotten which waits in another' '
	conflicted both --rebase && here=$PWD && rm -rf ../other && git worktree add -q ../other HEAD~ && (cd ../other && git agent land --squash both && content f@2A | test_cmp - f && test_expect_code 128 git agent land --continue both 2>../err && cat ../err && grep "hint: not in this working tree; one was in $here$" ../err && test_expect_code 2 git agent review --reject both x 2>../err && grep "was left to be finished in .$here." ../err) && put f@2R && git add f && git agent land --continue both && content f@2R | test_cmp - f && test -e x
'
test_expect_success 'nor one that waits there' '
	conflicted two --rebase && here=$PWD && rm -rf ../other && git worktree add -q ../other HEAD && (cd ../other && test_expect_code 4 git agent land --merge two && git agent land --abort two && test_expect_code 4 git agent land --merge two) && git agent land --abort two && picture >../after && test_cmp ../start ../after && test_expect_code 2 git agent review --reject two x && (cd ../other && put f@2R && git add f && git agent land --continue two && content f@2R | test_cmp - f && test -e x)
'
test_expect_success 'one that git calls by a path of its own: killed there, it is not gone' '
	begin && rm -rf ../other && git worktree add -q ../other && there=$(cd ../other && pwd -P) && echo ../../../../other/.git >.git/worktrees/other/gitdir && git agent start -q --name rel -- sh -c "$words put f@2A" && (cd ../other && put f@8M && picture >../start && GIT_AGENT_FAULT=land:files:kill test_expect_code 137 git agent land rel) && for c in land "land --abort" "land --undo"; do
		test_expect_code 2 git agent $c rel 2>../err && cat ../err && grep "another working tree" ../err && grep "hint: .git -C $there agent land --[a-z]* rel. takes it back" ../err || return 1
	done && (cd ../other && git agent land --abort rel && picture >../after && test_cmp ../start ../after)
'
# away COMMANDS: by which the working tree is not there
away() {
	begin && rm -rf ../other && git worktree add -q ../other && git agent start -q --name $1 -- sh -c "$words put f@2A" && (cd ../other && put f@8M && GIT_AGENT_FAULT=land:files:kill test_expect_code 137 git agent land $1) && eval "$2"
}
test_expect_success 'one whose files are elsewhere for a while is not gone either; one that is nowhere any more is' '
	away locked "git worktree lock ../other; mv ../other ../away" && test_expect_code 2 git agent land locked 2>../err && cat ../err && grep "another working tree" ../err && mv ../away ../other && (cd ../other && git agent land --abort locked && content f@8M | test_cmp - f) && git agent land locked &&
	away gone "rm -r ../other" && git agent land gone && away pruned "rm -r ../other; git worktree prune" && git agent land pruned
'

# ---- what the user picks meanwhile

test_expect_success 'a rebase that the user gave up, and commits that they pick since: that is no landing which waits' '
	begin && git switch -q -c side && put f@2S && git commit -qam s1 && put f@3S && git commit -qam s2 && git switch -q main && git agent start -q --name own -- sh -c "$words put f@2A; git commit -qam one; put x=agent; git add x; git commit -qm two" && put f@2M && git commit -qam mine && for picks in side~ "side~ side"; do
		test_expect_code 4 git agent land --rebase own && test_expect_code 2 git agent review --reject own x && git cherry-pick --abort && test_must_fail git cherry-pick $picks && git agent review --accept-all own 2>../err && cat ../err && grep "next: git agent land own$" ../err && git cherry-pick --abort || return 1
	done && test_expect_code 4 git agent land --rebase own && put f@2R && git add f && git commit -qm resolved && git agent review --accept-all own 2>../err && grep "next: git agent land --continue own$" ../err && git cherry-pick --quit && git agent review --reject own x
'

test_done
