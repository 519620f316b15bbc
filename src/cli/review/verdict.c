/* SPDX-License-Identifier: MIT */
#include "cli/verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/diff.h"
#include "ga/sys/fd.h"

void cli_verdict_release(struct cli_verdict *v)
{
	ga_decision_release(&v->decision);
	ga_remarks_release(&v->remarks);
}

static int fail_list(const char *list, size_t n, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(list);

	return ga_fail(err, GA_EUSAGE,
		       "--hunk takes numbers from 1 to %zu, as in 1,3-4, not '%s'", n, q);
}

/* "A" or "A-B", up to `end`, as the half-open range of indices that it means. */
static bool parse_range(const char *p, const char *end, size_t n, size_t *ret_from, size_t *ret_to)
{
	cleanup_free char *from = ga_strndup(p, (size_t)(end - p));
	char *dash = strchr(from, '-');
	uint64_t a, b;

	if (dash)
		*dash++ = '\0';
	if (!ga_parse_u64(from, n, &a) || !ga_parse_u64(dash ? dash : from, n, &b) || !a || b < a)
		return false;
	*ret_from = (size_t)a - 1;
	*ret_to = (size_t)b;
	return true;
}

/* Set `ret` to `mark` for the edits of hunks in the list, and to `!mark` for all others. */
static int mark_edits(const struct ga_hunks *h, const char *list, bool mark, bool *ret,
		      struct ga_error *err)
{
	for (size_t e = 0; e < h->n_edits; e++)
		ret[e] = !mark;
	for (const char *p = list;; p++) {
		const char *end = p + strcspn(p, ",");
		size_t from, to;

		if (!parse_range(p, end, h->n, &from, &to))
			return fail_list(list, h->n, err);
		for (size_t i = from; i < to; i++)
			for (size_t e = 0; e < h->v[i].n; e++)
				ret[h->v[i].first + e] = mark;
		p = end;
		if (!*p)
			return 0;
	}
}

int cli_decide_hunks(struct cli *c, const struct ga_review_items *items, const char *path,
		     const char *list, bool keep, struct cli_verdict *v, struct ga_error *err)
{
	cleanup_hunks struct ga_hunks h = GA_HUNKS_INIT;
	cleanup_free char *q = ga_escape(path);
	const struct ga_review_item *item = NULL;
	cleanup_free bool *undo = NULL;
	int rc;

	for (size_t i = 0; i < items->n && !item; i++)
		if (!strcmp(items->v[i].change.path, path))
			item = &items->v[i];
	if (!item)
		return ga_fail(err, GA_EFATAL, "nothing was changed at '%s'", q);
	rc = item->where == GA_REVIEW_BRANCH || item->where == GA_REVIEW_HELD ?
		     ga_hunks_read(c->env.repo, &item->change.old, &item->change.new, &h, err) : 1;
	if (rc < 0)
		return -1;
	if (rc) {
		(void)ga_fail(err, GA_EFATAL, "'%s' has no hunks", q);
		return ga_hint(err, "without --hunk it is %s as a whole",
			       keep ? "accepted" : "rejected");
	}
	undo = ga_calloc(h.n_edits, sizeof(*undo));
	if (mark_edits(&h, list, !keep, undo, err))
		return -1;
	if (keep)
		ga_strv_push(&v->decision.accept, path);
	/* where no edit is undone, the path is accepted as it is */
	if (memchr(undo, 1, h.n_edits))
		ga_decision_add_hunks(&v->decision, &item->change, item->where == GA_REVIEW_HELD,
				      undo, h.n_edits);
	return 0;
}

static int fail_feedback(const char *file, bool decided, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(file);
	bool link = errno == ELOOP;

	(void)ga_fail_errno(err, GA_EFATAL, errno, "%scannot write feedback to '%s'",
			    decided ? "the decision is made, but " : "", q);
	return link ? ga_hint(err, "links are not followed where an agent could have made them: "
				   "name the file that it leads to, if you know it") : -1;
}

/* What is appended is an agent's text, and where agents can write it could have put a link to have
 * it appended to some other file: none is followed there. */
static int open_feedback(const struct cli *c, const char *file)
{
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY;
	const char *const places[] = { ga_repo_info(c->env.repo)->workdir, c->env.agent_home };
	cleanup_free char *cwd = file[0] == '/' ? ga_strdup("/") : getcwd(NULL, 0);
	cleanup_free char *rest = cwd ? ga_path_resolve(cwd + 1, file + strspn(file, "/")) : NULL;
	cleanup_free char *path = rest ? ga_strf("/%s", rest) : NULL;

	for (size_t i = 0; path && i < GA_NELEMS(places); i++) {
		const char *below = places[i] ? ga_path_below(path, places[i]) : NULL;
		cleanup_close int dir = -1;

		if (!below || !*below)
			continue;
		dir = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
		return dir < 0 ? -1 : ga_openat_beneath(dir, below, flags, 0666);
	}
	return open(path ? path : file, flags, 0666);
}

int cli_decide(struct cli *c, struct ga_session *s, struct ga_report *r, struct cli_verdict *v,
	       struct ga_error *err)
{
	cleanup_changes struct ga_changes rejected = GA_CHANGES_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *own = NULL;
	cleanup_close int fd = -1;
	const char *file = v->feedback;

	if (!file && v->remarks.texts.n)
		file = own = ga_path_join(s->dir, GA_REMARKS_FILE);
	/* opened first, so that nothing is decided that the agent cannot be told then */
	if (file)
		fd = open_feedback(c, file);
	if (file && fd < 0)
		return fail_feedback(file, false, err);
	v->decision.risk = &c->env.risk;
	if (ga_decide(c->env.repo, s, r, &v->decision, &rejected, err))
		return -1;
	v->decided = true;
	if (fd < 0 || !rejected.n)
		return 0;
	if (ga_feedback(c->env.repo, s->name, &rejected, &v->remarks, &text, err))
		return -1;
	return ga_write_full(fd, text.ptr, text.len) ? fail_feedback(file, true, err) : 0;
}
