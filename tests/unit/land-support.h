/* SPDX-License-Identifier: MIT
 *
 * For tests of review and landing: a session as capture would leave it, made from
 * what git commands left in a scratch repository.
 */
#pragma once

#include "objects-support.h"

#include "ga/land/land.h"
#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/risk/risk.h"
#include "ga/session/session.h"

#define COMMITTER "A U Thor <author@example.com> 1900000000 +0100"

struct stay {
	const char *dir; /* of the repository, relative to the scratch directory */
	struct ga_repo *repo;
	struct ga_session s;
	struct ga_report r;
};

static inline struct ga_oid ref_or_zero(struct ga_repo *repo, const char *name)
{
	ERR(err);
	struct ga_oid oid = {{0}};

	assert_true(ga_ref_read(repo, name, &oid, &err) >= 0);
	return oid;
}

static inline void report_store(struct stay *t)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *ref = ga_session_ref(&t->s, "report");
	struct ga_oid commit;

	OK(ga_report_write(t->repo, &t->r, COMMITTER, NULL, &commit, &err));
	ga_ref_updates_add(&u, ref, NULL, &commit);
	OK(ga_refs_update(t->repo, &u, "test", &err));
}

/* Session "s1" of the repository `dir`: the tag "onto" is what it is based on, the branch
 * agent/s1 and the refs below refs/agent/s1 are what there is. Flags are those the
 * rules give. */
static inline void stay_open(struct stay *t, const char *dir)
{
	CHANGES(all);
	CHANGES(held);
	FLAGS(flags);
	STRV(held_paths);
	struct ga_oid old, new, tip;

	memset(t, 0, sizeof(*t));
	t->dir = dir;
	t->repo = open_repo(dir);
	t->s = (struct ga_session)GA_SESSION_INIT;
	t->s.name = ga_strdup("s1");
	t->s.state = GA_STATE_CAPTURED;
	t->s.dir = ga_strf("%s/%s.state", scratch, dir);
	OK(ga_mkdir_p(t->s.dir, 0700, &err));
	t->s.id.project = ga_strdup(ga_repo_info(t->repo)->workdir);
	t->s.id.gitdir = ga_strdup(ga_repo_info(t->repo)->gitdir);
	t->s.id.branch = ga_strdup("refs/heads/agent/s1");
	t->s.id.onto_ref = ga_strdup("refs/heads/main");
	t->s.id.onto = OID(dir, "git rev-parse onto");
	t->s.id.base = ref_or_zero(t->repo, "refs/agent/s1/base");
	if (ga_oid_is_zero(&t->s.id.base))
		t->s.id.base = t->s.id.onto;
	ga_strv_push(&t->s.id.command, "bash");
	t->s.result.tip = ref_or_zero(t->repo, "refs/heads/agent/s1");
	t->s.result.held = ref_or_zero(t->repo, "refs/agent/s1/held");

	t->r.session = ga_strdup("s1");
	ga_strv_push(&t->r.command, "bash");
	t->r.base = t->s.id.onto;
	t->r.tip = t->s.result.tip;
	t->r.held = t->s.result.held;
	tip = ga_oid_is_zero(&t->s.result.tip) ? t->s.id.onto : t->s.result.tip;
	OK(ga_commit_tree(t->repo, &t->s.id.onto, &old, &err));
	OK(ga_commit_tree(t->repo, &tip, &new, &err));
	if (!ga_oid_is_zero(&t->s.result.held)) {
		struct ga_oid tree;

		OK(ga_commit_tree(t->repo, &t->s.result.held, &tree, &err));
		OK(ga_tree_diff(t->repo, &new, &tree, &held, &err));
		new = tree;
	}
	for (size_t i = 0; i < held.n; i++)
		ga_strv_push(&held_paths, held.v[i].path);
	OK(ga_tree_diff(t->repo, &old, &new, &all, &err));
	OK(ga_classify(t->repo, NULL, &old, &new, &all, &flags, &err));
	ga_report_add_flags(&t->r, GA_FROM_SESSION, &flags, &held_paths);
	report_store(t);
}

static inline void stay_close(struct stay *t)
{
	ga_report_release(&t->r);
	ga_session_release(&t->s);
	ga_repo_free(t->repo);
}

static inline void left_out(struct stay *t, const char *path)
{
	struct ga_oid carried;

	ga_strv_push(&t->s.result.left_out, path);
	ga_strv_push(&t->r.left_out, path);
	OK(ga_ref_read(t->repo, "refs/agent/s1/base", &t->r.shown, &err));
	OK(ga_ref_read(t->repo, "refs/agent/s1/carried", &carried, &err));
	OK(ga_commit_tree(t->repo, &carried, &t->r.seen, &err));
	t->s.id.base = t->r.shown;
	t->s.view.tree = t->r.seen;
}

/* The report as it is on the ref, in place of the one in memory. */
static inline void reread(struct stay *t)
{
	OK(ga_report_read(t->repo, &t->s, &t->r, &err));
}

static inline void expect_str(const char *got, const char *want)
{
	STREQ(got, want);
}
#define EXPECT(dir, want, ...) \
	do { \
		cleanup_free char *got_ = sh(dir, __VA_ARGS__); \
		expect_str(got_, want); \
	} while (0)

/* main: a (30 lines), b, d/c, .gitignore ignoring *.ign. The agent's branch changes line 5 of a and
 * adds new; its base is the tag onto. */
#define REPO \
	"git init -q .; seq 30 >a; echo b >b; mkdir d; echo c >d/c; echo '*.ign' >.gitignore;" \
	"git add .; git commit -qm one; git tag onto;"
#define AGENT "git switch -qc agent/s1;"
#define DONE "git add -Af .; git commit -qm work; git switch -q main;"

/* What review prints, all at once. */
static inline int text_of(struct stay *t, bool colour, struct ga_buf *out, struct ga_error *err)
{
	struct ga_out o = { .text = *out };
	int rc = ga_report_text(t->repo, &t->s, &t->r, false, colour, &o, err);

	*out = o.text;
	return rc;
}

static inline int diff_of(struct stay *t, bool colour, struct ga_buf *out, struct ga_error *err)
{
	struct ga_gitconfig none = GA_GITCONFIG_INIT;
	struct ga_palette palette;
	struct ga_out o = { .text = *out };
	int rc = ga_palette_read(t->repo, &none, &palette, err);

	if (!rc)
		rc = ga_review_diff(t->repo, &t->r, colour ? &palette : NULL, &o, err);
	*out = o.text;
	return rc;
}

static inline int decide_on(struct stay *t, const struct ga_strv *paths, bool accept, struct ga_error *err)
{
	cleanup_decision struct ga_decision d = GA_DECISION_INIT;

	d.critical_too = true;
	ga_strv_extend(accept ? &d.accept : &d.reject, paths);
	return ga_decide(t->repo, &t->s, &t->r, &d, NULL, err);
}

static inline void decide(struct stay *t, const char *path, bool accept)
{
	STRV(paths);

	ga_strv_push(&paths, path);
	OK(decide_on(t, &paths, accept, &err));
}
