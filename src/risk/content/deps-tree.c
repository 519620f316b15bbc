/* SPDX-License-Identifier: MIT
 *
 * Formats that are trees: JSON, TOML, and what yarn, pnpm and pub write.
 */
#include <ctype.h>
#include <string.h>

#include "risk/content.h"
#include "ga/base/path.h"
#include "ga/base/toml.h"

/* Names and paths are repeated for what is beneath them. */
enum { ENTRIES_MAX = 200000, NAME_BYTES_MAX = 4000, PATH_BYTES_MAX = 1000 };

/* ---- paths ------------------------------------------------------------------ */

typedef void place_fn(void *arg, json_t *in, const char *key);

/* Call `fn` for each place that a path of `n` bytes leads to. */
static void places(json_t *j, const char *path, size_t n, place_fn *fn, void *arg)
{
	size_t part = strcspn(path, ". "), rest = part < n ? part + 1 : n;
	cleanup_free char *word = ga_strndup(path, part < n ? part : n);
	json_t *v;
	const char *key;
	void *next;

	if (!json_is_object(j))
		return;
	json_object_foreach_safe(j, next, key, v) {
		if (strcmp(word, "*") != 0 && strcmp(word, key) != 0)
			continue;
		if (rest == n)
			fn(arg, j, key);
		else
			places(v, path + rest, n - rest, fn, arg);
	}
}

static void each_place(json_t *j, const char *paths, place_fn *fn, void *arg)
{
	for (size_t n; paths && *paths; paths += n + (paths[n] == ' ')) {
		n = strcspn(paths, " ");
		places(j, paths, n, fn, arg);
	}
}

/* ---- what else there is -------------------------------------------------------- */

/* A key as part of a path; different keys never become the same. */
static void put_key(struct ga_buf *b, const char *key)
{
	static const char bare[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789_-";
	json_t *j = *key && !key[strspn(key, bare)] ? NULL : json_string(key);
	cleanup_free char *text = j ? json_dumps(j, JSON_ENCODE_ANY) : NULL;

	json_decref(j);
	ga_buf_addf(b, "%s%s", b->len ? "." : "", text ? text : key);
}

/* Append "KEY = VALUE" for each value of a tree, in order, below `prefix`. */
static void flatten(const json_t *j, const char *prefix, struct ga_strv *ret)
{
	bool whole = strlen(prefix) > PATH_BYTES_MAX;
	bool tables = !whole && json_is_object(json_array_get(j, 0));
	const char *bare = json_string_value(json_object_get(j, "=")); /* of TOML */
	cleanup_free char *text = NULL;
	const char *key;
	json_t *v;
	size_t i;

	if (bare) {
		ga_strv_pushf(ret, "%s = %s", prefix, bare);
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)(whole ? NULL : j), key, v) {
		cleanup_buf struct ga_buf b = GA_BUF_INIT;

		ga_buf_adds(&b, prefix);
		put_key(&b, key);
		flatten(v, b.ptr, ret);
	}
	json_array_foreach(j, i, v) {
		cleanup_free char *name = tables ? ga_strf("%s#%zu", prefix, i) : NULL;

		if (tables)
			flatten(v, name, ret);
	}
	if (tables || (!whole && json_object_size(j)) || !*prefix)
		return;
	text = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
	ga_strv_pushf(ret, "%s = %s", prefix, text ? text : "");
}

/* ---- an entry -------------------------------------------------------------------- */

struct reader {
	const struct ga_deps_format *x;
	struct ga_deps *ret;
	bool bad;
};

static const char proofs[] = "integrity checksum sha256 shasum narHash hash hashes";

/* Add the proofs in a value, each with the name of its file, and to `origin` where the file is. */
static void put_proof(struct ga_dep *p, const json_t *v, struct ga_buf *origin)
{
	static const char *const names[] = { "url", "file", "filename" };
	const char *at = json_string_value(v), *file = NULL, *hash;
	json_t *item;
	size_t i;

	if (at && *at)
		ga_strv_push(&p->proofs, at);
	json_array_foreach(v, i, item)
		put_proof(p, item, origin);
	if (!json_is_object(v))
		return;
	for (i = 0; i < GA_NELEMS(names) && !file; i++)
		file = json_string_value(json_object_get(v, names[i]));
	hash = json_string_value(json_object_get(v, "hash"));
	ga_strv_pushf(&p->proofs, "%s %s", file ? ga_path_base(file) : "", hash ? hash : "");
	at = file ? strstr(file, "://") : NULL;
	if (at) {
		cleanup_free char *host = ga_strndup(file, (size_t)(at - file) + 3 +
								   strcspn(at + 3, "/?#"));

		if (origin->len > NAME_BYTES_MAX || !strstr(origin->ptr, host))
			ga_buf_addf(origin, " %s", host);
	}
}

static int in_file(char c)
{
	return strchr("-_.", c) ? '-' : tolower((unsigned char)c);
}

/* Files of a package are called after it. */
static void check_file(const struct ga_dep *p, struct ga_buf *origin)
{
	for (size_t i = 0; i < p->proofs.n; i++) {
		const char *a = p->name, *b = p->proofs.v[i];

		if (!strchr(b, ' '))
			continue;
		for (; *a && *b; a++, b++)
			if (in_file(*a) != in_file(*b))
				break;
		if (*a || *b != '-')
			ga_buf_addf(origin, " %s", p->proofs.v[i]);
	}
}

/* Add the origin in a member of an entry. */
static void put_origin(struct ga_dep *p, const char *key, const json_t *v, struct ga_buf *origin)
{
	cleanup_free char *text = NULL;
	const char *name, *s = json_string_value(v), *hash = s ? strrchr(s, '#') : NULL;
	json_t *member;

	if (ga_has_word(proofs, key)) {
		put_proof(p, v, origin);
		return;
	}
	/* a commit that is locked with its time is a version, and one without is a pin */
	json_object_foreach((json_t *)(uintptr_t)v, name, member)
		if (strcmp(name, "rev") != 0 || !json_object_get(v, "lastModified"))
			put_origin(p, name, member, origin);
	if (json_is_object(v))
		return;
	if (ga_has_word("lastModified revCount", key))
		return;
	/* yarn: a checksum behind the address of an archive */
	if (hash && !strncmp(s, "http", 4) && !strstr(s, ".git#") && strlen(hash) == 41) {
		ga_strv_push(&p->proofs, hash);
		text = ga_strndup(s, (size_t)(hash - s));
	} else {
		text = s ? ga_strdup(s) : json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
	}
	if (ga_has_word("resolved resolution source", key))
		key = "";
	ga_buf_addf(origin, "%s%s%s%s", origin->len ? " " : "", key, *key ? "=" : "",
		    text ? text : "");
}

/* ---- names ---------------------------------------------------------------------------- */

/* The '@' after a name; NULL: none. */
static char *behind_name(char *s)
{
	return *s ? strchr(s + 1, '@') : NULL;
}

/* The name in a key of yarn, of which each word is NAME@RANGE, and the aliases of the entry. */
static char *yarn_name(const char *key, const char *resolution, struct ga_buf *as)
{
	cleanup_free char *copy = ga_strdup(key), *first = NULL;
	char *name = resolution && *resolution ? ga_strdup(resolution) : NULL, *save = NULL;

	for (char *w = strtok_r(copy, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		char *at = behind_name(w += strspn(w, " ")), *real = at ? at + 1 : w;

		if (at)
			*at = '\0';
		/* an alias: NAME@npm:TARGET@RANGE */
		if (!name && at && !strncmp(real, "npm:", 4) && behind_name(real + 4))
			name = ga_strdup(real + 4);
		if (!first)
			first = ga_strdup(w);
		if (name && behind_name(name))
			*behind_name(name) = '\0';
		if (strcmp(w, name ? name : first) != 0 && !strstr(as->ptr, w))
			ga_buf_addf(as, " as %s", w);
	}
	return name ? name : first ? ga_steal(&first) : ga_strdup(key);
}

/* The '@' in "npm:TARGET@RANGE", or in pnpm's "TARGET@VERSION(...)"; NULL: it is no alias. */
static const char *alias_of(const char *version)
{
	size_t skip = version && !strncmp(version, "npm:", 4) ? 4 : 0;
	const char *at = version && version[skip] ? strchr(version + skip + 1, '@') : NULL;

	return at && (skip || version + strcspn(version, ":(") > at) ? at : NULL;
}

/* Find the name of an entry. `*version` may be set to a part of `key`, and `key` is cut. */
static char *name_of(const struct ga_deps_format *x, char *key, const json_t *entry,
		     const char **version, struct ga_buf *as)
{
	const char *member = json_string_value(json_object_get(entry, x->member ? x->member : ""));
	const char *name = key, *at;

	switch (x->name) {
	case GA_DEPS_KEY:
	case GA_DEPS_COORDINATE:
		break;
	case GA_DEPS_MEMBER:
		name = member ? member : key;
		break;
	case GA_DEPS_NPM:
		for (const char *s = name; (s = strstr(s, "node_modules/"));)
			name = s += strlen("node_modules/");
		if (member && strcmp(member, name) != 0 && strstr(key, "node_modules/"))
			ga_buf_addf(as, " as %s", name);
		name = member ? member : name;
		break;
	case GA_DEPS_PNPM:
		key += *key == '/';
		key[strcspn(key, "(")] = '\0';
		name = key;
		at = behind_name(key);
		*version = at && !*version ? at + 1 : *version;
		key[at ? at - key : (ptrdiff_t)strlen(key)] = '\0';
		break;
	case GA_DEPS_YARN:
		return yarn_name(key, member, as);
	case GA_DEPS_ALIAS:
		at = alias_of(*version);
		if (!at)
			break;
		ga_buf_addf(as, " as %s", name);
		name = *version + (strncmp(*version, "npm:", 4) ? **version == '/' : 4);
		*version = at + 1;
		return ga_strndup(name, (size_t)(at - name));
	}
	return ga_strdup(name);
}

/* ---- reading ----------------------------------------------------------------------------- */

/* Is it on a list, which may be NULL, or "*"? */
static bool in(const char *list, const char *word)
{
	return list && (!strcmp(list, "*") || ga_has_word(list, word));
}

static void put_edges(struct reader *r, const char *key, const json_t *v)
{
	const char *name;
	json_t *item;
	size_t i;

	if (!in(r->x->edges, key))
		return;
	json_object_foreach((json_t *)(uintptr_t)v, name, item) {
		cleanup_buf struct ga_buf as = GA_BUF_INIT;
		struct ga_deps_format alias = { .name = GA_DEPS_ALIAS };
		cleanup_free char *own = ga_strdup(name), *target = NULL;
		const char *version = json_string_value(item);

		target = name_of(&alias, own, NULL, &version, &as);
		ga_strv_pushf(&r->ret->edges, "%s%s", target, as.ptr);
	}
	json_array_foreach(v, i, item)
		if (json_is_string(item))
			ga_strv_push_n(&r->ret->edges, json_string_value(item),
				       strcspn(json_string_value(item), " "));
}

/* A string that is an entry: a version, or what a list requires. */
static void read_string(struct reader *r, const char *key, const char *text)
{
	cleanup_buf struct ga_buf as = GA_BUF_INIT;
	cleanup_free char *own = ga_strdup(key ? key : text), *name = NULL;
	cleanup_free char *value = ga_strdup(text);
	const char *version = value;
	char *colon = strrchr(value, ':');

	if (!key) {
		r->bad |= !ga_deps_add_python(r->ret, text);
		return;
	}
	if (r->x->name == GA_DEPS_COORDINATE && colon && ga_dep_is_plain(colon + 1)) {
		*colon = '\0';
		ga_buf_adds(&as, value);
		version = colon + 1;
	}
	name = name_of(r->x, own, NULL, &version, &as);
	ga_dep_set(ga_deps_add(r->ret, name), version, as.ptr);
}

static bool is_true(const json_t *v)
{
	return json_is_true(v) || (json_is_string(v) && strcmp(json_string_value(v), "false") != 0);
}

static void put_rest(struct reader *r, const char *path, const char *name, const char *member,
		     const json_t *v)
{
	cleanup_free char *at = ga_strf("%s.%s.%s", path, name, member);

	flatten(v, at, &r->ret->rest);
}

static void read_object(struct reader *r, const char *path, const char *key, json_t *entry)
{
	static const char scripts[] = "hasInstallScript requiresBuild";
	cleanup_buf struct ga_buf origin = GA_BUF_INIT, as = GA_BUF_INIT;
	cleanup_free char *own = ga_strdup(key), *name = NULL, *range = NULL;
	const char *member, *said = json_string_value(json_object_get(entry, "version"));
	const char *version = said;
	const json_t *time;
	struct ga_dep *p;
	json_t *v;

	name = name_of(r->x, own, entry, &version, &as);
	time = json_object_get(json_object_get(entry, "locked"), "lastModified");
	range = json_is_integer(time) ?
			ga_strf("%lld.%06lld", (long long)json_integer_value(time) / 1000000,
				(long long)json_integer_value(time) % 1000000) :
			ga_strndup(version ? version : "", version ? strcspn(version, "(") : 0);
	p = ga_deps_add(r->ret, name);
	p->mention = !r->x->origin;
	json_object_foreach(entry, member, v) {
		put_edges(r, member, v);
		if (ga_has_word(scripts, member))
			p->runs |= is_true(v);
		else if (in(r->x->proof, member))
			put_proof(p, v, &origin);
		else if (in(r->x->origin, member))
			put_origin(p, member, v, &origin);
		else if (!in(r->x->ignored, member) && !in(r->x->member, member) &&
			 (!said || strcmp(member, "version") != 0))
			put_rest(r, path, name, member, v);
	}
	ga_buf_adds(&origin, as.ptr);
	check_file(p, &origin);
	ga_strv_sort_unique(&p->proofs);
	ga_dep_set(p, range, origin.ptr);
}

static void read_entry(struct reader *r, const char *path, const char *key, json_t *v)
{
	json_t *inner = json_object_get(v, "dependencies");
	const char *name, *member = r->x->member ?
				    json_string_value(json_object_get(v, r->x->member)) : NULL;

	r->bad |= r->ret->n >= ENTRIES_MAX || (key && strlen(key) > NAME_BYTES_MAX) ||
		  strlen(member ? member : "") > NAME_BYTES_MAX;
	if (r->bad)
		return;
	if (json_is_string(v)) {
		read_string(r, key, json_string_value(v));
	} else if (!json_is_object(v)) {
		r->bad = true;
	} else if (r->x->name == GA_DEPS_NPM && !*key) {
		return; /* the project itself, whose manifest is compared */
	} else {
		read_object(r, path, key ? key : "", v);
		/* npm's older form has packages within packages */
		if (r->x->name == GA_DEPS_NPM && !strcmp(path, "dependencies"))
			json_object_foreach(inner, name, v)
				if (json_is_object(v))
					read_entry(r, path, name, v);
	}
}

/* Read the packages at a place, and remove them. */
static void read_place(void *arg, json_t *in, const char *path)
{
	struct reader *r = arg;
	json_t *at = json_object_get(in, path), *v;
	const char *key;
	size_t i;

	json_object_foreach(at, key, v)
		read_entry(r, path, key, v);
	json_array_foreach(at, i, v)
		read_entry(r, path, NULL, v);
	r->bad |= !json_is_object(at) && !json_is_array(at);
	(void)json_object_del(in, path);
}

static void drop(void *arg, json_t *in, const char *key)
{
	(void)arg;
	(void)json_object_del(in, key);
}

static void drop_empty(void *arg, json_t *in, const char *key)
{
	json_t *v = json_object_get(in, key);

	(void)arg;
	if (json_is_object(v) && !json_object_size(v))
		(void)json_object_del(in, key);
}

static json_t *parse(const struct ga_deps_format *x, const struct ga_buf *text)
{
	switch (x->syntax) {
	case GA_DEPS_JSON:
		return ga_known_json(text, false);
	case GA_DEPS_TOML:
		return ga_toml_parse(text);
	case GA_DEPS_BLOCKS:
		break;
	}
	return ga_known_blocks(text, x->name == GA_DEPS_YARN);
}

bool ga_deps_read_tree(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret)
{
	cleanup_json json_t *root = parse(x, text);
	struct reader r = { .x = x, .ret = ret };
	const char *key;
	void *next;
	json_t *v;

	if (!root)
		return false;
	/* the rows of a file are next to each other */
	for (const char *base = x->base; r.x->base && !strcmp(r.x->base, base); r.x++) {
		each_place(root, r.x->where, read_place, &r);
		if (r.x->where && !*r.x->where)
			json_object_foreach_safe(root, next, key, v)
				if (strncmp(key, "__", 2) != 0) {
					read_entry(&r, "", key, v);
					drop(NULL, root, key);
				}
		each_place(root, r.x->empty, drop_empty, NULL);
		each_place(root, r.x->skipped, drop, NULL);
	}
	flatten(root, "", &ret->rest);
	return !r.bad;
}
