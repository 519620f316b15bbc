/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "cli/cli.h"

#define FLAGS_SHOWN 20

struct options {
	bool dry_run, json, undo, resume, abort, merge, squash, rebase, ff_only;
	bool no_commit, edit, with_base, drop;
	const char *message, *uncommitted;
};

static json_t *land_json(const struct ga_session *s, const struct ga_land_result *r, bool dry_run,
			 bool dropped)
{
	json_t *o = json_object();

	ga_json_set_bytes(o, "session", s->name);
	(void)json_object_set_new(o, "dry_run", json_boolean(dry_run));
	(void)json_object_set_new(o, "landed",
				  json_boolean(!dry_run && !r->nothing && !r->uncommitted));
	(void)json_object_set_new(o, "nothing", json_boolean(r->nothing));
	(void)json_object_set_new(o, "uncommitted", json_boolean(r->uncommitted));
	(void)json_object_set_new(o, "rest", json_boolean(r->rest));
	(void)json_object_set_new(o, "dropped", json_boolean(dropped));
	ga_json_set_oid(o, "commit", &r->commit);
	(void)json_object_set_new(o, "brought", ga_report_paths_json(&r->applied));
	(void)json_object_set_new(o, "not_brought", ga_json_strv(&r->not_applied));
	return o;
}

static const struct cli_opt opts[] = {
	CLI_FLAG(merge, "merge", 0, "make a merge commit (default; setting 'land')"),
	CLI_FLAG(squash, "squash", 0, "make one commit of all changes"),
	CLI_FLAG(rebase, "rebase", 0, "make the session's commits again on top of your branch"),
	CLI_FLAG(ff_only, "ff-only", 0, "fast-forward your branch to the session's, or refuse"),
	CLI_VALUE(message, "message", 'm', "MSG", "message of the commit"),
	CLI_FLAG(edit, "edit", 'e', "edit the message first"),
	CLI_FLAG(no_commit, "no-commit", 0, "stop before the commit"),
	CLI_FLAG(with_base, "with-base", 0, "also land commits that the session is based on"),
	CLI_VALUE(uncommitted, "uncommitted", 0, "skip", "leave out changes to uncommitted work"),
	CLI_FLAG(drop, "drop", 0, "then drop the session, if all of it has landed"),
	CLI_FLAG(resume, "continue", 0, "finish a landing that conflicted"),
	CLI_FLAG(abort, "abort", 0, "abort a landing that conflicted"),
	CLI_FLAG(undo, "undo", 0, "undo the last landing"),
	CLI_FLAG(dry_run, "dry-run", 0, "check everything, and change nothing"),
	CLI_FLAG_JSON,
};

/* Describe the landed changes: ": 2 commits, 3 files changed", without a merge commit. `locks`:
 * changed lock files that call for an installation. */
static char *describe_changes(struct ga_repo *r, const struct ga_oid *before,
			      const struct ga_oid *after, struct ga_strv *locks)
{
	const bool born = !ga_oid_is_zero(before);
	cleanup_commit struct ga_commit last = { .n_parents = 0 };
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_free char *commits = NULL, *files = NULL;
	cleanup_free struct ga_oid *list = NULL;
	size_t n;

	if (ga_oid_equal(before, after) || ga_commit_read(r, after, &last, GA_IGNORED) ||
	    ga_rev_list(r, after, 1, before, born, 1000000, &list, &n, GA_IGNORED) ||
	    ga_tree_diff(r, born ? before : NULL, after, &changes, GA_IGNORED))
		return ga_strdup("");
	for (size_t i = 0; i < changes.n; i++)
		if (changes.v[i].new.mode != GA_MODE_NONE && ga_risk_install(changes.v[i].path))
			ga_strv_push(locks, changes.v[i].path);
	commits = ga_count(n - (last.n_parents > 1), "commit", "commits");
	files = ga_count(changes.n, "file", "files");
	return ga_strf(": %s, %s changed", commits, files);
}

/* Report ignored directories of dependencies that changed in the session. */
static void print_not_landed(const struct ga_report *r)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	for (size_t i = 0; i < r->left.n; i++) {
		cleanup_free char *dir = ga_risk_installed(r->left.v[i].path);

		if (dir && r->left.v[i].kind == GA_LEFTOVER_IGNORED)
			ga_strv_push(&dirs, dir);
	}
	ga_strv_sort_unique(&dirs);
	for (size_t i = 0; i < dirs.n && i < FLAGS_SHOWN; i++)
		cli_note("  not landed: %s has changed in the session, and is ignored",
			 GA_QUOTED(dirs.v[i]));
}

static void print_landed(struct cli *c, const struct ga_session *s, const struct ga_report *r,
			 const struct ga_land_result *res, const struct ga_oid *before,
			 bool dry_run)
{
	cleanup_strv struct ga_strv locks = GA_STRV_INIT;
	cleanup_free char *branch = NULL, *in = NULL;
	cleanup_free char *got = dry_run ? ga_strdup("") : describe_changes(c->env.repo, before,
									     &res->commit, &locks);
	struct ga_oid head;

	(void)ga_repo_head(c->env.repo, &head, &branch, GA_IGNORED);
	in = ga_quote(branch ? ga_ref_branch(branch) : "HEAD");
	cli_note("agent/%s: %s%s in %s%s", s->name, dry_run ? "would land" : "landed",
		 res->rest ? " in part" : "", in, got);
	if (!dry_run)
		cli_note("  undo: git agent land --undo %s", s->name);
	for (size_t i = 0; i < locks.n && i < FLAGS_SHOWN; i++) {
		const char *path = locks.v[i];

		cli_note("  %s has changed: '%s'%s installs what it says", GA_QUOTED(path),
			 ga_risk_install(path), strchr(path, '/') ? " there" : "");
	}
	print_not_landed(r);
}

/* `before`: HEAD before it; zero: unborn. */
static void print_result(struct cli *c, const struct ga_session *s, const struct ga_report *r,
			 const struct ga_land_result *res, const struct ga_oid *before,
			 bool dry_run)
{
	if (res->rolled_back)
		cli_note("agent/%s: an interrupted landing was rolled back first", s->name);
	if (res->nothing) {
		cli_note("agent/%s: nothing to land", s->name);
		/* nor does landing include the agent's other branches and stash */
		if (cli_kept_refs(c->env.repo, s, NULL, GA_IGNORED) > 0)
			cli_note("  branches or a stash of the agent: 'git for-each-ref "
				 GA_SESSION_REFS "%s/' lists them", s->name);
	} else if (res->uncommitted) {
		cli_note("agent/%s: not committed yet; 'git commit' does", s->name);
	} else {
		print_landed(c, s, r, res, before, dry_run);
	}
	for (size_t i = 0; i < res->applied.n; i++)
		cli_note("  uncommitted: %s", GA_QUOTED(res->applied.v[i]));
	for (size_t i = 0; i < res->not_applied.n; i++)
		cli_note("  not applied: %s", res->not_applied.v[i]);
	for (size_t i = 0; i < res->new_flags.n && i < FLAGS_SHOWN; i++)
		cli_note("  flagged in the result of git or a hook: %s", res->new_flags.v[i]);
}

/* The named session, else the one of the last landing in this working tree. */
static int pick(struct cli *c, const char *name, struct ga_session *s, int *lock,
		struct ga_error *err)
{
	cleanup_free char *last = NULL;
	int rc = name ? 0 : ga_land_last(c->env.repo, &last, err);

	name = name ? name : last;
	if (rc <= 0)
		return rc < 0 || cli_restore_trashed(c, name, err) ||
		       cli_pick_session(c, name, false, s, lock, err) ? -1 : 0;
	return ga_fail(err, GA_ENEGATIVE, "there is no landing in this working tree" GA_HINT
		       "'git agent list' shows the sessions");
}

static int undo(struct cli *c, const struct options *o, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;
	struct ga_oid head;
	json_t *j;

	if (pick(c, name, &s, &lock, err) || ga_land_undo(c->env.repo, &s, &head, err))
		return -1;
	if (!o->json) {
		if (ga_oid_is_zero(&head))
			cli_note("agent/%s: landing undone, your branch has no commits", s.name);
		else
			cli_note("agent/%s: landing undone, HEAD is at %.10s", s.name,
				 GA_HEX(&head));
		return 0;
	}
	j = json_object();
	ga_json_set_bytes(j, "session", s.name);
	ga_json_set(j, "undone", json_true());
	ga_json_set_oid(j, "commit", &head);
	return cli_print_json(j, err);
}

static int abort_merge(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;

	if (pick(c, name, &s, &lock, err) || ga_land_abort(c->env.repo, &s, err))
		return -1;
	cli_note("agent/%s: landing aborted", s.name);
	return 0;
}

static int find_head(struct cli *c, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL;

	*ret = (struct ga_oid){ { 0 } };
	return ga_repo_head(c->env.repo, ret, &branch, err) < 0 ? -1 : 0;
}

static int resume(struct cli *c, const struct options *o, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_close int lock = -1;
	struct ga_oid before;

	if (pick(c, name, &s, &lock, err) ||
	    cli_session_settings(c, &s, err) || find_head(c, &before, err) ||
	    ga_report_read(c->env.repo, &s, &r, err) < 0 ||
	    ga_land_continue(c->env.repo, &s, &r, &c->env.risk, o->message, &res, err))
		return -1;
	if (o->json)
		return cli_print_json(land_json(&s, &res, false, false), err);
	print_result(c, &s, &r, &res, &before, false);
	return cli_print_parts(&c->env, &s, err);
}

/* Handle --undo, --continue and --abort. */
static int continue_landing(struct cli *c, const struct options *o, const char *name, bool paths,
			    struct ga_error *err)
{
	if (o->undo + o->resume + o->abort > 1 || o->dry_run || (o->message && !o->resume) ||
	    o->with_base || o->uncommitted || o->merge || o->squash || o->rebase || o->ff_only ||
	    o->edit || o->drop || o->no_commit || paths || (o->json && o->abort))
		return ga_fail(err, GA_EUSAGE, "--%s takes no other option%s",
			       o->undo ? "undo" : o->resume ? "continue" : "abort",
			       o->abort ? "" : o->undo ? " but --json" : " but -m and --json");
	return o->undo ? undo(c, o, name, err)
	       : o->resume ? resume(c, o, name, err) : abort_merge(c, name, err);
}

/* How to land. The repository's settings are ignored: they could choose a way that runs fewer user
 * hooks. */
static int choose_way(struct cli *c, const struct options *o, bool paths, enum ga_land_how *ret,
		      struct ga_error *err)
{
	static const enum ga_land_how configured[] = {
		[GA_WAY_MERGE] = GA_LAND_MERGE,
		[GA_WAY_SQUASH] = GA_LAND_SQUASH,
		[GA_WAY_REBASE] = GA_LAND_REBASE,
		[GA_WAY_FF_ONLY] = GA_LAND_FF_ONLY,
	};

	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int unborn = ga_repo_head(c->env.repo, &head, &branch, err);

	if (unborn < 0 || cli_settings(c, NULL, &conf, err))
		return -1;
	*ret = paths || o->squash ? GA_LAND_SQUASH
	       : o->merge         ? GA_LAND_MERGE
	       : o->rebase        ? GA_LAND_REBASE
	       : o->ff_only       ? GA_LAND_FF_ONLY
				  : configured[conf.land];
	/* like git, do not merge into an unborn branch: it starts at the commit */
	if (unborn && *ret == GA_LAND_MERGE)
		*ret = GA_LAND_FF_ONLY;
	return 0;
}

static int check_options(const struct options *o, enum ga_land_how how, bool paths,
			 struct ga_error *err)
{
	bool commits = how == GA_LAND_MERGE || how == GA_LAND_SQUASH;

	if (o->merge + o->squash + o->rebase + o->ff_only > 1)
		return ga_fail(err, GA_EUSAGE,
			       "--merge, --squash, --rebase and --ff-only: choose one");
	if (!commits && (o->message || o->edit || o->no_commit))
		return ga_fail(err, GA_EUSAGE,
			       "--rebase and --ff-only make no commit to take a message, or to "
			       "stop before");
	if (paths && (o->merge || o->rebase || o->ff_only || o->no_commit || o->edit))
		return ga_fail(err, GA_EUSAGE, "paths land as one commit: they go with --message, "
					       "--dry-run and --json");
	if (o->no_commit && (o->edit || o->message) && how == GA_LAND_SQUASH)
		return ga_fail(err, GA_EUSAGE, "--no-commit with --squash takes no message");
	if (o->uncommitted && strcmp(o->uncommitted, "skip") != 0)
		return ga_fail(err, GA_EUSAGE, "--uncommitted takes 'skip'");
	if (o->drop && o->no_commit)
		return ga_fail(err, GA_EUSAGE, "--drop and --no-commit cannot be used together");
	return 0;
}

/* Convert the paths after "--" to paths from the top of the working tree. */
static int convert_paths(const struct cli *c, size_t argc, char **argv, struct ga_strv *ret,
			 struct ga_error *err)
{
	for (size_t i = 1; i < argc; i++) {
		char *path = cli_path_from_top(c->env.repo, argv[i]);

		if (!path)
			return ga_fail(err, GA_EUSAGE, "'%s' is no path in this working tree",
				       argv[i]);
		ga_strv_take(ret, path);
	}
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	struct ga_land_opts lo = { .dry_run = o->dry_run, .message = o->message,
				   .risk = &c->env.risk,
				   .config = &c->env.config, .edit = o->edit,
				   .no_commit = o->no_commit, .with_base = o->with_base,
				   .skip_uncommitted = o->uncommitted != NULL,
				   .paths = argc > 1 ? &paths : NULL };
	cleanup_close int lock = -1;
	bool dropped = false, left = false;
	struct ga_oid before;

	if (o->undo || o->resume || o->abort)
		return continue_landing(c, o, argc ? argv[0] : NULL, argc > 1, err);
	if (choose_way(c, o, argc > 1, &lo.how, err) ||
	    check_options(o, lo.how, argc > 1, err) || convert_paths(c, argc, argv, &paths, err))
		return -1;
	if (cli_pick_session(c, argc ? argv[0] : NULL, false, &s, &lock, err) ||
	    cli_session_settings(c, &s, err) || find_head(c, &before, err) ||
	    ga_report_read(c->env.repo, &s, &r, err) < 0 ||
	    cli_check_parts(&c->env, &s, err))
		return -1;
	if (ga_land(c->env.repo, &s, &r, &lo, &res, err)) {
		/* a submodule conflict is resolved by merging in the submodule */
		if (err->code == GA_ECONFLICT)
			(void)cli_print_parts(&c->env, &s, GA_IGNORED);
		return -1;
	}
	if (!o->json)
		print_result(c, &s, &r, &res, &before, o->dry_run);
	if (!o->json && !o->dry_run && cli_print_parts(&c->env, &s, err))
		return -1;
	c->rm = o->drop && !o->dry_run;
	dropped = c->rm && cli_drop_at_end(c, &s, &left);
	if (o->json)
		return cli_print_json(land_json(&s, &res, o->dry_run, dropped), err);
	if (dropped)
		cli_print_dropped(&s, left);
	return 0;
}

CLI_COMMAND(land, "[OPTIONS] [NAME] [-- PATH...]",
	    "merge the branch of a session into the current branch, or undo that",
	    "SESSION CHANGED...", .paths_last = true);
