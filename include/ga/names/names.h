/* SPDX-License-Identifier: MIT
 *
 * File names as file systems and users read them, and matching paths against many patterns.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/alloc.h"
#include "ga/base/buf.h"

/* ---- folding (fold.c) --------------------------------------------------- */

/* Append `path` folded, as file systems that ignore case and more compare names: in each component,
 * code points that HFS+ ignores are dropped, letters lower-cased, ':' and the rest (an NTFS stream)
 * cut off, and trailing dots and spaces removed. */
void ga_name_fold(struct ga_buf *out, const char *path);

/* Append `s` (folded) in normal form NFKD. Invalid UTF-8 is appended unchanged. */
void ga_name_decompose(struct ga_buf *out, const char *s);
/* False if it is valid UTF-8 but not in normal form NFC. */
bool ga_name_composed(const char *s, size_t n);

/* confuse.c: the Latin letter that this letter of another script looks like; 0: none. */
char ga_lookalike(uint32_t c);
/* The script of this letter: Latin, Greek (mixed with Latin in formulas), or another with letters
 * that look Latin; 0: none of these. */
enum { GA_SCRIPT_LATIN = 1, GA_SCRIPT_GREEK = 2, GA_SCRIPT_OTHER = 4 };
unsigned ga_script_of(uint32_t c);

/* ---- patterns (match.c) -------------------------------------------------- */

/* Compiled patterns. */
struct ga_matcher *ga_matcher_new(void);
void ga_matcher_free(struct ga_matcher *m);
/* Add `patterns`, as those of struct ga_rule (ga/risk/risk.h); NULL: none. Hits have `of`. */
void ga_matcher_add(struct ga_matcher *m, const char *patterns, const void *of);

struct ga_hit {
	const void *of;
	unsigned rank; /* how specific the pattern is */
	bool whole;    /* the path itself is covered, not only paths below it (`link`) */
};
struct ga_hits {
	struct ga_hit *v;
	size_t n, cap;
	uint64_t tried; /* how many patterns were matched in all searches, for tests of the cost */
};
#define GA_HITS_INIT { NULL, 0, 0, 0 }
void ga_hits_release(struct ga_hits *h);
#define cleanup_hits cleanup_(ga_hits_release)

/* All that cover the folded path, each `of` once. With `link`, patterns of paths below it count
 * too, since a link takes the place of a directory that has those. */
void ga_matcher_find(const struct ga_matcher *m, const char *folded, bool link,
		     struct ga_hits *ret);
