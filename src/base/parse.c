/* SPDX-License-Identifier: MIT */
#include "ga/base/parse.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "ga/base/alloc.h"

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

bool ga_parse_next_int(const char **text, int *ret)
{
	size_t n = strcspn(*text, ",");
	cleanup_free char *word = ga_strndup(*text, n);
	int64_t v;

	if (!ga_parse_i64(word, &v) || v < INT_MIN || v > INT_MAX)
		return false;
	*ret = (int)v;
	*text += n + ((*text)[n] == ',');
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

struct unit {
	const char *name;
	uint64_t is;
};

/* Those used for output come first, in descending order down to "". */
static const struct unit sizes[] = {
	{ "TiB", (uint64_t)1 << 40 }, { "GiB", 1 << 30 }, { "MiB", 1 << 20 }, { "KiB", 1 << 10 },
	{ "", 1 },
	{ "T", (uint64_t)1 << 40 },   { "G", 1 << 30 },	  { "M", 1 << 20 },   { "K", 1 << 10 },
	{ "t", (uint64_t)1 << 40 },   { "g", 1 << 30 },	  { "m", 1 << 20 },   { "k", 1 << 10 },
};
static const struct unit times[] = { { "h", 3600 }, { "m", 60 }, { "s", 1 }, { "", 1 } };

static bool parse_unit(const char *s, const struct unit *units, size_t n, uint64_t max,
		       uint64_t *ret)
{
	size_t digits = strspn(s, "0123456789");
	cleanup_free char *number = ga_strndup(s, digits);
	uint64_t v;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(units[i].name, s + digits) != 0)
			continue;
		if (!ga_parse_u64(number, max / units[i].is, &v))
			return false;
		*ret = v * units[i].is;
		return true;
	}
	return false;
}

static char *unit_text(uint64_t v, const struct unit *units)
{
	while (units->is > 1 && (!v || v % units->is))
		units++;
	return ga_strf("%llu%s", (unsigned long long)(v / units->is), units->name);
}

bool ga_parse_size(const char *s, uint64_t max, uint64_t *ret)
{
	return parse_unit(s, sizes, GA_NELEMS(sizes), max, ret);
}

bool ga_parse_seconds(const char *s, uint64_t max, uint64_t *ret)
{
	return parse_unit(s, times, GA_NELEMS(times), max, ret);
}

char *ga_size_text(uint64_t bytes)
{
	return unit_text(bytes, sizes);
}

char *ga_seconds_text(uint64_t seconds)
{
	return unit_text(seconds, times);
}

char *ga_size_about(uint64_t bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	uint64_t tenths = bytes < UINT64_MAX / 10 ? bytes * 10 : UINT64_MAX;
	size_t u = 0;

	if (bytes < 1024)
		return ga_strf("%" PRIu64 " bytes", bytes);
	for (tenths /= 1024; tenths >= 10240 && u + 1 < GA_NELEMS(units); u++)
		tenths /= 1024;
	return ga_strf("%" PRIu64 ".%" PRIu64 " %s", tenths / 10, tenths % 10, units[u]);
}

bool ga_parse_release(const char *s, struct ga_version *ret)
{
	cleanup_free char *major = ga_strndup(s, strspn(s, "0123456789")), *minor = NULL;
	struct ga_version v;

	s += strlen(major);
	if (*s++ != '.')
		return false;
	minor = ga_strndup(s, strspn(s, "0123456789"));
	if (!ga_parse_u64(major, UINT32_MAX, &v.major) ||
	    !ga_parse_u64(minor, UINT32_MAX, &v.minor))
		return false;
	*ret = v;
	return true;
}

bool ga_parse_version(const char *s, const char *name, struct ga_version *ret)
{
	size_t n = strlen(name);

	return !strncmp(s, name, n) && s[n] == ' ' && ga_parse_release(s + n + 1, ret);
}

bool ga_version_before(const struct ga_version *v, uint64_t major, uint64_t minor)
{
	return v->major < major || (v->major == major && v->minor < minor);
}
