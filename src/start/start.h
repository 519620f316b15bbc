/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what starting, running and going on have in common.
 */
#ifndef START_H
#define START_H

#include "ga/refs.h"
#include "ga/start.h"

struct start_base; /* base.h */

/* network.c: what a session can reach. Was its sandbox begun with the right network? */
#define START_NETWORK_NOTE "network" /* in the state directory of a repository */
bool start_has_network(const struct ga_start_env *e, const struct ga_start *st);
const char *start_network_name(const struct ga_start_env *e); /* as a session has it */
/* What is listed of the network called "allow", and what the agent (NULL: none) needs of it. */
void start_add_allowed(const struct ga_start_env *e, const struct ga_preset *p,
		       struct ga_strv *ret);
/* One that was not: what the next begins with is noted. */
void start_note_guess(const struct ga_start_env *e);
/* Before its trees are mounted: the plan, its files and sockets, into the spec, with what of it is
 * in the environment, and lines for the banner. */
int start_make_network(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
/* Those lines alone, for a dry run: into st->notes. */
void start_describe_network(const struct ga_start_env *e, struct ga_start *st);
/* Once process 1 is there, and before anything else is inside. */
int start_enter_network(struct ga_start *st, struct ga_error *err);
/* What was new of it since the last time, for the journal; how it went; and the end of it. */
void start_note_network(const struct ga_session *s, const struct ga_relay *r, size_t *noted);
void start_end_network(struct ga_start *st, size_t *noted);

/* ports.c: a range of ports that no other session of the user's has, as long as `*ret_fd` is open,
 * and of which none is in use if the network is the host's: its first, 0 if there is none to be
 * had. The one that begins at `former` if it can be (0: none), else one that `any` leads to. */
unsigned start_take_ports(const struct ga_start_env *e, uint64_t former, unsigned any, int *ret_fd);

/* prepare.c: how the limits of a session are going to be kept, and what of namespaces, and lines
 * for the banner. */
int start_plan_limits(const struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
void start_describe_limits(struct ga_start *st);

/* capture.c: the environment of git inside, without what is one command's. */
extern const char *const start_git_env[];
/* ga_start_capture() of a part, whose failures the superproject's session explains. */
int start_capture(struct ga_start_env *e, struct ga_session *s, int lock,
		  struct ga_sandbox **ended, struct ga_report *ret, struct ga_error *err);

/* command.c: where a command is on the host, or NULL; of an agent, where its installer puts it as
 * well: then `*ret_place` (NULL: not wanted) is that directory. Caller frees both. */
char *start_find_command(const struct ga_start_env *e, const char *command, char **ret_place);
/* Fail early, and on the host, for a command that is nowhere. Where an agent is found beside $PATH,
 * e->path leads there from now on; one that the user installed in the agents' home is st->own. */
int start_check_command(struct ga_start_env *e, const char *command, struct ga_start *st,
			struct ga_error *err);
/* prepare.c: what a start and a resume have in common.
 * There is no use in beginning what would be ended at once. */
int start_check_room(const struct ga_start_env *e, struct ga_error *err);
/* The sandbox up to home, with what `command` needs there; begun already or not. */
int start_begin(struct ga_start_env *e, const char *command, struct ga_start *st,
		struct ga_error *err);
/* home.c: the home of the session for which the sandbox of `st` is begun: locked, made, with what
 * tells its agent where it is. Once the session is there: its layer over that, if it has one. Once
 * nothing of it runs: what other homes have of it as well. */
int start_open_home(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
int start_layer_home(struct ga_start_env *e, struct ga_start *st, struct ga_error *err);
void start_close_home(const struct ga_start_env *e, const struct ga_start *st);
/* command.c: the words to run, a preset's with them; `again`: those to go on with. Fills preset and
 * argv. */
void start_make_argv(const struct ga_start_env *e, char *const *argv, size_t argc, bool again,
		     struct ga_start *st);
/* prepare.c: what the user wants run beside the agent, and how it is shown. */
void start_take_commands(const struct ga_start_opts *o, struct ga_start *st);

/* A session's directory and layers; its refs. */
int start_make_session(struct ga_start_env *e, const struct ga_start_opts *o,
		       const struct start_base *b, const struct ga_refs *visible,
		       struct ga_start *st, struct ga_error *err);
int start_make_refs(struct ga_start_env *e, const struct ga_session *s,
		    const struct ga_refs *visible, struct ga_error *err);
/* Names that no session may have because of branches. */
int start_taken_names(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);

/* locks.c: remove what a git or a supervisor that was killed left locked of the session's refs. The
 * session is locked, and does not run. */
void start_clear_locks(struct ga_repo *r, const struct ga_session *s);

/* Paths inside the session directory; caller frees. */
/* A new, empty directory; it goes with the session. */
char *start_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err);
char *start_dir(const struct ga_session *s, const char *what);

#endif
