/* SPDX-License-Identifier: MIT
 *
 * Seeded work of an agent: the same seed does the same things to the same files.
 */
#ifndef GA_TEST_ORACLE_H
#define GA_TEST_ORACLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ga/strv.h"

struct work {
	uint64_t state;       /* of the generator */
	FILE *log;            /* one line for each thing done, or NULL */
	struct ga_strv paths; /* met so far: most work is done where there was some before */
	bool wild;            /* names of any byte, links to anywhere, special files */
	bool used_git;
	bool closed;          /* there are files of mode 000 */
	unsigned serial;      /* of commits and branches */
};

unsigned pick(struct work *w, unsigned n);
bool chance(struct work *w, unsigned percent);
/* Meet what there is in the current directory. */
void look_around(struct work *w);
/* A path to work at, valid until the next one is asked for in `paths`' favour. */
const char *some_path(struct work *w);
void note(struct work *w, const char *what, const char *a, const char *b);

/* Things done to files in the current directory; all of them may fail. */
void work_at_files(struct work *w);
/* The part of them that a user's own uncommitted work is made of. */
void work_plainly(struct work *w);
/* Things done with git in the current directory. */
void work_with_git(struct work *w);
/* A program and its arguments, NULL last: its exit status. */
int run(struct work *w, const char *first, ...) __attribute__((sentinel));

/* Copy what is seen in the current directory to `to`, which is made: files, links and
 * directories, without the `.git` at the top. What may not be read is made readable for
 * the while. 0 or -1. */
int copy_view(const char *to);

#endif
