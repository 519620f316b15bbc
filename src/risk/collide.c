/* SPDX-License-Identifier: MIT
 *
 * Names that are one name where case does not count. Only new paths can bring
 * that about, but with anything in the tree; so the folded forms of new paths and
 * of the directories above them are looked up while the new tree is walked once.
 */
#include <string.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "internal.h"

enum { TREE_MAX = 2000000 };

struct forms {
	struct ga_strv folded; /* of each prefix of each new path ... */
	size_t *change;        /* ... the change it belongs to */
	size_t *real_len;      /* ... and how much of that change's path it is */
	size_t cap;
	struct ga_strmap index;
};

static void forms_release(struct forms *f)
{
	ga_strmap_release(&f->index);
	ga_strv_release(&f->folded);
	free(f->change);
	free(f->real_len);
}

static void add_form(struct forms *f, const char *path, size_t len, size_t change)
{
	cleanup_free char *part = ga_strndup(path, len);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (f->folded.n >= f->cap) {
		f->cap = f->cap ? f->cap * 2 : 64;
		f->change = ga_reallocarray(f->change, f->cap, sizeof(*f->change));
		f->real_len = ga_reallocarray(f->real_len, f->cap, sizeof(*f->real_len));
	}
	f->change[f->folded.n] = change;
	f->real_len[f->folded.n] = len;
	ga_risk_fold(&b, part);
	ga_strv_take(&f->folded, ga_buf_steal(&b));
}

/* Length of the prefix that `path` has in common with its predecessor, cut back
 * to whole components: those prefixes were looked at already. */
static size_t shared(const char *before, const char *path)
{
	size_t last = 0;

	for (size_t i = 0; before[i] && before[i] == path[i]; i++)
		if (path[i] == '/')
			last = i + 1;
	return last;
}

static void collect(const struct ga_changes *changes, struct forms *f)
{
	const char *before = "";

	for (size_t i = 0; i < changes->n; i++) {
		const struct ga_change *c = &changes->v[i];
		size_t at;

		if (c->old.mode != GA_MODE_NONE || c->new.mode == GA_MODE_NONE)
			continue;
		for (at = shared(before, c->path); ; at++) {
			at += strcspn(c->path + at, "/");
			add_form(f, c->path, at, i);
			if (!c->path[at])
				break;
		}
		before = c->path;
	}
	for (size_t i = 0; i < f->folded.n; i++)
		ga_strmap_add(&f->index, f->folded.v[i], strlen(f->folded.v[i]), (uint32_t)i);
}

/* Compare one prefix of a path in the tree with the new names that fold the same. */
static void compare(struct ga_look *k, const struct forms *f, bool *told, const char *path,
		    size_t len, const char *folded, struct ga_flags *ret)
{
	int32_t i = ga_strmap_first(&f->index, folded, strlen(folded));

	for (; i >= 0; i = f->index.nodes[i].next) {
		uint32_t form = f->index.nodes[i].value;
		const struct ga_change *c = &k->changes->v[f->change[form]];
		cleanup_free char *other = NULL, *shown = NULL;
		const struct ga_rule *rule = ga_rule_by_id("name-case-collision");

		if (told[form] || (f->real_len[form] == len && !memcmp(c->path, path, len)))
			continue;
		told[form] = true;
		other = ga_strndup(path, len);
		shown = ga_quote(other);
		ga_flags_add(ret, rule, rule->severity, c->path, &c->new,
			     ga_strf("%s: the other is %s", rule->reason, shown));
	}
}

void ga_find_collisions(struct ga_look *k, struct ga_flags *ret)
{
	cleanup_(forms_release) struct forms f = { .cap = 0 };
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_error err = GA_ERROR_INIT;
	cleanup_free bool *told = NULL;
	const char *before = "";

	collect(k->changes, &f);
	if (!f.folded.n || !k->new_tree)
		return;
	if (ga_tree_list(k->repo, k->new_tree, TREE_MAX, &all, &err)) {
		const struct ga_rule *rule = ga_rule_by_id("uninspected");
		const struct ga_change *c = &k->changes->v[f.change[0]];
		cleanup_buf struct ga_buf why = GA_BUF_INIT;

		ga_quote_add(&why, err.msg, strlen(err.msg));
		ga_flags_add(ret, rule, rule->severity, c->path, &c->new,
			     ga_strf("names of the whole tree %s: %s", rule->reason, why.ptr));
		ga_error_release(&err);
		return;
	}
	told = ga_calloc(f.folded.n, sizeof(*told));
	for (size_t i = 0; i < all.n; i++) {
		const char *path = all.v[i].path;
		cleanup_buf struct ga_buf folded = GA_BUF_INIT;
		size_t at = shared(before, path), done = 0;

		for (;; at++) {
			cleanup_free char *part = NULL;

			at += strcspn(path + at, "/");
			part = ga_strndup(path + done, at - done);
			ga_risk_fold(&folded, part);
			compare(k, &f, told, path, at, folded.ptr, ret);
			done = at;
			if (!path[at])
				break;
		}
		before = path;
	}
}
