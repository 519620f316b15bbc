/* SPDX-License-Identifier: MIT
 *
 * What manifests and lock files say of packages, in one model for all formats, and what it means
 * that it changes (docs/flags.md).
 */
#ifndef GA_RISK_DEPS_H
#define GA_RISK_DEPS_H

#include "risk/content.h"

struct ga_dep {
	char *name;
	char *version;         /* plain; "": none is said, or what is said is no plain version */
	char *origin;          /* everything else that decides what it is, but for the version and
				* the proofs; "" is the registry */
	struct ga_strv proofs; /* checksums, sorted */
	bool runs;             /* when it is installed */
	bool mention;          /* another entry has its proofs */
};
struct ga_deps {
	struct ga_dep *v;
	size_t n, cap;
	struct ga_strv edges;  /* names that packages ask for */
	struct ga_strv rest;   /* what else the file says that counts, in order: "KEY = VALUE" of a
				* tree, lines of a text */
};
#define GA_DEPS_INIT { NULL, 0, 0, GA_STRV_INIT, GA_STRV_INIT }
void ga_deps_release(struct ga_deps *d);
#define cleanup_deps cleanup_(ga_deps_release)

/* Append a package, without version and origin. `d->v` moves. */
struct ga_dep *ga_deps_add(struct ga_deps *d, const char *name);
/* Set both: the version is cut out of the origin, and is part of it unless it is plain. */
void ga_dep_set(struct ga_dep *p, const char *version, const char *origin);
/* Is it numbers, and what releases are called beyond, behind operators of a range? Never a branch,
 * tag, address, path or commit. */
bool ga_dep_is_plain(const char *version);
/* A requirement as Python's tools write it: "name[extra]>=1; marker". False: it is none. */
bool ga_deps_add_python(struct ga_deps *d, const char *text);

struct ga_deps_text;
typedef void ga_deps_line_fn(struct ga_deps_text *t, char *line);

/* A format. Lists are words separated by blanks. Paths have dots; "*" is every key, "" the top. */
struct ga_deps_format {
	const char *base;      /* the file's name, folded, or "*" and its end */
	const char *rules;     /* path rules about it */
	ga_deps_line_fn *line; /* reads a line of a text; NULL: it is a tree */
	enum ga_deps_syntax { GA_DEPS_JSON, GA_DEPS_TOML, GA_DEPS_BLOCKS } syntax; /* of a tree */
	const char *where;     /* tables and lists of packages; "": the top is one; NULL: none */
	enum ga_deps_name {
		GA_DEPS_KEY, GA_DEPS_MEMBER, GA_DEPS_NPM, GA_DEPS_PNPM, GA_DEPS_YARN, GA_DEPS_ALIAS,
		GA_DEPS_COORDINATE,
	} name;                /* where its name is: for the second, in `member` */
	const char *member;
	const char *origin;    /* members that decide what it is; NULL: another row says that */
	const char *proof;     /* members that are proofs; those in origins are known */
	const char *edges;     /* members that name packages */
	const char *ignored;   /* members without effect of their own; "*": all */
	const char *skipped;   /* paths of what is not compared */
	const char *empty;     /* paths of tables that mean nothing without content */
	const char *own;       /* paths of the project's own version and of what it runs on */
	const char *harmless;  /* what else may change as far as the file's name goes */
	const char *lock;      /* names of lock files, there or further up, that say what is new */
	const char *install;   /* the command that installs what this lock file says; NULL: none is
				* needed */
	const char *into;      /* names of directories, beside it, that it installs into */
	bool loose;            /* which names and versions there are does not matter */
	bool unordered;        /* nor in which order the rest is */
};
/* The rows for a name, which are next to each other; NULL: none. */
const struct ga_deps_format *ga_deps_format(const char *base);
bool ga_deps_read_tree(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret); /* deps-tree.c */
bool ga_deps_read_text(const struct ga_deps_format *x, const struct ga_buf *text,
		       struct ga_deps *ret); /* deps-text.c */

/* The lock file that was read last, for the manifests below it. */
struct ga_deps_lock {
	struct ga_oid oid;
	struct ga_deps deps;
};

#endif
