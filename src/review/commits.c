/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/review/review.h"
#include "review-internal.h"

/* Limit on the commits that are read: more than a user could review. */
#define COMMITS_MAX 100000
/* Bytes of a name or a subject: agents can make these megabytes long, at little cost in a pack */
#define TEXT_MAX ((size_t)1000)
/* 31 December 9999: the last day with a four-digit year */
#define SECONDS_MAX 253402300799

static void review_commits_release(struct review_commits *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].author);
		free(c->v[i].date);
		free(c->v[i].subject);
	}
	free(c->v);
	*c = (struct review_commits){NULL, 0};
}

/* "+0130" in seconds. */
static bool parse_zone(const char *s, int64_t *ret)
{
	uint64_t hhmm;

	if ((*s != '+' && *s != '-') || strlen(s) != 5 || !ga_parse_u64(s + 1, 2359, &hhmm) ||
	    hhmm % 100 > 59)
		return false;
	*ret = (int64_t)(hhmm / 100 * 3600 + hhmm % 100 * 60);
	if (*s == '-')
		*ret = -*ret;
	return true;
}

/* `when` is "SECONDS ZONE", the end of an author line. */
static char *iso_date(const char *when)
{
	size_t n = strcspn(when, " ");
	cleanup_free char *number = ga_strndup(when, n);
	const char *zone = when[n] ? when + n + 1 : "";
	uint64_t seconds;
	int64_t offset;
	struct tm tm;
	time_t t;

	if (!ga_parse_u64(number, SECONDS_MAX, &seconds) || !parse_zone(zone, &offset))
		return NULL;
	t = (time_t)((int64_t)seconds + offset);
	if (!gmtime_r(&t, &tm))
		return NULL;
	return ga_strf("%04d-%02d-%02dT%02d:%02d:%02d%.3s:%.2s", tm.tm_year + 1900, tm.tm_mon + 1,
		       tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, zone, zone + 3);
}

static char *bounded(const char *text, size_t n)
{
	size_t shown = ga_utf8_cut(text, n, TEXT_MAX);
	cleanup_free char *cut = ga_strndup(text, shown);

	return ga_strf("%s%s", cut, shown < n ? "..." : "");
}

static void describe(const struct ga_commit *c, struct review_commit *ret)
{
	const char *end = strrchr(c->author, '>'), *m = c->message;

	ret->author = bounded(c->author, end ? (size_t)(end - c->author) + 1 : strlen(c->author));
	ret->date = end && end[1] == ' ' ? iso_date(end + 2) : NULL;
	while (*m == '\n')
		m++;
	ret->subject = bounded(m, strcspn(m, "\n"));
}

/* None if there is no tip. */
static int read_commits(struct ga_repo *repo, const struct ga_oid *base, const struct ga_oid *tip,
			struct review_commits *ret, struct ga_error *err)
{
	cleanup_(review_commits_release) struct review_commits list = {NULL, 0};
	cleanup_free struct ga_oid *ids = NULL;
	size_t n = 0;

	if (ga_oid_is_zero(tip))
		return 0;
	if (ga_rev_list(repo, tip, 1, base, 1, COMMITS_MAX, &ids, &n, err))
		return -1;
	list.v = ga_calloc(n + 1, sizeof(*list.v));
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit c = {.parents = NULL};

		if (ga_commit_read(repo, &ids[i], &c, err))
			return -1;
		list.v[i].id = ids[i];
		describe(&c, &list.v[i]);
		list.n++;
	}
	*ret = list;
	list = (struct review_commits){NULL, 0};
	return 0;
}

const char *review_no_lines(const struct ga_diff_lines *l)
{
	return l->additions == GA_DIFF_NOT_COUNTED ? "not counted" : "binary";
}

const char *review_flag_state(const struct ga_flag *f)
{
	if (f->verdict != GA_VERDICT_OPEN)
		return ga_verdict_name(f->verdict);
	return f->held ? "held" : "open";
}

const struct ga_oid *review_end(const struct ga_report *r)
{
	return ga_oid_is_zero(&r->tip) ? &r->base : &r->tip;
}

int ga_review_fetch(struct ga_repo *repo, const struct ga_report *r, struct ga_error *err)
{
	if (ga_diff_fetch(repo, &r->base, review_end(r), err))
		return -1;
	return ga_oid_is_zero(&r->held) ? 0 : ga_diff_fetch(repo, &r->base, &r->held, err);
}

int review_held(struct ga_repo *repo, const struct ga_report *r, struct ga_changes *ret,
		struct ga_error *err)
{
	cleanup_commit struct ga_commit c = {.parents = NULL};

	if (ga_oid_is_zero(&r->held))
		return 0;
	if (ga_commit_read(repo, &r->held, &c, err))
		return -1;
	/* compared with its parent, not with the tip: the branch may have moved since */
	return ga_tree_diff(repo, c.n_parents ? &c.parents[0] : &r->base, &c.tree, ret, err);
}

/* ---- what only commits between have ---- */

#define PAST_SCANNED 100000  /* commits */
#define PAST_LOOKUPS 200000  /* paths looked up in them, in all */

void ga_past_release(struct ga_past *p)
{
	free(p->v);
	*p = (struct ga_past)GA_PAST_INIT;
}

struct ends {
	struct ga_entry base, tip;
};

/* Mark the flags whose content the tip does not have as unknown; returns how many, or -1. */
static int list_gone(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *tip,
		     struct ga_past *p, struct ends *ends, struct ga_error *err)
{
	struct ga_oid base_tree, tree;
	int n = 0;

	if (ga_commit_tree(repo, &r->base, &base_tree, err) ||
	    ga_commit_tree(repo, tip, &tree, err))
		return -1;
	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];

		if (!*f->path || f->held || f->left || f->verdict == GA_VERDICT_ACCEPTED ||
		    f->entry.mode == GA_MODE_NONE)
			continue;
		if (ga_tree_entry(repo, &base_tree, f->path, &ends[i].base, err) ||
		    ga_tree_entry(repo, &tree, f->path, &ends[i].tip, err))
			return -1;
		p->v[i].unknown = !ga_entry_equal(&ends[i].tip, &f->entry);
		p->v[i].others = p->v[i].unknown;
		n += p->v[i].unknown;
	}
	return n;
}

/* Note `commit` for each marked flag whose path it has. A report names a rule once for a path, with
 * one of the versions that the path had, so a commit counts with any but those of base and tip. */
static int find_in_commit(struct ga_repo *repo, const struct ga_report *r,
			  const struct ga_oid *commit, const struct ends *ends, struct ga_past *p,
			  struct ga_error *err)
{
	struct ga_oid tree;

	if (ga_commit_tree(repo, commit, &tree, err))
		return -1;
	for (size_t i = 0; i < r->flags.n; i++) {
		struct ga_past_flag *at = &p->v[i];
		struct ga_entry had;

		if (!at->unknown)
			continue;
		if (ga_tree_entry(repo, &tree, r->flags.v[i].path, &had, err))
			return -1;
		if (ga_entry_equal(&had, &r->flags.v[i].entry))
			at->others = false;
		if (had.mode == GA_MODE_NONE || had.mode == GA_MODE_TREE ||
		    ga_entry_equal(&had, &ends[i].base) || ga_entry_equal(&had, &ends[i].tip))
			continue;
		if (at->n < GA_PAST_COMMITS)
			at->commits[at->n] = *commit;
		at->n++;
	}
	return 0;
}

int ga_report_past(struct ga_repo *repo, const struct ga_report *r, const struct ga_oid *tip,
		   struct ga_past *ret, struct ga_error *err)
{
	cleanup_free struct ends *ends = ga_calloc(r->flags.n + 1, sizeof(*ends));
	cleanup_free struct ga_oid *commits = NULL;
	size_t n = 0;
	int gone, rc;

	ga_past_release(ret);
	ret->v = ga_calloc(r->flags.n + 1, sizeof(*ret->v));
	ret->n = r->flags.n;
	if (ga_oid_is_zero(tip))
		return 0;
	gone = list_gone(repo, r, tip, ret, ends, err);
	if (gone <= 0)
		return gone;
	rc = ga_rev_list_bounded(repo, tip, 1, &r->base, 1, PAST_SCANNED, &commits, &n, err);
	if (rc || n > PAST_LOOKUPS / (size_t)gone)
		return rc < 0 ? -1 : 0;
	for (size_t i = 0; i < n; i++)
		if (find_in_commit(repo, r, &commits[i], ends, ret, err))
			return -1;
	for (size_t i = 0; i < ret->n; i++)
		ret->v[i].unknown = false;
	return 0;
}

void review_facts_release(struct review_facts *f)
{
	review_commits_release(&f->commits);
	ga_past_release(&f->past);
}

int review_facts_read(struct ga_repo *repo, const struct ga_report *r, struct review_facts *ret,
		      struct ga_error *err)
{
	return read_commits(repo, &r->base, &r->tip, &ret->commits, err) ||
	       ga_report_past(repo, r, &r->tip, &ret->past, err) ? -1 : 0;
}

bool ga_past_any(const struct ga_past_flag *p)
{
	return p->n || p->unknown;
}

void ga_past_text(const struct ga_past_flag *p, struct ga_buf *out)
{
	if (p->unknown)
		ga_buf_adds(out, "not at the tip; maybe in commits before it: too many to read");
	else if (p->others)
		ga_buf_adds(out, "in no commit in this version; others in earlier commits:");
	else
		ga_buf_adds(out, "in earlier commits only:");
	for (size_t i = 0; i < p->n && i < GA_PAST_COMMITS; i++)
		ga_buf_addf(out, " %.12s", GA_HEX(&p->commits[i]));
	if (p->n > GA_PAST_COMMITS)
		ga_buf_addf(out, " and %zu more", p->n - GA_PAST_COMMITS);
	if (!p->unknown && !p->others)
		ga_buf_adds(out, "; 'git agent land --squash' leaves them out");
}
