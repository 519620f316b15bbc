/* SPDX-License-Identifier: MIT */
#include "ga/config/yaml.h"

#include <string.h>

#include <yaml.h>

#include "ga/base/quote.h"

#define SHOWN 40 /* bytes of a key that a message shows */

struct loader {
	yaml_parser_t parser;
	const char *name;
	const unsigned char *text;
	size_t len, nodes;
	struct ga_error *err;
};

void ga_yaml_release(struct ga_yaml *y)
{
	for (size_t i = 0; i < y->n; i++)
		ga_yaml_release(&y->v[i]);
	free(y->v);
	free(y->text);
	free(y->key);
	*y = (struct ga_yaml)GA_YAML_INIT;
}

static unsigned line_of(const yaml_mark_t *m)
{
	return (unsigned)m->line + 1;
}

static unsigned column_of(const yaml_mark_t *m)
{
	return (unsigned)m->column + 1;
}

static int fail_at(struct loader *l, const yaml_mark_t *m, const char *what)
{
	return ga_yaml_fail(l->err, GA_EFATAL, l->name, line_of(m), column_of(m), "%s", what);
}

/* Report an error of the reader, which knows only an offset. Everything before it is UTF-8. */
static int fail_offset(struct loader *l, size_t offset, const char *what)
{
	yaml_mark_t m = { 0 };

	for (size_t i = 0; i < offset && i < l->len; i++) {
		if (l->text[i] == '\n') {
			m.line++;
			m.column = 0;
		} else if ((l->text[i] & 0xc0) != 0x80) {
			m.column++;
		}
	}
	return fail_at(l, &m, what);
}

static int fail_parser(struct loader *l)
{
	const yaml_parser_t *p = &l->parser;
	const char *what = p->problem ? p->problem : "it cannot be understood";

	if (p->error == YAML_READER_ERROR)
		return fail_offset(l, p->problem_offset, what);
	return fail_at(l, &p->problem_mark, what);
}

static int next(struct loader *l, yaml_event_t *ev)
{
	if (yaml_parser_parse(&l->parser, ev))
		return 0;
	memset(ev, 0, sizeof(*ev));
	return fail_parser(l);
}

static const yaml_char_t *anchor_of(const yaml_event_t *ev)
{
	if (ev->type == YAML_SCALAR_EVENT)
		return ev->data.scalar.anchor;
	return ev->type == YAML_SEQUENCE_START_EVENT ? ev->data.sequence_start.anchor
						     : ev->data.mapping_start.anchor;
}

static const yaml_char_t *tag_of(const yaml_event_t *ev)
{
	if (ev->type == YAML_SCALAR_EVENT)
		return ev->data.scalar.tag;
	return ev->type == YAML_SEQUENCE_START_EVENT ? ev->data.sequence_start.tag
						     : ev->data.mapping_start.tag;
}

/* Refuse the features of YAML that are not allowed here. */
static int check_node(struct loader *l, const yaml_event_t *ev, unsigned depth)
{
	if (ev->type == YAML_ALIAS_EVENT)
		return fail_at(l, &ev->start_mark, "aliases are not taken");
	if (ev->type != YAML_SCALAR_EVENT && ev->type != YAML_SEQUENCE_START_EVENT &&
	    ev->type != YAML_MAPPING_START_EVENT)
		GA_BUG("an event where a node has to begin");
	if (anchor_of(ev))
		return fail_at(l, &ev->start_mark, "anchors are not taken");
	if (tag_of(ev))
		return fail_at(l, &ev->start_mark, "tags are not taken");
	if (++l->nodes > GA_YAML_NODES_MAX)
		return fail_at(l, &ev->start_mark, "there is more than a configuration may have");
	if (ev->type != YAML_SCALAR_EVENT && depth >= GA_YAML_DEPTH_MAX)
		return fail_at(l, &ev->start_mark, "it is nested too deep");
	return 0;
}

static int take_text(struct loader *l, const yaml_event_t *ev, char **ret)
{
	const char *text = (const char *)ev->data.scalar.value;
	size_t n = ev->data.scalar.length;

	/* an escape sequence can produce a NUL */
	if (memchr(text, '\0', n))
		return fail_at(l, &ev->start_mark, "there is a NUL in this text");
	*ret = ga_strndup(text, n);
	return 0;
}

static struct ga_yaml *add_item(struct ga_yaml *in)
{
	GA_GROW(in->v, in->n, in->cap);
	in->v[in->n] = (struct ga_yaml)GA_YAML_INIT;
	return &in->v[in->n++];
}

static int take_node(struct loader *l, const yaml_event_t *ev, unsigned depth, struct ga_yaml *ret);

static int take_list(struct loader *l, unsigned depth, struct ga_yaml *ret)
{
	for (;;) {
		yaml_event_t ev;
		int rc = next(l, &ev);
		bool end = !rc && ev.type == YAML_SEQUENCE_END_EVENT;

		if (!rc && !end)
			rc = take_node(l, &ev, depth + 1, add_item(ret));
		yaml_event_delete(&ev);
		if (rc || end)
			return rc;
	}
}

static int check_twice(struct loader *l, const struct ga_yaml *map, const char *key,
		       const yaml_event_t *ev)
{
	for (size_t i = 0; i < map->n; i++) {
		cleanup_free char *cut = NULL, *q = NULL;

		if (strcmp(map->v[i].key, key) != 0)
			continue;
		cut = ga_strndup(key, SHOWN);
		q = ga_escape(cut);
		return ga_yaml_fail(l->err, GA_EFATAL, l->name, line_of(&ev->start_mark),
				    column_of(&ev->start_mark),
				    "key '%s' is here twice, first in line %u", q,
				    map->v[i].key_line);
	}
	return 0;
}

static int take_key(struct loader *l, const yaml_event_t *ev, unsigned depth, struct ga_yaml *map)
{
	cleanup_free char *key = NULL;
	struct ga_yaml *item;

	if (check_node(l, ev, depth))
		return -1;
	if (ev->type != YAML_SCALAR_EVENT)
		return fail_at(l, &ev->start_mark, "a key has to be a word");
	if (take_text(l, ev, &key) || check_twice(l, map, key, ev))
		return -1;
	item = add_item(map);
	item->key = ga_steal(&key);
	item->key_line = line_of(&ev->start_mark);
	item->key_column = column_of(&ev->start_mark);
	return 0;
}

static int take_map(struct loader *l, unsigned depth, struct ga_yaml *ret)
{
	for (bool value = false;; value = !value) {
		yaml_event_t ev;
		int rc = next(l, &ev);
		bool end = !rc && ev.type == YAML_MAPPING_END_EVENT;

		if (!rc && !end)
			rc = value ? take_node(l, &ev, depth + 1, &ret->v[ret->n - 1])
				   : take_key(l, &ev, depth + 1, ret);
		yaml_event_delete(&ev);
		if (rc || end)
			return rc;
	}
}

/* Build the node that begins with this event, reading the further events that belong to it. */
static int take_node(struct loader *l, const yaml_event_t *ev, unsigned depth, struct ga_yaml *ret)
{
	if (check_node(l, ev, depth))
		return -1;
	ret->line = line_of(&ev->start_mark);
	ret->column = column_of(&ev->start_mark);
	if (ev->type == YAML_SCALAR_EVENT) {
		ret->kind = GA_YAML_TEXT;
		ret->plain = ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
		return take_text(l, ev, &ret->text);
	}
	ret->kind = ev->type == YAML_SEQUENCE_START_EVENT ? GA_YAML_LIST : GA_YAML_MAP;
	return ret->kind == GA_YAML_LIST ? take_list(l, depth, ret) : take_map(l, depth, ret);
}

static int check_directives(struct loader *l, const yaml_event_t *ev)
{
	if (ev->data.document_start.version_directive ||
	    ev->data.document_start.tag_directives.start !=
		    ev->data.document_start.tag_directives.end)
		return fail_at(l, &ev->start_mark, "directives are not taken");
	return 0;
}

static int take_top(struct loader *l, struct ga_yaml *ret)
{
	yaml_event_t ev;
	int rc = next(l, &ev);

	if (!rc)
		rc = take_node(l, &ev, 0, ret);
	if (!rc && ret->kind == GA_YAML_TEXT && ret->plain && !*ret->text)
		ga_yaml_release(ret); /* a document with "---" and no content */
	else if (!rc && ret->kind != GA_YAML_MAP)
		rc = fail_at(l, &ev.start_mark, "keys are expected here, as in 'dirty: refuse'");
	yaml_event_delete(&ev);
	return rc;
}

/* `*ret_end`: the stream has ended. */
static int take_event(struct loader *l, bool *had, bool *ret_end, struct ga_yaml *ret)
{
	yaml_event_t ev;
	int rc = next(l, &ev);

	*ret_end = !rc && ev.type == YAML_STREAM_END_EVENT;
	if (!rc && ev.type == YAML_DOCUMENT_START_EVENT) {
		rc = *had ? fail_at(l, &ev.start_mark, "a second document is not taken")
			  : check_directives(l, &ev);
		*had = true;
		if (!rc)
			rc = take_top(l, ret);
	}
	yaml_event_delete(&ev);
	return rc;
}

int ga_yaml_parse(const char *name, const void *text, size_t n, struct ga_yaml *ret,
		  struct ga_error *err)
{
	struct loader l = { .name = name, .text = text, .len = n, .err = err };
	cleanup_yaml struct ga_yaml top = GA_YAML_INIT;
	bool had = false, end = false;
	int rc = 0;

	if (n > GA_YAML_BYTES_MAX)
		return ga_fail(err, GA_EFATAL, "%s: it is longer than %zu KiB", name,
			       GA_YAML_BYTES_MAX >> 10);
	if (!yaml_parser_initialize(&l.parser))
		GA_BUG("yaml_parser_initialize");
	yaml_parser_set_input_string(&l.parser, text, n);
	/* else the file would choose the encoding */
	yaml_parser_set_encoding(&l.parser, YAML_UTF8_ENCODING);
	while (!rc && !end)
		rc = take_event(&l, &had, &end, &top);
	yaml_parser_delete(&l.parser);
	if (rc)
		return -1;
	*ret = top;
	top = (struct ga_yaml)GA_YAML_INIT;
	return 0;
}
