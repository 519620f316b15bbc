/* SPDX-License-Identifier: MIT
 *
 * What commands do with their arguments.
 */
#include <string.h>

#include "words.h"

static const struct {
	enum ga_command_kind kind;
	const char *names;
} commands[] = {
	{ GA_COMMAND_QUIET,
	  "cat echo printf ls find test [ ] [[ grep egrep fgrep rg ag wc head tail diff cmp sed "
	  "awk "
	  "gawk "
	  "tr cut sort uniq comm rm rmdir mkdir touch cp mv ln install git hub gh glab return exit "
	  "shift trap true false : date stat basename dirname which type hash unset watch_file "
	  "watch_dir jq yq curl "
	  "wget tar gzip zip unzip chmod chown sleep file du df id whoami uname hostname mktemp "
	  "realpath readlink tee less more notify-send let wait kill cd.. pwd set shopt umask "
	  "sha256sum md5sum openssl gpg ssh-keygen seq yes expr column fold fmt rev base64 xxd od "
	  "strings nl paste join split tput clear" },
	{ GA_COMMAND_CHECK,
	  "prettier eslint biome oxlint stylelint markdownlint markdownlint-cli2 cspell alex "
	  "black ruff isort flake8 pyflakes pycodestyle pydocstyle pylint mypy pyright bandit "
	  "yapf autopep8 autoflake codespell gofmt goimports gofumpt golangci-lint staticcheck "
	  "revive rustfmt clippy shellcheck shfmt yamllint actionlint hadolint taplo typos vale "
	  "clang-format clang-tidy cppcheck cpplint rubocop standardrb erb_lint php-cs-fixer phpcs "
	  "phpstan psalm ktlint detekt google-java-format swiftlint swiftformat buf sqlfluff "
	  "tflint terraform tofu nixfmt alejandra statix deadnix stylua luacheck selene dprint "
	  "gitleaks trufflehog detect-secrets commitlint gitlint reuse editorconfig-checker "
	  "xmllint "
	  "tsc vue-tsc semgrep checkov trivy grype ansible-lint pre-commit prek" },
	{ GA_COMMAND_SHELL, "sh bash dash ash zsh ksh mksh fish busybox su" },
	{ GA_COMMAND_INTERPRETER, "node nodejs deno bun tsx ts-node babel-node python python2 "
				  "python3 pypy pypy3 ruby jruby "
				  "perl php lua luajit Rscript julia awkscript osascript pwsh "
				  "powershell tclsh guile racket "
				  "elixir escript groovy java scala kotlin swift runghc ocaml" },
	{ GA_COMMAND_SOURCE,
	  "source . source_env source_env_if_exists source_up source_up_if_exists dotenv "
	  "dotenv_if_exists env_vars_file source_url" },
	{ GA_COMMAND_EVAL, "eval" },
	{ GA_COMMAND_WRAPPER,
	  "env exec sudo doas time nohup timeout nice ionice chronic command builtin npx bunx pnpx "
	  "uvx pipx setsid stdbuf unbuffer script flock caffeinate strace cross-env dotenvx chrt "
	  "taskset watch entr chroot fakeroot direnv-exec winpty" },
	{ GA_COMMAND_XARGS, "xargs parallel" },
	{ GA_COMMAND_PARTS, "run-parts" },
	{ GA_COMMAND_CD, "cd pushd" },
	{ GA_COMMAND_PATH, "PATH_add path_add load_prefix MANPATH_add fish_add_path" },
	{ GA_COMMAND_VALUE, "export local declare readonly typeset set -gx setenv alias" },
};

enum ga_command_kind ga_command_kind(const char *name)
{
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		if (ga_has_word(commands[i].names, name))
			return commands[i].kind;
	/* python3.11, ruby3.2 */
	if (!strncmp(name, "python3.", 8) || !strncmp(name, "ruby3.", 6) ||
	    !strncmp(name, "lua5.", 5))
		return GA_COMMAND_INTERPRETER;
	return GA_COMMAND_OTHER;
}

const char *ga_command_files(const char *name, const char *first)
{
	/* what direnv's standard library reads in the directory (direnv-stdlib(1)) */
	static const struct {
		const char *name, *first, *files;
	} rows[] = {
		{ "dotenv", NULL, ".env" },
		{ "dotenv_if_exists", NULL, ".env" },
		{ "source_up", NULL, ".envrc" },
		{ "source_up_if_exists", NULL, ".envrc" },
		{ "use", "flake", "flake.nix flake.lock" },
		{ "use", "nix", "shell.nix default.nix" },
		{ "use", "devenv", "devenv.nix devenv.yaml devenv.lock "
		  "devenv.local.nix devenv.local.yaml" },
		{ "use", "devbox", "devbox.json devbox.lock" },
		{ "use", "flox", ".flox/env.json .flox/env/manifest.toml .flox/env/manifest.lock" },
		{ "use", "guix", "guix.scm manifest.scm channels.scm" },
		{ "use", "spack", "spack.yaml spack.lock" },
		{ "use", "mise", "mise.toml .mise.toml mise.local.toml .tool-versions" },
		{ "use", "asdf", ".tool-versions" },
		{ "use", "node", ".nvmrc .node-version" },
		{ "use", "rbenv", ".ruby-version" },
		{ "use", "vim", ".vimrc .vimrc.local" },
		{ "use", "julia", "Project.toml" },
		{ "layout", "pipenv", "Pipfile Pipfile.lock" },
		{ "layout", "poetry", "pyproject.toml poetry.lock" },
		{ "layout", "uv", "pyproject.toml uv.lock" },
		{ "layout", "pyenv", ".python-version" },
		{ "layout", "opam", "opam" },
		{ "layout", "node", "node_modules/.bin/**" },
		{ "layout", "php", "vendor/bin/**" },
		{ "layout", "ruby", ".direnv/ruby/**" },
		{ "layout", "go", "bin/**" },
		{ "layout", "perl", ".direnv/perl5/**" },
		{ "layout", "python", ".direnv/python*/**" },
		{ "layout", "python3", ".direnv/python*/**" },
	};

	for (size_t i = 0; i < GA_NELEMS(rows); i++)
		if (!strcmp(rows[i].name, name) &&
		    (rows[i].first ? !strcmp(rows[i].first, first) : !*first))
			return rows[i].files;
	return NULL;
}
