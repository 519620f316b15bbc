/* SPDX-License-Identifier: MIT
 *
 * Find or make a base tree in the pool, and remove unused ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/pool.h"
#include "ga/sys/fd.h"
#include "pool-internal.h"

#define MAGIC "git-agent base 2"

/* Does this key of the configuration change what a checkout writes? */
static bool shapes_checkout(const char *key)
{
	static const char *const keys[] = {
		"core.autocrlf", "core.eol", "core.symlinks", "core.filemode", "core.ignorecase",
		"core.precomposeunicode", "core.protecthfs", "core.protectntfs",
		"core.attributesfile", "core.sparsecheckout", "core.sparsecheckoutcone",
	};

	if (!strncmp(key, "filter.", 7) || !strncmp(key, "lfs.", 4))
		return true;
	for (size_t i = 0; i < GA_NELEMS(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return false;
}

/* Add the file's content to a key as a record of its own; a missing file counts as empty. */
static int add_file(struct ga_buf *key, const char *path, struct ga_error *err)
{
	ga_buf_add0(key, path);
	if (ga_user_file_read(path, GA_RULES_MAX, key, err))
		return -1;
	ga_buf_addch(key, '\0');
	return 0;
}

static int add_rules(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_buf *key,
		     struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(r->info.commondir, "info/attributes");
	cleanup_free char *sparse = ga_path_join(r->info.gitdir, "info/sparse-checkout");
	const char *system = ga_system_attributes();
	cleanup_free char *own = NULL;

	for (size_t i = 0; i < c->n; i++)
		if (shapes_checkout(c->v[i].key)) {
			ga_buf_addf(key, "%s%c", c->v[i].key, c->v[i].has_value ? '=' : ' ');
			ga_buf_add0(key, c->v[i].value);
		}
	if (ga_user_file(r, c, "core.attributesfile", "attributes", &own, err) ||
	    (system && add_file(key, system, err)) || (own && add_file(key, own, err)) ||
	    add_file(key, info, err))
		return -1;
	if (!ga_gitconfig_bool(c, "core.sparsecheckout", false))
		return 0;
	return add_file(key, sparse, err);
}

#define SMALL_FILE ((size_t)64 << 20)
#define MAX_TRIES 100

/* What one call of ga_base_acquire() needs. The key has all that affects the bytes of a checkout
 * besides the commit. */
struct want {
	struct ga_repo *r;
	const struct ga_base_opts *o;
	const struct ga_oid *commit;
	struct ga_buf key;     /* records that each end in NUL: the working tree ... */
	size_t place_len;      /* ... is what these bytes tell; and then the rules */
	char *bases;           /* <state>/bases */
	struct ga_buf stand;   /* what `commit` holds in a base that fits */
	struct ga_buf making;  /* what `making` holds while one is made */
};

static void want_release(struct want *w)
{
	ga_buf_release(&w->key);
	ga_buf_release(&w->stand);
	ga_buf_release(&w->making);
	free(w->bases);
}

/* How well a base fits, by its files; the best first. */
enum fit {
	FIT_EXACT,      /* can be used without a change */
	FIT_MAKING,     /* is being made, or its maker was killed */
	FIT_REPAIR,     /* has the commit, but from another boot: each file has to be checked */
	FIT_MOVE,       /* has another commit, with the same rules */
	FIT_INCOMPLETE, /* has no complete checkout */
	FIT_RULES,      /* is of this working tree, but made with other rules */
	FIT_NONE,
};

struct candidate {
	unsigned n;
	enum fit fit;
	struct timespec made;
};

struct pool {
	struct candidate *v;
	size_t n, cap;
};

static void pool_release(struct pool *p)
{
	free(p->v);
}

void ga_base_release(struct ga_base *b)
{
	free(b->tree);
	free(b->git);
	free(b->attributed);
	ga_cleanup_closep(&b->lock_fd);
	*b = (struct ga_base)GA_BASE_INIT;
}

/* ---- small files ------------------------------------------------------------------ */

static bool file_is(int dir, const char *name, const struct ga_buf *want)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return !ga_read_file_at(dir, name, SMALL_FILE, &b, GA_IGNORED) && ga_buf_equal(&b, want);
}

/* Written by rename, so that nobody reads half of it, but without a sync: that would wait for the
 * whole checkout to reach the disk, and a base from another boot is checked before it is used
 * anyway. */
static int write_small(int dir, const char *name, const struct ga_buf *b, struct ga_error *err)
{
	cleanup_free char *tmp = ga_strf("%s.new", name);
	cleanup_close int fd = -1;

	/* only the holder of the lock, which we are, uses this name */
	(void)unlinkat(dir, tmp, 0);
	fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || ga_write_full(fd, b->ptr, b->len) || renameat(dir, tmp, dir, name))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write '%s' of a base tree",
				     name);
	return 0;
}

/* ---- looking ----------------------------------------------------------------------- */

static int open_base(const struct want *w, unsigned n)
{
	cleanup_free char *path = ga_strf("%s/%u", w->bases, n);

	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* `commit` is "<commit>\n<boot id>\n". */
static enum fit fit_of_complete(const struct want *w, const struct ga_buf *commit)
{
	const size_t id = GA_OID_HEXSZ + 1;

	if (ga_buf_equal(commit, &w->stand))
		return FIT_EXACT;
	if (commit->len < id)
		return FIT_INCOMPLETE;
	return memcmp(commit->ptr, w->stand.ptr, id) ? FIT_MOVE : FIT_REPAIR;
}

static enum fit read_fit(const struct want *w, int dir)
{
	cleanup_error struct ga_error e1 = GA_ERROR_INIT, e2 = GA_ERROR_INIT;
	cleanup_buf struct ga_buf commit = GA_BUF_INIT, key = GA_BUF_INIT;

	if (faccessat(dir, "commit", F_OK, AT_SYMLINK_NOFOLLOW))
		return file_is(dir, "making", &w->making) ? FIT_MAKING : FIT_INCOMPLETE;
	if (ga_read_file_at(dir, "commit", SMALL_FILE, &commit, &e1) ||
	    ga_read_file_at(dir, "key", SMALL_FILE, &key, &e2))
		return FIT_INCOMPLETE;
	if (ga_buf_equal(&key, &w->key))
		return fit_of_complete(w, &commit);
	if (key.len >= w->place_len && !memcmp(key.ptr, w->key.ptr, w->place_len))
		return FIT_RULES;
	return FIT_NONE;
}

static int by_worth(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->fit != y->fit)
		return x->fit < y->fit ? -1 : 1;
	if (x->made.tv_sec != y->made.tv_sec)
		return x->made.tv_sec > y->made.tv_sec ? -1 : 1;
	if (x->made.tv_nsec != y->made.tv_nsec)
		return x->made.tv_nsec > y->made.tv_nsec ? -1 : 1;
	return x->n < y->n ? -1 : 1;
}

/* List all bases, the most useful first; of those with another commit the youngest, which is likely
 * to differ least. */
static int list(const struct want *w, struct pool *p, struct ga_error *err)
{
	cleanup_dir DIR *d = opendir(w->bases);
	struct dirent *e;
	uint64_t n;

	if (!d)
		return ga_fail_path(err, errno, "read", w->bases);
	while ((e = ga_dir_next(d))) {
		cleanup_close int dir = -1;
		struct candidate *c;
		struct stat st = { 0 };

		if (!ga_parse_u64(e->d_name, 1000000000, &n))
			continue;
		dir = open_base(w, (unsigned)n);
		if (dir < 0)
			continue;
		GA_GROW(p->v, p->n, p->cap);
		c = &p->v[p->n++];
		(void)fstatat(dir, "commit", &st, AT_SYMLINK_NOFOLLOW);
		*c = (struct candidate){ (unsigned)n, read_fit(w, dir), st.st_mtim };
	}
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_worth);
	return 0;
}

/* ---- locks ------------------------------------------------------------------------- */

static int open_lock(int dir, struct ga_error *err)
{
	int fd = openat(dir, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the lock of a base tree");
	return fd;
}

/* Take a shared lock on base `n`, then check that it fits. Returns 1 if it does not. */
static int lock_base(const struct want *w, unsigned n, bool wait, struct ga_base *ret,
		     struct ga_error *err)
{
	cleanup_close int dir = open_base(w, n), lock = -1;
	int rc;

	if (dir < 0)
		return 1;
	lock = open_lock(dir, err);
	if (lock < 0)
		return -1;
	rc = ga_flock(lock, false, wait, err);
	if (rc)
		return rc;
	if (!file_is(dir, "commit", &w->stand) || !file_is(dir, "key", &w->key))
		return 1;
	/* the lock's mtime tells ga_base_prune() when the base was last used */
	(void)futimens(lock, NULL);
	ret->tree = ga_strf("%s/%u/tree", w->bases, n);
	ret->git = ga_strf("%s/%u/git", w->bases, n);
	ret->lock_fd = ga_steal_fd(&lock);
	return 0;
}

/* ---- making -------------------------------------------------------------------------- */

/* A base locked for change: its exclusive lock is held, `commit` is removed, and `making` names its
 * new commit and key. */
struct taken {
	unsigned n;
	int dir, lock;
	enum ga_base_way way;
};
#define TAKEN_INIT { 0, -1, -1, GA_WAY_WHOLE }

static void taken_release(struct taken *t)
{
	/* programs that git left running may still have the descriptor, and with it the lock */
	if (t->lock >= 0)
		ga_funlock(t->lock);
	ga_cleanup_closep(&t->dir);
	ga_cleanup_closep(&t->lock);
}

/* Lock base `n` for change. Returns 1 if a session uses it. */
static int lock_for_change(const struct want *w, unsigned n, enum fit fit, struct taken *ret,
			   struct ga_error *err)
{
	cleanup_(taken_release) struct taken t = TAKEN_INIT;
	int rc;

	t.n = n;
	if (fit == FIT_MOVE || fit == FIT_REPAIR)
		t.way = fit == FIT_MOVE ? GA_WAY_MOVE : GA_WAY_REPAIR;
	t.dir = open_base(w, n);
	if (t.dir < 0)
		return 1;
	t.lock = open_lock(t.dir, err);
	if (t.lock < 0)
		return -1;
	rc = ga_flock(t.lock, true, false, err);
	if (rc)
		return rc;
	/* from here on it is incomplete, even after a crash */
	if (unlinkat(t.dir, "commit", 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot take a base tree");
	if (write_small(t.dir, "making", &w->making, err))
		return -1;
	*ret = t;
	t = (struct taken)TAKEN_INIT;
	return 0;
}

static int take_new(const struct want *w, const struct pool *p, struct taken *ret,
		    struct ga_error *err)
{
	unsigned n = 1;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].n >= n)
			n = p->v[i].n + 1;
	for (;; n++) {
		cleanup_free char *path = ga_strf("%s/%u", w->bases, n);

		if (!mkdir(path, 0700))
			break;
		if (errno != EEXIST)
			return ga_fail_path(err, errno, "create", path);
	}
	if (lock_for_change(w, n, FIT_INCOMPLETE, ret, err) < 0)
		return -1;
	return ret->lock < 0 ? ga_fail(err, GA_EFATAL, "cannot take a new base tree") : 0;
}

/* Returns 0 if a base was found and locked. Else, with the pool's lock held, 1 if one was locked
 * for change, or 2 if base `*ret_n` is being made by another process. Without the lock, `taken` is
 * NULL, and only a base that needs no change is found: the usual case. */
static int choose_base(const struct want *w, struct ga_base *ret, struct taken *taken,
		       unsigned *ret_n, struct ga_error *err)
{
	cleanup_(pool_release) struct pool p = { 0 };

	if (list(w, &p, err))
		return -1;
	for (size_t i = 0; i < p.n; i++) {
		const struct candidate *c = &p.v[i];
		int rc = 1;

		if (c->fit == FIT_NONE || (!taken && c->fit != FIT_EXACT))
			break;
		if (c->fit == FIT_EXACT) {
			rc = lock_base(w, c->n, false, ret, err);
			if (rc <= 0)
				return rc;
			continue;
		}
		rc = lock_for_change(w, c->n, c->fit, taken, err);
		if (rc <= 0)
			return rc ? -1 : 1;
		if (c->fit == FIT_MAKING) {
			*ret_n = c->n;
			return 2;
		}
	}
	return taken && take_new(w, &p, taken, err) ? -1 : 1;
}

static int make(const struct want *w, struct taken *t, struct ga_base *ret, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/%u", w->bases, t->n);

	if (ga_base_checkout(w->r, dir, t->lock, w->commit, t->way, w->o, ret, err))
		return ga_error_wrap(err, "cannot make a base tree");
	if (write_small(t->dir, "key", &w->key, err) ||
	    write_small(t->dir, "commit", &w->stand, err))
		return -1;
	(void)unlinkat(t->dir, "making", 0);
	ret->how = t->way == GA_WAY_WHOLE ? GA_BASE_MADE : GA_BASE_MOVED;
	return 0;
}

/* ---- acquiring ------------------------------------------------------------------------ */

static int prepare(struct want *w, const char *state_dir, const struct ga_gitconfig *c,
		   struct ga_error *err)
{
	cleanup_free char *boot = ga_boot_id();

	if (*state_dir != '/')
		GA_BUG("the state directory is not absolute");
	w->bases = ga_path_join(state_dir, "bases");
	ga_buf_add0(&w->key, MAGIC);
	ga_buf_add0(&w->key, w->r->info.workdir);
	ga_buf_add0(&w->key, w->o->trusted ? "trusted" : "untrusted");
	w->place_len = w->key.len;
	if (ga_mkdir_p(w->bases, 0700, err) || add_rules(w->r, c, &w->key, err))
		return -1;
	/* without a boot id, a base of an earlier boot cannot be recognised */
	ga_buf_addf(&w->stand, "%s\n%s\n", GA_HEX(w->commit), boot);
	ga_buf_add(&w->making, w->stand.ptr, w->stand.len);
	ga_buf_add(&w->making, w->key.ptr, w->key.len);
	return 0;
}

static int choose_locked(const struct want *w, struct ga_base *ret, struct taken *taken,
			 unsigned *ret_n, struct ga_error *err)
{
	cleanup_close int dir = open(w->bases, O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock = -1;

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the pool of base trees");
	lock = open_lock(dir, err);
	if (lock < 0 || ga_flock(lock, true, true, err) < 0)
		return -1;
	return choose_base(w, ret, taken, ret_n, err);
}

/* flock(2) does not convert a lock atomically: in between, the base may be changed or removed. So
 * lock_base() checks it again, and if it is gone everything is tried again. */
static int acquire(const struct want *w, struct ga_base *ret, struct ga_error *err)
{
	for (unsigned tries = 0; tries < MAX_TRIES; tries++) {
		cleanup_(taken_release) struct taken t = TAKEN_INIT;
		unsigned n = 0;
		int rc = choose_base(w, ret, NULL, NULL, err);

		if (rc <= 0)
			return rc;
		rc = choose_locked(w, ret, &t, &n, err);
		if (rc <= 0)
			return rc;
		if (rc == 1 && make(w, &t, ret, err))
			return -1;
		if (rc == 1)
			n = t.n;
		taken_release(&t);
		t = (struct taken)TAKEN_INIT;
		rc = lock_base(w, n, true, ret, err);
		if (rc <= 0)
			return rc;
	}
	return ga_fail(err, GA_EFATAL, "cannot get hold of a base tree");
}

int ga_base_acquire(struct ga_repo *r, const char *state_dir, const struct ga_oid *commit,
		    const struct ga_base_opts *o, struct ga_base *ret, struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig own = GA_GITCONFIG_INIT;
	struct ga_base_opts mine = *o;
	cleanup_(want_release) struct want w = {
		.r = r,
		.o = &mine,
		.commit = commit,
		.key = GA_BUF_INIT,
		.stand = GA_BUF_INIT,
		.making = GA_BUF_INIT,
	};

	if (!mine.config) {
		if (ga_gitconfig_load(r, &own, err))
			return -1;
		mine.config = &own;
	}
	if (prepare(&w, state_dir, mine.config, err))
		return -1;
	return acquire(&w, ret, err);
}

#define GONE ".gone-" /* prefix of a base that is being removed: the name is no number, so nobody
		       * uses it */

/* Why a base may be removed, or NULL. Its exclusive lock is held. */
static char *removal_reason(int dir, int lock, time_t unused_since)
{
	cleanup_buf struct ga_buf key = GA_BUF_INIT;
	const char *workdir;
	struct stat st;
	size_t pos = 0;

	if (faccessat(dir, "commit", F_OK, AT_SYMLINK_NOFOLLOW))
		return ga_strdup("not complete");
	if (ga_read_file_at(dir, "key", SMALL_FILE, &key, GA_IGNORED) ||
	    !ga_buf_next0(&key, &pos) || !(workdir = ga_buf_next0(&key, &pos)))
		return ga_strdup("damaged");
	if (access(workdir, F_OK) && errno == ENOENT) {
		cleanup_free char *q = ga_quote(workdir);

		return ga_strf("its working tree %s is gone", q);
	}
	if (fstat(lock, &st) || st.st_mtime >= unused_since)
		return NULL;
	return ga_strf("not used for %lld days", (long long)((time(NULL) - st.st_mtime) / 86400));
}

/* Rename it first, so that a partly removed base is never used. */
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
	why = removal_reason(dir, lock, unused_since);
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
	/* no process chooses a base while it is held */
	lock = open_lock(bases, err);
	if (lock < 0 || ga_flock(lock, true, true, err) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		bool gone = *all.v[i] == '.';

		if (gone ? !dry && ga_rmtree_at(bases, all.v[i], err)
			 : prune_one(bases, all.v[i], unused_since, dry, names, whys, err))
			return -1;
	}
	return 0;
}
