/* SPDX-License-Identifier: MIT
 *
 * From words to patterns and files, and from files to more words.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "gather.h"

enum { LIST_MAX = 2000000, LINKS_MAX = 40, GLOB_MAX = 64 };

int ga_gather_begin(struct ga_gather *g)
{
	const char *home = ga_env_get("HOME");
	size_t n = home && home[0] == '/' ? strlen(home) : 0;
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int r;

	while (n > 1 && home[n - 1] == '/')
		n--;
	if (n)
		g->home = ga_strndup(home, n);
	g->workfd = open(g->info->workdir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (g->workfd < 0)
		return ga_fail_path(g->err, errno, "open", g->info->workdir);
	r = ga_repo_head(g->repo, &head, &branch, g->err);
	g->have_tree = !r;
	return r ? (r < 0 ? -1 : 0) : ga_commit_tree(g->repo, &head, &g->tree, g->err);
}

void ga_gather_release(struct ga_gather *g)
{
	if (g->workfd >= 0)
		(void)close(g->workfd);
	free(g->home);
	ga_changes_release(&g->all);
	ga_strmap_release(&g->by_base);
	ga_strmap_release(&g->seen);
	ga_strv_release(&g->seen_files);
	ga_strv_release(&g->scripts);
	for (size_t i = 0; i < g->n_queue; i++) {
		free(g->queue[i].path);
		free(g->queue[i].what);
		free(g->queue[i].hook);
		free(g->queue[i].part);
	}
	free(g->queue);
}

int ga_gather_read(int fd, struct ga_buf *out)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	char magic[4];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4)))
		return 1;
	if (ga_read_fd(fd, GA_HOST_TEXT_MAX, out, &ignored))
		return -1;
	for (size_t i = 0; i < out->len; i++)
		if (!out->ptr[i])
			out->ptr[i] = ' ';
	return 0;
}

/* ---- what is reached ------------------------------------------------------------- */

void ga_gather_cut(struct ga_gather *g, const struct ga_source *s, const char *why)
{
	cleanup_free char *all =
		ga_strf("%s: what else is meant is not known, so any path may be", why);

	ga_reach_add(g->reach, GA_REACH_BELOW, s->when, s->rule, "", all);
}

static void reached(struct ga_gather *g, const struct ga_source *s, enum ga_reach_what what,
		    const char *text)
{
	if (g->reach->n < GA_REACHED_MAX)
		ga_reach_add(g->reach, what, s->when, s->rule, text, s->what);
	else
		ga_gather_cut(g, s, s->what);
}

/* The part of an absolute path beneath the working tree, NULL if there is none or it is git's own.
 */
static const char *below_workdir(const struct ga_gather *g, const char *path)
{
	const char *below = ga_path_below(path, g->info->workdir);

	return below && strcmp(below, ".git") != 0 && strncmp(below, ".git/", 5) ? below : NULL;
}

/* Move `at` on by one component. If that is a link, note it, stay, and return its target. */
static char *step(struct ga_gather *g, const struct ga_source *s, struct ga_buf *at,
		  const char *part)
{
	cleanup_free char *next = NULL;
	char target[PATH_MAX];
	ssize_t n;

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
		return NULL;
	}
	if (below_workdir(g, next))
		reached(g, s, GA_REACH_FILE, below_workdir(g, next));
	return ga_strndup(target, (size_t)n);
}

void ga_gather_path(struct ga_gather *g, const struct ga_source *s, const char *path, bool dir)
{
	cleanup_buf struct ga_buf at = GA_BUF_INIT;
	cleanup_free char *rest = ga_strdup(path);
	int links = 0;

	ga_buf_adds(&at, "/");
	while (*rest) {
		size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/");
		cleanup_free char *part = ga_strndup(rest + skip, n);
		cleanup_free char *target = step(g, s, &at, part);
		char *more;

		if (target && ++links > LINKS_MAX)
			return;
		if (target && *target == '/') {
			ga_buf_clear(&at);
			ga_buf_adds(&at, "/");
		}
		more = target ? ga_strf("%s/%s", target, rest + skip + n)
			      : ga_strdup(rest + skip + n);
		free(rest);
		rest = more;
	}
	if (below_workdir(g, at.ptr))
		reached(g, s, dir ? GA_REACH_BELOW : GA_REACH_FILE, below_workdir(g, at.ptr));
}

/* ---- files to be read ---------------------------------------------------------------- */

/* `path` is relative to the top, or absolute and outside of the project. */
static void enqueue(struct ga_gather *g, const struct ga_source *s, const char *path)
{
	cleanup_free char *key = ga_strf("%d %s %s", (int)s->when, s->part, path);
	cleanup_free char *shown = ga_quote(path), *part = ga_quote(s->part), *of = NULL;
	enum ga_reach_when when;
	const char *base = ga_path_base(path);

	/* a dispatcher names the files of all hooks: each is read where its own hook is */
	if (*s->hook && ga_reach_hook(base, &when) && strcmp(base, s->hook) != 0)
		return;
	if (ga_strmap_first(&g->seen, key, strlen(key)) >= 0)
		return;
	if (!*s->part && g->n_files++ >= GA_FILES_MAX) {
		ga_gather_cut(g, s, "what is executed reads more files than are followed");
		return;
	}
	ga_strv_push(&g->seen_files, key);
	ga_strmap_add(&g->seen, g->seen_files.v[g->seen_files.n - 1], strlen(key), 0);
	of = ga_has_scripts(path) ? ga_strf("the script %s of %s", part, shown) : ga_strdup(shown);
	GA_GROW(g->queue, g->n_queue, g->cap_queue);
	g->queue[g->n_queue++] = (struct ga_queued){
		.from = *s,
		.path = ga_strdup(path),
		.what = ga_strf("%s, which runs by %s", of, s->what),
		.hook = ga_strdup(s->hook),
		.part = ga_strdup(s->part),
	};
}

static int list_all(struct ga_gather *g)
{
	if (g->listed || !g->have_tree)
		return 0;
	g->listed = true;
	if (ga_tree_list(g->repo, &g->tree, LIST_MAX, &g->all, g->err))
		return -1;
	for (size_t i = 0; i < g->all.n; i++) {
		const char *base = ga_path_base(g->all.v[i].path);

		ga_strmap_add(&g->by_base, base, strlen(base), (uint32_t)i);
	}
	return 0;
}

static bool starts_like_script(const struct ga_gather *g, const char *path)
{
	cleanup_free char *full = ga_path_join(g->info->workdir, path);
	cleanup_close int fd = open(full, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char head[2];

	return fd >= 0 && read(fd, head, 2) == 2 && !memcmp(head, "#!", 2);
}

static bool can_run(const struct ga_gather *g, const struct ga_change *c)
{
	return c->new.mode == GA_MODE_EXEC || c->new.mode == GA_MODE_LINK ||
	       ga_reach_is_script(c->path) ||
	       (!strchr(ga_path_base(c->path), '.') && starts_like_script(g, c->path));
}

static void enqueue_entry(struct ga_gather *g, const struct ga_source *s, const char *pattern,
			  bool given, const struct ga_change *c)
{
	if (ga_reach_ends_so(c->path, pattern) && (given || can_run(g, c)))
		enqueue(g, s, c->path);
}

/* Queue a file that need not be tracked. */
static void enqueue_here(struct ga_gather *g, const struct ga_source *s, const char *dir,
			 const char *pattern, bool given)
{
	cleanup_free char *path = ga_path_resolve(dir, pattern), *full = NULL;
	struct stat st;

	if (!path || !*path)
		return;
	full = ga_path_join(g->info->workdir, path);
	if (!stat(full, &st) && S_ISREG(st.st_mode) &&
	    (given || st.st_mode & 0111 || ga_reach_is_script(path)))
		enqueue(g, s, path);
}

/* Directories that a path may be relative to: the top, the script's, and those it changes to. */
static void places(const struct ga_source *s, struct ga_strv *ret)
{
	ga_strv_push(ret, "");
	if (s->dir)
		ga_strv_push(ret, s->dir);
	for (size_t i = 0; s->dirs && i < s->dirs->n; i++)
		if (ga_path_relative_ok(s->dirs->v[i]))
			ga_strv_push(ret, s->dirs->v[i]);
	ga_strv_sort_unique(ret);
}

/* Queue the tracked files that match, and those where it may be relative to. */
static int enqueue_matching(struct ga_gather *g, const struct ga_source *s, const char *pattern,
			    bool given)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;
	const char *base = ga_path_base(pattern);

	if (list_all(g))
		return -1;
	if (strpbrk(base, "*?["))
		for (size_t i = 0; i < g->all.n; i++)
			enqueue_entry(g, s, pattern, given, &g->all.v[i]);
	else
		for (int32_t i = ga_strmap_first(&g->by_base, base, strlen(base)); i >= 0;
		     i = g->by_base.nodes[i].next)
			enqueue_entry(g, s, pattern, given, &g->all.v[g->by_base.nodes[i].value]);
	places(s, &dirs);
	for (size_t i = 0; i < dirs.n; i++)
		enqueue_here(g, s, dirs.v[i], pattern, given);
	return 0;
}

/* Files of the host outside the project: beside a hook, in the git directory, in the home. */
static void enqueue_outside(struct ga_gather *g, const struct ga_source *s, const char *path)
{
	static const char *const system[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt",
					      "/nix", "/dev", "/proc", "/sys", "/snap",  NULL };
	glob_t found;
	struct stat st;

	if (ga_path_within(path, system) || glob(path, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && i < GLOB_MAX; i++)
		if (!stat(found.gl_pathv[i], &st) && S_ISREG(st.st_mode) &&
		    !below_workdir(g, found.gl_pathv[i]))
			enqueue(g, s, found.gl_pathv[i]);
	globfree(&found);
}

/* ---- words ------------------------------------------------------------------------------ */

/* A path that words name. */
static int named(struct ga_gather *g, const struct ga_source *s, const char *text, bool given)
{
	cleanup_free char *beside = NULL, *inside = NULL;
	const char *below = text[0] == '/' ? below_workdir(g, text) : NULL;

	if (!strncmp(text, ".git/", 5)) {
		inside = ga_path_join(g->info->commondir, text + 5);
		enqueue_outside(g, s, inside);
		return 0;
	}
	if (text[0] == '/' && !below) {
		enqueue_outside(g, s, text);
		return 0;
	}
	if (below && !strpbrk(below, "*?[")) {
		ga_gather_path(g, s, text, false);
		enqueue(g, s, below);
		return 0;
	}
	if (s->absolute && !below)
		return 0;
	if (s->host_dir) {
		beside = ga_path_join(s->host_dir, text);
		enqueue_outside(g, s, beside);
	}
	text = below ? below : text;
	if (!*text)
		return 0;
	reached(g, s, given ? GA_REACH_GIVEN : GA_REACH_BARE, text);
	return enqueue_matching(g, s, text, given);
}

/* Files that a module may be, in any language that has such names. */
static int module_in(struct ga_gather *g, const struct ga_source *s, const char *dir,
		     const char *name)
{
	static const char *const ends[] = { "",     ".py",  "/__init__.py", "/__main__.py",
					    ".js",  ".cjs", ".mjs",         ".ts",
					    ".mts", ".tsx", "/index.js",    "/index.ts",
					    ".rb",  ".pm",  ".lua",         ".php" };
	cleanup_free char *path = ga_path_resolve(dir, name);
	struct stat st;

	if (!path || !*path)
		return 0;
	/* other hooks than those that a merge runs: not beyond the directory of the script */
	if (s->when < GA_REACH_GIT && s->dir &&
	    (*s->dir ? !ga_path_inside(path, s->dir) : strchr(path, '/') != NULL))
		return 0;
	for (size_t i = 0; i < GA_NELEMS(ends); i++) {
		cleanup_free char *file = ga_strf("%s%s", path, ends[i]), *full = NULL;

		full = ga_path_join(g->info->workdir, file);
		if (*ends[i] || strchr(ga_path_base(file), '.'))
			ga_gather_path(g, s, full, false);
		if (!stat(full, &st) && S_ISREG(st.st_mode))
			enqueue(g, s, file);
	}
	return 0;
}

static int module(struct ga_gather *g, const struct ga_source *s, const char *name)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	places(s, &dirs);
	for (size_t i = 0; i < dirs.n && !s->absolute; i++)
		if ((*dirs.v[i] || *name != '.' || (s->dir && !*s->dir)) &&
		    module_in(g, s, dirs.v[i], name))
			return -1;
	return 0;
}

int ga_gather_script(struct ga_gather *g, const struct ga_source *s, const char *name)
{
	static const char *const around[] = { "", "pre", "post" };
	cleanup_free char *key = ga_strf("%d %s", (int)s->when, name);
	struct ga_source in = *s;

	if (ga_strv_has(&g->scripts, key))
		return 0;
	if (g->scripts.n >= GA_FILES_MAX) {
		ga_gather_cut(g, s, "more scripts are called than are followed");
		return 0;
	}
	ga_strv_push(&g->scripts, key);
	for (size_t i = 0; i < GA_NELEMS(around); i++) {
		cleanup_free char *part = ga_strf("%s%s", around[i], name);

		in.part = part;
		reached(g, s, GA_REACH_SCRIPT, part);
		if (enqueue_matching(g, &in, "package.json", true) ||
		    enqueue_matching(g, &in, "composer.json", true))
			return -1;
	}
	return 0;
}

int ga_gather_file(struct ga_gather *g, const struct ga_source *s, const char *name)
{
	struct ga_source in = *s;

	in.part = s->hook;
	return enqueue_matching(g, &in, name, true);
}

static int tool(struct ga_gather *g, const struct ga_source *s, const struct ga_word *w)
{
	cleanup_free char *copy = ga_strdup(w->more);
	struct ga_source in = *s;
	enum ga_reach_when when;
	char *save = NULL;

	/* "lefthook run pre-commit" */
	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
		if (ga_reach_hook(p, &when))
			in.hook = p;
	return s->absolute ? 0 : ga_gather_tool(g, &in, w->text, w->more);
}

static void search_path(struct ga_gather *g, const struct ga_source *s, const char *text)
{
	const char *below = text[0] == '/' ? below_workdir(g, text) : text;
	cleanup_free char *all = below ? ga_strf("%s/**", below) : NULL;

	/* an absolute directory of the project itself, but what lies outside is the host's */
	if (!below || (s->absolute && text[0] != '/'))
		return;
	reached(g, s, GA_REACH_BARE, *below ? all : "*");
}

int ga_gather_words(struct ga_gather *g, const struct ga_source *from, const struct ga_words *w)
{
	struct ga_source s = *from;
	int r = 0;

	s.part = "";
	s.dirs = &w->dirs;
	if (w->cut)
		ga_gather_cut(g, &s, s.what);
	for (size_t i = 0; !r && i < w->n; i++) {
		const struct ga_word *v = &w->v[i];

		switch (v->kind) {
		case GA_WORD_GIVEN:
		case GA_WORD_BARE:
			r = named(g, &s, v->text, v->kind == GA_WORD_GIVEN);
			break;
		case GA_WORD_PATH:
			search_path(g, &s, v->text);
			break;
		case GA_WORD_MODULE:
			r = module(g, &s, v->text);
			break;
		case GA_WORD_TOOL:
			r = tool(g, &s, v);
			break;
		}
	}
	return r;
}

int ga_gather_text(struct ga_gather *g, const struct ga_source *s, const char *text)
{
	cleanup_words struct ga_words w = { .v = NULL };

	ga_words_of_file(s->name, text, s->part, g->home, &w);
	return ga_gather_words(g, s, &w);
}

/* ---- following ----------------------------------------------------------------------------- */

static int follow(struct ga_gather *g, const struct ga_queued *q)
{
	bool outside = q->path[0] == '/';
	cleanup_free char *full =
		outside ? ga_strdup(q->path) : ga_path_join(g->info->workdir, q->path);
	cleanup_free char *dir = ga_path_parent(q->path);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_close int fd = open(full, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_free char *why = ga_strf("%s, cannot be read to its end", q->what);
	struct ga_source s = q->from;
	struct stat st;
	int r;

	s.what = q->what;
	s.hook = q->hook;
	s.part = q->part;
	s.dirs = NULL;
	s.dir = outside ? NULL : dir;
	s.host_dir = outside ? dir : NULL;
	s.name = q->path;
	r = ga_gather_read(fd, &text);
	/* one that is there and cannot be opened is executed all the same */
	if (r < 0 || (fd < 0 && !stat(full, &st)))
		ga_gather_cut(g, &s, why);
	return r ? 0 : ga_gather_text(g, &s, text.ptr);
}

int ga_gather_follow(struct ga_gather *g)
{
	while (g->next < g->n_queue) {
		/* following grows the queue, and moves it */
		const struct ga_queued q = g->queue[g->next++];

		if (follow(g, &q))
			return -1;
	}
	return 0;
}

int ga_reach_gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_reach *ret,
		    struct ga_error *err)
{
	cleanup_(ga_gather_release) struct ga_gather g = {
		.repo = r, .info = ga_repo_info(r), .reach = ret, .err = err, .workfd = -1
	};

	/* one after the other, so that a moment's reason is that of its own source */
	return ga_gather_begin(&g) || ga_gather_hooks(&g, c) || ga_gather_follow(&g) ||
			       ga_gather_settings(&g, c) || ga_gather_home(&g) ||
			       ga_gather_follow(&g) || ga_gather_envrc(&g, "")
		       ? -1
		       : 0;
}
