/* SPDX-License-Identifier: MIT
 *
 * Flags: rules that fire on changed paths. The table of rules is data (docs/flags.md); what the
 * state of the host makes critical is passed in as a value.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "ga/base/error.h"
#include "ga/base/leftovers.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/reach/reach.h"
#include "ga/repo/repo.h"

enum ga_severity { GA_LOW, GA_MEDIUM, GA_HIGH, GA_CRITICAL };
const char *ga_severity_name(enum ga_severity s);

struct ga_rule {
	const char *id;
	const char *category;
	enum ga_severity severity;
	bool editor;           /* "+E": an editor runs it in a trusted workspace */
	bool on_delete;        /* fires on removal of a guard, too: high unless it is low */
	/* Gitignore-style, separated by ", ", with {a,b} for alternatives; NULL: the rule is a
	 * predicate in code only. Patterns cover files, never directories; without a leading '/'
	 * they match at any depth. They are matched against folded names. */
	const char *patterns;
	const char *reason;
};
/* The table of rules, of `*ret_n` rows. */
const struct ga_rule *ga_rules(size_t *ret_n);
const struct ga_rule *ga_rule_find(const char *id); /* NULL: no such rule */
/* When a flagged change of this category takes effect: "when it is built". `category`: a rule's. */
const char *ga_rule_when(const char *category, enum ga_severity s);

enum ga_verdict { GA_VERDICT_OPEN, GA_VERDICT_ACCEPTED, GA_VERDICT_REJECTED };

struct ga_flag {
	char *rule, *category, *path; /* the first is an id */
	char *reason;            /* quoted, one line */
	enum ga_severity severity;
	struct ga_entry entry;   /* what the flag is about */
	struct ga_strv also;     /* ids of other path rules that fired on the name: they get no
				  * flag of their own */
	/* Set in a report (ga/review/review.h): */
	bool held;
	bool left;               /* about the name of a leftover: shown with its severity, counted
				  * nowhere, and has no verdict */
	bool landing;            /* found only by a landing, in the tree it would have put on the
				  * user's branch */
	enum ga_verdict verdict; /* bound to (path, entry) */
};
struct ga_flags {
	struct ga_flag *v;
	size_t n, cap;
};
#define GA_FLAGS_INIT { NULL, 0, 0 }
void ga_flag_release(struct ga_flag *f); /* release what one flag owns */
void ga_flags_release(struct ga_flags *f);
#define cleanup_flags cleanup_(ga_flags_release)
/* Append a copy of a flag, which may be one of them. */
void ga_flags_copy(struct ga_flags *f, const struct ga_flag *flag);
/* Compare two flags by path, rule and entry, which a verdict binds to: 0 if they are the same. */
int ga_flag_compare(const void *a, const void *b);
/* Sort by descending severity, then as ga_flag_compare() does. */
void ga_flags_sort(struct ga_flags *f);
/* In sorted flags, the one that ga_flag_compare() calls the same, of any severity; NULL: none. */
struct ga_flag *ga_flags_find(const struct ga_flags *f, const struct ga_flag *like);
/* Is there a flag of this rule on this path? */
bool ga_flags_have(const struct ga_flags *f, const char *rule, const char *path);
/* "path: high: reason [rule]", quoted; the caller frees it. */
char *ga_flag_text(const struct ga_flag *f);

/* Path settings of the user (agentdev.yaml(5), `risk`). Patterns, which ga_pattern_ok() accepts,
 * cover files and symlinks, and "DIR/" what is beneath DIR; without a leading '/' they match at any
 * depth. Except for `allow`, they are matched against folded names, and a symlink is also covered
 * by patterns for what is beneath it, as with rules. */
struct ga_risk_paths {
	struct ga_strv add;   /* any change is flagged high */
	struct ga_strv allow; /* none is flagged, except for what is critical, what the state of the
			       * host says of a path, `hold` and `block`, and what is about several
			       * paths */
	struct ga_strv hold;  /* flagged high and held until it is accepted */
	struct ga_strv block; /* flagged critical and held, and cannot be accepted
			       * (ga/land/land.h) */
	bool strict;          /* what builds, installations and tests execute is held, too */
	struct ga_strv filters; /* no paths, but the names of git filters that run inside, so that
				 * what they are to convert is converted (agentdev.yaml(5),
				 * `filters`) */
};
#define GA_RISK_PATHS_INIT { .add = GA_STRV_INIT }
void ga_risk_paths_release(struct ga_risk_paths *p);
#define cleanup_risk_paths cleanup_(ga_risk_paths_release)
/* Does `block` cover this path? `link`: it is a symlink or a submodule. */
bool ga_risk_blocks(const struct ga_risk_paths *p, const char *path, bool link);

struct ga_configured;
struct ga_matcher;
struct ga_fact_index;
struct ga_secret_names;

/* What the host's state makes critical; gathered on the host only. */
struct ga_host_facts {
	struct ga_reach reach;    /* what the host executes */
	struct ga_strv drivers;   /* "filter:NAME", "diff:NAME", "merge:NAME" of host config */
	bool guard;               /* agent.guard is set: high paths are held too */
	bool strict;              /* flags.strict is set: so is what builds and tests execute */
	/* Names of the filters that do not run inside (all except LFS's and those of `filters`), by
	 * whether they convert what is added, or have a command for what is checked out; and the
	 * content of core.attributesFile and info/attributes. */
	struct ga_strv filters, smudges;
	char *attributes, *info_attributes;
	/* Not gathered: a tree whose attributes apply to every change in addition to those of its
	 * own two trees, so that no commit in between can disable them. Zero: none. */
	struct ga_oid attributes_tree;
	char *attributes_dir;     /* its working tree: attributes files there that the tree lacks
				   * apply as well; or NULL */
	char *lfs_store;          /* directory of LFS objects; NULL: unknown */
	/* Made by ga_host_facts_gather() when the facts are complete; each may be NULL. */
	struct ga_matcher *matcher;   /* of the rules */
	struct ga_secret_names *secrets; /* of names of secrets */
	struct ga_fact_index *index;  /* of the facts */
	struct ga_configured *configured; /* of what is configured */
};
#define GA_HOST_FACTS_INIT { .reach = GA_REACH_INIT }
void ga_host_facts_release(struct ga_host_facts *h);
#define cleanup_host_facts cleanup_(ga_host_facts_release)

/* Gather the facts: what the host executes (ga/reach/reach.h), its drivers and filters, as `c`
 * says. For a submodule, what its superproject's hooks and configuration reach in it counts as
 * well. `paths` (NULL: nothing is configured) is copied; it applies to this repository only. */
int ga_host_facts_gather(struct ga_repo *r, const struct ga_gitconfig *c,
			 const struct ga_risk_paths *paths, struct ga_host_facts *ret,
			 struct ga_error *err);

/* Classify the changes from `old_tree` to `new_tree` (either may be NULL: the empty tree): every
 * rule on every changed path, with content read through the repository, at most 10 MiB of a blob.
 * What cannot be inspected is flagged high, "could not be inspected", and is no error. Of the path
 * rules that fire on one path, the most severe and specific makes the flag, which lists the others.
 * `h` may be NULL. Appends to `ret`, which is then sorted as a whole: severity down, then path. */
int ga_classify(struct ga_repo *r, const struct ga_host_facts *h, const struct ga_oid *old_tree,
		const struct ga_oid *new_tree, const struct ga_changes *changes,
		struct ga_flags *ret, struct ga_error *err);

/* The same by path rules and host facts only, for paths that are not in a tree (leftovers);
 * the flags' entries have mode GA_MODE_NONE. Path rules are about files and symlinks: for
 * a directory (`dir`) only its name and host facts count. `h` may be NULL; without a matcher, rules
 * are compiled again on each call. Appends, unsorted. */
void ga_classify_path(const struct ga_host_facts *h, const char *path, bool dir,
		      struct ga_flags *ret);

/* Flags for what capture left in the session because it is ignored or special. `severe`: path rules
 * raised a flag for which ga_flag_is_severe_in_place() is true. */
void ga_classify_place(const char *path, enum ga_leftover_kind kind, bool severe,
		       struct ga_flags *ret);
/* Does the flag say that the file may be loaded or run from its present path? */
bool ga_flag_is_severe_in_place(const struct ga_flag *f);

/* Add a flag of a rule for the caller's own finding; `detail` (quoted, may be NULL) is copied. */
void ga_flags_add_rule(struct ga_flags *f, const char *rule, enum ga_severity s, const char *path,
		       const struct ga_entry *e, const char *detail);

/* The command that installs from a lock file of that name; NULL if it is not a lock file, or if its
 * tools install automatically. */
const char *ga_risk_install(const char *path);
/* The directory that such commands install into, by its name, which is `path` or above it; NULL if
 * there is none. The caller frees it. */
char *ga_risk_installed(const char *path);

/* Does this flag keep its path off the branch? Critical ones do, those of `hold`, and high ones if
 * the guard is on. `h` may be NULL. */
bool ga_flag_holds(const struct ga_host_facts *h, const struct ga_flag *f);
