/* SPDX-License-Identifier: MIT
 *
 * The setting `hosts`: hosts of `git agent start --on` that need more than a name for ssh. Only the
 * user's file has it.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/base/strv.h"

struct ga_host {
	char *ssh;     /* ssh's name for it; NULL: the same */
	bool slurm;    /* sessions are jobs of Slurm, submitted there */
	char *scratch; /* directory on a disk of the node for those; NULL: /tmp */
	struct ga_strv sbatch;        /* options of these jobs */
	struct ga_strv run, terminal; /* commands that run another there, in place of ssh */
};
#define GA_HOST_INIT { 0 }
void ga_host_release(struct ga_host *h);
#define cleanup_host cleanup_(ga_host_release)

/* A word of the setting: "NAME" or "NAME MEMBER: VALUE". */
bool ga_host_word_ok(const char *word);
extern const char *const ga_host_members[];
/* Find the settings of the host of this name, which need not exist. Fails for conflicting
 * members. */
int ga_host_find(const struct ga_strv *words, const char *name, struct ga_host *ret,
		 struct ga_error *err);
