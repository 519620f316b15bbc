/* SPDX-License-Identifier: MIT
 *
 * Files by descriptor. Everything opens with O_CLOEXEC. Functions named
 * "beneath" resolve a relative path from a directory without leaving it and
 * without following any symlink, so they are safe in trees an agent wrote.
 */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"

void ga_cleanup_closep(int *fd);
/* `cleanup_close int fd = -1;` is closed, if not negative, on leaving scope. */
#define cleanup_close cleanup_(ga_cleanup_closep)
static inline int ga_steal_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

void ga_cleanup_dirp(DIR **d);
/* `cleanup_dir DIR *d = NULL;` is closed, if not NULL, on leaving scope. */
#define cleanup_dir cleanup_(ga_cleanup_dirp)
/* fdopendir(3) that closes `fd` on failure, too. Returns NULL with errno. */
DIR *ga_dir_of(int fd);
/* The next entry except "." and ".."; NULL on failure, for a NULL `d`, and at the end (errno 0). */
struct dirent *ga_dir_next(DIR *d);

/* The address of the unix socket that is open (O_PATH) as `fd` or, with `name` = "/NAME", of NAME
 * in the directory `fd`, through /proc/self/fd: an address has room for some hundred bytes only,
 * and a path may be longer. `fd` must stay open while the address is used. Returns false, with
 * ENAMETOOLONG, if `name` is too long. */
struct sockaddr_un;
bool ga_unix_address(int fd, const char *name, struct sockaddr_un *ret);

/* openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS), or
 * where the kernel lacks it (ENOSYS) or forbids it (EPERM), one openat() with
 * O_NOFOLLOW a component.
 * `path` is relative and has no ".." component. O_CLOEXEC is added. Returns a
 * descriptor or -1 with errno (ELOOP for a symlink). Mount points are crossed. */
int ga_openat_beneath(int dirfd, const char *path, int flags, mode_t mode);

/* Open the parent directory of the relative `path`, following no symlink; with `make`, missing
 * directories are created. Returns a descriptor, or -1 with errno. */
int ga_open_parent_beneath(int root, const char *path, bool make);
/* Remove the empty parent directories of `path`, as git does. */
void ga_remove_empty_above(int root, const char *path);
/* Remove a directory that contains only directories. Returns -1 on error, or if it contains a file,
 * which is kept with its parents. */
int ga_remove_hollow_beneath(int root, const char *path);

/* Does `path`, with all symlinks followed, leave the directory or loop? False if it does not
 * exist. */
bool ga_leads_out(int dirfd, const char *path);

/* Read a whole regular file of at most `max` bytes. `path` is resolved by
 * openat() from `dirfd` (AT_FDCWD allowed) without following a final symlink,
 * opened non-blocking; anything but a regular file, or a longer one, is an
 * error. Appends to `out`. */
int ga_read_file_at(int dirfd, const char *path, size_t max, struct ga_buf *out,
		    struct ga_error *err);
/* Append the content of the regular file at `path` beneath `dirfd`, resolved as by
 * ga_openat_beneath(). A file that is missing or cannot be opened counts as empty. Returns 1, with
 * `out` unchanged, if it is longer than `max`. */
int ga_read_beneath(int dirfd, const char *path, size_t max, struct ga_buf *out,
		    struct ga_error *err);
/* Read to the end or to `max` bytes. Returns -1 with errno set. */
int ga_read_most(int fd, size_t max, struct ga_buf *out);
/* Read a descriptor to its end, at most `max` bytes (error beyond). */
int ga_read_fd(int fd, size_t max, struct ga_buf *out, struct ga_error *err);
/* Are both regular files with the same content? False if one cannot be read. File offsets do not
 * change. */
bool ga_same_content(int a, int b);
/* The kernel's identifier of the current boot; "" if it cannot be read. The caller frees it. */
char *ga_boot_id(void);
/* Write everything; retries short writes and EINTR. Returns 0 or -1 with errno. */
int ga_write_full(int fd, const void *p, size_t n);

/* Create a file with this content, without fsync; it is an error if it exists. A failed write
 * leaves a partial file. */
int ga_write_new(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		 struct ga_error *err);

/* fsync(2), except that EINVAL, which some file systems return for a directory, counts as success,
 * as in git. */
int ga_fsync(int fd);
/* Start writeback of a file without waiting: several files are on the disk sooner if all are
 * started before the first fsync(2), which is still needed. */
void ga_write_out(int fd);

/* Replace `path`: write an exclusive temporary file in the same directory, fsync, rename, fsync the
 * directory. A reader sees the old or the new file, never a part. */
int ga_write_atomic(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		    struct ga_error *err);

/* The same, but calls `first` once the new file is on the disk and before it is renamed. If `first`
 * fails, the old file stays. */
int ga_write_atomic_after(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
			  int (*first)(void *payload, struct ga_error *err), void *payload,
			  struct ga_error *err);

/* Is the directory empty or missing? False if it cannot be read. */
bool ga_dir_is_empty(const char *path);

/* mkdir -p: each missing component gets `mode`. Existing ones are not touched;
 * one that is no directory is an error. */
int ga_mkdir_p(const char *path, mode_t mode, struct ga_error *err);
/* Create the missing parent directories of `path` beneath `at`, which no other process writes to.
 * The created ones are appended to `made` (may be NULL), outer ones first. */
int ga_make_parents(int at, const char *path, struct ga_strv *made, struct ga_error *err);

/* Copy a regular file with mode and times in nanoseconds to the new file `name`; reflink where the
 * file system can. The source is an open descriptor at offset 0. A failure leaves no partial
 * copy. */
int ga_copy_fd_to(int src, int dirfd, const char *name, struct ga_error *err);

/* Remove a tree beneath `dirfd`, any depth, any mode, by descriptor, never
 * following a symlink or crossing a mount (EXDEV). A missing `name` is no error. */
int ga_rmtree_at(int dirfd, const char *name, struct ga_error *err);

/* An anonymous file holding these bytes, sealed against change, offset 0. */
int ga_memfd(const char *name, const void *p, size_t n, struct ga_error *err);

/* Random bytes, for names that cannot be guessed. */
int ga_random(void *p, size_t n, struct ga_error *err);

/* Take flock(2) on an open descriptor; with `wait` false it does not block. Returns 0, 1 if another
 * process holds it, -1 on error. */
int ga_flock(int fd, bool exclusive, bool wait, struct ga_error *err);
/* Release a lock for every process that inherited the descriptor; closing ours would not do
 * that. */
void ga_funlock(int fd);

/* An unnamed file in `dir`, open to read and write. Returns a descriptor, or -1 with an error. */
int ga_scratch_file(const char *dir, struct ga_error *err);
/* Test whether `n` bytes can be written to the disk in `dir`, with an unnamed file that leaves
 * nothing behind; the error says why not. */
int ga_probe_write(const char *dir, size_t n, struct ga_error *err);
/* Does the file system of `dir` have fewer than `bytes` bytes free for this user? */
bool ga_disk_below(const char *dir, uint64_t bytes);
/* Is its file system practically full? */
bool ga_disk_full(const char *dir);
/* Was this error caused by a full disk or quota? Its message says so, or the file system of `dir`
 * is practically full (git does not always say why it could not write). If so, "no space left" is
 * prepended to the message. */
bool ga_explain_full(struct ga_error *err, const char *dir);
