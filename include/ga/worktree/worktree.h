/* SPDX-License-Identifier: MIT
 *
 * Files in the user's working tree, and git run there as the user.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"

/* ---- files: `root` is a descriptor of the working tree; paths are relative to it, and no symlink
 * above the last component is followed ---- */

/* A file or link in the working tree: its own bytes, not converted as git would store them. */
struct ga_work_stat {
	mode_t mode; /* type and permissions; 0: nothing is there */
	struct ga_oid oid;
};
/* The same with the bytes, or the target of a link. */
struct ga_work_file {
	struct ga_work_stat look;
	struct ga_buf bytes;
};
#define GA_WORK_FILE_INIT { .bytes = GA_BUF_INIT }
#define GA_WORK_FILE_MAX ((size_t)2 << 30) /* greatest file that is read whole */
void ga_work_file_release(struct ga_work_file *f);
#define cleanup_work_file __attribute__((cleanup(ga_work_file_release)))

/* The mode of a new file for that of an entry, by the umask. */
mode_t ga_work_mode(uint32_t mode);
/* A descriptor of the working tree. */
int ga_work_open(const struct ga_repo *r, struct ga_error *err);
/* The first file or link above the path, by its own path; NULL: there are only directories. The
 * caller frees it. */
char *ga_work_file_above(int root, const char *path);
bool ga_work_is_dir(int root, const char *path);
/* False if it cannot be read. A directory counts as nothing. */
bool ga_work_stat(int root, const char *path, struct ga_work_stat *ret);
/* The same, but false for a directory, and for a file of more than `max` bytes. */
bool ga_work_read(int root, const char *path, size_t max, struct ga_work_file *ret);
/* Equal in type, bytes and the owner's execute bit, whatever the umask. */
bool ga_work_stat_equal(const struct ga_work_stat *a, const struct ga_work_stat *b);
/* Put the file at `path`, replacing what is there once all of it is written beside it, a directory
 * too if there are only directories in it. GA_ELOSE, with no file touched, if what is there is not
 * `over`, or is a directory with files. A write by somebody else between that check and the rename
 * is lost. */
int ga_work_put(const struct ga_work_file *f, int root, const char *path,
		const struct ga_work_stat *over, struct ga_error *err);
/* Remove what a ga_work_put() that was interrupted left beside `path`. */
void ga_work_sweep(int root, const char *path);
/* Remove what is at `path` if it is `over`, as above, and directories that become empty. Nothing
 * there is no error. */
int ga_work_remove(int root, const char *path, const struct ga_work_stat *over,
		   struct ga_error *err);

/* The file that a checkout of an entry makes at the path; none for GA_MODE_NONE. `converted`: its
 * bytes are not those of the blob (ga_work_find_converted()). */
int ga_work_from_entry(struct ga_repo *r, const struct ga_gitconfig *c, const char *path,
		       const struct ga_entry *e, bool converted, struct ga_work_file *ret,
		       struct ga_error *err);
/* Write its bytes as a blob, without conversion, and fill in the entry. */
int ga_work_store(struct ga_repo *r, const struct ga_work_file *f, struct ga_entry *ret,
		  struct ga_error *err);
/* Git's merge of `theirs` into `now` with `base`, with the permissions of `now`.
 * Returns 1 for a conflict. Writes objects. */
int ga_work_merge(struct ga_repo *r, const struct ga_work_file *now,
		  const struct ga_work_file *base, const struct ga_work_file *theirs,
		  struct ga_work_file *ret, struct ga_error *err);

/* ---- git ---- */

/* Run git there as the user would; its output and messages are appended to `out` and `why`, which
 * may be NULL. `in` is its standard input, or NULL. */
int ga_work_git(const struct ga_repo *r, const char *const *args, const char *in, int *ret_status,
		struct ga_buf *out, struct ga_buf *why, struct ga_error *err);
/* Run git there with our configuration and the user's filters; it must succeed. */
int ga_work_run(struct ga_repo *r, const struct ga_gitconfig *c, const char *const *args,
		const struct ga_buf *in, struct ga_buf *out, struct ga_error *err);
/* Which of these paths, sorted, are files marked (assume-unchanged,
 * skip-worktree), and that are there. */
int ga_work_find_marked(const struct ga_repo *r, const struct ga_strv *paths, struct ga_strv *ret,
			struct ga_error *err);
/* The merge of two commits in memory, as git makes it in the user's working tree, with its
 * attributes and the user's merge drivers: its tree, and the paths that conflict, sorted. Needs git
 * 2.38. */
int ga_work_merge_trees(const struct ga_repo *r, const char *ours, const char *theirs,
			struct ga_oid *ret, struct ga_strv *conflicts, struct ga_error *err);
/* Make a commit as the user's `git commit-tree` would, signed if that is configured; `env`: who
 * the author is, or NULL. */
int ga_work_commit(const struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *tree,
		   const struct ga_oid *parents, size_t n, const struct ga_strv *env,
		   const char *message, struct ga_oid *ret, struct ga_error *err);
/* Make the commits that `tip` reaches, and neither `onto` nor `base` (NULL: none) does, again on
 * top of `onto`, without merges and without those that change nothing, signed if that is
 * configured; oldest first, the caller frees them. GA_ELOSE for a conflict, which names the
 * commit. */
int ga_work_replay(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *tip,
		   const struct ga_oid *base, const struct ga_oid *onto, struct ga_oid **ret,
		   size_t *ret_n, struct ga_error *err);
/* Of these paths, add those of which the bytes in the working tree are not those of the blob: line
 * ends, $Id$, encodings, filters. Sorted. */
int ga_work_find_converted(const struct ga_repo *r, const struct ga_gitconfig *c,
			   const struct ga_strv *paths, struct ga_strv *ret, struct ga_error *err);
/* Append the bytes of a blob as a checkout writes them at the path. */
int ga_work_checked_out(struct ga_repo *r, const struct ga_gitconfig *c, const char *path,
			const struct ga_oid *blob, struct ga_buf *ret, struct ga_error *err);
/* Roll back what git did of going from one commit or tree to another, when it was stopped in the
 * middle: index entries and files that are as git makes them, or half made. What is neither stays,
 * and is added to `left`. */
int ga_work_roll_back(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *from,
		      const struct ga_oid *to, struct ga_strv *left, struct ga_error *err);
/* Remove the locks of the index, of HEAD and of its branch, and others in the git directory, that
 * are not older than `since`: of a git that was killed. GA_EFATAL while a git is running here that
 * could hold them; processes of other users cannot be examined. */
int ga_work_remove_locks(struct ga_repo *r, const struct timespec *since, struct ga_error *err);
