/* SPDX-License-Identifier: MIT
 *
 * Gather what the host's state makes critical, without reading files of sessions.
 */
#include <string.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/wildmatch.h"
#include "ga/repo/lfs.h"
#include "ga/secret/secret.h"
#include "internal.h"
#include "risk/internal.h"

/* Paths that are configured to be flagged more severely than by rules, or not at all. */

/* The rules that such patterns fire, the most severe first: only one of them is reported. */
static const char *const kinds[] = { "configured-block", "configured-hold", "configured-add" };

struct ga_configured {
	struct ga_rule *rules;      /* one for each pattern; its id is that of the kind */
	struct ga_strv patterns;    /* of these rules, in the form of the table's */
	struct ga_matcher *matcher;
	struct ga_strv allow;       /* patterns for ga_wildmatch() */
};

void ga_risk_paths_release(struct ga_risk_paths *p)
{
	ga_strv_release(&p->add);
	ga_strv_release(&p->allow);
	ga_strv_release(&p->hold);
	ga_strv_release(&p->block);
	ga_strv_release(&p->filters);
}

static bool is_hold(const char *rule)
{
	return !strcmp(rule, kinds[0]) || !strcmp(rule, kinds[1]);
}

/* A directory covers what is in it. */
static const char *beneath(const char *pattern)
{
	return pattern[strlen(pattern) - 1] == '/' ? "**" : "";
}

/* Fold a pattern like the names it is matched with, unless that would change its meaning: if it has
 * a bracket, or a component that folds to nothing. */
static char *fold_pattern(const char *pattern)
{
	cleanup_free char *all = ga_strf("%s%s", pattern, beneath(pattern));
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;
	size_t n;

	if (strchr(all, '['))
		return ga_steal(&all);
	ga_name_fold(&folded, all + (*all == '/'));
	n = folded.len;
	if (!n || folded.ptr[0] == '/' || folded.ptr[n - 1] == '/' || strstr(folded.ptr, "//"))
		return ga_steal(&all);
	return ga_strf("%s%s", *all == '/' ? "/" : "", folded.ptr);
}

static void add_rules(struct ga_configured *x, const char *kind, const struct ga_strv *patterns)
{
	for (size_t i = 0; i < patterns->n; i++) {
		ga_strv_take(&x->patterns, fold_pattern(patterns->v[i]));
		x->rules[x->patterns.n - 1] = (struct ga_rule){
			.id = kind, .patterns = x->patterns.v[x->patterns.n - 1] };
	}
}

struct ga_configured *ga_configured_new(const struct ga_risk_paths *p)
{
	struct ga_configured *x;
	size_t n = p ? p->add.n + p->hold.n + p->block.n : 0;

	if (!n && (!p || !p->allow.n))
		return NULL;
	x = ga_calloc(1, sizeof(*x));
	x->rules = ga_calloc(n + 1, sizeof(*x->rules));
	add_rules(x, kinds[0], &p->block);
	add_rules(x, kinds[1], &p->hold);
	add_rules(x, kinds[2], &p->add);
	x->matcher = ga_matcher_new();
	for (size_t i = 0; i < n; i++)
		ga_matcher_add(x->matcher, x->rules[i].patterns, &x->rules[i]);
	for (size_t i = 0; i < p->allow.n; i++) {
		const char *pattern = p->allow.v[i];

		ga_strv_pushf(&x->allow, "%s%s%s", *pattern == '/' ? "" : "**/",
			      pattern + (*pattern == '/'), beneath(pattern));
	}
	return x;
}

static void ga_configured_free(struct ga_configured *x)
{
	if (!x)
		return;
	ga_matcher_free(x->matcher);
	free(x->rules);
	ga_strv_release(&x->patterns);
	ga_strv_release(&x->allow);
	free(x);
}

/* The first matching pattern of the most severe kind; NULL: none. */
static const struct ga_rule *find(const struct ga_configured *x, const char *folded, bool link)
{
	const struct ga_rule *first = NULL;
	cleanup_hits struct ga_hits hits = GA_HITS_INIT;

	ga_matcher_find(x->matcher, folded, link, &hits);
	for (size_t i = 0; i < hits.n; i++)
		if (!first || (const struct ga_rule *)hits.v[i].of < first)
			first = hits.v[i].of;
	return first;
}

void ga_fire_configured(struct ga_inspect *k)
{
	const struct ga_configured *x = k->host ? k->host->configured : NULL;
	uint32_t mode = k->c->new.mode ? k->c->new.mode : k->c->old.mode;
	const struct ga_rule *rule =
		x ? find(x, k->folded, mode == GA_MODE_LINK || mode == GA_MODE_GITLINK) : NULL;

	if (rule)
		ga_fire_rule(k, rule->id, ga_quote(rule->patterns));
}

bool ga_is_rule_allowed(const struct ga_inspect *k, const struct ga_rule *rule)
{
	const struct ga_configured *x = k->host ? k->host->configured : NULL;

	/* not folded: a name that only resembles an allowed one is another file on most systems */
	for (size_t i = 0; x && i < x->allow.n; i++)
		if (!is_hold(rule->id) && ga_wildmatch(x->allow.v[i], k->c->path, false))
			return true;
	return false;
}

bool ga_risk_blocks(const struct ga_risk_paths *p, const char *path, bool link)
{
	const struct ga_risk_paths only = { .block = p->block };
	struct ga_configured *x = ga_configured_new(&only);
	cleanup_buf struct ga_buf folded = GA_BUF_INIT;
	bool blocks;

	ga_name_fold(&folded, path);
	blocks = x && find(x, folded.ptr, link);
	ga_configured_free(x);
	return blocks;
}

bool ga_flag_holds(const struct ga_host_facts *h, const struct ga_flag *f)
{
	static const char built[] = "build package-manager language-autoload";
	bool high = h && (h->guard || (h->strict && ga_has_word(built, f->category)));

	return f->severity >= (high ? GA_HIGH : GA_CRITICAL) || is_hold(f->rule);
}

void ga_host_facts_release(struct ga_host_facts *h)
{
	ga_fact_index_free(h->index);
	ga_reach_release(&h->reach);
	ga_strv_release(&h->drivers);
	ga_strv_release(&h->filters);
	ga_strv_release(&h->smudges);
	free(h->attributes);
	free(h->info_attributes);
	free(h->attributes_dir);
	free(h->lfs_store);
	ga_matcher_free(h->matcher);
	ga_secret_names_free(h->secrets);
	ga_configured_free(h->configured);
	*h = (struct ga_host_facts)GA_HOST_FACTS_INIT;
}

static void note_driver(struct ga_host_facts *h, const char *key)
{
	static const char commands[] = "filter.clean filter.smudge filter.process diff.textconv "
				       "diff.command merge.driver";
	const char *name = strchr(key, '.'), *variable = strrchr(key, '.');
	cleanup_free char *command = NULL, *driver = NULL;

	if (!name || name == variable)
		return;
	command = ga_strf("%.*s%s", (int)(name - key), key, variable);
	driver = ga_strf("%.*s:%.*s", (int)(name - key), key, (int)(variable - name - 1), name + 1);
	if (ga_has_word(commands, command) && !ga_strv_has(&h->drivers, driver))
		ga_strv_push(&h->drivers, driver);
}

static void raise(struct ga_host_facts *h, const char *rule, const char *why)
{
	ga_reach_add(&h->reach, GA_REACH_RULE, GA_REACH_GIT, rule, rule, why);
}

static int gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_host_facts *h,
		  struct ga_error *err)
{
	if (ga_reach_gather(r, c, &h->reach, err))
		return -1;
	for (size_t i = 0; i < c->n; i++)
		note_driver(h, c->v[i].key);
	h->guard = ga_gitconfig_bool(c, "agent.guard", false);
	h->lfs_store = ga_lfs_store(r, c);
	if (ga_strv_has(&h->drivers, "filter:lfs"))
		raise(h, "lfsconfig", "git-lfs");
	if (ga_gitconfig_bool(c, "submodule.recurse", false))
		raise(h, "gitmodules", "every checkout, since submodule.recurse is set");
	return 0;
}

/* Add the facts of a superproject, whose hooks may run files of the submodule. */
static int gather_around(struct ga_repo *r, struct ga_host_facts *h, struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig config = GA_GITCONFIG_INIT;
	cleanup_host_facts struct ga_host_facts of = GA_HOST_FACTS_INIT;
	cleanup_repo struct ga_repo *super = NULL;
	int rc = ga_repo_superproject(r, &super, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_gitconfig_load(super, &config, err) ||
	    ga_host_facts_gather(super, &config, NULL, &of, err))
		return -1;
	ga_reach_extend(&h->reach, &of.reach,
			ga_path_below(ga_repo_info(r)->workdir, ga_repo_info(super)->workdir));
	h->guard = h->guard || of.guard;
	return 0;
}

int ga_host_facts_gather(struct ga_repo *r, const struct ga_gitconfig *c,
			 const struct ga_risk_paths *paths, struct ga_host_facts *ret,
			 struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts h = GA_HOST_FACTS_INIT;

	if (gather(r, c, &h, err) || gather_around(r, &h, err) ||
	    ga_filters_gather(r, c, paths ? &paths->filters : NULL, &h, err))
		return -1;
	h.strict = paths && paths->strict;
	h.matcher = ga_rules_matcher();
	h.secrets = ga_secret_names_new(NULL, NULL);
	h.index = ga_fact_index_new(&h.reach);
	h.configured = ga_configured_new(paths);
	*ret = h;
	h = (struct ga_host_facts)GA_HOST_FACTS_INIT;
	return 0;
}
