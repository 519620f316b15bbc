/* SPDX-License-Identifier: MIT
 *
 * An agent's work from a seed: the same seed does the same things to the same files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ga/base/strv.h"

struct work {
	uint64_t state;       /* of the generator */
	FILE *log;            /* one line for each thing done, or NULL */
	struct ga_strv paths; /* seen so far: most work is done on these */
	bool wild;            /* use names of any bytes, links to anywhere, special files */
	bool used_git;
	bool closed;          /* there are files of mode 000 */
	unsigned serial;      /* of commits and branches */
};

unsigned pick(struct work *w, unsigned n);
bool chance(struct work *w, unsigned percent);
/* Add all that is in the current directory to `paths`. */
void look_around(struct work *w);
/* A path to work at, valid until the next one is asked for in `paths`' favour. */
const char *some_path(struct work *w);
void note(struct work *w, const char *what, const char *a, const char *b);

/* Do something to files in the current directory; it may fail. */
void work_at_files(struct work *w);
/* The same, but only what a user's own uncommitted work is made of. */
void work_plainly(struct work *w);
/* Do something with git in the current directory. */
void work_with_git(struct work *w);
/* Run a program with arguments, NULL last; returns its exit status. */
int run(struct work *w, const char *first, ...) __attribute__((sentinel));

/* Copy files, links and directories of the current directory, except for the `.git` at its top, to
 * `to`, which is made. What its mode forbids to read is made readable meanwhile. Returns 0 or -1.
 */
int copy_view(const char *to);
