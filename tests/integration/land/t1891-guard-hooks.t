#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='where the guard installs its hooks, when it removes them, and how they run beside those of the user'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use guard
require_sandbox

test_that 'the hooks are removed when everything undecided is decided or dropped' '
	make_repo gone &&
	git agent guard on &&
	picture >../before &&
	session x &&
	session y &&
	hooked &&
	git agent review --accept-all --critical x &&
	hooked &&
	git agent drop --force y &&
	! hooked &&
	picture | test_cmp ../before -
'

test_that 'the hooks are installed again when a dropped session is restored, or the guard is turned on' '
	cd gone &&
	git agent drop --restore y &&
	hooked &&
	git agent guard off &&
	! hooked &&
	test ! -e .git/git-agent/guard &&
	git agent guard on &&
	hooked &&
	git agent drop --force y &&
	picture | test_cmp ../before -
'

test_that 'a missing hook directory is not created; one that the user creates later is used' '
	git init -q --template= bare &&
	cd bare &&
	test_empty base &&
	git agent guard on &&
	session x &&
	hooked &&
	test ! -e .git/hooks &&
	user_hook .git/hooks/pre-commit "$TRASH/log.made" &&
	test_empty m &&
	grep mine "$TRASH/log.made" &&
	git agent drop --force x &&
	test ! -e .git/git-agent/guard &&
	test_prints pre-commit ls .git/hooks
'

test_that 'status says that the hooks do not run where a working tree has its own core.hooksPath' '
	make_repo tree &&
	git config extensions.worktreeConfig true &&
	git worktree add -q ../tree.wt &&
	git config --worktree core.hooksPath .mine &&
	git agent guard on &&
	session x &&
	how | grep " True False$" &&
	git agent guard | grep "not in use" &&
	cd ../tree.wt &&
	how | grep " True True$" &&
	guard_refuses git branch foo refs/agent/x/held &&
	git agent guard off &&
	test "$(git -C ../tree config core.hooksPath)" = .mine &&
	! git config core.hooksPath
'

# repo_with_included_hookspath NAME before|after: core.hooksPath is in a file that the configuration includes
repo_with_included_hookspath() {
	make_repo "$1" &&
	user_hook .hk/pre-commit "$TRASH/log.$1" &&
	printf '[core]\n\thooksPath = .hk\n' >.included &&
	printf '[include]\n\tpath = ../.included\n' >../include &&
	case $2 in
	before) cat ../include .git/config ;;
	after) cat .git/config ../include ;;
	esac >../config &&
	cp ../config .git/config &&
	git agent list &&
	picture >../before
}

test_that 'core.hooksPath in an included file is overridden, and stays where it is' '
	repo_with_included_hookspath included before &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	test_empty m &&
	grep mine "$TRASH/log.included" &&
	guard_refuses git branch foo refs/agent/x/held &&
	git agent guard off &&
	picture | test_cmp ../before -
'

test_that 'status says that core.hooksPath in a file included last overrides that of the guard' '
	repo_with_included_hookspath last after &&
	git agent guard on &&
	session x &&
	how | grep " True False$" &&
	test_shows "not in use: another core.hooksPath overrides it" git agent guard &&
	test_empty m &&
	grep mine "$TRASH/log.last" &&
	git agent guard off &&
	picture | test_cmp ../before -
'

test_that 'the hooks move with a repository, and with the core.hooksPath of the user' '
	make_repo own &&
	user_hook .hk/pre-commit "$TRASH/log.moved" &&
	git config core.hooksPath .hk &&
	git agent list &&
	picture >../before &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	cd .. &&
	mv own went &&
	cd went &&
	git agent list &&
	how | grep " True True$" &&
	! grep -r "$HOME/own/" .git/config .git/git-agent/guard &&
	find .git/git-agent/guard -type l -printf "%l\n" >../links &&
	! grep "$HOME/own/" ../links &&
	guard_refuses git branch foo refs/agent/x/held &&
	test_empty m &&
	git agent guard off &&
	picture | test_cmp ../before - &&
	grep mine "$TRASH/log.moved"
'

# ---- beside other hooks

install_stdin() {
	user_hook .git/hooks/pre-commit "$log" &&
	cat >.git/hooks/pre-push <<-EOF &&
	#!/bin/sh
	while read -r l o r p; do echo "push \$l \$r" >>"$log"; done
	EOF
	cat >.git/hooks/reference-transaction <<-EOF &&
	#!/bin/sh
	test "\$1" = prepared || exit 0
	while read -r l o r p; do echo "tx \$r" >>"$log"; done
	EOF
	chmod +x .git/hooks/pre-push .git/hooks/reference-transaction
}
test_that 'hooks that read standard input run as before' 'guard_works_beside stdin'

install_husky() {
	mkdir -p .husky/_ &&
	cat >.husky/_/h <<-\EOF &&
	#!/usr/bin/env sh
	n=$(basename "$0")
	s=$(dirname "$(dirname "$0")")/$n
	[ ! -f "$s" ] && exit 0
	sh -e "$s" "$@"
	EOF
	for h in pre-commit pre-push post-merge; do
		printf '#!/usr/bin/env sh\n. "$(dirname "$0")/h"\n' >.husky/_/$h &&
		chmod +x .husky/_/$h || return 1
	done &&
	echo "echo husky \$0 >>\"$log\"" | tee .husky/pre-commit >.husky/pre-push &&
	git config core.hooksPath .husky/_
}
test_that 'hooks in a core.hooksPath that look at their own path run as before' 'guard_works_beside husky'

install_global() {
	user_hook "$HOME/my hooks/post-commit" "$log" &&
	git config --global core.hooksPath "~/my hooks"
}
test_that 'hooks of the core.hooksPath in the configuration of the user run as before' '
	test_when_finished "git config --global --unset core.hooksPath" &&
	guard_works_beside global
'

test_that 'a hook directory that repositories share gets no hook of the guard' '
	mkdir shared &&
	user_hook shared/post-commit "$TRASH/log.shared" &&
	for n in a b; do
		(make_repo share.$n) &&
		rm -r share.$n/.git/hooks &&
		ln -s ../../shared share.$n/.git/hooks ||
			return 1
	done &&
	cd share.a &&
	git agent list &&
	picture >../before &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	test_prints post-commit ls ../shared &&
	git -C ../share.b commit -q --allow-empty -m other &&
	test_empty m &&
	test "$(grep -c mine "$TRASH/log.shared")" = 2 &&
	guard_refuses git branch foo refs/agent/x/held &&
	git agent drop --force x &&
	git agent guard off &&
	test_prints post-commit ls ../shared &&
	picture | test_cmp ../before -
'

test_that 'with the hooks installed, those of the user are critical, and what they run is held' '
	make_repo facts &&
	mkdir .githooks tools &&
	test_script .githooks/pre-commit "sh tools/check" &&
	echo true >tools/check &&
	echo false >lines &&
	test_commit h &&
	git config core.hooksPath .githooks &&
	git agent guard on &&
	session x &&
	how | grep " True True$" &&
	test_session y "
		echo evil >>.githooks/pre-commit
		echo evil >tools/check
		echo ok >lines
		echo more >n" &&
	test_prints "lines\nn" git diff --name-only main agent/y
'

# ---- changed by others

test_that 'a core.hooksPath that the user sets later is kept, and the hooks installed beside it' '
	make_repo husk &&
	git agent guard on &&
	session x &&
	how | grep " True True" &&
	user_hook .hk/pre-commit "$TRASH/log.husk" &&
	git config core.hooksPath .hk &&
	how | grep " False False" &&
	git agent list &&
	how | grep " True True" &&
	test_empty m &&
	grep mine "$TRASH/log.husk" &&
	guard_refuses git branch foo refs/agent/x/held &&
	git config core.hooksPath .other &&
	git agent list &&
	how | grep " True True" &&
	git agent guard off &&
	test "$(git config core.hooksPath)" = .other &&
	! git config agent.hooksPath
'

test_that 'a hook that is written to the hook directory of the user stays, and runs beside ours' '
	make_repo foreign &&
	git agent guard on &&
	picture >../before &&
	session x &&
	hooked &&
	printf "#!/bin/sh\necho mine\n" | tee ../mine >.git/hooks/pre-push &&
	git agent list &&
	how | grep " True True$" &&
	guard_refuses git branch foo refs/agent/x/held &&
	git agent drop --force x &&
	test "$(ls .git/hooks | grep -v sample)" = pre-push &&
	test_cmp ../mine .git/hooks/pre-push
'

test_that 'a hook that is written in place of one of ours is moved to the hook directory of the user' '
	cd foreign &&
	rm .git/hooks/pre-push &&
	session y &&
	cp ../mine .git/git-agent/guard/hooks/pre-push &&
	git agent list &&
	test_cmp ../mine .git/hooks/pre-push &&
	hooked &&
	for h in pre-commit post-merge; do
		rm -f .git/git-agent/guard/hooks/$h &&
		cp ../mine .git/git-agent/guard/hooks/$h || return 1
	done &&
	git agent drop --force y &&
	test "$(ls .git/hooks | grep -v sample | sort | xargs)" = "post-merge pre-commit pre-push" &&
	test_cmp ../mine .git/hooks/post-merge &&
	test_cmp ../mine .git/hooks/pre-commit
'

test_that 'two hooks of the user of one name are both kept: the guard cannot be turned off' '
	cd foreign &&
	session z &&
	echo other >.git/git-agent/guard/hooks/pre-push &&
	test_fails 128 "is none of the guard.s hooks, and cannot go to .*hooks/pre-push.: File exists" \
		git agent guard off &&
	test "$(cat .git/git-agent/guard/hooks/pre-push)" = other &&
	rm .git/git-agent/guard/hooks/pre-push &&
	git agent guard off &&
	test ! -e .git/git-agent/guard &&
	rm .git/hooks/post-merge .git/hooks/pre-commit .git/hooks/pre-push &&
	git agent drop --force z &&
	git agent guard on &&
	picture | test_cmp ../before -
'

test_that 'the guard is turned off also while another process installs the hooks' '
	make_repo both &&
	git config core.hooksPath .mine &&
	git agent list &&
	picture >../before &&
	guard=$PWD/.git/git-agent/guard &&
	mkdir "$guard" &&
	mkfifo ../go &&
	id=$(stat -c %i .git/git-agent/id) &&
	{ flock .git/git-agent/id sh -c ": >../holds; read x <../go" & } &&
	test_wait_for "test -e ../holds" &&
	{ git agent guard off & } &&
	off=$! &&
	test_wait_for "grep -q -- \"-> FLOCK.*:$id \" /proc/locks" &&
	mkdir "$guard/hooks" &&
	git config agent.hooksPath .mine &&
	git config core.hooksPath "$guard/hooks" &&
	echo >../go &&
	wait $off &&
	test "$(git config core.hooksPath)" = .mine &&
	test ! -e "$guard" &&
	picture | sed "/^\[agent\]/d" | test_cmp ../before -
'

test_that 'killed while it sets or restores core.hooksPath, the guard is still turned off completely' '
	make_repo dies &&
	git config core.hooksPath .mine &&
	git agent list &&
	picture >../before &&
	git agent guard on &&
	{ GIT_AGENT_FAULT=guard:kept:kill session x || test $? = 137; } &&
	test "$(git config core.hooksPath)" = .mine &&
	git agent list &&
	how | grep " True True" &&
	guard_refuses git branch foo refs/agent/x/held &&
	{ GIT_AGENT_FAULT=guard:restored:kill git agent guard off || test $? = 137; } &&
	test "$(git config core.hooksPath)" = .mine &&
	git agent guard off &&
	picture | test_cmp ../before -
'

test_done
