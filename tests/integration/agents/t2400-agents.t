#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='git agent agents: what it installs, with a pretended npm; make check-agents has the real one'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
test_use live
require_sandbox

bin=$HOME/.local/bin
mkdir -p "$bin" "$HOME/host"
system=$PATH
PATH=$bin:$PATH
# An npm where sandboxes show it. What it does is in files beside it: `version` what it brings, `fails` what
# it says, `runs` what is run as the package's script, `program` what the program does first.
cat >"$bin/npm" <<'EOF'
#!/bin/sh
here=${0%/*}
case $1 in
install)
	while [ $# -gt 1 ]; do
		[ "$1" != --prefix ] || prefix=$2
		case $1 in --ignore-scripts) ignored=yes ;; esac
		shift
	done
	echo "install $1 scripts-ignored=$ignored" >>~/npm-log
	env >~/npm-env
	if [ -s "$here/fails" ]; then cat "$here/fails" >&2; exit 1; fi
	package=$(echo "$1" | sed 's/\(.\)@[^/]*$/\1/')
	dir=$prefix/lib/node_modules/$package
	mkdir -p "$dir" "$prefix/bin"
	printf '{\n  "name": "x",\n  "version": "%s"\n}\n' "$(cat "$here/version")" >"$dir/package.json"
	{
		printf '#!/bin/sh\n%s\n' "$(cat "$here/program" 2>/dev/null)"
		printf '[ "$1" != --version ] || { echo %s; exit; }\n' "$(cat "$here/version")"
		printf 'echo "own $0 $*"\n[ ! -d ~/hold ] || while :; do sleep 0.1; done\n'
	} >"$dir/cli"
	chmod +x "$dir/cli"
	for name in claude codex; do ln -s "../lib/node_modules/$package/cli" "$prefix/bin/$name"; done
	;;
config)
	[ "$*" = "config get globalconfig" ] && echo /usr/own/etc/npmrc
	;;
run)
	echo "run $* in ${PWD#"$HOME"/}" >>~/npm-log
	[ ! -e "$here/runs" ] || . "$here/runs"
	;;
esac
EOF
chmod +x "$bin/npm"
test_script "$HOME/host/claude" 'echo "host $0 $*"'
test_repo p &&
cd p &&
echo a >a &&
git add a &&
git commit -qm a || exit 1
log=$HOME/aihome/npm-log
notes=$HOME/.local/state/git-agent/agents
brings() { echo "$1" >"$bin/version"; }
# starts WHAT: a start of claude runs the one of the host ("host"), or the one of this version in the agents' home
starts() {
	case $1 in
	host) starts_what="^host" ;;
	*) starts_what="^own .*/$1/" ;;
	esac
	git agent start -q -- claude >out &&
	grep "$starts_what" out
}

# hint_for AGENT: the hint of a start of it, which fails
hint_for() {
	test_expect_code 125 git agent start -- "$1" 2>err &&
	grep "command .$1. was not found on PATH" err &&
	sed -n "s/^hint: //p" err >hint
}
test_that 'a start of an agent that is not there says how to install it and to log in' '
	hint_for claude &&
	grep "git agent agents install claude. puts it into the agents. home; to log in, type /login inside" hint &&
	mkdir -p "$HOME/.claude" &&
	echo x >"$HOME/.claude/.credentials.json" &&
	hint_for claude &&
	grep "; .git agent home import claude. copies your login there\$" hint &&
	rm -r "$HOME/.claude" &&
	(export ANTHROPIC_API_KEY=k && hint_for claude) &&
	! grep "log in" hint &&
	hint_for aider &&
	grep "^install it, or give its path; to log in, set the key of a model, ANTHROPIC_API_KEY for example\$" hint &&
	hint_for other &&
	grep "^install it, or give its path\$" hint
'

test_that 'an installed version runs with the flags of its preset, whatever else is on PATH' '
	brings 1.2.3 &&
	PATH=$PATH:$HOME/host &&
	test_says "^claude: 1.2.3$" git agent agents install claude@1.2.3 &&
	test "$(cat "$notes/claude")" = 1.2.3 &&
	grep -x "install @anthropic-ai/claude-code@1.2.3 scripts-ignored=yes" "$log" &&
	git agent start -q -- claude -p x >out &&
	grep -x "own $HOME/.local/agent/npm/claude/1.2.3/bin/claude --dangerously-skip-permissions -p x" out &&
	test ! -e "$HOME/.local/agent" &&
	git agent start -q --name again claude &&
	test_shows "own .* --continue --dangerously-skip-permissions$" git agent resume -q again
'

test_that 'the list has the place of each agent, its version and whether it is logged in' '
	mkdir -p "$HOME/aihome/.claude" &&
	echo x >"$HOME/aihome/.claude/.credentials.json" &&
	OPENAI_API_KEY=k git agent agents --json >json &&
	python3 -c "
import json
a = {a[\"name\"]: a for a in json.load(open(\"json\"))}
def has(name, **want): assert {k: a[name][k] for k in want} == want, a[name]
has(\"claude\", where=\"home\", version=\"1.2.3\", login=True, key=None)
has(\"codex\", where=\"none\", key=\"OPENAI_API_KEY\")
has(\"aider\", login=None, package=None)" &&
	git agent agents list >list &&
	grep "^goose .*not found$" list &&
	grep "^claude  *1.2.3  *login  *$HOME/.local/agent/npm/claude/1.2.3/bin/claude$" list
'

test_that 'npm runs in a sandbox without keys, without files of agents, and can write none of the user'\''s' '
	echo secret >"$HOME/.ssh-key" &&
	echo "registry=http://example.org" >"$HOME/aihome/.npmrc" &&
	test_when_finished "rm -f $HOME/.ssh-key $bin/runs $HOME/aihome/.npmrc" &&
	cat >"$bin/runs" <<-EOF &&
	test ! -e ~/.ssh-key &&
	test ! -e $PWD/a &&
	test ! -e /tmp/git-agent-agents/.npmrc &&
	echo 1 >/tmp/x &&
	! echo x 2>/dev/null >$bin/x
	EOF
	env ANTHROPIC_API_KEY=k HTTPS_PROXY=p npm_config_registry=http://r NPM_TOKEN=t \
		git agent agents install -q claude &&
	env=$HOME/aihome/npm-env &&
	! grep "ANTHROPIC\|NPM_TOKEN" "$env" &&
	grep -x "HTTPS_PROXY=p" "$env" &&
	grep -x "npm_config_registry=http://r" "$env" &&
	grep -x npm_config_userconfig=/dev/null "$env" &&
	grep -x npm_config_globalconfig=/usr/own/etc/npmrc "$env" &&
	grep "^npm_config_cache=/tmp/" "$env" &&
	grep "^run run --if-present --silent postinstall in .local/agent/npm/claude/.new/lib/" "$log" &&
	test ! -e /tmp/git-agent-agents &&
	test -z "$(ls -A "$notes" | grep run)"
'

test_that 'a failed install says why in one line, and the version installed before stays' '
	log="npm error A complete log of this run can be found in: x" &&
	printf "npm error 404\n\033[31mnot \033]0;x\007there\n%s\n\n" "$log" >"$bin/fails" &&
	test_expect_code 128 git agent agents install claude@9.9.9 2>err &&
	grep "^git-agent: cannot install .claude.: .*there$" err &&
	! grep "$(printf "\033")" err &&
	rm "$bin/fails" &&
	for v in ../../x "9.9.9;id" -1.0.0 ""; do
		brings "$v" &&
		test_fails 128 "version" git agent agents install claude ||
			exit 1
	done &&
	brings 2.0.0 &&
	echo "exit 3" >"$bin/program" &&
	test_expect_code 128 git agent agents install claude 2>err &&
	rm "$bin/program" &&
	echo "exit 4" >"$bin/runs" &&
	test_expect_code 128 git agent agents install claude &&
	rm "$bin/runs" &&
	test "$(cat "$notes/claude")" = 1.2.3 &&
	starts 1.2.3
'

test_that 'a version that npm would take for something else is refused' '
	: >"$log" &&
	for v in "" -g --registry=x ../x x.tgz npm:y@1.0.0 git+ssh://x "1.0.0 2" "^1.0.0" 1.x "latest;id" @x; do
		test_fails 129 "is no version of .claude." git agent agents install "claude@$v" ||
			exit 1
	done &&
	test ! -s "$log" &&
	git agent agents install -q claude@next &&
	grep -x "install @anthropic-ai/claude-code@next scripts-ignored=yes" "$log" &&
	test_fails 129 "did you mean claude" git agent agents install clade &&
	test_fails 129 "npm does not distribute .aider." git agent agents install aider
'

test_that 'update installs what npm has now, and removes older versions that no session uses' '
	brings 3.0.0 &&
	git agent agents update 2>out &&
	grep "^claude: 3.0.0, was 2.0.0$" out &&
	! grep codex out &&
	test "$(ls "$HOME/aihome/.local/agent/npm/claude")" = 3.0.0 &&
	mkdir "$HOME/aihome/hold" &&
	git agent start -q -d --name h claude &&
	test_when_finished "rmdir $HOME/aihome/hold; git agent stop -q h" &&
	brings 4.0.0 &&
	test_says "older versions stay" git agent agents update claude &&
	test -d "$HOME/aihome/.local/agent/npm/claude/3.0.0" &&
	test_fails 2 "a session is running" git agent agents remove claude &&
	git agent stop -q h &&
	test_says "4.0.0, as before" git agent agents install claude &&
	test "$(ls "$HOME/aihome/.local/agent/npm/claude")" = 4.0.0 &&
	test_fails 129 "is not installed in the agents. home" git agent agents update codex
'

test_that 'an older version replaces a newer one only when it is named' '
	brings 3.9.9 &&
	test_says "^claude: 4.0.0 stays: npm chose the older 3.9.9, .*agents install claude@3.9.9. goes back to it)" \
		git agent agents update &&
	test "$(cat "$notes/claude")" = 4.0.0 &&
	git agent agents update -q claude 2>out &&
	test ! -s out &&
	starts 4.0.0 &&
	test "$(ls -A "$HOME/aihome/.local/agent/npm/claude")" = 4.0.0 &&
	brings 4.0.0-rc.1 &&
	test_says "^claude: 4.0.0 stays" git agent agents install claude &&
	brings 4.0.1-rc.1 &&
	test_says "^claude: 4.0.1-rc.1, was 4.0.0$" git agent agents update &&
	brings 3.9.9 &&
	test_says "^claude: 3.9.9, was 4.0.1-rc.1$" git agent agents install claude@3.9.9 &&
	starts 3.9.9
'

test_that 'PS-02: a program that an agent plants runs before none of the user'\''s, links lead nowhere' '
	PATH=$PATH:$HOME/host &&
	brings 1.0.0 &&
	in_home=$HOME/aihome/.local/agent &&
	test_script "$HOME/aihome/planted" "echo planted" &&
	git agent agents remove -q claude &&
	starts host &&
	cp "$HOME/aihome/planted" "$in_home/bin/claude" &&
	starts host &&
	git agent agents | grep "^claude .*$HOME/host/claude" &&
	git agent agents install -q claude &&
	rm -rf "$in_home/npm/claude/1.0.0" &&
	starts host &&
	git agent agents install -q claude &&
	mv "$in_home/npm" "$HOME/moved" &&
	ln -s "$HOME/moved" "$in_home/npm" &&
	starts host &&
	rm "$in_home/npm" &&
	mkdir "$HOME/victim" &&
	ln -s "$HOME/victim" "$in_home/npm" &&
	{ git agent agents install -q claude || :; } &&
	test -z "$(ls -A "$HOME/victim")" &&
	rm -rf "$in_home" &&
	git agent agents install -q claude &&
	starts 1.0.0
'

test_that 'an agent that installed itself in the agents'\'' home is started if there is no other' '
	cp "$HOME/aihome/planted" "$HOME/aihome/.local/agent/bin/codex" &&
	git agent agents | grep "^codex  *?.*$HOME/.local/agent/bin/codex$" &&
	test_shows planted git agent start -q -- codex &&
	cp "$HOME/aihome/planted" "$HOME/aihome/.local/agent/bin/tool" &&
	test_shows planted git agent start -q -- tool
'

test_that 'installs at the same time wait for each other' '
	brings 6.0.0 &&
	mkdir -p "$notes/.run-old/upper" &&
	pids= &&
	for i in 1 2 3; do
		git agent agents install -q claude &
		pids="$pids $!"
	done &&
	for pid in $pids; do wait "$pid" || exit 1; done &&
	test -z "$(ls -A "$notes" | grep run)" &&
	starts 6.0.0 &&
	test "$(ls -A "$HOME/aihome/.local/agent/npm/claude")" = 6.0.0
'

test_that 'an install that is killed changes nothing, and the next one clears up after it' '
	echo "sleep 1000" >"$bin/runs" &&
	brings 7.0.0 &&
	: >"$log" &&
	{ "$GIT_AGENT" agents install -q claude & } &&
	pid=$! &&
	test_wait_for "grep postinstall $log" &&
	kill -9 "$pid" &&
	{ wait "$pid" || :; } &&
	starts 6.0.0 &&
	rm "$bin/runs" &&
	git agent agents install -q claude &&
	starts 7.0.0 &&
	test "$(ls -A "$HOME/aihome/.local/agent/npm/claude")" = 7.0.0 &&
	test -z "$(ls -A "$notes" | grep run)"
'

test_that 'an install that waits for a removal is not undone by it' '
	{ GIT_AGENT_FAULT=agents:forget:stop "$GIT_AGENT" agents remove claude 2>err & } &&
	first=$! &&
	test_wait_for "grep \"^State:.T\" /proc/$first/status" &&
	{ "$GIT_AGENT" agents install -q claude & } &&
	second=$! &&
	test_wait_for "grep -e \"-> FLOCK .* $second \" /proc/locks" &&
	kill -CONT $first &&
	wait $first &&
	wait $second &&
	test -s "$notes/claude" &&
	starts 7.0.0
'

test_that 'remove keeps the login' '
	test_says "its login stays" git agent agents remove claude &&
	test ! -e "$HOME/aihome/.local/agent/npm/claude" &&
	test ! -e "$HOME/aihome/.local/agent/bin/claude" &&
	test ! -e "$notes/claude" &&
	test -s "$HOME/aihome/.claude/.credentials.json" &&
	test_says "nothing to do" git agent agents remove claude &&
	git agent agents install -q claude &&
	chmod -R u+w "$HOME/aihome" &&
	rm -rf "$HOME/aihome" &&
	git agent agents remove claude &&
	test ! -e "$notes/claude"
'

test_that 'without npm both install and start tell to install Node.js' '
	mv "$bin/npm" "$bin/other" &&
	test_when_finished "mv $bin/other $bin/npm" &&
	mkdir "$HOME/git" &&
	ln -s "$(program git)" "$HOME/git/git" &&
	(
		export PATH="$TEST_BUILDDIR:$HOME/git" &&
		test_expect_code 125 git agent agents install claude 2>err &&
		test_expect_code 125 git agent start -- gemini 2>err2
	) &&
	grep "npm was not found on PATH" err &&
	grep "^hint: install Node.js" err &&
	grep "^hint: install it, or Node.js for .git agent agents install gemini.; to log in, choose one inside" err2
'

test_that 'an older version that cannot be removed does not fail an update' '
	brings 7.0.0 &&
	git agent agents install -q claude &&
	brings 7.0.1 &&
	GIT_AGENT_FAULT=agents:others:fail git agent agents install claude 2>err &&
	grep "claude: older versions stay: .*; install it again to remove them" err &&
	starts 7.0.1
'

# An agent that the user defines, `mine`, whose program shows what it gets, and `plain`, which has no settings
own_agents() {
	mkdir -p "$HOME/host" "$HOME/.mine" &&
	test_script "$HOME/host/prog" "echo \"prog \$* key=\$MY_KEY other=\$OTHER_KEY set=\$MINE_AUTO\"" &&
	PATH=$PATH:$HOME/host &&
	test_when_finished "rm -f $conf" &&
	test_settings <<-EOT
	agents:
	  mine:
	    command: prog
	    flags: [--yes, -v]
	    resume: --again
	    keys: [MY_KEY]
	    set: {MINE_AUTO: "1"}
	    state: [~/.mine]
	    logins: [~/.mine/auth]
	    notes: .mine/NOTES.md
	  plain:
	EOT
}

test_that 'an agent of the settings starts and resumes by its name, with its flags and keys' '
	own_agents &&
	export OTHER_KEY=o &&
	MY_KEY=k git agent start -q -- mine do >out &&
	grep -x "prog --yes -v do key=k other= set=1" out &&
	git agent list | grep "^mine-1 .*mine do" &&
	grep "sandbox" "$HOME/aihome/.mine/NOTES.md" &&
	git agent resume -q mine-1 >out &&
	grep -x "prog --again --yes -v key= other= set=1" out &&
	test_says "mine is not logged in: log in inside, or set MY_KEY" git agent start -- mine &&
	test_fails 125 "command .plain. was not found" git agent start plain
'

test_that 'agents of the settings are listed and completed, and their logins imported' '
	own_agents &&
	git agent agents >list &&
	grep "^mine  *?  *none  *$HOME/host/prog$" list &&
	grep "^plain  *-  *? *not found$" list &&
	grep "^claude" list &&
	echo secret >"$HOME/.mine/auth" &&
	git agent home import -y mine &&
	test "$(cat "$HOME/aihome/.mine/auth")" = secret &&
	git agent agents | grep "^mine  *?  *login " &&
	git agent home show | grep "^ *mine " &&
	git agent --complete start "" | grep "^mine" &&
	git agent --complete agents update "" | grep "^plain" &&
	test_must_fail git agent agents install mine &&
	git agent shim install mine &&
	git agent shim status | grep "mine" &&
	git agent shim remove mine
'

test_done
