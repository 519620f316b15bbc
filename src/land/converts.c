/* SPDX-License-Identifier: MIT
 *
 * Might git take a file for changed whose bytes are those that were committed? It does if adding it
 * would convert these bytes to others.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "land-internal.h"

#define ATTRIBUTES ".gitattributes"
#define ATTRIBUTES_MAX ((size_t)1 << 20)

/* A CR or $Id$: attributes change nothing else without a command or an encoding. */
bool land_bytes_convert(const struct ga_buf *b)
{
	return b->len && (memchr(b->ptr, '\r', b->len) || memmem(b->ptr, b->len, "$Id", 3));
}

/* Does it name a filter or an encoding, in whatever way? A macro has to be defined in one of these
 * files, too. */
static bool names_one(const struct ga_buf *b)
{
	return b->len && (memmem(b->ptr, b->len, "filter", 6) ||
			  memmem(b->ptr, b->len, "encoding", 8));
}

static bool named_by_user(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_free char *info = ga_path_join(ga_repo_info(l->repo)->commondir, "info/attributes");
	const char *system = ga_system_attributes();
	cleanup_free char *user = NULL;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	return ga_user_file(l->repo, &l->config, "core.attributesfile", "attributes", &user,
			    &ignored) ||
	       ga_user_file_read(info, ATTRIBUTES_MAX, &b, &ignored) ||
	       (system && ga_user_file_read(system, ATTRIBUTES_MAX, &b, &ignored)) ||
	       (user && ga_user_file_read(user, ATTRIBUTES_MAX, &b, &ignored)) || names_one(&b);
}

/* If the file is missing, git uses the one in the index. */
static bool named_in(struct land *l, int root, const char *dir)
{
	cleanup_free char *path = *dir ? ga_path_join(dir, ATTRIBUTES) : ga_strdup(ATTRIBUTES);
	cleanup_close int fd = ga_openat_beneath(root, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_entry e;

	if (fd < 0)
		return errno != ENOENT ||
		       ga_tree_entry(l->repo, &l->head_tree, path, &e, &ignored) ||
		       e.mode != GA_MODE_NONE;
	return ga_read_fd(fd, ATTRIBUTES_MAX, &b, &ignored) || names_one(&b);
}

bool land_may_convert(struct land *l, int root)
{
	cleanup_strv struct ga_strv dirs = GA_STRV_INIT;

	ga_strv_push(&dirs, "");
	for (size_t i = 0; i < l->changes.n; i++) {
		const char *path = l->changes.v[i].path;

		if (l->changes.v[i].old.mode == GA_MODE_NONE)
			continue;
		for (const char *s = strchr(path, '/'); s; s = strchr(s + 1, '/'))
			ga_strv_take(&dirs, ga_strndup(path, (size_t)(s - path)));
	}
	ga_strv_sort_unique(&dirs);
	for (size_t i = 0; i < dirs.n; i++)
		if (named_in(l, root, dirs.v[i]))
			return true;
	return named_by_user(l);
}
