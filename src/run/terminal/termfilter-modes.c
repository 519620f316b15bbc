/* SPDX-License-Identifier: MIT
 *
 * Track the modes that a program enabled in the terminal, and reset them.
 */
#include <stddef.h>
#include <string.h>

#include "ga/base/alloc.h"
#include "run/termfilter-internal.h"

/* Modes that a shell does not expect to be changed. They are reset in this order: those of a screen
 * before that screen is left. Modes whose usual value is a setting of the terminal are not
 * listed. */
static const struct mode {
	uint16_t number;
	bool private; /* CSI ? */
	bool usual;   /* on by default */
	bool screen;  /* the alternate screen */
} modes[] = {
	{ .number = 2026, .private = true },                 /* synchronised output */
	{ .number = 9, .private = true },                    /* mouse: kinds of reports */
	{ .number = 1000, .private = true },
	{ .number = 1001, .private = true },
	{ .number = 1002, .private = true },
	{ .number = 1003, .private = true },
	{ .number = 1004, .private = true },                 /* focus is reported */
	{ .number = 1005, .private = true },                 /* mouse: how it is written */
	{ .number = 1006, .private = true },
	{ .number = 1015, .private = true },
	{ .number = 1016, .private = true },
	{ .number = 2004, .private = true },                 /* bracketed paste */
	{ .number = 2027, .private = true },                 /* width of grapheme clusters */
	{ .number = 2031, .private = true },                 /* colour scheme is reported */
	{ .number = 2048, .private = true },                 /* size is reported */
	{ .number = 9001, .private = true },                 /* Win32 key input */
	{ .number = 1, .private = true },                    /* keys: cursor */
	{ .number = 66, .private = true },                   /* keys: keypad */
	{ .number = 67, .private = true },                   /* keys: backspace */
	{ .number = 1050, .private = true },                 /* keys: function keys, in five ways */
	{ .number = 1051, .private = true },
	{ .number = 1052, .private = true },
	{ .number = 1053, .private = true },
	{ .number = 1060, .private = true },
	{ .number = 1061, .private = true },
	{ .number = 5, .private = true },                    /* black on white */
	{ .number = 42, .private = true },                   /* national characters */
	{ .number = 45, .private = true },                   /* wraps backwards */
	{ .number = 80, .private = true },                   /* sixel: pictures do not scroll */
	{ .number = 7, .private = true, .usual = true },     /* lines wrap */
	{ .number = 8, .private = true, .usual = true },     /* keys repeat */
	{ .number = 25, .private = true, .usual = true },    /* cursor shown */
	{ .number = 4 },                                     /* insert */
	{ .number = 20 },                                    /* a line feed is a new line */
	{ .number = 12, .usual = true },                     /* no echo of the terminal's own */
	/* these two move the cursor home, which leaving the alternate screen repairs */
	{ .number = 6, .private = true },                    /* places count from the region */
	{ .number = 69, .private = true },                   /* margins left and right */
	{ .number = 47, .private = true, .screen = true },
	{ .number = 1047, .private = true, .screen = true },
	{ .number = 1049, .private = true, .screen = true },
};

#define OF_MODE(i) ((uint64_t)1 << (i))

static bool alternate(const struct ga_termstate *t)
{
	for (size_t i = 0; i < GA_NELEMS(modes); i++)
		if (modes[i].screen && (t->modes & OF_MODE(i)))
			return true;
	return false;
}

/* ---- enabled modes */

enum change { SET, RESET, EITHER };

static void note_mode(struct ga_termstate *t, bool private, uint16_t number, enum change how)
{
	for (size_t i = 0; i < GA_NELEMS(modes); i++) {
		if (modes[i].number != number || modes[i].private != private)
			continue;
		if (how == EITHER || (how == SET) != modes[i].usual)
			t->modes |= OF_MODE(i);
		else
			t->modes &= ~OF_MODE(i);
	}
}

static void note_modes(struct ga_termstate *t, const struct term_seq *s)
{
	/* "r" restores what "s" saved */
	size_t at = 0;
	uint16_t n;
	enum change how = s->final == 'h' ? SET : s->final == 'l' ? RESET : EITHER;

	while (term_param(s, &at, &n))
		note_mode(t, s->mark == '?', n, how);
}

/* The i-th parameter, 0 if it is missing. */
static uint16_t param(const struct term_seq *s, size_t i)
{
	size_t at = 0;
	uint16_t n = 0;

	do {
		if (!term_param(s, &at, &n))
			return 0;
	} while (i--);
	return n;
}

/* Keyboard flags: CSI > u pushes, < pops, = sets. */
static void note_keyboard(struct ga_termstate *t, const struct term_seq *s)
{
	bool alt = alternate(t);
	uint16_t *depth = &t->keyboard[alt], n = param(s, 0);

	if (!n && s->mark == '<')
		n = 1;

	if (s->mark == '>' && *depth < UINT16_MAX)
		(*depth)++;
	else if (s->mark == '<')
		*depth = *depth > n ? (uint16_t)(*depth - n) : 0;
	else if (s->mark == '=')
		t->keyboard_set[alt] = n || param(s, 1) > 1;
}

/* How keys with modifiers are sent: CSI > kind ; value m, CSI > kind n. */
static void note_keys(struct ga_termstate *t, const struct term_seq *s, bool on)
{
	uint16_t kind = param(s, 0);

	if (!s->params_n && !on)
		t->modkeys = 0;
	else if (kind < 8 && on)
		t->modkeys |= (uint8_t)(1u << kind);
	else if (kind < 8)
		t->modkeys &= (uint8_t)~(1u << kind);
}

static bool any_param(const struct term_seq *s)
{
	size_t at = 0;
	uint16_t n;

	while (term_param(s, &at, &n))
		if (n)
			return true;
	return false;
}

static void note_plain(struct ga_termstate *t, const struct term_seq *s)
{
	switch (s->final) {
	case 'h':
	case 'l':
		if (!s->mark || s->mark == '?')
			note_modes(t, s);
		break;
	case 'r':
		if (s->mark == '?')
			note_modes(t, s);
		else if (!s->mark)
			t->region = any_param(s);
		break;
	case 'm':
		if (!s->mark)
			t->rendition = any_param(s);
		else if (s->mark == '>')
			note_keys(t, s, param(s, 1) != 0);
		break;
	case 'n':
		if (s->mark == '>')
			note_keys(t, s, true);
		break;
	case 'u':
		note_keyboard(t, s);
		break;
	default:
		break;
	}
}

void term_note_csi(struct ga_termstate *t, const struct term_seq *s)
{
	if (!s->inter_n) {
		note_plain(t, s);
		return;
	}
	if (s->inter_n != 1 || s->mark)
		return;
	if (*s->inter == ' ' && s->final == 'q')
		t->cursor = any_param(s);
	else if (*s->inter == '$' && s->final == '}')
		t->status_line = any_param(s);
	else if (*s->inter == '\'' && s->final == 'z')
		t->locator = any_param(s);
}

void term_note_escape(struct ga_termstate *t, const struct term_seq *s)
{
	if (s->inter_n) {
		/* G0, the character set in use by default */
		if (s->inter_n == 1 && *s->inter == '(')
			t->charset = s->final != 'B';
		return;
	}
	switch (s->final) {
	case 'c':
		*t = (struct ga_termstate){ .modes = 0 };
		break;
	case '=':
	case '>':
		t->keypad = s->final == '=';
		break;
	case 'n':
	case 'o':
		t->shifted = true;
		break;
	default:
		break;
	}
}

/* ---- texts: what an OSC sets */

/* The bit of the OSC number that resets the colour. */
#define COLOUR(n) ((uint32_t)1 << ((n) - 104))

void term_note_text(struct ga_termfilter *f, char c)
{
	if (c == ';') {
		f->field = f->field < 7 ? (uint8_t)(f->field + 1) : 7;
		return;
	}
	if (f->field == 1 && !(f->filled & 2))
		f->second = c;
	f->filled |= (uint8_t)(1u << f->field);
	if (c != '?' && (c < '0' || c > '9'))
		f->chosen = true;
}

void term_note_osc(struct ga_termfilter *f)
{
	struct ga_termstate *t = &f->on;
	uint32_t n = f->number;

	if (n == 4 || n == 5) {
		if (f->chosen)
			t->colours |= COLOUR(n + 100);
	} else if (n >= 10 && n <= 19) {
		/* each further field sets the next colour */
		for (uint32_t i = n; f->chosen && i <= n + f->field && i <= 19; i++)
			t->colours |= COLOUR(i + 100);
	} else if (n >= 104 && n <= 119) {
		if (!f->filled)
			t->colours &= ~COLOUR(n);
	} else if (n == 8) {
		t->link = f->filled & ~1u;
	} else if (n == 9) {
		t->progress = f->second && f->second != '0';
	} else if (n == 22) {
		t->pointer = f->filled;
	}
}

/* ---- undoing */

/* Append `format` with `n` in place of '#'. May run in a signal handler, so no printf. */
static char *add(char *out, const char *format, unsigned n)
{
	char digits[12];
	size_t k = sizeof(digits);

	do {
		digits[--k] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	for (; *format; format++) {
		if (*format != '#') {
			*out++ = *format;
			continue;
		}
		memcpy(out, digits + k, sizeof(digits) - k);
		out += sizeof(digits) - k;
	}
	return out;
}

static char *undo_keyboard(const struct ga_termstate *t, bool alt, char *out)
{
	if (t->keyboard[alt])
		out = add(out, "\033[<#u", t->keyboard[alt]);
	if (t->keyboard_set[alt])
		out = add(out, "\033[=0u", 0);
	return out;
}

/* Reset each changed mode to its usual value or, with `redo`, set the other one. */
static char *set_modes(const struct ga_termstate *t, bool screen, bool redo, char *out)
{
	static const char *const forms[2][2] = { { "\033[#l", "\033[#h" },
						 { "\033[?#l", "\033[?#h" } };

	for (size_t i = 0; i < GA_NELEMS(modes); i++) {
		const struct mode *m = &modes[i];

		if (m->screen == screen && (t->modes & OF_MODE(i)))
			out = add(out, forms[m->private][m->usual != redo], m->number);
	}
	return out;
}

static char *undo_screen(const struct ga_termstate *t, char *out)
{
	bool alt = alternate(t), moved = t->region;

	if (t->status_line)
		out = add(out, "\033[0$}", 0);
	if (alt)
		out = undo_keyboard(t, true, out);
	out = set_modes(t, false, false, out);
	if (t->region)
		out = add(out, "\033[r", 0);
	for (size_t i = 0; i < GA_NELEMS(modes); i++)
		if ((t->modes & OF_MODE(i)) && modes[i].private &&
		    (modes[i].number == 6 || modes[i].number == 69))
			moved = true;
	out = set_modes(t, true, false, out);
	/* the cursor is at the top now: move to where nothing is overwritten */
	if (moved && !alt)
		out = add(out, "\033[9999;1H", 0);
	return undo_keyboard(t, false, out);
}

static char *undo_colours(const struct ga_termstate *t, char *out)
{
	for (unsigned n = 104; n < 120; n++)
		if (t->colours & COLOUR(n))
			out = add(out, "\033]#\033\\", n);
	if (t->palette)
		out = add(out, "\033]R\033\\", 0);
	return out;
}

char *term_undo(struct ga_termstate *t, char *out)
{
	static const struct {
		size_t at;
		const char *undo;
	} rest[] = {
		{ offsetof(struct ga_termstate, locator), "\033[0'z" },
		{ offsetof(struct ga_termstate, keypad), "\033>" },
		{ offsetof(struct ga_termstate, charset), "\033(B" },
		{ offsetof(struct ga_termstate, shifted), "\017" },
		{ offsetof(struct ga_termstate, rendition), "\033[m" },
		{ offsetof(struct ga_termstate, cursor), "\033[0 q" },
		{ offsetof(struct ga_termstate, link), "\033]8;;\033\\" },
		{ offsetof(struct ga_termstate, progress), "\033]9;4;0\033\\" },
		{ offsetof(struct ga_termstate, pointer), "\033]22;\033\\" },
	};

	out = undo_screen(t, out);
	for (unsigned i = 0; i < 8; i++)
		if (t->modkeys & (1u << i))
			out = add(out, "\033[>#m", i);
	for (size_t i = 0; i < GA_NELEMS(rest); i++)
		if (*(const bool *)((const char *)t + rest[i].at))
			out = add(out, rest[i].undo, 0);
	out = undo_colours(t, out);
	*t = (struct ga_termstate){ .modes = 0 };
	return out;
}

/* ---- enabling modes again */

/* States with many values (colours, keyboard flags) are not known. Synchronised output must not be
 * switched on for a frame whose end was already seen. */
bool ga_termstate_pastes(const struct ga_termstate *t)
{
	for (size_t i = 0; i < GA_NELEMS(modes); i++)
		if (modes[i].number == 2004)
			return t->modes & OF_MODE(i);
	return false;
}

size_t ga_termstate_redo(const struct ga_termstate *t, char *out)
{
	struct ga_termstate now = *t;
	char *end;

	now.modes &= ~OF_MODE(0);
	end = set_modes(&now, true, true, out);
	end = set_modes(&now, false, true, end);
	if (t->keypad)
		end = add(end, "\033=", 0);
	return (size_t)(end - out);
}
