/* SPDX-License-Identifier: MIT
 *
 * Read and write the record of a landing.
 */
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/base/json.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define PLACE "git-agent/landing"
#define RECORD_MAX ((size_t)256 << 20)
#define NOW "now"
#define LAST "last"

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
	free(r->session);
	free(r->objects);
	free(r->branch);
	for (size_t i = 0; i < r->n; i++)
		free(r->v[i].path);
	free(r->v);
	ga_repo_free(r->store);
	*r = (struct record)RECORD_INIT;
}

/* Of these two files the first says that a landing is under way. */
static const char *name_of(const struct record *r)
{
	return r->phase < RECORD_DONE ? NOW : LAST;
}

/* The index of a name, or -1. */
static int get_name(const json_t *o, const char *key, const char *const *names, size_t n)
{
	const char *name = json_string_value(json_object_get(o, key));

	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(name, names[i]))
			return (int)i;
	return -1;
}

static bool get_oid(const json_t *v, struct ga_oid *ret)
{
	const char *hex = json_string_value(v);

	return hex ? ga_oid_parse(hex, strlen(hex), ret) : json_is_null(v);
}

static bool get_look(const json_t *v, struct ga_work_stat *ret)
{
	ret->mode = (mode_t)json_integer_value(json_array_get(v, 0));
	return get_oid(json_array_get(v, 1), &ret->oid);
}

static bool get_path(const json_t *v, struct record *r)
{
	cleanup_buf struct ga_buf path = GA_BUF_INIT;
	struct record_path p = { .path = NULL };

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
	const char *session = json_string_value(json_object_get(o, "session"));
	cleanup_buf struct ga_buf branch = GA_BUF_INIT, objects = GA_BUF_INIT;
	int way = get_name(o, "way", ways, GA_NELEMS(ways));
	int phase = get_name(o, "phase", phases, GA_NELEMS(phases));
	size_t i;

	if (!session || !ga_session_name_ok(session) || way < 0 || phase < 0 ||
	    !ga_json_bytes(json_object_get(o, "objects"), &objects) || *objects.ptr != '/')
		return false;
	r->session = ga_strdup(session);
	r->objects = ga_buf_steal(&objects);
	r->how = (enum ga_land_how)way;
	r->phase = (enum record_phase)phase;
	r->part = json_is_true(json_object_get(o, "part"));
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

static int read_file(const char *gitdir, const char *name, struct record *ret,
		     struct ga_error *err)
{
	cleanup_free char *file = ga_strf("%s/" PLACE "/%s", gitdir, name);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	json_t *o;
	bool ok;

	if (access(file, F_OK) && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (ga_read_file_at(AT_FDCWD, file, RECORD_MAX, &b, err))
		return -1;
	o = json_loadb(b.ptr, b.len, 0, NULL);
	ok = o && get_record(o, ret);
	json_decref(o);
	if (!ok) {
		cleanup_free char *word = ga_quote_shell(file);

		return ga_fail(err, GA_EFATAL, "the record of a landing is damaged: '%s'"
			       GA_HINT "look at 'git status'; 'rm %s' forgets the landing", file,
			       word);
	}
	return 0;
}

int record_read_in(const char *gitdir, struct record *ret, struct ga_error *err)
{
	int rc = read_file(gitdir, NOW, ret, err);

	return rc > 0 ? read_file(gitdir, LAST, ret, err) : rc;
}

int record_read(const struct ga_repo *r, struct record *ret, struct ga_error *err)
{
	return record_read_in(ga_repo_info(r)->gitdir, ret, err);
}

static json_t *stat_json(const struct ga_work_stat *l)
{
	return json_pack("[I, s]", (json_int_t)l->mode, GA_HEX(&l->oid));
}

static void set_path(json_t *o, const char *key, const char *path)
{
	json_t *v = json_object();

	ga_json_set_bytes(v, "path", path);
	ga_json_set(o, key, v);
}

static json_t *record_json(const struct record *r)
{
	json_t *o, *paths = json_array();

	for (size_t i = 0; i < r->n; i++) {
		json_t *p = json_pack("{s:o, s:o}", "before", stat_json(&r->v[i].before), "after",
				      stat_json(&r->v[i].after));

		ga_json_set_bytes(p, "path", r->v[i].path);
		ga_json_add(paths, p);
	}
	o = json_pack("{s:s, s:s, s:s, s:b, s:o}", "session", r->session, "way", ways[r->how],
		      "phase", phases[r->phase], "part", r->part, "paths", paths);
	set_path(o, "objects", r->objects);
	if (r->branch)
		set_path(o, "branch", r->branch);
	ga_json_set_oid(o, "head", &r->head);
	ga_json_set_oid(o, "tip", &r->tip);
	ga_json_set_oid(o, "tree", &r->tree);
	ga_json_set_oid(o, "commit", &r->commit);
	return o;
}

static int unlink_record(const struct ga_repo *r, const char *name, struct ga_error *err)
{
	cleanup_free char *file = ga_strf("%s/" PLACE "/%s", ga_repo_info(r)->gitdir, name);

	return unlink(file) && errno != ENOENT && errno != ENOTDIR
		       ? ga_fail_path(err, errno, "remove", file) : 0;
}

int record_save(const struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	cleanup_free char *place = ga_path_join(ga_repo_info(r)->gitdir, PLACE), *text = NULL;
	cleanup_close int dir = -1;
	json_t *o;

	if (ga_mkdir_p(place, 0700, err))
		return -1;
	dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot write in '%s'", place);
	o = record_json(rec);
	text = json_dumps(o, JSON_INDENT(1));
	json_decref(o);
	/* if we are killed in between, the one under way is completed once more */
	if (ga_write_atomic(dir, name_of(rec), text, strlen(text), 0600, err))
		return -1;
	return rec->phase == RECORD_DONE ? unlink_record(r, NOW, err) : 0;
}

int record_remove(const struct ga_repo *r, const struct record *rec, struct ga_error *err)
{
	return unlink_record(r, name_of(rec), err);
}

struct ga_repo *record_store(const struct ga_repo *r, struct record *rec, struct ga_error *err)
{
	if (!rec->store && ga_repo_open_private(r, rec->objects, &rec->store, err))
		return NULL;
	return rec->store;
}

void record_add(struct record *rec, const char *path, const struct ga_work_stat *before,
		const struct ga_work_stat *after)
{
	GA_GROW(rec->v, rec->n, rec->cap);
	rec->v[rec->n++] = (struct record_path){ .path = ga_strdup(path), .before = *before,
						 .after = *after };
}

/* Put the file in its state before (`back`) or after the landing, in one step, if it is in the
 * other one. 0: it is there now; 1: it is in neither, and so left alone. */
static int put(const struct ga_repo *r, struct record *rec, int root, size_t i, bool back,
	       struct ga_error *err)
{
	const struct record_path *p = &rec->v[i];
	const struct ga_work_stat *have = back ? &p->after : &p->before;
	cleanup_work_file struct ga_work_file want = GA_WORK_FILE_INIT;
	struct ga_work_stat now;
	int rc;

	want.look = back ? p->before : p->after;
	ga_work_sweep(root, p->path);
	if (!ga_work_stat(root, p->path, &now))
		return 1;
	if (ga_work_stat_equal(&now, &want.look))
		return 0;
	if (!ga_work_stat_equal(&now, have))
		return 1;
	if (!want.look.mode)
		return ga_work_remove(root, p->path, have, err);
	if (!record_store(r, rec, err))
		return -1;
	rc = ga_blob_read(rec->store, &want.look.oid, GA_WORK_FILE_MAX, &want.bytes, err);
	if (rc)
		return rc < 0 ? -1 : ga_fail(err, GA_EFATAL, "a file is too large");
	return ga_work_put(&want, root, p->path, have, err);
}

int record_apply(const struct ga_repo *r, struct record *rec, size_t first, bool back,
		 struct ga_strv *left, struct ga_error *err)
{
	cleanup_close int root = ga_work_open(r, err);

	if (root < 0)
		return -1;
	/* back from the last: a path may have been written twice */
	for (size_t k = first; k < rec->n; k++) {
		size_t i = back ? rec->n - 1 - (k - first) : k;
		int rc = put(r, rec, root, i, back, err);

		if (rc < 0)
			return -1;
		if (rc)
			ga_strv_push(left, rec->v[i].path);
	}
	return 0;
}
