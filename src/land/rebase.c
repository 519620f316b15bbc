/* SPDX-License-Identifier: MIT
 *
 * The session's commits made again on HEAD, by git cherry-pick: the user stays on their branch, and
 * a conflict is in an ordinary state of git's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/trace.h"
#include "land-internal.h"

/* Where a directory was renamed git would move what commits add to it, to paths that none of them
 * names, and nobody looked at. */
#define PICK "-c", "merge.directoryRenames=false", "cherry-pick"

/* Those that `git rebase` would take: no merges, and none that is there already. For that git
 * compares all that either side has alone, so it is asked once. */
static int list(struct land *l, struct ga_error *err)
{
	cleanup_free char *range = ga_strf("%s...%s", GA_HEX(&l->head), GA_HEX(&l->tip));
	const char *const args[] = { "rev-list", "--reverse", "--topo-order", "--no-merges",
				     "--right-only", "--cherry-pick", range, NULL };
	struct ga_git g = GA_GIT_INIT;

	if (l->listed)
		return 0;
	l->picks = (struct ga_buf)GA_BUF_INIT;
	g.args = args;
	g.out = &l->picks;
	if (ga_git_ok(l->repo, &g, err))
		return -1;
	l->listed = true;
	return 0;
}

/* Before git is run: it names what it cannot write, also where a later commit takes that away. */
static int look_at_names(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "diff-tree", "--stdin", "--no-commit-id", "--root",
					    "-r", "--no-renames", "--name-only", "-z", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	if (list(l, err) ||
	    (l->picks.len && land_ask_git(l, args, NULL, &l->picks, &out, err)))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		l->unplain |= !land_is_plain(path);
	return 0;
}

int land_rebase_check_way(struct land *l, struct ga_error *err)
{
	return list(l, err) || land_check_on_the_way(l, &l->head_tree, &l->picks, err) ? -1 : 0;
}

/* Nothing is left of the commit on top of HEAD: 1. */
static int is_empty(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "diff-index", "--cached", "--quiet", "HEAD", NULL };
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	return status == 0;
}

/* ---- where git stopped -------------------------------------------------------------- */

static char *sequencer_file(const struct land *l, const char *name)
{
	cleanup_free char *path = ga_strf("sequencer/%s", name);

	return ga_path_join(ga_repo_info(l->repo)->gitdir, path);
}

/* 1: of several there are none. */
static int read_todo(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free char *file = sequencer_file(l, "todo");

	if (access(file, F_OK) && errno == ENOENT)
		return 1;
	return ga_read_file_at(AT_FDCWD, file, LAND_TODO_MAX, ret, err) ? -1 : 0;
}

/* The first of those that are still to be made, the one at which it stopped among them. 1: of
 * several there are none. */
static int read_next(struct land *l, struct ga_oid *ret, struct ga_error *err)
{
	const char *args[] = { "rev-parse", "--quiet", "--verify", NULL, NULL };
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *id = NULL;
	int rc = read_todo(l, &b, err);
	size_t n;

	if (rc)
		return rc;
	if (strncmp(b.ptr, "pick ", 5) != 0)
		return ga_fail(err, GA_EFATAL, "cannot tell at which commit git stopped");
	n = strcspn(b.ptr + 5, " \n");
	id = ga_strf("%.*s^{commit}", (int)n, b.ptr + 5);
	args[3] = id;
	return land_ask_id(l, args, ret, err)
		       ? err->msg ? -1 : ga_fail(err, GA_EFATAL, "cannot tell at which commit git "
						 "stopped")
		       : 0;
}

/* Where that is noted of this working tree: git's own list says neither whether the first was
 * begun, nor what HEAD was when it was not, and is gone once the last is committed. */
#define LEFT "left"
struct stopped {
	struct ga_oid at, next, began; /* HEAD then, that commit, and HEAD before the first */
	bool left;                     /* to the user, and not just not begun */
};

static char *stopped_file(const struct land *l)
{
	return land_own_file(l, "stopped");
}

static int note_stopped(struct land *l, const struct ga_oid *next, bool left, struct ga_error *err)
{
	cleanup_free char *file = stopped_file(l), *branch = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid at;

	if (ga_repo_head(l->repo, &at, &branch, err))
		return err->msg ? -1 : ga_fail(err, GA_EFATAL, "this branch has no commit");
	ga_buf_add0(&b, GA_HEX(&at));
	ga_buf_add0(&b, GA_HEX(next));
	ga_buf_add0(&b, GA_HEX(&l->head));
	ga_buf_add0(&b, left ? LEFT : "");
	return ga_write_atomic(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

/* False: nothing that can be read. */
static bool read_stopped(const struct land *l, struct stopped *ret)
{
	struct ga_oid *const ids[] = { &ret->at, &ret->next, &ret->began };
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_free char *file = stopped_file(l);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *s;
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, file, 200, &b, &none))
		return false;
	for (size_t i = 0; i < GA_NELEMS(ids); i++) {
		s = ga_buf_next0(&b, &pos);
		if (!s || !ga_oid_parse(s, strlen(s), ids[i]))
			return false;
	}
	s = ga_buf_next0(&b, &pos);
	ret->left = s && !strcmp(s, LEFT);
	return s;
}

/* What became of the first of those that are still to be made. */
enum next {
	NEXT_NONE,  /* there is none, or nobody can tell whether it was made */
	NEXT_STOPS, /* git left it to the user, in a state of its own */
	NEXT_TO_DO, /* git could not begin it, or the user took that state back ... */
	NEXT_DONE,  /* ... or committed it: git, going on, takes it for that either way */
};

/* Fills `began` where git has no state to read that from. */
static int find_next(struct land *l, struct ga_oid *next, enum next *ret, struct ga_oid *began,
		     struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct stopped stopped;
	struct ga_oid head;
	int rc = land_read_ref(l, "CHERRY_PICK_HEAD", next, err), listed;

	*ret = rc ? NEXT_NONE : NEXT_STOPS;
	if (rc <= 0 || ga_repo_operation(l->repo))
		return rc < 0 ? -1 : 0;
	listed = read_next(l, next, err);
	if (listed < 0 || !read_stopped(l, &stopped) ||
	    (!listed && !ga_oid_equal(next, &stopped.next)))
		return listed < 0 ? -1 : 0;
	rc = ga_repo_head(l->repo, &head, &branch, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	*next = stopped.next;
	*began = stopped.began;
	if (ga_oid_equal(&head, &stopped.at)) {
		/* without a list the user gave it up */
		*ret = listed ? NEXT_NONE : NEXT_TO_DO;
		return 0;
	}
	/* of one that was not begun what is there since is somebody's own */
	rc = stopped.left ? land_is_made_again(l, &head, next, &stopped.at, err) : 0;
	if (rc > 0)
		*ret = NEXT_DONE;
	return rc < 0 ? -1 : 0;
}

/* What making that commit again on `l->head_tree` writes, where that can be told path by path,
 * goes before what all of them would. */
static int add_pick(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	cleanup_commit struct ga_commit c = { .n_parents = 0 };
	cleanup_changes struct ga_changes own = GA_CHANGES_INIT, all = GA_CHANGES_INIT;
	struct ga_oid before;

	if (ga_commit_read(l->repo, pick, &c, err) ||
	    (c.n_parents && ga_commit_tree(l->repo, &c.parents[0], &before, err)) ||
	    ga_tree_diff(l->repo, c.n_parents ? &before : NULL, &c.tree, &own, err))
		return -1;
	for (size_t i = 0; i < own.n; i++) {
		const struct ga_change *o = &own.v[i];
		struct ga_entry here, will;
		int rc;

		if (ga_tree_entry(l->repo, &l->head_tree, o->path, &here, err))
			return -1;
		if (here.mode == GA_MODE_TREE)
			here = (struct ga_entry){ .mode = GA_MODE_NONE };
		rc = ga_merge_entry(l->repo, &o->old, &here, &o->new, &will, err);
		if (rc < 0)
			return -1;
		(void)ga_changes_add(&all, o->path, &here, rc ? &o->new : &will);
	}
	for (size_t i = 0; i < l->changes.n; i++) {
		const struct ga_change *o = &l->changes.v[i];

		if (!ga_changes_find(&own, o->path))
			(void)ga_changes_add(&all, o->path, &o->old, &o->new);
	}
	ga_changes_sort(&all);
	ga_changes_release(&l->changes);
	l->changes = all;
	all = (struct ga_changes)GA_CHANGES_INIT;
	return 0;
}

/* Takes away what git wrote of the commit at which it stopped; those before it stay. */
static int take_pick_back(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	struct land here = { .repo = l->repo, .s = l->s, .opts = l->opts, .tip = l->tip,
			     .rebase = true, .notes = l->notes, .note = l->note };
	cleanup_error struct ga_error second = GA_ERROR_INIT;
	cleanup_free char *branch = NULL;
	int rc;

	if (ga_repo_head(l->repo, &here.head, &branch, err) ||
	    ga_commit_tree(l->repo, &here.head, &here.head_tree, err))
		return -1;
	if (land_preview(&here, err) || (!ga_oid_is_zero(pick) && add_pick(&here, pick, err)))
		rc = land_put_hidden_back(&here, &second) ? ga_error_wrap(err, "%s", second.msg)
							  : -1;
	else
		rc = land_restore(&here, err);
	l->hidden_lost |= here.hidden_lost;
	ga_changes_release(&here.changes);
	ga_strv_release(&here.conflicted);
	return rc;
}

/* Back to where it began, over the commits that were made, if the files let it. What is given up
 * has no options: what the user committed since goes as well, as with git. */
static int go_back(struct land *l, struct ga_error *err)
{
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	/* files that were put back are others, with the same bytes; it fails where one is changed,
	 * which does not matter */
	(void)land_ask_git(l, refresh, NULL, NULL, NULL, &ignored);
	return l->opts ? land_take_made(l, "--merge", err) : land_go_back(l, "--merge", err);
}

static int quit(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "cherry-pick", "--quit", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (land_run_git(l, args, NULL, 0, &status, &why, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "git cherry-pick --quit failed") : 0;
}

/* Nothing of it was the user's yet. */
static int fail_first(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT, second = GA_ERROR_INIT;
	cleanup_error struct ga_error third = GA_ERROR_INIT;
	bool left = take_pick_back(l, pick, &failed), stays = go_back(l, &second);

	if (!quit(l, &third) && !left && !stays)
		return ga_hint(err, "nothing was committed, and files are as they were");
	if (stays) {
		if (second.code != GA_EFATAL)
			err->code = GA_ELOSE;
		return ga_hint(err, "%s%s%s; %s", failed.msg ? failed.msg : "", left ? "; " : "",
			       second.msg, second.hint ? second.hint : "see 'git status'");
	}
	return ga_hint(err, "nothing was committed; %s; %s", left ? failed.msg : third.msg,
		       failed.hint ? failed.hint : "see 'git status'");
}

/* What the user resolved is committed, and stays. */
static int fail_later(struct land *l, const struct ga_oid *pick, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT, unwritten = GA_ERROR_INIT;
	const char *more, *sep;
	int rc;

	if (ga_oid_is_zero(pick))
		return ga_hint(err, "'git log %s..' shows what is committed", GA_HEX(&l->head));
	rc = take_pick_back(l, pick, &failed);
	more = rc ? failed.msg : "";
	sep = rc ? "; " : "";
	if (note_stopped(l, pick, false, &unwritten))
		return ga_hint(err, "what you resolved is committed; %s%s%s; 'git cherry-pick "
			       "%.10s', then 'git cherry-pick --continue', goes on", more, sep,
			       unwritten.msg, GA_HEX(pick));
	return ga_hint(err, "what you resolved is committed; %s%ssee to that, then 'git agent land "
		       "--continue %s' goes on, or --abort goes back", more, sep, l->s->name);
}

/* It stopped, and not at a commit that could be resolved; or could not be run to its end. */
static int fail_stopped(struct land *l, const struct ga_oid *only, struct ga_error *err)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	struct ga_oid pick = *only;

	if (read_next(l, &pick, &unread) < 0)
		return ga_hint(err, "%s; 'git log %s..' shows what is committed, and 'git "
			       "cherry-pick --abort' goes back", unread.msg, GA_HEX(&l->head));
	return l->later ? fail_later(l, &pick, err) : fail_first(l, &pick, err);
}

static int fail_refused(struct land *l, int status, const struct ga_buf *why,
			const struct ga_oid *only, struct ga_error *err)
{
	cleanup_free char *line = land_first_line(why);

	(void)ga_fail(err, status == 128 ? GA_EFATAL : GA_ELOSE,
		      l->later ? "git refused to make the next commit of agent/%s%s%s"
			       : "git refused to merge agent/%s%s%s",
		      l->s->name, *line ? ": " : "", line);
	return fail_stopped(l, only, err);
}

/* ---- going on ------------------------------------------------------------------------ */

/* One command of git's that makes commits. What came before it failed is to be taken back. */
static int pick(struct land *l, const char *const *args, const struct ga_buf *in,
		const struct ga_oid *only, int *ret_status, struct ga_buf *why,
		struct ga_error *err)
{
	if (!land_run_git(l, args, in ? in->ptr : NULL, in ? in->len : 0, ret_status, why, err) &&
	    !ga_fault_stop("land:pick", err))
		return 0;
	return ga_repo_operation(l->repo)
		       ? ga_hint(err, "'git agent land --continue %s' goes on, --abort goes back",
				 l->s->name)
		       : fail_stopped(l, only, err);
}

/* To be known again when the user has committed it by hand: then git has no state. */
static int fail_conflict(struct land *l, struct ga_error *err)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	struct ga_oid next;
	int rc = read_next(l, &next, &ignored);

	/* there is no list of a single one */
	if (rc > 0)
		rc = land_read_ref(l, "CHERRY_PICK_HEAD", &next, &ignored);
	if (!rc)
		(void)note_stopped(l, &next, true, &ignored);
	return land_fail_left(l, err);
}

/* On to the end, over commits of which nothing is left, as a rebase does. `only`: the one commit
 * there is, zero for several. */
static int go_on(struct land *l, int status, const struct ga_oid *only, struct ga_buf *why,
		 struct ga_error *err)
{
	static const char *const skip[] = { PICK, "--skip", NULL };

	while (status) {
		cleanup_strv struct ga_strv paths = GA_STRV_INIT;
		int rc;

		if (!ga_repo_operation(l->repo))
			return fail_refused(l, status, why, only, err);
		if (land_unmerged(l, &paths, err))
			return -1;
		rc = paths.n ? 0 : is_empty(l, err);
		if (rc <= 0)
			return rc < 0 ? -1 : fail_conflict(l, err);
		ga_buf_clear(why);
		if (pick(l, skip, NULL, only, &status, why, err))
			return -1;
	}
	return 0;
}

int land_rebase(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { PICK, "--strategy=ort", "--allow-empty",
					    "--stdin", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	struct ga_oid only = { { 0 } };
	int status;

	if (look_at_names(l, err))
		return -1;
	if (!l->picks.len)
		return 0;
	if (l->picks.len == GA_OID_HEXSZ + 1)
		(void)ga_oid_parse(l->picks.ptr, GA_OID_HEXSZ, &only);
	if (land_left_note(l, err) || land_check_stays(l, err))
		return -1;
	if (pick(l, args, &l->picks, &only, &status, &why, err))
		return -1;
	return go_on(l, status, &only, &why, err);
}

/* The commit that git could not begin is made alone first: its own --continue takes it for one
 * that somebody committed by hand. */
static int make_next(struct land *l, const struct ga_oid *next, int *ret_status, struct ga_buf *why,
		     struct ga_error *err)
{
	const char *const args[] = { PICK, "--strategy=ort", "--allow-empty",
				     GA_HEX(next), NULL };

	return pick(l, args, NULL, next, ret_status, why, err);
}

/* What is staged since git stopped is the user's, and taking back what git did would take it. */
static int check_unstaged(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "diff-index", "--cached", "--name-only", "--no-renames",
					    "--no-ext-diff", "-z", "HEAD", NULL };
	cleanup_strv struct ga_strv staged = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(&staged, path);
	return staged.n ? land_refuse(&staged, "staged changes are in the way",
				      "unstage them with 'git restore --staged', then go on",
				      err) : 0;
}

/* Those that are still to be made, but for the one at which git stopped, if it began that: ids. */
static int list_later(struct land *l, bool begun, struct ga_buf *ret, struct ga_error *err)
{
	static const char *const args[] = { "rev-list", "--no-walk=unsorted", "--stdin", NULL };
	cleanup_buf struct ga_buf todo = GA_BUF_INIT, ids = GA_BUF_INIT;
	int rc = read_todo(l, &todo, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	for (const char *s = todo.ptr; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		if (strncmp(s, "pick ", 5) != 0)
			continue;
		if (!begun)
			ga_buf_addf(&ids, "%.*s\n", (int)strcspn(s + 5, " \n"), s + 5);
		begun = false;
	}
	return ids.len ? land_ask_git(l, args, NULL, &ids, ret, err) : 0;
}

/* They find what the user did since git stopped. */
static int check_later(struct land *l, bool begun, struct ga_error *err)
{
	cleanup_buf struct ga_buf commits = GA_BUF_INIT;
	struct ga_oid tree;

	if (list_later(l, begun, &commits, err))
		return -1;
	return commits.len && (land_index_tree(l, NULL, &tree, err) ||
			       land_check_on_the_way(l, &tree, &commits, err)) ? -1 : 0;
}

static int go_on_later(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { PICK, "--continue", NULL };
	static const struct ga_oid none;
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	cleanup_free char *todo = sequencer_file(l, "todo");
	struct ga_oid next, began;
	int status = 0, rc;
	enum next is;

	if (find_next(l, &next, &is, &began, err) || (is != NEXT_STOPS && check_unstaged(l, err)) ||
	    check_later(l, is != NEXT_TO_DO, err))
		return -1;
	if (is == NEXT_TO_DO) {
		if (make_next(l, &next, &status, &why, err))
			return -1;
		if (status)
			return go_on(l, status, &none, &why, err);
	}
	/* it was the last one: git is done */
	if (is != NEXT_STOPS && access(todo, F_OK))
		return 0;
	if (is == NEXT_STOPS) {
		rc = is_empty(l, err);
		/* resolved to what is there */
		if (rc)
			return rc < 0 ? -1 : go_on(l, 1, &none, &why, err);
	}
	if (pick(l, args, NULL, &none, &status, &why, err))
		return -1;
	return go_on(l, status, &none, &why, err);
}

int land_rebase_continue(struct land *l, struct ga_error *err)
{
	cleanup_free char *stopped = stopped_file(l);

	l->later = true;
	if (look_at_names(l, err) || go_on_later(l, err))
		return -1;
	(void)unlink(stopped);
	return 0;
}

static int fail_not_back(struct land *l, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE, "git did not go back to where your branch was, as it has "
		      "moved since");
	return ga_hint(err, "'git reset --keep %s' goes back", GA_HEX(&l->head));
}

int land_rebase_abort(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "cherry-pick", "--abort", NULL };
	cleanup_free char *branch = NULL, *stopped = stopped_file(l);
	struct ga_git g = GA_GIT_INIT;
	struct ga_oid next, head, to;
	enum next is;

	if (find_next(l, &next, &is, &to, err))
		return -1;
	/* git would stay where HEAD is by now */
	if (is != NEXT_STOPS) {
		if (check_unstaged(l, err) || go_back(l, err) || quit(l, err))
			return -1;
		(void)unlink(stopped);
		return 0;
	}
	if (ga_commit_tree(l->repo, &l->head, &to, err) || land_check_way_back(l, &to, err))
		return -1;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	if (ga_git_ok(l->repo, &g, err) || ga_repo_head(l->repo, &head, &branch, err))
		return -1;
	/* which git only warns of */
	if (!ga_oid_equal(&head, &l->head))
		return fail_not_back(l, err);
	(void)unlink(stopped);
	return 0;
}

int land_rebase_check_free(struct land *l, struct ga_error *err)
{
	cleanup_free char *todo = sequencer_file(l, "todo");

	if (access(todo, F_OK) && errno == ENOENT)
		return 0;
	(void)ga_fail(err, GA_ELOSE, "a cherry-pick is in progress in this working tree");
	return ga_hint(err, "finish or abort it ('git agent land --continue' or --abort, if it is "
		       "a landing), then land again");
}

/* ---- is it one of ours? -------------------------------------------------------------- */

/* Where HEAD was before the first of several. */
static int read_head(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = sequencer_file(l, "head");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, file, 100, &b, &none))
		return 0;
	ga_buf_chomp(&b);
	return ga_oid_parse(b.ptr, b.len, &l->head)
		   ? 0
		   : ga_fail(err, GA_EFATAL, "cannot tell where the rebase began");
}

/* Is `last` the last one, or the only one, which is `at`? Anything else is a cherry-pick of the
 * user's. */
static int ends_with(struct land *l, const struct ga_oid *at, const struct ga_oid *last,
		     struct ga_error *err)
{
	cleanup_buf struct ga_buf ids = GA_BUF_INIT;
	struct ga_oid id = *at;

	if (list_later(l, false, &ids, err))
		return -1;
	if (ids.len > GA_OID_HEXSZ &&
	    !ga_oid_parse(ids.ptr + ids.len - GA_OID_HEXSZ - 1, GA_OID_HEXSZ, &id))
		return 0;
	return ga_oid_equal(&id, last);
}

int land_rebase_left(struct land *l, const struct ga_oid *tip, const struct ga_oid *last,
		     struct ga_error *err)
{
	struct ga_oid oid, began;
	enum next is;
	int rc;

	if (find_next(l, &oid, &is, &began, err))
		return -1;
	if (is == NEXT_NONE || ga_oid_is_zero(tip))
		return 0;
	rc = ends_with(l, &oid, last, err);
	if (rc > 0)
		rc = ga_is_ancestor(l->repo, &oid, tip, err);
	if (rc <= 0)
		return rc;
	rc = ga_is_ancestor(l->repo, &oid, &l->head, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	if (is == NEXT_STOPS)
		return read_head(l, err) ? -1 : 1;
	l->head = began;
	return 1;
}
