/* SPDX-License-Identifier: MIT
 *
 * The parts that make a private git dir.
 */
#ifndef GA_GITDIR_INTERNAL_H
#define GA_GITDIR_INTERNAL_H

#include "ga/gitdir.h"
#include "repo-internal.h"

/* The host's core.attributesFile: a file of its own, for info/attributes
 * would overrule the project's .gitattributes. */
#define GA_GITDIR_ATTRIBUTES "info/attributes-user"

/* `attributes`: there is a GA_GITDIR_ATTRIBUTES. */
void ga_gitdir_config(const struct ga_repo *r, const struct ga_gitconfig *c, bool attributes,
		     const struct ga_strv *filters,
		      struct ga_buf *out);

/* An address without credentials; NULL if none may be shown. Caller frees. */
char *ga_gitdir_public_url(const char *url);

#endif
