/* SPDX-License-Identifier: MIT
 *
 * Commits that are made again: where git stopped on the way (rebase-stopped.c), and what becomes of
 * it from there (rebase.c).
 */
#ifndef GA_LAND_REBASE_H
#define GA_LAND_REBASE_H

#include "land-internal.h"

/* What became of the first of those that are still to be made. */
enum next {
	NEXT_NONE,  /* there is none, or nobody can tell whether it was made */
	NEXT_STOPS, /* git left it to the user, in a state of its own */
	NEXT_TO_DO, /* git could not begin it, or the user took that state back ... */
	NEXT_DONE,  /* ... or committed it: git, going on, takes it for that either way */
};

/* Which that is, and what became of it. Fills `began`, HEAD before the first, where git has no
 * state to read that from. */
int rebase_find_next(struct land *l, struct ga_oid *next, enum next *ret, struct ga_oid *began,
		     struct ga_error *err);
/* The first of those that are still to be made, the one at which it stopped among them. 1: of
 * several there are none. And those behind it, or it as well unless git `begun` it: ids. */
int rebase_next(struct land *l, struct ga_oid *ret, struct ga_error *err);
int rebase_list_later(struct land *l, bool begun, struct ga_buf *ret, struct ga_error *err);
/* Note HEAD, and that commit as the next: git left it to the user, or could not begin it. */
int rebase_note_stopped(struct land *l, const struct ga_oid *next, bool left,
			struct ga_error *err);

/* The file of that name that git has of several, and the one of the note. Caller frees. */
char *rebase_file(const struct land *l, const char *name);
char *rebase_stopped_file(const struct land *l);

#endif
