/* SPDX-License-Identifier: MIT */

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ga/base/path.h"
#include "../scratch.h"

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	(void)close(fd);
}

static void dir(const char *path)
{
	if (mkdir(path, 0755))
		fail_msg("%s: %s", path, strerror(errno));
}

static bool there(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

static void gone(const char *path)
{

	OK(ga_rmtree_at(AT_FDCWD, path, &err));
	if (there(path))
		fail_msg("%s is still there", path);
}

TEST(files_and_nothing_are_removed)
{
	gone("never-was");
	touch("f");
	gone("f");
	dir("d");
	gone("d");
	dir("sub");
	dir("sub/d");
	touch("sub/d/f");
	gone("sub/d");
	assert_true(there("sub"));
}

TEST(every_type_of_file_is_removed)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX, .sun_path = "t/sock" };
	cleanup_close int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	dir("t");
	dir("t/d");
	touch("t/d/\n\x1b[31m\xff");
	touch("t/.hidden");
	EQUAL(mkfifo("t/fifo", 0600), 0);
	EQUAL(bind(s, (struct sockaddr *)&sun, sizeof(sun)), 0);
	/* names the walk itself would use, taken by files and directories */
	dir("t/.rm-0");
	touch("t/.rm-0/f");
	touch("t/.rm-1");
	dir("t/d/.rm-2");
	dir("t/d/.rm-2/.rm-3");
	touch("t/d/.rm-2/.rm-3/f");
	gone("t");
}

TEST(links_are_not_followed)
{
	dir("precious");
	touch("precious/file");
	dir("l");
	dir("l/d");
	EQUAL(symlink("../precious", "l/link"), 0);
	EQUAL(symlink("../../precious", "l/d/link"), 0);
	EQUAL(symlink("..", "l/d/up"), 0);
	EQUAL(symlink("/", "l/d/root"), 0);
	EQUAL(link("precious/file", "l/d/hard"), 0);
	gone("l");
	assert_true(there("precious/file"));
	EQUAL(symlink("precious", "l"), 0);
	gone("l");
	assert_true(there("precious/file"));
}

/* Deeper than a path can name, a stack hold or a descriptor table open. */
TEST(a_very_deep_tree_is_removed)
{
	cleanup_close int at = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct rlimit old, few = { 32, 32 };

	for (int i = 0; i < 3000; i++) {
		const char *name = i ? "a-directory-with-a-name" : "deep";
		int next;

		EQUAL(mkdirat(at, name, 0755), 0);
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		EQUAL(mkdirat(next, "beside", 0755), 0);
		(void)close(at);
		at = next;
	}
	(void)close(openat(at, "bottom", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	EQUAL(getrlimit(RLIMIT_NOFILE, &old), 0);
	few.rlim_max = old.rlim_max;
	EQUAL(setrlimit(RLIMIT_NOFILE, &few), 0);
	gone("deep");
	EQUAL(setrlimit(RLIMIT_NOFILE, &old), 0);
}

TEST(a_very_wide_directory_is_removed)
{
	dir("wide");
	for (int i = 0; i < 2000; i++) {
		cleanup_free char *d = ga_strf("wide/%d", i);
		cleanup_free char *sub = ga_strf("wide/%d/sub", i), *f = ga_strf("wide/%d/sub/f", i);

		dir(d);
		dir(sub);
		touch(f);
	}
	gone("wide");
}

/* overlay leaves work/work with mode 000, and an agent may set any mode. */
TEST(directories_of_any_mode_are_removed)
{
	static const mode_t modes[] = { 0000, 0100, 0200, 0300, 0400, 0500, 0600, 02555 };

	dir("m");
	for_index (i, modes) {
		cleanup_free char *a = ga_strf("m/%zu", i), *b = ga_strf("m/%zu/b", i);
		cleanup_free char *c = ga_strf("m/%zu/b/c", i), *f = ga_strf("m/%zu/b/c/f", i);

		dir(a);
		dir(b);
		dir(c);
		touch(f);
		EQUAL(chmod(f, modes[i]), 0);
		EQUAL(chmod(c, modes[i]), 0);
		EQUAL(chmod(b, modes[i]), 0);
		EQUAL(chmod(a, modes[i]), 0);
	}
	EQUAL(chmod("m", 0), 0);
	gone("m");
}

#define TOGETHER 4

/* Commands that come upon the same leftovers all end well. */
TEST(two_processes_remove_one_tree)
{
	for (int round = 0; round < 20; round++) {
		pid_t pids[TOGETHER];
		int go[2];

		dir("t");
		for (int i = 0; i < 30; i++) {
			cleanup_free char *a = ga_strf("t/%d", i), *b = ga_strf("t/%d/b", i);
			cleanup_free char *c = ga_strf("t/%d/b/c", i), *f = ga_strf("t/%d/b/c/f", i);
			cleanup_free char *g = ga_strf("t/f%d", i);

			dir(a);
			dir(b);
			dir(c);
			touch(f);
			touch(g);
		}
		EQUAL(pipe(go), 0);
		for (int i = 0; i < TOGETHER; i++) {
			pids[i] = fork();
			if (!pids[i]) {
				ERR(err);
				char c;

				(void)close(go[1]);
				(void)!read(go[0], &c, 1);
				_exit(ga_rmtree_at(AT_FDCWD, "t", &err) ? 1 : 0);
			}
		}
		(void)close(go[1]);
		(void)close(go[0]);
		for (int i = 0; i < TOGETHER; i++) {
			int status;

			EQUAL(waitpid(pids[i], &status, 0), pids[i]);
			EQUAL(status, 0);
		}
		assert_false(there("t"));
	}
}

TEST(failure_is_said)
{
	ERR(err);

	dir("ro");
	dir("ro/x\ny");
	EQUAL(chmod("ro", 0555), 0);
	EQUAL(ga_rmtree_at(AT_FDCWD, "ro/x\ny", &err), -1);
	assert_has(err.msg, "x\\ny");
	assert_null(strchr(err.msg, '\n'));
	EQUAL(chmod("ro", 0755), 0);
	gone("ro");
}

TEST_MAIN(scratch_enter, scratch_leave)
