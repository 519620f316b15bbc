/* SPDX-License-Identifier: MIT
 *
 * Content made to have the id of other content. Nobody has published two git objects of one id: the
 * header in front spoils the blocks that are known. So that git looks for such blocks is tried with
 * those, where git sums up bytes without a header; what happens when libgit2 finds some in an object,
 * and when there are two objects of one id, is tried with what only looks so.
 */
#include "../upper-support.h"

#include <dlfcn.h>
#include <git2.h>
#if __has_include(<git2/sys/errors.h>) /* where git_error_set_str() went later */
#include <git2/sys/errors.h>
#endif

#define MARK "collides"

/* The two blocks that Stevens and others published in 2017, behind the three that they begin with. */
static const char prefix[] = "255044462d312e330a25e2e3cfd30a0a0a312030206f626a0a3c3c2f57696474682032203020522f48656967"
	"68742033203020522f547970652034203020522f537562747970652035203020522f46696c74657220362030"
	"20522f436f6c6f7253706163652037203020522f4c656e6774682038203020522f42697473506572436f6d70"
	"6f6e656e7420383e3e0a73747265616d0affd8fffe00245348412d3120697320646561642121212121852fec"
	"092339759c39b1a1c63c4c97e1fffe01";
static const char one[] = "7f46dc93a6b67e013b029aaa1db2560b45ca67d688c7f84b8c4c791fe02b3df614f86db1690901c56b45c153"
	"0afedfb76038e972722fe7ad728f0e4904e046c230570fe9d41398abe12ef5bc942be33542a4802d98b5d70f"
	"2a332ec37fac3514e74ddc0f2cc1a874cd0c78305a21566461309789606bd0bf3f98cda8044629a1";
static const char two[] = "7346dc9166b67e118f029ab621b2560ff9ca67cca8c7f85ba84c79030c2b3de218f86db3a90901d5df45c14f"
	"26fedfb3dc38e96ac22fe7bd728f0e45bce046d23c570feb141398bb552ef5a0a82be331fea48037b8b5d71f"
	"0e332edf93ac3500eb4ddc0decc1a864790c782c76215660dd309791d06bd0af3f98cda4bc4629b1";

/* ---- what libgit2 does of a collision, for content that begins with the mark */

static int collision(void)
{
	git_error_set_str(GIT_ERROR_SHA, "SHA1 collision attack detected");
	return -1;
}

static bool marked(const void *data, size_t n)
{
	return n >= strlen(MARK) && !memcmp(data, MARK, strlen(MARK));
}

int __real_git_odb_hash(git_oid *out, const void *data, size_t n, git_object_t type);
int __wrap_git_odb_hash(git_oid *out, const void *data, size_t n, git_object_t type);
int __wrap_git_odb_hash(git_oid *out, const void *data, size_t n, git_object_t type)
{
	return marked(data, n) ? collision() : __real_git_odb_hash(out, data, n, type);
}

static bool stream_marked;

int __real_git_odb_stream_write(git_odb_stream *s, const char *data, size_t n);
int __wrap_git_odb_stream_write(git_odb_stream *s, const char *data, size_t n);
int __wrap_git_odb_stream_write(git_odb_stream *s, const char *data, size_t n)
{
	stream_marked |= marked(data, n);
	return __real_git_odb_stream_write(s, data, n);
}

/* It says nothing, but for the error that is set. */
int __real_git_odb_stream_finalize_write(git_oid *out, git_odb_stream *s);
int __wrap_git_odb_stream_finalize_write(git_oid *out, git_odb_stream *s);
int __wrap_git_odb_stream_finalize_write(git_oid *out, git_odb_stream *s)
{
	if (stream_marked)
		(void)collision();
	stream_marked = false;
	return __real_git_odb_stream_finalize_write(out, s);
}

/* ---- the blocks that are known */

/* Two files of one sum, as `name`1 and `name`2. */
static void put_pair(const struct layer *l, const char *name)
{
	const char *const ends[] = { one, two };

	for_index (i, ends)
		SH(l->dir, "printf %%s%%s %s %s | perl -ne 'print pack(q(H*), $_)' >upper/%s%zu", prefix,
		   ends[i], name, i + 1);
	SH(l->dir, "test $(sha1sum upper/%s1 upper/%s2 | cut -c 1-40 | uniq | wc -l) = 1; ! cmp -s upper/%s1 upper/%s2",
	   name, name, name, name);
}

TEST(gt05_files_with_one_sum)
{
	LAYER(l, "pair", ":");

	put_pair(&l, "f");
	assert_captured(&l, "A f1;A f2;");
	for (int i = 1; i <= 2; i++)
		SH("pair", "git -C r cat-file blob %s:f%d | cmp - upper/f%d", GA_HEX(&l.res.tree), i, i);
}

/* `git rerere` names a conflict by the sum of its sides. */
#define CONFLICT_OF(file, said) \
	SH("git", "cd r; git reset -q --hard; for i in 1 2 3; do" \
		  "	printf '100644 %%s %%s\\tf\\n' $(git rev-parse HEAD:f) $i; done >../unmerged;" \
		  "git rm -q --cached f; git update-index --index-info <../unmerged;" \
		  "mkdir -p .git/rr-cache; (echo '<<<<<<< ours'; cat ../%s;" \
		  "printf '\\n=======\\nzzz\\n>>>>>>> theirs\\n') >f;" \
		  "git rerere >../said 2>&1 || :; grep '%s' ../said", file, said)

TEST(gt05_git_looks_for_collisions)
{
	LAYER(l, "git", "echo base >f");

	put_pair(&l, "f");
	CONFLICT_OF("upper/f1", "appears to be part of a collision attack");
	CONFLICT_OF("upper/f2", "appears to be part of a collision attack");
	SH("git", "head -c 300 upper/f1 >part");
	CONFLICT_OF("part", "Recorded preimage");
}

TEST(gt05_libgit2_looks_for_collisions)
{
	Dl_info info;

	assert_true(dladdr((void *)(uintptr_t)git_odb_hashfile, &info));
	SH(".", "grep -q 'SHA1 collision attack detected' '%s'", info.dli_fname);
}

/* ---- what is found */

TEST(gt05_collisions_stay)
{
	LAYER(l, "stays", "echo x >small; echo x >kept");

	put(&l, "small", MARK " 1\n");
	put(&l, "d/.gitmodules", MARK "\n");
	put(&l, "d/new", "new\n");
	SH("stays", "(echo " MARK "; head -c 3000000 /dev/zero) >upper/large; (head -c 3000000 /dev/zero; echo " MARK
		    ") >upper/other");
	link_to(&l, "link", "kept");
	assert_captured(&l, "A d/new;A link;A other;");
	content(&l, "small", "x");
	assert_left(&l, "refused d/.gitmodules 1;refused large 1;refused small 1;");
	EQUAL(l.res.notes.n, 3);
	for (size_t i = 0; i < l.res.notes.n; i++)
		assert_has(l.res.notes.v[i], "made to have the id of another one");
	SH("stays", "cd r; git fsck --strict; test $(git cat-file -s %s:other) = 3000009", GA_HEX(&l.res.tree));
}

TEST_MAIN(scratch_setup, scratch_teardown)
