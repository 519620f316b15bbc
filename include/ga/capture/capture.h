/* SPDX-License-Identifier: MIT
 *
 * Capture a session: turn its layers and private git dir into commits, refs and a report.
 * Idempotent: after a kill at any point, running it again gives the same result.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/leftovers.h"
#include "ga/config/limits.h"
#include "ga/repo/import.h"
#include "ga/repo/repo.h"
#include "ga/review/review.h"
#include "ga/run/run.h"
#include "ga/session/session.h"

/* The result of a submodule, which is captured before its superproject. */
struct ga_link {
	char *path;             /* in the superproject */
	char *dir;              /* its working tree on the host */
	struct ga_oid tip;      /* tip of its branch agent/<name>; zero: it has none */
	bool told;              /* its own report has something to review */
	bool gone;              /* there is no repository at `dir` to ask about commits */
	const char *lost;       /* for users, why nothing of it was captured; or NULL */
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
	const struct ga_risk_paths *risk; /* the setting `risk`; NULL: nothing is configured */
	const char *config_file; /* path of the user's file, where limits are raised; for
				  * messages */
	/* Callback: the session's base tree, made if need be; `*ret` stays the callee's. */
	int (*open_base)(void *payload, const char **ret, struct ga_error *err);
	/* Callback: a sandbox over the session's layers, without network, for git to run in; made
	 * when the agent's commits or filtered content need it. */
	int (*open_sandbox)(void *payload, struct ga_sandbox **ret, struct ga_error *err);
	void *payload;
	const struct ga_links *links; /* NULL: none */
	const char *const *sandbox_env; /* environment of git commands inside */
	bool progress;                  /* show the progress of long steps on standard error ... */
	int64_t progress_delay_ms;      /* ... once they have taken this long */
	int lock;                       /* descriptor of the session's lock, or -1. The git that
					 * updates refs holds it as well: if we alone are killed,
					 * git continues */
};

/* Capture `s` (the caller holds its lock, and nothing of it runs). Fills s->{tip,held,notes,...},
 * writes refs and report, and saves the state CAPTURED.
 *
 * What a limit keeps out is named in the notes with the limit's key. The report lists these keys;
 * capturing again with higher limits adds the rest. */
int ga_capture(const struct ga_capture_env *e, struct ga_session *s, struct ga_report *ret_report,
	       struct ga_error *err);

/* The tree that a capture would give now, for `diff` of a running session, from the upper alone.
 * Adds what a limit excluded to `notes`. */
int ga_capture_peek(const struct ga_capture_env *e, const struct ga_session *s,
		    struct ga_oid *ret_tree, struct ga_strv *notes, struct ga_error *err);

/* Find the paths that are held whatever the rules say: those that these commits add to the
 * session's base and that the host ignores, or has untracked files at. Of `e`, only repository,
 * configuration and limits are used. Adds to `ret` and sorts it. */
int ga_capture_find_blocked(const struct ga_capture_env *e, struct ga_session *s,
			    const struct ga_oid *commits, size_t n, struct ga_strv *ret,
			    struct ga_error *err);

/* For other importers of an agent's objects and refs: the limits of an import; and a lock (returned
 * as a descriptor) to be held from before the first .keep is made until the refs exist. */
void ga_capture_import_limits(const struct ga_limits *l, struct ga_import_limits *ret);
int ga_capture_lock_keeps(const struct ga_repo *r, struct ga_error *err);
