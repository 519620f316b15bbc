/* SPDX-License-Identifier: MIT
 *
 * What a capture does to refs: the branch, the session's other refs, and those that an earlier
 * capture made for what the agent no longer has.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "result.h"

/* A session that had nothing, and into which the user's branch was merged, has nothing. */
bool anything(const struct capture *c, const struct outcome *o)
{
	const struct ga_oid *tip = &o->rewrite.tip;

	return !ga_oid_is_zero(tip) && !ga_oid_equal(tip, &c->s->id.onto) &&
	       (!ga_oid_is_zero(&c->s->result.tip) || !ga_oid_equal(tip, &c->s->view.updated));
}

void plan_release(struct plan *p)
{
	ga_ref_updates_release(&p->u);
	ga_strv_release(&p->stand);
}

bool has_result(const struct capture *c, const struct plan *p)
{
	cleanup_free char *base = ga_session_ref(c->s, "base");
	bool has = false;

	for (size_t i = 0; i < p->u.n; i++)
		has |= !ga_oid_is_zero(&p->u.v[i].new);
	for (size_t i = 0; i < p->stand.n; i++)
		has |= strcmp(p->stand.v[i], base) != 0;
	return has;
}

/* Plan to change `name` from its current value to `new` (zero: remove it). */
static int update_to(struct capture *c, struct plan *p, const char *name,
		     const struct ga_oid *new, struct ga_error *err)
{
	int rc = ga_ref_updates_set(c->e->repo, &p->u, name, new, err);

	if (rc > 0 && !ga_oid_is_zero(new))
		ga_strv_push(&p->stand, name);
	return rc < 0 ? -1 : 0;
}

static int hint_rename(const struct capture *c, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(ga_repo_info(c->e->repo)->workdir);

	/* for a submodule this is shown in the superproject */
	return ga_hint(err, "rename it: git%s%s branch -m agent/%s NEW-NAME",
		       c->s->id.within ? " -C " : "", c->s->id.within ? word : "", c->s->name);
}

/* The branch belongs to the session as long as it has a value that the session gave it. */
static int update_branch(struct capture *c, const struct outcome *o, struct plan *p,
			 struct ga_error *err)
{
	const struct ga_oid *new = anything(c, o) ? &o->rewrite.tip : &ga_oid_none;
	const struct ga_oid *known[] =
		{ &c->base.branch, &c->s->id.onto, &c->s->result.tip, new };
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, c->s->id.branch, &old, err);

	if (rc < 0)
		return -1;
	for (size_t i = 0; !rc && i <= GA_NELEMS(known); i++) {
		if (i == GA_NELEMS(known)) {
			(void)ga_fail(err, GA_EFATAL, "branch '%s' was moved while the session ran",
				      c->s->id.branch);
			return hint_rename(c, err);
		}
		if (ga_oid_equal(known[i], &old))
			break;
	}
	return update_to(c, p, c->s->id.branch, new, err);
}

/* Is `oid` work of the agent's from an earlier run, or from a capture that could read more of this
 * run, that nothing published reaches? */
static int is_only_here(struct capture *c, const struct outcome *o, const struct ga_oid *oid,
			struct ga_error *err)
{
	const struct ga_oid *tip = anything(c, o) ? &o->rewrite.tip : &c->base.branch;
	int rc;

	if ((!c->s->run.resumed && !c->git.unread) || ga_oid_is_zero(oid))
		return 0;
	rc = ga_is_ancestor(c->e->repo, oid, tip, err);
	return rc < 0 ? -1 : !rc;
}

static bool is_planned(const struct plan *p, const char *ref)
{
	for (size_t i = 0; i < p->u.n; i++)
		if (!strcmp(p->u.v[i].name, ref))
			return true;
	return false;
}

/* If `new` replaces a value of `name` that it is not based on, and that nothing else has, keep the
 * old value on a ref of its own. */
static int keep_earlier(struct capture *c, const struct outcome *o, struct plan *p,
			const char *name, const struct ga_oid *new, struct ga_error *err)
{
	cleanup_free char *kind = NULL, *ref = NULL;
	struct ga_oid old;
	int rc = ga_ref_read(c->e->repo, name, &old, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	rc = ga_oid_equal(&old, new) ? 0 : is_only_here(c, o, &old, err);
	if (rc > 0 && !ga_oid_is_zero(new)) {
		rc = ga_is_ancestor(c->e->repo, &old, new, err);
		rc = rc < 0 ? -1 : !rc;
	}
	if (rc <= 0)
		return rc;
	kind = ga_strf("earlier/%s", GA_HEX(&old));
	ref = ga_session_ref(c->s, kind);
	/* several refs may have had it, and one is enough */
	return is_planned(p, ref) ? 0 : update_to(c, p, ref, &old, err);
}

static bool is_head(const struct capture *c, const char *name)
{
	for (size_t i = 0; i < c->git.heads.n; i++)
		if (!strcmp(c->git.heads.v[i].name, name))
			return true;
	return false;
}

/* The name that the session's own branch has among the heads. */
static const char *own_branch(const struct capture *c)
{
	return c->s->id.branch + strlen("refs/");
}

/* Is it a commit of an unfinished operation, or of another working tree? It is not the agent that
 * ends these but a resume, after which the other working trees are missing, too: they were in a
 * /tmp that is gone. */
static bool is_of_an_operation(const char *name)
{
	const char *other = name + strlen(GA_OTHERS);

	return !strncmp(name, GA_OTHERS, strlen(GA_OTHERS)) &&
	       (!strchr(other, '/') || !strncmp(other, "worktrees/", 10));
}

/* A new ref is to be a directory where `had` is a ref, or the reverse. No ref transaction of git's
 * does both, so `had` is removed first. `keep`: if nothing else has its value, that is kept on a
 * ref of its own. */
static int give_way(struct capture *c, const struct outcome *o, const struct ga_ref *had,
		    bool keep, struct ga_error *err)
{
	cleanup_(plan_release) struct plan first = PLAN_INIT;
	cleanup_free char *reason = ga_strf("agent: capture %s", c->s->name);

	if (keep && keep_earlier(c, o, &first, had->name, &ga_oid_none, err))
		return -1;
	ga_ref_updates_add(&first.u, had->name, &had->oid, NULL);
	return ga_refs_update(c->e->repo, &first.u, reason, err);
}

/* Is the ref that was kept still a branch of the agent's with the same value, though that has been
 * published since? */
static bool still_stands(const struct capture *c, const char *name, const struct ga_oid *oid)
{
	cleanup_free char *full = ga_strf("refs/%s", name);
	const struct ga_ref *is = ga_refs_find(&c->git.standing, full);

	return is && ga_oid_equal(&is->oid, oid);
}

/* Remove refs that an earlier capture made for what the agent no longer has. `clashing`: those
 * whose names clash with new ones, and only those. */
static int remove_heads(struct capture *c, const struct outcome *o, struct plan *p,
			const char *kind, bool clashing, struct ga_error *err)
{
	cleanup_free char *prefix = ga_session_ref(c->s, kind);
	cleanup_refs struct ga_refs had = GA_REFS_INIT;

	if (ga_refs_list(c->e->repo, prefix, &had, err))
		return -1;
	for (size_t i = 0; i < had.n; i++) {
		const char *name = had.v[i].name + strlen(prefix) - strlen(kind);
		/* these were not removed by the agent: the resume moved the one, and ended the
		 * other */
		bool left = !strcmp(name, own_branch(c)) || is_of_an_operation(name);
		int rc;

		if (is_head(c, name) || clashes_with_head(c, name) != clashing)
			continue;
		if (clashing) {
			if (give_way(c, o, &had.v[i], left || c->git.unread, err))
				return -1;
			continue;
		}
		/* what could not be read may still be there */
		if (c->git.unread || still_stands(c, name, &had.v[i].oid))
			continue;
		rc = left ? is_only_here(c, o, &had.v[i].oid, err) : 0;
		if (rc < 0)
			return -1;
		if (!rc)
			ga_ref_updates_add(&p->u, had.v[i].name, &had.v[i].oid, NULL);
	}
	return 0;
}

static int update_heads(struct capture *c, const struct outcome *o, struct plan *p,
			struct ga_error *err)
{
	/* first, so that what this keeps is known to the steps after it */
	if (remove_heads(c, o, p, GA_HEADS, true, err) ||
	    remove_heads(c, o, p, GA_OTHERS, true, err))
		return -1;
	for (size_t i = 0; i < c->git.heads.n; i++) {
		const struct ga_ref *head = &c->git.heads.v[i];
		cleanup_free char *name = ga_session_ref(c->s, head->name);

		/* two refs of this name, of different runs, may be different things */
		bool keep = c->git.unread || !strcmp(head->name, own_branch(c)) ||
			    is_of_an_operation(head->name);

		if ((keep && keep_earlier(c, o, p, name, &head->oid, err)) ||
		    update_to(c, p, name, &head->oid, err))
			return -1;
	}
	return remove_heads(c, o, p, GA_HEADS, false, err) ||
	       remove_heads(c, o, p, GA_OTHERS, false, err) ? -1 : 0;
}

int make_plan(struct capture *c, const struct outcome *o, struct plan *p, struct ga_error *err)
{
	/* history that the agent abandoned is kept as a whole */
	bool strayed = !ga_oid_is_zero(&c->git.head) && !c->git.related && !c->git.older;
	const struct {
		const char *what;
		const struct ga_oid *oid;
	} refs[] = {
		{ "base", &c->s->id.onto },
		{ "held", &o->rewrite.held },
		{ "orig", strayed ? &c->git.head : &o->rewrite.orig },
		{ "stash", &c->git.stash },
		{ "report", &o->report_id },
	};

	if (update_branch(c, o, p, err) || update_heads(c, o, p, err))
		return -1;
	for (size_t i = 0; i < GA_NELEMS(refs); i++) {
		cleanup_free char *name = ga_session_ref(c->s, refs[i].what);
		/* what could not be read may still be there; and the commits of an earlier run
		 * stay, although nothing was held this time */
		bool orig = !strcmp(refs[i].what, "orig");
		bool keep = (c->git.unread && (orig || refs[i].oid == &c->git.stash)) ||
			    (c->s->run.resumed && orig);

		if (keep && ga_oid_is_zero(refs[i].oid))
			continue;
		if (keep && keep_earlier(c, o, p, name, refs[i].oid, err))
			return -1;
		if (update_to(c, p, name, refs[i].oid, err))
			return -1;
	}
	return 0;
}
