/* SPDX-License-Identifier: MIT
 *
 * The view of a session: its base, hidden secrets, layers, and the other members of its sandbox's
 * spec.
 */
#pragma once

#include <sys/stat.h>

#include "ga/repo/pool.h"
#include "ga/repo/refs.h"
#include "ga/repo/snapshot.h"
#include "ga/sandbox/sandbox.h"
#include "ga/secret/secret.h"
#include "ga/session/session.h"
#include "ga/view/env.h"

/* Options of the view. */
struct ga_view_opts {
	const char *base_rev;
	enum ga_dirty dirty;
	bool hide_ignored; /* show no ignored file, instead of all of them or those that
			    * .worktreeinclude lists */
	const struct ga_strv *expose; /* absolute paths of secrets to show nevertheless */
};

/* The base of a session. `onto`, `base`, `onto_ref`, `trusted`: as in ga/session/session.h. */
struct ga_view_base {
	struct ga_oid onto, base;
	char *onto_ref;
	bool trusted;
	size_t carried;         /* uncommitted paths in `base` */
	size_t max_shared;      /* how many ignored directories can be shared */
	struct ga_scan scan;
	struct ga_exposure secrets;
	struct ga_strv hidden;  /* paths of hidden secrets, sorted ... */
	struct ga_strv clear;   /* ... and those of them that git's filters decrypt at checkout */
	struct ga_strv objects; /* loose objects with the content of these, hidden as well ... */
	struct ga_strv stored;  /* ... and paths whose content git has where it cannot be hidden */
};
void ga_view_base_release(struct ga_view_base *b);

/* Refuse a working tree that contains the user's home, or that overlaps with the agents' home or
 * the state directory. */
int ga_view_check_project(const struct ga_env *e, struct ga_error *err);
/* Commit the scanned work after ga_view_choose_base(), once there is a session. */
int ga_view_take_snapshot(struct ga_env *e, const char *objects, struct ga_view_base *b,
			  struct ga_error *err);
/* Choose the base of a new session. A `dry` run makes no commit. */
int ga_view_choose_base(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			struct ga_view_base *ret, struct ga_error *err);

/* Fill b->secrets and b->hidden; `carried`: uncommitted work is shown as well. A dry run keeps
 * nothing on the disk. */
int ga_view_find_secrets(struct ga_env *e, const struct ga_view_opts *o, bool dry,
			 bool carried, struct ga_view_base *b, struct ga_error *err);
/* Fill `b` with the secrets that an existing session would show now, with its branch at `tip`. */
int ga_view_rescan(struct ga_env *e, const struct ga_view_opts *o, const struct ga_session *s,
		   const struct ga_oid *tip, struct ga_view_base *b, struct ga_error *err);
/* The base of a submodule is `commit`, the one that the superproject's base names. Its uncommitted
 * work, `*ret_dirty` paths, is not carried. Returns 1 and the reason, for users, if the submodule
 * cannot be a part of the session. */
int ga_view_choose_part_base(struct ga_env *e, const struct ga_view_opts *o,
			     const struct ga_oid *commit, struct ga_view_base *ret,
			     size_t *ret_dirty, const char **ret_why, struct ga_error *err);

/* Choose the base of a session on another machine: HEAD or o->base_rev, and a snapshot of
 * uncommitted work on top, in the object directory `objects` (the handle of `e` uses that from then
 * on); the same commit without any. Adds to `notes` what is not sent, for users. */
int ga_view_choose(struct ga_env *e, const struct ga_view_opts *o, const char *objects,
		   struct ga_oid *ret_onto, struct ga_oid *ret_base, struct ga_strv *notes,
		   struct ga_error *err);

/* Fill shared/ of the session, one upper for each shared directory, and make extras/ if it needs
 * that: for mount points that the base tree lacks, and copies of single ignored files. Adds to
 * s->shared and s->skipped, and to `notes` what is shared and cannot be written. */
int ga_view_make_layers(struct ga_env *e, struct ga_session *s, const struct ga_view_base *b,
			struct ga_strv *notes, struct ga_error *err);

/* Acquire the base tree of a session. */
int ga_view_get_base(struct ga_env *e, const struct ga_session *s, struct ga_base *ret,
		     struct ga_error *err);
/* Fill the git dir's upper layer, with `visible` for its refs. */
int ga_view_make_gitdir(struct ga_env *e, const struct ga_session *s,
			const struct ga_view_base *b, const struct ga_base *base,
			const struct ga_refs *visible, struct ga_error *err);

/* Hide the `.git` in shared directory number `i` of a session, open as `fd`. */
int ga_view_mask_git(const struct ga_session *s, size_t i, int fd, struct ga_error *err);

/* Make whiteouts in the layer `mask` for hidden paths in the shared directory `dir`. The layer is
 * made if it is needed. */
int ga_view_mask_shared(const struct ga_view_base *b, int project, const char *dir,
			const char *mask, struct ga_error *err);
/* Replace files that a filter decrypts by their committed content, in the layer `extras`. */
int ga_view_mask_project(struct ga_env *e, const struct ga_session *s, const struct ga_view_base *b,
			 const struct ga_oid *tree, int project, int extras, struct ga_error *err);

/* The host directories beneath a session's shared ones, by device and inode. They are kept in a
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

/* The layers of shared directory number `i`, with a fresh work directory. 1: it was removed, on the
 * host or inside. */
int ga_view_make_shared(const struct ga_session *s, size_t i, struct ga_shared *ret,
			struct ga_error *err);
/* Add the layers of the session, with fresh work directories. */
int ga_view_make_trees(const struct ga_session *s, const struct ga_base *base, struct ga_spec *ret,
		       struct ga_error *err);

/* Notes for agents, below home. */
#define GA_VIEW_NOTES ".git-agent-notes.md"

/* Fill the members of the spec that depend only on the project's path. */
int ga_view_make_surroundings(struct ga_env *e, const char *project, struct ga_spec *ret,
			      struct ga_error *err);
/* Add the directories of `tools`. */
int ga_view_add_tools(const struct ga_env *e, struct ga_spec *ret, struct ga_error *err);
/* Add those of `tools` and `mounts`. */
int ga_view_add_mounts(const struct ga_env *e, const char *project, struct ga_spec *ret,
		       struct ga_error *err);
/* Has the spec exactly these mounts? */
int ga_view_has_mounts(const struct ga_env *e, const struct ga_spec *s, bool *ret,
		       struct ga_error *err);
/* Add lines about them to the banner. */
void ga_view_describe_mounts(const struct ga_env *e, const struct ga_spec *s,
			     struct ga_strv *banner);
/* Add "what: a, b and 3 more" to it, if there are any. */
void ga_view_describe_paths(const char *what, const struct ga_strv *paths, struct ga_strv *banner);
/* Add the repository's object directories, and the toolchains of the home, that `command` lies in
 * among them. */
int ga_view_find_tools(const struct ga_env *e, const char *command, struct ga_spec *ret,
		       struct ga_error *err);
/* Once the environment is known, show the files that variables of the host name, and set these:
 * certificates, and TERM's terminfo entry. */
int ga_view_add_host_files(const struct ga_env *e, struct ga_spec *s, struct ga_strv *notes,
			   struct ga_error *err);
/* `preset` may be NULL. */
void ga_view_add_environment(struct ga_env *e, const struct ga_preset *preset,
			     struct ga_spec *spec, const struct ga_session *s);
/* Show the user and group in /etc/passwd and /etc/group, if only another service of the host knows
 * them. */
int ga_view_show_user(struct ga_spec *s, struct ga_error *err);
/* Show the system's ssh configuration so that ssh inside accepts it, with the user's configuration
 * of his remotes. */
int ga_view_show_ssh(const struct ga_env *e, struct ga_spec *s, struct ga_strv *notes,
		     struct ga_error *err);

/* Wait for the host's git configuration, which git reads in parallel. Does nothing if it was
 * read. */
int ga_env_config(struct ga_env *e, struct ga_error *err);
