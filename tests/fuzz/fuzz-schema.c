/* SPDX-License-Identifier: MIT
 *
 * Configuration files: the user's, a NUL, the repository's. Every value taken is printed as a file
 * that gives the same, and whatever a repository's file says, nothing is looser after it.
 */
#include <string.h>

#include "fuzz.h"
#include "ga/config/config.h"

static void defaults_into(struct ga_config *c)
{
	ga_config_defaults(c, "/home/u", NULL, "/home/u/config.yaml");
}

static void check_error(const struct ga_error *err, const char *name)
{
	CHECK(err->msg && err->code == GA_EFATAL && !strncmp(err->msg, name, strlen(name)));
	CHECK(!strchr(err->msg, '\n') && strlen(err->msg) < 800);
}

static void check_print(const struct ga_config *c)
{
	for (int origin = 0; origin < 2; origin++) {
		cleanup_config struct ga_config again = GA_CONFIG_INIT;
		cleanup_error struct ga_error err = GA_ERROR_INIT;
		cleanup_buf struct ga_buf out = GA_BUF_INIT;

		defaults_into(&again);
		ga_config_print(c, origin, &out);
		CHECK(!ga_config_read(&again, GA_ORIGIN_USER, "p", out.ptr, out.len, &err));
		for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
			cleanup_free char *a = ga_config_text(c, i), *b = ga_config_text(&again, i);

			CHECK(!strcmp(a, b));
		}
	}
}

static void check_tightened(const struct ga_config *before, const struct ga_config *after)
{
	CHECK(after->dirty >= before->dirty && after->dirty <= GA_DIRTY_REFUSE);
	CHECK(after->home_mode >= before->home_mode && after->home_mode <= GA_HOME_OVERLAY);
	CHECK(after->inside.tools.n == before->inside.tools.n);
	CHECK(!strcmp(before->home, after->home) && !strcmp(before->state_dir, after->state_dir));
	for (size_t i = 0; i < GA_CONFIG_KEYS; i++) {
		const char *name = ga_config_key(i);
		uint64_t was, is;

		if (!ga_config_number(before, i, &was))
			continue;
		CHECK(ga_config_number(after, i, &is));
		/* of what a session may use 0 is no limit */
		if (!strncmp(name, "limits.", 7) && strncmp(name, "limits.capture.", 15) != 0)
			CHECK(!was || (is && is <= was));
		else
			CHECK(is <= was);
	}
	for (unsigned i = 0; i < GA_LIMITS_N; i++)
		CHECK(!ga_limit_is_lowered(&before->limits, (enum ga_limit)i));
}

/* What needs trust is found without taking it; without trust it is left out, and that is all that
 * is: whatever is wrong with a file is found in the same place. */
static void check_trust(const struct ga_config *c, const char *repo, size_t n)
{
	cleanup_config struct ga_config no = GA_CONFIG_INIT, yes = GA_CONFIG_INIT;
	cleanup_error struct ga_error e1 = GA_ERROR_INIT, e2 = GA_ERROR_INIT, e3 = GA_ERROR_INIT;
	cleanup_grants struct ga_grants g = GA_GRANTS_INIT;
	int rc = ga_config_grants(c, "repo", repo, n, &g, &e1);

	ga_config_copy(&no, c);
	ga_config_copy(&yes, c);
	no.from.untrusted = yes.from.trusted = true;
	CHECK(rc == ga_config_read(&yes, GA_ORIGIN_REPOSITORY, "repo", repo, n, &e2));
	CHECK(!rc || !strcmp(e1.msg, e2.msg));
	/* a list that is full is full only of what was taken */
	if (ga_config_read(&no, GA_ORIGIN_REPOSITORY, "repo", repo, n, &e3))
		CHECK(rc);
	check_tightened(c, &no);
	CHECK(c->secret.allow.n == no.secret.allow.n && c->inside.ro.n == no.inside.ro.n &&
	      c->inside.rw.n == no.inside.rw.n && c->env.pass.n == no.env.pass.n &&
	      c->env.set.n == no.env.set.n);
	for (size_t i = 0; i < g.n; i++)
		CHECK(*g.v[i].words && !strchr(g.v[i].words, '\n') && !strchr(g.v[i].words, '\033'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *nul = n ? memchr(data, 0, n) : NULL;
	size_t first = nul ? (size_t)(nul - data) : n, rest = nul ? n - first - 1 : 0;
	cleanup_free char *user = fuzz_exact(data, first), *repo = fuzz_exact(nul ? nul + 1 : NULL, rest);
	cleanup_config struct ga_config c = GA_CONFIG_INIT, both = GA_CONFIG_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT, err2 = GA_ERROR_INIT;

	defaults_into(&c);
	if (ga_config_read(&c, GA_ORIGIN_USER, "user", user, first, &err)) {
		check_error(&err, "user:");
		return 0;
	}
	check_print(&c);
	ga_config_copy(&both, &c);
	if (ga_config_read(&both, GA_ORIGIN_REPOSITORY, "repo", repo, rest, &err2))
		check_error(&err2, "repo:");
	check_trust(&c, repo, rest);
	/* also as far as it was taken */
	check_tightened(&c, &both);
	check_print(&both);
	return 0;
}
