/* SPDX-License-Identifier: MIT
 *
 * Results of `git agent doctor`.
 */
#pragma once

#include <jansson.h>

#include "cli/cli.h"

struct checks {
	json_t *list; /* {check, ok, detail, hint} */
	bool failed;
};
void doctor_add(struct checks *k, const char *check, bool ok, const char *detail, const char *hint);
void doctor_add_error(struct checks *k, const char *check, const struct ga_error *err);

/* Run git-agent-probe, which tries an agent's attacks, in sessions of a scratch repository; one
 * check for each id of docs/threats.md that can be tried. */
void doctor_deep(struct cli *c, struct checks *k);
