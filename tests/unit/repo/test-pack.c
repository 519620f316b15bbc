/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "../objects-support.h"

/* A file of `n` bytes that deflate to about the half. */
static int make_file(const char *path, size_t n)
{
	cleanup_free char *buf = ga_malloc(n + 1), *full = in_scratch(path);
	int fd = open(full, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	for (size_t i = 0; i < n; i++)
		buf[i] = (char)(rnd(16) + 'a');
	assert_true(fd >= 0);
	EQUAL(ga_write_full(fd, buf, n), 0);
	EQUAL(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void assert_no_leftovers(const char *dir)
{
	cleanup_free char *out = sh(dir, "find .git/objects -name 'tmp_*'");

	STREQ(out, "");
}

TEST(an_empty_or_abandoned_pack_writes_nothing)
{
	REPOSITORY(r);
	struct ga_oid oid;
	struct ga_pack *p;
	char *keep = NULL;

	r = make_repo("empty", "");
	OK(ga_pack_begin(r, &p, &err));
	OK(ga_pack_commit(p, &keep, &err));
	assert_null(keep);
	OK(ga_pack_begin(r, &p, &err));
	for (int i = 0; i < 100; i++)
		OK(ga_pack_add_blob(p, &i, sizeof(i), &oid, &err));
	ga_pack_free(p);
	ga_pack_free(NULL);
	SH("empty", "test -z \"$(find .git/objects -type f)\"");
	assert_no_leftovers("empty");
}

TEST(each_new_object_is_in_the_pack_once)
{
	REPOSITORY(r);
	cleanup_free char *keep = NULL, *out = NULL, *dir = in_scratch("many/.git/objects/pack/");
	BUF(back);
	struct ga_oid oid, known;
	struct ga_pack *p;

	SH("many", "git init -q; echo known >f; git add f; git commit -qm x; git repack -adq");
	known = OID("many", "git rev-parse HEAD:f");
	r = open_repo("many");
	OK(ga_pack_begin(r, &p, &err));
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 300; i++) {
			cleanup_free char *s = ga_strf("number %d\n", i);

			OK(ga_pack_add_blob(p, s, strlen(s), &oid, &err));
		}
	OK(ga_pack_add_blob(p, "known\n", 6, &oid, &err));
	assert_true(ga_oid_equal(&oid, &known));
	OK(ga_pack_add_blob(p, "", 0, &oid, &err));
	OK(ga_pack_commit(p, &keep, &err));
	assert_non_null(keep);
	assert_memory_equal(keep, dir, strlen(dir));
	/* each object once, and not what was there */
	out = sh("many", "test -f '%s'; i=${k%%.keep}; set -- '%s'; "
			 "git verify-pack -v \"${1%%.keep}.idx\" | grep -c ' blob '", keep, keep);
	STREQ(out, "301");
	OK(ga_blob_read(r, &oid, 10, &back, &err));
	EQUAL(back.len, 0);
	SH("many", "git fsck --strict; git repack -adq; git cat-file -e %s", GA_HEX(&oid));
	assert_no_leftovers("many");
}

/* `n` blobs, a tree of them, and a commit, through `p` or one by one. */
static void write_some(struct ga_repo *r, struct ga_pack *p, int n, struct ga_oid *ret_commit)
{
	CHANGES(c);
	struct ga_entry none = { 0 }, e = { GA_MODE_FILE, { { 0 } } };
	struct ga_commit cm = { .author = (char[]){ "A <a@b> 1 +0000" },
				.committer = (char[]){ "C <c@d> 2 +0100" },
				.message = (char[]){ "m\n" } };

	if (!rnd_state)
		rnd_seed();
	for (int i = 0; i < n; i++) {
		cleanup_free char *name = ga_strf("d%d/f%d", i % 7, i);
		cleanup_free char *s = ga_malloc(5000);
		size_t len = 100 + rnd(4900);

		for (size_t k = 0; k < len; k++)
			s[k] = (char)rnd(i % 2 ? 256 : 4);
		if (p)
			OK(ga_pack_add_blob(p, s, len, &e.oid, &err));
		else
			OK(ga_blob_write(r, s, len, &e.oid, &err));
		(void)ga_changes_add(&c, name, &none, &e);
	}
	ga_changes_sort(&c);
	OK(ga_tree_apply(r, p, NULL, &c, &cm.tree, &err));
	if (p)
		OK(ga_pack_add_commit(p, &cm, ret_commit, &err));
	else
		OK(ga_commit_write(r, &cm, ret_commit, &err));
}

TEST(a_batch_is_one_pack)
{
	STRV(keeps);
	REPOSITORY(r);
	cleanup_free char *out = NULL;
	struct ga_oid one, two, tree;
	struct ga_pack *p;
	char *keep = NULL;

	r = make_repo("batch", "echo known >f; git add f; git commit -qm x");
	OK(ga_batch_commit(r, &keeps, &err));
	OK(ga_batch_begin(r, &err));
	OK(ga_pack_begin(r, &p, &err));
	write_some(r, p, 40, &one);
	OK(ga_pack_commit(p, &keep, &err));
	assert_null(keep);
	write_some(r, NULL, 30, &two);
	OK(ga_blob_write(r, "known\n", 6, &tree, &err));
	/* here and nowhere else yet */
	OK(ga_commit_tree(r, &one, &tree, &err));
	OK(ga_commit_tree(r, &two, &tree, &err));
	SH("batch", "! git cat-file -e %s; test -z \"$(ls .git/objects/pack)\"", GA_HEX(&one));
	OK(ga_batch_commit(r, &keeps, &err));
	EQUAL(keeps.n, 1);
	SH("batch", "test -f '%s'; git verify-pack .git/objects/pack/*.idx;"
		    "git fsck --strict --no-dangling; git cat-file -e %s^{tree}; git ls-tree -r %s",
	   keeps.v[0], GA_HEX(&one), GA_HEX(&two));
	out = sh("batch", "git verify-pack -v .git/objects/pack/*.idx | grep -c ' blob ';"
			  "git update-ref refs/heads/one %s; git update-ref refs/heads/two %s;"
			  "rm .git/objects/pack/*.keep; git repack -adq; git fsck --strict",
		 GA_HEX(&one), GA_HEX(&two));
	STREQ(out, "70");
	assert_no_leftovers("batch");
	/* and after it, as before it */
	OK(ga_blob_write(r, "later\n", 6, &tree, &err));
	SH("batch", "git cat-file -e %s", GA_HEX(&tree));
}

/* Trees are stored in blocks of 65535 bytes, and what is larger than a small window is deflated
 * with another. */
TEST(large_trees_and_blobs_fit_into_a_batch)
{
	STRV(keeps);
	REPOSITORY(r);
	cleanup_free char *text = ga_calloc(1, 70000);
	struct ga_oid blob, tree;

	r = make_repo("large", "");
	OK(ga_batch_begin(r, &err));
	for (size_t n = 1; n <= 70000; n += 2999)
		OK(ga_blob_write(r, text, n, &blob, &err));
	/* 32 bytes an entry, once one less: one of just a block, what is around it, and two blocks */
	for (size_t n = 2047; n < 4231; n += n == 2049 ? 2181 : 1) {
		CHANGES(c);
		struct ga_entry none = { 0 }, e = { GA_MODE_FILE, blob };

		for (size_t i = 0; i < n; i++) {
			cleanup_free char *name = ga_strf("%0*zu", n == 2048 && !i ? 3 : 4, i);

			(void)ga_changes_add(&c, name, &none, &e);
		}
		ga_changes_sort(&c);
		OK(ga_tree_apply(r, NULL, NULL, &c, &tree, &err));
	}
	OK(ga_batch_commit(r, &keeps, &err));
	EQUAL(keeps.n, 1);
	SH("large", "git verify-pack -v .git/objects/pack/*.idx | grep ' tree  *65535 ';"
		    "git fsck --strict --no-dangling; test \"$(git ls-tree %s | wc -l)\" = 4230",
	   GA_HEX(&tree));
}

TEST(a_repository_in_memory_writes_nothing)
{
	STRV(keeps);
	REPOSITORY(r);
	struct ga_oid one, two, tree;
	struct ga_pack *p;
	char *keep = NULL;

	r = make_repo("memory", "echo x >f; git add f; git commit -qm x; find .git/objects >before");
	OK(ga_repo_write_to_memory(r, &err));
	/* more than a batch holds, and both ways to write */
	write_some(r, NULL, 3000, &one);
	OK(ga_pack_begin(r, &p, &err));
	write_some(r, p, 3000, &two);
	OK(ga_pack_commit(p, &keep, &err));
	assert_null(keep);
	OK(ga_commit_tree(r, &one, &tree, &err));
	OK(ga_commit_tree(r, &two, &tree, &err));
	/* neither git nor an end makes it go to the disk */
	FAILS(ga_is_ancestor(r, &one, &two, &err), "cannot tell");
	OK(ga_batch_flush(r, &err));
	OK(ga_batch_commit(r, &keeps, &err));
	SH("memory", "find .git/objects | diff before -");
	/* a result that comes after it has nothing of it */
	OK(ga_batch_begin(r, &err));
	OK(ga_batch_commit(r, &keeps, &err));
	SH("memory", "find .git/objects | diff before -");
}

TEST(git_finds_what_is_in_a_batch)
{
	STRV(keeps);
	REPOSITORY(r);
	struct ga_oid one, two;

	r = make_repo("seen", "git commit -q --allow-empty -m x");
	OK(ga_batch_begin(r, &err));
	write_some(r, NULL, 40, &one);
	/* asked of git */
	FAILS(ga_is_ancestor(r, &one, &(struct ga_oid){ { 0 } }, &err), "cannot tell");
	SH("seen", "git cat-file -e %s; ls .git/objects/pack/*.keep", GA_HEX(&one));
	write_some(r, NULL, 30, &two);
	SH("seen", "! git cat-file -e %s", GA_HEX(&two));
	OK(ga_batch_commit(r, &keeps, &err));
	EQUAL(keeps.n, 2);
	SH("seen", "git cat-file -e %s; git fsck --strict", GA_HEX(&two));
	/* what has no result leaves nothing */
	OK(ga_batch_begin(r, &err));
	write_some(r, NULL, 30, &one);
	ga_batch_abandon(r);
	ga_strv_release(&keeps);
	OK(ga_batch_commit(r, &keeps, &err));
	SH("seen", "! git cat-file -e %s", GA_HEX(&one));
}

TEST(a_batch_goes_to_another_process)
{
	STRV(keeps);
	cleanup_repo struct ga_repo *a = NULL, *b = NULL;
	BUF(bytes);
	struct ga_oid oid, tree;

	a = make_repo("two", "");
	b = open_repo("two");
	OK(ga_batch_begin(a, &err));
	OK(ga_batch_begin(b, &err));
	write_some(a, NULL, 40, &oid);
	ga_batch_export(a, &bytes);
	OK(ga_batch_import(b, bytes.ptr, bytes.len, &err));
	ga_batch_abandon(a);
	OK(ga_commit_tree(b, &oid, &tree, &err));
	OK(ga_batch_commit(b, &keeps, &err));
	SH("two", "git ls-tree -r %s; git fsck --strict", GA_HEX(&oid));
	for (size_t n = 1; n < 40; n++)
		FAILS(ga_batch_import(b, bytes.ptr, n, &err), "incomplete");
	bytes.ptr[0] = 99;
	FAILS(ga_batch_import(b, bytes.ptr, bytes.len, &err), "incomplete");
}

TEST(blobs_are_read_from_files_of_the_promised_size)
{
	static const size_t sizes[] = { 0, 1, 65535, 1 << 20, (1 << 20) + 1, 1500000 };
	REPOSITORY(r);
	cleanup_free char *keep = NULL;
	struct ga_oid got[GA_NELEMS(sizes)], again;
	struct ga_pack *p;

	SH("files", "git init -q");
	rnd_seed();
	r = open_repo("files");
	OK(ga_pack_begin(r, &p, &err));
	for_index (i, sizes) {
		cleanup_free char *name = ga_strf("files/%zu", sizes[i]);
		cleanup_close int fd = make_file(name, sizes[i]);

		OK(ga_pack_add_blob_fd(p, fd, sizes[i], false, &got[i], &err));
		/* a second time: written, recognised, cut off again */
		EQUAL(lseek(fd, 0, SEEK_SET), 0);
		OK(ga_pack_add_blob_fd(p, fd, sizes[i], false, &again, &err));
		assert_true(ga_oid_equal(&got[i], &again));
		/* sizes that are not the file's */
		EQUAL(lseek(fd, 0, SEEK_SET), 0);
		FAILS(ga_pack_add_blob_fd(p, fd, sizes[i] + 1, true, &again, &err), "changed its size");
		if (sizes[i]) {
			EQUAL(lseek(fd, 0, SEEK_SET), 0);
			FAILS(ga_pack_add_blob_fd(p, fd, sizes[i] - 1, false, &again, &err), "changed its size");
		}
	}
	OK(ga_pack_commit(p, &keep, &err));
	for_index (i, sizes) {
		struct ga_oid want = OID("files", "git hash-object %zu", sizes[i]);

		STREQ(GA_HEX(&got[i]), GA_HEX(&want));
		SH("files", "git cat-file blob %s | cmp - %zu", GA_HEX(&got[i]), sizes[i]);
	}
	SH("files", "git fsck --strict; git verify-pack .git/objects/pack/*.idx;"
		    "test $(git count-objects -v | sed -n 's/^in-pack: //p') = 6");
	/* one that grows */
	OK(ga_pack_begin(r, &p, &err));
	for (size_t i = 1; i < GA_NELEMS(sizes); i++) {
		cleanup_free char *name = ga_strf("files/%zu", sizes[i]);
		cleanup_close int fd = open(name, O_RDONLY | O_CLOEXEC);

		OK(ga_pack_add_blob_fd(p, fd, sizes[i] - 1, true, &again, &err));
		SH("files", "test $(head -c %zu %zu | git hash-object --stdin) = %s", sizes[i] - 1,
		   sizes[i], GA_HEX(&again));
	}
	ga_pack_free(p);
}

/* A object the repository has only loose and old gets a new time, so that
 * `git gc` leaves it alone until it is referred to. */
TEST(reused_objects_are_freshened)
{
	REPOSITORY(r);
	struct ga_oid oid;
	struct ga_pack *p;
	char *keep = NULL;

	r = make_repo("fresh", "echo old | git hash-object -w --stdin;"
			       "find .git/objects -type f -exec touch -d '2001-01-01' {} +");
	OK(ga_pack_begin(r, &p, &err));
	OK(ga_pack_add_blob(p, "old\n", 4, &oid, &err));
	OK(ga_pack_commit(p, &keep, &err));
	SH("fresh", "git prune --expire=yesterday; git cat-file -e %s", GA_HEX(&oid));
}

TEST(blobs_have_a_limit)
{
	REPOSITORY(r);
	BUF(b);
	ERR(e);
	struct ga_oid oid, tree;

	r = make_repo("limit", "git commit -q --allow-empty -m x");
	oid = OID("limit", "printf 12345 | git hash-object -w --stdin");
	tree = OID("limit", "git rev-parse HEAD^{tree}");
	EQUAL(ga_blob_read(r, &oid, 4, &b, &e), 1);
	EQUAL(b.len, 0);
	OK(ga_blob_read(r, &oid, 5, &b, &err));
	STREQ(b.ptr, "12345");
	FAILS(ga_blob_read(r, &tree, 5, &b, &err), "is a tree, not a blob");
	memset(oid.id, 1, sizeof(oid.id));
	FAILS(ga_blob_read(r, &oid, 5, &b, &err), "cannot read object 0101");
}

TEST(commits_come_back_as_they_were)
{
	REPOSITORY(r);
	cleanup_commit struct ga_commit c = { 0 };
	struct ga_oid id, again;

	r = make_repo("commit", "git commit -q --allow-empty -m one;"
				"git checkout -q -b b; git commit -q --allow-empty -m two; git checkout -q -;"
				"git commit -q --allow-empty -m three; git merge -q --no-ff -m merge b");
	id = OID("commit", "git cat-file commit HEAD | sed '/^committer/a\\\n"
			   "encoding ISO-8859-1\\\ngpgsig -----BEGIN\\\n \\\n abc\\\n -----END' |"
			   "sed '$s/$/ \\xe4/' | git hash-object -t commit -w --stdin");
	OK(ga_commit_read(r, &id, &c, &err));
	EQUAL(c.n_parents, 2);
	STREQ(c.extra, "encoding ISO-8859-1\ngpgsig -----BEGIN\n \n abc\n -----END\n");
	STREQ(c.message, "merge \xe4\n");
	OK(ga_commit_write(r, &c, &again, &err));
	STREQ(GA_HEX(&again), GA_HEX(&id));
	OK(ga_commit_tree(r, &id, &again, &err));
	assert_true(ga_oid_equal(&again, &c.tree));
	free(c.author);
	c.author = ga_strdup("A <a@b> 1 +0000\nparent 0");
	FAILS(ga_commit_write(r, &c, &again, &err), "such headers");
}

TEST_MAIN(scratch_setup, scratch_teardown)
