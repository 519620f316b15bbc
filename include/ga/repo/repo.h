/* SPDX-License-Identifier: MIT
 *
 * The user's repository: where it is, and git commands run in it.
 *
 * A handle is single-threaded. Nothing here reads a directory an agent can write: the private git
 * dirs of sessions are never opened as repositories.
 */
#ifndef GA_REPO_H
#define GA_REPO_H

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
/* Have every git that is started for this repository hold the lock `lock` (flock(2)) as long as it
 * runs, so that whoever gets it later meets no git of a command that was killed. -1: none. It stays
 * the caller's. */
void ga_repo_set_lock(struct ga_repo *r, int lock);
/* What is known of it; lives as long as the handle. */
const struct ga_repo_info *ga_repo_info(const struct ga_repo *r);

/* Have the handle use an object directory of a session's: what is written through it goes there as
 * a full copy, even if the repository has it, and the repository's own objects are read besides. So
 * it is for git commands, except those of the user's own (`as_user`), which are not told of the
 * directory, and see `private_dir`. It is made (0700) if it is missing. Does nothing if one is used
 * already. */
int ga_repo_use_private(struct ga_repo *r, const char *objects, struct ga_error *err);
/* From then on only read it, as ga_repo_read_private() does. */
int ga_repo_leave_private(struct ga_repo *r, struct ga_error *err);
/* Open another handle of the repository that does. */
int ga_repo_open_private(const struct ga_repo *r, const char *objects, struct ga_repo **ret,
			 struct ga_error *err);
/* Have the handle read it as well, if there is one, and no other. Writing stays as it was, and git
 * commands are told of it only with GA_PRIVATE_READ. */
int ga_repo_read_private(struct ga_repo *r, const char *objects, struct ga_error *err);
/* Copy to the private directory what the tree `new` has and `old` (may be NULL) has not. Git writes
 * no object that the repository has, though no ref may reach it. Does nothing without such a
 * directory; neither does the next. */
int ga_private_adopt(struct ga_repo *r, const struct ga_oid *old, const struct ga_oid *new,
		     struct ga_error *err);
/* Copy from it to the repository, synced, what `tips` reach and `hide` does not, as a pack with a
 * .keep file, whose absolute path is added to `keeps`. */
int ga_private_publish(struct ga_repo *r, const struct ga_oid *tips, size_t n_tips,
		       const struct ga_oid *hide, size_t n_hide, struct ga_strv *keeps,
		       struct ga_error *err);
/* Does the handle use such a directory? */
bool ga_repo_is_private(const struct ga_repo *r);

/* The object directories of the repository: its own first, then the closure of its alternates, each
 * absolute and listed once. */
int ga_repo_object_dirs(const struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);

/* The git directory's path in the working tree, if it lies there under another name than ".git", as
 * where that is a link; NULL: it does not. The caller frees it. */
char *ga_repo_gitdir_inside(const struct ga_repo *r);

/* Resolve HEAD. Returns 1 if it is unborn. `*ret_branch` (owned by the caller)
 * is the full ref name, or NULL when detached. */
int ga_repo_head(struct ga_repo *r, struct ga_oid *ret, char **ret_branch, struct ga_error *err);
/* Resolve a revision the user typed, to a commit. */
int ga_repo_resolve(struct ga_repo *r, const char *rev, struct ga_oid *ret, struct ga_error *err);
/* The operation in progress ("merge", "rebase", "cherry-pick", ...), or NULL. */
const char *ga_repo_operation(const struct ga_repo *r);
/* "a" or "an", whichever such a name takes. */
const char *ga_repo_operation_article(const char *operation);
/* Is it a partial clone, which lacks objects that a promisor remote has? False if its configuration
 * cannot be read. */
bool ga_repo_is_partial(const struct ga_repo *r);

/* The tree of the working tree's index as git recorded it in there (the cache-tree extension): if
 * it is HEAD's, nothing is staged, unmerged or intent-to-add. Returns 1 if that cannot be told. */
int ga_repo_index_tree(const struct ga_repo *r, struct ga_oid *ret);
/* What the working tree's index says, without git: is a file marked assume-unchanged or
 * skip-worktree, and is one of the changed paths (sorted) not as it was when git last looked? Both
 * if that cannot be told. */
struct ga_changes;
struct ga_index_state {
	bool marked, touched;
};
void ga_repo_check_index(const struct ga_repo *r, const struct ga_changes *changes,
			 struct ga_index_state *ret);
/* Has the index in this git directory unmerged entries? No if that cannot be told. */
bool ga_index_is_unmerged(const char *gitdir);

/* ---- submodules --------------------------------------------------------- */

/* Append the paths of all gitlinks in the index, checked out or not. */
int ga_repo_gitlinks(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);
/* Open the repository whose index has this one as a submodule; its info has no id. Returns 1 if
 * there is none. Writes to neither. */
int ga_repo_superproject(struct ga_repo *r, struct ga_repo **ret, struct ga_error *err);

/* A variable of the environment that git commands inherit; NULL: unset. Places that git itself or
 * its hooks look at (HOME, PATH, identity) must be looked up the same way. */
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
		GA_PRIVATE_NONE,  /* it is about the repository alone */
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
	bool lazy_fetch;          /* a partial clone may fetch what it lacks, as it would by hand */
	bool as_user;             /* the command is in effect the user's own, as if typed in
				   * `work_tree`: git finds the repository itself, nothing is
				   * forced, and the environment is that of ga_user_environ():
				   * what it starts (hooks, editor, gpg, ssh, filters) sees what
				   * it would see by hand */
	bool show_stderr;         /* git's messages and progress go to our standard error and
				   * `errout` stays empty */
};
#define GA_GIT_INIT { .in_fd = -1, .out_fd = -1, .keep_fd = -1 }
/* The same with these members set (no descriptors). */
#define GA_GIT(...) { .in_fd = -1, .out_fd = -1, .keep_fd = -1, __VA_ARGS__ }

/* Run it; `*ret_status` is its exit status, or 128 + the signal that ended it. Fails only if it
 * could not be run. */
int ga_git_run(const struct ga_repo *r, const struct ga_git *g, int *ret_status,
	       struct ga_error *err);
/* The same in two steps, for a caller that has something to do in between: ga_process_end() waits
 * for it, ga_process_abandon() kills it. `g->errout` must be given, and lives until then like
 * `g->out`. */
struct ga_process_job;
int ga_git_begin(const struct ga_repo *r, const struct ga_git *g, struct ga_process_job **ret,
		 struct ga_error *err);
/* From git's standard error, the last line that says anything and is no hint of git's, or the one
 * that names a lock which is taken: without git's "fatal: ", escaped, and truncated if it is long.
 * NULL: there is none; the caller frees it. */
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
/* The same in two steps: git reads while the caller does something else. ga_gitconfig_end() and
 * ga_gitconfig_abandon() (NULL is fine) free the load. */
struct ga_gitconfig_load;
/* Begin before the repository is even open, with the result of ga_repo_guess(); NULL if that is not
 * possible. */
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
/* Append settings ("key=value", for ga_git's `config`) by which the user's filters run as they
 * do under a git of the user's own in `workdir`: there, and without the variables by which our
 * git is told where things are. A filter that runs git itself would go by these. */
void ga_gitconfig_push_filters(const struct ga_gitconfig *c, const char *workdir,
			       struct ga_strv *config);
/* The file that `key` (a path in the user's git configuration) names or, if that is unset, `name`
 * in git's own configuration directory, found as git would: "~", "~user" and "%(prefix)" expanded,
 * a relative one from the top of the working tree. Absolute, the caller frees it; NULL: there is
 * none. What a session sees, what its base tree is made by and what its capture goes by all use
 * this. Runs a git process only for what git alone can expand. */
int ga_user_file(const struct ga_repo *r, const struct ga_gitconfig *c, const char *key,
		 const char *name, char **ret, struct ga_error *err);
/* Append the content of such a file, or of one beside the repository that may be a symlink, ended
 * by a newline. A missing, unreadable or non-regular file counts as empty, as it does for git,
 * which warns at most; one longer than `max` is an error. */
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

/* Have git itself parse the text of a file that anybody may have written. It fails, besides for
 * what git refuses, if the list is absurdly long. */
int ga_configfile_parse(const struct ga_repo *r, const struct ga_buf *text,
			struct ga_gitconfig *ret, struct ga_error *err);

#endif
