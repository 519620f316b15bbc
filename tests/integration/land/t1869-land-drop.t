#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what land says of what landed, and land --drop'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use landing
require_sandbox

# says LINE: that is all of a line that land said
says() {
	grep -x -e "$1" ../err
}
make_repo r || exit 1
work='echo 1 >>f
	git commit -qam one
	echo 2 >>g'

test_that 'land says where to, how many commits and files, and how to undo it' '
	session s "$work" &&
	mine &&
	test_says "^agent/s: would land in main$" git agent land --dry-run s &&
	test_says "^agent/s: landed in main: 2 commits, 2 files changed$" git agent land s &&
	says "  undo: git agent land --undo s" &&
	git agent land --undo s &&
	test_says "landed in main: 1 commit, 2 files changed" git agent land --squash s &&
	git agent land --undo s &&
	git switch -q --detach &&
	test_says "landed in HEAD: 2 commits, 2 files" git agent land --rebase s &&
	git agent land --undo s &&
	git checkout -q --orphan fresh &&
	git rm -rqf . &&
	test_says "landed in fresh: 3 commits, [0-9]* files" git agent land --ff-only --with-base s &&
	git switch -qf main
'

test_that 'land names lock files that ask for an installation' '
	git agent start -q -n l -- sh -c "
		mkdir web
		echo {} >package-lock.json
		echo >web/yarn.lock
		echo >poetry.lock
		echo >pdm.lock
		echo >Cargo.lock" &&
	git agent review --accept l . >../out &&
	test_says "landed in main" git agent land l &&
	says "  package-lock.json has changed: .npm ci. installs what it says" &&
	says "  web/yarn.lock has changed: .yarn install. there installs what it says" &&
	says "  poetry.lock has changed: .poetry install. .*" &&
	says "  pdm.lock has changed: .pdm sync. .*" &&
	! grep Cargo ../err
'

test_that 'land names ignored directories of dependencies that changed in the session' '
	printf "node_modules\n.venv\ndist\n" >>.gitignore &&
	mkdir .venv &&
	echo 1 >.venv/mine &&
	git add .gitignore &&
	git commit -qm ignore &&
	git agent start -q -n packages -- sh -c "
		mkdir -p web/node_modules/a node_modules dist
		echo 1 | tee n web/node_modules/a/i node_modules/i dist/o .venv/p" &&
	test_says "landed in main" git agent land packages &&
	says "  not landed: node_modules has changed in the session, and is ignored" &&
	says "  not landed: web/node_modules .*" &&
	says "  not landed: .venv .*" &&
	! grep dist ../err
'

test_that 'land --drop drops what has landed, and --undo restores it' '
	session d "$work; echo l >x.log" &&
	test_says "agent/d: dropped, with its leftovers; .git agent drop --restore d" git agent land --drop d &&
	! git agent list | grep ^d &&
	test_says "^session .d. is back" git agent land --undo &&
	test_state d captured &&
	test_shows "\"dropped\": true" git agent land --drop --json d &&
	! git agent list | grep ^d
'

test_that 'land --drop keeps what has not landed, and says so' '
	session h "echo e >.envrc; echo y >y; git branch side HEAD~0; echo z >z" &&
	test_says "^agent/h stays: .*work that was not landed" git agent land --drop h -- y &&
	test_expect_code 3 git agent land --drop h &&
	git agent review --reject h .envrc >../out &&
	git agent land --drop --dry-run h &&
	git agent list | grep ^h &&
	test_expect_code 129 git agent land --drop --no-commit h &&
	test_expect_code 129 git agent land --drop --undo h &&
	test_says "agent/h: dropped" git agent land --drop h
'

test_done
