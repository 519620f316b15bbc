/* SPDX-License-Identifier: MIT
 *
 * The parts of the pool of base trees.
 */
#ifndef GA_POOL_INTERNAL_H
#define GA_POOL_INTERNAL_H

#include <time.h>

#include "ga/pool.h"
#include "repo-internal.h"

/* What besides the commit decides the bytes of a checkout: `place` (working
 * tree and trust) and behind it the rules (configuration, attribute files,
 * sparse patterns). NUL-separated records. */
struct ga_base_key {
	struct ga_buf text;
	size_t place_len; /* how much of it is the place */
};
void ga_base_key_release(struct ga_base_key *k);
int ga_base_key_make(const struct ga_repo *r, const struct ga_gitconfig *c, bool trusted,
		     struct ga_base_key *ret, struct ga_error *err);

enum ga_base_way {
	GA_WAY_MOVE,   /* from what stands there, at the cost of the difference */
	GA_WAY_REPAIR, /* the same, but each file is looked at first */
	GA_WAY_WHOLE,  /* from nothing */
};

/* Check `commit` out into `dir`/tree with `dir`/index, then settle times. `lock` is
 * inherited by git: should we be killed, it goes on writing, and nobody else may
 * before it is through. */
int ga_base_checkout(struct ga_repo *r, const char *dir, int lock, const struct ga_oid *commit,
		     enum ga_base_way way, const struct ga_base_opts *o, struct ga_error *err);

/* After a checkout that began at `since`: carry the user's mtimes over where the
 * content is the same, write them into `dir`/index and put that into `dir`/git. */
int ga_base_settle(const struct ga_repo *r, const char *dir, time_t since, struct ga_error *err);

#endif
