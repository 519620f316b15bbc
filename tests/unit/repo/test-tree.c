/* SPDX-License-Identifier: MIT */
#include "../objects-support.h"

static void add(struct ga_changes *c, const char *path, uint32_t mode, const struct ga_oid *oid)
{
	struct ga_entry none = { 0 }, e = { mode, mode ? *oid : (struct ga_oid){ { 0 } } };

	(void)ga_changes_add(c, path, &none, &e);
}

/* What `git diff-tree` prints, from our list. */
static char *as_raw(const struct ga_changes *c)
{
	BUF(b);

	for (size_t i = 0; i < c->n; i++) {
		const struct ga_change *v = &c->v[i];
		char kind = !v->old.mode ? 'A' : !v->new.mode ? 'D' : (v->old.mode ^ v->new.mode) & 0170000 ? 'T' : 'M';

		ga_buf_addf(&b, ":%06o %06o %s %s %c\t%s\n", v->old.mode, v->new.mode,
			    GA_HEX(&v->old.oid), GA_HEX(&v->new.oid), kind, v->path);
	}
	ga_buf_chomp(&b);
	return ga_buf_steal(&b);
}

static char *diff_tree(const struct ga_oid *a, const struct ga_oid *b)
{
	return sh("r", "git diff-tree -r -z --no-renames --raw --no-abbrev %s %s | tr '\\0' '\\n' |"
		       "paste - - | LC_ALL=C sort -t'\t' -k2", GA_HEX(a), GA_HEX(b));
}

/* A tree of random content under few names, so that files and directories of
 * one name meet; names that sort around '/'. */
static struct ga_oid random_tree(unsigned n)
{
	static const char *const names[] = { "a", "a-b", "a.c", "a0", "b", "\xff\x01", "z z" };
	static const char *const modes[] = { "100644", "100755", "120000", "160000" };
	BUF(b);

	ga_buf_adds(&b, "rm -f idx; export GIT_INDEX_FILE=idx; o=$(echo x | git hash-object -w "
			"--stdin); h=$(git rev-parse HEAD); for l in");
	for (unsigned i = 0; i < n; i++) {
		const char *mode = modes[rnd(GA_NELEMS(modes))];

		ga_buf_addf(&b, " '%s %s", mode, *mode == '1' && mode[1] == '6' ? "$h" : "$o");
		for (unsigned depth = rnd(4) + 1; depth; depth--)
			ga_buf_addf(&b, "%c%s", depth ? '/' : ' ', names[rnd(GA_NELEMS(names))]);
		ga_buf_adds(&b, "'");
	}
	ga_buf_adds(&b, "; do m=${l%% *}; l=${l#* }; i=${l%%/*}; "
			"case $i in \\$o) i=$o;; *) i=$h;; esac; "
			"git update-index --replace --add --cacheinfo $m,$i,\"${l#*/}\"; done;"
			"git write-tree");
	return OID("r", "%s", b.ptr);
}

TEST(diff_and_apply_agree_with_git)
{
	REPOSITORY(r);

	r = make_repo("r", "git commit -q --allow-empty -m x");
	rnd_seed();
	for (int round = 0; round < 12; round++) {
		CHANGES(c);
		CHANGES(none);
		struct ga_oid a = random_tree(rnd(12) + 1), b = random_tree(rnd(12) + 1), got;
		cleanup_free char *want = diff_tree(&a, &b), *have = NULL;

		OK(ga_tree_diff(r, &a, &b, &c, &err));
		have = as_raw(&c);
		STREQ(have, want);
		OK(ga_tree_apply(r, NULL, &a, &c, &got, &err));
		STREQ(GA_HEX(&got), GA_HEX(&b));
		OK(ga_tree_list(r, &b, 1000, &none, &err));
		OK(ga_tree_apply(r, NULL, NULL, &none, &got, &err));
		STREQ(GA_HEX(&got), GA_HEX(&b));
	}
}

TEST(an_entry_is_found_by_its_path)
{
	REPOSITORY(r);
	struct ga_oid tree, blob;
	struct ga_entry e;

	r = make_repo("e", "mkdir -p a/b; echo x >a/b/c; ln -s x a/l; chmod +x a/b/c; git add .;git commit -qm x");
	tree = OID("e", "git rev-parse HEAD^{tree}");
	blob = OID("e", "git rev-parse HEAD:a/b/c");
	OK(ga_tree_entry(r, &tree, "a/b/c", &e, &err));
	EQUAL(e.mode, GA_MODE_EXEC);
	assert_true(ga_oid_equal(&e.oid, &blob));
	OK(ga_tree_entry(r, &tree, "a/b", &e, &err));
	EQUAL(e.mode, GA_MODE_TREE);
	OK(ga_tree_entry(r, &tree, "a/l", &e, &err));
	EQUAL(e.mode, GA_MODE_LINK);
	OK(ga_tree_entry(r, &tree, "a/b/c/d", &e, &err));
	EQUAL(e.mode, GA_MODE_NONE);
	OK(ga_tree_entry(r, &tree, "nope/x", &e, &err));
	EQUAL(e.mode, GA_MODE_NONE);
	FAILS(ga_tree_entry(r, &blob, "a", &e, &err), "is a blob, not a tree");
	{
		CHANGES(c);

		FAILS(ga_tree_list(r, &tree, 1, &c, &err), "more than 1 entries");
	}
}

TEST(a_path_that_git_cannot_hold_is_refused)
{
	static const char *const bad[] = { ".git/x", "a/.GIT", "a//b", "../x", "a/./b", "/a", "a/",
					   "git~1", ".git ", "a/.g\xe2\x80\x8cit/b" };
	REPOSITORY(r);
	struct ga_oid blob, tree;

	r = make_repo("f", "");
	blob = OID("f", "echo x | git hash-object -w --stdin");
	for_each (row, bad) {
		CHANGES(c);

		add(&c, *row, GA_MODE_FILE, &blob);
		FAILS(ga_tree_apply(r, NULL, NULL, &c, &tree, &err), "git cannot hold");
	}
	{
		CHANGES(c);

		add(&c, "a", GA_MODE_FILE, &blob);
		add(&c, "a/b", GA_MODE_FILE, &blob);
		FAILS(ga_tree_apply(r, NULL, NULL, &c, &tree, &err), "a file and a directory");
	}
	{
		CHANGES(c);

		add(&c, "a", 0100600, &blob);
		FAILS(ga_tree_apply(r, NULL, NULL, &c, &tree, &err), "git cannot hold");
	}
}

TEST(trees_of_1024_levels_are_written_and_listed)
{
	REPOSITORY(r);
	BUF(path);
	struct ga_oid blob, tree;

	r = make_repo("deep", "");
	blob = OID("deep", "echo x | git hash-object -w --stdin");
	for (int i = 0; i < 1023; i++)
		ga_buf_adds(&path, "d/");
	ga_buf_adds(&path, "f");
	{
		CHANGES(c);
		CHANGES(l);

		add(&c, path.ptr, GA_MODE_FILE, &blob);
		OK(ga_tree_apply(r, NULL, NULL, &c, &tree, &err));
		OK(ga_tree_list(r, &tree, 10, &l, &err));
		EQUAL(l.n, 1);
		STREQ(l.v[0].path, path.ptr);
	}
	/* written or deleted */
	for (int written = 0; written < 2; written++) {
		CHANGES(c);
		cleanup_free char *deeper = ga_strf("d/d/%s", path.ptr);

		add(&c, deeper, written ? GA_MODE_FILE : GA_MODE_NONE, &blob);
		FAILS(ga_tree_apply(r, NULL, NULL, &c, &tree, &err), "git cannot hold");
	}
	{
		CHANGES(c);

		tree = OID("deep", "t=%s; for i in 1 2 3; do t=$(printf '040000 tree %%s\td\\n' "
			   "$t | git mktree); done; echo $t", GA_HEX(&tree));
		FAILS(ga_tree_list(r, &tree, 10, &c, &err), "nested more than 1024 deep");
	}
}

/* Old modes and unordered bytes: what is not touched stays as it is. */
TEST(untouched_entries_keep_their_bytes)
{
	REPOSITORY(r);
	CHANGES(c);
	CHANGES(l);
	cleanup_free char *got = NULL;
	struct ga_oid blob, tree, made;

	r = make_repo("old", "");
	blob = OID("old", "echo x | git hash-object -w --stdin");
	tree = OID("old", "printf '100664 old\\0' >t; printf %s | perl -ne 'print pack(q(H*), $_)' >>t;"
			  "git hash-object --literally -w -t tree t", GA_HEX(&blob));
	OK(ga_tree_list(r, &tree, 10, &l, &err));
	EQUAL(l.v[0].new.mode, GA_MODE_FILE);
	add(&c, "new", GA_MODE_FILE, &blob);
	OK(ga_tree_apply(r, NULL, &tree, &c, &made, &err));
	got = sh("old", "git cat-file tree %s | tr -d '\\0' | grep -ac '^100644 new.*100664 old'", GA_HEX(&made));
	STREQ(got, "1");
}

/* More large trees than are kept, each asked for all of its names: as one that sorts "x" as a file,
 * as one that sorts it as a directory, and as one that nobody has sorted. */
enum { TREES = 12, NAMES = 300 };

static const char *name_of(unsigned i)
{
	static const char *const odd[] = { "x", "x.c", "x0", "x-", "y", "link" };
	static char name[16];

	if (i < GA_NELEMS(odd))
		return odd[i];
	(void)snprintf(name, sizeof(name), "f%03u", i);
	return name;
}

static uint32_t mode_of(unsigned tree, unsigned i)
{
	if (i == 0)
		return tree % 2 ? GA_MODE_TREE : GA_MODE_FILE;
	return i == 5 ? GA_MODE_LINK : GA_MODE_EXEC;
}

static struct ga_oid large_tree(unsigned tree, const struct ga_oid *blob, const struct ga_oid *sub)
{
	BUF(b);
	cleanup_free char *path = in_scratch("large/in");
	FILE *f;

	if (tree % 3 == 2) {
		for (unsigned i = 0; i < NAMES; i++) {
			ga_buf_addf(&b, "%o %s", mode_of(tree, i), name_of(i));
			ga_buf_addch(&b, '\0');
			ga_buf_add(&b, mode_of(tree, i) == GA_MODE_TREE ? sub->id : blob[tree].id, GA_OID_RAWSZ);
		}
		f = fopen(path, "w");
		assert_non_null(f);
		EQUAL(fwrite(b.ptr, 1, b.len, f), b.len);
		EQUAL(fclose(f), 0);
		return OID("large", "git hash-object --literally -w -t tree in");
	}
	for (unsigned i = 0; i < NAMES; i++)
		ga_buf_addf(&b, "%06o %s %s\t%s\n", mode_of(tree, i),
			    mode_of(tree, i) == GA_MODE_TREE ? "tree" : "blob",
			    GA_HEX(mode_of(tree, i) == GA_MODE_TREE ? sub : &blob[tree]), name_of(i));
	return OID("large", "git mktree <<'EOF'\n%sEOF", b.ptr);
}

TEST(large_trees_are_searched)
{
	static const char *const nowhere[] = { "f", "f1", "x.", "x/y", "y/in", "z", "0", "f299/in" };
	struct ga_oid blob[TREES], tree[TREES], sub;
	REPOSITORY(r);
	struct ga_entry e;

	r = make_repo("large", "");
	for (unsigned t = 0; t < TREES; t++)
		blob[t] = OID("large", "echo %u | git hash-object -w --stdin", t);
	sub = OID("large", "printf '100644 blob %s\tin\n' | git mktree", GA_HEX(&blob[0]));
	for (unsigned t = 0; t < TREES; t++)
		tree[t] = large_tree(t, blob, &sub);
	for (unsigned k = 0; k < 3 * NAMES * TREES; k++) {
		/* a few at a time, and then others */
		unsigned t = (k / (5 * NAMES) + k % 5) % TREES, i = k / 5 % NAMES;
		uint32_t mode = mode_of(t, i);

		OK(ga_tree_entry(r, &tree[t], name_of(i), &e, &err));
		EQUAL(e.mode, mode);
		assert_true(ga_oid_equal(&e.oid, mode == GA_MODE_TREE ? &sub : &blob[t]));
		OK(ga_tree_entry(r, &tree[t], nowhere[k % GA_NELEMS(nowhere)], &e, &err));
		EQUAL(e.mode, GA_MODE_NONE);
		OK(ga_tree_entry(r, &tree[t], "x/in", &e, &err));
		EQUAL(e.mode, t % 2 ? GA_MODE_FILE : GA_MODE_NONE);
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
