/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include "ga/trash/trash.h"

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
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *where = NULL, *q = NULL;
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
	q = ga_quote(where);
	cli_note("session '%s' was being dropped: it is in %s; 'git agent drop --restore %s' "
		 "brings it back", s.name, q, s.name);
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
