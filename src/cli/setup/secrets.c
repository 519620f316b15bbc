/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/base/strmap.h"
#include "ga/secret/secret.h"

struct options {
	bool json, all, history;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(all, "all", 'a',
		 "include what may hold a secret (T3), and directories that package managers fill"),
	CLI_FLAG(history, "history", 0, "also search all commits, stashes and reflogs"),
	CLI_FLAG_JSON,
};

/* Scan the directories that a start skips as well, since a session sees them. Earlier findings keep
 * their visibility. */
static int find_all(const struct ga_exposure_opts *o, struct ga_exposure *x, struct ga_error *err)
{
	cleanup_exposure struct ga_exposure some = *x;
	cleanup_strmap struct ga_strmap at = GA_STRMAP_INIT;
	struct ga_exposure_opts all = *o;

	*x = (struct ga_exposure)GA_EXPOSURE_INIT;
	all.all_dirs = true;
	all.state_dir = NULL;
	if (ga_exposure_find(&all, x, err))
		return -1;
	for (size_t i = 0; i < some.n; i++)
		ga_strmap_add(&at, some.v[i].path, strlen(some.v[i].path), (uint32_t)i);
	for (size_t i = 0; i < x->n; i++)
		for (int32_t k = ga_strmap_first(&at, x->v[i].path, strlen(x->v[i].path)); k >= 0;
		     k = at.nodes[k].next)
			if (x->v[i].as == some.v[at.nodes[k].value].as)
				x->v[i].view = some.v[at.nodes[k].value].view;
	return 0;
}

static int find(struct cli *c, const struct options *o, struct ga_exposure *ret,
		struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_scan struct ga_scan scan = GA_SCAN_INIT;
	cleanup_free char *branch = NULL;
	struct ga_exposure_opts eo = { .repo = c->env.repo, .state_dir = c->env.state_dir,
				       .scan = &scan };
	struct ga_oid head, tree;
	int unborn = ga_repo_head(c->env.repo, &head, &branch, err);

	if (unborn < 0 || cli_settings(c, unborn ? NULL : &head, &conf, err) ||
	    ga_scan_show(c->env.repo, &scan, err))
		return -1;
	if (!unborn) {
		if (ga_commit_tree(c->env.repo, &head, &tree, err))
			return -1;
		eo.tree = &tree;
	}
	eo.add = &conf.secret.add;
	eo.allow = &conf.secret.allow;
	if (ga_exposure_find(&eo, ret, err))
		return -1;
	for (size_t i = 0; conf.dirty == GA_DIRTY_IGNORE && i < ret->n; i++)
		if (ret->v[i].as == GA_EXPOSED_MODIFIED || ret->v[i].as == GA_EXPOSED_UNTRACKED)
			ret->v[i].view = GA_VIEW_ABSENT;
	if (conf.secret.mode == GA_SECRETS_MASK)
		ga_exposure_mask(ret, NULL);
	if ((o->all && find_all(&eo, ret, err)) ||
	    (o->history && ga_exposure_history(&eo, ret, err)))
		return -1;
	ga_exposure_config(&c->env.config, ret);
	ga_exposure_sort(ret);
	return 0;
}

static bool is_known(const void *where, const char *path)
{
	const struct ga_exposure *x = where;

	for (size_t i = 0; i < x->n; i++)
		if (ga_path_inside(x->v[i].path, path))
			return true;
	return false;
}

static json_t *exposed_json(const struct ga_exposed *e)
{
	cleanup_free char *reason = ga_secret_reason(&e->secret);
	json_t *j = json_object();

	ga_json_set_bytes(j, "path", e->path);
	ga_json_set(j, "tier", json_integer(ga_tier_number(e->secret.tier)));
	ga_json_set(j, "rule", json_string(e->secret.rule->id));
	ga_json_set(j, "reason", json_string(reason));
	ga_json_set(j, "state", json_string(ga_exposed_name(e->as)));
	ga_json_set(j, "session", json_string(ga_view_name(e->view)));
	return j;
}

static void print_notes(const struct ga_exposure *x, const struct options *o, size_t left_out)
{
	size_t committed = 0;

	for (size_t i = 0; i < x->n; i++)
		committed += x->v[i].secret.tier > GA_TIER_NOTE && !x->v[i].clear &&
			     (x->v[i].as == GA_EXPOSED_COMMITTED ||
			      x->v[i].as == GA_EXPOSED_HISTORY);
	if (committed)
		cli_note("note: every session can read a committed secret in the history: revoke "
			 "it, and make a new one");
	if (left_out && !o->all)
		cli_note("note: %zu more that may hold one: --all", left_out);
	if (x->incomplete)
		cli_note("note: not everything could be scanned");
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_exposure struct ga_exposure x = GA_EXPOSURE_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	json_t *list = o->json ? json_array() : NULL;
	size_t left_out = 0;

	if (find(c, o, &x, err)) {
		json_decref(list);
		return -1;
	}
	for (size_t i = 0; i < argc; i++)
		ga_strv_take(&paths, cli_resolve_path(c, argv[i], is_known, &x));
	for (size_t i = 0; i < x.n; i++) {
		const struct ga_exposed *e = &x.v[i];
		cleanup_free char *reason = NULL;

		left_out += e->secret.tier == GA_TIER_NOTE;
		if ((argc && !ga_path_within(e->path, (const char *const *)paths.v)) ||
		    (!o->all && e->secret.tier == GA_TIER_NOTE))
			continue;
		if (e->view == GA_VIEW_SEEN && e->secret.tier > GA_TIER_NOTE)
			c->status = ga_error_status(GA_ENEGATIVE);
		if (list) {
			ga_json_add(list, exposed_json(e));
			continue;
		}
		reason = ga_secret_reason(&e->secret);
		(void)printf("T%u  %-6s  %-9s  %s: %s (%s)\n", ga_tier_number(e->secret.tier),
			     ga_view_name(e->view), ga_exposed_name(e->as), GA_QUOTED(e->path),
			     reason, e->secret.rule->id);
	}
	if (list)
		return cli_print_json(list, err);
	print_notes(&x, o, left_out);
	return 0;
}

CLI_COMMAND(secrets, "[--all] [--history] [--json] [PATH...]",
	    "list secrets in the project, and whether a session would see them", "PATH...");
