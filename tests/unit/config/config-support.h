/* SPDX-License-Identifier: MIT
 *
 * Settings, and asking what one of them is.
 */
#pragma once

#include "../test.h"

#include "ga/config/config.h"

static inline void defaults_into(struct ga_config *c)
{
	ga_config_defaults(c, "/h", NULL, "/h/.config/git-agent/config.yaml");
}

static inline size_t number_of(const char *key)
{
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++)
		if (!strcmp(ga_config_key(i), key))
			return i;
	fail_msg("no key %s", key);
	return 0;
}

static inline void assert_is(const struct ga_config *c, const char *key, const char *value, const char *origin)
{
	size_t i = number_of(key);
	cleanup_free char *text = ga_config_text(c, i), *from = ga_config_origin(c, i);

	STREQ(text, value);
	STREQ(from, origin);
}
