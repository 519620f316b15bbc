/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include "ga/base/path.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

static char *make_state(void)
{
	char *dir = ga_strdup("/tmp/test-session-XXXXXX");
	cleanup_free char *sessions = NULL;

	assert_non_null(mkdtemp(dir));
	sessions = ga_path_join(dir, "sessions");
	OK(ga_mkdir_p(sessions, 0700, &err));
	return dir;
}

static void remove_state(char *dir)
{

	OK(ga_rmtree_at(AT_FDCWD, dir, &err));
	free(dir);
}

TEST(a_name_of_a_session_is_one_of_a_branch)
{
	static const struct {
		const char *name;
		bool ok;
	} t[] = {
		{ "claude-1", true }, { "a", true },	 { "a.b_c-d", true }, { "", false },
		{ "-a", false },      { ".a", false },	 { "_a", false },     { "A", false },
		{ "a..b", false },    { "a.", false },	 { "a.lock", false }, { "a/b", false },
		{ "a b", false },     { "a\nb", false }, { "\xc3\xa9", false },
		{ "0123456789012345678901234567890123456789012345678901234567890123", true },
		{ "01234567890123456789012345678901234567890123456789012345678901234", false },
	};

	for_each (row, t)
		if (ga_session_name_ok(row->name) != row->ok)
			fail_msg("'%s'", row->name);
}

TEST(a_name_is_made_of_the_command)
{
	static const char *const t[][2] = {
		{ "claude", "claude" }, { "/usr/bin/claude", "claude" }, { "Foo.Bar", "foobar" },
		{ "./x y.sh", "xysh" }, { "--", "agent" },		  { "", "agent" },
	};

	for_index (i, t) {
		cleanup_free char *s = ga_session_stem(t[i][0]);

		STREQ(s, t[i][1]);
		assert_true(ga_session_name_ok(s));
	}
}

static void fill(struct ga_session *s)
{
	s->state = GA_STATE_CAPTURED;
	s->id.project = ga_strdup("/home/u/a \"b\"\n\\c\x01%41\xff");
	s->id.gitdir = ga_strdup("/home/u/.git");
	s->id.message = ga_strdup("");
	s->id.base.id[3] = 7;
	s->id.started = 1234567890123;
	s->run.exit_status = 137;
	s->view.incomplete = ga_strdup("why");
	s->id.within = ga_strdup("/state/other");
	ga_strv_push(&s->id.submodules, "a \"b\n");
	ga_strv_push(&s->id.part_ids, "0123456789abcdef");
	s->run.pidns = UINT64_MAX;
	ga_strv_push_many(&s->id.command, "sh", "-c", "echo ; # \t\r\n", "", NULL);
	ga_strv_push(&s->view.skipped, " leading and trailing ");
	s->view.tree.id[0] = 1;
	s->view.full.id[0] = 2;
	s->view.agent_base.id[0] = 3;
	s->view.branch_base.id[0] = 4;
	s->run.resumed = 1234567890124;
	ga_strv_push(&s->run.resumed_with, "bash");
	ga_strv_push(&s->view.exposed, "/home/u/.env");
}

TEST(a_session_is_read_as_it_was_saved)
{
	char *dir = make_state();
	struct ga_error err = GA_ERROR_INIT;
	struct ga_session s = GA_SESSION_INIT, t = GA_SESSION_INIT;
	struct ga_strv taken = GA_STRV_INIT;
	BUF(before);
	BUF(after);
	cleanup_free char *file = NULL;
	int lock = -1, second = -1;

	EQUAL(ga_session_create(dir, "x", "y", &taken, &s, &lock, &err), 0);
	fill(&s);
	EQUAL(ga_session_save(&s, &err), 0);
	EQUAL(ga_session_load(dir, "x", &t, &err), 0);
	STREQ(t.id.project, s.id.project);
	STREQ(t.id.message, "");
	assert_null(t.id.onto_ref);
	assert_true(ga_oid_equal(&t.id.base, &s.id.base));
	EQUAL(t.id.started, s.id.started);
	EQUAL(t.run.exit_status, 137);
	assert_true(t.run.pidns == UINT64_MAX);
	EQUAL(t.state, GA_STATE_CAPTURED);
	EQUAL(t.id.command.n, 4);
	for (size_t i = 0; i < 4; i++)
		STREQ(t.id.command.v[i], s.id.command.v[i]);
	STREQ(t.view.skipped.v[0], s.view.skipped.v[0]);
	assert_true(ga_oid_equal(ga_session_agent_base(&t), &s.view.agent_base));
	assert_true(ga_oid_equal(ga_session_branch_base(&t), &s.view.branch_base));
	/* of everything else: written again, it is the same */
	file = ga_path_join(s.dir, "session");
	EQUAL(ga_read_file_at(AT_FDCWD, file, 65536, &before, &err), 0);
	EQUAL(ga_session_save(&t, &err), 0);
	EQUAL(ga_read_file_at(AT_FDCWD, file, 65536, &after, &err), 0);
	STREQ(before.ptr, after.ptr);

	/* its maker holds the lock */
	EQUAL(ga_session_lock(&t, false, &second, &err), 1);
	EQUAL(close(lock), 0);
	EQUAL(ga_session_lock(&t, false, &second, &err), 0);
	(void)close(second);

	EQUAL(ga_session_load(dir, "absent", &t, &err), 1);
	EQUAL(ga_session_load(dir, "../x", &t, &err), 1);
	ga_session_release(&s);
	ga_session_release(&t);
	remove_state(dir);
}

/* Cut short at every byte: either the former state or, with no former one, an error;
 * never a wrong value. */
TEST(a_state_that_is_cut_short_gives_the_former_one)
{
	char *dir = make_state();
	struct ga_error err = GA_ERROR_INIT;
	struct ga_session s = GA_SESSION_INIT;
	struct ga_strv taken = GA_STRV_INIT;
	BUF(whole);
	cleanup_free char *file = NULL, *old = NULL, *upper = NULL, *work = NULL;
	int lock = -1;

	EQUAL(ga_session_create(dir, "x", "y", &taken, &s, &lock, &err), 0);
	fill(&s);
	s.state = GA_STATE_RUNNING;
	EQUAL(ga_session_save(&s, &err), 0);
	s.state = GA_STATE_CAPTURED;
	EQUAL(ga_session_save(&s, &err), 0);
	file = ga_path_join(s.dir, "session");
	old = ga_path_join(s.dir, "session.old");
	EQUAL(ga_read_file_at(AT_FDCWD, file, 65536, &whole, &err), 0);
	for (size_t n = 0; n < whole.len - 1; n++) {
		struct ga_session t = GA_SESSION_INIT;

		EQUAL(unlink(file), 0);
		EQUAL(ga_write_new(AT_FDCWD, file, whole.ptr, n, 0600, &err), 0);
		if (ga_session_load(dir, "x", &t, &err))
			fail_msg("cut at %zu: %s", n, err.msg);
		if (t.state != GA_STATE_RUNNING)
			fail_msg("cut at %zu gives state %s", n, ga_state_name(t.state));
		ga_session_release(&t);
	}
	/* a first state that was cut short is none, while there is nothing to lose */
	EQUAL(unlink(old), 0);
	EQUAL(ga_session_load(dir, "x", &s, &err), 1);
	upper = ga_path_join(s.dir, "upper");
	EQUAL(ga_mkdir_p(upper, 0700, &err), 0);
	work = ga_path_join(upper, "work");
	EQUAL(ga_write_new(AT_FDCWD, work, "", 0, 0600, &err), 0);
	EQUAL(ga_session_load(dir, "x", &s, &err), -1);
	assert_has(err.msg, file);
	assert_non_null(err.hint);
	ga_error_release(&err);
	(void)close(lock);
	ga_session_release(&s);
	remove_state(dir);
}

/* What is not in the file itself does not count, nor does what earlier versions wrote; and what
 * nobody writes is refused. */
TEST(only_what_a_session_stored_is_read)
{
	static const char more[] = "[session]\n\tincomplete = no\n";
	static const char line[] = "[include]\n\tpath = more\n"
			   "[session]\n\ttip = 1234567890123456789012345678901234567890\n"
			   "\theld = none\n\tleftout = x\n\tnote = y\n";
	static const struct {
		const char *text, *why;
	} odd[] = { { "[session]\n\tstate = interrupted\n", "a bad state" },
		    { "[session]\n\tbranch = x\n", "is not of session 'x'" } };
	char *dir = make_state();
	struct ga_session s = GA_SESSION_INIT, t = GA_SESSION_INIT;
	struct ga_strv taken = GA_STRV_INIT;
	BUF(whole);
	cleanup_free char *file = NULL, *included = NULL;
	int lock = -1;

	OK(ga_session_create(dir, "x", "y", &taken, &s, &lock, &err));
	fill(&s);
	OK(ga_session_save(&s, &err));
	file = ga_path_join(s.dir, "session");
	included = ga_path_join(s.dir, "more");
	OK(ga_read_file_at(AT_FDCWD, file, 65536, &whole, &err));
	ga_buf_adds(&whole, line);
	OK(ga_write_atomic(AT_FDCWD, included, more, strlen(more), 0600, &err));
	OK(ga_write_atomic(AT_FDCWD, file, whole.ptr, whole.len, 0600, &err));
	OK(ga_session_load(dir, "x", &t, &err));
	STREQ(t.view.incomplete, s.view.incomplete);
	assert_true(ga_oid_is_zero(&t.result.tip) && !t.result.left_out.n && !t.result.notes.n);

	for_each (row, odd) {
		size_t before = whole.len;

		ga_buf_adds(&whole, row->text);
		OK(ga_write_atomic(AT_FDCWD, file, whole.ptr, whole.len, 0600, &err));
		ga_session_release(&t);
		FAILS(ga_session_load(dir, "x", &t, &err), row->why);
		ga_buf_truncate(&whole, before);
	}
	(void)close(lock);
	ga_session_release(&s);
	remove_state(dir);
}

TEST_MAIN(NULL, NULL)
