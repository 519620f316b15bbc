/* SPDX-License-Identifier: MIT
 *
 * Find files that the host's git would convert: by a clean filter, which does not run inside (an
 * agent may have committed what the filter is meant to keep out of commits), or at checkout, which
 * then writes something else than a review shows. They are selected as in gitattributes(5), by the
 * attributes of the old tree, of the new one, or of the one that the session started from, since
 * the agent can change them. For each kind of conversion, each file of attributes is translated to
 * patterns as in a .gitignore: a pattern whose attributes ask for it becomes one that matches, and
 * one whose attributes give the same attribute another value, or none, one with '!'.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/base/ignore.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strmap.h"
#include "ga/sys/fd.h"
#include "internal.h"

#define ATTRIBUTES_MAX ((size_t)1 << 20) /* size of a file of attributes; a longer one covers all */
#define PASSES_MAX 4 /* over the macros, since one may use another that is defined after it */

/* Kinds of conversion. Encodings are those that write ASCII as it is, but for its width, and all
 * others except UTF-8. */
enum kind { FILTER, SMUDGE, WIDER, RECODED, IDENT, CRLF, KINDS };
static const char *const attributes[KINDS] = {
	"filter", "filter", "working-tree-encoding", "working-tree-encoding", "ident", "eol",
};

/* Whether attributes select a conversion: unspecified, no, yes. The greatest one counts. */
enum said { SAID_NOTHING, SAID_NONE, SAID_THIS };

struct ga_filter_rules {
	const struct ga_oid *tree;
	const struct ga_host_facts *host; /* NULL: none */
	int user;                     /* directory with the user's own .gitattributes, for those
				       * that the tree does not have; or -1 */
	struct ga_strv names;         /* of macros: the keys of `macros` point into it */
	struct side {
		struct ga_strmap macros; /* name -> enum said, up to twice for each */
		struct ga_ignore files;  /* the user's file, then those of each directory */
		struct ga_ignore info;   /* info/attributes, which overrides all of these */
	} of[KINDS];
	struct filter_dir {
		char *path;
		struct ga_entry at; /* in the tree; mode 0: it is not there */
		size_t mark[KINDS]; /* number of `files` before its own was added */
	} *dirs;
	size_t n_dirs, cap_dirs;
};

/* ---- the host's ------------------------------------------------------------- */

static void add_filter(struct ga_host_facts *h, const struct ga_gitconfig_item *it,
		       const struct ga_strv *inside)
{
	cleanup_free char *name = ga_gitconfig_filter(it->key);
	const char *variable = name ? it->key + strlen("filter..") + strlen(name) : NULL;

	if (!name || !it->has_value || !*it->value || !strcmp(name, "lfs") ||
	    (inside && ga_strv_has(inside, name)))
		return;
	if (ga_has_word("clean process", variable) && !ga_strv_has(&h->filters, name))
		ga_strv_push(&h->filters, name);
	else if (!strcmp(variable, "smudge") && !ga_strv_has(&h->smudges, name))
		ga_strv_push(&h->smudges, name);
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

/* By a map, since an agent can define any number of macros. If it is defined twice, the one that
 * converts counts. */
static enum said decide_by_macro(const struct side *s, const char *name)
{
	enum said all = SAID_NOTHING;

	for (int32_t i = ga_strmap_first(&s->macros, name, strlen(name)); i >= 0;
	     i = s->macros.nodes[i].next)
		if (s->macros.nodes[i].value > all)
			all = (enum said)s->macros.nodes[i].value;
	return all;
}

static bool in_words(const char *words, const char *name)
{
	cleanup_free char *low = ga_strdup(name);

	for (char *p = low; *p; p++)
		*p = ga_lower(*p);
	return ga_has_word(words, low);
}

/* Does this value of its attribute (NULL: it is set) ask for the conversion? */
static bool asks(const struct ga_filter_rules *x, enum kind kind, const char *value)
{
	static const char wider[] =
		"ascii us-ascii utf-16 utf-16le utf-16be utf-16le-bom utf-16be-bom utf-32 utf-32le "
		"utf-32be iso-8859-1 iso-8859-2 iso-8859-15 latin1 windows-1250 windows-1251 "
		"windows-1252 cp1250 cp1251 cp1252 koi8-r gbk gb2312 gb18030 big5 euc-jp euc-kr";

	switch (kind) {
	case FILTER:
		return value && x->host && ga_strv_has(&x->host->filters, value);
	case SMUDGE:
		return value && x->host && ga_strv_has(&x->host->smudges, value);
	case WIDER:
		return value && in_words(wider, value);
	case RECODED:
		return value && !in_words(wider, value) && !in_words("utf-8 utf8", value);
	case IDENT:
		return !value;
	case CRLF:
		return value && !strcmp(value, "crlf");
	case KINDS:
		break;
	}
	return false;
}

static enum said decide_by_word(const struct ga_filter_rules *x, enum kind kind, const char *word)
{
	bool no = *word == '-' || *word == '!';
	size_t n = strlen(attributes[kind]);

	if (strncmp(word + no, attributes[kind], n) || (word[no + n] && word[no + n] != '='))
		return decide_by_macro(&x->of[kind], word);
	return !no && asks(x, kind, word[n] ? word + n + 1 : NULL) ? SAID_THIS : SAID_NONE;
}

/* The last word about the conversion counts. */
static enum said decide_by_words(const struct ga_filter_rules *x, enum kind kind, char *words)
{
	enum said all = SAID_NOTHING;
	char *save = NULL;

	for (char *w = strtok_r(words, " \t\r", &save); w; w = strtok_r(NULL, " \t\r", &save)) {
		enum said one = decide_by_word(x, kind, w);

		if (one != SAID_NOTHING)
			all = one;
	}
	return all;
}

/* Cut a line after its pattern, `*ret`, and return the rest; NULL: no pattern. `*ret` is NULL if
 * the pattern is in quotes, and then counts as any. */
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

static void note_macro(struct ga_filter_rules *x, enum kind kind, const char *name, enum said says)
{
	char *key;

	if (says <= decide_by_macro(&x->of[kind], name))
		return;
	key = ga_strdup(name);
	ga_strv_take(&x->names, key);
	ga_strmap_add(&x->of[kind].macros, key, strlen(key), says);
}

static void add_pattern(struct ga_buf *ret, const char *pattern, enum said says)
{
	if (!pattern && says == SAID_THIS)
		ga_buf_adds(ret, "*\n");
	/* patterns that git rejects here, or that match only directories */
	if (!pattern || *pattern == '!' || pattern[strlen(pattern) - 1] == '/')
		return;
	ga_buf_addf(ret, "%s%s\n", says == SAID_THIS ? "" : "!", pattern);
}

/* Translate a file of attributes to patterns, and note the macros that it defines, which only the
 * user's files and the one at the top of a tree can do. */
static void translate(struct ga_filter_rules *x, enum kind kind, const char *text,
		      struct ga_buf *ret)
{
	cleanup_free char *copy = ga_strdup(strncmp(text, "\xef\xbb\xbf", 3) ? text : text + 3);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *pattern;
		char *words = cut_pattern(line, &pattern);
		enum said says = words ? decide_by_words(x, kind, words) : SAID_NOTHING;

		if (says == SAID_NOTHING)
			continue;
		if (pattern && !strncmp(pattern, "[attr]", 6)) {
			if (x->n_dirs <= 1)
				note_macro(x, kind, pattern + 6, says);
		} else {
			add_pattern(ret, pattern, says);
		}
	}
}

/* Add a file of attributes to those in the tree, or as info/attributes. */
static void push(struct ga_filter_rules *x, bool info, const char *dir, const char *text)
{
	for (int i = 0; text && *text && i < KINDS; i++) {
		cleanup_buf struct ga_buf patterns = GA_BUF_INIT;

		translate(x, (enum kind)i, text, &patterns);
		ga_ignore_push(info ? &x->of[i].info : &x->of[i].files, dir, patterns.ptr,
			       patterns.len);
	}
}

/* Apply all kinds to the whole directory, if its attributes cannot be read. */
static void push_all(struct ga_filter_rules *x, bool info, const char *dir)
{
	for (int i = 0; i < KINDS; i++)
		ga_ignore_push(info ? &x->of[i].info : &x->of[i].files, dir, "*\n", 2);
}

/* ---- a tree's --------------------------------------------------------------- */

static struct ga_entry entry_in(struct ga_inspect *k, const struct ga_entry *dir, const char *name)
{
	return ga_inspect_entry(k, dir->mode == GA_MODE_TREE ? &dir->oid : NULL, name);
}

static void enter(struct ga_inspect *k, struct ga_filter_rules *x, const char *path, size_t n)
{
	struct filter_dir d = { .path = ga_strndup(path, n) };
	cleanup_free char *file = x->user < 0 ? NULL : ga_path_join(d.path, ".gitattributes");
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	struct ga_entry e;
	int rc = 0;

	d.at = x->n_dirs ? entry_in(k, &x->dirs[x->n_dirs - 1].at, ga_path_base(d.path))
			 : (struct ga_entry){ GA_MODE_TREE, *x->tree };
	e = entry_in(k, &d.at, ".gitattributes");

	for (int i = 0; i < KINDS; i++)
		d.mark[i] = x->of[i].files.n;
	GA_GROW(x->dirs, x->n_dirs, x->cap_dirs);
	x->dirs[x->n_dirs++] = d;
	if (e.mode == GA_MODE_NONE && file)
		rc = ga_read_beneath(x->user, file, ATTRIBUTES_MAX, &text, &unreadable);
	else if (e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC)
		rc = ga_inspect_blob(k, &e, ATTRIBUTES_MAX, &text);
	if (rc)
		push_all(x, false, d.path);
	else
		push(x, false, d.path, text.ptr);
}

static void pop_rules(struct ga_filter_rules *x)
{
	struct filter_dir *d = &x->dirs[--x->n_dirs];

	for (int i = 0; i < KINDS; i++)
		ga_ignore_pop(&x->of[i].files, d->mark[i]);
	free(d->path);
}

/* Drop all rules except the macros. */
static void drop_rules(struct ga_filter_rules *x)
{
	while (x->n_dirs)
		pop_rules(x);
	for (int i = 0; i < KINDS; i++) {
		ga_ignore_release(&x->of[i].files);
		ga_ignore_release(&x->of[i].info);
	}
}

static struct ga_filter_rules *rules_new(struct ga_inspect *k, const struct ga_oid *tree)
{
	struct ga_filter_rules *x = ga_calloc(1, sizeof(*x));
	const struct ga_host_facts *h = k->host;
	size_t known;
	int pass = 0;

	x->tree = tree;
	x->host = h;
	x->user = h && tree == &h->attributes_tree && h->attributes_dir
			  ? open(h->attributes_dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	/* read it again as long as macros are found: one may be used before it is defined */
	do {
		known = x->names.n;
		drop_rules(x);
		push(x, false, NULL, h ? h->attributes : NULL);
		enter(k, x, "", 0);
		push(x, true, NULL, h ? h->info_attributes : NULL);
	} while (x->names.n != known && pass++ < PASSES_MAX);
	if (x->names.n != known) /* nested deeper than any person would: let it cover all */
		push_all(x, true, NULL);
	return x;
}

static void rules_free(struct ga_filter_rules *x)
{
	if (!x)
		return;
	drop_rules(x);
	ga_cleanup_closep(&x->user);
	free(x->dirs);
	for (int i = 0; i < KINDS; i++)
		ga_strmap_release(&x->of[i].macros);
	ga_strv_release(&x->names);
	free(x);
}

/* The kinds of conversion for a path. Cheap if paths come sorted. */
static unsigned covers(struct ga_inspect *k, struct ga_filter_rules *x, const char *path)
{
	unsigned all = 0;
	size_t at;

	while (x->n_dirs > 1 && !ga_path_below(path, x->dirs[x->n_dirs - 1].path))
		pop_rules(x);
	at = strlen(x->dirs[x->n_dirs - 1].path);
	for (const char *p = strchr(path + at + (at > 0), '/'); p; p = strchr(p + 1, '/'))
		enter(k, x, path, (size_t)(p - path));
	for (int i = 0; i < KINDS; i++) {
		enum ga_ignore_verdict v = ga_ignore_check(&x->of[i].info, path, false);

		if (v == GA_IGNORE_UNDECIDED)
			v = ga_ignore_check(&x->of[i].files, path, false);
		all |= (unsigned)(v == GA_IGNORE_YES) << i;
	}
	return all;
}

/* ---- a change ------------------------------------------------------------------ */

static bool is_ascii(const struct ga_buf *text)
{
	size_t i = 0;

	while (i < text->len && !(text->ptr[i] & 0x80))
		i++;
	return i == text->len;
}

static void fire_filter(struct ga_inspect *k)
{
	cleanup_free char *name = k->host && k->host->filters.n ? ga_quote(k->host->filters.v[0])
								: NULL;

	if (name)
		ga_fire_rule(k, "filter-not-run",
			     k->host->filters.n == 1 ? ga_strf("filter.%s", name) : NULL);
}

void ga_inspect_filters(struct ga_inspect *k, const struct ga_buf *text)
{
	const struct ga_oid *trees[GA_NELEMS(k->filter_rules)] = { k->old_tree, k->new_tree };
	const struct ga_change *c = k->c;
	unsigned all = 0;

	if (ga_oid_equal(&c->old.oid, &c->new.oid))
		return;
	if (k->host && !ga_oid_is_zero(&k->host->attributes_tree)) {
		struct ga_entry was;

		trees[2] = &k->host->attributes_tree;
		was = ga_inspect_entry(k, trees[2], c->path);
		if (was.mode && ga_oid_equal(&was.oid, &c->new.oid))
			return; /* back to what it was */
	}
	for (size_t i = 0; i < GA_NELEMS(trees); i++) {
		if (!trees[i])
			continue;
		if (!k->filter_rules[i])
			k->filter_rules[i] = rules_new(k, trees[i]);
		all |= covers(k, k->filter_rules[i], c->path);
	}
	if (all & 1u << FILTER)
		fire_filter(k);
	if (all & 1u << SMUDGE && k->host && k->host->smudges.n)
		ga_fire_uninspected(k, "checkout writes what a filter of yours makes of it", NULL);
	if (all & 1u << RECODED || (all & 1u << WIDER && !is_ascii(text)))
		ga_fire_uninspected(k, "checkout writes it in another encoding", NULL);
	if (all & 1u << IDENT && memmem(text->ptr, text->len, "$Id:", 4))
		ga_fire_uninspected(k, "checkout replaces what is between $Id: and $", NULL);
	if (all & 1u << CRLF && text->len > 2 && !memcmp(text->ptr, "#!", 2))
		ga_fire_uninspected(k, "checkout ends the lines of a script with CR LF", NULL);
}

void ga_filter_rules_release(struct ga_inspect *k)
{
	for (size_t i = 0; i < GA_NELEMS(k->filter_rules); i++)
		rules_free(k->filter_rules[i]);
}
