/* SPDX-License-Identifier: MIT
 *
 * The commit of a landing beside uncommitted work. Hooks run as git merge and git commit run them,
 * but before anything is touched, on an index of their own that holds what is committed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "work.h"

#define MESSAGE_MAX ((size_t)1 << 20)

static bool is_merge(const struct land *l)
{
	return l->opts->how == GA_LAND_MERGE && !l->opts->paths;
}

/* ---- what it holds ----------------------------------------------------------------- */

static int make_tree(struct land *l, struct ga_error *err)
{
	cleanup_changes struct ga_changes c = GA_CHANGES_INIT;
	struct work *w = l->work;

	for (size_t i = 0; i < w->n; i++)
		if (!ga_entry_equal(&w->v[i].head, &w->v[i].to_commit))
			(void)ga_changes_add(&c, w->v[i].path, &w->v[i].head, &w->v[i].to_commit);
	ga_changes_sort(&c);
	return ga_tree_apply(l->repo, NULL, &l->head_tree, &c, &w->tree, err);
}

/* ---- hooks ------------------------------------------------------------------------- */

static int run_hook(struct land *l, const char *index, const char *const *words, int *ret_status,
		    struct ga_error *err)
{
	static const char *const env[] = { "GIT_EDITOR=:", NULL };
	const char *args[8] = { "hook", "run", "--ignore-missing" };
	struct ga_git g = GA_GIT_INIT;
	size_t n = 3;

	while (*words)
		args[n++] = *words++;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.index_file = index;
	g.env = l->opts->edit ? NULL : env;
	g.as_user = true;
	g.show_stderr = true;
	return ga_git_run(l->repo, &g, ret_status, err);
}

/* Does all that HEAD gained come from the index that the hook was given, as that was then or is
 * now, and does the user's index lack some of it? In that index, such a path would look as if the
 * user had staged its old content. 1 yes. */
static int is_of_index(struct land *l, const char *index, const struct ga_oid *head,
		       struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_oid tree, given, own;
	bool behind = false;
	int rc = ga_is_ancestor(l->repo, &l->head, head, err);

	if (rc <= 0)
		return rc;
	if (ga_commit_tree(l->repo, head, &tree, err) || land_index_tree(l, index, &given, err) ||
	    land_index_tree(l, NULL, &own, err) ||
	    ga_tree_diff(l->repo, &l->head_tree, &tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		struct ga_entry planned, in_given, in_own;

		if (ga_tree_entry(l->repo, &l->work->tree, all.v[i].path, &planned, err) ||
		    ga_tree_entry(l->repo, &given, all.v[i].path, &in_given, err) ||
		    ga_tree_entry(l->repo, &own, all.v[i].path, &in_own, err))
			return -1;
		if (!ga_entry_equal(&planned, &all.v[i].new) &&
		    !ga_entry_equal(&in_given, &all.v[i].new))
			return 0;
		behind |= !ga_entry_equal(&in_own, &all.v[i].new);
	}
	return behind;
}

/* The branch moved while a hook ran. What the hook committed of the landing is taken off the
 * branch, so that the user's index fits it again; what the user committed stays. */
static int fail_moved(struct land *l, const char *index, const char *hook, struct ga_error *err)
{
	cleanup_free char *why = ga_strf("reset: what the %s hook committed", hook);
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = ga_repo_head(l->repo, &head, &branch, err);

	if (rc)
		return rc < 0 ? -1 : land_check_stays(l, err);
	rc = is_of_index(l, index, &head, err);
	if (rc < 0 || (rc > 0 && land_move_head(l, why, &l->head, &head, err))) {
		(void)ga_error_wrap(err, "your branch moved to %.10s while your %s hook ran",
				    GA_HEX(&head), hook);
		return ga_hint(err, "'git log %.10s..' shows what is there, 'git reset --soft "
			       "%.10s' goes back", GA_HEX(&l->head), GA_HEX(&l->head));
	}
	if (rc)
		(void)ga_fail(err, GA_ELOSE, "your %s hook committed %.10s, which was taken back: "
			      "nothing was touched", hook, GA_HEX(&head));
	else
		(void)ga_fail(err, GA_ELOSE, "your branch moved to %.10s while your %s hook ran: "
			      "nothing was touched", GA_HEX(&head), hook);
	return ga_hint(err, "land again, or, if that hook commits each time, 'git -c "
		       "core.hooksPath=/dev/null agent land %s'", l->s->name);
}

static int must(struct land *l, const char *index, const char *const *words, struct ga_error *err)
{
	int status;

	if (run_hook(l, index, words, &status, err))
		return -1;
	if (!land_stays(l))
		return fail_moved(l, index, words[0], err);
	if (!status)
		return 0;
	(void)ga_fail(err, GA_EFATAL, "your %s hook refused the commit: nothing was touched",
		      words[0]);
	return ga_hint(err, "see to what it says, then land again");
}

/* Refuse a hook that changes what is committed: it would add what nobody looked at, and what is not
 * in the working tree. */
static int before_commit(struct land *l, const char *index, struct ga_error *err)
{
	const char *const read[] = { "read-tree", GA_HEX(&l->work->tree), NULL };
	const char *const hook[] = { is_merge(l) ? "pre-merge-commit" : "pre-commit", NULL };
	struct ga_oid tree;

	if (land_ask_git(l, read, index, NULL, NULL, err) || must(l, index, hook, err) ||
	    land_index_tree(l, index, &tree, err))
		return -1;
	if (ga_oid_equal(&tree, &l->work->tree))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "your %s hook changed what is committed", hook[0]);
	return ga_hint(err, "commit or 'git stash' your changes, then land again");
}

/* ---- the message ------------------------------------------------------------------- */

/* Run the editor that git would use, in the way that git runs it. */
static int edit(struct land *l, const char *file, struct ga_error *err)
{
	static const char *const config[] = {
		"alias.git-agent-edit=!f() { e=$(git var GIT_EDITOR) && "
		"eval \"$e \\\"\\$1\\\"\"; }; f",
		NULL
	};
	const char *const args[] = { "git-agent-edit", file, NULL };
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.config = config;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.show_stderr = true;
	g.in_fd = STDIN_FILENO;
	g.out_fd = STDOUT_FILENO;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	return status ? ga_fail(err, GA_EFATAL, "the editor failed: nothing was touched") : 0;
}

/* As git does it (commit.cleanup). The editor was given no text of git's, which scissors would cut
 * off. */
static int clean_up(struct land *l, struct ga_buf *message, struct ga_error *err)
{
	const char *how = ga_gitconfig_get(&l->config, "commit.cleanup");
	bool comments = !how || !strcmp(how, "default") ? l->opts->edit : !strcmp(how, "strip");
	const char *const args[] = { "stripspace", comments ? "--strip-comments" : NULL, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	if (how && !strcmp(how, "verbatim"))
		ga_buf_add(&out, message->ptr, message->len);
	else if (land_ask_git(l, args, NULL, message, &out, err))
		return -1;
	if (!out.len)
		return ga_fail(err, GA_EFATAL, "the message is empty: nothing was touched");
	ga_buf_clear(message);
	ga_buf_add(message, out.ptr, out.len);
	return 0;
}

/* The message goes through the file that git uses, where hooks and editors look for it. */
static int make_message(struct land *l, const char *index, struct ga_buf *message,
			struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(ga_repo_info(l->repo)->gitdir, "COMMIT_EDITMSG");
	const char *const prepare[] = { "prepare-commit-msg", "--", file,
					is_merge(l) ? "merge" : "message", NULL };
	const char *const check[] = { "commit-msg", "--", file, NULL };

	if (land_message(l, message, err))
		return -1;
	if (message->len && message->ptr[message->len - 1] != '\n')
		ga_buf_addch(message, '\n');
	if (unlink(file) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write the message");
	if (ga_write_new(AT_FDCWD, file, message->ptr, message->len, 0666, err) ||
	    must(l, index, prepare, err) ||
	    /* what was committed from the editor is no hook's, and stays */
	    (l->opts->edit && (edit(l, file, err) || land_check_stays(l, err))) ||
	    must(l, index, check, err))
		return -1;
	ga_buf_clear(message);
	return ga_read_file_at(AT_FDCWD, file, MESSAGE_MAX, message, err) ||
	       clean_up(l, message, err) ? -1 : 0;
}

/* ---- the commit -------------------------------------------------------------------- */

static int write_commit(struct land *l, const struct ga_buf *message, struct ga_error *err)
{
	char tip[GA_OID_HEXSZ + 1];
	const char *args[12] = { "commit-tree", GA_HEX(&l->work->tree), "-p", GA_HEX(&l->head) };
	cleanup_buf struct ga_buf out = GA_BUF_INIT, why = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	size_t n = 4;

	if (is_merge(l)) {
		args[n++] = "-p";
		args[n++] = ga_oid_hex(&l->tip, tip);
	}
	if (ga_gitconfig_bool(&l->config, "commit.gpgsign", false))
		args[n++] = "-S";
	args[n++] = "-F";
	args[n++] = "-";
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.in = message->ptr;
	g.in_len = message->len;
	g.out = &out;
	g.errout = &why;
	if (ga_git_ok(l->repo, &g, err))
		return ga_hint(err, "nothing was touched");
	ga_buf_chomp(&out);
	return ga_oid_parse(out.ptr, out.len, &l->work->commit)
		   ? 0
		   : ga_fail(err, GA_EFATAL, "git commit-tree printed no object id");
}

int work_commit(struct land *l, struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(l->work->dir, "index.hook");
	cleanup_buf struct ga_buf message = GA_BUF_INIT;
	struct work *w = l->work;

	w->commit = l->head;
	if (make_tree(l, err))
		return -1;
	if (l->opts->how == GA_LAND_FF_ONLY && !l->opts->paths) {
		w->commit = l->tip;
		return 0;
	}
	/* a merge commit records where it came from even if it changes nothing */
	if (ga_oid_equal(&w->tree, &l->head_tree) && !is_merge(l))
		return 0;
	return before_commit(l, index, err) || make_message(l, index, &message, err) ||
	       write_commit(l, &message, err) ? -1 : 0;
}

void work_after(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	const char *const merged[] = { "post-merge", "--",
				       l->opts->how == GA_LAND_SQUASH ? "1" : "0", NULL };
	static const char *const committed[] = { "post-commit", NULL };
	int status;

	if (ga_oid_equal(&l->work->commit, &l->head))
		return;
	if (!is_merge(l) && l->opts->how != GA_LAND_FF_ONLY)
		(void)run_hook(l, NULL, committed, &status, &ignored);
	if (!l->opts->paths)
		(void)run_hook(l, NULL, merged, &status, &ignored);
}
