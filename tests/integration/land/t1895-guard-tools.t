#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the guard beside real tools that manage hooks; configured hooks are switched off'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use guard
require_sandbox

test_lazy_prereq HUSKY 'husky --version || program husky'
test_lazy_prereq LEFTHOOK 'lefthook version'
test_lazy_prereq PRE_COMMIT 'pre-commit --version'

install_husky() {
	husky &&
	echo "echo pre-commit >>'$log'" >.husky/pre-commit &&
	echo "while read -r l o r p; do echo \"pre-push \$r\" >>'$log'; done" >.husky/pre-push
}
test_that HUSKY 'hooks of husky run beside those of the guard' 'guard_works_beside husky'

install_lefthook() {
	for h in pre-commit pre-push; do
		printf '%s:\n  commands:\n    say:\n      run: echo %s >>"%s"\n' $h $h "$log"
	done >lefthook.yml &&
	lefthook install
}
test_that LEFTHOOK 'hooks of lefthook run beside those of the guard' 'guard_works_beside lefthook'

install_precommit() {
	{
		printf 'repos:\n- repo: local\n  hooks:\n' &&
		for stage in commit push; do
			cat <<-EOF || return 1
			  - id: $stage
			    name: $stage
			    language: system
			    entry: sh -c 'echo pre-$stage >>"$log"'
			    pass_filenames: false
			    always_run: true
			    stages: [$stage]
			EOF
		done
	} >.pre-commit-config.yaml &&
	git add -A &&
	pre-commit install -t pre-commit -t pre-push
}
test_that PRE_COMMIT 'hooks of pre-commit run beside those of the guard' 'guard_works_beside precommit'

# installs_into_guarded COMMAND: it works while hooks of the guard are there, or changes nothing; it works without them
installs_into_guarded() {
	make_repo "i${1%% *}" &&
	echo 'repos: []' >.pre-commit-config.yaml &&
	printf 'pre-push:\n  commands:\n    say:\n      run: echo run\n' >lefthook.yml &&
	test_commit config &&
	user_hook .git/hooks/pre-push &&
	git agent guard on &&
	session x &&
	how | grep ' True$' &&
	picture >../before &&
	if $1; then
		git agent list &&
		how | grep ' True$'
	else
		picture | test_cmp ../before -
	fi &&
	guard_refuses git branch foo refs/agent/x/held &&
	git agent guard off &&
	! git config agent.hooksPath &&
	$1 &&
	test ! -e .git/git-agent/guard
}
test_that HUSKY 'husky can be installed while the guard is on' 'installs_into_guarded husky'
test_that LEFTHOOK 'lefthook is installed, or refuses, while the guard is on' '
	installs_into_guarded "lefthook install"
'
test_that PRE_COMMIT 'pre-commit is installed, or refuses, while the guard is on' '
	installs_into_guarded "pre-commit install"
'

# ---- hooks that the configuration of git defines

# switched_off CALLS: all of these command lines of git that switch hooks off switch these off as well
switched_off() {
	grep -e "-c core.hooksPath=/dev/null" "$1" >"$HOME/forcing" &&
	test "$(wc -l <"$HOME/forcing")" -gt 5 &&
	for name in reference-transaction post-index-change post-checkout pre-push pre-commit mine two.words "a = b"; do
		! command grep -v -e "-c hook.$name.enabled=false" \
			-e "--config-env=hook.$name.enabled=GIT_AGENT_FALSE .* false$" "$HOME/forcing" || return 1
	done
}

test_that 'git-agent runs git with the configured hooks switched off, by event and by name' '
	make_repo calls &&
	git config hook.mine.event reference-transaction &&
	git config --add hook.mine.event pre-push &&
	git config hook.mine.command false &&
	git config --global hook.two.words.event post-index-change &&
	git config --global hook.two.words.command false &&
	git config "hook.a = b.event" post-merge &&
	git config "hook.a = b.command" false &&
	test_when_finished "git config --global --remove-section hook.two.words" &&
	mkdir -p ../logs &&
	test_script ../logs/git <<-EOF &&
	echo "\$* \$GIT_AGENT_FALSE" >>"$HOME/calls.log"
	exec $(program git) "\$@"
	EOF
	PATH=$HOME/logs:$PATH &&
	"$GIT_AGENT" start -q --name c -- sh -c "
		echo e >.envrc
		echo c >c
		git add c
		git commit -qm c" &&
	"$GIT_AGENT" review --accept c .envrc &&
	"$GIT_AGENT" list &&
	"$GIT_AGENT" drop --force c &&
	"$GIT_AGENT" gc &&
	switched_off ../calls.log
'

test_done
