/* SPDX-License-Identifier: MIT
 *
 * Finding words in a text of the host's that name something in the project. This is no shell:
 * values of variables are not known, so a path that begins with one is taken for each place it may
 * mean.
 */
#include "host.h"

#include <string.h>
#include <unistd.h>

#include "ga/objects.h"
#include "ga/path.h"

enum { LIST_MAX = 2000000 };

struct word {
	const char *s;
	size_t n;
	bool command; /* it is where a shell expects a command */
	bool value;   /* it is the value of an assignment; a command may follow */
	bool unknown; /* it follows something whose value is not known */
};

static const char delimiters[] = " \t\"'`;&|()<>=,:{}[]!\r\n\\";

/* Words that a command follows. */
static bool introduces(const struct word *w)
{
	static const char words[] = "then do else if elif while until exec env sudo time command "
				    "xargs run npx bunx dlx -m -c nice nohup timeout -- eval "
				    "builtin";
	const char *slash = memrchr(w->s, '/', w->n); /* /usr/bin/env */
	const char *base = slash ? slash + 1 : w->s;

	return ga_has_word_n(words, base, w->n - (size_t)(base - w->s));
}

/* The next word of `line` from `*pos`; false at the end. `last` is the word before. */
static bool next_word(const char *line, size_t *pos, const struct word *last, struct word *ret)
{
	size_t from = *pos, at = from + strspn(line + from, delimiters);
	size_t n = strcspn(line + at, delimiters);
	char before = at ? line[at - 1] : '\0';
	bool separated = false;

	if (!n)
		return false;
	for (size_t i = from; i < at; i++)
		separated |= strchr("\"'`;&|({!", line[i]) != NULL;
	*ret = (struct word){ .s = line + at, .n = n, .value = before == '=' };
	ret->unknown = before == ')' || before == '}' || (before == '"' && line[at] == '/') ||
		       line[at] == '$';
	/* FOO=1 make: an assignment may stand before the command. */
	ret->command = ret->value ? last->command :
				    !last->s || separated || introduces(last) ||
					    (last->value && last->command);
	*pos = at + n;
	return true;
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

static void fact(struct ga_gather *g, const struct ga_scan *s, const char *path, bool dir)
{
	cleanup_free char *full = ga_path_join(g->info->workdir, path);

	ga_gather_path(g, full, dir, s->rule, s->what);
	if (dir || !s->deeper || ga_strv_has(&g->scripts, path))
		return;
	if (g->scripts.n < GA_SCRIPTS_MAX)
		ga_strv_push(&g->scripts, path);
	else
		ga_gather_cut(g, s->rule, "hooks name more scripts than are read");
}

static bool is_new_tail(struct ga_gather *g, const struct ga_scan *s, const char *tail)
{
	cleanup_free char *key = ga_strf("%s %d %s", s->rule, s->deeper, tail);

	if (ga_strmap_first(&g->tails_seen, key, strlen(key)) >= 0)
		return false;
	ga_strv_push(&g->tails, key);
	ga_strmap_add(&g->tails_seen, g->tails.v[g->tails.n - 1], strlen(key), 0);
	return true;
}

/* Tracked files that end in `tail`, at a component's boundary. */
static int facts_by_tail(struct ga_gather *g, const struct ga_scan *s, const char *tail)
{
	const char *base = ga_path_base(tail);
	size_t len = strlen(tail);
	int32_t first;

	if (!is_new_tail(g, s, tail))
		return 0;
	if (list_all(g))
		return -1;
	first = ga_strmap_first(&g->by_base, base, strlen(base));
	for (int32_t i = first; i >= 0; i = g->by_base.nodes[i].next) {
		const char *path = g->all.v[g->by_base.nodes[i].value].path;
		size_t have = strlen(path);

		if (have >= len && !strcmp(path + have - len, tail) &&
		    (have == len || path[have - len - 1] == '/'))
			fact(g, s, path, false);
	}
	return 0;
}

/* Does the line read whole directories as code: a loop over scripts, a search path? */
static bool runs_directories(const char *line)
{
	static const char *const marks[] = {
		"for ", "run-parts", "source ", ". ", "PATH=", "find "
	};

	for (size_t i = 0; i < GA_NELEMS(marks); i++)
		for (const char *p = line; (p = strstr(p, marks[i])); p++)
			if (p == line || !strchr("abcdefghijklmnopqrstuvwxyz./*", p[-1]))
				return true;
	return false;
}

/* "node tools/lint" runs tools/lint.js. */
static int completed(struct ga_gather *g, const struct ga_scan *s, const char *path)
{
	static const char *const ends[] = { ".js", ".cjs", ".mjs", ".ts", ".py", ".rb", ".sh" };
	enum ga_kind kind;

	for (size_t i = 0; i < GA_NELEMS(ends); i++) {
		cleanup_free char *file = ga_strf("%s%s", path, ends[i]);

		if (ga_gather_kind(g, file, &kind))
			return -1;
		if (kind == GA_KIND_FILE)
			fact(g, s, file, false);
	}
	return 0;
}

/* Note a directory that a hook names: tools that it calls may run there. */
static void directory(struct ga_gather *g, const struct ga_scan *s, const char *path)
{
	if (ga_strv_has(&g->dirs, path))
		return;
	if (g->dirs.n < GA_DIRS_MAX)
		ga_strv_push(&g->dirs, path);
	else
		ga_gather_cut(g, s->rule, "hooks name more directories than are looked into");
}

/* A path in the project, or something that may be one. */
static int place(struct ga_gather *g, const struct ga_scan *s, const char *line, const char *path,
		 bool unknown, bool slash)
{
	cleanup_free char *plain = ga_path_resolve("", path);
	cleanup_free char *star = NULL;
	size_t wild = strcspn(path, "*?");
	enum ga_kind kind;

	if (!plain || !*plain)
		return 0;
	if (path[wild]) { /* scripts / *.sh: everything in the directory before the star */
		star = ga_strndup(path, wild);
		if (!strrchr(star, '/') || !s->hook || !runs_directories(line))
			return 0;
		*strrchr(star, '/') = '\0';
		return place(g, s, line, star, false, true);
	}
	if (ga_gather_kind(g, plain, &kind))
		return -1;
	if (kind == GA_KIND_DIR) {
		if (s->hook)
			directory(g, s, plain);
		if (s->hook && runs_directories(line))
			fact(g, s, plain, true);
		return 0;
	}
	/* a file that is not there yet may be added by an agent; but a bare word is no path */
	if (kind == GA_KIND_FILE || slash)
		fact(g, s, plain, false);
	if (kind == GA_KIND_NONE && slash && s->hook && completed(g, s, plain))
		return -1;
	if (kind == GA_KIND_NONE && unknown && (slash || strchr(plain, '.')))
		return facts_by_tail(g, s, plain);
	return 0;
}

/* "python -m tools.lint" runs tools/lint.py or a package of that name. */
static void module(struct ga_gather *g, const struct ga_scan *s, const char *name)
{
	static const char *const ends[] = { ".py", "/__main__.py", "/__init__.py" };
	cleanup_free char *path = ga_strdup(name);

	for (char *p = path; *p; p++)
		if (*p == '.')
			*p = '/';
	for (size_t i = 0; i < GA_NELEMS(ends) && ga_path_relative_ok(path); i++) {
		cleanup_free char *file = ga_strf("%s%s", path, ends[i]);

		fact(g, s, file, false);
	}
}

static int look_at_word(struct ga_gather *g, const struct ga_scan *s, const char *line,
			const struct word *w)
{
	cleanup_free char *text = ga_strndup(w->s, w->n);
	const char *path = text, *below;
	bool unknown = w->unknown, slash;

	if (w->n < 2 || w->n > 4096 || text[0] == '-' || strstr(text, "://"))
		return 0;
	slash = strchr(text, '/') != NULL;
	if (!strncmp(text, "~/", 2) && g->home) {
		cleanup_free char *full = ga_path_join(g->home, text + 2);

		ga_gather_path(g, full, false, s->rule, s->what);
		return 0;
	}
	if (text[0] == '$') { /* $DIR/x: only what follows is known */
		path = strchr(text, '/');
		if (!path)
			return 0;
	}
	below = path[0] == '/' ? ga_path_below(path, g->info->workdir) : NULL;
	if (below) {
		path = below;
	} else if (path[0] == '/') {
		if (!unknown && !access(path, F_OK))
			return 0; /* a file of the system */
		unknown = true;
	}
	/* wherever "../../x" is relative to, assume that it is meant to be in the project */
	for (;;) {
		if (path[0] == '/')
			path++;
		else if (!strncmp(path, "./", 2))
			path += 2;
		else if (!strncmp(path, "../", 3))
			path += 3;
		else
			break;
	}
	if (!*path || !strncmp(path, ".git/", 5))
		return 0;
	if (s->dir && *s->dir) {
		cleanup_free char *there = ga_path_join(s->dir, path);

		if (place(g, s, line, there, false, slash))
			return -1;
	}
	return place(g, s, line, path, unknown, slash);
}

/* Skip comments, and lines that only print, unless a command follows on the line. */
static bool skipped(const char *line)
{
	line += strspn(line, " \t");
	if (line[0] == '#' && line[1] != '!')
		return true;
	return (!strncmp(line, "echo ", 5) || !strncmp(line, "printf ", 7)) &&
	       !strpbrk(line, ";&|");
}

static int scan_line(struct ga_gather *g, const struct ga_scan *s, const char *line)
{
	struct word last = { .s = NULL }, w;
	size_t pos = 0;

	while (next_word(line, &pos, &last, &w)) {
		cleanup_free char *text = ga_strndup(w.s, w.n);
		bool is_module = last.n == 2 && !memcmp(last.s, "-m", 2);

		if (s->hook && w.command && !w.value) {
			struct word after;
			size_t ahead = pos;
			cleanup_free char *next = NULL;

			if (next_word(line, &ahead, &w, &after))
				next = ga_strndup(after.s, after.n);
			ga_gather_tool(g, ga_path_base(text), next, s->what);
		}
		if (is_module && s->hook)
			module(g, s, text);
		else if (look_at_word(g, s, line, &w))
			return -1;
		last = w;
	}
	return 0;
}

int ga_scan_text(struct ga_gather *g, const struct ga_scan *s, const char *text)
{
	cleanup_free char *copy = ga_strdup(text);
	char *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (!skipped(line) || s->command)
			if (scan_line(g, s, line))
				return -1;
	return 0;
}
