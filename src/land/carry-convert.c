/* SPDX-License-Identifier: MIT
 *
 * Conversion of files that come back as uncommitted edits, from working tree to blob and back, by
 * the user's own attributes and filters as they are before anything is merged.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "carry.h"

#define UNCONVERTED "git cannot convert it"

static int read_index(struct carry_all *a, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;

	if (land_ask_git(a->l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		struct ga_entry e;
		const char *path = land_index_entry(line, &e);
		struct carry_one *o = path && path[-2] == '0' ? carry_find(a, path) : NULL;

		if (o)
			o->index = e;
	}
	return 0;
}

static int fill_anew(struct land *l, const char *index, const struct ga_buf *lines,
		     struct ga_error *err)
{
	if (unlink(index) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove a file of our own");
	return land_scratch_fill(l, index, lines, err);
}

/* Git stops at the first file that it cannot convert: bisect to find out which one that is. */
static int by_halves(struct carry_all *a, struct carry_one *const *v, size_t n,
		     int some(struct carry_all *a, struct carry_one *const *v, size_t n,
			      struct ga_error *err),
		     struct ga_error *err)
{
	int rc = n ? some(a, v, n, err) : 0;

	if (rc > 0 && n == 1)
		v[0]->why = UNCONVERTED;
	if (rc <= 0 || n == 1)
		return rc < 0 ? -1 : 0;
	return by_halves(a, v, n / 2, some, err) || by_halves(a, v + n / 2, n - n / 2, some, err)
		       ? -1 : 0;
}

/* Find what `git add` would store for them. 1: at least one cannot be converted. */
static int clean_some(struct carry_all *a, struct carry_one *const *v, size_t n,
		      struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(a->dir, "index");
	cleanup_error struct ga_error refused = GA_ERROR_INIT;
	cleanup_buf struct ga_buf known = GA_BUF_INIT, paths = GA_BUF_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line;
	size_t pos = 0;
	int rc;

	for (size_t i = 0; i < n; i++) {
		if (v[i]->index.mode != GA_MODE_NONE)
			land_scratch_line(&known, &v[i]->index, v[i]->want->path);
		ga_buf_add0(&paths, v[i]->want->path);
	}
	if (fill_anew(a->l, index, &known, err))
		return -1;
	rc = land_scratch_read(a->l, index, &paths, &out, &refused);
	if (rc)
		return rc < 0 ? ga_error_move(err, &refused) : 1;
	while ((line = ga_buf_next0(&out, &pos))) {
		struct ga_entry e;
		const char *path = land_index_entry(line, &e);
		struct carry_one *o = path ? carry_find(a, path) : NULL;

		if (o)
			o->c->had.oid = e.oid;
	}
	return 0;
}

int carry_clean(struct carry_all *a, struct ga_error *err)
{
	cleanup_free struct carry_one **v = ga_calloc(a->wanted.n, sizeof(struct carry_one *));
	size_t n = 0;

	for (size_t i = 0; i < a->wanted.n; i++)
		if (!a->v[i].why && carry_is_there(a->v[i].c))
			v[n++] = &a->v[i];
	return n && read_index(a, err) ? -1 : by_halves(a, v, n, clean_some, err);
}

/* A .gitattributes written together with other files would apply to them, and to itself. */
static bool has_attributes(const struct carry_one *o)
{
	return !strcmp(ga_path_base(o->want->path), ".gitattributes");
}

static bool is_written(const struct carry_one *o)
{
	return !o->why && o->c->will.mode != GA_MODE_NONE &&
	       !ga_entry_equal(&o->c->had, &o->c->will);
}

static int smudge_alone(struct land *l, struct carry_one *o, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("--path=%s", o->want->path);
	const char *const args[] = { "cat-file", "--filters", path, GA_HEX(&o->c->will.oid), NULL };
	struct ga_git g = GA_GIT_INIT;
	int status;

	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.out = &o->c->bytes;
	g.out_max = CARRY_FILE_MAX;
	if (ga_git_run(l->repo, &g, &status, err))
		return -1;
	if (status)
		o->why = UNCONVERTED;
	return 0;
}

/* Write them as git checks them out. 1: at least one cannot be converted. */
static int smudge_some(struct carry_all *a, struct carry_one *const *v, size_t n,
		       struct ga_error *err)
{
	cleanup_free char *index = ga_path_join(a->dir, "index.put");
	cleanup_free char *dir = ga_path_join(a->dir, "new");
	cleanup_error struct ga_error refused = GA_ERROR_INIT;
	cleanup_buf struct ga_buf lines = GA_BUF_INIT;
	int rc;

	for (size_t i = 0; i < n; i++)
		land_scratch_line(&lines, &v[i]->c->will, v[i]->want->path);
	if (ga_mkdir_p(dir, 0700, err) || fill_anew(a->l, index, &lines, err))
		return -1;
	rc = land_scratch_write(a->l, index, dir, &refused);
	return rc < 0 ? ga_error_move(err, &refused) : rc;
}

static int read_written(struct carry_all *a, struct carry_one *const *v, size_t n,
			struct ga_error *err)
{
	cleanup_free char *dir = ga_path_join(a->dir, "new");
	cleanup_close int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (at < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read what git wrote");
	for (size_t i = 0; i < n; i++) {
		cleanup_error struct ga_error ignored = GA_ERROR_INIT;

		if (!v[i]->why && ga_read_file_at(at, v[i]->want->path, CARRY_FILE_MAX,
						  &v[i]->c->bytes, &ignored))
			v[i]->why = UNCONVERTED;
	}
	return 0;
}

int carry_smudge(struct carry_all *a, struct ga_error *err)
{
	cleanup_free struct carry_one **v = ga_calloc(a->wanted.n, sizeof(struct carry_one *));
	size_t n = 0;

	for (size_t i = 0; i < a->wanted.n; i++) {
		struct carry_one *o = &a->v[i];

		if (!is_written(o))
			continue;
		if (!has_attributes(o))
			v[n++] = o;
		else if (smudge_alone(a->l, o, err))
			return -1;
	}
	return n && (by_halves(a, v, n, smudge_some, err) || read_written(a, v, n, err)) ? -1 : 0;
}
