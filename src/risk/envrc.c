/* SPDX-License-Identifier: MIT
 *
 * What direnv loads without asking, because an .envrc that the user has allowed names it, and what
 * that runs: whenever the directory is entered, like a hook.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "host.h"

enum { ENVRC_MAX = 256 << 10 };

static void add(struct ga_host_facts *h, const char *dir, const char *name, bool is_dir)
{
	cleanup_free char *path = ga_path_resolve(dir, name);
	cleanup_free char *file = NULL, *shown = NULL;

	/* the root itself is no file */
	if (!path || (!*path && !is_dir))
		return;
	file = ga_path_join(dir, ".envrc");
	shown = ga_quote(file);
	ga_host_facts_add(h, path, is_dir, "direnv-dependents", ga_strf("named in %s", shown));
}

/* The words behind a command, up to the end of the line or a comment. */
static void add_words(struct ga_host_facts *h, const char *dir, char *rest, bool is_dir,
		      const char *without)
{
	char *save = NULL;
	bool any = false;

	for (char *w = strtok_r(rest, " \t\"';()", &save); w && *w != '#';
	     w = strtok_r(NULL, " \t\"';()", &save)) {
		if (*w == '-')
			continue;
		add(h, dir, w, is_dir);
		any = true;
	}
	if (!any && without)
		add(h, dir, without, is_dir);
}

static void envrc_line(const char *dir, char *line, struct ga_host_facts *h)
{
	static const struct {
		const char *command;
		bool dir;
		const char *without; /* the file it means without an argument, or NULL */
	} commands[] = {
		{ "source_env", false, NULL },       { "source_env_if_exists", false, NULL },
		{ "source_up", false, "../.envrc" }, { "source_up_if_exists", false, "../.envrc" },
		{ "source", false, NULL },           { ".", false, NULL },
		{ "watch_file", false, NULL },       { "watch_dir", true, NULL },
		{ "dotenv", false, ".env" },         { "dotenv_if_exists", false, ".env" },
		{ "PATH_add", true, NULL },          { "path_add", true, NULL },
		{ "load_prefix", true, NULL },       { "env_vars_file", false, NULL },
	};
	char *word = line + strspn(line, " \t"), *rest;
	size_t n = strcspn(word, " \t;");

	rest = word + n;
	if (*rest)
		*rest++ = '\0';
	if (!strcmp(word, "use")) {
		const char *what = rest + strspn(rest, " \t");

		if (!strncmp(what, "flake", 5)) {
			add(h, dir, "flake.nix", false);
			add(h, dir, "flake.lock", false);
		} else if (!strncmp(what, "nix", 3)) {
			add(h, dir, "shell.nix", false);
			add(h, dir, "default.nix", false);
		} else if (!strncmp(what, "mise", 4) || !strncmp(what, "asdf", 4)) {
			add(h, dir, ".tool-versions", false);
		}
		return;
	}
	for (size_t i = 0; i < GA_NELEMS(commands); i++)
		if (!strcmp(word, commands[i].command))
			add_words(h, dir, rest, commands[i].dir, commands[i].without);
}

/* Add what the text of an .envrc in `dir` ("" for the root) loads by itself. */
static void envrc_facts(const char *dir, const char *text, struct ga_host_facts *h)
{
	cleanup_free char *copy = ga_strdup(text);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		envrc_line(dir, line, h);
}

int ga_envrc_read(struct ga_gather *g, int workfd, const char *dir)
{
	cleanup_free char *path = ga_path_join(dir, ".envrc"), *shown = ga_quote(path);
	cleanup_free char *what = ga_strf("%s names or runs it", shown);
	const struct ga_scan s = { .what = what, .rule = "direnv-dependents", .hook = true,
				   .deeper = true, .dir = dir };
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_close int fd = ga_openat_beneath(workfd, path, O_RDONLY | O_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	if (ga_read_fd(fd, ENVRC_MAX, &text, &err)) {
		ga_host_facts_add(g->h, dir, true, s.rule,
				  ga_strdup("the .envrc there could not be read"));
		return 0;
	}
	envrc_facts(dir, text.ptr, g->h);
	ga_buf_adds(&g->texts, text.ptr);
	ga_buf_addch(&g->texts, '\n');
	return ga_scan_text(g, &s, text.ptr);
}

/* Read the .envrc files of the directories above a path, from the top down to one that is missing.
 */
static int read_above(struct ga_gather *g, int workfd, const char *path, struct ga_strmap *seen)
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
			!fstatat(workfd, dir, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode);
		ga_strmap_add(seen, path, n, there);
		if (!there)
			return 0;
		g->cwd = dir;
		if (ga_envrc_read(g, workfd, dir) || ga_gather_reached(g))
			return -1;
		g->cwd = NULL;
	}
	return 0;
}

int ga_nested_envrc_facts(struct ga_repo *r, const struct ga_changes *changes,
			  struct ga_host_facts *h, struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = { .repo = r, .info = ga_repo_info(r),
							   .h = h, .err = err,
							   .texts = GA_BUF_INIT };
	cleanup_strmap struct ga_strmap seen = GA_STRMAP_INIT;
	const char *root = g.info->workdir;
	cleanup_close int workfd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (workfd < 0)
		return ga_fail_path(err, errno, "open", root);
	ga_gather_home(&g);
	if (ga_gather_tree(&g))
		return -1;
	for (size_t i = 0; i < changes->n; i++)
		if (read_above(&g, workfd, changes->v[i].path, &seen))
			return -1;
	return 0;
}
