/* SPDX-License-Identifier: MIT */
#include "ga/base/error.h"

#include <errno.h>
#include <string.h>

#include "ga/base/quote.h"

/* Placeholder message of an ignored error. */
static char ignored[] = "ignored";

void ga_error_release(struct ga_error *err)
{
	if (!err->ignored) {
		free(err->msg);
		free(err->hint);
	}
	*err = (struct ga_error){ .ignored = err->ignored };
}

/* One line that is safe to show, whatever names it contains. Escaping is idempotent.
 */
static char *make_safe(char *text)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_buf line = GA_BUF_INIT;
	const char *p = text;

	while (*p >= ' ' && *p < 0x7f)
		p++;
	if (!*p)
		return text;
	ga_quote_add_text(&b, text, strlen(text));
	free(text);
	for (p = b.ptr; *p; p++)
		if (*p == '\n' || *p == '\t')
			ga_buf_adds(&line, *p == '\n' ? "\\n" : "\\t");
		else
			ga_buf_addch(&line, *p);
	return ga_buf_steal(&line);
}

/* The beginning of a format that was checked is one, too. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void ga_error_set(struct ga_error *err, enum ga_code code, const char *fmt, ...)
{
	const char *hint = strstr(fmt, GA_HINT);
	cleanup_free char *first = hint ? ga_strndup(fmt, (size_t)(hint - fmt)) : NULL;
	va_list ap, again;

	if (err->msg && !err->ignored)
		GA_BUG(err->msg);
	err->code = code;
	err->msg = ignored;
	if (err->ignored)
		return;
	va_start(ap, fmt);
	va_copy(again, ap);
	err->msg = ga_vstrf(first ? first : fmt, again);
	if (first) {
		cleanup_free char *all = ga_vstrf(fmt, ap);

		ga_error_hint(err, ga_strdup(all + strlen(err->msg) + strlen(GA_HINT)), false);
	}
	err->msg = make_safe(err->msg);
	va_end(again);
	va_end(ap);
}

void ga_error_path(struct ga_error *err, int errnum, const char *verb, const char *path)
{
	(void)ga_fail_errno(err, GA_EFATAL, errnum, "cannot %s '%s'", verb, path);
}

void ga_error_hint(struct ga_error *err, char *hint, bool instead)
{
	if (err->ignored || (err->hint && !instead)) {
		free(hint);
		return;
	}
	free(err->hint);
	err->hint = make_safe(hint);
}

void ga_error_hint_more(struct ga_error *err, char *line)
{
	cleanup_free char *added = make_safe(line), *first = err->hint;

	if (err->ignored)
		return;
	err->hint = first ? ga_strf("%s" GA_HINT "%s", first, added) : ga_strdup(added);
}

void ga_error_prefix(struct ga_error *err, char *prefix)
{
	cleanup_free char *first = err->ignored ? NULL : err->msg;

	err->msg = ignored;
	if (!err->ignored)
		err->msg = make_safe(ga_strf("%s: %s", prefix, first ? first : "unknown error"));
	free(prefix);
	if (err->code == GA_OK)
		err->code = GA_EFATAL;
}

void ga_error_take(struct ga_error *to, struct ga_error *from)
{
	if (to->ignored) {
		ga_error_set(to, from->code, "%s", "");
		ga_error_release(from);
		return;
	}
	if (to->msg)
		GA_BUG(to->msg);
	*to = *from;
	*from = (struct ga_error)GA_ERROR_INIT;
}

int ga_error_status(enum ga_code code)
{
	static const int status[] = {
#define X(name, st, meaning) [name] = (st),
		GA_ERROR_CODES(X)
#undef X
	};

	return status[code];
}

bool ga_means_no_space(const char *text)
{
	/* git and libgit2 pass on what strerror() gave them, in whatever case */
	return text && (strcasestr(text, "no space left") || strcasestr(text, "quota exceeded") ||
			strcasestr(text, strerror(ENOSPC)) || strcasestr(text, strerror(EDQUOT)));
}

bool ga_means_disk_trouble(const char *text)
{
	return ga_means_no_space(text) ||
	       (text && (ga_ends_in(text, strerror(EIO)) || ga_ends_in(text, strerror(EROFS))));
}
