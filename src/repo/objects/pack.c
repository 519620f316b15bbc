/* SPDX-License-Identifier: MIT
 *
 * One pack under construction. The first objects wait in memory: a handful is made a pack there, or
 * goes into the batch if one is open, as do more. Beyond that a pack stream without deltas is
 * written to a file, and at the end read back by libgit2's indexer, so that what is indexed is what
 * is on the disk.
 *
 * Files too large for memory are hashed by libgit2 while they are deflated: its object streams
 * compute the id of what they pass on to a backend, and that backend is the pack.
 */
#include "repo/objects-internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <git2/sys/odb_backend.h>
#define ZLIB_CONST
#include <zlib.h>

#include "ga/base/oid.h"
#include "ga/base/path.h"
#include "ga/base/sha.h"
#include "ga/sys/fd.h"

#define STREAM_FROM ((uint64_t)1 << 20)
#define PENDING_MAX 24
#define PENDING_BYTES ((size_t)256 << 10)
#define OUT_SIZE ((size_t)256 << 10)
#define CHUNK ((size_t)64 << 10)
#define HEADER_SIZE 12

struct ga_pack {
	struct ga_repo *r;
	struct ga_oidmap have;
	struct ga_packed *pending;
	size_t n_pending, cap_pending, pending_bytes;
	/* the rest is used once there are too many for memory */
	struct ga_quarantine *q;
	char *name;          /* path of the stream's file */
	int fd;
	uint32_t count;
	uint64_t size;       /* bytes written and buffered */
	unsigned char *out;
	size_t out_len;
	z_stream z;
	/* for large files: what libgit2 streams them into */
	git_odb *sink;
	git_odb_backend backend;
	git_odb_stream stream;
};

int ga_pack_begin(struct ga_repo *r, struct ga_pack **ret, struct ga_error *err)
{
	struct ga_pack *p;

	/* refreshed once, so that looking for an object does not scan the disk each time */
	if (ga_odb_refresh(r))
		return ga_fail_git(err, "cannot read the object database");
	p = ga_calloc(1, sizeof(*p));
	p->r = r;
	p->fd = -1;
	*ret = p;
	return 0;
}

static void drop_pending(struct ga_pack *p)
{
	for (size_t i = 0; i < p->n_pending; i++)
		free(p->pending[i].data);
	p->n_pending = 0;
}

void ga_pack_free(struct ga_pack *p)
{
	if (!p)
		return;
	drop_pending(p);
	free(p->pending);
	ga_oidmap_release(&p->have);
	git_odb_free(p->sink);
	if (p->out)
		(void)deflateEnd(&p->z);
	free(p->out);
	ga_cleanup_closep(&p->fd);
	ga_quarantine_free(p->q);
	free(p->name);
	free(p);
}

/* ---- the stream ------------------------------------------------------------- */

static int fail_write(struct ga_error *err, int e)
{
	(void)ga_fail_errno(err, GA_EFATAL, e, "cannot write objects");
	return e == ENOSPC || e == EDQUOT ? ga_hint(err, "free some space") : -1;
}

static int flush(struct ga_pack *p)
{
	size_t n = p->out_len;

	p->out_len = 0;
	return n ? ga_write_full(p->fd, p->out, n) : 0;
}

/* Append to the stream. Returns 0 or -1 with errno, like the other functions that write to it. */
static int put(struct ga_pack *p, const void *data, size_t n)
{
	const unsigned char *s = data;

	while (n) {
		size_t take = OUT_SIZE - p->out_len < n ? OUT_SIZE - p->out_len : n;

		memcpy(p->out + p->out_len, s, take);
		p->out_len += take;
		p->size += take;
		s += take;
		n -= take;
		if (p->out_len == OUT_SIZE && flush(p))
			return -1;
	}
	return 0;
}

/* Deflate directly into the buffer. `last`: this is the end of the object. */
static int put_deflated(struct ga_pack *p, const void *data, size_t n, bool last)
{
	const unsigned char *s = data;
	int rc = Z_OK;

	do {
		uInt take = n < CHUNK ? (uInt)n : (uInt)CHUNK;
		bool end = last && take == n;

		p->z.next_in = s;
		p->z.avail_in = take;
		s += take;
		n -= take;
		do {
			size_t room = OUT_SIZE - p->out_len;

			p->z.next_out = p->out + p->out_len;
			p->z.avail_out = (uInt)room;
			rc = deflate(&p->z, end ? Z_FINISH : Z_NO_FLUSH);
			if (rc == Z_STREAM_ERROR)
				GA_BUG("deflate");
			room -= p->z.avail_out;
			p->out_len += room;
			p->size += room;
			if (p->out_len == OUT_SIZE && flush(p))
				return -1;
		} while (p->z.avail_in || (end && rc != Z_STREAM_END));
	} while (n);
	return 0;
}

static int put_header(struct ga_pack *p, git_object_t type, uint64_t size)
{
	unsigned char h[GA_PACK_HEADER_MAX];
	size_t n = ga_pack_object_header(type, size, h);

	(void)deflateReset(&p->z);
	return put(p, h, n);
}

/* Remove what was written since `size`: an object that is not wanted. */
static int rewind_to(struct ga_pack *p, uint64_t size)
{
	if (flush(p) || ftruncate(p->fd, (off_t)size) || lseek(p->fd, (off_t)size, SEEK_SET) < 0)
		return -1;
	p->size = size;
	return 0;
}

static int add_to_stream(struct ga_pack *p, git_object_t type, const void *data, size_t n)
{
	if (p->count == UINT32_MAX) {
		errno = EFBIG;
		return -1;
	}
	p->count++;
	return put_header(p, type, n) || put_deflated(p, data, n, true) ? -1 : 0;
}

static int open_stream(struct ga_pack *p, struct ga_error *err)
{
	static const unsigned char header[HEADER_SIZE] = "PACK";

	if (p->fd >= 0)
		return 0;
	if (!p->q && ga_quarantine_begin(p->r, &p->q, err))
		return -1;
	free(p->name);
	p->name = ga_path_join(p->q->path, "stream");
	p->fd = open(p->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (p->fd < 0)
		return fail_write(err, errno);
	p->out = ga_malloc(OUT_SIZE);
	if (deflateInit(&p->z, Z_DEFAULT_COMPRESSION) != Z_OK)
		GA_BUG("deflateInit");
	if (put(p, header, sizeof(header)))
		return fail_write(err, errno);
	for (size_t i = 0; i < p->n_pending; i++)
		if (add_to_stream(p, p->pending[i].type, p->pending[i].data, p->pending[i].n))
			return fail_write(err, errno);
	drop_pending(p);
	return 0;
}

/* ---- adding ----------------------------------------------------------------- */

/* Is the object in the repository or this pack already? If not, record that this pack has it. */
static bool known(struct ga_pack *p, const git_oid *id)
{
	struct ga_oid oid = ga_from_git_oid(id);

	if (ga_oidmap_get(&p->have, &oid, NULL) || ga_odb_has(p->r, id))
		return true;
	(void)ga_oidmap_add(&p->have, &oid, 0);
	return false;
}

static bool fits_in_memory(const struct ga_pack *p, size_t n)
{
	return (p->n_pending < PENDING_MAX && n <= PENDING_BYTES &&
		p->pending_bytes <= PENDING_BYTES - n) ||
	       ga_batch_has_room(p->r, p->n_pending + 1, p->pending_bytes + n);
}

int ga_pack_add(struct ga_pack *p, git_object_t type, const void *data, size_t n,
		struct ga_oid *ret, struct ga_error *err)
{
	git_oid id;

	if (git_odb_hash(&id, data, n, type))
		return ga_fail_git(err, "cannot hash a %s", git_object_type2string(type));
	*ret = ga_from_git_oid(&id);
	if (known(p, &id))
		return 0;
	if (p->fd < 0 && fits_in_memory(p, n)) {
		GA_GROW(p->pending, p->n_pending, p->cap_pending);
		p->pending[p->n_pending++] = (struct ga_packed){ type, *ret,
								ga_memdup(data, n), n };
		p->pending_bytes += n;
		return 0;
	}
	if (open_stream(p, err))
		return -1;
	return add_to_stream(p, type, data, n) ? fail_write(err, errno) : 0;
}

int ga_pack_add_blob(struct ga_pack *p, const void *data, size_t n, struct ga_oid *ret,
		     struct ga_error *err)
{
	return ga_pack_add(p, GIT_OBJECT_BLOB, data, n, ret, err);
}

/* ---- large files -------------------------------------------------------------- */

static int sink_write(git_odb_stream *s, const char *data, size_t n)
{
	struct ga_pack *p = (struct ga_pack *)((char *)s - offsetof(struct ga_pack, stream));

	return put_deflated(p, data, n, false);
}

static int sink_finalize(git_odb_stream *s, const git_oid *id)
{
	struct ga_pack *p = (struct ga_pack *)((char *)s - offsetof(struct ga_pack, stream));

	(void)id;
	return put_deflated(p, "", 0, true);
}

static void sink_free(git_odb_stream *s)
{
	(void)s;
}

static int sink_open(git_odb_stream **ret, git_odb_backend *b, git_object_size_t size,
		     git_object_t type)
{
	struct ga_pack *p = (struct ga_pack *)((char *)b - offsetof(struct ga_pack, backend));

	if (put_header(p, type, size))
		return -1;
	p->stream = (git_odb_stream){
		.backend = b,
		.mode = GIT_STREAM_WRONLY,
		.write = sink_write,
		.finalize_write = sink_finalize,
		.free = sink_free,
	};
	*ret = &p->stream;
	return 0;
}

static void backend_free(git_odb_backend *b)
{
	(void)b;
}

static int open_sink(struct ga_pack *p, struct ga_error *err)
{
	if (p->sink)
		return 0;
	if (git_odb_init_backend(&p->backend, GIT_ODB_BACKEND_VERSION))
		return ga_fail_git(err, "cannot stream objects");
	p->backend.writestream = sink_open;
	p->backend.free = backend_free;
	if (git_odb_new(&p->sink) || git_odb_add_backend(p->sink, &p->backend, 1))
		return ga_fail_git(err, "cannot stream objects");
	return 0;
}

/* Read `n` bytes, less only at the end of the file. Returns -1 with errno. */
static ssize_t read_full(int fd, char *buf, size_t n)
{
	size_t have = 0;

	while (have < n) {
		ssize_t got = read(fd, buf + have, n - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		have += (size_t)got;
	}
	return (ssize_t)have;
}

static int changed_size(struct ga_error *err)
{
	return ga_fail(err, GA_EFATAL, "a file changed its size while it was read");
}

static int check_end(int fd, struct ga_error *err)
{
	char c;
	ssize_t got = read_full(fd, &c, 1);

	if (got < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read a file");
	return got ? changed_size(err) : 0;
}

static int stream_bytes(git_odb_stream *s, int fd, uint64_t size, bool may_grow,
			struct ga_error *err)
{
	cleanup_free char *buf = ga_malloc(CHUNK);

	while (size) {
		size_t want = size < CHUNK ? (size_t)size : CHUNK;
		ssize_t got = read_full(fd, buf, want);

		if (got < 0)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot read a file");
		if ((size_t)got < want)
			return changed_size(err);
		if (git_odb_stream_write(s, buf, want))
			return fail_write(err, errno);
		size -= want;
	}
	return may_grow ? 0 : check_end(fd, err);
}

static int stream_blob(struct ga_pack *p, int fd, uint64_t size, bool may_grow, git_oid *ret,
		       struct ga_error *err)
{
	git_odb_stream *s = NULL;
	int rc;

	if (git_odb_open_wstream(&s, p->sink, size, GIT_OBJECT_BLOB))
		return ga_fail_git(err, "cannot stream an object");
	rc = stream_bytes(s, fd, size, may_grow, err);
	git_error_clear();
	/* if it detects a collision it returns 0 but sets the error */
	if (!rc && (git_odb_stream_finalize_write(ret, s) || ga_collided()))
		rc = ga_fail_git(err, "cannot stream an object");
	git_odb_stream_free(s);
	return rc;
}

/* The id is known only once the object is written. If it was not needed, or its file changed
 * meanwhile, it is removed again. */
static int add_streamed(struct ga_pack *p, int fd, uint64_t size, bool may_grow,
			struct ga_oid *ret, struct ga_error *err)
{
	uint64_t start;
	git_oid id;
	int rc;

	if (open_stream(p, err) || open_sink(p, err))
		return -1;
	start = p->size;
	rc = stream_blob(p, fd, size, may_grow, &id, err);
	if (!rc && p->count == UINT32_MAX)
		rc = fail_write(err, EFBIG);
	if (rc && rewind_to(p, start)) {
		int e = errno;

		ga_error_release(err);
		git_error_clear();
		return fail_write(err, e);
	}
	if (rc)
		return -1;
	*ret = ga_from_git_oid(&id);
	if (known(p, &id))
		return rewind_to(p, start) ? fail_write(err, errno) : 0;
	p->count++;
	return 0;
}

int ga_pack_add_blob_fd(struct ga_pack *p, int fd, uint64_t size, bool may_grow,
			struct ga_oid *ret, struct ga_error *err)
{
	cleanup_free char *buf = NULL;
	ssize_t got;

	if (size > STREAM_FROM)
		return add_streamed(p, fd, size, may_grow, ret, err);
	/* one byte more, to notice a file that grew */
	buf = ga_malloc((size_t)size + 1);
	got = read_full(fd, buf, (size_t)size + !may_grow);
	if (got < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read a file");
	if ((uint64_t)got != size)
		return changed_size(err);
	return ga_pack_add_blob(p, buf, (size_t)size, ret, err);
}

/* ---- finishing ---------------------------------------------------------------- */

static int append(git_indexer *ix, struct ga_sha *sum, const void *data, size_t n,
		  struct ga_error *err)
{
	git_indexer_progress stats = { 0 };

	if (sum)
		ga_sha_add(sum, data, n);
	if (git_indexer_append(ix, data, n, &stats))
		return ga_fail_git(err, "cannot index new objects");
	return 0;
}

/* Feed the indexer. The header says how many objects follow, which is known only now: it is
 * replaced as they pass, and the checksum computed over what is passed on. */
static int feed(struct ga_pack *p, git_indexer *ix, struct ga_error *err)
{
	cleanup_free char *buf = ga_malloc(OUT_SIZE);
	unsigned char header[HEADER_SIZE] = "PACK", sum[GA_SHA1_RAWSZ];
	uint32_t version = htonl(2), count = htonl(p->count);
	struct ga_sha s;
	ssize_t got;

	memcpy(header + 4, &version, sizeof(version));
	memcpy(header + 8, &count, sizeof(count));
	ga_sha1_init(&s);
	if (append(ix, &s, header, sizeof(header), err))
		return -1;
	if (lseek(p->fd, HEADER_SIZE, SEEK_SET) < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read new objects");
	while ((got = read_full(p->fd, buf, OUT_SIZE)) > 0)
		if (append(ix, &s, buf, (size_t)got, err))
			return -1;
	if (got < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read new objects");
	ga_sha_end(&s, sum);
	return append(ix, NULL, sum, sizeof(sum), err);
}

static int index_stream(struct ga_pack *p, struct ga_error *err)
{
	git_indexer_progress stats = { 0 };
	git_indexer_options opts;
	git_indexer *ix = NULL;
	int rc;

	if (flush(p))
		return fail_write(err, errno);
	/* not synced here, but when pack and index are moved into the repository */
	rc = git_indexer_options_init(&opts, GIT_INDEXER_OPTIONS_VERSION) ||
	     git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 0) ||
	     git_indexer_new(&ix, p->q->packs, 0444, NULL, &opts);
	if (git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1) || rc) {
		git_indexer_free(ix);
		return ga_fail_git(err, "cannot index new objects");
	}
	rc = feed(p, ix, err);
	if (!rc && git_indexer_commit(ix, &stats))
		rc = ga_fail_git(err, "cannot index new objects");
	git_indexer_free(ix);
	return rc;
}

/* Write the objects that wait in memory: into the batch, or as a pack. */
static int write_pending(struct ga_pack *p, struct ga_strv *keeps, struct ga_error *err)
{
	const size_t n = p->n_pending;

	if (!n)
		return 0;
	if (ga_batch_has_room(p->r, n, p->pending_bytes)) {
		for (size_t i = 0; i < n; i++)
			ga_batch_add(p->r, p->pending[i].type, &p->pending[i].oid,
				     p->pending[i].data, p->pending[i].n);
		return 0;
	}
	if (ga_write_pack(p->r, p->pending, n, keeps, err))
		return -1;
	return ga_odb_refresh(p->r) ? ga_fail_git(err, "cannot read the new objects") : 0;
}

int ga_pack_commit(struct ga_pack *p, char **ret_keep, struct ga_error *err)
{
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;

	if (p->count) {
		if (index_stream(p, err) || ga_quarantine_migrate(p->r, p->q, &keeps, err))
			return -1;
	} else if (write_pending(p, &keeps, err)) {
		return -1;
	}
	*ret_keep = keeps.n ? ga_strdup(keeps.v[0]) : NULL;
	ga_pack_free(p);
	return 0;
}
