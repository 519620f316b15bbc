/* SPDX-License-Identifier: MIT
 *
 * Read, list and update refs of the user's repository.
 */
#pragma once

#include "ga/base/error.h"
#include "ga/base/oid.h"
#include "ga/base/strv.h"
#include "ga/repo/repo.h"

/* Read the object that a ref points to. Returns 1 if there is no such ref; `*ret` is zero then. */
int ga_ref_read(struct ga_repo *r, const char *name, struct ga_oid *ret, struct ga_error *err);

struct ga_ref {
	char *name;
	struct ga_oid oid;    /* for a symbolic ref: what it resolves to */
};
struct ga_refs {
	struct ga_ref *v;
	size_t n, cap;
};
#define GA_REFS_INIT { NULL, 0, 0 }
void ga_refs_release(struct ga_refs *l);
#define cleanup_refs cleanup_(ga_refs_release)
/* Append one, whatever the order. */
void ga_refs_add(struct ga_refs *l, const char *name, const struct ga_oid *oid);
/* The ref of that name in a list that is sorted by name, or NULL. */
const struct ga_ref *ga_refs_find(const struct ga_refs *l, const char *name);
/* List all refs whose name begins with `prefix`, sorted by name. */
int ga_refs_list(struct ga_repo *r, const char *prefix, struct ga_refs *ret, struct ga_error *err);

/* Several refs changed together or not at all, by one `git update-ref --stdin` (hooks off). Each
 * update first compares the old value. */
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
/* Append an update. `old_or_null` NULL: any old value; `new_or_null` NULL: delete the ref. */
void ga_ref_updates_add(struct ga_ref_updates *u, const char *name,
			const struct ga_oid *old_or_null, const struct ga_oid *new_or_null);
/* Append both updates that rename a ref. */
void ga_ref_updates_move(struct ga_ref_updates *u, const char *from, const char *to,
			 const struct ga_oid *oid);
/* Append the update of a ref from its current value to `new` (zero: delete it). Returns 1,
 * appending nothing, if it has that value. */
int ga_ref_updates_set(struct ga_repo *r, struct ga_ref_updates *u, const char *name,
		       const struct ga_oid *new, struct ga_error *err);
/* Apply the updates. `reason` goes to the reflogs. The new values are on the disk when this
 * returns. Needs no process if there is nothing to do or only one ref to delete. */
int ga_refs_update(struct ga_repo *r, const struct ga_ref_updates *u, const char *reason,
		   struct ga_error *err);

/* ga_refs_update() in two steps: git is started first and gets the updates later. Refs named in
 * `others` (NULL: none) are synced as well. `known` (sorted; NULL: none) are paths of files that
 * existed before and are, or are being, synced unchanged: of these only what git writes is synced
 * again. Reflogs that git writes are not waited for, just as git does not. ga_refs_end() frees the
 * job, which may be NULL for updates that do not need git; `*ret` ends (ga/sys/sync.h) when
 * everything is on the disk; it is NULL after a failure. */
struct ga_refs_job;
struct ga_sync_job;
/* Does applying these need a git process? */
bool ga_refs_need_git(const struct ga_ref_updates *u);
/* `lock` (or -1): a lock that git also holds until it exits, in case we are killed. */
int ga_refs_begin(struct ga_repo *r, const char *reason, int lock, struct ga_refs_job **ret,
		  struct ga_error *err);
int ga_refs_end(struct ga_repo *r, struct ga_refs_job *j, const struct ga_ref_updates *u,
		const struct ga_strv *others, const struct ga_strv *known, struct ga_sync_job **ret,
		struct ga_error *err);
/* End the job without updating anything. NULL is fine. */
void ga_refs_abandon(struct ga_refs_job *j);

/* Create one ref in process, without git, for the start path; fails if it exists. `reason` goes to
 * the reflog of a branch; other refs get none. Not synced: until the ga_ref_paths() are synced, a
 * power cut may leave the file empty. */
int ga_ref_create(struct ga_repo *r, const char *name, const struct ga_oid *oid, const char *reason,
		  struct ga_error *err);
/* Delete one ref in process if it still has the value `old`. It is no error if it is missing. */
int ga_ref_delete(struct ga_repo *r, const char *name, const struct ga_oid *old,
		  struct ga_error *err);
/* Append the paths that must be synced (ga/sys/sync.h) for a ref made by ga_ref_create() to survive
 * a power cut: its file, its log, and the directories they are in. */
void ga_ref_paths(const struct ga_repo *r, const char *name, struct ga_strv *ret);
/* Write a reflog for a ref made by ga_ref_create(), which has none, in process, with an entry for
 * each of `oids`: while it exists, `git gc` keeps what they reach. */
int ga_reflog_pin(struct ga_repo *r, const char *name, const struct ga_oid *oids, size_t n,
		  struct ga_error *err);

/* The remote-tracking ref of a branch's upstream (both full names); NULL if it has none. The caller
 * frees it. */
char *ga_ref_upstream(const struct ga_repo *r, const char *branch);

/* "topic/x" for "refs/heads/topic/x", pointing into `name`; NULL for NULL or another ref. */
const char *ga_ref_branch(const char *name);

/* Is `name` (below refs/) a ref name that is valid for git and safe to create: no component that
 * git check-ref-format refuses, none that folds to ".git", at most 200 bytes? */
bool ga_ref_name_ok(const char *name);
