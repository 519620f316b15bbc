/* SPDX-License-Identifier: MIT
 *
 * The user's repository: where it is, and git run in it.
 *
 * A handle is single-threaded. Nothing here reads a directory an agent can
 * write: the private git dirs of sessions are never opened as repositories.
 */
#ifndef GA_REPO_H
#define GA_REPO_H

#include <stdbool.h>
#include <time.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/oid.h"
#include "ga/strv.h"

struct ga_repo; /* opaque: holds libgit2's repository and its object database */

struct ga_repo_info {
	char *workdir;   /* absolute, symlinks resolved, no trailing slash */
	char *gitdir;    /* of this working tree; differs from commondir in a linked worktree */
	char *commondir; /* shared by all working trees */
	char *id;        /* 16 hex digits, <commondir>/git-agent/id, made on first use; a moved
			  * repository keeps it, a copied one gets one of its own (the file
			  * remembers whose it is) */
	bool linked;     /* a linked worktree */
	bool shallow;
};

/* Find and open the repository around `dir`. Refused with one clear line:
 * not in a repository; bare; SHA-256 objects; reftable refs; an unknown
 * extension. The repository's own extensions.worktreeConfig, partialClone and
 * preciousObjects are known. GIT_DIR and its kin in the environment are not
 * looked at (the command line has already removed them). */
int ga_repo_open(const char *dir, struct ga_repo **ret, struct ga_error *err);
/* The working tree that most likely is to be opened from the current directory, found without
 * libgit2: the nearest directory upwards with a directory ".git". NULL if there is no telling:
 * those whose .git is a file, and all that is rarer still. Caller frees. */
char *ga_repo_guess(void);
void ga_repo_free(struct ga_repo *r);
void ga_cleanup_repop(struct ga_repo **r);
#define cleanup_repo cleanup_(ga_cleanup_repop)
const struct ga_repo_info *ga_repo_info(const struct ga_repo *r);

/* The object directories of the repository, its own first, then the closure
 * of its alternates, each absolute and once. */
int ga_repo_object_dirs(const struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);

/* Resolve HEAD. Returns 1 if it is unborn. `*ret_branch` (owned by the caller)
 * is the full ref name, or NULL when detached. */
int ga_repo_head(struct ga_repo *r, struct ga_oid *ret, char **ret_branch, struct ga_error *err);
/* Resolve a revision the user typed, to a commit. */
int ga_repo_resolve(struct ga_repo *r, const char *rev, struct ga_oid *ret, struct ga_error *err);
/* An operation in progress ("merge", "rebase", "cherry-pick", ...) or NULL. */
const char *ga_repo_operation(const struct ga_repo *r);

/* What entries of an index are marked with: intended to be added; assumed to be unchanged, or
 * skipped in the working tree. True as well where that cannot be told. */
struct ga_index_marks {
	bool intended, hidden;
};
/* The tree that the index of the working tree is, as git noted in it when it last knew: nothing is
 * staged, unmerged or intended to be added if that is HEAD's. Returns 1 where it cannot be told. */
int ga_repo_index_tree(const struct ga_repo *r, struct ga_oid *ret,
		       struct ga_index_marks *ret_marks_or_null);

/* ---- submodules --------------------------------------------------------- */

/* Append the paths of all gitlinks of the index, checked out or not. */
int ga_repo_gitlinks(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);
/* The repository around this one whose index has it as a submodule, without an id. Returns 1 if
 * there is none. Nothing is written to any. */
int ga_repo_superproject(struct ga_repo *r, struct ga_repo **ret, struct ga_error *err);

/* A variable of the environment git commands start from: the places git itself, and what its
 * hooks run, look at (HOME, PATH, identity) have to be looked at in the same way. NULL: unset. */
const char *ga_env_get(const char *name);

/* ---- git as a program ------------------------------------------------- */

/* The hooks that git runs in a repository somebody works in, by name; ends with NULL. */
extern const char *const ga_hook_events[];

/* How one git command runs. Always forced: hooks off (core.hooksPath=/dev/null, and
 * hook.*.enabled=false for those that the user's configuration defines), fsmonitor,
 * untracked cache, split index, submodule recursion, automatic gc and maintenance off, no
 * optional locks, no terminal prompt, no lazy fetch, no replace refs, GIT_DIR given
 * explicitly, no other GIT_* variable inherited but identity, configuration and tracing
 * ones. It runs in `work_tree`, or else in the git dir. */
struct ga_git {
	const char *const *args;  /* NULL-terminated, without "git" */
	const char *work_tree;    /* NULL: the command gets no working tree (GIT_WORK_TREE unset,
				   * core.bare=true); else absolute */
	const char *index_file;   /* NULL: git's default */
	const char *object_dir;   /* NULL: the repository's; else writes go there and the
				   * repository's objects are an alternate */
	const char *const *config; /* NULL-terminated extra "key=value", may be NULL */
	const char *const *env;    /* NULL-terminated extra "NAME=value", may be NULL */
	const void *in;
	size_t in_len;
	int in_fd;                /* -1: `in` */
	struct ga_buf *out;       /* NULL with out_fd -1: thrown away */
	int out_fd;
	size_t out_max;           /* 0: 1 GiB */
	unsigned timeout_ms;
	uint64_t max_file, max_memory; /* as in ga/process.h */
	struct ga_buf *errout;    /* git's messages (their last 64 KiB); NULL: thrown away */
	int keep_fd;              /* a lock git holds as long as it runs, or -1 */
	bool lazy_fetch;          /* a partial clone may fetch what it lacks, as by hand */
	bool user_hooks;          /* land only: the command is the user's own in all but name:
				   * hooks, fsmonitor, index features, lazy fetch and environment
				   * are as they would be by hand */
	bool show_stderr;         /* git's messages and progress go to our standard error;
				   * `errout` stays empty */
};
#define GA_GIT_INIT { .in_fd = -1, .out_fd = -1, .keep_fd = -1 }

/* Run it; `*ret_status` is its exit status. Fails only if it could not run. */
int ga_git_run(const struct ga_repo *r, const struct ga_git *g, int *ret_status,
	       struct ga_error *err);
/* The same in two steps, for who has something to do meanwhile: ga_process_end() waits for it,
 * ga_process_abandon() kills it. `g->errout` must be given, and lives until then like `g->out`. */
struct ga_process_job;
int ga_git_begin(const struct ga_repo *r, const struct ga_git *g, struct ga_process_job **ret,
		 struct ga_error *err);
/* Of what git wrote to standard error, the last line that says anything, or the one that names a
 * lock which is taken: without its own "fatal: ", escaped, cut where it is long. NULL: nothing; the
 * caller frees it. */
char *ga_git_last_line(const struct ga_buf *errout);
/* Run it and fail, with that line, unless it exits 0. */
int ga_git_ok(const struct ga_repo *r, const struct ga_git *g, struct ga_error *err);

/* ---- configuration ----------------------------------------------------- */

/* Everything `git config --list --show-scope --show-origin` says on the host, in git's order
 * (last one wins). Keys as git prints them: section and name in lower case. */
struct ga_gitconfig {
	struct ga_gitconfig_item {
		char *scope;  /* system, global, local, worktree, command */
		char *origin; /* file:PATH ... */
		char *key;
		char *value;  /* "" for a key without '=' is kept apart: see has_value */
		bool has_value;
	} *v;
	size_t n, cap;
};
#define GA_GITCONFIG_INIT { NULL, 0, 0 }
void ga_gitconfig_release(struct ga_gitconfig *c);
int ga_gitconfig_load(const struct ga_repo *r, struct ga_gitconfig *ret, struct ga_error *err);
/* The same in two steps: git reads while the caller does something else. _end() and
 * _abandon() (NULL is fine) free it. */
struct ga_gitconfig_load;
/* Begin before the repository is even open, with what ga_repo_guess() gives; NULL if that is not
 * possible. */
struct ga_gitconfig_load *ga_gitconfig_guess(const char *workdir);
/* For a program that becomes another one (ga_process_hand_over()): append what that is to give to
 * ga_gitconfig_take_over(). */
int ga_gitconfig_hand_over(struct ga_gitconfig_load *l, struct ga_buf *ret, struct ga_error *err);
int ga_gitconfig_take_over(const char *text, struct ga_gitconfig_load **ret, struct ga_error *err);
/* `*load` is NULL, or a guess: one that was right is kept. */
int ga_gitconfig_begin(const struct ga_repo *r, struct ga_gitconfig_load **load,
		       struct ga_error *err);
int ga_gitconfig_end(struct ga_gitconfig_load *l, struct ga_gitconfig *ret, struct ga_error *err);
void ga_gitconfig_abandon(struct ga_gitconfig_load *l);
/* The last value of `key`, NULL if unset. */
const char *ga_gitconfig_get(const struct ga_gitconfig *c, const char *key);
bool ga_gitconfig_bool(const struct ga_gitconfig *c, const char *key, bool def);
/* NAME of "filter.NAME.VARIABLE", the caller frees it; NULL for any other key. */
char *ga_gitconfig_filter(const char *key);
/* The file of the user's that `key` (a path to git) names, or, unset, `name` in git's own
 * directory of configuration, as git would find it: "~", "~user" and "%(prefix)" expanded, a
 * relative one from the top of the working tree. Absolute, caller frees; NULL: there is none.
 * The one answer for what a session sees, what its base tree is made by, and what its capture
 * goes by. Asks git, a process, only for what git alone can expand. */
int ga_user_file(const struct ga_repo *r, const struct ga_gitconfig *c, const char *key,
		 const char *name, char **ret, struct ga_error *err);
/* Append what such a file, or one beside the repository that the user may have made a link,
 * holds, ended by a newline. One that is missing, unreadable or no regular file is empty, as it
 * is to git, which warns at most; one longer than `max` is an error. */
int ga_user_file_read(const char *path, size_t max, struct ga_buf *out, struct ga_error *err);
/* The system's file of attributes, which counts less than all others; NULL where the environment
 * tells git to pass over it. */
const char *ga_system_attributes(void);
#define GA_RULES_MAX ((size_t)16 << 20) /* of a file of patterns of the user's */

/* The user's identity for commits, "Name <mail>" without a date; error if git
 * would refuse to commit for want of one. Caller frees. Honours GIT_COMMITTER_NAME/EMAIL. */
int ga_repo_identity(const struct ga_repo *r, const struct ga_gitconfig *c, char **ret,
		     struct ga_error *err);
/* The same with a time, in the user's zone, as a commit's header has it:
 * "Name <mail> seconds zone". `c` NULL: read here, at the cost of a process. */
int ga_repo_signature(const struct ga_repo *r, const struct ga_gitconfig *c, time_t at, char **ret,
		      struct ga_error *err);

#endif
