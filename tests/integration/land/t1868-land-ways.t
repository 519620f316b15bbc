#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing rebased, in part, without the commit, edited, signed; merge drivers and rerere'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

two='line f 2 one; git commit -qam "first of two"; line g 2 two; git commit -qam "second of two"'

# ---- rebased

test_that 'a rebase keeps the authors, and the user is the committer' '
	make_repo authors &&
	session a "line f 2 one; git -c user.name=Agent commit -qam words --date=2020-01-02T03:04:05Z" &&
	mine &&
	git config user.name "The User" &&
	git agent land --rebase a &&
	git log -1 --format="%an %ad %cn" --date=iso-strict >../is &&
	grep -x "Agent 2020-01-02T03:04:05.* The User" ../is
'

test_that 'a conflict of a rebase is refused, naming the commit and the command that applies it' '
	make_repo conflict &&
	session c "$two; line f 8 three; git commit -qam third" &&
	line g 2 mine &&
	git commit -qam mine &&
	commit=$(git rev-parse --short=10 agent/c^) &&
	refused 2 "agent/c: commit $commit conflicts in g" git agent land --rebase c &&
	hint "git cherry-pick $commit" &&
	refused 2 "agent/c: commit $commit conflicts in g" git agent land --dry-run --rebase c &&
	test_must_fail git cherry-pick "$commit" &&
	git diff --name-only --diff-filter=U | grep -x g &&
	git cherry-pick --abort
'

# ---- in part

test_that 'a part lands as one commit, and the session has landed with the last of them' '
	make_repo part &&
	session q "line f 2 one; line g 2 one; line d/h 2 one; echo n >d/n; rm old" &&
	refused 128 "pathspec .none. did not match any files of agent/q" git agent land q -- none &&
	refused 129 . git agent land q -- ../part/.. &&
	refused 129 . git agent land --merge q -- f &&
	refused 0 "would land in part" git agent land --dry-run q -- d f &&
	(cd d && git agent land -m "some of it" q -- . ../f 2>../../err) &&
	grep "agent/q: landed in part" ../err &&
	test "$(git log -1 --format=%s)" = "some of it" &&
	test_prints "d/h\nd/n\nf" git diff --name-only HEAD^ &&
	test_state q captured &&
	git agent land --json q -- g >../json &&
	python3 -c "import json, sys; o = json.load(sys.stdin); assert o[\"landed\"] and o[\"rest\"], o" <../json &&
	git agent land -- "$PWD/old" &&
	git log -1 --format=%B | grep -x "\* old" &&
	landed q
'

test_that 'the top of the working tree, by whatever name, is all of the session' '
	make_repo top &&
	session t "line f 2 one; echo n >d/n" &&
	for at in ". ." ". ./" ". $PWD" ". d/.." "d .."; do
		(cd ${at% *} && git agent land t -- ${at#* }) &&
		landed t &&
		git diff --quiet agent/t HEAD &&
		git agent land --undo t || return 1
	done &&
	refused 129 . git agent land t -- "" &&
	refused 129 . git agent land t -- ..
'

test_that 'flags of other paths do not block a part' '
	make_repo flagged &&
	session f "line f 2 one; echo evil >.envrc; line g 2 one" &&
	refused 3 "open flags" git agent land f &&
	git agent land f -- f &&
	refused 3 "open flags" git agent land f -- .envrc &&
	line g 2 mine &&
	git commit -qam c &&
	refused 2 "merging agent/f conflicts in g" git agent land f -- g
'

test_that 'a part is refused where it would not run commit hooks, which a squash runs' '
	make_repo parthooks &&
	session h "line f 2 one" &&
	mine &&
	hook commit-msg "echo ran >>../ran" &&
	refused 2 "would bypass your commit hooks" git agent land h -- f &&
	hint "git agent land --squash h" &&
	git agent land --squash h &&
	test "$(cat ../ran)" = ran
'

# ---- the commit left to the user

test_that 'a merge without its commit is left to the user, who continues or aborts' '
	make_repo nocommit &&
	session n "line f 2 one" &&
	test_says "agent/n: not committed yet" git agent land --no-commit n &&
	test -e .git/MERGE_HEAD &&
	test_state n landing &&
	git agent land --abort n &&
	test -z "$(git status --porcelain)" &&
	git agent land --no-commit n &&
	git agent land --continue n &&
	git rev-parse -q --verify HEAD^2 &&
	landed n &&
	git agent land --undo n
'

test_that 'a squash without its commit is staged, and has landed once the user has committed it' '
	make_repo nosquash &&
	session s "line f 2 one" &&
	git agent land --squash --no-commit s &&
	git diff --cached --name-only | grep -x f &&
	git commit -qm "my own words" &&
	refused 0 "agent/s: landed" git agent land s &&
	landed s &&
	git agent land --undo s &&
	test "$(sed -n 2p f)" = 2
'

# ---- edited

# edits TEXT: an editor that adds this to the subject
edits() {
	printf "#!/bin/sh\nsed -i \"1s/\$/%s/\" \"\$1\"\n" "$1" >"$HOME/an editor"
	chmod +x "$HOME/an editor"
	export GIT_EDITOR="\"$HOME/an editor\""
}

test_that 'the message is edited, for a merge and a squash' '
	make_repo edit &&
	session e "line f 2 one" &&
	mine &&
	edits ", edited" &&
	git agent land -e e &&
	test "$(git log -1 --format=%s)" = "Merge branch '\''agent/e'\'', edited" &&
	git agent land --undo e &&
	git agent land --squash --edit e &&
	test "$(git log -1 --format=%s)" = "Squash agent/e, edited" &&
	git agent land --undo e &&
	git agent land -e -m "in my words" e &&
	test "$(git log -1 --format=%s)" = "in my words, edited"
'

# ---- what the user has configured

test_that 'merge drivers are used whichever way' '
	make_repo driver &&
	session d "line f 2 one" &&
	line f 2 mine &&
	git commit -qam c &&
	echo "f merge=theirs" >.git/info/attributes &&
	git config merge.theirs.driver "cp %B %A" &&
	for how in --merge --squash --rebase; do
		git agent land $how d &&
		test "$(git show HEAD:f | sed -n 2p)" = one &&
		git agent land --undo d || return 1
	done
'

test_that 'a conflict that rerere knows is resolved, and waits to be committed' '
	make_repo rerere &&
	git config rerere.enabled true &&
	session r "line f 2 one" &&
	line f 2 mine &&
	git commit -qam c &&
	test_expect_code 4 git agent land r &&
	line f 2 both &&
	sed -i "3,/>>>/d" f &&
	seq 3 9 >>f &&
	git add f &&
	git agent land --continue r &&
	git agent land --undo r &&
	git config rerere.autoupdate true &&
	test_expect_code 4 git agent land r &&
	test "$(sed -n 2p f)" = both &&
	test -z "$(git ls-files -u)" &&
	git agent land --continue r &&
	landed r
'

test_that 'options for merges of this branch are used' '
	make_repo options &&
	session o "line f 2 one" &&
	mine &&
	git config branch.main.mergeOptions "--log --signoff" &&
	git agent land o &&
	git log -1 --format=%B >../is &&
	grep "agent/o:" ../is &&
	grep "^Signed-off-by: A U Thor" ../is
'

test_that 'names and attributes of the agent reach no terminal unescaped' '
	make_repo shown &&
	session s "printf \"*.x \\033[31m\\302\\233x\\n\" >.gitattributes; echo x >n.x
		n=\$(printf \"bad\\033[31m\\302\\233x\"); echo bad >\"\$n\"; git add -A; git commit -qm \"\$n\"" &&
	mine &&
	git agent review --accept-all --critical s &&
	for how in --rebase --squash --merge; do
		git agent land $how s 2>../err &&
		! LC_ALL=C grep "$(printf "\033\|\302\233")" ../err &&
		git agent land --undo s || return 1
	done &&
	git rm -q g &&
	git commit -qm gone
'

test_that 'hooks of the session in the directory of the hooks run when they were accepted, not before' '
	make_repo hooks &&
	mkdir .githooks &&
	git config core.hooksPath .githooks &&
	hook post-merge "echo mine >>../ran" &&
	test_commit hooks &&
	session h "echo echo evil \\>\\>../ran >>.githooks/post-merge; echo a >a" &&
	refused 3 "open flags" git agent land h &&
	git agent review --accept h .githooks/post-merge &&
	git agent land h &&
	grep evil ../ran
'

test_done
