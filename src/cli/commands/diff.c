/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/repo/history.h"
#include "ga/session/session.h"

struct options {
	bool held, uncommitted;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(held, "held", 0, "include what is held"),
	CLI_FLAG(uncommitted, "uncommitted", 0,
		 "show what it did to your uncommitted work; to a pipe as a patch for git apply"),
};

static int page(struct cli *c, struct ga_repo *r, const struct ga_oid *old,
		const struct ga_oid *new, struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	const struct ga_palette *palette;
	struct ga_palette colours;
	struct cli_pager *pager;

	if (cli_palette(c, "diff", &colours, &palette, err) ||
	    ga_diff_fetch(r, old, new, err) || cli_pager_begin(c, "diff", &out, &pager, err))
		return -1;
	return cli_pager_end(pager, &out,
			     ga_review_tree_diff(r, old, new, palette, &out, err), err);
}

/* Print a patch for `git apply`, unescaped: not for a terminal. */
static int print_patch(struct ga_repo *private, const struct ga_wip *w, struct ga_error *err)
{
	static const char *const literal[] = { "GIT_LITERAL_PATHSPECS=1", NULL };
	cleanup_strv struct ga_strv args = GA_STRV_INIT;
	struct ga_git g = GA_GIT_INIT;

	ga_strv_push_many(&args, "diff-tree", "-r", "-p", "--binary", "--full-index",
			  "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color",
			  GA_HEX(&w->snapshot), GA_HEX(&w->seen), "--", NULL);
	ga_strv_extend(&args, &w->paths);
	g.args = (const char *const *)args.v;
	g.env = literal;
	g.out_fd = STDOUT_FILENO;
	return ga_git_ok(private, &g, err);
}

static int show_uncommitted(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	cleanup_repo struct ga_repo *private = NULL;
	cleanup_changes struct ga_changes own = GA_CHANGES_INIT;
	cleanup_wip struct ga_wip w = GA_WIP_INIT;
	struct ga_oid old, new;

	ga_wip_load(s, &w);
	if (!w.paths.n) {
		cli_note("agent/%s: it did nothing to uncommitted work of yours", s->name);
		return 0;
	}
	if (ga_repo_open_private(c->env.repo, w.objects, &private, err))
		return -1;
	if (!isatty(STDOUT_FILENO))
		return print_patch(private, &w, err);
	/* the uncommitted work the session was shown, before and after its changes */
	return ga_repo_write_to_memory(private, err) ||
	       ga_commit_tree(private, &w.snapshot, &old, err) ||
	       ga_wip_changes(private, &w, &own, err) ||
	       ga_tree_apply(private, NULL, &old, &own, &new, err) ||
	       page(c, private, &old, &new, err) ? -1 : 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv notes = GA_STRV_INIT;
	cleanup_close int lock = -1;
	const struct ga_oid *tip;
	struct ga_oid old, new;
	bool runs;

	if (cli_read_session(c, argc ? argv[0] : NULL, &s, &lock, err))
		return -1;
	tip = ga_oid_is_zero(&s.result.held) ? &s.result.tip : &s.result.held;
	if (ga_session_mark_shown(&s, tip, &old, err))
		return -1;
	if (o->uncommitted)
		return show_uncommitted(c, &s, err);
	runs = lock < 0 && cli_has_running_state(&s);
	if (runs) {
		/* running: compare its layers with its base */
		old = s.id.base;
		if (cli_session_settings(c, &s, err) ||
		    ga_start_peek(&c->env, &s, &new, &notes, err))
			return -1;
		for (size_t i = 0; i < notes.n; i++)
			cli_note("note: %s", notes.v[i]);
	} else {
		old = *ga_session_own_base(&s);
		new = ga_oid_is_zero(&s.result.tip) ? old : s.result.tip;
		if (o->held && !ga_oid_is_zero(&s.result.held))
			new = s.result.held;
	}
	/* a branch names the commits of its submodules, layers do not */
	if (runs && s.id.submodules.n)
		cli_note("note: submodules are not shown: 'git -C SUBMODULE agent diff %s' shows "
			 "one", s.name);
	return page(c, c->env.repo, &old, &new, err);
}

CLI_COMMAND(diff, "[--held | --uncommitted] [NAME]",
	    "show the changes of a session, also while it runs", "SESSION");
