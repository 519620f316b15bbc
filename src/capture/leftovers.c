/* SPDX-License-Identifier: MIT */
#include "ga/capture/capture.h"
#include "ga/config/config.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"
#include "upper-internal.h"

struct left_job {
	const struct ga_session *s;
	const struct ga_leftovers *lines;
	struct ga_strv tracked;   /* paths in ignored directories that are in the result */
	const struct ga_limits *limits;
	uint64_t entries, path_bytes;
	struct ga_buf path;
	struct ga_leftover_files files;
};

/* The layer that has `path`, and the rest of the path within it. */
static char *layer_of(const struct ga_session *s, const char *path, const char **ret_rest)
{
	for (size_t i = 0; i < s->view.shared.n; i++) {
		const char *rest = ga_path_below(path, s->view.shared.v[i]);

		if (!rest || !ga_session_shares(s, i))
			continue;
		*ret_rest = *rest ? rest : ".";
		return ga_strf("%s/shared/%zu/upper", s->dir, i);
	}
	*ret_rest = path;
	return ga_path_join(s->dir, "upper");
}

static int open_in_layer(const struct ga_session *s, const char *path, int flags)
{
	const char *rest;
	cleanup_free char *layer = layer_of(s, path, &rest);
	cleanup_close int root = open(layer, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (root < 0)
		return -1;
	if (!ga_path_relative_ok(path)) {
		errno = EINVAL;
		return -1;
	}
	return ga_openat_beneath(root, rest, flags, 0);
}

static void add_found(struct left_job *j, enum ga_leftover_kind kind, const struct stat *st)
{
	uint64_t bytes = st && S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;

	if (ga_strv_find(&j->tracked, j->path.ptr) < 0)
		ga_leftover_files_add(&j->files, j->path.ptr, kind, st ? st->st_mode : 0, bytes);
}

static void found_file(struct left_job *j, const struct stat *st)
{
	bool content = S_ISREG(st->st_mode) || S_ISLNK(st->st_mode);

	if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
		return; /* a whiteout */
	add_found(j, content ? GA_LEFTOVER_IGNORED : GA_LEFTOVER_SPECIAL, st);
}

static void list_below(struct left_job *j, int fd, unsigned depth);

static void list_one(struct left_job *j, int fd, const char *name, unsigned depth)
{
	size_t len = j->path.len;
	cleanup_close int sub = -1;
	struct stat st;

	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return;
	ga_buf_addf(&j->path, "%s%s", len ? "/" : "", name);
	if (!S_ISDIR(st.st_mode)) {
		found_file(j, &st);
	} else {
		sub = openat(fd, name, WALK_OPEN_FLAGS | O_DIRECTORY);
		if (sub >= 0)
			list_below(j, sub, depth + 1);
		else
			add_found(j, GA_LEFTOVER_UNREADABLE, &st);
	}
	ga_buf_truncate(&j->path, len);
}

static void list_below(struct left_job *j, int fd, unsigned depth)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	size_t room = j->limits->entries > j->entries ? j->limits->entries - j->entries : 0;
	int rc = depth > j->limits->depth ? 1 : read_names(fd, room, &names);

	for (size_t i = 0; !rc && i < names.n; i++) {
		j->path_bytes += j->path.len + 1 + strlen(names.v[i]);
		rc = j->path_bytes > PATHS_MAX(j->limits);
	}
	if (rc) {
		add_found(j, rc > 0 ? GA_LEFTOVER_LIMIT : GA_LEFTOVER_UNREADABLE, NULL);
		return;
	}
	j->entries += names.n;
	for (size_t i = 0; i < names.n; i++)
		list_one(j, fd, names.v[i], depth);
}

static void list_path(struct left_job *j, const char *path)
{
	cleanup_close int fd = open_in_layer(j->s, path, WALK_OPEN_FLAGS | O_DIRECTORY);
	struct stat st;

	ga_buf_clear(&j->path);
	ga_buf_adds(&j->path, path);
	if (fd >= 0) {
		list_below(j, fd, 0);
		return;
	}
	/* no directory, or reached only through a link */
	fd = open_in_layer(j->s, path, O_PATH | O_NOFOLLOW);
	if (fd >= 0 && !fstat(fd, &st))
		found_file(j, &st);
}

static int do_left(void *arg, struct wire *out, struct ga_error *err)
{
	struct left_job *j = arg;

	(void)err;
	for (size_t i = 0; i < j->lines->n; i++) {
		const struct ga_leftover *line = &j->lines->v[i];

		if (line->kind == GA_LEFTOVER_IGNORED)
			list_path(j, line->path);
		else
			ga_leftover_files_add(&j->files, line->path, line->kind, 0, line->bytes);
	}
	ga_leftover_files_sort(&j->files);
	wire_files(out, &j->files);
	ga_leftover_files_release(&j->files);
	ga_buf_release(&j->path);
	return 0;
}

static void add_tracked_tree(struct ga_repo *r, struct left_job *j, const struct ga_oid *tree)
{
	cleanup_error struct ga_error gone = GA_ERROR_INIT;

	for (size_t i = 0; i < j->lines->n; i++) {
		const struct ga_leftover *line = &j->lines->v[i];
		cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
		struct ga_entry e;

		if (line->kind != GA_LEFTOVER_IGNORED || !ga_path_relative_ok(line->path))
			continue;
		if (ga_tree_entry(r, tree, line->path, &e, &gone))
			return;
		if (e.mode != GA_MODE_TREE)
			continue;
		if (ga_tree_list(r, &e.oid, BASE_PATHS_MAX, &all, &gone))
			return;
		for (size_t k = 0; k < all.n; k++)
			ga_strv_take(&j->tracked, ga_path_join(line->path, all.v[k].path));
	}
}

static void add_tracked(struct ga_repo *r, struct left_job *j, const struct ga_oid *commit)
{
	cleanup_error struct ga_error gone = GA_ERROR_INIT;
	struct ga_oid tree;

	/* a branch that was merged and deleted may be gone together with its objects */
	if (!ga_oid_is_zero(commit) && !ga_commit_tree(r, commit, &tree, &gone))
		add_tracked_tree(r, j, &tree);
}

/* An ignored directory may contain tracked files: these were captured. */
static void find_tracked(struct ga_repo *r, struct left_job *j)
{
	if (ga_oid_is_zero(&j->s->result.tip) && ga_oid_is_zero(&j->s->result.held))
		add_tracked(r, j, &j->s->id.base);
	add_tracked(r, j, &j->s->result.tip);
	add_tracked(r, j, &j->s->result.held);
	if (j->s->result.left_out.n)
		add_tracked_tree(r, j, &j->s->view.tree);
	ga_strv_sort_unique(&j->tracked);
}

int ga_list_leftovers(struct ga_repo *r, const struct ga_session *s, const struct ga_limits *limits,
		      const struct ga_leftovers *lines, struct ga_leftover_files *ret,
		      struct ga_error *err)
{
	struct left_job j = { .s = s, .lines = lines, .path = GA_BUF_INIT, .limits = limits };
	struct child_job child = { do_left, &j, limits->read_time, NULL, NULL, NULL };
	cleanup_buf struct ga_buf answer = GA_BUF_INIT;
	struct wire w;
	int rc;

	find_tracked(r, &j);
	rc = run_in_child(&child, &answer, &w, err);
	ga_strv_release(&j.tracked);
	if (rc == GA_UPPER_LATE)
		return ga_fail(err, GA_EFATAL, "listing leftovers took longer than %s "
			       "(%llu seconds)", ga_limit_key(GA_LIMIT_READ_TIME),
			       (unsigned long long)limits->read_time);
	if (rc)
		return -1;
	wire_files(&w, ret);
	if (!w.bad)
		return 0;
	ga_leftover_files_release(ret);
	return ga_fail(err, GA_EFATAL, "incomplete reply from the reader of the layers");
}
