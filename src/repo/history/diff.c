/* SPDX-License-Identifier: MIT
 *
 * Compare and merge versions of a file, by libgit2.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/repo/history.h"
#include "ga/sys/fd.h"
#include "repo/objects-internal.h"

enum { HEAD = 8000 }; /* bytes that are searched for a NUL, as git does */

void ga_diff_stat_release(struct ga_diff_stat *s)
{
	ga_changes_release(&s->changes);
	free(s->lines);
	*s = (struct ga_diff_stat)GA_DIFF_STAT_INIT;
}

/* A comparison, and the buffers it points into. */
struct patch {
	struct ga_buf old, new;
	int kind;     /* enum ga_diff_kind, or -1 */
	git_patch *patch;
};
#define PATCH_INIT                                                                                 \
	{                                                                                          \
		GA_BUF_INIT, GA_BUF_INIT, -1, NULL                                                 \
	}

static void patch_release(struct patch *p)
{
	git_patch_free(p->patch);
	ga_buf_release(&p->old);
	ga_buf_release(&p->new);
}

bool ga_diff_is_absent(struct ga_repo *r, const struct ga_entry *e)
{
	return e->mode != GA_MODE_NONE && e->mode != GA_MODE_GITLINK &&
	       !ga_object_exists(r, &e->oid) && ga_repo_is_partial(r);
}

int ga_diff_fetch(struct ga_repo *r, const struct ga_oid *base, const struct ga_oid *new,
		  struct ga_error *err)
{
	/* unlike other commands, this one fetches all missing objects at once */
	static const char *const args[] = { "pack-objects", "-q", "--stdout", "--window=0", NULL };
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	cleanup_close int null = -1;
	struct ga_git g = GA_GIT(.args = args, .lazy_fetch = true);
	int unfetched;

	if (!ga_repo_is_partial(r))
		return 0;
	if (ga_tree_diff(r, base, new, &changes, err))
		return -1;
	for (size_t i = 0; i < changes.n; i++)
		if (ga_diff_is_absent(r, &changes.v[i].old))
			ga_buf_addf(&in, "%s\n", GA_HEX(&changes.v[i].old.oid));
	if (!in.len)
		return 0;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	g.in = in.ptr;
	g.in_len = in.len;
	g.out_fd = null;
	if (ga_git_run(r, &g, &unfetched, err))
		return -1;
	(void)ga_odb_refresh(r);
	return 0;
}

/* Read one side of a change. Returns how it is shown, or -1. */
static int read_side(struct ga_repo *r, const struct ga_entry *e, struct ga_buf *out,
		     struct ga_error *err)
{
	int rc;

	if (e->mode == GA_MODE_NONE)
		return GA_DIFF_SHOWN;
	if (e->mode == GA_MODE_GITLINK) {
		ga_buf_addf(out, "Subproject commit %s\n", GA_HEX(&e->oid));
		return GA_DIFF_SHOWN;
	}
	if (ga_diff_is_absent(r, e))
		return GA_DIFF_ABSENT;
	rc = ga_blob_read(r, &e->oid, GA_DIFF_BLOB_MAX, out, err);
	return rc > 0 ? GA_DIFF_TOO_LONG : rc;
}

static size_t count_newlines(const char *p, const char *end)
{
	size_t n = 0;

	for (; p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
		n++;
	return n;
}

/* The lines of both, without their common beginning and end, that have to be compared; 0 if one of
 * them is empty (diff.c). */
static size_t ga_lines_between(const struct ga_buf *a, const struct ga_buf *b)
{
	size_t min = a->len < b->len ? a->len : b->len, head = 0, tail = 0;

	if (!min)
		return 0;
	while (head < min && a->ptr[head] == b->ptr[head])
		head++;
	while (tail < min - head && a->ptr[a->len - tail - 1] == b->ptr[b->len - tail - 1])
		tail++;
	return count_newlines(a->ptr + head, a->ptr + a->len - tail) +
	       count_newlines(b->ptr + head, b->ptr + b->len - tail);
}

bool ga_diff_is_binary(const struct ga_buf *text)
{
	return memchr(text->ptr, '\0', text->len < HEAD ? text->len : HEAD) != NULL;
}

int ga_diff_read(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		 struct ga_buf *ret_old, struct ga_buf *ret_new, struct ga_error *err)
{
	int rc = read_side(r, new, ret_new, err), rc_old;

	if (rc < 0)
		return -1;
	rc_old = read_side(r, old, ret_old, err);
	if (rc_old < 0)
		return -1;
	if (rc || rc_old)
		return rc > rc_old ? rc : rc_old;
	/* only the mode changes */
	if (old->mode && new->mode && ga_oid_equal(&old->oid, &new->oid))
		return GA_DIFF_SHOWN;
	/* a text that replaces anything is shown with what it replaces */
	if (ga_diff_is_binary(new->mode ? ret_new : ret_old))
		return GA_DIFF_BINARY;
	return ga_lines_between(ret_old, ret_new) > GA_DIFF_LINES_MAX ? GA_DIFF_TOO_MANY
								      : GA_DIFF_SHOWN;
}

/* Compare the two sides as buffers: for blobs of a repository libgit2 would consult attributes and
 * drivers of the working tree. There is no patch of what is not shown. */
static int make_patch(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		      bool as_text, struct patch *p, struct ga_error *err)
{
	git_diff_options o;

	p->kind = ga_diff_read(r, old, new, &p->old, &p->new, err);
	if (p->kind != GA_DIFF_SHOWN && (p->kind != GA_DIFF_BINARY || !as_text))
		return p->kind < 0 ? -1 : 0;
	if (ga_lines_between(&p->old, &p->new) > GA_DIFF_LINES_MAX)
		return 0;
	(void)git_diff_options_init(&o, GIT_DIFF_OPTIONS_VERSION);
	o.flags |= GIT_DIFF_FORCE_TEXT;
	if (git_patch_from_buffers(&p->patch, p->old.ptr, p->old.len, NULL, p->new.ptr, p->new.len,
				   NULL, &o))
		return ga_fail_git(err, "cannot compare two blobs");
	return 0;
}

static int count_lines(struct ga_repo *r, const struct ga_change *c, size_t *bytes,
		       struct ga_diff_lines *ret, struct ga_error *err)
{
	cleanup_(patch_release) struct patch p = PATCH_INIT;
	size_t add, del, lines;

	if (make_patch(r, &c->old, &c->new, false, &p, err))
		return -1;
	lines = ga_lines_between(&p.old, &p.new);
	*bytes = p.old.len + p.new.len;
	if (*bytes < lines * GA_DIFF_LINE_COST)
		*bytes = lines * GA_DIFF_LINE_COST;
	if (p.kind == GA_DIFF_BINARY)
		*ret = (struct ga_diff_lines){-1, -1};
	if (!p.patch)
		return 0;
	if (git_patch_line_stats(NULL, &add, &del, p.patch))
		return ga_fail_git(err, "cannot count changed lines");
	*ret = (struct ga_diff_lines){(int64_t)add, (int64_t)del};
	return 0;
}

int ga_diff_count(struct ga_repo *r, const struct ga_change *c, size_t *total,
		  struct ga_diff_lines *ret, struct ga_error *err)
{
	size_t bytes = 0;

	*ret = (struct ga_diff_lines){GA_DIFF_NOT_COUNTED, GA_DIFF_NOT_COUNTED};
	/* only the mode changed: no need to read anything */
	if (ga_oid_equal(&c->old.oid, &c->new.oid) && c->old.mode && c->new.mode)
		*ret = (struct ga_diff_lines){0, 0};
	else if (*total < GA_DIFF_TOTAL_MAX && count_lines(r, c, &bytes, ret, err))
		return -1;
	*total += bytes;
	return 0;
}

int ga_diff_stat(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		 struct ga_diff_stat *ret, struct ga_error *err)
{
	cleanup_diff_stat struct ga_diff_stat s = GA_DIFF_STAT_INIT;
	size_t total = 0;

	if (ga_tree_diff(r, old, new, &s.changes, err))
		return -1;
	s.lines = ga_calloc(s.changes.n + 1, sizeof(*s.lines));
	for (size_t i = 0; i < s.changes.n; i++)
		if (ga_diff_count(r, &s.changes.v[i], &total, &s.lines[i], err))
			return -1;
	ga_diff_stat_release(ret);
	*ret = s;
	s = (struct ga_diff_stat)GA_DIFF_STAT_INIT;
	return 0;
}

static int add_line(const git_diff_delta *delta, const git_diff_hunk *hunk,
		    const git_diff_line *line, void *payload)
{
	struct ga_buf *out = payload;

	(void)delta;
	(void)hunk;
	switch (line->origin) {
	case GIT_DIFF_LINE_CONTEXT:
	case GIT_DIFF_LINE_ADDITION:
	case GIT_DIFF_LINE_DELETION:
		ga_buf_addch(out, line->origin);
		break;
	case GIT_DIFF_LINE_HUNK_HDR:
	case GIT_DIFF_LINE_CONTEXT_EOFNL:
	case GIT_DIFF_LINE_ADD_EOFNL:
	case GIT_DIFF_LINE_DEL_EOFNL:
		break;
	default: /* the file header: callers have their own */
		return 0;
	}
	ga_buf_add(out, line->content, line->content_len);
	return 0;
}

int ga_diff_hunks(struct ga_repo *r, const struct ga_entry *old, const struct ga_entry *new,
		  bool as_text, struct ga_buf *out, struct ga_error *err)
{
	cleanup_(patch_release) struct patch p = PATCH_INIT;

	if (make_patch(r, old, new, as_text, &p, err))
		return -1;
	if (p.patch && git_patch_print(p.patch, add_line, out))
		return ga_fail_git(err, "cannot print a comparison");
	return p.kind;
}

/* Longer files are not merged by lines. */
#define MERGE_MAX ((size_t)32 << 20)
/* Nor are files of which more lines may differ: the time it takes grows with their square. */
#define MERGE_LINES ((size_t)1000000)
/* Git takes a file for binary if there is a NUL in its first 8000 bytes. */
#define BINARY_PEEK ((size_t)8000)

static bool is_file(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC;
}

/* Read one side. Returns 1 if it is too long, binary, or one that a partial clone lacks. */
static int read_text(struct ga_repo *r, const struct ga_entry *e, struct ga_buf *out,
		     struct ga_error *err)
{
	int rc = ga_diff_is_absent(r, e) ? 1 : ga_blob_read(r, &e->oid, MERGE_MAX, out, err);

	if (rc)
		return rc;
	return memchr(out->ptr, '\0', out->len < BINARY_PEEK ? out->len : BINARY_PEEK) ? 1 : 0;
}

/* Read base, ours and theirs. Returns 1 as well if too many lines differ. */
static int read_texts(struct ga_repo *r, const struct ga_entry *side[3], struct ga_buf text[3],
		      struct ga_error *err)
{
	for (size_t i = 0; i < 3; i++) {
		int rc = read_text(r, side[i], &text[i], err);

		if (rc)
			return rc;
		if (i && ga_lines_between(&text[0], &text[i]) > MERGE_LINES)
			return 1;
	}
	return 0;
}

static void input(git_merge_file_input *in, const struct ga_buf *b)
{
	in->version = GIT_MERGE_FILE_INPUT_VERSION;
	in->ptr = b->ptr;
	in->size = b->len;
}

static int merge_lines(struct ga_repo *r, const struct ga_buf text[3], bool write,
		       struct ga_oid *ret, struct ga_error *err)
{
	git_merge_file_input base = { 0 }, ours = { 0 }, theirs = { 0 };
	git_merge_file_result result = { 0 };
	int rc;

	input(&base, &text[0]);
	input(&ours, &text[1]);
	input(&theirs, &text[2]);
	if (git_merge_file(&result, &base, &ours, &theirs, NULL))
		return ga_fail_git(err, "cannot merge a file");
	rc = !result.automergeable ? 1 :
	     write ? ga_blob_write(r, result.ptr, result.len, ret, err)
		   : ga_blob_id_of(result.ptr, result.len, ret, err);
	git_merge_file_result_free(&result);
	return rc;
}

static int merge_content(struct ga_repo *r, const struct ga_entry *side[3], bool write,
			 struct ga_oid *ret, struct ga_error *err)
{
	struct ga_buf text[3] = { GA_BUF_INIT, GA_BUF_INIT, GA_BUF_INIT };
	int rc = read_texts(r, side, text, err);

	if (!rc)
		rc = merge_lines(r, text, write, ret, err);
	for (size_t i = 0; i < 3; i++)
		ga_buf_release(&text[i]);
	return rc;
}

static int merge_entry(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		       const struct ga_entry *theirs, bool write, struct ga_entry *ret,
		       struct ga_error *err)
{
	const struct ga_entry *side[] = { base, ours, theirs };
	struct ga_entry e = *ours;

	if (ga_entry_equal(ours, theirs) || ga_entry_equal(base, theirs)) {
		*ret = *ours;
		return 0;
	}
	if (ga_entry_equal(base, ours)) {
		*ret = *theirs;
		return 0;
	}
	/* without a file as base nothing tells which lines belong to both */
	if (!is_file(base) || !is_file(ours) || !is_file(theirs))
		return 1;
	/* a file is executable or not, so two sides that differ cannot both differ from the base */
	e.mode = base->mode == ours->mode ? theirs->mode : ours->mode;
	if (ga_oid_equal(&base->oid, &ours->oid)) {
		e.oid = theirs->oid;
	} else if (!ga_oid_equal(&base->oid, &theirs->oid) &&
		   !ga_oid_equal(&ours->oid, &theirs->oid)) {
		int rc = merge_content(r, side, write, &e.oid, err);

		if (rc)
			return rc;
	}
	*ret = e;
	return 0;
}

int ga_merge_entry(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		   const struct ga_entry *theirs, struct ga_entry *ret, struct ga_error *err)
{
	return merge_entry(r, base, ours, theirs, true, ret, err);
}

int ga_merge_is_in(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		   const struct ga_entry *theirs, struct ga_error *err)
{
	struct ga_entry merged;
	int rc = merge_entry(r, base, ours, theirs, false, &merged, err);

	return rc < 0 ? -1 : !rc && ga_entry_equal(&merged, ours);
}
