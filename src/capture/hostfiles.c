/* SPDX-License-Identifier: MIT
 *
 * What capture reads of the user's own files: patterns, and whether something
 * stands where the branch would put a file.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture-internal.h"
#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "upper-internal.h"

/* Add a file of the user's, if it is there. Unlike those of the agent it may be a
 * link: people keep such files elsewhere. */
static int add_file(struct capture *c, const char *path, struct ga_buf *out, struct ga_error *err)
{
	cleanup_close int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	cleanup_free char *q = NULL;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return 0;
		q = ga_escape(path);
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot read '%s'", q);
	}
	if (!S_ISREG(st.st_mode) || st.st_size > MAX_RULES_BYTES) {
		q = ga_quote(path);
		ga_strv_pushf(&c->notes, "%s is not read: not a regular file, or too long", q);
		return 0;
	}
	if (ga_read_fd(fd, MAX_RULES_BYTES, out, err))
		return -1;
	if (out->len && out->ptr[out->len - 1] != '\n')
		ga_buf_addch(out, '\n');
	return 0;
}

/* The path that `key` names, or where git looks without it; NULL: nowhere. */
static int configured_path(struct capture *c, const char *key, const char *name, char **ret,
			   struct ga_error *err)
{
	const char *const args[] = { "config", "--type=path", "--get", key, NULL };
	const char *value = ga_gitconfig_get(c->e->config, key);
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	struct ga_git g = GA_GIT_INIT;

	*ret = NULL;
	if (!value) {
		*ret = ga_user_file(c->e->config, key, name);
		return 0;
	}
	if (!*value)
		return 0;
	if (value[0] == '/') {
		*ret = ga_strdup(value);
		return 0;
	}
	/* "~", "~user" and "%(prefix)" are git's to expand */
	g.args = args;
	g.out = &out;
	if (ga_git_ok(c->e->repo, &g, err))
		return -1;
	ga_buf_chomp(&out);
	*ret = ga_buf_steal(&out);
	return 0;
}

int read_host_patterns(struct capture *c, struct ga_error *err)
{
	const char *common = ga_repo_info(c->e->repo)->commondir;
	cleanup_free char *exclude = ga_path_join(common, "info/exclude");
	cleanup_free char *attributes = ga_path_join(common, "info/attributes");
	cleanup_free char *user_excludes = NULL, *user_attributes = NULL;
	cleanup_buf struct ga_buf all = GA_BUF_INIT;

	if (configured_path(c, "core.excludesfile", "ignore", &user_excludes, err) ||
	    configured_path(c, "core.attributesfile", "attributes", &user_attributes, err))
		return -1;
	/* the last match decides, so the repository's own come last */
	if ((user_excludes && add_file(c, user_excludes, &c->excludes, err)) ||
	    add_file(c, exclude, &c->excludes, err) ||
	    (user_attributes && add_file(c, user_attributes, &all, err)) ||
	    add_file(c, attributes, &all, err))
		return -1;
	/* others (diff, merge, export) have no say in what content becomes */
	if (attributes_convert(all.ptr, all.len))
		ga_buf_add(&c->attributes, all.ptr, all.len);
	return 0;
}

/* ---- what a merge would write over ------------------------------------- */

struct look {
	int project;
	struct ga_oid head_tree;
	bool has_head;
	struct ga_buf missing; /* a directory that is not there: nothing below it is */
};

static bool stands_on_host(struct look *l, const char *path)
{
	cleanup_free char *dir = ga_path_parent(path);
	cleanup_close int fd = -1, parent = -1;

	if (l->missing.len && ga_path_inside(path, l->missing.ptr))
		return false;
	fd = ga_openat_beneath(l->project, path, O_PATH | O_NOFOLLOW, 0);
	if (fd >= 0)
		return true;
	if (errno == ENOENT && *dir) {
		parent = ga_openat_beneath(l->project, dir, O_PATH | O_NOFOLLOW, 0);
		if (parent < 0) {
			ga_buf_clear(&l->missing);
			ga_buf_adds(&l->missing, dir);
		}
	}
	/* behind a link or a file of the user's: a merge would have to replace that */
	return errno == ELOOP || errno == ENOTDIR;
}

static int would_overwrite(struct capture *c, struct look *l, struct rules *ru, const char *path,
			   bool *ret, struct ga_error *err)
{
	struct ga_entry e = { 0 };

	if (rules_ignored(ru, path, ret, err))
		return -1;
	if (*ret || l->project < 0 || !stands_on_host(l, path))
		return 0;
	/* tracked by now: then it is git's business to see the conflict */
	if (l->has_head && ga_tree_entry(c->e->repo, &l->head_tree, path, &e, err))
		return -1;
	*ret = e.mode == GA_MODE_NONE;
	return 0;
}

int find_overwritten(struct capture *c, const struct ga_changes *changes, struct ga_strv *ret,
		     struct ga_error *err)
{
	cleanup_close int project = open(c->s->project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *branch = NULL;
	struct look l = { .project = project, .missing = GA_BUF_INIT };
	struct ga_oid head, base_tree;
	struct rules ru;
	int rc = ga_repo_head(c->e->repo, &head, &branch, err);

	if (rc < 0 || ga_commit_tree(c->e->repo, &c->s->onto, &base_tree, err))
		return -1;
	l.has_head = !rc;
	if (l.has_head && ga_commit_tree(c->e->repo, &head, &l.head_tree, err))
		return -1;
	rules_init(&ru, c->e->repo, &base_tree, c->excludes.ptr,
		   ga_gitconfig_bool(c->e->config, "core.ignorecase", false));
	rc = 0;
	for (size_t i = 0; !rc && i < changes->n; i++) {
		const struct ga_change *ch = &changes->v[i];
		bool over = false;

		if (ch->old.mode != GA_MODE_NONE || ch->new.mode == GA_MODE_NONE)
			continue;
		rc = would_overwrite(c, &l, &ru, ch->path, &over, err);
		if (!rc && over)
			ga_strv_push(ret, ch->path);
	}
	rules_release(&ru);
	ga_buf_release(&l.missing);
	return rc;
}
