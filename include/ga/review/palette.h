/* SPDX-License-Identifier: MIT
 *
 * The colours of a diff, from the user's git configuration (color.diff.*).
 */
#ifndef GA_PALETTE_H
#define GA_PALETTE_H

#include "ga/base/error.h"
#include "ga/repo/repo.h"

enum ga_paint { GA_PAINT_META, GA_PAINT_FRAG, GA_PAINT_OLD, GA_PAINT_NEW, GA_PAINT_CONTEXT };
#define GA_PAINTS 5

/* Longer than the sequence of any value. */
#define GA_SGR_MAX 128

struct ga_palette {
	char sgr[GA_PAINTS][GA_SGR_MAX]; /* the escape sequence; "": none */
};

/* The colours that git's configuration sets, with git's defaults for the others. A value that git
 * would not accept is an error that names it. */
int ga_palette_read(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_palette *ret,
		    struct ga_error *err);

#endif
