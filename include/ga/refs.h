/* SPDX-License-Identifier: MIT
 *
 * Refs of the user's repository.
 */
#ifndef GA_REFS_H
#define GA_REFS_H

#include "ga/error.h"
#include "ga/oid.h"
#include "ga/repo.h"
#include "ga/strv.h"

/* The object a ref points to. Returns 1 if there is no such ref. */
int ga_ref_read(struct ga_repo *r, const char *name, struct ga_oid *ret, struct ga_error *err);

struct ga_ref {
	char *name;
	struct ga_oid oid;    /* of a symbolic ref: what it resolves to */
};
struct ga_refs {
	struct ga_ref *v;
	size_t n, cap;
};
#define GA_REFS_INIT { NULL, 0, 0 }
void ga_refs_release(struct ga_refs *l);
#define cleanup_refs cleanup_(ga_refs_release)
/* All refs whose name begins with `prefix`, sorted by name. */
int ga_refs_list(struct ga_repo *r, const char *prefix, struct ga_refs *ret, struct ga_error *err);

/* Several refs changed together or not at all, by one `git update-ref --stdin`
 * (hooks off). Each step compares the old value first. */
struct ga_ref_update {
	char *name;
	bool has_old;         /* false: any old value */
	struct ga_oid old;    /* zero: must not exist */
	struct ga_oid new;    /* zero: delete */
};
struct ga_ref_updates {
	struct ga_ref_update *v;
	size_t n, cap;
};
#define GA_REF_UPDATES_INIT { NULL, 0, 0 }
void ga_ref_updates_release(struct ga_ref_updates *u);
#define cleanup_ref_updates cleanup_(ga_ref_updates_release)
void ga_ref_updates_add(struct ga_ref_updates *u, const char *name,
			const struct ga_oid *old_or_null, const struct ga_oid *new_or_null);
/* `reason` goes to the reflogs. New values are on the disk when it returns. Nothing to do, or one
 * deletion: no process. */
int ga_refs_update(struct ga_repo *r, const struct ga_ref_updates *u, const char *reason,
		   struct ga_error *err);

/* The same in two steps: git is started, and what it is to do is said later. `others` are refs
 * that are synced as well, NULL for none; `known` (sorted; NULL: none) are paths that were there,
 * and are or are being synced as they were: of these only what git writes is synced again. Logs
 * that git writes are not waited for, as git does not. The end frees the job, which may be NULL
 * for updates that do not need git; `*ret` is ended (ga/sync.h) when all are on the disk, NULL
 * after a failure. */
struct ga_refs_job;
struct ga_sync_beside;
bool ga_refs_need_git(const struct ga_ref_updates *u);
/* `lock`: a lock that git holds as well, until it is done, should we be killed; or -1. */
int ga_refs_begin(struct ga_repo *r, const char *reason, int lock, struct ga_refs_job **ret,
		  struct ga_error *err);
int ga_refs_end(struct ga_repo *r, struct ga_refs_job *j, const struct ga_ref_updates *u,
		const struct ga_strv *others, const struct ga_strv *known,
		struct ga_sync_beside **ret, struct ga_error *err);
/* Nothing is to be done after all. NULL is fine. */
void ga_refs_abandon(struct ga_refs_job *j);

/* Create one ref in process, without git, failing if it exists: the start path. `reason` goes to
 * the log of a branch; other refs get none. Not waited for: until ga_ref_paths() are
 * synced, a power cut may leave the file empty. */
int ga_ref_create(struct ga_repo *r, const char *name, const struct ga_oid *oid, const char *reason,
		  struct ga_error *err);
/* Delete one ref in process if it still has the value `old`. A missing ref is no error. */
int ga_ref_delete(struct ga_repo *r, const char *name, const struct ga_oid *old,
		  struct ga_error *err);
/* Append what is to be synced (ga/sync.h) for a ref made by ga_ref_create() to outlive a
 * power cut: its file, its log, and the directories they are in. */
void ga_ref_paths(const struct ga_repo *r, const char *name, struct ga_strv *ret);
/* Give a ref made by ga_ref_create(), which has none, a reflog in process, with an entry for
 * each of `oids`, so that what they reach is not pruned by `git gc` while the log exists. */
int ga_reflog_pin(struct ga_repo *r, const char *name, const struct ga_oid *oids, size_t n,
		  struct ga_error *err);

/* The ref that follows the upstream of a branch, full names both; NULL if it has none. Caller
 * frees. */
char *ga_ref_upstream(const struct ga_repo *r, const char *branch);

/* "topic/x" of "refs/heads/topic/x"; NULL, or what is no branch, gives NULL. */
const char *ga_ref_branch(const char *name);

/* Is `name` (below refs/) well-formed for git, and safe to create: no component
 * git check-ref-format would refuse, none folding to ".git", at most 200 bytes? */
bool ga_ref_name_ok(const char *name);

#endif
