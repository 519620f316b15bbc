#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the host replaces in a shared directory shows inside after `git agent refresh`.
test_description='refreshing what a running session shares'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
test_use live
own_programs

# repo DIR: with two shared directories
repo() {
	test_enter "$1" &&
	mkdir -p mods/pkg/lib mods/other sub/cache plain &&
	echo a >a &&
	echo p >plain/p &&
	echo s >sub/s &&
	printf 'mods\ncache\n' >.gitignore &&
	echo old >mods/pkg/lib/f &&
	echo o >mods/other/f &&
	echo one >mods/file &&
	echo 1 >sub/cache/1 &&
	test_commit 1
}
# as a package manager does it: beside, and then in its place
replace() {
	mkdir -p new/lib &&
	echo new >new/lib/f &&
	echo more >new/more &&
	mv mods/pkg gone &&
	mv new mods/pkg &&
	rm -r gone &&
	echo two >file &&
	mv file mods/file
}
# look: what a session sees of it, once it has looked at it
look() {
	# one stream: of two, words could come between those of the other
	git agent shell s -- sh -c 'exec 2>&1; cat mods/pkg/lib/f mods/pkg/more mods/file; ls mods/pkg'
}
seen='new
more
two
lib
more'

test_that 'a replaced package directory is shown after a refresh' '
	repo r &&
	git agent start -qd -n s -- sleep 1000 &&
	git agent shell s -- sh -c "
		cat mods/pkg/lib/f
		ls mods/pkg sub/cache" >../out &&
	head -1 ../out | grep -x old &&
	replace &&
	rm sub/cache/1 &&
	echo 2 >sub/cache/2 &&
	look >../before &&
	! grep -x more ../before &&
	grep "mods/pkg/more.*No such file" ../before &&
	test_says "agent/s" git agent refresh s &&
	echo "$seen" >../want &&
	look >../out &&
	test_cmp ../want ../out &&
	test "$(git agent shell s -- ls sub/cache)" = 2
'

test_that 'files written inside stay in front of those of the host' '
	cd r &&
	git agent shell s -- sh -c "
		echo mine >mods/pkg/mine
		echo mine >mods/other/f
		rm mods/file
		exec 9>>mods/other/f
		sleep 0" &&
	mkdir -p new/lib &&
	echo newest >new/lib/f &&
	rm -r mods/pkg &&
	mv new mods/pkg &&
	echo host >o &&
	mv o mods/other/f &&
	git agent refresh -q s 2>../err &&
	test ! -s ../err &&
	git agent shell s -- sh -c "
		cat mods/pkg/lib/f mods/pkg/mine mods/other/f
		ls mods" >../out &&
	printf "newest\nmine\nmine\nother\npkg\n" >../want &&
	test_cmp ../want ../out &&
	test_prints host cat mods/other/f
'

# recreate DIR FILE TEXT: what the host does with a build directory
recreate() {
	rm -r "$1" &&
	mkdir "$1" &&
	echo "$3" >"$1/$2"
}
# seen FILE: what a session reads there
seen() {
	git agent shell s -- cat "$1"
}

test_that 'a shared directory that was created again is shown, with what was written inside' '
	repo again &&
	git agent start -qd -n s -- sleep 1000 &&
	git agent shell s -- sh -c "
		echo mine >sub/cache/mine
		cat sub/cache/1" &&
	recreate sub/cache 2 two &&
	git agent refresh s &&
	test "$(seen sub/cache/2)" = two &&
	test "$(seen sub/cache/mine)" = mine &&
	test_must_fail seen sub/cache/1 2>/dev/null &&
	git agent shell s -- sh -c "
		echo more >sub/cache/more
		echo over >sub/cache/2" &&
	recreate sub/cache 3 three &&
	git agent refresh s &&
	test_prints "2\n3\nmine\nmore" git agent shell s -- ls sub/cache &&
	test "$(seen sub/cache/2)" = over &&
	test "$(ls sub/cache)" = 3 &&
	echo four >sub/cache/4 &&
	git agent refresh s &&
	test "$(seen sub/cache/4)" = four &&
	recreate mods file later &&
	git agent refresh s &&
	test "$(seen mods/file)" = later &&
	git agent stop -q s &&
	git agent show s --json >../out &&
	test_prints "over\nthree\nlater" git agent resume -q s sh -c "cat sub/cache/2 sub/cache/3 mods/file"
'

test_that 'a shared directory of a submodule is refreshed as well' '
	repo inner &&
	cd .. &&
	test_enter outer &&
	test_submodule "$HOME/inner" in &&
	git commit -qm 1 &&
	mkdir in/mods &&
	echo 1 >in/mods/1 &&
	git agent start -qd -n s -- sleep 1000 &&
	test "$(seen in/mods/1)" = 1 &&
	recreate in/mods 2 two &&
	git agent refresh s &&
	test "$(seen in/mods/2)" = two &&
	git agent stop -q s
'

test_that 'a program keeps working in the former directory, and refreshes at once make one mount' '
	repo open &&
	git agent start -qd -n s -- sleep 1000 &&
	{
		git agent shell s -- python3 -c "if 1:
	    import os
	    top = os.getcwd(); os.chdir(\"mods\"); w = open(\"w\", \"w\")
	    open(top + \"/ready\", \"w\").close()
	    while not os.path.exists(top + \"/go\"): pass
	    w.write(\"late\"); w.close()
	    assert open(top + \"/mods/w\").read() == \"late\" and open(top + \"/mods/1\").read() == \"one\\n\"" &
	} &&
	busy=$! &&
	test_wait_for "git agent shell s -- test -e ready" &&
	recreate mods 1 one &&
	rm -f ../failed &&
	pids= &&
	for i in 1 2 3 4 5 6; do
		{ git agent refresh -q s || echo failed >>../failed; } &
		pids="$pids $!"
	done &&
	wait $pids &&
	test ! -e ../failed &&
	git agent shell s -- touch go &&
	wait $busy &&
	test_prints 2 git agent shell s -- grep -c " $PWD/mods " /proc/self/mountinfo &&
	git agent stop -q s
'

test_that 'secrets and a repository in the new directory are not shown' '
	repo secret &&
	git agent start -qd -n s -- sleep 1000 &&
	rm -r sub/cache &&
	git init -q sub/cache &&
	key=$(printf "%036d" 7 | tr 0-9 aB3dEf7hIj) &&
	echo "GITHUB_TOKEN=ghp_$key" >sub/cache/.env &&
	echo v >sub/cache/v &&
	chmod 600 sub/cache/.env &&
	git agent refresh s &&
	test "$(seen sub/cache/v)" = v &&
	test_prints v git agent shell s -- ls -A sub/cache &&
	git agent stop -q s
'

test_that 'SB-04: nothing is mounted where an agent put something else; the other directories are shown' '
	repo away &&
	git agent start -q -n s -- true &&
	mv sub/cache x &&
	git agent resume -qd s -- sleep 1000 &&
	recreate mods m m &&
	mv x sub/cache &&
	echo 2 >sub/cache/2 &&
	git agent shell s -- sh -c "
		rm -rf sub/cache
		ln -s /usr sub/cache" &&
	test_fails 128 "sub/cache. is a new directory, and cannot be shown to agent/s: the former one is not there" \
		git agent refresh s &&
	grep "git agent stop s" ../err &&
	test "$(seen mods/m)" = m &&
	git agent shell s -- sh -c "
		test -d /usr/bin &&
		rm sub/cache &&
		mkdir sub/cache &&
		echo own >sub/cache/own" &&
	test_expect_code 128 git agent refresh -q s 2>/dev/null &&
	test "$(seen sub/cache/own)" = own &&
	git agent stop -q s
'

test_that 'a directory that is gone stays shown until there is another' '
	repo gone &&
	git agent start -qd -n s -- sleep 1000 &&
	git agent shell s -- ls sub/cache &&
	mv sub/cache x &&
	ln -s /usr sub/cache &&
	git agent refresh s &&
	test "$(seen sub/cache/1)" = 1 &&
	rm sub/cache &&
	mkdir sub/cache &&
	echo 9 >sub/cache/9 &&
	git agent refresh s &&
	test "$(seen sub/cache/9)" = 9 &&
	git agent stop -q s
'

# Who is root can look at anything, but for this.
no_look() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --bounding-set=-dac_override,-dac_read_search "$@"
	else
		"$@"
	fi
}

test_that 'a directory that cannot be read stays covered as it was, and the others are shown' '
	repo shut &&
	echo "GITHUB_TOKEN=ghp_$(printf "%036d" 7 | tr 0-9 aB3dEf7hIj)" >sub/cache/.env &&
	git agent start -qd -n s -- sleep 1000 &&
	test_must_fail seen sub/cache/.env 2>/dev/null &&
	recreate mods m m &&
	chmod 0 sub &&
	test_when_finished "chmod 755 \"$PWD/sub\"" &&
	test_fails 128 "cannot access .*/sub/cache.: agent/s still has what it was: Permission denied" \
		no_look git agent refresh s &&
	test "$(seen mods/m)" = m &&
	chmod 755 sub &&
	test "$(seen sub/cache/1)" = 1 &&
	test_must_fail seen sub/cache/.env 2>/dev/null &&
	git agent stop -q s &&
	chmod 0 sub &&
	test_fails 125 "cannot access .*/sub/cache.: Permission denied" no_look git agent resume -q s -- true
'

test_that 'a directory that is replaced between the search for secrets and the mount is not shown' '
	repo twice &&
	git agent start -qd -n s -- sleep 1000 &&
	test "$(seen sub/cache/1)" = 1 &&
	mv sub/cache sub/old &&
	mkdir sub/cache &&
	echo two >sub/cache/2 &&
	{ GIT_AGENT_FAULT=refresh:looked:stop git-agent refresh s 2>../err & } &&
	pid=$! &&
	test_wait_for "grep -q \"^State:.*stopped\" /proc/$pid/status" &&
	mv sub/cache sub/new &&
	mkdir sub/cache &&
	echo "GITHUB_TOKEN=ghp_$(printf "%036d" 7 | tr 0-9 aB3dEf7hIj)" >sub/cache/.env &&
	kill -CONT $pid &&
	test_expect_code 128 wait $pid &&
	cat ../err &&
	grep "sub/cache. is a new directory, and cannot be shown to agent/s: it was replaced once more" ../err &&
	test "$(seen sub/cache/1)" = 1 &&
	test_must_fail seen sub/cache/.env 2>/dev/null &&
	git agent refresh s &&
	test_must_fail seen sub/cache/1 2>/dev/null &&
	test_must_fail seen sub/cache/.env 2>/dev/null &&
	git agent stop -q s
'

test_that 'SB-04: links of the agent lead no mount elsewhere' '
	repo q &&
	git agent start -qd -n s -- sleep 1000 &&
	git agent shell s -- cat /proc/self/mountinfo >../mounts &&
	test_must_fail git agent shell s -- mv sub y &&
	git agent shell s -- sh -ec "
		ln -s /usr sub/usr
		rm sub/cache/1
		mkdir sub/cache/in
		ln -s /usr sub/cache/in/mods
		touch mods/kept" &&
	git agent shell s -- ls mods/pkg >/dev/null &&
	replace &&
	echo 2 >sub/cache/2 &&
	git agent refresh s &&
	(echo "$seen" && echo kept) >../want &&
	{ look && git agent shell s -- ls mods | grep kept; } >../out &&
	test_cmp ../want ../out &&
	test_prints "2\nin" git agent shell s -- ls sub/cache &&
	git agent shell s -- cat /proc/self/mountinfo >../after &&
	test_cmp ../mounts ../after
'

end_ours
test_done
