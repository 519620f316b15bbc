/* SPDX-License-Identifier: MIT
 *
 * Marks of the index, assume-unchanged and skip-worktree: git forgets them where it writes the
 * file, and takes a marked file that was only touched for a changed one. So they are taken off
 * files that are as committed before git begins, and set again when it is done. Until then a list
 * of them is on the disk beside the session: whoever comes after one that was killed, or that git
 * left with conflicts, sets them. Another is in the note, for files that are not there any more
 * when the landing is undone.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/trace.h"
#include "land-internal.h"

#define MAGIC "git-agent marks 1"
#define LIST_MAX ((size_t)256 << 20)

/* Of a letter of `git ls-files -v`. */
static bool is_skipped(char c)
{
	return c == 'S' || c == 's';
}

static bool is_assumed(char c)
{
	return c >= 'a' && c <= 'z';
}

/* Of this working tree: each has an index of its own. */
static char *pending_file(const struct land *l)
{
	const char *worktree = land_worktree(l);

	return ga_strf("%s/marks%s%s", l->s->dir, *worktree ? "-" : "", worktree);
}

/* Of a rebase that stopped there may be commits to come, which git has nothing else to say of. */
static bool is_to_go_on(const struct land *l)
{
	cleanup_free char *todo = ga_path_join(ga_repo_info(l->repo)->gitdir, "sequencer/todo");

	return ga_repo_operation(l->repo) || !access(todo, F_OK);
}

static char *note_file(const struct land *l)
{
	return ga_strf("%s/%u/marks", l->notes, l->note);
}

/* ---- the list ------------------------------------------------------------------------ */

static int write_list(const char *file, const struct ga_strv *marked, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_add0(&b, MAGIC);
	for (size_t i = 0; i < marked->n; i++)
		ga_buf_add0(&b, marked->v[i]);
	return ga_write_atomic(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

/* 1: there is none. */
static int read_list(const char *file, struct ga_strv *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	const char *s;
	size_t pos = 0;

	if (faccessat(AT_FDCWD, file, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return 1;
	if (ga_read_file_at(AT_FDCWD, file, LIST_MAX, &b, err))
		return -1;
	s = ga_buf_next0(&b, &pos);
	if (!s || strcmp(s, MAGIC) != 0)
		return ga_fail(err, GA_EFATAL, "the list of marks is damaged");
	while ((s = ga_buf_next0(&b, &pos))) {
		if ((!is_skipped(*s) && !is_assumed(*s)) || !ga_path_relative_ok(s + 1))
			return ga_fail(err, GA_EFATAL, "the list of marks is damaged");
		ga_strv_push(ret, s);
	}
	return pos == b.len ? 0 : ga_fail(err, GA_EFATAL, "the list of marks is damaged");
}

int land_note_marks(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = l->notes ? note_file(l) : NULL, *pending = pending_file(l);

	if (!file || (!l->marked.n && read_list(pending, &l->marked, err) < 0))
		return file ? -1 : 0;
	return l->marked.n ? write_list(file, &l->marked, err) : 0;
}

/* ---- in the index -------------------------------------------------------------------- */

struct index {
	struct ga_strv paths;    /* it has these, sorted ... */
	struct ga_strv unmerged; /* ... and these */
};

static void index_release(struct index *i)
{
	ga_strv_release(&i->paths);
	ga_strv_release(&i->unmerged);
}

static int read_index(struct land *l, struct index *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line, *path;
	struct ga_entry e;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		path = land_index_entry(line, &e);
		if (path && path[-2] == '0')
			ga_strv_push(&ret->paths, path);
		else if (path)
			ga_strv_push(&ret->unmerged, path);
	}
	ga_strv_sort_unique(&ret->paths);
	ga_strv_sort_unique(&ret->unmerged);
	return 0;
}

/* An option of `git update-index` for those of the list that are of its kind. */
static int update(struct land *l, const char *option, const struct ga_strv *marked,
		  bool of_kind(char c), const struct index *index, struct ga_error *err)
{
	const char *const args[] = { "update-index", option, "-z", "--stdin", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	for (size_t i = 0; i < marked->n; i++) {
		const char *path = marked->v[i] + 1;

		if (of_kind(*marked->v[i]) && ga_strv_find(&index->paths, path) >= 0)
			ga_buf_add0(&in, path);
	}
	return in.len ? land_ask_git(l, args, NULL, &in, NULL, err) : 0;
}

static int take_off(struct land *l, struct ga_error *err)
{
	cleanup_(index_release) struct index index = { .paths = GA_STRV_INIT };
	cleanup_strv struct ga_strv clean = GA_STRV_INIT;

	ga_strv_sort_unique(&l->hidden);
	for (size_t i = 0; i < l->marked.n; i++)
		if (ga_strv_find(&l->hidden, l->marked.v[i] + 1) < 0)
			ga_strv_push(&clean, l->marked.v[i]);
	return read_index(l, &index, err) ||
	       update(l, "--no-assume-unchanged", &clean, is_assumed, &index, err) ||
	       update(l, "--no-skip-worktree", &clean, is_skipped, &index, err) ? -1 : 0;
}

int land_unmark(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = pending_file(l);

	if (!l->marked.n)
		return 0;
	return write_list(file, &l->marked, err) || take_off(l, err) ||
	       ga_fault_stop("land:unmarked", err) ? -1 : 0;
}

int land_unmark_gone(struct land *l, struct ga_error *err)
{
	cleanup_(index_release) struct index index = { .paths = GA_STRV_INIT };
	cleanup_free char *file = note_file(l);
	cleanup_strv struct ga_strv noted = GA_STRV_INIT;
	int rc = read_list(file, &noted, err);

	if (rc < 0 || (!rc && read_index(l, &index, err)))
		return -1;
	/* of those that are there the index says what the user wants */
	for (size_t i = 0; i < noted.n; i++)
		if (ga_strv_find(&index.paths, noted.v[i] + 1) < 0)
			ga_strv_push(&l->marked, noted.v[i]);
	return land_unmark(l, err);
}

int land_mark_again(struct land *l, struct ga_error *err)
{
	cleanup_(index_release) struct index index = { .paths = GA_STRV_INIT };
	cleanup_free char *file = pending_file(l);
	cleanup_strv struct ga_strv marked = GA_STRV_INIT;
	int rc = read_list(file, &marked, err);

	if (!rc && (read_index(l, &index, err) ||
		    update(l, "--assume-unchanged", &marked, is_assumed, &index, err) ||
		    update(l, "--skip-worktree", &marked, is_skipped, &index, err)))
		rc = -1;
	if (rc < 0) {
		(void)ga_error_wrap(err, "marks of the index (assume-unchanged, skip-worktree) "
				    "could not be set again");
		return ga_hint(err, "the next landing of agent/%s tries again", l->s->name);
	}
	/* what git left to be resolved is marked when it is */
	if (rc || index.unmerged.n || is_to_go_on(l))
		return 0;
	return unlink(file) ? ga_fail_errno(err, GA_EFATAL, errno, "cannot remove the list of "
					    "marks") : 0;
}
