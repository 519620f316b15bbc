/* SPDX-License-Identifier: MIT
 *
 * Shims: scripts named after agents, for the front of PATH, which start the agent in a sandbox when
 * called in a repository.
 */
#include "cli/cli.h"

/* The second line identifies a shim, however PATH spells its directory. */
#define MARK "# git-agent shim"
#define SHIM_MAX ((size_t)16 << 10)

/* The rest of the script. `rest` is PATH without directories that have this shim, in which a start
 * finds the command and what to show of PATH. */
static const char script[] =
	"rest='' real=''\n"
	"set -f\n"
	"IFS=:\n"
	"for dir in $PATH; do\n"
	"\t# what is in others depends on the current directory, and agents write there\n"
	"\tcase $dir in /*) ;; *) continue ;; esac\n"
	"\tif [ -f \"$dir/$name\" ] && [ -x \"$dir/$name\" ]; then\n"
	"\t\tcase $(head -c 100 \"$dir/$name\" 2>/dev/null | tr -d '\\000') in\n"
	"\t\t*'" MARK "'*) continue ;;\n"
	"\t\tesac\n"
	"\t\t[ -n \"$real\" ] || real=$dir/$name\n"
	"\tfi\n"
	"\trest=$rest${rest:+:}$dir\n"
	"done\n"
	"unset IFS\n"
	"set +f\n"
	"if [ -z \"$real\" ]; then\n"
	"\techo \"$name: not found on PATH, but for the shim of git-agent\" >&2\n"
	"\texit 127\n"
	"fi\n"
	"case ${GIT_AGENT_SESSION:+inside}${GIT_AGENT_SHIM-} in\n"
	"'') ;;\n"
	"*) exec \"$real\" \"$@\" ;;\n"
	"esac\n"
	"# what only says something of the command needs no session\n"
	"case $#,${1-} in\n"
	"1,--version | 1,--help | 1,-v | 1,-V | 1,-h) exec \"$real\" \"$@\" ;;\n"
	"esac\n"
	"if [ \"$(git rev-parse --is-inside-work-tree 2>/dev/null)\" != true ]; then\n"
	"\texec \"$real\" \"$@\"\n"
	"fi\n"
	"PATH=$rest\n"
	"export PATH\n"
	"if command -v git-agent >/dev/null; then\n"
	"\texec git-agent start -- \"$name\" \"$@\"\n"
	"fi\n"
	"exec git agent start -- \"$name\" \"$@\"\n";

struct options {
	bool json;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(json, "json", 0, "print JSON (docs/json.md), with status"),
};

/* ---- what there is ------------------------------------------------------- */

static bool is_agent(const struct cli *c, const char *name)
{
	/* not bash: scripts run it */
	return strcmp(name, "bash") != 0 && ga_preset_find(&c->env.agents, name);
}

static bool is_shim(int dir, const char *name)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       !ga_read_file_at(dir, name, SHIM_MAX, &text, GA_IGNORED) && text.len &&
	       strstr(text.ptr, "\n" MARK);
}

static void list_shims(const char *path, struct ga_strv *ret)
{
	cleanup_dir DIR *d = opendir(path);
	struct dirent *e;

	while ((e = ga_dir_next(d)))
		if (is_shim(dirfd(d), e->d_name))
			ga_strv_push(ret, e->d_name);
	ga_strv_sort_unique(ret);
}

/* Would a shell in any directory run the shim? Not if an earlier entry depends on the current
 * directory: an empty or relative one. */
static bool is_first(const char *dir, const char *name)
{
	const char *path = getenv("PATH");
	cleanup_free char *file = ga_path_join(dir, name);
	struct stat x, y;

	for (const char *p = path; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		cleanup_free char *at = ga_strndup(p, strcspn(p, ":"));
		cleanup_free char *found = ga_path_join(at, name);

		if (at[0] != '/')
			return false;
		if (ga_is_program(found))
			return !stat(found, &x) && !stat(file, &y) && x.st_dev == y.st_dev &&
			       x.st_ino == y.st_ino;
	}
	return false;
}

/* ---- install -------------------------------------------------------------- */

static int check_name(const struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_buf struct ga_buf names = GA_BUF_INIT;

	if (is_agent(c, name))
		return 0;
	for (size_t i = 0; ga_preset_at(&c->env.agents, i); i++)
		if (is_agent(c, ga_preset_at(&c->env.agents, i)->name))
			ga_buf_addf(&names, "%s%s", names.len ? ", " : "",
				    ga_preset_at(&c->env.agents, i)->name);
	return ga_fail(err, GA_EUSAGE, "'%s' is not a known agent" GA_HINT "there are shims for %s",
		       name, names.ptr);
}

static int install_one(int dir, const char *path, const char *name, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *file = ga_path_join(path, name);

	if (!faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) && !is_shim(dir, name))
		return ga_fail(err, GA_ELOSE, "'%s' is there, and is not a shim of git-agent"
			       GA_HINT "move it away", file);
	ga_buf_addf(&text, "#!/bin/sh\n" MARK ": in a repository '%s' starts in a sandbox.\n"
		    "# 'git agent shim remove %s' removes it; GIT_AGENT_SHIM=off passes it over.\n"
		    "name=%s\n", name, name, name);
	ga_buf_adds(&text, script);
	return ga_write_atomic(dir, name, text.ptr, text.len, 0755, err);
}

/* Profiles are the user's: say which line to add. */
static void print_path_hint(const char *dir)
{
	const char *shell = getenv("SHELL"), *slash = shell ? strrchr(shell, '/') : NULL;
	cleanup_free char *word = ga_quote_shell(dir);
	bool fish = slash && !strcmp(slash + 1, "fish");

	cli_note("put it first on PATH: add this line to %s, and begin a new shell",
		 fish ? "~/.config/fish/config.fish" : "the profile of your shell, at its end");
	if (fish)
		(void)printf("fish_add_path --prepend --move %s\n", word);
	else
		(void)printf("export PATH=%s:\"$PATH\"\n", word);
}

static int install(struct cli *c, const char *dir, size_t argc, char **argv, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_close int fd = -1;
	bool first = true;

	for (size_t i = 0; i < argc; i++) {
		if (check_name(c, argv[i], err))
			return -1;
		ga_strv_push(&names, argv[i]);
	}
	for (size_t i = 0; !argc && ga_preset_at(&c->env.agents, i); i++) {
		const char *name = ga_preset_at(&c->env.agents, i)->name;
		cleanup_free char *found = NULL;

		if (is_agent(c, name))
			found = ga_find_program(c->env.path, name);
		if (found)
			ga_strv_push(&names, name);
	}
	if (!names.n)
		return ga_fail(err, GA_ENEGATIVE, "none of the known agents is on PATH" GA_HINT
			       "name those that shims are to be made for");
	if (ga_mkdir_p(dir, 0755, err))
		return -1;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", dir);
	for (size_t i = 0; i < names.n; i++) {
		if (install_one(fd, dir, names.v[i], err))
			return -1;
		cli_note("%s: in a repository it starts in a sandbox", names.v[i]);
		first = first && is_first(dir, names.v[i]);
	}
	if (!first)
		print_path_hint(dir);
	return 0;
}

/* ---- remove, status -------------------------------------------------------- */

static int remove_shims(const char *dir, size_t argc, char **argv, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	cleanup_close int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *q = NULL;

	if (!argc)
		list_shims(dir, &names);
	for (size_t i = 0; i < argc; i++)
		ga_strv_push(&names, argv[i]);
	for (size_t i = 0; i < names.n; i++) {
		free(q);
		q = ga_escape(names.v[i]);
		if (fd < 0 || strchr(names.v[i], '/') || !is_shim(fd, names.v[i]))
			return ga_fail(err, GA_ENEGATIVE, "there is no shim for '%s'", q);
		if (unlinkat(fd, names.v[i], 0))
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove the shim for "
					     "'%s'", q);
		cli_note("%s: starts as it did without a shim", q);
	}
	(void)rmdir(dir);
	return 0;
}

static int status(const struct cli *c, const char *dir, bool json, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	json_t *list = json_array();
	bool all_first = true;

	list_shims(dir, &names);
	for (size_t i = 0; i < names.n; i++) {
		cleanup_free char *real = ga_find_program(c->env.path, names.v[i]);
		cleanup_free char *name = ga_quote(names.v[i]);
		bool first = is_first(dir, names.v[i]);
		json_t *o = json_object();

		all_first = all_first && first;
		ga_json_set_bytes(o, "name", names.v[i]);
		ga_json_set(o, "first", json_boolean(first));
		ga_json_set_bytes(o, "real", real);
		ga_json_add(list, o);
		if (!json)
			(void)printf("%-14s %-9s for %s\n", name, first ? "in use" : "not first",
				     GA_QUOTED(real ? real : "nothing"));
	}
	if (json)
		return cli_print_json(list, err);
	json_decref(list);
	if (!names.n)
		(void)puts("no shim is installed");
	else if (!all_first)
		print_path_hint(dir);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;
	const char *word = argc ? argv[0] : "status";
	cleanup_free char *dir = cli_shims(c->env.home);
	bool is_status = !strcmp(word, "status");

	if (o->json && !is_status)
		return ga_fail(err, GA_EUSAGE, "--json goes with status");
	if (is_status && argc > 1)
		return ga_fail(err, GA_EUSAGE, "status takes no names");
	if (is_status)
		return status(c, dir, o->json, err);
	if (!strcmp(word, "install"))
		return install(c, dir, argc - 1, argv + 1, err);
	if (!strcmp(word, "remove"))
		return remove_shims(dir, argc - 1, argv + 1, err);
	return ga_fail(err, GA_EUSAGE, "shim takes install, remove or status, not '%s'",
		       word);
}

CLI_COMMAND(shim, "[install [NAME...] | remove [NAME...] | status [--json]]",
	    "make agents start in a sandbox when they are called by name",
	    "install|remove|status AGENT...", .needs = CLI_NEED_SETTINGS);
