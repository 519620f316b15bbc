/* SPDX-License-Identifier: MIT
 *
 * What capture reads of the user's own files: patterns, and whether something
 * stands where the branch would put a file.
 */
#include <errno.h>
#include <fcntl.h>

#include "capture-internal.h"
#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/path.h"
#include "upper-internal.h"

static int add_file(const char *path, struct ga_buf *out, struct ga_error *err)
{
	return path ? ga_user_file_read(path, GA_RULES_MAX, out, err) : 0;
}

int read_host_patterns(struct capture *c, struct ga_error *err)
{
	const struct ga_gitconfig *conf = c->e->config;
	struct ga_repo *r = c->e->repo;
	const char *common = ga_repo_info(r)->commondir;
	cleanup_free char *exclude = ga_path_join(common, "info/exclude");
	cleanup_free char *attributes = ga_path_join(common, "info/attributes");
	cleanup_free char *user_excludes = NULL, *user_attributes = NULL;

	if (ga_user_file(r, conf, "core.excludesfile", "ignore", &user_excludes, err) ||
	    ga_user_file(r, conf, "core.attributesfile", "attributes", &user_attributes, err))
		return -1;
	/* the last match decides, so the repository's own come last */
	if (add_file(user_excludes, &c->excludes, err) || add_file(exclude, &c->excludes, err) ||
	    add_file(user_attributes, &c->attributes, err) ||
	    add_file(attributes, &c->info_attributes, err))
		return -1;
	/* others (diff, merge, export) have no say in what content becomes; once something has,
	 * all lines count: "binary" says that there is nothing to convert */
	c->host_converts = attributes_convert(c->attributes.ptr, c->attributes.len) ||
			   attributes_convert(c->info_attributes.ptr, c->info_attributes.len);
	return 0;
}

/* ---- what a merge would write over ------------------------------------- */

struct look {
	int project;
	struct ga_oid head_tree;
	bool has_head;
	struct ga_buf missing; /* a directory that is not there: nothing below it is */
};

/* Does HEAD have a file or link above the path? */
static int tracked_above(struct capture *c, const struct look *l, const char *path, bool *ret,
			 struct ga_error *err)
{
	cleanup_free char *at = ga_path_parent(path);

	*ret = false;
	while (l->has_head && *at && !*ret) {
		char *up = ga_path_parent(at);
		struct ga_entry e = { 0 };
		int rc = ga_tree_entry(c->e->repo, &l->head_tree, at, &e, err);

		free(at);
		at = up;
		if (rc)
			return -1;
		*ret = e.mode == GA_MODE_FILE || e.mode == GA_MODE_EXEC || e.mode == GA_MODE_LINK;
	}
	return 0;
}

/* Is there anything at the path that git would not see as tracked? */
static int stands_untracked(struct capture *c, struct look *l, const char *path, bool *ret,
			    struct ga_error *err)
{
	cleanup_free char *dir = ga_path_parent(path);
	cleanup_close int fd = -1, parent = -1;
	struct ga_entry e = { 0 };
	bool above;

	*ret = false;
	if (l->missing.len && ga_path_inside(path, l->missing.ptr))
		return 0;
	fd = ga_openat_beneath(l->project, path, O_PATH | O_NOFOLLOW, 0);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR)) {
		/* behind a link or a file of the user's: a merge would have to replace that */
		if (tracked_above(c, l, path, &above, err))
			return -1;
		*ret = !above;
		return 0;
	}
	if (fd < 0 && errno == ENOENT && *dir) {
		parent = ga_openat_beneath(l->project, dir, O_PATH | O_NOFOLLOW, 0);
		if (parent < 0) {
			ga_buf_clear(&l->missing);
			ga_buf_adds(&l->missing, dir);
		}
	}
	/* tracked by now: then it is git's business to see the conflict */
	if (fd >= 0 && l->has_head && ga_tree_entry(c->e->repo, &l->head_tree, path, &e, err))
		return -1;
	*ret = fd >= 0 && e.mode == GA_MODE_NONE;
	return 0;
}

static int would_overwrite(struct capture *c, struct look *l, struct rules *ru, const char *path,
			   bool *ret, struct ga_error *err)
{
	if (rules_ignored(ru, path, ret, err))
		return -1;
	return *ret || l->project < 0 ? 0 : stands_untracked(c, l, path, ret, err);
}

/* Asked for each commit, and said once, if the walk has not. */
static void note_rules(struct capture *c)
{
	if (!(c->met >> GA_LIMIT_RULES_SIZE & 1))
		ga_strv_take(&c->notes,
			     limit_met(c, GA_LIMIT_RULES_SIZE,
				       "a .gitignore of the base is too long to be read"));
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
		   ga_gitconfig_bool(c->e->config, "core.ignorecase", false),
		   c->e->limits->rules_size);
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
	if (ru.too_long)
		note_rules(c);
	rules_release(&ru);
	ga_buf_release(&l.missing);
	return rc;
}
