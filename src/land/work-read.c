/* SPDX-License-Identifier: MIT
 *
 * What index and working tree have at the paths that are to land. It is git that reads an index.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "work.h"

/* ---- the index --------------------------------------------------------------------- */

static int fail_listing(struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "cannot understand what git ls-files says");
}

/* The entry is none of the paths. Mark those above and beneath it: an index cannot have both. */
static void mark_beside(struct work *w, const char *entry)
{
	size_t n = strlen(entry);

	for (const char *slash = strchr(entry, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(entry, (size_t)(slash - entry));
		struct work_path *p = work_find(w, dir);

		if (p && !p->beside)
			p->beside = ga_strdup(entry);
	}
	for (size_t i = work_beneath(w, entry); i < w->n && !strncmp(w->v[i].path, entry, n) &&
						w->v[i].path[n] == '/'; i++)
		if (!w->v[i].beside)
			w->v[i].beside = ga_strdup(entry);
}

static int read_index(struct land *l, const struct ga_strv *intended, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", "-v", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		struct ga_entry e;
		const char *path = land_index_marked(line, &e);
		struct work_path *p;

		if (!path)
			return fail_listing(err);
		p = work_find(l->work, path);
		if (!p)
			mark_beside(l->work, path);
		if (!p || ga_strv_has(intended, path))
			continue;
		p->index = e;
		p->flagged_skip = land_is_skipped(*line);
		p->flagged_valid = land_is_assumed(*line);
	}
	return 0;
}

/* ---- the working tree -------------------------------------------------------------- */

/* The id that git would store the file as. Nothing is stored, as it is only compared. */
static int hash(struct land *l, int root, struct work_path *p, struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *word = ga_strf("--path=%s", p->path);
	const char *const args[] = { "hash-object", "--stdin", word, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	if (land_open_here(root, p->path, &h) || !h.mode) {
		p->hurdle = WORK_UNTRACKED;
		return 0;
	}
	p->work.mode = h.fd < 0 ? GA_MODE_LINK : h.mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
	if (h.fd < 0)
		return ga_blob_id_of(h.target, h.size, &p->work.oid, err);
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.in_fd = h.fd;
	g.out = &out;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	ga_buf_chomp(&out);
	return ga_oid_parse(out.ptr, out.len, &p->work.oid) ? 0 : fail_listing(err);
}

/* Look at what stands there. 1: a file or link that git has to read; 0: its state is known. */
static int look(struct land *l, int root, struct work_path *p, struct ga_error *err)
{
	cleanup_close int fd = ga_openat_beneath(root, p->path, O_PATH | O_NOFOLLOW, 0);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP) {
		cleanup_free char *q = ga_escape(p->path);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot look at '%s'", q);
	}
	if (fd < 0) {
		/* a path that a sparse checkout leaves out is as in the index */
		p->absent = p->flagged_skip;
		if (p->absent)
			p->work = p->index;
		return 0;
	}
	if (fstat(fd, &p->st))
		return ga_fail_errno(err, GA_EFATAL, errno, "fstat");
	if (S_ISDIR(p->st.st_mode)) {
		if (p->index.mode == GA_MODE_GITLINK)
			p->work = p->index;
		return 0;
	}
	/* neither a commit nor a stash has a fifo or a device */
	if (!S_ISREG(p->st.st_mode) && !S_ISLNK(p->st.st_mode)) {
		p->hurdle = WORK_UNTRACKED;
		return 0;
	}
	if (p->index.mode != GA_MODE_NONE || p->left_out || p->intended)
		return 1;
	p->untracked = true;
	return hash(l, root, p, err);
}

/* Git reads them into an index of ours that begins with the user's entries: these decide about line
 * ends and, on a file system without modes, about modes. */
static int read_files(struct land *l, const struct ga_buf *known, const struct ga_buf *paths,
		      struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(l->work->dir, "index.work");
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (!paths->len)
		return 0;
	if (land_scratch_fill(l, index, known, err) ||
	    land_scratch_read(l, index, paths, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		struct ga_entry e;
		const char *path = land_index_entry(line, &e);
		struct work_path *p = path ? work_find(l->work, path) : NULL;

		if (!p)
			return fail_listing(err);
		p->work = e;
	}
	return 0;
}

/* Git found it unchanged. Was it touched since, perhaps by a filter that ran for another file? */
static bool is_touched(const struct land *l, int root, const char *path)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	const struct timespec *then = &l->looked;
	struct stat st;

	return fd < 0 || fstat(fd, &st) || st.st_ctim.tv_sec > then->tv_sec ||
	       (st.st_ctim.tv_sec == then->tv_sec && st.st_ctim.tv_nsec >= then->tv_nsec);
}

static int read_work(struct land *l, int root, const struct ga_strv *dirty, struct ga_error *err)
{
	cleanup_buf struct ga_buf known = GA_BUF_INIT, paths = GA_BUF_INIT;

	for (size_t i = 0; i < l->work->n; i++) {
		struct work_path *p = &l->work->v[i];
		int rc;

		p->work = p->index;
		if (p->index.mode != GA_MODE_NONE && !p->flagged_skip && !p->flagged_valid &&
		    ga_strv_find(dirty, p->path) < 0 && !is_touched(l, root, p->path))
			continue;
		p->work = (struct ga_entry){ .mode = GA_MODE_NONE };
		rc = look(l, root, p, err);
		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		if (p->index.mode != GA_MODE_NONE)
			land_scratch_line(&known, &p->index, p->path);
		ga_buf_add0(&paths, p->path);
	}
	return read_files(l, &known, &paths, err);
}

int work_read(struct land *l, const struct land_found *f, const struct ga_strv *dirty,
	      struct ga_error *err)
{
	cleanup_free char *index = land_index_file(l);
	cleanup_close int root = land_open_root(l->repo, err);

	if (root < 0)
		return -1;
	if (stat(index, &l->work->index_seen))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot look at the index");
	for (size_t i = 0; i < l->work->n; i++)
		l->work->v[i].intended = ga_strv_has(&f->intended, l->work->v[i].path);
	/* before git reads the files: this is what must still be there when they are written */
	work_see(l->work, root);
	return read_index(l, &f->intended, err) || read_work(l, root, dirty, err) ? -1 : 0;
}
