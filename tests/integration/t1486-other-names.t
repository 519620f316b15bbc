#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='uncommitted work that the agent moves or copies to other names stays off the branch'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# No commit of the branch, if there is one, shows the line: clear SESSION LINE
clear() {
	! git rev-parse -q --verify "refs/heads/agent/$1" >/dev/null || git log -p -m --format= "main..agent/$1" >../log &&
		{ ! test -e ../log || ! grep "^[-+ ]*$2" ../log; } && rm -f ../log
}
# The JSON list, one a line: left_out SESSION
left_out() {
	git agent review --format=json "$1" | python3 -c 'import json, sys; [print(p["path"]) for p in json.load(sys.stdin)["left_out"]]'
}

# cell NAME KEY=VALUE...
#     dirty    what the user has when the session starts (commands); W is in no commit
#     agent    what the agent does (commands)
#     user     what the user does meanwhile (commands)
#     branch   the states that the branch has, and HEAD after landing
#     out      what is left out
#     work     the states of the working tree after landing
cell() {
	cell_name=$1
	shift
	dirty=: agent='' user=: branch='' out='' work=''
	for kv in "$@"; do
		eval "${kv%%=*}=\${kv#*=}"
	done
	test_expect_success "$cell_name" '
		begin && eval "$dirty" && s=s$(count) && git agent start -q --name $s -- sh -ec "$words $agent" && eval "$user" && picture >../before &&
		clear $s W && printf "%s\n" $out | sed "/^$/d" >../want && left_out $s >../out && test_cmp ../want ../out &&
		git agent land --dry-run $s && picture >../after && test_cmp ../before ../after && git agent land $s &&
		eval "state $branch" >../want && head_is >../is && test_cmp ../want ../is && eval "state $work" >../want && work_is >../is && test_cmp ../want ../is &&
		git agent list | grep "^$s .*landed" && git fsck --strict --no-dangling &&
		git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
}

# ---- moved and copied

cell 'moved' dirty='put f@8W' agent='mv f new' out='f new' work='-f new@8W'
cell 'moved, beside other work of the agent'\''s' dirty='put f@8W' agent='mv f new; put g@2A' branch='g@2A' out='f new' work='-f new@8W g@2A'
cell 'moved and edited' dirty='put f@8W' agent='put f@2A3B8W; mv f e/x || { mkdir e; mv f e/x; }' out='e/x f' work='-f e/x@2A3B8W'
cell 'moved, and the work taken out of it' dirty='put f@8W' agent='rm f; put new@2A' branch='new@2A' out=f work='-f new@2A'
cell 'copied' dirty='put f@8W' agent='cp f new; put g@2A' branch='g@2A' out=new work='f@8W new@8W g@2A'
cell 'copied and edited, and edited' dirty='put f@8W' agent='put f@2A8W new@3B8W' branch='f@2A' out=new work='f@2A8W new@3B8W'
cell 'moved onto a file' dirty='put f@8W' agent='mv f g' out='f g' work='-f g@8W'
cell 'moved onto a file in a directory' dirty='put f@8W' agent='mv f d/h' out='d/h f' work='-f d/h@8W'
cell 'moved onto other uncommitted work' dirty='put f@8W g@5M' agent='mv f g' out='f g' work='-f g@8W'
cell 'pasted onto other uncommitted work' dirty='put f@8W g@5M' agent='put g@5M8W' out=g work='f@8W g@5M8W'
cell 'a directory moved' dirty='put d/h@8W' agent='mv d k' out='d/h k/h' work='-d/h k/h@8W'
cell 'executable from then on' dirty='put f@8W' agent='mv f new; chmod +x new' user='! git agent land $s; git agent review --accept-all $s' out='f new' work='-f "new*@8W"'
cell 'moved, its mode the work' dirty='put "f*@"; put g@8W' agent='mv f new; mv g more' user='git agent review --accept-all $s' branch='"new*@"' out='f g more' work='-f "new*@" -g more@8W'
cell 'an untracked file moved' dirty='put u@8W' agent='mv u new' out=new work='u@8W new@8W'
cell 'an untracked file moved and edited' dirty='put u@8W' agent='put -u new@2A8W' out=new work='u@8W new@2A8W'
cell 'an untracked file copied' dirty='put u=W' agent='cp u new; put g@2A' branch='g@2A' out=new work='u=W new=W g@2A'
cell 'a link' dirty='ln -sfn W link; put f@8W' agent='mv link there; put g@2A' branch=g@2A out='link there' work='f@8W -link "there>W" g@2A'
# ---- within the file

test_expect_success 'a line moved within the file stays off the branch with the file' '
	begin && sed -i 2aW f && git agent start -q --name within -- sh -c "$words { grep -v W f; echo \"  W\"; } >n; cat n >f; rm n; put g@2A; git add .; git commit -qm 1; echo 10 >>f" &&
	left_out within >../out && echo f | test_cmp - ../out && clear within W && git diff --name-only main agent/within >../out && echo g | test_cmp - ../out &&
	git agent land within && { seq 9; echo "  W"; echo 10; } | test_cmp - f && state g@2A >../want && head_is >../is && test_cmp ../want ../is &&
	git agent land --undo within && { seq 2; echo W; seq 3 9; } | test_cmp - f
'

# ---- in commits

c='git add -A; git commit -qm'
cell 'moved in a commit, moved again in another' dirty='put f@8W' agent="git mv f new; $c 1; mkdir e; git mv new e/x; $c 2; put g@2A; $c 3" branch='g@2A' out='e/x f' work='-f e/x@8W g@2A'
cell 'edited beyond likeness in steps' dirty='put f@8W' agent="mv f new; $c 1; put new@1A2A3A8W; $c 2; put -new x@1A2A3A4A5A6A7A8W; $c 3" out='f x' work='-f x@1A2A3A4A5A6A7A8W'
cell 'edited beyond likeness at once' dirty='put f@8W' agent="mv f new; $c 1; { seq 50 70; echo W; } >new; $c 2; put g@2A; $c 3; seq 50 70 >new; rm new" branch='g@2A' out=f work='-f g@2A'
cell 'moved and brought back' dirty='put f@8W' agent="mv f new; $c 1; mv new f; put g@2A; $c 2" branch='g@2A' work='f@8W g@2A'
cell 'moved, and not committed' dirty='put f@8W' agent="put g@2A; $c 1; mv f new" branch='g@2A' out='f new' work='-f new@8W g@2A'

# ---- what is not the user's

cell 'a copy of what HEAD has' dirty='put f@8W' agent='put new@2A more@' branch='new@2A more@' work='f@8W new@2A more@'
cell 'a line that the file had before' dirty='put g@5C; git commit -qam g; put f@5C8W' agent='put g@2A5C' branch=g@2A5C work='f@5C8W g@2A5C'
cell 'executable only' dirty='put "f*@"' agent='cat f >new; put k@2A' branch='new@ k@2A' work='f*@ new@ k@2A'
cell 'nothing in it' dirty='put u= f@8W' agent='put new=' branch='new=' work='u= f@8W new='
cell 'a copy of what HEAD has elsewhere' dirty='put u@ f@8W' agent='put new@ more@3B' branch='new@' out='more' work='u@ f@8W new@ more@3B'

test_expect_success 'a line of brackets is nobody'\''s' '
	begin && { seq 9; echo "}"; echo; echo W; } >f && git agent start -q --name br -- sh -c "{ seq 9; echo \"}\"; echo; echo A; } >new" &&
	left_out br >../out && test ! -s ../out && git cat-file -e agent/br:new
'

test_expect_success 'lines that the user took out of a file are his work as well' '
	begin && sed -i /5/d f && git agent start -q --name min -- sh -c "sed s/2/A/ f >new; rm f; sed s/2/A/ g >more" &&
	printf "f\nnew\n" >../want && left_out min >../out && test_cmp ../want ../out && git diff --name-only main agent/min >../out && echo more | test_cmp - ../out &&
	git agent land min && test ! -e f && seq 9 | sed "s/2/A/;/5/d" | test_cmp - new && git agent land --undo min && test -e f && test ! -e new
'

test_expect_success 'binary content is known as it is' '
	begin && printf "\0W\n" >f && git agent start -q --name bin -- sh -c "cp f new; printf \"\\0W\\nV\\n\" >more" &&
	left_out bin >../out && echo new | test_cmp - ../out && git cat-file -e agent/bin:more && ! git cat-file -e agent/bin:new 2>/dev/null
'

test_expect_success 'review says so, and git has nothing to merge of it' '
	begin && put f@8W && git agent start -q --name rv -- sh -c "$words mv f new; put g@2A" && git agent review rv >../out && sed -n "/^left out of the branch/,/^\$/p" ../out >../part && grep "^  f$" ../part && grep "^  new$" ../part && grep "^+W" ../out &&
	git merge -q --no-edit agent/rv && git status --porcelain >../out && echo " M f" | test_cmp - ../out && grep W f && test ! -e new
'

test_expect_success 'what a branch of the user'\''s has is on it, merged inside' '
	begin && git switch -qc side && put old@8W && git commit -qam side && git switch -q main && put f@8W &&
	git agent start -q --name known -- sh -c "$words git merge -q --no-edit side; put g@2A; git commit -qam more" &&
	left_out known >../out && test ! -s ../out && git diff --name-only main agent/known >../out && printf "g\nold\n" | test_cmp - ../out && git show agent/known:old | grep W && ! git show agent/known:f | grep W
'

test_expect_success 'it stays off the branch when the session goes on, and comes in the end' '
	begin && put f@8W u@7W && git agent start -q --name res -- sh -c "$words mv f new; cp u v; put g@2A" && printf "f\nnew\nv\n" >../want && left_out res >../out && test_cmp ../want ../out && clear res W &&
	git agent resume -q res -- sh -c "$words git add -A; git commit -qm all; mkdir e; git mv new e/x; git commit -qm again; put g@2A3B" &&
	printf "e/x\nf\nv\n" >../want && left_out res >../out && test_cmp ../want ../out && clear res W && git show agent/res:g | grep B &&
	git agent land res && test ! -e f && state -f e/x@8W u@7W v@7W g@2A3B >../want && work_is >../is && test_cmp ../want ../is && ! git grep W HEAD
'

test_expect_success 'nor when it goes on with a branch that was taken further' '
	begin && put f@8W && git agent start -q --name nb -- sh -c "$words mv f new; put g@2A" && git stash -q && git switch -q agent/nb && put d/h@2B && git commit -qam more && git switch -q main && git stash pop -q &&
	git agent resume -q nb -- sh -c "$words git add -A; git commit -qm all; put g@2A3B" && printf "f\nnew\n" >../want && left_out nb >../out && test_cmp ../want ../out && clear nb W && git show agent/nb:d/h | grep B &&
	git agent land nb && state -f new@8W g@2A3B d/h@2B >../want && work_is >../is && test_cmp ../want ../is
'

test_expect_success 'at the name of a file that an earlier run made, it is told where it is' '
	begin && put f@8W && git agent start -q --name over -- sh -c "seq 50 70 >new" && git agent resume -q over -- sh -c "mv f new" && printf "f\nnew\n" >../want && left_out over >../out && test_cmp ../want ../out && clear over W &&
	picture >../before && git agent land over 2>../err && grep "not brought: new: the branch has another version; .git show refs/agent/over/carried:new. has" ../err && git show refs/agent/over/carried:new | grep W && git agent list | grep "^over .*captured" &&
	git agent land --undo over && picture >../after && test_cmp ../before ../after
'

test_expect_success 'committed by the user meanwhile: then it is committed under the other name as well' '
	begin && put f@8W && git agent start -q --name com -- sh -c "$words cp f new; put g@2A" && git commit -qam W && git agent land com &&
	state f@8W g@2A new@8W >../want && work_is >../is && test_cmp ../want ../is && head_is >../is && test_cmp ../want ../is && git status --porcelain >../out && test ! -s ../out
'

test_done
