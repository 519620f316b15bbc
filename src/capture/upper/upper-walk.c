/* SPDX-License-Identifier: MIT
 *
 * Visit every entry of an upper layer once. The tables of docs/capture.md say what each kind of
 * entry means; tags in brackets name their cells.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "ga/run/init-protocol.h"
#include "ga/sys/fd.h"
#include "capture/upper-internal.h"

static void dir_release(struct walk_dir *d)
{
	marks_release(&d->marks);
	ga_tree_level_release(&d->base);
	ga_tree_level_release(&d->tracked);
	ga_strv_release(&d->names);
}

static size_t enter(struct walk *w, const char *name)
{
	size_t len = w->path.len;

	if (len)
		ga_buf_addch(&w->path, '/');
	ga_buf_adds(&w->path, name);
	return len;
}

/* ---- what is gone ------------------------------------------------------ */

/* ---- what stays behind ------------------------------------------------- */

static bool is_whiteout(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

/* Count the entries of a directory, recursively. Depth is limited as in the walk; deeper
 * directories are noted. */
static void count_below(struct walk *w, int fd, unsigned depth, uint64_t *count, uint64_t *bytes)
{
	cleanup_strv struct ga_strv names = GA_STRV_INIT;
	size_t room = w->limits->entries > w->met.entries ? w->limits->entries - w->met.entries : 0;
	int rc;

	if (depth > w->limits->depth) {
		walk_limit(w, GA_LIMIT_DEPTH, "counted only in part", 1, 0);
		return;
	}
	rc = read_names(fd, room, &names);
	if (rc > 0)
		walk_limit(w, GA_LIMIT_ENTRIES, "counted only in part", 1, 0);
	else if (rc)
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, 0);
	if (rc)
		return;
	w->met.entries += names.n;
	for (size_t i = 0; i < names.n; i++) {
		cleanup_close int sub = -1;
		struct stat st;

		if (fstatat(fd, names.v[i], &st, AT_SYMLINK_NOFOLLOW) || is_whiteout(&st))
			continue;
		if (!S_ISDIR(st.st_mode)) {
			*count += 1;
			*bytes += S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
			continue;
		}
		sub = openat(fd, names.v[i], WALK_OPEN_FLAGS | O_DIRECTORY);
		if (sub >= 0)
			count_below(w, sub, depth + 1, count, bytes);
		else
			*count += 1; /* its content is unknown */
	}
}

void walk_count(struct walk *w, int fd)
{
	uint64_t count = 0, bytes = 0;

	count_below(w, fd, 0, &count, &bytes);
	if (count)
		walk_leave(w, GA_LEFTOVER_IGNORED, count, bytes);
}

/* Count what is in the current entry, a directory; false if it cannot be opened. */
static bool count_dir(struct walk *w, const struct walk_dir *d, const struct walk_item *it,
		      uint64_t *count, uint64_t *bytes)
{
	cleanup_close int fd = openat(d->fd, it->name, WALK_OPEN_FLAGS | O_DIRECTORY);

	*count = *bytes = 0;
	if (fd >= 0)
		count_below(w, fd, d->depth + 1, count, bytes);
	return fd >= 0;
}

/* The current entry, of any kind, stays behind: one line for all of it. */
static void leave_item(struct walk *w, const struct walk_dir *d, const struct walk_item *it,
		       enum ga_leftover_kind kind, bool even_empty)
{
	uint64_t count, bytes;

	if (S_ISDIR(it->st.st_mode)) {
		(void)count_dir(w, d, it, &count, &bytes);
	} else {
		count = 1;
		bytes = S_ISREG(it->st.st_mode) ? (uint64_t)it->st.st_size : 0;
	}
	if (count || even_empty)
		walk_leave(w, kind, count, bytes);
}

/* ---- directories ------------------------------------------------------- */

static int visit(struct walk *w, struct walk_dir *d, const char *name);

static void rules_too_long(struct walk *w, const char *name)
{
	size_t len = enter(w, name);

	walk_note_limit(w, GA_LIMIT_RULES_SIZE, "is too long to be read as rules");
	ga_buf_truncate(&w->path, len);
}

/* Append the text of a file of rules that a tree has in this directory. Symlinks are not followed,
 * as in git. It may append nothing. */
static int read_rules(struct walk *w, const struct ga_tree_level *level, const char *name,
		      struct ga_buf *out)
{
	struct ga_entry e = ga_tree_level_find(level, name);
	int rc;

	if (e.mode != GA_MODE_FILE && e.mode != GA_MODE_EXEC)
		return 0;
	rc = ga_blob_read(w->repo, &e.oid, w->limits->rules_size, out, w->err);
	if (rc > 0)
		rules_too_long(w, name);
	return rc < 0 ? -1 : 0;
}

/* The same for the upper's own file, a regular file according to `st`. */
static void read_own_rules(struct walk *w, const struct walk_dir *d, const char *name,
			   const struct stat *st, struct ga_buf *out)
{
	cleanup_error struct ga_error odd = GA_ERROR_INIT;
	size_t len;

	if ((uint64_t)st->st_size > w->limits->rules_size) {
		rules_too_long(w, name);
		return;
	}
	if (!ga_read_file_at(d->fd, name, w->limits->rules_size, out, &odd))
		return;
	ga_buf_clear(out);
	len = enter(w, name);
	walk_note(w, "cannot be read as rules");
	ga_buf_truncate(&w->path, len);
}

static bool stat_in_upper(const struct walk_dir *d, const char *name, struct stat *st)
{
	return !fstatat(d->fd, name, st, AT_SYMLINK_NOFOLLOW);
}

/* The same for what lies beneath the upper, visible or not: the base's file or, if it has none, the
 * user's own. */
static int read_rules_beneath(struct walk *w, const struct walk_dir *d, const char *name,
			      struct ga_buf *out)
{
	size_t len;
	int rc;

	if (ga_tree_level_find(&d->base, name).mode != GA_MODE_NONE)
		return read_rules(w, &d->base, name, out);
	if (w->extras_fd < 0)
		return 0;
	len = enter(w, name);
	rc = ga_read_beneath(w->extras_fd, w->path.ptr, w->limits->rules_size, out, w->err);
	ga_buf_truncate(&w->path, len);
	if (rc > 0)
		rules_too_long(w, name);
	return rc < 0 ? -1 : 0;
}

static int push_rules(struct walk *w, const struct walk_dir *d)
{
	cleanup_buf struct ga_buf below = GA_BUF_INIT, own = GA_BUF_INIT;
	struct stat st;
	bool upper = stat_in_upper(d, ".gitignore", &st), hidden = upper || d->opaque;

	if (d->ignored)
		return 0;
	if (read_rules_beneath(w, d, ".gitignore", &below))
		return -1;
	ga_ignore_push(&w->base, w->path.ptr, below.ptr, below.len);
	if (!hidden) {
		ga_ignore_push(&w->final, w->path.ptr, below.ptr, below.len);
		return 0;
	}
	if (upper && S_ISREG(st.st_mode))
		read_own_rules(w, d, ".gitignore", &st, &own);
	ga_ignore_push(&w->final, w->path.ptr, own.ptr, own.len);
	rules_override(&w->overrides, w->path.ptr, own.len ? own.ptr : NULL, own.len);
	return 0;
}

/* Content that git would convert has to go through git: stop before the first blob is written.
 * Tracked attributes count even if the file is gone, since git falls back to its index. */
static int check_attributes(struct walk *w, const struct walk_dir *d)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT;
	struct stat st;

	if (!w->pack || w->o->raw || w->o->cleaned_paths)
		return 0;
	if (read_rules_beneath(w, d, ".gitattributes", &text))
		return -1;
	ga_buf_addch(&text, '\n');
	if (read_rules(w, &d->tracked, ".gitattributes", &text))
		return -1;
	ga_buf_addch(&text, '\n');
	if (stat_in_upper(d, ".gitattributes", &st) && S_ISREG(st.st_mode)) {
		cleanup_buf struct ga_buf own = GA_BUF_INIT;

		read_own_rules(w, d, ".gitattributes", &st, &own);
		ga_buf_add(&text, own.ptr, own.len);
	}
	if (attributes_convert(text.ptr, text.len))
		w->convert = w->stopped = true;
	return 0;
}

/* git inside reads the .gitattributes above each file. At a fifo it would block for ever;
 * for one that it cannot open it uses the version in its index. */
static void note_attributes(const struct walk *w, struct walk_dir *d)
{
	struct stat st;

	if (!w->list || !stat_in_upper(d, ".gitattributes", &st))
		return;
	d->barred |= S_ISFIFO(st.st_mode);
	d->unsure |= S_ISREG(st.st_mode) && !readable_inside(d, &st);
}

/* [UP-OPQ/BASE-DIR]: what the base has here and the upper does not is removed; if the walk stopped
 * at a limit, only up to there: `end` is the name that it stopped at, else NULL. */
static int remove_hidden(struct walk *w, const struct walk_dir *d, const char *end)
{
	for (size_t i = 0, k = 0; i < d->base.n; i++) {
		const char *name = d->base.v[i].name;
		size_t len;
		int rc;

		if (end && strcmp(name, end) >= 0)
			break;
		while (k < d->names.n && strcmp(d->names.v[k], name) < 0)
			k++;
		if (k < d->names.n && !strcmp(d->names.v[k], name))
			continue;
		len = enter(w, name);
		rc = walk_removed(w, &d->base.v[i].entry);
		ga_buf_truncate(&w->path, len);
		if (rc)
			return -1;
	}
	return 0;
}

/* Add the paths of a directory's entries: are all paths together within the limit? */
static bool paths_fit(struct walk *w, const struct ga_strv *names)
{
	uint64_t max = PATHS_MAX(w->limits);

	for (size_t i = 0; i < names->n && w->met.path_bytes <= max; i++)
		w->met.path_bytes += w->path.len + 1 + strlen(names->v[i]);
	return w->met.path_bytes <= max;
}

static int walk_names(struct walk *w, struct walk_dir *d)
{
	size_t room = w->limits->entries > w->met.entries ? w->limits->entries - w->met.entries : 0;
	size_t mark_final = w->final.n, mark_base = w->base.n;
	const char *at = "";
	int rc = read_names(d->fd, room, &d->names);

	if (rc < 0) {
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, 0);
		return 0;
	}
	if (rc || !paths_fit(w, &d->names)) {
		/* [limit]: half a directory must not look like the whole of it */
		walk_limit(w, GA_LIMIT_ENTRIES,
			   rc ? "more entries than can be captured: from here on everything stays "
				"in the session" :
				"more entries with long paths than can be captured: from here on "
				"everything stays in the session",
			   d->names.n + (size_t)rc, 0); /* at least */
		w->stopped = true;
		w->stopped_at = ga_strdup(w->path.ptr);
		return 0;
	}
	w->met.entries += d->names.n;
	if (d->instead && walk_removed(w, d->instead))
		return -1;
	note_attributes(w, d);
	rc = check_attributes(w, d) || push_rules(w, d);
	for (size_t i = 0; !rc && !w->stopped && i < d->names.n; i++) {
		ga_progress_step(&w->progress);
		at = d->names.v[i];
		rc = visit(w, d, at);
	}
	if (!rc && !w->convert && d->hidden)
		rc = remove_hidden(w, d, w->stopped ? at : NULL);
	ga_ignore_pop(&w->final, mark_final);
	ga_ignore_pop(&w->base, mark_base);
	return rc ? -1 : 0;
}

/* `d` says which directory it is; the rest is read here. */
static int walk_one(struct walk *w, struct walk_dir *d)
{
	read_marks(d->fd, &d->marks);
	if (d->marks.odd || d->marks.whiteout) {
		/* [planted]: a redirect or the like would make it mean something else */
		walk_note(w, "carries an overlay attribute that no session writes; all of it stays "
			     "behind");
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, 0);
		return 0;
	}
	d->opaque |= d->marks.opaque;
	d->hidden |= d->opaque || !d->base_tree;
	if (ga_tree_level_read(w->repo, d->base_tree, &d->base, w->err))
		return -1;
	if (d->tracked_tree && ga_tree_level_read(w->repo, d->tracked_tree, &d->tracked, w->err))
		return -1;
	return walk_names(w, d);
}

/* Does the tree of the agent's HEAD or, without one, the base have paths in this directory? */
static bool is_tracked_dir(const struct walk *w, const struct walk_item *it)
{
	return (w->o->tracked ? it->tracked.mode : it->base.mode) == GA_MODE_TREE;
}

/* Descend into a directory. */
static int enter_subdir(struct walk *w, const struct walk_dir *d, const struct walk_item *it,
			bool ignored)
{
	cleanup_close int fd = openat(d->fd, it->name, WALK_OPEN_FLAGS | O_DIRECTORY);
	cleanup_free char *top = ignored && !d->ignored ? ga_strdup(w->path.ptr) : NULL;
	cleanup_(dir_release) struct walk_dir sub = {
		.fd = fd,
		.depth = d->depth + 1,
		.base_tree = it->base.mode == GA_MODE_TREE ? &it->base.oid : NULL,
		.tracked_tree = it->tracked.mode == GA_MODE_TREE ? &it->tracked.oid : NULL,
		/* [UP-DIR/BASE-REG] [UP-DIR/BASE-EXE] [UP-DIR/BASE-LNK] and the same of UP-OPQ:
		 * [UP-OPQ/BASE-REG] [UP-OPQ/BASE-EXE] [UP-OPQ/BASE-LNK]; and a submodule that
		 * the agent's commits dropped */
		.instead = it->base.mode != GA_MODE_TREE ? &it->base : NULL,
		.opaque = d->opaque,
		.hidden = d->hidden,
		.closed = d->closed || !(it->st.st_mode & S_IXUSR),
		.barred = d->barred,
		.unsure = d->unsure,
		.ignored = top ? top : d->ignored,
	};
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || st.st_dev != w->dev) {
		walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, 0); /* [unreadable] */
		return 0;
	}
	if (d->depth >= w->limits->depth) { /* [limit] */
		walk_limit(w, GA_LIMIT_DEPTH,
			   "lies too deep to be captured, and stays in the session", 1, 0);
		return 0;
	}
	if (!is_tracked_dir(w, it) && holds_repository(fd)) {
		leave_item(w, d, it, GA_LEFTOVER_REPOSITORY, true); /* [repository] */
		return walk_removed(w, &it->base);
	}
	return walk_one(w, &sub);
}

static int visit_dir(struct walk *w, const struct walk_dir *d, const struct walk_item *it)
{
	bool known = it->base.mode == GA_MODE_TREE || it->tracked.mode == GA_MODE_TREE;
	bool ignored = d->ignored;

	if (it->base.mode == GA_MODE_GITLINK &&
	    (!w->o->tracked || it->tracked.mode == GA_MODE_GITLINK)) {
		/* [UP-DIR/BASE-GITLINK] [UP-OPQ/BASE-GITLINK] [UP-MODE/BASE-GITLINK] */
		leave_item(w, d, it, GA_LEFTOVER_SUBMODULE, false);
		return 0;
	}
	if (!ignored)
		ignored = ga_ignore_check(&w->final, w->path.ptr, true) == GA_IGNORE_YES;
	if (ignored && !known) {
		uint64_t count, bytes;

		if (!count_dir(w, d, it, &count, &bytes) || count)
			walk_ignored(w, d->ignored, count, bytes, true); /* [ignored] */
		/* [UP-DIR/BASE-IGN] [UP-OPQ/BASE-IGN]; and a file that the base had here is gone */
		return walk_removed(w, &it->base);
	}
	/* [UP-DIR/BASE-NONE] [UP-OPQ/BASE-NONE] [UP-DIR/BASE-DIR] [UP-MODE/BASE-DIR] */
	return enter_subdir(w, d, it, ignored);
}

/* ---- one entry --------------------------------------------------------- */

static int visit_kind(struct walk *w, const struct walk_dir *d, struct walk_item *it)
{
	mode_t type = it->st.st_mode & S_IFMT;
	bool top = !d->depth, own_dir;

	if (is_whiteout(&it->st))
		return walk_removed(w, &it->base); /* [UP-WH/BASE-ANY] */
	if (!strcmp(it->name, ".git")) {
		/* [git]: at the top the private git dir's mount point; deeper, the planted
		 * or nested repository of a directory that is itself tracked */
		if (!top)
			leave_item(w, d, it, GA_LEFTOVER_REPOSITORY, true);
		return 0;
	}
	if (w->path.len >= PATH_MAX) { /* [limit]: nobody could check it out */
		walk_leave(w, GA_LEFTOVER_LIMIT, 1, 0);
		if (w->met.limited++ < LIMITS_NAMED)
			walk_note(w, "has a path longer than any system takes, and stays in the "
				     "session");
		return 0;
	}
	/* a directory that the base has under such a name is the user's own */
	own_dir = type == S_IFDIR && it->base.mode == GA_MODE_TREE;
	if (name_is_bad(it->name, own_dir ? S_IFREG : type)) {
		leave_item(w, d, it, GA_LEFTOVER_NAME, true); /* [name] */
		return walk_removed(w, &it->base);
	}
	/* [moving]: half a copy of a directory that is still whole where it was */
	if (type == S_IFDIR && !own_dir && it->tracked.mode != GA_MODE_TREE &&
	    !strncmp(it->name, GA_CTL_MOVING, strlen(GA_CTL_MOVING))) {
		/* an agent can give any directory such a name */
		if (w->met.odd++ < LIMITS_NAMED)
			walk_note(w, "has the name of what is left of a renamed directory when the "
				     "sandbox is killed, and stays in the session");
		leave_item(w, d, it, GA_LEFTOVER_NAME, true);
		return 0;
	}
	if (type == S_IFDIR)
		return visit_dir(w, d, it);
	if (type == S_IFREG || type == S_IFLNK)
		return walk_content(w, d, it);
	/* [UP-FIFO/BASE-ANY] [UP-SOCK/BASE-ANY] [UP-DEV/BASE-ANY] */
	walk_leave(w, GA_LEFTOVER_SPECIAL, 1, 0);
	return walk_removed(w, &it->base);
}

static int visit(struct walk *w, struct walk_dir *d, const char *name)
{
	struct walk_item it = { .name = name, .base = ga_tree_level_find(&d->base, name),
			   .tracked = ga_tree_level_find(&d->tracked, name) };
	size_t len = enter(w, name);
	int rc = 0;

	if (fstatat(d->fd, name, &it.st, AT_SYMLINK_NOFOLLOW)) {
		/* while an agent runs, an entry may disappear between two calls */
		if (errno != ENOENT)
			walk_leave(w, GA_LEFTOVER_UNREADABLE, 1, 0);
	} else {
		rc = visit_kind(w, d, &it);
	}
	ga_buf_truncate(&w->path, len);
	return rc;
}

int walk_upper(struct walk *w, int fd)
{
	cleanup_(dir_release) struct walk_dir d = { .fd = fd };
	struct stat st;

	if (fstat(fd, &st))
		return ga_fail_errno(w->err, GA_EFATAL, errno, "cannot stat the upper layer");
	w->dev = st.st_dev;
	d.base_tree = w->o->base_tree;
	d.tracked_tree = w->o->tracked;
	return walk_one(w, &d);
}
