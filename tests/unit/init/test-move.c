/* SPDX-License-Identifier: MIT
 *
 * Moving a directory entry by entry while others work in it: what they do between the copy
 * and the emptying is done here, at the rename of the copy, which is linked to come by.
 */

#include "init/renames-internal.h"
#include "../scratch.h"

int __real_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);
int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags);

static void (*meanwhile)(void);

int __wrap_renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
	int rc = __real_renameat2(from_at, from, to_at, to, flags);

	if (!rc && meanwhile)
		meanwhile();
	return rc;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0 && !fclose(f));
}

static void check(const char *path, const char *want)
{
	char got[64] = "";
	FILE *f = fopen(path, "r");

	if (!f)
		fail_msg("'%s' is not there", path);
	if (!fgets(got, sizeof(got), f))
		got[0] = '\0';
	(void)fclose(f);
	if (strcmp(got, want) != 0)
		fail_msg("'%s' is '%s', not '%s'", path, got, want);
}

static ino_t inode(const char *path)
{
	struct stat st;

	EQUAL(lstat(path, &st), 0);
	return st.st_ino;
}

static void move(const char *from, const char *to)
{
	struct rename_call c = { .flags = 0 };

	c.from.at = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	c.to.at = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(c.from.at >= 0 && c.to.at >= 0);
	(void)snprintf(c.from.name, sizeof(c.from.name), "%s", from);
	(void)snprintf(c.to.name, sizeof(c.to.name), "%s", to);
	EQUAL(rename_move(&c, "temporary"), 0);
	(void)close(c.from.at);
	(void)close(c.to.at);
	EQUAL(access(from, F_OK), -1);
	meanwhile = NULL;
}

TEST(hard_links_stay_links_of_one_file)
{
	EQUAL(mkdir("a", 0755), 0);
	EQUAL(mkdir("a/sub", 0755), 0);
	put("a/one", "linked");
	EQUAL(link("a/one", "a/sub/two"), 0);
	put("a/alone", "alone");
	move("a", "b");
	check("b/one", "linked");
	check("b/alone", "alone");
	EQUAL(inode("b/one"), inode("b/sub/two"));
}

/* An editor saves under another name, which has a second one, and renames it. */
static void rename_over(void)
{
	EQUAL(rename("c/new", "c/file"), 0);
}

TEST(a_rename_over_a_file_stays_done)
{
	EQUAL(mkdir("c", 0755), 0);
	put("c/new", "what is new");
	EQUAL(link("c/new", "c/second"), 0);
	put("c/file", "old");
	meanwhile = rename_over;
	move("c", "d");
	check("d/file", "what is new");
	check("d/second", "what is new");
}

static void come_later(void)
{
	put("e/later", "later");
	EQUAL(rename("e/later", "e/file"), 0);
	put("e/more", "more");
}

TEST(files_that_appear_during_a_move_are_moved_too)
{
	EQUAL(mkdir("e", 0755), 0);
	put("e/file", "old");
	meanwhile = come_later;
	move("e", "f");
	check("f/file", "later");
	check("f/more", "more");
}

TEST_MAIN(scratch_enter, scratch_leave)
