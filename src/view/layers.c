/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "view-internal.h"

#define MAX_COPY_BYTES (16u << 20)       /* of one ignored file */
#define MAX_COPY_TOTAL (256u << 20)
#define MAX_COPY_FILES 2000

struct layers {
	struct ga_env *e;
	struct ga_session *s;
	const struct ga_view_base *b;
	struct ga_oid tree;    /* of the base */
	struct ga_strv mounts; /* mount points below the project */
	int project, extras;   /* directories; `extras` -1 until it is needed */
	struct ga_strv made;   /* directories in extras, on the way to what is there */
	size_t files;          /* copied so far ... */
	uint64_t bytes;        /* ... and their size */
};

static void skip(struct layers *l, const char *path, const char *why)
{
	cleanup_free char *q = ga_quote(path);

	ga_strv_pushf(&l->s->view.skipped, "%s: %s", q, why);
}

/* 1 if the base has nothing at `path` and only directories above it, so that something put there
 * neither hides a tracked path nor is hidden by one. */
static int free_in_base(struct layers *l, const char *path, struct ga_error *err)
{
	struct ga_entry entry, above;
	size_t n;

	if (ga_tree_entry(l->e->repo, &l->tree, path, &entry, err) ||
	    ga_tree_above(l->e->repo, &l->tree, path, &above, &n, err))
		return -1;
	return entry.mode == GA_MODE_NONE && above.mode == GA_MODE_NONE;
}

static int open_extras(struct layers *l, struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(l->s, "extras");

	if (l->extras >= 0)
		return 0;
	if (!mkdir(dir, 0700))
		l->extras = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->extras < 0)
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot make a layer of session '%s'", l->s->name);
	return 0;
}

static int cannot_create(const char *path, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);

	return ga_fail_errno(err, GA_EFATAL, errno, "cannot create '%s' in the layers", q);
}

static int make_parents(struct layers *l, const char *path, struct ga_error *err)
{
	return open_extras(l, err) || ga_make_parents(l->extras, path, &l->made, err) ? -1 : 0;
}

/* Dress the directories that were made in extras, inner ones first: an outer one may be closed to
 * its owner then. */
static int dress(struct layers *l, struct ga_error *err)
{
	for (size_t i = l->made.n; i; i--)
		if (view_dress(l->project, l->made.v[i - 1], l->extras, l->made.v[i - 1]))
			return cannot_create(l->made.v[i - 1], err);
	return 0;
}

/* How much a directory is worth sharing: by the number of its own entries. */
static size_t weight(int project, const char *path)
{
	cleanup_dir DIR *d = ga_dir_of(ga_openat_beneath(project, path, O_RDONLY | O_DIRECTORY |
							 O_NONBLOCK, 0));
	size_t n = 0;

	while (n < 100000 && ga_dir_next(d))
		n++;
	return n;
}

struct weighed {
	char *path;
	size_t n;
};

static int heavier(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	return x->n < y->n ? 1 : x->n > y->n ? -1 : strcmp(x->path, y->path);
}

static void heaviest_first(int project, struct ga_strv *dirs)
{
	cleanup_free struct weighed *all = ga_calloc(dirs->n, sizeof(*all));

	for (size_t i = 0; i < dirs->n; i++)
		all[i] = (struct weighed){ dirs->v[i], weight(project, dirs->v[i]) };
	qsort(all, dirs->n, sizeof(*all), heavier);
	for (size_t i = 0; i < dirs->n; i++)
		dirs->v[i] = all[i].path;
}

/* An overlay cannot be mounted over a directory that has mounts in it: skip such a directory. */
static bool mounted_in(struct layers *l, const char *path)
{
	cleanup_free char *dir = ga_path_join(l->s->id.project, path), *q = NULL, *why = NULL;
	const char *mount = view_mount_in(&l->mounts, dir);

	if (!mount)
		return false;
	q = ga_quote(mount);
	why = ga_strf("something is mounted at %s; unmount that to share it", q);
	skip(l, path, why);
	return true;
}

/* The same for the project itself, which a live session is mounted over; this is an error. */
static int check_project(struct layers *l, struct ga_error *err)
{
	const char *mount = l->s->id.live ? view_mount_in(&l->mounts, l->s->id.project) : NULL;
	cleanup_free char *q = mount ? ga_escape(mount) : NULL;

	if (!mount)
		return 0;
	(void)ga_fail(err, GA_ESTART, "the working tree cannot be shown itself: something is "
				      "mounted at '%s'", q);
	return ga_hint(err, "unmount that, or start without --live");
}

/* An empty directory: what a program sees that removes the shared directory and makes a new one. In
 * a live session the user's lies beneath it and must not show then. */
static int make_mount_point(struct layers *l, const char *path)
{
	cleanup_close int dir = -1;

	if (mkdirat(l->extras, path, 0755) && errno != EEXIST)
		return -1;
	if (!l->s->id.live)
		return 0;
	dir = ga_openat_beneath(l->extras, path, O_RDONLY | O_DIRECTORY, 0);
	if (dir < 0)
		return -1;
	/* without it, the shared directory cannot be removed inside */
	return fsetxattr(dir, "user.overlay.opaque", "y", 1, 0) && errno != EOPNOTSUPP ? -1 : 0;
}

static int share_dir(struct layers *l, const char *path, struct ga_error *err)
{
	cleanup_free char *upper = ga_strf("%s/shared/%zu/upper", l->s->dir, l->s->view.shared.n);
	cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", l->s->dir, l->s->view.shared.n);
	cleanup_close int fd = -1;
	struct stat st;
	int rc;

	fd = ga_openat_beneath(l->project, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	if (fd < 0 || fstat(fd, &st)) {
		skip(l, path, errno == ELOOP ? "behind a symlink" : strerror(errno));
		return 0;
	}
	if (st.st_uid != geteuid() && st.st_uid != 0) {
		skip(l, path, "belongs to another user");
		return 0;
	}
	if (mounted_in(l, path))
		return 0;
	rc = free_in_base(l, path, err);
	if (rc < 0)
		return -1;
	if (!rc) {
		skip(l, path, "tracked in the base");
		return 0;
	}
	if (make_parents(l, path, err))
		return -1;
	if (make_mount_point(l, path))
		return cannot_create(path, err);
	if (ga_mkdir_p(upper, 0700, err) || ga_view_mask_git(l->s, l->s->view.shared.n, fd, err) ||
	    ga_view_mask_shared(l->b, l->project, path, mask, err))
		return -1;
	/* the mount shows the upper's root: it looks like the user's directory */
	(void)chmod(upper, st.st_mode & 0777);
	ga_strv_push(&l->s->view.shared, path);
	return 0;
}

/* What it leads to is looked up inside. */
static int copy_link(struct layers *l, int fd, const char *path, struct ga_error *err)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(fd, "", to, sizeof(to) - 1);
	int rc = free_in_base(l, path, err);

	if (rc <= 0)
		return rc;
	if (n < 0 || l->files >= MAX_COPY_FILES) {
		skip(l, path, n < 0 ? strerror(errno)
				    : "ignored files above the limit are not copied");
		return 0;
	}
	to[n] = '\0';
	l->files++;
	if (make_parents(l, path, err))
		return -1;
	return symlinkat(to, l->extras, path) ? cannot_create(path, err) : 0;
}

static int copy_file(struct layers *l, const char *path, struct ga_error *err)
{
	cleanup_close int fd = -1, link = -1;
	struct stat st;
	int rc;

	link = ga_openat_beneath(l->project, path, O_PATH | O_NOFOLLOW, 0);
	if (link >= 0 && !fstat(link, &st) && S_ISLNK(st.st_mode))
		return copy_link(l, link, path, err);
	fd = ga_openat_beneath(l->project, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		/* special files: named, like what cannot be read */
		skip(l, path, fd >= 0 ? "not a regular file"
				      : errno == ELOOP ? "behind a symlink" : strerror(errno));
		return 0;
	}
	if ((uint64_t)st.st_size > MAX_COPY_BYTES ||
	    l->bytes + (uint64_t)st.st_size > MAX_COPY_TOTAL || l->files >= MAX_COPY_FILES) {
		skip(l, path, "ignored files above the limit are not copied");
		return 0;
	}
	rc = free_in_base(l, path, err);
	if (rc <= 0)
		return rc;
	l->files++;
	l->bytes += (uint64_t)st.st_size;
	if (make_parents(l, path, err) || ga_copy_fd_to(fd, l->extras, path, err))
		return -1;
	return 0;
}

static int fill_layers(struct layers *l, const struct ga_view_base *b, struct ga_error *err)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	if (l->s->id.live || b->scan.ignored_dirs.n)
		view_find_mounts(l->s->id.project, &l->mounts);
	if (check_project(l, err) || ga_commit_tree(l->e->repo, &l->s->id.base, &l->tree, err))
		return -1;
	/* the mount point of the git dir: a base tree has it, but the user's .git may be a file */
	if (l->s->id.live && open_extras(l, err))
		return -1;
	if (l->s->id.live && mkdirat(l->extras, ".git", 0755))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make the mount point of .git");
	ga_strv_extend(&dirs, &b->scan.ignored_dirs);
	if (dirs.n > b->max_shared)
		heaviest_first(l->project, &dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		if (ga_strv_above(&b->scan.submodules, dirs.v[i]))
			continue;
		if (l->s->view.shared.n >= b->max_shared)
			skip(l, dirs.v[i], "too many ignored directories to share: only the "
			     "largest are");
		else if (share_dir(l, dirs.v[i], err))
			return -1;
	}
	/* with the working tree itself as the lower layer they are there already */
	for (size_t i = 0; !l->s->id.live && i < b->scan.ignored_files.n; i++)
		if (!view_is_hidden(b, b->scan.ignored_files.v[i]) &&
		    copy_file(l, b->scan.ignored_files.v[i], err))
			return -1;
	if ((b->clear.n || (l->s->id.live && b->hidden.n)) &&
	    (open_extras(l, err) ||
	     ga_view_mask_project(l->e, l->s, b, &l->tree, l->project, l->extras, err)))
		return -1;
	return dress(l, err);
}

int ga_view_note_live(struct ga_session *s, struct ga_error *err)
{
	struct stat st;

	s->id.live_dev = s->id.live_ino = 0;
	if (!s->id.live)
		return 0;
	if (stat(s->id.project, &st))
		return ga_fail_path(err, errno, "look at", s->id.project);
	s->id.live_dev = st.st_dev;
	s->id.live_ino = st.st_ino;
	return 0;
}

int ga_view_make_layers(struct ga_env *e, struct ga_session *s, const struct ga_view_base *b,
			struct ga_strv *notes, struct ga_error *err)
{
	cleanup_close int project = open(s->id.project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct layers l = { .e = e, .s = s, .b = b, .project = project, .extras = -1,
			    .mounts = GA_STRV_INIT, .made = GA_STRV_INIT };
	cleanup_free char *upper = ga_session_path(s, "upper");
	struct stat st;
	int rc;

	if (project < 0 || fstat(project, &st))
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot open the project of session '%s'", s->name);
	rc = fill_layers(&l, b, err);
	if (!rc && s->view.shared.n)
		view_look_at_owners(e->state_dir, project, &s->view.shared, notes);
	ga_strv_release(&l.mounts);
	ga_strv_release(&l.made);
	ga_cleanup_closep(&l.extras);
	if (rc)
		return -1;
	/* the upper's root is what the project's root looks like inside */
	(void)chmod(upper, st.st_mode & 0777);
	(void)utimensat(AT_FDCWD, upper, (struct timespec[2]){ st.st_atim, st.st_mtim }, 0);
	return 0;
}

/* 1: it is there; 0: it is not; an error if neither is certain. */
static int look(const char *path, struct stat *ret, struct ga_error *err)
{
	cleanup_free char *q = NULL;
	int e;

	if (!stat(path, ret))
		return 1;
	e = errno;
	if (e == ENOENT || e == ENOTDIR)
		return 0;
	q = ga_escape(path);
	return ga_fail_errno(err, GA_ESTART, e, "cannot look at '%s'", q);
}

int ga_view_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
			struct ga_error *err)
{
	cleanup_free char *what = ga_strf("shared%zu", i);
	cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);
	cleanup_free char *lower = ga_path_join(s->id.project, s->view.shared.v[i]);
	struct stat st, ignored;
	int there = look(lower, &st, err), masked = there > 0 ? look(mask, &ignored, err) : 0;

	if (there < 0 || masked < 0)
		return -1;
	if (!there || !ga_session_shares(s, i))
		return 1;
	*ret = (struct ga_shared){ .rel = ga_strdup(s->view.shared.v[i]),
				   .lower = ga_steal(&lower),
				   .upper = ga_strf("%s/shared/%zu/upper", s->dir, i),
				   .removed = ga_session_removed(s, i),
				   .mask = masked ? ga_steal(&mask) : NULL,
				   .work = ga_session_fresh_dir(s, what, err),
				   .dev = st.st_dev,
				   .ino = st.st_ino };
	return ret->work ? 0 : -1;
}

static int add_shared(const struct ga_session *s, struct ga_spec *spec, struct ga_error *err)
{
	cleanup_(ga_view_seen_release) struct ga_view_seen seen = { 0 };

	if (!s->view.shared.n)
		return 0;
	spec->shared = ga_calloc(s->view.shared.n, sizeof(*spec->shared));
	for (size_t i = 0; i < s->view.shared.n; i++) {
		struct ga_shared *sh = &spec->shared[spec->n_shared];
		int rc = ga_view_make_shared(s, i, sh, err);

		if (rc > 0) /* nothing to lay over */
			continue;
		spec->n_shared++;
		if (rc)
			return -1;
		ga_view_seen_set(&seen, i, sh);
	}
	return ga_view_seen_write(&seen, s, err);
}

int ga_view_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *p,
		       struct ga_error *err)
{
	cleanup_free char *extras = ga_session_path(s, "extras"), *objects = ga_wip_objects(s);

	if (!access(objects, F_OK) && !ga_strv_has(&p->object_dirs, objects))
		ga_strv_take(&p->object_dirs, ga_steal(&objects));
	if (!access(extras, F_OK))
		ga_strv_take(&p->lowers, ga_steal(&extras));
	ga_strv_push(&p->lowers, base ? base->tree : s->id.project);
	p->upper = ga_session_path(s, "upper");
	p->work = ga_session_fresh_dir(s, "project", err);
	p->git.upper = ga_session_path(s, "git");
	ga_strv_extend(&p->hidden_objects, &s->view.masked_objects);
	if (!p->work)
		return -1;
	if (base) {
		p->git.lower = ga_strdup(base->git);
		p->git.work = ga_session_fresh_dir(s, "git", err);
		if (!p->git.work)
			return -1;
	}
	return add_shared(s, p, err);
}
