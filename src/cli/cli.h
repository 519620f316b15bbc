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

#include "ga/config.h"
#include "ga/error.h"
#include "ga/out.h"
#include "ga/palette.h"
#include "ga/repo.h"
#include "ga/session.h"
#include "ga/start.h"
#include "ga/strv.h"

/* ---- options ------------------------------------------------------------ */

enum cli_opt_kind {
	CLI_FLAG,  /* bool */
	CLI_VALUE, /* const char *, borrowed from argv */
	CLI_LIST,  /* struct ga_strv: a value each time it is given */
};

struct cli_opt {
	const char *name; /* long name without dashes */
	char letter;      /* 0: none */
	enum cli_opt_kind kind;
	const char *arg;  /* placeholder of the value; completed if it is one of what can be in
			   * struct cli_command.words, as in "carry|ignore|refuse" or "PATH" */
	const char *help;
	size_t offset;    /* of the member in the command's options struct */
};

/* ---- commands ----------------------------------------------------------- */

enum cli_need {
	CLI_NEED_REPO = 1 << 0,  /* a repository around the current directory */
	CLI_NEED_STATE = 1 << 1, /* its state directory; implies the repository */
	CLI_NEED_SETTINGS = 1 << 2, /* the user's settings; what needs a repository has them */
};

struct cli {
	struct ga_start_env env;   /* repository, git's configuration, state directory, paths */
	struct ga_config settings; /* defaults and the user's file */
	struct ga_strv overrides;  /* -c KEY=VALUE */
	struct ga_sandbox *begun;  /* by git-agent, for the session that is started, or NULL ... */
	char *begun_for;           /* ... the project it was begun for */
	bool begun_own;            /* ... and whether it has a network of its own */
	char *notify;              /* as configured, for the session at hand */
	char *allow_at;            /* the same, for env.net */
	bool captured;             /* picking a session captured it */
	bool untrusted;            /* --untrusted */
	bool verbose;              /* --verbose */
	bool colour;               /* standard output */
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
	bool name_first;     /* the first word is a name (NULL: "--" came first), and only behind
			      * that the same holds */
	bool paths_last;     /* a name, which may be left out (NULL), and behind "--" paths */
	bool status_is_agents; /* it exits as the agent did, so failing before that is 125 */
	size_t min_args, max_args;
	/* For completion, what its words are, parted by blanks: SESSION, COMMAND (a command line),
	 * PATH, REV, REMOTE, AGENT, or itself, in lower case; "|" between several, "WORD:" before
	 * what only follows that word, "..." behind the last if it is repeated. NULL: it takes
	 * none. */
	const char *words;
	int (*run)(struct cli *c, const void *opts, size_t argc, char **argv, int *ret_status,
		   struct ga_error *err);
};

/* Fill `env` with what these needs are, for a command that names none and has something to
 * do before. Git's configuration is still being read then (ga_start_config()). */
int cli_open(struct cli *c, unsigned needs, struct ga_error *err);

extern const struct cli_command cli_start, cli_resume, cli_attach, cli_shell, cli_logs, cli_wait,
	cli_stop, cli_refresh, cli_list, cli_show, cli_log, cli_diff, cli_review, cli_land,
	cli_drop, cli_gc, cli_guard, cli_push, cli_fetch, cli_capture, cli_rules, cli_secrets,
	cli_agents, cli_home, cli_config, cli_init, cli_trust, cli_shim, cli_doctor, cli_version;

/* Parse options into `opts`; `*argv` and `*argc` become what is left. Returns 1
 * if -h was given (help was printed to standard output). */
int cli_parse(const struct cli_command *cmd, void *opts, size_t *argc, char ***argv,
	      struct ga_error *err);
/* Free what lists in `opts` hold. */
void cli_release(const struct cli_command *cmd, void *opts);
/* Open the command's manual page as `git help` does; false if there is none to be had. */
bool cli_manual(const struct cli_command *cmd);

/* Print what could stand in place of the last of `n` words, one a line, as docs/completion reads
 * it. Nothing is captured or changed, and no error said. */
void cli_complete(struct cli *c, const struct cli_command *const *commands, size_t n_commands,
		  char **words, size_t n);

/* ---- what several commands do ------------------------------------------- */

/* The settings where `commit` is what sessions stand on (NULL: nothing is): those of the context,
 * what the repository's file has there, and the command line's. What in that file needs trust and
 * has none is left out (ret->untrusted). */
int cli_settings(struct cli *c, const struct ga_oid *commit, struct ga_config *ret,
		 struct ga_error *err);
/* The same for a session that is about to run: without trust it must not (an error), unless it was
 * said to do without. With `ask` the user is asked where he can be. */
int cli_settings_to_run(struct cli *c, const struct ga_oid *commit, bool ask, struct ga_config *ret,
			struct ga_error *err);
/* Those of a session, for what reads its layers or runs rules on it. */
int cli_session_settings(struct cli *c, const struct ga_session *s, struct ga_error *err);

/* The session named on the command line, by its name or its branch's, or with `name` NULL the
 * only one that is not landed, dropped or (unless `running_too`) running. An interrupted one is
 * captured first. The session comes locked unless it runs; then *ret_lock is -1. */
int cli_pick_session(struct cli *c, const char *name, bool running_too, struct ga_session *ret,
		     int *ret_lock, struct ga_error *err);

/* The same for who only looks at it, whatever state it is in: it stays so, and is not locked. */
int cli_look_at_session(struct cli *c, const char *name, struct ga_session *ret,
			struct ga_error *err);

/* The same for one that has landed; without a name the one that HEAD brought. */
int cli_pick_landed(struct cli *c, const char *name, struct ga_session *ret, int *ret_lock,
		    struct ga_error *err);

/* A path as listings print it, from the top; or, as git has it, from the directory the user
 * stands in, if only that one is known. Caller frees. */
char *cli_resolve_path(const struct cli *c, const char *path,
		       bool (*known)(const void *where, const char *path), const void *where);

/* The home that a start would have here, and the mode and limits that go with it, in the context.
 * Outside of a repository it is the user's settings that say, and there is no home of a
 * project's. Caller frees. */
int cli_find_home(struct cli *c, char **ret, struct ga_error *err);

/* Bring the guard's hooks to what sessions are after a command. What fails is said. */
void cli_settle_guard(struct cli *c);

/* Does the environment have it in colour, where there is a terminal? */
bool cli_colour_wanted(void);
/* Colours of a diff: `*ret` is `p`, filled as the user's git has them, or NULL: none here. */
int cli_palette(struct cli *c, const char *what, struct ga_palette *p,
		const struct ga_palette **ret, struct ga_error *err);

/* What is written to `out` from now on goes to standard output, through the user's pager if it is a
 * terminal: $GIT_PAGER, pager.WHAT (`what` may be NULL), core.pager, $PAGER, less. */
struct cli_pager;
int cli_pager_begin(struct cli *c, const char *what, struct ga_out *out, struct cli_pager **ret,
		    struct ga_error *err);
/* Write the rest, and wait for the pager. `rc` is what the writing came to: 0; 1: nobody reads on;
 * -1 with `err`. Returns 0 or -1. A signal that came while the pager had the terminal is raised. */
int cli_pager_end(struct cli_pager *p, struct ga_out *out, int rc, struct ga_error *err);
/* All of these at once. */
int cli_page(struct cli *c, const char *text, size_t n, struct ga_error *err);
int cli_print_json(json_t *j, struct ga_error *err); /* takes over `j` */

/* Say something on standard error: one line, escaped. */
void cli_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cli_print_error(const struct ga_error *err);

/* For errors of a command with `status_is_agents` before the agent ran: make what would be
 * 128, which agents exit with too, "could not start". Returns -1. */
int cli_not_started(struct ga_error *err);

/* Columns of the terminal that `f` is; 0: it is none. */
size_t cli_width(FILE *f);
/* Columns that escaped text takes. */
size_t cli_columns(const char *s);
/* `s` (escaped), or no more than its end behind "..." if it takes more than `room` columns; 0:
 * there is room for all. Caller frees. */
char *cli_fit(const char *s, size_t room);

/* "3 files", "1 file". */
char *cli_count(size_t n, const char *singular, const char *plural);

#endif
