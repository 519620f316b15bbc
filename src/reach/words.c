/* SPDX-License-Identifier: MIT
 *
 * Lists of words, and paths as words.
 */
#include <string.h>

#include "ga/reach/reach.h"
#include "words-internal.h"

enum { WORDS_MAX = 20000, UNKNOWN = GA_WORD_UNKNOWN };

void ga_words_release(struct ga_words *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->v[i].text);
		free(w->v[i].more);
	}
	free(w->v);
	ga_strv_release(&w->dirs);
	*w = (struct ga_words){ .v = NULL };
}

void ga_words_add(struct ga_words *w, enum ga_word_kind kind, const char *text, const char *more)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].kind == kind && !strcmp(w->v[i].text, text) &&
		    !strcmp(w->v[i].more, more))
			return;
	if (w->n >= WORDS_MAX) {
		w->cut = true;
		return;
	}
	GA_GROW(w->v, w->n, w->cap);
	w->v[w->n++] = (struct ga_word){ kind, ga_strdup(text), ga_strdup(more) };
}

/* One component as a pattern: what is not known, and "{a,b}", is "*". */
static char *component(const char *s, size_t n)
{
	struct ga_buf b = GA_BUF_INIT;
	int braces = 0;

	for (size_t i = 0; i < n; i++) {
		bool open = s[i] == '{' && memchr(s + i, '}', n - i);

		braces += open;
		if ((s[i] == UNKNOWN || open) && (!b.len || b.ptr[b.len - 1] != '*'))
			ga_buf_addch(&b, '*');
		else if (s[i] != UNKNOWN && !braces)
			ga_buf_addch(&b, s[i]);
		braces -= braces && s[i] == '}';
	}
	return ga_buf_steal(&b);
}

/* Bring an expanded path into a form that can be matched; NULL: it says nothing. */
static char *pattern(const char *home, const char *path)
{
	bool at_home = home && path[0] == '~' && (path[1] == '/' || !path[1]), absolute;
	cleanup_free char *full = at_home ? ga_strf("%s%s", home, path + 1) : ga_strdup(path);
	cleanup_strv struct ga_strv parts = GA_STRV_INIT;
	struct ga_buf b = GA_BUF_INIT;
	bool says = false, open = false;
	size_t n;

	absolute = full[0] == '/';
	for (const char *p = full; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (!n || (n == 1 && *p == '.') || (n == 2 && !memcmp(p, "..", 2) && !parts.n))
			continue;
		if (n == 2 && !memcmp(p, "..", 2)) {
			free(parts.v[--parts.n]);
			parts.v[parts.n] = NULL;
			continue;
		}
		/* "$dir/x" may be anywhere; "$x" beside a name may be anything there */
		if (n == 1 && *p == UNKNOWN && !parts.n) {
			absolute = false;
			open = true;
			continue;
		}
		open |= memchr(p, UNKNOWN, n) != NULL;
		ga_strv_take(&parts, component(p, n));
	}
	for (size_t i = 0; i < parts.n; i++) {
		ga_buf_addf(&b, "%s%s", i || absolute ? "/" : "", parts.v[i]);
		says |= parts.v[i][strspn(parts.v[i], "*?.")] != '\0';
	}
	/* "$dir/$name.sh" would be any script */
	if (!says || (open && parts.n == 1 && strchr(parts.v[0], '*')))
		ga_buf_release(&b);
	return b.len ? ga_buf_steal(&b) : NULL;
}

void ga_words_add_path(struct ga_words *w, enum ga_word_kind kind, const char *path,
		       const char *home)
{
	cleanup_free char *p = strstr(path, "://") ? NULL : pattern(home, path);

	if (p)
		ga_words_add(w, kind, p, "");
}

void ga_words_add_module(struct ga_words *w, const char *name)
{
	struct ga_buf b = GA_BUF_INIT;
	bool path = strchr(name, '/') != NULL;

	/* Python's leading dots are directories */
	if (!path && *name == '.')
		for (ga_buf_adds(&b, "."), name++; *name == '.'; name++)
			ga_buf_adds(&b, b.len > 1 ? "/.." : ".");
	if (b.len && *name)
		ga_buf_addch(&b, '/');
	for (; *name; name++) {
		bool separates = !path && (*name == '.' || *name == ':');

		name += separates && !strncmp(name, "::", 2);
		ga_buf_addch(&b, separates ? '/' : *name);
	}
	if (b.len)
		ga_words_add(w, GA_WORD_MODULE, b.ptr, "");
	ga_buf_release(&b);
}

bool ga_word_like_script(const char *word)
{
	return strchr(word, '/') || ga_reach_is_script(word);
}

/* What commands do with their arguments. */

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
