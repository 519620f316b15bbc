/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "pool-internal.h"

#define KEY_MAX ((size_t)64 << 20)
#define GONE ".gone-" /* prefix of a base that is being removed: the name is no number, so nobody
		       * uses it */

/* Why a base may be removed, or NULL. Its exclusive lock is held. */
static char *why_removable(int dir, int lock, time_t unused_since)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf key = GA_BUF_INIT;
	const char *workdir;
	struct stat st;
	size_t pos = 0;

	if (faccessat(dir, "commit", F_OK, AT_SYMLINK_NOFOLLOW))
		return ga_strdup("not complete");
	if (ga_read_file_at(dir, "key", KEY_MAX, &key, &ignored) || !ga_buf_next0(&key, &pos) ||
	    !(workdir = ga_buf_next0(&key, &pos)))
		return ga_strdup("damaged");
	if (access(workdir, F_OK) && errno == ENOENT) {
		cleanup_free char *q = ga_quote(workdir);

		return ga_strf("its working tree %s is gone", q);
	}
	if (fstat(lock, &st) || st.st_mtime >= unused_since)
		return NULL;
	return ga_strf("not used for %lld days", (long long)((time(NULL) - st.st_mtime) / 86400));
}

/* Rename it first, so that nobody takes half of it for a base, and remove it. */
static int remove_base(int bases, const char *name, struct ga_error *err)
{
	cleanup_free char *gone = ga_strf(GONE "%s", name);

	if (ga_rmtree_at(bases, gone, err))
		return -1;
	if (renameat(bases, name, bases, gone))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove base tree %s", name);
	return ga_rmtree_at(bases, gone, err);
}

static int prune_one(int bases, const char *name, time_t unused_since, bool dry,
		     struct ga_strv *names, struct ga_strv *whys, struct ga_error *err)
{
	cleanup_close int dir = openat(bases, name,
				       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_close int lock =
	    dir < 0 ? -1 : openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *why = NULL;
	int rc;

	/* without a lock file it is only just being made, or is no base */
	if (lock < 0)
		return 0;
	rc = ga_flock(lock, true, false, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	why = why_removable(dir, lock, unused_since);
	rc = why && !dry ? remove_base(bases, name, err) : 0;
	ga_funlock(lock);
	if (rc || !why)
		return rc;
	ga_strv_push(names, name);
	ga_strv_take(whys, ga_steal(&why));
	return 0;
}

int ga_base_prune(const char *state_dir, time_t unused_since, bool dry, struct ga_strv *names,
		  struct ga_strv *whys, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(state_dir, "bases");
	cleanup_close int bases = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	cleanup_dir DIR *d = bases < 0 ? NULL : opendir(path);
	struct dirent *e;
	uint64_t n;

	if (!d)
		return 0;
	while ((e = ga_dir_next(d)))
		if (ga_parse_u64(e->d_name, 1000000000, &n) ||
		    !strncmp(e->d_name, GONE, sizeof(GONE) - 1))
			ga_strv_push(&all, e->d_name);
	ga_strv_sort_unique(&all);
	/* held so that nobody chooses a base meanwhile */
	lock = openat(bases, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock < 0 || ga_flock(lock, true, true, err) < 0)
		return lock < 0 ? ga_fail_errno(err, GA_EFATAL, errno,
						"cannot open the lock of the pool of base trees")
				: -1;
	for (size_t i = 0; i < all.n; i++) {
		bool gone = *all.v[i] == '.';

		if (gone ? !dry && ga_rmtree_at(bases, all.v[i], err)
			 : prune_one(bases, all.v[i], unused_since, dry, names, whys, err))
			return -1;
	}
	return 0;
}
