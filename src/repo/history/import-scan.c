/* SPDX-License-Identifier: MIT
 *
 * Scan a pack before `git index-pack`, which inflates without limits, so that a kilobyte could cost
 * minutes and gigabytes. Each entry declares its size, and each delta also that of its result;
 * these are added up, and no entry is inflated beyond the size it declares. Also refuse what `git
 * index-pack --strict` accepts: modes that fsck only warns about, names that mean ".git" or a
 * special file on some file system, commit headers with characters that a terminal would interpret.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define ZLIB_CONST
#include <zlib.h>

#include "ga/base/clock.h"
#include "ga/base/out.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/import.h"
#include "repo/objects-internal.h"

#define PARENTS_MAX 64
#define COMMIT_MAX ((size_t)4 << 20)

/* Compared as text: a mode such as "0100644" is the same number, but makes another tree. */
static bool mode_ok(const char *p)
{
	static const char *const modes[] = { "100644 ", "100755 ", "120000 ", "40000 ", "160000 " };

	for (size_t i = 0; i < GA_NELEMS(modes); i++)
		if (!strncmp(p, modes[i], strlen(modes[i])))
			return true;
	return false;
}

static const char *judge_name(const struct ga_tree_item *it)
{
	static const char *const special[] = { ".gitmodules", ".gitattributes", ".gitignore",
					       ".mailmap" };

	if (memchr(it->name, '/', it->len))
		return "a name with a slash";
	if (it->len > NAME_MAX)
		return "a name longer than any system takes";
	if (it->len <= 2 && !memcmp(it->name, "..", it->len))
		return "the name of a parent directory";
	if (ga_path_component_is_dotgit(it->name, it->len))
		return "a name that means .git";
	/* git refuses only the first and follows none of them, but other tools follow them */
	if (ga_canonical_mode(it->mode) != GA_MODE_LINK)
		return NULL;
	for (size_t i = 0; i < GA_NELEMS(special); i++)
		if (ga_path_component_folds_to(it->name, it->len, special[i]))
			return "a symbolic link where git wants a file";
	return NULL;
}

static char *describe(const char *what, const struct ga_tree_item *it)
{
	cleanup_free char *name = ga_strndup(it->name, it->len), *q = ga_quote(name);

	return ga_strf("a tree has %s: %s", what, q);
}

char *ga_import_judge_tree(const char *p, size_t n)
{
	const char *end = p + n, *start = p, *bad;
	struct ga_tree_item it, last = { .len = 0 };
	int rc;

	while ((rc = ga_tree_next(&p, end, &it)) > 0) {
		if (!mode_ok(start))
			return describe("a mode git does not write", &it);
		bad = judge_name(&it);
		if (bad)
			return describe(bad, &it);
		if (last.len && ga_path_tree_cmp(last.name, last.len, ga_item_is_tree(&last),
						 it.name, it.len, ga_item_is_tree(&it)) >= 0)
			return describe("entries out of order", &it);
		last = it;
		start = p;
	}
	return rc < 0 ? ga_strdup("a tree is malformed") : NULL;
}

static bool has_control(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((unsigned char)p[i] < 0x20 && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') ||
		    p[i] == 0x7f)
			return true;
	return false;
}

/* Is this a header that must not be continued? A line that begins with a blank continues the header
 * before it. After these, some readers would take it for part of a name or an id, while git ignores
 * it and accepts the commit. */
static bool is_one_line(const char *line, size_t n)
{
	static const char *const names[] = { "tree ", "parent ", "author ", "committer " };

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (n >= strlen(names[i]) && !memcmp(line, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Names and mail addresses may contain control characters: git accepts them, and they are escaped
 * when the commits are rewritten. No other header has a reason to. */
static const char *judge_header(const char *line, size_t n, size_t *parents)
{
	if (n > 7 && !memcmp(line, "parent ", 7))
		return ++*parents > PARENTS_MAX ? "a commit has too many parents" : NULL;
	if ((n > 7 && !memcmp(line, "author ", 7)) || (n > 10 && !memcmp(line, "committer ", 10)))
		return NULL;
	return has_control(line, n) ? "a commit's header has control characters" : NULL;
}

char *ga_import_judge_commit(const char *p, size_t n)
{
	const char *end = p + n, *bad = NULL;
	size_t parents = 0;
	bool one_line = true;

	if (n > COMMIT_MAX)
		return ga_strdup("a commit is too large");
	/* text after a NUL is hashed but never shown */
	if (memchr(p, '\0', n))
		return ga_strdup("a commit has a NUL");
	while (!bad && p < end && *p != '\n') {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		if (!nl)
			return ga_strdup("a commit is malformed");
		if (*p == ' ' && one_line)
			return ga_strdup("a commit's header continues in a second line");
		if (*p != ' ')
			one_line = is_one_line(p, (size_t)(nl - p));
		bad = judge_header(p, (size_t)(nl - p), &parents);
		p = nl + 1;
	}
	return bad ? ga_strdup(bad) : NULL;
}

#define CHUNK ((size_t)64 << 10)
#define TRAILER 20
/* Bytes at the start of a delta that its two sizes fit into. */
#define DELTA_HEAD 20

enum { TYPE_COMMIT = 1, TYPE_TREE, TYPE_BLOB, TYPE_TAG, TYPE_OFS_DELTA = 6, TYPE_REF_DELTA };

struct scan {
	int fd;
	const struct ga_import_limits *l;
	int64_t deadline;
	uint64_t left;           /* bytes not read yet, without the trailer */
	uint64_t total;
	const char *reason;      /* set on refusal ... */
	enum ga_import_over over; /* ... with the limit behind it */
	int errnum;              /* set if reading failed */
	z_stream z;
	size_t pos, len;
	unsigned char buf[CHUNK], out[CHUNK];
};

static bool refuse(struct scan *s, const char *reason)
{
	if (!s->reason)
		s->reason = reason;
	return false;
}

static bool refuse_limit(struct scan *s, enum ga_import_over which, const char *reason)
{
	s->over = which;
	return refuse(s, reason);
}

/* This and the functions below return false on an error or a refusal. */
static bool fill(struct scan *s)
{
	size_t want = s->left < CHUNK ? (size_t)s->left : CHUNK;
	ssize_t got;

	if (s->pos < s->len)
		return true;
	if (!want)
		return refuse(s, "the pack is cut short");
	got = TEMP_FAILURE_RETRY(read(s->fd, s->buf, want));
	if (got < 0)
		s->errnum = errno;
	if (got <= 0)
		return refuse(s, "the pack is cut short");
	s->pos = 0;
	s->len = (size_t)got;
	s->left -= (size_t)got;
	return true;
}

static bool next_byte(struct scan *s, unsigned char *c)
{
	if (!fill(s))
		return false;
	*c = s->buf[s->pos++];
	return true;
}

static bool next_u32(struct scan *s, uint32_t *ret)
{
	unsigned char c;

	*ret = 0;
	for (int i = 0; i < 4; i++) {
		if (!next_byte(s, &c))
			return false;
		*ret = *ret << 8 | c;
	}
	return true;
}

static bool entry_head(struct scan *s, unsigned *type, uint64_t *size)
{
	unsigned char c;
	unsigned shift = 4;

	if (!next_byte(s, &c))
		return false;
	*type = c >> 4 & 7;
	*size = c & 15;
	for (; c & 0x80; shift += 7) {
		if (!next_byte(s, &c))
			return false;
		if (shift > 56)
			return refuse(s, "an object's size is malformed");
		*size |= (uint64_t)(c & 0x7f) << shift;
	}
	return true;
}

static bool skip_delta_base(struct scan *s, unsigned type)
{
	unsigned char c;

	if (type == TYPE_REF_DELTA) {
		for (int i = 0; i < GA_OID_RAWSZ; i++)
			if (!next_byte(s, &c))
				return false;
		return true;
	}
	for (int i = 0; i < 10; i++) {
		if (!next_byte(s, &c))
			return false;
		if (!(c & 0x80))
			return true;
	}
	return refuse(s, "a delta's base is malformed");
}

static bool add_size(struct scan *s, uint64_t size)
{
	if (size > s->l->max_object_bytes)
		return refuse_limit(s, GA_IMPORT_OBJECT_BYTES, "an object is too large");
	/* no overflow: each is within its limit here */
	s->total += size;
	return s->total <= s->l->max_total_bytes ||
	       refuse_limit(s, GA_IMPORT_TOTAL_BYTES, "the objects are too large together");
}

/* Add the size of a delta's result, the second of the two sizes that it begins with. */
static bool delta_result(struct scan *s, const unsigned char *p, size_t n)
{
	uint64_t size = 0;
	size_t i = 0;

	while (i < n && p[i] & 0x80)
		i++;
	i++;
	for (unsigned shift = 0; i < n && shift <= 56; shift += 7, i++) {
		size |= (uint64_t)(p[i] & 0x7f) << shift;
		if (!(p[i] & 0x80))
			return add_size(s, size);
	}
	return refuse(s, "a delta is malformed");
}

/* Inflate one entry, which must come to exactly `size` bytes; its first bytes
 * are kept in `head`. */
static bool inflate_entry(struct scan *s, uint64_t size, unsigned char head[DELTA_HEAD])
{
	uint64_t done = 0;
	int rc;

	if (inflateReset(&s->z) != Z_OK)
		GA_BUG("inflateReset");
	do {
		size_t got;

		if (!fill(s))
			return false;
		s->z.next_in = s->buf + s->pos;
		s->z.avail_in = (uInt)(s->len - s->pos);
		s->z.next_out = s->out;
		s->z.avail_out = CHUNK;
		rc = inflate(&s->z, Z_NO_FLUSH);
		s->pos = s->len - s->z.avail_in;
		got = CHUNK - s->z.avail_out;
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			return refuse(s, "an object cannot be inflated");
		if (got > size - done)
			return refuse(s, "an object is longer than it says");
		if (done < DELTA_HEAD)
			memcpy(head + done, s->out,
			       got < DELTA_HEAD - done ? got : DELTA_HEAD - (size_t)done);
		done += got;
	} while (rc != Z_STREAM_END);
	return done == size || refuse(s, "an object is shorter than it says");
}

static bool scan_entry(struct scan *s)
{
	unsigned char head[DELTA_HEAD];
	unsigned type;
	uint64_t size;
	bool delta;

	if (ga_now_ms() >= s->deadline)
		return refuse_limit(s, GA_IMPORT_TIME, GA_IMPORT_LATE);
	if (!entry_head(s, &type, &size))
		return false;
	delta = type == TYPE_OFS_DELTA || type == TYPE_REF_DELTA;
	if (!delta && type != TYPE_COMMIT && type != TYPE_TREE && type != TYPE_BLOB)
		return refuse(s, type == TYPE_TAG ? "there is a tag object"
						  : "an object is of no known type");
	if (!add_size(s, size) || (delta && !skip_delta_base(s, type)) ||
	    !inflate_entry(s, size, head))
		return false;
	return !delta || delta_result(s, head, size < DELTA_HEAD ? (size_t)size : DELTA_HEAD);
}

static bool scan_pack(struct scan *s, int64_t delay_ms)
{
	uint32_t magic, version, count;
	struct ga_progress p;
	bool ok = true;

	if (!next_u32(s, &magic) || !next_u32(s, &version) || !next_u32(s, &count))
		return false;
	if (magic != 0x5041434b || (version != 2 && version != 3))
		return refuse(s, "it is no pack");
	if (count > s->l->max_objects)
		return refuse_limit(s, GA_IMPORT_OBJECTS, "there are too many objects");
	ga_progress_begin(&p, delay_ms, "Reading the agent's objects", count);
	for (; ok && count; count--) {
		ok = scan_entry(s);
		if (ok)
			ga_progress_step(&p);
	}
	ga_progress_end(&p);
	if (!ok)
		return false;
	return (!s->left && s->pos == s->len) || refuse(s, "something follows the last object");
}

int ga_import_scan(int fd, uint64_t size, const struct ga_import_limits *l, int64_t deadline,
		   int64_t delay_ms, enum ga_import_over *ret_over, char **ret_reason,
		   struct ga_error *err)
{
	cleanup_free struct scan *s = ga_calloc(1, sizeof(*s));
	bool ok;

	s->fd = fd;
	s->l = l;
	s->deadline = deadline;
	s->left = size < TRAILER ? 0 : size - TRAILER;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read a pack");
	if (inflateInit(&s->z) != Z_OK)
		GA_BUG("inflateInit");
	ok = scan_pack(s, delay_ms);
	(void)inflateEnd(&s->z);
	if (ok)
		return 0;
	if (s->errnum)
		return ga_fail_errno(err, GA_EFATAL, s->errnum, "cannot read a pack");
	*ret_over = s->over;
	*ret_reason = ga_strdup(s->reason);
	return 1;
}
