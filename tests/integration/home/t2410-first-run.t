#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the first start of an agent: its home, logins and how to bring one, identity, locale'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use secrets
require_sandbox

unset ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY CODEX_API_KEY CODEX_ACCESS_TOKEN
mkdir -p "$HOME/bin"
PATH=$HOME/bin:$PATH
for name in claude codex copilot; do
	printf '#!/bin/sh\nsh -c "${*#--*ns}"\n' >"$HOME/bin/$name"
done
chmod +x "$HOME/bin"/*
test_repo p &&
cd p &&
echo a >a &&
git add a &&
git commit -qm a || exit 1
login=.claude/.credentials.json
theirs=$HOME/aihome/$login
pty=$TEST_BUILDDIR/tests/helpers/ptydrive
# the user's own, with more beside it
own() {
	mkdir -p "$HOME/.claude" "$HOME/.codex" &&
	echo "{\"claudeAiOauth\": \"$1\", \"mcpOAuth\": \"of mine\"}" >"$HOME/$login" &&
	echo history >"$HOME/.claude/history.jsonl" &&
	echo "{}" >"$HOME/.claude/settings.json" &&
	echo "{}" >"$HOME/.claude.json"
}

# brought LOGIN: it is there, and nothing else
brought() {
	test_prints "{\n  \"claudeAiOauth\": \"$1\"\n}" cat "$theirs"
}

test_that 'the first start creates the agents'\'' home and says so' '
	git agent start -- claude : 2>err &&
	grep "made .$HOME/aihome., the agents. home: they see it in place of yours" err &&
	grep "claude is not logged in: type /login inside, or set ANTHROPIC_API_KEY" err &&
	! grep "home import" err &&
	test "$(stat -c %a "$HOME/aihome")" = 700 &&
	git agent start -- claude : 2>err &&
	! grep "made .*aihome" err
'

# hints: a start of claude says how to log in
hints() {
	git agent start -- claude : 2>err &&
	grep "not logged in" err
}
test_that 'how to log in is said until somebody is, to agents only' '
	hints &&
	! (export ANTHROPIC_API_KEY=k && hints) &&
	git agent start -- sh -c : 2>err &&
	! grep "logged in" err &&
	git agent start -q -- claude : 2>err &&
	test ! -s err &&
	test_inside "mkdir -p ~/.copilot; : >~/.copilot/config.json" &&
	{ git agent start -- copilot : 2>err || :; } &&
	test -s err &&
	! grep "logged in" err
'

test_that 'a login of the user is offered, and not copied without being asked for' '
	own one &&
	test_says "your own login stays outside: .git agent home import claude. copies it" \
		git agent start -- claude : &&
	test ! -e "$theirs" &&
	git agent agents | grep "^claude .* importable " &&
	test_expect_code 128 git agent home import claude </dev/null 2>err &&
	grep "no terminal to ask on" err &&
	grep "^hint: -y" err &&
	test ! -e "$theirs"
'

test_that TTY 'on a terminal home import asks, and copies only after y' '
	for answer in n y; do
		"$pty" expect="copy $HOME/$login to $theirs? " send="$answer\n" exit=0 -- \
			git agent home import claude &&
		case $answer in
		y) rm "$theirs" ;;
		*) test ! -e "$theirs" ;;
		esac || exit 1
	done
'

test_that 'home import copies the login alone, closed to others' '
	before=$(ls -A "$HOME/aihome" "$HOME/aihome/.claude") &&
	test_says "^copied $HOME/$login to $theirs$" git agent home import -y claude &&
	brought one &&
	test "$(stat -c %a "$theirs")" = 600 &&
	rm "$theirs" &&
	test "$(ls -A "$HOME/aihome" "$HOME/aihome/.claude")" = "$before" &&
	git agent home import -y claude &&
	git agent start -- claude "cat ~/$login" >out 2>err &&
	grep one out &&
	! grep mcpOAuth out &&
	! grep "not logged in" err &&
	git agent agents | grep "^claude .* login " &&
	test_says "is the same: nothing to do" git agent home import -y claude
'

test_that TTY 'another login is replaced only if told so, and a link of the user is followed' '
	own two &&
	mv "$HOME/$login" "$HOME/elsewhere" &&
	ln -s ../elsewhere "$HOME/$login" &&
	"$pty" expect="over another one?" send="n\n" exit=0 -- git agent home import claude &&
	brought one &&
	echo "{\"claudeAiOauth\": \"one\", \"mcpOAuth\": \"of theirs\"}" >"$theirs" &&
	git agent home import -y claude &&
	grep "two" "$theirs" &&
	grep "of theirs" "$theirs" &&
	test ! -L "$theirs" &&
	rm "$HOME/$login"
'

test_that 'home import brings what is listed of an agent, without hooks, values of variables and secrets' '
	rm -rf "$HOME/.claude" "$HOME/aihome" &&
	c=$HOME/.claude &&
	mkdir -p "$c/commands/sub" "$c/skills/s" "$c/projects" &&
	echo "my rules" >"$c/CLAUDE.md" &&
	echo talk >"$c/projects/x" &&
	echo command >"$c/commands/sub/c.md" &&
	echo "k = $K" >"$c/commands/key.md" &&
	test_script "$c/skills/s/run" "echo hi" &&
	ln -s "$HOME/p" "$c/skills/out" &&
	ln -s /etc/passwd "$c/commands/link.md" &&
	mkfifo "$c/commands/fifo" &&
	cat >"$c/settings.json" <<-\EOF &&
	{"model": "m", "hooks": {"Stop": []}, "env": {"A": "value"}, "apiKeyHelper": "/helper", "theme": {"x": "value"}}
	EOF
	cat >"$HOME/.claude.json" <<-EOF &&
	{"hasCompletedOnboarding": true, "oauthAccount": {"x": "value"}, "mcpServers": {
	"one": {"command": "npx", "args": ["-y", "s@1"], "env": {"KEY_ONE": "value", "a b": "value"}},
	"two": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer value"}},
	"bad": {"command": "x", "args": ["--token", "$T"]},
	"list": {"url": ["https://example.org"]},
	"query": {"url": "https://example.org/mcp?k=value"}, "own": {"command": "mine"}}}
	EOF
	mkdir -m 700 "$HOME/aihome" &&
	echo "{\"mcpServers\": {\"own\": {\"command\": \"theirs\"}}, \"other\": 1}" >"$HOME/aihome/.claude.json" &&
	test_expect_code 128 git agent home import claude </dev/null 2>../out &&
	test ! -e "$HOME/aihome/.claude" &&
	for line in "MCP server one: npx -y s@1; it wants KEY_ONE (.env.pass.)" ".claude/settings.json: model" \
		"left out: .claude/commands/key.md: it may hold a secret" "left out: .claude/commands/link.md: a link" \
		"left out: .claude/skills/out: a link" "left out: .claude/commands/fifo: no file" \
		"left out: two: its headers: log in inside" "left out: bad: .* may hold a secret" \
		"left out: query: .* may hold a secret" "left out: list: .* may hold a secret"; do
		grep -x "  $line" ../out || return 1
	done &&
	! grep "own\|value" ../out &&
	git agent home import -y claude &&
	(cd "$HOME/aihome" && find . -type f | sort) >../out &&
	test_prints "./.claude.json\n./.claude/CLAUDE.md\n./.claude/commands/sub/c.md\n./.claude/settings.json\n\
./.claude/skills/s/run" cat ../out &&
	! grep -r "value\|helper\|Stop\|$T\|$K" "$HOME/aihome" &&
	grep "my rules" "$HOME/aihome/.claude/CLAUDE.md" &&
	test -x "$HOME/aihome/.claude/skills/s/run" &&
	python3 -c "
import json
j = json.load(open(\"$HOME/aihome/.claude.json\"))
m = j[\"mcpServers\"]
assert j[\"hasCompletedOnboarding\"] and j[\"other\"] == 1 and sorted(m) == [\"one\", \"own\", \"two\"]
assert m[\"one\"][\"env\"] == {\"KEY_ONE\": \"\${KEY_ONE}\"} and m[\"own\"][\"command\"] == \"theirs\"" &&
	git agent home import claude </dev/null
'

test_that 'PS-02: home import follows no link that an agent made, nor reads its fifo' '
	rm -rf "$HOME/aihome/.claude" "$HOME/aihome/.claude.json" &&
	mkdir -p "$TRASH/victim" "$HOME/aihome/.claude" &&
	ln -s "$TRASH/victim/new" "$HOME/aihome/.claude.json" &&
	mkfifo "$HOME/aihome/.claude/CLAUDE.md" &&
	ln -s "$TRASH/victim" "$HOME/aihome/.claude/skills" &&
	{ timeout 180 git agent home import -y claude || :; } &&
	test -z "$(ls "$TRASH/victim")" &&
	rm -rf "$HOME/aihome" "$HOME/.claude" "$HOME/.claude.json" &&
	mkdir "$HOME/.claude"
'

# toml PROGRAM: python3 with `theirs`, the configuration of Codex in the agents' home, and `load`
toml() {
	python3 -c "
import tomllib
def load(path): return tomllib.load(open(path, 'rb'))
theirs = load('$HOME/aihome/.codex/config.toml')
$1"
}
test_lazy_prereq TOMLLIB 'python3 -c "import tomllib"'

# codex: a new home of the user and of agents, the former with standard input as configuration
codex() {
	rm -rf "$HOME/.codex" "$HOME/aihome" &&
	mkdir -p "$HOME/.codex" "$HOME/aihome/.codex" &&
	chmod 700 "$HOME/aihome" &&
	cat >"$HOME/.codex/config.toml"
}

test_that 'of the TOML of Codex, home import brings what is listed, and no values of variables' '
	codex <<-EOF &&
	model = "gpt-5" # mine
	personality = """friendly"""
	hide_agent_reasoning = true
	model_verbosity = "$T"
	notify = ["value"]
	sandbox_mode = "value"
	file_opener = ["value"]
	[tui]
	theme = "dark-\u00e9"
	"vim_mode_default" = true
	keymap.x = "value"
	[shell_environment_policy]
	set = {A = "value"}
	[model_providers.x]
	http_headers = {A = "value"}
	[projects."/value"]
	trust_level = "trusted"
	[mcp_servers.one]
	command = "npx"
	args = ["-y", "s@1",
	  "two words"]
	env = {KEY_ONE = "value", "a b" = "value"}
	env_vars = ["KEY_TWO", "a-b", {name = "value"}]
	cwd = "/opt/s"
	disabled_tools = ["rm"]
	startup_timeout_sec = 20
	tool_timeout_sec = 1.5
	timeout = 2026-01-01
	tools.x.approval_mode = "value"
	[mcp_servers."two.2"]
	url = "https://example.org/mcp"
	bearer_token_env_var = "KEY_THREE"
	bearer_token = "value"
	http_headers = { Authorization = "value" }
	http_headers_helper = "value"
	env_http_headers.X-Key = "KEY_FOUR"
	[mcp_servers.bad]
	command = "x"
	args = ["--token", "$T"]
	[mcp_servers.token]
	url = "https://example.org/mcp"
	bearer_token_env_var = "$T"
	[mcp_servers.query]
	url = "https://example.org/mcp?k=value"
	[mcp_servers.own]
	command = "mine"
	EOF
	cat >"$HOME/aihome/.codex/config.toml" <<-\EOF &&
	# of agents
	model = "other"
	[projects."/p"]
	trust_level = "trusted"
	[mcp_servers.own]
	command = "theirs"
	EOF
	test_expect_code 128 git agent home import codex </dev/null 2>../out &&
	for line in "MCP server one: npx -y s@1 .two words., cwd /opt/s, disabled_tools rm; it wants KEY_ONE, KEY_T.*" \
		"MCP server two.2: https://example.org/mcp; it wants KEY_FOUR, KEY_THREE (.env.pass.)" \
		".codex/config.toml: model" ".codex/config.toml: tui.theme" \
		"left out: model_verbosity: it may hold a secret" "left out: two.2: its headers: log in inside" \
		"left out: bad: .* may hold a secret" \
		"left out: token: .* may hold a secret" "left out: query: .* may hold a secret"; do
		grep -x "  $line" ../out || return 1
	done &&
	! grep "own\|value\|$T" ../out &&
	grep "of agents" "$HOME/aihome/.codex/config.toml" &&
	git agent home import -y codex &&
	! grep "value\|notify\|sandbox\|$T" "$HOME/aihome/.codex/config.toml" &&
	test "$(stat -c %a "$HOME/aihome/.codex/config.toml")" = 600 &&
	git agent home import codex </dev/null
'

test_that TOMLLIB 'what home import wrote of it is TOML, beside what agents had' '
	toml "
m = theirs[\"mcp_servers\"]
assert m[\"own\"] == {\"command\": \"theirs\"}
assert m[\"one\"] == {\"command\": \"npx\", \"args\": [\"-y\", \"s@1\", \"two words\"], \"cwd\": \"/opt/s\",
	\"disabled_tools\": [\"rm\"], \"env_vars\": [\"KEY_ONE\", \"KEY_TWO\"],
	\"startup_timeout_sec\": 20, \"tool_timeout_sec\": 1.5}
assert m[\"two.2\"] == {\"url\": \"https://example.org/mcp\", \"bearer_token_env_var\": \"KEY_THREE\",
	\"env_http_headers\": {\"X-Key\": \"KEY_FOUR\"}}
assert theirs == {\"model\": \"gpt-5\", \"personality\": \"friendly\", \"hide_agent_reasoning\": True,
	\"projects\": {\"/p\": {\"trust_level\": \"trusted\"}},
	\"tui\": {\"theme\": \"dark-\u00e9\", \"vim_mode_default\": True},
	\"mcp_servers\": {\"own\": m[\"own\"], \"one\": m[\"one\"], \"two.2\": m[\"two.2\"]}}"
'

cat >../odd.toml <<\EOF
"a b" = 1979-05-27T07:32:00Z
day = 1979-05-27
n = [1_000, 0xff, -6.02e23, +inf, true, [], {}]
s = """\
   a \"quoted\" \u00e9\U0001F600 \

   line
"""
l = 'c:\\n "'
m = '''
'x'
'''
x.y."z.z" = { p = "q", r.s = [ { t = "\b\t\n\f\r\"\\" } ] }
[[e]]
f = 1
[e.g]
h = "x"
[[e]]
[d.empty]
EOF
test_that TOMLLIB 'whatever agents have in their TOML is the same after an import' '
	echo "model = \"m\"" | codex &&
	cp ../odd.toml "$HOME/aihome/.codex/config.toml" &&
	git agent home import -y codex &&
	toml "
odd = load(\"../odd.toml\")
odd[\"model\"] = \"m\"
assert len(odd) == 10 and theirs == odd, theirs"
'

cat >../refused <<\EOF
model = "n"
[a]\n[a]
a = gpt-5
mcp_servers = {
EOF
test_that 'TOML that is not understood is left out whole, and neither is it replaced' '
	refused="left out: .codex/config.toml: it cannot be read as TOML" &&
	while read -r what; do
		printf "model = \"m\"\n$what\n" | codex &&
		test_fails 1 "$refused" git agent home import -y codex </dev/null &&
		test ! -e "$HOME/aihome/.codex/config.toml" || {
			echo "failed: $what"
			return 1
		}
	done <../refused &&
	echo "a = $(printf "%10000s" "" | tr " " "[")" | codex &&
	test_fails 1 "$refused" git agent home import -y codex &&
	echo "model = \"m\"" | codex &&
	echo "model = " >"$HOME/aihome/.codex/config.toml" &&
	test_fails 1 "the agents. own cannot be read" git agent home import -y codex &&
	test_prints "model = " cat "$HOME/aihome/.codex/config.toml"
'

test_that 'PS-02: TOML that is huge, no file, or behind a link is not read, and no link written through' '
	: | codex &&
	config=.codex/config.toml &&
	truncate -s 5000000 "$HOME/$config" &&
	test_fails 1 "no file, or too large" git agent home import -y codex &&
	rm "$HOME/$config" &&
	mkfifo "$HOME/$config" &&
	test_fails 1 "no file, or too large" timeout 180 git agent home import -y codex &&
	echo "model = \"m\"" >"$HOME/elsewhere" &&
	ln -sf ../elsewhere "$HOME/$config" &&
	test_fails 1 "left out: $config: a link" git agent home import -y codex &&
	echo "personality = \"p\"" | codex &&
	ln -s "$HOME/elsewhere" "$HOME/aihome/$config" &&
	git agent home import -y codex &&
	test ! -L "$HOME/aihome/$config" &&
	test_prints "model = \"m\"" cat "$HOME/elsewhere" &&
	rm -rf "$HOME/aihome" "$HOME/.codex" "$HOME/elsewhere"
'

test_that 'what is no login is not imported' '
	test_expect_code 1 git agent home import codex 2>err &&
	grep "your home has no login of .codex." err &&
	grep "^hint: in a session of .codex.: run .codex login" err &&
	test_fails 1 "no file that is a login and nothing else" git agent home import copilot &&
	for bad in bash ../x "" "--json claude"; do
		test_expect_code 129 git agent home import $bad || exit 1
	done &&
	for how in mkfifo touch "truncate -s 2000000" "cp ../other"; do
		echo "{\"mcpOAuth\": {}}" >../other &&
		$how "$HOME/$login" &&
		test_expect_code 1 timeout 180 git agent home import -y claude &&
		rm "$HOME/$login" || exit 1
	done
'

test_that 'PS-02: nothing that an agent puts in its place leads an imported login elsewhere' '
	own three &&
	mkdir "$HOME/victim" &&
	echo mine >"$HOME/victim/f" &&
	while read -r how; do
		rm -rf "$HOME/aihome/.claude" &&
		mkdir -p "$HOME/aihome/.claude" &&
		test_inside "$how" &&
		{ timeout 180 git agent home import -y claude || :; } &&
		test "$(ls "$HOME/victim")" = f &&
		test "$(cat "$HOME/victim/f")" = mine &&
		! grep three "$HOME/aihome/x" || {
			echo "failed: $how"
			exit 1
		}
	done <<-END &&
	rm -rf ~/.claude; ln -s $HOME/victim ~/.claude
	ln -s $HOME/victim/f ~/$login
	mkfifo ~/$login
	echo x >~/x; ln ~/x ~/$login
	mkdir ~/$login
	END
	rm -rf "$HOME/aihome/.claude" &&
	git agent home import -y claude &&
	grep three "$theirs"
'

test_that 'the user'\''s name and habits for git are known in a session, commands and keys are not' '
	chmod -R u+w "$HOME/aihome" &&
	rm -rf "$HOME/aihome" &&
	while read -r key value; do
		git config --global $key "$value" || exit 1
	done <<-END &&
	pull.rebase true
	alias.x !touch $HOME/ran
	credential.helper store
	core.sshCommand x
	user.signingKey k
	commit.gpgSign true
	core.pager x
	END
	test_inside "
		git commit -q --allow-empty -m in
		git init -q /tmp/x
		cd /tmp/x
		git commit -q --allow-empty -m x
		git log --format=%an,%ae
		git config pull.rebase
		git config init.defaultBranch" >out &&
	printf "A U Thor,author@example.com\ntrue\nmain\n" | test_cmp - out &&
	! grep -i "alias\|credential\|ssh\|sign\|pager" "$HOME/aihome/.gitconfig" &&
	echo "[user] name = Other" >"$HOME/aihome/.gitconfig" &&
	test_inside : &&
	test "$(cat "$HOME/aihome/.gitconfig")" = "[user] name = Other"
'

test_that 'locale, time zone and terminal are those outside' '
	LANG=C.UTF-8 LC_TIME=C LC_ALL= TZ=Asia/Tokyo TERM=xterm git agent start -q -- sh -c "
		echo \$LANG \$LC_TIME \$TZ \$TERM
		date +%Z" >out &&
	printf "C.UTF-8 C Asia/Tokyo xterm\nJST\n" >want &&
	{ test -e /usr/share/zoneinfo/Asia/Tokyo || sed -i s/JST/Asia/ want; } &&
	test_cmp want out
'

test_done
