#!/bin/sh
# SPDX-License-Identifier: MIT
test_description='the agents'\'' home: toolchains, credentials in them, where agents are installed, caches'
. "$TEST_SRCDIR/tests/lib/test-lib.sh"
require_sandbox

system=$(dirname "$(command -v git)"):/usr/local/bin:/usr/bin:/bin
test_enter p &&
echo a >a &&
test_commit a
cd .. || return 1

# installed FILE [INTERPRETER]: a program that says which file it is, and what it was given
installed() {
	mkdir -p "${1%/*}" &&
	printf '#!%s\necho "ran $0 $*"\n' "${2-/bin/sh}" >"$1" &&
	chmod +x "$1"
}
# node_package PREFIX [INTERPRETER]: claude as npm installs it there, run by node as its first line says
pkg=lib/node_modules/@anthropic-ai/claude-code
node_package() {
	mkdir -p "$1/$pkg" &&
	echo "#!${2-/usr/bin/env node}" >"$1/$pkg/cli.js" &&
	chmod +x "$1/$pkg/cli.js" &&
	link "$1/bin/claude" ../$pkg/cli.js
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
	find "$HOME" -mindepth 1 -maxdepth 1 ! -name p ! -name aihome ! -name .gitconfig ! -name .local -exec rm -rf \
		{} + &&
	find "$HOME/.local" -mindepth 1 -maxdepth 1 ! -name state -exec rm -rf {} + &&
	{ test ! -e "$HOME/aihome" || chmod -R u+rwx "$HOME/aihome"; } &&
	rm -rf "$HOME/aihome"
}

# ---- where an agent is installed

test_that 'an agent is run that npm installed in home for the node of the system' '
	fresh &&
	installed "$HOME/packages/$pkg/cli.js" &&
	link "$HOME/packages/bin/claude" ../$pkg/cli.js &&
	echo note >"$HOME/packages/private" &&
	path=$HOME/packages/bin:$system test_shows "ran $HOME/packages/bin/claude --dangerously-skip-permissions -p x" \
		inside claude -p x &&
	path=$HOME/packages/bin:$system inside sh -c "test ! -e ~/packages/private" &&
	cd "$HOME/p" &&
	echo " do it" >task &&
	for task in " do it" task; do
		PATH=$HOME/packages/bin:$system test_shows "claude --dangerously-skip-permissions  do it\$" \
			"$GIT_AGENT" start -q --task "$task" claude || return 1
	done &&
	test_fails 129 "takes for an option" git agent start --task -x claude &&
	test_fails 129 "cannot give .sh. a task" git agent start --task x sh
'

test_that 'an agent is run from ~/.claude/local, of which nothing else is shown' '
	fresh &&
	installed "$HOME/.claude/local/node_modules/.bin/claude" &&
	echo token >"$HOME/.claude/.credentials.json" &&
	echo mine >"$HOME/.claude/CLAUDE.md" &&
	printf "#!/bin/sh\nexec %s \"\$@\"\n" "$HOME/.claude/local/node_modules/.bin/claude" \
		>"$HOME/.claude/local/claude" &&
	chmod +x "$HOME/.claude/local/claude" &&
	test_shows "^ran .*/node_modules/.bin/claude --dangerously" inside claude &&
	(cd p && git agent start --dry-run claude) &&
	inside sh -c "
		test ! -e ~/.claude/.credentials.json &&
		! grep mine ~/.claude/CLAUDE.md
		ls ~/.claude" &&
	test_fails 125 "not found on PATH" inside clauded
'

test_that 'an agent is run that a shim of mise starts, of whose configuration the tools are copied' '
	fresh &&
	installed "$HOME/.local/bin/mise" &&
	link "$HOME/.local/share/mise/shims/claude" "$HOME/.local/bin/mise" &&
	mkdir -p "$HOME/.config/mise" &&
	cat >"$HOME/.config/mise/config.toml" <<-\EOF &&
	[env]
	TOKEN = "secret"
	[tools]
	node = "20"
	[settings]
	x = 1
	[tools.python]
	version = "3"
	EOF
	path=$HOME/.local/share/mise/shims:$system test_shows "^ran $HOME/.local/share/mise/shims/claude" \
		inside claude &&
	test_prints "[tools]\nnode = \"20\"\n[tools.python]\nversion = \"3\"" cat \
		"$HOME/aihome/.config/mise/config.toml"
'

test_that 'an agent is run that a shim of asdf starts, and its versions are copied once' '
	fresh &&
	installed "$HOME/.asdf/bin/asdf" &&
	mkdir -p "$HOME/.asdf/shims" &&
	printf "#!/bin/sh\nexec %s/.asdf/bin/asdf exec claude\n" "$HOME" >"$HOME/.asdf/shims/claude" &&
	chmod +x "$HOME/.asdf/shims/claude" &&
	echo "nodejs 20" >"$HOME/.tool-versions" &&
	path=$HOME/.asdf/shims:$system test_shows "^ran $HOME/.asdf/bin/asdf exec claude" inside claude &&
	test "$(inside sh -c "cat ~/.tool-versions")" = "nodejs 20" &&
	echo "agent 1" >"$HOME/aihome/.tool-versions" &&
	inside true &&
	test "$(cat "$HOME/aihome/.tool-versions")" = "agent 1"
'

test_that 'a directory of PATH that is a symlink is known inside by its target' '
	v=$HOME/.local/share/fnm/node-versions/v20/installation &&
	fresh &&
	installed "$v/bin/node" &&
	node_package "$v" &&
	mkdir -p "$TRASH/run" &&
	ln -s "$v" "$TRASH/run/multishell" &&
	path=$TRASH/run/multishell/bin:$system test_shows "^ran $v/bin/node" inside claude &&
	path=/usr/bin:$TRASH/run/multishell/bin:/nowhere:/bin inside sh -c "echo \$PATH" >out &&
	grep -x "/usr/bin:$v/bin:/bin:$HOME/.local/agent/bin" out
'

test_that 'an agent is run that volta, bun, pipx or uv installed' '
	fresh &&
	installed "$HOME/.volta/bin/volta-shim" &&
	link "$HOME/.volta/bin/claude" volta-shim &&
	path=$HOME/.volta/bin:$system test_shows "^ran .*volta" inside claude &&
	fresh &&
	installed "$HOME/.bun/install/global/node_modules/opencode/bin/opencode" &&
	link "$HOME/.bun/bin/opencode" ../install/global/node_modules/opencode/bin/opencode &&
	path=$HOME/.bun/bin:$system test_shows "^ran .*bun" inside opencode &&
	fresh &&
	for share in pipx/venvs uv/tools; do
		v=$HOME/.local/share/$share/aider-chat &&
		installed "$HOME/python/3.12/bin/python3.12" &&
		link "$v/bin/python" "$HOME/python/3.12/bin/python3.12" &&
		installed "$v/bin/aider" "$v/bin/python" &&
		mkdir -p "$HOME/.local/bin" &&
		ln -sf "$v/bin/aider" "$HOME/.local/bin/aider" &&
		path=$HOME/.local/bin:$system test_shows "^ran $v/bin/python $HOME/.local/bin/aider" inside aider ||
			return 1
	done
'

# others than root find that the system belongs to nobody in there
test_lazy_prereq ROOT_USERNS 'test "$(id -u)" = 0 && unshare -Urm true'
test_that ROOT_USERNS 'agents are run from /home/linuxbrew and /opt' '
	fresh &&
	cat >in.sh <<-\EOF &&
	set -e
	b=/home/linuxbrew/.linuxbrew
	mkdir "$TRASH/homes"
	mount --rbind /home "$TRASH/homes"
	mount -t tmpfs none /home
	for h in "$TRASH"/homes/*; do
		[ ! -d "$h" ] || { mkdir "/home/${h##*/}" && mount --rbind "$h" "/home/${h##*/}"; }
	done
	mkdir -p $b/Cellar/claude/1/bin $b/bin $b/var
	mount -t tmpfs none /opt
	mkdir -p /opt/codex/bin
	printf "#!/bin/sh\necho brew \$0\n" >$b/Cellar/claude/1/bin/claude
	printf "#!/bin/sh\necho opt \$0\n" >/opt/codex/bin/codex
	chmod +x $b/Cellar/claude/1/bin/claude /opt/codex/bin/codex
	ln -s ../Cellar/claude/1/bin/claude $b/bin/claude
	echo data >$b/var/db
	cd "$HOME/p"
	git agent start -q -- claude
	PATH=$b/bin:/opt/codex/bin:$PATH git agent start -q -- codex
	git agent start -q -- sh -c "test ! -e $b/var && ! touch $b/bin/x" 2>/dev/null
	EOF
	test_prints "brew /home/linuxbrew/.linuxbrew/bin/claude\nopt /opt/codex/bin/codex" unshare -Urm sh in.sh
'

test_that 'PATH keeps directories that are shown, and variables of toolchains that lead there are kept' '
	fresh &&
	mkdir -p "$HOME/.cargo/bin" "$HOME/go/bin" "$HOME/.ssh" "$HOME/secret/bin" "$HOME/.pyenv/shims" &&
	export NVM_DIR=$HOME/.nvm PYENV_ROOT=$HOME/.pyenv JAVA_HOME=$HOME/secret GOROOT=/usr &&
	path=$HOME/go/bin:/usr/bin:$HOME/secret/bin:$HOME/.pyenv/shims:/bin:$HOME/.cargo/bin:$HOME/.ssh inside env \
		>out &&
	grep -x "PATH=$HOME/go/bin:/usr/bin:$HOME/secret/bin:$HOME/.pyenv/shims:/bin:$HOME/.cargo/bin:.*" out &&
	grep -x "PYENV_ROOT=$HOME/.pyenv" out &&
	grep -x "GOROOT=/usr" out &&
	! grep "NVM_DIR\|JAVA_HOME" out
'

test_that 'PATH has no directory that git put in front' '
	fresh &&
	(
		cd "$HOME/p" &&
		PATH=${GIT_AGENT%/*}:/usr/bin:/bin git agent start -q -- sh -c "echo \$PATH"
	) >out &&
	grep -x ".*/usr/bin:/bin:$HOME/.local/agent/bin" out &&
	! grep git-core out
'

# ---- credentials

test_that 'SB-03: no file with credentials in a toolchain can be read, and what surrounds it can' '
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
			return 1
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
	maven=.sdkman/candidates/maven/1/conf/settings.xml &&
	test_prints "./$maven\n17\n<a><!-- <password>SECRET</password> --></a>" cat out
'

test_that 'SB-03, PS-03: credentials stay hidden when the host replaces their file' '
	fresh &&
	mkdir -p "$HOME/.nvm/versions/node/v1/etc" &&
	echo SECRET >"$HOME/.nvm/.npmrc" &&
	echo SECRET >"$HOME/.nvm/versions/node/v1/etc/npmrc" &&
	echo beside >"$HOME/.nvm/beside" &&
	cd p &&
	git agent start -qd -n replaced -- sleep 1000 &&
	test_when_finished "git agent stop -qf replaced" &&
	is_hidden() {
		git agent shell -q replaced -- sh -c "cd ~/.nvm; cat .npmrc versions/node/v1/etc/npmrc beside" \
			>../out &&
		test_prints beside cat ../out
	} &&
	is_hidden &&
	for f in .npmrc versions/node/v1/etc/npmrc; do
		echo SECRET >"$HOME/.nvm/new" &&
		mv "$HOME/.nvm/new" "$HOME/.nvm/$f" ||
			return 1
	done &&
	is_hidden &&
	git agent refresh replaced &&
	is_hidden
'

test_that ROOT_USERNS 'credentials beside a mount are hidden, and a warning says what may show later' '
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
	test_prints beside cat ../out &&
	grep "something is mounted in .~/.nvm., .* shows inside" ../err &&
	git agent show loose | grep "something is mounted in .~/.nvm." &&
	git agent start -n tight -- sh -c "echo c >a" 2>../err &&
	! grep "something is mounted" ../err
'

test_that 'credentials beside programs are not shown, nor is a program that would show them' '
	fresh &&
	for f in .cargo/credentials.toml .npmrc .pypirc .gem/credentials .m2/settings.xml .gradle/gradle.properties \
		.config/pip/pip.conf .composer/auth.json .netrc .docker/config.json .config/gh/hosts.yml \
		.claude/.credentials.json .codex/auth.json; do
		mkdir -p "$(dirname "$HOME/$f")" &&
		echo SECRET >"$HOME/$f" || return 1
	done &&
	mkdir -p "$HOME/.cargo/bin" "$HOME/.composer/vendor/bin" "$HOME/.gem/bin" &&
	inside sh -c "
		test -d ~/.cargo/bin &&
		! grep -rs SECRET ~" &&
	for f in .cargo/run .composer/run run; do
		installed "$HOME/$f" &&
		path=$(dirname "$HOME/$f"):$system test_expect_code 125 inside run 2>err &&
		grep "may hold credentials" err &&
		test "$(wc -l <err)" -le 3 &&
		rm "$HOME/$f" ||
			return 1
	done
'

test_that 'tools shows more directories read-only' '
	fresh &&
	mkdir -p "$HOME/sdk/x/bin" "$HOME/.aws/bin" other &&
	echo tool >"$HOME/sdk/x/f" &&
	echo o >other/f &&
	test_settings "tools:\n- ~/sdk/x\n- $PWD/other\n- ~/missing\n" &&
	path=$HOME/sdk/x/bin:$system inside sh -c "
		cat ~/sdk/x/f $PWD/other/f
		! touch ~/sdk/x/g $PWD/other/g
		echo \$PATH
		test ! -e ~/missing" >out 2>/dev/null &&
	test_prints "tool\no\n$HOME/sdk/x/bin:$system:$HOME/.local/agent/bin" cat out
'

test_that 'tools is refused for directories that may hold credentials, for files, and in a repository' '
	fresh &&
	mkdir -p "$HOME/.aws/bin" "$HOME/.cargo" "$HOME/sdk/x" &&
	for bad in "~/.aws/bin" "~/.config" "~/.cargo" "$HOME"; do
		test_settings "tools: [\"$bad\"]" &&
		test_fails 125 "may hold credentials\|would show your home" inside true || return 1
	done &&
	test_settings "tools: [/]" &&
	test_must_fail inside true &&
	echo x >"$HOME/file" &&
	test_settings "tools: ~/file" &&
	test_fails 125 "takes directories" inside true &&
	printf "tools: [~/sdk/x]\n" >p/.agentdev.yaml &&
	rm "$conf" &&
	(cd p && git add -A && git commit -qm t) &&
	test_says "a repository cannot set it" test_must_fail inside true &&
	(cd p && git rm -qf .agentdev.yaml && git commit -qm u)
'

# ---- caches

test_that 'variables lead from read-only toolchains to places of the agents' '
	fresh &&
	mkdir -p "$HOME/go/bin" "$HOME/.cargo/bin" "$HOME/.local/share/pnpm" "$HOME/.local/bin" &&
	inside env >out &&
	own=$HOME/.local/agent &&
	for want in GOBIN=$own/bin CARGO_INSTALL_ROOT=$own pnpm_config_store_dir=$HOME/.cache/pnpm-store \
		PIPX_BIN_DIR=$own/bin UV_TOOL_BIN_DIR=$own/bin; do
		grep -x "$want" out || return 1
	done &&
	! grep "CARGO_HOME\|GOMODCACHE\|PIP_CACHE_DIR\|GRADLE_USER_HOME\|CCACHE_DIR" out &&
	fresh &&
	inside env >out &&
	! grep "GOBIN\|INSTALL_ROOT\|PIPX" out
'

test_that 'caches are those of the agents, and not those of the user' '
	fresh &&
	mkdir -p "$HOME/go/pkg/mod" "$HOME/.gradle/caches" "$HOME/.npm/_cacache" "$HOME/.cache/pip" &&
	inside sh -c "
		for d in ~/go/pkg/mod ~/.gradle/caches ~/.npm/_cacache ~/.cache/pip ~/.cargo/registry \
			~/.cache/ccache; do
			test ! -e \$d &&
			mkdir -p \$d &&
			touch \$d/x || return 1
		done" &&
	for d in go/pkg/mod .gradle/caches .npm/_cacache .cache/pip .cargo/registry .cache/ccache; do
		test -e "$HOME/aihome/$d/x" &&
		test ! -e "$HOME/$d/x" || return 1
	done &&
	test_settings "tools: [~/.gradle/caches]" &&
	test_when_finished "rm -f $conf" &&
	inside sh -c "
		test \$GRADLE_USER_HOME = ~/.local/agent/gradle &&
		mkdir -p \$GRADLE_USER_HOME"
'

# the toolchain of the user who runs the tests, by symlinks: what a start shows is where they lead
cargo=$(command -v cargo)
rustup=${cargo%/.cargo/bin/cargo}/.rustup
# a distribution's finds its library only where it is
test_lazy_prereq CARGO '
	case $cargo in /usr/*) exit 1 ;; esac &&
	{ test ! -d "$rustup" || export RUSTUP_HOME="$rustup"; } &&
	cd "$TRASH" &&
	"$cargo" init --quiet --name tried tried &&
	cd tried &&
	CARGO_HOME=$TRASH/tried-home "$cargo" build --offline
'
test_that CARGO 'cargo builds and installs to places of the agents' '
	fresh &&
	link "$HOME/.cargo/bin" "${cargo%/*}" &&
	{ test ! -d "$rustup" || link "$HOME/.rustup" "$rustup"; } &&
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

test_lazy_prereq GO '
	mkdir "$TRASH/go-try" &&
	cd "$TRASH/go-try" &&
	printf "package main\nfunc main() {}\n" >g.go &&
	PATH=/usr/local/bin:/usr/bin:/bin GOCACHE=$TRASH/go-cache go build g.go
'
test_that GO 'go builds and installs to places of the agents' '
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
