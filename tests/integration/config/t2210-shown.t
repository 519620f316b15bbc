#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what sessions see besides: mounts.ro, mounts.rw, env.pass, env.set'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

mkdir -p "$HOME/data/in" "$HOME/shared" "$HOME/srv" &&
echo data >"$HOME/data/in/f"

# start SCRIPT: of a session; what it prints
start() {
	test_inside "$1"
}
# refused WORDS TEXT: nothing starts with that file, for that reason
refused() {
	test_settings "$2" &&
	test_expect_code 125 git agent start -- true </dev/null 2>../err &&
	{ grep "$1" ../err || {
		cat ../err
		return 1
	}; }
}
test_enter p &&
echo a >a &&
git add -A &&
git commit -qm base || exit 1

test_that 'names and values that are none are refused with their place' '
	for line in "pass: [HOME]" "pass: [GIT_DIR]" "pass: [GIT_AGENT_NOTES]" "pass: [\"*\"]" "pass: [A=b]" \
		"set: {HOME: x}" "set: {a-b: x}" "set: {GIT_INDEX_FILE: x}"; do
		test_settings "env:\n  $line\n" &&
		test_says "config.yaml:2:[0-9]*: .env.[a-z]*. takes names of variables" \
			test_must_fail git agent config ||
			exit 1
	done &&
	for line in "set: [A=b]" "set: A=b" "set: {A: [b]}"; do
		test_settings "env:\n  $line\n" &&
		test_says "takes names with \(a\|one\) value each" test_must_fail git agent config || exit 1
	done &&
	rm "$conf" &&
	test_expect_code 129 git agent -c env.set=PATH=/x config
'

require_sandbox

test_that 'env.pass and env.set give what they name; set wins over passed' '
	test_settings "env:\n  pass: [ONE, PRE_*]\n  set: {TWO: two, PRE_B: set, IFS: \"\"}\n" &&
	ONE=1 PRE_A=a PRE_B=b OTHER=o TWO=outside start "env" >../out &&
	grep "^ONE=1\$" ../out &&
	grep "^PRE_A=a\$" ../out &&
	grep "^PRE_B=set\$" ../out &&
	grep "^TWO=two\$" ../out &&
	! grep "^OTHER=" ../out &&
	test "$(grep -c "^PRE_B=" ../out)" = 1 &&
	git agent -c env.set=TWO=3 -c env.pass=OTHER start -q -- env >../out 2>&1 &&
	grep "^TWO=3\$" ../out
'

test_that 'a directory of mounts.ro is shown at its place and cannot be written' '
	test_settings "mounts: {ro: [~/data, ~/none]}\n" &&
	git agent start -- sh -c "
		cat $HOME/data/in/f
		echo x >$HOME/data/in/g || echo refused" >../out 2>../err &&
	grep "^data\$" ../out &&
	grep refused ../out &&
	test ! -e ../data/in/g &&
	grep "shown read-only: $HOME/data\$" ../err &&
	grep "left out: $HOME/none: it is not there" ../err &&
	rm "$conf" &&
	test "$(start "ls $HOME/data 2>/dev/null; true")" = ""
'

test_that 'what is written to a directory of mounts.rw is there, in no commit, and announced' '
	test_settings "mounts: {rw: [~/shared], ro: [~/data, ~/shared]}\n" &&
	git agent start --name w -- sh -c "
		echo mine >$HOME/shared/f
		cat $HOME/data/in/f" >../out 2>../err &&
	grep "^data\$" ../out &&
	test "$(cat "$HOME/shared/f")" = mine &&
	grep "WRITABLE.*$HOME/shared" ../err &&
	test_missing agent/w &&
	test_session v "echo x >x" &&
	test_says "WRITABLE.*$HOME/shared" git agent resume v -- true
'

test_that 'SB-20 SB-08: credentials, the system, repositories and sockets are not shown' '
	(
		cd .. &&
		mkdir -p .ssh/x .aws .config/x .cache/c holds/.ssh repo/sub bin sock deep aihome/x p/sub
	) &&
	git init -q ../repo &&
	git init -q ../deep/repo &&
	echo f >../file &&
	ln -s "$HOME/.ssh" ../link &&
	(cd ../sock && python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\"s\")") &&
	for k in ro rw; do
		while IFS=: read -r why dirs; do
			for d in $dirs; do
				test ! -d $d -o -L $d || refused "$why" "mounts: {$k: [$d]}\n" || exit 1
			done
		done <<-END |: exit 1
		may hold credentials\\|are configured there:$HOME/.ssh $HOME/.ssh/x $HOME/.aws $HOME/.config
		holds what may be credentials:$HOME/holds
		holds a socket:$HOME/sock
		part of the system:/usr /etc /etc/ssl /proc /run /run/user /dev/shm /sys /tmp /var /bin
		your home directory:$HOME $(dirname "$HOME")
		overlaps with the project:$HOME/p $HOME/p/sub
		the agents. home:$HOME/aihome/x
		END
		refused "reached through a link" "mounts: {$k: [~/link]}\n" &&
		refused "not a directory" "mounts: {$k: [~/file]}\n" || exit 1
	done &&
	refused "are configured there" "mounts: {rw: [~/.cache/c]}\n" &&
	for d in repo repo/sub repo/.git; do
		refused "a repository" "mounts: {rw: [~/$d]}\n" || exit 1
	done &&
	refused "holds a repository" "mounts: {rw: [~/deep]}\n" &&
	PATH=$HOME/bin:$PATH refused "of your .PATH" "mounts: {rw: [~/bin]}\n" &&
	refused "shown for writing" "mounts: {rw: [~/shared], ro: [~/shared/in]}\n" &&
	test_settings "mounts: {ro: [~/repo, ~/deep]}\n" &&
	start true
'

test_that 'PS-01: mounts and variables of a repository need trust, and are shown in words' '
	rm -f "$conf" &&
	printf "mounts:\n  ro: [~/data]\n  rw: [~/shared]\nenv:\n  pass: [AWS_*]\n  set: {A: b}\n" >.agentdev.yaml &&
	test_commit mounts &&
	test_fails 125 ".agentdev.yaml:2:8: .mounts.ro. needs trust, and 3 other settings too" \
		git agent start -- true </dev/null &&
	git agent start -q --untrusted -- sh -c "
		ls $HOME/data || true
		echo A=\$A" >../got 2>/dev/null &&
	! grep "^in\$" ../got &&
	grep "^A=\$" ../got &&
	git agent trust -y >../words &&
	grep "    read everything in ~/data (line 2)" ../words &&
	grep "    read and change everything in ~/shared, at once and without a review (line 3)" ../words &&
	grep "    read the value of AWS_\* in your environment (line 5)" ../words &&
	grep "    run with A=b in the environment (line 6)" ../words &&
	AWS_X=x start "cat $HOME/data/in/f; echo y >$HOME/shared/y; echo \$A \$AWS_X" >../got &&
	grep data ../got &&
	grep "^b x\$" ../got &&
	test -e "$HOME/shared/y" &&
	test_session r "echo 1 >one" &&
	test_resume r "cat $HOME/data/in/f" >../got &&
	grep data ../got
'

test_done
