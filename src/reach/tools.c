/* SPDX-License-Identifier: MIT
 *
 * The table of tools, and the files of the project that they read or run.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "reach-internal.h"

#define NODE "npmrc yarn-classic yarn-berry pnp-loader pnpm"
#define NODE_CODE "npm-manifest npm-manifest-lifecycle node-lockfiles node-build-config"
#define PYTHON_CODE "python-build python-deps python-tool-config py-autoload"
#define RUBY_CODE "ruby-deps ruby-autoload"

static const struct {
	const char *names;
	const char *config; /* rules of what it executes whatever it is told to do */
	const char *code;   /* rules of what it executes as the project's own code */
	const char *runs;   /* first arguments that run tests or the program; "*": any does */
	const char *files;  /* files with commands for it */
} tools[] = {
	{ "make gmake", "make", "", "check test tests verify run all install",
	  "Makefile makefile GNUmakefile" },
	{ "cmake ctest", "cmake", "", "*", NULL },
	{ "meson ninja", "meson-ninja", "", "test", NULL },
	{ "just task mage invoke inv scons doit", "just-task-mage", "", "test check run",
	  "justfile Justfile .justfile Taskfile.yml Taskfile.yaml tasks.py dodo.py" },
	{ "npm pnpm yarn cnpm", NODE, NODE_CODE, "test t start", NULL },
	{ "npx pnpx nx turbo lerna run-s run-p npm-run-all", NODE, NODE_CODE, "test", NULL },
	{ "bun bunx", NODE, NODE_CODE " bun-deno", "test run", NULL },
	{ "deno", "", "bun-deno", "test run bench", NULL },
	{ "node nodejs tsx ts-node", "pnp-loader", NODE_CODE, NULL, NULL },
	{ "jest vitest mocha ava tap playwright cypress karma wdio", "", NODE_CODE, "*", NULL },
	{ "eslint prettier stylelint markdownlint-cli2 textlint remark xo knip tslint",
	  "node-lint-config", "", NULL, NULL },
	{ "webpack vite rollup esbuild next nuxt astro gulp grunt babel rspack tsup",
	  "node-build-config", "", NULL, NULL },
	{ "tsc vue-tsc", "ts-plugins", "", NULL, NULL },
	{ "lint-staged nano-staged", NODE " lint-staged", "", NULL,
	  ".lintstagedrc .lintstagedrc.json .lintstagedrc.yml .lintstagedrc.yaml .lintstagedrc.js "
	  ".lintstagedrc.cjs .lintstagedrc.mjs lint-staged.config.js lint-staged.config.cjs "
	  "lint-staged.config.mjs lint-staged.config.ts .nano-staged.json .nano-staged.js" },
	{ "simple-git-hooks", "hooks-installed-by-build", "", NULL,
	  ".simple-git-hooks.json .simple-git-hooks.js .simple-git-hooks.cjs" },
	{ "husky", "husky-legacy", "", NULL, NULL },
	{ "commitlint", "commit-msg-linters", "", NULL, NULL },
	{ "gitlint cz", "commit-msg-linters", "", NULL, NULL },
	{ "cargo", "cargo-config rust-toolchain", "cargo cargo-deps",
	  "test t nextest bench run xtask r", NULL },
	{ "rustfmt clippy", "rust-toolchain", "", NULL, NULL },
	{ "go", "", "go-build go-deps", "test run generate tool", NULL },
	{ "python python3 hatch poetry uv pdm pipenv rye", "", PYTHON_CODE, "test", NULL },
	{ "pip pip3", "", PYTHON_CODE, NULL, NULL },
	{ "pytest", "", PYTHON_CODE, "*", NULL },
	{ "tox nox", "", PYTHON_CODE " just-task-mage", "*", "noxfile.py" },
	{ "pylint flake8 mypy", "python-tool-config", "", NULL, NULL },
	{ "pre-commit pre_commit prek", "pre-commit", "", NULL,
	  ".pre-commit-config.yaml .pre-commit-config.yml prek.toml" },
	{ "lefthook", "lefthook", "", NULL,
	  "lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml lefthook-local.yml "
	  "lefthook.toml "
	  "lefthook.json .config/lefthook.yml" },
	{ "overcommit", "overcommit", "", NULL, ".overcommit.yml" },
	{ "hk cog captainhook grumphp", "hook-managers-misc", "", NULL, "hk.pkl" },
	{ "bundle rake rspec rails ruby", "", RUBY_CODE, "exec test spec", "Rakefile rakefile" },
	{ "rubocop standardrb", "editors-misc", "", NULL, NULL },
	{ "composer php phpunit", "", "php-deps php-autoload", "test", NULL },
	{ "phpstan psalm php-cs-fixer rector", "php-autoload", "", NULL, NULL },
	{ "mvn mvnw", "maven", "jvm-deps", "test verify install package", NULL },
	{ "gradle gradlew", "wrapper-gradle gradle", "jvm-deps", "test check build", NULL },
	{ "sbt mill lein", "jvm-others", "", "test run", NULL },
	{ "ant", "ant-ivy", "", "test", NULL },
	{ "dotnet msbuild", "dotnet nuget", "", "test run", NULL },
	{ "mix rebar3", "beam", "other-deps", "test run", NULL },
	{ "swift xcodebuild", "", "swift-xcode", "test run", NULL },
	{ "dart flutter", "", "dart-flutter-android other-deps", "test run", NULL },
	{ "stack cabal dune", "haskell-ocaml", "", "test exec run", NULL },
	{ "zig nim", "zig-nim-d-v", "", "test run build", NULL },
	{ "bazel bazelisk", "bazel bazelisk", "", "test run", NULL },
	{ "buck2 pants", "buck-pants-please", "", "test run", NULL },
	{ "nix nix-shell nix-build", "nix", "", NULL, NULL },
	{ "devbox pixi", "devbox-flox-etc", "", "run", NULL },
	{ "docker docker-compose podman", "dockerfile compose", "", NULL, NULL },
	{ "vagrant", "vagrant-vm", "", NULL, NULL },
	{ "terraform tofu ansible-playbook ansible-lint tflint", "infra-as-code", "", NULL, NULL },
	{ "helm", "ci-k8s-gitops", "", NULL, NULL },
	{ "Rscript julia", "r-julia-stats", "", NULL, NULL },
	{ "perl", "perl-autoload", "", NULL, NULL },
	{ "prove", "perl-autoload", "", "*", NULL },
	{ "mise", "mise", "", NULL, NULL },
	{ "direnv", "direnv", "", NULL, NULL },
	{ "semgrep checkov gitleaks trivy", "scanner-config", "", NULL, NULL },
	{ "mkdocs sphinx-build", "docs-build", "", NULL, NULL },
};

static void raise(struct ga_gather *g, const struct ga_source *s, const char *rules,
		  const char *name)
{
	cleanup_free char *copy = ga_strdup(rules),
			  *why = ga_strf("%s, which calls %s", s->what, name);
	char *save = NULL;

	for (char *id = strtok_r(copy, " ", &save); id; id = strtok_r(NULL, " ", &save))
		ga_reach_add(g->reach, GA_REACH_RULE, s->when, s->rule, id, why);
}

/* Scripts that "npm run x", "yarn x" or "npm ci" call: any word may be the name of one. */
static int scripts_of(struct ga_gather *g, const struct ga_source *s, const char *name,
		      const char *more)
{
	static const char installing[] = "install prepare prepublish dependencies";
	cleanup_free char *words = ga_strdup(*more || strcmp(name, "yarn") != 0 ? more : "install");
	char *save = NULL, *inner = NULL;

	for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		bool installs = ga_has_word("install ci i add update up", w);
		cleanup_free char *called = ga_strdup(installs ? installing : w);

		for (char *n = strtok_r(called, " ", &inner); n; n = strtok_r(NULL, " ", &inner))
			if (*n != '-' && ga_gather_script(g, s, strcmp(n, "t") ? n : "test"))
				return -1;
	}
	return 0;
}

static bool runs_code(const char *runs, const char *more)
{
	cleanup_free char *copy = ga_strdup(more);
	char *save = NULL;

	if (!runs || !strcmp(runs, "*"))
		return runs != NULL;
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		if (ga_has_word_n(runs, w, strcspn(w, ":")))
			return true;
	return false;
}

/* Is it a tool that checks, or one that runs tests? */
static bool is_check(const char *name, const char *more)
{
	static const char told[] = "test tests t check verify spec nextest lint typecheck clippy "
				   "vet audit";

	if (ga_command_kind(name) == GA_COMMAND_CHECK)
		return true;
	for (size_t i = 0; i < GA_NELEMS(tools); i++)
		if (tools[i].runs && ga_has_word(tools[i].names, name))
			return !strcmp(tools[i].runs, "*") || runs_code(told, more);
	return false;
}

char *ga_reach_find_check(const char *text)
{
	cleanup_words struct ga_words w = {.v = NULL};

	ga_words_of_shell(text, NULL, &w);
	for (size_t i = 0; i < w.n; i++)
		if ((w.v[i].kind == GA_WORD_TOOL || w.v[i].kind == GA_WORD_MODULE) &&
		    is_check(w.v[i].text, w.v[i].more))
			return ga_strdup(w.v[i].text);
	return NULL;
}

int ga_gather_tool(struct ga_gather *g, const struct ga_source *s, const char *name,
		   const char *more)
{
	cleanup_free char *files = NULL, *all = ga_strf("%s%s%s", name, *more ? " " : "", more);
	cleanup_free char *shown = ga_quote(all);
	char *save = NULL;
	size_t i = 0;

	while (i < GA_NELEMS(tools) && !ga_has_word(tools[i].names, name))
		i++;
	if (i == GA_NELEMS(tools))
		return 0;
	raise(g, s, tools[i].config, name);
	/* to a pre-commit hook, tests and sources are ordinary code */
	if (s->when == GA_REACH_GIT)
		raise(g, s, tools[i].code, name);
	if (runs_code(tools[i].runs, more)) {
		if (s->when == GA_REACH_GIT)
			raise(g, s, "test-code", name);
		if (*s->hook)
			ga_reach_add(g->reach, GA_REACH_PROJECT, s->when, s->rule, s->hook, shown);
	}
	if (ga_has_word("npm pnpm yarn cnpm bun composer run-s run-p npm-run-all nx turbo", name) &&
	    scripts_of(g, s, name, more))
		return -1;
	if (ga_has_word("lint-staged nano-staged simple-git-hooks husky", name) &&
	    ga_gather_script(g, s, "*"))
		return -1;
	files = ga_strdup(tools[i].files ? tools[i].files : "");
	for (char *f = strtok_r(files, " ", &save); f; f = strtok_r(NULL, " ", &save))
		if (ga_gather_file(g, s, f))
			return -1;
	return 0;
}
