/* SPDX-License-Identifier: MIT
 *
 * What a sandbox makes in a home to mount on (ga_spec_home_places()). It is noted before it is
 * made, and removed when no session uses any home: at the end of the last one, and before the next
 * where that was killed. Between sessions a home has only what agents and the user put there.
 *
 * Sessions with different state directories, as jobs of a cluster have, do not see each other's
 * lock: one whose state directory is of its own removes nothing, and it stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sandbox/plan.h"
#include "ga/sys/fd.h"
#include "home-internal.h"

#define NOTE_MAX ((size_t)4 << 20)
/* Between a home and the place in it: neither contains it. */
#define BETWEEN "//"

static bool is_apart(const struct ga_env *e)
{
	return ga_config_set_by(&e->conf, "state_dir") == GA_ORIGIN_COMMAND;
}

static char *note_path(const struct ga_env *e)
{
	return ga_path_join(e->state_root, "home-mounts");
}

static bool has_line(const struct ga_buf *b, const char *line)
{
	const char *s;

	for (size_t pos = 0; (s = ga_buf_next0(b, &pos));)
		if (!strcmp(s, line))
			return true;
	return false;
}

/* Sessions that start at the same time append, each by one write. */
static int note(const struct ga_env *e, const struct ga_spec *s, struct ga_error *err)
{
	const char *home = s->home_dir.upper ? s->home_dir.upper : s->home_dir.source;
	cleanup_free char *path = note_path(e);
	cleanup_strv struct ga_strv places = GA_STRV_INIT;
	cleanup_buf struct ga_buf known = GA_BUF_INIT, more = GA_BUF_INIT;
	cleanup_close int fd = -1;

	ga_spec_home_places(s, &places);
	if (!places.n || is_apart(e))
		return 0;
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || ga_read_file_at(AT_FDCWD, path, NOTE_MAX, &known, err))
		return fd < 0 ? ga_fail_path(err, errno, "open", path) : -1;
	for (size_t i = 0; i < places.n; i++) {
		cleanup_free char *line = ga_strf("%s" BETWEEN "%s", home, places.v[i]);

		if (!has_line(&known, line))
			ga_buf_add0(&more, line);
	}
	return more.len && ga_write_full(fd, more.ptr, more.len) ?
	       ga_fail_path(err, errno, "write", path) : 0;
}

int ga_home_run(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		struct ga_error *err)
{
	return note(e, s, err) || ga_run_home(sb, s, err) ? -1 : 0;
}

int ga_home_run_trees(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		      struct ga_error *err)
{
	return note(e, s, err) || ga_run_trees(sb, s, err) ? -1 : 0;
}

/* A directory that the stage marked, or an empty file. What is in a directory that nothing was
 * mounted on is the agent's, and so is the directory then. */
static bool remove_place(int at, const char *name)
{
	cleanup_close int dir = ga_openat_beneath(at, name, O_RDONLY | O_DIRECTORY, 0);
	struct stat st;

	if (dir < 0)
		return !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		       !st.st_size && !unlinkat(at, name, 0);
	if (faccessat(dir, GA_PLAN_MARKER, F_OK, AT_SYMLINK_NOFOLLOW) || fchmod(dir, 0755))
		return false;
	return !unlinkat(dir, GA_PLAN_MARKER, 0) && !unlinkat(at, name, AT_REMOVEDIR);
}

static void remove_at(const char *home, const char *rel)
{
	cleanup_close int top = open(home, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *path = ga_strdup(rel);
	bool gone = true;

	/* and the directories above, as long as nothing else is in them */
	for (bool first = true; gone && *path; first = false) {
		cleanup_free char *parent = ga_path_parent(path);
		cleanup_close int at = ga_openat_beneath(top, *parent ? parent : ".",
							 O_RDONLY | O_DIRECTORY, 0);

		gone = at >= 0 && (first ? remove_place(at, ga_path_base(path)) :
				   !unlinkat(at, ga_path_base(path), AT_REMOVEDIR));
		free(path);
		path = ga_steal(&parent);
	}
}

bool home_sweep(const struct ga_env *e, int lock)
{
	cleanup_free char *path = note_path(e);
	cleanup_buf struct ga_buf lines = GA_BUF_INIT;
	cleanup_strv struct ga_strv all = GA_STRV_INIT;
	const char *s;

	if (is_apart(e) || access(path, F_OK))
		return false;
	if (ga_flock(lock, true, false, GA_IGNORED) ||
	    ga_read_file_at(AT_FDCWD, path, NOTE_MAX, &lines, GA_IGNORED))
		return true;
	for (size_t pos = 0; (s = ga_buf_next0(&lines, &pos));)
		ga_strv_push(&all, s);
	/* what lies in another comes before it */
	ga_strv_sort_unique(&all);
	for (size_t i = all.n; i-- > 0;) {
		char *between = strstr(all.v[i], BETWEEN);

		if (!between)
			continue;
		*between = '\0';
		remove_at(all.v[i], between + strlen(BETWEEN));
	}
	(void)unlink(path);
	return true;
}
