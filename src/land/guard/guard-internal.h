/* SPDX-License-Identifier: MIT */
#pragma once

#include "ga/land/guard.h"

/* <commondir>/git-agent/guard; caller frees. */
char *guard_dir(const struct ga_repo *r);

/* Are the hooks installed? `*ret_elsewhere`, set only then: another core.hooksPath overrides
 * that. */
bool guard_installed(const struct ga_repo *r, const struct ga_gitconfig *c, bool *ret_elsewhere);
/* Install the hooks, remove them. Both can be repeated. */
int guard_install(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err);
int guard_remove(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err);
