/* SPDX-License-Identifier: MIT
 *
 * Commands on sessions of other machines (ga/on/on.h).
 */
#pragma once

#include "cli.h"
#include "ga/on/on.h"

/* For a command that names sessions on another machine, or defaults to one: run it there, or fetch
 * the result and let the command continue. `words` are those of the command line, `argv` the
 * operands; names that were handled are removed. Returns 1 if all is done, 0 if the command must
 * run, -1. */
int cli_on(struct cli *c, const struct cli_command *cmd, const struct ga_strv *words, size_t *argc,
	   char **argv, struct ga_error *err);
/* After the command: drop there what it dropped here, for gc also what was dropped before. */
int cli_on_after(struct cli *c, const struct cli_command *cmd, size_t argc, char **argv,
		 struct ga_error *err);

/* The variables with API keys of its agent, or NULL; prints which are sent. */
const char *const *cli_on_keys(struct cli *c, const struct ga_on *o);
/* Wait until the session of a record has ended, for its exit status. `deadline` is that of
 * ga_now_ms(), 0: none. Returns 1 if there is no such record, 2 after the deadline. */
int cli_on_wait(struct cli *c, const char *name, int64_t deadline, int *ret_status,
		struct ga_error *err);
/* Attach it to this terminal, then print its summary. */
int cli_on_attach(struct cli *c, struct ga_on *o, struct ga_error *err);

/* Query the hosts, and read the records of sessions whose result was not fetched. */
int cli_on_query(struct cli *c, struct ga_ons *ret, struct ga_error *err);
/* Its status in a word or two: "unknown" if the host did not answer. */
const char *cli_on_describe(const struct ga_on *o);
