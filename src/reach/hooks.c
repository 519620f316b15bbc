/* SPDX-License-Identifier: MIT
 *
 * The hooks of this clone.
 */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "gather.h"

enum { WORKTREES_MAX = 256 };

static const char rule[] = "host-hook-reached";

static int scan_hook(struct ga_gather *g, int dirfd, const char *dir, const char *name)
{
	cleanup_free char *path = ga_path_join(dir, name), *shown = ga_quote(name);
	cleanup_free char *what = ga_strf("the hook %s", shown), *in_project = NULL;
	const char *below = ga_path_below(dir, g->info->workdir);
	struct ga_source s = {
		.what = what, .rule = rule, .hook = name, .part = name, .name = name,
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
	const struct ga_source s = { .what = what,
				     .rule = "hooks-path-configured",
				     .hook = "",
				     .part = "",
				     .name = "",
				     .when = GA_REACH_GIT };
	cleanup_free char *parent = ga_path_parent(dir);

	ga_gather_path(g, &s, all, true);
	ga_gather_path(g, &s, dir, true);
	if (scan_hooks(g, dir))
		return -1;
	/* Husky's "_" holds stubs that run the file of the same name above. */
	return !strcmp(ga_path_base(dir), "_") && scan_hooks(g, parent) ? -1 : 0;
}

/* The working tree of a linked worktree's git directory; NULL: there is none, as for a session. */
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

static int scan_value(struct ga_gather *g, const char *value, const struct ga_strv *trees)
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
		if (*value && scan_value(g, value, trees))
			return -1;
	}
	return 0;
}

/* Scan each hook directory that any value names: which one counts may depend on conditions. */
int ga_gather_hooks(struct ga_gather *g, const struct ga_gitconfig *c)
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
		    c->v[i].value && *c->v[i].value && scan_value(g, c->v[i].value, &trees))
			return -1;
	return 0;
}
