/* SPDX-License-Identifier: MIT
 *
 * Trust in a repository's settings: finding out, showing, asking.
 */
#ifndef TRUSTING_H
#define TRUSTING_H

#include "cli.h"
#include "ga/config/trust.h"

/* The repository's file at a commit, what in it needs trust, and what the user trusted before; or
 * what needs trust because an agent goes by files of that commit (ga/agents/agents.h). */
struct cli_grants {
	const char *agent;       /* NULL: it is the repository's file */
	bool never;              /* an agent cannot be trusted with it */
	bool there;              /* is there such a file? */
	bool trusted;            /* exactly this content is; or it grants nothing */
	struct ga_oid commit;
	struct ga_buf text;
	struct ga_grants grants; /* what it lets agents do */
	uint64_t when;           /* when another content was trusted last; 0: never */
	struct ga_grants former; /* what that content lets them do */
};
#define CLI_GRANTS_INIT { .text = GA_BUF_INIT, .grants = GA_GRANTS_INIT, .former = GA_GRANTS_INIT }
void cli_grants_release(struct cli_grants *g);

/* Read it. What it grants is judged against the settings `conf`, which it would loosen. */
int cli_find_grants(struct cli *c, const struct ga_oid *commit, const struct ga_config *conf,
		    struct cli_grants *ret, struct ga_error *err);
/* The same for an agent. */
int cli_find_agent_grants(struct cli *c, const struct ga_oid *commit, const struct ga_preset *p,
			  struct cli_grants *ret, struct ga_error *err);
/* Append the lines behind the first NUL of a trusted text, each what it lets agents do. */
void cli_trusted_lines(const struct ga_buf *text, struct ga_strv *ret);
/* Find what was trusted last (`when`, `former`), to compare with. */
int cli_find_former(struct cli *c, const struct ga_config *conf, struct cli_grants *g,
		    struct ga_error *err);
/* The text that trust is kept for (ga/config/trust.h): the content, and what it grants. */
void cli_trusted_text(const struct cli_grants *g, struct ga_buf *ret);
/* Print what it grants, with '+' and '-' before what is new and what is gone since `when`. */
void cli_show_grants(const struct cli_grants *g, FILE *f);
/* Show it on the terminal, ask, and keep the answer. 1: no. */
int cli_ask_trust(struct cli *c, const struct ga_config *conf, struct cli_grants *g,
		  struct ga_error *err);

#endif
