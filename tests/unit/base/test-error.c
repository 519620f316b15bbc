/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include <signal.h>
#include <sys/resource.h>

TEST(an_error_has_a_code_and_a_message)
{
	ERR(err);

	EQUAL(ga_fail(&err, GA_EUSAGE, "no '%s'", "x"), -1);
	EQUAL(err.code, GA_EUSAGE);
	STREQ(err.msg, "no 'x'");
	assert_null(err.hint);
	ga_error_release(&err);
	EQUAL(err.code, GA_OK);
	assert_null(err.msg);
	/* released, it can be used again */
	EQUAL(ga_fail_errno(&err, GA_ESTART, ENOENT, "cannot open '%s'", "y"), -1);
	STREQ(err.msg, "cannot open 'y': No such file or directory");
	EQUAL(err.code, GA_ESTART);
}

TEST(innermost_hint_stays)
{
	ERR(err);

	(void)ga_fail(&err, GA_EFATAL, "a");
	EQUAL(ga_hint(&err, "do %d", 1), -1);
	EQUAL(ga_hint(&err, "do %d", 2), -1);
	STREQ(err.hint, "do 1");
}

TEST(a_hint_comes_with_the_message_and_no_argument_is_one)
{
	ERR(err);

	(void)ga_fail(&err, GA_EFATAL, "no '%s'" GA_HINT "make %d", "x" GA_HINT "y", 1);
	STREQ(err.msg, "no 'x\\nhint: y'");
	STREQ(err.hint, "make 1");
}

TEST(an_ignored_error_keeps_nothing)
{
	struct ga_error *err = GA_IGNORED;
	ERR(other);

	EQUAL(ga_fail(err, GA_ELOSE, "a %d" GA_HINT "b", 1), -1);
	(void)ga_hint(err, "c");
	(void)ga_error_wrap(err, "d");
	EQUAL(err->code, GA_ELOSE);
	assert_non_null(err->msg);
	(void)ga_fail(&other, GA_EFATAL, "e");
	(void)ga_error_move(err, &other);
	EQUAL(err->code, GA_EFATAL);
	assert_null(other.msg);
	ga_error_release(err);
	assert_null(err->msg);
}

TEST(context_goes_in_front)
{
	ERR(err);
	ERR(empty);

	(void)ga_fail(&err, GA_ELOSE, "no space");
	EQUAL(ga_error_wrap(&err, "cannot write '%s'", "f"), -1);
	(void)ga_error_wrap(&err, "cannot start");
	STREQ(err.msg, "cannot start: cannot write 'f': no space");
	EQUAL(err.code, GA_ELOSE);
	(void)ga_error_wrap(&empty, "x");
	EQUAL(empty.code, GA_EFATAL);
	assert_non_null(empty.msg);
}

TEST(each_code_has_an_exit_status)
{
	static const struct {
		enum ga_code code;
		int status;
	} cases[] = {
		{ GA_OK, 0 },	     { GA_ENEGATIVE, 1 }, { GA_ELOSE, 2 },   { GA_EFLAGS, 3 },
		{ GA_ECONFLICT, 4 }, { GA_ESTART, 125 },  { GA_EFATAL, 128 }, { GA_EUSAGE, 129 },
	};

	for_each (row, cases)
		EQUAL(ga_error_status(row->code), row->status);
}

/* Signal that ends a child running `fn`, 0 if it exits. */
static int signal_of(void (*fn)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		struct rlimit none = { 0, 0 };

		(void)setrlimit(RLIMIT_CORE, &none);
		(void)signal(SIGABRT, SIG_DFL);
		(void)close(2);
		fn();
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void fill_twice(void)
{
	struct ga_error err = GA_ERROR_INIT;

	(void)ga_fail(&err, GA_EFATAL, "first");
	(void)ga_fail(&err, GA_EFATAL, "second");
}

static void overflowing_array(void)
{
	free(ga_reallocarray(NULL, SIZE_MAX / 2, 3));
}

static void nothing_wrong(void)
{
	free(ga_reallocarray(NULL, 2, 3));
	free(ga_malloc(0));
	free(ga_calloc(0, 0));
}

TEST(bugs_abort)
{
	EQUAL(signal_of(fill_twice), SIGABRT);
	EQUAL(signal_of(overflowing_array), SIGABRT);
	EQUAL(signal_of(nothing_wrong), 0);
}

TEST(copied_text_ends_where_it_should)
{
	cleanup_free char *n = ga_strndup("abc", 2), *all = ga_strndup("abc", 9);
	cleanup_free char *f = ga_strf("%05d", 42);
	char *p = ga_strdup("moved"), *q;

	STREQ(n, "ab");
	STREQ(all, "abc");
	STREQ(f, "00042");
	q = ga_steal(&p);
	assert_null(p);
	STREQ(q, "moved");
	free(q);
}

TEST(disk_errors_are_told_by_the_end_of_a_message)
{
	assert_true(ga_means_disk_trouble("cannot write 'x': Input/output error"));
	assert_true(ga_means_disk_trouble("cannot write 'x': Read-only file system"));
	assert_true(ga_means_disk_trouble("cannot write 'x': No space left on device"));
	assert_true(ga_means_disk_trouble("cannot write 'x': Disk quota exceeded"));
	/* a name is no reason */
	assert_false(ga_means_disk_trouble("cannot write 'Input/output error': No such file"));
	assert_false(ga_means_disk_trouble("Input"));
	assert_false(ga_means_disk_trouble(NULL));
}

TEST_MAIN(NULL, NULL)
