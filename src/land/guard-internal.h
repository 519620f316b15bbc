/* SPDX-License-Identifier: MIT */
#ifndef GA_GUARD_INTERNAL_H
#define GA_GUARD_INTERNAL_H

#include "ga/guard.h"

/* <commondir>/git-agent/guard; caller frees. */
char *guard_dir(const struct ga_repo *r);

/* How the hooks are installed now. */
enum ga_guard_how guard_installed(const struct ga_repo *r, const struct ga_gitconfig *c,
				  bool *ret_elsewhere);
/* Install the hooks; remove them, however they were installed. Both can be repeated. */
int guard_install(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err);
int guard_remove(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err);

#endif
