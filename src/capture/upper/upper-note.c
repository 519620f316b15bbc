/* SPDX-License-Identifier: MIT
 *
 * What a walk of the upper layer notes of a path: left out, ignored, removed.
 */
#include <fcntl.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "capture/upper-internal.h"

static const char *where(const struct walk *w)
{
	return w->path.len ? w->path.ptr : ".";
}

void walk_left(struct walk *w, enum ga_left_kind kind, uint64_t count, uint64_t bytes)
{
	ga_left_add(&w->res->left, where(w), kind, count, bytes);
	if (kind == GA_LEFT_REFUSED || kind == GA_LEFT_UNREADABLE || kind == GA_LEFT_LIMIT)
		ga_strv_push(&w->stood, w->path.ptr);
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
	walk_left(w, GA_LEFT_LIMIT, count, bytes);
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
	ga_left_add(&w->res->left, top ? top : where(w), GA_LEFT_IGNORED, count, bytes);
	if (top || ga_ignore_check(&w->base, w->path.ptr, is_dir) == GA_IGNORE_YES)
		return;
	ga_strv_push(&w->res->newly_ignored, w->path.ptr);
	ga_strv_take(&w->res->newly_ignored_by, newly_ignored_by(w, is_dir));
}
