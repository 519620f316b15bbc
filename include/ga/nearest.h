/* SPDX-License-Identifier: MIT
 *
 * What somebody who misspelt a word may have meant.
 */
#ifndef GA_NEAREST_H
#define GA_NEAREST_H

#include <stddef.h>

/* The name in `names` nearest to `word`, or NULL if none is near. A name that is NULL is none.
 * The cost is that of both words: cut one that may be long. */
const char *ga_nearest(const char *word, const char *const *names, size_t n);

#endif
