/* SPDX-License-Identifier: MIT
 *
 * gitignore(5) on text alone: a stack of pattern lists, of which the innermost match decides.
 * Nothing here touches the file system or the repository.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct ga_ignore_list;

/* A stack of lists: the host's excludes lowest, the root's .gitignore above them, then one for each
 * directory above it that has a .gitignore. */
struct ga_ignore {
	struct ga_ignore_list *v;
	size_t n, cap;
	bool icase; /* core.ignoreCase */
};

void ga_ignore_release(struct ga_ignore *ig);

/* Push the text of one pattern file that lies in `dir` ("" for the root, NULL for one that belongs
 * to no directory). A text without patterns adds nothing. */
void ga_ignore_push(struct ga_ignore *ig, const char *dir, const char *text, size_t n);
/* Pop back to the depth `n` that `ig->n` had before. */
void ga_ignore_pop(struct ga_ignore *ig, size_t n);

enum ga_ignore_verdict { GA_IGNORE_UNDECIDED, GA_IGNORE_NO, GA_IGNORE_YES };

/* What the lists say about `path` itself. The rule that nothing beneath an ignored directory can be
 * re-included is up to the caller, who asks for each directory and stops at a directory that is
 * ignored. */
enum ga_ignore_verdict ga_ignore_check(const struct ga_ignore *ig, const char *path, bool is_dir);

/* The pattern that decides, quoted, for users: "'!x/' of 'dir/.gitignore'", or of the user's own
 * excludes; NULL if none does. The caller frees it. */
char *ga_ignore_reason(const struct ga_ignore *ig, const char *path, bool is_dir);
