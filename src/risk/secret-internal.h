/* SPDX-License-Identifier: MIT
 *
 * What the files that look for secrets in content share.
 */
#ifndef GA_SECRET_INTERNAL_H
#define GA_SECRET_INTERNAL_H

#include "ga/risk/secret.h"

/* Set a mark, and note the value that it is for by a fingerprint, which ignores carriage returns.
 */
void secret_met(struct ga_secret_marks *m, uint32_t bit, const char *value, size_t n);
/* secret-lines.c: look for names with values, and URLs with passwords. `code`: in a source file. */
void secret_look_lines(const char *p, size_t n, bool code, struct ga_secret_marks *m);
/* Does it look random: long, and of many different characters? */
bool secret_random(const char *p, size_t n);
/* The entropy of 256 bytes at most, in 1024ths of a bit. */
unsigned secret_entropy(const char *p, size_t n);
bool secret_is_word(char c); /* [A-Za-z0-9_] */
/* "a GitHub token" */
const char *secret_token_name(unsigned token);
enum { SECRET_TOKENS = 255 }; /* more than there are names: secrets/cache.c keeps a byte */

#endif
