/* SPDX-License-Identifier: MIT
 *
 * Renaming directories. An overlay without redirect_dir, which an unprivileged one cannot have,
 * refuses to rename a directory that a lower layer has (EXDEV), and most programs give up there.
 * So rename, renameat and renameat2 of a command are announced to us by the kernel
 * (seccomp_unotify(2)). All goes on as it would have, but for a directory: that is renamed here,
 * with what rights the command has, and where the kernel refuses, moved entry by entry.
 *
 * The same thread has the connections of a session that learns (ga/connects.h) answered by who is
 * at the other end of its socket: a process has one listener for all its calls, or none.
 */
#ifndef RENAMES_H
#define RENAMES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/connects.h"

/* The filters, made when this was built: of renames, of connections, and of both. */
const void *renames_program(size_t *ret_n);
const void *connects_program(size_t *ret_n);
const void *both_program(size_t *ret_n);

/* The other thread of pid 1, which answers. */
struct renames;

/* Start it; once only, later calls return the same, whatever `asks` is: the socket that connections
 * are told on, -1 if they are not. A socket that commands send their listeners
 * to; -1 with errno: EAGAIN while what former commands left running has nearly all listeners. */
int renames_start(struct renames **r, int asks);
/* Is that a process that moves a directory? Not to be left standing when somebody stops it. */
bool renames_has(const struct renames *r, pid_t pid);
/* In a process about to execute a command: have its renames announced, its connections, or both. 0
 * or -1 with errno. */
int renames_announce(int sock, bool renames, bool connects);

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

/* Answer an announced call: let it go on, or end it with an errno (0: success). */
void call_answer(int listener, uint64_t id, bool go_on, int errnum);

/* ---- connections

 * Asked for at `sock` and not answered yet. */
struct connect_call {
	bool used;
	int listener;          /* -1: nobody is left who called */
	uint64_t id;
};
struct connects {
	int sock;              /* -1: nobody is asked */
	struct connect_call calls[GA_CONNECTS];
};
/* No more at the moment. */
bool connects_full(const struct connects *c);
/* Unless they are full: ask, or let it go on where there is nothing to ask or nobody. */
void connects_ask(struct connects *c, int listener, const struct seccomp_notif *n);
/* `sock` can be read from. */
void connects_answered(struct connects *c);
/* A listener is about to be closed. */
void connects_drop(struct connects *c, int listener);

/* ---- moving

 * Move one directory, or exchange two, with new ones: made beside where they go under the name
 * `temporary`, filled with hard links to what is no directory, and put in place at once; only then
 * is the old one emptied. So what is open stays open, and nothing is read or written but by the
 * kernel, where it copies a file up. 0 or an errno; then everything is as it was. */
int rename_move(const struct rename_call *c, const char *temporary);

#endif
