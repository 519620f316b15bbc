/* SPDX-License-Identifier: MIT
 *
 * The user's uncommitted work under another name: files that the agent moved or copied. What a file
 * was made from is determined as git detects renames and copies, with only the carried files as
 * possible origins.
 */
#include "rewrite-internal.h"

#include <string.h>

#include "ga/sha.h"

/* Longer files, and binary ones, are recognised only by their exact content. */
#define TEXT_MAX ((size_t)4 << 20)
/* Limits, for one stand, on what is compared, read and kept in memory; beyond them the answer is
 * that there is too much. git by itself compares as many pairs (diff.renameLimit). */
#define PAIRS_MAX ((uint64_t)1000000)
#define BYTES_MAX ((uint64_t)256 << 20)
#define LINES_MAX ((uint64_t)8 << 20)
#define FILES_MAX ((size_t)10000000)

/* Content with something of the user's in it: a carried version, or what the agent made of one
 * under another name. */
struct origin {
	struct ga_oid blob;
	struct lines lines; /* if it is a text */
	size_t of;          /* index of the carried path */
};

struct origins {
	struct origin *v;
	size_t n, cap;
	struct work {
		struct lines added, removed; /* by the user, since HEAD's version */
	} *works;                            /* for each carried path */
	size_t n_works;
	size_t longest;
	struct ga_oidmap exact;  /* origins by their content */
	struct ga_oidmap judged; /* comparisons made, and their result: 0 or 2 */
	struct ga_oidmap known;  /* what the host has committed */
	bool have_known;
	uint64_t pairs, bytes;   /* compared and read so far ... */
	uint64_t carried, kept;  /* ... bytes read of carried files, and lines in memory */
	bool partial;            /* some origins have no lines, as there were too many */
};

void origins_free(struct origins *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++)
		lines_release(&o->v[i].lines);
	for (size_t i = 0; i < o->n_works; i++) {
		lines_release(&o->works[i].added);
		lines_release(&o->works[i].removed);
	}
	free(o->v);
	free(o->works);
	ga_oidmap_release(&o->exact);
	ga_oidmap_release(&o->judged);
	ga_oidmap_release(&o->known);
	free(o);
}

static bool is_file(const struct ga_entry *e)
{
	return e->mode == GA_MODE_FILE || e->mode == GA_MODE_EXEC;
}

static bool has_content(const struct ga_entry *e)
{
	return is_file(e) || e->mode == GA_MODE_LINK;
}

/* ---- what the user has -------------------------------------------------------------- */

/* Takes ownership of `lines`. */
static void add_origin(struct origins *o, const struct ga_oid *blob, size_t of, struct lines *lines)
{
	if (!ga_oidmap_add(&o->exact, blob, o->n)) {
		lines_release(lines);
		return;
	}
	if (o->longest < lines->bytes)
		o->longest = lines->bytes;
	o->kept += lines->n;
	if (o->kept > LINES_MAX) {
		o->kept -= lines->n;
		o->partial = true;
		lines_release(lines);
	}
	GA_GROW(o->v, o->n, o->cap);
	o->v[o->n++] = (struct origin){ *blob, *lines, of };
	*lines = (struct lines){ 0 };
}

static int read_text(struct range *g, struct origins *o, const struct ga_entry *e,
		     struct lines *ret, struct ga_error *err)
{
	if (!is_file(e))
		return 1;
	if (o->carried > BYTES_MAX || o->partial) {
		o->partial = true;
		return 1;
	}
	if (lines_read(g->r, &e->oid, TEXT_MAX, ret, err) < 0)
		return -1;
	if (ret->n)
		o->carried += ret->bytes;
	return ret->n ? 0 : 1;
}

static int add_carried(struct range *g, struct stand *s, size_t i, struct ga_error *err)
{
	const struct ga_change *c = &s->carried.v[i];
	cleanup_lines struct lines was = { 0 }, is = { 0 };
	struct work *w = &s->origins->works[i];
	int rc;

	/* only the mode is the user's, or there is no content */
	if (!has_content(&c->old) || ga_oid_equal(&c->old.oid, &c->new.oid) ||
	    ga_oid_equal(&c->old.oid, &s->empty))
		return 0;
	rc = read_text(g, s->origins, &c->old, &is, err);
	if (!rc)
		rc = read_text(g, s->origins, &c->new, &was, err);
	if (rc < 0)
		return -1;
	lines_added(&was, &is, &w->added);
	lines_added(&is, &was, &w->removed);
	add_origin(s->origins, &c->old.oid, i, &is);
	return 0;
}

static int need_origins(struct range *g, struct stand *s, struct ga_error *err)
{
	if (s->origins)
		return 0;
	if (ga_blob_id_of("", 0, &s->empty, err))
		return -1;
	s->origins = ga_calloc(1, sizeof(*s->origins));
	s->origins->n_works = s->carried.n;
	s->origins->works = ga_calloc(s->carried.n, sizeof(*s->origins->works));
	for (size_t i = 0; i < s->carried.n; i++)
		if (add_carried(g, s, i, err))
			return -1;
	return 0;
}

/* ---- whose is it? ------------------------------------------------------------------- */

/* Is that content in the commit that is published on? Only asked about what seems to be the
 * user's. */
static int is_known(struct range *g, struct stand *s, const struct ga_oid *blob,
		    struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct origins *o = s->origins;

	if (!o->have_known) {
		if (ga_tree_list(g->r, &s->on_tree, FILES_MAX, &all, err))
			return -1;
		for (size_t i = 0; i < all.n; i++)
			(void)ga_oidmap_add(&o->known, &all.v[i].new.oid, 0);
		o->have_known = true;
	}
	return ga_oidmap_get(&o->known, blob, NULL);
}

/* Is anything of the user's change in it? A copy of HEAD's version would be just as similar. */
static bool shows_work(const struct work *w, const struct lines *lines, const struct lines *own)
{
	if (w->added.n)
		return lines_any(&w->added, lines, own);
	return w->removed.n && !lines_any(&w->removed, lines, own);
}

/* Compare by lines. Returns 1 if it is the user's, made from `*ret_of`; 2 if there is too much to
 * tell. */
static int compare(struct origins *o, const struct origin_query *q, const struct lines *lines,
		   const struct lines *own, size_t *ret_of)
{
	if (o->pairs + o->n > PAIRS_MAX)
		return 2;
	o->pairs += o->n;
	for (size_t i = 0; i < o->n; i++) {
		const struct origin *from = &o->v[i];

		if (from->of == q->but || !from->lines.n ||
		    (!q->followed && !lines_similar(&from->lines, lines)) ||
		    !shows_work(&o->works[from->of], lines, own))
			continue;
		*ret_of = from->of;
		return 1;
	}
	return o->partial ? 2 : 0;
}

static int judge_text(struct range *g, struct origins *o, const struct origin_query *q,
		      struct ga_error *err)
{
	size_t max = q->followed || o->longest > TEXT_MAX / 2 ? TEXT_MAX : 2 * o->longest, of = 0;
	cleanup_lines struct lines lines = { 0 }, own = { 0 };
	int rc;

	if (!max && !o->partial)
		return 0;
	if (o->bytes > BYTES_MAX)
		return 2;
	rc = lines_read(g->r, &q->is->oid, max, &lines, err);
	if (!rc && is_file(q->was) &&
	    lines_read(g->r, &q->was->oid, TEXT_MAX, &own, err) < 0)
		rc = -1;
	/* binary content counts less, since it is only read */
	o->bytes += lines.n ? lines.bytes : lines.bytes / 4;
	o->bytes += own.bytes;
	/* what was the user's may still be, now that it cannot be compared by lines */
	if (rc)
		return rc < 0 ? -1 : q->followed ? 2 : 0;
	rc = compare(o, q, &lines, &own, &of);
	if (rc == 1)
		add_origin(o, &q->is->oid, of, &lines);
	return rc;
}

/* A hash of everything that the answer depends on. */
static struct ga_oid sum_of(const struct origin_query *q)
{
	const struct ga_oid none = { { 0 } };
	unsigned char sum[GA_SHA256_RAWSZ];
	struct ga_sha sha;
	struct ga_oid ret;

	ga_sha256_init(&sha);
	ga_sha_add(&sha, q->is->oid.id, GA_OID_RAWSZ);
	ga_sha_add(&sha, is_file(q->was) ? q->was->oid.id : none.id, GA_OID_RAWSZ);
	ga_sha_add(&sha, &q->but, sizeof(q->but));
	ga_sha_add(&sha, &q->followed, sizeof(q->followed));
	ga_sha_end(&sha, sum);
	memcpy(ret.id, sum, GA_OID_RAWSZ);
	return ret;
}

/* Ask each question once, not for each commit that has the file: what is found to be the user's is
 * recognised by its content afterwards, and everything else was published with that answer. */
static int judge_once(struct range *g, struct origins *o, const struct origin_query *q,
		      struct ga_error *err)
{
	struct ga_oid sum = sum_of(q);
	size_t was;
	int rc;

	if (ga_oidmap_get(&o->judged, &sum, &was))
		return (int)was;
	rc = judge_text(g, o, q, err);
	if (rc == 0 || rc == 2)
		(void)ga_oidmap_add(&o->judged, &sum, (size_t)rc);
	return rc;
}

int judge_origin(struct range *g, struct stand *s, const struct origin_query *q,
		 struct ga_error *err)
{
	size_t i;
	int rc = 0;

	if (need_origins(g, s, err))
		return -1;
	if (!has_content(q->is) || ga_oid_equal(&q->is->oid, &s->empty))
		return 0;
	if (ga_oidmap_get(&s->origins->exact, &q->is->oid, &i))
		rc = s->origins->v[i].of != q->but;
	else if (is_file(q->is))
		rc = judge_once(g, s->origins, q, err);
	if (rc == 1) {
		rc = is_known(g, s, &q->is->oid, err);
		return rc < 0 ? -1 : !rc;
	}
	return rc;
}

int ga_rewrite_shows(struct ga_repo *r, const struct ga_entry *with,
		     const struct ga_entry *without, const struct ga_entry *is,
		     uint64_t *left, struct ga_error *err)
{
	cleanup_lines struct lines a = { 0 }, b = { 0 }, in = { 0 }, added = { 0 };
	const struct lines none = { 0 };
	int rc;

	if (!is_file(with) || !is_file(without) || !is_file(is) ||
	    ga_oid_equal(&with->oid, &without->oid) || ga_oid_equal(&is->oid, &without->oid))
		return 0;
	if (left && !*left)
		return 1;
	rc = lines_read(r, &with->oid, TEXT_MAX, &a, err);
	if (!rc)
		rc = lines_read(r, &without->oid, TEXT_MAX, &b, err);
	if (!rc)
		rc = lines_read(r, &is->oid, TEXT_MAX, &in, err);
	if (left) {
		uint64_t cost = (uint64_t)a.bytes + b.bytes + in.bytes;

		rc = rc < 0 ? -1 : rc || cost > *left;
		*left -= cost < *left ? cost : *left;
	}
	if (rc)
		return rc;
	lines_added(&b, &a, &added);
	return lines_any(&added, &in, &none);
}

int origin_is_known(struct range *g, struct stand *s, const struct ga_oid *blob,
		    struct ga_error *err)
{
	/* load it first, since only an empty map is filled with what the host has */
	if (need_origins(g, s, err) || is_known(g, s, blob, err) < 0)
		return -1;
	(void)ga_oidmap_add(&s->origins->known, blob, 0);
	return 0;
}
