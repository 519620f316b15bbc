/* SPDX-License-Identifier: MIT
 *
 * Find and open the user's repository, and run git in it.
 *
 * A handle is single-threaded. Nothing here reads a directory an agent can write: the private git
 * dirs of sessions are never opened as repositories.
 */
#pragma once

#include <stdbool.h>
#include <time.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"

struct ga_repo; /* opaque: holds libgit2's repository and its object database */

struct ga_repo_info {
	char *workdir;   /* absolute, symlinks resolved, no trailing slash */
	char *gitdir;    /* of this working tree; not `commondir` in a linked worktree */
	char *commondir; /* shared by all working trees */
	char *id;        /* 16 hex digits, in <commondir>/git-agent/id, made on first use; a
			  * repository that was moved keeps it, a copied one gets its own (the file
			  * records which repository it is for) */
	bool linked;     /* a linked worktree */
	bool has_dotgit; /* `workdir` has a .git; false: core.worktree says where it is */
	bool shallow;
};

/* Find and open the repository around `dir`. Refused, with one clear line: no repository; bare;
 * SHA-256 objects; reftable refs; an unknown extension (extensions.worktreeConfig, partialClone and
 * preciousObjects are known). GIT_DIR and similar variables in the environment are ignored (the
 * command line has already removed them). */
int ga_repo_open(const char *dir, struct ga_repo **ret, struct ga_error *err);
/* Guess, without libgit2, the working tree that is to be opened from the current directory: the
 * nearest directory upwards with a directory ".git". NULL if that cannot be guessed: if .git is a
 * file, and in rarer cases. The caller frees it. */
char *ga_repo_guess(void);
void ga_repo_free(struct ga_repo *r);
void ga_cleanup_repop(struct ga_repo **r);
#define cleanup_repo cleanup_(ga_cleanup_repop)
/* Have every git started for this repository hold the lock `lock` (flock(2); -1: none) while it
 * runs: whoever gets it later meets no git of a command that was killed. It stays the caller's. */
void ga_repo_set_lock(struct ga_repo *r, int lock);
const struct ga_repo_info *ga_repo_info(const struct ga_repo *r);

/* Write objects to the private object directory of a session, created (0700) if missing: everything
 * is written there, even objects that the repository has, whose object database is an alternate.
 * The same holds for git commands, except with `as_user`; see `private_dir`. Does nothing if the
 * handle uses one already. */
int ga_repo_use_private(struct ga_repo *r, const char *objects, struct ga_error *err);
/* Write to the repository again, and only read it, as after ga_repo_read_private(). */
int ga_repo_leave_private(struct ga_repo *r, struct ga_error *err);
/* Open another handle of the repository, which uses that directory. */
int ga_repo_open_private(const struct ga_repo *r, const char *objects, struct ga_repo **ret,
			 struct ga_error *err);
/* Read from it as well, if it exists, and from no other. Writing does not change, and git commands
 * read it only with GA_PRIVATE_READ. */
int ga_repo_read_private(struct ga_repo *r, const char *objects, struct ga_error *err);
/* Copy to the private directory the objects that the tree `new` has and `old` (may be NULL) lacks:
 * git writes no object that the repository has, even if no ref reaches it. This and the next do
 * nothing without such a directory. */
int ga_private_adopt(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		     struct ga_error *err);
/* Copy the objects that `tips` reach and `hide` does not from it to the repository, synced, as a
 * pack with a .keep file, whose absolute path is added to `keeps`. */
int ga_private_publish(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
		       const struct ga_oid *hide, size_t n_hide, struct ga_strv *keeps,
		       struct ga_error *err);
/* Does the handle write to a private object directory? */
bool ga_repo_is_private(const struct ga_repo *r);

/* The object directories of the repository: its own first, then the closure of its alternates, each
 * absolute and listed once. */
int ga_repo_object_dirs(const struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);

/* The git directory's path relative to the working tree, if it is inside under another name than
 * ".git" (for example where .git is a symlink); else NULL. The caller frees it. */
char *ga_repo_gitdir_inside(const struct ga_repo *r);

/* Resolve HEAD. Returns 1 if it is unborn. `*ret_branch` (owned by the caller)
 * is the full ref name, or NULL when detached. */
int ga_repo_head(struct ga_repo *r, struct ga_oid *ret, char **ret_branch, struct ga_error *err);
/* Resolve a revision the user typed, to a commit. */
int ga_repo_resolve(struct ga_repo *r, const char *rev, struct ga_oid *ret, struct ga_error *err);
/* The operation in progress ("merge", "rebase", "cherry-pick", ...), or NULL. */
const char *ga_repo_operation(const struct ga_repo *r);
/* The article of such a name, "a" or "an". */
const char *ga_repo_operation_article(const char *operation);
/* Is it a partial clone, which lacks objects that a promisor remote has? False if its configuration
 * cannot be read. */
bool ga_repo_is_partial(const struct ga_repo *r);

/* The tree id that git cached in the index (the cache-tree extension): if it is HEAD's tree,
 * nothing is staged, unmerged or intent-to-add. Returns 1 if it is unknown. */
int ga_repo_index_tree(const struct ga_repo *r, struct ga_oid *ret);
/* Read the index without git: is a file marked assume-unchanged or skip-worktree, and does the stat
 * data of one of the changed paths (sorted) differ from the file? Both are true if unknown. */
struct ga_changes;
struct ga_index_state {
	bool marked, touched;
};
void ga_repo_check_index(const struct ga_repo *r, const struct ga_changes *changes,
			 struct ga_index_state *ret);
/* Does the index in this git directory have unmerged entries? False if it cannot be read. */
bool ga_index_is_unmerged(const char *gitdir);

/* ---- submodules --------------------------------------------------------- */

/* Append the paths of all gitlinks in the index, checked out or not. */
int ga_repo_gitlinks(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);
/* Open the superproject: the repository whose index has this one as a submodule; its info has no
 * id. Returns 1 if there is none. Writes to neither. */
int ga_repo_superproject(struct ga_repo *r, struct ga_repo **ret, struct ga_error *err);

/* A variable of the environment that git commands inherit; NULL: unset. What git or its hooks read
 * from it (HOME, PATH, identity) must be read by this. */
const char *ga_env_get(const char *name);

/* ---- git as a program ------------------------------------------------- */

/* The names of the hooks that git runs in a repository somebody works in; ends with NULL. */
extern const char *const ga_hook_events[];

/* Would the user's git run one of these hooks (names ending with NULL)? */
struct ga_gitconfig;
bool ga_repo_has_hook(const struct ga_repo *r, const struct ga_gitconfig *c,
		      const char *const *names);

/* How one git command runs. Forced, except with `as_user`: hooks off (core.hooksPath=/dev/null, and
 * hook.*.enabled=false for those that the user's configuration defines); fsmonitor, untracked
 * cache, split index, submodule recursion, automatic gc and maintenance off; no optional locks,
 * terminal prompt, lazy fetch or replace refs; GIT_DIR given explicitly; no other GIT_* variable
 * inherited but those of identity, configuration and tracing. It runs in `work_tree`, or else in
 * the git dir. */
struct ga_git {
	const char *const *args;  /* NULL-terminated, without "git" */
	const char *work_tree;    /* NULL: the command gets no working tree (GIT_WORK_TREE unset,
				   * core.bare=true); else absolute */
	const char *index_file;   /* NULL: git's default */
	const char *object_dir;   /* NULL: the repository's; else objects are written there and the
				   * repository's are an alternate */
	enum {
		GA_PRIVATE_USE,   /* as ga_repo_use_private() says */
		GA_PRIVATE_READ,  /* only read: the user's filters may run */
		GA_PRIVATE_NONE,  /* neither read nor written */
	} private_dir;
	const char *const *config; /* NULL-terminated extra "key=value", may be NULL */
	const char *const *env;    /* NULL-terminated extra "NAME=value", may be NULL */
	const void *in;
	size_t in_len;
	int in_fd;                /* -1: use `in` */
	struct ga_buf *out;       /* NULL with out_fd -1: discarded */
	int out_fd;
	size_t out_max;           /* 0: 1 GiB */
	unsigned timeout_ms;
	uint64_t max_file, max_memory; /* as in ga/sys/process.h */
	struct ga_buf *errout;    /* the last 64 KiB of git's messages; NULL: discarded */
	int keep_fd;              /* a lock that git holds as long as it runs, or -1 */
	bool lazy_fetch;          /* a partial clone may fetch missing objects */
	bool as_user;             /* run as the user would in `work_tree`: git finds the repository
				   * itself, no configuration is forced, and the environment of git,
				   * hooks, editor, gpg, ssh and filters is ga_user_environ() */
	bool show_stderr;         /* git writes to our standard error; `errout` stays empty */
};
#define GA_GIT_INIT { .in_fd = -1, .out_fd = -1, .keep_fd = -1 }
/* The same with these members set (no descriptors). */
#define GA_GIT(...) { .in_fd = -1, .out_fd = -1, .keep_fd = -1, __VA_ARGS__ }

/* Run it; `*ret_status` is its exit status, or 128 + the signal that ended it. Fails only if it
 * could not be run. */
int ga_git_run(const struct ga_repo *r, const struct ga_git *g, int *ret_status,
	       struct ga_error *err);
/* Start it; ga_process_end() waits for it, ga_process_abandon() kills it. `g->errout` must be set
 * and, like `g->out`, live until then. */
struct ga_process_job;
int ga_git_begin(const struct ga_repo *r, const struct ga_git *g, struct ga_process_job **ret,
		 struct ga_error *err);
/* The last line of git's standard error that is neither empty nor a hint, or the one that names a
 * lock file: without "fatal: ", escaped, and truncated if it is long. NULL: there is none. The
 * caller frees it. */
char *ga_git_last_line(const struct ga_buf *errout);
/* Run it and fail, with that line, unless it exits with 0. */
int ga_git_ok(const struct ga_repo *r, const struct ga_git *g, struct ga_error *err);

/* ---- configuration ----------------------------------------------------- */

/* Everything that `git config --list --show-scope --show-origin` prints on the host, in git's order
 * (the last one wins). Keys are as git prints them: section and variable in lower case. */
struct ga_gitconfig {
	struct ga_gitconfig_item {
		char *scope;  /* system, global, local, worktree, command */
		char *origin; /* file:PATH ... */
		char *key;
		char *value;  /* "" for a key without '=', which `has_value` tells apart */
		bool has_value;
	} *v;
	size_t n, cap;
};
#define GA_GITCONFIG_INIT { NULL, 0, 0 }
void ga_gitconfig_release(struct ga_gitconfig *c);
/* Read it, by one git process. */
int ga_gitconfig_load(const struct ga_repo *r, struct ga_gitconfig *ret, struct ga_error *err);
/* The same in two steps, so that git runs in parallel. ga_gitconfig_end() and
 * ga_gitconfig_abandon() (NULL is fine) free the load. */
struct ga_gitconfig_load;
/* Begin before the repository is open, with the result of ga_repo_guess(); NULL on failure. */
struct ga_gitconfig_load *ga_gitconfig_guess(const char *workdir);
/* For a program that is about to execute another (ga_process_hand_over()): append the text that
 * ga_gitconfig_take_over() needs there. */
int ga_gitconfig_hand_over(struct ga_gitconfig_load *l, struct ga_buf *ret, struct ga_error *err);
int ga_gitconfig_take_over(const char *text, struct ga_gitconfig_load **ret, struct ga_error *err);
/* `*load` is NULL or from ga_gitconfig_guess(): kept if the guess was right. */
int ga_gitconfig_begin(const struct ga_repo *r, struct ga_gitconfig_load **load,
		       struct ga_error *err);
int ga_gitconfig_end(struct ga_gitconfig_load *l, struct ga_gitconfig *ret, struct ga_error *err);
void ga_gitconfig_abandon(struct ga_gitconfig_load *l);
/* The last value of `key`, NULL if unset. */
const char *ga_gitconfig_get(const struct ga_gitconfig *c, const char *key);
/* The last value of `key` as git reads a boolean; `def` if it is unset or malformed. */
bool ga_gitconfig_bool(const struct ga_gitconfig *c, const char *key, bool def);
/* NAME in "filter.NAME.VARIABLE", which the caller frees; NULL for any other key. */
char *ga_gitconfig_filter(const char *key);
/* Append settings ("key=value", for ga_git's `config`) that make the user's filters run as under
 * the user's own git: in `workdir`, and without the GIT_* variables of our git, which a filter that
 * runs git would inherit. */
void ga_gitconfig_push_filters(const struct ga_gitconfig *c, const char *workdir,
			       struct ga_strv *config);
/* The file that `key` (a path in the user's git configuration) names or, if that is unset, `name`
 * in git's own configuration directory, found as git would: "~", "~user" and "%(prefix)" expanded,
 * a relative one from the top of the working tree. Absolute, the caller frees it; NULL: there is
 * none. Runs a git process only for what git alone can expand. */
int ga_user_file(const struct ga_repo *r, const struct ga_gitconfig *c, const char *key,
		 const char *name, char **ret, struct ga_error *err);
/* Append the content of such a file, ended by a newline. A missing, unreadable or non-regular file
 * counts as empty, as for git; one longer than `max` is an error. */
int ga_user_file_read(const char *path, size_t max, struct ga_buf *out, struct ga_error *err);
/* The system's attributes file, which has the lowest precedence; NULL if the environment tells git
 * to ignore it. */
const char *ga_system_attributes(void);
#define GA_RULES_MAX ((size_t)16 << 20) /* greatest size of a user's pattern file */

/* The user's identity for commits, "Name <mail>" without a date; an error if git would refuse to
 * commit for lack of one. The caller frees it. Honours GIT_COMMITTER_NAME/EMAIL. */
int ga_repo_identity(const struct ga_repo *r, const struct ga_gitconfig *c, char **ret,
		     struct ga_error *err);
/* The same with the time `at`, in the user's time zone, as in a commit header: "Name <mail> seconds
 * zone". `c` NULL: read here, which takes a process. */
int ga_repo_signature(const struct ga_repo *r, const struct ga_gitconfig *c, time_t at, char **ret,
		      struct ga_error *err);

/* One file in git-config syntax. Include directives are not followed. */

/* Read the state file of a session with libgit2. Items are in file order, with scope "file" and the
 * path as origin. A file that does not parse is an error that names it. The caller releases
 * `*ret`. */
int ga_configfile_read(const char *path, struct ga_gitconfig *ret, struct ga_error *err);

/* Have git parse the text of an untrusted file. Also fails if the list is absurdly long. */
int ga_configfile_parse(const struct ga_repo *r, const struct ga_buf *text,
			struct ga_gitconfig *ret, struct ga_error *err);
