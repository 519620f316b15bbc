/* SPDX-License-Identifier: MIT */
#include "pool-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/gitdir.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "index-file.h"

/* All names and ids of attribute files in an index: if they differ, files that
 * did not change may still have to be written differently. */
static int attribute_sources(const char *index, struct ga_buf *ret, bool *below_top,
			     struct ga_error *err)
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
			*below_top = *below_top || strchr(e.path, '/');
		}
	return rc < 0 ? -1 : 0;
}

/* No command of the host runs for agent content: each driver it defines is
 * emptied, and none is required. */
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
		if (strchr(n, '=')) {
			cleanup_free char *q = ga_escape(n);

			return ga_fail(err, GA_EFATAL, "the filter '%s' cannot be switched off", q);
		}
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
};

/* Git with several checkout workers forgets the encoding that a .gitattributes below the top
 * names once it has left that directory (2.39: memory that was freed): such files then are
 * written as they are, or git crashes. Where that could be, one worker does it. */
static bool encodes_below_top(const struct checkout *c)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	const char *const args[] = { "grep", "-q", "-a", "-F", "-e", "working-tree-encoding",
				     GA_HEX(c->commit), "--", "*/.gitattributes", NULL };
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.lazy_fetch = c->o->trusted;
	g.keep_fd = c->lock;
	return ga_git_run(c->r, &g, &status, &ignored) || status != 1;
}

/* -m writes what differs between index and `commit`, and looks at no other file.
 * --reset looks at the stat data of every file and writes those anew that are not what
 * the index says: so it repairs what a crash of the machine cut short. */
static int read_tree(const struct checkout *c, enum ga_base_way way, bool one_worker,
		     struct ga_error *err)
{
	bool progress = c->o->progress && way == GA_WAY_WHOLE;
	cleanup_free char *tree = ga_path_join(c->dir, "tree");
	cleanup_free char *index = ga_path_join(c->dir, "index");
	cleanup_strv struct ga_strv args = GA_STRV_INIT, config = GA_STRV_INIT;
	struct ga_git g = GA_GIT_INIT;

	ga_strv_push_many(&args, "read-tree", way == GA_WAY_MOVE ? "-m" : "--reset", "-u", NULL);
	if (progress)
		ga_strv_push(&args, "-v");
	ga_strv_push(&args, GA_HEX(c->commit));
	/* as in the private git dirs: mtimes are changed by us, and with them ctimes */
	ga_strv_push_many(&config, "core.checkStat=minimal", "core.trustctime=false",
			  one_worker ? "checkout.workers=1" : "checkout.workers=0", NULL);
	if (!c->o->trusted && without_filters(c->o->config, &config, err))
		return -1;
	g.args = (const char *const *)args.v;
	g.config = (const char *const *)config.v;
	g.work_tree = tree;
	g.index_file = index;
	g.lazy_fetch = c->o->trusted;
	g.keep_fd = c->lock;
	g.show_stderr = progress;
	return ga_git_ok(c->r, &g, err);
}

static int make_empty(const char *dir, struct ga_error *err)
{
	static const char *const parts[] = { "tree", "git", "index", "index.lock", "index.new" };
	cleanup_free char *q = ga_escape(dir);
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", q);
	for (size_t i = 0; i < GA_NELEMS(parts); i++)
		if (ga_rmtree_at(at, parts[i], err))
			return -1;
	if (mkdirat(at, "tree", 0755) || mkdirat(at, "tree/.git", 0755) || mkdirat(at, "git", 0700))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create directories in '%s'", q);
	return 0;
}

/* The template of the commit it stood on before. */
static int make_git_empty(const char *dir, struct ga_error *err)
{
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at >= 0 && ga_rmtree_at(at, "git", err))
		return -1;
	if (at < 0 || mkdirat(at, "git", 0700)) {
		cleanup_free char *q = ga_escape(dir);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot create 'git' in '%s'", q);
	}
	return 0;
}

static int checkout_whole(const struct checkout *c, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	if (make_empty(c->dir, err))
		return -1;
	if (read_tree(c, GA_WAY_WHOLE, encodes_below_top(c), err)) {
		/* most often no space: give it back */
		(void)make_empty(c->dir, &ignored);
		return -1;
	}
	return 0;
}

static int checkout_move(const struct checkout *c, enum ga_base_way way, struct ga_error *err)
{
	cleanup_error struct ga_error first = GA_ERROR_INIT;
	cleanup_free char *index = ga_path_join(c->dir, "index");
	cleanup_free char *tree = ga_path_join(c->dir, "tree");
	cleanup_buf struct ga_buf before = GA_BUF_INIT, after = GA_BUF_INIT;
	bool below_top = false;

	/* the root has the mode of the user's, who may have made it read-only */
	(void)chmod(tree, 0755);
	if (make_git_empty(c->dir, err) || attribute_sources(index, &before, &below_top, err))
		return -1;
	/* A file that is not as the index says stops -m, which was not to be. Whether the commit
	 * brings encodings is not asked: other attributes than before, and all is written anew. */
	if ((way == GA_WAY_REPAIR || read_tree(c, way, below_top, &first)) &&
	    read_tree(c, GA_WAY_REPAIR, encodes_below_top(c), err))
		return -1;
	if (attribute_sources(index, &after, &below_top, err))
		return -1;
	if (before.len == after.len && !memcmp(before.ptr, after.ptr, before.len))
		return 0;
	return checkout_whole(c, err);
}

int ga_base_checkout(struct ga_repo *r, const char *dir, int lock, const struct ga_oid *commit,
		     enum ga_base_way way, const struct ga_base_opts *o, struct ga_error *err)
{
	const struct checkout c = { .r = r, .dir = dir, .lock = lock, .commit = commit, .o = o };
	const struct ga_gitdir_spec spec = { .base = commit, .config = o->config,
					     .object_paths = o->object_paths };
	cleanup_free char *git = ga_path_join(dir, "git");
	time_t since = time(NULL);

	if (way == GA_WAY_WHOLE ? checkout_whole(&c, err) : checkout_move(&c, way, err))
		return -1;
	return ga_base_settle(r, dir, since, err) || ga_gitdir_template(r, git, &spec, err) ? -1
											   : 0;
}
