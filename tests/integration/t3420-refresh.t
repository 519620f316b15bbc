#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What the host replaces in a shared directory shows inside after `git agent refresh`.
test_description='refreshing what a running session shares'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox
. "$TEST_SRCDIR/tests/lib/live.sh"
own_programs

# repo DIR: with two shared directories
repo() {
	git init -q "$1" && cd "$1" && mkdir -p mods/pkg/lib mods/other sub/cache plain && echo a >a && echo p >plain/p && echo s >sub/s &&
	printf 'mods\ncache\n' >.gitignore && echo old >mods/pkg/lib/f && echo o >mods/other/f && echo one >mods/file &&
	echo 1 >sub/cache/1 && git add . && git commit -qm 1
}
# as a package manager does it: beside, and then in its place
replace() {
	mkdir -p new/lib && echo new >new/lib/f && echo more >new/more && mv mods/pkg gone && mv new mods/pkg && rm -r gone &&
	echo two >file && mv file mods/file
}
# look: what a session sees of it, once it has looked at it
look() {
	git agent shell s -- sh -c 'cat mods/pkg/lib/f mods/pkg/more mods/file; ls mods/pkg' 2>&1
}
seen='new
more
two
lib
more'

test_expect_success 'a package directory that was replaced: missing before, there after' '
	repo r && git agent start -qd -n s -- sleep 1000 && git agent shell s -- sh -c "cat mods/pkg/lib/f; ls mods/pkg sub/cache" >../out && head -1 ../out | grep -x old &&
	replace && rm sub/cache/1 && echo 2 >sub/cache/2 &&
	look >../before && ! grep -x more ../before && grep "mods/pkg/more.*No such file" ../before &&
	git agent refresh s 2>../err && grep "agent/s" ../err && echo "$seen" >../want && look >../out && test_cmp ../want ../out &&
	test "$(git agent shell s -- ls sub/cache)" = 2
'

test_expect_success 'again, quietly, and what was written inside stays before it' '
	cd r && git agent shell s -- sh -c "echo mine >mods/pkg/mine; echo mine >mods/other/f; rm mods/file; exec 9>>mods/other/f; sleep 0" &&
	mkdir -p new/lib && echo newest >new/lib/f && rm -r mods/pkg && mv new mods/pkg && echo host >o && mv o mods/other/f &&
	git agent refresh -q s 2>../err && test ! -s ../err &&
	git agent shell s -- sh -c "cat mods/pkg/lib/f mods/pkg/mine mods/other/f; ls mods" >../out && printf "newest\nmine\nmine\nother\npkg\n" >../want && test_cmp ../want ../out &&
	cat mods/other/f >../out && echo host >../want && test_cmp ../want ../out
'

test_expect_success 'nothing inside notices: what it reads and writes goes on' '
	cd r && { git agent shell s -- python3 -c "if 1:
	    import os
	    w, r = open(\"mods/open\", \"w\"), open(\"mods/other/f\")
	    os.chdir(\"mods/other\"); open(\"../../ready\", \"w\").close()
	    while not os.path.exists(\"../../go\"): pass
	    w.write(\"late\"); w.close()
	    assert r.read() == \"mine\n\" and open(\"../open\").read() == \"late\" and os.getcwd().endswith(\"mods/other\")" & } &&
	busy=$! && test_wait_for "git agent shell s -- test -e ready" && git agent refresh s && git agent shell s -- touch go && wait $busy
'

test_expect_success 'many at once, while the agent looks and writes' '
	cd r && { git agent shell s -- sh -c "n=0; until [ -e stop ]; do ls -R mods sub >/dev/null && echo x >mods/pkg/w && rm mods/pkg/w || exit 1; n=\$((n + 1)); touch ready2; done; test \$n -gt 0" & } && busy=$! &&
	test_wait_for "git agent shell s -- test -e ready2" && for i in 1 2 3 4 5 6; do { git agent refresh -q s || echo failed >>../failed; } & done && git agent refresh s && git agent shell s -- touch stop && wait $busy && wait && test ! -e ../failed
'

test_expect_success 'a shared directory that was itself made anew is not said to be seen' '
	repo anew && git agent start -qd -n s -- sleep 1000 && began=$(date +%s) && rm -r sub/cache && test_wait_for "test \$(date +%s) -gt $((began + 1))" &&
	mkdir sub/cache && echo 2 >sub/cache/2 && test_expect_code 128 git agent refresh s 2>../err && grep "sub/cache. itself was made anew" ../err && grep "git agent stop s" ../err &&
	git agent stop -q s && git agent resume -q s sh -c "cat sub/cache/2" >../out && grep -x 2 ../out
'

test_expect_success 'a session that has ended, that is not there, or was named nowhere' '
	cd r && git agent stop -q s && test_expect_code 128 git agent refresh s 2>../err && grep "session .s. does not run" ../err && grep "git agent resume s" ../err &&
	test_expect_code 128 git agent refresh nobody 2>../err && grep "no session .nobody" ../err && test_expect_code 129 git agent refresh
'

test_expect_success 'the project itself where it is live, beside home, and where home is an overlay' '
	mkdir "$TRASH/out side" && repo "$TRASH/out side/r" && git agent start -qd -n s --live -- sleep 1000 && git agent shell s -- ls mods/pkg plain >/dev/null &&
	replace && mkdir plain2 && echo h >plain2/h && mv plain gone && mv plain2 plain && git agent refresh s && echo "$seen" >../want && look >../out && test_cmp ../want ../out &&
	git agent shell s -- cat plain/h && git agent stop -q s &&
	git agent -c home_mode=overlay start -qd -n h -- sh -c "ls -a ~/d; exec sleep 1000" && rm -rf "$HOME/aihome/d" && git agent refresh h && git agent stop -q h
'

test_expect_success 'SB-04 names in the agent'\''s hands lead nowhere: another mount is not touched' '
	repo q && git agent start -qd -n s -- sleep 1000 && git agent shell s -- sh -c "mv sub/cache x; mv sub y; mv mods m2; rm -rf sub; ln -s /usr sub" 2>/dev/null; cd "$HOME/q" &&
	git agent shell s -- ls mods/pkg >/dev/null && replace && git agent refresh s && echo "$seen" >../want && look >../out && test_cmp ../want ../out
'

end_ours
test_done
