/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/transfer/transfer.h"

struct options {
	bool held, force;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(held, "held", 0, "also push what is held, on a ref of its own"),
	CLI_FLAG(force, "force", 'f', "replace the branch on the remote"),
};

/* The remote that git would push HEAD's branch to, or "origin". Caller frees. */
static int default_remote(struct cli *c, char **ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL, *own = NULL, *push = NULL;
	const struct ga_gitconfig *conf = &c->env.config;
	const char *value = NULL;
	struct ga_oid head;

	if (ga_repo_head(c->env.repo, &head, &branch, err) < 0)
		return -1;
	if (ga_ref_branch(branch)) {
		push = ga_strf("branch.%s.pushremote", ga_ref_branch(branch));
		own = ga_strf("branch.%s.remote", ga_ref_branch(branch));
		value = ga_gitconfig_get(conf, push);
	}
	if (!value)
		value = ga_gitconfig_get(conf, "remote.pushdefault");
	if (!value && own)
		value = ga_gitconfig_get(conf, own);
	/* "." is this repository, for a branch that tracks a local one */
	*ret = ga_strdup(value && *value && strcmp(value, ".") != 0 ? value : "origin");
	return 0;
}

static int check(const struct ga_session *s, struct ga_error *err)
{
	if (s->state != GA_STATE_CAPTURED && s->state != GA_STATE_LANDED)
		return ga_fail(err, GA_EFATAL, "session '%s' is %s: it has not been captured"
			       GA_HINT "end the agent, or 'git agent capture %s'", s->name,
			       ga_state_name(s->state), s->name);
	if (ga_oid_is_zero(&s->result.tip)) {
		(void)ga_fail(err, GA_ENEGATIVE, "session '%s' has no branch that could be pushed",
			      s->name);
		return ga_oid_is_zero(&s->result.held) ? -1
						: ga_hint(err, "all of it is held: 'git agent "
							       "review %s'", s->name);
	}
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *remote = argc > 1 ? ga_strdup(argv[0]) : NULL, *q = NULL;
	cleanup_close int lock = -1;

	if ((!remote && default_remote(c, &remote, err)) ||
	    cli_pick_session(c, argv[argc - 1], false, &s, &lock, err) || check(&s, err) ||
	    ga_push_session(c->env.repo, remote, &s, o->held, o->force, err))
		return -1;
	q = ga_quote(remote);
	cli_note("pushed agent/%s and its report%s to %s", s.name,
		 o->held && !ga_oid_is_zero(&s.result.held) ? ", with what is held" : "", q);
	if (s.result.left_out.n)
		cli_note("  uncommitted changes stay here");
	return 0;
}

CLI_COMMAND(push, "[--held] [--force] [REMOTE] NAME",
	    "push a session to a remote, for review elsewhere", "REMOTE|SESSION SESSION",
	    .min_args = 1);
