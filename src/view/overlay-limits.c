/* SPDX-License-Identifier: MIT
 *
 * What an overlay of an ordinary user cannot do, found before a program inside meets it: be mounted
 * over a directory that has a mount in it (EINVAL); and copy up a file, which is needed to write to
 * it, that belongs to another user or to any group but the user's primary one (EOVERFLOW).
 */
#include <time.h>

#include "view-internal.h"
#include "ga/sys/mount.h"

/* How many entries one start looks at: some milliseconds. A directory in which nothing was found is
 * searched again once it has changed itself, or after AGAIN_AFTER seconds. */
#define ENTRIES_MAX 20000
#define DEPTH_MAX 64
#define AGAIN_AFTER 900
#define CACHE "owners"
#define CACHE_MAX ((size_t)4 << 20)

void view_find_mounts(const char *project, struct ga_strv *ret)
{
	cleanup_strv struct ga_strv mounts = GA_STRV_INIT;

	if (ga_mount_list(&mounts, GA_IGNORED))
		return;
	for (size_t i = 0; i < mounts.n; i += GA_MOUNT_WORDS)
		if (ga_path_below(mounts.v[i], project))
			ga_strv_push(ret, mounts.v[i]);
}

const char *view_mount_in(const struct ga_strv *mounts, const char *dir)
{
	for (size_t i = 0; i < mounts->n; i++) {
		const char *below = ga_path_below(mounts->v[i], dir);

		if (below && *below)
			return mounts->v[i];
	}
	return NULL;
}

struct look {
	size_t left;     /* entries that may still be looked at */
	size_t found;
	bool only_group; /* of all found, only the group is another */
	char *first;
};

static bool is_foreign(const struct stat *st)
{
	return st->st_uid != geteuid() || st->st_gid != getegid();
}

static void note(struct look *l, const char *path, const struct stat *st)
{
	if (!is_foreign(st))
		return;
	if (!l->found++)
		l->first = ga_strdup(path);
	l->only_group = l->only_group && st->st_uid == geteuid();
}

/* Search a directory, following no link. Closes `fd`. */
static void look_through(struct look *l, int fd, const char *path, unsigned depth)
{
	cleanup_dir DIR *d = ga_dir_of(fd);
	struct dirent *e;

	while (l->left && (e = ga_dir_next(d))) {
		cleanup_free char *at = NULL;
		struct stat st;
		int sub;

		l->left--;
		if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (!S_ISDIR(st.st_mode) && !is_foreign(&st))
			continue;
		at = ga_path_join(path, e->d_name);
		note(l, at, &st);
		if (!S_ISDIR(st.st_mode) || depth == DEPTH_MAX)
			continue;
		sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK |
					    O_CLOEXEC);
		if (sub >= 0)
			look_through(l, sub, at, depth + 1);
	}
}

static void describe(const struct look *l, const char *dir, struct ga_strv *notes)
{
	cleanup_free char *first = ga_quote(l->first), *q = ga_quote(dir);

	ga_strv_pushf(notes, "%s%zu path%s in %s, %s first, cannot be changed inside: of another "
			     "%s",
		      l->left ? "" : "at least ", l->found, l->found == 1 ? "" : "s", q, first,
		      l->only_group ? "group" : "owner");
	if (l->only_group)
		ga_strv_pushf(notes, "to allow it: chgrp -hR %u %s", getegid(), q);
	else
		ga_strv_pushf(notes, "to allow it: sudo chown -hR %u:%u %s", geteuid(), getegid(),
			      q);
}

static char *stat_text(const struct stat *st)
{
	return ga_strf("%llu %lld.%ld %lld.%ld", (unsigned long long)st->st_ino,
		       (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
		       (long long)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
}

/* Was nothing found in it not long ago? The cache has records of three words: path, stat_text(),
 * and when. */
static bool is_known(const struct ga_buf *cache, const char *path, const char *stat, uint64_t now,
		     uint64_t *ret_when)
{
	const char *at, *was, *when;
	size_t pos = 0;

	while ((at = ga_buf_next0(cache, &pos)) && (was = ga_buf_next0(cache, &pos)) &&
	       (when = ga_buf_next0(cache, &pos)))
		if (!strcmp(at, path))
			return !strcmp(was, stat) && ga_parse_u64(when, UINT64_MAX, ret_when) &&
			       *ret_when <= now && now - *ret_when < AGAIN_AFTER;
	return false;
}

/* Note a directory in which nothing was found. */
static void remember(struct ga_buf *cache, const char *path, const char *stat, uint64_t when)
{
	ga_buf_add0(cache, path);
	ga_buf_add0(cache, stat);
	ga_buf_addf(cache, "%llu", (unsigned long long)when);
	ga_buf_addch(cache, '\0');
}

void view_look_at_owners(const char *state_dir, int project, const struct ga_strv *dirs,
			 struct ga_strv *notes)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf old = GA_BUF_INIT, new = GA_BUF_INIT;
	cleanup_close int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct look l = { .left = ENTRIES_MAX };
	uint64_t now = (uint64_t)time(NULL);

	if (state < 0 || ga_read_file_at(state, CACHE, CACHE_MAX, &old, &ignored))
		ga_error_release(&ignored);
	for (size_t i = 0; i < dirs->n; i++) {
		int fd = ga_openat_beneath(project, dirs->v[i],
					   O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
		cleanup_free char *text = NULL;
		bool looked = true;
		uint64_t when = now;
		struct stat st;

		if (fd < 0 || fstat(fd, &st)) {
			ga_cleanup_closep(&fd);
			continue;
		}
		text = stat_text(&st);
		l.found = 0;
		l.only_group = true;
		if (is_known(&old, dirs->v[i], text, now, &when)) {
			(void)close(fd);
		} else {
			/* else it is the next start's turn, which passes over those before */
			looked = l.left > 0;
			note(&l, dirs->v[i], &st);
			look_through(&l, fd, dirs->v[i], 0);
		}
		if (l.found) {
			describe(&l, dirs->v[i], notes);
			free(l.first);
		} else if (looked) {
			remember(&new, dirs->v[i], text, when);
		}
	}
	if (state >= 0 && !ga_buf_equal(&new, &old) &&
	    ga_write_atomic(state, CACHE, new.ptr, new.len, 0600, &ignored))
		ga_error_release(&ignored);
}
