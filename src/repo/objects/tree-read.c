/* SPDX-License-Identifier: MIT
 *
 * Read trees, look up paths in them, and compare them: parsed from their bytes, as libgit2's parser
 * is slower and refuses some trees of old repositories.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "repo/objects-internal.h"

int ga_tree_next(const char **p, const char *end, struct ga_tree_item *ret)
{
	const char *s = *p, *nul;
	uint32_t mode = 0;

	if (s == end)
		return 0;
	for (; s < end && *s != ' '; s++) {
		if (*s < '0' || *s > '7' || mode > 0177777)
			return -1;
		mode = mode << 3 | (uint32_t)(*s - '0');
	}
	if (s == end)
		return -1;
	s++;
	nul = memchr(s, '\0', (size_t)(end - s));
	if (!nul || nul == s || end - nul <= GA_OID_RAWSZ)
		return -1;
	ret->name = s;
	ret->len = (size_t)(nul - s);
	ret->mode = mode;
	memcpy(ret->oid.id, nul + 1, GA_OID_RAWSZ);
	*p = nul + 1 + GA_OID_RAWSZ;
	return 1;
}

uint32_t ga_canonical_mode(uint32_t mode)
{
	switch (mode & 0170000) {
	case 0100000:
		return mode & 0100 ? GA_MODE_EXEC : GA_MODE_FILE;
	case GA_MODE_LINK:
		return GA_MODE_LINK;
	case GA_MODE_TREE:
		return GA_MODE_TREE;
	default:
		return GA_MODE_GITLINK;
	}
}

void ga_tree_reader_release(struct ga_tree_reader *t)
{
	git_odb_object_free(t->obj);
	*t = (struct ga_tree_reader)GA_TREE_READER_INIT;
}

int ga_tree_open(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_reader *ret,
		 struct ga_error *err)
{
	const struct ga_packed *o = oid ? ga_batch_find(r, oid) : NULL;
	struct ga_tree_reader t = GA_TREE_READER_INIT;

	if (o && o->type == GIT_OBJECT_TREE) {
		t.p = o->data;
		t.end = t.p + o->n;
		t.oid = *oid;
	} else if (oid) {
		if (ga_odb_read(r, oid, GIT_OBJECT_TREE, &t.obj, err))
			return -1;
		t.p = git_odb_object_data(t.obj);
		t.end = t.p + git_odb_object_size(t.obj);
		t.oid = *oid;
	}
	*ret = t;
	return 0;
}

int ga_tree_read(struct ga_tree_reader *t, struct ga_tree_item *ret, struct ga_error *err)
{
	int rc = ga_tree_next(&t->p, t->end, ret);

	if (rc < 0)
		return ga_fail(err, GA_EFATAL, "tree %s is malformed", GA_HEX(&t->oid));
	return rc;
}

void ga_tree_level_release(struct ga_tree_level *l)
{
	free(l->v);
	free(l->names);
	*l = (struct ga_tree_level)GA_TREE_LEVEL_INIT;
}

static int by_name(const void *a, const void *b)
{
	const struct ga_level_entry *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int parse(const struct ga_tree_reader *from, struct ga_tree_level *ret, struct ga_error *err)
{
	const size_t len = (size_t)(from->end - from->p);
	struct ga_tree_item it;
	bool sorted = true;
	const char *p;
	size_t cap = 0;
	int rc;

	/* the object is copied once as a whole, and names point into the copy */
	ret->names = ga_memdup(from->p, len);
	p = ret->names;
	while ((rc = ga_tree_next(&p, ret->names + len, &it)) > 0) {
		GA_GROW(ret->v, ret->n, cap);
		ret->v[ret->n] =
			(struct ga_level_entry){ it.name, { ga_canonical_mode(it.mode), it.oid } };
		sorted &= !ret->n || strcmp(ret->v[ret->n - 1].name, it.name) < 0;
		ret->n++;
	}
	if (rc) {
		ga_tree_level_release(ret);
		return ga_fail(err, GA_EFATAL, "tree %s is malformed", GA_HEX(&from->oid));
	}
	/* git's order differs only where the name of a directory begins another name */
	if (!sorted)
		qsort(ret->v, ret->n, sizeof(*ret->v), by_name);
	return 0;
}

int ga_tree_level_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_level *ret,
		       struct ga_error *err)
{
	cleanup_tree_reader struct ga_tree_reader t = GA_TREE_READER_INIT;

	*ret = (struct ga_tree_level)GA_TREE_LEVEL_INIT;
	if (!oid)
		return 0;
	return ga_tree_open(r, oid, &t, err) || parse(&t, ret, err) ? -1 : 0;
}

struct ga_entry ga_tree_level_find(const struct ga_tree_level *l, const char *name)
{
	struct ga_level_entry key = { .name = name };
	const struct ga_level_entry *e =
		l->n ? bsearch(&key, l->v, l->n, sizeof(*l->v), by_name) : NULL;

	return e ? e->entry : (struct ga_entry){ 0 };
}

#define SLOTS 8
/* Smaller trees are read from their beginning each time. */
#define LARGE ((size_t)4096)
/* Bytes of all cached trees together; a single one may have more. */
#define KEPT_MAX ((size_t)128 << 20)

struct ga_tree_slots {
	struct slot {
		struct ga_oid oid;
		uint64_t used; /* 0: free */
		size_t n_bytes;
		struct ga_tree_level level;
	} v[SLOTS];
	uint64_t now;
};

static void empty_slot(struct slot *s)
{
	ga_tree_level_release(&s->level);
	*s = (struct slot){ .used = 0 };
}

void ga_tree_slots_free(struct ga_tree_slots *t)
{
	for (size_t i = 0; t && i < SLOTS; i++)
		empty_slot(&t->v[i]);
	free(t);
}

/* Get the slot of the tree, or the one that was used the longest time ago. */
static struct slot *find_slot(struct ga_tree_slots *t, const struct ga_oid *oid)
{
	struct slot *oldest = &t->v[0];

	for (size_t i = 0; i < SLOTS; i++) {
		struct slot *s = &t->v[i];

		if (s->used && ga_oid_equal(&s->oid, oid))
			return s;
		if (s->used < oldest->used)
			oldest = s;
	}
	return oldest;
}

static int fill_slot(struct ga_tree_slots *t, struct slot *s, const struct ga_tree_reader *from,
		     struct ga_error *err)
{
	size_t n = (size_t)(from->end - from->p), sum = n;

	for (size_t i = 0; i < SLOTS; i++)
		sum += t->v[i].n_bytes;
	for (size_t i = 0; i < SLOTS; i++)
		if (s == &t->v[i] || sum > KEPT_MAX)
			empty_slot(&t->v[i]);
	if (parse(from, &s->level, err))
		return -1;
	s->oid = from->oid;
	s->n_bytes = n;
	return 0;
}

int ga_tree_find(struct ga_repo *r, const struct ga_oid *tree, const char *name, size_t len,
		 struct ga_entry *ret, struct ga_error *err)
{
	cleanup_tree_reader struct ga_tree_reader t = GA_TREE_READER_INIT;
	struct ga_tree_item it;
	bool found = false;
	struct slot *s;
	int rc = 0;

	*ret = (struct ga_entry){ 0 };
	if (!r->trees)
		r->trees = ga_calloc(1, sizeof(*r->trees));
	s = find_slot(r->trees, tree);
	if (!s->used || !ga_oid_equal(&s->oid, tree)) {
		if (ga_tree_open(r, tree, &t, err))
			return -1;
		s = (size_t)(t.end - t.p) < LARGE ? NULL : s;
		if (s && fill_slot(r->trees, s, &t, err))
			return -1;
	}
	if (s) {
		cleanup_free char *key = ga_strndup(name, len);

		s->used = ++r->trees->now;
		*ret = ga_tree_level_find(&s->level, key);
		return 0;
	}
	while (!found && (rc = ga_tree_read(&t, &it, err)) > 0)
		found = it.len == len && !memcmp(it.name, name, len);
	if (found)
		*ret = (struct ga_entry){ ga_canonical_mode(it.mode), it.oid };
	return rc < 0 ? -1 : 0;
}

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
	struct ga_buf path;        /* path of the directory, with a slash at its end */
	size_t max;                /* SIZE_MAX: no limit */
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
			       s->longest > d->limit->longest
		       ? -1
		       : 0;
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
static int diff_item(struct diff *d, const struct ga_tree_item *old, const struct ga_tree_item *new,
		     unsigned depth, struct ga_error *err)
{
	const struct ga_tree_item *any = old ? old : new;
	struct ga_entry a = { 0 }, b = { 0 };
	size_t len = d->path.len;

	if (ga_item_is_tree(any)) {
		if (old && new &&ga_oid_equal(&old->oid, &new->oid))
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
		c = !have_x   ? 1
		    : !have_y ? -1
			      : ga_path_tree_cmp(x.name, x.len, ga_item_is_tree(&x), y.name, y.len,
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

/* Replace the id of a commit by that of its tree. */
static int peel(struct ga_repo *r, const struct ga_oid **id, struct ga_oid *tree,
		struct ga_error *err)
{
	const git_oid at = *id ? ga_to_git_oid(*id) : (git_oid){ { 0 } };
	git_object_t type;
	size_t size;

	if (!*id || ga_odb_read_header(r, &at, &size, &type) || type != GIT_OBJECT_COMMIT)
		return 0;
	if (ga_commit_tree(r, *id, tree, err))
		return -1;
	*id = tree;
	return 0;
}

int ga_tree_diff(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		 struct ga_changes *ret, struct ga_error *err)
{
	struct ga_oid old_tree, new_tree;

	return peel(r, &old, &old_tree, err) || peel(r, &new, &new_tree, err) ||
	       diff_trees(r, old, new, SIZE_MAX, ret, err) ? -1 : 0;
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
