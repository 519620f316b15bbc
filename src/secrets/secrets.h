/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share.
 */
#ifndef SECRETS_H
#define SECRETS_H

#include <sys/stat.h>

#include "ga/exposure.h"
#include "ga/oidmap.h"
#include "ga/strmap.h"

/* ---- what was seen before (cache.c) -------------------------------------------- */

/* A file, by its times, size and inode, and a directory by the same, are what they were. What was
 * changed only just now is not remembered: it could change again within the same tick. */
struct secrets_cache {
	char *path;      /* NULL: nothing is kept */
	char *workdir;
	bool dry;        /* nothing is written */
	struct ga_buf old, new;
	struct ga_strmap files, dirs; /* offset in `old` of what follows the path */
	size_t tree;     /* the same of the tree's id; 0: none */
	int64_t now;     /* seconds */
};
void secrets_cache_open(struct secrets_cache *c, const struct ga_exposure_opts *o);
/* Write it if it is not the same; failing is no loss. */
void secrets_cache_close(struct secrets_cache *c);

bool secrets_cache_file(const struct secrets_cache *c, const char *path, const struct stat *st,
			struct ga_secret *ret);
void secrets_cache_add_file(struct secrets_cache *c, const char *path, const struct stat *st,
			    const struct ga_secret *s);
/* The entries of a directory that matter: first names of files, then of directories. */
bool secrets_cache_dir(const struct secrets_cache *c, const char *path, const struct stat *st,
		       struct ga_strv *files, struct ga_strv *dirs);
void secrets_cache_add_dir(struct secrets_cache *c, const char *path, const struct stat *st,
			   const struct ga_strv *files, const struct ga_strv *dirs);
/* The tree that was looked at before, what was in it, and its links of a secret's name. */
bool secrets_cache_tree(const struct secrets_cache *c, struct ga_oid *ret_tree,
			struct ga_exposure *ret, struct ga_strv *ret_links);
void secrets_cache_add_tree(struct secrets_cache *c, const struct ga_oid *tree,
			    const struct ga_exposure *found, const struct ga_strv *links);

/* ---- looking -------------------------------------------------------------------- */

#define FINDER_ENTRIES_MAX 5000000
#define FINDER_READ_MAX ((uint64_t)512 << 20)

struct finder {
	const struct ga_exposure_opts *o;
	struct ga_secret_names *names; /* by finder_named() */
	struct secrets_cache cache;
	struct ga_exposure *ret;
	struct ga_buf content;
	int work;                      /* the working tree */
	size_t entries;                /* looked at in directories */
	uint64_t left;                 /* bytes that may be read of objects and of what links
					* lead to: a few can stand for any number of files */
	int64_t until;                 /* when to stop following links */
	struct ga_strv links;          /* of a secret's name, in the working tree ... */
	struct ga_strv tree_links;     /* ... and in the tree */
	struct ga_strv unwatched;      /* tracked, but git does not look at them */
	struct finder_twin {
		dev_t dev;
		ino_t ino;
		struct ga_secret secret;
	} *twins;                      /* live secrets with several names */
	size_t n_twins, cap_twins;
	struct finder_blob {
		uint32_t bits;
		unsigned token;
	} *blobs;                      /* that were looked at ... */
	size_t n_blobs, cap_blobs;
	struct ga_oidmap blob_at[2];   /* ... not as code, and as such */
	struct ga_strmap at;           /* places of paths in `ret`, up to `n_at` */
	size_t n_at;
};
void finder_release(struct finder *f);

/* One version of a file, looked at. */
struct finder_version {
	struct ga_secret secret;
	struct ga_secret_marks marks;
};
/* Does a rule cover the name? */
bool finder_named(struct finder *f, const char *path, struct ga_secret_name *ret);
/* Does one cover the name of a link, or paths that begin with it? */
bool finder_named_link(struct finder *f, const char *path);
void secrets_add(struct ga_exposure *x, const char *path, const struct ga_secret *s,
		 enum ga_exposed_as as);
/* What is at `path` is a secret whatever its name says: add it, or say so where it is found
 * already. Returns its place in `f->ret`. */
size_t finder_raise(struct finder *f, const char *path, const struct ga_secret *s,
		    enum ga_exposed_as as);
/* Judge the regular file `path` (`st`) of the working tree as if it were called `as`, which
 * `name` is of. */
void finder_judge(struct finder *f, const char *path, const struct stat *st, const char *as,
		  const struct ga_secret_name *name, struct ga_secret *ret,
		  struct ga_secret_marks *ret_marks);

/* walk.c: what lies in an ignored directory. */
void finder_walk(struct finder *f, const char *dir);
/* find.c: one file of the working tree. */
void finder_file(struct finder *f, const char *path, enum ga_exposed_as as);

/* Is what lies at `path` of the working tree the commit's: no worse than `oid` is there, and
 * nothing that would be new in it, or the same but for how lines end? */
bool finder_is_committed(struct finder *f, const char *path, const struct ga_oid *oid,
			 const struct finder_version *here, const struct finder_version *there);

/* The same of one whose committed form is encrypted. */
void finder_filtered(struct finder *f, const char *path);

/* links.c: take note of a link of a secret's name, in `links`; look at what they lead to. */
void finder_note_link(struct finder *f, struct ga_strv *links, const char *path);
int finder_links(struct finder *f, struct ga_error *err);
/* The path in the project of what a link leads to; NULL: there is none. With `tree`, what is
 * committed counts more than what lies there. */
char *finder_way(struct finder *f, const char *link, bool tree);
/* Look at the file `to`, which has the name `link` as well. `places`: what of the working tree
 * sessions are shown. */
int finder_target(struct finder *f, const char *link, const char *to,
		  const struct ga_strmap *places, struct ga_error *err);
/* beneath.c: the same of all files in `dir`, if it is one. */
int finder_beneath(struct finder *f, const char *link, const char *dir, bool tree,
		   const struct ga_strmap *places, struct ga_error *err);

/* twins.c: take note of a file that may have several names; find the others. */
void finder_note_twin(struct finder *f, const struct stat *st, const struct ga_secret *s);
void finder_twins(struct finder *f, const struct ga_scan *scan);

/* tree.c: committed files. */
int finder_tree(struct finder *f, const struct ga_oid *tree, struct ga_error *err);
/* Judge a blob at `path`; `ret_marks` may be NULL. One that is asked for again without them is
 * not read again. Beyond `f->left` the worst is assumed, and `f->ret` is incomplete. */
void finder_blob(struct finder *f, const char *path, const struct ga_oid *oid,
		 const struct ga_secret_name *name, struct ga_secret *ret,
		 struct ga_secret_marks *ret_marks);

#endif
