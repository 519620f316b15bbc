/* SPDX-License-Identifier: MIT
 *
 * Commit what the agent left uncommitted, and note other people's names and future dates in the
 * agent's own commits, which readers of `git log` would believe.
 */
#include <string.h>
#include <time.h>

#include "ga/repo/history.h"
#include "capture-internal.h"
#include "ga/base/parse.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/session/session.h"

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

static const char *commits_are_said(size_t n)
{
	return n == 1 ? "commit says it is" : "commits say they are";
}

int note_claims(struct capture *c, struct ga_error *err)
{
	cleanup_refs struct ga_refs host = GA_REFS_INIT;
	cleanup_free struct ga_oid *commits = NULL, *hide = NULL;
	struct claims cl = { .user = parse_who(c->out.committer) };
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
			      commits_are_said(cl.foreign), first);
	if (cl.future)
		ga_strv_pushf(&c->notes, "%zu %s dated in the future", cl.future,
			      commits_are_said(cl.future));
	return 0;
}

int make_committer(struct capture *c, struct ga_error *err)
{
	/* the session's end, not now, so that a repeated capture makes the same commits */
	time_t at = c->s->run.finished ? (time_t)c->s->run.finished : time(NULL);

	return ga_repo_signature(c->e->repo, c->e->config, at, &c->out.committer, err);
}

/* The command on one line, whatever its words contain: a trailer ends with its line. */
static char *one_line_command(const struct ga_strv *command)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < command->n; i++) {
		cleanup_free char *word = ga_quote_shell(command->v[i]);

		if (i)
			ga_buf_addch(&b, ' ');
		if (strpbrk(word, "\n\r\t\x1b"))
			ga_quote_add(&b, word, strlen(word));
		else
			ga_buf_adds(&b, word);
	}
	return ga_buf_steal(&b);
}

/* Paths that are held or based on the user's uncommitted work are missing from this commit: then it
 * names no number of files. */
static void add_subject(const struct capture *c, const struct ga_changes *changes,
			const struct ga_flags *flags, const struct ga_host_facts *facts,
			struct ga_buf *m)
{
	bool all = ga_oid_equal(&c->base.agent, &c->base.branch);

	for (size_t i = 0; all && i < flags->n; i++)
		all = !ga_flag_holds(facts, &flags->v[i]);
	if (c->s->id.message && *c->s->id.message)
		ga_buf_adds(m, c->s->id.message);
	else if (all)
		ga_buf_addf(m, "agent/%s: %zu file%s changed", c->s->name, changes->n,
			    changes->n == 1 ? "" : "s");
	else
		ga_buf_addf(m, "agent/%s: what the agent left uncommitted", c->s->name);
	while (m->len && m->ptr[m->len - 1] == '\n')
		ga_buf_chomp(m);
}

static int make_message(struct capture *c, const struct ga_oid *from, struct ga_buf *m,
			struct ga_error *err)
{
	cleanup_free char *command =
		one_line_command(c->s->run.resumed_with.n ? &c->s->run.resumed_with
								     : &c->s->id.command);
	struct ga_changes *changes = &c->out.rest.changes;
	struct ga_flags *flags = &c->out.rest.flags;

	if (ga_tree_diff(c->e->repo, from, &c->out.tree, changes, err) ||
	    ga_classify(c->e->repo, &c->out.facts, from, &c->out.tree, changes, flags, err))
		return -1;
	c->out.rest.old = *from;
	c->out.rest.new = c->out.tree;
	add_subject(c, changes, flags, &c->out.facts, m);
	ga_buf_addf(m, "\n\nAgent-Session: %s\nAgent-Command: %s\nAgent-Base: %s\n", c->s->name,
		    command, GA_HEX(&c->s->id.onto));
	ga_report_check_trailers(&c->s->run.checks, m);
	for (size_t i = 0; i < flags->n && i < GA_REPORT_TRAILERS; i++)
		ga_report_trailer(m, "Agent-Flagged", &flags->v[i], false);
	return 0;
}

/* Find changes of the base since the merge base that the agent did not touch: as in a merge, they
 * stay. */
static int find_newer(struct capture *c, struct ga_error *err)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;
	struct ga_repo *r = c->e->repo;
	struct ga_oid fork, was;
	struct ga_entry is, above;
	size_t n;
	int rc = ga_merge_base(r, &c->git.head, &c->s->id.onto, &fork, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (ga_commit_tree(r, &fork, &was, err) ||
	    ga_tree_diff(r, &was, &c->base.tree, &all, err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		const struct ga_change *v = &all.v[i];

		if (ga_tree_entry(r, &c->upper.tree, v->path, &is, err) ||
		    ga_tree_above(r, &c->upper.tree, v->path, &above, &n, err))
			return -1;
		if (ga_entry_equal(&is, &v->old) && !above.mode)
			(void)ga_changes_add(&c->out.newer, v->path, &v->old, &v->new);
	}
	return ga_tree_apply(r, NULL, &c->upper.tree, &c->out.newer, &c->out.tree, err);
}

int commit_rest(struct capture *c, struct ga_error *err)
{
	bool own = c->git.related && !ga_oid_is_zero(&c->git.head);
	struct ga_oid parent = own ? c->git.head : c->base.agent;
	struct ga_oid from = own ? c->git.head_tree : c->base.agent_tree;
	cleanup_buf struct ga_buf m = GA_BUF_INIT;
	struct ga_commit commit = { .parents = &parent,
				    .n_parents = 1,
				    .author = c->out.committer,
				    .committer = c->out.committer,
				    .extra = (char[]){ "" } };

	c->out.history = parent;
	c->out.tree = c->upper.tree;
	if (!own && !ga_oid_is_zero(&c->git.head) && find_newer(c, err))
		return -1;
	if (ga_oid_equal(&c->out.tree, &from))
		return 0;
	if (make_message(c, &from, &m, err))
		return -1;
	commit.tree = c->out.tree;
	commit.message = m.ptr;
	return ga_commit_write(c->e->repo, &commit, &c->out.history, err);
}
