#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='telling the agent what is rejected'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

sessions() {
	ls -d "$HOME"/.local/state/git-agent/*/sessions/"$1"
}
# remarks NAME: what the agent of the next resume is told
remarks() {
	echo "$(sessions "$1")/remarks"
}

test_that 'make a repository' '
	test_enter r &&
	seq 40 >a &&
	printf "all:\n\techo ok\n\n\n\n\n\n\n\n\nclean:\n\trm -f x\n" >Makefile &&
	echo b >b &&
	mkdir sub &&
	seq 9 >sub/s &&
	test_commit base
'

test_that 'a rejection that was killed half way holds for what it has published' '
	cd r &&
	sed -i 30s/.*/MINE/ a &&
	test_session half "sed -i 30s/.*/spoilt/ a; echo new2 >new2" &&
	git agent review --stat half | grep "^uncommitted changes" &&
	GIT_AGENT_FAULT=decide:published:kill test_expect_code 137 git-agent review --reject half a &&
	! git agent review --stat half | grep "^uncommitted changes" &&
	git agent land half &&
	sed -n 30p a | grep -x MINE &&
	test -e new2 &&
	git checkout -q a &&
	git agent drop half
'

cat >"$TRASH/work" <<\EOF
set -e
sed -i -e 3s/3/three/ -e 30s/30/thirty/ a
printf n >"na me"
rm b
ln -s a link
printf '\0' >bin
chmod +x sub/s
printf 't\303\244b\t' >"$(printf 'q"\\\t\303\244')"
printf '\033[31m\n' >esc
EOF

test_that 'feedback has patches that lead back, and remarks' '
	cd r &&
	test_session fb "$(cat "$TRASH/work")" &&
	was=$(git rev-parse agent/fb^{tree}) &&
	git agent review --reject --remark "keep 30
please" fb a &&
	cp "$(remarks fb)" ../fb &&
	test_same agent/fb:a main:a &&
	grep "^> keep 30$" ../fb &&
	grep "^> please$" ../fb &&
	grep "^+thirty" ../fb &&
	! grep "na me" ../fb &&
	git agent review --reject --remark "all of it" fb . &&
	cp "$(remarks fb)" ../fb &&
	test_same agent/fb^{tree} main^{tree} &&
	grep "na me" ../fb &&
	grep "^# bin: binary, put back as a whole$" ../fb &&
	grep -c "^This was rejected in the review of session fb" ../fb | grep -x 2 &&
	git worktree add -q --detach ../wt main &&
	git -C ../wt apply --index "$HOME/fb" &&
	git ls-tree -r $was | grep -v "	bin$" >../want &&
	git ls-tree -r $(git -C ../wt write-tree) | test_cmp ../want - &&
	git worktree remove --force ../wt
'

test_that 'feedback is written of what was held, and not where a decision is refused' '
	cd r &&
	test_session fbh "
		echo evil >>.envrc
		echo \"all:\" >Makefile
		echo x >x" &&
	git agent review --reject --remark no fbh .envrc &&
	grep "^+evil$" "$(remarks fbh)" &&
	cp "$(remarks fbh)" ../before &&
	test_must_fail git agent review --reject --remark no fbh nowhere &&
	cmp "$(remarks fbh)" ../before &&
	rm "$(remarks fbh)" &&
	ln -s "$PWD/../victim" "$(sessions fbh)/remarks" &&
	test_fails 128 "cannot write .*remarks" git agent review --reject --remark no fbh x &&
	git cat-file -e agent/fbh:x &&
	test ! -e ../victim &&
	test_expect_code 129 git agent review --remark x fbh &&
	test_expect_code 129 git agent review --accept --remark x fbh x &&
	git agent drop --force fbh
'

test_that 'feedback has changes on top of uncommitted work' '
	cd r &&
	echo mine >>b &&
	test_session top "echo theirs >>b" &&
	git agent review --reject --remark no top b &&
	grep "^+theirs$" "$(remarks top)" &&
	grep "^ mine$" "$(remarks top)" &&
	git checkout -q b &&
	git agent drop --force top
'

test_that 'long files are compared where they differ in one place, and not in another order' '
	cd r &&
	seq 260000 >order &&
	seq 260000 >place &&
	git add order place &&
	git commit -qm long &&
	test_session order "
		sort -r order >x
		mv x order
		sed -i -e 9s/9/nine/ place" &&
	git agent review order >../out &&
	by=$(sed -n "s/.*more than 500000 lines may differ: not shown; .\(git diff [0-9a-f ]*\). does$/\1/p" ../out) &&
	test -n "$by" &&
	$by | grep -x -e "+99999" &&
	grep -x -e "+nine" ../out &&
	git agent review --json order | python3 -c "
import json, sys
files = {f[\"path\"]: f[\"additions\"] for f in json.load(sys.stdin)[\"files\"]}
assert files == {\"order\": None, \"place\": 1}, files" &&
	git agent drop --force order &&
	git reset -q --hard HEAD~1
'

test_done
