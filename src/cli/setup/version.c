/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

struct options {
	bool json, build;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(json, "json", 0, "print JSON"),
	CLI_FLAG(build, "build", 0, "also print what it was built with"),
};

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

/* What configure found. */
static const struct {
	const char *what, *value;
} build[] = {
	{ "libgit2", GA_VERSION_GIT2 },
	{ "libseccomp", GA_VERSION_SECCOMP },
	{ "jansson", GA_VERSION_JANSSON },
	{ "nettle", GA_VERSION_NETTLE },
	{ "libutf8proc", GA_VERSION_UTF8PROC },
	{ "libyaml", GA_VERSION_YAML },
	{ "zlib", GA_VERSION_ZLIB },
	{ "compiler", COMPILER },
};

/* Print the directory of the helper programs. */
#define PROGRAMS "programs"

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_free char *programs = ga_path_parent(c->env.init);

	(void)argc;
	(void)argv;
	if (o->json) {
		json_t *j = json_pack("{s:s}", "version", PACKAGE_VERSION), *b = json_object();

		for (size_t i = 0; i < GA_NELEMS(build); i++)
			ga_json_set_bytes(b, build[i].what, build[i].value);
		ga_json_set_bytes(b, PROGRAMS, programs);
		if (o->build)
			(void)json_object_set(j, "build", b);
		json_decref(b);
		return cli_print_json(j, err);
	}
	(void)printf("git-agent version %s\n", PACKAGE_VERSION);
	for (size_t i = 0; o->build && i < GA_NELEMS(build); i++)
		(void)printf("%-10s %s\n", build[i].what, build[i].value);
	if (o->build)
		(void)printf("%-10s %s\n", PROGRAMS, GA_ESCAPED(programs));
	return 0;
}

CLI_COMMAND_OF(version, "--version", CLI_OPTIONS(opts), "[--build] [--json]",
	    "print the version of git-agent, and what it was built with", NULL,
	    .needs = CLI_NEED_NOTHING);
