/* SPDX-License-Identifier: MIT
 *
 * Removing a shared directory that a program inside removes. It is a mount point there, locked
 * since it came with the sandbox's namespaces, and the kernel refuses rmdir(2) of what is a mount
 * point in the mount namespace of the caller. In any other one it is a directory like others, and
 * when that is removed the kernel takes down what is mounted on it, wherever it is. So we remove
 * it, from here: no namespace is entered, and any process of the user could do the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "run/run-internal.h"

static void add(struct ga_strv *ret, const char *project, const struct ga_spec *s)
{
	const char *part = ga_path_below(s->project, project);

	for (size_t i = 0; part && i < s->n_shared; i++) {
		ga_strv_take(ret, *part ? ga_path_join(part, s->shared[i].rel)
					: ga_strdup(s->shared[i].rel));
		ga_strv_push(ret, s->shared[i].removed);
	}
	for (size_t i = 0; i < s->n_parts; i++)
		add(ret, project, &s->parts[i]);
}

void run_shares_set(struct ga_sandbox *sb, const struct ga_spec *s)
{
	free(sb->trees);
	/* the stage is our child, which nobody but us reaps */
	sb->trees = ga_strf("/proc/%d/root%s/project", (int)sb->bwrap, s->stage_dir);
	ga_strv_release(&sb->shared);
	add(&sb->shared, s->project, s);
}

uint32_t run_shares_flags(const struct ga_sandbox *sb)
{
	for (size_t i = 0; i < sb->shared.n; i += 2)
		if (strchr(sb->shared.v[i], '/'))
			return GA_SPAWN_DEEP;
	return 0;
}

/* Is this the root of an overlay with that device number? While it is mounted no other has it. */
static bool is_mount(int at, const char *path, uint64_t device)
{
	cleanup_close int fd = ga_openat_beneath(at, path, O_PATH | O_DIRECTORY, 0);
	struct stat st;

	return fd >= 0 && ga_mount_is_overlay(fd) && !fstat(fd, &st) && st.st_dev == device;
}

/* Whether we end before, between or after the two: it is empty, and not shown again. */
static int remove_dir(int at, const char *path, const char *removed)
{
	cleanup_free char *above = ga_path_parent(path);
	cleanup_close int parent = ga_openat_beneath(at, *above ? above : ".",
						     O_PATH | O_DIRECTORY, 0);
	cleanup_close int mark = parent < 0 ? -1 : open(removed, O_WRONLY | O_CREAT | O_EXCL |
							O_NOFOLLOW | O_CLOEXEC, 0600);
	int e;

	if (mark < 0)
		return errno;
	(void)ga_fault("shared:noted");
	if (!unlinkat(parent, ga_path_base(path), AT_REMOVEDIR))
		return 0;
	e = errno;
	(void)unlink(removed);
	return e;
}

/* Paths lead through what the agent writes, but to a mount point of this device only one does:
 * neither a mount point nor a directory above one can be renamed inside. */
static int answer(const struct ga_sandbox *sb, const struct ga_ctl_msg *m)
{
	cleanup_close int at = sb->trees ? open(sb->trees, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

	for (size_t i = 0; at >= 0 && i < sb->shared.n; i += 2)
		if (is_mount(at, sb->shared.v[i], m->value64))
			return m->flags == GA_SHARED_REMOVE
				       ? remove_dir(at, sb->shared.v[i], sb->shared.v[i + 1]) : 0;
	return EBUSY;
}

void run_shares_message(const struct ga_sandbox *sb, const struct ga_ctl_msg *m)
{
	struct ga_ctl_msg reply = *m;

	if (m->type != GA_CTL_SHARED || sb->elsewhere)
		return;
	reply.value = answer(sb, m);
	(void)TEMP_FAILURE_RETRY(send(sb->ctl, &reply, sizeof(reply), MSG_NOSIGNAL));
}
