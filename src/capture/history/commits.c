/* SPDX-License-Identifier: MIT
 *
 * Find the agent's own commits and refs. Only git inside the sandbox reads its private git dir; its
 * output is text, parsed strictly, and a pack.
 */
#include <string.h>

#include "ga/repo/history.h"
#include "capture/capture-internal.h"
#include "ga/base/oid.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/gitdir.h"
#include "ga/repo/objects.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"

#define MAX_KNOWN 10000 /* greatest numbers of known and of queried commits that are passed to
			 * git */

/* The refs of the private git dir, from git inside. */
struct inside_refs {
	struct ga_oid head;
	bool has_head;
	struct ga_refs *refs; /* refs/heads/..., refs/stash */
};

/* Is it a branch or the stash itself? The patterns given to git also match what is below. */
static bool is_wanted(const char *name)
{
	const char *branch = ga_ref_branch(name);

	return branch ? *branch != '\0' : !strcmp(name, "refs/stash");
}

/* Refs below the stash are found with those on no branch (others.c). */
static bool parse_ref(const char *line, size_t n, struct ga_refs *ret)
{
	struct ga_oid oid;
	cleanup_free char *name = id_and_name(line, n, &oid);

	if (!name)
		return false;
	if (!strncmp(name, "refs/stash/", strlen("refs/stash/")))
		return true;
	if (!is_wanted(name))
		return false;
	ga_refs_add(ret, name, &oid);
	return true;
}

static int read_head(struct capture *c, struct inside_refs *ret, struct ga_error *err)
{
	static const char *const args[] = { "rev-parse", "--verify", "-q", "HEAD^{commit}", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	int status;
	struct inside x = INSIDE(.args = args, .out = &out);

	if (run_inside(c, &x, &status, err))
		return -1;
	ret->has_head = !status && out.len == GA_OID_HEXSZ + 1 && out.ptr[GA_OID_HEXSZ] == '\n' &&
			ga_oid_parse(out.ptr, GA_OID_HEXSZ, &ret->head);
	return 0;
}

/* Find the refs that git ignored: it warns about each and continues. Only the beginning of its
 * messages is kept. */
static void find_ignored(const struct ga_buf *errout, struct ga_strv *bad)
{
	static const char *const says[] = { "warning: ignoring broken ref ",
					    "warning: ignoring ref with broken name " };

	for (size_t i = 0; i < GA_NELEMS(says); i++)
		for (const char *p = errout->ptr; (p = strstr(p, says[i]));) {
			cleanup_free char *name = NULL;

			p += strlen(says[i]);
			if (!strchr(p, '\n'))
				break;
			name = ga_strndup(p, strcspn(p, "\n"));
			if (is_wanted(name))
				ga_strv_push(bad, name);
		}
}

/* Drop refs to anything but commits. for-each-ref cannot be asked about that: it would stop at the
 * first object that is missing. */
static int drop_others_than_commits(struct capture *c, struct ga_refs *l, struct ga_strv *bad,
				    struct ga_error *err)
{
	static const char *const args[] = { "cat-file", "--batch-check=%(objectname) %(objecttype)",
					    NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT;
	const struct inside x = INSIDE(.args = args, .in = &in, .out = &out);
	size_t kept = 0, pos = 0, n;
	int status;

	for (size_t i = 0; i < l->n; i++)
		ga_buf_addf(&in, "%s\n", GA_HEX(&l->v[i].oid));
	if (l->n && run_inside(c, &x, &status, err))
		return -1;
	for (size_t i = 0; i < l->n; i++) {
		cleanup_free char *want = ga_strf("%s commit", GA_HEX(&l->v[i].oid));
		const char *line = ga_buf_next_line(&out, &pos, &n);

		if (line && n == strlen(want) && !memcmp(line, want, n)) {
			l->v[kept++] = l->v[i];
		} else {
			ga_strv_take(bad, l->v[i].name);
		}
	}
	l->n = kept;
	return 0;
}

/* `cut`: there are more of them than are listed. `more`: it is not known which. */
static void note_bad(struct capture *c, struct ga_strv *bad, bool cut, bool more)
{
	cleanup_free char *named = NULL, *note = NULL;

	if (!bad->n && !more)
		return;
	for (size_t i = 0; i < bad->n; i++) {
		const char *branch = ga_ref_branch(bad->v[i]);

		if (branch)
			memmove(bad->v[i], branch, strlen(branch) + 1);
	}
	named = ga_quote_list(bad, NAMED_REFS);
	note = ga_strf("not all of the agent's branches could be read%s%s%s", bad->n ? ": " : "",
		       named, cut ? ", and others" : "");
	c->git.unread = true;
	note_unkept(c, note);
	c->unkept_more += bad->n > 1 ? bad->n - 1 : 0;
}

/* Read the refs. One that cannot be used does not affect the others. */
static int read_refs(struct capture *c, struct inside_refs *ret, struct ga_error *err)
{
	static const char *const args[] = { "for-each-ref", "--format=%(objectname) %(refname)",
					    "refs/heads/", "refs/stash", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, errout = GA_BUF_INIT;
	cleanup_strv struct ga_strv bad = GA_STRV_INIT;
	const struct inside x = INSIDE(.args = args, .out = &out, .errout = &errout);
	size_t pos = 0, n;
	const char *line;
	bool more = false;
	int status;

	if (run_inside(c, &x, &status, err))
		return -1;
	while ((line = ga_buf_next_line(&out, &pos, &n)))
		more |= !parse_ref(line, n, ret->refs);
	find_ignored(&errout, &bad);
	if (drop_others_than_commits(c, ret->refs, &bad, err))
		return -1;
	/* messages that do not end with a newline were cut off */
	note_bad(c, &bad, errout.len && errout.ptr[errout.len - 1] != '\n', more || status);
	return 0;
}

/* Find the agent's branches on commits that refs of the host reach, but none points to. Refs of
 * sessions do not count: they may be of an incomplete capture. */
static int find_known(struct capture *c, const struct inside_refs *in,
		      const struct ga_oidmap *host, struct ga_oidmap *ret, struct ga_error *err)
{
	cleanup_free struct ga_oid *ask = ga_calloc(MAX_KNOWN, sizeof(*ask));
	size_t n = 0;

	for (size_t i = 0; i < in->refs->n && n < MAX_KNOWN; i++)
		if (!ga_oidmap_get(host, &in->refs->v[i].oid, NULL))
			ask[n++] = in->refs->v[i].oid;
	return ga_find_on_branches(c->e->repo, ask, n, &c->base.agent,
				   c->e->limits->history, ret, err);
}

/* Divide the branches inside into the agent's and others, whose ids are added to `known`. A branch
 * at HEAD's commit is kept under its own name like any other, except the session's branch, on which
 * all of that is published anyway. */
static int sort_out(struct capture *c, const struct inside_refs *in, const struct ga_refs *host,
		    struct ga_buf *known, struct ga_error *err)
{
	cleanup_oidmap struct ga_oidmap there = GA_OIDMAP_INIT, on_branch = GA_OIDMAP_INIT;
	size_t more = 0, odd = 0, n_known = 0, max = c->e->limits->branches;

	for (size_t i = 0; i < host->n; i++)
		(void)ga_oidmap_add(&there, &host->v[i].oid, 0);
	if (find_known(c, in, &there, &on_branch, err))
		return -1;
	for (size_t i = 0; i < in->refs->n; i++) {
		const struct ga_ref *r = &in->refs->v[i];
		bool at_head = in->has_head && ga_oid_equal(&r->oid, &in->head);
		bool is = is_wip_base(c, &r->oid) || ga_oidmap_get(&there, &r->oid, NULL) ||
			  ga_oidmap_get(&on_branch, &r->oid, NULL);

		if (!strcmp(r->name, "refs/stash")) {
			c->git.stash = r->oid;
		} else if (is || (at_head && !strcmp(r->name, c->s->id.branch))) {
			ga_refs_add(&c->git.standing, r->name, &r->oid);
			if (!at_head && n_known++ < MAX_KNOWN)
				ga_buf_addf(known, "^%s\n", GA_HEX(&r->oid));
		} else if (c->git.heads.n + odd < max) {
			keep_head(c, r->name + strlen("refs/"), &r->oid, &odd);
		} else {
			more++;
		}
	}
	note_rest(c, "branches", odd, "branches of the agent", more);
	return 0;
}

static int was_touched(struct capture *c, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(c->s->dir, "git");
	int rc = ga_gitdir_untouched(dir, c->s->id.branch, err);

	return rc < 0 ? -1 : !rc;
}

/* Find the tree of the fetched tip, and whether the tip is based on that of the session. */
static int judge_head(struct capture *c, struct ga_error *err)
{
	int rc;

	if (ga_oid_is_zero(&c->git.head))
		return 0;
	if (ga_commit_tree(c->e->repo, &c->git.head, &c->git.head_tree, err))
		return -1;
	/* a submodule's HEAD may be moved to any commit, even an older one, and be based on that */
	c->git.related = c->s->id.within != NULL;
	if (c->git.related)
		return 0;
	rc = ga_is_ancestor(c->e->repo, &c->base.agent, &c->git.head, err);
	if (rc < 0)
		return -1;
	c->git.related = rc;
	if (rc)
		return 0;
	rc = ga_is_ancestor(c->e->repo, &c->git.head, &c->s->id.onto, err);
	if (rc < 0)
		return -1;
	c->git.older = rc;
	if (rc)
		ga_strv_pushf(&c->notes, "the agent ended on an older commit, %.12s: what it did "
			      "there is one commit, if it did anything", GA_HEX(&c->git.head));
	else
		ga_strv_pushf(&c->notes, "the agent rewrote %s: " ONE_COMMIT "; its own commits "
			      "are kept beside it", c->s->run.resumed
			      ? "commits that are published" : "history below its base");
	return 0;
}

/* Name the refs of work that is not on the branch. */
void name_others(struct capture *c)
{
	static const struct {
		const char *kind, *what;
	} kinds[] = {
		{ "heads", "the agent's branches are kept on" },
		{ "others", "what the agent committed on no branch is kept on" },
	};

	for (size_t k = 0; k < GA_NELEMS(kinds); k++) {
		cleanup_strv struct ga_strv names = GA_STRV_INIT;
		cleanup_free char *named = NULL;

		for (size_t i = 0; i < c->git.heads.n; i++) {
			const char *name = ga_path_below(c->git.heads.v[i].name, kinds[k].kind);

			if (name)
				ga_strv_push(&names, name);
		}
		named = ga_quote_list(&names, NAMED_REFS);
		if (names.n)
			ga_strv_pushf(&c->notes, "%s " GA_SESSION_REFS "%s/%s/: %s", kinds[k].what,
				      c->s->name, kinds[k].kind, named);
	}
	if (!ga_oid_is_zero(&c->git.stash))
		ga_strv_pushf(&c->notes, "the agent's stash is kept on " GA_SESSION_REFS "%s/stash",
			      c->s->name);
}

/* Ask git inside about HEAD and refs. Returns 1 if that is not possible, with the reason. */
static int ask(struct capture *c, struct inside_refs *in, char **ret_reason, struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(c->s->dir, "git");
	cleanup_error struct ga_error inner = GA_ERROR_INIT;

	if (ga_gitdir_has_trap(dir)) {
		*ret_reason = ga_strdup("its git dir holds a fifo, a link among its refs or a "
					"closed directory");
		return 1;
	}
	allow_inside(c, 0, 0);
	if (!read_head(c, in, &inner) && !read_refs(c, in, &inner))
		return 0;
	if (must_fail(c, &inner))
		return ga_error_move(err, &inner);
	*ret_reason = ga_strdup(inner.msg);
	return 1;
}

int import_commits(struct capture *c, struct ga_error *err)
{
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	struct inside_refs in = { .refs = &refs };
	cleanup_buf struct ga_buf known = GA_BUF_INIT;
	cleanup_refs struct ga_refs host = GA_REFS_INIT;
	cleanup_free char *reason = NULL;
	const char *unfinished;
	int rc = was_touched(c, err);

	if (left_unfinished(c, &unfinished)) {
		ga_strv_pushf(&c->notes, "the agent stopped in the middle of %s: its work may be "
			      "half done", unfinished);
		rc = rc < 0 ? rc : 1;
	}
	if (rc <= 0) {
		c->git.head = c->base.agent;
		return rc < 0 ? -1 : judge_head(c, err);
	}
	rc = ask(c, &in, &reason, err);
	if (rc) {
		if (rc > 0)
			refuse_history(c, reason);
		return rc > 0 ? 0 : -1;
	}
	if (ga_session_host_refs(c->e->repo, &host, err) || sort_out(c, &in, &host, &known, err))
		return -1;
	c->git.headless = !in.has_head;
	if (in.has_head)
		c->git.head = in.head;
	else
		ga_strv_push(&c->notes, "the agent's HEAD names no commit: " ONE_COMMIT);
	if (import_others(c, &host, &known, err))
		return -1;
	if (fetch_commits(c, &host, &known, err))
		return -1;
	return judge_head(c, err);
}
