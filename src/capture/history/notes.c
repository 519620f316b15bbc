/* SPDX-License-Identifier: MIT
 *
 * Note what of the agent's work cannot be kept: beyond limits, and how to raise them; and heads
 * whose names no ref can have.
 */
#include <string.h>

#include "ga/config/config.h"
#include "ga/repo/history.h"
#include "capture/capture-internal.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"

char *limit_met(struct capture *c, enum ga_limit which, const char *what)
{
	cleanup_free char *value = ga_limit_text(c->e->limits, which);

	c->met |= (uint64_t)1 << which;
	return ga_strf("%s (%s: %s)", what, ga_limit_key(which), value);
}

static bool has_limit(uint64_t met, unsigned i)
{
	return met >> i & 1;
}

/* How to raise these limits, as one line. A limit that the repository's file lowered can only be
 * raised on the command line. */
static char *limits_hint(const struct capture *c, uint64_t met)
{
	cleanup_buf struct ga_buf raise = GA_BUF_INIT, once = GA_BUF_INIT;
	cleanup_free char *file = ga_escape(c->e->config_file);
	const char *where = c->s->id.within ? " in the superproject" : "";

	for (unsigned i = 0; i < GA_LIMITS_N; i++) {
		const char *key = ga_limit_key((enum ga_limit)i);

		if (!has_limit(met, i))
			continue;
		if (ga_limit_is_lowered(c->e->limits, (enum ga_limit)i))
			ga_buf_addf(&once, " -c %s=...", key);
		else
			ga_buf_addf(&raise, "%s%s", raise.len ? ", " : "", key);
	}
	if (raise.len)
		return ga_strf("raise %s in %s, then run 'git agent%s capture %s'%s", raise.ptr,
			       file, once.ptr, c->s->name, where);
	return ga_strf("run 'git agent%s capture %s'%s, since the repository's file sets it",
		       once.ptr, c->s->name, where);
}

void report_limits(const struct capture *c, struct ga_report *r)
{
	cleanup_free char *remedy = NULL;

	if (!c->met)
		return;
	for (unsigned i = 0; i < GA_LIMITS_N; i++)
		if (has_limit(c->met, i))
			ga_strv_push(&r->limits, ga_limit_key((enum ga_limit)i));
	remedy = limits_hint(c, c->met);
	ga_strv_pushf(&r->notes, "for what is beyond a limit, %s", remedy);
}

static int fail_limit(struct capture *c, enum ga_limit which, const char *what,
		      struct ga_error *err)
{
	cleanup_free char *full = limit_met(c, which, what);
	cleanup_free char *remedy = limits_hint(c, (uint64_t)1 << which);

	return ga_fail(err, GA_EFATAL, "%s"
		       GA_HINT "%s", full, remedy);
}

int fail_late(struct capture *c, struct ga_error *err)
{
	return fail_limit(c, GA_LIMIT_READ_TIME, "reading what the agent wrote took too long", err);
}

int list_history(struct capture *c, const struct ga_oid *tips, size_t n_tips,
		 const struct ga_oid *hide, size_t n_hide, struct ga_oid **ret, size_t *ret_n,
		 struct ga_error *err)
{
	int rc = ga_rev_list_bounded(c->e->repo, tips, n_tips, hide, n_hide, c->e->limits->history,
				     ret, ret_n, err);

	if (rc != 1)
		return rc;
	return fail_limit(c, GA_LIMIT_HISTORY, "there are too many commits since the base", err);
}

bool clashes_with_head(const struct capture *c, const char *name)
{
	for (size_t i = 0; i < c->git.heads.n; i++)
		if (ga_path_inside(name, c->git.heads.v[i].name) ||
		    ga_path_inside(c->git.heads.v[i].name, name))
			return true;
	return false;
}

size_t agent_tips(struct capture *c, struct ga_oid **ret)
{
	size_t n = 0;

	if (!ga_oid_is_zero(&c->git.head) && !ga_oid_equal(&c->git.head, &c->base.agent))
		ret[n++] = &c->git.head;
	if (!ga_oid_is_zero(&c->git.stash))
		ret[n++] = &c->git.stash;
	for (size_t i = 0; i < c->git.heads.n; i++)
		ret[n++] = &c->git.heads.v[i].oid;
	return n;
}

void note_unkept(struct capture *c, const char *note)
{
	ga_strv_push(&c->notes, note);
	ga_strv_push(&c->unkept, note);
}

/* A refusal only loses the agent's history: continue without it. */
void refuse_history(struct capture *c, const char *reason)
{
	cleanup_buf struct ga_buf q = GA_BUF_INIT;
	cleanup_free char *note = NULL;

	ga_quote_add(&q, reason, strlen(reason));
	note = ga_strf("the agent's commits were not taken (%s): " ONE_COMMIT, q.ptr);
	note_unkept(c, note);
	c->git.unread = true;
	c->git.head = (struct ga_oid){ { 0 } };
}

char *id_and_name(const char *line, size_t n, struct ga_oid *ret)
{
	return n > GA_OID_HEXSZ + 1 && ga_oid_parse(line, GA_OID_HEXSZ, ret) &&
	       line[GA_OID_HEXSZ] == ' ' ?
	       ga_strndup(line + GA_OID_HEXSZ + 1, n - GA_OID_HEXSZ - 1) : NULL;
}

/* A packed-refs file written by hand can have a name twice, or one that is a directory of another,
 * which no ref transaction accepts. */
void keep_head(struct capture *c, const char *name, const struct ga_oid *oid, size_t *odd)
{
	const char *branch = ga_path_below(name, "heads");
	cleanup_free char *ref = ga_session_ref(c->s, name), *q = NULL, *note = NULL;

	if (ga_ref_name_ok(ref) && !clashes_with_head(c, name)) {
		ga_refs_add(&c->git.heads, name, oid);
		return;
	}
	/* so what an earlier capture kept of it is not removed */
	c->git.unread = true;
	if ((*odd)++ >= NAMED_REFS)
		return;
	q = ga_quote(branch ? branch : ga_path_below(name, "others"));
	note = ga_strf("the agent's %s %s has a name that cannot be kept",
		       branch ? "branch" : "ref", q);
	note_unkept(c, note);
}

void note_more_unkept(struct capture *c, size_t n, const char *what)
{
	cleanup_free char *note = NULL;

	if (n <= NAMED_REFS)
		return;
	note = ga_strf("%zu more of the agent's %s", n - NAMED_REFS, what);
	note_unkept(c, note);
	/* the note itself counts for one */
	c->unkept_more += n - NAMED_REFS - 1;
}

void note_rest(struct capture *c, const char *odd_what, size_t odd, const char *what, size_t more)
{
	cleanup_free char *names = ga_strf("%s have names that cannot be kept", odd_what);

	note_more_unkept(c, odd, names);
	if (more) {
		cleanup_free char *note = ga_strf("%zu more %s stay in the session", more, what);

		ga_strv_take(&c->notes, limit_met(c, GA_LIMIT_BRANCHES, note));
	}
}

char *describe_tip(const struct capture *c, const struct ga_oid *tip)
{
	for (size_t i = 0; i < c->git.heads.n; i++) {
		const char *branch = ga_path_below(c->git.heads.v[i].name, "heads");
		const char *other = ga_path_below(c->git.heads.v[i].name, "others");
		cleanup_free char *q = NULL;

		if (tip != &c->git.heads.v[i].oid)
			continue;
		q = ga_quote(branch ? branch : other);
		return ga_strf(branch ? "the agent's branch %s"
				      : "what the agent committed on no branch (%s)", q);
	}
	return ga_strdup(tip == &c->git.stash ? "the agent's stash"
					  : "the history that the agent left");
}

void forget_zero_heads(struct capture *c)
{
	struct ga_refs *l = &c->git.heads;
	size_t kept = 0;

	for (size_t i = 0; i < l->n; i++)
		if (ga_oid_is_zero(&l->v[i].oid))
			free(l->v[i].name);
		else
			l->v[kept++] = l->v[i];
	l->n = kept;
}
