/* SPDX-License-Identifier: MIT
 *
 * Serving calls that a seccomp filter announces.
 *
 * Renaming directories: an overlay without redirect_dir, which an unprivileged one cannot have,
 * refuses to rename a directory that a lower layer has (EXDEV), and most programs give up then. So
 * the kernel announces rename, renameat and renameat2 of a command to us (seccomp_unotify(2)).
 * Every call continues as usual unless it is about a directory: that is renamed here with the
 * rights of the command and, if the kernel refuses, moved entry by entry.
 *
 * The same thread passes the connections of a session that learns (ga/connects.h) to the other end
 * of its socket and answers them: a process can have only one listener for all its calls.
 */
#ifndef RENAMES_H
#define RENAMES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/connects.h"

/* The filters, made at build time: for renames, for connections, and for both. */
const void *renames_program(size_t *ret_n);
const void *connects_program(size_t *ret_n);
const void *both_program(size_t *ret_n);

/* The other thread of pid 1, which answers the calls. */
struct renames;

/* Start it, once; later calls return the same socket and ignore `asks`, the socket on which
 * connections are announced (-1: they are not). Returns a socket on which commands send their
 * listeners, or -1 with errno: EAGAIN while processes that earlier commands left running hold
 * nearly all listeners. */
int renames_start(struct renames **r, int asks);
/* Is `pid` a process that moves a directory? If somebody stops it, it must be continued. */
bool renames_has(const struct renames *r, pid_t pid);
/* In a process about to execute a command: have its renames, its connections, or both announced.
 * Returns 0, or -1 with errno. */
int renames_announce(int sock, bool renames, bool connects);

/* ---- one announced call */

/* One of the two paths of a rename, resolved up to its parent. */
struct rename_end {
	int at;                /* O_PATH, -1: none */
	char name[NAME_MAX + 1];
	char where[PATH_MAX];  /* the whole path, as the kernel reports it */
};

struct rename_call {
	struct rename_end from, to;
	unsigned flags;        /* as for renameat2(2) */
};
void rename_call_close(struct rename_call *c);

/* What is to be answered. */
enum rename_verdict {
	RENAME_GONE,     /* no answer: the caller is gone */
	RENAME_CONTINUE, /* let the kernel do it */
	RENAME_DONE,     /* the answer is *ret_errnum, 0 for success */
	RENAME_MOVE,     /* move it with rename_move(); `ret` is filled */
};
struct seccomp_notif;
enum rename_verdict rename_look(int listener, const struct seccomp_notif *n,
				unsigned own_filters, struct rename_call *ret, int *ret_errnum);
/* How many seccomp filters process `pid` ("self") has; 0 if that cannot be told. */
unsigned rename_filters(const char *pid);

/* Answer an announced call: let it continue, or finish it with an errno (0: success). */
void call_answer(int listener, uint64_t id, bool go_on, int errnum);

/* ---- connections

 * Asked for at `sock` and not answered yet. */
struct connect_call {
	bool used;
	int listener;          /* -1: the caller is gone */
	uint64_t id;
};
struct connects {
	int sock;              /* -1: connections are not announced */
	struct connect_call calls[GA_CONNECTS];
};
/* Is every slot taken? */
bool connects_full(const struct connects *c);
/* Call unless they are full: announce the call, or let it continue if it is not to an internet
 * address or nobody is asked. */
void connects_ask(struct connects *c, int listener, const struct seccomp_notif *n);
/* Answers can be read from `sock`. */
void connects_answered(struct connects *c);
/* Call before a listener is closed. */
void connects_drop(struct connects *c, int listener);

/* ---- moving

 * Move one directory, or exchange two, with new ones: made beside where they go under the name
 * `temporary`, filled with hard links to what is no directory, and put in place at once; only then
 * is the old one emptied. So what is open stays open, and nothing is read or written but by the
 * kernel, where it copies a file up. 0 or an errno; then everything is as it was. */
int rename_move(const struct rename_call *c, const char *temporary);

#endif
