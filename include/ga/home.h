/* SPDX-License-Identifier: MIT
 *
 * The agents' home on the host: where that of a session is, what is in it, and starting over.
 * Agents write there: everything in it is found by descriptor, and no link is followed.
 */
#ifndef GA_HOME_H
#define GA_HOME_H

#include <stdbool.h>
#include <stdint.h>

#include "ga/start.h"

/* The directory that sessions of `mode` have as their home, or, with GA_HOME_OVERLAY, that lies
 * beneath it; it need not be there. Only GA_HOME_PROJECT needs `e` to have a state directory.
 * Caller frees. */
char *ga_home_dir(const struct ga_start_env *e, enum ga_home_mode mode);

/* What a home holds, added up. */
struct ga_home_part {
	const char *name; /* of an agent's preset; "caches"; "other" */
	uint64_t files, bytes; /* anything but directories; what they take on the disk */
};
#define GA_HOME_PARTS_MAX (16 + GA_PRESETS_MAX)
struct ga_home_sizes {
	struct ga_home_part v[GA_HOME_PARTS_MAX]; /* only what is there */
	size_t n;
	uint64_t unreadable; /* directories that nobody can look into */
};
/* 1 if there is no such directory. `own`: agents of the user's. */
int ga_home_measure(const char *dir, const struct ga_presets *own, struct ga_home_sizes *ret,
		    struct ga_error *err);

/* Files that changed, relative to the home, each behind 'A', 'M' or 'D', in byte order of the
 * paths. Added to `ret`. Of a session with a layer of its own that is what is in the layer. */
int ga_home_layer_changes(const char *upper, const char *lower, struct ga_strv *ret,
			  struct ga_error *err);
/* Of others there is nothing to compare with: 'M' for whatever has a change time, which nobody can
 * set, not before `since`, whichever session that was; what was deleted leaves none. */
int ga_home_changes(const char *dir, uint64_t since, struct ga_strv *ret, struct ga_error *err);
/* The layer of a session, or NULL if it has none. Caller frees. */
char *ga_home_layer(const struct ga_session *s);

/* Every session holds this lock shared, from before it looks at its home until nothing of it
 * runs. Take it alone: 1 if any does, of whatever repository. */
int ga_home_lock(const struct ga_start_env *e, int *ret_fd, struct ga_error *err);

/* With that lock: put a home aside, beside where it was (`*ret`, caller frees), or (`remove`)
 * remove it (`*ret` NULL). 1 if there is none. */
int ga_home_reset(const char *dir, bool remove, char **ret, struct ga_error *err);

/* A login of the user's own: the file `rel` of his home, which may be a link, beside that of the
 * agents' home that all homes get theirs from. What is too long to be one, or no file, is none. */
enum ga_home_login {
	GA_HOME_LOGIN_NONE,  /* the user has none */
	GA_HOME_LOGIN_NEW,   /* and agents do not */
	GA_HOME_LOGIN_SAME,
	GA_HOME_LOGIN_OTHER, /* agents have one with other contents, or something in its place */
};
int ga_home_look_at_login(const struct ga_start_env *e, const char *rel, enum ga_home_login *ret,
			  struct ga_error *err);
/* Copy it there (0600), and nothing else; the home is made if it is not there. */
int ga_home_import_login(const struct ga_start_env *e, const char *rel, struct ga_error *err);

#endif
