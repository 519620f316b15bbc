#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='flags that only a landing raised: how they are rejected, and that they are of that landing alone'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

# renamed NAME: a session changes notes.txt, which no rule is about; on `main` that is a Makefile by
# now, on `plain` it is not
renamed() {
	rm -rf r && git init -q r && cd r && seq 30 >notes.txt && echo z >z && git add -A && git commit -qm base && git branch plain &&
		git agent start -q --name "$1" -- sh -c "echo 'evil: ; id' >>notes.txt; echo zz >>z; git commit -qam work" && git mv notes.txt Makefile && git commit -qm renamed &&
		test_expect_code 3 git agent land "$1" 2>../err && grep 'would raise new flags where it lands: 1 high$' ../err
}
# resolved NAME: a merge of which the user resolves a conflict, and adds a file that is flagged
resolved() {
	rm -rf r && git init -q r && cd r && echo a >a && git add -A && git commit -qm base && git agent start -q --name "$1" -- sh -c "echo theirs >a; git commit -qam work" && echo ours >a && git commit -qam ours &&
		test_expect_code 4 git agent land "$1" && echo both >a && echo evil >.envrc && git add -A && test_expect_code 3 git agent land --continue "$1" 2>../err && grep ': 1 critical$' ../err
}
open() {
	git agent review --json "$1" | python3 -c '
import json, sys
print(*sorted(f["path"] for f in json.load(sys.stdin)["flags"] if f["verdict"] == "open"))'
}

# ---- rejecting

test_expect_success 'a path that is another one in the session: rejecting it is refused, and told which that is' '
	renamed s && for r in refs/heads/agent/s refs/agent/s/report; do git rev-parse $r; done >../before && test_expect_code 128 git agent review --reject s Makefile 2>../err && cat ../err && grep "rejecting .Makefile. takes nothing back: agent/s changes it only where it lands$" ../err && ! grep "flags\? left" ../err && for r in refs/heads/agent/s refs/agent/s/report; do git rev-parse $r; done | test_cmp ../before - && echo Makefile >../want && open s | test_cmp ../want - &&
	eval "$(sed -n "s/^hint: it is .notes.txt. that lands there: .\(git agent review --reject s notes.txt\). takes that back$/\1/p" ../err)" && git diff --quiet plain agent/s -- notes.txt && git agent land s && test "$(cat z)" = "z
zz" && ! grep evil Makefile
'
test_expect_success 'as one commit, what was rejected does not come either; as commits of their own one brings it' '
	renamed sq && git agent review --reject sq notes.txt && test_expect_code 3 git agent land --rebase sq 2>../err && grep "has open flags: 1 high$" ../err && git agent land --squash sq && ! grep evil Makefile && grep zz z
'
test_expect_success 'with the path that it comes of it is rejected' '
	renamed b && git agent review --reject b Makefile notes.txt 2>../err && grep "agent/b: 0 open flags left" ../err && git agent land b && ! grep evil Makefile
'
test_expect_success 'so it is beneath a directory, whose name is another one' '
	rm -rf r && git init -q r && cd r && mkdir plain && echo a >plain/a && echo b >plain/b && git add -A && git commit -qm base && git agent start -q --name d -- sh -c "echo id >plain/post-merge; echo c >c" && git mv plain .githooks && git commit -qm renamed && test_expect_code 3 git agent land d 2>../err && grep "where it lands: 1 critical$" ../err && for p in .githooks/post-merge .githooks; do
		test_expect_code 128 git agent review --reject d $p 2>../err && cat ../err && grep "hint: it is .plain/post-merge. that lands there: .git agent review --reject d plain/post-merge. takes that back" ../err || exit 1
	done && git agent review --reject d plain/post-merge && git agent land d && test -e c && test ! -e .githooks/post-merge
'
test_expect_success 'and where what lands is not of the session: what else lands is named' '
	rm -rf r && git init -q r && cd r && echo a >a && git add -A && git commit -qm base && git switch -qc topic && echo all: >Makefile && git add -A && git commit -qm users && git agent start -q --name o -- sh -c "echo n >n" && git agent land --dry-run o && git switch -q main && test_expect_code 3 git agent land o && test_expect_code 128 git agent review --reject o Makefile 2>../err && cat ../err && grep "hint: .*git diff HEAD...agent/o. shows" ../err && git agent review --accept o Makefile && git agent land o && test -e Makefile
'

# ---- where nothing of it lands

test_expect_success 'raised on one branch: on another, where that does not come, it blocks nothing, whichever way' '
	for how in --merge --squash --rebase --ff-only; do
		(s=w${how#--} && renamed $s && git switch -q plain && git agent land --dry-run $how $s && git agent land $how $s && grep evil notes.txt && test ! -e Makefile) || exit 1
	done
'
test_expect_success 'such a path is none of which that branch could be given a part' '
	renamed part && test_expect_code 3 git agent land part -- Makefile && git switch -q plain && test_expect_code 128 git agent land part -- Makefile 2>../err && grep "agent/part has nothing to land at .Makefile." ../err && git agent land part -- notes.txt && grep evil notes.txt && git agent land part && grep zz z
'
test_expect_success 'where it comes it still blocks, and is no new one' '
	renamed back && git switch -q plain && git agent land back && git agent land --undo back && git switch -q main && test_expect_code 3 git agent land back 2>../err && grep "has open flags: 1 high$" ../err && test "$(git log -1 --format=%s)" = renamed && git agent review --accept back Makefile && git agent land back && grep evil Makefile
'
test_expect_success 'and so does the same where it is another file by then' '
	renamed other && sed -i 1d Makefile && git commit -qam mine && test_expect_code 3 git agent land other 2>../err && grep "would raise new flags where it lands: 1 high$" ../err && test "$(git log -1 --format=%s)" = mine
'
test_expect_success 'once rejected, it is open again where it comes, and of no matter elsewhere' '
	renamed rej && git switch -q plain && git agent review --reject rej Makefile 2>../err && grep "agent/rej: 0 open flags left" ../err && git switch -q main && test_expect_code 3 git agent land rej 2>../err && grep "would raise new flags where it lands: 1 high$" ../err && git switch -q plain && git agent land rej
'
test_expect_success 'it is not counted beside those that do block' '
	rm -rf r && git init -q r && cd r && seq 30 >notes.txt && git add -A && git commit -qm base && git branch plain && git agent start -q --name n -- sh -c "echo evil: >>notes.txt; echo all: >GNUmakefile" && git mv notes.txt Makefile && git commit -qm renamed && git agent review --accept n GNUmakefile && test_expect_code 3 git agent land n && git agent review --reject n GNUmakefile && git switch -q plain &&
	git switch -q agent/n && echo more: >GNUmakefile && git add -A && git commit -qm more && git switch -q plain && test_expect_code 3 git agent land n 2>../err && cat ../err && grep "where it lands: 1 high$" ../err && echo "GNUmakefile Makefile" >../want && open n | test_cmp ../want - && test_expect_code 3 git agent land n 2>../err && grep "has open flags: 1 high$" ../err
'
test_expect_success 'added to a conflict that was resolved, and given up: it is in nothing that lands' '
	resolved c && git agent land --abort c && git reset -q --hard && rm -f .envrc && git reset -q --hard HEAD~ && git agent land c && test "$(cat a)" = theirs && test ! -e .envrc
'
test_expect_success 'added again it is refused again' '
	resolved again && git rm -q --cached .envrc && git agent land --abort again && test_expect_code 4 git agent land again && echo both >a && git add -A && git ls-files | grep -x .envrc && test_expect_code 3 git agent land --continue again && git rm -q -f .envrc && git agent land --continue again && test "$(cat a)" = both && ! git cat-file -e HEAD:.envrc
'

# ---- nothing of the session's is forgotten

# committed NAME COMMANDS: they are done on the branch of a session, of which a landing raised a flag
committed() {
	renamed $1 && git merge -q --no-commit agent/$1 && git rev-parse :Makefile >../blob && git reset -q --hard && git switch -q agent/$1 && eval "$2" && git switch -q plain
}
add='git cat-file blob $(cat ../blob) >Makefile && git add Makefile && git commit -qm add'
test_expect_success 'what a landing raised and the branch has by now blocks, wherever it is to land' '
	committed has "$add" && for how in --merge --squash --rebase; do
		test_expect_code 3 git agent land $how has 2>../err && cat ../err && grep "has open flags: 1 high$" ../err || exit 1
	done && test ! -e Makefile && git agent review --accept has Makefile && git agent land has && test -e Makefile
'
test_expect_success 'and what only commits on the way have, unless they are left out' '
	committed way "$add && git rm -q Makefile && git commit -qm away" && for how in --merge --rebase; do
		test_expect_code 3 git agent land $how way 2>../err && cat ../err && grep "has open flags: 1 high$" ../err && grep -e "--squash" ../err || exit 1
	done && git agent land --squash way && test ! -e Makefile
'
test_expect_success 'what is in the branch, but merged with lines of the user gives something else, is asked about' '
	rm -rf r && git init -q r && cd r && seq 30 >Makefile && git add -A && git commit -qm base && git agent start -q --name m -- sh -c "echo evil: >>Makefile" && test_expect_code 3 git agent land m && git agent review --accept m Makefile && sed -i 1d Makefile && git commit -qam mine && test_expect_code 3 git agent land m && sed -i 1d Makefile && git commit -qam more && test_expect_code 3 git agent land m 2>../err && grep ": 1 high$" ../err && test "$(git log -1 --format=%s)" = more
'
test_expect_success 'what the session raised itself blocks, though somebody took it out of the branch' '
	rm -rf r && git init -q r && cd r && echo a >a && git add -A && git commit -qm base && git agent start -q --name own -- sh -c "echo b >b; git add b; git commit -qm b; echo all: >Makefile; git add Makefile; git commit -qm make" && git switch -q agent/own && git rm -q Makefile && git commit -q --amend --allow-empty -m none && git switch -q main && test_expect_code 3 git agent land own 2>../err && grep "has open flags: 1 high$" ../err
'
test_expect_success 'and what is held back, though a landing raised the same before' '
	resolved held && git agent land --abort held && rm -f .envrc && git reset -q --hard HEAD~ && git agent resume -q held -- sh -c "echo evil >.envrc" && git rev-parse -q --verify refs/agent/held/held && test_expect_code 3 git agent land held 2>../err && grep "has open flags: 1 critical$" ../err && test_expect_code 3 git agent land --squash held && git agent review --accept held .envrc && git agent land held && test -e .envrc
'

test_done
