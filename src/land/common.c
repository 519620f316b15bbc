/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "land-internal.h"

#define LISTED 5

static int read_ref(struct ga_repo *r, const char *name, struct ga_oid *ret, struct ga_error *err)
{
	int rc = ga_ref_read(r, name, ret, err);

	if (rc == 1)
		*ret = (struct ga_oid){{0}};
	return rc < 0 ? -1 : 0;
}

int land_refs_read(struct ga_repo *r, const struct ga_session *s, struct land_refs *ret,
		   struct ga_error *err)
{
	cleanup_free char *held = ga_session_ref(s, "held"), *report = ga_session_ref(s, "report");

	if (read_ref(r, s->branch, &ret->branch, err) || read_ref(r, held, &ret->held, err) ||
	    read_ref(r, report, &ret->report, err))
		return -1;
	/* a branch that has landed may be deleted */
	if (!ga_oid_is_zero(&s->tip) && ga_oid_is_zero(&ret->branch) &&
	    s->state != GA_STATE_LANDED) {
		(void)ga_fail(err, GA_EFATAL, "the branch 'agent/%s' is gone", s->name);
		return ga_hint(err, "'git branch agent/%s %s' brings it back", s->name,
			       GA_HEX(&s->tip));
	}
	return 0;
}

int land_begin(struct ga_repo *r, struct ga_error *err)
{
	cleanup_close int fd = open(ga_repo_info(r)->gitdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the git directory");
	rc = ga_flock(fd, true, false, err);
	if (rc > 0) {
		(void)ga_fail(err, GA_EFATAL, "another landing is at work in this working tree");
		return ga_hint(err, "wait until it has come to its end, then try again");
	}
	return rc ? -1 : ga_steal_fd(&fd);
}

int land_fail_moved(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_ELOSE,
		      "branch 'agent/%s' was moved: it lacks commits of the session's", s->name);
	return ga_hint(err, "'git branch -f agent/%s %s' puts it back on them", s->name,
		       GA_HEX(&s->tip));
}

int land_check_moved_back(struct ga_repo *r, const struct ga_session *s,
			  const struct ga_oid *branch, struct ga_error *err)
{
	int rc = ga_branch_lacks(r, s, branch, err);

	if (rc > 0)
		rc = ga_is_ancestor(r, branch, &s->tip, err);
	return rc > 0 ? land_fail_moved(s, err) : rc;
}

int land_ask_id(struct land *l, const char *const *args, struct ga_oid *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.out = &out;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	ga_buf_chomp(&out);
	return status || !ga_oid_parse(out.ptr, out.len, ret);
}

int land_read_ref(struct land *l, const char *name, struct ga_oid *ret, struct ga_error *err)
{
	const char *const args[] = { "rev-parse", "--quiet", "--verify", name, NULL };

	return land_ask_id(l, args, ret, err);
}

int land_merge_base(struct land *l, struct ga_oid *ret, struct ga_error *err)
{
	const char *const args[] = { "merge-base", "--all", GA_HEX(&l->head), GA_HEX(&l->tip),
				     NULL };

	return land_ask_id(l, args, ret, err);
}

int land_renames(struct land *l, const char *base, struct ga_strv *ret, struct ga_error *err)
{
	/* git's default limit on renames when it merges */
	const char *const args[] = { "diff-tree", "-r", "-z", "-M", "-l7000", "--diff-filter=R",
				     "--name-status", base, GA_HEX(&l->head_tree), NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *was, *is;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while (ga_buf_next0(&out, &pos) && (was = ga_buf_next0(&out, &pos)) &&
	       (is = ga_buf_next0(&out, &pos)))
		ga_strv_push_many(ret, was, is, NULL);
	return 0;
}

bool land_ignores_modes(struct land *l)
{
	static const char *const args[] = { "config", "--type=bool", "--get", "core.fileMode",
					    NULL };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.out = &out;
	return !ga_git_run(l->repo, &g, &status, &ignored) && !strcmp(out.ptr, "false\n");
}

int land_check_operation(struct land *l, const char *then, struct ga_error *err)
{
	const char *operation = ga_repo_operation(l->repo);

	if (!operation)
		return 0;
	(void)ga_fail(err, GA_ELOSE, "%s %s is in progress in this working tree",
		      ga_repo_operation_article(operation), operation);
	return ga_hint(err, "finish or abort it, then %s", then);
}

bool land_is_to_go_on(const struct land *l)
{
	cleanup_free char *todo = ga_path_join(ga_repo_info(l->repo)->gitdir, "sequencer/todo");

	return ga_repo_operation(l->repo) || !access(todo, F_OK);
}

const char *land_worktree(const struct land *l)
{
	const struct ga_repo_info *info = ga_repo_info(l->repo);

	return strcmp(info->gitdir, info->commondir) != 0 ? ga_path_base(info->gitdir) : "";
}

char *land_worktree_gitdir(const struct land *l, const char *worktree)
{
	const char *common = ga_repo_info(l->repo)->commondir;

	return *worktree ? ga_strf("%s/worktrees/%s", common, worktree) : ga_strdup(common);
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) && (errno == ENOENT || errno == ENOTDIR);
}

/* A linked working tree's git directory names its ".git" in the file "gitdir", perhaps relative to
 * that directory. One that is missing but locked still exists, as on a disk that is not
 * attached. */
static char *linked_path(const char *gitdir)
{
	cleanup_free char *file = ga_path_join(gitdir, "gitdir"), *dir = NULL, *real = NULL;
	cleanup_free char *locked = ga_path_join(gitdir, "locked");
	cleanup_error struct ga_error none = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (is_missing(gitdir))
		return NULL;
	if (ga_read_file_at(AT_FDCWD, file, PATH_MAX, &b, &none))
		return ga_strdup(gitdir);
	ga_buf_chomp(&b);
	if (*b.ptr != '/') {
		cleanup_free char *from = ga_strf("%s/%s", gitdir, b.ptr);

		ga_buf_clear(&b);
		ga_buf_adds(&b, from);
	}
	if (is_missing(b.ptr) && is_missing(locked))
		return NULL;
	dir = ga_path_parent(b.ptr);
	real = realpath(dir, NULL);
	return ga_steal(real ? &real : &dir);
}

/* The main working tree is where ".git" is. A git directory by another name is a submodule's, and
 * stands for it. */
char *land_worktree_path(const struct land *l, const char *worktree)
{
	cleanup_free char *gitdir = land_worktree_gitdir(l, worktree);

	if (*worktree)
		return linked_path(gitdir);
	return strcmp(ga_path_base(gitdir), ".git") != 0 ? ga_steal(&gitdir)
							  : ga_path_parent(gitdir);
}

char *land_own_file(const struct land *l, const char *name)
{
	const char *worktree = land_worktree(l);

	return ga_strf("%s/%s%s%s", l->s->dir, name, *worktree ? "-" : "", worktree);
}

int land_worktrees_with(const struct land *l, const char *name, struct ga_strv *ret,
			struct ga_error *err)
{
	DIR *d = opendir(l->s->dir);
	size_t n = strlen(name);
	struct dirent *e;
	int failed;

	if (!d)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read the session's directory");
	while ((errno = 0, e = readdir(d)))
		if (!strncmp(e->d_name, name, n) && (!e->d_name[n] || e->d_name[n] == '-'))
			ga_strv_push(ret, e->d_name + n + (e->d_name[n] == '-'));
	failed = errno;
	(void)closedir(d);
	ga_strv_sort_unique(ret);
	return failed ? ga_fail_errno(err, GA_EFATAL, failed, "cannot read the session's directory")
		      : 0;
}

bool land_stays(const struct land *l)
{
	cleanup_error struct ga_error unread = GA_ERROR_INIT;
	cleanup_free char *branch = NULL;
	struct ga_oid head;

	return !ga_repo_head(l->repo, &head, &branch, &unread) && ga_oid_equal(&head, &l->head);
}

int land_check_stays(const struct land *l, struct ga_error *err)
{
	if (land_stays(l))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "your branch moved meanwhile");
	return ga_hint(err, "land again");
}

int land_held_by(const struct land *l)
{
	return l->git_lock ? l->git_lock : -1;
}

int land_move_head(struct land *l, const char *why, const struct ga_oid *to,
		   const struct ga_oid *from, struct ga_error *err)
{
	const char *const args[] = { "update-ref", "-m", why, "HEAD", GA_HEX(to), GA_HEX(from),
				     NULL };
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.as_user = true;
	g.keep_fd = land_held_by(l);
	return ga_git_ok(l->repo, &g, err);
}

char *land_list(const struct ga_strv *paths)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;

	for (size_t i = 0; i < paths->n && i < LISTED; i++) {
		cleanup_free char *q = ga_quote(paths->v[i]);

		ga_buf_addf(&out, "%s%s", i ? ", " : "", q);
	}
	if (paths->n > LISTED)
		ga_buf_addf(&out, " and %zu more", paths->n - LISTED);
	return ga_buf_steal(&out);
}

int land_ask_git(struct land *l, const char *const *args, const char *index,
		 const struct ga_buf *in, struct ga_buf *out, struct ga_error *err)
{
	struct ga_git g = GA_GIT_INIT;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.index_file = index;
	g.in = in ? in->ptr : NULL;
	g.in_len = in ? in->len : 0;
	g.out = out;
	return ga_git_ok(l->repo, &g, err);
}

int land_ask_list(struct land *l, const char *const *args, const char *index, struct ga_strv *ret,
		  struct ga_error *err)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *item;
	size_t pos = 0;

	if (land_ask_git(l, args, index, NULL, &out, err))
		return -1;
	while ((item = ga_buf_next0(&out, &pos)))
		ga_strv_push(ret, item);
	ga_strv_sort_unique(ret);
	return 0;
}
