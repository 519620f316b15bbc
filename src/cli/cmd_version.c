/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "cli.h"

struct options {
	bool json;
};

static const struct cli_opt opts[] = {
	{ "json", 0, CLI_FLAG, NULL, "print JSON", offsetof(struct options, json) },
};

static int run(struct cli *c, const void *p, size_t argc, char **argv, int *ret_status,
	       struct ga_error *err)
{
	const struct options *o = p;

	(void)c;
	(void)argc;
	(void)argv;
	(void)ret_status;
	if (o->json)
		return cli_print_json(json_pack("{s:s}", "version", PACKAGE_VERSION), err);
	(void)printf("git-agent version %s\n", PACKAGE_VERSION);
	return 0;
}

const struct cli_command cli_version = {
	.name = "version",
	.usage = "[--json]",
	.summary = "print the version",
	.opts = opts,
	.n_opts = GA_NELEMS(opts),
	.opts_size = sizeof(struct options),
	.run = run,
};
