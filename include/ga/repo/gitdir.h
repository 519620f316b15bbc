/* SPDX-License-Identifier: MIT
 *
 * Write the agent's private git dir, an upper layer over the base's template, and check what the
 * agent left in it. Nothing on the host ever opens it as a repository.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/refs.h"
#include "ga/repo/repo.h"

struct ga_gitdir_spec {
	const char *branch;              /* full name: refs/heads/agent/<name> */
	const struct ga_oid *base;
	const struct ga_gitconfig *config;
	const struct ga_strv *object_paths; /* the alternates: object directories at their paths
					     * inside */
	const struct ga_strv *filters;   /* names of the host's filters that run inside besides
					  * LFS's; may be NULL */
	const struct ga_refs *refs;      /* refs that the agent sees besides its branch, for
					  * packed-refs */
};

/* Write the files that all private git dirs on a base share into `dir` (mode 0700, without them):
 * config, objects/{info/alternates,pack}, info/exclude (core.excludesFile and the host's
 * info/exclude joined), info/attributes (the host's; core.attributesFile becomes a file beside it),
 * info/sparse-checkout, the log of HEAD, empty refs/{heads,tags}. The config is generated:
 * identity, core settings that shape the tree, remotes, branches and submodules without
 * credentials, filter.lfs.* and those of `filters`, extensions.partialClone with its promisor
 * remote, core.checkStat=minimal, core.trustctime=false. `s->refs` and `s->branch` are not used. No
 * process is started unless the identity is in no configuration. */
int ga_gitdir_template(const struct ga_repo *r, const char *dir, const struct ga_gitdir_spec *s,
		       struct ga_error *err);

/* Write one session's part into `dir` (mode 0700, made by the caller and empty): HEAD, packed-refs
 * with the branch, shallow; and those parts of a template that differ from the one in `template`,
 * over which `dir` will be mounted (NULL: there is none). A copy of packed-refs is left beside the
 * directory as `dir`.refs, for ga_gitdir_untouched(). The index is the base template's. There is no
 * modules/: a populated submodule has a private git dir of its own, mounted as its .git. `s->refs`
 * is sorted by name, as ga_refs_list() returns them. */
int ga_gitdir_fill(const struct ga_repo *r, const char *dir, const char *template,
		   const struct ga_gitdir_spec *s, struct ga_error *err);

/* Add the ids of commits that HEAD was detached at and that a checkout left, as git itself warns
 * of, from the log of HEAD beneath `dir`. False: the log is too long. */
bool ga_gitdir_left(int dir, struct ga_strv *ret);
/* Returns 1 if refs and HEAD are unchanged since ga_gitdir_fill() and there is no such commit, so
 * that there is nothing to fetch; else 0. Read by descriptor, without opening a repository.
 * Bounded; anything odd counts as changed. `branch` is the full name. */
int ga_gitdir_untouched(const char *dir, const char *branch, struct ga_error *err);
/* Are branches, remote branches and the stash the only refs in it that the host does not have? */
bool ga_gitdir_only_branches(const char *dir);

/* Does it contain, at any depth, something that would block git or keep it busy for ever: a fifo
 * where git expects a file, a symlink among the refs (git follows it, even to "/"), or a directory
 * that cannot be listed? */
bool ga_gitdir_has_trap(const char *dir);

/* Strip credentials (user and password, query and fragment) from every URL in the text. All of the
 * host's configuration that a session gets passes through this. The caller frees it. */
char *ga_gitdir_public(const char *text);

/* Append, in git-config syntax, the user's settings that suit any repository: identity and
 * preferences, none that names a command, a key or a file. */
void ga_gitdir_home_config(const struct ga_gitconfig *c, struct ga_buf *out);
