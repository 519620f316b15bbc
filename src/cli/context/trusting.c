/* SPDX-License-Identifier: MIT
 *
 * The settings of a commit, and trust in them.
 */
#include "cli/trusting.h"
#include "ga/agents/agents.h"
#include "ga/config/yaml.h"

static const char name[] = GA_CONFIG_REPOSITORY_FILE;

void cli_grants_release(struct cli_grants *g)
{
	ga_buf_release(&g->text);
	ga_grants_release(&g->grants);
	ga_grants_release(&g->former);
}

/* Where trust of this repository is kept. */
static char *trust_dir(const struct cli *c)
{
	const struct ga_env *e = &c->env;

	/* 'config' and the like do not create a state directory */
	return e->state_dir ? ga_strdup(e->state_dir)
			    : ga_path_join(e->state_root, ga_repo_info(e->repo)->id);
}

/* A user looking for the mistake would look into the working tree's file first. */
static int hint_commit(const struct ga_oid *commit, struct ga_error *err)
{
	return ga_hint(err, "this is the file of commit %.10s, not of the working tree",
		       GA_HEX(commit));
}

/* The file as the commit has it, never that of a working tree, which an agent may have written. 1:
 * it has none. */
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

void cli_trusted_text(const struct cli_grants *g, struct ga_buf *ret)
{
	ga_buf_add(ret, g->text.ptr, g->text.len);
	if (!g->agent)
		ga_buf_addch(ret, '\0');
	for (size_t i = 0; !g->agent && i < g->grants.n; i++)
		ga_buf_addf(ret, "%s\n", g->grants.v[i].words);
}

int cli_find_grants(struct cli *c, const struct ga_oid *commit, const struct ga_config *conf,
		    struct cli_grants *ret, struct ga_error *err)
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
	cli_trusted_text(ret, &all);
	rc = ga_trust_has(dir, all.ptr, all.len, err);
	ret->trusted = rc > 0;
	return rc < 0 ? -1 : 0;
}

void cli_trusted_lines(const struct ga_buf *text, struct ga_strv *ret)
{
	size_t pos = text->len ? strlen(text->ptr) + 1 : 0, n;
	const char *p;

	while ((p = ga_buf_next_line(text, &pos, &n)))
		ga_strv_push_n(ret, p, n);
}

int cli_find_agent_grants(struct cli *c, const struct ga_oid *commit, const struct ga_preset *p,
			  struct cli_grants *ret, struct ga_error *err)
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
	cli_trusted_lines(&conf.text, &lines);
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

int cli_find_former(struct cli *c, const struct ga_config *conf, struct cli_grants *g,
		    struct ga_error *err)
{
	cleanup_trust_list struct ga_trust_list l = GA_TRUST_LIST_INIT;
	cleanup_free char *dir = trust_dir(c);
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	char id[GA_SHA256_HEXSZ + 1];

	cli_trusted_text(g, &all);
	ga_trust_id(all.ptr, all.len, id);
	if (g->agent)
		return 0;
	if (ga_trust_list(dir, &l, err))
		return -1;
	for (size_t i = 0; i < l.n; i++) {
		if (!strcmp(l.v[i].id, id) || !*l.v[i].text.ptr)
			continue;
		g->when = l.v[i].when;
		/* a file that this version does not understand any more cannot be compared with */
		if (ga_config_grants(conf, name, l.v[i].text.ptr, strlen(l.v[i].text.ptr),
				     &g->former, GA_IGNORED))
			ga_grants_release(&g->former);
		return 0;
	}
	return 0;
}

void cli_show_grants(const struct cli_grants *g, FILE *f)
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

int cli_ask_trust(struct cli *c, const struct ga_config *conf, struct cli_grants *g,
		  struct ga_error *err)
{
	cleanup_buf struct ga_buf all = GA_BUF_INIT;
	cleanup_free char *dir = trust_dir(c);
	int letter;

	ga_grants_release(&g->former);
	if (cli_find_former(c, conf, g, err))
		return -1;
	cli_show_grants(g, stdout);
	letter = cli_ask("trust it [y,N]? ", false, err);
	if (letter < 0)
		return -1;
	if (letter != 'y' && letter != 'Y')
		return 1;
	cli_trusted_text(g, &all);
	return ga_trust_add(dir, all.ptr, all.len, err);
}

/* Fail as it is not trusted, and say what to do. */
static int fail_untrusted(struct cli *c, const struct cli_grants *g, struct ga_error *err)
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

/* What to do about settings that are not trusted: leave them out, fail, or ask first. */
enum how { LEAVE_OUT, MUST_BE, MAY_ASK };

static int settle_trust(struct cli *c, enum how how, struct cli_grants *g, struct ga_config *conf,
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
	rc = cli_ask_trust(c, conf, g, err);
	if (rc)
		return rc < 0 ? -1 : fail_untrusted(c, g, err);
	conf->from.trusted = true;
	conf->from.untrusted = false;
	return 0;
}

static int settle(struct cli *c, const struct ga_oid *commit, enum how how, struct ga_config *ret,
		  struct ga_error *err)
{
	cleanup_(cli_grants_release) struct cli_grants g = CLI_GRANTS_INIT;

	ga_config_copy(ret, &c->settings);
	if (commit && cli_find_grants(c, commit, ret, &g, err))
		return -1;
	if (g.there && (settle_trust(c, how, &g, ret, err) ||
			ga_config_read(ret, GA_ORIGIN_REPOSITORY, GA_CONFIG_REPOSITORY_FILE,
				       g.text.ptr, g.text.len, err)))
		return -1;
	return ga_config_set_words(ret, &c->overrides, err);
}

int cli_settings(struct cli *c, const struct ga_oid *commit, struct ga_config *ret,
		 struct ga_error *err)
{
	return settle(c, commit, LEAVE_OUT, ret, err);
}

int cli_settings_to_run(struct cli *c, const struct ga_oid *commit, bool ask, struct ga_config *ret,
			struct ga_error *err)
{
	return settle(c, commit, ask ? MAY_ASK : MUST_BE, ret, err);
}

int cli_session_settings(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;

	/* a submodule's own file does not count when its session starts, and so not here either */
	if (cli_settings(c, s->id.within ? NULL : &s->id.onto, &conf, err))
		return -1;
	cli_take_settings(&c->env, &conf);
	return 0;
}
