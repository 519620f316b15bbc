/* SPDX-License-Identifier: MIT
 *
 * What is copied from the user's own home into an agents' home that lacks it.
 *
 * Shims of asdf and mise run nothing without the versions that the user set for his whole home. Of
 * mise's file only these are copied, as it may set variables as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "ga/repo/gitdir.h"
#include "ga/sandbox/sandbox.h"
#include "ga/sys/fd.h"
#include "home-internal.h"

#define VERSIONS_MAX ((size_t)64 << 10)

/* The lines of the tables [tools] and [tools.NAME]. */
static void keep_tools(const struct ga_buf *from, struct ga_buf *ret)
{
	size_t pos = 0, n;
	const char *p;
	bool in = false;

	while ((p = ga_buf_next_line(from, &pos, &n))) {
		size_t blank = 0;

		while (blank < n && (p[blank] == ' ' || p[blank] == '\t'))
			blank++;
		if (blank < n && p[blank] == '[')
			in = n - blank > 6 && (!strncmp(p + blank, "[tools]", 7) ||
					       !strncmp(p + blank, "[tools.", 7));
		if (in)
			ga_buf_addf(ret, "%.*s\n", (int)n, p);
	}
}

static int bring(int user, int home, const char *rel, bool tools_only, struct ga_error *err)
{
	cleanup_buf struct ga_buf text = GA_BUF_INIT, kept = GA_BUF_INIT;
	cleanup_close int there = -1;

	/* in the user's own home, where it may be a link */
	cleanup_close int fd = openat(user, rel, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	there = ga_openat_beneath(home, rel, O_PATH | O_NOFOLLOW, 0);
	if (there >= 0 || ga_read_fd(fd, VERSIONS_MAX, &text, GA_IGNORED) || !text.len)
		return 0;
	if (tools_only)
		keep_tools(&text, &kept);
	else
		ga_buf_add(&kept, text.ptr, text.len);
	return kept.len ? home_write(home, rel, kept.ptr, kept.len, 0644, err) : 0;
}

int home_bring_versions(const char *user, const char *dir, struct ga_error *err)
{
	cleanup_close int from = open(user, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_close int to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (from < 0 || to < 0)
		return 0;
	return bring(from, to, ".tool-versions", false, err) ||
	       bring(from, to, ".config/mise/config.toml", true, err) ? -1 : 0;
}

int home_bring_caches(const char *dir, struct ga_error *err)
{
	cleanup_close int to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const char *file, *text;

	for (size_t i = 0; to >= 0 && (file = ga_cache_file(i, &text)) != NULL; i++) {
		cleanup_close int there = ga_openat_beneath(to, file, O_PATH | O_NOFOLLOW, 0);

		if (there < 0 && errno == ENOENT &&
		    home_write(to, file, text, strlen(text), 0644, err))
			return -1;
	}
	return 0;
}

/* The session's private git dir has a configuration of its own; this is for other repositories that
 * agents make or clone. */
int ga_home_bring_git(const char *dir, const struct ga_gitconfig *c, struct ga_error *err)
{
	static const char *const names[] = { ".gitconfig", ".config/git/config" };
	cleanup_close int to = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_buf struct ga_buf text = GA_BUF_INIT;

	for (size_t i = 0; i < GA_NELEMS(names); i++) {
		cleanup_close int there = ga_openat_beneath(to, names[i], O_PATH, 0);

		if (to < 0 || there >= 0 || errno != ENOENT)
			return 0;
	}
	ga_gitdir_home_config(c, &text);
	return text.len ? home_write(to, names[0], text.ptr, text.len, 0644, err) : 0;
}
