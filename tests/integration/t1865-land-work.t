#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing beside uncommitted work: every state of a path'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# cell NAME KEY=VALUE...
#     dirty    what the user has when the session starts (commands)
#     agent    what the agent makes of it
#     user     what the user does meanwhile (commands)
#     how      way to land (--merge)
#     work index head   the states afterwards
#     no       refused with exit status 2 and nothing touched; the message has this
#     also     commands that hold afterwards
cell() {
	cell_name=$1
	shift
	dirty=: agent='' user=: how='' work='' index='' head='' no='' also=:
	for kv in "$@"; do
		eval "${kv%%=*}=\${kv#*=}"
	done
	if [ -n "$no" ]; then
		test_expect_success "$cell_name: refused, nothing touched" '
			begin && eval "$dirty" && s=s$(count) && git agent start -q --name $s -- sh -c "$words put $agent" && eval "$user" && picture >../before &&
			test_expect_code 2 git agent land --dry-run $how $s && test_expect_code 2 git agent land $how $s 2>../err && cat ../err && grep -e "$no" ../err && picture >../after && test_cmp ../before ../after &&
			git agent list | grep "^$s .*captured" && eval "$also"
		'
		return
	fi
	test_expect_success "$cell_name" '
		begin && eval "$dirty" && s=s$(count) && git agent start -q --name $s -- sh -c "$words put $agent" && eval "$user" && picture >../before && git rev-parse HEAD >../was &&
		git agent land --dry-run $how $s && picture >../after && test_cmp ../before ../after &&
		git agent land $how $s && state $work >../want && work_is >../is && test_cmp ../want ../is &&
		state $index >../want && index_is >../is && test_cmp ../want ../is && state $head >../want && head_is >../is && test_cmp ../want ../is &&
		git agent list | grep "^$s .*landed" && test ! -e .git/index.lock && test ! -e .git/MERGE_HEAD && git fsck --strict --no-dangling && eval "$also" &&
		git agent land --undo $s && picture >../after && test_cmp ../before ../after && git agent list | grep "^$s .*captured"
	'
}

# ---- what was not there when the session began

cell 'clean' agent=f@2A work=f@2A index=f@2A head=f@2A
cell 'dirty elsewhere' agent=f@2A user='put g@5M' work='f@2A g@5M' index=f@2A head=f@2A
cell 'dirty, another hunk of the file' agent=f@2A user='put f@8M' work=f@2A8M index=f@2A head=f@2A
cell 'dirty, the same hunk' agent=f@2A user='put f@2M' no='overlap with what is to land: f'
# 'git stash' would remove what is in it, and refuses what is only intended to be added
cell 'a directory in its place' agent=f@2A user='rm f; put f/u=u' no='move away the directories that stand in place of files'
cell 'intended, and new in the session' agent=u=a user='put u=u; git add -N u' no='reset. what is only intended to be added'
cell 'dirty, the same change' agent=f@2A user='put f@2A' work=f@2A index=f@2A head=f@2A
cell 'staged elsewhere' agent=f@2A user='put g@5M; git add g' work='f@2A g@5M' index='f@2A g@5M' head=f@2A
cell 'staged, another hunk' agent=f@2A user='put f@8M; git add f' work=f@2A8M index=f@2A8M head=f@2A
cell 'staged, the same hunk' agent=f@2A user='put f@2M; git add f' no='overlap with what is to land: f'
cell 'staged, and changed further' agent=f@2A user='put f@8M; git add f; put f@5N8M' work=f@2A5N8M index=f@2A8M head=f@2A
cell 'staged, and changed back' agent=f@2A user='put f@8M; git add f; put f@' work=f@2A index=f@2A8M head=f@2A
cell 'staged the same hunk, changed back' agent=f@2A user='put f@2M; git add f; put f@' no='staged changes overlap with what is to land: f'
cell 'staged new elsewhere' agent=f@2A user='put s=s; git add s' work='f@2A s=s' index='f@2A s=s' head=f@2A
cell 'deleted, not staged' agent=f@2A user='put -f' no='overlap with what is to land: f'
cell 'deleted and staged' agent=f@2A user='git rm -q f' no='overlap with what is to land: f'
cell 'deleted elsewhere' agent=f@2A user='git rm -q g; put -old' work='f@2A -g -old' index='f@2A -g' head=f@2A
cell 'deleted on both sides' agent=-old user='put -old g@1M; git add g' work='-old g@1M' index='-old g@1M' head=-old
cell 'deleted by the agent, changed here' agent=-old user='put old@2M' no='overlap with what is to land: old'
cell 'executable here, changed there' agent=f@2A user='put "f*@"' work='f*@2A' index=f@2A head=f@2A
cell 'executable there, changed here' agent='"f*@"' user='git agent review --accept-all $s; put f@8M' work='f*@8M' index='f*@' head='f*@'
cell 'executable here, staged' agent=f@2A user='put "f*@"; git add f; put "f*@5M"' work='f*@2A5M' index='f*@2A' head=f@2A
cell 'untracked in the way, the same' agent=new=x user='put new=x g@5M' work='new=x g@5M' index=new=x head=new=x
cell 'untracked in the way, another' agent=new=x user='put new=y' no='git does not track would be overwritten: new'
cell 'a fifo in the way' agent=new=x user='mkfifo new' no='git does not track would be overwritten: new'
cell 'a fifo in the place of a file' agent=f@2A user='rm f; mkfifo f; put g@5M' no='git does not track would be overwritten: f'
cell 'untracked directory in the way' agent=new=x user='put new/y=y' no='git does not track would be overwritten: new/y'
cell 'untracked file where a directory comes' agent=new/x=x user='put new=y' no='git does not track would be overwritten: new'
cell 'intended to be added, the same' agent=new=x user='put new=x; git add -N new' work=new=x index=new=x head=new=x
cell 'intended to be added, another' agent=new=x user='put new=y; git add -N new' no='overlap with what is to land: new'
cell 'intended to be added elsewhere' agent=f@2A user='put new=y f@8M; git add -N new' work='new=y f@2A8M' index='f@2A new=' head=f@2A \
	also='git status --porcelain | grep "^ A new"'
cell 'a directory in place of files' agent='-d/h d=x' user='put g@5M; git add g' work='-d/h d=x g@5M' index='-d/h d=x g@5M' head='-d/h d=x'
cell 'files in place of a file' agent='-old old/x=x' user='put f@5M; git add f' work='-old old/x=x f@5M' index='-old old/x=x f@5M' head='-old old/x=x'
cell 'a link there, another dirty file' agent='"link>g" f@2A' user='put f@8M' work='link>g f@2A8M' index='link>g f@2A' head='link>g f@2A'
cell 'a link changed on both sides' agent='"link>g"' user='ln -sfn old link' no='overlap with what is to land: link'
cell 'a link in place of a file' agent=f@2A user='ln -sfn g f' no='overlap with what is to land: f'
cell 'binary on both sides' agent='-f; printf "\\0001" >f' user='printf "\0002" >f' no='overlap with what is to land: f'

# ---- committed meanwhile

cell 'committed meanwhile, dirty elsewhere in the file' agent=f@2A user='put f@5C; git commit -qam c; put f@5C8M' work=f@2A5C8M index=f@2A5C head=f@2A5C
cell 'committed meanwhile, the same hunk' agent=f@2A user='put f@2C; git commit -qam c; put f@2C8M' no='conflicts with what is committed\|overlap'
cell 'committed meanwhile, and changed back' agent=f@2A user='put f@2C; git commit -qam c; put f@' work=f@2A index=f@2C head=f@2C
cell 'conflict in one file, work in another' agent='f@2A g@2A' user='put f@2C; git commit -qam c; put g@8M' no='conflicts with what is committed: f'
cell 'renamed here, changed there' agent=f@2A user='git mv f moved; git commit -qm mv; put moved@8M' work='-f moved@2A8M' index='-f moved@2A' head='-f moved@2A'
cell 'renamed there, dirty here' agent='-f moved@2A' user='put f@8M' no='overlap with what is to land: f'
cell 'renamed there, dirty elsewhere' agent='-f moved@2A' user='put g@8M; git add g' work='-f moved@2A g@8M' index='-f moved@2A g@8M' head='-f moved@2A'

# ---- carried from the start

cell 'carried, as it was' dirty='put f@8M' agent=f@2A8M work=f@2A8M index=f@2A head=f@2A
cell 'carried and staged' dirty='put f@8M; git add f' agent=f@2A8M work=f@2A8M index=f@2A8M head=f@2A
cell 'carried, then edited further' dirty='put f@8M' agent=f@2A8M user='put f@5N8M' work=f@2A5N8M index=f@2A head=f@2A
cell 'carried, then committed' dirty='put f@8M' agent=f@2A8M user='git commit -qam c; put g@5M; git add g' work='f@2A8M g@5M' index='f@2A8M g@5M' head=f@2A8M
cell 'carried, then discarded' dirty='put f@8M' agent=f@2A8M user='git checkout -q f; put f@5M' work=f@2A5M index=f@2A head=f@2A
cell 'inseparable, as it was' dirty='put f@2M' agent='f@2M3A g@2A' work='f@2M3A g@2A' index=g@2A head=g@2A
cell 'inseparable, then committed' dirty='put f@2M' agent='f@2M3A g@2A' user='git commit -qam c' work='f@2M3A g@2A' index='f@2M3A g@2A' head='f@2M3A g@2A'
cell 'inseparable, then committed and edited further' dirty='put f@2M' agent='f@2M3A g@2A' user='git commit -qam c; put f@2M8N' work='f@2M3A8N g@2A' index='f@2M3A g@2A' head='f@2M3A g@2A'
cell 'inseparable, staged, edited further' dirty='put f@2M; git add f' agent='f@2M3A g@2A' user='put f@2M8N' work='f@2M3A8N g@2A' index='f@2M g@2A' head=g@2A
cell 'carried untracked' dirty='put u@8M' agent='u@2A8M g@2A' user='put g@8M' work='u@2A8M g@2A8M' index=g@2A head=g@2A

# ---- repositories and flags of the index

cell 'ignored in the way, the same' agent='k.ign=x; git add -f k.ign; git commit -qm k' user='git agent review --accept-all --critical $s; put k.ign=x g@5M' work='k.ign=x g@5M' index=k.ign=x head=k.ign=x
cell 'ignored in the way, another' agent='k.ign=x; git add -f k.ign; git commit -qm k' user='git agent review --accept-all --critical $s; put k.ign=y' no='git does not track would be overwritten: k.ign'
cell 'assumed unchanged, changed' agent='f@2A g@2A' user='git update-index --assume-unchanged f; put f@8M g@8M' work='f@2A8M g@2A8M' index='f@2A g@2A' head='f@2A g@2A' also='git ls-files -v f | grep "^h f"'
cell 'skipped in the working tree' agent='f@2A g@2A' user='git update-index --skip-worktree f; rm f; put g@8M' work='-f g@2A8M' index='f@2A g@2A' head='f@2A g@2A' also='git ls-files -v f | grep "^S f"'
cell 'sparse' agent='d/h@2A g@2A' user='git sparse-checkout set --no-cone "/*" "!/d"; put g@8M' work='-d/h g@2A8M' index='d/h@2A g@2A' head='d/h@2A g@2A' also='git ls-files -v d/h | grep "^S d/h"'
left_out='git ls-files -t >../tags && test "$(grep -v "^H" ../tags)" = "$(printf "S d/h\nS d/n")" && test ! -e d'
cell 'sparse, new there and elsewhere' agent='d/h@2A d/n=n e/n=n' user='git sparse-checkout set --no-cone "/*" "!/d"; put g@8M' how='' work='-d/h e/n=n g@8M' index='d/h@2A d/n=n e/n=n' head='d/h@2A d/n=n e/n=n' also="$left_out"
cell 'sparse, new there and elsewhere, staged' agent='d/h@2A d/n=n e/n=n' user='git sparse-checkout set --no-cone "/*" "!/d"; put g@8M; git add g' work='-d/h e/n=n g@8M' index='d/h@2A d/n=n e/n=n g@8M' head='d/h@2A d/n=n e/n=n' also="$left_out"
cell 'a cone, new outside of it, staged' agent='d/h@2A d/n=n e/n=n n=n' user='git sparse-checkout set --cone e; put g@8M; git add g' work='-d/h e/n=n n=n g@8M' index='d/h@2A d/n=n e/n=n n=n g@8M' head='d/h@2A d/n=n e/n=n n=n' also="$left_out"
cell 'a cone, and a file stands where a new one is left out' agent='d/n=n' user='git sparse-checkout set --cone e; put d/n=n g@8M; git add g' work='-d/h d/n=n g@8M' index='d/n=n g@8M' head='d/n=n' also='git ls-files -t d | grep "^H d/n"'
cell 'sparse no more' agent='d/n=n' user='git sparse-checkout set --cone e; git sparse-checkout disable; put g@8M; git add g' work='d/n=n g@8M' index='d/n=n g@8M' head='d/n=n'
test_expect_success 'a cone, and only new paths outside of it, named from within' '
	begin && mkdir in && put in/a@ && git add in && git commit -qm in && git agent start -q --name cone -- sh -c "$words put d/h@2A d/n=n in/a@2A" && git sparse-checkout set --cone in && picture >../before && (cd in && git agent land cone -- ../d) && test ! -e d && git ls-files -t d >../tags && printf "S d/h\nS d/n\n" | test_cmp - ../tags && git status --porcelain >../out && test_cmp /dev/null ../out && git agent land --undo cone && picture >../after && test_cmp ../before ../after
'
cell 'no branch' agent=f@2A user='git switch -q --detach; put f@8M' work=f@2A8M index=f@2A head=f@2A also='! git symbolic-ref -q HEAD'
cell 'the branch is checked out elsewhere' agent=f@2A user='git worktree add -q ../elsewhere$s agent/$s; put f@8M' work=f@2A8M index=f@2A head=f@2A
cell 'the branch moved since' agent=f@2A user='git switch -q agent/$s; put g@2B; git commit -qam more; git switch -q main; put f@8M' work='f@2A8M g@2B' index='f@2A g@2B' head='f@2A g@2B'
cell 'on another branch' agent=f@2A user='git switch -qc other; put g@2C; git commit -qam c; put f@8M' work='f@2A8M g@2C' index='f@2A g@2C' head='f@2A g@2C'
cell 'in the middle of a merge' agent=f@2A user='git branch side; git commit -q --allow-empty -m m; git switch -q side; git commit -q --allow-empty -m s; git merge -q --no-commit --no-ff main; put f@8M' no='a merge is in progress'
cell 'in the middle of a rebase' agent=f@2A user='put g@2X; git commit -qam x; git switch -qc side HEAD^; put g@2Y; git commit -qam y; ! git rebase -q main' no='a rebase is in progress'
cell 'a conflict in the index' agent=f@2A user='put g@2X; git stash -q; put g@2Y; git commit -qam y; ! git stash pop -q' no='the index has conflicts: g'
cell 'converted line ends' dirty='echo "f text eol=crlf" >.git/info/attributes; rm f; git checkout -q f' agent='g@2A f%@2A' user='put f%@8M g@8M' work='g@2A8M f%@2A8M' index='f@2A g@2A' head='f@2A g@2A'
cell 'attributes change' agent='.gitattributes=x f@2A' user='git agent review --accept-all --critical $s; put f@8M' no='attributes change beside uncommitted changes: .gitattributes'
cell 'a merge driver of the user'\''s' agent=f@2A user='echo "f merge=mine" >.git/info/attributes; git config merge.mine.driver true; put f@8M' no='a merge driver is needed for uncommitted changes: f'
cell 'a merge driver for all paths' agent=f@2A user='git config merge.default mine; git config merge.mine.driver true; put f@8M' no='a merge driver is needed for uncommitted changes: f'

# ---- what git's own merge would come upon, and then put everything back to HEAD

cell 'line ends that git converts since, dirty elsewhere' dirty='put f%@; git commit -qam crlf' agent='f%@2A' user='echo "f text" >.git/info/attributes; touch f; put g@8M' no='overlap with what is to land: f'
cell 'a filter since, dirty elsewhere' agent=f@2A user='echo "f filter=ex" >.git/info/attributes; git config filter.ex.clean "sed s/9/X/"; touch f; put g@8M; for i in 1 2; do test_expect_code 3 git agent land $s; git agent review --accept-all --critical $s; done' work='f@2A9X g@8M' index=f@2A head=f@2A

# since WHAT COMMANDS: git converts d/h since, and what is dirty elsewhere is there afterwards
since() {
	what=$2
	test_expect_success "converted since, $1: work elsewhere stays" '
		begin && s=s$(count) && git agent start -q --name $s -- sh -c "$words put d/h@2A" && put d/.gitattributes=none && git add d && git commit -qm attributes && eval "$what" && touch d/h && put g@8M && picture >../before && git status --porcelain | grep d/h &&
		test_expect_code 3 git agent land $s && git agent review --accept-all --critical $s && { git agent land --dry-run $s || { test_expect_code 3 git agent land $s && git agent review --accept-all --critical $s; }; } &&
		git agent land $s && content g@8M | test_cmp g - && git show HEAD:d/h >../got && content d/h@2A | test_cmp - ../got && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
}
since 'by a filter' 'echo "h filter=ex" >.git/info/attributes; git config filter.ex.clean "sed s/9/X/"'
since 'by a filter that the user names for all repositories' 'git config core.attributesFile ../attributes; echo "h filter=ex" >../attributes; git config filter.ex.clean "sed s/9/X/"'
since 'by attributes below' 'git config filter.ex.clean "sed s/9/X/"; echo "h filter=ex" >d/.gitattributes; git commit -qm filter d/.gitattributes'
since 'by attributes that are gone' 'git config filter.ex.clean "sed s/9/X/"; echo "h filter=ex" >d/.gitattributes; git commit -qm filter d/.gitattributes; rm d/.gitattributes'
cell 'an encoding since, dirty elsewhere' agent='d/h@2A' user='echo "h working-tree-encoding=UTF-16LE" >.git/info/attributes; touch d/h; put g@8M' no='overlap with what is to land: d/h'

cell 'assumed unchanged, changed, and nothing else is' agent=f@2A user='git update-index --assume-unchanged f; put f@8M' work=f@2A8M index=f@2A head=f@2A
cell 'assumed unchanged, the same hunk, dirty elsewhere' agent=f@2A user='git update-index --assume-unchanged f; put f@2M g@8M' no='overlap with what is to land: f'
cell 'skipped in the working tree, but there and changed' agent=f@2A user='git update-index --skip-worktree f; put f@8M g@8M' work='f@2A8M g@8M' index=f@2A head=f@2A
cell 'skipped in the working tree, the same hunk' agent=f@2A user='git update-index --skip-worktree f; put f@2M g@8M' no='overlap with what is to land: f'

# ---- ways

cell 'squashed beside work' how=--squash agent=f@2A user='put f@8M; git add f' work=f@2A8M index=f@2A8M head=f@2A also='! git rev-parse -q --verify HEAD^2'
cell 'moved on beside work' how=--ff-only agent=f@2A user='put f@8M' work=f@2A8M index=f@2A head=f@2A also='test "$(git rev-parse HEAD)" = "$(git rev-parse agent/$s)"'

test_done
