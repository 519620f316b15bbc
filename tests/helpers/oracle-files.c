/* SPDX-License-Identifier: MIT
 *
 * What the oracle's agent does to files, and the plain copy of all that it saw.
 */
#include "oracle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/sys/fd.h"

static const char *const plain_names[] = {
	"a", "b", "c.log", "d", "d/a", "d/b", "d/e", "d/e/a", "d/e/c.log", "d.x", "d0", "f", "f/a",
	"f/g", "f/g/h", "f/g/h/a", "sp ace", "sp ace/x", "A", "ign", "ign/a", "ign/b/c", "lib/m",
	"lib/m/x", "lib/a", "\xc3\xa4", "one/two/three/four/five/six",
};

static const char *const wild_names[] = {
	"-m", "t\tab", "n\nl", "\xff\xfe", "x\\y", "\x1b[0m", "*", "[a]", ".wh.a", ".wh..wh..opq",
	".gitx", "...", " ", "#", "!a", "CON", ".GIT", "git~1", ".git ", "d/.GIT/config",
	"a:b", "\xe2\x80\xae", "'", "\"", "$(id)", "d/\\", ".git::$INDEX_ALLOCATION",
};

static const char *const rules[] = { "*.log", "ign/", "/a", "!a", "f/g", "d/*", "!d/e/", "h", "*",
				     "!*/", "sp ace", "**/c*", "b/", "# no", "\\!a", "lib" };
static const char *const texts[] = { "0\n", "1\n", "2\n", "", "no end", "one\r\ntwo\r\n", "a\r\nb\n",
				     "$Id$\n", "\r", "#!/bin/sh\n" };

unsigned pick(struct work *w, unsigned n)
{
	uint64_t z = w->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (unsigned)((z ^ (z >> 31)) % n);
}

bool chance(struct work *w, unsigned percent)
{
	return pick(w, 100) < percent;
}

/* ---- names */

static char *any_bytes(struct work *w)
{
	char name[13];
	unsigned n = 1 + pick(w, 12);

	for (unsigned i = 0; i < n; i++) {
		name[i] = (char)(1 + pick(w, 255));
		if (name[i] == '/')
			name[i] = '_';
	}
	name[n] = '\0';
	return ga_strdup(strcmp(name, ".") && strcmp(name, "..") ? name : "dots");
}

static char *new_path(struct work *w)
{
	cleanup_free char *name = NULL;

	if (!w->wild || chance(w, 50))
		return ga_strdup(plain_names[pick(w, GA_NELEMS(plain_names))]);
	name = chance(w, 50) ? ga_strdup(wild_names[pick(w, GA_NELEMS(wild_names))]) : any_bytes(w);
	if (w->paths.n && chance(w, 40))
		return ga_path_join(w->paths.v[pick(w, (unsigned)w->paths.n)], name);
	return ga_steal(&name);
}

void look_around(struct work *w)
{
	struct stat st;

	for (size_t i = 0; i < GA_NELEMS(plain_names); i++)
		if (!lstat(plain_names[i], &st))
			ga_strv_push(&w->paths, plain_names[i]);
}

const char *some_path(struct work *w)
{
	if (!w->paths.n || chance(w, 40)) {
		char *path = new_path(w);

		if (strlen(path) > 200) {
			free(path);
			return w->paths.v[0];
		}
		ga_strv_take(&w->paths, path);
		return path;
	}
	return w->paths.v[pick(w, (unsigned)w->paths.n)];
}

/* ---- what is done */

static void make_parent(const char *path)
{
	cleanup_error struct ga_error exists = GA_ERROR_INIT;
	cleanup_free char *dir = ga_path_parent(path);

	if (*dir)
		(void)ga_mkdir_p(dir, 0755, &exists);
}

static void put(const char *path, const char *text, size_t n, int flags)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0644);

	if (fd >= 0)
		(void)ga_write_full(fd, text, n);
}

static void gone(const char *path)
{
	cleanup_error struct ga_error busy = GA_ERROR_INIT;

	(void)ga_rmtree_at(AT_FDCWD, path, &busy);
}

static const char *text(struct work *w)
{
	return texts[pick(w, GA_NELEMS(texts))];
}

static void create(struct work *w, const char *p)
{
	const char *t = text(w);

	note(w, "write", p, t);
	make_parent(p);
	put(p, t, strlen(t), O_TRUNC);
}

static void append(struct work *w, const char *p)
{
	const char *t = text(w);

	note(w, "append", p, t);
	put(p, t, strlen(t), O_APPEND);
}

/* Make a file shorter, longer with a hole, or longer than what is read at once. */
static void cut(struct work *w, const char *p)
{
	static const off_t sizes[] = { 4097, (1 << 20) + 1 };
	off_t size = chance(w, 20) ? sizes[pick(w, GA_NELEMS(sizes))] : (off_t)pick(w, 4);
	struct stat st;

	note(w, "truncate", p, "");
	if (!lstat(p, &st) && S_ISREG(st.st_mode))
		(void)!truncate(p, size);
}

static void change_mode(struct work *w, const char *p)
{
	static const mode_t modes[] = { 0755, 0644, 0744, 0600, 0655 };
	struct stat st;

	note(w, "chmod", p, "");
	if (lstat(p, &st) || S_ISLNK(st.st_mode))
		return;
	if (S_ISDIR(st.st_mode)) {
		(void)chmod(p, w->wild && chance(w, 20) ? 0555 : 0755);
	} else if (w->wild && chance(w, 15) && access(".gitattributes", F_OK)) {
		/* git in the sandbox cannot convert a file that it cannot open */
		w->closed = !chmod(p, 0);
	} else {
		(void)chmod(p, modes[pick(w, GA_NELEMS(modes))]);
	}
}

static void link_to(struct work *w, const char *p)
{
	static const char *const far[] = { "/etc/passwd", "../../x", ".git/config", "/proc/self/mem",
					   "\xff\n", "nowhere/at/all" };
	const char *target = w->wild && chance(w, 40) ? far[pick(w, GA_NELEMS(far))]
						      : ga_path_base(some_path(w));

	note(w, "symlink", p, target);
	gone(p);
	make_parent(p);
	(void)!symlink(target, p);
}

static void become_directory(struct work *w, const char *p)
{
	cleanup_free char *inner = ga_path_join(p, pick(w, 2) ? "a" : "new");
	const char *t = text(w);

	note(w, "directory in place of", p, "");
	gone(p);
	make_parent(p);
	(void)mkdir(p, 0755);
	if (chance(w, 75))
		put(inner, t, strlen(t), O_TRUNC);
}

static void become_file(struct work *w, const char *p)
{
	note(w, "file in place of", p, "");
	gone(p);
	create(w, p);
}

/* Touch all files: a change of attributes shows only in files that are read again. */
static void edit_attributes(struct work *w)
{
	note(w, "write", ".gitattributes", "* text=auto");
	put(".gitattributes", "* text=auto\n", 12, O_APPEND);
	(void)run(w, "find", ".", "-name", ".git", "-prune", "-o", "-type", "f", "-exec", "touch", "{}", "+", NULL);
}

static void edit_rules(struct work *w)
{
	static const char *const where[] = { ".gitignore", ".gitignore", "d/.gitignore", "f/.gitignore",
					     "lib/.gitignore" };
	const char *p = where[pick(w, GA_NELEMS(where))];
	cleanup_free char *t = ga_strf("%s\n%s\n", rules[pick(w, GA_NELEMS(rules))], rules[pick(w, GA_NELEMS(rules))]);

	if (chance(w, 4) && !w->closed) {
		edit_attributes(w);
		return;
	}
	if (chance(w, 15)) {
		note(w, "rm", p, "");
		(void)unlink(p);
		return;
	}
	note(w, "write", p, t);
	make_parent(p);
	put(p, t, strlen(t), chance(w, 50) ? O_TRUNC : O_APPEND);
}

static dev_t device_of_parent(const char *p)
{
	cleanup_free char *dir = ga_path_parent(p);
	struct stat st;

	return stat(*dir ? dir : ".", &st) ? 0 : st.st_dev;
}

static void move(struct work *w, const char *p, const char *q)
{
	make_parent(q);
	if (!rename(p, q) || errno != EXDEV)
		return;
	if (device_of_parent(p) == device_of_parent(q)) {
		note(w, "cannot rename", p, q);
		(void)fprintf(stderr, "oracle: cannot rename '%s' to '%s'\n", p, q);
		_exit(99);
	}
	(void)run(w, "mv", "-T", "--", p, q, NULL);
}

static void be_odd(struct work *w, const char *p)
{
	switch (pick(w, 4)) {
	case 0:
		note(w, "mkfifo", p, "");
		gone(p);
		make_parent(p);
		(void)mkfifo(p, 0644);
		break;
	case 1:
		/* what a program inside calls that is no attribute of the overlay */
		note(w, "setxattr", p, "");
		(void)setxattr(p, "user.overlay.opaque", "y", 1, 0);
		break;
	case 2:
		note(w, "touch", p, "");
		(void)utimensat(AT_FDCWD, p, NULL, AT_SYMLINK_NOFOLLOW);
		break;
	default:
		note(w, "rmdir", p, "");
		(void)rmdir(p);
		break;
	}
}

void work_plainly(struct work *w)
{
	const char *p = some_path(w);

	switch (pick(w, 8)) {
	case 0: case 1: case 2:
		create(w, p);
		break;
	case 3:
		append(w, p);
		break;
	case 4:
		note(w, "rm -r", p, "");
		gone(p);
		break;
	case 5:
		change_mode(w, p);
		break;
	case 6:
		link_to(w, p);
		break;
	default:
		become_directory(w, p);
		break;
	}
}

void work_at_files(struct work *w)
{
	/* copies: picking another path may move the earlier ones in memory */
	cleanup_free char *p = ga_strdup(some_path(w)), *q = ga_strdup(some_path(w));

	switch (pick(w, 12)) {
	case 0:
		note(w, "rename", p, q);
		move(w, p, q);
		break;
	case 1:
		note(w, "link", p, q);
		make_parent(q);
		(void)!link(p, q);
		break;
	case 2:
		cut(w, p);
		break;
	case 3:
		become_file(w, p);
		break;
	case 4:
		edit_rules(w);
		break;
	case 5:
		if (w->wild) {
			be_odd(w, p);
			break;
		}
		__attribute__((fallthrough));
	default:
		work_plainly(w);
		break;
	}
}

/* ---- the copy */

/* Give read access where the mode forbids it; the content stays the same. */
static int open_anyway(int at, const char *name, const struct stat *st, int flags)
{
	int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);

	if (fd >= 0 || errno != EACCES)
		return fd;
	if (fchmodat(at, name, 0700, 0))
		return -1;
	fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags);
	return fchmodat(at, name, st->st_mode & 07777, 0) ? -1 : fd;
}

static int copy_dir(int from, int to, bool top);

static int copy_one(int from, int to, const char *name)
{
	cleanup_error struct ga_error err = GA_ERROR_INIT;
	cleanup_close int in = -1, out = -1;
	char target[4096];
	struct stat st;
	ssize_t n;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW))
		return -1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(from, name, target, sizeof(target) - 1);
		if (n < 0)
			return -1;
		target[n] = '\0';
		return symlinkat(target, to, name);
	}
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode))
		return 0;
	in = open_anyway(from, name, &st, S_ISDIR(st.st_mode) ? O_DIRECTORY : 0);
	if (in < 0)
		return -1;
	if (S_ISREG(st.st_mode)) {
		if (ga_copy_fd_to(in, to, name, &err))
			return -1;
		return fchmodat(to, name, (st.st_mode & 0777) | 0600, 0);
	}
	if (mkdirat(to, name, 0700))
		return -1;
	out = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return out < 0 ? -1 : copy_dir(in, out, false);
}

static int copy_dir(int from, int to, bool top)
{
	int copy = fcntl(from, F_DUPFD_CLOEXEC, 3), rc = 0;
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *e;

	if (!d)
		return -1;
	while (!rc && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || (top && !strcmp(e->d_name, ".git")))
			continue;
		rc = copy_one(from, to, e->d_name);
		if (rc)
			(void)fprintf(stderr, "cannot copy '%s': %s\n", e->d_name, strerror(errno));
	}
	(void)closedir(d);
	return rc;
}

int copy_view(const char *to)
{
	cleanup_close int from = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), out = -1;

	if (from < 0 || mkdir(to, 0700))
		return -1;
	out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return out < 0 ? -1 : copy_dir(from, out, true);
}
