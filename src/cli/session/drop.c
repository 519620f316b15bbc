/* SPDX-License-Identifier: MIT
 *
 * Whether a session may be dropped, and dropping one whose command has ended.
 */
#include "cli/cli.h"

/* Fails if the branch was moved to where the session's commits are not. */
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

/* What a limit kept away is only in the session's layers, and commits that could not be kept only
 * in its own repository: even if all else has landed. */
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
	/* a session that has landed cannot be captured again, but resumed */
	return ga_hint(err, "'git agent %s %s' brings it once that is raised ('git agent show %s' "
			    "names it), 'git agent drop --force %s' moves it to the trash",
		       s->state == GA_STATE_LANDED ? "resume" : "capture", s->name, s->name,
		       s->name);
}

int cli_check_work(struct cli *c, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *dir = NULL, *q = NULL, *word = NULL, *ref = NULL;
	/* files that an interrupted landing keeps in its directory are the user's, and nowhere else
	 */
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
			       "'git agent land %s' brings it in, 'git agent drop --force %s' "
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
		       "on a branch there, brings it in, 'git agent drop --force %s' moves all of "
		       "the session to the trash", s->name, q, word, s->name, word, s->name,
		       s->name);
}

/* Fails unless all of it was captured. `*ret_left`: it left files behind, which only its layers
 * have. */
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
		/* said with --quiet too, since it is not what was asked for */
		cli_note("agent/%s stays: %s", s->name, why.msg);
		if (why.hint)
			cli_note("  %s", why.hint);
	}
	return false;
}

void cli_say_dropped(const struct ga_session *s, bool left)
{
	cli_note("agent/%s: dropped%s; 'git agent drop --restore %s' brings it back", s->name,
		 left ? ", with its leftovers" : "", s->name);
}

int cli_restore_trashed(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	return name && cli_find_trashed(c, name, &s) &&
	       cli_restore(&c->env, s.name, NULL, err) ? -1 : 0;
}
