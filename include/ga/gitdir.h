/* SPDX-License-Identifier: MIT
 *
 * The agent's private git dir: what is written into the upper layer over the
 * base's template. Nothing on the host ever opens the result as a repository.
 */
#ifndef GA_GITDIR_H
#define GA_GITDIR_H

#include <stdbool.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/refs.h"
#include "ga/repo.h"
#include "ga/strv.h"

struct ga_gitdir_spec {
	const char *branch;              /* full name: refs/heads/agent/<name> */
	const struct ga_oid *base;
	const struct ga_gitconfig *config;
	const struct ga_strv *object_paths; /* where object dirs are inside: alternates */
	const struct ga_strv *filters;   /* of the host's filters, which run inside besides LFS's;
					  * may be NULL */
	const struct ga_refs *refs;      /* the agent sees them besides its branch (packed-refs) */
};

/* What all private git dirs on a base have alike, into `dir` (mode 0700, without any of these):
 * config, objects/{info/alternates,pack}, info/exclude (core.excludesFile and the host's
 * info/exclude joined), info/attributes (the host's; core.attributesFile is a file beside it),
 * info/sparse-checkout, the log of HEAD, empty refs/{heads,tags}. Config is generated: identity,
 * core settings that shape the tree, remotes, branches and submodules without credentials,
 * filter.lfs.* and those of `filters`, extensions.partialClone with its promisor remote,
 * core.checkStat=minimal, core.trustctime=false. Of `s`, refs and branch are not looked at. No
 * process is started, unless the identity is in no configuration. */
int ga_gitdir_template(const struct ga_repo *r, const char *dir, const struct ga_gitdir_spec *s,
		       struct ga_error *err);

/* One session's, into `dir` (mode 0700, made by the caller and empty): HEAD, packed-refs with
 * the branch, shallow; and of what is in a template that which is not like it in `template`, over
 * which `dir` will be mounted (NULL: nothing). What the packed refs were is left beside the
 * directory, in `dir`.refs. The index is the base template's. There is no modules/: a populated
 * submodule has a private git dir of its own, mounted as its .git. `s->refs` is sorted by name,
 * as ga_refs_list() gives them. */
int ga_gitdir_fill(const struct ga_repo *r, const char *dir, const char *template,
		   const struct ga_gitdir_spec *s, struct ga_error *err);

/* What the agent left, read by descriptor without opening a repository: has it
 * touched refs or HEAD at all since ga_gitdir_fill()? 1: everything is as written
 * (no commits to fetch); 0: something differs. Bounded; anything odd counts as
 * different. `branch` is the full name. */
int ga_gitdir_untouched(const char *dir, const char *branch, struct ga_error *err);
/* The same of refs that are neither branches, of remotes too, nor the stash: true if there are none
 * that the host does not have. */
bool ga_gitdir_only_branches(const char *dir);

/* Does it hold, at any depth, what makes git wait or wander for ever: a fifo where it
 * expects a file, a link among the refs (it goes into what that leads to, "/" too), or
 * a directory that cannot be looked through? */
bool ga_gitdir_has_trap(const char *dir);

/* What of the user's own configuration is for any repository: identity and habits, nothing that
 * names a command, a key or a file. Appends the text of a configuration file; nothing if there is
 * nothing. */
void ga_gitdir_home_config(const struct ga_gitconfig *c, struct ga_buf *out);

#endif
