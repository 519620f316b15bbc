/* SPDX-License-Identifier: MIT
 *
 * Skip runs of input that the terminal filter passes unchanged.
 */
#include <string.h>

#include "run/termfilter-internal.h"

uint8_t term_char_length(unsigned char c)
{
	return c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
}

bool term_second_byte(unsigned char first, unsigned char c)
{
	switch (first) {
	case 0xe0:
		return c >= 0xa0 && c <= 0xbf;
	case 0xed:
		return c >= 0x80 && c <= 0x9f;
	case 0xf0:
		return c >= 0x90 && c <= 0xbf;
	case 0xf4:
		return c >= 0x80 && c <= 0x8f;
	default:
		return c >= 0x80 && c <= 0xbf;
	}
}

#define EACH_BYTE(c) (0x0101010101010101u * (uint64_t)(c))

static inline uint64_t load(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Is any of the eight bytes 0? */
static inline uint64_t has_zero(uint64_t v)
{
	return (v - EACH_BYTE(1)) & ~v & EACH_BYTE(0x80);
}

/* Is any of them not plain text: beyond ASCII, ENQ, SO, SI, or from CAN to ESC? */
static inline uint64_t special(uint64_t v)
{
	return (v & EACH_BYTE(0x80)) | has_zero(v ^ EACH_BYTE(5)) |
	       has_zero((v & EACH_BYTE(0xfe)) ^ EACH_BYTE(0x0e)) |
	       has_zero((v & EACH_BYTE(0xfc)) ^ EACH_BYTE(0x18));
}

/* The length of the character at `p` if it is complete and no control. */
static size_t whole(const unsigned char *p, size_t n)
{
	size_t k = term_char_length(*p);

	if (!k || n < k || (*p == 0xc2 && p[1] < 0xa0) || !term_second_byte(*p, p[1]))
		return 0;
	for (size_t i = 2; i < k; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return k;
}

static inline bool is_text(char c)
{
	return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r';
}

size_t term_plain(const char *p, size_t n)
{
	size_t i = 0;

	for (;;) {
		size_t k = 0;

		for (; i + 32 <= n; i += 32)
			if (special(load(p + i)) | special(load(p + i + 8)) |
			    special(load(p + i + 16)) | special(load(p + i + 24)))
				break;
		while (i < n && is_text(p[i]))
			i++;
		while (i < n && (k = whole((const unsigned char *)p + i, n - i)))
			i += k;
		if (i == n || p[i] < 0x20 || p[i] == 0x7f)
			return i;
	}
}

size_t term_plain_text(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] < 0x7f)
		i++;
	return i;
}

size_t term_parameters(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] <= 0x3f)
		i++;
	return i;
}
