/* SPDX-License-Identifier: MIT
 *
 * What was rejected, for the agent to read: patches that `git apply` takes, with the user's remarks
 * between them. Not for a terminal: the bytes are those of the files, not escaped.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/diff.h"
#include "review-internal.h"

void ga_remarks_release(struct ga_remarks *r)
{
	ga_strv_release(&r->paths);
	ga_strv_release(&r->texts);
}

void ga_remarks_add(struct ga_remarks *r, const char *path, const char *text)
{
	ga_strv_push(&r->paths, path);
	ga_strv_push(&r->texts, text);
}

/* A name in a patch. One with a space is quoted: some readers of patches take it for the end. */
static char *patch_name(const char *side, const char *path)
{
	cleanup_buf struct ga_buf name = GA_BUF_INIT;
	bool quotes = ga_quote_git_add(&name, path) || strchr(path, ' ');

	return ga_strf(quotes ? "\"%s/%s\"" : "%s/%s", side, name.ptr);
}

static void put_header(struct ga_buf *out, const struct ga_change *c, bool hunks)
{
	cleanup_free char *a = patch_name("a", c->path), *b = patch_name("b", c->path);

	ga_buf_addf(out, "diff --git %s %s\n", a, b);
	if (!c->old.mode)
		ga_buf_addf(out, "new file mode %06o\n", c->new.mode);
	else if (!c->new.mode)
		ga_buf_addf(out, "deleted file mode %06o\n", c->old.mode);
	else if (c->old.mode != c->new.mode)
		ga_buf_addf(out, "old mode %06o\nnew mode %06o\n", c->old.mode, c->new.mode);
	if (hunks)
		ga_buf_addf(out, "--- %s\n+++ %s\n", c->old.mode ? a : "/dev/null",
			    c->new.mode ? b : "/dev/null");
}

/* Did a file become a link or a submodule, or the reverse? A patch removes one and adds the other,
 * as git's do. */
static bool changes_type(const struct ga_change *c)
{
	return c->old.mode && c->new.mode && (c->old.mode & 0170000) != (c->new.mode & 0170000);
}

static int put_patch(struct ga_repo *repo, const struct ga_change *c, struct ga_buf *out,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf hunks = GA_BUF_INIT;
	const struct ga_entry none = {0};
	bool binary;
	int kind;

	if (changes_type(c)) {
		const struct ga_change gone = {c->path, c->old, none};
		const struct ga_change made = {c->path, none, c->new};

		return put_patch(repo, &gone, out, err) || put_patch(repo, &made, out, err) ?
			       -1 : 0;
	}
	kind = ga_diff_hunks(repo, &c->old, &c->new, false, &hunks, err);
	if (kind < 0)
		return -1;
	binary = kind == GA_DIFF_BINARY || memchr(hunks.ptr, '\0', hunks.len);
	if (kind || binary || out->len + hunks.len > GA_FEEDBACK_PATCHES) {
		cleanup_free char *q = ga_quote(c->path);

		ga_buf_addf(out, "# %s: %s, put back as a whole\n", q,
			    binary ? "binary" : kind == GA_DIFF_ABSENT ? "a version is absent" :
			    "too long to be shown");
		return 0;
	}
	put_header(out, c, hunks.len > 0);
	ga_buf_add(out, hunks.ptr, hunks.len);
	return 0;
}

static void put_remarks(struct ga_buf *out, const struct ga_remarks *r, const char *path)
{
	for (size_t i = 0; i < r->paths.n; i++) {
		const char *p = r->texts.v[i];

		if (strcmp(r->paths.v[i], path) != 0)
			continue;
		ga_buf_addch(out, '\n');
		while (*p) {
			size_t n = strcspn(p, "\n");

			ga_buf_addf(out, "> %.*s\n", (int)n, p);
			p += n + (p[n] == '\n');
		}
	}
}

int ga_feedback(struct ga_repo *repo, const char *session, const struct ga_changes *rejected,
		const struct ga_remarks *remarks, struct ga_buf *out, struct ga_error *err)
{
	ga_buf_addf(out,
		    "This was rejected in the review of session %s, and is not on agent/%s any "
		    "more.\nEach patch leads from a file as it is now back to what it was. Lines "
		    "that begin\nwith \"> \" are the reviewer's.\n",
		    session, session);
	put_remarks(out, remarks, "");
	for (size_t i = 0; i < rejected->n; i++) {
		if (*rejected->v[i].path)
			put_remarks(out, remarks, rejected->v[i].path);
		ga_buf_addch(out, '\n');
		if (put_patch(repo, &rejected->v[i], out, err))
			return -1;
	}
	ga_buf_addch(out, '\n');
	return 0;
}
