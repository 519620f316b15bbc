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
		begin && s=s\$(count) && git agent start -q --name \$s -- sh -c \"\$words put f@2A new=n -old\" && put g@5M && git commit -qam mine && put u=u && { $1; } && picture >../before &&
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

test_expect_success 'what cannot be read of the result is taken back, whichever way' '
	begin && git agent start -q --name u -- sh -c "$words put f@2A new=n -old" && put g@5M u=u && picture >../before && for how in --merge "--merge --no-commit" --squash "--squash --no-commit" --rebase --ff-only; do
		GIT_AGENT_FAULT=land:made:fail test_expect_code 128 git agent land $how u 2>../err && cat ../err && grep "git made of it what cannot be read, which was taken back: stopped at" ../err && picture >../after && test_cmp ../before ../after && test ! -e .git/MERGE_HEAD && test ! -e .git/SQUASH_MSG && git agent list | grep "^u .*captured" || return 1
	done && git agent land u && git agent list | grep "^u .*landed"
'

# removed HOW COMMANDS: the landing takes away a tracked file of an ignored name, and a hook, or a
# filter, makes another there; what is to be taken back would overwrite that
removed() {
	how=$1 before=$2 says=$3 fault=${4:-:} code=${4:+128}
	test_expect_success "taken back, $how: not over an ignored file that came where one had gone" '
		begin && put x.ign=base && git add -f x.ign && git commit -qm x && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git rm -q x.ign; git commit -qam one; put z=z" && put g@5M && git add g && git commit -qm mine && picture >../before && eval "$before" && test_expect_code 3 git agent land $how $s && git agent review --accept-all --critical $s && eval "$fault" &&
		test_expect_code ${code:-2} git agent land $how $s 2>../err && cat ../err && grep "$says" ../err && grep "files git does not track would be overwritten: x.ign" ../err && test "$(cat x.ign)" = LATER && rm -f .git/hooks/* .git/info/attributes &&
		mv x.ign ../later && eval "$(sed -n "s/^hint: .*move them away, then .\(git reset --[a-z]* [0-9a-f]*\). goes back\.*$/\1/p" ../err)" && rm -f z && picture >../after && test_cmp ../before ../after && git agent list | grep "^$s .*captured"
	'
}
later="printf '#!/bin/sh\ntest -e f && test -e x.ign || echo LATER >x.ign\n'"
made='GIT_AGENT_FAULT=land:made:fail && export GIT_AGENT_FAULT && test_when_finished "unset GIT_AGENT_FAULT"'
for how in --merge --squash '--squash --no-commit' '--merge --no-commit'; do
	case $how in *no-commit) h='prepare-commit-msg post-merge post-index-change' ;; *) h=post-merge ;; esac
	removed "$how" "for h in $h; do $later >.git/hooks/\$h && chmod +x .git/hooks/\$h; done" 'which could not be taken back' "$made"
done
removed --rebase "$later >.git/hooks/post-commit && chmod +x .git/hooks/post-commit; echo 'z filter=bad' >.git/info/attributes; git config filter.bad.smudge false; git config filter.bad.required true" 'git refused to merge'
removed --merge "printf '#!/bin/sh\necho LATER >x.ign; kill -9 \$PPID\n' >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit" 'git was interrupted, merging agent'

# A merge driver makes a file in the way of git's own merge, the second, which is then given up.
cat >driver <<'EOF'
#!/bin/sh
if rm "$HOME/once"; then echo mine >n; else : >"$HOME/once"; fi
git merge-file "$1" "$2" "$3"
EOF
chmod +x driver
test_expect_success 'uncommitted work that git puts back from a stash is not said to be as it was' '
	begin && put d/h@ && echo "\$Id\$" >>d/h && git commit -qam id && git agent start -q --name st -- sh -c "$words put f@2A n=n" && put f@8M && git commit -qam mine && echo "d/h ident" >.git/info/attributes && echo "f merge=mine" >>.git/info/attributes && git config merge.mine.driver "$HOME/driver %A %O %B" &&
	echo edit >>d/h && chmod 600 d/h && for way in merge squash; do
		test_must_fail git agent land --$way st 2>../err && cat ../err && grep "^hint: nothing was committed; files are not as they were: n; .*; git wrote uncommitted changes anew, whose permissions, line ends and .\$Id\$. may be others: d/h$" ../err && test "$(cat n)" = mine && tail -n1 d/h | grep edit && rm n || return 1
	done && git checkout -q d/h && test_must_fail git agent land st 2>../err && cat ../err && grep "^hint: nothing was committed; files are not as they were: n; see .git status.$" ../err && rm n .git/info/attributes && git agent land st && git agent list | grep "^st .*landed"
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


# ---- what arrived otherwise

# What it goes back over is the session's alone, never commits of the user's.
test_expect_success 'merged again by plain git, with a commit of the user between: not undone by the first landing' '
	begin && git agent start -q --name p -- sh -c "$words put f@2A; git commit -qam one" && git agent land p && git commit -q --allow-empty -m mine && git agent resume -q p -- sh -c "$words put g@2A; git commit -qam two" && git merge -q -m plain agent/p && git agent land p && picture >../before && test_expect_code 128 git agent land --undo p 2>../err && cat ../err && grep "no landing of session .p. to undo" ../err && grep "hint: what brought it is not noted, or not any more, and your branch was at $(git rev-parse --short=10 HEAD) then: .git log .*; what earlier landings kept is in .*/p/undo" ../err && picture >../after && test_cmp ../before ../after && git agent list | grep "^p .*landed"
'
# kept: its landing overwrote a file, was killed before it was noted, and arrives otherwise
kept() {
	begin && git agent start -q --name k -- sh -c "$words put f@2A x.ign=theirs" && put x.ign=mine && { GIT_AGENT_FAULT=land:made:kill git agent land --merge --with-ignored x.ign --force k; test $? = 137; } && notes=$(echo "$HOME"/.local/state/git-agent/*/sessions/k/undo) && content x.ign=mine | test_cmp - "$notes/1/0"
}
test_expect_success 'what a note has of the user stays when it is not what undoing goes by, or cannot be read' '
	kept && git commit -q --allow-empty -m mine && git agent land k && git agent list | grep "^k .*landed" && content x.ign=mine | test_cmp - "$notes/1/0" && picture >../before && test_expect_code 128 git agent land --undo k 2>../err && cat ../err && grep "what earlier landings kept is in $notes$" ../err && picture >../after && test_cmp ../before ../after &&
	git agent resume -q k -- sh -c "$words put g@2A" && git agent land k && content x.ign=mine | test_cmp - "$notes/1/0" && git agent land --undo k && test_expect_code 128 git agent land --undo k 2>../err && grep "no landing of session" ../err && git agent drop --force k &&
	kept && GIT_AGENT_FAULT=land:read:fail git agent land k && git agent list | grep "^k .*landed" && content x.ign=mine | test_cmp - "$notes/1/0" && test_expect_code 128 git agent land --undo k 2>../err && grep "no landing of session" ../err
'
test_expect_success 'a landing that was killed before its note had anything hides no earlier one from what comes after' '
	begin && git agent start -q --name empty -- sh -c "$words put f@2A; git commit -qam one" && git agent land empty && git agent resume -q empty -- sh -c "$words put g@2A; git commit -qam two" &&
	mkdir "$(ls -d "$HOME"/.local/state/git-agent/*/sessions/empty/undo)/2" && git merge -q -m plain agent/empty && git commit -q --allow-empty -m mine && git agent land empty && git agent resume -q empty -- sh -c "$words put h@2A; git add h; git commit -qam three" &&
	mine=$(git rev-parse HEAD) && git agent land empty && git agent land --undo empty && test "$(git rev-parse HEAD)" = "$mine" && test_must_fail git agent land --undo empty && test "$(git rev-parse HEAD)" = "$mine"
'
# unnoted HOW: a second landing did not get as far as to have a record; where the notes are
unnoted() {
	begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one" && picture >../start && git agent land $s && picture >../before && git agent resume -q $s -- sh -c "$words put g@2A; git commit -qam two" &&
		notes=$(echo "$HOME"/.local/state/git-agent/*/sessions/$s/undo) && case $1 in kill) code=137 ;; *) code=128 ;; esac && test_expect_code $code env GIT_AGENT_FAULT=land:record:$1 git agent land $2 $s 2>../err && cat ../err && picture >../after && test_cmp ../before ../after
}
test_expect_success 'a landing that has no record hides no earlier one: that is the last, and can be undone' '
	unnoted fail && test ! -e "$notes/2" && test -e "$notes/1/record" && git agent land --undo $s && picture >../after && test_cmp ../start ../after &&
	unnoted kill && test -e "$notes/2" && mkdir "$notes/4" && git agent land --undo $s && picture >../after && test_cmp ../start ../after && test_expect_code 128 git agent land --undo $s 2>../err && grep "no landing of session .$s. to undo" ../err && ! grep "what earlier landings kept" ../err && git agent land $s && test "$(ls "$notes")" = 1 && git agent land --undo $s && picture >../after && test_cmp ../start ../after &&
	unnoted kill && git agent land $s && test "$(echo $(ls "$notes"))" = "1 2" && git agent land --undo $s && git agent land --undo $s && picture >../after && test_cmp ../start ../after
'
test_expect_success 'the same where the user resolved a conflict' '
	begin && git agent start -q --name res -- sh -c "$words put f@2A" && git agent land res && picture >../before && git agent resume -q res -- sh -c "$words put g@2A" && put g@2M && git commit -qam mine && test_expect_code 4 git agent land res && put g@2R && git add g && notes=$(echo "$HOME"/.local/state/git-agent/*/sessions/res/undo) && GIT_AGENT_FAULT=land:record:fail test_expect_code 128 git agent land --continue res && test "$(ls "$notes")" = 1 &&
	git agent land --continue res && git agent land --undo res && git reset -q --hard HEAD^ && picture >../after && test_cmp ../before ../after && git agent land --undo res && test_expect_code 128 git agent land --undo res
'
test_expect_success 'undone, and killed as the note was to be removed: that one is gone, the one before it is there' '
	unnoted fail && git agent land $s && { GIT_AGENT_FAULT=land:forget:kill git agent land --undo $s; test $? = 137; } && picture >../after && test_cmp ../before ../after && git agent land --undo $s && picture >../after && test_cmp ../start ../after && test -z "$(ls "$notes")"
'
for how in merge squash rebase ff-only; do
	test_expect_success "killed before it was noted, $how: undone, unless the user committed since" '
		for since in : "git commit -q --allow-empty -m mine" "git agent list; git commit -q --allow-empty -m mine"; do
			begin && k=k$(count) && git agent start -q --name $k -- sh -c "$words put f@2A; git commit -qam one" && picture >../start && { GIT_AGENT_FAULT=land:made:kill git agent land --$how $k; test $? = 137; } && { test $how != squash || git commit -qm squashed; } && eval "$since" && git agent land $k && picture >../before && if test "$since" = :; then git agent land --undo $k && picture >../after && test_cmp ../start ../after
			else test_must_fail git agent land --undo $k 2>../err && cat ../err && grep -e "no landing of session .$k. to undo" -e "has moved since agent/$k was to land" ../err && picture >../after && test_cmp ../before ../after; fi || return 1
		done
	'
done

test_expect_success 'a power cut took the state that says it landed: HEAD says it, and it can be undone' '
	for cut in "" "rm -f made done" "rm -f made"; do
		for since in : "git agent list" "git agent land \$k"; do
			begin && k=k$(count) && git agent start -q --name $k -- sh -c "$words put f@2A; git commit -qam one" && picture >../start && git agent land --merge $k && dir=$(ls -d "$HOME"/.local/state/git-agent/*/sessions/$k) && : >"$dir/session" && (cd "$dir/undo/1" && eval "$cut") &&
			eval "$since" && git agent list | grep "^$k .*landed" && git agent land --undo $k && picture >../after && test_cmp ../start ../after || return 1
		done
	done
'

test_expect_success 'what git made is noted before that it landed: undone, however many commits it is' '
	for how in --merge --squash --rebase --ff-only; do
		for what in kill fail; do
			begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one; put g@2A; git commit -qam two" && { test $how = --ff-only || git commit -q --allow-empty -m mine; } && picture >../start && { GIT_AGENT_FAULT=land:result:$what git agent land $how $s; test $? -gt 0; } && git agent land $s && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../start ../after || return 1
		done
	done
'
# resolved PUT: a conflict was, and --continue is killed when it had committed
resolved() {
	begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one" && put f@2M && git commit -qam mine && picture >../start && test_expect_code 4 git agent land $s && put f@2R && git add f && { GIT_AGENT_FAULT=land:committed:$1 git agent land --continue $s; test $? -gt 0; } && test "$(git rev-parse HEAD^2)" = "$(git rev-parse agent/$s)"
}
test_expect_success 'resolved by the user, and killed before that was noted: undone, unless the user committed since' '
	for what in kill fail; do resolved $what && git agent land $s && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../start ../after || return 1; done &&
	for since in "git commit -q --allow-empty -m on" "put f@2R3X; git commit -q --amend -am else" "git reset -q --hard HEAD^; git merge -q agent/\$s; put f@2R3X; git add f; git commit -qm hand" ; do
		resolved kill && eval "$since" && git agent land $s && picture >../before && test_expect_code 128 git agent land --undo $s 2>../err && cat ../err && grep "no landing of session" ../err && picture >../after && test_cmp ../before ../after || return 1
	done
'
test_expect_success 'killed before it was noted, given up, and done by the user with an edit of his in it: not undone' '
	for how in "merge -q --squash" "merge -q --no-ff --no-commit"; do
		begin && k=k$(count) && git agent start -q --name $k -- sh -c "$words put f@2A; git commit -qam one" && git commit -q --allow-empty -m mine && was=$(git rev-parse HEAD) && { GIT_AGENT_FAULT=land:made:kill git agent land --squash $k; test $? = 137; } && git reset -q --merge $was &&
		git $how agent/$k && put g@5M && git commit -qam "with mine" && git agent land $k && git agent list | grep "^$k .*landed" && picture >../before && test_expect_code 128 git agent land --undo $k 2>../err && cat ../err && grep "no landing of session" ../err && picture >../after && test_cmp ../before ../after || return 1
	done
'

test_expect_success 'a landing that came to nothing leaves the one before it to be undone' '
	begin && picture >../start && git agent start -q --name t -- sh -c "$words put f@2A" && git agent land t && picture >../before && git agent resume -q t -- sh -c "$words put g@2A" && put g@2M && git commit -qam mine && test_expect_code 4 git agent land t && git agent land --abort t && git reset -q --hard HEAD^ &&
	git agent land t && git agent land --undo t && picture >../after && test_cmp ../before ../after && git agent land --undo t && picture >../after && test_cmp ../start ../after && test_expect_code 128 git agent land --undo t
'

test_expect_success 'killed, said to have landed by who looked: undone all the same' '
	for at in made result; do
		for how in merge rebase ff-only; do
			begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one" && { test $how = ff-only || git commit -q --allow-empty -m mine; } && picture >../start && { GIT_AGENT_FAULT=land:$at:kill git agent land --$how $s; test $? = 137; } && git agent list | grep "^$s .*landed" && git agent land $s && git agent land --undo $s && picture >../after && test_cmp ../start ../after || return 1
		done
	done
'
test_expect_success 'the same of a second landing' '
	for at in made result; do
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@2A; git commit -qam one" && git agent land $s && git agent resume -q $s -- sh -c "$words put g@2A; git commit -qam two" && git commit -q --allow-empty -m mine && picture >../start && { GIT_AGENT_FAULT=land:$at:kill git agent land $s; test $? = 137; } && git agent list | grep "^$s .*landed" && git agent land $s && git agent land --undo $s && picture >../after && test_cmp ../start ../after || return 1
	done
'

test_expect_success 'killed, the rest brought by the next: both are undone at once, also what the first had brought' '
	for at in made result brought; do
		begin && put f@8M && s=s$(count) && git agent start -q --name $s -- sh -c "$words put f@8B2A old@2A" && picture >../start && { GIT_AGENT_FAULT=land:$at:kill git agent land $s; test $? = 137; } && git agent land $s && git agent list | grep "^$s .*landed" && notes=$(echo "$HOME"/.local/state/git-agent/*/sessions/$s/undo) && test "$(ls "$notes")" = 2 && git agent land --undo $s && picture >../after && test_cmp ../start ../after && git agent list | grep "^$s .*captured" || return 1
	done
'

test_done
