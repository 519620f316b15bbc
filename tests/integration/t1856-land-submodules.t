#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what is in a submodule is not lost where a file comes in its place'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox
git config --global protocol.file.allow always

# A submodule at PATH that is not checked out.
begin_with() {
	begin && git submodule --quiet add ../lib "$1" && git commit -qm sub && git submodule --quiet deinit -f "$1"
}
# It is filled: with what nobody else has.
fill() {
	git submodule --quiet update --init "$1" && echo edit >>"$1/f" && echo precious >"$1/untracked"
}
session() {
	s=s$(count) && git agent start -q --name "$s" -- sh -c "$words set -e; $1; git add -A; git commit -qm x" && git agent review --accept-all --critical "$s"
}
# refused TEXT COMMAND...: and nothing is touched
refused() {
	text=$1 && shift && picture >../before && test_expect_code 2 "$@" >../out 2>../err && cat ../err && grep "$text" ../err && picture >../after && test_cmp ../before ../after
}
over='submodules would be overwritten: '

test_expect_success 'prepare' '
	git init -q lib && (cd lib && mkdir d && echo f >f && echo g >d/g && git add -A && git commit -qm one)
'

# replaced LABEL COMMANDS
replaced() {
	test_expect_success "a submodule becomes $1: refused whichever way, until it is empty" "
		begin_with sub && session 'rmdir sub; $2' && fill sub &&
		for how in '' --merge --ff-only --squash --rebase --no-commit '--squash --no-commit'; do
			refused \"\$over\"'sub\$' git agent land --dry-run \$how \$s && refused \"\$over\"'sub\$' git agent land \$how \$s || return 1
		done && grep 'submodule deinit' ../err && refused \"\$over\"'sub\$' git agent land \$s -- sub &&
		echo mine >new && git add new && refused sub git agent land \$s && git rm -qf new && git commit -q --allow-empty -m mine &&
		for how in --merge --squash --rebase; do refused \"\$over\"'sub\$' git agent land \$how \$s || return 1; done &&
		mv sub/f sub/untracked .. && git submodule --quiet deinit -f sub && git agent land \$s && git diff --quiet agent/\$s HEAD -- sub && git agent land --undo \$s && test -d sub
	"
}
replaced 'a file' 'echo file >sub'
replaced 'a link' 'ln -s f sub'

test_expect_success 'one that is as it was committed is refused as well' '
	begin_with sub && session "rmdir sub; echo file >sub" && git submodule --quiet update --init && refused "${over}sub$" git agent land $s
'

test_expect_success 'a directory that has one becomes a file' '
	begin_with d/sub && session "rm -r d; echo file >d" && fill d/sub && refused "would be overwritten: d/sub" git agent land $s && refused "would be overwritten: d/sub" git agent land --rebase $s &&
	git submodule --quiet deinit -f d/sub && git agent land $s && test -f d
'

test_expect_success 'an empty one, and one with nothing but directories, makes way' '
	begin_with sub && session "rmdir sub; echo file >sub" && mkdir -p sub/a/b && git agent land $s && test -f sub
'

test_expect_success 'what stands in the place of one that git was told not to look at stays' '
	begin_with sub && session "rmdir sub; echo file >sub" && git update-index --assume-unchanged sub && rmdir sub && echo mine >sub &&
	for how in --merge --ff-only --rebase --no-commit; do refused ": " git agent land $how $s || return 1; done &&
	for how in --merge --squash; do refused "a submodule comes or goes beside uncommitted changes: sub$" git agent land $how $s && grep "^hint: git was told not to look there: .git update-index --no-assume-unchanged FILE" ../err || return 1; done &&
	git update-index --no-assume-unchanged sub && for how in --merge --rebase; do refused ": " git agent land $how $s || return 1; done
'

test_expect_success 'with options for merges: it is named once' '
	begin_with sub && session "rmdir sub; echo file >sub" && fill sub && git config branch.main.mergeoptions -Xours && refused "${over}sub$" git agent land $s
'

test_expect_success 'git leaves one that goes' '
	begin_with sub && session "rmdir sub" && fill sub && git agent land $s && test "$(cat sub/untracked)" = precious && git agent land --undo $s && test "$(cat sub/untracked)" = precious
'

test_expect_success 'and one that becomes a directory' '
	begin_with sub && session "rmdir sub; git rm -q --cached sub; put sub/x=x" && fill sub && git agent land $s && test -e sub/x && test "$(cat sub/untracked)" = precious
'

test_expect_success 'but for what is in the way in it' '
	begin_with sub && session "rmdir sub; git rm -q --cached sub; put sub/f=x" && fill sub && refused "would be overwritten: sub/f$" git agent land $s && refused "would be overwritten: sub/f$" git agent land --rebase $s
'

test_expect_success 'commits that are made again: a file on the way, taken back by a later one' '
	begin_with sub && session "rmdir sub; echo file >sub; put g@2A; git add -A; git commit -qm one; rm sub; git checkout HEAD^ sub; put g@2A3A" && fill sub &&
	refused "${over}sub$" git agent land --rebase $s && git agent land $s && test "$(cat sub/untracked)" = precious
'

test_expect_success 'going on: one that was filled while a landing waited' '
	begin_with sub && session "put f@2A; git commit -qam one; rmdir sub; echo file >sub" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land --rebase $s && put f@2B && git add f && fill sub &&
	refused "${over}sub$" git agent land --continue $s && rm -rf sub/* sub/.git && git agent land --continue $s && test "$(cat sub)" = file
'

# The session is on a commit in which the file "old" is a submodule.
begin_linked() {
	begin && git checkout -q -b side && git rm -q old && git submodule --quiet add ../lib old && git commit -qm linked && git submodule --quiet deinit -f old && git checkout -q main &&
	s=s$(count) && git agent start -q --name $s --base side -- sh -c "$words $1" && git agent review --accept-all --critical $s &&
	test_expect_code 3 git agent land $s && git agent review --accept-all --critical $s
}

test_expect_success 'undone: a file had become one, and that was filled' '
	begin_linked "put g@2A" && git agent land $s && git ls-tree HEAD old | grep ^160000 && fill old && refused "${over}old$" git agent land --undo $s &&
	git -C old commit -qam more && refused old git agent land --undo $s && git submodule --quiet deinit -f old && git agent land --undo $s && content old@ | test_cmp - old
'

test_expect_success 'the same beside what is staged' '
	begin_linked "put g@2A" && git agent land $s && fill old && put f@2S && git add f && refused old git agent land --undo $s
'

test_expect_success 'given up: the same where a merge waits' '
	begin_linked "put f@2A" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land $s && git ls-files -s old | grep ^160000 &&
	fill old && refused "${over}old$" git agent land --abort $s && git submodule --quiet deinit -f old && git agent land --abort $s && content old@ | test_cmp - old
'

test_expect_success 'given up: the same where commits are made again' '
	begin_linked "put f@2A" && put f@2M && git commit -qam mine && test_expect_code 4 git agent land --rebase $s && git ls-files -s old | grep ^160000 &&
	fill old && refused "${over}old$" git agent land --abort $s && git submodule --quiet deinit -f old && git agent land --abort $s && content old@ | test_cmp - old
'


# half_way COMMANDS: they replace an empty submodule, and git, which has done that, cannot write z
half_way() {
	does=$1
	test_expect_success "git stops half way: an empty submodule is there again: $1" '
		begin_with sub && session "rmdir sub; $does; echo z >z" && git commit -q --allow-empty -m mine && echo "z filter=bad" >.git/info/attributes && git config filter.bad.smudge false && git config filter.bad.required true && for hide in : "git update-index --assume-unchanged old sub"; do
			eval "$hide" && picture >../before && for how in --merge --squash --rebase --ff-only; do
				test $how != --ff-only || { git reset -q --keep HEAD^ && picture >../before; } && test_must_fail git agent land $how $s 2>../err && cat ../err && grep "hint: nothing was committed, and files are as they were" ../err && picture >../after && test_cmp ../before ../after && test -d sub && git diff --exit-code || return 1
			done && git reset -q --keep HEAD@{1} || return 1
		done
	'
}
half_way 'echo file >sub'
half_way 'ln -s f sub'
half_way 'git rm -q --cached sub; mkdir sub; echo x >sub/x'

test_done
