/* SPDX-License-Identifier: MIT
 *
 * What was left behind: a line for each place, and all of it file by file.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/json.h"
#include "ga/quote.h"
#include "ga/risk.h"
#include "review-internal.h"

void review_put_size(struct ga_buf *out, uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	uint64_t tenths = bytes < UINT64_MAX / 10 ? bytes * 10 : UINT64_MAX;
	size_t u = 0;

	if (bytes < 1024) {
		ga_buf_addf(out, "%" PRIu64 " bytes", bytes);
		return;
	}
	for (tenths /= 1024; tenths >= 10240 && u + 1 < GA_NELEMS(units); u++)
		tenths /= 1024;
	ga_buf_addf(out, "%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[u]);
}

void review_put_left(struct ga_buf *out, const struct ga_left *l)
{
	cleanup_free char *q = ga_quote(l->path);

	ga_buf_addf(out, "  %-10s %s (%" PRIu64 " %s, ", ga_left_kind_name(l->kind), q,
		    l->count, l->count == 1 ? "file" : "files");
	review_put_size(out, l->bytes);
	ga_buf_adds(out, ")\n");
}

/* What its name says; a directory nobody could look into is a directory. */
static void flags_of(const struct ga_left_file *f, const struct ga_host_facts *facts,
		     struct ga_flags *ret)
{
	bool dir = f->mode ? S_ISDIR(f->mode) : f->kind != GA_LEFT_SPECIAL;

	ga_classify_path(facts, f->path, dir, ret);
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

	review_put_size(&size, f->bytes);
	ga_buf_addf(out, "  %12s  %s", size.ptr, q);
	if (f->kind != GA_LEFT_IGNORED)
		ga_buf_addf(out, " (%s)", ga_left_kind_name(f->kind));
	else if (S_ISLNK(f->mode))
		ga_buf_adds(out, " (symlink)");
	ga_buf_addch(out, '\n');
	for (size_t i = 0; i < flags->n; i++) {
		const struct ga_flag *g = &flags->v[i];

		ga_buf_adds(out, "                  ");
		review_paint(out, colour, review_severity_colour(g->severity),
			     ga_severity_name(g->severity));
		ga_buf_adds(out, ": ");
		ga_quote_add_text(out, g->reason, strcspn(g->reason, "\n"));
		ga_buf_addf(out, " [%s]\n", g->rule);
	}
}

void ga_left_text(const struct ga_report *r, const struct ga_left_files *files,
		  const struct ga_host_facts *facts, bool colour, struct ga_buf *out)
{
	cleanup_(ga_left_release) struct ga_left_list groups = GA_LEFT_INIT;

	if (!files->n) {
		ga_buf_adds(out, "nothing was left behind\n");
		return;
	}
	ga_left_group(&r->left, &groups);
	review_paint(out, colour, RC_BOLD, "left behind, in the session until it is dropped");
	ga_buf_addch(out, '\n');
	for (size_t i = 0; i < groups.n; i++)
		review_put_left(out, &groups.v[i]);
	ga_buf_addch(out, '\n');
	review_paint(out, colour, RC_BOLD, "files");
	ga_buf_addch(out, '\n');
	for (size_t i = 0; i < files->n; i++) {
		cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

		flags_of(&files->v[i], facts, &flags);
		put_file(out, &files->v[i], colour, &flags);
	}
	ga_buf_addf(out, "\nnext: git agent land --with-ignored PATH %s\n", r->session);
}

/* ---- JSON ----------------------------------------------------------------- */

json_t *review_left_json(const struct ga_left_list *l)
{
	json_t *a = json_array();

	for (size_t i = 0; i < l->n; i++) {
		json_t *o = json_object();

		ga_json_set_bytes(o, "path", l->v[i].path);
		(void)json_object_set_new(o, "kind", json_string(ga_left_kind_name(l->v[i].kind)));
		(void)json_object_set_new(o, "count", json_integer((json_int_t)l->v[i].count));
		(void)json_object_set_new(o, "bytes", json_integer((json_int_t)l->v[i].bytes));
		(void)json_array_append_new(a, o);
	}
	return a;
}

static json_t *flags_json(const struct ga_flags *flags)
{
	json_t *a = json_array();

	for (size_t i = 0; i < flags->n; i++) {
		const struct ga_flag *f = &flags->v[i];
		json_t *o = json_object();

		ga_json_set_bytes(o, "id", f->rule);
		(void)json_object_set_new(o, "severity",
					  json_string(ga_severity_name(f->severity)));
		ga_json_set_bytes(o, "category", f->category);
		ga_json_set_bytes(o, "reason", f->reason);
		(void)json_array_append_new(a, o);
	}
	return a;
}

static json_t *file_json(const struct ga_left_file *f, const struct ga_host_facts *facts)
{
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;
	cleanup_free char *mode = ga_strf("%04o", (unsigned)(f->mode & 07777));
	json_t *o = json_object();

	flags_of(f, facts, &flags);
	ga_json_set_bytes(o, "path", f->path);
	(void)json_object_set_new(o, "kind", json_string(ga_left_kind_name(f->kind)));
	(void)json_object_set_new(o, "type", json_string(type_name(f->mode)));
	(void)json_object_set_new(o, "mode", f->mode ? json_string(mode) : json_null());
	(void)json_object_set_new(o, "bytes", json_integer((json_int_t)f->bytes));
	(void)json_object_set_new(o, "flags", flags_json(&flags));
	return o;
}

json_t *ga_left_json(const struct ga_report *r, const struct ga_left_files *files,
		     const struct ga_host_facts *facts)
{
	cleanup_(ga_left_release) struct ga_left_list groups = GA_LEFT_INIT;
	json_t *o = json_object(), *a = json_array();

	ga_left_group(&r->left, &groups);
	ga_json_set_bytes(o, "session", r->session);
	(void)json_object_set_new(o, "groups", review_left_json(&groups));
	for (size_t i = 0; i < files->n; i++)
		(void)json_array_append_new(a, file_json(&files->v[i], facts));
	(void)json_object_set_new(o, "files", a);
	return o;
}
