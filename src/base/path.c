/* SPDX-License-Identifier: MIT */
#include "ga/base/path.h"

#include <string.h>

#include "ga/base/quote.h"

char *ga_path_join(const char *a, const char *b)
{
	size_t n = strlen(a);

	if (!n)
		return ga_strdup(b);
	return ga_strf("%s%s%s", a, a[n - 1] == '/' ? "" : "/", b);
}

const char *ga_path_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (!strcmp(dir, "/"))
		return path + 1;
	if (strncmp(path, dir, n))
		return NULL;
	if (!path[n])
		return path + n;
	return path[n] == '/' ? path + n + 1 : NULL;
}

bool ga_path_inside(const char *path, const char *dir)
{
	return ga_path_below(path, dir) != NULL;
}

const char *ga_path_within(const char *path, const char *const *dirs)
{
	for (; dirs && *dirs; dirs++)
		if (ga_path_inside(path, *dirs))
			return *dirs;
	return NULL;
}

const char *ga_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void ga_path_up(char *path)
{
	char *slash = strrchr(path, '/');

	path[slash == path ? 1 : slash ? slash - path : 0] = '\0';
}

char *ga_path_parent(const char *path)
{
	char *parent = ga_strdup(path);

	ga_path_up(parent);
	return parent;
}

char *ga_path_resolve(const char *dir, const char *path)
{
	struct ga_buf b = GA_BUF_INIT;

	if (path[0] == '/')
		return NULL;
	ga_buf_adds(&b, dir);
	for (;;) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !memcmp(path, "..", 2)) {
			const char *slash = strrchr(b.ptr, '/');

			if (!b.len) {
				ga_buf_release(&b);
				return NULL;
			}
			ga_buf_truncate(&b, slash ? (size_t)(slash - b.ptr) : 0);
		} else if (n && !(n == 1 && path[0] == '.')) {
			if (b.len)
				ga_buf_addch(&b, '/');
			ga_buf_add(&b, path, n);
		}
		if (!path[n])
			return ga_buf_steal(&b);
		path += n + 1;
	}
}

char *ga_path_follow(const char *path, unsigned max, ga_path_link_fn *link, void *arg)
{
	cleanup_buf struct ga_buf at = GA_BUF_INIT;
	cleanup_free char *rest = ga_strdup(path);

	while (*rest) {
		size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/"), before = at.len;
		cleanup_free char *target = NULL;
		const char *part = rest + skip;
		char *next;

		if (n == 2 && !memcmp(part, "..", 2)) {
			while (at.len && at.ptr[--at.len] != '/')
				;
			at.ptr[at.len] = '\0';
		} else if (n && !(n == 1 && *part == '.')) {
			ga_buf_addf(&at, "/%.*s", (int)n, part);
			target = link(arg, at.ptr);
		}
		if (target)
			ga_buf_truncate(&at, *target == '/' ? 0 : before);
		next = target ? ga_strf("%s/%s", target, part + n) : ga_strdup(part + n);
		free(rest);
		rest = next;
		if (target && !max--)
			return NULL;
	}
	return at.len ? ga_buf_steal(&at) : ga_strdup("/");
}

bool ga_path_relative_ok(const char *path)
{
	const char *p = path;

	for (;;) {
		size_t n = strcspn(p, "/");

		if (!n || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		if (!p[n])
			return true;
		p += n + 1;
	}
}

int ga_path_tree_cmp(const char *a, size_t alen, bool adir, const char *b, size_t blen, bool bdir)
{
	size_t n = alen < blen ? alen : blen;
	int c = memcmp(a, b, n);
	unsigned char ca, cb;

	if (c)
		return c;
	ca = alen > n ? (unsigned char)a[n] : adir ? '/' : '\0';
	cb = blen > n ? (unsigned char)b[n] : bdir ? '/' : '\0';
	return (int)ca - (int)cb;
}

bool ga_path_hfs_ignores(uint32_t c)
{
	return (c >= 0x200c && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x206a && c <= 0x206f) || c == 0xfeff;
}

/* Fold: drop what HFS+ ignores, lower case, cut at ':' and '\', strip
 * trailing dots and spaces as NTFS does. */
static void fold(struct ga_buf *out, const char *name, size_t n)
{
	for (size_t i = 0, len; i < n && name[i] != ':' && name[i] != '\\'; i += len) {
		uint32_t c;

		len = ga_utf8_decode(name + i, n - i, &c);
		if (len && ga_path_hfs_ignores(c))
			continue;
		len = 1;
		ga_buf_addch(out, ga_lower(name[i]));
	}
	while (out->len && (out->ptr[out->len - 1] == '.' || out->ptr[out->len - 1] == ' '))
		ga_buf_truncate(out, out->len - 1);
}

bool ga_path_component_folds_to(const char *name, size_t n, const char *dotname)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	fold(&b, name, n);
	return !strcmp(b.ptr, dotname);
}

bool ga_path_component_is_dotgit(const char *name, size_t n)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	fold(&b, name, n);
	return !strcmp(b.ptr, ".git") ||
	       (!strncmp(b.ptr, "git~", 4) && b.ptr[4] >= '0' && b.ptr[4] <= '9' && !b.ptr[5]);
}

bool ga_path_names_dotgit(const char *path)
{
	for (const char *p = path;; p++) {
		size_t n = strcspn(p, "/\\");

		if (ga_path_component_is_dotgit(p, n))
			return true;
		p += n;
		if (!*p)
			return false;
	}
}
