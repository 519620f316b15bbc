#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='deciding step by step on a terminal'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
TERM=xterm
export TERM
pty=$TEST_BUILDDIR/tests/helpers/ptydrive

# walk NAME STEP...: on a terminal, what is to come and what is typed
walk() {
	walk_name=$1
	shift
	"$pty" "$@" mode=cooked -- git agent review -i $walk_opts "$walk_name"
}
walk_opts=
# what a prompt looks like in the output, but not in the line that sets it
prompt="PS1=out''put'> '\\r"
verdicts() {
	git agent review --json "$1" | python3 -c '
import json, sys
print(*sorted(f["path"] + ":" + f["verdict"] for f in json.load(sys.stdin)["flags"]))'
}

test_expect_success 'a repository, and sessions with a bit of everything' '
	git init -q r &&
	cd r &&
	seq 40 >a &&
	echo b >b &&
	printf "all:\n\techo ok\n" >Makefile &&
	git add -A &&
	git commit -qm base &&
	cat >../work <<-\EOF &&
	sed -i -e 3s/3/three/ -e 5s/5/five/ -e 30s/30/thirty/ a
	printf "all:\n\techo mine\n" >Makefile
	echo evil >.envrc
	echo z >z
	EOF
	for name in quit all back parts nothing held; do
		git agent start -q --name $name -- sh -c "$(cat ../work)" || exit 1
	done
'

test_expect_success TTY 'flagged paths first, with their flags and their diff; accept, reject, leave' '
	cd r &&
	walk all expect=".envrc" expect="(held back)" expect="critical" expect="[direnv]" expect="+evil" expect="(1/4) accept .envrc [y,n,s,p,j,k,u,q,?]? " send="n\r" \
		expect="high" expect="[make]" expect="mine" expect="(2/4) accept Makefile" send="y\r" \
		expect="+three" expect="(3/4) accept a " send="j\r" expect="+z" expect="(4/4) accept z " send="n\r" \
		expect="1 to accept, 2 to reject, 0 to reject in part, 1 left as they are" expect="do it [y,n]? " send="y\r" expect="0 open flags left" expect="git agent land all" exit=0 &&
	verdicts all | grep -x ".envrc:rejected Makefile:accepted" &&
	git diff --name-only main agent/all >../got &&
	printf "Makefile\na\n" | test_cmp - ../got &&
	test_must_fail git rev-parse -q --verify refs/agent/all/held &&
	test "$(git rev-list --count refs/agent/all/report)" = 2 &&
	git agent land --dry-run all
'

test_expect_success TTY 'accepting brings what is held back, critical or not, in one go with rejecting' '
	cd r &&
	walk held expect="(1/4) accept .envrc" send="y\r" expect="(2/4)" send="n\r" expect="(3/4)" send="q\r" expect="1 to accept, 1 to reject" send="y\r" expect="0 open flags" exit=0 &&
	test "$(git show agent/held:.envrc)" = evil &&
	test "$(git rev-parse agent/held:Makefile)" = "$(git rev-parse main:Makefile)" &&
	git log --format=%s main..agent/held | head -2 >../got &&
	printf "%s\n" "Accept what was held back" "Put rejected paths back" | test_cmp - ../got &&
	git log -1 --format=%gs -g agent/held | grep -x "agent: accept and reject"
'

test_expect_success TTY 'quitting does nothing that was not decided, and nothing without a yes' '
	cd r &&
	git for-each-ref >../before &&
	walk quit expect="(1/4)" send="q\r" expect="nothing was decided" exit=0 &&
	walk quit expect="(1/4)" send="n\r" expect="(2/4)" send="q\r" expect="do it" send="x\r" expect="do it" send="n\r" expect="nothing was changed" exit=0 &&
	walk quit expect="(1/4)" send="y\r" expect="(2/4)" send="\x04" expect="nothing was decided" exit=0 &&
	$pty expect="(1/4)" send="n\r" expect="(2/4)" send="\x03" exit=130 mode=cooked -- git-agent review -i quit &&
	walk quit expect="(1/4)" send="y\r" expect="(2/4)" send="q\r" expect="do it" send="\x04" expect="nothing was changed" exit=0 &&
	$pty expect="(1/4)" send="y\r" expect="(2/4)" close exit=129 -- git-agent review -i quit &&
	git for-each-ref | test_cmp ../before - &&
	walk quit expect="(1/4)" send="j\r" expect="(2/4)" send="q\r" expect="nothing was decided" exit=0 &&
	git for-each-ref | test_cmp ../before -
'

test_expect_success TTY 'back, undo, help, and what is no answer' '
	cd r &&
	walk back expect="(1/4)" send="n\r" expect="(2/4)" send="k\r" expect="(rejected, 1/4)" send="u\r" expect="(1/4)" send="?\r" expect="y - accept" expect="q - quit" expect="(1/4)" send="\r" expect="y - accept" expect="(1/4)" send="\xc3\xa4\r" expect="? - this help" expect="(1/4)" send="k\r" expect="(1/4)" \
		send="j\r" expect="(2/4)" send="n\r" expect="(3/4)" send="q\r" expect="0 to accept, 1 to reject, 0 to reject in part, 3 left" send="y\r" expect="1 open flag left" exit=0 &&
	verdicts back | grep -x ".envrc:open Makefile:rejected"
'

test_expect_success TTY 'parts: hunks, split to the smallest, kept and rejected' '
	cd r &&
	walk parts expect="(1/4)" send="j\r" expect="(2/4)" send="j\r" expect="(3/4) accept a" send="s\r" expect="+five" expect="(1/2 of a) keep this part [y,n,a,d,s,p,j,k,q,?]? " send="s\r" expect="@@ -1,4 +1,4 @@" expect="+three" expect="(1/3 of a)" send="s\r" expect="cannot be split any further" expect="(1/3 of a)" send="?\r" expect="keep this part and the rest" \
		expect="(1/3 of a)" send="y\r" expect="+five" expect="(2/3 of a)" send="n\r" expect="+thirty" expect="(3/3 of a)" send="k\r" expect="(rejected, 2/3 of a)" send="j\r" expect="(3/3 of a)" send="y\r" expect="(4/4)" send="s\r" expect="(1/1 of z)" send="n\r" \
		expect="0 to accept, 1 to reject, 1 to reject in part, 2 left" send="y\r" expect="2 open flags left" exit=0 &&
	git show agent/parts:a >../got &&
	seq 40 | sed -e 3s/3/three/ -e 30s/30/thirty/ | test_cmp - ../got &&
	! git cat-file -e agent/parts:z
'

test_expect_success TTY 'what was decided about parts is taken back with the path; one without parts is asked about again' '
	cd r &&
	git agent start -q --name undo -- sh -c "
		sed -i -e 3s/3/three/ -e 30s/30/thirty/ a
		printf \"a\000\" >bin
		echo z >z" &&
	git for-each-ref >../before &&
	walk undo expect="(1/3) accept bin" send="j\r" expect="(2/3) accept a" send="s\r" expect="(1/2 of a)" send="n\r" expect="(2/2 of a)" send="y\r" expect="(3/3) accept z" send="k\r" expect="(in parts, 2/3)" send="u\r" expect="(2/3) accept a" send="s\r" expect="(1/2 of a)" send="q\r" expect="(2/3) accept a" send="j\r" expect="(3/3)" send="q\r" expect="nothing was decided" exit=0 &&
	walk undo expect="(1/3)" send="n\r" expect="(2/3)" send="k\r" expect="(rejected, 1/3)" send="s\r" expect="this has no parts" expect="(rejected, 1/3)" send="q\r" expect="1 to reject" send="n\r" exit=0 &&
	git for-each-ref | test_cmp ../before - &&
	git agent drop --force undo
'

test_expect_success TTY 'parts of what is flagged and held back; keeping the others accepts what is left' '
	cd r &&
	seq 30 >.envrc &&
	printf "all:\n\techo ok\n\n\n\n\n\n\n\n\nclean:\n\trm -f x\n" >Makefile &&
	git add -f .envrc Makefile &&
	git commit -qm envrc &&
	git agent start -q --name two -- sh -c "
		sed -i -e 3s/.*/PATH=x/ -e 25s/.*/evil/ .envrc
		sed -i -e 2s/ok/evil/ -e 12s/x/y/ Makefile" &&
	walk two expect="(1/2) accept .envrc" send="s\r" expect="(1/2 of .envrc)" send="y\r" expect="(2/2 of .envrc)" send="d\r" expect="(2/2) accept Makefile" send="s\r" expect="(1/2 of" send="n\r" expect="(2/2 of" send="a\r" expect="2 to reject in part" send="y\r" expect="0 open flags left" exit=0 &&
	seq 30 | sed 3s/.*/PATH=x/ >../want &&
	git show agent/two:.envrc | test_cmp ../want - &&
	git show agent/two:Makefile | grep "echo ok" &&
	git show agent/two:Makefile | grep "rm -f y" &&
	git agent land two &&
	git agent drop two
'

test_expect_success TTY 'feedback asks what to tell the agent' '
	cd r &&
	git agent start -q --name told -- sh -c "$(cat ../work)" &&
	walk_opts="--feedback $HOME/fb" &&
	walk told expect="(1/4)" send="j\r" expect="(2/4)" send="n\r" expect="what to tell the agent" send="leave the Makefile\r" expect="(3/4)" send="s\r" expect="(1/2 of a)" send="n\r" expect="(2/2 of a)" send="y\r" expect="what to tell the agent" send="\r" expect="(4/4)" send="q\r" expect="do it" send="y\r" exit=0 &&
	grep -A 2 "^> leave the Makefile$" ../fb | grep "^diff --git a/Makefile b/Makefile$" &&
	grep "^+.*mine" ../fb &&
	grep "^+three" ../fb &&
	! grep "^+thirty" ../fb &&
	! grep "^+evil" ../fb &&
	git agent drop --force told
'

test_expect_success TTY 'the pager shows all of a path, and what it shows at once fits the window' '
	cd r &&
	git agent start -q --name long -- sh -c "seq 1000 >long" &&
	printf "#!/bin/sh\nwc -l\n" >../bin-count &&
	chmod +x ../bin-count &&
	GIT_PAGER=$HOME/bin-count &&
	export GIT_PAGER &&
	walk long expect="+7" expect="more lines: p shows all of them" expect="(1/1)" send="p\r" expect="1007" expect="(1/1)" send="s\r" expect="(1/1 of long)" send="p\r" expect="1001" expect="(1/1 of" send="q\r" expect="(1/1) accept" send="q\r" exit=0 >../out &&
	! grep "^+500" ../out
'

test_expect_success TTY 'one key is enough where git has it so, and signals find the terminal as it was' '
	cd r &&
	test_when_finished git config --unset interactive.singleKey &&
	git config interactive.singleKey true &&
	git for-each-ref >../before &&
	walk nothing expect="(1/4)" send="n" expect="(2/4)" send="s" expect="(1/1 of Makefile)" send="q" expect="(2/4)" send="q" expect="do it" send="n" expect="nothing was changed" exit=0 &&
	for sig in INT TERM HUP; do
		case $sig in INT) rc=130 ;; TERM) rc=143 ;; *) rc=129 ;; esac
		$pty expect="(1/4)" signal=$sig exit=$rc mode=cooked -- git-agent review -i nothing ||
			exit 1
	done &&
	walk nothing expect="(1/4)" send="\x04" expect="nothing was decided" exit=0 &&
	git for-each-ref | test_cmp ../before - &&
	$pty send="$prompt" expect="output> " send="git-agent review -i nothing\r" expect="(1/4)" send="\x1a" expect=Stopped expect="output> " send="echo coo\"\"ked\r" expect=cooked send="fg\r" expect="git-agent review" sleep=300 send="q" expect="nothing was decided" expect="output> " send="exit 0\r" exit=0 -- bash --norc --noprofile -i
'

test_expect_success TTY 'TT-04: names, contents and reasons reach the terminal escaped' '
	cd r &&
	git agent start -q --name esc -- sh -c "
		n=\$(printf \"a\033]0;x\007\nb\")
		printf \"one\033[2J\ntwo\r\n\342\200\256x\n\" >\"\$n\"
		mkdir \"\$n.d\"
		echo evil >\"\$n.d/.envrc\"" &&
	git config color.ui false &&
	walk esc expect="(1/2) accept \"a\\\\e]0;x\\\\x07\\\\nb.d/.envrc\"" send="s\r" expect="of \"a\\\\e" send="q\r" expect="(1/2)" send="j\r" expect="+one\\\\e[2J" expect="(2/2)" send="s\r" expect="(1/1 of" send="n\r" expect="do it" send="n\r" exit=0 >../out &&
	git config --unset color.ui &&
	! LC_ALL=C grep "$(printf "\033")" ../out &&
	! LC_ALL=C grep "$(printf "\007")" ../out &&
	! LC_ALL=C grep "$(printf "\342\200\256")" ../out
'

test_expect_success TTY 'nothing to decide about, and accepting what nothing is said of' '
	cd r &&
	git agent start -q --name empty -- true &&
	walk empty expect="nothing was decided" exit=0 &&
	git agent start -q --name plain -- sh -c "echo p >p" &&
	walk plain expect="(1/1) accept p" send="y\r" expect="do it" send="y\r" expect="no flag was among these" exit=0 &&
	git agent land --dry-run plain
'

test_expect_success TTY 'interactive.diffFilter shows what is asked about, line by line, where there are colours' '
	cd r &&
	git agent start -q --name filter -- sh -c "
		sed -i -e 3s/3/three/ -e 5s/5/five/ -e 30s/30/thirty/ a
		printf \"[interactive]\n\tdiffFilter = touch $HOME/PWNED\n\" |
			tee .gitconfig >\$HOME/.gitconfig
		git config interactive.diffFilter \"touch $HOME/PWNED\"
		printf \"x\033[2J\n\" >y" &&
	test_when_finished git config --unset interactive.diffFilter &&
	walk filter expect="critical" expect="+[interactive]" expect="(1/3)" send="j\r" expect="(2/3)" send="j\r" expect="+three" expect="(3/3)" send="q\r" expect="nothing was decided" exit=0 &&
	git config interactive.diffFilter "tee -a $HOME/filtered | sed \"s/^/F: /; s/three/THREE/\"" &&
	walk filter expect="F: " expect="(1/3)" send="j\r" expect="(2/3)" send="j\r" expect="diff --git a/a b/a" expect="+THREE" expect="(3/3) accept a" send="s\r" expect="F: " expect="@@" expect="+THREE" expect="(1/2 of a)" send="s\r" expect="@@" expect="+THREE" expect="(1/3 of a)" send="j\r" expect="+five" expect="(2/3 of a)" send="p\r" expect="+five" expect="(2/3 of a)" send="q\r" expect="(3/3) accept a" send="q\r" expect="nothing was decided" exit=0 >../out &&
	sed -n "/(1\/2 of a)/,\$p" ../out >../later &&
	! grep "diff --git a/a" ../later &&
	grep "three" ../filtered &&
	test "$(grep -c "diff --git a/a" ../filtered)" = 5 &&
	LC_ALL=C grep "$(printf "\033\\[32m")+three" ../filtered &&
	grep "x.e\[2J" ../filtered &&
	! LC_ALL=C grep "$(printf "\033\\[2J")" ../filtered &&
	rm ../filtered &&
	git config color.ui false &&
	walk filter expect="(1/3)" send="j\r" expect="(2/3)" send="j\r" expect="+three" expect="(3/3)" send="q\r" exit=0 &&
	git config --unset color.ui &&
	test ! -e ../filtered &&
	test ! -e ../PWNED
'

test_expect_success TTY 'one that makes other lines than it gets, or cannot be run, is said and not used; the answers stay' '
	cd r &&
	test_when_finished git config --unset interactive.diffFilter &&
	for f in "sed 1d" "sed p" "true" "no-such-filter"; do
		git config interactive.diffFilter "$f" &&
		walk filter expect="interactive.diffFilter" expect="(1/3)" send="n\r" expect="(2/3)" send="j\r" expect="+three" expect="(3/3)" send="q\r" expect="0 to accept, 1 to reject" expect="do it" send="n\r" exit=0 >../out &&
		test "$(grep -c "interactive.diffFilter" ../out)" = 1 ||
			exit 1
	done &&
	grep "no-such-filter. cannot be run" ../out &&
	git config interactive.diffFilter "cat; exit 3" &&
	walk filter expect="+[interactive]" expect="(1/3)" send="q\r" exit=0 >../out &&
	! grep "interactive.diffFilter" ../out
'

test_expect_success 'without a terminal nobody is asked, and -i goes with nothing else' '
	cd r &&
	printf "y\ny\n" >../yes &&
	test_expect_code 129 git agent review -i quit <../yes >../out 2>../err &&
	grep "asks on a terminal" ../err &&
	for o in --accept --accept-all --reject --json --left-behind --stat --textconv --format=html; do
		test_expect_code 129 git agent review -i $o quit || exit 1
	done
'

test_expect_success TTY 'what changes meanwhile is not decided about: only that is asked again, or given up' '
	cd r &&
	git agent start -q --name race -- sh -c "
		sed -i 3s/3/three/ a
		echo n >n" &&
	printf "#!/bin/sh\ncat >/dev/null\ngit update-ref refs/heads/agent/race \$(git commit-tree -p agent/race -m mine agent/quit^{tree})\necho changed\n" >../moves &&
	chmod +x ../moves &&
	GIT_PAGER=$HOME/moves &&
	export GIT_PAGER &&
	walk race expect="(1/2) accept a" send="p\r" expect=changed send="s\r" expect="(1/1 of a)" send="n\r" expect="(2/2)" send="j\r" expect="do it" send="y\r" expect="is not where it was when it was reviewed" expect="your answers are kept: try it again [y,r,n,?]? " \
		send="y\r" expect="(1/4) accept .envrc" send="j\r" expect="(2/4) accept Makefile" send="j\r" expect="(3/4) accept a" send="j\r" expect="(4/4) accept z" send="q\r" expect="nothing was decided" exit=0 &&
	test "$(git log -1 --format=%s agent/race)" = mine &&
	walk race expect="(1/4)" send="p\r" expect=changed expect="(1/4)" send="n\r" expect="(2/4)" send="q\r" expect="do it" send="y\r" expect="is not where it was" expect="[y,r,n,?]? " send="\x04" exit=4 &&
	walk race expect="(1/4)" send="p\r" expect=changed expect="(1/4)" send="n\r" expect="(2/4)" send="q\r" expect="do it" send="y\r" expect="is not where it was" expect="[y,r,n,?]? " send="n\r" exit=4 >../out &&
	grep -c "is not where it was" ../out | grep -x 1
'

test_expect_success TTY 'answers outlive a refusal: a commit of somebody else is asked about, and nothing else' '
	cd r &&
	git agent start -q --name more -- sh -c "$(cat ../work)" &&
	cat >../commits <<-\EOF &&
	#!/bin/sh
	cat >/dev/null
	GIT_INDEX_FILE=$HOME/more.index; export GIT_INDEX_FILE
	git read-tree agent/more && git update-index --add --cacheinfo 100644,$(echo mine | git hash-object -w --stdin),mine && git update-ref refs/heads/agent/more $(git commit-tree -p agent/more -m mine $(git write-tree)) && echo committed
	EOF
	chmod +x ../commits &&
	GIT_PAGER=$HOME/commits &&
	export GIT_PAGER &&
	walk_opts="--feedback $HOME/fb.more" &&
	walk more expect="(1/4)" send="n\r" expect="what to tell" send="no variables\r" expect="(2/4)" send="y\r" expect="(3/4) accept a" send="s\r" expect="(1/2 of a)" send="n\r" expect="(2/2 of a)" send="y\r" expect="what to tell" send="\r" expect="(4/4) accept z" send="p\r" expect=committed expect="(4/4)" send="j\r" \
		expect="1 to accept, 1 to reject, 1 to reject in part, 1 left" expect="do it" send="y\r" expect="is not where it was" expect="[y,r,n,?]? " send="y\r" expect="(4/5) accept mine" send="k\r" expect="(in parts, 3/5) accept a" send="j\r" expect="(4/5) accept mine" send="j\r" expect="1 to accept, 1 to reject, 1 to reject in part, 2 left" expect="do it" send="y\r" expect="0 open flags left" exit=0 >../out &&
	! grep "(1/5)" ../out &&
	test "$(git show agent/more:mine)" = mine &&
	git cat-file -e agent/more:z &&
	git show agent/more:a >../got &&
	seq 40 | sed 30s/30/thirty/ | test_cmp - ../got &&
	verdicts more | grep -x ".envrc:rejected Makefile:accepted" &&
	grep "^> no variables$" ../fb.more &&
	git agent land --dry-run more
'

test_expect_success TTY 'answers outlive a refusal: a lock of git, tried again, gone through again, and then done' '
	cd r &&
	git agent start -q --name lock -- sh -c "$(cat ../work)" &&
	printf "#!/bin/sh\ncat >/dev/null\nl=$HOME/r/.git/refs/heads/agent/lock.lock\nif test -e \$l; then rm \$l; else : >\$l; fi\necho toggled\n" >../toggles &&
	chmod +x ../toggles &&
	git for-each-ref >../before &&
	GIT_PAGER=$HOME/toggles &&
	export GIT_PAGER &&
	walk lock expect="(1/4)" send="n\r" expect="(2/4)" send="p\r" expect=toggled expect="(2/4)" send="y\r" expect="(3/4)" send="s\r" expect="(1/2 of a)" send="y\r" expect="(2/2 of a)" send="n\r" expect="(4/4)" send="n\r" expect="do it" send="y\r" expect="lock.lock" expect="[y,r,n,?]? " \
		send="?\r" expect="n - give up" expect="[y,r,n,?]? " send="y\r" expect="lock.lock" expect="[y,r,n,?]? " send="r\r" expect="(rejected, 1/4)" send="j\r" expect="(accepted, 2/4)" send="p\r" expect=toggled expect="(accepted, 2/4)" send="j\r" expect="(in parts, 3/4)" send="j\r" expect="(rejected, 4/4)" send="u\r" expect="(4/4)" send="j\r" expect="1 to accept, 1 to reject, 1 to reject in part, 1 left" expect="do it" send="y\r" expect="0 open flags left" exit=0 &&
	git cat-file -e agent/lock:z &&
	git show agent/lock:a >../got &&
	seq 40 | sed -e 3s/3/three/ -e 5s/5/five/ | test_cmp - ../got &&
	verdicts lock | grep -x ".envrc:rejected Makefile:accepted"
'

test_expect_success TTY 'a refusal that is given up changes nothing, and says which it was by its status' '
	cd r &&
	git agent start -q --name up -- sh -c "$(cat ../work)" &&
	git for-each-ref >../before &&
	printf "#!/bin/sh\ncat >/dev/null\ngit worktree add -q $HOME/up.wt agent/up && echo added\n" >../adds &&
	chmod +x ../adds &&
	GIT_PAGER=$HOME/adds &&
	export GIT_PAGER &&
	walk up expect="(1/4)" send="p\r" expect=added expect="(1/4)" send="n\r" expect="(2/4)" send="n\r" expect="(3/4)" send="q\r" expect="do it" send="y\r" expect="checked out" expect="[y,r,n,?]? " send="n\r" exit=128 &&
	git for-each-ref | test_cmp ../before - &&
	walk_opts="--feedback $HOME/no/such/file" &&
	git worktree remove ../up.wt &&
	walk up expect="(1/4)" send="n\r" expect="what to tell" send="\r" expect="(2/4)" send="q\r" expect="do it" send="y\r" expect="cannot write feedback" expect="[y,r,n,?]? " send="n\r" exit=128 &&
	git for-each-ref | test_cmp ../before -
'

test_done
