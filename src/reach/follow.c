/* SPDX-License-Identifier: MIT
 *
 * Turn words into patterns and files, and files into more words.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "reach-internal.h"

/* A path that words name. */
static int named(struct ga_gather *g, const struct ga_source *s, const char *text, bool given)
{
	cleanup_free char *beside = NULL, *inside = NULL;
	const char *below = text[0] == '/' ? ga_gather_below(g, text) : NULL;

	if (!strncmp(text, ".git/", 5)) {
		inside = ga_path_join(g->info->commondir, text + 5);
		ga_gather_outside(g, s, inside);
		return 0;
	}
	if (text[0] == '/' && !below) {
		ga_gather_outside(g, s, text);
		return 0;
	}
	if (below && !strpbrk(below, "*?[")) {
		ga_gather_path(g, s, text, false);
		ga_gather_queue(g, s, below);
		return 0;
	}
	if (s->absolute && !below)
		return 0;
	if (s->host_dir) {
		beside = ga_path_join(s->host_dir, text);
		ga_gather_outside(g, s, beside);
	}
	text = below ? below : text;
	if (!*text)
		return 0;
	ga_gather_reached(g, s, given ? GA_REACH_GIVEN : GA_REACH_BARE, text);
	return ga_gather_matching(g, s, text, given);
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
			ga_gather_queue(g, s, file);
	}
	return 0;
}

static int module(struct ga_gather *g, const struct ga_source *s, const char *name)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	ga_gather_places(s, &dirs);
	for (size_t i = 0; i < dirs.n && !s->absolute; i++)
		if ((*dirs.v[i] || *name != '.' || (s->dir && !*s->dir)) &&
		    module_in(g, s, dirs.v[i], name))
			return -1;
	return 0;
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
	const char *below = text[0] == '/' ? ga_gather_below(g, text) : text;
	cleanup_free char *all = below ? ga_strf("%s/**", below) : NULL;

	/* an absolute directory of the project itself, but what lies outside is the host's */
	if (!below || (s->absolute && text[0] != '/'))
		return;
	ga_gather_reached(g, s, GA_REACH_BARE, *below ? all : "*");
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
	/* an unreadable file is executed all the same */
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
