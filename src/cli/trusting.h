/* SPDX-License-Identifier: MIT
 *
 * Trust in a repository's settings, for people.
 */
#ifndef TRUSTING_H
#define TRUSTING_H

#include "cli.h"
#include "ga/trust.h"

/* The repository's file at a commit, what in it needs trust, and what the user has said of it. */
struct cli_grants {
	bool there;              /* is there such a file? */
	bool trusted;            /* this very content and all it grants; or that is nothing */
	struct ga_oid commit;
	struct ga_buf text;
	struct ga_grants grants; /* of it */
	uint64_t when;           /* another content was trusted last; 0: none was */
	struct ga_grants former; /* of that one */
};
#define CLI_GRANTS_INIT { .text = GA_BUF_INIT, .grants = GA_GRANTS_INIT, .former = GA_GRANTS_INIT }
void cli_grants_release(struct cli_grants *g);

/* Look at it, over the settings `conf`. */
int cli_find_grants(struct cli *c, const struct ga_oid *commit, const struct ga_config *conf,
		    struct cli_grants *ret, struct ga_error *err);
/* What was trusted last, to compare with. */
int cli_find_former(struct cli *c, const struct ga_config *conf, struct cli_grants *g,
		    struct ga_error *err);
/* What is kept of it where it is trusted (ga/trust.h). */
void cli_trusted_text(const struct cli_grants *g, struct ga_buf *ret);
/* Say what it grants, with '+' and '-' before what is new and what is gone since it was trusted. */
void cli_show_grants(const struct cli_grants *g, FILE *f);
/* Show it on the terminal, ask, and keep the answer. 1: no. */
int cli_ask_trust(struct cli *c, const struct ga_config *conf, struct cli_grants *g,
		  struct ga_error *err);
/* That it is not, and what to do. */
int cli_fail_untrusted(struct cli *c, const struct cli_grants *g, struct ga_error *err);

#endif
