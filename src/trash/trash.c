/* SPDX-License-Identifier: MIT
 *
 * Drop sessions into the trash, restore them, and delete old ones.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/history.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/review/review.h"
#include "ga/session/journal.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/trash/trash.h"

/* If the branch is gone or lacks the session's last commit, keep that on a ref in the trash, named
 * like those of earlier runs. */
static int keep_own(struct ga_repo *r, const struct ga_session *s, const struct ga_oid *branch,
		    const char *stamp, struct ga_ref_updates *u, struct ga_error *err)
{
	cleanup_free char *kind = ga_strf("earlier/%s", GA_HEX(&s->result.tip));
	cleanup_free char *ref = ga_session_ref(s, kind);
	cleanup_free char *to = ga_strf(GA_TRASH_REFS "%s/%s", stamp, kind);
	struct ga_oid oid;
	int rc;

	if (ga_oid_is_zero(&s->result.tip) || !ga_commit_readable(r, &s->result.tip, &s->id.onto))
		return 0;
	if (branch) {
		rc = ga_is_ancestor(r, &s->result.tip, branch, err);
		if (rc)
			return rc < 0 ? -1 : 0;
	}
	rc = ga_ref_read(r, ref, &oid, err);
	if (rc > 0)
		ga_ref_updates_add(u, to, &ga_oid_none, &s->result.tip);
	return rc < 0 ? -1 : 0;
}

static int move_refs(struct ga_repo *r, const struct ga_session *s, const char *stamp,
		     struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_free char *reason = ga_strf("agent: drop %s", s->name);
	cleanup_free char *prefix = ga_session_ref(s, "");
	cleanup_free char *trash = ga_strf(GA_TRASH_REFS "%s/", stamp);
	cleanup_free char *tip = ga_strf("%stip", trash);
	struct ga_oid oid;
	int rc;

	/* all were moved at once */
	if (ga_refs_list(r, trash, &refs, err) || refs.n)
		return refs.n ? 0 : -1;
	rc = ga_ref_read(r, s->id.branch, &oid, err);
	if (rc < 0)
		return -1;
	if (!rc)
		ga_ref_updates_move(&u, s->id.branch, tip, &oid);
	if (keep_own(r, s, rc ? NULL : &oid, stamp, &u, err) || ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		cleanup_free char *to = ga_strf(GA_TRASH_REFS "%s/%s", stamp,
						refs.v[i].name + strlen(prefix));

		ga_ref_updates_move(&u, refs.v[i].name, to, &refs.v[i].oid);
	}
	return ga_refs_update(r, &u, reason, err);
}

/* NAME-TIME, or NAME-TIME-N if sessions of the same name are dropped within a second. */
static char *free_stamp(struct ga_repo *r, const char *trash, const char *name)
{
	uint64_t now = (uint64_t)time(NULL);

	for (unsigned n = 1;; n++) {
		cleanup_free char *stamp = n == 1 ? ga_strf("%s-%" PRIu64, name, now)
						  : ga_strf("%s-%" PRIu64 "-%u", name, now, n);
		cleanup_free char *dir = ga_path_join(trash, stamp);
		cleanup_free char *prefix = ga_strf(GA_TRASH_REFS "%s/", stamp);
		cleanup_refs struct ga_refs refs = GA_REFS_INIT;

		if (access(dir, F_OK) && (ga_refs_list(r, prefix, &refs, GA_IGNORED) || !refs.n))
			return ga_steal(&stamp);
	}
}

int ga_trash_session(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     char **ret_where, struct ga_error *err)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash"), *to = NULL;
	cleanup_free char *space = ga_strf(GA_SESSION_REFS "%s", s->name);
	cleanup_strv struct ga_strv damaged = GA_STRV_INIT;
	const enum ga_state was = s->state;

	if (ga_worktree_check_free(r, s, err) || ga_mkdir_p(trash, 0700, err) ||
	    ga_refs_repair(r, s->id.branch, space, &s->id.onto, &damaged, err) ||
	    ga_worktree_entry_remove(r, s, err))
		return -1;
	/* save the new place before moving anything */
	if (was != GA_STATE_DROPPED || !s->result.stamp) {
		free(s->result.stamp);
		s->result.stamp = free_stamp(r, trash, s->name);
		s->state = GA_STATE_DROPPED;
		(void)ga_journal(s->dir, "dropped", NULL);
		if (ga_session_save(s, err))
			return -1;
	}
	if (ga_fault_stop("drop:noted", err))
		return -1;
	if (move_refs(r, s, s->result.stamp, err)) {
		s->state = was;
		(void)ga_session_save(s, GA_IGNORED);
		return -1;
	}
	to = ga_path_join(trash, s->result.stamp);
	if (ga_fault_stop("drop:refs", err))
		return -1;
	if (rename(s->dir, to))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot move session '%s' to '%s'",
				     s->name, to);
	if (ga_fault_stop("drop:moved", err))
		return -1;
	ga_session_remove_work(to);
	*ret_where = ga_steal(&to);
	return 0;
}

/* A session in the trash: NAME-TIME or NAME-TIME-N. */
struct found {
	char *entry;          /* the directory's name */
	char *name;           /* the session's */
	uint64_t time, n;
	uint64_t started;     /* from its state */
};

static void found_release(struct found *f)
{
	free(f->entry);
	free(f->name);
	*f = (struct found){ 0 };
}

/* Cut "-NUMBER" off. */
static bool cut_number(char *s, uint64_t *ret)
{
	char *dash = strrchr(s, '-');

	if (!dash || dash == s || !ga_parse_u64(dash + 1, UINT64_MAX, ret))
		return false;
	*dash = '\0';
	return true;
}

static bool is_session(const char *dir, const char *name, uint64_t *ret_started)
{
	cleanup_session struct ga_session s = GA_SESSION_INIT;

	if (ga_session_load_from(dir, name, &s, GA_IGNORED))
		return false;
	*ret_started = s.id.started;
	return true;
}

/* Split such a name. A session's name may end in numbers too: its state file decides. */
static bool split_name(const char *trash, const char *entry, struct found *ret)
{
	cleanup_free char *dir = ga_path_join(trash, entry), *name = ga_strdup(entry);
	uint64_t last, before, started;

	if (!cut_number(name, &last))
		return false;
	*ret = (struct found){ .time = last };
	if (!is_session(dir, name, &started)) {
		if (!cut_number(name, &before) || !is_session(dir, name, &started))
			return false;
		*ret = (struct found){ .time = before, .n = last };
	}
	ret->started = started;
	ret->entry = ga_strdup(entry);
	ret->name = ga_steal(&name);
	return true;
}

static bool is_later(const struct found *a, const struct found *b)
{
	return !b->entry || a->time > b->time || (a->time == b->time && a->n > b->n);
}

/* Can it be a part of `whole`? Parts start with it, or with a resume. */
static bool is_part(const struct found *f, const struct ga_session *whole)
{
	return f->started >= whole->id.started &&
	       (!whole->run.finished || f->started <= whole->run.finished);
}

/* Find the session of that name, or entry, that was dropped last. 1: there is none. */
static int find(const char *trash, const char *name, const struct ga_session *whole_or_null,
		struct found *ret, struct ga_error *err)
{
	cleanup_dir DIR *d = opendir(trash);
	struct dirent *e;

	if (!d && errno != ENOENT)
		return ga_fail_path(err, errno, "read", trash);
	while ((e = ga_dir_next(d))) {
		struct found f;

		if (strncmp(e->d_name, name, strlen(name)) || !split_name(trash, e->d_name, &f))
			continue;
		if ((!strcmp(f.name, name) || !strcmp(f.entry, name)) &&
		    (!whole_or_null || is_part(&f, whole_or_null)) && is_later(&f, ret)) {
			found_release(ret);
			*ret = f;
		} else {
			found_release(&f);
		}
	}
	return !ret->entry;
}

static int restore_refs(struct ga_repo *r, const struct ga_session *s, const char *entry,
			struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_free char *reason = ga_strf("agent: restore %s", s->name);
	cleanup_free char *prefix = ga_strf(GA_TRASH_REFS "%s/", entry);

	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		const char *what = refs.v[i].name + strlen(prefix);
		cleanup_free char *to = strcmp(what, "tip") ? ga_session_ref(s, what)
							    : ga_strdup(s->id.branch);

		ga_ref_updates_move(&u, refs.v[i].name, to, &refs.v[i].oid);
	}
	return ga_refs_update(r, &u, reason, err);
}

static int check_free(struct ga_repo *r, const char *state_dir, const struct ga_session *s,
		      const char *entry, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/sessions/%s", state_dir, s->name);
	cleanup_free char *tip = ga_strf(GA_TRASH_REFS "%s/tip", entry);
	struct ga_oid oid;
	int rc;

	if (!*s->id.project)
		return ga_fail(err, GA_EFATAL, "the state of session '%s' was damaged" GA_HINT
			       "its refs are below " GA_TRASH_REFS "%s/, its layers in the trash",
			       s->name, entry);
	if (!access(dir, F_OK)) {
		(void)ga_fail(err, GA_EFATAL, "there is a session '%s' again", s->name);
		/* that one becomes the latest of this name in the trash */
		return ga_hint(err, "'git agent drop %s' makes room, then 'git agent drop "
			       "--restore %s' restores this one", s->name, entry);
	}
	/* if it left the trash, an interrupted restore moved it */
	rc = ga_ref_read(r, tip, &oid, err);
	if (!rc)
		rc = ga_ref_read(r, s->id.branch, &oid, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	return ga_fail(err, GA_EFATAL, "branch 'agent/%s' exists again" GA_HINT "'git branch -m "
		       "agent/%s OTHER' gives it another name", s->name, s->name);
}

int ga_trash_load(const char *state_dir, const char *name, const struct ga_session *whole_or_null,
		  struct ga_session *ret, struct ga_error *err)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash"), *dir = NULL;
	cleanup_(found_release) struct found f = { 0 };
	int rc = find(trash, name, whole_or_null, &f, err);

	if (rc)
		return rc;
	dir = ga_path_join(trash, f.entry);
	rc = ga_session_load_from(dir, f.name, ret, err);
	if (rc)
		return rc;
	free(ret->result.stamp);
	ret->result.stamp = ga_steal(&f.entry);
	return 0;
}

int ga_trash_find(struct ga_repo *r, const char *state_dir, const char *name,
		  const struct ga_session *whole_or_null, struct ga_session *ret,
		  struct ga_error *err)
{
	int rc = ga_trash_load(state_dir, name, whole_or_null, ret, err);

	if (rc || check_free(r, state_dir, ret, ret->result.stamp, err))
		return rc ? rc : -1;
	free(ret->dir);
	ret->dir = ga_strf("%s/sessions/%s", state_dir, ret->name);
	return 0;
}

/* The state is saved last in the trash: a session is either there, or restored completely. */
static int move_from_trash(struct ga_repo *r, struct ga_session *s, const char *to, int *ret_lock,
			   struct ga_error *err)
{
	int rc = ga_session_lock(s, false, ret_lock, err);

	if (rc > 0)
		return ga_fail(err, GA_EFATAL, "session '%s' is being dropped", s->name);
	if (rc || restore_refs(r, s, s->result.stamp, err) || ga_fault_stop("restore:refs", err))
		return -1;
	s->state = ga_oid_is_zero(&s->result.landed) ? GA_STATE_CAPTURED : GA_STATE_LANDED;
	ga_report_load(r, s);
	if (ga_session_save(s, err) || ga_fault_stop("restore:saved", err))
		return -1;
	(void)ga_journal(s->dir, "restored", NULL);
	if (renameat2(AT_FDCWD, s->dir, AT_FDCWD, to, RENAME_NOREPLACE))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot move '%s' back",
				     s->dir);
	return ga_fault_stop("restore:moved", err);
}

int ga_trash_restore(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     int *ret_lock, struct ga_error *err)
{
	cleanup_free char *to = s->dir;

	s->dir = ga_strf("%s/trash/%s", state_dir, s->result.stamp);
	if (move_from_trash(r, s, to, ret_lock, err))
		return -1;
	free(s->dir);
	s->dir = ga_steal(&to);
	return 0;
}

#define GONE ".gone-"
#define FIRST_TIME 1000000000 /* smaller numbers are the N of NAME-TIME-N */

/* When was NAME-TIME, or NAME-TIME-N, dropped? 0: no such name. */
static uint64_t time_of(const char *stamp)
{
	cleanup_free char *s = ga_strdup(stamp);

	for (int i = 0; i < 2; i++) {
		char *dash = strrchr(s, '-');
		uint64_t n;

		if (!dash || dash == s || !ga_parse_u64(dash + 1, UINT64_MAX, &n))
			return 0;
		if (n >= FIRST_TIME)
			return n;
		*dash = '\0';
	}
	return 0;
}

/* List the trash, by directories and refs. */
static int list(struct ga_repo *r, const char *trash, struct ga_strv *ret, struct ga_strv *gone,
		struct ga_error *err)
{
	static const char prefix[] = GA_TRASH_REFS;
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	cleanup_dir DIR *d = opendir(trash);
	struct dirent *e;

	while ((e = ga_dir_next(d))) {
		if (!strncmp(e->d_name, GONE, sizeof(GONE) - 1))
			ga_strv_push(gone, e->d_name);
		else if (time_of(e->d_name))
			ga_strv_push(ret, e->d_name);
	}
	if (ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++) {
		const char *name = refs.v[i].name + sizeof(prefix) - 1;
		cleanup_free char *stamp = ga_strndup(name, strcspn(name, "/"));

		if (time_of(stamp))
			ga_strv_push(ret, stamp);
	}
	ga_strv_sort_unique(ret);
	return 0;
}

/* Remove a session from the trash. Rename its directory first, so that it cannot be restored
 * without its refs. 1: it is being restored. */
static int remove_one(struct ga_repo *r, int at, const char *trash, const char *stamp,
		      struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(trash, stamp), *gone = ga_strf(GONE "%s", stamp);
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *prefix = ga_strf(GA_TRASH_REFS "%s/", stamp);
	cleanup_refs struct ga_refs refs = GA_REFS_INIT;
	const struct ga_session s = { .dir = dir };
	cleanup_close int lock = -1;
	int rc = 0;

	if (!access(dir, F_OK)) {
		rc = ga_session_lock(&s, false, &lock, err);
		if (rc)
			return rc;
		if (renameat(at, stamp, at, gone) && errno != ENOENT)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", stamp);
	}
	if (ga_fault_stop("gc:renamed", err) || ga_refs_list(r, prefix, &refs, err))
		return -1;
	for (size_t i = 0; i < refs.n; i++)
		ga_ref_updates_add(&u, refs.v[i].name, &refs.v[i].oid, NULL);
	return ga_refs_update(r, &u, "agent: gc", err) || ga_fault_stop("gc:refs", err) ||
	       (at >= 0 && ga_rmtree_at(at, gone, err)) ? -1 : 0;
}

int ga_trash_sweep(struct ga_repo *r, const char *state_dir, uint64_t before, bool dry,
		   struct ga_strv *names, struct ga_strv *whys, struct ga_error *err)
{
	cleanup_free char *trash = ga_path_join(state_dir, "trash");
	cleanup_close int at = open(trash, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_strv struct ga_strv all = GA_STRV_INIT, gone = GA_STRV_INIT;
	uint64_t now = (uint64_t)time(NULL);

	if (list(r, trash, &all, &gone, err))
		return -1;
	for (size_t i = 0; !dry && i < gone.n; i++)
		if (ga_rmtree_at(at, gone.v[i], err))
			return -1;
	for (size_t i = 0; i < all.n; i++) {
		uint64_t when = time_of(all.v[i]);
		int rc = 0;

		if (when >= before || when > now)
			continue;
		if (!dry)
			rc = remove_one(r, at, trash, all.v[i], err);
		if (rc < 0)
			return -1;
		if (rc)
			continue;
		ga_strv_push(names, all.v[i]);
		ga_strv_pushf(whys, "dropped %" PRIu64 " days ago", (now - when) / 86400);
	}
	return 0;
}
