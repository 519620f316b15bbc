/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/agents/agents.h"
#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/home/home.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

/* agents.c: the directory, not accessible to agents, that records the versions the user
 * installed. */
char *agents_notes(const struct ga_env *e);
/* Where a command is on the host, or NULL. Agents are also searched in installers' places; if found
 * there, `*ret_place` (`ret_place` may be NULL) is that directory. Caller frees both. */
char *agents_find_command(const struct ga_env *e, const char *command, char **ret_place);
