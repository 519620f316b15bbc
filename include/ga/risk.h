/* SPDX-License-Identifier: MIT
 *
 * Flags: rules that fire on changed paths. The table of rules is data
 * (design/RISKS.md); what the host itself makes critical is passed in as a value.
 */
#ifndef GA_RISK_H
#define GA_RISK_H

#include <stdbool.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/strv.h"

enum ga_severity { GA_LOW, GA_MEDIUM, GA_HIGH, GA_CRITICAL };
const char *ga_severity_name(enum ga_severity s);

struct ga_rule {
	const char *id;
	const char *category;
	enum ga_severity severity;
	bool editor;           /* "+E": an editor runs it in a trusted workspace */
	const char *patterns;  /* gitignore-style, separated by ", ", braces expanded; NULL: a predicate */
	const char *reason;
};
const struct ga_rule *ga_rules(size_t *ret_n);

struct ga_flag {
	const char *rule;      /* id; static, or owned by the host facts */
	const char *category;
	enum ga_severity severity;
	char *path;            /* owned */
	char *reason;          /* owned; quoted, one line */
	struct ga_entry entry; /* what it is about: the verdict binds to it */
};
struct ga_flags {
	struct ga_flag *v;
	size_t n, cap;
};
#define GA_FLAGS_INIT { NULL, 0, 0 }
void ga_flags_release(struct ga_flags *f);
#define cleanup_flags cleanup_(ga_flags_release)

/* What the host's own state makes critical (RISKS 5.2, DESIGN 8): gathered from the host side only. */
struct ga_host_facts {
	struct ga_strv paths;     /* tracked paths a hook, driver or config token reaches: exact */
	struct ga_strv dirs;      /* directories (core.hooksPath and what it resolves through) */
	struct ga_strv reasons;   /* parallel to paths, then dirs: why */
	struct ga_strv drivers;   /* "filter:NAME", "diff:NAME", "merge:NAME" defined in host config */
	struct ga_strv raised;    /* rule ids a host hook's tools raise to critical */
};
#define GA_HOST_FACTS_INIT { 0 }
void ga_host_facts_release(struct ga_host_facts *h);
int ga_host_facts_gather(struct ga_repo *r, const struct ga_gitconfig *c, struct ga_host_facts *ret,
			 struct ga_error *err);

/* Classify the changes from `old_tree` to `new_tree`: every rule on every changed path,
 * content read through the repository, bounded. What cannot be inspected is
 * flagged high "could not be inspected". Sorted: severity down, then path. */
int ga_classify(struct ga_repo *r, const struct ga_host_facts *h, const struct ga_oid *old_tree,
		const struct ga_oid *new_tree, const struct ga_changes *changes, struct ga_flags *ret,
		struct ga_error *err);

/* Path rules only, for paths that are not in a tree (what was left behind). */
void ga_classify_path(const struct ga_host_facts *h, const char *path, struct ga_flags *ret);

/* Does this flag keep its path off the branch? (critical) */
bool ga_flag_holds(const struct ga_flag *f);

#endif
