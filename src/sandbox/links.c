/* SPDX-License-Identifier: MIT
 *
 * Recreate inside the symlinks in the host's paths of home and project, each at its real place.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "sandbox-internal.h"

#define LINKS_MAX 40 /* the kernel's limit */

static void release(struct ga_user_link *l)
{
	free(l->at);
	free(l->target);
	free(l->to);
}

void sandbox_links_release(struct ga_spec *s)
{
	for (size_t i = 0; i < s->names.n; i++)
		release(&s->names.v[i]);
	free(s->names.v);
	free(s->names.home);
	free(s->names.project);
}

char *ga_spec_place(const struct ga_spec *s, const char *path)
{
	char *p = ga_strdup(path);

	for (size_t n = 0, i = 0; n < LINKS_MAX && i < s->names.n;) {
		const char *below = ga_path_below(p, s->names.v[i].at);
		char *next;

		if (!below) {
			i++;
			continue;
		}
		next = ga_strf("%s%s%s", s->names.v[i].to, *below ? "/" : "", below);
		free(p);
		p = next;
		n++;
		i = 0;
	}
	return p;
}

/* Does `at` overlap with a directory that the sandbox makes? */
static bool is_taken(const struct ga_spec *s, const char *at)
{
	static const char *const own[] = { "/run/git-agent", "/run/git-agent-ssh", NULL };

	for (size_t i = 0; i < s->host.ro.n; i++)
		if (ga_path_inside(s->host.ro.v[i], at))
			return true;
	for (size_t i = 0; i < s->host.rw.n; i++)
		if (ga_path_inside(s->host.rw.v[i], at))
			return true;
	for (size_t i = 0; sandbox_root_names[i]; i++) {
		size_t n = strlen(sandbox_root_names[i]);

		if (!strncmp(at + 1, sandbox_root_names[i], n) && strchr("/", at[1 + n]))
			return true;
	}
	return sandbox_is_system(at) || ga_path_within(at, own) || ga_path_inside(s->home, at) ||
	       ga_path_inside(s->project, at) || ga_path_inside(at, s->project);
}

static bool has(const struct ga_spec *s, const char *at)
{
	for (size_t i = 0; i < s->names.n; i++)
		if (!strcmp(s->names.v[i].at, at))
			return true;
	return false;
}

/* Resolve one link textually; NULL: beyond "/". The caller frees it. */
static char *resolve(const char *at, const char *target)
{
	cleanup_free char *dir = ga_path_parent(at), *rel = NULL;

	rel = *target == '/' ? ga_path_resolve("", target + 1) : ga_path_resolve(dir + 1, target);
	return rel ? ga_strf("/%s", rel) : NULL;
}

/* Add the link, if it can be made. Those in the system or a mount exist already. */
static bool take(struct ga_spec *s, const char *at, const char *target)
{
	struct ga_user_link l;

	if (sandbox_shown_by(s, at) || has(s, at))
		return true;
	if (is_taken(s, at))
		return false;
	l = (struct ga_user_link){ ga_strdup(at), ga_strdup(target), resolve(at, target) };
	if (!l.to) {
		release(&l);
		return false;
	}
	s->names.v = ga_reallocarray(s->names.v, s->names.n + 1, sizeof(*s->names.v));
	s->names.v[s->names.n++] = l;
	return true;
}

struct walk {
	char *at;       /* the directory reached, without links */
	char *rest;     /* what is left of the path */
	bool named;     /* a name was followed since the last link */
	unsigned links; /* number of links */
};

static void walk_to(struct walk *w, char *at, char *rest)
{
	free(w->at);
	free(w->rest);
	w->at = at;
	w->rest = rest;
}

/* Follow one component. False if the path does not lead to the same place inside. */
static bool step(struct ga_spec *s, struct walk *w)
{
	size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");
	cleanup_free char *name = ga_strndup(w->rest + skip, n), *at = ga_path_join(w->at, name);
	const char *rest = w->rest + skip + n;
	char target[PATH_MAX];
	ssize_t len;

	if (!*name || !strcmp(name, ".") || !strcmp(name, "..")) {
		if (name[0] && name[1])
			ga_path_up(w->at);
		walk_to(w, ga_strdup(w->at), ga_strdup(rest));
		/* a directory left by ".." need not exist inside */
		return !name[0] || !name[1] || !w->named;
	}
	len = readlink(at, target, sizeof(target) - 1);
	w->named = len < 0;
	if (len < 0) {
		walk_to(w, ga_steal(&at), ga_strdup(rest));
		return errno == EINVAL;
	}
	target[len] = '\0';
	if (++w->links > LINKS_MAX || !take(s, at, target))
		return false;
	walk_to(w, ga_strdup(*target == '/' ? "/" : w->at), ga_strf("%s%s", target, rest));
	return true;
}

/* Add all links in `path` if it leads to `real`, else none. Returns a copy of the path, or NULL. */
static char *take_all(struct ga_spec *s, const char *path, const char *real)
{
	struct walk w = { ga_strdup("/"), ga_strdup(path), false, 0 };
	size_t before = s->names.n;
	bool ok = true;

	while (ok && *w.rest)
		ok = step(s, &w);
	ok = ok && !strcmp(w.at, real);
	walk_to(&w, NULL, NULL);
	while (!ok && s->names.n > before)
		release(&s->names.v[--s->names.n]);
	return ok ? ga_strdup(path) : NULL;
}

/* The prefix of `path`, a path of the working directory, that leads to the project, or NULL. */
static char *project_part(const struct ga_spec *s, const char *path)
{
	cleanup_free char *up = ga_strdup(path), *cwd = getcwd(NULL, 0), *real = NULL;

	if (!cwd || !strcmp(cwd, path) || !ga_path_inside(cwd, s->project))
		return NULL;
	real = realpath(path, NULL);
	if (!real || strcmp(real, cwd) != 0)
		return NULL;
	for (; strcmp(up, "/") != 0; ga_path_up(up)) {
		free(real);
		real = realpath(up, NULL);
		if (real && !strcmp(real, s->project))
			return ga_steal(&up);
	}
	return NULL;
}

static bool is_normal(const char *path)
{
	return path && *path == '/' && ga_path_relative_ok(path + 1);
}

void ga_spec_find_links(struct ga_spec *s, const char *home, const char *pwd)
{
	cleanup_free char *project = is_normal(pwd) ? project_part(s, pwd) : NULL;

	if (is_normal(home) && strcmp(home, s->home) != 0)
		s->names.home = take_all(s, home, s->home);
	if (project && strcmp(project, s->project) != 0)
		s->names.project = take_all(s, project, s->project);
}

/* Does it overlap with a mount in home? */
static bool is_mounted(const struct ga_spec *s, const char *rel)
{
	for (size_t i = 0; i < s->host.tools.n; i++)
		if (ga_path_inside(s->host.tools.v[i], rel))
			return true;
	return ga_strv_above(&s->host.tools, rel);
}

void sandbox_make_links(const struct ga_spec *s, bool home, struct ga_buf *b)
{
	for (size_t i = 0; i < s->names.n; i++) {
		const char *rel = ga_path_below(s->names.v[i].at, s->home);
		cleanup_free char *dest = rel ? ga_path_join("home", rel)
					      : ga_strf("root%s", s->names.v[i].at);

		if (home == !!rel && !(rel && is_mounted(s, rel)))
			sandbox_words(b, "symlink", s->names.v[i].target, dest, NULL);
	}
}

void sandbox_words(struct ga_buf *b, ...)
{
	const char *word;
	va_list ap;

	va_start(ap, b);
	while ((word = va_arg(ap, const char *)) != NULL)
		ga_buf_add0(b, word);
	va_end(ap);
}
