/* SPDX-License-Identifier: MIT
 *
 * Packs that are too much, or come too slowly, and what is left of those that were interrupted.
 */
#include "import-support.h"

/* Every limit, with a pack that keeps to it by one and one that does not. */
TEST(each_limit_refuses_what_is_one_beyond)
{
	static const char script[] = "head -c 100000 /dev/zero >zero; git add .; git commit -qm 1;"
				     "for i in 2 3; do git commit -q --allow-empty -m $i; done;"
				     "git rev-parse HEAD";
	struct ga_import_limits l = wide;

#define LIMIT(field, good, what)                                                        \
	do {                                                                            \
		for (int over = 0; over < 2; over++) {                                  \
			cleanup_strv struct ga_strv keeps = GA_STRV_INIT;               \
			struct ga_import_limits m = l;                                  \
			struct attempt a;                                               \
			cleanup_free char *reason = NULL;                               \
			m.field = (good) - (over ? 1 : 0);                              \
			a = try_pack("limits", script, PACK, &m, &keeps);               \
			reason = a.reason;                                              \
			if (a.rc != over || (over && !strstr(reason, what)))            \
				fail_msg("%s %d: %s", #field, over, reason ? reason : "accepted"); \
			if (over)                                                       \
				assert_nothing_came_in("limits", #field);               \
		}                                                                       \
	} while (0)
	LIMIT(max_objects, 5, "too many objects");
	LIMIT(max_object_bytes, 100000, "an object is too large");
	LIMIT(max_commits, 3, "too many commits");
#undef LIMIT
	{
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct attempt a;
		cleanup_free char *reason = NULL;

		l.max_total_bytes = 100010;
		a = try_pack("limits", script, PACK, &l, &keeps);
		reason = a.reason;
		assert_int_equal(a.rc, 1);
		assert_string_equal(reason, "the objects are too large together");
		l = wide;
		l.max_pack_bytes = 300;
		free(reason);
		a = try_pack("limits", script, PACK, &l, &keeps);
		reason = a.reason;
		assert_int_equal(a.rc, 1);
		assert_string_equal(reason, "the pack is too large");
	}
}

/* Trees that make more paths, or longer ones, than anybody could list or check out. */
TEST(gt05_trees_beyond_limits)
{
	/* 2 * 10 files and 2 directories, as 22 paths of 2 * (1 + 10 * 3) bytes, on 3 commits */
	static const char script[] =
		"t=$(for i in 0 1 2 3 4 5 6 7 8 9; do entry 100644 $i $b; done | raw tree);"
		"t=$( (git cat-file tree HEAD^{tree}; entry 40000 x $t; entry 40000 y $t) | raw tree);"
		"c=$(commit $t); for i in 2 3; do c=$(git commit-tree -p $c -m $i $t); done; echo $c";
	static const struct {
		uint64_t paths, bytes, all;
		const char *reason;
	} cases[] = {
		{ 22, 62, 66, NULL },
		{ 21, 62, 66, "has too many paths" },
		{ 22, 61, 66, "has too many paths" },
		{ 22, 62, 65, "too many paths together" },
	};

	for (size_t i = 0; i < GA_NELEMS(cases); i++) {
		cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
		struct ga_import_limits l = wide;
		cleanup_free char *reason = NULL;
		struct attempt a;

		l.max_paths = cases[i].paths;
		l.max_path_bytes = cases[i].bytes;
		l.max_all_paths = cases[i].all;
		a = try_pack("paths", script, PACK, &l, &keeps);
		reason = a.reason;
		if (a.rc != (cases[i].reason ? 1 : 0) ||
		    (cases[i].reason && !strstr(reason, cases[i].reason)))
			fail_msg("case %zu: %s", i, reason ? reason : "accepted");
	}
}

/* A stream that never ends is given up; nobody waits for the writer. */
TEST(gt05_stalled_stream)
{
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_import_limits l = wide;
	cleanup_free char *reason = NULL;
	cleanup_error struct ga_error e = GA_ERROR_INIT;
	struct ga_import *im;
	int fds[2];

	make_pair("stall");
	r = open_repo("stall/host");
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	l.timeout_ms = 100;
	OK(ga_import_begin(r, &l, &im, &err));
	assert_int_equal(ga_import_pack(im, fds[0], &reason, &e), 1);
	assert_string_equal(reason, "the pack took too long to arrive");
	ga_import_free(im);
	(void)close(fds[0]);
	(void)close(fds[1]);
	assert_nothing_came_in("stall", "stalled");
}

/* The time is for all of it: what is not done by then is not begun. */
TEST(gt05_time_is_for_all)
{
	static const char script[] = "commit HEAD^{tree}";
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_import_limits l = wide;
	cleanup_free char *reason = NULL, *path = in_scratch("late/pack");
	cleanup_error struct ga_error e = GA_ERROR_INIT;
	cleanup_close int fd = -1;
	struct ga_import *im;
	struct ga_oid tip, base;

	make_pair("late");
	tip = OID("late", "%s%s", LIB, script);
	base = OID("late", "git -C host rev-parse HEAD");
	SH("late", "cd agent; set -- %s %s; %s", GA_HEX(&tip), GA_HEX(&base), PACK);
	r = open_repo("late/host");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	l.timeout_ms = 3000;
	OK(ga_import_begin(r, &l, &im, &err));
	OK(ga_import_pack(im, fd, &reason, &err));
	(void)sleep(3);
	assert_int_equal(ga_import_check(im, &tip, 1, &base, 1, &reason, &e), 1);
	assert_string_equal(reason, "checking the commits took too long");
	assert_int_equal(ga_import_over(im), GA_IMPORT_TIME);
	ga_import_free(im);
	assert_nothing_came_in("late", "late");
}

/* A delta of a few bytes that would come to a gigabyte. */
TEST(gt05_delta_bomb)
{
	static const char script[] = "echo $base";
	static const char pack[] =
		"perl -MCompress::Zlib -MDigest::SHA=sha1 -e '"
		"sub v { my $n=shift; my $s=\"\"; while ($n>127) { $s.=chr($n&127|128); $n>>=7 }"
		" $s.chr($n) }"
		"sub h { my ($t,$n)=@_; my $c=$t<<4|$n&15; $n>>=4; my $s=\"\";"
		" while ($n) { $s.=chr($c|128); $c=$n&127; $n>>=7 } $s.chr($c) }"
		"my $b=\"a\"x65536; my $p=\"PACK\".pack(\"NN\",2,2); my $o=length $p;"
		"$p.=h(3,65536).compress($b); my $d=v(65536).v(65536*20000).(\"\\x80\"x20000);"
		"my $off=length($p)-$o; my $e=chr($off&127); $e=chr((--$off&127)|128).$e while "
		"$off>>=7;"
		"$p.=h(6,length $d).$e.compress($d); print $p,sha1($p)' >../pack";
	cleanup_strv struct ga_strv keeps = GA_STRV_INIT;
	struct attempt a;
	cleanup_free char *reason = NULL;

	a = try_pack("bomb", script, pack, NULL, &keeps);
	reason = a.reason;
	assert_int_equal(a.rc, 1);
	assert_string_equal(reason, "an object is too large");
	assert_nothing_came_in("bomb", "delta bomb");
}

TEST(what_a_killed_import_left_is_swept)
{
	cleanup_repo struct ga_repo *r = NULL;
	struct ga_import *im = NULL;

	make_pair("sweep");
	r = open_repo("sweep/host");
	SH("sweep", "cd host/.git/objects; mkdir -p tmp_objdir-git-agent-left/pack/x tmp_objdir-other;"
		    "ln -s .. tmp_objdir-git-agent-link");
	OK(ga_import_begin(r, &wide, &im, &err));
	ga_import_sweep(r);
	SH("sweep", "cd host/.git/objects; test ! -e tmp_objdir-git-agent-left; test -d tmp_objdir-other;"
		    "test -L tmp_objdir-git-agent-link; rm tmp_objdir-git-agent-link;"
		    "test -d tmp_objdir-git-agent-*/pack");
	ga_import_free(im);
	SH("sweep", "cd host/.git/objects; test ! -e tmp_objdir-git-agent-*");
}

/* One that is just being made looks like one that was left. */
TEST(an_import_that_is_running_is_not_swept)
{
	cleanup_repo struct ga_repo *r = NULL;
	int status = -1;
	pid_t pid;

	make_pair("living");
	r = open_repo("living/host");
	pid = fork();
	assert_true(pid >= 0);
	for (int i = 0; !pid && i < 200; i++) {
		cleanup_error struct ga_error err = GA_ERROR_INIT;
		struct ga_import *im = NULL;

		if (ga_import_begin(r, &wide, &im, &err) ||
		    system("test -d living/host/.git/objects/tmp_objdir-git-agent-*/pack"))
			_exit(1);
		ga_import_free(im);
	}
	if (!pid)
		_exit(0);
	while (!waitpid(pid, &status, WNOHANG))
		ga_import_sweep(r);
	assert_int_equal(status, 0);
}

TEST_MAIN(scratch_setup, scratch_teardown)
