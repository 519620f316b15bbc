/* SPDX-License-Identifier: MIT
 *
 * Landings that did not come to their end. One beside uncommitted work is taken back: at once if it
 * failed on the way, by the next command if it was killed. So is one that git was at work on,
 * unless git left a state by which it can be aborted or continued; then only marked files that git
 * may have overwritten are restored here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "note.h"
#include "undo.h"
#include "landing.h"

#define WENT_ON "the user went on\n" /* what the file says then */

int land_take_back(struct land *failed, struct ga_error *err)
{
	struct ga_oid head;

	land_let_go(failed);
	return undo_last(failed->repo, failed->s, &head, err);
}

enum since {
	SINCE_NOTHING,  /* HEAD is where a landing that was killed began, or where it was going */
	SINCE_SWITCHED, /* its branch is, but the user is on another */
	SINCE_ELSEWHERE, /* HEAD or the branch is, in another working tree */
	SINCE_WENT_ON,
};

static bool is_its(const struct land *l, const struct undo *u, const struct ga_oid *head)
{
	struct ga_oid made;

	if (ga_oid_equal(head, &u->head))
		return true;
	if (u->by_path)
		return ga_oid_equal(head, &u->commit);
	return undo_noted(u, LAND_NOTE_MADE, &made) ? ga_oid_equal(head, &made)
						    : ga_oid_equal(head, &l->s->landed);
}

/* The hint for another working tree: where it is, and the command that takes the landing back
 * there. */
static int hint_there(const struct land *l, const struct undo *u, const char *how,
		      struct ga_error *err)
{
	cleanup_free char *path = land_worktree_path(l, u->worktree);
	cleanup_free char *q = ga_quote_shell(path ? path : u->worktree);

	return path ? ga_hint(err, "'git -C %s agent land %s %s' takes it back", q, how,
			      l->s->name)
		    : ga_hint(err, "that was called %s, and is not there any more", q);
}

int undo_check_here(const struct land *l, const struct undo *u, struct ga_error *err)
{
	/* a merge alone can be undone wherever its branch is checked out now */
	if (!strcmp(u->worktree, land_worktree(l)) || (*u->ref && !u->n && !u->by_path))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "agent/%s landed in another working tree", l->s->name);
	return hint_there(l, u, "--undo", err);
}

static int fail_elsewhere(const struct land *l, const struct undo *u, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was interrupted in another working "
		      "tree", l->s->name);
	return hint_there(l, u, "--abort", err);
}

/* For a landing in another working tree: by HEAD there, if it still exists, or by the branch that
 * HEAD was on, if the user has switched since. */
static int find_since_there(struct land *l, const struct undo *u, enum since *ret,
			    struct ga_error *err)
{
	cleanup_free char *path = land_worktree_path(l, u->worktree);
	cleanup_free char *name = *u->worktree ? ga_strf("worktrees/%s/HEAD", u->worktree)
					       : ga_strdup("main-worktree/HEAD");
	struct ga_oid head;
	int rc = path ? land_read_ref(l, name, &head, err) : 1;

	if (!rc && is_its(l, u, &head))
		*ret = SINCE_ELSEWHERE;
	if (path && rc >= 0 && *ret != SINCE_ELSEWHERE && *u->ref) {
		rc = ga_ref_read(l->repo, u->ref, &head, err);
		if (!rc && is_its(l, u, &head))
			*ret = SINCE_ELSEWHERE;
	}
	return rc < 0 ? -1 : 0;
}

static int find_since(struct land *l, const struct undo *u, enum since *ret, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(l->repo, &head, &branch, err);

	*ret = SINCE_WENT_ON;
	if (rc < 0)
		return -1;
	if (strcmp(u->worktree, land_worktree(l)) != 0)
		return find_since_there(l, u, ret, err);
	if (!strcmp(branch ? branch : "", u->ref)) {
		if (!rc && is_its(l, u, &head))
			*ret = SINCE_NOTHING;
		return 0;
	}
	rc = *u->ref ? ga_ref_read(l->repo, u->ref, &head, err) : 1;
	if (!rc && is_its(l, u, &head))
		*ret = SINCE_SWITCHED;
	return rc < 0 ? -1 : 0;
}

static int fail_interrupted(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was interrupted", s->name);
	return ga_hint(err, "'git agent land --abort %s' takes it back", s->name);
}

static int fail_switched(const struct ga_session *s, const struct undo *u, struct ga_error *err)
{
	const char *branch = ga_ref_branch(u->ref);
	cleanup_free char *q = ga_escape(branch ? branch : u->ref);
	cleanup_free char *word = ga_quote_shell(branch ? branch : u->ref);

	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s on '%s' was interrupted, and you are "
		      "not there", s->name, q);
	return ga_hint(err, "'git switch %s', then 'git agent land --abort %s', takes it back",
		       word, s->name);
}

static int recover(struct land *l, struct undo *u, bool only_look, struct ga_error *err)
{
	enum since since;

	if (find_since(l, u, &since, err))
		return -1;
	if (since == SINCE_SWITCHED)
		return fail_switched(l->s, u, err);
	if (since == SINCE_ELSEWHERE)
		return fail_elsewhere(l, u, err);
	if (only_look)
		return since == SINCE_WENT_ON ? 0 : fail_interrupted(l->s, err);
	if (since == SINCE_WENT_ON) {
		if (!strcmp(u->worktree, land_worktree(l)))
			land_unlock_index(l, u->dir);
		/* it was being undone, and stays landed */
		if (!u->by_path)
			return unlinkat(u->dir, UNDO_BEGUN, 0) && errno != ENOENT
				       ? ga_fail_errno(err, GA_EFATAL, errno, "cannot note that")
				       : 0;
		return ga_write_atomic(u->dir, LAND_NOTE_DONE, WENT_ON, strlen(WENT_ON), 0600, err);
	}
	return undo_take_back(l, u, err) ? ga_error_wrap(err, "a landing was interrupted") : 1;
}

int undo_hidden(struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	int rc;

	l->head = u->head;
	if (ga_commit_tree(l->repo, &l->head, &l->head_tree, err) || land_settle_hidden(l, err))
		return ga_error_wrap(err, "a landing was interrupted");
	u->hidden = false;
	rc = ga_repo_head(l->repo, &l->head, &branch, err);
	return rc < 0 ? -1 : !rc && ga_oid_equal(&l->head, &u->head);
}

/* If git left a state, or HEAD has moved, only the files that were kept are put back: git, or the
 * user, is to continue or abort the rest. */
static int put_back(struct land *l, struct undo *u, struct ga_error *err)
{
	int stays = u->hidden ? undo_hidden(l, u, err) : 1, rc;

	if (stays < 0)
		return -1;
	rc = undo_is_at_work(l, u, err);
	if (rc > 0)
		return undo_at_work(l, u, err) || undo_take_back(l, u, err) ? -1 : 1;
	if (rc < 0 || u->at_work || !stays || ga_repo_operation(l->repo))
		return rc;
	return land_note_remove(l, l->note, err) ? -1 : 1;
}

/* The note cannot be read. That is an error if the landing may be half done: nothing may land on
 * that. */
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

static int sweep(struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);

	if (root >= 0)
		undo_sweep(root, u);
	return root < 0 ? -1 : 0;
}

int land_recover(struct land *of, bool only_look, struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s };
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	int rc = undo_read(&l, &u, err);

	if (rc < 0)
		rc = unread(&l, &u, err);
	else if (!rc && !only_look &&
		 (undo_check_ended(&l, &u, err) || sweep(&l, &u, err)))
		rc = -1;
	else if (!rc && undo_is_begun(&u))
		rc = recover(&l, &u, only_look, err);
	else if (!rc && u.hidden && only_look)
		rc = fail_interrupted(of->s, err);
	else if (!rc && (u.hidden || u.at_work) && !only_look)
		rc = put_back(&l, &u, err);
	else
		rc = 0;
	land_let_go(&l);
	ga_changes_release(&l.changes);
	free(l.notes);
	return rc;
}

/* ---- of other sessions ---------------------------------------------------------------- */

/* Most landings have come to their end, which shows without reading their notes. */
static bool may_be_half_done(const char *notes)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_free char *done = NULL, *begun = NULL;
	unsigned last;

	if (land_note_last(notes, &last, &unread) || !last)
		return false;
	done = ga_strf("%s/%u/" LAND_NOTE_DONE, notes, last);
	begun = ga_strf("%s/%u/" UNDO_BEGUN, notes, last);
	return access(done, F_OK) || !access(begun, F_OK);
}

/* Was it in this working tree, and has nothing happened since? What cannot be read is reported to
 * whoever asks about that session. */
static bool is_half_done(struct land *l, const struct undo *u)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_free char *branch = NULL;
	enum since since = SINCE_WENT_ON;
	struct ga_oid head;

	if (strcmp(u->worktree, land_worktree(l)) != 0)
		return false;
	if (undo_is_begun(u))
		return !find_since(l, u, &since, &unread) && since == SINCE_NOTHING;
	if (undo_is_at_work(l, u, &unread) > 0)
		return true;
	return u->hidden && !ga_repo_head(l->repo, &head, &branch, &unread) &&
	       ga_oid_equal(&head, &u->head);
}

static int check_other(struct ga_repo *r, const char *dir, const char *name, struct ga_error *err)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	struct land l = { .repo = r, .s = &s };
	int rc = 0;

	if (ga_session_load_from(dir, name, &s, &unread))
		return 0;
	if (!undo_read(&l, &u, &unread) && is_half_done(&l, &u))
		rc = fail_interrupted(&s, err);
	free(l.notes);
	return rc;
}

int land_check_others(const struct land *l, struct ga_error *err)
{
	cleanup_free char *all = ga_path_parent(l->s->dir);
	DIR *d = opendir(all);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the sessions");
	while (!rc && (errno = 0, e = readdir(d))) {
		cleanup_free char *dir = ga_path_join(all, e->d_name);
		cleanup_free char *notes = ga_path_join(dir, LAND_NOTES);

		if (ga_session_name_ok(e->d_name) && strcmp(e->d_name, l->s->name) != 0 &&
		    may_be_half_done(notes))
			rc = check_other(l->repo, dir, e->d_name, err);
	}
	if (!rc && errno)
		rc = ga_fail_errno(err, GA_EFATAL, errno, "cannot read the sessions");
	(void)closedir(d);
	return rc;
}

/* ---- what came of it -------------------------------------------------------------------- */

/* Merge the tip into the HEAD of then: 0; 1: it conflicts, so git could not have committed that. */
static int merge_again(const struct land *now, const struct undo *u, struct ga_oid *ret,
		       struct ga_error *err)
{
	struct land l = { .repo = now->repo, .s = now->s, .head = u->head, .tip = now->tip };
	int rc = ga_commit_tree(l.repo, &l.head, &l.head_tree, err) || land_preview(&l, err)
		     ? -1
		     : l.conflicts;

	*ret = l.merged;
	ga_changes_release(&l.changes);
	ga_strv_release(&l.conflicted);
	return rc;
}

/* Is HEAD's tree what was going to be committed? 1 yes. */
static int is_merge(const struct land *now, const struct undo *u, struct ga_error *err)
{
	struct ga_oid tree;
	int rc = 0;

	/* as the user resolved it, or as git merges */
	if (!undo_noted(u, LAND_NOTE_RESOLVED, &tree))
		rc = merge_again(now, u, &tree, err);
	return rc < 0 ? -1 : !rc && ga_oid_equal(&tree, &now->head_tree);
}

/* Without a record of HEAD afterwards, several commits of a rebase cannot be recognized, and a
 * commit with anything else in it is the user's. */
int undo_is_made(struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .n_parents = 0 };
	struct ga_oid made;
	bool merged;

	if (!ga_oid_equal(&u->landed, &l->s->landed))
		return 0;
	if (undo_noted(u, LAND_NOTE_MADE, &made))
		return ga_oid_equal(&l->head, &made);
	if (ga_oid_equal(&l->head, &u->head) || ga_oid_equal(&l->head, &l->tip))
		return 1;
	if (ga_oid_is_zero(&l->tip))
		return 0;
	if (ga_commit_read(l->repo, &l->head, &c, err))
		return -1;
	merged = c.n_parents == 2 && ga_oid_equal(&c.parents[1], &l->tip);
	if (!c.n_parents || !ga_oid_equal(&c.parents[0], &u->head) ||
	    (c.n_parents != 1 && !merged))
		return 0;
	return is_merge(l, u, err);
}

int undo_read_killed(struct land *of, struct undo *u, unsigned *ret, struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s };
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	int rc = undo_read(&l, u, &unreadable);

	*ret = l.note;
	free(l.notes);
	/* a note that cannot be read stays, below the next one */
	if (rc || u->by_path || u->begun || u->hidden || ga_oid_equal(&u->head, &of->head))
		return 0;
	return undo_is_made(of, u, err);
}

/* Add a note without a record, which bars those below it as long as the session exists. They stay,
 * since they may have the only copies of files of the user's. */
static int bar(const struct land *l, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/%u", l->notes, l->note + 1);
	cleanup_free char *done = ga_path_join(dir, LAND_NOTE_DONE);

	return ga_mkdir_p(dir, 0700, err) || ga_write_atomic(AT_FDCWD, done, "", 0, 0600, err)
		   ? -1
		   : 0;
}

int land_forget_earlier(struct land *of, struct ga_error *err)
{
	struct land l = { .repo = of->repo, .s = of->s };
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	cleanup_error struct ga_error unreadable = GA_ERROR_INIT;
	int rc = undo_read(&l, &u, &unreadable);

	if (rc < 0)
		rc = l.note ? 0 : ga_error_move(err, &unreadable);
	else if (!rc)
		/* a landing path by path records itself where HEAD has to be */
		rc = u.by_path ? 1 : undo_is_made(of, &u, err);
	if (!rc)
		rc = bar(&l, err);
	free(l.notes);
	return rc < 0 ? -1 : 0;
}

static int fail_only(const struct land *l, const struct ga_strv *paths, struct ga_error *err)
{
	cleanup_free char *list = land_list(paths), *q = ga_quote(l->notes);

	(void)ga_fail(err, GA_ELOSE, "a landing of agent/%s was interrupted, and what it kept of "
		      "these is nowhere else: %s", l->s->name, list);
	return ga_hint(err, "it is in %s: see whether you miss any of it; 'git agent drop --force "
		       "%s' moves it to the trash", q, l->s->name);
}

/* Fail if the landing of note l->note was interrupted and the note has the only copy of something;
 * the user went on after it. */
static int check_copies(struct land *l, struct ga_error *err)
{
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	cleanup_strv struct ga_strv only = GA_STRV_INIT;
	int rc = undo_read_interrupted(l, &u, err);

	if (rc)
		return rc < 0 ? ga_error_wrap(err, "a landing of agent/%s was interrupted",
					      l->s->name) : 0;
	if (undo_only_copies(l, &u, &only, err))
		return -1;
	return only.n ? fail_only(l, &only, err) : 0;
}

int ga_land_check_over(struct ga_repo *r, struct ga_session *s, struct ga_error *err)
{
	if (land_is_new())
		return land_new_check_over(r, s, err);
	struct land l = { .repo = r, .s = s };
	cleanup_free char *notes = land_notes(s);

	if (land_recover(&l, true, err) || land_check_marks_elsewhere(&l, err))
		return -1;
	l.notes = notes;
	if (land_note_last(notes, &l.note, err))
		return -1;
	for (; l.note; l.note--)
		if (check_copies(&l, err))
			return -1;
	return 0;
}
