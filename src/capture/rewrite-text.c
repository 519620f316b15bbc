/* SPDX-License-Identifier: MIT
 *
 * Cleaning what a commit says about itself: `git log` prints it on a terminal as it is, in the
 * encoding that it claims to have, and trailers of ours in it would be taken for our word.
 */
#include "rewrite-internal.h"

#include <string.h>
#include <strings.h>

#include "ga/quote.h"

/* ---- headers ------------------------------------------------------------------- */

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

/* ---- text -------------------------------------------------------------------------- */

static bool is_control(unsigned char c, const char *next, bool text)
{
	if (text && (c == '\n' || c == '\t' || (c == '\r' && *next == '\n')))
		return false;
	return c < 0x20 || c == 0x7f;
}

/* At the start of a character of valid UTF-8: is it one of U+0080-009F, or one that changes the
 * direction of text? */
static bool is_wide_control(const unsigned char *p)
{
	if (p[0] == 0xc2)
		return p[1] < 0xa0;
	if (p[0] != 0xe2)
		return false;
	return (p[1] == 0x80 && p[2] >= 0xaa && p[2] <= 0xae) ||
	       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

static bool has_control(const char *s, enum encoding enc, bool text)
{
	bool utf8 = enc == ENC_UTF8 && ga_utf8_valid(s, strlen(s));

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (is_control(c, s + 1, text))
			return true;
		if (utf8 ? is_wide_control((const unsigned char *)s) : c >= 0x80 && c < 0xa0)
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

/* ---- trailers ----------------------------------------------------------------------- */

/* The length of "Agent-KEY:" with blanks around it, in any case, as git compares keys; 0: none. */
static size_t trailer_key(const char *line)
{
	static const char letters[] = "-abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	const char *p = line + strspn(line, " \t");

	if (strncasecmp(p, "Agent-", 6))
		return 0;
	p += strspn(p, letters);
	p += strspn(p, " \t");
	return *p == ':' ? (size_t)(p + 1 + strspn(p + 1, " \t") - line) : 0;
}

/* Drop the lines that look like trailers of ours, with their continuation lines; of the subject,
 * only what makes it one. False: there are none. */
static bool drop_trailers(struct ga_commit *c)
{
	cleanup_buf struct ga_buf kept = GA_BUF_INIT;
	bool subject = true, dropping = false;
	const char *p = c->message;
	size_t n = strspn(p, "\n");

	ga_buf_add(&kept, p, n);
	for (p += n; (n = trailer_key(p)); p += n)
		;
	for (; *p; p += n) {
		n = strcspn(p, "\n");
		n += p[n] == '\n';
		dropping = !subject && (trailer_key(p) || (dropping && strchr(" \t", *p)));
		subject = false;
		if (!dropping)
			ga_buf_add(&kept, p, n);
	}
	if (!strcmp(kept.ptr, c->message))
		return false;
	free(c->message);
	c->message = ga_buf_steal(&kept);
	return true;
}

bool clean_commit(struct ga_commit *c, bool trailers)
{
	static const char *const encoding[] = { "encoding", NULL };
	enum encoding enc = encoding_of(c);
	bool dropped = trailers && drop_trailers(c);

	if (enc != ENC_OTHER && !has_control(c->message, enc, true) &&
	    !has_control(c->author, enc, false) && !has_control(c->committer, enc, false))
		return dropped;
	/* the result is UTF-8, whatever the encoding was called */
	escape(&c->message, true);
	escape(&c->author, false);
	escape(&c->committer, false);
	drop_headers(c, encoding);
	return true;
}
