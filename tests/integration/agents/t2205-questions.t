#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='what agents ask before they begin: answered, left to them, or refused where nobody sees it'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use live
require_sandbox

# pretend AGENT VERSION: one that says how it was called, where installers other than npm put it
pretend() {
	at=$HOME/.local/share/$1/versions
	mkdir -p "$at" "$HOME/.local/bin" &&
	test_script "$at/$2" 'echo "${0##*/} $* sandboxed=$CLAUDE_CODE_SANDBOXED"' &&
	ln -sf "$at/$2" "$HOME/.local/bin/$1"
}
PATH=$HOME/.local/bin:$PATH
pretend claude 2.1.0
pretend codex 0.171.0
pretend opencode 1.18.3
pretend gemini 0.61.0
export ANTHROPIC_API_KEY=sk-ant-this-is-the-key-of-nobody OPENAI_API_KEY=sk-x

# has PATH [TEXT]: the next commit has this file
has() {
	mkdir -p "$(dirname "$1")" &&
	echo "${2-x}" >"$1" &&
	git add -f "$1" &&
	git commit -qm "$1"
}
# answered, asks TEXT: claude is told the answers; or not, and the start says why
answered() {
	git agent start claude >../out 2>../err &&
	grep "permissions --settings {.skipDangerousModePermissionPrompt.:true} sandboxed=1\$" ../out &&
	! grep commands ../err
}
asks() {
	git agent start claude >../out 2>../err &&
	grep "permissions sandboxed=\$" ../out &&
	grep "claude asks before it runs commands from $1" ../err
}

test_that 'a project that has an agent run nothing is trusted by what the agent is told' '
	test_enter none &&
	has a &&
	has .claude/settings.json "{\"permissions\": {\"allow\": [\"Bash\"]}, \"model\": \"x\"}" &&
	answered &&
	rm -r .claude &&
	answered &&
	test_shows "projects={\"$PWD\"={trust_level=\"trusted\"}} x" git agent start -q codex x &&
	git agent start opencode >../out 2>../err &&
	! grep commands ../err &&
	test_shows "e --dangerously-skip-permissions --settings" git agent start --dry-run claude &&
	test_settings "env: {set: {CLAUDE_CODE_SANDBOXED: 0}}" &&
	test_shows "sandboxed=0" git agent start -q claude &&
	rm "$conf"
'

test_that 'what is asked once is answered by a file, where there is none: also which key may be used' '
	cd none &&
	grep "{\"hasCompletedOnboarding\":true,.*\[\"is-the-key-of-nobody\"\]" "$HOME/aihome/.claude.json" &&
	echo other >"$HOME/aihome/.claude.json" &&
	answered &&
	test_prints other cat "$HOME/aihome/.claude.json" &&
	ln -sf "$TRASH/victim" "$HOME/aihome/.claude.json" &&
	answered &&
	test ! -e "$TRASH/victim" &&
	rm "$HOME/aihome/.claude.json"
'

test_that 'where anything may run commands, nothing is answered, and the start names it' '
	test_enter some &&
	has a &&
	for f in .mcp.json .claude/commands/a.md .claude/skills/a/SKILL.md .claude/agents/a.md .claude/hooks/x \
		.claude/settings.json/x .claude .mcp.json/x; do
		has $f "{}" &&
		asks $f &&
		git reset -q --hard HEAD~ || return 1
	done &&
	for key in hooks enabledPlugins env statusLine apiKeyHelper extraKnownMarketplaces "model model" ""; do
		has .claude/settings.local.json "{\"model\": \"x\", \"$key\": {}}" &&
		asks .claude/settings.local.json &&
		git reset -q --hard HEAD~ || return 1
	done &&
	for f in codex:.codex/config.toml codex:.agents/skills/a opencode:opencode.jsonc opencode:.opencode/a.ts \
		gemini:.gemini/settings.json; do
		has ${f#*:} &&
		git agent start ${f%:*} >../out 2>../err &&
		grep "commands from ${f#*:}" ../err &&
		! grep projects= ../out &&
		git reset -q --hard HEAD~ || return 1
	done
'

# hostile: what is there is committed, and claude asks
hostile() {
	git add -f . &&
	git commit -qm hostile &&
	asks .claude &&
	git reset -q --hard HEAD~
}
test_that 'settings that are hostile are not harmless' '
	cd some &&
	mkdir -p .claude victim &&
	f=.claude/settings.json &&
	for text in "" "{" "[]" "{\"model\": 1} {}" "{\"model\": 1, \"model\": 2}" "{\"model\": \"\\u0000\"}" \
		"{\"\\u0068ooks\": {}}" \
		"{\"model\": \"x“, “hooks”: {}, “y”: “z\"}" "// x"; do
		mkdir -p .claude &&
		printf "%s" "$text" >$f &&
		hostile || return 1
	done &&
	mkdir .claude &&
	{ printf "{\"model\": \"" && head -c 10000000 /dev/zero | tr "\0" x && printf "\"}"; } >$f &&
	hostile &&
	mkdir -p .claude victim &&
	ln -s ../victim/s $f &&
	echo "{}" >victim/s &&
	hostile &&
	mkdir -p victim &&
	echo "{}" >victim/settings.json &&
	ln -s victim .claude &&
	hostile &&
	# git checks out both of two trees of a name
	for text in "{\"model\": 1}" "{\"hooks\": 1}"; do
		id=$(echo "$text" | git hash-object -w --stdin) &&
		id=$(printf "100644 blob $id\tsettings.json\n" | git mktree) &&
		printf "040000 tree $id\t.claude\n" >>../list || return 1
	done &&
	git reset -q --hard $(git commit-tree -m twice $(git mktree <../list)) &&
	asks .claude/settings.json
'

test_that 'what the user trusts is answered, as long as it is the same' '
	test_enter pins &&
	has .claude/settings.json "{\"hooks\": {}}" &&
	has .mcp.json &&
	has sub/.mcp.json &&
	test_shows "^    have claude run commands from .mcp.json" test_expect_code 1 git agent trust --show &&
	git agent trust --show --json | grep "have claude run commands from .claude/settings.json" &&
	test_fails 128 "no terminal" git agent trust </dev/null &&
	asks .claude/settings.json &&
	test_shows "trusted now" git agent trust -y &&
	answered &&
	test_shows "it is trusted" git agent trust --show &&
	test_shows "^[0-9a-f]*  (HEAD)\$" git agent trust --list &&
	grep "^    have claude run commands from .claude/settings.json (100644 [0-9a-f]*)\$" ../out &&
	echo "{\"hooks\": {\"a\": []}}" >.claude/settings.json &&
	asks .claude/settings.json &&
	git commit -qam hook &&
	asks .claude/settings.json &&
	git checkout -q HEAD~ &&
	answered &&
	(cd sub && test_shows "permissions sandboxed=\$" git agent start -q claude && git agent trust -y >../out &&
		test_shows "sandboxed=1\$" git agent start -q claude) &&
	git agent trust --revoke &&
	asks .claude/settings.json
'

test_that 'a symlink cannot be trusted, nor what is ignored, unless it is harmless' '
	test_enter odd &&
	has real/settings.json "{}" &&
	ln -s real .claude &&
	git add .claude &&
	git commit -qm link &&
	asks ".claude (cannot be trusted: .claude is not a file)" &&
	test_shows "^    .claude is not a file\$" test_expect_code 1 git agent trust -y &&
	asks .claude &&
	git rm -q .claude &&
	has .gitignore ".*/*" &&
	mkdir .claude &&
	echo "{\"permissions\": {}}" >.claude/settings.local.json &&
	answered &&
	echo "{\"hooks\": {}}" >.claude/settings.local.json &&
	asks ".claude/settings.local.json (.* is in no commit)" &&
	rm .claude/settings.local.json &&
	echo "{\"key\": \"gh""p_a8Kd0LmZq3RtYv7XwB2nC5pQ9sUeJ4hG6fTi\"}" >.mcp.json &&
	echo .mcp.json >.git/info/exclude &&
	answered
'

test_that 'the answers of a resume depend on what its session made' '
	test_enter again &&
	has a &&
	git agent start -q -n s claude >../out &&
	test_shows "continue .*permissions --settings .* sandboxed=1\$" git agent resume -q s &&
	git agent resume -q s -- sh -c "echo >.mcp.json" &&
	git agent resume s >../out 2>../err &&
	grep "permissions sandboxed=\$" ../out &&
	grep "claude asks .*from .mcp.json" ../err
'

test_that 'without a terminal, what would certainly ask is refused, and what may is said' '
	test_enter detached &&
	has a &&
	has .mcp.json &&
	test_fails 125 "would ask.* from .mcp.json (.git agent trust. trusts it" git agent start -d claude "do it" &&
	test_fails 125 "claude would ask" git agent start -d --task "do it" claude &&
	test -z "$(git for-each-ref refs/agent)" &&
	test_says "claude may run, without asking, commands" git agent start -n p -d claude -p do &&
	echo "[projects.\"$PWD\"]" >"$HOME/aihome/.codex/config.toml" &&
	has .codex/config.toml &&
	test_says "codex may run" git agent start -n c -d codex &&
	rm "$HOME/aihome/.codex/config.toml" &&
	test_fails 125 "codex would ask" git agent start -d codex &&
	git agent trust -y &&
	test_fails 125 "codex is not logged in" git agent start -d codex &&
	grep "hint: start it without --detach and run .codex login --device-auth. inside\$" ../err &&
	git agent start -n t -d claude &&
	unset ANTHROPIC_API_KEY &&
	test_fails 125 "not logged in" git agent start -d claude &&
	grep "hint: start it without --detach and type /login inside, or set ANTHROPIC_API_KEY" ../err &&
	test_fails 125 "" git agent resume -d t &&
	mkdir -p "$HOME/.claude" "$HOME/aihome/.claude" &&
	echo "{}" >"$HOME/.claude/.credentials.json" &&
	test_fails 125 "not logged in" git agent start -d claude &&
	grep "git agent home import claude" ../err &&
	echo "{}" >"$HOME/aihome/.claude/settings.json" &&
	git agent start -n u -d claude &&
	test_script "$HOME/.local/bin/aider" true &&
	test_says "unknown whether aider asks" git agent start -n v -d aider &&
	git agent wait p c t u v
'

test_that 'of an unknown version nothing is answered or refused, and the start says what is not known' '
	cd detached &&
	pretend claude 3.0.0 &&
	test_says "claude 3.0.0: what it asks before it begins is unknown" git agent start -n w -d claude &&
	rm "$HOME/.local/bin/codex" &&
	test_script "$HOME/.local/bin/codex" "echo codex" &&
	test_says "codex of an unknown version" git agent start codex &&
	git agent wait w &&
	pretend claude 2.1.0
'

test_that 'the setting turns all of it off, and a repository cannot turn it on' '
	cd detached &&
	test_shows "permissions sandboxed=\$" git agent -c questions=ask start -q claude &&
	git agent trust --revoke &&
	git agent -c questions=ask start -n x -d claude &&
	git agent wait x &&
	has .agentdev.yaml "questions: ask" &&
	git agent trust -y >../out &&
	test_shows "permissions sandboxed=\$" git agent start -q claude &&
	has .agentdev.yaml "questions: answer" &&
	test_settings "questions: ask" &&
	test_shows "permissions sandboxed=\$" git agent start -q claude
'

test_done
