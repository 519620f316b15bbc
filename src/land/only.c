/* SPDX-License-Identifier: MIT
 *
 * Which of the user's files only the note of an interrupted landing still has. This is not asked
 * about a landing that came to its end: what it merged is in what it made.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/refs.h"
#include "note.h"
#include "undo.h"

/* Where else a file may be. */
struct places {
	struct land *l;
	const struct undo *u;
	int root;
	struct ga_oid trees[3]; /* where the landing began; HEAD and the branch as they are now */
	size_t n, began;        /* the first `began` are where the landing began */
};

static void add_place(struct places *p, const struct ga_oid *commit)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	/* a commit that is gone has nothing */
	if (!ga_commit_tree(p->l->repo, commit, &p->trees[p->n], &ignored))
		p->n++;
}

static void find_places(struct places *p)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid oid;

	add_place(p, &p->u->head);
	p->began = p->n;
	if (!ga_repo_head(p->l->repo, &oid, &branch, &ignored))
		add_place(p, &oid);
	if (*p->u->ref && !ga_ref_read(p->l->repo, p->u->ref, &oid, &ignored))
		add_place(p, &oid);
}

/* Is the entry the content that was copied as file `i`, or would git write that content for it? */
static bool is_copy(struct places *p, size_t i, const struct ga_entry *e)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *name = ga_strf("%zu", i);
	cleanup_close int copy = openat(p->u->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	const struct undo_file *f = &p->u->files[i];
	struct ga_oid oid;

	if (copy < 0 || S_ISLNK(f->had) != (e->mode == GA_MODE_LINK))
		return false;
	return (!ga_blob_id(copy, &oid, &ignored) && ga_oid_equal(&oid, &e->oid)) ||
	       (!S_ISLNK(f->had) && land_is_rendered(p->l, copy, f->path, &e->oid, true));
}

/* Is the entry what the landing made of that file? */
static bool is_made(struct places *p, size_t i, const struct ga_entry *e)
{
	const struct undo_file *f = &p->u->files[i];

	return ga_oid_equal(&f->will.oid, &e->oid) ||
	       (undo_stands(p->root, f->path, &f->will) &&
		land_is_written(p->l, p->root, f->path, e, true));
}

static bool is_elsewhere(struct places *p, size_t i)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_entry e;

	if (undo_is_back(p->root, p->u, i))
		return true;
	for (size_t k = 0; k < p->n; k++)
		if (!ga_tree_entry(p->l->repo, &p->trees[k], p->u->files[i].path, &e, &ignored) &&
		    (e.mode == GA_MODE_LINK || e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC) &&
		    (is_copy(p, i, &e) || (k >= p->began && is_made(p, i, &e))))
			return true;
	return false;
}

/* ---- what was staged ----------------------------------------------------------------- */

static bool is_in_trees(struct places *p, const struct ga_change *c)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_entry e;

	for (size_t k = 0; k < p->n; k++)
		if (!ga_tree_entry(p->l->repo, &p->trees[k], c->path, &e, &ignored) &&
		    ga_entry_equal(&e, &c->new))
			return true;
	return false;
}

/* Is the staged content also what the working tree had? Then it is looked for as that file. */
static bool is_file(struct places *p, const struct ga_change *c)
{
	for (size_t i = 0; i < p->u->n; i++)
		if (p->u->files[i].had && !strcmp(p->u->files[i].path, c->path))
			return is_copy(p, i, &c->new);
	return false;
}

static int read_index(struct places *p, struct ga_changes *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", NULL };
	struct ga_entry none = { .mode = GA_MODE_NONE }, e;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line, *path;
	size_t pos = 0;

	if (land_ask_git(p->l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		path = land_index_entry(line, &e);
		if (path)
			(void)ga_changes_add(ret, path, &none, &e);
	}
	ga_changes_sort(ret);
	return 0;
}

/* Find staged entries, which a ref keeps, that are nowhere else. */
static int find_staged(struct places *p, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes staged = GA_CHANGES_INIT, index = GA_CHANGES_INIT;
	cleanup_free char *ref = land_note_ref(p->l, p->l->note);
	struct ga_oid commit, tree;
	int rc = ga_ref_read(p->l->repo, ref, &commit, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_commit_tree(p->l->repo, &commit, &tree, err) ||
	    ga_tree_diff(p->l->repo, NULL, &tree, &staged, err) || read_index(p, &index, err))
		return -1;
	for (size_t i = 0; i < staged.n; i++) {
		const struct ga_change *c = &staged.v[i], *is = ga_changes_find(&index, c->path);

		if (!(is && ga_entry_equal(&is->new, &c->new)) && !is_in_trees(p, c) &&
		    !is_file(p, c))
			ga_strv_push(ret, c->path);
	}
	return 0;
}

int undo_only_copies(struct land *l, const struct undo *u, struct ga_strv *ret,
		     struct ga_error *err)
{
	struct places p = { .l = l, .u = u, .root = land_open_root(l->repo, err) };
	int rc;

	if (p.root < 0)
		return -1;
	find_places(&p);
	for (size_t i = 0; i < u->n; i++)
		if (u->files[i].had && !is_elsewhere(&p, i))
			ga_strv_push(ret, u->files[i].path);
	rc = find_staged(&p, ret, err);
	ga_strv_sort_unique(ret);
	ga_cleanup_closep(&p.root);
	return rc;
}
