/* SPDX-License-Identifier: MIT
 *
 * Converts files by way of an index of our own: git knows what it stores for a file, and what it
 * writes for what is stored, by the user's attributes and filters. Many files at once, since a
 * process for each would take longer than all that it does.
 */
#include <string.h>

#include "land-internal.h"

void land_scratch_line(struct ga_buf *lines, const struct ga_entry *e, const char *path)
{
	static const struct ga_oid none;

	ga_buf_addf(lines, "%06o %s\t", e->mode, GA_HEX(e->mode ? &e->oid : &none));
	ga_buf_add0(lines, path);
}

static int ask(struct land *l, const char *const *args, const char *index, const struct ga_buf *in,
	       struct ga_error *err)
{
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *line = NULL;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.index_file = index;
	g.in = in ? in->ptr : NULL;
	g.in_len = in ? in->len : 0;
	g.errout = &why;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	if (!status)
		return 0;
	line = land_first_line(&why);
	(void)ga_fail(err, GA_EFATAL, "git %s failed%s%s", *args, *line ? ": " : "", line);
	return 1;
}

int land_scratch_fill(struct land *l, const char *index, const struct ga_buf *lines,
		      struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };

	return lines->len ? land_ask_git(l, args, index, lines, NULL, err) : 0;
}

int land_scratch_read(struct land *l, const char *index, const struct ga_buf *paths,
		      struct ga_buf *ret, struct ga_error *err)
{
	static const char *const take[] = { "update-index", "-z", "--add", "--replace", "--stdin",
					    NULL };
	static const char *const list[] = { "ls-files", "-z", "-s", NULL };
	int rc = ask(l, take, index, paths, err);

	if (rc)
		return rc;
	return land_ask_git(l, list, index, NULL, ret, err);
}

int land_scratch_write(struct land *l, const char *index, const char *dir, struct ga_error *err)
{
	cleanup_free char *prefix = ga_strf("--prefix=%s/", dir);
	const char *const args[] = { "checkout-index", "-a", "-f", "-q", prefix, NULL };

	return ask(l, args, index, NULL, err);
}
