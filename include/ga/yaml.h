/* SPDX-License-Identifier: MIT
 *
 * A YAML document as a small tree. Hostile input: bounded in bytes, depth and nodes; one document
 * of UTF-8, without anchors, aliases, tags and directives; no key twice.
 */
#ifndef GA_YAML_H
#define GA_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/error.h"

#define GA_YAML_BYTES_MAX ((size_t)256 << 10)
#define GA_YAML_DEPTH_MAX 16  /* lists and maps in one another */
#define GA_YAML_NODES_MAX 10000

enum ga_yaml_kind { GA_YAML_TEXT, GA_YAML_LIST, GA_YAML_MAP };

struct ga_yaml {
	enum ga_yaml_kind kind;
	unsigned line, column;         /* from 1; columns are characters */
	char *text;                    /* of GA_YAML_TEXT: no NUL within */
	bool plain;                    /* not in quotes and no block: "" stands for nothing then */
	struct ga_yaml *v;             /* of the others: what is in it, in order */
	size_t n, cap;
	char *key;                     /* in a map: its name there, and where that stands */
	unsigned key_line, key_column;
};
#define GA_YAML_INIT { .kind = GA_YAML_MAP }
void ga_yaml_release(struct ga_yaml *y);
#define cleanup_yaml cleanup_(ga_yaml_release)

/* Parse a document whose top is a map; one without any content is an empty map. Errors begin with
 * "NAME:LINE:COLUMN: ". `name` is shown as it is. */
int ga_yaml_parse(const char *name, const void *text, size_t n, struct ga_yaml *ret,
		  struct ga_error *err);

/* The error at a place of such a file. Returns -1. */
#define ga_yaml_fail(err, code, name, line, column, fmt, ...)                               \
	ga_fail((err), (code), "%s:%u:%u: " fmt, (name), (line), (column), __VA_ARGS__)

#endif
