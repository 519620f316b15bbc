/* SPDX-License-Identifier: MIT
 *
 * Uncommitted work under other names: what the integration tests cannot count to.
 */
#include "rewrite-support.h"

/* HEAD is "onto", what the user has on it is refs/agent/base, what the agent made of it
 * refs/agent/x. */
#define HEADED "git init -q; seq 1 20 >f; seq 30 50 >t; git add .; git commit -qm head; git tag " \
	       "onto; git checkout -q --detach;"
#define CARRIED C "carried; git update-ref refs/agent/base HEAD;"
#define DONE C "done; git update-ref refs/agent/x HEAD"

/* For what is about its number: not where GA_TEST_ROUNDS asks for less, as under valgrind. */
static void all_of_it(void)
{
	if (getenv("GA_TEST_ROUNDS"))
		skip();
}

/* More pairs than are compared: what is not exactly the user's is published and named. */
static void too_much_is_named(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	all_of_it();
	SH("much", HEADED "for i in $(seq 1010); do echo work $i >u$i; done;" CARRIED
	   "for i in $(seq 1001); do echo $i >a$i; done; cp u7 z;" DONE);
	w = run("much", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "z");
	assert_true(w.unsure.n > 0 && w.unsure.n < 100);
	for (size_t i = 0; i < w.unsure.n; i++)
		assert_true(w.unsure.v[i][0] == 'a');
	SH("much", "test $(git diff --name-only onto refs/agent/tip | wc -l) = 1001");
}

/* It is named too where only a commit on the way has it. */
static void too_much_on_the_way(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	all_of_it();
	SH("muchway", HEADED "for i in $(seq 1010); do echo work $i >u$i; done;" CARRIED
	   "for i in $(seq 1001); do echo $i >a$i; done;" C "1; rm a*; echo ok >ok;" DONE);
	w = run("muchway", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_true(w.unsure.n > 0 && w.unsure.n < 100);
	assert_list(&w.left_out, "");
	assert_out("muchway", "git diff --name-only onto refs/agent/tip", "ok");
}

/* What commits leave alone is no more to compare, nor what they bring back, be it by a merge. */
static void compared_once(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	all_of_it();
	SH("once", "git init -q; seq 1 20 >f; for i in $(seq 300); do echo $i >a$i; done; git add .;"
	   "git commit -qm head; git tag onto; git checkout -q --detach;"
	   "for i in $(seq 1010); do echo work $i >u$i; done;" CARRIED
	   "for i in $(seq 300); do echo x $i >a$i; done;" C "1; git branch one;"
	   "for i in 1 2 3 4; do echo $i >>f;" C "$i; done; git checkout -q refs/agent/base -- .;"
	   C "back; git checkout -q one -- .;" C "again; git checkout -q refs/agent/base; echo 1 >new;"
	   C "side; git merge -q -m both one; git branch -D one;" DONE);
	w = run("once", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.unsure, "");
	assert_list(&w.left_out, "");
	assert_out("once", "git diff --name-only onto refs/agent/tip | wc -l", "301");
}

/* Where it was the user's, and cannot be told any more, it stays his. */
static void turned_binary(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("turned", HEADED "sed -i 10s/.*/WORK/ f;" CARRIED "cp f new;" C "1; printf 'a\\0' >>new;" C "2;"
	   "echo ok >ok;" DONE);
	w = run("turned", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "new");
	assert_list(&w.unsure, "");
	assert_out("turned", "git log --format= --name-only onto..refs/agent/tip", "ok");
}

/* What the user has himself may be too much: edits of it are still told from his. */
static void too_much_of_the_users(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	all_of_it();
	SH("users", HEADED "sed -i 1s/.*/WORK/ f; seq 400000 >0; for i in $(seq 22); do "
	   "sed 1s/.*/$i/ 0 >0$i; done;" CARRIED
	   "sed -i 20s/.*/agent/ f; cp 07 a; sed 9s/.*/x/ 07 >b; echo c >c;" DONE);
	w = run("users", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "a b");
	assert_true(ga_strv_find(&w.unsure, "c") >= 0 && ga_strv_find(&w.unsure, "f") >= 0);
	assert_out("users", "git show refs/agent/tip:f | sed -n '1p;20p'", "1\nagent");
}

/* Half of the longer one is the line, wherever it lies in the file. */
static void half_of_it_is_enough(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("half", HEADED "for i in 1 2 3 4 5 6; do echo work$i; done >u;" CARRIED
	   "(echo other; tac u | head -3; echo 12345; echo 67890) >in;"
	   "(head -2 u; seq 10 40) >less;"
	   "head -2 u >part; sed 's/$/\\r/' u >crlf; (cat u; printf 'a\\0') >binary;" DONE);
	w = run("half", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "crlf in");
	assert_int_equal(w.unsure.n, 0);
	assert_out("half", "git diff --name-only onto refs/agent/tip | xargs", "binary less part");
}

/* A long line counts in pieces, as it does for git. */
static void long_lines(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("long", HEADED "seq 1000 | tr '\\n' , >u;" CARRIED "sed 's/998/X/' u >new;"
	   "seq 2000 3000 | tr '\\n' , >other;" DONE);
	w = run("long", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "new");
}

/* On none of the commits on the way, and of merges on neither side. */
static void on_the_way(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("way", HEADED "sed -i 10s/.*/WORK/ f;" CARRIED "git mv f g;" C "1; git branch one;"
	   "git checkout -q refs/agent/base; cp f h; echo s >side;" C "2; git merge -q -m both one;"
	   "git branch -D one; git mv g d; sed -i 1s/.*/agent/ d; git rm -q h;" DONE);
	w = run("way", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "d f");
	SH("way", "test -z \"$(git log -p -m --format= onto..refs/agent/tip | grep WORK)\";"
	   "test $(git rev-list --count onto..refs/agent/tip) = 4;"
	   "test \"$(git diff --name-only onto refs/agent/tip)\" = side");
}

/* The user has it in a commit: a merge brings it, and it may be moved from then on. */
static void committed_by_the_user(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("theirs", HEADED "git checkout -qb theirs; sed 10s/.*/WORK/ f >g;" C "g;"
	   "git checkout -q --detach onto; sed -i 10s/.*/WORK/ f;" CARRIED
	   "cp f x;" C "x; git rm -q x;" C "no x;"
	   "git merge -q -m both theirs; git mv g h;" DONE);
	w = run("theirs", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "");
	SH("theirs", "test \"$(git diff --name-only onto refs/agent/tip)\" = h;"
	   "git log --format= --name-only onto..refs/agent/tip >a; ! grep x a");
}

/* What became a file where HEAD has a directory, and the reverse. */
static void in_the_way_of_each_other(void **state)
{
	cleanup_(ga_rewrite_release) struct ga_rewrite w = GA_REWRITE_INIT;

	(void)state;
	SH("clash", HEADED "mkdir d; echo in >d/in; git add .; git commit -q --amend -m head;"
	   "git tag -f onto; sed -i 10s/.*/WORK/ f;" CARRIED
	   "git rm -qr d; cp f d; git rm -q t; mkdir t; cp f t/new; echo ok >t/ok;" DONE);
	w = run("clash", "refs/agent/base", "onto", "refs/agent/x", NULL);
	assert_list(&w.left_out, "d t/new");
	SH("clash", "git ls-tree -r --name-only refs/agent/tip | xargs >a; echo f t/ok | cmp - a");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_much_is_named),
		cmocka_unit_test(too_much_on_the_way),
		cmocka_unit_test(compared_once),
		cmocka_unit_test(turned_binary),
		cmocka_unit_test(too_much_of_the_users),
		cmocka_unit_test(half_of_it_is_enough),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(on_the_way),
		cmocka_unit_test(committed_by_the_user),
		cmocka_unit_test(in_the_way_of_each_other),
	};

	return cmocka_run_group_tests_name("rewrite-origin", tests, scratch_setup,
					   scratch_teardown);
}
