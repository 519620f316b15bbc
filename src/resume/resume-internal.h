/* SPDX-License-Identifier: MIT
 *
 * What files of this folder share, and the headers that most of them need.
 */
#ifndef RESUME_INTERNAL_H
#define RESUME_INTERNAL_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/session/session.h"
#include "ga/start/start.h"
#include "ga/sys/fd.h"

/* point.c: hint at starting a new session on the branch. Returns -1. */
int resume_anew_hint(const struct ga_session *s, struct ga_error *err);
/* Where a session continues. */
struct resume_point {
	struct ga_oid branch_base; /* its branch, or the commit that this would be based on */
	struct ga_oid agent_base; /* the commit that its private HEAD is put on */
	struct ga_oid base_report; /* the report there is; zero: none */
	struct ga_oid view;    /* tree that its layers are to show ... */
	struct ga_oid full;    /* ... and the same without the user's uncommitted work */
	struct ga_oid was, was_full; /* the same two as they are now, or after `again` */
	struct ga_changes again; /* first: what an interrupted resume may have half done */
	struct ga_changes bring; /* then: from `was` to `view`, what the host did since */
	struct ga_changes doubt; /* paths that may have been lost since they were captured */
};
void resume_point_release(struct resume_point *p);
int resume_find_point(struct ga_env *e, const struct ga_session *s, struct resume_point *ret,
		      struct ga_error *err);
/* If the machine was rebooted since the layers were written to, find where they may not
 * show what was captured (p->doubt). */
int resume_find_doubt(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		      struct ga_error *err);
/* Fail as `path` was lost. */
int resume_layers_lost(const struct ga_session *s, const char *path, struct ga_error *err);
/* inside.c: bring the layers to `p`, and then the private git dir, by git in the sandbox of `st`,
 * where nothing the agent wrote runs yet. If something cannot be brought it fails, and nothing of
 * `p->bring` was done. What is going to be done is noted in the state file first, so that a resume
 * that was killed can be done again, with the same result. */
int resume_move_to_point(struct ga_env *e, struct ga_start *st, const struct resume_point *p,
			 struct ga_error *err);

#endif
