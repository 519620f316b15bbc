/* SPDX-License-Identifier: MIT
 *
 * TOML as a tree of JSON values. Numbers and dates are not interpreted: each is a bare value, an
 * object whose only member, "=", is its text. Hostile input: bounded in bytes and depth.
 */
#pragma once

#include <jansson.h>

#include "ga/base/buf.h"

#define GA_TOML_MAX ((size_t)4 << 20) /* bytes of a file */

/* Parse a file. Returns NULL if it is not valid TOML, repeats a key or table, or has a key "=". */
json_t *ga_toml_parse(const struct ga_buf *text);

/* The text of a bare value, or NULL if `v` is not one. */
const char *ga_toml_bare(const json_t *v);

/* Append such a tree as TOML that parses to the same tree, with each value that is not a table on
 * one line; comments and formatting of the original are lost. Returns false if it is too large or
 * too deep. */
bool ga_toml_write(json_t *table, struct ga_buf *out);
