#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='commands in a sandbox, without a terminal'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

runctl=$TEST_BUILDDIR/tests/helpers/runctl
box=$TRASH/box

test_that 'the three streams are kept apart' '
	$runctl session $box sh -c "echo out; echo err >&2; cat" >out 2>err </etc/passwd &&
	{
		echo out
		cat /etc/passwd
	} >want &&
	test_cmp want out &&
	test_prints err cat err
'

test_that 'the exit status is the status of the command' '
	test_expect_code 0 $runctl session $box true &&
	test_expect_code 7 $runctl session $box sh -c "exit 7" &&
	test_expect_code 255 $runctl session $box sh -c "exit 255" &&
	test_expect_code 137 $runctl session $box sh -c "kill -KILL \$\$" &&
	test_expect_code 143 $runctl session $box sh -c "kill -TERM \$\$"
'

test_that 'a command that does not exist is named' '
	test_fails 125 "cannot run .no-such-command. in the sandbox: No such file" \
		$runctl session $box no-such-command &&
	test_fails 125 "cannot run ./etc/passwd. in the sandbox: Permission denied" $runctl session $box /etc/passwd &&
	test_fails 125 "cannot enter ./no/such/dir. in the sandbox: No such file" \
		$runctl exec $box -d /no/such/dir true
'

test_that 'a command without #! line is a shell script' '
	printf "echo ran with \$1\n" >$box/base/script &&
	chmod +x $box/base/script &&
	test_prints "ran with arg" $runctl session $box ./script arg
'

test_that 'a command has descriptors 0, 1 and 2, each a pipe, and none of its caller' '
	$runctl exec $box sh -c "ls /proc/self/fd | tr \"\\n\" \" \"" >out 7</etc/passwd &&
	echo "0 1 2 3 " >want &&
	tr -d "\\n" <out | grep -x "0 1 2 3 " &&
	$runctl session $box sh -c "readlink /proc/\$\$/fd/0 /proc/\$\$/fd/1 /proc/\$\$/fd/2" \
		<>in >out 2>&1 &&
	[ "$(grep -c "^pipe:" out)" = 3 ]
'

test_that 'signals are at their defaults in a command' '
	(
		trap "" INT TERM USR1
		$runctl exec $box grep -E "^Sig(Blk|Ign)" /proc/self/status
	) >out &&
	[ "$(grep -c "0000000000000000" out)" = 2 ]
'

test_that 'nothing of the environment of the caller is inside, not even with pid 1' '
	GIT_AGENT_TEST_MARK=tell-tale $runctl exec $box sh -c \
		"env; cat /proc/*/environ | tr \"\\0\" \"\\n\"; true" >out 2>err &&
	grep "^HOME=/home/user" out &&
	! grep tell-tale out
'

test_that 'pid 1 cannot be killed, and its descriptors, memory and root not read' '
	$runctl exec $box sh -c "
		kill -KILL 1; kill -TERM 1
		for f in environ mem maps root/ cwd/ fd/0 fd/7 ns/pid; do
			cat /proc/1/\$f >/dev/null 2>&1 && echo readable: \$f
			readlink /proc/1/\$f && echo resolvable: \$f
		done
		echo alive" >out 2>err &&
	test_prints alive cat out
'

test_that 'a command writes no core file' '
	$runctl exec $box sh -c "grep -i core /proc/self/limits" >out &&
	grep "core file size  *1  *1 " out
'

test_that 'large input and output pass byte for byte' '
	head -c 5000000 /dev/urandom >big &&
	$runctl session $box cat <big >out &&
	cmp big out &&
	cat big | $runctl session $box cat | cmp big - &&
	$runctl exec $box -i big cat >out &&
	cmp big out
'

test_that 'a command runs with closed and empty descriptors' '
	$runctl session $box cat </dev/null &&
	$runctl session $box cat <&- &&
	$runctl session $box sh -c "echo lost; echo kept >&2" >&- 2>err &&
	grep kept err &&
	$runctl session $box sh -c "echo kept; echo lost >&2" 2>&- >out &&
	grep kept out
'

test_that 'a reader that goes away ends the command by SIGPIPE' '
	{
		timeout 180 $runctl session $box yes
		echo $? >rc
	} | head -n 1 >out &&
	test_prints y cat out &&
	[ "$(cat rc)" = 141 ]
'

test_that 'input that nobody reads does not keep a session from ending' '
	yes | timeout 180 $runctl session $box true
'

test_that 'processes that a command leaves running are ended, and not waited for' '
	timeout 180 $runctl session $box sh -c "sleep 1000 & echo done" >out &&
	grep done out &&
	test_expect_code 4 timeout 180 $runctl session $box sh -c "
		yes &
		sleep 0.1
		echo done
		exit 4" >/dev/null &&
	timeout 180 $runctl exec $box sh -c "sleep 1000 & echo done" >out &&
	grep done out
'

for sig in INT TERM QUIT HUP; do
	test_that "SIG$sig is handed to the command" '
		rm -f out &&
		{
			env --default-signal=$sig $runctl session $box sh -c "
			trap \"echo caught; exit 9\" $sig; echo ready
			while :; do sleep 0.05; done" >out &
		} &&
		pid=$! &&
		test_wait_for "grep -q ready out" &&
		kill -$sig $pid &&
		test_expect_code 9 wait $pid &&
		grep caught out
	'
done

test_that 'a SIGHUP that the caller ignores is not handed on' '
	rm -f out &&
	mkfifo go &&
	{
		(
			trap "" HUP
			exec $runctl session $box sh -c "echo ready; read x; echo end-\$x" <go
		) >out &
	} &&
	pid=$! &&
	exec 9>go &&
	test_wait_for "grep -q ready out" &&
	kill -HUP $pid &&
	echo x >&9 &&
	exec 9>&- &&
	wait $pid &&
	grep end-x out
'

test_that 'output and time can be limited' '
	test_fails 128 "wrote more than the 1000 bytes it may" $runctl exec $box -m 1000 yes &&
	$runctl exec $box -m 1000 head -c 1000 /dev/zero >out &&
	[ "$(wc -c <out)" = 1000 ] &&
	test_fails 128 "took too long" $runctl exec $box -t 200 sleep 1000 &&
	$runctl exec $box sh -c "seq 1 100000 >&2" 2>err &&
	[ "$(wc -c <err)" -lt 66000 ]
'

test_that 'arguments can be longer than what a pipe holds' '
	long=$(head -c 120000 /dev/zero | tr "\\0" x) &&
	$runctl exec $box sh -c "printf %s \$1 | wc -c" sh $long >out &&
	grep 120000 out
'

# What containers have: a pid namespace in which nothing need have the number 2.
in_pidns() {
	unshare $([ "$(id -u)" = 0 ] || echo --user --map-current-user) --pid --fork --mount-proc \
		sh -c "true & wait; test ! -e /proc/2 && $1"
}

test_that 'a sandbox starts in another pid namespace' '
	test_prints "/proc/1\n/proc/2" in_pidns "$runctl session $box ls -d /proc/1 /proc/2"
'

# for others the user namespace shows the directories above as those of nobody
test_that ROOT 'in another pid namespace no mount is tied to one outside either' '
	test_enter repo &&
	test_empty 1 &&
	in_pidns "git agent start -q -- cat /proc/self/mountinfo" >../out &&
	cat ../out &&
	grep " /proc " ../out &&
	! grep -E "shared:|master:" ../out
'

test_that ROOT 'where /proc is not complete the start fails with a hint' '
	test_expect_code 125 in_pidns "mount -t tmpfs none /proc/fs && exec $runctl session $box true" 2>err &&
	grep "cannot mount a /proc: Operation not permitted" err &&
	grep "hint: .*systempaths=unconfined" err
'

test_that 'a sandbox is alive until it is finished' '
	echo | $runctl hold $box >out &&
	test_prints "alive\ngone" sed 1d out
'

test_that 'an error of bubblewrap is shown' '
	mkdir bin &&
	cp $TEST_BUILDDIR/git-agent-stage bin/ &&
	printf "#!/no/such/program\n" >bin/git-agent-init &&
	chmod +x bin/git-agent-init &&
	test_fails 125 "cannot start the sandbox: bwrap: " env TEST_BUILDDIR=$PWD/bin $runctl session $box true &&
	rm bin/git-agent-stage &&
	test_fails 125 "cannot run .*git-agent-stage.: No such file" \
		env TEST_BUILDDIR=$PWD/bin $runctl session $box true
'

test_that 'a stage that says more than is kept is read to its end' '
	mkdir much &&
	ln -s "$TEST_BUILDDIR/git-agent-init" much/ &&
	test_script much/git-agent-stage <<-EOF &&
	yes loose | head -n 900000 | sed "n; s/.*/22/; n; s/.*/home\/x/" | tr "\n" "\0" >&4
	exec $TEST_BUILDDIR/git-agent-stage "\$@"
	EOF
	TEST_BUILDDIR=$PWD/much $runctl session $box echo up >out &&
	grep -x up out
'

test_that 'the end of a session is seen whatever was done to the leader of its terminal' '
	test_prints gone $runctl leader $box
'

test_that 'a command that is never started fails' '
	test_expect_code 128 $runctl deaf $box true 2>err </dev/null &&
	grep "the command is not started in the sandbox" err
'

test_done
