/* SPDX-License-Identifier: MIT
 *
 * Git moves the user's branch, index and files. Where no hook, editor or conflict takes part, the
 * commit is made in memory and git fast-forwards to it, so that staged and modified files
 * elsewhere stay as they are; else git merges.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/import.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "landing.h"

#define HEAD_FILE 64
#define MADE_BEHIND 100 /* commits that hooks or the user may have made on top */

/* Can git's messages, which name changed paths as they are, go to a terminal? */
static bool are_plain(const struct ga_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		cleanup_buf struct ga_buf q = GA_BUF_INIT;
		const char *path = changes->v[i].path;

		ga_quote_add(&q, path, strlen(path));
		/* git quotes from an attributes file what it does not understand */
		if (strcmp(q.ptr, path) != 0 || ga_name_means_gitattributes(ga_path_base(path)))
			return false;
	}
	return true;
}

int land_run(const struct landing *l, const char *const *args, enum land_io io, int *ret_status,
	     struct ga_buf *why, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, said = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.show_stderr = io != LAND_QUIET;
	g.errout = io == LAND_QUIET ? &said : NULL;
	if (io == LAND_TERMINAL) {
		g.in_fd = STDIN_FILENO;
		g.out_fd = STDOUT_FILENO;
	}
	if (ga_git_run(l->repo, &g, ret_status, err))
		return -1;
	if (*ret_status) {
		ga_buf_add(why, said.ptr, said.len);
		return 0;
	}
	ga_quote_add_text(&text, said.ptr, said.len);
	(void)ga_write_full(STDERR_FILENO, text.ptr, text.len);
	return 0;
}

int land_make_commit(const struct landing *l, const struct proposal *p, struct record *rec,
		     struct ga_error *err)
{
	const struct ga_oid parents[] = { p->head, p->tip };
	cleanup_buf struct ga_buf message = GA_BUF_INIT;

	rec->commit = p->commit;
	if (!ga_oid_is_zero(&p->commit) || p->needs_git)
		return 0;
	if (land_message(l, p, true, &message, err))
		return -1;
	/* as git does when it commits */
	if (message.len && message.ptr[message.len - 1] != '\n')
		ga_buf_addch(&message, '\n');
	return ga_work_commit(l->repo, l->config, &p->tree, parents,
			      p->how == GA_LAND_MERGE ? 2 : 1, NULL, message.ptr,
			      &rec->commit, err);
}

/* The parents tell, of a merge and of a squash that git makes. */
static bool is_made(const struct record *rec, const struct ga_commit *c)
{
	if (c->n_parents != (rec->how == GA_LAND_SQUASH ? 1 : 2) ||
	    !ga_oid_equal(&c->parents[0], &rec->head))
		return false;
	return c->n_parents == 1 || ga_oid_equal(&c->parents[1], &rec->tip);
}

int land_find_made(struct ga_repo *r, const struct record *rec, struct ga_oid *ret,
		   struct ga_error *err)
{
	cleanup_free char *branch = NULL;
	struct ga_oid at;
	int rc = ga_repo_head(r, &at, &branch, err);

	if (!rc && !ga_oid_is_zero(&rec->commit)) {
		*ret = rec->commit;
		rc = ga_is_ancestor(r, ret, &at, err);
		return rc < 0 ? -1 : !rc;
	}
	for (int i = 0; !rc && i < MADE_BEHIND; i++) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };

		if (ga_commit_read(r, &at, &c, err))
			return -1;
		if (is_made(rec, &c)) {
			*ret = at;
			return 0;
		}
		if (ga_oid_equal(&at, &rec->head) || !c.n_parents)
			return 1;
		at = c.parents[0];
	}
	return rc < 0 ? -1 : 1;
}

static int fail_left(const struct landing *l, const struct proposal *p, const struct ga_buf *why,
		     struct ga_error *err)
{
	cleanup_free char *list = ga_quote_list(&p->conflicts, GA_LISTED),
						*line = ga_git_last_line(why);

	if (p->conflicts.n)
		(void)ga_fail(err, GA_ECONFLICT, "merging agent/%s conflicts in %s", l->s->name,
			      list);
	else
		(void)ga_fail(err, GA_ECONFLICT, "agent/%s is merged, but not committed%s%s",
			      l->s->name, line ? ": " : "", line ? line : "");
	return ga_hint(err, "%s'git agent land --continue %s' commits it, --abort gives it up",
		       p->conflicts.n ? "resolve and 'git add', then " : "", l->s->name);
}

static int fail_stopped(const struct landing *l, int status, const struct ga_buf *why,
			struct ga_error *err)
{
	cleanup_free char *line = ga_git_last_line(why);

	return status > 129 ? ga_fail(err, GA_ELOSE, "git was interrupted while it landed agent/%s",
				      l->s->name)
			    : ga_fail(err, GA_ELOSE, "git refused to land agent/%s%s%s", l->s->name,
				      line ? ": " : "", line ? line : "");
}

/* git has ended with `status`: note the commit, or that it is left to the user. */
static int conclude(const struct landing *l, const struct proposal *p, struct record *rec,
		    int status, const struct ga_buf *why, struct ga_error *err)
{
	struct ga_oid made;
	int rc = land_find_made(l->repo, rec, &made, err);

	if (rc < 0)
		return -1;
	if (!rc) {
		rec->commit = made;
		return status && (land_remove_locks(l->lock, err) ||
				  land_clear_state(l, rec, err)) ? -1 : 0;
	}
	if (!land_is_left(ga_repo_info(l->repo)->gitdir, rec))
		return fail_stopped(l, status, why, err);
	rec->phase = RECORD_HANDED_OVER;
	if (record_save(l->repo, rec, err))
		return -1;
	l->ret->uncommitted = !status && l->opts->no_commit;
	return l->ret->uncommitted ? 0 : fail_left(l, p, why, err);
}

static int fast_forward(const struct landing *l, const struct proposal *p, struct record *rec,
			enum land_io io, struct ga_error *err)
{
	const char *const args[] = { "merge", "--quiet", "--ff-only", "--no-squash",
				     "--no-autostash", "--no-overwrite-ignore",
				     GA_HEX(&rec->commit), NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	return land_run(l, args, io, &status, &why, err) ||
	       conclude(l, p, rec, status, &why, err) ? -1 : 0;
}

static int git_merge(const struct landing *l, const struct proposal *p, struct record *rec,
		     const char *message, enum land_io io, struct ga_error *err)
{
	cleanup_free char *tip = land_name_tip(l, p);
	bool squash = l->opts->how == GA_LAND_SQUASH;
	const char *const merge[] = { "merge", "--quiet", "-s", "ort", "--no-ff", "--no-squash",
				      "--no-autostash", "--verify",
				      l->opts->no_commit ? "--no-commit" : "--commit",
				      l->opts->edit ? "--edit" : "--no-edit", tip,
				      message ? "-m" : NULL, message, NULL };
	const char *const stage[] = { "merge", "--quiet", "-s", "ort", "--ff", "--squash",
				      "--no-autostash", tip, NULL };
	const char *const commit[] = { "commit", "--quiet", "-m", message,
				       l->opts->edit ? "--edit" : NULL, NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (land_run(l, squash ? stage : merge, io, &status, &why, err) ||
	    (squash && !status && !l->opts->no_commit &&
	     (ga_fault_stop("land:squashed", err) ||
	      land_run(l, commit, io, &status, &why, err))))
		return -1;
	return conclude(l, p, rec, status, &why, err);
}

int land_move(const struct landing *l, const struct proposal *p, struct record *rec,
	      struct ga_error *err)
{
	enum land_io io = are_plain(&p->changes) ? LAND_SHOW : LAND_QUIET;
	cleanup_buf struct ga_buf message = GA_BUF_INIT;

	if (ga_fault_stop("land:move", err))
		return -1;
	if (!ga_oid_is_zero(&rec->commit))
		return fast_forward(l, p, rec, io, err);
	if (l->opts->edit)
		io = LAND_TERMINAL;
	/* git has a message for a merge, and adds the list of commits to one that is given */
	if (l->opts->how != GA_LAND_SQUASH && !l->opts->message && !l->report->checks.n)
		return git_merge(l, p, rec, NULL, io, err);
	return land_message(l, p, false, &message, err) ||
	       git_merge(l, p, rec, message.ptr, io, err) ? -1 : 0;
}

/* MERGE_HEAD is the session's commit, or git was killed while it wrote that. */
bool land_is_merging(const char *gitdir, const struct record *rec)
{
	cleanup_free char *file = ga_path_join(gitdir, "MERGE_HEAD");
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid oid;

	if (ga_read_file_at(AT_FDCWD, file, HEAD_FILE, &b, &ignored))
		return false;
	ga_buf_chomp(&b);
	return !b.len || (ga_oid_parse(b.ptr, b.len, &oid) && ga_oid_equal(&oid, &rec->tip));
}

bool land_is_left(const char *gitdir, const struct record *rec)
{
	cleanup_free char *squash = ga_path_join(gitdir, "SQUASH_MSG");

	return rec->how == GA_LAND_SQUASH ? !access(squash, F_OK) : land_is_merging(gitdir, rec);
}

int land_clear_state(const struct landing *l, const struct record *rec, struct ga_error *err)
{
	static const char *const args[] = { "merge", "--quit", NULL };
	const char *gitdir = ga_repo_info(l->repo)->gitdir;
	cleanup_free char *squash = ga_path_join(gitdir, "SQUASH_MSG");
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status;

	if (rec->how == GA_LAND_SQUASH && unlink(squash) && errno != ENOENT)
		return ga_fail_path(err, errno, "remove", squash);
	return land_is_merging(gitdir, rec) || !ga_repo_operation(l->repo)
		       ? land_run(l, args, LAND_QUIET, &status, &why, err) : 0;
}
