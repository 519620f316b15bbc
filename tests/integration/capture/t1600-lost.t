#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the project stays where it is, or the session is said to be incomplete'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

A=$HOME/aihome

test_that 'make two repositories, one deep below home' '
	for r in w/deep/p other; do
		mkdir -p $r &&
		git init -q $r &&
		echo a >$r/a &&
		git -C $r add a &&
		git -C $r commit -qm base ||
			exit 1
	done
'

test_that 'no directory above the project can be moved or removed inside' '
	cd w/deep/p &&
	git agent start -n above -- sh -c "
		for d in ~/w ~/w/deep ~/w/deep/p; do mv \$d \$d.x && exit 9; done
		rm -rf ~/w/deep ~/w
		rmdir ~/w/deep/p ~/w/deep ~/w &&
		exit 8
		cd ~/w/deep/p &&
		echo b >b &&
		echo mine >~/w/deep/note &&
		mkdir ~/w/d &&
		echo x >~/w/d/f" 2>err &&
	! grep incomplete err &&
	git cat-file -e agent/above:b &&
	test "$(cat $A/w/deep/note)" = mine &&
	test -e $A/w/d/f
'

# lose OPTIONS COMMAND HOW: run COMMAND in the deep project, and HOW on the host once it
# has made ~/ready
lose() {
	rm -rf "$A/ready" "$A/go"
	git agent start $1 -- sh -c "$2" 2>err &
	test_pid=$!
	test_wait_for "test -e $A/ready" &&
	eval "$3"
	test_rc=$?
	wait $test_pid
	echo $? >status
	return $test_rc
}
wait_here="echo in >in; >~/ready; sleep 1000"

test_that 'a session whose project another session moves away ends, and says so' '
	cd w/deep/p &&
	lose "-n moved" "$wait_here" "git -C ~/other agent start -q -n mover -- sh -c \"
		mv ~/w ~/w2 && mkdir -p ~/w/deep/p && echo x >~/w/deep/p/lost\"" &&
	test "$(cat status)" = 129 &&
	grep "session incomplete: the project was moved away inside.* in $A/w/deep/p$" err &&
	git cat-file -e agent/moved:in &&
	test -e $A/w/deep/p/lost &&
	! git cat-file -e agent/moved:lost
'

test_that 'show, review, JSON and the journal have that a session is incomplete' '
	cd w/deep/p &&
	git agent show moved | grep "session incomplete: the project was moved away" &&
	git agent show --json moved | grep "\"incomplete\": \"the project was moved away" &&
	git agent review --stat moved | grep "session incomplete: " &&
	git agent show --json above | grep "\"incomplete\": null" &&
	grep "\"event\":\"lost\"" ~/.local/state/git-agent/*/sessions/moved/journal.jsonl
'

test_that 'a session whose mount point is removed on the host ends, and says so' '
	cd w/deep/p &&
	lose "-n gone" "$wait_here" "chmod -R u+w $A/w && rm -r $A/w" &&
	test "$(cat status)" = 129 &&
	grep "session incomplete: " err &&
	git cat-file -e agent/gone:in
'

test_that 'a project that was moved is noticed when the command ends, with -q too' '
	cd w/deep/p &&
	lose "-q -n end" "trap : HUP TERM; >~/ready; until test -e ~/go; do sleep 0.05; done; exit 3" \
		"mv $A/w $A/w3 && >$A/go" &&
	test "$(cat status)" = 3 &&
	test "$(wc -l <err)" = 1 &&
	grep "^agent/end: session incomplete: " err
'

test_done
