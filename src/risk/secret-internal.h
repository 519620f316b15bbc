/* SPDX-License-Identifier: MIT
 *
 * What the two halves of the look at a file's content share.
 */
#ifndef GA_SECRET_INTERNAL_H
#define GA_SECRET_INTERNAL_H

#include "ga/secret.h"

/* Take note of a value, as a fingerprint in which carriage returns do not count. */
void secret_met(struct ga_secret_marks *m, uint32_t bit, const char *value, size_t n);
/* secret-lines.c: names with values, URLs with passwords. `code`: of a source file. */
void secret_look_lines(const char *p, size_t n, bool code, struct ga_secret_marks *m);
/* Does it look drawn by lot: long, and of many different characters? */
bool secret_random(const char *p, size_t n);
bool secret_is_word(char c); /* [A-Za-z0-9_] */
/* "a GitHub token" */
const char *secret_token_name(unsigned token);

#endif
