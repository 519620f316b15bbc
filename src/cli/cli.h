/* SPDX-License-Identifier: MIT
 *
 * Shared by all commands: option tables, a command's context, output, prompts, and the choice of
 * sessions.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/buf.h"
#include "ga/base/clock.h"
#include "ga/base/error.h"
#include "ga/base/json.h"
#include "ga/base/out.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/strv.h"
#include "ga/base/trace.h"
#include "ga/config/config.h"
#include "ga/config/preset.h"
#include "ga/land/land.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/run/control.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/start/start.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "host.h"

/* ---- options ------------------------------------------------------------ */

enum cli_opt_kind {
	CLI_IS_FLAG,  /* bool */
	CLI_IS_VALUE, /* const char *, borrowed from argv */
	CLI_IS_LIST,  /* struct ga_strv: a value each time it is given */
};

struct cli_opt {
	const char *name; /* long name without dashes */
	char letter;      /* 0: none */
	enum cli_opt_kind kind;
	const char *arg;  /* placeholder of the value, as in "PATH" or "carry|ignore|refuse";
			   * completed if it is what struct cli_command.words can have */
	const char *help;
	size_t offset;    /* of the member in the command's struct options */
};
/* A row of a command's table, whose kind is that of the member. */
#define CLI_VALUE(member, name, letter, arg, help) \
	{ name, letter, _Generic(((struct options *)NULL)->member, bool: CLI_IS_FLAG, \
	  const char *: CLI_IS_VALUE, struct ga_strv: CLI_IS_LIST), arg, help, \
	  offsetof(struct options, member) }
#define CLI_FLAG(member, name, letter, help) CLI_VALUE(member, name, letter, NULL, help)
#define CLI_FLAG_JSON CLI_FLAG(json, "json", 0, "print JSON (docs/json.md)")
#define CLI_FLAG_QUIET(member) CLI_FLAG(member, "quiet", 'q', "print only errors")

/* ---- commands ----------------------------------------------------------- */

/* Each need includes the ones that follow it. */
enum cli_need {
	CLI_NEED_STATE,    /* the state directory of the repository */
	CLI_NEED_REPO,     /* a repository around the current directory */
	CLI_NEED_SETTINGS, /* the user's settings */
	CLI_NEED_NOTHING,
};

struct cli {
	struct ga_env env;   /* repository, git's configuration, state directory, paths */
	struct ga_config settings; /* defaults and the user's file */
	struct ga_strv overrides;  /* -c KEY=VALUE */
	struct ga_sandbox *begun;  /* the sandbox that git-agent (front.c) began, or NULL ... */
	char *begun_for;           /* ... the project it is for */
	bool begun_own;            /* ... and whether it has a network of its own */
	int keeper;                /* CLI_KEEPER; -1: none */
	char *notify;              /* the setting, for the session at hand */
	char *allow_at;            /* owns env.net.allow_at */
	bool captured;             /* the session was interrupted, and picking it captured it */
	bool untrusted;            /* --untrusted */
	bool keep, rm;             /* --keep and --rm of the session at hand */
	bool verbose;              /* --verbose */
	bool colour;               /* on standard output */
	int status;                /* exit status of a command that did not fail */
};

struct cli_command {
	const char *name;
	const char *usage;   /* what follows "git agent NAME" */
	const char *summary; /* one line */
	const struct cli_opt *opts;
	size_t n_opts;
	size_t opts_size;    /* of the options struct, zeroed before parsing */
	enum cli_need needs;
	bool stop_at_word;   /* options end at the first word: the rest is a command line */
	/* the first word is a name (argv[0] NULL: "--" took its place), and after that the same
	 * holds as with stop_at_word */
	bool name_first;
	bool paths_last;     /* a name, which may be left out (NULL), and paths after "--" */
	bool status_is_agents; /* it exits as the agent did, so failing before that is 125 */
	size_t min_args;
	/* Its arguments, for completion: one item each, separated by blanks. An item is SESSION,
	 * CHANGED (a path that the session before it changed), COMMAND (a command line), PATH, REV,
	 * REMOTE, AGENT or a literal word in lower case, or several of these with "|" between them;
	 * "WORD:" before one limits it to what follows that word, and "..." after the last item
	 * repeats it. No candidates are known for any other word. NULL: it takes no arguments. */
	const char *words;
	/* 0, and the exit status is that of `c`, or -1 */
	int (*run)(struct cli *c, const void *opts, size_t argc, char **argv, struct ga_error *err);
};
struct cli_group {
	const char *title; /* NULL: plumbing, which neither -h nor completion lists */
	const struct cli_command *const *v;
	size_t n;
};
/* The options of a command: their table, and the struct options that they are parsed into. */
#define CLI_OPTIONS(table) \
	.opts = (table), .n_opts = GA_NELEMS(table), .opts_size = sizeof(struct options)
/* A command with the table `opts` and the function `run`; members may follow. */
#define CLI_COMMAND(id, ...) CLI_COMMAND_OF(id, #id, CLI_OPTIONS(opts), __VA_ARGS__)
#define CLI_COMMAND_OF(id, named, options, used, sums_up, takes, ...) \
	const struct cli_command cli_##id = { .name = (named), .usage = (used), \
		.summary = (sums_up), .words = (takes), .run = run, options, ##__VA_ARGS__ }

/* Open the repository, and its state directory if that is needed: for a command that has work to
 * start first. Git may still be reading its configuration on return; ga_env_config() waits for
 * that. */
int cli_open(struct cli *c, enum cli_need needs, struct ga_error *err);

extern const struct cli_command cli_start, cli_resume, cli_attach, cli_shell, cli_logs, cli_wait,
	cli_stop, cli_refresh, cli_list, cli_show, cli_diff, cli_review, cli_send, cli_land,
	cli_drop, cli_gc, cli_guard, cli_push, cli_fetch, cli_capture, cli_rules, cli_secrets,
	cli_depot, cli_agents, cli_home, cli_config, cli_init, cli_trust, cli_shim, cli_doctor,
	cli_version;

/* Show the command's manual page as `git help` does; false if man cannot. */
bool cli_manual(const struct cli_command *cmd);

/* Print the candidates for the last of `n` words, one per line, for docs/completion. Captures and
 * changes nothing, reports no error. */
void cli_complete(struct cli *c, const struct cli_group *groups, size_t n_groups, char **words,
		  size_t n);

/* ---- what several commands do ------------------------------------------- */

/* The settings for sessions on `commit` (NULL: there is none): the user's, then those of the
 * repository's file at that commit, then the command line's. What in that file needs trust and has
 * none is left out, and ret->untrusted says so. */
int cli_settings(struct cli *c, const struct ga_oid *commit, struct ga_config *ret,
		 struct ga_error *err);
/* The same for a session that is about to run: missing trust is an error, unless --untrusted was
 * given. With `ask`, the user is asked first, if there is a terminal. */
int cli_settings_to_run(struct cli *c, const struct ga_oid *commit, bool ask, struct ga_config *ret,
			struct ga_error *err);
/* Set the limits and the paths of rules in the context to those that hold for this session, before
 * its layers are read or rules are run on it. */
int cli_session_settings(struct cli *c, const struct ga_session *s, struct ga_error *err);

/* The session that the command line names, by its name or its branch's; with `name` NULL the only
 * one that is not landed, dropped or (unless `running_too`) running. An interrupted one is captured
 * first. The session is locked, or runs, and then `*ret_lock` is -1. */
int cli_pick_session(struct cli *c, const char *name, bool running_too, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err);

/* Pick one to read of it, without waiting for a command that has its lock, such as a review: then
 * `*ret_lock` is -1, as for one that runs. An interrupted one is captured if its lock is free. */
int cli_read_session(struct cli *c, const char *name, struct ga_session *ret, int *ret_lock,
		     struct ga_error *err);
/* The same for a command that only looks: the session may be in any state, is not captured, and is
 * not locked. */
int cli_peek_session(struct cli *c, const char *name, struct ga_session *ret,
		     struct ga_error *err);

/* A path of the command line, from the top of the working tree: taken as it is, as listings print
 * paths, or from the current directory, as git takes them, if only that is `known`. Caller
 * frees. */
char *cli_resolve_path(const struct cli *c, const char *path,
		       bool (*known)(const void *where, const char *path), const void *where);

/* A path of the command line, absolute or from the current directory, relative to the top of the
 * working tree: "" for the top, NULL outside it. Textual: the path need not exist. Caller frees. */
char *cli_path_from_top(const struct ga_repo *r, const char *path);

/* The agents' home that a start here would use; sets home_mode and use in the context. Outside of a
 * repository the user's settings decide, and home_mode `project` is an error. Caller frees. */
int cli_find_home(struct cli *c, char **ret, struct ga_error *err);

/* Install or remove the guard's hooks, by the sessions' state. A failure is only a warning. */
void cli_refresh_guard(struct cli *c);

/* Does the environment want colours on a terminal (NO_COLOR, TERM)? */
bool cli_colour_wanted(void);
/* Colours of a diff: fill `p` from git's configuration and point `*ret` to it, or set `*ret` to
 * NULL for no colours. `what` as in cli_pager_begin(). */
int cli_palette(struct cli *c, const char *what, struct ga_palette *p,
		const struct ga_palette **ret, struct ga_error *err);

/* Send `out` to standard output, through a pager if that is a terminal: pager.WHAT (`what` may be
 * NULL), else git's pager. */
struct cli_pager;
int cli_pager_begin(struct cli *c, const char *what, struct ga_out *out, struct cli_pager **ret,
		    struct ga_error *err);
/* Flush `out` and wait for the pager. `rc` is the result of writing so far: 0; 1: the reader is
 * gone; -1 with `err`. Returns 0 or -1. A signal received while the pager had the terminal is
 * raised now. */
int cli_pager_end(struct cli_pager *p, struct ga_out *out, int rc, struct ga_error *err);
/* Page `text`. */
int cli_page(struct cli *c, const char *text, size_t n, struct ga_error *err);
int cli_print_json(json_t *j, struct ga_error *err); /* takes over `j` */

/* Print one line on standard error, escaped. */
#define cli_note(...) cli_say(ga_strf(__VA_ARGS__))
void cli_say(char *line); /* takes over `line` */
void cli_print_error(const struct ga_error *err);
/* Print it before the command continues with its next argument; `*status` becomes the worst exit
 * status. */
void cli_tell(const struct ga_error *err, int *status);

/* For an error before the agent ran, in a command with `status_is_agents`: an agent can exit with
 * 128 itself, so that status becomes "could not start" (125). Returns -1. */
int cli_not_started(struct ga_error *err);

/* Columns of the terminal `f`; 0: not a terminal. */
size_t cli_width(FILE *f);
/* Columns that escaped text takes on a terminal. */
size_t cli_columns(const char *s);
/* `s` (escaped), cut at its beginning and with "..." there if it takes more than `room` columns; 0:
 * no limit. Caller frees. */
char *cli_fit(const char *s, size_t room);

/* A time in the user's zone, as in "2026-01-31 12:00:00 +0100"; "" if it has no valid date. */
#define CLI_TIME_MAX 64
void cli_time_text(time_t t, char ret[CLI_TIME_MAX]);

/* Remove the GIT_* variables that would point git at another repository. */
void cli_scrub_environment(void);
/* Set HOME from the user database if it is unset, for git as well. */
void cli_default_home(void);

/* Fill the context for a command with these needs. */
int cli_context_init(struct cli *c, enum cli_need needs, struct ga_error *err);
void cli_context_release(struct cli *c);

/* Print `prompt` (trusted or escaped) and wait for an answer: the first letter of a line, 0 for an
 * empty one; or, with `single_key`, one key. CLI_ASK_END at end of input, -1 on error. A signal
 * that ends or stops us restores the terminal first. */
#define CLI_ASK_END 256
int cli_ask(const char *prompt, bool single_key, struct ga_error *err);

/* A name from the command line, without the "agent/" of its branch. */
const char *cli_plain_name(const char *word);

/* Load and lock a session by name: 0; 1: it does not exist; 2: it is running, or another command
 * holds its lock, and it is not locked. With `capture`, wait briefly for another command's lock and
 * capture an interrupted session; else it stays GA_STATE_INTERRUPTED. */
int cli_load_session(struct cli *c, const char *name, bool capture, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err);

/* Is it running or starting? Checks the processes: the state and a held lock do not prove it. */
bool cli_is_running(const struct ga_session *s);

/* Capture an interrupted session (locked), saying so. */
int cli_capture_interrupted(struct cli *c, struct ga_session *s, int lock, struct ga_error *err);

/* Set the state of a locked session to LANDED if its work is integrated, by whatever means, else to
 * CAPTURED, also after a revert. Saves a change and notes it in the journal. */
int cli_notice_landed(struct cli *c, struct ga_session *s, struct ga_error *err);

/* The JSON object of a session, for list, show and fetch. `r` and `peer` may be NULL; `peer` is its
 * supervisor's answer. */
json_t *cli_session_json(const struct ga_session *s, bool running, const struct ga_report *r,
			 const struct ga_control_peer *peer);

/* Has it anything to land? */
bool cli_has_work(const struct ga_session *s);

/* "1 critical (held), 2 high", and "1 accepted, 1 rejected"; "" without flags. Caller frees. */
char *cli_flag_counts(const struct ga_report *r);
char *cli_verdict_counts(const struct ga_report *r);

/* Did the agent leave branches, a stash or commits on no branch that no user branch contains? 1
 * yes: `*ret_ref` (caller frees) is the first such ref. With `ret_ref` NULL the user's branches are
 * not checked. */
int cli_kept_refs(struct ga_repo *r, const struct ga_session *s, char **ret_ref,
		  struct ga_error *err);

/* Did the capture skip anything? 1: because of a limit; 2: commits may be only in the session's own
 * repository, and `*ret_why` (`ret_why` may be NULL; caller frees) says more. */
int cli_kept_away(struct ga_repo *r, const struct ga_session *s, char **ret_why,
		  struct ga_error *err);

/* Would dropping it lose work that has not landed, or is held or left out? 1 yes; 2: it has landed
 * on no branch. */
int cli_unlanded(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* The working tree of the first submodule whose part of the session would lose work, by the three
 * functions above, or cannot be read: `*ret_dir`, or NULL. Caller frees. */
int cli_part_work(const struct ga_env *e, const struct ga_session *s, char **ret_dir,
		  struct ga_error *err);

/* ga_land_check_ended() of a session and of its submodules' parts. */
int cli_check_over(const struct ga_env *e, struct ga_session *s, struct ga_error *err);

/* Do the submodules allow the branch to land? Not while one has open flags, or if the branch moves
 * one to a commit that is on no branch there or cannot be read. */
int cli_check_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err);
/* After landing, print the steps still needed in the submodules. */
int cli_print_parts(const struct ga_env *e, const struct ga_session *s, struct ga_error *err);

/* Move a locked session that has ended to the trash, if it was captured completely and has no
 * result; with --rm also if 'git agent drop' would need no --force, else print why it is kept.
 * True: its state is DROPPED. `*ret_left`: it has leftover files. */
bool cli_drop_at_end(struct cli *c, struct ga_session *s, bool *ret_left);
void cli_print_dropped(const struct ga_session *s, bool left);
/* Refuse a drop that would lose work, in a submodule too. */
int cli_check_work(struct cli *c, struct ga_session *s, struct ga_error *err);
/* Restore a session and then its parts (of `whole_or_null`), found through it. 1: it does not
 * exist. */
int cli_restore(const struct ga_env *e, const char *name,
		const struct ga_session *whole_or_null, struct ga_error *err);
/* Restore the session from the trash if it exists only there; NULL: do nothing. */
int cli_restore_trashed(struct cli *c, const char *name, struct ga_error *err);

/* Finish an interrupted drop of the session, and say so. Returns 1 then, else 0. */
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
/* Parse its VALUE (NULL: not given). An error with `detach`, which has no terminal. */
int cli_parse_filter(const char *value, bool detach, struct cli_filter *ret, struct ga_error *err);
/* Show the terminal of a running session unfiltered? The option overrides the setting. */
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

/* The steps of starting and resuming, in this order. First, take the settings into the context and
 * `ret`, which borrow from `conf`. */
void cli_apply_settings(struct cli *c, const struct ga_config *conf,
			const struct cli_filter *filter, struct ga_start_opts *ret);
/* The same for the network, after cli_set_network(); `options` are the KEY=VALUE of that. */
void cli_apply_network(struct cli *c, const struct ga_config *conf, const struct ga_strv *options);
/* Add the files of --expose to `ret`, as absolute paths. */
int cli_find_exposed(struct cli *c, const struct ga_strv *paths, struct ga_strv *ret,
		     struct ga_error *err);
/* Warn about running as root, and cli_show_progress(). */
void cli_before_run(struct cli *c, bool quiet);
/* Decide whether long steps show progress: on a terminal unless quiet, always if verbose. */
void cli_show_progress(struct cli *c, bool quiet);
/* Resume a session with `how`, up to its summary. `exposed` and `o` may be NULL. */
int cli_resume_session(struct cli *c, const char *name, const struct ga_start_opts *how,
		       const struct cli_filter *filter, const struct ga_strv *exposed,
		       const struct cli_network *o, bool quiet, struct ga_error *err);
/* Run the prepared session, capture it and print its summary; without a terminal, notify
 * instead. */
int cli_run_and_capture(struct cli *c, struct ga_start *st, bool quiet, struct ga_error *err);

/* Fork into two processes. In the child, the supervisor, the command continues (0), with `ret->how`
 * for ga_start_opts; once the agent runs, it left the terminal and prints nothing. The parent,
 * which the user called, waits for that and prints the session's name, or takes the exit status of
 * a child that ended; then it is done (1). */
struct cli_detach {
	struct ga_detach how;
	int fd;    /* in the child: where the name goes */
	bool left; /* it left the terminal */
};
/* Take over the common options that do not depend on settings, and with --detach call cli_detach();
 * `so` borrows `detach` (NULL: do not). 1: this is the parent, which is done. */
int cli_apply_run(struct cli *c, const struct cli_run_options *o, struct cli_detach *detach,
		  struct ga_start_opts *so, struct cli_filter *ret_filter, struct ga_error *err);

/* How long a session may take to start, or its supervisor to end. */
#define CLI_COME_UP_MS 10000
/* Pick a session that is running or has ended. 0: it is running, and `peer` is connected; 1: it has
 * ended, and is locked, or another command holds its lock (`*ret_lock` -1); 2: neither within `ms`
 * (-1: wait for ever). */
int cli_connect_or_lock(struct cli *c, const char *name, int ms, struct ga_session *ret,
			int *ret_lock, struct ga_control_peer *peer, struct ga_error *err);
/* Fail before anything is changed if one of the names has no session. */
int cli_check_names(struct cli *c, size_t n, char **names, struct ga_error *err);
/* Add the names of the sessions for which `is` returns true. `running`: it runs, or another command
 * holds its lock (2 of cli_load_session()). */
int cli_sessions_where(struct cli *c, bool (*is)(const struct ga_session *s, bool running),
		       struct ga_strv *ret, struct ga_error *err);
/* Ask the supervisor of a running session for its status; `ret` is not connected without an
 * answer. */
void cli_query_supervisor(const struct ga_session *s, struct ga_control_peer *ret);
/* Does its state say running or starting? It is so only if its lock is held as well. */
bool cli_has_running_state(const struct ga_session *s);
/* For cli_sessions_where(): is it running, and not a part of a superproject's session? */
bool cli_runs(const struct ga_session *s, bool running);
/* The default session: the only one, or the only one that is running or has work, as those on other
 * machines whose result was not fetched. Caller frees. */
int cli_pick_only(struct cli *c, bool running_too, char **ret, struct ga_error *err);
/* The name of the only running session, or NULL. Caller frees. */
int cli_only_running(struct cli *c, char **ret, struct ga_error *err);
/* Pick a running session and connect to it; `name` NULL: the only one. */
int cli_pick_running(struct cli *c, const char *name, struct ga_session *ret,
		     struct ga_control_peer *peer, struct ga_error *err);
/* Fail unless the session is detached and its agent is running: only then can others use its
 * terminal. Fills in the answer of `peer`. */
int cli_ask_detached(const struct ga_session *s, struct ga_control_peer *peer,
		     struct ga_error *err);
/* Wait until a session has ended and was captured, or is in the trash; `peer` may be connected to
 * it. Returns 1 or 2 of cli_connect_or_lock(), or -1. */
int cli_wait_over(struct cli *c, const char *name, int ms, struct ga_session *ret, int *ret_lock,
		  struct ga_control_peer *peer, struct ga_error *err);
/* "--timeout 10", in milliseconds; NULL: `otherwise`. */
int cli_parse_timeout(const char *value, int otherwise, int *ret, struct ga_error *err);

/* Print the next command to type for a captured session, as "  next: ..."; none if a note has a
 * command. */
int cli_print_next(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		   struct ga_error *err);
/* Print the summary of a captured session on `f`, and the next command to type. */
int cli_summary(struct cli *c, const struct ga_session *s, const struct ga_report *r, FILE *f,
		struct ga_error *err);
