/* SPDX-License-Identifier: MIT
 *
 * Copy LFS objects made in the session to the user's store, where a checkout of the branch needs
 * them: those that pointers among the agent's changes name, if the SHA-256 matches. Before the
 * rules run: a pointer without its object is critical on a host with git-lfs.
 */
#include <errno.h>
#include <fcntl.h>

#include "capture-internal.h"
#include "ga/base/oid.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/lfs.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "ga/sys/sync.h"

#define MAX_NAMED 10 /* pointers, in notes */

struct lfs {
	struct capture *c;
	char *store;
	int git, upper;          /* directories where the session may have objects; -1: none */
	struct ga_oidmap seen;   /* blobs that were checked, or that a change replaced */
	struct ga_strv dirs;     /* directories to be synced */
	uint64_t bytes;          /* bytes read so far, whether they were stored or not */
	size_t unnamed;          /* pointers without an object for which there is no note */
	size_t noted;
	bool broken;             /* the store cannot be written to */
};

static void lfs_release(struct lfs *l)
{
	free(l->store);
	ga_oidmap_release(&l->seen);
	ga_strv_release(&l->dirs);
	ga_cleanup_closep(&l->git);
	ga_cleanup_closep(&l->upper);
}

static void note_object(struct lfs *l, const char *path, const char *what)
{
	cleanup_free char *q = NULL;

	if (l->noted++ >= MAX_NAMED) {
		l->unnamed++;
		return;
	}
	q = ga_quote(path);
	ga_strv_pushf(&l->c->notes, "%s: %s", q, what);
}

/* Why an object was not taken. */
enum why { NOT_THERE, CLOSED, NOT_IT };

/* Returns 0 if it was stored, 1 if it is not there, cannot be opened, or is not a file of that size
 * with that sum. */
static int store_from(struct lfs *l, int dir, const char *name, const struct ga_lfs_pointer *p,
		      enum why *why, struct ga_error *err)
{
	cleanup_close int fd = -1;
	struct stat st;

	*why = NOT_THERE;
	if (dir < 0)
		return 1;
	fd = ga_openat_beneath(dir, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY, 0);
	if (fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			*why = errno == EACCES ? CLOSED : NOT_IT;
		return 1;
	}
	*why = NOT_IT;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != p->size)
		return 1;
	/* a forged object is read to its end, too, and one file can have many names */
	l->bytes += p->size;
	return ga_lfs_add(l->store, p, fd, &l->dirs, err);
}

/* git-lfs inside put the object into the private git dir. If capture itself had the pointer made,
 * the file in the upper layer still is the object. */
static int find_object(struct lfs *l, const char *path, const struct ga_lfs_pointer *p,
		       struct ga_error *err)
{
	static const char *const what[] = {
		[NOT_THERE] = "the LFS object of this pointer is neither here nor in the session",
		[CLOSED] = "its LFS object in the session cannot be opened: not stored",
		[NOT_IT] = "its LFS object in the session does not match the pointer: not stored",
	};
	cleanup_free char *object = ga_lfs_object(p->oid), *name = ga_path_join("lfs", object);
	enum why why, also;
	int rc = store_from(l, l->git, name, p, &why, err);

	/* most often the file at the path is the pointer itself, so the note says what is wrong in
	 * the git dir */
	if (rc == 1)
		rc = store_from(l, l->upper, path, p, &also, err);
	if (rc == 1)
		note_object(l, path, what[why]);
	return rc < 0 ? -1 : 0;
}

/* If the store is not writable, only the objects are not stored: they stay in the session, and the
 * rest is captured. A full or failing disk is an error, because a later capture can get
 * everything. */
static int explain(struct lfs *l, struct ga_error *inner, struct ga_error *err)
{
	const char *common = ga_repo_info(l->c->e->repo)->commondir;

	if (ga_means_disk_trouble(inner->msg) || ga_disk_full(common))
		return ga_error_move(err, inner);
	l->broken = true;
	ga_strv_pushf(&l->c->notes, "LFS objects stay in the session: %s", inner->msg);
	return 0;
}

static int import_object(struct lfs *l, const char *path, const struct ga_lfs_pointer *p,
			 struct ga_error *err)
{
	const struct ga_limits *max = l->c->e->limits;
	cleanup_error struct ga_error inner = GA_ERROR_INIT;

	switch (ga_lfs_find(l->store, p)) {
	case GA_LFS_HERE:
		return 0;
	case GA_LFS_ODD:
		note_object(l, path, "its LFS object here does not match the pointer");
		return 0;
	case GA_LFS_ABSENT:
		break;
	}
	if (p->size > max->file_size || p->size > max->total_size ||
	    l->bytes > max->total_size - p->size) {
		cleanup_free char *what = limit_met(l->c, p->size > max->file_size ?
							  GA_LIMIT_FILE_SIZE : GA_LIMIT_TOTAL_SIZE,
						    "its LFS object is over the limit and stays in "
						    "the session");

		note_object(l, path, what);
		return 0;
	}
	if (l->broken || !find_object(l, path, p, &inner))
		return 0;
	return explain(l, &inner, err);
}

static int check_change(struct lfs *l, const struct ga_change *ch, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_lfs_pointer p;
	int rc;

	if ((ch->new.mode != GA_MODE_FILE && ch->new.mode != GA_MODE_EXEC) ||
	    !ga_oidmap_add(&l->seen, &ch->new.oid, 0))
		return 0;
	rc = ga_blob_read(l->c->e->repo, &ch->new.oid, GA_LFS_POINTER_MAX, &text, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!ga_lfs_parse(text.ptr, text.len, &p))
		return 0;
	return import_object(l, ch->path, &p, err);
}

static int check_changes(struct lfs *l, const struct ga_oid *old, const struct ga_oid *new,
			 struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;

	if (ga_tree_diff(l->c->e->repo, old, new, &changes, err))
		return -1;
	/* content that was only moved or replaced is on the host already */
	for (size_t i = 0; i < changes.n; i++)
		if (changes.v[i].old.mode != GA_MODE_NONE)
			(void)ga_oidmap_add(&l->seen, &changes.v[i].old.oid, 0);
	for (size_t i = 0; i < changes.n; i++)
		if (check_change(l, &changes.v[i], err))
			return -1;
	return 0;
}

static int check_commit(struct lfs *l, const struct ga_oid *id, struct ga_error *err)
{
	cleanup_commit struct ga_commit commit = { .parents = NULL };
	cleanup_error struct ga_error shallow = GA_ERROR_INIT;
	struct ga_repo *r = l->c->e->repo;
	struct ga_oid old;

	if (ga_commit_read(r, id, &commit, err))
		return -1;
	/* at the edge of a shallow clone the parent is named but missing */
	if (commit.n_parents && ga_commit_tree(r, &commit.parents[0], &old, &shallow))
		old = l->c->base.tree;
	return check_changes(l, commit.n_parents ? &old : NULL, &commit.tree, err);
}

static int check_history(struct lfs *l, struct ga_error *err)
{
	struct capture *c = l->c;
	cleanup_free struct ga_oid **from = ga_calloc(c->git.heads.n + 2, sizeof(*from));
	cleanup_free struct ga_oid *tips = ga_calloc(c->git.heads.n + 2, sizeof(*tips));
	cleanup_free struct ga_oid *commits = NULL;
	size_t n_tips = agent_tips(c, from), n = 0;

	for (size_t i = 0; i < n_tips; i++)
		tips[i] = *from[i];
	if (n_tips &&
	    list_history(c, tips, n_tips, c->base.known, c->base.n_known, &commits, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (check_commit(l, &commits[i], err))
			return -1;
	return 0;
}

static int open_dir(const struct capture *c, const char *name)
{
	cleanup_free char *path = ga_path_join(c->s->dir, name);

	return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Was LFS used? Otherwise no blob has to be read to find pointers. */
static bool may_have_objects(const struct lfs *l)
{
	cleanup_close int fd = -1;

	if (l->c->convert.lfs || l->git < 0)
		return l->c->convert.lfs;
	fd = ga_openat_beneath(l->git, "lfs", O_PATH | O_NOFOLLOW, 0);
	return fd >= 0 || errno != ENOENT;
}

int import_lfs(struct capture *c, struct ga_error *err)
{
	cleanup_(lfs_release) struct lfs l = {
		.c = c,
		.store = ga_lfs_store(c->e->repo, c->e->config),
		.git = open_dir(c, "git"),
		.upper = open_dir(c, "upper"),
		.seen = GA_OIDMAP_INIT,
	};
	const struct ga_oid *head = ga_oid_is_zero(&c->git.head) ? &c->base.tree
		: &c->git.head_tree;

	if (!may_have_objects(&l))
		return 0;
	if (check_history(&l, err) || check_changes(&l, head, &c->upper.tree, err))
		return -1;
	if (l.unnamed)
		ga_strv_pushf(&c->notes, "and %zu more LFS pointers without their object",
			      l.unnamed);
	ga_strv_sort_unique(&l.dirs);
	return ga_sync_paths(&l.dirs, err) || ga_fault_stop("capture:lfs", err) ? -1 : 0;
}
