/* SPDX-License-Identifier: MIT */
#include "context.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "ga/path.h"
#include "ga/quote.h"

#ifndef GA_LIBEXECDIR
#define GA_LIBEXECDIR "/usr/libexec/git-agent"
#endif

void cli_scrub_environment(void)
{
	/* the list of `git rev-parse --local-env-vars` without the configuration ones */
	static const char *const names[] = {
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR",
		"GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE",
		"GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
		"GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
	};

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		(void)unsetenv(names[i]);
}

static int find_home(struct cli *c, struct ga_error *err)
{
	const char *home = getenv("HOME");

	if (!home || home[0] != '/') {
		const struct passwd *pw = getpwuid(getuid());

		home = pw ? pw->pw_dir : NULL;
	}
	c->env.home = home ? realpath(home, NULL) : NULL;
	if (!c->env.home || !strcmp(c->env.home, "/")) {
		(void)ga_fail(err, GA_ESTART, "you have no home directory");
		return ga_hint(err, "set HOME to a directory of your own");
	}
	c->env.agent_home = ga_path_join(c->env.home, "aihome");
	return 0;
}

/* The two programs that run with us lie beside us in the build tree, in
 * libexec when installed. */
static int find_programs(struct cli *c, struct ga_error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	cleanup_free char *dir = NULL;

	if (n <= 0)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot read /proc/self/exe");
	self[n] = '\0';
	dir = ga_path_parent(self);
	c->env.stage = ga_path_join(dir, "git-agent-stage");
	if (access(c->env.stage, X_OK)) {
		free(dir);
		dir = ga_strdup(GA_LIBEXECDIR);
		free(c->env.stage);
		c->env.stage = ga_path_join(dir, "git-agent-stage");
	}
	c->env.init = ga_path_join(dir, "git-agent-init");
	return 0;
}

static char *state_root(const struct cli *c)
{
	const char *xdg = getenv("XDG_STATE_HOME");

	return xdg && xdg[0] == '/' ? ga_path_join(xdg, "git-agent")
				    : ga_path_join(c->env.home, ".local/state/git-agent");
}

static bool want_colour(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

int cli_context_init(struct cli *c, unsigned needs, struct ga_error *err)
{
	const char *path = getenv("PATH");

	c->env.environ = (const char *const *)environ;
	c->env.path = ga_strdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	c->env.progress = isatty(STDERR_FILENO);
	c->colour = want_colour(STDOUT_FILENO);
	if (find_home(c, err) || find_programs(c, err))
		return -1;
	c->env.state_root = state_root(c);
	if (!(needs & (CLI_NEED_REPO | CLI_NEED_STATE)))
		return 0;
	if (needs & CLI_NEED_STATE) {
		cleanup_free char *guess = ga_repo_guess();

		c->env.loading = guess ? ga_gitconfig_guess(guess) : NULL;
	}
	if (cli_open(c, needs, err))
		return -1;
	return needs & CLI_NEED_STATE ? ga_start_config(&c->env, err) : 0;
}

int cli_open(struct cli *c, unsigned needs, struct ga_error *err)
{
	struct ga_start_env *e = &c->env;

	if (ga_repo_open(".", &e->repo, err))
		return -1;
	if (!(needs & CLI_NEED_STATE))
		return 0;
	return ga_gitconfig_begin(e->repo, &e->loading, err) ||
	       ga_store_open(e->state_root, ga_repo_info(e->repo)->id, &e->state_dir, err) ? -1 : 0;
}

void cli_context_release(struct cli *c)
{
	struct ga_start_env *e = &c->env;

	ga_gitconfig_abandon(e->loading);
	ga_gitconfig_release(&e->config);
	ga_repo_free(e->repo);
	free(e->state_root);
	free(e->state_dir);
	free(e->home);
	free(e->path);
	free(e->agent_home);
	free(e->stage);
	free(e->init);
	free(e->bwrap);
	*e = (struct ga_start_env){ 0 };
}
