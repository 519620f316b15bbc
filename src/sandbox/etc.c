/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"
#include "sandbox-internal.h"

/* Whole trees of configuration, and the top levels of /opt, which is too large to be walked at
 * every start. */
static const struct {
	const char *path;
	unsigned depth;
	/* it has files, but no programs that check who owns them (git: "dubious ownership") */
	bool disown;
} roots[] = { { "/etc", 16, true }, { "/usr/local/etc", 16, true }, { "/opt", 3, false } };

struct walk {
	struct ga_strv *files, *dirs;
	unsigned depth; /* levels left */
};

static int walk(struct walk *w, int parent, const char *name, const char *path,
		struct ga_error *err);

static int visit(struct walk *w, int dir, const char *name, const char *path, struct ga_error *err)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT
			       ? 0
			       : ga_fail_errno(err, GA_ESTART, errno, "cannot look at '%s'", path);
	if (S_ISDIR(st.st_mode) && st.st_mode & S_IXOTH)
		return w->depth ? walk(w, dir, name, path, err) : 0;
	if (S_ISDIR(st.st_mode))
		ga_strv_push(w->dirs, path);
	else if (S_ISSOCK(st.st_mode) || (!S_ISLNK(st.st_mode) && !(st.st_mode & S_IROTH)))
		ga_strv_push(w->files, path);
	return 0;
}

static int walk(struct walk *w, int parent, const char *name, const char *path,
		struct ga_error *err)
{
	cleanup_dir DIR *d = ga_dir_of(openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
					      O_NONBLOCK | O_CLOEXEC));
	struct dirent *e;
	int rc = 0;

	if (!d) {
		/* hide what cannot be walked */
		ga_strv_push(w->dirs, path);
		return 0;
	}
	w->depth--;
	while (!rc && (e = ga_dir_next(d))) {
		cleanup_free char *at = NULL;

		/* symlinks, of which /etc is full, are left alone: their target is walked as well,
		 * or not shown */
		if (e->d_type == DT_LNK)
			continue;
		at = ga_path_join(path, e->d_name);
		rc = visit(w, dirfd(d), e->d_name, at, err);
	}
	if (!rc && errno)
		ga_strv_push(w->dirs, path);
	w->depth++;
	return rc;
}

int sandbox_private_files(struct ga_strv *files, struct ga_strv *dirs, struct ga_error *err)
{
	for (size_t i = 0; i < GA_NELEMS(roots); i++) {
		struct walk w = { files, dirs, roots[i].depth };
		struct stat st;

		if (!lstat(roots[i].path, &st) && S_ISDIR(st.st_mode) &&
		    visit(&w, AT_FDCWD, roots[i].path, roots[i].path, err))
			return -1;
	}
	ga_strv_sort_unique(files);
	ga_strv_sort_unique(dirs);
	return 0;
}

void sandbox_disowned(struct ga_strv *ret)
{
	for (size_t i = 0; i < GA_NELEMS(roots); i++) {
		cleanup_free char *real = sandbox_real(roots[i].path);
		struct stat st;

		/* in a user namespace, uid 0 is its user, who does not own the system's files */
		if (roots[i].disown && !strcmp(real, roots[i].path) && !lstat(real, &st) &&
		    S_ISDIR(st.st_mode) && st.st_uid == 0)
			ga_strv_push(ret, real);
	}
}
