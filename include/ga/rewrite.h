/* SPDX-License-Identifier: MIT
 *
 * From the agent's history to the published one: replayed off the user's
 * uncommitted work, with critical paths held back.
 */
#ifndef GA_REWRITE_H
#define GA_REWRITE_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/risk.h"
#include "ga/strv.h"

/* What rules said of a change before. */
struct ga_classified {
	struct ga_oid old, new; /* trees */
	struct ga_changes changes;
	struct ga_flags flags;
};

/* A commit of the user's uncommitted work, and what is published in its place. */
struct ga_stand {
	struct ga_oid work, on;
};

struct ga_rewrite_opts {
	const struct ga_oid *base;  /* what the agent's history stands on */
	const struct ga_oid *onto;  /* what the published one stands on; base if none was carried */
	const struct ga_stand *stands; /* commits of uncommitted work that parts of the history
					* stand on besides, oldest first ... */
	size_t n_stands;               /* ... how many; with base == onto there are none */
	const struct ga_oid *since; /* flags are of all from here on; NULL: from `onto` */
	const struct ga_oid *users; /* a commit of the user's: what it has as well is no flag of
				     * what came before `onto`; may be NULL */
	const struct ga_oid *tip;   /* the agent's history, base an ancestor */
	bool rest;                  /* `tip` is what the agent left uncommitted: published only if
				     * something of it stays */
	bool fresh;                 /* all of it is one commit on base, made a moment ago: what the
				     * host has needs no looking at */
	const struct ga_host_facts *facts;
	const struct ga_classified *known; /* by the same facts; may be NULL */
	const struct ga_strv *hold_always; /* paths held back whatever their rules say (tracked
					    * by the agent but ignored or untracked on the
					    * host); may be NULL */
	/* Is this what shows at the path beneath all that the agent wrote? Then a filter of the
	 * user's that did not run on it is a reason to hold it back, but none to ask. May be NULL;
	 * 0, or -1 with an error. */
	int (*shows)(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		     struct ga_error *err);
	void *payload;
	uint64_t merges;            /* what carrying over may cost in all commits but the last, as
				     * of ga_merge_entry_within(); 0: 4 GiB, about a minute */
	const char *committer;      /* of commits the tool makes: "Name <mail> time zone" */
	const char *session;        /* name, for the held commit's message */
};

struct ga_rewrite {
	struct ga_oid tip;          /* published; == opts.tip when nothing had to change, and
				     * == opts.onto when all that was changed is held or left out */
	struct ga_oid carried;      /* history before replay, if base != onto; else zero */
	struct ga_oid orig;         /* history before holding back; zero when nothing was held */
	struct ga_oid held;         /* child of `tip` with everything; zero when nothing is held */
	struct ga_oid full;         /* tree of `tip` with everything */
	struct ga_strv held_paths;
	struct ga_strv left_out;    /* what `tip` lacks: not to be told from the user's work, or
				     * that under another name */
	struct ga_strv unsure;      /* what was too much to look for that in: `tip` has it, or a
				     * commit before it */
	struct ga_strv summed;      /* what was too much to carry over in each commit: `tip` has all
				     * that was done to it, those before may not */
	struct ga_flags flags;      /* of the whole range: since -> tip plus held, and what
				     * commits from base on had; each path once for a rule */
	struct ga_strv keeps;       /* .keep files of new packs, to be unlinked once refs exist */
};
#define GA_REWRITE_INIT { 0 }
void ga_rewrite_release(struct ga_rewrite *r);

/* Every commit of base..tip that no branch, remote branch or tag of the host (the
 * tool's own branches apart) reaches is mapped, parents first: its tree is carried over
 * off the uncommitted work that it stands on (base: to `onto`; of those a merge joins it is the
 * latest) by three-way per path and without what is made of that under other names, then
 * critical paths get the value a parent known to the host has, else the first rewritten
 * parent's (closed over file/directory collisions); a parent older than `onto` is not
 * asked. A value that a parent known to the host has is never held back. Unchanged
 * commits keep their ids. Author and dates stay; signatures of changed commits are
 * dropped. `*ret` is released first. */
int ga_rewrite(struct ga_repo *r, const struct ga_rewrite_opts *o, struct ga_rewrite *ret,
	       struct ga_error *err);

/* Is a line that the file `with` has and `without` has not in `is`, which was merged to be without
 * them? To a merge by lines one that was moved within a file is one gone and another one come.
 * 1 yes, or they are too long to tell or no text; 0, also if one of the three is no file. */
int ga_rewrite_shows(struct ga_repo *r, const struct ga_entry *with,
		     const struct ga_entry *without, const struct ga_entry *is,
		     struct ga_error *err);

/* Before all that: whatever of the agent's becomes a ref of any kind is shown by `git log --all`
 * as it is. Commits that `tips` reach and nothing of the host's (as above), with control
 * characters in their message or names, or with a message in an encoding that could hide some,
 * are rewritten with them escaped, and so are those that stand on them; each tip becomes what
 * it was rewritten to. What `known` (at least one) reach stays as well. `*ret_cleaned`: how many
 * had some. */
int ga_rewrite_texts(struct ga_repo *r, const struct ga_oid *known, size_t n_known,
		     struct ga_oid *tips, size_t n_tips, size_t *ret_cleaned,
		     struct ga_strv *keeps, struct ga_error *err);

#endif
