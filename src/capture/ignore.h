/* SPDX-License-Identifier: MIT
 *
 * gitignore(5) as text: lists of patterns, the innermost deciding. Nothing here
 * touches the file system or the repository.
 */
#ifndef CAPTURE_IGNORE_H
#define CAPTURE_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

struct ignore_list;

/* A stack of lists: the host's excludes lowest, the root's .gitignore above it,
 * then one for each directory on the way down that has one. */
struct ignore {
	struct ignore_list *v;
	size_t n, cap;
	bool icase; /* core.ignoreCase */
};

void ignore_release(struct ignore *ig);

/* Add the text of one file of patterns that stands in `dir` ("" for the root, NULL for
 * what belongs to no directory). A text without a pattern adds nothing. */
void ignore_push(struct ignore *ig, const char *dir, const char *text, size_t n);
/* Back to the depth `n` that `ig->n` had before. */
void ignore_pop(struct ignore *ig, size_t n);

enum ignore_verdict { IGNORE_UNDECIDED, IGNORE_NO, IGNORE_YES };

/* What the lists say about `path` itself. The rule that nothing beneath an
 * ignored directory can be taken back is the caller's: it asks on the way down
 * and stops asking beneath a directory that is ignored. */
enum ignore_verdict ignore_check(const struct ignore *ig, const char *path, bool is_dir);

/* Which pattern decides, for people and quoted: "'!x/' of 'dir/.gitignore'", or of the user's own
 * excludes. NULL: none does. The caller frees it. */
char *ignore_reason(const struct ignore *ig, const char *path, bool is_dir);

#endif
