/* SPDX-License-Identifier: MIT
 *
 * For when git stops half way without a state of its own: remove what it had written by then, and
 * restore marked files that it put back to HEAD although it was told not to look there. What cannot
 * be told from the user's own files stays, and is named.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/trace.h"
#include "in-the-way.h"

/* ---- written by git ------------------------------------------------------------------ */

/* Is all of `fd` the beginning of `other` or, with `whole`, all of it? */
static bool begins_like(int fd, int other, bool whole)
{
	char a[1 << 14], b[sizeof(a)];
	struct stat is, want;
	ssize_t n;

	if (fstat(fd, &is) || fstat(other, &want) || (whole && is.st_size != want.st_size))
		return false;
	for (off_t at = 0; (n = pread(fd, a, sizeof(a), at)) > 0; at += n)
		for (ssize_t k = 0, m; k < n; k += m) {
			m = pread(other, b + k, (size_t)(n - k), at + k);
			if (m <= 0 || memcmp(a + k, b + k, (size_t)m) != 0)
				return false;
		}
	return !n;
}

bool land_is_rendered(struct land *l, int fd, const char *path, const struct ga_oid *oid,
		      bool whole)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *word = ga_strf("--path=%s", path);
	const char *const args[] = { "cat-file", "--filters", word, GA_HEX(oid), NULL };
	cleanup_close int made = ga_scratch_file(l->s->dir, &ignored);
	struct ga_git g = GA_GIT_INIT;
	int status;

	if (made < 0)
		return false;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.out_fd = made;
	return !ga_git_run(l->repo, &g, &status, &ignored) && !status &&
	       begins_like(fd, made, whole);
}

bool land_is_written(struct land *l, int root, const char *path, const struct ga_entry *e,
		     bool whole)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	struct ga_oid oid;

	if (e->mode == GA_MODE_NONE || e->mode == GA_MODE_GITLINK ||
	    land_open_here(root, path, &h) || !h.mode || (h.fd < 0) != (e->mode == GA_MODE_LINK))
		return false;
	if (h.fd < 0)
		return !ga_blob_id_of(h.target, h.size, &oid, &ignored) &&
		       ga_oid_equal(&oid, &e->oid);
	return (!h.size && !whole) ||
	       (!ga_blob_id(h.fd, &oid, &ignored) && ga_oid_equal(&oid, &e->oid)) ||
	       land_is_rendered(l, h.fd, path, &e->oid, whole);
}

/* ---- what is staged ------------------------------------------------------------------ */

/* `all` leads from HEAD to the tip, so it includes what the user's own commits changed: only what
 * is staged as at the tip is git's. */
static bool is_of_tip(const struct ga_changes *all, const struct ga_change *c)
{
	const struct ga_change *of = ga_changes_find(all, c->path);

	return of && ga_entry_equal(&of->new, &c->new);
}

/* With options of the user's (options.c), git may have merged into files that the checked merge
 * does not change, or put some elsewhere. Merging again tells what it staged there, which is
 * removed from `others`. */
static int drop_merged(struct land *l, struct ga_changes *others, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = *others, made = GA_CHANGES_INIT;

	*others = (struct ga_changes)GA_CHANGES_INIT;
	if (land_options_merge(l, &made, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_change *c = &all.v[i], *of = ga_changes_find(&made, c->path);

		if (!of || !ga_entry_equal(&of->new, &c->new))
			(void)ga_changes_add(others, c->path, &c->old, &c->new);
	}
	return 0;
}

/* Find what hooks, or the user, have staged meanwhile besides what is brought. Once git has
 * committed the merge, none of it is merely staged. */
static int find_others(struct land *l, struct ga_changes *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes staged = GA_CHANGES_INIT, all = GA_CHANGES_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid head, tree, tip;

	if (ga_repo_head(l->repo, &head, &branch, err) ||
	    ga_commit_tree(l->repo, &head, &tree, err) ||
	    land_staged(l, NULL, ga_repo_info(l->repo)->workdir, &staged, err) ||
	    ga_commit_tree(l->repo, &l->tip, &tip, err) ||
	    ga_tree_diff(l->repo, &tree, &tip, &all, err))
		return -1;
	for (size_t i = 0; i < staged.n; i++) {
		const struct ga_change *c = &staged.v[i];

		if (!ga_changes_find(&l->changes, c->path) && !is_of_tip(&all, c))
			(void)ga_changes_add(ret, c->path, &c->old, &c->new);
	}
	return ret->n && ga_oid_equal(&head, &l->head) && land_has_options(l)
		       ? drop_merged(l, ret, err)
		       : 0;
}

/* Set the index to what each path was; with `but`, to what it became, except these. */
static int stage(struct land *l, const struct ga_changes *others, const struct ga_strv *but,
		 struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	for (size_t i = 0; i < others->n; i++) {
		const struct ga_change *c = &others->v[i];
		const struct ga_entry *e = but ? &c->new : &c->old;

		if (but && ga_strv_find(but, c->path) >= 0)
			continue;
		ga_buf_addf(&in, "%o %s\t", e->mode, GA_HEX(&e->oid));
		ga_buf_add0(&in, c->path);
	}
	return in.len ? land_ask_git(l, args, NULL, &in, NULL, err) : 0;
}

void land_aside_release(struct land_aside *a)
{
	ga_changes_release(&a->staged);
	ga_strv_release(&a->intended);
}

/* To git diff-index they are staged, and empty. */
static int find_intended(struct land *l, struct ga_strv *ret, struct ga_error *err)
{
	static const char *const args[] = { "diff-files", "--ita-invisible-in-index",
					    "--diff-filter=A", "--name-only", "--no-ext-diff",
					    "-z", NULL };

	return land_ask_list(l, args, NULL, ret, err);
}

int land_set_aside(struct land *l, struct land_aside *ret, struct ga_error *err)
{
	return find_others(l, &ret->staged, err) ||
	       (ret->staged.n && find_intended(l, &ret->intended, err)) ||
	       stage(l, &ret->staged, NULL, err) ? -1 : 0;
}

/* The index can have that only by git add. */
static int intend_again(struct land *l, const struct land_aside *a, struct ga_error *err)
{
	static const char *const args[] = { "--literal-pathspecs", "add", "--intent-to-add",
					    "--force", "--pathspec-from-file=-",
					    "--pathspec-file-nul", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	for (size_t i = 0; i < a->staged.n; i++)
		if (ga_strv_find(&a->intended, a->staged.v[i].path) >= 0)
			ga_buf_add0(&in, a->staged.v[i].path);
	return in.len ? land_ask_git(l, args, NULL, &in, NULL, err) : 0;
}

/* By its object, since the file may have more changes than were staged. */
int land_stage_again(struct land *l, const struct land_aside *a, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT;
	cleanup_strv struct ga_strv named = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (!a->staged.n ||
	    (!ga_fault_stop("land:stage", &failed) &&
	     !stage(l, &a->staged, &a->intended, &failed) && !intend_again(l, a, &failed)))
		return 0;
	for (size_t i = 0; i < a->staged.n; i++)
		ga_strv_take(&named, ga_strf("%s %s", GA_HEX(&a->staged.v[i].new.oid),
					     a->staged.v[i].path));
	list = land_list(&named);
	if (!err->msg)
		(void)ga_error_move(err, &failed);
	(void)ga_error_wrap(err, "what was staged meanwhile is not staged any more: %s", list);
	err->code = GA_ELOSE;
	return ga_hint(err, "'git cat-file blob ID' shows what that was, 'git add' stages files "
			    "again");
}

/* ---- going back -------------------------------------------------------------------- */

static int fail_in_the_way(const char *then, struct ga_error *err)
{
	if (err->code == GA_ELOSE) {
		free(err->hint);
		err->hint = ga_strf("move them away, then %s", then);
	}
	return -1;
}

/* The files that going back to the tree `to` changes, and that are not as the index has them. Git
 * names one of them at most. */
static int find_changed(struct land *l, const struct ga_oid *to, struct ga_strv *ret,
			struct ga_error *err)
{
	static const char *const changed[] = { "diff-files", "--name-only", "--diff-filter=u",
					       "--no-ext-diff", "--no-renames",
					       "--ignore-submodules=dirty", "-z", NULL };
	const char *const goes[] = { "diff-index", "--cached", "--name-only", "--diff-filter=u",
				     "--no-ext-diff", "--no-renames", "-z", GA_HEX(to), "--",
				     NULL };
	cleanup_strv struct ga_strv all = GA_STRV_INIT, go = GA_STRV_INIT;

	if (land_ask_list(l, changed, NULL, &all, err) ||
	    land_ask_list(l, goes, NULL, &go, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (ga_strv_find(&go, all.v[i]) >= 0)
			ga_strv_push(ret, all.v[i]);
	return 0;
}

int land_fail_back(struct land *l, const struct ga_oid *to, const struct ga_buf *why,
		   const char *away, const char *then, struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_error struct ga_error unread = GA_ERROR_INIT, ignored = GA_ERROR_INIT;
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;
	cleanup_free char *line = land_first_line(why), *hint = NULL;

	/* what was only touched is not changed */
	(void)land_ask_git(l, refresh, NULL, NULL, NULL, &ignored);
	if (!find_changed(l, to, &changed, &unread) && changed.n) {
		hint = ga_strf("%s, then %s", away, then);
		return land_refuse(&changed, "git cannot go back to where it began over "
				   "uncommitted changes", hint, err);
	}
	(void)ga_fail(err, GA_ELOSE, "git cannot go back to where it began%s%s", *line ? ": " : "",
		      line);
	return ga_hint(err, "see 'git status'; when nothing is in git's way, %s", then);
}

static int reset(struct land *l, const char *how, struct ga_error *err)
{
	const char *const args[] = { "reset", "--quiet", how, GA_HEX(&l->head), NULL };
	/* after a rebase with --keep, as by the time the user does it, more of theirs may be in the
	 * way */
	cleanup_free char *then = ga_strf("'git reset %s %s' goes back",
					  l->rebase ? "--keep" : how, GA_HEX(&l->head));
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_oid to;
	int status;

	if (ga_commit_tree(l->repo, &l->head, &to, err))
		return -1;
	if (land_check_way_back(l, &to, err))
		return fail_in_the_way(then, err);
	if (land_run_git(l, args, NULL, 0, &status, &why, err))
		return ga_hint(err, "%s", then);
	return status ? land_fail_back(l, &to, &why, "'git stash push -- FILE' puts one away", then,
				       err) : 0;
}

int land_go_back(struct land *l, const char *how, struct ga_error *err)
{
	cleanup_(land_aside_release) struct land_aside aside = { .staged = GA_CHANGES_INIT };
	int rc;

	if (land_set_aside(l, &aside, err))
		return -1;
	rc = reset(l, how, err);
	return land_stage_again(l, &aside, err) || rc ? -1 : 0;
}

/* ---- taking it away ------------------------------------------------------------------ */

/* What is to be done about the paths of the landing. */
struct taking {
	bool any_mode;         /* land_ignores_modes() */
	bool asked;            /* git could say ... */
	struct ga_strv dirty;  /* ... which tracked paths it finds changed, sorted, */
	struct ga_strv marked; /* and which are marked */
	struct ga_strv modules; /* submodules that have a directory */
	struct ga_strv remove, back, lost;
};

static void taking_release(struct taking *t)
{
	ga_strv_release(&t->dirty);
	ga_strv_release(&t->marked);
	ga_strv_release(&t->modules);
	ga_strv_release(&t->remove);
	ga_strv_release(&t->back);
	ga_strv_release(&t->lost);
}

/* List the paths that git prints, which begin at `at` in each line; with `marked`, only those whose
 * letter stands for a mark. */
static int list(struct land *l, const char *const *args, size_t at, bool marked,
		struct ga_strv *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, &ignored))
		return -1;
	while ((line = ga_buf_next0(&out, &pos)))
		if (strlen(line) > at &&
		    (!marked || land_is_skipped(*line) || land_is_assumed(*line)))
			ga_strv_push(ret, line + at);
	ga_strv_sort_unique(ret);
	return 0;
}

/* Git may be unable to answer: a filter that fails, perhaps the very reason why it stopped, can
 * prevent it. */
static void ask(struct land *l, struct taking *t)
{
	static const char *const dirty[] = { "status", "--porcelain=v1", "-z", "--no-renames",
					     "--untracked-files=no", "--ignore-submodules=dirty",
					     NULL };
	static const char *const marked[] = { "ls-files", "-v", "-z", NULL };
	struct ga_oid tree;

	(void)ga_repo_index_tree(l->repo, &tree, &l->marks);
	t->any_mode = l->marks.hidden && land_ignores_modes(l);
	t->asked = !list(l, dirty, 3, false, &t->dirty) &&
		   (!l->marks.hidden || !list(l, marked, 2, true, &t->marked));
}

/* For a tracked file `git status` tells; for a marked one, which it does not look at, the bytes
 * do. */
static bool is_as_before(struct land *l, int root, const struct ga_change *c,
			 const struct land_look *is, const struct taking *t)
{
	bool exec = c->old.mode == GA_MODE_EXEC, link = c->old.mode == GA_MODE_LINK;
	struct land_look old = { .mode = link ? S_IFLNK : S_IFREG | (exec ? 0755 : 0644),
				 .oid = c->old.oid };

	if (c->old.mode == GA_MODE_NONE)
		return !is->mode;
	if (t->asked && ga_strv_find(&t->marked, c->path) < 0)
		return ga_strv_find(&t->dirty, c->path) < 0;
	return (t->any_mode ? land_look_same(is, &old) : land_look_equal(is, &old)) ||
	       (!link && (t->any_mode || exec == !!(is->mode & S_IXUSR)) &&
		land_is_written(l, root, c->path, &c->old, true));
}

/* Nothing of the user's was in the way before git began, so a file that is new or changed is git's
 * if it contains what git was to write. */
static void look(struct land *l, int root, const struct ga_change *c, struct taking *t)
{
	struct land_look is;

	/* git leaves submodules alone, unless a file replaces them */
	if (c->old.mode == GA_MODE_GITLINK && land_dir_here(root, c->path))
		ga_strv_push(&t->modules, c->path);
	else if (c->old.mode == GA_MODE_GITLINK && !way_replaces(&c->old, &c->new))
		return;
	else if (!land_look_here(root, c->path, &is))
		ga_strv_push(&t->lost, c->path);
	else if (is_as_before(l, root, c, &is, t))
		return;
	else if (is.mode && !land_is_written(l, root, c->path, &c->new, false))
		ga_strv_push(&t->lost, c->path);
	else
		ga_strv_push(c->old.mode == GA_MODE_NONE ? &t->remove : &t->back, c->path);
}

/* Can git put a file there without removing any? It would remove a directory with all that is in
 * it, and whatever stands where the path needs one. Removes a directory without files. */
static bool make_free(int root, const char *path)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));
		cleanup_close int fd = ga_openat_beneath(root, dir, O_PATH | O_NOFOLLOW, 0);
		struct stat st;

		if (fd < 0)
			return errno == ENOENT;
		if (fstat(fd, &st) || !S_ISDIR(st.st_mode))
			return false;
	}
	return !land_dir_here(root, path) || !land_remove_hollow(root, path);
}

/* Restore what was there from git's index, which is as it was. */
static int check_out(struct land *l, int root, struct taking *t, struct ga_error *err)
{
	static const char *const args[] = { "checkout-index", "-f", "-q", "-z", "--stdin", NULL };
	cleanup_buf struct ga_buf paths = GA_BUF_INIT;

	for (size_t i = 0; i < t->back.n; i++) {
		if (make_free(root, t->back.v[i]))
			ga_buf_add0(&paths, t->back.v[i]);
		else
			ga_strv_push(&t->lost, t->back.v[i]);
	}
	return paths.len ? land_ask_git(l, args, NULL, &paths, NULL, err) : 0;
}

/* All files are looked at before any is touched: attributes among them say how git wrote the
 * others. */
static int take_written(struct land *l, int root, struct ga_error *err)
{
	cleanup_(taking_release) struct taking t = { .asked = false };

	ask(l, &t);
	for (size_t i = 0; i < l->changes.n; i++)
		look(l, root, &l->changes.v[i], &t);
	for (size_t i = 0; i < t.remove.n; i++)
		if (land_remove(root, t.remove.v[i], NULL, err))
			return -1;
	/* when a file is removed its empty directory goes as well, which can be that of a submodule
	 * that is not checked out */
	for (size_t i = 0; i < t.modules.n; i++)
		if (!land_dir_here(root, t.modules.v[i]))
			ga_strv_push(&t.back, t.modules.v[i]);
	if (check_out(l, root, &t, err))
		return -1;
	return t.lost.n ? land_refuse(&t.lost, "files are not as they were", "see 'git status'",
				      err) : 0;
}

/* ---- all of it --------------------------------------------------------------------- */

/* Git drops what is staged like the file. At the paths of the merge that may only be what git was
 * to stage: anything else is of somebody who came since, and in no commit. */
static int check_staged(struct land *l, struct ga_error *err)
{
	cleanup_changes struct ga_changes staged = GA_CHANGES_INIT, others = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (land_staged(l, NULL, ga_repo_info(l->repo)->workdir, &staged, err))
		return -1;
	for (size_t i = 0; i < staged.n; i++) {
		const struct ga_change *c = &staged.v[i];
		const struct ga_change *of = ga_changes_find(&l->changes, c->path);

		if (of && !ga_entry_equal(&of->new, &c->new))
			(void)ga_changes_add(&others, c->path, &c->old, &c->new);
	}
	if (others.n && land_has_options(l) && drop_merged(l, &others, err))
		return -1;
	for (size_t i = 0; i < others.n; i++)
		ga_strv_push(&names, others.v[i].path);
	return names.n ? land_refuse(&names, "changes are staged that git was not to bring",
				     "'git stash push -- FILE' puts one away; then take the "
				     "landing back", err) : 0;
}

/* Nothing was staged before, so what is staged now is from the merge, or from somebody since. */
static int take_staged(struct land *l, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid tree;

	if (!land_index_tree(l, NULL, &tree, &ignored) && ga_oid_equal(&tree, &l->head_tree))
		return 0;
	return check_staged(l, err) || land_go_back(l, "--merge", err) ? -1 : 0;
}

static int restore(struct land *l, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);

	/* commits that somebody made meanwhile are not to be taken back */
	if (root >= 0 && !land_check_stays(l, err) && !take_staged(l, err) &&
	    !ga_fault_stop("land:restore", err) && !take_written(l, root, err))
		return 0;
	if (err->code == GA_ELOSE)
		return -1;
	/* it broke off, as on a full disk: nobody knows which are not as they were */
	(void)ga_error_wrap(err, "files may not be as they were");
	return ga_hint_instead(err, "see 'git status'");
}

int land_restore(struct land *l, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;

	/* first, so that these are restored whatever else fails */
	if (!land_put_hidden_back(l, err))
		return restore(l, err);
	return restore(l, &second) ? ga_error_wrap(err, "%s", second.msg) : -1;
}
