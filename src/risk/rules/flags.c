/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "ga/base/quote.h"
#include "ga/secret/secret.h"
#include "risk/internal.h"

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
		.rule = rule->id,
		.category = rule->category,
		.severity = s,
		.path = ga_strdup(path),
		.reason = reason,
		.entry = *e,
	};
}

static int compare(const void *a, const void *b)
{
	const struct ga_flag *x = a, *y = b;
	int c;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	c = strcmp(x->path, y->path);
	return c ? c : strcmp(x->rule, y->rule);
}

void ga_flags_sort(struct ga_flags *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare);
}
