/* SPDX-License-Identifier: MIT
 *
 * A home and a project in a directory of their own, and the sandbox that is described for them.
 */
#pragma once

#include "../test.h"

#include "ga/base/path.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"

/* Every test has a directory of its own with a home in it. */
static struct {
	char *root, *home;
} world;

static inline int setup(void **state)
{
	char dir[] = "/var/tmp/git-agent-spec-XXXXXX";

	assert_non_null(mkdtemp(dir));
	world.root = ga_strdup(dir);
	world.home = ga_path_join(dir, "home");
	EQUAL(mkdir(world.home, 0755), 0);
	(void)state;
	return 0;
}

static inline int teardown(void **state)
{
	(void)state;
	OK(ga_rmtree_at(AT_FDCWD, world.root, &err));
	free(world.root);
	free(world.home);
	return 0;
}

static inline void make_dir(const char *rel)
{
	cleanup_free char *path = ga_path_join(world.root, rel);

	OK(ga_mkdir_p(path, 0755, &err));
}

static inline void make_file(const char *rel, const char *text)
{
	cleanup_free char *parent = ga_path_parent(rel), *path = ga_path_join(world.root, rel);
	cleanup_close int fd = -1;

	make_dir(parent);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	assert_true(fd >= 0);
	EQUAL(ga_write_full(fd, text, strlen(text)), 0);
}

static inline void make_link(const char *target, const char *rel)
{
	cleanup_free char *parent = ga_path_parent(rel), *path = ga_path_join(world.root, rel);

	make_dir(parent);
	EQUAL(symlink(target, path), 0);
}

static inline char *in(const char *rel)
{
	return ga_path_join(world.root, rel);
}

/* Lower layers, upper, git dir; the project at `project`, relative to the root. */
static inline void make_spec(const char *project, struct ga_spec *s)
{
	make_dir("s/stage");
	make_dir("s/upper");
	make_dir("aihome");
	make_dir(project);
	s->stage_dir = in("s/stage");
	s->project = in(project);
	s->home = ga_strdup(world.home);
	s->home_dir.source = in("aihome");
	ga_strv_take(&s->lowers, in("s/extras"));
	ga_strv_take(&s->lowers, in("base"));
	s->upper = in("s/upper");
	s->work = in("s/work");
	s->git.upper = in("s/git");
	s->network = true;
}

/* One word a line, the world's root as "@". */
static inline char *text_of(const struct ga_buf *words)
{
	BUF(b);
	const char *word;
	size_t pos = 0;

	while ((word = ga_buf_next0(words, &pos)) != NULL) {
		/* "root" too, when the world's root follows */
		size_t n = !strncmp(word, "root/", 5) ? 4 : 0;
		const char *below = ga_path_below(word + n, world.root);

		if (below)
			ga_buf_addf(&b, "%.*s@/%s\n", (int)n, word, below);
		else
			ga_buf_addf(&b, "%s\n", word);
	}
	return ga_buf_steal(&b);
}

/* Home and project. */
static inline char *plan_of(const struct ga_spec *s)
{
	BUF(b);

	ga_spec_plan_home(s, &b);
	OK(ga_spec_plan_trees(s, &b, &err));
	return text_of(&b);
}

/* What surrounds them, whose layers need not be known. */
static inline char *root_of(const struct ga_spec *s)
{
	BUF(b);

	OK(ga_spec_plan_system(s, &b, &err) || ga_spec_plan_root(s, "/lib/init", &b, &err));
	return text_of(&b);
}
