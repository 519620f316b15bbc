/* SPDX-License-Identifier: MIT
 *
 * What the environment says, for both programs of the command line.
 */
#ifndef HOST_H
#define HOST_H

#include "ga/config.h"
#include "ga/start.h"

/* In the environment of git-agent-main when git-agent has begun a sandbox: what
 * ga_run_take_over() wants, a colon, "own" if it has a network of its own, else "host", a colon,
 * and the project that it is for. */
#define CLI_BEGUN "GIT_AGENT_BEGUN"
/* The same when git is reading its configuration: what ga_gitconfig_take_over() wants. */
#define CLI_LOADING "GIT_AGENT_LOADING"

/* Where the programs that run with us are: beside us, or installed. */
int cli_find_programs(struct ga_start_env *e, struct ga_error *err);
/* Home and PATH. */
int cli_find_host(struct ga_start_env *e, struct ga_error *err);
/* After that the settings: the built-in ones and the user's file go to `ret`, which `e` borrows
 * from; with KEY=VALUE `words` as well they make the directories and limits of `e`. */
int cli_read_settings(struct ga_start_env *e, struct ga_config *ret, const struct ga_strv *words,
		      struct ga_error *err);
/* What sessions see besides, as these settings have it: directories, variables. */
void cli_settle_shown(struct ga_start_env *e, const struct ga_config *conf);
/* What rules are told besides; replaces what `ret` has. */
void cli_risk_paths(const struct ga_config *conf, struct ga_risk_paths *ret);

/* Where shims are installed (git agent shim); the caller frees it. */
char *cli_shims(const char *home);

#endif
