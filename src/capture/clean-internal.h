/* SPDX-License-Identifier: MIT
 *
 * What git that converts content (clean.c) and the filters that it runs (clean-filters.c) share.
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
	bool lfs;              /* git-lfs can be run inside */
	struct ga_upper_files files; /* the files to be converted */
	bool asked;            /* git inside has said which filter each file is for */
	/* Sorted lists of files: those that a filter of the host's should convert, those of them
	 * that it did not, and those that git could not convert. */
	struct ga_strv filtered, unfiltered, failed;
};

const char *const *clean_command(struct clean *cl, const char *const *args);
/* Run git inside with this environment and configuration. */
int clean_git(struct clean *cl, const char *const *args, const struct ga_buf *in,
	      struct ga_buf *out, int out_fd, struct ga_error *err);

/* May this filter run inside? Filters are commands: LFS is known to work inside, others may run if
 * the user says so. */
bool runs_inside(const struct clean *cl, const char *filter);
/* Find the files that a filter of the host's should convert (to a pointer, to cipher text). */
int find_filtered(struct clean *cl, struct ga_error *err);
/* Count files whose attributes git cannot read as not filtered: any filter may be for them. */
void take_unsure(struct clean *cl);
/* Record that everything is taken as it is: no filter ran on anything. */
void take_all_unfiltered(struct clean *cl);
/* Record files that a filter did not convert as taken as they are, which keeps them off the branch,
 * unless they are what the base has, or what is on the branch already: git inside wrote that when
 * the session was resumed. */
int take_unfiltered(struct clean *cl, const struct ga_strv *files, struct ga_entry *entries,
		    struct ga_error *err);

#endif
