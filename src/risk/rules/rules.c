/* SPDX-License-Identifier: MIT */
#include "ga/base/quote.h"

#include <stdlib.h>
#include <string.h>

#include "ga/secret/secret.h"
#include "risk/internal.h"

enum { EDITOR = 1, ON_DELETE = 2 };

#define RULE(id, category, severity, marks, patterns, reason)                       \
	{ id, category, GA_##severity, ((marks) & EDITOR) != 0, ((marks) & ON_DELETE) != 0, \
	  patterns, reason },

static const struct ga_rule rules[] = {
#include "rules-git.def"
#include "rules-env.def"
#include "rules-build.def"
#include "rules-package.def"
#include "rules-service.def"
#include "rules-tool.def"
#include "rules-file.def"
#include "rules-content.def"
};

#undef RULE

const struct ga_rule *ga_rules(size_t *ret_n)
{
	*ret_n = GA_NELEMS(rules);
	return rules;
}

struct ga_matcher *ga_rules_matcher(void)
{
	struct ga_matcher *m = ga_matcher_new();

	for (size_t i = 0; i < GA_NELEMS(rules); i++)
		ga_matcher_add(m, rules[i].patterns, &rules[i]);
	return m;
}

const struct ga_rule *ga_rule_find(const char *id)
{
	for (size_t i = 0; i < GA_NELEMS(rules); i++)
		if (!strcmp(rules[i].id, id))
			return &rules[i];
	return NULL;
}

const char *ga_rule_when(const char *category, enum ga_severity s)
{
	static const struct {
		const char *category, *when;
	} rows[] = {
		{ "git-hook", "when a hook of git's runs" },
		{ "git-config", "by the next git command" },
		{ "shell-env", "when the directory is entered" },
		{ "editor", "when an editor opens the folder" },
		{ "agent-config", "when a coding agent starts there" },
		{ "build", "when it is built, or the tool is called" },
		{ "package-manager", "when it is installed" },
		{ "language-autoload", "when the interpreter, or the tests, start there" },
		{ "ci", "when it is pushed" },
		{ "container", "when the container is built or started" },
		{ "secrets", "once it is pushed" },
		{ "filename", "when a program is given the name" },
		{ "file-type", "when it is opened, or started" },
		{ "configured", "as your settings say" },
	};

	for (size_t i = 0; i < GA_NELEMS(rows); i++)
		if (!strcmp(rows[i].category, category))
			return s == GA_CRITICAL && !strcmp(category, "build") ?
				       "by the next git command, on this host" : rows[i].when;
	return "when the code runs";
}

void ga_flags_add_rule(struct ga_flags *f, const char *id, enum ga_severity s, const char *path,
		       const struct ga_entry *e, const char *detail)
{
	const struct ga_rule *rule = ga_rule_find(id);

	if (!rule)
		GA_BUG("a rule that is not in the table");
	ga_flags_add(f, rule, s, path, e,
		     ga_strf("%s%s%s", rule->reason, detail ? ": " : "", detail ? detail : ""));
}

void ga_flags_found(struct ga_flags *f, const char *id, const char *path, const struct ga_entry *e,
		    char *detail)
{
	ga_flags_add_rule(f, id, ga_rule_find(id)->severity, path, e, detail);
	free(detail);
}

bool ga_flags_have(const struct ga_flags *f, const char *rule, const char *path)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].rule, rule) && !strcmp(f->v[i].path, path))
			return true;
	return false;
}

char *ga_flag_text(const struct ga_flag *f)
{
	cleanup_free char *q = ga_quote(f->path);

	return ga_strf("%s: %s: %s [%s]", q, ga_severity_name(f->severity), f->reason, f->rule);
}

const char *ga_severity_name(enum ga_severity s)
{
	static const char *const names[] = { "low", "medium", "high", "critical" };

	return (size_t)s < GA_NELEMS(names) ? names[s] : "critical";
}

enum { QUOTED_MAX = 100 }; /* bytes of content in a reason */

void ga_risk_quote_start(struct ga_buf *out, const char *s)
{
	cleanup_free char *shown = ga_strdup(s);
	size_t n;

	/* before it is cut: no part of a secret is shown either */
	ga_secret_blot(shown);
	n = strlen(shown);
	ga_quote_add(out, shown, n > QUOTED_MAX ? QUOTED_MAX : n);
	if (n > QUOTED_MAX)
		ga_buf_adds(out, "...");
}

void ga_flag_release(struct ga_flag *f)
{
	free(f->path);
	free(f->reason);
	ga_strv_release(&f->also);
}

void ga_flags_release(struct ga_flags *f)
{
	for (size_t i = 0; i < f->n; i++)
		ga_flag_release(&f->v[i]);
	free(f->v);
	*f = (struct ga_flags)GA_FLAGS_INIT;
}

void ga_flags_add(struct ga_flags *f, const struct ga_rule *rule, enum ga_severity s,
		  const char *path, const struct ga_entry *e, char *reason)
{
	GA_GROW(f->v, f->n, f->cap);
	if (strcmp(reason, rule->reason) != 0)
		ga_secret_blot(reason);
	f->v[f->n++] = (struct ga_flag){
		.rule = rule->id,
		.category = rule->category,
		.severity = s,
		.path = ga_strdup(path),
		.reason = reason,
		.entry = *e,
	};
}

static int compare(const void *a, const void *b)
{
	const struct ga_flag *x = a, *y = b;
	int c;

	if (x->severity != y->severity)
		return x->severity > y->severity ? -1 : 1;
	c = strcmp(x->path, y->path);
	return c ? c : strcmp(x->rule, y->rule);
}

void ga_flags_sort(struct ga_flags *f)
{
	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), compare);
}
