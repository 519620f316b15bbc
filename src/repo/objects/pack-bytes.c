/* SPDX-License-Identifier: MIT
 *
 * A small pack made in memory, and its index (gitformat-pack(5), version 2 of both).
 */
#include "repo/objects-internal.h"

#include <arpa/inet.h>

#define ZLIB_CONST
#include <zlib.h>

#include "ga/base/sha.h"

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

/* Trees are not compressed: they are mostly ids, which cannot be made smaller. What they share with
 * earlier trees git finds when it repacks. */
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
