/* SPDX-License-Identifier: MIT
 *
 * What a landing notes before it touches anything: where HEAD was, and the files that are going to
 * be written without a commit, as they are. It is a commit on the session's ref "undo", whose
 * parents are that HEAD and, if the session had landed before, the former note. Its tree holds
 * "record", words that end in NUL (put_state(), add_file()), and the files' bytes as "had/NUMBER".
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ga/fd.h"
#include "ga/objects.h"
#include "ga/quote.h"
#include "ga/refs.h"
#include "land-internal.h"

#define READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)

int land_open_root(const struct ga_repo *r, struct ga_error *err)
{
	int fd = open(ga_repo_info(r)->workdir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? ga_fail_errno(err, GA_EFATAL, errno, "cannot open the working tree") : fd;
}

int land_open_here(int root, const char *path, struct land_here *ret)
{
	cleanup_close int fd = ga_openat_beneath(root, path, O_PATH | O_NOFOLLOW, 0);
	struct stat st;
	ssize_t n;

	ret->mode = 0;
	ret->fd = -1;
	if (fd < 0)
		return errno != ENOENT && errno != ENOTDIR;
	if (fstat(fd, &st))
		return 1;
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(fd, "", ret->target, sizeof(ret->target));
		if (n < 0)
			return 1;
		ret->size = (uint64_t)n;
	} else if (S_ISREG(st.st_mode)) {
		ret->fd = ga_openat_beneath(root, path, READ_FLAGS, 0);
		if (ret->fd < 0 || fstat(ret->fd, &st) || !S_ISREG(st.st_mode))
			return 1;
		ret->size = (uint64_t)st.st_size;
	} else {
		return 1;
	}
	ret->mode = st.st_mode & (S_IFMT | 07777);
	return 0;
}

void land_here_release(struct land_here *h)
{
	ga_cleanup_closep(&h->fd);
}

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
	struct ga_pack *pack;
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

static void add_entry(struct note *n, const char *name, const struct ga_oid *oid)
{
	static const struct ga_entry none = { .mode = GA_MODE_NONE };
	const struct ga_entry e = { .mode = GA_MODE_FILE, .oid = *oid };

	(void)ga_changes_add(&n->tree, name, &none, &e);
}

/* Keep what is there. */
static int keep(struct note *n, const char *path, mode_t *ret_mode, struct ga_error *err)
{
	cleanup_(land_here_release) struct land_here h = { .fd = -1 };
	cleanup_free char *name = ga_strf("had/%zu", n->n++), *q = ga_escape(path);
	struct ga_oid oid;

	if (land_open_here(n->root, path, &h))
		return ga_fail(err, GA_ELOSE, "'%s' cannot be read, to be kept for undoing", q);
	*ret_mode = h.mode;
	if (!h.mode)
		return 0;
	if (h.fd < 0 ? ga_pack_add_blob(n->pack, h.target, h.size, &oid, err)
		     : ga_pack_add_blob_fd(n->pack, h.fd, h.size, &oid, err))
		return -1;
	add_entry(n, name, &oid);
	return 0;
}

static int add_file(struct note *n, const char *path, const struct ga_entry *will,
		    const struct ga_buf *will_bytes, struct ga_error *err)
{
	struct ga_oid oid = will->oid;
	mode_t mode;

	if (keep(n, path, &mode, err) ||
	    (will_bytes && ga_blob_id_of(will_bytes->ptr, will_bytes->len, &oid, err)))
		return -1;
	ga_buf_add0(&n->record, path);
	put_number(&n->record, mode);
	put_number(&n->record, mode_of(will->mode));
	put_oid(&n->record, &oid);
	return 0;
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

static int put_state(struct note *n, struct ga_error *err)
{
	const struct ga_session *s = n->l->s;
	cleanup_free char *branch = NULL;
	struct ga_oid head;

	if (ga_repo_head(n->l->repo, &head, &branch, err))
		return -1;
	ga_buf_add0(&n->record, LAND_NOTE_MAGIC);
	put_oid(&n->record, &n->l->head);
	ga_buf_add0(&n->record, branch ? branch : "");
	put_oid(&n->record, &s->landed);
	put_number(&n->record, s->left_out.n);
	for (size_t i = 0; i < s->left_out.n; i++)
		ga_buf_add0(&n->record, s->left_out.v[i]);
	return 0;
}

static int add_commit(struct note *n, const char *ref, struct ga_oid *ret, struct ga_error *err)
{
	struct land *l = n->l;
	cleanup_free char *who = ga_strf("git-agent <git-agent> %" PRIu64 " +0000",
					 (uint64_t)time(NULL));
	struct ga_oid parents[2] = { l->head }, oid;
	struct ga_commit c = { .parents = parents, .n_parents = 1, .author = who, .committer = who,
			       .extra = (char[]){ "" },
			       .message = (char[]){ "What a landing found\n" } };
	int rc = ga_ref_read(l->repo, ref, &parents[1], err);

	if (rc < 0 || ga_pack_add_blob(n->pack, n->record.ptr, n->record.len, &oid, err))
		return -1;
	/* the note before this one, if what it tells of still stands */
	if (!rc && l->s->state == GA_STATE_LANDED) {
		l->former = parents[1];
		c.n_parents++;
	}
	add_entry(n, "record", &oid);
	ga_changes_sort(&n->tree);
	return ga_tree_apply(l->repo, n->pack, NULL, &n->tree, &c.tree, err) ||
	       ga_pack_add_commit(n->pack, &c, ret, err) ? -1 : 0;
}

static int publish(struct note *n, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *ref = ga_session_ref(n->l->s, "undo"), *kept = NULL;
	cleanup_free char *reason = ga_strf("agent: land %s", n->l->s->name);
	int rc;

	if (add_commit(n, ref, &n->l->note, err) || ga_pack_commit(n->pack, &kept, err))
		return -1;
	n->pack = NULL;
	ga_ref_updates_add(&u, ref, NULL, &n->l->note);
	rc = ga_refs_update(n->l->repo, &u, reason, err);
	if (kept)
		(void)unlink(kept);
	return rc;
}

int land_note(struct land *l, struct ga_error *err)
{
	struct note n = { .l = l, .root = land_open_root(l->repo, err), .record = GA_BUF_INIT };
	int rc = n.root < 0 || ga_pack_begin(l->repo, &n.pack, err) || put_state(&n, err) ||
		 add_files(&n, err) || publish(&n, err) ? -1 : 0;

	ga_cleanup_closep(&n.root);
	ga_pack_free(n.pack);
	ga_buf_release(&n.record);
	ga_changes_release(&n.tree);
	return rc;
}

int land_note_replace(struct land *l, const struct ga_oid *note, const struct ga_oid *former,
		     const char *what, struct ga_error *err)
{
	cleanup_ref_updates struct ga_ref_updates u = GA_REF_UPDATES_INIT;
	cleanup_free char *ref = ga_session_ref(l->s, "undo");
	cleanup_free char *reason = ga_strf("agent: %s %s", what, l->s->name);

	ga_ref_updates_add(&u, ref, note, ga_oid_is_zero(former) ? NULL : former);
	return ga_refs_update(l->repo, &u, reason, err);
}

void land_note_forget(struct land *l)
{
	cleanup_error struct ga_error ignored = GA_ERROR_INIT;

	(void)land_note_replace(l, &l->note, &l->former, "did not land", &ignored);
}
