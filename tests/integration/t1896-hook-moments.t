#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What runs while a branch is merged, rebased or checked out is critical, whatever hook it is, and so is what a
# pre-commit hook runs: git runs that when a squash or a stopped merge is committed.
test_description='the moments at which hooks run, and what follows for flags'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

client="applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
	post-commit pre-rebase post-checkout post-merge pre-push reference-transaction post-rewrite
	sendemail-validate fsmonitor-watchman push-to-checkout pre-auto-gc post-index-change"

(test_enter r && echo echo ok >run.sh && test_commit base) || exit 1

# severity_under HOOK: of a script that only this hook runs
severity_under() {
	rm -f .git/hooks/* &&
	test_script .git/hooks/$1 "sh run.sh" &&
	git agent rules --json explain run.sh |
		python3 -c "import json, sys; print(*{f[\"severity\"] for p in json.load(sys.stdin)
			for f in p[\"flags\"] if f[\"id\"] == \"host-hook-reached\"})"
}

test_that 'what a hook runs is critical, unless it only runs when something is sent' '
	cd r &&
	for hook in $client; do
		case $hook in
		pre-push | sendemail-validate) want=high ;;
		*) want=critical ;;
		esac
		test "$hook: $(severity_under $hook)" = "$hook: $want" || exit 1
	done &&
	rm -f .git/hooks/*
'

test_that 'a sample and a file of another name are no hooks' '
	cd r &&
	test "$(severity_under pre-commit.sample)" = "" &&
	test "$(severity_under update)" = "" &&
	rm -f .git/hooks/*
'

test_done
