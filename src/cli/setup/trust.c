/* SPDX-License-Identifier: MIT
 *
 * What a repository's settings loosen: shown, and trusted, for exactly that content.
 */
#include "cli/trusting.h"
#include "ga/config/yaml.h"

struct options {
	bool show, list, revoke, yes, json;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(show, "show", 0, "show what it allows agents to do, and do not ask"),
	CLI_FLAG(list, "list", 0, "list what is trusted in this repository"),
	CLI_FLAG(revoke, "revoke", 0, "trust nothing in this repository any more"),
	CLI_FLAG(yes, "yes", 'y', "do not ask"),
	CLI_FLAG(json, "json", 0, "with --show or --list: print JSON (docs/json.md)"),
};

/* All that can be trusted of a commit. */
struct all {
	struct cli_grants *v;
	size_t n, cap;
};

static void all_release(struct all *a)
{
	for (size_t i = 0; i < a->n; i++)
		cli_grants_release(&a->v[i]);
	free(a->v);
}

static struct cli_grants *add(struct all *a)
{
	GA_GROW(a->v, a->n, a->cap);
	a->v[a->n] = (struct cli_grants)CLI_GRANTS_INIT;
	return &a->v[a->n++];
}

/* ---- this one ---------------------------------------------------------------- */

/* A user who has just edited the file may think that the question is about that: say if it is not.
 */
static void note_working_tree(const struct cli *c, const struct cli_grants *g)
{
	const char *workdir = ga_repo_info(c->env.repo)->workdir;
	cleanup_close int at = open(workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (at < 0 || ga_read_file_at(at, GA_CONFIG_REPOSITORY_FILE, GA_YAML_BYTES_MAX, &text,
				      GA_IGNORED))
		return;
	if (!g->there || text.len != g->text.len || memcmp(text.ptr, g->text.ptr, text.len) != 0)
		cli_note(GA_CONFIG_REPOSITORY_FILE " in the working tree differs from that: it "
			 "counts when it is committed");
}

/* Find what needs trust: the repository's file, which comes first, and agents. */
static int find(struct cli *c, const char *rev, struct ga_config *conf, struct all *all,
		struct ga_error *err)
{
	struct cli_grants *ret = add(all);
	const struct ga_preset *p;
	cleanup_free char *branch = NULL;
	struct ga_oid commit;
	int rc = rev ? ga_repo_resolve(c->env.repo, rev, &commit, err)
		     : ga_repo_head(c->env.repo, &commit, &branch, err);

	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "there is no commit yet");
	ga_config_copy(conf, &c->settings);
	if (rc || cli_find_grants(c, &commit, conf, ret, err) ||
	    (!ret->trusted && cli_find_former(c, conf, ret, err)))
		return -1;
	if (!rev)
		note_working_tree(c, ret);
	for (size_t i = 0; (p = ga_preset_at(&c->env.agents, i)) != NULL; i++)
		if (cli_find_agent_grants(c, &commit, p, add(all), err))
			return -1;
	return 0;
}

/* What `grants` let an agent do, without those that `without` has too. */
static json_t *words_json(const struct ga_grants *grants, const struct ga_grants *without)
{
	cleanup_strv struct ga_strv words = GA_STRV_INIT;

	for (size_t i = 0; i < grants->n; i++)
		if (!ga_grants_have(without, &grants->v[i]))
			ga_strv_push(&words, grants->v[i].words);
	return ga_json_strv(&words);
}

static int print_show_json(const struct all *all, struct ga_error *err)
{
	cleanup_strv struct ga_strv agents = GA_STRV_INIT;
	const struct cli_grants *g = &all->v[0];
	json_t *j = json_object(), *list = json_array();

	ga_json_set(j, "commit", json_string(GA_HEX(&g->commit)));
	ga_json_set(j, "state", json_string(!g->there ? "absent" : !g->grants.n ? "tightens"
					  : g->trusted ? "trusted" : "untrusted"));
	for (size_t i = 0; i < g->grants.n; i++) {
		const struct ga_grant *one = &g->grants.v[i];
		json_t *o = json_object();

		ga_json_set(o, "key", json_string(ga_config_key(one->key)));
		ga_json_set_bytes(o, "value", one->value);
		ga_json_set_bytes(o, "grants", one->words);
		ga_json_set(o, "line", json_integer(one->line));
		ga_json_set(o, "column", json_integer(one->column));
		ga_json_set(o, "new", json_boolean(!g->trusted &&
			    !ga_grants_have(&g->former, one)));
		ga_json_add(list, o);
	}
	ga_json_set(j, "grants", list);
	ga_json_set(j, "gone", words_json(&g->former, &g->grants));
	for (size_t i = 1; i < all->n; i++)
		for (size_t k = 0; !all->v[i].trusted && k < all->v[i].grants.n; k++)
			ga_strv_push(&agents, all->v[i].grants.v[k].words);
	ga_json_set(j, "agents", ga_json_strv(&agents));
	return cli_print_json(j, err);
}

/* Say so if there is nothing to be trusted. */
static bool said_nothing_to_trust(const struct cli_grants *g)
{
	if (!g->there && !g->agent)
		(void)puts("there is no " GA_CONFIG_REPOSITORY_FILE);
	else if (!g->grants.n && !g->agent)
		(void)puts(GA_CONFIG_REPOSITORY_FILE
			   " only makes things stricter, and needs no trust");
	return !g->there || !g->grants.n;
}

static int show(struct cli *c, const struct options *o, const char *rev, struct ga_error *err)
{
	cleanup_(all_release) struct all all = { NULL, 0, 0 };
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (find(c, rev, &conf, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++)
		if (!all.v[i].trusted)
			c->status = ga_error_status(GA_ENEGATIVE);
	if (o->json)
		return print_show_json(&all, err);
	for (size_t i = 0; i < all.n; i++) {
		if (said_nothing_to_trust(&all.v[i]))
			continue;
		cli_show_grants(&all.v[i], stdout);
		(void)puts(all.v[i].trusted ? "it is trusted" : "it is not trusted");
	}
	return 0;
}

/* 1: it is not trusted. */
static int trust_one(struct cli *c, bool yes, const struct ga_config *conf, struct cli_grants *g,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf all = GA_BUF_INIT;

	if (!g->trusted && !g->never && !yes && isatty(STDIN_FILENO))
		return cli_ask_trust(c, conf, g, err);
	cli_show_grants(g, stdout);
	if (g->trusted || g->never)
		return !g->trusted;
	if (!yes)
		return ga_fail(err, GA_EFATAL, "there is no terminal to ask on" GA_HINT
			       "--yes trusts it unasked");
	cli_trusted_text(g, &all);
	return ga_trust_add(c->env.state_dir, all.ptr, all.len, err);
}

static int trust(struct cli *c, const struct options *o, const char *rev, struct ga_error *err)
{
	cleanup_(all_release) struct all all = { NULL, 0, 0 };
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	if (find(c, rev, &conf, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		int rc;

		if (said_nothing_to_trust(&all.v[i]))
			continue;
		rc = trust_one(c, o->yes, &conf, &all.v[i], err);
		if (rc < 0)
			return -1;
		if (rc)
			c->status = ga_error_status(GA_ENEGATIVE);
		(void)puts(rc ? "it is not trusted"
			   : all.v[i].trusted ? "it is trusted already" : "it is trusted now");
	}
	return 0;
}

/* ---- all of them -------------------------------------------------------------- */

/* Is it what sessions started now would go by? */
static bool is_current(const struct ga_trusted *t, const struct all *all)
{
	for (size_t i = 0; i < all->n; i++) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		cli_trusted_text(&all->v[i], &text);
		if (all->v[i].there && ga_buf_equal(&text, &t->text))
			return true;
	}
	return false;
}

static json_t *trusted_json(const struct ga_trusted *t, const struct ga_strv *lines, bool current)
{
	json_t *j = json_object();

	ga_json_set(j, "id", json_string(t->id));
	ga_json_set(j, "when", json_integer((json_int_t)t->when));
	ga_json_set(j, "current", json_boolean(current));
	ga_json_set(j, "grants", ga_json_strv(lines));
	return j;
}

static int list(struct cli *c, const struct options *o, struct ga_error *err)
{
	cleanup_trust_list struct ga_trust_list l = GA_TRUST_LIST_INIT;
	cleanup_(all_release) struct all here = { NULL, 0, 0 };
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	json_t *j = NULL;

	/* nothing else is current where a file at HEAD cannot be read */
	(void)find(c, NULL, &conf, &here, GA_IGNORED);
	if (ga_trust_list(c->env.state_dir, &l, err))
		return -1;
	j = o->json ? json_array() : NULL;
	for (size_t i = 0; i < l.n; i++) {
		cleanup_strv struct ga_strv lines = GA_STRV_INIT;
		bool current = is_current(&l.v[i], &here);

		cli_trusted_lines(&l.v[i].text, &lines);
		if (j)
			ga_json_add(j, trusted_json(&l.v[i], &lines, current));
		else
			(void)printf("%.12s%s\n", l.v[i].id, current ? "  (HEAD)" : "");
		for (size_t k = 0; !j && k < lines.n; k++)
			(void)printf("    %s\n", lines.v[k]);
	}
	return j ? cli_print_json(j, err) : 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	const char *rev = argc ? argv[0] : NULL;

	if (o->show + o->list + o->revoke + o->yes > 1)
		return ga_fail(err, GA_EUSAGE,
			       "--show, --list, --revoke and --yes cannot be used together");
	if (o->json && !o->show && !o->list)
		return ga_fail(err, GA_EUSAGE, "--json goes with --show or --list");
	if (rev && (o->list || o->revoke))
		return ga_fail(err, GA_EUSAGE, "--%s takes no commit", o->list ? "list" : "revoke");
	if (o->revoke) {
		int rc = ga_trust_revoke_all(c->env.state_dir, err);

		if (rc < 0)
			return -1;
		(void)puts(rc ? "nothing was trusted" : "nothing is trusted any more");
		c->status = rc ? ga_error_status(GA_ENEGATIVE) : 0;
		return 0;
	}
	if (o->list)
		return list(c, o, err);
	return o->show ? show(c, o, rev, err) : trust(c, o, rev, err);
}

CLI_COMMAND(trust, "[--show | --list | --revoke | --yes] [--json] [COMMIT]",
	    "allow settings of a repository that loosen the sandbox", "REV");
