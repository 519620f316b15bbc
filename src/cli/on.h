/* SPDX-License-Identifier: MIT
 *
 * Sessions on other machines (ga/on/on.h), for the commands.
 */
#ifndef ON_H
#define ON_H

#include "cli.h"
#include "ga/on/on.h"

/* For a command that names sessions on another machine, or means the only one, which is there: do
 * there what is done there, or fetch the result, for the command to continue with. `words` are
 * those of the command line, `argv` what is left of them behind options; names that are done with
 * are removed. Returns 1 if nothing is left to be done, 0 if the command is to be run, -1. */
int cli_on(struct cli *c, const struct cli_command *cmd, const struct ga_strv *words, size_t *argc,
	   char **argv, struct ga_error *err);
/* After the command: what was fetched and it dropped here is dropped there, by gc also what was
 * dropped before. */
int cli_on_after(struct cli *c, const struct cli_command *cmd, size_t argc, char **argv,
		 struct ga_error *err);

/* The variables that hold keys of the agent that it runs, or NULL; says which go there. */
const char *const *cli_on_keys(struct cli *c, const struct ga_on *o);
/* Wait until the session of a record has ended, for its exit status. `deadline` is that of
 * ga_now_ms(), 0: none. Returns 1 if there is no such record, 2 after the deadline. */
int cli_on_wait(struct cli *c, const char *name, int64_t deadline, int *ret_status,
		struct ga_error *err);
/* Connect it with this terminal, and sum up what it left. */
int cli_on_attach(struct cli *c, struct ga_on *o, struct ga_error *err);

/* Read the records of sessions whose result is not here, having asked the hosts. */
int cli_on_look(struct cli *c, struct ga_ons *ret, struct ga_error *err);
/* What it does, in a word or two: "unknown" if the host did not answer. */
const char *cli_on_describe(const struct ga_on *o);

#endif
