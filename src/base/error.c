/* SPDX-License-Identifier: MIT */
#include "ga/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char *__attribute__((format(printf, 1, 0))) vformat(const char *fmt, va_list ap)
{
	char *p = NULL;

	if (vasprintf(&p, fmt, ap) < 0)
		GA_BUG("vasprintf");
	return p;
}

static void set(struct ga_error *err, enum ga_code code, char *msg)
{
	if (err->msg)
		GA_BUG(err->msg);
	err->code = code;
	err->msg = msg;
}

void ga_error_release(struct ga_error *err)
{
	free(err->msg);
	free(err->hint);
	*err = (struct ga_error)GA_ERROR_INIT;
}

int (ga_fail)(struct ga_error *err, enum ga_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set(err, code, vformat(fmt, ap));
	va_end(ap);
	return -1;
}

int (ga_fail_errno)(struct ga_error *err, enum ga_code code, int errnum, const char *fmt, ...)
{
	cleanup_free char *msg = NULL;
	va_list ap;

	va_start(ap, fmt);
	msg = vformat(fmt, ap);
	va_end(ap);
	set(err, code, ga_strf("%s: %s", msg, strerror(errnum)));
	return -1;
}

int (ga_hint)(struct ga_error *err, const char *fmt, ...)
{
	va_list ap;

	if (!err->hint) {
		va_start(ap, fmt);
		err->hint = vformat(fmt, ap);
		va_end(ap);
	}
	return -1;
}

int (ga_hint_instead)(struct ga_error *err, const char *fmt, ...)
{
	va_list ap;

	free(err->hint);
	va_start(ap, fmt);
	err->hint = vformat(fmt, ap);
	va_end(ap);
	return -1;
}

int (ga_error_wrap)(struct ga_error *err, const char *fmt, ...)
{
	cleanup_free char *prefix = NULL;
	char *msg;
	va_list ap;

	va_start(ap, fmt);
	prefix = vformat(fmt, ap);
	va_end(ap);
	msg = ga_strf("%s: %s", prefix, err->msg ? err->msg : "unknown error");
	free(err->msg);
	err->msg = msg;
	if (err->code == GA_OK)
		err->code = GA_EFATAL;
	return -1;
}

int (ga_error_move)(struct ga_error *to, struct ga_error *from)
{
	if (to->msg)
		GA_BUG(to->msg);
	*to = *from;
	*from = (struct ga_error)GA_ERROR_INIT;
	return -1;
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
