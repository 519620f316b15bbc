/* SPDX-License-Identifier: MIT */
#include "ga/agents/command.h"

#include <string.h>
#include <unistd.h>

#include "ga/agents/agents.h"
#include "ga/base/nearest.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "agents-internal.h"

void ga_agents_command_release(struct ga_agents_command *c)
{
	ga_strv_release(&c->argv);
	free(c->own);
}

/* The command with its preset's words between the first and its arguments. An agent that continues
 * its conversation (`again`) gets none of these: it has been told what they say. */
void ga_agents_make_command(const struct ga_env *e, char *const *argv, size_t argc,
			    bool again, struct ga_agents_command *c)
{
	const struct ga_preset *preset = ga_preset_find(&e->agents, argv[0]);
	struct ga_strv *ret = &c->argv;

	c->preset = preset;
	again = again && preset && preset->resume[0];
	ga_strv_push(ret, preset ? ga_preset_program(preset) : argv[0]);
	for (size_t i = 0; again && preset->resume[i]; i++)
		ga_strv_push(ret, preset->resume[i]);
	for (size_t i = 0; preset && preset->flags[i]; i++)
		ga_strv_push(ret, preset->flags[i]);
	c->own_words = ret->n;
	/* one word with a blank can only be a prompt */
	c->at_prompt = again || argc == 1 || (argc == 2 && strchr(argv[1], ' '));
	for (size_t i = 1; i < argc && !again; i++)
		ga_strv_push(ret, argv[i]);
}

int ga_agents_add_task(const char *task, struct ga_agents_command *c, struct ga_error *err)
{
	const struct ga_preset *p = c->preset;

	if (!p || !p->task)
		return ga_fail(err, GA_EUSAGE, "cannot give '%s' a task: its way to take one is "
			       "not known" GA_HINT "put the task after the command, as the program "
			       "itself takes it", c->argv.v[0]);
	if (*task == '-')
		return ga_fail(err, GA_EUSAGE, "the task begins with '-', which '%s' takes for an "
			       "option", p->name);
	if (*p->task)
		ga_strv_push(&c->argv, p->task);
	ga_strv_push(&c->argv, task);
	return 0;
}

/* What 'git agent agents' installed into the agents' home, which comes before all else; or NULL. */
static char *find_own(const struct ga_env *e, const char *command)
{
	const struct ga_preset *p = ga_preset_find(&e->agents, command);
	cleanup_free char *version = p && p->package ? ga_agents_version(e, command) : NULL;

	return version ? ga_agents_program(e, command, version) : NULL;
}

/* The end of a hint on how to get an agent: how to log in to it. Caller frees. */
static char *login_words(const struct ga_env *e, const struct ga_preset *p)
{
	cleanup_(ga_agents_found_release) struct ga_agents_found f = { 0 };

	if (p)
		agents_look_at_login(e, p, &f);
	if (!p || !p->login || f.login || f.key)
		return ga_strdup("");
	if (f.importable)
		return ga_strf("; 'git agent home import %s' brings your login there", p->name);
	return ga_strf("; to log in, %s%s", p->login,
		       p->logins[0] ? ", which stays in that home ('git agent home')" : "");
}

/* The known agent whose name is nearest to `command`, or NULL. */
static const char *near_agent(const struct ga_env *e, const char *command)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_free char *word = ga_strndup(command, 64);
	const struct ga_preset *p;
	const char *near;

	for (size_t i = 0; (p = ga_preset_at(&e->agents, i)); i++)
		ga_strv_push(&names, p->name);
	near = ga_nearest(word, (const char *const *)names.v, names.n);
	p = near ? ga_preset_find(&e->agents, near) : NULL;
	return p ? p->name : NULL;
}

static int not_found(const struct ga_env *e, const char *command, struct ga_error *err)
{
	const struct ga_preset *p = ga_preset_find(&e->agents, command);
	bool package = p && p->package;
	cleanup_free char *q = ga_escape(command), *login = NULL;
	const char *near;
	cleanup_free char *npm = package ? agents_find_command(e, "npm", NULL) : NULL;

	(void)ga_fail(err, GA_ESTART, "command '%s' was not found on PATH%s", q,
		      package ? ", nor in the agents' home" : "");
	near = p ? NULL : near_agent(e, command);
	if (near)
		return ga_hint(err, "did you mean 'git agent start %s'?", near);
	login = login_words(e, p);
	if (npm)
		return ga_hint(err, "'git agent agents install %s' puts it into the agents' home%s",
			       command, login);
	return package ? ga_hint(err, "install it, or Node.js for 'git agent agents install %s'%s",
				 command, login)
		       : ga_hint(err, "install it, or give its path%s", login);
}

int ga_agents_check_command(struct ga_env *e, struct ga_agents_command *c, struct ga_error *err)
{
	const char *command = c->argv.v[0];
	cleanup_free char *file = NULL, *place = NULL;

	if (!*command)
		return ga_fail(err, GA_EUSAGE, "the command is empty" GA_HINT "name a program, as "
			       "in 'git agent start bash'");
	if (strchr(command, '/'))
		return 0; /* a path inside: the sandbox will tell */
	c->own = find_own(e, command);
	file = c->own ? NULL : agents_find_command(e, command, &place);
	if (place) {
		char *path = ga_strf("%s:%s", e->path, place);

		free(e->path);
		e->path = path;
	}
	return c->own || file || agents_own(e, command) ? 0 : not_found(e, command, err);
}

char *ga_agents_cwd(const char *project)
{
	cleanup_free char *cwd = getcwd(NULL, 0);
	const char *rel = cwd ? ga_path_below(cwd, project) : NULL;

	/* not in .git, which is another one inside */
	return rel && !ga_path_inside(rel, ".git") ? ga_steal(&cwd) : ga_strdup(project);
}
