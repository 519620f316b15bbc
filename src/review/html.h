/* SPDX-License-Identifier: MIT
 *
 * What the files that make the page share.
 */
#ifndef GA_REVIEW_HTML_H
#define GA_REVIEW_HTML_H

#include "review-internal.h"

/* Text that is escaped for a terminal already, as the content of an element. */
void html_put_safe(struct ga_buf *out, const char *safe);
/* Bytes of anybody's: as one line, as a path, as words of a command line. */
void html_put_bytes(struct ga_buf *out, const char *s, size_t n);
void html_put_path(struct ga_buf *out, const char *path);
void html_put_words(struct ga_buf *out, const struct ga_strv *words);
/* A severity with its colour. */
void html_put_severity(struct ga_buf *out, enum ga_severity s);

/* html-time.c: what happened in the session, from its journal. */
int html_put_timeline(const struct ga_session *s, struct ga_buf *out, struct ga_error *err);

#endif
