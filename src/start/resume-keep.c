/* SPDX-License-Identifier: MIT
 *
 * What of the last run has to be kept when a session is resumed.
 */
#include "ga/refs.h"
#include "resume.h"

int start_find_former(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret,
		      struct ga_error *err)
{
	cleanup_free char *name = ga_session_ref(s, "report");
	int rc = ga_ref_read(e->repo, name, ret, err);

	if (rc > 0)
		*ret = (struct ga_oid){ { 0 } };
	return rc < 0 ? -1 : 0;
}
