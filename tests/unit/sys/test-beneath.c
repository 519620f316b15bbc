/* SPDX-License-Identifier: MIT
 *
 * Paths below a directory, and which of them lead out of it.
 */

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>

#include "../scratch.h"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	(void)fputs(text, f);
	EQUAL(fclose(f), 0);
}

static const struct {
	const char *path;
	int flags, errnum; /* errnum 0: opens */
} beneath[] = {
	{ "file", O_RDONLY, 0 },
	{ "dir/sub/file", O_RDONLY, 0 },
	{ "dir/sub", O_RDONLY | O_DIRECTORY, 0 },
	{ "dir/sub", O_PATH, 0 },
	{ ".", O_RDONLY | O_DIRECTORY, 0 },
	{ "dir/new", O_WRONLY | O_CREAT | O_EXCL, 0 },
	{ "link", O_PATH | O_NOFOLLOW, 0 }, /* the link itself was asked for */
	{ "none", O_RDONLY, ENOENT },
	{ "dir/none/x", O_RDONLY, ENOENT },
	{ "file/x", O_RDONLY, ENOTDIR },
	{ "file", O_RDONLY | O_DIRECTORY, ENOTDIR },
	{ "link", O_RDONLY, ELOOP },
	{ "link", O_WRONLY, ELOOP },
	{ "link", O_PATH, ELOOP },
	{ "dangling", O_WRONLY | O_CREAT, ELOOP },
	{ "link", O_WRONLY | O_CREAT | O_EXCL, EEXIST },
	{ "dirlink", O_RDONLY | O_DIRECTORY, ELOOP },
	{ "dirlink", O_PATH | O_DIRECTORY, ELOOP },
	{ "dirlink/file", O_RDONLY, ELOOP },
	{ "dir/uplink/file", O_RDONLY, ELOOP },
	{ "abslink", O_RDONLY, ELOOP },
	{ "rootlink/etc/passwd", O_RDONLY, ELOOP },
	{ "procself/../cwd", O_RDONLY, ELOOP },
	{ "../outside", O_RDONLY, EXDEV },
	{ "dir/../../outside", O_RDONLY, EXDEV },
	{ "/etc/passwd", O_RDONLY, EXDEV },
};

static int open_all(int at)
{
	for_each (row, beneath) {
		cleanup_close int fd = ga_openat_beneath(at, row->path, row->flags, 0644);
		int errnum = fd < 0 ? errno : 0;

		if (errnum != row->errnum) {
			print_message("# %s (%o): %s, not %s\n", row->path, (unsigned)row->flags, strerror(errnum),
				      strerror(row->errnum));
			return -1;
		}
		if (fd >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC)) {
			print_message("# %s: without O_CLOEXEC\n", row->path);
			return -1;
		}
	}
	return unlinkat(at, "dir/new", 0);
}

static int make_maze(void **state)
{
	(void)state;
	put("outside", "secret");
	if (mkdir("top", 0755) || mkdir("top/dir", 0755) || mkdir("top/dir/sub", 0755))
		return -1;
	put("top/file", "file");
	put("top/dir/sub/file", "deep");
	return symlink("file", "top/link") || symlink("nowhere", "top/dangling") ||
	       symlink("dir/sub", "top/dirlink") || symlink("../..", "top/dir/uplink") ||
	       symlink("/etc/passwd", "top/abslink") || symlink("/", "top/rootlink") ||
	       symlink("/proc/self", "top/procself");
}

TEST_WITH(openat2_opens_nothing_outside_the_directory, make_maze, NULL)
{
	cleanup_close int at = open("top", O_PATH | O_DIRECTORY | O_CLOEXEC);

	EQUAL(open_all(at), 0);
}

/* From here on openat2 fails with `errnum` in this process. */
static int refuse_openat2(unsigned errnum)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = GA_NELEMS(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0))
		return -1;
	return syscall(SYS_openat2, -1, "", NULL, 0) == -1 && errno == (int)errnum ? 0 : -1;
}

/* The other way of opening says the same about every case: for old kernels,
 * and for containers whose filter does not know the call. */
TEST(without_openat2_nothing_outside_is_opened)
{
	static const unsigned errnums[] = { ENOSYS, EPERM };

	for_each (row, errnums) {
		pid_t pid = fork();
		int status;

		assert_true(pid >= 0);
		if (!pid) {
			int at = open("top", O_PATH | O_DIRECTORY | O_CLOEXEC);

			if (refuse_openat2(*row))
				_exit(2);
			_exit(open_all(at) ? 1 : 0);
		}
		EQUAL(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		EQUAL(WEXITSTATUS(status), 0);
	}
}

TEST(links_that_lead_out_are_refused)
{
	static const struct {
		const char *path;
		bool out;
	} cases[] = {
		{ "in/file", false },	{ "in/none", false },	 { "in/here", false },
		{ "in/up", false },	{ "in/up/in/here", false }, { "in/away", true },
		{ "in/etc", true },	{ "in/etc/passwd", true }, { "in/loop", true },
		{ "in/none/../..", false }, { "in/../..", true },
	};
	cleanup_close int fd = -1;

	EQUAL(mkdir("root", 0777) | mkdir("root/in", 0777), 0);
	put("root/in/file", "x");
	EQUAL(symlink("file", "root/in/here") | symlink("..", "root/in/up") |
		      symlink("../..", "root/in/away") | symlink("/etc", "root/in/etc") |
		      symlink("loop", "root/in/loop"), 0);
	fd = open("root", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	for_each (row, cases)
		if (ga_leads_out(fd, row->path) != row->out)
			fail_msg("%s", row->path);
}

TEST_MAIN(scratch_enter, scratch_leave)
