/* SPDX-License-Identifier: MIT
 *
 * Apply changes to a tree, in one recursion down the changed paths: libgit2's
 * git_tree_create_updated() cannot replace a file by a directory, and reads and writes one path at
 * a time.
 */
#include "repo/objects-internal.h"

#include <string.h>

#include "ga/base/path.h"

struct apply {
	struct ga_repo *r;
	struct ga_pack *p;
	struct ga_error *err;
};

/* The changes to one name in a directory. There may be both kinds: a file is deleted, and the first
 * paths of a directory of its name are added. */
struct group {
	const char *name;
	size_t len;
	const struct ga_change *leaf;  /* the change of the name itself, or NULL */
	const struct ga_change *below; /* the first of the changes beneath it */
	size_t n_below;
	struct ga_tree_item base;      /* the entry of that name so far; `len` 0: none */
	size_t place;                  /* position of `base` among the items */
};

struct items {
	struct ga_tree_item *v; /* `len` 0: its name got no entry in this place */
	size_t n, cap;
};

static int apply_level(struct apply *a, const struct ga_oid *base, const struct ga_change *v,
		       size_t n, size_t off, struct ga_oid *ret, bool *ret_empty);

/* ---- the changes ---------------------------------------------------------- */

static int compare_names(const char *a, size_t an, const char *b, size_t bn)
{
	int c = memcmp(a, b, an < bn ? an : bn);

	return c ? c : (an > bn) - (an < bn);
}

static int compare_groups(const void *x, const void *y)
{
	const struct group *a = x, *b = y;
	int c = compare_names(a->name, a->len, b->name, b->len);

	return c ? c : (a->leaf == NULL) - (b->leaf == NULL);
}

/* Sorted by path, all changes beneath one directory are next to each other; but between "a" and
 * "a/b" there may be "a-c", so the two groups of a name meet only after sorting by name, and are
 * joined then. */
static struct group *make_groups(const struct ga_change *v, size_t n, size_t off, size_t *ret_n)
{
	struct group *g = NULL;
	size_t n_g = 0, cap = 0, out = 0;

	for (size_t i = 0; i < n;) {
		const char *name = v[i].path + off;
		size_t len = strcspn(name, "/"), k = 1;

		GA_GROW(g, n_g, cap);
		g[n_g] = (struct group){ .name = name, .len = len };
		if (!name[len]) {
			g[n_g].leaf = &v[i];
		} else {
			while (i + k < n && !strncmp(v[i + k].path + off, name, len + 1))
				k++;
			g[n_g].below = &v[i];
			g[n_g].n_below = k;
		}
		n_g++;
		i += k;
	}
	if (n_g)
		qsort(g, n_g, sizeof(*g), compare_groups);
	for (size_t i = 0; i < n_g; i++) {
		if (out && g[out - 1].leaf && !g[i].leaf &&
		    !compare_names(g[out - 1].name, g[out - 1].len, g[i].name, g[i].len)) {
			g[out - 1].below = g[i].below;
			g[out - 1].n_below = g[i].n_below;
		} else {
			g[out++] = g[i];
		}
	}
	*ret_n = out;
	return g;
}

static int compare_key(const void *k, const void *e)
{
	const struct ga_tree_item *it = k;
	const struct group *g = e;

	return compare_names(it->name, it->len, g->name, g->len);
}

/* ---- the result ----------------------------------------------------------- */

static int compare_items(const void *x, const void *y)
{
	const struct ga_tree_item *a = x, *b = y;

	return ga_path_tree_cmp(a->name, a->len, ga_item_is_tree(a), b->name, b->len,
				ga_item_is_tree(b));
}

static void add_item(struct items *out, const struct ga_tree_item *it)
{
	GA_GROW(out->v, out->n, out->cap);
	out->v[out->n++] = *it;
}

/* Put an entry in the place of the one that had its name, if it sorts there: a file "a" sorts
 * before "a.c", a directory "a" after it. */
static void put_item(struct items *out, const struct group *g, const struct ga_tree_item *it)
{
	if (g->base.len && ga_item_is_tree(it) == ga_item_is_tree(&g->base))
		out->v[g->place] = *it;
	else
		add_item(out, it);
}

static int both_file_and_directory(struct apply *a, const struct group *g)
{
	return ga_fail(a->err, GA_EFATAL, "'%s' cannot be a file and a directory", g->leaf->path);
}

/* Add the entry that one name gets, if any. */
static int apply_group(struct apply *a, const struct group *g, size_t off, struct items *out)
{
	bool is_tree = g->base.len && ga_item_is_tree(&g->base), empty = true;
	struct ga_tree_item it = { .name = g->name, .len = g->len, .mode = GA_MODE_TREE };

	if (g->n_below && apply_level(a, is_tree && !g->leaf ? &g->base.oid : NULL, g->below,
				      g->n_below, off + g->len + 1, &it.oid, &empty))
		return -1;
	if (g->leaf && g->leaf->new.mode) {
		if (!empty)
			return both_file_and_directory(a, g);
		it.mode = g->leaf->new.mode;
		it.oid = g->leaf->new.oid;
		put_item(out, g, &it);
	} else if (!empty) {
		put_item(out, g, &it);
	} else if (!g->leaf && g->base.len && !is_tree) {
		/* the changes beneath it added nothing: the file stays */
		put_item(out, g, &g->base);
	}
	return 0;
}

/* Append "%o ", without ga_buf_addf(): a tree has many. */
static void add_mode(struct ga_buf *b, uint32_t mode)
{
	char digits[16], *p = digits + sizeof(digits);

	*--p = ' ';
	do
		*--p = (char)('0' + (mode & 7));
	while (mode >>= 3);
	ga_buf_add(b, p, (size_t)(digits + sizeof(digits) - p));
}

static int write_tree(struct apply *a, const struct items *out, struct ga_oid *ret)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < out->n; i++) {
		const struct ga_tree_item *it = &out->v[i];

		add_mode(&b, it->mode);
		ga_buf_add(&b, it->name, it->len);
		ga_buf_addch(&b, '\0');
		ga_buf_add(&b, it->oid.id, GA_OID_RAWSZ);
	}
	if (a->p)
		return ga_pack_add(a->p, GIT_OBJECT_TREE, b.ptr, b.len, ret, a->err);
	return ga_odb_write(a->r, GIT_OBJECT_TREE, b.ptr, b.len, ret, a->err);
}

static void drop_empty(struct items *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->n; i++)
		if (out->v[i].len)
			out->v[kept++] = out->v[i];
	out->n = kept;
}

/* Usually so, but not with new names, or in trees made by odd old tools. */
static bool is_sorted(const struct items *out)
{
	for (size_t i = 1; i < out->n; i++)
		if (compare_items(&out->v[i - 1], &out->v[i]) > 0)
			return false;
	return true;
}

static int merge_level(struct apply *a, struct ga_tree_reader *base, struct group *g, size_t n,
		       size_t off, struct items *out)
{
	struct ga_tree_item it;
	int rc;

	while ((rc = ga_tree_read(base, &it, a->err)) > 0) {
		struct group *found = bsearch(&it, g, n, sizeof(*g), compare_key);

		if (found) {
			found->base = it;
			found->place = out->n;
			it.len = 0;
		}
		add_item(out, &it);
	}
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (apply_group(a, &g[i], off, out))
			return -1;
	drop_empty(out);
	if (!is_sorted(out))
		qsort(out->v, out->n, sizeof(*out->v), compare_items);
	return 0;
}

/* Apply changes to one directory, whose path is the first `off` bytes of theirs. The depth of the
 * recursion is bounded by check(). An empty tree is written only for the root. */
static int apply_level(struct apply *a, const struct ga_oid *base, const struct ga_change *v,
		       size_t n, size_t off, struct ga_oid *ret, bool *ret_empty)
{
	cleanup_tree_reader struct ga_tree_reader t = GA_TREE_READER_INIT;
	cleanup_free struct ga_tree_item *items = NULL;
	cleanup_free struct group *groups = NULL;
	struct items out = { 0 };
	size_t n_groups;
	int rc;

	if (ga_tree_open(a->r, base, &t, a->err))
		return -1;
	groups = make_groups(v, n, off, &n_groups);
	rc = merge_level(a, &t, groups, n_groups, off, &out);
	items = out.v;
	if (rc)
		return -1;
	*ret_empty = !out.n;
	return out.n || !off ? write_tree(a, &out, ret) : 0;
}

/* ---- what is refused ------------------------------------------------------- */

static bool mode_ok(uint32_t mode)
{
	return mode == GA_MODE_NONE || mode == GA_MODE_FILE || mode == GA_MODE_EXEC ||
	       mode == GA_MODE_LINK || mode == GA_MODE_GITLINK;
}

/* Deletions count, too: the recursion follows their paths as well. */
static bool depth_ok(const char *path)
{
	size_t depth = 1;

	while ((path = strchr(path, '/')) && depth <= GA_TREE_DEPTH_MAX)
		path++, depth++;
	return depth <= GA_TREE_DEPTH_MAX;
}

static bool path_ok(const char *path)
{
	if (!ga_path_relative_ok(path))
		return false;
	for (;; path++) {
		size_t n = strcspn(path, "/");

		if (ga_path_component_is_dotgit(path, n))
			return false;
		path += n;
		if (!*path)
			return true;
	}
}

/* Whatever callers accept, no tree is written that git would refuse. */
static int check(const struct ga_changes *c, struct ga_error *err)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct ga_change *v = &c->v[i];

		if (i && strcmp(c->v[i - 1].path, v->path) >= 0)
			GA_BUG("changes are not sorted");
		if (!mode_ok(v->new.mode) || !depth_ok(v->path) ||
		    (v->new.mode && !path_ok(v->path)))
			return ga_fail(err, GA_EFATAL, "git cannot hold a path like '%s'", v->path);
	}
	return 0;
}

int ga_tree_apply(struct ga_repo *r, struct ga_pack *p, const struct ga_oid *base,
		  const struct ga_changes *changes, struct ga_oid *ret, struct ga_error *err)
{
	struct apply a = { r, p, err };
	struct ga_oid oid;
	bool empty;

	if (check(changes, err))
		return -1;
	if (base && !changes->n) {
		*ret = *base;
		return 0;
	}
	if (apply_level(&a, base, changes->v, changes->n, 0, &oid, &empty))
		return -1;
	*ret = oid;
	return 0;
}
