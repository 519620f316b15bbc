/* SPDX-License-Identifier: MIT
 *
 * Reading upper layers made by hand: rules, names, conversion, and what no kernel
 * writes. Limits are in test-upper-limits.c; the cells of the case table are in test-upper-cells.c and
 * tests/integration/capture/t4000-cases.t; random work is in t4100-oracle.t.
 */
#include "../upper-support.h"

#include "ga/session/session.h"

/* ---- rows */

TEST(what_is_as_in_the_base_is_no_change)
{
	LAYER(l, "unchanged", BASE);

	put(&l, "a", "a\n");
	put_as(&l, "s", "s\n", 0700);
	put_as(&l, "d/x", "x\n", 0600);
	link_to(&l, "l", "a");
	mark(&l, "a", "user.overlay.origin", "whatever");
	mark(&l, "d", "user.overlay.impure", "y");
	mark(&l, ".", "user.overlay.uuid", "0123456789abcdef");
	mark(&l, "d", "user.overlay.overlay.opaque", "y"); /* what a program inside set */
	mark(&l, "a", "user.other", "1");
	assert_captured(&l, "");
	assert_left(&l, "");
	EQUAL(l.res.notes.n, 0);
}

TEST(only_the_executable_bit_is_captured)
{
	LAYER(l, "mode", BASE);

	put_as(&l, "a", "a\n", 0755);
	put_as(&l, "s", "s\n", 0644);
	put_as(&l, "n", "n\n", 06711);
	assert_captured(&l, "M a;A n;M s;");
	EQUAL(mode(&l, "a"), GA_MODE_EXEC);
	EQUAL(mode(&l, "s"), GA_MODE_FILE);
	EQUAL(mode(&l, "n"), GA_MODE_EXEC);
	l.o.filemode = false;
	assert_captured(&l, "A n;");
	EQUAL(mode(&l, "n"), GA_MODE_FILE);
}

TEST(ov01_whiteouts_delete)
{
	LAYER(l, "whiteout", BASE);

	white(&l, "a");
	white(&l, "d/e");
	white(&l, "not-in-base");
	white(&l, "l");
	assert_captured(&l, "D a;D d/e/y;D l;");
	assert_left(&l, "");
}

TEST(whiteouts_by_attribute_count_only_in_marked_directories)
{
	LAYER(l, "xwhiteout", BASE);

	dir(&l, "d");
	mark(&l, "d", "user.overlay.opaque", "x");
	put(&l, "d/x", "");
	mark(&l, "d/x", "user.overlay.whiteout", "y");
	/* in a directory that does not say it holds such files, it is not one */
	put(&l, "a", "");
	mark(&l, "a", "user.overlay.whiteout", "y");
	assert_captured(&l, "D d/x;");
	assert_left(&l, "unreadable a 1;");
}

TEST(ov04_an_opaque_directory_hides_that_of_the_base)
{
	LAYER(l, "opaque", BASE "; echo z >d/z; mkdir -p d/f; echo w >d/f/w");

	opaque(&l, "d");
	put(&l, "d/new", "n\n");
	put(&l, "d/z", "z\n");    /* written again as it was */
	put(&l, "d/f/v", "v\n");  /* inside an opaque one nothing shows either */
	assert_captured(&l, "D d/e/y;A d/f/v;D d/f/w;A d/new;D d/x;");
	mark(&l, "d", "user.overlay.opaque", "n"); /* not the value that says it */
	assert_captured(&l, "");
	assert_left(&l, "unreadable d 1;");
}

TEST(ov02_planted_overlay_attributes_are_not_followed)
{
	LAYER(l, "planted", BASE);

	put(&l, "d/more", "m\n");
	mark(&l, "d", "user.overlay.redirect", "/etc");
	put(&l, "a", "meta\n");
	mark(&l, "a", "user.overlay.metacopy", "");
	put(&l, "fine", "f\n");
	assert_captured(&l, "A fine;");
	assert_left(&l, "unreadable a 1;unreadable d 1;");
	EQUAL(l.res.notes.n, 2);
}

TEST(ov12_hard_links_and_holes_are_captured)
{
	LAYER(l, "hard", BASE);
	cleanup_close int at = in_upper(&l), fd = -1;

	put(&l, "one", "1\n");
	EQUAL(linkat(at, "one", at, "two", 0), 0);
	fd = openat(at, "hole", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	EQUAL(ftruncate(fd, 3 << 20), 0);
	assert_captured(&l, "A hole;A one;A two;");
	content(&l, "two", "1");
	if (l.res.keep)
		(void)unlink(l.res.keep);
}

TEST(ov08_files_without_permissions_are_read)
{
	LAYER(l, "unreadable", BASE);
	cleanup_free char *file = ga_path_join(l.upper, "f"), *d = ga_path_join(l.upper, "d/e");
	struct stat st;

	put(&l, "d/e/y", "changed\n");
	put(&l, "d/e/z", "z\n");
	put_as(&l, "f", "f\n", 0);
	EQUAL(chmod(d, 0), 0);
	assert_captured(&l, "M d/e/y;A d/e/z;A f;");
	assert_left(&l, "");
	/* nothing was changed to get there */
	EQUAL(stat(file, &st), 0);
	EQUAL(st.st_mode & 07777, 0);
	EQUAL(stat(d, &st), 0);
	EQUAL(st.st_mode & 07777, 0);
	EQUAL(chmod(d, 0755), 0);
}

TEST(ov10_ov19_names)
{
	static const char *const bad[] = { ".GIT", ".git ", "git~1", ".g\xe2\x80\x8cit", ".git::$INDEX_ALLOCATION",
					   "x\\.git", ".Git\\x" };
	static const char *const good[] = { ".gitx", "git~", "-rf", "CON", "a\\b", ".wh.a", ".wh..wh..opq",
					    ("\xe2\x80\xae" "rlo") };
	LAYER(l, "names", BASE);

	put(&l, ".git/config", "[core]\n\tfsmonitor = touch /tmp/x\n");
	for_each (row, bad) {
		cleanup_free char *inner = ga_strf("%s/config", *row), *sub = ga_strf("sub/%s", *row);

		put(&l, inner, "bad\n");
		put(&l, sub, "bad\n");
	}
	for_each (row, good)
		put(&l, *row, "good\n");
	link_to(&l, ".gitmodules", "a");
	free(captured(&l));
	EQUAL(l.res.changes.n, GA_NELEMS(good));
	EQUAL(l.res.left.n, 2 * GA_NELEMS(bad) + 1);
	for (size_t i = 0; i < l.res.left.n; i++) {
		EQUAL(l.res.left.v[i].kind, GA_LEFTOVER_NAME);
		EQUAL(l.res.left.v[i].count, 1);
	}
}

TEST(ov11_a_nested_repository_is_left_behind)
{
	LAYER(l, "nested", BASE);

	put(&l, "vendor/x/.git/HEAD", "ref: refs/heads/main\n");
	put(&l, "vendor/x/.git/objects/k", "");
	put(&l, "vendor/x/.git/refs/k", "");
	put(&l, "vendor/x/file", "f\n");
	put(&l, "vendor/other", "o\n");
	put(&l, "sub/.git", "gitdir: ../../somewhere\n");
	put(&l, "sub/f", "f\n");
	/* a tracked directory stays one, whatever is planted in it */
	put(&l, "d/.git/HEAD", "ref: refs/heads/main\n");
	put(&l, "d/.git/objects/k", "");
	put(&l, "d/.git/refs/k", "");
	put(&l, "d/x", "changed\n");
	/* an empty directory of that name makes no repository */
	dir(&l, "no/.git");
	put(&l, "no/f", "f\n");
	assert_captured(&l, "M d/x;A no/f;A vendor/other;");
	assert_left(&l, "repository d/.git 3;repository no/.git 0;repository sub 2;repository vendor/x 4;");
}

TEST(ignored_files_are_left_behind)
{
	LAYER(l, "ignored", BASE
		"; printf '*.log\\nbuild/\\n' >.gitignore; echo t >tracked.log; mkdir build; echo 1 >build/tracked");

	l.o.host_excludes = "*.swp\n";
	put(&l, "x.log", "12345");
	put(&l, "x.swp", "1");
	put(&l, "tracked.log", "changed\n");
	put(&l, "build/tracked", "changed\n");
	put(&l, "build/new", "1");
	put(&l, "build/sub/new", "12");
	put(&l, "node/.gitignore", "/mods/\n");
	put(&l, "node/mods/a/b", "1");
	put(&l, "node/mods/c", "1");
	white(&l, "node/mods/gone");
	put(&l, "p/x.log", "1");
	assert_captured(&l, "M build/tracked;A node/.gitignore;M tracked.log;");
	assert_left(&l, "ignored build 2;ignored node/mods 2;ignored p/x.log 1;ignored x.log 1;ignored x.swp 1;");
	EQUAL(l.res.left.v[0].bytes, 3);
	EQUAL(l.res.newly_ignored.n, 1);
	STREQ(l.res.newly_ignored.v[0], "node/mods");
}

TEST(the_rules_of_the_result_count)
{
	LAYER(l, "rules", BASE
		"; echo '*.log' >.gitignore; echo '*.tmp' >d/.gitignore");

	put(&l, ".gitignore", "*\n!keep.me\n");  /* ignores everything new, the base's paths stay */
	white(&l, "d/.gitignore");
	put(&l, "keep.me", "k\n");
	put(&l, "other", "o\n");
	put(&l, "a", "changed\n");
	assert_captured(&l, "M .gitignore;M a;D d/.gitignore;A keep.me;");
	assert_left(&l, "ignored other 1;");
	EQUAL(l.res.newly_ignored.n, 1);
	/* not through a link */
	SH("rules", "rm upper/.gitignore; echo '*' >everything; ln -s ../everything upper/.gitignore");
	assert_captured(&l, "T .gitignore;M a;D d/.gitignore;A keep.me;A other;");
}

/* What tools write into the directories that they make is ignored itself, and in no tree. */
TEST(ignored_rules_of_the_user_count)
{
	LAYER(l, "users", BASE "; mkdir t; echo '!n' >t/.gitignore");
	cleanup_free char *extras = in_scratch("users/extras");
	struct ga_oid tracked;

	SH("users", "mkdir -p extras/v extras/d extras/t extras/w extras/x && echo '*' | tee extras/v/.gitignore "
		    "extras/t/.gitignore extras/x/.gitignore all >/dev/null && printf '*.tmp\n.gitignore\n' "
		    ">extras/d/.gitignore && ln -s ../../all extras/w/.gitignore");
	l.o.extras = extras;
	put(&l, "v/lib/a", "1");
	put(&l, "d/x", "changed\n");
	put(&l, "d/y.tmp", "1");
	put(&l, "d/e/z.tmp", "1");
	put(&l, "t/n", "the base has rules there\n");
	put(&l, "w/n", "no link is followed\n");
	white(&l, "x/.gitignore");
	put(&l, "x/n", "the agent removed these\n");
	assert_captured(&l, "M d/x;A t/n;A w/n;A x/n;");
	assert_left(&l, "ignored d/e/z.tmp 1;ignored d/y.tmp 1;ignored v/lib 1;");
	EQUAL(l.res.newly_ignored.n, 0);
	/* its own count instead, and a directory of its own has none of them */
	put(&l, "v/.gitignore", "lib/b\n");
	opaque(&l, "d");
	assert_captured(&l, "D d/e/y;A d/e/z.tmp;M d/x;A d/y.tmp;A t/n;A v/.gitignore;A v/lib/a;A w/n;A x/n;");
	put(&l, "d/.gitignore", "*.tmp\n");
	put(&l, "v/.gitignore", "*\n");
	assert_captured(&l, "A d/.gitignore;D d/e/y;M d/x;A t/n;A w/n;A x/n;");
	EQUAL(l.res.newly_ignored.n, 0);
	/* longer than may be: as if it were not there, and said */
	SH("users", "rm -r upper && mkdir upper");
	put(&l, "d/y.tmp", "1");
	l.limits.rules_size = 10;
	assert_captured(&l, "A d/y.tmp;");
	EQUAL(l.res.met, (uint64_t)1 << GA_LIMIT_RULES_SIZE);
	l.limits.rules_size = 1000;
	/* where the walk does not come: dropped by the agent, and ignored */
	SH("users/r", "git rm -rq --cached d/x && git commit -qm dropped");
	SH("users", "echo x >>extras/d/.gitignore; rm -r upper/d");
	tracked = oid_of("users/r", "HEAD^{tree}");
	l.o.tracked = &tracked;
	assert_captured(&l, "D d/x;");
	SH("users", "rm extras/d/.gitignore");
	assert_captured(&l, "");
}

TEST(what_the_agent_tracks_is_captured)
{
	LAYER(l, "tracked", BASE
		"; printf '*.log\\ngen/\\n' >.gitignore; echo o >old.log; mkdir gen; echo 1 >gen/1; echo 2 >gen/2");
	struct ga_oid tracked;

	/* the agent forced one log in, and dropped old.log and gen/ from its index */
	put(&l, "forced.log", "f\n");
	put(&l, "unforced.log", "u\n");
	put(&l, "gen/1", "changed\n");
	SH("tracked/r", "cp ../upper/forced.log . && git add -f forced.log && "
			"git rm -q --cached -r old.log gen && git commit -qm agent");
	tracked = oid_of("tracked/r", "HEAD^{tree}");
	l.o.tracked = &tracked;
	assert_captured(&l, "A forced.log;D gen/1;D gen/2;D old.log;");
	assert_left(&l, "ignored gen 1;ignored unforced.log 1;");
	assert_true(ga_oid_equal(&l.res.tree, &tracked));
	/* what only a layer between has: the user's ignored file, forced in */
	SH("tracked", "mkdir extras && rm upper/forced.log && echo f >extras/forced.log");
	{
		cleanup_free char *extras = in_scratch("tracked/extras");

		l.o.extras = extras;
		assert_captured(&l, "A forced.log;D gen/1;D gen/2;D old.log;");
		l.o.extras = NULL;
		assert_captured(&l, "D gen/1;D gen/2;D old.log;");
	}
}

TEST(layers_that_need_conversion_are_told)
{
	LAYER(l, "convert", BASE);
	cleanup_free char *extras = in_scratch("convert/extras");
	STRV(paths);
	struct ga_entry entry;

	put(&l, "a", "1\r\n");
	put(&l, "d/x", "2\r\n");
	assert_captured(&l, "M a;M d/x;");
	put(&l, "d/.gitattributes", "*.png binary diff=x\n");
	assert_captured(&l, "M a;A d/.gitattributes;M d/x;");
	put(&l, "d/.gitattributes", "[attr]mine eol=lf\n");
	assert_captured(&l, "convert");
	/* the user's own, in no tree, which shows or not */
	SH("convert", "rm upper/d/.gitattributes; mkdir -p extras/d; echo '* text' >extras/d/.gitattributes");
	l.o.extras = extras;
	assert_captured(&l, "convert");
	SH("convert", "rm extras/d/.gitattributes");
	assert_captured(&l, "M a;M d/x;");
	put(&l, "d/.gitattributes", "[attr]mine eol=lf\n");
	assert_captured(&l, "convert");
	l.o.raw = true;
	assert_captured(&l, "M a;A d/.gitattributes;M d/x;");
	l.o.raw = false;
	/* what git inside made of it counts, with our own word on the mode */
	entry = (struct ga_entry){ GA_MODE_EXEC, oid_of("convert/r", "HEAD:s") };
	ga_strv_push(&paths, "d/x");
	l.o.cleaned_paths = &paths;
	l.o.cleaned_entries = &entry;
	assert_captured(&l, "M a;A d/.gitattributes;M d/x;");
	content(&l, "d/x", "s");
	EQUAL(mode(&l, "d/x"), GA_MODE_FILE);
}

static void check_paths(const struct ga_strv *got, const char *want, const char *file, int line)
{
	BUF(b);

	for (size_t i = 0; i < got->n; i++)
		ga_buf_addf(&b, "%s ", got->v[i]);
	_assert_string_equal(b.ptr, want, file, line);
}
#define assert_paths(got, want) check_paths(got, want, __FILE__, __LINE__)

TEST(files_to_convert_are_listed)
{
	cleanup_close int at = -1;
	LAYER(l, "list", BASE "; echo '*.log' >.gitignore");
	cleanup_(ga_upper_files_release) struct ga_upper_files got = GA_UPPER_FILES_INIT;

	put(&l, "z", "123");
	put(&l, "d/x", "1");
	put(&l, "x.log", "1");
	put_as(&l, "closed", "1", 0);
	link_to(&l, "ln", "x");
	/* the names that come before that of the attributes, too */
	put(&l, "f/+", "1");
	put(&l, "f/g/x", "1");
	put_as(&l, "f/y", "1", 0);
	at = in_upper(&l);
	EQUAL(mkfifoat(at, "f/.gitattributes", 0600), 0);
	put_as(&l, "u/.gitattributes", "* text", 0);
	put(&l, "u/x", "12");
	put_as(&l, "u/y", "1", 0200);
	l.o.base_tree = &l.base;
	l.o.limits = &l.limits;
	OK(ga_upper_list(l.repo, &l.o, &got, &err));
	EQUAL(got.bytes, 6);
	assert_paths(&got.open, "d/x u/x z ");
	assert_paths(&got.closed, "closed u/.gitattributes u/y ");
	assert_paths(&got.barred, "f/+ f/g/x f/y ");
	assert_paths(&got.unsure, "u/.gitattributes u/x u/y ");
}

TEST(a_session_is_a_worktree_entry_of_git)
{
	LAYER(l, "entry", BASE);
	struct ga_session s = GA_SESSION_INIT;
	cleanup_free char *dir_ = in_scratch("entry/session"), *list = NULL;

	s.name = ga_strdup("x-1");
	s.dir = ga_strdup(dir_);
	s.id.branch = ga_strdup("refs/heads/agent/x-1");
	SH("entry/r", "git branch agent/x-1");
	OK(ga_worktree_entry_create(l.repo, &s, &err));
	OK(ga_worktree_entry_create(l.repo, &s, &err));
	list = sh("entry/r", "git worktree prune; git worktree list | grep -c 'agent/x-1. locked'; "
			     "! git branch -D agent/x-1 2>/dev/null; ! git switch -q agent/x-1 2>/dev/null; git fsck");
	STREQ(list, "1");
	OK(ga_worktree_entry_remove(l.repo, &s, &err));
	OK(ga_worktree_entry_remove(l.repo, &s, &err));
	SH("entry/r", "test ! -e .git/worktrees; git worktree add -q ../agent-x-1 -b other");
	OK(ga_worktree_entry_remove(l.repo, &s, &err));
	FAILS(ga_worktree_entry_create(l.repo, &s, &err), "agent-x-1");
	SH("entry/r", "test -e .git/worktrees/agent-x-1/gitdir");
	ga_session_release(&s);
}

TEST_MAIN(scratch_setup, scratch_teardown)
