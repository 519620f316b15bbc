/* SPDX-License-Identifier: MIT
 *
 * The terminal filter against a model that has all of its input at once. One byte of seed for
 * where the input is cut, then what a program writes.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/run/termfilter.h"

/* ---- the model: characters first, then sequences, each as a whole */

enum what { ASCII, C1, OTHER };

struct unit {
	enum what what;
	unsigned c;     /* of ASCII and C1 */
	const char *p;
	size_t n;
};

struct model {
	struct unit *u;
	size_t n, at;
	struct ga_buf *out;
	bool unsure; /* a head is about as long as what is held */
};

static size_t split(const char *p, size_t n, struct unit *u)
{
	size_t count = 0;

	for (size_t len; n; p += len, n -= len) {
		uint32_t c = 0;

		len = ga_utf8_decode(p, n, &c);
		if (!len) {
			len = 1;
			c = (unsigned char)*p;
			u[count++] = (struct unit){ c < 0xa0 ? C1 : OTHER, c, p, 1 };
		} else {
			u[count++] = (struct unit){ c < 0x80 ? ASCII : c < 0xa0 ? C1 : OTHER, c, p, len };
		}
	}
	return count;
}

static bool is(const struct unit *u, unsigned c)
{
	return u->what == ASCII && u->c == c;
}

static void add_control(struct model *m, const struct unit *u)
{
	if (u->c != 5 && u->c != 0x18)
		ga_buf_add(m->out, u->p, 1);
}

static bool matches(const char *s, const char *begin, const char *end)
{
	size_t n = strlen(s), b = strlen(begin), e = strlen(end);

	return n >= b + e && !strncmp(s, begin, b) && !strcmp(s + n - e, end);
}

/* Numbers that are not digits only are no numbers. */
static uint64_t number(const char *s, size_t n)
{
	cleanup_free char *digits = ga_strndup(s, n);
	uint64_t v = UINT64_MAX;

	while (n && *digits == '0' && digits[1])
		memmove(digits, digits + 1, strlen(digits));
	if (!*digits)
		return 0;
	if (strspn(digits, "0123456789") != strlen(digits))
		return UINT64_MAX;
	return ga_parse_u64(digits, 65535, &v) ? v : 65535;
}

/* Is one of the numbers between ; and : that one, or beyond all? */
static bool has_number(const char *s, unsigned want)
{
	if (!*s || strspn(s, "0123456789;:") == 0)
		return false;
	for (;;) {
		size_t k = strcspn(s, ";:");
		uint64_t v = number(s, k);

		if (v == want || v == 65535)
			return true;
		if (!s[k])
			return false;
		s += k + 1;
	}
}

static bool window_passes(const char *params)
{
	size_t k = strcspn(params, ";");
	uint64_t v = number(params, k);
	static const char *const tails[] = { "", "0", "1", "2" };

	if (strchr(params, ':') || !(v == 11 || (v >= 13 && v <= 16) || v == 12 || v == 18 || v == 19 ||
				     v == 22 || v == 23))
		return false;
	while (params[k]) {
		bool good = false;
		const char *p = params + k + 1, *q = p;
		size_t len = strcspn(p, ";");

		for (; len > 1 && *q == '0'; q++)
			len--;
		for (size_t i = 0; i < GA_NELEMS(tails); i++)
			good = good || (len == strlen(tails[i]) && !strncmp(q, tails[i], len));
		if (!good)
			return false;
		k += 1 + strcspn(p, ";");
	}
	return true;
}

/* What stands between ESC [ and the end, with the final byte. */
static bool csi_passes(const char *s)
{
	static const char *const bad[] = { "*y", "*z", "#|", "$u", "$w" };
	size_t n = strlen(s), mark = *s && strchr("<=>?", *s), k;
	cleanup_free char *params = NULL;
	char final = s[n - 1], inter;

	k = strspn(s + mark, "0123456789;:");
	params = ga_strndup(s + mark, k);
	k += mark;
	if (n > GA_TERMFILTER_HELD - 2 || n - k > 2 || (n - k == 2 && (s[k] < 0x20 || s[k] > 0x2f)))
		return false;
	inter = n - k == 2 ? s[k] : '\0';
	for (size_t i = 0; i < GA_NELEMS(bad); i++)
		if (inter == bad[i][0] && final == bad[i][1])
			return false;
	if (inter)
		return true;
	if (final == 'i' || final == ']' || (final == 't' && (mark || !window_passes(params))))
		return false;
	if (*s == '?' && final == 'l')
		return !has_number(params, 2);
	if (*s == '?' && final == 'h')
		return !has_number(params, 38) && !has_number(params, 5522);
	return mark || final != 'h' || !has_number(params, 2);
}

static bool escape_passes(const char *s)
{
	size_t n = strlen(s);

	if (n > 3 || (n == 3 && !strchr("()*+-./$", *s)))
		return false;
	return !(n == 2 && *s == '%' && s[1] != 'G') && strcmp(s, " G") != 0 &&
	       !(n == 2 && *s == '!') && strcmp(s, "}") != 0 && strcmp(s, "\\") != 0;
}

static bool osc_passes(const char *s)
{
	size_t k = strspn(s, "0123456789");
	uint64_t v = number(s, k);
	const char *text = s[k] ? s + k + 1 : "";

	if (!k || (s[k] && s[k] != ';'))
		return false;
	if (v == 9)
		return matches(text, "4;", "");
	if (v >= 10 && v <= 19)
		return !*text || !strchr("_*%+=", *text);
	return v <= 2 || v == 4 || v == 5 || v == 8 || v == 22 || v == 66 || v == 104 || v == 105 ||
	       (v >= 110 && v <= 119) || v == 133;
}

static bool graphics_pass(const char *s)
{
	size_t end = strcspn(s, ";");

	if (*s++ != 'G')
		return false;
	for (end--; end;) {
		size_t k = strcspn(s, ",;");

		if (k < 2 || s[1] != '=' || !((*s | 32) >= 'a' && (*s | 32) <= 'z'))
			return false;
		if (*s == 't' && (k != 3 || s[2] != 'd'))
			return false;
		s += k;
		end -= k;
		if (end) {
			s++;
			end--;
		}
	}
	return true;
}

#define PARAMS "0123456789;:"

static bool dcs_passes(const char *s)
{
	return s[strspn(s, PARAMS)] == 'q' || (*s == '=' && s[1 + strspn(s + 1, PARAMS)] == 's');
}

/* One in which two ESC are one. */
static bool passthrough(const char *s)
{
	s += *s && strchr("<=>?", *s);
	s += strspn(s, PARAMS);
	s += *s >= 0x20 && *s <= 0x2f;
	return *s == 't';
}

/* Is this much of a string that passes enough to see that? */
static bool decided(char kind, const char *s)
{
	size_t k = strspn(s, "0123456789");
	uint64_t v = number(s, k);

	if (kind == 'P')
		return s[*s == '='] && s[(*s == '=') + strspn(s + (*s == '='), PARAMS)];
	if (kind == '_')
		return strchr(s, ';');
	if (kind == 'k')
		return true;
	return v == 9 ? strlen(s) > k + 2 : v >= 10 && v <= 19 ? s[k] && s[k + 1] : s[k] != '\0';
}

static bool string_passes(char kind, const char *s)
{
	return kind == ']' ? osc_passes(s) : kind == 'P' ? dcs_passes(s) : kind == '_' ? graphics_pass(s) : kind == 'k';
}

/* How it ends: by BEL, ST or something in its place, or by an escape that belongs to what
 * follows. `head`: of the text, what decides, which has no control in it. */
static void string(struct model *m, char kind)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, head = GA_BUF_INIT;
	bool bel = false, cancelled = false, known = false;

	ga_buf_adds(&text, "");
	ga_buf_adds(&head, "");
	for (; m->at < m->n; m->at++) {
		const struct unit *u = &m->u[m->at];

		known = known || decided(kind, head.ptr);
		m->unsure = m->unsure || (!known && head.len > GA_TERMFILTER_HELD - 16);
		if (is(u, '\033') && kind == 'P' && passthrough(head.ptr) && m->at + 1 < m->n && is(u + 1, '\033')) {
			m->at++;
			continue;
		}
		if (is(u, '\033')) {
			if (m->at + 1 < m->n && is(u + 1, '\\'))
				m->at += 2;
			break;
		}
		bel = is(u, 7) && kind == ']';
		cancelled = is(u, 0x18) || is(u, 0x1a);
		if (bel || cancelled || (u->what == C1 && u->c == 0x9c)) {
			m->at++;
			break;
		}
		if (u->what == C1 || is(u, 0x7f))
			continue;
		if (u->what == ASCII && u->c < 0x20) {
			if (known && (u->c == '\n' || u->c == '\r' || u->c == '\t'))
				ga_buf_add(&text, u->p, 1);
			continue;
		}
		ga_buf_add(&text, u->p, u->n);
		ga_buf_add(&head, u->p, u->n);
		/* the Linux console's, which have their length */
		if (kind == ']' && ((head.len == 1 && *head.ptr == 'R') || (head.len == 8 && *head.ptr == 'P' &&
				     strspn(head.ptr + 1, "0123456789abcdefABCDEF") == 7))) {
			m->at++;
			ga_buf_addf(m->out, "\033]%s\033\\", head.ptr);
			return;
		}
	}
	if (!string_passes(kind, head.ptr) || (cancelled && !decided(kind, head.ptr)))
		return;
	ga_buf_addf(m->out, "\033%c", kind);
	ga_buf_add(m->out, text.ptr, text.len);
	ga_buf_adds(m->out, bel ? "\a" : "\033\\");
}

/* Behind an ESC. */
static void escape(struct model *m)
{
	cleanup_buf struct ga_buf s = GA_BUF_INIT;

	for (; m->at < m->n; m->at++) {
		const struct unit *u = &m->u[m->at];
		bool csi = s.len && *s.ptr == '[';

		if (u->what != ASCII || u->c == '\033')
			return;
		if (u->c == 0x18 || u->c == 0x1a) {
			m->at++;
			return;
		}
		if (u->c < 0x20)
			add_control(m, u);
		if (u->c < 0x20 || u->c == 0x7f)
			continue;
		ga_buf_addch(&s, (char)u->c);
		if (s.len == 1 && strchr("]P_^Xk", (int)u->c)) {
			m->at++;
			string(m, (char)u->c);
			return;
		}
		if ((csi && u->c >= 0x40) || (!csi && u->c >= 0x30 && u->c != '[') ||
		    (!csi && u->c == '[' && s.len > 1)) {
			m->at++;
			if (csi ? csi_passes(s.ptr + 1) : escape_passes(s.ptr))
				ga_buf_addf(m->out, "\033%s", s.ptr);
			return;
		}
	}
}

/* False if it is not sure. */
static bool model(const char *in, size_t n, struct ga_buf *out)
{
	struct model m = { .u = ga_calloc(n + 1, sizeof(*m.u)), .out = out };

	m.n = split(in, n, m.u);
	while (m.at < m.n) {
		const struct unit *u = &m.u[m.at++];

		if (is(u, '\033'))
			escape(&m);
		else if (u->what == ASCII && u->c < 0x20)
			add_control(&m, u);
		else if (u->what == C1 && strchr("\x10\x18\x1b\x1d\x1e\x1f", (int)u->c - 0x80) && u->c != 0x80)
			ga_buf_adds(out, "\xef\xbf\xbd");
		else
			ga_buf_add(out, u->p, u->n);
	}
	free(m.u);
	return !m.unsure;
}

/* ---- what must hold */

static void feed(struct ga_termfilter *f, const char *p, size_t n, struct ga_buf *out)
{
	cleanup_free char *in = fuzz_exact(p, n), *room = ga_malloc(GA_TERMFILTER_ROOM(n));
	size_t k = ga_termfilter(f, in, n, room);

	CHECK(k <= GA_TERMFILTER_ROOM(n));
	ga_buf_add(out, room, k);
}

static void feed_cut(struct ga_termfilter *f, unsigned seed, const struct ga_buf *in, struct ga_buf *out)
{
	for (size_t at = 0, k; at < in->len; at += k) {
		seed = seed * 1103515245u + 12345u;
		k = (seed >> 16) % 7;
		k = k < in->len - at ? k : in->len - at;
		feed(f, in->ptr + at, k, out);
	}
}

static bool same(const struct ga_buf *a, const struct ga_buf *b)
{
	return a->len == b->len && (!a->len || !memcmp(a->ptr, b->ptr, a->len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct fuzz_in rest = { data, n };
	unsigned seed = fuzz_byte(&rest);
	struct ga_termfilter f = GA_TERMFILTER_INIT, g = GA_TERMFILTER_INIT, h = GA_TERMFILTER_INIT;
	struct ga_termfilter m = { .mute = true }, m2 = { .mute = true };
	cleanup_buf struct ga_buf mute = GA_BUF_INIT, mute2 = GA_BUF_INIT;
	cleanup_buf struct ga_buf in = GA_BUF_INIT, out = GA_BUF_INIT, cut = GA_BUF_INIT,
				  want = GA_BUF_INIT, again = GA_BUF_INIT;
	char end[GA_TERMFILTER_END];

	ga_buf_add(&in, rest.p, rest.n);
	feed(&f, in.ptr ? in.ptr : "", in.len, &out);
	feed_cut(&g, seed, &in, &cut);
	CHECK(same(&out, &cut) && !memcmp(&f.on, &g.on, sizeof(f.on)));

	/* nothing unfinished, for the model */
	ga_buf_adds(&in, "\033\033\\\033\\.");
	feed(&f, in.ptr + in.len - 6, 6, &out);
	CHECK(!model(in.ptr, in.len, &want) || same(&out, &want));

	/* what asks for answers, left out, leaves nothing that does */
	feed_cut(&m, seed, &in, &mute);
	feed(&m2, mute.ptr, mute.len, &mute2);
	CHECK(same(&mute, &mute2));

	ga_buf_add(&out, end, ga_termfilter_end(&f, false, end));
	feed_cut(&h, seed, &out, &again);
	CHECK(same(&out, &again));
	CHECK(!ga_termfilter_end(&h, false, end));
	return 0;
}
