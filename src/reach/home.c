/* SPDX-License-Identifier: MIT
 *
 * What leads from the user's own environment into the project, besides git: links in the home
 * directory, start-up files of shells, directories of PATH, units of systemd.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "gather.h"

enum { ENTRIES_MAX = 50000 };

static const char rule[] = "host-environment-reached";

static struct ga_source source(const char *what, const char *name)
{
	return (struct ga_source){ .what = what,
				   .rule = rule,
				   .when = GA_REACH_GIT,
				   .hook = "",
				   .part = "",
				   .name = name,
				   .absolute = true };
}

struct home {
	struct ga_gather *g;
	size_t entries;
};

/* How many levels below the home are looked at: all directories whose name begins with a dot one
 * level deep, those where configuration and programs are further. */
static int depth_below(const char *name)
{
	static const char deep[] =
		".config .local .claude .codex .gemini .ssh .gnupg .aws .kube .docker .vim "
		".emacs.d .mozilla .vscode .cursor .agents";

	return ga_has_word(deep, name) ? 3 : name[0] == '.' || !strcmp(name, "bin");
}

static void look_through(struct home *h, const char *dir, const char *shown, int depth)
{
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	while (d && h->entries++ < ENTRIES_MAX && (e = ga_dir_next(d))) {
		cleanup_free char *path = ga_path_join(dir, e->d_name), *quoted = NULL,
				  *what = NULL;
		cleanup_free char *name = ga_path_join(shown, e->d_name);
		int more = *shown ? depth - 1 : depth_below(e->d_name);
		struct ga_source s;
		struct stat st;

		if (e->d_type == DT_DIR && more > 0)
			look_through(h, path, name, more);
		/* what is called otherwise nobody reads without being told to: ~/src */
		if (e->d_type != DT_LNK ||
		    (!*shown && e->d_name[0] != '.' && strcmp(e->d_name, "bin") != 0))
			continue;
		quoted = ga_quote(name);
		what = ga_strf("~/%s leads to it", quoted);
		s = source(what, "");
		/* what is not there yet would be live once it is */
		ga_gather_path(h->g, &s, path, !stat(path, &st) && S_ISDIR(st.st_mode));
	}
}

static void gather_links(struct ga_gather *g)
{
	struct home h = { .g = g };
	const struct ga_source s = source("your home directory", "");

	/* in a project that is the home directory itself, rules cover these names */
	if (ga_path_inside(g->home, g->info->workdir))
		return;
	look_through(&h, g->home, "", 0);
	if (h.entries >= ENTRIES_MAX)
		ga_gather_cut(g, &s, "your home directory has more than is looked at");
}

/* A file of the home: what it sources and runs by a path into the project. */
static int gather_startup(struct ga_gather *g, const char *name)
{
	cleanup_free char *path = ga_path_join(g->home, name), *shown = ga_quote(name);
	cleanup_free char *what = ga_strf("your %s", shown);
	const struct ga_source s = source(what, name);
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_words struct ga_words w = { .v = NULL };
	int r = ga_gather_read(fd, &text);

	if (r < 0)
		ga_gather_cut(g, &s, "a start-up file is too long to be read");
	if (r)
		return 0;
	/* in a unit of systemd "%h" is the home directory, and "ExecStart=" no assignment */
	if (strstr(name, "systemd/"))
		for (char *p = text.ptr; *p; p++)
			if (*p == '=' || (*p == 'h' && p > text.ptr && p[-1] == '%'))
				memcpy(p - (*p == 'h'), *p == 'h' ? " ~" : " ", *p == 'h' ? 2 : 1);
	ga_words_of_shell(text.ptr, g->home, &w);
	return ga_gather_words(g, &s, &w);
}

static int gather_startups(struct ga_gather *g)
{
	static const char files[] =
		".profile .bash_profile .bash_login .bashrc .bash_aliases .bash_logout "
		".zshenv .zprofile .zshrc .zlogin .zlogout .kshrc .xprofile .xinitrc .xsession "
		".xsessionrc .zsh/.zshrc .config/zsh/.zshrc .config/zsh/.zshenv "
		".config/zsh/.zprofile .config/fish/config.fish .config/nushell/config.nu "
		".config/nushell/env.nu .envrc .inputrc .tmux.conf .config/tmux/tmux.conf";
	static const char units[] = ".config/systemd/user";
	cleanup_free char *copy = ga_strdup(files), *dir = ga_path_join(g->home, units);
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;
	char *save = NULL;
	int r = 0;

	for (char *f = strtok_r(copy, " ", &save); !r && f; f = strtok_r(NULL, " ", &save))
		r = gather_startup(g, f);
	while (!r && d && (e = ga_dir_next(d))) {
		cleanup_free char *unit = ga_path_join(units, e->d_name);

		r = gather_startup(g, unit);
	}
	return r;
}

static void gather_search_path(struct ga_gather *g)
{
	const struct ga_source in = source("its directory is in your PATH", "");
	const char *p = ga_env_get("PATH");

	while (p) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = ga_strndup(p, n), *full = NULL;

		/* a relative entry depends on the current directory: taken to be the top */
		full = dir[0] == '/' ? ga_strdup(dir) : ga_path_join(g->info->workdir, dir);
		if (!n || !strcmp(dir, ".") || !strcmp(full, g->info->workdir))
			ga_reach_add(g->reach, GA_REACH_RULE, GA_REACH_GIT, rule, "path-shadow-bin",
				     "what looks into PATH");
		else
			ga_gather_path(g, &in, full, true);
		p = p[n] ? p + n + 1 : NULL;
	}
}

int ga_gather_home(struct ga_gather *g)
{
	gather_search_path(g);
	if (!g->home)
		return 0;
	gather_links(g);
	return gather_startups(g);
}
