#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='OpenCode from npm, with a scripted model: edit, commit, capture, flags, review, land'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/agents/lib.sh"
begin opencode opencode-ai
export OPENAI_API_KEY=sk-of-the-test LANG=C.UTF-8
conf=$HOME/aihome/.config/opencode
mkdir -p "$conf" &&
chmod 700 "$HOME/aihome" &&
cat >"$conf/opencode.json" <<-EOF
{ "model": "scripted/m", "small_model": "scripted/m",
  "provider": { "scripted": { "npm": "@ai-sdk/openai-compatible", "name": "scripted",
    "options": { "baseURL": "$url/v1", "apiKey": "{env:OPENAI_API_KEY}" },
    "models": { "m": { "name": "m" } } } } }
EOF

test_that 'OpenCode is installed into the agents'\'' home, and runs from there' '
	git agent agents install opencode &&
	git agent start -q -- opencode --version >out &&
	grep "^[0-9.]*\$" out &&
	test ! -e "$HOME/.local/agent" &&
	test ! -e "$HOME/.config/opencode"
'

test_that 'OpenCode works alone in a session' '
	rm -f out &&
	tell &&
	git agent start -q --name s opencode run "do it" &&
	check_session s
'

rest_of_session

test_that 'two sessions continue each its own conversation' '
	take_turns run run --continue &&
	shows_own a b
'

test_done
