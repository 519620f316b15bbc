/* SPDX-License-Identifier: MIT
 *
 * What a landing beside uncommitted work gives: all paths it concerns, as they are and as they will
 * be. Nothing of the user's is touched.
 */
#include <string.h>

#include "ga/objects.h"
#include "ga/path.h"
#include "ga/refs.h"
#include "in-the-way.h"
#include "note.h"
#include "work.h"

void land_work_release(struct land *l)
{
	if (!l->work)
		return;
	for (size_t i = 0; i < l->work->n; i++) {
		free(l->work->v[i].path);
		free(l->work->v[i].beside);
	}
	free(l->work->v);
	ga_changes_release(&l->work->away);
	free(l->work->dir);
	free(l->work);
	l->work = NULL;
}

/* ---- what the agent started from ------------------------------------------------- */

struct from {
	bool known;                 /* HEAD and the branch parted where the session began ... */
	bool carried;               /* ... and that was on uncommitted work */
	struct ga_oid onto;         /* tree of where they parted; zero: not known */
	struct ga_oid base, made;   /* trees: the uncommitted work, and what the agent made of it */
	struct ga_oid tip;
};

static int read_from(struct land *l, struct from *f, struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(l->s, "carried");
	struct ga_oid parted, carried;
	int rc;

	/* without a branch there is nothing to compare */
	if (ga_oid_is_zero(&l->tip))
		return 0;
	rc = land_merge_base(l, &parted, err);
	if (rc < 0 || ga_commit_tree(l->repo, &l->tip, &f->tip, err))
		return -1;
	if (rc)
		return 0;
	if (ga_commit_tree(l->repo, &parted, &f->onto, err))
		return -1;
	f->known = ga_oid_equal(&parted, &l->s->onto) && !l->s->resumed;
	if (!f->known || ga_oid_equal(&l->s->base, &l->s->onto))
		return 0;
	rc = ga_ref_read(l->repo, ref, &carried, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	f->carried = true;
	return ga_commit_tree(l->repo, &l->s->base, &f->base, err) ||
	       ga_commit_tree(l->repo, &carried, &f->made, err) ? -1 : 0;
}

static int read_entry(struct land *l, const struct ga_oid *tree, const char *path,
		      struct ga_entry *ret, struct ga_error *err)
{
	if (ga_oid_is_zero(tree))
		return 0;
	if (ga_tree_entry(l->repo, tree, path, ret, err))
		return -1;
	/* a directory counts as nothing: the files in it have paths of their own */
	if (ret->mode == GA_MODE_TREE)
		*ret = (struct ga_entry){ .mode = GA_MODE_NONE };
	return 0;
}

/* Does the branch still have what the agent made of this path, without the uncommitted work? Then
 * its change can be merged from what the agent itself saw. */
static int find_carried(struct land *l, const struct from *f, struct work_path *p,
			struct ga_error *err)
{
	struct ga_entry apart;
	int rc;

	if (!f->carried || p->left_out)
		return 0;
	if (read_entry(l, &f->base, p->path, &p->had, err) ||
	    read_entry(l, &f->made, p->path, &p->made, err))
		return -1;
	if (ga_entry_equal(&p->had, &p->onto))
		return 0;
	rc = ga_merge_entry(l->repo, &p->had, &p->onto, &p->made, &apart, err);
	p->carried = !rc && ga_entry_equal(&apart, &p->tip);
	return rc < 0 ? -1 : 0;
}

/* ---- the paths --------------------------------------------------------------------- */

static struct work_path *add(struct work *w, const char *path)
{
	struct work_path *p;

	GA_GROW(w->v, w->n, w->cap);
	p = &w->v[w->n++];
	*p = (struct work_path){ .path = ga_strdup(path) };
	return p;
}

/* Find a path among the first `n`, which are sorted. */
static struct work_path *find(struct work *w, size_t n, const char *path)
{
	for (size_t lo = 0, hi = n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;
		int c = strcmp(w->v[mid].path, path);

		if (!c)
			return &w->v[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

struct work_path *work_find(struct work *w, const char *path)
{
	return find(w, w->n, path);
}

size_t work_beneath(const struct work *w, const char *dir)
{
	cleanup_free char *prefix = ga_strf("%s/", dir);
	size_t lo = 0;

	for (size_t hi = w->n; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(w->v[mid].path, prefix) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct work_path *)a)->path, ((const struct work_path *)b)->path);
}

static int add_left_out(struct land *l, struct work *w, const struct ga_change *c,
			struct ga_error *err)
{
	struct work_path *p = add(w, c->path);
	int moved = land_carry_is_moved(l, c, err);

	p->left_out = p->carried = true;
	p->moved = moved > 0;
	p->had = c->old;
	p->made = c->new;
	return moved < 0 ? -1 : read_entry(l, &l->head_tree, c->path, &p->head, err);
}

/* Collect the paths that git merged, those it could not merge, and those left out of the branch. */
static int gather(struct land *l, struct work *w, const struct ga_changes *left_out,
		  struct ga_error *err)
{
	size_t n;

	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *c = &l->changes.v[i];
		struct work_path *p = add(w, c->path);

		p->head = c->old;
		p->merged = c->new;
	}
	n = w->n;
	for (size_t i = 0; i < l->conflicted.n; i++) {
		struct work_path *p = find(w, n, l->conflicted.v[i]);

		if (!p)
			p = add(w, l->conflicted.v[i]);
		p->conflict = true;
	}
	/* a path that conflicts may be left out as well; it is listed once */
	n = w->n;
	if (n)
		qsort(w->v, n, sizeof(*w->v), by_path);
	for (size_t i = 0; i < left_out->n; i++) {
		const struct ga_change *c = &left_out->v[i];
		struct work_path *p = find(w, n, c->path);
		int moved;

		if (!p && land_is_wanted(l, c->path)) {
			if (add_left_out(l, w, c, err))
				return -1;
			continue;
		}
		moved = land_carry_is_moved(l, c, err);
		if (moved < 0)
			return -1;
		if (moved)
			(void)ga_changes_add(&w->away, c->path, &c->old, &c->new);
		/* the branch has it as well: somebody put it there since, or an earlier run did */
		if (p)
			land_carry_refuse(l, p->path, "the branch has another version");
	}
	if (w->n)
		qsort(w->v, w->n, sizeof(*w->v), by_path);
	for (size_t i = 0; i < w->n; i++)
		if (read_entry(l, &l->head_tree, w->v[i].path, &w->v[i].head, err))
			return -1;
	return 0;
}

static int find_from(struct land *l, struct work *w, struct ga_error *err)
{
	struct from f = { .known = false };

	if (read_from(l, &f, err))
		return -1;
	for (size_t i = 0; i < w->n; i++) {
		struct work_path *p = &w->v[i];

		if (read_entry(l, &f.onto, p->path, &p->onto, err) ||
		    read_entry(l, &f.tip, p->path, &p->tip, err) || find_carried(l, &f, p, err))
			return -1;
	}
	return 0;
}

/* ---- can it land? ------------------------------------------------------------------ */

/* Only git can run a merge driver of the user's; "text" names a built-in one. */
static int find_drivers(struct land *l, struct work *w, struct ga_error *err)
{
	static const char *const args[] = { "check-attr", "-z", "--stdin", "merge", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	/* it applies to paths without the attribute */
	bool named = ga_gitconfig_get(&l->config, "merge.default");
	const char *path;
	size_t pos = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->v[i].lines)
			ga_buf_add0(&in, w->v[i].path);
	if (in.len && land_ask_git(l, args, NULL, &in, &out, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos))) {
		const char *name = ga_buf_next0(&out, &pos);
		const char *value = name ? ga_buf_next0(&out, &pos) : NULL;
		struct work_path *p = work_find(w, path);

		if (p && value && (named || strcmp(value, "unspecified") != 0) &&
		    strcmp(value, "set") != 0 && strcmp(value, "text") != 0)
			p->hurdle = WORK_DRIVER;
	}
	return 0;
}

/* Is an attributes file written? Git would apply it when it writes the other files. */
static bool converts(const struct work_path *p)
{
	return !strcmp(ga_path_base(p->path), ".gitattributes") && work_is_written(p);
}

/* Is it marked and changed, which `git status` does not show? Of a submodule, only whether
 * something else stands in its place is known. */
static bool is_hidden(const struct work_path *p)
{
	return (p->flagged_skip || p->flagged_valid) &&
	       (p->index.mode == GA_MODE_GITLINK ? p->work.mode != GA_MODE_GITLINK
						 : !ga_entry_equal(&p->index, &p->work));
}

/* The hint for a conflict that git is to leave, which it does only on a clean tree. */
static char *conflict_hint(const struct land_found *f, const char *hint)
{
	cleanup_strv struct ga_strv marked = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	way_marked(f, &marked);
	if (!marked.n)
		return ga_strdup(hint);
	list = land_list(&marked);
	return ga_strf("git was told not to look at %s: " WAY_NO_MARK "; %s", list, hint);
}

static int refuse(const struct land *l, const struct work *w, const struct land_found *f,
		  struct ga_error *err)
{
	static const struct {
		const char *what, *hint; /* NULL: way_put_away() */
	} say[] = {
		[WORK_EDITED] = { "uncommitted changes overlap with what is to land", NULL },
		[WORK_STAGED] = { "staged changes overlap with what is to land",
				  "commit them, or unstage them with 'git restore --staged', "
				  "then land again" },
		[WORK_UNTRACKED] = { "files git does not track would be overwritten",
				     "move them away, then land again" },
		[WORK_CONFLICT] = { "what is to land conflicts with what is committed",
				    "with all changes committed or stashed, landing all of it "
				    "leaves the conflict for you to resolve" },
		[WORK_SUBMODULE] = { "a submodule comes or goes beside uncommitted changes",
				     "commit or 'git stash' your changes, then land again" },
		[WORK_CONVERTED] = { "attributes change beside uncommitted changes",
				     "commit or 'git stash' your changes, then land again" },
		[WORK_DRIVER] = { "a merge driver is needed for uncommitted changes",
				  "commit or 'git stash' them, then land again" },
	};

	for (size_t h = WORK_EDITED; h < GA_NELEMS(say); h++) {
		cleanup_strv struct ga_strv paths = GA_STRV_INIT, hidden = GA_STRV_INIT;
		cleanup_free char *hint = NULL;

		for (size_t i = 0; i < w->n; i++) {
			const struct work_path *p = &w->v[i];

			if (p->hurdle != h)
				continue;
			ga_strv_push(&paths, h == WORK_STAGED && p->beside ? p->beside : p->path);
			if ((h == WORK_EDITED || h == WORK_SUBMODULE) && is_hidden(p))
				ga_strv_push(&hidden, p->path);
		}
		ga_strv_sort_unique(&paths);
		ga_strv_sort_unique(&hidden);
		if (hidden.n)
			return land_refuse(&hidden, say[h].what, WAY_UNMARK "land again", err);
		if (!paths.n)
			continue;
		hint = h == WORK_CONFLICT ? conflict_hint(f, say[h].hint)
		       : say[h].hint      ? ga_strdup(say[h].hint)
					  : way_put_away(l, f, &paths, "land again");
		return land_refuse(&paths, say[h].what, hint, err);
	}
	return 0;
}

/* A left-out path never stops the rest: it is left for later. */
static void pass_over(struct land *l, struct work_path *p, const char *why)
{
	land_carry_refuse(l, p->path, why);
	p->hurdle = WORK_FREE;
	p->to_commit = p->head;
	p->to_index = p->index;
	p->to_work = p->work;
	p->carried = false;
}

/* May the file that is removed be one of these under another name, which are not brought? */
static bool may_be_any(struct land *l, const struct work_path *p, const struct ga_changes *away)
{
	for (size_t i = 0; i < away->n; i++)
		if (land_carry_may_be(l, p->path, &p->had, &away->v[i].new))
			return true;
	return false;
}

/* A renamed file is removed only as far as the file of the new name is brought or committed. */
static void keep_together(struct land *l, struct work *w)
{
	cleanup_changes struct ga_changes uncommitted = GA_CHANGES_INIT;

	for (size_t i = 0; i < w->n; i++) {
		const struct work_path *p = &w->v[i];

		if (p->moved && !p->carried)
			(void)ga_changes_add(&w->away, p->path, &p->had, &p->made);
		if (p->moved && ga_entry_equal(&p->to_commit, &p->head) &&
		    !ga_entry_equal(&p->head, &p->made))
			(void)ga_changes_add(&uncommitted, p->path, &p->had, &p->made);
	}
	for (size_t i = 0; i < w->n; i++) {
		struct work_path *p = &w->v[i];

		if (!p->left_out || !p->carried || !land_carry_is_gone(&p->had, &p->made))
			continue;
		if (p->work.mode && may_be_any(l, p, &w->away)) {
			pass_over(l, p, LAND_CARRY_APART);
		} else if (may_be_any(l, p, &uncommitted)) {
			p->to_commit = p->head;
			p->to_index = p->index;
		}
	}
}

static void look_over(struct land *l, struct work *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct work_path *p = &w->v[i];

		if (!p->hurdle && converts(p))
			p->hurdle = WORK_CONVERTED;
		if (p->hurdle && p->left_out)
			pass_over(l, p, p->hurdle == WORK_SUBMODULE
						? "a symlink or submodule is not brought"
						: "it overlaps with your changes");
	}
	keep_together(l, w);
	for (size_t i = 0; i < w->n; i++) {
		const struct work_path *p = &w->v[i];

		if (!p->hurdle && ((p->left_out && p->carried) || p->conflict) &&
		    ga_entry_equal(&p->to_commit, &p->head))
			ga_strv_push(&l->ret->brought, p->path);
	}
}

static int decide(struct land *l, struct work *w, enum work_may may, const struct land_found *f,
		  struct ga_error *err)
{
	for (size_t i = 0; i < w->n; i++)
		if (work_decide(l->repo, &w->v[i], may, err))
			return -1;
	if (find_drivers(l, w, err))
		return -1;
	work_check_index(w);
	look_over(l, w);
	return refuse(l, w, f, err) || work_leave_out(l, err) || work_check_place(l, err) ? -1 : 0;
}

/* Does HEAD by now have all the uncommitted work that the session began with? 1 yes. */
static int all_is_committed(struct land *l, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (ga_tree_diff(l->repo, &l->onto_tree, &l->base_tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_change *c = &all.v[i];
		struct ga_entry head, with;
		int rc;

		if (read_entry(l, &l->head_tree, c->path, &head, err))
			return -1;
		rc = ga_merge_entry(l->repo, &c->old, &head, &c->new, &with, err);
		if (rc || !ga_entry_equal(&head, &with))
			return rc < 0 ? -1 : 0;
	}
	return 1;
}

static int find_may(struct land *l, const struct work *w, enum work_may *ret, struct ga_error *err)
{
	bool moved = false;
	int rc;

	for (size_t i = 0; i < w->n; i++)
		moved |= w->v[i].moved;
	*ret = l->opts->how == GA_LAND_FF_ONLY ? WORK_MAY_NOT : WORK_MAY;
	if (*ret == WORK_MAY_NOT || !moved)
		return 0;
	rc = all_is_committed(l, err);
	if (rc > 0)
		*ret = WORK_MAY_ALL;
	return rc < 0 ? -1 : 0;
}

int land_work_plan(struct land *l, const struct land_found *f, struct ga_error *err)
{
	cleanup_changes struct ga_changes left_out = GA_CHANGES_INIT;
	cleanup_strv struct ga_strv dirty = GA_STRV_INIT;
	struct work *w = ga_calloc(1, sizeof(*w));
	enum work_may may;

	l->work = w;
	ga_strv_extend(&dirty, &f->all);
	ga_strv_extend(&dirty, &f->files);
	ga_strv_sort_unique(&dirty);
	if (land_carry_changes(l, &left_out, err) || gather(l, w, &left_out, err) ||
	    find_from(l, w, err) || land_note_dir(l, err))
		return -1;
	w->dir = ga_strf("%s/%u", l->notes, l->note);
	if (work_read(l, f, &dirty, err))
		return -1;
	return find_may(l, w, &may, err) || decide(l, w, may, f, err) ? -1 : 0;
}

/* carry.c, beside a merge of git's, brings no symlinks; path by path they are brought. */
static bool is_symlink(const struct work_path *p)
{
	return p->had.mode == GA_MODE_LINK || p->made.mode == GA_MODE_LINK;
}

static int find_wanted(struct land *l, struct work *w, struct ga_error *err)
{
	cleanup_changes struct ga_changes left_out = GA_CHANGES_INIT;
	enum work_may may;
	int rc = 0;

	if (land_carry_changes(l, &left_out, err))
		return -1;
	for (size_t i = 0; i < left_out.n; i++)
		if (add_left_out(l, w, &left_out.v[i], err))
			return -1;
	if (find_may(l, w, &may, err))
		return -1;
	for (size_t i = 0; rc >= 0 && i < w->n; i++) {
		rc = work_commits(l->repo, &w->v[i], may, err);
		if (is_symlink(&w->v[i]) ||
		    (!rc && !ga_entry_equal(&w->v[i].to_commit, &w->v[i].head)))
			return rc < 0 ? -1 : 1;
	}
	return rc < 0 ? -1 : 0;
}

int land_work_wanted(struct land *l, struct ga_error *err)
{
	int rc;

	if (l->opts->how == GA_LAND_FF_ONLY || l->conflicts || !l->s->left_out.n)
		return 0;
	l->work = ga_calloc(1, sizeof(*l->work));
	rc = find_wanted(l, l->work, err);
	land_work_release(l);
	return rc;
}
