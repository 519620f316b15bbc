/* SPDX-License-Identifier: MIT
 *
 * Cleaning what a commit says about itself: `git log` prints it on a terminal as it is, in the
 * encoding that it claims to have.
 */
#include "rewrite-internal.h"

#include <string.h>
#include <strings.h>

#include "ga/base/quote.h"

enum { CLAIMED_LEN = 40, CLAIMED_MAX = 20 };

/* The length of one header in `extra`, with its continuation lines. */
static size_t header_len(const char *p)
{
	const char *s = p;

	do {
		s += strcspn(s, "\n");
		s += *s == '\n';
	} while (*s == ' ');
	return (size_t)(s - p);
}

static bool is_one_of(const char *header, const char *const *names)
{
	for (; *names; names++) {
		size_t n = strlen(*names);

		if (!strncmp(header, *names, n) && header[n] == ' ')
			return true;
	}
	return false;
}

static void drop_headers(struct ga_commit *c, const char *const *names)
{
	cleanup_buf struct ga_buf kept = GA_BUF_INIT;
	size_t n;

	for (const char *p = c->extra; *p; p += n) {
		n = header_len(p);
		if (!is_one_of(p, names))
			ga_buf_add(&kept, p, n);
	}
	free(c->extra);
	c->extra = ga_buf_steal(&kept);
}

void drop_signatures(struct ga_commit *c)
{
	static const char *const names[] = { "gpgsig", "gpgsig-sha256", "mergetag", NULL };

	drop_headers(c, names);
}

enum encoding { ENC_UTF8, ENC_BYTES, ENC_OTHER };

/* ENC_BYTES are encodings in which each byte below 0x80 stands for itself, so that control
 * characters can be found in the bytes. In UTF-7 or ISO-2022 they cannot. */
static enum encoding encoding_of(const struct ga_commit *c)
{
	static const char *const name[] = { "encoding", NULL };
	static const char *const bytes[] = { "iso-8859-", "iso8859-", "windows-125", "cp125",
					     "latin", "koi8-", "us-ascii" };
	const char *p = c->extra;

	while (*p && !is_one_of(p, name))
		p += header_len(p);
	if (!*p)
		return ENC_UTF8;
	p += strlen("encoding ");
	if (!strncasecmp(p, "utf-8\n", 6) || !strncasecmp(p, "utf8\n", 5))
		return ENC_UTF8;
	for (size_t i = 0; i < GA_NELEMS(bytes); i++)
		if (!strncasecmp(p, bytes[i], strlen(bytes[i])))
			return ENC_BYTES;
	return ENC_OTHER;
}

static bool is_control(uint32_t c, const char *next, bool text)
{
	if (text && (c == '\n' || c == '\t' || (c == '\r' && *next == '\n')))
		return false;
	return c < 0x20 || c == 0x7f;
}

static bool has_control(const char *s, enum encoding enc, bool text)
{
	bool utf8 = enc == ENC_UTF8 && ga_utf8_valid(s, strlen(s));
	uint32_t c, before = 0, after;

	for (size_t len; *s; s += len, before = c) {
		c = (unsigned char)*s;
		len = utf8 ? ga_utf8_decode(s, strnlen(s, 4), &c) : 1;
		if (is_control(c, s + 1, text) || (c >= 0x80 && c < 0xa0))
			return true;
		if (!utf8 || !ga_is_invisible(c))
			continue;
		if (!s[len] || !ga_utf8_decode(s + len, strnlen(s + len, 4), &after))
			after = 0;
		if (ga_is_hidden(before, c, after))
			return true;
	}
	return false;
}

static void escape(char **s, bool text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (text)
		ga_quote_add_text(&b, *s, strlen(*s));
	else
		ga_quote_add(&b, *s, strlen(*s));
	free(*s);
	*s = ga_buf_steal(&b);
}

void find_claimed(const struct ga_commit *c, struct ga_strv *keys)
{
	static const char prefix[] = "Agent-", letters[] = "-abcdefghijklmnopqrstuvwxyz"
							   "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (const char *p = c->message; *p; p += *p == '\n') {
		size_t n = strspn(p, letters);
		cleanup_free char *key = n < CLAIMED_LEN ? ga_strndup(p, n) : NULL;

		/* git allows blanks before the colon */
		if (key && !strncasecmp(key, prefix, strlen(prefix)) &&
		    p[n + strspn(p + n, " \t")] == ':' && keys->n < CLAIMED_MAX &&
		    !ga_strv_has(keys, key))
			ga_strv_push(keys, key);
		p += strcspn(p, "\n");
	}
}

bool clean_commit(struct ga_commit *c)
{
	static const char *const encoding[] = { "encoding", NULL };
	enum encoding enc = encoding_of(c);

	if (enc != ENC_OTHER && !has_control(c->message, enc, true) &&
	    !has_control(c->author, enc, false) && !has_control(c->committer, enc, false))
		return false;
	/* the result is UTF-8, whatever the encoding was called */
	escape(&c->message, true);
	escape(&c->author, false);
	escape(&c->committer, false);
	drop_headers(c, encoding);
	return true;
}
