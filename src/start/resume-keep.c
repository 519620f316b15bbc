/* SPDX-License-Identifier: MIT
 *
 * What of the last run has to be kept when a session is resumed.
 */
#include "ga/refs.h"
#include "resume.h"

int start_keep_stand(struct ga_start_env *e, const struct ga_session *s, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *prefix = ga_session_ref(s, "stood/"), *name = NULL, *reason = NULL;
	cleanup_refs struct ga_refs had = GA_REFS_INIT;

	if (ga_oid_is_zero(&s->agent_base) || ga_oid_equal(&s->agent_base, &s->base) ||
	    ga_oid_equal(&s->agent_base, &s->branch_base))
		return 0;
	if (ga_refs_list(e->repo, prefix, &had, err))
		return -1;
	/* a resume that was killed may have done it */
	for (size_t i = 0; i < had.n; i++)
		if (ga_oid_equal(&had.v[i].oid, &s->agent_base))
			return 0;
	/* numbered, so that the names say which is later */
	name = ga_strf("%s%06zu", prefix, had.n + 1);
	reason = ga_strf("agent: resume %s", s->name);
	ga_ref_updates_add(&u, name, NULL, &s->agent_base);
	return ga_refs_update(e->repo, &u, reason, err);
}

int start_find_former(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret,
		      struct ga_error *err)
{
	cleanup_free char *name = ga_session_ref(s, "report");
	int rc = ga_ref_read(e->repo, name, ret, err);

	if (rc > 0)
		*ret = (struct ga_oid){ { 0 } };
	return rc < 0 ? -1 : 0;
}
