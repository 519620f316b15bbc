#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='limits of a capture: what goes beyond one is named, and captured when it is raised'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox


# set_limit KEY VALUE: in the user's file, which has nothing else
set_limit() {
	test_settings "limits: {capture: {$1: $2}}"
}

# limits_of NAME: the keys in the session's report
limits_of() {
	git agent review --json "$1" |
		python3 -c 'import json, sys; print(*json.load(sys.stdin)["limits"])'
}

# captures_rest NAME KEY VALUE: with the limit raised in the user's file, a capture brings the rest
captures_rest() {
	git agent show "$1" |
		grep "raise limits.capture.$2 in $conf, then run 'git agent capture $1'" &&
	set_limit "$2" "$3" &&
	git agent capture "$1" &&
	test -z "$(limits_of "$1")"
}

# nothing_lost NAME: objects and refs are whole, and nothing temporary stays
nothing_lost() {
	git fsck --connectivity-only &&
	! find .git/objects -name "*.keep" -o -name "tmp_objdir*" | grep . &&
	test ! -e ".git/worktrees/agent-$1"
}

make_repo() {
	rm -f "$conf" &&
	test_enter "$1" &&
	echo a >a &&
	test_commit base
}

# ---- what is read of the layers

# (tests/unit/capture/test-upper-limits has all of them)
test_that 'limits.capture.file_size: a file of one byte more is captured only when it is raised' '
	make_repo size &&
	work="echo x >x; echo 1234567890123456789 >y" &&
	set_limit file_size 20 &&
	test_session same "$work" &&
	test -z "$(limits_of same)" &&
	git cat-file -e agent/same:y &&
	set_limit file_size 19 &&
	test_session less "$work" &&
	test "$(limits_of less)" = limits.capture.file_size &&
	! git cat-file -e agent/less:y &&
	git agent show less | grep "note: .*(limits.capture.file_size: 19)" &&
	captures_rest less file_size 20 &&
	test_same agent/less^{tree} agent/same^{tree} &&
	nothing_lost less
'

test_that 'limits.capture.entries: files of commits that the walk does not reach are as committed' '
	make_repo behind &&
	mkdir m.a n &&
	echo o >m.a/o &&
	echo o >n/o &&
	test_commit more &&
	set_limit entries 12 &&
	test_session b "
		mkdir aa mm z
		echo 1 >aa/x
		echo 1 >mm/in
		echo 1 >z/x
		echo 1 >mma
		echo 2 >n/o
		rm m.a/o
		git add -A
		git commit -qm all
		rm aa/x
		for i in 1 2 3 4 5 6 7; do echo \$i >mm/n\$i; done" &&
	test_prints "D\tm.a/o\nA\tmm/in\nA\tmma\nM\tn/o\nA\tz/x" git diff --name-status HEAD agent/b &&
	test_prints "D\taa/x" git show --format= --name-status agent/b &&
	captures_rest b entries 100 &&
	test_holds agent/b:mm/n7 7
'

test_that 'limits.capture.entries: long paths count for more' '
	make_repo long &&
	set_limit entries 40 &&
	d=$(printf "%0200d" 0) &&
	test_session p "
		mkdir -p $d/$d/$d/$d
		for i in 1 2 3 4 5 6 7 8 9; do
			echo \$i >$d/$d/$d/$d/\$i
		done
		echo b >b" &&
	git agent show p |
		grep "more entries with long paths than can be captured.*(limits.capture.entries: 40)" &&
	captures_rest p entries 400 &&
	test "$(git ls-tree -r --name-only agent/p | wc -l)" -eq 11
'

test_that 'the report names many newly ignored files, not the long pattern that ignores them' '
	make_repo pattern &&
	test_session p "
		{
			printf \"n[\"
			head -c 400000 /dev/zero | tr \"\0\" x
			echo \"0-9]*\"
		} >.gitignore
		for i in \$(seq 200); do echo >n\$i; done" &&
	git agent show p | grep "newly ignored: n1, " &&
	test "$(git cat-file -s refs/agent/p/report:report.json)" -lt 500000 &&
	git show refs/agent/p/report:report.json | grep "by .*n.xxxxx.*\.\.\.. of"
'

# ---- the agent's commits: what is over a limit costs the history, not the work

# Two repositories with the same base and no session yet: with the same dates the work has the same ids in both.
# In the first the session c has done it, without limits.
three='export GIT_AUTHOR_DATE="@1600000000 +0000" GIT_COMMITTER_DATE="@1600000000 +0000"
for i in 1 2 3; do seq $((i * 1000)) >$i && git add $i && git commit -qm $i || exit; done'
test_that 'create a session of three commits' '
	make_repo commits &&
	cp -r . ../commits-base &&
	test_session c "$three" &&
	test -z "$(limits_of c)" &&
	test "$(git rev-list --count HEAD..agent/c)" = 3
'

# (tests/unit/repo/test-import-limits has all of them)
test_that 'limits.capture.commits: with one commit more than that the work is one commit' '
	cd commits &&
	tip=$(git rev-parse agent/c) &&
	cp -r ../commits-base ../commits-less &&
	cd ../commits-less &&
	set_limit commits 2 &&
	test_session c "$three" &&
	test "$(limits_of c)" = limits.capture.commits &&
	test "$(git rev-list --count HEAD..agent/c)" = 1 &&
	nothing_lost c &&
	test "$(git rev-parse agent/c^{tree})" = "$(git -C ../commits rev-parse $tip^{tree})" &&
	git agent show c |
		grep "not taken (there are too many commits (limits.capture.commits: 2)): its work is one commit" &&
	captures_rest c commits 3 &&
	test "$(git rev-parse agent/c)" = $tip &&
	nothing_lost c
'

test_that 'limits.capture.branches: further branches stay in the session, and are counted' '
	make_repo branches &&
	set_limit branches 2 &&
	agent="for i in 1 2; do git switch -qc b\$i && git commit -q --allow-empty -m \$i; done
		git switch -q agent/\$n" &&
	test_session same "n=same; $agent" &&
	test -z "$(limits_of same)" &&
	test "$(git for-each-ref refs/agent/same/heads | wc -l)" = 2 &&
	set_limit branches 1 &&
	test_session less "n=less; $agent" &&
	test "$(limits_of less)" = limits.capture.branches &&
	test "$(git for-each-ref refs/agent/less/heads | wc -l)" = 1 &&
	git agent show less |
		grep "1 more branches of the agent stay in the session (limits.capture.branches: 1)" &&
	captures_rest less branches 2 &&
	test "$(git for-each-ref refs/agent/less/heads | wc -l)" = 2
'

# Nothing could be said of what is held without it.
test_that 'limits.capture.history: with too many commits nothing is captured until it is raised' '
	make_repo history &&
	set_limit history 2 &&
	test_fails 128 "^git-agent: there are too many commits since the base (limits.capture.history: 2)\$" \
		test_session h "$three" &&
	hint="raise limits.capture.history in $conf, then run .git agent capture h.; the agent.s work is safe in " &&
	grep "^hint: $hint" ../err &&
	git agent list 2>/dev/null | grep "^h .*interrupted" &&
	test_says limits.capture.history test_must_fail git agent capture h &&
	set_limit history 3 &&
	git agent capture h &&
	test "$(git rev-list --count HEAD..agent/h)" = 3 &&
	nothing_lost h
'

# ---- time

# Patterns that try every way to divide a name, for hours.
busy='for i in $(seq 17000); do echo "*a*a*a*a*a*a*a*a*a*a*a*a*$i"; done >.gitignore
	for i in $(seq 2000); do : >aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$i; done'

test_that 'limits.capture.read_time: the commits are captured although the layer cannot be read' '
	make_repo busy &&
	set_limit read_time 1 &&
	test_session b1 "
		echo c >c
		git add c
		git commit -qm c
		$busy" &&
	test "$(limits_of b1)" = limits.capture.read_time &&
	test "$(git log -1 --format=%s agent/b1)" = c &&
	nothing_lost b1 &&
	git agent show b1 >../show &&
	grep "too long: what it did not commit stays in the session (limits.capture.read_time: 1s)" ../show &&
	grep "leftovers: . (limit" ../show &&
	grep "raise limits.capture.read_time in $conf" ../show &&
	rm "$(test_dir b1)/upper/.gitignore" &&
	captures_rest b1 read_time 10m &&
	git cat-file -e agent/b1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1
'

test_that 'limits.capture.read_time: a second capture that takes too long does not undo the first' '
	make_repo taken &&
	set_limit file_size 5 &&
	test_session tk "
		echo c >c
		git add c
		git commit -qm c
		echo u >u
		echo 12345678 >big" &&
	tip=$(git rev-parse agent/tk) &&
	git cat-file -e $tip:u &&
	(cd "$(test_dir tk)/upper" && sh -c "$busy") &&
	set_limit read_time 1 &&
	test_fails 128 "^git-agent: reading what the agent wrote took too long (limits.capture.read_time: 1s)\$" \
		git agent capture tk &&
	test "$(git rev-parse agent/tk)" = $tip
'

test_that 'ignored files that are too many to be counted are counted when the limit is raised' '
	make_repo count &&
	echo "/ign/" >.gitignore &&
	test_commit ign &&
	mkdir ign &&
	echo 1 >ign/1 &&
	set_limit entries 3 &&
	test_session c "
		for i in 2 3 4 5; do echo \$i >ign/\$i; done
		mkdir more
		echo \"*.x\" >more/.gitignore
		: >more/1.x" &&
	test "$(limits_of c)" = limits.capture.entries &&
	git agent show c | grep "note: ign: counted only in part (limits.capture.entries: 3)" &&
	captures_rest c entries 100 &&
	git agent review --json c | grep "\"count\": 4"
'

test_that 'the diff of a running session is made under the same limits' '
	make_repo peek &&
	set_limit file_size 3 &&
	{
		test_session p "
		echo 12345 >big
		echo s >s
		mkfifo \$HOME/go
		touch \$HOME/up
		read x <\$HOME/go" &
	} &&
	test_wait_for "test -e $HOME/aihome/up" &&
	{
		git agent diff p >../out 2>../err
		rc=$?
		echo >"$HOME/aihome/go"
		wait
		test $rc = 0
	} &&
	grep "^+s" ../out &&
	! grep 12345 ../out &&
	grep "big: is larger than a file may be.*(limits.capture.file_size: 3)" ../err
'

# ---- whose limit it is, and when a capture is done again

test_that 'a limit that the file of the repository sets is raised by an option, as the message says' '
	make_repo lowered &&
	printf "limits: {capture: {file_size: 3}}\n" >.agentdev.yaml &&
	test_commit conf &&
	test_session l "
		echo 12345 >big
		rm .agentdev.yaml" &&
	test "$(limits_of l)" = limits.capture.file_size &&
	git agent show l |
		grep "run .git agent -c limits.capture.file_size=... capture l., since the repository.s file sets it" &&
	set_limit file_size 100 &&
	git agent capture l &&
	test "$(limits_of l)" = limits.capture.file_size &&
	git agent -c limits.capture.file_size=100 capture l &&
	test -z "$(limits_of l)" &&
	git cat-file -e agent/l:big
'

test_that 'a session that was reviewed, is checked out or met no limit is not captured again' '
	make_repo again &&
	set_limit file_size 5 &&
	agent="echo 12345678 >big; printf \"x:\n\" >Makefile" &&
	test_session r "$agent" &&
	test_session w "$agent" &&
	test_session n "echo s >s" &&
	git agent review --accept r Makefile &&
	set_limit file_size 100 &&
	tip=$(git rev-parse agent/r) &&
	test_fails 2 "was reviewed" git agent capture r &&
	grep "^hint: .*/sessions/r/upper" ../err &&
	test "$(git rev-parse agent/r)" = $tip &&
	git switch -q agent/w &&
	test_must_fail git agent capture w 2>../err &&
	git switch -q - &&
	git agent capture w &&
	git cat-file -e agent/w:big &&
	git for-each-ref refs/agent/n >../before &&
	git agent capture n &&
	git for-each-ref refs/agent/n | test_cmp ../before -
'

test_that 'a session of nothing but what a limit leaves out has no branch, and is not to be dropped' '
	make_repo all &&
	set_limit file_size 1 &&
	git agent start --name a -- sh -c "echo 12345 >big" 2>../err &&
	test_missing agent/a &&
	grep "next: git agent capture a" ../err &&
	! grep "next: git agent drop" ../err &&
	captures_rest a file_size 100 &&
	git cat-file -e agent/a:big
'

test_that 'a submodule is captured under the limits of the superproject, and again with it' '
	git init -q sub &&
	(cd sub && echo s >s && git add . && git commit -qm sub) &&
	make_repo super &&
	test_submodule ../sub sub &&
	git commit -qm sub &&
	set_limit file_size 3 &&
	test_session s "
		echo 12345 >sub/big
		echo y >y" &&
	test -z "$(limits_of s)" &&
	test "$(cd sub && limits_of s)" = limits.capture.file_size &&
	! git -C sub cat-file -e agent/s:big &&
	git -C sub agent show s | grep "then run .git agent capture s. in the superproject" &&
	set_limit file_size 100 &&
	(cd sub && test_must_fail git agent capture s 2>../../err) &&
	grep "part of a superproject" ../err &&
	git agent capture s &&
	git -C sub cat-file -e agent/s:big &&
	test "$(git rev-parse agent/s:sub)" = "$(git -C sub rev-parse agent/s)" &&
	git cat-file -e agent/s:y
'

# Bytes that nothing compresses, and more than git takes as a whole: the processes have 35 MiB without them, and
# whoever held one would be above 40 MB
test_that UNSANITIZED 'large files are read piece by piece, committed or not' '
	make_repo pieces &&
	{
		GIT_AGENT_FAULT=capture:begin:kill git agent start -q --name m -- sh -c "
		head -c 32M /dev/urandom >committed &&
		git add committed &&
		git commit -qm c &&
		head -c 16M /dev/urandom >left"
		test $? = 137
	} &&
	"$TEST_BUILDDIR/tests/helpers/measure" --memory git agent capture m >../memory &&
	cat ../memory &&
	read -r kib us <../memory &&
	test "$kib" -gt 1000 &&
	test "$kib" -lt 40000 &&
	test "$(git cat-file -s agent/m:committed)" = 33554432 &&
	test "$(git cat-file -s agent/m:left)" = 16777216
'

test_done
