/* SPDX-License-Identifier: MIT
 *
 * What the files of src/repo that read and write objects share.
 */
#ifndef GA_OBJECTS_INTERNAL_H
#define GA_OBJECTS_INTERNAL_H

#include "repo-internal.h"

#include "ga/import.h"
#include "ga/objects.h"

/* Trees within trees are followed this far: deeper ones are an error, so that
 * the recursions have a bound that no stack minds. */
#define GA_TREE_DEPTH_MAX 1024

void ga_cleanup_odb_objectp(git_odb_object **o);
#define cleanup_odb_object __attribute__((cleanup(ga_cleanup_odb_objectp)))

/* Read one object, which must be of `type`. Memory is libgit2's. */
int ga_odb_read(struct ga_repo *r, const struct ga_oid *oid, git_object_t type,
		git_odb_object **ret, struct ga_error *err);

/* Write one loose object, synced; or into the batch that is open. */
int ga_odb_write(struct ga_repo *r, git_object_t type, const void *data, size_t n,
		 struct ga_oid *ret, struct ga_error *err);

/* Add an object of any type to a pack, as ga_pack_add_blob() does. */
int ga_pack_add(struct ga_pack *p, git_object_t type, const void *data, size_t n,
		struct ga_oid *ret, struct ga_error *err);

/* Is libgit2's last error that bytes it summed up were made to have the sum of others? */
bool ga_collided(void);

/* Is the object in the repository, and will it stay for a while? */
bool ga_odb_has(const struct ga_repo *r, const git_oid *id);

/* What `git rev-list --stdin` is fed. */
void ga_rev_input(const struct ga_oid *tips, size_t n_tips, const struct ga_oid *hide,
		  size_t n_hide, struct ga_buf *out);

/* ---- objects in memory ------------------------------------------------- */

struct ga_packed {
	git_object_t type;
	struct ga_oid oid;
	void *data;
	size_t n;
};

/* What stands before an object in a pack: type and size. Returns its length. */
#define GA_PACK_HEADER_MAX 16
size_t ga_pack_object_header(git_object_t type, uint64_t size, unsigned char *h);
/* A pack of these objects and its index, as they are on disk. Returns the pack's name, without
 * a suffix. */
char *ga_pack_bytes(const struct ga_packed *v, size_t n, struct ga_buf *pack, struct ga_buf *index);

/* Is a batch open, and are so many more objects and bytes for memory? */
bool ga_batch_has_room(const struct ga_repo *r, size_t objects, size_t bytes);
/* An object the repository does not have. */
void ga_batch_add(struct ga_repo *r, git_object_t type, const struct ga_oid *oid, const void *data,
		  size_t n);
/* What the batch has of it, or NULL. The bytes stay where they are until the next begin or
 * abandon; they were hashed when they came, and are not again. */
const struct ga_packed *ga_batch_find(const struct ga_repo *r, const struct ga_oid *oid);
void ga_batch_free(struct ga_batch *b);

/* ---- trees as they are stored ------------------------------------------- */

struct ga_tree_item {
	const char *name; /* points into the tree's bytes */
	size_t len;
	uint32_t mode;    /* as stored: old trees hold others than today's five */
	struct ga_oid oid;
};

/* Take one entry off `*p`. Returns 1, 0 at the end, -1 if it is no tree. */
int ga_tree_next(const char **p, const char *end, struct ga_tree_item *ret);
/* One of the five modes: what git makes of any mode it finds in a tree. */
uint32_t ga_canonical_mode(uint32_t mode);
static inline bool ga_item_is_tree(const struct ga_tree_item *it)
{
	return (it->mode & 0170000) == GA_MODE_TREE;
}

/* A tree while it is read; `obj` is NULL for the empty tree, and for one in memory. */
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
/* The next entry: 1, 0 at the end, -1 with an error if the object is broken. */
int ga_tree_read(struct ga_tree_reader *t, struct ga_tree_item *ret, struct ga_error *err);
/* The entry called `name`, of that length: large trees are searched, not read (tree-find.c). */
int ga_tree_find(struct ga_repo *r, const struct ga_oid *tree, const char *name, size_t len,
		 struct ga_entry *ret, struct ga_error *err);

/* ---- quarantine ------------------------------------------------------------ */

/* A directory beside the object directories, "objects/tmp_objdir-git-agent-*",
 * with packs that are not part of the repository yet. It is locked as long as somebody
 * works in it; one that a crash left behind is removed by ga_import_sweep(). */
struct ga_quarantine {
	char *objects; /* the repository's object directory */
	char *path;    /* absolute */
	char *packs;   /* path/pack */
	int lock;      /* the directory itself, flock(2)ed; -1 before it is there */
};
int ga_quarantine_begin(const struct ga_repo *r, struct ga_quarantine **ret,
			struct ga_error *err);
/* A pack made in memory. */
int ga_quarantine_add(const struct ga_quarantine *q, const char *stem, const struct ga_buf *pack,
		      const struct ga_buf *index, struct ga_error *err);
/* Move every pack in, synced, each protected by a .keep file whose absolute
 * path is added to `keeps`. */
int ga_quarantine_move(struct ga_quarantine *q, struct ga_strv *keeps, struct ga_error *err);
/* The same; then the handle sees them. */
int ga_quarantine_migrate(struct ga_repo *r, struct ga_quarantine *q, struct ga_strv *keeps,
			  struct ga_error *err);
/* Remove it from disk and free it. NULL is fine. */
void ga_quarantine_free(struct ga_quarantine *q);

/* ---- import ----------------------------------------------------------------- */

struct ga_import_limits;

#define GA_IMPORT_LATE "checking the commits took too long" /* a reason */

/* Read a whole pack of `size` bytes from the start of `fd` and compare what it
 * says about itself with the limits, inflating no more than they allow, until `deadline`, and say
 * how far that is after `delay_ms` (ga/progress.h). Returns 0, 1 and a reason, or -1. */
int ga_import_scan(int fd, uint64_t size, const struct ga_import_limits *l, int64_t deadline,
		   int64_t delay_ms, enum ga_import_over *ret_over, char **ret_reason,
		   struct ga_error *err);

/* Check one object's bytes. NULL, or why it is refused (owned by the caller). */
char *ga_import_judge_tree(const char *p, size_t n);
char *ga_import_judge_commit(const char *p, size_t n);

#endif
