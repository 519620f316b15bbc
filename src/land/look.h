/* SPDX-License-Identifier: MIT
 *
 * Compares one tip of a session with one destination: has the work arrived there?
 */
#ifndef GA_LAND_LOOK_H
#define GA_LAND_LOOK_H

#include "ga/land/land.h"

struct look {
	struct ga_repo *r;
	const struct ga_session *s;
	struct ga_oid tip;
	struct ga_changes changes; /* onto -> tip */
	size_t lookups;            /* the number of entries that may still be looked up */
};

/* Fill the rest of `l` for this tip; the caller has set `r` and `s`. */
int look_begin(struct look *l, const struct ga_oid *tip, struct ga_error *err);
void look_release(struct look *l);
/* How the work arrived in the commit `at`. `*ret_back`: it had, and was taken back. */
int look_at(struct look *l, const struct ga_oid *at, enum ga_landed_how *ret, bool *ret_back,
	    struct ga_error *err);
/* Did `at` have it before the session began? Then the session took it from there, and it did not
 * arrive there. */
int look_had(struct look *l, const struct ga_oid *at, struct ga_error *err);

#endif
