/* SPDX-License-Identifier: MIT
 *
 * What is noted, recorded and looked at while a session lasts.
 */
#ifndef WATCH_H
#define WATCH_H

#include "ga/review/report.h"
#include "ga/run/record.h"
#include "ga/start/start.h"
#include "ga/sys/sync.h"

/* session-journal.c: note in the journal what a run is given, how it ended, and what
 * was captured. */
void start_note_begin(const struct ga_env *e, const struct ga_start *st);
void start_note_exit(const struct ga_start *st);
void start_note_captured(const struct ga_session *s, const struct ga_report *r);
/* Begin the recording of a run; NULL: none is wanted. */
struct ga_recorder *start_record(const struct ga_env *e, const struct ga_start *st);
/* Write what there is of it so far; if it has stopped early, note that once. */
void start_record_tick(const struct ga_session *s, struct ga_recorder *r, bool *noted);
void start_record_end(struct ga_start *st, struct ga_recorder *r, bool *noted);

/* watch.c: what is watched while a session runs, and may end it. */
struct start_watch {
	const struct ga_env *e;
	const struct ga_session *s;
	struct ga_detach *detach;
	struct ga_recorder *recorder; /* NULL: none */
	const struct ga_relay *relay; /* NULL: none */
	size_t connections;           /* how many of the relay's are in the journal */
	bool noted;                   /* the journal says that the recording stopped */
	/* Files that the start made without waiting for the disk. They are synced after a while:
	 * refs that are empty after a power cut would be in git's way. */
	struct ga_strv unsynced;
	struct ga_sync_beside *beside;
	uint64_t written;     /* by the command, kept by ga_run_session() */
	int64_t begun;        /* when the session began, in milliseconds (ga/base/clock.h) */
	int64_t measured;     /* when the last measurement of the layers began */
	int64_t next_measure; /* when the next is due */
	pid_t measure;        /* the process that measures, or 0 */
	char *why;            /* the reason that it is to end for, for users; or NULL */
	const char *event;    /* what the journal calls that reason */
};
void start_watch_begin(struct start_watch *w);
bool start_watch_tick(void *payload); /* for ga_run_session() */
/* Release it, and note in `s` and its journal why the session was ended, if it was. Fails if
 * something did not get to the disk. */
int start_watch_end(struct start_watch *w, struct ga_session *s, struct ga_error *err);

#endif
