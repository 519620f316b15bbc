/* SPDX-License-Identifier: MIT
 *
 * Fold names as file systems do: case, normal form, ignored characters.
 */
#include <string.h>
#include <utf8proc.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/names/names.h"

/* Simple lower case. LATIN SMALL LETTER LONG S, a small letter, also folds to 's'. */
static uint32_t lower(uint32_t c)
{
	if (c < 0x80)
		return c >= 'A' && c <= 'Z' ? c + 32 : c;
	return c == 0x17f ? 's' : (uint32_t)utf8proc_tolower((utf8proc_int32_t)c);
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
			ga_utf8_put(out, lower(c));
		}
		s += len;
		n -= len;
	}
	while (out->len > start &&
	       (out->ptr[out->len - 1] == '.' || out->ptr[out->len - 1] == ' '))
		ga_buf_truncate(out, out->len - 1);
}

void ga_name_fold(struct ga_buf *out, const char *path)
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

/* The text in a normal form, NUL-terminated, which the caller frees; NULL: it is no UTF-8. */
static char *normal(const char *s, size_t n, utf8proc_option_t form)
{
	utf8proc_uint8_t *ret = NULL;

	return utf8proc_map((const utf8proc_uint8_t *)s, (utf8proc_ssize_t)n, &ret,
			    form | UTF8PROC_STABLE) < 0 ? NULL : (char *)ret;
}

static bool is_ascii(const char *s, size_t n)
{
	while (n && !(s[n - 1] & 0x80))
		n--;
	return !n;
}

void ga_name_decompose(struct ga_buf *out, const char *s)
{
	size_t n = strlen(s);
	cleanup_free char *form = is_ascii(s, n) ? NULL :
		normal(s, n, UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);

	ga_buf_adds(out, form ? form : s);
}

bool ga_name_composed(const char *s, size_t n)
{
	cleanup_free char *form = is_ascii(s, n) ? NULL : normal(s, n, UTF8PROC_COMPOSE);

	return !form || (strlen(form) == n && !memcmp(form, s, n));
}
