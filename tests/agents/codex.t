#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='Codex CLI from npm, with a scripted model: edit, commit, capture, flags, review, land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/agents/lib.sh"
begin codex @openai/codex
export OPENAI_API_KEY=sk-of-the-test LANG=C.UTF-8
mkdir -p "$HOME/aihome/.codex" &&
chmod 700 "$HOME/aihome" &&
cat >"$HOME/aihome/.codex/config.toml" <<-EOF
model = "scripted"
model_provider = "scripted"
[model_providers.scripted]
name = "scripted"
base_url = "$url/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
EOF

test_that 'Codex CLI is installed into the agents'\'' home, and runs from there' '
	git agent agents install codex &&
	git agent start -q -- codex --version >out &&
	grep "^codex-cli [0-9]" out &&
	test ! -e "$HOME/.local/agent" &&
	test ! -e "$HOME/.codex"
'

test_that 'Codex CLI works alone in a session' '
	rm -f out &&
	tell &&
	git agent start -q --name s codex exec "do it" >"$TRASH/out" 2>"$TRASH/err" &&
	grep "approval: never" "$TRASH/err" &&
	grep "sandbox: danger-full-access" "$TRASH/err" &&
	check_session s
'

rest_of_session

test_that 'it asks nothing before it begins, and two sessions continue each its own conversation' '
	take_turns exec exec resume --last &&
	shows_own a b
'

test_done
