/* SPDX-License-Identifier: MIT */
#ifndef GA_GUARD_INTERNAL_H
#define GA_GUARD_INTERNAL_H

#include "ga/land/guard.h"

/* <commondir>/git-agent/guard; caller frees. */
char *guard_dir(const struct ga_repo *r);

/* Are the hooks installed? `*ret_elsewhere`, set only then: another core.hooksPath overrides
 * that. */
bool guard_installed(const struct ga_repo *r, const struct ga_gitconfig *c, bool *ret_elsewhere);
/* Install the hooks, remove them. Both can be repeated. */
int guard_install(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err);
int guard_remove(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_error *err);

/* guard-config.c. Does the path end as that of the file `name` in a guard's directory? The one of
 * this repository, or of where it was before it was moved or copied. */
bool guard_is_ours(const char *path, const char *name);
/* A path as git takes it from configuration, which may be relative to the working tree. The caller
 * frees it. */
char *guard_from_worktree(const struct ga_repo *r, const char *path);
/* The last value of a key in the scope of the repository, or NULL. */
const char *guard_value(const struct ga_gitconfig *c, const char *key);
/* core.hooksPath in the repository's configuration file itself, or NULL. What files have that it
 * includes is the user's, and stays there. */
const char *guard_hooks_path(const struct ga_repo *r, const struct ga_gitconfig *c);
/* The last value of core.hooksPath, wherever it is set, that is no guard's, or NULL. */
const char *guard_users_path(const struct ga_gitconfig *c);

#endif
