/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli.h"
#include "ga/fd.h"
#include "sessions.h"

struct options {
	bool quiet;
};

static const struct cli_opt opts[] = {
	{ "quiet", 'q', CLI_FLAG, NULL, "print only errors", offsetof(struct options, quiet) },
};

static int run(struct cli *c, const void *p, size_t argc, char **argv, int *ret_status,
	       struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_close int lock = -1;

	(void)ret_status;
	/* picking a session by name captures it if it was interrupted */
	if (cli_pick_session(c, argc ? argv[0] : NULL, false, &s, &lock, err))
		return -1;
	if (ga_report_read(c->env.repo, &s, &r, err) < 0)
		return -1;
	return o->quiet ? 0 : cli_summary(c, &s, &r, stdout, err);
}

const struct cli_command cli_capture = {
	.name = "capture",
	.usage = "[-q] [NAME]",
	.summary = "finish an interrupted session: turn what it left into commits",
	.opts = opts,
	.n_opts = GA_NELEMS(opts),
	.opts_size = sizeof(struct options),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.max_args = 1,
	.run = run,
};
