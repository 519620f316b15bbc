/* SPDX-License-Identifier: MIT
 *
 * What the files that look for secrets in content share.
 */
#ifndef GA_SECRET_INTERNAL_H
#define GA_SECRET_INTERNAL_H

#include "ga/secret/secret.h"

/* A hash of a text, added to another one (FNV-1a), which begins with SECRET_HASH. */
#define SECRET_HASH 14695981039346656037u
static inline uint64_t secret_hash(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

/* ---- values (value.c) ----------------------------------------------------- */

enum { SECRET_MIN = 4 }; /* bytes of a password */

/* Set a mark, and note the value that it is for by a fingerprint, which ignores carriage returns.
 */
void secret_met(struct ga_secret_marks *m, uint32_t bit, const char *value, size_t n);
/* Does it look random: long, and of many different characters? */
bool secret_random(const char *p, size_t n);
bool secret_is_word(char c); /* [A-Za-z0-9_] */
/* Is what follows the last dot one of the words of `list`? */
bool secret_has_ending(const char *path, const char *list);

/* lines.c: look for names with values, and URLs with passwords. `code`: in a source file. */
void secret_look_lines(const char *p, size_t n, bool code, struct ga_secret_marks *m);
/* look.c: "a GitHub token" */
const char *secret_token_name(unsigned token);
enum { SECRET_TOKENS = 255 }; /* more than there are names: cache.c keeps a byte */

#endif
