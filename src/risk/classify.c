/* SPDX-License-Identifier: MIT
 *
 * Classify changes: inspect each change, collect the rules that fire, merge them, and append flags.
 */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/secret/secret.h"
#include "internal.h"

/* Rules about all changes together. Their flags have no path. */

static const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };

enum {
	MANY_FILES = 2000,
	MANY_LINES = 50000,
	MANY_BYTES = 50 << 20,
	FEW_DELETED = 10,    /* fewer are never many */
	DELETED_SHARE = 5,   /* one in five or more of all files are many */
};

/* Count the files of the old tree; SIZE_MAX: more than `max`, so that counting costs no more than
 * the change itself, or it cannot be read, which was flagged elsewhere. */
static size_t count_files(struct ga_inspect *k, size_t max)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (ga_tree_list(k->repo, k->old_tree, max, &all, GA_IGNORED))
		return SIZE_MAX;
	return all.n;
}

static void find_mass_delete(struct ga_inspect *k, struct ga_flags *ret)
{
	size_t deleted = 0, files;

	for (size_t i = 0; i < k->changes->n; i++)
		deleted += k->changes->v[i].new.mode == GA_MODE_NONE;
	if (!k->old_tree || deleted < FEW_DELETED)
		return;
	files = count_files(k, deleted * DELETED_SHARE);
	if (files < deleted * DELETED_SHARE)
		ga_flags_found(ret, "mass-delete", "", &none,
			       ga_strf("%zu of %zu files", deleted, files));
}

static void ga_find_whole(struct ga_inspect *k, struct ga_flags *ret)
{
	if (k->changes->n > MANY_FILES)
		ga_flags_found(ret, "huge-diff", "", &none, ga_strf("%zu files", k->changes->n));
	else if (k->added.lines > MANY_LINES)
		ga_flags_found(ret, "huge-diff", "", &none,
			       ga_strf("%zu added lines", k->added.lines));
	if (k->added.bytes > MANY_BYTES)
		ga_flags_found(ret, "huge-file", "", &none,
		     ga_strf("%" PRIu64 " MiB are added together", k->added.bytes >> 20));
	find_mass_delete(k, ret);
}

/* ---- rules fired by one change -------------------------------------------- */

static bool better(const struct ga_pending *a, const struct ga_pending *b)
{
	bool name = !strcmp(a->rule->category, "filename");

	if (a->severity != b->severity)
		return a->severity > b->severity;
	/* being read by a tool is worse than an odd name (see ga_flag_is_severe_in_place()) */
	if (name != !strcmp(b->rule->category, "filename"))
		return !name;
	if (a->rule->editor != b->rule->editor)
		return a->rule->editor;
	return a->rank > b->rank;
}

/* Is the rule merged into the flag of another? Path rules that fire on the same name share one
 * flag. A predicate, or a rule that is critical because of this host, has its own. */
static bool merges(const struct ga_pending *p)
{
	return p->rank && !p->host;
}

/* Is there a better path rule of the same category? */
static bool is_superseded(const struct ga_inspect *k, size_t i)
{
	const struct ga_pending *p = &k->v[i];

	if (!p->rank)
		return false;
	for (size_t j = 0; j < k->n; j++) {
		const struct ga_pending *q = &k->v[j];

		if (j == i || !q->rank || strcmp(q->rule->category, p->rule->category) != 0)
			continue;
		if (better(q, p) || (j < i && !better(p, q)))
			return true;
	}
	return false;
}

/* The path rule whose flag lists the others; NULL: none fired. */
static const struct ga_pending *find_leading(const struct ga_inspect *k)
{
	const struct ga_pending *lead = NULL;

	for (size_t i = 0; i < k->n; i++)
		if (k->v[i].rank && (!lead || better(&k->v[i], lead)))
			lead = &k->v[i];
	return lead;
}

static void add_reason(struct ga_buf *b, const struct ga_pending *p)
{
	ga_buf_addf(b, "%s%s%s", p->rule->reason, p->detail ? ": " : "",
		    p->detail ? p->detail : "");
}

/* Collect the merged rules: their ids, and reasons that differ from the leading rule's. */
static void gather_others(const struct ga_inspect *k, const struct ga_pending *lead,
			  struct ga_buf *more, struct ga_strv *ids)
{
	for (size_t i = 0; i < k->n; i++) {
		const struct ga_pending *p = &k->v[i];
		bool lost = is_superseded(k, i);

		if (p == lead || (!merges(p) && !lost))
			continue;
		ga_strv_push(ids, p->rule->id);
		if (lost || (p->severity == GA_LOW && !p->detail))
			continue;
		ga_buf_addf(more, "; also %s: ", p->rule->id);
		add_reason(more, p);
	}
	ga_strv_sort_unique(ids);
}

/* Drop flags of paths that are configured to be allowed, unless critical or due to the host's
 * state. */
static void drop_allowed(struct ga_inspect *k)
{
	size_t out = 0;

	for (size_t i = 0; i < k->n; i++) {
		struct ga_pending *p = &k->v[i];

		if (p->severity < GA_CRITICAL && !p->host && ga_is_rule_allowed(k, p->rule))
			free(p->detail);
		else
			k->v[out++] = *p;
	}
	k->n = out;
}

static void make_flags(struct ga_inspect *k, struct ga_flags *ret)
{
	bool removed = ga_is_removal(k);
	const struct ga_pending *lead;
	cleanup_buf struct ga_buf more = GA_BUF_INIT;
	struct ga_strv others = GA_STRV_INIT;

	drop_allowed(k);
	lead = find_leading(k);
	gather_others(k, lead, &more, &others);
	for (size_t i = 0; i < k->n; i++) {
		const struct ga_pending *p = &k->v[i];
		cleanup_buf struct ga_buf reason = GA_BUF_INIT;

		if (p != lead && (merges(p) || is_superseded(k, i)))
			continue;
		ga_buf_adds(&reason, removed ? "removed: " : "");
		add_reason(&reason, p);
		if (p == lead)
			ga_buf_add(&reason, more.ptr, more.len);
		ga_flags_add(ret, p->rule, p->severity, k->c->path, &k->c->new,
			     ga_buf_steal(&reason));
		if (p == lead)
			ret->v[ret->n - 1].also = others;
	}
	ga_drop_fired(k);
}

/* ---- path rules ------------------------------------------------------------ */

/* Exceptions to rules that patterns alone cannot express. */
static bool excepted(struct ga_inspect *k, const struct ga_rule *rule, const struct ga_hits *hits)
{
	static const char templates[] = "example sample template dist defaults schema tmpl tpl";
	const char *dot = strrchr(k->base, '.');

	if (!strcmp(rule->id, "dotenv"))
		return dot && ga_has_word(templates, dot + 1);
	/* on Linux, tools look for these names in capitals */
	if (ga_has_word("bazel buck-pants-please instruction-files", rule->id) &&
	    ga_has_word("build workspace targets buck agents.md agent.md claude.md gemini.md "
			"qwen.md warp.md crush.md conventions.md skill.md", k->base))
		return !strcmp(ga_path_base(k->c->path), k->base);
	if (!strcmp(rule->id, "vendored-code"))
		return dot && ga_has_word("css scss less svg md txt", dot + 1);
	if (!strcmp(rule->id, "hook-name-anywhere"))
		return !ga_begins_like_script(k);
	if (!strcmp(rule->id, "name-lock-and-temp") && dot && !strcmp(dot, ".lock"))
		for (size_t i = 0; i < hits->n; i++)
			if (!strcmp(((const struct ga_rule *)hits->v[i].of)->category,
				    "package-manager"))
				return true;
	return false;
}

static void apply_hit(struct ga_inspect *k, const struct ga_hit *hit, char *detail)
{
	const struct ga_rule *rule = hit->of;
	struct ga_pending *p = ga_fire_rule(k, rule->id, detail);

	if (hit->rank > p->rank)
		p->rank = hit->rank;
}

static void look_at_path(struct ga_inspect *k, bool removed)
{
	static const char special[] = ".gitmodules .gitattributes .gitignore .mailmap";
	bool link = k->c->new.mode == GA_MODE_LINK || k->c->new.mode == GA_MODE_GITLINK;
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;

	k->link_covered = k->base[0] == '.' && ga_has_word(special, k->base);
	ga_matcher_find(k->matcher, k->folded, link, &hits);
	for (size_t i = 0; i < hits.n; i++) {
		const struct ga_hit *h = &hits.v[i];
		const struct ga_rule *rule = h->of;

		if ((removed && !rule->on_delete) || excepted(k, rule, &hits))
			continue;
		apply_hit(k, h, NULL);
		/* removing a guard weakens it more than any change */
		if (removed && rule->severity >= GA_MEDIUM)
			ga_add_detail(k, rule->id, GA_HIGH, NULL);
		k->link_covered |= h->whole && rule->severity >= GA_HIGH;
	}
}

/* Fire high and critical rules of the additional paths that links give the file. */
static void look_at_alias(struct ga_inspect *k, const struct ga_alias *a, const char *rest)
{
	cleanup_free char *path = *rest ? ga_path_join(a->link, rest) : ga_strdup(a->link);
	cleanup_free char *shown = ga_quote(path);
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;
	const char *own = k->base;

	ga_name_fold(&folded, path);
	ga_matcher_find(k->matcher, folded.ptr, k->c->new.mode == GA_MODE_LINK, &hits);
	k->base = ga_path_base(folded.ptr);
	for (size_t i = 0; i < hits.n; i++) {
		const struct ga_rule *rule = hits.v[i].of;

		if (rule->severity >= GA_HIGH && !ga_has_fired(k, rule->id) &&
		    !excepted(k, rule, &hits))
			apply_hit(k, &hits.v[i], ga_strf("a link makes it %s", shown));
	}
	k->base = own;
}

static void look_at_aliases(struct ga_inspect *k)
{
	const char *path = k->c->path;

	for (size_t n = 1; k->aliases.n && n <= strlen(path); n++) {
		if (path[n] && path[n] != '/')
			continue;
		for (int32_t i = ga_strmap_first(&k->aliases.targets, path, n); i >= 0;
		     i = k->aliases.targets.nodes[i].next)
			look_at_alias(k, &k->aliases.v[k->aliases.targets.nodes[i].value],
				      path + n + (path[n] == '/'));
	}
}

/* ---- changes --------------------------------------------------------------- */

static void inspect_modes(struct ga_inspect *k)
{
	const struct ga_change *c = k->c;

	if (c->old.mode == GA_MODE_GITLINK || c->new.mode == GA_MODE_GITLINK) {
		if (c->new.mode == GA_MODE_GITLINK)
			ga_fire_rule(k, "gitlink-changed", ga_strf("-> %s", GA_HEX(&c->new.oid)));
		else
			ga_fire_rule(k, "gitlink-changed", NULL);
	}
	if (c->old.mode == GA_MODE_EXEC && c->new.mode == GA_MODE_FILE)
		ga_fire_rule(k, "exec-bit-removed", NULL);
}

static void inspect_change(struct ga_inspect *k, const struct ga_change *c, struct ga_flags *ret)
{
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;
	bool removed;

	ga_name_fold(&folded, c->path);
	k->c = c;
	removed = ga_is_removal(k);
	k->folded = folded.ptr;
	k->base = ga_path_base(folded.ptr);
	look_at_path(k, removed);
	if (!removed)
		look_at_aliases(k);
	ga_fire_facts(k);
	ga_fire_configured(k);
	inspect_modes(k);
	if (removed) {
		ga_inspect_removed_link(k);
	} else {
		ga_inspect_names(k);
		ga_inspect_link(k);
		ga_inspect_repository(k);
		ga_inspect_shadowing(k);
		ga_inspect_content(k);
	}
	make_flags(k, ret);
}

/* Add host facts. */
static void set_facts(struct ga_inspect *k, const struct ga_reach *h,
		      const struct ga_fact_index *index)
{
	struct ga_fact_index *own = index ? NULL : ga_fact_index_new(h);

	k->facts[k->n_facts++] = (struct ga_known_facts){ h, own ? own : index, own };
}

static void know_host(struct ga_inspect *k)
{
	const struct ga_host_facts *h = k->host;

	k->matcher = h ? h->matcher : NULL;
	if (!k->matcher)
		k->matcher = k->own = ga_rules_matcher();
	if (h)
		set_facts(k, &h->reach, h->index);
}

static void inspect_release(struct ga_inspect *k)
{
	ga_strmap_release(&k->required.map);
	ga_strv_release(&k->required.names);
	ga_aliases_release(&k->aliases);
	ga_filter_rules_release(k);
	ga_sieve_free(k->sieve);
	ga_deps_lock_free(k->lock);
	ga_secret_names_free(k->secrets);
	for (size_t i = 0; i < k->n_facts; i++)
		ga_fact_index_free(k->facts[i].own);
	ga_matcher_free(k->own);
	free(k->v);
}

int ga_classify(struct ga_repo *r, const struct ga_host_facts *h, const struct ga_oid *old_tree,
		const struct ga_oid *new_tree, const struct ga_changes *changes,
		struct ga_flags *ret, struct ga_error *err)
{
	cleanup_(inspect_release) struct ga_inspect k = {
		.repo = r, .host = h, .old_tree = old_tree, .new_tree = new_tree,
		.changes = changes,
	};
	cleanup_reach struct ga_reach nested = GA_REACH_INIT;

	if (ga_reach_envrc(r, changes, &nested, err))
		return -1;
	know_host(&k);
	set_facts(&k, &nested, NULL);
	ga_find_aliases(&k);
	for (size_t i = 0; i < changes->n; i++)
		inspect_change(&k, &changes->v[i], ret);
	ga_find_collisions(&k, ret);
	ga_find_whole(&k, ret);
	ga_flags_sort(ret);
	return 0;
}

void ga_classify_path(const struct ga_host_facts *h, const char *path, bool dir,
		      struct ga_flags *ret)
{
	const struct ga_change c = { .path = (char *)(uintptr_t)path };
	cleanup_(inspect_release) struct ga_inspect k = { .host = h, .c = &c };
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;

	know_host(&k);
	ga_name_fold(&folded, path);
	k.folded = folded.ptr;
	k.base = ga_path_base(folded.ptr);
	if (!dir) {
		look_at_path(&k, false);
		ga_fire_configured(&k);
	}
	ga_fire_facts(&k);
	ga_inspect_names(&k);
	make_flags(&k, ret);
}

/* Leftovers: they are in no tree, but can be executed from their present path. */

/* Directories that editors and builds run programs from, or read. */
static bool is_executed(const char *name, size_t n)
{
	static const char names[] =
		"node_modules .venv venv env .tox .nox __pycache__ target build dist out bin obj "
		".gradle .next .nuxt .turbo .parcel-cache .cache .eggs _build deps .dart_tool "
		".terraform .direnv .devenv .mypy_cache .pytest_cache .ruff_cache .yarn pods "
		"deriveddata bundle";
	cleanup_free char *part = ga_strndup(name, n);

	return ga_has_word(names, part) || !strncmp(part, "cmake-build-", 12);
}

static bool is_in_executed_dir(const char *folded)
{
	for (const char *p = folded;;) {
		size_t n = strcspn(p, "/");

		if (is_executed(p, n))
			return true;
		if (!p[n])
			return false;
		p += n + 1;
	}
}

void ga_classify_place(const char *path, enum ga_leftover_kind kind, bool severe,
		       struct ga_flags *ret)
{
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;

	ga_name_fold(&folded, path);
	if (kind == GA_LEFTOVER_IGNORED && severe)
		ga_flags_found(ret, "ignored-config", path, &none, NULL);
	if (kind == GA_LEFTOVER_IGNORED && is_in_executed_dir(folded.ptr))
		ga_flags_found(ret, "ignored-executables", path, &none, NULL);
	if (kind == GA_LEFTOVER_SPECIAL)
		ga_flags_found(ret, "special-file", path, &none, NULL);
}

bool ga_flag_is_severe_in_place(const struct ga_flag *f)
{
	return f->severity >= GA_HIGH && strcmp(f->category, "filename") != 0 &&
	       strcmp(f->rule, "ignore-rules-source") != 0;
}
