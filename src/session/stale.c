/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"

/* Is it a directory that was not given its name yet, or is being removed? */
static bool is_temporary(const char *name)
{
	return !strncmp(name, ".new-", 5) || !strncmp(name, ".stale-", 7);
}

/* Returns 1 if its maker, which holds its lock from the beginning, is alive. */
static int in_use(int sessions, const char *name, int *ret_lock, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(name, "lock");

	*ret_lock = openat(sessions, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return *ret_lock < 0 ? 0 : ga_flock(*ret_lock, true, false, err);
}

int ga_session_sweep(const char *state_dir, time_t before, bool dry, struct ga_strv *names,
		     struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(state_dir, "sessions");
	cleanup_close int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	cleanup_dir DIR *d = at < 0 ? NULL : opendir(path);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (is_temporary(e->d_name))
			ga_strv_push(&all, e->d_name);
	for (size_t i = 0; i < all.n; i++) {
		cleanup_close int lock = -1;
		struct stat st;
		int rc;

		/* one made a moment ago may not have its lock yet */
		if (fstatat(at, all.v[i], &st, AT_SYMLINK_NOFOLLOW) || st.st_mtime >= before)
			continue;
		rc = in_use(at, all.v[i], &lock, err);
		if (rc < 0 || (!rc && !dry && ga_rmtree_at(at, all.v[i], err)))
			return -1;
		if (!rc)
			ga_strv_push(names, all.v[i]);
	}
	return 0;
}
