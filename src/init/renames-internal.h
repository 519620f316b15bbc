/* SPDX-License-Identifier: MIT
 *
 * Serving calls that a seccomp filter announces.
 *
 * Renaming directories: an overlay without redirect_dir, which an unprivileged one cannot have,
 * refuses to rename a directory that a lower layer has (EXDEV), and most programs fail then. So
 * the kernel announces rename, renameat and renameat2 of a command to us (seccomp_unotify(2)).
 * Every call continues as usual unless it is about a directory: that is renamed here with the
 * rights of the command and, if the kernel refuses, moved entry by entry.
 *
 * Removing shared directories: each is a mount point, which the kernel refuses to remove (EBUSY).
 * So it announces removals of directories, too. A shared directory is removed by the supervisor,
 * when it is empty; a rename of one gets EXDEV.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/run/init-protocol.h"

/* The filters, made at build time: for renames and removals by path, and that with all removals of
 * directories. */
const void *renames_program(size_t *ret_n);
const void *deep_program(size_t *ret_n);

/* The other thread of pid 1, which answers the calls. */
struct renames;

/* Start it, once; later calls return the same socket and ignore `ctl`, the control socket. Returns
 * a socket on which commands send their listeners, or -1 with errno: EAGAIN while processes that
 * earlier commands left running hold nearly all listeners. */
int renames_start(struct renames **r, int ctl);
/* Pass on an answer of the supervisor's (GA_CTL_SHARED). */
void renames_forward(struct renames *r, const struct ga_ctl_msg *m);
/* Is `pid` a process that moves a directory? If somebody stops it, it must be continued. */
bool renames_has(const struct renames *r, pid_t pid);
/* In a process about to execute a command: have these calls announced. Returns 0, or -1 with
 * errno. */
struct announced;
int renames_announce(const struct announced *a);

/* ---- one announced call */

/* One of the two paths of a rename, resolved up to its parent. */
struct rename_end {
	int at; /* O_PATH, -1: none */
	char name[NAME_MAX + 1];
};

struct rename_call {
	struct rename_end from, to;
	unsigned flags;        /* as for renameat2(2) */
	int mount;             /* of RENAME_MOUNT; the caller closes it */
};
void rename_call_close(struct rename_call *c);

/* What is to be answered. */
enum rename_verdict {
	RENAME_GONE,     /* no answer: the caller is gone */
	RENAME_CONTINUE, /* let the kernel do it */
	RENAME_DONE,     /* the answer is *ret_errnum, 0 for success */
	RENAME_MOVE,     /* move it with rename_move(); `ret` is filled */
	RENAME_MOUNT,    /* it is busy, and one of them is the root of this mount */
};
struct seccomp_notif;
enum rename_verdict rename_check(int listener, const struct seccomp_notif *n, unsigned own_filters,
				 struct rename_call *ret, int *ret_errnum);
/* How many seccomp filters process `pid` ("self") has; 0 if that cannot be told. */
unsigned rename_filters(const char *pid);

/* Answer an announced call: let it continue, or finish it with an errno (0: success). */
void call_answer(int listener, uint64_t id, bool go_on, int errnum);

/* ---- shared directories

 * Every rmdir(2), and unlinkat(2) that removes a directory, is announced as well. Does it meet a
 * mount? Then RENAME_MOUNT with its root; RENAME_CONTINUE or RENAME_GONE else. */
enum rename_verdict remove_check(int listener, const struct seccomp_notif *n, unsigned own_filters,
				 int *ret_mount);

#define MAX_SHARES 4
/* A call that is about a mount. */
struct share_call {
	bool used, renamed, removing;
	int listener;          /* -1: the caller is gone */
	uint64_t id;
	int dir;               /* its root */
	uint64_t device;
	mode_t mode;
};
struct shares {
	int ctl;               /* GA_CTL_SHARED is sent here; answers come from the thread ... */
	int answers, tell;     /* ... that reads that socket, through this one */
	struct share_call calls[MAX_SHARES];
};
/* Is every slot taken? */
bool shares_full(const struct shares *s);
/* Call unless they are full: the call is answered when it is known whether the mount is a shared
 * directory, and that was removed. `mount` becomes the callee's. */
void shares_ask(struct shares *s, int listener, uint64_t id, int mount, bool renamed);
/* Answers can be read. */
void shares_answered(struct shares *s);
/* Call before a listener is closed. */
void shares_drop(struct shares *s, int listener);

/* ---- moving

 * Move a directory with a new one: made beside where it goes under the name `temporary`, filled
 with
 * hard links to what is no directory, and put in place at once; only then is the old one emptied.
 So what is open stays open, and nothing is read or written but by the
 * kernel, where it copies a file up. 0 or an errno; then everything is as it was. */
int rename_move(const struct rename_call *c, const char *temporary);
