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
	GA_WAY_MOVE,   /* from what stands there, at the cost of the difference if it is told */
	GA_WAY_REPAIR, /* the same, but each file is looked at first */
	GA_WAY_WHOLE,  /* from nothing */
};

/* How the index of a base tree becomes that of another commit. */
struct ga_base_plan {
	struct ga_buf gone;  /* where in it the entries are (size_t) that it has no more */
	struct ga_buf come;  /* an index without its end, of the entries that it gets */
	uint32_t n_come;
	struct ga_buf trees; /* its extension "TREE" by then */
	bool attributes;     /* a file of attributes is among either: no more is told then */
	bool below_top;      /* it has one below the top */
};
#define GA_BASE_PLAN_INIT                                                                          \
	{                                                                                          \
		.gone = GA_BUF_INIT, .come = GA_BUF_INIT, .trees = GA_BUF_INIT                     \
	}
void ga_base_plan_release(struct ga_base_plan *p);
/* Find what differs between `dir`/tree and `commit`, and remove of it what changed or is gone; what
 * comes is still to be checked out. False: this cannot tell, and git has to look at every file.
 * `partial`: it is a partial clone, where git gets what is missing at once if it does all. */
bool ga_base_plan_move(struct ga_repo *r, const char *dir, const struct ga_oid *commit,
		       bool partial, struct ga_base_plan *ret);

/* Check `commit` out into `dir`/tree with `dir`/index, then settle times. `lock` is
 * inherited by git: should we be killed, it goes on writing, and nobody else may
 * before it is through. */
int ga_base_checkout(struct ga_repo *r, const char *dir, int lock, const struct ga_oid *commit,
		     enum ga_base_way way, const struct ga_base_opts *o, struct ga_error *err);

/* What git is given as an index when it checks out what comes, and leaves with their stat data. */
#define GA_BASE_COME "index.come"
#define GA_BASE_COME_LOCK "index.come.lock" /* git's, while it writes that */
/* Of a checkout that began at `since`: carry the user's mtimes over where the content is the same,
 * write them into `dir`/index and put that into `dir`/git. With a plan, `dir`/index is that of the
 * commit before, and it begins while git checks out what is in GA_BASE_COME; the end is after that,
 * and frees nothing. */
struct ga_base_settle;
int ga_base_settle_begin(const struct ga_repo *r, const char *dir, time_t since,
			 const struct ga_base_plan *plan_or_null, struct ga_base_settle **ret,
			 struct ga_error *err);
int ga_base_settle_end(struct ga_base_settle *s, struct ga_error *err);
void ga_base_settle_free(struct ga_base_settle *s); /* NULL is fine */

#endif
