/* SPDX-License-Identifier: MIT
 *
 * State of a search: judge files, and record links and hard links.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "secret-internal.h"
#include "ga/base/clock.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define LINKS_MAX 100000
#define DEPTH_MAX 100

size_t finder_raise(struct finder *f, const char *path, const struct ga_secret *s,
		    enum ga_exposed_as as)
{
	struct ga_exposure *x = f->ret;

	for (; f->n_at < x->n; f->n_at++)
		ga_strmap_add(&f->at, x->v[f->n_at].path, strlen(x->v[f->n_at].path),
			      (uint32_t)f->n_at);
	for (int32_t i = ga_strmap_first(&f->at, path, strlen(path)); i >= 0;
	     i = f->at.nodes[i].next) {
		struct ga_exposed *e = &x->v[f->at.nodes[i].value];

		/* the committed version of a path and the one in the working tree are two things */
		if ((e->as == GA_EXPOSED_COMMITTED && !e->clear) != (as == GA_EXPOSED_COMMITTED))
			continue;
		if (e->secret.tier < s->tier)
			e->secret = *s;
		return f->at.nodes[i].value;
	}
	secret_add(x, path, s, as);
	return x->n - 1;
}

struct ga_secret_names *finder_names(struct finder *f)
{
	if (!f->names)
		f->names = ga_secret_names_new(f->o->add, f->o->allow);
	return f->names;
}

void finder_release(struct finder *f)
{
	ga_secret_names_free(f->names);
	ga_buf_release(&f->content);
	free(f->gitdir);
	ga_strv_release(&f->links);
	ga_strv_release(&f->tree_links);
	ga_oidmap_release(&f->blob_at[0]);
	ga_oidmap_release(&f->blob_at[1]);
	ga_strmap_release(&f->at);
	for (size_t i = 0; i < f->n_linked; i++)
		free(f->linked[i].path);
	free(f->linked);
	free(f->blobs);
}

void finder_note_link(struct finder *f, struct ga_strv *links, const char *path)
{
	if (links->n < LINKS_MAX)
		ga_strv_push(links, path);
	else
		f->ret->incomplete = true;
}

bool finder_has_room(struct finder_walk *w)
{
	struct finder *f = w->f;
	bool room = w->left && ++f->entries <= FINDER_ENTRIES_MAX &&
		    (!f->until || ga_now_ms() < f->until);

	w->left -= room;
	f->ret->incomplete |= !room;
	return room;
}

static int walk(struct finder_walk *w, struct ga_buf *path, unsigned depth)
{
	cleanup_dir DIR *d = NULL;
	size_t len = path->len;
	struct dirent *e;
	struct stat st;
	int rc = 0;

	if (w->f->gitdir && !strcmp(path->ptr, w->f->gitdir))
		return 0;
	if (depth <= DEPTH_MAX)
		d = ga_dir_of(ga_openat_beneath(w->f->work, path->ptr,
						O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0));
	/* gone, or replaced by a link: then sessions do not see it either */
	if (!d)
		w->f->ret->incomplete |= depth > DEPTH_MAX ||
					 (errno != ENOENT && errno != ENOTDIR && errno != ELOOP);
	while (!rc && d && (e = ga_dir_next(d)) && finder_has_room(w)) {
		ga_buf_truncate(path, len);
		ga_buf_addf(path, "/%s", e->d_name);
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISDIR(st.st_mode)) {
			rc = w->entry(w, path->ptr, &st);
		} else if (!strcmp(e->d_name, ".git")) {
			/* of a nested repository, only its configuration is searched */
			ga_buf_adds(path, "/config");
			rc = finder_stat(w->f, path->ptr, &st) ? w->entry(w, path->ptr, &st) : 0;
		} else if (w->all || !ga_exposure_skips(e->d_name)) {
			rc = walk(w, path, depth + 1);
		}
	}
	w->f->ret->incomplete |= d && !rc && errno;
	return rc;
}

int finder_walk(struct finder_walk *w, const char *dir)
{
	cleanup_buf struct ga_buf path = GA_BUF_INIT;

	ga_buf_adds(&path, dir);
	return walk(w, &path, 0);
}

/* One file of the working tree: judged by its name and content, compared with what is committed. */

#define FIRST_BYTES 8000 /* as many as git looks at to tell text from what is not */
#define LINES_MAX ((size_t)16 << 20) /* bytes of a file compared apart from its line ends */

/* Read the scanned part of a file. If only its content could make it a secret, a long or binary
 * file is skipped. */
static bool read_file(struct finder *f, int fd, const struct stat *st,
		      const struct ga_secret_name *name)
{
	bool any = name->text && !name->content;

	/* all of it at once: a buffer that grows leaves copies behind */
	(void)ga_buf_reserve(&f->content, GA_SECRET_SCAN_MAX);
	if (any && ((uint64_t)st->st_size > GA_SECRET_SCAN_MAX ||
		    ga_read_most(fd, FIRST_BYTES, &f->content) ||
		    ga_secret_is_binary(f->content.ptr, f->content.len)))
		return false;
	return !ga_read_most(fd, GA_SECRET_SCAN_MAX - f->content.len, &f->content);
}

void finder_judge(struct finder *f, const char *path, const struct stat *st, const char *as,
		  const struct ga_secret_name *name, struct ga_secret *ret,
		  struct ga_secret_marks *ret_marks)
{
	cleanup_close int fd = -1;
	struct stat now;

	if (name->content || name->text)
		fd = ga_openat_beneath(f->work, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	ga_buf_clear(&f->content);
	/* what cannot be read here may be readable inside: assume the worst */
	if (fd < 0 || fstat(fd, &now) || now.st_ino != st->st_ino ||
	    !read_file(f, fd, st, name)) {
		*ret_marks = (struct ga_secret_marks){ .bits = 0 };
		ga_secret_judge(name, as, NULL, ret);
		return;
	}
	if (name->content)
		ga_secret_scan(as, f->content.ptr, f->content.len, ret_marks);
	else
		ga_secret_scan_forms(as, f->content.ptr, f->content.len, ret_marks);
	ga_secret_judge(name, as, ret_marks, ret);
	explicit_bzero(f->content.ptr, f->content.len);
}

static void judge_file(struct finder *f, const char *path, const struct stat *st,
		       enum ga_exposed_as as)
{
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s;

	finder_note_linked(f, st, path, as, NULL);
	if (!secret_cache_file(&f->cache, path, st, &s)) {
		if (!ga_secret_any(finder_names(f), path, &name))
			return;
		finder_judge(f, path, st, path, &name, &s, &marks);
	}
	/* the new cache starts empty, so what came from the old one is added too */
	secret_cache_add_file(&f->cache, path, st, &s);
	finder_note_linked(f, st, NULL, as, &s);
	if (s.tier != GA_TIER_NONE)
		secret_add(f->ret, path, &s, as);
}

bool finder_stat(const struct finder *f, const char *path, struct stat *ret)
{
	cleanup_close int fd = ga_openat_beneath(f->work, path, O_PATH | O_NOFOLLOW, 0);

	return fd >= 0 && !fstat(fd, ret);
}

void finder_entry(struct finder *f, const char *path, const struct stat *st,
		  enum ga_exposed_as as)
{
	if (S_ISREG(st->st_mode))
		judge_file(f, path, st, as);
	else if (S_ISLNK(st->st_mode) && ga_secret_named_link(finder_names(f), path))
		finder_note_link(f, &f->links, path);
}

void finder_file(struct finder *f, const char *path, enum ga_exposed_as as)
{
	struct stat st;

	if (finder_stat(f, path, &st))
		finder_entry(f, path, &st, as);
}

void finder_filtered(struct finder *f, const char *path)
{
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s;
	struct stat st;

	if (!finder_stat(f, path, &st) || !S_ISREG(st.st_mode) ||
	    !ga_secret_named(finder_names(f), path, &name))
		return;
	finder_judge(f, path, &st, path, &name, &s, &marks);
	/* still encrypted in the working tree, and so in base trees too */
	if (s.tier == GA_TIER_NONE || marks.bits & GA_MARK_FILTERED)
		return;
	finder_note_linked(f, &st, NULL, GA_EXPOSED_COMMITTED, &s);
	secret_add(f->ret, path, &s, GA_EXPOSED_COMMITTED);
	f->ret->v[f->ret->n - 1].clear = true;
}

/* Are they the same text apart from CRLF and LF? */
static bool same_lines(const struct ga_buf *a, const struct ga_buf *b)
{
	size_t i = 0, k = 0;

	for (;; i++, k++) {
		i += i + 1 < a->len && a->ptr[i] == '\r' && a->ptr[i + 1] == '\n';
		k += k + 1 < b->len && b->ptr[k] == '\r' && b->ptr[k + 1] == '\n';
		if (i == a->len || k == b->len)
			return i == a->len && k == b->len;
		if (a->ptr[i] != b->ptr[k])
			return false;
	}
}

bool finder_is_committed(struct finder *f, const char *path, const struct ga_oid *oid,
			 const struct finder_version *here, const struct finder_version *there)
{
	cleanup_buf struct ga_buf a = GA_BUF_INIT, b = GA_BUF_INIT;
	cleanup_close int fd = -1;
	bool same;

	if (there->secret.tier >= here->secret.tier &&
	    ga_secret_within(&here->marks, &there->marks))
		return true;
	fd = ga_openat_beneath(f->work, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	same = fd >= 0 && !ga_read_fd(fd, LINES_MAX, &a, GA_IGNORED) &&
	       !ga_blob_read(f->o->repo, oid, LINES_MAX, &b, GA_IGNORED) && same_lines(&a, &b);
	explicit_bzero(a.ptr, a.len);
	explicit_bzero(b.ptr, b.len);
	return same;
}

/* Other hard links of live secrets are secrets too, whatever their names: files with several links
 * are remembered as they are met, and compared when all secrets are known. */

void finder_note_linked(struct finder *f, const struct stat *st, const char *path,
			enum ga_exposed_as as, const struct ga_secret *s)
{
	if (st->st_nlink < 2 || (s && s->tier != GA_TIER_BLOCK))
		return;
	GA_GROW(f->linked, f->n_linked, f->cap_linked);
	f->linked[f->n_linked++] = (struct finder_linked){
		.dev = st->st_dev, .ino = st->st_ino, .path = path ? ga_strdup(path) : NULL,
		.as = as, .secret = s ? *s : (struct ga_secret){ .tier = GA_TIER_NONE },
	};
}

static int by_inode(const void *a, const void *b)
{
	const struct finder_linked *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return x->ino < y->ino ? -1 : x->ino > y->ino;
}

void finder_find_hardlinks(struct finder *f)
{
	size_t end;

	if (f->n_linked)
		qsort(f->linked, f->n_linked, sizeof(*f->linked), by_inode);
	for (size_t i = 0; i < f->n_linked; i = end) {
		struct ga_secret s = { .tier = GA_TIER_NONE };

		for (end = i; end < f->n_linked && !by_inode(&f->linked[i], &f->linked[end]); end++)
			s = f->linked[end].secret.tier ? f->linked[end].secret : s;
		s.copy = true;
		for (size_t k = i; s.tier && k < end; k++)
			if (f->linked[k].path)
				(void)finder_raise(f, f->linked[k].path, &s, f->linked[k].as);
	}
}
