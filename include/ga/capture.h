/* SPDX-License-Identifier: MIT
 *
 * The end of a session: layers and private git dir become commits, refs and a
 * report. Idempotent: killed at any point, running it again gives the same.
 */
#ifndef GA_CAPTURE_H
#define GA_CAPTURE_H

#include "ga/error.h"
#include "ga/import.h"
#include "ga/limits.h"
#include "ga/repo.h"
#include "ga/report.h"
#include "ga/run.h"
#include "ga/session.h"

/* What a submodule came to, which was captured before. */
struct ga_link {
	char *path;             /* in the superproject */
	char *dir;              /* its working tree on the host */
	struct ga_oid tip;      /* its branch agent/<name>; zero: there is none */
	bool told;              /* its own report has something to say */
	bool gone;              /* there is no repository at `dir` to ask about commits */
	const char *lost;       /* nothing of it was captured, and why, for people; or NULL */
};
struct ga_links {
	struct ga_link *v;
	size_t n, cap;
};
#define GA_LINKS_INIT { NULL, 0, 0 }
void ga_links_release(struct ga_links *l);

struct ga_capture_env {
	struct ga_repo *repo;
	const struct ga_gitconfig *config;
	const struct ga_limits *limits;
	const struct ga_risk_paths *risk; /* NULL: nothing is configured */
	const char *config_file; /* the user's, where limits are raised; for messages */
	/* The base tree of the session, made if need be: `*ret` stays the owner's. Not asked for
	 * with a live session. */
	int (*open_base)(void *payload, const char **ret, struct ga_error *err);
	/* A sandbox over the session's layers without network for git to run in, made on demand:
	 * capture of commits and of filtered content. */
	int (*open_sandbox)(void *payload, struct ga_sandbox **ret, struct ga_error *err);
	void *payload;
	const struct ga_links *links; /* NULL: none */
	const char *const *sandbox_env; /* environment for git inside */
	bool progress;                  /* long steps say how far they are, on standard error ... */
	int64_t progress_delay_ms;      /* ... once they took longer than that */
	int lock;                       /* the session's, which git that updates refs holds too:
					 * killed alone, we leave it at work; or -1 */
};

/* Capture `s` (lock held, nothing running). Fills s->{tip,held,notes,...}, writes refs and the
 * report, saves the state CAPTURED.
 *
 * What a limit keeps away is named in the notes, with the key of the limit; the report lists these
 * keys, and capturing again with others brings it. */
int ga_capture(const struct ga_capture_env *e, struct ga_session *s, struct ga_report *ret_report,
	       struct ga_error *err);

/* The tree as it would be captured now, for `diff` of a running session: reads the upper only.
 * `notes`, added to, says what a limit kept out of it. */
int ga_capture_peek(const struct ga_capture_env *e, const struct ga_session *s,
		    struct ga_oid *ret_tree, struct ga_strv *notes, struct ga_error *err);

/* What is held back whatever the rules say: paths that these commits add to what the session stands
 * on, and that the host ignores, or has a file at that git does not track. Of `e` only repository,
 * configuration and limits count. Adds to `ret`, sorted then. */
int ga_capture_in_the_way(const struct ga_capture_env *e, struct ga_session *s,
			  const struct ga_oid *commits, size_t n, struct ga_strv *ret,
			  struct ga_error *err);

/* For whoever else takes objects and refs of an agent's: the limits of an import, and the lock,
 * a descriptor, that has to be held from before there is a .keep until its refs exist. */
void ga_capture_import_limits(const struct ga_limits *l, struct ga_import_limits *ret);
int ga_capture_lock_keeps(const struct ga_repo *r, struct ga_error *err);

#endif
