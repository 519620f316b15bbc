/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the pool of base trees.
 */
#pragma once

#include <time.h>

#include "ga/repo/pool.h"
#include "repo/repo-internal.h"

enum ga_base_way {
	GA_WAY_MOVE,   /* from its commit, by the difference if that is known */
	GA_WAY_REPAIR, /* the same, but git checks every file */
	GA_WAY_WHOLE,  /* from nothing */
};

/* How the index of a base tree becomes that of another commit. */
struct ga_base_plan {
	struct ga_buf gone;  /* offsets (size_t) in the old index of the entries to be removed */
	struct ga_buf come;  /* an index of the entries to be added, without its end */
	uint32_t n_come;
	struct ga_buf trees; /* the extension "TREE" of the new index */
	bool attributes;     /* a .gitattributes comes or goes: then the plan is not used */
	bool below_top;      /* the old index has a .gitattributes below the top */
};
#define GA_BASE_PLAN_INIT { .gone = GA_BUF_INIT, .come = GA_BUF_INIT, .trees = GA_BUF_INIT }
void ga_base_plan_release(struct ga_base_plan *p);
/* Find what differs between `dir`/tree and `commit`, and remove changed and deleted files from the
 * tree; the new ones have yet to be checked out. Returns false if the difference is unknown, so
 * that git has to check every file; with `partial` (a partial clone) also if objects are missing,
 * which git fetches at once only in a whole checkout. */
bool ga_base_plan_move(struct ga_repo *r, const char *dir, const struct ga_oid *commit,
		       bool partial, struct ga_base_plan *ret);

/* Check `commit` out into `dir`/tree with `dir`/index, then settle times. Sets n_attributed and
 * attributed of `ret`. git inherits `lock`: if
 * we are killed git continues to write, and nobody else may write until it has ended. */
int ga_base_checkout(struct ga_repo *r, const char *dir, int lock, const struct ga_oid *commit,
		     enum ga_base_way way, const struct ga_base_opts *o, struct ga_base *ret,
		     struct ga_error *err);

/* The index of what comes: git checks its files out and adds their stat data. */
#define GA_BASE_COME "index.come"
#define GA_BASE_COME_LOCK "index.come.lock" /* git's, while it writes that */
/* After a checkout that began at `since`: give files and directories the user's mtimes where the
 * content is the same, write these into `dir`/index and link that into `dir`/git. With a plan,
 * `dir`/index is still that of the previous commit, and ga_base_settle_begin() is called while git
 * checks out GA_BASE_COME, ga_base_settle_end() once git has ended. The latter frees nothing. */
struct ga_base_settle;
int ga_base_settle_begin(const struct ga_repo *r, const char *dir, time_t since,
			 const struct ga_base_plan *plan_or_null, struct ga_base_settle **ret,
			 struct ga_error *err);
int ga_base_settle_end(struct ga_base_settle *s, struct ga_base *ret, struct ga_error *err);
void ga_base_settle_free(struct ga_base_settle *s); /* NULL is fine */
