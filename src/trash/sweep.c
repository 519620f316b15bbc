/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/trace.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"
#include "ga/trash/trash.h"

#define GONE ".gone-"
#define FIRST_TIME 1000000000 /* anything less is the N of NAME-TIME-N, not a time */

/* When was NAME-TIME, or NAME-TIME-N, dropped? 0: it is no such name. */
static uint64_t time_of(const char *stamp)
{
	cleanup_free char *s = ga_strdup(stamp);

	for (int i = 0; i < 2; i++) {
		char *dash = strrchr(s, '-');
		uint64_t n;

		if (!dash || dash == s || !ga_parse_u64(dash + 1, UINT64_MAX, &n))
			return 0;
		if (n >= FIRST_TIME)
			return n;
		*dash = '\0';
	}
	return 0;
}

/* What is in the trash: by its directory, its refs, or both. */
static int list(struct ga_repo *r, const char *trash, struct ga_strv *ret, struct ga_strv *gone,
		struct ga_error *err)
{
	static const char prefix[] = GA_TRASH_REFS;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_dir DIR *d = opendir(trash);
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		if (!strncmp(e->d_name, GONE, sizeof(GONE) - 1))
			ga_strv_push(gone, e->d_name);
		else if (time_of(e->d_name))
			ga_strv_push(ret, e->d_name);
	}
	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		const char *name = refs.v[i].name + sizeof(prefix) - 1;
		cleanup_free char *stamp = ga_strndup(name, strcspn(name, "/"));

		if (time_of(stamp))
			ga_strv_push(ret, stamp);
	}
	ga_strv_sort_unique(ret);
	return 0;
}

static int remove_refs(struct ga_repo *r, const char *stamp, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *prefix = ga_strf(GA_TRASH_REFS "%s/", stamp);
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;

	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++)
		ga_ref_updates_add(&u, refs.v[i].name, &refs.v[i].oid, NULL);
	return ga_refs_update(r, &u, "agent: gc", err);
}

/* Remove a session from the trash. Its directory is renamed first, as a whole, so that nobody can
 * restore it any more when its refs are gone. 1: somebody is restoring it. */
static int remove_one(struct ga_repo *r, int at, const char *trash, const char *stamp,
		      struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(trash, stamp), *gone = ga_strf(GONE "%s", stamp);
	const struct ga_session s = { .dir = dir };
	cleanup_close int lock = -1;
	int rc = 0;

	if (!access(dir, F_OK)) {
		rc = ga_session_lock(&s, false, &lock, err);
		if (rc)
			return rc;
		if (renameat(at, stamp, at, gone) && errno != ENOENT)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", stamp);
	}
	return ga_fault_stop("gc:renamed", err) || remove_refs(r, stamp, err) ||
	       ga_fault_stop("gc:refs", err) || (at >= 0 && ga_rmtree_at(at, gone, err)) ? -1 : 0;
}

int ga_trash_sweep(struct ga_repo *r, const char *state_dir, uint64_t before, bool dry,
		   struct ga_strv *names, struct ga_strv *whys, struct ga_error *err)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash");
	cleanup_close int at = open(trash, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct ga_strv all = GA_STRV_INIT, gone = GA_STRV_INIT;
	uint64_t now = (uint64_t)time(NULL);

	if (list(r, trash, &all, &gone, err))
		return -1;
	for (size_t i = 0; !dry && i < gone.n; i++)
		if (ga_rmtree_at(at, gone.v[i], err))
			return -1;
	for (size_t i = 0; i < all.n; i++) {
		uint64_t when = time_of(all.v[i]);
		int rc = 0;

		if (when >= before || when > now)
			continue;
		if (!dry)
			rc = remove_one(r, at, trash, all.v[i], err);
		if (rc < 0)
			return -1;
		if (rc)
			continue;
		ga_strv_push(names, all.v[i]);
		ga_strv_pushf(whys, "dropped %" PRIu64 " days ago", (now - when) / 86400);
	}
	return 0;
}
