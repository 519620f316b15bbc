/* SPDX-License-Identifier: MIT
 *
 * Control groups, version 2.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/base/parse.h"
#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/sys/fd.h"
#include "ga/sys/mount.h"
#include "run-internal.h"

#define NAME "git-agent-"
#define FILE_MAX ((size_t)1 << 20)

static bool slurp(const char *path, struct ga_buf *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	return !ga_read_file_at(AT_FDCWD, path, FILE_MAX, ret, &ignored);
}

/* Where version 2 is mounted as a whole; NULL: nowhere. */
static char *mount_point(void)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_strv struct ga_strv all = GA_STRV_INIT;

	if (ga_mount_list(&all, &ignored))
		return NULL;
	for (size_t i = 0; i < all.n; i += GA_MOUNT_WORDS)
		if (!strcmp(all.v[i + GA_MOUNT_TYPE], "cgroup2") &&
		    !strcmp(all.v[i + GA_MOUNT_ROOT], "/"))
			return ga_strdup(all.v[i]);
	return NULL;
}

char *run_cgroup_of(pid_t pid)
{
	cleanup_free char *path = pid ? ga_strf("/proc/%d/cgroup", (int)pid)
				      : ga_strdup("/proc/self/cgroup");
	cleanup_free char *mount = mount_point();
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	char *save = NULL;

	if (!mount || !slurp(path, &b))
		return NULL;
	for (char *l = strtok_r(b.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (!strncmp(l, "0::/", 4))
			return l[4] ? ga_path_join(mount, l + 4) : ga_strdup(mount);
	return NULL;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || p[-1] == ' ') && (!p[n] || p[n] == ' ' || p[n] == '\n'))
			return true;
	return false;
}

static bool may_make_in(const char *dir, const struct run_cgroup_setting *v, size_t n)
{
	cleanup_free char *procs = ga_path_join(dir, "cgroup.procs");
	cleanup_free char *control = ga_path_join(dir, "cgroup.subtree_control");
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (access(dir, W_OK) || access(procs, W_OK) || !slurp(control, &b))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!has_word(b.ptr, v[i].controller))
			return false;
	return true;
}

/* Does systemd mark the group as delegated? It may be delegated to another manager, the user's,
 * which is then in the group itself. */
static bool is_marked(const char *dir)
{
	static const char *const names[] = { "trusted.delegate", "user.delegate" };
	cleanup_free char *manager = ga_path_join(dir, "init.scope");
	char value;

	if (!access(manager, F_OK))
		return false;
	for (size_t i = 0; i < GA_NELEMS(names); i++)
		if (getxattr(dir, names[i], &value, 1) == 1 && value == '1')
			return true;
	return false;
}

/* Our group, or one above it: a process can only be moved within a subtree that is delegated to
 * us. */
char *run_cgroup_find(const struct run_cgroup_setting *v, size_t n, bool marked)
{
	cleanup_free char *mount = mount_point(), *dir = mount ? run_cgroup_of(0) : NULL;

	while (dir && ga_path_inside(dir, mount)) {
		if (may_make_in(dir, v, n) && (!marked || is_marked(dir)))
			return ga_steal(&dir);
		if (!strcmp(dir, mount))
			break;
		ga_path_up(dir);
	}
	return NULL;
}

/* Remove the groups of sessions whose supervisor was killed: they are empty, and the kernel keeps
 * others. */
static void sweep(DIR *parent)
{
	struct dirent *e;

	while ((e = ga_dir_next(parent)))
		if (!strncmp(e->d_name, NAME, strlen(NAME)))
			(void)unlinkat(dirfd(parent), e->d_name, AT_REMOVEDIR);
}

static int write_value(int dir, const char *file, const char *value)
{
	cleanup_close int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	/* in one write, as the kernel requires */
	return fd < 0 || write(fd, value, strlen(value)) < 0 ? -1 : 0;
}

static int set_up(int dir, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		  struct ga_error *err)
{
	cleanup_free char *number = ga_strf("%d", (int)pid);

	for (size_t i = 0; i < n; i++)
		if (write_value(dir, v[i].file, v[i].value) && !(v[i].optional && errno == ENOENT))
			return ga_fail_errno(err, GA_ESTART, errno, "cannot write '%s' to %s",
					     v[i].value, v[i].file);
	if (write_value(dir, "cgroup.procs", number))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot move the session there");
	return 0;
}

int run_cgroup_enter(const char *parent, const struct run_cgroup_setting *v, size_t n, pid_t pid,
		     char **ret, struct ga_error *err)
{
	cleanup_free char *path = ga_strf("%s/" NAME "%d", parent, (int)pid);
	cleanup_free char *q = ga_escape(path);
	cleanup_dir DIR *d = opendir(parent);
	cleanup_close int dir = -1;

	/* another process may be making one, which is empty until a process is in it */
	if (!d)
		return ga_fail_errno(err, GA_ESTART, errno, "cannot open what '%s' is to be in", q);
	if (ga_flock(dirfd(d), true, true, err))
		return -1;
	sweep(d);
	if (mkdir(path, 0755))
		return ga_fail_errno(err, GA_ESTART, errno, "cannot make the control group '%s'",
				     q);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		(void)ga_fail_errno(err, GA_ESTART, errno, "cannot open it");
	if (dir < 0 || set_up(dir, v, n, pid, err)) {
		(void)rmdir(path);
		return ga_error_wrap(err, "cannot set up the control group '%s'", q);
	}
	*ret = ga_steal(&path);
	return 0;
}

bool run_cgroup_has(const char *dir, const char *file, const char *value)
{
	cleanup_free char *path = ga_path_join(dir, file);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (!slurp(path, &b))
		return false;
	ga_buf_chomp(&b);
	return !strcmp(b.ptr, value);
}

uint64_t run_cgroup_number(const char *dir, const char *file, const char *word)
{
	cleanup_free char *path = ga_path_join(dir, file);
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	size_t n = strlen(word);
	char *save = NULL;
	uint64_t v;

	if (!slurp(path, &b))
		return 0;
	for (char *l = strtok_r(b.ptr, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		if (!strncmp(l, word, n) && l[n] == ' ' && ga_parse_u64(l + n + 1, UINT64_MAX, &v))
			return v;
	return 0;
}
