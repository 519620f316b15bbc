/* SPDX-License-Identifier: MIT */
#ifndef SESSIONS_H
#define SESSIONS_H

#include "cli.h"
#include "ga/run/live.h"

/* A name as the command line has it, without the "agent/" of the branch that people see. */
const char *cli_plain_name(const char *word);

/* Load and lock a session by name: 0; 1: there is none (any more); 2: it runs, or another command
 * holds its lock, and it is not locked. With `capture`, a command that holds the lock for a moment
 * is waited for, and an interrupted session is captured; else it stays GA_STATE_INTERRUPTED. */
int cli_load_session(struct cli *c, const char *name, bool capture, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err);

/* Does it run, or begin to? The processes are looked at: a session with that state whose lock is
 * held need not. */
bool cli_is_running(const struct ga_session *s);

/* Capture an interrupted session (locked), saying so. */
int cli_capture_interrupted(struct cli *c, struct ga_session *s, int lock, struct ga_error *err);

/* Set the state of a locked session to LANDED if its work has arrived, by whatever way, and to
 * CAPTURED if it has not, or was taken back; a change is saved and noted in its journal. */
int cli_notice_landed(struct cli *c, struct ga_session *s, struct ga_error *err);

/* The JSON object of a session, for list, show and fetch. `r` and `peer` may be NULL; `peer` is its
 * supervisor, if that answered. */
json_t *cli_session_json(const struct ga_session *s, bool running, const struct ga_report *r,
			 const struct ga_live_peer *peer);

/* Does it have anything that landing could bring? */
bool cli_has_work(const struct ga_session *s);

/* "1 critical (held), 2 high", and "1 accepted, 1 rejected"; "" if there are none. Caller
 * frees. */
char *cli_flag_counts(const struct ga_report *r);
char *cli_verdict_counts(const struct ga_report *r);

/* Did the agent leave branches of its own, a stash or commits on no branch, and no branch of the
 * user's has them? 1 yes: `*ret_ref` (caller frees) is the first such ref. With `ret_ref` NULL git
 * is not asked about branches of the user's. */
int cli_kept_refs(struct ga_repo *r, const struct ga_session *s, char **ret_ref,
		  struct ga_error *err);

/* Is there anything that a capture did not bring? 1: a limit kept it away; 2: commits may be only
 * in the session's own repository, and `*ret_why` (`ret_why` may be NULL; caller frees) says more.
 */
int cli_kept_away(struct ga_repo *r, const struct ga_session *s, char **ret_why,
		  struct ga_error *err);

/* Would dropping it lose work that has not landed, or is held or left out? 1 yes; 2: it has landed
 * where no branch is. */
int cli_unlanded(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* The working tree of the first submodule whose part of the session would lose anything, by the
 * three functions above, or cannot be looked at: `*ret_dir`, NULL if there is none. Caller
 * frees. */
int cli_part_work(const struct ga_env *e, const struct ga_session *s, char **ret_dir,
		  struct ga_error *err);

/* ga_land_check_over() of a session and of its submodules' parts. */
int cli_check_over(const struct ga_env *e, struct ga_session *s, struct ga_error *err);

/* May the branch land, as far as submodules go? Not while one has open flags of its own, or if it
 * moves one to a commit that is on no branch there, or that cannot be looked at. */
int cli_check_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err);
/* After landing, say what is left to be done in the submodules. */
int cli_say_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err);

/* Move a locked session that has ended to the trash, if all of it was captured and it left nothing
 * at all; with --rm also if 'git agent drop' would need no --force, else say why it stays. True:
 * its state is DROPPED. `*ret_left`: it left files behind. */
bool cli_drop_at_end(struct cli *c, struct ga_session *s, bool *ret_left);
void cli_say_dropped(const struct ga_session *s, bool left);
/* Refuse to drop what would lose work, in a submodule too. */
int cli_check_work(struct cli *c, struct ga_session *s, struct ga_error *err);
/* Restore a session behind its parts (of `whole_or_null`), found through it. 1: there is none. */
int cli_restore(const struct ga_env *e, const char *name,
		const struct ga_session *whole_or_null, struct ga_error *err);
/* Restore a session (NULL: none), if there is none of that name but one in the trash. */
int cli_restore_trashed(struct cli *c, const char *name, struct ga_error *err);

/* If a drop of the session was interrupted, bring it to its end, and say so. Returns 1 then, 0 if
 * there was none. */
int cli_finish_drop(struct cli *c, const char *name, struct ga_error *err);

/* Move a locked session to the trash, with its submodules' parts. As ga_trash_session(). */
int cli_trash(struct ga_env *e, struct ga_session *s, char **ret_where, struct ga_error *err);

#define CLI_VALUE_FILTER(member) \
	CLI_VALUE(member, "terminal-filter", 0, "on|off", \
		  "whether to drop escape sequences that reach beyond the window (default: on)")
struct cli_filter {
	bool given;
	bool off;
};
/* Parse its VALUE (NULL: not given). With `detach` giving it is an error, as there is no terminal.
 */
int cli_parse_filter(const char *value, bool detach, struct cli_filter *ret, struct ga_error *err);
/* Is the terminal of a running session to be shown unfiltered? The option overrides the setting. */
int cli_session_unfiltered(struct cli *c, const struct cli_filter *f, const struct ga_session *s,
			   bool *ret, struct ga_error *err);

/* --network, --no-network and --allow of start and resume. */
struct cli_network {
	const char *mode;
	struct ga_strv allow;
	bool none;
};
/* The options that start and resume have in common, and CLI_RUN_OPTS, their rows in the tables of
 * the commands: `in` is the member of struct options that has them. */
struct cli_run_options {
	struct ga_strv expose;
	struct cli_network net;
	const char *message, *filter;
	bool no_services, no_finish, detach, keep, untrusted, quiet, verbose;
};
#define CLI_RUN_OPTS(in) \
	CLI_VALUE(in.expose, "expose", 0, "PATH", \
		  "show this file although it is a secret (repeatable)"), \
	CLI_VALUE(in.net.mode, "network", 0, "host|allow|none", \
		  "what the session can reach: all that you can (default), what is listed, " \
		  "or nothing"), \
	CLI_VALUE(in.net.allow, "allow", 0, "HOST:PORT", \
		  "let the session reach this; implies --network allow (repeatable)"), \
	CLI_FLAG(in.net.none, "no-network", 0, "the same as --network none"), \
	CLI_FLAG(in.no_services, "no-services", 0, "skip the commands of 'services'"), \
	CLI_FLAG(in.no_finish, "no-finish", 0, "skip those of 'finish'"), \
	CLI_FLAG(in.detach, "detach", 'd', \
		 "run in the background: print the session's name and return"), \
	CLI_FLAG(in.keep, "keep", 0, "keep the session even if it changed nothing"), \
	CLI_VALUE(in.message, "message", 'm', "MSG", \
		  "message of the commit with what the agent leaves uncommitted"), \
	CLI_VALUE_FILTER(in.filter), \
	CLI_FLAG(in.untrusted, "untrusted", 0, \
		 "leave out settings in .agentdev.yaml that need trust"), \
	CLI_FLAG_QUIET(in.quiet), \
	CLI_FLAG(in.verbose, "verbose", 'v', "show progress, even if not on a terminal")

/* Apply them to `conf`, and add them to `ret` as KEY=VALUE. If none was given, those in `former`
 * (NULL: none) are applied and added. */
int cli_set_network(const struct cli_network *o, const struct ga_strv *former,
		    struct ga_config *conf, struct ga_strv *ret, struct ga_error *err);
/* Print what a service of it wrote. */
int cli_service_log(const struct ga_session *s, const char *name, struct ga_error *err);

/* The steps of starting and resuming, in this order. Take the settings into the context and `ret`,
 * which borrow from `conf`. */
void cli_apply_settings(struct cli *c, const struct ga_config *conf,
			const struct cli_filter *filter, struct ga_start_opts *ret);
/* The same for what it can reach, after cli_set_network(); `options` are the KEY=VALUE of that. */
void cli_apply_network(struct cli *c, const struct ga_config *conf, const struct ga_strv *options);
/* Add the files of --expose to `ret`, as absolute paths. */
int cli_find_exposed(struct cli *c, const struct ga_strv *paths, struct ga_strv *ret,
		     struct ga_error *err);
/* Warn about running as root, and cli_show_progress(). */
void cli_before_run(struct cli *c, bool quiet);
/* Decide whether long steps say how far they are: on a terminal unless quiet, always if verbose. */
void cli_show_progress(struct cli *c, bool quiet);
/* Resume a session with `how`, and the rest up to its summary. `exposed` and `o` may be NULL. */
int cli_resume_session(struct cli *c, const char *name, const struct ga_start_opts *how,
		       const struct cli_filter *filter, const struct ga_strv *exposed,
		       const struct cli_network *o, bool quiet, struct ga_error *err);
/* Run what was made ready, capture it, and say what it did; without a terminal, notify instead. */
int cli_run_and_capture(struct cli *c, struct ga_start *st, bool quiet, struct ga_error *err);

/* Fork into two processes. In the child, the supervisor, the command goes on (0), with `ret->how`
 * for ga_start_opts; once the agent runs, it has left the terminal and says nothing any more. The
 * parent, which the user called, waits for that and prints the session's name, or for the child's
 * end, and then the exit status is its; either way it has nothing more to do (1). */
struct cli_detach {
	struct ga_detach how;
	int fd;    /* in the child: where the name goes */
	bool left; /* it has left the terminal */
};
int cli_detach(struct cli *c, bool quiet, struct cli_detach *ret, struct ga_error *err);
/* The same for a session on a terminal, which leaves it when the user types Ctrl-\ d: then the
 * process that git-agent made for that (CLI_KEEPER) ends. Without one it stays. */
void cli_may_leave(const struct cli *c, struct cli_detach *ret);
/* Take over those of the common options that do not depend on settings, and with --detach call
 * cli_detach(); `so` borrows `detach` (NULL: do not). 1: this is the parent, and has nothing more
 * to do. */
int cli_take_run(struct cli *c, const struct cli_run_options *o, struct cli_detach *detach,
		 struct ga_start_opts *so, struct cli_filter *ret_filter, struct ga_error *err);

/* How long a session may take until it runs, or its supervisor until it has ended. */
#define CLI_COME_UP_MS 10000
/* Pick a session that runs, or has ended. 0: it runs, and `peer` is connected; 1: it has ended, and
 * is locked, or another command holds its lock (`*ret_lock` -1); 2: neither within `ms` (-1: wait
 * for ever). */
int cli_pick_live(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_live_peer *peer, struct ga_error *err);
/* Is there no session of that name, but one in the trash? It is read into `ret`. */
bool cli_find_trashed(struct cli *c, const char *name, struct ga_session *ret);
/* Fail if there is no session of one of the names, before anything is done about the others. */
int cli_check_names(struct cli *c, size_t n, char **names, struct ga_error *err);
/* Add the names of the sessions for which `is` returns true. `running`: it runs, or another command
 * holds its lock (2 of cli_load_session()). */
int cli_sessions_where(struct cli *c, bool (*is)(const struct ga_session *s, bool running),
		       struct ga_strv *ret, struct ga_error *err);
/* Ask the supervisor of a running session how it is; `ret` is not connected if it does not answer.
 */
void cli_look_live(const struct ga_session *s, struct ga_live_peer *ret);
/* Does its state say that it runs or is about to? True of what does run only if its lock is held.
 */
bool cli_has_running_state(const struct ga_session *s);
/* For cli_sessions_where(): does it run by itself, not as a part of a superproject's session? */
bool cli_runs(const struct ga_session *s, bool running);
/* The session meant without a name: the only one, or the only one that runs or has work; those on
 * other machines whose result is not here count as such. The caller frees it. */
int cli_pick_only(struct cli *c, bool running_too, char **ret, struct ga_error *err);
/* The name of the only session that runs, or NULL if there is none or several. Caller frees. */
int cli_only_running(struct cli *c, char **ret, struct ga_error *err);
/* Pick a session that must be running, and connect to it; `name` NULL: the only one. */
int cli_pick_running(struct cli *c, const char *name, struct ga_session *ret,
		     struct ga_live_peer *peer, struct ga_error *err);
/* Fail unless the session is detached and its agent runs: only then has it a terminal that others
 * may use. Fills in what `peer` says of it. */
int cli_ask_detached(const struct ga_session *s, struct ga_live_peer *peer, struct ga_error *err);
/* Wait until a session has ended and was captured, or is in the trash; `peer` may be connected to
 * it. Returns 1 or 2 of cli_pick_live(), or -1. */
int cli_wait_over(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_live_peer *peer, struct ga_error *err);
/* "--timeout 10", in milliseconds; NULL: `otherwise`. */
int cli_parse_timeout(const char *value, int otherwise, int *ret, struct ga_error *err);

/* What `show` is to show of a session in place of itself: the journal, unless `text` or `replay`
 * is set. The strings may be NULL. */
struct cli_journal {
	bool json, text, replay;
	const char *speed, *max_idle;
};
int cli_show_journal(struct cli *c, const char *name, const struct cli_journal *o,
		     struct ga_error *err);

/* Tell the user that a session without a terminal has ended, as the setting `notify` says; `r`
 * NULL: it could not be captured. Releases `st` if there is anything to do. */
void cli_notify(const struct cli *c, struct ga_start *st, const struct ga_report *r);

/* Print the next command to type for a captured session, as "  next: ..."; none if a note says what
 * to do. */
int cli_say_next(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		 struct ga_error *err);
/* Print what happened in a captured session, in a few lines on `f`, and the next command to type.
 */
int cli_summary(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		struct ga_error *err);

#endif
