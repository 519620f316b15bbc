/* SPDX-License-Identifier: MIT */
#include "objects-support.h"

#include "ga/hunk.h"

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

TEST(a_diff_is_parsed_into_hunks_and_edits)
{
	BUF(text);
	struct ga_hunks h = GA_HUNKS_INIT;

	ga_buf_adds(&h.text, "@@ -1,6 +1,6 @@\n-1\n+one\n 2\n 3\n-4\n 5\n+more\n 6\n"
			     "@@ -20,2 +20,3 @@ f()\n 20\n+x\n-21\n\\ No newline at end of file\n+21\n");
	EQUAL(ga_hunks_parse(&h), 0);
	EQUAL(h.n, 2);
	EQUAL(h.n_edits, 4);
	EQUAL(h.v[0].n, 3);
	EQUAL(h.v[1].first, 3);
	EQUAL(h.edits[1].old_at, 3);
	EQUAL(h.edits[1].new_n, 0);
	EQUAL(h.edits[2].new_at, 4);
	EQUAL(h.edits[3].old_at, 20);
	ga_hunks_edit_text(&h, &h.v[0], 1, &text);
	STREQ(text.ptr, "@@ -2,4 +2,3 @@\n 2\n 3\n-4\n 5\n");
	ga_buf_clear(&text);
	ga_hunks_edit_text(&h, &h.v[0], 0, &text);
	STREQ(text.ptr, "@@ -1,3 +1,3 @@\n-1\n+one\n 2\n 3\n");
	ga_buf_clear(&text);
	ga_hunks_edit_text(&h, &h.v[1], 3, &text);
	STREQ(text.ptr, "@@ -20,2 +20,3 @@\n 20\n+x\n-21\n\\ No newline at end of file\n+21\n");
	ga_hunks_release(&h);
}

TEST(what_is_no_diff_is_refused)
{
	static const char *const bad[] = {
		"x\n", " a\n", "+a\n", "@@\n", "@@ -1 +1\n", "@@ -a,1 +1 @@\n", "@@ -0,1 +1 @@\n",
		"@@ -1,1 +1,1 @@\n?\n", "@@ -99999999999999999999999,1 +1 @@\n", "\\ No newline\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;

		ga_buf_adds(&h.text, bad[i]);
		if (!ga_hunks_parse(&h))
			fail_msg("taken: '%s'", bad[i]);
	}
}

TEST(edits_of_another_text_are_refused)
{
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
	BUF(a);
	BUF(out);
	bool undo[1] = {true};

	ga_buf_adds(&h.text, "@@ -9,0 +10,2 @@\n+x\n+y\n");
	EQUAL(ga_hunks_parse(&h), 0);
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
