/* SPDX-License-Identifier: MIT
 *
 * The flow of a session: from the user's working tree to a running sandbox and from there to a
 * captured branch.
 */
#ifndef GA_START_H
#define GA_START_H

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
	bool now;               /* it does not, from the start or since `leave` */
	unsigned columns, rows; /* size of the terminal it gets */
	/* Called when its command was executed; nothing may be printed from then on. NULL: not
	 * called. */
	void (*begun)(const struct ga_session *s, void *payload);
	/* Called when the user typed Ctrl-\ d; the same holds. NULL: that does nothing. */
	void (*leave)(const struct ga_session *s, void *payload);
	void *payload;
};

struct ga_start_opts {
	const char *name;
	const char *message;
	struct ga_view_opts view;
	bool unfiltered; /* see ga/run/run.h */
	const struct ga_detach *detach; /* NULL: it keeps the caller's terminal or streams */
	bool no_setup, no_services, no_finish; /* do without these commands of the settings */
	bool quiet;      /* do not show what they write */
	const struct ga_strv *feedback; /* for a resume: files whose content the agent is given */
	bool update;     /* for a resume: merge the branch of the user's first */
	const char *task; /* given to the agent as its first task, and not again by a resume;
			   * NULL: none */
	char **argv;  /* command and arguments */
	size_t argc;
};

/* A populated submodule is a part of the session: it has a session of its own with the same name,
 * in its own repository, which begins, runs and ends with the superproject's. */
struct ga_part;
struct ga_parts {
	struct ga_part *v;
	size_t n, cap;
};

/* What a session can reach. */
struct ga_start_net {
	struct ga_net_plan plan; /* for GA_NETWORK_ALLOW */
	struct ga_relay *relay; /* NULL: it needs none */
	int ports;              /* descriptor that reserves its range of ports; -1 */
};

/* Commands that run beside the agent. */
struct ga_start_commands {
	struct ga_strv setup, services, finish;
};

/* A session that is ready to run. */
struct ga_start {
	struct ga_session session;
	int lock;               /* the session's lock, held until everything is over */
	int home_lock;          /* ga/home/home.h; shared */
	struct ga_base base;    /* empty for a live session */
	struct ga_parts parts;
	struct ga_spec spec;
	struct ga_sandbox *sandbox; /* starting, with nothing the agent wrote in it yet; later
				     * ended */
	struct ga_confine confine; /* its limits */
	struct ga_start_net net;
	struct ga_agents_command command;
	bool told;              /* it is given what GA_REMARKS_FILE says */
	char *update;           /* what to merge first (view.update), for users; NULL */
	char *cwd;              /* directory to start in: the user's current one if it exists
				 * inside */
	char *transcript;       /* file name of its recording, in the session's directory; NULL */
	struct ga_strv banner;  /* what was decided, for users, one line each */
	struct ga_strv notes;   /* those lines of it that come last */
	size_t carried;         /* number of uncommitted paths in the base */
	struct ga_start_commands commands;
	bool unfiltered, quiet;
	bool resumed;           /* by ga_resume() */
	bool stopped;           /* its command was told to end, or did not run to its end */
	struct ga_detach detach;
	struct ga_live *live;   /* exists from before it runs to the end of everything */
};
#define GA_START_INIT \
	{ .session = GA_SESSION_INIT, .lock = -1, .home_lock = -1, .base = GA_BASE_INIT, \
	  .net.ports = -1 }
void ga_start_release(struct ga_start *s);

/* Begin what is possible before the repository is open, and while it is being opened: the sandbox,
 * for the project that it most likely is. Of `e` only paths are used, no repository. On failure
 * nothing is left of it. ga_start_prepare() continues with it, or starts over. */
int ga_start_begin(struct ga_env *e, const char *project, struct ga_start *ret,
		   struct ga_error *err);
/* The same for a program that hands the sandbox over to the next one, as with
 * ga_run_begin_async(). */
int ga_start_begin_beside(struct ga_env *e, const char *project, struct ga_sandbox **ret,
			  struct ga_error *err);
/* And for that next program (ga_run_take_over()). Takes over `begun`. */
int ga_start_begun(struct ga_env *e, const char *project, struct ga_sandbox *begun,
		   bool own_network, struct ga_start *ret, struct ga_error *err);
/* For beginning a sandbox before the settings of a repository are known: does this project most
 * likely have a network of its own? A start that found it otherwise has left a note. */
bool ga_start_guess_network(const struct ga_env *e, const char *project);

/* Everything before the agent runs: scan, snapshot, base tree, layers, git dir, the sandbox begun,
 * refs, worktree entry, state NEW. Signals are taken over as ga/run/run.h describes until
 * ga_start_run() returns or `ret` is released. On failure nothing is left behind. */
int ga_start_prepare(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		     struct ga_error *err);

/* Make the same decisions without creating anything: only `banner` and `argv` are filled. */
int ga_start_plan(struct ga_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		  struct ga_error *err);

/* Add the names that a new session cannot have: those that branches below agent/ or sessions on
 * other machines have. */
int ga_start_taken_names(const struct ga_env *e, struct ga_strv *ret, struct ga_error *err);

/* Run the agent to its end. The state is RUNNING from before anything inside could write, until
 * capture. If the sandbox could not be started, the session is discarded, unless it was resumed:
 * then capture brings what there was. */
int ga_start_run(struct ga_env *e, struct ga_start *s, int *ret_status, struct ga_error *err);

/* Turn what a session left into commits, refs and a report (`lock` held, nothing running). If its
 * layers have to be mounted, `*ended`, the sandbox that used them, is finished first (NULL, or a
 * pointer to NULL: there is none). */
int ga_start_capture(struct ga_env *e, struct ga_session *s, int lock,
		     struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err);

/* Recover a session found on disk whose lock was free and is now held by the caller: a NEW one,
 * which never ran, is removed (returns 1); a RUNNING one gets state INTERRUPTED once nothing of it
 * is alive. */
int ga_start_recover(struct ga_env *e, struct ga_session *s, struct ga_error *err);

/* Do its layers have nothing to capture? In doubt they do. */
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
	const struct ga_error *why; /* ... for this reason */
};
typedef int ga_part_fn(const struct ga_part_at *at, void *payload, struct ga_error *err);
/* Call `fn` for each part of a session. With `lock`, each part's lock is waited for first (the
 * caller holds the session's own, and nothing runs); without, `at->env` has no git configuration.
 * Parts of parts are up to `fn`. A part whose state cannot be read is an error. */
int ga_start_each_part(const struct ga_env *e, const struct ga_session *s, bool lock,
		       ga_part_fn *fn, void *payload, struct ga_error *err);

/* Make a running session and its parts see what the host replaced in the shared directories, and
 * shared directories that were themselves recreated. Secrets are masked there as at a start. */
struct ga_live_peer;
int ga_start_refresh(struct ga_env *e, const struct ga_session *s, const struct ga_live_peer *peer,
		     const char *stage_dir, struct ga_error *err);

/* The tree that capture would yield now, for diff; adds to `notes` what a limit kept out of it. */
int ga_start_peek(struct ga_env *e, const struct ga_session *s, struct ga_oid *ret_tree,
		  struct ga_strv *notes, struct ga_error *err);

/* ---- steps of a start that a resume takes as well, in this order ----------------------------- */

/* Take the commands to run beside the agent into `st`, and how output is shown. */
void ga_start_take_commands(const struct ga_env *e, const struct ga_start_opts *o,
			    struct ga_start *st);
/* Begin the sandbox, unless it was begun already and is the right one, up to the home with what the
 * command needs there. */
int ga_start_begin_home(struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Fail if the disk is so full that the session would be ended at once. */
int ga_start_check_room(const struct ga_env *e, struct ga_error *err);
/* Plan how the limits of a session are enforced, and whether sandboxes can be nested. */
int ga_start_plan_limits(const struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Show what is made for the session: those limits, where programs look for a control group's, the
 * user, ssh's configuration, certificates, and the description of the terminal. */
int ga_start_show_texts(const struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Before the trees are mounted: make the plan and open the relay; the spec gets what they need of
 * files, sockets and variables, and st->notes lines for the banner. */
int ga_start_make_network(struct ga_env *e, struct ga_start *st, struct ga_error *err);
/* Enter the sandbox's network, once process 1 is there and before anything else runs inside. */
int ga_start_enter_network(struct ga_start *st, struct ga_error *err);
/* Once the environment is known: answer what the agent asks before it begins, as far as what it
 * will see allows: `b`, and `tree` (NULL: that of b->base). What is not answered goes to the
 * banner; fails if nobody would see the question. */
int ga_start_answer(struct ga_env *e, const struct ga_view_base *b, const struct ga_oid *tree,
		    struct ga_start *st, struct ga_error *err);
/* The environment of git in a sandbox, but for what one command needs. */
extern const char *const ga_start_git_env[];
/* Add lines on the limits to the banner, and on secrets, of parts too. */
void ga_start_describe_limits(struct ga_start *st);
void ga_start_describe_secrets(const struct ga_view_base *b, struct ga_start *st);

#endif
