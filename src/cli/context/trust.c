/* SPDX-License-Identifier: MIT
 *
 * Settings of a commit, and trust in them: a repository's file may loosen settings only after the
 * user trusted exactly that content.
 */
#include "cli/cli.h"
#include "ga/agents/agents.h"
#include "ga/config/trust.h"
#include "ga/config/yaml.h"

static const char name[] = GA_CONFIG_REPOSITORY_FILE;

/* The repository's file at a commit, what in it needs trust, and what the user trusted before; or
 * files of that commit that configure an agent (ga/agents/agents.h). */
struct grants {
	const char *agent;       /* NULL: it is the repository's file */
	bool never;              /* an agent cannot be trusted with it */
	bool there;              /* the file exists */
	bool trusted;            /* this content is trusted, or grants nothing */
	struct ga_oid commit;
	struct ga_buf text;
	struct ga_grants grants; /* what it lets agents do */
	uint64_t when;           /* when other content was last trusted; 0: never */
	struct ga_grants former; /* what that content lets them do */
};
#define GRANTS_INIT { .text = GA_BUF_INIT, .grants = GA_GRANTS_INIT, .former = GA_GRANTS_INIT }

static void grants_release(struct grants *g)
{
	ga_buf_release(&g->text);
	ga_grants_release(&g->grants);
	ga_grants_release(&g->former);
}

static char *trust_dir(const struct cli *c)
{
	const struct ga_env *e = &c->env;

	/* 'config' and the like do not create a state directory */
	return e->state_dir ? ga_strdup(e->state_dir)
			    : ga_path_join(e->state_root, ga_repo_info(e->repo)->id);
}

/* Name the commit: a user would look for the mistake in the working tree first. */
static int hint_commit(const struct ga_oid *commit, struct ga_error *err)
{
	return ga_hint(err, "this is the file of commit %.10s, not of the working tree",
		       GA_HEX(commit));
}

/* Read the commit's file, never the working tree's, which an agent may have written. 1: there is
 * none. */
static int read_file(struct cli *c, const struct ga_oid *commit, struct ga_buf *ret,
		     struct ga_error *err)
{
	struct ga_oid tree;
	struct ga_entry e;
	int rc;

	if (ga_commit_tree(c->env.repo, commit, &tree, err) ||
	    ga_tree_entry(c->env.repo, &tree, name, &e, err))
		return -1;
	if (e.mode == GA_MODE_NONE)
		return 1;
	if (e.mode != GA_MODE_FILE && e.mode != GA_MODE_EXEC) {
		(void)ga_fail(err, GA_EFATAL, "%s: it is not a file", name);
		return hint_commit(commit, err);
	}
	rc = ga_blob_read(c->env.repo, &e.oid, GA_YAML_BYTES_MAX, ret, err);
	if (rc <= 0)
		return rc;
	(void)ga_fail(err, GA_EFATAL, "%s: it is longer than %zu KiB", name,
		      GA_YAML_BYTES_MAX >> 10);
	return hint_commit(commit, err);
}

/* The text that trust is kept for (ga/config/trust.h): the content, and what it grants. */
static void trusted_text(const struct grants *g, struct ga_buf *ret)
{
	ga_buf_add(ret, g->text.ptr, g->text.len);
	if (!g->agent)
		ga_buf_addch(ret, '\0');
	for (size_t i = 0; !g->agent && i < g->grants.n; i++)
		ga_buf_addf(ret, "%s\n", g->grants.v[i].words);
}

/* Read the file, and list what it grants beyond the settings `conf`. */
static int find_grants(struct cli *c, const struct ga_oid *commit, const struct ga_config *conf,
			   struct grants *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	cleanup_free char *dir = NULL;
	int rc = read_file(c, commit, &ret->text, err);

	ret->commit = *commit;
	ret->there = rc == 0;
	ret->trusted = true;
	if (rc)
		return rc > 0 ? 0 : -1;
	if (ga_config_grants(conf, name, ret->text.ptr, ret->text.len, &ret->grants, err))
		return hint_commit(commit, err);
	if (!ret->grants.n)
		return 0;
	dir = trust_dir(c);
	trusted_text(ret, &all);
	rc = ga_trust_has(dir, all.ptr, all.len, err);
	ret->trusted = rc > 0;
	return rc < 0 ? -1 : 0;
}

/* Append the grants, the lines after the first NUL of a trusted text. */
static void trusted_lines(const struct ga_buf *text, struct ga_strv *ret)
{
	size_t pos = text->len ? strlen(text->ptr) + 1 : 0, n;
	const char *p;

	while ((p = ga_buf_next_line(text, &pos, &n)))
		ga_strv_push_n(ret, p, n);
}

/* The same for an agent. */
static int find_agent_grants(struct cli *c, const struct ga_oid *commit,
				 const struct ga_preset *p, struct grants *ret,
				 struct ga_error *err)
{
	cleanup_agents_config struct ga_agents_config conf = GA_AGENTS_CONFIG_INIT;
	cleanup_strv struct ga_strv lines = GA_STRV_INIT;
	cleanup_free char *dir = trust_dir(c);
	struct ga_oid tree;
	int rc;

	ret->agent = p->name;
	ret->commit = *commit;
	if (ga_commit_tree(c->env.repo, commit, &tree, err) ||
	    ga_agents_find_config(c->env.repo, p, &tree, &conf, err))
		return -1;
	trusted_lines(&conf.text, &lines);
	if (conf.why)
		ga_strv_push(&lines, conf.why);
	for (size_t i = 0; i < lines.n; i++) {
		GA_GROW(ret->grants.v, ret->grants.n, ret->grants.cap);
		ret->grants.v[ret->grants.n++] = (struct ga_grant){
			.words = ga_strdup(lines.v[i])
		};
	}
	ret->there = lines.n;
	ret->never = conf.why != NULL;
	ga_buf_add(&ret->text, conf.text.ptr, conf.text.len);
	rc = ret->never ? 0 : ga_trust_has(dir, ret->text.ptr, ret->text.len, err);
	ret->trusted = rc > 0 || !lines.n;
	return rc < 0 ? -1 : 0;
}

/* Find the last trusted text (`when`, `former`), to compare with. */
static int find_former(struct cli *c, const struct ga_config *conf, struct grants *g,
			   struct ga_error *err)
{
	cleanup_trust_list struct ga_trust_list l = GA_TRUST_LIST_INIT;
	cleanup_free char *dir = trust_dir(c);
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	char id[GA_SHA256_HEXSZ + 1];

	trusted_text(g, &all);
	ga_trust_id(all.ptr, all.len, id);
	if (g->agent)
		return 0;
	if (ga_trust_list(dir, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		if (!strcmp(l.v[i].id, id) || !*l.v[i].text.ptr)
			continue;
		g->when = l.v[i].when;
		/* skip a file that this version cannot parse */
		if (ga_config_grants(conf, name, l.v[i].text.ptr, strlen(l.v[i].text.ptr),
				     &g->former, GA_IGNORED))
			ga_grants_release(&g->former);
		return 0;
	}
	return 0;
}

/* Print what it grants, with '+' and '-' for what was added and removed since `when`. */
static void show_grants(const struct grants *g, FILE *f)
{
	if (g->agent)
		(void)fprintf(f, "files of commit %.10s, before any prompt,\n",
			      GA_HEX(&g->commit));
	else
		(void)fprintf(f, "%s of commit %.10s lets agents in this repository\n", name,
			      GA_HEX(&g->commit));
	for (size_t i = 0; i < g->grants.n; i++) {
		const struct ga_grant *one = &g->grants.v[i];
		bool old = !g->when || ga_grants_have(&g->former, one);

		(void)fprintf(f, "  %c %s", old ? ' ' : '+', one->words);
		if (!g->agent)
			(void)fprintf(f, " (line %u)", one->line);
		(void)fputc('\n', f);
	}
	for (size_t i = 0; i < g->former.n; i++)
		if (!ga_grants_have(&g->grants, &g->former.v[i]))
			(void)fprintf(f, "  - %s\n", g->former.v[i].words);
	if (g->when) {
		time_t when = (time_t)g->when;
		struct tm tm;
		char day[32] = "";

		if (localtime_r(&when, &tm))
			(void)strftime(day, sizeof(day), "%Y-%m-%d %H:%M", &tm);
		(void)fprintf(f, "'+' and '-': since you last trusted one, on %s\n", day);
	}
}

/* Show it on the terminal, ask, and keep the answer. 1: no. */
static int ask_trust(struct cli *c, const struct ga_config *conf, struct grants *g,
			 struct ga_error *err)
{
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	cleanup_free char *dir = trust_dir(c);
	int letter;

	ga_grants_release(&g->former);
	if (find_former(c, conf, g, err))
		return -1;
	show_grants(g, stdout);
	letter = cli_ask("trust it [y,N]? ", false, err);
	if (letter < 0)
		return -1;
	if (letter != 'y' && letter != 'Y')
		return 1;
	trusted_text(g, &all);
	return ga_trust_add(dir, all.ptr, all.len, err);
}

static int fail_untrusted(struct cli *c, const struct grants *g, struct ga_error *err)
{
	cleanup_free char *branch = NULL, *more = NULL, *rev = NULL;
	const struct ga_grant *first = &g->grants.v[0];
	struct ga_oid head;

	if (g->grants.n > 1)
		more = ga_count(g->grants.n - 1, "other setting too", "other settings too");
	if (ga_repo_head(c->env.repo, &head, &branch, GA_IGNORED) ||
	    !ga_oid_equal(&head, &g->commit))
		rev = ga_strf(" %.10s", GA_HEX(&g->commit));
	(void)ga_yaml_fail(err, GA_EFATAL, name, first->line, first->column, "'%s' needs trust%s%s",
			   ga_config_key(first->key), more ? ", and " : "", more ? more : "");
	return ga_hint(err, "'git agent trust%s' shows what it lets agents do, and asks; "
			    "'start' and 'resume' leave that out with --untrusted", rev ? rev : "");
}

/* How to treat untrusted settings: leave them out, fail, or ask first. */
enum how { LEAVE_OUT, MUST_BE, MAY_ASK };

static int resolve_trust(struct cli *c, enum how how, struct grants *g, struct ga_config *conf,
			 struct ga_error *err)
{
	int rc;

	conf->from.trusted = g->trusted;
	conf->from.untrusted = !g->trusted;
	if (g->trusted || how == LEAVE_OUT)
		return 0;
	if (c->untrusted) {
		cli_note("not trusted, and so left out: %zu of the settings in "
			 GA_CONFIG_REPOSITORY_FILE " ('git agent trust --show')", g->grants.n);
		return 0;
	}
	if (how != MAY_ASK || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) ||
	    !isatty(STDERR_FILENO))
		return fail_untrusted(c, g, err);
	rc = ask_trust(c, conf, g, err);
	if (rc)
		return rc < 0 ? -1 : fail_untrusted(c, g, err);
	conf->from.trusted = true;
	conf->from.untrusted = false;
	return 0;
}

static int resolve_settings(struct cli *c, const struct ga_oid *commit, enum how how,
			    struct ga_config *ret, struct ga_error *err)
{
	cleanup_(grants_release) struct grants g = GRANTS_INIT;

	ga_config_copy(ret, &c->settings);
	if (commit && find_grants(c, commit, ret, &g, err))
		return -1;
	if (g.there && (resolve_trust(c, how, &g, ret, err) ||
			ga_config_read(ret, GA_ORIGIN_REPOSITORY, GA_CONFIG_REPOSITORY_FILE,
				       g.text.ptr, g.text.len, err)))
		return -1;
	return ga_config_set_words(ret, &c->overrides, err);
}

int cli_settings(struct cli *c, const struct ga_oid *commit, struct ga_config *ret,
		 struct ga_error *err)
{
	return resolve_settings(c, commit, LEAVE_OUT, ret, err);
}

int cli_settings_to_run(struct cli *c, const struct ga_oid *commit, bool ask, struct ga_config *ret,
			struct ga_error *err)
{
	return resolve_settings(c, commit, ask ? MAY_ASK : MUST_BE, ret, err);
}

int cli_session_settings(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	/* a submodule's own file is ignored, as at the start of its session */
	if (cli_settings(c, s->id.within ? NULL : &s->id.onto, &conf, err))
		return -1;
	cli_take_settings(&c->env, &conf);
	return 0;
}

struct options {
	bool show, list, revoke, yes, json;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(show, "show", 0, "show what it allows agents to do, and do not ask"),
	CLI_FLAG(list, "list", 0, "list what is trusted in this repository"),
	CLI_FLAG(revoke, "revoke", 0, "revoke all trust in this repository"),
	CLI_FLAG(yes, "yes", 'y', "do not ask"),
	CLI_FLAG(json, "json", 0, "with --show or --list: print JSON (docs/json.md)"),
};

/* All that can be trusted of a commit. */
struct all {
	struct grants *v;
	size_t n, cap;
};

static void all_release(struct all *a)
{
	for (size_t i = 0; i < a->n; i++)
		grants_release(&a->v[i]);
	free(a->v);
}

static struct grants *add(struct all *a)
{
	GA_GROW(a->v, a->n, a->cap);
	a->v[a->n] = (struct grants)GRANTS_INIT;
	return &a->v[a->n++];
}

/* ---- this one ---------------------------------------------------------------- */

/* Say if the working tree's file differs: a user who just edited it may think that the question is
 * about that. */
static void note_working_tree(const struct cli *c, const struct grants *g)
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
	struct grants *ret = add(all);
	const struct ga_preset *p;
	cleanup_free char *branch = NULL;
	struct ga_oid commit;
	int rc = rev ? ga_repo_resolve(c->env.repo, rev, &commit, err)
		     : ga_repo_head(c->env.repo, &commit, &branch, err);

	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "there is no commit yet");
	ga_config_copy(conf, &c->settings);
	if (rc || find_grants(c, &commit, conf, ret, err) ||
	    (!ret->trusted && find_former(c, conf, ret, err)))
		return -1;
	if (!rev)
		note_working_tree(c, ret);
	for (size_t i = 0; (p = ga_preset_at(&c->env.agents, i)) != NULL; i++)
		if (find_agent_grants(c, &commit, p, add(all), err))
			return -1;
	return 0;
}

static int print_show_json(const struct all *all, struct ga_error *err)
{
	cleanup_strv struct ga_strv agents = GA_STRV_INIT, gone = GA_STRV_INIT;
	const struct grants *g = &all->v[0];
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
	for (size_t i = 0; i < g->former.n; i++)
		if (!ga_grants_have(&g->grants, &g->former.v[i]))
			ga_strv_push(&gone, g->former.v[i].words);
	ga_json_set(j, "gone", ga_json_strv(&gone));
	for (size_t i = 1; i < all->n; i++)
		for (size_t k = 0; !all->v[i].trusted && k < all->v[i].grants.n; k++)
			ga_strv_push(&agents, all->v[i].grants.v[k].words);
	ga_json_set(j, "agents", ga_json_strv(&agents));
	return cli_print_json(j, err);
}

static bool said_nothing_to_trust(const struct grants *g)
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
		show_grants(&all.v[i], stdout);
		(void)puts(all.v[i].trusted ? "it is trusted" : "it is not trusted");
	}
	return 0;
}

/* 1: it is not trusted. */
static int trust_one(struct cli *c, bool yes, const struct ga_config *conf, struct grants *g,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf all = GA_BUF_INIT;

	if (!g->trusted && !g->never && !yes && isatty(STDIN_FILENO))
		return ask_trust(c, conf, g, err);
	show_grants(g, stdout);
	if (g->trusted || g->never)
		return !g->trusted;
	if (!yes)
		return ga_fail(err, GA_EFATAL, "there is no terminal to ask on" GA_HINT
			       "--yes trusts it unasked");
	trusted_text(g, &all);
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

/* Would sessions started now use it? */
static bool is_current(const struct ga_trusted *t, const struct all *all)
{
	for (size_t i = 0; i < all->n; i++) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT;

		trusted_text(&all->v[i], &text);
		if (all->v[i].there && ga_buf_equal(&text, &t->text))
			return true;
	}
	return false;
}

static int list(struct cli *c, const struct options *o, struct ga_error *err)
{
	cleanup_trust_list struct ga_trust_list l = GA_TRUST_LIST_INIT;
	cleanup_(all_release) struct all here = { NULL, 0, 0 };
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	json_t *j = NULL;

	/* an unreadable file at HEAD is the only current one */
	(void)find(c, NULL, &conf, &here, GA_IGNORED);
	if (ga_trust_list(c->env.state_dir, &l, err))
		return -1;
	j = o->json ? json_array() : NULL;
	for (size_t i = 0; i < l.n; i++) {
		cleanup_strv struct ga_strv lines = GA_STRV_INIT;
		bool current = is_current(&l.v[i], &here);

		trusted_lines(&l.v[i].text, &lines);
		if (j) {
			json_t *one = json_object();

			ga_json_set(one, "id", json_string(l.v[i].id));
			ga_json_set(one, "when", json_integer((json_int_t)l.v[i].when));
			ga_json_set(one, "current", json_boolean(current));
			ga_json_set(one, "grants", ga_json_strv(&lines));
			ga_json_add(j, one);
			continue;
		}
		(void)printf("%.12s%s\n", l.v[i].id, current ? "  (HEAD)" : "");
		for (size_t k = 0; k < lines.n; k++)
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
		(void)puts(rc ? "nothing was trusted" : "all trust was revoked");
		c->status = rc ? ga_error_status(GA_ENEGATIVE) : 0;
		return 0;
	}
	if (o->list)
		return list(c, o, err);
	return o->show ? show(c, o, rev, err) : trust(c, o, rev, err);
}

CLI_COMMAND(trust, "[--show | --list | --revoke | --yes] [--json] [COMMIT]",
	    "allow settings of a repository that loosen the sandbox", "REV");
