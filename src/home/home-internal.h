/* SPDX-License-Identifier: MIT
 *
 * What files of this folder share.
 */
#ifndef HOME_INTERNAL_H
#define HOME_INTERNAL_H

#include <sys/types.h>

#include "ga/base/error.h"
#include "ga/home/home.h"

/* Write the file `rel` beneath the directory `home`, making the directories on the way (0700). No
 * link is followed; one in place of the file itself is replaced. Does not wait for the disk. */
int home_write(int home, const char *rel, const void *p, size_t n, mode_t mode,
	       struct ga_error *err);

/* home.c: ga_home_open() for the home that sessions share, whatever home_mode. */
int home_open_shared(const struct ga_env *e, int *ret_lock, struct ga_error *err);

/* mounts.c: remove from all homes what sandboxes made there to mount on, if `lock`, that of the
 * homes, can be had exclusively. Returns whether that was tried: it may be lost then, or be had so.
 */
bool home_sweep(const struct ga_env *e, int lock);

/* logins.c: bring logins to the same state in the agents' home and another: of each, the one that
 * changed last is copied to where it is older or missing. */
int home_share_logins(const struct ga_env *e, const char *other, struct ga_error *err);

/* notes.c: write notes that tell agents where they are into the home `dir`: a file of our own, and
 * the file that the agent (NULL: none) reads before each task, unless somebody wrote that. */
int home_write_notes(const char *dir, const struct ga_preset *p, struct ga_error *err);

/* versions.c: copy the versions of tools that the user has set into the home `dir`, if it has none.
 */
int home_bring_versions(const char *user, const char *dir, struct ga_error *err);
/* Write the settings that keep caches in the home (ga_cache_file()), where there are none. */
int home_bring_caches(const char *dir, struct ga_error *err);

#endif
