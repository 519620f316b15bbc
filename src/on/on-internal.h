/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/on/on.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"

/* ---- here (host.c, stream.c, record.c) ------------------------------------------------------- */

enum on_how { ON_PIPES, ON_TERMINAL, ON_UNASKED };

#define ON_SSH_FAILED 255                /* ssh(1): ssh failed */
#define ON_NOISE_MAX ((size_t)1 << 16)   /* output of a login shell */
#define ON_CALL_MS 120000                /* enough for hardware keys and passwords */
#define ON_PATCH_MAX ((size_t)256 << 20)

/* Decode a request's word, or NULL. New reference. */
json_t *on_unpack(const char *word);
/* Encode a request as a word that no shell expands: base64url without padding. */
char *on_pack(json_t *request);
/* The absolute path of this program; "" if unknown. The caller frees it. */
char *on_self(void);

/* Write a record as JSON, and read it. False: it is damaged. */
json_t *on_encode(const struct ga_on *o);
bool on_decode(const json_t *j, struct ga_on *o);
/* The command that sends its host a request for an action, with further members (taken over, or
 * NULL). */
void on_words_for(const struct ga_on *o, const char *action, json_t *more, enum on_how how,
		  struct ga_strv *ret);
int on_fail_there(const struct ga_on *o, int status, const struct ga_buf *out,
		  const struct ga_buf *why, struct ga_error *err);

/* The end of a remote command's output: a mark made here, unknown to sessions, and the exit status.
 * Output without it was truncated, whatever ssh's status. */
#define ON_END_DIGITS 32
struct on_end {
	char mark[1 + ON_END_DIGITS + 1];
	size_t at;  /* bytes of it read and held back */
	char digits[4];
	size_t n;
	int status; /* -1: no mark */
};
/* Remote side: print it, if the request asks for one. */
void on_end_print(const json_t *request, int status);

/* ---- there (serve.c, slurm-job.c, slurm.c, depot.c) ------------------------------------------ */

struct depot {
	json_t *request;   /* request, standard input, answer */
	json_t *input, *answer;
	char *self;
	const char *name;  /* of the session, on this host */
	char *dir;         /* of the repository's sessions */
	char *main;        /* working tree of the depot, which is empty */
	char *git;         /* the depot */
	char *tree;        /* the working tree of the session */
	char *state;       /* the setting state_dir for sessions of it, "state_dir=..."; or NULL */
	int status;        /* what to exit with */
	bool ready;        /* GA_ON_READY was said ... */
	bool passes;       /* ... or a step in the job prints it, and the mark */
};
#define cleanup_depot cleanup_(depot_release)
void depot_release(struct depot *d);
const char *depot_text(const json_t *j, const char *key);
/* The paths of the depot in `dir`. */
void depot_at(struct depot *d, const char *dir, const char *name, const char *directory);
/* The session's ref `what` in DEPOT_REFS. The caller frees it. */
#define DEPOT_REFS "refs/agent-on/"
char *depot_ref(const struct depot *d, const char *what);
/* Does the session's ref `what` exist in DEPOT_REFS or GA_SESSION_REFS? */
bool depot_has(const struct depot *d, const char *refs, const char *what);
/* Remove all of its refs. */
int depot_forget(const struct depot *d, struct ga_error *err);

struct depot_run {
	const char *cwd;     /* NULL: / */
	int keep;            /* 0, or a descriptor to keep open */
	json_t *keys;        /* variables for it; or NULL */
	const struct ga_buf *in; /* or NULL */
	size_t out_max;
	unsigned timeout_ms;
};
#define DEPOT_RUN(...) (&(const struct depot_run){ __VA_ARGS__ })
/* Run it. If its exit status is not 0, fails with its last line. */
int depot_run(const struct ga_strv *words, const struct depot_run *how, struct ga_buf *out,
	      struct ga_error *err);
/* Run git in the depot, without hooks. */
int depot_git(const struct depot *d, const struct ga_strv *args, const struct ga_buf *in,
	      struct ga_buf *out, struct ga_error *err);
#define GIT_OUT(d, in, out, err, ...) \
	({ \
		cleanup_strv struct ga_strv args_ = GA_STRV_INIT; \
		ga_strv_push_many(&args_, __VA_ARGS__, NULL); \
		depot_git(d, &args_, in, out, err); \
	})
#define GIT(d, err, ...) GIT_OUT(d, NULL, NULL, err, __VA_ARGS__)
/* The command `git agent` for the depot's sessions. */
void depot_agent(const struct depot *d, struct ga_strv *ret);
/* Print GA_ON_READY once, unless on a terminal: the answer follows. */
void depot_ready(struct depot *d);
/* Run it with our input and output, and store its exit status in `d`. */
int depot_connect(struct depot *d, const struct ga_strv *words, const char *cwd,
		  struct ga_error *err);
/* Make the depot, if there is none. */
int depot_make(struct depot *d, struct ga_error *err);
/* Make the working tree of the session and start it as `input` says, with `held` open, if not 0. */
int depot_start(struct depot *d, int held, struct ga_error *err);
/* Remove the working tree and git's entry for it, if they exist. */
void depot_remove_tree(const struct depot *d);
/* The states of sessions, by name: an object, or NULL. New reference. */
json_t *depot_sessions(const struct depot *d, struct ga_error *err);

/* Sessions that are jobs, submitted or not: those with a ref `slurm`. */
int slurm_submit(struct depot *d, struct ga_error *err);
/* Add the states of all jobs' sessions. */
int slurm_list(struct depot *d, json_t *states, struct ga_error *err);
int slurm_do(struct depot *d, const struct ga_strv *words, struct ga_error *err);
/* Cancel the jobs, and remove the session from the depot. */
int slurm_drop(struct depot *d, struct ga_error *err);
/* Its ref `what`: an object, or NULL. New reference. */
json_t *slurm_get(const struct depot *d, const char *what);
/* Set it to these bytes, or to an object (taken over). `once`: it is an error if there is one. */
int slurm_put_text(const struct depot *d, const char *what, const struct ga_buf *text, bool once,
		   struct ga_error *err);
int slurm_put(const struct depot *d, const char *what, json_t *j, bool once, struct ga_error *err);
/* A state, with a reason that may have any bytes. New reference. */
json_t *slurm_state(const char *state, const char *why);
bool slurm_is_over(const json_t *state);
/* In the job: run the session, from its claim to its result; or a command in its working tree. */
int slurm_job(struct depot *d, struct ga_error *err);
int slurm_inside(struct depot *d, struct ga_error *err);
bool slurm_id_ok(const char *id);
