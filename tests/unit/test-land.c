/* SPDX-License-Identifier: MIT */
#include "land-support.h"

/* main: a (30 lines), b, d/c, .gitignore ignoring *.ign. The agent's branch changes line 5 of a and
 * adds new; its base is the tag onto. */
#define REPO                                                                                       \
	"git init -q .; seq 30 >a; echo b >b; mkdir d; echo c >d/c; echo '*.ign' >.gitignore;"     \
	"git add .; git commit -qm one; git tag onto;"
#define AGENT "git switch -qc agent/s1;"
#define DONE "git add -Af .; git commit -qm work; git switch -q main;"

static enum ga_code land(struct stay *t, bool dry_run, struct ga_land_result *res, char **ret_msg)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct ga_land_opts o = {.dry_run = dry_run};

	*res = (struct ga_land_result)GA_LAND_RESULT_INIT;
	if (!ga_land(t->repo, &t->s, &t->r, &o, res, &err)) {
		*ret_msg = ga_strdup("");
		return GA_OK;
	}
	*ret_msg = ga_strf("%s (%s)", err.msg, err.hint ? err.hint : "");
	return err.code;
}

/* Land and expect this code and message; nothing may have changed unless it is GA_OK or
 * GA_ECONFLICT. */
static void expect_land(struct stay *t, enum ga_code want, const char *msg)
{
	static const char state[] =
	    "git rev-parse -q --verify HEAD || :; git status --short --ignored;"
	    "git diff; git diff --cached;"
	    "git for-each-ref refs/heads; find . -name .git -prune -o -type f "
	    "-exec md5sum {} + | sort";
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *before = sh(t->dir, state), *after = NULL, *got = NULL;
	enum ga_code code = land(t, false, &res, &got);

	if (code != want || !strstr(got, msg))
		fail_msg("code %d, message '%s'", (int)code, got);
	if (want == GA_OK || want == GA_ECONFLICT)
		return;
	after = sh(t->dir, state);
	assert_string_equal(before, after);
}

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
	SH("same", REPO AGENT "sed -i 's/^5$/five/' a;" DONE "sed -i 's/^25$/mine/' a");
	stay_open(&t, "same");
	expect_land(&t, GA_ELOSE, "uncommitted changes would be overwritten: a");
	SH("same", "git commit -qam mine");
	expect_land(&t, GA_OK, "");
	EXPECT("same", "five\nmine", "sed -n '5p;25p' a");
	stay_close(&t);
}

/* git merge takes no staged change at all */
static void staged(void **state)
{
	struct stay t;

	(void)state;
	SH("staged", REPO AGENT "sed -i 's/^5$/five/' a;" DONE "echo mine >>b; git add b");
	stay_open(&t, "staged");
	expect_land(&t, GA_ELOSE,
		    "staged changes are in the way of a merge commit: b (commit them");
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

/* ---- flags -------------------------------------------------------------- */

static void decide(struct stay *t, const char *path, bool accept)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;

	ga_strv_push(&paths, path);
	OK(ga_decide(t->repo, &t->s, &t->r, &paths, false, accept, true, &err));
}

static void flags_open(void **state)
{
	cleanup_(ga_land_result_release) struct ga_land_result res = GA_LAND_RESULT_INIT;
	cleanup_free char *msg = NULL;
	struct stay t;

	(void)state;
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

/* The verdict was about other content: the branch has moved since. */
static void tip_moved(void **state)
{
	struct stay t;

	(void)state;
	SH("moved", REPO AGENT "printf 'all:\\n\\techo x\\n' >Makefile;" DONE);
	stay_open(&t, "moved");
	decide(&t, "Makefile", true);
	SH("moved",
	   "git switch -q agent/s1; echo >>Makefile; git commit -qam more; git switch -q main");
	expect_land(&t, GA_EFLAGS, "agent/s1 would raise new flags where it lands: 1 high");
	reread(&t);
	assert_int_equal(ga_report_open(&t.r), 1);
	decide(&t, "Makefile", true);
	expect_land(&t, GA_OK, "");
	EXPECT("moved", "more", "git log -1 --format=%%s HEAD^2");
	stay_close(&t);
	/* harmless commits of the user's on the branch need no more */
	SH("moved2", REPO AGENT "echo n >new;" DONE);
	stay_open(&t, "moved2");
	SH("moved2", "git switch -q agent/s1; echo o >other; git add .; git commit -qm more; git "
		     "switch -q main");
	expect_land(&t, GA_OK, "");
	EXPECT("moved2", "o", "cat other");
	stay_close(&t);
}

/* A merge can make what neither side had: rules run on its result. */
static void merge_makes_danger(void **state)
{
	struct stay t;

	(void)state;
	SH("danger", REPO
	   "printf 'x:\\n\\techo x\\n\\n\\n\\n\\n\\n\\n\\ny:\\n\\techo y\\n' >Makefile; git add .;"
	   "git commit -qm mk; git tag -f onto >/dev/null;" AGENT
	   "sed -i 's/echo x/echo agent/' Makefile;" DONE
	   "sed -i 's/echo y/echo user/' Makefile; git commit -qam mine");
	stay_open(&t, "danger");
	decide(&t, "Makefile", true);
	expect_land(&t, GA_EFLAGS, "would raise new flags");
	decide(&t, "Makefile", true);
	expect_land(&t, GA_OK, "");
	stay_close(&t);
}

#define HELD                                                                                       \
	REPO AGENT "echo n >new;" DONE                                                             \
		   "git switch -q --detach agent/s1; echo x >.envrc; mkdir .githooks;"             \
		   "echo y >.githooks/post-merge; git add -f .; git commit -qm held;"              \
		   "git update-ref refs/agent/s1/held HEAD; git switch -q main;"

static void accept_held(void **state)
{
	struct stay t;

	(void)state;
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
	assert_true(ga_oid_is_zero(&t.s.held));
	assert_int_equal(ga_report_open(&t.r), 0);
	reread(&t);
	assert_true(ga_oid_equal(&t.r.tip, &t.s.tip));
	expect_land(&t, GA_OK, "");
	EXPECT("held", "x", "cat .envrc");
	stay_close(&t);
}

static void reject_held(void **state)
{
	struct stay t;

	(void)state;
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

static void not_by_directory(void **state)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT, none = GA_STRV_INIT,
				    unknown = GA_STRV_INIT;
	struct stay t;

	(void)state;
	SH("bydir", HELD);
	stay_open(&t, "bydir");
	ga_strv_push(&paths, ".githooks/");
	FAILS(ga_decide(t.repo, &t.s, &t.r, &paths, false, true, true, &err),
	      "one by one: .githooks/post-merge");
	ga_strv_push(&unknown, "nowhere");
	FAILS(ga_decide(t.repo, &t.s, &t.r, &unknown, false, true, true, &err),
	      "nothing in session 's1' to accept");
	/* all of them, but not the critical ones */
	OK(ga_decide(t.repo, &t.s, &t.r, &none, true, true, false, &err));
	assert_int_equal(ga_report_open(&t.r), 2);
	EXPECT("bydir", "work", "git log -1 --format=%%s agent/s1");
	OK(ga_decide(t.repo, &t.s, &t.r, &none, true, true, true, &err));
	assert_int_equal(ga_report_open(&t.r), 0);
	EXPECT("bydir", "Accept what was held back", "git log -1 --format=%%s agent/s1");
	stay_close(&t);
}

static void reject(void **state)
{
	struct stay t;

	(void)state;
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
static void rejected_again(void **state)
{
	struct stay t;

	(void)state;
	SH("again", REPO AGENT "printf 'all:\\n\\techo x\\n' >Makefile; echo n >new;" DONE);
	stay_open(&t, "again");
	decide(&t, "Makefile", false);
	SH("again",
	   "git switch -q agent/s1; git revert --no-edit HEAD >/dev/null; git switch -q main");
	expect_land(&t, GA_EFLAGS, "1 high");
	stay_close(&t);
}

static void extent(void **state)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct stay t;

	(void)state;
	/* putting d/c back takes the file d with it, which was not named */
	SH("extent", REPO AGENT "git rm -qr d; echo n >d;" DONE);
	stay_open(&t, "extent");
	ga_strv_push(&paths, "d/c");
	FAILS(ga_decide(t.repo, &t.s, &t.r, &paths, false, false, true, &err),
	      "that would also change 'd'");
	ga_strv_push(&paths, "d");
	OK(ga_decide(t.repo, &t.s, &t.r, &paths, false, false, true, &err));
	EXPECT("extent", "", "git diff onto agent/s1");
	stay_close(&t);
}

static void checked_out(void **state)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct stay t;

	(void)state;
	SH("out", HELD);
	stay_open(&t, "out");
	ga_strv_push(&paths, ".envrc");
	SH("out", "git switch -q agent/s1");
	FAILS(ga_decide(t.repo, &t.s, &t.r, &paths, false, true, true, &err), "is checked out in");
	EXPECT("out", "work", "git log -1 --format=%%s agent/s1; git status --short");
	SH("out", "git switch -q main");
	decide(&t, ".envrc", true);
	stay_close(&t);
}

static void held_changed_on_branch(void **state)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	struct stay t;

	(void)state;
	SH("both", HELD "git switch -q agent/s1; echo mine >.envrc; git add .; git commit -qm own; "
			"git switch -q main");
	stay_open(&t, "both");
	ga_strv_push(&paths, ".envrc");
	assert_int_equal(ga_decide(t.repo, &t.s, &t.r, &paths, false, true, true, &err), -1);
	assert_int_equal(err.code, GA_ECONFLICT);
	EXPECT("both", "mine", "git show agent/s1:.envrc");
	stay_close(&t);
}

/* One held path that the branch changed too is in nobody's way but its own. */
static void held_in_part_changed_on_branch(void **state)
{
	cleanup_strv struct ga_strv paths = GA_STRV_INIT;
	struct stay t;

	(void)state;
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
	FAILS(ga_decide(t.repo, &t.s, &t.r, &paths, false, true, true, &err),
	      "'.envrc' was also changed on the branch");
	EXPECT("part", "mine", "git show agent/s1:.envrc");
	reread(&t);
	decide(&t, ".envrc", false);
	EXPECT("part", "", "git for-each-ref refs/agent/s1/held; git ls-tree agent/s1 .envrc");
	EXPECT("part", "y", "git show agent/s1:.githooks/post-merge");
	stay_close(&t);
}

/* All of it held: there is no branch until something is accepted. */
static void only_held(void **state)
{
	struct stay t;

	(void)state;
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
	OK(ga_report_text(t.repo, &t.s, &t.r, false, &out, &err));
	OK(ga_review_diff(t.repo, &t.r, false, &out, &err));
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
	    cmocka_unit_test(flags_open),
	    cmocka_unit_test(tip_moved),
	    cmocka_unit_test(merge_makes_danger),
	    cmocka_unit_test(accept_held),
	    cmocka_unit_test(reject_held),
	    cmocka_unit_test(not_by_directory),
	    cmocka_unit_test(reject),
	    cmocka_unit_test(rejected_again),
	    cmocka_unit_test(extent),
	    cmocka_unit_test(checked_out),
	    cmocka_unit_test(held_changed_on_branch),
	    cmocka_unit_test(held_in_part_changed_on_branch),
	    cmocka_unit_test(only_held),
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
