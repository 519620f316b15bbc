/* SPDX-License-Identifier: MIT
 *
 * A YAML document as a small tree. Hostile input: bounded in bytes, depth and nodes; a single UTF-8
 * document without anchors, aliases, tags and directives; no key twice.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/error.h"

#define GA_YAML_BYTES_MAX ((size_t)256 << 10)
#define GA_YAML_DEPTH_MAX 16  /* depth of nested lists and maps */
#define GA_YAML_NODES_MAX 10000

enum ga_yaml_kind { GA_YAML_TEXT, GA_YAML_LIST, GA_YAML_MAP };

struct ga_yaml {
	enum ga_yaml_kind kind;
	unsigned line, column;         /* from 1; columns are characters */
	char *text;                    /* for GA_YAML_TEXT; contains no NUL */
	bool plain;                    /* neither quoted nor a block: then "" means null */
	struct ga_yaml *v;             /* for the others: the elements, in order */
	size_t n, cap;
	char *key;                     /* in a map: the key, and its position */
	unsigned key_line, key_column;
};
#define GA_YAML_INIT { .kind = GA_YAML_MAP }
void ga_yaml_release(struct ga_yaml *y);
#define cleanup_yaml cleanup_(ga_yaml_release)

/* Parse a document whose top level is a map; an empty document is an empty map. Errors begin with
 * "NAME:LINE:COLUMN: ". `name` is shown as it is. */
int ga_yaml_parse(const char *name, const void *text, size_t n, struct ga_yaml *ret,
		  struct ga_error *err);

/* Report an error at a position of such a file. Returns -1. */
#define ga_yaml_fail(err, code, name, line, column, fmt, ...)                               \
	ga_fail((err), (code), "%s:%u:%u: " fmt, (name), (line), (column), __VA_ARGS__)
