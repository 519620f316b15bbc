/* SPDX-License-Identifier: MIT
 *
 * Roll back what git did of going from one commit to another when it was stopped in the middle. Git is
 * asked which files are as the new one has them and which as the old one has them, by its index; what is
 * neither, nor a beginning of what git was writing, is somebody else's and stays.
 */
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/trace.h"
#include "landing.h"

static int run(struct ga_repo *r, const struct ga_gitconfig *c, const char *const *args,
	       const struct ga_buf *in, struct ga_buf *out, struct ga_error *err)
{
	cleanup_strv struct ga_strv config = GA_STRV_INIT;
	struct ga_git g = GA_GIT_INIT;

	ga_gitconfig_push_filters(c, ga_repo_info(r)->workdir, &config);
	g.args = args;
	g.config = (const char *const *)config.v;
	g.work_tree = ga_repo_info(r)->workdir;
	g.in = in ? in->ptr : NULL;
	g.in_len = in ? in->len : 0;
	g.out = out;
	return ga_git_ok(r, &g, err);
}

int land_read_filtered(struct ga_repo *r, const struct ga_gitconfig *c, const char *path,
		       const struct ga_oid *blob, struct ga_buf *ret, struct ga_error *err)
{
	cleanup_free char *option = ga_strf("--path=%s", path);
	const char *const args[] = { "cat-file", "--filters", option, GA_HEX(blob), NULL };

	return run(r, c, args, NULL, ret, err);
}

/* Move the index from one tree to the other, whatever of that it has already, and list the files that
 * are not as it has them. What the user staged in other paths stays. */
static int move_index(struct ga_repo *r, const struct ga_gitconfig *c, const struct ga_oid *from,
		      const struct ga_oid *to, struct ga_strv *ret, struct ga_error *err)
{
	const char *const move[] = { "read-tree", "-m", GA_HEX(from), GA_HEX(to), NULL };
	const char *const reset[] = { "read-tree", "--reset", GA_HEX(to), NULL };
	static const char *const refresh[] = { "update-index", "-q", "--refresh", NULL };
	static const char *const list[] = { "diff-files", "--name-only", "-z",
					    "--ignore-submodules", NULL };
	cleanup_error struct ga_error unmerged = GA_ERROR_INIT, ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *path;
	size_t pos = 0;

	/* only a merge of git's leaves unmerged entries, and that began with a clean index */
	if (run(r, c, move, NULL, NULL, &unmerged) && run(r, c, reset, NULL, NULL, err))
		return -1;
	(void)run(r, c, refresh, NULL, NULL, &ignored);
	if (run(r, c, list, NULL, &out, err))
		return -1;
	while ((path = ga_buf_next0(&out, &pos)))
		ga_strv_push(ret, path);
	ga_strv_sort_unique(ret);
	return 0;
}

/* Are the bytes of the file a beginning of those that git was writing? */
static bool is_beginning(struct ga_repo *r, const struct ga_gitconfig *c, int root,
			 const struct ga_change *ch)
{
	cleanup_buf struct ga_buf now = GA_BUF_INIT, whole = GA_BUF_INIT;
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	return (ch->new.mode == GA_MODE_FILE || ch->new.mode == GA_MODE_EXEC) &&
	       !land_open_here(root, ch->path, &h) && h.fd >= 0 &&
	       !land_read_filtered(r, c, ch->path, &ch->new.oid, &whole, &ignored) &&
	       h.size < whole.len && !ga_read_fd(h.fd, whole.len, &now, &ignored) &&
	       !memcmp(now.ptr, whole.ptr, now.len);
}

/* Remove the file if git wrote it, or add it to those that git is to write again. */
static int restore(struct ga_repo *r, const struct ga_gitconfig *c, int root,
		   const struct ga_change *ch, bool is_new, struct ga_buf *again,
		   struct ga_strv *left, struct ga_error *err)
{
	struct land_look now;

	if (ch->old.mode == GA_MODE_GITLINK || ch->new.mode == GA_MODE_GITLINK)
		return 0;
	if (!land_look_here(root, ch->path, &now) ||
	    (now.mode && !is_new && !is_beginning(r, c, root, ch)) ||
	    (!now.mode && land_dir_here(root, ch->path) && land_remove_hollow(root, ch->path))) {
		ga_strv_push(left, ch->path);
		return 0;
	}
	if (ch->old.mode)
		ga_buf_add0(again, ch->path);
	else if (now.mode)
		return land_remove(root, ch->path, &now, err);
	return 0;
}

int land_roll_back(struct ga_repo *r, const struct ga_gitconfig *c, const struct record *rec,
		   const struct ga_oid *from, const struct ga_oid *to, struct ga_strv *left,
		   struct ga_error *err)
{
	static const char *const write[] = { "checkout-index", "-f", "-q", "-u", "-z", "--stdin",
					     NULL };
	cleanup_strv struct ga_strv not_new = GA_STRV_INIT, not_old = GA_STRV_INIT;
	cleanup_changes struct ga_changes changes = GA_CHANGES_INIT;
	cleanup_close int root = land_open_root(r, err);
	cleanup_buf struct ga_buf again = GA_BUF_INIT;

	if (root < 0 || ga_tree_diff(r, from, to, &changes, err) || land_remove_locks(r, rec, err) ||
	    move_index(r, c, from, to, &not_new, err) ||
	    ga_fault_stop("land:index-moved", err) ||
	    move_index(r, c, to, from, &not_old, err) || ga_fault_stop("land:index-restored", err))
		return -1;
	/* what goes away before what comes: a file and a directory may have changed places */
	for (int comes = 0; comes < 2; comes++)
		for (size_t i = 0; i < changes.n; i++) {
			const struct ga_change *ch = &changes.v[i];
			bool is_new = ch->new.mode && ga_strv_find(&not_new, ch->path) < 0;

			if (comes == (ch->old.mode != 0) &&
			    (!comes || ga_strv_find(&not_old, ch->path) >= 0) &&
			    restore(r, c, root, ch, is_new, &again, left, err))
				return -1;
		}
	return again.len ? run(r, c, write, &again, NULL, err) : 0;
}
