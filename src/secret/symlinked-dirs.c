/* SPDX-License-Identifier: MIT
 *
 * A link to a directory gives every file below that directory a second path: if ".ssh" leads to
 * "keys", then "keys/work" can be opened as ".ssh/work" too, and is judged by that name. The link
 * itself is not a secret, even if its name is a secret file's: a directory cannot be read as a
 * file.
 */
#include "finder.h"

#include <fcntl.h>
#include <string.h>

#include "ga/base/clock.h"
#include "ga/base/path.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define DEPTH_MAX 100
#define BENEATH_MAX 100000 /* entries looked at below one link */

struct beneath {
	struct finder *f;
	const char *link, *dir; /* the link, and the directory that it leads to */
	bool tree;              /* as of finder_way() */
	const struct ga_strmap *places;
	struct ga_buf rest;     /* the path below `link`, and below `dir` */
	size_t entries;
	struct ga_error *err;
};

static bool has_room(struct beneath *b)
{
	bool room = ++b->entries <= BENEATH_MAX && ++b->f->entries <= FINDER_ENTRIES_MAX &&
		    ga_now_ms() < b->f->until;

	if (!room)
		b->f->ret->incomplete = true;
	return room;
}

/* Look at the file or link at `b->rest`. */
static int look_at(struct beneath *b, bool is_link)
{
	cleanup_free char *as = ga_path_join(b->link, b->rest.ptr), *to = NULL;
	struct ga_secret_name name;

	if (!ga_secret_named(finder_names(b->f), as, &name))
		return 0;
	to = is_link ? finder_way(b->f, as, b->tree) : ga_path_join(b->dir, b->rest.ptr);
	return to ? finder_target(b->f, as, to, b->places, b->err) : 0;
}

/* Look at what the commit has there. */
static int look_through_tree(struct beneath *b)
{
	const struct ga_exposure_opts *o = b->f->o;
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_entry e;

	if (!o->tree)
		return 0;
	if (ga_tree_entry(o->repo, o->tree, b->dir, &e, b->err))
		return -1;
	if (e.mode != GA_MODE_TREE)
		return 0;
	if (ga_tree_list(o->repo, &e.oid, BENEATH_MAX, &all, b->err)) {
		ga_error_release(b->err);
		b->f->ret->incomplete = true;
		return 0;
	}
	for (size_t i = 0; i < all.n && has_room(b); i++) {
		if (all.v[i].new.mode == GA_MODE_GITLINK)
			continue;
		ga_buf_clear(&b->rest);
		ga_buf_adds(&b->rest, all.v[i].path);
		if (look_at(b, all.v[i].new.mode == GA_MODE_LINK))
			return -1;
	}
	ga_buf_clear(&b->rest);
	return 0;
}

static int look_through(struct beneath *b, unsigned depth);

static int look_at_entry(struct beneath *b, int dir, const char *name, unsigned depth)
{
	size_t before = b->rest.len;
	struct stat st;
	int rc = 0;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return 0;
	ga_buf_addf(&b->rest, "%s%s", before ? "/" : "", name);
	if (S_ISDIR(st.st_mode) && strcmp(name, ".git") != 0)
		rc = look_through(b, depth + 1);
	else if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
		rc = look_at(b, S_ISLNK(st.st_mode));
	ga_buf_truncate(&b->rest, before);
	return rc;
}

/* Look at what the working tree has there. */
static int look_through(struct beneath *b, unsigned depth)
{
	cleanup_free char *path = ga_path_join(b->dir, b->rest.ptr);
	cleanup_dir DIR *d = finder_opendir(b->f, path, O_NOFOLLOW);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return 0;
	if (depth > DEPTH_MAX)
		b->f->ret->incomplete = true;
	while (!rc && depth <= DEPTH_MAX && (e = ga_dir_next(d))) {
		if (!has_room(b))
			break;
		rc = look_at_entry(b, dirfd(d), e->d_name, depth);
	}
	return rc;
}

int finder_beneath(struct finder *f, const char *link, const char *dir, bool tree,
		   const struct ga_strmap *places, struct ga_error *err)
{
	struct beneath b = { .f = f, .link = link, .dir = dir, .tree = tree, .places = places,
			     .rest = GA_BUF_INIT, .err = err };
	int rc = look_through_tree(&b) || look_through(&b, 0) ? -1 : 0;

	ga_buf_release(&b.rest);
	return rc;
}
