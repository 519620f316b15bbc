/* SPDX-License-Identifier: MIT */
#include "ga/run/termfilter.h"

#include <string.h>

#include "ga/base/alloc.h"
#include "run/termfilter-internal.h"

/* Nothing that begins or ends a sequence, or is no character yet, in any state. */
enum state {
	GROUND,
	ESCAPE,   /* held: ESC and intermediate bytes */
	SEQUENCE, /* held: ESC [ and more */
	HEAD,     /* held: a string until it is decided upon */
	TEXT,     /* the rest of a string that passes */
	SKIP,     /* the rest of a string that is dropped */
};

/* Where output is written. */
struct sink {
	char *p;
};

static void put(struct sink *o, const char *p, size_t n)
{
	memcpy(o->p, p, n);
	o->p += n;
}

static void put_byte(struct sink *o, char c)
{
	*o->p++ = c;
}

/* ---- held bytes */

static void hold(struct ga_termfilter *f, char c)
{
	if (f->held_n == sizeof(f->held))
		f->malformed = true;
	else
		f->held[f->held_n++] = c;
}

static void drop_held(struct ga_termfilter *f)
{
	f->state = GROUND;
	f->held_n = 0;
	f->malformed = false;
}

static void begin(struct ga_termfilter *f)
{
	drop_held(f);
	f->state = ESCAPE;
	hold(f, ESC);
}

static bool is_intermediate(char c)
{
	return c >= 0x20 && c <= 0x2f;
}

static bool is_parameter(char c)
{
	return c >= 0x30 && c <= 0x3f;
}

static bool is_marker(char c)
{
	return c >= 0x3c && c <= 0x3f;
}

/* Parse the held bytes after the introducer. Returns false if it does not have ECMA-48's form;
 * without a final byte it is not complete. */
static bool take_apart(const struct ga_termfilter *f, size_t skip, struct term_seq *s)
{
	const char *p = f->held + skip;
	size_t n = f->held_n - skip, i = 0;

	s->mark = s->final = '\0';
	if (n && is_marker(*p))
		s->mark = p[i++];
	s->params = p + i;
	for (s->params_n = 0; i < n && is_parameter(p[i]) && !is_marker(p[i]); i++)
		s->params_n++;
	s->inter = p + i;
	for (s->inter_n = 0; i < n && is_intermediate(p[i]); i++)
		s->inter_n++;
	if (i + 1 == n && p[i] >= 0x40 && p[i] <= 0x7e)
		s->final = p[i++];
	/* no sequence has two intermediate bytes, and a terminal may act on only one of two */
	return i == n && s->inter_n < 2 && !f->malformed;
}

/* The table's verdict, adjusted to `mute`. */
static enum ga_termverdict apply_mute(const struct ga_termfilter *f, enum ga_termverdict v)
{
	return v != GA_TERM_ASK ? v : f->mute ? GA_TERM_DROP : GA_TERM_PASS;
}

/* ---- sequences without a text */

/* A control character, in any state where one is executed. */
static void control(struct ga_termfilter *f, char c, struct sink *o)
{
	if (term_judge_byte(GA_TERM_CONTROL, (unsigned char)c) != GA_TERM_PASS)
		return;
	f->rings += c == BEL;
	if (c == 0x0e || c == 0x0f)
		f->on.shifted = c == 0x0e;
	put_byte(o, c);
}

static void finish_escape(struct ga_termfilter *f, struct sink *o)
{
	struct term_seq s = { .inter = f->held + 1, .inter_n = f->held_n - 2,
			      .final = f->held[f->held_n - 1] };

	/* only sequences that select a character set may have a second intermediate byte */
	bool odd = s.inter_n > 2 || (s.inter_n == 2 && !strchr("()*+-./$", *s.inter));

	if (!f->malformed && !odd && apply_mute(f, term_judge(GA_TERM_ESC, &s)) == GA_TERM_PASS) {
		put(o, f->held, f->held_n);
		term_note_escape(&f->on, &s);
	}
	drop_held(f);
}

static void finish_csi(struct ga_termfilter *f, struct sink *o)
{
	struct term_seq s;

	if (take_apart(f, 2, &s) && apply_mute(f, term_judge(GA_TERM_CSI, &s)) == GA_TERM_PASS) {
		put(o, f->held, f->held_n);
		term_note_csi(&f->on, &s);
	}
	drop_held(f);
}

/* ---- strings */

static void end_of_text(struct ga_termfilter *f)
{
	if (f->kind == GA_TERM_OSC)
		term_note_osc(f);
}

/* For a colour or the shape of the pointer, a question mark is a query. */
static bool asks(const struct ga_termfilter *f, char c)
{
	return c == '?' && f->kind == GA_TERM_OSC &&
	       (f->number == 4 || f->number == 5 || (f->number >= 10 && f->number <= 19) ||
		f->number == 22);
}

static void text_byte(struct ga_termfilter *f, char c, struct sink *o)
{
	/* no colour has this name; dropping the byte could join what is around it to another
	 * word */
	put_byte(o, f->mute && asks(f, c) ? '-' : c);
	if (f->kind == GA_TERM_OSC)
		term_note_text(f, c);
}

/* Output all held bytes. */
static void release(struct ga_termfilter *f, struct sink *o)
{
	size_t i = 2;

	while (i < f->held_n && f->held[i] >= '0' && f->held[i] <= '9')
		i++;
	put(o, f->held, i);
	/* the first ';' follows the number and begins the text */
	if (f->kind == GA_TERM_OSC && i < f->held_n)
		put_byte(o, f->held[i++]);
	for (; i < f->held_n; i++)
		text_byte(f, f->held[i], o);
	f->held_n = 0;
	f->state = TEXT;
}

/* The Linux console takes these for complete: ESC ] R, and ESC ] P with seven digits. With a
 * terminator they are a string for all other terminals, too. */
static enum ga_termverdict judge_palette(struct ga_termfilter *f, struct sink *o)
{
	const char *p = f->held + 2;
	size_t n = f->held_n - 2;

	if (*p == 'P') {
		if (n > 1 && !strchr("0123456789abcdefABCDEF", p[n - 1]))
			return GA_TERM_DROP;
		if (n < 8)
			return GA_TERM_MORE;
	}
	f->on.palette = *p == 'P';
	put(o, f->held, f->held_n);
	put(o, "\033\\", 2);
	drop_held(f);
	return GA_TERM_PASS;
}

static enum ga_termverdict judge_dcs(const struct ga_termfilter *f, bool ended)
{
	struct term_seq s;

	if (!take_apart(f, 2, &s))
		return GA_TERM_DROP;
	if (!s.final && !ended)
		return GA_TERM_MORE;
	return s.final ? term_judge(GA_TERM_DCS, &s) : GA_TERM_DROP;
}

/* Decide on the string of which the beginning is held, if possible. `ended`: it is complete. */
static void decide(struct ga_termfilter *f, bool ended, struct sink *o)
{
	const char *text = f->held + 2;
	size_t n = f->held_n - 2;
	enum ga_termverdict v;

	if (f->kind == GA_TERM_OSC && n && (*text == 'R' || *text == 'P')) {
		v = judge_palette(f, o);
		if (v == GA_TERM_PASS)
			return;
	} else if (f->kind == GA_TERM_OSC) {
		v = term_judge_osc(text, n, ended, &f->number);
	} else if (f->kind == GA_TERM_DCS) {
		v = judge_dcs(f, ended);
		f->doubled = v == GA_TERM_DROP && n && text[n - 1] == 't';
	} else {
		v = apply_mute(f, term_judge_text((enum ga_termkind)f->kind, text, n, ended));
	}
	if (v == GA_TERM_MORE && !ended && f->held_n < sizeof(f->held))
		return;
	if (v == GA_TERM_PASS) {
		release(f, o);
		return;
	}
	f->rings += v == GA_TERM_DROP && f->kind == GA_TERM_OSC && term_notifies(f->number);
	f->held_n = 0;
	f->state = SKIP;
}

static void begin_string(struct ga_termfilter *f, enum ga_termkind kind, struct sink *o)
{
	f->state = HEAD;
	f->kind = (uint8_t)kind;
	f->escape = f->doubled = f->chosen = false;
	f->field = f->filled = 0;
	f->second = '\0';
	f->number = UINT32_MAX;
	decide(f, false, o);
}

/* The string ends, by BEL or by ST. */
static void end_string(struct ga_termfilter *f, bool bel, struct sink *o)
{
	if (f->state == HEAD)
		decide(f, true, o);
	if (f->state == TEXT) {
		end_of_text(f);
		put(o, bel ? "\a" : "\033\\", bel ? 1 : 2);
	}
	f->escape = false;
	drop_held(f);
}

static void cancel_string(struct ga_termfilter *f, struct sink *o)
{
	if (f->state == HEAD)
		f->state = SKIP;
	end_string(f, false, o);
}

/* A byte of the string's text. */
static void string_byte(struct ga_termfilter *f, char c, struct sink *o)
{
	if (f->state == HEAD) {
		hold(f, c);
		decide(f, false, o);
	} else if (f->state == TEXT) {
		text_byte(f, c, o);
	}
}

static void string_control(struct ga_termfilter *f, char c, struct sink *o)
{
	if (c == BEL && f->kind == GA_TERM_OSC)
		end_string(f, true, o);
	else if (c == CAN || c == SUB)
		cancel_string(f, o);
	else if ((c == '\n' || c == '\r' || c == '\t') && f->state == TEXT)
		put_byte(o, c);
}

static void escape_ascii(struct ga_termfilter *f, char c, struct sink *o);

/* The byte after an ESC in a string. Returns false if the string is over and `c` belongs to what
 * follows. */
static bool string_escape(struct ga_termfilter *f, char c, struct sink *o)
{
	if (c == ESC && f->doubled && f->state == SKIP) {
		f->escape = false;
		return true;
	}
	end_string(f, false, o);
	if (c == '\\')
		return true;
	begin(f);
	return false;
}

static void string_ascii(struct ga_termfilter *f, char c, struct sink *o)
{
	if (f->escape) {
		if (!string_escape(f, c, o))
			escape_ascii(f, c, o);
	} else if (c == ESC) {
		f->escape = true;
	} else if (c < 0x20) {
		string_control(f, c, o);
	} else if (c != 0x7f) {
		string_byte(f, c, o);
	}
}

/* ---- bytes of ASCII */

static void after_escape(struct ga_termfilter *f, char c, struct sink *o)
{
	static const struct {
		char c;
		enum ga_termkind kind;
	} strings[] = { { ']', GA_TERM_OSC }, { 'P', GA_TERM_DCS }, { '_', GA_TERM_APC },
			{ '^', GA_TERM_PM },  { 'X', GA_TERM_SOS }, { 'k', GA_TERM_TITLE } };

	hold(f, c);
	if (c == '[') {
		f->state = SEQUENCE;
		return;
	}
	for (size_t i = 0; i < GA_NELEMS(strings); i++) {
		if (strings[i].c == c) {
			begin_string(f, strings[i].kind, o);
			return;
		}
	}
	finish_escape(f, o);
}

/* A byte within ESC or CSI. */
static void escape_ascii(struct ga_termfilter *f, char c, struct sink *o)
{
	if (c == ESC) {
		begin(f);
	} else if (c == CAN || c == SUB) {
		drop_held(f);
	} else if (c < 0x20) {
		control(f, c, o);
	} else if (c == 0x7f) {
		return;
	} else if (f->state == SEQUENCE) {
		hold(f, c);
		if (c >= 0x40)
			finish_csi(f, o);
	} else if (is_intermediate(c)) {
		hold(f, c);
	} else if (f->held_n == 1) {
		after_escape(f, c, o);
	} else {
		hold(f, c);
		finish_escape(f, o);
	}
}

static void ascii(struct ga_termfilter *f, char c, struct sink *o)
{
	switch (f->state) {
	case GROUND:
		if (c == ESC)
			begin(f);
		else if (c < 0x20)
			control(f, c, o);
		else
			put_byte(o, c);
		break;
	case ESCAPE:
	case SEQUENCE:
		escape_ascii(f, c, o);
		break;
	default:
		string_ascii(f, c, o);
	}
}

/* ---- bytes beyond ASCII */

/* Bytes beyond ASCII end a sequence, which cannot contain them. */
static void not_ascii(struct ga_termfilter *f, struct sink *o)
{
	if (f->state >= HEAD && f->escape)
		end_string(f, false, o);
	if (f->state == ESCAPE || f->state == SEQUENCE)
		drop_held(f);
}

static void c1(struct ga_termfilter *f, unsigned char code, const char *p, size_t n,
	       struct sink *o)
{
	enum ga_termverdict v = apply_mute(f, term_judge_byte(GA_TERM_C1, code));

	not_ascii(f, o);
	if (f->state != GROUND) {
		if (code == 0x9c)
			end_string(f, false, o);
		return;
	}
	if (v == GA_TERM_PASS)
		put(o, p, n);
	else if (v == GA_TERM_REPLACE)
		put(o, "\xef\xbf\xbd", 3);
}

/* A complete character, or a byte that cannot be part of one. */
static void character(struct ga_termfilter *f, const char *p, size_t n, struct sink *o)
{
	not_ascii(f, o);
	if (f->state == GROUND)
		put(o, p, n);
	for (size_t i = 0; f->state != GROUND && i < n; i++)
		string_byte(f, p[i], o);
}

static void lone_byte(struct ga_termfilter *f, unsigned char c, struct sink *o)
{
	char raw = (char)c;

	if (c < 0xa0)
		c1(f, c, &raw, 1, o);
	else
		character(f, &raw, 1, o);
}

static void whole_character(struct ga_termfilter *f, struct sink *o)
{
	char p[4];
	size_t n = f->part_n;

	memcpy(p, f->part, sizeof(p));
	f->part_n = 0;
	if (f->part[0] == 0xc2 && f->part[1] < 0xa0)
		c1(f, f->part[1], p, n, o);
	else
		character(f, p, n, o);
}

static bool continues(const struct ga_termfilter *f, unsigned char c)
{
	return f->part_n == 1 ? term_second_byte(f->part[0], c) : (c & 0xc0) == 0x80;
}

static void step(struct ga_termfilter *f, unsigned char c, struct sink *o)
{
	if (f->part_n && continues(f, c)) {
		f->part[f->part_n++] = c;
		if (f->part_n == f->part_need)
			whole_character(f, o);
		return;
	}
	if (f->part_n) {
		size_t n = f->part_n;

		f->part_n = 0;
		for (size_t i = 0; i < n; i++)
			lone_byte(f, f->part[i], o);
	}
	if (c < 0x80) {
		ascii(f, (char)c, o);
	} else if (term_char_length(c)) {
		f->part[0] = c;
		f->part_n = 1;
		f->part_need = term_char_length(c);
	} else {
		lone_byte(f, c, o);
	}
}

/* ---- many at once */

/* Pass, hold or skip as many bytes as the state allows without looking at each. */
static size_t scan_ahead(struct ga_termfilter *f, const char *p, size_t n, struct sink *o)
{
	size_t k = 0;

	if (f->part_n || f->escape)
		return 0;
	switch (f->state) {
	case GROUND:
		k = term_plain(p, n);
		put(o, p, k);
		break;
	case SEQUENCE:
		k = term_parameters(p, n);
		if (k > sizeof(f->held) - f->held_n) {
			f->malformed = true;
			break;
		}
		memcpy(f->held + f->held_n, p, k);
		f->held_n += k;
		break;
	case TEXT:
		if (f->kind == GA_TERM_OSC)
			break;
		k = term_plain_text(p, n);
		put(o, p, k);
		break;
	case SKIP:
		k = term_plain_text(p, n);
		break;
	default:
		break;
	}
	return k;
}

size_t ga_termfilter(struct ga_termfilter *f, const char *in, size_t n, char *out)
{
	struct sink o = { out };
	const char *end = in + n;

	while (in < end) {
		in += scan_ahead(f, in, (size_t)(end - in), &o);
		if (in < end)
			step(f, (unsigned char)*in++, &o);
	}
	return (size_t)(o.p - out);
}

size_t ga_termfilter_end(struct ga_termfilter *f, bool cut, char *out)
{
	struct sink o = { out };

	if (cut || f->state == TEXT)
		put(&o, "\033\\", 2);
	if (f->state == TEXT)
		end_of_text(f);
	drop_held(f);
	f->escape = false;
	f->part_n = 0;
	o.p = term_undo(&f->on, o.p);
	return (size_t)(o.p - out);
}
