/* SPDX-License-Identifier: MIT
 *
 * A base tree that moves to another commit is what git would have made of it from nothing: the
 * files, and the index but for stat data, which is that of the files.
 */
#include "pool-support.h"

#include "repo/index-file.h"

#define COMMITS 30
#define MOVES 40

/* ---- commits at random */

/* Few names, so that files, directories, links and submodules come where another kind was; in an
 * order that a slash changes. */
static void random_path(struct ga_buf *out, unsigned *seed)
{
	static const char *const names[] = { "a", "a.b", "a-", "a0", "b", "sp ace", "\xc3\xa4", "ab" };

	for (int depth = rand_r(seed) % 4; depth >= 0; depth--)
		ga_buf_addf(out, "%s%s", names[rand_r(seed) % 8], depth ? "/" : "");
}

static void random_change(struct ga_buf *out, unsigned *seed)
{
	BUF(path);
	int kind = rand_r(seed) % 16;

	random_path(&path, seed);
	if (kind < 5)
		ga_buf_addf(out, "D \"%s\"\n", path.ptr);
	else if (kind == 5)
		ga_buf_addf(out, "M 160000 %040d \"%s\"\n", 1 + rand_r(seed) % 3, path.ptr);
	else if (kind == 6)
		ga_buf_addf(out, "M 120000 inline \"%s\"\ndata 3\n%03d\n", path.ptr, rand_r(seed) % 4);
	else
		ga_buf_addf(out, "M 100%s inline \"%s\"\ndata %d\n%.*s\n",
			    kind < 10 ? "755" : "644", path.ptr, kind % 5, kind % 5, "text");
}

static void make_random(const char *name, unsigned *seed)
{
	BUF(in);
	cleanup_free char *file = in_scratch("stream");
	FILE *f = fopen(file, "we");

	for (unsigned i = 0; i < COMMITS; i++) {
		/* a few on top of each other, or all again */
		unsigned changes = rand_r(seed) % 4 ? 1 + (unsigned)rand_r(seed) % 8 : 60;

		ga_buf_addf(&in, "commit refs/heads/c%u\nmark :%u\n"
			    "committer A <a@example.com> 1700000000 +0000\ndata 0\n", i, i + 1);
		if (i)
			ga_buf_addf(&in, "from :%u\n", i);
		for (; changes; changes--)
			random_change(&in, seed);
	}
	assert_non_null(f);
	EQUAL(fwrite(in.ptr, 1, in.len, f), in.len);
	EQUAL(fclose(f), 0);
	SH(name, "git init -q; git fast-import --quiet <../stream; git reset -q --hard c0");
}

/* ---- the index */

static void open_index(const char *path, struct ga_index *ret)
{
	ERR(err);

	if (ga_index_open(path, ret, &err))
		fail_msg("%s: %s", path, err.msg);
}

/* As git has refreshed it; size 0 says that git is to compare it. */
static void assert_stat(int tree, const struct ga_index_entry *e)
{
	struct stat st;

	if (e->mode == GA_MODE_GITLINK)
		return;
	EQUAL(fstatat(tree, e->path, &st, AT_SYMLINK_NOFOLLOW), 0);
	EQUAL(e->mtime, st.st_mtim.tv_sec);
	EQUAL(e->mtime_ns, st.st_mtim.tv_nsec);
	if (e->size)
		EQUAL(e->size, st.st_size);
	else if (st.st_size)
		assert_true(st.st_mtim.tv_sec >= time(NULL) - 60);
}

/* Entry for entry what git reads from the commit, and what it notes of directories. */
static void assert_index(const char *name, const char *rev, const struct ga_base *b)
{
	ERR(err);
	cleanup_free char *path = ga_strf("%s/index", b->git), *own = in_scratch("fresh.index");
	cleanup_index struct ga_index x = GA_INDEX_INIT, y = GA_INDEX_INIT;
	cleanup_close int tree = open(b->tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const unsigned char *p, *q;
	struct ga_index_entry e, f;
	size_t n, k;

	SH(name, "rm -f ../fresh.index; GIT_INDEX_FILE=$PWD/../fresh.index git read-tree '%s'", rev);
	open_index(path, &x);
	open_index(own, &y);
	EQUAL(x.n, y.n);
	for (uint32_t i = 0; i < x.n; i++) {
		EQUAL(ga_index_next(&x, &e, &err), 0);
		EQUAL(ga_index_next(&y, &f, &err), 0);
		STREQ(e.path, f.path);
		EQUAL(e.mode, f.mode);
		assert_true(ga_oid_equal(&e.oid, &f.oid));
		EQUAL(e.stage, 0);
		assert_stat(tree, &e);
	}
	EQUAL(ga_index_next(&x, &e, &err), 1);
	EQUAL(ga_index_next(&y, &f, &err), 1);
	p = ga_index_extension(&x, "TREE", &n);
	q = ga_index_extension(&y, "TREE", &k);
	assert_non_null(p);
	assert_non_null(q);
	EQUAL(n, k);
	assert_memory_equal(p, q, n);
}

/* How git was run since the last time, other commands than these aside. */
static void assert_git(const char *want)
{
	cleanup_free char *out = sh(".", "grep -o -e 'git checkout' -e 'read-tree --reset' trace || :;: >trace");

	STREQ(out, want);
}

static void trace(bool on)
{
	cleanup_free char *file = in_scratch("trace");

	EQUAL(on ? setenv("GIT_TRACE", file, 1) : unsetenv("GIT_TRACE"), 0);
}

static void acquire_traced(const char *name, const char *rev, struct ga_base *b)
{
	trace(true);
	acquire(name, rev, b);
	trace(false);
}

TEST(a_base_moves_from_any_commit_to_any_other)
{
	const char *env = getenv("SEED");
	unsigned seed = env ? (unsigned)strtoul(env, NULL, 10) : (unsigned)getpid();

	(void)printf("# SEED=%u\n", seed);
	make_random("random", &seed);
	for (unsigned i = 0; i < MOVES; i++) {
		/* mostly to one that is near */
		unsigned to = i % 3 ? i * COMMITS / MOVES : (unsigned)rand_r(&seed) % COMMITS;
		cleanup_free char *rev = ga_strf("c%u", to), *git = NULL;
		cleanup_base struct ga_base b = GA_BASE_INIT;

		/* the user's may be at any */
		if (!(rand_r(&seed) % 4))
			SH("random", "git clean -qfdx; git reset -q --hard c%d", rand_r(&seed) % COMMITS);
		acquire_traced("random", rev, &b);
		assert_checkout("random", rev, &b);
		assert_template("random", rev, &b);
		assert_index("random", rev, &b);
		git = sh(".", "grep -c -e 'read-tree --reset' trace || :; : >trace");
		STREQ(git, i ? "0" : "1");
	}
}

/* ---- what git alone can tell */

static void move_to(const char *name, const char *rev, const char *git)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;

	acquire_traced(name, rev, &b);
	assert_checkout(name, rev, &b);
	assert_template(name, rev, &b);
	assert_git(git);
}

#define TWO_COMMITS \
	"git add -A; git commit -qm 1; git tag one; echo new >d/f; echo n >d/n; git add -A;" \
	"git commit -qm 2; git tag two"

/* A filter has been over the attributes themselves: what git reads from the tree is not what it
 * reads from a commit. */
TEST(attributes_that_a_filter_changes_need_a_whole_checkout)
{
	SH("odd", "git init -q; git config filter.odd.smudge 'sed s/crlf/lf/';"
		  "git config filter.odd.clean 'sed s/=lf/=crlf/'; mkdir d; echo 1 >d/f;"
		  "printf '* text eol=crlf\\n.gitattributes filter=odd\\n' >.gitattributes;" TWO_COMMITS);
	move_to("odd", "one", "read-tree --reset");
	move_to("odd", "two", "read-tree --reset");
}

TEST(attributes_hold_after_a_move)
{
	SH("attr", "git init -q; git config filter.up.smudge 'tr a-z A-Z';"
		   "git config filter.up.clean 'tr A-Z a-z'; mkdir -p d/e; echo 1 >d/f;"
		   "echo '[fn] text eol=crlf' >.gitattributes; echo 'up* filter=up' >d/e/.gitattributes;"
		   TWO_COMMITS "; echo more >d/e/up; git add .; git commit -qm 3; git tag three;"
		   "git rm -q d/e/.gitattributes; git commit -qm 4; git tag four");
	move_to("attr", "one", "read-tree --reset");
	move_to("attr", "two", "git checkout");
	move_to("attr", "three", "git checkout");
	move_to("attr", "four", "read-tree --reset");
}

/* A file that git would take for unchanged by its stat data: empty, of the first second of all. */
TEST(a_file_of_the_first_second_is_updated)
{
	SH("epoch", "git init -q; mkdir d; : >d/f; " TWO_COMMITS "; git reset -q --hard one;touch -d @0 d/f");
	move_to("epoch", "one", "read-tree --reset");
	move_to("epoch", "two", "git checkout");
}

TEST(a_name_that_git_refuses_is_not_checked_out)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;
	cleanup_free char *inside = NULL;

	SH("bad", "git init -q; mkdir d; echo 1 >d/f;" TWO_COMMITS ";blob=$(git rev-parse one:d/f); "
		  "sub=$(printf '100644 blob %%s\\tconfig\\n' $blob | git mktree);"
		  "tree=$(printf '040000 tree %%s\\t.git\\n040000 tree %%s\\td\\n' $sub "
		  "$(git rev-parse two:d) | git mktree);git tag bad $(git commit-tree -m bad -p two $tree)");
	move_to("bad", "one", "read-tree --reset");
	FAILS(try_acquire("bad", "bad", true, &b, &err), ".git/config");
	inside = sh("bad-state/bases", "find . -name config");
	STREQ(inside, "");
	move_to("bad", "two", "read-tree --reset");
}

TEST(a_filter_that_fails_is_told)
{
	cleanup_base struct ga_base b = GA_BASE_INIT;

	SH("fails", "git init -q; git config filter.no.smudge \"test ! -e $PWD/../no && cat\";"
		    "git config filter.no.clean cat; git config filter.no.required true; mkdir d; echo 1 >d/f;"
		    "echo '* filter=no' >.gitattributes;" TWO_COMMITS);
	move_to("fails", "one", "read-tree --reset");
	SH(".", "touch no");
	FAILS(try_acquire("fails", "two", true, &b, &err), "smudge filter no failed");
	SH(".", "rm no");
	move_to("fails", "two", "read-tree --reset");
}

TEST(a_base_moves_with_any_version_of_the_index)
{
	SH("four", "git init -q; git config index.version 4; git config feature.manyFiles true; mkdir d;"
		   "echo 1 >d/f; echo 2 >d/file;" TWO_COMMITS);
	move_to("four", "one", "read-tree --reset");
	move_to("four", "two", "git checkout");
}

/* What is missing git fetches at once where it does the whole; what is here needs no such care. */
TEST(a_partial_clone_fetches_what_is_missing)
{
	SH("full", "git init -q; git config uploadpack.allowFilter true; mkdir d; echo 1 >d/f;"
		   TWO_COMMITS "; git reset -q --hard one");
	SH(".", "git clone -q --filter=blob:none \"file://$PWD/full\" partial");
	move_to("partial", "one", "read-tree --reset");
	move_to("partial", "two", "read-tree --reset");
	move_to("partial", "one", "git checkout");
}

TEST_MAIN(scratch_setup, scratch_teardown)
