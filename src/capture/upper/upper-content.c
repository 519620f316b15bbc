/* SPDX-License-Identifier: MIT
 *
 * Read single entries of an upper layer: their overlay attributes, notes on them, and the blobs of
 * regular files and symlinks.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/config/config.h"
#include "capture/upper-internal.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"

static const char *where(const struct walk *w)
{
	return w->path.len ? w->path.ptr : ".";
}

void walk_leave(struct walk *w, enum ga_leftover_kind kind, uint64_t count, uint64_t bytes)
{
	ga_leftovers_add(&w->res->left, where(w), kind, count, bytes);
	if (kind == GA_LEFTOVER_REFUSED || kind == GA_LEFTOVER_UNREADABLE ||
	    kind == GA_LEFTOVER_LIMIT)
		ga_strv_push(&w->kept, w->path.ptr);
}

void walk_note(struct walk *w, const char *what)
{
	cleanup_free char *q = ga_quote(where(w));

	ga_strv_pushf(&w->res->notes, "%s: %s", q, what);
}

/* Note a limit, with its key and value. */
void walk_note_limit(struct walk *w, enum ga_limit which, const char *what)
{
	cleanup_free char *value = ga_limit_text(w->limits, which);
	cleanup_free char *text = ga_strf("%s (%s: %s)", what, ga_limit_key(which), value);

	w->res->met |= (uint64_t)1 << which;
	if (w->met.limited++ < LIMITS_NAMED)
		walk_note(w, text);
}

void walk_limit(struct walk *w, enum ga_limit which, const char *what, uint64_t count,
		uint64_t bytes)
{
	walk_leave(w, GA_LEFTOVER_LIMIT, count, bytes);
	walk_note_limit(w, which, what);
}

/* A sparse checkout does not show every path of the base: what was not shown cannot have been
 * removed. */
static bool was_shown(const struct walk *w, const char *path)
{
	cleanup_close int fd = -1;

	if (w->lower_fd < 0)
		return true;
	fd = ga_openat_beneath(w->lower_fd, path, O_PATH | O_NOFOLLOW, 0);
	return fd >= 0;
}

static void remove_one(struct walk *w, const char *path, const struct ga_entry *base)
{
	static const struct ga_entry none = { 0 };

	if (was_shown(w, path))
		(void)ga_changes_add(&w->res->changes, path, base, &none);
}

/* The base's entry at the current path is gone: record that it was removed, for the path
 * ([UP-WH/BASE-REG] [UP-WH/BASE-EXE] [UP-WH/BASE-LNK] [UP-WH/BASE-GITLINK]) or everything below it
 * ([UP-WH/BASE-DIR]); nothing if the base had none ([UP-WH/BASE-NONE] [UP-WH/BASE-IGN]). The same
 * for [UP-XWH/BASE-ANY]. */
int walk_removed(struct walk *w, const struct ga_entry *base)
{
	cleanup_changes struct ga_changes all = GA_CHANGES_INIT;

	if (base->mode == GA_MODE_NONE)
		return 0;
	if (base->mode != GA_MODE_TREE) {
		remove_one(w, w->path.ptr, base);
		return 0;
	}
	if (ga_tree_list(w->repo, &base->oid, BASE_PATHS_MAX, &all, w->err))
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		cleanup_free char *path = ga_path_join(w->path.ptr, all.v[i].path);

		remove_one(w, path, &all.v[i].new);
	}
	return 0;
}

/* Why the rules of the result ignore the current path, which those of the base did not. */
static char *newly_ignored_by(const struct walk *w, bool is_dir)
{
	cleanup_free char *was = ga_ignore_reason(&w->base, w->path.ptr, is_dir);
	cleanup_free char *now = ga_ignore_reason(&w->final, w->path.ptr, is_dir);

	return ga_strf("by %s%s%s%s", now ? now : "what is above it", was ? ", and not by " : "",
		       was ? was : "", was ? " any more" : "");
}

void walk_ignored(struct walk *w, const char *top, uint64_t count, uint64_t bytes, bool is_dir)
{
	ga_leftovers_add(&w->res->left, top ? top : where(w), GA_LEFTOVER_IGNORED, count, bytes);
	if (top || ga_ignore_check(&w->base, w->path.ptr, is_dir) == GA_IGNORE_YES)
		return;
	ga_strv_push(&w->res->newly_ignored, w->path.ptr);
	ga_strv_take(&w->res->newly_ignored_by, newly_ignored_by(w, is_dir));
}

int read_names(int fd, size_t max, struct ga_strv *names)
{
	cleanup_dir DIR *d = ga_dir_of(fcntl(fd, F_DUPFD_CLOEXEC, 3));
	int rc = d ? 0 : -1;
	struct dirent *e;

	while (!rc && (e = ga_dir_next(d))) {
		if (names->n < max)
			ga_strv_push(names, e->d_name);
		else
			rc = 1;
	}
	if (!rc && errno)
		rc = -1;
	/* the order is that of the file system, and results must not depend on it */
	ga_strv_sort_unique(names);
	return rc;
}

void marks_release(struct marks *m)
{
	free(m->odd);
	m->odd = NULL;
}

static void one_mark(int fd, const char *name, struct marks *m)
{
	/* All that overlayfs (6.x, userxattr) leaves on an upper of ours. */
	static const char *const usual[] = { "origin", "impure", "uuid", "nlink", "protattr",
					     "upper" };
	static const char prefix[] = "user.overlay.", escaped[] = "overlay.";
	const char *rest = name + strlen(prefix);
	char value[2];

	if (strncmp(name, prefix, strlen(prefix)))
		return;
	/* "user.overlay.overlay.x" is what a program inside sees as "user.overlay.x" */
	if (!strncmp(rest, escaped, strlen(escaped)))
		return;
	for (size_t i = 0; i < GA_NELEMS(usual); i++)
		if (!strcmp(rest, usual[i]))
			return;
	if (!strcmp(rest, "opaque") && fgetxattr(fd, name, value, sizeof(value)) == 1) {
		m->opaque |= value[0] == 'y';
		m->xwhiteouts |= value[0] == 'x';
		if (value[0] == 'y' || value[0] == 'x')
			return;
	}
	if (!strcmp(rest, "whiteout")) {
		m->whiteout = true;
		return;
	}
	free(m->odd);
	m->odd = ga_quote(rest);
}

void read_marks(int fd, struct marks *m)
{
	cleanup_free char *big = NULL;
	char small[1024], *buf = small;
	ssize_t n = flistxattr(fd, small, sizeof(small));

	*m = (struct marks){ 0 };
	if (n < 0 && errno == ERANGE) {
		buf = big = ga_malloc(XATTR_LIST_MAX);
		n = flistxattr(fd, big, XATTR_LIST_MAX);
	}
	if (n < 0) {
		if (errno != ENOTSUP)
			m->odd = ga_strdup("(cannot be listed)");
		return;
	}
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(buf + i) + 1)
		one_mark(fd, buf + i, m);
}

/* git takes a directory for a repository of its own if its `.git` is one, or is a file that points
 * to one. This only looks at names: nothing is opened as a repository, and a symlink may lead to
 * one. */
bool holds_repository(int fd)
{
	static const char *const parts[] = { "HEAD", "objects", "refs" };
	cleanup_close int git = -1;
	struct stat st;
	char head[8];

	if (fstatat(fd, ".git", &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (S_ISLNK(st.st_mode))
		return true;
	git = openat(fd, ".git", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	if (git < 0)
		return true;
	if (S_ISREG(st.st_mode))
		return read(git, head, sizeof(head)) == (ssize_t)sizeof(head) &&
		       !memcmp(head, "gitdir: ", sizeof(head));
	for (size_t i = 0; i < GA_NELEMS(parts); i++)
		if (fstatat(git, parts[i], &st, AT_SYMLINK_NOFOLLOW))
			return false;
	return true;
}

bool attributes_convert(const char *text, size_t n)
{
	static const char *const words[] = { "text", "eol", "crlf", "ident", "filter",
					     "working-tree-encoding" };
	const char *end = text + n;

	while (text < end) {
		const char *word;
		size_t len;

		while (text < end && memchr(" \t\r\n-!", *text, 6))
			text++;
		word = text;
		while (text < end && !memchr(" \t\r\n", *text, 4))
			text++;
		len = (size_t)(text - word);
		for (size_t i = 0; i < GA_NELEMS(words); i++) {
			size_t w = strlen(words[i]);

			/* a false match only costs time */
			if (len >= w && !memcmp(word, words[i], w) && (len == w || word[w] == '='))
				return true;
		}
	}
	return false;
}

bool name_is_bad(const char *name, mode_t type)
{
	/* where a backslash is a separator, "a\\.git" contains ".git", too */
	for (const char *p = name;;) {
		size_t n = strcspn(p, "\\");

		if (ga_path_component_is_dotgit(p, n) || (n == 2 && !memcmp(p, "..", 2)))
			return true;
		if (!p[n])
			break;
		p += n + 1;
	}
	/* As a symlink it would make git read a file anywhere. As a directory it makes no sense to
	 * git, and `git fsck` refuses the tree. */
	return (type != S_IFREG && ga_name_means_gitmodules(name)) ||
	       (type == S_IFDIR && ga_name_means_gitattributes(name));
}

#define SMALL_FILE (1u << 20) /* up to this size, read into memory */
/* For files that git itself reads from trees: the greatest size of one, and about how many git is
 * asked. A genuine one has some kilobytes, and a vendored tree has some hundred of them. */
#define GITS_FILE ((uint64_t)16 << 20)
#define MAX_JUDGED 1000

/* Does the path count as tracked? What the base has does, unless the agent's commits dropped it
 * (`git rm --cached`): then it is untracked for `git add`, too. */
static bool is_tracked(const struct walk *w, const struct walk_item *it)
{
	const struct ga_entry *e = w->o->tracked ? &it->tracked : &it->base;

	/* a submodule counts, too: a file in its place changes it */
	return entry_is_content(e) || e->mode == GA_MODE_GITLINK;
}

static int read_small(int fd, size_t size, struct ga_buf *out)
{
	ga_buf_clear(out);
	for (;;) {
		char *at = ga_buf_reserve(out, size + 1 - out->len);
		ssize_t n = read(fd, at, size + 1 - out->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		out->len += (size_t)n;
		out->ptr[out->len] = '\0';
		if (!n || out->len > size)
			return 0;
	}
}

static const struct ga_entry *cleaned(const struct walk *w)
{
	ssize_t at = w->o->cleaned_paths ? ga_strv_find(w->o->cleaned_paths, w->path.ptr) : -1;

	return at < 0 ? NULL : &w->o->cleaned_entries[at];
}

/* [limit]: decided by the size from stat, before a byte is read; for a sparse file that includes
 * its holes ([UP-SPARSE/BASE-ANY]). */
static bool over_limit(struct walk *w, const struct stat *st)
{
	uint64_t size = (uint64_t)st->st_size;

	if (size <= w->limits->file_size && size <= w->limits->total_size - w->met.bytes) {
		w->met.bytes += size;
		return false;
	}
	if (size > w->limits->file_size)
		walk_limit(w, GA_LIMIT_FILE_SIZE,
			   "is larger than a file may be, and stays in the session", 1, size);
	else
		walk_limit(w, GA_LIMIT_TOTAL_SIZE,
			   "would make more than may be captured in all, and stays in the session",
			   1, size);
	return true;
}

static int read_whole(struct walk *w, int fd, const struct stat *st)
{
	if (!read_small(fd, (size_t)st->st_size, &w->data))
		return 0;
	return ga_fail_errno(w->err, GA_EFATAL, errno, "cannot read '%s' of the upper layer",
			     w->path.ptr);
}

/* [refused]: with this in a tree, `git fsck` would report it as broken, and many servers would
 * reject a push of it. */
static int refuse_item(struct walk *w, const struct walk_item *it, const char *why)
{
	cleanup_free char *q = ga_quote(w->path.ptr);

	walk_leave(w, GA_LEFTOVER_REFUSED, 1, (uint64_t)it->st.st_size);
	if (w->met.refused++ < LIMITS_NAMED)
		ga_strv_pushf(&w->res->notes,
			      "%s: git refuses it, and it stays in the session (%s)", q, why);
	return 1;
}

/* [refused]: libgit2 says that this object was made to collide with another one, and git would not
 * read it. Any other failure is an error. */
static int refuse_collision(struct walk *w, const struct walk_item *it)
{
	if (!ga_collision_found())
		return -1;
	ga_error_release(w->err);
	return refuse_item(w, it, "it was made to have the id of another one");
}

/* Add the blob of an open regular file. Returns 1 if the file stays behind. */
static int add_blob(struct walk *w, int fd, const struct walk_item *it, struct ga_oid *ret)
{
	const struct ga_entry *clean = cleaned(w);
	int rc;

	if (clean) {
		*ret = clean->oid;
		return 0;
	}
	if (it->st.st_size > SMALL_FILE) {
		rc = ga_pack_add_blob_fd(w->pack, fd, (uint64_t)it->st.st_size, w->o->running,
					 ret, w->err);
		return rc ? refuse_collision(w, it) : 0;
	}
	if (read_whole(w, fd, &it->st))
		return -1;
	rc = ga_pack_add_blob(w->pack, w->data.ptr, w->data.len, ret, w->err);
	return rc ? refuse_collision(w, it) : 0;
}

/* Ask git about the content in `w->data`, once for each content. */
static int judge(struct walk *w, const struct walk_item *it, const struct ga_oid *oid)
{
	struct ga_oidmap *judged = &w->judged[ga_name_means_gitmodules(it->name)];
	cleanup_free char *why = NULL;
	size_t bad;
	int rc;

	if (ga_oidmap_get(judged, oid, &bad))
		return bad ? refuse_item(w, it, "as another one with the same content") : 0;
	if (judged->n >= MAX_JUDGED)
		return refuse_item(w, it, "there are too many files of such a name");
	rc = ga_import_check_file(w->repo, it->name, w->data.ptr, w->data.len, &why, w->err);
	if (rc < 0)
		return -1;
	(void)ga_oidmap_add(judged, oid, rc == 1);
	return rc ? refuse_item(w, it, why) : 0;
}

/* Add the blob of a file that git itself reads from trees. Returns 1 if the file stays behind. */
static int add_git_file(struct walk *w, int fd, const struct walk_item *it, struct ga_oid *ret)
{
	const struct ga_entry *clean = cleaned(w);
	struct ga_oid oid;
	int rc;

	ga_buf_clear(&w->data);
	if ((uint64_t)it->st.st_size > GITS_FILE)
		rc = 1;
	else if (clean)
		rc = ga_blob_read(w->repo, &clean->oid, GITS_FILE, &w->data, w->err);
	else
		rc = read_whole(w, fd, &it->st);
	if (rc)
		return rc < 0 ? -1 : refuse_item(w, it, "it is too long for one of its name");
	if (ga_blob_id_of(w->data.ptr, w->data.len, &oid, w->err))
		return refuse_collision(w, it);
	/* tracked content was the user's, or came with the agent's commits, which were checked */
	if (!ga_oid_equal(&oid, &it->base.oid) && !ga_oid_equal(&oid, &it->tracked.oid) &&
	    ga_import_needs_check(it->name, w->data.ptr, w->data.len)) {
		rc = judge(w, it, &oid);
		if (rc)
			return rc;
	}
	return ga_pack_add_blob(w->pack, w->data.ptr, w->data.len, ret, w->err);
}

/* [UP-MODE/BASE-REG] [UP-MODE/BASE-EXE]: of a file's mode only the owner's executable bit is kept.
 * With core.fileMode off not even that is: the tracked mode stays. */
static uint32_t file_mode(const struct walk *w, const struct walk_item *it)
{
	const struct ga_entry *known = entry_is_content(&it->tracked) ? &it->tracked : &it->base;

	if (w->o->filemode)
		return it->st.st_mode & S_IXUSR ? GA_MODE_EXEC : GA_MODE_FILE;
	return known->mode == GA_MODE_EXEC ? GA_MODE_EXEC : GA_MODE_FILE;
}

/* Add the blob of a symlink. Returns 1 if it is gone, or stays behind. */
static int add_link(struct walk *w, const struct walk_dir *d, const struct walk_item *it,
		    struct ga_oid *ret)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(d->fd, it->name, target, sizeof(target));

	if (n < 0 && errno == ENOENT)
		return 1; /* as in open_file() */
	if (n < 0 && errno == EINVAL) { /* [unreadable]: it was replaced since stat */
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, 0);
		return 1;
	}
	if (n < 0)
		return ga_fail_path(w->err, errno, "read the link", w->path.ptr);
	return ga_pack_add_blob(w->pack, target, (size_t)n, ret, w->err);
}

/* Record what a tree cannot express about a changed file. */
static void note_inode(struct walk *w, const struct stat *st)
{
	if (S_ISREG(st->st_mode) && (st->st_mode & (S_ISUID | S_ISGID)))
		ga_strv_push(&w->res->set_id, w->path.ptr);
	if (S_ISREG(st->st_mode) && st->st_nlink > 1)
		ga_strv_push(&w->res->linked, w->path.ptr);
}

static int add_content(struct walk *w, const struct walk_item *it, const struct ga_entry *new)
{
	/* [UP-REG/BASE-DIR] [UP-LNK/BASE-DIR], and the same for the other kinds that are no
	 * directory */
	if (it->base.mode == GA_MODE_TREE) {
		static const struct ga_entry none = { 0 };

		if (walk_removed(w, &it->base))
			return -1;
		(void)ga_changes_add(&w->res->changes, w->path.ptr, &none, new);
		note_inode(w, &it->st);
		return 0;
	}
	/* [UP-SAME/BASE-ANY]: copied up, touched, or written with the same content. Otherwise the
	 * path has what it is now: [UP-REG/BASE-ANY] [UP-LNK/BASE-ANY] [UP-HARD/BASE-ANY]
	 * [UP-CLOSED/BASE-ANY] [UP-OWNER/BASE-ANY] */
	if (!ga_entry_equal(&it->base, new)) {
		(void)ga_changes_add(&w->res->changes, w->path.ptr, &it->base, new);
		note_inode(w, &it->st);
	}
	return 0;
}

/* git inside has no capabilities, so modes decide what it can open by name. */
bool readable_inside(const struct walk_dir *d, const struct stat *st)
{
	return !d->closed && (st->st_mode & S_IRUSR);
}

static void list_file(struct walk *w, const struct walk_dir *d, const struct stat *st)
{
	struct ga_upper_files *l = w->list;

	if (d->barred) {
		ga_strv_push(&l->barred, w->path.ptr);
		return;
	}
	if (d->unsure)
		ga_strv_push(&l->unsure, w->path.ptr);
	if (!readable_inside(d, st)) {
		ga_strv_push(&l->closed, w->path.ptr);
		return;
	}
	ga_strv_push(&l->open, w->path.ptr);
	l->bytes += (uint64_t)st->st_size;
}

/* Open the regular file. Returns 1 if it stays behind or is a whiteout, either of which is dealt
 * with here. */
static int open_file(struct walk *w, const struct walk_dir *d, struct walk_item *it, int *ret)
{
	cleanup_close int fd = openat(d->fd, it->name, WALK_OPEN_FLAGS);
	struct marks m;
	bool odd, white;

	if (fd < 0 && errno == ENOENT)
		return 1; /* removed since it was listed, by an agent that is running */
	if (fd < 0 || fstat(fd, &it->st) || !S_ISREG(it->st.st_mode)) {
		/* [unreadable] */
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, (uint64_t)it->st.st_size);
		return 1;
	}
	read_marks(fd, &m);
	white = m.whiteout && d->marks.xwhiteouts && !it->st.st_size;
	odd = m.odd || m.opaque || m.xwhiteouts || (m.whiteout && !white);
	marks_release(&m);
	if (white) /* [UP-XWH/BASE-ANY] */
		return walk_removed(w, &it->base) ? -1 : 1;
	if (odd) { /* [planted] */
		walk_note(w, "carries an overlay attribute that no session writes");
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, (uint64_t)it->st.st_size);
		return 1;
	}
	*ret = ga_steal_fd(&fd);
	return 0;
}

int walk_content(struct walk *w, const struct walk_dir *d, struct walk_item *it)
{
	cleanup_close int fd = -1;
	bool is_file = S_ISREG(it->st.st_mode);
	struct ga_entry new = { .mode = GA_MODE_LINK };
	int rc;

	if (!is_tracked(w, it) &&
	    (d->ignored || ga_ignore_check(&w->final, w->path.ptr, false) == GA_IGNORE_YES)) {
		/* [ignored], [UP-ANY/BASE-IGN] */
		walk_ignored(w, d->ignored, 1, is_file ? (uint64_t)it->st.st_size : 0, false);
		return walk_removed(w, &it->base);
	}
	if (is_file) {
		rc = open_file(w, d, it, &fd);
		if (rc)
			return rc < 0 ? -1 : 0;
		if (over_limit(w, &it->st))
			return 0;
		new.mode = file_mode(w, it);
	}
	if (!w->pack) {
		if (is_file)
			list_file(w, d, &it->st);
		return 0;
	}
	if (!is_file)
		rc = add_link(w, d, it, &new.oid);
	else if (ga_name_means_gitmodules(it->name) ||
		 ga_name_means_gitattributes(it->name))
		rc = add_git_file(w, fd, it, &new.oid);
	else
		rc = add_blob(w, fd, it, &new.oid);
	if (rc)
		return rc < 0 ? -1 : 0;
	return add_content(w, it, &new);
}
