/* SPDX-License-Identifier: MIT */
#include "../repo-support.h"

#include "ga/base/path.h"
#include "ga/repo/objects.h"

TEST(a_repository_opens_from_any_directory_in_it)
{
	cleanup_repo struct ga_repo *a = NULL, *b = NULL;
	cleanup_free char *top = in_scratch("open/with space, and:colon");
	cleanup_free char *git = ga_path_join(top, ".git");

	a = make_repo("open/with space, and:colon", "mkdir -p a/b; ln -s . ../link");
	b = open_repo("open/link/with space, and:colon/a/b");
	STREQ(ga_repo_info(a)->workdir, top);
	STREQ(ga_repo_info(b)->workdir, top);
	STREQ(ga_repo_info(b)->gitdir, git);
	STREQ(ga_repo_info(b)->commondir, git);
	STREQ(ga_repo_info(a)->id, ga_repo_info(b)->id);
	EQUAL(strlen(ga_repo_info(a)->id), 16);
	assert_false(ga_repo_info(a)->linked);
	assert_false(ga_repo_info(a)->shallow);
	assert_null(ga_repo_operation(a));
}

static char *id_of(const char *rel)
{
	cleanup_repo struct ga_repo *r = open_repo(rel);

	return ga_strdup(ga_repo_info(r)->id);
}

TEST(a_moved_repository_keeps_its_id_and_a_copy_gets_another)
{
	cleanup_free char *first = NULL, *moved = NULL, *again = NULL, *copy = NULL, *copy2 = NULL;

	SH("id/a", "git init -q");
	first = id_of("id/a");
	SH("id", "mv a b");
	moved = id_of("id/b");
	STREQ(first, moved);
	SH("id", "cp -a b c");
	copy = id_of("id/c");
	assert_string_not_equal(copy, first);
	copy2 = id_of("id/c");
	STREQ(copy, copy2);
	again = id_of("id/b");
	STREQ(again, first);
}

TEST(damaged_id_is_replaced)
{
	cleanup_free char *a = NULL, *b = NULL;

	SH("id2/a", "git init -q; mkdir .git/git-agent; printf 01234 >.git/git-agent/id");
	a = id_of("id2/a");
	EQUAL(strlen(a), 16);
	b = id_of("id2/a");
	STREQ(a, b);
}

/* First sessions of one repository, started at the same time. */
TEST(processes_at_once_make_one_id)
{
	cleanup_free char *sorted = NULL;
	pid_t pids[8];

	SH("race/a", "git init -q");
	for_index (i, pids) {
		pids[i] = fork();
		if (!pids[i]) {
			cleanup_free char *id = id_of("race/a");
			cleanup_free char *out = ga_strf("%s/race/%zu", scratch, i);
			cleanup_close int fd = open(out, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

			_exit(ga_write_full(fd, id, strlen(id)) || ga_write_full(fd, "\n", 1) ? 1 : 0);
		}
	}
	for_each (row, pids) {
		int st = -1;

		EQUAL(waitpid(*row, &st, 0), *row);
		EQUAL(st, 0);
	}
	sorted = sh("race", "cat 0 1 2 3 4 5 6 7 | sort -u | wc -l");
	STREQ(sorted, "1");
}

TEST(object_dirs_follow_alternates)
{
	REPOSITORY(r);
	STRV(dirs);
	cleanup_free char *o0 = in_scratch("alt/c/.git/objects");
	cleanup_free char *o1 = in_scratch("alt/b/.git/objects");
	cleanup_free char *o2 = in_scratch("alt/a \"x/.git/objects");

	SH("alt", "git init -q 'a \"x'; git init -q b; git init -q c;"
		  "printf '\"%%s\"\\n' \"$PWD/a \\\\\\\"x/.git/objects\" >b/.git/objects/info/alternates;"
		  "printf '# one\\n\\n../../../b/.git/objects\\n/nowhere\\n%%s\\n' "
		  "\"$PWD/c/.git/objects\" >c/.git/objects/info/alternates");
	r = open_repo("alt/c");
	OK(ga_repo_object_dirs(r, &dirs, &err));
	EQUAL(dirs.n, 3);
	STREQ(dirs.v[0], o0);
	STREQ(dirs.v[1], o1);
	STREQ(dirs.v[2], o2);
}

TEST(HEAD_and_revisions_are_resolved_to_commits)
{
	ERR(err);
	REPOSITORY(r);
	cleanup_free char *branch = NULL, *head = NULL, *first = NULL;
	static const char *const good[] = { "HEAD", "main", "refs/heads/main", "v1", "@", ":/second" };
	static const char *const bad[] = { "nowhere", "--all", "HEAD~5", "", "v-blob",
					   "0123456789012345678901234567890123456789" };
	struct ga_oid oid;

	r = make_repo("head", "");
	EQUAL(ga_repo_head(r, &oid, &branch, &err), 1);
	STREQ(branch, "refs/heads/main");
	EQUAL(ga_repo_resolve(r, "HEAD", &oid, &err), -1);
	STREQ(err.msg, "there is no commit yet");
	ga_error_release(&err);
	SH("head", "git commit -q --allow-empty -m first; git commit -q --allow-empty -m second;"
		   "git tag -a -m tag v1; git tag v-blob $(git hash-object -w --stdin </dev/null)");
	head = sh("head", "git rev-parse HEAD");
	first = sh("head", "git rev-parse HEAD~1");
	free(branch);
	EQUAL(ga_repo_head(r, &oid, &branch, &err), 0);
	STREQ(branch, "refs/heads/main");
	for_each (row, good) {
		if (ga_repo_resolve(r, *row, &oid, &err))
			fail_msg("%s: %s", *row, err.msg);
		STREQ(GA_HEX(&oid), head);
	}
	EQUAL(ga_repo_resolve(r, "HEAD~1", &oid, &err), 0);
	STREQ(GA_HEX(&oid), first);
	for_each (row, bad) {
		if (!ga_repo_resolve(r, *row, &oid, &err))
			fail_msg("'%s' was resolved", *row);
		ga_error_release(&err);
	}
	SH("head", "git checkout -q HEAD~1");
	free(branch);
	EQUAL(ga_repo_head(r, &oid, &branch, &err), 0);
	assert_null(branch);
	STREQ(GA_HEX(&oid), first);
}

/* Held against what git makes of a copy of it. */
TEST(the_tree_of_the_index_is_that_of_git)
{
	static const struct {
		const char *what;
		bool told;
	} steps[] = {
		{ "mkdir d; echo 1 >d/f; echo 1 >g; git add .; git commit -qm 1", true },
		{ "echo 2 >g; touch h; git commit -qam 2", true },
		{ "git update-index --index-version 4", true },
		{ "git add -N h", false },
		{ "git rm -q --cached h; git read-tree HEAD", true },
		{ "echo 3 >d/f; git add d", false },
		{ "git write-tree >/dev/null", true },
		{ "git rm -qf --cached d/f", false },
		{ "git reset -q --hard; git update-index --split-index", false },
		{ "git update-index --no-split-index; git read-tree HEAD", true },
		{ "git switch -qc o HEAD~1; echo 4 >g; git commit -qam 4; git merge main && exit 1;exit 0", false },
		{ "git merge --abort; git read-tree HEAD", true },
		{ "printf x | dd of=.git/index bs=1 seek=8 conv=notrunc 2>/dev/null", false },
		{ "rm .git/index", false },
	};
	REPOSITORY(r);

	r = make_repo("tree", "");
	for_each (row, steps) {
		cleanup_free char *want = NULL;
		struct ga_oid oid;

		SH("tree", "%s", row->what);
		if (ga_repo_index_tree(r, &oid) == row->told)
			fail_msg("%s: not %d", row->what, row->told);
		if (!row->told)
			continue;
		want = sh("tree", "cp .git/index ../copy; GIT_INDEX_FILE=../copy git write-tree");
		STREQ(GA_HEX(&oid), want);
	}
}

TEST(git_runs_without_hooks_monitors_and_variables)
{
	REPOSITORY(r);
	BUF(out);
	const char *const args[] = { "-c", "alias.env=!env; git config core.hooksPath;"
				     "git config core.fsmonitor; pwd", "env", NULL };
	const char *const extra[] = { "EXTRA=1", NULL };
	const char *const config[] = { "core.fsmonitor=mine", NULL };
	cleanup_free char *dir = in_scratch("clean");
	struct ga_git g = GA_GIT_INIT;

	r = make_repo("clean", "git config core.fsmonitor evil");
	(void)setenv("GIT_DIR", "/nowhere", 1);
	(void)setenv("GIT_INDEX_FILE", "/nowhere", 1);
	(void)setenv("GIT_EXTERNAL_DIFF", "evil", 1);
	(void)setenv("GIT_AUTHOR_NAME", "Kept", 1);
	g.args = args;
	g.work_tree = dir;
	g.env = extra;
	g.config = config;
	g.out = &out;
	OK(ga_git_ok(r, &g, &err));
	(void)unsetenv("GIT_DIR");
	(void)unsetenv("GIT_INDEX_FILE");
	(void)unsetenv("GIT_EXTERNAL_DIFF");
	(void)unsetenv("GIT_AUTHOR_NAME");
	assert_null(strstr(out.ptr, "nowhere"));
	assert_null(strstr(out.ptr, "evil"));
	assert_has(out.ptr, "\nGIT_AUTHOR_NAME=Kept\n");
	assert_has(out.ptr, "EXTRA=1\n");
	assert_has(out.ptr, "GIT_OPTIONAL_LOCKS=0\n");
	assert_has(out.ptr, "GIT_NO_LAZY_FETCH=1\n");
	assert_has(out.ptr, "/dev/null\nmine\n");
	assert_has(out.ptr, dir);
}

TEST(a_failure_of_git_has_its_last_line)
{
	ERR(err);
	REPOSITORY(r);
	const char *const args[] = { "cat-file", "-e", "no\033such^{tree}", NULL };
	struct ga_git g = GA_GIT_INIT;
	int status = 0;

	r = make_repo("fail", "");
	g.args = args;
	EQUAL(ga_git_run(r, &g, &status, &err), 0);
	EQUAL(status, 128);
	EQUAL(ga_git_ok(r, &g, &err), -1);
	assert_has(err.msg, "git cat-file failed: Not a valid object name");
	assert_null(strchr(err.msg, '\033'));
	assert_null(strchr(err.msg, '\n'));
}

TEST(advice_is_no_last_line)
{
	BUF(b);
	cleanup_free char *line = NULL;

	ga_buf_adds(&b, "first\nerror: why\nhint: do this\nhint:\nhint: or that\n\n");
	line = ga_git_last_line(&b);
	STREQ(line, "why");
}

TEST(objects_go_to_another_directory_if_asked)
{
	REPOSITORY(r);
	cleanup_free char *dir = in_scratch("quar:\"x/q"), *found = NULL, *known = NULL;
	BUF(out);
	const char *const write[] = { "hash-object", "-w", "--stdin", NULL };
	const char *const *args = write;
	struct ga_git g = GA_GIT_INIT;

	SH("quar:\"x", "git init -q; mkdir q; echo known | git hash-object -w --stdin >known");
	known = sh("quar:\"x", "cat known");
	r = open_repo("quar:\"x");
	g.args = args;
	g.object_dir = dir;
	g.in = "new\n";
	g.in_len = 4;
	OK(ga_git_ok(r, &g, &err));
	{
		const char *const read[] = { "cat-file", "blob", known, NULL };

		g.args = read;
		g.in = NULL;
		g.out = &out;
		OK(ga_git_ok(r, &g, &err));
	}
	STREQ(out.ptr, "known\n");
	found = sh("quar:\"x", "find q -type f | wc -l; find .git/objects -type f | wc -l");
	STREQ(found, "1\n1");
}

/* A list of sessions reads one after another, while others are dropped. */
TEST(new_objects_are_found_after_a_directory_that_was_read_is_gone)
{
	cleanup_free char *gone = in_scratch("several/gone"), *next = in_scratch("several/next");
	REPOSITORY(r);
	cleanup_free char *branch = NULL;
	struct ga_oid commit, tree;

	SH("several", "git init -q; git commit -q --allow-empty -m x; git repack -adq;mkdir -p gone/pack");
	r = open_repo("several");
	OK(ga_repo_read_private(r, gone, &err));
	SH("several", "rm -r gone; git commit -q --allow-empty -m y; git repack -adq");
	OK(ga_repo_read_private(r, next, &err));
	OK(ga_repo_head(r, &commit, &branch, &err));
	OK(ga_commit_tree(r, &commit, &tree, &err));
}

TEST(configuration_is_read_as_git_reads_it)
{
	REPOSITORY(r);
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;

	r = make_repo("conf", "printf '[a]\\n\\tbare\\n\\tempty =\\n\\tmulti = one\\n\\tmulti = "
			      "\"two\\\\nlines\"\\n\\tnum = 7\\n\\tno = off\\n[b \"Sub.Case\"]\\n\\tKey = v\\n' "
			      ">>.git/config");
	OK(ga_gitconfig_load(r, &c, &err));
	STREQ(ga_gitconfig_get(&c, "a.multi"), "two\nlines");
	STREQ(ga_gitconfig_get(&c, "b.Sub.Case.key"), "v");
	STREQ(ga_gitconfig_get(&c, "a.empty"), "");
	assert_null(ga_gitconfig_get(&c, "a.missing"));
	assert_true(ga_gitconfig_bool(&c, "a.bare", false));
	assert_false(ga_gitconfig_bool(&c, "a.empty", true));
	assert_true(ga_gitconfig_bool(&c, "a.num", false));
	assert_false(ga_gitconfig_bool(&c, "a.no", true));
	assert_true(ga_gitconfig_bool(&c, "a.missing", true));
	assert_null(ga_gitconfig_get(&c, "submodule.recurse"));
	STREQ(c.v[0].scope, "global");
	EQUAL(strncmp(c.v[0].origin, "file:", 5), 0);
}

/* Paths in the configuration, as git expands them. "TOP", "HOME" and "ROOT" stand for the
 * working tree, $HOME, and the home of the user root. */
TEST(paths_in_the_configuration_expand_as_git_expands_them)
{
	static const struct {
		const char *value, *xdg, *want; /* value NULL: unset */
	} cases[] = {
		{ NULL, NULL, "HOME/.config/git/ignore" },
		{ NULL, "/xdg", "/xdg/git/ignore" },
		{ NULL, "", "HOME/.config/git/ignore" },
		{ "", NULL, "" },
		{ "/a/b c", NULL, "/a/b c" },
		{ "~/x", NULL, "HOME/x" },
		{ "~", NULL, "HOME" },
		{ "~root/x", NULL, "ROOT/x" },
		{ "rel/x", NULL, "TOP/rel/x" },
		{ "x~/y", NULL, "TOP/x~/y" },
		{ "~no-such-user-here/x", NULL, NULL },
	};
	REPOSITORY(r);

	r = make_repo("paths", "");
	for_index (i, cases) {
		ERR(err);
		cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
		cleanup_free char *got = NULL, *want = NULL;
		int rc;

		SH("paths", "git config --unset core.excludesFile || :");
		if (cases[i].value)
			SH("paths", "git config core.excludesFile '%s'", cases[i].value);
		if (cases[i].xdg)
			(void)setenv("XDG_CONFIG_HOME", cases[i].xdg, 1);
		EQUAL(ga_gitconfig_load(r, &c, &err), 0);
		rc = ga_user_file(r, &c, "core.excludesfile", "ignore", &got, &err);
		(void)unsetenv("XDG_CONFIG_HOME");
		if (rc != (cases[i].want ? 0 : -1))
			fail_msg("case %zu: %d, %s", i, rc, err.msg);
		if (rc)
			continue;
		want = sh("paths", "echo '%s' | sed \"s|^HOME|$HOME|; s|^TOP|$(pwd -P)|; s|^ROOT|$(echo ~root)|\"",
			  cases[i].want);
		want[strcspn(want, "\n")] = '\0';
		STREQ(got ? got : "", want);
	}
}

TEST(the_identity_is_what_git_makes_of_it)
{
	static const struct {
		const char *name, *mail, *env, *want;
	} cases[] = {
		{ "A U Thor", "a@example.com", NULL, "A U Thor <a@example.com>" },
		/* what is taken off the ends depends on git's version */
		{ "Dr. No.", "a@example.com", NULL, NULL },
		{ "<Odd>", "<a@example.com>", NULL, "Odd <a@example.com>" },
		{ "A U Thor", "a@example.com", "E N V", "E N V <a@example.com>" },
	};
	REPOSITORY(r);

	r = make_repo("ident", "");
	for_each (row, cases) {
		cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
		cleanup_free char *got = NULL, *says = NULL;

		SH("ident", "git config user.name '%s'; git config user.email '%s'", row->name, row->mail);
		if (row->env)
			(void)setenv("GIT_COMMITTER_NAME", row->env, 1);
		OK(ga_gitconfig_load(r, &c, &err));
		OK(ga_repo_identity(r, &c, &got, &err));
		(void)unsetenv("GIT_COMMITTER_NAME");
		if (row->want) {
			STREQ(got, row->want);
			continue;
		}
		says = sh("ident", "git var GIT_COMMITTER_IDENT | sed 's/>.*/>/' | tr -d '\\n'");
		STREQ(got, says);
	}
}

/* Each with a file of what git dirs around it hold, which nothing may have changed. */
TEST(a_submodule_finds_its_superproject)
{
	static const struct {
		const char *dir, *super; /* NULL: it is nobody's submodule */
	} cases[] = {
		{ "super/sub/top/m", "super/sub/top" },
		{ "super/sub/top/vendor/deep", "super/sub/top" }, /* "vendor" looks like a bare one */
		{ "super/sub/top/m/own", "super/sub/top/m" },
		{ "super/sub/top/loose", NULL },      /* only lies there */
		{ "super/sub/top/m/loose", NULL },    /* in a submodule, of which it is none */
		{ "super/sub/split/m", "super/sub/split" },
		{ "super/sub/bad/m", NULL },          /* what is around it is no repository */
		{ "super/sub/lib", NULL },
	};

	SH("super/sub",
	   "git init -q lib; git -C lib commit -q --allow-empty -m x; c='git clone -q ../lib'; git init -q top;"
	   "mkdir top/vendor; cd top; $c m; git -C m commit -q --allow-empty -m y; $c vendor/deep; $c loose;"
	   "(cd m; git clone -q ../../lib own; git clone -q ../../lib loose; git add own 2>/dev/null);"
	   "git init -q --bare vendor.git; mv vendor.git/* vendor; git add -f m vendor/deep 2>/dev/null; cd ..;"
	   "git init -q split; cd split; $c m; git config core.splitIndex true;"
	   "git config splitIndex.maxPercentChange 100; git add m 2>/dev/null; echo x >x; git add x; cd ..;"
	   "mkdir bad; cd bad; echo nonsense >.git; (cd ..; git clone -q lib bad/m)");
	for_each (row, cases) {
		ERR(err);
		cleanup_repo struct ga_repo *r = open_repo(row->dir), *super = NULL;
		int rc = ga_repo_superproject(r, &super, &err);

		if (rc != !row->super)
			fail_msg("%s: %d %s", row->dir, rc, err.msg ? err.msg : "");
		if (!rc) {
			cleanup_free char *want = in_scratch(row->super);

			STREQ(ga_repo_info(super)->workdir, want);
		}
	}
	/* a look around leaves nothing: only those opened for themselves have an id */
	SH("super/sub", "test ! -e split/.git/git-agent; test ! -e top/.git/git-agent");
}

TEST_MAIN(scratch_setup, scratch_teardown)
