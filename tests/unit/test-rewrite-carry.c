/* SPDX-License-Identifier: MIT
 *
 * Uncommitted work that a session began with stays out of the commits that are made of it.
 */
#include "rewrite-support.h"

#include <sys/resource.h>

/* HEAD is `onto`; `base` stands on it with what was not committed. */
#define CARRY "git init -q; seq 1 20 >f; echo k >keep; echo g >gone; git add .;" \
	      "git commit -qm head; git tag onto; git checkout -q --detach;" \
	      "sed -i 1s/.*/dirty/ f; echo mine >mine; rm gone;" \
	      C "carried; git tag -a -m x t; git tag -d t; git update-ref refs/agent/base HEAD;"

static void carried_work_stays_out(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;
	struct ga_oid tip;

	(void)state;
	SH("carry", CARRY "sed -i 20s/.*/agent/ f; echo new >new;" C "1; echo keep >keep;" C "2;"
		    "git update-ref refs/agent/x HEAD");
	w = run("carry", "refs/agent/base", "onto", "refs/agent/x", NULL);
	tip = rev("carry", "refs/agent/x");
	assert_true(ga_oid_equal(&w.carried, &tip));
	assert_true(ga_oid_is_zero(&w.orig) && ga_oid_is_zero(&w.held));
	assert_int_equal(w.left_out.n, 0);
	assert_out("carry", "git diff --name-status onto refs/agent/tip; git show "
		   "refs/agent/tip:f | sed -n "
			    "'1p;20p'; git log --format=%s onto^{commit}..refs/agent/tip; git "
			    "rev-parse "
			    "refs/agent/tip~2 onto | uniq | wc -l",
		   "M\tf\nM\tkeep\nA\tnew\n1\nagent\n2\n1\n1");
}

static void inseparable_is_left_out(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	/* the same line; a file of the user's nobody else has; one brought back; the
	 * file the user removed now a directory */
	SH("insep", CARRY "sed -i 1s/.*/agent/ f; echo more >>mine; echo ok >ok; mkdir gone;"
		    "echo in >gone/in;" C "1; git update-ref refs/agent/x HEAD");
	w = run("insep", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "f gone/in mine");
	assert_out("insep", "git diff --name-status onto refs/agent/tip", "A\tok");
	assert_int_equal(w.held_paths.n, 0);
}

/* To a merge by lines that is one line gone and another one come. */
static void moved_within_a_file(void **state)
{
	static const char *const ways[] = {
		"(grep -v WORK f; echo WORK)", "(cat f; printf '\\tWORK  \\n')",
		"(grep -v WORK f; printf 'if (A) {\\n\\t  WORK\\r\\n}\\n')",
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(ways); i++) {
		cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;
		cleanup_free char *dir = ga_strf("within%zu", i);

		SH(dir, CARRY "git checkout -q onto; sed -i '5a  WORK' f; sed -i 5d keep; echo WORK >>keep;" C "w;"
		   "git update-ref refs/agent/base HEAD; sed -i 20s/.*/agent/ f;" C "1;"
		   "%s >new; mv new f; echo ok >ok;" C "2; echo 21 >>f;" C "3;"
		   "git update-ref refs/agent/x HEAD", ways[i]);
		w = run(dir, "refs/agent/base", "onto", "refs/agent/x", NULL);
		assert_list(&w.left_out, "f");
		assert_out(dir, "git log -p --format=%s onto..refs/agent/tip | grep -c WORK || :;"
			   "git log --format=%s --name-only onto..refs/agent/tip | xargs",
			   "0\n3 2 f ok 1 f");
	}
}

/* Of a file too long to be told by lines, too. */
static void changed_within_a_long_file(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("long", "git init -q; seq 700000 >f; seq 9 >g; git add .; git commit -qm head; git tag onto;"
	   "git checkout -q --detach; sed -i 5aWORK f; sed -i 5aWORK g;" C "w;"
	   "git update-ref refs/agent/base HEAD; sed -i '1s/.*/agent/' f g;" C "1;"
	   "git update-ref refs/agent/x HEAD");
	w = run("long", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "f");
	assert_out("long", "git diff onto refs/agent/tip | grep '^[-+]'",
		   "--- a/g\n+++ b/g\n-1\n+agent");
}

/* What is too much to do for each commit is done for the last. */
static void merged_only_at_the_end(void **state)
{
	static const struct {
		uint64_t merges;
		const char *changed; /* by which commits f was, the last first */
		const char *summed;
	} cases[] = {
		{ 0, "4 3 2 1", "" },
		/* each is three texts of some fifty bytes: the third is too much */
		{ 400, "5 3 2 1", "f" },
		{ 1, "5", "f" },
	};

	(void)state;
	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;
		cleanup_free char *dir = ga_strf("sum%zu", i);

		SH(dir, CARRY "for i in 1 2 3 4; do sed -i 20s/.*/agent$i/ f; echo $i >n;" C "$i; done;"
		   "echo 5 >n;" C "5; git update-ref refs/agent/x HEAD");
		w = run_within(dir, "refs/agent/base", "onto", "refs/agent/x", NULL, cases[i].merges);
		assert_int_equal(w.left_out.n, 0);
		assert_list(&w.summed, cases[i].summed);
		assert_out(dir, "git show refs/agent/tip:f | sed -n '1p;20p'; git log --format=%s "
			   "onto..refs/agent/tip -- n | xargs", "1\nagent4\n5 4 3 2 1");
		assert_out(dir, "git log --format=%s onto..refs/agent/tip -- f | xargs",
			   cases[i].changed);
	}
}

/* Each commit leaves others of them out, and none is kept in memory for longer than it is needed. */
static void many_commits_and_paths(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;
	const char *many = getenv("GA_TEST_ROUNDS"), *n = many ? many : "1500";
	cleanup_free char *result = ga_strf("%s\n40\n0", n);
	struct rusage before, after;

	(void)state;
	SH("many", "git init -q; echo k >keep; git add .; git commit -qm head; git tag onto;"
	   "git checkout -q --detach; mkdir u; (cd u; for i in $(seq 1000); do echo w$i >$i; done);" C
	   "work; git update-ref refs/agent/base HEAD; from=$(git rev-parse HEAD);"
	   "(for i in $(seq %s); do printf 'commit refs/agent/x\\ncommitter A <a@b> 1700000000 +0000\\n"
	   "data 1\\nc\\n%%s\\nM 100644 inline u/7\\ndata <<E\\n%%d\\nE\\nM 100644 inline n%%d\\n"
	   "data <<E\\n%%d\\nE\\n' \"$from\" $i $((i %% 40)) $i; test $i != 1 || from=;"
	   "done) | sed \"/^$from\\$/s/^/from /\" | sed '/^$/d' | git fast-import --quiet --force", n);
	assert_out("many", "git rev-list --count refs/agent/base..refs/agent/x", n);
	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	w = run("many", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	assert_list(&w.left_out, "u/7");
	assert_out("many", "git rev-list --count onto..refs/agent/tip; git diff --name-only onto "
		   "refs/agent/tip | grep -c ^n; git log --format= --name-only onto..refs/agent/tip "
		   "| grep -c u/ || :", result);
#ifndef __SANITIZE_ADDRESS__
	assert_in_range((after.ru_maxrss - before.ru_maxrss) / 1024, 0, 60);
#endif
}

/* A message of four megabytes takes four kilobytes of a pack: they are read one at a time. */
static void long_messages(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;
	struct rusage before, after;

	(void)state;
	SH("longmsg", "git init -q; echo k >keep; git add .; git commit -qm head; git tag onto;"
	   "git checkout -q --detach; echo w >work; git add .;" C "work;"
	   "git update-ref refs/agent/base HEAD; from=$(git rev-parse HEAD);"
	   "(for i in $(seq 25); do printf 'commit refs/agent/x\\ncommitter A <a@b> 1700000000 +0000\\n"
	   "data 4000000\\n'; printf '%%08d' $i; head -c 3999991 /dev/zero | tr '\\0' m; echo;"
	   "test $i != 1 || echo \"from $from\"; printf 'M 100644 inline n\\ndata 4\\n%%04d\\n' $i;"
	   "done) | git fast-import --quiet --force");
	assert_int_equal(getrusage(RUSAGE_SELF, &before), 0);
	w = run("longmsg", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_int_equal(getrusage(RUSAGE_SELF, &after), 0);
	assert_out("longmsg", "git rev-list --count onto..refs/agent/tip; git show refs/agent/tip:n; "
		   "git log --format=%B refs/agent/base..refs/agent/x | md5sum >a; "
		   "git log --format=%B onto..refs/agent/tip | md5sum | cmp - a", "25\n0025");
#ifndef __SANITIZE_ADDRESS__
	assert_in_range((after.ru_maxrss - before.ru_maxrss) / 1024, 0, 60);
#endif
}

/* Left out on the way, but not at the end: nothing to tell. */
static void left_out_only_for_a_while(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("undone", CARRY "cp f ../f; sed -i 1s/.*/agent/ f;" C "1; cp ../f f; echo ok >ok;" C "2;"
		     "git update-ref refs/agent/x HEAD");
	w = run("undone", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_int_equal(w.left_out.n, 0);
	assert_out("undone", "git diff --name-status onto refs/agent/tip", "A\tok");
}

static void carried_and_held(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("both", CARRY "mkdir crit; echo x >crit/x; sed -i 20s/.*/agent/ f;" C "1; echo ok "
	   ">ok;" C "2;"
		   "git update-ref refs/agent/x HEAD");
	w = run("both", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.held_paths, "crit/x");
	assert_out("both", "git diff --name-status onto refs/agent/tip; git diff --name-status "
		   "refs/agent/tip "
			   "refs/agent/held; git show refs/agent/held:f | head -1",
		   "M\tf\nA\tok\nA\tcrit/x\n1");
	SH("both", "git update-ref refs/agent/orig %s; test -z \"$(git diff refs/agent/orig "
	   "refs/agent/held)\"",
	   GA_HEX(&w.orig));
}

/* The latest work stands on "under" and on the first, and is what the tip stands on; a branch of an
 * earlier run stands on the first alone. */
static void earlier_work_stays_out(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_oid base, under, tip;
	struct ga_stand first;
	struct ga_rewrite_opts o = { .base = &base, .onto = &under, .stands = &first,
				     .n_stands = 1, .tip = &tip, .facts = &facts,
				     .committer = COMMITTER, .session = "test-1" };

	(void)state;
	SH("stands", CARRY "sed -i 20s/.*/agent/ f; echo t >topic;" C "topic; git branch topic;"
	   "git checkout -q onto; echo 1 >one; cp one mine;" C "one; git tag under;"
	   "git checkout -q refs/agent/base; echo 1 >one; git add .; git update-ref refs/agent/from "
	   "$(git commit-tree -p under -p refs/agent/base -m from $(git write-tree));"
	   "git checkout -qf refs/agent/from; echo 2 >two;" C "two;"
	   "git merge -q -m both topic; git update-ref refs/agent/x HEAD; git branch -D topic");
	r = open_repo("stands");
	base = rev("stands", "refs/agent/from");
	under = rev("stands", "under");
	tip = rev("stands", "refs/agent/x");
	first = (struct ga_stand){ rev("stands", "refs/agent/base"), rev("stands", "onto^{commit}") };
	OK(ga_rewrite(r, &o, &w, &err));
	SH("stands", "git update-ref refs/agent/tip %s", GA_HEX(&w.tip));
	assert_out("stands", "git log --format=%s --topo-order refs/agent/tip; git rev-parse onto "
		   "refs/agent/tip^2^ | uniq | wc -l; git diff --name-only onto refs/agent/tip^2; "
		   "git diff --name-only under refs/agent/tip; for i in $(git rev-list "
		   "refs/agent/tip); do git show $i:f | head -1; done | uniq; git show "
		   "refs/agent/tip:f | tail -1; git show refs/agent/tip:mine",
		   "both\ntopic\ntwo\none\nhead\n1\nf\ntopic\nf\ntopic\ntwo\n1\nagent\n1");
	assert_int_equal(w.left_out.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* first: what others took counts for nothing then */
		cmocka_unit_test(long_messages),
		cmocka_unit_test(carried_work_stays_out),
		cmocka_unit_test(inseparable_is_left_out),
		cmocka_unit_test(moved_within_a_file),
		cmocka_unit_test(changed_within_a_long_file),
		cmocka_unit_test(merged_only_at_the_end),
		cmocka_unit_test(many_commits_and_paths),
		cmocka_unit_test(left_out_only_for_a_while),
		cmocka_unit_test(carried_and_held),
		cmocka_unit_test(earlier_work_stays_out),
	};

	return cmocka_run_group_tests_name("rewrite-carry", tests, scratch_setup, scratch_teardown);
}
