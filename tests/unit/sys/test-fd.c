/* SPDX-License-Identifier: MIT */

#include <dirent.h>
#include <linux/fs.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ga/base/parse.h"
#include "ga/sys/sync.h"
#include "../scratch.h"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	if (!f)
		fail_msg("%s: %s", path, strerror(errno));
	(void)fputs(text, f);
	EQUAL(fclose(f), 0);
}

static char *get(const char *path)
{
	struct ga_buf b = GA_BUF_INIT;

	OK(ga_read_file_at(AT_FDCWD, path, 1 << 20, &b, &err));
	return ga_buf_steal(&b);
}

static size_t entries(const char *dir)
{
	DIR *d = opendir(dir);
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n - 2;
}

/* ---- reading */

TEST(probing_a_directory_leaves_nothing)
{
	struct ga_error err = GA_ERROR_INIT;
	size_t before;
	int fd;

	EQUAL(mkdir("probed", 0777), 0);
	before = entries("probed");
	fd = ga_scratch_file("probed", &err);
	assert_true(fd >= 0);
	EQUAL(ga_write_full(fd, "x", 1), 0);
	(void)close(fd);
	EQUAL(ga_probe_write("probed", 0, &err), 0);
	EQUAL(ga_probe_write("probed", 200000, &err), 0);
	EQUAL(entries("probed"), before);
	EQUAL(ga_probe_write("missing", 1, &err), -1);
	assert_has(err.msg, "'missing'");
	ga_error_release(&err);
}

TEST(only_a_small_regular_file_is_read)
{
	static const struct {
		const char *path;
		size_t max;
		const char *text; /* NULL: an error */
	} cases[] = {
		{ "ten", 10, "0123456789" },
		{ "ten", 11, "0123456789" },
		{ "ten", 9, NULL },
		{ "empty", 0, "" },
		{ "none", 10, NULL },
		{ "tenlink", 10, NULL },
		{ "fifo", 10, NULL },
		{ ".", 10, NULL },
		{ "/dev/zero", 10, NULL },
		{ "/dev/tty", 10, NULL },
		{ "locked", 10, NULL },
	};

	put("ten", "0123456789");
	put("empty", "");
	put("locked", "");
	EQUAL(chmod("locked", 0), 0);
	EQUAL(symlink("ten", "tenlink"), 0);
	EQUAL(mkfifo("fifo", 0666), 0);
	(void)alarm(20); /* a FIFO opened without O_NONBLOCK would wait for ever */
	for_each (row, cases) {
		ERR(err);
		BUF(b);
		int rc;

		ga_buf_adds(&b, ">");
		rc = ga_read_file_at(AT_FDCWD, row->path, row->max, &b, &err);
		if (rc != (row->text ? 0 : -1))
			fail_msg("%s: %d %s", row->path, rc, err.msg ? err.msg : "");
		if (rc)
			assert_has(err.msg, row->path);
		else
			STREQ(b.ptr + 1, row->text);
	}
	(void)alarm(0);
}

/* ---- writing */

TEST(an_atomic_write_replaces_a_file_or_a_link)
{
	cleanup_free char *text = NULL;
	struct stat before, after;
	size_t n = entries(".");

	put("outside2", "untouched");
	OK(ga_write_atomic(AT_FDCWD, "state", "one", 3, 0600, &err));
	EQUAL(stat("state", &before), 0);
	EQUAL(before.st_mode & 0777, 0600);
	OK(ga_write_atomic(AT_FDCWD, "./state", "second", 6, 0644, &err));
	EQUAL(stat("state", &after), 0);
	assert_int_not_equal(before.st_ino, after.st_ino);
	text = get("state");
	STREQ(text, "second");
	/* no temporary is left; a symlink is replaced, not written through */
	EQUAL(entries("."), n + 2);
	EQUAL(unlink("state"), 0);
	EQUAL(symlink("outside2", "state"), 0);
	OK(ga_write_atomic(AT_FDCWD, "state", "", 0, 0644, &err));
	EQUAL(lstat("state", &after), 0);
	assert_true(S_ISREG(after.st_mode));
	free(text);
	text = get("outside2");
	STREQ(text, "untouched");
}

TEST(an_atomic_write_that_fails_leaves_the_old_file)
{
	cleanup_free char *text = NULL;

	EQUAL(mkdir("ro", 0755), 0);
	put("ro/state", "old");
	EQUAL(chmod("ro", 0555), 0);
	FAILS(ga_write_atomic(AT_FDCWD, "ro/state", "new", 3, 0644, &err), "");
	EQUAL(chmod("ro", 0755), 0);
	text = get("ro/state");
	STREQ(text, "old");
	EQUAL(mkdir("ro/full", 0755), 0);
	put("ro/full/x", "");
	FAILS(ga_write_atomic(AT_FDCWD, "ro/full", "new", 3, 0644, &err), "");
	EQUAL(entries("ro"), 2);
	FAILS(ga_write_atomic(AT_FDCWD, "nodir/x", "new", 3, 0644, &err), "");
}

TEST(a_new_file_overwrites_nothing)
{
	cleanup_free char *text = NULL;

	OK(ga_write_new(AT_FDCWD, "fresh", "one", 3, 0600, &err));
	FAILS(ga_write_new(AT_FDCWD, "fresh", "two", 3, 0600, &err), "");
	text = get("fresh");
	STREQ(text, "one");
	EQUAL(symlink("not-there", "dangling"), 0);
	FAILS(ga_write_new(AT_FDCWD, "dangling", "x", 1, 0600, &err), "");
	EQUAL(access("not-there", F_OK), -1);
	FAILS(ga_write_new(AT_FDCWD, "nodir/x", "new", 3, 0644, &err), "");
}

TEST(a_directory_with_a_hidden_file_is_not_empty)
{
	EQUAL(mkdir("hollow", 0755), 0);
	assert_true(ga_dir_is_empty("hollow"));
	put("hollow/.x", "");
	assert_false(ga_dir_is_empty("hollow"));
	assert_true(ga_dir_is_empty("hollow/none"));
	assert_false(ga_dir_is_empty("hollow/.x"));
}

static int say_no(void *payload, struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "%s", (const char *)payload);
}

TEST(an_atomic_write_waits_for_what_comes_first)
{
	struct ga_error err = GA_ERROR_INIT;
	char why[] = "not yet";
	char *b;

	EQUAL(mkdir("first", 0755), 0);
	put("first/state", "old");
	EQUAL(ga_write_atomic_after(AT_FDCWD, "first/state", "new", 3, 0644, say_no, why, &err), -1);
	STREQ(err.msg, why);
	ga_error_release(&err);
	b = get("first/state");
	STREQ(b, "old");
	free(b);
	EQUAL(entries("first"), 1);
}

/* Which of them fails, if any: "file/x" cannot be opened, "/dev/null" cannot be synced. */
static void check_sync(const char *const *paths, const char *failing)
{
	struct ga_error one = GA_ERROR_INIT, two = GA_ERROR_INIT;
	STRV(v);
	struct ga_sync_job *b;

	for (; *paths; paths++)
		ga_strv_push(&v, *paths);
	EQUAL(ga_sync_paths(&v, &one), failing ? -1 : 0);
	b = ga_sync_begin(&v, 2);
	assert_non_null(b);
	EQUAL(v.n, 0);
	EQUAL(ga_sync_end(b, &two), failing ? -1 : 0);
	if (failing) {
		assert_has(one.msg, failing);
		STREQ(one.msg, two.msg);
	}
	ga_error_release(&one);
	ga_error_release(&two);
}

TEST(syncing_fails_for_what_cannot_be_synced_but_is_there)
{
	static const char *const fine[] = { "file", "gone", "gone/below", ".", NULL };
	static const char *const below_file[] = { "file", ".", "file", "file/x", "file", NULL };
	static const char *const no_disk[] = { "/dev/null", NULL };
	struct ga_strv none = GA_STRV_INIT;

	put("file", "text");
	check_sync(fine, NULL);
	check_sync(below_file, "cannot sync 'file/x': Not a directory");
	check_sync(no_disk, "cannot sync '/dev/null': Invalid argument");
	assert_null(ga_sync_begin(&none, 3));
	OK(ga_sync_end(NULL, &err));
	OK(ga_sync_paths(&none, &err));
}

TEST(a_reader_sees_one_version_of_a_file_or_the_other)
{
	ERR(err);
	static char a[60000], b[50000];
	pid_t pid;

	memset(a, 'a', sizeof(a));
	memset(b, 'b', sizeof(b));
	EQUAL(ga_write_atomic(AT_FDCWD, "race", a, sizeof(a), 0644, &err), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (;;) {
			(void)ga_write_atomic(AT_FDCWD, "race", b, sizeof(b), 0644, &err);
			(void)ga_write_atomic(AT_FDCWD, "race", a, sizeof(a), 0644, &err);
		}
	}
	for (int i = 0; i < 500; i++) {
		cleanup_free char *text = get("race");
		size_t n = strlen(text);

		if ((n != sizeof(a) || strspn(text, "a") != n) && (n != sizeof(b) || strspn(text, "b") != n))
			fail_msg("read %zu bytes, %zu of them a", n, strspn(text, "a"));
	}
	EQUAL(kill(pid, SIGKILL), 0);
	EQUAL(waitpid(pid, NULL, 0), pid);
}

TEST(directories_are_made_with_their_parents)
{
	static const struct {
		const char *path;
		int rc;
	} cases[] = {
		{ "m", 0 },	      { "m/a/b/c", 0 }, { "m/a/b/c", 0 },     { "m/x/y/", 0 },
		{ "mfile", -1 },      { "mfile/a", -1 }, { "mdangling", -1 }, { "mdangling/a", -1 },
		{ "mlink", 0 },	      { "mlink/in", 0 },
	};
	struct stat st;

	put("mfile", "");
	EQUAL(symlink("nowhere", "mdangling"), 0);
	EQUAL(symlink("m", "mlink"), 0);
	for_each (row, cases) {
		ERR(err);
		int rc = ga_mkdir_p(row->path, 0700, &err);

		if (rc != row->rc)
			fail_msg("%s: %d", row->path, rc);
	}
	EQUAL(stat("m/a/b", &st), 0);
	EQUAL(st.st_mode & 07777, 0700);
}

TEST(a_copy_has_the_bytes_the_time_and_the_mode)
{
	BUF(in);
	BUF(out);
	struct timespec ts[2] = { { 1000, 123456789 }, { 2000, 987654321 } };
	cleanup_close int src = -1;
	struct stat st;

	for (unsigned i = 0; i < 50000; i++)
		ga_buf_addf(&in, "%u ", i);
	OK(ga_write_atomic(AT_FDCWD, "src", in.ptr, in.len, 0640, &err));
	EQUAL(chmod("src", 04751), 0);
	EQUAL(utimensat(AT_FDCWD, "src", ts, 0), 0);
	src = open("src", O_RDONLY | O_CLOEXEC);
	OK(ga_copy_fd_to(src, AT_FDCWD, "dst", &err));
	EQUAL(stat("dst", &st), 0);
	EQUAL(st.st_mode & 07777, 0751); /* never set-uid */
	EQUAL(st.st_mtim.tv_sec, 2000);
	EQUAL(st.st_mtim.tv_nsec, 987654321);
	OK(ga_read_file_at(AT_FDCWD, "dst", SIZE_MAX, &out, &err));
	EQUAL(out.len, in.len);
	assert_memory_equal(out.ptr, in.ptr, in.len);
	/* never over something that is there, symlinks included */
	EQUAL(symlink("nowhere", "dstlink"), 0);
	FAILS(ga_copy_fd_to(src, AT_FDCWD, "dstlink", &err), "");
	EQUAL(access("nowhere", F_OK), -1);
}

/* ---- a file system that can share blocks, in place of the one at hand ---- */

static int shares; /* 0: as it is here; 1: it shares them; -1: neither that nor copying in the kernel */
static int shared_src = -1, shared_count;

int __real_ioctl(int fd, unsigned long request, ...);
int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	if (request != FICLONE || !shares)
		return __real_ioctl(fd, request, arg);
	shared_count++;
	shared_src = (int)(intptr_t)arg;
	if (shares > 0)
		return 0;
	errno = EOPNOTSUPP;
	return -1;
}

ssize_t __real_copy_file_range(int src, off64_t *from, int dst, off64_t *to, size_t n, unsigned flags);
ssize_t __wrap_copy_file_range(int src, off64_t *from, int dst, off64_t *to, size_t n, unsigned flags);
ssize_t __wrap_copy_file_range(int src, off64_t *from, int dst, off64_t *to, size_t n, unsigned flags)
{
	if (!shares)
		return __real_copy_file_range(src, from, dst, to, n, flags);
	errno = EXDEV;
	return -1;
}

/* Where blocks can be shared, they are, and not one byte is copied; where nothing but reading and writing
 * works, that is done. */
TEST(copying_shares_blocks)
{
	BUF(out);
	cleanup_close int src = -1;
	struct stat st;

	put("blocks", "text");
	src = open("blocks", O_RDONLY | O_CLOEXEC);
	shares = 1;
	OK(ga_copy_fd_to(src, AT_FDCWD, "sharing", &err));
	shares = -1;
	OK(ga_copy_fd_to(src, AT_FDCWD, "by-hand", &err));
	shares = 0;
	EQUAL(shared_count, 2);
	EQUAL(shared_src, src);
	EQUAL(stat("sharing", &st), 0);
	EQUAL(st.st_size, 0); /* what the call would have shared */
	EQUAL(lseek(src, 0, SEEK_CUR), 4);
	OK(ga_read_file_at(AT_FDCWD, "by-hand", 100, &out, &err));
	EQUAL(out.len, 4);
	assert_memory_equal(out.ptr, "text", 4);
}

TEST(a_copy_that_fails_leaves_nothing)
{
	cleanup_close int wo = open("src", O_WRONLY | O_CLOEXEC);

	assert_true(wo >= 0);
	FAILS(ga_copy_fd_to(wo, AT_FDCWD, "half", &err), "");
	EQUAL(access("half", F_OK), -1);
}

/* ---- memory files, locks, ownership */

TEST(memory_files_are_sealed)
{
	ERR(err);
	cleanup_close int fd = ga_memfd("args", "a\0b", 3, &err), again = -1;
	cleanup_free char *proc = ga_strf("/proc/self/fd/%d", fd);
	char got[8];

	assert_true(fd >= 0);
	EQUAL(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	EQUAL(lseek(fd, 0, SEEK_CUR), 0);
	EQUAL(read(fd, got, sizeof(got)), 3);
	assert_memory_equal(got, "a\0b", 3);
	EQUAL(pwrite(fd, "x", 1, 0), -1);
	EQUAL(errno, EPERM);
	EQUAL(ftruncate(fd, 0), -1);
	EQUAL(ftruncate(fd, 10), -1);
	EQUAL(fcntl(fd, F_ADD_SEALS, 0), -1);
	assert_ptr_equal(mmap(NULL, 3, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	again = open(proc, O_RDWR | O_CLOEXEC);
	assert_true(again < 0 || write(again, "x", 1) == -1);
}

TEST(shared_locks_exclude_an_exclusive_one)
{
	ERR(err);
	cleanup_close int a = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cleanup_close int b = open("lock", O_RDWR | O_CLOEXEC), c = open("lock", O_RDWR | O_CLOEXEC);

	EQUAL(ga_flock(a, false, false, &err), 0);
	EQUAL(ga_flock(b, false, false, &err), 0);
	EQUAL(ga_flock(c, true, false, &err), 1);
	assert_null(err.msg);
	(void)close(ga_steal_fd(&a));
	EQUAL(ga_flock(b, true, true, &err), 0);
	EQUAL(ga_flock(c, false, false, &err), 1);
	(void)close(ga_steal_fd(&b));
	EQUAL(ga_flock(c, true, false, &err), 0);
	EQUAL(a, -1);
	EQUAL(ga_flock(-1, true, false, &err), -1);
}

static int closes_and_fails(void)
{
	cleanup_close int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	errno = ECHILD;
	return fd;
}

TEST(a_socket_may_have_a_path_of_any_length)
{
	char long_name[101], too_long[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	cleanup_close int dir = -1, at = -1, server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cleanup_close int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un sa;

	memset(long_name, 'd', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	EQUAL(mkdir(long_name, 0700), 0);
	dir = open(long_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0 && ga_unix_address(dir, "/socket", &sa));
	EQUAL(bind(server, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	EQUAL(listen(server, 1), 0);
	at = openat(dir, "socket", O_PATH | O_CLOEXEC);
	assert_true(at >= 0 && ga_unix_address(at, "", &sa));
	EQUAL(connect(client, (const struct sockaddr *)&sa, sizeof(sa)), 0);
	memset(too_long, 'n', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	assert_false(ga_unix_address(dir, too_long, &sa));
	EQUAL(errno, ENAMETOOLONG);
}

TEST(cleanup_keeps_errno)
{
	int fd = closes_and_fails();

	EQUAL(errno, ECHILD);
	EQUAL(fcntl(fd, F_GETFD), -1);
}

TEST_MAIN(scratch_enter, scratch_leave)
