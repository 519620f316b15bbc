/* SPDX-License-Identifier: MIT */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "cli.h"

/* Remove the GIT_* variables that would point git at another repository. */
void cli_scrub_environment(void);
/* Without a HOME, take it from the user database, for git and for us. */
void cli_default_home(void);

/* Fill what a command with these needs may use. */
int cli_context_init(struct cli *c, unsigned needs, struct ga_error *err);
void cli_context_release(struct cli *c);

#endif
