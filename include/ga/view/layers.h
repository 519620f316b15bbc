/* SPDX-License-Identifier: MIT
 *
 * The layers of a session, which its sandbox mounts.
 */
#ifndef GA_LAYERS_H
#define GA_LAYERS_H

#include <sys/stat.h>

#include "ga/repo/pool.h"
#include "ga/repo/refs.h"
#include "ga/sandbox/sandbox.h"
#include "ga/view/base.h"

/* Fill shared/ of the session, one upper for each shared directory, and make extras/ if it needs
 * that: for mount points that the base tree lacks, and copies of single ignored files. Adds to
 * s->shared and s->skipped, and to `notes` what is shared and cannot be written. */
int ga_view_make_layers(struct ga_env *e, struct ga_session *s, const struct ga_view_base *b,
			struct ga_strv *notes, struct ga_error *err);

/* Note in a live session, before it is mounted, which directory it will be based on. */
int ga_view_note_live(struct ga_session *s, struct ga_error *err);

/* Acquire the base tree that a session is based on. */
int ga_view_get_base(struct ga_env *e, const struct ga_session *s, struct ga_base *ret,
		     struct ga_error *err);
/* Fill the git dir's upper layer, with `visible` for its refs; a live session, which has no base
 * tree, gets an index of its own. */
int ga_view_make_gitdir(struct ga_env *e, const struct ga_session *s,
			const struct ga_view_base *b, const struct ga_base *base,
			const struct ga_refs *visible, struct ga_error *err);

/* Hide the `.git` that shared directory number `i` of a session, open as `fd`, may have. */
int ga_view_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err);

/* Make whiteouts in the layer `mask` for what is hidden in the shared directory `dir`. The layer is
 * made if there is any. */
int ga_view_mask_shared(const struct ga_view_base *b, int project, const char *dir,
			const char *mask, struct ga_error *err);
/* The same for what is hidden elsewhere, in the layer `extras`. A live session, with the working
 * tree beneath, gets what the base has there, or a whiteout; in any session, files that a filter
 * decrypts are replaced by what is committed. */
int ga_view_mask_project(struct ga_env *e, const struct ga_session *s, const struct ga_view_base *b,
			 const struct ga_oid *tree, int project, int extras, struct ga_error *err);

/* Which host directories lie beneath what a session shares, by device and inode. They are kept in a
 * file of their own in the session's directory, since only the supervisor writes the state file. */
struct ga_view_seen {
	struct ga_view_seen_id {
		uint64_t dev, ino; /* both 0: none */
	} *v;
	size_t n;
};
void ga_view_seen_release(struct ga_view_seen *seen);
void ga_view_seen_set(struct ga_view_seen *seen, size_t i, const struct ga_shared *sh);
/* Is this the directory that lies beneath number `i`? */
bool ga_view_seen_has(const struct ga_view_seen *seen, size_t i, const struct stat *st);
int ga_view_seen_read(const struct ga_session *s, struct ga_view_seen *ret, struct ga_error *err);
int ga_view_seen_write(const struct ga_view_seen *seen, const struct ga_session *s,
		       struct ga_error *err);

/* The layers of shared directory number `i`, with a fresh work directory. 1: it is gone, or was
 * removed inside. */
int ga_view_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
			struct ga_error *err);
/* Add the layers of the session, with fresh work directories. `base` is NULL for a live session. */
int ga_view_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *ret,
		       struct ga_error *err);

#endif
