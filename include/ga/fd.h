/* SPDX-License-Identifier: MIT
 *
 * Files by descriptor. Everything opens with O_CLOEXEC. Functions named
 * "beneath" resolve a relative path from a directory without leaving it and
 * without following any symlink, so they are safe in trees an agent wrote.
 */
#ifndef GA_FD_H
#define GA_FD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "ga/buf.h"
#include "ga/error.h"

void ga_cleanup_closep(int *fd);
/* `cleanup_close int fd = -1;` is closed, if not negative, on leaving scope. */
#define cleanup_close cleanup_(ga_cleanup_closep)
static inline int ga_steal_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

/* Descriptors beside a message of a unix socket. To be sent with it: `room` has CMSG_SPACE(n *
 * sizeof(int)) bytes, is aligned as a struct cmsghdr, and stays until then; `n` is not 0. Of what
 * came with one, in h->msg_control: the first `n` are the caller's, the others are closed; returns
 * how many there are. */
struct msghdr;
void ga_put_fds(struct msghdr *h, void *room, const int *fds, size_t n);
size_t ga_take_fds(struct msghdr *h, int *ret, size_t n);

/* openat2(RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS), or
 * where the kernel lacks it (ENOSYS) or forbids it (EPERM), one openat() with
 * O_NOFOLLOW a component.
 * `path` is relative and has no ".." component. O_CLOEXEC is added. Returns a
 * descriptor or -1 with errno (ELOOP for a symlink). Mount points are crossed. */
int ga_openat_beneath(int dirfd, const char *path, int flags, mode_t mode);

/* Would following `path`, links and all, leave the directory, or go round in circles? What is
 * not there leads nowhere. */
bool ga_leads_out(int dirfd, const char *path);

/* Read a whole regular file of at most `max` bytes. `path` is resolved by
 * openat() from `dirfd` (AT_FDCWD allowed) without following a final symlink,
 * opened non-blocking; anything but a regular file, or a longer one, is an
 * error. Appends to `out`. */
int ga_read_file_at(int dirfd, const char *path, size_t max, struct ga_buf *out,
		    struct ga_error *err);
/* Append what the regular file at `path` beneath `dirfd` holds, resolved as by ga_openat_beneath().
 * Where there is none, or none that can be opened, that is nothing. 1: it is longer than `max`, and
 * `out` as it was. */
int ga_read_beneath(int dirfd, const char *path, size_t max, struct ga_buf *out,
		    struct ga_error *err);
/* Read a descriptor to its end, at most `max` bytes (error beyond). */
int ga_read_fd(int fd, size_t max, struct ga_buf *out, struct ga_error *err);
/* Are both regular files with the same bytes? What cannot be read is not. Offsets stay. */
bool ga_same_content(int a, int b);
/* What tells this boot of the machine from others; empty where nothing does. Caller frees. */
char *ga_boot_id(void);
/* Write everything; retries short writes and EINTR. Returns 0 or -1 with errno. */
int ga_write_full(int fd, const void *p, size_t n);

/* A new file of these bytes, not waited for; one that is there is an error. What was written
 * before a failure stays. */
int ga_write_new(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		 struct ga_error *err);

/* fsync(2), but for a directory of a file system that cannot do that (EINVAL): git takes that for
 * done, and there is nothing else to do. */
int ga_fsync(int fd);
/* Have the system begin to write a file to the disk, and go on: several files are there sooner
 * if each was begun before the first is waited for. No replacement for fsync(2). */
void ga_write_out(int fd);

/* Replace `path` by these bytes: exclusive temporary beside it, fsync, rename,
 * fsync of the directory. A reader sees the old or the new file, never less. */
int ga_write_atomic(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
		    struct ga_error *err);

/* The same, and `first` is called before the new file, on the disk by then, has the name. If it
 * fails the file stays as it was. */
int ga_write_atomic_after(int dirfd, const char *path, const void *p, size_t n, mode_t mode,
			  int (*first)(void *payload, struct ga_error *err), void *payload,
			  struct ga_error *err);

/* Is there nothing in the directory, or no such directory? What cannot be read is not empty. */
bool ga_dir_is_empty(const char *path);

/* mkdir -p: each missing component gets `mode`. Existing ones are not touched;
 * one that is no directory is an error. */
int ga_mkdir_p(const char *path, mode_t mode, struct ga_error *err);

/* Copy a regular file with mode and times in nanoseconds to the new file `name`;
 * reflink where the file system can. The source is an open descriptor at offset
 * 0. Nothing half copied is left behind by a failure. */
int ga_copy_fd_to(int src, int dirfd, const char *name, struct ga_error *err);

/* Remove a tree beneath `dirfd`, any depth, any mode, by descriptor, never
 * following a symlink or crossing a mount (EXDEV). A missing `name` is no error. */
int ga_rmtree_at(int dirfd, const char *name, struct ga_error *err);

/* An anonymous file holding these bytes, sealed against change, offset 0. */
int ga_memfd(const char *name, const void *p, size_t n, struct ga_error *err);

/* Random bytes, for names nobody can guess. */
int ga_random(void *p, size_t n, struct ga_error *err);

/* Take flock(2) on an open descriptor; `wait` false: fails at once.
 * Returns 0, 1 if somebody else holds it, -1 on error. */
int ga_flock(int fd, bool exclusive, bool wait, struct ga_error *err);
/* Give a lock back for everybody who inherited the descriptor, which closing
 * ours would not do. */
void ga_funlock(int fd);

/* A file of no name in `dir`, to read and write. A descriptor, or -1 with an error. */
int ga_scratch_file(const char *dir, struct ga_error *err);
/* Write `n` bytes to a nameless file in `dir`, and to the disk: an error says why they cannot
 * be. Nothing remains. */
int ga_probe_write(const char *dir, size_t n, struct ga_error *err);
/* Are less than that many bytes free where `dir` is, for us? */
bool ga_disk_below(const char *dir, uint64_t bytes);
/* Is next to nothing? */
bool ga_disk_full(const char *dir);
/* Is a full disk or quota behind this error: because it says so, or because next to nothing is
 * free where `dir` is? Git does not always say why it could not write. Then the message begins
 * with "no space left". */
bool ga_explain_full(struct ga_error *err, const char *dir);

#endif
