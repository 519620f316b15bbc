/* SPDX-License-Identifier: MIT
 *
 * The report as the JSON object of docs/json.md.
 */
#include "ga/base/json.h"
#include "ga/repo/history.h"
#include "ga/risk/risk.h"
#include "review-internal.h"

/* The members that all flags have; the caller may add more. */
static json_t *flag_json(const struct ga_flag *f)
{
	json_t *o = json_object();

	ga_json_set_bytes(o, "id", f->rule);
	ga_json_set(o, "also", ga_json_strv(&f->also));
	ga_json_set(o, "severity", json_string(ga_severity_name(f->severity)));
	ga_json_set_bytes(o, "category", f->category);
	ga_json_set_bytes(o, "path", f->path);
	ga_json_set_bytes(o, "reason", f->reason);
	return o;
}

static json_t *place_flags_json(const struct ga_flags *stored, const char *place)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	json_t *a = json_array();

	review_flags_inside(stored, place, &flags);
	for (size_t i = 0; i < flags.n; i++)
		ga_json_add(a, flag_json(&flags.v[i]));
	return a;
}

json_t *review_left_json(const struct ga_report *r)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	const struct ga_leftovers *l = &r->left;
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

	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];
		json_t *o;

		if (f->left)
			continue;
		o = flag_json(f);
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
	    ga_diff_stat(repo, &r->base, review_end(r), &stat, err))
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
	ga_json_set(o, "left_behind", review_left_json(r));
	ga_json_set(o, "left_out", ga_report_paths_json(&r->left_out));
	ga_json_set(o, "notes", ga_json_strv(&r->notes));
	ga_json_set(o, "checks", ga_report_checks_json(&r->checks));
	ga_json_set(o, "limits", ga_json_strv(&r->limits));
	ga_json_set(o, "unkept", ga_json_strv(&r->unkept));
	return o;
}
