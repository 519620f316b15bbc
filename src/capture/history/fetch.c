/* SPDX-License-Identifier: MIT
 *
 * Fetch the agent's commits: all at once or, if they are refused, ref by ref, so that one refused
 * ref does not cost the others.
 */
#include <string.h>

#include "capture/capture-internal.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/capture/rewrite.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"

#define MAX_TRIES 20 /* attempts to find out which of them are refused */

struct fetching {
	struct capture *c;
	const struct ga_buf *known; /* "^ID" lines of commits */
	const struct ga_oid *theirs; /* commits that are not the agent's, the base first */
	size_t n_theirs;
	uint64_t files, bytes;      /* files in the private git dir, and their bytes */
	unsigned tries;             /* attempts left */
	bool limit;                 /* the last attempt was refused because of a limit */
	size_t named;               /* refs that were dropped */
};

static int measure(struct fetching *f, struct ga_error *err)
{
	struct capture *c = f->c;
	cleanup_free char *dir = ga_path_join(c->s->dir, "git");
	cleanup_(ga_upper_result_release) struct ga_upper_result all = GA_UPPER_RESULT_INIT;
	int rc = ga_upper_count(dir, "", c->e->limits, &all, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; i < all.left.n; i++) {
		f->files += all.left.v[i].count;
		f->bytes += all.left.v[i].bytes;
	}
	if (rc)
		f->bytes = UINT64_MAX;
	return 0;
}

/* Set the time for git inside, at most the remaining import time. Returns 1 if none remains. */
static int allow_packing(struct fetching *f, char **ret_reason)
{
	struct capture *c = f->c;
	unsigned left = import_left(c);

	if (!left) {
		*ret_reason = limit_met(c, GA_LIMIT_GIT_TIME, "checking the commits took too long");
		return 1;
	}
	allow_inside(c, f->files, f->bytes);
	if (c->allowed_ms > left)
		c->allowed_ms = c->left_ms = left;
	return 0;
}

/* Have git inside pack everything that the tips reach and the host does not have, and import it. */
static int export(struct fetching *f, const struct ga_buf *in, const struct ga_oid *tips, size_t n,
		  char **ret_reason, struct ga_error *err)
{
	/* --local leaves out what comes from the host's own objects. An agent can make chains of
	 * deltas as long as it likes, and each access to the end of one goes through all of it:
	 * they are cut to the length that git itself uses, and without bitmaps they are not copied
	 * as they are. */
	struct capture *c = f->c;
	/* objects of the promisor remote are fetched when needed */
	const char *const args[] = {
		"-c", GA_IMPORT_PIECEWISE, "pack-objects", "--revs", "--stdout",
		"--window=0", "--depth=50", "--no-use-bitmap-index", "-q",
		/* a session's own objects get a copy of what no ref of the host reaches */
		ga_repo_is_private(c->e->repo) ? "--no-thin" : "--local",
		ga_repo_is_partial(c->e->repo) ? "--exclude-promisor-objects" : NULL, NULL
	};
	cleanup_error struct ga_error inner = GA_ERROR_INIT;
	cleanup_close int fd = ga_scratch_file(c->s->dir, err);
	struct inside x = INSIDE(.args = args, .in = in);

	if (fd < 0)
		return -1;
	if (allow_packing(f, ret_reason))
		return 1;
	x.out_fd = fd;
	if (run_inside_ok(c, &x, &inner)) {
		if (must_fail(c, &inner))
			return ga_error_move(err, &inner);
		*ret_reason = ga_strdup(inner.msg);
		return 1;
	}
	return import_pack(c, fd, tips, n, f->theirs, f->n_theirs, ret_reason, err);
}

/* `git log --all` prints the messages of all commits on our refs unescaped. */
static int clean_texts(struct capture *c, struct ga_oid *tips, size_t n, struct ga_error *err)
{
	cleanup_strv struct ga_strv claimed = GA_STRV_INIT;
	cleanup_free char *list = NULL;
	size_t cleaned;

	if (ga_rewrite_texts(c->e->repo, c->base.known, c->base.n_known, tips, n, &cleaned,
			     &claimed, &c->keeps, err))
		return -1;
	ga_strv_sort_unique(&claimed);
	list = ga_quote_list(&claimed, GA_LISTED);
	if (claimed.n)
		ga_strv_pushf(&c->notes, "the agent's own commits have trailers that git agent "
			      "writes, and nothing vouches for them: %s", list);
	if (cleaned)
		ga_strv_pushf(&c->notes, "%zu %s had control characters in names or message, "
			      "which are escaped now",
			      cleaned, cleaned == 1 ? "commit" : "commits");
	return 0;
}

/* Fetch these tips, which are replaced by what they were rewritten to. Returns 1 if refused. */
static int fetch(struct fetching *f, struct ga_oid **from, size_t n, char **ret_reason,
		 struct ga_error *err)
{
	struct capture *c = f->c;
	cleanup_free struct ga_oid *tips = ga_calloc(n, sizeof(*tips));
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	uint64_t met = c->met;
	int rc;

	for (size_t i = 0; i < n; i++) {
		tips[i] = *from[i];
		ga_buf_addf(&in, "%s\n", GA_HEX(&tips[i]));
	}
	ga_buf_addf(&in, "^%s\n", GA_HEX(&c->base.agent));
	ga_buf_add(&in, f->known->ptr, f->known->len);
	f->tries -= f->tries > 0;
	c->met = 0;
	rc = export(f, &in, tips, n, ret_reason, err);
	f->limit = c->met != 0;
	c->met |= met;
	if (rc || clean_texts(c, tips, n, err))
		return rc ? rc : -1;
	for (size_t i = 0; i < n; i++)
		*from[i] = tips[i];
	return 0;
}

static void drop_refused(struct fetching *f, struct ga_oid **tips, size_t n, const char *reason)
{
	cleanup_buf struct ga_buf q = GA_BUF_INIT;
	struct capture *c = f->c;

	ga_quote_add(&q, reason, strlen(reason));
	for (size_t i = 0; i < n; i++) {
		cleanup_free char *what = NULL, *note = NULL;

		if (tips[i] == &c->git.head) {
			refuse_history(c, reason);
			continue;
		}
		what = describe_tip(c, tips[i]);
		note = ga_strf("%s was not taken, and stays in the session (%s)", what, q.ptr);
		if (f->named++ < NAMED_REFS)
			note_unkept(c, note);
		*tips[i] = (struct ga_oid){ { 0 } };
		c->git.unread = true;
	}
}

static int fetch_part(struct fetching *f, struct ga_oid **tips, size_t n, struct ga_error *err);

/* All of these together were refused. After a limit was exceeded the halves are not tried: each may
 * be within a limit that all together exceed. */
static int fetch_halves(struct fetching *f, struct ga_oid **tips, size_t n, const char *reason,
			struct ga_error *err)
{
	if (n > 1 && f->tries && !f->limit)
		return fetch_part(f, tips, n / 2, err) ||
				       fetch_part(f, tips + n / 2, n - n / 2, err)
			       ? -1
			       : 0;
	drop_refused(f, tips, n, reason);
	return 0;
}

static int fetch_part(struct fetching *f, struct ga_oid **tips, size_t n, struct ga_error *err)
{
	cleanup_free char *reason = NULL;
	int rc = n ? fetch(f, tips, n, &reason, err) : 0;

	return rc > 0 ? fetch_halves(f, tips, n, reason, err) : rc;
}

/* Try the most important first: HEAD, then branches and the stash, then the others. */
static int fetch_by_worth(struct fetching *f, struct ga_oid **tips, size_t n, const char *reason,
			  struct ga_error *err)
{
	const struct ga_refs *l = &f->c->git.heads;
	size_t head = tips[0] == &f->c->git.head, others = 0;

	for (size_t i = 0; i < l->n; i++)
		others += ga_path_below(l->v[i].name, "others") != NULL;
	if (head == n || others == n || (!head && !others))
		return fetch_halves(f, tips, n, reason, err);
	return fetch_part(f, tips, head, err) ||
			       fetch_part(f, tips + head, n - head - others, err) ||
			       fetch_part(f, tips + n - others, others, err)
		       ? -1
		       : 0;
}

int fetch_commits(struct capture *c, const struct ga_refs *host, const struct ga_buf *known,
		  struct ga_error *err)
{
	struct fetching f = { .c = c, .known = known, .tries = MAX_TRIES };
	cleanup_free struct ga_oid **tips = ga_calloc(c->git.heads.n + 2, sizeof(*tips));
	cleanup_free struct ga_oid *theirs =
		ga_calloc(c->base.n_known + host->n + 1, sizeof(*theirs));
	cleanup_free char *reason = NULL;
	size_t n = agent_tips(c, tips);
	int rc;

	if (!n)
		return 0;
	/* a branch of the user's that the agent merged is not its work, and does not count for
	 * limits */
	f.theirs = theirs;
	for (size_t i = 0; i < c->base.n_known; i++)
		theirs[f.n_theirs++] = c->base.known[i];
	for (size_t i = 0; i < host->n; i++)
		theirs[f.n_theirs++] = host->v[i].oid;
	if (measure(&f, err))
		return -1;
	begin_import(c);
	rc = fetch(&f, tips, n, &reason, err);
	if (rc > 0) {
		/* a stash that takes all the time must leave some for HEAD */
		begin_import(c);
		rc = fetch_by_worth(&f, tips, n, reason, err);
	}
	if (rc)
		return -1;
	note_more_unkept(c, f.named, "refs were not taken, and stay in the session");
	forget_zero_heads(c);
	return 0;
}
