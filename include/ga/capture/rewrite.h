/* SPDX-License-Identifier: MIT
 *
 * Rewrite the agent's history into the published one: each commit gets its parent's value in the
 * paths of the user's uncommitted work, then in those that the rules hold.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/risk/risk.h"

/* A snapshot commit of the user's uncommitted work, and its parent. */
struct ga_wip_base {
	struct ga_oid work, on;
};

struct ga_wip_opts {
	const struct ga_wip_base *wip_bases; /* snapshots that parts of the history are based on */
	size_t n_wip_bases;
	unsigned rename_ms;            /* how long git may look for renames */
};

/* Rebase the commits that `tips` reach and the host's refs and the snapshots do not from the
 * snapshots onto the parents of these, without the paths of the user's uncommitted work. `paths`
 * (sorted) are those in which a snapshot differs from its parent; renames of them that git finds in
 * any commit, against its parents and against the snapshot, are added, but not copies or empty
 * files. A path above or beneath one counts as well, see ga_wip_has(). Each commit gets the value
 * of its parent there, unless a parent that the host knows has the commit's own; a commit that
 * changes nothing else is left out. Each tip is replaced by its rewritten commit. Author and dates
 * stay; signatures of changed commits are dropped. `*ret_exact`: rename detection took too long,
 * and only found renames of unchanged files. */
int ga_rewrite_wip(struct ga_repo *r, const struct ga_wip_opts *o, struct ga_oid *tips,
		   size_t n_tips, struct ga_strv *paths, bool *ret_exact, struct ga_strv *keeps,
		   struct ga_error *err);

/* The flags of a change from an earlier run of the rules. */
struct ga_classified {
	struct ga_oid old, new; /* trees */
	struct ga_changes changes;
	struct ga_flags flags;
};

struct ga_rewrite_opts {
	const struct ga_oid *base;  /* what the history is based on */
	const struct ga_oid *since; /* report flags for everything since this commit; NULL: since
				     * `base` */
	const struct ga_oid *users; /* a commit of the user: a value that it has, too, is neither
				     * flagged nor held; may be NULL */
	const struct ga_oid *tip;   /* tip of the history, of which base is an ancestor */
	bool fresh;                 /* the history is one commit on base, made a moment ago: no need
				     * to look for it on the host */
	const struct ga_host_facts *facts;
	const struct ga_classified *known; /* results by the same facts; may be NULL */
	const struct ga_strv *hold_always; /* paths that are held whatever the rules say
					    * (tracked by the agent but ignored or untracked on the
					    * host); may be NULL */
	/* Callback: is this blob at the path in the layers below the agent's? Then a user's filter
	 * that did not run on it is a reason to hold it, but not to flag it. May be NULL; returns
	 * 0, or -1 with an error. */
	int (*shows)(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		     struct ga_error *err);
	void *payload;
	const char *committer;      /* of commits that the tool makes: "Name <mail> time zone" */
	const char *session;        /* name, for the held commit's message */
};

struct ga_rewrite {
	struct ga_oid tip;          /* the published tip; == opts.tip if nothing had to change, ==
				     * opts.base if everything that was changed is held */
	struct ga_oid orig;         /* the history before holding; zero if nothing is held */
	struct ga_oid held;         /* child of `tip` with everything; zero if nothing is held */
	struct ga_oid full;         /* the tree of `tip` with everything */
	struct ga_strv held_paths;
	struct ga_flags flags;      /* on the whole range: since -> tip plus held, and what single
				     * commits from base on had; each path once per rule */
	struct ga_strv keeps;       /* .keep files of new packs, to be unlinked once refs exist */
};
#define GA_REWRITE_INIT { 0 }
void ga_rewrite_release(struct ga_rewrite *r);

/* Map every commit of base..tip that no branch, remote branch or tag of the host reaches (the
 * tool's own branches apart), parents first. Each critical path gets the value of a parent that the
 * host knows, else that of the first rewritten parent (closed over file/directory collisions); a
 * parent older than `base` is not asked. A value that a parent known to the host has is never
 * held. A commit of which nothing is left is left out; one that the agent made empty stays.
 * Unchanged commits keep their ids. Author and dates stay; signatures of changed commits are
 * dropped. The caller releases `*ret`, also after a failure. */
int ga_rewrite(struct ga_repo *r, const struct ga_rewrite_opts *o, struct ga_rewrite *ret,
	       struct ga_error *err);

/* Called before all others: make texts safe to show, as `git log --all` prints every commit of the
 * agent that a ref reaches. Commits that `tips` reach and the host's refs (as above) do not, and
 * that have control characters in their message or names, or a message in an encoding that could
 * hide some, are rewritten with those escaped, and so are their descendants; each tip is replaced
 * by its rewritten commit. Commits that `known` (at least one) reach are not rewritten either.
 * `*ret_cleaned`: the number of commits that had some. `claimed`, unless it is NULL, gets the keys
 * of trailers in their messages that only git agent writes, each once. */
int ga_rewrite_texts(struct ga_repo *r, const struct ga_oid *known, size_t n_known,
		     struct ga_oid *tips, size_t n_tips, size_t *ret_cleaned,
		     struct ga_strv *claimed, struct ga_strv *keeps, struct ga_error *err);
