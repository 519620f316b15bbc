#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing rebased, in part, uncommitted, edited, as configured'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

two='put f@2A && git commit -qam "first of two" && put g@2B && git commit -qam "second of two"'

test_expect_success 'rebased: the commits anew on HEAD, in a line, with what is dirty elsewhere; undone' '
	begin && git agent start -q --name r -- sh -c "$words $two; put new=rest" && put old@2C && git commit -qam meanwhile && put old@2C8M && picture >../before &&
	git agent land --rebase r && git log --format=%s >../log && sed -n 2,4p ../log >../is && printf "second of two\nfirst of two\nmeanwhile\n" >../want && test_cmp ../want ../is && test "$(wc -l <../log)" = 5 &&
	! git rev-parse -q --verify HEAD^2 && state f@2A g@2B old@2C8M new=rest >../want && work_is >../is && test_cmp ../want ../is && git agent list | grep "^r .*landed" && git agent land --undo && picture >../after && test_cmp ../before ../after
'

test_expect_success 'a conflict of a rebase is an ordinary one: given up, or gone on with, and undone' '
	begin && git agent start -q --name c -- sh -c "$words $two && put f@2A8D && git commit -qam third" && put g@2C && git commit -qam meanwhile && picture >../before &&
	test_expect_code 4 git agent land --rebase c 2>../err && grep "rebasing agent/c conflicts in g" ../err && grep "hint: .*git agent land --continue c" ../err && git status | grep -i cherry-pick &&
	test_expect_code 4 git agent land --continue c && git agent land --abort c && picture >../after && test_cmp ../before ../after && test_expect_code 128 git agent land --abort c &&
	test_expect_code 4 git agent land --rebase c && put g@2X && git add g && git agent land --continue c && state f@2A8D g@2X >../want && head_is >../is && test_cmp ../want ../is && test "$(git log -1 --format=%s)" = third &&
	git agent list | grep "^c .*landed" && git agent land --undo && picture >../after && test_cmp ../before ../after &&
	test_expect_code 4 git agent land --rebase c && put g@2C && git add g && git agent land --continue c && git log --format=%s | grep -c "of two" | grep -x 1 && git agent list | grep "^c .*landed" &&
	git switch -q -c other HEAD^ && git switch -q - && git agent start -q --name d -- sh -c "$words put f@5Y" && put f@5X && git commit -qam x && git branch side HEAD^ && git switch -q side && put f@5Z && git commit -qam z && ! git cherry-pick main &&
	test_expect_code 128 git agent land --continue d 2>../err && grep "no landing of agent/d was left" ../err && test_expect_code 128 git agent land --abort d && test -e .git/CHERRY_PICK_HEAD
'

test_expect_success 'rebased: what is there already is passed over; nothing is rebased onto work in the way' '
	begin && git agent start -q --name p -- sh -c "$words $two" && git cherry-pick agent/p^ >/dev/null && git agent land --rebase p && test "$(git rev-list --count HEAD)" = 3 && git agent land --undo p &&
	put g@8M && picture >../before && test_expect_code 2 git agent land --rebase p 2>../err && grep "cannot be rebased: g$" ../err && picture >../after && test_cmp ../before ../after &&
	test_expect_code 129 git agent land --rebase -m x p && test_expect_code 129 git agent land --rebase --squash p
'

test_expect_success 'a part: one commit of those paths, undone by name; the session has landed with the last of them' '
	begin && git agent start -q --name q -- sh -c "$words put f@2A g@2A d/h@2A d/n=n -old" && put f@8M && git add g && picture >../before &&
	test_expect_code 128 git agent land q -- none 2>../err && grep "agent/q has nothing to land at .none." ../err && test_expect_code 129 git agent land q -- ../r/.. && test_expect_code 129 git agent land --merge q -- f && test_expect_code 129 git agent land q f &&
	git agent land --dry-run q -- d f && picture >../after && test_cmp ../before ../after && (cd d && git agent land -m "some of it" q -- . ../f 2>../../err) && grep "agent/q: landed in part" ../err &&
	test "$(git log -1 --format=%s)" = "some of it" && ! git rev-parse -q --verify HEAD^2 && state f@2A8M d/h@2A d/n=n >../want && work_is >../is && test_cmp ../want ../is && state f@2A d/h@2A d/n=n >../want && head_is >../is && test_cmp ../want ../is && index_is >../is && test_cmp ../want ../is &&
	git agent list | grep "^q .*captured" && git agent land --undo q && picture >../after && test_cmp ../before ../after &&
	git agent land q -- d && picture >../one && git agent land --json q -- f g >../json && python3 -c "import json,sys;o=json.load(sys.stdin);assert o[\"landed\"] and o[\"rest\"]" <../json && git agent land -- "$PWD/old" && git agent list | grep "^q .*landed" && git log -1 --format=%B | grep -x "\* old" &&
	git agent land --undo q && git agent list | grep "^q .*captured" && git agent land --undo q && picture >../after && test_cmp ../one ../after && git agent land --undo q && picture >../after && test_cmp ../before ../after &&
	git agent land q -- f && git checkout -q f && git agent land q && state f@2A g@2A d/h@2A d/n=n -old >../want && head_is >../is && test_cmp ../want ../is && git agent list | grep "^q .*landed"
'

test_expect_success 'the top of the working tree, by whatever name: all of it as one commit, which says so' '
	begin && git agent start -q --name top -- sh -c "$words put f@2A; git commit -qam first; put d/n=n old@2A8M; git add -A; git commit -qm second" && put g@8M && picture >../before &&
	for at in ". ." ". ./" ". $PWD" ". d/.." "d .." "d ../."; do
		(cd ${at% *} && git agent land --dry-run top -- ${at#* } && git agent land top -- ${at#* }) && git agent list | grep "^top .*landed" && git log -1 --format=%B >../got && printf "Squash agent/top\n\n* first\n* second\n\n" | test_cmp - ../got && ! git rev-parse -q --verify HEAD^2 && state f@2A d/n=n old@2A8M >../want && head_is >../is && test_cmp ../want ../is && git agent land --undo top && picture >../after && test_cmp ../before ../after || return 1
	done && git agent land top -- f . && git agent list | grep "^top .*landed" && git agent land --undo top && git agent land top -- f && git agent land top -- . && git agent list | grep "^top .*landed" && test_expect_code 129 git agent land top -- "" && test_expect_code 129 git agent land top -- .. && test_expect_code 129 git agent rules explain .
'
test_expect_success 'the top of the working tree, with what is on no branch, and of a session that has nothing' '
	begin && put f@8M && git agent start -q --name topc -- sh -c "$words put f@2A8M" && git commit -qam mine && git agent land topc -- . && state f@2A8M >../want && head_is | test_cmp ../want - && git agent list | grep "^topc .*landed" &&
	git agent start -q --name none -- true && test_expect_code 0 git agent land none -- . 2>../err && cat ../err
'
test_expect_success 'a landing while an am waits' '
	begin && git agent start -q --name am -- sh -c "$words put f@2A" && put f@2M && git commit -qam mine && git format-patch -q -1 --stdout >../patch && git reset -q --hard HEAD^ && put f@2C && git commit -qam c && ! git am -q ../patch && test_expect_code 2 git agent land am 2>../err && cat ../err && grep "git-agent: an am is in progress" ../err && git am --abort
'

test_expect_success 'a part: flags of the rest do not block it, its own do; conflicts are refused' '
	begin && git agent start -q --name fl -- sh -c "$words put f@2A Makefile=all: g@2A; mkdir -p .vscode; echo {} >.vscode/tasks.json" && test_expect_code 3 git agent land fl && git agent land fl -- f && head_is | grep " f$" &&
	test_expect_code 3 git agent land fl -- Makefile .vscode && test_expect_code 3 git agent land fl && put g@2C && git commit -qam c && picture >../before && test_expect_code 2 git agent land fl -- g 2>../err && grep "conflicts with what is committed: g" ../err && picture >../after && test_cmp ../before ../after
'

test_expect_success 'stopped before the commit: the merge, or what is squashed, is the user'\''s to commit' '
	begin && git agent start -q --name n -- sh -c "$words put f@2A" && put g@8M && git agent land --no-commit n 2>../err && grep "not committed yet" ../err && test -e .git/MERGE_HEAD && git agent list | grep "^n .*captured" && git agent land --abort n && test ! -e .git/MERGE_HEAD &&
	git agent land --no-commit n && git agent land --continue n && git agent list | grep "^n .*landed" && git rev-parse -q --verify HEAD^2 && git agent land --undo n &&
	git agent land --squash --no-commit n && git diff --cached --name-only | grep -x f && git commit -qm mine && git agent list | grep "^n .*landed" &&
	git agent start -q --name o -- sh -c "$words put f@2A5O" && put f@2A8M && picture >../before && test_expect_code 2 git agent land --no-commit o 2>../err && grep "cannot be left uncommitted: f$" ../err && picture >../after && test_cmp ../before ../after && test_expect_code 129 git agent land --no-commit --ff-only o
'

test_expect_success 'the message in the editor, for each way that has one' '
	printf "#!/bin/sh\nsed -i 1s/\$/,\ edited/ \"\$1\"\necho \"# a comment\" >>\"\$1\"\n" >"$HOME/an editor" && chmod +x "$HOME/an editor" && GIT_EDITOR="\"$HOME/an editor\"" && export GIT_EDITOR && begin && git agent start -q --name e -- sh -c "$words put f@2A" && edited() {
		test "$(git log -1 --format=%s)" = "$1 agent/e, edited" && ! git log -1 --format=%B | grep comment && git agent land --undo e
	} && git agent land -e e && edited Merge && git agent land --edit --squash e && edited Squash && git agent land -e e -- f && edited "Land a part of" &&
	put f@8M && git agent land -e e && edited Merge && git agent land -e --squash e && edited Squash && git agent land -e -m "mine agent/e" e && edited mine &&
	picture >../before && GIT_EDITOR=false && test_expect_code 128 git agent land -e e && picture >../after && test_cmp ../before ../after && test_expect_code 129 git agent land -e --ff-only e
'

test_expect_success 'an editor that fails is told of where git has merged already' '
	begin && git agent start -q --name ef -- sh -c "$words put f@2A" && git commit -q --allow-empty -m m && GIT_EDITOR=false && export GIT_EDITOR && for how in --merge --squash; do
		test_expect_code 4 git agent land -e $how ef 2>../err && grep "not committed: the editor, a hook or signing refused it" ../err && git reset -q --merge || return 1
	done
'
# What git does by commit.cleanup, without the editor and with it, is done beside uncommitted work as well.
for cleanup in '' default strip whitespace verbatim; do
	test_expect_success "a message is cleaned up as git does it, with commit.cleanup${cleanup:+=}$cleanup" '
		begin && s=w$(count) && git agent start -q --name $s -- sh -c "$words put f@2A" && git commit -q --allow-empty -m m && { test -z "$cleanup" || git config commit.cleanup "$cleanup"; } && printf "subject \n\n\n# a comment\nbody\n\n\n" >../text && GIT_EDITOR="cp ../text" && export GIT_EDITOR && message() {
			git agent land "$@" $s && git cat-file commit HEAD | sed "1,/^\$/d" | awk 1 >../$f.message && git agent land --undo $s
		} && for how in --merge --squash; do
			for edit in "" -e; do
				f=git && message $how $edit -m "$(cat ../text)" && put f@8M && f=beside && message $how $edit -m "$(cat ../text)" && put f@ && test_cmp ../git.message ../beside.message || return 1
			done
		done
	'
done

test_expect_success 'the way is configured, by the user and not by a repository' '
	mkdir -p "$HOME/.config/git-agent" && echo "land: squash" >"$HOME/.config/git-agent/config.yaml" && test_when_finished "rm $HOME/.config/git-agent/config.yaml" && begin && git agent start -q --name w -- sh -c "$words $two" &&
	git commit -q --allow-empty -m meanwhile && git agent land w && test "$(git log -1 --format=%s)" = "Squash agent/w" && git agent land --undo w && git agent land --merge w && git rev-parse -q --verify HEAD^2 && git agent land --undo w &&
	git agent -c land=rebase land w && test "$(git log -1 --format=%s)" = "second of two" && git agent land --undo w && test_expect_code 128 git agent -c land=ff-only land w && test_expect_code 129 git agent -c land=fast land w 2>../err && grep "merge, squash, rebase or ff-only" ../err &&
	git agent land w -- f && git agent land --undo w && echo "land: merge" >.agentdev.yaml && git add .agentdev.yaml && git commit -qm conf && test_must_fail git agent start -q --name v -- true 2>../err && grep "land" ../err
'

test_expect_success 'hooks of the working tree that the agent changed do not run, whichever way' '
	begin && mkdir .githooks && printf "#!/bin/sh\necho mine >>../ran\n" >.githooks/post-merge && cp .githooks/post-merge .githooks/post-commit && cp .githooks/post-merge .githooks/pre-commit && cp .githooks/post-merge .githooks/pre-merge-commit && chmod +x .githooks/* && git add . && git commit -qm hooks && git config core.hooksPath .githooks &&
	git agent start -q --name h -- sh -c "for f in .githooks/*; do echo echo evil\\ \\>\\>../ran >>\$f; done; echo a >a" && test_expect_code 3 git agent land h && git agent review --reject h .githooks && : >../ran && for how in merge squash rebase ff-only; do
		git agent land --$how h && test -e a && git agent land --undo h || return 1
	done && git agent land h -- a && git agent land --undo h && put g@5M && git add g && for how in merge squash ff-only; do
		git agent land --$how h && test -e a && git agent land --undo h || return 1
	done && grep mine ../ran && ! grep evil ../ran
'

test_lazy_prereq SSHKEY 'ssh-keygen -q -t ed25519 -N "" -f key'
test_expect_success SSHKEY 'rebased commits and parts are signed' '
	echo "author@example.com $(cat key.pub)" >allowed && git config --global gpg.format ssh && git config --global user.signingkey "$PWD/key.pub" && git config --global gpg.ssh.allowedSignersFile "$PWD/allowed" && test_when_finished "git config --global --unset commit.gpgsign" &&
	begin && git agent start -q --name s -- sh -c "$words $two" && git commit -q --allow-empty -m meanwhile && git config --global commit.gpgsign true && git agent land --rebase s && git verify-commit HEAD && git verify-commit HEAD^ && git agent land --undo s && git agent land s -- f && git verify-commit HEAD
'

test_expect_success 'rerere and merge drivers of the user'\''s do their work' '
	begin && git config rerere.enabled true && git agent start -q --name rr -- sh -c "$words put f@2A" && put f@2C && git commit -qam c && test_expect_code 4 git agent land rr && put f@2X && git add f && git agent land --continue rr && git agent land --undo rr &&
	test_expect_code 4 git agent land rr 2>../err && state f@2X >../want && work_is >../is && test_cmp ../want ../is && git agent land --abort rr &&
	echo "f merge=mine" >.git/info/attributes && git config merge.mine.driver "cp %B %A" && git agent land rr && state f@2A >../want && head_is >../is && test_cmp ../want ../is
'

for how in squash rebase; do
	test_expect_success "the same with --$how" '
		begin && git config rerere.enabled true && git agent start -q --name r$how -- sh -c "$words put f@2A" && put f@2C && git commit -qam c && test_expect_code 4 git agent land --$how r$how && put f@2X && git add f && git commit -qm resolved && git reset -q --hard HEAD~ &&
		test_expect_code 4 git agent land --$how r$how && state f@2X >../want && work_is >../is && test_cmp ../want ../is && git reset -q --merge && rm -f .git/CHERRY_PICK_HEAD &&
		echo "f merge=mine" >.git/info/attributes && git config merge.mine.driver "cp %B %A" && git agent land --$how r$how && state f@2A >../want && head_is >../is && test_cmp ../want ../is && git agent list | grep "^r$how .*landed"
	'
done

# again NAME: what the user resolved once conflicts again, and git stages that by itself
again() {
	begin && git config rerere.enabled true && git agent start -q --name $1 -- sh -c "$words put f@2A" && put f@2C && git commit -qam c && test_expect_code 4 git agent land $1 && put f@2X && git add f && git agent land --continue $1 && git agent land --undo $1 && git config rerere.autoupdate true && git rev-parse HEAD >../head
}
for how in merge rebase; do
	test_expect_success "what rerere resolved and staged is told of as that, and gone on with: --$how" '
		again au$how && test_expect_code 4 git agent land --$how au$how 2>../err && cat ../err && grep "git resolved the conflicts of agent/au$how as before (rerere)" ../err && grep "^hint: look at it with .git diff HEAD., then .git agent land --continue au$how.; or --abort to go back" ../err && git rev-parse HEAD | test_cmp ../head - && test -z "$(git ls-files -u)" && git diff --cached --name-only | grep -x f &&
		git agent land --abort au$how && test -z "$(git status --porcelain)" && git rev-parse HEAD | test_cmp ../head - && test_expect_code 4 git agent land --$how au$how && git agent land --continue au$how && content f@2X | test_cmp - f && git agent list | grep "^au$how .*landed"
	'
done
test_expect_success 'the same with --squash, which the user commits' '
	again ausq && test_expect_code 4 git agent land --squash ausq 2>../err && cat ../err && grep "git resolved the conflicts of agent/ausq as before (rerere), and did not commit that$" ../err && grep "^hint: look at it with .git diff HEAD., then .git commit.; or .git reset --merge. to go back" ../err && git diff --cached --name-only | grep -x f && git reset -q --merge && test -z "$(git status --porcelain)" && git rev-parse HEAD | test_cmp ../head -
'
test_expect_success 'a hook that refuses the commit is told of as before' '
	begin && git config rerere.enabled true && git config rerere.autoupdate true && git agent start -q --name auh -- sh -c "$words put f@2A" && put g@2C && git commit -qam c && printf "#!/bin/sh\nexit 1\n" >.git/hooks/pre-merge-commit && chmod +x .git/hooks/pre-merge-commit && test_expect_code 4 git agent land auh 2>../err && grep "the merge is done but was not committed: a hook or signing refused it" ../err && rm .git/hooks/pre-merge-commit && git agent land --continue auh
'

# What git says goes to the terminal: nothing of the agent's that a terminal would act on.
shown() {
	cat -v ../err && ! LC_ALL=C grep "$(printf "\033\|\302\233\|\342\200\256")" ../err
}
test_expect_success 'rebased: subjects of the session'\''s reach no terminal unescaped' '
	begin && git agent start -q --name sub -- sh -c "$words put f@2A; git commit -qam \"\$(printf \"s\\033[31m\\302\\233\\342\\200\\256end\")\"" && put f@2C && git commit -qam c && test_expect_code 4 git agent land --rebase sub 2>../err && shown && grep -F "could not apply" ../err && grep -F "s\\e[31m\\u{9b}\\u{202e}end" ../err && git agent land --abort sub
'
test_expect_success 'nor do names that a later commit takes away, also where it is gone on with' '
	begin && git agent start -q --name nam -- sh -c "$words put f@2A; git commit -qam one; n=\$(printf \"bad\\033[31m\\302\\233\\342\\200\\256x\"); echo bad >\"\$n\"; git add -A; git commit -qm two; git rm -q \"\$n\"; put g@2A; git commit -qam three" && echo "bad* filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true && git agent review --accept-all --critical nam && test_must_fail git agent land --rebase nam 2>../err && shown && grep "git refused to merge agent/nam" ../err &&
	put f@2C && git commit -qam c && test_expect_code 4 git agent land --rebase nam && put f@2X && git add f && test_must_fail git agent land --continue nam 2>../err && shown && grep "git refused to make the next commit of agent/nam" ../err && git agent land --abort nam
'
test_expect_success 'nor does what git says of attributes, whichever way, nor of those that a later commit takes away' '
	bytes="\\033[31m\\302\\233\\342\\200\\256" && for how in --merge --squash --rebase --ff-only; do
		begin && a=a$(count) && git agent start -q --name $a -- sh -c "$words printf \"*.x ${bytes}x\\n*.y working-tree-encoding=UTF-$bytes\\n\" >.gitattributes; put n.x=x n.y=y; git -c core.attributesFile=/dev/null add .gitattributes; git add n.x; git commit -qm one" >../out 2>&1 && git cat-file blob agent/$a:.gitattributes >../is && LC_ALL=C grep "$(printf "\033")" ../is && { test $how = --ff-only || git commit -q --allow-empty -m c; } && git agent review --accept-all $a && git agent land $how $a 2>../err && shown && git agent list | grep "^$a .*landed" || return 1
	done &&
	begin && git agent start -q --name ato -- sh -c "$words printf \"*.x ${bytes}x\\n\" >.gitattributes; put n.x=x; git add .; git commit -qm one; git rm -q .gitattributes; put n.x=y; git commit -qam two" >../out 2>&1 && git agent review --accept-all ato && git commit -q --allow-empty -m c && git agent land --rebase ato 2>../err && shown && content n.x=y | test_cmp - n.x
'
test_expect_success 'what a hook says is shown beside attributes that have nothing of that' '
	begin && git agent start -q --name atp -- sh -c "$words printf \"*.x text\\n\" >.gitattributes; put n.x=x; git add .; git commit -qm one" && git agent review --accept-all atp && printf "#!/bin/sh\necho the hook >&2\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && git agent land atp 2>../err && grep "^the hook$" ../err
'

# A file where the other side has a directory is put beside it, by the name of its side.
test_expect_success 'rebased: a file that is not tracked, where a conflict would put one, is refused' '
	begin && git agent start -q --name df -- sh -c "$words git rm -q g; mkdir g; echo n >g/n; git add g; git commit -qam dir; put f@2A; git commit -qam two" && git agent review --accept-all --critical df >../out && put g@2M && git commit -qam mine && echo "*~*" >>.git/info/exclude && put g~=backup &&
	for name in HEAD HEAD_0; do
		echo precious >"g~$name" && picture >../before && test_expect_code 2 git agent land --rebase df 2>../err && cat ../err && grep "files git does not track would be overwritten: g~$name\$" ../err && picture >../after && test_cmp ../before ../after && rm "g~$name" || return 1
	done && picture >../before && test_expect_code 4 git agent land --rebase df && git agent land --abort df && picture >../after && test_cmp ../before ../after
'
test_expect_success 'the same of the side of the session' '
	begin && git agent start -q --name fd -- sh -c "$words put g@3A; git commit -qam \"change g/x\"" && git rm -q g && mkdir g && echo 1 >g/new && git add g && git commit -qm dir && echo "*~*" >>.git/info/exclude && name="g~$(git rev-parse --short agent/fd) (change g_x)" && echo precious >"$name" && picture >../before &&
	test_expect_code 2 git agent land --rebase fd 2>../err && cat ../err && grep -F "$name" ../err && picture >../after && test_cmp ../before ../after && rm "$name" && test_expect_code 4 git agent land --rebase fd && git agent land --abort fd
'

test_expect_success 'of a squash git does not say that it stopped, and of what fails it does say why' '
	begin && git agent start -q --name sq -- sh -c "$words put f@2A z=z" && git commit -q --allow-empty -m mine && printf "#!/bin/sh\necho from a hook >&2\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge &&
	git agent land --squash sq 2>../err && cat ../err && test "$(cat ../err)" = "from a hook
agent/sq: landed" && git agent land --undo sq && git agent land --squash --no-commit sq 2>../err && cat ../err && ! grep -i stopped ../err && git reset -q --merge &&
	echo "z filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true && test_must_fail git agent land --squash sq 2>../err && cat ../err && grep "smudge filter bad failed" ../err
'

test_expect_success 'hooks of the session in the directory of the user run when they were accepted, and not before' '
	begin && mkdir .githooks && for h in pre-merge-commit post-merge; do printf "#!/bin/sh\necho user $h >>\"%s/ran\"\n" "$HOME" >.githooks/$h && chmod +x .githooks/$h || return 1; done && git add -A && git commit -qm hooks && git config core.hooksPath .githooks && git agent start -q --name hk -- sh -c "cd .githooks && for h in *; do printf \"#!/bin/sh\\necho agent \$h >>\\\"$HOME/ran\\\"\\n\" >\$h; done; echo y >../y" && git -c core.hooksPath=/dev/null commit -q --allow-empty -m mine && rm -f ../ran &&
	test_expect_code 3 git agent land hk && ! grep -s agent ../ran && git agent review --accept-all --critical hk >../out && git agent land hk && cat ../ran && grep "agent post-merge" ../ran
'

test_done
