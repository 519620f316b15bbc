/* SPDX-License-Identifier: MIT
 *
 * Flags and what the user decides on them: what keeps a session from landing.
 */
#include "land-support.h"

TEST(flags_open)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL;
	struct stay t;

	SH("flags", REPO AGENT "printf 'all:\\n\\techo x\\n' >Makefile;" DONE);
	stay_open(&t, "flags");
	assert_true(ga_report_open(&t.r) > 0);
	expect_land(&t, GA_EFLAGS, "agent/s1 has open flags: 1 high ('git agent review s1'");
	assert_int_equal(land(&t, true, &res, &msg), GA_EFLAGS);
	decide(&t, "Makefile", true);
	assert_int_equal(ga_report_open(&t.r), 0);
	reread(&t);
	assert_int_equal(ga_report_open(&t.r), 0);
	/* a verdict alone moves no branch */
	EXPECT("flags", "work", "git log -1 --format=%%s agent/s1");
	expect_land(&t, GA_OK, "");
	stay_close(&t);
}

#define HELD                                                                                       \
	REPO AGENT "echo n >new;" DONE                                                             \
		   "git switch -q --detach agent/s1; echo x >.envrc; mkdir .githooks;"             \
		   "echo y >.githooks/post-merge; git add -f .; git commit -qm held;"              \
		   "git update-ref refs/agent/s1/held HEAD; git switch -q main;"

TEST(accept_held)
{
	struct stay t;

	SH("held", HELD);
	stay_open(&t, "held");
	expect_land(&t, GA_EFLAGS, "critical");
	/* in part: what is left is a child of the new tip */
	decide(&t, ".envrc", true);
	EXPECT("held", "x\nnew",
	       "git show agent/s1:.envrc; git diff --name-only onto agent/s1 | grep new");
	EXPECT("held", ".githooks/post-merge",
	       "git diff --name-only agent/s1 refs/agent/s1/held;"
	       "git merge-base --is-ancestor agent/s1 refs/agent/s1/held");
	EXPECT("held", "held", "git log -1 --format=%%s refs/agent/s1/held");
	EXPECT(
	    "held", "s1",
	    "git log -1 --format='%%(trailers:key=Agent-Session,valueonly,separator=)' agent/s1");
	expect_land(&t, GA_EFLAGS, "");
	decide(&t, ".githooks/post-merge", true);
	EXPECT("held", "", "git for-each-ref refs/agent/s1/held");
	assert_true(ga_oid_is_zero(&t.s.result.held));
	assert_int_equal(ga_report_open(&t.r), 0);
	reread(&t);
	assert_true(ga_oid_equal(&t.r.tip, &t.s.result.tip));
	expect_land(&t, GA_OK, "");
	EXPECT("held", "x", "cat .envrc");
	stay_close(&t);
}

TEST(reject_held)
{
	struct stay t;

	SH("rheld", HELD);
	stay_open(&t, "rheld");
	decide(&t, ".githooks", false);
	/* the branch did not have it and does not move */
	EXPECT("rheld", "work", "git log -1 --format=%%s agent/s1");
	EXPECT("rheld", ".envrc", "git diff --name-only agent/s1 refs/agent/s1/held");
	decide(&t, ".envrc", false);
	EXPECT("rheld", "", "git for-each-ref refs/agent/s1/held");
	expect_land(&t, GA_OK, "");
	EXPECT("rheld", "no", "test -e .envrc || echo no");
	stay_close(&t);
}

static int accept_all(struct stay *t, bool critical_too, struct ga_error *err)
{
	const struct ga_decision d = {.accept_all = true, .critical_too = critical_too};

	return ga_decide(t->repo, &t->s, &t->r, &d, NULL, err);
}

TEST(not_by_directory)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, unknown = GA_STRV_INIT;
	struct stay t;

	SH("bydir", HELD);
	stay_open(&t, "bydir");
	ga_strv_push(&paths, ".githooks/");
	FAILS(decide_on(&t, &paths, true, &err),
	      "one by one: .githooks/post-merge");
	ga_strv_push(&unknown, "nowhere");
	FAILS(decide_on(&t, &unknown, true, &err),
	      "nothing in session 's1' to accept");
	/* all of them, but not the critical ones */
	OK(accept_all(&t, false, &err));
	assert_int_equal(ga_report_open(&t.r), 2);
	EXPECT("bydir", "work", "git log -1 --format=%%s agent/s1");
	OK(accept_all(&t, true, &err));
	assert_int_equal(ga_report_open(&t.r), 0);
	EXPECT("bydir", "Accept what was held back", "git log -1 --format=%%s agent/s1");
	stay_close(&t);
}

TEST(reject)
{
	struct stay t;

	SH("reject", REPO AGENT
	   "echo x >Makefile; echo changed >b; git rm -q d/c; sed -i 's/^5$/five/' a;" DONE);
	stay_open(&t, "reject");
	decide(&t, "Makefile", false);
	decide(&t, "b", false); /* not flagged */
	decide(&t, "d", false); /* a directory, and a deletion */
	EXPECT("reject", "a", "git diff --name-only onto agent/s1");
	assert_int_equal(ga_report_open(&t.r), 0);
	expect_land(&t, GA_OK, "");
	EXPECT("reject", "b\nc\nfive", "cat b d/c; sed -n 5p a");
	stay_close(&t);
}

/* What was rejected and comes again is open again. */
TEST(rejected_again)
{
	struct stay t;

	SH("again", REPO AGENT "printf 'all:\\n\\techo x\\n' >Makefile; echo n >new;" DONE);
	stay_open(&t, "again");
	decide(&t, "Makefile", false);
	SH("again",
	   "git switch -q agent/s1; git revert --no-edit HEAD >/dev/null; git switch -q main");
	expect_land(&t, GA_EFLAGS, "1 high");
	stay_close(&t);
}

TEST(extent)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct stay t;

	/* putting d/c back takes the file d with it, which was not named */
	SH("extent", REPO AGENT "git rm -qr d; echo n >d;" DONE);
	stay_open(&t, "extent");
	ga_strv_push(&paths, "d/c");
	FAILS(decide_on(&t, &paths, false, &err),
	      "that would also change 'd'");
	ga_strv_push(&paths, "d");
	OK(decide_on(&t, &paths, false, &err));
	EXPECT("extent", "", "git diff onto agent/s1");
	stay_close(&t);
}

TEST(checked_out)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct stay t;

	SH("out", HELD);
	stay_open(&t, "out");
	ga_strv_push(&paths, ".envrc");
	SH("out", "git switch -q agent/s1");
	FAILS(decide_on(&t, &paths, true, &err), "is checked out in");
	EXPECT("out", "work", "git log -1 --format=%%s agent/s1; git status --short");
	SH("out", "git switch -q main");
	decide(&t, ".envrc", true);
	stay_close(&t);
}

TEST(held_changed_on_branch)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct stay t;

	SH("both", HELD "git switch -q agent/s1; echo mine >.envrc; git add .; git commit -qm own; "
			"git switch -q main");
	stay_open(&t, "both");
	ga_strv_push(&paths, ".envrc");
	assert_int_equal(decide_on(&t, &paths, true, &err), -1);
	assert_int_equal(err.code, GA_ECONFLICT);
	EXPECT("both", "mine", "git show agent/s1:.envrc");
	stay_close(&t);
}

/* One held path that the branch changed too is in nobody's way but its own. */
TEST(held_in_part_changed_on_branch)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct stay t;

	SH("part", HELD "git switch -q agent/s1; echo mine >.envrc; git add .; git commit -qm own; "
			"git switch -q main; git rev-parse refs/agent/s1/held~1 >../under");
	stay_open(&t, "part");
	decide(&t, ".githooks/post-merge", true);
	EXPECT("part", "y\nmine", "git show agent/s1:.githooks/post-merge agent/s1:.envrc");
	EXPECT("part", ".envrc\nx",
	       "git diff --name-only refs/agent/s1/held~1 refs/agent/s1/held;"
	       "git show refs/agent/s1/held:.envrc; git rev-parse refs/agent/s1/held~1 | cmp - ../under");
	/* and its conflict is not forgotten */
	ga_strv_push(&paths, ".envrc");
	FAILS(decide_on(&t, &paths, true, &err),
	      "'.envrc' was also changed on the branch");
	EXPECT("part", "mine", "git show agent/s1:.envrc");
	reread(&t);
	decide(&t, ".envrc", false);
	EXPECT("part", "", "git for-each-ref refs/agent/s1/held; git ls-tree agent/s1 .envrc");
	EXPECT("part", "y", "git show agent/s1:.githooks/post-merge");
	stay_close(&t);
}

/* All of it held: there is no branch until something is accepted. */
TEST(only_held)
{
	struct stay t;

	SH("only", REPO "git switch -q --detach; echo x >.envrc; git add .; git commit -qm held;"
			"git update-ref refs/agent/s1/held HEAD; git switch -q main");
	stay_open(&t, "only");
	expect_land(&t, GA_EFLAGS, "critical");
	decide(&t, ".envrc", true);
	EXPECT("only", "1", "git rev-list --count onto..agent/s1");
	expect_land(&t, GA_OK, "");
	EXPECT("only", "x", "cat .envrc");
	stay_close(&t);
}

TEST_MAIN(scratch_setup, scratch_teardown)
