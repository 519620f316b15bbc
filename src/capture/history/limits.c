/* SPDX-License-Identifier: MIT
 *
 * What a limit of the user's kept out, and how to get it.
 */

#include "capture/capture-internal.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"

char *limit_met(struct capture *c, enum ga_limit which, const char *what)
{
	cleanup_free char *value = ga_limit_text(c->e->limits, which);

	c->met |= (uint64_t)1 << which;
	return ga_strf("%s (%s: %s)", what, ga_limit_key(which), value);
}

static bool is_met(uint64_t met, unsigned i)
{
	return met >> i & 1;
}

/* How to get what these limits keep out, as one line. A limit that the repository's file lowered
 * cannot be raised in the user's file, only on the command line. */
static char *remedy_of(const struct capture *c, uint64_t met)
{
	cleanup_buf struct ga_buf raise = GA_BUF_INIT, once = GA_BUF_INIT;
	cleanup_free char *file = ga_escape(c->e->config_file);
	const char *where = c->s->id.within ? " in the superproject" : "";

	for (unsigned i = 0; i < GA_LIMITS_N; i++) {
		const char *key = ga_limit_key((enum ga_limit)i);

		if (!is_met(met, i))
			continue;
		if (ga_limit_is_lowered(c->e->limits, (enum ga_limit)i))
			ga_buf_addf(&once, " -c %s=...", key);
		else
			ga_buf_addf(&raise, "%s%s", raise.len ? ", " : "", key);
	}
	if (raise.len)
		return ga_strf("raise %s in %s, then run 'git agent%s capture %s'%s", raise.ptr,
			       file, once.ptr, c->s->name, where);
	return ga_strf("run 'git agent%s capture %s'%s, since the repository's file sets it",
		       once.ptr, c->s->name, where);
}

void report_limits(const struct capture *c, struct ga_report *r)
{
	cleanup_free char *remedy = NULL;

	if (!c->met)
		return;
	for (unsigned i = 0; i < GA_LIMITS_N; i++)
		if (is_met(c->met, i))
			ga_strv_push(&r->limits, ga_limit_key((enum ga_limit)i));
	remedy = remedy_of(c, c->met);
	ga_strv_pushf(&r->notes, "for what is beyond a limit, %s", remedy);
}

static int fail_limit(struct capture *c, enum ga_limit which, const char *what,
		      struct ga_error *err)
{
	cleanup_free char *full = limit_met(c, which, what);
	cleanup_free char *remedy = remedy_of(c, (uint64_t)1 << which);

	(void)ga_fail(err, GA_EFATAL, "%s", full);
	return ga_hint(err, "%s", remedy);
}

int fail_late(struct capture *c, struct ga_error *err)
{
	return fail_limit(c, GA_LIMIT_READ_TIME, "reading what the agent wrote took too long", err);
}

int list_history(struct capture *c, const struct ga_oid *tips, size_t n_tips,
		 const struct ga_oid *hide, size_t n_hide, struct ga_oid **ret, size_t *ret_n,
		 struct ga_error *err)
{
	int rc = ga_rev_list_bounded(c->e->repo, tips, n_tips, hide, n_hide, c->e->limits->history,
				     ret, ret_n, err);

	if (rc != 1)
		return rc;
	return fail_limit(c, GA_LIMIT_HISTORY, "there are too many commits since the base", err);
}
