/* SPDX-License-Identifier: MIT
 *
 * Batches: objects that wait in memory until a result is complete, or that never reach the disk.
 * libgit2 finds them through a backend of ours, which is for reading only; ga_tree_open() looks
 * here itself.
 */
#include "repo/objects-internal.h"

#include <git2/sys/odb_backend.h>

#include "ga/base/oidmap.h"

/* Limits of a batch; a pack that does not fit is written at once. */
#define BATCH_OBJECTS ((size_t)2048)
#define BATCH_BYTES ((size_t)4 << 20)

struct ga_batch {
	git_odb_backend backend; /* must be first: callbacks are given a pointer to it */
	bool open;
	bool stays;              /* nothing in it is ever written to the disk */
	struct ga_oidmap index;  /* from an id to its position in `v` */
	struct ga_packed *v;     /* objects stay here, readable, after they are written */
	size_t n, cap, bytes;
	size_t written;          /* how many of `v`, from the first, are on the disk */
	struct ga_strv keeps;
};

static const struct ga_packed *find(const git_odb_backend *b, const git_oid *id)
{
	const struct ga_batch *t = (const struct ga_batch *)b;
	struct ga_oid oid = ga_from_git_oid(id);
	size_t i;

	return ga_oidmap_get(&t->index, &oid, &i) ? &t->v[i] : NULL;
}

static int backend_read(void **ret, size_t *ret_n, git_object_t *ret_type, git_odb_backend *b,
			const git_oid *id)
{
	const struct ga_packed *o = find(b, id);

	if (!o)
		return GIT_ENOTFOUND;
	*ret = git_odb_backend_data_alloc(b, o->n + 1);
	if (!*ret)
		return -1;
	memcpy(*ret, o->data, o->n);
	((char *)*ret)[o->n] = '\0';
	*ret_n = o->n;
	*ret_type = o->type;
	return 0;
}

static int backend_header(size_t *ret_n, git_object_t *ret_type, git_odb_backend *b,
			  const git_oid *id)
{
	const struct ga_packed *o = find(b, id);

	if (!o)
		return GIT_ENOTFOUND;
	*ret_n = o->n;
	*ret_type = o->type;
	return 0;
}

static int backend_exists(git_odb_backend *b, const git_oid *id)
{
	return find(b, id) != NULL;
}

static int backend_freshen(git_odb_backend *b, const git_oid *id)
{
	return find(b, id) ? 0 : GIT_ENOTFOUND;
}

static void backend_free(git_odb_backend *b)
{
	(void)b;
}

static void drop_all(struct ga_batch *b)
{
	for (size_t i = 0; i < b->n; i++)
		free(b->v[i].data);
	ga_oidmap_release(&b->index);
	b->n = b->bytes = b->written = 0;
	ga_strv_release(&b->keeps);
}

void ga_batch_free(struct ga_batch *b)
{
	if (!b)
		return;
	drop_all(b);
	free(b->v);
	free(b);
}

const struct ga_packed *ga_batch_find(const struct ga_repo *r, const struct ga_oid *oid)
{
	const struct ga_batch *b = r->batch;
	size_t i;

	return b && ga_oidmap_get(&b->index, oid, &i) ? &b->v[i] : NULL;
}

static int begin(struct ga_repo *r, bool stays, struct ga_error *err)
{
	struct ga_batch *b = r->batch;

	if (!b) {
		b = ga_calloc(1, sizeof(*b));
		if (git_odb_init_backend(&b->backend, GIT_ODB_BACKEND_VERSION)) {
			free(b);
			return ga_fail_git(err, "cannot keep objects in memory");
		}
		b->backend.read = backend_read;
		b->backend.read_header = backend_header;
		b->backend.exists = backend_exists;
		b->backend.freshen = backend_freshen;
		b->backend.free = backend_free;
		/* the highest priority: it is asked before libgit2's own backends */
		if (git_odb_add_backend(r->odb, &b->backend, 100)) {
			free(b);
			return ga_fail_git(err, "cannot keep objects in memory");
		}
		r->batch = b;
	}
	drop_all(b);
	b->open = true;
	b->stays = stays;
	return 0;
}

int ga_batch_begin(struct ga_repo *r, struct ga_error *err)
{
	return begin(r, false, err);
}

int ga_repo_write_to_memory(struct ga_repo *r, struct ga_error *err)
{
	return begin(r, true, err);
}

void ga_batch_abandon(struct ga_repo *r)
{
	if (!r->batch)
		return;
	drop_all(r->batch);
	r->batch->open = false;
}

bool ga_batch_is_open(const struct ga_repo *r)
{
	return r->batch && r->batch->open;
}

bool ga_batch_has_room(const struct ga_repo *r, size_t objects, size_t bytes)
{
	const struct ga_batch *b = r->batch;

	if (!ga_batch_is_open(r))
		return false;
	return b->stays || (b->n <= BATCH_OBJECTS && objects <= BATCH_OBJECTS - b->n &&
			    b->bytes <= BATCH_BYTES && bytes <= BATCH_BYTES - b->bytes);
}

void ga_batch_add(struct ga_repo *r, git_object_t type, const struct ga_oid *oid, const void *data,
		  size_t n)
{
	struct ga_batch *b = r->batch;

	if (!ga_oidmap_add(&b->index, oid, b->n))
		return;
	GA_GROW(b->v, b->n, b->cap);
	b->v[b->n++] = (struct ga_packed){ .type = type, .oid = *oid, .data = ga_memdup(data, n),
					   .n = n };
	b->bytes += n;
}

int ga_write_pack(const struct ga_repo *r, const struct ga_packed *v, size_t n,
		  struct ga_strv *keeps, struct ga_error *err)
{
	cleanup_buf struct ga_buf pack = GA_BUF_INIT, index = GA_BUF_INIT;
	cleanup_free char *stem = ga_pack_bytes(v, n, &pack, &index);
	struct ga_quarantine *q;
	int rc;

	if (ga_quarantine_begin(r, &q, err))
		return -1;
	rc = ga_quarantine_add(q, stem, &pack, &index, err) ||
			     ga_quarantine_move(q, keeps, err) ? -1 : 0;
	ga_quarantine_free(q);
	return rc;
}

int ga_batch_flush(const struct ga_repo *r, struct ga_error *err)
{
	struct ga_batch *b = r->batch;
	size_t n = b ? b->n - b->written : 0;

	if (!n || b->stays)
		return 0;
	if (ga_write_pack(r, b->v + b->written, n, &b->keeps, err))
		return -1;
	b->written = b->n;
	return 0;
}

int ga_batch_commit(struct ga_repo *r, struct ga_strv *keeps, struct ga_error *err)
{
	struct ga_batch *b = r->batch;

	if (!b || !b->open || b->stays)
		return 0;
	if (ga_batch_flush(r, err))
		return -1;
	b->open = false;
	ga_strv_extend(keeps, &b->keeps);
	ga_strv_release(&b->keeps);
	return 0;
}

struct record {
	uint64_t type, n;
};

void ga_batch_export(const struct ga_repo *r, struct ga_buf *out)
{
	const struct ga_batch *b = r->batch;

	for (size_t i = b ? b->written : 0; b && i < b->n; i++) {
		struct record h = { (uint64_t)b->v[i].type, b->v[i].n };

		ga_buf_add(out, &h, sizeof(h));
		ga_buf_add(out, b->v[i].data, b->v[i].n);
	}
}

static bool is_type(uint64_t t)
{
	return t == GIT_OBJECT_BLOB || t == GIT_OBJECT_TREE || t == GIT_OBJECT_COMMIT;
}

int ga_batch_import(struct ga_repo *r, const void *data, size_t n, struct ga_error *err)
{
	const char *p = data, *end = p + n;

	while (p < end) {
		struct ga_oid oid;
		struct record h;
		git_oid id;

		if ((size_t)(end - p) < sizeof(h))
			return ga_fail(err, GA_EFATAL, "objects were handed over in part");
		memcpy(&h, p, sizeof(h));
		p += sizeof(h);
		if (!is_type(h.type) || h.n > (uint64_t)(end - p))
			return ga_fail(err, GA_EFATAL, "objects were handed over in part");
		/* the id is computed from the content, not believed */
		if (git_odb_hash(&id, p, h.n, (git_object_t)h.type))
			return ga_fail_git(err, "cannot hash an object");
		oid = ga_from_git_oid(&id);
		ga_batch_add(r, (git_object_t)h.type, &oid, p, h.n);
		p += h.n;
	}
	return 0;
}
