/* SPDX-License-Identifier: MIT
 *
 * Facts about the host: a list without duplicates, and an index to look up changed paths.
 */
#include <string.h>

#include "internal.h"

struct ga_fact_index {
	/* of facts, by folded path: of files; of all directories above; of directories */
	struct ga_strmap exact, above, dirs;
	struct ga_strmap raised; /* rule id -> index in `raised_by` */
	struct ga_strv keys;     /* owns the paths that the keys point into */
};

void ga_host_facts_release(struct ga_host_facts *h)
{
	ga_fact_index_free(h->index);
	ga_strmap_release(&h->by_path);
	for (size_t i = 0; i < h->n; i++) {
		free(h->v[i].path);
		free(h->v[i].reason);
	}
	free(h->v);
	ga_strv_release(&h->drivers);
	ga_strv_release(&h->raised);
	ga_strv_release(&h->raised_by);
	ga_strv_release(&h->filters);
	free(h->attributes);
	free(h->info_attributes);
	free(h->attributes_dir);
	free(h->lfs_store);
	ga_matcher_free(h->matcher);
	ga_configured_free(h->configured);
	*h = (struct ga_host_facts)GA_HOST_FACTS_INIT;
}

bool ga_host_facts_have(const struct ga_host_facts *h, const char *path, bool dir,
			const char *rule)
{
	for (int32_t i = ga_strmap_first(&h->by_path, path, strlen(path)); i >= 0;
	     i = h->by_path.nodes[i].next) {
		const struct ga_host_fact *f = &h->v[h->by_path.nodes[i].value];

		if (f->dir == dir && !strcmp(f->rule, rule))
			return true;
	}
	return false;
}

void ga_host_facts_add(struct ga_host_facts *h, const char *path, bool dir, const char *rule,
		       char *reason)
{
	struct ga_host_fact *f;

	if (ga_host_facts_have(h, path, dir, rule)) {
		free(reason);
		return;
	}
	GA_GROW(h->v, h->n, h->cap);
	f = &h->v[h->n];
	*f = (struct ga_host_fact){ ga_strdup(path), dir, rule, reason };
	ga_strmap_add(&h->by_path, f->path, strlen(f->path), (uint32_t)h->n++);
}

/* ---- the index ------------------------------------------------------------------ */

void ga_fact_index_free(struct ga_fact_index *x)
{
	if (!x)
		return;
	ga_strmap_release(&x->exact);
	ga_strmap_release(&x->above);
	ga_strmap_release(&x->dirs);
	ga_strmap_release(&x->raised);
	ga_strv_release(&x->keys);
	free(x);
}

/* File one fact under its folded path. */
static void add_fact(struct ga_fact_index *x, const struct ga_host_fact *f, uint32_t at)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *key;

	ga_risk_fold(&b, f->path);
	ga_strv_take(&x->keys, ga_buf_steal(&b));
	key = x->keys.v[x->keys.n - 1];
	ga_strmap_add(f->dir ? &x->dirs : &x->exact, key, strlen(key), at);
	for (const char *p = key; (p = strchr(p, '/')); p++)
		ga_strmap_add(&x->above, key, (size_t)(p - key), at);
	/* something else may be put in the place of the directory itself */
	if (f->dir && *key)
		ga_strmap_add(&x->above, key, strlen(key), at);
}

struct ga_fact_index *ga_fact_index_new(const struct ga_host_facts *h)
{
	struct ga_fact_index *x = ga_calloc(1, sizeof(*x));

	for (size_t i = 0; i < h->n; i++)
		add_fact(x, &h->v[i], (uint32_t)i);
	for (size_t i = 0; i < h->raised.n; i++)
		ga_strmap_add(&x->raised, h->raised.v[i], strlen(h->raised.v[i]), (uint32_t)i);
	return x;
}

const char *ga_fact_raised_by(const struct ga_host_facts *h, const struct ga_fact_index *x,
			      const char *rule)
{
	int32_t i = ga_strmap_first(&x->raised, rule, strlen(rule));

	return i < 0 ? NULL : h->raised_by.v[x->raised.nodes[i].value];
}

static void tell(const struct ga_host_facts *h, const struct ga_strmap *m, const char *key,
		 size_t n, ga_fact_fn *fn, void *arg)
{
	for (int32_t i = ga_strmap_first(m, key, n); i >= 0; i = m->nodes[i].next)
		fn(arg, &h->v[m->nodes[i].value]);
}

void ga_facts_on(const struct ga_host_facts *h, const struct ga_fact_index *x, const char *folded,
		 bool removed, ga_fact_fn *fn, void *arg)
{
	size_t len = strlen(folded);

	tell(h, &x->exact, folded, len, fn, arg);
	tell(h, &x->dirs, folded, 0, fn, arg);
	for (size_t i = 1; i <= len; i++)
		if (folded[i] == '/' || !folded[i])
			tell(h, &x->dirs, folded, i, fn, arg);
	/* a changed path is never a directory: one that was there on the way is replaced */
	if (!removed)
		tell(h, &x->above, folded, len, fn, arg);
}
