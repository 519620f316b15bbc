/* SPDX-License-Identifier: MIT */
#include <unistd.h>

#include "cli.h"
#include "ga/base/quote.h"
#include "ga/land/land.h"
#include "ga/repo/refs.h"
#include "ga/sys/fd.h"
#include "ga/trash/trash.h"
#include "sessions.h"

struct options {
	bool force, dry_run, restore, list;
};

static const struct cli_opt opts[] = {
	CLI_FLAG(force, "force", 'f', "drop work that has not landed"),
	CLI_FLAG(dry_run, "dry-run", 0, "say what would be done, and do nothing"),
	CLI_FLAG(restore, "restore", 0, "bring back what was dropped"),
	CLI_FLAG(list, "list", 0, "list what is in the trash"),
};

/* A part whose repository is gone is left as it is: its refs cannot be moved. */
static int trash_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	cleanup_free char *where = NULL, *q = ga_quote(at->path);

	(void)payload;
	if (at->s && !at->env) {
		cleanup_free char *dir = ga_quote(at->s->dir);

		cli_note("submodule %s: %s: its session stays in %s", q, at->why->msg, dir);
	} else if (at->s && cli_trash(at->env, at->s, &where, err)) {
		return ga_error_wrap(err, "submodule %s", q);
	}
	return 0;
}

/* The session goes last: its parts are found through it. */
int cli_trash(struct ga_env *e, struct ga_session *s, char **ret_where, struct ga_error *err)
{
	return ga_start_each_part(e, s, true, trash_part, NULL, err) ||
	       ga_trash_session(e->repo, e->state_dir, s, ret_where, err) ? -1 : 0;
}

int cli_finish_drop(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_error struct ga_error damaged = GA_ERROR_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *where = NULL, *q = NULL;
	cleanup_close int lock = -1;

	if (ga_session_load(c->env.state_dir, name, &s, &damaged) || s.state != GA_STATE_DROPPED)
		return 0;
	if (ga_session_lock(&s, true, &lock, err) < 0)
		return -1;
	ga_session_release(&s);
	if (ga_session_load(c->env.state_dir, name, &s, &damaged) || s.state != GA_STATE_DROPPED)
		return 0;
	ga_report_load(c->env.repo, &s);
	if (cli_trash(&c->env, &s, &where, err))
		return ga_error_wrap(err, "session '%s' was being dropped", name);
	q = ga_quote(where);
	cli_note("session '%s' was being dropped: it is in %s; 'git agent drop --restore %s' "
		 "brings it back", s.name, q, s.name);
	return 1;
}

/* Pick the session to drop. With --force one whose state file cannot be read any more will do: its
 * name is all that moving it needs. */
static int load(struct cli *c, const struct options *o, const char *name, struct ga_session *s,
		int *lock, struct ga_error *err)
{
	cleanup_error struct ga_error first = GA_ERROR_INIT;

	name = cli_plain_name(name);
	if (!cli_pick_session(c, name, false, s, lock, &first))
		return 0;
	if (!o->force || !ga_session_name_ok(name))
		return ga_error_move(err, &first);
	ga_session_release(s);
	*s = (struct ga_session)GA_SESSION_INIT;
	/* it cannot be captured: then it is dropped as it is */
	if (!cli_load_session(c, name, false, s, lock, err)) {
		cli_note("warning: %s", first.msg);
		return 0;
	}
	ga_error_release(err);
	ga_session_release(s);
	*s = (struct ga_session)GA_SESSION_INIT;
	s->dir = ga_strf("%s/sessions/%s", c->env.state_dir, name);
	s->name = ga_strdup(name);
	s->id.branch = ga_strf(GA_SESSION_BRANCHES "%s", name);
	s->id.project = ga_strdup("");
	s->id.gitdir = ga_strdup("");
	if (access(s->dir, F_OK))
		return ga_error_move(err, &first);
	switch (ga_session_lock(s, false, lock, err)) {
	case 0:
		cli_note("warning: %s", first.msg);
		return 0;
	case 1:
	case 2:
		return ga_error_move(err, &first);
	default:
		return -1;
	}
}

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
	(void)ga_fail(err, GA_ELOSE, "session '%s' has work that was not landed, and its branch "
		      "was moved away from it", s->name);
	return ga_hint(err, "'git branch -f agent/%s %s' puts it back, 'git agent drop --force %s' "
		       "moves both to the trash", s->name, GA_HEX(&s->result.tip), s->name);
}

/* What a limit kept away is only in the session's layers, and commits that could not be kept only
 * in its own repository: even if all else has landed. */
static int check_kept_away(struct cli *c, const struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *why = NULL;
	int rc = cli_kept_away(c->env.repo, s, &why, err);

	if (rc <= 0)
		return rc;
	if (rc == 2) {
		(void)ga_fail(err, GA_ELOSE, "session '%s' may have commits that are nowhere else: "
			      "%s", s->name, why);
		return ga_hint(err, "'git agent resume %s' goes on where they are, "
				    "'git agent drop --force %s' moves it to the trash",
			       s->name, s->name);
	}
	(void)ga_fail(err, GA_ELOSE, "a limit kept something of session '%s' away", s->name);
	/* a session that has landed cannot be captured again, but resumed */
	return ga_hint(err, "'git agent %s %s' brings it once that is raised ('git agent show %s' "
			    "names it), 'git agent drop --force %s' moves it to the trash",
		       s->state == GA_STATE_LANDED ? "resume" : "capture", s->name, s->name,
		       s->name);
}

/* Refuse what would lose work, in a submodule too. */
static int check_work(struct cli *c, struct ga_session *s, struct ga_error *err)
{
	cleanup_free char *dir = NULL, *q = NULL, *word = NULL, *ref = NULL;
	/* files that an interrupted landing keeps in its directory are the user's, and nowhere else
	 */
	int rc = cli_check_over(&c->env, s, err) ? -1 : cli_unlanded(c->env.repo, s, err);

	if (rc < 0)
		return -1;
	if (rc == 2) {
		(void)ga_fail(err, GA_ELOSE, "session '%s' has landed where HEAD is detached, and "
			      "no branch has it", s->name);
		return ga_hint(err, "'git branch NAME' makes one, 'git agent drop --force %s' "
			       "moves the session to the trash", s->name);
	}
	if (rc) {
		if (check_branch(c, s, err))
			return -1;
		(void)ga_fail(err, GA_ELOSE, "session '%s' has work that was not landed", s->name);
		return ga_hint(err, "'git agent land %s' brings it in, 'git agent drop --force %s' "
				    "moves it to the trash",
			       s->name, s->name);
	}
	rc = cli_kept_refs(c->env.repo, s, &ref, err);
	if (rc > 0) {
		(void)ga_fail(err, GA_ELOSE, "session '%s' has branches or a stash of the agent's: "
			      "no branch of yours has %s", s->name, ref);
		return ga_hint(err, "'git branch NAME %s' makes one, 'git for-each-ref "
			       GA_SESSION_REFS "%s/' lists all, 'git agent drop --force %s' moves "
			       "them to the trash", ref, s->name, s->name);
	}
	if (rc || check_kept_away(c, s, err) || cli_part_work(&c->env, s, &dir, err))
		return -1;
	if (!dir)
		return 0;
	q = ga_escape(dir);
	word = ga_quote_shell(dir);
	(void)ga_fail(err, GA_ELOSE, "session '%s' has work in submodule '%s' that was not landed",
		      s->name, q);
	return ga_hint(err, "'git -C %s agent review %s' shows it, 'git -C %s merge agent/%s', on "
		       "a branch there, brings it in, 'git agent drop --force %s' moves all of the "
		       "session to the trash", word, s->name, word, s->name, s->name);
}

static int drop(struct cli *c, const struct options *o, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *where = NULL, *q = NULL;
	cleanup_close int lock = -1;
	int rc = cli_finish_drop(c, cli_plain_name(name), err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (load(c, o, name, &s, &lock, err) || (!o->force && check_work(c, &s, err)))
		return -1;
	if (o->dry_run) {
		(void)printf("would move session '%s' and its refs to the trash\n", s.name);
		return 0;
	}
	if (cli_trash(&c->env, &s, &where, err))
		return -1;
	q = ga_quote(where);
	cli_note("dropped session '%s' into %s; 'git agent drop --restore %s' brings it back",
		 s.name, q, s.name);
	return 0;
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
	    !check_work(c, s, &why) && !cli_trash(&c->env, s, &where, &why)) {
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

static int restore_one(const struct ga_env *e, const char *name,
		       const struct ga_session *whole_or_null, struct ga_error *err);

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
	rc = restore_one(at->env, whole->name, whole, err);
	if (rc > 0)
		cli_note("submodule %s: its session is not in the trash any more", q);
	return rc < 0 ? ga_error_wrap(err, "submodule %s", q) : 0;
}

/* Restore a session behind its parts, which are found through it. 1: there is none. */
static int restore_one(const struct ga_env *e, const char *name,
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

int cli_restore_trashed(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	return name && cli_find_trashed(c, name, &s) &&
	       restore_one(&c->env, s.name, NULL, err) ? -1 : 0;
}

static int restore(struct cli *c, const char *name, struct ga_error *err)
{
	cleanup_free char *q = NULL, *dir = NULL;
	int rc;

	name = cli_plain_name(name);
	rc = cli_finish_drop(c, name, err) < 0 ? -1 : restore_one(&c->env, name, NULL, err);
	if (rc <= 0)
		return rc;
	q = ga_escape(name);
	dir = ga_quote(c->env.state_dir);
	(void)ga_fail(err, GA_EFATAL, "no session '%s' is in the trash", q);
	return ga_hint(err, "'git agent drop --list' shows what is, in %s/trash", dir);
}

/* What a sweep would delete if everything were old enough. */
static int list(struct cli *c, struct ga_error *err)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT, whys = GA_STRV_INIT;

	if (ga_trash_sweep(c->env.repo, c->env.state_dir, UINT64_MAX, true, &names, &whys, err))
		return -1;
	for (size_t i = 0; i < names.n; i++)
		(void)printf("%-40s %s\n", names.v[i], whys.v[i]);
	return 0;
}

static int run(struct cli *c, const void *p, size_t argc, char **argv, struct ga_error *err)
{
	const struct options *o = p;

	if (o->list)
		return argc || o->restore || o->force || o->dry_run
			       ? ga_fail(err, GA_EUSAGE, "--list takes no name and no other option")
			       : list(c, err);
	if (!argc)
		return ga_fail(err, GA_EUSAGE, "'drop' needs the name of a session");
	if (o->restore && (o->force || o->dry_run))
		return ga_fail(err, GA_EUSAGE, "--restore takes no other option");
	if (!o->restore && cli_check_names(c, argc, argv, err))
		return -1;
	for (size_t i = 0; i < argc; i++) {
		cleanup_error struct ga_error one = GA_ERROR_INIT;

		if (o->restore ? restore(c, argv[i], &one) : drop(c, o, argv[i], &one))
			cli_tell(&one, &c->status);
	}
	return 0;
}

const struct cli_command cli_drop = {
	.name = "drop",
	.usage = "[--force] [--dry-run] [--restore] NAME... | --list",
	.summary = "move sessions to the trash, or bring them back",
	CLI_OPTIONS(opts),
	.needs = CLI_NEED_REPO | CLI_NEED_STATE,
	.max_args = 1000,
	.words = "SESSION...",
	.run = run,
};
