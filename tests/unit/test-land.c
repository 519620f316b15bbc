/* SPDX-License-Identifier: MIT
 *
 * Landing by its C interface: what has arrived otherwise, what is refused, and that checks run nothing.
 */
#include "land-support.h"

TEST(nothing)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL;
	struct stay t;

	SH("nothing", REPO);
	stay_open(&t, "nothing");
	assert_int_equal(land(&t, false, &res, &msg), GA_OK);
	assert_true(res.nothing);
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 0);
	stay_close(&t);
}

TEST(landed_otherwise)
{
	static const char *const how[] = {
	    "git merge -q agent/s1",
	    "git merge -q --squash agent/s1; git commit -qm squashed",
	    "git cherry-pick agent/s1 >/dev/null",
	    /* with more of the user's on top, in other lines of the same file */
	    "git cherry-pick agent/s1 >/dev/null; sed -i 's/^25$/mine/' a; git commit -qam more",
	    "git merge -q agent/s1; git branch -qD agent/s1",
	};

	for (size_t i = 0; i < GA_NELEMS(how); i++) {
		cleanup_free char *dir = ga_strf("otherwise-%zu", i);
		struct stay t;

		SH(dir, REPO AGENT "sed -i 's/^5$/five/' a; echo n >new;" DONE);
		stay_open(&t, dir);
		SH(dir, "%s", how[i]);
		if (ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT) != 1)
			fail_msg("not noticed: %s", how[i]);
		if (i < 4)
			expect_land(&t, GA_OK, "");
		stay_close(&t);
	}
	for (size_t i = 0; i < 2; i++) {
		cleanup_free char *dir = ga_strf("other-%zu", i);
		struct stay t;

		SH(dir, REPO AGENT "sed -i 's/^5$/five/' a; echo n >new;" DONE);
		stay_open(&t, dir);
		SH(dir, "%s",
		   i ? "sed -i 's/^5$/cinq/' a; git commit -qam x"
		     : "echo n >new; git add new; git commit -qm half");
		assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 0);
		stay_close(&t);
	}
}
/* Review, decisions and every check run no hook and no driver, whatever the agent's tree says. */
TEST(runs_nothing)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct stay t;

	SH("drivers",
	   REPO "git config core.hooksPath .githooks; git config filter.foo.smudge 'touch "
		"../drivers.log; cat';"
		"git config filter.foo.clean 'touch ../drivers.log; cat'; git config "
		"diff.foo.textconv 'touch ../drivers.log;cat';"
		"git config diff.foo.command 'touch ../drivers.log'; git config merge.foo.driver "
		"'touch ../drivers.log; false';"
		"git -c core.hooksPath=/dev/null switch -qc agent/s1; mkdir .githooks;"
		"for h in reference-transaction post-merge pre-merge-commit post-checkout; do"
		"  printf '#!/bin/sh\\ntouch ../drivers.log\\n' >.githooks/$h; chmod +x "
		".githooks/$h; done;"
		"echo '* filter=foo diff=foo merge=foo' >.gitattributes; sed -i 's/^5$/five/' a;"
		"git -c core.hooksPath=/dev/null -c filter.foo.clean=cat add -A;"
		"git -c core.hooksPath=/dev/null -c filter.foo.clean=cat commit -qm work;"
		"git -c core.hooksPath=/dev/null -c filter.foo.smudge=cat -c filter.foo.clean=cat "
		"switch -q main;"
		"rm -f ../drivers.log; sed -i 's/^25$/mine/' a;"
		"git -c core.hooksPath=/dev/null commit -qam mine; test ! -e ../drivers.log");
	stay_open(&t, "drivers");
	OK(text_of(&t, false, &out, &err));
	OK(diff_of(&t, false, &out, &err));
	json_decref(ga_report_json(t.repo, &t.r, &(struct ga_error)GA_ERROR_INIT));
	expect_land(&t, GA_EFLAGS, "");
	for (size_t i = 0; i < t.r.n_flags; i++)
		t.r.flags[i].verdict = GA_VERDICT_ACCEPTED;
	{
		cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
		cleanup_free char *msg = NULL;

		/* the host's own configuration makes some of it critical: open again */
		(void)land(&t, true, &res, &msg);
	}
	for (size_t i = 0; i < t.r.n_flags; i++)
		t.r.flags[i].verdict = GA_VERDICT_OPEN;
	decide(&t, ".githooks", false);
	EXPECT("drivers", "clean", "test -e ../drivers.log || echo clean");
	/* plain git would have run them: the trap does spring */
	EXPECT("drivers", "sprung",
	       "git checkout -q agent/s1~1 -- . ; test ! -e ../drivers.log || echo sprung");
	stay_close(&t);
}

TEST(places)
{
	struct stay t;

	/* configuration that would make the merge another one */
	SH("config", REPO AGENT "sed -i 's/^5$/five/' a;" DONE
				"git config merge.ff only; git config merge.autoStash true; git "
				"config branch.main.mergeOptions "
				"--squash; echo mine >>b");
	stay_open(&t, "config");
	expect_land(&t, GA_OK, "");
	EXPECT("config", "2\n M b",
	       "git rev-list --parents -1 HEAD | wc -w | awk '{print $1 - 1}'; git status --short");
	stay_close(&t);
	/* looking at the branch is not landing it */
	SH("own", REPO AGENT "echo n >new;" DONE);
	stay_open(&t, "own");
	SH("own", "git switch -q agent/s1");
	expect_land(&t, GA_EFATAL, "you are on agent/s1 itself");
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 0);
	SH("own", "git switch -q --detach");
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 0);
	SH("own", "git switch -q main; git merge -q agent/s1; git switch -q agent/s1");
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 1);
	stay_close(&t);
	/* the branch is gone */
	SH("gone", REPO AGENT "echo n >new;" DONE);
	stay_open(&t, "gone");
	SH("gone", "git branch -qD agent/s1");
	expect_land(&t, GA_EFATAL, "the branch 'agent/s1' is gone ('git branch agent/s1 ");
	stay_close(&t);
	/* not captured */
	SH("running", REPO AGENT "echo n >new;" DONE);
	stay_open(&t, "running");
	t.s.state = GA_STATE_INTERRUPTED;
	expect_land(&t, GA_EFATAL, "has not been captured");
	/* nobody looked at it */
	t.s.state = GA_STATE_CAPTURED;
	ga_report_release(&t.r);
	expect_land(&t, GA_EFATAL, "has no report");
	stay_close(&t);
}

TEST_MAIN(scratch_setup, scratch_teardown)
