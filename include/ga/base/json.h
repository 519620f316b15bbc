/* SPDX-License-Identifier: MIT
 *
 * Small additions to jansson that every listing needs.
 */
#pragma once

#include <jansson.h>

#include "ga/base/buf.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"

/* Set a member, or append an element; a value that could not be made is left out. */
static inline void ga_json_set(json_t *obj, const char *key, json_t *value)
{
	(void)json_object_set_new(obj, key, value);
}
static inline void ga_json_add(json_t *list, json_t *value)
{
	(void)json_array_append_new(list, value);
}
/* Set `key` to the string or, if that is not UTF-8, `key`_b64 to its base64. NULL becomes null. */
void ga_json_set_bytes(json_t *obj, const char *key, const char *s);
void ga_json_set_oid(json_t *obj, const char *key, const struct ga_oid *oid); /* null for zero */
json_t *ga_json_strv(const struct ga_strv *sv);
/* Append its text, in one line. */
void ga_json_add_text(const json_t *v, struct ga_buf *ret);
/* The reverse: append the bytes of a string, of an element of a list made by ga_json_strv(), or of
 * an object with "path" or "path_b64". False if it is none of these. */
bool ga_json_bytes(const json_t *v, struct ga_buf *ret);
/* Append the elements of such a list; an element that does not decode as "(not text)". */
void ga_json_words(const json_t *list, struct ga_strv *ret);
