/* SPDX-License-Identifier: MIT */
#include "ga/parse.h"

#include <limits.h>
#include <stddef.h>
#include <strings.h>

bool ga_parse_u64(const char *s, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned d = (unsigned)(*s - '0');

		if (*s < '0' || *s > '9' || v > (max - d) / 10 || d > max)
			return false;
		v = v * 10 + d;
	}
	*ret = v;
	return true;
}

bool ga_parse_i64(const char *s, int64_t *ret)
{
	uint64_t v;

	if (*s == '-') {
		if (!ga_parse_u64(s + 1, (uint64_t)INT64_MAX + 1, &v))
			return false;
		*ret = v > INT64_MAX ? INT64_MIN : -(int64_t)v;
		return true;
	}
	if (!ga_parse_u64(s, INT64_MAX, &v))
		return false;
	*ret = (int64_t)v;
	return true;
}

bool ga_parse_fd(const char *s, int *ret)
{
	uint64_t v;

	if (!ga_parse_u64(s, INT_MAX, &v))
		return false;
	*ret = (int)v;
	return true;
}

bool ga_parse_bool(const char *s, bool *ret)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0", "" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		if (!strcasecmp(s, yes[i]))
			return *ret = true, true;
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		if (!strcasecmp(s, no[i]))
			return *ret = false, true;
	return false;
}
