/* SPDX-License-Identifier: MIT
 *
 * The record of a landing: what is written is read back, and what is damaged is named.
 */
#include "../land-support.h"

#include "land/record.h"

/* A repository, and nothing in it. */
static struct ga_repo *new_repo(const char *dir)
{
	SH(dir, "git init -q .; echo a >a; git add a; git commit -qm one");
	return open_repo(dir);
}

static struct ga_work_stat look(mode_t mode, char digit)
{
	struct ga_work_stat l = { .mode = mode };
	char hex[GA_OID_HEXSZ + 1];

	memset(hex, digit, GA_OID_HEXSZ);
	hex[GA_OID_HEXSZ] = '\0';
	assert_true(ga_oid_parse(hex, GA_OID_HEXSZ, &l.oid));
	return l;
}

TEST(a_record_is_read_as_it_was_written)
{
	static const struct {
		enum ga_land_how how;
		enum record_phase phase;
		const char *branch;
		bool part;
	} v[] = {
		{ GA_LAND_MERGE, RECORD_MOVING, "refs/heads/main", false },
		{ GA_LAND_SQUASH, RECORD_HANDED_OVER, NULL, true },
		{ GA_LAND_REBASE, RECORD_DONE, "refs/heads/b\303\266\377", false },
		{ GA_LAND_FF_ONLY, RECORD_UNDOING, "refs/heads/a b\"'", true },
	};
	static const char *const paths[] = { "a", "d/e f", "new\nline", "\377\200", "q\"'\\t", "\033[31m", " " };
	struct ga_repo *r = new_repo("back");
	struct ga_work_stat none = { 0 }, one = look(S_IFREG | 0640, '1'),
			    two = look(S_IFLNK | 0777, '2');

	for_each (row, v) {
		cleanup_record struct record rec = RECORD_INIT, got = RECORD_INIT;

		rec.session = ga_strdup("s1");
		rec.objects = ga_strdup("/a b\377/objects");
		rec.how = row->how;
		rec.phase = row->phase;
		rec.part = row->part;
		rec.branch = row->branch ? ga_strdup(row->branch) : NULL;
		rec.head = one.oid;
		rec.tree = two.oid;
		for_index (k, paths)
			record_add(&rec, paths[k], k % 2 ? &none : &one, k % 3 ? &two : &none);
		OK(record_save(r, &rec, &err));
		OK(record_read(r, &got, &err));
		STREQ(got.objects, rec.objects);
		STREQ(got.session, "s1");
		EQUAL(got.how, row->how);
		EQUAL(got.phase, row->phase);
		EQUAL(got.part, row->part);
		EQUAL(!got.branch, !row->branch);
		if (row->branch)
			STREQ(got.branch, row->branch);
		assert_true(ga_oid_equal(&got.head, &one.oid) && ga_oid_equal(&got.tree, &two.oid));
		assert_true(ga_oid_is_zero(&got.tip) && ga_oid_is_zero(&got.commit));
		EQUAL(got.n, GA_NELEMS(paths));
		for (size_t k = 0; k < got.n; k++) {
			STREQ(got.v[k].path, paths[k]);
			EQUAL(got.v[k].before.mode, k % 2 ? 0 : one.mode);
			EQUAL(got.v[k].after.mode, k % 3 ? two.mode : 0);
			assert_true(ga_oid_equal(&got.v[k].after.oid, k % 3 ? &two.oid : &none.oid));
		}
		/* the last one would not be read beside one that is under way */
		OK(record_remove(r, &rec, &err));
	}
	ga_repo_free(r);
}

static void begin(struct record *rec, const char *session)
{
	rec->session = ga_strdup(session);
	rec->objects = ga_strdup("/objects");
}

static void expect(struct ga_repo *r, const char *session)
{
	cleanup_record struct record got = RECORD_INIT;

	OK(record_read(r, &got, &err));
	STREQ(got.session, session);
}

TEST(the_last_record_counts)
{
	cleanup_record struct record one = RECORD_INIT, two = RECORD_INIT, got = RECORD_INIT;
	struct ga_repo *r = new_repo("last");

	EQUAL(record_read(r, &got, &(struct ga_error)GA_ERROR_INIT), 1);
	begin(&one, "one");
	one.phase = RECORD_DONE;
	OK(record_save(r, &one, &err));
	expect(r, "one");
	begin(&two, "two");
	OK(record_save(r, &two, &err));
	expect(r, "two");
	OK(record_remove(r, &two, &err));
	expect(r, "one");
	OK(record_save(r, &two, &err));
	two.phase = RECORD_DONE;
	OK(record_save(r, &two, &err));
	expect(r, "two");
	OK(record_remove(r, &two, &err));
	EQUAL(record_read(r, &got, &(struct ga_error)GA_ERROR_INIT), 1);
	ga_repo_free(r);
}

/* Whatever a power cut left: an error that names the file, and how it is forgotten. */
TEST(a_damaged_record_is_refused_by_name)
{
	static const struct {
		const char *name, *command;
	} v[] = {
		{ "empty", ": >now" },
		{ "zeros", "head -c 400 /dev/zero >now" },
		{ "cut", "head -c 60 now >x; mv x now" },
		{ "text", "echo nonsense >now" },
		{ "array", "echo '[]' >now" },
		{ "phase", "sed -i s/moving/flying/ now" },
		{ "way", "sed -i s/merge/jump/ now" },
		{ "session", "sed -i 's,\"s1\",\"../s1\",' now" },
		{ "oid", "sed -i s/1111/xyz1/ now" },
		{ "path", "sed -i 's,\"d/f\",\"../f\",' now" },
		{ "absolute", "sed -i 's,\"d/f\",\"/f\",' now" },
		{ "git-dir", "sed -i 's,\"d/f\",\"\",' now" },
	};
	struct ga_repo *r = new_repo("damaged");
	struct ga_work_stat one = look(S_IFREG | 0644, '1');

	for_each (row, v) {
		cleanup_record struct record rec = RECORD_INIT, got = RECORD_INIT;
		ERR(why);

		begin(&rec, "s1");
		rec.head = one.oid;
		record_add(&rec, "d/f", &one, &one);
		OK(record_save(r, &rec, &err));
		SH("damaged", "cd .git/git-agent/landing; %s", row->command);
		if (record_read(r, &got, &why) != -1)
			fail_msg("not noticed: %s", row->name);
		if (!strstr(why.msg, "the record of a landing is damaged: '") ||
		    !strstr(why.msg, "/landing/now'") || !why.hint || !strstr(why.hint, "rm "))
			fail_msg("%s: %s", row->name, why.msg);
		OK(record_remove(r, &rec, &err));
	}
	ga_repo_free(r);
}

TEST_MAIN(scratch_setup, scratch_teardown)
