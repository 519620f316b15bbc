/* SPDX-License-Identifier: MIT */
#include "ga/repo/objects.h"
#include "cli/cli.h"
#include "ga/repo/import.h"
#include "ga/repo/pool.h"
#include "ga/trash/trash.h"

#define DAY 86400
#define KEEP_DAYS 14 /* of trash and unused base trees */

struct options {
	bool dry_run, json;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(dry_run, "dry-run", 'n', "say what would be done, and do nothing"),
	CLI_FLAG_JSON,
};

struct gc {
	struct cli *c;
	const struct options *o;
	json_t *list; /* with --json */
};

/* Print what was removed, or would be; `why` is for users, and safe to show. */
static void print_removed(const struct gc *g, const char *kind, const char *name,
			  const char *action, const char *why)
{
	if (g->list) {
		json_t *o = json_object();

		ga_json_set(o, "kind", json_string(kind));
		ga_json_set_bytes(o, "name", name);
		ga_json_set(o, "action", json_string(action));
		ga_json_set(o, "why", json_string(why));
		ga_json_set(o, "done", json_boolean(!g->o->dry_run));
		ga_json_add(g->list, o);
		return;
	}
	(void)printf("%s%s %s: %s (%s)\n", g->o->dry_run ? "would: " : "", kind, GA_QUOTED(name),
		     strcmp(action, "trash") ? "removed" : "moved to the trash", why);
}

/* Why a landed session is kept, or NULL. Caller frees. */
static int why_stays(struct gc *g, struct ga_session *s, char **ret, struct ga_error *err)
{
	cleanup_free char *dir = NULL, *commits = NULL, *ref = NULL;
	int rc, away;

	/* it is removed with the superproject's session */
	if (s->id.within && !access(s->id.within, F_OK)) {
		*ret = ga_strdup("it is a part of a superproject's session");
		return 0;
	}
	rc = cli_kept_refs(g->c->env.repo, s, &ref, err);
	away = rc < 0 ? -1 : cli_kept_away(g->c->env.repo, s, &commits, err);
	if (away < 0 || cli_part_work(&g->c->env, s, &dir, err))
		return -1;
	if (commits)
		*ret = ga_strf("it may have commits that are nowhere else: %s", commits);
	else if (rc)
		*ret = ga_strdup("it has branches or a stash of the agent");
	else if (away)
		*ret = ga_strdup("a limit kept something of it away");
	else if (dir)
		*ret = ga_strdup("it has work in a submodule that has not landed");
	else if (ga_worktree_check_free(g->c->env.repo, s, GA_IGNORED))
		*ret = ga_strdup("its branch is checked out");
	return 0;
}

static char *how_landed(const struct ga_session *s)
{
	const char *ref = s->result.arrived_in ? ga_ref_branch(s->result.arrived_in) : NULL;
	cleanup_free char *q = NULL;

	if (!s->result.arrived)
		return ga_strdup("landed");
	if (!s->result.arrived_in)
		return ga_strf("landed: %s", s->result.arrived);
	q = ga_quote(ref ? ref : s->result.arrived_in);
	return ga_strf("landed: %s, in %s", s->result.arrived, q);
}

static void print_kept(const struct ga_session *s, const char *why, const char *hint)
{
	cli_note("session '%s' has landed and stays: %s", s->name, why);
	if (hint)
		cli_note("  %s", hint);
}

static int session(struct gc *g, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_error struct ga_error over = GA_ERROR_INIT;
	cleanup_free char *where = NULL, *how = NULL, *stays = NULL;
	cleanup_close int lock = -1;
	int rc = cli_load_session(g->c, name, false, &s, &lock, err);

	/* gone or running */
	if (rc)
		return rc < 0 ? -1 : 0;
	if (cli_notice_landed(g->c, &s, err))
		return -1;
	if (s.state != GA_STATE_LANDED)
		return 0;
	rc = cli_unlanded(g->c->env.repo, &s, err);
	if (rc == 2)
		print_kept(&s, "HEAD is detached where it is, and no branch has it", NULL);
	if (rc)
		return rc > 0 ? 0 : -1;
	/* first, because this reason has a hint */
	if (cli_check_over(&g->c->env, &s, &over)) {
		print_kept(&s, over.msg, over.hint);
		return 0;
	}
	if (why_stays(g, &s, &stays, err))
		return -1;
	if (stays) {
		print_kept(&s, stays, NULL);
		return 0;
	}
	how = how_landed(&s);
	if (!g->o->dry_run && cli_trash(&g->c->env, &s, &where, err))
		return -1;
	print_removed(g, "session", s.name, "trash", how);
	return 0;
}

/* Report a damaged or unreadable session and continue with the others. */
static int sessions(struct gc *g, int *ret_status, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;

	if (ga_session_names(g->c->env.state_dir, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		if (session(g, names.v[i], &one)) {
			cli_print_error(&one);
			*ret_status = ga_error_status(one.code);
		}
	}
	return 0;
}

static void print_all_removed(const struct gc *g, const char *kind, const struct ga_strv *names,
			      const struct ga_strv *whys)
{
	for (size_t i = 0; i < names->n; i++)
		print_removed(g, kind, names->v[i], "remove",
			      whys ? whys->v[i] : "left behind by a start that was killed");
}

static int sweep(struct gc *g, struct ga_error *err)
{
	cleanup_strv struct ga_strv old = GA_STRV_INIT, when = GA_STRV_INIT, stale = GA_STRV_INIT,
				    bases = GA_STRV_INIT, whys = GA_STRV_INIT;
	const struct ga_env *e = &g->c->env;
	const time_t now = time(NULL), before = now - KEEP_DAYS * DAY;
	const bool dry = g->o->dry_run;

	if (ga_trash_sweep(e->repo, e->state_dir, (uint64_t)before, dry, &old, &when, err))
		return -1;
	print_all_removed(g, "trash", &old, &when);
	if (ga_base_prune(e->state_dir, before, dry, &bases, &whys, err))
		return -1;
	print_all_removed(g, "base", &bases, &whys);
	if (ga_session_sweep(e->state_dir, now - DAY, dry, &stale, err))
		return -1;
	print_all_removed(g, "stale", &stale, NULL);
	if (!dry)
		ga_import_sweep(e->repo);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	struct gc g = { .c = c, .o = o, .list = o->json ? json_array() : NULL };

	(void)argc;
	(void)argv;
	if (sessions(&g, &c->status, err) || sweep(&g, err)) {
		json_decref(g.list);
		return -1;
	}
	return g.list ? cli_print_json(g.list, err) : 0;
}

CLI_COMMAND(gc, "[--dry-run] [--json]", "remove landed sessions, old trash and unused base trees",
	    NULL);
