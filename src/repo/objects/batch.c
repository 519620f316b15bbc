/* SPDX-License-Identifier: MIT
 *
 * Batches: keep objects in memory until a result is complete, or without ever writing them. libgit2
 * reads them through a backend of ours, ga_tree_open() directly. They are written as a small pack
 * made in memory, with its index (gitformat-pack(5), version 2 of both).
 */
#include <arpa/inet.h>

#include <git2/sys/odb_backend.h>
#define ZLIB_CONST
#include <zlib.h>

#include "ga/base/oid.h"
#include "ga/base/sha.h"
#include "repo/objects-internal.h"

#define FANOUT 256

/* Where an object is in the pack, and the CRC of its bytes there. Sorted by id for the index. */
struct place {
	const struct ga_packed *o;
	uint32_t at, crc;
};

size_t ga_pack_object_header(git_object_t type, uint64_t size, unsigned char *h)
{
	unsigned char c = (unsigned char)((unsigned)type << 4 | (size & 15));
	size_t n = 0;

	for (size >>= 4; size; size >>= 7) {
		h[n++] = c | 0x80;
		c = size & 0x7f;
	}
	h[n++] = c;
	return n;
}

static void add_number(struct ga_buf *b, uint32_t v)
{
	uint32_t n = htonl(v);

	ga_buf_add(b, &n, sizeof(n));
}

static void add_sum(struct ga_buf *b)
{
	unsigned char sum[GA_SHA1_RAWSZ];
	struct ga_sha s;

	ga_sha1_init(&s);
	ga_sha_add(&s, b->ptr, b->len);
	ga_sha_end(&s, sum);
	ga_buf_add(b, sum, sizeof(sum));
}

/* Append data as a zlib stream without compression (RFC 1950, RFC 1951): a header, blocks of at
 * most 65535 bytes, each with its length and the complement of that, and the checksum. */
static void add_stored(struct ga_buf *b, const void *data, size_t n)
{
	enum { BLOCK_MAX = 0xffff };
	const unsigned char *p = data;
	bool last;

	ga_buf_add(b, "\x78\x01", 2);
	do {
		uint16_t len = (uint16_t)(n < BLOCK_MAX ? n : BLOCK_MAX);

		last = len == n;
		ga_buf_addch(b, (char)last);
		ga_buf_addch(b, (char)(len & 0xff));
		ga_buf_addch(b, (char)(len >> 8));
		ga_buf_addch(b, (char)(~len & 0xff));
		ga_buf_addch(b, (char)(~len >> 8 & 0xff));
		ga_buf_add(b, p, len);
		p += len;
		n -= len;
	} while (!last);
	add_number(b, (uint32_t)adler32(adler32(0, NULL, 0), data,
					(uInt)(p - (const unsigned char *)data)));
}

static void add_deflated(struct ga_buf *b, z_stream *z, const struct ga_packed *o)
{
	size_t room = deflateBound(z, o->n);
	char *to = ga_buf_reserve(b, room);

	(void)deflateReset(z);
	z->next_in = o->data;
	z->avail_in = (uInt)o->n;
	z->next_out = (unsigned char *)to;
	z->avail_out = (uInt)room;
	if (deflate(z, Z_FINISH) != Z_STREAM_END)
		GA_BUG("deflate");
	b->len += room - z->avail_out;
}

/* Trees are mostly ids, which do not compress; git deltifies them when it repacks. */
static void add_object(struct ga_buf *b, z_stream *z, const struct ga_packed *o)
{
	unsigned char h[GA_PACK_HEADER_MAX];

	ga_buf_add(b, h, ga_pack_object_header(o->type, o->n, h));
	if (o->type == GIT_OBJECT_TREE)
		add_stored(b, o->data, o->n);
	else
		add_deflated(b, z, o);
}

/* Compress as git does a new loose object, but with a small window if all objects are small: a new
 * page of memory takes longer than deflating one of them. */
static void begin_deflate(z_stream *z, const struct ga_packed *v, size_t n)
{
	enum { SMALL_BITS = 12, SMALL_MEMORY = 6, MEMORY = 8 };
	bool small = true;

	for (size_t i = 0; i < n; i++)
		small &= v[i].type == GIT_OBJECT_TREE || v[i].n <= 1 << SMALL_BITS;
	if (deflateInit2(z, Z_BEST_SPEED, Z_DEFLATED, small ? SMALL_BITS : MAX_WBITS,
			 small ? SMALL_MEMORY : MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		GA_BUG("deflateInit2");
}

static int by_id(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return ga_oid_cmp(&x->o->oid, &y->o->oid);
}

static void make_index(struct place *v, size_t n, const struct ga_buf *pack, struct ga_buf *b)
{
	qsort(v, n, sizeof(*v), by_id);
	ga_buf_add(b, "\377tOc", 4);
	add_number(b, 2);
	for (size_t first = 0, i = 0; first < FANOUT; first++) {
		while (i < n && v[i].o->oid.id[0] <= first)
			i++;
		add_number(b, (uint32_t)i);
	}
	for (size_t i = 0; i < n; i++)
		ga_buf_add(b, v[i].o->oid.id, GA_OID_RAWSZ);
	for (size_t i = 0; i < n; i++)
		add_number(b, v[i].crc);
	for (size_t i = 0; i < n; i++)
		add_number(b, v[i].at);
	ga_buf_add(b, pack->ptr + pack->len - GA_SHA1_RAWSZ, GA_SHA1_RAWSZ);
	add_sum(b);
}

char *ga_pack_bytes(const struct ga_packed *v, size_t n, struct ga_buf *pack, struct ga_buf *index)
{
	cleanup_free struct place *at = ga_calloc(n, sizeof(*at));
	struct ga_oid sum;
	z_stream z = { 0 };
	size_t room = 0;

	begin_deflate(&z, v, n);
	for (size_t i = 0; i < n; i++)
		room += GA_PACK_HEADER_MAX + deflateBound(&z, v[i].n);
	(void)ga_buf_reserve(pack, room);
	ga_buf_adds(pack, "PACK");
	add_number(pack, 2);
	add_number(pack, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		size_t start = pack->len;

		add_object(pack, &z, &v[i]);
		at[i] = (struct place){ &v[i], (uint32_t)start,
					(uint32_t)crc32(0, (const unsigned char *)pack->ptr + start,
							(uInt)(pack->len - start)) };
	}
	(void)deflateEnd(&z);
	add_sum(pack);
	make_index(at, n, pack, index);
	memcpy(sum.id, pack->ptr + pack->len - GA_SHA1_RAWSZ, GA_SHA1_RAWSZ);
	return ga_strf("pack-%s", GA_HEX(&sum));
}

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

static bool ga_batch_is_open(const struct ga_repo *r)
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
			return ga_fail(err, GA_EFATAL, "incomplete objects from another process");
		memcpy(&h, p, sizeof(h));
		p += sizeof(h);
		if (!is_type(h.type) || h.n > (uint64_t)(end - p))
			return ga_fail(err, GA_EFATAL, "incomplete objects from another process");
		/* the id is computed from the content, not believed */
		if (git_odb_hash(&id, p, h.n, (git_object_t)h.type))
			return ga_fail_git(err, "cannot hash an object");
		oid = ga_from_git_oid(&id);
		ga_batch_add(r, (git_object_t)h.type, &oid, p, h.n);
		p += h.n;
	}
	return 0;
}

void ga_cleanup_odb_objectp(git_odb_object **o)
{
	git_odb_object_free(*o);
}

/* Should a missing object be looked up again? A `git gc` may just have repacked it. */
static bool should_retry(const struct ga_repo *r, int rc, int *tries)
{
	return rc == GIT_ENOTFOUND && ++*tries < 3 && !ga_odb_refresh(r);
}

int ga_odb_read_header(const struct ga_repo *r, const git_oid *id, size_t *size,
		       git_object_t *type)
{
	int tries = 0, rc;

	do
		rc = git_odb_read_header(size, type, r->odb, id);
	while (should_retry(r, rc, &tries));
	return rc;
}

int ga_odb_read(struct ga_repo *r, const struct ga_oid *oid, git_object_t type,
		git_odb_object **ret, struct ga_error *err)
{
	cleanup_odb_object git_odb_object *obj = NULL;
	git_oid id = ga_to_git_oid(oid);
	int tries = 0, rc;

	do
		rc = git_odb_read(&obj, r->odb, &id);
	while (should_retry(r, rc, &tries));
	if (rc)
		return ga_fail_git(err, "cannot read object %s", GA_HEX(oid));
	if (git_odb_object_type(obj) != type)
		return ga_fail(err, GA_EFATAL, "object %s is a %s, not a %s", GA_HEX(oid),
			       git_object_type2string(git_odb_object_type(obj)),
			       git_object_type2string(type));
	*ret = ga_steal(&obj);
	return 0;
}

int ga_odb_write(struct ga_repo *r, git_object_t type, const void *data, size_t n,
		 struct ga_oid *ret, struct ga_error *err)
{
	bool later = ga_batch_is_open(r);
	git_oid id;

	if (later ? git_odb_hash(&id, data, n, type) : git_odb_write(&id, r->own, data, n, type))
		return ga_fail_git(err, "cannot write a %s", git_object_type2string(type));
	*ret = ga_from_git_oid(&id);
	if (later && !ga_odb_has(r, &id))
		ga_batch_add(r, type, ret, data, n);
	return 0;
}

/* That the object exists is not enough: a `git gc` running now would remove it if it is old and
 * unreferenced. So its mtime is renewed; where that is not possible (another user's file, a
 * read-only alternate) the object is written again, as git does. */
bool ga_odb_has(const struct ga_repo *r, const git_oid *id)
{
	size_t n = git_odb_num_backends(r->own);
	struct ga_oid oid = ga_from_git_oid(id);

	if (ga_batch_find(r, &oid))
		return true;
	for (size_t i = 0; i < n; i++) {
		git_odb_backend *b = NULL;

		if (!git_odb_get_backend(&b, r->own, i) && b->freshen && !b->freshen(b, id))
			return true;
	}
	return false;
}

bool ga_collided(void)
{
	const git_error *e = git_error_last();

	return e && e->klass == GIT_ERROR_SHA;
}
