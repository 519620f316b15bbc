/* SPDX-License-Identifier: MIT
 *
 * A repository, and an upper layer over its checkout made by hand.
 */
#pragma once

#include "ga/config/config.h"
#include "repo-support.h"

#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "ga/base/path.h"
#include "ga/capture/upper.h"
#include "ga/repo/objects.h"

/* ---- a repository and a layer over it */

/* A base for many. */
#define BASE "echo a >a; mkdir -p d/e; echo x >d/x; echo y >d/e/y; ln -s a l; echo s >s; chmod +x s"

struct layer {
	char *dir;   /* in the scratch directory */
	char *upper; /* absolute */
	struct ga_repo *repo;
	struct ga_oid base;
	struct ga_upper_opts o;
	struct ga_limits limits; /* used unless o.limits is set */
	struct ga_upper_result res;
	int rc;
};

static inline struct ga_oid oid_of(const char *dir, const char *rev)
{
	cleanup_free char *hex = sh(dir, "git rev-parse %s", rev);
	struct ga_oid oid;

	assert_true(ga_oid_parse(hex, strlen(hex), &oid));
	return oid;
}

/* `base` is a script that makes the base's files in an empty repository. */
static inline struct layer make_layer(const char *dir, const char *base)
{
	struct layer l = { .dir = ga_strdup(dir) };
	cleanup_free char *root = in_scratch(dir), *repo = ga_path_join(root, "r");

	SH(dir, "git init -q r && cd r\n%s\ngit add -Af . && git commit -qm base --allow-empty && mkdir ../upper",
	   base);
	l.upper = ga_path_join(root, "upper");
	OK(ga_repo_open(repo, &l.repo, &err));
	repo = (free(repo), ga_strf("%s/r", dir));
	l.base = oid_of(repo, "HEAD^{tree}");
	l.o = (struct ga_upper_opts){ .upper = l.upper, .filemode = true };
	ga_limits_default(&l.limits);
	return l;
}

static inline void release(struct layer *l)
{
	ga_upper_result_release(&l->res);
	ga_repo_free(l->repo);
	free(l->dir);
	free(l->upper);
}
#define LAYER(name, ...) cleanup_(release) struct layer name = make_layer(__VA_ARGS__)

static inline int in_upper(const struct layer *l)
{
	int fd = open(l->upper, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline void put_as(const struct layer *l, const char *path, const char *text, mode_t mode)
{
	cleanup_close int fd = -1, at = in_upper(l);
	cleanup_free char *parent = ga_path_parent(path), *dir = ga_path_join(l->upper, parent);

	OK(ga_mkdir_p(dir, 0755, &err));
	fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	EQUAL(ga_write_full(fd, text, strlen(text)), 0);
	EQUAL(fchmod(fd, mode), 0);
}

static inline void put(const struct layer *l, const char *path, const char *text)
{
	put_as(l, path, text, 0644);
}

static inline void dir(const struct layer *l, const char *path)
{
	cleanup_free char *full = ga_path_join(l->upper, path);

	OK(ga_mkdir_p(full, 0755, &err));
}

static inline void mark(const struct layer *l, const char *path, const char *name, const char *value)
{
	cleanup_free char *full = ga_path_join(l->upper, path);

	if (setxattr(full, name, value, strlen(value), 0))
		fail_msg("setxattr %s on %s: %s", name, path, strerror(errno));
}

static inline void opaque(const struct layer *l, const char *path)
{
	dir(l, path);
	mark(l, path, "user.overlay.opaque", "y");
}

static inline void white(const struct layer *l, const char *path)
{
	cleanup_close int at = in_upper(l);
	cleanup_free char *parent = ga_path_parent(path);

	dir(l, parent);
	EQUAL(mknodat(at, path, S_IFCHR, makedev(0, 0)), 0);
}

static inline void link_to(const struct layer *l, const char *path, const char *target)
{
	cleanup_close int at = in_upper(l);

	EQUAL(symlinkat(target, at, path), 0);
}

/* Capture, then what differs from the base as "A path", "D path", "M path" ... */
static inline char *captured(struct layer *l)
{
	ERR(err);
	cleanup_free char *repo = ga_strf("%s/r", l->dir);

	ga_upper_result_release(&l->res);
	l->o.base_tree = &l->base; /* the structure may have been copied since */
	l->o.limits = &l->limits;
	l->rc = ga_upper_capture(l->repo, &l->o, &l->res, &err);
	if (l->rc < 0)
		fail_msg("%s", err.msg);
	if (l->rc)
		return ga_strdup("convert");
	for (size_t i = 1; i < l->res.changes.n; i++)
		assert_true(strcmp(l->res.changes.v[i - 1].path, l->res.changes.v[i].path) < 0);
	return sh(repo, "git diff-tree -r --no-renames --name-status %s %s | tr '\\t\\n' ' ;'", GA_HEX(&l->base),
		  GA_HEX(&l->res.tree));
}

#define assert_captured(l, want) \
	do { \
		cleanup_free char *got_ = captured(l); \
		STREQ(got_, want); \
	} while (0)

/* Leftovers, as "kind path count bytes;". */
static inline void check_left(const struct layer *l, const char *want, const char *file, int line)
{
	BUF(b);

	for (size_t i = 0; i < l->res.left.n; i++)
		ga_buf_addf(&b, "%s %s %llu;", ga_leftover_kind_name(l->res.left.v[i].kind), l->res.left.v[i].path,
			    (unsigned long long)l->res.left.v[i].count);
	_assert_string_equal(b.ptr, want, file, line);
}
#define assert_left(l, want) check_left(l, want, __FILE__, __LINE__)

static inline void content(const struct layer *l, const char *path, const char *want)
{
	cleanup_free char *repo = ga_strf("%s/r", l->dir);
	cleanup_free char *got = sh(repo, "git cat-file -p '%s:%s'", GA_HEX(&l->res.tree), path);

	STREQ(got, want);
}

static inline uint32_t mode(const struct layer *l, const char *path)
{
	struct ga_entry e;

	OK(ga_tree_entry(l->repo, &l->res.tree, path, &e, &err));
	return e.mode;
}
