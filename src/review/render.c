/* SPDX-License-Identifier: MIT
 *
 * The report as the JSON object of docs/json.md.
 */
#include "ga/base/json.h"
#include "ga/repo/diff.h"
#include "review-internal.h"

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

static json_t *flags_json(const struct ga_report *r, const struct ga_past *past)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_flags; i++) {
		const struct ga_report_flag *f = &r->flags[i];
		json_t *o;

		if (f->left)
			continue;
		o = review_flag_json(f->id, f->severity, f->category, &f->also, f->path,
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
	cleanup_(review_commits_release) struct review_commits commits = {NULL, 0};
	cleanup_diff_stat struct ga_diff_stat stat = GA_DIFF_STAT_INIT;
	cleanup_past struct ga_past past = GA_PAST_INIT;
	struct ga_oid old, new;
	json_t *o;

	if (review_trees(repo, r, &old, &new, err) || ga_diff_stat(repo, &old, &new, &stat, err) ||
	    review_commits_read(repo, &r->base, &r->tip, &commits, err) ||
	    ga_report_past(repo, r, &r->tip, &past, err))
		return NULL;
	o = json_object();
	ga_json_set_bytes(o, "session", r->session);
	ga_json_set(o, "command", ga_json_strv(&r->command));
	ga_json_set_oid(o, "base", &r->base);
	ga_json_set_oid(o, "tip", &r->tip);
	ga_json_set_oid(o, "held", &r->held);
	ga_json_set(o, "commits", commits_json(&commits));
	ga_json_set(o, "files", files_json(&stat));
	ga_json_set(o, "flags", flags_json(r, &past));
	ga_json_set(o, "left_behind", review_left_json(r, &r->left));
	ga_json_set(o, "left_out", ga_report_paths_json(&r->left_out));
	ga_json_set(o, "notes", ga_json_strv(&r->notes));
	ga_json_set(o, "checks", ga_report_checks_json(&r->checks));
	ga_json_set(o, "limits", ga_json_strv(&r->limits));
	ga_json_set(o, "unkept", ga_json_strv(&r->unkept));
	return o;
}
