/* SPDX-License-Identifier: MIT */
#include "ga/reach/reach.h"

#include <string.h>

#include "ga/base/path.h"
#include "ga/base/wildmatch.h"

void ga_reach_release(struct ga_reach *h)
{
	for (size_t i = 0; i < h->n; i++) {
		free(h->v[i].text);
		free(h->v[i].why);
	}
	free(h->v);
	ga_strmap_release(&h->by_text);
	*h = (struct ga_reach)GA_REACH_INIT;
}

void ga_reach_add(struct ga_reach *h, enum ga_reach_what what, enum ga_reach_when when,
		  const char *rule, const char *text, const char *why)
{
	struct ga_reached *x;

	for (int32_t i = ga_strmap_first(&h->by_text, text, strlen(text)); i >= 0;
	     i = h->by_text.nodes[i].next) {
		x = &h->v[h->by_text.nodes[i].value];
		if (x->what != what || strcmp(x->rule, rule) != 0)
			continue;
		if (x->when < when) {
			x->when = when;
			free(x->why);
			x->why = ga_strdup(why);
		}
		return;
	}
	GA_GROW(h->v, h->n, h->cap);
	x = &h->v[h->n];
	*x = (struct ga_reached){ what, when, rule, ga_strdup(text), ga_strdup(why) };
	ga_strmap_add(&h->by_text, x->text, strlen(x->text), (uint32_t)h->n++);
}

/* "vendor/lib/x" is x in the submodule at vendor/lib, and so is "lib/x". */
static void extend_pattern(struct ga_reach *h, const struct ga_reached *x, const char *path)
{
	ga_reach_add(h, x->what, x->when, x->rule, x->text, x->why);
	for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL) {
		const char *below = ga_path_below(x->text, p);

		if (below && *below)
			ga_reach_add(h, x->what, x->when, x->rule, below, x->why);
	}
}

void ga_reach_extend(struct ga_reach *h, const struct ga_reach *of, const char *path)
{
	for (size_t i = 0; i < of->n; i++) {
		const struct ga_reached *x = &of->v[i];
		const char *below = ga_path_below(x->text, path);
		bool dir = x->what == GA_REACH_BELOW;
		bool all =
			(below && !*below) || (dir && (!*x->text || ga_path_inside(path, x->text)));

		if (x->what != GA_REACH_FILE && !dir)
			extend_pattern(h, x, path);
		else if (all || below)
			ga_reach_add(h, all ? GA_REACH_BELOW : x->what, x->when, x->rule,
				     all ? "" : below, x->why);
	}
}

bool ga_reach_hook(const char *name, enum ga_reach_when *ret)
{
	/* githooks(5), and when each of them ran in t1896 */
	static const char any[] =
		"applypatch-msg pre-applypatch post-applypatch pre-merge-commit prepare-commit-msg "
		"commit-msg post-commit pre-rebase post-checkout post-merge reference-transaction "
		"post-rewrite fsmonitor-watchman push-to-checkout pre-auto-gc post-index-change";

	if (!strcmp(name, "pre-commit"))
		*ret = GA_REACH_COMMIT;
	else if (ga_has_word("pre-push sendemail-validate", name))
		*ret = GA_REACH_PUSH;
	else if (ga_has_word(any, name))
		*ret = GA_REACH_GIT;
	else
		return false;
	return true;
}

bool ga_reach_is_script(const char *path)
{
	static const char ends[] =
		"sh bash zsh fish ksh js mjs cjs ts mts cts tsx jsx py pyw rb pl pm "
		"php lua mk ps1 bat cmd awk tcl R jl groovy kts exs el scm";
	const char *base = ga_path_base(path), *dot = strrchr(base, '.');

	return dot && ga_has_word(ends, dot + 1);
}

bool ga_reach_matches_end(const char *path, const char *pattern)
{
	for (const char *p = path; p; p = strchr(p, '/'), p = p ? p + 1 : NULL)
		if (ga_wildmatch(pattern, p, false))
			return true;
	return false;
}
