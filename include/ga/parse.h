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
/* A decimal number in thousandths: digits, or digits, a point and one to three digits; `max` is in
 * thousandths too. */
bool ga_parse_thousandths(const char *s, uint64_t max, uint64_t *ret);
bool ga_parse_fd(const char *s, int *ret);
/* The next of numbers with commas between them, each -?digits; `*text` is moved behind it. */
bool ga_parse_next_int(const char **text, int *ret);
/* Bytes: digits, and behind them nothing, or k, M, G, T (as git has them) or KiB, MiB, GiB, TiB:
 * powers of 1024. */
bool ga_parse_size(const char *s, uint64_t max, uint64_t *ret);
/* A time in seconds: digits, and behind them nothing, s, m or h. */
bool ga_parse_seconds(const char *s, uint64_t max, uint64_t *ret);
/* What these read as the same, in the largest unit that says it exactly. The caller frees it. */
char *ga_size_text(uint64_t bytes);
char *ga_seconds_text(uint64_t seconds);
/* For people: "17 bytes", "1.5 KiB". The caller frees it. */
char *ga_size_about(uint64_t bytes);

/* git's booleans: true/yes/on/1, false/no/off/0 and "". Any case. */
bool ga_parse_bool(const char *s, bool *ret);

#endif
