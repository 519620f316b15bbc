/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

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
	struct ga_oid branch_base; /* its branch, or the base commit of one */
	struct ga_oid agent_base; /* new commit of its private HEAD */
	struct ga_oid base_report; /* the existing report; zero: none */
	struct ga_oid view;    /* tree that its layers must show ... */
	struct ga_oid full;    /* ... and the same without the user's uncommitted work */
	struct ga_oid was, was_full; /* the same two now, or after `again` */
	struct ga_changes again; /* first: changes of an interrupted resume */
	struct ga_changes apply; /* then: the host's changes, from `was` to `view` */
	struct ga_changes doubt; /* paths that may have been lost since they were captured */
};
void resume_point_release(struct resume_point *p);
int resume_find_point(struct ga_env *e, const struct ga_session *s, struct resume_point *ret,
		      struct ga_error *err);
/* After a reboot since the layers were written, find where they may differ from the capture
 * (p->doubt). */
int resume_find_doubt(struct ga_env *e, const struct ga_session *s, struct resume_point *p,
		      struct ga_error *err);
/* Fail because `path` was lost. */
int resume_layers_lost(const struct ga_session *s, const char *path, struct ga_error *err);
/* inside.c: update the layers to `p`, and then the private git dir, by git in the sandbox of `st`,
 * where nothing the agent wrote runs yet. If a change cannot be applied it fails, and none of
 * `p->apply` was applied. The changes are recorded in the state file first, so that a killed resume
 * can be repeated with the same result. */
int resume_move_to_point(struct ga_env *e, struct ga_start *st, const struct resume_point *p,
			 struct ga_error *err);
