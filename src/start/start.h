/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what starting, running and resuming have in common.
 */
#ifndef START_H
#define START_H

#include "ga/repo/refs.h"
#include "ga/start/start.h"

struct start_base; /* base.h */

/* network.c: what a session can reach. Was its sandbox begun with the right network? */
bool start_has_network(const struct ga_start_env *e, const struct ga_start *st);
const char *start_network_name(const struct ga_start_env *e); /* for ga_session.network */
/* Add what network.allow lists, and the hosts that the agent (NULL: none) needs. */
void start_add_allowed(const struct ga_start_env *e, const struct ga_preset *p,
		       struct ga_strv *ret);
/* If it was not the right one: leave a note of which network the next sandbox is to be begun with.
 */
#define START_NETWORK_NOTE "network" /* in the state directory of a repository */
void start_note_guess(const struct ga_start_env *e);
/* Before the trees are mounted: make the plan and open the relay; the spec gets what they need of
 * files, sockets and variables, and st->notes lines for the banner. */
int start_make_network(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Add those lines alone, for a dry run. */
void start_describe_network(const struct ga_start_env *e, struct ga_start *st);
/* Enter the sandbox's network, once process 1 is there and before anything else runs inside. */
int start_enter_network(struct ga_start *st, struct ga_error *err);
/* Journal the connections that are new since the last time (`*noted`). */
void start_note_network(const struct ga_session *s, const struct ga_relay *r, size_t *noted);
/* Note in the session and its journal what it reached and was refused, and close the relay. */
void start_end_network(struct ga_start *st, size_t *noted);

/* user.c: show the user and his group in /etc/passwd and /etc/group, if only another service of the
 * host knows them. */
int start_show_user(struct ga_start *st, struct ga_error *err);

/* ports.c: take a range of ports that no other session of the user has, as long as `*ret_fd` is
 * open; with the host's network also none that is in use. Returns its first port; 0: there is no
 * free one. The range at `former` (0: none) if that is free, else the first free one from where
 * `any` points. */
unsigned start_take_ports(const struct ga_start_env *e, uint64_t former, unsigned any, int *ret_fd);

/* prepare.c: add a first task to the arguments of the agent that is run, as it takes one. */
int start_add_task(const char *task, struct ga_start *st, struct ga_error *err);
/* Plan how the limits of a session are enforced, and whether sandboxes can be nested. */
int start_plan_limits(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Show what is made for the session: those limits, where programs look for a control group's, the
 * user, ssh's configuration, certificates, and the description of the terminal. */
int start_show_texts(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Add lines about that to the banner. */
void start_describe_limits(struct ga_start *st);
/* Add "what: a, b and 3 more" to the banner, unless there are none. */
void start_describe_paths(const char *what, const struct ga_strv *paths, struct ga_strv *banner);

/* remote.c: the refs, or ids without a name, that a remote is known to have
 * (ga_fetch_session()), and its remote-tracking branches of sessions. */
struct ga_fetch_opts;
int start_remote_known(struct ga_start_env *e, const struct ga_fetch_opts *o, struct ga_refs *ret,
		       struct ga_refs *ret_sessions, struct ga_error *err);

/* capture.c: the environment of git in a sandbox, but for what one command needs. */
extern const char *const start_git_env[];
/* ga_start_capture() without its hint; for a part, the superproject's session has that. */
int start_capture(struct ga_start_env *e, struct ga_session *s, int lock,
		  struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err);

/* command.c: where a command is on the host, or NULL. An agent is also looked for where installers
 * put it; if it is there, `*ret_place` (`ret_place` may be NULL) is that directory. Caller frees
 * both. */
char *start_find_command(const struct ga_start_env *e, const char *command, char **ret_place);
/* Fail early, on the host, for a command that is nowhere. If an agent is found outside of PATH, its
 * directory is added to e->path; if the user installed it in the agents' home, it is st->own. */
int start_check_command(struct ga_start_env *e, const char *command, struct ga_start *st,
			struct ga_error *err);
/* Fill st->preset and st->argv: the command with the words of its preset; with `again` those that
 * resume an agent. */
void start_make_argv(const struct ga_start_env *e, char *const *argv, size_t argc, bool again,
		     struct ga_start *st);

/* questions.c: once the environment is known: answer what the agent asks before it begins, as far
 * as what it will see allows: `b`, and `tree` (NULL: that of b->base). What is not answered goes
 * to the banner; fails if nobody would see the question. */
int start_answer(struct ga_start_env *e, const struct start_base *b, const struct ga_oid *tree,
		 struct ga_start *st, struct ga_error *err);

/* prepare.c: fail if the disk is so full that the session would be ended at once. */
int start_check_room(const struct ga_start_env *e, struct ga_error *err);
/* `dir` or the agents' home, if less is free there than `disk_free`; else NULL. */
const char *start_full_place(const struct ga_start_env *e, const char *dir);
/* Begin the sandbox, unless it was begun already and is the right one, up to the home with what
 * `command` needs there. */
int start_begin(struct ga_start_env *e, const char *command, struct ga_start *st,
		struct ga_error *err);
/* home.c: lock and make the home of the session, and write into it what the agent is told. */
int start_open_home(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* With home_mode `overlay`, once the session's directory is there: add its layer over the home. */
int start_layer_home(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* home-conversations.c: add to the spec the directories of the session that agents keep their
 * conversations in; its environment must be known. */
int start_keep_conversations(const struct ga_start_env *e, struct ga_start *st,
			     struct ga_error *err);
/* home-mounts.c: ga_run_home() and ga_run_trees(), once what they make in the home is noted. */
int start_run_home(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
int start_run_trees(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Once nothing runs: with home_mode `project` share its logins, and leave no mount points if it was
 * the last session. The lock of the homes protects nothing any more. */
void start_close_home(const struct ga_start_env *e, const struct ga_start *st);
/* prepare.c: take the commands to run beside the agent into `st`, and how output is shown. */
void start_take_commands(const struct ga_start_env *e, const struct ga_start_opts *o,
			 struct ga_start *st);

/* Make the session's directory and its layers. */
int start_make_session(struct ga_start_env *e, const struct ga_start_opts *o,
		       const struct start_base *b, const struct ga_refs *visible,
		       struct ga_start *st, struct ga_error *err);
/* Make its branch and refs, and its worktree entry. */
int start_make_refs(struct ga_start_env *e, const struct ga_session *s,
		    const struct ga_refs *visible, struct ga_error *err);
/* fetch-uncommitted.c: for a fetch with a snapshot, make the uncommitted part of the session. */
struct ga_fetch_opts;
int start_fetch_uncommitted(struct ga_start_env *e, const struct ga_fetch_opts *o,
			    struct ga_session *s, struct ga_report *r, struct ga_error *err);

#endif
