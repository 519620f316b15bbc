#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Which hooks run when: with the git that is here, by hooks that write down their names. What runs while a branch
# is merged, rebased or checked out is critical, whatever hook it is.
test_description='the moments at which hooks run, and what follows for flags'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"

client="applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg
	post-commit pre-rebase post-checkout post-merge pre-push reference-transaction post-rewrite
	sendemail-validate fsmonitor-watchman push-to-checkout pre-auto-gc post-index-change"

# a repository with a branch to merge, with a file that hooks may run
git init -q r &&
(
	cd r &&
	echo base >a &&
	echo echo ok >run.sh &&
	test_commit base &&
	git checkout -qb topic &&
	echo topic >b &&
	test_commit topic &&
	git checkout -q main &&
	echo more >c &&
	test_commit more
	git format-patch -q -1 --stdout topic >../patch
) || exit 1

for hook in $client; do
	printf '#!/bin/sh\necho %s >>"$LOG"\ncat >/dev/null\n' $hook >r/.git/hooks/$hook
	chmod +x r/.git/hooks/$hook
done
LOG=$PWD/log
export LOG

# ran COMMAND...: the hooks that git runs for it in the state that it is in, each once, in $LOG.names
ran() {
	: >"$LOG"
	git "$@" >/dev/null 2>&1 </dev/null || return 1
	sort -u "$LOG" >names
}
# back to the state that all begin in
again() {
	git -c core.hooksPath=/dev/null reset -q --hard "$1" &&
	git -c core.hooksPath=/dev/null clean -qfd
}
# harmless: pre-commit did not run, nor what is for pushing
harmless() {
	! command grep -E "^(pre-commit|pre-push|sendemail-validate)$" names
}

test_that 'merge, pull, rebase, checkout and their like run no pre-commit hook' '
	cd r &&
	start=$(git rev-parse HEAD) &&
	base=$(git rev-parse HEAD~1) &&
	for command in "merge --no-edit topic" "pull --no-rebase --no-edit . topic" "merge --squash topic" \
		"rebase topic" "cherry-pick topic" "revert --no-edit HEAD" "am ../patch" "checkout -q topic" \
		"restore -s topic b" "worktree add -q ../w topic" "fetch . topic"; do
		git -c core.hooksPath=/dev/null checkout -q main &&
		again $start &&
		ran $command || { echo "failed: $command" && exit 1; }
		harmless || { echo "harmful: $command" && exit 1; }
		cat names >>../quiet || exit 1
	done &&
	git -c core.hooksPath=/dev/null checkout -q main &&
	again $base &&
	ran merge topic &&
	harmless &&
	again $start
'

test_that 'those commands run all hooks of the kind that counts as any git command' '
	for hook in applypatch-msg pre-applypatch post-applypatch pre-merge-commit prepare-commit-msg commit-msg \
		post-commit pre-rebase post-checkout post-merge reference-transaction post-rewrite post-index-change; do
		grep -qx $hook quiet || exit 1
	done
'

test_that 'committing what a squash or a stopped merge left runs the pre-commit hook' '
	cd r &&
	start=$(git rev-parse HEAD) &&
	git -c core.hooksPath=/dev/null merge -q --squash topic &&
	ran commit -qm x &&
	grep -x pre-commit names &&
	again $start &&
	git -c core.hooksPath=/dev/null merge -q --no-commit topic &&
	ran commit -qm x &&
	grep -x pre-commit names &&
	again $start &&
	git -c core.hooksPath=/dev/null cherry-pick -n topic &&
	ran commit -qm x &&
	grep -x pre-commit names &&
	again $start &&
	ran commit -q --amend -m x &&
	grep -x pre-commit names &&
	again $start
'

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
