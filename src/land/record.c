/* SPDX-License-Identifier: MIT
 *
 * Reading and writing the record of a landing.
 */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/clock.h"
#include "ga/fd.h"
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

/* "MODE ID", in octal and hexadecimal; returns what follows the blank behind it, or NULL. */
static const char *parse_look(const char *s, struct land_look *ret)
{
	char *end;
	unsigned long mode = strtoul(s, &end, 8);

	if (end == s || *end != ' ' || strnlen(end + 1, GA_OID_HEXSZ) != GA_OID_HEXSZ ||
	    end[1 + GA_OID_HEXSZ] != ' ')
		return NULL;
	ret->mode = (mode_t)mode;
	return ga_oid_parse(end + 1, GA_OID_HEXSZ, &ret->oid) ? end + GA_OID_HEXSZ + 2 : NULL;
}

static bool parse_path(const char *s, struct record *r)
{
	struct record_path p = { .path = NULL };

	s = parse_look(s, &p.before);
	s = s ? parse_look(s, &p.after) : NULL;
	if (!s || (*s != '0' && *s != '1') || s[1] != ' ' || !ga_path_relative_ok(s + 2))
		return false;
	p.kept = *s == '1';
	p.path = ga_strdup(s + 2);
	GA_GROW(r->v, r->n, r->cap);
	r->v[r->n++] = p;
	return true;
}

static bool parse_item(const char *line, struct record *r)
{
	const char *value = strchr(line, ' ');
	size_t n = value ? (size_t)(value++ - line) : 0;
	const struct {
		const char *key;
		struct ga_oid *oid;
	} oids[] = { { "head", &r->head }, { "tip", &r->tip }, { "tree", &r->tree },
		     { "commit", &r->commit } };
	unsigned which;

#define IS(key) (n == strlen(key) && !memcmp(line, key, n))
	if (!value)
		return false;
	for (size_t i = 0; i < GA_NELEMS(oids); i++)
		if (IS(oids[i].key))
			return ga_oid_parse(value, strlen(value), oids[i].oid);
	if (IS("path"))
		return parse_path(value, r);
	if (IS("begun"))
		return ga_parse_u64(value, UINT64_MAX, &r->begun);
	if (IS("part"))
		return ga_parse_bool(value, &r->part);
	if (IS("session") && !r->session)
		return (r->session = ga_strdup(value)) != NULL;
	if (IS("branch") && !r->branch)
		return (r->branch = ga_strdup(value)) != NULL;
	if (IS("phase") && parse_name(value, phases, GA_NELEMS(phases), &which))
		return r->phase = (enum record_phase)which, true;
	if (IS("way") && parse_name(value, ways, GA_NELEMS(ways), &which))
		return r->how = (enum ga_land_how)which, true;
	return false;
#undef IS
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
	const char *line;
	size_t pos = 0;

	if (find_highest(place, &ret->number, err))
		return -1;
	if (!ret->number)
		return 1;
	ret->dir = ga_strf("%s/%u", place, ret->number);
	file = ga_path_join(ret->dir, "record");
	if (ga_read_file_at(AT_FDCWD, file, RECORD_MAX, &b, err))
		return -1;
	while ((line = ga_buf_next0(&b, &pos)))
		if (!parse_item(line, ret)) {
			cleanup_free char *q = ga_escape(file), *word = ga_quote_shell(ret->dir);

			(void)ga_fail(err, GA_EFATAL, "the record of a landing is damaged: '%s'",
				      q);
			return ga_hint(err, "look at 'git status'; 'rm -r %s' forgets the landing",
				       word);
		}
	return ret->session ? 0 : ga_fail(err, GA_EFATAL, "the record of a landing is empty");
}

int record_read(const struct ga_repo *r, struct record *ret, struct ga_error *err)
{
	return record_read_in(ga_repo_info(r)->gitdir, ret, err);
}

/* ---- writing ------------------------------------------------------------------------- */

static void add_oid(struct ga_buf *b, const char *key, const struct ga_oid *oid)
{
	ga_buf_addf(b, "%s %s", key, GA_HEX(oid));
	ga_buf_addch(b, '\0');
}

static void add_text(struct ga_buf *b, const char *key, const char *value)
{
	ga_buf_addf(b, "%s ", key);
	ga_buf_add0(b, value);
}

int record_save(const struct record *r, struct ga_error *err)
{
	cleanup_close int dir = open(r->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	cleanup_free char *begun = ga_strf("%" PRIu64, r->begun);

	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open '%s'", r->dir);
	add_text(&b, "session", r->session);
	add_text(&b, "way", ways[r->how]);
	add_text(&b, "phase", phases[r->phase]);
	add_text(&b, "part", r->part ? "true" : "false");
	add_text(&b, "begun", begun);
	if (r->branch)
		add_text(&b, "branch", r->branch);
	add_oid(&b, "head", &r->head);
	add_oid(&b, "tip", &r->tip);
	add_oid(&b, "tree", &r->tree);
	add_oid(&b, "commit", &r->commit);
	for (size_t i = 0; i < r->n; i++) {
		const struct record_path *p = &r->v[i];

		ga_buf_addf(&b, "path %o %s %o %s %d ", (unsigned)p->before.mode,
			    GA_HEX(&p->before.oid), (unsigned)p->after.mode,
			    GA_HEX(&p->after.oid), p->kept);
		ga_buf_add0(&b, p->path);
	}
	return ga_write_atomic(dir, "record", b.ptr, b.len, 0600, err);
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
	rec->begun = (uint64_t)time(NULL);
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
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot lock the record of the landing");
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
	return ga_hint(err, "wait until it has ended; 'fuser -v %s/moving %s/undoing' names it", word, word);
}
