/* SPDX-License-Identifier: MIT
 *
 * From a description of what a session should see to the stage plan, bwrap's
 * arguments and the environment inside. Nothing is changed on the host: building
 * looks at which host directories exist, and finding bwrap may run it.
 */
#ifndef GA_SANDBOX_H
#define GA_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "ga/buf.h"
#include "ga/error.h"
#include "ga/strv.h"

/* An ignored directory of the user's tree, shared through an overlay of its own. */
struct ga_shared {
	char *rel;     /* path relative to the project */
	char *lower;   /* the user's directory */
	char *upper;   /* the session's */
	char *work;
	char *mask;    /* a directory with whiteouts laid over `lower` (nested .git), or NULL */
	uint64_t dev, ino; /* of `lower`, when it was looked at */
};
void ga_shared_release(struct ga_shared *sh);

/* A file or socket of the host's that is shown, read-only, at a place of its own. */
struct ga_shown {
	char *source; /* absolute, on the host */
	char *at;     /* absolute, inside */
};

struct ga_spec {
	char *stage_dir;        /* an existing host directory the stage mounts its tmpfs on;
				 * sessions may share one, each has a mount namespace of its own */
	char *project;          /* the project's path, inside and outside */
	char *home;             /* $HOME inside */
	char *home_source;      /* host directory shown there (~/aihome) */
	char *home_upper, *home_work; /* layers over it that take what is written; NULL: it does */
	struct ga_strv lowers;  /* project overlay, topmost first: extras, base tree */
	char *upper, *work;
	char *git_upper, *git_work; /* private git dir: overlay over git_lower, at <project>/.git */
	char *git_lower;        /* NULL: git_upper is bound as it is */
	struct ga_shared *shared;
	size_t n_shared;
	struct ga_strv object_dirs; /* host object directories, shown read-only */
	struct ga_strv hidden_objects; /* files in them that are covered by empty ones */
	struct ga_spec *parts;  /* populated submodules: of each only project, layers, shared,
				 * object_dirs, hidden_objects and its own parts count */
	size_t n_parts;
	struct ga_strv tools;   /* toolchains below the real home, relative to it, read-only */
	struct ga_strv ro;      /* more host directories, read-only at their own place */
	struct ga_strv rw;      /* and some that can be written */
	char *feedback;         /* a host file shown read-only at GA_FEEDBACK_INSIDE, or NULL */
	bool network;           /* the host's network (true), or one of its own */
	struct ga_shown *shown; /* in place of what the system has there, or where nothing is */
	size_t n_shown;
	bool nested;            /* programs may make sandboxes of their own in it */
	struct ga_strv env;     /* NAME=VALUE inside, complete */
};
#define GA_SPEC_INIT { 0 }
void ga_spec_release(struct ga_spec *s);
#define cleanup_spec cleanup_(ga_spec_release)

/* Refuse what cannot be built or would open a hole: a home that is or holds a system directory,
 * a project that is or holds home, session directories or an agent home that a sandbox would see
 * or could write. The functions of the plan call it. */
int ga_spec_check(const struct ga_spec *s, struct ga_error *err);

/* May a directory of the host be shown at its own place because the user asks for it? Not what is a
 * part of the system, of the user's home as a whole, of the session's own, or may hold credentials;
 * not one with sockets in it; and for writing not what a program of the user's executes or is
 * configured by, such as a repository. `path` is absolute and normalised. 1: it is not there. */
struct ga_mount_place {
	const char *home, *project, *path; /* $HOME, resolved; the project; $PATH */
	const char *state_dir, *agent_home;
};
int ga_mount_check(const struct ga_mount_place *place, const char *path, bool writable,
		   struct ga_error *err);
/* Show the socket `source` at `at` as well. Refused (GA_ESTART) where `at` is in the project, or in
 * a system directory and nothing is there that it could take the place of. In home it lies beneath
 * directories of the modes that the user's have. */
int ga_spec_show_socket(struct ga_spec *s, const char *source, const char *at,
			struct ga_error *err);
/* The files that say how names are found, in place of the system's wherever those are; one that
 * the system does not have is not shown. */
int ga_spec_show_resolver(struct ga_spec *s, const char *hosts, const char *resolv,
			  const char *nsswitch, struct ga_error *err);

/* Where an object directory of the host is shown inside; caller frees. The same in every
 * sandbox, since a private git dir that names it outlives the one it was made for.
 * ("/run/git-agent/odb/<SHA-256 of its path>/objects"; a "lfs" directory beside the real
 * one is shown beside it.) */
char *ga_spec_object_path(const char *host_dir);

/* Where init is shown inside: what bwrap is to execute. */
#define GA_INIT_INSIDE "/run/git-agent/init"
/* Below it are object directories, as ga_spec_object_path() says. */
#define GA_ODB_INSIDE "/run/git-agent/odb"
/* Beside them, since nothing else is attached once bwrap runs. */
#define GA_FEEDBACK_INSIDE GA_ODB_INSIDE "/feedback"

/* The toolchain table: which of its directories exist below `home` (relative
 * paths into `tools`), plus what `command` needs when it lies below home: each directory on the
 * chain of symlinks that `path` finds it through, the package it belongs to, and the same for the
 * interpreter a script names. Never a directory that holds credentials: a command
 * that can only be shown with one is an error. A command not found, or with a relative path, adds
 * nothing. `home` as in $HOME; the result is sorted and no entry contains another. */
int ga_spec_find_tools(const char *home, const char *path, const char *command,
		       struct ga_strv *tools, struct ga_error *err);

/* The environment inside, from the host's and the list of directories `path`: an allowlist (TERM,
 * COLORTERM, LANG, LC_*, TZ, EDITOR, VISUAL, NO_COLOR), HOME, USER, LOGNAME, SHELL, PATH kept, in
 * order, to entries that exist inside `s` and ending in GA_AGENT_BIN, where toolchains are as far
 * as that is shown, where in the agents' home caches are if their usual place is read-only, and
 * the names in `pass`. Writes s->env. */
#define GA_AGENT_BIN ".local/agent/bin" /* below home: what the agent installs for itself */
void ga_spec_environment(struct ga_spec *s, const char *path, const char *const *host_env,
			 const struct ga_strv *pass);

/* Would `path` (absolute) be visible inside? */
bool ga_spec_visible(const struct ga_spec *s, const char *path);

/* The plan's bytes (ga/plan.h) in four parts. The first two are what surrounds home and project;
 * only stage_dir, project, home, home_source, ro and network need be known yet. For uid 0 the
 * second takes a while: what it must not show of the system is looked for. `init` is the absolute
 * path of git-agent-init on the host, shown at GA_INIT_INSIDE. */
int ga_spec_plan_system(const struct ga_spec *s, struct ga_buf *ret, struct ga_error *err);
int ga_spec_plan_root(const struct ga_spec *s, const char *init, struct ga_buf *ret,
		      struct ga_error *err);
/* The third is home without the project in it, for which tools must be known as well. */
void ga_spec_plan_home(const struct ga_spec *s, struct ga_buf *ret);
/* The last is the project, and to the end. A shared directory that is gone on the host, or is
 * reached through a symlink there by now, is left out. */
int ga_spec_plan_trees(const struct ga_spec *s, struct ga_buf *ret, struct ga_error *err);

/* bwrap's arguments up to, not including, "--": as NUL-terminated strings for --args FD. The
 * caller adds "--seccomp FD" and what names descriptors. */
void ga_spec_bwrap_args(const struct ga_spec *s, struct ga_buf *ret);

/* The seccomp program, as bytes for bwrap's --seccomp FD; made when this was built. The other one
 * is that of a spec that is `nested`. */
const void *ga_seccomp_program(size_t *ret_n);
const void *ga_seccomp_nested_program(size_t *ret_n);

/* Find bwrap in `path` and refuse one that is set-uid, too old (< 0.8) or not there;
 * caller frees `*ret`. The version is asked for only when `check_version`. */
int ga_find_bwrap(const char *path, bool check_version, char **ret, struct ga_error *err);

/* Map a stage failure (ga/plan.h) to one line with cause and remedy (GA_ESTART). Looks at
 * sysctls and file systems to tell causes apart. Returns -1. */
int ga_stage_explain(const char *step, int errnum, const char *object, struct ga_error *err);

/* The same for what bwrap wrote before it gave up; `line` is one line, already safe to show. */
int ga_bwrap_explain(const char *line, struct ga_error *err);

/* The ABI of the kernel's Landlock; 0: it has none. From GA_LANDLOCK_SCOPES on (Linux 6.12) it
 * keeps a session from abstract sockets and from signals to others. */
int ga_landlock_abi(void);
#define GA_LANDLOCK_SCOPES 6

/* "Docker", "WSL 2" and the like; NULL on a machine that is none of these. */
const char *ga_machine(void);

#endif
