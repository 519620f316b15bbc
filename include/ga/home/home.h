/* SPDX-License-Identifier: MIT
 *
 * The agents' home on the host: choosing, measuring and resetting it. Agents write there, so it is
 * accessed by descriptors and no link is followed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ga/run/run.h"
#include "ga/session/session.h"
#include "ga/view/env.h"

/* The directory that sessions of `mode` have as their home or, with GA_HOME_OVERLAY, below the
 * overlay; it need not exist. `e` needs a state directory only for GA_HOME_PROJECT. The caller
 * frees it. */
char *ga_home_dir(const struct ga_env *e, enum ga_home_mode mode);

/* Sizes of the parts of a home. */
struct ga_home_part {
	const char *name; /* name of an agent's preset; "caches"; "other" */
	uint64_t files, bytes; /* files but directories; disk space */
};
#define GA_HOME_PARTS_MAX (16 + GA_PRESETS_MAX)
struct ga_home_sizes {
	struct ga_home_part v[GA_HOME_PARTS_MAX]; /* only parts that exist */
	size_t n;
	uint64_t unreadable; /* directories that cannot be listed */
};
/* Returns 1 without such a directory. `own`: the user's own agents. */
int ga_home_measure(const char *dir, const struct ga_presets *own, struct ga_home_sizes *ret,
		    struct ga_error *err);

/* Append the files that changed, relative to the home, each preceded by 'A', 'M' or 'D', in byte
 * order of the paths. For a session with a layer over the home: the contents of that layer. */
int ga_home_layer_changes(const char *upper, const char *lower, struct ga_strv *ret,
			  struct ga_error *err);
/* For a session without such a layer, which has nothing to compare with: 'M' for every file whose
 * ctime (which nobody can set) is at or after `since`, whichever session changed it. Deleted files
 * leave no trace. */
int ga_home_changes(const char *dir, uint64_t since, struct ga_strv *ret, struct ga_error *err);
/* The session's layer over its home, or NULL if it has none. The caller frees it. */
char *ga_home_layer(const struct ga_session *s);

/* Take the lock of the homes, shared, and make the one of home_mode if it is missing. */
int ga_home_open(const struct ga_env *e, int *ret_lock, struct ga_error *err);

/* Open the home of a session, and say in `banner` if it was made. */
int ga_home_open_session(const struct ga_env *e, int *ret_lock, struct ga_strv *banner,
			 struct ga_error *err);
/* Write notes and settings for the agent (NULL: none) into it, and show it. Failures go to
 * `banner`. */
void ga_home_fill(const struct ga_env *e, const struct ga_preset *p, struct ga_spec *spec,
		  struct ga_strv *banner);
/* Write the user's identity and preferences from git's configuration `c` into the home `dir`,
 * unless it has a git configuration. */
int ga_home_copy_git(const char *dir, const struct ga_gitconfig *c, struct ga_error *err);
/* With home_mode `overlay`, once the session's directory exists: add its layer over the home, and
 * mount that. */
int ga_home_add_layer(const struct ga_env *e, const struct ga_session *s,
		      struct ga_spec *spec, struct ga_sandbox *sb, struct ga_error *err);
/* Add the directories of the session that agents keep their conversations in; the environment must
 * be known. */
int ga_home_keep_conversations(const struct ga_env *e, const struct ga_session *session,
			       struct ga_spec *s, struct ga_error *err);
/* Call ga_run_home() and ga_run_trees(), after recording the mount points they make in the home. */
int ga_home_run(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		struct ga_error *err);
int ga_home_run_trees(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		      struct ga_error *err);
/* After the run: with home_mode `project` share the logins of `dir`, and remove mount points after
 * the last session. Ends the lock's protection. */
void ga_home_close(const struct ga_env *e, const char *dir, int lock);

/* Take the lock on the homes exclusively. Each session of any repository holds it shared, from
 * before it opens its home until its processes have ended. Returns 1 if any session holds it. */
int ga_home_lock(const struct ga_env *e, int *ret_fd, struct ga_error *err);

/* With that lock held, rename a home to a sibling name (`*ret`; the caller frees it), or with
 * `remove` delete it (`*ret` is NULL). Returns 1 if there is none. */
int ga_home_reset(const char *dir, bool remove, char **ret, struct ga_error *err);

/* A login of the user's own: the file `rel` of their home, which may be a symlink, compared with
 * the one in the agents' home that all homes share. A file too long to be a login, or no regular
 * file, or without `key` (struct ga_preset, login_key; NULL: all of it is the login) counts as
 * none. */
enum ga_home_login {
	GA_HOME_LOGIN_NONE,  /* the user has none */
	GA_HOME_LOGIN_NEW,   /* only the user has one */
	GA_HOME_LOGIN_SAME,
	GA_HOME_LOGIN_OTHER, /* agents have another one, or something else in its place */
};
int ga_home_compare_login(const struct ga_env *e, const char *rel, const char *key,
			  enum ga_home_login *ret, struct ga_error *err);
/* Copy only that to the agents' home (0600), which is made if it is missing. Other contents of the
 * file there are kept. */
int ga_home_import_login(const struct ga_env *e, const char *rel, const char *key,
			 struct ga_error *err);

/* Other configuration of the user's agent to import: settings, instructions, commands and the like,
 * as src/home/import.def lists them for built-in agents. Excludes values of variables and headers,
 * targets of links, and files that may have secrets. */
struct ga_home_piece {
	char *rel;
	struct ga_buf text; /* the whole file */
	mode_t mode;
};
struct ga_home_import {
	struct ga_home_piece *v; /* new content */
	size_t n, cap;
	struct ga_strv imported;  /* the same, and exclusions with reasons, as lines for users, */
	struct ga_strv left;     /* safe to print */
	bool same;               /* some of it exists already */
};
#define GA_HOME_IMPORT_INIT { .imported = GA_STRV_INIT, .left = GA_STRV_INIT }
void ga_home_import_release(struct ga_home_import *m);
/* Writes nothing. Unreadable files are left out. */
void ga_home_import_find(const struct ga_env *e, const struct ga_preset *p,
			 struct ga_home_import *ret);
/* Write it. The home is made if it is missing. */
int ga_home_import_apply(const struct ga_env *e, const struct ga_home_import *m,
			 struct ga_error *err);
