/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: a session that goes on.
 */
#ifndef RESUME_H
#define RESUME_H

#include "ga/capture.h"
#include "ga/start.h"
#include "base.h"

/* resume.c: what is left where a session cannot go on. Returns -1. */
int start_anew_hint(const struct ga_session *s, struct ga_error *err);
/* resume-point.c: where a session goes on. */
struct start_point {
	struct ga_oid under;   /* its branch, or what that would stand on */
	struct ga_oid from;    /* what its private HEAD is put on */
	struct ga_oid former;  /* the report there is; zero: none */
	struct ga_oid view;    /* what its layers are to show ... */
	struct ga_oid full;    /* ... and that without the user's uncommitted work */
	struct ga_oid was, was_full; /* what they are to be taken from ... */
	struct ga_changes bring; /* ... and what is different: done on the host since */
	struct ga_changes doubt; /* what may have been lost since it was captured */
	struct ga_changes again; /* before that: what a try that ended may have half done */
};
void start_point_release(struct start_point *p);
int start_find_point(struct ga_start_env *e, const struct ga_session *s, struct start_point *ret,
		     struct ga_error *err);
/* resume-keep.c: keep the commit of uncommitted work that the last run stood on, if it was made by
 * a resume, on refs/agent/NAME/stood/: branches of the agent's may go on standing on it. */
int start_keep_stand(struct ga_start_env *e, const struct ga_session *s, struct ga_error *err);
/* The report that belongs to what the session goes on from; zero: there is none. */
int start_find_former(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret,
		      struct ga_error *err);
/* resume-doubt.c: if the machine was started anew since the layers were written to, find where
 * they may not show what was captured. */
int start_find_doubt(struct ga_start_env *e, const struct ga_session *s, struct start_point *p,
		     struct ga_error *err);
int start_layers_lost(const struct ga_session *s, const char *path, struct ga_error *err);
/* resume-masks.c: hide what is a secret by now in the layers, and note it in `s`. */
int start_mask_again(struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct start_point *p, struct ga_session *s, struct start_base *b,
		     struct ga_error *err);
/* resume-inside.c: git in the sandbox of `st`, in which nothing of the agent's runs yet, brings
 * the layers to `p`, and then the private git dir. What cannot be brought is refused, with nothing
 * of it changed. Before anything is, the state file says to what: done again after it was killed
 * it gives the same. */
int start_move_to_point(struct ga_start_env *e, struct ga_start *st, const struct start_point *p,
			struct ga_error *err);

#endif
