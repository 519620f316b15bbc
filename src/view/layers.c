/* SPDX-License-Identifier: MIT */
#include <limits.h>
#include <sys/xattr.h>
#include <time.h>

#include "ga/sys/mount.h"
#include "view-internal.h"

/* Entries that one start checks, in a few milliseconds. A clean directory is searched again once it
 * has changed itself, or after AGAIN_AFTER seconds. */
#define ENTRIES_MAX 20000
#define DEPTH_MAX 64
#define AGAIN_AFTER 900
#define CACHE "owners"
#define CACHE_MAX ((size_t)4 << 20)

static void find_mounts(const char *project, struct ga_strv *ret)
{
	cleanup_strv struct ga_strv mounts = GA_STRV_INIT;

	if (ga_mount_list(&mounts, GA_IGNORED))
		return;
	for (size_t i = 0; i < mounts.n; i += GA_MOUNT_WORDS)
		if (ga_path_below(mounts.v[i], project))
			ga_strv_push(ret, mounts.v[i]);
}

/* List the mount points below the project; find one strictly below `dir`, or
 * NULL. */
static const char *mount_in(const struct ga_strv *mounts, const char *dir)
{
	for (size_t i = 0; i < mounts->n; i++) {
		const char *below = ga_path_below(mounts->v[i], dir);

		if (below && *below)
			return mounts->v[i];
	}
	return NULL;
}

struct look {
	size_t left;     /* remaining entries to check */
	size_t found;
	bool only_group; /* all found differ only in the group */
	char *first;
};

static bool is_foreign(const struct stat *st)
{
	return st->st_uid != geteuid() || st->st_gid != getegid();
}

static void note(struct look *l, const char *path, const struct stat *st)
{
	if (!is_foreign(st))
		return;
	if (!l->found++)
		l->first = ga_strdup(path);
	l->only_group = l->only_group && st->st_uid == geteuid();
}

/* Search a directory, following no link. Closes `fd`. */
static void scan_dir(struct look *l, int fd, const char *path, unsigned depth)
{
	cleanup_dir DIR *d = ga_dir_of(fd);
	struct dirent *e;

	while (l->left && (e = ga_dir_next(d))) {
		cleanup_free char *at = NULL;
		struct stat st;
		int sub;

		l->left--;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISDIR(st.st_mode) && !is_foreign(&st))
			continue;
		at = ga_path_join(path, e->d_name);
		note(l, at, &st);
		if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
			continue;
		sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK |
					    O_CLOEXEC);
		if (sub >= 0)
			scan_dir(l, sub, at, depth + 1);
	}
}

static void describe(const struct look *l, const char *dir, struct ga_strv *notes)
{
	cleanup_free char *first = ga_quote(l->first), *q = ga_quote(dir);

	ga_strv_pushf(notes, "%s%zu path%s in %s, %s first, cannot be changed inside: of another "
			     "%s",
		      l->left ? "" : "at least ", l->found, l->found == 1 ? "" : "s", q, first,
		      l->only_group ? "group" : "owner");
	if (l->only_group)
		ga_strv_pushf(notes, "to allow it: chgrp -hR %u %s", getegid(), q);
	else
		ga_strv_pushf(notes, "to allow it: sudo chown -hR %u:%u %s", geteuid(), getegid(),
			      q);
}

static char *stat_text(const struct stat *st)
{
	return ga_strf("%llu %lld.%ld %lld.%ld", (unsigned long long)st->st_ino,
		       (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		       (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

/* Was it clean not long ago? The cache has records of three words: path, stat_text(), and when. */
static bool is_known(const struct ga_buf *cache, const char *path, const char *stat, uint64_t now,
		     uint64_t *ret_when)
{
	const char *at, *was, *when;
	size_t pos = 0;

	while ((at = ga_buf_next0(cache, &pos)) && (was = ga_buf_next0(cache, &pos)) &&
	       (when = ga_buf_next0(cache, &pos)))
		if (!strcmp(at, path))
			return !strcmp(was, stat) && ga_parse_u64(when, UINT64_MAX, ret_when) &&
			       *ret_when <= now && now - *ret_when < AGAIN_AFTER;
	return false;
}

/* Add to `notes` files in these directories of the open `project` that cannot be written inside,
 * and the remedy. Bounded; clean directories are cached in `state_dir` for a while. */
static void check_owners(const char *state_dir, int project, const struct ga_strv *dirs,
			 struct ga_strv *notes)
{
	cleanup_buf struct ga_buf old = GA_BUF_INIT, new = GA_BUF_INIT;
	cleanup_close int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct look l = { .left = ENTRIES_MAX };
	uint64_t now = (uint64_t)time(NULL);

	if (state >= 0)
		(void)ga_read_file_at(state, CACHE, CACHE_MAX, &old, GA_IGNORED);
	for (size_t i = 0; i < dirs->n; i++) {
		int fd = ga_openat_beneath(project, dirs->v[i],
					   O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
		cleanup_free char *text = NULL;
		bool looked = true;
		uint64_t when = now;
		struct stat st;

		if (fd < 0 || fstat(fd, &st)) {
			ga_cleanup_closep(&fd);
			continue;
		}
		text = stat_text(&st);
		l.found = 0;
		l.only_group = true;
		if (is_known(&old, dirs->v[i], text, now, &when)) {
			(void)close(fd);
		} else {
			/* the next start skips cached directories, and continues here */
			looked = l.left > 0;
			note(&l, dirs->v[i], &st);
			scan_dir(&l, fd, dirs->v[i], 0);
		}
		if (l.found) {
			describe(&l, dirs->v[i], notes);
			free(l.first);
		} else if (looked) {
			ga_buf_add0(&new, dirs->v[i]);
			ga_buf_add0(&new, text);
			ga_buf_addf(&new, "%llu", (unsigned long long)when);
			ga_buf_addch(&new, '\0');
		}
	}
	if (state >= 0 && !ga_buf_equal(&new, &old))
		(void)ga_write_atomic(state, CACHE, new.ptr, new.len, 0600, GA_IGNORED);
}

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
	struct ga_strv made;   /* directories in extras, above what is there */
	size_t files;          /* copied so far ... */
	uint64_t bytes;        /* ... and their size */
};

static void skip(struct layers *l, const char *path, const char *why)
{
	ga_strv_pushf(&l->s->view.skipped, "%s: %s", GA_QUOTED(path), why);
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
	return ga_fail_errno(err, GA_EFATAL, errno, "cannot create '%s' in the layers",
			     path);
}

static int make_parents(struct layers *l, const char *path, struct ga_error *err)
{
	return open_extras(l, err) || ga_make_parents(l->extras, path, &l->made, err) ? -1 : 0;
}

/* Rank a directory for sharing, by the number of its entries. */
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
	cleanup_free char *dir = ga_path_join(l->s->id.project, path), *why = NULL;
	const char *mount = mount_in(&l->mounts, dir);

	if (!mount)
		return false;
	why = ga_strf("something is mounted at %s; unmount that to share it", GA_QUOTED(mount));
	skip(l, path, why);
	return true;
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
	/* shows after a program removes the shared directory and makes a new one */
	if (mkdirat(l->extras, path, 0755) && errno != EEXIST)
		return cannot_create(path, err);
	if (ga_mkdir_p(upper, 0700, err) || ga_view_mask_git(l->s, l->s->view.shared.n, fd, err) ||
	    ga_view_mask_shared(l->b, l->project, path, mask, err))
		return -1;
	/* the mount shows the upper's root: copy the user's mode and times */
	(void)chmod(upper, st.st_mode & 0777);
	ga_strv_push(&l->s->view.shared, path);
	return 0;
}

/* Its target is resolved inside. */
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
		/* report special files, like unreadable ones */
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

	if (b->scan.ignored_dirs.n)
		find_mounts(l->s->id.project, &l->mounts);
	if (ga_commit_tree(l->e->repo, &l->s->id.base, &l->tree, err))
		return -1;
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
	for (size_t i = 0; i < b->scan.ignored_files.n; i++)
		if (!view_is_hidden(b, b->scan.ignored_files.v[i]) &&
		    copy_file(l, b->scan.ignored_files.v[i], err))
			return -1;
	if (b->clear.n &&
	    (open_extras(l, err) ||
	     ga_view_mask_project(l->e, l->s, b, &l->tree, l->project, l->extras, err)))
		return -1;
	/* inner ones first: an outer one may become unreadable to its owner */
	for (size_t i = l->made.n; i; i--)
		if (view_dress(l->project, l->made.v[i - 1], l->extras, l->made.v[i - 1]))
			return cannot_create(l->made.v[i - 1], err);
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
		check_owners(e->state_dir, project, &s->view.shared, notes);
	ga_strv_release(&l.mounts);
	ga_strv_release(&l.made);
	ga_cleanup_closep(&l.extras);
	if (rc)
		return -1;
	/* the upper's root is the project's root inside */
	(void)chmod(upper, st.st_mode & 0777);
	(void)utimensat(AT_FDCWD, upper, (struct timespec[2]){ st.st_atim, st.st_mtim }, 0);
	return 0;
}
