/* SPDX-License-Identifier: MIT
 *
 * Keeping secrets of the project out of a session's sight. They are in none of its layers: not
 * carried, not copied, and hidden by a whiteout where a directory of the user's lies beneath. So
 * there is nothing that could be uncovered inside, and nothing that capture takes for a change.
 */

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "view-internal.h"

/* A git directory that lies in the project under another name than ".git" has the credentials of
 * its configuration too. */
static void collect(const struct ga_repo *r, struct ga_view_base *b)
{
	cleanup_free char *gitdir = ga_repo_gitdir_inside(r);

	for (size_t i = 0; i < b->secrets.n; i++) {
		const struct ga_exposed *x = &b->secrets.v[i];

		if (x->view != GA_VIEW_MASKED || (gitdir && ga_path_inside(x->path, gitdir)))
			continue;
		ga_strv_push(&b->hidden, x->path);
		if (x->clear)
			ga_strv_push(&b->clear, x->path);
	}
	if (gitdir)
		ga_strv_push(&b->hidden, gitdir);
	ga_strv_sort_unique(&b->hidden);
	ga_strv_sort_unique(&b->clear);
}

int ga_view_find_secrets(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			 bool carried, struct ga_view_base *b, struct ga_error *err)
{
	const char *workdir = ga_repo_info(e->repo)->workdir;
	cleanup_strv struct ga_strv expose = GA_STRV_INIT;
	struct ga_scan scan = b->scan; /* the same lists, not copied */
	struct ga_oid tree;
	struct ga_exposure_opts eo = { .repo = e->repo,
				       .state_dir = e->state_dir,
				       .dry = dry,
				       .add = &e->conf.secret.add,
				       .allow = &e->conf.secret.allow,
				       .scan = &scan,
				       .tree = &tree,
				       .live = o->live && carried };

	if (e->conf.secret.mode == GA_SECRETS_OFF) {
		collect(e->repo, b);
		return 0;
	}
	/* uncommitted work that is not carried is not visible anyway */
	if (!carried) {
		scan.changed = (struct ga_strv)GA_STRV_INIT;
		scan.untracked = (struct ga_strv)GA_STRV_INIT;
	}
	if (ga_commit_tree(e->repo, &b->onto, &tree, err) ||
	    ga_exposure_find(&eo, &b->secrets, err))
		return -1;
	for (size_t i = 0; o->expose && i < o->expose->n; i++) {
		const char *rel = ga_path_below(o->expose->v[i], workdir);

		if (rel)
			ga_strv_push(&expose, rel);
	}
	if (e->conf.secret.mode == GA_SECRETS_MASK)
		ga_exposure_mask(&b->secrets, &expose);
	ga_exposure_sort(&b->secrets);
	collect(e->repo, b);
	return 0;
}

bool view_is_hidden(const struct ga_view_base *b, const char *path)
{
	return ga_strv_find(&b->hidden, path) >= 0;
}

size_t view_count_hidden(const struct ga_view_base *b, const struct ga_strv *paths)
{
	size_t n = 0;

	for (size_t i = 0; b->hidden.n && i < paths->n; i++)
		n += view_is_hidden(b, paths->v[i]);
	return n;
}
