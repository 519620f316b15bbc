/* SPDX-License-Identifier: MIT */
#include "ga/repo/history.h"
#include "transfer-internal.h"

#define LIST_MAX ((size_t)64 << 20)
#define LIST_MS 120000
#define REFUSED_MAX ((size_t)400) /* bytes of git's message about a ref */

void ga_remote_sessions_release(struct ga_remote_sessions *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].name);
	free(l->v);
	ga_refs_release(&l->refs);
	*l = (struct ga_remote_sessions)GA_REMOTE_SESSIONS_INIT;
}

static int fail_remote(const char *what, const char *remote, const struct ga_buf *why,
		       struct ga_error *err)
{
	cleanup_free char *line = ga_git_last_line(why);

	return ga_fail(err, GA_EFATAL, "cannot %s '%s': %s", what, remote,
		       line ? line : "git failed");
}

/* The name of a session that a ref of the remote has between `prefix` and `suffix`; NULL: no valid
 * one. */
static char *name_in(const char *ref, size_t n, const char *prefix, const char *suffix)
{
	size_t before = strlen(prefix), behind = strlen(suffix);
	char *name;

	if (n <= before + behind || strncmp(ref, prefix, before) != 0 ||
	    strncmp(ref + n - behind, suffix, behind) != 0)
		return NULL;
	name = ga_strndup(ref + before, n - before - behind);
	if (ga_session_name_ok(name))
		return name;
	free(name);
	return NULL;
}

static bool is_in(const char *ref, size_t n, const char *space)
{
	return n > strlen(space) && !strncmp(ref, space, strlen(space));
}

/* "ID<tab>REF" */
static void take_line(struct ga_remote_sessions *l, const char *line, size_t n)
{
	const char *ref = line + GA_OID_HEXSZ + 1;
	cleanup_free char *name = NULL, *held = NULL;
	struct ga_remote_session *s = NULL;
	struct ga_oid oid;

	if (n <= GA_OID_HEXSZ + 1 || line[GA_OID_HEXSZ] != '\t' ||
	    !ga_oid_parse(line, GA_OID_HEXSZ, &oid) || ga_oid_is_zero(&oid))
		return;
	n -= GA_OID_HEXSZ + 1;
	/* git lists refs by name: refs/agent/ comes before refs/heads/ */
	name = name_in(ref, n, GA_SESSION_BRANCHES, "");
	held = name ? NULL : name_in(ref, n, GA_SESSION_REFS, "/held");
	if (is_in(ref, n, "refs/tags/") ||
	    (is_in(ref, n, "refs/heads/") && !is_in(ref, n, GA_SESSION_BRANCHES))) {
		cleanup_free char *other = ga_strndup(ref, n);

		ga_refs_add(&l->refs, other, &oid);
	}
	if ((!name && !held) || l->n >= GA_REMOTE_SESSIONS_MAX)
		return;
	for (size_t i = 0; !s && i < l->n; i++)
		if (!strcmp(l->v[i].name, name ? name : held))
			s = &l->v[i];
	if (!s) {
		GA_GROW(l->v, l->n, l->cap);
		s = &l->v[l->n++];
		*s = (struct ga_remote_session){ .name = ga_strdup(name ? name : held) };
	}
	*(name ? &s->tip : &s->held) = oid;
}

int ga_remote_list(struct ga_repo *r, const char *remote, struct ga_remote_sessions *ret,
		   struct ga_error *err)
{
	static const char held[] = GA_SESSION_REFS "*/held";
	const char *const args[] = { "ls-remote", "--quiet", "--refs", "--", remote,
				     "refs/heads/*", "refs/tags/*", held, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	size_t kept = 0;
	int status;
	/* in the working tree, the start of a relative URL */
	struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(r)->workdir, .out = &out,
				 .out_max = LIST_MAX, .errout = &why, .timeout_ms = LIST_MS,
				 .as_user = true);

	if (ga_git_run(r, &g, &status, err))
		return -1;
	if (status)
		return fail_remote("ask remote", remote, &why, err);
	for (const char *p = out.ptr, *end; (end = strchr(p, '\n')); p = end + 1)
		take_line(ret, p, (size_t)(end - p));
	/* a held ref without a branch cannot be reviewed */
	for (size_t i = 0; i < ret->n; i++) {
		if (ga_oid_is_zero(&ret->v[i].tip))
			free(ret->v[i].name);
		else
			ret->v[kept++] = ret->v[i];
	}
	ret->n = kept;
	return 0;
}

/* Does the right side of a fetch refspec, with or without a "*", name this ref in refs/remotes/?
 * That of a mirror ("refs" and all below) names refs of anybody. */
static bool writes(const char *to, const char *ref)
{
	size_t n = strcspn(to, "*");

	if (!is_in(to, n + 1, "refs/remotes/") || strncmp(to, ref, n) != 0)
		return false;
	return to[n] ? ga_ends_in(ref + n, to + n + 1) : !ref[n];
}

/* The remote-tracking branches that the remote's fetch refspecs write. */
static int add_tracking(struct ga_env *e, const char *remote, struct ga_refs *ret,
			struct ga_error *err)
{
	cleanup_free char *key = ga_strf("remote.%s.fetch", remote);
	cleanup_refs struct ga_refs all = GA_REFS_INIT;

	if (ga_refs_list(e->repo, "refs/remotes/", &all, err))
		return -1;
	for (size_t i = 0; i < e->config.n; i++) {
		const struct ga_gitconfig_item *c = &e->config.v[i];
		const char *to = strcmp(c->key, key) ? NULL : strchr(c->value, ':');

		for (size_t k = 0; to && k < all.n; k++)
			if (writes(to + 1, all.v[k].name) &&
			    ga_object_exists(e->repo, &all.v[k].oid))
				ga_refs_add(ret, all.v[k].name, &all.v[k].oid);
	}
	return 0;
}

static int add_tags(struct ga_env *e, const struct ga_refs *listed, struct ga_refs *ret,
		    struct ga_error *err)
{
	cleanup_refs struct ga_refs all = GA_REFS_INIT;

	if (ga_refs_list(e->repo, "refs/tags/", &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_ref *there = ga_refs_find(listed, all.v[i].name);

		if (there && ga_oid_equal(&there->oid, &all.v[i].oid) &&
		    ga_object_exists(e->repo, &all.v[i].oid))
			ga_refs_add(ret, all.v[i].name, &all.v[i].oid);
	}
	return 0;
}

/* The branches that the remote lists and HEAD contains. */
static int add_merged(struct ga_env *e, const struct ga_refs *listed, struct ga_refs *ret,
		      struct ga_error *err)
{
	cleanup_free struct ga_oid *ids = ga_calloc(listed->n + 1, sizeof(*ids)), *other = NULL;
	cleanup_oidmap struct ga_oidmap unmerged = GA_OIDMAP_INIT;
	cleanup_free char *branch = NULL;
	size_t n = 0, n_other = 0;
	struct ga_oid head;
	int rc = ga_repo_head(e->repo, &head, &branch, err);

	for (size_t i = 0; !rc && i < listed->n; i++) {
		int here = ga_ref_branch(listed->v[i].name)
				   ? ga_commit_exists(e->repo, &listed->v[i].oid, err)
				   : 0;

		if (here < 0)
			return -1;
		if (here)
			ids[n++] = listed->v[i].oid;
	}
	if (rc || !n)
		return rc < 0 ? -1 : 0;
	if (ga_rev_list(e->repo, ids, n, &head, 1, e->conf.limits.history, &other, &n_other, err))
		return -1;
	for (size_t i = 0; i < n_other; i++)
		(void)ga_oidmap_add(&unmerged, &other[i], 0);
	for (size_t i = 0; i < n; i++)
		if (!ga_oidmap_get(&unmerged, &ids[i], NULL))
			ga_refs_add(ret, "", &ids[i]);
	return 0;
}

int remote_known(struct ga_env *e, const struct ga_fetch_opts *o, struct ga_refs *ret,
		 struct ga_refs *ret_sessions, struct ga_error *err)
{
	cleanup_refs struct ga_refs tracking = GA_REFS_INIT;

	if (add_tracking(e, o->remote, &tracking, err))
		return -1;
	for (size_t i = 0; i < tracking.n; i++)
		ga_refs_add(ga_session_is_tracked(tracking.v[i].name) ? ret_sessions : ret,
			    tracking.v[i].name, &tracking.v[i].oid);
	if (o->base) {
		ga_refs_release(ret);
		ga_refs_add(ret, "", o->base);
		return 0;
	}
	return (!ret->n && add_merged(e, o->refs, ret, err)) || add_tags(e, o->refs, ret, err)
		       ? -1 : 0;
}

/* git's message about the first rejected ref, " ! [WORD]  FROM -> TO (REASON)", without the mark
 * and padding, or NULL. */
static char *refused_ref(const struct ga_buf *why)
{
	static const char mark[] = "\n ! [";
	const char *s = !strncmp(why->ptr, mark + 1, strlen(mark + 1)) ? why->ptr
								      : strstr(why->ptr, mark);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *rest;
	size_t n;

	s = s ? strchr(s, '[') : NULL;
	rest = s ? strchr(s, ']') : NULL;
	if (!rest)
		return NULL;
	ga_quote_add(&out, s, (size_t)(++rest - s));
	ga_buf_addch(&out, ' ');
	rest += strspn(rest, " ");
	n = strcspn(rest, "\n");
	ga_quote_add(&out, rest, n < REFUSED_MAX ? n : REFUSED_MAX);
	return ga_buf_steal(&out);
}

/* Returns 1 if git refused before the push: the remote's commits would be lost. */
static int fail_push(const char *remote, const struct ga_buf *why, struct ga_error *err)
{
	cleanup_free char *line = refused_ref(why);

	if (!line)
		return fail_remote("push to", remote, why, err);
	(void)ga_fail(err, GA_EFATAL, "cannot push to '%s': %s", remote, line);
	return !strncmp(line, "[rejected]", 10) ? 1 : -1;
}

/* Push these refs; fails as fail_push() does. If one is a pattern, matching remote refs that are
 * not here are deleted. */
static int push(struct ga_repo *r, const char *remote, const char *const specs[2],
		struct ga_error *err)
{
	const char *const args[] = { "push", "--quiet", "--prune", "--no-follow-tags",
				     "--recurse-submodules=no", "--", remote, specs[0], specs[1],
				     NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;
	struct ga_git g = GA_GIT(.args = args, .work_tree = ga_repo_info(r)->workdir,
				 .errout = &why, .as_user = true);

	if (ga_git_run(r, &g, &status, err))
		return -1;
	return status ? fail_push(remote, &why, err) : 0;
}

/* The remote may be this very repository, by whatever name. Then the push has deleted the held ref
 * here: restore it, and fail. */
static int check_kept(struct ga_repo *r, const char *remote, const char *ref,
		      const struct ga_oid *was, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	struct ga_oid now;
	int rc = ga_oid_is_zero(was) ? 0 : ga_ref_read(r, ref, &now, err);

	if (rc <= 0)
		return rc;
	ga_ref_updates_add(&u, ref, &ga_oid_none, was);
	if (ga_refs_update(r, &u, "agent: not pushed", err))
		return -1;
	return ga_fail(err, GA_EFATAL, "'%s' is this repository itself" GA_HINT "name another "
		       "remote: 'git remote -v' lists them", remote);
}

int ga_push_session(struct ga_repo *r, const char *remote, const struct ga_session *s, bool held,
		    bool force, struct ga_error *err)
{
	cleanup_free char *report = ga_session_ref(s, "report");
	cleanup_free char *held_ref = ga_session_ref(s, "held"), *word = ga_quote_shell(remote);
	cleanup_free char *spec = ga_strf("%s%s:%s", force ? "+" : "", s->id.branch,
					  s->id.branch);
	cleanup_free char *report_spec = ga_strf("+%s:%s", report, report);
	cleanup_free char *held_spec = ga_strf("+%s:%s", held_ref, held_ref);
	/* a pattern that matches nothing here, so that --prune removes the ref there */
	cleanup_free char *no_held = ga_strf("+%s/none/*:%s*", held_ref, held_ref);
	const char *rest[2] = { NULL, NULL };
	struct ga_oid oid, was_held;
	size_t n = 0;
	int rc = ga_ref_read(r, held_ref, &was_held, err) < 0 ? -1 : 0;

	if (!rc)
		rc = ga_ref_read(r, s->id.branch, &oid, err);
	/* the branch first, by itself: if it is refused, the other refs there are another session's
	 */
	if (rc < 0)
		return -1;
	rc = rc ? 0 : push(r, remote, (const char *const[2]){ spec, NULL }, err);
	if (rc > 0 && !force)
		return ga_hint(err, "that branch has commits that this one lacks, perhaps of "
			       "another session: 'git agent push --force %s %s' replaces it",
			       word, s->name);
	if (rc)
		return -1;
	rc = ga_ref_read(r, report, &oid, err);
	if (rc < 0)
		return -1;
	if (!rc)
		rest[n++] = report_spec;
	rest[n] = held && !ga_oid_is_zero(&s->result.held) ? held_spec : no_held;
	return push(r, remote, rest, err) || check_kept(r, remote, held_ref, &was_held, err) ? -1
											     : 0;
}
