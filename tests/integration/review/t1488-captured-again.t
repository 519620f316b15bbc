#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what is accepted is what was shown'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

test_that 'a session with something held, which was shown' '
	git init -q r && cd r && echo a >a && git add . && git commit -qm one &&
	test_session s "echo export A=1 >.envrc; echo all: >Makefile" &&
	git agent review s >/dev/null
'

test_that 'captured again since, it is not accepted' '
	cd r &&
	test_resume s "echo evil >.envrc" &&
	test_fails 4 "agent/s was captured again since it was shown" git agent review --accept s .envrc &&
	test_expect_code 4 git agent review --accept-all --critical s &&
	test_must_fail git cat-file -e agent/s:.envrc
'

test_that 'shown again, it is, and its id is printed' '
	cd r &&
	git agent diff --held s >../out && grep "^+evil" ../out &&
	test_says "accepted .envrc 100644 $(git rev-parse refs/agent/s/held:.envrc)" git agent review --accept s .envrc
'

test_that 'a verdict is no capture' '
	cd r &&
	test_says "accepted Makefile 100644" git agent review --accept s Makefile &&
	test_must_fail grep .envrc ../err
'

test_that 'what was shown while it ran is not what was captured' '
	cd r &&
	git agent start -d -q --name live -- sh -c "
		echo one >.envrc
		while test ! -e go; do sleep 0.1; done
		echo two >.envrc" &&
	test_wait_for "git agent diff live | grep -q ^+one" &&
	{ git agent shell live -- touch go || :; } &&
	git agent wait live &&
	test_expect_code 4 git agent review --accept live .envrc
'

test_that 'a session that was never shown can be accepted' '
	cd r &&
	test_session unseen "echo one >.envrc" &&
	git agent review --accept unseen .envrc
'

# again COMMAND: resume the session "kept", in which all flags are accepted
again() {
	git agent review --accept-all kept 2>/dev/null
	git agent land --dry-run kept >/dev/null && git agent resume -q kept -- sh -c "$1"
}

test_that 'an accepted line stays accepted where nothing that is flagged was added' '
	cd r &&
	test_session kept "echo \"get(u, verify=False)\" >a.py; echo \"x = 1\" >>a.py" &&
	test_expect_code 3 git agent land --dry-run kept &&
	again "echo \"y = 2\" >>a.py" &&
	git agent land --dry-run kept &&
	git agent show kept >../out && grep "nothing that was added since needs a verdict: a.py" ../out &&
	again "echo \"# z\" >>a.py; git add a.py; git commit -qm z; git rm -q --cached a.py; git add a.py" &&
	git agent land --dry-run kept
'

test_that 'another flagged line, flag or mode needs another verdict' '
	cd r &&
	again "echo \"post(u, verify=False)\" >>a.py" &&
	test_expect_code 3 git agent land --dry-run kept &&
	again "echo \"pickle.loads(x)\" >>a.py" &&
	test_expect_code 3 git agent land --dry-run kept &&
	again "chmod +x a.py" &&
	test_expect_code 3 git agent land --dry-run kept
'

test_that 'so does a path that is flagged by its name, and what no review shows' '
	cd r &&
	again "echo all: >x.mk; echo \"	./x\" >>x.mk" &&
	again "echo \"	./y\" >>x.mk" &&
	test_expect_code 3 git agent land --dry-run kept &&
	again "echo \"#!/bin/sh\" >b.sh; head -c 1 /dev/zero >>b.sh; echo >>b.sh" &&
	again "echo more >>b.sh" &&
	test_expect_code 3 git agent land --dry-run kept
'

test_that 'and so does what is held' '
	cd r &&
	again "echo export B=1 >>.envrc" &&
	git agent review --accept kept .envrc &&
	again "echo \"# harmless\" >>.envrc" &&
	test_expect_code 3 git agent land --dry-run kept
'

test_done
