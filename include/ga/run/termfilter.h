/* SPDX-License-Identifier: MIT
 *
 * The filter for a program's output on its way to the user's terminal. One table says which
 * sequences are removed: those that make the terminal type what the writer chose, or that reach
 * beyond its window. Everything else is passed on byte for byte. The filter tracks the modes that
 * the program enabled, so that they can be reset.
 *
 * Terminals differ in where a malformed sequence ends. So the output is unambiguous: every sequence
 * is well-formed and ends before the next begins; a string ends with BEL (OSC only) or ST and
 * contains no control characters but CR, LF and TAB; no C1 control begins anything. To that end,
 * control characters within a sequence are moved in front of it, malformed sequences are dropped,
 * and a string that something interrupts is terminated.
 *
 * It is a pure state machine: how its input is cut into pieces makes no difference. It buffers only
 * an incomplete character and an undecided sequence, at most GA_TERMFILTER_HELD bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the table */

enum ga_termkind {
	GA_TERM_CONTROL, /* a byte below 0x20, outside strings */
	GA_TERM_C1,      /* 0x80 to 0x9f, as a byte that belongs to no character, or as U+0080... */
	GA_TERM_ESC,     /* ESC, intermediate bytes, a final byte */
	GA_TERM_CSI,     /* ESC [, parameters, intermediate bytes, a final byte */
	GA_TERM_OSC,     /* ESC ], a number, ;, text */
	GA_TERM_DCS,     /* ESC P, parameters, intermediate bytes, a final byte, text */
	GA_TERM_APC,     /* ESC _, text */
	GA_TERM_PM,      /* ESC ^, text */
	GA_TERM_SOS,     /* ESC X, text */
	GA_TERM_TITLE,   /* ESC k, text: a title, for screen and tmux */
};

enum ga_termverdict {
	GA_TERM_DROP,
	GA_TERM_PASS,
	GA_TERM_ASK,     /* passes, unless no program reads the terminal's answer */
	GA_TERM_REPLACE, /* is replaced by U+FFFD */
	GA_TERM_MORE,    /* never in the table: what follows decides */
};

enum ga_termcond {
	GA_TERM_ALWAYS,
	GA_TERM_SOME,  /* one of the parameters is in the range */
	GA_TERM_FIRST, /* the first parameter is in the range, and no other is above 2 */
	GA_TERM_FILE,  /* a graphics command that names a file or shared memory */
};

/* The first row that matches decides; the last row of each kind matches everything. */
struct ga_termrule {
	enum ga_termkind kind;
	const char *name;      /* several rows may share one */
	enum ga_termverdict verdict;
	const char *why;
	const char *example;
	const char *mark;      /* the private marker is one of these, or "" for none; NULL: any */
	const char *inter;     /* exactly these intermediate bytes; NULL: any */
	const char *finals;    /* the final byte is one of these; NULL: any */
	enum ga_termcond cond;
	uint16_t lo, hi;       /* range of parameters, or of the number of an OSC (there 0, 0 is
				* any) */
	const char *prefix;    /* how the text begins */
	const char *first;     /* its first byte is one of these */
};

/* The table, of `*ret_n` rows. */
const struct ga_termrule *ga_termfilter_rules(size_t *ret_n);

/* ---- the state machine */

#define GA_TERMFILTER_HELD ((size_t)1024)

/* Modes that were enabled and not disabled again. */
struct ga_termstate {
	uint64_t modes;       /* a bit for each row of the table of modes */
	uint32_t colours;     /* colours that were set, by the OSC number that resets them, 104 and
			       * up */
	uint16_t keyboard[2]; /* keyboard protocol: depth of the stack of flags, on the main and the
			       * alternate screen */
	bool keyboard_set[2];
	uint8_t modkeys;      /* a bit for each kind of modified keys */
	bool rendition, region, charset, shifted, cursor, keypad, link, progress, pointer;
	bool palette;         /* the palette of the Linux console */
	bool status_line, locator;
};

/* All zero is the initial state. */
struct ga_termfilter {
	struct ga_termstate on;
	uint32_t rings;      /* how often a bell rang or a notification was sent, so far */
	bool mute;           /* set by the caller: no program reads answers, as in a replay; what
			      * makes the terminal answer is dropped */
	uint8_t state;
	uint8_t kind;        /* kind of the current string */
	bool malformed;      /* the current sequence is malformed */
	bool escape;         /* in a string, the last byte was ESC */
	bool doubled;        /* in the string, ESC is doubled */
	uint32_t number;     /* number of the OSC */
	uint8_t field;       /* of its text: the number of ';' so far */
	uint8_t filled;      /* of its text: a bit for each field that is not empty */
	bool chosen;         /* its text is more than numbers and question marks */
	char second;         /* first byte of the second field */
	uint8_t part_n, part_need;
	unsigned char part[4]; /* an incomplete character */
	size_t held_n;
	char held[GA_TERMFILTER_HELD];
};
#define GA_TERMFILTER_INIT { .state = 0 }

/* The greatest output for `n` bytes of input. */
#define GA_TERMFILTER_ROOM(n) (3 * (size_t)(n) + GA_TERMFILTER_HELD + 16)
/* Filter the `n` bytes of `in` into `out`, which has GA_TERMFILTER_ROOM(n) bytes. Returns the
 * number of bytes written there. */
size_t ga_termfilter(struct ga_termfilter *f, const char *in, size_t n, char *out);

#define GA_TERMFILTER_END ((size_t)1024)
/* Write to `out`, which has GA_TERMFILTER_END bytes, what ends an unfinished string and resets all
 * enabled modes. Returns the number of bytes, 0 if there is nothing to reset. `cut`: not all of the
 * earlier output went to the terminal. Resets `f`. May be called from a signal handler. */
size_t ga_termfilter_end(struct ga_termfilter *f, bool cut, char *out);

/* Did the program enable bracketed paste (CSI ? 2004 h)? */
bool ga_termstate_pastes(const struct ga_termstate *t);

/* The reverse: write to `out`, which has GA_TERMFILTER_END bytes, what enables these modes in a
 * fresh terminal, as far as they are known. Returns the number of bytes. */
size_t ga_termstate_redo(const struct ga_termstate *t, char *out);
