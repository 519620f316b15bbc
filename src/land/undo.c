/* SPDX-License-Identifier: MIT
 *
 * Taking a landing back. Before one touches anything a note of it is made: where HEAD was, and the
 * files that are going to be written without a commit, as they are. It is a commit on the session's
 * ref "undo", whose parents are that HEAD and, if the session had landed before, the former note.
 * Its tree holds "record", words that end in NUL, and the files' bytes as "had/NUMBER".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/journal.h"
#include "ga/json.h"
#include "ga/objects.h"
#include "ga/parse.h"
#include "ga/path.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "land-internal.h"

#define MAGIC "git-agent landing 1"
#define RECORD_MAX ((size_t)64 << 20)
#define FILE_MAX ((size_t)64 << 20) /* what --force overwrites is kept up to that */
#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)

/* How a file stands in the working tree: its bytes as they are, not as git would store them. */
struct look {
	mode_t mode; /* type and permissions; 0: nothing is there */
	struct ga_oid oid;
};

struct undo_file {
	char *path;
	mode_t had;       /* before */
	struct look will; /* after */
};

struct undo {
	struct ga_oid head;    /* before */
	char *ref;             /* the branch HEAD was on; "" none */
	struct ga_oid landed;  /* what had brought the session before; zero: nothing */
	struct ga_oid former;  /* the note of that; zero: none */
	struct ga_strv left_out;
	struct undo_file *files;
	size_t n, cap;
};

static void undo_release(struct undo *u)
{
	free(u->ref);
	ga_strv_release(&u->left_out);
	for (size_t i = 0; i < u->n; i++)
		free(u->files[i].path);
	free(u->files);
}

static int open_root(const struct ga_repo *r, struct ga_error *err)
{
	int fd = open(ga_repo_info(r)->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree") : fd;
}

/* ---- how it stands ----------------------------------------------------------- */

/* A link's target, or a file's bytes; `*ret_mode` 0 if nothing is there. Returns 1 for anything
 * else, and for what cannot be read or is longer than is kept. */
static int read_here(int root, const char *path, mode_t *ret_mode, struct ga_buf *ret)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0), in = -1;
	struct stat st;
	ssize_t n;

	*ret_mode = 0;
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (fstat(fd, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", ga_buf_reserve(ret, PATH_MAX), PATH_MAX);
		if (n < 0)
			return 1;
		ret->len += (size_t)n;
		ret->ptr[ret->len] = '\0';
	} else if (S_ISREG(st.st_mode)) {
		in = ga_openat_beneath(root, path, READ_FLAGS, 0);
		if (in < 0 || ga_read_fd(in, FILE_MAX, ret, &ignored))
			return 1;
	} else {
		return 1;
	}
	*ret_mode = st.st_mode & (S_IFMT | 07777);
	return 0;
}

/* Permissions but for the owner's right to execute are no difference: an umask may do that. */
static bool same_kind(mode_t a, mode_t b)
{
	return (a & S_IFMT) == (b & S_IFMT) && (S_ISLNK(a) || !((a ^ b) & S_IXUSR));
}

/* Does it stand there as `want` says? An error is no. */
static bool stands(int root, const char *path, const struct look *want)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;
	cleanup_buf struct ga_buf bytes = GA_BUF_INIT;
	struct ga_oid oid;
	mode_t mode;

	if (read_here(root, path, &mode, &bytes))
		return false;
	if (!mode || !want->mode)
		return !mode && !want->mode;
	return same_kind(mode, want->mode) &&
	       !ga_blob_id_of(bytes.ptr, bytes.len, &oid, &ignored) &&
	       ga_oid_equal(&oid, &want->oid);
}

/* ---- the note ------------------------------------------------------------------ */

static mode_t mode_of(uint32_t git_mode)
{
	switch (git_mode) {
	case GA_MODE_FILE:
		return S_IFREG | 0644;
	case GA_MODE_EXEC:
		return S_IFREG | 0755;
	case GA_MODE_LINK:
		return S_IFLNK;
	default:
		return 0;
	}
}

struct note {
	struct land *l;
	int root;
	struct ga_buf record;
	struct ga_changes tree;
	size_t n;
};

static void put_number(struct ga_buf *b, uint64_t n)
{
	ga_buf_addf(b, "%" PRIu64, n);
	ga_buf_addch(b, '\0');
}

static void put_oid(struct ga_buf *b, const struct ga_oid *oid)
{
	ga_buf_add0(b, GA_HEX(oid));
}

static int add_blob(struct note *n, const char *name, const struct ga_buf *bytes,
		    struct ga_error *err)
{
	static const struct ga_entry none = { .mode = GA_MODE_NONE };
	struct ga_entry e = { .mode = GA_MODE_FILE };

	if (ga_blob_write(n->l->repo, bytes->ptr, bytes->len, &e.oid, err))
		return -1;
	(void)ga_changes_add(&n->tree, name, &none, &e);
	return 0;
}

static int add_file(struct note *n, const char *path, const struct ga_entry *will,
		    const struct ga_buf *will_bytes, struct ga_error *err)
{
	cleanup_buf struct ga_buf bytes = GA_BUF_INIT;
	cleanup_free char *name = ga_strf("had/%zu", n->n++);
	struct ga_oid oid = will->oid;
	mode_t mode;

	if (read_here(n->root, path, &mode, &bytes)) {
		cleanup_free char *q = ga_escape(path);

		return ga_fail(err, GA_ELOSE, "'%s' cannot be kept for undoing", q);
	}
	if (will_bytes && ga_blob_id_of(will_bytes->ptr, will_bytes->len, &oid, err))
		return -1;
	ga_buf_add0(&n->record, path);
	put_number(&n->record, mode);
	put_number(&n->record, mode_of(will->mode));
	put_oid(&n->record, &oid);
	return mode ? add_blob(n, name, &bytes, err) : 0;
}

static int add_files(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;

	for (size_t i = 0; i < l->carries.n; i++) {
		const struct land_carry *c = &l->carries.v[i];

		if (!ga_entry_equal(&c->had, &c->will) &&
		    add_file(n, c->path, &c->will, &c->bytes, err))
			return -1;
	}
	for (size_t i = 0; i < l->ignored.n; i++)
		if (!ga_entry_equal(&l->ignored_had[i], &l->ignored_will[i]) &&
		    add_file(n, l->ignored.v[i].path, &l->ignored_will[i], NULL, err))
			return -1;
	return 0;
}

static void put_state(struct note *n, const char *branch)
{
	const struct ga_session *s = n->l->s;

	ga_buf_add0(&n->record, MAGIC);
	put_oid(&n->record, &n->l->head);
	ga_buf_add0(&n->record, branch ? branch : "");
	put_oid(&n->record, &s->landed);
	put_number(&n->record, s->left_out.n);
	for (size_t i = 0; i < s->left_out.n; i++)
		ga_buf_add0(&n->record, s->left_out.v[i]);
}

/* The note before this one, if what it tells of still stands. */
static int find_former(struct land *l, const char *ref, struct ga_oid *ret, struct ga_error *err)
{
	int rc = ga_ref_read(l->repo, ref, ret, err);

	return rc < 0 ? -1 : !rc && l->s->state == GA_STATE_LANDED;
}

static int write_note(struct note *n, struct ga_error *err)
{
	struct land *l = n->l;
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *ref = ga_session_ref(l->s, "undo"), *who = NULL;
	cleanup_free char *reason = ga_strf("agent: land %s", l->s->name);
	struct ga_oid parents[2] = { l->head }, commit;
	struct ga_commit c = { .parents = parents, .n_parents = 1, .extra = (char[]){ "" },
			       .message = (char[]){ "What a landing found\n" } };
	int former = find_former(l, ref, &parents[1], err);

	if (former < 0 || add_blob(n, "record", &n->record, err))
		return -1;
	c.n_parents += (size_t)former;
	ga_changes_sort(&n->tree);
	who = ga_strf("git-agent <git-agent> %" PRIu64 " +0000", (uint64_t)time(NULL));
	c.author = c.committer = who;
	if (ga_tree_apply(l->repo, NULL, NULL, &n->tree, &c.tree, err) ||
	    ga_commit_write(l->repo, &c, &commit, err))
		return -1;
	ga_ref_updates_add(&u, ref, NULL, &commit);
	return ga_refs_update(l->repo, &u, reason, err);
}

int land_undo_note(struct land *l, struct ga_error *err)
{
	struct note n = { .l = l, .root = open_root(l->repo, err), .record = GA_BUF_INIT };
	cleanup_free char *branch = NULL;
	struct ga_oid head;
	int rc = -1;

	if (n.root >= 0 && !ga_repo_head(l->repo, &head, &branch, err)) {
		put_state(&n, branch);
		rc = add_files(&n, err) || write_note(&n, err) ? -1 : 0;
	}
	ga_cleanup_closep(&n.root);
	ga_buf_release(&n.record);
	ga_changes_release(&n.tree);
	return rc;
}

/* ---- reading it ------------------------------------------------------------------ */

static bool next_oid(const struct ga_buf *b, size_t *pos, struct ga_oid *ret)
{
	const char *s = ga_buf_next0(b, pos);

	return s && ga_oid_parse(s, strlen(s), ret);
}

static bool next_number(const struct ga_buf *b, size_t *pos, uint64_t max, uint64_t *ret)
{
	const char *s = ga_buf_next0(b, pos);

	return s && ga_parse_u64(s, max, ret);
}

static bool next_file(const struct ga_buf *b, size_t *pos, const char *path, struct undo *u)
{
	struct undo_file *f;
	uint64_t had, will;

	if (!ga_path_relative_ok(path))
		return false;
	GA_GROW(u->files, u->n, u->cap);
	f = &u->files[u->n++];
	*f = (struct undo_file){ .path = ga_strdup(path) };
	if (!next_number(b, pos, UINT16_MAX, &had) || !next_number(b, pos, UINT16_MAX, &will) ||
	    !next_oid(b, pos, &f->will.oid))
		return false;
	f->had = (mode_t)had;
	f->will.mode = (mode_t)will;
	return true;
}

static bool parse(const struct ga_buf *b, struct undo *u)
{
	size_t pos = 0;
	const char *s = ga_buf_next0(b, &pos);
	uint64_t left;

	if (!s || strcmp(s, MAGIC) != 0 || !next_oid(b, &pos, &u->head))
		return false;
	s = ga_buf_next0(b, &pos);
	if (!s)
		return false;
	u->ref = ga_strdup(s);
	if (!next_oid(b, &pos, &u->landed) || !next_number(b, &pos, b->len, &left))
		return false;
	while (left--) {
		s = ga_buf_next0(b, &pos);
		if (!s)
			return false;
		ga_strv_push(&u->left_out, s);
	}
	while ((s = ga_buf_next0(b, &pos)))
		if (!next_file(b, &pos, s, u))
			return false;
	return pos == b->len;
}

static int fail_none(const struct ga_session *s, struct ga_error *err)
{
	(void)ga_fail(err, GA_EFATAL, "there is no landing of session '%s' to undo", s->name);
	return ga_hint(err, "'git reflog' shows where your branch was");
}

/* The note, its tree to read bytes from, and the note before it. */
static int read_note(struct ga_repo *r, const struct ga_session *s, struct undo *u,
		     struct ga_oid *ret_note, struct ga_oid *ret_tree, struct ga_error *err)
{
	cleanup_free char *ref = ga_session_ref(s, "undo");
	cleanup_commit struct ga_commit c = { .n_parents = 0 };
	cleanup_buf struct ga_buf b = GA_BUF_INIT;
	struct ga_entry e;
	int rc = ga_ref_read(r, ref, ret_note, err);

	if (rc < 0)
		return -1;
	if (rc || s->state != GA_STATE_LANDED || ga_oid_is_zero(&s->landed))
		return fail_none(s, err);
	if (ga_commit_read(r, ret_note, &c, err) ||
	    ga_tree_entry(r, &c.tree, "record", &e, err))
		return -1;
	rc = e.mode == GA_MODE_FILE ? ga_blob_read(r, &e.oid, RECORD_MAX, &b, err) : 1;
	if (rc < 0)
		return -1;
	if (rc || !parse(&b, u))
		return ga_fail(err, GA_EFATAL, "'%s' is not what a landing notes", ref);
	*ret_tree = c.tree;
	if (c.n_parents > 1)
		u->former = c.parents[1];
	return 0;
}

/* ---- taking it back ---------------------------------------------------------------- */

/* Nothing else may have happened on the branch. */
static int check_head(struct land *l, const struct undo *u, struct ga_error *err)
{
	const char *operation = ga_repo_operation(l->repo);
	cleanup_free char *branch = NULL;

	if (operation) {
		(void)ga_fail(err, GA_ELOSE, "a %s is in progress in this working tree", operation);
		return ga_hint(err, "finish or abort it, then undo");
	}
	if (ga_repo_head(l->repo, &l->head, &branch, err))
		return err->msg ? -1 : ga_fail(err, GA_ELOSE, "this branch has no commit");
	if (strcmp(branch ? branch : "", u->ref) != 0) {
		const char *was = ga_ref_branch(u->ref);
		cleanup_free char *q = ga_escape(was ? was : "no branch");

		return ga_fail(err, GA_ELOSE, "agent/%s landed on '%s', and you are not there",
			       l->s->name, q);
	}
	if (ga_oid_equal(&l->head, &l->s->landed))
		return 0;
	(void)ga_fail(err, GA_ELOSE, "your branch has moved since agent/%s landed as %.10s",
		      l->s->name, GA_HEX(&l->s->landed));
	return ga_hint(err, "'git revert -m 1 %.10s' takes its changes out again",
		       GA_HEX(&l->s->landed));
}

static int check_files(struct land *l, const struct undo *u, int root, struct ga_error *err)
{
	cleanup_strv struct ga_strv changed = GA_STRV_INIT;

	for (size_t i = 0; i < u->n; i++)
		if (!stands(root, u->files[i].path, &u->files[i].will))
			ga_strv_push(&changed, u->files[i].path);
	if (ga_commit_tree(l->repo, &l->head, &l->head_tree, err) ||
	    ga_commit_tree(l->repo, &u->head, &l->merged, err) ||
	    ga_tree_diff(l->repo, &l->head_tree, &l->merged, &l->changes, err))
		return -1;
	if (changed.n)
		return land_refuse(&changed, "files changed since they were brought",
				   "move them away, or put them back, then undo", err);
	return land_check_worktree(l, err);
}

/* Branch, index and working tree by git, which keeps what is uncommitted elsewhere. */
static int reset(struct land *l, const struct undo *u, struct ga_error *err)
{
	const char *const args[] = { "reset", "--quiet", "--keep", GA_HEX(&u->head), NULL };
	struct ga_git g = GA_GIT_INIT;

	if (ga_oid_equal(&u->head, &l->head))
		return 0;
	g.args = args;
	g.work_tree = ga_repo_info(l->repo)->workdir;
	g.user_hooks = true;
	return ga_git_ok(l->repo, &g, err);
}

/* Directories that are empty now go, as git has it. */
static void remove_empty(int root, const char *path)
{
	for (cleanup_free char *dir = ga_path_parent(path), *up = NULL; *dir;) {
		cleanup_free char *parent = ga_path_parent(dir);
		cleanup_close int at = *parent ? ga_openat_beneath(root, parent,
								   O_RDONLY | O_DIRECTORY, 0)
					       : fcntl(root, F_DUPFD_CLOEXEC, 3);

		if (at < 0 || unlinkat(at, ga_path_base(dir), AT_REMOVEDIR))
			return;
		up = ga_steal(&parent);
		free(dir);
		dir = ga_steal(&up);
	}
}

static int put_back(struct land *l, int root, const struct ga_oid *tree, const struct undo *u,
		    size_t i, struct ga_error *err)
{
	const struct undo_file *f = &u->files[i];
	cleanup_free char *name = ga_strf("had/%zu", i), *q = ga_escape(f->path);
	cleanup_buf struct ga_buf bytes = GA_BUF_INIT;
	cleanup_close int dir = -1;
	struct ga_entry e;

	if (f->had) {
		if (ga_tree_entry(l->repo, tree, name, &e, err))
			return -1;
		if (e.mode != GA_MODE_FILE || ga_blob_read(l->repo, &e.oid, FILE_MAX, &bytes, err))
			return err->msg ? -1 : ga_fail(err, GA_EFATAL, "the note lacks '%s'", q);
	}
	dir = land_open_parent(root, f->path);
	if (dir < 0)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot open the directory of '%s'", q);
	if (S_ISREG(f->had))
		return ga_write_atomic(dir, ga_path_base(f->path), bytes.ptr, bytes.len,
				       f->had & 07777, err);
	if (f->will.mode && unlinkat(dir, ga_path_base(f->path), 0) && errno != ENOENT)
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot remove '%s'", q);
	if (S_ISLNK(f->had) && symlinkat(bytes.ptr, dir, ga_path_base(f->path)))
		return ga_fail_errno(err, GA_EFATAL, errno, "cannot make link '%s'", q);
	if (!f->had)
		remove_empty(root, f->path);
	return 0;
}

/* The session is what it was before, and the note before is the note. */
static int settle(struct land *l, struct undo *u, const struct ga_oid *note, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates up = GA_REF_UPDATES_INIT;
	cleanup_free char *ref = ga_session_ref(l->s, "undo");
	cleanup_free char *reason = ga_strf("agent: undo landing of %s", l->s->name);
	json_t *o = json_object();

	ga_json_set_oid(o, "commit", &u->head);
	(void)ga_journal(l->s->dir, "undone", o);
	l->s->state = ga_oid_is_zero(&u->landed) ? GA_STATE_CAPTURED : GA_STATE_LANDED;
	l->s->landed = u->landed;
	ga_strv_release(&l->s->left_out);
	l->s->left_out = u->left_out;
	u->left_out = (struct ga_strv)GA_STRV_INIT;
	if (ga_session_save(l->s, err))
		return -1;
	ga_ref_updates_add(&up, ref, note, ga_oid_is_zero(&u->former) ? NULL : &u->former);
	return ga_refs_update(l->repo, &up, reason, err);
}

int ga_land_undo(struct ga_repo *r, struct ga_session *s, struct ga_oid *ret_head,
		 struct ga_error *err)
{
	struct land l = { .repo = r, .s = s };
	cleanup_(undo_release) struct undo u = { .n = 0 };
	cleanup_close int root = open_root(r, err);
	struct ga_oid note, tree;
	int rc;

	if (root < 0 || read_note(r, s, &u, &note, &tree, err))
		return -1;
	rc = check_head(&l, &u, err) || check_files(&l, &u, root, err) || reset(&l, &u, err) ? -1 : 0;
	for (size_t i = 0; !rc && i < u.n; i++)
		rc = put_back(&l, root, &tree, &u, i, err);
	if (!rc)
		rc = settle(&l, &u, &note, err);
	ga_changes_release(&l.changes);
	*ret_head = u.head;
	return rc;
}
