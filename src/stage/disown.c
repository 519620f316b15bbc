/* SPDX-License-Identifier: MIT
 *
 * Idmapped copies of mounts, in which root's files belong to nobody. They are made before the stage
 * enters namespaces of its own, where it would lack the rights for it, and attached there.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "stage.h"

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
