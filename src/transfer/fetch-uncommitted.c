/* SPDX-License-Identifier: MIT
 *
 * Fetch a remote session's changes to uncommitted work: a patch against the snapshot that was sent,
 * applied in an index. The result becomes the uncommitted part of the fetched session.
 */
#include "transfer-internal.h"
#include "ga/repo/history.h"
#include "ga/session/session.h"

#define APPLY_MS 600000

/* Copy the snapshot from the objects of the record to those of the session. */
static int copy_snapshot(struct ga_env *e, const struct ga_fetch_opts *o,
			 struct ga_repo *to, const char *dir, struct ga_error *err)
{
	static const char *const pack[] = { "pack-objects", "--quiet", "--revs", "--stdout", NULL };
	static const char *const unpack[] = { "unpack-objects", "-q", NULL };
	cleanup_repo struct ga_repo *from = NULL;
	cleanup_buf struct ga_buf revs = GA_BUF_INIT;
	cleanup_close int fd = ga_scratch_file(dir, err);
	struct ga_git g = GA_GIT(.args = pack);

	if (fd < 0 || ga_repo_open_private(e->repo, o->objects, &from, err))
		return -1;
	ga_buf_addf(&revs, "%s\n", GA_HEX(o->snapshot));
	ga_buf_addf(&revs, "^%s\n", GA_HEX(o->base));
	g.in = revs.ptr;
	g.in_len = revs.len;
	g.out_fd = fd;
	if (ga_git_ok(from, &g, err))
		return -1;
	if (lseek(fd, 0, SEEK_SET))
		return ga_fail(err, GA_EFATAL, "cannot read the snapshot");
	g = (struct ga_git)GA_GIT(.args = unpack);
	g.in_fd = fd;
	return ga_git_ok(to, &g, err);
}

/* The tree of the snapshot with the patch applied. The working tree is not used. */
static int apply(struct ga_repo *private, const struct ga_fetch_opts *o, const char *index,
		 struct ga_oid *ret, struct ga_error *err)
{
	const char *const read[] = { "read-tree", GA_HEX(o->snapshot), NULL };
	static const char *const put[] = { "apply", "--cached", "--whitespace=nowarn", "-", NULL };
	static const char *const write[] = { "write-tree", NULL };
	cleanup_buf struct ga_buf id = GA_BUF_INIT;
	const struct ga_git steps[] = {
		GA_GIT(.args = read, .index_file = index),
		GA_GIT(.args = put, .index_file = index, .in = o->patch->ptr,
		       .in_len = o->patch->len, .timeout_ms = APPLY_MS),
		GA_GIT(.args = write, .index_file = index, .out = &id),
	};

	for (size_t i = 0; i < GA_NELEMS(steps); i++)
		if (ga_git_ok(private, &steps[i], err))
			return -1;
	ga_buf_chomp(&id);
	return ga_oid_parse(id.ptr, id.len, ret) ? 0 : ga_fail(err, GA_EFATAL, "git wrote no tree");
}

static int flag(struct ga_env *e, const struct ga_fetch_opts *o, struct ga_repo *private,
		const struct ga_oid *old, const struct ga_oid *seen,
		const struct ga_changes *changes, struct ga_report *r, struct ga_error *err)
{
	cleanup_host_facts struct ga_host_facts facts = GA_HOST_FACTS_INIT;
	cleanup_risk_paths struct ga_risk_paths paths = GA_RISK_PATHS_INIT;
	cleanup_flags struct ga_flags flags = GA_FLAGS_INIT;

	if (o->risk(o->payload, o->base, &paths, err) ||
	    ga_host_facts_gather(e->repo, &e->config, &paths, &facts, err) ||
	    ga_commit_tree(e->repo, o->base, &facts.attributes_tree, err) ||
	    ga_classify(private, &facts, old, seen, changes, &flags, err))
		return -1;
	ga_report_add_flags(r, GA_FROM_SESSION, &flags, NULL);
	return 0;
}

int fetch_uncommitted(struct ga_env *e, const struct ga_fetch_opts *o,
		      struct ga_session *s, struct ga_report *r, struct ga_error *err)
{
	cleanup_free char *objects = ga_wip_objects(s), *index = ga_path_join(s->dir, "index");
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_repo struct ga_repo *private = NULL;
	struct ga_oid old, seen;
	int rc;

	if (ga_repo_open_private(e->repo, objects, &private, err) ||
	    ga_repo_use_private(private, objects, err) ||
	    copy_snapshot(e, o, private, s->dir, err))
		return -1;
	s->id.base = *o->snapshot;
	rc = o->patch->len ? apply(private, o, index, &seen, err)
			   : ga_commit_tree(private, o->snapshot, &seen, err);
	(void)unlink(index);
	if (rc || ga_commit_tree(private, o->snapshot, &old, err) ||
	    ga_tree_diff(private, &old, &seen, &changes, err) ||
	    flag(e, o, private, &old, &seen, &changes, r, err))
		return -1;
	s->view.tree = seen;
	for (size_t i = 0; i < changes.n; i++)
		ga_strv_push(&r->left_out, changes.v[i].path);
	if (changes.n) {
		r->shown = *o->snapshot;
		r->seen = seen;
	}
	return 0;
}
