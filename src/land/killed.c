/* SPDX-License-Identifier: MIT
 *
 * A landing that was killed while git was at work on it. If git left no state of its own, by which
 * it could be continued or aborted, what it had written and staged by then is taken back, as if git
 * had stopped by itself (restore.c). So is what git had done of an undoing, before that begins
 * again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "note.h"
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

#define PATIENCE_MS 3000 /* one that was killed with us may need a moment to be gone */
#define PAUSE_NS 20000000

/* Is that file of the note locked? There is none of the undoing before that begins. */
static int check_free(const struct land *l, const struct undo *u, const char *name,
		      struct ga_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const int64_t until = ga_now_ms() + PATIENCE_MS;
	cleanup_close int fd = openat(u->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *file = ga_strf("%s/%u/%s", l->notes, l->note, name), *q = NULL;
	int rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : ga_fail_errno(err, GA_EFATAL, errno,
							   "cannot read what was noted");
	while ((rc = ga_flock(fd, true, false, err)) > 0 && ga_now_ms() < until)
		(void)nanosleep(&pause, NULL);
	if (rc <= 0)
		return rc;
	q = ga_quote_shell(file);
	(void)ga_fail(err, GA_EFATAL, "the %s of agent/%s was killed, and git is still at work on "
		      "it", strcmp(name, UNDO_BEGUN) != 0 ? "landing" : "undoing", l->s->name);
	return ga_hint(err, "wait until git, and what hooks and filters of yours it runs, have "
			    "ended, then try again; 'fuser -v %s' names them", q);
}

int undo_check_ended(const struct land *l, const struct undo *u, struct ga_error *err)
{
	return (!u->over && check_free(l, u, LAND_NOTE_RECORD, err)) ||
	       check_free(l, u, UNDO_BEGUN, err) ? -1 : 0;
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

int undo_restore(struct land *l, const struct undo *u, struct ga_error *err)
{
	struct land there = { .repo = l->repo, .s = l->s, .head = l->head, .tip = u->head };
	int rc = ga_commit_tree(l->repo, &there.head, &there.head_tree, err) ||
		 ga_commit_tree(l->repo, &there.tip, &there.merged, err) ||
		 ga_tree_diff(l->repo, &there.head_tree, &there.merged, &there.changes, err) ||
		 land_restore(&there, err);

	ga_changes_release(&there.changes);
	return rc ? -1 : 0;
}

bool undo_is_begun(const struct undo *u)
{
	return u->begun && (u->by_path || !(u->hidden || u->at_work));
}
