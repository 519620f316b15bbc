/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of src/repo: the handle itself, and the conversion of libgit2's errors and
 * ids into ours.
 */
#pragma once

#include <git2.h>
#if __has_include(<git2/sys/errors.h>) /* has git_error_clear() since 1.9 */
#include <git2/sys/errors.h>
#endif
#include <string.h>

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/repo/repo.h"
#include "ga/sys/process.h"

/* git_libgit2_init() with the options we need, and without the milliseconds it takes to set up
 * network functions. Pair it with git_libgit2_shutdown(). */
int ga_library_begin(struct ga_error *err);

struct ga_repo {
	git_repository *repo;
	git_odb *odb;
	/* what objects are written to: the same as `odb` or, of a private handle, only its own
	 * directory, so that it gets a copy of what the repository has, too */
	git_odb *own;
	char *objects; /* the directory that objects are written to */
	bool private;
	char *reads; /* see ga_repo_read_private(); NULL: none */
	int lock;    /* see ga_repo_set_lock() */
	struct ga_repo_info info;
	/* the object directory of an import being checked, whose string it is; NULL: none. The
	 * handle reads through it; git commands about the new commits get it as `object_dir` */
	const char *quarantine;
	struct ga_batch *batch; /* NULL before the first one */
	struct ga_tree_slots *trees; /* the cache of tree-read.c, or NULL */
	struct ga_strv hooks_off; /* settings to set to false so that no hook defined in
				   * configuration runs */
};

/* Fail with our message, ": " and libgit2's last one. To be called right after the libgit2 function
 * that failed. Returns -1. */
int ga_fail_git(struct ga_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ga_repo_open() without the id, so that nothing is written there. */
int ga_repo_open_as_is(const char *dir, struct ga_repo **ret, struct ga_error *err);

void ga_tree_slots_free(struct ga_tree_slots *t);

/* Fill `r->hooks_off` (gitconfig-user.c). */
int ga_hooks_find(struct ga_repo *r, struct ga_error *err);

/* Fail with the reason why a git command exited with a status other than 0: its last message or,
 * with `r`, that the program of a filter is missing. Returns -1. */
int ga_git_failed(const struct ga_repo *r, const char *command, int status,
		  const struct ga_buf *errout, struct ga_error *err);

/* Only start it (git-spawn.c): it does not see objects that wait in memory (ga_batch_begin()).
 * Without `with_config` no configuration is forced; the environment is the same. Standard error
 * goes to `dropped` unless `g` says where; `dropped` may be NULL only if `g` does. */
int ga_git_spawn(const struct ga_repo *r, const struct ga_git *g, bool with_config,
		 struct ga_buf *dropped, struct ga_process_job **ret, struct ga_error *err);

/* Parse what `git config -z --list --show-scope --show-origin` printed. On failure `ret` holds what
 * was parsed before; the caller releases it. */
int ga_gitconfig_parse(const struct ga_buf *out, struct ga_gitconfig *ret, struct ga_error *err);

static inline git_oid ga_to_git_oid(const struct ga_oid *oid)
{
	git_oid o = { { 0 } };

	memcpy(o.id, oid->id, GA_OID_RAWSZ);
	return o;
}

static inline struct ga_oid ga_from_git_oid(const git_oid *oid)
{
	struct ga_oid o;

	memcpy(o.id, oid->id, GA_OID_RAWSZ);
	return o;
}
