/* SPDX-License-Identifier: MIT
 *
 * Reading and writing the record of a landing.
 */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
#include "ga/json.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"

#define PLACE "git-agent/landing"
#define RECORD_MAX ((size_t)256 << 20)
#define PATIENCE_MS 3000 /* for a git that was killed with us to be gone */
#define PAUSE_NS 20000000

static const char *const phases[] = {
	[RECORD_MOVING] = "moving",
	[RECORD_HANDED_OVER] = "handed-over",
	[RECORD_DONE] = "done",
	[RECORD_UNDOING] = "undoing",
};
static const char *const ways[] = {
	[GA_LAND_MERGE] = "merge",
	[GA_LAND_SQUASH] = "squash",
	[GA_LAND_REBASE] = "rebase",
	[GA_LAND_FF_ONLY] = "ff-only",
};

void record_release(struct record *r)
{
	free(r->dir);
	free(r->session);
	free(r->branch);
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].path);
	free(r->v);
	*r = (struct record)RECORD_INIT;
}

/* ---- reading ------------------------------------------------------------------------- */

static bool parse_name(const char *s, const char *const *names, size_t n, unsigned *ret)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(s, names[i])) {
			*ret = i;
			return true;
		}
	return false;
}

static bool get_oid(const json_t *v, struct ga_oid *ret)
{
	const char *hex = json_string_value(v);

	return hex ? ga_oid_parse(hex, strlen(hex), ret) : json_is_null(v);
}

static bool get_look(const json_t *v, struct land_look *ret)
{
	ret->mode = (mode_t)json_integer_value(json_array_get(v, 0));
	return get_oid(json_array_get(v, 1), &ret->oid);
}

static bool get_path(const json_t *v, struct record *r)
{
	cleanup_buf struct ga_buf path = GA_BUF_INIT;
	struct record_path p = { .kept = json_is_true(json_object_get(v, "kept")) };

	if (!ga_json_bytes(v, &path) || !ga_path_relative_ok(path.ptr) ||
	    !get_look(json_object_get(v, "before"), &p.before) ||
	    !get_look(json_object_get(v, "after"), &p.after))
		return false;
	p.path = ga_buf_steal(&path);
	GA_GROW(r->v, r->n, r->cap);
	r->v[r->n++] = p;
	return true;
}

/* Every member is checked: a power cut may have left anything. */
static bool get_record(const json_t *o, struct record *r)
{
	const json_t *paths = json_object_get(o, "paths"), *v;
	cleanup_buf struct ga_buf branch = GA_BUF_INIT;
	const char *session = NULL, *way = NULL, *phase = NULL;
	unsigned which;
	int part = 0;
	size_t i;

	if (json_unpack((json_t *)(uintptr_t)o, "{s:s, s:s, s:s, s:b}", "session", &session,
			"way", &way, "phase", &phase, "part", &part) ||
	    !ga_session_name_ok(session) || !parse_name(way, ways, GA_NELEMS(ways), &which))
		return false;
	r->session = ga_strdup(session);
	r->how = (enum ga_land_how)which;
	r->part = part;
	if (!parse_name(phase, phases, GA_NELEMS(phases), &which))
		return false;
	r->phase = (enum record_phase)which;
	if (ga_json_bytes(json_object_get(o, "branch"), &branch))
		r->branch = ga_buf_steal(&branch);
	json_array_foreach((json_t *)(uintptr_t)paths, i, v)
		if (!get_path(v, r))
			return false;
	return get_oid(json_object_get(o, "head"), &r->head) &&
	       get_oid(json_object_get(o, "tip"), &r->tip) &&
	       get_oid(json_object_get(o, "tree"), &r->tree) &&
	       get_oid(json_object_get(o, "commit"), &r->commit);
}

/* The highest number of a record that was written: 0 if there is none. */
static int find_highest(const char *place, unsigned *ret, struct ga_error *err)
{
	DIR *d = opendir(place);
	struct dirent *e;

	*ret = 0;
	if (!d)
		return errno == ENOENT ? 0 : ga_fail_errno(err, GA_EFATAL, errno,
							   "cannot read '%s'", place);
	while ((e = readdir(d))) {
		cleanup_free char *file = ga_strf("%s/record", e->d_name);
		uint64_t n;

		if (ga_parse_u64(e->d_name, UINT32_MAX, &n) && n > *ret &&
		    !faccessat(dirfd(d), file, F_OK, 0))
			*ret = (unsigned)n;
	}
	(void)closedir(d);
	return 0;
}

int record_read_in(const char *gitdir, struct record *ret, struct ga_error *err)
{
	cleanup_free char *place = ga_path_join(gitdir, PLACE), *file = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	json_t *o;
	bool ok;

	if (find_highest(place, &ret->number, err))
		return -1;
	if (!ret->number)
		return 1;
	ret->dir = ga_strf("%s/%u", place, ret->number);
	file = ga_path_join(ret->dir, "record");
	if (ga_read_file_at(AT_FDCWD, file, RECORD_MAX, &b, err))
		return -1;
	o = json_loadb(b.ptr, b.len, 0, NULL);
	ok = o && get_record(o, ret);
	json_decref(o);
	if (!ok) {
		cleanup_free char *q = ga_escape(file), *word = ga_quote_shell(ret->dir);

		(void)ga_fail(err, GA_EFATAL, "the record of a landing is damaged: '%s'", q);
		return ga_hint(err, "look at 'git status'; 'rm -r %s' forgets the landing", word);
	}
	return 0;
}

int record_read(const struct ga_repo *r, struct record *ret, struct ga_error *err)
{
	return record_read_in(ga_repo_info(r)->gitdir, ret, err);
}

/* ---- writing ------------------------------------------------------------------------- */

static json_t *look_json(const struct land_look *l)
{
	return json_pack("[I, s]", (json_int_t)l->mode, GA_HEX(&l->oid));
}

int record_save(const struct record *r, struct ga_error *err)
{
	cleanup_close int dir = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_t *o, *paths = json_array();
	char *text;
	int rc;

	for (size_t i = 0; i < r->n; i++) {
		json_t *p = json_pack("{s:o, s:o, s:b}", "before", look_json(&r->v[i].before),
				      "after", look_json(&r->v[i].after), "kept", r->v[i].kept);

		ga_json_set_bytes(p, "path", r->v[i].path);
		(void)json_array_append_new(paths, p);
	}
	o = json_pack("{s:s, s:s, s:s, s:b, s:o}", "session", r->session, "way", ways[r->how],
		      "phase", phases[r->phase], "part", r->part, "paths", paths);
	if (r->branch) {
		json_t *branch = json_object();

		ga_json_set_bytes(branch, "path", r->branch);
		(void)json_object_set_new(o, "branch", branch);
	}
	ga_json_set_oid(o, "head", &r->head);
	ga_json_set_oid(o, "tip", &r->tip);
	ga_json_set_oid(o, "tree", &r->tree);
	ga_json_set_oid(o, "commit", &r->commit);
	text = json_dumps(o, JSON_INDENT(1));
	json_decref(o);
	rc = dir < 0 || !text ? ga_fail_errno(err, GA_EFATAL, errno, "cannot write in '%s'", r->dir)
			      : ga_write_atomic(dir, "record", text, strlen(text), 0600, err);
	free(text);
	return rc;
}

int record_begin(const struct ga_repo *r, struct record *rec, struct ga_error *err)
{
	cleanup_free char *place = ga_path_join(ga_repo_info(r)->gitdir, PLACE), *name = NULL;
	cleanup_close int at = -1;

	if (find_highest(place, &rec->number, err) || ga_mkdir_p(place, 0700, err))
		return -1;
	at = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	name = ga_strf("%u", ++rec->number);
	/* one that was never written may be left of a kill */
	if (at < 0 || ga_rmtree_at(at, name, err) || mkdirat(at, name, 0700) || ga_fsync(at))
		return err->msg ? -1 : ga_fail_errno(err, GA_EFATAL, errno,
						     "cannot write in '%s'", place);
	rec->dir = ga_path_join(place, name);
	return 0;
}

int record_remove(struct record *rec, struct ga_error *err)
{
	cleanup_free char *file = NULL;

	if (!rec->dir)
		return 0;
	/* without this file the rest is nothing */
	file = ga_path_join(rec->dir, "record");
	if (unlink(file) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", file);
	if (ga_rmtree_at(AT_FDCWD, rec->dir, err))
		return -1;
	free(rec->dir);
	rec->dir = NULL;
	return 0;
}

void record_forget_earlier(const struct record *rec)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *place = ga_path_parent(rec->dir);
	DIR *d = opendir(place);
	struct dirent *e;
	uint64_t n;

	while (d && (e = readdir(d)))
		if (ga_parse_u64(e->d_name, UINT32_MAX, &n) && n < rec->number) {
			ga_error_release(&ignored);
			(void)ga_rmtree_at(dirfd(d), e->d_name, &ignored);
		}
	if (d)
		(void)closedir(d);
}

/* ---- files ------------------------------------------------------------------------------ */

static char *name_of(size_t i, bool before)
{
	return ga_strf("%zu.%s", i, before ? "before" : "after");
}

static int sync_file(int dir, const char *name, struct ga_error *err)
{
	cleanup_close int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 ? errno != ELOOP && errno != EACCES : ga_fsync(fd))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot keep a copy");
	return 0;
}

static int keep_before(int dir, const char *name, int root, const char *path, struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *q = ga_escape(path);

	if (land_open_here(root, path, &h) || !h.mode)
		return ga_fail(err, GA_ELOSE, "'%s' cannot be read", q);
	if (h.fd >= 0)
		return ga_copy_fd_to(h.fd, dir, name, err) || sync_file(dir, name, err) ? -1 : 0;
	h.target[h.size] = '\0';
	return symlinkat(h.target, dir, name)
		       ? ga_fail_errno(err, GA_EFATAL, errno, "cannot keep a copy of '%s'", q)
		       : 0;
}

static int keep_after(int dir, const char *name, mode_t mode, const struct ga_buf *bytes,
		      struct ga_error *err)
{
	if (S_ISLNK(mode))
		return symlinkat(bytes->ptr, dir, name)
			       ? ga_fail_errno(err, GA_EFATAL, errno, "cannot keep a link")
			       : 0;
	if (ga_write_new(dir, name, bytes->ptr, bytes->len, 0600, err))
		return -1;
	if (fchmodat(dir, name, mode & 0777, 0))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot keep a copy");
	return sync_file(dir, name, err);
}

int record_add(struct record *rec, int root, const char *path, const struct land_look *before,
	       const struct land_look *after, const struct ga_buf *bytes, struct ga_error *err)
{
	cleanup_free char *had = name_of(rec->n, true), *gets = name_of(rec->n, false);
	cleanup_close int dir = -1;

	if (rec->dir) {
		dir = open(rec->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dir < 0)
			return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", rec->dir);
		if ((before->mode && keep_before(dir, had, root, path, err)) ||
		    (bytes && after->mode && keep_after(dir, gets, after->mode, bytes, err)))
			return -1;
	}
	GA_GROW(rec->v, rec->n, rec->cap);
	rec->v[rec->n++] = (struct record_path){ .path = ga_strdup(path), .before = *before,
						 .after = *after, .kept = bytes || !after->mode };
	return 0;
}

int record_put(const struct record *rec, int root, size_t i, bool back, struct ga_error *err)
{
	const struct record_path *p = &rec->v[i];
	const struct land_look *want = back ? &p->before : &p->after;
	const struct land_look *have = back ? &p->after : &p->before;
	cleanup_free char *part = ga_strf(".git-agent-%u-%zu", rec->number, i);
	cleanup_free char *name = name_of(i, back);
	cleanup_close int dir = -1;
	struct land_copy copy = { .name = name, .part = part };
	struct land_look now;

	land_sweep(root, p->path, part);
	if (!land_look_here(root, p->path, &now))
		return 1;
	if (land_look_equal(&now, want))
		return 0;
	if (!land_look_equal(&now, have) || (!back && !p->kept))
		return 1;
	if (!want->mode)
		return land_remove(root, p->path, have, err);
	dir = open(rec->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", rec->dir);
	copy.from = dir;
	return land_put(&copy, root, p->path, have, err);
}

/* ---- who works on it -------------------------------------------------------------------- */

static int open_lock(const struct record *rec, int flags)
{
	cleanup_free char *file = ga_strf("%s/%s", rec->dir, rec->phase == RECORD_UNDOING
							     ? "undoing" : "moving");

	return open(file, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

int record_lock(const struct record *rec, struct ga_error *err)
{
	cleanup_close int fd = open_lock(rec, O_RDWR | O_CREAT);

	if (fd < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot lock the landing's record");
	return ga_flock(fd, true, false, err) < 0 ? -1 : ga_steal_fd(&fd);
}

int record_check_ended(const struct record *rec, struct ga_error *err)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const int64_t until = ga_now_ms() + PATIENCE_MS;
	cleanup_close int fd = open_lock(rec, O_RDONLY);
	cleanup_free char *word = ga_quote_shell(rec->dir);
	int rc;

	if (fd < 0)
		return errno == ENOENT ? 0 : ga_fail_errno(err, GA_EFATAL, errno,
							   "cannot read the record of the landing");
	while ((rc = ga_flock(fd, true, false, err)) > 0 && ga_now_ms() < until)
		(void)nanosleep(&pause, NULL);
	if (rc <= 0)
		return rc;
	(void)ga_fail(err, GA_EFATAL, "the landing of agent/%s was killed, and its git is still "
		      "running", rec->session);
	return ga_hint(err, "wait until it has ended; 'fuser -v %s/moving %s/undoing' names it",
		       word, word);
}
