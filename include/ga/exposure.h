/* SPDX-License-Identifier: MIT
 *
 * What of a repository's secrets a session would see: found before it starts, by what each path is
 * to git. No value is kept, stored or shown; paths are bytes and not escaped.
 */
#ifndef GA_EXPOSURE_H
#define GA_EXPOSURE_H

#include <stdbool.h>
#include <stddef.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/secret.h"
#include "ga/snapshot.h"
#include "ga/strv.h"

enum ga_exposed_as {
	GA_EXPOSED_COMMITTED, /* in the tree that sessions stand on */
	GA_EXPOSED_MODIFIED,  /* tracked, with something that is in no commit there */
	GA_EXPOSED_UNTRACKED,
	GA_EXPOSED_IGNORED,
	GA_EXPOSED_HISTORY,   /* in another commit, a stash, a log of refs */
	GA_EXPOSED_CONFIG,    /* in git's own configuration of the repository */
};
const char *ga_exposed_name(enum ga_exposed_as as);

enum ga_exposed_view {
	GA_VIEW_SEEN,
	GA_VIEW_MASKED, /* kept out */
	GA_VIEW_ABSENT, /* never shown */
};
const char *ga_view_name(enum ga_exposed_view v);

struct ga_exposed {
	char *path; /* relative to the top */
	struct ga_secret secret;
	enum ga_exposed_as as;
	enum ga_exposed_view view;
	bool clear; /* committed, but encrypted: a filter of git's opens it at checkout */
};
struct ga_exposure {
	struct ga_exposed *v;
	size_t n, cap;
	bool incomplete; /* a limit was met: there may be more */
};
#define GA_EXPOSURE_INIT { NULL, 0, 0, false }
void ga_exposure_release(struct ga_exposure *x);
#define cleanup_exposure cleanup_(ga_exposure_release)
/* The worst first, then by path. */
void ga_exposure_sort(struct ga_exposure *x);

struct ga_exposure_opts {
	struct ga_repo *repo;
	const char *state_dir;       /* where what is known of files is kept (0600), or NULL */
	bool dry;                    /* only read there */
	const struct ga_strv *add, *allow; /* the user's patterns, as ga/secret.h has them */
	const struct ga_scan *scan;  /* files are looked for in these lists, and in what lies in the
				      * ignored directories; NULL: nowhere */
	const struct ga_oid *tree;   /* committed files; NULL: none */
	bool live;                   /* all of the working tree is shown: what the scan passed over
				      * is looked at, too, and what the index is told not to be */
	bool all_dirs;               /* those that package managers fill, too */
};
/* Append what there is. A file is read if its name matches a rule that asks for its content, up to
 * GA_SECRET_LOOK_MAX bytes of it, and not again while its times, size and inode stay; neither are
 * directories, nor a tree but for what changed. Directories that package managers fill
 * (ga_exposure_skips()) are passed over. Links are not followed, but a file of the project that a
 * link of a secret's name leads to counts as one, and so does every name of a live secret that has
 * several. Of what is committed half a GiB is read at most, each blob once; beyond it
 * `ret->incomplete` is set, and the worst is assumed. */
int ga_exposure_find(const struct ga_exposure_opts *o, struct ga_exposure *ret,
		     struct ga_error *err);
/* The same of all commits that any ref, stash or log of a ref leads to, but for `o->tree`. Reads
 * all of history. */
int ga_exposure_history(const struct ga_exposure_opts *o, struct ga_exposure *ret,
			struct ga_error *err);
/* And of the configuration of the repository, where a remote's URL or a header may hold a token. */
void ga_exposure_config(const struct ga_gitconfig *c, struct ga_exposure *ret);

/* Say of each that it is masked which a session would not be shown: live secrets (T1) that are in
 * no commit in clear, but for the paths in `expose` and what lies beneath them. What is committed
 * is in every session's history, and is not hidden. */
void ga_exposure_mask(struct ga_exposure *x, const struct ga_strv *expose);

/* Is it the name of a directory that package managers fill? */
bool ga_exposure_skips(const char *name);

#endif
