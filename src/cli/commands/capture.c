/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "cli/cli.h"

struct options {
	bool quiet, verbose;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_QUIET(quiet),
	CLI_FLAG(verbose, "verbose", 'v', "show the progress, even if not on a terminal"),
};

/* Of a session and its submodules: did a limit skip anything, and has any flag a verdict? */
struct again {
	bool limits, decided;
};

static void check_session(const struct ga_report *r, struct again *a)
{
	a->limits |= r->limits.n > 0;
	for (size_t i = 0; i < r->flags.n; i++)
		a->decided |= r->flags.v[i].verdict != GA_VERDICT_OPEN;
}

static int check_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;

	/* a part that is missing, or has landed separately, is not captured again */
	if (!at->s || !at->env || at->s->state == GA_STATE_LANDED)
		return 0;
	if (ga_report_read(at->env->repo, at->s, &r, err) < 0)
		return -1;
	check_session(&r, payload);
	return ga_start_each_part(at->env, at->s, false, check_part, payload, err);
}

/* Capture once more if a limit, perhaps raised since, skipped something, or objects are missing. */
static int capture_again(struct cli *c, struct ga_session *s, int lock, struct ga_report *r,
			 struct ga_error *err)
{
	cleanup_free char *space = ga_strf(GA_SESSION_REFS "%s", s->name);
	struct again a = { false, false };
	int rc;

	if (s->state != GA_STATE_CAPTURED)
		return 0;
	check_session(r, &a);
	if (ga_start_each_part(&c->env, s, false, check_part, &a, err))
		return -1;
	rc = s->id.remote ? 0 : ga_refs_check(c->env.repo, s->id.branch, space, &s->id.onto, err);
	if (rc < 0 || (!rc && !a.limits))
		return rc;
	if (s->id.within)
		return ga_fail(err, GA_EFATAL, "session '%s' is part of a superproject's session"
			       GA_HINT "run 'git agent capture %s' there", s->name, s->name);
	if (!ga_oid_is_zero(&s->view.target))
		return ga_fail(err, GA_EFATAL, "session '%s' is being prepared for resume: "
			       "nothing can be captured of it before it has run" GA_HINT
			       "'git agent resume %s' does it", s->name, s->name);
	if (a.decided && !rc)
		return ga_fail(err, GA_ELOSE, "session '%s' was reviewed: capturing it again would "
			       "undo what was accepted or rejected" GA_HINT "what a limit kept "
			       "away is in '%s/upper'", s->name, s->dir);
	ga_report_release(r);
	return ga_worktree_check_free(c->env.repo, s, err) || cli_session_settings(c, s, err) ||
	       ga_start_capture(&c->env, s, lock, NULL, r, err) ? -1 : 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;

	c->verbose = o->verbose;
	cli_show_progress(c, o->quiet);
	/* picking a session by name captures it if it was interrupted */
	if (cli_pick_session(c, argc ? argv[0] : NULL, false, &s, &lock, err))
		return -1;
	if (ga_report_read(c->env.repo, &s, &r, err) < 0 ||
	    (!c->captured && capture_again(c, &s, lock, &r, err)))
		return -1;
	return o->quiet ? 0 : cli_summary(c, &s, &r, stdout, err);
}

CLI_COMMAND(capture, "[-q] [-v] [NAME]",
	    "capture a session that was interrupted, cut short by a limit, or damaged", "SESSION");
