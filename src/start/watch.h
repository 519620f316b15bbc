/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what is noted, recorded and looked at while a session lasts.
 */
#ifndef WATCH_H
#define WATCH_H

#include "ga/record.h"
#include "ga/report.h"
#include "ga/start.h"
#include "ga/sync.h"

/* note.c: what the journal says: before a run what it is given; how it ended; what was captured. */
void start_note_begin(const struct ga_start_env *e, const struct ga_start *st);
void start_note_exit(const struct ga_start *st);
void start_note_captured(const struct ga_session *s, const struct ga_report *r);
/* The recording of a run, NULL: none is wanted. Every so often what there is of it is written, and
 * that it ended early is noted, once. */
struct ga_recorder *start_record(const struct ga_start_env *e, const struct ga_start *st);
void start_record_tick(const struct ga_session *s, struct ga_recorder *r, bool *noted);
void start_record_end(struct ga_start *st, struct ga_recorder *r, bool *noted);

/* watch.c: while a session lasts, and what ends it then. */
struct start_watch {
	const struct ga_start_env *e;
	const struct ga_session *s;
	const struct ga_detach *detach;
	struct ga_recorder *recorder; /* NULL: none */
	const struct ga_relay *relay; /* NULL: none */
	size_t connections;           /* of what it tells are noted */
	bool noted;                   /* that it stopped */
	/* What start made without waiting for the disk goes there after a while: refs that a power
	 * cut left empty would be in git's way. */
	struct ga_strv unsynced;
	struct ga_sync_beside *beside;
	uint64_t written;     /* by the command, kept by ga_run_session() */
	int64_t begun;        /* milliseconds, as the next two */
	int64_t measured, next_measure;
	pid_t measure;        /* the process that measures the layers, 0: none */
	char *why;            /* it is to end, for people; NULL */
	const char *event;    /* what the journal calls that */
};
void start_watch_begin(struct start_watch *w);
bool start_watch_tick(void *payload); /* for ga_run_session() */
/* Release it; note in `s` and in its journal why it ended. Fails if something did not get to the
 * disk. */
int start_watch_end(struct start_watch *w, struct ga_session *s, struct ga_error *err);

#endif
