/* SPDX-License-Identifier: MIT */
#include "../test.h"

#include <dirent.h>
#include <signal.h>

#include "ga/base/buf.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

static int run_sh(const char *script, struct ga_process *p, int *status, struct ga_error *err)
{
	const char *const argv[] = { "sh", "-c", script, NULL };

	p->argv = argv;
	return ga_process_run(p, status, err);
}

TEST(the_status_is_that_of_exit_or_signal)
{
	static const struct {
		const char *script;
		int status;
	} cases[] = {
		{ "exit 0", 0 },
		{ "exit 7", 7 },
		{ "exit 255", 255 },
		{ "kill -9 $$", 128 + SIGKILL },
		{ "kill -TERM $$", 128 + SIGTERM },
	};

	for_each (row, cases) {
		struct ga_process p = GA_PROCESS_INIT;
		int status = -1;

		OK(run_sh(row->script, &p, &status, &err));
		if (status != row->status)
			fail_msg("%s: %d", row->script, status);
	}
}

/* More than any pipe holds, in and out at the same time. */
TEST(large_input_and_output)
{
	BUF(in);
	BUF(out);
	BUF(errout);
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	for (int i = 0; i < 300000; i++)
		ga_buf_addf(&in, "line %d\n", i);
	p.in = in.ptr;
	p.in_len = in.len;
	p.out = &out;
	p.errout = &errout;
	OK(run_sh("tee /dev/stderr", &p, &status, &err));
	EQUAL(out.len, in.len);
	assert_memory_equal(out.ptr, in.ptr, in.len);
	EQUAL(errout.len, 65536);
	assert_memory_equal(errout.ptr, in.ptr + in.len - 65536, 65536);
}

TEST(too_much_output_ends_it)
{
	ERR(err);
	BUF(out);
	struct ga_process p = GA_PROCESS_INIT;
	int status = -1;

	p.out = &out;
	p.out_max = 1000;
	EQUAL(run_sh("yes", &p, &status, &err), -1);
	STREQ(err.msg, "'sh' wrote more than 1000 bytes");
	EQUAL(status, -1);
}

TEST(timeout_kills)
{
	ERR(err);
	struct ga_process p = GA_PROCESS_INIT;
	time_t start = time(NULL);
	int status;

	p.timeout_ms = 50;
	EQUAL(run_sh("exec sleep 60", &p, &status, &err), -1);
	STREQ(err.msg, "'sh' took longer than 50 ms");
	assert_true(time(NULL) - start < 30);
}

TEST(a_descendant_that_runs_on_is_not_waited_for)
{
	BUF(out);
	struct ga_process p = GA_PROCESS_INIT;
	time_t start = time(NULL);
	int status;

	p.out = &out;
	OK(run_sh("sleep 60 & echo $!", &p, &status, &err));
	assert_true(time(NULL) - start < 30);
	assert_true(out.len > 1);
	ga_buf_chomp(&out);
	{
		cleanup_free char *cmd = ga_strf("kill %s", out.ptr);

		p.out = NULL;
		OK(run_sh(cmd, &p, &status, &err));
		EQUAL(status, 0);
	}
}

TEST(what_it_wrote_is_waited_for)
{
	static const struct {
		const char *script;
		int found;
	} cases[] = {
		/* it says so and continues */
		{ "echo one; echo two; exec sleep 60", 1 },
		{ "echo one; echo two", 1 },
		{ "echo one; echo two; exit 3", 1 },
		{ "echo one", 0 },
		{ "exit 3", 0 },
	};

	for_each (row, cases) {
		ERR(err);
		BUF(out);
		const char *const argv[] = { "sh", "-c", row->script, NULL };
		struct ga_process p = GA_PROCESS_INIT;
		struct ga_process_job *j;
		time_t start = time(NULL);

		p.argv = argv;
		p.out = &out;
		EQUAL(ga_process_begin(&p, &j, &err), 0);
		if (ga_process_wait_for(j, "two\n", &err) != row->found)
			fail_msg("%s: %s", row->script, out.ptr);
		ga_process_abandon(j);
		assert_true(time(NULL) - start < 30);
	}
}

TEST(a_missing_program_is_named)
{
	ERR(err);
	const char *const argv[] = { "no such\nprogram", NULL };
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	p.argv = argv;
	EQUAL(ga_process_run(&p, &status, &err), -1);
	assert_has(err.msg, "cannot run");
	assert_null(strchr(err.msg, '\n'));
}

TEST(a_program_has_its_directory_environment_and_signals)
{
	BUF(out);
	const char *const envp[] = { "ONLY=this", NULL };
	struct ga_process p = GA_PROCESS_INIT;
	sigset_t set, old;
	int status;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGTERM);
	EQUAL(sigprocmask(SIG_BLOCK, &set, &old), 0);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGUSR1, SIG_IGN);
	p.cwd = "/usr";
	p.envp = envp;
	p.out = &out;
	/* only the classic signals: glibc ignores two internal ones in every child */
	OK(run_sh("pwd; echo \"$ONLY-$HOME\"; sed -n 's/^\\(Sig[BI].*\\):.*\\(........\\)$/\\1 \\2/p' "
				"/proc/self/status", &p, &status, &err));
	EQUAL(sigprocmask(SIG_SETMASK, &old, NULL), 0);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGUSR1, SIG_DFL);
	out.ptr[out.len - 9] &= '7'; /* signal 32 is the first of those */
	/* of what was ignored only SIGHUP is */
	STREQ(out.ptr, "/usr\nthis-\nSigBlk 00000000\nSigIgn 00000001\n");
}

/* In a process of its own, as the job that was handed over is left as it is. */
static void take_over_and_end(void)
{
	BUF(out);
	BUF(errout);
	BUF(text);
	const char *const argv[] = { "sh", "-c", "echo one; echo two >&2; exit 3", NULL };
	struct ga_process p = GA_PROCESS_INIT;
	ERR(err);
	struct ga_process_job *j;
	int status;

	p.argv = argv;
	p.out = &out;
	p.errout = &errout;
	if (ga_process_begin(&p, &j, &err) || ga_process_hand_over(j, &text, &err) ||
	    ga_process_take_over(text.ptr, &p, &j, &err) || ga_process_end(j, &status, &err))
		_exit(1);
	_exit(status == 3 && !strcmp(out.ptr, "one\n") && !strcmp(errout.ptr, "two\n") ? 0 : 2);
}

TEST(a_job_is_handed_over_to_another_process)
{
	static const char *const bad[] = { "", "x", "1", "1,2", "0,-1,-1", "-1,-1,-1", "1,-1,-1,",
					   "1,-1,-1,4", "1,2,-1", "1,-1,9999" };
	BUF(out);
	struct ga_process p = GA_PROCESS_INIT;
	struct ga_process_job *j = NULL;
	pid_t pid = fork();
	int status;

	if (!pid)
		take_over_and_end();
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	p.argv = (const char *const[]){ "x", NULL };
	p.out = &out;
	for_each (row, bad) {
		ERR(err);

		if (!ga_process_take_over(*row, &p, &j, &err))
			fail_msg("'%s' was taken over", *row);
		STREQ(err.msg, "cannot continue a process that has started");
	}
}

TEST(no_other_descriptor_is_inherited)
{
	BUF(out);
	cleanup_close int leak = open("/dev/null", O_RDONLY); /* on purpose */
	cleanup_free char *script = ga_strf("for f in 0 1 2 %d; do [ -e /proc/self/fd/$f ] && echo $f; done", leak);
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	assert_true(leak >= 3);
	p.out = &out;
	OK(run_sh(script, &p, &status, &err));
	STREQ(out.ptr, "0\n1\n2\n");
}

TEST(one_descriptor_may_be_kept)
{
	ERR(err);
	BUF(out);
	cleanup_close int fd = ga_memfd("kept", "abc", 3, &err);
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	p.in = "x";
	p.in_len = 1;
	p.out = &out;
	p.keep_fd = fd;
	EQUAL(run_sh("cat; cat <&3; [ -e /proc/self/fd/4 ] || echo .", &p, &status, &err), 0);
	STREQ(out.ptr, "xabc.\n");
}

static size_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

TEST(given_descriptors_are_used_and_none_leaks)
{
	ERR(err);
	cleanup_close int in = ga_memfd("in", "abc", 3, &err);
	cleanup_close int result = -1;
	char path[] = "/tmp/ga-process.XXXXXX", got[16] = "";
	size_t before;

	assert_true(in >= 0);
	result = mkostemp(path, O_CLOEXEC);
	assert_true(result >= 0);
	(void)unlink(path);
	before = count_fds();
	for (int i = 0; i < 3; i++) {
		struct ga_process p = GA_PROCESS_INIT;
		int status;

		p.in_fd = in;
		p.out_fd = result;
		EQUAL(lseek(in, 0, SEEK_SET), 0);
		EQUAL(run_sh("cat; exit 3", &p, &status, &err), 0);
		EQUAL(status, 3);
	}
	EQUAL(count_fds(), before);
	EQUAL(pread(result, got, sizeof(got), 0), 9);
	assert_memory_equal(got, "abcabcabc", 9);
}

static void make_file(const char *path, mode_t mode)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	EQUAL(fchmod(fd, mode), 0);
}

static void make_script(const char *path, const char *command)
{
	cleanup_free char *text = ga_strf("#!/bin/sh\n%s\n", command);

	OK(ga_write_new(AT_FDCWD, path, text, strlen(text), 0700, &err));
}

/* `text` with `dir` for each 'T'. Caller frees. */
static char *with_directory(const char *text, const char *dir)
{
	struct ga_buf b = GA_BUF_INIT;

	ga_buf_adds(&b, "");
	for (; *text; text++)
		if (*text == 'T')
			ga_buf_adds(&b, dir);
		else
			ga_buf_addch(&b, *text);
	return ga_buf_steal(&b);
}

static int run_named(const char *name, struct ga_buf *out)
{
	ERR(err);
	const char *const argv[] = { name, NULL };
	struct ga_process p = GA_PROCESS_INIT;
	int status, rc;

	p.argv = argv;
	p.out = out;
	rc = ga_process_run(&p, &status, &err);
	if (!rc)
		EQUAL(status, 0);
	return rc;
}

/* A directory of the name, a file that is not executable, one by a relative name: none is it. */
TEST(a_program_is_found)
{
	char dir[] = "/tmp/ga-process.XXXXXX";
	static const struct {
		const char *path;
		bool found;
	} cases[] = {
		{ "", false }, { "d", false }, { "/nowhere:plain::", false }, { "dir:d", false },
		{ "T/dir", false }, { "T/plain", false }, { "T/d", true }, { "T/l", true },
		{ ":/nowhere:T/dir:T/plain:d:T/d:T/dir", true }, { "T/d/", true },
	};

	assert_non_null(mkdtemp(dir));
	EQUAL(chdir(dir), 0);
	EQUAL(mkdir("dir", 0700) || mkdir("dir/p", 0700) || mkdir("plain", 0700) ||
	      mkdir("d", 0700) || mkdir("l", 0700) || symlink("../d/p", "l/p"), 0);
	make_file("plain/p", 0600);
	make_file("d/p", 0700);
	for_each (row, cases) {
		cleanup_free char *path = with_directory(row->path, dir), *found = NULL;

		found = ga_find_program(*path ? path : NULL, "p");
		if (!found != !row->found || (found && !ga_is_program(found)))
			fail_msg("'%s': %s", row->path, found ? found : "not found");
	}
	EQUAL(unlink("l/p") || unlink("d/p") || unlink("plain/p") || rmdir("dir/p") ||
	      rmdir("l") || rmdir("d") || rmdir("plain") || rmdir("dir"), 0);
	EQUAL(chdir("/") || rmdir(dir), 0);
}

TEST(gt20_no_relative_directory_is_searched)
{
	static const char *const paths[] = { ".:T", ":T", "d::T", "./d:T:", "T:d", "T:", "..:T:..", "T" };
	static const char *const others[] = { ".:d", ":", "d", "" };
	char dir[] = "/tmp/ga-process.XXXXXX", planted[] = "/tmp/ga-process.XXXXXX";
	cleanup_free char *before = ga_strdup(getenv("PATH"));

	assert_true(mkdtemp(dir) && mkdtemp(planted));
	EQUAL(chdir(planted) || mkdir("d", 0700), 0);
	make_script("p", "echo planted");
	make_script("d/p", "echo planted");
	make_script("d/q", "echo planted");
	EQUAL(chdir(dir), 0);
	make_script("p", "echo \"ours $PATH\"");
	EQUAL(chdir(planted), 0);
	for_each (row, paths) {
		cleanup_free char *path = with_directory(*row, dir), *want = ga_strf("ours %s\n", dir);
		BUF(out);

		EQUAL(setenv("PATH", path, 1), 0);
		EQUAL(run_named("p", &out), 0);
		STREQ(out.ptr, want);
		EQUAL(run_named("q", &out), -1);
	}
	for_each (row, others) {
		BUF(out);

		EQUAL(setenv("PATH", *row, 1), 0);
		EQUAL(run_named("p", &out), -1);
		/* the system's, not where it stands: that is what a shell takes nothing for */
		EQUAL(run_named("env", &out), 0);
		assert_has(out.ptr, "PATH=" GA_SYSTEM_PATH "\n");
	}
	EQUAL(setenv("PATH", before, 1), 0);
	EQUAL(unlink("p") || unlink("d/p") || unlink("d/q") || rmdir("d") || chdir(dir) ||
	      unlink("p") || chdir("/") || rmdir(dir) || rmdir(planted), 0);
}

TEST_MAIN(NULL, NULL)
