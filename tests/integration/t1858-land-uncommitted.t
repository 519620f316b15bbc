#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what the agent did to uncommitted work comes back as uncommitted changes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/landing.sh
. "$TEST_SRCDIR/tests/lib/landing.sh"
require_sandbox

# comes SENTENCE BEFORE AGENT SINCE CHECK: a session that began with uncommitted work (made by BEFORE), what the agent
# does, and what the user does since; the landing makes CHECK true, has none of it in HEAD, and is undone exactly
comes() {
	comes_n=$((comes_n + 1))
	test_expect_success "$1" "
		make_repo comes$comes_n &&
		$2 &&
		session comes$comes_n '$3; echo committed >new' &&
		$4 &&
		remember &&
		{ git agent land --dry-run comes$comes_n || git agent review --accept-all --critical comes$comes_n; } &&
		refused 0 'would land' git agent land --dry-run comes$comes_n &&
		git agent land comes$comes_n &&
		$5 &&
		git diff --name-only HEAD^ HEAD >../is &&
		echo new | test_cmp - ../is &&
		landed comes$comes_n &&
		git agent land --undo &&
		unchanged
	"
}
comes_n=0

# has FILE LINES: the lines 2 and 8 of it
has() {
	sed -n "2p;8p" "$1" | tr '\n' ' ' >../lines
	echo "$2 " | tr -d '\n' | test_cmp - ../lines
}

comes 'the file is as it was: the version of the agent' \
	'line f 8 mine' 'line f 2 agent' : 'has f "agent mine"'
comes 'the same lines as the user had changed before' \
	'line f 8 mine' 'line f 8 agent' : 'has f "2 agent"'
comes 'the work was staged: it stays staged, and the change is not' \
	'line f 8 mine && git add f' 'line f 2 agent' : 'has f "agent mine" && git show :f | grep mine &&
		test_must_fail git grep -q --cached agent -- f'
comes 'edited elsewhere in the file since: merged' \
	'line f 8 mine' 'line f 2 agent' 'line f 8 later' 'has f "agent later"'
comes 'the same change is there already' \
	'line f 8 mine' 'line f 2 agent' 'line f 2 agent' 'has f "agent mine"'
comes 'an untracked file' \
	'echo mine >u' 'echo agent >>u' : 'test "$(cat u)" = "mine
agent"'
comes 'a file that the agent removed' \
	'line f 8 mine' 'rm f' : 'test ! -e f'
comes 'a file that the user had removed, and the agent made again' \
	'rm f' 'echo agent >f' : 'test "$(cat f)" = agent'
comes 'a file that the agent moved' \
	'line f 8 mine' 'line f 2 agent; mkdir e; mv f e/f' : 'has e/f "agent mine" && test ! -e f'
comes 'permissions that the user gave it stay' \
	'line f 8 mine && chmod 600 f' 'line f 2 agent' : 'test "$(stat -c %a f)" = 600'
comes 'a symlink' \
	'ln -sfn mine link' 'ln -sfn agent link' : 'test "$(readlink link)" = agent'
comes 'a symlink in place of a file, and a file in place of a symlink' \
	'line f 8 mine && ln -s f l' 'ln -sfn g f; rm l; echo file >l' : 'test "$(readlink f)" = g && test "$(cat l)" = file'
comes 'a directory in place of a file' \
	'line f 8 mine' 'rm f; mkdir f; echo n >f/n' : 'test "$(cat f/n)" = n'
comes 'a file in place of a directory' \
	'line d/h 8 mine' 'rm -r d; echo file >d' : 'test "$(cat d)" = file'
comes 'names that are hard to write' \
	'echo mine >"a b" && echo mine >"$(printf "c\n\"\\047")"' 'for f in *b c*; do echo agent >"$f"; done' : \
	'test "$(cat *b c*)" = "agent
agent"'
comes 'binary files' \
	'printf "\\000mine" >b' 'printf "\\000agent" >b' : 'printf "\\000agent" | cmp - b'
comes 'line ends by attribute' \
	'echo "f text eol=crlf" >.git/info/attributes && rm f && git checkout -q f && sed -i "8s/8/mine/" f' \
	'sed -i "2s/2/agent/" f' : 'has f "agent$(printf "\\r") mine$(printf "\\r")"'

test_expect_success 'made executable by the agent, once that is accepted' '
	make_repo exec &&
	line f 8 mine &&
	session exec "chmod +x f; line f 2 agent" &&
	remember &&
	refused 3 "open flags\|new flags" git agent land exec &&
	git agent review --accept exec f &&
	git agent land exec &&
	test -x f &&
	has f "agent mine" &&
	git agent land --undo &&
	unchanged
'

test_expect_success 'a filter makes the bytes of the file, and none of it is lost' '
	make_repo filter &&
	git config filter.up.smudge "tr a-z A-Z" &&
	git config filter.up.clean "tr A-Z a-z" &&
	echo "f filter=up" >.git/info/attributes &&
	echo word >f &&
	git commit -qam word &&
	rm f &&
	git checkout -q f &&
	echo MINE >>f &&
	session filter "echo AGENT >>f" &&
	git agent review --accept-all --critical filter &&
	remember &&
	git agent land filter &&
	printf "word\nMINE\nAGENT\n" >../want &&
	tr a-z A-Z <../want | test_cmp - f &&
	git agent land --undo &&
	unchanged
'

test_expect_success 'changed in the same lines since: refused, and --uncommitted=skip lands the rest' '
	make_repo same &&
	line f 8 mine &&
	session same "line f 8 agent; echo committed >new" &&
	line f 8 later &&
	for how in --merge --squash --rebase --ff-only --dry-run; do
		refused 2 "uncommitted work cannot be applied: f: you have changed the same lines" \
			git agent land $how same || return 1
	done &&
	hint "--uncommitted=skip lands the rest; .git agent diff --uncommitted same." &&
	git agent diff --uncommitted same >../patch &&
	grep "^-mine" ../patch &&
	grep "^+agent" ../patch &&
	remember &&
	git agent land --uncommitted=skip same &&
	test "$(cat new)" = committed &&
	has f "2 later" &&
	git agent land --undo &&
	unchanged
'

test_expect_success 'a removal or a file of the user in its place: refused' '
	make_repo gone &&
	line f 8 mine &&
	echo mine >u &&
	session gone "line f 2 agent; mkdir e; mv u e/u" &&
	rm f &&
	refused 2 "cannot be applied: f: " git agent land gone &&
	line g 1 1 &&
	git restore f &&
	line f 8 mine &&
	echo file >e &&
	refused 2 "cannot be applied: e/u: a file is in place of its directory" git agent land gone &&
	rm e &&
	git agent land gone &&
	test "$(cat e/u)" = mine
'

test_expect_success 'left out, it comes with a later landing' '
	make_repo later &&
	line f 8 mine &&
	session later "line f 2 agent; echo committed >new" &&
	git agent land --uncommitted=skip later 2>../err &&
	grep "not applied: f: left out (--uncommitted=skip)" ../err &&
	has f "2 mine" &&
	git agent list | grep "^later .*captured" &&
	git agent land later 2>../err &&
	grep "uncommitted: f" ../err &&
	has f "agent mine" &&
	landed later &&
	git agent land --undo &&
	has f "2 mine" &&
	test ! -e new
'

test_expect_success 'committed by the user since, it still comes as an uncommitted change' '
	make_repo committed &&
	line f 8 mine &&
	session committed "line f 2 agent; echo committed >new" &&
	git commit -qam mine &&
	remember &&
	git agent land committed &&
	has f "agent mine" &&
	test "$(git status --porcelain)" = " M f" &&
	git agent land --undo &&
	unchanged
'

test_expect_success 'a session that did nothing else has no commit, and it comes all the same' '
	make_repo only &&
	line f 8 mine &&
	session only "line f 2 agent" &&
	! git diff --quiet &&
	test "$(git rev-list main..agent/only 2>/dev/null | wc -l)" = 0 &&
	remember &&
	head=$(git rev-parse HEAD) &&
	refused 0 "would land" git agent land --dry-run only &&
	git agent land only &&
	has f "agent mine" &&
	test "$(git rev-parse HEAD)" = "$head" &&
	landed only &&
	refused 0 "nothing to land" git agent land only &&
	git agent land --undo &&
	unchanged &&
	git agent list | grep "^only .*captured" &&
	git agent land only &&
	git commit -qam all &&
	landed only
'

test_expect_success 'it is judged as what is committed is' '
	make_repo judged &&
	echo "use mine" >.envrc &&
	session judged "echo use agent >>.envrc; echo committed >new" &&
	refused 3 "open flags\|new flags" git agent land judged &&
	git agent review --accept judged .envrc &&
	git agent land judged &&
	grep agent .envrc
'

for how in merge squash; do
	test_expect_success "after a conflict it is brought by --continue, or by the next landing: --$how" '
		make_repo conflict-$how &&
		line g 8 mine &&
		session conflict-$how "line f 2 agent; line g 2 agent" &&
		line f 2 mine &&
		git commit -qm mine f &&
		remember &&
		test_expect_code 4 git agent land --$how conflict-$how &&
		has g "2 mine" &&
		seq 9 >f &&
		line f 2 both &&
		git add f &&
		git agent land --continue 2>../err &&
		grep "uncommitted: g" ../err &&
		has g "agent mine" &&
		landed conflict-$how &&
		git agent land --undo &&
		unchanged &&
		test_expect_code 4 git agent land --$how conflict-$how &&
		seq 9 >f &&
		git add f &&
		git commit -q --no-edit &&
		test "$(git log -1 --format=%P | wc -w)" -gt 0 &&
		git agent land conflict-$how &&
		has g "agent mine" &&
		git agent land --undo &&
		unchanged
	'
done

test_expect_success 'changed by a hook while git moves: landed, and brought by the next landing' '
	make_repo while &&
	line f 8 mine &&
	session while "line f 2 agent; echo committed >new" &&
	hook post-merge "sed -i 9s/9/hook/ f" &&
	test_expect_code 5 git agent land while 2>../err &&
	cat ../err &&
	grep "has landed, but its uncommitted changes could not be applied: f has changed" ../err &&
	hint "git agent land while" &&
	has f "2 mine" &&
	grep hook f &&
	git agent list | grep "^while .*captured" &&
	rm .git/hooks/post-merge &&
	git agent land while &&
	has f "agent mine" &&
	grep hook f &&
	landed while &&
	git agent land --undo &&
	has f "2 mine" &&
	grep hook f &&
	test ! -e new
'

test_expect_success 'edited after it was brought: undoing is refused, and names it' '
	make_repo edited &&
	line f 8 mine &&
	session edited "line f 2 agent; echo committed >new" &&
	git agent land edited &&
	line f 9 later &&
	refused 2 "changed since agent/edited landed: f$" git agent land --undo edited &&
	line f 9 9 &&
	git agent land --undo edited &&
	has f "2 mine"
'

test_expect_success 'only the paths that are named come' '
	make_repo part &&
	line f 8 mine &&
	line g 8 mine &&
	session part "line f 2 agent; line g 2 agent; echo committed >new" &&
	git agent land part -- f &&
	has f "agent mine" &&
	has g "2 mine" &&
	test ! -e new &&
	git agent list | grep "^part .*captured" &&
	git agent land part -- new g &&
	has g "agent mine" &&
	test "$(cat new)" = committed &&
	landed part
'

# waiting NAME PATHS: what the session and its report say is still to be brought
waiting() {
	git agent show --json "$1" >../shown &&
	git show "refs/agent/$1/report:report.json" >../report &&
	for of in shown report; do
		python3 -c "import json, sys
print(*[p if type(p) is str else p['s'] for p in json.load(sys.stdin)['left_out']])" <../$of >../is &&
		echo "$2" | test_cmp - ../is || return 1
	done
}

test_expect_success 'uncommitted paths are pending until a landing applies them, and again after --undo' '
	make_repo waiting &&
	line f 8 mine &&
	line g 8 mine &&
	session waiting "line f 2 agent; line g 2 agent; echo committed >new" &&
	waiting waiting "f g" &&
	git agent land waiting -- f &&
	waiting waiting g &&
	git agent land waiting &&
	waiting waiting "" &&
	landed waiting &&
	git agent land --undo &&
	waiting waiting g &&
	git agent review --reject waiting g &&
	waiting waiting "" &&
	git agent land waiting &&
	landed waiting &&
	has g "2 mine"
'

test_done
