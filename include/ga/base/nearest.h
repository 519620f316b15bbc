/* SPDX-License-Identifier: MIT
 *
 * Suggestions for misspelt words.
 */
#ifndef GA_NEAREST_H
#define GA_NEAREST_H

#include <stddef.h>

/* The name in `names` nearest to `word` by edit distance, or NULL if none is near. NULL entries are
 * skipped. The cost grows with the product of both lengths: shorten a word that may be long. Points
 * into `names`. */
const char *ga_nearest(const char *word, const char *const *names, size_t n);

#endif
