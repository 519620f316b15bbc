/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"

/* docs/agentdev.schema.json */
static const char schema[] =
#include "cli/schema.inc"
	;

struct options {
	bool json, origin, schema;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_JSON,
	CLI_FLAG(origin, "origin", 0, "add the origin of each value"),
	CLI_FLAG(schema, "schema", 0, "print a JSON Schema of the files, for editors"),
};

static json_t *key_json(const struct ga_config *conf, size_t i)
{
	const struct ga_config_set *set = &conf->from.set[i];
	cleanup_free char *text = ga_config_text(conf, i);
	bool in_file = set->origin == GA_ORIGIN_USER || set->origin == GA_ORIGIN_REPOSITORY;
	json_t *j = json_object();
	uint64_t n;

	ga_json_set(j, "key", json_string(ga_config_key(i)));
	ga_json_set_bytes(j, "value", text);
	ga_json_set(j, "number", ga_config_number(conf, i, &n) ? json_integer((json_int_t)n) :
		    json_null());
	ga_json_set(j, "origin", json_string(ga_origin_name(set->origin)));
	ga_json_set_bytes(j, "file", set->origin == GA_ORIGIN_USER ? conf->from.user_file :
				     in_file ? GA_CONFIG_REPOSITORY_FILE : NULL);
	ga_json_set(j, "line", in_file ? json_integer(set->line) : json_null());
	ga_json_set(j, "column", in_file ? json_integer(set->column) : json_null());
	ga_json_set(j, "repository", json_string(ga_config_may(i)));
	ga_json_set(j, "left_out", json_boolean(set->left_out));
	ga_json_set(j, "description", json_string(ga_config_help(i)));
	return j;
}

/* The settings of a start here; without a repository or a commit only the user's. */
static int settings_here(struct cli *c, struct ga_config *ret, struct ga_error *err)
{
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc;

	if (ga_repo_open(".", &c->env.repo, &none)) {
		cli_note("no repository's settings: %s", none.msg);
		return cli_settings(c, NULL, ret, err);
	}
	rc = ga_repo_head(c->env.repo, &head, &branch, err);
	return rc < 0 ? -1 : cli_settings(c, rc ? NULL : &head, ret, err);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	(void)argc;
	(void)argv;
	if (o->schema) {
		(void)fputs(schema, stdout);
		return 0;
	}
	if (settings_here(c, &conf, err))
		return -1;
	if (conf.from.untrusted)
		cli_note("what needs trust in " GA_CONFIG_REPOSITORY_FILE
			 " is left out: 'git agent trust' shows it");
	if (o->json) {
		json_t *list = json_array();

		for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
			ga_json_add(list, key_json(&conf, i));
		return cli_print_json(list, err);
	}
	ga_config_print(&conf, o->origin, &out);
	(void)fputs(out.ptr, stdout);
	return 0;
}

CLI_COMMAND(config, "[--json] [--origin] | --schema",
	    "show the settings in effect and their origin", NULL, .needs = CLI_NEED_SETTINGS);
