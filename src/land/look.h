/* SPDX-License-Identifier: MIT
 *
 * One tip of a session's held against one destination: has the work arrived there?
 */
#ifndef GA_LAND_LOOK_H
#define GA_LAND_LOOK_H

#include "ga/land.h"
#include "ga/objects.h"

struct look {
	struct ga_repo *r;
	const struct ga_session *s;
	struct ga_oid tip, base_tree;
	struct ga_changes changes; /* onto -> tip */
	struct ga_oid *own;        /* the commits of that */
	size_t n_own;
	size_t lookups;            /* so many are left */
};

/* `r` and `s` are filled; the rest is, for this tip. */
int look_begin(struct look *l, const struct ga_oid *tip, struct ga_error *err);
void look_release(struct look *l);
/* How it arrived in the commit `at`. `*ret_back`: it had, and was taken back. */
int look_at(struct look *l, const struct ga_oid *at, enum ga_landed_how *ret, bool *ret_back,
	    struct ga_error *err);
/* Had `at` it before the session began? Then it was taken from there, and did not arrive there. */
int look_had(struct look *l, const struct ga_oid *at, struct ga_error *err);

/* Was this commit made of the session's work, with some of its lines changed? 1 yes. That nothing
 * of it is left out was found before. */
int look_alike(struct look *l, const struct ga_commit *c, struct ga_error *err);

#endif
