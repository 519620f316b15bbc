/* SPDX-License-Identifier: MIT */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "cli.h"
#include "ga/live.h"

/* One session by name, settled: 0 (locked), 1 there is none (any more), 2 it runs or is busy. With
 * `capture` another command that has it for a moment is waited for, and an interrupted session is
 * captured; else it stays GA_STATE_INTERRUPTED. */
int cli_load_session(struct cli *c, const char *name, bool capture, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err);

/* Does it run, or begin to? What another command has locked need not. */
bool cli_is_running(const struct ga_session *s);

/* Capture an interrupted session (locked), saying so. */
int cli_capture_interrupted(struct cli *c, struct ga_session *s, int lock, struct ga_error *err);

/* One that is locked is LANDED where its work has arrived, however that came, and CAPTURED where
 * it is not, or not any more; what changed is saved. */
int cli_notice_landed(struct cli *c, struct ga_session *s, struct ga_error *err);

/* The object list and show print; `r` may be NULL, and `peer`, one that answered. */
json_t *cli_session_json(const struct ga_session *s, bool running, const struct ga_report *r,
			 const struct ga_live_peer *peer);

/* Is there anything in it that landing could bring? */
bool cli_has_work(const struct ga_session *s);

/* "1 critical (held back), 2 high", and "1 accepted, 1 rejected"; empty: none. Caller frees. */
char *cli_flag_counts(const struct ga_report *r);
char *cli_verdict_counts(const struct ga_report *r);

/* Did the agent leave branches of its own, or a stash? 1 yes. */
int cli_kept_refs(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Is anything of it in the session alone, landed or not? 1: a limit kept it away from the capture;
 * 2: commits may be in its own repository, of which `*ret_why` (owned; may be NULL) says more. */
int cli_kept_away(struct ga_repo *r, const struct ga_session *s, char **ret_why,
		  struct ga_error *err);

/* Is there anything in it that is nowhere else? 1 yes. */
int cli_unlanded(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* The working tree of the first submodule whose part of the session has such work, or may have:
 * `*ret_dir`, NULL if there is none. Caller frees. */
int cli_part_work(const struct ga_start_env *e, const struct ga_session *s, char **ret_dir,
		  struct ga_error *err);

/* ga_land_check_over() of a session and of what is a part of it. */
int cli_check_over(const struct ga_start_env *e, struct ga_session *s, struct ga_error *err);

/* May the branch land, as far as submodules go? Open flags of their own are in the way, and a
 * pointer to a commit that is on no branch, or that nobody can look at. */
int cli_check_parts(const struct ga_start_env *e, const struct ga_session *s, struct ga_error *err);
/* Once it has, say what is to be done in them. */
int cli_say_parts(const struct ga_start_env *e, const struct ga_session *s, struct ga_error *err);

/* Drop a session that has ended if 'git agent drop' would without --force, and all of it was
 * captured; else say why it stays. */
int cli_drop_if_empty(struct cli *c, const char *name, bool quiet, struct ga_error *err);

/* Move a session, locked, to the trash, with those of its submodules. As ga_trash_session(). */
int cli_trash(struct ga_start_env *e, struct ga_session *s, char **ret_where,
	      struct ga_error *err);

/* The options of commands that are on a terminal and about a session that is there. */
struct cli_terminal_options {
	const char *filter;
	bool quiet;
};
#define CLI_TERMINAL_OPTS 2
extern const struct cli_opt cli_terminal_opts[CLI_TERMINAL_OPTS];

/* --terminal-filter. */
struct cli_filter {
	bool given;
	bool off;
};
/* Its VALUE (NULL: not given); where the session has no terminal it is `attach`'s. */
int cli_parse_filter(const char *value, bool detach, struct cli_filter *ret, struct ga_error *err);
/* Of a session that runs: what was given counts more than the settings. */
int cli_session_unfiltered(struct cli *c, const struct cli_filter *f, const struct ga_session *s,
			   bool *ret, struct ga_error *err);

/* --network, --no-network and --allow, as both have them; --learn is start's alone. */
struct cli_network {
	const char *mode;
	struct ga_strv allow;
	bool none, learn;
};
/* What starting and resuming are told alike, and the rows of their tables for it: `type` has it as
 * its member `in`. */
struct cli_run_options {
	struct ga_strv expose;
	struct cli_network net;
	const char *message, *filter;
	bool no_services, no_finish, detach, untrusted, quiet, verbose;
};
#define CLI_RUN_OPTS(type, in)                                                          \
	{ "expose", 0, CLI_LIST, "PATH", "show this file although it is a secret (repeatable)", \
	  offsetof(type, in.expose) },                                                  \
	{ "network", 0, CLI_VALUE, "host|allow|none",                                   \
	  "what it can reach: host (all that you can), allow (what is listed), none",   \
	  offsetof(type, in.net.mode) },                                                \
	{ "allow", 0, CLI_LIST, "HOST:PORT",                                            \
	  "it can reach this, and else what is listed: --network allow (repeatable)",   \
	  offsetof(type, in.net.allow) },                                               \
	{ "no-network", 0, CLI_FLAG, NULL, "the same as --network none",                \
	  offsetof(type, in.net.none) },                                                \
	{ "no-services", 0, CLI_FLAG, NULL, "without the commands of 'services'",       \
	  offsetof(type, in.no_services) },                                             \
	{ "no-finish", 0, CLI_FLAG, NULL, "without those of 'finish'",                  \
	  offsetof(type, in.no_finish) },                                               \
	{ "detach", 'd', CLI_FLAG, NULL,                                                \
	  "go on without this terminal: print the name and return",                     \
	  offsetof(type, in.detach) },                                                  \
	{ "message", 'm', CLI_VALUE, "MSG",                                             \
	  "message of the commit made of what the agent leaves uncommitted",            \
	  offsetof(type, in.message) },                                                 \
	{ "terminal-filter", 0, CLI_VALUE, "on|off",                                    \
	  "sequences that reach beyond the terminal's window: on (default) drops them, or off", \
	  offsetof(type, in.filter) },                                                  \
	{ "untrusted", 0, CLI_FLAG, NULL, "leave out what needs trust in .agentdev.yaml", \
	  offsetof(type, in.untrusted) },                                               \
	{ "quiet", 'q', CLI_FLAG, NULL, "print only errors", offsetof(type, in.quiet) },  \
	{ "verbose", 'v', CLI_FLAG, NULL, "say how far long steps are, terminal or not", \
	  offsetof(type, in.verbose) }

/* Into `conf`, and as KEY=VALUE into `ret`; without any of them what `former` says (NULL:
 * nothing). */
int cli_set_network(const struct cli_network *o, const struct ga_strv *former,
		    struct ga_config *conf, struct ga_strv *ret, struct ga_error *err);
/* Print what a service of it wrote. */
int cli_service_log(const struct ga_session *s, const char *name, struct ga_error *err);

/* What starting and resuming one have in common: the settings; the files of --expose as absolute
 * paths, added to `ret`; what is said and set before; and the agent, then what it did. */
void cli_settle(struct cli *c, const struct ga_config *conf, const struct cli_filter *filter,
		struct ga_start_opts *ret);
/* Of these, what it can reach: before the options of the command line are in `conf`, and then. */
void cli_settle_network(struct cli *c, const struct cli_network *o, const struct ga_config *conf,
			const struct ga_strv *options);
int cli_find_exposed(struct cli *c, const struct ga_strv *paths, struct ga_strv *ret,
		     struct ga_error *err);
void cli_before_run(struct cli *c, bool quiet);
/* Decide whether long steps say how far they are: on a terminal unless quiet, always if verbose. */
void cli_show_progress(struct cli *c, bool quiet);
int cli_resume_session(struct cli *c, const char *name, const struct ga_start_opts *how,
		       const struct cli_filter *filter, const struct ga_strv *exposed,
		       const struct cli_network *o, bool quiet, int *ret_status,
		       struct ga_error *err);
int cli_run_and_capture(struct cli *c, struct ga_start *st, bool quiet, int *ret_status,
			struct ga_error *err);

/* A session that goes on without us: from here on there are two processes. In the one the command
 * continues (0), with `ret` for ga_start_opts; once its session's command was executed it
 * has no terminal, and says nothing. The other (1), which is what the user called, waits for
 * that or for its end, of which `*ret_status` is the exit status, and prints the name. */
struct cli_detach {
	struct ga_detach how;
	int fd; /* where the name goes */
	bool quiet, left;
};
int cli_detach(struct cli *c, bool quiet, struct cli_detach *ret, int *ret_status,
	       struct ga_error *err);
/* Take over what starting and resuming are told alike and does not depend on settings, and detach
 * where that was asked for, by `detach` (NULL: it is not done), which `so` borrows. 1: the session
 * is another process's now. */
int cli_take_run(struct cli *c, const struct cli_run_options *o, struct cli_detach *detach,
		 struct ga_start_opts *so, struct cli_filter *ret_filter, int *ret_status,
		 struct ga_error *err);

/* A session that runs, or has ended. 0: it runs, and `peer` is connected; 1: it has ended, and is
 * locked, or another command has it (*ret_lock -1). 2: neither within that time (-1: for ever). */
int cli_pick_live(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_live_peer *peer, struct ga_error *err);
/* The names of those of which this is true; `running`: or busy, cli_load_session()'s 2. */
int cli_sessions_where(struct cli *c, bool (*is)(const struct ga_session *s, bool running),
		       struct ga_strv *ret, struct ga_error *err);
/* How one that runs says that it is; `ret` is not connected if it does not say. */
void cli_look_live(const struct ga_session *s, struct ga_live_peer *ret);
/* Does it run, or is it about to? For one that somebody holds the lock of. */
bool cli_is_live(const struct ga_session *s);
/* One that is wanted running, and that it is not. */
int cli_pick_running(struct cli *c, const char *name, struct ga_session *ret,
		     struct ga_live_peer *peer, struct ga_error *err);
/* Wait until a session, connected, is over and done with. As cli_pick_live() without 0. */
int cli_wait_over(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_live_peer *peer, struct ga_error *err);
/* "--timeout 10", in milliseconds; NULL: `otherwise`. */
int cli_parse_timeout(const char *value, int otherwise, int *ret, struct ga_error *err);

/* Tell the user that a session without a terminal has ended, as configured; `r` NULL: it could not
 * be captured. Releases `st`. */
void cli_notify(const struct cli *c, struct ga_start *st, const struct ga_report *r);

/* What happened in a captured session, in a few lines on `f`, with the next command to type. */
int cli_summary(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		struct ga_error *err);

#endif
