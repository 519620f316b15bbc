/* SPDX-License-Identifier: MIT
 *
 * Parts of a comparison of any two texts: with all edits undone there is the old one, with none the
 * new one, and a single edit is as much as it says.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"

static void expect(const struct ga_hunks *h, const bool *undo, const struct ga_buf *old,
		   const struct ga_buf *new, const struct ga_buf *want)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	CHECK(!ga_hunks_undo(h, undo, old, new, &out));
	CHECK(out.len == want->len && !memcmp(out.ptr, want->ptr, out.len));
}

/* An edit on its own is a hunk with that edit in it, and nothing else. */
static void check_edit(const struct ga_hunks *h, const struct ga_hunk *hunk, size_t edit)
{
	cleanup_buf struct ga_buf one = GA_BUF_INIT;
	const struct ga_edit *e = &h->edits[edit];
	size_t old = 0, new = 0;

	CHECK(edit == hunk->first || e[-1].at + e[-1].len < e->at);
	ga_hunks_edit_text(h, hunk, edit, &one);
	CHECK(!strncmp(one.ptr, "@@ -", 4));
	CHECK(memmem(one.ptr, one.len, h->text.ptr + e->at, e->len));
	for (const char *p = one.ptr, *end = p + one.len; p < end; p++) {
		old += *p == '-';
		new += *p == '+';
		p = memchr(p, '\n', (size_t)(end - p));
		CHECK(p);
	}
	CHECK(old == e->old_n && new == e->new_n);
}

static struct ga_entry blob(const struct ga_buf *b)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_entry e = { GA_MODE_FILE, { { 0 } } };

	CHECK(!ga_blob_write(fuzz_repo(), b->ptr, b->len, &e.oid, &err));
	return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_free char *first = fuzz_string(&in);
	cleanup_buf struct ga_buf old = GA_BUF_INIT, new = GA_BUF_INIT;
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_free bool *undo = NULL;
	struct ga_entry was, is;

	(void)fuzz_repo();
	ga_buf_adds(&old, first);
	ga_buf_add(&new, in.n ? (const void *)in.p : "", in.n);
	was = blob(&old);
	is = blob(&new);
	if (!ga_hunks_read(fuzz_repo(), &was, &is, &h, &err)) {
		undo = ga_calloc(h.n_edits, sizeof(*undo));
		expect(&h, undo, &old, &new, &new);
		for (size_t i = 0; i < h.n_edits; i++)
			undo[i] = true;
		expect(&h, undo, &old, &new, &old);
		for (size_t i = 0; i < h.n; i++)
			for (size_t e = 0; e < h.v[i].n; e++)
				check_edit(&h, &h.v[i], h.v[i].first + e);
	}
	fuzz_repo_forget();
	return 0;
}
