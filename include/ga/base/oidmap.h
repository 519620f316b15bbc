/* SPDX-License-Identifier: MIT
 *
 * A map from object ids to numbers, used for sets of ids and for indices into arrays.
 */
#ifndef GA_OIDMAP_H
#define GA_OIDMAP_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/oid.h"

struct ga_oidmap {
	struct ga_oidmap_slot {
		struct ga_oid oid;
		size_t value; /* plus one; 0: the slot is free */
	} *v;
	size_t n, cap; /* `cap` is a power of two */
};
#define GA_OIDMAP_INIT { NULL, 0, 0 }

void ga_oidmap_release(struct ga_oidmap *m);
#define cleanup_oidmap __attribute__((cleanup(ga_oidmap_release)))
/* Add an id; `value` is below SIZE_MAX. Returns false, changing nothing, if it is there already. */
bool ga_oidmap_add(struct ga_oidmap *m, const struct ga_oid *oid, size_t value);
/* Look an id up. Returns false, leaving `*ret` (which may be NULL) alone, if it is not there. */
bool ga_oidmap_get(const struct ga_oidmap *m, const struct ga_oid *oid, size_t *ret);

#endif
