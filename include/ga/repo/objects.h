/* SPDX-License-Identifier: MIT
 *
 * Reading and writing git objects by value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/repo.h"

/* Append a blob's bytes to `out`. Returns 1, appending nothing, if it is longer than `max`. */
int ga_blob_read(struct ga_repo *r, const struct ga_oid *oid, size_t max, struct ga_buf *out,
		 struct ga_error *err);

struct ga_commit {
	struct ga_oid tree;
	struct ga_oid *parents;
	size_t n_parents;
	char *author;    /* raw header value: "Name <mail> seconds zone" */
	char *committer; /* the same */
	char *extra;     /* other headers (encoding, gpgsig ...), raw, each with its newline; "" */
	char *message;   /* raw bytes, cut at the first NUL */
};
void ga_commit_release(struct ga_commit *c);
#define cleanup_commit cleanup_(ga_commit_release)
/* Read a commit. */
int ga_commit_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_commit *ret,
		   struct ga_error *err);
/* Write a commit with exactly these headers and message as a loose object, synced. The caller drops
 * a signature from `extra` when the content changes. */
int ga_commit_write(struct ga_repo *r, const struct ga_commit *c, struct ga_oid *ret,
		    struct ga_error *err);
/* Returns 1 if the repository has that commit, 0 if it is missing or no commit; a commit that
 * cannot be read is an error. Nothing is fetched. */
int ga_commit_exists(struct ga_repo *r, const struct ga_oid *commit, struct ga_error *err);
/* Is there an object of any type with that id? */
bool ga_object_exists(struct ga_repo *r, const struct ga_oid *oid);
/* The tree of a commit. */
int ga_commit_tree(struct ga_repo *r, const struct ga_oid *commit, struct ga_oid *ret,
		   struct ga_error *err);

/* The entry of `path` in `tree`; mode GA_MODE_NONE if there is none. */
int ga_tree_entry(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		  struct ga_entry *ret, struct ga_error *err);
/* The same of a file: a directory counts as none. */
int ga_tree_file(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		 struct ga_entry *ret, struct ga_error *err);
/* The first entry above `path` that is no directory, and how much of `path` names
 * it; mode GA_MODE_NONE if there is none. */
int ga_tree_above(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		  struct ga_entry *ret, size_t *ret_n, struct ga_error *err);

/* List the paths that differ between two trees, sorted. A commit stands for its tree, NULL for the
 * empty tree. Subtrees with equal ids are not read. A file that became a directory is one deletion
 * and the additions below it. */
int ga_tree_diff(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		 struct ga_changes *ret, struct ga_error *err);

/* The size of the difference between two trees: paths, including directories, without listing
 * them. */
struct ga_tree_size {
	uint64_t paths, bytes; /* of all paths together */
	uint64_t longest;      /* of a single path, in bytes */
	unsigned depth;
};
/* Returns 1 as soon as `limit` is exceeded in paths, bytes or longest, or directories are nested
 * deeper than can be read (GA_TREE_DEPTH_MAX, whatever `limit->depth`); `*ret` is what was counted
 * by then. A few objects can describe any number of paths. */
int ga_tree_measure(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		    const struct ga_tree_size *limit, struct ga_tree_size *ret,
		    struct ga_error *err);

/* List all blobs, symlinks and gitlinks of a tree, as additions; an error if there are more than
 * `max`. */
int ga_tree_list(struct ga_repo *r, const struct ga_oid *tree, size_t max, struct ga_changes *ret,
		 struct ga_error *err);

/* ---- writing ----------------------------------------------------------- */

/* A batch: all objects of one result, synced once. From ga_batch_begin() to ga_batch_commit(), what
 * is written through the handle stays in memory, where the handle finds it; a pack that is too
 * large for that, and whatever a git command run in between might look for, goes to the disk as a
 * pack. */
int ga_batch_begin(struct ga_repo *r, struct ga_error *err);
/* Write objects to memory only, without a limit and as long as the handle lives, to compute trees
 * that must leave no objects behind. Git commands do not see them. */
int ga_repo_write_to_memory(struct ga_repo *r, struct ga_error *err);
/* Discard what is in the batch. */
void ga_batch_abandon(struct ga_repo *r);
/* Write what is in it so far to the disk, and keep the batch open. */
int ga_batch_flush(const struct ga_repo *r, struct ga_error *err);
/* Write the batch to the disk, synced: as one pack with a ".keep" file, which protects it from a
 * `git gc --prune=now`, and whose absolute path is added to `keeps`, to be unlinked once refs
 * exist. Does nothing without a batch. */
int ga_batch_commit(struct ga_repo *r, struct ga_strv *keeps, struct ga_error *err);
/* Export the content of the batch, and import it into the batch that another process has for the
 * same repository. */
void ga_batch_export(const struct ga_repo *r, struct ga_buf *out);
int ga_batch_import(struct ga_repo *r, const void *data, size_t n, struct ga_error *err);

/* One pack under construction: many objects, one file, one sync. Objects that are added cannot be
 * read through the repository before ga_pack_commit(). An object that the repository already has is
 * not added again; its id is returned all the same. */
struct ga_pack;
/* Begin a pack; ga_pack_commit() or ga_pack_free() ends it. */
int ga_pack_begin(struct ga_repo *r, struct ga_pack **ret, struct ga_error *err);
int ga_pack_add_blob(struct ga_pack *p, const void *data, size_t n, struct ga_oid *ret,
		     struct ga_error *err);
/* A blob from a descriptor, exactly `size` bytes, in bounded memory; fails if the file is shorter,
 * or, unless it `may_grow`, longer. Files above 1 MiB are streamed. */
int ga_pack_add_blob_fd(struct ga_pack *p, int fd, uint64_t size, bool may_grow,
			struct ga_oid *ret, struct ga_error *err);
/* After one of these two or ga_blob_id_of() failed: did libgit2 detect a SHA-1 collision attack in
 * the content? Nothing was added then. Returns true once per failure. */
bool ga_collision_found(void);
/* Add a commit, by the rules of ga_commit_write(). */
int ga_pack_add_commit(struct ga_pack *p, const struct ga_commit *c, struct ga_oid *ret,
		       struct ga_error *err);
/* Index it into the repository's object directory, synced, with a ".keep" file; `*ret_keep` is its
 * absolute path, to be unlinked once refs exist. A few small objects go into the open batch; then,
 * and if the pack was empty, `*ret_keep` is NULL. Frees `p` on success. */
int ga_pack_commit(struct ga_pack *p, char **ret_keep, struct ga_error *err);
void ga_pack_free(struct ga_pack *p);

/* Apply changes (their `new` side; GA_MODE_NONE deletes) to a tree and return the resulting tree's
 * id. `base` may be NULL: the empty tree. `changes` is sorted, each path once. A new path replaces
 * a file that is its ancestor and a directory of its name; deleting a path deletes whatever is
 * there, a directory included, before the changes beneath it are applied; directories left empty
 * vanish. Errors: a path that would be both file and directory, one nested more than 1024 deep, one
 * with a component that git refuses (".git" in any folding, ".."). Only trees on changed paths are
 * read or written; into `p`, or as loose synced objects if `p` is NULL. `base` must be readable,
 * not merely added to `p`. */
int ga_tree_apply(struct ga_repo *r, struct ga_pack *p, const struct ga_oid *base,
		  const struct ga_changes *changes, struct ga_oid *ret, struct ga_error *err);

/* The id that a regular file would have as a blob, without conversion; nothing is written. */
int ga_blob_id(int fd, struct ga_oid *ret, struct ga_error *err);
/* The same for bytes in memory. */
int ga_blob_id_of(const void *data, size_t n, struct ga_oid *ret, struct ga_error *err);
/* Write a single blob, loose and synced. */
int ga_blob_write(struct ga_repo *r, const void *data, size_t n, struct ga_oid *ret,
		  struct ga_error *err);

/* ---- history ----------------------------------------------------------- */

/* One directory of a git tree as a sorted array, for walks that descend a tree alongside something
 * else and look up every name once. */

struct ga_tree_level {
	struct ga_level_entry {
		const char *name;      /* points into `names` */
		struct ga_entry entry; /* obsolete modes (100664) are normalised */
	} *v;                          /* sorted by name in byte order (git orders directories
					* differently) */
	size_t n;
	char *names;
};
#define GA_TREE_LEVEL_INIT { NULL, 0, NULL }

void ga_tree_level_release(struct ga_tree_level *l);
#define cleanup_tree_level __attribute__((cleanup(ga_tree_level_release)))

/* Read the tree object `oid`; NULL is the empty tree. */
int ga_tree_level_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_level *ret,
		       struct ga_error *err);

/* The entry of `name`; GA_MODE_NONE if there is none. */
struct ga_entry ga_tree_level_find(const struct ga_tree_level *l, const char *name);

/* Remove the quarantines of dead processes; a running one holds a lock on its own. */
void ga_import_sweep(struct ga_repo *r);

/* Remove all our .keep files. The caller makes sure that none is still needed. */
void ga_keeps_sweep(struct ga_repo *r);
