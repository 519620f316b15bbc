/* SPDX-License-Identifier: MIT
 *
 * What a session is shown besides its layers, as members of the spec of its sandbox.
 */
#ifndef GA_SPEC_H
#define GA_SPEC_H

#include "ga/sandbox/sandbox.h"
#include "ga/session/session.h"
#include "ga/view/env.h"

/* Notes for agents, below home. */
#define GA_VIEW_NOTES ".git-agent-notes.md"

/* Fill the members of the spec that depend on the project's path alone. */
int ga_view_make_surroundings(struct ga_env *e, const char *project, struct ga_spec *ret,
			      struct ga_error *err);
/* Add what `tools` shows. */
int ga_view_add_tools(const struct ga_env *e, struct ga_spec *ret, struct ga_error *err);
/* Add that and what `mounts` shows. */
int ga_view_add_mounts(const struct ga_env *e, const char *project, struct ga_spec *ret,
		       struct ga_error *err);
/* Does the spec have just these mounts? */
int ga_view_has_mounts(const struct ga_env *e, const struct ga_spec *s, bool *ret,
		       struct ga_error *err);
/* Add lines about them to the banner. */
void ga_view_describe_mounts(const struct ga_env *e, const struct ga_spec *s,
			     struct ga_strv *banner);
/* Add "what: a, b and 3 more" to it, unless there are none. */
void ga_view_describe_paths(const char *what, const struct ga_strv *paths, struct ga_strv *banner);
/* Add the repository's object directories, and the toolchains of the home, that `command` lies in
 * among them. */
int ga_view_find_tools(const struct ga_env *e, const char *command, struct ga_spec *ret,
		       struct ga_error *err);
/* Show, once the environment is there, what variables of the host lead to, and set these: files of
 * certificates, and the entry of TERM. */
int ga_view_add_host_files(const struct ga_env *e, struct ga_spec *s, struct ga_strv *notes,
			   struct ga_error *err);
/* `preset` may be NULL. */
void ga_view_add_environment(struct ga_env *e, const struct ga_preset *preset,
			     struct ga_spec *spec, const struct ga_session *s);
/* Show the user and his group in /etc/passwd and /etc/group, if only another service of the host
 * knows them. */
int ga_view_show_user(struct ga_spec *s, struct ga_error *err);
/* Show the system's configuration so that ssh inside takes it, and with it what the user's ssh says
 * of his remotes. */
int ga_view_show_ssh(const struct ga_env *e, struct ga_spec *s, struct ga_strv *notes,
		     struct ga_error *err);

#endif
