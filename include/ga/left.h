/* SPDX-License-Identifier: MIT
 *
 * What capture leaves in a session, as a list: read off the layers, kept in the
 * report and shown by the review.
 */
#ifndef GA_LEFT_H
#define GA_LEFT_H

#include <stddef.h>
#include <stdint.h>

enum ga_left_kind {
	GA_LEFT_IGNORED,    /* ignored, and tracked by neither the base nor a commit of the agent */
	GA_LEFT_SPECIAL,    /* fifo, socket, device */
	GA_LEFT_REPOSITORY, /* a nested repository */
	GA_LEFT_SUBMODULE,  /* below a gitlink of the base */
	GA_LEFT_NAME,       /* a name no tree may hold */
	GA_LEFT_UNREADABLE,
	GA_LEFT_LIMIT,      /* above a limit */
};
const char *ga_left_kind_name(enum ga_left_kind k); /* "ignored", "special", ... */

/* What stays in the session: one line a directory or file, counts added up below it. */
struct ga_left {
	char *path;
	enum ga_left_kind kind;
	uint64_t count, bytes;
};
struct ga_left_list {
	struct ga_left *v;
	size_t n, cap;
};
#define GA_LEFT_INIT { NULL, 0, 0 }
void ga_left_release(struct ga_left_list *l);
/* Add all lines of another list. */
void ga_left_extend(struct ga_left_list *l, const struct ga_left_list *from);
/* Add to the line of this path and kind, or begin one. */
void ga_left_add(struct ga_left_list *l, const char *path, enum ga_left_kind kind, uint64_t count,
		 uint64_t bytes);
void ga_left_sort(struct ga_left_list *l); /* by path */

#endif
