/* SPDX-License-Identifier: MIT
 *
 * What patterns mean, said as plainly as can be, with no thought of speed.
 */
#ifndef MODEL_WILDMATCH_H
#define MODEL_WILDMATCH_H

#include <stdbool.h>

enum { MODEL_MAX = 200 }; /* bytes of a pattern or a text */

/* Both at most MODEL_MAX long. */
bool model_wildmatch(const char *pattern, const char *text, bool icase);

#endif
