/* SPDX-License-Identifier: MIT
 *
 * Mount points of a session's sandbox: base tree, git directory and layers.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ga/repo/gitdir.h"
#include "ga/sandbox/sandbox.h"
#include "view-internal.h"

#define NAME "shared/seen"
#define BYTES_MAX ((size_t)1 << 20)

void ga_view_seen_release(struct ga_view_seen *seen)
{
	free(seen->v);
	*seen = (struct ga_view_seen){ 0 };
}

void ga_view_seen_set(struct ga_view_seen *seen, size_t i, const struct ga_shared *sh)
{
	while (seen->n <= i) {
		seen->v = ga_reallocarray(seen->v, seen->n + 1, sizeof(*seen->v));
		seen->v[seen->n++] = (struct ga_view_seen_id){ 0, 0 };
	}
	seen->v[i] = (struct ga_view_seen_id){ sh->dev, sh->ino };
}

bool ga_view_seen_has(const struct ga_view_seen *seen, size_t i, const struct stat *st)
{
	return i < seen->n && seen->v[i].dev == st->st_dev && seen->v[i].ino == st->st_ino;
}

/* The file has two numbers for each directory, a NUL after each. */
int ga_view_seen_read(const struct ga_session *s, struct ga_view_seen *ret, struct ga_error *err)
{
	cleanup_free char *path = ga_session_path(s, NAME);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *dev, *ino;
	size_t pos = 0;

	if (ga_read_file_at(AT_FDCWD, path, BYTES_MAX, &b, err))
		return -1;
	for (size_t i = 0; (dev = ga_buf_next0(&b, &pos)) && (ino = ga_buf_next0(&b, &pos)); i++) {
		struct ga_shared sh = { 0 };

		if (i >= s->view.shared.n || !ga_parse_u64(dev, UINT64_MAX, &sh.dev) ||
		    !ga_parse_u64(ino, UINT64_MAX, &sh.ino))
			return ga_fail(err, GA_EFATAL, "'%s' is damaged", path);
		ga_view_seen_set(ret, i, &sh);
	}
	return 0;
}

int ga_view_seen_write(const struct ga_view_seen *seen, const struct ga_session *s,
		       struct ga_error *err)
{
	cleanup_free char *path = ga_session_path(s, NAME), *beside = ga_strf("%s.new", path);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < seen->n; i++) {
		ga_buf_addf(&b, "%" PRIu64, seen->v[i].dev);
		ga_buf_addch(&b, '\0');
		ga_buf_addf(&b, "%" PRIu64, seen->v[i].ino);
		ga_buf_addch(&b, '\0');
	}
	/* no sync: it is useless after a power cut */
	(void)unlink(beside);
	if (ga_write_new(AT_FDCWD, beside, b.ptr, b.len, 0600, err))
		return -1;
	return rename(beside, path) ? ga_fail_path(err, errno, "write", path) : 0;
}

/* Clear the stat data of these files in the index, so that git compares them: the session has other
 * contents than the tree of the index. The session gets its own index for that. */
static int forget_stat(struct ga_env *e, const struct ga_session *s, const struct ga_base *base,
		       const struct ga_strv *paths, struct ga_error *err)
{
	static const char *const args[] = { "update-index", "-z", "--index-info", NULL };
	cleanup_free char *dir = ga_session_path(s, "git"), *index = ga_path_join(dir, "index");
	cleanup_free char *from = ga_path_join(base->git, "index");
	cleanup_close int src = open(from, O_RDONLY | O_CLOEXEC), at = -1;
	cleanup_buf struct ga_buf in = GA_BUF_INIT;
	struct ga_oid tree;
	struct ga_git g = GA_GIT(.args = args, .index_file = index);

	if (src < 0)
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
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ga_copy_fd_to(src, at, "index", err))
		return -1;
	g.in = in.ptr;
	g.in_len = in.len;
	return ga_git_ok(e->repo, &g, err);
}

/* Paths of the repository's object directories inside. */
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
	return b->clear.n ? forget_stat(e, s, base, &b->clear, err) : 0;
}

/* 1: it exists; 0: it does not; an error if that is uncertain. */
static int check_exists(const char *path, struct stat *ret, struct ga_error *err)
{
	int e;

	if (!stat(path, ret))
		return 1;
	e = errno;
	if (e == ENOENT || e == ENOTDIR)
		return 0;
	return ga_fail_errno(err, GA_ESTART, e, "cannot access '%s'", path);
}

int ga_view_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
			struct ga_error *err)
{
	cleanup_free char *what = ga_strf("shared%zu", i);
	cleanup_free char *mask = ga_strf("%s/shared/%zu/mask", s->dir, i);
	cleanup_free char *lower = ga_path_join(s->id.project, s->view.shared.v[i]);
	struct stat st, ignored;
	int there = check_exists(lower, &st, err),
	    masked = there > 0 ? check_exists(mask, &ignored, err) : 0;

	if (there < 0 || masked < 0)
		return -1;
	if (!there || !ga_session_shares(s, i))
		return 1;
	*ret = (struct ga_shared){ .rel = ga_strdup(s->view.shared.v[i]),
				   .lower = ga_steal(&lower),
				   .upper = ga_strf("%s/shared/%zu/upper", s->dir, i),
				   .removed = ga_session_removed(s, i),
				   .mask = masked ? ga_steal(&mask) : NULL,
				   .work = ga_session_fresh_dir(s, what, err),
				   .dev = st.st_dev,
				   .ino = st.st_ino };
	return ret->work ? 0 : -1;
}

static int add_shared(const struct ga_session *s, struct ga_spec *spec, struct ga_error *err)
{
	cleanup_(ga_view_seen_release) struct ga_view_seen seen = { 0 };

	if (!s->view.shared.n)
		return 0;
	spec->shared = ga_calloc(s->view.shared.n, sizeof(*spec->shared));
	for (size_t i = 0; i < s->view.shared.n; i++) {
		struct ga_shared *sh = &spec->shared[spec->n_shared];
		int rc = ga_view_make_shared(s, i, sh, err);

		if (rc > 0) /* no lower directory */
			continue;
		spec->n_shared++;
		if (rc)
			return -1;
		ga_view_seen_set(&seen, i, sh);
	}
	return ga_view_seen_write(&seen, s, err);
}

int ga_view_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *p,
		       struct ga_error *err)
{
	cleanup_free char *extras = ga_session_path(s, "extras"), *objects = ga_wip_objects(s);

	if (!access(objects, F_OK) && !ga_strv_has(&p->object_dirs, objects))
		ga_strv_take(&p->object_dirs, ga_steal(&objects));
	if (!access(extras, F_OK))
		ga_strv_take(&p->lowers, ga_steal(&extras));
	ga_strv_push(&p->lowers, base->tree);
	p->upper = ga_session_path(s, "upper");
	p->work = ga_session_fresh_dir(s, "project", err);
	p->git.upper = ga_session_path(s, "git");
	ga_strv_extend(&p->hidden_objects, &s->view.masked_objects);
	p->git.lower = ga_strdup(base->git);
	p->git.work = p->work ? ga_session_fresh_dir(s, "git", err) : NULL;
	if (!p->git.work)
		return -1;
	return add_shared(s, p, err);
}
