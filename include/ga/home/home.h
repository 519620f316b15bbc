/* SPDX-License-Identifier: MIT
 *
 * The agents' home on the host: which directory a session uses, what is in it, and resetting it.
 * Agents write there, so everything in it is found by descriptor and no link is followed.
 */
#ifndef GA_HOME_H
#define GA_HOME_H

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

/* What a home holds, summed up. */
struct ga_home_part {
	const char *name; /* name of an agent's preset; "caches"; "other" */
	uint64_t files, bytes; /* all but directories; space on the disk */
};
#define GA_HOME_PARTS_MAX (16 + GA_PRESETS_MAX)
struct ga_home_sizes {
	struct ga_home_part v[GA_HOME_PARTS_MAX]; /* only parts that exist */
	size_t n;
	uint64_t unreadable; /* directories that cannot be listed */
};
/* Returns 1 if there is no such directory. `own`: the user's own agents. */
int ga_home_measure(const char *dir, const struct ga_presets *own, struct ga_home_sizes *ret,
		    struct ga_error *err);

/* Append the files that changed, relative to the home, each preceded by 'A', 'M' or 'D', in byte
 * order of the paths. For a session with a layer of its own over the home: what is in that
 * layer. */
int ga_home_layer_changes(const char *upper, const char *lower, struct ga_strv *ret,
			  struct ga_error *err);
/* For a session without such a layer there is nothing to compare with: 'M' for every file whose
 * ctime (which nobody can set) is at or after `since`, whichever session changed it. Deleted files
 * leave no trace. */
int ga_home_changes(const char *dir, uint64_t since, struct ga_strv *ret, struct ga_error *err);
/* The session's layer over its home, or NULL if it has none. The caller frees it. */
char *ga_home_layer(const struct ga_session *s);

/* Take the lock of the homes, shared, and make the one of home_mode if it is missing. */
int ga_home_open(const struct ga_env *e, int *ret_lock, struct ga_error *err);

/* The home of a session: open it, and say in `banner` if it was made. */
int ga_home_open_session(const struct ga_env *e, int *ret_lock, struct ga_strv *banner,
			 struct ga_error *err);
/* Write into it what the agent (NULL: none) is told and finds, and show it. What failed is said in
 * `banner`. */
void ga_home_fill(const struct ga_env *e, const struct ga_preset *p, struct ga_spec *spec,
		  struct ga_strv *banner);
/* Write the user's identity and habits from git's configuration `c` into the home `dir`, if that
 * has no configuration of git. */
int ga_home_bring_git(const char *dir, const struct ga_gitconfig *c, struct ga_error *err);
/* With home_mode `overlay`, once the session's directory is there: add its layer over the home, and
 * mount that. */
int ga_home_add_layer(const struct ga_env *e, const struct ga_session *s,
		      struct ga_spec *spec, struct ga_sandbox *sb, struct ga_error *err);
/* Add the directories of the session that agents keep their conversations in; the environment must
 * be known. */
int ga_home_keep_conversations(const struct ga_env *e, const struct ga_session *session,
			       struct ga_spec *s, struct ga_error *err);
/* ga_run_home() and ga_run_trees(), once what they make in the home is noted. */
int ga_home_run(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		struct ga_error *err);
int ga_home_run_trees(const struct ga_env *e, const struct ga_spec *s, struct ga_sandbox *sb,
		      struct ga_error *err);
/* Once nothing runs: with home_mode `project` share the logins of `dir`, and leave no mount points
 * if it was the last session. The lock protects nothing any more. */
void ga_home_close(const struct ga_env *e, const char *dir, int lock);

/* Take the lock on the homes exclusively. Each session, of whatever repository, holds it shared
 * from before it looks at its home until nothing of it runs. Returns 1 if any session holds it. */
int ga_home_lock(const struct ga_env *e, int *ret_fd, struct ga_error *err);

/* Call with that lock held. Rename a home aside, to a name beside it (`*ret`; the caller frees it),
 * or with `remove` delete it (`*ret` is NULL). Returns 1 if there is none. */
int ga_home_reset(const char *dir, bool remove, char **ret, struct ga_error *err);

/* A login of the user's own: the file `rel` of their home, which may be a symlink, compared with
 * the one in the agents' home that all homes share. A file too long to be a login, or no regular
 * file, or without `key` (struct ga_preset, login_key; NULL: all of it is the login) counts as
 * none. */
enum ga_home_login {
	GA_HOME_LOGIN_NONE,  /* the user has none */
	GA_HOME_LOGIN_NEW,   /* the user has one, and agents have none */
	GA_HOME_LOGIN_SAME,
	GA_HOME_LOGIN_OTHER, /* agents have one with other content, or something else in its
			      * place */
};
int ga_home_look_at_login(const struct ga_env *e, const char *rel, const char *key,
			  enum ga_home_login *ret, struct ga_error *err);
/* Copy that, and nothing else, to the agents' home (0600), which is made if it is missing. What
 * else the file of that name has there stays. */
int ga_home_import_login(const struct ga_env *e, const char *rel, const char *key,
			 struct ga_error *err);

/* What else of the user's own agent can be brought to the agents' home: settings, instructions,
 * commands and the like, as src/home/import.def lists them for built-in agents. No values of
 * variables or headers are among it, nothing that a link leads to, and no file with what may be a
 * secret. */
struct ga_home_piece {
	char *rel;
	struct ga_buf text; /* the whole file */
	mode_t mode;
};
struct ga_home_import {
	struct ga_home_piece *v; /* what to write */
	size_t n, cap;
	struct ga_strv brought;  /* the same, and what was left out and why, as lines for users, */
	struct ga_strv left;     /* safe to print */
	bool same;               /* something of it is there already */
};
#define GA_HOME_IMPORT_INIT { .brought = GA_STRV_INIT, .left = GA_STRV_INIT }
void ga_home_import_release(struct ga_home_import *m);
/* Writes nothing. What cannot be read is left out. */
void ga_home_import_find(const struct ga_env *e, const struct ga_preset *p,
			 struct ga_home_import *ret);
/* Write it. The home is made if it is missing. */
int ga_home_import_bring(const struct ga_env *e, const struct ga_home_import *m,
			 struct ga_error *err);

#endif
