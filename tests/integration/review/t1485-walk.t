#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='deciding step by step on a terminal'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
TERM=xterm
export TERM
pty=$TEST_BUILDDIR/tests/helpers/ptydrive

# walk NAME STEP...: review -i on a terminal. The steps are those of ptydrive, in short: `?TEXT` is what is to come,
# `>KEYS` what is typed, and `=STATUS` how it ends.
walk() {
	walk_name=$1
	shift
	steps "$@"
	eval "\"\$pty\" $steps mode=cooked -- git agent review -i $walk_opts \"\$walk_name\""
}
# steps STEP...: as ptydrive takes them, $steps
steps() {
	steps=
	for step; do
		case $step in
		\?*) step=expect=${step#?} ;;
		\>*) step="send=${step#?}\r" ;;
		=*) step=exit=${step#?} ;;
		esac
		steps="$steps '$step'"
	done
}
walk_opts=
verdicts() {
	git agent review --json "$1" | python3 -c '
import json, sys
print(*sorted(f["path"] + ":" + f["verdict"] for f in json.load(sys.stdin)["flags"]))'
}
# a_session NAME [COMMANDS]: a session in r, with a bit of everything
a_session() {
	test_session "$1" "${2:-$(cat "$TRASH/work")}"
}
cat >"$TRASH/work" <<-\EOF
	sed -i -e 3s/3/three/ -e 5s/5/five/ -e 30s/30/thirty/ a
	printf "all:\n\techo mine\n" >Makefile
	echo evil >.envrc
	echo z >z
EOF
# pager_that COMMANDS: the pager of this test reads what it gets, and runs these
pager_that() {
	printf "#!/bin/sh\ncat >/dev/null\n%s\n" "$1" >"$HOME/pager"
	chmod +x "$HOME/pager"
	GIT_PAGER=$HOME/pager
	export GIT_PAGER
}

test_that 'make a repository with a session' '
	test_enter r &&
	seq 40 >a &&
	echo b >b &&
	printf "all:\n\techo ok\n" >Makefile &&
	test_commit base &&
	a_session nothing
'
cd r || exit 1

test_that TTY 'flagged paths come first, with their flags and their diff' '
	a_session all &&
	walk all "?.envrc" "?(held)" "?critical" "?[direnv]" "?+evil" \
		"?(1/4) accept .envrc [y,n,p,j,k,u,q,?]? " ">n" \
		"?high" "?[make]" "?mine" "?(2/4) accept Makefile" ">y" \
		"?+three" "?(3/4) accept a " ">j" "?+z" "?(4/4) accept z " ">n" \
		"?1 to accept, 2 to reject, 1 left as they are" "?do it [y,n]? " ">y" \
		"?0 open flags left" "?git agent land all" =0 &&
	verdicts all | grep -x ".envrc:rejected Makefile:accepted" &&
	test_prints "Makefile\na" git diff --name-only main agent/all &&
	test_missing refs/agent/all/held &&
	test "$(git rev-list --count refs/agent/all/report)" = 2 &&
	git agent land --dry-run all
'

test_that TTY 'an accepted path that was held comes in one go with what is rejected' '
	a_session held &&
	walk held "?(1/4) accept .envrc" ">y" "?(2/4)" ">n" "?(3/4)" ">q" "?1 to accept, 1 to reject" ">y" \
		"?0 open flags" =0 &&
	test_holds agent/held:.envrc evil &&
	test_same agent/held:Makefile main:Makefile &&
	test_prints "Accept what was held\nRestore rejected paths" git log --format=%s -2 agent/held &&
	git log -1 --format=%gs -g agent/held | grep -x "agent: accept and reject"
'

test_that TTY 'quitting, end of file, Ctrl-C and a lost terminal decide nothing' '
	a_session quit &&
	git for-each-ref >../before &&
	walk quit "?(1/4)" ">n" "?(2/4)" ">q" "?do it" ">x" "?do it" ">n" "?nothing was changed" =0 &&
	walk quit "?(1/4)" ">y" "?(2/4)" "send=\x04" "?nothing was decided" =0 &&
	$pty expect="(1/4)" send="n\r" expect="(2/4)" send="\x03" exit=130 mode=cooked -- git-agent review -i quit &&
	walk quit "?(1/4)" ">y" "?(2/4)" ">q" "?do it" "send=\x04" "?nothing was changed" =0 &&
	$pty expect="(1/4)" send="y\r" expect="(2/4)" close exit=129 -- git-agent review -i quit &&
	walk quit "?(1/4)" ">j" "?(2/4)" ">q" "?nothing was decided" =0 &&
	git for-each-ref | test_cmp ../before -
'

test_that TTY 'an answer can be undone, and one that is none shows the help' '
	walk quit "?(1/4)" ">n" "?(2/4)" ">k" "?(rejected, 1/4)" ">u" "?(1/4)" ">?" "?y - accept" "?q - quit" \
		"?(1/4)" ">" "?y - accept" "?(1/4)" ">\xc3\xa4" "?? - this help" "?(1/4)" ">k" "?(1/4)" \
		">j" "?(2/4)" ">n" "?(3/4)" ">q" "?0 to accept, 1 to reject, 3 left" ">y" \
		"?1 open flag left" =0 &&
	verdicts quit | grep -x ".envrc:open Makefile:rejected"
'

test_that TTY 'the pager shows all of a path, of which a window full is shown at once' '
	a_session long "seq 1000 >long" &&
	test_script ../count "wc -l" &&
	GIT_PAGER=$HOME/count &&
	export GIT_PAGER &&
	walk long "?+7" "?more lines: p shows all of them" "?(1/1)" ">p" "?1007" "?(1/1) accept" ">q" =0 >../out &&
	! grep "^+500" ../out
'

test_that TTY 'interactive.singleKey needs no return, and signals restore the terminal' '
	test_when_finished git config --unset interactive.singleKey &&
	git config interactive.singleKey true &&
	git for-each-ref >../before &&
	walk nothing "?(1/4)" send=n "?(2/4)" send=q "?do it" send=n \
		"?nothing was changed" =0 &&
	for sig in INT:130 TERM:143 HUP:129; do
		$pty expect="(1/4)" signal=${sig%:*} exit=${sig#*:} mode=cooked -- git-agent review -i nothing ||
			exit 1
	done &&
	walk nothing "?(1/4)" "send=\x04" "?nothing was decided" =0 &&
	git for-each-ref | test_cmp ../before - &&
	: what a prompt looks like in the output, but not in the line that sets it &&
	steps ">PS1=out\"\"put\"> \"" "?output> " ">git-agent review -i nothing" "?(1/4)" "send=\x1a" ?Stopped \
		"?output> " ">echo coo\"\"ked" ?cooked ">fg" "?git-agent review" sleep=300 send=q \
		"?nothing was decided" \
		"?output> " ">exit 0" =0 &&
	eval "\"\$pty\" $steps -- bash --norc --noprofile -i"
'

test_that TTY 'TT-04: names, contents and reasons reach the terminal escaped' '
	a_session esc "
		n=\$(printf \"a\033]0;x\007\nb\")
		printf \"one\033[2J\ntwo\r\n\342\200\256x\n\" >\"\$n\"
		mkdir \"\$n.d\"
		echo evil >\"\$n.d/.envrc\"" &&
	git config color.ui false &&
	walk esc "?(1/2) accept \"a\\\\e]0;x\\\\x07\\\\nb.d/.envrc\"" ">j" \
		"?+one\\\\e[2J" "?(2/2)" ">n" "?do it" ">n" =0 >../out &&
	git config --unset color.ui &&
	for raw in "\033" "\007" "\342\200\256"; do
		! LC_ALL=C grep "$(printf "$raw")" ../out || exit 1
	done
'

test_that TTY 'a session without flags is accepted, and one without changes has nothing to decide' '
	a_session empty true &&
	walk empty "?nothing was decided" =0 &&
	a_session plain "echo p >p" &&
	walk plain "?(1/1) accept p" ">y" "?do it" ">y" "?no flag was among these" =0 &&
	git agent land --dry-run plain
'

test_that TTY 'a diff filter of the agent is not run' '
	a_session filter "
		sed -i -e 3s/3/three/ -e 5s/5/five/ -e 30s/30/thirty/ a
		printf \"[interactive]\n\tdiffFilter = touch $HOME/PWNED\n\" |
			tee .gitconfig >\$HOME/.gitconfig
		git config interactive.diffFilter \"touch $HOME/PWNED\"
		printf \"x\033[2J\n\" >y" &&
	walk filter "?critical" "?+[interactive]" "?(1/3)" ">j" "?(2/3)" ">j" "?+three" "?(3/3)" ">q" \
		"?nothing was decided" =0 &&
	test ! -e ../PWNED
'

test_that 'review -i needs a terminal, and goes with no other way of showing or deciding' '
	printf "y\ny\n" >../yes &&
	test_fails 129 "asks on a terminal" git agent review -i all <../yes >../out &&
	for o in --accept --accept-all --reject --json --stat --format=markdown; do
		test_expect_code 129 git agent review -i $o all || exit 1
	done
'

# ---- what changes between the review and the decision

test_that TTY 'a branch that moved since it was shown is not decided about, but asked about again' '
	a_session race "
		sed -i 3s/3/three/ a
		echo n >n" &&
	pager_that "git update-ref refs/heads/agent/race \\
		\$(git commit-tree -p agent/race -m mine agent/nothing^{tree})
		echo changed" &&
	walk race "?(1/2) accept a" ">p" ?changed "?(1/2)" ">n" "?(2/2)" ">j" "?do it" ">y" \
		"?is not where it was when it was reviewed" "?your answers are kept: try it again [y,r,n,?]? " ">y" \
		"?(1/3) accept Makefile" ">j" "?(2/3) accept a" ">j" "?(3/3) accept z" ">q" \
		"?nothing was decided" =0 &&
	test "$(git log -1 --format=%s agent/race)" = mine &&
	for answer in "send=\x04" ">n"; do
		walk race "?(1/3)" ">p" ?changed "?(1/3)" ">n" "?(2/3)" ">q" "?do it" ">y" \
			"?is not where it was" "?[y,r,n,?]? " "$answer" =4 >../out || exit 1
	done &&
	grep -c "is not where it was" ../out | grep -x 1
'

test_that TTY 'answers outlive a commit of somebody else, and only that is asked about' '
	a_session more &&
	blob=$(echo mine | git hash-object -w --stdin) &&
	pager_that "GIT_INDEX_FILE=$HOME/more.index
		export GIT_INDEX_FILE
		git read-tree agent/more
		git update-index --add --cacheinfo 100644,$blob,mine
		git update-ref refs/heads/agent/more \$(git commit-tree -p agent/more -m mine \$(git write-tree))
		echo committed" &&
	walk_opts="--remark mine" &&
	walk more "?(1/4)" ">n" "?(2/4)" ">y" "?(3/4) accept a" ">n" "?(4/4) accept z" ">p" ?committed "?(4/4)" ">j" \
		"?1 to accept, 2 to reject, 1 left" "?do it" ">y" "?is not where it was" \
		"?[y,r,n,?]? " ">y" \
		"?(4/5) accept mine" ">k" "?(rejected, 3/5) accept a" ">j" "?(4/5) accept mine" ">j" \
		"?1 to accept, 2 to reject, 2 left" "?do it" ">y" \
		"?0 open flags left" =0 >../out &&
	! grep "(1/5)" ../out &&
	test_holds agent/more:mine mine &&
	git cat-file -e agent/more:z &&
	test_same agent/more:a main:a &&
	verdicts more | grep -x ".envrc:rejected Makefile:accepted" &&
	cat "$HOME"/.local/state/git-agent/*/sessions/more/remarks >../fb.more &&
	grep -A 2 "^> mine$" ../fb.more | grep "^diff --git a/.envrc b/.envrc$" &&
	grep "^+three" ../fb.more
'

test_that TTY 'a decision that is refused and given up changes nothing, and fails' '
	a_session up &&
	git for-each-ref >../before &&
	pager_that "git worktree add -q $HOME/up.wt agent/up && echo added" &&
	walk up "?(1/4)" ">p" ?added "?(1/4)" ">n" "?(2/4)" ">n" "?(3/4)" ">q" "?do it" ">y" "?checked out" \
		"?[y,r,n,?]? " ">n" =128 &&
	git for-each-ref | test_cmp ../before -
'

test_done
