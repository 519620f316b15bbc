/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of this folder.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/strmap.h"
#include "ga/names/names.h"
#include "ga/risk/risk.h"

/* Append the beginning of `s`, quoted, with "..." if there is more. (fire.c) */
void ga_risk_quote_start(struct ga_buf *out, const char *s);

/* ---- inspecting one change (fire.c) ---------------------------------------- */

struct ga_inspect {
	struct ga_repo *repo;
	const struct ga_host_facts *host; /* NULL: none */
	const struct ga_matcher *matcher;
	struct ga_matcher *own;          /* `matcher` if the host's facts have none, or NULL */
	struct ga_secret_names *secrets; /* by ga_inspect_secret_names() */
	const struct ga_oid *old_tree, *new_tree;
	const struct ga_changes *changes;
	struct ga_known_facts {
		const struct ga_reach *h; /* the host's, and that of nested .envrc files */
		const struct ga_fact_index *index;
		struct ga_fact_index *own; /* `index` if it was made for this, or NULL */
	} facts[2];
	size_t n_facts;
	struct ga_aliases {
		struct ga_alias {
			char *link, *target;  /* paths, owned */
		} *v;
		size_t n, cap;
		struct ga_strmap targets; /* target -> index in `v` */
	} aliases;                        /* links whose names rules cover (links.c) */

	const struct ga_change *c;
	const char *folded; /* of c->path */
	const char *base;   /* last component of `folded` */
	/* About all changes together: filled when first needed, or counted as changes are looked
	 * at. */
	struct ga_required {
		struct ga_strmap map;  /* Python packages that the new tree requires ... */
		struct ga_strv names;  /* ... and their names, which its keys point into */
		bool listed;
	} required;
	struct ga_filter_rules *filter_rules[3]; /* one for each tree's attributes (filtered.c) */
	struct ga_deps_lock *lock; /* deps.c */
	struct ga_sieve *sieve;    /* for words that are searched for in added lines (dangers.c) */
	size_t configs;            /* texts that git has parsed (known-git.c) */
	struct {
		uint64_t bytes;
		size_t lines;
	} added;
	/* About the current change again. */
	bool has_nul;       /* a version has a NUL, where readers might stop: never lower a rule */
	bool link_covered;  /* a high or critical path rule covers this very path */
	struct ga_pending {
		const struct ga_rule *rule;
		enum ga_severity severity;
		unsigned rank; /* of the pattern that fired; 0: a predicate, no path rule */
		bool host;     /* due to the host's own state: content cannot lower it */
		char *detail;  /* owned, quoted; may be NULL */
	} *v;
	size_t n, cap;
};

/* Is the path removed? One with neither version is only a name (ga_classify_path()), and not. */
bool ga_is_removal(const struct ga_inspect *k);
/* Fire a rule on the current change. `detail` (quoted, taken over; may be NULL) is put after the
 * rule's reason. A rule fires once for a change, with the highest severity. */
struct ga_pending *ga_fire_rule(struct ga_inspect *k, const char *rule, char *detail);
struct ga_pending *ga_fire_rule_as(struct ga_inspect *k, const char *rule, enum ga_severity s,
				   char *detail);
/* Add a detail about the content to a rule that fired, and raise it to `s`. Does nothing if the
 * rule did not fire. `detail` is as above. */
void ga_add_detail(struct ga_inspect *k, const char *rule, enum ga_severity s, char *detail);
/* The change is harmless, as `why` says: lower the path rules (ids separated by blanks) that fired
 * to low, and with `host` also those due to the host's state. */
void ga_lower_rules(struct ga_inspect *k, const char *rules, bool host, const char *why);
/* The changed part is not executed: lower the path rules that fired to `s`, except those due to the
 * host's state. */
void ga_cap_rules(struct ga_inspect *k, const char *rules, enum ga_severity s);
/* Fire "uninspected" about `what`; releases the error, if there is one. */
void ga_fire_uninspected(struct ga_inspect *k, const char *what, struct ga_error *err);
/* Fire the rule of a reached path. `detail` (quoted) is taken over. */
void ga_fire_reached(struct ga_inspect *k, const struct ga_reached *f, char *detail);
/* Fire the rules of what the host reaches by this path. */
void ga_fire_facts(struct ga_inspect *k);
/* Does the new version begin like a script, as far as it can be read? */
bool ga_begins_like_script(struct ga_inspect *k);
/* Did any of the rules (ids separated by blanks) fire? */
bool ga_has_fired(const struct ga_inspect *k, const char *rules);

/* The patterns for names of files that hold secrets. */
struct ga_secret_names *ga_inspect_secret_names(struct ga_inspect *k);
/* Entry of a path; what cannot be read counts as absent and is flagged. */
struct ga_entry ga_inspect_entry(struct ga_inspect *k, const struct ga_oid *tree, const char *path);
/* The blob, at most `max` bytes: 0, 1 if longer; failure is flagged and is -1. */
int ga_inspect_blob(struct ga_inspect *k, const struct ga_entry *e, size_t max, struct ga_buf *out);

void ga_sieve_free(struct ga_sieve *s); /* dangers.c */
void ga_deps_lock_free(struct ga_deps_lock *l); /* deps.c */
/* Drop the fired rules of the current change. */
void ga_drop_fired(struct ga_inspect *k);

/* links.c: find links in the old tree, and changed ones, that give files other paths. */
void ga_find_aliases(struct ga_inspect *k);
void ga_aliases_release(struct ga_aliases *a);

/* Inspect names, symlinks, directories that are repositories, content, and modules that shadow
 * others. */
void ga_inspect_names(struct ga_inspect *k);
void ga_inspect_link(struct ga_inspect *k);
void ga_inspect_removed_link(struct ga_inspect *k);
void ga_inspect_repository(struct ga_inspect *k);
void ga_inspect_content(struct ga_inspect *k);
void ga_inspect_shadowing(struct ga_inspect *k);
/* filtered.c: of the new version of a file */
void ga_inspect_filters(struct ga_inspect *k, const struct ga_buf *text);
void ga_filter_rules_release(struct ga_inspect *k);
/* Fill `filters`, `smudges`, `attributes` and `info_attributes`; filters in `inside` (NULL: none),
 * which run inside, are left out. */
int ga_filters_gather(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_strv *inside,
		      struct ga_host_facts *h, struct ga_error *err);
/* host.c: the configured paths; NULL: none. */
struct ga_configured *ga_configured_new(const struct ga_risk_paths *p);
void ga_fire_configured(struct ga_inspect *k);
/* Is the path configured to have no flag of this rule? */
bool ga_is_rule_allowed(const struct ga_inspect *k, const struct ga_rule *rule);
/* names.c: find new names that some file systems take for others in the new tree. */
void ga_find_collisions(struct ga_inspect *k, struct ga_flags *ret);

/* All patterns of the table, compiled for looking paths up. */
struct ga_matcher *ga_rules_matcher(void);
/* Append a flag of the rule's own severity; `detail` (quoted, may be NULL) is taken over. */
void ga_flags_found(struct ga_flags *f, const char *rule, const char *path,
		    const struct ga_entry *e, char *detail);
/* Append a flag; `reason` is taken over. */
void ga_flags_add(struct ga_flags *f, const struct ga_rule *rule, enum ga_severity s,
		  const char *path, const struct ga_entry *e, char *reason);

/* An index of what the host reaches, by folded path. It is no longer valid once something is added.
 */
struct ga_fact_index *ga_fact_index_new(const struct ga_reach *h);
void ga_fact_index_free(struct ga_fact_index *x);
