/* SPDX-License-Identifier: MIT
 *
 * Histories that are rewritten, by rules of the tests' own: critical is what lies beneath "crit",
 * "hook", and a "note" that begins to be evil. What the real ones say is tested elsewhere.
 */
#pragma once

#include "../objects-support.h"

#include "ga/capture/rewrite.h"

#define REWRITE(name) cleanup_(ga_rewrite_release) struct ga_rewrite name = GA_REWRITE_INIT

static const struct ga_host_facts facts = GA_HOST_FACTS_INIT;

static inline void add_flag(struct ga_flags *l, const char *rule, enum ga_severity s, const struct ga_change *c)
{
	GA_GROW(l->v, l->n, l->cap);
	l->v[l->n++] = (struct ga_flag){ .rule = ga_strdup(rule), .category = ga_strdup("test"), .severity = s,
					 .path = ga_strdup(c->path), .reason = ga_strdup("so"),
					 .entry = c->new };
}

/* Does a file begin with "evil"? */
static inline bool is_evil(struct ga_repo *r, const struct ga_entry *e)
{
	ERR(err);
	BUF(b);

	return e->mode && !ga_blob_read(r, &e->oid, 100, &b, &err) && !strncmp(b.ptr, "evil", 4);
}

/* Takes the place of the real one: see ga/risk/risk.h. */
int ga_classify(struct ga_repo *r, const struct ga_host_facts *h, const struct ga_oid *old_tree,
		const struct ga_oid *new_tree, const struct ga_changes *changes,
		struct ga_flags *ret, struct ga_error *err)
{
	struct ga_change const *c;
	struct ga_entry e;

	assert_ptr_equal(h, &facts);
	for (size_t i = 0; i < changes->n; i++) {
		c = &changes->v[i];
		/* both trees can be read, and say what the change says */
		if (old_tree && ga_tree_entry(r, old_tree, c->path, &e, err))
			return -1;
		if (ga_tree_entry(r, new_tree, c->path, &e, err))
			return -1;
		assert_true(!c->new.mode || ga_entry_equal(&e, &c->new));
		add_flag(ret, "changed", GA_LOW, c);
		if (!strcmp(c->path, "graded"))
			add_flag(ret, "graded", is_evil(r, &c->new) ? GA_CRITICAL : GA_LOW, c);
		if (!strncmp(c->path, "crit/", 5) || !strcmp(c->path, "crit") || !strcmp(c->path, "hook") ||
		    (!strcmp(c->path, "note") && is_evil(r, &c->new) && !is_evil(r, &c->old)))
			add_flag(ret, "critical", GA_CRITICAL, c);
	}
	return 0;
}

bool ga_flag_holds(const struct ga_host_facts *h, const struct ga_flag *f)
{
	(void)h;
	return f->severity == GA_CRITICAL;
}

#define COMMITTER "C O Mitter <c@example.com> 1700000000 +0000"

static inline struct ga_oid rev(const char *dir, const char *name)
{
	return OID(dir, "git rev-parse --verify -q '%s'", name);
}

/* From `base` to `tip`, revisions of the repository `dir`. */
static inline struct ga_rewrite run(const char *dir, const char *base, const char *tip, const struct ga_strv *always)
{
	cleanup_repo struct ga_repo *r = open_repo(dir);
	struct ga_rewrite w = GA_REWRITE_INIT;
	struct ga_oid b = rev(dir, base), t = rev(dir, tip);
	struct ga_rewrite_opts opts = { .base = &b, .tip = &t, .facts = &facts,
					.hold_always = always, .committer = COMMITTER,
					.session = "test-1" };

	OK(ga_rewrite(r, &opts, &w, &err));
	SH(dir, "git update-ref refs/agent/tip %s", GA_HEX(&w.tip));
	if (!ga_oid_is_zero(&w.held))
		SH(dir, "git update-ref refs/agent/held %s; test %s = $(git rev-parse refs/agent/held^)",
		   GA_HEX(&w.held), GA_HEX(&w.tip));
	SH(dir, "git fsck --strict --no-dangling");
	return w;
}

static inline void assert_out(const char *dir, const char *script, const char *want)
{
	cleanup_free char *got = sh(dir, "%s", script);

	if (strcmp(got, want))
		fail_msg("%s\ngives %s\nnot   %s", script, got, want);
}

static inline char *joined(const struct ga_strv *sv)
{
	struct ga_buf b = GA_BUF_INIT;

	for (size_t i = 0; i < sv->n; i++)
		ga_buf_addf(&b, "%s%s", i ? " " : "", sv->v[i]);
	return ga_buf_steal(&b);
}

static inline void assert_list(const struct ga_strv *sv, const char *want)
{
	cleanup_free char *got = joined(sv);

	STREQ(got, want);
}

#define START "git init -q; echo 1 >f; echo old >hook; mkdir crit; echo c >crit/c; git add .;" \
	      "git commit -qm base; git tag base; git checkout -q --detach;"
#define C "git add -A; git commit -q --allow-empty -m "
