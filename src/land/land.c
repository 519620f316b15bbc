/* SPDX-License-Identifier: MIT
 *
 * A landing from beginning to end: what must hold, the record, what is done. Nothing of the
 * user's is touched before the record is written. /
 */
#include <stdlib.h>
#include <string.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/signals.h"
#include "ga/trace.h"
#include "landing.h"

/* ---- before anything ------------------------------------------------------------------------ */

static int check_state(const struct ga_session *s, struct ga_error *err)
{
	if (s->state == GA_STATE_CAPTURED || s->state == GA_STATE_LANDED)
		return 0;
	if (s->state == GA_STATE_DROPPED)
		return ga_fail(err, GA_EFATAL, "session '%s' was dropped", s->name);
	(void)ga_fail(err, GA_EFATAL, "session '%s' is %s: it has not been captured", s->name,
		      ga_state_name(s->state));
	return ga_hint(err, "end the agent, or 'git agent capture %s'", s->name);
}

int land_check_session(const struct ga_session *s, const struct record *rec, const char *what,
		       struct ga_error *err)
{
	if (!strcmp(rec->session, s->name))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "the last landing in this working tree is that of agent/%s",
		      rec->session);
	return ga_hint(err, "'git agent land %s %s'", what, rec->session);
}

static int fail_left(const struct record *rec, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s waits to be finished", rec->session);
	return ga_hint(err, "'git agent land --continue %s' or --abort, then land again",
		       rec->session);
}

/* Are ignored files all that is to be brought? */
static bool only_ignored(const struct landing *l)
{
	return l->s->state == GA_STATE_LANDED && l->opts->ignored && l->opts->ignored->n;
}

/* The report is written first: a rejection that was killed half way is in it, and not in the
 * session yet. */
static void forget_rejected(const struct landing *l)
{
	cleanup_strv struct ga_strv all = l->s->result.left_out;
	struct ga_strv *own = &l->s->result.left_out;

	*own = (struct ga_strv)GA_STRV_INIT;
	for (size_t i = 0; i < all.n; i++)
		if (!l->report->session || ga_strv_has(&l->report->left_out, all.v[i]))
			ga_strv_push(own, all.v[i]);
}

static int check(const struct landing *l, struct proposal *p, struct ga_error *err)
{
	forget_rejected(l);
	if (check_state(l->s, err) || land_propose(l, p, err))
		return -1;
	if (only_ignored(l)) {
		p->moves = false;
		return 0;
	}
	if ((p->moves || l->s->result.left_out.n || !ga_oid_is_zero(&l->s->result.held)) &&
	    land_judge(l, p, err))
		return -1;
	if (!p->moves)
		return 0;
	if (land_check_settings(l, p, err) ||
	    land_preflight(l->repo, &p->old, &p->tree, &p->changes, !land_needs_git(l, p),
			   "land again", err))
		return -1;
	/* else a fast-forward tells the rest itself */
	return l->opts->dry_run ? land_preflight(l->repo, &p->old, &p->tree, &p->changes, false,
						 "land again", err)
				: 0;
}

/* ---- the record ------------------------------------------------------------------------------ */

/* Where git moves nothing and HEAD is at the last landing, what is brought extends its record. */
static bool extends(const struct landing *l, const struct proposal *p, const struct record *last)
{
	return !p->moves && last->dir && last->phase == RECORD_DONE &&
	       !strcmp(last->session, l->s->name) && ga_oid_equal(&last->commit, &p->head);
}

static int begin_record(const struct landing *l, const struct proposal *p, struct record *rec,
			struct ga_error *err)
{
	rec->phase = RECORD_MOVING;
	rec->session = ga_strdup(l->s->name);
	rec->how = l->opts->how;
	rec->part = p->part;
	rec->branch = p->branch ? ga_strdup(p->branch) : NULL;
	rec->head = p->head;
	rec->tree = p->tree;
	if (p->moves)
		rec->tip = p->tip;
	else
		rec->commit = p->head;
	return l->opts->dry_run ? 0 : record_begin(l->repo, rec, err);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

/* What was brought is no longer left out. */
static void forget_brought(struct ga_session *s, const struct record *rec,
			   const struct ga_strv *left)
{
	cleanup_strv struct ga_strv all = s->result.left_out;

	s->result.left_out = (struct ga_strv)GA_STRV_INIT;
	for (size_t i = 0; i < all.n; i++) {
		bool brought = false;

		for (size_t k = 0; k < rec->n && !brought; k++)
			brought = rec->v[k].kept && !strcmp(rec->v[k].path, all.v[i]);
		if (!brought || ga_strv_has(left, all.v[i]))
			ga_strv_push(&s->result.left_out, all.v[i]);
	}
}

/* `left`: paths that were to be brought, and were not. */
static int note_landed(const struct landing *l, const struct record *rec,
		       const struct ga_strv *left, struct ga_error *err)
{
	struct ga_session *s = l->s;
	json_t *o = json_object();

	if (!rec->part && !left->n) {
		s->state = GA_STATE_LANDED;
		s->result.landed = rec->commit;
		if (!ga_oid_is_zero(&rec->tip))
			s->result.tip = rec->tip;
		ga_strv_release(&s->result.left_out);
	} else {
		forget_brought(s, rec, left);
	}
	ga_json_set_oid(o, "commit", &rec->commit);
	ga_json_set_oid(o, "tip", &rec->tip);
	(void)json_object_set_new(o, "brought", ga_report_paths_json(&l->ret->brought));
	(void)json_object_set_new(o, "not_brought", ga_json_strv(&l->ret->not_brought));
	(void)ga_journal(s->dir, "landed", o);
	return ga_session_save(s, err) ? ga_error_wrap(err, "agent/%s has landed, but that could "
						       "not be noted", s->name) : 0;
}

/* Recover first; a dry run only looks. Returns 1 if that completed the landing of this session. */
static int settle(const struct landing *l, struct record *last, struct ga_error *err)
{
	static const struct ga_strv none = GA_STRV_INIT;
	enum land_settled settled = LAND_SETTLED_NOTHING;
	int rc = l->opts->dry_run ? record_read(l->repo, last, err)
				  : land_settle(l->repo, l->config, last, &settled, err);

	l->ret->rolled_back = settled == LAND_SETTLED_ROLLED_BACK;
	if (rc)
		return rc < 0 ? -1 : 0;
	if (last->phase == RECORD_HANDED_OVER)
		return fail_left(last, err);
	if (settled == LAND_SETTLED_COMPLETED && !strcmp(last->session, l->s->name)) {
		l->ret->commit = last->commit;
		l->ret->rest = last->part;
		return note_landed(l, last, &none, err) ? -1 : 1;
	}
	if (last->phase == RECORD_DONE)
		return 0;
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was killed", last->session);
	return ga_hint(err, "'git agent land --abort %s' rolls it back", last->session);
}

static int fail_part(const struct landing *l, const struct ga_strv *left, struct ga_error *err)
{
	cleanup_free char *list = land_list_paths(left);

	(void)ga_fail(err, GA_EPART, "agent/%s has landed, but its changes to your uncommitted "
		      "work could not be applied: %s changed meanwhile", l->s->name, list);
	return ga_hint(err, "'git agent land %s' tries again, 'git agent diff --uncommitted %s' "
		       "prints them", l->s->name, l->s->name);
}

int land_complete(const struct landing *l, struct record *rec, size_t first, struct ga_error *err)
{
	cleanup_strv struct ga_strv left = GA_STRV_INIT;

	if (ga_fault_stop("land:moved", err) || land_bring(l->repo, rec, first, &left, err) ||
	    ga_fault_stop("land:brought", err))
		return -1;
	for (size_t i = 0; i < left.n; i++) {
		cleanup_free char *q = ga_quote(left.v[i]);

		ga_strv_pushf(&l->ret->not_brought, "%s: it changed meanwhile", q);
	}
	for (size_t i = first; i < rec->n; i++)
		if (rec->v[i].kept && !ga_strv_has(&left, rec->v[i].path))
			ga_strv_push(&l->ret->brought, rec->v[i].path);
	rec->phase = RECORD_DONE;
	l->ret->commit = rec->commit;
	l->ret->rest = rec->part || l->ret->not_brought.n;
	if (record_save(rec, err) || ga_fault_stop("land:recorded", err))
		return -1;
	record_forget_earlier(rec);
	if (note_landed(l, rec, &left, err))
		return -1;
	return left.n ? fail_part(l, &left, err) : 0;
}

/* git failed, or we did beside it: whatever was done is rolled back, or completed, at once. */
static int recover(const struct landing *l, struct record *rec, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	enum land_settled settled;

	if (err->code == GA_ECONFLICT)
		return -1;
	record_release(rec);
	if (land_remove_locks(l->repo, &second) ||
	    land_settle(l->repo, l->config, rec, &settled, &second) < 0) {
		(void)ga_error_wrap(err, "%s", second.msg);
		return second.hint ? ga_hint_instead(err, "%s", second.hint) : -1;
	}
	return settled == LAND_SETTLED_ROLLED_BACK
		       ? ga_hint(err, "nothing was changed; see 'git status', then land again")
		       : -1;
}

static int move(const struct landing *l, const struct proposal *p, struct record *rec,
		struct ga_error *err)
{
	struct ga_outlived outlived;
	struct ga_oid tree;
	int rc;

	/* Ctrl-C ends git alone, and what that had done is rolled back */
	ga_outlive_terminal(&outlived);
	rc = land_move(l, p, rec, err);
	if (rc)
		rc = recover(l, rec, err);
	ga_heed_terminal(&outlived);
	if (rc || l->ret->uncommitted)
		return rc;
	if (ga_commit_tree(l->repo, &rec->commit, &tree, err))
		return -1;
	return ga_oid_equal(&tree, &p->tree) ? 0
	       : land_judge_made(l, rec, err);
}

static int fail_conflict(const struct landing *l, const struct proposal *p, struct ga_error *err)
{
	cleanup_free char *list = land_list_paths(&p->conflicts);

	(void)ga_fail(err, GA_ECONFLICT, "merging agent/%s would conflict in %s", l->s->name, list);
	return ga_hint(err, "landing leaves the conflict for you to resolve");
}

/* All of the session is here already, by another way. */
static int note_arrived(const struct landing *l, const struct proposal *p,
			const struct record *rec, struct ga_error *err)
{
	bool any = !ga_oid_is_zero(&p->tip) || l->s->result.left_out.n;

	if (!any || rec->part || (l->s->state == GA_STATE_LANDED && !l->s->result.left_out.n))
		return 0;
	l->s->state = GA_STATE_LANDED;
	l->s->result.landed = p->head;
	ga_strv_release(&l->s->result.left_out);
	return ga_session_save(l->s, err);
}

/* The last of what touches nothing: the result, and the commit as far as it is made in memory. */
static int prepare(const struct landing *l, const struct proposal *p, struct record *rec,
		   size_t first, struct ga_error *err)
{
	l->ret->commit = p->head;
	l->ret->rest = rec->part;
	l->ret->nothing = !p->moves && rec->n == first && !l->ret->ignored.n;
	if (l->opts->dry_run)
		return p->conflicts.n ? fail_conflict(l, p, err) : 0;
	return p->moves ? land_make_commit(l, p, rec, err) : 0;
}

/* A record that nothing came of, before it was written. */
static void abandon(struct record *rec)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	(void)record_remove(rec, &ignored);
}

static int run(const struct landing *l, const struct proposal *p, struct record *rec, size_t first,
	       struct ga_error *err)
{
	if (record_save(rec, err))
		return -1;
	if (p->moves && move(l, p, rec, err))
		return -1;
	return l->ret->uncommitted ? 0 : land_complete(l, rec, first, err);
}

static int land(const struct landing *l, struct ga_error *err)
{
	cleanup_proposal struct proposal p = PROPOSAL_INIT;
	cleanup_record struct record last = RECORD_INIT, rec = RECORD_INIT;
	__attribute__((cleanup(land_ignored_release))) struct land_ignored ig = { .will = NULL };
	bool extending;
	size_t first;
	int rc;

	rc = settle(l, &last, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (check(l, &p, err) || land_ignored_check(l, &p.tree, &ig, err))
		return -1;
	extending = extends(l, &p, &last);
	if (extending) {
		rec = last;
		last = (struct record)RECORD_INIT;
	} else if (begin_record(l, &p, &rec, err)) {
		return -1;
	}
	first = rec.n;
	rc = only_ignored(l) ? 0 : land_plan_uncommitted(l, &rec, err);
	if (!rc)
		rc = land_ignored_plan(l, &ig, &rec, err) ||
		     prepare(l, &p, &rec, first, err) ? -1 : 0;
	if (!extending && (rc || l->ret->nothing))
		abandon(&rec);
	if (rc || l->opts->dry_run)
		return rc;
	if (l->ret->nothing)
		return note_arrived(l, &p, &rec, err);
	return run(l, &p, &rec, first, err) || land_ignored_write(l, &ig, &rec, err) ? -1 : 0;
}

int ga_land(struct ga_repo *r, struct ga_session *s, struct ga_report *report,
	    const struct ga_land_opts *o, struct ga_land_result *ret, struct ga_error *err)
{
	struct ga_gitconfig config = GA_GITCONFIG_INIT;
	const struct landing l = { .repo = r, .s = s, .report = report, .opts = o, .ret = ret,
				   .config = o->config ? o->config : &config };
	cleanup_land_lock struct land_lock lock = LAND_LOCK_INIT;
	int rc = o->dry_run ? 0 : land_lock(r, &lock, err);

	if (!rc && !o->config)
		rc = ga_gitconfig_load(r, &config, err);
	if (!rc)
		rc = land(&l, err);
	lock.failed = rc && lock.repo;
	ga_gitconfig_release(&config);
	return rc;
}
