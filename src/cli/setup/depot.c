/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/on/on.h"

struct options {
	bool pipe;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(pipe, "pipe", 0, "connect git here with git on another machine"),
};

/* Unset variables that limit the jobs Slurm lists: others would seem lost. */
static void see_all_jobs(void)
{
	static const char *const names[] = { "SQUEUE_ACCOUNT", "SQUEUE_LICENSES", "SQUEUE_NAMES",
					     "SQUEUE_PARTITION", "SQUEUE_QOS", "SQUEUE_STATES" };

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		(void)unsetenv(names[i]);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;

	see_all_jobs();
	if (o->pipe)
		return argc == 2 ? ga_on_pipe(argv[0], argv[1], &c->status, err)
				 : ga_fail(err, GA_EUSAGE, "--pipe is for git to call");
	if (argc != 1)
		return ga_fail(err, GA_EUSAGE, "'git agent depot' takes one word");
	return ga_on_serve(argv[0], c->env.home, &c->status, err);
}

CLI_COMMAND(depot, "REQUEST", "answer 'start --on' of another machine", "REQUEST SERVICE",
	    .needs = CLI_NEED_NOTHING, .min_args = 1);
