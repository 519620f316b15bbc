/* SPDX-License-Identifier: MIT */
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
#include "ga/repo/refs.h"
#include "ga/repo/repo.h"
#include "ga/session/session.h"
#include "ga/sys/fd.h"
#include "ga/sys/sync.h"

/* The state file is in git-config syntax, so that `git config -f` reads it.
 * Values are quoted; '%' and control characters are written %XX on top, since
 * no escape of git-config covers them all. The last section says that the file
 * is whole: a file cut short anywhere lacks it. */

#define READ_TRIES 20
#define READ_PAUSE_NS 5000000
#define STATE_MAX (16u << 20)

enum kind { STRING, OID, INT, U64, BOOL, STATE, LIST };

struct field {
	const char *key;
	enum kind kind;
	size_t offset;
};

#define FIELD(key, kind, member) { key, kind, offsetof(struct ga_session, member) }

/* A key stays when its member is renamed: sessions outlive an update. Files of earlier versions
 * also have "tip", "held", "note" and "leftout", which the report has. */
static const struct field fields[] = {
	FIELD("name", STRING, name),
	FIELD("state", STATE, state),
	FIELD("project", STRING, id.project),
	FIELD("gitdir", STRING, id.gitdir),
	FIELD("branch", STRING, id.branch),
	FIELD("ontoref", STRING, id.onto_ref),
	FIELD("onto", OID, id.onto),
	FIELD("base", OID, id.base),
	FIELD("trusted", BOOL, id.trusted),
	FIELD("message", STRING, id.message),
	FIELD("command", LIST, id.command),
	FIELD("started", U64, id.started),
	FIELD("finished", U64, run.finished),
	FIELD("exitstatus", INT, run.exit_status),
	FIELD("incomplete", STRING, view.incomplete),
	FIELD("pid", INT, run.pid),
	FIELD("pidns", U64, run.pidns),
	FIELD("boot", STRING, view.boot),
	FIELD("shared", LIST, view.shared),
	FIELD("submodule", LIST, id.submodules),
	FIELD("part", LIST, id.part_ids),
	FIELD("within", STRING, id.within),
	FIELD("skipped", LIST, view.skipped),
	FIELD("masked", LIST, view.masked),
	FIELD("maskedobject", LIST, view.masked_objects),
	FIELD("limit", LIST, run.limits),
	FIELD("network", STRING, run.network),
	FIELD("networkoption", LIST, run.network_options),
	FIELD("published", LIST, run.published),
	FIELD("ports", U64, run.ports),
	FIELD("refused", LIST, run.refused),
	FIELD("unlisted", U64, run.unlisted),
	FIELD("forbidden", LIST, run.forbidden),
	FIELD("exposed", LIST, view.exposed),
	FIELD("check", LIST, run.checks),
	FIELD("remark", LIST, run.remarks),
	FIELD("renamed", LIST, view.renamed),
	FIELD("stood", LIST, view.former_bases),
	FIELD("view", OID, view.tree),
	FIELD("full", OID, view.full),
	FIELD("from", OID, view.agent_base),
	FIELD("under", OID, view.branch_base),
	FIELD("former", OID, result.base_report),
	FIELD("resumed", U64, run.resumed),
	FIELD("again", LIST, run.resumed_with),
	FIELD("update", OID, view.update),
	FIELD("updated", OID, view.updated),
	FIELD("bring", OID, view.target),
	FIELD("bringfull", OID, view.target_full),
	FIELD("landed", OID, result.landed),
	FIELD("remote", STRING, id.remote),
	FIELD("remotetip", OID, result.remote_tip),
	FIELD("remoteheld", OID, result.remote_held),
	FIELD("arrived", STRING, result.arrived),
	FIELD("arrivedin", STRING, result.arrived_in),
	FIELD("trash", STRING, result.stamp),
};

void ga_session_release(struct ga_session *s)
{
	for (size_t i = 0; i < GA_NELEMS(fields); i++) {
		char *at = (char *)s + fields[i].offset;

		if (fields[i].kind == STRING)
			free(*(char **)at);
		else if (fields[i].kind == LIST)
			ga_strv_release((struct ga_strv *)at);
	}
	ga_strv_release(&s->result.notes);
	ga_strv_release(&s->result.left_out);
	free(s->dir);
	*s = (struct ga_session)GA_SESSION_INIT;
}

static void put(struct ga_buf *b, const char *key, const char *value)
{
	ga_buf_addf(b, "\t%s = \"", key);
	for (const unsigned char *p = (const unsigned char *)value; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || *p == '%')
			ga_buf_addf(b, "%%%02x", *p);
		else if (*p == '"' || *p == '\\')
			ga_buf_addf(b, "\\%c", *p);
		else
			ga_buf_addch(b, (char)*p);
	}
	ga_buf_adds(b, "\"\n");
}

static void put_field(struct ga_buf *b, const struct field *f, const struct ga_session *s)
{
	const char *at = (const char *)s + f->offset;
	const struct ga_strv *sv;
	char num[32];

	switch (f->kind) {
	case STRING:
		if (*(char *const *)at)
			put(b, f->key, *(char *const *)at);
		break;
	case OID:
		put(b, f->key, GA_HEX((const struct ga_oid *)at));
		break;
	case INT:
		(void)snprintf(num, sizeof(num), "%d", *(const int *)at);
		put(b, f->key, num);
		break;
	case U64:
		(void)snprintf(num, sizeof(num), "%" PRIu64, *(const uint64_t *)at);
		put(b, f->key, num);
		break;
	case BOOL:
		put(b, f->key, *(const bool *)at ? "true" : "false");
		break;
	case STATE:
		/* INTERRUPTED is not stored: it follows from the lock */
		put(b, f->key, ga_state_name(*(const enum ga_state *)at == GA_STATE_INTERRUPTED ?
			       GA_STATE_RUNNING : *(const enum ga_state *)at));
		break;
	case LIST:
		sv = (const struct ga_strv *)at;
		for (size_t i = 0; i < sv->n; i++)
			put(b, f->key, sv->v[i]);
		break;
	}
}

/* Is the current state file whole? A damaged or missing one must not replace the former state. */
static bool is_whole(int dir)
{
	static const char end[] = "[end]\n\tcomplete = true\n";
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return !ga_read_file_at(dir, "session", STATE_MAX, &b, GA_IGNORED) &&
	       b.len >= sizeof(end) - 1 && !strcmp(b.ptr + b.len - (sizeof(end) - 1), end);
}

/* Does this state have to reach the disk? Until a session has a result, a power cut loses no more
 * than the layers lose anyway, whose overlay is volatile: the former state, or the session's
 * removal, is just as good. A result is referred to by refs, which are synced. And if a session
 * that had a result runs again, the old state on disk would call it done, and its new work would be
 * ignored. */
static bool must_sync(const struct ga_session *s)
{
	if (s->state == GA_STATE_NEW || s->state == GA_STATE_RUNNING)
		return s->run.resumed != 0;
	return s->state != GA_STATE_CAPTURED || !ga_oid_is_zero(&s->result.tip) ||
	       !ga_oid_is_zero(&s->result.held) || !ga_oid_is_zero(&s->view.target);
}

/* Where a session had a result before, session.old may be its only state that is on the disk: sync
 * its successor, `session`, before it is unlinked. */
static int sync_successor(int dir, const struct ga_session *s)
{
	cleanup_close int fd = -1;

	if (s->run.finished <= s->id.started ||
	    faccessat(dir, "session.old", F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	fd = openat(dir, "session", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && fsync(fd) ? -1 : 0;
}

/* Readers use the former state until the new one is whole, so this one can be written in place.
 * (Replacing a file by renaming makes the file system start writing it to the disk.) */
static int write_quick(int dir, const struct ga_session *s, const struct ga_buf *b,
		       struct ga_error *err)
{
	if (sync_successor(dir, s))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot sync the former state");
	if (is_whole(dir)
		    ? (unlinkat(dir, "session.old", 0) && errno != ENOENT) ||
			      renameat(dir, "session", dir, "session.old")
		    : unlinkat(dir, "session", 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot put the former state aside");
	return ga_write_new(dir, "session", b->ptr, b->len, 0600, err);
}

static int end_sync(void *first, struct ga_error *err)
{
	struct ga_sync_job **s = first;

	return s ? ga_sync_end(ga_steal(s), err) : 0;
}

static int write_lasting(int dir, const struct ga_buf *b, struct ga_sync_job **first,
			 struct ga_error *err)
{
	if (is_whole(dir) && ((unlinkat(dir, "session.old", 0) && errno != ENOENT) ||
			      linkat(dir, "session", dir, "session.old", 0)))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot put the former state aside");
	return ga_write_atomic_after(dir, "session", b->ptr, b->len, 0600, end_sync, first,
				     err);
}

static int save(const struct ga_session *s, bool lasting, struct ga_sync_job **first,
		struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_close int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno,
				     "cannot open the directory of session '%s'", s->name);
	ga_buf_adds(&b, "[session]\n");
	for (size_t i = 0; i < GA_NELEMS(fields); i++)
		put_field(&b, &fields[i], s);
	ga_buf_adds(&b, "[end]\n\tcomplete = true\n");
	if (lasting ? write_lasting(dir, &b, first, err) : write_quick(dir, s, &b, err))
		return ga_error_wrap(err, "cannot save session '%s'", s->name);
	return 0;
}

int ga_session_save(const struct ga_session *s, struct ga_error *err)
{
	return save(s, must_sync(s), NULL, err);
}

int ga_session_save_after(const struct ga_session *s, struct ga_sync_job **first,
			  struct ga_error *err)
{
	/* refs are a result as well, even if they are just a stash or other branches */
	return save(s, must_sync(s) || *first, first, err);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *decode(const char *v)
{
	struct ga_buf b = GA_BUF_INIT;

	for (; *v; v++) {
		if (*v == '%' && hex(v[1]) >= 0 && hex(v[2]) >= 0) {
			ga_buf_addch(&b, (char)(hex(v[1]) << 4 | hex(v[2])));
			v += 2;
		} else {
			ga_buf_addch(&b, *v);
		}
	}
	return ga_buf_steal(&b);
}

static bool get_field(const struct field *f, struct ga_session *s, const char *value)
{
	char *at = (char *)s + f->offset;
	int64_t i;

	switch (f->kind) {
	case STRING:
		free(*(char **)at);
		*(char **)at = decode(value);
		return true;
	case OID:
		return ga_oid_parse(value, GA_OID_HEXSZ + 1, (struct ga_oid *)at);
	case INT:
		if (!ga_parse_i64(value, &i) || i < INT32_MIN || i > INT32_MAX)
			return false;
		*(int *)at = (int)i;
		return true;
	case U64:
		return ga_parse_u64(value, UINT64_MAX, (uint64_t *)at);
	case BOOL:
		return ga_parse_bool(value, (bool *)at);
	case STATE:
		/* INTERRUPTED is never stored */
		return ga_state_parse(value, (enum ga_state *)at) &&
		       *(enum ga_state *)at != GA_STATE_INTERRUPTED;
	case LIST:
		ga_strv_take((struct ga_strv *)at, decode(value));
		return true;
	}
	return false;
}

/* Like -1, with an error set: the writer was killed, or is still writing. */
#define CUT_SHORT 1

static int read_state(const char *path, const char *name, struct ga_session *ret,
		      struct ga_error *err)
{
	cleanup_(ga_gitconfig_release) struct ga_gitconfig c = GA_GITCONFIG_INIT;
	cleanup_session struct ga_session s = GA_SESSION_INIT;
	const char *end;

	if (ga_configfile_read(path, &c, err))
		return -1;
	end = ga_gitconfig_get(&c, "end.complete");
	if (!end || strcmp(end, "true")) {
		(void)ga_fail(err, GA_EFATAL, "state file '%s' is cut short", path);
		return CUT_SHORT;
	}
	for (size_t i = 0; i < c.n; i++) {
		const char *key = c.v[i].key;

		if (strncmp(key, "session.", 8))
			continue;
		for (size_t k = 0; k < GA_NELEMS(fields); k++)
			if (!strcmp(key + 8, fields[k].key) &&
			    !get_field(&fields[k], &s, c.v[i].value))
				return ga_fail(err, GA_EFATAL, "state file '%s' has a bad %s", path,
					       fields[k].key);
	}
	if (!s.name || strcmp(s.name, name) || !s.id.project || !s.id.gitdir ||
	    !ga_ref_branch(s.id.branch))
		return ga_fail(err, GA_EFATAL, "state file '%s' is not of session '%s'", path,
			       name);
	*ret = s;
	s = (struct ga_session)GA_SESSION_INIT;
	return 0;
}

static int hint_damaged(const char *dir, const char *name, struct ga_error *err)
{
	return ga_hint(err, "what the agent did is in '%s/upper'; 'git agent drop --force %s' "
			    "moves the session to the trash",
		       dir, name);
}

static int fail_without_state(const char *dir, const char *name, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "the state file of session '%s' is gone", name);
	return hint_damaged(dir, name, err);
}

/* Read the state, or else the former one, from which every step of a session can be repeated. If
 * the session is saved twice, both attempts can miss. */
static int read_either(const char *file, const char *old, const char *name, struct ga_session *ret,
		       struct ga_error *err)
{
	int rc = -1;

	for (int again = 0; again < READ_TRIES; again++) {
		cleanup_error struct ga_error second = GA_ERROR_INIT;
		const struct timespec t = { 0, READ_PAUSE_NS };

		/* give the writer time to be scheduled */
		if (again > 1)
			(void)nanosleep(&t, NULL);
		ga_error_release(err);
		rc = read_state(file, name, ret, err);
		if (!rc)
			return 0;
		if (!read_state(old, name, ret, &second)) {
			ga_error_release(err);
			return 0;
		}
	}
	return rc;
}

int ga_session_load_from(const char *dir, const char *name, struct ga_session *ret,
			 struct ga_error *err)
{
	cleanup_free char *file = ga_path_join(dir, "session");
	cleanup_free char *old = ga_path_join(dir, "session.old");
	cleanup_free char *upper = ga_path_join(dir, "upper");
	int rc;

	/* it never became a session, unless something ran on its layers */
	if (access(file, F_OK) && access(old, F_OK) && access(file, F_OK))
		return ga_dir_is_empty(upper) ? 1 : fail_without_state(dir, name, err);
	rc = read_either(file, old, name, ret, err);
	/* the same if its first state was cut short */
	if (rc == CUT_SHORT && access(old, F_OK) && ga_dir_is_empty(upper)) {
		ga_error_release(err);
		return 1;
	}
	if (rc)
		return hint_damaged(dir, name, err);
	ret->dir = ga_strdup(dir);
	return 0;
}

int ga_session_load(const char *state_dir, const char *name, struct ga_session *ret,
		    struct ga_error *err)
{
	cleanup_free char *dir = NULL;

	if (!ga_session_name_ok(name))
		return 1;
	dir = ga_strf("%s/sessions/%s", state_dir, name);
	return access(dir, F_OK) ? 1 : ga_session_load_from(dir, name, ret, err);
}
