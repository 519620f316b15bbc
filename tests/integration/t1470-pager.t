#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='a review in the pager and the colours of the user'\''s git, while it is being made'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
TERM=xterm
export TERM
pty=$TEST_BUILDDIR/tests/helpers/ptydrive

test_expect_success 'a repository, a session, and pagers that say which they are' '
	mkdir bin &&
	for p in of-env of-diff of-core of-PAGER delta; do
		printf "#!/bin/sh\ncat >$HOME/paged\necho by-%s LESS=\$LESS LV=\$LV open=\$LESSOPEN.\n" $p >bin/$p
	done &&
	chmod +x bin/* &&
	git init -q r &&
	cd r &&
	seq 30 >a &&
	echo b >b &&
	printf "x\0y" >bin &&
	git add -A &&
	git commit -qm base &&
	git agent start -q --name s -- sh -c "
		sed -i \"3s/.*/three/\" a
		printf \"all:\n\techo evil\n\" >Makefile
		rm b
		printf \"\033[2J\n\" >z
		printf 1\\\0 >bin"
'

# paged_by NAME [ASSIGNMENT...]: who gets what review prints on a terminal
paged_by() {
	name=$1
	shift
	rm -f "$HOME/paged"
	(
		cd "$HOME/r" &&
		"$pty" expect="by-$name " exit=0 mode=cooked -- env PATH="$HOME/bin:$PATH" "$@" git agent review s
	) &&
	grep -a "^\(.\[1m\)\?session s" "$HOME/paged"
}
not_paged() {
	rm -f "$HOME/paged"
	(
		cd "$HOME/r" &&
		"$pty" expect="session s" expect="next: " expect="diff --git" exit=0 mode=cooked -- env PATH="$HOME/bin:$PATH" "$@" git agent review s
	) &&
	test ! -e "$HOME/paged"
}

test_expect_success TTY 'the pager is the one git would take' '
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

test_expect_success TTY 'git --no-pager, git -p, and a pager for the whole of git agent' '
	cd r &&
	PATH="$HOME/bin:$PATH" &&
	rm -f ../paged &&
	$pty expect="session s" exit=0 -- env PAGER=of-PAGER git --no-pager agent review s &&
	test ! -e ../paged &&
	git config pager.agent delta &&
	$pty expect="by-delta" exit=0 -- git agent review s &&
	LC_ALL=C grep -q "$(printf "\033\\[32m")" ../paged &&
	git config --unset pager.agent
'

test_expect_success TTY 'TT-05: what less is told, as git has it; nothing runs on the text' '
	cd r &&
	PATH="$HOME/bin:$PATH" &&
	$pty expect="LESS=FRX LV=-c open=." exit=0 -- env PAGER=of-PAGER LESSOPEN="|touch $HOME/PWNED" git agent review s &&
	$pty expect="LESS=-X LV=-c" exit=0 -- env PAGER=of-PAGER LESS=-X git agent review s &&
	test ! -e "$HOME/PWNED"
'

test_lazy_prereq LESS 'less --version && "$pty" exit=0 -- tty'
test_expect_success LESS 'less itself' '
	cd r &&
	git agent start -q --name long -- sh -c "seq 1000 >long" &&
	for round in 1 2; do
		$pty expect="session long" send=" " expect="long" send=q exit=0 mode=cooked -- git agent review long ||
			exit 1
	done &&
	$pty resize=200x100 expect="next: " expect="+three" exit=0 -- git agent review s
'

# What delta needs, pretended: a coloured diff as git makes it, in a pipe, and the terminal for what it
# prints. It says what it found, and goes wrong where git's own output would not be read right.
cat >"$TRASH/delta" <<\EOF
#!/usr/bin/env python3
import os, re, sys
text = sys.stdin.buffer.read().decode("utf-8")
plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
assert "\x1b" not in plain, "an escape sequence that is no colour"
assert not os.isatty(0) and os.isatty(1)
files, hunks, old, new = [], 0, 0, 0
for line in plain.splitlines():
    if old or new:
        assert line[:1] in ("+", "-", " ", "\\"), line
        old -= line[:1] in ("-", " ")
        new -= line[:1] in ("+", " ")
        continue
    if line.startswith("diff --git "):
        files.append(line.split(" b/")[-1])
    m = re.match(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@", line)
    if m:
        hunks += 1
        old, new = (int(g) if g is not None else 1 for g in m.groups())
assert not old and not new, "a hunk that is cut"
print("delta:", " ".join(sys.argv[1:]), "files:", *files, "hunks:", hunks, "coloured:", "\x1b[" in text)
EOF

test_expect_success TTY 'a pager of the kind of delta, by core.pager, pager.diff and the filter of -i: a coloured diff in a pipe' '
	cd r &&
	mkdir -p ../dbin &&
	cp "$TRASH/delta" ../dbin/delta &&
	chmod +x ../dbin/delta &&
	PATH="$HOME/dbin:$PATH" &&
	files="files: Makefile bin z a b hunks: 5 coloured: True" &&
	git agent review s | grep -c "^@@" | grep -x 5 &&
	git config core.pager "delta --by=core" &&
	$pty expect="delta: --by=core $files" exit=0 mode=cooked -- git agent review s &&
	git config pager.diff "delta --by=diff" &&
	$pty expect="delta: --by=diff $files" exit=0 mode=cooked -- git agent review s &&
	$pty expect="delta: --by=diff files: Makefile" exit=0 -- git agent diff s &&
	git config --unset core.pager &&
	$pty expect="(1/5)" send="p\r" expect="delta: --by=diff files: Makefile hunks: 1 coloured: True" expect="(1/5)" send="q\r" exit=0 mode=cooked -- git agent review -i s &&
	git config --unset pager.diff &&
	GIT_PAGER="delta --by=env" &&
	export GIT_PAGER &&
	$pty expect="delta: --by=env $files" exit=0 -- git agent review s
'

test_expect_success 'nothing of it is for a pipe' '
	cd r &&
	PAGER=of-PAGER GIT_PAGER=of-env git agent review s >../out &&
	! grep -a "$(printf "\033")" ../out &&
	grep "^+three" ../out
'

test_expect_success 'colours are those of git: when, and which' '
	cd r &&
	PATH="$HOME/bin:$PATH" &&
	esc=$(printf "\033") &&
	git -c color.ui=always agent review s >../out &&
	grep -F "${esc}[32m+three${esc}[m" ../out &&
	git -c color.ui=always -c color.diff=never agent review s >../out &&
	! grep -F "$esc" ../out &&
	git -c color.diff=always -c color.diff.new="bold #ff8000 ul" -c color.diff.old="brightred 235" -c color.diff.meta=normal -c color.diff.frag="" -c color.diff.context=dim agent review s >../out &&
	grep -F "${esc}[1;4;38;2;255;128;0m+three${esc}[m" ../out &&
	grep -F "${esc}[91;48;5;235m-3${esc}[m" ../out &&
	grep "^diff --git a/a b/a$" ../out &&
	grep "^@@" ../out &&
	grep -F "${esc}[2m 1${esc}[m" ../out &&
	test_expect_code 128 git -c color.diff=always -c color.diff.new=greenish agent review s >../out 2>../err &&
	grep "color.diff.new.* is not a colour: .greenish." ../err &&
	test ! -s ../out &&
	git -c color.diff=always -c color.diff.new="blue blink" agent diff s >../out &&
	grep -F -e "${esc}[34;5m+three" -e "${esc}[5;34m+three" ../out
'

test_expect_success TTY 'on a terminal, and behind a pager' '
	cd r &&
	PATH="$HOME/bin:$PATH" &&
	esc=$(printf "\033") &&
	export PAGER=of-PAGER &&
	$pty expect=by-of exit=0 -- git agent review s &&
	grep -F "${esc}[32m+three" ../paged &&
	for c in color.pager=false color.ui=false color.diff=never; do
		$pty expect=by-of exit=0 -- git -c $c agent review s &&
		! grep -F "$esc" ../paged ||
			exit 1
	done &&
	$pty expect=by-of exit=0 -- env NO_COLOR=1 git agent review s &&
	! grep -F "$esc" ../paged &&
	$pty expect=by-of exit=0 -- env TERM=dumb git agent review s &&
	! grep -F "$esc" ../paged
'

test_expect_success 'flagged files come first, and what a diff pager gets is a diff' '
	cd r &&
	git agent review s >../out &&
	grep "^diff --git" ../out >../got &&
	printf "diff --git a/%s b/%s\n" Makefile Makefile bin bin z z a a b b | test_cmp - ../got &&
	git agent start -q --name plain -- sh -c "
		sed -i 20d a
		rm b
		seq 9 >new
		chmod +x bin" &&
	git agent review plain | sed -n "/^diff --git/,\$p" >../patch &&
	git worktree add -q --detach ../wt main &&
	git -C ../wt apply --index ../../home/patch &&
	test "$(git -C ../wt write-tree)" = "$(git rev-parse agent/plain^{tree})"
'

test_expect_success 'what is made first is shown first: nothing waits for a file at the end' '
	cd r &&
	git agent start -q --name torn -- sh -c "echo 1 >1; seq 99 >zz" &&
	mv .git/objects/pack ../packs &&
	mkdir .git/objects/pack &&
	for p in ../packs/*.pack; do git unpack-objects -q <$p || exit 1; done &&
	blob=$(git rev-parse agent/torn:zz) &&
	f=.git/objects/$(echo $blob | cut -c1-2)/$(echo $blob | cut -c3-) &&
	mv $f ../kept &&
	test_expect_code 128 git agent review torn >../out 2>../err &&
	grep "^session torn" ../out &&
	grep "changes  1 commit, 2 files" ../out &&
	grep "cannot" ../err &&
	mkdir -p $(dirname $f) &&
	mv ../kept $f &&
	git agent review torn >../out &&
	grep "^  2 files, +100 -0$" ../out
'

test_expect_success 'a reader that goes away ends it' '
	cd r &&
	git agent start -q --name wide -- sh -c "for i in \$(seq 200); do seq 2000 >w\$i; done" &&
	{
		git agent review wide
		echo $? >../rc
	} | head -1 >../out &&
	grep "^session wide" ../out &&
	test "$(cat ../rc)" = 0
'

test_expect_success TTY 'a pager that ends before the end, or fails, or is not there' '
	cd r &&
	for p in "head -n 1" "false" "exit 3"; do
		$pty exit=0 mode=cooked -- env GIT_PAGER="$p" git agent review wide || exit 1
	done &&
	$pty expect="no-such-pager" expect="cannot be run" expect="GIT_PAGER=cat" exit=128 mode=cooked -- env GIT_PAGER=no-such-pager git agent review wide &&
	mkdir -p ../few &&
	for p in git sh env; do ln -sf "$(command -v $p)" ../few/$p || exit 1; done &&
	$pty expect="session s" expect="diff --git" exit=0 mode=cooked -- env PATH="$TEST_BUILDDIR:$HOME/few" git-agent review s
'

test_expect_success TTY 'a signal ends it when the pager has ended, not before' '
	cd r &&
	printf "#!/bin/sh\ntrap \"echo noticed\" INT\ncat >/dev/null\necho in-pager\nread x </dev/tty || read x </dev/tty\necho bye\n" >../bin/holds &&
	chmod +x ../bin/holds &&
	$pty expect=in-pager send="\\x03" expect=noticed send="\\r" expect=bye exit=130 mode=cooked -- env GIT_PAGER="$HOME/bin/holds" git-agent review s
'

test_expect_success 'textconv and external diffs run when they are asked for, and what they print is escaped' '
	cd r &&
	printf "#!/bin/sh\ntouch $HOME/ran-conv\nprintf \"conv\\\\033[31m \"; wc -c <\"\$1\"\n" >../bin/conv &&
	printf "#!/bin/sh\ntouch $HOME/ran-ext\nprintf \"ext %%s\\\\033]0;t\\\\n\" \"\$1\"\n" >../bin/ext &&
	chmod +x ../bin/* &&
	git config diff.conv.textconv "$HOME/bin/conv" &&
	git config diff.ext.command "$HOME/bin/ext" &&
	printf "bin diff=conv\na diff=ext\n" >.git/info/attributes &&
	git agent review s >../out &&
	test ! -e ../ran-conv &&
	test ! -e ../ran-ext &&
	git agent review --textconv s >../out &&
	test -e ../ran-conv &&
	test ! -e ../ran-ext &&
	grep "^+conv.e\[31m 2$" ../out &&
	grep "^-conv.e\[31m 3$" ../out &&
	grep "^+three" ../out &&
	rm ../ran-conv &&
	git agent review --ext-diff s >../out &&
	test -e ../ran-ext &&
	test ! -e ../ran-conv &&
	grep "^ext a.e\]0;t$" ../out &&
	! LC_ALL=C grep "$(printf "\033")" ../out &&
	test "$(grep -n -m 1 "^+.*echo evil" ../out | cut -d: -f1)" -lt "$(grep -n "^ext a" ../out | cut -d: -f1)" &&
	for o in --stat --json --left-behind --format=html; do
		test_expect_code 129 git agent review --textconv $o s || exit 1
	done &&
	for o in --stat --json --format=html --textconv --ext-diff; do
		for how in "--accept s a" "--reject s a" "--accept-all s"; do
			test_expect_code 129 git agent review $o $how 2>../err &&
			grep "^git-agent: a decision prints no review" ../err ||
				exit 1
		done
	done &&
	git config --remove-section diff.conv &&
	git config --remove-section diff.ext &&
	rm .git/info/attributes
'

test_expect_success 'a program that fails costs no other file its place: its own is shown without it, which is said' '
	cd r &&
	printf "#!/bin/sh\necho half; printf \"no \\033[31mgood\" >&2; exit 3\n" >../bin/fails &&
	chmod +x ../bin/fails &&
	printf "a diff=f\n" >.git/info/attributes &&
	for how in "textconv --textconv" "command --ext-diff"; do
		git config "diff.f.${how% *}" "$HOME/bin/fails" &&
		git agent review "${how#* }" s >../out &&
		grep "^+three$" ../out &&
		! grep half ../out &&
		test_prints 1 grep -c "^shown without your diff programs: " ../out &&
		grep "^+.*echo evil" ../out &&
		grep "^diff --git a/z b/z" ../out &&
		! LC_ALL=C grep "$(printf "\033")" ../out &&
		git config --remove-section diff.f || {
			cat ../out
			exit 1
		}
	done &&
	rm .git/info/attributes
'

test_expect_success 'one that hangs is not waited for, for one file or for all' '
	cd r &&
	printf "#!/bin/sh\necho \$\$ >>$HOME/hung\nexec sleep 600\n" >../bin/hangs &&
	chmod +x ../bin/hangs &&
	echo "* diff=f" >.git/info/attributes &&
	for how in "textconv --textconv" "command --ext-diff"; do
		rm -f ../hung &&
		git config "diff.f.${how% *}" "$HOME/bin/hangs" &&
		timeout 120 git agent review "${how#* }" s >../out &&
		grep "^+three$" ../out &&
		grep "^+.*echo evil" ../out &&
		grep -c "^shown without your diff programs: " ../out >../n &&
		test "$(cat ../n)" -gt 2 &&
		grep "^shown without your diff programs: .*10" ../out &&
		grep "^shown without your diff programs: one took too long for an earlier file$" ../out &&
		test "$(wc -l <../hung)" = 1 &&
		kill "$(cat ../hung)" &&
		git config --remove-section diff.f || {
			cat ../out
			exit 1
		}
	done &&
	rm .git/info/attributes
'

test_done
