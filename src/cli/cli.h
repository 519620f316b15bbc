/* SPDX-License-Identifier: MIT
 *
 * What the commands share: option tables, the context a command runs in,
 * and output.
 */
#ifndef CLI_H
#define CLI_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "ga/base/error.h"
#include "ga/base/out.h"
#include "ga/base/strv.h"
#include "ga/config/config.h"
#include "ga/review/report.h"
#include "ga/session/session.h"
#include "ga/start/start.h"

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

enum cli_need {
	CLI_NEED_REPO = 1 << 0,  /* a repository around the current directory */
	CLI_NEED_STATE = 1 << 1, /* its state directory; implies the repository */
	CLI_NEED_SETTINGS = 1 << 2, /* the user's settings; implied by either of the others */
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
	unsigned needs;
	bool stop_at_word;   /* options end at the first word: the rest is a command line */
	bool name_first;     /* the first word is a name (argv[0] NULL: "--" stood in its place),
			      * and after that the same holds as with stop_at_word */
	bool paths_last;     /* a name, which may be left out (NULL), and paths after "--" */
	bool status_is_agents; /* it exits as the agent did, so failing before that is 125 */
	size_t min_args, max_args;
	/* What its words are, for completion: one item for each, separated by blanks. An item is
	 * SESSION, CHANGED (a path that the session before it changed), COMMAND (a command line),
	 * PATH, REV, REMOTE, AGENT or a literal word in lower case, or several of these with "|"
	 * between them; "WORD:" before one limits it to what follows that word, and "..." after the
	 * last item repeats it. NULL: it takes no words. */
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

/* Open the repository, and its state directory if that is needed: for a command whose table does
 * not say so because it has something to begin before. Git may still be reading its configuration
 * when this returns; ga_env_config() waits for that. */
int cli_open(struct cli *c, unsigned needs, struct ga_error *err);

extern const struct cli_command cli_start, cli_resume, cli_attach, cli_shell, cli_logs, cli_wait,
	cli_stop, cli_refresh, cli_list, cli_show, cli_diff, cli_review, cli_send, cli_land,
	cli_drop, cli_gc, cli_guard, cli_push, cli_fetch, cli_capture, cli_rules, cli_secrets,
	cli_depot, cli_agents, cli_home, cli_config, cli_init, cli_trust, cli_shim, cli_doctor,
	cli_version;

/* Parse options into `opts`; `*argv` and `*argc` become what is left. Returns 1
 * if -h was given (help was printed to standard output). */
int cli_parse(const struct cli_command *cmd, void *opts, size_t *argc, char ***argv,
	      struct ga_error *err);
/* Free what lists in `opts` hold. */
void cli_release(const struct cli_command *cmd, void *opts);
/* Show the command's manual page as `git help` does; false if man cannot. */
bool cli_manual(const struct cli_command *cmd);
/* The same, and what -h prints where man cannot. */
void cli_help(const struct cli_command *cmd);

/* Print what could stand in place of the last of `n` words, one candidate a line, for
 * docs/completion. It captures and changes nothing, and reports no error. */
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
int cli_look_at_session(struct cli *c, const char *name, struct ga_session *ret,
			struct ga_error *err);

/* A path of the command line, from the top of the working tree: taken as it is, as listings print
 * paths, or from the current directory, as git takes them, if only that is `known`. Caller frees.
 */
char *cli_resolve_path(const struct cli *c, const char *path,
		       bool (*known)(const void *where, const char *path), const void *where);

/* A path of the command line, absolute or from the current directory, as one from the top of the
 * working tree: "" for that itself, NULL if it is not beneath it. Textual: nothing need be there.
 * Caller frees. */
char *cli_path_from_top(const struct ga_repo *r, const char *path);

/* The agents' home that a start here would use; sets home_mode and use in the context. Outside of a
 * repository the user's settings decide, and home_mode `project` is an error. Caller frees. */
int cli_find_home(struct cli *c, char **ret, struct ga_error *err);

/* After a command: install or remove the guard's hooks, as the sessions are now. A failure is only
 * a warning. */
void cli_refresh_guard(struct cli *c);

/* Does the environment want colours on a terminal (NO_COLOR, TERM)? */
bool cli_colour_wanted(void);
/* Colours of a diff: fill `p` from git's configuration and point `*ret` to it, or set `*ret` to
 * NULL where there are to be none. `what` as in cli_pager_begin(). */
int cli_palette(struct cli *c, const char *what, struct ga_palette *p,
		const struct ga_palette **ret, struct ga_error *err);

/* What is written to `out` from now on goes to standard output, through the user's pager if it is a
 * terminal: pager.WHAT (`what` may be NULL), or what git says its pager is. */
struct cli_pager;
int cli_pager_begin(struct cli *c, const char *what, struct ga_out *out, struct cli_pager **ret,
		    struct ga_error *err);
/* Write what is left in `out` and wait for the pager. `rc` says how writing went so far: 0; 1:
 * nobody reads any more; -1 with `err`. Returns 0 or -1. A signal that came while the pager had the
 * terminal is raised now. */
int cli_pager_end(struct cli_pager *p, struct ga_out *out, int rc, struct ga_error *err);
/* Begin, write `text`, and end. */
int cli_page(struct cli *c, const char *text, size_t n, struct ga_error *err);
int cli_print_json(json_t *j, struct ga_error *err); /* takes over `j` */

/* Say something on standard error: one line, escaped. */
#define cli_note(...) cli_say(ga_strf(__VA_ARGS__))
void cli_say(char *line); /* takes over `line` */
void cli_print_error(const struct ga_error *err);
/* Print it before the command continues with its next argument; `*status` becomes the worst exit
 * status. */
void cli_tell(const struct ga_error *err, int *status);

/* For an error before the agent ran, in a command with `status_is_agents`: an agent can exit with
 * 128 too, so what would be that becomes "could not start" (125). Returns -1. */
int cli_not_started(struct ga_error *err);

/* Columns of the terminal `f`; 0: it is no terminal. */
size_t cli_width(FILE *f);
/* Columns that escaped text takes on a terminal. */
size_t cli_columns(const char *s);
/* `s` (escaped), cut at its beginning and with "..." there if it takes more than `room` columns; 0:
 * there is room for all. Caller frees. */
char *cli_fit(const char *s, size_t room);

/* A time in the user's zone, as in "2026-01-31 12:00:00 +0100"; "" for what is none. */
#define CLI_TIME_MAX 64
void cli_time_text(time_t t, char ret[CLI_TIME_MAX]);

#endif
