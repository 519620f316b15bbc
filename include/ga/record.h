/* SPDX-License-Identifier: MIT
 *
 * The recording of a session's terminal: asciicast v2, a JSON object and then an event a line, in
 * transcript.cast of the session's directory, those of later runs in transcript-2.cast and so on.
 * What is in it went through the terminal filter, whatever the session's own was set to, and
 * lacks what asks a terminal for an answer: whoever shows it to a terminal gets nothing typed.
 * Input is never in it. Output that went to no terminal has CR LF for its line ends, as a
 * terminal would have shown it.
 */
#ifndef GA_RECORD_H
#define GA_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/run.h"
#include "ga/strv.h"

/* ---- writing */

struct ga_record_opts {
	const char *dir;              /* the session's */
	const char *title;
	const struct ga_strv *command;
	const char *const *envp;      /* of the command: TERM is taken from it */
	uint64_t max;                 /* bytes of the file, from GA_RECORD_LEAST */
};
#define GA_RECORD_LEAST ((uint64_t)64 << 10)

struct ga_recorder;
/* Nothing is made before there is something to write. What cannot be written ends the recording,
 * and nothing else. Memory is bounded, writes are of some 64 KiB each, and nothing is synced. */
struct ga_recorder *ga_record_begin(const struct ga_record_opts *o);
/* What ga_run_session() is to tell; it lasts as long as the recorder. */
const struct ga_run_sink *ga_record_sink(struct ga_recorder *r);
/* Write what there is: for every so often. */
void ga_record_flush(struct ga_recorder *r);
/* Name of the file in the directory; NULL: there is none. */
const char *ga_record_name(const struct ga_recorder *r);
/* Why it ended before the session did, for people; NULL: it did not. */
const char *ga_record_stopped(const struct ga_recorder *r);
/* Undo in it what is left switched on in the terminal, write the rest and close. */
void ga_record_end(struct ga_recorder *r);
void ga_record_free(struct ga_recorder *r); /* NULL is fine */

/* ---- reading */

/* Those of a directory, in the order of runs; adds to `ret`. */
void ga_record_names(const char *dir, struct ga_strv *ret);

struct ga_record_event {
	uint64_t us;      /* microseconds since the beginning; never less than of the one before */
	char kind;        /* 'o' output, 'r' size ("80x24"), 'm' mark, 'i' */
	const char *data; /* UTF-8; until the next call */
	size_t n;
};
struct ga_record;
/* One at a time, in little memory: a line of more than 1 MiB, or that is no event, is passed over,
 * and so is one that is not finished yet. */
int ga_record_open(const char *dir, const char *name, struct ga_record **ret, struct ga_error *err);
/* 1: an event; 0: no more; -1. */
int ga_record_next(struct ga_record *r, struct ga_record_event *ret, struct ga_error *err);
/* Seconds since the epoch when it began; 0: not known. */
uint64_t ga_record_time(const struct ga_record *r);
/* How many lines were passed over. */
size_t ga_record_damaged(const struct ga_record *r);
void ga_record_close(struct ga_record *r); /* NULL is fine */

/* Show them, one after the other, on the terminal that standard output is: through the filter, and
 * with everything undone that they leave switched on, however it ends. Ctrl-C and q end it. Keys,
 * and what the terminal answers, are read away meanwhile. A signal that ends a program does its
 * work once the terminal is as it was. */
struct ga_replay_opts {
	double speed;    /* times as fast */
	double max_idle; /* seconds that a pause lasts, before that; 0: as long as it did */
};
int ga_replay(const char *dir, const struct ga_strv *names, const struct ga_replay_opts *o,
	      struct ga_error *err);

/* Recorded output as plain text: sequences are left out, what they overwrote with a carriage
 * return or took back too, and what is drawn elsewhere on the screen begins a line. What comes
 * out is safe to show (ga/quote.h). Zero is its start. */
struct ga_record_text {
	struct ga_buf line;
	uint8_t state;
	char intro;
	bool returned;
};
#define GA_RECORD_TEXT_INIT { .line = GA_BUF_INIT }
void ga_record_text(struct ga_record_text *t, const char *p, size_t n, struct ga_buf *out);
/* The line that was not finished. */
void ga_record_text_end(struct ga_record_text *t, struct ga_buf *out);
void ga_record_text_release(struct ga_record_text *t);

#endif
