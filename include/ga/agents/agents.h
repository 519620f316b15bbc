/* SPDX-License-Identifier: MIT
 *
 * Installing agents that npm distributes into the agents' home (`git agent agents`). Of each agent
 * one version is installed, which the user chose, and it stays until the user chooses another.
 *
 * npm runs in a sandbox of its own with the agents' home and the network but no project, so no code
 * of a package ever runs on the host. What it installs is at GA_AGENTS_DIR/NAME/VERSION below the
 * home, which is an npm prefix, with a link to its program in GA_AGENT_BIN (ga/sandbox/sandbox.h).
 * Agents can write there as everywhere in their home; which version the user wants is therefore
 * recorded in the state directory, where they cannot.
 */
#pragma once

#include <stdbool.h>

#include "ga/base/error.h"
#include "ga/config/preset.h"
#include "ga/repo/snapshot.h"
#include "ga/view/env.h"

/* ---- the program of a command word, and its arguments --------------------------------------- */

struct ga_agents_command {
	const struct ga_preset *preset; /* the command's preset, or NULL; belongs to ga_env or
					 * is built in */
	struct ga_strv argv;    /* command with the preset's flags */
	size_t own_words;       /* number of words of `argv` before the user's own */
	/* by its words, it waits for the user, perhaps after a first prompt */
	bool at_prompt;
	/* program to run inside instead of argv's first word; NULL: search PATH */
	char *own;
};
void ga_agents_command_release(struct ga_agents_command *c);
/* Fill preset and argv: the command with the words of its preset; with `again` those that resume an
 * agent. */
void ga_agents_make_command(const struct ga_env *e, char *const *argv, size_t argc,
			    bool again, struct ga_agents_command *ret);
/* Add a first task to the arguments, in the agent's form. */
int ga_agents_add_task(const char *task, struct ga_agents_command *c, struct ga_error *err);
/* Fail early, on the host, for a command that does not exist, before a session is made. If an agent
 * is found outside of PATH, its directory is added to e->path; if the user installed it in the
 * agents' home, it is c->own. */
int ga_agents_check_command(struct ga_env *e, struct ga_agents_command *c, struct ga_error *err);
/* Where the agent starts: the user's current directory if it is in the project, else the project's
 * root. The caller frees it. */
char *ga_agents_cwd(const char *project);

/* ---- installed agents ------------------------------------------------------------------------ */

#define GA_AGENTS_DIR ".local/agent/npm"

/* Is it an exact version: N.N.N with semver's suffixes, at most 64 bytes? */
bool ga_agents_version_ok(const char *s);
/* Compare two versions that are well-formed, in semver's order: below 0, 0 or above. */
int ga_agents_version_compare(const char *a, const char *b);
/* Is it an exact version or a dist-tag of the package ("latest", "next": letters, digits, '-' and
 * '_', beginning with a letter)? npm itself would take more, such as URLs and paths. */
bool ga_agents_wanted_ok(const char *s);

/* The version that the user wants, if it is installed in the home that sessions of `e->home_mode`
 * use; else NULL. The caller frees it. */
char *ga_agents_version(const struct ga_env *e, const char *name);

/* Where an agent is found, in the order in which a start looks. */
enum ga_agents_where {
	GA_AGENTS_NOWHERE,
	GA_AGENTS_HOME, /* in the agents' home, installed by the user */
	GA_AGENTS_HOST, /* on the host: on PATH, or where its installer puts it */
	GA_AGENTS_OWN,  /* in the agents' home, installed by an agent */
};
struct ga_agents_found {
	enum ga_agents_where where;
	char *path;    /* of the program, on the host or inside; NULL: nowhere */
	char *version; /* NULL: unknown without running it */
	const char *key; /* one of the preset's key variables that is set; NULL: none */
	bool login;    /* the agents' home has a login for it */
	bool importable; /* the user's home has one that could be imported */
};
void ga_agents_found_release(struct ga_agents_found *f);
/* Find the agent as a start would: the first of the three places. Runs nothing. */
void ga_agents_find(const struct ga_env *e, const struct ga_preset *p, struct ga_agents_found *ret);

/* Say in `banner` how to log in if the agent (NULL: none) seems to have no login. */
void ga_agents_describe_login(const struct ga_env *e, const struct ga_preset *p,
			      struct ga_strv *banner);

/* Fails, saying why, if the agent cannot be installed here or `wanted` is not acceptable. */
int ga_agents_check(const struct ga_env *e, const struct ga_preset *p, const char *wanted,
		    struct ga_error *err);
struct ga_agents_installed {
	char *version; /* installed now */
	char *older;   /* an older version that npm chose, or NULL */
	bool kept;     /* earlier versions were not removed, because a session runs ... */
	struct ga_error left; /* ... or because of this error, which is not a failure */
};
#define GA_AGENTS_INSTALLED_INIT { NULL, NULL, false, GA_ERROR_INIT }
void ga_agents_installed_release(struct ga_agents_installed *i);
/* Call ga_agents_check() first. Install `wanted` and record it. NULL: the version that npm picks
 * for the Node.js here, by what the packages say they need, but never one older than what is
 * installed, which is then kept. On failure what was installed before stays. Earlier versions are
 * removed unless a session runs. e->use holds the limits, as for a session. */
int ga_agents_install(struct ga_env *e, const struct ga_preset *p, const char *wanted,
		      struct ga_agents_installed *ret, struct ga_error *err);
/* Remove all versions of it. Returns 1 if none is installed, 2 if a session is running. */
int ga_agents_remove(struct ga_env *e, const struct ga_preset *p, struct ga_error *err);

/* The files of a project that can have an agent run commands without its model
 * (ga/config/preset.h), as the tree of a commit has them. */
struct ga_agents_config {
	struct ga_strv paths; /* none: nothing can */
	struct ga_buf text;   /* of what is trusted (ga/config/trust.h): an empty file, and a line
			       * for each path with its id */
	char *why;            /* why their content cannot be trusted; or NULL */
};
#define GA_AGENTS_CONFIG_INIT { .text = GA_BUF_INIT }
void ga_agents_config_release(struct ga_agents_config *c);
#define cleanup_agents_config cleanup_(ga_agents_config_release)
/* Find them, for an agent that starts in the current directory and looks from there upwards. In
 * doubt a file is one of them. */
int ga_agents_find_config(struct ga_repo *r, const struct ga_preset *p, const struct ga_oid *tree,
			  struct ga_agents_config *ret, struct ga_error *err);
/* Add those in the working tree that the session shows and no commit has; with `uncommitted` also
 * changed and untracked ones. `masked` paths are not shown. */
void ga_agents_find_loose(struct ga_repo *r, const struct ga_preset *p, const struct ga_scan *scan,
			  bool uncommitted, const struct ga_strv *masked,
			  struct ga_agents_config *ret);
