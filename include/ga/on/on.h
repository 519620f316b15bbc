/* SPDX-License-Identifier: MIT
 *
 * Sessions on another machine. There it is a session of the git-agent of that machine, in a depot:
 * a repository that has got the sessions' base commits and nothing else, and a working tree of it
 * for each session. Here it is a record, until its result is fetched (ga/transfer/transfer.h) and
 * becomes a session without layers.
 *
 *     <state>/on/<name>                     the record: JSON, mode 0600
 *     <state>/on-objects/<name>/            objects of the snapshot (ga/session/wip.h)
 *     ~/.local/share/git-agent/on/<id>/     there, by the id of the repository here: depot/.git,
 * and
 *                                           trees/<far name>/<directory>/
 *
 * All that is said there is `git agent depot WORD`, where WORD is a JSON request in base64url: one
 * word of [A-Za-z0-9_-], which no login shell reads as anything else. What it answers begins behind
 * a line GA_ON_READY, since shells print what they like before. Commits travel by git, through the
 * same command. The other machine may lie: answers are bounded and checked, and what it sends ends
 * up where a session's own work could (ga/transfer/transfer.h).
 *
 * Where Slurm is the engine, the session is a job, named as the session is there. The depot has all
 * that is known of it, at refs/agent-on/<far name>/: `slurm`, what was submitted; `state`, JSON,
 * once a job has begun, whose claim that is, or it was cancelled; `log`, `show` and `patch`, what
 * the commands said at its end. Its own depot and tree are on a disk of the node, and go with the
 * job.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/config/hosts.h"
#include "ga/repo/repo.h"

#define GA_ON_READY "git-agent-depot 1"
/* States of remote sessions besides those of ga/session/session.h: the job is queued, was cancelled
 * before its start, ended without a result. */
#define GA_ON_STATES "pending cancelled lost"

/* ---- here: records --------------------------------------------------------------------------- */

struct ga_on {
	char *name;              /* here */
	char *host;              /* as the user names it */
	char *project;           /* id of the repository (ga/repo/repo.h) */
	char *far;               /* name of the session there: <name>-<nonce> */
	char *directory;         /* name of the working tree's directory there */
	struct ga_oid base;      /* the commit that it is based on ... */
	struct ga_oid snapshot;  /* ... and one of uncommitted work on top of that; zero: none */
	struct ga_strv options;  /* options of the remote `git agent start` */
	struct ga_strv command;
	uint64_t started;        /* seconds since the epoch, by the clock here */
	bool trusted;            /* the user trusts the repository's settings at `base` */
	/* the start was requested, or is about to be; else nothing is running */
	bool submitted;
	struct ga_host way;      /* how to reach the host, as at the start */
	bool runs;               /* may have been started; its result was not fetched */
	char *state;             /* its last known state; NULL: never answered ... */
	uint64_t asked;          /* ... and its time, by the clock here */
	/* not stored: answered now, with these commits; zero: none */
	bool answers;
	char *why;               /* a word on that state, from there */
	int exit;                /* the exit status of its command; -1: there is none */
	struct ga_oid tip, held;
};
#define GA_ON_INIT { 0 }
void ga_on_release(struct ga_on *o);
#define cleanup_on cleanup_(ga_on_release)

struct ga_ons {
	struct ga_on *v;
	size_t n, cap;
};
#define GA_ONS_INIT { NULL, 0, 0 }
void ga_ons_release(struct ga_ons *l);
#define cleanup_ons cleanup_(ga_ons_release)

/* A host as the user names it: 1 to 255 bytes without blanks and control characters, not beginning
 * with '-'. */
bool ga_on_host_ok(const char *host);
/* Read the record of that name. Returns 1 if there is none. */
int ga_on_read(const char *state_dir, const char *name, struct ga_on *ret, struct ga_error *err);
/* Append the names of all, and sort `ret`. */
void ga_on_names(const char *state_dir, struct ga_strv *ret);
/* Read all, sorted by name. One that cannot be read is an error. */
int ga_on_list(const char *state_dir, struct ga_ons *ret, struct ga_error *err);
/* Write it; it is on the disk when this returns. */
int ga_on_save(const char *state_dir, const struct ga_on *o, struct ga_error *err);
/* Write `state` and `asked` only, and nothing if the record is gone: another command may have
 * changed it since it was read. */
int ga_on_note(const char *state_dir, const struct ga_on *o, struct ga_error *err);
/* Lock the choice of names for records. Returns a descriptor to be closed. */
int ga_on_lock_names(const char *state_dir, struct ga_error *err);
/* The object directory of the snapshot. The caller frees it. */
char *ga_on_objects(const char *state_dir, const char *name);
/* Remove the record, and these objects. No error if there is none. */
int ga_on_remove(const char *state_dir, const char *name, struct ga_error *err);

/* ---- here: calls to a host ------------------------------------------------------------------- */

/* Call `action` there, with the bytes `in` (or NULL) as its input, and get the answer, an object
 * (new reference; `ret` may be NULL): by ssh, with the user's configuration and a connection that
 * is kept for a minute, without any forwarding; or by the host's `run`. Returns 1 and an error if
 * the host reports a failure, -1 without an answer within two minutes: then the result is unknown.
 * An idempotent action is retried once. */
int ga_on_call(const struct ga_on *o, const char *action, const struct ga_buf *in, json_t **ret,
	       struct ga_error *err);
/* Query all hosts of these records in parallel, for at most `timeout_ms` and without prompts, and
 * set the members that are not stored, `state` and `asked` of those that answered. One that was not
 * submitted is "absent", whatever its host says. */
void ga_on_ask(struct ga_ons *l, unsigned timeout_ms);
/* The same for one, as with ga_on_call(). */
int ga_on_query(struct ga_on *o, struct ga_error *err);
/* Text from there, with the local name of the session. The caller frees it. */
char *ga_on_here(const struct ga_on *o, const char *text);
/* Append the patch of its changes on top of the snapshot (`git agent diff --uncommitted`). */
int ga_on_patch(const struct ga_on *o, struct ga_buf *ret, struct ga_error *err);
/* Run it on this terminal, through the filter of ga/run/termfilter.h, or with our input and output.
 * `*ret_status` is the exit status that the host sends at the end; a connection that ends without
 * it is an error. */
int ga_on_run(const struct ga_on *o, json_t *more, bool terminal, int *ret_status,
	      struct ga_error *err);
/* The URL by which git reaches the depot through this program (git-remote-ext(1)). The caller frees
 * it. */
char *ga_on_url(const struct ga_on *o);
/* Connect standard input and output with git there, for the record that ga_on_url() encoded. */
int ga_on_pipe(const char *record, const char *service, int *ret_status, struct ga_error *err);

/* The variables `keys` (ended by NULL, or NULL) that are set here go with both of these, on
 * standard input, into the environment of the command there and nowhere else. */

/* Make the depot there, if it has none, send it the base and have the session started. It runs at
 * most once, however often this is called for a record, which is saved before the start. If it
 * fails and `submitted` is not set, then it was not started. */
int ga_on_submit(struct ga_repo *r, const char *state_dir, struct ga_on *o,
		 const char *const *keys, struct ga_error *err);

/* Resume it there, in the background, with these words of `git agent resume`. */
int ga_on_resume(const struct ga_on *o, const struct ga_strv *words,
		 const char *const *keys, struct ga_error *err);

/* ---- there ----------------------------------------------------------------------------------- */

/* Handle a request. Returns 0 and the exit status, unless it executes another program. */
int ga_on_serve(const char *word, const char *home, int *ret_status,
		struct ga_error *err);
