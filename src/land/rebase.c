/* SPDX-License-Identifier: MIT
 *
 * The session's commits made again on HEAD, by git cherry-pick: the user stays on their branch, and
 * a conflict is in an ordinary state of git's.
 */
#include <fcntl.h>
#include <string.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "land-internal.h"

/* Those that `git rebase` would take: no merges, and none that is there already. */
static int list(struct land *l, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free char *range = ga_strf("%s...%s", GA_HEX(&l->head), GA_HEX(&l->tip));
	const char *const args[] = { "rev-list", "--reverse", "--topo-order", "--no-merges",
				     "--right-only", "--cherry-pick", range, NULL };
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.out = ret;
	return ga_git_ok(l->repo, &g, err);
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

/* It stopped, and not at a commit that could be resolved: back to where it began. */
static int fail_stopped(struct land *l, int status, struct ga_buf *why, struct ga_error *err)
{
	static const char *const quit[] = { "cherry-pick", "--quit", NULL };
	const char *const reset[] = { "reset", "--quiet", "--merge", GA_HEX(&l->head), NULL };
	cleanup_buf struct ga_buf none = GA_BUF_INIT;
	int rc;

	/* what it committed was noted nowhere; a reset that cannot be is said by what follows */
	if (land_run_git(l, quit, NULL, 0, &rc, &none, err) ||
	    land_run_git(l, reset, NULL, 0, &rc, &none, err))
		return -1;
	return land_fail_refused(l, status, why, err);
}

/* On to the end, over commits of which nothing is left, as a rebase does. */
static int go_on(struct land *l, int status, struct ga_buf *why, struct ga_error *err)
{
	static const char *const skip[] = { "cherry-pick", "--skip", NULL };

	l->rebase = true;
	while (status) {
		cleanup_strv struct ga_strv paths = GA_STRV_INIT;
		int rc;

		if (!ga_repo_operation(l->repo))
			return fail_stopped(l, status, why, err);
		if (land_unmerged(l, &paths, err))
			return -1;
		rc = paths.n ? 0 : is_empty(l, err);
		if (rc <= 0)
			return rc < 0 ? -1 : land_fail_left(l, err);
		if (land_run_git(l, skip, NULL, 0, &status, why, err))
			return -1;
	}
	return 0;
}

int land_rebase(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "cherry-pick", "--strategy=ort", "--allow-empty",
					    "--stdin", NULL };
	cleanup_buf struct ga_buf commits = GA_BUF_INIT, why = GA_BUF_INIT;
	int status;

	if (list(l, &commits, err))
		return -1;
	if (!commits.len)
		return 0;
	if (land_run_git(l, args, commits.ptr, commits.len, &status, &why, err))
		return -1;
	return go_on(l, status, &why, err);
}

int land_rebase_continue(struct land *l, struct ga_error *err)
{
	static const char *const args[] = { "cherry-pick", "--continue", NULL };
	cleanup_buf struct ga_buf why = GA_BUF_INIT;
	int status, rc = is_empty(l, err);

	/* resolved to what is there */
	if (rc)
		return rc < 0 ? -1 : go_on(l, 1, &why, err);
	if (land_run_git(l, args, NULL, 0, &status, &why, err))
		return -1;
	return go_on(l, status, &why, err);
}

/* Where HEAD was before the first of several. */
static int read_head(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(ga_repo_info(l->repo)->gitdir, "sequencer/head");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (ga_read_file_at(AT_FDCWD, file, 100, &b, &none))
		return 0;
	ga_buf_chomp(&b);
	return ga_oid_parse(b.ptr, b.len, &l->head)
		   ? 0
		   : ga_fail(err, GA_EFATAL, "cannot tell where the rebase began");
}

int land_rebase_left(struct land *l, const struct ga_oid *tip, struct ga_error *err)
{
	struct ga_oid oid;
	int rc = land_read_ref(l, "CHERRY_PICK_HEAD", &oid, err);

	if (rc || ga_oid_is_zero(tip))
		return rc < 0 ? -1 : 0;
	rc = ga_is_ancestor(l->repo, &oid, tip, err);
	if (rc <= 0)
		return rc;
	rc = ga_is_ancestor(l->repo, &oid, &l->head, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return read_head(l, err) ? -1 : 1;
}
