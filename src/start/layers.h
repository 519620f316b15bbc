/* SPDX-License-Identifier: MIT
 *
 * Inside the start flow: the layers of a session, and the sandbox that mounts them.
 */
#ifndef LAYERS_H
#define LAYERS_H

#include <sys/stat.h>

#include "ga/repo/refs.h"
#include "ga/start/start.h"
#include "base.h"

/* layers.c: fill shared/ of the session, one upper for each shared directory, and make extras/ if
 * it needs that: for mount points that the base tree lacks, and copies of single ignored files.
 * Adds to s->shared and s->skipped, and to `notes` what is shared and cannot be written. */
int start_make_layers(struct ga_start_env *e, struct ga_session *s, const struct start_base *b,
		      struct ga_strv *notes, struct ga_error *err);

/* Give the directory `at` beneath `to`, a layer, the mode and times of the user's directory
 * `source` beneath `from`, if that is there: in an overlay those of the topmost layer show. For
 * when all is made that is to be in it. -1 with errno. */
int start_dress(int from, const char *source, int to, const char *at);

/* Hide the `.git` that shared directory number `i` of a session, open as `fd`, may have. */
int start_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err);

/* seen.c: which host directories lie beneath what a session shares, by device and inode. They are
 * kept in a file of their own in the session's directory, since only the supervisor writes the
 * state file. */
struct start_seen {
	struct start_seen_id {
		uint64_t dev, ino; /* both 0: none */
	} *v;
	size_t n;
};
void start_seen_release(struct start_seen *seen);
void start_seen_set(struct start_seen *seen, size_t i, const struct ga_shared *sh);
/* Is this the directory that lies beneath number `i`? */
bool start_seen_has(const struct start_seen *seen, size_t i, const struct stat *st);
int start_seen_read(const struct ga_session *s, struct start_seen *ret, struct ga_error *err);
int start_seen_write(const struct start_seen *seen, const struct ga_session *s,
		     struct ga_error *err);

/* owners.c: list the mount points below the project; find one strictly below `dir`, or NULL. */
void start_find_mounts(const char *project, struct ga_strv *ret);
const char *start_mount_in(const struct ga_strv *mounts, const char *dir);
/* Add to `notes` what cannot be written inside of these directories of the open `project`, and how
 * to change that. Bounded; directories found clean are remembered in `state_dir` for a while. */
void start_look_at_owners(const char *state_dir, int project, const struct ga_strv *dirs,
			  struct ga_strv *notes);

/* gitdir.c: acquire the base tree that a session stands on. */
int start_get_base(struct ga_start_env *e, const struct ga_session *s, struct ga_base *ret,
		   struct ga_error *err);
/* Fill the git dir's upper layer, with `visible` for its refs; a live session, which has no base
 * tree, gets an index of its own. */
int start_make_gitdir(struct ga_start_env *e, const struct ga_session *s,
		      const struct start_base *b, const struct ga_base *base,
		      const struct ga_refs *visible, struct ga_error *err);

/* begin.c: fill the members of the spec that depend on the project's path alone. */
int start_make_surroundings(struct ga_start_env *e, const char *project, struct ga_spec *ret,
			    struct ga_error *err);
/* layers.c: note in a live session, before it is mounted, which directory it is about to stand on.
 */
int start_note_live(struct ga_session *s, struct ga_error *err);

/* mounts.c: add what `tools` shows. */
int start_add_tools(const struct ga_start_env *e, struct ga_spec *ret, struct ga_error *err);
/* Add that and what `mounts` shows. */
int start_add_mounts(const struct ga_start_env *e, const char *project, struct ga_spec *ret,
		     struct ga_error *err);
/* Does the spec have just these mounts? */
int start_has_mounts(const struct ga_start_env *e, const struct ga_spec *s, bool *ret,
		     struct ga_error *err);
/* Add lines about them to the banner. */
void start_describe_mounts(const struct ga_start_env *e, const struct ga_spec *s,
			   struct ga_strv *banner);
/* Add "what: a, b and 3 more" to it, unless there are none. */
void start_describe_paths(const char *what, const struct ga_strv *paths, struct ga_strv *banner);
/* spec.c: add the repository's object directories, and the toolchains of the home, that `command`
 * lies in among them. */
int start_find_tools(const struct ga_start_env *e, const char *command, struct ga_spec *ret,
		     struct ga_error *err);
/* The layers of shared directory number `i`, with a fresh work directory. 1: it is gone, or was
 * removed inside. */
int start_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
		      struct ga_error *err);
/* Add the layers of the session, with fresh work directories. `base` is NULL for a live session. */
int start_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *ret,
		     struct ga_error *err);
/* host-files.c: show, once the environment is there, what variables of the host lead to, and set
 * these: files of certificates, and the entry of TERM. */
int start_add_host_files(const struct ga_start_env *e, struct ga_spec *s, struct ga_strv *notes,
			 struct ga_error *err);
/* `preset` may be NULL. */
void start_add_environment(struct ga_start_env *e, const struct ga_preset *preset,
			   struct ga_spec *spec, const struct ga_session *s);

#endif
