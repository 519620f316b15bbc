#!/bin/sh
# SPDX-License-Identifier: MIT
#
# t4100 has random work of agents on uncommitted changes.
test_description='uncommitted changes of the user are in no commit of a session, and land uncommitted'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# No commit of the session's refs shows the line: clear SESSION LINE
clear() {
	git for-each-ref --format='%(objectname)' "refs/heads/agent/$1" "refs/agent/$1" >../refs &&
	git log -p -m --root --format= --stdin --not main <../refs >../log &&
	! grep "^[-+ ]*$2" ../log
}

test_that 'uncommitted work that only another branch of the agent has is named, and not dropped' '
	make_repo other &&
	line f 8 W &&
	git agent start --name br -- sh -c "
		git switch -qc side
		sed -i 2s/2/A/ f
		git commit -qam side
		git switch -q -" 2>../err &&
	grep "note: the agent.s branch side has changes to your uncommitted work" ../err &&
	clear br W &&
	test_must_fail git agent drop br &&
	git agent drop --force br
'

test_that 'a branch of the user that the agent merged keeps what it has' '
	make_repo merged &&
	git switch -qc side &&
	line f 2 S &&
	line old 2 S &&
	git commit -qam side &&
	git switch -q main &&
	line f 8 W &&
	test_session known "
		git stash -q 2>/dev/null
		git merge -q --no-edit side
		sed -i 2s/2/A/ g
		git commit -qam more" &&
	clear known W &&
	test_prints "f\ng\nold" git diff --name-only main agent/known &&
	git show agent/known:f | grep S
'

test_that 'a session with nothing but uncommitted changes has no branch, and is not dropped' '
	make_repo only &&
	line f 8 W &&
	line g 8 W &&
	test_says "^agent/back: no commit, but uncommitted changes$" \
		git agent start --name back -- git checkout -q HEAD~1 -- f g &&
	grep "uncommitted changes: f " ../err &&
	test_missing refs/heads/agent/back &&
	git agent list | grep "^back .*uncommitted changes" &&
	test_shows uncommitted git agent show back &&
	test_shows "^uncommitted changes: " git agent review back &&
	grep "^-W" ../out &&
	test_says "not landed" test_must_fail git agent drop back
'

test_done
