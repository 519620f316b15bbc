/* SPDX-License-Identifier: MIT
 *
 * Sessions as values and on disk:
 *
 *     <state>/sessions/<name>/{session,lock,shown,journal.jsonl}
 *                             {upper,work,extras,shared,git,gitwork,stage}/
 *
 * <state> is a directory below the setting `state_dir`, named after the repository's id; every
 * directory is 0700.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/refs.h"
#include "ga/repo/repo.h"

enum ga_state {
	GA_STATE_NEW,         /* being set up; nothing ran yet */
	GA_STATE_RUNNING,
	GA_STATE_INTERRUPTED, /* never stored: RUNNING, and its supervisor is gone */
	GA_STATE_CAPTURED,
	GA_STATE_LANDED,
	GA_STATE_DROPPED,
};
const char *ga_state_name(enum ga_state s);
/* Parse the name of a state; false if there is no such state. */
bool ga_state_parse(const char *name, enum ga_state *ret);

#define GA_SESSION_NAME_MAX 64

/* The identity of a session, set at its start. */
struct ga_session_id {
	char *project;           /* the working tree it was started in */
	char *gitdir;            /* the git dir of that working tree */
	char *branch;            /* "refs/heads/agent/<name>" */
	char *onto_ref;          /* the branch HEAD was on at the start; NULL if detached */
	struct ga_oid onto;      /* HEAD at the start (or --base): what the published branch is
				  * based on */
	struct ga_oid base;      /* what the session is based on: `onto`, or the snapshot on top of
				  * it */
	bool trusted;            /* the base holds no agent content that the user has not merged */
	char *message;           /* -m, or NULL */
	struct ga_strv command;
	uint64_t started;        /* seconds since the epoch */
	struct ga_strv submodules; /* populated submodules, relative: each has a session of its own
				    * with the same name, in its own repository ... */
	struct ga_strv part_ids; /* ... which has this id; parallel to `submodules` */
	char *within;            /* for the session of a submodule: directory of the superproject's
				  * session; else NULL */
	char *remote;            /* of ga_fetch_session(), or NULL. Such a session has no layers */
};

/* What the session shows, and what its layers are based on. */
struct ga_session_view {
	struct ga_strv shared;   /* shared ignored directories, relative; the layers of number i are
				  * in shared/<i>. Some may be removed: ga_session_shared() */
	struct ga_strv skipped;  /* skipped paths, for users */
	struct ga_strv masked;   /* paths of secrets that are masked ... */
	struct ga_strv masked_objects; /* ... and files of git's object store with the same
					* content */
	struct ga_strv exposed;  /* absolute paths that are shown although they are secrets */
	struct ga_strv former_bases; /* former values of `agent_base`, oldest first, on which parts
				      * of the agent's history may be based */
	struct ga_strv renamed;  /* what files with uncommitted work were renamed to */
	struct ga_oid tree;      /* what the layers showed at the last capture ... */
	struct ga_oid full;      /* ... and the same as based on `onto`, held paths included */
	struct ga_oid agent_base; /* set by resume, else zero: the base of the agent's new history:
				   * `branch_base`, or a snapshot of uncommitted work on it */
	struct ga_oid branch_base; /* set by resume, else zero: the tip of the branch then, on which
				    * new commits are published */
	struct ga_oid update;    /* a user's commit that a resume was told to merge inside; zero */
	struct ga_oid updated;   /* the last of these that the published history has; zero */
	struct ga_oid target;    /* set while the layers are updated for a resume, else zero: their
				  * target trees. Until then they show something between `tree` and
				  * this, none of it the agent's work */
	struct ga_oid target_full;
	char *boot;              /* id of the boot during which its layers were last written;
				  * NULL */
	char *incomplete;        /* why its layers lack a part of its work, for users; or NULL */
};

/* Its last run. */
struct ga_session_run {
	uint64_t finished;       /* 0 while running */
	int exit_status;         /* the agent's; -1 unknown */
	int pid;                 /* pid 1 of the sandbox, and its pid namespace */
	uint64_t pidns;
	struct ga_strv limits;   /* limits on what it may use, in the form of
				  * ga_confine_describe() */
	char *network;           /* "host", "allow", "none"; NULL: made by an older version,
				  * host */
	struct ga_strv network_options; /* what the command line set about the network: KEY=VALUE */
	struct ga_strv published; /* while it runs: "127.0.0.1:43211:3000", the host's address
				   * first */
	uint64_t ports;          /* GIT_AGENT_PORT_BASE; 0: none */
	struct ga_strv refused;  /* "COUNT HOST:PORT", or for a look-up "COUNT HOST" */
	uint64_t unlisted;       /* number of further refusals */
	struct ga_strv forbidden; /* the same for allowed names that resolved to addresses that are
				   * never allowed */
	struct ga_strv checks;   /* how its `finish` commands ended (ga/session/check.h) */
	struct ga_strv remarks;  /* for users (already quoted) */
	uint64_t resumed;        /* time of the last resume */
	struct ga_strv resumed_with; /* the command it was resumed with, if not its own */
};

/* Its result, set by capture, land and fetch. The first four are what its report says, and stored
 * nowhere else: a session that was just loaded has none (ga_report_load() in ga/review/review.h).
 * */
struct ga_session_result {
	struct ga_oid tip;       /* tip of the branch; zero: nothing changed */
	struct ga_oid held;      /* refs/agent/<name>/held; zero: nothing held */
	struct ga_strv notes;    /* remarks of capture, for users (already quoted) */
	struct ga_strv left_out; /* paths of the uncommitted part that have not landed */
	struct ga_oid base_report; /* the report on what `branch_base` has; zero: none. An ancestor
				    * of the one on refs/agent/<name>/report */
	struct ga_oid landed;    /* the commit that landed it */
	struct ga_oid remote_tip, remote_held; /* what the remote had */
	char *arrived, *arrived_in; /* of one that is LANDED without `land`: how, and in which ref,
				     * see ga_find_arrival() */
	char *stamp;             /* of one that is DROPPED, or was: its name in the trash */
};

struct ga_session {
	char *name;
	enum ga_state state;
	char *dir;               /* absolute path of the session's directory; not stored */
	bool damaged;            /* INTERRUPTED, as its capture was damaged; not stored */
	struct ga_session_id id;
	struct ga_session_view view;
	struct ga_session_run run;
	struct ga_session_result result;
};

/* The file that marks shared directory number `i` as removed inside. It is never mounted again: the
 * session would see what it had removed, and not what it created there since. */
char *ga_session_removed(const struct ga_session *s, size_t i);
bool ga_session_shares(const struct ga_session *s, size_t i);
void ga_session_shared(const struct ga_session *s, struct ga_strv *ret);
#define GA_SESSION_INIT { .run = { .exit_status = -1 } }
void ga_session_release(struct ga_session *s);
/* The current base of the agent's history, and that of the published one; unlike the fields, never
 * zero. */
const struct ga_oid *ga_session_agent_base(const struct ga_session *s);
const struct ga_oid *ga_session_branch_base(const struct ga_session *s);
/* What the published history is compared with, to find the session's own changes: `id.onto`, or the
 * user's commit that was merged into it since. */
const struct ga_oid *ga_session_own_base(const struct ga_session *s);
#define cleanup_session cleanup_(ga_session_release)

/* Is it [a-z0-9] then [a-z0-9._-]*, not ending in ".lock" or ".", without "..", at most
 * GA_SESSION_NAME_MAX bytes? */
bool ga_session_name_ok(const char *name);
/* The same as an error with a hint; also fails if the session exists already, or its branch (the
 * branches below agent/ are in `taken`). */
int ga_session_name_check(const char *state_dir, const char *name, const struct ga_strv *taken,
			  struct ga_error *err);

/* A stem for numbered names, made from a command: its last path component, reduced to what a name
 * may contain ("claude" for "/usr/bin/claude"); "agent" if nothing is left. The caller frees it. */
char *ga_session_stem(const char *command);

/* Open the state directory of a repository below `base` (the setting `state_dir`), created (0700)
 * if missing; it and its parents are checked for owner and mode. */
int ga_store_open(const char *base, const char *repo_id, char **ret_state_dir,
		  struct ga_error *err);

/* The directory on which every stage mounts its tmpfs, made and checked in the same way; the caller
 * frees `*ret`. */
int ga_store_stage(const char *base, char **ret, struct ga_error *err);

/* The first number for names with that stem: above those of sessions in the trash, which may be
 * restored. */
unsigned ga_session_first_number(const char *state_dir, const char *stem);

/* Create <state>/sessions/<name> and its layer directories, exclusively. With `name` NULL it gets
 * the first of "<stem>-1", "<stem>-2" ..., from ga_session_first_number() on, that is neither a
 * session nor a branch in `taken`. It comes locked. */
int ga_session_create(const char *state_dir, const char *name, const char *stem,
		      const struct ga_strv *taken, struct ga_session *ret, int *ret_lock,
		      struct ga_error *err);

/* Write the state file; the former one is kept as session.old, which readers get until then.
 * The new one is on the disk when this returns, unless the session has no result yet. */
int ga_session_save(const struct ga_session *s, struct ga_error *err);
/* The same for a session whose result is still being synced by `*first` (ga/sys/sync.h): the state
 * file does not refer to the result before that is on the disk; if syncing fails, the state stays
 * what it was. `*first` is ended afterwards. */
struct ga_sync_job;
int ga_session_save_after(const struct ga_session *s, struct ga_sync_job **first,
			  struct ga_error *err);

/* In the session's directory: the user's feedback on rejected changes (ga_feedback()), for the next
 * resume. */
#define GA_REMARKS_FILE "remarks"

/* Read a session. A damaged state file falls back to session.old; if both are unusable, an error
 * names the file and what to do. Returns 1 if there is no such session; layers that an agent wrote
 * to without a state file are damage as well. */
int ga_session_load(const char *state_dir, const char *name, struct ga_session *ret,
		    struct ga_error *err);

/* The same from a directory that has been moved. */
int ga_session_load_from(const char *dir, const char *name, struct ga_session *ret,
			 struct ga_error *err);

/* The names of all sessions, sorted. */
int ga_session_names(const char *state_dir, struct ga_strv *ret, struct ga_error *err);

/* Remove directories older than `before` that never became a session and whose process has ended.
 * `dry`: remove nothing. Adds to `names`. */
int ga_session_sweep(const char *state_dir, time_t before, bool dry, struct ga_strv *names,
		     struct ga_error *err);

/* Remove a session's directory; the caller holds its lock. It is first renamed to a name nobody
 * else uses: one that is removed entry by entry under its own name could, half way, be taken by
 * others for a stale one or for a session without a lock. What remains if that fails is swept
 * later. */
int ga_session_remove_dir(const char *dir, struct ga_error *err);

/* A path in the session's directory. Caller frees. */
char *ga_session_path(const struct ga_session *s, const char *what);
/* Make a new, empty directory below "work" there. Caller frees its path. */
char *ga_session_fresh_dir(const struct ga_session *s, const char *what, struct ga_error *err);
/* Remove "work" once nothing is mounted. Overlayfs leaves directories without any permission in it,
 * at which 'rm -r' stops. */
void ga_session_remove_work(const char *session_dir);
/* Remove locks that a killed git or supervisor left on the session's refs. The session must be
 * locked, and not run. */
void ga_session_clear_locks(struct ga_repo *r, const struct ga_session *s);

/* Take the session's lock (the supervisor holds it while it lives, and so does whoever captures or
 * lands). Returns 1 if somebody else holds it, 2 if the session is gone (was dropped). */
int ga_session_lock(const struct ga_session *s, bool wait, int *ret_fd, struct ga_error *err);

/* Record that this commit of the session was shown to the user, and return the one shown before
 * (zero: none); and fail with GA_ECONFLICT if the session was captured or fetched again since it
 * was shown. */
int ga_session_mark_shown(const struct ga_session *s, const struct ga_oid *commit,
			  struct ga_oid *ret_former, struct ga_error *err);
int ga_session_check_shown(const struct ga_session *s, struct ga_error *err);

/* Prefixes of the branches of all sessions, and of their other refs. */
#define GA_SESSION_BRANCHES "refs/heads/agent/"
#define GA_SESSION_REFS "refs/agent/"
#define GA_TRASH_REFS "refs/agent-trash/" /* of dropped ones (ga/trash/trash.h) */
/* List the user's branches, remote branches and tags: all except those of sessions, here and on
 * remotes, and except refs whose object is missing, which git treats as an error. Adds to `ret`. */
int ga_session_host_refs(struct ga_repo *r, struct ga_refs *ret, struct ga_error *err);

/* Is it a remote-tracking branch of a session: "refs/remotes/<remote>/agent/<name>"? */
bool ga_session_is_tracked(const char *ref);

/* Add the names that no session may have because of existing branches. Fails (GA_EFATAL) if a
 * branch "agent" leaves no room for any. */
int ga_session_taken_names(struct ga_repo *r, struct ga_strv *ret, struct ga_error *err);

/* The full name of a session's ref; the caller frees it. `what`: "base", "from", "held", "orig",
 * "report", "earlier/<commit>". */
char *ga_session_ref(const struct ga_session *s, const char *what);

/* How a command of the setting `finish` ended. These run in the session after its agent, which may
 * have changed what they run: a result proves nothing. */
enum ga_check_end {
	GA_CHECK_EXITED,      /* `status` is 0 to 255; 128 + n for signal n */
	GA_CHECK_TIMED_OUT,
	GA_CHECK_INTERRUPTED,
	GA_CHECK_NOT_RUN,
};

struct ga_check {
	enum ga_check_end end;
	int status;           /* 0 unless GA_CHECK_EXITED */
	const char *command;  /* one line, safe to show; borrowed */
};

/* "exited", "timed-out", "interrupted", "not-run" */
const char *ga_check_end_name(enum ga_check_end e);

/* One string ("END STATUS COMMAND") for the lists in state files and reports; the caller frees it.
 * Parsing it returns false if it is malformed; `ret->command` then points into `word`. */
char *ga_check_encode(const struct ga_check *c);
bool ga_check_parse(const char *word, struct ga_check *ret);

/* For users: "make check → 0", "make test → timed out". The caller frees it. */
char *ga_check_text(const struct ga_check *c);

/* The entry <commondir>/worktrees/agent-<name>: while it exists, `git worktree list` shows the
 * session and git refuses to switch to, move or delete its branch. It names a working tree that
 * does not exist on the host and is locked, so nothing prunes it and no command can enter it. */

/* Create the entry, or replace one that a crash of this session left. Fails if a working tree of
 * the user's has that name. */
int ga_worktree_entry_create(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Add the directory `tree` to the bare repository `gitdir` as its working tree `name`, detached at
 * the commit `head` (in hex): `git worktree add --no-checkout --detach`, but atomic. While git's
 * entry has a HEAD without a commit, every git in the repository fails. */
int ga_worktree_add(const char *gitdir, const char *name, const char *tree, const char *head,
		    struct ga_error *err);

/* Fail (GA_EFATAL) if the session's branch is checked out in a working tree of the user, where it
 * must neither move nor be deleted, or if a rebase or bisection in progress there will return to
 * it. */
int ga_worktree_check_free(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* Append the git directories of all working trees of the repository, the main one's first. */
void ga_worktree_gitdirs(const struct ga_repo *r, struct ga_strv *ret);

/* Remove the entry if it is this session's. It is no error if there is none, or another's. */
int ga_worktree_entry_remove(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);

/* The uncommitted part of a session: the agent's changes to work that the user had not committed at
 * its start. It is on no branch; a landing applies it as uncommitted changes. */

struct ga_wip {
	char *objects;          /* the session's object directory; see ga_repo_open_private() */
	struct ga_oid snapshot; /* commit of the user's uncommitted work; zero: none */
	struct ga_oid seen;     /* the whole tree that the agent left; zero: none yet */
	struct ga_strv paths;   /* paths of the uncommitted part in which snapshot and seen differ,
				 * sorted */
};
#define GA_WIP_INIT { NULL, { { 0 } }, { { 0 } }, GA_STRV_INIT }
void ga_wip_release(struct ga_wip *w);
#define cleanup_wip cleanup_(ga_wip_release)

/* Fill it. A session without uncommitted work has neither snapshot nor paths. */
void ga_wip_load(const struct ga_session *s, struct ga_wip *ret);

/* The agent's changes to those paths, from `snapshot` to `seen`. */
int ga_wip_changes(struct ga_repo *r, const struct ga_wip *w, struct ga_changes *ret,
		   struct ga_error *err);

/* All paths with uncommitted work of the user, changed by the agent or not, and what they were
 * renamed to; sorted. No commit of the session may change them. */
int ga_wip_paths(struct ga_repo *r, const struct ga_session *s, struct ga_strv *ret,
		 struct ga_error *err);
/* Is the path one of these sorted ones, beneath one, or a directory that one is in? */
bool ga_wip_has(const struct ga_strv *paths, const char *path);

/* The session's object directory; the caller frees it. */
char *ga_wip_objects(const struct ga_session *s);
/* Have the handle use it, if the session has, or may be shown, uncommitted work ... */
int ga_wip_use(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);
/* ... or only read it. */
int ga_wip_attach(struct ga_repo *r, const struct ga_session *s, struct ga_error *err);
