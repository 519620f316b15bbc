#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='paths as the user knows them: symlinks in the path of the home and of the project'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_lazy_prereq VENV '/usr/bin/python3 -m venv --without-pip v && v/bin/python -c ""'
test_lazy_prereq CMAKE 'cmake --version && make --version'

real=$HOME
ln -s "${HOME##*/}" "$TRASH/h"
HOME=$TRASH/h
mkdir -p "$real/data/p/sub" "$real/data/other" "$real/bin" "$real/.config/git-agent"
ln -s data "$real/code"
ln -s home/code/p "$TRASH/project"
cd "$HOME/code/p" &&
git init -q &&
printf 'build/\n.venv/\n' >.gitignore &&
printf 'cmake_minimum_required(VERSION 3.5)\nproject(p NONE)\nconfigure_file(sub/a a)\n' >CMakeLists.txt &&
echo one >sub/a &&
git add -A &&
git commit -qm one

# names: what a session, with these words before the command, calls where it is
names() {
	test_inside '
		echo "$HOME $PWD $(pwd -P)"
		cd ~ && pwd'
}
says="$HOME/code/p $real/data/p
$HOME"

test_that 'HOME and PWD are what the user calls them: in a session, resumed, in a shell and in setup' '
	cd "$HOME/code/p" &&
	test_prints "$HOME $says" names &&
	cd sub &&
	test_prints "$PWD" git agent start -q -n one -- printenv PWD &&
	cd "$TRASH/project/sub" &&
	test_prints "$TRASH/project/sub" git agent resume -q one -- printenv PWD &&
	test_prints "$HOME/.local/agent/bin" git agent resume -q one -- sh -c "echo \${PATH##*:}" &&
	git agent -c "setup=echo \$PWD >where" start -q -d -n two -- sleep 300 &&
	test_when_finished "git agent stop two" &&
	test_prints "$TRASH/project
$TRASH/project/sub" git agent shell two -- sh -c "cat ../where && printenv PWD"
'

test_that 'a link shows itself, and nothing of what else is where it leads' '
	cd "$TRASH/project" &&
	test_inside "
		readlink $TRASH/h $TRASH/project ~/code
		ls -A $TRASH ~/code/." >out &&
	printf "%s\n" home home/code/p data "$TRASH:" h home project "" "$HOME/code/.:" p >want &&
	test_cmp want out
'

test_that 'where something else has the name inside, or a link leads about, it is the real path' '
	cd "$HOME/code/p" &&
	rm "$real/aihome/code" &&
	mkdir "$real/aihome/code" &&
	test_prints "$HOME $real/data/p $real/data/p
$HOME" names &&
	rmdir "$real/aihome/code" &&
	ln -s ../other/../data/p "$real/bin/about" &&
	mkdir "$real/other" &&
	cd "$HOME/bin/about" &&
	test_prints "$HOME $real/data/p $real/data/p
$HOME" names &&
	printf "tools: [%s]\n" "$TRASH/h/bin" >"$real/.config/git-agent/config.yaml" &&
	cd "$HOME/code/p" &&
	test_when_finished "rm $real/.config/git-agent/config.yaml" &&
	test_prints "$real $real/data/p $real/data/p
$real" names
'

test_that 'SB-04: links that an agent left are neither followed nor replaced' '
	mkdir -p "$TRASH/outside" "$real/way" &&
	ln -s ../data "$real/way/code" &&
	rm -rf "$real/aihome/code" &&
	ln -s "$TRASH/outside" "$real/aihome/code" &&
	ln -s "$TRASH/outside" "$real/aihome/way" &&
	for at in code way/code; do
		cd "$HOME/$at/p" &&
		test_prints "$HOME $real/data/p $real/data/p
$HOME" names || exit 1
	done &&
	test_prints "$TRASH/outside" readlink "$real/aihome/code" &&
	rmdir "$TRASH/outside" &&
	rm "$real/aihome/code" "$real/aihome/way"
'

test_that VENV 'a virtual environment that was made by such a path works' '
	cd "$HOME/code/p" &&
	/usr/bin/python3 -m venv --without-pip "$PWD/.venv" &&
	printf "#!%s\nimport sys\nprint(sys.prefix)\n" "$PWD/.venv/bin/python" >.venv/bin/tool &&
	chmod +x .venv/bin/tool &&
	(
		. .venv/bin/activate &&
		tool >want &&
		git agent start -q -- tool >out &&
		test_cmp want out
	) &&
	test_inside ". .venv/bin/activate && tool" >out &&
	test_cmp want out
'

test_that CMAKE 'a build directory that CMake made by such a path is configured again' '
	cd "$HOME/code/p" &&
	cmake -S "$PWD" -B "$PWD/build" &&
	git agent start -q -- sh -ec "
		echo two >sub/a
		touch CMakeLists.txt
		cmake --build build >&2
		cat build/a" >out &&
	echo two >want &&
	test_cmp want out
'

test_done
