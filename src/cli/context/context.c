/* SPDX-License-Identifier: MIT */
#include <pwd.h>

#include "ga/view/view.h"
#include "cli/cli.h"

void cli_scrub_environment(void)
{
	/* `git rev-parse --local-env-vars` without the configuration ones */
	static const char *const names[] = {
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR",
		"GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
		"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
		"GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
	};

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		(void)unsetenv(names[i]);
}

void cli_default_home(void)
{
	const char *home = getenv("HOME");
	const struct passwd *pw = home && home[0] == '/' ? NULL : getpwuid(getuid());

	if (pw && pw->pw_dir)
		(void)setenv("HOME", pw->pw_dir, 1);
}

/* Is `dir`, under any name, the directory `path` (resolved) or a parent of it? */
static bool holds(const char *dir, const char *path)
{
	cleanup_free char *up = ga_strdup(path);
	struct stat want, at;

	if (stat(dir, &want))
		return false;
	for (;;) {
		char *next;

		if (!stat(up, &at) && at.st_dev == want.st_dev && at.st_ino == want.st_ino)
			return true;
		if (!strcmp(up, "/"))
			return false;
		next = ga_path_parent(up);
		free(up);
		up = next;
	}
}

/* Delay before progress is shown: git's default, and git's variable. */
static int64_t progress_delay_ms(void)
{
	uint64_t seconds = 2;
	const char *v = getenv("GIT_PROGRESS_DELAY");

	if (v)
		(void)ga_parse_u64(v, UINT32_MAX, &seconds);
	return (int64_t)seconds * 1000;
}

int cli_context_init(struct cli *c, enum cli_need needs, struct ga_error *err)
{
	c->env.progress = isatty(STDERR_FILENO);
	c->env.progress_delay_ms = progress_delay_ms();
	c->colour = isatty(STDOUT_FILENO) && cli_colour_wanted();
	if (cli_find_programs(&c->env, err) || cli_find_host(&c->env, err))
		return -1;
	if (needs < CLI_NEED_NOTHING &&
	    cli_read_settings(&c->env, &c->settings, &c->overrides, err))
		return -1;
	/* agents would see your whole home; it need not exist yet */
	if (needs < CLI_NEED_NOTHING && holds(c->env.agent_home, c->env.home))
		return ga_fail(err, GA_ESTART, "the agents' home '%s' is or contains your own"
			       GA_HINT "set 'home' to a directory that holds nothing of yours",
			       c->env.agent_home);
	if (needs > CLI_NEED_REPO)
		return 0;
	if (needs == CLI_NEED_STATE && !c->env.loading) {
		cleanup_free char *guess = ga_repo_guess();

		c->env.loading = guess ? ga_gitconfig_guess(guess) : NULL;
	}
	if (cli_open(c, needs, err))
		return -1;
	return needs == CLI_NEED_STATE ? ga_env_config(&c->env, err) : 0;
}

int cli_open(struct cli *c, enum cli_need needs, struct ga_error *err)
{
	struct ga_env *e = &c->env;

	if (ga_repo_open(".", &e->repo, err))
		return -1;
	if (needs != CLI_NEED_STATE)
		return 0;
	if (ga_gitconfig_begin(e->repo, &e->loading, err) ||
	    ga_store_open(e->state_root, ga_repo_info(e->repo)->id, &e->state_dir, err))
		return -1;
	if (!holds(e->agent_home, e->state_dir))
		return 0;
	return ga_fail(err, GA_ESTART, "agents could write where sessions are kept: '%s'" GA_HINT
		       "set 'state_dir' to a directory outside the agents' home",
		       e->state_dir);
}

void cli_context_release(struct cli *c)
{
	struct ga_env *e = &c->env;

	/* a sandbox that no start used */
	ga_run_finish(c->begun);
	free(c->begun_for);
	free(c->notify);
	free(c->allow_at);
	ga_gitconfig_abandon(e->loading);
	ga_gitconfig_release(&e->config);
	ga_repo_free(e->repo);
	free(e->state_root);
	free(e->state_dir);
	free(e->home);
	free(e->path);
	free(e->agent_home);
	ga_presets_release(&e->agents);
	ga_risk_paths_release(&e->risk);
	ga_risk_paths_release(&e->risk_own);
	ga_config_release(&e->conf);
	free(e->stage);
	free(e->init);
	free(e->bwrap);
	*e = (struct ga_env){ 0 };
	ga_config_release(&c->settings);
	ga_strv_release(&c->overrides);
}
