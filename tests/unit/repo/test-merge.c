/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "../objects-support.h"

static struct ga_entry blob(struct ga_repo *r, uint32_t mode, const char *text, size_t n)
{
	struct ga_entry e = { mode, { { 0 } } };

	OK(ga_blob_write(r, text, n, &e.oid, &err));
	return e;
}

/* In the tables: "" is no entry; a first character says the mode: 'f' file, 'x'
 * executable, 'l' link; "=" for an answer: cannot be separated. */
static struct ga_entry entry(struct ga_repo *r, const char *s)
{
	if (!*s)
		return (struct ga_entry){ 0 };
	return blob(r, *s == 'x' ? GA_MODE_EXEC : *s == 'l' ? GA_MODE_LINK : GA_MODE_FILE, s + 1, strlen(s + 1));
}

TEST(entries_merge_as_this_table_says)
{
	static const struct {
		const char *base, *ours, *theirs, *want;
	} cases[] = {
		{ "f1\n", "f1\n", "f2\n", "f2\n" },
		{ "f1\n", "f2\n", "f1\n", "f2\n" },
		{ "f1\n", "f2\n", "f2\n", "f2\n" },
		{ "f1\n", "", "f1\n", "" },
		{ "f1\n", "f1\n", "", "" },
		{ "", "", "f1\n", "f1\n" },
		{ "", "f1\n", "f1\n", "f1\n" },
		{ "", "f1\n", "f2\n", "=" },
		{ "", "f1\n", "x1\n", "=" },
		{ "f1\n", "", "f2\n", "=" },
		{ "f1\n", "f2\n", "f3\n", "=" },
		{ "fa\nb\nc\nd\ne\n", "fA\nb\nc\nd\ne\n", "fa\nb\nc\nd\nE\n", "fA\nb\nc\nd\nE\n" },
		{ "f1\n", "x1\n", "f2\n", "x2\n" },
		{ "x1\n", "x2\n", "f1\n", "f2\n" },
		{ "f1\n", "x1\n", "x2\n", "x2\n" },
		{ "f1\n", "l1\n", "f2\n", "=" },
		{ "l1", "l2", "l3", "=" },
		{ "l1", "l1", "f3", "f3" },
	};
	REPOSITORY(r);

	r = make_repo("m", "");
	for_index (i, cases) {
		ERR(err);
		struct ga_entry base = entry(r, cases[i].base), ours = entry(r, cases[i].ours);
		struct ga_entry theirs = entry(r, cases[i].theirs), got = { 0 };
		int rc = ga_merge_entry(r, &base, &ours, &theirs, &got, &err);

		if (!strcmp(cases[i].want, "=")) {
			if (rc != 1)
				fail_msg("case %zu: %d", i, rc);
		} else {
			struct ga_entry want = entry(r, cases[i].want);

			if (rc || !ga_entry_equal(&got, &want))
				fail_msg("case %zu: %d %o %s", i, rc, got.mode, GA_HEX(&got.oid));
		}
	}
}

TEST(binary_and_huge_files_conflict)
{
	REPOSITORY(r);
	ERR(err);
	BUF(big);
	struct ga_entry base, ours, theirs, got;

	r = make_repo("bin", "");
	base = blob(r, GA_MODE_FILE, "a\nb\nc\nd\n\0", 9);
	ours = blob(r, GA_MODE_FILE, "A\nb\nc\nd\n\0", 9);
	theirs = blob(r, GA_MODE_FILE, "a\nb\nc\nD\n\0", 9);
	EQUAL(ga_merge_entry(r, &base, &ours, &theirs, &got, &err), 1);
	while (big.len <= (size_t)32 << 20)
		ga_buf_adds(&big, "0123456789abcdef0123456789abcdef0123456789abcdef\n");
	base = blob(r, GA_MODE_FILE, "a\nb\nc\nd\n", 8);
	theirs = blob(r, GA_MODE_FILE, "a\nb\nc\nD\n", 8);
	ours = blob(r, GA_MODE_FILE, big.ptr, big.len);
	EQUAL(ga_merge_entry(r, &base, &ours, &theirs, &got, &err), 1);
}

/* `n` lines that only 'o' has changed, and one behind them that only 't' has. */
static struct ga_entry many(struct ga_repo *r, size_t n, char side)
{
	BUF(b);

	for (size_t i = 0; i < n; i++)
		ga_buf_adds(&b, side == 'o' ? "o\n" : "b\n");
	ga_buf_adds(&b, side == 't' ? "same\ntheirs\n" : "same\nlast\n");
	return blob(r, GA_MODE_FILE, b.ptr, b.len);
}

TEST(very_long_files_are_not_compared)
{
	static const struct {
		size_t n;
		char ours, theirs;
		int rc, in;
	} cases[] = {
		{ 500001, 'o', 't', 0, 0 },
		{ 500002, 'o', 't', 1, 0 },
		{ 500002, 't', 'o', 1, 0 },
		{ 500002, 'o', 'b', 0, 1 },
	};
	REPOSITORY(r);

	r = make_repo("much", "");
	for_index (i, cases) {
		struct ga_entry base = many(r, cases[i].n, 'b'), got = { 0 };
		struct ga_entry ours = many(r, cases[i].n, cases[i].ours);
		struct ga_entry theirs = many(r, cases[i].n, cases[i].theirs);
		ERR(err);

		if (ga_merge_entry(r, &base, &ours, &theirs, &got, &err) != cases[i].rc ||
		    ga_merge_is_in(r, &base, &ours, &theirs, &err) != cases[i].in)
			fail_msg("case %zu: %s", i, err.msg ? err.msg : "");
	}
}

TEST(attributes_choose_no_merge_driver)
{
	REPOSITORY(r);
	struct ga_entry base, ours, theirs, got, want;

	r = make_repo("attr", "echo '* merge=evil -text binary' >.gitattributes;"
			      "git config merge.evil.driver 'touch ran'; git add .; git commit -qm x");
	base = entry(r, "fa\nb\nc\nd\n");
	ours = entry(r, "fA\nb\nc\nd\n");
	theirs = entry(r, "fa\nb\nc\nD\n");
	want = entry(r, "fA\nb\nc\nD\n");
	OK(ga_merge_entry(r, &base, &ours, &theirs, &got, &err));
	assert_true(ga_entry_equal(&got, &want));
	SH("attr", "test ! -e ran");
}

TEST(ancestry_is_known_also_in_a_shallow_clone)
{
	cleanup_repo struct ga_repo *r = NULL, *shallow = NULL;
	cleanup_free struct ga_oid *list = NULL, *in_shallow = NULL;
	struct ga_oid c[4], side, tip, edge;
	size_t n;

	SH("h", "git init -q; for i in 0 1 2 3; do git commit -q --allow-empty -m $i; done;"
		"git checkout -q -b side HEAD~2; git commit -q --allow-empty -m side;"
		"git checkout -q main; git merge -q --no-ff -m merge side;"
		"git clone -q --depth 2 \"file://$PWD\" shallow");
	for (int i = 0; i < 4; i++)
		c[i] = OID("h", "git rev-parse 'HEAD^1~%d'", 3 - i);
	side = OID("h", "git rev-parse side");
	tip = OID("h", "git rev-parse main");
	r = open_repo("h");
	{
		ERR(err);

		EQUAL(ga_is_ancestor(r, &c[0], &tip, &err), 1);
		EQUAL(ga_is_ancestor(r, &tip, &tip, &err), 1);
		EQUAL(ga_is_ancestor(r, &tip, &c[0], &err), 0);
		EQUAL(ga_is_ancestor(r, &c[2], &side, &err), 0);
	}
	OK(ga_rev_list(r, &tip, 1, &c[1], 1, 10, &list, &n, &err));
	EQUAL(n, 4);
	assert_true(ga_oid_equal(&list[3], &tip));
	FAILS(ga_rev_list(r, &tip, 1, &c[1], 1, 3, &list, &n, &err), "more than 3 commits");
	memset(&edge, 3, sizeof(edge));
	FAILS(ga_rev_list(r, &edge, 1, NULL, 0, 3, &list, &n, &err), "git rev-list failed");
	FAILS(ga_is_ancestor(r, &edge, &tip, &err), "cannot tell");
	/* the edge of a shallow clone is a beginning, not an error */
	shallow = open_repo("h/shallow");
	assert_true(ga_repo_info(shallow)->shallow);
	OK(ga_rev_list(shallow, &tip, 1, NULL, 0, 10, &in_shallow, &n, &err));
	EQUAL(n, 3);
	{
		ERR(err);

		EQUAL(ga_is_ancestor(shallow, &c[3], &side, &err), 0);
	}
}

TEST(commits_are_listed_as_git_does)
{
	static const struct {
		const char *tip, *hide;
	} cases[] = {
		{ "HEAD", "HEAD" },         { "HEAD", "HEAD~1" }, { "HEAD", "HEAD~5" },
		{ "HEAD", "HEAD~200" },     { "HEAD", "HEAD~256" }, { "HEAD", "HEAD~257" },
		{ "HEAD", "first" },        { "merged", "first" }, { "merged", "side" },
		{ "merged~1", "side" },     { "first", "HEAD" },  { "side", "HEAD" },
		{ "HEAD", "side" },
	};
	REPOSITORY(r);

	r = make_repo("l", "git commit -q --allow-empty -m first; git tag first; i=0;"
			   "while [ $i -lt 300 ]; do echo \"commit refs/heads/main\ncommitter c <c> $i +0000\n"
			   "data 1\nx\"; test $i != 0 || echo from refs/heads/main^0; i=$((i + 1)); done |"
			   "git fast-import --quiet --force; git branch side first; git switch -q side;"
			   "git commit -q --allow-empty -m s; git switch -qc merged main; git merge -q -m m side;"
			   "git commit -q --allow-empty -m after; git switch -q main");
	for_each (row, cases) {
		struct ga_oid tip = OID("l", "git rev-parse %s^0", row->tip);
		struct ga_oid hide = OID("l", "git rev-parse %s^0", row->hide);
		cleanup_free char *want = sh("l", "git rev-list --topo-order --reverse %s ^%s", row->tip, row->hide);
		cleanup_free struct ga_oid *list = NULL;
		BUF(got);
		size_t n;

		OK(ga_rev_list(r, &tip, 1, &hide, 1, 1000, &list, &n, &err));
		for (size_t k = 0; k < n; k++)
			ga_buf_addf(&got, "%s\n", GA_HEX(&list[k]));
		ga_buf_chomp(&got);
		STREQ(got.ptr, want);
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
