#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='Claude Code from npm, with a scripted model: edit, commit, capture, flags, review, land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/agents/lib.sh"
begin claude @anthropic-ai/claude-code
export ANTHROPIC_BASE_URL="$url" ANTHROPIC_API_KEY=sk-of-the-test LANG=C.UTF-8

test_that 'Claude Code is installed into the agents'\'' home, and runs from there' '
	git agent agents install claude &&
	git agent agents list --json >list &&
	grep "\"where\": \"home\"" list &&
	git agent start -q -- claude --version >out &&
	grep "^[0-9.]* (Claude Code)" out &&
	grep "\"$(sed "s/ .*//" out)\"" list &&
	test ! -e "$HOME/.local/agent" &&
	test ! -e "$HOME/.npm" &&
	test ! -e "$HOME/.claude"
'

test_that 'Claude Code works alone in a session' '
	rm -f list out &&
	tell &&
	git agent start -q -d --name s claude -p "do it" &&
	git agent wait s &&
	check_session s
'

rest_of_session

test_that 'it asks nothing before it begins, and two sessions continue each its own conversation' '
	take_turns -p --continue -p &&
	for s in c d; do
		on_terminal git agent start -q -n $s claude prompt-of-$s || return 1
	done &&
	shows_own c d
'

test_that 'a hook of the project runs only once the user trusts it, or says so to Claude Code' '
	mkdir .claude &&
	echo "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"touch ran\"}]}]}}" \
		>.claude/settings.json &&
	git add -A &&
	git commit -qm hook &&
	test_fails 125 "claude would ask" git agent start -d -n e claude &&
	TERM=xterm-256color "$TEST_BUILDDIR/tests/helpers/ptydrive" resize=50x150 within=90 expect="trust" \
		sh="git agent stop -qf e" -- git agent start -n e claude >"$TRASH/screen" &&
	test_wait_for "git agent list | grep \"^e .*captured\"" &&
	test_must_fail git cat-file -e agent/e:ran &&
	git agent trust -y &&
	s=f &&
	on_terminal git agent start -q -n f claude prompt-of-f &&
	git cat-file -e agent/f:ran
'

test_done
