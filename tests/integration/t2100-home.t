#!/bin/sh
# SPDX-License-Identifier: MIT
# shellcheck disable=SC2016,SC2088 # what runs inside is quoted for inside
test_description='the agents'\'' home: toolchains, credentials in them, where agents are installed, caches, notes, modes'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

system=$(dirname "$(command -v git)"):/usr/local/bin:/usr/bin:/bin
git init -q p &&
cd p &&
echo a >a &&
git add a &&
git commit -qm a
cd .. || exit 1

# program FILE [INTERPRETER]: says which file it is, and what it was given
program() {
	mkdir -p "${1%/*}" &&
	printf '#!%s\necho "ran $0 $*"\n' "${2-/bin/sh}" >"$1" &&
	chmod +x "$1"
}
# link FILE TARGET
link() {
	mkdir -p "${1%/*}" &&
	ln -s "$2" "$1"
}
# inside COMMAND...: in a session of its own
inside() {
	(cd "$HOME/p" && PATH=${path-$system} "$GIT_AGENT" start -q -- "$@")
}
# fresh: none of the toolchains of the test before
fresh() {
	find "$HOME" -mindepth 1 -maxdepth 1 ! -name p ! -name aihome ! -name .gitconfig ! -name .local -exec rm -rf {} + &&
	find "$HOME/.local" -mindepth 1 -maxdepth 1 ! -name state -exec rm -rf {} + &&
	{ test ! -e "$HOME/aihome" || chmod -R u+rwx "$HOME/aihome"; } &&
	rm -rf "$HOME/aihome"
}

# ---- where an agent is installed ----------------------------------------------------------

pkg=lib/node_modules/@anthropic-ai/claude-code

test_expect_success 'npm global with a prefix in home, and node of the system' '
	fresh &&
	program "$HOME/.npm-global/$pkg/cli.js" &&
	link "$HOME/.npm-global/bin/claude" ../$pkg/cli.js &&
	path=$HOME/.npm-global/bin:$system inside claude -p x >out &&
	grep "ran $HOME/.npm-global/bin/claude --dangerously-skip-permissions -p x" out &&
	fresh &&
	program "$HOME/packages/$pkg/cli.js" &&
	link "$HOME/packages/bin/claude" ../$pkg/cli.js &&
	echo note >"$HOME/packages/private" &&
	path=$HOME/packages/bin:$system inside claude -p x >out &&
	grep "^ran " out &&
	path=$HOME/packages/bin:$system inside sh -c "test ! -e ~/packages/private"
'

test_expect_success 'nvm: the package, and the node that its first line finds' '
	v=$HOME/.nvm/versions/node/v20.1.0 &&
	fresh &&
	program "$v/bin/node" &&
	mkdir -p "$v/$pkg" &&
	printf "#!/usr/bin/env node\n" >"$v/$pkg/cli.js" &&
	chmod +x "$v/$pkg/cli.js" &&
	link "$v/bin/claude" ../$pkg/cli.js &&
	path=$v/bin:$system inside claude >out &&
	grep "^ran $v/bin/node .*/claude --dangerously" out
'

test_expect_success 'node of one place, the package of another: env -S, and an interpreter by its path' '
	fresh &&
	program "$HOME/nodes/v1/bin/node" &&
	mkdir -p "$HOME/apps/$pkg" &&
	printf "#!/usr/bin/env -S node --x\n" >"$HOME/apps/$pkg/cli.js" &&
	chmod +x "$HOME/apps/$pkg/cli.js" &&
	link "$HOME/apps/bin/claude" ../$pkg/cli.js &&
	path=$HOME/apps/bin:$HOME/nodes/v1/bin:$system inside claude >out &&
	grep "^ran $HOME/nodes/v1/bin/node --x" out &&
	program "$HOME/apps/bin/codex" "$HOME/nodes/v1/bin/node" &&
	path=$HOME/apps/bin:$system inside codex >out &&
	grep "^ran $HOME/nodes/v1/bin/node $HOME/apps/bin/codex" out
'

test_expect_success 'the native installer: a link from ~/.local/bin into ~/.local/share/claude' '
	fresh &&
	program "$HOME/.local/share/claude/versions/1.0.0" &&
	link "$HOME/.local/bin/claude" "$HOME/.local/share/claude/versions/1.0.0" &&
	path=$HOME/.local/bin:$system inside claude >out &&
	grep "^ran $HOME/.local/bin/claude" out &&
	inside claude >out &&
	grep "^ran $HOME/.local/bin/claude" out
'

test_expect_success 'the local installer: ~/.claude/local, which PATH does not lead to; nothing else of ~/.claude' '
	fresh &&
	program "$HOME/.claude/local/node_modules/.bin/claude" &&
	echo token >"$HOME/.claude/.credentials.json" &&
	echo mine >"$HOME/.claude/CLAUDE.md" &&
	printf "#!/bin/sh\nexec %s/.claude/local/node_modules/.bin/claude \"\$@\"; exit 1\n" "$HOME" >"$HOME/.claude/local/claude" &&
	chmod +x "$HOME/.claude/local/claude" &&
	inside claude >out &&
	grep "^ran .*/node_modules/.bin/claude --dangerously" out &&
	(cd p && git agent start --dry-run claude) &&
	inside sh -c "
		test ! -e ~/.claude/.credentials.json &&
		! grep mine ~/.claude/CLAUDE.md
		ls ~/.claude" &&
	test_expect_code 125 inside clauded 2>err &&
	grep "not found on PATH" err
'

test_expect_success 'mise: a shim that is a link to mise, which finds the versions of the user; asdf: a script' '
	fresh &&
	program "$HOME/.local/bin/mise" &&
	link "$HOME/.local/share/mise/shims/claude" "$HOME/.local/bin/mise" &&
	mkdir -p "$HOME/.config/mise" &&
	printf "[env]\nTOKEN = \"secret\"\n[tools]\nnode = \"20\"\n[settings]\nx = 1\n[tools.python]\nversion = \"3\"\n" >"$HOME/.config/mise/config.toml" &&
	path=$HOME/.local/share/mise/shims:$system inside claude >out &&
	grep "^ran $HOME/.local/share/mise/shims/claude" out &&
	printf "[tools]\nnode = \"20\"\n[tools.python]\nversion = \"3\"\n" >want &&
	test_cmp want "$HOME/aihome/.config/mise/config.toml" &&
	fresh &&
	program "$HOME/.asdf/bin/asdf" &&
	mkdir -p "$HOME/.asdf/shims" &&
	printf "#!/bin/sh\nexec %s/.asdf/bin/asdf exec claude\n" "$HOME" >"$HOME/.asdf/shims/claude" &&
	chmod +x "$HOME/.asdf/shims/claude" &&
	echo "nodejs 20" >"$HOME/.tool-versions" &&
	path=$HOME/.asdf/shims:$system inside claude >out &&
	grep "^ran $HOME/.asdf/bin/asdf exec claude" out &&
	test "$(inside sh -c "cat ~/.tool-versions")" = "nodejs 20" &&
	echo "agent 1" >"$HOME/aihome/.tool-versions" &&
	inside true &&
	test "$(cat "$HOME/aihome/.tool-versions")" = "agent 1"
'

test_expect_success 'fnm: a directory of PATH outside of all that is shown, known inside by the one it leads to' '
	v=$HOME/.local/share/fnm/node-versions/v20/installation &&
	fresh &&
	program "$v/bin/node" &&
	mkdir -p "$v/$pkg" "$TRASH/run" &&
	printf "#!/usr/bin/env node\n" >"$v/$pkg/cli.js" &&
	chmod +x "$v/$pkg/cli.js" &&
	link "$v/bin/claude" ../$pkg/cli.js &&
	ln -s "$v" "$TRASH/run/multishell" &&
	path=$TRASH/run/multishell/bin:$system inside claude >out &&
	grep "^ran $v/bin/node" out &&
	path=/usr/bin:$TRASH/run/multishell/bin:/nowhere:/bin inside sh -c "echo \$PATH" >out &&
	grep -x "/usr/bin:$v/bin:/bin:$HOME/.local/agent/bin" out
'

test_expect_success 'volta, bun, pipx, uv: a link or a script, and the environment it runs from' '
	fresh &&
	program "$HOME/.volta/bin/volta-shim" &&
	link "$HOME/.volta/bin/claude" volta-shim &&
	path=$HOME/.volta/bin:$system inside claude >out &&
	grep "^ran .*volta" out &&
	fresh &&
	program "$HOME/.bun/install/global/node_modules/opencode/bin/opencode" &&
	link "$HOME/.bun/bin/opencode" ../install/global/node_modules/opencode/bin/opencode &&
	path=$HOME/.bun/bin:$system inside opencode >out &&
	grep "^ran .*bun" out &&
	fresh &&
	for share in pipx/venvs uv/tools; do
		v=$HOME/.local/share/$share/aider-chat &&
		program "$HOME/python/3.12/bin/python3.12" &&
		link "$v/bin/python" "$HOME/python/3.12/bin/python3.12" &&
		program "$v/bin/aider" "$v/bin/python" &&
		ln -sf "$v/bin/aider" "$HOME/.local/bin/aider" 2>/dev/null || { mkdir -p "$HOME/.local/bin" && ln -s "$v/bin/aider" "$HOME/.local/bin/aider"; } &&
		path=$HOME/.local/bin:$system inside aider >out &&
		grep "^ran $v/bin/python $HOME/.local/bin/aider" out || exit 1
	done
'

test_expect_success 'Homebrew in home: programs and what they run from, no databases' '
	b=$HOME/.linuxbrew &&
	fresh &&
	program "$b/Cellar/node/20/bin/node" &&
	link "$b/bin/node" ../Cellar/node/20/bin/node &&
	mkdir -p "$b/$pkg" "$b/var/postgres" "$b/etc" &&
	echo data >"$b/var/postgres/PG" &&
	echo token >"$b/etc/npmrc" &&
	printf "#!/usr/bin/env node\n" >"$b/$pkg/cli.js" &&
	chmod +x "$b/$pkg/cli.js" &&
	link "$b/bin/claude" ../$pkg/cli.js &&
	path=$b/bin:$system inside claude >out &&
	grep "^ran .*linuxbrew/bin/node" out &&
	inside sh -c "
		test -e ~/.linuxbrew/bin/node &&
		test ! -e ~/.linuxbrew/var &&
		test ! -e ~/.linuxbrew/etc/npmrc"
'

# others than root find that the system belongs to nobody in there
test_lazy_prereq ROOT_USERNS 'test "$(id -u)" = 0 && unshare -Urm true'
test_expect_success ROOT_USERNS 'Homebrew at /home/linuxbrew, an agent in /opt, both by their links' '
	fresh &&
	cat >in.sh <<-\EOF &&
	set -e
	b=/home/linuxbrew/.linuxbrew
	mkdir "$TRASH/homes" && mount --rbind /home "$TRASH/homes" && mount -t tmpfs none /home
	for h in "$TRASH"/homes/*; do test ! -d "$h" || { mkdir "/home/${h##*/}" && mount --rbind "$h" "/home/${h##*/}"; }; done
	mkdir -p $b/Cellar/claude/1/bin $b/bin $b/var && mount -t tmpfs none /opt && mkdir -p /opt/codex/bin
	printf "#!/bin/sh\necho brew \$0\n" >$b/Cellar/claude/1/bin/claude && printf "#!/bin/sh\necho opt \$0\n" >/opt/codex/bin/codex && chmod +x $b/Cellar/claude/1/bin/claude /opt/codex/bin/codex
	ln -s ../Cellar/claude/1/bin/claude $b/bin/claude && echo data >$b/var/db
	cd "$HOME/p" && git agent start -q -- claude && PATH=$b/bin:/opt/codex/bin:$PATH git agent start -q -- codex && git agent start -q -- sh -c "test ! -e $b/var && ! touch $b/bin/x" 2>/dev/null
	EOF
	test_prints "brew /home/linuxbrew/.linuxbrew/bin/claude\nopt /opt/codex/bin/codex" unshare -Urm sh in.sh
'

test_expect_success 'PATH inside keeps what exists, in order, and variables of toolchains as far as they are shown' '
	fresh &&
	mkdir -p "$HOME/.cargo/bin" "$HOME/go/bin" "$HOME/.ssh" "$HOME/secret/bin" "$HOME/.pyenv/shims" &&
	export NVM_DIR=$HOME/.nvm PYENV_ROOT=$HOME/.pyenv JAVA_HOME=$HOME/secret GOROOT=/usr &&
	path=$HOME/go/bin:/usr/bin:$HOME/secret/bin:$HOME/.pyenv/shims:/bin:$HOME/.cargo/bin:$HOME/.ssh inside env >out &&
	grep -x "PATH=$HOME/go/bin:/usr/bin:$HOME/.pyenv/shims:/bin:$HOME/.cargo/bin:$HOME/.local/agent/bin" out &&
	grep -x "PYENV_ROOT=$HOME/.pyenv" out &&
	grep -x "GOROOT=/usr" out &&
	! grep "NVM_DIR\|JAVA_HOME" out
'

# ---- credentials ----------------------------------------------------------------------------

test_expect_success 'SB-03: no file with credentials in a toolchain can be read, and what surrounds it can' '
	fresh &&
	cat >files <<-\EOF &&
	.asdf/installs/nodejs/20/etc/npmrc
	.asdf/installs/python/3.12/pip.conf
	.asdf/installs/rust/1.80/credentials.toml
	.asdf/installs/maven/3.9/conf/settings-security.xml
	.local/share/fnm/node-versions/v20/installation/etc/npmrc
	.local/share/mise/installs/node/20/etc/npmrc
	.local/share/pipx/venvs/x/pip.conf
	.local/share/uv/credentials/t.toml
	.npm-global/etc/npmrc
	.nvm/.npmrc
	.nvm/versions/node/v20/lib/node_modules/npm/npmrc
	.pyenv/versions/3.12/pip.conf
	.rbenv/versions/3.3/etc/gemrc
	.rye/credentials
	.sdkman/candidates/gradle/8/gradle.properties
	.dotnet/corefx/cryptography/x509stores/my/key.pfx
	.volta/tools/image/node/20/etc/npmrc
	miniconda3/.condarc
	miniconda3/pip.conf
	n/lib/node_modules/npm/npmrc
	EOF
	while read -r f; do
		mkdir -p "$HOME/${f%/*}" &&
		echo "SECRET $f" >"$HOME/$f" &&
		echo beside >"$HOME/${f%/*}/beside" ||
			exit 1
	done <files &&
	cp files "$HOME/p/.git/files" &&
	m=$HOME/.sdkman/candidates/maven &&
	mkdir -p "$m/1/conf" "$m/2/conf" &&
	echo "<a><!-- <password>SECRET</password> --></a>" >"$m/1/conf/settings.xml" &&
	echo "<a><!-- x --><password>SECRET</password></a>" >"$m/2/conf/settings.xml" &&
	ln -s 20 "$HOME/.local/share/mise/installs/node/latest" &&
	inside sh -c "
		cd ~ &&
		grep -rls SECRET .
		find . -name beside | wc -l
		cat .sdkman/candidates/maven/1/conf/settings.xml
		grep latest /proc/self/mountinfo
		:" >out &&
	printf "./.sdkman/candidates/maven/1/conf/settings.xml\n17\n<a><!-- <password>SECRET</password> --></a>\n" >want &&
	test_cmp want out
'

test_expect_success 'SB-03, PS-03: they stay hidden when the host puts another file in the place of one' '
	fresh &&
	mkdir -p "$HOME/.nvm/versions/node/v1/etc" &&
	echo SECRET >"$HOME/.nvm/.npmrc" &&
	echo SECRET >"$HOME/.nvm/versions/node/v1/etc/npmrc" &&
	echo beside >"$HOME/.nvm/beside" &&
	(
		cd p &&
		git agent start -qd -n replaced -- sleep 1000 &&
		test "$(git agent shell -q replaced -- sh -c "
		cd ~/.nvm
		cat .npmrc versions/node/v1/etc/npmrc beside")" = beside &&
		for f in .npmrc versions/node/v1/etc/npmrc; do
			echo SECRET >"$HOME/.nvm/new" &&
			mv "$HOME/.nvm/new" "$HOME/.nvm/$f" ||
				exit 1
		done &&
		test "$(git agent shell -q replaced -- sh -c "
		cd ~/.nvm
		cat .npmrc versions/node/v1/etc/npmrc beside")" = beside &&
		git agent refresh replaced &&
		test "$(git agent shell -q replaced -- sh -c "
		cd ~/.nvm
		cat .npmrc versions/node/v1/etc/npmrc beside")" = beside &&
		git agent stop -qf replaced

	)
'

test_expect_success ROOT_USERNS 'where something is mounted beside one it is covered all the same, and what may show later is said' '
	fresh &&
	mkdir -p "$HOME/.nvm/mnt" &&
	echo SECRET >"$HOME/.nvm/.npmrc" &&
	echo beside >"$HOME/.nvm/beside" &&
	cd p &&
	unshare -Urm sh -c "
		mount -t tmpfs none ~/.nvm/mnt &&
		git agent start -n loose -- sh -c \"
			cat ~/.nvm/.npmrc ~/.nvm/beside
			echo b >a\"" >../out 2>../err &&
	cat ../out ../err &&
	echo beside >../want &&
	test_cmp ../want ../out &&
	grep "something is mounted in .~/.nvm., .* shows inside" ../err &&
	git agent show loose | grep "something is mounted in .~/.nvm." &&
	git agent start -n tight -- sh -c "echo c >a" 2>../err &&
	! grep "something is mounted" ../err
'

test_expect_success 'credentials beside programs are not shown at all, nor what would show them' '
	fresh &&
	for f in .cargo/credentials.toml .npmrc .pypirc .gem/credentials .m2/settings.xml .gradle/gradle.properties .config/pip/pip.conf .composer/auth.json .netrc .docker/config.json .config/gh/hosts.yml .claude/.credentials.json .codex/auth.json; do
		mkdir -p "$(dirname "$HOME/$f")" &&
		echo SECRET >"$HOME/$f" || exit 1
	done &&
	mkdir -p "$HOME/.cargo/bin" "$HOME/.composer/vendor/bin" "$HOME/.gem/bin" &&
	inside sh -c "
		test -d ~/.cargo/bin &&
		! grep -rs SECRET ~" &&
	for f in .cargo/run .gem/run .composer/run .m2/run run; do
		program "$HOME/$f" &&
		path=$(dirname "$HOME/$f"):$system test_expect_code 125 inside run 2>err &&
		grep "may hold credentials" err &&
		test "$(wc -l <err)" -le 3 &&
		rm "$HOME/$f" ||
			exit 1
	done
'

test_expect_success 'tools: more directories, read-only; none that holds credentials, and no file' '
	fresh &&
	mkdir -p "$HOME/sdk/x/bin" "$HOME/.aws/bin" other &&
	echo tool >"$HOME/sdk/x/f" &&
	echo o >other/f &&
	file=$HOME/.config/git-agent/config.yaml &&
	mkdir -p "${file%/*}" &&
	printf "tools:\n- ~/sdk/x\n- $PWD/other\n- ~/missing\n" >"$file" &&
	path=$HOME/sdk/x/bin:$system inside sh -c "
		cat ~/sdk/x/f $PWD/other/f
		! touch ~/sdk/x/g $PWD/other/g
		echo \$PATH
		test ! -e ~/missing" >out 2>/dev/null &&
	printf "tool\no\n$HOME/sdk/x/bin:$system:$HOME/.local/agent/bin\n" | grep -v "^$" >want &&
	test_cmp want out &&
	for bad in "~/.aws/bin" "~/.config" "~/.cargo" "$HOME" /; do
		mkdir -p "$HOME/.cargo" &&
		printf "tools: [\"%s\"]\n" "$bad" >"$file" &&
		test_expect_code 125 inside true 2>err &&
		grep "may hold credentials\|would show your home" err ||
			{ test "$bad" = / && test_must_fail inside true; } ||
			{
				echo "$bad"
				exit 1
			}
	done &&
	echo x >"$HOME/file" &&
	printf "tools: ~/file\n" >"$file" &&
	test_expect_code 125 inside true 2>err &&
	grep "takes directories" err &&
	printf "tools: [~/sdk/x]\n" >p/.agentdev.yaml &&
	rm "$file" &&
	(cd p && git add -A && git commit -qm t) &&
	test_must_fail inside true 2>err &&
	grep "a repository cannot set it" err &&
	(cd p && git rm -qf .agentdev.yaml && git commit -qm u)
'

# ---- caches -----------------------------------------------------------------------------------

test_expect_success 'what lies in a read-only toolchain has a place of the agents'\'' own, what does not stays where it is' '
	fresh &&
	mkdir -p "$HOME/go/bin" "$HOME/.cargo/bin" "$HOME/.local/share/pnpm" "$HOME/.local/bin" &&
	inside env >out &&
	for want in GOBIN=$HOME/.local/agent/bin CARGO_INSTALL_ROOT=$HOME/.local/agent npm_config_store_dir=$HOME/.cache/pnpm-store PIPX_BIN_DIR=$HOME/.local/agent/bin UV_TOOL_BIN_DIR=$HOME/.local/agent/bin; do
		grep -x "$want" out || {
			echo "$want"
			exit 1
		}
	done &&
	! grep "CARGO_HOME\|GOMODCACHE\|PIP_CACHE_DIR\|GRADLE_USER_HOME\|CCACHE_DIR" out &&
	fresh &&
	inside env >out &&
	! grep "GOBIN\|INSTALL_ROOT\|PIPX" out &&
	mkdir -p "$HOME/go/pkg/mod" "$HOME/.gradle/caches" "$HOME/.npm/_cacache" "$HOME/.cache/pip" &&
	inside sh -c "
		for d in ~/go/pkg/mod ~/.gradle/caches ~/.npm/_cacache ~/.cache/pip ~/.cargo/registry ~/.cache/ccache; do
			test ! -e \$d &&
			mkdir -p \$d &&
			touch \$d/x || exit 1
		done" &&
	for d in go/pkg/mod .gradle/caches .npm/_cacache .cache/pip .cargo/registry .cache/ccache; do
		test -e "$HOME/aihome/$d/x" &&
		test ! -e "$HOME/$d/x" || exit 1
	done &&
	file=$HOME/.config/git-agent/config.yaml &&
	mkdir -p "${file%/*}" &&
	printf "tools: [~/.gradle/caches]\n" >"$file" &&
	test_when_finished "rm -f $file" &&
	inside sh -c "
		test \$GRADLE_USER_HOME = ~/.local/agent/gradle &&
		mkdir -p \$GRADLE_USER_HOME"
'

test_lazy_prereq NPM 'PATH=/usr/local/bin:/usr/bin:/bin npm --version'
test_lazy_prereq PIP 'PATH=/usr/local/bin:/usr/bin:/bin python3 -m venv "$TRASH/venv-probe"'
# of the user who runs the tests, by links: what a start shows is where they lead
test_cargo=$(command -v cargo)
test_rustup=${test_cargo%/.cargo/bin/cargo}/.rustup
test_lazy_prereq CARGO 'test "$(command -v "$test_cargo")" && { test ! -d "$test_rustup" || RUSTUP_HOME=$test_rustup "$test_cargo" --version; }'
test_lazy_prereq GO 'PATH=/usr/local/bin:/usr/bin:/bin go version'

test_expect_success NPM 'npm: a package is packed and installed, its cache is the agents'\''' '
	fresh &&
	inside sh -c "
		mkdir /tmp/m /tmp/w &&
		cd /tmp/m &&
		echo \"{\\\"name\\\":\\\"m\\\",\\\"version\\\":\\\"1.0.0\\\"}\" >package.json &&
		npm pack --offline --silent &&
		cd /tmp/w &&
		npm install --offline --no-audit --no-fund /tmp/m/m-1.0.0.tgz &&
		test -e node_modules/m/package.json" &&
	test -d "$HOME/aihome/.npm/_cacache" &&
	test ! -e "$HOME/.npm"
'

test_expect_success PIP 'pip: a wheel is built and installed without network, its cache is the agents'\''' '
	fresh &&
	inside sh -c "
		python3 -m venv /tmp/v &&
		test \"\$(/tmp/v/bin/pip cache dir)\" = ~/.cache/pip &&
		mkdir -p ~/.cache/pip &&
		touch ~/.cache/pip/x" &&
	test -e "$HOME/aihome/.cache/pip/x" &&
	test ! -e "$HOME/.cache/pip"
'

test_expect_success CARGO 'cargo builds, and what it fetches and installs is the agents'\''' '
	fresh &&
	mkdir -p "$HOME/.cargo" &&
	ln -s "${test_cargo%/*}" "$HOME/.cargo/bin" &&
	{ test ! -d "$test_rustup" || ln -s "$test_rustup" "$HOME/.rustup"; } &&
	path=$HOME/.cargo/bin:$system inside sh -c "
		cd /tmp &&
		cargo init --quiet --name c c &&
		cd c &&
		cargo install --offline --quiet --path . &&
		c" >out &&
	grep Hello out &&
	test -x "$HOME/aihome/.local/agent/bin/c" &&
	test ! -e "$HOME/.cargo/registry"
'

test_expect_success GO 'go builds and installs, caches are the agents'\''' '
	fresh &&
	mkdir -p "$HOME/go/bin" &&
	inside sh -c "
		mkdir /tmp/g &&
		cd /tmp/g &&
		go mod init example.org/g &&
		printf \"package main\nfunc main() { println(1) }\n\" >g.go &&
		go install . &&
		g" &&
	test -x "$HOME/aihome/.local/agent/bin/g" &&
	test ! -e "$HOME/.cache/go-build"
'
test_done
