/* SPDX-License-Identifier: MIT
 *
 * Create and remove the parent directories of a file, beneath a descriptor.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"

#define DEPTH_MAX 128

int ga_open_parent_beneath(int root, const char *path, bool make)
{
	cleanup_close int at = fcntl(root, F_DUPFD_CLOEXEC, 3);
	const char *p = path, *slash;

	while (at >= 0 && (slash = strchr(p, '/'))) {
		cleanup_free char *name = ga_strndup(p, (size_t)(slash - p));
		int next;

		if (make && mkdirat(at, name, 0777) && errno != EEXIST)
			return -1;
		next = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		(void)close(at);
		at = next;
		p = slash + 1;
	}
	return ga_steal_fd(&at);
}

void ga_remove_empty_above(int root, const char *path)
{
	cleanup_free char *dir = ga_path_parent(path);

	while (*dir) {
		cleanup_close int at = ga_open_parent_beneath(root, dir, false);
		char *up = ga_path_parent(dir);
		int rc = at < 0 ? -1 : unlinkat(at, ga_path_base(dir), AT_REMOVEDIR);

		free(dir);
		dir = up;
		if (rc)
			return;
	}
}

static int remove_hollow(int at, const char *name, unsigned depth)
{
	cleanup_dir DIR *d = NULL;
	struct dirent *e;
	int rc = 0;

	if (!unlinkat(at, name, AT_REMOVEDIR))
		return 0;
	if ((errno != ENOTEMPTY && errno != EEXIST) || depth >= DEPTH_MAX)
		return -1;
	d = ga_dir_of(openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	while (!rc && (e = ga_dir_next(d)))
		rc = remove_hollow(dirfd(d), e->d_name, depth + 1);
	return !d || rc || unlinkat(at, name, AT_REMOVEDIR) ? -1 : 0;
}

int ga_remove_hollow_beneath(int root, const char *path)
{
	cleanup_close int at = ga_open_parent_beneath(root, path, false);

	return at < 0 ? -1 : remove_hollow(at, ga_path_base(path), 0);
}
