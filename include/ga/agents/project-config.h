/* SPDX-License-Identifier: MIT
 *
 * The files of a project that can have an agent run commands without its model
 * (ga/config/preset.h), as the tree of a commit has them.
 */
#ifndef GA_PROJECT_CONFIG_H
#define GA_PROJECT_CONFIG_H

#include "ga/config/preset.h"
#include "ga/repo/snapshot.h"

struct ga_agents_config {
	struct ga_strv paths; /* none: nothing can */
	struct ga_buf text;   /* of what is trusted (ga/config/trust.h): an empty file, and a line
			       * for each path with its id */
	char *why;            /* why their content says too little to be trusted; or NULL */
};
#define GA_AGENTS_CONFIG_INIT { .text = GA_BUF_INIT }
void ga_agents_config_release(struct ga_agents_config *c);
#define cleanup_agents_config cleanup_(ga_agents_config_release)
/* Find them, for an agent that starts in the current directory and looks from there upwards. In
 * doubt a file is one of them. */
int ga_agents_find_config(struct ga_repo *r, const struct ga_preset *p, const struct ga_oid *tree,
			  struct ga_agents_config *ret, struct ga_error *err);
/* Add those that the session shows and no commit has, of what was found in the working tree; with
 * `uncommitted` also changed and untracked ones. What is `masked` is not shown. */
void ga_agents_find_loose(struct ga_repo *r, const struct ga_preset *p, const struct ga_scan *scan,
			  bool uncommitted, const struct ga_strv *masked,
			  struct ga_agents_config *ret);

#endif
