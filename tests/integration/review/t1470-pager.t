#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a review in the pager and the colours of the git of the user, while it is being made'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
TERM=xterm
export TERM
pty=$TEST_BUILDDIR/tests/helpers/ptydrive
esc=$(printf "\033")
PATH=$HOME/bin:$PATH

# script NAME COMMANDS: a program in $HOME/bin
script() {
	test_script "$HOME/bin/$1" "$2"
}

test_that 'make a repository, a session, and pagers that say which they are' '
	mkdir bin &&
	for p in of-env of-diff of-core of-PAGER of-agent; do
		script $p "cat >$HOME/paged; echo by-$p LESS=\$LESS LV=\$LV open=\$LESSOPEN."
	done &&
	test_enter r &&
	seq 30 >a &&
	echo b >b &&
	printf "x\0y" >bin &&
	test_commit base &&
	test_session s "
		sed -i \"3s/.*/three/\" a
		printf \"all:\n\techo evil\n\" >Makefile
		rm b
		printf \"\033[2J\n\" >z
		printf 1\\\0 >bin"
'

# paged_by NAME [ASSIGNMENT...]: this pager gets what review prints on a terminal
paged_by() {
	name=$1
	shift
	rm -f "$HOME/paged"
	(cd "$HOME/r" && "$pty" expect="by-$name " exit=0 mode=cooked -- env "$@" git agent review s) &&
	grep -a "^\(.\[1m\)\?session s" "$HOME/paged"
}
# not_paged [ASSIGNMENT...]: it goes to the terminal
not_paged() {
	rm -f "$HOME/paged"
	(
		cd "$HOME/r" &&
		"$pty" expect="session s" expect="next: " expect="diff --git" exit=0 mode=cooked -- \
			env "$@" git agent review s
	) &&
	test ! -e "$HOME/paged"
}

test_that TTY 'the pager is the one git would take' '
	paged_by of-PAGER PAGER=of-PAGER &&
	git config --global core.pager of-core &&
	paged_by of-core PAGER=of-PAGER &&
	git config --global pager.diff of-diff &&
	paged_by of-diff PAGER=of-PAGER &&
	paged_by of-env PAGER=of-PAGER GIT_PAGER=of-env &&
	not_paged GIT_PAGER= &&
	not_paged GIT_PAGER=cat &&
	git config --global pager.diff false &&
	not_paged PAGER=of-PAGER &&
	git config --global pager.diff true &&
	paged_by of-core PAGER=of-PAGER &&
	git config --global pager.diff "sed s/^x/y/ | of-diff" &&
	paged_by of-diff PAGER=of-PAGER &&
	git config --global --unset pager.diff &&
	git config --global core.pager "" &&
	not_paged PAGER=of-PAGER &&
	git config --global --unset core.pager
'

test_that TTY 'git --no-pager and pager.agent count, and pager.diff for review -i and diff' '
	cd r &&
	rm -f ../paged &&
	$pty expect="session s" exit=0 -- env PAGER=of-PAGER git --no-pager agent review s &&
	test ! -e ../paged &&
	git config pager.agent of-agent &&
	$pty expect="by-of-agent" exit=0 -- git agent review s &&
	git config --unset pager.agent &&
	git config pager.diff of-diff &&
	$pty expect="by-of-diff" exit=0 -- git agent diff s &&
	grep "${esc}\[32m+three" ../paged &&
	$pty expect="(1/5)" send="p\r" expect="by-of-diff" expect="(1/5)" send="q\r" exit=0 mode=cooked -- \
		git agent review -i s &&
	git config --unset pager.diff
'

test_that TTY 'TT-05: less is told what git tells it, and no LESSOPEN runs' '
	cd r &&
	$pty expect="LESS=FRX LV=-c open=." exit=0 -- \
		env PAGER=of-PAGER LESSOPEN="|touch $HOME/PWNED" git agent review s &&
	$pty expect="LESS=-X LV=-c" exit=0 -- env PAGER=of-PAGER LESS=-X git agent review s &&
	test ! -e "$HOME/PWNED"
'

test_lazy_prereq LESS 'less --version && "$pty" exit=0 -- tty'
test_that LESS 'less shows a review, and leaves the terminal as it was' '
	cd r &&
	test_session long "seq 1000 >long" &&
	$pty expect="session long" send=" " expect="long" send=q exit=0 mode=cooked -- git agent review long &&
	$pty resize=200x100 expect="next: " expect="+three" exit=0 -- git agent review s
'

test_that 'a pipe gets no pager and no colours' '
	cd r &&
	PAGER=of-PAGER GIT_PAGER=of-env git agent review s >../out &&
	! grep -a "$esc" ../out &&
	grep "^+three" ../out
'

test_that 'colours are used when git would use them, and are those of git' '
	cd r &&
	git -c color.ui=always agent review s >../out &&
	grep -F "${esc}[32m+three${esc}[m" ../out &&
	git -c color.ui=always -c color.diff=never agent review s >../out &&
	! grep -F "$esc" ../out &&
	git -c color.diff=always -c color.diff.new="bold #ff8000 ul" -c color.diff.old="brightred 235" \
		-c color.diff.meta=normal -c color.diff.frag="" -c color.diff.context=dim agent review s >../out &&
	grep -F "${esc}[1;4;38;2;255;128;0m+three${esc}[m" ../out &&
	grep -F "${esc}[91;48;5;235m-3${esc}[m" ../out &&
	grep "^diff --git a/a b/a$" ../out &&
	grep "^@@" ../out &&
	grep -F "${esc}[2m 1${esc}[m" ../out &&
	test_fails 128 "color.diff.new.* is not a colour: .greenish." \
		git -c color.diff=always -c color.diff.new=greenish agent review s >../out &&
	test ! -s ../out
'

test_that TTY 'colours reach the pager, unless color.*, NO_COLOR or TERM turn them off' '
	cd r &&
	export PAGER=of-PAGER &&
	$pty expect=by-of exit=0 -- git agent review s &&
	grep -F "${esc}[32m+three" ../paged &&
	for off in "git -c color.pager=false" "git -c color.ui=false" "git -c color.diff=never" \
		"env NO_COLOR=1 git" "env TERM=dumb git"; do
		$pty expect=by-of exit=0 -- $off agent review s &&
		! grep -F "$esc" ../paged ||
			exit 1
	done
'

test_that 'flagged files come first, and the diff of a review can be applied' '
	cd r &&
	git agent review s >../out &&
	grep "^diff --git" ../out >../got &&
	printf "diff --git a/%s b/%s\n" Makefile Makefile bin bin z z a a b b | test_cmp - ../got &&
	test_session plain "
		sed -i 20d a
		rm b
		seq 9 >new
		chmod +x bin" &&
	git agent review plain | sed -n "/^diff --git/,\$p" >../patch &&
	git worktree add -q --detach ../wt main &&
	git -C ../wt apply --index "$HOME/patch" &&
	test "$(git -C ../wt write-tree)" = "$(git rev-parse agent/plain^{tree})"
'

test_that 'a review shows what it has at once, and waits for no file at the end' '
	cd r &&
	test_session torn "echo 1 >1; seq 99 >zz" &&
	mv .git/objects/pack ../packs &&
	mkdir .git/objects/pack &&
	for p in ../packs/*.pack; do git unpack-objects -q <$p || exit 1; done &&
	f=.git/objects/$(git rev-parse agent/torn:zz | sed "s,..,&/,") &&
	mv $f ../kept &&
	test_expect_code 128 git agent review torn >../out 2>../err &&
	grep "^session torn" ../out &&
	grep "changes  1 commit, 2 files" ../out &&
	grep "cannot" ../err &&
	mv ../kept $f &&
	test_shows "^  2 files, +100 -0$" git agent review torn
'

test_that 'a reader that goes away is no error' '
	cd r &&
	test_session wide "for i in \$(seq 200); do seq 2000 >w\$i; done" &&
	{
		git agent review wide
		echo $? >../rc
	} | head -1 >../out &&
	grep "^session wide" ../out &&
	test "$(cat ../rc)" = 0 &&
	git agent review wide | grep "^+++ b/w99$"
'

test_that TTY 'a pager that ends early or fails is no error, and one that is not there is none' '
	cd r &&
	for p in "head -n 1" false; do
		$pty exit=0 mode=cooked -- env GIT_PAGER="$p" git agent review wide || exit 1
	done &&
	$pty expect="session wide" exit=0 mode=cooked -- env GIT_PAGER=no-such-pager git agent review wide &&
	mkdir -p ../few &&
	for p in git sh env; do ln -sf "$(command -v $p)" ../few/$p || exit 1; done &&
	$pty expect="session s" expect="diff --git" exit=0 mode=cooked -- \
		env PATH="$TEST_BUILDDIR:$HOME/few" git-agent review s
'

test_that TTY 'Ctrl-C ends a review once its pager has ended' '
	cd r &&
	script holds "
trap \"echo noticed\" INT
cat >/dev/null
echo in-pager
read x </dev/tty || read x </dev/tty
echo bye" &&
	$pty expect=in-pager send="\\x03" expect=noticed send="\\r" expect=bye exit=130 mode=cooked -- \
		env GIT_PAGER=holds git-agent review s
'

# ---- diff programs of the user

test_that 'neither textconv nor an external diff runs for a review or a diff' '
	cd r &&
	script conv "touch $HOME/ran; cat \"\$1\"" &&
	test_when_finished "rm .git/info/attributes; git config --remove-section diff.conv" &&
	git config diff.conv.textconv conv &&
	git config diff.conv.command conv &&
	echo "* diff=conv" >.git/info/attributes &&
	test_shows "^+three" git agent review s &&
	test_shows "^+three" git agent diff s &&
	test ! -e ../ran &&
	git diff --textconv HEAD agent/s -- a >../out &&
	test -e ../ran
'

test_that 'options of the review go with no decision' '
	cd r &&
	for o in --stat --json --format=markdown; do
		test_fails 129 "^git-agent: a decision prints no review" git agent review $o --accept-all s ||
			exit 1
	done
'

test_done
