/* SPDX-License-Identifier: MIT
 *
 * Landing: in each state of the working tree, in each kind of repository.
 */
#include "land-support.h"

static void clean(void **state)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL, *msg2 = NULL;
	json_t *j;
	struct stay t;

	(void)state;
	SH("clean", REPO AGENT "sed -i 's/^5$/five/' a; echo n >new;" DONE);
	stay_open(&t, "clean");
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 0);
	assert_int_equal(land(&t, true, &res, &msg), GA_OK);
	assert_false(res.nothing);
	EXPECT("clean", "1", "git rev-list --count HEAD");
	ga_land_result_release(&res);
	assert_int_equal(land(&t, false, &res, &msg2), GA_OK);
	EXPECT("clean", "Merge agent/s1\n2",
	       "git log -1 --format=%%s; git rev-list --merges --count HEAD^2 | "
	       "sed s/0/2/");
	EXPECT("clean", "five\nn", "sed -n 5p a; cat new");
	EXPECT("clean", "", "git status --short");
	assert_int_equal(t.s.state, GA_STATE_LANDED);
	assert_true(ga_oid_equal(&t.s.landed, &res.commit));
	EXPECT("clean", "landed",
	       "sed -n 's/.*\"event\": *\"\\([a-z]*\\)\".*/\\1/p' ../clean.state/journal.jsonl");
	EXPECT("clean", "1", "grep -c landed ../clean.state/session | sed 's/[1-9].*/1/'");
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 1);
	j = ga_land_json(&t.s, &res, false);
	assert_true(json_is_true(json_object_get(j, "landed")));
	json_decref(j);
	/* once more: nothing */
	ga_land_result_release(&res);
	free(msg2);
	assert_int_equal(land(&t, false, &res, &msg2), GA_OK);
	assert_true(res.nothing);
	EXPECT("clean", "1", "grep -c '\"landed\"' ../clean.state/journal.jsonl");
	stay_close(&t);
}

/* What the user has that the merge does not touch is left exactly as it is. */
static void dirty_elsewhere(void **state)
{
	struct stay t;

	(void)state;
	SH("else", REPO AGENT "sed -i 's/^5$/five/' a;" DONE
			      "echo mine >>b; echo u >untracked; echo i >x.ign");
	stay_open(&t, "else");
	expect_land(&t, GA_OK, "");
	EXPECT("else", " M b\n?? untracked\n!! x.ign", "git status --short --ignored");
	EXPECT("else", "b\nmine\nfive", "cat b; sed -n 5p a");
	stay_close(&t);
}

static void dirty_same(void **state)
{
	struct stay t;

	(void)state;
	SH("same", REPO AGENT "sed -i 's/^5$/five/' a;" DONE "sed -i 's/^5$/mine/' a");
	stay_open(&t, "same");
	expect_land(&t, GA_ELOSE, "uncommitted changes overlap with what is to land: a");
	SH("same", "git checkout -q a; sed -i 's/^25$/mine/' a");
	expect_land(&t, GA_OK, "");
	EXPECT("same", "five\nmine", "sed -n '5p;25p' a");
	EXPECT("same", " M a\n5", "git status --short; git show HEAD:a | grep -n five | cut -d: -f1");
	stay_close(&t);
}

/* git merge takes no staged change at all; here it stays staged */
static void staged(void **state)
{
	struct stay t;

	(void)state;
	SH("staged", REPO AGENT "sed -i 's/^5$/five/' a;" DONE "echo mine >>b; git add b");
	stay_open(&t, "staged");
	expect_land(&t, GA_OK, "");
	EXPECT("staged", "M  b", "git status --short");
	stay_close(&t);
}

static void untracked_in_the_way(void **state)
{
	static const struct {
		const char *name, *agent, *user, *named;
	} v[] = {
	    {"file", "echo n >new", "echo mine >new", "overwritten: new ("},
	    /* git merge would overwrite this one without a word */
	    {"ignored", "echo n >k.ign", "echo mine >k.ign", "overwritten: k.ign ("},
	    {"link", "echo n >new", "ln -s /etc/passwd new", "overwritten: new ("},
	    {"parent", "mkdir p.ign; echo n >p.ign/n", "echo mine >p.ign", "overwritten: p.ign ("},
	    {"parent-link", "mkdir p.ign; echo n >p.ign/n", "mkdir q.ign; ln -s q.ign p.ign",
	     "overwritten: p.ign ("},
	    {"dir", "echo n >k.ign", "mkdir k.ign; echo mine >k.ign/deep",
	     "overwritten: k.ign/deep ("},
	    {"dir-for-file", "git rm -qr d; echo n >d", "echo mine >d/k.ign",
	     "overwritten: d/k.ign ("},
	    {"odd-name", "echo n >\"$(printf 'a\\033b')\"", "echo mine >\"$(printf 'a\\033b')\"",
	     "overwritten: \"a\\eb\" ("},
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(v); i++) {
		cleanup_free char *dir = ga_strf("way-%s", v[i].name);
		struct stay t;

		SH(dir, REPO AGENT "%s;" DONE "%s", v[i].agent, v[i].user);
		stay_open(&t, dir);
		/* odd names and tracked ignored files are flagged, which is not what this is about
		 */
		for (size_t k = 0; k < t.r.n_flags; k++)
			t.r.flags[k].verdict = GA_VERDICT_ACCEPTED;
		expect_land(&t, GA_ELOSE, v[i].named);
		stay_close(&t);
	}
}

/* The same shapes with nothing of the user's in them land. */
static void not_in_the_way(void **state)
{
	static const struct {
		const char *name, *agent, *user;
	} v[] = {
	    {"dir-becomes-file", "git rm -qr d; echo n >d", ":"},
	    {"file-becomes-dir", "git rm -q b; mkdir b; echo n >b/n", ":"},
	    {"empty-dir", "echo n >new", "mkdir new"},
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(v); i++) {
		cleanup_free char *dir = ga_strf("free-%s", v[i].name);
		struct stay t;

		SH(dir, REPO AGENT "%s;" DONE "%s", v[i].agent, v[i].user);
		stay_open(&t, dir);
		expect_land(&t, GA_OK, "");
		EXPECT(dir, "", "git status --short; git diff HEAD^2");
		stay_close(&t);
	}
}

static void conflict(void **state)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL;
	struct stay t;

	(void)state;
	SH("conflict", REPO AGENT "sed -i 's/^5$/five/' a; echo n >new;" DONE
				  "sed -i 's/^5$/cinq/' a; git commit -qam mine");
	stay_open(&t, "conflict");
	assert_int_equal(land(&t, true, &res, &msg), GA_ECONFLICT);
	EXPECT("conflict", "", "git status --short");
	expect_land(&t, GA_ECONFLICT, "merging agent/s1 conflicts in a (resolve");
	EXPECT("conflict", "A  new\nUU a", "git status --short | sort");
	assert_int_equal(t.s.state, GA_STATE_CAPTURED);
	/* and again, in the middle of it */
	expect_land(&t, GA_ELOSE, "a merge is in progress");
	SH("conflict", "git checkout -q --theirs a; git add a; git commit -qm resolved");
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 1);
	expect_land(&t, GA_OK, "");
	assert_int_equal(t.s.state, GA_STATE_LANDED);
	stay_close(&t);
}

static void nothing(void **state)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL;
	struct stay t;

	(void)state;
	SH("nothing", REPO);
	stay_open(&t, "nothing");
	assert_int_equal(land(&t, false, &res, &msg), GA_OK);
	assert_true(res.nothing);
	assert_int_equal(ga_landed(t.repo, &t.s, &(struct ga_error)GA_ERROR_INIT), 0);
	stay_close(&t);
}

static void landed_otherwise(void **state)
{
	static const char *const how[] = {
	    "git merge -q agent/s1",
	    "git merge -q --squash agent/s1; git commit -qm squashed",
	    "git cherry-pick agent/s1 >/dev/null",
	    /* with more of the user's on top, in other lines of the same file */
	    "git cherry-pick agent/s1 >/dev/null; sed -i 's/^25$/mine/' a; git commit -qam more",
	    "git merge -q agent/s1; git branch -qD agent/s1",
	};

	(void)state;
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
/* ---- left out, hooks, odd repositories ----------------------------------- */

/* The user has edits of a and an untracked u; the agent went on from those. */
#define CARRIED                                                                                    \
	REPO "sed -i 's/^25$/mine/' a; echo one >u; git stash -qu; git switch -qc base; git "      \
	     "stash pop -q;"                                                                       \
	     "git add .; git commit -qm snapshot; git update-ref refs/agent/s1/base HEAD;"         \
	     "%s; git add -A; git commit -qm agent; git update-ref refs/agent/s1/carried HEAD;"    \
	     "git switch -q main; git branch -qD base;"                                            \
	     "sed -i 's/^25$/mine/' a; echo one >u;"

static void brings_left_out(void **state)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL, *msg2 = NULL;
	struct stay t;

	(void)state;
	SH("carried", CARRIED "chmod 640 u; sed -i 's/^1$/mine too/' a;",
	   "sed -i 's/^mine$/mine, by agent/' a; echo two >>u");
	stay_open(&t, "carried");
	left_out(&t, "a");
	left_out(&t, "u");
	assert_int_equal(land(&t, true, &res, &msg), GA_OK);
	if (res.not_brought.n)
		fail_msg("%s", res.not_brought.v[0]);
	assert_int_equal(res.brought.n, 2);
	EXPECT("carried", "one", "cat u");
	ga_land_result_release(&res);
	assert_int_equal(land(&t, false, &res, &msg2), GA_OK);
	assert_int_equal(res.brought.n, 2);
	assert_int_equal(res.not_brought.n, 0);
	EXPECT("carried", "one\ntwo\nmine too\nmine, by agent\n640",
	       "cat u; sed -n '1p;25p' a; stat -c %%a u");
	EXPECT("carried", " M a\n?? u\n1", "git status --short; git rev-list --count HEAD");
	assert_int_equal(t.s.left_out.n, 0);
	stay_close(&t);
}

static void does_not_bring(void **state)
{
	static const struct {
		const char *user, *why;
	} v[] = {
	    {"echo other >u",
	     "u: it overlaps with your changes; 'git show refs/agent/s1/carried:u'"},
	    {"rm u", "u: it overlaps"},
	    {"rm u; ln -s /etc/passwd u", "u: a symlink stands there"},
	    {"rm u; mkfifo u", "u: no regular file stands there"},
	    {"rm u; mkdir u", "u: no regular file stands there"},
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(v); i++) {
		cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
		cleanup_free char *dir = ga_strf("notcarried-%zu", i), *msg = NULL, *before = NULL;
		struct stay t;

		SH(dir, CARRIED "%s", "echo two >>u", v[i].user);
		before = sh(dir, "ls -lR --time-style=full-iso");
		stay_open(&t, dir);
		left_out(&t, "u");
		assert_int_equal(land(&t, false, &res, &msg), GA_OK);
		assert_int_equal(res.brought.n, 0);
		assert_int_equal(res.not_brought.n, 1);
		if (strncmp(res.not_brought.v[0], v[i].why, strlen(v[i].why)) != 0)
			fail_msg("%s", res.not_brought.v[0]);
		EXPECT(dir, before, "ls -lR --time-style=full-iso");
		assert_int_equal(t.s.left_out.n, 1);
		stay_close(&t);
	}
}

/* A hook of the merge writes the file between the decision and its turn. */
static void changed_meanwhile(void **state)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL;
	struct stay t;

	(void)state;
	SH("mean",
	   CARRIED "git switch -qc agent/s1 onto; echo n >new; git add new; git commit -qm work; "
		   "git switch -q main;"
		   "printf '#!/bin/sh\necho hook >>u\n' >.git/hooks/post-merge;"
		   "chmod +x .git/hooks/post-merge",
	   "echo two >>u");
	stay_open(&t, "mean");
	left_out(&t, "u");
	assert_int_equal(land(&t, false, &res, &msg), GA_OK);
	assert_int_equal(res.not_brought.n, 1);
	assert_non_null(strstr(res.not_brought.v[0], "u: it was changed meanwhile"));
	EXPECT("mean", "one\nhook\nn", "cat u new");
	stay_close(&t);
}

/* What comes as an uncommitted edit is looked at like what is merged. */
static void left_out_is_flagged(void **state)
{
	struct stay t;

	(void)state;
	SH("lflag", REPO
	   "echo x >Makefile; git add .; git commit -qm mk; git tag -f onto >/dev/null;"
	   "git switch -qc base; echo mine >>Makefile; git commit -qam snap;"
	   "git update-ref refs/agent/s1/base HEAD; sed -i s/mine/agent/ Makefile; git commit -qam "
	   "ag;"
	   "git update-ref refs/agent/s1/carried HEAD; git switch -q main; git branch -qD base;"
	   "echo mine >>Makefile");
	stay_open(&t, "lflag");
	left_out(&t, "Makefile");
	expect_land(&t, GA_EFLAGS, "would raise new flags");
	EXPECT("lflag", "x\nmine", "cat Makefile");
	decide(&t, "Makefile", true);
	expect_land(&t, GA_OK, "");
	EXPECT("lflag", "x\nagent", "cat Makefile");
	stay_close(&t);
}

static void crlf(void **state)
{
	struct stay t;

	(void)state;
	SH("crlf", REPO
	   "echo '*.txt text eol=crlf' >.gitattributes; printf '1\\r\\n2\\r\\n3\\r\\n' >t.txt; git "
	   "add .;"
	   "git commit -qm crlf; git tag -f onto >/dev/null; git switch -qc base;"
	   "sed -i 's/1/mine/' t.txt; git commit -qam snap; git update-ref refs/agent/s1/base HEAD;"
	   "sed -i 's/mine/agent/' t.txt; git commit -qam ag; git update-ref refs/agent/s1/carried "
	   "HEAD;"
	   "git switch -q main; git branch -qD base; sed -i 's/1/mine/' t.txt");
	stay_open(&t, "crlf");
	left_out(&t, "t.txt");
	expect_land(&t, GA_OK, "");
	EXPECT("crlf", "agent\\r\\n2\\r\\n3\\r\\n", "od -An -c t.txt | tr -d ' \\n'");
	stay_close(&t);
}

/* The user's hooks run as by hand; ones that came with the merge had to be accepted. */
static void hooks(void **state)
{
	struct stay t;

	(void)state;
	SH("hooks",
	   REPO AGENT "echo n >new;" DONE
		      "printf '#!/bin/sh\\necho ran >>../hooks.log\\n' >.git/hooks/post-merge;"
		      "chmod +x .git/hooks/post-merge");
	stay_open(&t, "hooks");
	expect_land(&t, GA_OK, "");
	EXPECT("hooks", "ran", "cat ../hooks.log");
	stay_close(&t);
	SH("hooks2", REPO AGENT "echo n >new;" DONE
				"printf '#!/bin/sh\\nexit 1\\n' >.git/hooks/pre-merge-commit;"
				"chmod +x .git/hooks/pre-merge-commit");
	stay_open(&t, "hooks2");
	expect_land(&t, GA_ECONFLICT, "was not committed");
	SH("hooks2", "git merge --abort");
	stay_close(&t);
}

/* Review, decisions and every check run no hook and no driver, whatever the agent's tree says. */
static void runs_nothing(void **state)
{
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct stay t;

	(void)state;
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

static void places(void **state)
{
	struct stay t;

	(void)state;
	/* detached */
	SH("detached", REPO AGENT "echo n >new;" DONE "git switch -q --detach main");
	stay_open(&t, "detached");
	expect_land(&t, GA_OK, "");
	EXPECT("detached", "HEAD\nn", "git rev-parse --abbrev-ref HEAD; cat new");
	stay_close(&t);
	/* unborn */
	SH("unborn", REPO AGENT "echo n >new;" DONE "git switch -q --orphan void");
	stay_open(&t, "unborn");
	expect_land(&t, GA_EFATAL, "no commit yet");
	stay_close(&t);
	/* a linked worktree */
	SH("linked0", REPO AGENT "echo n >new;" DONE "git worktree add -q ../linked -b side main");
	stay_open(&t, "linked");
	expect_land(&t, GA_OK, "");
	EXPECT("linked", "n", "cat new");
	EXPECT("linked0", "", "git status --short; test ! -e new");
	stay_close(&t);
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
int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clean),
	    cmocka_unit_test(dirty_elsewhere),
	    cmocka_unit_test(dirty_same),
	    cmocka_unit_test(staged),
	    cmocka_unit_test(untracked_in_the_way),
	    cmocka_unit_test(not_in_the_way),
	    cmocka_unit_test(conflict),
	    cmocka_unit_test(nothing),
	    cmocka_unit_test(landed_otherwise),
	    cmocka_unit_test(brings_left_out),
	    cmocka_unit_test(does_not_bring),
	    cmocka_unit_test(changed_meanwhile),
	    cmocka_unit_test(left_out_is_flagged),
	    cmocka_unit_test(crlf),
	    cmocka_unit_test(hooks),
	    cmocka_unit_test(runs_nothing),
	    cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
