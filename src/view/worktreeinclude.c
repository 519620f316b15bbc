/* SPDX-License-Identifier: MIT
 *
 * Which of the ignored files of a working tree a session shows: all, none (`ignored`), or those
 * that its .worktreeinclude lists.
 *
 * The file is read from the working tree, where the ignored files are, and may be ignored itself.
 * It can only take away, so it matters little who wrote it. If it cannot be read the start fails,
 * since somebody wanted less than all to be shown.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/ignore.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "view-internal.h"

#define NAME ".worktreeinclude"
#define BYTES_MAX ((size_t)64 << 10)
#define NAMED 5 /* directories shared as a whole or not at all, named in the banner */

struct narrow {
	struct ga_ignore list; /* empty: nothing is listed */
	struct ga_buf text;
	struct ga_scan *scan;
	size_t left, parts;    /* paths left out, and those of them with parts that are listed */
};

static void narrow_release(struct narrow *n)
{
	ga_ignore_release(&n->list);
	ga_buf_release(&n->text);
}

/* As gitignore(5) decides: by the last pattern that matches, else by the directory it is in. */
static bool is_listed(const struct narrow *n, const char *path, bool is_dir)
{
	cleanup_free char *at = ga_strdup(path);
	bool dir = is_dir;

	for (;;) {
		enum ga_ignore_verdict v = ga_ignore_check(&n->list, at, dir);
		char *slash = strrchr(at, '/');

		if (v != GA_IGNORE_UNDECIDED || !slash)
			return v == GA_IGNORE_YES;
		*slash = '\0';
		dir = true;
	}
}

/* Does a line of the file name something below the directory? */
static bool has_parts(const struct narrow *n, const char *dir)
{
	size_t len = strlen(dir);

	for (const char *p = n->text.len ? n->text.ptr : NULL; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		p += *p == '/';
		if (!strncmp(p, dir, len) && p[len] == '/' && p[len + 1] && p[len + 1] != '\n')
			return true;
	}
	return false;
}

static void drop(struct narrow *n, const char *path, bool is_dir)
{
	cleanup_free char *q = ga_quote(path);

	/* the file itself is not worth counting */
	n->left += strcmp(path, NAME) != 0;
	if (is_dir && has_parts(n, path) && n->parts++ < NAMED)
		ga_strv_pushf(&n->scan->skipped, "%s: " NAME " has parts of it, and it can be "
			      "shared as a whole only", q);
}

static void keep_listed(struct narrow *n, struct ga_strv *paths, bool are_dirs)
{
	struct ga_strv kept = GA_STRV_INIT;

	for (size_t i = 0; i < paths->n; i++) {
		if (is_listed(n, paths->v[i], are_dirs))
			ga_strv_push(&kept, paths->v[i]);
		else
			drop(n, paths->v[i], are_dirs);
	}
	ga_strv_release(paths);
	*paths = kept;
}

/* 1: there is none. */
static int read_list(struct ga_env *e, struct narrow *n, struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(ga_repo_info(e->repo)->workdir, NAME);
	cleanup_free char *q = ga_escape(path);
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				    O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot read '%s'", q);
	if (!S_ISREG(st.st_mode))
		return ga_fail(err, GA_ESTART, "'%s' is not a file", q);
	if (ga_read_fd(fd, BYTES_MAX, &n->text, err))
		return ga_error_wrap(err, "cannot read '%s'", q);
	ga_ignore_push(&n->list, "", n->text.len ? n->text.ptr : "", n->text.len);
	return 0;
}

/* The lower layer of a live session is the working tree: nothing can be left out of it. */
static int check_live(const struct ga_view_opts *o, bool listed, struct ga_scan *scan,
		      struct ga_error *err)
{
	if (!o->hide_ignored) {
		if (listed)
			ga_strv_push(&scan->skipped, NAME ": --live shows all that is ignored");
		return 0;
	}
	return ga_fail(err, GA_ESTART, "--live shows ignored files, and 'ignored' is 'hide'" GA_HINT
		       "start without --live, or with --ignored share");
}

int view_narrow_ignored(struct ga_env *e, const struct ga_view_opts *o,
			struct ga_scan *scan, struct ga_error *err)
{
	cleanup_(narrow_release) struct narrow n = { .scan = scan, .text = GA_BUF_INIT };
	int none = o->hide_ignored ? 1 : read_list(e, &n, err);

	if (none < 0)
		return ga_hint(err, "it lists the ignored files that sessions show; remove it to "
				    "show all, or start with --ignored hide");
	if (o->live)
		return check_live(o, !none, scan, err);
	if (none && !o->hide_ignored)
		return 0;
	keep_listed(&n, &scan->ignored_dirs, true);
	keep_listed(&n, &scan->ignored_files, false);
	if (n.left)
		ga_strv_pushf(&scan->skipped, "%zu ignored path%s: %s", n.left,
			      n.left == 1 ? "" : "s",
			      o->hide_ignored ? "'ignored' is 'hide'" : "not in " NAME);
	return 0;
}
