/* SPDX-License-Identifier: MIT
 *
 * What the host's own state makes critical: hooks, configuration, .envrc.
 */
#include "risk-support.h"

/* A repository in ~/host, and what counts there. */
struct host {
	struct ga_repo *repo;
	struct ga_gitconfig config;
	struct ga_host_facts facts;
};

static void host_read(struct host *h)
{
	cleanup_free char *path = in_scratch("host");

	*h = (struct host){ .config = GA_GITCONFIG_INIT };
	OK(ga_repo_open(path, &h->repo, &err) || ga_gitconfig_load(h->repo, &h->config, &err) ||
	   ga_host_facts_gather(h->repo, &h->config, NULL, &h->facts, &err));
}

/* In a home where nothing else is: made by `setup`, a shell script, with every file below tracked. */
static void host_open(struct host *h, const char *setup)
{
	SH(".", "find . -mindepth 1 -maxdepth 1 ! -name .gitconfig -exec rm -rf {} +\n"
	   "mkdir -p host .config/systemd/user .local/bin && cd host && git init -q .\n"
	   "mkdir -p scripts/sub tools lib tests hooks.d web\n"
	   "for f in scripts/check.sh scripts/sub/deep.sh scripts/other.sh tools/fmt tools/lint.py \\\n"
	   "  lib/common.sh tests/a.c hooks.d/10-x web/index.js README Makefile package.json conf.cfg\n"
	   "do echo x >$f; done\ngit add . && git commit -qm start\n"
	   "rm -f .git/hooks/*\n%s", setup);
	host_read(h);
}

static void host_close(struct host *h)
{
	ga_host_facts_release(&h->facts);
	ga_gitconfig_release(&h->config);
	ga_repo_free(h->repo);
}

/* The rule of the host that makes a path critical, NULL if none does. */
static const char *held_by(const struct host *h, const char *path)
{
	static const char *const rules[] = { "hooks-path-configured", "hook-config-command",
					     "host-hook-reached", "host-config-reached",
					     "direnv-dependents",
					     "host-environment-reached" };
	FLAGS(f);
	const char *found = NULL;

	ga_classify_path(&h->facts, path, false, &f);
	for (size_t i = 0; i < f.n; i++)
		for_each (row, rules)
			if (!strcmp(f.v[i].rule, *row) && ga_flag_holds(NULL, &f.v[i]))
				found = *row;
	return found;
}

/* A set-up, a path that is held and by which rule (NULL: the tool's own), and one that is free. */
struct reach_row {
	const char *setup, *rule, *held, *free;
};

static void check_rows(const struct reach_row *rows, size_t n)
{
	for (const struct reach_row *row = rows; row < rows + n; row++) {
		const char *rule;
		struct host h;

		host_open(&h, row->setup);
		rule = row->held ? held_by(&h, row->held) : NULL;
		if (row->rule && (!rule || strcmp(rule, row->rule) != 0))
			fail_msg("%s: '%s' is %s, not %s", row->setup, row->held, rule ? rule : "free", row->rule);
		if (row->free && held_by(&h, row->free))
			fail_msg("%s: '%s' is held", row->setup, row->free);
		host_close(&h);
	}
}

#define HOOK "host-hook-reached"
#define CONFIG "host-config-reached"
#define DIRENV "direnv-dependents"
#define HOOKS_PATH "hooks-path-configured"
#define DOTFILE "host-environment-reached"

/* A hook or .envrc, and what is done after it. */
#define TEXT(file, text) "cat >" file " <<'END'\n" text "\nEND\n"
#define COMMIT(text) TEXT(".git/hooks/pre-commit", text)
#define MERGE(text) TEXT(".git/hooks/post-merge", text)
#define ENVRC(text) TEXT(".envrc", text)

TEST(what_hooks_and_configuration_reach_is_critical)
{
	static const struct reach_row rows[] = {
		/* a hook's text */
		{ COMMIT("./scripts/check.sh"), HOOK, "scripts/check.sh", "scripts/other.sh" },
		{ "echo ./scripts/check.sh >.git/hooks/pre-commit.sample", NULL, NULL, "scripts/check.sh" },
		{ COMMIT("\"$(git rev-parse --show-toplevel)/scripts/check.sh\" \"$@\""), HOOK,
		  "scripts/check.sh", NULL },
		{ COMMIT("sh ${ROOT}/scripts/check.sh"), HOOK, "scripts/check.sh", NULL },
		{ COMMIT("exec \"$DIR/deep.sh\""), HOOK, "scripts/sub/deep.sh", NULL },
		{ "echo \"exec $PWD/tools/fmt\" >.git/hooks/pre-commit", HOOK, "tools/fmt", NULL },
		{ COMMIT("test -x dev/new.sh && dev/new.sh"), HOOK, "dev/new.sh", NULL },
		{ COMMIT("./scripts/check.sh") TEXT("scripts/check.sh", "#!/bin/sh\n. lib/common.sh"), HOOK,
		  "lib/common.sh", NULL },
		/* links */
		{ "ln -s ../../scripts/check.sh .git/hooks/pre-commit", HOOK, "scripts/check.sh", NULL },
#define CHAIN "ln -s ../tools/fmt scripts/l && ln -s ../../scripts/l .git/hooks/pre-commit"
		{ CHAIN, HOOK, "tools/fmt", NULL },
		{ CHAIN, HOOK, "scripts/l", NULL },
		{ "rm -r .git/hooks && ln -s ../hooks.d .git/hooks", HOOKS_PATH, "hooks.d/pre-push", NULL },
		/* core.hooksPath */
		{ "git config core.hooksPath scripts/", HOOKS_PATH, "scripts/post-merge", NULL },
		{ "git config core.hooksPath \"~/host/lib\"", HOOKS_PATH, "lib/pre-push", NULL },
		{ "git config core.hooksPath dev/hooks", HOOKS_PATH, "dev", NULL },
#define LINKED "ln -s scripts/sub hk && git config core.hooksPath hk"
		{ LINKED, HOOKS_PATH, "scripts/sub/pre-push", NULL },
		{ LINKED, HOOKS_PATH, "hk", NULL },
		{ "git config core.hooksPath scripts && echo 'tools/fmt' >scripts/pre-commit", HOOK,
		  "tools/fmt", NULL },
		/* other configuration */
		{ "git config filter.x.clean 'tools/fmt --quiet %f'", CONFIG, "tools/fmt", NULL },
		{ "git config hook.x.command './tools/fmt a'", "hook-config-command", "tools/fmt", NULL },
		{ "git config include.path ../conf.cfg; echo '[a]' >conf.cfg", CONFIG, "conf.cfg", NULL },
		{ "git config include.path ../conf.cfg\n" TEXT("conf.cfg", "[alias]\nst = status"), CONFIG,
		  "conf.cfg", NULL },
		{ "git config diff.x.textconv 'sh tools/fmt'", CONFIG, "tools/fmt", NULL },
		{ "git config merge.x.driver './tools/fmt %O %A %B'", CONFIG, "tools/fmt", NULL },
		{ "git config filter.x.process 'python3 tools/lint.py'", CONFIG, "tools/lint.py", NULL },
		{ "git config includeIf.onbranch:never.path ../conf.cfg", CONFIG, "conf.cfg", NULL },
		{ TEXT(".gitconfig", "[core]\n\tfsmonitor = tools/fmt") "git add .; git commit -qm x", NULL, NULL,
		  "tools/fmt" },
		{ "git config core.attributesFile tools/attrs", CONFIG, "tools/attrs", NULL },
		{ "git config alias.x '!sh scripts/check.sh'", CONFIG, "scripts/check.sh", NULL },
		{ "git config user.name README", NULL, NULL, "README" },
		{ "git remote add o ./tools/fmt", NULL, NULL, "tools/fmt" },
		/* direnv, which runs its files in a shell with functions of its own */
		{ ENVRC("source_env env/dev\nwatch_file a.lock b.lock"), DIRENV, "env/dev", "b.lock" },
		{ ENVRC("export A=$(./scripts/check.sh)"), DIRENV, "scripts/check.sh", NULL },
		{ ENVRC(". \"$PWD/scripts/check.sh\""), DIRENV, "scripts/check.sh", NULL },
		{ ENVRC("eval \"$(sh scripts/check.sh)\"") TEXT("scripts/check.sh", ". lib/common.sh"), DIRENV,
		  "lib/common.sh", NULL },
		{ ENVRC("make -s env") TEXT("Makefile", "env:\n\tsh scripts/check.sh"), DIRENV, "scripts/check.sh",
		  NULL },
		{ ENVRC("export A=\"$( (cd tools && ./gen) )\""), DIRENV, "tools/gen", "tools/gen.md" },
		{ ENVRC("(PATH_add bin)"), DIRENV, "bin/git", "git" },
		{ ENVRC("layout node"), DIRENV, "node_modules/.bin/x", "node_modules/x" },
		{ ENVRC("use devenv"), DIRENV, "devenv.local.yaml", "local.yaml" },
	};

	check_rows(rows, GA_NELEMS(rows));
}

static enum ga_severity severity_of(const struct host *h, const char *path, const char *rule)
{
	FLAGS(f);
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
		const char *setup, *path, *rule;
		enum ga_severity want;
	} tools[] = {
		{ COMMIT("make check"), "Makefile", "make", GA_CRITICAL },
		{ COMMIT("true"), "Makefile", "make", GA_HIGH },
		{ COMMIT("grep make x"), "Makefile", "make", GA_HIGH },
		{ COMMIT("#!/usr/bin/python3\nsubprocess.run([\"make\", \"x\"])"), "Makefile", "make", GA_CRITICAL },
		{ COMMIT("CI=1 npm run lint"), ".npmrc", "npmrc", GA_CRITICAL },
		{ COMMIT("if true; then cargo fmt; fi"), ".cargo/config.toml", "cargo-config", GA_CRITICAL },
		{ COMMIT("npx eslint ."), ".eslintrc.js", "node-lint-config", GA_CRITICAL },
		{ TEXT(".git/hooks/pre-push", "npx eslint ."), ".eslintrc.js", "node-lint-config", GA_HIGH },
		{ MERGE("exec /usr/bin/env pytest"), "conftest.py", "py-autoload", GA_CRITICAL },
		{ COMMIT("exec /usr/bin/env pytest"), "conftest.py", "py-autoload", GA_HIGH },
		{ MERGE("go test ./..."), "x_test.go", "test-code", GA_CRITICAL },
		{ COMMIT("go test ./..."), "x_test.go", "test-code", GA_LOW },
		{ TEXT(".git/hooks/pre-push", "go test ./..."), "x_test.go", "test-code", GA_LOW },
		{ MERGE("go build ./..."), "x_test.go", "test-code", GA_LOW },
		{ MERGE("black --check ."), "x_test.go", "test-code", GA_LOW },
		{ MERGE("npm ci"), "package.json", "npm-manifest", GA_CRITICAL },
		{ COMMIT("npm ci"), "package.json", "npm-manifest", GA_HIGH },
	};

	for_each (row, tools) {
		struct host h;

		host_open(&h, row->setup);
		if (severity_of(&h, row->path, row->rule) != row->want)
			fail_msg("%s: '%s' is not %s", row->setup, row->path, ga_severity_name(row->want));
		host_close(&h);
	}
}

TEST(what_a_tool_runs_by_its_own_files_is_critical)
{
	static const struct reach_row rows[] = {
		{ MERGE("make -s check")
		  TEXT("Makefile", "SRCS = web/index.js\ncheck:\n\t@sh scripts/check.sh"), HOOK,
		  "scripts/check.sh", "web/index.js" },
		{ MERGE("make") TEXT("Makefile", "RUN = sh scripts/check.sh"), HOOK, "scripts/check.sh",
		  "scripts/other.sh" },
		{ MERGE("make") TEXT("GNUmakefile", "X := $(shell scripts/check.sh)"), HOOK,
		  "scripts/check.sh", "scripts/other.sh" },
		{ MERGE("make") TEXT("makefile", "x:\n\t-$(srcdir)/scripts/check.sh"), HOOK, "scripts/check.sh",
		  "scripts/other.sh" },
		{ MERGE("make") TEXT("Makefile", "include tools/x.mk") TEXT("tools/x.mk", "x:\n\tpython tools/lint.py"),
		  HOOK, "tools/lint.py", "scripts/other.sh" },
		{ MERGE("make") TEXT("Makefile", "include Makefile\nx:\n\ttools/fmt"), HOOK, "tools/fmt",
		  "scripts/other.sh" },
		{ MERGE("make -C web") TEXT("web/Makefile", "x:\n\tnode index.js"), HOOK, "web/index.js",
		  "scripts/other.sh" },
		{ MERGE("sh scripts/check.sh") TEXT("scripts/check.sh", "make x")
		  TEXT("lib/common.sh", "scripts/sub/deep.sh")
		  TEXT("Makefile", "x:\n\tsh lib/common.sh"), HOOK, "scripts/sub/deep.sh", "scripts/other.sh" },
		{ MERGE("true") TEXT("Makefile", "x:\n\tsh scripts/check.sh"), NULL, NULL, "scripts/check.sh" },
		{ MERGE("npm test")
		  TEXT("package.json", "{\"main\":\"web/index.js\",\"scripts\":{\"test\":\"node tools/lint.py\","
				       "\"start\":\"node web/index.js\"}}"),
		  HOOK, "tools/lint.py", "web/index.js" },
		{ MERGE("cd web && npm run a")
		  TEXT("web/package.json", "{\"scripts\":{\"prea\":\"npm run b\",\"b\":\"tools/fmt\",\"c\":"
					   "\"scripts/other.sh\"}}")
		  "mkdir web/tools; echo >web/tools/fmt; git add . && git commit -qm more",
		  HOOK, "web/tools/fmt", "scripts/other.sh" },
		{ MERGE("npm ci")
		  TEXT("package.json", "{\"scripts\":{\"prepare\":\"sh scripts/check.sh\",\"zap\":\"tools/fmt\"}}"),
		  HOOK, "scripts/check.sh", "tools/fmt" },
		{ MERGE("node tools/lint; eslint ./web") "mv tools/lint.py tools/lint.js", HOOK, "tools/lint.js",
		  "web/index.js" },
		/* the tool's own file by the tool's own rule */
		{ MERGE("npm test") TEXT("package.json", "{"), NULL, "package.json", "tools/fmt" },
		{ MERGE("composer check")
		  TEXT("composer.json", "{\"scripts\":{\"check\":[\"@php tools/lint.py\"]}}"), HOOK,
		  "tools/lint.py", "tools/fmt" },
		{ MERGE("pre-commit run")
		  TEXT(".pre-commit-config.yaml", "- repo: local\n  hooks:\n  - id: x\n    name: scripts/other.sh\n    "
						  "entry: python tools/lint.py"),
		  HOOK, "tools/lint.py", "scripts/other.sh" },
	};

	check_rows(rows, GA_NELEMS(rows));
}

/* By words that end paths, wherever the hook changes to; and what words only mention. What texts have which words is
 * tested with those. */
TEST(hooks_and_their_managers_reach_by_words)
{
	static const struct reach_row rows[] = {
		{ MERGE("cd web && node scripts/sync.js"), HOOK, "web/scripts/sync.js", "web/index.js" },
		{ MERGE("cd \"$(git rev-parse --show-toplevel)/web\" && ./after"), HOOK, "web/after", "web/after.md" },
		{ MERGE("for f in tools/d/*; do sh $f; done"), HOOK, "tools/d/x", "tools/e/x" },
		{ MERGE("sh a.sh") TEXT("a.sh", "sh b.sh") TEXT("b.sh", ". ./c"), HOOK, "c", "d" },
		{ MERGE("node tools/lint"), HOOK, "tools/lint/index.js", "tools/lint/x.md" },
		{ MERGE("python3 -m tools.x"), HOOK, "tools/x.py", "y/tools/x.py" },
		{ MERGE("python3 scripts/run.py") TEXT("scripts/run.py", "import helper"), HOOK, "scripts/helper.py",
		  "scripts/sub/helper.py" },
		{ MERGE("node scripts/run.js") TEXT("scripts/run.js", "require(\"../lib/u\")"), HOOK, "lib/u.js",
		  "lib/v.js" },
		{ COMMIT("node scripts/run.js") TEXT("scripts/run.js", "require(\"../lib/u\")"), HOOK, "scripts/run.js",
		  "lib/u.js" },
		{ MERGE("make") TEXT("Makefile", "include config.mk"), HOOK, "config.mk", "other.txt" },
		{ COMMIT("npx lint-staged")
		  TEXT("package.json", "{\"lint-staged\":{\"*.js\":\"node scripts/c.js\"}}"), HOOK,
		  "scripts/c.js", "web/a.js" },
		{ COMMIT("lint-staged") TEXT(".lintstagedrc", "*.js: [eslint, node scripts/c.js]"), HOOK,
		  "scripts/c.js", "web/a.js" },
		{ COMMIT("lint-staged")
		  TEXT("lint-staged.config.mjs", "export default { \"*.js\": [\"node scripts/c.js\"] }"), HOOK,
		  "scripts/c.js", "web/a.js" },
		{ COMMIT("lefthook run pre-commit")
		  TEXT("lefthook.yml", "pre-commit:\n  commands:\n    x:\n      root: web/\n      "
				       "run: node tools/s.js\n"
				       "post-merge:\n  commands:\n    y:\n      run: sh other.sh"),
		  HOOK, "web/tools/s.js", "other.sh" },
		{ MERGE("lefthook run post-checkout; lefthook run post-merge")
		  TEXT("lefthook.yml", "post-merge:\n  jobs:\n  - name: see other.sh\n    run: |\n      cd web\n      "
				       "sh tools/s\n"), HOOK, "tools/s", "other.sh" },
		{ COMMIT("exec pre-commit hook-impl --hook-type=pre-commit")
		  TEXT(".pre-commit-config.yaml",
		       "repos:\n- repo: local\n  hooks:\n  - id: x\n    entry: >-\n      bash -c\n      \"sh "
		       "tools/deep\"\n    files: web/x.py"),
		  HOOK, "tools/deep", "web/x.py" },
		{ COMMIT("pre-commit run")
		  TEXT(".pre-commit-config.yaml", "- id: x\n  entry: python\n  args: [tools/deep]"), HOOK,
		  "tools/deep", NULL },
		{ MERGE("PATH=$PWD/bin:$PATH; git status"), HOOK, "bin/x", "x/x" },
		{ MERGE("find tools/d -type f -exec sh {} \\;"), HOOK, "tools/d/e/f", "tools/e" },
		{ MERGE("sh a.sh") TEXT("a.sh", "echo see docs/a.md; grep x docs/b.sh"), HOOK, "a.sh", "docs/a.md" },
		{ COMMIT("bats tests/"), NULL, NULL, "tests/a.c" },
	};

	check_rows(rows, GA_NELEMS(rows));
}

/* Links of single files or of directories, whatever their names are, start-up files that source one of the project, and
 * units of systemd. */
TEST(the_home_is_looked_at_and_not_a_list)
{
	static const struct reach_row rows[] = {
#define LINK(file, to) "mkdir -p ~/" to "; rmdir ~/" to "; ln -s \"$PWD/" file "\" ~/" to
		{ LINK("conf.cfg", ".zshrc"), DOTFILE, "conf.cfg", NULL },
		{ LINK("nowhere", ".zshrc"), NULL, NULL, "conf.cfg" },
		{ LINK("lib", ".config/fish"), DOTFILE, "lib/new.fish", "new.fish" },
		{ LINK("starship.toml", ".config/starship.toml"), DOTFILE, "starship.toml", "x.toml" },
		{ LINK("b/backup", ".local/bin/backup"), DOTFILE, "b/backup", "b/other" },
		{ LINK("s.service", ".config/systemd/user/s.service"), DOTFILE, "s.service", "t.service" },
		{ TEXT("../.config/systemd/user/a.service", "[Service]\nExecStart=/bin/sh %h/host/tools/fmt x"),
		  DOTFILE, "tools/fmt", "tools/lint.py" },
		{ TEXT("../.config/systemd/user/a.service", "[Service]\nExecStart=/bin/sh %h/other/tools/fmt x"), NULL,
		  NULL, "tools/fmt" },
		{ "echo \". $PWD/bash/aliases\" >~/.bashrc; mkdir bash; echo >bash/aliases", DOTFILE, "bash/aliases",
		  "bash/other" },
		{ "printf 'D=%s\\nfor f in $D/sh/*.sh; do . $f; done\\n' \"$PWD\" >~/.bashrc", DOTFILE, "sh/x.sh",
		  "sh/x.txt" },
		{ "echo \"export PATH=$PWD/cmds:\\$PATH\" >~/.bashrc", DOTFILE, "cmds/x", "other/x" },
		{ LINK("cmds", ".cmds") "; ln -s \"$PWD\" ~/src", DOTFILE, "cmds", "any/where" },
		{ "echo '. aliases; sh scripts/check.sh' >~/.bashrc", NULL, NULL, "scripts/check.sh" },
	};

	check_rows(rows, GA_NELEMS(rows));
}

/* Past what is followed nothing is passed over: any path counts. Up to there, only what is meant. */
TEST(beyond_a_bound_every_path_is_critical)
{
	static const struct reach_row rows[] = {
#define ALL HOOK, "any/where.c", NULL
#define ONLY(held) HOOK, held, "any/where.c"
		{ "for i in $(seq 500); do echo sh a/$i.sh; done >.git/hooks/pre-commit", ONLY("a/500.sh") },
		{ "mkdir a; for i in $(seq 600); do echo : >a/$i.sh; echo sh a/$i.sh; done >.git/hooks/pre-commit",
		  ALL },
		{ COMMIT("make") "for i in $(seq 500); do echo \"include $i.mk\"; "
				 "printf 'x:\\n\\tsh b/%s\\n' $i >$i.mk; done >Makefile", ONLY("b/500") },
		{ COMMIT("make") "for i in $(seq 600); do echo \"include $i.mk\"; echo x: >$i.mk; done >Makefile",
		  ALL },
		{ COMMIT("npm run a1") "{ echo '{\"scripts\":{'; for i in $(seq 600); do "
				       "echo \"\\\"a$i\\\":\\\"npm run a$((i + 1))\\\",\"; done; echo '\"z\":\"\"}}'; "
				       "} >package.json", ALL },
		{ "seq -f 'sh c/%.0f' 9000 >.git/hooks/pre-commit", ALL },
		{ COMMIT("make") TEXT("Makefile", "x:\n\tsh scripts/check.sh")
		  "head -c 300000 /dev/zero | tr '\\0' '#' >>Makefile", ONLY("scripts/check.sh") },
		{ COMMIT("make") "head -c 5000000 /dev/zero | tr '\\0' '#' >Makefile", ALL },
		{ COMMIT("sh scripts/check.sh") "truncate -s 5000000 scripts/check.sh", ALL },
		{ "{ echo '#!/bin/sh'; yes : | head -c 300000; } >.git/hooks/pre-commit", ALL },
		{ "head -c 300000 /dev/zero >.git/hooks/pre-commit", NULL, NULL, "any/where.c" },
		{ "{ echo '[Service]'; yes '#' | head -c 5000000; } >~/.config/systemd/user/long.service", DOTFILE,
		  "any/where.c", NULL },
		/* many of one name, a link, a file that is none */
		{ "for i in $(seq 20); do mkdir t$i; echo >t$i/x.sh; done; git add . && git commit -qm more\n"
		  COMMIT("sh $D/x.sh"), ONLY("t20/x.sh") },
		{ COMMIT("make") TEXT("real", "x:\n\ttools/fmt") "ln -sf real Makefile", ONLY("tools/fmt") },
		{ COMMIT("make") "rm Makefile; mkfifo Makefile", NULL, NULL, "any/where.c" },
	};

	check_rows(rows, GA_NELEMS(rows));
}

TEST(beyond_a_bound_every_path_of_a_submodule_is_critical)
{
	FACTS(inner);
	struct host h;

	host_open(&h, "{ echo '[Service]'; yes '#' | head -c 5000000; } >~/.config/systemd/user/long.service");
	ga_reach_extend(&inner.reach, &h.facts.reach, "sub");
	EQUAL(inner.reach.n, 1);
	assert_true(inner.reach.v[0].what == GA_REACH_BELOW && !*inner.reach.v[0].text);
	host_close(&h);
}

TEST(drivers_of_the_configuration_are_known)
{
	struct host h;

	host_open(&h, "git config filter.lfs.smudge 'git-lfs smudge -- %f'\ngit config diff.doc.textconv cat\n"
		  "git config merge.mine.driver true\n");
	assert_true(ga_strv_has(&h.facts.drivers, "filter:lfs"));
	assert_true(ga_strv_has(&h.facts.drivers, "diff:doc"));
	assert_true(ga_strv_has(&h.facts.drivers, "merge:mine"));
	EQUAL(h.facts.drivers.n, 3);
	EQUAL(severity_of(&h, ".lfsconfig", "lfsconfig"), GA_CRITICAL);
	host_close(&h);
	host_open(&h, "");
	EQUAL(h.facts.drivers.n, 0);
	EQUAL(severity_of(&h, ".lfsconfig", "lfsconfig"), GA_HIGH);
	host_close(&h);
}

TEST(directories_of_the_project_in_PATH_are_critical)
{
	struct change_fixture shadow = { "path-shadow-bin", "bin/ls", true, NONE, EXEC_("x\n"), NULL };
	static const struct {
		const char *front, *back; /* of what PATH is; '@': the project's top */
		bool bin_held, raised;
	} paths[] = {
		{ "", ":/bin", false, false },
		{ "", ":@/bin", true, false },
		{ "", ":bin", true, false },
		{ ".:", "", false, true },
		{ "", ":", false, true },
		{ "", ":@", false, true },
	};
	cleanup_free char *before = ga_strdup(getenv("PATH")), *dir = in_scratch("host");

	for_each (row, paths) {
		bool top = !strncmp(row->back, ":@", 2);
		cleanup_free char *path = ga_strf("%s%s%s%s%s", row->front, before, top ? ":" : "", top ? dir : "",
						  row->back + (top ? 2 : 0));
		FLAGS(f);
		const char *rule;
		struct host h;

		EQUAL(setenv("PATH", path, 1), 0);
		host_open(&h, "");
		rule = held_by(&h, "bin/tool");
		EQUAL(setenv("PATH", before, 1), 0);
		if ((rule != NULL) != row->bin_held)
			fail_msg("%s: bin/tool is %s", row->back, rule ? rule : "free");
		repo = h.repo;
		classify_change(&shadow, &h.facts, &f);
		if ((flag_of(&f, "bin/ls", "path-shadow-bin")->severity == GA_CRITICAL) != row->raised)
			fail_msg("%s: bin/ls", row->back);
		host_close(&h);
	}
}

TEST(scripts_that_a_hook_runs_are_critical)
{
	struct change_fixture script = { "host-hook-reached", "package.json", true, FILE_("{}"),
					 FILE_("{\"scripts\":{\"prepare\":\"x\"}}"), NULL };
	struct change_fixture other = { "host-hook-reached", "package.json", true, FILE_("{}"),
					FILE_("{\"scripts\":{\"start\":\"x\"},\"dependencies\":{\"a\":\"1\"}}"),
					NULL };
	FLAGS(f);
	const struct ga_flag *flag;
	struct host h;

	host_open(&h, "echo 'npm ci' >.git/hooks/pre-commit");
	repo = h.repo;
	classify_change(&other, &h.facts, &f);
	assert_null(flag_of(&f, "package.json", HOOK));
	ga_flags_release(&f);
	classify_change(&script, &h.facts, &f);
	flag = flag_of(&f, "package.json", HOOK);
	EQUAL(flag->severity, GA_CRITICAL);
	assert_has(flag->reason, "scripts.prepare");
	host_close(&h);
}

TEST(submodule_recurse_makes_gitmodules_critical)
{
	struct host h;

	host_open(&h, "git config submodule.recurse yes");
	EQUAL(severity_of(&h, ".gitmodules", "gitmodules"), GA_CRITICAL);
	host_close(&h);
	host_open(&h, "git config submodule.recurse no");
	EQUAL(severity_of(&h, ".gitmodules", "gitmodules"), GA_HIGH);
	host_close(&h);
}

/* An .envrc deeper in the project counts for what changes beneath it, as do the tools and scripts that it runs, and
 * what these run; one that an agent could have put behind a link does not lead out. */
TEST(an_envrc_deeper_in_the_project_counts)
{
	static const struct {
		const char *path, *rule;
	} want[] = {
		{ "lib/vars", DIRENV }, { "web/Makefile", "make" }, { "web/env.sh", DIRENV },
		{ "web/inner.sh", DIRENV }, { "web/made.sh", DIRENV }, { "web/run.sh", DIRENV },
	};
	struct host h;
	CHANGES(c);
	struct ga_entry none = { GA_MODE_NONE, { { 0 } } }, e = { GA_MODE_FILE, { { 0 } } };
	FLAGS(f);

	host_open(&h, TEXT("web/.envrc", "source_env ../lib/vars\n./run.sh\nmake -s env\nsource ./env.sh")
		      TEXT("web/env.sh", ". ./inner.sh") TEXT("web/Makefile", "env:\n\tsh ./made.sh")
		      "echo id >web/inner.sh; echo id >web/made.sh");
	OK(ga_blob_write(h.repo, "x\n", 2, &e.oid, &err));
	for_each (row, want)
		ga_changes_add(&c, row->path, &none, &e);
	OK(ga_classify(h.repo, &h.facts, NULL, NULL, &c, &f, &err));
	for_each (row, want) {
		const struct ga_flag *flag = flag_of(&f, row->path, row->rule);

		if (!flag || flag->severity != GA_CRITICAL)
			fail_msg("%s is not held by '%s'", row->path, row->rule);
	}
	host_close(&h);
}

TEST(hooks_count_before_the_first_commit)
{
	struct host h;

	SH(".", "rm -rf host; git init -q host; mkdir -p host/.git/hooks; echo ./run.sh >host/.git/hooks/pre-commit");
	host_read(&h);
	STREQ(held_by(&h, "run.sh"), HOOK);
	host_close(&h);
}

TEST_MAIN(scratch_setup, scratch_teardown)
