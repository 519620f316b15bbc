/* SPDX-License-Identifier: MIT
 *
 * What the files of src/repo share: the handle itself, and libgit2's errors
 * and ids turned into ours.
 */
#ifndef GA_REPO_INTERNAL_H
#define GA_REPO_INTERNAL_H

#include <git2.h>
#if __has_include(<git2/sys/errors.h>) /* where git_error_clear() went with 1.9 */
#include <git2/sys/errors.h>
#endif
#include <string.h>

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/process.h"
#include "ga/repo.h"

/* git_libgit2_init(), without what only functions of the network need, which takes milliseconds. */
int ga_library_begin(struct ga_error *err);

struct ga_repo {
	git_repository *repo;
	git_odb *odb;
	struct ga_repo_info info;
	/* the object directory of an import being checked, whose objects this handle
	 * and git run for it see; NULL without one; belongs to the import */
	const char *quarantine;
	struct ga_batch *batch; /* NULL before the first ga_batch_begin() */
	struct ga_tree_slots *trees; /* tree-find.c; or NULL */
	struct ga_strv hooks_off; /* settings that are false where none that it defines is to run */
};

/* Fail with ": " and libgit2's last message behind ours. To be called right
 * after the libgit2 function that failed. Returns -1. */
int ga_fail_git(struct ga_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ga_repo_open(), but nothing is written there: without an id. */
int ga_repo_open_as_is(const char *dir, struct ga_repo **ret, struct ga_error *err);

/* Lines of both, without what they begin and end with alike: those that a comparison has to look
 * at. None where one is empty: nothing is searched then (diff.c). */
size_t ga_lines_between(const struct ga_buf *a, const struct ga_buf *b);

/* Fill `info->id` (repo-id.c). */
int ga_repo_load_id(struct ga_repo_info *info, struct ga_error *err);

void ga_tree_slots_free(struct ga_tree_slots *t);

/* Fill `r->hooks_off` (hooks.c). */
int ga_hooks_find(struct ga_repo *r, struct ga_error *err);

/* Say why a git command ended with a status that is not 0. Returns -1. */
int ga_git_failed(const char *command, int status, const struct ga_buf *errout,
		  struct ga_error *err);

/* Start it, and no more (git-spawn.c): objects that wait in memory (ga_batch_begin()) it does not
 * see. Without `with_config` there is no forced configuration; the environment is the same.
 * Standard error goes to `dropped` unless `g` says where; NULL: it must say. */
int ga_git_spawn(const struct ga_repo *r, const struct ga_git *g, bool with_config,
		 struct ga_buf *dropped, struct ga_process_job **ret, struct ga_error *err);

/* Take apart what `git config -z --list --show-scope --show-origin` printed. On failure
 * `ret` holds what came before and is the caller's to release. */
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

#endif
