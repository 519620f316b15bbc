/* SPDX-License-Identifier: MIT */
#include "view-internal.h"
#include "ga/repo/gitdir.h"
#include "ga/sandbox/sandbox.h"

/* With the working tree itself as the lower layer there is no base tree whose
 * index could be shared: take the user's and bring it to the base commit. */
static int live_index(struct ga_env *e, const struct ga_session *s, struct ga_error *err)
{
	const struct ga_repo_info *info = ga_repo_info(e->repo);
	cleanup_free char *from = ga_path_join(info->gitdir, "index");
	cleanup_free char *dir = ga_session_path(s, "git"), *index = ga_path_join(dir, "index");
	cleanup_close int src = open(from, O_RDONLY | O_CLOEXEC), at = -1;
	char hex[GA_OID_HEXSZ + 1];
	const char *const read_tree[] =
		{ "read-tree", "--reset", ga_oid_hex(&s->id.base, hex), NULL };
	const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	int status;
	struct ga_git g = GA_GIT(.index_file = index, .work_tree = info->workdir);

	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the private git dir");
	if (src >= 0 && ga_copy_fd_to(src, at, "index", err))
		return -1;
	g.args = read_tree;
	if (ga_git_ok(e->repo, &g, err))
		return -1;
	g.args = refresh;
	/* exits 1 when a file differs from the base, which is no failure here */
	return ga_git_run(e->repo, &g, &status, err);
}

/* Forget the times and sizes that the index has for these files, so that git compares them: in the
 * session they are not what they were where the index was made. A session over a base tree gets an
 * index of its own for that. */
static int forget_stat(struct ga_env *e, const struct ga_session *s, const struct ga_base *base,
		       const struct ga_strv *paths, struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	cleanup_free char *dir = ga_session_path(s, "git"), *index = ga_path_join(dir, "index");
	cleanup_free char *from = s->id.live ? NULL : ga_path_join(base->git, "index");
	cleanup_close int src = from ? open(from, O_RDONLY | O_CLOEXEC) : -1;
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	struct ga_oid tree;
	struct ga_git g = GA_GIT(.args = args, .index_file = index);

	if (from && src < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the index of a base tree");
	if (ga_commit_tree(e->repo, &s->id.base, &tree, err))
		return -1;
	for (size_t i = 0; i < paths->n; i++) {
		struct ga_entry entry;

		if (ga_tree_entry(e->repo, &tree, paths->v[i], &entry, err))
			return -1;
		ga_buf_addf(&in, "%06o %s\t", entry.mode, GA_HEX(&entry.oid));
		ga_buf_add0(&in, paths->v[i]);
	}
	if (src >= 0) {
		cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (ga_copy_fd_to(src, at, "index", err))
			return -1;
	}
	g.in = in.ptr;
	g.in_len = in.len;
	return ga_git_ok(e->repo, &g, err);
}

/* Where the object directories of the repository are inside. */
static int object_paths(const struct ga_env *e, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	if (ga_repo_object_dirs(e->repo, &dirs, err))
		return -1;
	for (size_t i = 0; i < dirs.n; i++)
		ga_strv_take(ret, ga_spec_object_path(dirs.v[i]));
	return 0;
}

int ga_view_get_base(struct ga_env *e, const struct ga_session *s, struct ga_base *ret,
		     struct ga_error *err)
{
	cleanup_strv struct ga_strv inside = GA_STRV_INIT;
	const struct ga_base_opts o = { .config = &e->config, .object_paths = &inside,
					.trusted = s->id.trusted, .progress = e->progress };

	return object_paths(e, &inside, err) ||
	       ga_base_acquire(e->repo, e->state_dir, &s->id.base, &o, ret, err) ? -1 : 0;
}

int ga_view_make_gitdir(struct ga_env *e, const struct ga_session *s,
			const struct ga_view_base *b, const struct ga_base *base,
			const struct ga_refs *visible, struct ga_error *err)
{
	cleanup_free char *dir = ga_session_path(s, "git");
	cleanup_strv struct ga_strv inside = GA_STRV_INIT;
	struct ga_gitdir_spec spec = { .branch = s->id.branch,
				       .base = &s->id.base,
				       .config = &e->config,
				       .filters = &e->risk.filters };

	if (object_paths(e, &inside, err))
		return -1;
	spec.object_paths = &inside;
	spec.refs = visible;
	if (ga_gitdir_fill(e->repo, dir, base->git, &spec, err))
		return -1;
	if (s->id.live && live_index(e, s, err))
		return -1;
	return b->clear.n ? forget_stat(e, s, base, &b->clear, err) : 0;
}
