/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/home/home.h"

struct options {
	bool json, dry_run, remove, yes;
};

static const struct cli_opt opts[] = {
	CLI_FLAG_JSON,
	CLI_FLAG(dry_run, "dry-run", 'n', "reset: say what would be done, and do nothing"),
	CLI_FLAG(remove, "delete", 0, "reset: remove it for good instead of setting it aside"),
	CLI_FLAG(yes, "yes", 'y', "import: do not ask"),
};

static const char *const mode_words[] = { [GA_HOME_SHARED] = "shared",
					  [GA_HOME_PROJECT] = "project",
					  [GA_HOME_OVERLAY] = "overlay" };

int cli_find_home(struct cli *c, char **ret, struct ga_error *err)
{
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	struct ga_env *e = &c->env;
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = 1;

	if (!ga_repo_open(".", &e->repo, &none)) {
		rc = ga_repo_head(e->repo, &head, &branch, err);
		if (rc < 0 || ga_store_open(e->state_root, ga_repo_info(e->repo)->id,
					    &e->state_dir, err))
			return -1;
	}
	if (cli_settings(c, rc ? NULL : &head, &conf, err))
		return -1;
	cli_take_settings(e, &conf);
	if (e->conf.home_mode == GA_HOME_PROJECT && !e->state_dir)
		return ga_fail(err, GA_EFATAL, "each repository has an agents' home of its own, "
			       "and this is none: %s" GA_HINT "'git agent -c home_mode=shared "
			       "home' shows the others'", none.msg);
	*ret = ga_home_dir(e, e->conf.home_mode);
	return 0;
}

/* ---- show --------------------------------------------------------------------------------- */

static json_t *show_json(const struct ga_env *e, const char *dir, bool there, bool in_use,
			 const struct ga_home_sizes *s)
{
	json_t *o = json_object(), *parts = json_array();

	ga_json_set_bytes(o, "path", dir);
	ga_json_set(o, "mode", json_string(mode_words[e->conf.home_mode]));
	ga_json_set(o, "there", json_boolean(there));
	ga_json_set(o, "in_use", json_boolean(in_use));
	for (size_t i = 0; i < s->n; i++)
		ga_json_add(parts, json_pack("{s:s,s:I,s:I}", "name", s->v[i].name,
					     "files", (json_int_t)s->v[i].files,
					     "bytes", (json_int_t)s->v[i].bytes));
	ga_json_set(o, "parts", parts);
	ga_json_set(o, "unreadable", json_integer((json_int_t)s->unreadable));
	return o;
}

static void show_text(const struct ga_env *e, const char *dir, bool there, bool in_use,
		      const struct ga_home_sizes *s)
{
	static const char *const whose[] = {
		[GA_HOME_SHARED] = "all sessions have it",
		[GA_HOME_PROJECT] = "the sessions of this repository have it, logins are shared",
		[GA_HOME_OVERLAY] = "what sessions write stays in a layer of each",
	};

	(void)printf("home  %s%s\nmode  %s: %s\n", GA_QUOTED(dir),
		     there ? "" : " (made by the first start)", mode_words[e->conf.home_mode],
		     whose[e->conf.home_mode]);
	if (in_use)
		(void)printf("used  by a session that runs\n");
	for (size_t i = 0; i < s->n; i++) {
		cleanup_free char *size = ga_size_about(s->v[i].bytes);
		cleanup_free char *files = ga_count(s->v[i].files, "file", "files");

		(void)printf("      %-12s %9s  %s\n", s->v[i].name, size, files);
	}
	if (s->unreadable)
		(void)printf("      and what is in %llu closed or very deep directories\n",
			     (unsigned long long)s->unreadable);
}

static int show(struct cli *c, const struct options *o, const char *dir, struct ga_error *err)
{
	struct ga_home_sizes sizes;
	cleanup_close int lock = -1;
	int in_use = ga_home_lock(&c->env, &lock, err);
	int rc;

	/* release the lock at once: a start must not wait for us */
	ga_cleanup_closep(&lock);
	lock = -1;
	rc = in_use < 0 ? -1 : ga_home_measure(dir, &c->env.agents, &sizes, err);
	if (rc < 0)
		return -1;
	if (o->json)
		return cli_print_json(show_json(&c->env, dir, !rc, in_use, &sizes), err);
	show_text(&c->env, dir, !rc, in_use, &sizes);
	return 0;
}

/* ---- diff --------------------------------------------------------------------------------- */

/* The session that was started or resumed last. 1: there is none. */
static int find_last(struct cli *c, struct ga_session *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	uint64_t last = 0;
	const char *name = NULL;

	if (ga_session_names(c->env.state_dir, &names, err))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		cleanup_session struct ga_session s = GA_SESSION_INIT;
		uint64_t when;

		if (ga_session_load(c->env.state_dir, names.v[i], &s, GA_IGNORED))
			continue;
		when = s.run.resumed ? s.run.resumed : s.id.started;
		if (!name || when >= last) {
			name = names.v[i];
			last = when;
		}
	}
	return name ? ga_session_load(c->env.state_dir, name, ret, err) : 1;
}

static int diff(struct cli *c, const struct options *o, const char *dir, const char *name,
		struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_strv struct ga_strv changes = GA_STRV_INIT;
	cleanup_free char *layer = NULL, *q = name ? ga_escape(name) : NULL;
	json_t *list;
	int rc;

	if (!c->env.state_dir)
		return ga_fail(err, GA_EUSAGE, "sessions are those of a repository, and there is "
					       "none here");
	rc = name ? ga_session_load(c->env.state_dir, name, &s, err) : find_last(c, &s, err);
	if (rc > 0 && name)
		return ga_fail(err, GA_EUSAGE, "there is no session '%s'", q);
	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_EUSAGE, "there is no session");
	layer = ga_home_layer(&s);
	if (layer ? ga_home_layer_changes(layer, c->env.agent_home, &changes, err)
		  : !access(dir, F_OK) &&
			    ga_home_changes(dir, s.run.resumed ? s.run.resumed : s.id.started,
					    &changes, err))
		return -1;
	list = o->json ? json_array() : NULL;
	if (!list)
		cli_note(layer ? "in the layer of session '%s':"
			       : "changed since session '%s' began, by whichever session:", s.name);
	for (size_t i = 0; i < changes.n; i++) {
		cleanup_free char *path = ga_quote(changes.v[i] + 1);
		const char how[2] = { changes.v[i][0], '\0' };

		if (list) {
			json_t *one = json_object();

			ga_json_set_bytes(one, "path", changes.v[i] + 1);
			ga_json_set(one, "status", json_string(how));
			ga_json_add(list, one);
		} else {
			(void)printf("%s %s\n", how, path);
		}
	}
	return list ? cli_print_json(list, err) : 0;
}

/* ---- reset -------------------------------------------------------------------------------- */

static int reset(struct cli *c, const struct options *o, const char *dir, struct ga_error *err)
{
	cleanup_free char *aside = NULL, *word = ga_quote_shell(dir);
	cleanup_close int lock = -1;
	int rc = ga_home_lock(&c->env, &lock, err);

	if (rc > 0)
		return ga_fail(err, GA_ELOSE, "a session is running, here or in another "
			       "repository, and has a home" GA_HINT "wait until it ends; 'git "
			       "agent list' names those of a repository");
	if (rc)
		return -1;
	if (o->dry_run) {
		(void)printf("would %s %s\n", o->remove ? "remove" : "put aside", GA_QUOTED(dir));
		return 0;
	}
	rc = ga_home_reset(dir, o->remove, &aside, err);
	if (rc < 0)
		return -1;
	if (rc) {
		cli_note("there is no %s: nothing to do", GA_QUOTED(dir));
	} else if (aside) {
		cleanup_free char *old = ga_quote_shell(aside);

		cli_note("moved to %s, which is yours to remove; to have it again: mv %s %s", old,
			 old, word);
	} else {
		cli_note("removed %s", GA_QUOTED(dir));
	}
	return 0;
}

/* ---- import ------------------------------------------------------------------------------- */

/* 0: yes, 1: no. */
static int ask(const struct options *o, const char *prompt, struct ga_error *err)
{
	int letter;

	if (o->yes)
		return 0;
	if (!isatty(STDIN_FILENO))
		return ga_fail(err, GA_EFATAL, "there is no terminal to ask on" GA_HINT
			       "-y copies without asking");
	letter = cli_ask(prompt, false, err);
	return letter < 0 ? -1 : letter != 'y';
}

static int import_one(struct cli *c, const struct options *o, const char *rel, const char *key,
		      bool *ret_any, struct ga_error *err)
{
	cleanup_free char *from = ga_path_join(c->env.home, rel), *qf = ga_quote(from);
	cleanup_free char *to = ga_path_join(c->env.agent_home, rel), *qt = ga_quote(to);
	cleanup_free char *prompt = NULL;
	enum ga_home_login state;
	int rc;

	if (ga_home_compare_login(&c->env, rel, key, &state, err))
		return -1;
	if (state == GA_HOME_LOGIN_NONE)
		return 0;
	*ret_any = true;
	if (state == GA_HOME_LOGIN_SAME) {
		cli_note("%s is the same: nothing to do", qt);
		return 0;
	}
	prompt = ga_strf("copy %s to %s%s? Agents can then use it, and read it [y,n]? ", qf, qt,
			 state == GA_HOME_LOGIN_OTHER ? ", over another one" : "");
	rc = ask(o, prompt, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_home_import_login(&c->env, rel, key, err))
		return -1;
	cli_note("copied %s to %s", qf, qt);
	return 0;
}

/* Import the rest of the agent's configuration, after showing it. */
static int import_rest(struct cli *c, const struct options *o, const struct ga_preset *p,
		       bool *ret_any, struct ga_error *err)
{
	cleanup_(ga_home_import_release) struct ga_home_import m = GA_HOME_IMPORT_INIT;
	cleanup_free char *home = ga_quote(c->env.agent_home), *files = NULL, *prompt = NULL;
	int rc;

	ga_home_import_find(&c->env, p, &m);
	for (size_t i = 0; i < m.imported.n; i++)
		cli_note("  %s", m.imported.v[i]);
	for (size_t i = 0; i < m.left.n; i++)
		cli_note("  left out: %s", m.left.v[i]);
	*ret_any |= m.n || m.same;
	if (!m.n)
		return 0;
	files = ga_count(m.n, "file", "files");
	prompt = ga_strf("write this to %s in %s [y,n]? ", files, home);
	rc = ask(o, prompt, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_home_import_apply(&c->env, &m, err))
		return -1;
	cli_note("wrote %s in %s", files, home);
	return 0;
}

static int import(struct cli *c, const struct options *o, const char *name, struct ga_error *err)
{
	const struct ga_preset *p = ga_preset_find(&c->env.agents, name);
	bool any = false;

	if (!p || !p->login)
		return ga_fail(err, GA_EUSAGE, "there is no agent '%s'" GA_HINT
			       "'git agent agents' lists those that are known", name);
	for (size_t i = 0; p->logins[i]; i++)
		if (import_one(c, o, p->logins[i], p->login_key, &any, err))
			return -1;
	if (import_rest(c, o, p, &any, err))
		return -1;
	if (any)
		return 0;
	return ga_fail(err, GA_ENEGATIVE, "%s '%s'" GA_HINT "in a session of '%s': %s",
		       p->logins[0] ? "your home has no login of"
				    : "there is no file that is a login and nothing else of",
		       name, p->name, p->login);
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	const char *word = argc ? argv[0] : "show", *name = argc > 1 ? argv[1] : NULL;
	bool resets = !strcmp(word, "reset"), diffs = !strcmp(word, "diff");
	bool imports = !strcmp(word, "import");
	cleanup_free char *dir = NULL;

	if (!resets && !diffs && !imports && strcmp(word, "show") != 0)
		return ga_fail(err, GA_EUSAGE, "'git agent home' takes show, diff, import or "
			       "reset, not '%s'", word);
	if (name && !diffs && !imports)
		return ga_fail(err, GA_EUSAGE, "'git agent home %s' takes no name", word);
	if (imports && !name)
		return ga_fail(err, GA_EUSAGE,
			       "'git agent home import' takes the name of an agent");
	if (!resets && (o->dry_run || o->remove))
		return ga_fail(err, GA_EUSAGE,
			       "--dry-run and --delete belong to 'git agent home reset'");
	if (!imports && o->yes)
		return ga_fail(err, GA_EUSAGE, "--yes belongs to 'git agent home import'");
	if ((resets || imports) && o->json)
		return ga_fail(err, GA_EUSAGE, "'git agent home %s' prints no JSON", word);
	/* logins are shared by all projects: no home to choose */
	if (imports)
		return import(c, o, name, err);
	if (cli_find_home(c, &dir, err))
		return -1;
	return resets  ? reset(c, o, dir, err)
	       : diffs ? diff(c, o, dir, name, err)
		       : show(c, o, dir, err);
}

CLI_COMMAND(home, "[show [--json] | diff [--json] [NAME] | import [-y] AGENT |\n"
	    "                      reset [--delete] [--dry-run]]",
	    "show the agents' home and its changes, import your own agent, or reset it",
	    "show|diff|import|reset diff:SESSION|import:AGENT", .needs = CLI_NEED_SETTINGS);
