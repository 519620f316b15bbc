/* SPDX-License-Identifier: MIT
 *
 * Names of files as file systems and people take them, and many patterns looked up at once.
 */
#ifndef GA_NAMES_H
#define GA_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ga/base/alloc.h"
#include "ga/base/buf.h"

/* ---- folding (fold.c) --------------------------------------------------- */

/* Append `path` folded, as file systems that ignore case and more compare names: in each component,
 * code points that HFS+ ignores are dropped, letters made lower case, ':' and what follows (an NTFS
 * stream) cut off, and dots and spaces at the end removed. */
void ga_name_fold(struct ga_buf *out, const char *path);

/* Append `s` (folded) in the form that is the same for all spellings of its characters (NFKD). What
 * is no UTF-8 is appended unchanged. */
void ga_name_decompose(struct ga_buf *out, const char *s);
/* False if it is UTF-8, and has characters for which there are shorter spellings (NFC). */
bool ga_name_composed(const char *s, size_t n);

/* confuse.c: the Latin letter that this one of another script looks like; 0: none. */
char ga_lookalike(uint32_t c);
/* Of which kind is the script of this letter: Latin, Greek, whose letters stand beside Latin ones
 * in formulas, or another with letters that look Latin? 0: none of these. */
enum { GA_SCRIPT_LATIN = 1, GA_SCRIPT_GREEK = 2, GA_SCRIPT_OTHER = 4 };
unsigned ga_script_of(uint32_t c);

/* ---- patterns (match.c) -------------------------------------------------- */

/* Patterns, compiled for looking paths up. */
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

#endif
