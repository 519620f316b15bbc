/* SPDX-License-Identifier: MIT
 *
 * What files of this folder share.
 */
#ifndef START_INTERNAL_H
#define START_INTERNAL_H

#include "ga/start/steps.h"

/* network.c: what a session can reach. Was its sandbox begun with the right network? */
bool start_has_network(const struct ga_env *e, const struct ga_start *st);
/* Add what network.allow lists, and the hosts that the agent (NULL: none) needs. */
void start_add_allowed(const struct ga_env *e, const struct ga_preset *p, struct ga_strv *ret);
/* If it was not the right one: leave a note of which network the next sandbox is to be begun with.
 */
#define START_NETWORK_NOTE "network" /* in the state directory of a repository */
void start_note_guess(const struct ga_env *e);
/* Add lines on it to st->notes. */
void start_describe_network(const struct ga_env *e, struct ga_start *st);
/* Journal the connections that are new since the last time (`*noted`). */
void start_note_network(const struct ga_session *s, const struct ga_relay *r, size_t *noted);
/* Note in the session and its journal what it reached and was refused, and close the relay. */
void start_end_network(struct ga_start *st, size_t *noted);

/* ports.c: take a range of ports that no other session of the user has, as long as `*ret_fd` is
 * open; with the host's network also none that is in use. Returns its first port; 0: there is no
 * free one. The range at `former` (0: none) if that is free, else the first free one from where
 * `any` points. */
unsigned start_take_ports(const struct ga_env *e, uint64_t former, unsigned any, int *ret_fd);

/* recover.c: save when and how the agent ended, and what was lost: a capture that is killed and
 * done again, or done by another process, goes by the file. A failure is ignored: if the disk is
 * full, capture fails itself. */
void start_save_if_possible(const struct ga_session *s);

/* banner.c: add all of it to the banner of a new session. */
void start_describe(const struct ga_env *e, const struct ga_start_opts *o,
		    const struct ga_view_base *b, struct ga_start *st);

/* limits.c: `dir` or the agents' home, if less is free there than `disk_free`; else NULL. */
const char *start_full_place(const struct ga_env *e, const char *dir);
/* session.c: fill in what is known of a new session, which has no directory yet. */
void start_fill_session(struct ga_env *e, const struct ga_start_opts *o,
			const struct ga_view_base *b, struct ga_start *st);
/* Capture will need an identity for its commits: fail now rather than after hours of work. */
int start_check_identity(struct ga_env *e, struct ga_error *err);
/* Make its directory, its layers and its parts. */
int start_make_session(struct ga_env *e, const struct ga_start_opts *o,
		       const struct ga_view_base *b, const struct ga_refs *visible,
		       struct ga_start *st, struct ga_error *err);
/* Make its branch and refs, and its worktree entry. */
int start_make_refs(struct ga_env *e, const struct ga_session *s,
		    const struct ga_refs *visible, struct ga_error *err);

#endif
