/* SPDX-License-Identifier: MIT
 *
 * Strict parsing of numbers: no leading blanks or signs, no trailing bytes, no overflow. Each
 * function returns false and leaves `*ret` alone on anything else.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ga/base/alloc.h"

bool ga_parse_u64(const char *s, uint64_t max, uint64_t *ret);
/* -?digits */
bool ga_parse_i64(const char *s, int64_t *ret);
bool ga_parse_fd(const char *s, int *ret);
/* Parse the next of several numbers separated by commas, each -?digits, and move `*text` behind
 * it. */
bool ga_parse_next_int(const char **text, int *ret);
/* A size in bytes: digits, followed by nothing, by k, M, G, T (as in git) or by KiB, MiB, GiB, TiB;
 * all are powers of 1024. */
bool ga_parse_size(const char *s, uint64_t max, uint64_t *ret);
/* A time in seconds: digits, followed by nothing, s, m or h. */
bool ga_parse_seconds(const char *s, uint64_t max, uint64_t *ret);
/* The reverse, in the largest unit that divides the value. The caller frees it. */
char *ga_size_text(uint64_t bytes);
char *ga_seconds_text(uint64_t seconds);
/* For users: "17 bytes", "1.5 KiB". The caller frees it. */
char *ga_size_about(uint64_t bytes);
/* "3 files", "1 file". The caller frees it. */
#define ga_count(n, one, many) ga_strf("%zu %s", (size_t)(n), (n) == 1 ? (one) : (many))

struct ga_version {
	uint64_t major, minor;
};
/* A number, a point and another number; anything may follow. Parses the release of uname(2). */
bool ga_parse_release(const char *s, struct ga_version *ret);
/* The version line of a program: `name`, a blank, and a release as above. */
bool ga_parse_version(const char *s, const char *name, struct ga_version *ret);
bool ga_version_before(const struct ga_version *v, uint64_t major, uint64_t minor);

/* git's booleans: true/yes/on/1, false/no/off/0 and "". Any case. */
bool ga_parse_bool(const char *s, bool *ret);
