/* SPDX-License-Identifier: MIT
 *
 * Shared by the files that make a private git dir.
 */
#pragma once

#include "ga/repo/gitdir.h"
#include "repo/repo-internal.h"

/* The place of the host's core.attributesFile: a file of its own, since info/attributes would take
 * precedence over the project's .gitattributes. */
#define GA_GITDIR_ATTRIBUTES "info/attributes-user"

/* Append the configuration of a private git dir. `attributes`: it has a GA_GITDIR_ATTRIBUTES. */
void ga_gitdir_config(const struct ga_repo *r, const struct ga_gitconfig *c, bool attributes,
		     const struct ga_strv *filters,
		      struct ga_buf *out);

/* A remote's URL without credentials; NULL: it names a remote helper, and what follows may be a
 * command. The caller frees it. */
char *ga_gitdir_public_url(const char *url);
