/* SPDX-License-Identifier: MIT
 *
 * Commits that are applied again: where git stopped (rebase-stopped.c), and how it goes on from
 * there (rebase.c).
 */
#ifndef GA_LAND_REBASE_H
#define GA_LAND_REBASE_H

#include "land-internal.h"

/* What became of the next commit, the first of those that are still to be applied. */
enum next {
	NEXT_NONE,  /* there is none, or nobody can tell whether it was applied */
	NEXT_STOPS, /* git stopped at it and left it to the user, in a state of git's */
	NEXT_TO_DO, /* git could not begin it, or the user took that state back ... */
	NEXT_DONE,  /* ... or committed it. In both cases git's own --continue takes it for
		     * committed */
};

/* Find the next commit, and what became of it. Fills `began`, HEAD before the first one, if git has
 * no state to read that from. */
int rebase_find_next(struct land *l, struct ga_oid *next, enum next *ret, struct ga_oid *began,
		     struct ga_error *err);
/* The next commit by git's list, including one at which it stopped. 1: git has no list, as for a
 * single commit or after the last one. rebase_list_later(): the ids of those after it, and its own
 * unless git has `begun` it. */
int rebase_next(struct land *l, struct ga_oid *ret, struct ga_error *err);
int rebase_list_later(struct land *l, bool begun, struct ga_buf *ret, struct ga_error *err);
/* Record HEAD, and `next` as the next commit: git left it to the user (`left`), or could not begin
 * it. */
int rebase_note_stopped(struct land *l, const struct ga_oid *next, bool left,
			struct ga_error *err);

/* The file of that name in git's sequencer directory, which it has for more than one commit; and
 * the file of that record. Caller frees. */
char *rebase_file(const struct land *l, const char *name);
char *rebase_stopped_file(const struct land *l);

#endif
