/* SPDX-License-Identifier: MIT
 *
 * Renaming directories. An overlay without redirect_dir, which an unprivileged one cannot have,
 * refuses to rename a directory that a lower layer has (EXDEV), and most programs give up there.
 * So rename, renameat and renameat2 of a command are announced to us by the kernel
 * (seccomp_unotify(2)). All goes on as it would have, but for a directory: that is renamed here,
 * with what rights the command has, and where the kernel refuses, moved entry by entry.
 */
#ifndef RENAMES_H
#define RENAMES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The filter, made when this was built. */
const void *renames_program(size_t *ret_n);

/* The other thread of pid 1, which answers. */
struct renames;

/* Start it; once only, later calls return the same. A socket that commands send their listeners
 * to; -1 with errno: EAGAIN while what former commands left running has nearly all listeners. */
int renames_start(struct renames **r);
/* Is that a process that moves a directory? Not to be left standing when somebody stops it. */
bool renames_has(const struct renames *r, pid_t pid);
/* In a process about to execute a command: have its renames announced. 0 or -1 with errno. */
int renames_announce(int sock);

/* ---- one announced call */

/* One of both paths, resolved as far as its parent. */
struct rename_end {
	int at;                /* O_PATH, -1: none */
	char name[NAME_MAX + 1];
	char where[PATH_MAX];  /* of the whole, in the kernel's words */
};

struct rename_call {
	struct rename_end from, to;
	unsigned flags;        /* as for renameat2(2) */
};
void rename_call_close(struct rename_call *c);

/* What is to be answered. */
enum rename_verdict {
	RENAME_GONE,     /* nothing: the caller is gone */
	RENAME_CONTINUE, /* let the kernel do it */
	RENAME_DONE,     /* *ret_errnum, 0 for success */
	RENAME_MOVE,     /* to be moved by rename_move(); `ret` is filled */
};
struct seccomp_notif;
enum rename_verdict rename_look(int listener, const struct seccomp_notif *n,
				unsigned own_filters, struct rename_call *ret, int *ret_errnum);
/* How many filters hold for process `pid` ("self"); 0 if that cannot be told. */
unsigned rename_filters(const char *pid);

/* ---- moving

 * Move one directory, or exchange two, with new ones: made beside where they go under the name
 * `temporary`, filled with hard links to what is no directory, and put in place at once; only then
 * is the old one emptied. So what is open stays open, and nothing is read or written but by the
 * kernel, where it copies a file up. 0 or an errno; then everything is as it was. */
int rename_move(const struct rename_call *c, const char *temporary);

#endif
