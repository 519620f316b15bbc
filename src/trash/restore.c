/* SPDX-License-Identifier: MIT */
#include "ga/trash/trash.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/base/trace.h"
#include "ga/repo/objects.h"
#include "ga/repo/refs.h"
#include "ga/review/report.h"
#include "ga/session/journal.h"
#include "ga/sys/fd.h"

/* A session in the trash: NAME-TIME or NAME-TIME-N. */
struct found {
	char *entry;          /* the directory's name */
	char *name;           /* the session's */
	uint64_t time, n;
	uint64_t started;     /* as in its state */
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

/* Take such a name apart. A session's name may end in numbers too: its state file tells. */
static bool take_apart(const char *trash, const char *entry, struct found *ret)
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

/* Can it be the one that `whole` has in a submodule? That was started with it, or when it went
 * on. */
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

		if (strncmp(e->d_name, name, strlen(name)) || !take_apart(trash, e->d_name, &f))
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

/* Does the branch exist that would have to be restored? If it is not in the trash any more, an
 * interrupted restore has brought it back. 1 yes. */
static int branch_in_the_way(struct ga_repo *r, const struct ga_session *s, const char *entry,
			     struct ga_error *err)
{
	cleanup_free char *tip = ga_strf(GA_TRASH_REFS "%s/tip", entry);
	struct ga_oid oid;
	int rc = ga_ref_read(r, tip, &oid, err);

	if (!rc)
		rc = ga_ref_read(r, s->id.branch, &oid, err);
	return rc < 0 ? -1 : !rc;
}

static int check_free(struct ga_repo *r, const char *state_dir, const struct ga_session *s,
		      const char *entry, struct ga_error *err)
{
	cleanup_free char *dir = ga_strf("%s/sessions/%s", state_dir, s->name);
	int rc;

	if (!*s->id.project)
		return ga_fail(err, GA_EFATAL, "the state of session '%s' was damaged" GA_HINT
			       "its refs are below " GA_TRASH_REFS "%s/, its layers in the trash",
			       s->name, entry);
	if (!access(dir, F_OK)) {
		(void)ga_fail(err, GA_EFATAL, "there is a session '%s' again", s->name);
		/* that one goes into the trash as the last of this name */
		return ga_hint(err, "'git agent drop %s' makes room, then 'git agent drop "
			       "--restore %s' brings back this one", s->name, entry);
	}
	rc = branch_in_the_way(r, s, entry, err);
	if (rc <= 0)
		return rc;
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

/* The state is saved last in the trash: a session is either there, or back as a whole. */
static int bring_back(struct ga_repo *r, struct ga_session *s, const char *to, int *ret_lock,
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
	if (renameat2(AT_FDCWD, s->dir, AT_FDCWD, to, RENAME_NOREPLACE)) {
		cleanup_free char *q = ga_escape(s->dir);

		return ga_fail_errno(err, GA_EFATAL, errno, "cannot move '%s' back", q);
	}
	return ga_fault_stop("restore:moved", err);
}

int ga_trash_restore(struct ga_repo *r, const char *state_dir, struct ga_session *s,
		     int *ret_lock, struct ga_error *err)
{
	cleanup_free char *to = s->dir;

	s->dir = ga_strf("%s/trash/%s", state_dir, s->result.stamp);
	if (bring_back(r, s, to, ret_lock, err))
		return -1;
	free(s->dir);
	s->dir = ga_steal(&to);
	return 0;
}
