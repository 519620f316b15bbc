/* SPDX-License-Identifier: MIT
 *
 * The flow of a session: from the user's working tree to a running sandbox, and then to a captured
 * branch.
 */
#pragma once

#include <stdbool.h>

#include "ga/agents/agents.h"
#include "ga/net/net.h"
#include "ga/repo/pool.h"
#include "ga/review/review.h"
#include "ga/run/run.h"
#include "ga/sandbox/sandbox.h"
#include "ga/session/session.h"
#include "ga/view/view.h"

/* A session that does not use the caller's terminal, or can leave it. */
struct ga_detach {
	bool now;               /* detached from the start, or since `leave` */
	unsigned columns, rows; /* size of its terminal */
	/* Called once its command was executed; nothing may be printed afterwards. May be NULL. */
	void (*begun)(const struct ga_session *s, void *payload);
	/* Called when the user typed Ctrl-\ d, with the same rule. May be NULL. */
	void (*leave)(const struct ga_session *s, void *payload);
	void *payload;
};

struct ga_start_opts {
	const char *name;
	const char *message;
	struct ga_view_opts view;
	bool unfiltered; /* see ga/run/run.h */
	const struct ga_detach *detach; /* NULL: use the caller's terminal or streams */
	bool no_setup, no_services, no_finish; /* skip these commands of the settings */
	bool quiet;      /* hide their output */
	bool update;     /* for a resume: merge the user's branch first */
	const char *task; /* first task of the agent, not repeated by a resume; or NULL */
	char **argv;  /* command and arguments */
	size_t argc;
};

/* A populated submodule is a part of the session: a session of the same name in its own repository,
 * which starts, runs and ends with the superproject's. */
struct ga_part;
struct ga_parts {
	struct ga_part *v;
	size_t n, cap;
};

/* The network of a session. */
struct ga_start_net {
	struct ga_net_plan plan; /* for GA_NETWORK_ALLOW */
	struct ga_relay *relay; /* NULL: it needs none */
	int ports;              /* descriptor that reserves its range of ports; -1 */
};

/* Commands that run beside the agent. */
struct ga_start_commands {
	struct ga_strv setup, services, finish;
};

/* A session, from its preparation to its end. */
struct ga_start {
	struct ga_session session;
	int lock;               /* the session's lock, held to the end */
	int home_lock;          /* ga/home/home.h; shared */
	struct ga_base base;
	struct ga_parts parts;
	struct ga_spec spec;
	struct ga_sandbox *sandbox; /* starting, before the agent wrote anything; later ended */
	struct ga_confine confine; /* its limits */
	struct ga_start_net net;
	struct ga_agents_command command;
	bool told;              /* its prompt is in GA_REMARKS_FILE */
	char *update;           /* what to merge first (view.update), for users; NULL */
	char *cwd;              /* directory to start in: the user's current one if it exists
				 * inside */
	char *transcript;       /* file name of its recording, in the session's directory; NULL */
	struct ga_strv banner;  /* decisions, for users, one line each */
	struct ga_strv notes;   /* lines printed after `banner` */
	size_t carried;         /* number of uncommitted paths in the base */
	struct ga_start_commands commands;
	bool unfiltered, quiet;
	bool resumed;           /* by ga_resume() */
	bool stopped;           /* its command was told to end, or was interrupted */
	struct ga_detach detach;
	struct ga_control *control; /* exists from before the run to the end */
};
#define GA_START_INIT \
	{ .session = GA_SESSION_INIT, .lock = -1, .home_lock = -1, .base = GA_BASE_INIT, \
	  .net.ports = -1 }
void ga_start_release(struct ga_start *s);

/* Begin the sandbox for the most likely project, before and while the repository is opened. Uses
 * only the paths of `e`. On failure nothing remains. ga_start_prepare() continues with it, or
 * starts over. */
int ga_start_begin(struct ga_env *e, const char *project, struct ga_start *ret,
		   struct ga_error *err);
/* The same for a program that hands the sandbox over to the next one, as with
 * ga_run_begin_async(). */
int ga_start_begin_beside(struct ga_env *e, const char *project, struct ga_sandbox **ret,
			  struct ga_error *err);
/* Take it over in that next program (ga_run_take_over()). Takes over `begun`. */
int ga_start_begun(struct ga_env *e, const char *project, struct ga_sandbox *begun,
		   bool own_network, struct ga_start *ret, struct ga_error *err);
/* Guess whether this project has its own network, to begin a sandbox before the repository's
 * settings are known. A start whose guess was wrong leaves a note. */
bool ga_start_guess_network(const struct ga_env *e, const char *project);

/* Everything before the agent runs: scan, snapshot, base tree, layers, git dir, the sandbox begun,
 * refs, worktree entry, state NEW. Signals are taken over as ga/run/run.h describes until
 * ga_start_run() returns or `ret` is released. On failure nothing remains. */
int ga_start_prepare(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		     struct ga_error *err);

/* Make the same decisions without creating anything: only `banner` and `argv` are filled. */
int ga_start_plan(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		  struct ga_error *err);

/* Add the names that a new session cannot have: those used by branches below agent/ or by sessions
 * on other machines. */
int ga_start_taken_names(const struct ga_env *e, struct ga_strv *ret, struct ga_error *err);

/* Run the agent until it exits. The state is RUNNING from before anything inside can write until
 * capture. If the sandbox fails to start, the session is discarded; a resumed one is captured
 * instead. */
int ga_start_run(struct ga_env *e, struct ga_start *s, int *ret_status, struct ga_error *err);

/* Turn a session's layers and git dir into commits, refs and a report (`lock` held, nothing
 * running). Before mounting the layers, finish `*ended`, the sandbox that used them (NULL, or a
 * pointer to NULL: none). */
int ga_start_capture(struct ga_env *e, struct ga_session *s, int lock,
		     struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err);

/* Recover a session whose supervisor is gone; the caller holds its lock. A NEW one, which never
 * ran, is removed (returns 1); a RUNNING one becomes INTERRUPTED once all its processes have
 * ended. */
int ga_start_recover(struct ga_env *e, struct ga_session *s, struct ga_error *err);

/* Is there nothing to capture in its layers? In doubt false. */
bool ga_start_is_idle(const struct ga_session *s);

/* Remove a session that never ran: refs, worktree entry, directory. */
int ga_start_discard(struct ga_env *e, struct ga_session *s, struct ga_error *err);

/* A part of a session on disk, valid during one call. */
struct ga_part_at {
	const char *path;           /* in the superproject */
	const char *dir;            /* its working tree on the host */
	struct ga_session *s;       /* NULL: it was dropped */
	int lock;                   /* its lock, if it was asked for, or -1 */
	struct ga_env *env;   /* of its repository; NULL: that does not exist any more ... */
	const struct ga_error *why; /* ... because of this */
};
typedef int ga_part_fn(const struct ga_part_at *at, void *payload, struct ga_error *err);
/* Call `fn` for each part of a session. With `lock`, each part's lock is waited for first (the
 * caller holds the session's own, and nothing runs); without, `at->env` has no git configuration.
 * Does not recurse. A part whose state cannot be read is an error. */
int ga_start_each_part(const struct ga_env *e, const struct ga_session *s, bool lock,
		       ga_part_fn *fn, void *payload, struct ga_error *err);

/* Show a running session and its parts the host's changes in shared directories, also in recreated
 * ones. Secrets are masked as at a start. */
struct ga_control_peer;
int ga_start_refresh(struct ga_env *e, const struct ga_session *s,
		     const struct ga_control_peer *peer, const char *stage_dir,
		     struct ga_error *err);

/* The tree that capture would yield now, for diff; adds to `notes` what a limit skipped. */
int ga_start_peek(struct ga_env *e, const struct ga_session *s, struct ga_oid *ret_tree,
		  struct ga_strv *notes, struct ga_error *err);

/* ---- steps of a start that a resume takes as well, in this order ----------------------------- */

/* Take the commands to run beside the agent into `st`, and how output is shown. */
void ga_start_take_commands(const struct ga_env *e, const struct ga_start_opts *o,
			    struct ga_start *st);
/* Begin the sandbox up to the home, with what the command needs there, unless the right one was
 * begun already. */
int ga_start_begin_home(struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Fail if the disk is so full that the session would be ended at once. */
int ga_start_check_room(const struct ga_env *e, struct ga_error *err);
/* Choose how the limits of a session are enforced, and whether sandboxes can be nested. */
int ga_start_plan_limits(const struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Show generated files: the limits, in place of a control group's files, the user, ssh's
 * configuration, certificates, and the terminal's terminfo entry. */
int ga_start_show_texts(const struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Before the trees are mounted: make the network plan and open the relay; adds their files, sockets
 * and variables to the spec, and lines for the banner to st->notes. */
int ga_start_make_network(struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Enter the sandbox's network, once process 1 exists and before anything else runs inside. */
int ga_start_enter_network(struct ga_start *st, struct ga_error *err);
/* Answer the agent's startup questions, once the environment is known and as far as its project
 * files allow: `b`, and `tree` (NULL: that of b->base). Other questions go to the banner; fails if
 * the agent would ask without a terminal. */
int ga_start_answer(struct ga_env *e, const struct ga_view_base *b, const struct ga_oid *tree,
		    struct ga_start *st, struct ga_error *err);
/* The environment of every git in a sandbox. */
extern const char *const ga_start_git_env[];
/* Add lines on limits and secrets to the banner, of parts too. */
void ga_start_describe_limits(struct ga_start *st);
void ga_start_describe_secrets(const struct ga_view_base *b, struct ga_start *st);
