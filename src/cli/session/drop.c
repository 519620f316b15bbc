/* SPDX-License-Identifier: MIT
 *
 * Drop and restore sessions with those of their submodules, and check first what would be lost.
 */
#include <inttypes.h>

#include "ga/repo/history.h"
#include "cli/cli.h"
#include "ga/trash/trash.h"

/* Is the commit on the session's branch, as it is or was before something was held? Then it is
 * dropped with the branch. */
static bool is_dropped_with(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *oid)
{
	cleanup_free char *orig = ga_session_ref(s, "orig");
	struct ga_oid tip;

	return !ga_oid_is_zero(&s->result.tip) &&
	       (ga_is_near_ancestor(r, oid, &s->result.tip) ||
		(!ga_ref_read(r, orig, &tip, GA_IGNORED) && ga_is_near_ancestor(r, oid, &tip)));
}

int cli_kept_refs(struct ga_repo *r, const struct ga_session *s, char **ret_ref,
		  struct ga_error *err)
{
	static const char *const kinds[] = { "heads/", "others/", "stash", "earlier/" };

	for (size_t i = 0; i < GA_NELEMS(kinds); i++) {
		cleanup_free char *prefix = ga_session_ref(s, kinds[i]);
		cleanup_refs struct ga_refs refs = GA_REFS_INIT;

		if (ga_refs_list(r, prefix, &refs, err))
			return -1;
		for (size_t k = 0; k < refs.n; k++) {
			bool there = is_dropped_with(r, s, &refs.v[k].oid);

			if (!there && ret_ref &&
			    ga_is_on_branch(r, &refs.v[k].oid, NULL, false, &there, err))
				return -1;
			if (there)
				continue;
			if (ret_ref)
				*ret_ref = ga_strdup(refs.v[k].name);
			return 1;
		}
	}
	return 0;
}

int cli_kept_away(struct ga_repo *r, const struct ga_session *s, char **ret_why,
		  struct ga_error *err)
{
	cleanup_report struct ga_report report = GA_REPORT_INIT;
	int rc = ga_report_read(r, s, &report, err);
	uint64_t n = report.unkept.n ? report.unkept.n + report.unkept_more : 0;

	if (rc || report.limits.n)
		return rc < 0 ? -1 : !rc;
	if (n && ret_why)
		*ret_why = n > 1 ? ga_strf("%s (and %" PRIu64 " more)", report.unkept.v[0], n - 1)
				 : ga_strdup(report.unkept.v[0]);
	return n ? 2 : 0;
}

int cli_unlanded(struct ga_repo *r, const struct ga_session *s, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival a = GA_ARRIVAL_INIT;

	/* changes to uncommitted work that have not landed */
	if (s->result.left_out.n || !ga_oid_is_zero(&s->result.held))
		return 1;
	if (ga_oid_is_zero(&s->result.tip))
		return 0;
	if (ga_find_arrival(r, s, &a, err))
		return -1;
	if (a.how == GA_LANDED_NOT)
		return 1;
	switch (ga_arrival_lasts(r, s, &a, err)) {
	case 0:
		return 2;
	case 1:
		return 0;
	default:
		return -1;
	}
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Record whether the session has landed, and how and where unless `git agent land` did it. False:
 * no change. */
static bool note(struct ga_session *s, const struct ga_arrival *a)
{
	bool otherwise = a->how != GA_LANDED_NOT && ga_oid_is_zero(&s->result.landed);
	enum ga_state state = a->how == GA_LANDED_NOT ? GA_STATE_CAPTURED : GA_STATE_LANDED;
	const char *how = otherwise ? ga_landed_name(a->how) : NULL;
	const char *in = otherwise ? a->where : NULL;

	if (s->state == state && same(s->result.arrived, how) && same(s->result.arrived_in, in))
		return false;
	s->state = state;
	free(s->result.arrived);
	free(s->result.arrived_in);
	s->result.arrived = how ? ga_strdup(how) : NULL;
	s->result.arrived_in = in ? ga_strdup(in) : NULL;
	return true;
}

int cli_notice_landed(struct cli *c, struct ga_session *s, struct ga_error *err)
{
	cleanup_(ga_arrival_release) struct ga_arrival a = GA_ARRIVAL_INIT;
	json_t *o;

	/* without a tip everything landed as uncommitted edits, and there is no commit to find */
	if ((s->state != GA_STATE_CAPTURED && s->state != GA_STATE_LANDED) ||
	    ga_oid_is_zero(&s->result.tip))
		return 0;
	if (ga_find_arrival(c->env.repo, s, &a, err))
		return -1;
	if (!note(s, &a))
		return 0;
	if (ga_session_save(s, err))
		return -1;
	o = json_object();
	if (s->result.arrived)
		ga_json_set(o, "how", json_string(s->result.arrived));
	if (s->result.arrived_in)
		ga_json_set_bytes(o, "in", s->result.arrived_in);
	(void)ga_journal(s->dir, s->state == GA_STATE_LANDED ? "arrived" : "taken-back", o);
	return 0;
}

static int find_work(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *ref = NULL;
	char **ret_dir = payload;
	int rc;

	if (*ret_dir || !at->s)
		return 0;
	/* a repository that is gone may have had work */
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

/* Rewrite the git commands in a hint to run in `dir`. Caller frees. */
static char *hint_in_dir(const char *hint, const char *dir)
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
	cleanup_free char *dir = ga_quote_shell(at->dir);
	cleanup_free char *there = NULL;

	(void)payload;
	/* skip a part whose repository is gone */
	if (!at->s || !at->env)
		return 0;
	if (!ga_land_check_ended(at->env->repo, at->s, err))
		return ga_start_each_part(at->env, at->s, false, check_over, NULL, err);
	(void)ga_error_wrap(err, "submodule %s", GA_QUOTED(at->path));
	there = ga_steal(&err->hint);
	err->hint = there ? hint_in_dir(there, dir) : NULL;
	return -1;
}

int cli_check_over(const struct ga_env *e, struct ga_session *s, struct ga_error *err)
{
	return ga_land_check_ended(e->repo, s, err) ||
			       ga_start_each_part(e, s, false, check_over, NULL, err)
		       ? -1
		       : 0;
}

/* The superproject, and its session. */
struct around {
	struct ga_repo *repo;
	const struct ga_session *s;
};

/* The commit that the session's branch moves the submodule to; zero: unchanged. */
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

/* Fail if the commit is on no branch of the submodule: it could not be pushed, and git would prune
 * it. */
static int check_pointer(const struct ga_part_at *at, const struct around *a,
			 const struct ga_oid *oid, struct ga_error *err)
{
	cleanup_free char *dir = ga_quote_shell(at->dir);
	cleanup_free char *path = ga_quote_shell(at->path);
	bool there;

	if (ga_is_on_branch(at->env->repo, oid, NULL, true, &there, err))
		return -1;
	if (there)
		return 0;
	return ga_fail(err, GA_ELOSE, "submodule %s: its commit %.12s, which agent/%s names, is on "
		       "no branch there" GA_HINT "'git -C %s branch agent/%s %.12s' puts it on one "
		       "again; or take the submodule back: 'git agent review --reject %s %s'",
		       GA_QUOTED(at->path), GA_HEX(oid), a->s->name, dir, a->s->name, GA_HEX(oid),
		       a->s->name, path);
}

static int check_flags(const struct ga_part_at *at, struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;
	cleanup_free char *word = ga_quote_shell(at->dir);
	size_t open;

	if (ga_report_read(at->env->repo, at->s, &r, err) < 0)
		return -1;
	open = ga_report_open(&r);
	if (at->s->state == GA_STATE_LANDED || !open)
		return 0;
	return ga_fail(err, GA_EFLAGS, "submodule %s has %zu open flag%s of its own" GA_HINT
		       "'git -C %s agent review %s', then --accept or --reject there",
		       GA_QUOTED(at->path), open, open == 1 ? "" : "s", word, at->s->name);
}

/* Refuse open flags in a submodule, which would land with the superproject's branch. */
static int check(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	struct around *a = payload;
	struct ga_oid pointer;

	if (new_pointer(a, at->path, &pointer, err))
		return -1;
	if (!at->env && ga_oid_is_zero(&pointer))
		return 0;
	if (!at->env) {
		(void)ga_fail(err, GA_EFLAGS, "submodule %s: %s: what it is moved to cannot be "
			      "checked", GA_QUOTED(at->path), at->why->msg);
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
static int print_merge(const struct ga_part_at *at, const struct around *a, struct ga_error *err)
{
	cleanup_free char *word = ga_quote_shell(at->dir);
	struct ga_oid oid, pointer;
	int rc = ga_ref_read(at->env->repo, at->s->id.branch, &oid, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (new_pointer(a, at->path, &pointer, err))
		return -1;
	/* The superproject may name another commit, or none: what was accepted after the capture is
	 * only on the branch, and the pointer may have been rejected, or left out as a change to
	 * uncommitted work. */
	cli_note("  submodule %s: its commits are on agent/%s there%s; next: git -C %s merge "
		 "agent/%s%s", GA_QUOTED(at->path), at->s->name,
		 ga_oid_is_zero(&pointer) ? ", and no commit here names them" : "", word,
		 at->s->name,
		 ga_oid_equal(&oid, &pointer) ? "" : ", then commit the submodule here");
	return 0;
}

static int print_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	int landed = 1;

	if (!at->s || !at->env)
		return 0;
	if (!ga_oid_is_zero(&at->s->result.tip))
		landed = ga_landed(at->env->repo, at->s, err);
	if (landed < 0 || (!landed && print_merge(at, payload, err)))
		return -1;
	return cli_print_parts(at->env, at->s, err);
}

int cli_print_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err)
{
	struct around a = { e->repo, s };

	return ga_start_each_part(e, s, false, print_part, &a, err);
}

/* Skip a part whose repository is gone: its refs cannot be moved. */
static int trash_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *where = NULL, *q = ga_quote(at->path);

	(void)payload;
	if (at->s && !at->env) {
		cli_note("submodule %s: %s: its session stays in %s", q, at->why->msg,
			 GA_QUOTED(at->s->dir));
	} else if (at->s && cli_trash(at->env, at->s, &where, err)) {
		return ga_error_wrap(err, "submodule %s", q);
	}
	return 0;
}

/* Drop the session last: its parts are found through it. */
int cli_trash(struct ga_env *e, struct ga_session *s, char **ret_where, struct ga_error *err)
{
	return ga_start_each_part(e, s, true, trash_part, NULL, err) ||
	       ga_trash_session(e->repo, e->state_dir, s, ret_where, err) ? -1 : 0;
}

int cli_finish_drop(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *where = NULL;
	cleanup_close int lock = -1;

	if (ga_session_load(c->env.state_dir, name, &s, GA_IGNORED) || s.state != GA_STATE_DROPPED)
		return 0;
	if (ga_session_lock(&s, true, &lock, err) < 0)
		return -1;
	ga_session_release(&s);
	if (ga_session_load(c->env.state_dir, name, &s, GA_IGNORED) || s.state != GA_STATE_DROPPED)
		return 0;
	ga_report_load(c->env.repo, &s);
	if (cli_trash(&c->env, &s, &where, err))
		return ga_error_wrap(err, "session '%s' was being dropped", name);
	cli_note("session '%s' was being dropped: it is in %s; 'git agent drop --restore %s' "
		 "restores it", s.name, GA_QUOTED(where), s.name);
	return 1;
}

/* The session of a submodule that was dropped with the one it was a part of. */
static int restore_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(at->path);
	const struct ga_session *whole = payload;
	int rc;

	if (at->s)
		return 0;
	if (!at->env) {
		cli_note("submodule %s: %s: its session stays in the trash", q, at->why->msg);
		return 0;
	}
	rc = cli_restore(at->env, whole->name, whole, err);
	if (rc > 0)
		cli_note("submodule %s: its session is not in the trash any more", q);
	return rc < 0 ? ga_error_wrap(err, "submodule %s", q) : 0;
}

int cli_restore(const struct ga_env *e, const char *name,
		const struct ga_session *whole_or_null, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_close int lock = -1;
	int rc = ga_trash_find(e->repo, e->state_dir, name, whole_or_null, &s, err);

	if (rc)
		return rc;
	if (ga_start_each_part(e, &s, false, restore_part, &s, err) ||
	    ga_trash_restore(e->repo, e->state_dir, &s, &lock, err))
		return -1;
	if (!whole_or_null)
		cli_note("session '%s' is back", s.name);
	return 0;
}

/* Fail if the branch was moved and lacks the session's commits. */
static int check_branch(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	struct ga_oid branch;
	int rc = ga_ref_read(c->env.repo, s->id.branch, &branch, err);

	if (!rc)
		rc = ga_branch_lacks(c->env.repo, s, &branch, err);
	else if (rc > 0)
		rc = 0;
	if (rc <= 0)
		return rc;
	return ga_fail(err, GA_ELOSE, "session '%s' has work that was not landed, and its branch "
		       "was moved away from it" GA_HINT "'git branch -f agent/%s %s' puts it back, "
		       "'git agent drop --force %s' moves both to the trash", s->name, s->name,
		       GA_HEX(&s->result.tip), s->name);
}

/* Refuse if only the session's layers have files that a limit skipped, or only its own repository
 * has commits: even if all else has landed. */
static int check_kept_away(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *why = NULL;
	int rc = cli_kept_away(c->env.repo, s, &why, err);

	if (rc <= 0)
		return rc;
	if (rc == 2)
		return ga_fail(err, GA_ELOSE, "session '%s' may have commits that are nowhere "
			       "else: %s" GA_HINT "'git agent resume %s' continues where they are, "
			       "'git agent drop --force %s' moves it to the trash", s->name, why,
			       s->name, s->name);
	(void)ga_fail(err, GA_ELOSE, "a limit kept something of session '%s' away", s->name);
	/* a landed session cannot be captured again, only resumed */
	return ga_hint(err, "'git agent %s %s' adds it once that is raised ('git agent show %s' "
			    "names it), 'git agent drop --force %s' moves it to the trash",
		       s->state == GA_STATE_LANDED ? "resume" : "capture", s->name, s->name,
		       s->name);
}

int cli_check_work(struct cli *c, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *dir = NULL, *q = NULL, *word = NULL, *ref = NULL;
	/* an interrupted landing has the only copy of user files in its directory */
	int rc = cli_check_over(&c->env, s, err) ? -1 : cli_unlanded(c->env.repo, s, err);

	if (rc < 0)
		return -1;
	if (rc == 2)
		return ga_fail(err, GA_ELOSE, "session '%s' has landed where HEAD is detached, and "
			       "no branch has it" GA_HINT "'git branch NAME' makes one, 'git agent "
			       "drop --force %s' moves the session to the trash", s->name, s->name);
	if (rc) {
		if (check_branch(c, s, err))
			return -1;
		return ga_fail(err, GA_ELOSE, "session '%s' has work that was not landed" GA_HINT
			       "'git agent land %s' lands it, 'git agent drop --force %s' "
			       "moves it to the trash", s->name, s->name, s->name);
	}
	rc = cli_kept_refs(c->env.repo, s, &ref, err);
	if (rc > 0)
		return ga_fail(err, GA_ELOSE, "session '%s' has branches or a stash of the "
			       "agent's: no branch of yours has %s" GA_HINT "'git branch NAME %s' "
			       "makes one, 'git for-each-ref " GA_SESSION_REFS "%s/' lists all, "
			       "'git agent drop --force %s' moves them to the trash", s->name, ref,
			       ref, s->name, s->name);
	if (rc || check_kept_away(c, s, err) || cli_part_work(&c->env, s, &dir, err))
		return -1;
	if (!dir)
		return 0;
	q = ga_escape(dir);
	word = ga_quote_shell(dir);
	return ga_fail(err, GA_ELOSE, "session '%s' has work in submodule '%s' that was not landed"
		       GA_HINT "'git -C %s agent review %s' shows it, 'git -C %s merge agent/%s', "
		       "on a branch there, lands it, 'git agent drop --force %s' moves all of "
		       "the session to the trash", s->name, q, word, s->name, word, s->name,
		       s->name);
}

/* Fail unless it was captured completely. `*ret_left`: it has leftover files, only in its
 * layers. */
static int check_captured(struct cli *c, const struct ga_session *s, bool *ret_left,
			  struct ga_error *err)
{
	cleanup_report struct ga_report r = GA_REPORT_INIT;

	if (s->state != GA_STATE_CAPTURED && s->state != GA_STATE_LANDED)
		return ga_fail(err, GA_ELOSE, "session '%s' was not captured", s->name);
	if (s->view.incomplete)
		return ga_fail(err, GA_ELOSE, "session '%s' is incomplete: %s", s->name,
			       s->view.incomplete);
	if (ga_report_read(c->env.repo, s, &r, err) < 0)
		return -1;
	*ret_left = r.left.n > 0;
	return 0;
}

bool cli_drop_at_end(struct cli *c, struct ga_session *s, bool *ret_left)
{
	cleanup_error struct ga_error why = GA_ERROR_INIT;
	cleanup_free char *where = NULL;

	if (!check_captured(c, s, ret_left, &why) && (c->rm || !*ret_left) &&
	    !cli_check_work(c, s, &why) && !cli_trash(&c->env, s, &where, &why)) {
		free(s->dir);
		s->dir = ga_steal(&where);
		return true;
	}
	if (why.msg && (c->rm || why.code != GA_ELOSE)) {
		/* printed with --quiet too: the user did not ask for it */
		cli_note("agent/%s stays: %s", s->name, why.msg);
		if (why.hint)
			cli_note("  %s", why.hint);
	}
	return false;
}

void cli_print_dropped(const struct ga_session *s, bool left)
{
	cli_note("agent/%s: dropped%s; 'git agent drop --restore %s' restores it", s->name,
		 left ? ", with its leftovers" : "", s->name);
}
