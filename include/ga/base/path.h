/* SPDX-License-Identifier: MIT
 *
 * Paths as text: no function here touches the file system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Join: "a", "b" -> "a/b", without a doubled slash if `a` ends in one; "", "b" -> "b". The caller
 * frees it. */
char *ga_path_join(const char *a, const char *b);

/* Is `path` equal to `dir` or beneath it? Both are absolute and normalised. */
bool ga_path_inside(const char *path, const char *dir);
/* The first of `dirs` (NULL-terminated, or NULL) that contains `path`, or NULL. */
const char *ga_path_within(const char *path, const char *const *dirs);

/* The part of `path` beneath `dir` ("" if equal), or NULL if not inside.
 * Points into `path`. */
const char *ga_path_below(const char *path, const char *dir);

/* After the last '/'; the whole string if there is none. Points into `path`. */
const char *ga_path_base(const char *path);

/* Everything before the last '/', "" if there is none, "/" for "/x".
 * The caller frees it. */
char *ga_path_parent(const char *path);
/* The same in place. */
void ga_path_up(char *path);

/* Resolve `path` against directory `dir`, both relative to one root ("" is the root itself),
 * textually. NULL if it leaves the root or is absolute. The caller frees it. */
char *ga_path_resolve(const char *dir, const char *path);

/* Resolve the symlinks of an absolute path as the kernel does. `link` returns the target of the
 * symlink at a path, which is freed, or NULL if it is not a symlink. Returns the resolved path, or
 * NULL after more than `max` symlinks. */
typedef char *ga_path_link_fn(void *arg, const char *path);
char *ga_path_follow(const char *path, unsigned max, ga_path_link_fn *link, void *arg);

/* Could git store this relative path: not empty, no empty, "." or ".." component, no leading or
 * trailing slash? */
bool ga_path_relative_ok(const char *path);

/* Order of git's trees: byte order, a directory sorting as if it ended in '/'. */
int ga_path_tree_cmp(const char *a, size_t alen, bool adir, const char *b, size_t blen, bool bdir);

/* Does HFS+ ignore the code point when it compares names? */
bool ga_path_hfs_ignores(uint32_t c);

/* Would some file system resolve this component to ".git"? Folds case, trailing dots and spaces,
 * ":stream", backslash, NTFS short names (git~N) and the code points that HFS+ ignores (git's fsck
 * rule hasDotgit, on all platforms). */
bool ga_path_component_is_dotgit(const char *name, size_t n);

/* Is any component of `path` such a name? Backslashes separate components, too. */
bool ga_path_names_dotgit(const char *path);

/* Does the component fold to `dotname` in the same way, such as ".gitmodules"? */
bool ga_path_component_folds_to(const char *name, size_t n, const char *dotname);
