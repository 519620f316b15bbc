/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "ga/base/path.h"
#include "ga/base/quote.h"
#include "ga/repo/import.h"
#include "ga/sys/fd.h"
#include "capture/upper-internal.h"

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

			/* a pattern that looks like an attribute only costs time */
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
