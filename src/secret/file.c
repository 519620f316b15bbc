/* SPDX-License-Identifier: MIT
 *
 * One file of the working tree: judged by its name and content, compared with what is committed.
 */
#include <fcntl.h>
#include <unistd.h>

#include "finder.h"
#include "ga/repo/objects.h"
#include "ga/sys/fd.h"

#define FIRST_BYTES 8000 /* as many as git looks at to tell text from what is not */
#define LINES_MAX ((size_t)16 << 20) /* bytes of a file compared apart from its line ends */

/* Read what is looked at of a file. If only its content could make it a secret, one that is long,
 * or binary by its first bytes, is not read. */
static bool read_file(struct finder *f, int fd, const struct stat *st,
		      const struct ga_secret_name *name)
{
	bool any = name->text && !name->content;

	/* all of it at once: a buffer that grows leaves copies behind */
	(void)ga_buf_reserve(&f->content, GA_SECRET_LOOK_MAX);
	if (any && ((uint64_t)st->st_size > GA_SECRET_LOOK_MAX ||
		    ga_read_most(fd, FIRST_BYTES, &f->content) ||
		    ga_secret_is_binary(f->content.ptr, f->content.len)))
		return false;
	return !ga_read_most(fd, GA_SECRET_LOOK_MAX - f->content.len, &f->content);
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
		ga_secret_look(as, f->content.ptr, f->content.len, ret_marks);
	else
		ga_secret_look_forms(as, f->content.ptr, f->content.len, ret_marks);
	ga_secret_judge(name, as, ret_marks, ret);
	explicit_bzero(f->content.ptr, f->content.len);
}

static void look_at(struct finder *f, const char *path, const struct stat *st,
		    enum ga_exposed_as as)
{
	struct ga_secret_marks marks;
	struct ga_secret_name name;
	struct ga_secret s;

	finder_note_links(f, st, path, as);
	if (!secret_cache_file(&f->cache, path, st, &s)) {
		if (!ga_secret_any(finder_names(f), path, &name))
			return;
		finder_judge(f, path, st, path, &name, &s, &marks);
	}
	/* the new cache starts empty, so what came from the old one is added too */
	secret_cache_add_file(&f->cache, path, st, &s);
	finder_note_twin(f, st, &s);
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
		look_at(f, path, st, as);
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
	finder_note_twin(f, &st, &s);
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
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf a = GA_BUF_INIT, b = GA_BUF_INIT;
	cleanup_close int fd = -1;
	bool same;

	if (there->secret.tier >= here->secret.tier &&
	    ga_secret_within(&here->marks, &there->marks))
		return true;
	fd = ga_openat_beneath(f->work, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	same = fd >= 0 && !ga_read_fd(fd, LINES_MAX, &a, &ignored) &&
	       !ga_blob_read(f->o->repo, oid, LINES_MAX, &b, &ignored) && same_lines(&a, &b);
	explicit_bzero(a.ptr, a.len);
	explicit_bzero(b.ptr, b.len);
	return same;
}
