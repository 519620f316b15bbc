/* SPDX-License-Identifier: MIT
 *
 * Reading one file in git-config syntax with libgit2: the state files of sessions. Include
 * directives are not followed.
 */
#ifndef GA_CONFIGFILE_H
#define GA_CONFIGFILE_H

#include "ga/error.h"
#include "ga/repo.h"

/* Items are in file order, with scope "file" and the path as origin. A file that does not parse is
 * an error that names it. The caller releases `*ret`. */
int ga_configfile_read(const char *path, struct ga_gitconfig *ret, struct ga_error *err);

#endif
