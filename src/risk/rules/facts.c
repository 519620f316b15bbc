/* SPDX-License-Identifier: MIT
 *
 * Looking changed paths up in what the host reaches.
 */
#include <string.h>

#include "ga/base/path.h"
#include "risk/internal.h"

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

const struct ga_reached *ga_fact_on_rule(const struct ga_reach *h, const struct ga_fact_index *x,
					 const char *rule)
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
