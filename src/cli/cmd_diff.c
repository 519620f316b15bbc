/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli.h"
#include "ga/fd.h"
#include "ga/objects.h"
#include "sessions.h"

struct options {
	bool held;
};

static const struct cli_opt opts[] = {
	{ "held", 0, CLI_FLAG, NULL, "include what is held back", offsetof(struct options, held) },
};

static int page(struct cli *c, const struct ga_oid *old, const struct ga_oid *new,
		struct ga_error *err)
{
	cleanup_out struct ga_out out = GA_OUT_INIT;
	struct ga_review_opts o = { .palette = NULL };
	struct ga_palette palette;
	struct cli_pager *pager;

	if (cli_palette(c, "diff", &palette, &o.palette, err) ||
	    cli_pager_begin(c, "diff", &out, &pager, err))
		return -1;
	return cli_pager_end(pager, &out,
			     ga_review_tree_diff(c->env.repo, old, new, &o, &out, err), err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, int *ret_status,
	       struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv notes = GA_STRV_INIT;
	cleanup_close int lock = -1;
	const struct ga_oid *tip;
	struct ga_oid old, new;

	(void)ret_status;
	if (cli_pick_session(c, argc ? argv[0] : NULL, true, &s, &lock, err))
		return -1;
	if (lock < 0) {
		/* still running: what its layers hold now, compared with its base */
		if (ga_commit_tree(c->env.repo, &s.base, &old, err) ||
		    cli_session_settings(c, &s, err) ||
		    ga_start_peek(&c->env, &s, &new, &notes, err))
			return -1;
		for (size_t i = 0; i < notes.n; i++)
			cli_note("note: %s", notes.v[i]);
	} else {
		tip = ga_oid_is_zero(&s.tip) ? &s.onto : &s.tip;
		if (o->held && !ga_oid_is_zero(&s.held))
			tip = &s.held;
		if (ga_commit_tree(c->env.repo, &s.onto, &old, err) ||
		    ga_commit_tree(c->env.repo, tip, &new, err))
			return -1;
	}
	/* a branch names the commits of its submodules, layers say nothing of them */
	if (lock < 0 && s.submodules.n)
		cli_note("note: submodules are not shown: 'git -C SUBMODULE agent diff %s' shows "
			 "one", s.name);
	return page(c, &old, &new, err);
}

const struct cli_command cli_diff = {
	.name = "diff",
	.usage = "[--held] [NAME]",
	.summary = "show the changes of a session, also while it runs",
	.opts = opts,
	.n_opts = GA_NELEMS(opts),
	.opts_size = sizeof(struct options),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.max_args = 1,
	.words = "SESSION",
	.run = run,
};
