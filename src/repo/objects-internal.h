/* SPDX-License-Identifier: MIT
 *
 * Shared by the files of src/repo that read and write objects.
 */
#pragma once

#include "repo-internal.h"

#include "ga/repo/import.h"
#include "ga/repo/objects.h"

/* Greatest depth of nested trees. Deeper ones are an error, which keeps recursion within what any
 * stack holds. */
#define GA_TREE_DEPTH_MAX 1024

void ga_cleanup_odb_objectp(git_odb_object **o);
#define cleanup_odb_object __attribute__((cleanup(ga_cleanup_odb_objectp)))

int ga_odb_read_header(const struct ga_repo *r, const git_oid *id, size_t *size,
		       git_object_t *type);
/* Read one object, which must be of `type`. It is libgit2's: cleanup_odb_object frees it. */
int ga_odb_read(struct ga_repo *r, const struct ga_oid *oid, git_object_t type,
		git_odb_object **ret, struct ga_error *err);

/* Write one object: into the open batch, or without one loose and synced. */
int ga_odb_write(struct ga_repo *r, git_object_t type, const void *data, size_t n,
		 struct ga_oid *ret, struct ga_error *err);

/* Add an object of any type to a pack, as ga_pack_add_blob() does. */
int ga_pack_add(struct ga_pack *p, git_object_t type, const void *data, size_t n,
		struct ga_oid *ret, struct ga_error *err);

/* Is libgit2's last error a detected collision: bytes crafted to have the SHA-1 of others? */
bool ga_collided(void);

/* Is the object in the repository, and its mtime renewed, so that a `git gc` running now keeps
 * it? */
bool ga_odb_has(const struct ga_repo *r, const git_oid *id);
/* List the packs again, of the repository and of the private directory. */
int ga_odb_refresh(const struct ga_repo *r);

/* Append the input of `git rev-list --stdin`. */
void ga_rev_input(const struct ga_oid *tips, size_t n_tips, const struct ga_oid *hide,
		  size_t n_hide, struct ga_buf *out);

/* ---- objects in memory ------------------------------------------------- */

struct ga_packed {
	git_object_t type;
	struct ga_oid oid;
	void *data;
	size_t n;
};

/* Write the header of an object in a pack, its type and size, to `h`. Returns its length. */
#define GA_PACK_HEADER_MAX 16
size_t ga_pack_object_header(git_object_t type, uint64_t size, unsigned char *h);

/* Fill the empty `pack` and `index` with a pack of these objects and its index. Returns the pack's
 * name without suffix; the caller frees it. */
char *ga_pack_bytes(const struct ga_packed *v, size_t n, struct ga_buf *pack, struct ga_buf *index);

/* Write objects as one pack, with a .keep file that is added to `keeps`. */
int ga_write_pack(const struct ga_repo *r, const struct ga_packed *v, size_t n,
		  struct ga_strv *keeps, struct ga_error *err);
/* Is a batch open that has room for that many more objects and bytes? */
bool ga_batch_has_room(const struct ga_repo *r, size_t objects, size_t bytes);
/* Add an object that the repository does not have. The bytes are copied. */
void ga_batch_add(struct ga_repo *r, git_object_t type, const struct ga_oid *oid, const void *data,
		  size_t n);
/* Find an object in the batch, or NULL. Its bytes stay valid until the next begin or abandon. */
const struct ga_packed *ga_batch_find(const struct ga_repo *r, const struct ga_oid *oid);
void ga_batch_free(struct ga_batch *b);

/* ---- trees as they are stored ------------------------------------------- */

struct ga_tree_item {
	const char *name; /* points into the tree's bytes */
	size_t len;
	uint32_t mode;    /* as stored: old trees have modes other than today's five */
	struct ga_oid oid;
};

/* Parse the entry at `*p` and move `*p` past it. Returns 1, 0 at the end, -1 if it is malformed. */
int ga_tree_next(const char **p, const char *end, struct ga_tree_item *ret);
/* Normalise a mode found in a tree to one of today's five, as git does. */
uint32_t ga_canonical_mode(uint32_t mode);
static inline bool ga_item_is_tree(const struct ga_tree_item *it)
{
	return (it->mode & 0170000) == GA_MODE_TREE;
}

/* A tree being read. `obj` is NULL for the empty tree, and for one in the batch. */
struct ga_tree_reader {
	git_odb_object *obj;
	const char *p, *end;
	struct ga_oid oid;
};
#define GA_TREE_READER_INIT { NULL, NULL, NULL, { { 0 } } }
void ga_tree_reader_release(struct ga_tree_reader *t);
#define cleanup_tree_reader __attribute__((cleanup(ga_tree_reader_release)))
/* `oid` may be NULL: the empty tree. */
int ga_tree_open(struct ga_repo *r, const struct ga_oid *oid, struct ga_tree_reader *ret,
		 struct ga_error *err);
/* Read the next entry. Returns 1, 0 at the end, -1 with an error if the tree is malformed. */
int ga_tree_read(struct ga_tree_reader *t, struct ga_tree_item *ret, struct ga_error *err);
/* Find the entry `name`, which has `len` bytes; mode GA_MODE_NONE if there is none. Large trees
 * that are asked more than once are cached (tree-read.c). */
int ga_tree_find(struct ga_repo *r, const struct ga_oid *tree, const char *name, size_t len,
		 struct ga_entry *ret, struct ga_error *err);

/* ---- quarantine ------------------------------------------------------------ */

/* A directory in the repository's object directory, "objects/tmp_objdir-git-agent-*", with packs
 * that are not yet part of the repository. It is locked while in use; one that a crash left behind
 * is removed by ga_import_sweep(). */
struct ga_quarantine {
	char *objects; /* the repository's object directory */
	char *path;    /* absolute */
	char *packs;   /* path/pack */
	int lock;      /* the directory `path`, flock(2)ed; -1 before it exists */
};
int ga_quarantine_begin(const struct ga_repo *r, struct ga_quarantine **ret,
			struct ga_error *err);
/* The same in that object directory. */
int ga_quarantine_begin_in(const char *objects, struct ga_quarantine **ret, struct ga_error *err);
/* Write a pack made in memory to it. `stem` is its name without suffix. */
int ga_quarantine_add(const struct ga_quarantine *q, const char *stem, const struct ga_buf *pack,
		      const struct ga_buf *index, struct ga_error *err);
/* Move all packs into the repository, synced, each protected by a .keep file, whose absolute path
 * is added to `keeps`. */
int ga_quarantine_move(struct ga_quarantine *q, struct ga_strv *keeps, struct ga_error *err);
/* The same, and make the handle see them. */
int ga_quarantine_migrate(struct ga_repo *r, struct ga_quarantine *q, struct ga_strv *keeps,
			  struct ga_error *err);
/* Remove it and free it. NULL is fine. */
void ga_quarantine_free(struct ga_quarantine *q);

/* ---- import ----------------------------------------------------------------- */

struct ga_import_limits;

#define GA_IMPORT_LATE "checking the commits took too long" /* the reason when time is up */

/* Read a whole pack of `size` bytes from the start of `fd` and check the sizes declared in it
 * against the limits, inflating no more than they allow, until `deadline`. Shows progress after
 * `delay_ms` (ga/base/progress.h). Returns 0, 1 with a reason and the limit that was exceeded, or
 * -1. */
int ga_import_scan(int fd, uint64_t size, const struct ga_import_limits *l, int64_t deadline,
		   int64_t delay_ms, enum ga_import_over *ret_over, char **ret_reason,
		   struct ga_error *err);

/* Check the bytes of one object. Returns NULL, or why it is refused; the caller frees it. */
char *ga_import_judge_tree(const char *p, size_t n);
char *ga_import_judge_commit(const char *p, size_t n);
