/* SPDX-License-Identifier: MIT
 *
 * Files that the host's git would convert by a filter, which does not run inside: an agent may have
 * committed just what the filter is meant to keep out of commits. Which files these are is decided
 * as in gitattributes(5), by the attributes of the old tree, of the new one, or of the one that the
 * session started from, since the agent can change them. Each file of attributes is translated to
 * patterns as in a .gitignore: a pattern whose attributes name such a filter becomes one that
 * matches, and one that names another filter, or none, one with '!'.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/fd.h"
#include "ga/ignore.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/strmap.h"
#include "internal.h"

#define ATTRIBUTES_MAX ((size_t)1 << 20) /* size of a file of attributes; a longer one covers all */
#define PASSES_MAX 4 /* over the macros, since one may use another that is defined after it */

/* What attributes say of a filter: nothing; not one of ours; one of ours. The greater one counts.
 */
enum said { SAID_NOTHING, SAID_NONE, SAID_FILTER };

struct ga_filter_rules {
	const struct ga_oid *tree;
	int user;                     /* directory with the user's own .gitattributes, for those
				       * that the tree does not have; or -1 */
	struct ga_strmap macros;      /* name -> enum said, up to twice for each ... */
	struct ga_strv names;         /* ... and the names, which its keys point into */
	struct ga_ignore files;       /* the user's file, then those on the way down the tree */
	struct ga_ignore info;        /* info/attributes, which overrides all of these */
	struct filter_dir {
		char *path;
		size_t mark; /* number of `files` before its own was added */
	} *dirs;
	size_t n_dirs, cap_dirs;
};

/* ---- the host's ------------------------------------------------------------- */

static void add_filter(struct ga_host_facts *h, const struct ga_gitconfig_item *it,
		       const struct ga_strv *inside)
{
	cleanup_free char *name = ga_gitconfig_filter(it->key);
	const char *variable = name ? it->key + strlen("filter..") + strlen(name) : NULL;

	if (!name || !it->has_value || !*it->value ||
	    (strcmp(variable, "clean") && strcmp(variable, "process")))
		return;
	if (!strcmp(name, "lfs") || (inside && ga_strv_has(inside, name)) ||
	    ga_strv_has(&h->filters, name))
		return;
	ga_strv_push(&h->filters, name);
}

int ga_filters_gather(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_strv *inside,
		      struct ga_host_facts *h, struct ga_error *err)
{
	cleanup_free char *info = ga_path_join(ga_repo_info(r)->commondir, "info/attributes");
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	const char *system = ga_system_attributes();
	cleanup_free char *users = NULL;

	for (size_t i = 0; i < c->n; i++)
		add_filter(h, &c->v[i], inside);
	if (!h->filters.n)
		return 0;
	if ((system && ga_user_file_read(system, GA_RULES_MAX, &text, err)) ||
	    ga_user_file(r, c, "core.attributesfile", "attributes", &users, err) ||
	    (users && ga_user_file_read(users, GA_RULES_MAX, &text, err)))
		return -1;
	h->attributes = ga_buf_steal(&text);
	if (ga_user_file_read(info, GA_RULES_MAX, &text, err))
		return -1;
	h->info_attributes = ga_buf_steal(&text);
	return 0;
}

/* ---- lines ------------------------------------------------------------------ */

/* By a map, since an agent can define any number of macros. If it is defined twice, a filter
 * counts. */
static enum said macro_says(const struct ga_filter_rules *x, const char *name)
{
	enum said all = SAID_NOTHING;

	for (int32_t i = ga_strmap_first(&x->macros, name, strlen(name)); i >= 0;
	     i = x->macros.nodes[i].next)
		if (x->macros.nodes[i].value > all)
			all = (enum said)x->macros.nodes[i].value;
	return all;
}

static enum said word_says(const struct ga_filter_rules *x, const struct ga_strv *filters,
			   const char *word)
{
	if (!strncmp(word, "filter=", 7))
		return ga_strv_has(filters, word + 7) ? SAID_FILTER : SAID_NONE;
	if (!strcmp(word, "filter") || !strcmp(word, "-filter") || !strcmp(word, "!filter"))
		return SAID_NONE;
	return macro_says(x, word);
}

/* The last word that says anything counts. */
static enum said words_say(const struct ga_filter_rules *x, const struct ga_strv *filters,
			   char *words)
{
	enum said all = SAID_NOTHING;
	char *save = NULL;

	for (char *w = strtok_r(words, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		enum said one = word_says(x, filters, w);

		if (one != SAID_NOTHING)
			all = one;
	}
	return all;
}

/* Cut a line after its pattern, `*ret`, and return what follows; NULL: there is none. `*ret` is
 * NULL if the pattern is in quotes, and then counts as any. */
static char *cut_pattern(char *line, const char **ret)
{
	char *p = line + strspn(line, " \t\r");
	size_t n = strcspn(p, " \t\r");

	if (!*p || *p == '#')
		return NULL;
	*ret = p;
	if (*p == '"') {
		for (n = 1; p[n] && p[n] != '"'; n++)
			n += p[n] == '\\' && p[n + 1];
		n += p[n] == '"';
		*ret = NULL;
	}
	p += n;
	if (*p)
		*p++ = '\0';
	return p;
}

static void note_macro(struct ga_filter_rules *x, const char *name, enum said says)
{
	char *key;

	if (says <= macro_says(x, name))
		return;
	key = ga_strdup(name);
	ga_strv_take(&x->names, key);
	ga_strmap_add(&x->macros, key, strlen(key), says);
}

static void add_pattern(struct ga_buf *ret, const char *pattern, enum said says)
{
	if (!pattern && says == SAID_FILTER)
		ga_buf_adds(ret, "*\n");
	/* patterns that git rejects here, or that match only directories */
	if (!pattern || *pattern == '!' || pattern[strlen(pattern) - 1] == '/')
		return;
	ga_buf_addf(ret, "%s%s\n", says == SAID_FILTER ? "" : "!", pattern);
}

/* Translate a file of attributes to patterns, and note the macros that it defines, which only the
 * user's files and the one at the top of a tree can do. */
static void translate(struct ga_filter_rules *x, const struct ga_strv *filters, const char *text,
		      struct ga_buf *ret)
{
	cleanup_free char *copy = ga_strdup(strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *pattern;
		char *words = cut_pattern(line, &pattern);
		enum said says = words ? words_say(x, filters, words) : SAID_NOTHING;

		if (says == SAID_NOTHING)
			continue;
		if (pattern && !strncmp(pattern, "[attr]", 6)) {
			if (x->n_dirs <= 1)
				note_macro(x, pattern + 6, says);
		} else {
			add_pattern(ret, pattern, says);
		}
	}
}

static void push(struct ga_filter_rules *x, const struct ga_strv *filters, struct ga_ignore *on,
		 const char *dir, const char *text)
{
	cleanup_buf struct ga_buf patterns = GA_BUF_INIT;

	if (!text)
		return;
	translate(x, filters, text, &patterns);
	ga_ignore_push(on, dir, patterns.ptr, patterns.len);
}

/* ---- a tree's --------------------------------------------------------------- */

static void enter(struct ga_look *k, struct ga_filter_rules *x, const char *path, size_t n)
{
	struct filter_dir d = { ga_strndup(path, n), x->files.n };
	cleanup_free char *file = ga_path_join(d.path, ".gitattributes");
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	struct ga_entry e = ga_look_entry(k, x->tree, file);
	int rc = 0;

	GA_GROW(x->dirs, x->n_dirs, x->cap_dirs);
	x->dirs[x->n_dirs++] = d;
	if (e.mode == GA_MODE_NONE && x->user >= 0)
		rc = ga_read_beneath(x->user, file, ATTRIBUTES_MAX, &text, &unreadable);
	else if (e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC)
		rc = ga_look_blob(k, &e, ATTRIBUTES_MAX, &text);
	if (rc)
		ga_ignore_push(&x->files, d.path, "*\n", 2);
	else
		push(x, &k->host->filters, &x->files, d.path, text.ptr);
}

static void leave(struct ga_filter_rules *x)
{
	struct filter_dir *d = &x->dirs[--x->n_dirs];

	ga_ignore_pop(&x->files, d->mark);
	free(d->path);
}

/* Drop all that was read but the macros. */
static void forget(struct ga_filter_rules *x)
{
	while (x->n_dirs)
		leave(x);
	ga_ignore_release(&x->files);
	ga_ignore_release(&x->info);
}

static struct ga_filter_rules *rules_new(struct ga_look *k, const struct ga_oid *tree)
{
	struct ga_filter_rules *x = ga_calloc(1, sizeof(*x));
	const struct ga_strv *filters = &k->host->filters;
	size_t known;
	int pass = 0;

	x->tree = tree;
	x->user = tree == &k->host->attributes_tree && k->host->attributes_dir
			  ? open(k->host->attributes_dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	/* read it again as long as macros are found: one may be used before it is defined */
	do {
		known = x->names.n;
		forget(x);
		push(x, filters, &x->files, NULL, k->host->attributes);
		enter(k, x, "", 0);
		push(x, filters, &x->info, NULL, k->host->info_attributes);
	} while (x->names.n != known && pass++ < PASSES_MAX);
	if (x->names.n != known) /* nested deeper than any person would: let it cover all */
		ga_ignore_push(&x->info, NULL, "*\n", 2);
	return x;
}

static void rules_free(struct ga_filter_rules *x)
{
	if (!x)
		return;
	forget(x);
	ga_cleanup_closep(&x->user);
	free(x->dirs);
	ga_strmap_release(&x->macros);
	ga_strv_release(&x->names);
	free(x);
}

/* Is the path one for a filter? Cheap if paths come sorted. */
static bool covers(struct ga_look *k, struct ga_filter_rules *x, const char *path)
{
	enum ga_ignore_verdict v;
	size_t at;

	while (x->n_dirs > 1 && !ga_path_below(path, x->dirs[x->n_dirs - 1].path))
		leave(x);
	at = strlen(x->dirs[x->n_dirs - 1].path);
	for (const char *p = strchr(path + at + (at > 0), '/'); p; p = strchr(p + 1, '/'))
		enter(k, x, path, (size_t)(p - path));
	v = ga_ignore_check(&x->info, path, false);
	if (v == GA_IGNORE_UNDECIDED)
		v = ga_ignore_check(&x->files, path, false);
	return v == GA_IGNORE_YES;
}

/* ---- a change ------------------------------------------------------------------ */

void ga_look_filtered(struct ga_look *k)
{
	const struct ga_oid *trees[GA_NELEMS(k->filter_rules)] = { k->old_tree, k->new_tree };
	const struct ga_change *c = k->c;
	bool covered = false;

	if (!k->host || !k->host->filters.n || ga_oid_equal(&c->old.oid, &c->new.oid) ||
	    (c->new.mode != GA_MODE_FILE && c->new.mode != GA_MODE_EXEC))
		return;
	if (!ga_oid_is_zero(&k->host->attributes_tree)) {
		struct ga_entry was;

		trees[2] = &k->host->attributes_tree;
		was = ga_look_entry(k, trees[2], c->path);
		if (was.mode && ga_oid_equal(&was.oid, &c->new.oid))
			return; /* back to what it was */
	}
	for (size_t i = 0; i < GA_NELEMS(trees) && !covered; i++) {
		if (!trees[i])
			continue;
		if (!k->filter_rules[i])
			k->filter_rules[i] = rules_new(k, trees[i]);
		covered = covers(k, k->filter_rules[i], c->path);
	}
	if (covered) {
		cleanup_free char *name = ga_quote(k->host->filters.v[0]);

		ga_look_fire(k, "filter-not-run",
			     k->host->filters.n == 1 ? ga_strf("filter.%s", name) : NULL);
	}
}

void ga_look_filtered_release(struct ga_look *k)
{
	for (size_t i = 0; i < GA_NELEMS(k->filter_rules); i++)
		rules_free(k->filter_rules[i]);
}
