/* SPDX-License-Identifier: MIT
 *
 * Compare, replace and remove single files of the working tree. `root`
 * is a descriptor of the working tree; paths are relative to it, and no symlink above the last
 * component is followed. /
 */
#ifndef LAND_FILES_H
#define LAND_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"

/* A file in the working tree: its bytes as they are, not as git would store them. */
struct land_look {
	mode_t mode; /* type and permissions; 0: nothing is there */
	struct ga_oid oid;
};

/* The file or link at a path, opened for reading. */
struct land_here {
	mode_t mode; /* type and permissions; 0: nothing is there */
	int fd;      /* -1: no file */
	uint64_t size;
	char target[PATH_MAX];
};
/* Returns 1 for anything that is neither, or cannot be read. */
int land_open_here(int root, const char *path, struct land_here *ret);
void land_here_release(struct land_here *h);
int land_open_root(const struct ga_repo *r, struct ga_error *err);

/* The first file or link above the path, by its own path; NULL: there are only directories. The
 * caller frees it. */
char *land_file_above(int root, const char *path);
bool land_dir_here(int root, const char *path);
/* False if it cannot be read. A directory counts as nothing. */
bool land_look_here(int root, const char *path, struct land_look *ret);
/* Equal in type, bytes and the owner's execute bit; an umask may change the other permissions. */
bool land_look_equal(const struct land_look *a, const struct land_look *b);
/* Permissions for a file that replaces another: users who could read that one can read it, and
 * execute it if it is executable. */
mode_t land_perms(const struct stat *st, bool exec);
/* Open the directory of `path` beneath `root`, creating what is missing. -1 with errno. */
int land_open_parent(int root, const char *path);
/* What land_put() copies: the file or link `name` in `from`, first made as `part` beside its place.
 * It gets the permissions in `mode` unless those are 0; a symlink's target may be a file's
 * content. */
struct land_copy {
	int from;
	const char *name;
	mode_t mode;
	const char *part;
};
/* Put it at `path`, replacing what is there once the copy is complete, a directory too if there are
 * only directories in it. GA_ELOSE, with no file touched, if what is there is not `over` (NULL:
 * anything), or is a directory with files. A write by somebody else between that check and the
 * rename is lost. */
int land_put(const struct land_copy *c, int root, const char *path, const struct land_look *over,
	     struct ga_error *err);
/* Remove a directory in which there are only directories. -1: a file is in it, and stays, with the
 * directories above it; or an error. */
int land_remove_hollow(int root, const char *path);
/* Remove such a part, left when writing `path` was interrupted. */
void land_sweep(int root, const char *path, const char *part);
/* Remove what is at `path` if it is `over`, as above, and directories that become empty. Nothing
 * there is no error. */
int land_remove(int root, const char *path, const struct land_look *over, struct ga_error *err);

#endif
