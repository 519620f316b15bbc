/* SPDX-License-Identifier: MIT
 *
 * The marks of the index, assume-unchanged and skip-worktree. Git forgets the first when it writes
 * the file, and takes a marked file that was merely touched for a changed one. So before git begins
 * they are taken off the files that are as committed, and afterwards they are set again. Meanwhile
 * a list of them is on the disk beside the session, so that they can be set even after a landing
 * that was killed, or that git left with conflicts. If marks are set while git waits for the user,
 * the list says on which content, so that the user can take them off. Another list is in the note,
 * for files that do not exist any more when the landing is undone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/trace.h"
#include "in-the-way.h"

#define MAGIC "git-agent marks 2"
#define LIST_MAX ((size_t)256 << 20)

struct mark {
	char letter;       /* as `git ls-files -v` prints it */
	struct ga_oid set; /* the blob it was set again on; zero: it is to be set */
	char *path;
};
struct marks {
	struct mark *v;
	size_t n, cap;
};

static void marks_release(struct marks *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].path);
	free(m->v);
	*m = (struct marks){ NULL, 0, 0 };
}
#define cleanup_marks cleanup_(marks_release)

static void add(struct marks *m, char letter, const char *path, const struct ga_oid *set)
{
	GA_GROW(m->v, m->n, m->cap);
	m->v[m->n++] = (struct mark){ .letter = letter, .set = *set, .path = ga_strdup(path) };
}

/* Add marks as struct land has them; none of them is set. */
static void add_all(struct marks *m, const struct ga_strv *marked)
{
	static const struct ga_oid none;

	for (size_t i = 0; i < marked->n; i++)
		add(m, *marked->v[i], marked->v[i] + 1, &none);
}

/* Each working tree has an index of its own, and so a list of its own. */
static char *pending_file(const struct land *l)
{
	return land_own_file(l, "marks");
}

static char *note_file(const struct land *l)
{
	return ga_strf("%s/%u/marks", l->notes, l->note);
}

/* ---- the list ------------------------------------------------------------------------ */

static int write_list(const char *file, const struct marks *m, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	ga_buf_add0(&b, MAGIC);
	for (size_t i = 0; i < m->n; i++) {
		ga_buf_addf(&b, "%c%s", m->v[i].letter, GA_HEX(&m->v[i].set));
		ga_buf_add0(&b, m->v[i].path);
	}
	return ga_write_atomic(AT_FDCWD, file, b.ptr, b.len, 0600, err);
}

static int fail_damaged(const char *file, struct ga_error *err)
{
	cleanup_free char *q = ga_quote_shell(file);

	(void)ga_fail(err, GA_EFATAL, "the list of marks is damaged");
	return ga_hint(err, "'rm %s' gives up what it says", q);
}

static bool parse(const struct ga_buf *b, struct marks *ret)
{
	size_t pos = 0;
	const char *s = ga_buf_next0(b, &pos);

	if (!s || strcmp(s, MAGIC) != 0)
		return false;
	while ((s = ga_buf_next0(b, &pos))) {
		struct ga_oid set;

		if ((!land_is_skipped(*s) && !land_is_assumed(*s)) ||
		    strnlen(s, 1 + GA_OID_HEXSZ) != 1 + GA_OID_HEXSZ ||
		    !ga_oid_parse(s + 1, GA_OID_HEXSZ, &set) ||
		    !ga_path_relative_ok(s + 1 + GA_OID_HEXSZ))
			return false;
		add(ret, *s, s + 1 + GA_OID_HEXSZ, &set);
	}
	return pos == b->len;
}

/* 1: there is none. */
static int read_list(const char *file, struct marks *ret, struct ga_error *err)
{
	cleanup_buf struct ga_buf b = GA_BUF_INIT;

	if (faccessat(AT_FDCWD, file, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return 1;
	if (ga_read_file_at(AT_FDCWD, file, LIST_MAX, &b, err))
		return -1;
	return parse(&b, ret) ? 0 : fail_damaged(file, err);
}

int land_note_marks(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = l->notes ? note_file(l) : NULL, *pending = pending_file(l);
	cleanup_marks struct marks m = { NULL, 0, 0 };

	if (!file)
		return 0;
	add_all(&m, &l->marked);
	if (!m.n && read_list(pending, &m, err) < 0)
		return -1;
	return m.n ? write_list(file, &m, err) : 0;
}

/* ---- in the index -------------------------------------------------------------------- */

struct index {
	struct marks entries;    /* sorted; `set` is the id of the entry */
	struct ga_strv unmerged; /* paths with conflicts */
};

static void index_release(struct index *i)
{
	marks_release(&i->entries);
	ga_strv_release(&i->unmerged);
}
#define INDEX_INIT { .unmerged = GA_STRV_INIT }

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct mark *)a)->path, ((const struct mark *)b)->path);
}

static int has_path(const void *path, const void *m)
{
	return strcmp(path, ((const struct mark *)m)->path);
}

static const struct mark *find(const struct index *index, const char *path)
{
	return index->entries.n ? bsearch(path, index->entries.v, index->entries.n,
					  sizeof(*index->entries.v), has_path) : NULL;
}

static int read_index(struct land *l, struct index *ret, struct ga_error *err)
{
	static const char *const args[] = { "ls-files", "-z", "-s", "-v", NULL };
	cleanup_buf struct ga_buf out = GA_BUF_INIT;
	const char *line, *path;
	struct ga_entry e;
	size_t pos = 0;

	if (land_ask_git(l, args, NULL, NULL, &out, err))
		return -1;
	while ((line = ga_buf_next0(&out, &pos))) {
		path = land_index_marked(line, &e);
		if (path && path[-2] == '0')
			add(&ret->entries, *line, path, &e.oid);
		else if (path)
			ga_strv_push(&ret->unmerged, path);
	}
	if (ret->entries.n)
		qsort(ret->entries.v, ret->entries.n, sizeof(*ret->entries.v), by_path);
	ga_strv_sort_unique(&ret->unmerged);
	return 0;
}

/* Run `git update-index` with an option on those marks that are of its kind and in the index. */
static int update(struct land *l, const char *option, const struct marks *m, bool of_kind(char c),
		  const struct index *index, struct ga_error *err)
{
	const char *const args[] = { "update-index", option, "-z", "--stdin", NULL };
	cleanup_buf struct ga_buf in = GA_BUF_INIT;

	for (size_t i = 0; i < m->n; i++)
		if (of_kind(m->v[i].letter) && find(index, m->v[i].path))
			ga_buf_add0(&in, m->v[i].path);
	return in.len ? land_ask_git(l, args, NULL, &in, NULL, err) : 0;
}

static int take_off(struct land *l, struct ga_error *err)
{
	cleanup_(index_release) struct index index = INDEX_INIT;
	cleanup_marks struct marks clean = { NULL, 0, 0 };
	static const struct ga_oid none;

	ga_strv_sort_unique(&l->hidden);
	for (size_t i = 0; i < l->marked.n; i++)
		if (ga_strv_find(&l->hidden, l->marked.v[i] + 1) < 0)
			add(&clean, *l->marked.v[i], l->marked.v[i] + 1, &none);
	return read_index(l, &index, err) ||
	       update(l, "--no-assume-unchanged", &clean, land_is_assumed, &index, err) ||
	       update(l, "--no-skip-worktree", &clean, land_is_skipped, &index, err) ? -1 : 0;
}

int land_unmark(struct land *l, struct ga_error *err)
{
	cleanup_free char *file = pending_file(l);
	cleanup_marks struct marks m = { NULL, 0, 0 };

	if (!l->marked.n)
		return 0;
	add_all(&m, &l->marked);
	return write_list(file, &m, err) || take_off(l, err) ||
	       ga_fault_stop("land:unmarked", err) ? -1 : 0;
}

int land_unmark_gone(struct land *l, struct ga_error *err)
{
	cleanup_(index_release) struct index index = INDEX_INIT;
	cleanup_free char *file = note_file(l);
	cleanup_marks struct marks noted = { NULL, 0, 0 };
	int rc = read_list(file, &noted, err);

	if (rc < 0 || (!rc && read_index(l, &index, err)))
		return -1;
	/* if a path is in the index, its entry says what the user wants */
	for (size_t i = 0; i < noted.n; i++)
		if (!find(&index, noted.v[i].path))
			ga_strv_take(&l->marked,
				     ga_strf("%c%s", noted.v[i].letter, noted.v[i].path));
	return land_unmark(l, err);
}

int land_unmark_left(struct land *l, struct ga_error *err)
{
	cleanup_(land_found_release) struct land_found f = { .all = GA_STRV_INIT };
	cleanup_(index_release) struct index index = INDEX_INIT;
	cleanup_marks struct marks pending = { NULL, 0, 0 };
	cleanup_free char *file = pending_file(l);
	int rc = read_list(file, &pending, err);

	if (rc < 0 || read_index(l, &index, err) || way_hidden(l, &f, err))
		return -1;
	ga_strv_extend(&l->marked, &f.marked);
	ga_strv_extend(&l->hidden, &f.hidden);
	ga_strv_extend(&l->hidden, &f.changed);
	for (size_t i = 0; i < pending.n; i++)
		if (!find(&index, pending.v[i].path))
			ga_strv_take(&l->marked,
				     ga_strf("%c%s", pending.v[i].letter, pending.v[i].path));
	return land_unmark(l, err);
}

/* ---- set again ----------------------------------------------------------------------- */

/* Is the mark to be set? If it was set and is gone on the same content, the user took it off, and
 * m->letter loses it; what git wrote since is marked anew. */
static bool is_due(struct mark *m, const struct mark *is)
{
	bool skip = land_is_skipped(m->letter), assume = land_is_assumed(m->letter);

	if (!ga_oid_equal(&m->set, &is->set)) {
		m->set = is->set;
		return true;
	}
	skip &= land_is_skipped(is->letter);
	assume &= land_is_assumed(is->letter);
	m->letter = skip ? assume ? 's' : 'S' : assume ? 'h' : '\0';
	return false;
}

/* `due` receives the marks that are to be set now; those that the user took off leave the list. */
static void sort_out(struct marks *list, const struct index *index, struct marks *due)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct mark *m = &list->v[i];
		const struct mark *is = find(index, m->path);

		if (is && is_due(m, is))
			add(due, m->letter, m->path, &m->set);
		if (m->letter)
			list->v[n++] = *m;
		else
			free(m->path);
	}
	list->n = n;
}

static int set_again(struct land *l, const char *file, struct ga_strv *ret_unmerged,
		     struct ga_error *err)
{
	cleanup_(index_release) struct index index = INDEX_INIT;
	cleanup_marks struct marks list = { NULL, 0, 0 }, due = { NULL, 0, 0 };
	int rc = read_list(file, &list, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (read_index(l, &index, err))
		return -1;
	sort_out(&list, &index, &due);
	if (update(l, "--assume-unchanged", &due, land_is_assumed, &index, err) ||
	    update(l, "--skip-worktree", &due, land_is_skipped, &index, err))
		return -1;
	for (size_t i = 0; ret_unmerged && i < list.n; i++)
		if (ga_strv_find(&index.unmerged, list.v[i].path) >= 0)
			ga_strv_push(ret_unmerged, list.v[i].path);
	/* paths with conflicts are marked once they are resolved */
	if (index.unmerged.n || land_is_to_go_on(l))
		return write_list(file, &list, err);
	return unlink(file) ? ga_fail_errno(err, GA_EFATAL, errno, "cannot remove the list of "
					    "marks") : 0;
}

static int mark_again(struct land *l, struct ga_strv *ret_unmerged, struct ga_error *err)
{
	cleanup_free char *file = pending_file(l);

	if (!set_again(l, file, ret_unmerged, err))
		return 0;
	(void)ga_error_wrap(err, "marks of the index (assume-unchanged, skip-worktree) could not "
			    "be set again");
	return err->hint ? -1 : ga_hint(err, "the next landing of agent/%s tries again",
					l->s->name);
}

int land_mark_again(struct land *l, struct ga_error *err)
{
	return mark_again(l, NULL, err);
}

int ga_land_settle_marks(struct ga_repo *r, struct ga_session *s, struct ga_strv *ret_unmerged,
			 struct ga_error *err)
{
	struct land l = { .repo = r, .s = s };
	cleanup_free char *file = pending_file(&l);
	cleanup_close int lock = -1;

	if (access(file, F_OK) && errno == ENOENT)
		return 0;
	lock = land_begin(r, err);
	return lock < 0 ? -1 : mark_again(&l, ret_unmerged, err);
}

/* ---- of other working trees ------------------------------------------------------------ */

static int fail_elsewhere(struct land *l, const char *worktree, struct ga_error *err)
{
	cleanup_free char *q = ga_escape(worktree);

	(void)ga_fail(err, GA_ELOSE, "marks of the index (assume-unchanged, skip-worktree) are "
		      "still to be set in %s%s%s", *worktree ? "the working tree '" : "the main "
		      "working tree", q, *worktree ? "'" : "");
	return ga_hint(err, "'git agent drop %s' there sets them ('git worktree list' shows where "
			    "it is)", l->s->name);
}

int land_check_marks_elsewhere(struct land *l, struct ga_error *err)
{
	cleanup_strv struct ga_strv worktrees = GA_STRV_INIT;

	if (land_worktrees_with(l, "marks", &worktrees, err))
		return -1;
	for (size_t i = 0; i < worktrees.n; i++) {
		cleanup_free char *path = land_worktree_path(l, worktrees.v[i]);

		if (path && strcmp(worktrees.v[i], land_worktree(l)) != 0)
			return fail_elsewhere(l, worktrees.v[i], err);
	}
	return 0;
}
