/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of the terminal filter.
 */
#pragma once

#include "ga/run/termfilter.h"

#define ESC '\033'
#define BEL '\007'
#define CAN '\030'
#define SUB '\032'

/* A sequence, parsed. */
struct term_seq {
	char mark;           /* one of <=>?, or 0 */
	char final;          /* 0: not complete */
	const char *inter;
	size_t inter_n;
	const char *params;  /* numbers separated by ; and : */
	size_t params_n;
};

/* The next parameter from `*at` on, which is 0 at first; values above 65535 are that, missing ones
 * are 0. False behind the last. */
bool term_param(const struct term_seq *s, size_t *at, uint16_t *ret);

/* ---- termfilter-rules.c: verdicts of the table */

enum ga_termverdict term_judge_byte(enum ga_termkind kind, unsigned char c);
/* Judge a complete ESC or CSI sequence, or the head of a DCS. */
enum ga_termverdict term_judge(enum ga_termkind kind, const struct term_seq *s);
/* Judge the beginning of the text of a string, or (`ended`) all of it. `*ret_number` is the number
 * of an OSC, if there is one. */
enum ga_termverdict term_judge_osc(const char *text, size_t n, bool ended, uint32_t *ret_number);
/* Is an OSC of this number, if it is dropped, a notification? */
bool term_notifies(uint32_t number);
enum ga_termverdict term_judge_text(enum ga_termkind kind, const char *text, size_t n, bool ended);

/* ---- termfilter-modes.c: enabled modes */

void term_note_escape(struct ga_termstate *t, const struct term_seq *s);
void term_note_csi(struct ga_termstate *t, const struct term_seq *s);
/* Record a byte of the text, behind the number, of an OSC that passes; and its end. */
void term_note_text(struct ga_termfilter *f, char c);
void term_note_osc(struct ga_termfilter *f);
/* Write to `out` the sequences that reset the state; returns the end. */
char *term_undo(struct ga_termstate *t, char *out);

/* ---- termfilter-scan.c: many bytes at once */

/* The length of the UTF-8 character that begins with this byte; 0: none does. */
uint8_t term_char_length(unsigned char first);
/* Can `c` be its second byte? Overlong forms, surrogates and code points above 10FFFF are no
 * characters. */
bool term_second_byte(unsigned char first, unsigned char c);
/* How many bytes at `p` are text that passes and leaves nothing incomplete; how many are so within
 * a string; how many are parameters or intermediate bytes. There may be more than is returned. */
size_t term_plain(const char *p, size_t n);
size_t term_plain_text(const char *p, size_t n);
size_t term_parameters(const char *p, size_t n);
