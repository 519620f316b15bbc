/* SPDX-License-Identifier: MIT
 *
 * Which files a filter of the host's should convert, and what becomes of those that it did not.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "clean-internal.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

bool runs_inside(const struct clean *cl, const char *filter)
{
	if (!strcmp(filter, "lfs"))
		return cl->lfs;
	/* git splits "-c key=value" at the first '=' */
	return cl->c->e->risk && !strchr(filter, '=') &&
	       ga_strv_has(&cl->c->e->risk->filters, filter);
}

static bool host_defines(const struct capture *c, const char *filter)
{
	char *keys[] = { ga_strf("filter.%s.clean", filter),
				      ga_strf("filter.%s.process", filter) };
	bool defined = false;

	for (size_t i = 0; i < GA_NELEMS(keys); i++) {
		const char *command = ga_gitconfig_get(c->e->config, keys[i]);

		defined |= command && *command;
		free(keys[i]);
	}
	return defined;
}

/* Ask for the filter of each of these files. The output repeats path NUL "filter" NUL value NUL, in
 * the order asked. */
static int ask_filters(struct clean *cl, const struct ga_strv *files, bool closed,
		       struct ga_error *err)
{
	static const char *const args[] = { "check-attr", "-z", "--stdin", "filter", NULL };
	cleanup_buf struct ga_buf paths = GA_BUF_INIT, out = GA_BUF_INIT;
	size_t pos = 0;

	for (size_t i = 0; i < files->n; i++)
		ga_buf_add0(&paths, files->v[i]);
	if (files->n && clean_git(cl, args, &paths, &out, -1, err))
		return -1;
	for (size_t i = 0; i < files->n; i++) {
		const char *path = ga_buf_next0(&out, &pos);
		const char *attr = path ? ga_buf_next0(&out, &pos) : NULL;
		const char *value = attr ? ga_buf_next0(&out, &pos) : NULL;

		if (!value || strcmp(path, files->v[i]) != 0)
			return ga_fail(err, GA_EFATAL, "git inside did not tell the filter of "
				       "each file");
		if (!strcmp(value, "unspecified") || !strcmp(value, "unset") ||
		    !strcmp(value, "set") || !host_defines(cl->c, value))
			continue;
		ga_strv_push(&cl->filtered, path);
		if (closed || !runs_inside(cl, value))
			ga_strv_push(&cl->unfiltered, path);
		else if (!strcmp(value, "lfs"))
			cl->c->convert.lfs = true;
	}
	return 0;
}

int find_filtered(struct clean *cl, struct ga_error *err)
{
	if (ask_filters(cl, &cl->files.open, false, err) ||
	    ask_filters(cl, &cl->files.closed, true, err))
		return -1;
	ga_strv_sort_unique(&cl->filtered);
	cl->asked = true;
	return 0;
}

/* Is any filter configured, for whatever files? */
static bool host_filters(const struct capture *c)
{
	const struct ga_gitconfig *conf = c->e->config;
	bool found = false;

	for (size_t i = 0; i < conf->n && !found; i++) {
		cleanup_free char *name = ga_gitconfig_filter(conf->v[i].key);

		found = name && host_defines(c, name);
	}
	return found;
}

void take_unsure(struct clean *cl)
{
	struct capture *c = cl->c;
	const struct ga_strv *unsure = &cl->files.unsure;

	if (!host_filters(c))
		return;
	ga_strv_extend(&c->convert.unfiltered, &cl->files.barred);
	for (size_t i = 0; i < unsure->n; i++)
		if (ga_strv_find(&cl->filtered, unsure->v[i]) < 0)
			ga_strv_push(&c->convert.unfiltered, unsure->v[i]);
}

void take_all_unfiltered(struct clean *cl)
{
	struct capture *c = cl->c;

	ga_strv_release(&c->convert.unfiltered);
	if (cl->asked) {
		ga_strv_extend(&c->convert.unfiltered, &cl->filtered);
	} else if (host_filters(c)) {
		ga_strv_extend(&c->convert.unfiltered, &cl->files.open);
		ga_strv_extend(&c->convert.unfiltered, &cl->files.closed);
	}
}

static int open_in(const char *dir, const char *path)
{
	cleanup_close int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return at < 0 ? -1 : ga_openat_beneath(at, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
						    O_NOCTTY, 0);
}

/* Open what the layers beneath the upper show at a path: a file that git checked out, or a copy of
 * the user's; the user's filters have converted either from its blob. `*ret` is -1 if there is none
 * that can be read. */
static int open_beneath(struct capture *c, const char *path, int *ret, struct ga_error *err)
{
	cleanup_free char *extras = c->s->id.live ? ga_strdup(c->s->id.project)
					       : ga_path_join(c->s->dir, "extras");
	const char *base;

	*ret = open_in(extras, path);
	if (*ret >= 0 || c->s->id.live || (errno != ENOENT && errno != ENOTDIR))
		return 0;
	if (c->e->open_base(c->e->payload, &base, err))
		return -1;
	*ret = open_in(base, path);
	return 0;
}

static int is_untouched(struct clean *cl, const char *path, bool *ret, struct ga_error *err)
{
	cleanup_close int ours = open_in(cl->o->upper, path), theirs = -1;

	if (open_beneath(cl->c, path, &theirs, err))
		return -1;
	*ret = ours >= 0 && theirs >= 0 && ga_same_content(ours, theirs);
	return 0;
}

int shows_beneath(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		  struct ga_error *err)
{
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	struct capture *c = payload;
	cleanup_close int fd = -1;
	struct ga_oid id;

	if (open_beneath(c, path, &fd, err))
		return -1;
	*ret = fd >= 0 && !ga_blob_id(fd, &id, &unreadable) && ga_oid_equal(&id, blob);
	return 0;
}

int take_unfiltered(struct clean *cl, const struct ga_strv *files, struct ga_entry *entries,
		    struct ga_error *err)
{
	struct capture *c = cl->c;

	for (size_t i = 0; i < cl->unfiltered.n; i++) {
		const char *path = cl->unfiltered.v[i];
		ssize_t at = ga_strv_find(files, path);
		struct ga_entry published;
		bool same;

		if (at < 0) { /* closed: git inside could not convert it */
			ga_strv_push(&c->convert.unfiltered, path);
			continue;
		}
		if (is_untouched(cl, path, &same, err) ||
		    ga_tree_entry(c->e->repo, &c->base.agent_tree, path, &published, err))
			return -1;
		if (same && ga_tree_entry(c->e->repo, &c->base.tree, path, &entries[at], err))
			return -1;
		/* where the filter did not run for the agent, either, its commits may have the
		 * unfiltered content, and no rule flags that */
		if (!entries[at].mode ||
		    (same ? ga_strv_find(&cl->failed, path) >= 0
			  : !ga_oid_equal(&entries[at].oid, &published.oid)))
			ga_strv_push(&c->convert.unfiltered, path);
	}
	return 0;
}

/* The configuration, followed by the arguments of one command; ended by NULL. */
const char *const *clean_command(struct clean *cl, const char *const *args)
{
	ga_strv_release(&cl->args);
	ga_strv_extend(&cl->args, &cl->config);
	for (; *args; args++)
		ga_strv_push(&cl->args, *args);
	return (const char *const *)cl->args.v;
}

int clean_git(struct clean *cl, const char *const *args, const struct ga_buf *in,
	      struct ga_buf *out, int out_fd, struct ga_error *err)
{
	struct inside x = INSIDE(.args = clean_command(cl, args), .in = in, .out = out,
				 .env = (const char *const *)cl->env.v);

	x.out_fd = out_fd;
	return run_inside_ok(cl->c, &x, err);
}
