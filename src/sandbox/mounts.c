/* SPDX-License-Identifier: MIT
 *
 * Check host directories that the user wants shown.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "sandbox-internal.h"

/* Directories with more entries than this cannot be checked. */
#define LOOK_MAX 4096

struct look {
	const struct ga_mount_place *place;
	const char *path;
	bool writable;
	struct ga_error *err;
};

static int refuse(const struct look *l, const char *why)
{
	return ga_fail(l->err, GA_ESTART, "'%s' cannot be shown %s: %s", l->path,
		       l->writable ? "for writing" : "inside", why);
}

static bool overlaps(const char *a, const char *b)
{
	return a && b && (ga_path_inside(a, b) || ga_path_inside(b, a));
}

/* Refuse paths that every sandbox replaces or shows otherwise. */
static int check_system(const struct look *l)
{
	static const char *const own[] = { "/proc", "/dev", "/sys", "/run", "/var/run", "/boot" };
	static const char *const above[] = { "/tmp", "/var/tmp", "/bin", "/sbin", "/lib" };

	for (size_t i = 0; i < GA_NELEMS(own); i++)
		if (overlaps(l->path, own[i]))
			return refuse(l, "it is, holds or lies in a part of the system");
	for (size_t i = 0; i < GA_NELEMS(above); i++)
		if (ga_path_inside(above[i], l->path))
			return refuse(l, "it is or holds a part of the system");
	for (size_t i = 0; sandbox_system_dirs[i]; i++)
		if (overlaps(l->path, sandbox_system_dirs[i]))
			return refuse(l, "it is, holds or lies in a part of the system");
	return 0;
}

static int check_places(const struct look *l)
{
	const struct ga_mount_place *p = l->place;
	const char *rel = ga_path_below(l->path, p->home);

	if (ga_path_inside(p->home, l->path))
		return refuse(l, "it is or holds your home directory");
	if (rel && sandbox_is_secret(rel))
		return refuse(l, "it may hold credentials");
	if (overlaps(l->path, p->project))
		return refuse(l, "it overlaps with the project");
	if (overlaps(l->path, p->state_dir))
		return refuse(l, "it overlaps with where sessions are kept");
	if (overlaps(l->path, p->agent_home))
		return refuse(l, "it overlaps with the agents' home");
	return 0;
}

int sandbox_check_place(const struct ga_mount_place *place, const char *path, struct ga_error *err)
{
	const struct look l = { place, path, false, err };

	return check_system(&l) || check_places(&l) ? -1 : 0;
}

bool sandbox_in_repository(const char *path)
{
	for (cleanup_free char *up = ga_strdup(path);;) {
		cleanup_free char *git = ga_path_join(up, ".git");

		if (!access(git, F_OK) || !strcmp(ga_path_base(up), ".git"))
			return true;
		if (!strcmp(up, "/"))
			return false;
		ga_path_up(up);
	}
}

/* Refuse for writing what user programs run or read by default. */
static int check_writable(const struct look *l)
{
	const char *rel = ga_path_below(l->path, l->place->home);

	if (rel && *rel == '.')
		return refuse(l, "programs of yours are configured there");
	for (const char *p = l->place->path ? l->place->path : ""; *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = ga_strndup(p, n), *real = sandbox_real(dir);

		p += n;
		if (*dir == '/' && (overlaps(dir, l->path) || overlaps(real, l->path)))
			return refuse(l, "it is, holds or lies in a directory of your $PATH");
	}
	return sandbox_in_repository(l->path)
		       ? refuse(l, "it is or lies in a repository, whose hooks run on your machine")
		       : 0;
}

static bool is_secret_name(const char *name)
{
	static const char *const names[] = {
		".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store",
		".mozilla", ".netrc", ".git-credentials", ".pypirc", ".npmrc",
	};

	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int check_entry(const struct look *l, int at, const struct dirent *e)
{
	cleanup_free char *git = ga_path_join(e->d_name, ".git");
	struct stat st;

	if (is_secret_name(e->d_name))
		return refuse(l, "it holds what may be credentials");
	/* connecting to a socket does not need a writable mount */
	if (e->d_type == DT_SOCK || (e->d_type == DT_UNKNOWN &&
	    !fstatat(at, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISSOCK(st.st_mode)))
		return refuse(l, "it holds a socket, which anybody inside could connect to");
	if (l->writable && strcmp(e->d_name, "..") != 0 && !faccessat(at, git, F_OK, 0))
		return refuse(l, "it holds a repository, whose hooks run on your machine");
	return 0;
}

/* Check the entries, to a depth that a start can afford. */
static int check_entries(const struct look *l)
{
	DIR *d = opendir(l->path);
	struct dirent *e;
	int rc = 0;

	/* unreadable inside as well */
	if (!d)
		return 0;
	for (size_t n = 0; !rc && n < LOOK_MAX && (e = readdir(d)); n++)
		rc = check_entry(l, dirfd(d), e);
	(void)closedir(d);
	return rc;
}

int ga_mount_check(const struct ga_mount_place *place, const char *path, bool writable,
		   struct ga_error *err)
{
	const struct look l = { place, path, writable, err };
	cleanup_free char *real = realpath(path, NULL), *q = NULL;
	struct stat st;

	if (!real && (errno == ENOENT || errno == ENOTDIR))
		return 1;
	if (!real || stat(path, &st)) {
		q = ga_escape(path);
		return ga_fail_errno(err, GA_ESTART, errno, "cannot stat '%s'", q);
	}
	if (strcmp(real, path)) {
		(void)refuse(&l, "it is reached through a link");
		q = ga_escape(real);
		return ga_hint(err, "name the directory itself: '%s'", q);
	}
	if (!S_ISDIR(st.st_mode)) {
		(void)refuse(&l, "it is not a directory");
		return ga_hint(err, "name the directory it is in");
	}
	return check_system(&l) || check_places(&l) || (writable && check_writable(&l)) ||
	       check_entries(&l) ? -1 : 0;
}
