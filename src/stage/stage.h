/* SPDX-License-Identifier: MIT
 *
 * Internals of git-agent-stage: the plan as values, and failures.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/buf.h"
#include "ga/base/strv.h"
#include "ga/sandbox/plan.h"

/* The failure of the stage: reported to the caller, then the stage ends. */
struct stage_fault {
	enum ga_stage_step step;
	int errnum;
	const char *object; /* points into the plan or the arguments; never NULL when set */
};

/* Fill the fault and return -1. */
int stage_fail(struct stage_fault *f, enum ga_stage_step step, int errnum, const char *object);

enum stage_kind {
	STAGE_OVERLAY,
	STAGE_BIND_RW,
	STAGE_BIND_RO,
	STAGE_MOUNTPOINT,
	STAGE_MOVE,
	STAGE_DEVICE,
	STAGE_DEVPTS,
	STAGE_TMPFS,
	STAGE_SYMLINK,
	STAGE_READ_ONLY,
	STAGE_DIR,
	STAGE_FILE,
	STAGE_TEXT,
	STAGE_SANDBOX,
	STAGE_MASK_FILE,
	STAGE_MASK_DIR,
	STAGE_HIDE,
	STAGE_DISOWN,
};

struct stage_op {
	enum stage_kind kind;
	const char *dest;
	const char *source;        /* a host path; move: a staged path; symlink: target */
	const void *text;          /* `n_text` bytes, there until more of the plan is read */
	size_t n_text;
	unsigned mode;             /* tmpfs, dir */
	const char *upper, *work;  /* overlay */
	const char *layers[GA_PLAN_MAX_LAYERS]; /* overlay, topmost first */
	const char *names[GA_PLAN_MAX_LAYERS];  /* hide */
	size_t n_layers, n_names;
};

/* A plan as far as it has been read. Words live as long as the program: only exec or
 * exit follow. */
struct stage_plan {
	int fd;
	struct ga_buf buf; /* what was read so far, parsed up to `pos` */
	size_t pos, n_ops;
	bool begun;        /* an operation other than "disown" was read */
	bool sandbox;      /* "sandbox" was read */
	const char *dir;
};

/* Begin to read: magic and directory. */
int stage_plan_open(int fd, struct stage_plan *ret, struct stage_fault *f);
/* The next operation, validated without looking at the disk. Returns 1, or 0 at the plan's end. */
int stage_plan_next(struct stage_plan *p, struct stage_op *ret, struct stage_fault *f);

/* Enter a user namespace of one's own, with the caller's ids, below one that all sandboxes with the
 * stage directory `dir` share: DIR.users, beside it, says where it is. In that, what the kernel
 * counts of inotify and fanotify is limited to half of what the user may have. */
int stage_enter_user(const char *dir, struct stage_fault *f);

/* Copies of what a plan disowns; -1 where that is not possible. */
struct stage_disowned {
	const char *source[GA_PLAN_MAX_DISOWNED];
	int copy[GA_PLAN_MAX_DISOWNED];
	size_t n;
};

/* Execute the "disown" operations that a plan begins with, in the namespaces of the stage's caller,
 * up to the first other operation, which is stored in `*op`. Returns 1, or -1. Appends to
 * `ret_loose` what could not be disowned. */
int stage_disown(struct stage_plan *plan, struct stage_disowned *ret, struct stage_op *op,
		 struct ga_strv *ret_loose, struct stage_fault *f);
/* The copy of `source`, to be attached once, or -1. */
int stage_disowned_copy(const struct stage_disowned *d, const char *source);
void stage_disowned_close(struct stage_disowned *d);

/* Read a plan and execute it as it arrives, in a namespace of its own. `start` is called at the
 * operation "sandbox", with all capabilities. The umask must be 0, so that the plan's modes apply.
 * Appends to `ret_loose` each DEST of a "hide" whose files are masked one by one, and each SOURCE
 * that cannot be disowned. */
int stage_mount(int plan, int (*start)(void *payload, struct stage_fault *f), void *payload,
		struct ga_strv *ret_loose, struct stage_fault *f);
