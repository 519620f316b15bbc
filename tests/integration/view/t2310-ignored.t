#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='which ignored files a session shows, and that what was built of them stays built'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

repo() {
	test_enter "$1" &&
	printf '%s\n' '*.log' .local.yaml deps/ cache/ .worktreeinclude >.gitignore &&
	mkdir sub &&
	echo t >t &&
	test_commit 1 &&
	mkdir deps cache sub/deps &&
	echo d >deps/d &&
	echo c >cache/c &&
	echo s >sub/deps/s &&
	echo l >a.log &&
	echo l >sub/b.log &&
	echo y >.local.yaml &&
	echo new >untracked
}
# what is seen inside, of what is not tracked
untracked=".local.yaml a.log cache/c deps/d sub/b.log sub/deps/s untracked"
seen() {
	git agent start -q "$@" -- sh -c "ls -d $untracked 2>/dev/null | tr '\n' ' '; touch x"
}

test_that 'ignored files are shown, unless --ignored or the settings hide them' '
	repo r &&
	test "$(seen)" = "$untracked " &&
	test "$(seen --ignored hide)" = "untracked " &&
	test_settings "ignored: hide" &&
	test "$(seen)" = "untracked " &&
	test "$(seen --ignored share)" = "$untracked " &&
	test_says "left out: 6 ignored paths: .ignored. is .hide.$" git agent start -n hides -- true &&
	rm $conf &&
	test_expect_code 129 git agent start --ignored some -- true
'

test_that 'an ignored symlink is shown, and leads where it leads inside' '
	repo links &&
	echo env >>.gitignore &&
	git commit -qam env &&
	ln -s deps env &&
	ln -s ../cache/c sub/c.log &&
	ln -s "$TRASH/elsewhere" out.log &&
	echo secret >"$TRASH/elsewhere" &&
	git agent start -q -n s -- sh -ec "
		cat env/d sub/c.log
		readlink out.log
		! cat out.log
		rm env
		ln -s cache env" >../out 2>/dev/null &&
	printf "d\nc\n%s\n" "$TRASH/elsewhere" | cmp - ../out &&
	test "$(readlink env)" = deps &&
	test -z "$(git ls-tree -r --name-only agent/s | grep "env\|log")" &&
	test "$(git agent start -q --ignored hide -- sh -c "ls -d env sub/c.log" 2>/dev/null)" = ""
'

test_that '.worktreeinclude lists what is shown, with patterns as in .gitignore' '
	cd r &&
	printf "%s\n" "# these" /deps/ "*.log" "!sub/*.log" >.worktreeinclude &&
	test "$(seen)" = "a.log deps/d untracked " &&
	printf "%s\r\n" .local.yaml "sub/**" >.worktreeinclude &&
	test "$(seen)" = ".local.yaml sub/b.log sub/deps/s untracked " &&
	echo deps >.worktreeinclude &&
	test "$(seen)" = "deps/d sub/deps/s untracked " &&
	: >.worktreeinclude &&
	test "$(seen)" = "untracked " &&
	printf "deps" >.worktreeinclude &&
	test "$(seen --ignored hide)" = "untracked " &&
	test "$(seen --base HEAD)" = "deps/d sub/deps/s " &&
	test_says "left out: 4 ignored paths: not in .worktreeinclude$" git agent start -n told -- true &&
	git agent start --dry-run -- true | grep "4 ignored paths: not in .worktreeinclude$"
'

test_that 'parents of shown files have the user'\''s modes and times, and may be read-only' '
	repo dirs &&
	mkdir -p sub/in/deps &&
	echo i >sub/in/t &&
	git add sub &&
	git commit -qm in &&
	echo d >sub/in/deps/d &&
	chmod 750 sub &&
	chmod 555 sub/in &&
	touch -d "1 hour ago" sub/in sub &&
	stat -c "%n %a %Y" sub sub/in >../want &&
	test_when_finished "chmod 755 \"$PWD/sub/in\"" &&
	test_inside "
		cat sub/in/deps/d
		stat -c \"%n %a %Y\" sub sub/in
		cat sub/b.log" >../got &&
	printf "d\n%s\nl\n" "$(cat ../want)" >../want &&
	test_cmp ../want ../got
'

test_that 'a part of a directory that is shared as a whole is left out and named' '
	cd r &&
	printf "%s\n" "/cache/c" "sub/deps/x*" "deps/" "!sub/deps" >.worktreeinclude &&
	git agent start -n parts -- sh -c "
		ls deps/d
		test ! -e cache
		test ! -e sub/deps" 2>../err &&
	grep "left out: cache: .worktreeinclude has parts of it, and it can be shared as a whole only$" ../err &&
	grep "left out: sub/deps: .worktreeinclude has parts" ../err &&
	! grep "left out: deps:" ../err
'

test_that 'a .worktreeinclude that cannot be read stops the start' '
	cd r &&
	rm .worktreeinclude &&
	ln -s t .worktreeinclude &&
	test_fails 125 "cannot read .*worktreeinclude" git agent start -- true &&
	grep "^hint:.*--ignored hide" ../err &&
	test "$(seen --ignored hide)" = "untracked " &&
	rm .worktreeinclude &&
	mkfifo .worktreeinclude &&
	test_fails 125 "is not a file" git agent start -- true &&
	rm .worktreeinclude
'

test_that 'a file that is not shown is not touched by one of the agent at its place' '
	cd r &&
	git agent start -q -n own --ignored hide -- sh -c "
		mkdir deps &&
		echo mine >deps/d" &&
	test "$(cat deps/d)" = d &&
	git agent review own >../out &&
	cat ../out &&
	grep "^leftovers" ../out &&
	grep "^  ignored  *deps (1 file, 5 bytes)\$" ../out &&
	test_missing agent/own
'

test_lazy_prereq MAKE 'echo "int main(void) { return 0; }" >t.c && make t'

# what make runs inside after that, one word each
made() {
	test_inside "
	$1 &&
	make" >../out &&
	sed -n "s/^cc .*-o \([^ ]*\) .*/\1/p" ../out | tr "\n" " "
}
test_that MAKE 'make in a session builds again only what changed' '
	test_enter c &&
	mkdir src &&
	echo /build/ >.gitignore &&
	echo "int b(void); int main(void) { return b(); }" >src/a.c &&
	echo "int b(void) { return 0; }" >src/b.c &&
	printf "build/prog: build/a.o build/b.o\n\tcc -o \$@ \$^\n" >Makefile &&
	printf "build/%%.o: src/%%.c\n\tcc -c -o \$@ \$<\n" >>Makefile &&
	test_commit c &&
	mkdir build &&
	make &&
	test "$(made true)" = "" &&
	grep "up to date" ../out &&
	test "$(made "echo >>src/a.c")" = "build/a.o build/prog " &&
	test "$(made true)" = "" &&
	echo >>src/b.c &&
	test "$(made true)" = "build/b.o build/prog " &&
	git commit -qam b &&
	test "$(made true)" = "build/b.o build/prog " &&
	make &&
	test "$(made true)" = ""
'

test_that 'each submodule has a .worktreeinclude of its own' '
	git init -q subm &&
	(cd subm && echo "*.log" >.gitignore && git add . && git commit -qm s) &&
	test_enter super &&
	test_submodule "$HOME/subm" m &&
	git commit -qm m &&
	echo 1 >m/a.log &&
	echo 2 >m/b.log &&
	echo "a.*" >m/.worktreeinclude &&
	test_prints m/a.log git agent start -q -- sh -c "ls m/*.log" &&
	test "$(git agent start -q --ignored hide -- sh -c "ls m/*.log 2>/dev/null || echo none")" = none
'

test_done
