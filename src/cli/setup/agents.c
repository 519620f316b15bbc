/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/agents/agents.h"

struct options {
	bool json, quiet;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(json, "json", 0, "list: print JSON (docs/json.md)"),
	CLI_FLAG_QUIET(quiet),
};

static const char *const where_words[] = { [GA_AGENTS_NOWHERE] = "none",
					   [GA_AGENTS_HOME] = "home", [GA_AGENTS_HOST] = "host",
					   [GA_AGENTS_OWN] = "own" };

static json_t *to_json(const struct ga_preset *p, const struct ga_agents_found *f)
{
	json_t *o = json_object();

	ga_json_set(o, "name", json_string(p->name));
	ga_json_set_bytes(o, "package", p->package);
	ga_json_set(o, "where", json_string(where_words[f->where]));
	ga_json_set_bytes(o, "path", f->path);
	ga_json_set_bytes(o, "version", f->version);
	ga_json_set(o, "login", p->logins[0] ? json_boolean(f->login) : json_null());
	ga_json_set_bytes(o, "key", f->key);
	ga_json_set(o, "importable", json_boolean(f->importable));
	return o;
}

static const char *login_words(const struct ga_preset *p, const struct ga_agents_found *f)
{
	if (f->key)
		return f->key;
	if (!p->login)
		return "-";
	return f->login ? "login" : !p->logins[0] ? "?" : f->importable ? "importable" : "none";
}

static int list(struct cli *c, const struct options *o, struct ga_error *err)
{
	const struct ga_presets *own = &c->env.agents;
	json_t *all = o->json ? json_array() : NULL;
	const struct ga_preset *p;

	if (!all)
		(void)printf("%-12s  %-10s  %-20s  %s\n", "NAME", "VERSION", "LOGIN", "WHERE");
	for (size_t i = 0; (p = ga_preset_at(own, i)) != NULL; i++) {
		cleanup_(ga_agents_found_release) struct ga_agents_found f = { 0 };

		if (!p->login)
			continue;
		ga_agents_find(&c->env, p, &f);
		if (all)
			ga_json_add(all, to_json(p, &f));
		else
			(void)printf("%-12s  %-10s  %-20s  %s\n", p->name, f.version ? f.version
				     : f.where == GA_AGENTS_NOWHERE ? "-" : "?", login_words(p, &f),
				     f.path ? GA_QUOTED(f.path)
				     : p->package ? "not installed" : "not found");
	}
	return all ? cli_print_json(all, err) : 0;
}

static int find_preset(const struct cli *c, const char *name, const struct ga_preset **ret,
		       struct ga_error *err)
{
	const struct ga_presets *own = &c->env.agents;
	const char *names[32 + GA_PRESETS_MAX], *near;
	const struct ga_preset *p;
	size_t n = 0;

	*ret = ga_preset_find(own, name);
	if (*ret && (*ret)->login)
		return 0;
	for (size_t i = 0; (p = ga_preset_at(own, i)) != NULL && n < GA_NELEMS(names); i++)
		if (p->login)
			names[n++] = p->name;
	(void)ga_fail(err, GA_EUSAGE, "there is no agent '%s'", name);
	near = ga_nearest(name, names, n);
	return near ? ga_hint(err, "did you mean %s?", near)
		    : ga_hint(err, "'git agent agents' lists those that are known");
}

static void print_installed(const char *name, const char *before,
			    const struct ga_agents_installed *i)
{
	if (i->older)
		cli_note("%s: %s stays: npm chose the older %s, the newest that supports the "
			 "Node.js installed here ('git agent agents install %s@%s' goes back to "
			 "it)", name, i->version, i->older, name, i->older);
	else if (before && !strcmp(before, i->version))
		cli_note("%s: %s, as before", name, i->version);
	else
		cli_note("%s: %s%s%s", name, i->version, before ? ", was " : "",
			 before ? before : "");
	if (i->kept)
		cli_note("%s: older versions stay while a session is running: install it again "
			 "afterwards to remove them", name);
}

static int install(struct cli *c, const struct options *o, const struct ga_preset *p,
		   const char *wanted, struct ga_error *err)
{
	cleanup_(ga_agents_installed_release) struct ga_agents_installed i =
		GA_AGENTS_INSTALLED_INIT;
	cleanup_free char *before = ga_agents_version(&c->env, p->name);

	if (ga_agents_check(&c->env, p, wanted, err))
		return -1;
	if (!o->quiet)
		cli_note("%s: npm installs %s%s%s in a sandbox ...", p->name, p->package,
			 wanted ? "@" : "", wanted ? wanted : "");
	if (ga_agents_install(&c->env, p, wanted, &i, err))
		return -1;
	if (i.left.msg)
		cli_note("%s: older versions stay: %s; install it again to remove them",
			 p->name, i.left.msg);
	if (!o->quiet)
		print_installed(p->name, before, &i);
	return 0;
}

/* NAME or NAME@VERSION. */
static int install_word(struct cli *c, const struct options *o, const char *word,
			struct ga_error *err)
{
	cleanup_free char *name = ga_strndup(word, strcspn(word, "@"));
	const char *at = strchr(word, '@');
	const struct ga_preset *p;

	return find_preset(c, name, &p, err) || install(c, o, p, at ? at + 1 : NULL, err) ? -1 : 0;
}

static int update(struct cli *c, const struct options *o, const char *name, struct ga_error *err)
{
	const struct ga_presets *own = &c->env.agents;
	const struct ga_preset *p;
	bool any = false;

	if (name && find_preset(c, name, &p, err))
		return -1;
	for (size_t i = 0; (p = ga_preset_at(own, i)) != NULL; i++) {
		cleanup_free char *version = NULL;

		if (name ? strcmp(name, p->name) != 0 : !p->package)
			continue;
		version = ga_agents_version(&c->env, p->name);
		if (!version)
			continue;
		any = true;
		if (install(c, o, p, NULL, err))
			return -1;
	}
	if (any)
		return 0;
	if (!name) {
		cli_note("no agent is installed in the agents' home: nothing to do");
		return 0;
	}
	return ga_fail(err, GA_EUSAGE, "'%s' is not installed in the agents' home" GA_HINT
		       "'git agent agents install %s' does that", name, name);
}

static int remove_one(struct cli *c, const struct options *o, const char *name,
		      struct ga_error *err)
{
	const struct ga_preset *p;
	int rc;

	if (find_preset(c, name, &p, err))
		return -1;
	rc = ga_agents_remove(&c->env, p, err);
	if (rc == 2)
		return ga_fail(err, GA_ELOSE, "a session is running, and may be using '%s'" GA_HINT
			       "wait until it ends; 'git agent list' names those of a repository",
			       name);
	if (rc < 0)
		return -1;
	if (!o->quiet)
		cli_note(rc ? "%s is not installed in the agents' home: nothing to do"
			    : "%s: removed; its login stays", name);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	const char *word = argc ? argv[0] : "list", *name = argc > 1 ? argv[1] : NULL;
	bool lists = !strcmp(word, "list"), installs = !strcmp(word, "install");
	bool updates = !strcmp(word, "update"), removes = !strcmp(word, "remove");
	cleanup_free char *home = NULL;

	if (!lists && !installs && !updates && !removes)
		return ga_fail(err, GA_EUSAGE, "'git agent agents' takes list, install, update or "
			       "remove, not '%s'", word);
	if (lists && name)
		return ga_fail(err, GA_EUSAGE, "'git agent agents list' takes no name");
	if ((installs || removes) && !name)
		return ga_fail(err, GA_EUSAGE, "'git agent agents %s' takes the name of an agent",
			       word);
	if (!lists && o->json)
		return ga_fail(err, GA_EUSAGE, "'git agent agents %s' prints no JSON", word);
	if (cli_find_home(c, &home, err))
		return -1;
	if (lists)
		return list(c, o, err);
	return installs ? install_word(c, o, name, err)
	       : updates ? update(c, o, name, err) : remove_one(c, o, name, err);
}

CLI_COMMAND(agents, "[list [--json] | install NAME[@VERSION] | update [NAME] | remove NAME]",
	    "list the known agents, and install them into their home",
	    "list|install|update|remove install:AGENT|update:AGENT|remove:AGENT",
	    .needs = CLI_NEED_SETTINGS);
