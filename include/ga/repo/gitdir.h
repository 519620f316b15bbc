/* SPDX-License-Identifier: MIT
 *
 * The agent's private git dir: what is written into the upper layer over the base's template.
 * Nothing on the host ever opens the result as a repository.
 */
#ifndef GA_GITDIR_H
#define GA_GITDIR_H

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

/* Write what all private git dirs on a base have in common into `dir` (mode 0700, which has none of
 * it yet): config, objects/{info/alternates,pack}, info/exclude (core.excludesFile and the host's
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
/* Did the agent leave refs and HEAD as ga_gitdir_fill() wrote them, and no such commit? Read by
 * descriptor, without opening a repository. Returns 1 if all is as written (there are no commits to
 * fetch), 0 if something differs. Bounded; anything odd counts as different. `branch` is the full
 * name. */
int ga_gitdir_untouched(const char *dir, const char *branch, struct ga_error *err);
/* Are branches, remote branches and the stash the only refs in it that the host does not have? */
bool ga_gitdir_only_branches(const char *dir);

/* Does it hold, at any depth, something that would make git block or wander for ever: a fifo where
 * git expects a file, a symlink among the refs (git follows it, even to "/"), or a directory that
 * cannot be listed? */
bool ga_gitdir_has_trap(const char *dir);

/* The text with every URL in it without what gives access: user and password, query and fragment.
 * Whatever of the host's configuration is for a session goes through this. The caller frees it. */
char *ga_gitdir_public(const char *text);

/* Append, as the text of a configuration file, the settings of the user that suit any repository:
 * identity and habits, nothing that names a command, a key or a file. May append nothing. */
void ga_gitdir_home_config(const struct ga_gitconfig *c, struct ga_buf *out);

#endif
