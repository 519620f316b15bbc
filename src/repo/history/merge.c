/* SPDX-License-Identifier: MIT */
#include "repo/objects-internal.h"

#include <string.h>

#include "ga/repo/diff.h"

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
