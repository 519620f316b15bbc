/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/host.h"
#include "ga/base/path.h"
#include "ga/sys/process.h"

#ifndef GA_LIBEXECDIR
#define GA_LIBEXECDIR "/usr/libexec/git-agent"
#endif

#define SHIMS "/git-agent/shims"

char *cli_own_program(struct ga_error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0) {
		(void)ga_fail_errno(err, GA_ESTART, errno, "cannot read /proc/self/exe");
		return NULL;
	}
	return ga_strndup(self, (size_t)n);
}

int cli_find_programs(struct ga_env *e, struct ga_error *err)
{
	cleanup_free char *self = cli_own_program(err), *dir = NULL;

	if (!self)
		return -1;
	dir = ga_path_parent(self);
	e->stage = ga_path_join(dir, "git-agent-stage");
	if (access(e->stage, X_OK)) {
		free(dir);
		dir = ga_strdup(GA_LIBEXECDIR);
		free(e->stage);
		e->stage = ga_path_join(dir, "git-agent-stage");
	}
	e->init = ga_path_join(dir, "git-agent-init");
	return 0;
}

static const char *absolute(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? value : NULL;
}

static void replace(struct ga_strv *to, const struct ga_strv *from)
{
	ga_strv_release(to);
	ga_strv_extend(to, from);
}

void cli_risk_paths(const struct ga_config *conf, struct ga_risk_paths *ret)
{
	replace(&ret->add, &conf->risk.add);
	replace(&ret->allow, &conf->risk.allow);
	replace(&ret->hold, &conf->risk.hold);
	replace(&ret->block, &conf->risk.block);
	replace(&ret->filters, &conf->inside.filters);
	ret->strict = conf->risk.strict;
}

void cli_take_settings(struct ga_env *e, const struct ga_config *conf)
{
	ga_config_release(&e->conf);
	ga_config_copy(&e->conf, conf);
	cli_risk_paths(conf, &e->risk);
	e->use = ga_config_use(conf);
}

char *cli_shims(const char *home)
{
	const char *xdg = absolute("XDG_DATA_HOME");

	return xdg ? ga_strf("%s" SHIMS, xdg) : ga_strf("%s/.local/share" SHIMS, home);
}

static bool ends_so(const char *dir, size_t n, const char *end)
{
	size_t m = strlen(end);

	return n >= m && !strncmp(dir + n - m, end, m);
}

/* The user's PATH, without the directory that git prepends and without that of our shims, where an
 * agent would be found as a shim of itself. */
static char *real_path(const char *path)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	bool any = false;

	for (const char *p = path;; p++) {
		size_t n = strcspn(p, ":"), end = n;

		while (end > 1 && p[end - 1] == '/')
			end--;
		if (!ends_so(p, end, SHIMS) && (p != path || !ends_so(p, end, "/git-core"))) {
			ga_buf_adds(&b, any ? ":" : "");
			ga_buf_add(&b, p, n);
			any = true;
		}
		p += n;
		if (!*p)
			return ga_buf_steal(&b);
	}
}

int cli_find_host(struct ga_env *e, struct ga_error *err)
{
	const char *path = getenv("PATH"), *home = getenv("HOME");

	/* as in src/sys/process.c, which ignores relative directories */
	if (!path || (path[0] != '/' && !strstr(path, ":/")))
		path = GA_SYSTEM_PATH;
	e->environ = (const char *const *)environ;
	e->path = real_path(path);
	e->home = home && home[0] == '/' ? realpath(home, NULL) : NULL;
	if (!e->home || !strcmp(e->home, "/"))
		return ga_fail(err, GA_ESTART, "you have no home directory" GA_HINT "set HOME to a "
			       "directory of your own");
	return 0;
}

int cli_read_settings(struct ga_env *e, struct ga_config *ret, const struct ga_strv *words,
		      struct ga_error *err)
{
	cleanup_config struct ga_config conf = GA_CONFIG_INIT;
	const char *xdg = absolute("XDG_CONFIG_HOME");
	cleanup_free char *file = xdg ? ga_path_join(xdg, "git-agent/config.yaml")
				      : ga_path_join(e->home, ".config/git-agent/config.yaml");

	ga_config_defaults(ret, e->home, absolute("XDG_STATE_HOME"), file);
	if (ga_config_read_user(ret, err))
		return -1;
	ga_config_copy(&conf, ret);
	if (ga_config_set_words(&conf, words, err))
		return -1;
	cli_take_settings(e, &conf);
	cli_risk_paths(&conf, &e->risk_own);
	e->net = (struct ga_env_network){ .mode = (enum ga_network)conf.net.mode };
	e->agent_home = ga_strdup(conf.home);
	if (!ga_presets_parse(&conf.agents, &e->agents))
		return ga_fail(err, GA_EFATAL, "'agents' of the settings has more than %d names",
			       GA_PRESETS_MAX);
	e->state_root = ga_strdup(conf.state_dir);
	return 0;
}
