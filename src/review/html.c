/* SPDX-License-Identifier: MIT
 *
 * The review as one HTML page, without scripts and with nothing to be fetched. Text that the agent
 * could have chosen stands in the content of elements only, never in tags or attributes. It is
 * escaped twice: as for a terminal, so that nothing in it is invisible or changes the direction of
 * writing, and then as HTML. Should something slip through all the same, the page's policy allows
 * nothing but the style below, by its hash.
 */
#include <inttypes.h>
#include <string.h>

#include "ga/diff.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/sha.h"
#include "ga/strmap.h"
#include "html.h"
#include "review-diff.h"

#define COMMITS_SHOWN 200
#define FLAGS_SHOWN 2000 /* of the flags that do not block; the others are all shown */
#define FILES_SHOWN 2000
#define LEFT_SHOWN 200
/* Files after so many are folded, unless they are flagged. */
#define OPEN_FILES 50

static const char style[] =
    ":root{color-scheme:light dark;--line:#8884;--old:#f002;--new:#0a02;--meta:#8882}\n"
    "body{font:15px/1.45 system-ui,sans-serif;max-width:75em;margin:2em auto;padding:0 1em}\n"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin:1.8em 0 .5em}\n"
    "code,pre,.t{font-family:ui-monospace,monospace;font-size:13px}\n"
    "table{border-collapse:collapse}\n"
    "th,td{text-align:left;vertical-align:top;padding:.25em .6em;border-bottom:1px solid "
    "var(--line);overflow-wrap:break-word}\n"
    "th,td:first-child{white-space:nowrap}code{overflow-wrap:anywhere}\n"
    "pre{margin:0;padding:.5em;overflow-x:auto;tab-size:8}\n"
    "pre span{display:inline-block;min-width:100%}\n"
    ".o{background:var(--old)}.n{background:var(--new)}.h{background:var(--meta)}\n"
    ".k{color:#07a}.x{font-style:italic}\n"
    ".s3,.s2,.s1,.s0{border-radius:.3em;padding:0 .4em;font-weight:600}\n"
    ".s3{background:#c00;color:#fff}.s2{background:#e80;color:#000}.s1{background:#fd4;color:#000}"
    ".s0{background:#8884}\n"
    "details{border:1px solid var(--line);border-radius:.4em;margin:.6em 0}\n"
    "summary{padding:.4em .6em;cursor:pointer}.f{padding:.1em 1em}\n";

/* ---- text ---------------------------------------------------------------- */

/* Put text that is escaped for a terminal already. */
static void put_safe(struct ga_buf *out, const char *safe)
{
	static const char special[] = "&<>\"'";
	static const char *const entities[] = { "amp", "lt", "gt", "quot", "#39" };

	for (const char *p = safe; *p; p++) {
		const char *at = strchr(special, *p);

		if (at)
			ga_buf_addf(out, "&%s;", entities[at - special]);
		else
			ga_buf_addch(out, *p);
	}
}

void html_put_bytes(struct ga_buf *out, const char *s, size_t n)
{
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;

	ga_quote_add(&safe, s, n);
	put_safe(out, safe.ptr);
}

static void put_path(struct ga_buf *out, const char *path)
{
	cleanup_free char *q = ga_quote(path);

	put_safe(out, q);
}

void html_put_words(struct ga_buf *out, const struct ga_strv *words)
{
	cleanup_free char *line = ga_quote_shell_words(words);

	html_put_bytes(out, line, strlen(line));
}

static void put_severity(struct ga_buf *out, enum ga_severity s)
{
	ga_buf_addf(out, "<span class=\"s%d\">%s</span>", (int)s, ga_severity_name(s));
}

static void put_title(struct ga_buf *out, const char *title)
{
	ga_buf_addf(out, "<h2>%s</h2>\n", title);
}

static void put_more(struct ga_buf *out, size_t n, const char *what)
{
	if (n)
		ga_buf_addf(out, "<p>%zu more %s are not shown.</p>\n", n, what);
}

/* ---- beginning ----------------------------------------------------------- */

static void put_head(struct ga_buf *out, const struct ga_session *s)
{
	unsigned char sum[GA_SHA256_RAWSZ];
	cleanup_free char *hash = NULL;
	struct ga_sha sha;

	ga_sha256_init(&sha);
	ga_sha_add(&sha, style, sizeof(style) - 1);
	ga_sha_end(&sha, sum);
	hash = ga_base64(sum, sizeof(sum));
	ga_buf_addf(out,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n"
		    "<meta name=\"referrer\" content=\"no-referrer\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Session ",
		    hash);
	html_put_bytes(out, s->name, strlen(s->name));
	ga_buf_addf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

static void put_row(struct ga_buf *out, const char *name)
{
	ga_buf_addf(out, "<tr><th>%s</th><td>", name);
}

static void put_command(struct ga_buf *out, const char *name, const struct ga_strv *words)
{
	if (!words->n)
		return;
	put_row(out, name);
	ga_buf_adds(out, "<code>");
	html_put_words(out, words);
	ga_buf_adds(out, "</code></td></tr>\n");
}

static void put_oid(struct ga_buf *out, const char *name, const struct ga_oid *oid)
{
	put_row(out, name);
	if (ga_oid_is_zero(oid))
		ga_buf_adds(out, "none</td></tr>\n");
	else
		ga_buf_addf(out, "<code>%s</code></td></tr>\n", GA_HEX(oid));
}

static void put_summary(struct ga_buf *out, const struct ga_session *s, const struct ga_report *r,
			size_t files, size_t commits)
{
	const char *branch = ga_ref_branch(s->id.onto_ref);
	size_t open = ga_report_open(r);

	ga_buf_adds(out, "<h1>Session ");
	html_put_bytes(out, s->name, strlen(s->name));
	ga_buf_addf(out, "</h1>\n<table>\n<tr><th>state</th><td>%s</td></tr>\n",
		    ga_state_name(s->state));
	put_command(out, "command", &r->command);
	put_command(out, "resumed with", &s->run.resumed_with);
	put_oid(out, "base", &r->base);
	if (branch) {
		put_row(out, "started on");
		put_path(out, branch);
		ga_buf_adds(out, "</td></tr>\n");
	}
	put_oid(out, "branch", &r->tip);
	put_row(out, "changes");
	ga_buf_addf(out, "%zu commit%s, %zu file%s</td></tr>\n", commits, commits == 1 ? "" : "s",
		    files, files == 1 ? "" : "s");
	put_row(out, "to decide");
	ga_buf_addf(out, "%zu open flag%s</td></tr>\n</table>\n", open, open == 1 ? "" : "s");
}

/* ---- lists --------------------------------------------------------------- */

static void put_reason(struct ga_buf *out, const char *reason)
{
	cleanup_buf struct ga_buf safe = GA_BUF_INIT;

	ga_quote_add_text(&safe, reason, strcspn(reason, "\n"));
	put_safe(out, safe.ptr);
}

static void put_past(struct ga_buf *out, const struct ga_past_flag *p)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (!ga_past_any(p))
		return;
	ga_past_text(p, &text);
	ga_buf_adds(out, "<br>");
	put_safe(out, text.ptr);
}

static void put_flags(struct ga_buf *out, const struct ga_report *r, const struct ga_past *past)
{
	cleanup_flag_lines struct ga_flag_lines lines = { NULL, 0, 0 };
	size_t minor = 0, hidden = 0;

	ga_flag_lines(r, &lines);
	put_title(out, "Flags");
	if (!lines.n) {
		ga_buf_adds(out, "<p>None.</p>\n");
		return;
	}
	ga_buf_adds(out, "<table>\n<tr><th>severity</th><th>path</th><th>why</th><th>rule</th>"
			 "<th>state</th></tr>\n");
	for (size_t i = 0; i < lines.n; i++) {
		const struct ga_report_flag *f = &r->flags[lines.v[i].first];

		if (!ga_report_flag_blocks(f) && ++minor > FLAGS_SHOWN) {
			hidden++;
			continue;
		}
		ga_buf_adds(out, "<tr><td>");
		put_severity(out, f->severity);
		ga_buf_adds(out, "</td><td><code>");
		put_safe(out, lines.v[i].path);
		ga_buf_adds(out, "</code></td><td>");
		put_reason(out, lines.v[i].reason);
		put_past(out, &past->v[lines.v[i].first]);
		ga_buf_adds(out, "</td><td>");
		html_put_bytes(out, f->id, strlen(f->id));
		ga_buf_addf(out, "</td><td>%s</td></tr>\n", review_flag_state(f));
	}
	ga_buf_adds(out, "</table>\n");
	put_more(out, hidden, "flags");
}

static void put_commits(struct ga_buf *out, const struct review_commits *c)
{
	size_t first = c->n > COMMITS_SHOWN ? c->n - COMMITS_SHOWN : 0;

	if (!c->n)
		return;
	put_title(out, "Commits");
	put_more(out, first, "commits before these");
	ga_buf_adds(out, "<table>\n");
	for (size_t i = first; i < c->n; i++) {
		const struct review_commit *v = &c->v[i];

		ga_buf_addf(out, "<tr><td class=\"t\">%.12s</td><td class=\"t\">%s</td><td>",
			    GA_HEX(&v->id), v->date ? v->date : "");
		html_put_bytes(out, v->author, strlen(v->author));
		ga_buf_adds(out, "</td><td>");
		html_put_bytes(out, v->subject, strlen(v->subject));
		ga_buf_adds(out, "</td></tr>\n");
	}
	ga_buf_adds(out, "</table>\n");
}

static void put_paths(struct ga_buf *out, const char *title, const struct ga_strv *paths)
{
	if (!paths->n)
		return;
	put_title(out, title);
	ga_buf_adds(out, "<ul>\n");
	for (size_t i = 0; i < paths->n && i < FILES_SHOWN; i++) {
		ga_buf_adds(out, "<li><code>");
		put_path(out, paths->v[i]);
		ga_buf_adds(out, "</code></li>\n");
	}
	ga_buf_adds(out, "</ul>\n");
	put_more(out, paths->n > FILES_SHOWN ? paths->n - FILES_SHOWN : 0, "paths");
}

static void put_held(struct ga_buf *out, const struct ga_changes *held)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	for (size_t i = 0; i < held->n; i++)
		ga_strv_push(&paths, held->v[i].path);
	put_paths(out, "Held back: not on the branch until accepted", &paths);
}

static void put_left(struct ga_buf *out, const struct ga_report *r)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	size_t n;

	if (!r->left.n)
		return;
	n = review_put_places(&text, false, r, true, LEFT_SHOWN);
	put_title(out, "Left behind, in the session until it is dropped");
	ga_buf_adds(out, "<pre>");
	put_safe(out, text.ptr);
	ga_buf_adds(out, "</pre>\n");
	put_more(out, n > LEFT_SHOWN ? n - LEFT_SHOWN : 0, "places");
}

static void put_notes(struct ga_buf *out, const char *title, const struct ga_strv *notes)
{
	if (!notes->n)
		return;
	put_title(out, title);
	ga_buf_adds(out, "<ul>\n");
	for (size_t i = 0; i < notes->n; i++) {
		cleanup_buf struct ga_buf safe = GA_BUF_INIT;

		/* they were quoted when they were made, but the report is input */
		ga_quote_add_text(&safe, notes->v[i], strcspn(notes->v[i], "\n"));
		ga_buf_adds(out, "<li>");
		put_safe(out, safe.ptr);
		ga_buf_adds(out, "</li>\n");
	}
	ga_buf_adds(out, "</ul>\n");
}

static int put_files(struct ga_repo *repo, const struct ga_changes *changes, struct ga_buf *out,
		     struct ga_error *err)
{
	size_t n = changes->n < FILES_SHOWN ? changes->n : FILES_SHOWN, read = 0;

	if (!n)
		return 0;
	put_title(out, "Files");
	ga_buf_addf(out, "<details%s><summary>%zu file%s</summary>\n<table>\n",
		    changes->n > OPEN_FILES ? "" : " open", changes->n, changes->n == 1 ? "" : "s");
	for (size_t i = 0; i < n; i++) {
		struct ga_diff_lines l;

		if (ga_diff_count(repo, &changes->v[i], &read, &l, err))
			return -1;
		if (l.additions < 0)
			ga_buf_addf(out, "<tr><td>%s</td><td><code>", review_no_lines(&l));
		else
			ga_buf_addf(out, "<tr><td>+%" PRId64 " -%" PRId64 "</td><td><code>",
				    l.additions, l.deletions);
		put_path(out, changes->v[i].path);
		ga_buf_adds(out, "</code></td></tr>\n");
	}
	ga_buf_adds(out, "</table>\n");
	put_more(out, changes->n - n, "files");
	ga_buf_adds(out, "</details>\n");
	return 0;
}

/* ---- the diff ------------------------------------------------------------ */

struct page {
	struct review_diff diff; /* first: the functions of a form get a pointer to it */
	const struct ga_report *report;
	struct ga_strmap flags;  /* indices of flags by path: they stand above its diff */
	bool in_pre;
};

static void index_flags(struct page *p)
{
	const struct ga_report *r = p->report;

	for (size_t i = 0; i < r->n_flags; i++)
		if (!ga_report_flag_of_place(&r->flags[i]))
			ga_strmap_add(&p->flags, r->flags[i].path, strlen(r->flags[i].path),
				      (uint32_t)i);
}

static void end_pre(struct review_diff *d)
{
	struct page *p = (struct page *)d;

	if (p->in_pre)
		ga_buf_adds(&d->out->text, "</pre>\n");
	p->in_pre = false;
}

static void section(struct review_diff *d, const char *title)
{
	end_pre(d);
	put_title(&d->out->text, title);
}

static void begin_file(struct review_diff *d, const struct ga_change *c)
{
	const struct page *p = (const struct page *)d;
	cleanup_buf struct ga_buf flags = GA_BUF_INIT;
	int32_t at = ga_strmap_first(&p->flags, c->path, strlen(c->path));
	struct ga_buf *out = &d->out->text;

	for (; at >= 0; at = p->flags.nodes[at].next) {
		const struct ga_report_flag *f = &p->report->flags[p->flags.nodes[at].value];

		ga_buf_adds(&flags, "<div class=\"f\">");
		put_severity(&flags, f->severity);
		ga_buf_addch(&flags, ' ');
		put_reason(&flags, f->reason);
		ga_buf_addf(&flags, " (%s)</div>\n", review_flag_state(f));
	}
	ga_buf_addf(out, "<details%s><summary><code>",
		    flags.len || d->n++ < OPEN_FILES ? " open" : "");
	put_path(out, c->path);
	ga_buf_addf(out, "</code></summary>\n%s", flags.ptr);
}

static void line(struct review_diff *d, enum review_line kind, const char *safe)
{
	static const char *const classes[] = {
		[REVIEW_META] = "h", [REVIEW_HUNK] = "k", [REVIEW_NEW] = "n",
		[REVIEW_OLD] = "o",  [REVIEW_CONTEXT] = "", [REVIEW_NOTE] = "x",
	};
	struct page *p = (struct page *)d;
	struct ga_buf *out = &d->out->text;

	if (!p->in_pre)
		ga_buf_adds(out, "<pre>");
	p->in_pre = true;
	if (*classes[kind])
		ga_buf_addf(out, "<span class=\"%s\">", classes[kind]);
	put_safe(out, safe);
	ga_buf_adds(out, *classes[kind] ? "</span>\n" : "\n");
}

static void end_file(struct review_diff *d)
{
	end_pre(d);
	ga_buf_adds(&d->out->text, "</details>\n");
}

static int put_diff(struct ga_repo *repo, const struct ga_report *r, struct ga_out *out,
		    struct ga_error *err)
{
	static const struct review_form form = {
		.section = section, .begin = begin_file, .line = line, .end = end_file};
	static const struct ga_review_opts plain;
	struct page p = {.diff = {.repo = repo,
				  .form = &form,
				  .opts = &plain,
				  .out = out},
			 .report = r,
			 .flags = GA_STRMAP_INIT};
	int rc;

	put_title(&out->text, "Diff");
	index_flags(&p);
	rc = review_diff_all(&p.diff, r, err);
	end_pre(&p.diff);
	ga_strmap_release(&p.flags);
	return rc;
}

/* ---- all of it ----------------------------------------------------------- */

int ga_report_html(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		   struct ga_out *out, struct ga_error *err)
{
	cleanup_(review_commits_release) struct review_commits commits = {NULL, 0};
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT, held = GA_CHANGES_INIT;
	cleanup_past struct ga_past past = GA_PAST_INIT;
	cleanup_strv struct ga_strv checks = GA_STRV_INIT;
	struct ga_oid old, new, under, on_top;
	struct ga_buf *b = &out->text;
	int rc;

	if (review_trees(repo, r, &old, &new, err) ||
	    ga_tree_diff(repo, &old, &new, &changes, err) ||
	    review_commits_read(repo, &r->base, &r->tip, &commits, err) ||
	    ga_report_past(repo, r, &r->tip, &past, err) ||
	    review_held(repo, r, &under, &on_top, &held, err))
		return -1;
	put_head(b, s);
	put_summary(b, s, r, changes.n, commits.n);
	ga_report_checks(&r->checks, &checks);
	put_notes(b, "Checks", &checks);
	put_flags(b, r, &past);
	put_held(b, &held);
	put_paths(b, "Uncommitted changes", &r->left_out);
	put_left(b, r);
	put_notes(b, "Notes", &r->notes);
	if (html_put_timeline(s, b, err))
		return -1;
	put_commits(b, &commits);
	if (put_files(repo, &changes, b, err))
		return -1;
	rc = put_diff(repo, r, out, err);
	if (rc)
		return rc;
	ga_buf_adds(b, "</body>\n</html>\n");
	return ga_out_flush(out, err);
}
