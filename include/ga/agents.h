/* SPDX-License-Identifier: MIT
 *
 * Agents that npm distributes, put into the agents' home by the user: a version each, chosen, and
 * kept until he chooses another.
 *
 * npm runs in a sandbox of its own, with the agents' home and the network and no project, so
 * nothing of a package ever runs on the host. What it brings is at GA_AGENTS_DIR/NAME/VERSION below
 * the home, an npm prefix, with a link to its program in GA_AGENT_BIN (ga/sandbox.h). Agents can
 * write there, as everywhere in their home. Which version the user wants is noted in the state
 * directory, where they cannot.
 */
#ifndef GA_AGENTS_H
#define GA_AGENTS_H

#include <stdbool.h>

#include "ga/error.h"
#include "ga/preset.h"
#include "ga/start.h"

#define GA_AGENTS_DIR ".local/agent/npm"

/* Exactly one version: N.N.N, and behind it what semver allows, 64 bytes at most. */
bool ga_agents_version_ok(const char *s);
/* Of two that are versions: below 0, 0 or above, as semver orders them. */
int ga_agents_version_compare(const char *a, const char *b);
/* What the user may want: one of those, or a name that a package gives one of them ("latest",
 * "next"): letters, digits, '-' and '_', a letter first. npm would take more than that, such as
 * addresses and paths. */
bool ga_agents_wanted_ok(const char *s);

/* The version that the user wants in the home that sessions of `e->home_mode` have, or NULL: none,
 * or one that is not there. Caller frees. */
char *ga_agents_version(const struct ga_start_env *e, const char *name);
/* Its program, as it is inside. Caller frees. */
char *ga_agents_program(const struct ga_start_env *e, const char *name, const char *version);

/* Where an agent is found. */
enum ga_agents_where {
	GA_AGENTS_NOWHERE,
	GA_AGENTS_HOME, /* installed by the user ... */
	GA_AGENTS_HOST, /* ... or, on the host, on $PATH or where its installer puts it ... */
	GA_AGENTS_OWN,  /* ... or, in the agents' home, by an agent */
};
struct ga_agents_found {
	enum ga_agents_where where;
	char *path;    /* on the host, or inside; NULL: nowhere */
	char *version; /* NULL: it cannot be told without running it */
	const char *key; /* of the preset's, a variable that is set; NULL: none */
	bool login;    /* a login of its own is in the home */
	bool importable; /* and one is in the user's */
};
void ga_agents_found_release(struct ga_agents_found *f);
/* What a start here would find: the first of the three. Nothing is run. */
void ga_agents_look(const struct ga_start_env *e, const struct ga_preset *p,
		    struct ga_agents_found *ret);

/* Can it be installed here, and `wanted` be wanted? Says why not. */
int ga_agents_check(const struct ga_start_env *e, const struct ga_preset *p, const char *wanted,
		    struct ga_error *err);
struct ga_agents_installed {
	char *version; /* which is there now */
	char *older;   /* what npm would have put in its place, or NULL */
	bool kept;     /* versions of before are still there, as a session runs ... */
	struct ga_error left; /* ... or as they could not be removed, which is no failure */
};
#define GA_AGENTS_INSTALLED_INIT { NULL, NULL, false, GA_ERROR_INIT }
void ga_agents_installed_release(struct ga_agents_installed *i);
/* After that: install `wanted` and note it. NULL: what npm thinks best here, by what packages say
 * of the Node.js they need, but nothing older than what is there, which is kept then. On failure
 * what was there before stays. Versions of before are removed if no session runs. e->use has
 * limits as for a session. */
int ga_agents_install(struct ga_start_env *e, const struct ga_preset *p, const char *wanted,
		      struct ga_agents_installed *ret, struct ga_error *err);
/* Remove all of it. 1 if it is not there; 2 if a session is running. */
int ga_agents_remove(struct ga_start_env *e, const struct ga_preset *p, struct ga_error *err);

#endif
