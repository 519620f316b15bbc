/* SPDX-License-Identifier: MIT
 *
 * A growing, NULL-terminated vector of strings it owns: argument lists,
 * environments, lists of paths and notes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "ga/base/alloc.h"

struct ga_strv {
	char **v; /* NULL-terminated once anything was added; NULL before */
	size_t n;
	size_t cap;
};
#define GA_STRV_INIT { NULL, 0, 0 }

void ga_strv_release(struct ga_strv *sv);
#define cleanup_strv cleanup_(ga_strv_release)

void ga_strv_push(struct ga_strv *sv, const char *s);         /* copies */
void ga_strv_push_n(struct ga_strv *sv, const char *s, size_t n);
void ga_strv_take(struct ga_strv *sv, char *s);               /* takes ownership */
#define ga_strv_pushf(sv, ...) ga_strv_take((sv), ga_strf(__VA_ARGS__))
/* Append several strings; the last argument is NULL. */
void ga_strv_push_many(struct ga_strv *sv, ...) __attribute__((sentinel));
void ga_strv_extend(struct ga_strv *sv, const struct ga_strv *more);
bool ga_strv_has(const struct ga_strv *sv, const char *s);
/* Sort in byte order (strcmp) and remove duplicates. */
void ga_strv_sort_unique(struct ga_strv *sv);
/* The index of `s` in a vector sorted like that, or -1. */
ssize_t ga_strv_find(const struct ga_strv *sorted, const char *s);
/* The first of these directories that contains `path` (ga_path_inside()), or NULL. */
const char *ga_strv_above(const struct ga_strv *dirs, const char *path);

/* ---- nearest */

/* What somebody who misspelt a word may have meant. */

/* The name in `names` nearest to `word` by edit distance, or NULL if none is near. NULL entries are
 * skipped. The cost grows with the product of both lengths: shorten a word that may be long. Points
 * into `names`. */
const char *ga_nearest(const char *word, const char *const *names, size_t n);
