/* SPDX-License-Identifier: MIT
 *
 * What fired on the change that is looked at, and reading from its trees.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/secret/secret.h"
#include "risk/internal.h"

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
