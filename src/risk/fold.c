/* SPDX-License-Identifier: MIT
 *
 * Names are not normalised to NFC here: all patterns are ASCII, and the only code point that NFC
 * turns into an ASCII letter is KELVIN SIGN, which lower() takes care of.
 */
#include <string.h>

#include "ga/path.h"
#include "ga/quote.h"
#include "internal.h"

/* Simple lower case of the scripts that names are commonly written in, and of the
 * code points outside ASCII that case folding makes ASCII. */
static uint32_t lower(uint32_t c)
{
	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	if (c == 0x130)
		return 'i';
	if (c == 0x17f)
		return 's';
	if (c == 0x212a)
		return 'k';
	if ((c >= 0xc0 && c <= 0xde && c != 0xd7) || (c >= 0x391 && c <= 0x3a9) ||
	    (c >= 0x410 && c <= 0x42f))
		return c + 32;
	if (c >= 0x400 && c <= 0x40f)
		return c + 80;
	if ((c >= 0x100 && c <= 0x137) || (c >= 0x14a && c <= 0x177) ||
	    (c >= 0x460 && c <= 0x4bf) || (c >= 0x4d0 && c <= 0x52f))
		return c | 1;
	if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
		return c + (c & 1);
	return c;
}

void ga_risk_put(struct ga_buf *out, uint32_t c)
{
	if (c < 0x80) {
		ga_buf_addch(out, (char)c);
	} else if (c < 0x800) {
		ga_buf_addch(out, (char)(0xc0 | c >> 6));
		ga_buf_addch(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		ga_buf_addch(out, (char)(0xe0 | c >> 12));
		ga_buf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
		ga_buf_addch(out, (char)(0x80 | (c & 0x3f)));
	} else {
		ga_buf_addch(out, (char)(0xf0 | c >> 18));
		ga_buf_addch(out, (char)(0x80 | (c >> 12 & 0x3f)));
		ga_buf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
		ga_buf_addch(out, (char)(0x80 | (c & 0x3f)));
	}
}

static bool is_folded(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= ' ' && c <= '9' && c != '/') || c == '_';
}

static void fold_component(struct ga_buf *out, const char *s, size_t n)
{
	size_t start = out->len;
	uint32_t c;

	while (n && *s != ':') {
		size_t plain = 0, len;

		/* most characters need no folding */
		while (plain < n && is_folded(s[plain]))
			plain++;
		if (plain) {
			ga_buf_add(out, s, plain);
			s += plain;
			n -= plain;
			continue;
		}
		len = ga_utf8_decode(s, n, &c);
		if (!len) {
			ga_buf_addch(out, *s);
			len = 1;
		} else if (!ga_path_hfs_ignores(c)) {
			ga_risk_put(out, lower(c));
		}
		s += len;
		n -= len;
	}
	while (out->len > start &&
	       (out->ptr[out->len - 1] == '.' || out->ptr[out->len - 1] == ' '))
		ga_buf_truncate(out, out->len - 1);
}

void ga_risk_fold(struct ga_buf *out, const char *path)
{
	for (;;) {
		size_t n = (size_t)(strchrnul(path, '/') - path);

		fold_component(out, path, n);
		if (!path[n])
			return;
		ga_buf_addch(out, '/');
		path += n + 1;
	}
}
