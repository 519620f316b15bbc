/* SPDX-License-Identifier: MIT
 *
 * Words of hooks and scripts that name what they execute.
 */
#include <string.h>

#include "reach/reach-internal.h"
#include "reach/words-internal.h"
#include "../test.h"

/* What was found, one "KIND:TEXT" each: given, bare, path, module, tool, open. Tools that say
 * nothing (what only reads, prints or checks) are left out. */
static char *show(const struct ga_words *w, bool tools)
{
	static const char kinds[] = "gbpmt";
	STRV(all);
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < w->n; i++) {
		const struct ga_word *v = &w->v[i];

		if ((v->kind == GA_WORD_TOOL) == tools)
			ga_strv_take(&all, ga_strf("%c:%s%s%s", kinds[v->kind], v->text,
						   *v->more ? " " : "", v->more));
	}
	ga_strv_sort_unique(&all);
	for (size_t i = 0; i < all.n; i++)
		ga_buf_addf(&b, "%s%s", i ? "," : "", all.v[i]);
	return ga_buf_steal(&b);
}

static void check(void (*words)(const char *, const char *, struct ga_words *), const char *text,
		  const char *want, bool tools)
{
	cleanup_words struct ga_words w = { .v = NULL };
	cleanup_free char *got = NULL;

	words(text, "/home/u", &w);
	got = show(&w, tools);
	if (strcmp(got ? got : "", want) != 0)
		fail_msg("%s\n  is:     %s\n  expect: %s", text, got, want);
}

struct row {
	const char *text, *want;
};

TEST(what_shell_text_gives_to_be_executed)
{
	static const struct row rows[] = {
		{ "cd frontend && node scripts/sync.js", "g:scripts/sync.js" },
		{ "cd \"$(git rev-parse --show-toplevel)/frontend\" && ./after", "b:after" },
		{ ". scripts/common", "g:scripts/common" },
		{ "source ./a.sh; . b", "g:a.sh,g:b" },
		{ "bash scripts/check", "g:scripts/check" },
		{ "sh -e scripts/check", "g:scripts/check" },
		{ "exec /usr/bin/env bash scripts/check \"$@\"", "b:/usr/bin/env,g:scripts/check" },
		{ "cat steps.txt | sh", "g:steps.txt" },
		{ "grep -v '^#' steps.txt | bash -s", "g:^#,g:steps.txt" },
		{ "sh <steps", "g:steps" },
		{ "eval \"$(cat tools/env.txt)\"", "b:tools/env.txt,g:tools/env.txt" },
		{ "eval $(<tools/env.txt)", "b:tools/env.txt,g:tools/env.txt" },
		{ "source <(cat tools/env)", "g:tools/env" },
		{ "(cat steps) | sh", "g:steps" },
		{ "${RUN:-sh} x", "g:x" },
		{ "sh ${FILE:-tools/x}", "b:tools/x,g:tools/x" },
		{ "xargs sh <list", "g:list" },
		{ "cat list | xargs -n1 sh", "g:list" },
		{ "cat list | xargs prettier", "" },
		{ "for f in tools/d/*; do . \"$f\"; done", "g:tools/d/*" },
		{ "for f in tools/d/*; do \"$f\"; done", "b:tools/d/*" },
		{ "for f in lib/*.sh\ndo\n  . ./$f\ndone", "g:lib/*.sh" },
		{ "while read -r f; do sh \"$f\"; done <list", "g:list" },
		{ "cat list | while read f; do echo $f; done", "" },
		{ "find tools/d -type f -exec sh {} +", "g:+,g:tools/d,g:tools/d/**" },
		{ "find src -name '*.c' -exec clang-format -i {} +", "" },
		{ "run-parts .githooks/post-merge.d", "g:.githooks/post-merge.d/*" },
		{ "python3 -m tools.lint", "m:tools/lint" },
		{ "python -c 'import tools.x'", "m:tools/x" },
		{ "sh -c 'node a/b.js'", "g:a/b.js" },
		{ "D=$(dirname \"$0\"); . \"$D/../lib/common\"", "g:lib/common" },
		{ "X=scripts/x; sh $X", "g:scripts/x" },
		{ "HOOKS=(a/x b/y); for h in \"${HOOKS[@]}\"; do sh $h; done",
		  "b:a/x,b:b/y,g:a/x,g:b/y" },
		{ "sh scripts/$1", "g:scripts/*" },
		{ "sh \"$DIR/$1\"", "" },
		{ "\"$1\"", "" },
		{ "exec .hooks/$(basename \"$0\")", "b:.hooks/*" },
		{ "A=1 B=2 sh x", "g:x" },
		{ "if ! scripts/ok; then exit 1; fi", "b:scripts/ok" },
		{ "scripts/a && { scripts/b; } || (scripts/c)", "b:scripts/a,b:scripts/b,b:scripts/c" },
		{ "sudo -E ./x", "b:x" },
		{ "timeout 10 ./x", "b:x" },
		{ "~/bin/x", "b:/home/u/bin/x" },
		{ "$HOME/p/x.sh", "b:/home/u/p/x.sh" },
		{ "`cat a/b`", "b:a/b" },
		{ "npx -c './x'", "b:x" },
		{ "concurrently \"sh a/x\" \"./y\"", "b:y,g:a/x" },
		{ "poetry run ./x", "b:x" },
		{ "nix develop -c ./x", "b:x" },
		{ "node -r ./a.js b.js", "g:a.js,g:b.js" },
		{ "eslint -c tools/lint.js src/x.js", "b:tools/lint.js" },
	};

	for_each (row, rows)
		check(ga_words_of_shell, row->text, row->want, false);
}

TEST(what_is_only_read_printed_or_checked_is_no_word)
{
	static const struct row rows[] = {
		{ "cat a/b.sh", "" },
		{ "echo see scripts/x.sh", "" },
		{ "shellcheck a/b.sh", "" },
		{ "# ./scripts/x.sh", "" },
		{ "true # ./scripts/x.sh", "" },
		{ "prettier --check src/x.js", "" },
		{ "npx eslint src/x.js", "" },
		{ "test -x scripts/x && [ -f scripts/y ]", "" },
		{ "git diff --name-only | xargs shellcheck", "" },
		{ "VERSION=$(cat VERSION)", "" },
		{ "make >scripts/log.sh", "" },
		{ "curl https://example.com/x.sh", "" },
		{ "jest src/*.js", "" },
	};

	for_each (row, rows)
		check(ga_words_of_shell, row->text, row->want, false);
}

TEST(what_is_put_on_PATH)
{
	static const struct row rows[] = {
		{ "PATH_add bin", "p:bin" },
		{ "(PATH_add tools/bin)", "p:tools/bin" },
		{ "export PATH=\"$PWD/scripts:$PATH\"", "p:scripts" },
		{ "PATH=bin:$PATH make", "p:bin" },
		{ "use flake", "g:flake.lock,g:flake.nix" },
		{ "use devenv", "g:devenv.local.nix,g:devenv.local.yaml,g:devenv.lock,g:devenv.nix,g:devenv.yaml" },
		{ "layout node", "g:node_modules/.bin/**" },
		{ "dotenv", "g:.env" },
		{ "use nix", "g:default.nix,g:shell.nix" },
		{ "use guix", "g:channels.scm,g:guix.scm,g:manifest.scm" },
		{ "layout poetry", "g:poetry.lock,g:pyproject.toml" },
		{ "dotenv_if_exists", "g:.env" },
		{ "dotenv config/dev.env", "g:config/dev.env" },
		{ "source_env env/dev", "g:env/dev" },
		{ "source_env_if_exists env/dev", "g:env/dev" },
		{ "watch_file a.lock", "" },
	};

	for_each (row, rows)
		check(ga_words_of_shell, row->text, row->want, false);
}

TEST(tools_are_known_by_name)
{
	static const struct row rows[] = {
		{ "npm test", "t:npm test" },
		{ "CI=1 npm run lint -- --fix", "t:--fix,t:lint -- --fix,t:npm run lint -- --fix" },
		{ "set -e; make check", "t:make check" },
		{ "if true; then cargo fmt; fi", "t:cargo fmt" },
		{ "echo make sure", "" },
		{ "grep make x", "" },
		{ "env -i pytest", "t:env -i pytest,t:pytest" },
		{ "poetry run pytest x", "t:poetry run pytest x,t:pytest x" },
	};

	for_each (row, rows)
		check(ga_words_of_shell, row->text, row->want, true);
}

TEST(what_code_names_and_imports)
{
	static const struct row rows[] = {
		{ "subprocess.run([\"bash\", \"tools/x\"])", "b:tools/x,g:tools/x" },
		{ "execSync('node scripts/y.js')", "g:scripts/y.js" },
		{ "import os, tools.lint as l", "m:l,m:os,m:tools/lint" },
		{ "from a.b import c", "m:a/b,m:a/b/c" },
		{ "from .x import y", "m:./x,m:./x/y" },
		{ "const x = require('./lib/u')", "b:lib/u,m:./lib/u" },
		{ "import x from \"../z.mjs\"", "b:z.mjs,m:../z.mjs,m:x" },
		{ "{ \"*.js\": \"node scripts/c.js\" }", "g:scripts/c.js" },
		{ "path.join(__dirname, 'lib', 'x.js')", "b:x.js" },
		{ "require_relative 'a/b'", "b:a/b,m:a/b" },
		{ "use Foo::Bar;", "m:Foo/Bar" },
		{ "open(\"docs/x.md\")", "b:docs/x.md" },
		{ "`${root}/hooks/x.sh`", "b:hooks/x.sh" },
	};

	for_each (row, rows)
		check(ga_words_of_code, row->text, row->want, false);
}

TEST_MAIN(NULL, NULL)
