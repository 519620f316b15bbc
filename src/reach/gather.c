/* SPDX-License-Identifier: MIT
 *
 * Gather the files of a repository that the host executes, from each source.
 */
#include "reach-internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"

static struct ga_source source(const char *what, const char *rule)
{
	return (struct ga_source){ .what = what, .rule = rule, .when = GA_REACH_GIT, .hook = "",
				   .part = "", .name = "" };
}

/* ---- the hooks of this clone ------------------------------------------------ */

enum { WORKTREES_MAX = 256 };

static const char hook_rule[] = "host-hook-reached";

static int scan_hook(struct ga_gather *g, int dirfd, const char *dir, const char *name)
{
	cleanup_free char *path = ga_path_join(dir, name), *shown = ga_quote(name);
	cleanup_free char *what = ga_strf("the hook %s", shown), *in_project = NULL;
	const char *below = ga_path_below(dir, g->info->workdir);
	struct ga_source s = {
		.what = what, .rule = hook_rule, .hook = name, .part = name, .name = name,
		.host_dir = dir
	};
	cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	int r;

	if (!ga_reach_hook(name, &s.when))
		return 0;
	/* a hook of the project imports from its own directory */
	if (below && strncmp(below, ".git", 4)) {
		in_project = ga_strdup(below);
		s.dir = in_project;
	}
	ga_gather_path(g, &s, path, false);
	r = ga_gather_read(fd, &text);
	if (r < 0) {
		cleanup_free char *why = ga_strf("%s is too long to be read", what);

		ga_gather_cut(g, &s, why);
	}
	return r ? 0 : ga_gather_text(g, &s, text.ptr);
}

static int scan_hooks(struct ga_gather *g, const char *dir)
{
	cleanup_free char *guard = ga_path_join(g->info->commondir, "git-agent");
	cleanup_dir DIR *d = opendir(dir); /* no such directory: no hooks */
	struct dirent *e;
	int r = 0;

	/* hooks of `git agent guard` run those of the user that agent.hooksPath names */
	if (ga_path_inside(dir, guard))
		return 0;
	while (!r && (e = ga_dir_next(d)))
		r = scan_hook(g, dirfd(d), dir, e->d_name);
	return r;
}

/* A hook directory, all of the directory `all` that it is in, and the hooks. */
static int scan_dir(struct ga_gather *g, const char *dir, const char *all, const char *what)
{
	const struct ga_source s = source(what, "hooks-path-configured");
	cleanup_free char *parent = ga_path_parent(dir);

	ga_gather_path(g, &s, all, true);
	ga_gather_path(g, &s, dir, true);
	if (scan_hooks(g, dir))
		return -1;
	/* Husky's "_" holds stubs that run the file of the same name above. */
	return !strcmp(ga_path_base(dir), "_") && scan_hooks(g, parent) ? -1 : 0;
}

/* The working tree of a linked worktree's git directory; NULL: none, as for a session. */
static char *worktree_of(const char *gitdir)
{
	cleanup_free char *file = ga_path_join(gitdir, "gitdir");
	cleanup_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct stat st;

	if (ga_gather_read(fd, &text))
		return NULL;
	ga_buf_chomp(&text);
	if (text.ptr[0] != '/' || stat(text.ptr, &st))
		return NULL;
	return ga_path_parent(text.ptr);
}

/* All working trees, where hooks run as the user merges, and the git directories of all. */
static void list_worktrees(const struct ga_gather *g, struct ga_strv *trees,
			   struct ga_strv *gitdirs)
{
	cleanup_free char *dir = ga_path_join(g->info->commondir, "worktrees");
	cleanup_dir DIR *d = opendir(dir);
	struct dirent *e;

	ga_strv_push(trees, g->info->workdir);
	ga_strv_push(gitdirs, g->info->commondir);
	/* of a linked one, the main one */
	if (g->info->linked && !strcmp(ga_path_base(g->info->commondir), ".git"))
		ga_strv_take(trees, ga_path_parent(g->info->commondir));
	while (d && gitdirs->n < WORKTREES_MAX && (e = ga_dir_next(d))) {
		char *gitdir = ga_path_join(dir, e->d_name), *tree = worktree_of(gitdir);

		ga_strv_take(gitdirs, gitdir);
		if (tree)
			ga_strv_take(trees, tree);
	}
	ga_strv_sort_unique(trees);
}

static int scan_hooks_path(struct ga_gather *g, const char *value, const struct ga_strv *trees)
{
	bool relative = value[0] != '/' && strncmp(value, "~/", 2) != 0;

	for (size_t i = 0; i < (relative ? trees->n : 1); i++) {
		cleanup_free char *path = NULL;

		if (relative)
			path = ga_path_join(trees->v[i], value);
		else
			path = value[0] == '~' ? ga_path_join(g->home ? g->home : "/", value + 2)
					       : ga_strdup(value);
		while (strlen(path) > 1 && path[strlen(path) - 1] == '/')
			path[strlen(path) - 1] = '\0';
		if (scan_dir(g, path, path, "core.hooksPath"))
			return -1;
	}
	return 0;
}

/* What config.worktree of each worktree says: "hooksPath = VALUE" is looked for as text. */
static int scan_worktree_config(struct ga_gather *g, const char *gitdir,
				const struct ga_strv *trees)
{
	cleanup_free char *file = ga_path_join(gitdir, "config.worktree");
	cleanup_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	if (ga_gather_read(fd, &text))
		return 0;
	for (char *p = text.ptr; (p = strcasestr(p, "hookspath"));) {
		cleanup_free char *value = NULL;

		p += strlen("hookspath");
		p += strspn(p, " \t=\"");
		value = ga_strndup(p, strcspn(p, "\"\n#;"));
		while (*value && strchr(" \t\r", value[strlen(value) - 1]))
			value[strlen(value) - 1] = '\0';
		if (*value && scan_hooks_path(g, value, trees))
			return -1;
	}
	return 0;
}

/* Scan each hook directory that any value names: which one counts may depend on conditions. */
static int gather_hooks(struct ga_gather *g, const struct ga_gitconfig *c)
{
	cleanup_free char *own = ga_path_join(g->info->commondir, "hooks");
	cleanup_strv struct ga_strv trees = GA_STRV_INIT, gitdirs = GA_STRV_INIT;

	list_worktrees(g, &trees, &gitdirs);
	/* a git directory in the project under another name than ".git" can be written to */
	if (scan_dir(g, own, g->info->commondir, "this clone's git directory"))
		return -1;
	for (size_t i = 0; i < gitdirs.n; i++)
		if (scan_worktree_config(g, gitdirs.v[i], &trees))
			return -1;
	for (size_t i = 0; i < c->n; i++)
		if ((!strcasecmp(c->v[i].key, "core.hookspath") ||
		     !strcasecmp(c->v[i].key, "agent.hookspath")) &&
		    c->v[i].value && *c->v[i].value && scan_hooks_path(g, c->v[i].value, &trees))
			return -1;
	return 0;
}

/* ---- what values of the git configuration name ------------------------------ */

static bool begins_with(const char *s, const char *start)
{
	return !strncasecmp(s, start, strlen(start));
}

/* Values that never name a file of the project. */
static bool is_data(const char *key)
{
	return begins_with(key, "user.") || begins_with(key, "branch.") ||
	       begins_with(key, "color.") || begins_with(key, "author.") ||
	       begins_with(key, "committer.") || begins_with(key, "url.") ||
	       (begins_with(key, "remote.") && !ga_ends_in(key, ".uploadpack") &&
		!ga_ends_in(key, ".receivepack") && !ga_ends_in(key, ".vcs")) ||
	       (begins_with(key, "submodule.") && !ga_ends_in(key, ".update")) ||
	       !strcasecmp(key, "core.hookspath") || !strcasecmp(key, "agent.hookspath");
}

/* A path value made absolute: "~/x", "/x", or beneath `base`. */
static char *absolute(const struct ga_gather *g, const char *base, const char *value)
{
	if (!strncmp(value, "~/", 2) && g->home)
		return ga_path_join(g->home, value + 2);
	return value[0] == '/' ? ga_strdup(value) : ga_path_join(base, value);
}

static int scan_value(struct ga_gather *g, const struct ga_source *s, const char *value)
{
	cleanup_words struct ga_words w = { .v = NULL };

	/* an alias begins with "!" if it is a command of the shell */
	ga_words_of_shell(value + (*value == '!'), g->home, &w);
	return ga_gather_words(g, s, &w);
}

static int scan_item(struct ga_gather *g, const struct ga_gitconfig_item *item)
{
	const char *file =
		item->origin && begins_with(item->origin, "file:") ? item->origin + 5 : NULL;
	bool includes = begins_with(item->key, "include");
	bool hook = begins_with(item->key, "hook.") && ga_ends_in(item->key, ".command");
	cleanup_free char *key = ga_quote(item->key), *path = NULL, *origin = NULL, *dir = NULL;
	struct ga_source s = source(key, hook ? "hook-config-command" : "host-config-reached");

	/* what the configuration is read from may come with the project */
	if (file) {
		struct ga_source in = s;

		in.what = "the git configuration includes it";
		in.rule = "host-config-reached";
		origin = absolute(g, g->info->workdir, file);
		ga_gather_path(g, &in, origin, false);
		dir = ga_path_parent(origin);
	}
	if (!item->has_value || !item->value || !*item->value || is_data(item->key))
		return 0;
	/* what is included is relative to the file, other paths to the top */
	path = absolute(g, dir && includes ? dir : g->info->workdir, item->value);
	if (includes || !access(path, F_OK) ||
	    (strchr(item->value, '/') && !strpbrk(item->value, " :")))
		ga_gather_path(g, &s, path, false);
	return scan_value(g, &s, item->value);
}

static int gather_settings(struct ga_gather *g, const struct ga_gitconfig *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (scan_item(g, &c->v[i]))
			return -1;
	return 0;
}

/* ---- the home ---------------------------------------------------------------- */

/* Paths from the user's environment into the project, besides git: links in the home directory,
 * start-up files of shells, directories of PATH, units of systemd. */

enum { ENTRIES_MAX = 50000 };

static const char rule[] = "host-environment-reached";

static struct ga_source home_source(const char *what, const char *name)
{
	struct ga_source s = source(what, rule);

	s.name = name;
	s.absolute = true;
	return s;
}

struct home {
	struct ga_gather *g;
	size_t entries;
};

/* Levels below the home that are searched: dot directories one level deep, those of configuration
 * and programs deeper. */
static int depth_below(const char *name)
{
	static const char deep[] =
		".config .local .claude .codex .gemini .ssh .gnupg .aws .kube .docker .vim "
		".emacs.d .mozilla .vscode .cursor .agents";

	return ga_has_word(deep, name) ? 3 : name[0] == '.' || !strcmp(name, "bin");
}

static void search_home_dir(struct home *h, const char *dir, const char *shown, int depth)
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
			search_home_dir(h, path, name, more);
		/* other directories are not read automatically: ~/src */
		if (e->d_type != DT_LNK ||
		    (!*shown && e->d_name[0] != '.' && strcmp(e->d_name, "bin") != 0))
			continue;
		quoted = ga_quote(name);
		what = ga_strf("~/%s leads to it", quoted);
		s = home_source(what, "");
		/* what is not there yet would be live once it is */
		ga_gather_path(h->g, &s, path, !stat(path, &st) && S_ISDIR(st.st_mode));
	}
}

static void gather_links(struct ga_gather *g)
{
	struct home h = { .g = g };
	const struct ga_source s = home_source("your home directory", "");

	/* in a project that is the home directory itself, rules cover these names */
	if (ga_path_inside(g->home, g->info->workdir))
		return;
	search_home_dir(&h, g->home, "", 0);
	if (h.entries >= ENTRIES_MAX)
		ga_gather_cut(g, &s, "your home directory has more entries than the limit");
}

/* A file of the home: what it sources and runs by a path into the project. */
static int gather_startup(struct ga_gather *g, const char *name)
{
	cleanup_free char *path = ga_path_join(g->home, name), *shown = ga_quote(name);
	cleanup_free char *what = ga_strf("your %s", shown);
	const struct ga_source s = home_source(what, name);
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
	const struct ga_source in = home_source("its directory is in your PATH", "");
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

static int gather_home(struct ga_gather *g)
{
	gather_search_path(g);
	if (!g->home)
		return 0;
	gather_links(g);
	return gather_startups(g);
}

/* What direnv loads without asking, because the user has allowed an .envrc, and what that runs:
 * whenever the directory is entered, like a hook. */

int ga_gather_envrc(struct ga_gather *g, const char *dir)
{
	cleanup_free char *path = ga_path_join(dir, ".envrc"), *shown = ga_quote(path);
	struct ga_source s = source(shown, "direnv-dependents");
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_close int fd = ga_openat_beneath(g->workfd, path, O_RDONLY | O_NONBLOCK, 0);
	int r = ga_gather_read(fd, &text);

	s.dir = dir;
	s.name = ".envrc";
	if (r < 0)
		ga_reach_add(g->reach, GA_REACH_BELOW, s.when, s.rule, dir,
			     "the .envrc there could not be read");
	if (r)
		return 0;
	return ga_gather_text(g, &s, text.ptr) || ga_gather_follow(g) ? -1 : 0;
}

/* Read the .envrc files of the directories above a path, from the top down to one that is missing.
 */
static int read_above(struct ga_gather *g, const char *path, struct ga_strmap *seen)
{
	for (size_t n = 1; path[n - 1]; n++) {
		cleanup_free char *dir = NULL;
		struct stat st;
		int32_t node;
		bool there;

		if (path[n] != '/')
			continue;
		node = ga_strmap_first(seen, path, n);
		if (node >= 0 && !seen->nodes[node].value)
			return 0;
		if (node >= 0)
			continue;
		dir = ga_strndup(path, n);
		there = ga_path_relative_ok(dir) &&
			!fstatat(g->workfd, dir, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
		ga_strmap_add(seen, path, n, there);
		if (!there)
			return 0;
		if (ga_gather_envrc(g, dir))
			return -1;
	}
	return 0;
}

int ga_reach_envrc(struct ga_repo *r, const struct ga_changes *changes, struct ga_reach *ret,
		   struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = r, .info = ga_repo_info(r), .reach = ret, .err = err, .workfd = -1
	};
	cleanup_strmap struct ga_strmap seen = GA_STRMAP_INIT;

	if (ga_gather_begin(&g))
		return -1;
	for (size_t i = 0; i < changes->n; i++)
		if (read_above(&g, changes->v[i].path, &seen))
			return -1;
	return 0;
}

int ga_reach_gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_reach *ret,
		    struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = r, .info = ga_repo_info(r), .reach = ret, .err = err, .workfd = -1
	};

	/* one after the other, so that a moment's reason is that of its own source */
	return ga_gather_begin(&g) || gather_hooks(&g, c) || ga_gather_follow(&g) ||
			       gather_settings(&g, c) || gather_home(&g) ||
			       ga_gather_follow(&g) || ga_gather_envrc(&g, "")
		       ? -1
		       : 0;
}
