/* SPDX-License-Identifier: MIT
 *
 * The message of the commit: the one given, or one made from the session.
 */
#include <string.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "land-internal.h"

#define SUBJECTS 100 /* of commits, in one message */
#define SUBJECT_MAX ((size_t)1000) /* bytes of each: the agent can make it as long as it likes */
#define SUBJECTS_MAX ((size_t)64 << 10) /* of them together: the message is an argument of git's */
#define COMMITS_MAX 1000000

/* "Squash agent/NAME" and the subjects, which are the agent's words, and escaped. */
static int squash_message(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	size_t n = 0, i;

	ga_buf_addf(ret, "Squash agent/%s\n\n", l->s->name);
	if (ga_rev_list(l->repo, &l->tip, 1, &l->head, 1, COMMITS_MAX, &commits, &n, err))
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

static void part_message(struct land *l, struct ga_buf *ret)
{
	ga_buf_addf(ret, "Land a part of agent/%s\n\n", l->s->name);
	for (size_t i = 0; i < l->opts->paths->n && i < SUBJECTS; i++) {
		const char *path = *l->opts->paths->v[i] ? l->opts->paths->v[i] : ".";

		ga_buf_adds(ret, "* ");
		ga_quote_add(ret, path, strlen(path));
		ga_buf_addch(ret, '\n');
	}
}

/* Does the last paragraph look like trailers? Then more of them go there. */
static bool ends_in_trailers(const struct ga_buf *m)
{
	const char *last = m->ptr + m->len, *colon;
	size_t n;

	while (last > m->ptr && last[-1] != '\n')
		last--;
	n = strspn(last, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
	colon = last + n;
	return last > m->ptr && n && colon[0] == ':' && colon[1] == ' ';
}

/* Not for a part of it: the checks ran on all. */
static void add_checks(const struct land *l, struct ga_buf *ret)
{
	if (!l->report || !l->report->checks.n)
		return;
	while (ret->len && ret->ptr[ret->len - 1] == '\n')
		ga_buf_chomp(ret);
	ga_buf_adds(ret, ends_in_trailers(ret) ? "\n" : "\n\n");
	ga_report_check_trailers(&l->report->checks, ret);
}

int land_message(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	const char *given = l->opts->message;

	/* unless it is still to be edited, git would leave what it merged uncommitted */
	if (given && !l->opts->edit && !given[strspn(given, " \t\r\n\v\f")])
		return ga_fail(err, GA_EFATAL, "the message is empty: nothing was touched");
	if (given)
		ga_buf_adds(ret, given);
	else if (l->opts->paths && !(land_wants_all(l) && !ga_oid_is_zero(&l->tip)))
		part_message(l, ret);
	else if (l->opts->how != GA_LAND_SQUASH)
		ga_buf_addf(ret, "Merge agent/%s", l->s->name);
	else if (squash_message(l, ret, err))
		return -1;
	if (land_wants_all(l))
		add_checks(l, ret);
	return 0;
}
