/* SPDX-License-Identifier: MIT
 *
 * Compare sessions that have not landed with the current branch, and with each other, by their
 * commits and paths alone: nothing is merged.
 */
#ifndef COMPARE_H
#define COMPARE_H

#include "cli/cli.h"

struct cli_compare {
	struct ga_oid head;
	bool has_head;
	struct cli_compared {
		char *name;
		struct ga_changes changes; /* of its branch against what it started from */
	} *v;
	size_t n, cap;
};
#define CLI_COMPARE_INIT { .has_head = false }
/* Without a commit on the current branch nothing is behind. */
int cli_compare_begin(struct cli *c, struct cli_compare *ret, struct ga_error *err);
void cli_compare_release(struct cli_compare *x);

#define CLI_COMMITS_MAX 999
struct cli_counts {
	size_t behind;         /* commits of the current branch that it does not have, */
	size_t commits, files; /* commits that it made, at most so many of both, and files that
				* they change; what is held counts */
};
/* Take a session into account. All is 0 of one that has landed. */
int cli_compare_add(struct cli *c, struct cli_compare *x, const struct ga_session *s,
		    struct cli_counts *ret, struct ga_error *err);

/* The names of the sessions that change a path that the i-th of `x->v` changes too, and the first
 * such path of each: two words for each. */
void cli_compare_overlaps(const struct cli_compare *x, size_t i, struct ga_strv *ret);

#endif
