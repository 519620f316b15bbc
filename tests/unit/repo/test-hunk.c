/* SPDX-License-Identifier: MIT */
#include "../objects-support.h"

#include "ga/repo/history.h"

/* Lines of few kinds, so that comparisons have something to find; now and then no newline at the
 * end. */
static void random_text(struct ga_buf *out, unsigned *seed)
{
	size_t n = (size_t)rand_r(seed) % 40;

	for (size_t i = 0; i < n; i++)
		ga_buf_addf(out, "%s%d\n", rand_r(seed) % 5 ? "" : "@@ -+ \\", rand_r(seed) % 4);
	if (n && !(rand_r(seed) % 4))
		ga_buf_truncate(out, out->len - 1);
}

/* The same with a few lines changed, gone and more. */
static void vary(const struct ga_buf *from, struct ga_buf *out, unsigned *seed)
{
	for (const char *p = from->ptr; *p;) {
		const char *nl = strchr(p, '\n');
		size_t n = nl ? (size_t)(nl - p) + 1 : strlen(p);

		if (!(rand_r(seed) % 8))
			ga_buf_addf(out, "new %d\n", rand_r(seed) % 3);
		if (rand_r(seed) % 8)
			ga_buf_add(out, p, n);
		p += n;
	}
	if (!(rand_r(seed) % 4))
		ga_buf_adds(out, "end");
}

static struct ga_entry blob(struct ga_repo *r, const struct ga_buf *b)
{
	struct ga_entry e = {.mode = GA_MODE_FILE};

	OK(ga_blob_write(r, b->ptr, b->len, &e.oid, &err));
	return e;
}

static void expect_undo(const struct ga_hunks *h, const bool *undo, const struct ga_buf *old,
			const struct ga_buf *new, const struct ga_buf *want)
{
	BUF(got);

	EQUAL(ga_hunks_undo(h, undo, old, new, &got), 0);
	if (got.len != want->len || memcmp(got.ptr, want->ptr, got.len) != 0)
		fail_msg("'%s' and '%s' give '%s', not '%s'", old->ptr, new->ptr, got.ptr, want->ptr);
}

/* What is left after one edit was undone differs from the old version by the others, and from the
 * new one by that. */
static void expect_one_less(struct ga_repo *r, const struct ga_hunks *h, const struct ga_buf *old,
			    const struct ga_buf *new)
{
	for (size_t i = 0; i < h->n_edits; i++) {
		cleanup_hunks struct ga_hunks back = GA_HUNKS_INIT;
		cleanup_free bool *undo = ga_calloc(h->n_edits, sizeof(*undo));
		BUF(got);
		const struct ga_edit *e = &h->edits[i];
		struct ga_entry was, is;
		size_t lines = 0;

		undo[i] = true;
		EQUAL(ga_hunks_undo(h, undo, old, new, &got), 0);
		was = blob(r, &got);
		is = blob(r, new);
		{

			OK(ga_hunks_read(r, &was, &is, &back, &err));
		}
		for (size_t k = 0; k < back.n_edits; k++)
			lines += back.edits[k].new_n;
		assert_true(lines <= e->new_n);
	}
}

TEST(undoing_all_edits_gives_the_old_text)
{
	REPOSITORY(r);
	const char *env = getenv("SEED");
	unsigned seed = env ? (unsigned)strtoul(env, NULL, 10) : (unsigned)getpid();

	print_message("# SEED=%u\n", seed);
	SH("random", "git init -q .");
	r = open_repo("random");
	OK(ga_repo_write_to_memory(r, &err));
	for (int round = 0; round < 300; round++) {
		cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
		BUF(old);
		BUF(new);
		ERR(err);
		cleanup_free bool *undo = NULL;
		struct ga_entry a, b;
		int rc;

		random_text(&old, &seed);
		vary(&old, &new, &seed);
		a = blob(r, &old);
		b = blob(r, &new);
		rc = ga_hunks_read(r, &a, &b, &h, &err);
		EQUAL(rc, ga_oid_equal(&a.oid, &b.oid) ? 1 : 0);
		undo = ga_calloc(h.n_edits + 1, sizeof(*undo));
		expect_undo(&h, undo, &old, &new, &new);
		for (size_t i = 0; i < h.n_edits; i++)
			undo[i] = true;
		expect_undo(&h, undo, &old, &new, &old);
		if (round < 40)
			expect_one_less(r, &h, &old, &new);
	}
}

/* Each letter is a line. */
static void add_lines(struct ga_buf *out, const char *list)
{
	for (; *list; list++)
		ga_buf_addf(out, "%c\n", *list);
}

TEST(a_comparison_has_hunks_and_edits)
{
	REPOSITORY(r);
	BUF(old);
	BUF(new);
	BUF(text);
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
	struct ga_entry was, is;

	SH("parts", "git init -q .");
	r = open_repo("parts");
	add_lines(&old, "123456abcdefghijklmn");
	add_lines(&new, "o2356abcdefghijklmxN");
	ga_buf_truncate(&old, old.len - 1);
	was = blob(r, &old);
	is = blob(r, &new);
	OK(ga_hunks_read(r, &was, &is, &h, &err));
	STREQ(h.text.ptr, "@@ -1,7 +1,6 @@\n-1\n+o\n 2\n 3\n-4\n 5\n 6\n a\n"
			  "@@ -17,4 +16,5 @@ j\n k\n l\n m\n-n\n\\ No newline at end of file\n+x\n+N\n");
	EQUAL(h.n, 2);
	EQUAL(h.n_edits, 3);
	EQUAL(h.v[0].n, 2);
	EQUAL(h.v[1].first, 2);
	EQUAL(h.edits[1].old_at, 3);
	EQUAL(h.edits[1].new_n, 0);
	EQUAL(h.edits[2].old_at, 19);
	EQUAL(h.edits[2].new_n, 2);
	ga_hunks_edit_text(&h, &h.v[0], 1, &text);
	STREQ(text.ptr, "@@ -2,6 +2,5 @@\n 2\n 3\n-4\n 5\n 6\n a\n");
	ga_buf_clear(&text);
	ga_hunks_edit_text(&h, &h.v[0], 0, &text);
	STREQ(text.ptr, "@@ -1,3 +1,3 @@\n-1\n+o\n 2\n 3\n");
}

TEST(edits_of_another_text_are_refused)
{
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
	BUF(a);
	BUF(out);
	bool undo[1] = {true};

	h.edits = ga_calloc(1, sizeof(*h.edits));
	h.edits[h.n_edits++] = (struct ga_edit){ .old_at = 9, .new_at = 9, .new_n = 2 };
	ga_buf_adds(&a, "1\n2\n3");
	ga_buf_adds(&out, "kept");
	EQUAL(ga_hunks_undo(&h, undo, &a, &a, &out), -1);
	STREQ(out.ptr, "kept");
}

TEST(links_and_binaries_have_no_hunks)
{
	REPOSITORY(r);
	BUF(b);
	BUF(nul);
	ERR(err);
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
	struct ga_entry text, link, bin, exec, none = {0};

	SH("none", "git init -q .");
	r = open_repo("none");
	ga_buf_adds(&b, "a\n");
	ga_buf_add(&nul, "\0\n", 2);
	text = link = exec = blob(r, &b);
	bin = blob(r, &nul);
	link.mode = GA_MODE_LINK;
	exec.mode = GA_MODE_EXEC;
	EQUAL(ga_hunks_read(r, &text, &link, &h, &err), 1);
	EQUAL(ga_hunks_read(r, &text, &bin, &h, &err), 1);
	EQUAL(ga_hunks_read(r, &text, &exec, &h, &err), 1);
	EQUAL(ga_hunks_read(r, &none, &text, &h, &err), 0);
	EQUAL(h.n_edits, 1);
}

TEST_MAIN(scratch_setup, scratch_teardown)
