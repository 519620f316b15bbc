#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='sessions through a remote: pushed here, reviewed and landed there'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use remote
require_sandbox

test_that 'push sends branch and report, and with --held what is held' '
	team push &&
	cd push.here &&
	test_session w "$work" &&
	test_says "pushed agent/w and its report to origin" git agent push w &&
	git -C ../push.git for-each-ref --format="%(refname)" | sort >../got &&
	printf "%s\n" refs/agent/w/report refs/heads/agent/w refs/heads/main >../want &&
	test_cmp ../want ../got &&
	test "$(git -C ../push.git rev-parse agent/w)" = "$(git rev-parse agent/w)" &&
	! git -C ../push.git rev-list --objects --all | grep envrc &&
	test_says "with what is held" git agent push --held origin agent/w &&
	git -C ../push.git rev-parse refs/agent/w/held
'

test_that 'a fetched session is reviewed and landed like any other, and is seen as landed where it began' '
	cd push.there &&
	test_shows "^w .*and what is held" git agent fetch --dry-run origin &&
	test -z "$(agent_refs)" &&
	test_says "agent/w: 3 commits, 3 files changed" git agent fetch origin &&
	grep "next: git agent review w" ../err &&
	comes w &&
	test "$(git rev-parse agent/w)" = "$(git -C ../push.here rev-parse agent/w)" &&
	git agent show w | grep "^fetched from origin" &&
	git agent list | grep "^w .* open flags, from origin, " &&
	test_expect_code 3 git agent land w &&
	test_expect_code 2 git agent drop w &&
	git agent review w | grep Makefile &&
	git agent diff w | grep "+five" &&
	test_says "is up to date with the remote" git agent fetch origin &&
	git agent review --reject w .envrc &&
	git agent review --accept w Makefile &&
	git agent land w &&
	test -e Makefile &&
	test ! -e .envrc &&
	fsck &&
	git push -q origin main &&
	cd ../push.here &&
	test_state w captured &&
	git fetch -q &&
	git agent review --reject w .envrc &&
	test_state w landed &&
	cd ../push.there &&
	git agent land --undo w &&
	git agent land w &&
	git agent gc | grep "^session w" &&
	git agent drop --restore w &&
	git agent drop w
'

test_that 'a branch named agent is named, and nothing is fetched beside it' '
	git clone -q push.git push.branch &&
	cd push.branch &&
	git branch agent &&
	test_fails 128 "branch .agent. leaves no room" git agent fetch origin w &&
	grep "hint: .git branch -m agent NAME" ../err &&
	test -z "$(git for-each-ref refs/agent)" &&
	git agent list >../out &&
	test ! -s ../out &&
	git branch -m agent other &&
	git agent fetch origin w
'

test_that 'no object of the uncommitted work that a session began with is pushed' '
	team carried &&
	cd carried.here &&
	sed -i "s/^10\$/my own edit/" a &&
	echo "my own file" >own &&
	test_session c "
		sed -i \"s/^my .*/&, and agent/\" a
		echo by-agent >>b
		git commit -qam one
		echo more >>own
		echo e >.envrc
		echo all: >Makefile
		echo n >n" &&
	git agent diff --uncommitted c | grep "^+my own edit, and agent" &&
	git agent push --held c &&
	git -C ../carried.git for-each-ref --format="%(refname)" >../got &&
	grep -x refs/agent/c/held ../got &&
	git -C ../carried.git cat-file --batch-all-objects --batch >../all &&
	grep -a -x by-agent ../all &&
	! grep -a "own edit\|own file" ../all &&
	test "$(git -C ../carried.git show agent/c:n)" = n &&
	cd ../carried.there &&
	git agent fetch origin &&
	git agent review --reject c .envrc &&
	git agent review --accept c Makefile &&
	git agent land c &&
	test "$(sed -n 10p a)" = 10 &&
	test "$(tail -n 1 b)" = by-agent &&
	test ! -e own
'

test_that 'a fetched session cannot be resumed, and all else works' '
	team cmds &&
	cd cmds.here &&
	test_session c "$work" &&
	git agent push c &&
	cd ../cmds.there &&
	git agent fetch origin c 2>../err &&
	git agent show c &&
	git agent capture c &&
	test_fails 125 "was fetched from .origin.: it can be resumed only where it was started" \
		git agent resume c -- true &&
	agent_refs >../before &&
	git agent drop --force c &&
	test -z "$(agent_refs)" &&
	git agent drop --restore c &&
	agent_refs | test_cmp ../before - &&
	git agent review --accept-all c &&
	git agent land --squash c &&
	test -e n &&
	git agent land --undo c &&
	test ! -e n &&
	git agent start -q --base agent/c --name on -- sh -c "echo m >m" &&
	git agent push --held c
'

test_that 'rules run again where a session is fetched: hooks and settings there count' '
	team host "mkdir tools && echo true >tools/check" &&
	cd host.here &&
	test_session h "
		echo evil >tools/check
		echo all: >Makefile
		echo ok >ok" &&
	test_holds agent/h:tools/check evil &&
	git agent push h &&
	cd ../host.there &&
	test_script .git/hooks/pre-commit "sh tools/check" &&
	git agent guard on &&
	git fetch -q &&
	git agent fetch origin 2>../err &&
	test_holds agent/h:tools/check true &&
	! git cat-file -e agent/h:Makefile &&
	git cat-file -e agent/h:ok &&
	git rev-list agent/h --not main >../revs &&
	while read -r c; do test_holds $c:tools/check true || exit 1; done <../revs &&
	test_holds refs/agent/h/held:tools/check evil &&
	git rev-parse refs/agent/h/orig &&
	test_must_fail git merge -q origin/agent/h &&
	git reset -q --hard
'

test_that 'verdicts, flags and reports of a remote are not believed' '
	team lie &&
	cd lie.here &&
	test_session l "$work" &&
	git agent review --accept-all --critical l &&
	git agent show l | grep "0 open\|accepted" &&
	git cat-file -e agent/l:.envrc &&
	git agent push l &&
	cd ../lie.there &&
	git agent fetch origin &&
	comes l &&
	! git cat-file -e agent/l:.envrc &&
	! git rev-list agent/l | xargs -n 1 git ls-tree -r | grep envrc &&
	test_expect_code 3 git agent land l &&
	cd ../lie.here &&
	blob=$(echo "{}" | git hash-object -w --stdin) &&
	tree=$(printf "100644 blob $blob\treport.json\n" | git mktree) &&
	git push -q -f origin "$(git commit-tree -m x $tree):refs/agent/l/report" &&
	test_empty x &&
	cd ../lie.there &&
	git agent drop --force l &&
	git agent fetch origin l &&
	comes l
'

test_that 'fetch updates a session, unless it was decided about here' '
	team again &&
	cd again.here &&
	test_session g "$work" &&
	git agent push --held g &&
	cd ../again.there &&
	git agent fetch origin &&
	cd ../again.here &&
	test_resume g "echo more >more" &&
	git agent push --held g &&
	cd ../again.there &&
	test_says "4 commits" git agent fetch origin &&
	git cat-file -e agent/g:more &&
	comes g &&
	git agent review --reject g .envrc &&
	cd ../again.here &&
	test_resume g "echo again >again" &&
	git agent push --held g &&
	cd ../again.there &&
	agent_refs >../before &&
	test_fails 2 "has local review decisions" git agent fetch origin g &&
	agent_refs | test_cmp ../before - &&
	git agent drop --force g &&
	git agent fetch origin g &&
	git cat-file -e agent/g:again &&
	fsck &&
	git switch -q agent/g &&
	cd ../again.here &&
	test_resume g "echo third >third" &&
	git agent push g &&
	cd ../again.there &&
	test_fails 128 "checked out" git agent fetch origin g
'

test_that 'push deletes what was held from the remote once it is decided, or without --held' '
	team stale &&
	cd stale.here &&
	test_session w "$work" &&
	git agent push --held w &&
	git -C ../stale.git rev-parse refs/agent/w/held &&
	git -C ../stale.git update-ref refs/agent/other/held main &&
	git -C ../stale.git update-ref refs/agent/w/base main &&
	git agent push w &&
	test_must_fail git -C ../stale.git rev-parse -q --verify refs/agent/w/held &&
	git agent push --held w &&
	git -C ../stale.git rev-parse refs/agent/w/held &&
	git agent review --reject w .envrc &&
	git agent push --held w 2>../err &&
	! grep "held" ../err &&
	test_prints "agent/other/held\nagent/w/base\nagent/w/report\nheads/agent/w\nheads/main" \
		git -C ../stale.git for-each-ref --format="%(refname:lstrip=1)" &&
	cd ../stale.there &&
	git agent fetch --dry-run origin | grep "^w " | grep -v "held"
'

test_that 'another session of the same name on the remote is replaced by force only' '
	team same &&
	cd same.there &&
	test_session w "
		echo theirs >t
		echo e >.envrc" &&
	git agent push --held w &&
	git -C ../same.git for-each-ref >../before &&
	cd ../same.here &&
	test_session w "
		echo mine >m
		echo x >.envrc" &&
	test_fails 128 "cannot push to .origin.: \[rejected\] agent/w -> agent/w (fetch first)$" git agent push w &&
	grep "^hint: .*perhaps of another session: .git agent push --force origin w. replaces it" ../err &&
	test_expect_code 128 git agent push --held w &&
	git -C ../same.git for-each-ref | test_cmp ../before - &&
	test_script ../same.git/hooks/pre-receive "exit 1" &&
	test_fails 128 "cannot push to .origin.: \[remote rejected\] agent/w -> agent/w (pre-receive hook declined)$" \
		git agent push --force w &&
	! grep "^hint:" ../err &&
	rm ../same.git/hooks/pre-receive &&
	git agent push --force w &&
	test "$(git -C ../same.git rev-parse agent/w)" = "$(git rev-parse agent/w)" &&
	test "$(git -C ../same.git rev-parse refs/agent/w/report)" = "$(git rev-parse refs/agent/w/report)" &&
	test_must_fail git -C ../same.git rev-parse -q --verify refs/agent/w/held
'

test_that 'a session is fetched under another name where its own is taken' '
	team name &&
	cd name.here &&
	test_session s "echo theirs >s" &&
	git agent push s &&
	for name in heads/agent/Upper heads/agent/a/b heads/agent/-x agent/ghost/held; do
		git push -q origin agent/s:refs/$name || exit 1
	done &&
	cd ../name.there &&
	test_session s "echo mine >s" &&
	git agent fetch --dry-run --json origin | grep "\"name\":" >../names &&
	grep "\"s\"" ../names &&
	test "$(wc -l <../names)" = 1 &&
	git agent fetch origin &&
	test_holds agent/s:s mine &&
	test_fails 2 "there is another session .s. here" git agent fetch origin s &&
	git agent fetch origin agent/s:theirs &&
	test_holds agent/theirs:s theirs &&
	test_expect_code 1 git agent fetch origin nobody &&
	test_expect_code 129 git agent fetch origin s:Bad/Name &&
	test_expect_code 128 git agent fetch -- --upload-pack=touch &&
	test_expect_code 128 git agent push -- --exec=touch s &&
	git branch agent/free &&
	test_fails 128 "branch .agent/free., or one below it, exists" git agent fetch origin s:free &&
	test -z "$(ls -A "$HOME"/.local/state/git-agent/*/sessions | grep "^[.]")"
'

test_that 'a branch that is based on no commit here is refused, and nothing of it stays' '
	team base &&
	cd base.here &&
	test_empty unpushed &&
	test_session u "echo u >u" &&
	git agent push u &&
	cd ../base.there &&
	git agent fetch origin u &&
	git agent show --json u | grep "\"onto\": \"$(git rev-parse main)\"" &&
	cd ../base.here &&
	git checkout -q --orphan other &&
	git commit -qm root &&
	git branch agent/root &&
	git push -q origin agent/root &&
	cd ../base.there &&
	agent_refs >../before &&
	test_fails 128 "cannot tell what session .root. is based on: no branch or tag of .origin. that is here" \
		git agent fetch origin root &&
	agent_refs | test_cmp ../before - &&
	test ! -e "$HOME"/.local/state/git-agent/*/sessions/root &&
	cd ../base.here &&
	git switch -q main &&
	git branch agent/none main~1 &&
	git push -q origin agent/none &&
	cd ../base.there &&
	test_fails 1 "has nothing that is not on a branch here" git agent fetch origin none &&
	fsck
'

test_that 'a session on commits of the remote that are not here asks for git fetch' '
	team late &&
	cd late.here &&
	test_empty newer &&
	git push -q origin main &&
	test_session l "echo l >l" &&
	git agent push l &&
	cd ../late.there &&
	agent_refs >../before &&
	test_fails 128 "is based on branch .main. of the remote, which has commits that are not here" \
		git agent fetch origin l &&
	grep "^hint: .git fetch origin., or name a commit" ../err &&
	agent_refs | test_cmp ../before - &&
	git fetch -q &&
	git agent fetch origin l &&
	git agent show --json l | grep "\"onto\": \"$(git rev-parse origin/main)\""
'

test_that 'a file that is as it was before the base need not be sent' '
	team old &&
	cd old.here &&
	git rm -q b &&
	git commit -qm "remove b" &&
	git push -q origin main &&
	git branch agent/o "$(git commit-tree -m "b again" -p main main~1^{tree})" &&
	git push -q origin agent/o &&
	git rev-parse agent/o >../sent &&
	test_script ../send "cat >/dev/null
exec git pack-objects --stdout -q <\"$HOME/sent\"" &&
	cd ../old.there &&
	git fetch -q origin main &&
	git config --global uploadpack.packObjectsHook "$HOME/send" &&
	test_when_finished "git config --global --unset uploadpack.packObjectsHook" &&
	git agent fetch origin o &&
	git cat-file -e agent/o:b &&
	fsck
'

test_that 'the base is given, or a branch that an address lists and HEAD contains' '
	team addr &&
	cd addr.here &&
	test_session u "echo u >u" &&
	git agent push u &&
	test_empty newer &&
	git push -q origin main &&
	cd ../addr.there &&
	test_fails 128 "cannot tell what session .u. is based on" git agent fetch ../addr.git u &&
	grep "^hint: .*--base REV" ../err &&
	test_expect_code 129 git agent fetch --base main ../addr.git &&
	test_expect_code 128 git agent fetch --base nothing ../addr.git u &&
	orphan=$(git commit-tree -m orphan main^{tree}) &&
	test_fails 128 "has no commit in common with $(echo $orphan | cut -c1-12)" \
		git agent fetch --base $orphan ../addr.git u &&
	git agent fetch --base main ../addr.git u &&
	git agent show --json u | grep "\"onto\": \"$(git rev-parse main)\"" &&
	git agent drop --force u &&
	git pull -q &&
	test_empty mine &&
	git agent fetch ../addr.git u &&
	git agent show --json u | grep "\"onto\": \"$(git rev-parse main~2)\""
'

test_that 'a tag counts that the remote lists as it is here' '
	team tags &&
	cd tags.here &&
	test_empty off &&
	git tag -a -m v1 v1 &&
	git reset -q --hard main~1 &&
	git branch agent/v "$(git commit-tree -m work -p v1^{commit} main^{tree})" &&
	git push -q origin v1 agent/v &&
	cd ../tags.there &&
	git fetch -q origin tag v1 &&
	git agent fetch origin v &&
	git agent show --json v | grep "\"onto\": \"$(git rev-parse v1^{commit})\"" &&
	git agent drop --force v &&
	git tag -f -a -m mine v1 v1^{commit} &&
	test_fails 128 "has commits of a branch or tag here that the remote is not known to have" \
		git agent fetch origin v
'

for point in downloaded objects refs; do
	test_that "a fetch that is killed at fetch:$point is done again, and leaves nothing" '
		rm -rf kill.* &&
		team kill &&
		cd kill.here &&
		test_session k "$work" &&
		git agent push --held k &&
		cd ../kill.there &&
		{
			GIT_AGENT_FAULT=fetch:$point:kill git agent fetch origin
			test $? = 137
		} &&
		git agent list &&
		git status &&
		git agent fetch origin k &&
		comes k &&
		git agent review --accept-all --critical k &&
		git agent land k &&
		test -e .envrc &&
		git fsck --strict &&
		s=$HOME/.local/state/git-agent/$(head -n 1 .git/git-agent/id)/sessions &&
		find "$s" -maxdepth 1 -name ".*" -exec touch -d "2 days ago" {} + &&
		git agent gc &&
		ls -A "$s" >../left &&
		test ! -s ../left &&
		test -z "$(find .git/objects -name "tmp_objdir*")"
	'
done

test_that 'a relative address leads from the working tree, and a wrong one is named' '
	team rel &&
	cd rel.here &&
	test_session w "echo w >w" &&
	git agent push w &&
	cd ../rel.there &&
	git remote set-url origin ../rel.git &&
	mkdir -p deep &&
	(cd deep && git agent fetch --dry-run origin >../../out && git agent fetch origin) &&
	grep "^w " ../out &&
	git cat-file -e agent/w:w &&
	git remote set-url origin ../nowhere.git &&
	test_fails 128 "cannot ask remote .origin.: .*nowhere.git.* does not appear to be a git repository" \
		git agent fetch origin
'

test_that 'a remote that is this repository itself is refused' '
	test_enter self a &&
	git switch -q -c follows --track main &&
	git config branch.follows.remote &&
	test_session self "
		echo e >.envrc
		echo b >b" &&
	git for-each-ref >../want &&
	git cat-file -e refs/agent/self/held:.envrc &&
	test_fails 128 "push to .origin" git agent push self &&
	git remote add me "$PWD/.git" &&
	for remote in . me "$PWD" "file://$PWD"; do
		test_fails 128 "is this repository itself" git agent push "$remote" self &&
		git for-each-ref | grep -v refs/remotes/ | test_cmp ../want - ||
			exit 1
	done &&
	git init -q --bare ../else.git &&
	git remote add origin ../else.git &&
	git agent push self &&
	git -C ../else.git cat-file -e agent/self:b &&
	git for-each-ref | grep -v refs/remotes/ | test_cmp ../want - &&
	git agent review --accept self .envrc
'

test_done
