/* SPDX-License-Identifier: MIT
 *
 * Rules that look at content: one byte for the file it is, one that says how often it is
 * repeated, old content, NUL, new content. What takes too long is libFuzzer's to notice.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "reach/reach-internal.h"
#include "risk/internal.h"
#include "fuzz.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

static const char *const names[] = {
	".envrc", ".env", "package.json", ".gitmodules", ".gitattributes", "Makefile", "src/a.js",
	".python-version", "link", "script.sh", "package-lock.json", ".tool-versions", "text",
	".github/workflows/ci.yml", "bin/git", "CLAUDE.md", ".vscode/settings.json", "a/.envrc",
	"pyproject.toml", "Cargo.toml", "go.mod", ".vscode/tasks.json", "x.code-workspace",
	".idea/codeStyles/x.xml", ".claude/settings.json", "x.ipynb", "compose.yaml", ".gitconfig",
	".npmrc", "CMakeLists.txt", "yarn.lock", "json.py", "x.svg", ".gitignore",
};

static struct ga_host_facts *facts(void)
{
	static struct ga_host_facts h = GA_HOST_FACTS_INIT;

	if (!h.matcher) {
		h.matcher = ga_rules_matcher();
		ga_strv_push(&h.drivers, "filter:lfs");
		ga_strv_push(&h.drivers, "filter:x");
		ga_strv_push(&h.filters, "x");
		ga_reach_add(&h.reach, GA_REACH_FILE, GA_REACH_GIT, "direnv-dependents", "text", "of a test");
	}
	return &h;
}

static struct ga_entry blob(const struct ga_buf *b, unsigned mode)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_entry e = { mode, { { 0 } } };

	CHECK(!ga_blob_write(fuzz_repo(), b->ptr, b->len, &e.oid, &err));
	return e;
}

static void check_flags(const struct ga_flags *f)
{
	for (size_t i = 0; i < f->n; i++) {
		cleanup_buf struct ga_buf shown = GA_BUF_INIT;

		CHECK(f->v[i].rule && f->v[i].path && f->v[i].reason);
		ga_quote_add_text(&shown, f->v[i].reason, strlen(f->v[i].reason));
		CHECK(!strcmp(shown.ptr, f->v[i].reason) && !strchr(shown.ptr, '\n'));
	}
}

static void classify(const char *path, const struct ga_buf *old, const struct ga_buf *new, unsigned mode)
{
	cleanup_changes struct ga_changes before = GA_CHANGES_INIT, c = GA_CHANGES_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	struct ga_entry none = { 0 }, is = blob(new, mode), was = old->len ? blob(old, mode) : none;
	struct ga_oid old_tree, new_tree;

	if (was.mode)
		(void)ga_changes_add(&before, path, &none, &was);
	(void)ga_changes_add(&c, path, &was, &is);
	CHECK(!ga_tree_apply(fuzz_repo(), NULL, NULL, &before, &old_tree, &err));
	CHECK(!ga_tree_apply(fuzz_repo(), NULL, &old_tree, &c, &new_tree, &err));
	CHECK(!ga_classify(fuzz_repo(), facts(), &old_tree, &new_tree, &c, &flags, &err));
	check_flags(&flags);
}

/* An .envrc of the host: every path it names is one of the repository's. */
static void read_envrc(const struct ga_buf *text)
{
	cleanup_reach struct ga_reach h = GA_REACH_INIT;
	cleanup_free char *path = ga_strf("%s/.envrc", fuzz_dir());
	cleanup_close int fd = -1;
	cleanup_free char *root = ga_strdup(fuzz_dir());
	const struct ga_repo_info info = { .workdir = root, .gitdir = root, .commondir = root };
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = fuzz_repo(), .info = &info, .reach = &h, .err = &err,
		.workfd = open(fuzz_dir(), O_PATH | O_DIRECTORY | O_CLOEXEC),
	};

	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(g.workfd >= 0 && fd >= 0 && !ga_write_full(fd, text->ptr, text->len));
	CHECK(!ga_gather_envrc(&g, ""));
	for (size_t i = 0; i < h.n; i++)
		CHECK(*h.v[i].text || h.v[i].what == GA_REACH_BELOW);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	unsigned what = fuzz_byte(&in), times = fuzz_byte(&in);
	const char *name = names[what % GA_NELEMS(names)];
	cleanup_free char *first = fuzz_string(&in);
	cleanup_buf struct ga_buf old = GA_BUF_INIT, new = GA_BUF_INIT;
	unsigned mode = what & 0x80 ? GA_MODE_EXEC : GA_MODE_FILE;

	if (!strcmp(name, "link"))
		mode = GA_MODE_LINK;
	/* one in eight is made long, by repeating it */
	times = times % 8 ? 1 : times / 8 * 64 + 1;
	(void)fuzz_repo();
	ga_buf_adds(&old, first);
	while (times-- && new.len < (512 << 10))
		ga_buf_add(&new, in.n ? (const void *)in.p : "", in.n);
	classify(name, &old, &new, mode);
	read_envrc(&new);
	fuzz_repo_forget();
	return 0;
}
