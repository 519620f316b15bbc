/* SPDX-License-Identifier: MIT
 *
 * Taking a landing back, by what it noted (note.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "ga/signals.h"
#include "ga/trace.h"
#include "note.h"
#include "undo.h"
#include "landing.h"

bool undo_stands(int root, const char *path, const struct land_look *want)
{
	struct land_look is;

	return land_look_here(root, path, &is) && land_look_equal(&is, want);
}

/* ---- taking it back ---------------------------------------------------------------- */

/* The landing was killed before the session recorded it, and was found to have arrived since: is
 * HEAD its result? 1 yes. */
static int is_made(struct land *l, const struct undo *u, struct ga_error *err)
{
	struct land_refs refs;

	if (u->by_path)
		return 0;
	if (land_refs_read(l->repo, l->s, &refs, err) ||
	    ga_commit_tree(l->repo, &l->head, &l->head_tree, err))
		return -1;
	l->tip = refs.branch;
	return undo_is_made(l, u, err);
}

/* Nothing else may have happened on the branch. If nothing was merged, HEAD stayed where it was. */
static int check_head(struct land *l, const struct undo *u, struct ga_error *err)
{
	struct ga_oid made, own;
	const struct ga_oid *want = u->by_path                              ? &u->commit
				    : undo_noted(u, LAND_NOTE_MADE, &made) ? &made
				    : ga_oid_is_zero(&l->s->landed)        ? &u->head
									   : &l->s->landed;
	cleanup_free char *branch = NULL;
	int rc;

	if (land_check_operation(l, "undo", err))
		return -1;
	if (ga_repo_head(l->repo, &l->head, &branch, err))
		return err->msg ? -1 : ga_fail(err, GA_ELOSE, "this branch has no commit");
	if (strcmp(branch ? branch : "", u->ref) != 0) {
		const char *was = ga_ref_branch(u->ref);
		cleanup_free char *q = ga_escape(was ? was : "no branch");

		return ga_fail(err, GA_ELOSE, "agent/%s landed on '%s', and you are not there",
			       l->s->name, q);
	}
	if (undo_noted(u, LAND_NOTE_OWN, &own) && ga_oid_equal(&l->head, &own)) {
		(void)ga_fail(err, GA_ELOSE, "commits of yours are among those of agent/%s, as "
			      "you made them while it waited", l->s->name);
		return ga_hint(err, "'git log %.10s..' shows them all; 'git reset --keep %.10s' "
			       "goes back before them, 'git revert' takes single ones out",
			       GA_HEX(&u->head), GA_HEX(&u->head));
	}
	if (ga_oid_equal(&l->head, want) || (u->begun && ga_oid_equal(&l->head, &u->head)))
		return 0;
	rc = is_made(l, u, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (u->at_work && l->s->state != GA_STATE_LANDED) {
		(void)ga_fail(err, GA_ELOSE, "the landing of agent/%s was killed half way, and "
			      "your branch has moved since it began", l->s->name);
		return ga_hint(err, "'git log %.10s..' shows what came, 'git status' what is half "
			       "written; then 'git reset --keep %.10s' goes back to where it began",
			       GA_HEX(&u->head), GA_HEX(&u->head));
	}
	(void)ga_fail(err, GA_ELOSE, "your branch has moved since agent/%s %s at %.10s", l->s->name,
		      want == &u->head ? "was to land" : "landed", GA_HEX(want));
	return ga_hint(err, "'git log %.10s..' shows what came; 'git revert' takes commits out",
		       GA_HEX(want));
}

static bool is_equal(bool any_mode, const struct land_look *a, const struct land_look *b)
{
	return any_mode ? land_look_same(a, b) : land_look_equal(a, b);
}

/* Is it what the note has a copy of? */
static bool is_as_before(const struct undo *u, size_t i, const struct land_look *is, bool any_mode)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *name = ga_strf("%zu", i);
	cleanup_close int kept = openat(u->dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct land_look was = { .mode = u->files[i].had };

	if (was.mode && (kept < 0 || ga_blob_id(kept, &was.oid, &ignored)))
		return false;
	return is_equal(any_mode, is, &was);
}

/* Restored by an undo that got no further, or not touched yet. */
bool undo_is_back(int root, const struct undo *u, size_t i)
{
	struct land_look is;

	return land_look_here(root, u->files[i].path, &is) &&
	       is_as_before(u, i, &is, u->any_mode);
}

/* Can what is there be replaced by what was there before? It can be as it was brought, or as it was
 * before, or gone since the user moved it away. Anything else is somebody's. */
static bool may_go(int root, const struct undo *u, size_t i, struct land_look *ret_is)
{
	const struct undo_file *f = &u->files[i];

	return land_look_here(root, f->path, ret_is) &&
	       (!ret_is->mode || is_equal(u->any_mode, ret_is, &f->will) ||
		is_as_before(u, i, ret_is, u->any_mode));
}

/* Find what is no directory but stands where the path needs one, and did not come with the
 * landing. */
static int find_above(struct land *l, const struct ga_strv *going, int root, const char *path,
		      struct ga_strv *ret, struct ga_error *err)
{
	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *dir = ga_strndup(path, (size_t)(slash - path));
		cleanup_close int fd = ga_openat_beneath(root, dir, O_PATH | O_NOFOLLOW, 0);
		struct ga_entry e;
		struct stat st;

		if (fd < 0 || fstat(fd, &st))
			return 0;
		if (S_ISDIR(st.st_mode))
			continue;
		if (ga_tree_entry(l->repo, &l->head_tree, dir, &e, err))
			return -1;
		if (e.mode == GA_MODE_NONE && ga_strv_find(going, dir) < 0)
			ga_strv_push(ret, dir);
		return 0;
	}
	return 0;
}

/* A directory that has to make way may contain only what came with the landing. */
static int check_places(struct land *l, const struct undo *u, int root, struct ga_strv *changed,
			struct ga_error *err)
{
	cleanup_strv struct ga_strv going = GA_STRV_INIT;

	for (size_t i = 0; i < u->n; i++)
		if (!u->files[i].left && !u->files[i].had)
			ga_strv_push(&going, u->files[i].path);
	ga_strv_sort_unique(&going);
	for (size_t i = 0; i < u->n; i++) {
		const struct undo_file *f = &u->files[i];

		if (f->left || !f->had)
			continue;
		if (find_above(l, &going, root, f->path, changed, err) ||
		    (land_dir_here(root, f->path) &&
		     land_untracked_below(l, root, f->path, &going, changed, err) < 0))
			return -1;
	}
	return 0;
}

static int check_files(struct land *l, const struct undo *u, int root, struct ga_error *err)
{
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;
	struct land_look is;

	if (ga_commit_tree(l->repo, &l->head, &l->head_tree, err))
		return -1;
	for (size_t i = 0; i < u->n; i++)
		if (!u->files[i].left && !may_go(root, u, i, &is))
			ga_strv_push(&changed, u->files[i].path);
	if (!u->begun && check_places(l, u, root, &changed, err))
		return -1;
	if (ga_commit_tree(l->repo, &u->head, &l->merged, err) ||
	    ga_tree_diff(l->repo, &l->head_tree, &l->merged, &l->changes, err))
		return -1;
	if (changed.n)
		return land_refuse(&changed, "files changed since they were brought",
				   "move them away, or put them back, then undo", err);
	if (u->by_path)
		return undo_check_index(l, u, err);
	/* git has nothing to do where HEAD stays, so whatever is staged stays as well */
	return ga_oid_equal(&u->head, &l->head) ? 0 : land_check_worktree(l, err);
}

/* Branch, index and working tree, by git, which keeps uncommitted changes elsewhere. */
static int reset(struct land *l, const struct undo *u, struct ga_error *err)
{
	const char *const args[] = { "reset", "--quiet", "--keep", GA_HEX(&u->head), NULL };
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.keep_fd = land_held_by(l);
	return ga_git_ok(l->repo, &g, err);
}

void undo_sweep(int root, const struct undo *u)
{
	cleanup_free char *part = land_note_read_part(u->dir);

	for (size_t i = 0; part && i < u->n; i++)
		land_sweep(root, u->files[i].path, part);
}

/* Git, hooks and the user may have changed the file since it was checked: 1 if it is somebody's by
 * now. */
static int put_back(int root, const struct undo *u, size_t i, const char *part,
		    struct ga_error *err)
{
	cleanup_free char *name = ga_strf("%zu", i);
	const struct undo_file *f = &u->files[i];
	struct land_copy copy = { .from = u->dir, .name = name, .mode = f->had, .part = part };
	struct land_look is;

	if (!may_go(root, u, i, &is))
		return 1;
	/* an execute bit that git does not look at is put back all the same */
	if (is_as_before(u, i, &is, false) && (is.mode || land_dir_here(root, f->path)))
		return 0;
	if (!(f->had ? land_put(&copy, root, f->path, &is, err)
		     : land_remove(root, f->path, &is, err)))
		return 0;
	if (err->code != GA_ELOSE)
		return -1;
	ga_error_release(err);
	return 1;
}

/* Files that were not there before are removed first: one may stand where a directory was. What is
 * somebody's by now stays, and goes on `changed`. */
static int put_all_back(int root, const struct undo *u, struct ga_strv *changed,
			struct ga_error *err)
{
	cleanup_free char *part = u->n ? land_note_part(u->dir, err) : NULL;
	int rc;

	if (u->n && !part)
		return -1;
	undo_sweep(root, u);
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < u->n; i++) {
			if (u->files[i].left || (u->files[i].had != 0) != (pass == 1))
				continue;
			rc = put_back(root, u, i, part, err);
			if (rc < 0)
				return -1;
			if (rc)
				ga_strv_push(changed, u->files[i].path);
		}
	return 0;
}

/* The session becomes what it was, and the note before this one is the last again. What the session
 * made since stays, and has not landed. */
static int settle(struct land *l, struct undo *u, struct ga_error *err)
{
	json_t *o;

	if (l->s->state == GA_STATE_LANDED)
		l->s->state = u->state;
	l->s->landed = u->landed;
	ga_strv_extend(&l->s->left_out, &u->left_out);
	ga_strv_sort_unique(&l->s->left_out);
	if (ga_session_save(l->s, err))
		return -1;
	o = json_object();
	ga_json_set_oid(o, "commit", &u->head);
	(void)ga_journal(l->s->dir, "undone", o);
	return land_note_remove(l, l->note, err);
}

/* `git reset --keep` takes files for changed that were only touched, so the index is refreshed
 * first, which fails if any file is changed; that does not matter. */
static int reset_marked(struct land *l, const struct undo *u, struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT, second = GA_ERROR_INIT;
	int rc;

	if (ga_oid_equal(&u->head, &l->head))
		return land_mark_again(l, err);
	rc = land_unmark_gone(l, err);
	if (!rc)
		(void)land_ask_git(l, refresh, NULL, NULL, NULL, &ignored);
	if (!rc)
		rc = reset(l, u, err);
	return land_mark_again(l, rc ? &second : err) || rc ? -1 : 0;
}

/* Git refused, or was interrupted: nothing of it is to stay half done. */
static int fail_reset(struct land *l, const struct undo *u, struct ga_error *err)
{
	cleanup_error struct ga_error second = GA_ERROR_INIT;

	/* it had nothing to do */
	if (ga_oid_equal(&u->head, &l->head))
		return -1;
	if (!undo_restore(l, u, &second) && (!unlinkat(u->dir, UNDO_BEGUN, 0) || errno == ENOENT))
		return ga_hint(err, "nothing was taken back: see to that, then undo again");
	return ga_hint(err, "%s; see to that, then 'git agent land --undo %s' goes on",
		       second.msg ? second.msg : "it has begun", l->s->name);
}

/* What git takes back: branch, index and files; then the files that it knows nothing of. */
static int by_git(struct land *l, const struct undo *u, int root, struct ga_strv *changed,
		  struct ga_error *err)
{
	if (reset_marked(l, u, err))
		return fail_reset(l, u, err);
	return ga_fault_stop("undo:reset", err) || put_all_back(root, u, changed, err) ||
	       ga_fault_stop("undo:files", err) ? -1 : 0;
}

/* Path by path: files, index, HEAD, in this order. */
static int by_path(struct land *l, const struct undo *u, int root, struct ga_strv *changed,
		   struct ga_error *err)
{
	cleanup_free char *index = undo_make_index(l, u, err);
	cleanup_free char *why = ga_strf("reset: agent/%s taken back", l->s->name);

	if (!index || put_all_back(root, u, changed, err) || ga_fault_stop("undo:files", err) ||
	    land_install_index(l, u->dir, index, err) || ga_fault_stop("undo:index", err))
		return -1;
	if (ga_oid_equal(&l->head, &u->head) || !land_move_head(l, why, &u->head, &l->head, err))
		return 0;
	return ga_hint(err, "files and index are back, and your branch is not: see to that, then "
			    "'git agent land --undo %s' goes on", l->s->name);
}

/* Check all that can be in the way: after this the undo may be interrupted half way, and whichever
 * command comes next completes it. */
static int begin(struct land *l, struct undo *u, int root, struct ga_error *err)
{
	if (check_head(l, u, err))
		return -1;
	/* locked before it is checked, so that nothing is staged in between */
	if (u->by_path) {
		land_unlock_index(l, u->dir);
		if (land_lock_index(l, u->dir, err))
			return -1;
	} else if (!ga_oid_equal(&l->head, &u->head) &&
		   (land_check_unlocked(l, err) || (u->begun && undo_restore(l, u, err)))) {
		return -1;
	}
	if (check_files(l, u, root, err))
		return -1;
	return (faccessat(u->dir, UNDO_BEGUN, F_OK, AT_SYMLINK_NOFOLLOW) &&
		ga_write_atomic(u->dir, UNDO_BEGUN, "", 0, 0600, err)) ||
	       land_hold(l, UNDO_BEGUN, err) ? -1 : 0;
}

/* Everything else is as it was; for these the note stays. */
static int check_changed(const struct ga_strv *changed, struct ga_error *err)
{
	return changed->n ? land_refuse(changed, "all but these was taken back, as they changed "
					"meanwhile", "move them away, then undo again: that puts "
					"back what was there before", err)
			  : 0;
}

int undo_take_back(struct land *l, struct undo *u, struct ga_error *err)
{
	cleanup_close int root = land_open_root(l->repo, err);
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;

	u->any_mode = land_ignores_modes(l);
	/* first: the lock that is recorded is that of the index there */
	if (root < 0 || undo_check_here(l, u, err))
		return -1;
	if (begin(l, u, root, err) ||
	    (u->by_path ? by_path(l, u, root, &changed, err)
			: by_git(l, u, root, &changed, err)) ||
	    check_changed(&changed, err)) {
		/* the user needs git to remove what is in the way; the next try checks all of it
		 * again */
		land_unlock_index(l, u->dir);
		return -1;
	}
	return settle(l, u, err);
}

/* Notes of earlier landings, which may have copies of the user's files, are named. */
static int fail_none(const struct land *l, struct ga_error *err)
{
	cleanup_free char *q = ga_quote(l->notes), *kept = NULL;
	const struct ga_oid *at = &l->s->landed;

	kept = l->note ? ga_strf("; what earlier landings kept is in %s", q) : ga_strdup("");
	(void)ga_fail(err, GA_EFATAL, "there is no landing of session '%s' to undo", l->s->name);
	if (ga_oid_is_zero(at))
		return ga_hint(err, "'git reflog' shows where your branch was%s", kept);
	return ga_hint(err, "what brought it is not noted, or not any more, and your branch was at "
			    "%.10s then: 'git log %.10s..' shows what came since, 'git revert' "
			    "takes commits out, and 'git reflog' shows where your branch was%s",
		       GA_HEX(at), GA_HEX(at), kept);
}

/* Git was killed at work: unless it has merged, what it did goes before the rest. */
static int undo_killed(struct land *l, struct undo *u, struct ga_error *err)
{
	int rc;

	if (land_check_operation(l, "undo", err) ||
	    (u->hidden && undo_hidden(l, u, err) < 0))
		return -1;
	rc = undo_is_at_work(l, u, err);
	return rc > 0 ? undo_at_work(l, u, err) : rc;
}

int undo_last(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
	      struct ga_error *err)
{
	struct land l = { .repo = r, .s = s };
	cleanup_(undo_release) struct undo u = UNDO_INIT;
	int rc = land_mark_again(&l, err) ? -1 : undo_read(&l, &u, err);

	if (rc > 0)
		rc = fail_none(&l, err);
	if (!rc)
		rc = undo_check_ended(&l, &u, err);
	if (!rc && (u.hidden || u.at_work))
		rc = undo_killed(&l, &u, err);
	if (!rc)
		rc = undo_take_back(&l, &u, err);
	land_let_go(&l);
	ga_changes_release(&l.changes);
	ga_strv_release(&l.hidden);
	ga_strv_release(&l.marked);
	free(l.notes);
	*ret_head = u.head;
	return rc < 0 ? -1 : 0;
}

int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err)
{
	if (land_is_new())
		return land_new_undo(r, s, ret_head, err);
	const struct land l = { .repo = r, .s = s };
	cleanup_close int lock = land_begin(r, err);
	struct ga_outlived outlived;
	int rc;

	if (lock < 0 || land_check_others(&l, err))
		return -1;
	ga_outlive_terminal(&outlived);
	rc = undo_last(r, s, ret_head, err);
	ga_heed_terminal(&outlived);
	return rc;
}
