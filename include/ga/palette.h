/* SPDX-License-Identifier: MIT
 *
 * The colours of a diff, as the user's git has them (color.diff.*).
 */
#ifndef GA_PALETTE_H
#define GA_PALETTE_H

#include "ga/error.h"
#include "ga/repo.h"

enum ga_paint { GA_PAINT_META, GA_PAINT_FRAG, GA_PAINT_OLD, GA_PAINT_NEW, GA_PAINT_CONTEXT };
#define GA_PAINTS 5

/* Longer than any value gives. */
#define GA_SGR_MAX 128

struct ga_palette {
	char sgr[GA_PAINTS][GA_SGR_MAX]; /* the escape sequence; "": as the terminal has it */
};

/* What git's configuration says, and git's own where it says nothing. A value git would not take
 * is an error that names it. */
int ga_palette_read(const struct ga_gitconfig *c, struct ga_palette *ret, struct ga_error *err);

/* One value of git's configuration ("bold red", "#ff8000 reverse", "ul 12") as the escape
 * sequence. -1, saying nothing, if it is none. */
int ga_palette_parse(const char *value, char ret[GA_SGR_MAX]);

#endif
