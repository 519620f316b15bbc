/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: what is mounted, made in the directory of a session.
 */
#ifndef LAYERS_H
#define LAYERS_H

#include <sys/stat.h>

#include "ga/refs.h"
#include "ga/start.h"
#include "base.h"

/* Fill shared/ of the session, one upper for each shared directory, and make extras/ if it
 * needs one: mount points that the base tree lacks, copies of single ignored files. Adds to
 * s->shared and s->skipped, and to `notes` what is shared and cannot be written. */
int start_make_layers(struct ga_start_env *e, struct ga_session *s, const struct start_base *b,
		      struct ga_strv *notes, struct ga_error *err);

/* Hide the `.git` that shared directory number `i` of a session, open as `fd`, may have. */
int start_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err);

/* seen.c: which directories lie beneath what a session shares: by device and inode, in a file of
 * its own in the session's directory, as the state file is the supervisor's. */
struct start_seen {
	struct start_seen_id {
		uint64_t dev, ino; /* both 0: none does */
	} *v;
	size_t n;
};
void start_seen_release(struct start_seen *seen);
void start_seen_set(struct start_seen *seen, size_t i, const struct ga_shared *sh);
/* Is it the one that lies beneath? */
bool start_seen_has(const struct start_seen *seen, size_t i, const struct stat *st);
int start_seen_read(const struct ga_session *s, struct start_seen *ret, struct ga_error *err);
int start_seen_write(const struct start_seen *seen, const struct ga_session *s,
		     struct ga_error *err);

/* owners.c: mount points below the project; one strictly below `dir`, or NULL. */
void start_find_mounts(const char *project, struct ga_strv *ret);
const char *start_mount_in(const struct ga_strv *mounts, const char *dir);
/* Name what cannot be written inside, of these directories of the open `project`, and how to
 * change that. Bounded; what was clean is remembered in `state_dir` for a while. */
void start_look_at_owners(const char *state_dir, int project, const struct ga_strv *dirs,
			  struct ga_strv *notes);

/* The base tree a session stands on. */
int start_get_base(struct ga_start_env *e, const struct ga_session *s, struct ga_base *ret,
		   struct ga_error *err);
/* The git dir's upper layer, with `visible` for its refs; for a live session, which has no
 * base tree, with an index of its own. */
int start_make_gitdir(struct ga_start_env *e, const struct ga_session *s,
		      const struct start_base *b, const struct ga_base *base,
		      const struct ga_refs *visible, struct ga_error *err);

/* What the sandbox of a session looks like: what depends on its project's path alone; what of
 * the repository and of the home directory it shows; then its layers, `base` NULL for a live
 * session. Fresh work directories are made. `preset` may be NULL. */
int start_make_surroundings(struct ga_start_env *e, const char *project, struct ga_spec *ret,
			    struct ga_error *err);
/* Which directory a live session is about to stand on. Before it is mounted. */
int start_note_live(struct ga_session *s, struct ga_error *err);

/* mounts.c: what `tools` shows; all that the settings show besides; is that what the spec has; and
 * lines for the banner. */
int start_add_tools(const struct ga_start_env *e, struct ga_spec *ret, struct ga_error *err);
int start_add_mounts(const struct ga_start_env *e, const char *project, struct ga_spec *ret,
		     struct ga_error *err);
int start_has_mounts(const struct ga_start_env *e, const struct ga_spec *s, bool *ret,
		     struct ga_error *err);
void start_describe_mounts(const struct ga_start_env *e, struct ga_start *st);
int start_find_tools(const struct ga_start_env *e, const char *command, struct ga_spec *ret,
		     struct ga_error *err);
/* The layers of shared directory number `i`, with a new work directory. 1: it is gone. */
int start_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
		      struct ga_error *err);
int start_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *ret,
		     struct ga_error *err);
void start_add_environment(struct ga_start_env *e, const struct ga_preset *preset,
			   struct ga_spec *spec, const struct ga_session *s);

#endif
