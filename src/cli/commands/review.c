/* SPDX-License-Identifier: MIT */
#include "cli/review.h"
#include "ga/capture/capture.h"
#include "ga/repo/history.h"

/* Apply the verdicts. With a remark, the session keeps what is rejected for its next resume. */
static int cli_decide(struct cli *c, struct ga_session *s, struct ga_report *r,
		      struct cli_verdict *v, struct ga_error *err)
{
	cleanup_changes struct ga_changes rejected = GA_CHANGES_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *file = ga_path_join(s->dir, GA_REMARKS_FILE);
	cleanup_close int fd = -1;

	/* open first: without the file nothing is decided */
	if (v->remark)
		fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (v->remark && fd < 0)
		return ga_fail_path(err, errno, "write", file);
	v->decision.risk = &c->env.risk;
	if (ga_decide(c->env.repo, s, r, &v->decision, &rejected, err))
		return -1;
	v->decided = true;
	if (fd < 0 || !rejected.n)
		return 0;
	if (ga_feedback(c->env.repo, s->name, &rejected, v->remark, &text, err))
		return -1;
	if (!ga_write_full(fd, text.ptr, text.len))
		return 0;
	(void)ga_fail_path(err, errno, "write", file);
	return ga_error_wrap(err, "the decision is made, but its remark is lost");
}

static void verdict_release(struct cli_verdict *v)
{
	ga_decision_release(&v->decision);
}

struct options {
	const char *format, *remark;
	bool accept, accept_all, reject, critical, stat, json;
	bool interactive;
};

static const struct cli_opt opts[] = {
	CLI_VALUE(format, "format", 0, "text|json|markdown",
		  "the format of the output (default: text)"),
	CLI_FLAG(json, "json", 0, "the same as --format=json"),
	CLI_FLAG(stat, "stat", 0, "show the summary only, without the diff"),
	CLI_FLAG(accept, "accept", 0, "accept the flags of the given paths, held or not"),
	CLI_FLAG(accept_all, "accept-all", 0, "accept all open flags except critical ones"),
	CLI_FLAG(critical, "critical", 0, "with --accept-all: accept critical ones too"),
	CLI_FLAG(reject, "reject", 0, "restore the given paths to what they were"),
	CLI_FLAG(interactive, "interactive", 'i', "decide path by path"),
	CLI_VALUE(remark, "remark", 0, "TEXT",
		  "what to tell the agent of what is rejected: the first prompt of a resume"),
};

static bool wants(const struct options *o, const char *format)
{
	/* --json means --format=json */
	return !strcmp(o->format ? o->format : o->json ? "json" : "text", format);
}

static int check_format(const struct options *o, struct ga_error *err)
{
	if (o->json && o->format && !wants(o, "json"))
		return ga_fail(err, GA_EUSAGE, "choose one of --json and --format");
	if (!wants(o, "text") && !wants(o, "json") && !wants(o, "markdown"))
		return ga_fail(err, GA_EUSAGE, "--format takes text, json or markdown, not '%s'",
			       o->format);
	return 0;
}

static int check_options(const struct options *o, size_t argc, struct ga_error *err)
{
	int decisions = o->accept + o->accept_all + o->reject + o->interactive;

	if (decisions > 1)
		return ga_fail(err, GA_EUSAGE,
			       "choose one of --accept, --accept-all, --reject and -i");
	if (o->remark && !o->reject && !o->interactive)
		return ga_fail(err, GA_EUSAGE, "--remark goes with --reject or -i");
	if (decisions && (o->stat || o->json || o->format))
		return ga_fail(err, GA_EUSAGE, "%s", o->interactive ?
			       "-i shows the diff as it goes, and prints nothing else" :
			       "a decision prints no review: --format, --json and --stat are "
			       "about one");
	if (o->critical && !o->accept_all)
		return ga_fail(err, GA_EUSAGE, "--critical goes with --accept-all");
	if ((o->accept || o->reject) && argc < 2)
		return ga_fail(err, GA_EUSAGE, "name the session and the paths" GA_HINT
			       "git agent review --%s NAME PATH...",
			       o->accept ? "accept" : "reject");
	if (!o->accept && !o->reject && argc > 1)
		return ga_fail(err, GA_EUSAGE, "paths go with --accept or --reject");
	return check_format(o, err);
}

static bool is_landing(const struct cli *c, const struct ga_session *s)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	return !ga_land_unfinished(c->env.repo, &names, NULL, GA_IGNORED) &&
	       ga_strv_find(&names, s->name) >= 0;
}

static int print_text(struct cli *c, const struct options *o, struct ga_session *s,
		      const struct ga_report *r, const struct ga_oid *former, struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	const struct ga_palette *palette;
	struct ga_palette colours;
	struct cli_pager *pager;
	int rc;

	if (cli_palette(c, "diff", &colours, &palette, err) ||
	    cli_pager_begin(c, "diff", &out, &pager, err))
		return -1;
	rc = ga_report_text(c->env.repo, s, r, is_landing(c, s), palette != NULL, &out, err);
	if (!rc && !o->stat)
		rc = ga_review_since(c->env.repo, r, former, palette, &out, err);
	if (!rc && !o->stat)
		rc = ga_review_diff(c->env.repo, r, palette, &out, err);
	return cli_pager_end(pager, &out, rc, err);
}

static int print(struct cli *c, const struct options *o, struct ga_session *s,
		 const struct ga_report *r, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_oid former;

	if (ga_session_mark_shown(s, ga_review_commit(r), &former, err))
		return -1;
	if (wants(o, "json")) {
		json_t *j = ga_report_json(c->env.repo, r, err);

		return j ? cli_print_json(j, err) : -1;
	}
	if (wants(o, "markdown"))
		return ga_report_markdown(c->env.repo, s, r, &out, err) ?
			       -1 : cli_page(c, out.ptr, out.len, err);
	return print_text(c, o, s, r, &former, err);
}

static int compare_below(const void *dir, const void *path)
{
	return strncmp(dir, *(char *const *)path, strlen(dir));
}

static bool is_known(const void *where, const char *path)
{
	const struct ga_strv *known = where;
	cleanup_free char *dir = ga_strf("%s/", path);

	return known->n && bsearch(dir, known->v, known->n, sizeof(*known->v), compare_below);
}

/* The same test over all paths of the review. */
#define ON_THE_WAY_SHOWN 5
#define ACCEPTED_SHOWN 20

/* Say that rejecting a path leaves versions that only earlier commits of the branch have. */
static int warn_earlier_commits(struct cli *c, const struct ga_report *r, struct ga_error *err)
{
	cleanup_past struct ga_past past = GA_PAST_INIT;
	size_t shown = 0;

	if (!ga_report_open(r))
		return 0;
	if (ga_report_past(c->env.repo, r, &r->tip, &past, err))
		return -1;
	for (size_t i = 0; i < r->flags.n && shown < ON_THE_WAY_SHOWN; i++) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		if (!ga_report_flag_blocks(&r->flags.v[i]) || !ga_past_any(&past.v[i]))
			continue;
		ga_past_text(&past.v[i], &text);
		cli_note("still open: '%s': %s", GA_ESCAPED(r->flags.v[i].path), text.ptr);
		shown++;
	}
	return 0;
}

/* Print what is accepted: each path with the mode and id that the verdict covers, sorted. */
static void list_accepted(const struct ga_report *r, struct ga_strv *ret)
{
	for (size_t i = 0; i < r->flags.n; i++) {
		const struct ga_flag *f = &r->flags.v[i];
		cleanup_free char *q = ga_quote(*f->path ? f->path : ".");

		if (f->verdict == GA_VERDICT_ACCEPTED && f->entry.mode)
			ga_strv_pushf(ret, "%s %06o %s", q, f->entry.mode, GA_HEX(&f->entry.oid));
		else if (f->verdict == GA_VERDICT_ACCEPTED)
			ga_strv_pushf(ret, "%s, which is removed", q);
	}
	ga_strv_sort_unique(ret);
}

static void print_accepted(const struct ga_session *s, const struct ga_report *r,
			   const struct ga_strv *before)
{
	cleanup_strv struct ga_strv now = GA_STRV_INIT;

	size_t n = 0;

	list_accepted(r, &now);
	for (size_t i = 0; i < now.n; i++)
		if (ga_strv_find(before, now.v[i]) < 0 && n++ < ACCEPTED_SHOWN)
			cli_note("agent/%s: accepted %s", s->name, now.v[i]);
	if (n > ACCEPTED_SHOWN)
		cli_note("agent/%s: accepted %zu more", s->name, n - ACCEPTED_SHOWN);
}

/* Print the number of open flags and the next command. */
static void print_open(const struct cli *c, const struct options *o, struct ga_session *s,
		       const struct ga_report *r)
{
	size_t open = ga_report_open(r);
	cleanup_free char *n = ga_count(open, "open flag", "open flags");

	cli_note("agent/%s: %s left", s->name, n);
	if (!open)
		cli_note("  next: git agent land %s%s",
			 is_landing(c, s) ? "--continue " : "", s->name);
	else if (o->accept_all && !o->critical)
		cli_note("  next: git agent review %s; --critical with --accept-all accepts these "
			 "too", s->name);
	else
		cli_note("  next: git agent review %s", s->name);
}

static int choose(struct cli *c, const struct options *o, const struct ga_report *r, size_t argc,
		  char **argv, struct cli_verdict *v, struct ga_error *err)
{
	cleanup_items struct ga_review_items items = { NULL, 0, 0 };
	cleanup_strv struct ga_strv known = GA_STRV_INIT;

	if (ga_review_items(c->env.repo, r, &items, err))
		return -1;
	/* with a slash, to sort a directory next to its contents */
	for (size_t i = 0; i < r->flags.n; i++)
		ga_strv_pushf(&known, "%s/", r->flags.v[i].path);
	for (size_t i = 0; i < items.n; i++)
		ga_strv_pushf(&known, "%s/", items.v[i].change.path);
	ga_strv_sort_unique(&known);
	v->decision.accept_all = o->accept_all;
	v->decision.critical_too = o->critical || o->accept;
	for (size_t i = 1; i < argc; i++) {
		cleanup_free char *path = cli_resolve_path(c, argv[i], is_known, &known);

		ga_strv_push(o->accept ? &v->decision.accept : &v->decision.reject, path);
	}
	return 0;
}

static int decide(struct cli *c, const struct options *o, struct ga_session *s,
		  struct ga_report *r, size_t argc, char **argv, struct ga_error *err)
{
	cleanup_(verdict_release) struct cli_verdict v = { .decision = GA_DECISION_INIT,
							   .remark = o->remark };
	cleanup_strv struct ga_strv before = GA_STRV_INIT;

	list_accepted(r, &before);
	if (!o->reject && ga_session_check_shown(s, err))
		return -1;
	if (choose(c, o, r, argc, argv, &v, err) || cli_decide(c, s, r, &v, err))
		return -1;
	if (o->reject && warn_earlier_commits(c, r, err))
		return -1;
	print_accepted(s, r, &before);
	print_open(c, o, s, r);
	return 0;
}

/* Load the report to review. 1: there is none, and the user was told. */
static int read_report(struct cli *c, const struct ga_session *s, struct ga_report *ret,
		       struct ga_error *err)
{
	int rc = ga_report_read(c->env.repo, s, ret, err);
	struct ga_oid now;

	if (rc < 0)
		return -1;
	if (rc && s->state != GA_STATE_CAPTURED && s->state != GA_STATE_LANDED) {
		cli_note("agent/%s: nothing to review", s->name);
		return 1;
	}
	if (rc)
		ga_report_begin(ret, s);
	/* later commits on the branch are reviewed and land as well */
	rc = ga_ref_read(c->env.repo, s->id.branch, &now, err);
	if (!rc)
		ret->tip = now;
	return rc < 0 ? -1 : 0;
}

/* Ask, and apply the verdicts. 1: refused, for the reason `ret_why`, which was printed. */
static int ask_once(struct cli *c, const struct options *o, struct ga_session *s,
		    struct ga_report *r, struct cli_walk *w, struct ga_error *ret_why,
		    struct ga_error *err)
{
	cleanup_items struct ga_review_items items = { NULL, 0, 0 };
	cleanup_(verdict_release) struct cli_verdict v = { .decision = GA_DECISION_INIT,
							   .remark = o->remark };
	int rc;

	if (ga_review_items(c->env.repo, r, &items, err))
		return -1;
	rc = cli_walk(w, r, &items, &v, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (!cli_decide(c, s, r, &v, ret_why)) {
		print_open(c, o, s, r);
		return warn_earlier_commits(c, r, err);
	}
	if (v.decided)
		return ga_error_move(err, ret_why);
	cli_print_error(ret_why);
	return 1;
}

static int decide_asking(struct cli *c, const struct options *o, struct ga_session *s,
			 struct ga_report *r, struct ga_error *err)
{
	struct cli_walk *w;
	int rc;

	/* fail now, not after the last answer */
	if (ga_worktree_check_free(c->env.repo, s, err) ||
	    cli_walk_begin(c, &w, err))
		return -1;
	for (;;) {
		cleanup_error struct ga_error why = GA_ERROR_INIT;

		rc = ask_once(c, o, s, r, w, &why, err);
		if (rc <= 0)
			break;
		c->status = ga_error_status(why.code);
		rc = cli_walk_refused(w, err);
		if (rc)
			break;
		c->status = 0;
		ga_report_release(r);
		rc = read_report(c, s, r, err);
		if (rc)
			break;
	}
	cli_walk_free(w);
	return rc < 0 ? -1 : 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;
	int rc;

	if (check_options(o, argc, err) ||
	    cli_pick_session(c, argc ? argv[0] : NULL, false, &s, &lock, err) ||
	    cli_session_settings(c, &s, err))
		return -1;
	rc = read_report(c, &s, &r, err);
	if (rc || ga_review_fetch(c->env.repo, &r, err))
		return rc > 0 ? 0 : -1;
	if (o->interactive)
		return decide_asking(c, o, &s, &r, err);
	if (o->accept || o->accept_all || o->reject)
		return decide(c, o, &s, &r, argc, argv, err);
	return print(c, o, &s, &r, err);
}

CLI_COMMAND(review, "[OPTIONS] [NAME [PATH...]]",
	    "review the changes of a session, and accept or reject flagged paths",
	    "SESSION CHANGED...");
