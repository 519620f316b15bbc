/* SPDX-License-Identifier: MIT
 *
 * Plan the move of a base tree to another commit from what differs: its index lists its files, and
 * the cache-tree extension (gitformat-index(5)) the tree ids of their directories, so a directory
 * with the same tree in the new commit is skipped. If anything is unexpected, git checks every file
 * instead.
 */
#include "pool-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "repo/index-file.h"
#include "repo/objects-internal.h"

#define ATTRIBUTES ".gitattributes"
#define ATTRIBUTES_MAX ((size_t)100 << 20) /* git ignores larger ones */

/* An entry of "TREE", for one directory. They are in the order of the extension: each before those
 * of its subdirectories. */
struct cached_tree {
	const char *name;
	size_t start, end;   /* bytes of it and its subdirectories in the extension */
	size_t next;         /* index of the first that is not within it */
	size_t entries;      /* number of index entries within it */
	struct ga_oid oid;
};

struct move {
	struct ga_repo *r;
	struct ga_index ix;
	struct ga_index_entry e; /* the index entry reached; `more` is false at the end */
	bool more;
	const char *trees;       /* the extension "TREE" */
	size_t trees_len;
	struct cached_tree *v;
	size_t n, cap;
	struct ga_buf path;
	bool partial;            /* a partial clone, which may lack objects */
	struct ga_base_plan *plan;
};

static void move_release(struct move *m)
{
	ga_index_release(&m->ix);
	ga_buf_release(&m->path);
	free(m->v);
}

void ga_base_plan_release(struct ga_base_plan *p)
{
	ga_buf_release(&p->gone);
	ga_buf_release(&p->come);
	ga_buf_release(&p->trees);
}

/* ---- what is there ------------------------------------------------------------ */

/* Is this file in the tree exactly the committed blob? git reads attributes from the working tree
 * when it checks out some files, but from its index when it checks out a commit; the two differ if
 * a filter converted the file. */
static bool is_as_committed(int tree, const struct ga_index_entry *e)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	git_oid id;

	/* git does not follow a symlink to attributes */
	if (e->mode == GA_MODE_LINK || e->mode == GA_MODE_GITLINK)
		return true;
	return !ga_read_beneath(tree, e->path, ATTRIBUTES_MAX, &b, GA_IGNORED) &&
	       !git_odb_hash(&id, b.ptr, b.len, GIT_OBJECT_BLOB) &&
	       !memcmp(id.id, e->oid.id, GA_OID_RAWSZ);
}

static bool is_attributes(const char *path)
{
	return !strcmp(ga_path_base(path), ATTRIBUTES);
}

static bool is_plain(const struct ga_index_entry *e)
{
	return !e->stage && !e->skip_worktree && !e->intent_to_add && !e->assume_unchanged &&
	       e->mode != GA_MODE_TREE;
}

/* Check that the index has nothing but checked-out files. */
static int check_index(struct move *m, int tree)
{
	struct ga_index_entry e;
	int rc;

	while (!(rc = ga_index_next(&m->ix, &e, GA_IGNORED))) {
		if (!is_plain(&e))
			return -1;
		if (!is_attributes(e.path))
			continue;
		m->plan->below_top = m->plan->below_top || strchr(e.path, '/');
		if (!is_as_committed(tree, &e))
			return -1;
	}
	m->trees = (const char *)ga_index_extension(&m->ix, "TREE", &m->trees_len);
	/* only in version 2 is the path always at the same offset in its entry */
	return rc < 0 || m->ix.split || m->ix.version != 2 || !m->trees ? -1 : 0;
}

static bool take_number(const char *text, size_t len, size_t *at, char stop, size_t *ret)
{
	size_t begin = *at;

	for (*ret = 0; *at < len && text[*at] >= '0' && text[*at] <= '9'; ++*at)
		if (*at - begin > 9)
			return false;
		else
			*ret = *ret * 10 + (size_t)(text[*at] - '0');
	return *at > begin && *at < len && text[(*at)++] == stop;
}

/* Read the entry of a directory and those of its subdirectories. Fails at a negative count, with
 * which git marks a directory whose tree it no longer knows. */
static int read_cached_tree(struct move *m, size_t *at, unsigned depth)
{
	const char *name = m->trees + *at, *nul = memchr(name, '\0', m->trees_len - *at);
	size_t i = m->n, dirs;
	struct cached_tree d = { .name = name, .start = *at };

	if (!nul || depth > GA_TREE_DEPTH_MAX)
		return -1;
	*at = (size_t)(nul + 1 - m->trees);
	if (!take_number(m->trees, m->trees_len, at, ' ', &d.entries) ||
	    !take_number(m->trees, m->trees_len, at, '\n', &dirs) ||
	    m->trees_len - *at < GA_OID_RAWSZ)
		return -1;
	memcpy(d.oid.id, m->trees + *at, GA_OID_RAWSZ);
	*at += GA_OID_RAWSZ;
	GA_GROW(m->v, m->n, m->cap);
	m->v[m->n++] = d;
	for (; dirs; dirs--)
		if (read_cached_tree(m, at, depth + 1))
			return -1;
	m->v[i].end = *at;
	m->v[i].next = m->n;
	return 0;
}

static int by_tree_order(const void *a, const void *b)
{
	const struct cached_tree *x = *(const struct cached_tree *const *)a;
	const struct cached_tree *y = *(const struct cached_tree *const *)b;

	return ga_path_tree_cmp(x->name, strlen(x->name), true, y->name, strlen(y->name), true);
}

/* Get the immediate subdirectories of `was`, in the order of tree objects. */
static const struct cached_tree **list_subdirs(const struct move *m, const struct cached_tree *was,
					       size_t *ret_n)
{
	size_t end = was ? was->next : 0, n = 0, first = was ? (size_t)(was - m->v) + 1 : 0;
	const struct cached_tree **v;

	for (size_t i = first; i < end; i = m->v[i].next)
		n++;
	v = ga_calloc(n + 1, sizeof(*v));
	n = 0;
	for (size_t i = first; i < end; i = m->v[i].next)
		v[n++] = &m->v[i];
	if (n)
		qsort(v, n, sizeof(*v), by_tree_order);
	*ret_n = n;
	return v;
}

/* ---- the new tree beside it -------------------------------------------------------- */

static void advance(struct move *m)
{
	m->more = !ga_index_next(&m->ix, &m->e, GA_IGNORED);
}

static void drop(struct move *m)
{
	m->plan->attributes = m->plan->attributes || is_attributes(m->e.path);
	ga_buf_add(&m->plan->gone, &m->e.offset, sizeof(m->e.offset));
	advance(m);
}

/* Remove the entries before the current path, which the new tree does not have. */
static void drop_before_path(struct move *m)
{
	while (m->more && strcmp(m->e.path, m->path.ptr) < 0)
		drop(m);
}

/* Keep all `n` entries of a directory that is the same. */
static int keep_below_path(struct move *m, size_t n)
{
	for (; n; n--) {
		if (!m->more || strncmp(m->e.path, m->path.ptr, m->path.len) != 0)
			return -1;
		advance(m);
	}
	return 0;
}

static int take_file(struct move *m, const struct ga_entry *new)
{
	drop_before_path(m);
	if (m->more && !strcmp(m->e.path, m->path.ptr)) {
		struct ga_entry old = { m->e.mode, m->e.oid };

		if (ga_entry_equal(&old, new)) {
			advance(m);
			return 0;
		}
		drop(m);
	}
	m->plan->attributes = m->plan->attributes || is_attributes(m->path.ptr);
	ga_index_add(&m->plan->come, m->path.ptr, new);
	m->plan->n_come++;
	return m->partial && new->mode != GA_MODE_GITLINK && !ga_object_exists(m->r, &new->oid) ? -1
												: 0;
}

/* The "TREE" entries of one directory's subdirectories. They are made in the order of tree objects
 * and sorted before they are written: the extension has an order of its own. */
struct pieces {
	struct ga_buf bytes;
	struct piece {
		size_t start, len;
	} *v;
	size_t n, cap;
};

static void pieces_release(struct pieces *p)
{
	ga_buf_release(&p->bytes);
	free(p->v);
}

/* The extension's order: the shorter name first. */
static int by_extension_order(const void *a, const void *b, void *bytes)
{
	const char *x = (const char *)bytes + ((const struct piece *)a)->start;
	const char *y = (const char *)bytes + ((const struct piece *)b)->start;
	size_t n = strlen(x), k = strlen(y);

	return n != k ? (n < k ? -1 : 1) : memcmp(x, y, n);
}

static void add_cached_tree(struct pieces *p, const char *name, size_t entries,
			    const struct ga_oid *oid, struct ga_buf *out)
{
	if (p->n)
		qsort_r(p->v, p->n, sizeof(*p->v), by_extension_order, p->bytes.ptr);
	ga_buf_add0(out, name);
	ga_buf_addf(out, "%zu %zu\n", entries, p->n);
	ga_buf_add(out, oid->id, GA_OID_RAWSZ);
	for (size_t i = 0; i < p->n; i++)
		ga_buf_add(out, p->bytes.ptr + p->v[i].start, p->v[i].len);
}

static int take_dir(struct move *m, const char *name, const struct ga_oid *oid,
		    const struct cached_tree *was, unsigned depth, struct ga_buf *out,
		    size_t *entries);

/* `was`: the old "TREE" entry of that directory, or NULL. */
static int take_subdir(struct move *m, const struct ga_tree_item *it, const struct cached_tree *was,
		       unsigned depth, struct pieces *p, size_t *entries)
{
	size_t start = p->bytes.len, n;

	ga_buf_addch(&m->path, '/');
	drop_before_path(m);
	if (was && ga_oid_equal(&was->oid, &it->oid)) {
		n = was->entries;
		ga_buf_add(&p->bytes, m->trees + was->start, was->end - was->start);
		if (keep_below_path(m, n))
			return -1;
	} else if (take_dir(m, it->name, &it->oid, was, depth + 1, &p->bytes, &n)) {
		return -1;
	}
	*entries += n;
	GA_GROW(p->v, p->n, p->cap);
	p->v[p->n++] = (struct piece){ start, p->bytes.len - start };
	return 0;
}

static int cmp_name(const struct cached_tree *d, const struct ga_tree_item *it)
{
	return ga_path_tree_cmp(d->name, strlen(d->name), true, it->name, it->len, true);
}

static int take_items(struct move *m, struct ga_tree_reader *t, const struct cached_tree **in,
		      size_t n_in, unsigned depth, struct pieces *p, size_t *entries)
{
	size_t len = m->path.len, i = 0;
	struct ga_tree_item it;
	int rc;

	while ((rc = ga_tree_read(t, &it, GA_IGNORED)) > 0) {
		struct ga_entry e = { ga_canonical_mode(it.mode), it.oid };

		ga_buf_add(&m->path, it.name, it.len);
		if (e.mode == GA_MODE_TREE) {
			while (i < n_in && cmp_name(in[i], &it) < 0)
				i++;
			if (take_subdir(m, &it, i < n_in && !cmp_name(in[i], &it) ? in[i] : NULL,
					depth, p, entries))
				return -1;
		} else if (take_file(m, &e)) {
			return -1;
		} else {
			++*entries;
		}
		ga_buf_truncate(&m->path, len);
	}
	return rc;
}

static int take_dir(struct move *m, const char *name, const struct ga_oid *oid,
		    const struct cached_tree *was, unsigned depth, struct ga_buf *out,
		    size_t *entries)
{
	cleanup_tree_reader struct ga_tree_reader t = GA_TREE_READER_INIT;
	cleanup_(pieces_release) struct pieces p = { .bytes = GA_BUF_INIT };
	cleanup_free const struct cached_tree **in = NULL;
	cleanup_free char *bad = NULL;
	size_t n_in;

	if (depth > GA_TREE_DEPTH_MAX || ga_tree_open(m->r, oid, &t, GA_IGNORED))
		return -1;
	/* git does not verify the names in an index that it is given */
	bad = ga_import_judge_tree(t.p, (size_t)(t.end - t.p));
	if (bad)
		return -1;
	in = list_subdirs(m, was, &n_in);
	*entries = 0;
	if (take_items(m, &t, in, n_in, depth, &p, entries))
		return -1;
	add_cached_tree(&p, name, *entries, oid, out);
	return 0;
}

static int take_tree(struct move *m, const struct ga_oid *commit)
{
	size_t at = 0, n, n_gone;
	struct ga_oid tree;

	if (read_cached_tree(m, &at, 0) || at != m->trees_len ||
	    ga_commit_tree(m->r, commit, &tree, GA_IGNORED))
		return -1;
	ga_index_rewind(&m->ix);
	ga_index_begin(&m->plan->come);
	advance(m);
	if (take_dir(m, "", &tree, m->v, 0, &m->plan->trees, &n))
		return -1;
	while (m->more)
		drop(m);
	n_gone = m->plan->gone.len / sizeof(size_t);
	return m->ix.i != m->ix.n || n != m->ix.n - n_gone + m->plan->n_come ? -1 : 0;
}

/* ---- making room --------------------------------------------------------------------- */

/* No symlink is followed, although only git wrote to the tree. */
static int remove_path(int tree, const char *path)
{
	cleanup_close int at = ga_open_parent_beneath(tree, path, false);
	const char *name = ga_path_base(path);

	/* a submodule is an empty directory here */
	if (at < 0 || (unlinkat(at, name, 0) &&
		       (errno != EISDIR || unlinkat(at, name, AT_REMOVEDIR))))
		return -1;
	return 0;
}

static int remove_gone(const struct move *m, int tree)
{
	const char *path = NULL, *last = NULL;

	for (size_t i = 0; i < m->plan->gone.len; i += sizeof(size_t)) {
		size_t at;

		memcpy(&at, m->plan->gone.ptr + i, sizeof(at));
		path = (const char *)m->ix.map + at + GA_INDEX_FLAGS + 2;
		if (remove_path(tree, path))
			return -1;
		/* paths are sorted, so a directory is checked once, after its last file */
		if (last && strncmp(last, path, (size_t)(ga_path_base(last) - last)) != 0)
			ga_remove_empty_above(tree, last);
		last = path;
	}
	if (last)
		ga_remove_empty_above(tree, last);
	return 0;
}

bool ga_base_plan_move(struct ga_repo *r, const char *dir, const struct ga_oid *commit,
		       bool partial, struct ga_base_plan *ret)
{
	cleanup_free char *index = ga_path_join(dir, "index"), *path = ga_path_join(dir, "tree");
	cleanup_close int tree = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_(move_release) struct move m = { .r = r, .ix = GA_INDEX_INIT, .path = GA_BUF_INIT,
						 .partial = partial, .plan = ret };

	if (tree < 0 || ga_index_open(index, &m.ix, GA_IGNORED) || check_index(&m, tree) ||
	    take_tree(&m, commit))
		return false;
	return ret->attributes || !remove_gone(&m, tree);
}
