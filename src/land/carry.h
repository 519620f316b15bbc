/* SPDX-License-Identifier: MIT
 *
 * Uncommitted edits that are brought (carry.c), while it is being decided about them.
 */
#ifndef GA_LAND_CARRY_H
#define GA_LAND_CARRY_H

#include "land-internal.h"

#define CARRY_FILE_MAX ((size_t)64 << 20)

/* All of them, on their way to l->carries. */
struct carry_one {
	const struct ga_change *want;
	struct land_carry *c;
	const char *why;       /* why it is not brought; NULL: it is */
	struct ga_entry index; /* its entry in the user's index */
};
struct carry_all {
	struct land *l;
	struct ga_changes wanted;
	struct carry_one *v; /* in the order of `wanted` */
	char *dir;           /* a directory of ours */
};
struct carry_one *carry_find(struct carry_all *a, const char *path);

static inline bool carry_is_there(const struct land_carry *c)
{
	return c->had.mode != GA_MODE_NONE;
}

/* Let git convert: what it stores of the files that are there (fills c->had.oid), and what it
 * writes for those that change (fills c->bytes). `why` is set where it cannot. */
int carry_clean(struct carry_all *a, struct ga_error *err);
int carry_smudge(struct carry_all *a, struct ga_error *err);

#endif
