/* SPDX-License-Identifier: MIT */
#include "pool-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/gitdir.h"
#include "ga/sys/fd.h"
#include "repo/index-file.h"

/* Number of files from which several checkout workers are faster than one. */
#define WORKERS_FROM 1000

/* Get all names and ids of attribute files in an index: if these change, files that did not change
 * may still have to be written differently. */
static int attribute_sources(const char *index, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_index struct ga_index ix = GA_INDEX_INIT;
	struct ga_index_entry e;
	int rc = ga_index_open(index, &ix, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	while (!(rc = ga_index_next(&ix, &e, err)))
		if (!strcmp(ga_path_base(e.path), ".gitattributes")) {
			ga_buf_add(ret, e.oid.id, GA_OID_RAWSZ);
			ga_buf_add0(ret, e.path);
		}
	return rc < 0 ? -1 : 0;
}

/* For agent content no command of the host may run: every filter driver that the host defines gets
 * empty commands and is not required. */
static int without_filters(const struct ga_gitconfig *c, struct ga_strv *config,
			   struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	for (size_t i = 0; i < c->n; i++) {
		cleanup_free char *name = ga_gitconfig_filter(c->v[i].key);

		if (name)
			ga_strv_push(&names, name);
	}
	ga_strv_sort_unique(&names);
	for (size_t i = 0; i < names.n; i++) {
		const char *n = names.v[i];

		/* git splits "-c key=value" at the first '=' */
		if (strchr(n, '='))
			return ga_fail(err, GA_EFATAL, "the filter '%s' cannot be switched off", n);
		ga_strv_pushf(config, "filter.%s.smudge=", n);
		ga_strv_pushf(config, "filter.%s.clean=", n);
		ga_strv_pushf(config, "filter.%s.process=", n);
		ga_strv_pushf(config, "filter.%s.required=false", n);
	}
	return 0;
}

struct checkout {
	struct ga_repo *r;
	const char *dir;
	int lock;
	const struct ga_oid *commit;
	const struct ga_base_opts *o;
	time_t since;
	struct ga_base_plan plan;
	struct ga_base_settle *settle; /* the settling of times, once it has begun */
};

/* With several checkout workers, git (2.39) uses freed memory for a working-tree-encoding that a
 * .gitattributes below the top sets, once it has left that directory: such files are written
 * unconverted, or git crashes. Where that is possible, one worker is used. */
static bool encodes_below_top(const struct checkout *c)
{
	const char *const args[] = { "grep", "-q", "-a", "-F", "-e", "working-tree-encoding",
				     GA_HEX(c->commit), "--", "*/.gitattributes", NULL };
	int status;
	struct ga_git g = GA_GIT(.args = args, .lazy_fetch = c->o->trusted,
				 .private_dir = GA_PRIVATE_READ);

	g.keep_fd = c->lock;
	return ga_git_run(c->r, &g, &status, GA_IGNORED) || status != 1;
}

static int begin_git(const struct checkout *c, const char *const *args, const char *index_name,
		     bool one_worker, bool progress, struct ga_buf *errout,
		     struct ga_process_job **ret, struct ga_error *err)
{
	cleanup_free char *tree = ga_path_join(c->dir, "tree");
	cleanup_free char *index = ga_path_join(c->dir, index_name);
	cleanup_strv struct ga_strv config = GA_STRV_INIT;
	struct ga_git g = GA_GIT(.args = args, .work_tree = tree, .index_file = index,
				 .lazy_fetch = c->o->trusted, .show_stderr = progress,
				 .errout = errout);

	/* as in the private git dirs, because setting mtimes changes ctimes, too */
	ga_strv_push_many(&config, "core.checkStat=minimal", "core.trustctime=false",
			  /* version 4 stores each path as the difference from the one before */
			  "index.version=2",
			  one_worker ? "checkout.workers=1" : "checkout.workers=0", NULL);
	if (c->o->trusted)
		ga_gitconfig_push_filters(c->o->config, ga_repo_info(c->r)->workdir, &config);
	else if (without_filters(c->o->config, &config, err))
		return -1;
	g.config = (const char *const *)config.v;
	g.keep_fd = c->lock;
	return ga_git_begin(c->r, &g, ret, err);
}

static int end_git(const struct checkout *c, struct ga_process_job *job, const char *const *args,
		   const struct ga_buf *errout, struct ga_error *err)
{
	int status;

	if (ga_process_end(job, &status, err))
		return -1;
	return status ? ga_git_failed(c->r, args[0], status, errout, err) : 0;
}

/* git compares every file with the index and rewrites those that differ, which also repairs a
 * checkout that a crash of the machine left incomplete. */
static int read_tree(const struct checkout *c, bool progress, bool one_worker,
		     struct ga_error *err)
{
	const char *const args[] = { "read-tree", "--reset", "-u", GA_HEX(c->commit),
				     progress ? "-v" : NULL, NULL };

	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	struct ga_process_job *job;

	return begin_git(c, args, "index", one_worker, progress, &errout, &job, err) ||
	       end_git(c, job, args, &errout, err) ? -1 : 0;
}

static int make_empty(const char *dir, struct ga_error *err)
{
	static const char *const parts[] = {
		"tree", "git", "index", "index.lock", "index.new", GA_BASE_COME,
		GA_BASE_COME_LOCK,
	};
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return ga_fail_path(err, errno, "open", dir);
	for (size_t i = 0; i < GA_NELEMS(parts); i++)
		if (ga_rmtree_at(at, parts[i], err))
			return -1;
	if (mkdirat(at, "tree", 0755) || mkdirat(at, "tree/.git", 0755) || mkdirat(at, "git", 0700))
		return ga_fail_path(err, errno, "create directories in", dir);
	return 0;
}

/* Remove the template for private git dirs, which is that of the previous commit. */
static int make_git_empty(const char *dir, struct ga_error *err)
{
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at >= 0 && ga_rmtree_at(at, "git", err))
		return -1;
	if (at < 0 || mkdirat(at, "git", 0700))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create 'git' in '%s'", dir);
	return 0;
}

static int checkout_whole(const struct checkout *c, struct ga_error *err)
{
	if (make_empty(c->dir, err))
		return -1;
	if (read_tree(c, c->o->progress, encodes_below_top(c), err)) {
		/* the usual reason is a full disk: free the space */
		(void)make_empty(c->dir, GA_IGNORED);
		return -1;
	}
	return 0;
}

static int write_come(struct checkout *c, struct ga_error *err)
{
	/* newer than any file that git writes: otherwise git takes these for racily clean, and
	 * reads them again before it writes this index */
	const struct timespec ts[2] = { { .tv_nsec = UTIME_OMIT },
					{ .tv_sec = time(NULL) + 86400 } };
	cleanup_free char *path = ga_path_join(c->dir, GA_BASE_COME);
	struct ga_base_plan *p = &c->plan;

	ga_index_end(&p->come, p->n_come);
	if (unlink(path) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove an old index");
	if (ga_write_new(AT_FDCWD, path, p->come.ptr, p->come.len, 0644, err))
		return -1;
	return utimensat(AT_FDCWD, path, ts, 0)
		       ? ga_fail_errno(err, GA_EFATAL, errno, "cannot set the time of an index")
		       : 0;
}

/* Let git check out the new files, while the rest of the index is settled. They are the same as
 * with the whole index, since git reads attributes from the tree. */
static int check_out_come(struct checkout *c, struct ga_error *err)
{
	static const char *const args[] = { "checkout", "-q", "--", ".", NULL };
	const struct ga_base_plan *p = &c->plan;
	/* for few files, starting workers costs more than it saves */
	bool one_worker = p->below_top || p->n_come < WORKERS_FROM;
	cleanup_buf struct ga_buf errout = GA_BUF_INIT;
	struct ga_process_job *job = NULL;
	int rc;

	if (p->n_come && (write_come(c, err) || begin_git(c, args, GA_BASE_COME, one_worker, false,
							  &errout, &job, err)))
		return -1;
	rc = ga_base_settle_begin(c->r, c->dir, c->since, p, &c->settle, err);
	if (job && !rc)
		return end_git(c, job, args, &errout, err);
	if (job) {
		cleanup_error struct ga_error second = GA_ERROR_INIT;

		/* nobody else may write before git has ended */
		(void)end_git(c, job, args, &errout, &second);
	}
	return rc;
}

/* Let git check every file. */
static int checkout_over(const struct checkout *c, struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(c->dir, "index");
	cleanup_buf struct ga_buf before = GA_BUF_INIT, after = GA_BUF_INIT;

	if (attribute_sources(index, &before, err) ||
	    read_tree(c, false, encodes_below_top(c), err) || attribute_sources(index, &after, err))
		return -1;
	return ga_buf_equal(&before, &after) ? 0 : checkout_whole(c, err);
}

static int checkout_move(struct checkout *c, enum ga_base_way way, struct ga_error *err)
{
	cleanup_error struct ga_error first = GA_ERROR_INIT;
	cleanup_free char *tree = ga_path_join(c->dir, "tree");

	/* the root has the user's mode, which may be read-only */
	(void)chmod(tree, 0755);
	if (make_git_empty(c->dir, err))
		return -1;
	/* with sparse patterns, only git knows which files it leaves out */
	if (way == GA_WAY_REPAIR || ga_gitconfig_bool(c->o->config, "core.sparsecheckout", false) ||
	    !ga_base_plan_move(c->r, c->dir, c->commit, ga_repo_is_partial(c->r), &c->plan))
		return checkout_over(c, err);
	if (c->plan.attributes)
		return checkout_whole(c, err);
	if (!check_out_come(c, &first))
		return 0;
	/* if the cause remains, git reports it now */
	ga_base_settle_free(c->settle);
	c->settle = NULL;
	return checkout_over(c, err);
}

static void checkout_release(struct checkout *c)
{
	ga_base_settle_free(c->settle);
	ga_base_plan_release(&c->plan);
}

int ga_base_checkout(struct ga_repo *r, const char *dir, int lock, const struct ga_oid *commit,
		     enum ga_base_way way, const struct ga_base_opts *o, struct ga_base *ret,
		     struct ga_error *err)
{
	cleanup_(checkout_release) struct checkout c = {
		.r = r, .dir = dir, .lock = lock, .commit = commit, .o = o, .since = time(NULL),
		.plan = GA_BASE_PLAN_INIT,
	};
	const struct ga_gitdir_spec spec = { .base = commit, .config = o->config,
					     .object_paths = o->object_paths };
	cleanup_free char *git = ga_path_join(dir, "git");

	if (way == GA_WAY_WHOLE ? checkout_whole(&c, err) : checkout_move(&c, way, err))
		return -1;
	if (!c.settle && ga_base_settle_begin(r, dir, c.since, NULL, &c.settle, err))
		return -1;
	return ga_base_settle_end(c.settle, ret, err) || ga_gitdir_template(r, git, &spec, err) ? -1
												: 0;
}
