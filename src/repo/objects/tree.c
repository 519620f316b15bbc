/* SPDX-License-Identifier: MIT
 *
 * Paths in trees, and how trees differ.
 */
#include "repo/objects-internal.h"

#include <string.h>

#include "ga/base/path.h"

static int too_deep(const char *path, struct ga_error *err)
{
	cleanup_free char *top = ga_strndup(path, strcspn(path, "/"));

	return ga_fail(err, GA_EFATAL, "directories beneath '%s' are nested more than %d deep", top,
		       GA_TREE_DEPTH_MAX);
}

static struct ga_entry entry_of(const struct ga_tree_item *it)
{
	return (struct ga_entry){ ga_canonical_mode(it->mode), it->oid };
}

/* The entry of `path`, or of the first `*ret_n` bytes of it that name what is no directory. */
static int descend(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		   struct ga_entry *ret, size_t *ret_n, struct ga_error *err)
{
	struct ga_entry at = { GA_MODE_TREE, *tree };
	const char *p = path, *end;

	for (;; p = end + 1) {
		const struct ga_oid dir = at.oid;

		end = p + strcspn(p, "/");
		if (ga_tree_find(r, &dir, p, (size_t)(end - p), &at, err))
			return -1;
		if (!*end || at.mode != GA_MODE_TREE)
			break;
	}
	*ret = at;
	*ret_n = (size_t)(end - path);
	return 0;
}

int ga_tree_entry(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		  struct ga_entry *ret, struct ga_error *err)
{
	size_t n;

	if (descend(r, tree, path, ret, &n, err))
		return -1;
	if (path[n])
		*ret = (struct ga_entry){ 0 };
	return 0;
}

int ga_tree_above(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		  struct ga_entry *ret, size_t *ret_n, struct ga_error *err)
{
	if (descend(r, tree, path, ret, ret_n, err))
		return -1;
	if (!path[*ret_n])
		*ret = (struct ga_entry){ 0 };
	return 0;
}

int ga_tree_file(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		 struct ga_entry *ret, struct ga_error *err)
{
	if (ga_tree_entry(r, tree, path, ret, err))
		return -1;
	if (ret->mode == GA_MODE_TREE)
		*ret = (struct ga_entry){ 0 };
	return 0;
}

struct diff {
	struct ga_repo *r;
	struct ga_changes *out;
	struct ga_buf path;      /* path of the directory, with a slash at its end */
	size_t max;              /* SIZE_MAX: no limit */
	struct ga_tree_size *size; /* not NULL: only measure, up to `limit` */
	const struct ga_tree_size *limit;
};

/* Count a path. Returns -1 beyond a limit, without an error: that is how ga_tree_measure() tells it
 * from a failure. */
static int count_path(struct diff *d, const struct ga_tree_item *it)
{
	struct ga_tree_size *s = d->size;
	uint64_t len = d->path.len + it->len;

	s->paths++;
	s->bytes += len;
	if (len > s->longest)
		s->longest = len;
	return s->paths > d->limit->paths || s->bytes > d->limit->bytes ||
			       s->longest > d->limit->longest ? -1 : 0;
}

static int diff_level(struct diff *d, const struct ga_oid *old, const struct ga_oid *new,
		      unsigned depth, struct ga_error *err);

static int diff_below(struct diff *d, const struct ga_tree_item *name, const struct ga_oid *old,
		      const struct ga_oid *new, unsigned depth, struct ga_error *err)
{
	size_t len = d->path.len;
	int rc;

	if (d->size) {
		/* directories count, too: a tree of nothing but empty trees takes time as well */
		d->size->depth = depth > d->size->depth ? depth : d->size->depth;
		if (depth >= GA_TREE_DEPTH_MAX || count_path(d, name))
			return -1;
	}
	if (depth >= GA_TREE_DEPTH_MAX)
		return too_deep(d->path.ptr, err);
	ga_buf_add(&d->path, name->name, name->len);
	ga_buf_addch(&d->path, '/');
	rc = diff_level(d, old, new, depth + 1, err);
	ga_buf_truncate(&d->path, len);
	return rc;
}

/* Either side may be NULL; both are trees, or neither is. */
static int diff_item(struct diff *d, const struct ga_tree_item *old,
		     const struct ga_tree_item *new, unsigned depth, struct ga_error *err)
{
	const struct ga_tree_item *any = old ? old : new;
	struct ga_entry a = { 0 }, b = { 0 };
	size_t len = d->path.len;

	if (ga_item_is_tree(any)) {
		if (old && new && ga_oid_equal(&old->oid, &new->oid))
			return 0;
		return diff_below(d, any, old ? &old->oid : NULL, new ? &new->oid : NULL, depth,
				  err);
	}
	if (old)
		a = entry_of(old);
	if (new)
		b = entry_of(new);
	if (ga_entry_equal(&a, &b))
		return 0;
	if (d->size)
		return count_path(d, any);
	if (d->out->n >= d->max)
		return ga_fail(err, GA_EFATAL, "a tree has more than %zu entries", d->max);
	ga_buf_add(&d->path, any->name, any->len);
	(void)ga_changes_add(d->out, d->path.ptr, &a, &b);
	ga_buf_truncate(&d->path, len);
	return 0;
}

/* A file and a directory of one name sort apart, so they come out as a deletion and additions
 * without special treatment. */
static int diff_level(struct diff *d, const struct ga_oid *old, const struct ga_oid *new,
		      unsigned depth, struct ga_error *err)
{
	cleanup_tree_reader struct ga_tree_reader a = GA_TREE_READER_INIT;
	cleanup_tree_reader struct ga_tree_reader b = GA_TREE_READER_INIT;
	struct ga_tree_item x, y;
	int have_x, have_y, c;

	if (ga_tree_open(d->r, old, &a, err) || ga_tree_open(d->r, new, &b, err))
		return -1;
	if ((have_x = ga_tree_read(&a, &x, err)) < 0 || (have_y = ga_tree_read(&b, &y, err)) < 0)
		return -1;
	while (have_x || have_y) {
		c = !have_x ? 1 : !have_y ? -1 :
			ga_path_tree_cmp(x.name, x.len, ga_item_is_tree(&x), y.name, y.len,
					 ga_item_is_tree(&y));
		if (diff_item(d, c <= 0 ? &x : NULL, c >= 0 ? &y : NULL, depth, err))
			return -1;
		if (c <= 0 && (have_x = ga_tree_read(&a, &x, err)) < 0)
			return -1;
		if (c >= 0 && (have_y = ga_tree_read(&b, &y, err)) < 0)
			return -1;
	}
	return 0;
}

static int diff_trees(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		      size_t max, struct ga_changes *ret, struct ga_error *err)
{
	cleanup_changes struct ga_changes out = GA_CHANGES_INIT;
	struct diff d = { .r = r, .out = &out, .path = GA_BUF_INIT, .max = max };
	int rc = 0;

	if (!old || !new || !ga_oid_equal(old, new))
		rc = diff_level(&d, old, new, 0, err);
	ga_buf_release(&d.path);
	if (rc)
		return -1;
	ga_changes_sort(&out);
	ga_changes_release(ret);
	*ret = out;
	out = (struct ga_changes)GA_CHANGES_INIT;
	return 0;
}

int ga_tree_diff(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		 struct ga_changes *ret, struct ga_error *err)
{
	return diff_trees(r, old, new, SIZE_MAX, ret, err);
}

int ga_tree_measure(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		    const struct ga_tree_size *limit, struct ga_tree_size *ret,
		    struct ga_error *err)
{
	struct diff d = { .r = r, .path = GA_BUF_INIT, .size = ret, .limit = limit };
	cleanup_error struct ga_error inner = GA_ERROR_INIT;
	int rc = 0;

	*ret = (struct ga_tree_size){ 0 };
	if (!ga_oid_equal(old, new))
		rc = diff_level(&d, old, new, 0, &inner);
	ga_buf_release(&d.path);
	if (!rc)
		return 0;
	return inner.msg ? ga_error_move(err, &inner) : 1;
}

int ga_tree_list(struct ga_repo *r, const struct ga_oid *tree, size_t max, struct ga_changes *ret,
		 struct ga_error *err)
{
	return diff_trees(r, NULL, tree, max, ret, err);
}
