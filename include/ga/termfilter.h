/* SPDX-License-Identifier: MIT
 *
 * What a program inside writes, on its way to the user's terminal. Sequences that make the
 * terminal type what the writer chose, or that reach beyond its window, are taken out by one
 * table; the rest goes on byte for byte. What the program switched on and left on is known, and
 * can be undone.
 *
 * Terminals differ in where they take a malformed sequence to end. So what comes out has one
 * reading: every sequence is well-formed and ends before the next begins, a string ends by BEL
 * (OSC only) or ST and holds no control but CR, LF and TAB, no C1 control begins anything. For
 * that, control characters within a sequence go in front of it, what is malformed is dropped,
 * and a string that something interrupts is ended.
 *
 * It is a pure state machine: how its input is cut into pieces changes nothing. It keeps back
 * nothing but an unfinished character, and an unfinished sequence until what decides on it is
 * there, the longest being GA_TERMFILTER_HELD bytes.
 */
#ifndef GA_TERMFILTER_H
#define GA_TERMFILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the table */

enum ga_termkind {
	GA_TERM_CONTROL, /* a byte below 0x20, outside of strings */
	GA_TERM_C1,      /* 0x80 to 0x9f, as a byte that is part of no character or as U+0080... */
	GA_TERM_ESC,     /* ESC, intermediate bytes, a final byte */
	GA_TERM_CSI,     /* ESC [, parameters, intermediate bytes, a final byte */
	GA_TERM_OSC,     /* ESC ], a number, ;, text */
	GA_TERM_DCS,     /* ESC P, parameters, intermediate bytes, a final byte, text */
	GA_TERM_APC,     /* ESC _, text */
	GA_TERM_PM,      /* ESC ^, text */
	GA_TERM_SOS,     /* ESC X, text */
	GA_TERM_TITLE,   /* ESC k, text: of screen and tmux */
};

enum ga_termverdict {
	GA_TERM_DROP,
	GA_TERM_PASS,
	GA_TERM_ASK,     /* passes, where somebody waits for the answer */
	GA_TERM_REPLACE, /* by U+FFFD */
	GA_TERM_MORE,    /* not in the table: what follows decides */
};

enum ga_termcond {
	GA_TERM_ALWAYS,
	GA_TERM_SOME,  /* one of the parameters is in the range */
	GA_TERM_FIRST, /* the first parameter is in the range, and no other is above 2 */
	GA_TERM_FILE,  /* a graphics command that names a file or shared memory */
};

/* The first row that fits decides; each kind ends with one that fits all. */
struct ga_termrule {
	enum ga_termkind kind;
	const char *name;      /* several rows may share one */
	enum ga_termverdict verdict;
	const char *why;
	const char *example;
	const char *mark;      /* the private marker is one of these, "" none; NULL: whatever */
	const char *inter;     /* exactly these intermediate bytes; NULL: whatever */
	const char *finals;    /* the final byte is one of these; NULL: whatever */
	enum ga_termcond cond;
	uint16_t lo, hi;       /* of parameters, of the number of an OSC; 0, 0 there: whatever */
	const char *prefix;    /* how the text begins */
	const char *first;     /* its first byte is one of these */
};

const struct ga_termrule *ga_termfilter_rules(size_t *ret_n);

/* ---- the state machine */

#define GA_TERMFILTER_HELD ((size_t)1024)

/* What was switched on. */
struct ga_termstate {
	uint64_t modes;       /* a bit for each row of the table of modes */
	uint32_t colours;     /* that were set: by what resets them, 104 and up */
	uint16_t keyboard[2]; /* depth of the stack of flags, on the main and the other screen */
	bool keyboard_set[2];
	uint8_t modkeys;      /* a bit for each kind of modified keys */
	bool rendition, region, charset, shifted, cursor, keypad, link, progress, pointer;
	bool palette;         /* of the Linux console */
	bool status_line, locator;
};

/* Zero is its start. */
struct ga_termfilter {
	struct ga_termstate on;
	bool mute;           /* the caller's: nobody waits for answers, as when something is shown
			      * again. What makes the terminal give one is dropped */
	uint8_t state;
	uint8_t kind;        /* of the string */
	bool malformed;      /* the sequence */
	bool escape;         /* in a string, the last byte was ESC */
	bool doubled;        /* in the string, two of them stand for one */
	uint32_t number;     /* of the OSC */
	uint8_t field;       /* of its text: how many ; came */
	uint8_t filled;      /* a bit for each field that is not empty */
	bool chosen;         /* its text is more than numbers and question marks */
	char second;         /* first byte of the second field */
	uint8_t part_n, part_need;
	unsigned char part[4]; /* an unfinished character */
	size_t held_n;
	char held[GA_TERMFILTER_HELD];
};
#define GA_TERMFILTER_INIT { .state = 0 }

/* What comes out for `n` bytes at most. */
#define GA_TERMFILTER_ROOM(n) (3 * (size_t)(n) + GA_TERMFILTER_HELD + 16)
/* The bytes of `in` go in; returns how many bytes came out at `out`. */
size_t ga_termfilter(struct ga_termfilter *f, const char *in, size_t n, char *out);

#define GA_TERMFILTER_END ((size_t)1024)
/* What ends an unfinished string and undoes what is still switched on, into `out`, which has
 * GA_TERMFILTER_END bytes. Returns how many, none if there is nothing to undo. `cut`: what came
 * out did not all go to the terminal. `f` is as at the start after it. For signal handlers, too. */
size_t ga_termfilter_end(struct ga_termfilter *f, bool cut, char *out);

/* The other way round: what switches on in a fresh terminal which of it can be told, into `out`,
 * which has GA_TERMFILTER_END bytes. Returns how many. */
size_t ga_termstate_redo(const struct ga_termstate *t, char *out);

#endif
