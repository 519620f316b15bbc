#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='uncommitted changes of the user are in no commit of a session, and land uncommitted'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# No commit of the session's refs shows the line: clear SESSION LINE
clear() {
	git for-each-ref --format='%(objectname)' "refs/heads/agent/$1" "refs/agent/$1" >../refs &&
	git log -p -m --root --format= --stdin --not main <../refs >../log &&
	! grep "^[-+ ]*$2" ../log
}
# The JSON list, one a line: left_out SESSION
left_out() {
	git agent review --format=json "$1" |
		python3 -c 'import json, sys; [print(p["path"]) for p in json.load(sys.stdin)["left_out"]]'
}

# rule NAME KEY=VALUE...: the path rule
#     dirty    what the user has when the session starts (commands); W is in no commit
#     agent    what the agent does (commands)
#     branch   the paths that the branch changes; none: there is no branch
#     out      the uncommitted part
rule() {
	cell_name=$1
	shift
	dirty=: agent='' branch='' out=''
	for kv in "$@"; do
		eval "${kv%%=*}=\${kv#*=}"
	done
	test_expect_success "uncommitted work that is in no commit: $cell_name" '
		begin &&
		eval "$dirty" &&
		s=s$(count) &&
		git agent start -q --name $s -- sh -ec "$words $agent" &&
		clear $s W &&
		printf "%s\n" $out | sed "/^$/d" >../want &&
		left_out $s >../out &&
		test_cmp ../want ../out &&
		printf "%s\n" $branch | sed "/^$/d" >../want &&
		{
			! git rev-parse -q --verify refs/heads/agent/$s >/dev/null ||
				git diff --no-renames --name-only main agent/$s
		} >../out &&
		test_cmp ../want ../out
	'
}
c='git add -A; git commit -qm'

# ---- what the agent does to the files themselves

rule 'edited, also in commits' dirty='put f@8W u=W' \
	agent="put f@2A8W; $c 1; put g@2A u=W2; $c 2; put f@8W; $c 3" branch=g out=u
rule 'restored to HEAD, and committed' dirty='put f@8W g@8W' agent="git checkout -q HEAD~1 -- f g; $c back" out='f g'
rule 'deleted: untracked and staged files' dirty='put u=W st=W; git add st' agent='rm u st' out='st u'
rule 'created again where the user deleted it' dirty='rm f; put g@8W' agent='put f@; put k@' branch=k out=f
rule 'made executable' dirty='put f@8W' agent='chmod +x f g' branch=g out=f

# ---- renames

rule 'moved' dirty='put f@8W' agent='mv f new' out='f new'
rule 'moved and edited' dirty='put f@8W' agent='put f@2A8W; mkdir e; mv f e/x; put g@2A' \
	branch=g out='e/x f'
rule 'moved again and edited beyond likeness in commits' dirty='put f@8W' agent="git mv f new; $c 1
	put -new x@1A2A3A8W; $c 2; mkdir e; mv x e/x; put g@2A; $c 3; put e/x@1A2A3A4A5A6A7A8W; $c 4" \
	branch=g out='e/x f'
rule 'a directory moved' dirty='put d/h@8W d/i@7W' agent='mv d k' out='d/h d/i k/h k/i'
rule 'moved onto a file' dirty='put f@8W; git rm -q --cached g' agent='mv f k; put old@2A' branch=old out='f k'
rule 'not of a copy' dirty='put f@8' agent='cp f new' branch=new
rule 'not of an empty file' dirty='put u=' agent='rm u; put new=' branch=new out=u

# ---- files and directories

rule 'a directory in place of an untracked file' dirty='put u=W' agent='rm u; mkdir u; put u/x=A g@2A' \
	branch=g out='u u/x'
rule 'a file in place of an untracked directory, and back, in commits' dirty='put e/u=W' \
	agent="rm -r e; put e=A; $c 1; rm e; put e/u=A e/v=B; $c 2" branch=e/v out=e/u

# ---- elsewhere than on its branch

rule 'on another branch, in the stash, on a tag, on an orphan branch' dirty='put f@8W u=W' agent="
	git switch -qc side; put f@2A8W k@; $c side; git switch -q -; put f@3A8W; git stash -q; put f@4A8W
	git tag t \$(git commit-tree -p HEAD -m t \$(git add f; git write-tree)); git reset -q --hard
	git checkout -q --orphan other; git commit -qm other
	git switch -qf agent/\$(git for-each-ref --format='%(refname:lstrip=3)' 'refs/heads/agent/*'); put g@2A" \
	branch=g out=

test_expect_success 'uncommitted work that only another branch of the agent has is named, and not dropped' '
	begin &&
	put f@8W &&
	git agent start --name br -- sh -c "
		$words git switch -qc side
		put f@2A8W
		git commit -qam side
		git switch -q -" 2>../err &&
	grep "note: the agent.s branch side has changes to your uncommitted work" ../err &&
	clear br W &&
	test_must_fail git agent drop br &&
	git agent drop --force br
'

test_expect_success 'a branch of the user that the agent merged keeps what it has' '
	begin &&
	git switch -qc side &&
	put f@2S old@2S &&
	git commit -qam side &&
	git switch -q main &&
	put f@8W &&
	test_session known "
		$words git stash -q 2>/dev/null
		git merge -q --no-edit side
		put g@2A
		git commit -qam more" &&
	clear known W &&
	git diff --name-only main agent/known >../out &&
	printf "f\ng\nold\n" | test_cmp - ../out &&
	git show agent/known:f | grep S
'

test_expect_success 'a session with nothing but uncommitted changes has no branch, and is not dropped' '
	begin &&
	put f@8W g@8W &&
	test_says "^agent/back: no commit, but uncommitted changes$" \
		git agent start --name back -- git checkout -q HEAD~1 -- f g &&
	grep "uncommitted changes: f " ../err &&
	test_must_fail git rev-parse -q --verify refs/heads/agent/back &&
	git agent list | grep "^back .*uncommitted changes" &&
	test_shows uncommitted git agent show back &&
	test_shows "^uncommitted changes: " git agent review back &&
	grep "^-W" ../out &&
	test_says "not landed" test_must_fail git agent drop back
'

test_done
