/* SPDX-License-Identifier: MIT
 *
 * Sessions as values and on disk:
 *
 *     <state>/sessions/<name>/{session,lock,journal.jsonl}
 *                             {upper,work,extras,shared,git,gitwork,stage}/
 *
 * <state> is a directory below the setting `state_dir`, named by the repository's id; every
 * directory is 0700.
 */
#ifndef GA_SESSION_H
#define GA_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/refs.h"
#include "ga/strv.h"

enum ga_state {
	GA_STATE_NEW,         /* being set up; nothing ran yet */
	GA_STATE_RUNNING,
	GA_STATE_INTERRUPTED, /* never stored: RUNNING or CAPTURING whose supervisor is gone */
	GA_STATE_CAPTURED,
	GA_STATE_LANDED,
	GA_STATE_DROPPED,
};
const char *ga_state_name(enum ga_state s);
bool ga_state_parse(const char *name, enum ga_state *ret);

#define GA_SESSION_NAME_MAX 64

struct ga_session {
	char *name;
	enum ga_state state;
	char *dir;               /* absolute path of the session's directory; not stored */
	char *project;           /* the working tree it was started in */
	char *gitdir;            /* git dir of that working tree */
	char *branch;            /* "refs/heads/agent/<name>" */
	char *onto_ref;          /* branch HEAD was on at start, NULL if detached */
	struct ga_oid onto;      /* HEAD at start (or --base): the published branch stands on it */
	struct ga_oid base;      /* it stands on this: `onto`, or the snapshot on top of it */
	bool live;               /* the working tree itself is the lower layer ... */
	uint64_t live_dev, live_ino; /* ... which is this directory; zero: nobody knows */
	bool trusted;            /* the base holds no agent content the user has not taken in */
	char *message;           /* -m, or NULL */
	struct ga_strv command;
	uint64_t started;        /* seconds since the epoch */
	uint64_t finished;        /* 0 while running */
	int exit_status;         /* the agent's; -1 unknown */
	char *incomplete;        /* why its layers lack some of what it did, for people; NULL */
	int pid;                 /* pid 1 of the sandbox, and its namespace */
	uint64_t pidns;
	char *boot;              /* of the machine, in which its layers were written to; NULL */
	struct ga_strv shared;   /* shared ignored directories, relative: number i is shared/<i> */
	struct ga_strv submodules; /* populated ones, relative: each has a session of its own of the
				  * same name, in its own repository ... */
	struct ga_strv part_ids; /* ... whose id is this, one for each */
	char *within;            /* such a one: directory of the superproject's session; or NULL */
	struct ga_strv skipped;  /* what was left out of the view, for people */
	struct ga_strv masked;   /* paths of secrets that are kept out ... */
	struct ga_strv masked_objects; /* ... and files of git's objects that hold the same */
	struct ga_strv limits;   /* of what it may use, as ga_confine_describe() has them */
	char *network;           /* "host", "allow", "none", "learn"; NULL: of an older version,
				  * host */
	struct ga_strv network_options; /* what the command line said of that: KEY=VALUE */
	struct ga_strv published; /* while it runs: "127.0.0.1:43211:3000", the host's first */
	uint64_t ports;          /* GIT_AGENT_PORT_BASE, of its last run; 0: none */
	struct ga_strv refused;  /* of its last run: "COUNT HOST:PORT", of a look-up "COUNT
				  * HOST" */
	uint64_t unlisted;       /* how many more than those, and were refused as well */
	struct ga_strv forbidden; /* the same of names that were allowed and led where none may */
	struct ga_strv learnt;   /* by its last run: words of network.allow */
	struct ga_strv checks;   /* how commands ended that ran after the agent (ga/check.h) */
	struct ga_strv remarks;  /* of its last run, for people (already quoted) */
	struct ga_strv exposed;  /* absolute paths that are shown although they are secrets */
	/* set by capture */
	struct ga_oid tip;       /* of the branch; zero: nothing changed */
	struct ga_oid held;      /* refs/agent/<name>/held; zero: nothing held back */
	struct ga_strv notes;    /* what capture has to say, for people (already quoted) */
	struct ga_strv left_out; /* paths on `carried` that stand on the user's work */
	struct ga_oid view;      /* tree that the layers show, as far as it was captured ... */
	struct ga_oid full;      /* ... and the same as it is on `onto`, held paths included */
	/* set by resume; zero before the first */
	struct ga_oid from;      /* what the agent's history stands on from now on: `under`, or
				  * the user's uncommitted work on top of it */
	struct ga_oid under;     /* the branch as it was then: new commits are published on it */
	struct ga_oid former;    /* the report of what `under` has; zero: none. An ancestor of
				  * the one that is on refs/agent/<name>/report */
	uint64_t resumed;        /* when, the last time */
	struct ga_strv again;    /* with which command, if not with its own */
	/* while the layers are made ready to go on: zero, or the trees they are brought to. Then
	 * they show something between `view` and `bring`, and nothing of that is the agent's */
	struct ga_oid bring;
	struct ga_oid bring_full;
	/* set by land */
	struct ga_oid landed;    /* the commit that brought it */
	/* set by ga_fetch_session(): where it came from, and what was there. It has no layers */
	char *remote;
	struct ga_oid remote_tip, remote_held;
	/* of one that arrived otherwise (ga_arrived()), while LANDED: how, and in which ref */
	char *arrived, *arrived_in;
};
#define GA_SESSION_INIT { .exit_status = -1 }
void ga_session_release(struct ga_session *s);
/* What its history stands on, and what is published of that, this time. */
const struct ga_oid *ga_session_from(const struct ga_session *s);
const struct ga_oid *ga_session_under(const struct ga_session *s);
#define cleanup_session cleanup_(ga_session_release)

/* [a-z0-9] then [a-z0-9._-]*, not ending in ".lock" or ".", no "..", at most
 * GA_SESSION_NAME_MAX bytes. */
bool ga_session_name_ok(const char *name);
/* The same as an error with a hint; or that the session, or its branch, which is among the
 * branches below agent/ in `taken`, is there already. */
int ga_session_name_check(const char *state_dir, const char *name, const struct ga_strv *taken,
			  struct ga_error *err);

/* A name to number from a command: its last path component, folded to what a
 * name may hold ("claude" for "/usr/bin/claude"); "agent" if nothing is left. Caller frees. */
char *ga_session_stem(const char *command);

/* The state directory of a repository, made (0700) if missing; it and its parents are checked for
 * owner and mode. `base` is the configured or default root ("~/.local/state/git-agent"). */
int ga_store_open(const char *base, const char *repo_id, char **ret_state_dir,
		  struct ga_error *err);

/* The directory every stage mounts on, made and checked like that; caller frees `*ret`. */
int ga_store_stage(const char *base, char **ret, struct ga_error *err);

/* Make <state>/sessions/<name> and its layer directories, exclusively. With `name` NULL the
 * first free of "<stem>-1", "<stem>-2" ... (also not taken as a branch: `taken`). Locked. */
int ga_session_create(const char *state_dir, const char *name, const char *stem,
		      const struct ga_strv *taken, struct ga_session *ret, int *ret_lock,
		      struct ga_error *err);

/* Write the state file; the former state is kept as session.old, which is what whoever reads
 * meanwhile gets. On the disk when it returns, unless the session has no result yet. */
int ga_session_save(const struct ga_session *s, struct ga_error *err);
/* The same for a session with a result: what that is, and is being synced (ga/sync.h), is on the
 * disk before the state says so, or the state stays what it was. `*first` is ended then. */
struct ga_sync_beside;
int ga_session_save_after(const struct ga_session *s, struct ga_sync_beside **first,
			  struct ga_error *err);

/* Read it. A damaged file falls back to session.old; with neither, an error that
 * names the file and what to do. Returns 1 if there is no such session; what an agent wrote
 * without a state file is damage as well. */
int ga_session_load(const char *state_dir, const char *name, struct ga_session *ret,
		    struct ga_error *err);

/* The same from a directory that is elsewhere by now. */
int ga_session_load_from(const char *dir, const char *name, struct ga_session *ret,
			 struct ga_error *err);

/* Names of all sessions, sorted. */
int ga_session_names(const char *state_dir, struct ga_strv *ret, struct ga_error *err);

/* Remove what was made before that time, never became a session and belongs to nobody alive.
 * `dry`: nothing. Adds to `names`. */
int ga_session_sweep(const char *state_dir, time_t before, bool dry, struct ga_strv *names,
		     struct ga_error *err);

/* Remove a session's directory, whose lock the caller holds: out of the way under a name nobody
 * else uses, then away. What is removed entry by entry under its own name could be taken for
 * stale, or for a session without its lock, by somebody else half way. What stays when that fails
 * is swept. */
int ga_session_remove_dir(const char *dir, struct ga_error *err);

/* Take the session's lock (held by the supervisor while it lives; whoever captures or lands holds
 * it too). 1 if somebody else has it. */
int ga_session_lock(const struct ga_session *s, bool wait, int *ret_fd, struct ga_error *err);

/* Where the branches of all sessions are, and whatever else they keep. */
#define GA_SESSION_BRANCHES "refs/heads/agent/"
#define GA_SESSION_REFS "refs/agent/"
/* The user's branches, remote branches and tags: all refs but those of sessions, here and on
 * remotes, and those whose object is missing, which git takes for an error. Adds to `ret`. */
int ga_session_host_refs(struct ga_repo *r, struct ga_refs *ret, struct ga_error *err);

/* Ref names of a session; caller frees. `what`: "base", "from", "held", "carried", "orig",
 * "report", "stood/<number>", "earlier/<commit>". */
char *ga_session_ref(const struct ga_session *s, const char *what);

#endif
