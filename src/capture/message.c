/* SPDX-License-Identifier: MIT
 *
 * The commit that the tool makes of what the agent did not commit itself.
 */
#include <string.h>
#include <time.h>

#include "ga/objects.h"
#include "ga/quote.h"
#include "result.h"

int make_committer(struct capture *c, struct outcome *o, struct ga_error *err)
{
	/* the session's end, not now, so that a repeated capture makes the same commits */
	time_t at = c->s->finished ? (time_t)c->s->finished : time(NULL);

	return ga_repo_signature(c->e->repo, c->e->config, at, &o->committer, err);
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

/* This commit loses what is held back or stands on the user's uncommitted work: then no number is
 * given, rather than a wrong one. */
static void add_subject(const struct capture *c, const struct ga_changes *changes,
			const struct ga_flags *flags, const struct ga_host_facts *facts,
			struct ga_buf *m)
{
	bool all = ga_oid_equal(&c->agent_base, &c->branch_base);

	for (size_t i = 0; all && i < flags->n; i++)
		all = !ga_flag_holds(facts, &flags->v[i]);
	if (c->s->message && *c->s->message)
		ga_buf_adds(m, c->s->message);
	else if (all)
		ga_buf_addf(m, "agent/%s: %zu file%s changed", c->s->name, changes->n,
			    changes->n == 1 ? "" : "s");
	else
		ga_buf_addf(m, "agent/%s: what the agent left uncommitted", c->s->name);
	while (m->len && m->ptr[m->len - 1] == '\n')
		ga_buf_chomp(m);
}

static int make_message(struct capture *c, struct outcome *o, const struct ga_oid *from,
			struct ga_buf *m, struct ga_error *err)
{
	cleanup_free char *command = one_line_command(c->s->resumed_with.n ? &c->s->resumed_with
								     : &c->s->command);
	struct ga_changes *changes = &o->rest.changes;
	struct ga_flags *flags = &o->rest.flags;

	if (ga_tree_diff(c->e->repo, from, &c->upper.tree, changes, err) ||
	    ga_classify(c->e->repo, &o->facts, from, &c->upper.tree, changes, flags, err))
		return -1;
	o->rest.old = *from;
	o->rest.new = c->upper.tree;
	add_subject(c, changes, flags, &o->facts, m);
	ga_buf_addf(m, "\n\nAgent-Session: %s\nAgent-Command: %s\nAgent-Base: %s\n", c->s->name,
		    command, GA_HEX(&c->s->onto));
	ga_report_check_trailers(&c->s->checks, m);
	for (size_t i = 0; i < flags->n && i < GA_REPORT_TRAILERS; i++)
		ga_report_trailer(m, "Agent-Flagged", flags->v[i].severity, flags->v[i].rule,
				  flags->v[i].path, NULL);
	return 0;
}

int commit_rest(struct capture *c, struct outcome *o, struct ga_error *err)
{
	bool own = c->related && !ga_oid_is_zero(&c->head);
	struct ga_oid parent = own ? c->head : c->agent_base;
	struct ga_oid from = own ? c->head_tree : c->agent_base_tree;
	cleanup_buf struct ga_buf m = GA_BUF_INIT;
	struct ga_commit commit = { .tree = c->upper.tree, .parents = &parent, .n_parents = 1,
				    .author = o->committer, .committer = o->committer,
				    .extra = (char[]){ "" } };

	o->history = parent;
	if (ga_oid_equal(&c->upper.tree, &from))
		return 0;
	if (make_message(c, o, &from, &m, err))
		return -1;
	commit.message = m.ptr;
	o->made_rest = true;
	return ga_commit_write(c->e->repo, &commit, &o->history, err);
}
