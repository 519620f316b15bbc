/* SPDX-License-Identifier: MIT
 *
 * The message of the commit: the one given, git's own for a merge, or one made from the session.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "landing.h"

#define SUBJECTS 100 /* of commits, in one message */
#define SUBJECT_MAX ((size_t)1000) /* bytes of each: the agent can make it as long as it likes */
#define SUBJECTS_MAX ((size_t)64 << 10) /* of them together: the message is an argument of git's */
#define COMMITS_MAX 1000000

/* What `git merge agent/NAME` would say, by the user's configuration: a message that is given, too,
 * may get a list of commits (merge.log). */
static int merge_message(const struct landing *l, const struct proposal *p, struct ga_buf *ret,
			 struct ga_error *err)
{
	const char *const args[] = { "fmt-merge-msg", l->opts->message ? "-m" : NULL,
				     l->opts->message, NULL };
	cleanup_free char *in = ga_strf("%s\t\tbranch 'agent/%s' of .\n", GA_HEX(&p->tip),
					l->s->name);
	const struct ga_git g = GA_GIT(.args = args,
					  .work_tree = ga_repo_info(l->repo)->workdir,
					  .as_user = true, .in = in, .in_len = strlen(in),
					  .out = ret);

	return ga_git_ok(l->repo, &g, err);
}

/* "Squash agent/NAME" and the subjects, which are the agent's words, and escaped. */
static int squash_message(const struct landing *l, const struct proposal *p, struct ga_buf *ret,
			  struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	size_t n = 0, i;

	ga_buf_addf(ret, "Squash agent/%s\n\n", l->s->name);
	if (ga_rev_list(l->repo, &p->tip, 1, &p->head, 1, COMMITS_MAX, &commits, &n, err))
		return -1;
	for (i = 0; i < n && i < SUBJECTS && ret->len < SUBJECTS_MAX; i++) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };
		size_t len, shown;

		if (ga_commit_read(l->repo, &commits[i], &c, err))
			return -1;
		len = strcspn(c.message, "\n");
		shown = ga_utf8_cut(c.message, len, SUBJECT_MAX);
		ga_buf_adds(ret, "* ");
		ga_quote_add_text(ret, c.message, shown);
		ga_buf_adds(ret, shown < len ? "...\n" : "\n");
	}
	if (n > i)
		ga_buf_addf(ret, "* and %zu more\n", n - i);
	return 0;
}

static void part_message(const struct landing *l, struct ga_buf *ret)
{
	ga_buf_addf(ret, "Land a part of agent/%s\n\n", l->s->name);
	for (size_t i = 0; i < l->opts->paths->n && i < SUBJECTS; i++) {
		const char *path = *l->opts->paths->v[i] ? l->opts->paths->v[i] : ".";

		ga_buf_adds(ret, "* ");
		ga_quote_add(ret, path, strlen(path));
		ga_buf_addch(ret, '\n');
	}
}

int land_message(const struct landing *l, const struct proposal *p, bool log, struct ga_buf *ret,
		 struct ga_error *err)
{
	const char *given = l->opts->message;
	int rc = 0;

	if (given && !l->opts->edit && !given[strspn(given, " \t\r\n\v\f")])
		return ga_fail(err, GA_EFATAL, "the message is empty");
	if (given && (!log || l->opts->paths || p->how != GA_LAND_MERGE ||
		      !ga_gitconfig_get(l->config, "merge.log")))
		ga_buf_adds(ret, given);
	else if (l->opts->paths)
		part_message(l, ret);
	else if (p->how == GA_LAND_SQUASH)
		rc = squash_message(l, p, ret, err);
	else
		rc = merge_message(l, p, ret, err);
	/* they ran on all of the session */
	if (!l->opts->paths)
		ga_report_check_trailers(&l->report->checks, ret);
	return rc;
}
