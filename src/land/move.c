/* SPDX-License-Identifier: MIT
 *
 * Lock a working tree for a landing, and let git update the user's branch, index and files. Without
 * a hook, editor or conflict the commit is made in memory and git fast-forwards to it, so that
 * other staged and modified files stay; else git merges. The message is the one given, git's own
 * for a merge, or one made from the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/history.h"
#include "ga/repo/import.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "land-internal.h"

#define PATIENCE_MS 3000
#define PAUSE_NS 20000000

/* Record in the lock file that a landing is running: later locks are its own. */
int land_remove_locks(const struct land_lock *l, struct ga_error *err)
{
	struct stat st;

	return fstat(l->fd, &st) || !st.st_size ? 0
						: ga_work_remove_locks(l->repo, &st.st_mtim, err);
}

/* Take the lock, waiting a moment for its owner, or the git of a killed one, to end. */
static int take_lock(int fd, const char *file, struct ga_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const int64_t until = ga_now_ms() + PATIENCE_MS;
	cleanup_free char *word = ga_quote_shell(file);
	int rc;

	while ((rc = ga_flock(fd, true, false, err)) > 0 && ga_now_ms() < until)
		(void)nanosleep(&pause, NULL);
	if (rc <= 0)
		return rc;
	return ga_fail(err, GA_EFATAL, "a landing, or git of one that was killed, is running here"
		       GA_HINT "wait for it to end; 'fuser -v %s' names it", word);
}

int land_lock(struct ga_repo *r, struct land_lock *ret, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(ga_repo_info(r)->gitdir, "git-agent/landing/lock");
	cleanup_free char *dir = ga_path_parent(file);
	cleanup_close int fd = -1;

	if (ga_mkdir_p(dir, 0700, err))
		return -1;
	fd = open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return ga_fail_path(err, errno, "open", file);
	if (take_lock(fd, file, err) ||
	    land_remove_locks(&(struct land_lock){ .repo = r, .fd = fd }, err))
		return -1;
	if (ftruncate(fd, 0) || ga_write_full(fd, "running\n", 8))
		return ga_fail_path(err, errno, "write", file);
	ret->repo = r;
	ret->fd = ga_steal_fd(&fd);
	ga_repo_set_lock(r, ret->fd);
	return 0;
}

void land_unlock(struct land_lock *l)
{
	if (l->fd < 0)
		return;
	if (l->failed)
		(void)land_remove_locks(l, GA_IGNORED);
	(void)!ftruncate(l->fd, 0);
	ga_repo_set_lock(l->repo, -1);
	/* what a hook left running may still have it open */
	ga_funlock(l->fd);
	ga_cleanup_closep(&l->fd);
}

#define SUBJECTS 100 /* of commits, in one message */
#define SUBJECT_MAX ((size_t)1000) /* bytes of each: the agent can make it as long as it likes */
#define SUBJECTS_MAX ((size_t)64 << 10) /* of them together: the message is an argument of git's */
#define COMMITS_MAX 1000000

/* What `git merge agent/NAME` would say, by the user's configuration: a message that is given, too,
 * may get a list of commits (merge.log). */
static int merge_message(const struct landing *l, const struct proposal *p, struct ga_buf *ret,
			 struct ga_error *err)
{
	const char *const args[] = { "fmt-merge-msg", l->opts->message ? "-m" : NULL,
				     l->opts->message, NULL };
	cleanup_free char *in = ga_strf("%s\t\tbranch 'agent/%s' of .\n", GA_HEX(&p->tip),
					l->s->name);
	const struct ga_git g = GA_GIT(.args = args,
					  .work_tree = ga_repo_info(l->repo)->workdir,
					  .as_user = true, .in = in, .in_len = strlen(in),
					  .out = ret);

	return ga_git_ok(l->repo, &g, err);
}

/* "Squash agent/NAME" and the subjects, which are the agent's words, and escaped. */
static int squash_message(const struct landing *l, const struct proposal *p, struct ga_buf *ret,
			  struct ga_error *err)
{
	cleanup_free struct ga_oid *commits = NULL;
	size_t n = 0, i;

	ga_buf_addf(ret, "Squash agent/%s\n\n", l->s->name);
	if (ga_rev_list(l->repo, &p->tip, 1, &p->head, 1, COMMITS_MAX, &commits, &n, err))
		return -1;
	for (i = 0; i < n && i < SUBJECTS && ret->len < SUBJECTS_MAX; i++) {
		cleanup_commit struct ga_commit c = { .n_parents = 0 };
		size_t len, shown;

		if (ga_commit_read(l->repo, &commits[i], &c, err))
			return -1;
		len = strcspn(c.message, "\n");
		shown = ga_utf8_cut(c.message, len, SUBJECT_MAX);
		ga_buf_adds(ret, "* ");
		ga_quote_add_text(ret, c.message, shown);
		ga_buf_adds(ret, shown < len ? "...\n" : "\n");
	}
	if (n > i)
		ga_buf_addf(ret, "* and %zu more\n", n - i);
	return 0;
}

static void part_message(const struct landing *l, struct ga_buf *ret)
{
	ga_buf_addf(ret, "Land a part of agent/%s\n\n", l->s->name);
	for (size_t i = 0; i < l->opts->paths->n && i < SUBJECTS; i++) {
		const char *path = *l->opts->paths->v[i] ? l->opts->paths->v[i] : ".";

		ga_buf_adds(ret, "* ");
		ga_quote_add(ret, path, strlen(path));
		ga_buf_addch(ret, '\n');
	}
}

int land_message(const struct landing *l, const struct proposal *p, bool log, struct ga_buf *ret,
		 struct ga_error *err)
{
	const char *given = l->opts->message;
	int rc = 0;

	if (given && !l->opts->edit && !given[strspn(given, " \t\r\n\v\f")])
		return ga_fail(err, GA_EFATAL, "the message is empty");
	if (given && (!log || l->opts->paths || p->how != GA_LAND_MERGE ||
		      !ga_gitconfig_get(l->config, "merge.log")))
		ga_buf_adds(ret, given);
	else if (l->opts->paths)
		part_message(l, ret);
	else if (p->how == GA_LAND_SQUASH)
		rc = squash_message(l, p, ret, err);
	else
		rc = merge_message(l, p, ret, err);
	/* they ran on all of the session */
	if (!l->opts->paths)
		ga_report_check_trailers(&l->report->checks, ret);
	return rc;
}

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
	const bool quiet = io == LAND_QUIET, terminal = io == LAND_TERMINAL;
	const struct ga_git g = { .args = args,
				  .work_tree = ga_repo_info(l->repo)->workdir,
				  .as_user = true, .show_stderr = !quiet,
				  .errout = quiet ? &said : NULL,
				  .in_fd = terminal ? STDIN_FILENO : -1,
				  .out_fd = terminal ? STDOUT_FILENO : -1,
				  .keep_fd = -1 };

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

/* Is it the merge or squash that git made of the landing, by its parents? */
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
	cleanup_free char *list = ga_quote_list(&p->conflicts, GA_LISTED);
	cleanup_free char *line = ga_git_last_line(why);

	if (p->conflicts.n)
		(void)ga_fail(err, GA_ECONFLICT, "merging agent/%s conflicts in %s", l->s->name,
			      list);
	else
		(void)ga_fail(err, GA_ECONFLICT, "agent/%s is merged, but not committed%s%s",
			      l->s->name, line ? ": " : "", line ? line : "");
	return ga_hint(err, "%s'git agent land --continue %s' commits it, --abort rolls it back",
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

/* git exited with `status`: record the commit, or that it is left to the user. */
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
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_oid oid;

	if (ga_read_file_at(AT_FDCWD, file, HEAD_FILE, &b, GA_IGNORED))
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
