/* SPDX-License-Identifier: MIT
 *
 * Flags and what the user decides on them: what keeps a session from landing.
 */
#include "../land-support.h"

#define HELD \
	REPO AGENT "echo n >new;" DONE \
		   "git switch -q --detach agent/s1; echo x >.envrc; mkdir .githooks;" \
		   "echo y >.githooks/post-merge; git add -f .; git commit -qm held;" \
		   "git update-ref refs/agent/s1/held HEAD; git switch -q main;"

static int accept_all(struct stay *t, bool critical_too, struct ga_error *err)
{
	const struct ga_decision d = {.accept_all = true, .critical_too = critical_too};

	return ga_decide(t->repo, &t->s, &t->r, &d, NULL, err);
}

TEST(what_is_held_back_is_accepted_path_by_path)
{
	STRV(paths);
	STRV(unknown);
	struct stay t;

	SH("bydir", HELD);
	stay_open(&t, "bydir");
	ga_strv_push(&paths, ".githooks/");
	FAILS(decide_on(&t, &paths, true, &err), "one by one: .githooks/post-merge");
	ga_strv_push(&unknown, "nowhere");
	FAILS(decide_on(&t, &unknown, true, &err), "nothing in session 's1' to accept");
	/* all of them, but not the critical ones */
	OK(accept_all(&t, false, &err));
	EQUAL(ga_report_open(&t.r), 2);
	EXPECT("bydir", "work", "git log -1 --format=%%s agent/s1");
	OK(accept_all(&t, true, &err));
	EQUAL(ga_report_open(&t.r), 0);
	EXPECT("bydir", "Accept what was held", "git log -1 --format=%%s agent/s1");
	stay_close(&t);
}

TEST(a_rejection_that_would_change_another_path_is_refused)
{
	STRV(paths);
	struct stay t;

	/* putting d/c back takes the file d with it, which was not named */
	SH("extent", REPO AGENT "git rm -qr d; echo n >d;" DONE);
	stay_open(&t, "extent");
	ga_strv_push(&paths, "d/c");
	FAILS(decide_on(&t, &paths, false, &err), "that would also change 'd'");
	ga_strv_push(&paths, "d");
	OK(decide_on(&t, &paths, false, &err));
	EXPECT("extent", "", "git diff onto agent/s1");
	stay_close(&t);
}

TEST(a_conflict_of_one_held_path_blocks_no_other)
{
	STRV(paths);
	struct stay t;

	SH("part", HELD "git switch -q agent/s1; echo mine >.envrc; git add .; git commit -qm own; "
			"git switch -q main; git rev-parse refs/agent/s1/held~1 >../under");
	stay_open(&t, "part");
	decide(&t, ".githooks/post-merge", true);
	EXPECT("part", "y\nmine", "git show agent/s1:.githooks/post-merge agent/s1:.envrc");
	EXPECT("part", ".envrc\nx", "git diff --name-only refs/agent/s1/held~1 refs/agent/s1/held;"
	       "git show refs/agent/s1/held:.envrc; git rev-parse refs/agent/s1/held~1 | cmp - ../under");
	/* and its conflict is not forgotten */
	ga_strv_push(&paths, ".envrc");
	FAILS(decide_on(&t, &paths, true, &err), "'.envrc' was also changed on the branch");
	EXPECT("part", "mine", "git show agent/s1:.envrc");
	reread(&t);
	decide(&t, ".envrc", false);
	EXPECT("part", "", "git for-each-ref refs/agent/s1/held; git ls-tree agent/s1 .envrc");
	EXPECT("part", "y", "git show agent/s1:.githooks/post-merge");
	stay_close(&t);
}

TEST_MAIN(scratch_setup, scratch_teardown)
