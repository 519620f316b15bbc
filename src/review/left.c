/* SPDX-License-Identifier: MIT
 *
 * Leftovers in the session: a line for each place, or all of it file by file.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/json.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/risk/risk.h"
#include "review-internal.h"

/* As "1.5 MiB". */
static void put_size(struct ga_buf *out, uint64_t bytes)
{
	cleanup_free char *text = ga_size_about(bytes);

	ga_buf_adds(out, text);
}

static void put_place(struct ga_buf *out, const struct ga_left *l)
{
	cleanup_free char *q = ga_quote(l->path);

	ga_buf_addf(out, "  %-10s %s (%" PRIu64 " %s, ", ga_left_kind_name(l->kind), q,
		    l->count, l->count == 1 ? "file" : "files");
	put_size(out, l->bytes);
	ga_buf_adds(out, ")\n");
}

/* ---- flags of places -------------------------------------------------------- */

static int compare_flags(const void *a, const void *b)
{
	const struct ga_report_flag *const *x = a, *const *y = b;
	int c = strcmp((*x)->path, (*y)->path);

	return c ? c : strcmp((*x)->id, (*y)->id);
}

void review_left_flags(const struct ga_report *r, struct review_left_flags *ret)
{
	ret->v = ga_calloc(r->n_flags + 1, sizeof(*ret->v));
	ret->n = 0;
	for (size_t i = 0; i < r->n_flags; i++)
		if (r->flags[i].left)
			ret->v[ret->n++] = &r->flags[i];
	if (ret->n)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare_flags);
}

void review_left_flags_release(struct review_left_flags *f)
{
	free(f->v);
}

/* Index of the first flag whose path does not sort before `path`. */
static size_t first_flag(const struct review_left_flags *f, const char *path)
{
	size_t from = 0, to = f->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (strcmp(f->v[mid]->path, path) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* The next flag of `place` or a path below it, after `*pos` (first SIZE_MAX); NULL: no more. Paths
 * below it do not follow it at once in the order of bytes: "a-b" comes between "a" and "a/b". */
static const struct ga_report_flag *next_flag(const struct review_left_flags *f, const char *place,
					      size_t *pos)
{
	cleanup_free char *below = ga_strf("%s/", place);
	size_t i = *pos == SIZE_MAX ? first_flag(f, place) : *pos + 1;

	if (i < f->n && strcmp(f->v[i]->path, place) != 0 &&
	    strncmp(f->v[i]->path, below, strlen(below)) != 0)
		i = *pos == SIZE_MAX || !strcmp(f->v[*pos]->path, place) ? first_flag(f, below) :
									   f->n;
	*pos = i;
	return i < f->n && ga_path_inside(f->v[i]->path, place) ? f->v[i] : NULL;
}

static bool has_flag(const struct ga_flags *flags, size_t from, const char *rule, const char *path)
{
	for (size_t i = from; i < flags->n; i++)
		if (!strcmp(flags->v[i].rule, rule) && !strcmp(flags->v[i].path, path))
			return true;
	return false;
}

static void add_flag(struct ga_flags *ret, const struct ga_report_flag *f)
{
	GA_GROW(ret->v, ret->n, ret->cap);
	ret->v[ret->n] = (struct ga_flag){ .rule = f->id, .category = f->category,
					   .severity = f->severity, .path = ga_strdup(f->path),
					   .reason = ga_strdup(f->reason) };
	ga_strv_extend(&ret->v[ret->n++].also, &f->also);
}

/* Move the flags of `more` to `ret`, except for those that `ret` has at `from` or after it. */
static void add_new(struct ga_flags *ret, size_t from, struct ga_flags *more)
{
	for (size_t i = 0; i < more->n; i++) {
		if (has_flag(ret, from, more->v[i].rule, more->v[i].path)) {
			ga_flag_release(&more->v[i]);
			continue;
		}
		GA_GROW(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = more->v[i];
	}
	more->n = 0;
}

static int compare_place(const void *key, const void *place)
{
	return strcmp(key, ((const struct ga_left *)place)->path);
}

/* Index of the first line whose path does not sort before `path`. */
static size_t first_line(const struct ga_left_list *l, const char *path)
{
	size_t from = 0, to = l->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;

		if (strcmp(l->v[mid].path, path) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Flags of one line of the report: those stored for its path and paths below it, and those that its
 * own name and kind deserve. */
static void flags_of_line(const struct review_left_flags *stored, const struct ga_left *line,
			  struct ga_flags *ret)
{
	const struct ga_left_file itself = { .path = line->path, .kind = line->kind };
	cleanup_flags struct ga_flags of_itself = GA_FLAGS_INIT;
	const struct ga_report_flag *f;
	size_t pos = SIZE_MAX, from = ret->n;
	bool severe = false;

	while ((f = next_flag(stored, line->path, &pos))) {
		add_flag(ret, f);
		severe |= !strcmp(f->path, line->path) &&
			  ga_flag_is_severe_in_place(&ret->v[ret->n - 1]);
	}
	ga_classify_place(&itself, severe, &of_itself);
	add_new(ret, from, &of_itself);
}

/* Flags of a place: a line of the report, or a directory that stands for several lines. */
static void flags_of_place(const struct ga_report *r, const struct review_left_flags *stored,
			   const char *place, struct ga_flags *ret)
{
	cleanup_free char *below = ga_strf("%s/", place);
	size_t i = first_line(&r->left, place);

	for (; i < r->left.n && !strcmp(r->left.v[i].path, place); i++)
		flags_of_line(stored, &r->left.v[i], ret);
	for (i = first_line(&r->left, below);
	     i < r->left.n && ga_path_inside(r->left.v[i].path, place); i++)
		flags_of_line(stored, &r->left.v[i], ret);
	ga_flags_sort(ret);
}

void review_place_flags(const struct ga_report *r, const struct review_left_flags *stored,
			const char *place, struct ga_flags *ret)
{
	cleanup_strv struct ga_strv seen = GA_STRV_INIT;
	size_t n = 0;

	flags_of_place(r, stored, place, ret);
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
	cleanup_(ga_left_release) struct ga_left_list groups = GA_LEFT_INIT;
	cleanup_(review_left_flags_release) struct review_left_flags stored;

	review_left_flags(r, &stored);
	ga_left_group(&r->left, &groups);
	for (size_t i = 0; i < groups.n && i < max; i++) {
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

		put_place(out, &groups.v[i]);
		review_place_flags(r, &stored, groups.v[i].path, &flags);
		for (size_t k = 0; reasons && k < flags.n; k++)
			put_flag(out, 13, colour, &flags.v[k], groups.v[i].path);
		if (!reasons && flags.n)
			ga_buf_addf(out, "%*s%zu %s\n", 13, "", flags.n,
				    flags.n == 1 ? "flag" : "flags");
	}
	return groups.n;
}

static json_t *flags_json(const struct ga_flags *flags, bool paths)
{
	json_t *a = json_array();

	for (size_t i = 0; i < flags->n; i++) {
		const struct ga_flag *f = &flags->v[i];

		ga_json_add(a, review_flag_json(f->rule, f->severity, f->category, &f->also,
						paths ? f->path : NULL, f->reason));
	}
	return a;
}

static json_t *place_flags_json(const struct ga_report *r, const struct review_left_flags *stored,
				const char *place)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	flags_of_place(r, stored, place, &flags);
	return flags_json(&flags, true);
}

/* ---- flags of files ----------------------------------------------------------- */

/* Does a file lie in a directory that has a line in the report? */
static bool in_place(const struct ga_report *r, const char *path)
{
	cleanup_free char *dir = ga_strdup(path);

	for (char *slash; r->left.n && (slash = strrchr(dir, '/'));) {
		*slash = '\0';
		if (bsearch(dir, r->left.v, r->left.n, sizeof(*r->left.v), compare_place))
			return true;
	}
	return false;
}

/* Add the flag stored for exactly this path that its name would not give again: whose rules make it
 * ignored. */
static void stored_of(const struct review_left_flags *stored, const char *path,
		      struct ga_flags *ret)
{
	for (size_t i = first_flag(stored, path);
	     i < stored->n && !strcmp(stored->v[i]->path, path); i++)
		if (!strcmp(stored->v[i]->id, "ignore-rules-source"))
			add_flag(ret, stored->v[i]);
}

/* Flags of one file. What is said of a place is not repeated for each file in it. */
static void flags_of(const struct ga_report *r, const struct review_left_flags *stored,
		     const struct ga_left_file *f, const struct ga_host_facts *facts,
		     struct ga_flags *ret)
{
	cleanup_flags struct ga_flags found = GA_FLAGS_INIT;
	bool inside = in_place(r, f->path);
	size_t n = 0;

	ga_classify_left(facts, f, &found);
	for (size_t i = 0; i < found.n; i++)
		if (inside && !strcmp(found.v[i].rule, "ignored-executables"))
			ga_flag_release(&found.v[i]);
		else
			found.v[n++] = found.v[i];
	found.n = n;
	stored_of(stored, f->path, ret);
	add_new(ret, 0, &found);
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

static void put_file(struct ga_buf *out, const struct ga_left_file *f, bool colour,
		     const struct ga_flags *flags)
{
	cleanup_buf struct ga_buf size = GA_BUF_INIT;
	cleanup_free char *q = ga_quote(f->path);

	put_size(&size, f->bytes);
	ga_buf_addf(out, "  %12s  %s", size.ptr, q);
	if (f->kind != GA_LEFT_IGNORED)
		ga_buf_addf(out, " (%s)", ga_left_kind_name(f->kind));
	else if (S_ISLNK(f->mode))
		ga_buf_adds(out, " (symlink)");
	ga_buf_addch(out, '\n');
	for (size_t i = 0; i < flags->n; i++)
		put_flag(out, 18, colour, &flags->v[i], f->path);
}

void ga_left_text(const struct ga_report *r, const struct ga_left_files *files,
		  const struct ga_host_facts *facts, bool colour, struct ga_buf *out)
{
	cleanup_(review_left_flags_release) struct review_left_flags stored;

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

json_t *review_left_json(const struct ga_report *r, const struct ga_left_list *l)
{
	cleanup_(review_left_flags_release) struct review_left_flags flags;
	json_t *a = json_array();

	review_left_flags(r, &flags);
	for (size_t i = 0; i < l->n; i++) {
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", l->v[i].path);
		ga_json_set(o, "kind", json_string(ga_left_kind_name(l->v[i].kind)));
		ga_json_set(o, "count", json_integer((json_int_t)l->v[i].count));
		ga_json_set(o, "bytes", json_integer((json_int_t)l->v[i].bytes));
		ga_json_set(o, "flags", place_flags_json(r, &flags, l->v[i].path));
		ga_json_add(a, o);
	}
	return a;
}

static json_t *file_json(const struct ga_report *r, const struct review_left_flags *stored,
			 const struct ga_left_file *f, const struct ga_host_facts *facts)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	cleanup_free char *mode = ga_strf("%04o", (unsigned)(f->mode & 07777));
	json_t *o = json_object();

	flags_of(r, stored, f, facts, &flags);
	ga_json_set_bytes(o, "path", f->path);
	ga_json_set(o, "kind", json_string(ga_left_kind_name(f->kind)));
	ga_json_set(o, "type", json_string(type_name(f->mode)));
	ga_json_set_bytes(o, "mode", f->mode ? mode : NULL);
	ga_json_set(o, "bytes", json_integer((json_int_t)f->bytes));
	ga_json_set(o, "flags", flags_json(&flags, false));
	return o;
}

json_t *ga_left_json(const struct ga_report *r, const struct ga_left_files *files,
		     const struct ga_host_facts *facts)
{
	cleanup_(ga_left_release) struct ga_left_list groups = GA_LEFT_INIT;
	cleanup_(review_left_flags_release) struct review_left_flags stored;
	json_t *o = json_object(), *a = json_array();

	review_left_flags(r, &stored);
	ga_left_group(&r->left, &groups);
	ga_json_set_bytes(o, "session", r->session);
	ga_json_set(o, "groups", review_left_json(r, &groups));
	for (size_t i = 0; i < files->n; i++)
		ga_json_add(a, file_json(r, &stored, &files->v[i], facts));
	ga_json_set(o, "files", a);
	return o;
}
