/* SPDX-License-Identifier: MIT
 *
 * Inside git-agent-stage: the plan as values, and what went wrong.
 */
#ifndef STAGE_H
#define STAGE_H

#include <stddef.h>

#include "ga/buf.h"
#include "ga/plan.h"

/* The one failure there can be: reported to the caller, then the end. */
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
	STAGE_MASK_FILE,
	STAGE_MASK_DIR,
};

struct stage_op {
	enum stage_kind kind;
	const char *dest;
	const char *source;        /* binds: a host path; move: a staged place; symlink: its target */
	unsigned mode;             /* tmpfs */
	const char *upper, *work;  /* overlay */
	const char **layers;       /* overlay, topmost first; into stage_plan.words */
	size_t n_layers;
};

struct stage_plan {
	struct ga_buf bytes;
	const char **words; /* into `bytes` */
	const char *dir;
	struct stage_op *ops;
	size_t n_ops;
};

/* Read and check all of a plan; nothing is looked at on disk. Its memory lives
 * as long as the program: only exec or exit follow. */
int stage_plan_read(int fd, struct stage_plan *ret, struct stage_fault *f);

/* Carry it out, in a namespace of its own. */
int stage_mount(const struct stage_plan *p, struct stage_fault *f);

#endif
