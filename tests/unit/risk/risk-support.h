/* SPDX-License-Identifier: MIT
 *
 * For tests of rules: a change as a value, and what is found in it.
 */
#pragma once

#include "../repo-support.h"

#include "risk/internal.h"
#include "ga/repo/objects.h"
#include "ga/risk/risk.h"

static inline bool has_rule(const struct ga_flags *f, const char *rule)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].rule, rule))
			return true;
	return false;
}

static inline const struct ga_flag *flag_of(const struct ga_flags *f, const char *path, const char *rule)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].rule, rule) && !strcmp(f->v[i].path, path))
			return &f->v[i];
	return NULL;
}

/* That the host reaches something, by any git command. */
static inline void reached(struct ga_host_facts *h, enum ga_reach_what what, const char *rule, const char *text,
			   const char *why)
{
	ga_reach_add(&h->reach, what, GA_REACH_GIT, rule, text, why);
}

/* A side of a change, and what stands around it on both sides. */
struct side {
	uint32_t mode;
	const char *text; /* of a gitlink: nothing; with ' for " if it begins as JSON or XML */
};
#define NONE { GA_MODE_NONE, NULL }
#define FILE_(t) { GA_MODE_FILE, t }
#define EXEC_(t) { GA_MODE_EXEC, t }
#define LINK_(t) { GA_MODE_LINK, t }
#define MODULE_ { GA_MODE_GITLINK, NULL }

/* 6000 bytes without a blank. */
#define A10 "abcdefghij"
#define A100 A10 A10 A10 A10 A10 A10 A10 A10 A10 A10
#define A1000 A100 A100 A100 A100 A100 A100 A100 A100 A100 A100
#define LONG_LINE A1000 A1000 A1000 A1000 A1000 A1000 "\n"

struct change_fixture {
	const char *rule, *path;
	bool fires;
	struct side old, new;
	const char *around; /* "path", "path>target" or "path=text", separated by blanks */
};

static struct ga_repo *repo;

static inline struct ga_entry entry_of(const struct side *s)
{
	struct ga_entry e = { s->mode, { { 0 } } };

	if (s->mode == GA_MODE_GITLINK) {
		memset(e.oid.id, 0x11, sizeof(e.oid.id));
	} else if (s->mode != GA_MODE_NONE) {
		cleanup_free char *text = ga_strdup(s->text);

		for (char *p = strchr("{<", *text) ? text : NULL; p && (p = strchr(p, '\'')) != NULL;)
			*p = '"';
		OK(ga_blob_write(repo, text, strlen(text), &e.oid, &err));
	}
	return e;
}

static inline void add_around(struct ga_changes *c, const char *around)
{
	cleanup_free char *copy = ga_strdup(around ? around : "");
	const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };
	char *save = NULL;

	for (char *p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save)) {
		char *target = strchr(p, '='), *link = target ? NULL : strchr(p, '>');
		struct side s = { link ? GA_MODE_LINK : GA_MODE_FILE, link ? link + 1 : target ? target + 1 : "x\n" };
		struct ga_entry e = entry_of(&s);

		if (link || target)
			*(link ? link : target) = '\0';
		ga_changes_add(c, p, &none, &e);
	}
}

static inline struct ga_oid tree_of(const struct ga_changes *c)
{
	struct ga_oid oid;

	OK(ga_tree_apply(repo, NULL, NULL, c, &oid, &err));
	return oid;
}

static inline void classify_change(const struct change_fixture *x, const struct ga_host_facts *h, struct ga_flags *ret)
{
	struct ga_changes old = GA_CHANGES_INIT, new = GA_CHANGES_INIT, diff = GA_CHANGES_INIT;
	const struct ga_entry none = { GA_MODE_NONE, { { 0 } } };
	struct ga_entry a = entry_of(&x->old), b = entry_of(&x->new);
	struct ga_oid old_tree, new_tree;

	add_around(&old, x->around);
	add_around(&new, x->around);
	if (a.mode)
		ga_changes_add(&old, x->path, &none, &a);
	if (b.mode)
		ga_changes_add(&new, x->path, &none, &b);
	ga_changes_sort(&old);
	ga_changes_sort(&new);
	old_tree = tree_of(&old);
	new_tree = tree_of(&new);
	OK(ga_tree_diff(repo, &old_tree, &new_tree, &diff, &err) ||
	    ga_classify(repo, h, &old_tree, &new_tree, &diff, ret, &err));
	ga_changes_release(&old);
	ga_changes_release(&new);
	ga_changes_release(&diff);
}

static inline int setup(void **state)
{
	struct ga_error err = GA_ERROR_INIT;
	cleanup_free char *path = NULL;

	if (scratch_setup(state))
		return -1;
	SH("repo", "git init -q . && git commit -q --allow-empty -m start");
	path = in_scratch("repo");
	return ga_repo_open(path, &repo, &err);
}

static inline int teardown(void **state)
{
	ga_repo_free(repo);
	return scratch_teardown(state);
}

/* Rows of a table: the sides of the change, and what else is in both trees, if there is anything. */
#define ADDED(t) NONE, FILE_(t)
#define POS(rule, path, ...) { rule, path, .fires = true, __VA_ARGS__ }
#define NEG(rule, path, ...) { rule, path, .fires = false, __VA_ARGS__ }
