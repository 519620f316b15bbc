/* SPDX-License-Identifier: MIT
 *
 * What the agent's commits claim: anybody can write any name and any date there, and readers of
 * `git log` believe them.
 */
#include <string.h>

#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"
#include "result.h"

#define SLACK (24 * 60 * 60) /* seconds: a clock may be off by a time zone */

/* "Name <mail> seconds zone" */
struct who {
	const char *text;
	size_t len; /* of "Name <mail>" */
	int64_t at;
};

static struct who parse_who(const char *raw)
{
	const char *end = strrchr(raw, '>');
	size_t len = end ? (size_t)(end - raw) + 1 : strlen(raw);
	const char *at = raw + len + strspn(raw + len, " ");
	cleanup_free char *seconds = ga_strndup(at, strcspn(at, " "));
	struct who w = { raw, len, 0 };

	/* a date that is no number claims nothing; git's own checks refuse it */
	(void)ga_parse_i64(seconds, &w.at);
	return w;
}

struct claims {
	struct who user;
	size_t foreign, future;
	char *first; /* somebody else, quoted */
};

static void judge(struct claims *cl, const struct ga_commit *c)
{
	const struct who both[] = { parse_who(c->author), parse_who(c->committer) };
	bool foreign = false, future = false;

	for (size_t i = 0; i < GA_NELEMS(both); i++) {
		future |= both[i].at > cl->user.at + SLACK;
		if (both[i].len == cl->user.len &&
		    !memcmp(both[i].text, cl->user.text, cl->user.len))
			continue;
		foreign = true;
		if (!cl->first) {
			cleanup_free char *name = ga_strndup(both[i].text, both[i].len);

			cl->first = ga_quote(name);
		}
	}
	cl->foreign += foreign;
	cl->future += future;
}

static const char *commits_say(size_t n)
{
	return n == 1 ? "commit says it is" : "commits say they are";
}

int note_claims(struct capture *c, struct outcome *o, struct ga_error *err)
{
	cleanup_refs struct ga_refs host = GA_REFS_INIT;
	cleanup_free struct ga_oid *commits = NULL, *hide = NULL;
	struct claims cl = { .user = parse_who(o->committer) };
	cleanup_free char *first = NULL;
	size_t n;

	if (!c->git.related || ga_oid_equal(&c->git.head, &c->base.agent))
		return 0;
	if (ga_session_host_refs(c->e->repo, &host, err))
		return -1;
	hide = ga_calloc(host.n + 1, sizeof(*hide));
	hide[0] = c->base.agent;
	for (size_t i = 0; i < host.n; i++)
		hide[i + 1] = host.v[i].oid;
	if (list_history(c, &c->git.head, 1, hide, host.n + 1, &commits, &n, err))
		return -1;
	for (size_t i = 0; i < n; i++) {
		cleanup_commit struct ga_commit one = { 0 };

		if (ga_commit_read(c->e->repo, &commits[i], &one, err))
			return -1;
		judge(&cl, &one);
	}
	first = cl.first;
	if (cl.foreign)
		ga_strv_pushf(&c->notes, "%zu %s somebody else's: %s", cl.foreign,
			      commits_say(cl.foreign), first);
	if (cl.future)
		ga_strv_pushf(&c->notes, "%zu %s of a day still to come", cl.future,
			      commits_say(cl.future));
	return 0;
}
