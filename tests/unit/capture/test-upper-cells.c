/* SPDX-License-Identifier: MIT
 *
 * The cells of the case table of docs/capture.md that no agent can make a kernel write, on a layer made by hand;
 * the others are in tests/integration/capture/t4000-cases.t. A cell's id is its path: "UP-REG/BASE-DIR" is a
 * regular file in the upper where the base has a directory. tests/lint/cases.t compares the ids and the outcomes
 * with the table.
 */
#include "../upper-support.h"

static const struct cell {
	const char *id, *want;
} cells[] = {
	{ "UP-DIR/BASE-REG", "D A/" },
	{ "UP-DIR/BASE-EXE", "D A/" },
	{ "UP-DIR/BASE-LNK", "D A/" },
	{ "UP-OPQ/BASE-NONE", "A/" },
	{ "UP-OPQ/BASE-IGN", "ignored" },
	{ "UP-WH/BASE-NONE", "=" },
	{ "UP-XWH/BASE-NONE", "=" },
	{ "UP-XWH/BASE-REG", "D" },
	{ "UP-XWH/BASE-EXE", "D" },
	{ "UP-XWH/BASE-LNK", "D" },
	{ "UP-XWH/BASE-DIR", "D/" },
	{ "UP-XWH/BASE-GITLINK", "D" },
	{ "UP-XWH/BASE-IGN", "ignored" },
	{ "UP-DEV/BASE-NONE", "special" },
	{ "UP-DEV/BASE-REG", "D special" },
	{ "UP-DEV/BASE-EXE", "D special" },
	{ "UP-DEV/BASE-LNK", "D special" },
	{ "UP-DEV/BASE-DIR", "D/ special" },
	{ "UP-DEV/BASE-GITLINK", "D special" },
	{ "UP-DEV/BASE-IGN", "special" },
	{ "UP-OWNER/BASE-NONE", "A" },
	{ "UP-OWNER/BASE-REG", "M" },
	{ "UP-OWNER/BASE-EXE", "M" },
	{ "UP-OWNER/BASE-LNK", "T" },
	{ "UP-OWNER/BASE-DIR", "A D/" },
	{ "UP-OWNER/BASE-GITLINK", "T" },
	{ "UP-OWNER/BASE-IGN", "ignored" },
};

#define BASE_OF_CELLS \
	"for u in DIR OPQ WH XWH DEV OWNER; do" \
	"  mkdir UP-$u && cd UP-$u && echo base >BASE-REG && echo base >BASE-EXE &&" \
	"  chmod +x BASE-EXE && ln -s base BASE-LNK && mkdir BASE-DIR && echo x >BASE-DIR/x &&" \
	"  cd .. || exit 1; done; echo BASE-IGN >.gitignore; git add -A;" \
	"for u in UP-*; do mkdir $u/BASE-GITLINK; git update-index --add --cacheinfo" \
	"  160000,1111111111111111111111111111111111111111,$u/BASE-GITLINK; done"

/* ---- one kind of entry each */

typedef bool make_fn(const struct layer *l, const char *path);

static bool make_file(const struct layer *l, const char *path)
{
	bool exec = strstr(path, "BASE-EXE");

	put_as(l, path, "upper\n", exec ? 0755 : 0644);
	return true;
}

static bool make_directory(const struct layer *l, const char *path)
{
	cleanup_free char *inner = ga_path_join(path, "n");

	put(l, inner, "upper\n");
	return true;
}

static bool make_opaque(const struct layer *l, const char *path)
{
	opaque(l, path);
	return make_directory(l, path);
}

static bool make_whiteout(const struct layer *l, const char *path)
{
	white(l, path);
	return true;
}

static bool make_xattr_whiteout(const struct layer *l, const char *path)
{
	mark(l, "UP-XWH", "user.overlay.opaque", "x");
	put(l, path, "");
	mark(l, path, "user.overlay.whiteout", "y");
	return true;
}

/* Without the right to make one nobody has: there is nothing to be captured then. */
static bool make_device(const struct layer *l, const char *path)
{
	cleanup_close int at = in_upper(l);

	if (!mknodat(at, path, S_IFCHR | 0666, makedev(1, 3)))
		return true;
	EQUAL(errno, EPERM);
	return false;
}

static bool make_foreign(const struct layer *l, const char *path)
{
	cleanup_close int at = in_upper(l);

	if (!make_file(l, path) || !fchownat(at, path, 12345, 12345, AT_SYMLINK_NOFOLLOW))
		return true;
	EQUAL(errno, EPERM);
	return false;
}

static const struct {
	const char *row;
	make_fn *make;
} makers[] = {
	{ "UP-DIR", make_directory }, { "UP-OPQ", make_opaque }, { "UP-WH", make_whiteout },
	{ "UP-XWH", make_xattr_whiteout }, { "UP-DEV", make_device }, { "UP-OWNER", make_foreign },
};

static bool make(const struct layer *l, const char *id)
{
	cleanup_free char *row = ga_path_parent(id);

	dir(l, row);
	for_index (i, makers)
		if (!strcmp(makers[i].row, row))
			return makers[i].make(l, id);
	fail_msg("no maker for %s", id);
	return false;
}

/* ---- what became of it */

static char letter(const struct ga_change *c)
{
	bool was_file = c->old.mode == GA_MODE_FILE || c->old.mode == GA_MODE_EXEC;
	bool is_file = c->new.mode == GA_MODE_FILE || c->new.mode == GA_MODE_EXEC;

	if (!c->old.mode)
		return 'A';
	if (!c->new.mode)
		return 'D';
	return was_file == is_file && (is_file || c->old.mode == c->new.mode) ? 'M' : 'T';
}

/* In the words of the table: letters at the path, letters with a slash below it,
 * the kind of what was left. */
static char *outcome(const struct layer *l, const char *id)
{
	static const char letters[] = "AMTD";
	bool at[4] = { false }, below[4] = { false };
	BUF(b);

	for (size_t i = 0; i < l->res.changes.n; i++) {
		const struct ga_change *c = &l->res.changes.v[i];
		size_t k = (size_t)(strchr(letters, letter(c)) - letters);

		if (!strcmp(c->path, id))
			at[k] = true;
		else if (ga_path_inside(c->path, id))
			below[k] = true;
	}
	for (size_t k = 0; k < 4; k++)
		if (at[k])
			ga_buf_addf(&b, " %c", letters[k]);
	for (size_t k = 0; k < 4; k++)
		if (below[k])
			ga_buf_addf(&b, " %c/", letters[k]);
	for (size_t i = 0; i < l->res.left.n; i++)
		if (ga_path_inside(l->res.left.v[i].path, id))
			ga_buf_addf(&b, " %s", ga_leftover_kind_name(l->res.left.v[i].kind));
	return ga_strdup(b.len ? b.ptr + 1 : "=");
}

TEST(each_cell_of_the_table_has_its_outcome)
{
	LAYER(l, "cells", BASE_OF_CELLS);
	bool made[GA_NELEMS(cells)];
	unsigned wrong = 0;

	for_index (i, cells)
		made[i] = make(&l, cells[i].id);
	free(captured(&l));
	for_index (i, cells) {
		cleanup_free char *got = outcome(&l, cells[i].id);

		if (!made[i] || !strcmp(got, cells[i].want))
			continue;
		print_error("%s: '%s', not '%s'\n", cells[i].id, got, cells[i].want);
		wrong++;
	}
	EQUAL(wrong, 0);
	if (l.res.keep)
		(void)unlink(l.res.keep);
}

/* In a process that is nobody: to root no file is closed. */
static void capture_as_nobody(struct layer *l, int out)
{
	ERR(err);
	cleanup_free char *got = NULL;
	int rc = setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534) ||
		 prctl(PR_SET_DUMPABLE, 1);

	l->o.base_tree = &l->base;
	l->o.limits = &l->limits;
	if (!rc)
		rc = ga_upper_capture(l->repo, &l->o, &l->res, &err);
	got = rc ? ga_strf("%d %s", rc, err.msg ? err.msg : "") : outcome(l, "a");
	(void)ga_write_full(out, got, strlen(got));
}

TEST(a_file_that_cannot_be_read_leaves_that_of_the_base)
{
	LAYER(l, "foreign", "echo a >a");
	BUF(got);
	cleanup_close int at = in_upper(&l);
	int fds[2], status;
	pid_t pid;

	put_as(&l, "a", "changed\n", 0600);
	if (fchownat(at, "a", 12345, 12345, 0)) {
		EQUAL(errno, EPERM);
		return;
	}
	SH("foreign", "chown -R 65534:65534 r; chmod 711 ..; chown 65534:65534 upper");
	EQUAL(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		capture_as_nobody(&l, fds[1]);
		_exit(0);
	}
	(void)close(fds[1]);
	OK(ga_read_fd(fds[0], 1000, &got, &err));
	(void)close(fds[0]);
	EQUAL(waitpid(pid, &status, 0), pid);
	STREQ(got.ptr, "unreadable");
}

TEST(the_commits_of_the_agent_say_what_is_tracked)
{
	LAYER(l, "otherwise",
		"mkdir d e; echo x >d/x; echo y >e/y; echo sub >.gitignore; git add -A;"
		"git update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,sub;"
		"mkdir sub; echo 1 >a");
	struct ga_oid tracked;

	/* a file in place of a submodule is a change of what is tracked, ignored or not */
	put(&l, "sub", "file\n");
	assert_captured(&l, "T sub;");
	SH("otherwise", "rm upper/sub; cd r; git rm -rq --cached sub d; git commit -qm agent");
	tracked = oid_of("otherwise/r", "HEAD^{tree}");
	l.o.tracked = &tracked;
	/* the submodule was dropped; d is untracked, and a repository now */
	put(&l, "d/.git", "gitdir: ../../somewhere\n");
	put(&l, "d/n", "n\n");
	put(&l, "e/n", "n\n");
	assert_captured(&l, "D d/x;A e/n;D sub;");
	assert_left(&l, "repository d 2;");
}

TEST(an_ignored_file_that_was_forced_in_and_removed_is_gone)
{
	static const char *const opaques[] = { "d", "d/e" };
	static const char *const hiding[] = { "touch d/e", "ln -s . d/e", "mkfifo d/e" };
	LAYER(l, "forced", "mkdir -p d/e; echo x >d/e/x; echo '*.log' >.gitignore");
	cleanup_free char *extras = in_scratch("forced/extras");
	struct ga_oid tracked;

	SH("forced", "mkdir -p extras/d/e; echo f >extras/d/e/f.log; cd r; cp ../extras/d/e/f.log d/e;"
	   "git add -f d/e/f.log; git commit -qm agent");
	tracked = oid_of("forced/r", "HEAD^{tree}");
	l.o.tracked = &tracked;
	l.o.extras = extras;
	dir(&l, "d/e");
	assert_captured(&l, "A d/e/f.log;");
	for_each (row, hiding) {
		cleanup_free char *got = NULL;

		SH("forced/upper", "rm -rf d; mkdir d; %s", *row);
		got = captured(&l);
		assert_null(strstr(got, "f.log"));
	}
	for_each (row, opaques) {
		cleanup_free char *got = NULL;

		SH("forced/upper", "rm -rf d; mkdir -p d/e");
		mark(&l, *row, "user.overlay.opaque", "y");
		got = captured(&l);
		assert_null(strstr(got, "f.log"));
	}
	/* a directory there is no file of the user */
	SH("forced", "rm -rf upper/d; rm extras/d/e/f.log; mkdir extras/d/e/f.log");
	assert_captured(&l, "");
}

TEST(directories_named_as_files_of_git_are_left_behind)
{
	LAYER(l, "dirs", "mkdir .gitattributes; echo x >.gitattributes/x");

	put(&l, "d/.gitmodules/f", "f\n");
	put(&l, "d/.gitattributes/f", "f\n");
	put(&l, "d/.gitignore/f", "f\n");
	put(&l, ".gitattributes/f", "f\n"); /* the user's own */
	assert_captured(&l, "A .gitattributes/f;A d/.gitignore/f;");
	assert_left(&l, "name d/.gitattributes 1;name d/.gitmodules 1;");
}

TEST_MAIN(scratch_setup, scratch_teardown)
