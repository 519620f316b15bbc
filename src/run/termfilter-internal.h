/* SPDX-License-Identifier: MIT
 *
 * Inside of the terminal filter.
 */
#ifndef TERMFILTER_INTERNAL_H
#define TERMFILTER_INTERNAL_H

#include "ga/termfilter.h"

#define ESC '\033'
#define BEL '\007'
#define CAN '\030'
#define SUB '\032'

/* A sequence taken apart. */
struct term_seq {
	char mark;           /* one of <=>?, or 0 */
	char final;          /* 0: not there yet */
	const char *inter;
	size_t inter_n;
	const char *params;  /* numbers with ; and : between them */
	size_t params_n;
};

/* The next parameter from `*at` on, which is 0 at first: those above 65535 are that, what is
 * missing is 0. False behind the last. */
bool term_param(const struct term_seq *s, size_t *at, uint16_t *ret);

/* ---- termfilter-rules.c: what the table says */

enum ga_termverdict term_judge_byte(enum ga_termkind kind, unsigned char c);
/* A whole one of ESC or CSI, or the head of a DCS. */
enum ga_termverdict term_judge(enum ga_termkind kind, const struct term_seq *s);
/* The beginning of the text of a string, or all of it (`ended`). The number of an OSC is
 * `*ret_number` if there is one. */
enum ga_termverdict term_judge_osc(const char *text, size_t n, bool ended, uint32_t *ret_number);
enum ga_termverdict term_judge_text(enum ga_termkind kind, const char *text, size_t n, bool ended);

/* ---- termfilter-modes.c: what is switched on */

void term_note_escape(struct ga_termstate *t, const struct term_seq *s);
void term_note_csi(struct ga_termstate *t, const struct term_seq *s);
/* A byte of the text of an OSC that passes, behind its number, and its end. */
void term_note_text(struct ga_termfilter *f, char c);
void term_note_osc(struct ga_termfilter *f);
/* What undoes it, into `out`; returns its end. */
char *term_undo(struct ga_termstate *t, char *out);

/* ---- termfilter-scan.c: many bytes at once */

/* How many bytes a character of UTF-8 has that begins with this one, 0: none does. */
uint8_t term_char_length(unsigned char first);
/* Can it go on with `c`? Overlong forms, surrogates and what is above 10FFFF are no
 * characters. */
bool term_second_byte(unsigned char first, unsigned char c);
/* How many bytes at `p` are text that passes and leaves nothing unfinished; the same within a
 * string; how many are parameters or intermediate bytes. There may be more. */
size_t term_plain(const char *p, size_t n);
size_t term_plain_text(const char *p, size_t n);
size_t term_parameters(const char *p, size_t n);

#endif
