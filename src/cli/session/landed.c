/* SPDX-License-Identifier: MIT
 *
 * Whether all of a session is somewhere else by now: landed, or on refs.
 */
#include <inttypes.h>

#include "cli/cli.h"

/* Is the commit on what the session is published as, or was before something was held? That
 * goes with the branch. */
static bool goes_along(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *oid)
{
	cleanup_free char *orig = ga_session_ref(s, "orig");
	struct ga_oid tip;

	return !ga_oid_is_zero(&s->result.tip) &&
	       (ga_is_near_ancestor(r, oid, &s->result.tip) ||
		(!ga_ref_read(r, orig, &tip, GA_IGNORED) && ga_is_near_ancestor(r, oid, &tip)));
}

int cli_kept_refs(struct ga_repo *r, const struct ga_session *s, char **ret_ref,
		  struct ga_error *err)
{
	static const char *const kinds[] = { "heads/", "others/", "stash", "earlier/" };

	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		cleanup_free char *prefix = ga_session_ref(s, kinds[i]);
		cleanup_refs struct ga_refs refs = GA_REFS_INIT;

		if (ga_refs_list(r, prefix, &refs, err))
			return -1;
		for (size_t k = 0; k < refs.n; k++) {
			bool there = goes_along(r, s, &refs.v[k].oid);

			if (!there && ret_ref &&
			    ga_is_on_branch(r, &refs.v[k].oid, NULL, false, &there, err))
				return -1;
			if (there)
				continue;
			if (ret_ref)
				*ret_ref = ga_strdup(refs.v[k].name);
			return 1;
		}
	}
	return 0;
}

int cli_kept_away(struct ga_repo *r, const struct ga_session *s, char **ret_why,
		  struct ga_error *err)
{
	cleanup_report struct ga_report report = GA_REPORT_INIT;
	int rc = ga_report_read(r, s, &report, err);
	uint64_t n = report.unkept.n ? report.unkept.n + report.unkept_more : 0;

	if (rc || report.limits.n)
		return rc < 0 ? -1 : !rc;
	if (n && ret_why)
		*ret_why = n > 1 ? ga_strf("%s (and %" PRIu64 " more)", report.unkept.v[0], n - 1)
				 : ga_strdup(report.unkept.v[0]);
	return n ? 2 : 0;
}

int cli_unlanded(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival a = GA_ARRIVAL_INIT;

	/* changes to uncommitted work that no landing has brought yet */
	if (s->result.left_out.n || !ga_oid_is_zero(&s->result.held))
		return 1;
	if (ga_oid_is_zero(&s->result.tip))
		return 0;
	if (ga_arrived(r, s, &a, err))
		return -1;
	if (a.how == GA_LANDED_NOT)
		return 1;
	switch (ga_arrival_lasts(r, s, &a, err)) {
	case 0:
		return 2;
	case 1:
		return 0;
	default:
		return -1;
	}
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Note whether the session has landed, and how and where unless it was by `git agent land`. False:
 * the session said so already. */
static bool note(struct ga_session *s, const struct ga_arrival *a)
{
	bool otherwise = a->how != GA_LANDED_NOT && ga_oid_is_zero(&s->result.landed);
	enum ga_state state = a->how == GA_LANDED_NOT ? GA_STATE_CAPTURED : GA_STATE_LANDED;
	const char *how = otherwise ? ga_landed_name(a->how) : NULL;
	const char *in = otherwise ? a->where : NULL;

	if (s->state == state && same(s->result.arrived, how) && same(s->result.arrived_in, in))
		return false;
	s->state = state;
	free(s->result.arrived);
	free(s->result.arrived_in);
	s->result.arrived = how ? ga_strdup(how) : NULL;
	s->result.arrived_in = in ? ga_strdup(in) : NULL;
	return true;
}

static void journal(const struct ga_session *s)
{
	json_t *o = json_object();

	if (s->result.arrived)
		ga_json_set(o, "how", json_string(s->result.arrived));
	if (s->result.arrived_in)
		ga_json_set_bytes(o, "in", s->result.arrived_in);
	(void)ga_journal(s->dir, s->state == GA_STATE_LANDED ? "arrived" : "taken-back", o);
}

int cli_notice_landed(struct cli *c, struct ga_session *s, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival a = GA_ARRIVAL_INIT;

	/* without a tip all was brought as uncommitted edits, and no commit can be looked for */
	if ((s->state != GA_STATE_CAPTURED && s->state != GA_STATE_LANDED) ||
	    ga_oid_is_zero(&s->result.tip))
		return 0;
	if (ga_arrived(c->env.repo, s, &a, err))
		return -1;
	if (!note(s, &a))
		return 0;
	if (ga_session_save(s, err))
		return -1;
	journal(s);
	return 0;
}
