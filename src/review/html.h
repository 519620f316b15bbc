/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that make the HTML page.
 */
#ifndef GA_REVIEW_HTML_H
#define GA_REVIEW_HTML_H

#include "review-internal.h"

/* Put bytes that anybody may have chosen as the content of an element: on one line, or as the words
 * of a command line. */
void html_put_bytes(struct ga_buf *out, const char *s, size_t n);
void html_put_words(struct ga_buf *out, const struct ga_strv *words);

/* html-time.c: what happened in the session, from its journal. */
int html_put_timeline(const struct ga_session *s, struct ga_buf *out, struct ga_error *err);

#endif
