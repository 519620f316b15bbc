/* SPDX-License-Identifier: MIT
 *
 * Render leftovers, by place or by file, and the report as the JSON object of docs/json.md.
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

/* Move the flags of `more` to `ret`, except for those that it has. */
static void add_new(struct ga_flags *ret, struct ga_flags *more)
{
	for (size_t i = 0; i < more->n; i++) {
		if (ga_flags_have(ret, more->v[i].rule, more->v[i].path)) {
			ga_flag_release(&more->v[i]);
			continue;
		}
		GA_GROW(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = more->v[i];
	}
	more->n = 0;
}

/* Add the flags that a place raises by its name and kind, beyond those stored for its path. */
static void add_own(const struct ga_flags *stored, const struct ga_leftover *line,
		    struct ga_flags *ret)
{
	const struct ga_leftover_file itself = { .path = line->path, .kind = line->kind };
	cleanup_flags struct ga_flags own = GA_FLAGS_INIT;
	const size_t first = first_flag(stored, line->path);
	struct ga_flags have = { stored->v + first, 0, 0 };
	bool severe = false;

	while (first + have.n < stored->n && !strcmp(have.v[have.n].path, line->path))
		severe |= ga_flag_is_severe_in_place(&have.v[have.n++]);
	ga_classify_place(&itself, severe, &own);
	for (size_t i = 0; i < own.n; i++)
		if (!ga_flags_have(&have, own.v[i].rule, own.v[i].path))
			ga_flags_copy(ret, &own.v[i]);
}

void review_left_flags(const struct ga_report *r, struct ga_flags *ret)
{
	cleanup_flags struct ga_flags own = GA_FLAGS_INIT;

	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];

		if (f->left)
			ga_flags_copy(ret, f);
	}
	sort_flags(ret);
	for (size_t i = 0; i < r->left.n; i++)
		add_own(ret, &r->left.v[i], &own);
	for (size_t i = 0; i < own.n; i++)
		ga_flags_copy(ret, &own.v[i]);
	sort_flags(ret);
}

/* Flags of a place: a line of the report, or a directory that covers several lines. */
static void flags_of_place(const struct ga_flags *all, const char *place, struct ga_flags *ret)
{
	for (size_t i = first_flag(all, place);
	     i < all->n && ga_path_inside(all->v[i].path, place); i++)
		ga_flags_copy(ret, &all->v[i]);
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

/* Name the flag's path unless it is `of`, the path of the line above. */
static void put_flag(struct ga_buf *out, int indent, bool colour, const struct ga_flag *f,
		     const char *of)
{
	cleanup_free char *q = ga_quote(f->path);
	bool same = !strcmp(f->path, of);

	ga_buf_addf(out, "%*s", indent, "");
	review_paint(out, colour, review_severity_colour(f->severity),
		     ga_severity_name(f->severity));
	ga_buf_adds(out, ": ");
	review_put_reason(out, f->reason, f->rule);
	ga_buf_addf(out, "%s%s\n", same ? "" : " ", same ? "" : q);
}

size_t review_put_places(struct ga_buf *out, bool colour, const struct ga_report *r, bool reasons,
			 size_t max)
{
	cleanup_(ga_leftovers_release) struct ga_leftovers groups = GA_LEFTOVER_INIT;
	cleanup_flags struct ga_flags stored = GA_FLAGS_INIT;

	review_left_flags(r, &stored);
	ga_leftovers_group(&r->left, &groups);
	for (size_t i = 0; i < groups.n && i < max; i++) {
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

		put_place(out, &groups.v[i]);
		review_place_flags(&stored, groups.v[i].path, &flags);
		for (size_t k = 0; reasons && k < flags.n; k++)
			put_flag(out, 13, colour, &flags.v[k], groups.v[i].path);
		if (!reasons && flags.n)
			ga_buf_addf(out, "%*s%zu %s\n", 13, "", flags.n,
				    flags.n == 1 ? "flag" : "flags");
	}
	return groups.n;
}

/* The members that all flags have; the caller may add more. */
static json_t *flag_json(const struct ga_flag *f, bool path)
{
	json_t *o = json_object();

	ga_json_set_bytes(o, "id", f->rule);
	ga_json_set(o, "also", ga_json_strv(&f->also));
	ga_json_set(o, "severity", json_string(ga_severity_name(f->severity)));
	ga_json_set_bytes(o, "category", f->category);
	if (path)
		ga_json_set_bytes(o, "path", f->path);
	ga_json_set_bytes(o, "reason", f->reason);
	return o;
}

static json_t *flags_json(const struct ga_flags *flags, bool paths)
{
	json_t *a = json_array();

	for (size_t i = 0; i < flags->n; i++)
		ga_json_add(a, flag_json(&flags->v[i], paths));
	return a;
}

static json_t *place_flags_json(const struct ga_flags *stored, const char *place)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	flags_of_place(stored, place, &flags);
	return flags_json(&flags, true);
}

/* ---- flags of files ----------------------------------------------------------- */

static int compare_place(const void *key, const void *place)
{
	return strcmp(key, ((const struct ga_leftover *)place)->path);
}

/* Does a file lie in a directory that has a line in the report? */
static bool is_in_listed_dir(const struct ga_report *r, const char *path)
{
	cleanup_free char *dir = ga_strdup(path);

	for (char *slash; r->left.n && (slash = strrchr(dir, '/'));) {
		*slash = '\0';
		if (bsearch(dir, r->left.v, r->left.n, sizeof(*r->left.v), compare_place))
			return true;
	}
	return false;
}

/* Flags of one file, except those of the place it lies in. */
static void flags_of(const struct ga_report *r, const struct ga_flags *stored,
		     const struct ga_leftover_file *f, const struct ga_host_facts *facts,
		     struct ga_flags *ret)
{
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;
	bool inside = is_in_listed_dir(r, f->path);
	size_t n = 0;

	ga_classify_left(facts, f, &found);
	for (size_t i = 0; i < found.n; i++)
		if (inside && !strcmp(found.v[i].rule, "ignored-executables"))
			ga_flag_release(&found.v[i]);
		else
			found.v[n++] = found.v[i];
	found.n = n;
	/* its name would not give this one again: whose rules make it ignored */
	for (size_t i = first_flag(stored, f->path);
	     i < stored->n && !strcmp(stored->v[i].path, f->path); i++)
		if (!strcmp(stored->v[i].rule, "ignore-rules-source"))
			ga_flags_copy(ret, &stored->v[i]);
	add_new(ret, &found);
	ga_flags_sort(ret);
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFLNK:
		return "symlink";
	case S_IFDIR:
		return "directory";
	case 0:
		return "unknown";
	default:
		return "special";
	}
}

/* ---- text ----------------------------------------------------------------- */

static void put_file(struct ga_buf *out, const struct ga_leftover_file *f, bool colour,
		     const struct ga_flags *flags)
{
	cleanup_buf struct ga_buf size = GA_BUF_INIT;
	cleanup_free char *q = ga_quote(f->path);

	put_size(&size, f->bytes);
	ga_buf_addf(out, "  %12s  %s", size.ptr, q);
	if (f->kind != GA_LEFTOVER_IGNORED)
		ga_buf_addf(out, " (%s)", ga_leftover_kind_name(f->kind));
	else if (S_ISLNK(f->mode))
		ga_buf_adds(out, " (symlink)");
	ga_buf_addch(out, '\n');
	for (size_t i = 0; i < flags->n; i++)
		put_flag(out, 18, colour, &flags->v[i], f->path);
}

void ga_leftovers_text(const struct ga_report *r, const struct ga_leftover_files *files,
		       const struct ga_host_facts *facts, bool colour, struct ga_buf *out)
{
	cleanup_flags struct ga_flags stored = GA_FLAGS_INIT;

	review_left_flags(r, &stored);
	if (!files->n) {
		ga_buf_adds(out, "no leftovers\n");
		return;
	}
	review_paint(out, colour, RC_BOLD, "leftovers, in the session until it is dropped");
	ga_buf_addch(out, '\n');
	(void)review_put_places(out, colour, r, true, SIZE_MAX);
	ga_buf_addch(out, '\n');
	review_paint(out, colour, RC_BOLD, "files");
	ga_buf_addch(out, '\n');
	for (size_t i = 0; i < files->n; i++) {
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

		flags_of(r, &stored, &files->v[i], facts, &flags);
		put_file(out, &files->v[i], colour, &flags);
	}
	ga_buf_adds(out, "\nto land one, commit it in the session: git add -f PATH\n");
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

static json_t *file_json(const struct ga_report *r, const struct ga_flags *stored,
			 const struct ga_leftover_file *f, const struct ga_host_facts *facts)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	cleanup_free char *mode = ga_strf("%04o", (unsigned)(f->mode & 07777));
	json_t *o = json_object();

	flags_of(r, stored, f, facts, &flags);
	ga_json_set_bytes(o, "path", f->path);
	ga_json_set(o, "kind", json_string(ga_leftover_kind_name(f->kind)));
	ga_json_set(o, "type", json_string(type_name(f->mode)));
	ga_json_set_bytes(o, "mode", f->mode ? mode : NULL);
	ga_json_set(o, "bytes", json_integer((json_int_t)f->bytes));
	ga_json_set(o, "flags", flags_json(&flags, false));
	return o;
}

json_t *ga_leftovers_json(const struct ga_report *r, const struct ga_leftover_files *files,
			  const struct ga_host_facts *facts)
{
	cleanup_(ga_leftovers_release) struct ga_leftovers groups = GA_LEFTOVER_INIT;
	cleanup_flags struct ga_flags stored = GA_FLAGS_INIT;
	json_t *o = json_object(), *a = json_array();

	review_left_flags(r, &stored);
	ga_leftovers_group(&r->left, &groups);
	ga_json_set_bytes(o, "session", r->session);
	ga_json_set(o, "groups", review_left_json(r, &groups));
	for (size_t i = 0; i < files->n; i++)
		ga_json_add(a, file_json(r, &stored, &files->v[i], facts));
	ga_json_set(o, "files", a);
	return o;
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
		o = flag_json(f, true);
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
	ga_json_set(o, "left_behind", review_left_json(r, &r->left));
	ga_json_set(o, "left_out", ga_report_paths_json(&r->left_out));
	ga_json_set(o, "notes", ga_json_strv(&r->notes));
	ga_json_set(o, "checks", ga_report_checks_json(&r->checks));
	ga_json_set(o, "limits", ga_json_strv(&r->limits));
	ga_json_set(o, "unkept", ga_json_strv(&r->unkept));
	return o;
}
