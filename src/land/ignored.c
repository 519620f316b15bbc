/* SPDX-License-Identifier: MIT
 *
 * Ignored files of a session, brought as files. They come from layers that an agent wrote: each is
 * opened beneath its layer without following a link, made into a blob, judged as that, and copied
 * only if it still is what was judged.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/import.h"
#include "ga/leftbehind.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ignored.h"

#define TARGET_MAX 4096 /* bytes of a link's target: Linux follows none that is longer */
#define GITS_FILE ((size_t)16 << 20) /* greatest size of a file that git reads from trees */
#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)

static void release(struct land_ignored *ig)
{
	ga_left_files_release(&ig->files);
	free(ig->will);
	free(ig->seen);
}

static int refuse_one(const char *path, const char *why, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(path);

	(void)ga_fail(err, GA_EFATAL, "'%s' cannot be brought: %s", q, why);
	return ga_hint(err, "it stays in the session; name the others one by one");
}

/* ---- what is asked for ------------------------------------------------------ */

static int count_named(const struct landing *l, struct land_ignored *ig, struct ga_error *err)
{
	for (size_t i = 0; i < l->opts->ignored->n; i++) {
		const char *path = l->opts->ignored->v[i];
		uint64_t count = 0, bytes = 0;

		for (size_t k = 0; k < ig->files.n; k++) {
			if (!ga_path_inside(ig->files.v[k].path, path))
				continue;
			count++;
			bytes += ig->files.v[k].bytes;
		}
		if (!count) {
			cleanup_free char *q = ga_escape(path);

			(void)ga_fail(err, GA_EFATAL, "session '%s' left nothing behind at '%s'",
				      l->s->name, q);
			return ga_hint(err, "'git agent review --leftovers %s' lists what it did",
				       l->s->name);
		}
		ga_left_add(&l->ret->ignored, path, GA_LEFT_IGNORED, count, bytes);
	}
	return 0;
}

/* Why a file is not brought, by its kind; NULL: it is. */
static const char *const refused[] = {
	[GA_LEFT_SPECIAL] = "it is a fifo, a socket or a device",
	[GA_LEFT_REPOSITORY] = "it is a repository of its own",
	[GA_LEFT_SUBMODULE] = "it lies in a submodule",
	[GA_LEFT_NAME] = "git would take its name for something else",
	[GA_LEFT_REFUSED] = "git refuses what is in it",
	[GA_LEFT_UNREADABLE] = "it cannot be read",
	[GA_LEFT_LIMIT] = "it goes beyond a limit",
};

/* ---- links ------------------------------------------------------------------ */

/* A link that is brought may go up from its own directory, which is a real one, and then down, but
 * not through a link of the user's that leads out. A ".." after a name would go up from wherever
 * that name leads. */
static const char *link_refused(int root, const char *path, const char *target)
{
	cleanup_free char *at = ga_path_parent(path), *whole = ga_path_resolve(at, target);

	if (target[0] == '/')
		return "it is a link to an absolute path";
	if (ga_path_names_dotgit(target))
		return "it is a link into a git dir";
	while (!strncmp(target, "../", 3))
		target += 3;
	return !whole || strstr(target, "/..") || (*whole && ga_leads_out(root, whole))
		       ? "it is a link that leads out of the project" : NULL;
}

/* Read the target of a link in the session, or refuse the link. */
static int read_link(const struct landing *l, int root, const char *path, struct ga_buf *ret,
		     struct ga_error *err)
{
	cleanup_close int fd = ga_left_open(l->s, path, O_PATH | O_NOFOLLOW);
	char *at = ga_buf_reserve(ret, TARGET_MAX + 1);
	ssize_t n = fd < 0 ? -1 : readlinkat(fd, "", at, TARGET_MAX);
	const char *why;

	if (n <= 0 || n == TARGET_MAX)
		return refuse_one(path, "it is a link that cannot be read", err);
	ret->len += (size_t)n;
	ret->ptr[ret->len] = '\0';
	why = link_refused(root, path, ret->ptr);
	return why ? refuse_one(path, why, err) : 0;
}

/* ---- as blobs --------------------------------------------------------------- */

/* As in capture: content that git would call broken gets into no tree, not even for a moment. */
static int check_gits(const struct landing *l, int fd, const char *path, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	cleanup_free char *why = NULL;
	const char *name = ga_path_base(path);
	int rc = 0;

	if (!ga_name_means_gitmodules(name) && !ga_name_means_gitattributes(name))
		return 0;
	if (ga_read_fd(fd, GITS_FILE, &text, err))
		return -1;
	if (ga_import_minds_file(name, text.ptr, text.len))
		rc = ga_import_judge_file(l->repo, name, text.ptr, text.len, &why, err);
	if (rc)
		return rc < 0 ? -1 : refuse_one(path, refused[GA_LEFT_REFUSED], err);
	if (lseek(fd, 0, SEEK_SET))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read leftovers");
	return 0;
}

static int refuse_limit(const struct landing *l, const char *path, enum ga_limit which,
			struct ga_error *err)
{
	cleanup_free char *value = ga_limit_text(l->opts->limits, which);
	cleanup_free char *why = ga_strf("it goes beyond %s (%s)", ga_limit_key(which), value);

	return refuse_one(path, why, err);
}

static int open_file(const struct landing *l, const char *path, struct stat *st)
{
	cleanup_close int fd = ga_left_open(l->s, path, READ_FLAGS);

	return fd < 0 || fstat(fd, st) || !S_ISREG(st->st_mode) ? -1 : ga_steal_fd(&fd);
}

static int add_file(const struct landing *l, struct ga_pack *p, const struct ga_left_file *f,
		    uint64_t *total, struct ga_entry *ret, struct ga_error *err)
{
	const struct ga_limits *max = l->opts->limits;
	struct stat st;
	cleanup_close int fd = open_file(l, f->path, &st);

	if (fd < 0)
		return refuse_one(f->path, refused[GA_LEFT_UNREADABLE], err);
	*total += (uint64_t)st.st_size;
	if ((uint64_t)st.st_size > max->file_size)
		return refuse_limit(l, f->path, GA_LIMIT_FILE_SIZE, err);
	if ((uint64_t)st.st_size > GA_WORK_FILE_MAX)
		return refuse_one(f->path, "it is larger than 2 GiB", err);
	if (*total > max->total_size)
		return refuse_limit(l, f->path, GA_LIMIT_TOTAL_SIZE, err);
	if (check_gits(l, fd, f->path, err))
		return -1;
	ret->mode = st.st_mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
	return ga_pack_add_blob_fd(p, fd, (uint64_t)st.st_size, false, &ret->oid, err);
}

static int add_link(const struct landing *l, int root, struct ga_pack *p,
		    const struct ga_left_file *f, struct ga_entry *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf target = GA_BUF_INIT;

	if (read_link(l, root, f->path, &target, err))
		return -1;
	ret->mode = GA_MODE_LINK;
	return ga_pack_add_blob(p, target.ptr, target.len, &ret->oid, err);
}

static int add_all(const struct landing *l, struct land_ignored *ig, int root, struct ga_pack *p,
		   struct ga_error *err)
{
	uint64_t total = 0;

	for (size_t i = 0; i < ig->files.n; i++) {
		const struct ga_left_file *f = &ig->files.v[i];
		const char *why = refused[ga_path_names_dotgit(f->path) ? GA_LEFT_NAME : f->kind];
		int rc;

		if (why)
			return refuse_one(f->path, why, err);
		rc = S_ISLNK(f->mode) ? add_link(l, root, p, f, &ig->will[i], err)
				      : add_file(l, p, f, &total, &ig->will[i], err);
		if (rc)
			return -1;
	}
	return 0;
}

/* The rules judge trees, here that of the landing with these files in it. */
static int check_flags(const struct landing *l, struct land_ignored *ig,
		       const struct ga_oid *merged, struct ga_repo *store, int root,
		       struct ga_error *err)
{
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	static const struct ga_entry none = { 0 };
	struct ga_pack *p = NULL;
	char *keep = NULL;
	struct ga_oid tree, only;

	if (ga_pack_begin(store, &p, err))
		return -1;
	if (add_all(l, ig, root, p, err))
		goto fail;
	for (size_t i = 0; i < ig->files.n; i++)
		(void)ga_changes_add(&changes, ig->files.v[i].path, &none,
				     &ig->will[i]);
	ga_changes_sort(&changes);
	if (ga_tree_apply(store, p, merged, &changes, &tree, err) ||
	    ga_tree_apply(store, p, NULL, &changes, &only, err) || ga_pack_commit(p, &keep, err))
		goto fail;
	free(keep);
	return land_ignored_judge(l, ig, store, merged, &tree, &only, &changes, err);
fail:
	ga_pack_free(p);
	return -1;
}

/* ---- what is there ---------------------------------------------------------- */

static struct ga_work_look wanted(const struct ga_entry *e)
{
	return (struct ga_work_look){ .oid = e->oid,
				   .mode = e->mode == GA_MODE_LINK ? S_IFLNK | 0777
					   : e->mode == GA_MODE_EXEC ? S_IFREG | 0755
								     : S_IFREG | 0644 };
}

static int check_here(const struct landing *l, struct land_ignored *ig, int root,
		      struct ga_error *err)
{
	cleanup_strv struct ga_strv differ = GA_STRV_INIT, blocked = GA_STRV_INIT;

	for (size_t i = 0; i < ig->files.n; i++) {
		const char *path = ig->files.v[i].path;
		cleanup_free char *above = ga_work_file_above(root, path);
		struct ga_work_look want = wanted(&ig->will[i]);

		if (!ga_work_look(root, path, &ig->seen[i]) || above || ga_work_is_dir(root, path))
			ga_strv_push(&blocked, path);
		else if (ig->seen[i].mode && !ga_work_look_equal(&ig->seen[i], &want))
			ga_strv_push(&differ, path);
	}
	if (land_refuse(&blocked, "blocked by a directory, or by a file above it",
			"move that away", "land again", err))
		return -1;
	return l->opts->force ? 0 : land_refuse(&differ, "files that differ would be overwritten",
						"move them away, or use --force", "land again",
						err);
}

/* What is there is kept, to be undone. */
static int add(const struct landing *l, const struct land_ignored *ig, size_t i, int root,
	       struct record *rec, struct ga_error *err)
{
	const struct ga_work_look want = wanted(&ig->will[i]);
	const char *path = ig->files.v[i].path;
	cleanup_work_file struct ga_work_file now = GA_WORK_FILE_INIT;
	struct ga_repo *store = record_store(l->repo, rec, err);

	if (ga_work_look_equal(&ig->seen[i], &want))
		return 0;
	if (ig->seen[i].mode && !l->opts->dry_run) {
		if (!ga_work_read(root, path, GA_WORK_FILE_MAX, &now) ||
		    !ga_work_look_equal(&now.look, &ig->seen[i]))
			return refuse_one(path, "what is there cannot be kept", err);
		if (!store || ga_blob_write(store, now.bytes.ptr, now.bytes.len, &now.look.oid,
					    err))
			return -1;
	}
	record_add(rec, path, &ig->seen[i], &want, true);
	return 0;
}

int land_ignored_plan(const struct landing *l, const struct ga_oid *tree, struct record *rec,
		      struct ga_error *err)
{
	__attribute__((cleanup(release))) struct land_ignored ig = { .will = NULL };
	cleanup_close int root = -1;
	struct ga_repo *store;

	if (!l->opts->ignored || !l->opts->ignored->n)
		return 0;
	if (ga_left_behind(l->repo, l->s, l->opts->limits, &l->report->left, l->opts->ignored,
			   &ig.files, err) ||
	    count_named(l, &ig, err))
		return -1;
	ig.will = ga_calloc(ig.files.n, sizeof(*ig.will));
	ig.seen = ga_calloc(ig.files.n, sizeof(*ig.seen));
	root = ga_work_open(l->repo, err);
	store = root < 0 ? NULL : record_store(l->repo, rec, err);
	if (!store || check_flags(l, &ig, tree, store, root, err) ||
	    check_here(l, &ig, root, err))
		return -1;
	for (size_t i = 0; i < ig.files.n; i++)
		if (add(l, &ig, i, root, rec, err))
			return -1;
	return 0;
}
