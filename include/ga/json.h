/* SPDX-License-Identifier: MIT
 *
 * Small additions to jansson for what every listing needs.
 */
#ifndef GA_JSON_H
#define GA_JSON_H

#include <jansson.h>

#include "ga/buf.h"
#include "ga/oid.h"
#include "ga/strv.h"

/* Set `key` to the string, or, when it is not UTF-8, `key`_b64 to its base64; NULL is null. */
void ga_json_set_bytes(json_t *obj, const char *key, const char *s);
void ga_json_set_oid(json_t *obj, const char *key, const struct ga_oid *oid); /* null for zero */
json_t *ga_json_strv(const struct ga_strv *sv);
/* Append the bytes of what was made of some: of a string, of an element of such a list, or of an
 * object with "path" or "path_b64". False: it is none of them. */
bool ga_json_bytes(const json_t *v, struct ga_buf *ret);
/* Append the elements of such a list; one that is no bytes as "(not text)". */
void ga_json_words(const json_t *list, struct ga_strv *ret);

#endif
