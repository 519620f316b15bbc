/* SPDX-License-Identifier: MIT
 *
 * Show a running session the host's changes in shared directories. Changes inside a directory show
 * once its overlay is reconfigured; a new directory of the same name needs a new overlay.
 */
#include "start-internal.h"

struct refresh {
	struct ga_env *e;           /* of the superproject */
	const struct ga_session *s;
	const struct ga_control_peer *peer;
	const char *stage_dir;
};

/* A shared directory to check. */
struct place {
	struct ga_env *e;           /* NULL: the repository is gone ... */
	const struct ga_error *why;       /* ... because of this; or NULL */
	const struct ga_session *s;       /* the session, or a part of it */
	size_t i;                         /* number of the directory in s->shared */
	int project, fd;                  /* the working tree, and the directory as it is now */
};

/* Hide in a new directory what a start would hide. */
static int mask(const struct place *a, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/shared/%zu/mask", a->s->dir, a->i);
	cleanup_(ga_view_base_release) struct ga_view_base b = { 0 };
	const struct ga_view_opts o = { .expose = &a->s->view.exposed };

	b.onto = a->s->id.onto;
	ga_strv_push(&b.scan.ignored_dirs, a->s->view.shared.v[a->i]);
	if (!a->e)
		return ga_fail(err, GA_EFATAL, "%s",
			       a->why ? a->why->msg : "no repository is there");
	return ga_view_mask_git(a->s, a->i, a->fd, err) ||
	       ga_view_find_secrets(a->e, &o, true, false, &b, err) ||
	       ga_view_mask_shared(&b, a->project, a->s->view.shared.v[a->i], dir, err) ? -1 : 0;
}

static int show(const struct refresh *r, const struct place *a, const struct stat *st,
		struct ga_view_seen *seen, struct ga_error *err)
{
	cleanup_(ga_shared_release) struct ga_shared sh = { 0 };
	int rc;

	if (ga_fault_stop("refresh:looked", err))
		return -1;
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return ga_fail(err, GA_EFATAL, "it belongs to another user");
	if (mask(a, err))
		return -1;
	rc = ga_view_make_shared(a->s, a->i, &sh, err);
	if (rc)
		return rc > 0 ? 0 : -1;
	if (sh.dev != st->st_dev || sh.ino != st->st_ino)
		return ga_fail(err, GA_EFATAL, "it was replaced once more");
	if (ga_control_remount(r->peer, r->stage_dir, r->s->id.project, &sh, err))
		return -1;
	ga_view_seen_set(seen, a->i, &sh);
	return ga_view_seen_write(seen, a->s, err);
}

/* Show the directory if it is a new one. If the host removed it, the session keeps the old one; if
 * the session removed it, nothing is shown. */
static int refresh_dir(const struct refresh *r, struct place *a, struct ga_view_seen *seen,
		       struct ga_error *err)
{
	cleanup_free char *path = ga_path_join(a->s->id.project, a->s->view.shared.v[a->i]);
	cleanup_free char *why = NULL;
	cleanup_close int fd = -1;
	struct stat st;

	if (!ga_session_shares(a->s, a->i))
		return 0;
	fd = ga_openat_beneath(a->project, a->s->view.shared.v[a->i],
			       O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
	/* not a directory (a symlink is none); after other errors it is unknown */
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
		return 0;
	if (fd < 0 || fstat(fd, &st))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot access '%s': agent/%s still "
				     "has what it was", path, r->s->name);
	if (ga_view_seen_has(seen, a->i, &st))
		return 0;
	a->fd = fd;
	if (!show(r, a, &st, seen, err))
		return 0;
	why = ga_steal(&err->msg);
	return ga_fail(err, GA_EFATAL, "'%s' is a new directory, and cannot be shown to agent/%s: "
		       "%s" GA_HINT "'git agent stop %s', then 'git agent resume' shows it",
		       path, r->s->name, why, r->s->name);
}

/* Refresh all directories of one session. A failure does not stop the others. */
static int refresh_all(const struct refresh *r, struct place *a, struct ga_error *err)
{
	cleanup_(ga_view_seen_release) struct ga_view_seen seen = { 0 };
	cleanup_free char *dir = ga_session_path(a->s, "shared");
	cleanup_close int lock = -1, project = -1;
	int rc = 0;

	if (!a->s->view.shared.n)
		return 0;
	lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	project = open(a->s->id.project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || project < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot check what agent/%s shares",
				     a->s->name);
	/* a concurrent refresh waits, and finds the work done */
	if (ga_flock(lock, true, true, err) || ga_view_seen_read(a->s, &seen, err))
		return -1;
	a->project = project;
	for (a->i = 0; a->i < a->s->view.shared.n; a->i++) {
		if (refresh_dir(r, a, &seen, rc ? GA_IGNORED : err))
			rc = -1;
	}
	return rc;
}

static int refresh_part(const struct ga_part_at *at, void *payload, struct ga_error *err)
{
	const struct refresh *r = payload;
	struct place a = { .e = at->env, .why = at->why, .s = at->s };

	if (!at->s)
		return 0;
	return refresh_all(r, &a, err) ||
	       ga_start_each_part(at->env ? at->env : r->e, at->s, false, refresh_part, payload,
				  err) ? -1 : 0;
}

int ga_start_refresh(struct ga_env *e, const struct ga_session *s,
		     const struct ga_control_peer *peer, const char *stage_dir,
		     struct ga_error *err)
{
	struct refresh r = { e, s, peer, stage_dir };
	struct place a = { .e = e, .s = s };

	return ga_control_refresh(peer, stage_dir, err) || refresh_all(&r, &a, err) ||
	       ga_start_each_part(e, s, false, refresh_part, &r, err) ? -1 : 0;
}
