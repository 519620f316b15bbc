/* SPDX-License-Identifier: MIT
 *
 * Reading and writing git objects by value.
 */
#ifndef GA_OBJECTS_H
#define GA_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/oid.h"
#include "ga/oidmap.h"
#include "ga/repo.h"

/* Append a blob's bytes to `out`. Returns 1, appending nothing, if it is
 * longer than `max`. */
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
int ga_commit_read(struct ga_repo *r, const struct ga_oid *oid, struct ga_commit *ret,
		   struct ga_error *err);
/* Write exactly these headers and message (a signature in `extra` is written as
 * it is: drop it yourself when the content changes). Loose object, synced. */
int ga_commit_write(struct ga_repo *r, const struct ga_commit *c, struct ga_oid *ret,
		    struct ga_error *err);
/* Is that commit in the repository? 1 yes, 0 it is missing, or no commit; what is there and cannot
 * be read is an error. Nothing is fetched. */
int ga_commit_here(struct ga_repo *r, const struct ga_oid *commit, struct ga_error *err);
/* Is any object of that id there? */
bool ga_object_here(struct ga_repo *r, const struct ga_oid *oid);
/* The tree of a commit. */
int ga_commit_tree(struct ga_repo *r, const struct ga_oid *commit, struct ga_oid *ret,
		   struct ga_error *err);

/* The entry of `path` in `tree`; mode GA_MODE_NONE if there is none. */
int ga_tree_entry(struct ga_repo *r, const struct ga_oid *tree, const char *path,
		  struct ga_entry *ret, struct ga_error *err);

/* The paths that differ between two trees, sorted. `old` or `new` may be NULL:
 * the empty tree. Subtrees with equal ids are not read. A file that became a directory
 * is one deletion and the additions below it. */
int ga_tree_diff(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		 struct ga_changes *ret, struct ga_error *err);

/* How much two trees differ: paths, directories among them, without making a list. */
struct ga_tree_size {
	uint64_t paths, bytes; /* all of them together */
	uint64_t longest;      /* path, in bytes */
	unsigned depth;
};
/* Returns 1 once `limit` is passed in paths, bytes or longest, or directories are nested
 * deeper than can be read (GA_TREE_DEPTH_MAX, whatever `limit` says of depth); `*ret` is what was
 * met by then. A few objects can make as many paths as they like. */
int ga_tree_measure(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		    const struct ga_tree_size *limit, struct ga_tree_size *ret,
		    struct ga_error *err);

/* All blobs, links and gitlinks of a tree, as additions; stops with an error
 * beyond `max` entries. */
int ga_tree_list(struct ga_repo *r, const struct ga_oid *tree, size_t max, struct ga_changes *ret,
		 struct ga_error *err);

/* ---- writing ----------------------------------------------------------- */

/* All objects of one result, waited for once. From begin to commit what is written through the
 * handle stays in memory, where the handle finds it; what is too much for that, and whatever a
 * git command that is run meanwhile could look for, goes to the disk as ever. */
int ga_batch_begin(struct ga_repo *r, struct ga_error *err);
/* A batch without an end and of any size, of which nothing ever goes to the disk: for questions
 * about trees that are to leave nothing behind. It is gone with the handle. A git command that is
 * run meanwhile sees none of it. */
int ga_repo_write_to_memory(struct ga_repo *r, struct ga_error *err);
/* There is no result after all: forget what is in it. */
void ga_batch_abandon(struct ga_repo *r);
/* What is in it so far goes to the disk, and the batch stays open. */
int ga_batch_flush(const struct ga_repo *r, struct ga_error *err);
/* To the disk, synced: loose objects, or one pack with a ".keep" file, whose absolute path is
 * added to `keeps`, to be unlinked once refs exist. Without a batch there is nothing to do. */
int ga_batch_commit(struct ga_repo *r, struct ga_strv *keeps, struct ga_error *err);
/* What is in it, and to put that into the batch of the same repository in another process. */
void ga_batch_export(const struct ga_repo *r, struct ga_buf *out);
int ga_batch_import(struct ga_repo *r, const void *data, size_t n, struct ga_error *err);

/* One pack under construction: many objects, one file, one sync. Objects added
 * are not readable through the repository before ga_pack_commit(). An object
 * the repository already has is not added again; its id is returned all the same. */
struct ga_pack;
int ga_pack_begin(struct ga_repo *r, struct ga_pack **ret, struct ga_error *err);
int ga_pack_add_blob(struct ga_pack *p, const void *data, size_t n, struct ga_oid *ret,
		     struct ga_error *err);
/* A blob from a descriptor, exactly `size` bytes, in bounded memory; fails if
 * the file is shorter or longer. Files above 1 MiB are streamed. */
int ga_pack_add_blob_fd(struct ga_pack *p, int fd, uint64_t size, struct ga_oid *ret,
			struct ga_error *err);
/* Ask after one of these two or ga_blob_id_of() has failed: was it because the content was made to
 * have the id of another one, as libgit2 can tell? Nothing was added then. True once for each. */
bool ga_saw_collision(void);
/* A commit, by the rules of ga_commit_write(). */
int ga_pack_add_commit(struct ga_pack *p, const struct ga_commit *c, struct ga_oid *ret,
		       struct ga_error *err);
/* Index it into the repository's object directory, synced, with a ".keep" file
 * beside it; `*ret_keep` is the absolute path of the .keep, to be unlinked once
 * refs exist. A few small objects are written loose instead, or go into the batch that is
 * open: then, and if the pack was empty, it is NULL. Frees `p` on success. */
int ga_pack_commit(struct ga_pack *p, char **ret_keep, struct ga_error *err);
void ga_pack_free(struct ga_pack *p);

/* Apply changes (their `new` side; GA_MODE_NONE deletes) to a tree and give the
 * resulting tree's id. `base` may be NULL: the empty tree. `changes` is sorted, each
 * path once. A new path replaces a file that is its ancestor and a directory of its name;
 * deleting a path deletes whatever is there, a directory included, before the
 * changes beneath it are applied; directories left empty vanish. An error: a
 * path that is to be a file and a directory, one nested more than 1024 deep,
 * one with a component git refuses (".git" in any folding, "..").
 * Only trees on changed paths are read or written; into `p`, or as loose synced
 * objects when `p` is NULL. `base` must be readable, not only added to `p`. */
int ga_tree_apply(struct ga_repo *r, struct ga_pack *p, const struct ga_oid *base,
		  const struct ga_changes *changes, struct ga_oid *ret, struct ga_error *err);

/* The id a regular file would have as a blob, bytes as they are; nothing is written. */
int ga_blob_id(int fd, struct ga_oid *ret, struct ga_error *err);
/* The same of bytes. */
int ga_blob_id_of(const void *data, size_t n, struct ga_oid *ret, struct ga_error *err);
/* A blob on its own, loose and synced. */
int ga_blob_write(struct ga_repo *r, const void *data, size_t n, struct ga_oid *ret,
		  struct ga_error *err);

/* Three-way merge of one path. Returns 0 with the merged entry, 1 if it cannot
 * be separated (conflict, binary, too much, type change on both sides). Entries may be
 * GA_MODE_NONE. Equal sides need no content. No attribute or driver is consulted. */
int ga_merge_entry(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		   const struct ga_entry *theirs, struct ga_entry *ret, struct ga_error *err);
/* The same, for one of many: what it costs is taken off `*left`, in bytes that are read and
 * GA_MERGE_LINE for each line that differs. Where that is not enough, it is 0 and 1 is returned. */
#define GA_MERGE_LINE 512
int ga_merge_entry_within(struct ga_repo *r, const struct ga_entry *base,
			  const struct ga_entry *ours, const struct ga_entry *theirs,
			  uint64_t *left, struct ga_entry *ret, struct ga_error *err);

/* Would that merge leave `ours` as it is, because what `theirs` changed is in it? 1 yes, 0 no.
 * `lenient`: lines that both changed may be any, since what is in `ours` was made of them. Nothing
 * is written. */
int ga_merge_is_in(struct ga_repo *r, const struct ga_entry *base, const struct ga_entry *ours,
		   const struct ga_entry *theirs, bool lenient, struct ga_error *err);

/* ---- history ----------------------------------------------------------- */

/* Is `anc` an ancestor of `desc`, or the same? 1 yes, 0 no. */
int ga_is_ancestor(struct ga_repo *r, const struct ga_oid *anc, const struct ga_oid *desc,
		   struct ga_error *err);
/* The same as far as it can be told from a few commits, without a process. */
bool ga_is_near_ancestor(struct ga_repo *r, const struct ga_oid *anc, const struct ga_oid *desc);
/* Is a commit reachable from `from` (may be NULL) or a branch, remote branch or tag, those of
 * sessions only with `sessions`? One that is not there at all is not. */
int ga_is_on_branch(struct ga_repo *r, const struct ga_oid *oid, const struct ga_oid *from,
		    bool sessions, bool *ret, struct ga_error *err);
/* Is a commit reachable from a ref whose name begins with one of these (each up to a slash)? What
 * is there and no commit holds none. One process. */
int ga_is_below_refs(struct ga_repo *r, const struct ga_oid *oid, const char *const *prefixes,
		     bool *ret, struct ga_error *err);
/* Of many commits, by one process: those reachable from `from` or a branch, remote branch or tag,
 * not of sessions, are added to `ret`. One that is not there is not, and so are all if git cannot
 * tell or more than `max` commits are in between. */
int ga_find_on_branches(struct ga_repo *r, const struct ga_oid *oids, size_t n,
			const struct ga_oid *from, size_t max, struct ga_oidmap *ret,
			struct ga_error *err);
/* Commits reachable from any of `tips` and from none of `hide`, parents before
 * children (topological, oldest first). At most `max`, else an error; or, the second, 1. */
int ga_rev_list(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
		const struct ga_oid *hide, size_t n_hide, size_t max, struct ga_oid **ret,
		size_t *ret_n, struct ga_error *err);
int ga_rev_list_bounded(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
			const struct ga_oid *hide, size_t n_hide, size_t max, struct ga_oid **ret,
			size_t *ret_n, struct ga_error *err);

#endif
