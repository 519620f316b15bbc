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
int start_show_user(struct ga_spec *s, struct ga_error *err);

/* ports.c: take a range of ports that no other session of the user has, as long as `*ret_fd` is
 * open; with the host's network also none that is in use. Returns its first port; 0: there is no
 * free one. The range at `former` (0: none) if that is free, else the first free one from where
 * `any` points. */
unsigned start_take_ports(const struct ga_start_env *e, uint64_t former, unsigned any, int *ret_fd);

/* recover.c: save when and how the agent ended, and what was lost: a capture that is killed and done
 * again, or done by another process, goes by the file. A failure is ignored: if the disk is full,
 * capture fails itself. */
void start_save_if_possible(const struct ga_session *s);

/* limits.c: plan how the limits of a session are enforced, and whether sandboxes can be nested. */
int start_plan_limits(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Show what is made for the session: those limits, where programs look for a control group's, the
 * user, ssh's configuration, certificates, and the description of the terminal. */
int start_show_texts(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Add lines about that to the banner. */
void start_describe_limits(struct ga_start *st);
/* banner.c: all of it for a new session; and what is said of secrets, of parts too. */
void start_describe(const struct ga_start_env *e, const struct ga_start_opts *o,
		    const struct start_base *b, struct ga_start *st);
void start_describe_secrets(const struct start_base *b, struct ga_start *st);

/* remote.c: the refs, or ids without a name, that a remote is known to have
 * (ga_fetch_session()), and its remote-tracking branches of sessions. */
struct ga_fetch_opts;
int start_remote_known(struct ga_start_env *e, const struct ga_fetch_opts *o, struct ga_refs *ret,
		       struct ga_refs *ret_sessions, struct ga_error *err);

/* capture.c: the environment of git in a sandbox, but for what one command needs. */
extern const char *const start_git_env[];

/* questions.c: once the environment is known: answer what the agent asks before it begins, as far
 * as what it will see allows: `b`, and `tree` (NULL: that of b->base). What is not answered goes
 * to the banner; fails if nobody would see the question. */
int start_answer(struct ga_start_env *e, const struct start_base *b, const struct ga_oid *tree,
		 struct ga_start *st, struct ga_error *err);

/* prepare.c: fail if the disk is so full that the session would be ended at once. */
int start_check_room(const struct ga_start_env *e, struct ga_error *err);
/* `dir` or the agents' home, if less is free there than `disk_free`; else NULL. */
const char *start_full_place(const struct ga_start_env *e, const char *dir);
/* Begin the sandbox, unless it was begun already and is the right one, up to the home with what the
 * command needs there. */
int start_begin(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* prepare.c: take the commands to run beside the agent into `st`, and how output is shown. */
void start_take_commands(const struct ga_start_env *e, const struct ga_start_opts *o,
			 struct ga_start *st);

/* session.c: fill in what is known of a new session, which has no directory yet. */
void start_fill_session(struct ga_start_env *e, const struct ga_start_opts *o,
			const struct start_base *b, struct ga_start *st);
/* Capture will need an identity for its commits: fail now rather than after hours of work. */
int start_check_identity(struct ga_start_env *e, struct ga_error *err);
/* Make its directory, its layers and its parts. */
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
