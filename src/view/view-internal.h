/* SPDX-License-Identifier: MIT
 *
 * What files of this folder share.
 */
#ifndef VIEW_INTERNAL_H
#define VIEW_INTERNAL_H

#include "ga/view/base.h"
#include "ga/view/layers.h"
#include "ga/view/spec.h"

/* worktreeinclude.c: remove from `scan` the ignored paths that the session is not to show. */
int view_narrow_ignored(struct ga_env *e, const struct ga_view_opts *o,
			struct ga_scan *scan, struct ga_error *err);

/* secrets.c: is the path hidden, and how many of these are? */
bool view_is_hidden(const struct ga_view_base *b, const char *path);
size_t view_count_hidden(const struct ga_view_base *b, const struct ga_strv *paths);
/* hidden-objects.c: once b->base is known, fill b->objects and b->stored. */
int view_hide_objects(struct ga_env *e, struct ga_view_base *b, struct ga_error *err);

/* masks.c: give the directory `at` beneath `to`, a layer, the mode and times of the user's
 * directory `source` beneath `from`, if that is there: in an overlay those of the topmost layer
 * show. For when all is made that is to be in it. -1 with errno. */
int view_dress(int from, const char *source, int to, const char *at);

/* overlay-limits.c: list the mount points below the project; find one strictly below `dir`, or
 * NULL. */
void view_find_mounts(const char *project, struct ga_strv *ret);
const char *view_mount_in(const struct ga_strv *mounts, const char *dir);
/* Add to `notes` what cannot be written inside of these directories of the open `project`, and how
 * to change that. Bounded; directories found clean are remembered in `state_dir` for a while. */
void view_look_at_owners(const char *state_dir, int project, const struct ga_strv *dirs,
			 struct ga_strv *notes);

/* Where the keys of hosts that the user knows are inside. */
#define VIEW_SSH_KNOWN "/run/git-agent-ssh/known_hosts"
/* ssh-hosts.c: only if the session has the socket of an ssh-agent, append what the user's ssh says
 * of the hosts of his remotes: to `config` their addresses, ports, users and aliases, and to
 * `known` their keys. What cannot be asked is named in the notes. */
void view_ask_ssh(const struct ga_env *e, const struct ga_spec *s, struct ga_strv *notes,
		  struct ga_buf *config, struct ga_buf *known);

#endif
