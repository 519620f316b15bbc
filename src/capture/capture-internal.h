/* SPDX-License-Identifier: MIT
 *
 * The steps of a capture, and the values they share.
 */
#pragma once

#include "ga/capture/capture.h"
#include "ga/capture/rewrite.h"
#include "ga/capture/upper.h"
#include "ga/repo/refs.h"

#define GA_HEADS "heads/"   /* below the session's refs */
#define GA_OTHERS "others/"

/* What the agent's history is based on. */
struct capture_base {
	struct ga_oid tree;           /* of the base, beneath the layers */
	struct ga_oid agent;          /* the commit that it is based on ... */
	struct ga_oid agent_tree;     /* ... and its tree */
	struct ga_oid branch;         /* the commit that it is published on */
	struct ga_wip_base *wip_bases; /* further commits that parts of it may be based on */
	size_t n_wip_bases, cap_wip_bases;
	struct ga_oid *known;         /* `agent`, `branch` and all snapshots: everything they reach
				       * was checked before */
	size_t n_known, cap_known;
};

/* The agent's commits (commits.c); zero: none that could be imported. */
struct capture_git {
	struct ga_oid head, head_tree, stash;
	struct ga_oid tracked_tree;   /* what counts as tracked, if not the base alone */
	struct ga_refs heads;         /* other tips: GA_HEADS and the name of a branch, or GA_OTHERS
				       * for those on no branch (others.c) */
	struct ga_refs standing;      /* its branches that need no ref: the session's, and those on
				       * commits of the host; sorted by name */
	bool unread;                  /* there may be more branches, or a stash */
	bool related;                 /* the base is an ancestor of `head` */
	bool older;                   /* `head` is an ancestor of the user's commit */
	bool headless;                /* its HEAD names no commit */
};

/* The host's files of patterns, and content made by git inside (clean.c). */
struct capture_convert {
	struct ga_buf excludes, attributes, info_attributes;
	bool asked;                   /* the attributes among them ask git to convert content */
	struct ga_strv paths;         /* what git inside converted ... */
	struct ga_entry *entries;     /* ... to this */
	bool lfs;                     /* git-lfs made pointers among them */
	struct ga_strv unfiltered;    /* paths that a filter of the host's should have converted and
				       * did not; sorted */
};

/* The steps from trees and commits to what is published. */
struct capture_out {
	char *committer;            /* "Name <mail> seconds zone" */
	struct ga_strv early;       /* sorted paths of ref files that existed before ... */
	struct ga_sync_job *syncing_early, *syncing; /* ... whose sync, like that of what was
						      * written since, is under way; or NULL */
	struct ga_host_facts facts;
	bool have_facts;
	struct ga_refs_job *refs;   /* the git that updates refs, waiting for commands; or NULL */
	struct ga_classified rest;  /* changes in the commit of what the agent left uncommitted */
	struct ga_oid tree;         /* the tree that the layers show, with `newer` applied */
	struct ga_changes newer;    /* the user's changes that the agent's history lacks, from
				     * what the layers show */
	struct ga_oid history;      /* tip of the agent's commits and that commit; == base: no
				     * changes */
	struct ga_oid carried;      /* that tip before the uncommitted work was taken out; zero:
				     * there was none */
	struct ga_strv left_out, renamed; /* see struct ga_session */
	struct ga_strv hold_always;
	struct ga_rewrite rewrite;
	struct ga_report *report;   /* the caller's */
	struct ga_oid report_id;
};

struct capture {
	const struct ga_capture_env *e;
	struct ga_session *s;
	struct ga_sandbox *sandbox;   /* opened when first needed */
	bool words;                   /* the last failure's message has text of the agent */
	unsigned allowed_ms;          /* time that git inside was given for the current step ... */
	unsigned left_ms;             /* ... and what is left of it */
	int64_t until;                /* deadline of imports, as ga_now_ms() */
	struct ga_strv keeps;         /* .keep files to be unlinked once refs exist */
	struct ga_strv notes;         /* for users, quoted */
	struct ga_strv unkept;        /* notes on commits that may exist nowhere else ... */
	size_t unkept_more;           /* ... and the number of further commits in collective
				       * notes */
	uint64_t met;                 /* limits that were exceeded: a bit for each */
	bool late;                    /* reading the upper took too long */
	struct capture_base base;
	struct capture_git git;
	struct capture_convert convert;
	struct ga_upper_result upper;
	struct capture_out out;
};
#define CAPTURE_INIT { .convert = { .excludes = GA_BUF_INIT, .attributes = GA_BUF_INIT, \
				    .info_attributes = GA_BUF_INIT } }

/* notes.c: record that a limit was exceeded. Returns `what` with " (KEY: VALUE)" at its end; the
 * caller frees it. */
char *limit_met(struct capture *c, enum ga_limit which, const char *what);
/* Add the exceeded limits to the report, with a note on how to raise them. */
void report_limits(const struct capture *c, struct ga_report *r);
/* Fail because reading took too long, with a hint. Returns -1. */
int fail_late(struct capture *c, struct ga_error *err);
/* ga_rev_list() of at most limits->history commits; more are an error that says so. */
int list_history(struct capture *c, const struct ga_oid *tips, size_t n_tips,
		 const struct ga_oid *hide, size_t n_hide, struct ga_oid **ret, size_t *ret_n,
		 struct ga_error *err);

/* Run git inside the sandbox, which is opened first if necessary. `out_fd` -1: output goes to
 * `out`. It is made by programs from files that the agent wrote, and these can keep git waiting or
 * busy for ever: see allow_inside(). */
struct inside {
	const char *const *args; /* after "git" */
	const char *const *env;  /* added to the environment of git inside; may be NULL */
	const struct ga_buf *in; /* may be NULL */
	struct ga_buf *out;
	struct ga_buf *errout;       /* not used by run_inside_ok(); may be NULL */
	int out_fd;
};
#define INSIDE(...) { .out_fd = -1, __VA_ARGS__ }
/* Set the time that the commands of the next step may take together, by files and bytes. UINT64_MAX
 * bytes: the longest. */
void allow_inside(struct capture *c, uint64_t files, uint64_t bytes);
int run_inside(struct capture *c, const struct inside *x, int *ret_status, struct ga_error *err);
/* The same, failing unless it exits 0, with the last line it wrote to standard error. */
int run_inside_ok(struct capture *c, const struct inside *x, struct ga_error *err);
/* Run any program inside. */
int run_program_inside(struct capture *c, const char *const *argv, const struct inside *x,
		       int *ret_status, struct ga_error *err);
void close_inside(struct capture *c);
/* Must this failure end the capture, because a later one may succeed, with more space or a sandbox
 * that starts? Any other failure is due to the agent's files, and would recur. A message of git
 * inside about space does not count: it writes only to its own /tmp, and an agent can choose the
 * text. */
bool must_fail(const struct capture *c, const struct ga_error *inner);

/* From now on imports, and what has to be done before them, may take ten times git_time in all. */
void begin_import(struct capture *c);
/* What is left of that, in milliseconds. */
unsigned import_left(const struct capture *c);
/* Import a pack stream in the time that is left: into a quarantine, under limits, checked, then
 * into the repository's own objects. Returns 1 if it is refused, with a reason for users in
 * `*ret_reason`, which the caller frees. The commits `tips` are checked with all that they reach
 * and `hide` does not. */
int import_pack(struct capture *c, int fd, const struct ga_oid *tips, size_t n_tips,
		const struct ga_oid *hide, size_t n_hide, char **ret_reason, struct ga_error *err);

/* Fetch the agent's commits: fills head, heads, unread, stash, related. */
int import_commits(struct capture *c, struct ga_error *err);
/* Collect the agent's own tips of head, stash and heads in `ret`, which has room for `heads.n + 2`.
 * Returns their number. */
size_t agent_tips(struct capture *c, struct ga_oid **ret);
/* Note commits that stay in the session's own repository: the user is asked about them before that
 * is removed. */
/* What replaces its history if that cannot be imported, for notes. */
#define ONE_COMMIT "its work is one commit, if any file differs from its base"
void note_unkept(struct capture *c, const char *note);
/* Add to heads, under a name of that form. If no ref can have the name it is counted in `*odd` and,
 * if there were few so far, noted. */
void keep_head(struct capture *c, const char *name, const struct ga_oid *oid, size_t *odd);
/* The first of what cannot be kept are named one by one; note those of `n` beyond that together. */
#define NAMED_REFS 10
void note_more_unkept(struct capture *c, size_t n, const char *what);
/* Note the rest of those together, called `odd_what`, and `more` beyond limits.branches, called
 * `what`. */
void note_rest(struct capture *c, const char *odd_what, size_t odd, const char *what, size_t more);
/* Parse "<id> <name>", and nothing else, to the name, which the caller frees; or NULL. */
char *id_and_name(const char *line, size_t n, struct ga_oid *ret);
/* Add its commits on no branch. `host`: refs of the host; `known`: commits as lines "^ID". */
int import_others(struct capture *c, const struct ga_refs *host, const struct ga_buf *known,
		  struct ga_error *err);
/* Fetch what agent_tips() names, and take off what is refused (fetch.c). `host` and `known` as
 * above. */
int fetch_commits(struct capture *c, const struct ga_refs *host, const struct ga_buf *known,
		  struct ga_error *err);
/* A description of `tip`, a member of `c`, for users; the caller frees it. */
char *describe_tip(const struct capture *c, const struct ga_oid *tip);
/* Remove the heads that are zero. */
void forget_zero_heads(struct capture *c);
/* Drop the agent's HEAD, and note that its history was not imported. */
void refuse_history(struct capture *c, const char *reason);
/* Note which tips were imported besides its HEAD. */
void name_others(struct capture *c);
/* The operation in progress in its git dir, in a few words; `*ret` NULL: none. */
bool left_unfinished(const struct capture *c, const char **ret);
/* Did it narrow its checkout (git sparse-checkout)? Asks git inside, so it is called before the
 * layers are read. */
int narrowed_checkout(struct capture *c, bool *ret, struct ga_error *err);
/* Does one of `heads` have this name, or is one of the two a directory of the other? */
bool clashes_with_head(const struct capture *c, const char *name);

/* Fill wip_bases and known. */
int find_wip_bases(struct capture *c, struct ga_error *err);
/* Is it a snapshot of the user's uncommitted work, the current or a former one? */
bool is_wip_base(const struct capture *c, const struct ga_oid *oid);

/* The current commit of the user's branch, for a session that was resumed; `*ret` NULL: unknown. */
int find_users(struct capture *c, struct ga_oid *users, const struct ga_oid **ret,
	       struct ga_error *err);

/* Submodules (links.c): the final tree gets the tips of their branches. */
int capture_links(struct capture *c, struct ga_error *err);
/* Remove submodules from the paths based on the user's uncommitted work, with a note: a landing
 * cannot apply their gitlinks, but a merge in the submodule can. */
void leave_links(struct capture *c, struct ga_strv *left_out);
/* Hold back submodules for which a commit of `history` names a commit that is not published: adds
 * their paths to `ret`. */
int hold_links(struct capture *c, const struct ga_oid *history, size_t n, struct ga_strv *ret,
	       struct ga_error *err);

/* Have git inside make the blobs of content that attributes or configuration convert. Returns 1 if
 * it cannot, with the reason in `err` and the paths that a filter is for in c->unfiltered; -1 if
 * the files cannot be listed, with c->late set and no error if that took too long. */
int clean_content(struct capture *c, const struct ga_upper_opts *o, struct ga_error *err);
/* The callback `shows` of ga_rewrite_opts; its payload is the capture. */
int shows_beneath(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		  struct ga_error *err);
/* Does the host's configuration alone ask for conversion? */
bool config_converts(const struct capture *c);

/* Store the LFS objects that pointers among the agent's changes name (lfs.c). */
int import_lfs(struct capture *c, struct ga_error *err);

/* core.excludesFile and info/exclude; the system's attributes with core.attributesFile, and
 * info/attributes. */
int read_host_patterns(struct capture *c, struct ga_error *err);

/* Paths that one of the commits (parents first) has and the tree `from` does not, and that a merge
 * of the branch would overwrite on the host. */
int find_in_the_way(struct capture *c, const struct ga_oid *commits, size_t n,
		    const struct ga_oid *from, struct ga_strv *ret, struct ga_error *err);

/* Remove the .keep files that killed captures left, unless another capture is running. */
void sweep_keeps(struct capture *c, int lock);

/* The steps from trees and commits to what is published. */

/* Author and committer of the tool's commits: the user, at the session's end. */
int make_committer(struct capture *c, struct ga_error *err);

/* Gather what makes paths dangerous on this host, unless that is done. */
int need_facts(struct capture *c, struct ga_error *err);
/* Begin to sync the refs that the start made, which did not wait for that. */
void sync_early(struct capture *c);
/* Wait for that sync. Also to be called before any fork: a child that is forked while a thread runs
 * may find locks held that nobody will ever release (an allocator's, a sanitizer's). */
int end_sync_early(struct capture *c, struct ga_error *err);
/* Start the git that updates refs, unless that is done. */
int need_refs(struct capture *c, struct ga_error *err);

/* Make a commit of what the layers have and the agent did not commit, if there is anything
 * (message.c). */
int commit_rest(struct capture *c, struct ga_error *err);

/* Note identities that are not the user's and dates in the future in the agent's commits
 * (message.c). */
int note_claims(struct capture *c, struct ga_error *err);

/* Take the user's uncommitted work out of everything that may become a ref, and find what the agent
 * did to it (wip.c). */
int leave_wip(struct capture *c, struct ga_error *err);

/* Gather paths of the history that a merge would overwrite on the host. */
int gather_holds(struct capture *c, struct ga_error *err);

/* Fill the report, keeping verdicts given before, and write it as an object. */
int make_report(struct capture *c, struct ga_error *err);

/* Is there anything to publish on a branch? Not if nothing was changed or everything is held. */
bool has_changes(const struct capture *c);
/* Update all refs in one transaction, then remove .keep files and the worktree entry, then save the
 * state. */
int publish(struct capture *c, struct ga_error *err);
