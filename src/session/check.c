/* SPDX-License-Identifier: MIT */
#include "ga/session/check.h"

#include <stdint.h>
#include <string.h>

#include "ga/base/alloc.h"
#include "ga/base/parse.h"
#include "ga/base/strv.h"

#define COMMAND_MAX ((size_t)16 << 10)

static const char *const names[] = {
	[GA_CHECK_EXITED] = "exited", [GA_CHECK_TIMED_OUT] = "timed-out",
	[GA_CHECK_INTERRUPTED] = "interrupted", [GA_CHECK_NOT_RUN] = "not-run",
};

const char *ga_check_end_name(enum ga_check_end e)
{
	return names[e];
}

char *ga_check_encode(const struct ga_check *c)
{
	return ga_strf("%s %d %s", names[c->end], c->status, c->command);
}

bool ga_check_parse(const char *word, struct ga_check *ret)
{
	size_t n = strcspn(word, " "), k;
	const char *rest = word + n + (word[n] == ' ');
	cleanup_free char *status = NULL;
	uint64_t v;

	k = strcspn(rest, " ");
	status = ga_strndup(rest, k);
	if (!rest[k] || !ga_parse_u64(status, 255, &v) || strlen(rest) > COMMAND_MAX)
		return false;
	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		if (strlen(names[i]) != n || strncmp(names[i], word, n))
			continue;
		*ret = (struct ga_check){ (enum ga_check_end)i, (int)v, rest + k + 1 };
		return !strpbrk(ret->command, "\n\r\x1b");
	}
	return false;
}

char *ga_check_text(const struct ga_check *c)
{
	static const char *const how[] = {
		[GA_CHECK_TIMED_OUT] = "timed out", [GA_CHECK_INTERRUPTED] = "interrupted",
		[GA_CHECK_NOT_RUN] = "not run",
	};

	return c->end == GA_CHECK_EXITED ? ga_strf("%s \xe2\x86\x92 %d", c->command, c->status)
					 : ga_strf("%s \xe2\x86\x92 %s", c->command, how[c->end]);
}
