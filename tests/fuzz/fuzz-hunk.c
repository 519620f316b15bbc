/* SPDX-License-Identifier: MIT
 *
 * Parts of a comparison: whatever is taken for a list of hunks can be told apart and put together
 * again, and edits that are not of the texts at hand never lead beyond them.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/hunk.h"

/* An edit on its own is a hunk with that edit in it, and nothing else. */
static void check_edit(const struct ga_hunks *h, const struct ga_hunk *hunk, size_t edit)
{
	cleanup_hunks struct ga_hunks one = GA_HUNKS_INIT;
	const struct ga_edit *e = &h->edits[edit];

	ga_hunks_edit_text(h, hunk, edit, &one.text);
	CHECK(!ga_hunks_parse(&one));
	CHECK(one.n == 1 && one.n_edits == 1);
	CHECK(one.edits[0].old_at == e->old_at && one.edits[0].old_n == e->old_n);
	CHECK(one.edits[0].new_at == e->new_at && one.edits[0].new_n == e->new_n);
	CHECK(one.edits[0].len == e->len);
	CHECK(!memcmp(one.text.ptr + one.edits[0].at, h->text.ptr + e->at, e->len));
}

static void check_undo(const struct ga_hunks *h, const struct ga_buf *old, const struct ga_buf *new)
{
	cleanup_free bool *undo = ga_calloc(h->n_edits + 1, sizeof(*undo));
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (ga_hunks_undo(h, undo, old, new, &out)) {
		CHECK(!out.len);
		return;
	}
	CHECK(out.len == new->len && !memcmp(out.ptr, new->ptr, out.len));
	ga_buf_clear(&out);
	for (size_t i = 0; i < h->n_edits; i++)
		undo[i] = true;
	CHECK(!ga_hunks_undo(h, undo, old, new, &out));
	CHECK(out.len <= old->len + new->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in in = { data, n };
	cleanup_free char *old = fuzz_string(&in), *new = fuzz_string(&in);
	cleanup_buf struct ga_buf was = GA_BUF_INIT, is = GA_BUF_INIT;
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;

	ga_buf_adds(&was, old);
	ga_buf_adds(&is, new);
	ga_buf_add(&h.text, in.p, in.n);
	if (ga_hunks_parse(&h))
		return 0;
	for (size_t i = 0; i < h.n; i++)
		for (size_t e = 0; e < h.v[i].n; e++)
			check_edit(&h, &h.v[i], h.v[i].first + e);
	check_undo(&h, &was, &is);
	return 0;
}
