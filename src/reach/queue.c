/* SPDX-License-Identifier: MIT
 *
 * The list of reached paths, and the queue of files to read.
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
#include "reach-internal.h"

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
	char magic[4];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    (pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4)))
		return 1;
	if (ga_read_fd(fd, GA_HOST_TEXT_MAX, out, GA_IGNORED))
		return -1;
	for (size_t i = 0; i < out->len; i++)
		if (!out->ptr[i])
			out->ptr[i] = ' ';
	return 0;
}

void ga_gather_cut(struct ga_gather *g, const struct ga_source *s, const char *why)
{
	cleanup_free char *all =
		ga_strf("%s: what else is meant is not known, so any path may be", why);

	ga_reach_add(g->reach, GA_REACH_BELOW, s->when, s->rule, "", all);
}

void ga_gather_reached(struct ga_gather *g, const struct ga_source *s, enum ga_reach_what what,
		       const char *text)
{
	if (g->reach->n < GA_REACHED_MAX)
		ga_reach_add(g->reach, what, s->when, s->rule, text, s->what);
	else
		ga_gather_cut(g, s, s->what);
}

const char *ga_gather_below(const struct ga_gather *g, const char *path)
{
	const char *below = ga_path_below(path, g->info->workdir);

	return below && strcmp(below, ".git") != 0 && strncmp(below, ".git/", 5) ? below : NULL;
}

struct follower {
	struct ga_gather *g;
	const struct ga_source *s;
};

/* Note a link of the project that is followed, and return its target. */
static char *note_link(void *arg, const char *path)
{
	const struct follower *f = arg;
	const char *below = ga_gather_below(f->g, path);
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n > 0 && below)
		ga_gather_reached(f->g, f->s, GA_REACH_FILE, below);
	return n > 0 ? ga_strndup(target, (size_t)n) : NULL;
}

void ga_gather_path(struct ga_gather *g, const struct ga_source *s, const char *path, bool dir)
{
	struct follower f = { g, s };
	cleanup_free char *end = ga_path_follow(path, LINKS_MAX, note_link, &f);
	const char *below = end ? ga_gather_below(g, end) : NULL;

	if (below)
		ga_gather_reached(g, s, dir ? GA_REACH_BELOW : GA_REACH_FILE, below);
}

void ga_gather_queue(struct ga_gather *g, const struct ga_source *s, const char *path)
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
	if (ga_reach_matches_end(c->path, pattern) && (given || can_run(g, c)))
		ga_gather_queue(g, s, c->path);
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
		ga_gather_queue(g, s, path);
}

void ga_gather_places(const struct ga_source *s, struct ga_strv *ret)
{
	ga_strv_push(ret, "");
	if (s->dir)
		ga_strv_push(ret, s->dir);
	for (size_t i = 0; s->dirs && i < s->dirs->n; i++)
		if (ga_path_relative_ok(s->dirs->v[i]))
			ga_strv_push(ret, s->dirs->v[i]);
	ga_strv_sort_unique(ret);
}

int ga_gather_matching(struct ga_gather *g, const struct ga_source *s, const char *pattern,
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
	ga_gather_places(s, &dirs);
	for (size_t i = 0; i < dirs.n; i++)
		enqueue_here(g, s, dirs.v[i], pattern, given);
	return 0;
}

void ga_gather_outside(struct ga_gather *g, const struct ga_source *s, const char *path)
{
	static const char *const system[] = { "/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt",
					      "/nix", "/dev", "/proc", "/sys", "/snap",  NULL };
	glob_t found;
	struct stat st;

	if (ga_path_within(path, system) || glob(path, GLOB_NOSORT, NULL, &found))
		return;
	for (size_t i = 0; i < found.gl_pathc && i < GLOB_MAX; i++)
		if (!stat(found.gl_pathv[i], &st) && S_ISREG(st.st_mode) &&
		    !ga_gather_below(g, found.gl_pathv[i]))
			ga_gather_queue(g, s, found.gl_pathv[i]);
	globfree(&found);
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
		ga_gather_reached(g, s, GA_REACH_SCRIPT, part);
		if (ga_gather_matching(g, &in, "package.json", true) ||
		    ga_gather_matching(g, &in, "composer.json", true))
			return -1;
	}
	return 0;
}

int ga_gather_file(struct ga_gather *g, const struct ga_source *s, const char *name)
{
	struct ga_source in = *s;

	in.part = s->hook;
	return ga_gather_matching(g, &in, name, true);
}
