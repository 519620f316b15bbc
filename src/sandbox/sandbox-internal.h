/* SPDX-License-Identifier: MIT
 *
 * Shared inside src/sandbox.
 */
#ifndef SANDBOX_INTERNAL_H
#define SANDBOX_INTERNAL_H

#include "ga/buf.h"
#include "ga/sandbox.h"

/* Host directories shown read-only at their own place, as far as they exist;
 * NULL-terminated. */
extern const char *const sandbox_system_dirs[];

/* The same of Homebrew's usual place; where its "bin" is not, there is nothing. */
extern const char *const sandbox_brew_dirs[];

/* Names in "/" that are symlinks into /usr on most systems and directories on
 * some; NULL-terminated, without the slash. */
extern const char *const sandbox_root_names[];

/* realpath(), or a copy of `path` where that fails. */
char *sandbox_real(const char *path);

/* The system or `ro` directory of `s` that shows host path `path` inside, or NULL. */
const char *sandbox_shown_by(const struct ga_spec *s, const char *path);

/* May the directory `rel` of the user's home be, hold or lie in what is a credential? */
bool sandbox_is_secret(const char *rel);

/* Files in tool directories that may hold credentials, relative to home: those that
 * exist, `*` expanded, behind symlinks the place they lead to; as words of the plan:
 * "mask-file" REL or "mask-dir" REL, in turn. */
void sandbox_tool_masks(const char *home, const struct ga_strv *tools, struct ga_strv *ret);

/* Append words to a plan or an argument list, each with its NUL. */
void sandbox_words(struct ga_buf *b, ...) __attribute__((sentinel));

/* Is bwrap started before home and project are there? Not where they could hide something that
 * is mounted before: bwrap must not be looking at the mounts then. */
bool sandbox_starts_early(const struct ga_spec *s);

/* What others cannot read among the system's configuration: absolute paths of files
 * and directories. For uid 0, to whom the mode alone says nothing. */
int sandbox_private_files(struct ga_strv *files, struct ga_strv *dirs, struct ga_error *err);

/* Where that is looked for and whatever comes to be there is kept from uid 0 as well: directories,
 * each of which is shown by a mount of its own then. */
void sandbox_disowned(struct ga_strv *ret);

/* ---- place.c: why a sandbox may fail here */

/* Where this is no plain machine, say in the hint what allows sandboxes there. */
bool sandbox_hint_place(struct ga_error *err);
/* Is there a filter of system calls on us? */
bool sandbox_is_filtered(void);
/* True, with error and hint, if the kernel is too old for anything. */
bool sandbox_explain_old(struct ga_error *err);

#endif
