/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "risk/content.h"

/* Shared by the inspections of known files: lists of names, and lines. */

enum { LIST_SHOWN = 5 };

char *ga_known_list(const struct ga_strv *names)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < names->n && i < LIST_SHOWN; i++) {
		if (i)
			ga_buf_adds(&b, ", ");
		ga_risk_quote_start(&b, names->v[i]);
	}
	if (names->n > LIST_SHOWN)
		ga_buf_addf(&b, " and %zu more", names->n - LIST_SHOWN);
	return ga_buf_steal(&b);
}

void ga_known_add_detail(struct ga_inspect *k, const char *rule, enum ga_severity s,
			 const char *intro, const struct ga_strv *names)
{
	cleanup_free char *list = ga_known_list(names);

	if (names->n)
		ga_add_detail(k, rule, s, ga_strf("%s%s", intro, list));
}

bool ga_known_in(const char *name, const char *list)
{
	size_t n;

	for (const char *p = list; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (p[n - 1] == '*' && !strncmp(name, p, n - 1))
			return true;
	}
	return ga_has_word(list, name);
}

void ga_known_lines(const struct ga_buf *text, void (*line)(void *arg, char *line), void *arg)
{
	const char *s;

	for (size_t pos = 0, n; (s = ga_buf_next_line(text, &pos, &n));) {
		cleanup_free char *copy = ga_strndup(s, n);

		line(arg, copy);
	}
}

/* Lock files of yarn, pnpm and pub as a tree of JSON values: the part of YAML that these tools
 * write, a key and its value in each line, and yarn's older form, which has no colons. Whatever
 * else YAML has is refused. */

enum { DEPTH_MAX = 16 };

struct blocks {
	struct level {
		json_t *table; /* borrowed */
		size_t indent;
		bool list;
	} at[DEPTH_MAX];
	size_t depth;
	size_t text;   /* lines that are indented further belong to a text; 0: none is open */
	bool nested;   /* the next line is indented further */
	bool classic;  /* yarn's older form */
	bool bad;
};

/* Take a word up to one of `ends` outside quotes; NULL: its form is not supported. */
static char *word(char **p, const char *ends)
{
	char *start = *p, q = *start;
	size_t n;

	if (q == '"' || q == '\'') {
		n = strcspn(start + 1, q == '"' ? "\"\\" : "'");
		if (start[n + 1] != q || start[n + 2] == q)
			return NULL;
		*p += n + 2;
		return ga_strndup(start + 1, n);
	}
	if (strchr("&*!%`|>?#,]}[{", q) || (q == '-' && start[1] == ' '))
		return NULL;
	for (n = 0; start[n] && !strchr(ends, start[n]); n++)
		if ((start[n] == ':' && strchr(" ", start[n + 1])) ||
		    (start[n] == '#' && n && start[n - 1] == ' '))
			break;
	*p += n;
	while (n && start[n - 1] == ' ')
		n--;
	return n ? ga_strndup(start, n) : NULL;
}

static char *skip(char *p)
{
	return p + strspn(p, " ");
}

/* What is in brackets on one line. */
static json_t *flow(char **p)
{
	bool list = **p == '[';
	json_t *in = list ? json_array() : json_object();

	for ((*p)++;;) {
		cleanup_free char *key = NULL, *text = NULL;

		*p = skip(*p);
		if (**p == (list ? ']' : '}'))
			break;
		key = list ? NULL : word(p, ",]}");
		if (!list && (!key || *(*p)++ != ':'))
			goto bad;
		*p = skip(*p);
		text = word(p, ",]}");
		*p = skip(*p);
		if (!text || (key && json_object_get(in, key)) ||
		    (list ? json_array_append_new(in, json_string(text)) :
			    json_object_set_new(in, key, json_string(text))) ||
		    (**p != ',' && **p != (list ? ']' : '}')))
			goto bad;
		*p += **p == ',';
	}
	(*p)++;
	return in;
bad:
	json_decref(in);
	return NULL;
}

static json_t *value(struct blocks *b, const char *key, char *p, size_t indent)
{
	cleanup_free char *text = NULL;
	json_t *v;

	if (!*p) {
		b->nested = true;
		return json_object();
	}
	if (ga_has_word("| |- > >-", p) && !strcmp(key, "deprecated")) {
		b->text = indent + 1;
		return json_string("");
	}
	if (*p == '[' || *p == '{') {
		v = flow(&p);
	} else {
		text = word(&p, "");
		v = text ? json_string(text) : NULL;
	}
	if (!*skip(p))
		return v;
	json_decref(v);
	return NULL;
}

/* An element of a list below a key, for which an empty table was made: what these tools list has no
 * order that counts. */
static bool item(struct blocks *b, json_t *in, char *p)
{
	cleanup_free char *text = word(&p, "");

	b->at[b->depth - 1].list = true;
	return b->depth > 1 && text && !*p && !json_object_get(in, text) &&
	       !json_object_set_new(in, text, json_true());
}

/* Take a key and what parts it from its value. */
static char *key_of(const struct blocks *b, char **p)
{
	size_t n = strlen(*p);
	char *key = NULL;

	if (!b->classic) {
		key = word(p, "");
	} else if ((*p)[n - 1] == ':') {
		/* names that share an entry are in one line, each in quotes or not */
		key = ga_strndup(*p, n - 1);
		*p += n - 1;
		for (char *from = key, *to = key; (*to = *from); from++)
			to += *from != '"';
	} else {
		key = word(p, " ");
	}
	if (key && (**p == ':' || (b->classic && **p == ' '))) {
		++*p;
		return key;
	}
	free(key);
	return NULL;
}

static bool entry(struct blocks *b, char *p, size_t indent)
{
	cleanup_free char *key = NULL;
	json_t *in, *v;

	if (b->nested && indent > b->at[b->depth - 1].indent)
		b->at[b->depth - 1].indent = indent;
	else if (b->nested)
		b->depth--;
	b->nested = false;
	while (b->depth > 1 && indent < b->at[b->depth - 1].indent)
		b->depth--;
	in = b->at[b->depth - 1].table;
	if (indent != b->at[b->depth - 1].indent)
		return false;
	if (p[0] == '-' && p[1] == ' ' && (b->at[b->depth - 1].list || !json_object_size(in)))
		return item(b, in, skip(p + 2));
	key = b->at[b->depth - 1].list ? NULL : key_of(b, &p);
	if (!key || json_object_get(in, key) || !(v = value(b, key, skip(p), indent)) ||
	    json_object_set_new(in, key, v))
		return false;
	if (b->nested && b->depth < DEPTH_MAX)
		b->at[b->depth++] = (struct level){ .table = v, .indent = indent };
	return !b->nested || b->depth < DEPTH_MAX;
}

static void block_line(void *arg, char *line)
{
	struct blocks *b = arg;
	size_t indent = strspn(line, " ");
	char *p = line + indent, *end = p + strlen(p);

	if (end > p && end[-1] == '\r')
		*--end = '\0';
	if (b->bad || !*p || *p == '#' || (b->text && indent >= b->text) ||
	    (!indent && !strcmp(p, "---") && !json_object_size(b->at[0].table)))
		return;
	b->text = 0;
	b->bad |= strchr(p, '\t') || !entry(b, p, indent);
}

json_t *ga_known_blocks(const struct ga_buf *text, bool yarn)
{
	struct blocks b = { .at = { { .table = json_object() } }, .depth = 1 };
	json_t *root = b.at[0].table;

	b.classic = yarn && !strstr(text->ptr, "__metadata:");
	b.bad = text->len > GA_KNOWN_MAX || memchr(text->ptr, '\0', text->len);
	if (!b.bad)
		ga_known_lines(text, block_line, &b);
	if (!b.bad)
		return root;
	json_decref(root);
	return NULL;
}

void ga_known_json_release(json_t **j)
{
	json_decref(*j);
}

/* The end of a comment at `p`; NULL: none, or it does not end. For editors a line comment ends at a
 * carriage return too. */
static const char *past_comment(const char *p, const char *end)
{
	const char *close;

	if (end - p < 2 || p[0] != '/')
		return NULL;
	if (p[1] == '/') {
		while (p < end && *p != '\n' && *p != '\r')
			p++;
		return p;
	}
	if (p[1] != '*')
		return NULL;
	close = memmem(p + 2, (size_t)(end - p) - 2, "*/", 2);
	return close ? close + 2 : NULL;
}

static const char *past_string(const char *p, const char *end)
{
	for (p++; p < end && *p != '"'; p++)
		if (*p == '\\' && p + 1 < end)
			p++;
	return p < end ? p + 1 : end;
}

/* Remove comments, and commas before a closing bracket. */
static void strip(const struct ga_buf *text, struct ga_buf *out)
{
	const char *p = text->ptr, *end = p + text->len;

	while (p < end) {
		const char *past = past_comment(p, end);

		if (past) {
			ga_buf_addch(out, ' ');
			p = past;
			continue;
		}
		past = *p == '"' ? past_string(p, end) : p + 1;
		if (*p == '}' || *p == ']') {
			size_t n = out->len;

			while (n && strchr(" \t\r\n", out->ptr[n - 1]))
				n--;
			if (n && out->ptr[n - 1] == ',')
				out->ptr[n - 1] = ' ';
		}
		ga_buf_add(out, p, (size_t)(past - p));
		p = past;
	}
}

json_t *ga_known_json(const struct ga_buf *text, bool comments)
{
	cleanup_buf struct ga_buf plain = GA_BUF_INIT;
	json_error_t ignored;
	json_t *j;

	if (!text->len)
		return json_object();
	if (text->len > GA_KNOWN_MAX)
		return NULL;
	/* U+2028 and U+2029 end a comment for some editors, and not for others */
	if (comments && (memmem(text->ptr, text->len, "\xe2\x80\xa8", 3) ||
			 memmem(text->ptr, text->len, "\xe2\x80\xa9", 3)))
		return NULL;
	if (comments)
		strip(text, &plain);
	else
		ga_buf_add(&plain, text->ptr, text->len);
	j = json_loadb(plain.ptr, plain.len, JSON_REJECT_DUPLICATES, &ignored);
	if (j && !json_is_object(j)) {
		json_decref(j);
		return NULL;
	}
	return j;
}

bool ga_known_json_same(const json_t *a, const json_t *b)
{
	cleanup_free char *x = NULL, *y = NULL;

	if (!a || !b)
		return a == b;
	x = json_dumps(a, JSON_COMPACT | JSON_ENCODE_ANY);
	y = json_dumps(b, JSON_COMPACT | JSON_ENCODE_ANY);
	return x && y && !strcmp(x, y);
}

void ga_known_json_changed(const json_t *a, const json_t *b, struct ga_strv *ret)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)b, key, value)
		if (!ga_known_json_same(json_object_get(a, key), value))
			ga_strv_push(ret, key);
	json_object_foreach((json_t *)(uintptr_t)a, key, value)
		if (!json_object_get(b, key))
			ga_strv_push(ret, key);
}
