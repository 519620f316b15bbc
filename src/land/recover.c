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
#include "undo.h"

int land_take_back(struct land *failed, struct ga_error *err)
{
	struct ga_oid head;

	return ga_land_undo(failed->repo, failed->s, &head, err);
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

int land_recover(struct land *of, bool only_look, struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s };
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	int rc = 0;

	/* without a note nothing was begun */
	if (!undo_read(&l, &u, &none) && u.by_path && u.begun)
		rc = only_look ? fail_interrupted(of->s, err) : recover(&l, &u, err);
	ga_changes_release(&l.changes);
	free(l.notes);
	return rc;
}
