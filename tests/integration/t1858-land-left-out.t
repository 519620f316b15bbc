#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='landing what is on no branch, as it stands on uncommitted work'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
# shellcheck source=tests/lib/work.sh
. "$TEST_SRCDIR/tests/lib/work.sh"
require_sandbox

# session DIRTY AGENT: what was uncommitted at its start, and what the agent made; nothing is flagged
session() {
	begin && eval "$1" && s=s$(count) && git agent start -q --name $s -- sh -c "$words $2" && git agent review --accept-all --critical $s >../out
}
# are WORK INDEX HEAD: the states of files
are() {
	state $1 >../want && work_is | test_cmp ../want - && state $2 >../want && index_is | test_cmp ../want - && state $3 >../want && head_is | test_cmp ../want -
}
# undone: as it was before the landing, and not landed
undone() {
	git agent land --undo $s && picture >../after && test_cmp ../before ../after && git agent list | grep "^$s .*captured"
}

# ---- under another name

for edit in : 'put moved@2A8M'; do
	made=moved@8M
	[ "$edit" = : ] || made=moved@2A8M
	test_expect_success "moved by the agent, then committed here: the move is committed ($edit)" '
		session "put f@8M" "git mv f moved; $edit; put g@2A" && git commit -qam mine && picture >../before && git agent land --dry-run $s 2>../out && ! grep uncommitted ../out && git agent land $s 2>../out && ! grep uncommitted ../out &&
		are "-f $made g@2A" "-f $made g@2A" "-f $made g@2A" && git agent list | grep "^$s .*landed" && undone
	'
	test_expect_success "moved by the agent, and still uncommitted: the move is as well ($edit)" '
		session "put f@8M" "git mv f moved; $edit; put g@2A" && picture >../before && git agent land $s && are "-f $made g@2A" g@2A g@2A && undone
	'
done
test_expect_success 'moved by the agent, committed here, but not all that was uncommitted: no half of the move is committed' '
	session "put f@8M run*@8M" "git mv f moved; put g@2A" && git commit -qm mine f && picture >../before && git agent land --dry-run $s && git agent land $s && are "-f moved@8M g@2A run*@8M" "f@8M g@2A" "f@8M g@2A" && undone
'
test_expect_success 'moved by the agent, where something else is by now: no half of it is brought' '
	session "put f@8M" "git mv f moved; put g@2A" && put moved=mine && picture >../before && git agent land --dry-run $s 2>../dry && git agent land $s 2>../out && for out in ../dry ../out; do
		grep "not brought: moved: it overlaps with your changes" $out && grep "not brought: f: it is there under another name, which is not brought" $out || return 1
	done && are "f@8M g@2A moved=mine" g@2A g@2A && undone
'
test_expect_success 'the same beside other work' '
	session "put f@8M" "git mv f moved; put g@2A" && put moved=mine g@8M d/h@2B && git add d/h && picture >../before && git agent land $s 2>../out && grep "not brought: moved: it overlaps with your changes" ../out && grep "not brought: f: it is there under another name, which is not brought" ../out && are "f@8M g@2A8M moved=mine d/h@2B" "g@2A d/h@2B" g@2A && undone
'
test_expect_success 'moved by the agent over a file, discarded here: the file that it came from is there' '
	session "put f@8M" "git mv -f f g; put d/h@2A" && git checkout -q f && picture >../before && git agent land $s 2>../out && cat ../out && test -e f && content d/h@2A | test_cmp - d/h && undone
'

# ---- on a clean tree git can do what path by path cannot be

for what in 'git mv f moved' 'put f@2M'; do
	case $what in
	put*) dirty=$what agent='put f@2M3A' committed=f@2M3A ;;
	*) dirty='git mv f moved' agent='put moved@2A' committed='-f moved@2A' ;;
	esac
	test_expect_success "committed here, and nothing else is in the way: what git has to merge lands, that uncommitted ($dirty)" '
		session "$dirty" "$agent; put g@2A; echo g text >.gitattributes" && git commit -qam mine && picture >../before && git agent land --dry-run $s 2>../dry && git agent land $s 2>../out && grep "uncommitted: " ../out && grep "uncommitted: " ../dry &&
		git show HEAD:g >../got && content g@2A | test_cmp - ../got && git cat-file -e HEAD:.gitattributes && state $committed g@2A ".gitattributes=g text" >../want && work_is | test_cmp ../want - && undone
	'
	test_expect_success "without that it is committed ($dirty)" '
		session "$dirty" "$agent; put g@2A" && git commit -qam mine && picture >../before && git agent land $s && are "$committed g@2A" "$committed g@2A" "$committed g@2A" && undone
	'
done
test_expect_success 'moved, then discarded here: attributes land' '
	session "put f@8M" "git mv f moved; put g@2A; echo g text >.gitattributes" && git checkout -q f && picture >../before && git agent land $s && git cat-file -e HEAD:.gitattributes && test -e f && undone
'
test_expect_success 'moved, then discarded here: a submodule goes' '
	rm -rf sub && git init -q sub && git -C sub commit -q --allow-empty -m one && begin && git -c protocol.file.allow=always submodule --quiet add ../sub lib && git commit -qm sub && put f@8M && s=s$(count) && git agent start -q --name $s -- sh -c "$words git mv f moved; put g@2A; git rm -q --cached lib; git commit -qm gone" && git agent review --accept-all --critical $s && git checkout -q f && picture >../before &&
	git agent land $s && test_must_fail git rev-parse -q --verify HEAD:lib && content g@2A | test_cmp - g && git agent land --undo $s && picture >../after && test_cmp ../before ../after
'

# ---- what the branch has as well

test_expect_success 'left out, and on the branch by now: the dry run says that it is not brought, as the landing does' '
	session "put f@2M" "put f@2M3A g@2A" && git stash -q && git switch -q agent/$s && put f@8C && git commit -qam branch && git switch -q main && picture >../before && git agent land --dry-run $s 2>../dry && git agent land $s 2>../out && cat ../dry ../out &&
	grep "not brought: f: the branch has another version" ../dry && grep "not brought: f: the branch has another version" ../out && ! grep uncommitted ../dry && are "f@8C g@2A" "f@8C g@2A" "f@8C g@2A" && git show refs/agent/$s/carried:f >../got && content f@2M3A | test_cmp - ../got && undone
'
test_expect_success 'left out, and a file where it has to have a directory comes with the branch' '
	session "put n/o=mine" "put n/o=theirs g@2A" && mv n ../n && git switch -q agent/$s && put n=file && git add n && git commit -qm branch && git switch -q main && picture >../before && git agent land --dry-run $s 2>../dry && grep "not brought: n/o: the branch has another version" ../dry && git agent land $s 2>../out && grep "not brought: n/o: the branch has another version" ../out && content n=file | test_cmp - n && undone
'

# ---- a part of it

test_expect_success 'only one of the paths that are on no branch, and nothing else is to land' '
	session "put f@2M g@2M" "put f@2M3A g@2M3A" && picture >../before && git agent land --dry-run $s -- f 2>../dry && grep "uncommitted: f" ../dry && ! grep "uncommitted: g" ../dry && picture >../after && test_cmp ../before ../after &&
	git agent land $s -- f 2>../out && grep "uncommitted: f" ../out && ! grep "uncommitted: g" ../out && are "f@2M3A g@2M" "" "" && git agent list | grep "^$s .*captured" && picture >../between &&
	test_expect_code 128 git agent land $s -- old 2>../err && grep "nothing to land at .old." ../err && git agent land $s -- g && are "f@2M3A g@2M3A" "" "" && git agent list | grep "^$s .*landed" && git agent land --undo $s && picture >../after && test_cmp ../between ../after && git agent land --undo $s && picture >../after && test_cmp ../before ../after
'
test_expect_success 'the same where the branch has landed already' '
	session "put f@2M g@2M" "put f@2M3A g@2M3A old@2A" && git merge -q -m plain agent/$s && picture >../before && git agent land $s -- f && are "f@2M3A g@2M old@2A" old@2A old@2A && git agent land $s -- g && are "f@2M3A g@2M3A old@2A" old@2A old@2A
'

test_expect_success 'one that is on no branch, and is committed here, lands as a commit' '
	session "put f@2M" "put f@2M3A" && git commit -qam mine && picture >../before && git agent land --dry-run $s -- f 2>../dry && cat ../dry && ! grep "nothing to land" ../dry && git agent land $s -- f && are f@2M3A f@2M3A f@2M3A && git agent list | grep "^$s .*landed" && undone
'
for beside in : 'put g@8M'; do
	test_expect_success "the old name of what the agent moved alone: it stays, with what is uncommitted in it ($beside)" '
		session "put f@8M" "git mv f moved; put old@2A" && eval "$beside" && picture >../before && git agent land --dry-run $s -- f 2>../dry && git agent land $s -- f 2>../out && for out in ../dry ../out; do
			grep "not brought: f: it is there under another name, which is not brought" $out || return 1
		done && picture >../after && test_cmp ../before ../after && git agent land $s -- moved && content f@8M | test_cmp - moved && content f@8M | test_cmp - f && git agent land $s -- f && test ! -e f && content f@8M | test_cmp - moved
	'
done

for beside in : 'put old@8M'; do
	test_expect_success "a file that the agent removed, and another that it moved, which is not asked for: only that one stays ($beside)" '
		session "put f@8M g@5N" "git mv f moved; rm g; put run*@2A" && eval "$beside" && picture >../before && git agent land --dry-run $s -- g f 2>../dry && git agent land $s -- g f 2>../out && for out in ../dry ../out; do
			grep "not brought: f: it is there under another name, which is not brought" $out && test "$(grep -c "not brought" $out)" = 1 || return 1
		done && test ! -e g && content f@8M | test_cmp - f && git agent land --undo $s && picture >../after && test_cmp ../before ../after
	'
done
test_expect_success 'the same where the moved one cannot come, with all that lands' '
	session "put f@8M g@5N" "git mv f moved; rm g; put run*@2A" && put moved=mine && picture >../before && git agent land $s 2>../out && cat ../out && grep "not brought: f: it is there under another name" ../out && grep "not brought: moved: it overlaps" ../out && test "$(grep -c "not brought" ../out)" = 2 && test ! -e g && test -e f && undone
'
test_expect_success 'a file that has nothing of its own to know it by stays' '
	session "rm f; seq 8 >f; put g@5M" "git mv f moved; rm g" && git agent land $s -- f 2>../out && cat ../out && test -e f && seq 8 | test_cmp - f
'

# ---- in the place of what is uncommitted

# in_place AGENT COMES STAYS: in the place of STAYS, which has uncommitted work, the agent put COMES
in_place() {
	what=$1 comes=$2 stays=$3
	test_expect_success "a file and a directory in place of each other: none of it comes, or all ($1)" '
		for also in : "put g@2A"; do
			session "put f@8M d/h@8M" "$what; $also" && git commit -q --allow-empty -m mine && picture >../before && git agent land --dry-run $s 2>../dry && git agent land $s 2>../out && cat ../out && for out in ../dry ../out; do
				grep "not brought: $(name $comes): " $out && grep "not brought: $stays: what comes in its place is not brought; the agent removed it" $out && test "$(grep -c "not brought" $out)" = 2 || return 1
			done && content $stays@8M | test_cmp - $stays && { test "$also" = : || content g@2A | test_cmp - g; } || return 1
		done && undone && put old@2M && git add old && git agent land $s && test ! -f $stays && content $comes | test_cmp - $(name $comes)
	'
}
in_place "rm f; mkdir f; put f/in=in" f/in=in f
in_place "rm -r d; put d=in" d=in d/h

# ---- after a conflict

for how in merge rebase; do
	test_expect_success "committed here, and a conflict elsewhere: it is brought when that is resolved, $how" '
		session "put g@2M" "put g@2M3A f@2A d/h@2A" && put f@2M && git commit -qam mine && picture >../before && test_expect_code 4 git agent land --$how $s && put f@2R && git add f && git agent land --continue $s 2>../out && cat ../out && grep "uncommitted: g" ../out && are "f@2R g@2M3A d/h@2A" "f@2R g@2M d/h@2A" "f@2R g@2M d/h@2A" && git agent list | grep "^$s .*landed" && undone
	'
	test_expect_success "the branch has it by now, and a conflict elsewhere: that is said when it is resolved, $how" '
		session "put g@2M" "put g@2M3A f@2A" && git stash -q && git switch -q agent/$s && put g@5C && git commit -qam branch && git switch -q main && put f@2M && git commit -qam mine && picture >../before && test_expect_code 4 git agent land --$how $s && put f@2R && git add f && git agent land --continue $s 2>../out && cat ../out && grep "not brought: g: the branch has another version" ../out && are "f@2R g@5C" "f@2R g@5C" "f@2R g@5C" && undone
	'
done

# ---- meanwhile

test_expect_success 'moved by the agent, and written to meanwhile: the file that stays is not looked at when that is undone' '
	session "put f@8M" "git mv f moved; put g@2A" && printf "#!/bin/sh\necho x >moved\n" >.git/hooks/post-merge && chmod +x .git/hooks/post-merge && git agent land $s 2>../out && cat ../out && grep "not brought: moved: it was changed meanwhile" ../out && grep "not brought: f: it is there under another name, which is not brought" ../out && put f@8M9U && git agent land --undo $s && content f@8M9U | test_cmp - f && test "$(cat moved)" = x && content g@ | test_cmp - g
'

test_expect_success 'what is too much to tell from each other by its lines stays, as it may be there' '
	begin && for i in 1 2 3 4; do seq -f "line $i number of %.0f" 150000 >big$i && put own$i@ || exit 1; done && git add -A && git commit -qm big && for i in 1 2 3 4; do echo "my own uncommitted line of big $i" >>big$i && echo "my own uncommitted line of own $i" >>own$i || exit 1; done && s=s$(count) && git agent start -q --name $s -- sh -c "$words for i in 1 2 3 4; do git mv own\$i moved\$i; rm big\$i; done; put g@2A" && for i in 1 2 3 4; do echo in the way >moved$i || exit 1; done && git commit -q --allow-empty -m mine &&
	git agent land $s 2>../out && cat ../out && grep "not brought: moved1: " ../out && test ! -e big1 && test -e big4 && grep "not brought: big4: it is there under another name, which is not brought" ../out && content g@2A | test_cmp - g
'

# ---- as git converts it

test_expect_success 'line ends that are kept as they are committed, whatever git would make of a new file' '
	session "put f%@; git commit -qam crlf; git config core.autocrlf input; put f%@2M" "put f%@2M3A g@2A" && git agent land $s 2>../out && cat ../out && grep "uncommitted: f" ../out && content f%@2M3A | test_cmp - f && git show HEAD:f >../is && content f%@ | test_cmp - ../is && test "$(git diff --numstat f)" = "2	2	f" && git agent land --undo $s && content f%@2M | test_cmp - f
'
test_expect_success 'files of many kinds at once: each as git has it, but for those that it cannot convert' '
	session "put f@2M g@2M run*@2M old@2M w/x@2M" "put f@2M3A g@2M3A run*@2M3A old@2M3A; echo w/x filter=never >w/.gitattributes; put w/x@2M3A; put new@2A" && cat >.git/info/attributes <<-EOF &&
	f filter=mark
	g text eol=crlf
	run working-tree-encoding=UTF-16LE
	old filter=unsmudged
	EOF
	git config filter.mark.clean "sed s/^S//" && git config filter.mark.smudge "sed s/^/S/" && git config filter.unsmudged.clean cat && git config filter.unsmudged.smudge false && git config filter.unsmudged.required true && git config filter.never.smudge "touch ../never; cat" &&
	sed -i s/^/S/ f && sed -i "s/$/$(printf "\r")/" g && content run*@2M | iconv -f UTF-8 -t UTF-16LE >run && git commit -q --allow-empty -m mine &&
	for i in 1 2 3; do git agent land $s 2>../out && break || git agent review --accept-all --critical $s || return 1; done && cat ../out &&
	grep "not brought: old: git cannot convert it" ../out && test "$(grep -c "not brought" ../out)" = 1 &&
	content f@2M3A | sed s/^/S/ | test_cmp - f && content g%@2M3A | test_cmp - g && content run*@2M3A | iconv -f UTF-8 -t UTF-16LE | test_cmp - run && test -x run && content old@2M | test_cmp - old && content w/x@2M3A | test_cmp - w/x && test ! -e ../never && find ../.local -name work -prune -o -name "carry.*" -print >../left && test_cmp /dev/null ../left
'
test_expect_success 'one that git cannot read stays, and the others come' '
	session "put f@2M g@2M d/h=mine run*@2M old@2M" "put f@2M3A g@2M3A d/h=theirs run*@2M3A old@2M3A" && git commit -q --allow-empty -m mine && echo "d/h filter=bad" >.git/info/attributes && git config filter.bad.clean false && git config filter.bad.required true && for i in 1 2 3; do git agent land $s 2>../out && break || git agent review --accept-all --critical $s || return 1; done && cat ../out &&
	grep "not brought: d/h: git cannot convert it" ../out && test "$(grep -c "not brought" ../out)" = 1 && are "f@2M3A g@2M3A d/h=mine run*@2M3A old@2M3A" "" ""
'
test_expect_success 'thousands of them take seconds' '
	begin && mkdir many && (cd many && for i in $(seq 2000); do echo 1 >$i; done) && git add -A && git commit -qm many && sed -i "1s/.*/mine/" many/* && s=s$(count) && git agent start -q --name $s -- sh -c "for f in many/*; do echo theirs >>\$f; sed -i 1s/mine/both/ \$f; done" && git commit -q --allow-empty -m mine && git agent review --accept-all --critical $s && GIT_TRACE="$PWD/../trace" git agent land $s 2>../out && grep -c . ../out && grep -l both many/* | wc -l | grep -x 2000 && test "$(grep -c "git hash-object\|git cat-file\|git update-index\|git checkout-index" ../trace)" -lt 20
'

# ---- flags

test_expect_success 'what is left out is flagged in the review, and decided there' '
	begin && printf "all:\n\techo a\n" >Makefile && git add Makefile && git commit -qm make && printf "all:\n\techo b\n" >Makefile && s=s$(count) && git agent start -q --name $s -- sh -c "$words printf \"all:\n\techo c\n\" >Makefile; put g@2A" &&
	git agent review --stat $s >../out && cat ../out && grep "^  high (1)" ../out && test_expect_code 3 git agent land $s 2>../err && grep "has open flags: 1 high" ../err && git agent review --accept-all $s && git agent land $s && grep "echo c" Makefile && git show HEAD:Makefile | grep "echo a" &&
	git agent land --undo $s && git agent review --reject $s Makefile && git agent land $s && grep "echo b" Makefile
'

test_done
