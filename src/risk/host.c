/* SPDX-License-Identifier: MIT
 *
 * What the host's own state makes critical. Nothing a session wrote is looked at.
 */
#include <string.h>
#include <strings.h>

#include "ga/base/path.h"
#include "ga/repo/lfs.h"
#include "ga/secret/secret.h"
#include "internal.h"

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

/* "filter.NAME.clean" and the like: remember that the driver exists. */
static void note_driver(struct ga_host_facts *h, const char *key)
{
	static const struct {
		const char *section, *variable;
	} kinds[] = {
	    {"filter.", ".clean"},  {"filter.", ".smudge"}, {"filter.", ".process"},
	    {"diff.", ".textconv"}, {"diff.", ".command"},  {"merge.", ".driver"},
	};
	size_t len = strlen(key);

	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		size_t n = strlen(kinds[i].section), m = strlen(kinds[i].variable);
		cleanup_free char *driver = NULL;

		if (len <= n + m || strncasecmp(key, kinds[i].section, n) != 0 ||
		    strcasecmp(key + len - m, kinds[i].variable) != 0)
			continue;
		driver =
		    ga_strf("%.*s:%.*s", (int)n - 1, kinds[i].section, (int)(len - n - m), key + n);
		if (!ga_strv_has(&h->drivers, driver))
			ga_strv_push(&h->drivers, driver);
	}
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

/* Add the facts of a superproject: its hooks may run what is in the submodule. */
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
