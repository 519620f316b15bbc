/* SPDX-License-Identifier: MIT
 *
 * The steps of a capture and what they hand on.
 */
#ifndef CAPTURE_INTERNAL_H
#define CAPTURE_INTERNAL_H

#include "ga/capture.h"
#include "ga/refs.h"
#include "ga/rewrite.h"
#include "ga/upper.h"

#define GA_HEADS "heads/"   /* below the session's refs */
#define GA_OTHERS "others/"

struct capture {
	const struct ga_capture_env *e;
	struct ga_session *s;
	struct ga_sandbox *sandbox;   /* opened when first needed */
	bool words;                   /* the last failure was told in words of the agent's */
	unsigned allowed_ms;          /* what git inside was given for the step at hand ... */
	unsigned left_ms;             /* ... and what is left of it */
	int64_t until;                /* when what is imported has to be there */
	struct ga_oid base_tree;      /* what lies beneath the layers */
	struct ga_oid from, under;    /* what history stands on, and is published on ... */
	struct ga_oid from_tree;      /* ... and what that has */
	struct ga_stand *stands;      /* what parts of it may stand on besides (stands.c) */
	size_t n_stands, cap_stands;
	struct ga_oid *known;         /* commits with nothing of the agent's that was not looked at:
				       * all of these */
	size_t n_known, cap_known;
	struct ga_strv keeps;         /* .keep files to be unlinked once refs exist */
	struct ga_strv notes;         /* for people, quoted */
	struct ga_strv unkept;        /* of these, those on commits that may be nowhere else, ... */
	size_t unkept_more;           /* ... and how many more there are that one stands for */
	uint64_t met;                 /* limits that kept something away: a bit for each */
	bool late;                    /* reading the upper took too long */
	/* what the agent committed (commits.c); zero: nothing that could be taken */
	struct ga_oid head, head_tree, stash;
	struct ga_oid tracked_tree;   /* what counts as tracked, if there is more to that than the
				       * base (resumed.c) */
	struct ga_refs heads;         /* what else it has: GA_HEADS and the name of a branch, or
				       * GA_OTHERS and what is on none (others.c) */
	bool unread;                  /* there may be more of them, or a stash */
	bool related;                 /* the base is an ancestor of `head` */
	bool headless;                /* its HEAD names no commit */
	/* the host's files of patterns */
	struct ga_buf excludes, attributes, info_attributes;
	bool host_converts;           /* the attributes among them ask git to convert content */
	/* content made by git inside (clean.c) */
	struct ga_strv cleaned_paths;
	struct ga_entry *cleaned_entries;
	bool lfs;                     /* git-lfs made pointers among them */
	struct ga_strv unfiltered;    /* what a filter of the host's was to convert, and did not:
				       * sorted */
	struct ga_upper_result upper;
};
#define CAPTURE_INIT { .excludes = GA_BUF_INIT, .attributes = GA_BUF_INIT, \
		       .info_attributes = GA_BUF_INIT }

/* limits.c: what was kept away by a limit, of which `what` ends in " (KEY: VALUE)"; the caller
 * frees that. */
char *limit_met(struct capture *c, enum ga_limit which, const char *what);
/* Add those met to the report, with a note. */
void report_limits(const struct capture *c, struct ga_report *r);
/* Reading took too long: the error, with its hint. Returns -1. */
int fail_late(struct capture *c, struct ga_error *err);
/* ga_rev_list() of at most limits->history, an error that says so beyond. */
int list_history(struct capture *c, const struct ga_oid *tips, size_t n_tips,
		 const struct ga_oid *hide, size_t n_hide, struct ga_oid **ret, size_t *ret_n,
		 struct ga_error *err);

/* Run git inside the sandbox, which is opened if it is not. `out_fd` -1: to `out`.
 * What comes back was made by programs over files the agent wrote, and these can keep
 * git waiting or busy for ever: see allow_inside(). */
struct inside {
	const char *const *args; /* behind "git" */
	const char *const *env;  /* added to the environment of git inside; may be NULL */
	const void *in;
	size_t in_len;
	struct ga_buf *out;
	struct ga_buf *errout;       /* not of run_inside_ok(); may be NULL */
	int out_fd;
};
#define INSIDE_INIT { .out_fd = -1 }
/* What the commands of the next step may take together, given the work there is. UINT64_MAX
 * bytes: as long as any may. */
void allow_inside(struct capture *c, uint64_t files, uint64_t bytes);
int run_inside(struct capture *c, const struct inside *x, int *ret_status, struct ga_error *err);
/* The same, failing unless it exits 0, with the last line it wrote to standard error. */
int run_inside_ok(struct capture *c, const struct inside *x, struct ga_error *err);
/* Run any program inside. */
int run_program_inside(struct capture *c, const char *const *argv, const struct inside *x,
		       int *ret_status, struct ga_error *err);
void close_inside(struct capture *c);
/* Must a failure of theirs end the capture, to be done again when there is space or a sandbox can
 * be had? Anything else is about what the agent left, and would be the same each time. What git
 * says about space is no reason: inside it writes to a /tmp of its own only, and an agent can
 * choose its words. */
bool must_fail(const struct capture *c, const struct ga_error *inner);

/* From now on imports, and what goes before them, may take ten times git_time, all together. */
void begin_import(struct capture *c);
/* Of that: what is left, in milliseconds. */
unsigned import_left(const struct capture *c);
/* Take a pack stream in, in the time that is left for it: quarantine, limits, checks, then the
 * repository's own objects. 1: refused, with the reason for people in `*ret_reason` (owned). `tips`
 * of commits are checked with all that they reach but `hide` does not. */
int take_pack(struct capture *c, int fd, const struct ga_oid *tips, size_t n_tips,
	      const struct ga_oid *hide, size_t n_hide, char **ret_reason, struct ga_error *err);

/* Fetch the agent's commits: fills head, heads, unread, stash, related. */
int take_commits(struct capture *c, struct ga_error *err);
/* The agent's own of all that it left, into room for `heads.n + 2`; returns how many. */
size_t agent_tips(struct capture *c, struct ga_oid **ret);
/* Of commits that stay in the session's own repository: noted, and asked about before that goes. */
void note_unkept(struct capture *c, const char *note);
/* Add to heads, under a name as there; one that no ref can have is counted, and noted up to some
 * `*odd`. The others of them, called `what`, are noted together behind that. */
void keep_head(struct capture *c, const char *name, const struct ga_oid *oid, size_t *odd);
void note_odd(struct capture *c, const char *what, size_t odd);
/* Add what it committed on no branch. `host`: the refs there; `known`: "^ID" lines of commits. */
int take_others(struct capture *c, const struct ga_refs *host, const struct ga_buf *known,
		struct ga_error *err);
/* Bring over what agent_tips() names, and take off those what is refused (fetch.c). `host` and
 * `known`: as above. */
int fetch_commits(struct capture *c, const struct ga_refs *host, const struct ga_buf *known,
		  struct ga_error *err);
/* Take HEAD off, and say that its history was not taken. */
void refuse_history(struct capture *c, const char *reason);
/* Note it, once it was taken. */
void name_alone(struct capture *c);
/* Is its git dir in the middle of something? What, is one of a few words. */
bool left_unfinished(const struct capture *c, const char **ret);
/* Has it left files out of its working tree by git's own means? Asks git inside, so before the
 * layers are read. */
int narrowed_checkout(struct capture *c, bool *ret, struct ga_error *err);
/* Is one of `heads` called so, or one that this would be a directory of, or the reverse? */
bool clashes_with_head(const struct capture *c, const char *name);

/* Fill stands and known. */
int find_stands(struct capture *c, struct ga_error *err);
/* Is it the user's uncommitted work, as it is now or was in an earlier run? */
bool is_stand(const struct capture *c, const struct ga_oid *oid);
/* Whatever else went wrong: fail if that work is about to be published with `tip`. */
int check_unpublished(struct capture *c, const struct ga_oid *tip, struct ga_error *err);

/* What counts as tracked by the agent; `*ret` NULL: what the base has. */
int find_tracked_tree(struct capture *c, const struct ga_oid **ret, struct ga_error *err);

/* Where the user's branch is by now, of a session that was resumed; `*ret` NULL: nobody knows. */
int find_users(struct capture *c, struct ga_oid *users, const struct ga_oid **ret,
	       struct ga_error *err);

/* Submodules (links.c): the final tree gets the tips of their branches. */
int take_links(struct capture *c, struct ga_error *err);
/* Their pointers among the paths that stand on the user's uncommitted work are nothing a landing
 * could bring, but a merge in the submodule: said, and taken off the list. */
void leave_links(struct capture *c, struct ga_strv *left_out);
/* Those for which a commit of `history` names a commit that is not published are held back. */
int hold_links(struct capture *c, const struct ga_oid *history, size_t n, struct ga_strv *ret,
	       struct ga_error *err);

/* Have git inside make the blobs of content that attributes or configuration convert. 1: it cannot,
 * `err` says why, and those a filter is for are in c->unfiltered; -1: nobody knows which files
 * there are, with c->late set and no error if listing them took too long. */
int clean_content(struct capture *c, const struct ga_upper_opts *o, struct ga_error *err);
/* Of ga_rewrite_opts; the payload is the capture. */
int shows_beneath(void *payload, const char *path, const struct ga_oid *blob, bool *ret,
		  struct ga_error *err);
/* Does the host's configuration alone ask for that? */
bool config_converts(const struct capture *c);

/* Store the LFS objects that pointers among the agent's changes name (lfs.c). */
int take_lfs(struct capture *c, struct ga_error *err);

/* core.excludesFile and info/exclude; the system's attributes with core.attributesFile, and
 * info/attributes. */
int read_host_patterns(struct capture *c, struct ga_error *err);

/* Paths that one of the commits (parents first) has and the tree `from` has not, and that a merge
 * of the branch would write over on the host. */
int find_in_the_way(struct capture *c, const struct ga_oid *commits, size_t n,
		    const struct ga_oid *from, struct ga_strv *ret, struct ga_error *err);

/* The packs are reachable now, or not needed: git may repack them. */
void drop_keeps(struct capture *c);
/* Remove what killed captures left, unless another one is going on. */
void sweep_keeps(struct capture *c, int lock);

#endif
