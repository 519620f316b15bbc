/* SPDX-License-Identifier: MIT
 *
 * Packs that are too much, or come too slowly, and what is left of those that were interrupted.
 */
#include "ga/repo/objects.h"
#include "import-support.h"

/* Every limit, with a pack that keeps to it and one that is one beyond. */
static void check_limit(const char *script, const struct ga_import_limits *good, const struct ga_import_limits *over,
			const char *why)
{
	cleanup_attempt struct attempt a = try_pack(script, PACK, good);

	if (a.rc)
		fail_msg("'%s' is the reason for: %s", a.reason, why);
	refused_within(over, script, PACK, NULL, why);
}

TEST(each_limit_refuses_what_is_one_beyond)
{
	static const char script[] = "head -c 100000 /dev/zero >zero; git add .; git commit -qm 1;"
				     "for i in 2 3; do git commit -q --allow-empty -m $i; done;git rev-parse HEAD";
	struct ga_import_limits good = wide, over = wide;

#define LIMIT(field, limit, why) \
	good.field = limit; \
	over.field = limit - 1; \
	check_limit(script, &good, &over, why); \
	good = over = wide
	LIMIT(max_objects, 5, "too many objects");
	LIMIT(max_object_bytes, 100000, "an object is too large");
	LIMIT(max_commits, 3, "too many commits");
	over.max_total_bytes = 100010;
	check_limit(script, &good, &over, "the objects are too large together");
	over = wide;
	over.max_pack_bytes = 300;
	check_limit(script, &good, &over, "the pack is too large");
}

/* Trees that make more paths, or longer ones, than anybody could list or check out. */
TEST(gt05_trees_beyond_limits)
{
	/* 2 * 10 files and 2 directories, as 22 paths of 2 * (1 + 10 * 3) bytes, on 3 commits */
	static const char script[] = "t=$(for i in 0 1 2 3 4 5 6 7 8 9; do entry 100644 $i $b; done | raw tree);"
		"t=$( (git cat-file tree HEAD^{tree}; entry 40000 x $t; entry 40000 y $t) | raw tree);"
		"c=$(commit $t); for i in 2 3; do c=$(git commit-tree -p $c -m $i $t); done; echo $c";
	struct ga_import_limits good = wide, over = wide;

	LIMIT(max_paths, 22, "has too many paths");
	LIMIT(max_path_bytes, 62, "has too many paths");
	LIMIT(max_all_paths, 66, "too many paths together");
}

/* A stream that never ends is given up; nobody waits for the writer. */
TEST(gt05_stalled_stream)
{
	REPOSITORY(r);
	struct ga_import_limits l = wide;
	cleanup_free char *reason = NULL;
	ERR(e);
	struct ga_import *im;
	int fds[2];

	make_pair();
	r = open_repo("import/host");
	EQUAL(pipe2(fds, O_CLOEXEC), 0);
	l.timeout_ms = 100;
	OK(ga_import_begin(r, &l, GA_PROGRESS_NEVER, &im, &err));
	EQUAL(ga_import_pack(im, fds[0], &reason, &e), 1);
	STREQ(reason, "the pack took too long to arrive");
	ga_import_free(im);
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_nothing_came_in("stalled");
}

/* The time is for all of it: what is not done by then is not begun. */
TEST(gt05_time_is_for_all)
{
	static const char script[] = "commit HEAD^{tree}";
	REPOSITORY(r);
	struct ga_import_limits l = wide;
	cleanup_free char *reason = NULL, *path = in_scratch("import/pack");
	ERR(e);
	cleanup_close int fd = -1;
	struct ga_import *im;
	struct ga_oid tip, base;

	make_pair();
	tip = OID("import", "%s%s", LIB, script);
	base = OID("import", "git -C host rev-parse HEAD");
	SH("import", "cd agent; set -- %s %s; %s", GA_HEX(&tip), GA_HEX(&base), PACK);
	r = open_repo("import/host");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	l.timeout_ms = 3000;
	OK(ga_import_begin(r, &l, GA_PROGRESS_NEVER, &im, &err));
	OK(ga_import_pack(im, fd, &reason, &err));
	(void)sleep(3);
	EQUAL(ga_import_check(im, &tip, 1, &base, 1, &reason, &e), 1);
	STREQ(reason, "checking the commits took too long");
	EQUAL(ga_import_over(im), GA_IMPORT_TIME);
	ga_import_free(im);
	assert_nothing_came_in("late");
}

TEST(what_a_killed_import_left_is_swept)
{
	REPOSITORY(r);
	struct ga_import *im = NULL;

	make_pair();
	r = open_repo("import/host");
	SH("import", "cd host/.git/objects; mkdir -p tmp_objdir-git-agent-left/pack/x tmp_objdir-other;"
		    "ln -s .. tmp_objdir-git-agent-link");
	OK(ga_import_begin(r, &wide, GA_PROGRESS_NEVER, &im, &err));
	ga_import_sweep(r);
	SH("import", "cd host/.git/objects; test ! -e tmp_objdir-git-agent-left; test -d tmp_objdir-other;"
		    "test -L tmp_objdir-git-agent-link; rm tmp_objdir-git-agent-link;"
		    "test -d tmp_objdir-git-agent-*/pack");
	ga_import_free(im);
	SH("import", "cd host/.git/objects; test ! -e tmp_objdir-git-agent-*");
}

/* One that is just being made looks like one that was left. */
TEST(an_import_that_is_running_is_not_swept)
{
	REPOSITORY(r);
	int status = -1;
	pid_t pid;

	make_pair();
	r = open_repo("import/host");
	pid = fork();
	assert_true(pid >= 0);
	for (int i = 0; !pid && i < 200; i++) {
		ERR(err);
		struct ga_import *im = NULL;

		if (ga_import_begin(r, &wide, GA_PROGRESS_NEVER, &im, &err) ||
		    system("test -d import/host/.git/objects/tmp_objdir-git-agent-*/pack"))
			_exit(1);
		ga_import_free(im);
	}
	if (!pid)
		_exit(0);
	while (!waitpid(pid, &status, WNOHANG))
		ga_import_sweep(r);
	EQUAL(status, 0);
}

TEST_MAIN(scratch_setup, scratch_teardown)
