/* SPDX-License-Identifier: MIT
 *
 * Numbers from text, strictly: no leading blanks or signs, no trailing bytes,
 * no overflow. Each returns false and leaves `*ret` alone on anything else.
 */
#ifndef GA_PARSE_H
#define GA_PARSE_H

#include <stdbool.h>
#include <stdint.h>

bool ga_parse_u64(const char *s, uint64_t max, uint64_t *ret);
/* -?digits */
bool ga_parse_i64(const char *s, int64_t *ret);
bool ga_parse_fd(const char *s, int *ret);
/* git's booleans: true/yes/on/1, false/no/off/0 and "". Any case. */
bool ga_parse_bool(const char *s, bool *ret);

#endif
