/* SPDX-License-Identifier: MIT
 *
 * Render the report for a terminal. Aligned columns come first and hold only our own words and
 * numbers; names that the agent chose come last and escaped, so that no name can shift anything.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "review-internal.h"

#define COMMITS_SHOWN 20
#define SUBJECT_SHOWN ((size_t)200) /* bytes */
#define MINOR_FLAGS_SHOWN 20 /* of each of low and medium */
#define FILES_SHOWN 200
#define LEFT_SHOWN 20

struct text {
	struct ga_buf *out;
	bool colour;
};

static void heading(const struct text *t, const char *text)
{
	ga_buf_addch(t->out, '\n');
	review_paint(t->out, t->colour, RC_BOLD, text);
	ga_buf_addch(t->out, '\n');
}

static void more(const struct text *t, size_t n, const char *what)
{
	ga_buf_addf(t->out, "  ... and %zu more %s\n", n, what);
}

static void add_path(const struct text *t, const char *path)
{
	cleanup_free char *q = ga_quote(path);

	ga_buf_adds(t->out, q);
}

static void put_path(const struct text *t, const char *path, const char *remark)
{
	ga_buf_adds(t->out, "  ");
	add_path(t, path);
	ga_buf_addf(t->out, "%s\n", remark);
}

/* ---- header ------------------------------------------------------------- */

static void put_command(const struct text *t, const struct ga_strv *argv)
{
	cleanup_free char *line = ga_quote_shell_words(argv);

	ga_buf_adds(t->out, "  command  ");
	/* escaped as a whole: safe to show matters more than being able to copy it */
	ga_quote_add(t->out, line, strlen(line));
	ga_buf_addch(t->out, '\n');
}

static void put_checks(const struct text *t, const struct ga_report *r)
{
	cleanup_strv struct ga_strv checks = GA_STRV_INIT;

	ga_report_checks(&r->checks, &checks);
	for (size_t i = 0; i < checks.n; i++)
		ga_buf_addf(t->out, "  check    %s\n", checks.v[i]);
}

static void put_header(const struct text *t, const struct ga_session *s, const struct ga_report *r,
		       size_t n_files, size_t n_commits)
{
	cleanup_free char *commits = ga_count(n_commits, "commit", "commits");
	cleanup_free char *files = ga_count(n_files, "file", "files");
	cleanup_free char *title = ga_strf("session %s", s->name);
	const char *branch = ga_ref_branch(s->id.onto_ref);

	review_paint(t->out, t->colour, RC_BOLD, title);
	ga_buf_addf(t->out, " (%s)\n", ga_state_name(s->state));
	put_command(t, &r->command);
	ga_buf_addf(t->out, "  base     %.12s", GA_HEX(&r->base));
	if (branch) {
		ga_buf_adds(t->out, " (");
		add_path(t, branch);
		ga_buf_addch(t->out, ')');
	}
	ga_buf_addch(t->out, '\n');
	if (ga_oid_is_zero(&r->tip))
		ga_buf_adds(t->out, "  branch   none: nothing was committed\n");
	else
		ga_buf_addf(t->out, "  branch   agent/%s at %.12s\n", s->name, GA_HEX(&r->tip));
	ga_buf_addf(t->out, "  changes  %s, %s\n", commits, files);
	put_checks(t, r);
}

static void put_commits(const struct text *t, const struct review_commits *c)
{
	size_t first = c->n > COMMITS_SHOWN ? c->n - COMMITS_SHOWN : 0;

	if (!c->n)
		return;
	heading(t, "commits");
	if (first)
		ga_buf_addf(t->out, "  ... %zu earlier ones, then\n", first);
	for (size_t i = first; i < c->n; i++) {
		const char *subject = c->v[i].subject;
		size_t n = strlen(subject), shown = ga_utf8_cut(subject, n, SUBJECT_SHOWN);

		ga_buf_addf(t->out, "  %.12s ", GA_HEX(&c->v[i].id));
		ga_quote_add(t->out, subject, shown);
		ga_buf_adds(t->out, shown < n ? "...\n" : "\n");
	}
}

/* ---- flags -------------------------------------------------------------- */

static const char *flag_mark(const struct ga_flag *f)
{
	if (f->verdict == GA_VERDICT_ACCEPTED)
		return " (accepted)";
	if (f->verdict == GA_VERDICT_REJECTED)
		return " (rejected)";
	return f->held ? " (held)" : "";
}

static void put_flag(const struct text *t, const struct ga_flag *f,
		     const struct ga_flag_line *l, const struct ga_past_flag *past)
{
	ga_buf_addf(t->out, "    %s%s\n        ", l->path, flag_mark(f));
	review_put_reason(t->out, l->reason, f->rule);
	ga_buf_addch(t->out, '\n');
	if (!ga_past_any(past))
		return;
	ga_buf_adds(t->out, "        ");
	ga_past_text(past, t->out);
	ga_buf_addch(t->out, '\n');
}

/* The flags of one severity. Blocking flags are all shown. */
static void put_severity(const struct text *t, const struct ga_report *r,
			 const struct ga_flag_lines *lines, const struct ga_past *past,
			 enum ga_severity sev, size_t n)
{
	size_t hidden = 0, shown = 0;

	if (!n)
		return;
	ga_buf_adds(t->out, "  ");
	review_paint(t->out, t->colour, review_severity_colour(sev), ga_severity_name(sev));
	ga_buf_addf(t->out, " (%zu)\n", n);
	for (size_t i = 0; i < lines->n; i++) {
		const struct ga_flag *f = &r->flags.v[lines->v[i].first];

		if (f->severity != sev)
			continue;
		if (sev < GA_HIGH && !f->held && shown >= MINOR_FLAGS_SHOWN) {
			hidden++;
			continue;
		}
		put_flag(t, f, &lines->v[i], &past->v[lines->v[i].first]);
		shown++;
	}
	if (hidden)
		ga_buf_addf(t->out, "    ... and %zu more (--format=json has them all)\n", hidden);
}

static void put_flags(const struct text *t, const struct ga_report *r, const struct ga_past *past)
{
	cleanup_flag_lines struct ga_flag_lines lines = { NULL, 0, 0 };
	struct ga_report_counts n;

	ga_report_count(r, &n);
	if (!n.all)
		return;
	heading(t, "flags");
	ga_flag_lines(r, &lines);
	for (int sev = GA_CRITICAL; sev >= GA_LOW; sev--)
		put_severity(t, r, &lines, past, (enum ga_severity)sev, n.severity[sev]);
}

/* ---- what is not on the branch ------------------------------------------ */

static void put_held(const struct text *t, struct ga_report const *r, const struct ga_changes *held)
{
	cleanup_free char *title =
	    ga_strf("held, on " GA_SESSION_REFS "%s/held until accepted", r->session);

	if (!held->n)
		return;
	heading(t, title);
	for (size_t i = 0; i < held->n && i < FILES_SHOWN; i++)
		put_path(t, held->v[i].path, held->v[i].new.mode ? "" : " (deleted)");
	if (held->n > FILES_SHOWN)
		more(t, held->n - FILES_SHOWN, "files");
}

static void put_left(const struct text *t, const struct ga_report *r)
{
	size_t n;

	if (!r->left.n)
		return;
	heading(t, "leftovers, in the session until it is dropped\n"
		   "(git status --ignored lists them in git agent shell)");
	n = review_put_places(t->out, r, LEFT_SHOWN);
	if (n > LEFT_SHOWN)
		more(t, n - LEFT_SHOWN, "places");
}

static void put_left_out(const struct text *t, const struct ga_strv *paths)
{
	if (!paths->n)
		return;
	heading(t, "uncommitted changes: in files that had some of yours, on no branch\n"
		   "(landing applies them, uncommitted)");
	for (size_t i = 0; i < paths->n && i < FILES_SHOWN; i++)
		put_path(t, paths->v[i], "");
	if (paths->n > FILES_SHOWN)
		more(t, paths->n - FILES_SHOWN, "files");
}

static void put_notes(const struct text *t, const struct ga_strv *notes)
{
	if (!notes->n)
		return;
	heading(t, "notes");
	for (size_t i = 0; i < notes->n; i++) {
		ga_buf_adds(t->out, "  ");
		/* they were quoted when they were made, but the report is input */
		ga_quote_add_text(t->out, notes->v[i], strcspn(notes->v[i], "\n"));
		ga_buf_addch(t->out, '\n');
	}
}

/* ---- files -------------------------------------------------------------- */

static void put_file(const struct text *t, const struct ga_change *c, const struct ga_diff_lines *l)
{
	cleanup_free char *add = ga_strf("+%" PRId64, l->additions);
	cleanup_free char *del = ga_strf("-%" PRId64, l->deletions);

	ga_buf_addf(t->out, "  %c ", toupper((unsigned char)*review_status(c)));
	if (l->additions < 0)
		ga_buf_addf(t->out, "%14s  ", review_no_lines(l));
	else
		ga_buf_addf(t->out, "%7s %6s  ", add, del);
	add_path(t, c->path);
	if (c->old.mode && c->new.mode && c->old.mode != c->new.mode)
		ga_buf_addf(t->out, " (mode %06o, was %06o)", c->new.mode, c->old.mode);
	else if (c->new.mode == GA_MODE_LINK || c->new.mode == GA_MODE_GITLINK)
		ga_buf_adds(t->out, c->new.mode == GA_MODE_LINK ? " (symlink)" : " (submodule)");
	ga_buf_addch(t->out, '\n');
}

/* Every file is read even if it is not shown, for the sum in the last line. */
static int put_files(const struct text *t, struct ga_repo *repo, const struct ga_changes *changes,
		     struct ga_out *out, struct ga_error *err)
{
	size_t n = changes->n, read = 0, uncounted = 0;
	int64_t add = 0, del = 0;
	int rc = 0;

	if (!n)
		return 0;
	heading(t, "files");
	for (size_t i = 0; !rc && i < n; i++) {
		struct ga_diff_lines l;

		if (ga_diff_count(repo, &changes->v[i], &read, &l, err))
			return -1;
		add += l.additions > 0 ? l.additions : 0;
		del += l.deletions > 0 ? l.deletions : 0;
		uncounted += l.additions == GA_DIFF_NOT_COUNTED;
		if (i < FILES_SHOWN) {
			put_file(t, &changes->v[i], &l);
			rc = ga_out_offer(out, err);
		}
	}
	if (n > FILES_SHOWN)
		more(t, n - FILES_SHOWN, "files (--format=json has them all)");
	ga_buf_addf(t->out, "  %zu file%s, +%" PRId64 " -%" PRId64, n, n == 1 ? "" : "s", add, del);
	if (uncounted)
		ga_buf_addf(t->out, " without %zu that %s absent or too long to be counted",
			    uncounted, uncounted == 1 ? "is" : "are");
	ga_buf_addch(t->out, '\n');
	return rc;
}

/* ---- next commands ------------------------------------------------------ */

static void put_next(const struct text *t, const struct ga_session *s, const struct ga_report *r,
		     size_t n_files, bool waits)
{
	size_t open = ga_report_open(r);

	ga_buf_addch(t->out, '\n');
	if (open) {
		cleanup_free char *n = ga_count(open, "open flag", "open flags");

		ga_buf_addf(t->out,
			    "next: %s to decide before landing\n"
			    "  git agent review -i %s\n"
			    "  git agent review --accept %s PATH...\n"
			    "  git agent review --reject %s PATH...\n",
			    n, s->name, s->name, s->name);
	} else if (waits) {
		ga_buf_addf(t->out, "next: git agent land --continue %s\n", s->name);
	} else if (s->state != GA_STATE_LANDED && (n_files || r->left_out.n)) {
		ga_buf_addf(t->out, "next: git agent land %s\n", s->name);
	} else if (r->limits.n) {
		/* a session that has landed cannot be captured again, only resumed */
		ga_buf_addf(t->out, "next: git agent %s %s, with other limits\n",
			    s->state == GA_STATE_LANDED ? "resume" : "capture", s->name);
	} else if (r->unkept.n) {
		ga_buf_addf(t->out, "next: git agent resume %s, for commits that are nowhere "
			    "else\n", s->name);
	} else if (s->state == GA_STATE_LANDED) {
		ga_buf_addf(t->out, "next: git agent drop %s\n", s->name);
	} else if (s->id.submodules.n && r->notes.n) {
		/* submodules have reports of their own, which the notes name */
		ga_buf_adds(t->out, "next: nothing to land here\n");
	} else {
		ga_buf_addf(t->out, "next: nothing to land; git agent drop %s\n", s->name);
	}
}

int ga_report_text(struct ga_repo *repo, const struct ga_session *s, const struct ga_report *r,
		   bool waits, bool colour, struct ga_out *out, struct ga_error *err)
{
	cleanup_facts struct review_facts f = { .past = GA_PAST_INIT };
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT, held = GA_CHANGES_INIT;
	const struct text t = {&out->text, colour};
	int rc;

	if (review_facts_read(repo, r, &f, err) ||
	    ga_tree_diff(repo, &r->base, review_end(r), &changes, err) ||
	    review_held(repo, r, &held, err))
		return -1;
	put_header(&t, s, r, changes.n, f.commits.n);
	put_commits(&t, &f.commits);
	put_flags(&t, r, &f.past);
	put_held(&t, r, &held);
	put_left_out(&t, &r->left_out);
	put_left(&t, r);
	put_notes(&t, &r->notes);
	rc = ga_out_flush(out, err);
	if (!rc)
		rc = put_files(&t, repo, &changes, out, err);
	if (rc)
		return rc;
	put_next(&t, s, r, changes.n, waits);
	return ga_out_flush(out, err);
}
