/* SPDX-License-Identifier: MIT
 *
 * Which secrets of a repository a session would see, found before it starts and classified by what
 * their path is to git. The value of a secret is never kept, stored or shown. Paths are raw bytes,
 * not escaped.
 */
#ifndef GA_EXPOSURE_H
#define GA_EXPOSURE_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"
#include "ga/repo/snapshot.h"
#include "ga/secret/secret.h"

enum ga_exposed_as {
	GA_EXPOSED_COMMITTED, /* in the tree that sessions start from */
	GA_EXPOSED_MODIFIED,  /* tracked, and the file has one that is in no commit there */
	GA_EXPOSED_UNTRACKED,
	GA_EXPOSED_IGNORED,
	GA_EXPOSED_HISTORY,   /* in another commit, a stash or a reflog */
	GA_EXPOSED_CONFIG,    /* in the repository's git configuration */
};
const char *ga_exposed_name(enum ga_exposed_as as);

enum ga_exposed_view {
	GA_VIEW_SEEN,
	GA_VIEW_MASKED, /* a session does not see it, because it is masked */
	GA_VIEW_ABSENT, /* never shown to a session in any case */
};
const char *ga_view_name(enum ga_exposed_view v);

struct ga_exposed {
	char *path; /* relative to the top of the working tree */
	struct ga_secret secret;
	enum ga_exposed_as as;
	enum ga_exposed_view view;
	bool clear; /* committed encrypted, but a git filter decrypts it at checkout */
};
struct ga_exposure {
	struct ga_exposed *v;
	size_t n, cap;
	bool incomplete; /* a limit was reached: there may be more */
};
#define GA_EXPOSURE_INIT { NULL, 0, 0, false }
void ga_exposure_release(struct ga_exposure *x);
#define cleanup_exposure cleanup_(ga_exposure_release)
/* Sort by severity, the worst first, then by path. */
void ga_exposure_sort(struct ga_exposure *x);

struct ga_exposure_opts {
	struct ga_repo *repo;
	const char *state_dir;       /* where results are cached (0600); NULL: no cache */
	bool dry;                    /* read the cache, but do not write it */
	const struct ga_strv *add, *allow; /* the user's patterns (ga/secret/secret.h) */
	const struct ga_scan *scan;  /* look for files in these lists and below the ignored
				      * directories among them; NULL: at no files */
	const struct ga_oid *tree;   /* look for committed files in this tree; NULL: at none */
	bool live;                   /* all of the working tree is visible to the session: look at
				      * what the scan left out, too, and at paths that the index
				      * marks to be passed over */
	bool all_dirs;               /* look into directories that package managers fill, too */
};
/* Append all findings to `ret`. A file is read if its name matches a rule that asks for its
 * content, at most its first GA_SECRET_LOOK_MAX bytes. With a cache, a file is not read again, nor
 * a directory listed again, while its times, size and inode are the same, and of a tree only the
 * changes since are looked at. Directories that package managers fill (ga_exposure_skips()) are
 * passed over unless `all_dirs`. Links are not followed; but a file of the project to which a link
 * with a secret's name leads counts as that secret, and so does every other name (hard link) of a
 * live secret. At most half a GiB of committed content is read, each blob once; beyond that
 * `ret->incomplete` is set and the worst is assumed. */
int ga_exposure_find(const struct ga_exposure_opts *o, struct ga_exposure *ret,
		     struct ga_error *err);
/* The same for all commits reachable from any ref, stash or reflog, except for what `o->tree` has.
 * Reads the whole history. */
int ga_exposure_history(const struct ga_exposure_opts *o, struct ga_exposure *ret,
			struct ga_error *err);
/* The same for the repository's git configuration, where a remote's URL or a header may hold a
 * token. */
void ga_exposure_config(const struct ga_gitconfig *c, struct ga_exposure *ret);

/* Mark as masked what a session will not be shown: live secrets (T1) that are not committed in
 * clear text, except for the paths in `expose` and what lies beneath them. What is committed is in
 * every session's history anyway and is not hidden. */
void ga_exposure_mask(struct ga_exposure *x, const struct ga_strv *expose);

/* Is `name` that of a directory that package managers fill? */
bool ga_exposure_skips(const char *name);

#endif
