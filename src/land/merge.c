/* SPDX-License-Identifier: MIT
 *
 * The merge itself, by git: first in memory, then in the user's working tree.
 */
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/import.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/trace.h"
#include "left-note.h"

#define USAGE 129 /* git's status for options that it does not know */
#define GAVE_UP 2 /* and for a merge that no strategy could handle */
#define ATTRIBUTES_MAX ((size_t)1 << 20)

bool land_is_interrupted(int status)
{
	return status > USAGE;
}

char *land_first_line(const struct ga_buf *why)
{
	static const char *const prefixes[] = { "fatal: ", "error: ", NULL };
	cleanup_buf struct ga_buf line = GA_BUF_INIT;
	const char *s = why->ptr;

	while (!strncmp(s, "hint:", 5) || !strncmp(s, "warning:", 8) || *s == '\n') {
		s += strcspn(s, "\n");
		s += *s == '\n';
	}
	for (const char *const *p = prefixes; *p; p++)
		if (!strncmp(s, *p, strlen(*p)))
			s += strlen(*p);
	ga_quote_add(&line, s, strcspn(s, "\n"));
	return ga_buf_steal(&line);
}

/* `git merge-tree --write-tree` answers with the tree's id, a NUL, and more when
 * there are conflicts (status 1). It runs in the user's working tree because the
 * attributes and merge drivers there are those the real merge will go by; all of
 * them are the user's own, nothing of the branch is checked out yet. */
static int merge_in_memory(struct land *l, struct ga_error *err)
{
	/* named as git merge names them: where a directory takes the place of a file, the file is
	 * renamed after its side */
	const char *ours = land_stays(l) ? "HEAD" : GA_HEX(&l->head);
	const char *const args[] = { "merge-tree", "--write-tree", "--no-messages", "-z",
				     ours, GA_HEX(&l->tip), NULL };
	static const char *const as_picked[] = { "merge.directoryRenames=false", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	const char *side;
	int status;

	g.args = args;
	g.config = l->rebase ? as_picked : NULL;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.out = &out;
	g.errout = &why;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	if (status > 1 || !ga_oid_parse(out.ptr, strlen(out.ptr), &l->merged)) {
		cleanup_free char *line = land_first_line(&why);

		(void)ga_fail(err, GA_EFATAL, "git cannot compute the merge%s%s",
			      *line ? ": " : "", line);
		return status == USAGE ? ga_hint(err, "git 2.38 or newer is needed to land") : -1;
	}
	if (*ours == 'H' && land_check_stays(l, err))
		return -1;
	l->conflicts = status == 1;
	/* "mode id stage TAB path", a line for each side */
	for (size_t pos = strlen(out.ptr) + 1; l->conflicts && (side = ga_buf_next0(&out, &pos));) {
		const char *tab = strchr(side, '\t');

		if (tab)
			ga_strv_push(&l->conflicted, tab + 1);
	}
	ga_strv_sort_unique(&l->conflicted);
	return 0;
}

int land_preview(struct land *l, struct ga_error *err)
{
	/* the tip contains HEAD: the result is its tree */
	bool ahead = ga_is_near_ancestor(l->repo, &l->head, &l->tip);

	if (ahead ? ga_commit_tree(l->repo, &l->tip, &l->merged, err) : merge_in_memory(l, err))
		return -1;
	if (ga_tree_diff(l->repo, &l->head_tree, &l->merged, &l->changes, err))
		return -1;
	/* false if it was squashed, cherry-picked or done again by hand: all of it is there */
	l->merge = l->changes.n || l->conflicts;
	return 0;
}

bool land_is_plain(const char *path)
{
	cleanup_buf struct ga_buf q = GA_BUF_INIT;

	ga_quote_add(&q, path, strlen(path));
	return !strcmp(q.ptr, path);
}

/* Git says which attributes it does not understand, in the words of the file. */
static bool attributes_are_plain(struct land *l, const struct ga_entry *e)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf text = GA_BUF_INIT, q = GA_BUF_INIT;

	if (e->mode != GA_MODE_FILE && e->mode != GA_MODE_EXEC)
		return true;
	if (ga_blob_read(l->repo, &e->oid, ATTRIBUTES_MAX, &text, &ignored))
		return false;
	ga_quote_add_text(&q, text.ptr, text.len);
	return q.len == text.len && !memcmp(q.ptr, text.ptr, q.len);
}

bool land_says_plain(struct land *l, const char *path, const struct ga_entry *e)
{
	return land_is_plain(path) && (!ga_name_means_gitattributes(ga_path_base(path)) ||
				       attributes_are_plain(l, e));
}

/* Can git's messages, which name paths unquoted, go to a terminal? */
static bool messages_are_plain(struct land *l)
{
	for (size_t i = 0; i < l->changes.n; i++)
		if (!land_says_plain(l, l->changes.v[i].path, &l->changes.v[i].new))
			return false;
	return !l->unplain;
}

/* When git gives a merge up, it resets the whole working tree and restores uncommitted changes from
 * a stash: it writes those files anew, through its filters. Returns what to tell the user about
 * that, or "". */
static char *written_anew(struct land *l)
{
	static const char *const args[] = { "diff", "--name-only", "--no-ext-diff", "--no-renames",
					    "--ignore-submodules=all", "-z", "HEAD", NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	cleanup_free char *list = NULL;
	const char *path;
	size_t pos = 0;
	int rc = land_ask_git(l, args, NULL, NULL, &out, &ignored);

	while (!rc && (path = ga_buf_next0(&out, &pos)))
		ga_strv_push(&paths, path);
	if (!rc && !paths.n)
		return ga_strdup("");
	list = rc ? ga_strdup("all of them") : land_list(&paths);
	return ga_strf("; git wrote uncommitted changes anew, whose permissions, line ends and "
		       "'$Id$' may be others: %s", list);
}

/* After an error: put back what git had done of l->changes, and add to the error what came of
 * that. */
static int fail_stopped(struct land *l, bool gave_up, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT;
	bool moved = !land_stays(l), lost = land_restore(l, &failed);
	cleanup_free char *anew = gave_up ? written_anew(l) : ga_strdup("");

	if (!lost)
		return ga_hint(err, "%s%s", l->instead ? l->instead : "nothing was committed, and "
			       "files are as they were", anew);
	if (moved)
		return land_hint_moved(l, failed.msg, err);
	return ga_hint(err, "nothing was committed; %s; %s%s", failed.msg,
		       failed.hint ? failed.hint : "see 'git status'", anew);
}

/* Git did not begin, or could not write something. The working tree was checked before, so this is
 * a race, or something that only git knows. */
static int fail_refused(struct land *l, int status, const struct ga_buf *why, struct ga_error *err)
{
	cleanup_free char *line = land_first_line(why);

	if (land_is_interrupted(status))
		(void)ga_fail(err, GA_ELOSE, "git was interrupted, merging agent/%s", l->s->name);
	else
		(void)ga_fail(err, status == 128 && land_stays(l) ? GA_EFATAL : GA_ELOSE,
			      "git refused to merge agent/%s%s%s", l->s->name, *line ? ": " : "",
			      line);
	return fail_stopped(l, status == GAVE_UP, err);
}

/* Git staged what it could of a squash, and stopped. */
static int fail_squash(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_free char *list = NULL;

	if (land_unmerged(l, &paths, err))
		return -1;
	/* rerere.autoupdate has resolved and staged everything */
	if (!paths.n) {
		(void)ga_fail(err, GA_ECONFLICT, "git resolved the conflicts of agent/%s as "
			      "before (rerere), and did not commit that", l->s->name);
		return ga_hint(err, "look at it with 'git diff HEAD', then 'git commit'; or 'git "
			       "reset --merge' to go back");
	}
	list = land_list(&paths);
	(void)ga_fail(err, GA_ECONFLICT, "squashing agent/%s conflicts in %s", l->s->name, list);
	return ga_hint(err, "resolve, 'git add' and 'git commit'; or 'git reset --merge' to go "
			    "back");
}

int land_run_git(struct land *l, const char *const *args, const void *in, size_t n,
		 int *ret_status, struct ga_buf *why, struct ga_error *err)
{
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.keep_fd = land_held_by(l);
	g.show_stderr = messages_are_plain(l);
	g.errout = g.show_stderr ? NULL : why;
	g.in = in;
	g.in_len = n;
	if (l->opts && l->opts->edit) {
		g.in_fd = STDIN_FILENO;
		g.out_fd = STDOUT_FILENO;
	}
	return ga_git_run(l->repo, &g, ret_status, err);
}

static int run_git(struct land *l, const char *const *args, int *ret_status, struct ga_buf *why,
		   struct ga_error *err)
{
	return land_run_git(l, args, NULL, 0, ret_status, why, err);
}

#define STOPPED "Automatic merge went well; stopped before committing as requested"

/* Run a merge that git leaves uncommitted. Git says that it does, even with --quiet, which would
 * mislead where we make the commit: that line is dropped, and the rest passed on. */
static int run_staging(struct land *l, const char *const *args, int *ret_status,
		       struct ga_buf *why, struct ga_error *err)
{
	/* English, so that the line is the one above */
	static const char *const env[] = { "LANGUAGE=en", NULL };
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.keep_fd = land_held_by(l);
	g.errout = why;
	g.env = env;
	if (ga_git_run(l->repo, &g, ret_status, err))
		return -1;
	if (!messages_are_plain(l))
		return 0;
	for (const char *s = why->ptr; *s;) {
		size_t n = strcspn(s, "\n"), whole = n + (s[n] == '\n');

		if (n != strlen(STOPPED) || strncmp(s, STOPPED, n) != 0)
			(void)ga_write_full(STDERR_FILENO, s, whole);
		s += whole;
	}
	ga_buf_clear(why);
	return 0;
}

static int merge(struct land *l, const char *const *args, struct ga_error *err)
{
	bool stages = l->opts->how == GA_LAND_SQUASH || l->opts->no_commit;
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	/* the last check: git takes HEAD as it finds it */
	if (land_check_stays(l, err))
		return -1;
	if ((stages ? run_staging(l, args, &status, &why, err)
		    : run_git(l, args, &status, &why, err)) ||
	    ga_fault_stop("land:git", err))
		return ga_repo_operation(l->repo)
			       ? ga_hint(err, "'git agent land --continue %s' goes on, --abort "
					 "goes back", l->s->name)
			       : fail_stopped(l, true, err);
	if (land_heed_commit(l, &status, err))
		return -1;
	if (!status)
		return 0;
	if (land_options_check_left(l, err))
		return fail_stopped(l, status == GAVE_UP, err);
	if (ga_repo_operation(l->repo))
		return land_fail_left(l, err);
	/* a squash leaves no sign but unmerged paths */
	if (l->opts->how == GA_LAND_SQUASH && l->conflicts && status == 1)
		return fail_squash(l, err);
	return fail_refused(l, status, &why, err);
}

/* ---- what came of it ------------------------------------------------------------------ */

int land_check_brought(struct land *l, const struct ga_oid *tree, const char *hint,
		       struct ga_error *err)
{
	if (!ga_oid_equal(tree, &l->head_tree))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "the merge of agent/%s brings nothing of it", l->s->name);
	return ga_hint(err, "%s", hint);
}

/* The result is what was checked, or is checked now: options that are configured for the branch,
 * and commits applied one by one, can give something else. */
static int check_tree(struct land *l, const struct ga_oid *tree, struct ga_error *err)
{
	struct ga_changes planned = l->changes;
	int rc;

	if (ga_oid_equal(tree, &l->merged))
		return 0;
	l->merged = *tree;
	l->changes = (struct ga_changes)GA_CHANGES_INIT;
	rc = land_check_brought(l, tree, "'git config --get-regexp mergeoptions' may name a "
					 "strategy that leaves it out", err) ||
	     ga_tree_diff(l->repo, &l->head_tree, tree, &l->changes, err) ||
	     land_check_flags(l, err) ? -1 : 0;
	if (!rc) {
		ga_changes_release(&planned);
		return 0;
	}
	/* taking it back leaves what hooks staged, which it knows by not being in the planned
	 * changes */
	ga_changes_release(&l->changes);
	l->changes = planned;
	return -1;
}

/* Taken back by git, which keeps uncommitted changes elsewhere. */
static int take_back(struct land *l, const char *how, const char *what, struct ga_error *err)
{
	cleanup_error struct ga_error failed = GA_ERROR_INIT;

	if (!land_take_made(l, how, &failed))
		return ga_error_wrap(err, "%s, which was taken back", what);
	(void)ga_error_wrap(err, "%s, which could not be taken back (%s)", what, failed.msg);
	free(err->hint);
	err->hint = ga_steal(&failed.hint);
	return -1;
}

/* `unread`: the result could not be read. What cannot be checked is taken back as well. */
static int judge(struct land *l, const struct ga_oid *tree, bool unread, const char *how,
		 struct ga_error *err)
{
	if (unread)
		return take_back(l, how, "git made of it what cannot be read", err);
	return check_tree(l, tree, err)
		       ? take_back(l, how, "git made something else of it than was checked", err)
		       : 0;
}

static int check_staged(struct land *l, struct ga_error *err)
{
	struct ga_oid tree;
	bool unread;

	if (land_check_made(l, "--merge", err))
		return -1;
	unread = ga_fault_stop("land:made", err) || land_index_tree(l, NULL, &tree, err);
	return judge(l, &tree, unread, "--merge", err);
}

static int check_committed(struct land *l, struct ga_error *err)
{
	struct ga_oid tree;
	bool unread;

	if (land_check_made(l, "--keep", err))
		return -1;
	unread = ga_fault_stop("land:made", err) ||
		 ga_commit_tree(l->repo, &l->ret->commit, &tree, err);
	return judge(l, &tree, unread, "--keep", err);
}

/* ---- ways ----------------------------------------------------------------------------- */

int land_read_result(struct land *l, struct ga_error *err)
{
	cleanup_free char *branch = NULL;

	if (!ga_fault_stop("land:committed", err) &&
	    !ga_repo_head(l->repo, &l->ret->commit, &branch, err))
		return 0;
	return ga_hint(err, "it is committed; 'git agent land %s' notes that", l->s->name);
}

static int squash(struct land *l, struct ga_error *err)
{
	/* --ff: with merge.ff as "false" or "only" git would refuse */
	const char *const stage[] = { "merge", "-s", "ort", "--ff", "--squash", "--no-autostash",
				      "--quiet", GA_HEX(&l->tip), NULL };
	cleanup_buf struct ga_buf message = GA_BUF_INIT, why = GA_BUF_INIT;
	const char *commit[] = { "commit", "--quiet", "-m", NULL, l->opts->edit ? "-e" : NULL,
				 NULL };
	int status;

	if (land_message(l, &message, err))
		return -1;
	commit[3] = message.ptr;
	if (merge(l, stage, err) || check_staged(l, err))
		return -1;
	if (l->opts->no_commit)
		return 0;
	if (!run_git(l, commit, &status, &why, err) && !land_heed_commit(l, &status, err)) {
		if (!status)
			return land_read_result(l, err) || land_check_on_head(l, err) ? -1 : 0;
		(void)ga_fail(err, GA_ECONFLICT, "the changes are staged but not committed: %s",
			      land_why_uncommitted(l));
	}
	return ga_hint(err, "'git commit' tries again, 'git reset --merge' goes back");
}

static int merge_commit(struct land *l, struct ga_error *err)
{
	cleanup_buf struct ga_buf message = GA_BUF_INIT;
	/* explicit, since the user's configuration (merge.ff, pull.twohead) could ask for another
	 * result than the one that was checked */
	const char *args[] = { "merge", "-s", "ort", "--no-ff",
			       l->opts->no_commit ? "--no-commit" : "--commit", "--no-squash",
			       l->opts->edit ? "--edit" : "--no-edit", "--no-autostash",
			       "--quiet", GA_HEX(&l->tip), "-m", NULL, NULL };

	if (land_message(l, &message, err))
		return -1;
	args[11] = message.ptr;
	return merge(l, args, err);
}

static int fast_forward(struct land *l, struct ga_error *err)
{
	const char *const args[] = { "merge", "--ff-only", "--no-squash", "--no-autostash",
				     "--quiet", GA_HEX(&l->tip), NULL };

	return merge(l, args, err);
}

int land_check_how(struct land *l, struct ga_error *err)
{
	int rc = l->opts->how == GA_LAND_REBASE && land_rebase_check_free(l, err) ? -1
		 : l->opts->how == GA_LAND_FF_ONLY ? ga_is_ancestor(l->repo, &l->head, &l->tip, err)
						   : 1;

	if (rc)
		return rc < 0 ? -1 : 0;
	(void)ga_fail(err, GA_EFATAL, "your branch has commits that agent/%s lacks: it cannot move "
				      "on to it", l->s->name);
	return ga_hint(err, "'git agent land --merge' or '--squash' brings it");
}

static int bring(struct land *l, struct ga_error *err)
{
	static int (*const ways[])(struct land *l, struct ga_error *err) = {
		[GA_LAND_MERGE] = merge_commit,
		[GA_LAND_SQUASH] = squash,
		[GA_LAND_REBASE] = land_rebase,
		[GA_LAND_FF_ONLY] = fast_forward,
	};

	if (ways[l->opts->how](l, err))
		return -1;
	if (l->opts->how == GA_LAND_SQUASH)
		return 0;
	return l->opts->no_commit ? check_staged(l, err) : check_committed(l, err);
}

int land_merge(struct land *l, struct ga_error *err)
{
	int rc = land_check_unlocked(l, err) || land_unmark(l, err) || bring(l, err) ? -1 : 0;

	if (!ga_repo_operation(l->repo))
		land_left_forget(l);
	return rc;
}
