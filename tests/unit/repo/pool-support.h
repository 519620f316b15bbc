/* SPDX-License-Identifier: MIT
 *
 * For tests of base trees: getting one, and holding it against what git makes of the commit.
 */
#pragma once

#include "../repo-support.h"

#include "ga/repo/pool.h"

static inline int try_acquire(const char *name, const char *rev, bool trusted, struct ga_base *b, struct ga_error *err)
{
	cleanup_repo struct ga_repo *r = open_repo(name);
	cleanup_free char *rel = ga_strf("%s-state", name), *state = in_scratch(rel);
	const struct ga_strv none = GA_STRV_INIT;
	struct ga_base_opts o = { .trusted = trusted, .object_paths = &none };
	struct ga_oid commit;

	if (ga_repo_resolve(r, rev, &commit, err))
		return -1;
	return ga_base_acquire(r, state, &commit, &o, b, err);
}

static inline void acquire(const char *name, const char *rev, struct ga_base *b)
{
	ERR(err);

	if (try_acquire(name, rev, true, b, &err))
		fail_msg("%s: %s", rev, err.msg);
	assert_true(b->lock_fd >= 0);
}

/* The tree is what git checks out by itself, modes and links included, and an empty .git. */
static inline void assert_checkout(const char *name, const char *rev, const struct ga_base *b)
{
	cleanup_free char *diff = sh(name, "rm -rf ../want ../want.index; mkdir -p ../want/.git;"
			 "GIT_INDEX_FILE=$PWD/../want.index GIT_WORK_TREE=$PWD/../want git read-tree"
			 " --reset -u '%s'; list() { (cd \"$1\"; find . -mindepth 1 "
			 "-printf '%%P %%y %%m %%l\\n' | LC_ALL=C sort) }; list ../want >../a;"
			 "list '%s' >../b; diff ../a ../b || :; diff -r --no-dereference ../want '%s' || :",
		   rev, b->tree, b->tree);

	STREQ(diff, "");
}

/* The template's index is the commit's, and git finds the tree as it says. */
static inline void assert_template(const char *name, const char *rev, const struct ga_base *b)
{
	cleanup_free char *out = sh(name, "cp -p '%s/index' ../t.index; export GIT_INDEX_FILE=$PWD/../t.index;"
			 "export GIT_WORK_TREE='%s'; G='git -c core.checkStat=minimal -c "
			 "core.trustctime=false'; $G diff-index --cached --name-only '%s';"
			 "$G fsck --no-dangling 2>&1 | grep -i index || :; $G --no-optional-locks diff --name-only",
		   b->git, b->tree, rev);

	STREQ(out, "");
}
