/* SPDX-License-Identifier: MIT */
#include "../objects-support.h"

#include "ga/base/path.h"
#include "ga/repo/snapshot.h"

#define NO_LIMIT UINT64_MAX

static void scan_ok(struct ga_repo *r, uint64_t max, struct ga_scan *s)
{

	OK(ga_scan_worktree(r, max, s, &err));
}

/* "a|b|c" in sorted order. */
static void assert_list(struct ga_strv *sv, const char *want)
{
	BUF(b);

	ga_strv_sort_unique(sv);
	for (size_t i = 0; i < sv->n; i++)
		ga_buf_addf(&b, "%s%s", i ? "|" : "", sv->v[i]);
	STREQ(b.ptr, want);
}

TEST(every_kind_of_change_is_listed)
{
	REPOSITORY(r);
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;

	r = make_repo("kinds", "printf 'ign/\\n*.o\\nforced/\\n' >.gitignore;"
			       "mkdir -p forced src; touch forced/t src/a.c clean gone cached mode type;"
			       "git add -f .gitignore forced/t src clean gone cached mode type;git commit -qm x;"
			       "mkdir -p ign/deep nested; touch ign/deep/f src/a.o forced/u 'new\nline';"
			       "git init -q nested; touch nested/f; echo x >>src/a.c; rm gone;"
			       "git rm -q --cached cached; chmod +x mode; rm type; ln -s x type;"
			       "touch staged; git add staged; touch intent; git add -N intent;"
			       "printf 12345 >large; mkfifo fifo");
	scan_ok(r, 4, &s);
	assert_list(&s.changed, "cached|gone|intent|mode|src/a.c|staged|type");
	assert_list(&s.unindexed, "cached");
	assert_list(&s.untracked, "cached|new\nline");
	assert_list(&s.ignored_dirs, "ign");
	assert_list(&s.ignored_files, "forced/u|src/a.o");
	assert_list(&s.submodules, "");
	assert_list(&s.skipped, "large: untracked and larger than 4 bytes|nested: a repository of its own");
}

TEST(a_tracked_path_that_became_a_fifo_is_skipped)
{
	REPOSITORY(r);
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;

	r = make_repo("fifo", "touch f; git add f; git commit -qm x; rm f; mkfifo f");
	scan_ok(r, NO_LIMIT, &s);
	assert_list(&s.changed, "");
	assert_list(&s.skipped, "f: neither a file nor a symbolic link");
}

TEST(a_conflict_or_a_merge_in_progress_is_refused)
{
	ERR(err);
	REPOSITORY(r);
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;
	cleanup_free char *state_dir = in_scratch("conflict-state");

	r = make_repo("conflict", "echo 1 >f; echo i >.gitignore; git add .; git commit -qm 1;"
				  "git switch -qc o; echo 2 >f; git commit -qam 2; git switch -q main;"
				  "echo 3 >f; git commit -qam 3; touch i;git merge -q o >/dev/null && exit 1; exit 0");
	EQUAL(ga_scan_worktree(r, NO_LIMIT, &s, &err), -1);
	STREQ(err.msg, "a merge is in progress");
	assert_has(err.hint, "--dirty ignore");
	ga_error_release(&err);
	/* what --dirty ignore asks for works all the same */
	SH("conflict-state", ":");
	EQUAL(ga_scan_ignored(r, state_dir, &s, &err), 0);
	assert_list(&s.ignored_files, "i");
	ga_scan_release(&s);
	SH("conflict", "rm .git/MERGE_HEAD");
	EQUAL(ga_scan_worktree(r, NO_LIMIT, &s, &err), -1);
	STREQ(err.msg, "'f' has a conflict that is not resolved");
}

TEST(populated_submodules_are_listed)
{
	static const char *const split[] = { "--no-split-index", "--split-index" };

	SH("sub", "git init -q lib; git -C lib commit -q --allow-empty -m l;"
		  "git init -q top; cd top; git submodule add -q ../lib one 2>/dev/null;"
		  "git submodule add -q ../lib 'deep/two x' 2>/dev/null;"
		  "git submodule add -q ../lib gone 2>/dev/null; git commit -qm t;"
		  "git submodule --quiet deinit -f gone; touch one/dirty");
	for_index (i, split) {
		REPOSITORY(r);
		cleanup_scan struct ga_scan s = GA_SCAN_INIT;

		SH("sub/top", "git update-index %s --index-version %d", split[i], i ? 2 : 4);
		r = open_repo("sub/top");
		scan_ok(r, NO_LIMIT, &s);
		assert_list(&s.submodules, "deep/two x|one");
		assert_list(&s.changed, "");
		assert_list(&s.untracked, "");
	}
}

TEST(the_cache_forgets_ignored_files_that_are_gone)
{
	cleanup_repo struct ga_repo *r = NULL, *other = NULL;
	cleanup_scan struct ga_scan a = GA_SCAN_INIT, b = GA_SCAN_INIT, c = GA_SCAN_INIT;
	cleanup_scan struct ga_scan d = GA_SCAN_INIT;
	cleanup_free char *dir = in_scratch("cache-state");

	SH("cache-state", ":");
	r = make_repo("cache", "printf 'd/\\ne/\\nf*\\n' >.gitignore; mkdir d e; touch d/x e/x f1 f2;"
			       "git add .gitignore; git commit -qm x; git worktree add -q ../cache-linked;"
			       "mkdir ../cache-linked/d; touch ../cache-linked/d/x");
	OK(ga_scan_ignored(r, dir, &a, &err));
	assert_list(&a.ignored_dirs, "d|e");
	assert_list(&a.ignored_files, "f1|f2");
	SH("cache", "rm -r e f2; mkdir f2; mkdir -p g; touch f3");
	OK(ga_scan_ignored(r, dir, &b, &err));
	assert_list(&b.ignored_dirs, "d");
	assert_list(&b.ignored_files, "f1"); /* f3 shows that it came from the cache */
	other = open_repo("cache-linked");
	OK(ga_scan_ignored(other, dir, &c, &err));
	assert_list(&c.ignored_dirs, "d");
	assert_list(&c.ignored_files, "");
	SH("cache-state", "for f in scan-*; do head -c 30 $f >x; cat x >$f; done");
	OK(ga_scan_ignored(r, dir, &d, &err));
	assert_list(&d.ignored_files, "f1|f3");
}

/* ---- snapshots */

static void head_of(struct ga_repo *r, struct ga_oid *ret)
{
	cleanup_free char *branch = NULL;

	OK(ga_repo_head(r, ret, &branch, &err));
}

/* The tree of a snapshot of `rel`, as hex; asserts that the index is untouched. */
static char *snapshot_tree(const char *rel, const struct ga_strv *exclude)
{
	cleanup_repo struct ga_repo *r = open_repo(rel);
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;
	static const char probe[] = "stat -c '%%y %%i' .git/index; sha1sum <.git/index;"
				    "find .git/git-agent -name 'index*'";
	cleanup_free char *before = sh(rel, probe), *after = NULL;
	struct ga_oid head, got;

	head_of(r, &head);
	scan_ok(r, NO_LIMIT, &s);
	OK(ga_snapshot_commit(r, NULL, &s, &head, exclude, &got, &err));
	after = sh(rel, probe);
	STREQ(before, after);
	return sh(rel, "git rev-parse %s^{tree}", GA_HEX(&got));
}

TEST(a_snapshot_commit_names_its_parent_and_author)
{
	REPOSITORY(r);
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;
	cleanup_free char *show = NULL, *want = NULL, *refs = NULL;
	struct ga_oid head, got;

	r = make_repo("look", "touch f; git add f; git commit -qm x; echo new >f; echo u >u");
	head_of(r, &head);
	scan_ok(r, NO_LIMIT, &s);
	OK(ga_snapshot_commit(r, NULL, &s, &head, NULL, &got, &err));
	show = sh("look", "git show --format='%%P|%%an <%%ae>|%%cn|%%B' --name-status %s", GA_HEX(&got));
	want = ga_strf("%s|A U Thor <author@example.com>|A U Thor|"
		       "uncommitted work at the start of a session\n\n\nM\tf\nA\tu",
		       GA_HEX(&head));
	STREQ(show, want);
	SH("look", "git fsck --strict --no-dangling");
	refs = sh("look", "git for-each-ref | wc -l; git status --porcelain");
	STREQ(refs, "1\n M f\n?? u");
}

TEST(excluded_paths_stay_as_in_head)
{
	STRV(exclude);
	cleanup_free char *tree = NULL, *list = NULL;

	SH("excl", "git init -q; echo old >secret; echo old >staged; echo old >other; git add .;"
		   "git commit -qm x; echo new >secret; echo new >staged; git add staged;"
		   "echo new >other; echo new >untracked; echo new >added; git add added");
	ga_strv_push_many(&exclude, "untracked", "secret", "staged", "added", NULL);
	tree = snapshot_tree("excl", &exclude);
	list = sh("excl", "git ls-tree --name-only %s; git show %s:secret %s:staged %s:other", tree, tree, tree, tree);
	STREQ(list, "other\nsecret\nstaged\nold\nold\nnew");
}

TEST(a_linked_worktree_with_a_split_index_is_snapshot)
{
	REPOSITORY(r);
	cleanup_scan struct ga_scan s = GA_SCAN_INIT;
	cleanup_free char *names = NULL;
	struct ga_oid head, got;

	SH("split", "git init -q; touch a b; git add .; git commit -qm x;"
		    "git worktree add -q ../split-linked; cd ../split-linked;"
		    "git update-index --split-index; echo x >a; echo y >c; git add c");
	r = open_repo("split-linked");
	head_of(r, &head);
	scan_ok(r, NO_LIMIT, &s);
	OK(ga_snapshot_commit(r, NULL, &s, &head, NULL, &got, &err));
	names = sh("split-linked", "git diff --name-status HEAD %s; git status --porcelain", GA_HEX(&got));
	STREQ(names, "M\ta\nA\tc\n M a\nA  c");
}

/* ---- the oracle: git add -A in a copy */

static const char *const names[] = {
	"a", "b", "c.txt", "d.c", "e\nf", "g h", "-i", "\"j\"", "k\\l", "m\tn", "\xc3\xbc", "\xff\xfe",
	":(top)o", "p*", "q.o", "r.crlf", "s.rot", "build", "t'",
};

static char *random_path(void)
{
	BUF(b);

	for (unsigned depth = rnd(3) + 1; depth; depth--)
		ga_buf_addf(&b, "%s%s", names[rnd(GA_NELEMS(names))], depth > 1 ? "/" : "");
	return ga_buf_steal(&b);
}

static void git_quietly(const char *dir, const char *const *args)
{
	STRV(argv);
	BUF(dropped);
	struct ga_process p = GA_PROCESS_INIT;
	int status;

	ga_strv_push_many(&argv, "git", "--literal-pathspecs", NULL);
	for (; *args; args++)
		ga_strv_push(&argv, *args);
	p.argv = (const char *const *)argv.v;
	p.cwd = dir;
	p.errout = &dropped;
	OK(ga_process_run(&p, &status, &err));
}

static void write_random(int at, const char *path)
{
	static const char *const texts[] = { "", "x\n", "y\n", "x\r\ny\r\n", "hello\n", "world\n", "bin\0ary" };
	const char *t = texts[rnd(GA_NELEMS(texts))];
	cleanup_close int fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
				      rnd(4) ? 0644 : 0755);

	if (fd >= 0)
		EQUAL(ga_write_full(fd, t, *t == 'b' ? 7 : strlen(t)), 0);
}

/* A step may fail: what counts is that both sides see the same result. */
static void ignore(int rc)
{
	(void)rc;
}

static void make_parent(const char *dir, int at, const char *path)
{
	ERR(err);
	cleanup_free char *parent = ga_path_parent(path);
	struct stat st;

	/* a file where a directory goes: sometimes the directory wins */
	for (char *p = parent; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (!fstatat(at, parent, &st, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(st.st_mode) && rnd(2))
			(void)unlinkat(at, parent, 0);
		*p = '/';
	}
	if (*parent && !fstatat(at, parent, &st, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(st.st_mode) && rnd(2))
		(void)unlinkat(at, parent, 0);
	if (*parent) {
		cleanup_free char *full = ga_path_join(dir, parent);

		(void)ga_mkdir_p(full, 0755, &err);
	}
}

static void random_step(const char *dir, int at)
{
	ERR(err);
	cleanup_free char *path = random_path();
	const char *const add[] = { "add", "--", path, NULL };
	const char *const force[] = { "add", "-f", "--", path, NULL };
	const char *const intent[] = { "add", "-N", "--", path, NULL };
	const char *const uncache[] = { "rm", "-rq", "--cached", "--", path, NULL };
	struct stat st;

	switch (rnd(14)) {
	case 0: git_quietly(dir, add); break;
	case 1: git_quietly(dir, force); break;
	case 2: git_quietly(dir, intent); break;
	case 3: git_quietly(dir, uncache); break;
	case 4: (void)ga_rmtree_at(at, path, &err); break;
	case 5: (void)unlinkat(at, path, 0); break;
	case 6:
		if (!fstatat(at, path, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
			ignore(fchmodat(at, path, st.st_mode ^ 0111, 0));
		break;
	case 7:
		(void)unlinkat(at, path, 0);
		make_parent(dir, at, path);
		ignore(symlinkat(names[rnd(GA_NELEMS(names))], at, path));
		break;
	case 8:
		if (ga_rmtree_at(at, path, &err))
			break;
		__attribute__((fallthrough));
	default:
		make_parent(dir, at, path);
		write_random(at, path);
	}
}

/* The index was written in the second in which the file was. So only a look at the file tells that
 * it is another: it has the same size and time. */
TEST(a_file_changed_in_the_second_of_the_index_is_seen)
{
	cleanup_free char *got = NULL, *want = NULL;

	SH("racy", "git init -q; git config core.trustctime false; echo a >f; echo gone >gone;"
		   "touch -d @1700000000 f; git add -A; git commit -qm base;"
		   "echo b >f; touch -d @1700000000 f .git/index; rm gone");
	want = sh("racy", "cp -a . ../racy-copy; cd ../racy-copy; touch f; git add -A; git write-tree");
	got = snapshot_tree("racy", NULL);
	STREQ(got, want);
}

TEST(a_snapshot_of_a_random_state_is_git_add)
{
	const char *many = getenv("ROUNDS");
	unsigned long rounds = many ? strtoul(many, NULL, 10) : 12;

	rnd_seed();
	for (unsigned long i = 0; i < rounds; i++) {
		cleanup_free char *rel = ga_strf("rand/%lu", i), *dir = in_scratch(rel);
		cleanup_free char *got = NULL, *want = NULL;
		cleanup_close int at = -1;

		SH(rel, "git init -q; git config filter.rot.clean 'tr a-z b-za';"
			"git config filter.rot.smudge 'tr b-za a-z';printf '*.o\\nbuild/\\n' >.gitignore;"
			"printf '*.txt text=auto\\n*.crlf text eol=crlf\\n*.rot filter=rot\\n' "
			">.gitattributes; git add .gitignore .gitattributes");
		at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		for (unsigned k = rnd(40) + 5; k; k--)
			random_step(dir, at);
		SH(rel, "git add -A 2>/dev/null; git commit -qm base");
		for (unsigned k = rnd(30) + 1; k; k--)
			random_step(dir, at);
		want = sh("rand", "rm -rf copy; cp -a %lu copy; cd copy; git add -A 2>/dev/null;git write-tree", i);
		got = snapshot_tree(rel, NULL);
		if (strcmp(got, want))
			fail_msg("round %lu: %s, git says %s", i, got, want);
	}
}

TEST_MAIN(scratch_setup, scratch_teardown)
