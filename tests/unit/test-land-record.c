/* SPDX-License-Identifier: MIT
 *
 * The record of a landing: what is written is read back, and what is damaged is named.
 */
#include "land-support.h"

#include "../../src/land/record.h"

/* A repository, and nothing in it. */
static struct ga_repo *new_repo(const char *dir)
{
	SH(dir, "git init -q .; echo a >a; git add a; git commit -qm one");
	return open_repo(dir);
}

static struct land_look look(mode_t mode, char digit)
{
	struct land_look l = { .mode = mode };
	char hex[GA_OID_HEXSZ + 1];

	memset(hex, digit, GA_OID_HEXSZ);
	hex[GA_OID_HEXSZ] = '\0';
	assert_true(ga_oid_parse(hex, GA_OID_HEXSZ, &l.oid));
	return l;
}

static void add(struct record *rec, const char *path, const struct land_look *before,
		const struct land_look *after, bool kept)
{
	GA_GROW(rec->v, rec->n, rec->cap);
	rec->v[rec->n++] = (struct record_path){ .path = ga_strdup(path), .before = *before,
						 .after = *after, .kept = kept };
}

static void read_back(void **state)
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
	static const char *const paths[] = { "a", "d/e f", "new\nline", "\377\200", "q\"'\\t",
					     "\033[31m", " " };
	struct ga_repo *r = new_repo("back");
	struct land_look none = { 0 }, one = look(S_IFREG | 0640, '1'),
			 two = look(S_IFLNK | 0777, '2');

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(v); i++) {
		cleanup_record struct record rec = RECORD_INIT, got = RECORD_INIT;

		OK(record_begin(r, &rec, &err));
		rec.session = ga_strdup("s1");
		rec.how = v[i].how;
		rec.phase = v[i].phase;
		rec.part = v[i].part;
		rec.branch = v[i].branch ? ga_strdup(v[i].branch) : NULL;
		rec.head = one.oid;
		rec.tree = two.oid;
		for (size_t k = 0; k < GA_NELEMS(paths); k++)
			add(&rec, paths[k], k % 2 ? &none : &one, k % 3 ? &two : &none, k % 2);
		OK(record_save(&rec, &err));
		OK(record_read(r, &got, &err));
		assert_int_equal(got.number, i + 1);
		assert_string_equal(got.session, "s1");
		assert_int_equal(got.how, v[i].how);
		assert_int_equal(got.phase, v[i].phase);
		assert_int_equal(got.part, v[i].part);
		assert_int_equal(!got.branch, !v[i].branch);
		if (v[i].branch)
			assert_string_equal(got.branch, v[i].branch);
		assert_true(ga_oid_equal(&got.head, &one.oid) && ga_oid_equal(&got.tree, &two.oid));
		assert_true(ga_oid_is_zero(&got.tip) && ga_oid_is_zero(&got.commit));
		assert_int_equal(got.n, GA_NELEMS(paths));
		for (size_t k = 0; k < got.n; k++) {
			assert_string_equal(got.v[k].path, paths[k]);
			assert_int_equal(got.v[k].kept, k % 2);
			assert_int_equal(got.v[k].before.mode, k % 2 ? 0 : one.mode);
			assert_int_equal(got.v[k].after.mode, k % 3 ? two.mode : 0);
			assert_true(ga_oid_equal(&got.v[k].after.oid,
						 k % 3 ? &two.oid : &none.oid));
		}
	}
	ga_repo_free(r);
}

/* Of several the one with the highest number counts, until it is removed. */
static void the_last_counts(void **state)
{
	cleanup_record struct record one = RECORD_INIT, two = RECORD_INIT, got = RECORD_INIT;
	struct ga_repo *r = new_repo("last");

	(void)state;
	assert_int_equal(record_read(r, &got, &(struct ga_error)GA_ERROR_INIT), 1);
	OK(record_begin(r, &one, &err));
	one.session = ga_strdup("one");
	/* begun, and not written */
	assert_int_equal(record_read(r, &got, &(struct ga_error)GA_ERROR_INIT), 1);
	OK(record_save(&one, &err));
	OK(record_begin(r, &two, &err));
	two.session = ga_strdup("two");
	OK(record_read(r, &got, &err));
	assert_string_equal(got.session, "one");
	record_release(&got);
	OK(record_save(&two, &err));
	OK(record_read(r, &got, &err));
	assert_string_equal(got.session, "two");
	record_release(&got);
	OK(record_remove(&two, &err));
	OK(record_read(r, &got, &err));
	assert_string_equal(got.session, "one");
	ga_repo_free(r);
}

/* Whatever a power cut left: an error that names the file, and how it is forgotten. */
static void damaged(void **state)
{
	static const struct {
		const char *name, *command;
	} v[] = {
		{ "empty", ": >record" },
		{ "zeros", "head -c 400 /dev/zero >record" },
		{ "cut", "head -c 60 record >x; mv x record" },
		{ "text", "echo nonsense >record" },
		{ "array", "echo '[]' >record" },
		{ "phase", "sed -i s/moving/flying/ record" },
		{ "way", "sed -i s/merge/jump/ record" },
		{ "session", "sed -i 's,\"s1\",\"../s1\",' record" },
		{ "oid", "sed -i s/1111/xyz1/ record" },
		{ "path", "sed -i 's,\"d/f\",\"../f\",' record" },
		{ "absolute", "sed -i 's,\"d/f\",\"/f\",' record" },
		{ "git-dir", "sed -i 's,\"d/f\",\"\",' record" },
	};
	struct ga_repo *r = new_repo("damaged");
	struct land_look one = look(S_IFREG | 0644, '1');

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(v); i++) {
		cleanup_record struct record rec = RECORD_INIT, got = RECORD_INIT;
		cleanup_error struct ga_error why = GA_ERROR_INIT;

		OK(record_begin(r, &rec, &err));
		rec.session = ga_strdup("s1");
		rec.head = one.oid;
		add(&rec, "d/f", &one, &one, false);
		OK(record_save(&rec, &err));
		SH("damaged", "cd '%s'; %s", rec.dir, v[i].command);
		if (record_read(r, &got, &why) != -1)
			fail_msg("not noticed: %s", v[i].name);
		if (!strstr(why.msg, "the record of a landing is damaged: '") ||
		    !strstr(why.msg, rec.dir) || !why.hint || !strstr(why.hint, "rm -r "))
			fail_msg("%s: %s", v[i].name, why.msg);
		OK(record_remove(&rec, &err));
	}
	ga_repo_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(read_back),
	    cmocka_unit_test(the_last_counts),
	    cmocka_unit_test(damaged),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
