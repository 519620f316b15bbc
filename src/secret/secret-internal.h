/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder: a cache of verdicts, and the search for secrets.
 */
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include "ga/base/oid.h"
#include "ga/base/strmap.h"
#include "ga/secret/secret.h"

/* A hash of a text, added to another one (FNV-1a), which begins with SECRET_HASH. */
#define SECRET_HASH 14695981039346656037u
static inline uint64_t secret_hash(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

/* ---- values (lines.c) ----------------------------------------------------- */

enum { SECRET_MIN = 4 }; /* bytes of a password */

/* Set a mark, and note the value that it is for by a fingerprint, which ignores carriage returns.
 */
void secret_add_value(struct ga_secret_marks *m, uint32_t bit, const char *value, size_t n);
/* Does it look random: long, and of many different characters? */
bool secret_random(const char *p, size_t n);
bool secret_is_word(char c); /* [A-Za-z0-9_] */
/* Is what follows the last dot one of the words of `list`? */
bool secret_has_ending(const char *path, const char *list);

/* lines.c: look for names with values, and URLs with passwords. `code`: in a source file. */
void secret_scan_lines(const char *p, size_t n, bool code, struct ga_secret_marks *m);
/* scan.c: "a GitHub token" */
const char *secret_token_name(unsigned token);
enum { SECRET_TOKENS = 255 }; /* more than there are names: cache.c keeps a byte */

/* ---- the cache of verdicts (cache.c) -------------------------------------------- */

/* A file counts as unchanged while its times, size, mode and inode are the same. One that changed
 * just now is not recorded: it could change again within the same tick of the clock. */
struct secret_cache {
	char *path;      /* NULL: nothing is read or kept */
	char *workdir;
	bool dry;        /* do not write it back */
	struct ga_buf old, new;       /* what was read; what will be written */
	struct secret_cached {
		uint64_t print; /* of a path and its state */
		struct ga_secret secret;
	} *files;        /* sorted */
	size_t n, cap;
	size_t tree;     /* offset in `old` of the tree's id; 0: none */
	int64_t now;     /* seconds */
};
void secret_cache_open(struct secret_cache *c, const struct ga_exposure_opts *o);
/* Write the new records if they differ from the old; errors are ignored: it is only a cache. */
void secret_cache_close(struct secret_cache *c);

bool secret_cache_file(const struct secret_cache *c, const char *path, const struct stat *st,
			struct ga_secret *ret);
void secret_cache_add_file(struct secret_cache *c, const char *path, const struct stat *st,
			    const struct ga_secret *s);
/* The tree searched last, the secrets in it, and its links with the name of a secret. */
bool secret_cache_tree(const struct secret_cache *c, struct ga_oid *ret_tree,
			struct ga_exposure *ret, struct ga_strv *ret_links);
void secret_cache_add_tree(struct secret_cache *c, const struct ga_oid *tree,
			    const struct ga_exposure *found, const struct ga_strv *links);

/* ---- searching ------------------------------------------------------------------ */

#define FINDER_ENTRIES_MAX 5000000
#define FINDER_READ_MAX ((uint64_t)512 << 20)

struct finder {
	const struct ga_exposure_opts *o;
	struct ga_secret_names *names; /* by finder_names() */
	struct secret_cache cache;
	struct ga_exposure *ret;
	struct ga_buf content;
	int work;                      /* the working tree */
	char *gitdir;                  /* ga_repo_gitdir_inside(): no session sees it */
	size_t entries;                /* of directories, visited so far */
	uint64_t left;                 /* bytes that may still be read of objects and of link
					* targets: a few of them can have any number of paths */
	int64_t until;                 /* when to stop following links */
	struct ga_strv links;          /* with a secret's name, in the working tree ... */
	struct ga_strv tree_links;     /* ... and in the commit */
	struct finder_linked {
		dev_t dev;
		ino_t ino;
		char *path;              /* NULL: noted for the secret */
		enum ga_exposed_as as;
		struct ga_secret secret; /* tier NONE: noted for the path */
	} *linked; /* files with several hard links, and live secrets among them */
	size_t n_linked, cap_linked;
	struct finder_blob {
		uint32_t bits;
		unsigned token;
	} *blobs;                      /* what was found in blobs ... */
	size_t n_blobs, cap_blobs;
	struct ga_oidmap blob_at[2];   /* ... by id: read as [0] other files, [1] source code */
	struct ga_strmap at;           /* indices in `ret` by path, of the first `n_at` */
	size_t n_at;
};
void finder_release(struct finder *f);

/* What was found in one version of a file. */
struct finder_version {
	struct ga_secret secret;
	struct ga_secret_marks marks;
};
struct ga_secret_names *finder_names(struct finder *f);
void secret_add(struct ga_exposure *x, const char *path, const struct ga_secret *s,
		 enum ga_exposed_as as);
/* `path` is a secret for a reason besides its own name: add it, or raise the entry that it has
 * already to this tier. Returns the entry's index in `f->ret`. */
size_t finder_raise(struct finder *f, const char *path, const struct ga_secret *s,
		    enum ga_exposed_as as);
/* Judge the regular file `path` (`st`) of the working tree as if it were called `as`; `name` is
 * ga_secret_named() of `as`. */
void finder_judge(struct finder *f, const char *path, const struct stat *st, const char *as,
		  const struct ga_secret_name *name, struct ga_secret *ret,
		  struct ga_secret_marks *ret_marks);

/* A walk through directories of the working tree, by descriptor and through no link. `entry` is
 * called for what is no directory, and may end it with -1. */
struct finder_walk {
	struct finder *f;
	size_t left; /* entries that may still be visited */
	bool all;    /* also into what package managers fill */
	int (*entry)(struct finder_walk *w, const char *path, const struct stat *st);
};
int finder_walk(struct finder_walk *w, const char *dir);
/* Count one more entry; false, and the search is incomplete, if there are too many, or it is too
 * late to follow links. */
bool finder_has_room(struct finder_walk *w);
/* Note a link with a secret's name in `links`. */
void finder_note_link(struct finder *f, struct ga_strv *links, const char *path);
/* lstat(2) without following symlinks in parent directories; false on failure. */
bool finder_stat(const struct finder *f, const char *path, struct stat *ret);
/* Judge one file of the working tree, with its lstat(2) result `st`. */
void finder_file(struct finder *f, const char *path, enum ga_exposed_as as);
void finder_entry(struct finder *f, const char *path, const struct stat *st, enum ga_exposed_as as);

/* Does the file at `path` of the working tree hold no secret beyond those of its committed version
 * `oid`: its tier is no worse and every secret in it is there too, or they differ in line ends
 * only? */
bool finder_is_committed(struct finder *f, const char *path, const struct ga_oid *oid,
			 const struct finder_version *here, const struct finder_version *there);

/* Judge a file whose committed version is encrypted. */
void finder_filtered(struct finder *f, const char *path);

/* Other hard links of live secrets are secrets too, whatever their names. Note a file that has
 * several: `path` as what it is, or, without it, the live secret `s` in it. */
void finder_note_linked(struct finder *f, const struct stat *st, const char *path,
			enum ga_exposed_as as, const struct ga_secret *s);
/* Find the others of these secrets, once all are known. */
void finder_find_hardlinks(struct finder *f);

/* tree.c: search committed files. */
int finder_tree(struct finder *f, const struct ga_oid *tree, struct ga_error *err);
/* Judge a blob at `path`. Without `ret_marks` (NULL) a blob that was read before is not read again.
 * Once `f->left` is used up the worst is assumed, and `f->ret` is incomplete. */
void finder_blob(struct finder *f, const char *path, const struct ga_oid *oid,
		 const struct ga_secret_name *name, struct ga_secret *ret,
		 struct ga_secret_marks *ret_marks);
