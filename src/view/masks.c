/* SPDX-License-Identifier: MIT
 *
 * What hides secrets in the layers of a session: a whiteout where a directory of the user's lies
 * beneath.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "view-internal.h"

int view_dress(int from, const char *source, int to, const char *at)
{
	cleanup_close int fd = ga_openat_beneath(from, source, O_PATH | O_DIRECTORY, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return 0;
	return fchmodat(to, at, st.st_mode & 0777, 0) ||
	       utimensat(to, at, (struct timespec[2]){ st.st_atim, st.st_mtim }, 0) ? -1 : 0;
}

/* Lay a whiteout over the `.git` of a shared directory: an agent does not need that repository's
 * configuration and hooks, and must not have its credentials. */
int ga_view_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err)
{
	cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);
	cleanup_free char *white = ga_path_join(mask, ".git");

	if (faccessat(fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	if (ga_mkdir_p(mask, 0755, err))
		return -1;
	/* character device 0/0: the one device node anybody may make */
	if (mknod(white, S_IFCHR, 0) && errno != EEXIST)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot hide a nested .git");
	return 0;
}

static int fail(const char *path, struct ga_error *err)
{
	return ga_fail_path(err, errno, "hide", path);
}

/* view_dress() for the directories on the way to `path`. */
static int dress_parents(int from, const char *prefix, int to, const char *path,
			 struct ga_error *err)
{
	cleanup_free char *at = ga_strdup(path);

	for (char *p = strrchr(at, '/'); p; p = strrchr(at, '/')) {
		cleanup_free char *source = NULL;

		*p = '\0';
		source = ga_path_join(prefix, at);
		if (view_dress(from, source, to, at))
			return fail(path, err);
	}
	return 0;
}

/* Make a whiteout, a character device 0/0: to an overlay it means that there is nothing. */
static int white_out(int to, const char *path, struct ga_error *err)
{
	struct stat st;

	if (!mknodat(to, path, S_IFCHR, 0))
		return 0;
	/* a whiteout that is there already will do */
	if (errno == EEXIST && !fstatat(to, path, &st, AT_SYMLINK_NOFOLLOW) &&
	    S_ISCHR(st.st_mode) && !st.st_rdev)
		return 0;
	return fail(path, err);
}

int ga_view_mask_shared(const struct ga_view_base *b, int project, const char *dir,
			const char *mask, struct ga_error *err)
{
	cleanup_close int to = -1;

	for (size_t i = 0; i < b->hidden.n; i++) {
		const char *rel = ga_path_below(b->hidden.v[i], dir);

		/* ga_view_mask_git() hides its .git as a whole */
		if (!rel || !*rel || ga_path_inside(rel, ".git"))
			continue;
		if (to < 0 && !ga_mkdir_p(mask, 0755, err))
			to = open(mask, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (to < 0)
			return err->msg ? -1 : fail(b->hidden.v[i], err);
		if (ga_make_parents(to, rel, NULL, err) || white_out(to, rel, err))
			return -1;
	}
	for (size_t i = 0; to >= 0 && i < b->hidden.n; i++) {
		const char *rel = ga_path_below(b->hidden.v[i], dir);

		if (rel && *rel && !ga_path_inside(rel, ".git") &&
		    dress_parents(project, dir, to, rel, err))
			return -1;
	}
	return 0;
}

/* Write what the base has at `path`, as a checkout would write it, or with `raw` as it is stored.
 */
static int put_base(struct ga_env *e, const struct ga_session *s, int to, const char *path,
		    const struct ga_entry *entry, bool raw, struct ga_error *err)
{
	cleanup_free char *object = ga_strf("%s:%s", GA_HEX(&s->id.base), path);
	const char *const args[] = { "cat-file", raw ? "blob" : "--filters", object, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(e->repo)->workdir,
				 .out = &out);

	return ga_git_ok(e->repo, &g, err) ||
	       ga_write_new(to, path, out.ptr, out.len, entry->mode == GA_MODE_EXEC ? 0755 : 0644,
			    err) ? -1 : 0;
}

int ga_view_mask_project(struct ga_env *e, const struct ga_session *s, const struct ga_view_base *b,
			 const struct ga_oid *tree, int project, int extras, struct ga_error *err)
{
	const struct ga_strv *hidden = s->id.live ? &b->hidden : &b->clear;

	for (size_t i = 0; i < hidden->n; i++) {
		const char *path = hidden->v[i];
		bool raw = ga_strv_find(&b->clear, path) >= 0;
		struct ga_entry entry;

		if (ga_strv_above(&s->view.shared, path))
			continue;
		if (ga_tree_entry(e->repo, tree, path, &entry, err) ||
		    ga_make_parents(extras, path, NULL, err))
			return -1;
		if (entry.mode == GA_MODE_FILE || entry.mode == GA_MODE_EXEC
			    ? put_base(e, s, extras, path, &entry, raw, err)
			    : white_out(extras, path, err))
			return -1;
	}
	for (size_t i = 0; i < hidden->n; i++)
		if (!ga_strv_above(&s->view.shared, hidden->v[i]) &&
		    dress_parents(project, "", extras, hidden->v[i], err))
			return -1;
	return 0;
}
