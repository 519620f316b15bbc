/* SPDX-License-Identifier: MIT
 *
 * Create the user namespace above those of all sandboxes that share a stage directory: the kernel
 * charges ucounts to each namespace above as well, so its limits hold for all sandboxes together,
 * and the other half remains for the user's own programs. And create idmapped copies of mounts, in
 * which root's files belong to nobody, before the stage enters namespaces of its own, where it
 * would lack the rights for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "ga/sys/ns.h"
#include "stage.h"

/* The file has words with a NUL each: the inode of that namespace and the process of a sandbox
 * beneath it, and so on. */
#define WORDS_MAX ((size_t)1 << 20)

/* A process can use up its user's limit on these, and then no editor and no build can watch files.
 * Not in every kernel. */
static const char *const counts[] = { "inotify_instances", "inotify_watches", "fanotify_groups",
				      "fanotify_marks" };

static int open_count(const char *name, int flags)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/sys/user/max_%s", name);
	return open(path, flags | O_CLOEXEC);
}

/* Half of the user's limit, as text; "" if it is unknown. */
static void read_half(const char *name, char ret[32])
{
	cleanup_close int fd = open_count(name, O_RDONLY);
	char text[32];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	uint64_t limit;

	*ret = '\0';
	if (n <= 0)
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (ga_parse_u64(text, UINT64_MAX, &limit))
		(void)snprintf(ret, 32, "%llu", (unsigned long long)limit / 2);
}

static int unshare_user(unsigned uid, unsigned gid, struct stage_fault *f)
{
	if (ga_ns_unshare_user())
		return stage_fail(f, GA_STEP_USERNS, errno, "");
	return ga_ns_map_self(uid, gid) ? stage_fail(f, GA_STEP_IDMAP, errno, "") : 0;
}

/* Where /proc/sys is read-only, as in many containers, there is no limit but the user's. */
static int make_common(unsigned uid, unsigned gid, struct stage_fault *f)
{
	char half[sizeof(counts) / sizeof(counts[0])][32];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		read_half(counts[i], half[i]);
	if (unshare_user(uid, gid, f))
		return -1;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		cleanup_close int fd = open_count(counts[i], O_WRONLY);

		if (fd >= 0)
			(void)ga_write_full(fd, half[i], strlen(half[i]));
	}
	return 0;
}

/* The namespace above that of a process, if it is still the one of that inode, or -1. */
static int open_above(const char *pid, uint64_t inode)
{
	cleanup_free char *path = ga_strf("/proc/%s/ns/user", pid);
	cleanup_close int own = open(path, O_RDONLY | O_CLOEXEC), above = -1;
	struct stat st;

	if (own >= 0)
		above = ioctl(own, NS_GET_PARENT);
	return above < 0 || fstat(above, &st) || st.st_ino != inode ? -1 : ga_steal_fd(&above);
}

/* Keep the words of sandboxes that are there; returns the namespace above them, or -1. */
static int find_common(int file, struct ga_buf *keep)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	cleanup_close int common = -1;
	const char *inode, *pid;
	size_t pos = 0;

	(void)ga_read_fd(file, WORDS_MAX, &words, GA_IGNORED);
	while ((inode = ga_buf_next0(&words, &pos)) && (pid = ga_buf_next0(&words, &pos))) {
		uint64_t i, p;
		int fd = ga_parse_u64(inode, UINT64_MAX, &i) && ga_parse_u64(pid, INT32_MAX, &p) ?
			 open_above(pid, i) : -1;

		if (fd < 0)
			continue;
		ga_buf_add0(keep, inode);
		ga_buf_add0(keep, pid);
		ga_cleanup_closep(&common);
		common = fd;
	}
	return ga_steal_fd(&common);
}

static void add_number(struct ga_buf *b, unsigned long n)
{
	ga_buf_addf(b, "%lu", n);
	ga_buf_addch(b, '\0');
}

/* The lock is held until the own namespace is there, by which others find the common one. */
static int enter(int file, unsigned uid, unsigned gid, struct stage_fault *f)
{
	cleanup_buf struct ga_buf words = GA_BUF_INIT;
	cleanup_close int common = -1;
	struct stat st;

	if (TEMP_FAILURE_RETRY(flock(file, LOCK_EX)))
		return stage_fail(f, GA_STEP_USERNS, errno, "");
	common = find_common(file, &words);
	if (common < 0 && make_common(uid, gid, f))
		return -1;
	if ((common >= 0 && setns(common, CLONE_NEWUSER)) || stat("/proc/self/ns/user", &st))
		return stage_fail(f, GA_STEP_USERNS, errno, "");
	add_number(&words, (unsigned long)st.st_ino);
	add_number(&words, (unsigned long)getpid());
	if (unshare_user(uid, gid, f))
		return -1;
	return ftruncate(file, 0) || lseek(file, 0, SEEK_SET) ||
	       ga_write_full(file, words.ptr, words.len) ?
	       stage_fail(f, GA_STEP_USERNS, errno, "") : 0;
}

int stage_enter_user(const char *dir, struct stage_fault *f)
{
	cleanup_free char *path = ga_strf("%s.users", dir);
	cleanup_close int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	unsigned uid = geteuid(), gid = getegid();

	return file < 0 ? unshare_user(uid, gid, f) : enter(file, uid, gid, f);
}

/* In one write: the kernel accepts an id map only as a whole. */
static int write_map(pid_t pid, const char *name)
{
	static const char all_but_0[] = "1 1 4294967294\n";
	cleanup_free char *path = ga_strf("/proc/%d/%s", (int)pid, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : ga_write_full(fd, all_but_0, sizeof(all_but_0) - 1);
}

/* Write the maps from outside: the process that created the namespace has no rights over the ids of
 * the parent namespace, and the one that has them is not in it. */
static int map_and_open(pid_t pid, int other)
{
	cleanup_free char *path = ga_strf("/proc/%d/ns/user", (int)pid);
	char c;

	if (read(other, &c, 1) != 1 || write_map(pid, "uid_map") || write_map(pid, "gid_map"))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* A user namespace that no process stays in, which maps every id to itself except 0, which is
 * unmapped; -1 if the caller is not root of the machine. */
static int namespace_without_root(void)
{
	int fd = -1, pair[2];
	pid_t pid;
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -1;
	pid = fork();
	if (!pid) {
		(void)close(pair[0]);
		/* wait until the other end is closed, or its process gone */
		_exit(unshare(CLONE_NEWUSER) || ga_write_full(pair[1], "", 1) ||
		      read(pair[1], &c, 1) != 0);
	}
	(void)close(pair[1]);
	if (pid > 0)
		fd = map_and_open(pid, pair[0]);
	(void)close(pair[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd;
}

/* -1 if it is not possible: then the directory is shown unmapped. */
static int copy_for(const char *path, int userns, bool *ret_loose)
{
	cleanup_close int source = -1, copy = -1;
	int rc;

	*ret_loose = true;
	if (userns < 0)
		return -1;
	source = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	copy = source < 0 ? -1 : ga_mount_copy(source, GA_COPY_RO);
	rc = copy < 0 ? -1 : ga_mount_disown(copy, userns);
	*ret_loose = rc != 0;
	return rc < 0 ? -1 : ga_steal_fd(&copy);
}

int stage_disown(struct stage_plan *plan, struct stage_disowned *ret, struct stage_op *op,
		 struct ga_strv *ret_loose, struct stage_fault *f)
{
	cleanup_close int userns = -1;
	bool loose;
	int rc;

	*ret = (struct stage_disowned){ .n = 0 };
	while ((rc = stage_plan_next(plan, op, f)) > 0 && op->kind == STAGE_DISOWN) {
		if (ret->n == GA_PLAN_MAX_DISOWNED)
			return stage_fail(f, GA_STEP_PLAN, E2BIG, op->source);
		if (!ret->n)
			userns = namespace_without_root();
		ret->source[ret->n] = op->source;
		ret->copy[ret->n++] = copy_for(op->source, userns, &loose);
		if (loose)
			ga_strv_push(ret_loose, op->source);
	}
	return rc;
}

int stage_disowned_copy(const struct stage_disowned *d, const char *source)
{
	for (size_t i = 0; i < d->n; i++)
		if (!strcmp(d->source[i], source))
			return d->copy[i];
	return -1;
}

void stage_disowned_close(struct stage_disowned *d)
{
	for (size_t i = 0; i < d->n; i++)
		ga_cleanup_closep(&d->copy[i]);
}
