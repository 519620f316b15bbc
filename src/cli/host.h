/* SPDX-License-Identifier: MIT
 *
 * The environment as git-agent and git-agent-main read it.
 */
#pragma once

#include "ga/config/config.h"
#include "ga/start/start.h"

/* Set by git-agent for git-agent-main when it has begun a sandbox: "WORD:NETWORK:PROJECT", where
 * WORD is for ga_run_take_over() and NETWORK is "own" if it has a network of its own, else "host".
 */
#define CLI_BEGUN "GIT_AGENT_BEGUN"
/* Set when git is reading its configuration for it: a word for ga_gitconfig_take_over(). */
#define CLI_LOADING "GIT_AGENT_LOADING"

/* Set for a session on a terminal: a descriptor. The process that the user called is our parent,
 * and ends with our exit status, or with 0 once something is written there. */
#define CLI_KEEPER "GIT_AGENT_KEEPER"

/* The path of this program; NULL with `err`. Caller frees. */
char *cli_own_program(struct ga_error *err);
/* Find our helper programs: in the directory of this one (the build tree, or installed), or in
 * libexec. */
int cli_find_programs(struct ga_env *e, struct ga_error *err);
/* Take the environment, HOME and PATH into `e`. */
int cli_find_host(struct ga_env *e, struct ga_error *err);
/* Then read the settings: defaults and the user's file into `ret`; with the KEY=VALUE `words` they
 * fill `e`. */
int cli_read_settings(struct ga_env *e, struct ga_config *ret, const struct ga_strv *words,
		      struct ga_error *err);
/* Make these the settings of the session at hand. */
void cli_take_settings(struct ga_env *e, const struct ga_config *conf);
/* Take risk.* and filters of these settings; replaces what `ret` has. */
void cli_risk_paths(const struct ga_config *conf, struct ga_risk_paths *ret);

/* The directory that 'git agent shim' installs into. Caller frees. */
char *cli_shims(const char *home);
