/* SPDX-License-Identifier: MIT
 *
 * Fire rules on the current change, and read from its trees.
 */
#include <stdlib.h>
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/secret/secret.h"
#include "risk/internal.h"

/* ---- rules ---- */

enum { EDITOR = 1, ON_DELETE = 2 };

#define RULE(id, category, severity, marks, patterns, reason) \
	{ id,       category, GA_##severity, ((marks)&EDITOR) != 0, ((marks)&ON_DELETE) != 0, \
	  patterns, reason },

static const struct ga_rule table[] = {
#include "rules-git.def"
#include "rules-env.def"
#include "rules-build.def"
#include "rules-package.def"
#include "rules-service.def"
#include "rules-tool.def"
#include "rules-file.def"
#include "rules-content.def"
};

#undef RULE

const struct ga_rule *ga_rules(size_t *ret_n)
{
	*ret_n = GA_NELEMS(table);
	return table;
}

struct ga_matcher *ga_rules_matcher(void)
{
	struct ga_matcher *m = ga_matcher_new();

	for (size_t i = 0; i < GA_NELEMS(table); i++)
		ga_matcher_add(m, table[i].patterns, &table[i]);
	return m;
}

const struct ga_rule *ga_rule_find(const char *id)
{
	for (size_t i = 0; i < GA_NELEMS(table); i++)
		if (!strcmp(table[i].id, id))
			return &table[i];
	return NULL;
}

const char *ga_rule_when(const char *category, enum ga_severity s)
{
	static const struct {
		const char *category, *when;
	} rows[] = {
		{ "git-hook", "when a hook of git's runs" },
		{ "git-config", "by the next git command" },
		{ "shell-env", "when the directory is entered" },
		{ "editor", "when an editor opens the folder" },
		{ "agent-config", "when a coding agent starts there" },
		{ "build", "when it is built, or the tool is called" },
		{ "package-manager", "when it is installed" },
		{ "language-autoload", "when the interpreter, or the tests, start there" },
		{ "ci", "when it is pushed" },
		{ "container", "when the container is built or started" },
		{ "secrets", "once it is pushed" },
		{ "filename", "when a program is given the name" },
		{ "file-type", "when it is opened, or started" },
		{ "configured", "as your settings say" },
	};

	for (size_t i = 0; i < GA_NELEMS(rows); i++)
		if (!strcmp(rows[i].category, category))
			return s == GA_CRITICAL && !strcmp(category, "build")
				       ? "by the next git command, on this host"
				       : rows[i].when;
	return "when the code runs";
}

void ga_flags_add_rule(struct ga_flags *f, const char *id, enum ga_severity s, const char *path,
		       const struct ga_entry *e, const char *detail)
{
	const struct ga_rule *rule = ga_rule_find(id);

	if (!rule)
		GA_BUG("a rule that is not in the table");
	ga_flags_add(f, rule, s, path, e,
		     ga_strf("%s%s%s", rule->reason, detail ? ": " : "", detail ? detail : ""));
}

void ga_flags_found(struct ga_flags *f, const char *id, const char *path, const struct ga_entry *e,
		    char *detail)
{
	ga_flags_add_rule(f, id, ga_rule_find(id)->severity, path, e, detail);
	free(detail);
}

bool ga_flags_have(const struct ga_flags *f, const char *rule, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].rule, rule) && !strcmp(f->v[i].path, path))
			return true;
	return false;
}

char *ga_flag_text(const struct ga_flag *f)
{
	cleanup_free char *q = ga_quote(f->path);

	return ga_strf("%s: %s: %s [%s]", q, ga_severity_name(f->severity), f->reason, f->rule);
}

const char *ga_severity_name(enum ga_severity s)
{
	static const char *const names[] = { "low", "medium", "high", "critical" };

	return (size_t)s < GA_NELEMS(names) ? names[s] : "critical";
}

enum { QUOTED_MAX = 100 }; /* bytes of content in a reason */

void ga_risk_quote_start(struct ga_buf *out, const char *s)
{
	cleanup_free char *shown = ga_strdup(s);
	size_t n;

	/* before it is cut: no part of a secret is shown either */
	ga_secret_blot(shown);
	n = strlen(shown);
	ga_quote_add(out, shown, n > QUOTED_MAX ? QUOTED_MAX : n);
	if (n > QUOTED_MAX)
		ga_buf_adds(out, "...");
}

void ga_flag_release(struct ga_flag *f)
{
	free(f->rule);
	free(f->category);
	free(f->path);
	free(f->reason);
	ga_strv_release(&f->also);
}

void ga_flags_release(struct ga_flags *f)
{
	for (size_t i = 0; i < f->n; i++)
		ga_flag_release(&f->v[i]);
	free(f->v);
	*f = (struct ga_flags)GA_FLAGS_INIT;
}

void ga_flags_add(struct ga_flags *f, const struct ga_rule *rule, enum ga_severity s,
		  const char *path, const struct ga_entry *e, char *reason)
{
	GA_GROW(f->v, f->n, f->cap);
	if (strcmp(reason, rule->reason) != 0)
		ga_secret_blot(reason);
	f->v[f->n++] = (struct ga_flag){
		.rule = ga_strdup(rule->id),
		.category = ga_strdup(rule->category),
		.severity = s,
		.path = ga_strdup(path),
		.reason = reason,
		.entry = *e,
	};
}

void ga_flags_copy(struct ga_flags *f, const struct ga_flag *flag)
{
	struct ga_flag copy = *flag;

	copy.rule = ga_strdup(flag->rule);
	copy.category = ga_strdup(flag->category);
	copy.path = ga_strdup(flag->path);
	copy.reason = ga_strdup(flag->reason);
	copy.also = (struct ga_strv)GA_STRV_INIT;
	ga_strv_extend(&copy.also, &flag->also);
	GA_GROW(f->v, f->n, f->cap);
	f->v[f->n++] = copy;
}

int ga_flag_compare(const void *a, const void *b)
{
	const struct ga_flag *x = a, *y = b;
	int c = strcmp(x->path, y->path);

	if (!c)
		c = strcmp(x->rule, y->rule);
	if (!c)
		c = ga_oid_cmp(&x->entry.oid, &y->entry.oid);
	if (!c && x->entry.mode != y->entry.mode)
		c = x->entry.mode < y->entry.mode ? -1 : 1;
	return c;
}

static int compare_severity(const void *a, const void *b)
{
	const struct ga_flag *x = a, *y = b;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	return ga_flag_compare(a, b);
}

void ga_flags_sort(struct ga_flags *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare_severity);
}

struct ga_flag *ga_flags_find(const struct ga_flags *f, const struct ga_flag *like)
{
	struct ga_flag key = *like, *found = NULL;

	for (int s = GA_CRITICAL; f->n && !found && s >= GA_LOW; s--) {
		key.severity = (enum ga_severity)s;
		found = bsearch(&key, f->v, f->n, sizeof(*f->v), compare_severity);
	}
	return found;
}

enum { FACT_RANK = 1000 }; /* higher than that of any pattern */

bool ga_is_removal(const struct ga_inspect *k)
{
	return k->c->new.mode == GA_MODE_NONE && k->c->old.mode != GA_MODE_NONE;
}

/* The pending entry of this rule on the current change; a new one of low severity if it has not
 * fired. */
static struct ga_pending *pending_of(struct ga_inspect *k, const char *id)
{
	const struct ga_rule *rule = ga_rule_find(id);

	if (!rule)
		GA_BUG("a rule that is not in the table");
	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].rule == rule)
			return &k->v[i];
	GA_GROW(k->v, k->n, k->cap);
	k->v[k->n] = (struct ga_pending){ .rule = rule, .severity = GA_LOW };
	return &k->v[k->n++];
}

struct ga_pending *ga_fire_rule_as(struct ga_inspect *k, const char *id, enum ga_severity s,
				   char *detail)
{
	struct ga_pending *p = pending_of(k, id);

	/* show the detail of the worst finding */
	if (detail && (!p->detail || s > p->severity)) {
		free(p->detail);
		p->detail = detail;
	} else {
		free(detail);
	}
	if (s > p->severity)
		p->severity = s;
	return p;
}

static void add_detail(struct ga_pending *p, char *detail)
{
	char *both;

	if (!p->detail) {
		p->detail = detail;
		return;
	}
	both = ga_strf("%s; %s", p->detail, detail);
	free(p->detail);
	free(detail);
	p->detail = both;
}

static enum ga_severity severity_at(enum ga_reach_when when)
{
	return when == GA_REACH_PUSH ? GA_HIGH : GA_CRITICAL;
}

/* The reader of this rule's files, or `by`, with the worst moment. */
static const struct ga_reached *worse_reader(const struct ga_reach *h, const char *rule,
					     const struct ga_reached *by)
{
	for (int32_t i = ga_strmap_first(&h->by_text, rule, strlen(rule)); i >= 0;
	     i = h->by_text.nodes[i].next) {
		const struct ga_reached *f = &h->v[h->by_text.nodes[i].value];

		if (f->what == GA_REACH_RULE && (!by || f->when > by->when))
			by = f;
	}
	return by;
}

struct ga_pending *ga_fire_rule(struct ga_inspect *k, const char *id, char *detail)
{
	struct ga_pending *p = pending_of(k, id);
	const struct ga_reached *by = NULL;
	enum ga_severity s;

	for (size_t i = 0; i < k->n_facts; i++)
		by = worse_reader(k->facts[i].h, id, by);
	s = by ? severity_at(by->when) : GA_LOW;
	(void)ga_fire_rule_as(k, id, s > p->rule->severity ? s : p->rule->severity, detail);
	if (by && !p->host) {
		p->host = true;
		add_detail(p, ga_strf("on this host read by %s", by->why));
	}
	return p;
}

void ga_fire_reached(struct ga_inspect *k, const struct ga_reached *f, char *detail)
{
	/* a removed file cannot run, but the host relied on it */
	enum ga_severity s = ga_is_removal(k) ? GA_HIGH : severity_at(f->when);
	struct ga_pending *p = ga_fire_rule_as(k, f->rule, s, detail);

	/* it says more than any pattern of its category */
	p->rank = FACT_RANK;
	p->host = true;
}

void ga_add_detail(struct ga_inspect *k, const char *id, enum ga_severity s, char *detail)
{
	for (size_t i = 0; i < k->n; i++) {
		if (strcmp(k->v[i].rule->id, id) != 0)
			continue;
		if (s > k->v[i].severity)
			k->v[i].severity = s;
		if (detail)
			add_detail(&k->v[i], detail);
		return;
	}
	free(detail);
}

void ga_lower_rules(struct ga_inspect *k, const char *rules, bool host, const char *why)
{
	host &= k->c->old.mode == k->c->new.mode;
	for (size_t i = 0; i < k->n; i++) {
		struct ga_pending *p = &k->v[i];
		bool fact = host && p->rank == FACT_RANK;

		if (k->has_nul || !p->rank || (p->host && !host) ||
		    (!fact && !ga_has_word(rules, p->rule->id)))
			continue;
		p->severity = GA_LOW;
		add_detail(p, ga_strdup(why));
	}
}

void ga_cap_rules(struct ga_inspect *k, const char *rules, enum ga_severity s)
{
	for (size_t i = 0; i < k->n; i++) {
		struct ga_pending *p = &k->v[i];

		if (!k->has_nul && p->rank && !p->host && p->severity > s &&
		    ga_has_word(rules, p->rule->id))
			p->severity = s;
	}
}

void ga_fire_uninspected(struct ga_inspect *k, const char *what, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_adds(&b, what);
	if (err && err->msg) {
		ga_buf_adds(&b, ": ");
		ga_quote_add(&b, err->msg, strlen(err->msg));
		ga_error_release(err);
	}
	ga_fire_rule(k, "uninspected", ga_buf_steal(&b));
}

bool ga_has_fired(const struct ga_inspect *k, const char *rules)
{
	for (size_t i = 0; i < k->n; i++)
		if (ga_has_word(rules, k->v[i].rule->id))
			return true;
	return false;
}

void ga_drop_fired(struct ga_inspect *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->v[i].detail);
	k->n = 0;
}

struct ga_secret_names *ga_inspect_secret_names(struct ga_inspect *k)
{
	if (k->host && k->host->secrets)
		return k->host->secrets;
	if (!k->secrets)
		k->secrets = ga_secret_names_new(NULL, NULL);
	return k->secrets;
}

struct ga_entry ga_inspect_entry(struct ga_inspect *k, const struct ga_oid *tree, const char *path)
{
	struct ga_entry e = { GA_MODE_NONE, { { 0 } } };
	struct ga_error err = GA_ERROR_INIT;

	if (tree && *path && ga_tree_entry(k->repo, tree, path, &e, &err)) {
		ga_fire_uninspected(k, "tree", &err);
		e.mode = GA_MODE_NONE;
	}
	return e;
}

int ga_inspect_blob(struct ga_inspect *k, const struct ga_entry *e, size_t max, struct ga_buf *out)
{
	struct ga_error err = GA_ERROR_INIT;
	int r = ga_blob_read(k->repo, &e->oid, max, out, &err);

	if (r < 0)
		ga_fire_uninspected(k, "content", &err);
	return r;
}

bool ga_begins_like_script(struct ga_inspect *k)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (k->c->new.mode == GA_MODE_NONE || k->c->new.mode == GA_MODE_EXEC)
		return true; /* without content, it may be one */
	if (k->c->new.mode != GA_MODE_FILE)
		return k->c->new.mode == GA_MODE_LINK;
	return ga_inspect_blob(k, &k->c->new, 1 << 20, &b) != 0 || !strncmp(b.ptr, "#!", 2);
}

/* ---- what the host reaches ----------------------------------------------- */

struct ga_fact_index {
	struct ga_strmap paths; /* FILE and BELOW, by folded path and each directory above it */
	struct ga_strmap ends;  /* GIVEN and BARE, by the last component; "": it is a pattern */
	struct ga_strv keys;    /* the folded text of each */
};

void ga_fact_index_free(struct ga_fact_index *x)
{
	if (!x)
		return;
	ga_strmap_release(&x->paths);
	ga_strmap_release(&x->ends);
	ga_strv_release(&x->keys);
	free(x);
}

struct ga_fact_index *ga_fact_index_new(const struct ga_reach *h)
{
	struct ga_fact_index *x = ga_calloc(1, sizeof(*x));

	for (uint32_t i = 0; i < h->n; i++) {
		cleanup_buf struct ga_buf b = GA_BUF_INIT;
		enum ga_reach_what what = h->v[i].what;
		const char *key, *base;

		ga_name_fold(&b, h->v[i].text);
		ga_strv_take(&x->keys, ga_buf_steal(&b));
		key = x->keys.v[i];
		base = ga_path_base(key);
		if (what == GA_REACH_GIVEN || what == GA_REACH_BARE)
			ga_strmap_add(&x->ends, base, strpbrk(base, "*?[") ? 0 : strlen(base), i);
		if (what != GA_REACH_FILE && what != GA_REACH_BELOW)
			continue;
		for (const char *p = key; (p = strchr(p, '/')); p++)
			ga_strmap_add(&x->paths, key, (size_t)(p - key), i);
		ga_strmap_add(&x->paths, key, strlen(key), i);
	}
	return x;
}

/* Fire facts about the first `n` bytes of the path: `own`, or only of something below. */
static void fire_on_path(struct ga_inspect *k, const struct ga_known_facts *f, size_t n, bool own)
{
	const struct ga_strmap *m = &f->index->paths;

	for (int32_t i = ga_strmap_first(m, k->folded, n); i >= 0; i = m->nodes[i].next) {
		const struct ga_reached *x = &f->h->v[m->nodes[i].value];
		bool is_own = strlen(f->index->keys.v[m->nodes[i].value]) == n;

		if (is_own == own && (!k->folded[n] || x->what == GA_REACH_BELOW))
			ga_fire_reached(k, x, ga_strdup(x->why));
	}
}

/* Fire for the patterns that end in these `n` bytes. */
static void fire_on_end(struct ga_inspect *k, const struct ga_known_facts *f, const char *base,
			size_t n)
{
	const struct ga_strmap *m = &f->index->ends;

	for (int32_t i = ga_strmap_first(m, base, n); i >= 0; i = m->nodes[i].next) {
		const struct ga_reached *x = &f->h->v[m->nodes[i].value];
		cleanup_free char *shown = ga_quote(x->text);

		if (ga_reach_matches_end(k->folded, f->index->keys.v[m->nodes[i].value]) &&
		    (x->what == GA_REACH_GIVEN || k->c->old.mode == GA_MODE_EXEC ||
		     ga_reach_is_script(k->folded) || ga_begins_like_script(k)))
			ga_fire_reached(k, x, ga_strf("%s, by %s", x->why, shown));
	}
}

void ga_fire_facts(struct ga_inspect *k)
{
	const char *base = ga_path_base(k->folded);
	size_t len = strlen(k->folded);

	for (size_t i = 0; i < k->n_facts; i++) {
		const struct ga_known_facts *f = &k->facts[i];

		fire_on_path(k, f, len, true);
		for (size_t n = 0; n < len; n++)
			if (!n || k->folded[n] == '/')
				fire_on_path(k, f, n, true);
		/* a changed path is never a directory: one that was there is replaced */
		if (!ga_is_removal(k))
			fire_on_path(k, f, len, false);
		fire_on_end(k, f, base, strlen(base));
		fire_on_end(k, f, base, 0);
	}
}
