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
#include <time.h>
#include <unistd.h>

#include "ga/base/clock.h"
#include "ga/base/json.h"
#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/home/home.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/run/control.h"
#include "ga/run/record.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/start/start.h"
#include "ga/sys/fd.h"
#include "ga/sys/process.h"
#include "ga/sys/sync.h"
#include "ga/view/view.h"

/* network.c: add the hosts of network.allow, and those that the agent (NULL: none) needs. */
void start_add_allowed(const struct ga_env *e, const struct ga_preset *p, struct ga_strv *ret);
/* Note which network the next sandbox should begin with, as this guess was wrong. */
#define START_NETWORK_NOTE "network" /* in the state directory of a repository */
void start_note_guess(const struct ga_env *e);
/* Add lines on it to st->notes. */
void start_describe_network(const struct ga_env *e, struct ga_start *st);
/* Journal the connections that are new since the last time (`*noted`). */
void start_note_network(const struct ga_session *s, const struct ga_relay *r, size_t *noted);
/* Record in the session and its journal the connections and refusals, and close the relay. */
void start_end_network(struct ga_start *st, size_t *noted);

/* watch.c: write to the journal the inputs of a run, its end, and the capture. */
void start_note_begin(const struct ga_env *e, const struct ga_start *st);
void start_note_exit(const struct ga_start *st);
void start_note_captured(const struct ga_session *s, const struct ga_report *r);
/* Begin the recording of a run; NULL: recording is off. */
struct ga_recorder *start_record(const struct ga_env *e, const struct ga_start *st);
void start_record_end(struct ga_start *st, struct ga_recorder *r, bool *noted);

/* Limits and resources to watch during a run. */
struct start_watch {
	const struct ga_env *e;
	const struct ga_session *s;
	struct ga_detach *detach;
	struct ga_recorder *recorder; /* NULL: none */
	const struct ga_relay *relay; /* NULL: none */
	size_t connections;           /* how many of the relay's are in the journal */
	bool noted;                   /* the journal says that the recording stopped */
	/* Files that the start made without waiting for the disk. They are synced after a while:
	 * refs that are empty after a power cut would break git. */
	struct ga_strv unsynced;
	struct ga_sync_job *beside;
	uint64_t written;     /* by the command, kept by ga_run_session() */
	int64_t begun;        /* when the session began, in milliseconds (ga/base/clock.h) */
	int64_t measured;     /* when the last measurement of the layers began */
	int64_t next_measure; /* when the next is due */
	pid_t measure;        /* the process that measures, or 0 */
	char *why;            /* why it must end, for users; or NULL */
	const char *event;    /* the journal's word for that */
};
bool start_watch_tick(void *payload); /* for ga_run_session() */
/* Release it, and note in `s` and its journal why the session was ended, if it was. Fails if a sync
 * failed. */
int start_watch_end(struct start_watch *w, struct ga_session *s, struct ga_error *err);
/* `dir` or the agents' home, if less is free there than `disk_free`; else NULL. */
const char *start_full_place(const struct ga_env *e, const char *dir);

/* commands.c: run `setup`; a failure is GA_ESTART. */
int start_run_setup(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* Merge the requested branch into a resumed session; a conflict stays in the working tree. */
int start_run_update(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* Run `finish`, and note in the session's `checks` how each command ended. `ended`: the agent was
 * told to end, and they are not run. */
void start_run_finish(struct start_watch *w, struct ga_start *st, bool ended);
/* Start `services`, and wait until all of them are ready. */
int start_run_services(struct start_watch *w, struct ga_start *st, struct ga_error *err);
/* End them. */
void start_end_services(struct ga_start *st);
/* Add lines about all three to the banner. */
void start_describe_commands(struct ga_start *st);

struct ga_part {
	char *path;               /* relative to the superproject */
	struct ga_env env;  /* the superproject's, but for repository, configuration, state
				   * directory and bwrap, which are its own */
	struct ga_view_base base;
	struct ga_start start;
};
/* submodule-sessions.c: open the repositories of the submodules of `b`, and choose their bases,
 * recursively. Adds to `taken` the names that no session may have because of them, and to
 * b->scan.skipped what is left out and why. */
int start_open_parts(struct ga_env *e, const struct ga_start_opts *o, struct ga_view_base *b,
		     struct ga_start *st, struct ga_strv *taken, struct ga_error *err);
/* submodule-sessions.c: save the parts with the session's state and result. */
int start_save_parts(struct ga_start *st, struct ga_error *err);
/* Add their paths that must be synced later. */
void start_part_paths(const struct ga_start *st, struct ga_strv *ret);
void start_unlock_parts(struct ga_start *st);
