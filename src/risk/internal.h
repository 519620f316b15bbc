/* SPDX-License-Identifier: MIT
 *
 * What the files of this folder share.
 */
#ifndef GA_RISK_INTERNAL_H
#define GA_RISK_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "ga/buf.h"
#include "ga/risk.h"
#include "ga/strmap.h"

/* Is `word` one of the words of `list`, which single blanks separate? (flags.c) */
bool ga_has_word(const char *list, const char *word);

/* ---- folding (fold.c) --------------------------------------------------- */

/* Append `path` as file systems that ignore case and more would compare it: in
 * each component, code points HFS+ ignores are dropped, letters lowered, the rest
 * cut at ':' (an NTFS stream), trailing dots and spaces stripped. */
void ga_risk_fold(struct ga_buf *out, const char *path);
/* Append one code point. */
void ga_risk_put(struct ga_buf *out, uint32_t c);

/* compose.c: append `s` (folded) as all spellings of its characters have in common. */
void ga_risk_decompose(struct ga_buf *out, const char *s);
/* Is nothing in it written as letter and mark that has a code point of its own? */
bool ga_risk_composed(const char *s, size_t n);

/* confuse.c: the Latin letter that this one of another script looks like; 0: none. */
char ga_lookalike(uint32_t c);

/* ---- patterns (match.c) -------------------------------------------------- */

/* All patterns of the table, compiled for looking paths up. */
struct ga_matcher *ga_matcher_new(void);
/* Those of other rules, which are to outlive it. */
struct ga_matcher *ga_matcher_of(const struct ga_rule *rules, size_t n);
void ga_matcher_free(struct ga_matcher *m);

/* Names of files that hold secrets, compiled as well. */
struct ga_secret_names *ga_matcher_secrets(const struct ga_matcher *m);

struct ga_hit {
	const struct ga_rule *rule;
	unsigned rank; /* how specific the pattern is */
	bool whole;    /* the path is covered as it is, not only as a link above covered paths */
};
struct ga_hits {
	struct ga_hit *v;
	size_t n, cap;
	uint64_t tried; /* patterns held against paths, of all searches: what they cost */
};
#define GA_HITS_INIT { NULL, 0, 0, 0 }
void ga_hits_release(struct ga_hits *h);
#define cleanup_hits cleanup_(ga_hits_release)

/* Every rule that covers the folded path, each once. With `link`, a pattern of
 * something beneath the path counts: that is what the link stands in for. */
void ga_matcher_find(const struct ga_matcher *m, const char *folded, bool link,
		     struct ga_hits *ret);

/* ---- one change under the glass ------------------------------------------ */

struct ga_look {
	struct ga_repo *repo;
	const struct ga_host_facts *host; /* NULL: none */
	const struct ga_matcher *matcher;
	const struct ga_oid *old_tree, *new_tree;
	const struct ga_changes *changes;
	struct ga_known_facts {
		const struct ga_host_facts *h; /* the host's, and those of nested .envrc files */
		const struct ga_fact_index *index;
	} facts[2];
	size_t n_facts;
	struct ga_alias {
		char *link, *target; /* paths, owned */
	} *aliases;                  /* links of names that rules are about (alias.c) */
	size_t n_aliases, cap_aliases;

	const struct ga_change *c;
	const char *folded; /* of c->path */
	const char *base;   /* last component of `folded` */
	/* Of all changes together, each filled when it is first asked for or as they pass by. */
	struct ga_strmap names;    /* last components of changed paths */
	struct ga_strmap required; /* packages of Python that the new tree asks for ... */
	struct ga_strv required_keys; /* ... and what its keys point into */
	bool names_listed, required_listed;
	struct ga_filter_rules *filter_rules[3]; /* by the attributes of a tree each (filtered.c) */
	struct ga_sieve *sieve;    /* of the words that added lines are searched for (text.c) */
	uint64_t added_bytes;
	size_t added_lines;
	bool has_nul;       /* one of its two versions: what would be cut there lowers nothing */
	bool link_covered;  /* a high or critical path rule covers this very path */
	struct ga_pending {
		const struct ga_rule *rule;
		enum ga_severity severity;
		unsigned rank; /* 0: a predicate */
		bool host;     /* the host's own state says so: content cannot lower it */
		char *detail;  /* owned, quoted; may be NULL */
	} *v;
	size_t n, cap;
};

/* Note that a rule fires on the current change; `detail` is put behind the
 * rule's reason and taken over (may be NULL); it is already quoted. A rule fires
 * once for a change, with the highest severity. */
void ga_look_fire(struct ga_look *k, const char *rule, char *detail);
void ga_look_fire_as(struct ga_look *k, const char *rule, enum ga_severity s, char *detail);
/* Say more of a rule that fired, or make it more severe: what its file holds. Nothing happens if
 * it did not fire. `detail` is as above. */
void ga_look_say(struct ga_look *k, const char *rule, enum ga_severity s, char *detail);
/* What changed is harmless by all that is known of such files: the rules about its path (ids,
 * separated by blanks) are low, unless the host's own state is behind one. `why` says so. */
void ga_look_lower(struct ga_look *k, const char *rules, const char *why);
/* "could not be inspected", high; releases the error. */
void ga_look_uninspected(struct ga_look *k, const char *what, struct ga_error *err);
bool ga_look_fired(const struct ga_look *k, const char *rule);

/* Entry of a path; what cannot be read counts as absent and is flagged. */
struct ga_entry ga_look_entry(struct ga_look *k, const struct ga_oid *tree, const char *path);
/* The blob, at most `max` bytes: 0, 1 if longer; failure is flagged and is -1. */
int ga_look_blob(struct ga_look *k, const struct ga_entry *e, size_t max, struct ga_buf *out);

/* Drop what fired on the current change. */
void ga_look_forget(struct ga_look *k);

/* alias.c: find links, of the old tree and the new one, that give files other paths. */
void ga_look_aliases(struct ga_look *k);
void ga_look_aliases_release(struct ga_look *k);

void ga_look_names(struct ga_look *k);      /* names.c */
void ga_look_link(struct ga_look *k);       /* links.c */
void ga_look_link_gone(struct ga_look *k);  /* links.c */
void ga_look_repository(struct ga_look *k); /* links.c: embedded-bare-repo */
void ga_look_content(struct ga_look *k);    /* content.c */
void ga_look_shadow(struct ga_look *k);     /* shadow.c */
void ga_look_filtered(struct ga_look *k);   /* filtered.c: filter-not-run */
void ga_look_filtered_release(struct ga_look *k);
/* Fill `filters`, `attributes` and `info_attributes`; those of `inside` (NULL: none) run inside. */
int ga_filters_gather(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_strv *inside,
		      struct ga_host_facts *h, struct ga_error *err);
/* leak.c: of the two versions of a file */
void ga_look_leaks(struct ga_look *k, const struct ga_buf *old, const struct ga_buf *text);
/* configured.c: what is configured of the path; does it take this rule's flag away? */
struct ga_configured *ga_configured_new(const struct ga_risk_paths *p); /* NULL: nothing is */
void ga_configured_free(struct ga_configured *x);
void ga_look_configured(struct ga_look *k);
bool ga_look_is_allowed(const struct ga_look *k, const struct ga_rule *rule);
bool ga_flag_is_configured_hold(const struct ga_flag *f);
/* collide.c: names that are one name on some systems, over the whole new tree at once. */
void ga_find_collisions(struct ga_look *k, struct ga_flags *ret);
void ga_find_whole(struct ga_look *k, struct ga_flags *ret); /* whole.c */

/* Append a flag; `reason` is taken over. */
void ga_flags_add(struct ga_flags *f, const struct ga_rule *rule, enum ga_severity s,
		  const char *path, const struct ga_entry *e, char *reason);

/* ---- host facts (host*.c) ------------------------------------------------ */

/* One that is there is not added again (facts.c). */
void ga_host_facts_add(struct ga_host_facts *h, const char *path, bool dir, const char *rule,
		       char *reason);
bool ga_host_facts_have(const struct ga_host_facts *h, const char *path, bool dir,
			const char *rule);
/* Facts by folded path. One index is of one list, as long as nothing is added to it. */
struct ga_fact_index *ga_fact_index_new(const struct ga_host_facts *h);
void ga_fact_index_free(struct ga_fact_index *x);
/* Call `fn` for every fact that is about a path. */
typedef void ga_fact_fn(void *arg, const struct ga_host_fact *f);
void ga_facts_on(const struct ga_host_facts *h, const struct ga_fact_index *x, const char *folded,
		 bool removed, ga_fact_fn *fn, void *arg);
/* What raises this rule; NULL: nothing does. */
const char *ga_fact_raised_by(const struct ga_host_facts *h, const struct ga_fact_index *x,
			      const char *rule);
/* What the host's .envrc files load again by themselves: those in the directories above
 * changed paths, the root left out; what cannot be read or is too long stands for its
 * whole directory. */
int ga_nested_envrc_facts(struct ga_repo *r, const struct ga_changes *changes,
			  struct ga_host_facts *h, struct ga_error *err);
/* The rules whose files a build or package tool reads, separated by spaces; NULL:
 * `word` names no such tool. */
const char *ga_tool_rules(const char *word);
/* Does `word` run tests, so that test code runs too? `next`: the word behind it. */
bool ga_tool_runs_tests(const char *word, const char *next);

#endif
