/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include "ga/base/buf.h"
#include "ga/sandbox/sandbox.h"

/* Host directories shown read-only at their own paths, if they exist; NULL-terminated. */
extern const char *const sandbox_system_dirs[];

/* The same for Homebrew's usual place; only if its "bin" exists. */
extern const char *const sandbox_brew_dirs[];

/* Names in "/" that are symlinks into /usr on most systems and directories on others;
 * NULL-terminated, without the slash. */
extern const char *const sandbox_root_names[];
extern const char *const sandbox_fresh_dirs[];

/* realpath(), or a copy of `path` where that fails. */
char *sandbox_real(const char *path);

/* The system or `ro` directory of `s` that shows host path `path` inside, or NULL. */
const char *sandbox_shown_by(const struct ga_spec *s, const char *path);

/* links.c */
void sandbox_links_release(struct ga_spec *s);
/* Append the operations that make the links below the agents' home (`home`), or those elsewhere. */
void sandbox_make_links(const struct ga_spec *s, bool home, struct ga_buf *b);

/* Is it "/", or does it equal, contain or shadow a directory that the system consists of? */
bool sandbox_is_system(const char *path);
/* Is it, or is it in, a directory of the system that every sandbox shows? */
bool sandbox_in_system(const char *path);

/* Would the host's `path` be visible inside? Unlike ga_spec_visible(), ignores the agents' home. */
bool sandbox_shows(const struct ga_spec *s, const char *path);

/* The part of ga_mount_check() that no setting can change: the system, home, credentials, and the
 * places of sessions. */
int sandbox_check_place(const struct ga_mount_place *place, const char *path, struct ga_error *err);

/* Is this directory, or one above it, a repository's working tree or git directory? */
bool sandbox_in_repository(const char *path);

/* May the directory `rel` of the user's home be, contain or lie in a credential? */
bool sandbox_is_secret(const char *rel);

/* Append words for the plan, alternately "mask-file" or "mask-dir" and REL, for the files in tool
 * directories that may hold credentials: those that exist, with `*` expanded, and symlinks replaced
 * by what they lead to. Relative to home. */
void sandbox_tool_masks(const char *home, const struct ga_strv *tools, struct ga_strv *ret);

/* Append words to a plan or an argument list, each with its NUL. */
void sandbox_words(struct ga_buf *b, ...) __attribute__((sentinel));

/* May bwrap start before home and project are mounted? Not if they could hide something mounted
 * earlier: bwrap must not be examining the mounts then. */
bool sandbox_starts_early(const struct ga_spec *s);
