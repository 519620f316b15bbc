/* SPDX-License-Identifier: MIT */
#include <poll.h>

#include "ga/repo/history.h"
#include "ga/view/view.h"
#include "view-internal.h"
#include "ga/base/ignore.h"

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

/* Match as gitignore(5): the last matching pattern decides, else the parent directory. */
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

/* Does a line of the file name a path below the directory? */
static bool has_parts(const struct narrow *n, const char *dir)
{
	size_t len = strlen(dir);

	for (const char *p = n->text.ptr; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		p += *p == '/';
		if (!strncmp(p, dir, len) && p[len] == '/' && p[len + 1] && p[len + 1] != '\n')
			return true;
	}
	return false;
}

static void drop(struct narrow *n, const char *path, bool is_dir)
{
	/* do not count the file itself */
	n->left += strcmp(path, NAME) != 0;
	if (is_dir && has_parts(n, path) && n->parts++ < NAMED)
		ga_strv_pushf(&n->scan->skipped, "%s: " NAME " has parts of it, and it can be "
			      "shared as a whole only", GA_QUOTED(path));
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
	cleanup_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				    O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return 1;
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return ga_fail(err, GA_ESTART, "'%s' is not a file", path);
	if (ga_read_fd(fd, BYTES_MAX, &n->text, err))
		return ga_error_wrap(err, "cannot read '%s'", path);
	ga_ignore_push(&n->list, "", n->text.ptr, n->text.len);
	return 0;
}

/* Remove from `scan` the ignored paths that the session must not show. */
static int narrow_ignored(struct ga_env *e, const struct ga_view_opts *o, struct ga_scan *scan,
			  struct ga_error *err)
{
	cleanup_(narrow_release) struct narrow n = { .scan = scan, .text = GA_BUF_INIT };
	int none = o->hide_ignored ? 1 : read_list(e, &n, err);

	if (none < 0)
		return ga_hint(err, "it lists the ignored files that sessions show; remove it to "
				    "show all, or start with --ignored hide");
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

#define MAX_SHARED_DIRS 100 /* each is a mount; the smallest are left out */

/* An untracked file above this is left out of a snapshot and named. */
#define MAX_UNTRACKED (100u << 20)

/* How long to wait for an operation of another git to end. */
#define OPERATION_MS 1000
#define AGAIN_MS 20

void ga_view_base_release(struct ga_view_base *b)
{
	free(b->onto_ref);
	ga_scan_release(&b->scan);
	ga_exposure_release(&b->secrets);
	ga_strv_release(&b->hidden);
	ga_strv_release(&b->clear);
	ga_strv_release(&b->objects);
	ga_strv_release(&b->stored);
}

int ga_view_check_project(const struct ga_env *e, struct ga_error *err)
{
	const struct ga_repo_info *info = ga_repo_info(e->repo);

	if (!strcmp(info->workdir, "/") || ga_path_inside(e->home, info->workdir))
		return ga_fail(err, GA_ESTART, "the working tree '%s' is or contains your home "
			       "directory" GA_HINT "an agent would see all of it; work in a "
			       "repository below your home", info->workdir);
	if (ga_path_inside(info->workdir, e->agent_home) ||
	    ga_path_inside(e->agent_home, info->workdir))
		return ga_fail(err, GA_ESTART,
			       "the working tree '%s' and the agents' home '%s' "
			       "overlap" GA_HINT "move the repository out of the agents' home",
			       info->workdir, e->agent_home);
	if (ga_path_inside(e->state_dir, info->workdir) ||
	    ga_path_inside(info->workdir, e->state_dir))
		return ga_fail(err, GA_ESTART,
			       "the working tree '%s' and the state directory '%s' "
			       "overlap" GA_HINT "set state_dir to a directory outside the "
			       "repository, in %s",
			       info->workdir, e->state_dir, e->conf.from.user_file);
	return 0;
}

/* Is the commit integrated? It is reachable from HEAD, or from a branch, remote branch or tag that
 * is not a session's; or at least not from any ref that can have an agent's work (every session's
 * `base` counts as one). */
static int is_trusted(struct ga_repo *r, const struct ga_oid *commit, const struct ga_oid *head,
		      struct ga_error *err)
{
	static const char *const spaces[] = { GA_SESSION_BRANCHES, GA_SESSION_REFS,
					      GA_TRASH_REFS, NULL };
	cleanup_refs struct ga_refs host = GA_REFS_INIT;
	bool users, agents;
	int rc = ga_session_host_refs(r, &host, err);

	for (size_t i = 0; !rc && i < host.n; i++)
		rc = ga_oid_equal(&host.v[i].oid, commit);
	if (!rc)
		rc = ga_is_ancestor(r, commit, head, err);
	if (rc)
		return rc;
	if (ga_is_on_branch(r, commit, NULL, false, &users, err))
		return -1;
	if (users)
		return 1;
	return ga_is_below_refs(r, commit, spaces, &agents, err) ? -1 : !agents;
}

/* A base without uncommitted work: besides the commit, only ignored files show. */
static int without_work(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			struct ga_view_base *b, struct ga_error *err)
{
	return ga_scan_ignored(e->repo, e->state_dir, &b->scan, err) ||
	       narrow_ignored(e, o, &b->scan, err) ||
	       ga_view_find_secrets(e, o, dry, false, b, err) ? -1 : 0;
}

static int choose_dirty(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			struct ga_view_base *b, struct ga_error *err)
{
	if (ga_scan_worktree(e->repo, MAX_UNTRACKED, &b->scan, err))
		return -1;
	if ((!dry && ga_scan_cache_store(e->repo, e->state_dir, &b->scan, err)) ||
	    narrow_ignored(e, o, &b->scan, err))
		return -1;
	b->carried = b->scan.changed.n + b->scan.untracked.n;
	if (b->carried && o->dirty == GA_DIRTY_REFUSE)
		return ga_fail(err, GA_ELOSE, "%zu path%s not committed" GA_HINT "commit or stash "
			       "them, or start with --dirty carry or --dirty ignore", b->carried,
			       b->carried == 1 ? " is" : "s are");
	if (ga_view_find_secrets(e, o, dry, true, b, err))
		return -1;
	b->carried -= view_count_hidden(b, &b->scan.changed) +
		      view_count_hidden(b, &b->scan.untracked);
	return 0;
}

/* In the session's objects: no other session may see that work. */
int ga_view_take_snapshot(struct ga_env *e, const char *objects, struct ga_view_base *b,
			  struct ga_error *err)
{
	if (!b->carried)
		return 0;
	return ga_env_config(e, err) || ga_repo_use_private(e->repo, objects, err) ||
	       ga_snapshot_commit(e->repo, &e->config, &b->scan, &b->onto, &b->hidden, &b->base,
				  err) ? -1 : 0;
}

/* Wait for another git's merge, as in a landing, which soon moves HEAD. A merge that waits for the
 * user is refused later. */
static void wait_for_others(struct ga_repo *r)
{
	for (int waited = 0; waited < OPERATION_MS; waited += AGAIN_MS) {
		const char *operation = ga_repo_operation(r);

		if (!operation || !strcmp(operation, "bisect"))
			return;
		(void)poll(NULL, 0, AGAIN_MS);
	}
}

/* In a repository without a commit, a session is based on an empty one, the first of the user's
 * branch after landing. Concurrent sessions share it, so that all of them can land. */
static int make_first(struct ga_env *e, bool dry, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_free char *who = NULL;
	char message[] = "Initial commit\n", extra[] = "";
	struct ga_commit c = { .extra = extra, .message = message };
	const struct ga_changes none = GA_CHANGES_INIT;

	/* a dry run changes nothing */
	if (ga_refs_list(e->repo, GA_SESSION_REFS, &refs, err) ||
	    (dry && ga_repo_write_to_memory(e->repo, err)) ||
	    ga_tree_apply(e->repo, NULL, NULL, &none, &c.tree, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		cleanup_commit struct ga_commit other = { .parents = NULL };

		if (ga_commit_read(e->repo, &refs.v[i].oid, &other, GA_IGNORED) ||
		    other.n_parents || !ga_oid_equal(&other.tree, &c.tree))
			continue;
		*ret = refs.v[i].oid;
		return 0;
	}
	if (ga_repo_signature(e->repo, NULL, time(NULL), &who, err))
		return -1;
	c.author = c.committer = who;
	return ga_commit_write(e->repo, &c, ret, err);
}

int ga_view_choose_base(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			struct ga_view_base *ret, struct ga_error *err)
{
	struct ga_oid head;
	int rc;

	if (!o->base_rev && o->dirty != GA_DIRTY_IGNORE)
		wait_for_others(e->repo);
	rc = ga_repo_head(e->repo, &head, &ret->onto_ref, err);
	if (rc < 0)
		return -1;
	if (rc && make_first(e, dry, &head, err))
		return -1;
	ret->onto = ret->base = head;
	ret->trusted = true;
	ret->max_shared = MAX_SHARED_DIRS;
	if (o->base_rev) {
		if (ga_repo_resolve(e->repo, o->base_rev, &ret->onto, err))
			return -1;
		ret->base = ret->onto;
		rc = is_trusted(e->repo, &ret->onto, &head, err);
		if (rc < 0)
			return -1;
		ret->trusted = rc;
	}
	if (o->base_rev || o->dirty == GA_DIRTY_IGNORE)
		rc = without_work(e, o, dry, ret, err);
	else
		rc = choose_dirty(e, o, dry, ret, err);
	return rc || view_hide_objects(e, ret, err) ? -1 : 0;
}

int ga_view_rescan(struct ga_env *e, const struct ga_view_opts *o, const struct ga_session *s,
		   const struct ga_oid *tip, struct ga_view_base *b, struct ga_error *err)
{
	struct ga_view_opts own = *o;

	own.expose = &s->view.exposed;
	b->onto = *tip;
	b->base = s->id.base;
	return ga_scan_ignored(e->repo, e->state_dir, &b->scan, err) ||
	       ga_view_find_secrets(e, &own, false, false, b, err) ||
	       view_hide_objects(e, b, err) ? -1 : 0;
}

int ga_view_choose_part_base(struct ga_env *e, const struct ga_view_opts *o,
			     const struct ga_oid *commit, struct ga_view_base *ret,
			     size_t *ret_dirty, const char **ret_why, struct ga_error *err)
{
	const char *op = ga_repo_operation(e->repo);
	bool busy = op && strcmp(op, "bisect") != 0 && o->dirty != GA_DIRTY_REFUSE;
	/* the submodule's working tree belongs to HEAD: skip it with another base */
	bool look = !o->base_rev && o->dirty != GA_DIRTY_IGNORE && !busy;
	struct ga_oid head, tree;
	int rc;

	*ret_dirty = 0;
	if (ga_commit_tree(e->repo, commit, &tree, GA_IGNORED)) {
		*ret_why = "its commit is not there; 'git submodule update' fetches it";
		return 1;
	}
	rc = ga_repo_head(e->repo, &head, &ret->onto_ref, err);
	if (rc < 0)
		return -1;
	if (rc) {
		*ret_why = "it has no commit checked out";
		return 1;
	}
	ret->onto = ret->base = *commit;
	ret->max_shared = MAX_SHARED_DIRS;
	rc = is_trusted(e->repo, commit, &head, err);
	if (rc < 0)
		return -1;
	ret->trusted = rc;
	if (!look)
		return without_work(e, o, false, ret, err) || view_hide_objects(e, ret, err) ? -1
											      : 0;
	if (ga_scan_worktree(e->repo, MAX_UNTRACKED, &ret->scan, err))
		return -1;
	*ret_dirty = ret->scan.changed.n + ret->scan.untracked.n;
	if (narrow_ignored(e, o, &ret->scan, err))
		return -1;
	return ga_view_find_secrets(e, o, false, false, ret, err) || view_hide_objects(e, ret, err)
		       ? -1 : 0;
}

int ga_view_choose(struct ga_env *e, const struct ga_view_opts *o, const char *objects,
		   struct ga_oid *ret_onto, struct ga_oid *ret_base, struct ga_strv *notes,
		   struct ga_error *err)
{
	cleanup_(ga_view_base_release) struct ga_view_base b = { .onto_ref = NULL };
	cleanup_free char *ignored = NULL, *hidden = NULL;

	if (ga_view_choose_base(e, o, false, &b, err) || ga_view_take_snapshot(e, objects, &b, err))
		return -1;
	*ret_onto = b.onto;
	*ret_base = b.base;
	ignored = ga_quote_list(&b.scan.ignored_dirs, GA_LISTED);
	hidden = ga_quote_list(&b.hidden, GA_LISTED);
	if (b.scan.ignored_dirs.n + b.scan.ignored_files.n)
		ga_strv_pushf(notes, "ignored files stay here: %s%s%zu single files", ignored,
			      b.scan.ignored_dirs.n ? ", " : "", b.scan.ignored_files.n);
	if (b.hidden.n)
		ga_strv_pushf(notes, "secrets stay here: %s", hidden);
	return 0;
}
