/* SPDX-License-Identifier: MIT
 *
 * The recording of a session's terminal in asciicast v2 (a JSON object, then one event per line):
 * transcript.cast in the session's directory, and transcript-2.cast and so on for later runs. All
 * of it went through the terminal filter, whatever the session's own setting, and sequences that
 * ask a terminal for an answer are left out, so that replaying it makes the terminal type nothing.
 * Input is never recorded. Output without a terminal is stored with CR LF line ends, as a terminal
 * would show it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"
#include "ga/run/run.h"

/* ---- writing */

struct ga_record_opts {
	const char *dir;              /* the session's */
	const char *title;
	const struct ga_strv *command;
	const char *const *envp;      /* the command's environment, for TERM */
	uint64_t max;                 /* greatest size of the file in bytes, at least
				       * GA_RECORD_LEAST */
};
#define GA_RECORD_LEAST ((uint64_t)64 << 10)

struct ga_recorder;
/* Begin a recording. The file is created with the first output. A write error ends only the
 * recording. Memory is bounded, writes are about 64 KiB each, and nothing is synced. */
struct ga_recorder *ga_record_begin(const struct ga_record_opts *o);
/* The sink for ga_run_session(); it lives as long as the recorder. */
const struct ga_run_sink *ga_record_sink(struct ga_recorder *r);
/* Write what is buffered; call it now and then. */
void ga_record_flush(struct ga_recorder *r);
/* Name of the file in the directory; NULL if there is none yet. */
const char *ga_record_name(const struct ga_recorder *r);
/* Why the recording ended before the session did, for users; NULL if it did not. */
const char *ga_record_stopped(const struct ga_recorder *r);
/* Record sequences that reset the terminal state, flush and close. */
void ga_record_end(struct ga_recorder *r);
void ga_record_free(struct ga_recorder *r); /* NULL is fine */

/* ---- reading */

/* The names of a directory's recordings, in the order of the runs; adds to `ret`. */
void ga_record_names(const char *dir, struct ga_strv *ret);

struct ga_record_event {
	uint64_t us;      /* microseconds since the beginning; never decreases */
	char kind;        /* 'o' output, 'r' resize ("80x24"), 'm' marker, 'i' input */
	const char *data; /* UTF-8; valid until the next call */
	size_t n;
};
struct ga_record;
/* Read events one at a time, in bounded memory. A line that is longer than 1 MiB, incomplete or not
 * an event is skipped. */
int ga_record_open(const char *dir, const char *name, struct ga_record **ret, struct ga_error *err);
/* Returns 1 with an event, 0 at the end, -1 on error. */
int ga_record_next(struct ga_record *r, struct ga_record_event *ret, struct ga_error *err);
/* When the recording began, in seconds since the epoch; 0: unknown. */
uint64_t ga_record_time(const struct ga_record *r);
/* How many lines were skipped. */
size_t ga_record_damaged(const struct ga_record *r);
void ga_record_close(struct ga_record *r); /* NULL is fine */

/* Replay recordings one after the other on the terminal on standard output: through the filter, and
 * undoing all terminal state they leave switched on, however it ends. Ctrl-C and q end it. Other
 * keys, and what the terminal answers, are read and discarded. A signal that would end a program
 * takes effect once the terminal is restored. */
int ga_replay(const char *dir, const struct ga_strv *names, struct ga_error *err);

/* Recorded output as plain text: escape sequences are removed, and so is text that was overwritten
 * after a carriage return or erased; cursor movement begins a new line. The result is safe to show
 * (ga/base/quote.h). All zero is the initial state. */
struct ga_record_text {
	struct ga_buf line;
	uint8_t state;
	char intro;
	bool returned;
};
#define GA_RECORD_TEXT_INIT { .line = GA_BUF_INIT }
void ga_record_text(struct ga_record_text *t, const char *p, size_t n, struct ga_buf *out);
/* Append the last, unfinished line. */
void ga_record_text_end(struct ga_record_text *t, struct ga_buf *out);
void ga_record_text_release(struct ga_record_text *t);
