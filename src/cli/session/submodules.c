/* SPDX-License-Identifier: MIT
 *
 * What commands have to say and to ask of a session's submodules.
 */
#include "cli/cli.h"

static int find_work(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *ref = NULL;
	char **ret_dir = payload;
	int rc;

	if (*ret_dir || !at->s)
		return 0;
	/* what cannot be looked at, as the repository is gone, may be work */
	rc = at->env ? cli_unlanded(at->env->repo, at->s, err)
		     : at->s->state != GA_STATE_LANDED && !ga_start_is_idle(at->s);
	if (!rc && at->env)
		rc = cli_kept_refs(at->env->repo, at->s, &ref, err);
	if (!rc && at->env)
		rc = cli_kept_away(at->env->repo, at->s, NULL, err);
	if (rc < 0)
		return -1;
	if (rc)
		*ret_dir = ga_strdup(at->dir);
	return rc || !at->env ? 0
			      : ga_start_each_part(at->env, at->s, false, find_work, payload, err);
}

int cli_part_work(const struct ga_env *e, const struct ga_session *s, char **ret_dir,
		  struct ga_error *err)
{
	*ret_dir = NULL;
	return ga_start_each_part(e, s, false, find_work, ret_dir, err);
}

/* A hint with each command of git's that it names made to run in `dir`. Caller frees. */
static char *run_there(const char *hint, const char *dir)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (const char *at; (at = strstr(hint, "'git ")); hint = at + 5) {
		ga_buf_add(&b, hint, (size_t)(at - hint));
		ga_buf_addf(&b, "'git -C %s ", dir);
	}
	ga_buf_adds(&b, hint);
	return ga_buf_steal(&b);
}

static int check_over(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(at->path), *dir = ga_quote_shell(at->dir);
	cleanup_free char *there = NULL;

	(void)payload;
	/* a part whose repository is gone is left as it is */
	if (!at->s || !at->env)
		return 0;
	if (!ga_land_check_over(at->env->repo, at->s, err))
		return ga_start_each_part(at->env, at->s, false, check_over, NULL, err);
	(void)ga_error_wrap(err, "submodule %s", q);
	there = ga_steal(&err->hint);
	err->hint = there ? run_there(there, dir) : NULL;
	return -1;
}

int cli_check_over(const struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	return ga_land_check_over(e->repo, s, err) ||
	       ga_start_each_part(e, s, false, check_over, NULL, err) ? -1 : 0;
}

/* The superproject of the submodules at hand, and its session. */
struct around {
	struct ga_repo *repo;
	const struct ga_session *s;
};

/* The commit that the session's branch moves the submodule to; zero: it does not move it. */
static int new_pointer(const struct around *a, const char *path, struct ga_oid *ret,
		       struct ga_error *err)
{
	struct ga_oid tree, onto;
	struct ga_entry old, new;

	*ret = (struct ga_oid){ { 0 } };
	if (ga_oid_is_zero(&a->s->result.tip))
		return 0;
	if (ga_commit_tree(a->repo, &a->s->result.tip, &tree, err) ||
	    ga_commit_tree(a->repo, &a->s->id.onto, &onto, err) ||
	    ga_tree_entry(a->repo, &tree, path, &new, err) ||
	    ga_tree_entry(a->repo, &onto, path, &old, err))
		return -1;
	if (new.mode == GA_MODE_GITLINK && !ga_entry_equal(&old, &new))
		*ret = new.oid;
	return 0;
}

/* Fails if the commit is on no branch of the submodule: then it could not be pushed, and git would
 * remove it one day. */
static int check_pointer(const struct ga_part_at *at, const struct around *a,
			 const struct ga_oid *oid, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(at->path), *dir = ga_quote_shell(at->dir);
	cleanup_free char *path = ga_quote_shell(at->path);
	bool there;

	if (ga_is_on_branch(at->env->repo, oid, NULL, true, &there, err))
		return -1;
	if (there)
		return 0;
	return ga_fail(err, GA_ELOSE, "submodule %s: its commit %.12s, which agent/%s names, is on "
		       "no branch there" GA_HINT "'git -C %s branch agent/%s %.12s' puts it on one "
		       "again; or take the submodule back: 'git agent review --reject %s %s'", q,
		       GA_HEX(oid), a->s->name, dir, a->s->name, GA_HEX(oid), a->s->name, path);
}

static int check_flags(const struct ga_part_at *at, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_free char *q = ga_quote(at->path), *word = ga_quote_shell(at->dir);
	size_t open;

	if (ga_report_read(at->env->repo, at->s, &r, err) < 0)
		return -1;
	open = ga_report_open(&r);
	if (at->s->state == GA_STATE_LANDED || !open)
		return 0;
	return ga_fail(err, GA_EFLAGS, "submodule %s has %zu open flag%s of its own" GA_HINT
		       "'git -C %s agent review %s', then --accept or --reject there", q, open,
		       open == 1 ? "" : "s", word, at->s->name);
}

/* Landing the superproject's branch would bring what is undecided in a submodule along. */
static int check(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(at->path);
	struct around *a = payload;
	struct ga_oid pointer;

	if (new_pointer(a, at->path, &pointer, err))
		return -1;
	if (!at->env && ga_oid_is_zero(&pointer))
		return 0;
	if (!at->env) {
		(void)ga_fail(err, GA_EFLAGS,
			      "submodule %s: %s: what it is moved to cannot be checked", q,
			      at->why->msg);
		return at->why->hint ? ga_hint(err, "%s", at->why->hint) : -1;
	}
	if (!ga_oid_is_zero(&pointer) && check_pointer(at, a, &pointer, err))
		return -1;
	if (!at->s)
		return 0;
	return check_flags(at, err) ? -1 : cli_check_parts(at->env, at->s, err);
}

int cli_check_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err)
{
	struct around a = { e->repo, s };

	return ga_start_each_part(e, s, false, check, &a, err);
}

/* Tell the user to merge the submodule's branch there: landing the superproject moves its pointer
 * to the submodule, but not the submodule's own branch and working tree. */
static int say_merge(const struct ga_part_at *at, const struct around *a, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(at->path), *word = ga_quote_shell(at->dir);
	struct ga_oid oid, pointer;
	int rc = ga_ref_read(at->env->repo, at->s->id.branch, &oid, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (new_pointer(a, at->path, &pointer, err))
		return -1;
	/* The superproject may name another commit, or none: what was accepted after the capture is
	 * only on the branch, and the pointer may have been rejected, or left out as a change to
	 * uncommitted work. */
	cli_note("  submodule %s: its commits are on agent/%s there%s; "
		 "next: git -C %s merge agent/%s%s", q, at->s->name,
		 ga_oid_is_zero(&pointer) ? ", and no commit here names them" : "", word,
		 at->s->name,
		 ga_oid_equal(&oid, &pointer) ? "" : ", then commit the submodule here");
	return 0;
}

static int say(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	int landed = 1;

	if (!at->s || !at->env)
		return 0;
	if (!ga_oid_is_zero(&at->s->result.tip))
		landed = ga_landed(at->env->repo, at->s, err);
	if (landed < 0 || (!landed && say_merge(at, payload, err)))
		return -1;
	return cli_say_parts(at->env, at->s, err);
}

int cli_say_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err)
{
	struct around a = { e->repo, s };

	return ga_start_each_part(e, s, false, say, &a, err);
}
