/* SPDX-License-Identifier: MIT
 *
 * Between git that converts content (clean.c) and the filters it runs (clean-filters.c).
 */
#ifndef CLEAN_INTERNAL_H
#define CLEAN_INTERNAL_H

#include "capture-internal.h"

struct clean {
	struct capture *c;
	const struct ga_upper_opts *o;
	struct ga_strv env;
	struct ga_strv config; /* "-c", "key=value", ... */
	struct ga_strv args;
	bool lfs;              /* git-lfs is there inside */
	struct ga_upper_files files; /* what there is to convert */
	bool asked;            /* git inside has told which filter each file is for */
	/* Of the files, each sorted: those that filters of the host's are for, of these those that
	 * did not run on it, and those git could make nothing of. */
	struct ga_strv filtered, unfiltered, failed;
};

/* Git inside, with all of that. */
int clean_git(struct clean *cl, const char *const *args, const struct ga_buf *in,
	      struct ga_buf *out, int out_fd, struct ga_error *err);

/* Filters are commands: LFS is known to work inside, others are if the user says so. */
bool runs_inside(const struct clean *cl, const char *filter);
/* Find the files that a filter of the host's is to turn into something else (a pointer, cipher
 * text). */
int find_filtered(struct clean *cl, struct ga_error *err);
/* Without an answer from git any filter may be for a file: so it is of those whose attributes it
 * cannot read. */
void take_unsure(struct clean *cl);
/* All is taken as it is, and none of it went through a filter. */
void take_all_unfiltered(struct clean *cl);
/* Taken as it is, and kept off the branch, unless it is what the base has, or what stands on the
 * branch already: git inside wrote that when the session was resumed. */
int take_unfiltered(struct clean *cl, const struct ga_strv *files, struct ga_entry *entries,
		    struct ga_error *err);

#endif
