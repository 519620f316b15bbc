/* SPDX-License-Identifier: MIT */
#include "ga/review/palette.h"

#include <stdio.h>

#include "ga/base/quote.h"

#define KEY "agent.colour"

/* Have git translate a value, as its own diff does. 1: it is not a colour. */
static int translate(const struct ga_repo *r, const char *value, char ret[GA_SGR_MAX],
		     struct ga_error *err)
{
	static const char *const args[] = { "config", "--get-color", KEY, NULL };
	cleanup_free char *set = ga_strf(KEY "=%s", value);
	const char *const config[] = { set, NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.config = config;
	g.out = &out;
	if (ga_git_run(r, &g, &status, err))
		return -1;
	return status || snprintf(ret, GA_SGR_MAX, "%s", out.ptr) >= GA_SGR_MAX;
}

int ga_palette_read(const struct ga_repo *r, const struct ga_gitconfig *c, struct ga_palette *ret,
		    struct ga_error *err)
{
	static const struct {
		const char *key, *former, *otherwise; /* git's default */
	} slots[GA_PAINTS] = {
		[GA_PAINT_META] = { "color.diff.meta", NULL, "\033[1m" },
		[GA_PAINT_FRAG] = { "color.diff.frag", NULL, "\033[36m" },
		[GA_PAINT_OLD] = { "color.diff.old", NULL, "\033[31m" },
		[GA_PAINT_NEW] = { "color.diff.new", NULL, "\033[32m" },
		[GA_PAINT_CONTEXT] = { "color.diff.context", "color.diff.plain", "" },
	};

	for (size_t i = 0; i < GA_PAINTS; i++) {
		const char *v = ga_gitconfig_get(c, slots[i].key);
		cleanup_free char *q = NULL;
		int rc;

		if (!v && slots[i].former)
			v = ga_gitconfig_get(c, slots[i].former);
		(void)snprintf(ret->sgr[i], GA_SGR_MAX, "%s", slots[i].otherwise);
		rc = v ? translate(r, v, ret->sgr[i], err) : 0;
		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		q = ga_escape(v);
		(void)ga_fail(err, GA_EFATAL, "'%s' in git's configuration is not a colour: '%s'",
			      slots[i].key, q);
		return ga_hint(err, "'git config --show-origin %s' says where it is set",
			       slots[i].key);
	}
	return 0;
}
