#!/bin/sh
# SPDX-License-Identifier: MIT

test_description='what README and tutorial have people type works as it stands there'

. "${TEST_SRCDIR:?}/tests/lib/test-lib.sh"
require_sandbox

# Lines that begin with "$ ", as they would be typed one after the other. One that says
# "# exit status N" ends with that, every other with success.
run_examples() {
	n=0
	while IFS= read -r line <&3; do
		echo "\$ $line"
		want=0
		case $line in *'# exit status '*) want=${line##*# exit status } ;; esac
		got=0
		eval "$line" || got=$?
		[ "$got" = "$want" ] || { echo "exit status $got, not $want: $line" && return 1; }
		n=$((n + 1))
	done 3<"$1"
	echo "$n examples"
	[ "$n" -ge "$2" ]
}

# Who is named in the README, played by a script.
mkdir -p .local/bin
cat >.local/bin/claude <<\EOF
#!/bin/sh
echo 'int answer(void) { return 42; }' >answer.c
git add answer.c
git commit -qm 'Answer'
EOF
cat >.local/bin/codex <<\EOF
#!/bin/sh
echo 'all: ; cc -c answer.c' >Makefile
echo 'ready'
sleep 600
EOF
chmod +x .local/bin/*
PATH=$HOME/.local/bin:$PATH
export PATH

test_that 'the tutorial works as it is written' '
	sed -n "s/^\\$ //p" "$TEST_SRCDIR/docs/man/git-agent-tutorial.7" |
		sed "s/\\\\e/\\\\/g" >tutorial &&
	run_examples tutorial 35 &&
	test "$(cat notes.txt)" = "buy milk" &&
	grep "tax = 19" config.ini &&
	test -e Makefile &&
	test ! -e .envrc &&
	printf "left\nmore\n" | test_cmp - left.txt &&
	test -z "$(git log --branches --format=%s -- notes.txt)"
'

test_that 'the README works as it is written' '
	sed -n "s/^    \\$ //p" "$TEST_SRCDIR/README.md" >readme &&
	git init -q your-repository &&
	git -C your-repository commit -q --allow-empty -m begin &&
	run_examples readme 10 &&
	test -e answer.c &&
	test ! -e Makefile
'

test_that 'GIT_AGENT_TRACE traces what is reached and run, to standard error or a file' '
	test_enter traced &&
	test_empty a &&
	GIT_AGENT_TRACE=1 git agent start -q --name t -- true 2>../err &&
	grep "^git-agent\[[0-9]*\] *[0-9.]* ms start:prepared$" ../err &&
	grep " ms runs git " ../err &&
	GIT_AGENT_TRACE=$HOME/trace git agent list 2>../err &&
	test ! -s ../err &&
	grep " ms runs git" ../trace &&
	GIT_AGENT_TRACE=0 git agent list 2>../err &&
	test ! -s ../err
'

test_done
