/* SPDX-License-Identifier: MIT
 *
 * Landings beside uncommitted work that did not come to their end: one that failed on the way is
 * taken back at once, one that was killed by whoever comes next.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "undo.h"

int land_take_back(struct land *failed, struct ga_error *err)
{
	struct ga_oid head;

	return undo_last(failed->repo, failed->s, &head, err);
}

/* HEAD is neither where a landing that was killed began, nor where it was going. */
static int went_on(struct land *l, const struct undo *u, bool *ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(l->repo, &head, &branch, err);

	if (rc < 0)
		return -1;
	*ret = rc || (!ga_oid_equal(&head, &u->head) && !ga_oid_equal(&head, &u->commit)) ||
	       strcmp(branch ? branch : "", u->ref) != 0;
	return 0;
}

static int recover(struct land *l, struct undo *u, struct ga_error *err)
{
	bool gone;

	if (went_on(l, u, &gone, err))
		return -1;
	if (gone) {
		land_unlock_index(l, u->dir);
		return ga_write_atomic(u->dir, LAND_NOTE_DONE, "", 0, 0600, err);
	}
	return undo_take_back(l, u, err) ? ga_error_wrap(err, "a landing was interrupted") : 1;
}

static int fail_interrupted(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was interrupted", s->name);
	return ga_hint(err, "'git agent land --abort %s' takes it back", s->name);
}

/* What is half done, and cannot be taken back, is nothing to land on. */
static int unread(const struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_free char *dir = l->note ? ga_strf("%s/%u", l->notes, l->note)
					 : ga_strdup(l->notes);
	cleanup_free char *q = NULL;

	if (!undo_may_have_begun(u)) {
		ga_error_release(err);
		return 0;
	}
	q = ga_quote_shell(dir);
	(void)ga_error_wrap(err, "a landing of agent/%s may have been left half done", l->s->name);
	return ga_hint(err, "try again; if it stays so, put right what 'git status' shows, then "
			    "'rm -r %s'", q);
}

int land_recover(struct land *of, bool only_look, struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s };
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	int rc = undo_read(&l, &u, err);

	if (rc < 0)
		rc = unread(&l, &u, err);
	else if (!rc && u.by_path && u.begun)
		rc = only_look ? fail_interrupted(of->s, err) : recover(&l, &u, err);
	else
		rc = 0;
	ga_changes_release(&l.changes);
	free(l.notes);
	return rc;
}
