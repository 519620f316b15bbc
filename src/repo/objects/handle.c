/* SPDX-License-Identifier: MIT
 *
 * Initialise libgit2, report its errors, and free a handle.
 */
#include "repo/objects-internal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/resource.h>

#include "ga/base/path.h"

int ga_fail_git(struct ga_error *err, const char *fmt, ...)
{
	/* libgit2 may have no message, and the next call may overwrite it */
	const git_error *e = git_error_last();
	cleanup_free char *msg = NULL;
	char *p = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&p, fmt, ap) < 0)
		GA_BUG("vasprintf");
	va_end(ap);
	msg = p;
	return ga_fail(err, GA_EFATAL, "%s: %s", msg,
		       e && e->message ? e->message : "unknown error of libgit2");
}

/* Call git_libgit2_init() while no descriptor can be had. Debian's libgit2 (with mbedTLS) parses
 * the whole bundle of certificate authorities there: 5 ms, more than everything else in a warm
 * start, for network functions that are never called here. If it cannot open the bundle it
 * continues without. A libgit2 that does need a file gets it in the call after this one.
 *
 * The limit is that of the whole process, so this is done once: when a second repository is opened,
 * a thread may be opening files (ga/sys/sync.h). */
static void init_without_files(void)
{
	struct rlimit old, none;

	if (getrlimit(RLIMIT_NOFILE, &old))
		return;
	none = old;
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_NOFILE, &none))
		return;
	(void)git_libgit2_init();
	if (setrlimit(RLIMIT_NOFILE, &old))
		GA_BUG("setrlimit");
}

int ga_library_begin(struct ga_error *err)
{
	static const char *extensions[] = { "worktreeconfig", "partialclone", "preciousobjects" };
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, init_without_files);
	if (git_libgit2_init() < 0)
		return ga_fail_git(err, "cannot initialise libgit2");
	/* What these extensions change (config.worktree, missing objects) is left to git itself.
	 * Objects are synced before they get their names: a loose one that a crash left empty would
	 * count as present ever after. Objects are not hashed again when they are read, as git does
	 * not either: what came from a session was named by git, from its content. */
	if (git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, GA_NELEMS(extensions)) ||
	    git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1) ||
	    git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 0)) {
		(void)ga_fail_git(err, "cannot set up libgit2");
		(void)git_libgit2_shutdown();
		return -1;
	}
	return 0;
}

void ga_repo_set_lock(struct ga_repo *r, int lock)
{
	r->lock = lock;
}

const struct ga_repo_info *ga_repo_info(const struct ga_repo *r)
{
	return &r->info;
}

bool ga_repo_is_private(const struct ga_repo *r)
{
	return r->private;
}

char *ga_repo_gitdir_inside(const struct ga_repo *r)
{
	const char *below = ga_path_below(r->info.commondir, r->info.workdir);

	return below && *below && strcmp(below, ".git") != 0 ? ga_strdup(below) : NULL;
}

/* A pack that a `git gc` removes while libgit2 lists them ends the listing. */
int ga_odb_refresh(const struct ga_repo *r)
{
	int rc = -1;

	for (int i = 0; rc && i < 5; i++)
		rc = git_odb_refresh(r->odb) || git_odb_refresh(r->own) ? -1 : 0;
	return rc;
}
