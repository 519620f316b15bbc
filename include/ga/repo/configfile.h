/* SPDX-License-Identifier: MIT
 *
 * Reading one file in git-config syntax. Include directives are not followed.
 */
#ifndef GA_CONFIGFILE_H
#define GA_CONFIGFILE_H

#include "ga/base/error.h"
#include "ga/repo/repo.h"

/* Read the state file of a session with libgit2. Items are in file order, with scope "file" and the
 * path as origin. A file that does not parse is an error that names it. The caller releases
 * `*ret`. */
int ga_configfile_read(const char *path, struct ga_gitconfig *ret, struct ga_error *err);

/* Have git itself parse the text of a file that anybody may have written. It fails, besides for
 * what git refuses, if the list is absurdly long. */
int ga_configfile_parse(const struct ga_repo *r, const struct ga_buf *text,
			struct ga_gitconfig *ret, struct ga_error *err);

#endif
