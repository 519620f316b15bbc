/* SPDX-License-Identifier: MIT
 *
 * Turn the spec of a sandbox into the stage plan, bwrap's arguments and the environment inside.
 * Changes nothing on the host: making a plan tests which host directories exist, and finding bwrap
 * may run it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ga/base/buf.h"
#include "ga/base/error.h"
#include "ga/base/strv.h"

/* An ignored directory of the user's tree, shared through an overlay of its own. */
struct ga_shared {
	char *rel;     /* path relative to the project */
	char *lower;   /* the user's directory */
	char *upper;   /* the session's */
	char *work;
	char *removed; /* file to make before the directory is removed inside */
	char *mask;    /* a directory with whiteouts laid over `lower` (for nested .git), or NULL */
	uint64_t dev, ino; /* of `lower`, when it was recorded */
};
void ga_shared_release(struct ga_shared *sh);

/* A socket of the host, or our text, shown read-only at its own path. */
struct ga_shown {
	char *source;       /* absolute, on the host; NULL: a text */
	struct ga_buf text;
	char *at;           /* absolute, inside */
};

/* A symlink of the host that exists inside as well. */
struct ga_user_link {
	char *at;     /* its place: absolute, with no link above it */
	char *target; /* its text */
	char *to;     /* its target: absolute and normalised, perhaps through other links */
};

/* The host directory that is shown as home (~/aihome), and layers for writes; NULL: writes go to
 * the directory. */
struct ga_spec_home {
	char *source, *upper, *work;
};

/* The private git dir: layers over `lower`, mounted at <project>/.git. `lower` NULL: `upper` is
 * bound without an overlay. */
struct ga_spec_git {
	char *upper, *work, *lower;
};

/* Other parts of the host that are shown. */
struct ga_spec_host {
	struct ga_strv tools;   /* toolchains below the real home, relative to it, read-only */
	struct ga_strv ro;      /* more host directories, read-only at their own paths */
	struct ga_strv rw;      /* the same, writable */
	struct ga_strv devices; /* character devices of the host, at their own paths */
	struct ga_strv dropped; /* of PATH, as by ga_path_show() */
};

/* From ga_spec_find_links(): the user's links, and `home` and `project` of the spec as the user
 * spells them; NULL: the same. */
struct ga_spec_names {
	struct ga_user_link *v;
	size_t n;
	char *home, *project;
};

struct ga_spec {
	char *stage_dir;        /* an existing host directory the stage mounts its tmpfs on;
				 * sessions may share one, each has a mount namespace of its own */
	char *project;          /* path of the project, the same inside and outside */
	char *home;             /* $HOME inside */
	struct ga_spec_home home_dir;
	/* writable directories of the session that cover paths in home: pairs of a path below home
	 * and the host directory */
	struct ga_strv kept;
	struct ga_strv lowers;  /* project overlay, topmost first: extras, base tree */
	char *upper, *work;
	struct ga_spec_git git;
	struct ga_shared *shared;
	size_t n_shared;
	struct ga_strv object_dirs; /* host object directories, shown read-only */
	struct ga_strv hidden_objects; /* files in them to cover by empty ones */
	struct ga_spec *parts;  /* populated submodules: of each only project, layers, shared,
				 * object_dirs, hidden_objects and its own parts are used */
	size_t n_parts;
	struct ga_spec_host host;
	char *feedback;         /* a host file shown read-only at GA_FEEDBACK_INSIDE, or NULL */
	bool network;           /* the host's network (true), or its own */
	struct ga_shown *shown; /* cover the system's files, or add new ones */
	size_t n_shown;
	struct ga_spec_names names;
	bool nested;            /* programs inside may create sandboxes of their own */
	struct ga_strv env;     /* NAME=VALUE inside: the whole environment */
};
#define GA_SPEC_INIT { 0 }
void ga_spec_release(struct ga_spec *s);
#define cleanup_spec cleanup_(ga_spec_release)

/* Refuse a spec that cannot be built or would be unsafe: a home that is or contains a system
 * directory, a project that is or contains home, session directories or an agent home that a
 * sandbox would see or could write. The functions that make the plan call it. */
int ga_spec_check(const struct ga_spec *s, struct ga_error *err);

/* May a directory of the host be shown at its own path at the user's request? Refused if it is part
 * of the system, of the user's home as a whole or of the session itself, may hold credentials, or
 * contains sockets; and for writing, if a user program executes it or is configured by it, such as
 * a repository. `path` is absolute and normalised. Returns 1 if it does not exist. */
struct ga_mount_place {
	const char *home, *project, *path; /* the user's home, resolved; the project; the value of
					    * PATH */
	const char *state_dir, *agent_home;
	const struct ga_strv *rw; /* directories shown writable; NULL: none */
};
int ga_mount_check(const struct ga_mount_place *place, const char *path, bool writable,
		   struct ga_error *err);
/* What the user's environment leads to: the directories of PATH, each without what is around it,
 * and the environments (venv, conda, nvm, ...) that a directory of PATH or a variable of `host_env`
 * (VIRTUAL_ENV, NVM_DIR, ...) lies in, as a whole if the tool's own marker is there; in a
 * repository, whose files may be an agent's work, only where a variable names it. Adds to
 * `ro` those, with symlinks resolved, that may be shown (ga_mount_check()), are in no git directory
 * and no repository themselves, cannot be written by agents, and are not shown anyway. Adds to
 * `dropped` (NULL: not wanted) three words for each other directory of PATH: the directory, why,
 * and it again if the setting `tools` can show it, else "". */
void ga_path_show(const struct ga_mount_place *place, const char *const *host_env,
		  struct ga_strv *ro, struct ga_strv *dropped);
/* Show the socket `source` at `at` as well. Refused (GA_ESTART) if `at` is in the project, or in a
 * system directory where nothing exists that it could replace. In home, the directories above it
 * get the modes they have on the host. */
int ga_spec_show_socket(struct ga_spec *s, const char *source, const char *at,
			struct ga_error *err);
/* The same for a file with this text. It exists only in the sandbox. */
int ga_spec_show_text(struct ga_spec *s, const char *at, const void *text, size_t n,
		      struct ga_error *err);
/* Show this text instead of the system's file `at`, at its real path; does nothing if the system
 * has none. */
int ga_spec_replace_text(struct ga_spec *s, const char *at, const char *text, struct ga_error *err);

/* Where an object directory of the host is shown inside; the caller frees it. It is the same in
 * every sandbox, because a private git dir that names it outlives the sandbox it was made for.
 * ("/run/git-agent/odb/<SHA-256 of its path>/objects"; a "lfs" directory beside the real one is
 * shown beside it.) */
char *ga_spec_object_path(const char *host_dir);

/* Where init is shown inside: what bwrap executes. */
#define GA_INIT_INSIDE "/run/git-agent/init"
/* Object directories are below this, see ga_spec_object_path(). */
#define GA_ODB_INSIDE "/run/git-agent/odb"
/* Below it as well, since nothing else is attached once bwrap is running. */
#define GA_FEEDBACK_INSIDE GA_ODB_INSIDE "/feedback"

/* Find toolchains: which directories of the toolchain table exist below `home`, as paths relative
 * to it, plus what `command` needs if it lies below home: each directory on the chain of symlinks
 * through which `path` finds it, the package it belongs to, and the same for the interpreter that a
 * script names. Never a directory that holds credentials: a command that could only be shown with
 * one is an error. A command that is not found, or has a relative path, adds nothing. `home` as in
 * HOME; the result is sorted and no entry contains another. */
int ga_spec_find_tools(const char *home, const char *path, const char *command,
		       struct ga_strv *tools, struct ga_error *err);

/* Set `s->env`, the environment inside, from the host's: an allowlist (TERM, COLORTERM, LANG, LC_*,
 * TZ, EDITOR, VISUAL, NO_COLOR; with the host's network those that name a proxy, without a
 * password) and the names in `pass`; HOME, USER, LOGNAME, SHELL; PWD, for ga/run/init-protocol.h,
 * if the user spells the project in a way of his own; PATH, from the list of directories `path`,
 * keeping in order the entries that exist inside `s`, with GA_AGENT_BIN at the end; the variables
 * that locate those toolchains that are shown; and those that keep caches in the agents' home. */
#define GA_AGENT_BIN ".local/agent/bin" /* below home: for programs that the agent installs */
void ga_spec_environment(struct ga_spec *s, const char *path, const char *const *host_env,
			 const struct ga_strv *pass);

/* Find the links in the path `home`, the value of HOME, and in `pwd`, the value of PWD as
 * far as it leads to the project, if that is the way to the working directory; either may be NULL.
 * The rest of the spec but tools must be known. Where something else has the name of a link inside,
 * the path is not kept. */
void ga_spec_find_links(struct ga_spec *s, const char *home, const char *pwd);
/* Resolve these links in `path` (absolute, normalised). The caller frees it. */
char *ga_spec_place(const struct ga_spec *s, const char *path);
/* Settings for programs without such a variable: the `i`th file, relative to home, and its text.
 * NULL: no more. */
const char *ga_cache_file(size_t i, const char **ret_text);

/* Would `path` (absolute) be visible inside? */
bool ga_spec_visible(const struct ga_spec *s, const char *path);

/* The plan (ga/sandbox/plan.h) in four parts. The first two, system and root, surround home and
 * project; they need only stage_dir, project, home, home_dir, ro and network. For uid 0 the second
 * takes a while, as it searches for system files to hide. `init` is the absolute path of
 * git-agent-init on the host, which is shown at GA_INIT_INSIDE. */
int ga_spec_plan_system(const struct ga_spec *s, struct ga_buf *ret, struct ga_error *err);
int ga_spec_plan_root(const struct ga_spec *s, const char *init, struct ga_buf *ret,
		      struct ga_error *err);
/* The third part is home without the project in it; it needs tools as well. */
void ga_spec_plan_home(const struct ga_spec *s, struct ga_buf *ret);
/* Append the mount points that these plans make in the home, as paths in it. */
void ga_spec_home_places(const struct ga_spec *s, struct ga_strv *ret);
/* The last part is the project, and the end. Leaves out a shared directory that the host removed,
 * or that has a symlink in its path now. */
int ga_spec_plan_trees(const struct ga_spec *s, struct ga_buf *ret, struct ga_error *err);

/* bwrap's arguments up to, not including, "--", as NUL-terminated strings for --args FD. The caller
 * adds "--seccomp FD" and the options that name descriptors. */
void ga_spec_bwrap_args(const struct ga_spec *s, struct ga_buf *ret);

/* The seccomp programs, made at build time, as bytes for bwrap's --seccomp FD; the second is for a
 * spec that is `nested`. */
const void *ga_seccomp_program(size_t *ret_n);
const void *ga_seccomp_nested_program(size_t *ret_n);

/* Find bwrap in `path`; refuses one that is set-uid or too old (< 0.8), and fails if there is none.
 * The caller frees `*ret`. The version is asked for only with `check_version`. */
int ga_find_bwrap(const char *path, bool check_version, char **ret, struct ga_error *err);

/* Turn a stage failure (ga/sandbox/plan.h) into one line with cause and remedy (GA_ESTART). Looks
 * at sysctls and file systems to tell causes apart. Returns -1. */
int ga_stage_explain(const char *step, int errnum, const char *object, struct ga_error *err);

/* The same for what bwrap wrote before it failed; `line` is a single line, already safe to
 * show. */
int ga_bwrap_explain(const char *line, struct ga_error *err);

/* The ABI version of the kernel's Landlock; 0 if it has none. From GA_LANDLOCK_SCOPES on (Linux
 * 6.12) it can keep a session from connecting to abstract sockets and from signalling processes
 * outside. */
int ga_landlock_abi(void);
#define GA_LANDLOCK_SCOPES 6

/* "Docker", "WSL 2" and the like; NULL on an ordinary machine. */
const char *ga_machine(void);
