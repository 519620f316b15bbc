/* SPDX-License-Identifier: MIT
 *
 * A recording as plain text. It went through the terminal filter, so every sequence in it is
 * well-formed and complete; everything else comes out escaped, or not at all.
 */
#include <string.h>

#include "ga/base/quote.h"
#include "ga/run/record.h"

/* A line is output when it has this many bytes, even if it has not ended. */
#define LINE_HELD ((size_t)64 << 10)

enum state { GROUND, ESCAPE, INTERMEDIATE, SEQUENCE, STRING, STRING_ESCAPE };

static void put_line(struct ga_record_text *t, bool ends, struct ga_buf *out)
{
	size_t n = t->line.len;

	while (ends && n && (t->line.ptr[n - 1] == ' ' || t->line.ptr[n - 1] == '\t'))
		n--;
	ga_quote_add_text(out, t->line.ptr, n);
	if (ends)
		ga_buf_addch(out, '\n');
	ga_buf_clear(&t->line);
	t->returned = false;
}

/* What follows is in another place on the screen: end the line. */
static void end_line(struct ga_record_text *t, struct ga_buf *out)
{
	if (t->line.len)
		put_line(t, true, out);
	t->returned = false;
}

static void take_back(struct ga_record_text *t)
{
	size_t n = t->line.len;

	while (n && ((unsigned char)t->line.ptr[n - 1] & 0xc0) == 0x80)
		n--;
	ga_buf_truncate(&t->line, n ? n - 1 : 0);
}

static void add(struct ga_record_text *t, char c, struct ga_buf *out)
{
	/* it is overwritten; the end of a longer text that would remain is not kept */
	if (t->returned)
		ga_buf_clear(&t->line);
	t->returned = false;
	/* not within a character of UTF-8 */
	if (t->line.len >= LINE_HELD && ((unsigned char)c & 0xc0) != 0x80)
		put_line(t, false, out);
	ga_buf_addch(&t->line, c);
}

static void control(struct ga_record_text *t, char c, struct ga_buf *out)
{
	switch (c) {
	case '\n':
	case '\v':
	case '\f':
		put_line(t, true, out);
		break;
	case '\r':
		t->returned = true;
		break;
	case '\b':
		take_back(t);
		break;
	case '\t':
		add(t, c, out);
		break;
	default:
		break;
	}
}

/* End the line at sequences that move the cursor far enough to separate texts. */
static void sequence(struct ga_record_text *t, char final, struct ga_buf *out)
{
	switch (final) {
	case 'A': case 'B': case 'E': case 'F': case 'H': case 'J': case 'd': case 'f':
		end_line(t, out);
		break;
	case 'C': case 'G': case '`': case 'a':
		if (t->line.len && !t->returned)
			add(t, ' ', out);
		break;
	default:
		break;
	}
}

static void plain_byte(struct ga_record_text *t, char c, struct ga_buf *out)
{
	if (c == '\033')
		t->state = ESCAPE;
	else if ((unsigned char)c < 0x20)
		control(t, c, out);
	else if (c != 0x7f)
		add(t, c, out);
}

static void escape(struct ga_record_text *t, char c, struct ga_buf *out)
{
	if (c == '[') {
		t->state = SEQUENCE;
	} else if (strchr("]P_^Xk", c) && c) {
		t->state = STRING;
		t->intro = c;
	} else if (c >= 0x20 && c <= 0x2f) {
		t->state = INTERMEDIATE;
	} else {
		t->state = GROUND;
		if (c == 'c' || c == 'D' || c == 'E' || c == 'M')
			end_line(t, out);
	}
}

static void string(struct ga_record_text *t, char c)
{
	if (c == '\033')
		t->state = STRING_ESCAPE;
	else if (c == '\a' && t->intro == ']')
		t->state = GROUND;
}

void ga_record_text(struct ga_record_text *t, const char *p, size_t n, struct ga_buf *out)
{
	for (size_t i = 0; i < n; i++) {
		char c = p[i];

		switch (t->state) {
		case GROUND:
			plain_byte(t, c, out);
			break;
		case ESCAPE:
			escape(t, c, out);
			break;
		case INTERMEDIATE:
			if (c < 0x20 || c > 0x2f)
				t->state = GROUND;
			break;
		case SEQUENCE:
			if (c < 0x40)
				break;
			t->state = GROUND;
			sequence(t, c, out);
			break;
		case STRING:
			string(t, c);
			break;
		default:
			t->state = c == '\\' ? GROUND : STRING;
		}
	}
}

void ga_record_text_end(struct ga_record_text *t, struct ga_buf *out)
{
	end_line(t, out);
	t->state = GROUND;
}

void ga_record_text_release(struct ga_record_text *t)
{
	ga_buf_release(&t->line);
}
