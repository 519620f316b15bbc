/* SPDX-License-Identifier: MIT
 *
 * What leads from the user's own environment into the project, besides git: start-up files that are
 * links to it, directories of it on PATH, services that start something there.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "host.h"

enum { UNITS_MAX = 5000, UNIT_MAX = 1 << 20 };

static const char rule[] = "host-environment-reached";

void ga_gather_home(struct ga_gather *g)
{
	const char *home = ga_env_get("HOME");
	size_t n = home && home[0] == '/' ? strlen(home) : 0;

	while (n > 1 && home[n - 1] == '/')
		n--;
	if (n)
		g->home = ga_strndup(home, n);
}

/* ---- links in the home directory ------------------------------------------------ */

/* Files that are read or run without being asked for. */
static const char *const home_files[] = {
	".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
	".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".oh-my-zsh", ".inputrc",
	".config", ".config/fish", ".config/fish/config.fish", ".config/nushell", ".gitconfig",
	".config/git", ".config/git/config", ".config/git/hooks", ".vimrc", ".vim", ".config/nvim",
	".config/nvim/init.lua", ".config/nvim/init.vim", ".emacs", ".emacs.d", ".config/emacs",
	".config/helix", ".config/zed", ".config/Code/User", ".config/Code/User/settings.json",
	".tmux.conf", ".config/tmux", ".screenrc", ".ssh", ".ssh/config", ".ssh/authorized_keys",
	".ssh/rc", ".gnupg", ".npmrc", ".yarnrc", ".yarnrc.yml", ".cargo/config.toml",
	".m2/settings.xml", ".gradle/init.gradle", ".gradle/gradle.properties", ".irbrc", ".pryrc",
	".Rprofile", ".psqlrc", ".gdbinit", ".lldbinit", ".pythonrc.py", ".config/pip",
	".config/direnv", ".config/mise", ".tool-versions", ".wgetrc", ".curlrc", ".netrc",
	".ripgreprc", ".lesskey", ".mailcap", ".xprofile", ".xinitrc", ".xsession",
	".pam_environment", ".config/environment.d", ".config/autostart", ".config/systemd",
	".config/systemd/user", ".config/i3", ".config/sway", ".config/hypr", ".config/kitty",
	".config/alacritty", ".wezterm.lua", ".local/bin", "bin", ".claude",
	".claude/settings.json", ".codex", ".codex/config.toml", ".gemini",
	".gemini/settings.json", ".config/opencode", ".aider.conf.yml",
};

static void gather_links(struct ga_gather *g)
{
	for (size_t i = 0; g->home && i < GA_NELEMS(home_files); i++) {
		cleanup_free char *path = ga_path_join(g->home, home_files[i]);
		cleanup_free char *what = ga_strf("~/%s leads to it", home_files[i]);
		struct stat st;

		/* if the project is the home directory itself, rules cover these names */
		if (!stat(path, &st))
			ga_gather_path(g, path, S_ISDIR(st.st_mode), rule, what);
	}
}

/* ---- PATH ------------------------------------------------------------------------ */

static void gather_search_path(struct ga_gather *g)
{
	const char *p = ga_env_get("PATH");

	while (p) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = ga_strndup(p, n), *full = NULL;

		/* a relative entry depends on the current directory: taken to be the project's root
		 */
		full = dir[0] == '/' ? ga_strdup(dir) : ga_path_join(g->info->workdir, dir);
		if (!n || !strcmp(dir, ".") || !strcmp(full, g->info->workdir))
			ga_gather_raise(g, "path-shadow-bin", "what looks into PATH");
		else
			ga_gather_path(g, full, true, rule, "its directory is in your PATH");
		p = p[n] ? p + n + 1 : NULL;
	}
}

/* ---- units of systemd --------------------------------------------------------------- */

/* Each place where the text of a unit names the working tree. */
static void gather_unit(struct ga_gather *g, const char *text, const char *name)
{
	const char *root = g->info->workdir;
	cleanup_free char *shown = ga_quote(name), *what = ga_strf("your unit %s names it", shown);

	for (const char *p = text; (p = strstr(p, root)); p += strlen(root)) {
		size_t n = strcspn(p, " \t\r\n\"';:|&");
		cleanup_free char *path = ga_strndup(p, n);

		if (path[strlen(root)] == '/')
			ga_gather_path(g, path, false, rule, what);
	}
}

/* "%h" is the home directory in a unit. */
static void expand_home(const struct ga_gather *g, const char *text, struct ga_buf *out)
{
	for (const char *p = text; *p;) {
		const char *h = strstr(p, "%h");

		ga_buf_add(out, p, h ? (size_t)(h - p) : strlen(p));
		if (!h)
			return;
		ga_buf_adds(out, g->home);
		p = h + 2;
	}
}

static void gather_units(struct ga_gather *g)
{
	cleanup_free char *dir = g->home ? ga_path_join(g->home, ".config/systemd/user") : NULL;
	cleanup_dir DIR *d = dir ? opendir(dir) : NULL;
	struct dirent *e;

	for (int i = 0; d && (e = ga_dir_next(d)); i++) {
		cleanup_buf struct ga_buf text = GA_BUF_INIT, plain = GA_BUF_INIT;
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;
		cleanup_close int fd = openat(dirfd(d), e->d_name,
					      O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		struct stat st;

		if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
			continue;
		if (i >= UNITS_MAX || ga_read_fd(fd, UNIT_MAX, &text, &ignored)) {
			ga_gather_cut(g, rule, "your units of systemd are more than is read");
			break;
		}
		expand_home(g, text.ptr, &plain);
		gather_unit(g, plain.ptr, e->d_name);
	}
}

void ga_gather_environment(struct ga_gather *g)
{
	gather_links(g);
	gather_search_path(g);
	gather_units(g);
}
