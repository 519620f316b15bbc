/* SPDX-License-Identifier: MIT
 *
 * What the host's own state makes critical: hooks, configuration, .envrc.
 */
#include "risk-support.h"

/* One repository for each case: made by `setup`, a shell script, with every file
 * of `files` tracked. */
struct host {
	struct ga_repo *repo;
	struct ga_gitconfig config;
	struct ga_host_facts facts;
};

static void host_open(struct host *h, const char *name, const char *setup)
{
	struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *path = in_scratch(name);

	*h = (struct host){ .config = GA_GITCONFIG_INIT };
	SH(name,
	   "git init -q .\n"
	   "mkdir -p scripts/sub tools lib tests hooks.d web\n"
	   "for f in scripts/check.sh scripts/sub/deep.sh scripts/other.sh tools/fmt tools/lint.py \\\n"
	   "  lib/common.sh tests/a.c hooks.d/10-x web/index.js README Makefile package.json conf.cfg\n"
	   "do echo x >$f; done\n"
	   "git add . && git commit -qm start\n"
	   "rm -f .git/hooks/*\n%s", setup);
	if (ga_repo_open(path, &h->repo, &err) || ga_gitconfig_load(h->repo, &h->config, &err) ||
	    ga_host_facts_gather(h->repo, &h->config, NULL, &h->facts, &err))
		fail_msg("%s: %s", name, err.msg);
}

static void host_close(struct host *h)
{
	ga_host_facts_release(&h->facts);
	ga_gitconfig_release(&h->config);
	ga_repo_free(h->repo);
}

/* The rule of the host's that makes a path critical, NULL if none does. */
static const char *held_by(const struct host *h, const char *path)
{
	static const char *const rules[] = { "hooks-path-configured", "hook-config-command",
					     "host-hook-reached", "host-config-reached",
					     "direnv-dependents",
					     "host-environment-reached" };
	cleanup_flags struct ga_flags f = GA_FLAGS_INIT;
	const char *found = NULL;

	ga_classify_path(&h->facts, path, false, &f);
	for (size_t i = 0; i < f.n; i++)
		for_each (row, rules)
			if (!strcmp(f.v[i].rule, *row) && ga_flag_holds(NULL, &f.v[i]))
				found = *row;
	return found;
}

#define HOOK "host-hook-reached"
#define CONFIG "host-config-reached"
#define DIRENV "direnv-dependents"
#define HOOKS_PATH "hooks-path-configured"
#define DOTFILE "host-environment-reached"

static const struct {
	const char *name, *setup, *path, *rule;
} cases[] = {
	/* a hook's text */
	{ "plain-path", "echo './scripts/check.sh' >.git/hooks/pre-commit", "scripts/check.sh",
	  HOOK },
	{ "no-hook", "", "scripts/check.sh", NULL },
	{ "not-named", "echo './scripts/check.sh' >.git/hooks/pre-commit", "scripts/other.sh", NULL },
	{ "sample", "echo './scripts/check.sh' >.git/hooks/pre-commit.sample", "scripts/check.sh",
	  NULL },
	{ "comment", "echo '# ./scripts/check.sh' >.git/hooks/pre-commit", "scripts/check.sh", NULL },
	{ "toplevel",
	  "echo '\"$(git rev-parse --show-toplevel)/scripts/check.sh\" \"$@\"' >.git/hooks/pre-commit",
	  "scripts/check.sh", HOOK },
	{ "variable", "echo 'sh ${ROOT}/scripts/check.sh' >.git/hooks/pre-commit",
	  "scripts/check.sh", HOOK },
	{ "by-tail", "echo 'exec \"$DIR/deep.sh\"' >.git/hooks/pre-commit", "scripts/sub/deep.sh",
	  HOOK },
	{ "dirname", "echo '. \"$(dirname \"$0\")/../../lib/common.sh\"' >.git/hooks/pre-commit",
	  "lib/common.sh", HOOK },
	{ "absolute", "echo \"exec $PWD/tools/fmt\" >.git/hooks/pre-commit", "tools/fmt", HOOK },
	{ "not-yet-there", "echo 'test -x dev/new.sh && dev/new.sh' >.git/hooks/pre-commit",
	  "dev/new.sh", HOOK },
	{ "printed", "echo 'cat conf.cfg' >.git/hooks/pre-commit", "conf.cfg", NULL },
	{ "linted", "echo 'eslint web/' >.git/hooks/pre-commit", "web/index.js", NULL },
	{ "one-hop", "printf '#!/bin/sh\\n. lib/common.sh\\n' >scripts/check.sh\n"
		     "echo './scripts/check.sh' >.git/hooks/pre-commit", "lib/common.sh", HOOK },
	/* links */
	{ "hook-link", "ln -s ../../scripts/check.sh .git/hooks/pre-commit", "scripts/check.sh",
	  HOOK },
	{ "hook-link-chain", "ln -s ../tools/fmt scripts/l && ln -s ../../scripts/l .git/hooks/pre-commit",
	  "tools/fmt", HOOK },
	{ "hook-link-chain-2",
	  "ln -s ../tools/fmt scripts/l && ln -s ../../scripts/l .git/hooks/pre-commit", "scripts/l",
	  HOOK },
	{ "hooks-dir-link", "rm -r .git/hooks && ln -s ../hooks.d .git/hooks", "hooks.d/pre-push",
	  HOOKS_PATH },
	/* core.hooksPath */
	{ "hooks-path", "git config core.hooksPath scripts/", "scripts/post-merge", HOOKS_PATH },
	{ "hooks-path-home", "git config core.hooksPath \"~/hooks-path-home/lib\"", "lib/pre-push",
	  HOOKS_PATH },
	{ "hooks-path-above", "git config core.hooksPath dev/hooks", "dev", HOOKS_PATH },
	{ "hooks-path-link", "ln -s scripts/sub hk && git config core.hooksPath hk",
	  "scripts/sub/pre-push", HOOKS_PATH },
	{ "hooks-path-link-2", "ln -s scripts/sub hk && git config core.hooksPath hk", "hk",
	  HOOKS_PATH },
	{ "hooks-path-text", "git config core.hooksPath scripts && echo 'tools/fmt' >scripts/pre-commit",
	  "tools/fmt", HOOK },
	/* other configuration */
	{ "filter", "git config filter.x.clean 'tools/fmt --quiet %f'", "tools/fmt", CONFIG },
	{ "hook-command", "git config hook.x.command './tools/fmt a'", "tools/fmt",
	  "hook-config-command" },
	{ "include", "git config include.path ../conf.cfg; echo '[a]' >conf.cfg", "conf.cfg",
	  CONFIG },
	{ "include-origin", "echo '[alias]' >conf.cfg; echo 'st = status' >>conf.cfg\n"
			    "git config include.path ../conf.cfg", "conf.cfg", CONFIG },
	{ "diff", "git config diff.x.textconv 'sh tools/fmt'", "tools/fmt", CONFIG },
	{ "diff-command", "git config diff.x.command tools/fmt", "tools/fmt", CONFIG },
	{ "merge", "git config merge.x.driver './tools/fmt %O %A %B'", "tools/fmt", CONFIG },
	{ "smudge", "git config filter.x.smudge \"$PWD/tools/fmt\"", "tools/fmt", CONFIG },
	{ "process", "git config filter.x.process 'python3 tools/lint.py'", "tools/lint.py",
	  CONFIG },
	{ "include-if", "git config includeIf.onbranch:never.path ../conf.cfg", "conf.cfg",
	  CONFIG },
	{ "tree-config", "printf '[core]\\n\\tfsmonitor = tools/fmt\\n' >.gitconfig; git add .; git "
			 "commit -qm x", "tools/fmt", NULL },
	{ "attributes", "git config core.attributesFile tools/attrs", "tools/attrs", CONFIG },
	{ "alias", "git config alias.x '!sh scripts/check.sh'", "scripts/check.sh", CONFIG },
	{ "data", "git config user.name README", "README", NULL },
	{ "remote", "git remote add o ./tools/fmt", "tools/fmt", NULL },
	/* direnv */
	{ "envrc", "printf 'source_env env/dev\\nwatch_file a.lock b.lock\\n' >.envrc", "env/dev",
	  DIRENV },
	{ "envrc-watched", "printf 'source_env env/dev\\nwatch_file a.lock b.lock\\n' >.envrc", "b.lock",
	  NULL },
	{ "envrc-runs", "echo 'export A=$(./scripts/check.sh)' >.envrc", "scripts/check.sh",
	  DIRENV },
	{ "envrc-variable", "echo '. \"$PWD/scripts/check.sh\"' >.envrc", "scripts/check.sh",
	  DIRENV },
	{ "envrc-deeper", "echo 'eval \"$(sh scripts/check.sh)\"' >.envrc; echo '. lib/common.sh' "
			  ">scripts/check.sh", "lib/common.sh", DIRENV },
	{ "envrc-make", "echo 'make -s env' >.envrc; printf 'env:\\n\\tsh scripts/check.sh\\n' "
			">Makefile", "scripts/check.sh", DIRENV },
	{ "envrc-comment", "echo '# ./scripts/check.sh' >.envrc", "scripts/check.sh", NULL },
	{ "dotfile", "ln -s \"$PWD/conf.cfg\" ~/.zshrc", "conf.cfg", DOTFILE },
	{ "dotfile-gone", "rm ~/.zshrc; ln -s \"$PWD/nowhere\" ~/.zshrc", "conf.cfg", NULL },
	{ "dotfile-dir", "rm ~/.zshrc; mkdir -p ~/.config && ln -s \"$PWD/lib\" ~/.config/fish",
	  "lib/new.fish", DOTFILE },
	{ "dotfile-other", "", "lib/new.fish", NULL },
	{ "unit", "mkdir -p ~/.config/systemd/user && printf '[Service]\\nExecStart=/bin/sh %%h/unit/tools/fmt x\\n' "
		  ">~/.config/systemd/user/a.service", "tools/fmt", DOTFILE },
	{ "unit-other", "", "tools/fmt", NULL },
	{ "envrc-none", "echo 'export A=1' >.envrc", "bin/tool", NULL },
};

TEST(what_hooks_and_configuration_reach_is_critical)
{
	for_each (row, cases) {
		struct host h;
		const char *rule;

		host_open(&h, row->name, row->setup);
		rule = held_by(&h, row->path);
		if ((rule == NULL) != (row->rule == NULL) ||
		    (rule && strcmp(rule, row->rule) != 0))
			fail_msg("%s: '%s' is %s, not %s", row->name, row->path,
				 rule ? rule : "free", row->rule ? row->rule : "free");
		host_close(&h);
	}
}

static enum ga_severity severity_of(const struct host *h, const char *path, const char *rule)
{
	cleanup_flags struct ga_flags f = GA_FLAGS_INIT;
	enum ga_severity s = GA_LOW;

	ga_classify_path(&h->facts, path, false, &f);
	for (size_t i = 0; i < f.n; i++)
		if (!strcmp(f.v[i].rule, rule))
			s = f.v[i].severity;
	return s;
}

/* What a tool executes by itself counts for every hook; the project's own code only where that runs before it
 * could be judged. */
TEST(files_of_tools_that_hooks_call_are_critical)
{
	static const struct {
		const char *name, *hook, *text, *path, *rule;
		enum ga_severity want;
	} tools[] = {
		{ "t-make", "pre-commit", "make check", "Makefile", "make", GA_CRITICAL },
		{ "t-none", "pre-commit", "true", "Makefile", "make", GA_HIGH },
		{ "t-word", "pre-commit", "echo make sure", "Makefile", "make", GA_HIGH },
		{ "t-argument", "pre-commit", "grep make x", "Makefile", "make", GA_HIGH },
		{ "t-quoted", "pre-commit", "subprocess.run([\"make\", \"x\"])", "Makefile", "make", GA_CRITICAL },
		{ "t-assign", "pre-commit", "CI=1 npm run lint", ".npmrc", "npmrc", GA_CRITICAL },
		{ "t-then", "pre-commit", "if true; then cargo fmt; fi", ".cargo/config.toml", "cargo-config",
		  GA_CRITICAL },
		{ "t-lint", "pre-commit", "npx eslint .", ".eslintrc.js", "node-lint-config", GA_CRITICAL },
		{ "t-push", "pre-push", "npx eslint .", ".eslintrc.js", "node-lint-config", GA_HIGH },
		{ "t-exec", "post-merge", "exec /usr/bin/env pytest", "conftest.py", "py-autoload", GA_CRITICAL },
		{ "t-exec-commit", "pre-commit", "exec /usr/bin/env pytest", "conftest.py", "py-autoload", GA_HIGH },
		{ "t-tests", "post-merge", "go test ./...", "x_test.go", "test-code", GA_CRITICAL },
		{ "t-tests-commit", "pre-commit", "go test ./...", "x_test.go", "test-code", GA_LOW },
		{ "t-tests-push", "pre-push", "go test ./...", "x_test.go", "test-code", GA_LOW },
		{ "t-build", "post-merge", "go build ./...", "x_test.go", "test-code", GA_LOW },
		{ "t-check", "post-merge", "black --check .", "x_test.go", "test-code", GA_LOW },
		{ "t-install", "post-merge", "npm ci", "package.json", "npm-manifest", GA_CRITICAL },
		{ "t-install-commit", "pre-commit", "npm ci", "package.json", "npm-manifest", GA_HIGH },
	};

	for_each (row, tools) {
		cleanup_free char *setup = ga_strf("cat >.git/hooks/%s <<'END'\n%s%s\nEND\n", row->hook,
						   *row->text == 's' ? "#!/usr/bin/python3\n" : "",
						   row->text);
		struct host h;

		host_open(&h, row->name, setup);
		if (severity_of(&h, row->path, row->rule) != row->want)
			fail_msg("%s: %s: '%s' is not %s", row->hook, row->text, row->path,
				 ga_severity_name(row->want));
		host_close(&h);
	}
}

/* What a tool that a hook calls runs by its own files, and what such a file only mentions. */
TEST(what_a_tool_runs_by_its_own_files_is_critical)
{
	static const struct {
		const char *name, *hook, *files, *held, *free;
	} v[] = {
		{ "i-make", "make -s check",
		  "printf 'SRCS = web/index.js\\ncheck:\\n\\t@sh scripts/check.sh\\n' >Makefile",
		  "scripts/check.sh", "web/index.js" },
		{ "i-value", "make", "printf 'RUN = sh scripts/check.sh\\n' >Makefile",
		  "scripts/check.sh", "scripts/other.sh" },
		{ "i-shell", "make", "printf 'X := $(shell scripts/check.sh)\\n' >GNUmakefile",
		  "scripts/check.sh", "scripts/other.sh" },
		{ "i-dir", "make", "printf 'x:\\n\\t-$(srcdir)/scripts/check.sh\\n' >makefile",
		  "scripts/check.sh", "scripts/other.sh" },
		{ "i-include", "make",
		  "echo 'include tools/x.mk' >Makefile; printf 'x:\\n\\tpython tools/lint.py\\n' "
		  ">tools/x.mk", "tools/lint.py", "scripts/other.sh" },
		{ "i-loop", "make", "printf 'include Makefile\\nx:\\n\\ttools/fmt\\n' >Makefile",
		  "tools/fmt", "scripts/other.sh" },
		{ "i-below", "make -C web", "printf 'x:\\n\\tnode index.js\\n' >web/Makefile",
		  "web/index.js", "scripts/other.sh" },
		{ "i-twice", "sh scripts/check.sh",
		  "echo 'make x' >scripts/check.sh; printf 'x:\\n\\tsh lib/common.sh\\n' >Makefile; "
		  "echo scripts/sub/deep.sh >lib/common.sh", "scripts/sub/deep.sh",
		  "scripts/other.sh" },
		{ "i-none", "true", "printf 'x:\\n\\tsh scripts/check.sh\\n' >Makefile", NULL,
		  "scripts/check.sh" },
		{ "i-npm", "npm test",
		  "echo '{\"main\":\"web/index.js\",\"scripts\":{\"test\":\"node tools/lint.py\","
		  "\"start\":\"node web/index.js\"}}' >package.json", "tools/lint.py", "web/index.js" },
		{ "i-run", "cd web && npm run a",
		  "echo '{\"scripts\":{\"prea\":\"npm run b\",\"b\":\"tools/fmt\",\"c\":"
		  "\"scripts/other.sh\"}}' >web/package.json; mkdir web/tools; echo >web/tools/fmt; "
		  "git add . && git commit -qm more", "web/tools/fmt", "scripts/other.sh" },
		{ "i-install", "npm ci",
		  "echo '{\"scripts\":{\"prepare\":\"sh scripts/check.sh\",\"zap\":\"tools/fmt\"}}' "
		  ">package.json", "scripts/check.sh", "tools/fmt" },
		{ "i-end", "node tools/lint; eslint ./web", "mv tools/lint.py tools/lint.js",
		  "tools/lint.js", "web/index.js" },
		{ "i-broken", "npm test", "echo '{' >package.json", "package.json", "tools/fmt" },
		{ "i-php", "composer check",
		  "echo '{\"scripts\":{\"check\":[\"@php tools/lint.py\"]}}' >composer.json",
		  "tools/lint.py", "tools/fmt" },
		{ "i-pre-commit", "pre-commit run",
		  "printf -- '- repo: local\\n  hooks:\\n  - id: x\\n    name: scripts/other.sh\\n    "
		  "entry: python tools/lint.py\\n' >.pre-commit-config.yaml", "tools/lint.py",
		  "scripts/other.sh" },
		{ "i-lefthook", "lefthook run pre-commit",
		  "printf 'pre-commit:\\n  commands:\\n    x:\\n      run: scripts/check.sh\\n' "
		  ">lefthook.yml", "scripts/check.sh", "scripts/other.sh" },
		{ "i-echo", "echo checking; make", "printf 'x:\\n\\t@echo a; sh scripts/check.sh\\n' "
		  ">Makefile", "scripts/check.sh", "scripts/other.sh" },
	};

	for_each (row, v) {
		cleanup_free char *setup = ga_strf("cat >.git/hooks/post-merge <<'END'\n%s\nEND\n%s\n",
						   row->hook, row->files);
		struct host h;

		host_open(&h, row->name, setup);
		/* the tool's own file by the tool's own rule */
		if (row->held && strcmp(row->held, "package.json") != 0 && !held_by(&h, row->held))
			fail_msg("%s: '%s' is not held", row->name, row->held);
		if (held_by(&h, row->free))
			fail_msg("%s: '%s' is held", row->name, row->free);
		host_close(&h);
	}
}

/* That a host set up like this holds one path, and leaves another free; each may be NULL. */
static void reaches(const char *name, const char *setup, const char *held, const char *free)
{
	struct host h;

	host_open(&h, name, setup);
	if (held && !held_by(&h, held))
		fail_msg("%s: '%s' is not held", name, held);
	if (free && held_by(&h, free))
		fail_msg("%s: '%s' is held", name, free);
	host_close(&h);
}

/* By words that end paths, wherever the hook changes to; and what words only mention. `free`: a path that is not held,
 * or NULL. */
TEST(hooks_and_their_managers_reach_by_words)
{
	static const struct {
		const char *name, *hook, *text, *files, *held, *free;
	} v[] = {
		{ "r-cd", "post-merge", "cd web && node scripts/sync.js", "", "web/scripts/sync.js", "web/index.js" },
		{ "r-started", "post-merge", "cd \"$(git rev-parse --show-toplevel)/web\" && ./after", "", "web/after",
		  "web/after.md" },
		{ "r-source", "post-merge", ". scripts/common", "", "scripts/common", "scripts/other" },
		{ "r-bash", "pre-commit", "bash scripts/check", "", "scripts/check", NULL },
		{ "r-pipe", "post-merge", "cat steps.txt | sh", "", "steps.txt", "other.txt" },
		{ "r-eval", "post-merge", "eval \"$(cat tools/env.txt)\"", "", "tools/env.txt", "tools/b.txt" },
		{ "r-list", "post-merge", "xargs sh <list", "", "list", "lists" },
		{ "r-loop", "post-merge", "for f in tools/d/*; do sh $f; done", "", "tools/d/x", "tools/e/x" },
		{ "r-parts", "post-merge", "run-parts hooks.d", "", "hooks.d/20-new", "hooks.e/x" },
		{ "r-dispatch", "post-merge", "exec .hooks/$(basename \"$0\")", "", ".hooks/post-merge", NULL },
		{ "r-follow-shell", "post-merge", "sh a.sh", "echo 'sh b.sh' >a.sh; echo '. ./c' >b.sh", "c", "d" },
		{ "r-dir", "post-merge", "node tools/lint", "", "tools/lint/index.js", "tools/lint/x.md" },
		{ "r-module", "post-merge", "python3 -m tools.x", "", "tools/x.py", "y/tools/x.py" },
		{ "r-import", "post-merge", "python3 scripts/run.py", "echo 'import helper' >scripts/run.py",
		  "scripts/helper.py", "scripts/sub/helper.py" },
		{ "r-require", "post-merge", "node scripts/run.js", "echo 'require(\"../lib/u\")' >scripts/run.js",
		  "lib/u.js", "lib/v.js" },
		{ "r-commit-import", "pre-commit", "node scripts/run.js",
		  "echo 'require(\"../lib/u\")' >scripts/run.js",
		  "scripts/run.js", "lib/u.js" },
		{ "r-include", "post-merge", "make", "printf 'include config.mk\\n' >Makefile", "config.mk",
		  "other.txt" },
		{ "r-staged", "pre-commit", "npx lint-staged",
		  "echo '{\"lint-staged\":{\"*.js\":\"node scripts/c.js\"}}' >package.json", "scripts/c.js",
		    "web/a.js" },
		{ "r-stagedrc", "pre-commit", "lint-staged", "echo '*.js: [eslint, node scripts/c.js]' >.lintstagedrc",
		  "scripts/c.js", "web/a.js" },
		{ "r-staged-js", "pre-commit", "lint-staged",
		  "echo 'export default { \"*.js\": [\"node scripts/c.js\"] }' >lint-staged.config.mjs", "scripts/c.js",
		  "web/a.js" },
		{ "r-staged-npm", "pre-commit", "npm run x",
		  "echo '{\"scripts\":{\"x\":\"lint-staged\"},\"lint-staged\":{\"*\":[\"sh tools/a\"]}}' >package.json",
		  "tools/a", "web/a" },
		{ "r-root", "pre-commit", "lefthook run pre-commit",
		  "printf 'pre-commit:\\n  commands:\\n    x:\\n      root: web/\\n      run: node tools/s.js\\n"
		  "post-merge:\\n  commands:\\n    y:\\n      run: sh other.sh\\n' >lefthook.yml", "web/tools/s.js",
		  "other.sh" },
		{ "r-entry", "pre-commit", "exec pre-commit hook-impl --hook-type=pre-commit",
		  "printf 'repos:\\n- repo: local\\n  hooks:\\n  - id: x\\n    entry: >-\\n      bash -c\\n      \"sh "
		  "tools/deep\"\\n    files: web/x.py\\n' >.pre-commit-config.yaml", "tools/deep", "web/x.py" },
		{ "r-args", "pre-commit", "pre-commit run",
		  "printf -- '- id: x\\n  entry: python\\n  args: [tools/deep]\\n' >.pre-commit-config.yaml",
		    "tools/deep",
		  NULL },
		{ "r-path", "post-merge", "PATH=$PWD/bin:$PATH; git status", "", "bin/x", "x/x" },
		{ "r-list-lines", "post-merge", "while read f; do sh $f; done <list", "", "list", "lists" },
		{ "r-find", "post-merge", "find tools/d -type f -exec sh {} \\;", "", "tools/d/e/f", "tools/e" },
		{ "r-quiet", "pre-commit", "prettier --check src/x.js; shellcheck a/b.sh; cat c/d.sh; echo e/f.sh", "",
		  NULL, "src/x.js" },
		{ "r-quiet-2", "pre-commit", "shellcheck a/b.sh; cat c/d.sh; echo e/f.sh", "", NULL, "a/b.sh" },
		{ "r-docs", "post-merge", "sh a.sh", "echo 'echo see docs/a.md; grep x docs/b.sh' >a.sh", "a.sh",
		  "docs/a.md" },
		{ "r-bats", "pre-commit", "bats tests/", "", NULL, "tests/a.c" },
	};

	for_each (row, v) {
		cleanup_free char *setup = ga_strf("cat >.git/hooks/%s <<'END'\n%s\nEND\n%s\n", row->hook,
						   row->text, row->files);

		reaches(row->name, setup, row->held, row->free);
	}
}

/* Direnv runs its files in a shell with functions of its own. */
TEST(an_envrc_reaches_by_words)
{
	static const struct {
		const char *name, *text, *held, *free;
	} v[] = {
		{ "e-subshell", "export A=\"$( (cd tools && ./gen) )\"", "tools/gen", "tools/gen.md" },
		{ "e-path", "(PATH_add bin)", "bin/git", "git" },
		{ "e-path-plain", "export PATH=\"$PWD/tools:$PATH\"", "tools/x", "x" },
		{ "e-flake", "use flake", "flake.lock", "shell.nix" },
		{ "e-nix", "use nix", "shell.nix", "flake.lock" },
		{ "e-devenv", "use devenv", "devenv.nix", "x.nix" },
		{ "e-devenv-local", "use devenv", "devenv.local.yaml", "local.yaml" },
		{ "e-devbox", "use devbox", "devbox.json", "box.json" },
		{ "e-flox", "use flox", ".flox/env/manifest.toml", "manifest.toml" },
		{ "e-guix", "use guix", "manifest.scm", "x.scm" },
		{ "e-spack", "use spack", "spack.yaml", "x.yaml" },
		{ "e-node", "layout node", "node_modules/.bin/x", "node_modules/x" },
		{ "e-poetry", "layout poetry", "pyproject.toml", "x.toml" },
		{ "e-dotenv", "dotenv_if_exists", ".env", ".env2" },
		{ "e-dotenv-file", "dotenv config/dev.env", "config/dev.env", "config/x.env" },
		{ "e-source", "source_env_if_exists env/dev", "env/dev", "env/prod" },
	};

	for_each (row, v) {
		cleanup_free char *setup = ga_strf("cat >.envrc <<'END'\n%s\nEND\n", row->text);

		reaches(row->name, setup, row->held, row->free);
	}
}

/* Links of single files, whatever their names are, and start-up files that source one of the project. */
TEST(the_home_is_looked_at_and_not_a_list)
{
	static const struct {
		const char *name, *setup, *held, *free;
	} v[] = {
		{ "d-starship", "mkdir -p ~/.config; ln -sf \"$PWD/starship.toml\" ~/.config/starship.toml",
		  "starship.toml",
		  "x.toml" },
		{ "d-aws", "mkdir -p ~/.aws; ln -sf \"$PWD/aws\" ~/.aws/config", "aws", "aws2" },
		{ "d-kube", "mkdir -p ~/.kube; ln -sf \"$PWD/kube\" ~/.kube/config", "kube", "kube2" },
		{ "d-lazygit", "mkdir -p ~/.config/lazygit; ln -sf \"$PWD/lg\" ~/.config/lazygit/config.yml", "lg",
		  "lg2" },
		{ "d-bin", "mkdir -p ~/.local/bin; ln -sf \"$PWD/b/backup\" ~/.local/bin/backup", "b/backup",
		  "b/other" },
		{ "d-unit",
		  "mkdir -p ~/.config/systemd/user; ln -sf \"$PWD/s.service\" ~/.config/systemd/user/s.service",
		  "s.service", "t.service" },
		{ "d-source", "echo \". $PWD/bash/aliases\" >~/.bashrc; mkdir bash; echo >bash/aliases", "bash/aliases",
		  "bash/other" },
		{ "d-source-var", "printf 'D=%s\\nfor f in $D/sh/*.sh; do . $f; done\\n' \"$PWD\" >~/.bashrc",
		  "sh/x.sh",
		  "sh/x.txt" },
		{ "d-path", "echo \"export PATH=$PWD/cmds:\\$PATH\" >~/.bashrc", "cmds/x", "other/x" },
		{ "d-plain", "ln -sfn \"$PWD\" ~/src", "cmds", "any/where" },
		{ "d-relative", "echo '. aliases; sh scripts/check.sh' >~/.bashrc", "cmds", "scripts/check.sh" },
	};

	for_each (row, v) {
		cleanup_free char *setup = ga_strf("ln -sf \"$PWD/cmds\" ~/.cmds\n%s\n", row->setup);

		reaches(row->name, setup, row->held, row->free);
		SH(".", "rm -rf ~/.bashrc ~/.aws ~/.kube ~/.config/systemd ~/.config/starship.toml ~/.config/lazygit "
			"~/.local/bin ~/.cmds");
	}
}

/* Past what is followed nothing is passed over: any path counts. Up to there, only what is meant. */
TEST(beyond_a_bound_every_path_is_critical)
{
	static const struct {
		const char *name, *setup;
		bool all;
		const char *held;
	} v[] = {
		{ "b-scripts", "for i in $(seq 500); do echo sh a/$i.sh; done >.git/hooks/pre-commit",
		  false, "a/500.sh" },
		{ "b-scripts-more",
		  "mkdir a; for i in $(seq 600); do echo : >a/$i.sh; echo sh a/$i.sh; done >.git/hooks/pre-commit",
		  true, NULL },
		{ "b-inputs",
		  "echo make >.git/hooks/pre-commit; for i in $(seq 500); do echo \"include $i.mk\"; "
		  "printf 'x:\\n\\tsh b/%s\\n' $i >$i.mk; done >Makefile", false, "b/500" },
		{ "b-inputs-more",
		  "echo make >.git/hooks/pre-commit; for i in $(seq 600); do echo \"include $i.mk\"; "
		  "echo x: >$i.mk; done >Makefile", true, NULL },
		{ "b-manifest-more",
		  "echo npm run a1 >.git/hooks/pre-commit; { echo '{\"scripts\":{'; for i in $(seq 600); do "
		  "echo \"\\\"a$i\\\":\\\"npm run a$((i + 1))\\\",\"; done; echo '\"z\":\"\"}}'; } >package.json",
		  true, NULL },
		{ "b-facts-more", "seq -f 'sh c/%.0f' 9000 >.git/hooks/pre-commit", true, NULL },
		{ "b-input-long",
		  "echo make >.git/hooks/pre-commit; printf 'x:\\n\\tsh scripts/check.sh\\n' >Makefile; "
		  "head -c 300000 /dev/zero | tr '\\0' '#' >>Makefile", false, "scripts/check.sh" },
		{ "b-input-longer",
		  "echo make >.git/hooks/pre-commit; head -c 5000000 /dev/zero | tr '\\0' '#' >Makefile", true,
		  NULL },
		{ "b-script-longer",
		  "echo sh scripts/check.sh >.git/hooks/pre-commit; truncate -s 5000000 scripts/check.sh",
		  true, NULL },
		{ "b-hook-long", "{ echo '#!/bin/sh'; yes : | head -c 300000; } >.git/hooks/pre-commit", true,
		  NULL },
		{ "b-program", "head -c 300000 /dev/zero >.git/hooks/pre-commit", false, NULL },
		/* many of one name, a link, a file that is none */
		{ "b-same",
		  "for i in $(seq 20); do mkdir t$i; echo >t$i/x.sh; done; git add . && git commit -qm more; "
		  "echo 'sh $D/x.sh' >.git/hooks/pre-commit", false, "t20/x.sh" },
		{ "b-link",
		  "echo make >.git/hooks/pre-commit; printf 'x:\\n\\ttools/fmt\\n' >real; ln -sf real Makefile",
		  false, "tools/fmt" },
		{ "b-fifo", "echo make >.git/hooks/pre-commit; rm Makefile; mkfifo Makefile", false, NULL },
	};

	for_each (row, v) {
		struct host h;

		host_open(&h, row->name, row->setup);
		if (row->held && !held_by(&h, row->held))
			fail_msg("%s: '%s' is not held", row->name, row->held);
		if ((held_by(&h, "any/where.c") != NULL) != row->all)
			fail_msg("%s: any path is %s", row->name, row->all ? "free" : "held");
		host_close(&h);
	}
}

/* The same for units of systemd; what a repository around it does not follow counts in a submodule. */
TEST(units_that_are_too_long_make_every_path_critical)
{
	cleanup_host_facts struct ga_host_facts inner = GA_HOST_FACTS_INIT;
	struct host h;

	host_open(&h, "units", "mkdir -p ~/.config/systemd/user && cd ~/.config/systemd/user && "
			       "{ echo '[Service]'; yes '#' | head -c 5000000; } >long.service");
	assert_string_equal(held_by(&h, "any/where.c"), "host-environment-reached");
	ga_reach_extend(&inner.reach, &h.facts.reach, "sub");
	assert_int_equal(inner.reach.n, 1);
	assert_true(inner.reach.v[0].what == GA_REACH_BELOW && !*inner.reach.v[0].text);
	host_close(&h);
	host_open(&h, "units-again", "rm ~/.config/systemd/user/long.service");
	assert_null(held_by(&h, "any/where.c"));
	host_close(&h);
}

TEST(drivers_of_the_configuration_are_known)
{
	struct host h;

	host_open(&h, "drivers",
		  "git config filter.lfs.smudge 'git-lfs smudge -- %f'\n"
		  "git config diff.doc.textconv cat\n"
		  "git config merge.mine.driver true\n");
	assert_true(ga_strv_has(&h.facts.drivers, "filter:lfs"));
	assert_true(ga_strv_has(&h.facts.drivers, "diff:doc"));
	assert_true(ga_strv_has(&h.facts.drivers, "merge:mine"));
	assert_int_equal(h.facts.drivers.n, 3);
	assert_int_equal(severity_of(&h, ".lfsconfig", "lfsconfig"), GA_CRITICAL);
	host_close(&h);
	host_open(&h, "no-drivers", "");
	assert_int_equal(h.facts.drivers.n, 0);
	assert_int_equal(severity_of(&h, ".lfsconfig", "lfsconfig"), GA_HIGH);
	host_close(&h);
}

/* Directories of the project in PATH: all of them, or what has the name of a command. */
TEST(directories_of_the_project_in_PATH_are_critical)
{
	struct change_fixture shadow = { "path-shadow-bin", "bin/ls", true, NONE, EXEC_("x\n"), NULL };
	static const struct {
		const char *name, *front, *back; /* of what PATH is; '@': the project's top */
		bool bin_held, raised;
	} paths[] = {
		{ "p-none", "", ":/bin", false, false },
		{ "p-absolute", "", ":@/bin", true, false },
		{ "p-relative", "", ":bin", true, false },
		{ "p-dot", ".:", "", false, true },
		{ "p-empty", "", ":", false, true },
		{ "p-root", "", ":@", false, true },
	};
	cleanup_free char *before = ga_strdup(getenv("PATH"));

	for_each (row, paths) {
		cleanup_free char *dir = in_scratch(row->name), *path = NULL;
		bool top = row->back[0] && row->back[1] == '@';
		cleanup_flags struct ga_flags f = GA_FLAGS_INIT;
		const char *rule;
		struct host h;

		path = ga_strf("%s%s%s%s%s", row->front, before, top ? ":" : "", top ? dir : "",
			       row->back + (top ? 2 : 0));
		assert_int_equal(setenv("PATH", path, 1), 0);
		host_open(&h, row->name, "");
		rule = held_by(&h, "bin/tool");
		assert_int_equal(setenv("PATH", before, 1), 0);
		if ((rule != NULL) != row->bin_held)
			fail_msg("%s: bin/tool is %s", row->name, rule ? rule : "free");
		repo = h.repo;
		classify_change(&shadow, &h.facts, &f);
		if ((flag_of(&f, "bin/ls", "path-shadow-bin")->severity == GA_CRITICAL) !=
		    row->raised)
			fail_msg("%s: bin/ls", row->name);
		host_close(&h);
	}
}

/* Of a manifest, the scripts that a hook runs are critical, and not the whole. */
TEST(scripts_that_a_hook_runs_are_critical)
{
	struct change_fixture script = { "host-hook-reached", "package.json", true, FILE_("{}"),
					 FILE_("{\"scripts\":{\"prepare\":\"x\"}}"), NULL };
	struct change_fixture other = { "host-hook-reached", "package.json", true, FILE_("{}"),
					FILE_("{\"scripts\":{\"start\":\"x\"},\"dependencies\":{\"a\":\"1\"}}"),
					NULL };
	cleanup_flags struct ga_flags f = GA_FLAGS_INIT;
	const struct ga_flag *flag;
	struct host h;

	host_open(&h, "raised", "echo 'npm ci' >.git/hooks/pre-commit");
	repo = h.repo;
	classify_change(&other, &h.facts, &f);
	assert_null(flag_of(&f, "package.json", HOOK));
	ga_flags_release(&f);
	classify_change(&script, &h.facts, &f);
	flag = flag_of(&f, "package.json", HOOK);
	assert_int_equal(flag->severity, GA_CRITICAL);
	assert_has(flag->reason, "scripts.prepare");
	host_close(&h);
}

TEST(submodule_recurse_makes_gitmodules_critical)
{
	struct host h;

	host_open(&h, "recurse", "git config submodule.recurse yes");
	assert_int_equal(severity_of(&h, ".gitmodules", "gitmodules"), GA_CRITICAL);
	host_close(&h);
	host_open(&h, "no-recurse", "git config submodule.recurse no");
	assert_int_equal(severity_of(&h, ".gitmodules", "gitmodules"), GA_HIGH);
	host_close(&h);
}

/* An .envrc deeper in the project counts for what changes beneath it; one that an
 * agent could have put behind a link does not lead out. */
TEST(an_envrc_deeper_in_the_project_counts)
{
	struct host h;
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, e = { GA_MODE_FILE, { { 0 } } };
	cleanup_flags struct ga_flags f = GA_FLAGS_INIT;
	int found = 0;

	host_open(&h, "nested", "printf 'source_env ../lib/vars\\n./run.sh\\n' >web/.envrc");
	OK(ga_blob_write(h.repo, "x\n", 2, &e.oid, &err));
	ga_changes_add(&c, "lib/vars", &none, &e);
	ga_changes_add(&c, "web/a/x", &none, &e);
	ga_changes_add(&c, "web/run.sh", &none, &e);
	OK(ga_classify(h.repo, &h.facts, NULL, NULL, &c, &f, &err));
	for (size_t i = 0; i < f.n; i++)
		found += !strcmp(f.v[i].rule, "direnv-dependents") &&
			 (!strcmp(f.v[i].path, "lib/vars") || !strcmp(f.v[i].path, "web/run.sh"));
	assert_int_equal(found, 2);
	host_close(&h);
}

/* It runs tools and scripts, and these run others, as the one at the top does. */
TEST(what_a_nested_envrc_runs_is_critical)
{
	static const struct {
		const char *path, *rule;
	} want[] = {
		{ "web/Makefile", "make" },
		{ "web/env.sh", "direnv-dependents" },
		{ "web/inner.sh", "direnv-dependents" },
		{ "web/made.sh", "direnv-dependents" },
	};
	struct host h;
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, e = { GA_MODE_FILE, { { 0 } } };
	cleanup_flags struct ga_flags f = GA_FLAGS_INIT;

	host_open(&h, "nested-deeper",
		  "mkdir -p web; printf 'make -s env\nsource ./env.sh\n' >web/.envrc; "
		  "echo '. ./inner.sh' >web/env.sh; echo id >web/inner.sh; echo id >web/made.sh; "
		  "printf 'env:\n\tsh ./made.sh\n' >web/Makefile");
	OK(ga_blob_write(h.repo, "x\n", 2, &e.oid, &err));
	for_each (row, want)
		ga_changes_add(&c, row->path, &none, &e);
	ga_changes_sort(&c);
	OK(ga_classify(h.repo, &h.facts, NULL, NULL, &c, &f, &err));
	for_each (row, want) {
		const struct ga_flag *flag = flag_of(&f, row->path, row->rule);

		if (!flag || flag->severity != GA_CRITICAL)
			fail_msg("%s is not held by '%s'", row->path, row->rule);
	}
	host_close(&h);
}

/* Before the first commit nothing is tracked, and hooks may still be there. */
TEST(hooks_count_before_the_first_commit)
{
	struct host h = { .config = GA_GITCONFIG_INIT };
	cleanup_free char *path = in_scratch("unborn");

	SH("unborn", "git init -q . && mkdir -p .git/hooks && echo ./run.sh >.git/hooks/pre-commit");
	OK(ga_repo_open(path, &h.repo, &err) || ga_gitconfig_load(h.repo, &h.config, &err) ||
	    ga_host_facts_gather(h.repo, &h.config, NULL, &h.facts, &err));
	assert_string_equal(held_by(&h, "run.sh"), "host-hook-reached");
	host_close(&h);
}

TEST_MAIN(scratch_setup, scratch_teardown)
