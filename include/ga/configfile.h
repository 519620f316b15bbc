/* SPDX-License-Identifier: MIT
 *
 * Reading one file in git-config syntax, by libgit2: the state files of
 * sessions. What a file includes is left out.
 */
#ifndef GA_CONFIGFILE_H
#define GA_CONFIGFILE_H

#include "ga/error.h"
#include "ga/repo.h"

/* Items in file order, scope "file", origin the path. A file that does not
 * parse is an error that names it. */
int ga_configfile_read(const char *path, struct ga_gitconfig *ret, struct ga_error *err);

#endif
