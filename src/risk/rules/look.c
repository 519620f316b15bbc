/* SPDX-License-Identifier: MIT
 *
 * What fired on the change that is looked at, and reading from its trees.
 */
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/secret/secret.h"
#include "risk/internal.h"

/* Looking changed paths up in what the host reaches. */

struct ga_fact_index {
	/* of FILE, by folded path; of all directories above one; of BELOW */
	struct ga_strmap exact, above, dirs;
	struct ga_strmap ends;  /* of GIVEN and BARE: by the last component, if it is no pattern */
	struct ga_strmap rules; /* of RULE, by id */
	struct ga_strv keys;    /* the folded text of each */
	size_t *globs;          /* GIVEN and BARE with a pattern as the last component */
	size_t n_globs, cap_globs;
};

void ga_fact_index_free(struct ga_fact_index *x)
{
	if (!x)
		return;
	ga_strmap_release(&x->exact);
	ga_strmap_release(&x->above);
	ga_strmap_release(&x->dirs);
	ga_strmap_release(&x->ends);
	ga_strmap_release(&x->rules);
	ga_strv_release(&x->keys);
	free(x->globs);
	free(x);
}

static void add_path(struct ga_fact_index *x, bool dir, const char *key, uint32_t at)
{
	ga_strmap_add(dir ? &x->dirs : &x->exact, key, strlen(key), at);
	for (const char *p = key; (p = strchr(p, '/')); p++)
		ga_strmap_add(&x->above, key, (size_t)(p - key), at);
	/* something else may be put in the place of the directory itself */
	if (dir && *key)
		ga_strmap_add(&x->above, key, strlen(key), at);
}

static void add_pattern(struct ga_fact_index *x, const char *key, uint32_t at)
{
	const char *base = ga_path_base(key);

	if (!strpbrk(base, "*?[")) {
		ga_strmap_add(&x->ends, base, strlen(base), at);
		return;
	}
	GA_GROW(x->globs, x->n_globs, x->cap_globs);
	x->globs[x->n_globs++] = at;
}

struct ga_fact_index *ga_fact_index_new(const struct ga_reach *h)
{
	struct ga_fact_index *x = ga_calloc(1, sizeof(*x));

	for (size_t i = 0; i < h->n; i++) {
		cleanup_buf struct ga_buf b = GA_BUF_INIT;
		enum ga_reach_what what = h->v[i].what;
		const char *key;

		ga_name_fold(&b, h->v[i].text);
		ga_strv_take(&x->keys, ga_buf_steal(&b));
		key = x->keys.v[i];
		if (what == GA_REACH_FILE || what == GA_REACH_BELOW)
			add_path(x, what == GA_REACH_BELOW, key, (uint32_t)i);
		else if (what == GA_REACH_GIVEN || what == GA_REACH_BARE)
			add_pattern(x, key, (uint32_t)i);
		else if (what == GA_REACH_RULE)
			ga_strmap_add(&x->rules, h->v[i].text, strlen(h->v[i].text), (uint32_t)i);
	}
	return x;
}

/* What reads the files of this rule at the worst moment; NULL: nothing does. */
static const struct ga_reached *ga_fact_on_rule(const struct ga_reach *h,
						const struct ga_fact_index *x, const char *rule)
{
	const struct ga_reached *worst = NULL;

	for (int32_t i = ga_strmap_first(&x->rules, rule, strlen(rule)); i >= 0;
	     i = x->rules.nodes[i].next) {
		const struct ga_reached *f = &h->v[x->rules.nodes[i].value];

		if (!worst || f->when > worst->when)
			worst = f;
	}
	return worst;
}

static void tell(const struct ga_reach *h, const struct ga_strmap *m, const char *key, size_t n,
		 ga_fact_fn *fn, void *arg)
{
	for (int32_t i = ga_strmap_first(m, key, n); i >= 0; i = m->nodes[i].next)
		fn(arg, &h->v[m->nodes[i].value]);
}

void ga_facts_on(const struct ga_reach *h, const struct ga_fact_index *x, const char *folded,
		 bool removed, ga_fact_fn *fn, void *arg)
{
	const char *base;
	size_t len;

	if (!h->n)
		return;
	base = ga_path_base(folded);
	len = strlen(folded);
	tell(h, &x->exact, folded, len, fn, arg);
	tell(h, &x->dirs, folded, 0, fn, arg);
	for (size_t i = 1; i <= len; i++)
		if (folded[i] == '/' || !folded[i])
			tell(h, &x->dirs, folded, i, fn, arg);
	/* a changed path is never a directory: one that was there on the way is replaced */
	if (!removed)
		tell(h, &x->above, folded, len, fn, arg);
	for (int32_t i = ga_strmap_first(&x->ends, base, strlen(base)); i >= 0;
	     i = x->ends.nodes[i].next)
		if (ga_reach_ends_so(folded, x->keys.v[x->ends.nodes[i].value]))
			fn(arg, &h->v[x->ends.nodes[i].value]);
	for (size_t i = 0; i < x->n_globs; i++)
		if (ga_reach_ends_so(folded, x->keys.v[x->globs[i]]))
			fn(arg, &h->v[x->globs[i]]);
}

enum { FACT_RANK = 1000 }; /* higher than that of any pattern */

bool ga_look_removes(const struct ga_look *k)
{
	return k->c->new.mode == GA_MODE_NONE && k->c->old.mode != GA_MODE_NONE;
}

/* What fired on the current change of this rule; a new one of low severity if it did not. */
static struct ga_pending *pending_of(struct ga_look *k, const char *id)
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

struct ga_pending *ga_look_fire_as(struct ga_look *k, const char *id, enum ga_severity s,
				   char *detail)
{
	struct ga_pending *p = pending_of(k, id);

	/* what makes it worst is what is said */
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

struct ga_pending *ga_look_fire(struct ga_look *k, const char *id, char *detail)
{
	struct ga_pending *p = pending_of(k, id);
	const struct ga_reached *by = NULL, *f;
	enum ga_severity s;

	for (size_t i = 0; i < k->n_facts; i++)
		if ((f = ga_fact_on_rule(k->facts[i].h, k->facts[i].index, id)) &&
		    (!by || f->when > by->when))
			by = f;
	s = by ? severity_at(by->when) : GA_LOW;
	(void)ga_look_fire_as(k, id, s > p->rule->severity ? s : p->rule->severity, detail);
	if (by && !p->host) {
		p->host = true;
		add_detail(p, ga_strf("on this host read by %s", by->why));
	}
	return p;
}

void ga_look_fire_reached(struct ga_look *k, const struct ga_reached *f, char *detail)
{
	/* a removed file cannot run, but the host relied on it */
	enum ga_severity s = ga_look_removes(k) ? GA_HIGH : severity_at(f->when);
	struct ga_pending *p = ga_look_fire_as(k, f->rule, s, detail);

	/* it says more than any pattern of its category */
	p->rank = FACT_RANK;
	p->host = true;
}

void ga_look_say(struct ga_look *k, const char *id, enum ga_severity s, char *detail)
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

void ga_look_lower(struct ga_look *k, const char *rules, bool host, const char *why)
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

void ga_look_cap(struct ga_look *k, const char *rules, enum ga_severity s)
{
	for (size_t i = 0; i < k->n; i++) {
		struct ga_pending *p = &k->v[i];

		if (!k->has_nul && p->rank && !p->host && p->severity > s &&
		    ga_has_word(rules, p->rule->id))
			p->severity = s;
	}
}

void ga_look_uninspected(struct ga_look *k, const char *what, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_adds(&b, what);
	if (err && err->msg) {
		ga_buf_adds(&b, ": ");
		ga_quote_add(&b, err->msg, strlen(err->msg));
		ga_error_release(err);
	}
	ga_look_fire(k, "uninspected", ga_buf_steal(&b));
}

bool ga_look_fired(const struct ga_look *k, const char *rules)
{
	for (size_t i = 0; i < k->n; i++)
		if (ga_has_word(rules, k->v[i].rule->id))
			return true;
	return false;
}

void ga_look_forget(struct ga_look *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->v[i].detail);
	k->n = 0;
}

struct ga_secret_names *ga_look_secrets(struct ga_look *k)
{
	if (k->host && k->host->secrets)
		return k->host->secrets;
	if (!k->secrets)
		k->secrets = ga_secret_names_new(NULL, NULL);
	return k->secrets;
}

struct ga_entry ga_look_entry(struct ga_look *k, const struct ga_oid *tree, const char *path)
{
	struct ga_entry e = { GA_MODE_NONE, { { 0 } } };
	struct ga_error err = GA_ERROR_INIT;

	if (tree && *path && ga_tree_entry(k->repo, tree, path, &e, &err)) {
		ga_look_uninspected(k, "tree", &err);
		e.mode = GA_MODE_NONE;
	}
	return e;
}

int ga_look_blob(struct ga_look *k, const struct ga_entry *e, size_t max, struct ga_buf *out)
{
	struct ga_error err = GA_ERROR_INIT;
	int r = ga_blob_read(k->repo, &e->oid, max, out, &err);

	if (r < 0)
		ga_look_uninspected(k, "content", &err);
	return r;
}
