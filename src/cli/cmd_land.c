/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli.h"
#include "ga/fd.h"
#include "ga/land.h"
#include "ga/quote.h"
#include "sessions.h"

struct options {
	bool dry_run;
	bool json;
	const char *message;
};

static const struct cli_opt opts[] = {
	{ "message", 'm', CLI_VALUE, "MSG", "message of the merge commit",
	  offsetof(struct options, message) },
	{ "dry-run", 0, CLI_FLAG, NULL, "check everything, and change nothing",
	  offsetof(struct options, dry_run) },
	{ "json", 0, CLI_FLAG, NULL, "print JSON (docs/json.md)", offsetof(struct options, json) },
};

static int run(struct cli *c, const void *p, size_t argc, char **argv, int *ret_status,
	       struct ga_error *err)
{
	const struct options *o = p;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	struct ga_land_opts lo = { .dry_run = o->dry_run, .message = o->message };
	cleanup_close int lock = -1;

	(void)ret_status;
	if (cli_pick_session(c, argc ? argv[0] : NULL, false, &s, &lock, err) ||
	    ga_report_read(c->env.repo, &s, &r, err) < 0 ||
	    ga_land(c->env.repo, &s, &r, &lo, &res, err))
		return -1;
	if (o->json)
		return cli_print_json(ga_land_json(&s, &res, o->dry_run), err);
	if (res.nothing)
		cli_note("agent/%s: nothing to land", s.name);
	else
		cli_note("agent/%s: %s", s.name, o->dry_run ? "would land" : "landed");
	for (size_t i = 0; i < res.brought.n; i++) {
		cleanup_free char *q = ga_quote(res.brought.v[i]);

		cli_note("  uncommitted: %s", q);
	}
	for (size_t i = 0; i < res.not_brought.n; i++)
		cli_note("  not brought: %s", res.not_brought.v[i]);
	return 0;
}

const struct cli_command cli_land = {
	.name = "land",
	.usage = "[-m MSG] [--dry-run] [--json] [NAME]",
	.summary = "merge a session's branch into the branch you are on",
	.opts = opts,
	.n_opts = GA_NELEMS(opts),
	.opts_size = sizeof(struct options),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.max_args = 1,
	.run = run,
};
