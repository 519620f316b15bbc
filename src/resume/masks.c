/* SPDX-License-Identifier: MIT
 *
 * Secrets that have come into the project since a session was started are hidden from it on resume,
 * as a start would hide them. What was hidden at the start stays so, by the same layers.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "ga/view/layers.h"
#include "resume-internal.h"

static void only_new(struct ga_strv *paths, const struct ga_session *s)
{
	struct ga_strv rest = GA_STRV_INIT;

	for (size_t i = 0; i < paths->n; i++)
		if (!ga_strv_has(&s->view.masked, paths->v[i]))
			ga_strv_push(&rest, paths->v[i]);
	ga_strv_release(paths);
	*paths = rest;
}

static int mask_shared(struct ga_session *s, const struct ga_view_base *b, int project,
		       struct ga_error *err)
{
	for (size_t i = 0; i < s->view.shared.n; i++) {
		cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);

		if (ga_view_mask_shared(b, project, s->view.shared.v[i], mask, err))
			return -1;
	}
	return 0;
}

/* Remove from `extras` what was made there for a path that is hidden now: the copy of an ignored
 * file made by the start, or something made by a resume that was killed. No agent writes to this
 * layer. */
static void remove_copies(const struct ga_view_base *b, int extras)
{
	for (size_t i = 0; i < b->hidden.n; i++) {
		cleanup_free char *parent = ga_path_parent(b->hidden.v[i]);
		cleanup_close int at = *parent ? ga_openat_beneath(extras, parent,
								   O_RDONLY | O_DIRECTORY, 0)
					       : fcntl(extras, F_DUPFD_CLOEXEC, 3);

		if (at >= 0)
			(void)unlinkat(at, ga_path_base(b->hidden.v[i]), 0);
	}
}

static int mask_project(struct ga_env *e, const struct ga_session *s,
			const struct ga_view_base *b, int project, struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(s, "extras");
	cleanup_close int extras = -1;
	struct ga_oid tree;

	/* without the layer there is no copy to remove, and no need for whiteouts */
	if (!s->id.live && !b->clear.n && access(dir, F_OK))
		return 0;
	if (mkdir(dir, 0700) && errno != EEXIST)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make a layer of session '%s'",
				     s->name);
	extras = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (extras < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open a layer of session '%s'",
				     s->name);
	remove_copies(b, extras);
	return ga_commit_tree(e->repo, &s->id.base, &tree, err) ||
	       ga_view_mask_project(e, s, b, &tree, project, extras, err) ? -1 : 0;
}

int resume_mask_again(struct ga_env *e, const struct ga_start_opts *o, const struct resume_point *p,
		      struct ga_session *s, struct ga_view_base *b, struct ga_error *err)
{
	cleanup_close int project = open(s->id.project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (project < 0)
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot open the project of session '%s'", s->name);
	/* what the session was shown before stays visible: it has seen it */
	ga_strv_extend(&s->view.exposed, o->view.expose);
	ga_strv_sort_unique(&s->view.exposed);
	if (ga_view_look_again(e, &o->view, s, &p->branch_base, b, err))
		return -1;
	ga_strv_extend(&s->view.masked_objects, &b->objects);
	ga_strv_sort_unique(&s->view.masked_objects);
	only_new(&b->hidden, s);
	only_new(&b->clear, s);
	if (b->hidden.n && (mask_shared(s, b, project, err) || mask_project(e, s, b, project, err)))
		return -1;
	ga_strv_extend(&s->view.masked, &b->hidden);
	ga_strv_sort_unique(&s->view.masked);
	return 0;
}
