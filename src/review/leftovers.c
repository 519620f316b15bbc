/* SPDX-License-Identifier: MIT
 *
 * Render leftovers, and the report as the JSON object of docs/json.md.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/json.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/risk/risk.h"
#include "review-internal.h"

static void put_size(struct ga_buf *out, uint64_t bytes)
{
	cleanup_free char *text = ga_size_about(bytes);

	ga_buf_adds(out, text);
}

static void put_place(struct ga_buf *out, const struct ga_leftover *l)
{
	cleanup_free char *q = ga_quote(l->path);

	ga_buf_addf(out, "  %-10s %s (%" PRIu64 " %s, ", ga_leftover_kind_name(l->kind), q,
		    l->count, l->count == 1 ? "file" : "files");
	put_size(out, l->bytes);
	ga_buf_adds(out, ")\n");
}

/* ---- flags of places -------------------------------------------------------- */

/* Sort paths so that a directory is followed by everything beneath it. */
static int rank(char c)
{
	return c == '/' ? 1 : c ? (unsigned char)c + 1 : 0;
}

static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return rank(*a) - rank(*b);
}

static int compare_flags(const void *a, const void *b)
{
	return compare_paths(((const struct ga_flag *)a)->path, ((const struct ga_flag *)b)->path);
}

static void sort_flags(struct ga_flags *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare_flags);
}

/* Index of the first flag whose path is `path`, or lies in it. */
static size_t first_flag(const struct ga_flags *f, const char *path)
{
	size_t from = 0, to = f->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (compare_paths(f->v[mid].path, path) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

static void add_flag(struct ga_flags *ret, const struct ga_flag *f)
{
	struct ga_flag copy = *f;

	copy.path = ga_strdup(f->path);
	copy.reason = ga_strdup(f->reason);
	copy.also = (struct ga_strv)GA_STRV_INIT;
	ga_strv_extend(&copy.also, &f->also);
	GA_GROW(ret->v, ret->n, ret->cap);
	ret->v[ret->n++] = copy;
}

/* Add the flags that a place raises by its name and kind, beyond those stored for its path. */
static void add_own(const struct ga_flags *stored, const struct ga_leftover *line,
		    struct ga_flags *ret)
{
	cleanup_flags struct ga_flags own = GA_FLAGS_INIT, have = GA_FLAGS_INIT;
	bool severe = false;

	for (size_t i = first_flag(stored, line->path);
	     i < stored->n && !strcmp(stored->v[i].path, line->path); i++) {
		severe |= ga_flag_is_severe_in_place(&stored->v[i]);
		add_flag(&have, &stored->v[i]);
	}
	ga_classify_place(line->path, line->kind, severe, &own);
	for (size_t i = 0; i < own.n; i++)
		if (!ga_flags_have(&have, own.v[i].rule, own.v[i].path))
			add_flag(ret, &own.v[i]);
}

void review_left_flags(const struct ga_report *r, struct ga_flags *ret)
{
	cleanup_flags struct ga_flags own = GA_FLAGS_INIT;

	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];

		if (f->left)
			add_flag(ret, &(struct ga_flag){ .rule = f->id, .category = f->category,
							 .severity = f->severity, .path = f->path,
							 .reason = f->reason, .also = f->also });
	}
	sort_flags(ret);
	for (size_t i = 0; i < r->left.n; i++)
		add_own(ret, &r->left.v[i], &own);
	for (size_t i = 0; i < own.n; i++)
		add_flag(ret, &own.v[i]);
	sort_flags(ret);
}

/* Flags of a place: a line of the report, or a directory that covers several lines. */
static void flags_of_place(const struct ga_flags *all, const char *place, struct ga_flags *ret)
{
	for (size_t i = first_flag(all, place);
	     i < all->n && ga_path_inside(all->v[i].path, place); i++)
		add_flag(ret, &all->v[i]);
	ga_flags_sort(ret);
}

void review_place_flags(const struct ga_flags *all, const char *place, struct ga_flags *ret)
{
	cleanup_strv struct ga_strv seen = GA_STRV_INIT;
	size_t n = 0;

	flags_of_place(all, place, ret);
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->v[i].severity < GA_HIGH || ga_strv_has(&seen, ret->v[i].rule)) {
			ga_flag_release(&ret->v[i]);
			continue;
		}
		ga_strv_push(&seen, ret->v[i].rule);
		ret->v[n++] = ret->v[i];
	}
	ret->n = n;
}

size_t review_put_places(struct ga_buf *out, const struct ga_report *r, size_t max)
{
	cleanup_(ga_leftovers_release) struct ga_leftovers groups = GA_LEFTOVER_INIT;
	cleanup_flags struct ga_flags stored = GA_FLAGS_INIT;

	review_left_flags(r, &stored);
	ga_leftovers_group(&r->left, &groups);
	for (size_t i = 0; i < groups.n && i < max; i++) {
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

		put_place(out, &groups.v[i]);
		review_place_flags(&stored, groups.v[i].path, &flags);
		if (flags.n)
			ga_buf_addf(out, "%*s%zu %s\n", 13, "", flags.n,
				    flags.n == 1 ? "flag" : "flags");
	}
	return groups.n;
}

/* The members that all flags have; the caller may add more. */
static json_t *flag_json(const char *id, enum ga_severity s, const char *category,
			 const struct ga_strv *also, const char *path, const char *reason)
{
	json_t *o = json_object();

	ga_json_set_bytes(o, "id", id);
	ga_json_set(o, "also", ga_json_strv(also));
	ga_json_set(o, "severity", json_string(ga_severity_name(s)));
	ga_json_set_bytes(o, "category", category);
	ga_json_set_bytes(o, "path", path);
	ga_json_set_bytes(o, "reason", reason);
	return o;
}

static json_t *place_flags_json(const struct ga_flags *stored, const char *place)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	json_t *a = json_array();

	flags_of_place(stored, place, &flags);
	for (size_t i = 0; i < flags.n; i++) {
		const struct ga_flag *f = &flags.v[i];

		ga_json_add(a, flag_json(f->rule, f->severity, f->category, &f->also, f->path,
					 f->reason));
	}
	return a;
}

/* ---- JSON ----------------------------------------------------------------- */

json_t *review_left_json(const struct ga_report *r, const struct ga_leftovers *l)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	json_t *a = json_array();

	review_left_flags(r, &flags);
	for (size_t i = 0; i < l->n; i++) {
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", l->v[i].path);
		ga_json_set(o, "kind", json_string(ga_leftover_kind_name(l->v[i].kind)));
		ga_json_set(o, "count", json_integer((json_int_t)l->v[i].count));
		ga_json_set(o, "bytes", json_integer((json_int_t)l->v[i].bytes));
		ga_json_set(o, "flags", place_flags_json(&flags, l->v[i].path));
		ga_json_add(a, o);
	}
	return a;
}

static json_t *lines_json(int64_t n)
{
	return n < 0 ? json_null() : json_integer((json_int_t)n);
}

static json_t *files_json(const struct ga_diff_stat *stat)
{
	json_t *a = json_array();

	for (size_t i = 0; i < stat->changes.n; i++) {
		const struct ga_change *c = &stat->changes.v[i];
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", c->path);
		ga_json_set(o, "status", json_string(review_status(c)));
		ga_json_set(o, "additions", lines_json(stat->lines[i].additions));
		ga_json_set(o, "deletions", lines_json(stat->lines[i].deletions));
		ga_json_add(a, o);
	}
	return a;
}

static json_t *commits_json(const struct review_commits *list)
{
	json_t *a = json_array();

	for (size_t i = 0; i < list->n; i++) {
		const struct review_commit *c = &list->v[i];
		json_t *o = json_object();

		ga_json_set_oid(o, "id", &c->id);
		ga_json_set_bytes(o, "author", c->author);
		ga_json_set_bytes(o, "date", c->date);
		ga_json_set_bytes(o, "subject", c->subject);
		ga_json_add(a, o);
	}
	return a;
}

static json_t *past_json(const struct ga_past_flag *p)
{
	json_t *a = json_array();

	for (size_t i = 0; !p->others && i < p->n && i < GA_PAST_COMMITS; i++)
		ga_json_add(a, json_string(GA_HEX(&p->commits[i])));
	return a;
}

static json_t *report_flags_json(const struct ga_report *r, const struct ga_past *past)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];
		json_t *o;

		if (f->left)
			continue;
		o = flag_json(f->id, f->severity, f->category, &f->also, f->path,
			      f->reason);
		ga_json_set(o, "held", json_boolean(f->held));
		ga_json_set(o, "left_behind", json_boolean(f->left));
		ga_json_set(o, "verdict", json_string(ga_verdict_name(f->verdict)));
		ga_json_set(o, "in_commits_only", past_json(&past->v[i]));
		ga_json_add(a, o);
	}
	return a;
}

json_t *ga_report_paths_json(const struct ga_strv *paths)
{
	json_t *a = json_array();

	for (size_t i = 0; i < paths->n; i++) {
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", paths->v[i]);
		ga_json_add(a, o);
	}
	return a;
}

json_t *ga_report_json(struct ga_repo *repo, const struct ga_report *r, struct ga_error *err)
{
	cleanup_facts struct review_facts f = { .past = GA_PAST_INIT };
	cleanup_diff_stat struct ga_diff_stat stat = GA_DIFF_STAT_INIT;
	json_t *o;

	if (review_facts_read(repo, r, &f, err) ||
	    ga_diff_stat(repo, &f.old, &f.new, &stat, err))
		return NULL;
	o = json_object();
	ga_json_set_bytes(o, "session", r->session);
	ga_json_set(o, "command", ga_json_strv(&r->command));
	ga_json_set_oid(o, "base", &r->base);
	ga_json_set_oid(o, "tip", &r->tip);
	ga_json_set_oid(o, "held", &r->held);
	ga_json_set(o, "commits", commits_json(&f.commits));
	ga_json_set(o, "files", files_json(&stat));
	ga_json_set(o, "flags", report_flags_json(r, &f.past));
	ga_json_set(o, "left_behind", review_left_json(r, &r->left));
	ga_json_set(o, "left_out", ga_report_paths_json(&r->left_out));
	ga_json_set(o, "notes", ga_json_strv(&r->notes));
	ga_json_set(o, "checks", ga_report_checks_json(&r->checks));
	ga_json_set(o, "limits", ga_json_strv(&r->limits));
	ga_json_set(o, "unkept", ga_json_strv(&r->unkept));
	return o;
}
