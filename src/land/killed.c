/* SPDX-License-Identifier: MIT
 *
 * A landing that was killed while git was at work on it. If git left no state of its own, by which
 * it could be continued or aborted, what it had written and staged by then is taken back, as if git
 * had stopped by itself (restore.c).
 */
#include <string.h>

#include "ga/objects.h"
#include "undo.h"

int undo_is_at_work(struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc;

	if (!u->at_work || strcmp(u->worktree, land_worktree(l)) != 0 || ga_repo_operation(l->repo))
		return 0;
	rc = ga_repo_head(l->repo, &head, &branch, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return !strcmp(branch ? branch : "", u->ref) && ga_oid_equal(&head, &u->head);
}

/* Merging again in memory tells what git was to write. */
static int take_back(struct land *there, struct ga_error *err)
{
	if (ga_gitconfig_load(there->repo, &there->config, err) ||
	    ga_commit_tree(there->repo, &there->head, &there->head_tree, err) ||
	    land_preview(there, err))
		return -1;
	return there->merge ? land_restore(there, err) : 0;
}

int undo_at_work(struct land *l, const struct undo *u, struct ga_error *err)
{
	struct land there = { .repo = l->repo, .s = l->s, .head = u->head, .tip = u->tip };
	int rc = take_back(&there, err);

	ga_gitconfig_release(&there.config);
	ga_changes_release(&there.changes);
	ga_strv_release(&there.conflicted);
	return rc ? ga_error_wrap(err, "the landing of agent/%s was killed half way", l->s->name)
		  : 0;
}
