#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2088 # what runs inside is quoted for inside
test_description='git agent agents: npm in a sandbox, pinned versions, what a start finds (npm is pretended; make check-agents has the real one)'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
. "$TEST_SRCDIR/tests/lib/live.sh"
require_sandbox

# Where sandboxes show it. What it does is in files beside it: `version` what it brings, `fails` what
# it says, `runs` what is run as the package's script, `program` what the program does first.
bin=$HOME/.local/bin
mkdir -p "$bin" "$HOME/host"
system=$PATH
PATH=$bin:$PATH
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
	printf '#!/bin/sh\n%s\n[ "$1" != --version ] || { echo %s; exit; }\necho "own $0 $*"\n[ ! -d ~/hold ] || while :; do sleep 0.1; done\n' "$(cat "$here/program" 2>/dev/null)" "$(cat "$here/version")" >"$dir/cli"
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
printf '#!/bin/sh\necho "host $0 $*"\n' >"$HOME/host/claude" &&
chmod +x "$HOME/host/claude"
test_repo p &&
cd p &&
echo a >a &&
git add a &&
git commit -qm a || exit 1
log=$HOME/aihome/npm-log
notes=$HOME/.local/state/git-agent/agents
brings() { echo "$1" >"$bin/version"; }
# what a start of claude says it is
started() { git agent start -q -- claude "$@"; }

test_expect_success 'nothing is installed at first: what is known is listed, and a start says how to get it' '
	git agent agents >list &&
	grep "^claude  *-  *none  *not installed$" list &&
	grep "^goose .*not found$" list &&
	! grep bash list &&
	test_expect_code 125 git agent start -- claude 2>err &&
	grep "command .claude. was not found on PATH, nor in the agents. home" err &&
	grep "^hint: .git agent agents install claude. puts it into the agents. home; to log in, type /login inside, which stays in that home (.git agent home.)\$" err &&
	test "$(grep -c . err)" -le 3 &&
	mkdir -p "$HOME/.claude" &&
	echo x >"$HOME/.claude/.credentials.json" &&
	test_expect_code 125 git agent start -- claude 2>err &&
	grep "^hint: .*; .git agent home import claude. brings your login there\$" err &&
	rm -r "$HOME/.claude" &&
	ANTHROPIC_API_KEY=k test_expect_code 125 git agent start -- claude 2>err &&
	grep "^hint: .git agent agents install claude. puts it into the agents. home\$" err &&
	test_expect_code 125 git agent start -- aider 2>err &&
	grep "^hint: install it, or give its path; to log in, set the key of a model, ANTHROPIC_API_KEY for example\$" err &&
	test_expect_code 125 git agent start -- other 2>err &&
	grep "^hint: install it, or give its path\$" err &&
	test ! -e "$HOME/aihome"
'

test_expect_success 'a version is installed, noted and run, whatever else is on PATH, with the flags of its preset' '
	brings 1.2.3 &&
	PATH=$PATH:$HOME/host &&
	git agent agents install claude@1.2.3 2>out &&
	grep "^claude: 1.2.3$" out &&
	test "$(cat "$notes/claude")" = 1.2.3 &&
	grep -x "install @anthropic-ai/claude-code@1.2.3 scripts-ignored=yes" "$log" &&
	started -p x >out &&
	grep -x "own $HOME/.local/agent/npm/claude/1.2.3/bin/claude --dangerously-skip-permissions -p x" out &&
	git agent start -q -- sh -c "~/.local/agent/bin/claude" >out &&
	grep "^own" out &&
	test ! -e "$HOME/.local/agent" &&
	git agent start -q --name again claude &&
	git agent resume -q again >out &&
	grep "own .* --continue --dangerously-skip-permissions$" out
'

test_expect_success 'list says where each is, its version and whether somebody is logged in; --json the same' '
	cd "$HOME" &&
	mkdir -p aihome/.claude &&
	echo x >aihome/.claude/.credentials.json &&
	OPENAI_API_KEY=k git agent agents --json >json &&
	jq_get() {
		python3 -c "import json,sys; print({a[\"name\"]: a for a in json.load(open(\"json\"))}[sys.argv[1]][sys.argv[2]])" "$@"
	} &&
	test "$(jq_get claude where) $(jq_get claude version) $(jq_get claude login) $(jq_get claude key)" = "home 1.2.3 True None" &&
	test "$(jq_get codex where) $(jq_get codex key)" = "none OPENAI_API_KEY" &&
	test "$(jq_get aider login) $(jq_get aider package)" = "None None" &&
	git agent agents list >list &&
	grep "^claude  *1.2.3  *login  *$HOME/.local/agent/npm/claude/1.2.3/bin/claude$" list
'

test_expect_success 'npm runs in a sandbox without keys, without what agents could have prepared for it, and writes nothing of the users' '
	echo secret >"$HOME/.ssh-key" &&
	echo "registry=http://example.org" >"$HOME/aihome/.npmrc" &&
	mkdir -p "$HOME/.npm" &&
	test_when_finished "rm -f $HOME/.ssh-key $bin/runs $HOME/aihome/.npmrc" &&
	echo "test ! -e ~/.ssh-key && test ! -e $PWD/a && test ! -e /tmp/git-agent-agents/.npmrc && echo \$\$ >/tmp/x && ! echo x 2>/dev/null >$bin/x" >"$bin/runs" &&
	ANTHROPIC_API_KEY=k HTTPS_PROXY=p npm_config_registry=http://r NPM_TOKEN=t git agent agents install -q claude &&
	cat "$HOME/aihome/npm-env" &&
	! grep "ANTHROPIC\|NPM_TOKEN" "$HOME/aihome/npm-env" &&
	grep -x "HTTPS_PROXY=p" "$HOME/aihome/npm-env" &&
	grep -x "npm_config_registry=http://r" "$HOME/aihome/npm-env" &&
	grep -x npm_config_userconfig=/dev/null "$HOME/aihome/npm-env" &&
	grep -x npm_config_globalconfig=/usr/own/etc/npmrc "$HOME/aihome/npm-env" &&
	grep "^npm_config_cache=/tmp/" "$HOME/aihome/npm-env" &&
	grep "^run run --if-present --silent postinstall in .local/agent/npm/claude/.new/lib/node_modules/@anthropic-ai/claude-code$" "$log" &&
	test ! -e /tmp/git-agent-agents &&
	test -z "$(ls -A "$notes" | grep run)"
'

test_expect_success 'what npm or the package gets wrong is one line, and the version of before stays' '
	PATH=$PATH:$HOME/host &&
	brings 2.0.0 &&
	printf "npm error 404\n\033[31mnot \033]0;x\007there\nnpm error A complete log of this run can be found in: x\n\n" >"$bin/fails" &&
	test_expect_code 128 git agent agents install claude@9.9.9 2>err &&
	cat -v err &&
	grep "^git-agent: cannot install .claude.: .*there$" err &&
	! grep "$(printf "\033")" err &&
	rm "$bin/fails" &&
	for v in ../../x "9.9.9;id" -1.0.0 "" "1.0.0/x" 1..2 "\$(touch x)"; do
		brings "$v" &&
		test_expect_code 128 git agent agents install claude 2>err &&
		grep "version" err ||
			{
				echo "at $v"
				exit 1
			}
	done &&
	brings 2.0.0 &&
	echo "exit 3" >"$bin/program" &&
	test_expect_code 128 git agent agents install claude 2>err &&
	rm "$bin/program" &&
	echo "exit 4" >"$bin/runs" &&
	test_expect_code 128 git agent agents install claude &&
	rm "$bin/runs" &&
	test "$(cat "$notes/claude")" = 1.2.3 &&
	started >out &&
	grep "own .*/1.2.3/" out
'

test_expect_success 'no version is taken that npm would read as something else' '
	: >"$log" &&
	for v in "" -g --registry=x ../x x.tgz file:x npm:y@1.0.0 u/r git+ssh://x "1.0.0 2" "^1.0.0" 1.x 1.2 "latest;id" @x; do
		test_expect_code 129 git agent agents install "claude@$v" 2>err &&
		grep "is no version of .claude." err ||
			{
				echo "at $v"
				exit 1
			}
	done &&
	test ! -s "$log" &&
	git agent agents install -q claude@next &&
	grep -x "install @anthropic-ai/claude-code@next scripts-ignored=yes" "$log" &&
	test_expect_code 129 git agent agents install clade 2>err &&
	grep "did you mean claude" err &&
	test_expect_code 129 git agent agents install bash &&
	test_expect_code 129 git agent agents install aider 2>err &&
	grep "npm does not distribute .aider." err &&
	test_expect_code 129 git agent agents install &&
	test_expect_code 129 git agent agents list claude &&
	test_expect_code 129 git agent agents upgrade &&
	test_expect_code 129 git agent agents install --json claude
'

test_expect_success 'update brings what npm has now; older versions go unless a session may be using them' '
	brings 3.0.0 &&
	git agent agents update 2>out &&
	grep "^claude: 3.0.0, was 2.0.0$" out &&
	! grep codex out &&
	test "$(ls "$HOME/aihome/.local/agent/npm/claude")" = 3.0.0 &&
	mkdir "$HOME/aihome/hold" &&
	git agent start -q -d --name h claude &&
	test_when_finished "rmdir $HOME/aihome/hold; git agent stop -q h" &&
	brings 4.0.0 &&
	git agent agents update claude 2>out &&
	grep "older versions stay" out &&
	test -d "$HOME/aihome/.local/agent/npm/claude/3.0.0" &&
	test_expect_code 2 git agent agents remove claude 2>err &&
	grep "a session is running" err &&
	git agent stop -q h &&
	git agent agents install claude 2>out &&
	grep "4.0.0, as before" out &&
	test "$(ls "$HOME/aihome/.local/agent/npm/claude")" = 4.0.0 &&
	test_expect_code 129 git agent agents update codex 2>err &&
	grep "is not installed in the agents. home" err
'

test_expect_success 'what npm chooses is never put in place of something newer without being asked for' '
	brings 3.9.9 &&
	git agent agents update 2>out &&
	grep "^claude: 4.0.0 stays: npm chose the older 3.9.9, .*(.git agent agents install claude@3.9.9. goes back to it)" out &&
	test "$(cat "$notes/claude")" = 4.0.0 &&
	git agent agents install claude 2>out &&
	grep "^claude: 4.0.0 stays" out &&
	git agent agents update -q claude 2>out &&
	test ! -s out &&
	started >out &&
	grep "own .*/4.0.0/" out &&
	test "$(ls -A "$HOME/aihome/.local/agent/npm/claude")" = 4.0.0 &&
	brings 4.0.0-rc.1 &&
	git agent agents update 2>out &&
	grep "^claude: 4.0.0 stays" out &&
	brings 4.0.1-rc.1 &&
	git agent agents update 2>out &&
	grep "^claude: 4.0.1-rc.1, was 4.0.0$" out &&
	brings 3.9.9 &&
	git agent agents install claude@3.9.9 2>out &&
	grep "^claude: 3.9.9, was 4.0.1-rc.1$" out &&
	started >out &&
	grep "own .*/3.9.9/" out &&
	brings 4.0.0 &&
	git agent agents update -q
'

test_expect_success 'PS-02: what an agent puts there is run before nothing of the users, and leads nowhere' '
	PATH=$PATH:$HOME/host &&
	brings 1.0.0 &&
	printf "#!/bin/sh\necho planted\n" >"$HOME/aihome/planted" &&
	chmod +x "$HOME/aihome/planted" &&
	git agent agents remove -q claude &&
	started >out &&
	grep "^host" out &&
	cp "$HOME/aihome/planted" "$HOME/aihome/.local/agent/bin/claude" &&
	started >out &&
	grep "^host" out &&
	git agent agents | grep "^claude .*$HOME/host/claude" &&
	git agent agents install -q claude &&
	rm -rf "$HOME/aihome/.local/agent/npm/claude/1.0.0" &&
	started >out &&
	grep "^host" out &&
	git agent agents install -q claude &&
	mv "$HOME/aihome/.local/agent/npm" "$HOME/moved" &&
	ln -s "$HOME/moved" "$HOME/aihome/.local/agent/npm" &&
	started >out &&
	grep "^host" out &&
	rm "$HOME/aihome/.local/agent/npm" &&
	mkdir "$HOME/victim" &&
	ln -s "$HOME/victim" "$HOME/aihome/.local/agent/npm" &&
	{ git agent agents install -q claude || :; } &&
	test -z "$(ls -A "$HOME/victim")" &&
	rm -rf "$HOME/aihome/.local/agent" &&
	git agent agents install -q claude &&
	started >out &&
	grep "^own" out
'

test_expect_success 'one that an agent installed for itself is found when nobody else has it' '
	cp "$HOME/aihome/planted" "$HOME/aihome/.local/agent/bin/codex" &&
	git agent agents | grep "^codex  *?.*$HOME/.local/agent/bin/codex$" &&
	git agent start -q -- codex >out &&
	grep planted out &&
	cp "$HOME/aihome/planted" "$HOME/aihome/.local/agent/bin/tool" &&
	git agent start -q -- tool >out &&
	grep planted out
'

test_expect_success 'one at a time, and one that was killed leaves nothing for long' '
	brings 6.0.0 &&
	mkdir -p "$notes/.run-old/upper" &&
	pids= &&
	for i in 1 2 3; do
		git agent agents install -q claude &
		pids="$pids $!"
	done &&
	for pid in $pids; do wait "$pid" || exit 1; done &&
	test -z "$(ls -A "$notes" | grep run)" &&
	started >out &&
	grep "own .*/6.0.0/" out &&
	test "$(ls -A "$HOME/aihome/.local/agent/npm/claude")" = 6.0.0 &&
	echo "sleep 1000" >"$bin/runs" &&
	brings 7.0.0 &&
	: >"$log" &&
	{ "$GIT_AGENT" agents install -q claude & } &&
	pid=$! &&
	test_wait_for "grep postinstall $log" &&
	kill -9 "$pid" &&
	{ wait "$pid" || :; } &&
	started >out &&
	grep "own .*/6.0.0/" out &&
	rm "$bin/runs" &&
	git agent agents install -q claude &&
	started >out &&
	grep "own .*/7.0.0/" out &&
	test "$(ls -A "$HOME/aihome/.local/agent/npm/claude")" = 7.0.0 &&
	test -z "$(ls -A "$notes" | grep run)"
'

test_expect_success 'who waits for another to install looks at what that brought, not at what was there before' '
	brings 7.2.0 &&
	mkfifo "$HOME/aihome/go" &&
	echo "read -r _ <~/go" >"$bin/runs" &&
	: >"$log" &&
	{ git agent agents install -q claude & } &&
	first=$! &&
	test_wait_for "grep postinstall $log" &&
	{ "$GIT_AGENT" agents install claude 2>out & } &&
	second=$! &&
	test_wait_for "grep -e \"-> FLOCK .* $second \" /proc/locks" &&
	rm "$bin/runs" &&
	brings 7.1.0 &&
	echo 1 >"$HOME/aihome/go" &&
	wait $first &&
	wait $second &&
	rm "$HOME/aihome/go" &&
	grep "^claude: 7.2.0 stays: npm chose the older 7.1.0" out &&
	test "$(cat "$notes/claude")" = 7.2.0 &&
	started >out &&
	grep "own .*/7.2.0/" out
'

test_expect_success 'who installs what is being removed waits until that is forgotten, and is not forgotten with it' '
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
	started >out &&
	grep "own .*/7" out
'

test_expect_success 'removed is removed, but for the login' '
	git agent agents remove claude 2>out &&
	grep "its login stays" out &&
	test ! -e "$HOME/aihome/.local/agent/npm/claude" &&
	test ! -e "$HOME/aihome/.local/agent/bin/claude" &&
	test ! -e "$notes/claude" &&
	test -s "$HOME/aihome/.claude/.credentials.json" &&
	git agent agents remove claude 2>out &&
	grep "nothing to do" out &&
	git agent agents install -q claude &&
	chmod -R u+w "$HOME/aihome" &&
	rm -rf "$HOME/aihome" &&
	git agent agents remove claude &&
	test ! -e "$notes/claude"
'

test_expect_success 'each repository has its own where homes are of projects' '
	echo "home_mode: project" >"$HOME/conf" &&
	mkdir -p "$HOME/.config/git-agent" &&
	mv "$HOME/conf" "$HOME/.config/git-agent/config.yaml" &&
	test_when_finished "rm $HOME/.config/git-agent/config.yaml" &&
	brings 5.0.0 &&
	git agent agents install -q claude &&
	started >out &&
	grep "own .*/5.0.0/" out &&
	test ! -e "$notes/claude" &&
	git init -q "$HOME/q" &&
	cd "$HOME/q" &&
	git commit -q --allow-empty -m q &&
	test_expect_code 125 git agent start -- claude &&
	cd "$HOME" &&
	test_expect_code 128 git agent agents 2>err &&
	grep "this is none" err
'

test_expect_success 'without npm it says so, and of an npm package of the host the version is known' '
	mv "$bin/npm" "$bin/other" &&
	test_when_finished "mv $bin/other $bin/npm" &&
	mkdir "$HOME/git" &&
	ln -s "$(command -v git)" "$HOME/git/git" &&
	PATH=$TEST_BUILDDIR:$HOME/git &&
	test_expect_code 125 git agent agents install claude 2>err &&
	PATH=$system &&
	grep "npm was not found on PATH" err &&
	grep "^hint: install Node.js" err &&
	(
		cd "$HOME/p" &&
		PATH=$TEST_BUILDDIR:$HOME/git &&
		export PATH &&
		test_expect_code 125 git agent start -- gemini 2>"$HOME/err"

	) &&
	grep "^hint: install it, or Node.js for .git agent agents install gemini.; to log in, choose one inside" "$HOME/err" &&
	mkdir -p "$HOME/.npm-global/lib/node_modules/@openai/codex/bin" "$HOME/.npm-global/bin" &&
	cd "$HOME/.npm-global" &&
	echo "{\"version\": \"7.8.9\"}" >lib/node_modules/@openai/codex/package.json &&
	printf "#!/bin/sh\n" >lib/node_modules/@openai/codex/bin/codex.js &&
	chmod +x lib/node_modules/@openai/codex/bin/codex.js &&
	ln -s ../lib/node_modules/@openai/codex/bin/codex.js bin/codex &&
	cd "$HOME/p" &&
	git agent agents | grep "^codex  *7.8.9 .*$HOME/.npm-global/bin/codex$"
'

test_expect_success 'a version of before that cannot be removed keeps nobody from the one that came' '
	brings 7.0.0 &&
	git agent agents install -q claude &&
	brings 7.0.1 &&
	GIT_AGENT_FAULT=agents:others:fail git agent agents install claude 2>err &&
	grep "claude: older versions stay: .*; install it again to remove them" err &&
	grep "^claude: 7.0.1, was 7.0.0" err &&
	test "$(cat "$notes/claude")" = 7.0.1 &&
	test -d "$HOME/aihome/.local/agent/npm/claude/7.0.0" &&
	started >out &&
	grep "own .*/7.0.1/" out &&
	git agent agents install -q claude &&
	test ! -e "$HOME/aihome/.local/agent/npm/claude/7.0.0"
'

test_expect_success 'a home with a colon in its name is no two directories' '
	h=$HOME/a:$HOME/b &&
	mkdir -p "$h/.claude/local" "$HOME/b/.claude/local" &&
	cp "$HOME/host/claude" "$HOME/b/.claude/local/claude" &&
	git agent agents remove -q claude &&
	test_expect_code 125 env HOME="$h" PATH="$bin:$system" git agent start -q -- claude 2>err &&
	grep "command .claude. was not found on PATH" err &&
	git agent agents install -q claude
'

test_expect_success 'agents of the user'\''s own: started by name, gone on with, listed, completed; their login is shared and imported' '
	mkdir -p "$HOME/.config/git-agent" "$HOME/host" "$HOME/.mine" &&
	printf "#!/bin/sh\necho \"prog \$* key=\$MY_KEY other=\$OTHER_KEY set=\$MINE_AUTO\"\n" >"$HOME/host/prog" &&
	chmod +x "$HOME/host/prog" &&
	PATH=$PATH:$HOME/host &&
	cat >"$HOME/.config/git-agent/config.yaml" <<-EOT &&
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
	test_when_finished "rm -f $HOME/.config/git-agent/config.yaml" &&
	export MY_KEY=k OTHER_KEY=o &&
	git agent start -q -- mine do >out &&
	grep -x "prog --yes -v do key=k other= set=1" out &&
	unset MY_KEY &&
	git agent list | grep "^mine-1 .*mine do" &&
	grep "sandbox" "$HOME/aihome/.mine/NOTES.md" &&
	git agent resume -q mine-1 >out &&
	grep -x "prog --again --yes -v do key= other= set=1" out &&
	git agent start -- mine 2>err &&
	grep "mine is not logged in: log in inside, or set MY_KEY" err &&
	git agent agents >list &&
	grep "^mine  *?  *none  *$HOME/host/prog$" list &&
	grep "^plain  *-  *? *not found$" list &&
	grep "^claude" list &&
	echo secret >"$HOME/.mine/auth" &&
	git agent home import -y mine &&
	test "$(cat "$HOME/aihome/.mine/auth")" = secret &&
	git agent agents >list &&
	grep "^mine  *?  *login " list &&
	git agent home show | grep "^ *mine " &&
	git agent --complete start "" | grep "^mine" &&
	git agent --complete agents update "" | grep "^plain" &&
	test_expect_code 125 git agent start plain 2>err &&
	grep "command .plain. was not found" err &&
	test_must_fail git agent agents install mine 2>err &&
	grep "mine" err &&
	git agent shim install mine &&
	git agent shim status | grep "mine" &&
	git agent shim remove mine
'

test_done
