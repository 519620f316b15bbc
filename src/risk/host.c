/* SPDX-License-Identifier: MIT
 *
 * What the host's own state makes critical. Only files of the host are read: its git configuration,
 * its hooks, and in its working tree what those name. Nothing a session wrote is looked at.
 */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/lfs.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"

enum { HOOK_MAX = 256 << 10, LINKS_MAX = 40, FACTS_MAX = 8192 };

/* Add a fact that covers every path. */
static void facts_cut(struct ga_host_facts *h, const char *rule, const char *why)
{
	ga_host_facts_add(h, "", true, rule,
			  ga_strf("%s: what else is meant is not known, so any path may be", why));
}

void ga_gather_cut(struct ga_gather *g, const char *rule, const char *why)
{
	facts_cut(g->h, rule, why);
}

bool ga_gather_read(struct ga_gather *g, const char *path, const char *rule, struct ga_buf *out)
{
	cleanup_free char *full = ga_path_join(g->info->workdir, path), *shown = ga_quote(path);
	cleanup_free char *why = ga_strf("%s cannot be read to its end", shown);
	cleanup_close int fd = open(full, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct stat st;

	if (stat(full, &st) || !S_ISREG(st.st_mode))
		return false;
	if (fd >= 0 && !ga_read_fd(fd, GA_HOST_TEXT_MAX, out, &ignored))
		return true;
	ga_gather_cut(g, rule, why);
	return false;
}

void ga_gather_raise(struct ga_gather *g, const char *rule, const char *by)
{
	if (ga_strv_has(&g->h->raised, rule))
		return;
	ga_strv_push(&g->h->raised, rule);
	ga_strv_push(&g->h->raised_by, by);
}

void ga_gather_tool(struct ga_gather *g, const char *word, const char *next, const char *what)
{
	const char *rules = ga_tool_rules(word);
	cleanup_free char *copy = NULL;
	char *save = NULL;

	if (!rules)
		return;
	copy = ga_strf("%s%s", rules, ga_tool_runs_tests(word, next) ? " test-code" : "");
	for (char *id = strtok_r(copy, " ", &save); id; id = strtok_r(NULL, " ", &save)) {
		cleanup_free char *by = ga_strf("%s, which calls %s", what, word);

		ga_gather_raise(g, id, by);
	}
}

/* ---- paths of the host ------------------------------------------------------ */

int ga_gather_kind(struct ga_gather *g, const char *path, enum ga_kind *ret)
{
	struct ga_entry e = { GA_MODE_NONE, { { 0 } } };
	cleanup_free char *full = ga_path_join(g->info->workdir, path);
	struct stat st;

	*ret = GA_KIND_NONE;
	if (!ga_path_relative_ok(path))
		return 0;
	if (g->have_tree && ga_tree_entry(g->repo, &g->tree, path, &e, g->err))
		return -1;
	if (e.mode != GA_MODE_NONE)
		*ret = e.mode == GA_MODE_TREE ? GA_KIND_DIR : GA_KIND_FILE;
	else if (!lstat(full, &st))
		*ret = S_ISDIR(st.st_mode) ? GA_KIND_DIR : GA_KIND_FILE;
	return 0;
}

void ga_host_facts_extend(struct ga_host_facts *h, const struct ga_host_facts *of,
			  const char *path)
{
	for (size_t i = 0; i < of->n; i++) {
		const struct ga_host_fact *f = &of->v[i];
		const char *below = ga_path_below(f->path, path);
		bool all = (below && !*below) ||
			   (f->dir && (!*f->path || ga_path_inside(path, f->path)));

		if (!all && !below)
			continue;
		if (h->n >= FACTS_MAX)
			facts_cut(h, f->rule, f->reason);
		else
			ga_host_facts_add(h, all ? "" : below, all || f->dir, f->rule,
					  ga_strdup(f->reason));
	}
	ga_strv_extend(&h->raised, &of->raised);
	ga_strv_extend(&h->raised_by, &of->raised_by);
	h->guard = h->guard || of->guard;
}

/* The part of an absolute path beneath the working tree, NULL if there is none or
 * it is git's own. */
static const char *below_workdir(const struct ga_gather *g, const char *path)
{
	const char *below = ga_path_below(path, g->info->workdir);

	if (!below || !strcmp(below, ".git") || !strncmp(below, ".git/", 5))
		return NULL;
	return below;
}

/* Does every path count for this rule already, and is there no room for more facts? */
static bool is_full(const struct ga_gather *g, const char *rule)
{
	return g->h->n >= FACTS_MAX && ga_host_facts_have(g->h, "", true, rule);
}

static void add_fact(struct ga_gather *g, const char *path, bool dir, const char *rule,
		     const char *what)
{
	if (g->h->n < FACTS_MAX)
		ga_host_facts_add(g->h, path, dir, rule, ga_strdup(what));
	else
		ga_gather_cut(g, rule, what);
}

/* Move `at` on by one component. If that is a link, note it, stay, and return its target. */
static char *step(struct ga_gather *g, struct ga_buf *at, const char *part, const char *rule,
		  const char *what)
{
	char target[PATH_MAX];
	const char *below;
	ssize_t n;
	char *next;

	if (!*part || !strcmp(part, "."))
		return NULL;
	if (!strcmp(part, "..")) {
		char *slash = strrchr(at->ptr, '/');

		ga_buf_truncate(at, slash && slash > at->ptr ? (size_t)(slash - at->ptr) : 1);
		return NULL;
	}
	next = ga_path_join(at->ptr, part);
	n = readlink(next, target, sizeof(target) - 1);
	if (n <= 0) {
		ga_buf_clear(at);
		ga_buf_adds(at, next);
		free(next);
		return NULL;
	}
	below = below_workdir(g, next);
	if (below)
		add_fact(g, below, false, rule, what);
	free(next);
	return ga_strndup(target, (size_t)n);
}

void ga_gather_path(struct ga_gather *g, const char *path, bool dir, const char *rule,
		    const char *what)
{
	cleanup_buf struct ga_buf at = GA_BUF_INIT;
	cleanup_free char *rest = NULL;
	const char *below;
	int links = 0;

	if (is_full(g, rule))
		return;
	rest = ga_strdup(path);
	ga_buf_adds(&at, "/");
	while (*rest) {
		size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");
		cleanup_free char *part = ga_strndup(rest + skip, n);
		cleanup_free char *target = step(g, &at, part, rule, what);
		char *more;

		if (target && ++links > LINKS_MAX)
			return;
		if (target && *target == '/') {
			ga_buf_clear(&at);
			ga_buf_adds(&at, "/");
		}
		more = target ? ga_strf("%s/%s", target, rest + skip + n) :
				ga_strdup(rest + skip + n);
		free(rest);
		rest = more;
	}
	below = below_workdir(g, at.ptr);
	if (below)
		add_fact(g, below, dir, rule, what);
}

/* ---- configuration ------------------------------------------------------------ */

/* A path value made absolute: "~/x", "/x", or beneath `base`. */
static char *absolute(const struct ga_gather *g, const char *base, const char *value)
{
	if (!strncmp(value, "~/", 2) && g->home)
		return ga_path_join(g->home, value + 2);
	if (value[0] == '/')
		return ga_strdup(value);
	return ga_path_join(base, value);
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcasecmp(s + n - m, end);
}

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
	       (begins_with(key, "remote.") && !ends_in(key, ".uploadpack") &&
		!ends_in(key, ".receivepack") && !ends_in(key, ".vcs")) ||
	       (begins_with(key, "submodule.") && !ends_in(key, ".update"));
}

static bool is_path_value(const char *key)
{
	static const char *const keys[] = {
		"core.attributesfile", "core.excludesfile", "core.fsmonitor", "commit.template",
		"blame.ignorerevsfile", "gpg.program", "gpg.ssh.allowedsignersfile",
		"gpg.ssh.revocationfile", "mailmap.file", "core.sshcommand", "core.askpass",
		"http.cookiefile", "http.sslcert", "http.sslcainfo", "init.templatedir",
	};

	for (size_t i = 0; i < GA_NELEMS(keys); i++)
		if (!strcasecmp(key, keys[i]))
			return true;
	return false;
}

/* "filter.NAME.clean" and the like: remember that the driver exists. */
static void note_driver(struct ga_gather *g, const char *key)
{
	static const struct {
		const char *section, *variable;
	} kinds[] = {
		{ "filter", ".clean" }, { "filter", ".smudge" }, { "filter", ".process" },
		{ "diff", ".textconv" }, { "diff", ".command" }, { "merge", ".driver" },
	};

	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		size_t n = strlen(kinds[i].section), m = strlen(kinds[i].variable);
		cleanup_free char *name = NULL, *driver = NULL;

		if (!begins_with(key, kinds[i].section) || key[n] != '.' ||
		    !ends_in(key, kinds[i].variable) || strlen(key) <= n + 1 + m)
			continue;
		name = ga_strndup(key + n + 1, strlen(key) - n - 1 - m);
		driver = ga_strf("%s:%s", kinds[i].section, name);
		if (!ga_strv_has(&g->h->drivers, driver))
			ga_strv_push(&g->h->drivers, driver);
	}
}

/* The file an item was read from, if it lies in the working tree, is configuration
 * that the project brings with it. */
static void note_origin(struct ga_gather *g, const char *origin, char **ret_dir)
{
	const char *file = origin && begins_with(origin, "file:") ? origin + 5 : NULL;
	cleanup_free char *path = NULL;

	if (!file)
		return;
	path = absolute(g, g->info->workdir, file);
	ga_gather_path(g, path, false, "host-config-reached",
		       "the host's git configuration includes it");
	*ret_dir = ga_path_parent(path);
}

static int scan_item(struct ga_gather *g, const struct ga_gitconfig_item *item)
{
	cleanup_free char *key = ga_quote(item->key), *what = ga_strf("in %s", key), *path = NULL;
	cleanup_free char *origin_dir = NULL;
	bool hook = begins_with(item->key, "hook.") && ends_in(item->key, ".command");
	struct ga_scan s = { what, hook ? "hook-config-command" : "host-config-reached",
			     hook || !strcasecmp(item->key, "core.fsmonitor"), true, hook, NULL };

	note_driver(g, item->key);
	note_origin(g, item->origin, &origin_dir);
	if (!item->has_value || !item->value || !*item->value || is_data(item->key) ||
	    !strcasecmp(item->key, "core.hookspath"))
		return 0;
	if ((begins_with(item->key, "include.") || begins_with(item->key, "includeif.")) &&
	    ends_in(item->key, ".path")) {
		path = absolute(g, origin_dir ? origin_dir : g->info->workdir, item->value);
		ga_gather_path(g, path, false, s.rule, what);
		return 0;
	}
	if (is_path_value(item->key) && !strchr(item->value, ' ')) {
		path = absolute(g, g->info->workdir, item->value);
		if (strchr(item->value, '/') || !access(path, F_OK))
			ga_gather_path(g, path, false, s.rule, what);
	}
	return ga_scan_text(g, &s, item->value);
}

/* ---- hooks ------------------------------------------------------------------------ */

static int scan_hook(struct ga_gather *g, int dirfd, const char *dir, const char *name)
{
	cleanup_free char *path = ga_path_join(dir, name), *shown = ga_quote(name);
	cleanup_free char *what = ga_strf("the hook %s of this clone", shown);
	cleanup_close int fd = openat(dirfd, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct ga_scan s = { what, "host-hook-reached", true, false, true, NULL };
	struct stat st;

	ga_gather_path(g, path, false, "host-hook-reached", what);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return 0;
	/* Only the beginning of a longer file is read. Hooks of that size are binary programs, in
	 * which nothing would be found anyway; a script of that size is cut (see below). */
	(void)ga_read_most(fd, HOOK_MAX, &text);
	if (text.len >= HOOK_MAX && !strncmp(text.ptr, "#!", 2)) {
		cleanup_free char *why = ga_strf("%s is too long to be read", what);

		ga_gather_cut(g, s.rule, why);
	}
	ga_buf_adds(&g->texts, text.ptr);
	ga_buf_addch(&g->texts, '\n');
	return ga_scan_text(g, &s, text.ptr);
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
		if (e->d_name[0] != '.' && !ends_in(e->d_name, ".sample"))
			r = scan_hook(g, dirfd(d), dir, e->d_name);
	return r;
}

/* Scan each hook directory that any value names: which one counts may depend on conditions. */
static int scan_hook_dirs(struct ga_gather *g, const struct ga_gitconfig *c)
{
	cleanup_free char *own = ga_path_join(g->info->commondir, "hooks");

	ga_gather_path(g, own, true, "hooks-path-configured", "this clone's hook directory");
	if (scan_hooks(g, own))
		return -1;
	for (size_t i = 0; i < c->n; i++) {
		cleanup_free char *path = NULL, *parent = NULL;

		if ((strcasecmp(c->v[i].key, "core.hookspath") != 0 &&
		     strcasecmp(c->v[i].key, "agent.hookspath") != 0) ||
		    !c->v[i].value || !*c->v[i].value)
			continue;
		path = absolute(g, g->info->workdir, c->v[i].value);
		while (strlen(path) > 1 && path[strlen(path) - 1] == '/')
			path[strlen(path) - 1] = '\0';
		ga_gather_path(g, path, true, "hooks-path-configured", "core.hooksPath");
		if (scan_hooks(g, path))
			return -1;
		/* Husky's "_" holds stubs that run the file of the same name above. */
		parent = ga_path_parent(path);
		if (!strcmp(ga_path_base(path), "_") && scan_hooks(g, parent))
			return -1;
	}
	return 0;
}

/* Scan scripts that hooks name. Scripts that these name in turn are not read. */
static int scan_scripts(struct ga_gather *g)
{
	for (; g->scripts_read < g->scripts.n; g->scripts_read++) {
		const char *name = g->scripts.v[g->scripts_read];
		cleanup_free char *shown = ga_quote(name);
		cleanup_free char *what = ga_strf("%s, which a hook or an .envrc runs", shown);
		cleanup_buf struct ga_buf text = GA_BUF_INIT;
		struct ga_scan s = { what, "host-hook-reached", true, false, false, g->cwd };

		if (!ga_gather_read(g, name, s.rule, &text))
			continue;
		/* A shell script's words are commands; another language's are data. */
		if (!ends_in(name, ".sh") &&
		    !(text.len > 2 && !memcmp(text.ptr, "#!", 2) &&
		      memmem(text.ptr, strcspn(text.ptr, "\n"), "sh", 2)))
			continue;
		ga_buf_adds(&g->texts, text.ptr);
		if (ga_scan_text(g, &s, text.ptr))
			return -1;
	}
	return 0;
}

/* Scripts call tools, and what these read names scripts, until there is nothing new. */
int ga_gather_reached(struct ga_gather *g)
{
	size_t inputs, scripts;

	do {
		inputs = g->inputs.n;
		scripts = g->scripts.n;
		if (scan_scripts(g) || ga_gather_inputs(g))
			return -1;
	} while (g->inputs.n > inputs || g->scripts.n > scripts);
	return 0;
}

void ga_gather_release(struct ga_gather *g)
{
	free(g->home);
	ga_strv_release(&g->scripts);
	ga_strv_release(&g->dirs);
	ga_strv_release(&g->inputs);
	ga_buf_release(&g->texts);
	ga_strmap_release(&g->by_base);
	ga_strmap_release(&g->tails_seen);
	ga_strv_release(&g->tails);
	ga_changes_release(&g->all);
}

int ga_gather_tree(struct ga_gather *g)
{
	struct ga_oid head;
	char *branch = NULL;
	int r = ga_repo_head(g->repo, &head, &branch, g->err);

	free(branch);
	if (r)
		return r < 0 ? -1 : 0;
	g->have_tree = true;
	return ga_commit_tree(g->repo, &head, &g->tree, g->err);
}

static int gather(struct ga_gather *g, const struct ga_gitconfig *c)
{
	cleanup_close int workfd = -1;

	ga_gather_home(g);
	if (ga_gather_tree(g) || scan_hook_dirs(g, c))
		return -1;
	ga_gather_environment(g);
	for (size_t i = 0; i < c->n; i++)
		if (scan_item(g, &c->v[i]))
			return -1;
	workfd = open(g->info->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (workfd < 0)
		return ga_fail_path(g->err, errno, "open", g->info->workdir);
	if (ga_envrc_read(g, workfd, "") || ga_gather_reached(g))
		return -1;
	g->h->lfs_store = ga_lfs_store(g->repo, c);
	if (ga_strv_has(&g->h->drivers, "filter:lfs"))
		ga_gather_raise(g, "lfsconfig", "git-lfs");
	if (ga_gitconfig_bool(c, "submodule.recurse", false))
		ga_gather_raise(g, "gitmodules", "every checkout, since submodule.recurse is set");
	return 0;
}

/* Add the facts of a superproject: its hooks may run what is in the submodule. */
static int gather_around(struct ga_repo *r, struct ga_host_facts *h, struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig config = GA_GITCONFIG_INIT;
	cleanup_host_facts struct ga_host_facts of = GA_HOST_FACTS_INIT;
	cleanup_repo struct ga_repo *super = NULL;
	int rc = ga_repo_superproject(r, &super, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_gitconfig_load(super, &config, err) ||
	    ga_host_facts_gather(super, &config, NULL, &of, err))
		return -1;
	ga_host_facts_extend(h, &of, ga_path_below(ga_repo_info(r)->workdir,
						   ga_repo_info(super)->workdir));
	return 0;
}

int ga_host_facts_gather(struct ga_repo *r, const struct ga_gitconfig *c,
			 const struct ga_risk_paths *paths, struct ga_host_facts *ret,
			 struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = r, .info = ga_repo_info(r), .err = err, .texts = GA_BUF_INIT,
	};
	cleanup_host_facts struct ga_host_facts h = GA_HOST_FACTS_INIT;

	g.h = &h;
	h.guard = ga_gitconfig_bool(c, "agent.guard", false);
	if (gather(&g, c) || gather_around(r, &h, err) ||
	    ga_filters_gather(r, c, paths ? &paths->filters : NULL, &h, err))
		return -1;
	h.matcher = ga_matcher_new();
	h.index = ga_fact_index_new(&h);
	h.configured = ga_configured_new(paths);
	*ret = h;
	h = (struct ga_host_facts)GA_HOST_FACTS_INIT;
	return 0;
}
