/* SPDX-License-Identifier: MIT
 *
 * Steps of a start that a resume takes as well, in the order of this file.
 */
#ifndef GA_STEPS_H
#define GA_STEPS_H

#include "ga/start/start.h"

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
