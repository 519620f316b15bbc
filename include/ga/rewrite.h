/* SPDX-License-Identifier: MIT
 *
 * From the agent's history to the published one: replayed without the user's uncommitted work, and
 * with critical paths held back.
 */
#ifndef GA_REWRITE_H
#define GA_REWRITE_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/risk.h"
#include "ga/strv.h"

/* What rules said of a change when they ran on it before. */
struct ga_classified {
	struct ga_oid old, new; /* trees */
	struct ga_changes changes;
	struct ga_flags flags;
};

/* A commit of the user's uncommitted work, and the commit that replaces it in the published
 * history. */
struct ga_stand {
	struct ga_oid work, on;
};

struct ga_rewrite_opts {
	const struct ga_oid *base;  /* the base of the agent's history */
	const struct ga_oid *onto;  /* the base of the published one; == base if nothing was
				     * carried */
	const struct ga_stand *stands; /* further commits of uncommitted work that parts of the
					* history are based on, oldest first ... */
	size_t n_stands;               /* ... and their number; with base == onto there are none */
	const struct ga_oid *since; /* report flags for everything since this commit; NULL: since
				     * `onto` */
	const struct ga_oid *users; /* a commit of the user's: what it has, too, is not flagged in
				     * what came before `onto`; may be NULL */
	const struct ga_oid *tip;   /* tip of the agent's history, of which base is an ancestor */
	bool rest;                  /* `tip` is a commit of what the agent left uncommitted:
				     * published only if something of it remains */
	bool fresh;                 /* the history is one commit on base, made a moment ago: no need
				     * to look for it on the host */
	const struct ga_host_facts *facts;
	const struct ga_classified *known; /* results by the same facts; may be NULL */
	const struct ga_strv *hold_always; /* paths that are held back whatever the rules say
					    * (tracked by the agent but ignored or untracked on the
					    * host); may be NULL */
	/* Callback: is this blob what the layers below all that the agent wrote show at the path?
	 * Then a filter of the user's that did not run on it is a reason to hold it back, but not
	 * to ask the user. May be NULL; returns 0, or -1 with an error. */
	int (*shows)(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		     struct ga_error *err);
	void *payload;
	uint64_t merges;            /* what the merges of all commits but the last may cost in all,
				     * as in ga_merge_entry_within(); 0: 4 GiB, about a minute */
	const char *committer;      /* of commits that the tool makes: "Name <mail> time zone" */
	const char *session;        /* name, for the held commit's message */
};

struct ga_rewrite {
	struct ga_oid tip;          /* the published tip; == opts.tip if nothing had to change, ==
				     * opts.onto if everything that was changed is held or left
				     * out */
	struct ga_oid carried;      /* the history before the replay, if base != onto; else zero */
	struct ga_oid orig;         /* the history before holding back; zero if nothing is held */
	struct ga_oid held;         /* child of `tip` with everything; zero if nothing is held */
	struct ga_oid full;         /* the tree of `tip` with everything */
	struct ga_strv held_paths;
	struct ga_strv left_out;    /* what `tip` lacks, because it cannot be separated from the
				     * user's work or is that work under another name */
	struct ga_strv unsure;      /* what was too much to search for the user's work: it is in
				     * `tip`, or in a commit before it */
	struct ga_strv summed;      /* what was too much to carry over in each commit: `tip` has all
				     * that was done to it, earlier commits may not */
	struct ga_flags flags;      /* on the whole range: since -> tip plus held, and what single
				     * commits from base on had; each path once per rule */
	struct ga_strv keeps;       /* .keep files of new packs, to be unlinked once refs exist */
};
#define GA_REWRITE_INIT { 0 }
void ga_rewrite_release(struct ga_rewrite *r);

/* Map every commit of base..tip that no branch, remote branch or tag of the host reaches (the
 * tool's own branches apart), parents first. First its tree is carried over from the uncommitted
 * work it is based on (base: to `onto`; for a merge of several, the latest), by a three-way merge
 * per path and without what was made from that work under other names. Then each critical path gets
 * the value of a parent that the host knows, else that of the first rewritten parent (closed over
 * file/directory collisions); a parent older than `onto` is not asked. A value that a parent known
 * to the host has is never held back. Unchanged commits keep their ids. Author and dates stay;
 * signatures of changed commits are dropped. `*ret` is released first. */
int ga_rewrite(struct ga_repo *r, const struct ga_rewrite_opts *o, struct ga_rewrite *ret,
	       struct ga_error *err);

/* Does `is`, which was merged to be without them, contain any line that the file `with` has and
 * `without` lacks? (A merge by lines takes a line that was moved within a file for one removed and
 * another one added.) Returns 1 if so, or if the files are too long to tell or no text; 0 if not,
 * or if one of the three is no file. For one of many: the bytes that are read are taken off
 * `*left`; if that is not enough it becomes 0, and 1 is returned. NULL: no limit. */
int ga_rewrite_shows(struct ga_repo *r, const struct ga_entry *with,
		     const struct ga_entry *without, const struct ga_entry *is,
		     uint64_t *left, struct ga_error *err);

/* To be called before all that: clean up texts, since `git log --all` shows whatever of the agent's
 * becomes a ref of any kind. Commits that `tips` reach and the host's refs (as above) do not, and
 * that have control characters in their message or names, or a message in an encoding that could
 * hide some, are rewritten with those escaped, and so are their descendants; each tip is replaced
 * by what it was rewritten to. What `known` (at least one) reach stays as well. `*ret_cleaned`: the
 * number of commits that had some. */
int ga_rewrite_texts(struct ga_repo *r, const struct ga_oid *known, size_t n_known,
		     struct ga_oid *tips, size_t n_tips, size_t *ret_cleaned,
		     struct ga_strv *keeps, struct ga_error *err);

#endif
