/* SPDX-License-Identifier: MIT
 *
 * The flow of a session: from the user's working tree to a running sandbox and
 * from there to a captured branch.
 */
#ifndef GA_START_H
#define GA_START_H

#include <stdbool.h>

#include "ga/config.h"
#include "ga/confine.h"
#include "ga/error.h"
#include "ga/net.h"
#include "ga/pool.h"
#include "ga/preset.h"
#include "ga/repo.h"
#include "ga/report.h"
#include "ga/run.h"
#include "ga/sandbox.h"
#include "ga/session.h"
#include "ga/strv.h"

/* What a session can reach, as it is configured. The lists are borrowed. */
struct ga_start_network {
	enum ga_network mode;
	const struct ga_strv *allow, *sockets, *publish; /* as in struct ga_config; NULL: none */
	const char *allow_at; /* where `allow` is set, if not for `mode`, and nobody said so; or
			       * NULL */
	const struct ga_strv *options; /* what of it the command line said, as KEY=VALUE; NULL */
	bool by_repository; /* its file made `mode` stricter than the user's settings */
	bool learn;         /* reach all, by a network of its own, and list that; no other mode */
};

/* What the flows need to know of the host; filled by the command line. */
struct ga_start_env {
	struct ga_repo *repo;
	struct ga_gitconfig config;
	struct ga_gitconfig_load *loading; /* see ga_start_config(); NULL once it is read */
	char *state_root;           /* of all repositories */
	char *state_dir;            /* of this one, below it */
	char *home;                 /* the real $HOME, resolved */
	char *path;                 /* $PATH */
	char *agent_home;           /* shown in its place: ~/aihome, or what is configured */
	enum ga_home_mode home_mode; /* of the session at hand */
	struct ga_presets agents;   /* of the user's own */
	struct ga_strv tools;       /* absolute paths of more directories with programs */
	struct ga_strv mounts_ro, mounts_rw; /* ... and of directories to be shown, as configured */
	struct ga_strv env_pass, env_set; /* names of the host's variables, and NAME=VALUE */
	struct ga_limits limits;    /* of captures, as the session at hand is configured */
	struct ga_risk_paths risk;  /* paths that are flagged otherwise, as it is configured ... */
	struct ga_risk_paths risk_own; /* ... and of submodules: by the user alone */
	struct ga_use_limits use;   /* what a session may use */
	uint64_t disk_free;         /* bytes that a session leaves to others */
	uint64_t transcript;        /* bytes of a recording; 0: sessions are not recorded */
	struct ga_start_network net; /* of the session at hand */
	bool renames;               /* of directories are served inside */
	bool nested;                /* sandboxes can be made in the session at hand */
	const char *config_file;    /* the user's, for messages; borrowed */
	char *stage, *init;         /* absolute paths of the two helpers */
	char *bwrap;                /* found on demand; NULL before */
	const char *const *environ; /* the host's environment */
	bool progress;              /* long steps say how far they are, on standard error ... */
	int64_t progress_delay_ms;  /* ... those of ours once they took longer than that */
};

/* Wait for the host's git configuration, which git reads while a start does other
 * things. Nothing to do if it is there. */
int ga_start_config(struct ga_start_env *e, struct ga_error *err);

/* A session without a terminal of the caller's. */
struct ga_detach {
	unsigned columns, rows; /* of the terminal it gets */
	/* its command was executed: nothing is said from here on */
	void (*begun)(const struct ga_session *s, void *payload);
	void *payload;
};

struct ga_start_opts {
	const char *name;
	const char *base_rev;
	const char *message;
	bool live;
	enum ga_dirty dirty;
	bool hide_ignored; /* show no ignored file, instead of all or what .worktreeinclude lists */
	bool unfiltered; /* see ga/run.h */
	const struct ga_detach *detach; /* NULL: it has the caller's terminal or streams */
	enum ga_secrets secrets;
	const struct ga_strv *secrets_add, *secrets_allow; /* patterns, as ga/secret.h has them */
	const struct ga_strv *expose; /* absolute paths that are shown all the same */
	/* as ga/service.h has them; NULL: none */
	const struct ga_strv *setup, *services, *finish;
	bool no_setup, no_services, no_finish; /* without these all the same */
	bool quiet;      /* what they write is not shown */
	const struct ga_strv *feedback; /* of a resume: files whose bytes the agent is given */
	char **argv;  /* command and arguments */
	size_t argc;
};

/* A populated submodule is a part of the session: it has a session of its own, of the same name,
 * in its own repository, which begins, runs and ends with the superproject's. */
struct ga_part;

/* A session made ready to run. */
struct ga_start {
	struct ga_session session;
	int lock;               /* the session's lock, held until everything is over */
	int home_lock;          /* ga/home.h; shared */
	struct ga_base base;    /* empty for a live session */
	struct ga_part *parts;
	size_t n_parts, cap_parts;
	struct ga_spec spec;
	struct ga_sandbox *sandbox; /* coming up, nothing of the agent's in it yet; then ended */
	struct ga_confine confine; /* what it may use */
	struct ga_net_plan plan; /* what it can reach, with GA_NETWORK_ALLOW or to learn that */
	struct ga_relay *relay; /* NULL: it needs none */
	int ports;              /* holds its range of ports; -1 */
	const struct ga_preset *preset; /* of the command, or NULL; of ga_start_env, or built in */
	struct ga_strv argv;    /* command with the preset's flags */
	char *own;              /* the program inside that is run in place of its first word
				 * (ga/agents.h); NULL: PATH says */
	char *cwd;              /* to start in: where the user stands, if that is there inside */
	char *transcript;       /* what it was recorded in, in the session's directory; NULL */
	struct ga_strv banner;  /* what was decided, for people, line by line */
	struct ga_strv notes;   /* what of it is for the end of the banner */
	size_t carried;         /* uncommitted paths in the base */
	struct ga_strv setup, services, finish; /* what runs beside the agent, if anything */
	bool unfiltered, quiet;
	bool resumed;           /* by ga_start_resume() */
	struct ga_detach detach; /* `begun` NULL: it is not */
	struct ga_live *live;   /* from before it runs to the end of all */
};
#define GA_START_INIT \
	{ .session = GA_SESSION_INIT, .lock = -1, .home_lock = -1, .base = GA_BASE_INIT, \
	  .ports = -1 }
void ga_start_release(struct ga_start *s);

/* What can be begun before the repository is open, and while it is: the sandbox, for the project
 * that it most likely is. Of `e` only paths count, no repository. On failure nothing is left of
 * it; ga_start_prepare() goes on with it, or begins anew. */
int ga_start_begin(struct ga_start_env *e, const char *project, struct ga_start *ret,
		   struct ga_error *err);
/* The same for a program that hands it over to the next: as ga_run_begin_beside() says. */
int ga_start_begin_beside(struct ga_start_env *e, const char *project, struct ga_sandbox **ret,
			  struct ga_error *err);
/* And for that next one (ga_run_take_over()). Takes over `begun`. */
int ga_start_begun(struct ga_start_env *e, const char *project, struct ga_sandbox *begun,
		   bool own_network, struct ga_start *ret, struct ga_error *err);
/* For who begins a sandbox before the settings of a repository are known: does it most likely have
 * a network of its own? A start that found it to be otherwise has left word. */
bool ga_start_guess_network(const struct ga_start_env *e, const char *project);

/* Everything before the agent: scan, snapshot, base tree, layers, git dir, the
 * sandbox begun, refs, worktree entry, state NEW. Signals are taken over as ga/run.h says
 * until ga_start_run() returns or `ret` is released. On failure nothing is left behind. */
int ga_start_prepare(struct ga_start_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		     struct ga_error *err);

/* The same decisions without making anything: `banner` and `argv` are filled. */
int ga_start_plan(struct ga_start_env *e, const struct ga_start_opts *o, struct ga_start *ret,
		  struct ga_error *err);

/* The same for a session that was captured: the same layers, in which git inside has brought what
 * was done to the branch on the host since, and with the branch as its private HEAD. `o` says no
 * more than command (`argc` 0: its own again), message, secrets, feedback and filter. Takes over
 * `s` and its lock. On failure the session is as it was, or its layers have some of that. */
#define GA_FEEDBACK_MAX ((size_t)1 << 20) /* bytes of all files */
int ga_start_resume(struct ga_start_env *e, const struct ga_start_opts *o, struct ga_session *s,
		    int *lock, struct ga_start *ret, struct ga_error *err);

/* Where the user stands, if that is in the project; or its root. Caller frees. */
char *ga_start_cwd(const char *project);

/* Run the agent to its end. The state is RUNNING from before anything inside
 * could write until capture. If the sandbox could not be started the session is discarded, unless
 * it was resumed: capture gives what there was. */
int ga_start_run(struct ga_start_env *e, struct ga_start *s, int *ret_status, struct ga_error *err);

/* Turn what a session left into commits, refs and a report (`lock` held, nothing running). Should
 * its layers have to be mounted, `*ended`, the sandbox they were used in, is finished first (NULL,
 * or a pointer to NULL: there is none). */
int ga_start_capture(struct ga_start_env *e, struct ga_session *s, int lock,
		     struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err);

/* A session found on disk whose lock is free (now held by the caller): NEW ones that never ran are
 * removed (1); RUNNING ones get state INTERRUPTED once nothing of them is alive. */
int ga_start_recover(struct ga_start_env *e, struct ga_session *s, struct ga_error *err);

/* Remove a session that never ran: refs, worktree entry, directory. */
int ga_start_discard(struct ga_start_env *e, struct ga_session *s, struct ga_error *err);

/* A part of a session on disk, as long as a call lasts. */
struct ga_part_at {
	const char *path;           /* in the superproject */
	const char *dir;            /* its working tree on the host */
	struct ga_session *s;       /* NULL: it was dropped */
	int lock;                   /* its lock, if that was asked for, or -1 */
	struct ga_start_env *env;   /* of its repository; NULL: that is not there any more ... */
	const struct ga_error *why; /* ... for this reason */
};
typedef int ga_part_fn(const struct ga_part_at *at, void *payload, struct ga_error *err);
/* Call `fn` for each part of a session, with `lock` waiting for its lock first (then the
 * session's own is held and nothing runs); without, the environment has no configuration. Parts
 * of parts are left to `fn`. A part whose state cannot be read is an error. */
int ga_start_each_part(const struct ga_start_env *e, const struct ga_session *s, bool lock,
		       ga_part_fn *fn, void *payload, struct ga_error *err);

/* Show a running session, and its parts, what the host replaced in the directories that it shares,
 * and those of them that were themselves made anew. Of `o` only what it says of secrets counts:
 * they are kept out of these as at a start. */
struct ga_live_peer;
int ga_start_refresh(struct ga_start_env *e, const struct ga_start_opts *o,
		     const struct ga_session *s, const struct ga_live_peer *peer,
		     const char *stage_dir, struct ga_error *err);

/* The tree a session would be captured as now, for diff; `notes` (added to): what a limit kept out
 * of it. */
int ga_start_peek(struct ga_start_env *e, const struct ga_session *s, struct ga_oid *ret_tree,
		  struct ga_strv *notes, struct ga_error *err);

#endif
